"""Running a command in a guest: environment, time limit, output cap, as the in-guest agent does it."""

from __future__ import annotations

import codecs
import json
from collections.abc import AsyncIterator
from dataclasses import dataclass, field

from .guests import Conversation, GuestFailure
from .state import Sandbox

__all__ = ["Captured", "capture", "start", "stream_events"]

PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
DEFAULT_SECONDS = 30
MAX_REPLY_BYTES = 8 * 2**20
CHANNELS = {b"o": "stdout", b"e": "stderr"}


async def start(box: Sandbox, body: dict[str, object], *, stdin: bool = False) -> Conversation:
    """Start the command of an exec body in the sandbox."""
    extra = body.get("env")
    env = {"PATH": PATH, "HOME": "/home/user", "USER": "user", **box.env, **box.template.env}
    request = {
        "command": body["command"],
        "cwd": body.get("working_dir") or box.template.workdir,
        "env": env | (extra if isinstance(extra, dict) else {}),
        "timeout": body.get("timeout_s") or DEFAULT_SECONDS,
        "stdin": stdin,
    }
    box.commands += 1
    return await box.live_guest.request(b"R", request)


@dataclass(slots=True)
class Captured:
    """Output of one command, capped as the service caps it: by its size inside JSON."""

    exit_code: int = 0
    truncated: bool = False
    _size: int = 0
    _texts: dict[str, list[str]] = field(default_factory=lambda: {"stdout": [], "stderr": []})
    _decoders: dict[str, codecs.IncrementalDecoder] = field(
        default_factory=lambda: {
            name: codecs.getincrementaldecoder("utf-8")("replace") for name in CHANNELS.values()
        }
    )

    def add(self, channel: str, data: bytes, *, final: bool = False) -> None:
        """Take a piece of output."""
        text = self._decoders[channel].decode(data, final)
        size = len(json.dumps(text, ensure_ascii=False).encode("utf-8", "surrogatepass")) - 2
        if self.truncated or self._size + size > MAX_REPLY_BYTES:
            self.truncated = True
            return
        self._size += size
        self._texts[channel].append(text)

    def as_json(self) -> dict[str, object]:
        """The reply to `POST /exec`."""
        for channel in CHANNELS.values():
            self.add(channel, b"", final=True)
        if self.truncated:
            self._texts["stderr"].append("\noutput truncated\n")
        texts = {name: "".join(parts) for name, parts in self._texts.items()}
        reply: dict[str, object] = {**texts, "exit_code": self.exit_code}
        return reply | {"truncated": True} if self.truncated else reply


async def capture(running: Conversation) -> Captured:
    """Wait for the command and collect its output."""
    captured = Captured()
    async for kind, body in running.frames():
        if kind in CHANNELS:
            captured.add(CHANNELS[kind], body)
        else:
            captured.exit_code = json.loads(body)["exit_code"]
    return captured


async def stream_events(running: Conversation) -> AsyncIterator[bytes]:
    """The command's output as server-sent events."""
    try:
        async for kind, body in running.frames():
            event: dict[str, object]
            if kind in CHANNELS:
                event = {"timestamp": 0, CHANNELS[kind]: body.decode("utf-8", "replace")}
            else:
                event = {"exit_code": json.loads(body)["exit_code"], "finished": True}
            yield f"data: {json.dumps(event)}\n\n".encode()
    except GuestFailure as error:
        event = {"error": error.message, "code": "internal", "finished": True}
        yield f"data: {json.dumps(event)}\n\n".encode()
