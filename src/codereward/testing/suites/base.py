"""What the suites share: tests made of checks, exemptions with a reason, nothing overridden."""

from __future__ import annotations

import functools
import inspect
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping
from typing import Any, ClassVar, Final

import pytest

from codereward.testing.checks import Unsupported

__all__ = ["Suite"]

Test = Callable[..., None]

PREFIX: Final = "test_"


class Suite(ABC):
    """A conformance suite. pytest collects its subclasses, whose names start with `Test`.

    A standard test cannot be overridden. What a component cannot do is exempted with a reason and
    then has to fail: an exemption that is no longer needed is an error too.
    """

    exempt: ClassVar[Mapping[str, str]] = {}
    """Name of a standard test → why this component does not pass it."""

    _standard: ClassVar[Mapping[str, Test]] = {}

    def __init_subclass__(cls, checks: Iterable[Callable[..., Any]] = (), **options: Any) -> None:
        """Make a suite of `checks`, or check what a component's author made of a suite."""
        super().__init_subclass__(**options)
        made = {PREFIX + check.__name__: make_test(check) for check in checks}
        cls._standard = {**cls._standard, **made}
        for name, test in made.items():
            setattr(cls, name, test)
        refuse_overridden(cls, cls._standard)
        refuse_unknown(cls, cls._standard)
        for name, test in cls._standard.items():
            setattr(cls, name, exempted(test, cls.exempt[name]) if name in cls.exempt else test)

    @abstractmethod
    def perform(self, check: Callable[..., Any]) -> None:
        """Run one check against the component."""


def make_test(check: Callable[..., Any]) -> Test:
    """The standard test that performs `check`."""

    def test(self: Suite) -> None:
        __tracebackhide__ = True
        try:
            self.perform(check)
        except Unsupported as reason:
            pytest.skip(str(reason))

    test.__name__ = PREFIX + check.__name__
    test.__qualname__ = test.__name__
    test.__doc__ = check.__doc__
    test.__module__ = check.__module__
    return test


def exempted(test: Test, reason: str) -> Test:
    """A copy of a test that has to fail."""

    @functools.wraps(test)
    def copy(self: Suite) -> None:
        test(self)

    return pytest.mark.xfail(reason=reason, strict=True)(copy)


def refuse_overridden(cls: type, standard: Mapping[str, Test]) -> None:
    """Refuse a class in which a standard test is not what it was.

    Raises:
        TypeError: One was overridden or deleted.
    """
    for name, test in standard.items():
        found = inspect.getattr_static(cls, name, None)
        if not callable(found) or inspect.unwrap(found) is not test:
            msg = (
                f"{cls.__qualname__} overrides the standard test {name!r}: exempt it with a reason, "
                f"exempt = {{{name!r}: '…'}}, and give your own test another name"
            )
            raise TypeError(msg)


def refuse_unknown(cls: type[Suite], standard: Mapping[str, Test]) -> None:
    """Refuse an exemption that exempts nothing or gives no reason.

    Raises:
        TypeError: There is no such test, or no reason.
    """
    for name, reason in cls.exempt.items():
        if name not in standard:
            msg = f"{cls.__qualname__} exempts {name!r}, which is no standard test: {', '.join(sorted(standard))}"
            raise TypeError(msg)
        if not reason.strip():
            msg = f"{cls.__qualname__} exempts {name!r} without a reason"
            raise TypeError(msg)
