"""The demonstration of `examples/`, started as users start it."""

import importlib.util
import json
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType

import pytest

DEMO = Path(__file__).parents[2] / "examples" / "grpo_demo"


@dataclass
class Run:
    """A finished run of the demonstration."""

    returncode: int
    stdout: str
    stderr: str
    output: Path

    @property
    def result(self):
        return json.loads((self.output / "result.json").read_text())


def load(name: str) -> ModuleType:
    """A module of the demonstration that imports none of its siblings."""
    spec = importlib.util.spec_from_file_location(f"grpo_demo_{name}", DEMO / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = sys.modules[spec.name] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def demo(folder: Path, *options: str) -> Run:
    command = [sys.executable, DEMO / "demo.py", "--output", "output", "--cache", "cache", *options]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=900, check=False)
    return Run(done.returncode, done.stdout, done.stderr, folder / "output")


@pytest.fixture(scope="session")
def tasks():
    return load("tasks")


@pytest.fixture(scope="session")
def naive():
    return load("naive")


@pytest.fixture(scope="session")
def start_demo(tmp_path_factory):
    return lambda *options: demo(tmp_path_factory.mktemp("demo"), *options)


@pytest.fixture(scope="session")
def short_run(start_demo):
    """One warm start and two short trainings: a minute or so."""
    return start_demo("--short")
