"""TRL's own trainers with a pipeline as their reward."""

import asyncio
import threading
from types import SimpleNamespace

import pytest
from answering import PYTHON, RIGHT, SNIPPETS
from training import GROUP, keys_of, messages, rows, steps_of, trained

from codereward import RewardPipeline
from codereward.testing.fake import FakeExecutor

pytestmark = [
    # TRL uses the old names itself, and transformers warns of them
    pytest.mark.filterwarnings(r"ignore:`\w*gradient_checkpointing\w*` is deprecated:FutureWarning"),
]

BATCH = 2 * GROUP


def local(**settings):
    return RewardPipeline(executor={"name": "local", "workers": 2}, **settings)


def fake(faults=lambda _: None, **settings):
    return RewardPipeline(executor=FakeExecutor(faults), **settings)


def table_of(folder, step):
    """The table of completions that the trainer wrote at a step, as a list of rows."""
    import pandas as pd

    return pd.read_parquet(folder / "completions" / f"completions_{step:05d}.parquet").to_dict("records")


def code_of(text):
    """The code in a completion of ours."""
    _, _, rest = text.partition("```python\n")
    return rest.partition("```")[0]


# ---------------------------------------------------------------------- rewards


@pytest.mark.parametrize("conversational", [True, False])
def test_every_completion_is_rewarded_for_what_its_code_does(tmp_path, conversational):
    """Sandboxed programs decide the rewards, for prompts that are messages and prompts that are text."""
    with local() as pipeline:
        data = rows(conversational=conversational)
        size = 4 * GROUP
        trained(tmp_path, pipeline, PYTHON, data=data, log_completions=True, per_device_train_batch_size=size)
    table = table_of(tmp_path, 1) + table_of(tmp_path, 2)
    texts = [row["completion"][0]["content"] if conversational else row["completion"] for row in table]
    assert [row["code_reward"] for row in table] == [float(text == RIGHT) for text in texts]
    assert len(texts) == 2 * size
    assert RIGHT in texts
    assert len(set(texts)) > 2


def test_the_table_of_completions_explains_every_reward(tmp_path):
    """With `log_completions` each completion's row holds outcome, reason and code, never a stale one."""
    with local() as pipeline:
        trained(tmp_path, pipeline, PYTHON, log_completions=True)
    for row in table_of(tmp_path, 1) + table_of(tmp_path, 2):
        text = row["completion"][0]["content"]
        assert row["code_reward_code"] == code_of(text)
        assert (row["code_reward_outcome"] == "no_code") == ("```" not in text)
        assert bool(row["code_reward_reason"]) == (row["code_reward_outcome"] != "scored")


def test_the_same_metrics_are_logged_at_every_step(tmp_path):
    """Metric keys do not depend on what a batch holds: healthy, failing and failed ones log the same."""
    faults = {"healthy": None, "failed": "refused", "lost": "lost"}
    seen = set()
    for name, fault in faults.items():
        with fake(lambda _, fault=fault: fault) as pipeline:
            trainer = trained(tmp_path / name, pipeline, SNIPPETS)
        steps = steps_of(trainer)
        assert len(steps) == 2
        seen |= {frozenset(keys_of(step, "code_reward/") | keys_of(step, "rewards/")) for step in steps}
    assert len(seen) == 1
    assert {
        "rewards/code_reward/mean",
        "code_reward/pass_rate",
        "code_reward/outcome/timed_out",
    } <= seen.pop()


# ---------------------------------------------------------------------- no score


def test_completions_without_a_score_are_left_out(tmp_path):
    """Where the backend fails, the trainer's mean is over the other completions."""
    with fake(lambda call: "refused" if call % 2 else None, dedupe=False) as pipeline:
        trainer = trained(tmp_path, pipeline, SNIPPETS, log_completions=True)
    for number, step in enumerate(steps_of(trainer), 1):
        table = table_of(tmp_path, number)
        scored = [row["code_reward"] for row in table if row["code_reward_outcome"] != "unavailable"]
        assert len(scored) == BATCH / 2
        assert step["code_reward/unavailable"] == 0.5
        assert step["rewards/code_reward/mean"] == pytest.approx(sum(scored) / len(scored))


def test_a_batch_without_any_score_changes_nothing(tmp_path):
    """When the backend fails altogether, training goes on and nothing is learnt from it."""
    with fake(lambda _: "refused") as pipeline:
        trainer = trained(tmp_path, pipeline, SNIPPETS)
    assert trainer.state.global_step == 2
    for step in steps_of(trainer):
        assert step["rewards/code_reward/mean"] is None
        assert step["loss"] == 0.0
        assert step["grad_norm"] == 0.0
        assert step["code_reward/unavailable"] == 1.0


# ---------------------------------------------------------------------- asynchronous


def test_an_asynchronous_reward_leaves_the_trainers_loop_free(tmp_path):
    """While programs run, another asynchronous reward proceeds; both count with their weights."""
    other_ran = threading.Event()

    class Waiting(FakeExecutor):
        async def run(self, program):
            await asyncio.to_thread(other_ran.wait, 20)
            return await super().run(program)

    async def other(completions, **_):
        await asyncio.sleep(0.01)
        other_ran.set()
        return [0.5] * len(completions)

    with RewardPipeline(executor=Waiting(), name="code") as pipeline:
        rewards = [pipeline.async_reward, other]
        trainer = trained(tmp_path, rewards, SNIPPETS, reward_weights=[2.0, 1.0], max_steps=1)
    assert other_ran.is_set()
    (step,) = steps_of(trainer)
    assert step["reward"] == pytest.approx(2 * step["rewards/code/mean"] + 0.5)
    assert step["rewards/other/mean"] == 0.5
    assert "code/pass_rate" in step


def test_pipelines_stand_side_by_side_under_their_names(tmp_path):
    """Synchronous and asynchronous pipelines with names of their own keep their metrics apart."""
    with (
        fake(name="strict") as strict,
        fake(name="partial", scorer="partial") as partial,
        fake(name="third") as third,
    ):
        trainer = trained(tmp_path, [strict, partial.async_reward, third.async_reward], SNIPPETS)
    for step in steps_of(trainer):
        assert step["rewards/strict/mean"] == step["rewards/partial/mean"] == step["rewards/third/mean"]
        shared = [
            {key.partition("/")[2] for key in keys_of(step, f"{name}/")}
            for name in ("strict", "partial", "third")
        ]
        assert shared[0] == shared[1] == shared[2] != set()


# ---------------------------------------------------------------------- more of the trainers


def test_evaluation_uses_the_same_reward(tmp_path):
    """During evaluation batches have another size, and metrics carry TRL's prefix."""
    with fake() as pipeline:
        trainer = trained(
            tmp_path,
            pipeline,
            SNIPPETS,
            eval_strategy="steps",
            eval_steps=1,
            per_device_eval_batch_size=1,
            num_generations_eval=1,
        )
    evaluations = steps_of(trainer, "eval_rewards/")
    assert len(evaluations) == 2
    for entry in evaluations:
        assert 0.0 <= entry["eval_rewards/code_reward/mean"] <= 1.0
        assert "eval_code_reward/pass_rate" in entry
    assert {len(keys_of(entry, "eval_code_reward/")) for entry in evaluations} == {
        len(keys_of(entry, "code_reward/")) for entry in steps_of(trainer)
    }


@pytest.mark.parametrize("asynchronous", [False, True])
def test_rloo_calls_it_as_grpo_does(tmp_path, asynchronous):
    """RLOO's trainer takes both forms, completions without a score included."""
    with fake(lambda call: "refused" if call == 0 else None, dedupe=False) as pipeline:
        reward = pipeline.async_reward if asynchronous else pipeline
        trainer = trained(tmp_path, reward, SNIPPETS, algorithm="RLOO", beta=0.0)
    first, second = steps_of(trainer)
    assert first["code_reward/unavailable"] == pytest.approx(1 / BATCH)
    assert second["code_reward/unavailable"] == 0.0
    assert keys_of(first, "code_reward/") == keys_of(second, "code_reward/")


@pytest.mark.filterwarnings(
    "ignore:This process .* is multi-threaded, use of fork:DeprecationWarning"
)  # from 3.12
def test_data_loader_workers_may_fork_from_a_used_pipeline(tmp_path):
    """Workers of the data loader fork while the pipeline is in use; neither side waits for the other."""
    with local() as pipeline:
        first = pipeline.score([RIGHT], test=["answer()"], expected=[1])
        trainer = trained(
            tmp_path, pipeline, PYTHON, dataloader_num_workers=1, dataloader_multiprocessing_context="fork"
        )
        last = pipeline.score([RIGHT], test=["answer()"], expected=[1])
    assert [first[0].reward, last[0].reward] == [1.0, 1.0]
    assert [step["code_reward/unavailable"] for step in steps_of(trainer)] == [0.0, 0.0]


@pytest.mark.parametrize("asynchronous", [False, True])
def test_the_rollout_worker_scores_several_groups_at_once(asynchronous):
    """AsyncGRPO's own scoring calls once for each group, from threads, without the logging arguments."""
    from accelerate import PartialState
    from trl.experimental.async_grpo import async_rollout_worker as worker

    PartialState()  # TRL's loggers insist on it
    loop = next(kind for kind in vars(worker).values() if hasattr(kind, "_score_group"))
    texts = [SNIPPETS[1], SNIPPETS[2], SNIPPETS[1]]

    async def scored(reward):
        itself = SimpleNamespace(
            reward_funcs=[reward],
            reward_func_names=["code_reward"],
            _env_reward_types=[],
            _provides_rollout_reward=False,
        )
        return await asyncio.gather(*(loop._score_group(itself, group_of(worker, texts)) for _ in range(8)))

    with fake() as pipeline:
        groups = asyncio.run(scored(pipeline.async_reward if asynchronous else pipeline))
    for group in groups:
        assert [sample.metrics["rewards/code_reward"] for sample in group] == [1.0, 0.0, 1.0]


def group_of(worker, texts):
    """A group as AsyncGRPO's rollout worker collects it."""
    size = len(texts)
    return worker.RolloutGroup(
        prompts=[messages("one")] * size,
        reward_kwargs={"test": ["answer()"] * size, "expected": [1] * size},
        completions=[[{"role": "assistant", "content": text}] for text in texts],
        completions_ids=[[1]] * size,
        completions_sequences=[[worker.TrainingSequence([0, 1], [0, 1], [0.0, -1.0], "r")]] * size,
        tool_call_counts=[0] * size,
        tool_failure_counts=[0] * size,
        model_version=0,
        group_id=0,
        env_rewards=[None] * size,
        rollout_rewards=[None] * size,
    )
