"""The demonstration of `examples/`, started as users start it."""

import importlib.util
import json
import os
import pickle
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType

import pytest
from filelock import FileLock

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
def shared(tmp_path_factory):
    """A folder of this test run that its parallel workers share."""
    own = tmp_path_factory.getbasetemp()
    return own.parent if "PYTEST_XDIST_WORKER" in os.environ else own


@pytest.fixture(scope="session")
def short_run(shared):
    """One warm start and two short trainings, made by the first worker that asks for them."""
    folder = shared / "short-demo"
    with FileLock(shared / "short-demo.lock"):
        if not folder.exists():
            folder.mkdir()
            (folder / "run.pickle").write_bytes(pickle.dumps(demo(folder, "--short")))
    return pickle.loads((folder / "run.pickle").read_bytes())
