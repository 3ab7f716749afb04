"""Every block of every page does what the page says; and a page that lies is found out."""

import re
import subprocess
import sys
from pathlib import Path

import pytest
from doc_blocks import blocks_of

REPOSITORY = Path(__file__).resolve().parents[2]
RUNNER = Path(__file__).with_name("doc_runner.py")
PAGES = sorted(
    [*REPOSITORY.glob("*.md"), *REPOSITORY.glob("docs/**/*.md"), *REPOSITORY.glob("plugins/*/README.md")]
)
NEEDS = re.compile(r"^<!-- needs: (\S+) -->$", re.MULTILINE)

PATIENCE_SECONDS = 280  # a busy machine imports torch slowly
pytestmark = pytest.mark.timeout(300)

FENCE = "```"


def run(page, folder, environment):
    return subprocess.run(
        [sys.executable, "-W", "error", str(RUNNER), str(page)],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        timeout=PATIENCE_SECONDS,
    )


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(REPOSITORY)))
def test_the_blocks_of_a_page_do_what_it_says(page, tmp_path, surroundings):
    """In a process and a folder of their own, with the plugins that the page needs."""
    if not any(True for _ in blocks_of(page)):
        return
    ended = run(page, tmp_path, surroundings(*NEEDS.findall(page.read_text())))

    assert ended.returncode == 0, ended.stderr


LIES = {
    "an exception": f"{FENCE}python\n1 / 0\n{FENCE}\n",
    "another output": f"{FENCE}python\nprint(1)\n{FENCE}\n\n<!-- check: output -->\n{FENCE}text\n2\n{FENCE}\n",
    "no error": f"<!-- check: raises -->\n{FENCE}python\nprint(1)\n{FENCE}\n",
    "an option that is none": f'{FENCE}toml\nexecuter = "local"\n{FENCE}\n',
    "a command's other output": f"{FENCE}console\n$ codereward --version\ncodereward 9.9\n{FENCE}\n",
    "an unknown argument": "<!-- check: names -->\n"
    f"{FENCE}python\nfrom codereward import RewardPipeline\nRewardPipeline(executer='local')\n{FENCE}\n",
    "an unknown name": f"<!-- check: names -->\n{FENCE}python\nfrom codereward import Nothing\n{FENCE}\n",
    "an undefined name": f"<!-- check: names -->\n{FENCE}python\nprint(dataset)\n{FENCE}\n",
    "an unknown method": "<!-- check: names -->\n"
    f"{FENCE}python\nimport codereward\nreward = codereward.RewardPipeline()\nreward.shut()\n{FENCE}\n",
    "an argument too many": "<!-- check: names -->\n"
    f"{FENCE}python\nimport codereward\ncodereward.Limits(1, 2, 3, 4, 5, 6, 7, 8)\n{FENCE}\n",
    "no such target": f"<!-- check: names -->\n{FENCE}console\n$ make coffee\n{FENCE}\n",
    "nobody's package": f"<!-- check: names -->\n{FENCE}console\n$ pip install codereward-cobol\n{FENCE}\n",
    "another file": f"<!-- check: same as LICENSE -->\n{FENCE}text\nDo what you like.\n{FENCE}\n",
    "an unknown check": f"<!-- check: nicely -->\n{FENCE}python\nprint(1)\n{FENCE}\n",
    "a language nobody checks": f"{FENCE}cobol\nSTOP RUN.\n{FENCE}\n",
    "a fence that stays open": f"{FENCE}python\nprint(1)\n",
}


@pytest.mark.parametrize("lie", LIES)
def test_a_page_that_lies_is_found_out(lie, tmp_path, surroundings):
    """The checks themselves can fail."""
    page = tmp_path / "page.md"
    page.write_text(LIES[lie])

    assert run(page, tmp_path, surroundings()).returncode == 1


def test_a_failing_block_is_shown_with_its_place(tmp_path, surroundings):
    """The traceback names the line of the page."""
    page = tmp_path / "page.md"
    page.write_text(f"# Page\n\n{FENCE}python\nx = 0\n1 / x\n{FENCE}\n")

    assert f'{page}", line 5' in run(page, tmp_path, surroundings()).stderr
