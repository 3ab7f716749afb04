"""Is a text Python, and does it define a name? Asked in the trainer's process, of hostile text."""

import ast, re


def parses(code):
    try:
        compile(code, "<c>", "exec", ast.PyCF_ONLY_AST)
        return True
    except Exception:
        return False


def defines(code, name):
    return (
        re.search(
            rf"(?m)^[ \t]*(?:async[ \t]+)?(?:def|class)[ \t]+{re.escape(name)}\b|^{re.escape(name)}[ \t]*(?::[^=\n]*)?=(?!=)",
            code,
        )
        is not None
    )
