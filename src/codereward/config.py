"""Pipelines from configuration files."""

from __future__ import annotations

import inspect
import tomllib
from collections.abc import Mapping
from os import PathLike
from pathlib import Path
from typing import Any

from codereward.errors import ConfigError

__all__ = ["load"]


def load(source: str | PathLike[str] | Mapping[str, Any]) -> dict[str, Any]:
    """The constructor arguments that a TOML file, or a mapping of the same shape, holds.

    Raises:
        ConfigError: The file cannot be read, is no TOML, or has a key that means nothing.
    """
    where = "the configuration" if isinstance(source, Mapping) else str(source)
    settings = dict(source) if isinstance(source, Mapping) else read(Path(source))
    known = arguments()
    unknown = sorted(settings.keys() - known)
    if unknown:
        msg = f"{where} has the key {unknown[0]!r}, which means nothing; the keys are {', '.join(sorted(known))}"
        raise ConfigError(msg)
    return settings


def read(path: Path) -> dict[str, Any]:
    """The content of a TOML file.

    Raises:
        ConfigError: It cannot be read, or is no TOML.
    """
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        msg = f"cannot read the configuration {path}: {error.strerror or error}"
        raise ConfigError(msg) from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        msg = f"the configuration {path} is no TOML: {error}"
        raise ConfigError(msg) from None


def arguments() -> set[str]:
    """Names of the arguments that a file can set."""
    from codereward.pipeline import RewardPipeline

    parameters = inspect.signature(RewardPipeline).parameters.values()
    named = {one.name for one in parameters if one.kind is inspect.Parameter.KEYWORD_ONLY}
    return named - {"registry"}
