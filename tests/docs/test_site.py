"""The site builds without a warning, and needs nothing from elsewhere."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import codereward

REPOSITORY = Path(__file__).resolve().parents[2]
PATIENCE_SECONDS = 280  # a busy machine
pytestmark = pytest.mark.timeout(300)
FOREIGN = re.compile(r'<(?:script|link|img|iframe)\b[^>]*\b(?:src|href)="?(?:https?:)?//', re.IGNORECASE)


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """The folder of the built site."""
    folder = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(folder)]
    environment = {**os.environ, "NO_MKDOCS_2_WARNING": "1"}
    done = subprocess.run(
        command, cwd=REPOSITORY, env=environment, capture_output=True, text=True, timeout=PATIENCE_SECONDS
    )

    assert done.returncode == 0, done.stderr
    return folder


def test_the_site_builds_strictly_and_loads_nothing_from_elsewhere(site):
    """No warning, no font, script or picture of another host; every public name has its place in it."""
    pages = [path.read_text() for path in site.rglob("*.html")]
    whole = "".join(pages)

    assert len(pages) > 15
    assert [found for text in pages for found in FOREIGN.findall(text)] == []
    names = [name for name in codereward.__all__ if name != "__version__"]
    assert [name for name in names if f'id="codereward.{name}"' not in whole] == []
    assert "codereward.runtime.CLOSE_SECONDS" in (site / "reference" / "limits.html").read_text()
