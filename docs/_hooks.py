"""Hooks of the site's build: the page of limits is made from the source."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

REPOSITORY: Final = Path(__file__).resolve().parents[1]
BOUNDS: Final = re.compile(
    r"[A-Z]\w*_(SECONDS|BYTES|CHARACTERS|DIGITS|DEPTH|TRIES|DELAY|SLACK)|(MAX|MOST)_\w+|TRIES"
)
MARK: Final = "<!-- limits -->"


def on_page_markdown(markdown: str, **_: Any) -> str:
    """Put the tables where the mark is."""
    return markdown.replace(MARK, tables()) if MARK in markdown else markdown


def tables() -> str:
    """One table for each distribution."""
    folders = [REPOSITORY / "src", *sorted(REPOSITORY.glob("plugins/*/src"))]
    return "\n\n".join(table for folder in folders if (table := table_of(folder)))


def table_of(folder: Path) -> str:
    """The limits of the packages in a folder of sources; empty when there are none."""
    rows = [
        f"| `{module_of(path, folder)}.{name}` | {value} | {meaning} |"
        for path in sorted(folder.rglob("*.py"))
        for name, value, meaning in limits_in(path)
    ]
    name = "codereward" if folder.name == "src" and folder.parent == REPOSITORY else folder.parent.name
    return (
        "\n".join([f"## {name}", "", "| name | value | what it bounds |", "|---|---|---|", *rows])
        if rows
        else ""
    )


def module_of(path: Path, folder: Path) -> str:
    """The module that a file is."""
    return ".".join(path.relative_to(folder).with_suffix("").parts).removesuffix(".__init__")


def limits_in(path: Path) -> Iterator[tuple[str, str, str]]:
    """Name, value and meaning of each constant of a module that bounds something."""
    body = ast.parse(path.read_text(encoding="utf-8")).body
    for statement, after in zip(body, [*body[1:], None], strict=True):
        target = target_of(statement)
        if target and BOUNDS.fullmatch(target):
            value = numeric(getattr(statement, "value", None))
            if value:
                yield target, value, meaning_of(after)


def target_of(statement: ast.stmt) -> str:
    """The name that an assignment gives a value; empty for other statements."""
    if isinstance(statement, ast.AnnAssign) and isinstance(statement.target, ast.Name):
        return statement.target.id
    if isinstance(statement, ast.Assign) and isinstance(statement.targets[0], ast.Name):
        return statement.targets[0].id
    return ""


def numeric(value: ast.expr | None) -> str:
    """The source of a number; empty for anything else."""
    text = ast.unparse(value) if value else ""
    return text if re.fullmatch(r"[\d_.*+ ]+", text) else ""


def meaning_of(statement: ast.stmt | None) -> str:
    """The text below an assignment, as a cell of a table."""
    if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant):
        return " ".join(str(statement.value.value).split()).replace("|", "\\|")
    return ""
