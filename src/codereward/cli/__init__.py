"""The command line: one file for each command."""

from codereward.cli.app import main

__all__ = ["main"]
