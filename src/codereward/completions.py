"""The text of a completion, in every shape that trainers pass."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from codereward.errors import ConfigError

__all__ = ["text_of"]


def text_of(completion: object, index: int = 0) -> str:
    """The text that a completion ends with.

    Args:
        completion: A string, or a list of messages: then the last message of the assistant counts.
            Its content may be text, `None` (a turn of tool calls alone), or a list of parts, of
            which those of type `text` count.
        index: Position in the batch, for the error.

    Raises:
        ConfigError: It is something else.
    """
    if isinstance(completion, str):
        return completion
    messages = [completion] if isinstance(completion, Mapping) else completion
    if not isinstance(messages, Sequence) or not all(isinstance(one, Mapping) for one in messages):
        msg = (
            f"completion {index} is a {type(completion).__name__} ({completion!r:.60}): "
            "a completion is a string or a list of messages"
        )
        raise ConfigError(msg)
    spoken = [message for message in messages if message.get("role") == "assistant"]
    return _content(spoken[-1].get("content")) if spoken else ""


def _content(content: object) -> str:
    if isinstance(content, str):
        return content
    if isinstance(content, Sequence):
        return "".join(_part(part) for part in content)
    return ""


def _part(part: object) -> str:
    if isinstance(part, str):
        return part
    if isinstance(part, Mapping) and part.get("type", "text") == "text":
        text = part.get("text")
        return text if isinstance(text, str) else ""
    return ""
