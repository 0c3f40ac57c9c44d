"""What the pages say is there, is there."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PAGES = [page for page in ("README.md", "ARCHITECTURE.md", "CONTRIBUTING.md") if (ROOT / page).exists()]
PAGES += sorted(page.relative_to(ROOT).as_posix() for page in (ROOT / "docs").glob("*.md"))
FIRST_COMMANDS = [
    'python -m pip install ".[cli]" && broadphase demo',
    'python -m pip install -e ".[test]" && python -m pytest',
]
COMMAND = re.compile(r"(?:^|`)broadphase (\w+)", re.MULTILINE)
# A path has a slash or a known ending; what the commands write is not in the checkout.
PATH = re.compile(r"`((?:[\w.-]+/)+[\w.-]*|[\w-]+\.(?:py|md|toml))`")


def text(page):
    return (ROOT / page).read_text("utf-8")


def blocks(page, language):
    """What stands in the page's code blocks."""
    return re.findall(rf"```{language}\n(.*?)```", text(page), re.DOTALL)


def test_the_readme_opens_with_the_two_commands_that_the_checks_run():
    assert blocks("README.md", "bash")[0].splitlines() == FIRST_COMMANDS
    for command in FIRST_COMMANDS:
        assert command in text(".ci/run")


def test_the_code_of_the_readme_runs():
    names = {}
    for block in blocks("README.md", "python"):
        exec(compile(block, "README.md", "exec"), names)
    assert names["bp"].METHODS


@pytest.mark.parametrize("command", sorted({name for page in PAGES for name in COMMAND.findall(text(page))}))
def test_every_command_that_a_page_names_exists(command):
    asked = [sys.executable, "-m", "broadphase", command, "--help"]
    answer = subprocess.run(asked, capture_output=True, text=True, check=False)
    assert answer.returncode == 0, answer.stderr
    assert f"broadphase {command}" in answer.stdout


@pytest.mark.parametrize("page", PAGES)
def test_every_path_that_a_page_names_exists(page):
    """A bare file name may stand for a file in any folder, a path only for itself."""
    folders = [ROOT / name for name in ("src", "tests", "benchmarks", "docs", "examples")]
    names = {file.name for folder in folders for file in folder.rglob("*")}
    starts = (ROOT, ROOT / "src" / "broadphase", ROOT / "tests")
    missing = [
        path
        for path in PATH.findall(text(page))
        if path not in names and not any((start / path).exists() for start in starts)
    ]
    assert not missing


def test_contributing_names_the_paths_that_a_newcomer_needs():
    named = PATH.findall(text("CONTRIBUTING.md"))
    assert {"src/broadphase/methods/", "src/broadphase/kernels/", "tests/scenes.py", ".ci/run"} <= set(named)
