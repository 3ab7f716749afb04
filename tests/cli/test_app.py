"""The command line and the commands of plugins."""

from __future__ import annotations

import types

import pytest
import typer
from typer.testing import CliRunner

import codereward
from codereward.cli import app
from codereward.registry import Registry


def registry_with(factory: object) -> Registry:
    """A registry in which a plugin registers the group `extra`."""
    plugin = types.ModuleType("plugin")
    plugin.codereward_register_commands = codereward.hookimpl(specname="codereward_register_commands")(
        lambda register: register("extra", factory)
    )
    registry = Registry()
    registry.add(plugin, "acme")
    return registry


@pytest.fixture(autouse=True)
def _same_commands_after(monkeypatch):
    monkeypatch.setattr(app.app, "registered_groups", list(app.app.registered_groups))


def group() -> typer.Typer:
    commands = typer.Typer()
    commands.callback()(lambda: None)
    commands.command("hello")(lambda: typer.echo("hello from a plugin"))
    return commands


def broken() -> typer.Typer:
    raise ModuleNotFoundError("No module named 'acme_sdk'")


def test_hook_codereward_register_commands():
    """A plugin's group becomes `codereward <name> ...`."""
    app.add_plugin_commands(registry_with(group))

    assert CliRunner().invoke(app.app, ["extra", "hello"]).stdout == "hello from a plugin\n"


@pytest.mark.parametrize(
    ("factory", "reason"), [(broken, "No module named 'acme_sdk'"), (object, "give a typer.Typer")]
)
def test_broken_commands_of_a_plugin_spare_the_rest(factory, reason, capsys):
    """They are named with their owner; the other commands work."""
    app.add_plugin_commands(registry_with(factory))

    assert "codereward: no commands 'extra' (acme): " in (told := capsys.readouterr().err)
    assert reason in told
    assert CliRunner().invoke(app.app, ["plugins"]).exit_code == 0
