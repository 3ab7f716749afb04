"""The demonstration: GRPO teaches a tiny model to write passing code, on a plain CPU machine.

It trains the same model twice: with rewards from codereward, and with the naive reward of
`naive.py`. Everything it prints and draws was measured in the run at hand.
"""

import argparse
import os
import sys
from collections.abc import Sequence
from pathlib import Path

from tasks import SHORT, SHORT_UNTRAINED, TRAINED, UNTRAINED

from codereward import CoderewardError
from codereward.registry import default_registry

__all__ = ["main"]

NEEDS = "pip install 'codereward[trl]' codereward-local matplotlib"
STEPS, PROMPTS = 60, 16
SHORT_STEPS, SHORT_PROMPTS = 25, 8


def parser() -> argparse.ArgumentParser:
    """The options."""
    options = argparse.ArgumentParser(prog="demo.py", description=__doc__.partition("\n")[0])
    add = options.add_argument
    add("--short", action="store_true", help=f"8 tasks and {SHORT_STEPS} steps instead of 20 and {STEPS}")
    add("--steps", type=positive, help=f"training steps (default: {STEPS}; {SHORT_STEPS} with --short)")
    add(
        "--seed",
        type=int,
        default=0,
        help="of the training; the same seed gives the same curves (default: 0)",
    )
    add("--executor", default="local", help="where the programs run: local, superserve, … (default: local)")
    add("--output", type=Path, default=Path("demo-output"), help="folder for results (default: demo-output)")
    add(
        "--cache",
        type=Path,
        default=Path(".demo-cache"),
        help="folder for the warm-started model (default: .demo-cache)",
    )
    add("--no-naive", action="store_true", help="leave out the second training, with the naive reward")
    return options


def positive(text: str) -> int:
    """A whole number above zero."""
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError(f"has to be at least 1, not {number}")
    return number


def run(options: argparse.Namespace) -> None:
    """Run what the options ask for."""
    print("Loading torch, transformers and TRL", flush=True)
    from experiment import Experiment  # takes seconds, which --help should not

    Experiment(
        tasks=SHORT if options.short else TRAINED,
        untrained=SHORT_UNTRAINED if options.short else UNTRAINED,
        steps=options.steps or (SHORT_STEPS if options.short else STEPS),
        prompts=SHORT_PROMPTS if options.short else PROMPTS,
        seed=options.seed,
        executor=options.executor,
        output=options.output,
        cache=options.cache,
        naive=not options.no_naive,
    ).run()


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the demonstration; return the exit status."""
    options = parser().parse_args(arguments)
    os.environ["HF_HUB_OFFLINE"] = "1"
    try:
        default_registry().component("executor", options.executor)
        run(options)
    except CoderewardError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    except ModuleNotFoundError as error:
        print(f"error: {error}; the demonstration needs {NEEDS}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
        return 130
    return 0


if __name__ == "__main__":
    sys.exit(main())
