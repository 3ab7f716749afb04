"""What the tests of the documentation share."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).parent
REPOSITORY = HERE.parents[1]

os.environ["HF_HUB_OFFLINE"] = "1"
sys.path.insert(0, str(HERE))  # the helpers beside this file; pytest's importlib mode adds nothing


@pytest.fixture(scope="session")
def installed(tmp_path_factory):
    """Installs a folder of the repository, with pip and metadata, and returns where; once for each."""
    places = {}

    def install(folder: str) -> Path:
        if folder not in places:
            places[folder] = place = tmp_path_factory.mktemp("installed")
            pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "install", "--quiet"]
            options = [
                "--no-deps",
                "--no-index",
                "--no-build-isolation",
                "--no-compile",
                "--target",
                str(place),
            ]
            subprocess.run([*pip, *options, str(REPOSITORY / folder)], check=True, timeout=200)
        return places[folder]

    return install


@pytest.fixture
def surroundings(installed):
    """An environment in which the command `codereward` and some more plugins are installed."""

    def surroundings(*folders: str) -> dict[str, str]:
        path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
        plugins = os.pathsep.join(str(installed(folder)) for folder in folders)
        plain = {"COLUMNS": "80", "TERM": "dumb", "NO_COLOR": "1", "OMP_NUM_THREADS": "1"}
        return {**os.environ, **plain, "PATH": path, "PYTHONPATH": plugins}

    return surroundings
