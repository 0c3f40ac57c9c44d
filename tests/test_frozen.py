"""The dungeon, frozen by PyInstaller as `docs/shipping.md` says, on a machine without Python packages."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.exhaustive
ROOT = Path(__file__).parent.parent

PLAY = """
import sys

from examples.dungeon import Dungeon
from examples.stage import main

main(Dungeon, sys.argv[1:])
"""


@pytest.fixture(scope="module")
def frozen(tmp_path_factory):
    """The folder that players get."""
    pytest.importorskip("PyInstaller")
    folder = tmp_path_factory.mktemp("frozen")
    shutil.copytree(ROOT / "examples", folder / "examples", ignore=shutil.ignore_patterns("__pycache__"))
    (folder / "play.py").write_text(PLAY)
    command = [sys.executable, "-m", "PyInstaller", "--onedir", "--name", "dungeon", "play.py"]
    subprocess.run(command, cwd=folder, check=True, capture_output=True)
    moved = folder / "elsewhere"
    (folder / "dist" / "dungeon").rename(moved)
    return moved


def test_the_frozen_dungeon_plays_without_python_packages(frozen, tmp_path):
    """No path, no home and no package of this machine reach it; a warning would be an error line."""
    bare = {"SDL_VIDEODRIVER": "dummy", "SDL_AUDIODRIVER": "dummy", "HOME": "/nonexistent", "PATH": ""}
    screenshot = tmp_path / "last.png"
    played = subprocess.run(
        [str(frozen / "dungeon"), "--frames", "20", "--screenshot", str(screenshot)],
        env=bare if os.name != "nt" else os.environ | bare,
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert played.returncode == 0, played.stderr
    assert played.stderr == ""
    assert "monsters" in played.stdout
    assert screenshot.stat().st_size > 1000


def test_the_compiler_stays_at_home_and_the_compiled_kernels_come_along(frozen):
    names = {file.relative_to(frozen).as_posix() for file in frozen.rglob("*")}
    assert any("kernels/compiled/" in name for name in names)
    assert not [name for name in names if "numba" in name or "llvmlite" in name or "ziglang" in name]


def test_what_only_adapters_import_stays_at_home(frozen):
    """All of it is installed for the tests; the dungeon imports pygame alone."""
    tops = {file.name.lower() for folder in (frozen, frozen / "_internal") for file in folder.glob("*")}
    others = {
        "pandas",
        "polars",
        "pyarrow",
        "geopandas",
        "shapely",
        "scipy",
        "matplotlib",
        "arcade",
        "mesa",
        "dask",
    }
    assert tops >= {"pygame"}
    assert not tops & others
