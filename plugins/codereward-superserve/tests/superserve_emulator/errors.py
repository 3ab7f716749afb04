"""The service's refusals, as values that can be raised."""

from __future__ import annotations

from .web import Reply, json_reply, text_reply

__all__ = ["Refusal", "bad_request", "conflict", "not_found", "plain", "refuse"]


class Refusal(Exception):  # noqa: N818 - it carries a response, and is raised to answer with it
    """A request the service does not serve; carries the response."""

    def __init__(self, reply: Reply) -> None:
        super().__init__(reply)
        self.reply = reply


def refuse(status: int, code: str, message: str, **headers: str) -> Refusal:
    """The control plane's JSON error."""
    return Refusal(json_reply(status, {"error": {"code": code, "message": message}}, **headers))


def plain(status: int, text: str, **headers: str) -> Refusal:
    """The edge proxy's and the agent's plain text error."""
    return Refusal(text_reply(status, text, **headers))


def bad_request(message: str) -> Refusal:
    """400 of the control plane."""
    return refuse(400, "bad_request", message)


def not_found(what: str) -> Refusal:
    """404 of the control plane."""
    return refuse(404, "not_found", f"{what} not found")


def conflict(message: str) -> Refusal:
    """409 of the control plane."""
    return refuse(409, "conflict", message)
