"""The handle by which tests start, steer and stop an emulator."""

from __future__ import annotations

import http.client
import json
import os
import secrets
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import Any, Self

__all__ = ["Emulator"]

PACKAGE = Path(__file__).parent


class Emulator:
    """A running emulator, as a process of its own. Use as a context manager."""

    def __init__(self) -> None:
        self._folder = tempfile.TemporaryDirectory(prefix="superserve-emulator-")
        self.api_key = f"ss_live_use_{secrets.token_hex(16)}"
        command = [sys.executable, "-m", "superserve_emulator", "--serve", self._folder.name]
        environment = {"PATH": os.environ.get("PATH", ""), "PYTHONPATH": str(PACKAGE.parent)}
        self._process = subprocess.Popen(
            command,
            env=environment | {"SUPERSERVE_EMULATOR_KEY": self.api_key},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        if not line:
            raise RuntimeError("the emulator did not start; see its standard error")
        where = json.loads(line)
        self.admin_port = where["admin"]
        self._proxy_port = where["proxy"]
        self._ca_file = where["ca"]

    @property
    def environment(self) -> dict[str, str]:
        """Variables that lead the unmodified SDK here."""
        return {
            "SUPERSERVE_API_KEY": self.api_key,
            "HTTPS_PROXY": f"http://127.0.0.1:{self._proxy_port}",
            "SSL_CERT_FILE": self._ca_file,
        }

    def tell(self, command: str, **values: object) -> Any:
        """Send a command to the admin endpoint; see `admin.py` for what there is."""
        connection = http.client.HTTPConnection("127.0.0.1", self.admin_port, timeout=60)
        try:
            connection.request("POST", f"/{command}", json.dumps(values))
            response = connection.getresponse()
            result = json.loads(response.read())
        finally:
            connection.close()
        if response.status != http.HTTPStatus.OK:
            raise ValueError(result["error"])
        return result

    def fault(self, route: str, action: str, **values: object) -> None:
        """Add a fault; see `faults.py`."""
        self.tell("fault", route=route, action=action, **values)

    def refuse(
        self, route: str, status: int, code: str | None, message: str = "asked for", **values: object
    ) -> None:
        """Add a fault that answers with the control plane's JSON error."""
        body = json.dumps({"error": {"code": code, "message": message}})
        self.fault(route, "status", status=status, body=body, **values)

    def state(self) -> dict[str, Any]:
        """Sandboxes and counters."""
        result: dict[str, Any] = self.tell("state")
        return result

    def requests(self, route: str | None = None) -> list[Mapping[str, Any]]:
        """Logged requests, of one route when named."""
        entries = self.tell("log")["entries"]
        return [entry for entry in entries if route in (None, entry["route"])]

    def violations(self, *, sandboxes: bool = True) -> list[str]:
        """Rules that were broken; with `sandboxes` also each one that is left."""
        found: list[str] = list(self.tell("log")["violations"])
        if sandboxes:
            found += [f"sandbox {box['id']} ({box['status']}) is left" for box in self.state()["sandboxes"]]
        return found

    def close(self) -> None:
        """Stop the emulator and every guest."""
        self._process.stdin.close()
        try:
            self._process.wait(20)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._process.stdout.close()
        self._folder.cleanup()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
