"""Plugins are found by real metadata on disk, and told apart when they are broken."""

from __future__ import annotations

import subprocess
import sys
import types
from pathlib import Path

import pytest

import codereward
from codereward import ConfigError, PluginError, UnknownNameError
from codereward.registry import Registry, check_component

SCORER = """
import codereward

class Close(codereward.Scorer):
    def __init__(self, tolerance: float = 1e-6) -> None:
        self.tolerance = tolerance

    def score(self, observation, answers):
        return float(abs(observation.value - answers.value) < self.tolerance)

@codereward.hookimpl
def codereward_register_scorers(register):
    register("close", Close)
"""


@pytest.fixture
def install(tmp_path, monkeypatch):
    """Puts a distribution with one plugin module on the path, metadata and all."""
    monkeypatch.syspath_prepend(str(tmp_path))

    def install(name: str, source: str, version: str = "1.0", requires: str = "codereward>=0.1") -> None:
        module = name.replace("-", "_")
        (tmp_path / f"{module}.py").write_text(source)
        info = tmp_path / f"{module}-{version}.dist-info"
        info.mkdir()
        metadata = f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\nRequires-Dist: {requires}\n"
        (info / "METADATA").write_text(metadata)
        (info / "entry_points.txt").write_text(f"[codereward]\nplugin = {module}\n")

    yield install
    for module in [one for one in sys.modules if one.startswith("acme_")]:
        del sys.modules[module]


def discovered() -> Registry:
    registry = Registry()
    registry.discover()
    return registry


def test_a_scorer_of_ten_lines_in_another_folder_is_found_and_used(install):
    """The smallest plugin: a module and its metadata; its options are the user's."""
    install("acme-close", SCORER)
    registry = discovered()

    scorer = registry.create("scorer", "close", {"tolerance": 0.5})

    assert registry.component("scorer", "close").owner == "acme-close:plugin"
    assert (
        scorer.score(codereward.Observation(codereward.Outcome.SCORED, 1.2), codereward.Answers(1.0)) == 1.0
    )


def test_a_plugin_that_fails_to_import_is_named_and_spares_the_rest(install):
    """Its failure is told when a name is missing, and nobody else's names are."""
    install("acme-broken", "import there_is_no_such_module")
    registry = discovered()

    assert "exact" in registry.names("scorer")
    assert isinstance(registry.plugins["acme-broken:plugin"].error, ModuleNotFoundError)
    with pytest.raises(
        UnknownNameError, match=r"acme-broken:plugin could not be loaded: ModuleNotFoundError"
    ):
        registry.create("scorer", "close")


def test_a_name_that_is_taken_is_refused_with_both_owners(install):
    """Order never decides what a name means."""
    install("acme-first", SCORER)
    install("acme-second", SCORER)
    registry = discovered()

    error = registry.plugins["acme-second:plugin"].error
    assert isinstance(error, PluginError)
    assert "acme-second:plugin registers scorer 'close', a name that acme-first:plugin has" in str(error)
    assert registry.component("scorer", "close").owner == "acme-first:plugin"


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("def codereward_register_scorers(register): pass", "lacks the decorator `@codereward.hookimpl`"),
        (
            "import codereward\n@codereward.hookimpl\ndef codereward_register_scorer(register): pass",
            "did you mean `codereward_register_scorers`\\?.*It requires codereward>=0.1",
        ),
        (
            "import codereward\n@codereward.hookimpl\ndef codereward_register_scorers(register):\n    register('Has Space', int)",
            "names are lower-case letters",
        ),
        (
            "import codereward\n@codereward.hookimpl\ndef codereward_register_scorers(register):\n    register('three', 3)",
            "which cannot be called",
        ),
    ],
)
def test_a_plugin_that_breaks_the_rules_is_told_what_to_do(install, source, message):
    """Each mistake an author can make has its own message, and registers nothing."""
    install("acme-wrong", source)
    registry = discovered()

    with pytest.raises(PluginError, match=message):
        raise registry.plugins["acme-wrong:plugin"].error
    assert not registry.manager.has_plugin("acme-wrong:plugin")
    assert "three" not in registry.names("scorer")


def test_an_unknown_name_lists_the_known_and_the_package_that_brings_it():
    """The message is the next step."""
    registry = discovered()

    with pytest.raises(UnknownNameError, match=r"known: exact, f1, .*Did you mean 'exact'\?"):
        registry.create("scorer", "exat")
    with pytest.raises(UnknownNameError, match=r"pip install codereward-cpp"):
        registry.create("harness", "cpp")


def test_an_unregistered_source_tree_says_that_its_metadata_is_missing():
    """A registry without codereward's own entry point is a broken installation."""
    with pytest.raises(UnknownNameError, match="metadata of codereward itself is missing"):
        Registry().create("scorer", "exact")


def test_options_that_a_component_does_not_take_are_refused_with_its_words():
    """A misspelt option is an error, not a default."""
    with pytest.raises(ConfigError, match=r"cannot make scorer 'exact' .*tolerance"):
        discovered().create("scorer", "exact", {"tolerance": 1})


@pytest.mark.parametrize(
    ("variable", "loaded"), [("", False), ("acme-close", True), ("other, acme-close", True), ("other", False)]
)
def test_the_environment_chooses_which_plugins_load(install, monkeypatch, variable, loaded):
    """Empty: built-ins only; a list: those distributions; built-ins always."""
    install("acme-close", SCORER)
    monkeypatch.setenv("CODEREWARD_PLUGINS", variable)
    registry = discovered()

    assert ("close" in registry.names("scorer")) == loaded
    assert "exact" in registry.names("scorer")


def test_the_message_for_an_unknown_name_says_that_the_environment_limits_plugins(monkeypatch):
    """Somebody who set the variable last year finds it again."""
    monkeypatch.setenv("CODEREWARD_PLUGINS", "")

    with pytest.raises(UnknownNameError, match=r"CODEREWARD_PLUGINS='' limits what is loaded"):
        discovered().create("executor", "local")


def test_hook_calls_can_be_traced(install):
    """CODEREWARD_TRACE_PLUGINS=1 prints hooks and arguments."""
    script = "from codereward.registry import default_registry; default_registry()"
    environment = {"CODEREWARD_TRACE_PLUGINS": "1", "CODEREWARD_PLUGINS": ""}
    process = subprocess.run(
        [sys.executable, "-c", script], env=environment, capture_output=True, text=True, check=True
    )

    assert "codereward_register_scorers" in process.stderr


class NoMethods:
    pass


class NotCoroutine:
    def run(self, program): ...

    async def aclose(self): ...

    async def diagnose(self): ...


@pytest.mark.parametrize(
    ("kind", "component", "message"),
    [
        ("scorer", NoMethods(), "no method `score`: inherit codereward.Scorer"),
        ("scorer", NoMethods, "is the class NoMethods, not an instance"),
        ("executor", NotCoroutine(), "`run` must be a coroutine function"),
        ("harness", NoMethods(), "no method `split`"),
        ("command", NoMethods(), "give a typer.Typer"),
    ],
)
def test_a_component_is_checked_once_and_well(kind, component, message):
    """What is not a component is told what it lacks."""
    with pytest.raises(PluginError, match=message):
        check_component(kind, component, "it")


def test_a_plugin_can_be_registered_in_code():
    """For notebooks and tests; it owns its names like any other."""
    module = types.ModuleType("notebook")
    exec(SCORER, module.__dict__)
    registry = Registry()

    plugin = registry.add(module, "notebook")

    assert [one.name for one in plugin.components] == ["close"]
    with pytest.raises(PluginError, match="a name that notebook has"):
        registry.add(_copy_of(module), "again")


def _copy_of(module: types.ModuleType) -> types.ModuleType:
    copied = types.ModuleType("copy")
    exec(SCORER, copied.__dict__)
    return copied


def test_the_command_line_lists_plugins_and_fails_when_one_is_broken(tmp_path):
    """`codereward plugins` shows kind, name, distribution, version, and what is broken."""
    info = tmp_path / "acme_lost-2.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: acme-lost\nVersion: 2.0\n")
    (info / "entry_points.txt").write_text("[codereward]\nplugin = acme_lost_module\n")
    command = [str(Path(sys.executable).with_name("codereward")), "plugins"]
    process = subprocess.run(command, env={"PYTHONPATH": str(tmp_path)}, capture_output=True, text=True)

    assert process.returncode == 1
    assert ["scorer", "partial", "codereward"] in [line.split()[:3] for line in process.stdout.splitlines()]
    assert "broken: acme-lost:plugin 2.0 (acme_lost_module): ModuleNotFoundError" in process.stdout
