"""Splitting a script of asserts: each assert becomes a case, with the statements it depends on."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from codereward.harnesses.python.claims import Claim, Unsplittable, constant_text, split_claim
from codereward.harnesses.python.scope import Scope, free_names, nodes_in, stored_names
from codereward.harnesses.python.source import Source

__all__ = ["Part", "Script"]


@dataclass(frozen=True, slots=True)
class Part:
    """One assert, ready to be asked."""

    before: str
    """Statements to run before it."""
    claim: Claim | None
    """How it was split; `None`: it is asked as a whole."""
    whole: str
    """The statement, when it is asked as a whole."""
    shared: bool
    """Whether the sandbox gets to know what is expected."""
    vacuous: str = ""
    """Why it holds, or fails, whatever the completion is; empty when it does test something."""


@dataclass(frozen=True, slots=True)
class _Line:
    """A statement that later asserts may depend on."""

    text: str
    reads: frozenset[str]
    binds: frozenset[str]
    constant: bool = False
    """Whether it does nothing but give a name a value that the host knows."""
    replay: bool = False
    """Whether it is the questions of an earlier assert, which may have changed what it read."""
    asserts: bool = False
    """Whether there is an assert inside."""


class Script:
    """Goes through the statements of a test and keeps what later ones need.

    Args:
        scope: What the names of the code around the test stand for.
    """

    def __init__(self, scope: Scope) -> None:
        self.scope = scope
        self.lines: list[_Line] = []

    def run_before(self, source: Source, *, foreign: bool) -> None:
        """Take note of what code around the test binds; it runs for every case by itself.

        Args:
            source: The code.
            foreign: Whether it runs before the completion, and so cannot depend on it.
        """
        for statement in source.tree.body:
            self.scope.bind(statement, self._constant(statement, source))
            if foreign:
                self.scope.foreign |= stored_names(statement)

    def parts(self, source: Source) -> Iterator[Part]:
        """The asserts of one more text of the script."""
        for statement in source.tree.body:
            if isinstance(statement, ast.Assert):
                yield self._assert(statement, source)
            elif self._is_block_of_asserts(statement):
                yield self._whole(statement, source.of(statement))
            else:
                self._keep(statement, source)

    def _is_block_of_asserts(self, statement: ast.stmt) -> bool:
        defined = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
        return not isinstance(statement, defined) and holds_assert(statement)

    # ------------------------------------------------------------------ asserts

    def _assert(self, statement: ast.Assert, source: Source) -> Part:
        self._forget_what_calls_may_change(statement.test)
        try:
            claim = split_claim(statement.test, source, self.scope)
        except Unsplittable:
            return self._whole(statement, f"assert (\n{source.of(statement.test)}\n)")
        lines = self._needed(claim.names)
        asks = [ask for group in claim.asks for ask in group]
        if claim.names & self.scope.state:
            self._keep_replay(asks, claim.names)
        shared = claim.shared or any(line.asserts for line in lines)
        return Part(
            "\n".join(line.text for line in lines), claim, "", shared, self._vacuous(statement, claim)
        )

    def _vacuous(self, statement: ast.Assert, claim: Claim) -> str:
        if isinstance(statement.test, (ast.Tuple, ast.List, ast.Set, ast.Dict)):
            return "is about a tuple, which is always true; a message goes without brackets"
        if not claim.asks or all(map(self.scope.is_foreign, claim.names)):
            return (
                "does not use the completion; "
                "if it calls a function that is named like a builtin, name it in 'entry_point'"
            )
        if isinstance(statement.test, ast.Name) and statement.test.id not in self.scope.state:
            return f"asks only whether {statement.test.id!r} is there"
        return ""

    def _whole(self, statement: ast.stmt, text: str) -> Part:
        reads = frozenset(name.id for name in free_names(statement))
        lines = self._needed(reads)
        binds = stored_names(statement)
        if binds:
            self.scope.bind(statement)
            self.lines.append(_Line(text, reads, frozenset(binds), asserts=True))
        return Part("\n".join(line.text for line in lines), None, text, shared=True)

    def _forget_what_calls_may_change(self, test: ast.AST) -> None:
        """A list that is passed to the completion may come back changed."""
        passed = {
            name.id
            for call in nodes_in(test)
            if isinstance(call, (ast.Call, ast.Subscript, ast.Attribute)) and self.scope.needs_sandbox(call)
            for name in free_names(call)
        }
        for name in passed & self.scope.constants.keys():
            if self.scope.constants[name][1]:
                self.scope.forget(name)

    # ------------------------------------------------------------------ other statements

    def _keep(self, statement: ast.stmt, source: Source) -> None:
        constant = self._constant(statement, source)
        if constant is None:
            self._forget_what_calls_may_change(statement)
        binds = frozenset(stored_names(statement))
        reads = frozenset(name.id for name in free_names(statement)) | (frozenset() if constant else binds)
        self.scope.bind(statement, constant)
        self.lines.append(
            _Line(source.of(statement), reads, binds, constant is not None, asserts=holds_assert(statement))
        )

    def _constant(self, statement: ast.stmt, source: Source) -> str | None:
        """The value that a statement gives a name, when that is all it does and the host knows it."""
        if not isinstance(statement, ast.Assign) or len(statement.targets) != 1:
            return None
        if not isinstance(statement.targets[0], ast.Name):
            return None
        return constant_text(statement.value, source, self.scope)

    def _keep_replay(self, asks: Iterable[str], names: frozenset[str]) -> None:
        """What an assert asked may have changed what it read: later asserts that read it come after it."""
        text = "\n".join(f"try:\n    (\n{ask}\n)\nexcept Exception:\n    pass" for ask in asks)
        self.lines.append(_Line(text, names, frozenset(), replay=True))

    def _needed(self, names: frozenset[str]) -> list[_Line]:
        """The lines that code which reads `names` depends on, in order.

        Constants that it does not read are expected values, or of no use; they stay on the host.
        """
        needed, lines = set(names), list[_Line]()
        with_state = bool(names & self.scope.state)
        for line in reversed(self.lines):
            if (line.constant and not line.binds & needed) or (line.replay and not with_state):
                continue
            needed |= line.reads
            lines.append(line)
        return lines[::-1]


def holds_assert(statement: ast.stmt) -> bool:
    """Whether there is an assert in a statement."""
    return any(isinstance(one, ast.Assert) for one in nodes_in(statement))
