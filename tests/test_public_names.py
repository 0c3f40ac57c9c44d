"""The public names: one list, the same for type checkers, editors and running programs."""

import ast
import re
import subprocess
import sys
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import get_args

import pytest

import broadphase as bp
from broadphase import methods

PACKAGES = {"broadphase": bp, "broadphase.adapters": bp.adapters, "broadphase.outofcore": bp.outofcore}
CHECKERS = {
    "mypy": ["mypy", "--strict", "--no-incremental", "--cache-dir=/dev/null"],
    "pyright": ["pyright"],
}


def check(checker, folder, programs):
    """Run a type checker without any configuration; its exit status and output."""
    pytest.importorskip(checker)
    for name, lines in programs.items():
        (folder / name).write_text("\n".join([*lines, ""]))
    extra = ["--pythonpath", sys.executable] if checker == "pyright" else []
    command = [sys.executable, "-m", *CHECKERS[checker], *extra, *programs]
    done = subprocess.run(command, capture_output=True, text=True, cwd=folder, check=False)
    assert done.returncode in (0, 1), done.stdout + done.stderr
    return done.returncode, done.stdout


def names_in_stub(module):
    """What `ast` sees in the stub; the package reads it without."""
    tree = ast.parse(Path(module.__path__[0], "__init__.pyi").read_text(encoding="utf-8"))
    imports = [node for node in tree.body if isinstance(node, ast.ImportFrom)]
    assert all(node.level == 1 and len(node.names) == 1 for node in imports)
    return {node.names[0].asname: (node.module, node.names[0].name) for node in imports}


@pytest.mark.parametrize("package", PACKAGES)
def test_the_stub_says_what_there_is(package):
    module = PACKAGES[package]
    stub = names_in_stub(module)
    assert sorted(stub) == module.__all__ == dir(module)
    for name, (home, original) in stub.items():
        assert name == original
        if package == "broadphase":  # the adapters need what their extras bring
            found = getattr(module, name)
            if home is None:
                assert found is import_module(f"{package}.{name}")
            else:
                assert found is getattr(import_module(f"{package}.{home}"), name)
        with pytest.raises(AttributeError, match=f"module '{package}' has no attribute 'nonsense'"):
            module.nonsense  # noqa: B018


def test_the_names_that_are_typed_are_those_that_there_are():
    from broadphase.cli import commands
    from broadphase.indexes import CLASSES
    from broadphase.kernels.tiles.grid import SIDES, Side
    from broadphase.world.hits import RESPONSES, Answer

    assert set(bp.INDEXES) == set(CLASSES)
    assert set(get_args(Answer)) == set(RESPONSES)
    assert set(get_args(Side)) == set(SIDES)
    assert set(get_args(commands.Method)) == set(bp.METHODS)
    assert set(get_args(commands.SingleMethod)) == set(methods.NAMES)


def test_submodules_are_attributes_in_a_fresh_process():
    for name in ("adapters", "balls", "files"):
        subprocess.run(
            [
                sys.executable,
                "-c",
                f"import broadphase as bp; assert bp.{name}.__name__ == 'broadphase.{name}'",
            ],
            check=True,
        )


def test_a_stub_that_was_left_behind_is_said_to_be_missing(tmp_path):
    """By a tool that freezes a program into one file, for example."""
    package = tmp_path / "frozen"
    package.mkdir()
    package.joinpath("__init__.py").write_text(
        "from broadphase.lazy_names import attach\n__getattr__, __dir__, __all__ = attach(__name__)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", f"import sys; sys.path.insert(0, {str(tmp_path)!r}); import frozen"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert "ImportError" in done.stderr
    assert "__init__.pyi is missing, the list of the names of frozen" in done.stderr


def test_the_package_may_be_in_a_zip_file(tmp_path):
    import zipfile

    source = Path(bp.__path__[0])
    with zipfile.ZipFile(tmp_path / "all.zip", "w") as archive:
        for file in [*source.glob("*.py*"), *source.glob("adapters/*.py*")]:
            archive.write(file, Path("broadphase", file.relative_to(source)))
    subprocess.run(
        [
            sys.executable,
            "-c",
            f"import sys; sys.path.insert(0, {str(tmp_path / 'all.zip')!r}); import broadphase as bp; "
            "assert 'all.zip' in bp.__file__; assert 'pairs' in dir(bp); assert 'pygame' in dir(bp.adapters)",
        ],
        check=True,
    )


KNOWN = [
    "from typing import Literal",
    "import numpy as np",
    "import broadphase as bp",
    *[f"print(bp.{name})" for name in bp.__all__],
    "for method in bp.METHODS:",
    "    print(bp.pairs([], method=method), bp.join([], [], method=method))",
    "for name in bp.INDEXES:",
    "    print(bp.make_index(name).pairs(), bp.World(name), bp.balls.BallSimulation(3, index=name))",
    "print(bp.make_index([[0, 0, 1, 1]]), bp.make_index(np.zeros((1, 4)), 'strips'), bp.BoxTree([]))",
    "world = bp.World()",
    "body = world.add(bp.Box(0, 0, 1, 1))",
    "def answer(hit: bp.Hit) -> Literal['slide', 'cross'] | None:",
    "    return 'cross' if hit.time else None",
    "print(world.move(body, 1, 1, response='bounce'), world.move(body, 1, 1, response=answer))",
    "print(bp.SortAndSweep(axis=1), bp.SortAndSweep(axis='auto'), bp.SpatialHash(cell_size=2.5))",
    "print(bp.files.read_boxes('a.csv').boxes, bp.plot.draw_boxes([]), bp.adapters.tiled.read)",
]

WRONG = [
    "import broadphase as bp",
    "world = bp.World()",
    "body = world.add(bp.Box(0, 0, 1, 1))",
    "bp.nonsense",
    "bp.balls.nonsense",
    "bp.files.nonsense",
    "bp.plot.nonsense",
    "bp.adapters.nonsense",
    "bp.pairs([], method='nope')",
    "bp.join([], [], method='nope')",
    "bp.count_pairs([], method='nope')",
    "bp.make_index('nope')",
    "bp.make_index([[0, 0, 1, 1]], 'nope')",
    "bp.make_index(3)",
    "bp.World('nope')",
    "bp.balls.BallSimulation(3, index='nope')",
    "bp.SortAndSweep(axis=3)",
    "bp.SpatialHash(cell_size='nope')",
    "bp.SpatialHash(table_size='nope')",
    "bp.UniformGrid(cell_size='nope')",
    "world.move(body, 1, 1, response='nope')",
    "world.move(body, 1, 1, response=lambda hit: 'nope')",
    "world.move_many([body], 1, 1, response='nope')",
    "bp.TileMap([[False]], 1).set_one_way(0, 0, 'nope')",
]

# The lines of WRONG that are right.
HEAD = 3


@pytest.mark.exhaustive
@pytest.mark.parametrize("checker", ["mypy", "pyright"])
def test_type_checkers_know_every_name_and_refuse_what_is_wrong(checker, tmp_path):
    status, output = check(checker, tmp_path, {"known.py": KNOWN, "wrong.py": WRONG})
    complaints = [line for line in output.splitlines() if "error" in line]
    assert not [line for line in complaints if "known.py:" in line], output
    assert status == 1
    for number, wrong in enumerate(WRONG, start=1):
        refused = any(f"wrong.py:{number}:" in line for line in complaints)
        assert refused == (number > HEAD), wrong


def test_every_public_name_has_its_place_in_the_reference():
    pages = Path(__file__).parent.parent.joinpath("docs", "reference").glob("*.md")
    said = set(re.findall(r"[\w.]+", "\n".join(page.read_text("utf-8") for page in pages)))
    names = {name for name in names_in_stub(bp) if not isinstance(getattr(bp, name), ModuleType)}
    parts = {f"outofcore.{name}" for name in names_in_stub(bp.outofcore)}
    missing = [name for name in sorted(names | parts) if not {name, f"bp.{name}"} & said]
    assert not missing
