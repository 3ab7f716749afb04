"""`python -m superserve_emulator`: start by hand and print what to export."""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import os
import shlex
import signal
import sys
from pathlib import Path

from .emulator import Emulator
from .server import serve


def main() -> None:
    """Run the server itself (`--serve`, used by `Emulator`), or a whole emulator until Ctrl-C."""
    parser = argparse.ArgumentParser(prog="python -m superserve_emulator", description=__doc__)
    parser.add_argument("--serve", metavar="FOLDER", help=argparse.SUPPRESS)
    folder = parser.parse_args().serve
    if folder:
        asyncio.run(serve(Path(folder), os.environ["SUPERSERVE_EMULATOR_KEY"]))
        return
    with Emulator() as emulator:
        for name, value in emulator.environment.items():
            sys.stdout.write(f"export {name}={shlex.quote(value)}\n")
        sys.stdout.write(f"# admin endpoint: http://127.0.0.1:{emulator.admin_port}; Ctrl-C ends\n")
        sys.stdout.flush()
        with contextlib.suppress(KeyboardInterrupt):
            signal.pause()  # not the end of input: in the background there is none


if __name__ == "__main__":
    main()
