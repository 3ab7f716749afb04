"""However a process ends, no sandbox outlives it."""

import json
import signal
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

SCRIPTS = Path(__file__).parent / "scripts"
PROMPT_SECONDS = 15.0
"""Far below the minute that the programs would run, far above what a busy machine needs."""


@dataclass
class Ending:
    """What the nursery tells of a script's end."""

    busy: bool
    code: int
    seconds: float
    stdout: str
    stderr: str
    survivors: list[str]


def ending(way: str, number: int = 0) -> Ending:
    """Let a script end in a way, by a signal if one is given."""
    command = [sys.executable, SCRIPTS / "nursery.py", str(int(number)), SCRIPTS / "ending.py", way]
    done = subprocess.run(command, capture_output=True, text=True, timeout=100, check=True)
    return Ending(**json.loads(done.stdout))


@pytest.mark.parametrize("way", ["call", "wait"])
def test_control_c_ends_a_batch_at_once(way):
    """An interrupt in mid-batch leaves as KeyboardInterrupt, and takes the sandboxes along."""
    end = ending(way, signal.SIGINT)
    assert end.busy
    assert end.code == -signal.SIGINT
    assert end.stderr.splitlines()[-1].startswith("KeyboardInterrupt")
    assert end.seconds < PROMPT_SECONDS
    assert end.survivors == []


def test_an_interrupted_pipeline_can_be_called_again():
    """Whoever catches the interrupt may go on with the same pipeline."""
    end = ending("go_on", signal.SIGINT)
    assert end.busy
    assert (end.code, end.stdout, end.stderr) == (0, "[1.0]\n", "")
    assert end.survivors == []


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL])
def test_a_killed_process_leaves_no_sandbox(number):
    """A process that is terminated or killed in mid-batch has no time to clean up, and need not."""
    end = ending("call", number)
    assert end.busy
    assert end.code == -number
    assert end.survivors == []


def test_the_interpreter_may_end_in_mid_batch():
    """When the main thread ends while another is in a call, programs are ended, not waited for."""
    end = ending("leave")
    assert end.code == 0
    assert end.seconds < PROMPT_SECONDS
    assert end.survivors == []


def test_nobody_needs_to_close():
    """A pipeline that was never closed ends with the interpreter, silently."""
    end = ending("forget")
    assert (end.code, end.stdout, end.stderr) == (0, "[1.0]\n", "")
    assert end.survivors == []


@pytest.mark.parametrize("way", ["tell", "child"])
def test_executors_are_closed_while_threads_still_work(way):
    """At the end of the interpreter, and of multiprocessing's children, clean-up may still use threads."""
    end = ending(way)
    assert (end.code, end.stdout, end.stderr) == (0, "closed\n", "")
