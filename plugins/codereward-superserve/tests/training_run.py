"""A GRPO training on programs in Superserve sandboxes; run as a script, it prints what was rewarded.

    python training_run.py FOLDER

The data set has the two columns `test` and `expected`. The model is one whose every token is a whole
completion, so that a step takes no time and the completions that occur are known.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from transformers import LlamaForCausalLM, PreTrainedTokenizerFast

__all__ = ["COMPLETIONS", "LIFETIME", "PROBLEMS", "REWARDS", "SECRETS", "STEPS", "STEP_SIZE"]

LIFETIME: Final = 120
"""The shortest time to live that the executor allows, in seconds."""
STEPS, GROUP = 2, 8
STEP_SIZE: Final = 2 * GROUP
"""Completions of one step: a group for each of the two problems."""
PAD, UNKNOWN, END, ASK = "<pad>", "<unk>", "<end>", "<ask>"

PROBLEMS: Final = (
    {
        "prompt": "Write is_prime(n).",
        "test": "[is_prime(n) for n in (1, 2, 9, 13, 15)]",
        "expected": "[false, true, false, true, false]",
    },
    {
        "prompt": "Write backwards(text).",
        "test": "backwards('derorrim si siht')",
        "expected": '"this is mirrored"',
    },
)
"""The answers are JSON text, because those of one column have to be of one type."""

SECRETS: Final = (
    "[false, true, false, true, false]",
    "[False, True, False, True, False]",
    "[false,true,false,true,false]",
    "this is mirrored",
)
"""The answers, in every way that they might be written."""


def fenced(code: str) -> str:
    return f"Sure:\n```python\n{code}\n```\n"


COMPLETIONS: Final = {
    "prime": fenced("def is_prime(n):\n    return n > 1 and all(n % d for d in range(2, n))"),
    "odd": fenced("def is_prime(n):\n    return n % 2 == 1"),
    "never": fenced("def is_prime(n):\n    return False"),
    "backwards": fenced("def backwards(text):\n    return text[::-1]"),
    "leaves": fenced("import sys\nsys.exit(0)"),
    "prints": fenced("print(open(__file__).read())\nprint('[true, true]')"),
    "prose": "I would rather not.",
}

REWARDS: Final = {
    "Write is_prime(n).": {"prime": 1.0, "odd": 0.2, "never": 0.6},
    "Write backwards(text).": {"backwards": 1.0},
}
"""Problem and completion → what it has to be worth; 0 where nothing is said."""


def train(folder: Path) -> Any:
    """A trainer that has run, with the page's data set and reward."""
    import torch
    from codereward import RewardPipeline
    from datasets import Dataset
    from trl import GRPOConfig, GRPOTrainer

    torch.set_num_threads(1)
    torch.manual_seed(0)
    executor = {"name": "superserve", "max_sandboxes": 4, "lifetime_seconds": LIFETIME}
    with RewardPipeline(executor=executor, scorer="partial", expected_format="json") as reward:
        model, tokenizer = answering_model(list(COMPLETIONS.values()))
        trainer = GRPOTrainer(
            model=model,
            processing_class=tokenizer,
            reward_funcs=reward,
            args=GRPOConfig(**settings(folder)),
            train_dataset=Dataset.from_list(list(PROBLEMS)),
        )
        trainer.train()
    return trainer


def settings(folder: Path) -> dict[str, Any]:
    """A short run on one processor that keeps its table of completions."""
    return {
        "output_dir": str(folder),
        "max_steps": STEPS,
        "per_device_train_batch_size": STEP_SIZE,
        "num_generations": GROUP,
        "max_completion_length": 1,
        "use_cpu": True,
        "bf16": False,
        "dataloader_pin_memory": False,
        "logging_steps": 1,
        "log_completions": True,
        "report_to": "none",
        "save_strategy": "no",
        "disable_tqdm": True,
    }


def answering_model(answers: list[str]) -> tuple[LlamaForCausalLM, PreTrainedTokenizerFast]:
    """A random model that answers anything with one of `answers`, each a token."""
    from transformers import LlamaConfig, LlamaForCausalLM

    tokenizer = answering_tokenizer(answers)
    config = LlamaConfig(
        vocab_size=len(tokenizer),
        hidden_size=16,
        intermediate_size=32,
        num_hidden_layers=1,
        num_attention_heads=2,
        max_position_embeddings=64,
        pad_token_id=tokenizer.pad_token_id,
        bos_token_id=None,
        eos_token_id=tokenizer.eos_token_id,
    )
    model = LlamaForCausalLM(config)
    model.generation_config.suppress_tokens = tokenizer.convert_tokens_to_ids([PAD, UNKNOWN, END, ASK])
    return model, tokenizer


def answering_tokenizer(answers: list[str]) -> PreTrainedTokenizerFast:
    """A tokenizer with a token for each answer, to which all other text is unknown."""
    from tokenizers import Tokenizer, models, pre_tokenizers
    from transformers import PreTrainedTokenizerFast

    vocabulary = {token: number for number, token in enumerate((PAD, UNKNOWN, END, ASK, *answers))}
    words = Tokenizer(models.WordLevel(vocabulary, unk_token=UNKNOWN))
    words.pre_tokenizer = pre_tokenizers.Whitespace()
    return PreTrainedTokenizerFast(
        tokenizer_object=words,
        pad_token=PAD,
        unk_token=UNKNOWN,
        eos_token=END,
        additional_special_tokens=[ASK],
        padding_side="left",
        clean_up_tokenization_spaces=False,
    )


def rewarded(folder: Path) -> list[dict[str, Any]]:
    """Prompt, completion, reward and outcome of everything that was rewarded."""
    import pandas as pd

    wanted = ["prompt", "completion", "code_reward", "code_reward_outcome"]
    tables = [pd.read_parquet(path) for path in sorted((folder / "completions").iterdir())]
    rows: list[dict[str, Any]] = pd.concat(tables)[wanted].to_dict("records")
    return rows


def main() -> None:
    """Train, then print the steps' log and every reward as one line of JSON."""
    folder = Path(sys.argv[1])
    trainer = train(folder)
    steps = [entry for entry in trainer.state.log_history if "rewards/code_reward/mean" in entry]
    sys.stdout.write(json.dumps({"steps": steps, "rewarded": rewarded(folder)}) + "\n")


if __name__ == "__main__":
    main()
