"""The uniform grid and the spatial hash, one shot, against brute force."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from broadphase.boxes import as_boxes, as_filter, join_filter
from broadphase.kernels.boxes.filters import no_filter
from broadphase.methods import brute_force, cell_size, spatial_hash, uniform_grid
from broadphase.methods.cell_search import assign_levels, enter
from broadphase.methods.task import Task

METHODS = {"uniform_grid": uniform_grid, "spatial_hash": spatial_hash}

each_method = pytest.mark.parametrize("method", METHODS.values(), ids=METHODS.keys())
each_dim = pytest.mark.parametrize("dim", [2, 3])


def task(boxes, touching=True, rules=None, **options):
    return Task(as_boxes(boxes), touching, no_filter() if rules is None else rules, **options)


def pairs(found):
    rows = np.concatenate([np.empty((0, 2), np.int32), *found.chunks])
    return rows[np.lexsort((rows[:, 1], rows[:, 0]))]


def agree(method, boxes, touching=True, rules=None, threads=1, **options):
    """The method finds what brute force finds, each pair once; returns what it found."""
    expected = pairs(brute_force.find(task(boxes, touching, rules)))
    found = method.find(task(boxes, touching, rules, threads=threads), **options)
    np.testing.assert_array_equal(pairs(found), expected)
    assert found.tests >= found.pairs == len(expected)
    return found


def squares(random, n, dim, size, world=1.0):
    low = random.random((n, dim)) * world
    return np.hstack((low, low + np.broadcast_to(size, (n, 1))))


def far_clusters(random, n, dim, distance=1e6, clusters=4, dtype=np.float64):
    centres = random.integers(-clusters // 2, clusters // 2 + 1, (n, dim)) * distance
    boxes = squares(random, n, dim, 1.0, world=6.0)
    return (boxes + np.hstack((centres, centres))).astype(dtype)


def on_a_line(random, n, dim, axis):
    low = np.zeros((n, dim))
    low[:, axis] = random.random(n) * n
    high = low.copy()
    high[:, axis] += 2
    return np.hstack((low, high))


def long_walls(random, n, dim):
    low = random.random((n, dim)) * 100
    high = low + 0.5
    high[np.arange(n), random.integers(0, dim, n)] += 90
    return np.hstack((low, high))


def power_law(random, n, dim):
    return squares(random, n, dim, 10 ** random.uniform(-4, 0, (n, 1)) * 0.3)


def with_infinite(random, n, dim):
    boxes = squares(random, n, dim, 0.1)
    low, high = boxes[:, :dim], boxes[:, dim:]
    low[random.random((n, dim)) < 0.04] = -np.inf
    high[random.random((n, dim)) < 0.04] = np.inf
    boxes[:2] = np.inf
    boxes[2:4] = -np.inf
    return boxes


def endless_columns(random, n, dim):
    boxes = squares(random, n, dim, 0.02)
    boxes[: n // 2, 1], boxes[: n // 2, dim + 1] = -np.inf, np.inf
    return boxes


def one_giant(random, n, dim):
    boxes = squares(random, n, dim, 0.05)
    boxes[n // 3, :dim], boxes[n // 3, dim:] = -1e9, 1e9
    return boxes


def with_strays(random, n, dim):
    boxes = squares(random, n, dim, 0.1)
    boxes[:3] *= 1e30
    boxes[3:5] = np.sort(-boxes[3:5] * 1e30, axis=1)[:, np.r_[:dim, dim : 2 * dim]]
    return boxes


def tiles(random, n, dim):
    low = random.integers(-4, 5, (n, dim)).astype(float)
    return np.hstack((low, low + random.integers(0, 3, (n, dim))))


def dust_and_planets(random, n, dim):
    return np.vstack(
        (
            squares(random, n // 2, dim, 1e-7, world=1e-5),
            squares(random, n // 4, dim, 1.0, world=8.0),
            squares(random, n // 4, dim, 3e4, world=2e5),
        )
    )


SCENES = {
    "uniform": lambda r, n, d: squares(r, n, d, 0.15),
    "sparse": lambda r, n, d: squares(r, n, d, 0.01, world=1000.0),
    "dense": lambda r, n, d: squares(r, n, d, 0.8),
    "negative": lambda r, n, d: squares(r, n, d, 0.15) - 7,
    "tiles": tiles,
    "all equal": lambda r, n, d: np.tile([1.5] * d + [2.5] * d, (n // 3, 1)),
    "on x": lambda r, n, d: on_a_line(r, n, d, 0),
    "on y": lambda r, n, d: on_a_line(r, n, d, 1),
    "on the last axis": lambda r, n, d: on_a_line(r, n, d, d - 1),
    "points": lambda r, n, d: squares(r, n, d, 0.0).round(1),
    "one point": lambda r, n, d: np.zeros((n // 3, 2 * d)),
    "signed zeros": lambda r, n, d: r.choice([0.0, -0.0], (n // 3, 2 * d)),
    "power law": power_law,
    "dust and planets": dust_and_planets,
    "far clusters": far_clusters,
    "very far clusters": lambda r, n, d: far_clusters(r, n, d, 1e15),
    "huge": lambda r, n, d: squares(r, n, d, 1e29, 1e30),
    "tiny": lambda r, n, d: squares(r, n, d, 1e-39, 1e-38),
    "infinite": with_infinite,
    "endless columns": endless_columns,
    "one giant": one_giant,
    "strays": with_strays,
    "walls": long_walls,
    "float32 limits": lambda r, n, d: np.sort(
        r.choice([-3.4028235e38, -1e30, -1, 0, 1e-45, 1, 1e30, 3.4028235e38, np.inf], (n, 2, d)), axis=1
    ).reshape(n, 2 * d),
    "one box": lambda r, n, d: squares(r, 1, d, 1.0),
    "two boxes": lambda r, n, d: squares(r, 2, d, 1.0),
    "no box": lambda r, n, d: np.empty((0, 2 * d)),
}
each_scene = pytest.mark.parametrize("scene", SCENES.values(), ids=SCENES.keys())


def make(scene, n, dim, dtype=np.float64, seed=1):
    return scene(np.random.default_rng(seed), n, dim).astype(dtype)


@each_method
@each_dim
@each_scene
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("touching", [True, False])
def test_every_scene(method, dim, scene, dtype, touching):
    agree(method, make(scene, 300, dim, dtype), touching)


@pytest.mark.smaller_set
@each_method
@each_dim
@each_scene
def test_every_scene_in_small(method, dim, scene):
    agree(method, make(scene, 24, dim, np.float32))


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
@settings(deadline=None, max_examples=150)
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
@each_scene
@pytest.mark.parametrize("size", [1e-3, 1e300, 5e-324])
def test_every_cell_size(method, dim, scene, size):
    agree(method, make(scene, 80, dim), cell_size=size)


@each_dim
@each_scene
@pytest.mark.parametrize("table_size", [1, 7])
def test_far_cells_share_slots(dim, scene, table_size):
    # With so few slots nearly every box falls into one slot with several of its cells.
    agree(spatial_hash, make(scene, 80, dim), table_size=table_size)


def test_a_smaller_table_costs_tests_and_nothing_else():
    boxes = make(SCENES["uniform"], 60, 2)  # too few to be swept
    found = [agree(spatial_hash, boxes, cell_size=0.2, table_size=size) for size in (1, 11, 3001)]
    assert found[0].tests == 60 * 59 // 2
    assert found[0].cells == 1
    assert found[0].tests > found[1].tests > found[2].tests
    assert found[1].cells == 11


def test_slots_are_those_of_the_textbook():
    # One cell each: the cells (3, 5) and (4, 900).
    boxes = np.array([[3.2, 5.2, 3.8, 5.8], [4.2, 900.2, 4.8, 900.8]])
    layout = spatial_hash.lay_out(boxes, cell_size=1.0)
    levels, population = assign_levels(boxes, layout)
    sizes = spatial_hash.table_sizes(population, 101)
    cells, used = enter(boxes, layout._replace(offsets=np.append(0, sizes.cumsum())), levels, population)
    slots = [(x * 1640531513 ^ y * 2654435789) % 101 for x, y in ((3, 5), (4, 900))]
    assert used == len(set(slots)) == 2
    assert [cells.entries[cells.starts[slot]] for slot in slots] == [0, 1]


@pytest.mark.smaller_set
def test_cells_are_numbered_row_by_row():
    # A box in every cell of a grid of 3 columns, 2 rows and 3 layers, and one in eight of them.
    corners = np.array([[x, y, z] for z in range(3) for y in range(2) for x in range(3)]) * 1.0
    boxes = np.vstack((np.hstack((corners + 0.2, corners + 0.8)), [[0.5, 0.5, 0.5, 1.5, 1.5, 1.5]]))
    layout = uniform_grid.lay_out(boxes, cell_size=1.0)
    np.testing.assert_array_equal(layout.last[0], [2, 1, 2])
    cells, used = enter(boxes, layout, *assign_levels(boxes, layout))
    assert used == 18
    np.testing.assert_array_equal(cells.entries[cells.starts[:18]], np.arange(18))
    shared = np.flatnonzero(np.diff(cells.starts[:19]) == 2)
    np.testing.assert_array_equal(shared, [0, 1, 3, 4, 6, 7, 9, 10])


@each_method
@each_scene
@pytest.mark.parametrize("rule", ["static", "join", "categories"])
def test_filters(method, scene, rule):
    boxes = make(scene, 150, 2)
    n = len(boxes)
    random = np.random.default_rng(5)
    rules = {
        "static": as_filter(n, static=random.random(n) < 0.5),
        "join": join_filter(n // 3, n - n // 3),
        "categories": as_filter(n, categories=random.integers(0, 8, n), masks=random.integers(0, 8, n)),
    }[rule]
    agree(method, boxes, rules=rules)


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
@each_scene
def test_counting_stores_nothing(method, scene):
    boxes = make(scene, 150, 2)
    stored = method.find(task(boxes))
    counted = method.find(task(boxes, store=False))
    assert counted.chunks == []
    assert counted[1:] == stored[1:]


@each_method
@pytest.mark.parametrize("scene", ["dense", "power law", "one giant"])
@pytest.mark.parametrize("threads", [1, 3])
def test_the_limit_stops_the_search(method, scene, threads):
    boxes = make(SCENES[scene], 5_000, 2)
    everything = method.find(task(boxes)).pairs
    found = method.find(task(boxes, limit=everything - 1, threads=threads))
    assert found.pairs > everything - 1
    found = method.find(task(boxes, limit=10, threads=threads))
    assert 10 < found.pairs < everything
    assert all(len(chunk) <= 11 for chunk in found.chunks)


# No trap: scenes on which a plain grid compares everything with everything.
BOUNDED = {
    "uniform": (lambda r, n, d: squares(r, n, d, n ** (-1 / d)), 60),
    "power law": (lambda r, n, d: squares(r, n, d, 10 ** r.uniform(-4, 0, (n, 1)) * n ** (-1 / d)), 60),
    "one giant": (lambda r, n, d: one_giant(r, n, d) * [1.0], 60),
    "on x": (lambda r, n, d: on_a_line(r, n, d, 0), 20),
    "on y": (lambda r, n, d: on_a_line(r, n, d, 1), 20),
    "points": (lambda r, n, d: squares(r, n, d, 0.0), 20),
    "far points": (lambda r, n, d: squares(r, n, d, 0.0, 1e200), 20),
    "strays": (
        lambda r, n, d: np.vstack((squares(r, n - 20, d, n ** (-1 / d)), squares(r, 20, d, 1.0, 1e30))),
        60,
    ),
    "endless columns": (lambda r, n, d: among_endless_columns(r, n, d, 0), 20),
    "boxes among endless columns": (lambda r, n, d: among_endless_columns(r, n, d, n // 2), 20),
}


def among_endless_columns(random, n, dim, small):
    boxes = on_a_line(random, n, dim, dim - 1)
    boxes[small:, 0], boxes[small:, dim] = -np.inf, np.inf
    return boxes


@each_method
@each_dim
@pytest.mark.parametrize(("scene", "most"), BOUNDED.values(), ids=BOUNDED.keys())
def test_tests_grow_with_the_boxes(method, dim, scene, most):
    n = 4_000
    boxes = make(scene, n, dim)
    if scene is BOUNDED["one giant"][0]:
        boxes[:, dim:] = np.where(boxes[:, dim:] < 1e8, boxes[:, :dim] + n ** (-1 / dim), boxes[:, dim:])
    found = method.find(task(boxes))
    assert found.tests <= most * n
    assert found.cells <= 12 * n


@each_method
def test_boxes_without_inside_are_not_all_compared(method):
    # All in one place, but nothing overlaps what has no inside when touching does not count.
    found = method.find(task(np.full((2_000, 4), 3.0), touching=False))
    assert (found.pairs, found.tests) == (0, 0)


@pytest.mark.parametrize("distance", [1e3, 1e6, 1e12])
def test_the_hash_does_not_see_empty_space(distance):
    boxes = far_clusters(np.random.default_rng(1), 4_000, 2, distance, clusters=30)
    near = spatial_hash.find(task(boxes))
    assert near.tests <= 30 * 4_000
    assert near.pairs > 0


def test_a_grid_over_far_clusters_is_swept():
    boxes = far_clusters(np.random.default_rng(1), 4_000, 2, 1e9, clusters=2) * [300, 300, 300, 300]
    boxes[:, 2:] = boxes[:, :2] + 1.0
    found = agree(uniform_grid, boxes)
    assert found.tests < 4_000**2 / 2 / 20


@each_method
@each_dim
@each_scene
def test_cells_and_copies_are_bounded(method, dim, scene):
    boxes = make(scene, 300, dim)
    layout = method.lay_out(boxes)
    assert np.isfinite(layout.per_unit).all()
    assert (layout.per_unit > 0).all()
    if not layout.hashed:
        assert layout.offsets[-1] <= 4 * max(len(boxes), 4)
    assert len(layout.offsets) == len(layout.per_unit) + 1 == len(layout.last) + 1
    levels, population = assign_levels(boxes, layout)
    assert population.sum() == len(boxes)
    if layout.hashed:
        sizes = spatial_hash.table_sizes(population, 3_000)
        layout = layout._replace(offsets=np.append(0, sizes.cumsum()))
    cells, used = enter(boxes, layout, levels, population)
    assert used <= len(cells.entries) <= 12 * len(boxes)
    assert cells.starts[-2] == len(cells.entries)


@each_method
def test_the_coarsest_level_is_one_cell(method):
    # More cells on a side than the levels that follow from the sizes can bring down to one.
    boxes = squares(np.random.default_rng(4), 20_000, 2, 1e-9)
    boxes[[1, 7]] = [0, 0, 1, 1]
    layout = method.lay_out(boxes, 1e-9)
    assert len(layout.per_unit) == len(layout.last)
    assert (layout.last[-1] - layout.first[-1] == 0).all()
    agree(method, boxes, cell_size=1e-9)


@pytest.mark.smaller_set
def test_cell_size_follows_the_middle_box():
    boxes = np.array([[0, 0, 2, 2]] * 3 + [[0, 0, 1000, 1000], [0, 0, 0, 0]], float)
    size, reason = cell_size.suggest_cell_size(boxes)
    assert size == 5.0
    assert "middle box, 2" in reason


@pytest.mark.smaller_set
@pytest.mark.parametrize(
    ("boxes", "size", "words"),
    [
        ([[0, 0, 16, 1]] * 3, 10.0, "middle box, 4"),  # a wall: the square of its area
        ([[0, 0, 100, 0]] * 3, 62.5, "middle box, 25"),  # a line: a quarter of its length
        ([[0, 0, 0, 0], [8, 1, 8, 1], [3, 2, 3, 2], [4, 0, 4, 0]], 4.0, "spacing"),
        ([[7, 7, 7, 7]] * 2, 1.0, "any would do"),
        ([[-np.inf, -np.inf, np.inf, np.inf]] * 2, 1.0, "any would do"),
        (np.empty((0, 4)), 1.0, "any would do"),
    ],
)
def test_reasons(boxes, size, words):
    suggested = cell_size.suggest_cell_size(as_boxes(boxes))
    assert suggested.size == pytest.approx(size)
    assert words in suggested.reason


@pytest.mark.smaller_set
def test_levels_follow_the_sizes():
    boxes = np.zeros((1_000, 4))
    boxes[:, 2:] = np.repeat([1.0, 1e6, 1e12], [600, 399, 1])[:, None]
    sizes = cell_size.level_sizes(2.5, cell_size.take_sample(boxes))
    assert sizes[0] == 2.5
    assert len(sizes) <= 6  # none where no box is
    assert ((sizes >= 1e6) & (sizes <= 4e6)).any()
    assert ((sizes >= 1e12) & (sizes <= 4e12)).any()


@pytest.mark.smaller_set
def test_the_grid_says_when_its_cells_are_larger():
    boxes = as_boxes([[0, 0, 1, 1], [1e6, 1e6, 1e6 + 1, 1e6 + 1]])
    size, reason = cell_size.suggest_grid_cell_size(boxes)
    assert size == pytest.approx(5e5, rel=1e-3)
    assert reason.startswith("as small as 4 cells allow")
    assert cell_size.suggest_grid_cell_size(boxes[:1]) == cell_size.suggest_cell_size(boxes[:1])


@each_method
@pytest.mark.parametrize("size", [0, -1.0, np.nan, np.inf])
def test_a_cell_size_that_is_none(method, size):
    with pytest.raises(ValueError, match=r"^cell_size must be positive and finite; got"):
        method.find(task(np.zeros((2, 4))), cell_size=size)


@each_method
@pytest.mark.parametrize("size", ["1", True, [1.0]])
def test_a_cell_size_of_another_type(method, size):
    with pytest.raises(TypeError, match=r"^cell_size must be a number or None; got"):
        method.find(task(np.zeros((2, 4))), cell_size=size)


@pytest.mark.parametrize(
    ("size", "error", "words"),
    [
        (0, ValueError, "table_size must be between 1 and .*; got 0"),
        (2**41, ValueError, "table_size must be between 1 and .*; got 2199023255552"),
        (1.5, TypeError, "table_size must be an int or None; got 1.5"),
        (True, TypeError, "table_size must be an int or None; got True"),
    ],
)
def test_a_table_size_that_is_none(size, error, words):
    with pytest.raises(error, match=words):
        spatial_hash.find(task(np.zeros((2, 4))), table_size=size)
