"""What the extractor is asked for, in two languages."""

import pytest

from codereward import Wanted
from codereward.harnesses.python.syntax import defines, parses


@pytest.fixture
def python():
    return Wanted("python", ("python", "py"), "solve", parses, defines)


@pytest.fixture
def node():
    return Wanted("node", ("javascript", "js"), "solve")
