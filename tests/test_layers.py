"""Imports only point to lower layers, as ARCHITECTURE.md draws them; no cycles; no file is too long to read.

The layers are listed in `pyproject.toml`, where import-linter reads them.
"""

import ast
import os
import re
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
LONGEST = 1_000  # a concept and its helpers belong together
BY_PEOPLE = (".py", ".js", ".css", ".html", ".md", ".cpp")


def check(source):
    """What import-linter says of a package, and whether all is well."""
    program = "from importlinter.cli import lint_imports_command as check; check()"
    requested = [sys.executable, "-c", program, "--no-cache", "--no-logo"]
    environment = {**os.environ, "PYTHONPATH": str(source)}
    done = subprocess.run(requested, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    return done.returncode == 0, done.stdout + done.stderr


def test_imports_point_down_and_there_is_no_cycle():
    well, said = check(SOURCE.parent)
    assert well, said


def test_imports_for_type_checkers_count():
    assert SETTINGS["exclude_type_checking_imports"] is False


def cycle(graph, ignored=()):
    """Modules that import each other in a cycle, or none.

    import-linter looks for cycles among siblings; this one also finds those between a package and its
    modules.
    """
    imports = {
        module: {
            other
            for other in graph.find_modules_directly_imported_by(module)
            if f"{module} -> {other}" not in ignored
        }
        for module in graph.modules
    }
    try:
        TopologicalSorter(imports).prepare()
    except CycleError as error:
        return error.args[1]
    return []


def test_no_module_imports_itself_indirectly():
    graph = grimp.build_graph("broadphase", cache_dir=None)
    ignored = CONTRACTS["cycles"].get("ignore_imports", ())
    assert not cycle(graph, ignored)
    graph.add_import(importer="broadphase.cli.terminal", imported="broadphase.cli")
    assert "broadphase.cli" in cycle(graph, ignored)


def drawn_layers(page, top):
    """The layers of the drawing that begins with this one."""
    for block in (ROOT / page).read_text("utf-8").replace("```", "").split("\n\n"):
        rows = [re.split(r"\s{2,}", row.strip())[0].split(" | ") for row in block.strip("\n").splitlines()]
        if rows[:1] == [top]:
            return rows
    raise AssertionError(f"{page} has no drawing that begins with {' | '.join(top)}")


def layers(contract):
    return [layer.split(" | ") for layer in CONTRACTS[contract]["layers"] if layer != "__main__"]


@pytest.mark.parametrize(
    ("page", "contract"),
    [
        ("ARCHITECTURE.md", "layers"),
        ("ARCHITECTURE.md", "kernels"),
        ("src/broadphase/kernels/__init__.py", "kernels"),
    ],
)
def test_the_drawings_show_what_is_checked(page, contract):
    assert drawn_layers(page, layers(contract)[0]) == layers(contract)


@pytest.mark.parametrize("package", [package for layer in layers("kernels") for package in layer])
def test_a_package_of_kernels_names_its_files(package):
    folder = SOURCE / "kernels" / package
    if not folder.is_dir():  # one file, whose docstring says it
        assert ast.get_docstring(ast.parse(folder.with_suffix(".py").read_text("utf-8")))
        return
    files = {file.stem for file in folder.glob("*.py")} - {"__init__"}
    assert set(re.findall(r"`(\w+)`", (folder / "__init__.py").read_text("utf-8"))) == files


def length(file):
    """The lines of a file; of a long one docstrings, which are what users read of it, do not count."""
    text = file.read_text("utf-8")
    lines = len(text.splitlines())
    if file.suffix != ".py" or lines <= LONGEST:
        return lines
    documented = (ast.Module, ast.ClassDef, ast.FunctionDef)
    nodes = [node for node in ast.walk(ast.parse(text)) if isinstance(node, documented)]
    docs = [node.body[0] for node in nodes if ast.get_docstring(node, clean=False) is not None]
    return lines - sum(doc.end_lineno - doc.lineno + 1 for doc in docs)


def test_no_file_is_longer_than_a_reader_can_hold():
    folders = ("src", "tests", "benchmarks", "examples", "docs")
    files = [file for folder in folders for file in (ROOT / folder).rglob("*") if file.suffix in BY_PEOPLE]
    files = [file for file in files if not {"_build", "gallery_built", "made"}.intersection(file.parts)]
    lengths = {str(file.relative_to(ROOT)): length(file) for file in files}
    assert len(lengths) > 200
    assert {file: lines for file, lines in lengths.items() if lines > LONGEST} == {}
