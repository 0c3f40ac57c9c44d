"""Flow fields and paths: against SciPy's and networkx's graphs, and walked by bodies of a world."""

import itertools
import math

import numpy as np
import pytest

import broadphase as bp
from broadphase import TileMap

STEPS = [(1, 0), (-1, 0), (0, 1), (0, -1), (1, 1), (-1, 1), (1, -1), (-1, -1)]
ENTERED = {(1, 0): 1, (-1, 0): 2, (0, 1): 4, (0, -1): 8}
"""The side of a tile through which a step enters, as `one_way` has it."""


def random_map(seed, share, one_way, tile_size=10.0):
    rng = np.random.default_rng(seed)
    shape = tuple(rng.integers(1, 14, 2))
    solid = rng.random(shape) < share
    sides = np.where(rng.random(shape) < 0.2, rng.integers(0, 16, shape), 0).astype(np.uint8)
    return rng, TileMap(solid, tile_size, one_way=sides if one_way else None)


def covered(column, row, size):
    return [(x, y) for y in range(row, row + size[1]) for x in range(column, column + size[0])]


def fits(tiles, column, row, size):
    inside = column >= 0 and row >= 0 and column + size[0] <= tiles.columns and row + size[1] <= tiles.rows
    return inside and not any(tiles.is_solid(x, y) for x, y in covered(column, row, size))


def straight_is_open(tiles, column, row, step, size):
    after = column + step[0], row + step[1]
    if not (fits(tiles, column, row, size) and fits(tiles, *after, size)):
        return False
    new = set(covered(*after, size)) - set(covered(column, row, size))
    return tiles.one_way is None or not any(tiles.one_way[y, x] & ENTERED[step] for x, y in new)


def lets_in(tiles, column, row, step, size):
    """Whether no one-way tile blocks a straight step, whatever is solid."""
    new = set(covered(column + step[0], row + step[1], size)) - set(covered(column, row, size))
    return tiles.one_way is None or not any(tiles.one_way[y, x] & ENTERED[step] for x, y in new)


def is_open(tiles, column, row, step, size, diagonal):
    """An independent definition: a diagonal step is two straight ones, in one order or in the other."""
    dx, dy = step
    if not (dx and dy):
        return straight_is_open(tiles, column, row, step, size)
    if not (diagonal and fits(tiles, column, row, size) and fits(tiles, column + dx, row + dy, size)):
        return False
    if diagonal == "always":
        ways = (
            lets_in(tiles, column + dx, row, (0, dy), size),
            lets_in(tiles, column, row + dy, (dx, 0), size),
        )
        return any(ways)
    ways = (
        straight_is_open(tiles, column, row, (dx, 0), size)
        and straight_is_open(tiles, column + dx, row, (0, dy), size),
        straight_is_open(tiles, column, row, (0, dy), size)
        and straight_is_open(tiles, column, row + dy, (dx, 0), size),
    )
    return any(ways) if diagonal == "corners" else all(ways)


def edges(tiles, size, diagonal, cost=None):
    width, height = tiles.tile_size
    factor = np.ones((tiles.rows, tiles.columns)) if cost is None else np.asarray(cost)
    return [
        (
            (column, row),
            (column + dx, row + dy),
            math.hypot(dx * width, dy * height)
            * max(factor[y, x] for x, y in covered(column + dx, row + dy, size)),
        )
        for row in range(tiles.rows)
        for column in range(tiles.columns)
        for dx, dy in STEPS
        if is_open(tiles, column, row, (dx, dy), size, diagonal)
    ]


def expected(tiles, goals, size, diagonal, cost=None):
    """The distances by SciPy: from the goals backwards over the open steps."""
    sparse = pytest.importorskip("scipy.sparse")
    csgraph = pytest.importorskip("scipy.sparse.csgraph")
    n = tiles.columns * tiles.rows
    found = edges(tiles, size, diagonal, cost)
    numbers = np.array([(a[1] * tiles.columns + a[0], b[1] * tiles.columns + b[0]) for a, b, _ in found])
    numbers = numbers.reshape(-1, 2)
    lengths = [length for _, _, length in found]
    graph = sparse.csr_array((lengths, (numbers[:, 1], numbers[:, 0])), shape=(n, n))
    starts = [
        row * tiles.columns + column
        for row in range(tiles.rows)
        for column in range(tiles.columns)
        if fits(tiles, column, row, size) and goals & set(covered(column, row, size))
    ]
    if not starts:
        return np.full((tiles.rows, tiles.columns), np.inf)
    distances = csgraph.dijkstra(graph, indices=starts, min_only=True)
    return distances.reshape(tiles.rows, tiles.columns)


CASES = [
    (seed, share, one_way, size, diagonal, tile_size, costs)
    for costs in (False, True)
    for seed in range(10)
    for share in (0.0, 0.15, 0.35)
    for one_way in (False, True)
    for size in (1, 2, (3, 1))
    for diagonal in (True, False, "corners", "always")
    for tile_size in (10.0, (7.0, 12.0))
]


def same_as_scipy(seed, share, one_way, size, diagonal, tile_size, costs):
    rng, tiles = random_map(seed, share, one_way, tile_size)
    goals = rng.integers(0, (tiles.columns, tiles.rows), (int(rng.integers(1, 4)), 2))
    both = size if isinstance(size, tuple) else (size, size)
    cost = np.where(rng.random(tiles.solid.shape) < 0.1, math.inf, rng.integers(1, 5, tiles.solid.shape))
    cost = cost if costs else None
    field = tiles.flow_field(goals, size=size, diagonal=diagonal, cost=cost)
    right = expected(tiles, set(map(tuple, goals.tolist())), both, diagonal, cost)
    np.testing.assert_allclose(field.distances, right, rtol=1e-12)
    limit = float(rng.uniform(0, 80))
    near = tiles.flow_field(goals, size=size, diagonal=diagonal, cost=cost, max_distance=limit)
    assert np.array_equal(near.distances, np.where(field.distances <= limit, field.distances, math.inf))
    steps = field.directions
    length = {(a, b): length for a, b, length in edges(tiles, both, diagonal, cost)}
    for row, column in np.argwhere(np.isfinite(right)).tolist():
        dx, dy = steps[row, column].tolist()
        if field.distances[row, column] == 0:
            assert (dx, dy) == (0, 0)
            continue
        step = length[(column, row), (column + dx, row + dy)]
        assert field.distances[row, column] == field.distances[row + dy, column + dx] + step
    assert not steps[~np.isfinite(right)].any()
    expected_steps = np.where(np.isfinite(near.distances)[..., None], steps, 0)
    assert costs or np.array_equal(near.directions, expected_steps)  # of two ways that cost the same, either
    for column, row in rng.integers(0, (tiles.columns, tiles.rows), (5, 2)).tolist():
        path = tiles.find_path((column, row), goals, size=size, diagonal=diagonal, cost=cost).tolist()
        assert bool(path) == np.isfinite(right[row, column])
        if path:
            assert path[0] == [column, row]
            assert field.distances[tuple(path[-1])[::-1]] == 0
            walked = sum(length[tuple(a), tuple(b)] for a, b in itertools.pairwise(path))
            assert walked == pytest.approx(right[row, column], rel=1e-12)


def test_fields_are_those_of_scipy(each):
    each(same_as_scipy, CASES, of=53)


def test_paths_are_as_short_as_those_of_networkx():
    networkx = pytest.importorskip("networkx")
    lengths = []
    for seed in range(12):
        rng, tiles = random_map(seed, 0.25, seed % 2 == 0)
        graph = networkx.DiGraph()
        graph.add_nodes_from((x, y) for x in range(tiles.columns) for y in range(tiles.rows))
        graph.add_weighted_edges_from(edges(tiles, (1, 1), True))
        for _ in range(5):
            a, b = map(tuple, rng.integers(0, (tiles.columns, tiles.rows), (2, 2)).tolist())
            path = tiles.find_path(a, b)
            motion = tiles.is_solid(*a) or tiles.is_solid(*b) or not networkx.has_path(graph, a, b)
            assert (len(path) == 0) == motion
            if len(path):
                assert (tuple(path[0]), tuple(path[-1])) == (a, b)
                walked = sum(math.dist(p, q) for p, q in zip(path[1:], path[:-1], strict=True))
                assert walked * 10 == pytest.approx(networkx.dijkstra_path_length(graph, a, b))
                lengths.append(len(path))
    assert max(lengths) > 8


def test_a_body_that_fills_its_tiles_walks_every_step_of_a_field_without_a_hit():
    walked = 0
    for seed in range(12):
        size = 1 + seed % 2
        rng, tiles = random_map(seed, 0.15, seed % 3 == 0)
        world = bp.World()
        world.tiles = tiles
        goal = rng.integers(0, (tiles.columns, tiles.rows))
        tiles.flow_field(goal, size=size)
        for _ in range(10 * (seed % 4 == 1)):  # a slope counts at once, too
            column, row = rng.integers(0, (tiles.columns, tiles.rows)).tolist()
            if not tiles.is_solid(column, row):
                tiles.set_slope(column, row, *rng.random(2), base=["top", "bottom"][rng.integers(2)])
        field = tiles.flow_field(goal, size=size)
        body = world.add(bp.Box(0, 0, 10 * size, 10 * size))
        for row, column in np.argwhere(np.isfinite(field.distances)).tolist():
            body.move_to(10 * column, 10 * row)
            dx, dy = (10 * field.directions[row, column].astype(float)).tolist()
            move = world.move(body, dx, dy)
            assert not move.hits
            assert (move.x, move.y) == (10 * column + dx, 10 * row + dy)
            walked += 1
    assert walked > 300


def test_bodies_smaller_than_their_tiles_arrive_from_anywhere():
    """Round corners, wherever in their tile they begin: `directions_at` leads, `World.move_many` slides."""
    picture = ["........", ".######.", ".#....#.", ".#.##.#.", ".#.#..#.", ".#.####.", ".#......", "...####."]
    tiles = TileMap([[cell == "#" for cell in row] for row in picture], 32)
    rng = np.random.default_rng(1)
    for size, side in ((1, 22.0), (1, 28.0), (2, 50.0)):
        if size == 2:
            tiles = TileMap(np.kron(tiles.solid, np.ones((2, 2), bool)), 32)
        field = tiles.flow_field(np.array([4, 4]) * size, size=size)
        free = np.argwhere(np.isfinite(field.distances))[:, ::-1] * 32.0
        places = free + rng.random(free.shape) * (32 * size - side)
        world = bp.World()
        world.tiles = tiles
        walkers = world.add_many(np.hstack((places, places + side)))
        for _ in range(300 * size):
            motions = 5 * field.ways_at(world.positions + side / 2)
            world.move_many(walkers, motions[:, 0], motions[:, 1])
        assert (field.distances_at(world.positions + side / 2) == 0).all()


def test_a_field_is_kept_until_a_tile_changes():
    solid = np.zeros((5, 5), bool)
    solid[2, :4] = True
    tiles = TileMap(solid, 1)
    field = tiles.flow_field((0, 0), diagonal=False)
    assert tiles.flow_field([0, 0], diagonal=False) is field
    assert tiles.flow_field((0, 0)) is not field
    assert field.distances[4, 0] == 12
    tiles.set(0, 2, False)
    opened = tiles.flow_field((0, 0), diagonal=False)
    assert opened.distances[4, 0] == 4
    assert field.distances[4, 0] == 12, "a field belongs to its moment"
    solid[2, 0] = True  # behind the map's back
    assert tiles.flow_field((0, 0), diagonal=False).distances[4, 0] == 12
    tiles.set_one_way(4, 2, "top")
    assert tiles.flow_field((0, 0), diagonal=False).distances[4, 0] == 12, "the path leads up through it"
    tiles.set_one_way(4, 2, "bottom")
    assert np.isinf(tiles.flow_field((0, 0), diagonal=False).distances[4, 0])
    for column in range(5):  # no more are kept than may be wanted soon
        for row in range(5):
            tiles.flow_field((column, row))
    assert len(tiles._fields) == 8
    with pytest.raises(ValueError, match="read-only"):
        field.distances[0, 0] = 1


def test_what_is_far_is_not_looked_at():
    """A field with a limit keeps the tiles near the goal only, and is kept while those stay as they are."""
    solid = np.zeros((60, 50), bool)
    tiles = TileMap(solid, 2, origin=(-7, 3))
    near = tiles.flow_field((30, 40), max_distance=9)
    solid[:20] = True
    assert tiles.flow_field((30, 40), max_distance=9) is near
    centers = np.stack(np.meshgrid(np.arange(50), np.arange(60)), axis=-1).reshape(-1, 2) * 2.0 + (-6, 4)
    assert np.array_equal(near.distances_at(centers).reshape(60, 50), near.distances)
    ways = near.ways_at(centers).reshape(60, 50, 2)
    steps = near.directions.astype(float)
    lengths = np.linalg.norm(steps, axis=2, keepdims=True)
    np.testing.assert_allclose(ways, steps / np.where(lengths == 0, 1, lengths), atol=1e-12)
    assert near.path((30, 38)).tolist() == [[30, 38], [30, 39], [30, 40]]
    assert near.path((0, 0)).shape == (0, 2)
    solid[39, 30] = True
    assert tiles.flow_field((30, 40), max_distance=9).distances[38, 30] > near.distances[38, 30]


def test_a_long_path_through_a_maze_is_the_shortest():
    """Many more tiles than a search begins with room for."""
    rng = np.random.default_rng(3)
    for diagonal in (True, False, "corners"):
        tiles = TileMap(rng.random((120, 150)) < 0.3, 1)
        tiles.solid[58:63, 73:78] = False
        field = tiles.flow_field((75, 60), diagonal=diagonal)
        found = 0
        for column, row in rng.integers(0, (150, 120), (20, 2)).tolist():
            path = tiles.find_path((column, row), (75, 60), diagonal=diagonal)
            walked = np.linalg.norm(np.diff(path, axis=0), axis=1).sum() if len(path) else math.inf
            assert walked == pytest.approx(field.distances[row, column])
            found += len(path) > 0
        assert found > 5


def test_places_without_a_path():
    tiles = TileMap([[False, True, False]], 10)
    field = tiles.flow_field((0, 0))
    assert field.distances.tolist() == [[0, math.inf, math.inf]]
    assert field.distances_at([[5, 5], [25, 5], [-1, 5], [5, 11]]).tolist() == [0, *[math.inf] * 3]
    assert not field.ways_at([[5, 5], [25, 5], [-1, 5], [5, 11]]).any()
    assert field.path((2, 0)).shape == (0, 2)
    assert np.isinf(tiles.flow_field((1, 0)).distances).all(), "a solid goal cannot be reached"
    assert np.isinf(tiles.flow_field((0, 0), size=2).distances).all(), "too large for the map"
    assert np.isinf(tiles.flow_field(np.empty((0, 2))).distances).all()
    assert TileMap(np.empty((0, 0), bool), 1).flow_field(np.empty((0, 2))).distances.shape == (0, 0)
    assert tiles.find_path((2, 0), (2, 0)).tolist() == [[2, 0]]
    assert repr(field) == "<FlowField of 1 of 3 tiles, for bodies of (1, 1) tiles>"


@pytest.mark.parametrize(
    ("error", "said", "goal", "options"),
    [
        (
            IndexError,
            r"goal\[1\] = \[3, 0\] .* of 3 columns and 1 rows",
            [[0, 0], [3, 0]],
            {},
        ),
        (IndexError, r"goal\[0\] = \[0, -1\]", (0, -1), {}),
        (ValueError, r"goal\[0\] = \[0.5, 0.0\] must be whole", (0.5, 0), {}),
        (ValueError, "goal must be .column, row.", 3, {}),
        (ValueError, "size must be at least 1", (0, 0), {"size": 0}),
        (TypeError, "size must be one or two whole numbers", (0, 0), {"size": 1.5}),
        (TypeError, "size must be one or two whole numbers", (0, 0), {"size": (1, 2, 3)}),
        (ValueError, "diagonal must be True, False, .* got 'no'", (0, 0), {"diagonal": "no"}),
        (TypeError, "diagonal must be True, False", (0, 0), {"diagonal": None}),
        (ValueError, r"cost has shape \(2,\), the map .* \(1, 3\)", (0, 0), {"cost": [1, 2]}),
        (ValueError, r"cost\[0, 1\] = 0.5 must be at least 1", (0, 0), {"cost": [[1, 0.5, 2]]}),
        (ValueError, r"cost\[0, 2\] = nan must be at least 1", (0, 0), {"cost": [[1, 2, math.nan]]}),
        (ValueError, "max_distance = -1 must not be negative", (0, 0), {"max_distance": -1}),
    ],
)
def test_what_is_wrong_is_named(error, said, goal, options):
    with pytest.raises(error, match=said):
        TileMap([[False] * 3], 10).flow_field(goal, **options)


def test_the_start_of_a_path_lies_on_the_map():
    field = TileMap([[False]], 10).flow_field((0, 0))
    with pytest.raises(IndexError, match="start"):
        field.path((1, 0))
