"""Beside every hostile Python program: writes into the result channel what should not have worked."""

import ctypes
import os

LIBC = ctypes.CDLL(None, use_errno=True)


def won(what):
    """Note that `what` worked."""
    with open(os.environ["CODEREWARD_RESULT"], "a") as file:
        file.write(what + "\n")


def attempt(what, action):
    """Note `what` unless the action fails; a C call fails by returning -1."""
    try:
        outcome = action()
    except BaseException:
        return
    if outcome != -1:
        won(what)


def readable(path):
    """Note when a file of the host's can be read."""
    attempt("read " + path, lambda: open(path, "rb").read(10) or 1 / 0)


def writable(path):
    """Note when a file can be opened for writing."""
    attempt("write " + path, lambda: os.close(os.open(path, os.O_WRONLY)))


def creatable(folder):
    """Note when a file can be made in a folder."""
    attempt("create in " + folder, lambda: open(os.path.join(folder, "hostile"), "w").close())
