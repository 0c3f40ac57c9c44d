"""The twenty lines that the pages of the methods show find what the library finds."""

import sys
from pathlib import Path

import numpy as np
import pytest

import broadphase as bp

DOCS = Path(__file__).parent.parent / "docs"
PAGES = sorted(page.stem for page in (DOCS / "methods").glob("*.md"))

sys.path.insert(0, str(DOCS))
import whole_code  # noqa: E402

sys.path.pop(0)


@pytest.fixture(scope="module")
def ideas():
    return whole_code.load_ideas()


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
    if name == "auto":
        # Nothing was there before; then few boxes have moved, from somewhere else.
        every = set(range(len(rows)))
        found = ideas.auto(rows, set(), every)
        many = rows + [[1e6 + 10 * k, 0, 1e6 + 10 * k, 0] for k in range(1_000)]
        moved = set(range(min(len(rows), 5)))
        before = [[1e6, 0, 1e6 + 95, 0] if i in moved else row for i, row in enumerate(many)]
        pairs = ideas.auto(before, set(), set(range(len(many))))
        assert len(pairs) >= 10 * len(moved)
        assert ideas.auto(many, pairs, moved) == found
        assert ideas.auto(rows, found, set()) == found
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


def test_boxes_outside_the_grid_are_in_its_cells_at_the_edge(ideas):
    boxes = [(-20, 5, -10, 15), (-15, 8, -5, 20), (500, 5, 520, 15), (510, 10, 530, 30)]
    assert ideas.uniform_grid(boxes, 30, 3, 2) == {(0, 1), (2, 3)}


@pytest.mark.parametrize("name", PAGES)
def test_the_code_of_a_page_runs_when_it_is_copied(name):
    code = whole_code.idea(name)
    assert whole_code.free_names(code) == set()
    before, _, call = code.removesuffix("\n").rpartition("\n")
    names = {}
    exec(before, names)
    expression, _, outcome = call.partition("  # -> ")
    assert eval(expression, names) == eval(outcome) == {(0, 1)}
    page = (DOCS / "methods" / f"{name}.md").read_text("utf-8")
    assert f"```{{idea}} {name}\n" in page


def test_each_index_has_a_page():
    assert set(PAGES) == set(bp.INDEXES)
