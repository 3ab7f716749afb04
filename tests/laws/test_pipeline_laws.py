"""The laws that the pipeline keeps, whatever completions, programs and backends do."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from codereward import Blame, DatasetError, Extraction, Extractor, Outcome, RewardPipeline, Verdict, Wanted
from codereward.testing.fake import FakeExecutor, Fault

PROGRAM_FAULTS = {
    "crash": Outcome.CRASHED,
    "loop": Outcome.TIMED_OUT,
    "hog": Outcome.OUT_OF_MEMORY,
    "flood": Outcome.OUTPUT_LIMIT,
    "kill": Outcome.CRASHED,
    "exit 0": Outcome.NO_RESULT,
    "exit 3": Outcome.NO_RESULT,
    "nonsense": Outcome.NO_RESULT,
    'write {"value": "1"}': Outcome.NO_RESULT,
    "write passed": Outcome.NO_RESULT,
    "return [": Outcome.NO_RESULT,
}
SNIPPETS = ["return 1", "return 2", "return [1, 2]", "return [1, 3]", "return null", *PROGRAM_FAULTS]
EXPECTED = [1, 2, [1, 2], None, True]

rows = st.tuples(st.sampled_from(SNIPPETS), st.sampled_from(EXPECTED))
batches = st.lists(rows, max_size=12)
faults = st.lists(st.sampled_from([None, "refused", "lost", "broken"]), max_size=40)


class WholeText(Extractor):
    """Takes the completion as the program; blank ones hold none."""

    def extract(self, text: str, wanted: Wanted) -> Extraction:
        code = text if text.strip() else None
        return Extraction(code, "whole_text" if code else "blank", (0, len(text)) if code else None)


def pipeline(executor: FakeExecutor, **options: object) -> RewardPipeline:
    """A pipeline whose programs are snippets of the fake's toy language."""
    return RewardPipeline(extractor=WholeText(), executor=executor, scorer="partial", **options)  # type: ignore[arg-type]


def columns(batch: Sequence[tuple[str, object]]) -> dict[str, list[object]]:
    """The columns of a batch of (snippet, expected)."""
    return {"test": ["f()"] * len(batch), "expected": [expected for _, expected in batch]}


def score(executor: FakeExecutor, batch: Sequence[tuple[str, object]], **options: object) -> list[Verdict]:
    """Score a batch once."""
    with pipeline(executor, **options) as reward:
        return reward.score([snippet for snippet, _ in batch], **columns(batch))


def failing(schedule: Sequence[Fault | None]) -> Callable[[int], Fault | None]:
    """A backend that fails as the schedule says, and works after it."""
    return lambda call: schedule[call] if call < len(schedule) else None


def alone(row: tuple[str, object]) -> float | None:
    """The reward a row gets in a batch of its own, on a backend without faults."""
    return score(FakeExecutor(), [row])[0].reward


@settings(max_examples=60, deadline=None)
@given(batch=batches, schedule=faults, dedupe=st.booleans())
def test_one_reward_per_completion_whatever_fails(batch, schedule, dedupe):
    """Law 4: as many rewards as completions, each a float in [0, 1] or None."""
    verdicts = score(FakeExecutor(failing(schedule)), batch, dedupe=dedupe)

    assert len(verdicts) == len(batch)
    assert all(one.reward is None or 0.0 <= one.reward <= 1.0 for one in verdicts)


@settings(max_examples=60, deadline=None)
@given(batch=batches, data=st.data(), dedupe=st.booleans())
def test_rewards_follow_their_completions_under_permutation(batch, data, dedupe):
    """Law 4: a permuted batch gets the same rewards, permuted; duplicates included."""
    order = data.draw(st.permutations(range(len(batch))))

    straight = [one.reward for one in score(FakeExecutor(), batch, dedupe=dedupe)]
    permuted = [one.reward for one in score(FakeExecutor(), [batch[i] for i in order], dedupe=dedupe)]

    assert permuted == [straight[i] for i in order]


@settings(max_examples=60, deadline=None)
@given(batch=batches, turns=st.lists(st.integers(0, 5), min_size=1), dedupe=st.booleans())
def test_rows_are_isolated_from_each_other(batch, turns, dedupe):
    """Law 9: whatever its neighbours are and however runs interleave, a row gets what it gets alone."""
    executor = FakeExecutor(pause=lambda call: turns[call % len(turns)])

    verdicts = score(executor, batch, dedupe=dedupe)

    assert [one.reward for one in verdicts] == [alone(row) for row in batch]


def loses_once(schedule: Sequence[Fault | None]) -> bool:
    """A sandbox lost twice running looks like a program that kills it; that is what the law says."""
    return sum(fault in ("lost", "broken") for fault in schedule) <= 1


@settings(max_examples=100, deadline=None)
@given(batch=batches, schedule=faults.filter(loses_once))
def test_none_only_when_the_backend_is_at_fault(batch, schedule):
    """Law 3: a backend without faults scores everything; with faults, what is scored is scored right."""
    with_faults = score(FakeExecutor(failing(schedule)), batch)
    without = score(FakeExecutor(), batch)

    assert all(one.reward is not None for one in without)
    for faulty, sound in zip(with_faults, without, strict=True):
        assert faulty.reward in (None, sound.reward)
        assert (
            (faulty.reward is None)
            == (faulty.outcome is Outcome.UNAVAILABLE)
            == (faulty.blame is Blame.BACKEND)
        )


@settings(max_examples=40, deadline=None)
@given(batch=batches.filter(bool))
def test_a_backend_that_refuses_everything_scores_nothing(batch):
    """Law 3: an outage is None for every program, and never 0.0."""
    verdicts = score(FakeExecutor(lambda _: "refused"), batch)

    assert {one.reward for one in verdicts} == {None}
    assert all("no room" in one.reason for one in verdicts)


@pytest.mark.parametrize(("snippet", "outcome"), PROGRAM_FAULTS.items())
def test_what_a_program_does_is_a_score(snippet, outcome):
    """Law 3: a program cannot buy itself "no score"."""
    verdict = score(FakeExecutor(), [(snippet, 1)])[0]

    assert (verdict.reward, verdict.outcome, verdict.blame) == (0.0, outcome, Blame.PROGRAM)
    assert verdict.reason


def test_a_program_that_kills_its_sandbox_is_tried_twice_then_a_canary():
    """Law 3: lost, tried again on a fresh sandbox, lost; the canary runs; so it is the program's fault."""
    executor = FakeExecutor()

    verdict = score(executor, [("kill", 1)])[0]

    assert verdict.reward == 0.0
    assert [bool(program.files) for program in executor.programs] == [True, True, False]


@pytest.mark.parametrize(
    "schedule", [["lost", "lost", "lost"], ["lost", "refused"], ["broken", "broken", "refused"]]
)
def test_an_honest_program_is_not_blamed_for_a_backend_that_loses_sandboxes(schedule):
    """Law 3: without a canary that runs, the loss is the backend's."""
    assert score(FakeExecutor(failing(schedule)), [("return 1", 1)])[0].reward is None


@pytest.mark.parametrize("fault", ["lost", "broken"])
def test_one_lost_sandbox_costs_nothing(fault):
    """Law 3: the second try counts."""
    assert score(FakeExecutor(failing([fault])), [("return 1", 1)])[0].reward == 1.0


@settings(max_examples=60, deadline=None)
@given(
    canaries=st.lists(st.uuids().map(str), min_size=1, max_size=4, unique=True),
    shape=st.sampled_from(["text", "list", "object", "number"]),
)
def test_answers_never_enter_a_program(canaries, shape):
    """Law 1: no byte of an answer is in any program, in any file, argument or variable."""
    wrap = {
        "text": lambda one: one,
        "list": lambda one: [one, [one]],
        "object": lambda one: {one: {"deep": one}},
        "number": lambda one: int(one.replace("-", ""), 16),
    }[shape]
    executor = FakeExecutor()

    score(executor, [("return 1", wrap(one)) for one in canaries], dedupe=False)

    seen = repr([(program.files, program.commands, program.build) for program in executor.programs])
    assert executor.programs
    for one in canaries:
        assert one not in seen
        assert str(int(one.replace("-", ""), 16)) not in seen


@settings(max_examples=40, deadline=None)
@given(size=st.integers(1, 40), bound=st.integers(1, 8), turns=st.integers(0, 6))
def test_concurrency_is_bounded(size, bound, turns):
    """Law 6: never more programs at once than `max_concurrency`, and as many when they wait."""
    executor = FakeExecutor(pause=lambda _: turns)

    score(executor, [(f"return {number}", 1) for number in range(size)], max_concurrency=bound)

    assert executor.peak <= bound
    assert turns < 2 or executor.peak == min(size, bound)
    assert executor.running == 0


def test_concurrency_is_bounded_over_batches_that_overlap():
    """Law 6: batches scored at the same time share the bound."""
    executor = FakeExecutor(pause=lambda _: 3)
    reward = pipeline(executor, max_concurrency=3)

    async def overlap() -> None:
        batch = [(f"return {number}", 1) for number in range(8)]
        calls = [reward.ascore([one for one, _ in batch], **columns(batch)) for _ in range(5)]
        await asyncio.gather(*calls)

    asyncio.run(overlap())
    reward.close()

    assert executor.peak == 3


@settings(max_examples=40, deadline=None)
@given(batch=batches, schedule=faults)
def test_metric_keys_and_extra_columns_never_depend_on_the_batch(batch, schedule):
    """Law 7: ranks that log different keys can deadlock, so every call logs the same, full length."""
    logged: dict[str, float] = {}
    extras: dict[str, list[str]] = {}
    with pipeline(FakeExecutor(failing(schedule))) as reward:
        reward(
            completions=[one for one, _ in batch],
            log_metric=logged.__setitem__,
            log_extra=extras.__setitem__,
            **columns(batch),
        )

    assert set(logged) == METRIC_KEYS
    assert all(isinstance(value, float) for value in logged.values())
    assert {name: len(values) for name, values in extras.items()} == dict.fromkeys(EXTRA_COLUMNS, len(batch))
    assert all(isinstance(value, str) for values in extras.values() for value in values)


METRIC_KEYS = {
    "code_reward/pass_rate",
    "code_reward/unavailable",
    "code_reward/deduped",
    "code_reward/run_seconds_p50",
    "code_reward/run_seconds_p95",
    *(f"code_reward/outcome/{outcome}" for outcome in Outcome),
}
EXTRA_COLUMNS = ["code_reward_outcome", "code_reward_reason", "code_reward_code"]


def test_identical_programs_run_once_and_share_the_verdict():
    """Duplicates in a batch cost one run; each verdict keeps its own extraction."""
    executor = FakeExecutor(pause=lambda _: 2)

    verdicts = score(executor, [("return 1", 1)] * 5 + [("return 2", 1)])

    assert len(executor.programs) == 2
    assert [one.reward for one in verdicts] == [1.0] * 5 + [0.0]
    assert [one.deduped for one in verdicts] == [False, True, True, True, True, False]


def test_identical_programs_with_other_answers_are_scored_by_their_own():
    """A row that expects something else does not take over its neighbour's verdict."""
    assert [one.reward for one in score(FakeExecutor(), [("return 1", 1), ("return 1", 2)])] == [1.0, 0.0]


def test_duplicates_of_an_unavailable_program_are_unavailable():
    """Nobody waits for ever on a run that never came."""
    verdicts = score(FakeExecutor(lambda _: "refused", pause=lambda _: 2), [("return 1", 1)] * 3)

    assert [one.reward for one in verdicts] == [None] * 3


def test_a_bad_row_raises_before_anything_runs():
    """Law 3: the message names the row, and no program was run."""
    executor = FakeExecutor()

    with pytest.raises(DatasetError, match=r"row 1 of the batch.*'expected'"), pipeline(executor) as reward:
        reward.score(["return 1"] * 2, test=["f()"] * 2, expected=[1, {1, 2}])

    assert executor.programs == []


def test_undecided_completions_are_unavailable_when_the_batch_runs_out_of_time():
    """Law 6: a batch ends in its time; what was decided counts."""
    executor = FakeExecutor(pause=lambda call: 10**9 if call else 0)

    verdicts = score(executor, [("return 1", 1), ("return 2", 1), ("return 3", 1)], batch_seconds=1.0)

    assert [one.reward for one in verdicts] == [1.0, None, None]
    assert "ran out of its 1 s" in verdicts[1].reason
    assert executor.running == 0


NASTY = [
    json.dumps("\ud800"),
    "9" * 1_000_000,
    "[" * 100_000 + "]" * 100_000,
    '"\\u001b[31m"',
    "1e999999",
    "NaN",
    '{"a": 1, "a": 1}',
    '"' + "x" * 3_000_000 + '"',
]


@pytest.mark.parametrize("value", NASTY, ids=range(len(NASTY)))
def test_a_hostile_value_scores_zero_and_spares_its_neighbours(value):
    """Law 9: no value can raise, hang or mis-score a neighbour; logging it works too."""
    batch = [("return 1", 1), (f"return {value}", 1), ("return 1", 1)]
    extras: dict[str, list[str]] = {}
    with pipeline(FakeExecutor()) as reward:
        rewards = reward(
            completions=[one for one, _ in batch], log_extra=extras.__setitem__, **columns(batch)
        )

    assert rewards == [1.0, 0.0, 1.0]
    json.dumps(extras, ensure_ascii=False).encode()
