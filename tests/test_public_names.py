"""The public surface, and what importing it costs."""

from __future__ import annotations

import pickle
import subprocess
import sys
import types

import pytest

import codereward
from codereward import errors

HEAVY = [
    "torch",
    "trl",
    "transformers",
    "numpy",
    "datasets",
    "superserve",
    "typer",
    "pyromark",
    "asyncio",
    "importlib.metadata",
    "codereward.pipeline",
]


def test_all_is_what_is_visible():
    """`__all__` names every public name, and nothing else is public."""
    visible = {
        name
        for name, value in vars(codereward).items()
        if not name.startswith("_") and not isinstance(value, types.ModuleType)
    }

    assert visible - {"TYPE_CHECKING", "Any"} <= set(codereward.__all__)
    for name in codereward.__all__:
        assert getattr(codereward, name) is not None
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        codereward.nothing  # noqa: B018 - the access is the test


def test_importing_codereward_imports_nothing_heavy():
    """In a fresh interpreter."""
    script = "import sys, codereward; print(*sys.modules)"
    loaded = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    ).stdout.split()

    assert [name for name in HEAVY if name in loaded] == []


@pytest.mark.parametrize("cls", [getattr(errors, name) for name in errors.__all__])
def test_every_error_survives_pickling(cls):
    """Errors cross process borders."""
    error = (
        cls("what happened", 3)
        if cls in (codereward.DatasetError, codereward.BackendUnavailable)
        else cls("what happened")
    )
    copied = pickle.loads(pickle.dumps(error))

    assert type(copied) is cls
    assert str(copied) == str(error)
    assert copied.__dict__ == error.__dict__


@pytest.mark.parametrize("field", codereward.Limits.__slots__)
def test_limits_that_forbid_everything_are_refused(field):
    """Each field by its name."""
    with pytest.raises(ValueError, match=f"Limits.{field} must be positive"):
        codereward.Limits(**{field: 0})


def test_digests_tell_programs_apart():
    """Every part of a program counts."""
    base = codereward.Program("python", {"a": b"1"}, (codereward.Command(("x",)),))
    others = [
        codereward.Program("node", base.files, base.commands),
        codereward.Program("python", {"a": b"2"}, base.commands),
        codereward.Program("python", base.files, (codereward.Command(("y",)),)),
        codereward.Program("python", base.files, base.commands, limits=codereward.Limits(wall_seconds=1)),
        codereward.Program("python", base.files, base.commands, build=codereward.Command(("x",))),
    ]

    assert base.digest() == codereward.Program("python", {"a": b"1"}, (codereward.Command(("x",)),)).digest()
    assert len({one.digest() for one in [base, *others]}) == len(others) + 1


@pytest.mark.parametrize("path", ["", "/etc/passwd", "../x", "a/../../x", "a//b", "./a", "a/", "a\0b"])
def test_a_programs_files_stay_in_its_directory(path):
    """A harness that builds anything else is told at once."""
    with pytest.raises(ValueError, match="needs a plain path"):
        codereward.Program("python", {path: b""}, ())


@pytest.mark.parametrize(
    "command", [{"argv": ()}, {"argv": ("",)}, {"argv": ("a\0",)}, {"argv": ("a",), "env": {"A": "\0"}}]
)
def test_commands_that_no_system_could_start_are_refused(command):
    """Nothing to start, or a NUL in a word."""
    with pytest.raises(ValueError, match="a Command"):
        codereward.Command(**command)
