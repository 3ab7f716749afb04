"""The request log, and what must never be found in it."""

from __future__ import annotations

import base64
import binascii
import json
import zlib
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field

from .web import Request

__all__ = ["Entry", "Journal"]

MAX_UNPACKED = 64 * 2**20
DEPTH = 4


@dataclass(slots=True)
class Entry:
    """One request."""

    plane: str
    route: str
    status: int
    sandbox: str
    started: float
    seconds: float


@dataclass(slots=True)
class Journal:
    """All requests since the last reset, and the rules they broke."""

    entries: list[Entry] = field(default_factory=list)
    violations: list[str] = field(default_factory=list)
    canaries: list[str] = field(default_factory=list)
    connections: int = 0

    def clear(self) -> None:
        """Forget everything."""
        self.entries.clear()
        self.violations.clear()
        self.canaries.clear()
        self.connections = 0

    def inspect(self, plane: str, request: Request, route: str) -> None:
        """Note what a request must not carry."""
        if plane == "data" and "x-api-key" in request.headers:
            self.violations.append(f"an API key reached the data plane ({route})")
        if plane == "control" and "x-access-token" in request.headers:
            self.violations.append(f"an access token reached the control plane ({route})")
        if self.canaries:
            self._search(request, route)

    def _search(self, request: Request, route: str) -> None:
        texts = [request.target.encode(), repr(request.headers).encode(), *unpacked(request.body)]
        for canary in self.canaries:
            if any(canary.encode() in text for text in texts):
                self.violations.append(f"the canary {canary!r} travelled in a request ({route})")

    def add(self, entry: Entry) -> None:
        """Log one answered request."""
        self.entries.append(entry)

    def as_json(self) -> dict[str, object]:
        """Everything, for the admin endpoint."""
        entries = [asdict(entry) for entry in self.entries]
        return {"entries": entries, "violations": self.violations, "connections": self.connections}


def unpacked(body: bytes) -> Iterator[bytes]:
    """The body, and what is packed inside it: JSON strings (also joined), base64, gzip."""
    yield body
    try:
        value = json.loads(body)
    except ValueError:
        yield from _layers(body, DEPTH)
        return
    strings = [text.encode("utf-8", "surrogatepass") for text in _strings(value)]
    for text in (*strings, b"".join(strings)):
        yield from _layers(text, DEPTH)
    if isinstance(value, dict) and isinstance(value.get("env"), dict):
        chunks = [text for text in value["env"].values() if isinstance(text, str)]
        for start in range(len(chunks)):
            yield from _layers("".join(chunks[start:]).encode("utf-8", "surrogatepass"), DEPTH)


def _strings(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for key, item in value.items():
            yield str(key)
            yield from _strings(item)
    elif isinstance(value, list):
        for item in value:
            yield from _strings(item)


def _layers(data: bytes, depth: int) -> Iterator[bytes]:
    yield data
    if depth == 0 or not data:
        return
    for unpack in (_from_base64, _from_deflate):
        if inner := unpack(data):
            yield from _layers(inner, depth - 1)


def _from_base64(data: bytes) -> bytes:
    try:
        return base64.b64decode(data, validate=True)
    except binascii.Error:
        return b""


def _from_deflate(data: bytes) -> bytes:
    try:
        return zlib.decompressobj(wbits=47).decompress(data, MAX_UNPACKED)
    except zlib.error:
        return b""
