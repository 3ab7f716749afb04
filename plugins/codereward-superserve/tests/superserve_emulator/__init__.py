"""A local stand-in for the Superserve service, for tests of its clients.

It speaks the service's HTTP API over real TLS sockets to the unmodified `superserve` SDK, counts
quotas, and really runs commands, each sandbox in Linux namespaces of its own. Nothing of the SDK is
patched: three environment variables lead it here.

    with Emulator() as emulator:
        os.environ |= emulator.environment
        ...
        assert emulator.violations() == []
"""

from .emulator import Emulator

__all__ = ["Emulator"]
