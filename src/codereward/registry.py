"""Plugins: finding them, who owns which name, and making components from names."""

from __future__ import annotations

import functools
import inspect
import os
import re
import sys
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any, Final, Literal

import pluggy

from codereward import hookspecs
from codereward.errors import ConfigError, PluginError, UnknownNameError

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

__all__ = ["Component", "Kind", "Plugin", "Registry", "default_registry"]

Kind = Literal["extractor", "harness", "executor", "scorer", "command"]

PLUGINS_VARIABLE: Final = "CODEREWARD_PLUGINS"
"""Unset: every plugin is loaded. Empty: built-ins only. Else: these distributions, by commas."""
TRACE_VARIABLE: Final = "CODEREWARD_TRACE_PLUGINS"
"""Set to `1`: every hook call is printed to standard error with its arguments."""

OWN_DISTRIBUTION: Final = "codereward"
HOOK_OF: Final[Mapping[Kind, str]] = {
    "extractor": "codereward_register_extractors",
    "harness": "codereward_register_harnesses",
    "executor": "codereward_register_executors",
    "scorer": "codereward_register_scorers",
    "command": "codereward_register_commands",
}
METHODS_OF: Final[Mapping[Kind, tuple[str, ...]]] = {
    "extractor": ("extract",),
    "harness": ("split", "build", "read", "parses", "defines"),
    "executor": ("run", "aclose", "diagnose"),
    "scorer": ("score",),
    "command": ("command",),
}
ATTRIBUTES_OF: Final[Mapping[Kind, tuple[str, ...]]] = {
    "extractor": (),
    "harness": ("language", "tags"),
    "executor": (),
    "scorer": (),
    "command": (),
}
PACKAGE_OF: Final[Mapping[tuple[Kind, str], str]] = {
    ("executor", "local"): "codereward-local",
    ("executor", "superserve"): "codereward-superserve",
    ("executor", "ray"): "codereward-ray",
    ("harness", "node"): "codereward-node",
    ("harness", "cpp"): "codereward-cpp",
}
"""Which package brings a name that is not installed: a hint in an error, nothing else."""

ADVICE_OF: Final[Mapping[Kind, str]] = {
    "extractor": "inherit codereward.Extractor",
    "harness": "inherit codereward.Harness",
    "executor": "inherit codereward.Executor",
    "scorer": "inherit codereward.Scorer",
    "command": "give a typer.Typer",
}

NAME: Final = re.compile(r"[a-z0-9]+(?:-[a-z0-9]+)*")


@dataclass(frozen=True, slots=True)
class Component:
    """A registered name."""

    kind: Kind
    name: str
    factory: Callable[..., Any]
    owner: str
    """`distribution:entry point` that registered it."""


@dataclass(slots=True)
class Plugin:
    """One entry point of the group, loaded or broken."""

    owner: str
    """`distribution:entry point`."""
    distribution: str
    version: str
    module: str
    requires: tuple[str, ...] = ()
    """The distribution's declared requirements on codereward."""
    components: list[Component] = field(default_factory=list)
    observes: tuple[str, ...] = ()
    """The observer hooks it implements."""
    error: BaseException | None = None
    """Why it could not be loaded."""


class Registry:
    """The names that plugins registered, and the plugins that observe."""

    def __init__(self) -> None:
        self.plugins: dict[str, Plugin] = {}
        self.manager = pluggy.PluginManager(hookspecs.PROJECT)
        self.manager.add_hookspecs(hookspecs)
        self._components: dict[tuple[Kind, str], Component] = {}
        if os.environ.get(TRACE_VARIABLE) == "1":
            self.manager.trace.root.setwriter(sys.stderr.write)
            self.manager.enable_tracing()

    # ------------------------------------------------------------------ loading

    def discover(self) -> None:
        """Load the installed plugins; one that fails is recorded and leaves the rest alone."""
        from importlib.metadata import entry_points

        points = {owner_of(point): point for point in entry_points(group=hookspecs.PROJECT)}
        for owner, point in sorted(points.items(), key=load_order):
            if chosen(distribution_of(point)):
                self._load(owner, point)

    def _load(self, owner: str, point: EntryPoint) -> None:
        plugin = describe(owner, point)
        self.plugins[owner] = plugin
        try:
            self._add(point.load(), plugin)
        except Exception as error:  # noqa: BLE001 - whatever a plugin's import raises is its owner's fault
            plugin.error = error

    def add(self, module: object, owner: str) -> Plugin:
        """Register a plugin that no entry point names.

        Args:
            module: A module, or any object that carries hook implementations.
            owner: What errors call it.

        Raises:
            PluginError: It claims a taken name, or implements an unknown hook.
        """
        plugin = Plugin(
            owner=owner, distribution=owner, version="", module=getattr(module, "__name__", owner)
        )
        self._add(module, plugin)
        self.plugins[owner] = plugin
        return plugin

    def _add(self, module: object, plugin: Plugin) -> None:
        refuse_undecorated(module, plugin.owner)
        try:
            self.manager.register(module, plugin.owner)
            refuse_unknown_hooks(self.manager, module, plugin)
            components = self._collect(module, plugin.owner)
        except BaseException:
            if self.manager.has_plugin(plugin.owner):
                self.manager.unregister(name=plugin.owner)
            raise
        self._components |= {(component.kind, component.name): component for component in components}
        plugin.components = components
        plugin.observes = observed_hooks(self.manager, module)

    def _collect(self, module: object, owner: str) -> list[Component]:
        others = [plugin for plugin in self.manager.get_plugins() if plugin is not module]
        found: list[Component] = []
        for kind, hook in HOOK_OF.items():
            register = functools.partial(self._claim, kind, owner, found)
            self.manager.subset_hook_caller(hook, remove_plugins=others)(register=register)
        return found

    def _claim(
        self, kind: Kind, owner: str, found: list[Component], name: str, factory: Callable[..., Any]
    ) -> None:
        if not NAME.fullmatch(str(name)):
            msg = f"{owner} registers a {kind} as {name!r}: names are lower-case letters, digits and hyphens"
            raise PluginError(msg)
        refuse_uncallable(factory, f"{owner} registers {kind} {name!r}")
        taken = [*found, *self._components.values()]
        holder = next((one.owner for one in taken if (one.kind, one.name) == (kind, name)), None)
        if holder is not None:
            msg = (
                f"{owner} registers {kind} {name!r}, a name that {holder} has: "
                "rename one of them, or uninstall one of the two distributions"
            )
            raise PluginError(msg)
        found.append(Component(kind, name, factory, owner))

    # ------------------------------------------------------------------ use

    def names(self, kind: Kind) -> list[str]:
        """The registered names of one kind, sorted."""
        return sorted(name for of_kind, name in self._components if of_kind == kind)

    def component(self, kind: Kind, name: str) -> Component:
        """Look a name up.

        Raises:
            UnknownNameError: Nobody registers it; the message names who should or could.
        """
        try:
            return self._components[kind, name]
        except KeyError:
            raise UnknownNameError(self._unknown(kind, name)) from None

    def create(self, kind: Kind, name: str, options: Mapping[str, Any] | None = None) -> Any:
        """Make the component that `name` stands for.

        Args:
            kind: Which of the four.
            name: A registered name.
            options: Keyword arguments for its factory.

        Raises:
            UnknownNameError: Nobody registers the name.
            ConfigError: The factory refuses the options.
            PluginError: What the factory made does not fulfil the contract.
        """
        component = self.component(kind, name)
        try:
            made = component.factory(**(options or {}))
        except (TypeError, ValueError) as error:
            given = ", ".join(options or ()) or "none"
            msg = f"cannot make {kind} {name!r} ({component.owner}) with the options given ({given}): {error}"
            raise ConfigError(msg) from error
        check_component(kind, made, f"{kind} {name!r} ({component.owner})")
        return made

    def _unknown(self, kind: Kind, name: str) -> str:
        parts = [f"there is no {kind} {name!r}; known: {', '.join(self.names(kind)) or 'none'}."]
        close = get_close_matches(name, self.names(kind), n=1)
        if close:
            parts.append(f"Did you mean {close[0]!r}?")
        package = PACKAGE_OF.get((kind, name))
        if package:
            parts.append(f"It comes with `pip install {package}`.")
        broken = [plugin for plugin in self.plugins.values() if plugin.error is not None]
        parts += [f"Plugin {one.owner} could not be loaded: {summary(one.error)}." for one in broken]
        if not any(one.distribution == OWN_DISTRIBUTION for one in self.plugins.values()):
            parts.append("The metadata of codereward itself is missing or stale: reinstall it.")
        if os.environ.get(PLUGINS_VARIABLE) is not None:
            parts.append(f"{PLUGINS_VARIABLE}={os.environ[PLUGINS_VARIABLE]!r} limits what is loaded.")
        return " ".join(parts)


@functools.cache
def default_registry() -> Registry:
    """The registry of the installed plugins, discovered at the first call in a process."""
    registry = Registry()
    registry.discover()
    return registry


# ---------------------------------------------------------------------- checks


def check_component(kind: Kind, component: object, what: str) -> None:
    """Check once, and well, that an object can serve as a component.

    Raises:
        PluginError: It cannot; the message says what is missing.
    """
    if isinstance(component, type):
        msg = f"{what} is the class {component.__name__}, not an instance: call it"
        raise PluginError(msg)
    for method in METHODS_OF[kind]:
        if not callable(getattr(component, method, None)):
            msg = f"{what} has no method `{method}`: {ADVICE_OF[kind]}"
            raise PluginError(msg)
    for attribute in ATTRIBUTES_OF[kind]:
        if not hasattr(component, attribute):
            msg = f"{what} has no attribute `{attribute}`: {ADVICE_OF[kind]}"
            raise PluginError(msg)
    if kind == "executor" and not inspect.iscoroutinefunction(component.run):  # type: ignore[attr-defined]
        msg = f"{what}: `run` must be a coroutine function (`async def`)"
        raise PluginError(msg)


def refuse_uncallable(factory: object, what: str) -> None:
    """Refuse a factory that cannot make anything."""
    if not callable(factory):
        msg = f"{what} with {factory!r}, which cannot be called: give a class or a function"
        raise PluginError(msg)


def refuse_undecorated(module: object, owner: str) -> None:
    """Refuse a hook implementation that lacks the decorator; pluggy would not see it."""
    for name in dir(module):
        if name.startswith(f"{hookspecs.PROJECT}_"):
            function = getattr(module, name)
            if inspect.isroutine(function) and not hasattr(function, f"{hookspecs.PROJECT}_impl"):
                msg = f"{owner}: `{name}` lacks the decorator `@codereward.hookimpl`, so it would never be called"
                raise PluginError(msg)


def refuse_unknown_hooks(manager: pluggy.PluginManager, module: object, plugin: Plugin) -> None:
    """Refuse an implementation of a hook that this version of codereward does not have."""
    known = sorted(name for name in dir(hookspecs) if name.startswith(f"{hookspecs.PROJECT}_"))
    for caller in manager.get_hookcallers(module) or ():
        if not caller.has_spec():
            close = get_close_matches(caller.name, known, n=1)
            hint = f"did you mean `{close[0]}`?" if close else f"the hooks are {', '.join(known)}."
            wants = f" It requires {', '.join(plugin.requires)}." if plugin.requires else ""
            msg = f"{plugin.owner} implements `{caller.name}`, which is no hook of codereward: {hint}{wants}"
            raise PluginError(msg)


def observed_hooks(manager: pluggy.PluginManager, module: object) -> tuple[str, ...]:
    """Names of the observer hooks that a plugin implements."""
    callers = manager.get_hookcallers(module) or ()
    return tuple(sorted(one.name for one in callers if one.name not in HOOK_OF.values()))


def summary(error: BaseException | None) -> str:
    """One line about an error."""
    return f"{type(error).__name__}: {error}"


# ---------------------------------------------------------------------- entry points


def distribution_of(point: EntryPoint) -> str:
    """Name of the distribution an entry point belongs to."""
    return point.dist.name if point.dist is not None else "unknown"


def owner_of(point: EntryPoint) -> str:
    """What errors call the plugin: `distribution:entry point`."""
    return f"{distribution_of(point)}:{point.name}"


def load_order(item: tuple[str, EntryPoint]) -> tuple[bool, str]:
    """Own built-ins first, then by name, so that the order never depends on the path."""
    owner, point = item
    return distribution_of(point) != OWN_DISTRIBUTION, owner


def chosen(distribution: str) -> bool:
    """Whether the environment lets a distribution's plugins load."""
    wanted = os.environ.get(PLUGINS_VARIABLE)
    names: Iterable[str] = (wanted or "").split(",")
    return (
        wanted is None or distribution == OWN_DISTRIBUTION or distribution in {one.strip() for one in names}
    )


def describe(owner: str, point: EntryPoint) -> Plugin:
    """What the metadata says of a plugin."""
    requires = (point.dist.requires or ()) if point.dist is not None else ()
    return Plugin(
        owner=owner,
        distribution=distribution_of(point),
        version=point.dist.version if point.dist is not None else "",
        module=point.value,
        requires=tuple(one for one in requires if re.match(r"codereward(?![\w-])", one)),
    )
