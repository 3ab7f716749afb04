"""What the names of a test stand for: a function that checks know, a constant, or the completion's."""

from __future__ import annotations

import ast
import builtins
import functools
from collections.abc import Iterator
from typing import Final

from codereward.harnesses.python.checks import CLASSES, CONSTANTS, FUNCTIONS, can_evaluate, full_name

__all__ = ["Scope", "free_names", "nodes_in", "stored_names"]

BUILTINS: Final = frozenset(dir(builtins))
KNOWN: Final = frozenset(FUNCTIONS) | frozenset(CONSTANTS)
PACKAGES: Final = frozenset(name.rpartition(".")[0] for name in KNOWN) - {""}
COMPLETION: Final = "solution"
"""The module that the completion is loaded as; tests may import from it."""
MAX_CONSTANT: Final = 100_000
"""Characters of a constant that a test assigns to a name."""


class Scope:
    """The names that code around a test has bound so far.

    Args:
        entry_point: A name that is the completion's, whatever else has it.
    """

    def __init__(self, entry_point: str | None) -> None:
        self.own = {entry_point.partition(".")[0]} if entry_point else set()
        self.constants: dict[str, tuple[str, bool]] = {}
        """Name → text of its value, and whether it can change."""
        self.imported: dict[str, str] = {}
        """Name → full name of what it was imported from."""
        self.helpers: set[str] = set()
        """Names of functions, classes and modules that are not the completion's."""
        self.foreign: set[str] = set()
        """Names of what cannot depend on the completion."""
        self.state: set[str] = set()
        """Names of values that only the sandbox knows."""

    # ------------------------------------------------------------------ looking up

    def is_value(self, node: ast.expr) -> bool:
        """Whether an expression is a name of a value that the host knows."""
        if isinstance(node, ast.Name) and node.id in self.constants:
            return True
        return self.known_name(node) in CONSTANTS

    def function(self, node: ast.expr) -> str | None:
        """The full name of the function that an expression names, if checks know it."""
        name = self.known_name(node)
        return name if name in FUNCTIONS or name == "isinstance" else None

    def known_name(self, node: ast.expr) -> str | None:
        """The full name of something that checks may know."""
        name = full_name(node)
        if name is None:
            return None
        first, dot, rest = name.partition(".")
        if first in self.own or first in self.constants or first in self.state:
            return None
        if first in self.imported:
            return self.imported[first] + dot + rest
        return name if not dot and first in BUILTINS and first not in self.helpers else None

    def is_known(self, name: ast.Name) -> bool:
        """Whether the host can do without asking what a name stands for."""
        known = self.known_name(name)
        return (
            self.is_value(name)
            or known in KNOWN
            or known in PACKAGES
            or known in CLASSES
            or known == "isinstance"
        )

    def needs_sandbox(self, node: ast.AST) -> bool:
        """Whether an expression holds a name that the host does not know."""
        return any(not self.is_known(name) for name in free_names(node))

    def evaluable(self, node: ast.expr, *given: ast.AST) -> bool:
        """Whether checks may hold an expression, when they are given the values of some in it."""
        return can_evaluate(node, self.is_value, self.function, given)

    def is_helper(self, name: str) -> bool:
        """Whether a name is something to call that is not the completion's."""
        if name in self.own or name in self.state:
            return False
        return name in self.helpers or name in BUILTINS

    def is_foreign(self, name: str) -> bool:
        """Whether what a name stands for has nothing to do with the completion."""
        if name in self.own:
            return False
        return name in self.foreign or (
            name in BUILTINS and name not in self.state and name not in self.helpers
        )

    # ------------------------------------------------------------------ binding

    def bind(self, statement: ast.stmt, constant: str | None = None) -> None:
        """Take note of what a statement binds.

        Args:
            statement: Any.
            constant: Text of the value, when it assigns one that the host knows to a name.
        """
        if isinstance(statement, (ast.Import, ast.ImportFrom)):
            self._import(statement)
            return
        names = stored_names(statement)
        for name in names:
            self.constants.pop(name, None)
            self.imported.pop(name, None)
            self.foreign.discard(name)
        if isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            self.helpers |= names
        elif self._is_another_name(statement):
            self.state -= names
        elif constant is not None and len(constant) <= MAX_CONSTANT and isinstance(statement, ast.Assign):
            self.constants[next(iter(names))] = (constant, may_change(statement.value))
        else:
            self.state |= names

    def forget(self, name: str) -> None:
        """A value that the host knew may have changed in the sandbox."""
        del self.constants[name]
        self.state.add(name)

    def _is_another_name(self, statement: ast.stmt) -> bool:
        """Whether it gives something of the completion, as a function, one more name."""
        if not isinstance(statement, ast.Assign) or not isinstance(statement.value, ast.Name):
            return False
        name = statement.value.id
        return name not in self.state and not self.is_known(statement.value) and not self.is_helper(name)

    def _import(self, statement: ast.Import | ast.ImportFrom) -> None:
        for name, source in imports(statement):
            if source.partition(".")[0] == COMPLETION:
                continue
            self.helpers.add(name)
            self.foreign.add(name)
            self.state.discard(name)
            self.constants.pop(name, None)
            self.imported[name] = source


def imports(statement: ast.Import | ast.ImportFrom) -> Iterator[tuple[str, str]]:
    """The names that an import binds, and what they stand for."""
    for alias in statement.names:
        if isinstance(statement, ast.Import):
            first = alias.name.partition(".")[0]
            yield (alias.asname, alias.name) if alias.asname else (first, first)
        elif alias.name == "*":
            prefix = f"{statement.module}."
            yield from ((name.removeprefix(prefix), name) for name in KNOWN if name.startswith(prefix))
        else:
            yield alias.asname or alias.name, f"{statement.module}.{alias.name}"


def may_change(value: ast.expr) -> bool:
    """Whether the value of a constant expression is of a type that can be changed."""
    fixed = (ast.Constant, ast.Tuple, ast.UnaryOp, ast.BinOp, ast.expr_context, ast.operator, ast.unaryop)
    return not all(isinstance(node, fixed) for node in nodes_in(value))


@functools.lru_cache(maxsize=64)  # asked of the same node several times in a row; data in tests can be long
def free_names(node: ast.AST) -> tuple[ast.Name, ...]:
    """The names that an expression reads, but for those it binds itself in loops and lambdas."""
    names, bound = list[ast.Name](), set[str]()
    for one in nodes_in(node):
        if isinstance(one, ast.arg):
            bound.add(one.arg)
        elif isinstance(one, ast.Name):
            if isinstance(one.ctx, ast.Load):
                names.append(one)
            else:
                bound.add(one.id)
    return tuple(name for name in names if name.id not in bound)


def nodes_in(node: ast.AST) -> Iterator[ast.AST]:
    """A node and what is in it, in any order, without literal data."""
    pending = [node]
    while pending:
        one = pending.pop()
        yield one
        pending.extend(child for child in ast.iter_child_nodes(one) if not isinstance(child, ast.Constant))


def stored_names(statement: ast.stmt) -> set[str]:
    """The names that a statement may bind at its own level or, to be safe, below."""
    if isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
        return {statement.name}
    names = {
        one.id for one in nodes_in(statement) if isinstance(one, ast.Name) and isinstance(one.ctx, ast.Store)
    }
    defined = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
    return names | {one.name for one in nodes_in(statement) if isinstance(one, defined)}
