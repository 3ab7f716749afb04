"""Nothing that a user can meet is missing from the documentation, and what it says of values is true."""

import ast
import inspect
import re
from importlib import import_module
from pathlib import Path

import pytest
import typer

import codereward
from codereward import errors, hookspecs
from codereward.cli.app import app
from codereward.config import arguments
from codereward.metrics import batch_extras, batch_metrics
from codereward.registry import default_registry

REPOSITORY = Path(__file__).resolve().parents[2]
DOCS = REPOSITORY / "docs"
HOOKS = [name for name in vars(hookspecs) if name.startswith("codereward_")]
CONSTANT = re.compile(r"^\| `(codereward\.[\w.]+)\.([A-Z_]+)` \| ([\d,.]+)(?: s)? \|", re.MULTILINE)


def page(name):
    return (DOCS / name).read_text()


TRAINING, PLUGINS, CONCEPTS, FAQ = map(page, ["uses/training.md", "uses/plugins.md", "concepts.md", "faq.md"])
REFERENCE = "".join(path.read_text() for path in DOCS.glob("reference/*.md")) + PLUGINS


@pytest.mark.parametrize("hook", HOOKS)
def test_hooks_have_a_heading_with_their_exact_signature(hook):
    """An author can copy it."""
    signature = str(inspect.signature(getattr(hookspecs, hook))).replace("'", "")

    assert f"### `{hook}{signature}` " in PLUGINS
    assert f"::: codereward.hookspecs.{hook}\n" in PLUGINS


@pytest.mark.parametrize("name", codereward.__all__)
def test_public_names_are_in_the_reference(name):
    """Each by the path from which it is imported."""
    assert f"::: codereward.{name}\n" in REFERENCE or f"`codereward.{name}`" in REFERENCE


@pytest.mark.parametrize("module", ["scorers", "harnesses", "extractors", "values", "wrappers", "trl"])
def test_names_of_public_modules_are_in_the_reference(module):
    """Whatever a documented module exports."""
    missing = [
        name
        for name in import_module(f"codereward.{module}").__all__
        if f"::: codereward.{module}.{name}\n" not in REFERENCE
    ]

    assert missing == []


def test_commands_are_documented():
    """Each of ours has its help on the page of the command line."""
    names = typer.main.get_command(app).commands
    ours = set(names) - set(default_registry().names("command"))

    assert {name for name in ours if f"## `codereward {name}`" not in page("reference/cli.md")} == set()


@pytest.mark.parametrize("name", errors.__all__)
def test_errors_have_an_entry(name):
    """What each wants from the reader."""
    assert f"\n### {name}\n" in FAQ


def test_the_tree_of_errors_is_the_one_in_the_source():
    """Drawn twice, and alike."""
    tree = re.search(r"```text\n(.*?)```", errors.__doc__, re.DOTALL)[1]

    assert tree in page("reference/errors.md")


@pytest.mark.parametrize("field", codereward.Limits.__slots__)
def test_limits_are_listed_with_their_defaults(field):
    """Each field of `Limits`."""
    shown = re.search(rf"^\| `{field}` \| ([\d,.]+)", TRAINING, re.MULTILINE)

    assert float(shown[1].replace(",", "")) == getattr(codereward.Limits(), field)


def test_constants_are_listed_with_their_values():
    """What the page on training says of a constant is what the source says."""
    shown = CONSTANT.findall(TRAINING)

    assert shown
    for module, name, value in shown:
        assert getattr(import_module(module), name) == float(value.replace(",", "")), name


def test_every_time_out_of_the_core_is_listed():
    """No hidden ones: every constant in seconds that users can meet has a line."""
    listed = {(module, name) for module, name, _ in CONSTANT.findall(TRAINING)}
    source = REPOSITORY / "src"
    found = {
        (".".join(path.relative_to(source).with_suffix("").parts), target.id)
        for path in source.rglob("*.py")
        if "testing" not in path.parts
        for node in ast.parse(path.read_text()).body
        for target in [*getattr(node, "targets", []), getattr(node, "target", None)]
        if isinstance(target, ast.Name) and target.id.endswith("_SECONDS")
    }

    assert found - listed == set()


@pytest.mark.parametrize("name", ["batch_seconds", "max_concurrency"])
def test_arguments_that_bound_are_listed_with_their_defaults(name):
    """Those of the pipeline."""
    shown = re.search(rf"^\| `{name}` \| ([\d,.]+)", TRAINING, re.MULTILINE)

    assert float(shown[1]) == inspect.signature(codereward.RewardPipeline).parameters[name].default


def test_every_key_that_is_logged_is_explained():
    """Metrics and columns of an empty batch: the keys are always the same."""
    keys = [*batch_metrics("code_reward", []), *batch_extras("code_reward", [])]

    assert [key for key in keys if f"\n| `{key}` |" not in TRAINING] == []


@pytest.mark.parametrize("enum", [codereward.Outcome, codereward.Blame])
def test_outcomes_and_blames_are_explained(enum):
    """Each value in the table."""
    assert [str(one) for one in enum if f"| `{one}` |" not in CONCEPTS] == []


def test_the_kinds_of_the_python_harness_are_explained():
    """Those that it names itself when asked for another."""
    harness = default_registry().create("harness", "python")
    with pytest.raises(codereward.DatasetError) as refused:
        harness.split({"kind": "no such kind"})
    kinds = refused.value.message.partition("it has: ")[2].split(", ")

    assert kinds
    assert [kind for kind in kinds if f"\n| `{kind}` |" not in CONCEPTS] == []


def test_every_environment_variable_is_listed():
    """All that the core reads or sets."""
    modules = [path for path in (REPOSITORY / "src").rglob("*.py") if "testing" not in path.parts]
    source = "".join(path.read_text() for path in modules)
    variables = set(re.findall(r'"(CODEREWARD_[A-Z_]+)"', source))

    assert {name for name in variables if f"| `{name}` |" not in PLUGINS} == set()


def test_every_argument_of_the_pipeline_is_described():
    """In its docstring, from which the reference is made."""
    described = set(re.findall(r"^        (\w+): ", codereward.RewardPipeline.__doc__, re.MULTILINE))

    assert arguments() <= described
