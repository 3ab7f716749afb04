"""The example plugins: installed for real in a folder of their own, and used by name."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).resolve().parents[2]
PLUGINS = "docs/examples/plugins"

PATIENCE_SECONDS = 280  # a busy machine
pytestmark = pytest.mark.timeout(300)

USE = """
import json, sys
from codereward import RewardPipeline

settings, columns = json.loads(sys.argv[1])
with RewardPipeline(executor="local", **settings) as reward:
    print(json.dumps(reward(**columns)))
"""


def rewards(settings, columns, environment, folder):
    command = [sys.executable, "-W", "error", "-c", USE, json.dumps([settings, columns])]
    done = subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, timeout=PATIENCE_SECONDS
    )

    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def fenced(language, code):
    return f"```{language}\n{code}\n```"


def test_the_scorer_close_forgives_a_small_difference(tmp_path, surroundings):
    """Used by its name, with an option, on values that real programs gave."""
    codes = ["0.3333", "0.5", "'a'", "True", "10**400", "float('nan')"]
    answers = [fenced("python", f"def f():\n    return {code}") for code in codes]
    columns = {"completions": answers, "test": ["f()"] * 6, "expected": [1 / 3] * 3 + [1] * 3}
    settings = {"scorer": {"name": "close", "tolerance": 0.001}}

    assert rewards(settings, columns, surroundings(f"{PLUGINS}/codereward-close"), tmp_path) == [
        1,
        0,
        0,
        0,
        0,
        0,
    ]


def test_the_harness_bash_scores_what_scripts_print(tmp_path, surroundings):
    """A new language: right, half right, wrong status, and no end."""
    scripts = [
        "read a b; echo $((a + b))",
        "echo 3",
        "read a b; echo $((a + b)); exit 1",
        "while :; do :; done",
    ]
    columns = {
        "completions": [fenced("bash", script) for script in scripts],
        "stdin": [["1 2\n", "20 22\n"]] * 4,
        "stdout": [["3\n", "42\n"]] * 4,
    }
    settings = {"harness": "bash", "kind": "stdio", "scorer": "partial", "batch_seconds": 90}

    assert rewards(settings, columns, surroundings(f"{PLUGINS}/codereward-bash"), tmp_path) == [1, 0.5, 0, 0]


@pytest.mark.parametrize("plugin", sorted(path.parent.name for path in REPOSITORY.glob(f"{PLUGINS}/*/tests")))
def test_the_plugins_own_tests_pass(plugin, tmp_path, surroundings):
    """The conformance suite, run as the page on plugins says."""
    pytest_ = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--import-mode=importlib"]
    folder = REPOSITORY / PLUGINS / plugin / "tests"
    environment = surroundings(f"{PLUGINS}/{plugin}")
    command = [*pytest_, "-c", "/dev/null", "--rootdir", str(folder), str(folder)]
    done = subprocess.run(
        command, cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=PATIENCE_SECONDS
    )

    assert done.returncode == 0, done.stdout
