"""Checks code that is not run: are its imports, names, attributes and arguments there?

Imports are carried out; calls are compared with the signature of what they call. A variable that is
made by calling a class counts as an instance of it.
"""

from __future__ import annotations

import ast
import builtins
import inspect
from collections.abc import Collection, Iterator, Mapping
from typing import Any, Final

__all__ = ["problems"]

UNKNOWN: Final = object()
"""What an expression stands for when nobody can tell without running it."""


def problems(tree: ast.Module, known: dict[str, Any], given: Collection[str] = ()) -> list[str]:
    """What is wrong with a module, one line each.

    Args:
        tree: The module.
        known: What earlier code has defined; what the module defines is added.
        given: Names that come from elsewhere.
    """
    known.update(dict.fromkeys(given, UNKNOWN))
    found: list[str] = []
    for statement in tree.body:
        define(statement, known)
        for node in ast.walk(statement):
            found += [f"line {getattr(node, 'lineno', 0)}: {text}" for text in wrong_with(node, known)]
    return found


def define(statement: ast.stmt, known: dict[str, Any]) -> None:
    """Note the names that a statement defines, with what they stand for where that is clear."""
    for node in ast.walk(statement):
        if isinstance(node, ast.Import | ast.ImportFrom):
            exec(compile(ast.Module([node], []), "<imports>", "exec"), known)
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            known[node.id] = UNKNOWN
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) or (
            isinstance(node, ast.ExceptHandler) and node.name
        ):
            known[node.name] = UNKNOWN
        elif isinstance(node, ast.arg):
            known.setdefault(node.arg, UNKNOWN)
    if isinstance(statement, ast.Assign) and isinstance(statement.targets[0], ast.Name):
        known[statement.targets[0].id] = made_by(statement.value, known)


def made_by(value: ast.expr, known: Mapping[str, Any]) -> Any:
    """The instance that a call of a class makes, as far as its attributes go."""
    if isinstance(value, ast.Call):
        cls = meaning(value.func, known)
        if isinstance(cls, type):
            return Instance(cls)
    return UNKNOWN


class Instance:
    """Stands for an instance of a class that was not made."""

    def __init__(self, cls: type) -> None:
        self.cls = cls


def meaning(node: ast.expr, known: Mapping[str, Any]) -> Any:
    """What an expression of names and attributes stands for."""
    if isinstance(node, ast.Name):
        return known.get(node.id, getattr(builtins, node.id, UNKNOWN))
    if isinstance(node, ast.Attribute):
        return attribute(meaning(node.value, known), node.attr)
    return UNKNOWN


def attribute(owner: Any, name: str) -> Any:
    """An attribute of what an expression stands for."""
    if owner is UNKNOWN or isinstance(owner, Instance):
        return UNKNOWN
    return getattr(owner, name, UNKNOWN)


def wrong_with(node: ast.AST, known: Mapping[str, Any]) -> Iterator[str]:
    """What is wrong with one node."""
    if isinstance(node, ast.Name) and node.id not in known and not hasattr(builtins, node.id):
        yield f"nobody defines {node.id!r}"
    elif isinstance(node, ast.Attribute):
        yield from wrong_with_attribute(meaning(node.value, known), node.attr)
    elif isinstance(node, ast.Call):
        yield from wrong_with_call(meaning(node.func, known), node)


def wrong_with_attribute(owner: Any, name: str) -> Iterator[str]:
    """Whether an attribute is there."""
    if isinstance(owner, Instance):
        if not hasattr(owner.cls, name) and name not in inspect.get_annotations(owner.cls):
            yield f"{owner.cls.__name__} has no attribute {name!r}"
    elif owner is not UNKNOWN and not hasattr(owner, name):
        yield f"{owner!r:.60} has no attribute {name!r}"


def wrong_with_call(function: Any, call: ast.Call) -> Iterator[str]:
    """Whether a call fits; arguments that only a `**rest` would take count as wrong."""
    if function is UNKNOWN or any(keyword.arg is None for keyword in call.keywords):
        return
    try:
        signature = inspect.signature(function)
    except (TypeError, ValueError):  # some built-ins have none
        return
    named = {one.name for one in signature.parameters.values() if one.kind is not one.VAR_KEYWORD}
    for keyword in call.keywords:
        if keyword.arg not in named:
            yield f"{function.__name__} has no argument {keyword.arg!r}"
    if not any(isinstance(argument, ast.Starred) for argument in call.args):
        try:
            signature.bind(*call.args, **{str(keyword.arg): None for keyword in call.keywords})
        except TypeError as error:
            yield f"{function.__name__}: {error}"
