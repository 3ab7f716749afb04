"""The same promises when the host is an ordinary user instead of root."""

import os
import subprocess
import sys
import sysconfig
import tempfile
from pathlib import Path

import codereward
import pytest

import codereward_local

UNUSED_ID = 63999
HERE = Path(__file__).parent
SUITES = ("test_executor.py", "test_persistence.py", "test_hostile.py", "test_selftest.py")
NOT_TWICE = "not leak"
NEEDED = "import codereward, codereward_local, hypothesis, pytest, pytest_timeout"


def python_for_all() -> str | None:
    """An interpreter that a user who owns nothing can start, and that finds what the tests need."""
    for each in (sys.executable, "/usr/bin/python3", "/usr/local/bin/python3"):
        try:
            as_user([each, "-c", NEEDED], cwd="/", check=True)
        except (OSError, subprocess.SubprocessError):
            continue
        return each
    return None


def as_user(
    argv: list[str], *, home: str = "/nonexistent", **options: object
) -> subprocess.CompletedProcess[bytes]:
    places = [Path(module.__file__).parent.parent for module in (codereward, codereward_local)]
    path = os.pathsep.join(map(str, (*places, sysconfig.get_path("purelib"))))
    environment = {"PATH": "/usr/local/bin:/usr/bin:/bin", "PYTHONPATH": path, "HOME": home, "TMPDIR": home}
    environment |= {"PYTHONDONTWRITEBYTECODE": "1", "USER": "nobody-known"}
    return subprocess.run(
        argv,
        env=environment,
        user=UNUSED_ID,
        group=UNUSED_ID,
        extra_groups=[],
        capture_output=True,
        **options,
    )


@pytest.mark.timeout(400)
@pytest.mark.skipif(os.geteuid() != 0, reason="the whole suite runs as an ordinary user already")
def test_the_suite_passes_for_an_ordinary_user():
    """Executor, persistence, self-test and hostile programs, under a user that owns nothing."""
    python = python_for_all()
    if python is None:
        pytest.skip("no interpreter that another user could start finds the tests' packages")
    with tempfile.TemporaryDirectory() as home:
        os.chown(home, UNUSED_ID, UNUSED_ID)
        argv = [python, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", "--import-mode=importlib"]
        argv += ["--rootdir", str(HERE), "-c", os.devnull, "-k", NOT_TWICE, "--basetemp", home + "/tests"]
        done = as_user([*argv, *(str(HERE / each) for each in SUITES)], home=home, cwd="/")

    assert done.returncode == 0, done.stdout.decode()[-3000:] + done.stderr.decode()[-3000:]
