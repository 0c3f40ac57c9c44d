"""The twenty lines that the pages of the methods show find what the library finds."""

import importlib.util
from pathlib import Path

import numpy as np
import pytest

import broadphase as bp

FILE = Path(__file__).parent.parent / "docs" / "methods" / "ideas.py"
PAGES = sorted(page.stem for page in FILE.parent.glob("*.md"))


def load_ideas():
    spec = importlib.util.spec_from_file_location("ideas", FILE)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def ideas():
    return load_ideas()


def scenes():
    random = np.random.default_rng(5)
    for count, side in ((1, 9), (5, 60), (60, 9), (60, 60), (60, 300)):
        corner = random.integers(0, 300, (count, 2))
        size = random.integers(0, side, (count, 2))
        yield np.hstack([corner, corner + size])


def found_by(ideas, name, boxes):
    rows = boxes.tolist()
    if name == "sweep_and_prune":
        # From a frame before in which no two boxes overlap.
        before = [[1000 * i, 0, 1000 * i + 1, 1] for i in range(len(rows))]
        edges = [
            sorted(
                ((i, far) for i in range(len(rows)) for far in (0, 1)),
                key=lambda edge: (before[edge[0]][axis + 2 * edge[1]], edge[1]),
            )
            for axis in (0, 1)
        ]
        found = ideas.sweep_and_prune(rows, set(), edges)
        assert ideas.sweep_and_prune(rows, set(found), edges) == found, "nothing has moved"
        return found
    options = {
        "uniform_grid": {"cell": 40, "columns": 15, "rows": 15},
        "spatial_hash": {"cell": 40, "slots": 17},
        "strips": {"height": 50},
    }
    return getattr(ideas, name)(rows, **options.get(name, {}))


@pytest.mark.parametrize("name", PAGES)
def test_the_lines_of_a_page_find_the_pairs(ideas, name):
    for boxes in scenes():
        expected = bp.pairs(boxes.reshape(-1, 4)).tolist()
        assert sorted(map(list, found_by(ideas, name, boxes))) == expected


def test_each_index_has_a_page():
    assert set(PAGES) == set(bp.INDEXES) - {"auto"}
