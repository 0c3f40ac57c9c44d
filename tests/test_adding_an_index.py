"""An index is registered by its name: what follows from that works, and what else belongs to it is listed.

A toy index is added to a copy of the package, as CONTRIBUTING says.
"""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from broadphase.indexes import CLASSES

ROOT = Path(__file__).parent.parent
PAGE = "src/broadphase/tour/page"

# What belongs to an index, by file: what the file says (NAME, Class, Words: quad_tree, QuadTree, Quad tree).
PARTS = {
    "src/broadphase/indexes/__init__.py": '"NAME"',
    "src/broadphase/indexes/NAME.py": "class .*Structure",
    "src/broadphase/indexes/classes.py": "class Class",
    "src/broadphase/__init__.pyi": "import Class as Class",
    "docs/reference/indexes.md": "   Class\n",
    "docs/methods/NAME.md": "Class",
    "docs/methods/ideas.py": r"def NAME\(",
    "docs/_static/method.js": r"(?s)\*NAME\(.*  NAME: \[",
    "docs/whole_code.py": '"NAME":',
    "docs/explanation/methods.md": "/methods/NAME\n",
    f"{PAGE}/methods/NAME.js": "export",
    f"{PAGE}/methods/all.js": "  NAME",
    f"{PAGE}/index.html": r'(?s)modulepreload"[^>]*methods/NAME\.js.*<dl class="verdict" data-method="Words"',
    f"{PAGE}/times.json": '"NAME":',
    "benchmarks/tour.py": '"NAME":',
    f"{PAGE}/palette.css": "--method-NAME:",
    f"{PAGE}/palette.js": "NAME:",
}


def missing(root, name):
    """The parts that an index does not have yet."""

    def said(text):
        title = "".join(word.capitalize() for word in name.split("_"))
        words = name.replace("_", " ").capitalize()
        return text.replace("NAME", name).replace("Class", title).replace("Words", words)

    def text_of(path):
        return path.read_text("utf-8") if path.exists() else ""

    return [part for part, text in PARTS.items() if not re.search(said(text), text_of(root / said(part)))]


# "auto" is made of the others, and has neither a page nor a step in the tour.
@pytest.mark.parametrize("name", [name for name in CLASSES if name != "auto"])
def test_every_index_has_all_of_its_parts(name):
    left = missing(ROOT, name)
    assert left == [], f"these do not have {name} yet: {', '.join(left)}"


def test_contributing_lists_all_parts():
    said = (ROOT / "CONTRIBUTING.md").read_text("utf-8")
    steps = said[said.index("\n## Adding an index\n") :]
    steps = steps[: steps.index("\n## ", 4)]
    assert [part for part in PARTS if part.rsplit("/", 1)[-1] not in steps.replace("{NAME}", "NAME")] == []


TOY = '''"""Toy: tests every box."""

from broadphase.indexes.protocol import Shared, Structure, search_live
from broadphase.methods import brute_force


class ToyStructure(Structure):
    """Nothing but the boxes."""

    def find_pairs(self, limit, scratch):
        """All pairs."""
        return search_live(self, brute_force.find, limit, scratch)
'''
CLASS = '''

class Toy(Index):
    """Tests every box."""

    name = "toy"

    def _make_structure(self, shared: Shared) -> Structure:
        from broadphase.indexes.toy import ToyStructure

        return ToyStructure(shared)
'''
WORKS = """
import pathlib, tempfile
import numpy as np
import broadphase as bp
from broadphase.cli.commands import app

boxes = np.array([[0.0, 0, 2, 2], [1, 1, 3, 3], [5, 5, 6, 6]])
assert "toy" in bp.INDEXES and type(bp.make_index("toy")) is bp.Toy
index = bp.Toy()
index.insert_many(boxes)
assert index.pairs().tolist() == [[0, 1]] and index.nearest([9, 9]).ids.tolist() == [2]
with tempfile.TemporaryDirectory() as folder:
    index.save(pathlib.Path(folder, "toy"))
    assert type(bp.Index.load(pathlib.Path(folder, "toy"))) is bp.Toy
world = bp.World(broadphase="toy")
world.add(bp.Box(0, 0, 1, 1))
assert len(world.query_box((0, 0, 9, 9))) == 1

_, bound, _ = app.parse_args(["replay", "recording", "--methods", "toy"])
assert bound.arguments["methods"] == ["toy"]
"""


def run(root, *arguments):
    """What Python says with the package in this folder."""
    env = {**os.environ, "PYTHONPATH": str(root / "src")}
    done = subprocess.run(
        [sys.executable, *arguments], env=env, cwd=ROOT, capture_output=True, text=True, timeout=600
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_a_toy_index_works_everywhere_and_what_it_lacks_is_named(tmp_path):
    package = shutil.copytree(ROOT / "src" / "broadphase", tmp_path / "src" / "broadphase")
    for folder in ("methods", "explanation", "reference", "_static"):
        shutil.copytree(ROOT / "docs" / folder, tmp_path / "docs" / folder)
    names, classes = package / "indexes" / "__init__.py", package / "indexes" / "classes.py"
    public = package / "__init__.pyi"

    names.write_text(
        names.read_text("utf-8").replace("Choice = Literal[", 'Choice = Literal[\n    "toy",', 1), "utf-8"
    )
    named = missing(tmp_path, "toy")
    assert named == list(PARTS)[1:]

    (package / "indexes" / "toy.py").write_text(TOY, "utf-8")
    classes.write_text(classes.read_text("utf-8") + CLASS, "utf-8")
    public.write_text(public.read_text("utf-8") + "from .indexes.classes import Toy as Toy\n", "utf-8")
    run(tmp_path, "-c", WORKS)
    assert missing(tmp_path, "toy") == named[3:]

    files = ("index_queries", "index_state", "changes", "periodic_indexes", "statistics")
    paths = [str(ROOT / "tests" / f"test_{name}.py") for name in files]
    said = run(tmp_path, "-m", "pytest", "-n", "0", "-q", "-k", "toy", "-p", "no:cacheprovider", *paths)
    assert int(re.search(r"(\d+) passed", said)[1]) > 30
