"""The uniform grid and the spatial hash, one shot, against brute force."""

import numpy as np
import pytest
from cases import examples
from grid_scenes import SCENES, agree, each_dim, each_method, make, task
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from broadphase.inputs.rules import as_filter, join_filter
from broadphase.kernels.arrays.results import LEAST_CAPACITY
from broadphase.kernels.cells.bins import BOX, NEXT
from broadphase.methods import spatial_hash, uniform_grid
from broadphase.methods.cells import fill


@each_method
@each_dim
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("touching", [True, False])
def test_every_scene(method, dim, dtype, touching, each):
    each(lambda scene: agree(method, make(scene, 300, dim, dtype), touching), SCENES)


@pytest.mark.smaller_set
@each_method
@each_dim
def test_every_scene_in_small(method, dim, each):
    each(lambda scene: agree(method, make(scene, 24, dim, np.float32)), SCENES)


@each_method
@pytest.mark.parametrize("limit", [1e300, np.finfo(np.float64).max, 5e-324, 1e-310])
def test_the_ends_of_float64(method, limit):
    random = np.random.default_rng(3)
    steps = np.array([-1.0, -0.5, 0.0, 0.25, 1.0])
    ends = np.sort(random.choice(np.append(limit * steps, [0.0, 1.0, -np.inf]), (200, 2, 2)), axis=1)
    agree(method, ends.reshape(200, 4))
    agree(method, ends.reshape(200, 4), touching=False)


EDGES = st.sampled_from(
    [
        -np.inf,
        -1e300,
        -1e30,
        -1e6,
        -2.0,
        -0.0,
        0.0,
        1e-310,
        0.1,
        0.3,
        1.0,
        1e6,
        1e6 + 0.5,
        1e17,
        1e300,
        np.inf,
    ]
) | st.floats(-10, 10, width=16)


@pytest.mark.smaller_set
@each_method
@each_dim
@given(data=st.data())
@settings(deadline=None, max_examples=examples(150))
def test_any_boxes(method, dim, data):
    count = data.draw(st.integers(0, 25))
    ends = data.draw(arrays(np.float64, (count, 2, dim), elements=EDGES))
    boxes = np.sort(ends, axis=1).reshape(count, 2 * dim)
    options = {"cell_size": data.draw(st.none() | st.floats(1e-3, 1e3), "cell_size")}
    if method is spatial_hash:
        options["table_size"] = data.draw(st.none() | st.integers(1, 50), "table_size")
    agree(method, boxes, data.draw(st.booleans(), "touching"), **options)


@each_method
@each_dim
@pytest.mark.parametrize("size", [1e-3, 1e300, 5e-324])
def test_every_cell_size(method, dim, size, each):
    each(lambda scene: agree(method, make(scene, 80, dim), cell_size=size), SCENES)


@each_dim
@pytest.mark.parametrize("table_size", [1, 7])
def test_far_cells_share_slots(dim, table_size, each):
    # With so few slots nearly every box falls into one slot with several of its cells.
    each(lambda scene: agree(spatial_hash, make(scene, 80, dim), table_size=table_size), SCENES)


def test_a_smaller_table_costs_tests_and_nothing_else():
    boxes = make("uniform", 60, 2)  # too few to be swept
    found = [agree(spatial_hash, boxes, cell_size=0.2, table_size=size) for size in (1, 11, 3001)]
    assert found[0].tests == 60 * 59 // 2
    assert found[0].cells == 1
    assert found[0].tests > found[1].tests > found[2].tests
    assert found[1].cells == 11


def held(bins, place):
    """The boxes in the list of a place."""
    found, entry = [], bins.heads[place]
    while entry:
        found.append(int(bins.entries[entry, BOX]))
        entry = bins.entries[entry, NEXT]
    return found


def filled(boxes, lattice):
    return fill(boxes, np.arange(len(boxes), dtype=np.int32), lattice)


def test_slots_are_those_of_the_textbook():
    # One cell each: the cells (3, 5) and (4, 900).
    boxes = np.array([[3.2, 5.2, 3.8, 5.8], [4.2, 900.2, 4.8, 900.8]])
    bins = filled(boxes, spatial_hash.lay_out(boxes, cell_size=1.0, table_size=101))
    slots = [(x * 1640531513 ^ y * 2654435789) % 101 for x, y in ((3, 5), (4, 900))]
    assert bins.places == len(set(slots)) == 2
    assert [held(bins, slot) for slot in slots] == [[0], [1]]


@pytest.mark.smaller_set
def test_cells_are_numbered_row_by_row():
    # A box in every cell of a grid of 3 columns, 2 rows and 3 layers, and one in eight of them.
    corners = np.array([[x, y, z] for z in range(3) for y in range(2) for x in range(3)]) * 1.0
    boxes = np.vstack((np.hstack((corners + 0.2, corners + 0.8)), [[0.5, 0.5, 0.5, 1.5, 1.5, 1.5]]))
    lattice = uniform_grid.lay_out(boxes, cell_size=1.0)
    np.testing.assert_array_equal(lattice.last, [2, 1, 2])
    bins = filled(boxes, lattice)
    assert bins.places == 18
    shared = [0, 1, 3, 4, 6, 7, 9, 10]
    assert [held(bins, cell) for cell in range(18)] == [[k, 18] if k in shared else [k] for k in range(18)]


@each_method
@pytest.mark.parametrize("rule", ["static", "join", "categories"])
def test_filters(method, rule, each):
    def check(scene):
        boxes = make(scene, 150, 2)
        n = len(boxes)
        random = np.random.default_rng(5)
        rules = {
            "static": as_filter(n, static=random.random(n) < 0.5),
            "join": join_filter(n // 3, n - n // 3),
            "categories": as_filter(n, categories=random.integers(0, 8, n), masks=random.integers(0, 8, n)),
        }[rule]
        agree(method, boxes, rules=rules)

    each(check, SCENES)


@each_method
@pytest.mark.parametrize("scene", ["uniform", "power law", "far clusters", "all equal"])
def test_threads_change_nothing(method, scene):
    boxes = SCENES[scene](np.random.default_rng(2), 6_000 if scene != "all equal" else 1_200, 2)
    boxes = boxes * [len(boxes) ** 0.5 if scene == "uniform" else 1.0]
    boxes[:, 2:] = np.minimum(boxes[:, 2:], boxes[:, :2] + 1.5 * np.ones(2))
    alone = agree(method, boxes)
    for threads in (2, 3, 5):
        shared = method.find(task(boxes, threads=threads))
        np.testing.assert_array_equal(np.concatenate(shared.chunks), np.concatenate(alone.chunks))
        assert shared[1:] == alone[1:]


@each_method
def test_counting_stores_nothing(method, each):
    def check(scene):
        boxes = make(scene, 150, 2)
        stored = method.find(task(boxes))
        counted = method.find(task(boxes, store=False))
        assert counted.chunks == []
        assert counted[1:] == stored[1:]

    each(check, SCENES)


@each_method
@pytest.mark.parametrize("scene", ["dense", "power law", "one giant"])
@pytest.mark.parametrize("threads", [1, 3])
def test_the_limit_stops_the_search(method, scene, threads, exhaustive):
    boxes = make(scene, 5_000 if exhaustive else 1_500, 2)
    everything = method.find(task(boxes)).pairs
    found = method.find(task(boxes, limit=everything - 1, threads=threads))
    assert found.pairs > everything - 1
    found = method.find(task(boxes, limit=10, threads=threads))
    assert 10 < found.pairs < everything
    assert sum(map(len, found.chunks)) <= 10 + LEAST_CAPACITY * threads
