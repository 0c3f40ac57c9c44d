"""The house is built as ARCHITECTURE.md says: arrows run down, no circle closes, no file is too long to read.

The rooms are written down in `pyproject.toml`, where import-linter reads them.
"""

import os
import re
import shutil
import subprocess
import sys
import tomllib
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import grimp
import pytest

ROOT = Path(__file__).parent.parent
SOURCE = ROOT / "src" / "broadphase"
SETTINGS = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["tool"]["importlinter"]
CONTRACTS = {contract["id"]: contract for contract in SETTINGS["contracts"]}
LONGEST = 400
BY_PEOPLE = (".py", ".js", ".css", ".html", ".md", ".cpp")


def check(source, contract=""):
    """What import-linter says of a package, and whether all is well."""
    program = "from importlinter.cli import lint_imports_command as check; check()"
    limits = ["--contract", contract] if contract else []
    asked = [sys.executable, "-c", program, "--no-cache", "--no-logo", *limits]
    environment = {**os.environ, "PYTHONPATH": str(source)}
    done = subprocess.run(asked, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    return done.returncode == 0, done.stdout + done.stderr


def test_arrows_run_down_and_no_circle_closes():
    well, said = check(SOURCE.parent)
    assert well, said


def test_imports_for_type_checkers_count():
    assert SETTINGS["exclude_type_checking_imports"] is False


WRONG = {
    "up": ("house", "shapes/check.py", "from broadphase.world import world"),
    "up, for type checkers": (
        "house",
        "threads.py",
        "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from broadphase.boxes import BoxArray",
    ),
    "up, in a function": ("house", "kernels/boxes/scan.py", "def late():\n    import broadphase.boxes"),
    "sideways": ("house", "bench/report.py", "import broadphase.lab.frames"),
    "up in the kernels": ("kernels", "kernels/arrays/emit.py", "import broadphase.kernels.pairs.order"),
    "sideways in the kernels": ("kernels", "kernels/tree/ray.py", "import broadphase.kernels.cells.rays"),
    "a room that nobody knows": ("house", "attic.py", ""),
    "a circle": ("circles", "indexes/storage.py", "def late():\n    import broadphase.indexes.queries"),
    "a circle of rooms": ("circles", "lab/scenes/worlds.py", "import broadphase.lab.session"),
}


@pytest.mark.parametrize("wrong", WRONG)
def test_a_wrong_arrow_is_found(wrong, tmp_path):
    contract, file, line = WRONG[wrong]
    shutil.copytree(SOURCE, tmp_path / "broadphase", ignore=shutil.ignore_patterns("__pycache__", "page"))
    with (tmp_path / "broadphase" / file).open("a") as module:
        module.write(f"\n{line}\n")
    well, said = check(tmp_path, contract)
    assert not well
    assert "BROKEN" in said or "attic" in said, said


def circle(graph, ignored=()):
    """Modules that import each other in a circle, or none.

    import-linter looks for circles among siblings; this one also finds those between a package and what lies
    in it.
    """
    arrows = {
        module: {
            other
            for other in graph.find_modules_directly_imported_by(module)
            if f"{module} -> {other}" not in ignored
        }
        for module in graph.modules
    }
    try:
        TopologicalSorter(arrows).prepare()
    except CycleError as error:
        return error.args[1]
    return []


def test_no_module_imports_itself_by_a_detour():
    graph = grimp.build_graph("broadphase", cache_dir=None)
    ignored = CONTRACTS["circles"].get("ignore_imports", ())
    assert not circle(graph, ignored)
    graph.add_import(importer="broadphase.cli.exits", imported="broadphase.cli")
    assert "broadphase.cli" in circle(graph, ignored)


def floors(page, top):
    """The rooms of the drawing whose highest floor this is, floor by floor."""
    for block in (ROOT / page).read_text("utf-8").replace("```", "").split("\n\n"):
        rows = [re.split(r"\s{2,}", row.strip())[0].split(" | ") for row in block.strip("\n").splitlines()]
        if rows[:1] == [top]:
            return rows
    raise AssertionError(f"{page} has no drawing that begins with {' | '.join(top)}")


def layers(contract):
    return [floor.split(" | ") for floor in CONTRACTS[contract]["layers"] if floor != "__main__"]


@pytest.mark.parametrize(
    ("page", "contract"),
    [
        ("ARCHITECTURE.md", "house"),
        ("ARCHITECTURE.md", "kernels"),
        ("src/broadphase/kernels/__init__.py", "kernels"),
    ],
)
def test_the_drawings_show_what_is_checked(page, contract):
    assert floors(page, layers(contract)[0]) == layers(contract)


@pytest.mark.parametrize("room", [room for floor in layers("kernels") for room in floor])
def test_a_room_of_the_kernels_says_what_lies_in_it(room):
    folder = SOURCE / "kernels" / room
    files = {file.stem for file in folder.glob("*.py")} - {"__init__"}
    assert set(re.findall(r"`(\w+)`", (folder / "__init__.py").read_text("utf-8"))) == files


def test_no_file_is_longer_than_a_reader_can_hold():
    folders = ("src", "tests", "benchmarks", "examples", "docs")
    files = [file for folder in folders for file in (ROOT / folder).rglob("*") if file.suffix in BY_PEOPLE]
    files = [file for file in files if not {"_build", "gallery_built", "made"}.intersection(file.parts)]
    lengths = {str(file.relative_to(ROOT)): len(file.read_text("utf-8").splitlines()) for file in files}
    assert len(lengths) > 200
    assert {file: lines for file, lines in lengths.items() if lines > LONGEST} == {}
