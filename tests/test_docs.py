"""What the pages say is there, is there; what they say happens, happens."""

import ast
import importlib
import re
from itertools import count
from pathlib import Path
from xml.etree import ElementTree

import pytest
from test_ideas import whole_code

from broadphase.cli import run

free_names = whole_code.free_names
ROOT = Path(__file__).parent.parent
PAGES = [page for page in ("README.md", "ARCHITECTURE.md", "CONTRIBUTING.md") if (ROOT / page).exists()]
BUILT = {"_build", "gallery_built", "made"}
PAGES += sorted(
    page.relative_to(ROOT).as_posix()
    for page in (ROOT / "docs").rglob("*.md")
    if not BUILT.intersection(page.parts)
)
OUTCOME = re.compile(r"  # -> (.*)$", re.MULTILINE)
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
    """The page's code blocks."""
    return re.findall(rf"```{language}\n(.*?)```", text(page), re.DOTALL)


def test_the_readme_opens_with_the_two_commands_that_the_checks_run():
    assert blocks("README.md", "bash")[0].splitlines() == FIRST_COMMANDS
    for command in FIRST_COMMANDS:
        assert command in text(".ci/run")


def run_block(block, names):
    """Run a block; how many of its lines say what comes out, as in ``len(world)  # -> 2``.

    A line that ends so is an expression, and what is written is its ``repr``.
    """
    lines, said = block.splitlines(), 0
    for statement in ast.parse(block).body:
        says = OUTCOME.search(lines[statement.end_lineno - 1])
        source = ast.get_source_segment(block, statement)
        if says is None:
            exec(compile(ast.Module([statement], []), source, "exec"), names)
        else:
            assert isinstance(statement, ast.Expr), f"no expression: {source}"
            assert f"{source}  # -> {eval(source, names)!r}" == f"{source}  # -> {says[1]}"
            said += 1
    assert said == len(OUTCOME.findall(block)), "an outcome must follow a whole statement"
    return said


def only_imports(block):
    return all(isinstance(statement, (ast.Import, ast.ImportFrom)) for statement in ast.parse(block).body)


@pytest.fixture
def _a_window_that_is_soon_closed(monkeypatch):
    """Games of the pages run until their window is closed: here that happens in the third frame."""
    pygame = pytest.importorskip("pygame", reason="the extra pygame is not installed")
    monkeypatch.setenv("SDL_VIDEODRIVER", "dummy")
    flip, frames = pygame.display.flip, count(1)

    def close_the_third():
        flip()
        if next(frames) % 3 == 0:
            pygame.event.post(pygame.event.Event(pygame.QUIT))

    monkeypatch.setattr(pygame.display, "flip", close_the_third)
    yield
    pygame.quit()


def _prepare(page, request):
    """Skip a page whose packages are not installed; games get a window."""
    if "import pygame" in text(page):
        request.getfixturevalue("_a_window_that_is_soon_closed")
    if "from broadphase import gpu" in text(page):
        pytest.importorskip("warp", reason="the extra gpu is not installed")
    if "import torch" in text(page):
        pytest.importorskip("torch", reason="torch is not installed")


@pytest.mark.parametrize("page", PAGES)
def test_the_code_of_a_page_does_what_it_says(page, tmp_path, monkeypatch, request):
    """A block that needs no name of the blocks above it runs as one that is copied alone."""
    _prepare(page, request)
    monkeypatch.chdir(tmp_path)  # it may write files
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    names, imported = {}, set()
    for block in blocks(page, "python"):
        needed = free_names(block)
        assert needed <= names.keys(), "no block above defines it"
        imports_only = needed and needed <= imported and "tutorials/" not in page
        assert not imports_only, f"it needs the imports {needed} only: repeat them in\n{block}"
        known = names if needed else {}
        assert run_block(block, known) or only_imports(block), f"nothing comes out of\n{block}"
        names |= known
        for statement in ast.parse(block).body:
            if isinstance(statement, (ast.Import, ast.ImportFrom)):
                imported |= {(alias.asname or alias.name).partition(".")[0] for alias in statement.names}


def test_names_from_elsewhere_are_told_from_own_ones():
    own = "import numpy as np\ndef f(x, *y):\n    try: np.sum(x)\n    except ValueError as z: return z, y"
    assert free_names(own) == set()
    assert free_names("total += [one for one in boxes]\nprint(total, bp.pairs)") == {"boxes", "bp"}


def test_an_outcome_that_is_not_so_is_noticed():
    assert run_block("a = 1\na + 1  # -> 2\nprint(  # nothing\n    a\n)", {}) == 1
    for wrong in ("1 + 1  # -> 3", "a = 2  # -> 2", "[\n    1,  # -> 1\n]"):
        with pytest.raises(AssertionError):
            run_block(wrong, {})
    assert not only_imports("import re\nre.compile('a')")


@pytest.mark.parametrize("command", sorted({name for page in PAGES for name in COMMAND.findall(text(page))}))
def test_every_command_that_a_page_names_exists(command, capsys):
    assert run([command, "--help"]) == 0
    assert f"broadphase {command}" in capsys.readouterr().out


def test_every_path_that_a_page_names_exists(each):
    """A bare file name may mean a file in any folder, a path only itself."""
    folders = [ROOT / name for name in ("src", "tests", "benchmarks", "docs", "examples")]
    names = {file.name for folder in folders for file in folder.rglob("*")}
    starts = (ROOT, ROOT / "src" / "broadphase", ROOT / "tests")

    def check(page):
        named = {path for path in PATH.findall(text(page)) if path not in names}
        assert {path for path in named if not any((start / path).exists() for start in starts)} == set()

    each(check, PAGES)


def test_every_drawing_comes_out_in_light_and_dark(monkeypatch):
    pytest.importorskip("sphinx", reason="the extra docs is not installed")
    monkeypatch.syspath_prepend(ROOT / "docs")
    drawings = importlib.import_module("drawings")
    shown = [name for page in PAGES for name in re.findall(r"^```{drawing} (\w+)$", text(page), re.MULTILINE)]
    assert sorted(shown) == sorted(drawings.FIGURES)
    rules = re.findall(r"^svg\.drawing (.*?){(.*?)}", text("docs/_static/site.css"), re.MULTILINE | re.DOTALL)
    coloured = set(re.findall(r"\.(\w[\w-]*)", " ".join(selector for selector, _ in rules)))
    for name in shown:
        panels = list(ElementTree.fromstring(drawings.draw(name, "a < b & c")).iter("svg"))
        assert panels, name
        for svg in panels:
            assert svg.findtext("title"), name
            assert svg.findtext("desc") == "a < b & c", name
            wide, high = map(float, svg.get("viewBox").split()[2:])
            assert wide <= 400, f"{name} is too wide for a phone"
            shapes = [shape for shape in svg if shape.tag not in ("title", "desc", "text")]
            assert shapes, name
            for shape in shapes:
                assert coloured.intersection(shape.get("class").split()), ElementTree.tostring(shape)
            for box in svg.iter("rect"):
                x, y, width, height = (float(box.get(key)) for key in ("x", "y", "width", "height"))
                assert 0 <= x < x + width <= wide, name
                assert 0 <= y < y + height <= high, name
    used = set(re.findall(r"var\((--[\w-]+)\)", " ".join(style for _, style in rules)))
    for theme in ("light", "dark"):
        block = re.search(
            rf'html\[data-theme="{theme}"\] {{(.*?)}}', text("docs/_static/site.css"), re.DOTALL
        )
        assert used <= set(re.findall(r"(--[\w-]+):", block[1])), theme


def test_contributing_names_the_paths_that_a_newcomer_needs():
    named = PATH.findall(text("CONTRIBUTING.md"))
    assert {"src/broadphase/methods/", "src/broadphase/kernels/", "tests/scenes.py", ".ci/run"} <= set(named)


def test_one_version_is_said_everywhere():
    import tomllib

    from broadphase import __version__

    assert tomllib.loads(text("pyproject.toml"))["project"]["version"] == __version__
    assert f"\nversion: {__version__}\n" in text("CITATION.cff")
