"""What stands on the host for Python values that are no data."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

__all__ = ["Iterated", "Opaque", "Raised"]


@dataclass(frozen=True, slots=True, eq=False)
class Opaque:
    """An object of a class of its own: a match, a node, a module. It equals no data.

    Two of them are equal when the program's own `==` said so, which it may have done falsely.
    """

    type_name: str
    """Name of its class, for people."""
    truth: bool
    """Its truth value."""
    number: int
    """The same for those of one question that are equal."""

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Opaque) and self.number == other.number

    def __hash__(self) -> int:
        return hash(self.number)

    def __bool__(self) -> bool:
        return self.truth


@dataclass(frozen=True, slots=True, eq=False)
class Iterated:
    """What an iterator, or a view of a dict, held. An iterator equals nothing, as in Python."""

    items: tuple[object, ...]
    setlike: bool = False
    """Whether it is a view of a dict's keys or items, which equals a set of the same."""

    def __iter__(self) -> Iterator[object]:
        return iter(self.items)

    def __len__(self) -> int:
        if not self.setlike:
            msg = "an iterator has no length"
            raise TypeError(msg)
        return len(self.items)

    def __bool__(self) -> bool:
        return not self.setlike or bool(self.items)

    def __eq__(self, other: object) -> bool:
        if not self.setlike:
            return False
        if isinstance(other, Iterated):
            return other.setlike and set(self.items) == set(other.items)
        return isinstance(other, (set, frozenset)) and set(self.items) == other

    def __hash__(self) -> int:
        return hash(self.items)


@dataclass(frozen=True, slots=True)
class Raised:
    """A question that raised, and that may not matter: `f(1) == 1 or f(2) == 2`."""

    error: str
    """In one line, for people."""
