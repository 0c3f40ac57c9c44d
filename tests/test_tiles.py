"""The tile map: cells, coordinates and rays, against exact arithmetic and slow walks."""

import math
import pickle
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from broadphase import Box, Circle, Tile, TileMap
from broadphase.world.tiles import Cells, TileHit

PICTURE = """
    .....#
    ..##..
    #.....
"""


def level(picture=PICTURE, tile_size=10, origin=(0, 0)):
    rows = [line.strip() for line in picture.split()]
    return TileMap([[cell == "#" for cell in row] for row in rows], tile_size, origin)


# --- making and changing ------------------------------------------------------------------------------


@pytest.mark.smaller_set
def test_cells():
    tiles = level()
    assert (tiles.columns, tiles.rows, tiles.tile_size, tiles.origin) == (6, 3, (10, 10), (0, 0))
    assert tiles.bounds == (0, 0, 60, 30)
    assert tiles.is_solid(2, 1)
    assert not tiles.is_solid(1, 2)
    for outside in [(-1, 2), (0, -1), (6, 0), (5, 3)]:
        assert not tiles.is_solid(*outside)


def test_set_counts_at_once():
    tiles = level()
    assert not len(tiles.tiles_in((0, 0, 10, 10)))
    tiles.set(0, 0, True)
    assert tuple(tiles.tiles_in((0, 0, 10, 10))[0]) == Tile(0, 0)
    tiles.set(0, 0, False)
    assert not len(tiles.tiles_in((0, 0, 10, 10)))
    tiles.solid[0, 0] = True
    assert tuple(tiles.tiles_in((0, 0, 10, 10))[0]) == Tile(0, 0)


def test_the_array_is_the_map():
    solid = np.zeros((4, 5), np.bool_)
    tiles = TileMap(solid, 32)
    assert tiles.solid is solid
    solid[1, 2] = True
    assert tiles.is_solid(2, 1)
    for other in (np.asfortranarray(solid), solid.T, solid[:, ::2], np.broadcast_to(solid[0], (3, 5))):
        tiles = TileMap(other, 32)
        assert (tiles.solid == other).all()
        tiles.set(0, 0, True)


def test_a_huge_map_is_not_copied():
    solid = np.zeros((10_000, 10_000), np.bool_)
    tiles = TileMap(solid, 16)
    solid[9_999, 9_999] = True
    assert tiles.solid is solid
    assert tiles.raycast((0, 159_999), (1, 0)).tile == (9_999, 9_999)
    assert tiles.tiles_in((-math.inf, 150_000, math.inf, math.inf)).tolist() == [[9_999, 9_999]]


def test_copies_and_pickles_diverge():
    tiles = level()
    tiles.set_one_way(1, 1, "top")
    for other in (tiles.copy(), pickle.loads(pickle.dumps(tiles))):
        assert (other.solid == tiles.solid).all()
        assert (other.tile_size, other.origin) == (tiles.tile_size, tiles.origin)
        assert other.one_way_sides(1, 1) == ("top",)
        other.set(0, 0, True)
        other.set_one_way(1, 1, ())
    assert not tiles.is_solid(0, 0)
    assert tiles.one_way_sides(1, 1) == ("top",)
    assert repr(tiles) == "<TileMap of 6 x 3 tiles of 10 x 10 at (0.0, 0.0)>"


def test_one_way():
    tiles = level()
    tiles.set_one_way(0, 0, ())
    assert tiles.one_way is None
    tiles.set_one_way(0, 0, "top")
    tiles.set_one_way(1, 0, ["left", "bottom"])
    assert tiles.one_way_sides(0, 0) == ("top",)
    assert tiles.one_way_sides(1, 0) == ("left", "bottom")
    assert tiles.one_way_sides(2, 0) == tiles.one_way_sides(-1, 0) == ()
    assert tiles.one_way.tolist()[0] == [4, 9, 0, 0, 0, 0]
    assert not tiles.is_solid(0, 0)
    assert tiles.raycast((5, -5), (0, 1), 24) is None
    tiles.set(0, 0, True)
    tiles.set_one_way(0, 0, ())
    assert tiles.is_solid(0, 0)
    tiles.set_one_way(0, 0, "top")
    assert not tiles.is_solid(0, 0)
    same = TileMap(tiles.solid, 10, one_way=tiles.one_way)
    assert same.one_way_sides(1, 0) == ("left", "bottom")


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: TileMap([[0, 1]], 32), TypeError, "ids > 0"),
        (lambda: TileMap([True], 32), ValueError, "2-D"),
        (lambda: TileMap([[True]], 0), ValueError, "must be positive"),
        (lambda: TileMap([[True]], (32, -1)), ValueError, "must be positive"),
        (lambda: TileMap([[True]], math.nan), ValueError, "must be finite"),
        (lambda: TileMap([[True]], (1, 2, 3)), ValueError, "tile_size must be 2 numbers"),
        (lambda: TileMap([[True]], 1, (1e17, 0)), ValueError, "the edges would coincide"),
        (lambda: TileMap([[True]], 1, one_way=[[4]]), TypeError, "uint8"),
        (lambda: TileMap([[True]], 1, one_way=np.zeros((2, 2), np.uint8)), ValueError, "shape"),
        (lambda: level().set(6, 0, True), IndexError, r"tile \(6, 0\) lies outside"),
        (lambda: level().set(-1, 0, True), IndexError, "outside"),
        (lambda: level().set(0.5, 0, True), TypeError, "whole numbers"),
        (lambda: level().set_one_way(0, 3, "top"), IndexError, "outside"),
        (lambda: level().set_one_way(0, 0, "above"), ValueError, "unknown side 'above'"),
        (lambda: level().cells((1, 0, 0, 1)), ValueError, "min_x"),
        (lambda: level().cells((math.nan, 0, 0, 1)), ValueError, "NaN"),
        (lambda: level().cells((0, 0, 1)), ValueError, "4 numbers"),
        (lambda: level().tile_at(math.inf, 0), ValueError, "x must be finite"),
        (lambda: level().raycast((0, 0), (0, 0)), ValueError, "no length"),
        (lambda: level().raycast((0, 0), (1, 0), -1), ValueError, "max_distance"),
        (lambda: level().raycast((0, 0), (1, 0), math.nan), ValueError, "max_distance"),
        (lambda: level().raycast((0, math.inf), (1, 0)), ValueError, "origin must be finite"),
        (lambda: level().raycast([[0, math.inf]], [[1, 0]]), ValueError, r"origin\[0\]"),
        (lambda: level().raycast([0, 0], [0, 0]), ValueError, "no length"),
        (lambda: level().raycast([[0, 0]], [[1, 0], [0, 0]]), ValueError, r"direction\[1\] has no length"),
        (lambda: level().raycast((0, 0, 0), (1, 0)), ValueError, "origin must be 2 numbers"),
        (lambda: level().raycast([0, 0, 0], (1, 0)), ValueError, r"\(m, 2\)"),
        (lambda: level().raycast(np.zeros((2, 2)), np.ones((3, 2))), ValueError, "2 rows"),
        (lambda: level().line_of_sight(("a", "b"), (1, 0)), TypeError, "real numbers"),
    ],
)
def test_bad_arguments_are_named(call, error, message):
    with pytest.raises(error, match=message):
        call()


# --- cells and coordinates ----------------------------------------------------------------------------


@pytest.mark.smaller_set
def test_tiles_and_coordinates():
    tiles = level(tile_size=(10, 20), origin=(-5, 100))
    assert tiles.tile_at(-5, 100) == Tile(0, 0)
    assert tiles.tile_at(4.9, 119.9) == Tile(0, 0)
    assert tiles.tile_at(5, 120) == Tile(1, 1)
    assert tiles.tile_at(-5.1, 100) is None
    assert tiles.tile_at(55, 100) is None
    assert tiles.tile_at(54.9, 160) is None
    assert tiles.tile_at(-1e300, 1e300) is None
    assert tiles.bounds_of(2, 1) == (15, 120, 25, 140)
    assert tiles.bounds_of(-1, 7) == (-15, 240, -5, 260)


@pytest.mark.smaller_set
def test_cells_of_a_box():
    tiles = level()
    assert tiles.cells((0, 0, 10, 10)) == Cells(range(1), range(1))
    assert tiles.cells((9.5, 0, 10.5, 20)) == Cells(range(2), range(2))
    assert tiles.cells(Box(5, 5, 10, 10)) == Cells(range(2), range(2))  # at most four, if not larger
    assert tiles.cells(Circle(10, 10, 1)) == Cells(range(2), range(2))
    assert tiles.cells((-100, 20, 100, 500)) == Cells(range(6), range(2, 3))
    assert list(tiles.cells((70, 0, 80, 10)).columns) == []
    assert list(tiles.cells((-20, 0, 0, 10)).columns) == []
    assert tiles.cells((5, 5, 5, 5)) == Cells(range(1), range(1))  # a point
    assert list(tiles.cells((10, 5, 10, 5)).columns) == []  # a point on an edge lies in neither
    assert tiles.cells((-math.inf, -1e300, math.inf, 1e300)) == Cells(range(6), range(3))


@pytest.mark.smaller_set
def test_solid_tiles_in_a_box():
    tiles = level()
    assert tiles.tiles_in((0, 0, 60, 30)).tolist() == [[5, 0], [2, 1], [3, 1], [0, 2]]
    assert tiles.tiles_in((25, 5, 60, 15)).tolist() == [[5, 0], [2, 1], [3, 1]]
    assert tiles.tiles_in((0, 0, 20, 20)).tolist() == []
    assert tuple(tiles.tiles_in((0, 0, 60, 30))[0]) == Tile(5, 0)
    assert not len(tiles.tiles_in((0, 0, 20, 20)))
    assert tuple(tiles.tiles_in(Box(9, 19, 2, 2))[0]) == Tile(0, 2)


def test_an_empty_map():
    for tiles in (TileMap(np.zeros((0, 0), np.bool_), 8), TileMap([[]], 8)):
        assert tiles.tiles_in((-9, -9, 9, 9)).shape == (0, 2)
        assert tiles.raycast((0, 0), (1, 1)) is None
        assert tiles.tile_at(0, 0) is None
        assert tiles.line_of_sight((0, 0), (5, 5))


sizes = st.floats(1e-3, 1e6)
origins = st.floats(-1e6, 1e6)


@settings(deadline=None)
@given(sizes, origins, st.integers(0, 50), st.sampled_from([-1, 0, 1]), st.floats(0, 1))
def test_cells_agree_with_their_edges(size, origin, k, nudge, within):
    """Whatever the rounding of the division: a cell's edges say what it holds."""
    tiles = TileMap(np.zeros((1, 40), np.bool_), size, (origin, 0.0))
    at_edge = tiles.bounds_of(k, 0)[0]
    for x in (math.nextafter(at_edge, nudge * math.inf) if nudge else at_edge, at_edge + within * size):
        tile = tiles.tile_at(x, size / 2)
        if tile is None:
            assert x < tiles.bounds[0] or x >= tiles.bounds[2]
        else:
            left, _, right, _ = tiles.bounds_of(*tile)
            assert left <= x < right


@settings(deadline=None)
@given(sizes, origins, st.lists(st.floats(-3, 43), min_size=2, max_size=2), st.booleans())
def test_boxes_overlap_the_cells_that_brute_force_finds(size, origin, ends, on_edges):
    tiles = TileMap(np.zeros((1, 40), np.bool_), size, (origin, 0.0))
    lo, hi = sorted(origin + (int(end) if on_edges else end) * size for end in ends)
    expected = [k for k in range(40) if tiles.bounds_of(k, 0)[0] < hi and lo < tiles.bounds_of(k, 0)[2]]
    assert list(tiles.cells((lo, 0.0, hi, size)).columns) == expected


# --- rays ---------------------------------------------------------------------------------------------


@pytest.mark.smaller_set
@pytest.mark.parametrize(
    ("origin", "direction", "tile", "distance", "normal", "point"),
    [
        ((5, 15), (1, 0), (2, 1), 15, (-1, 0), (20, 15)),
        ((5, 15), (7, 0), (2, 1), 15, (-1, 0), (20, 15)),  # of any length
        ((55, 15), (-1, 0), (3, 1), 15, (1, 0), (40, 15)),
        ((25, 5), (0, 1), (2, 1), 5, (0, -1), (25, 10)),
        ((25, 29), (0, -1), (2, 1), 9, (0, 1), (25, 20)),
        ((-500, 15), (1, 0), (2, 1), 520, (-1, 0), (20, 15)),  # from outside
        ((25, 1e6), (0, -1), (2, 1), 1e6 - 20, (0, 1), (25, 20)),
        ((14, 2), (3, 4), (2, 1), 10, (-1, 0), (20, 10)),  # onto a corner: the side
        ((25, 15), (1, 0), (2, 1), 0, (0, 0), (25, 15)),  # from within
        ((20, 15), (1, 0), (2, 1), 0, (-1, 0), (20, 15)),  # from its edge
        ((40, 15), (-1, 0), (3, 1), 0, (1, 0), (40, 15)),
        ((65, 10), (-1, 0), (5, 0), 5, (1, 0), (60, 10)),  # along an edge between two solid tiles
        ((60, 10), (-1, 0), (5, 0), 0, (1, 0), (60, 10)),
        ((55, 10), (-1, 0), (5, 0), 0, (0, 0), (55, 10)),
    ],
)
def test_raycast(origin, direction, tile, distance, normal, point):
    tiles = level()
    tiles.set(5, 1, origin[1] == 10)
    if origin[1] == 10:
        tile = (5, 1)
    assert tiles.raycast(origin, direction) == TileHit(Tile(*tile), distance, normal, point)
    assert tiles.raycast(origin, direction, distance) is not None
    if distance:
        assert tiles.raycast(origin, direction, math.nextafter(distance, 0)) is None


@pytest.mark.smaller_set
@pytest.mark.parametrize(
    ("origin", "direction"),
    [
        ((5, 5), (-1, 0)),
        ((5, 15), (-1, 0)),
        ((5, 20), (0, -1)),  # away from the tile on whose edge it starts
        ((20, 15), (-1, 0)),
        ((5, 9), (1, 1e-9)),
        ((-5, 5), (-1, 0)),
        ((25, 20), (1, 0)),  # along the lower edge of solid tiles
        ((5, 10), (1, 0)),  # and the upper one
        ((20, -5), (0, 1)),
        ((500, 15), (1, 0)),
        ((10, 0), (1, -1)),
        ((10, 30), (1, -1)),  # through the corner at 20, 20, between two free tiles
    ],
)
def test_raycast_that_hits_nothing(origin, direction):
    tiles = level()
    tiles.set(2, 1, origin != (10, 30))
    tiles.set(3, 1, origin != (10, 30))
    tiles.set(5, 0, origin != (5, 9))
    assert tiles.raycast(origin, direction, 45) is None


@pytest.mark.smaller_set
def test_no_ray_slips_between_two_solid_corners():
    tiles = level(
        """
        .#
        #.
        """
    )
    for start, end in [((0, 0), (20, 20)), ((20, 20), (0, 0)), ((5, 5), (15, 15)), ((12, 12), (3, 3))]:
        assert not tiles.line_of_sight(start, end)
        assert tiles.raycast(start, np.subtract(end, start)) is not None
    tiles.set(1, 0, False)
    assert tiles.line_of_sight((0, 0), (20, 20))


@pytest.mark.smaller_set
def test_line_of_sight():
    tiles = level()
    assert tiles.line_of_sight((5, 5), (35, 5))
    assert not tiles.line_of_sight((5, 15), (55, 15))
    assert tiles.line_of_sight((5, 15), (20, 15))  # up to the wall
    assert not tiles.line_of_sight((5, 15), (20.5, 15))
    assert tiles.line_of_sight((20, 15), (20, 5))
    assert not tiles.line_of_sight((25, 15), (25, 15))
    assert tiles.line_of_sight((-1e9, -5), (1e9, -5))
    monsters = np.array([[35, 5], [55, 15], [35, 25], [25, 5]])
    assert tiles.line_of_sight((5, 15), monsters).tolist() == [
        tiles.line_of_sight((5, 15), monster) for monster in monsters
    ]
    assert tiles.line_of_sight(monsters, monsters[::-1]).shape == (4,)


def slow_raycast(tiles, origin, direction):
    """Enter every solid tile as a box, in exact arithmetic; the smallest time, over open tiles."""
    best = None
    for row, column in np.argwhere(tiles.solid):
        bounds = [Fraction(v) for v in tiles.bounds_of(int(column), int(row))]
        enter, leave = Fraction(0), None
        inside = True
        for axis in range(2):
            at, motion = Fraction(origin[axis]), Fraction(direction[axis])
            lo, hi = bounds[axis], bounds[axis + 2]
            if motion == 0:
                inside &= lo < at < hi
                continue
            first, last = sorted(((lo - at) / motion, (hi - at) / motion))
            enter = max(enter, first)
            leave = last if leave is None else min(leave, last)
        if inside and leave > enter and (best is None or enter < best):
            best = enter
    return best


coordinates = st.integers(-30, 110)


@settings(deadline=None)
@given(
    arrays(np.bool_, (5, 6)),
    st.tuples(coordinates, coordinates),
    st.tuples(st.integers(-9, 9), st.integers(-9, 9)).filter(any),
)
def test_rays_against_a_slow_walk(solid, origin, direction):
    tiles = TileMap(solid, 16)
    hit = tiles.raycast(origin, direction)
    expected = slow_raycast(tiles, origin, direction)
    length = math.hypot(*direction)
    if expected is not None:
        assert hit.distance <= float(expected) * length * (1 + 1e-12)
    if hit is None:
        return
    assert tiles.is_solid(*hit.tile)
    bounds = tiles.bounds_of(*hit.tile)
    assert all(bounds[axis] - 1e-9 <= hit.point[axis] <= bounds[axis + 2] + 1e-9 for axis in range(2))
    if expected is None or hit.distance < float(expected) * length * (1 - 1e-12):
        # Earlier than any open tile: between two solid ones.
        along_edge = 0 in direction
        at_corner = all((value / 16).is_integer() for value in np.round(hit.point, 9))
        assert along_edge or at_corner


@settings(deadline=None)
@given(
    arrays(np.bool_, (5, 6)),
    st.tuples(st.floats(-5, 100), st.floats(-5, 90)),
    st.tuples(st.floats(-5, 100), st.floats(-5, 90)),
)
def test_sight_is_mutual(solid, a, b):
    tiles = TileMap(solid, 16)
    assert tiles.line_of_sight(a, b) == tiles.line_of_sight(b, a)


def test_many_rays_equal_single_ones():
    random = np.random.default_rng(3)
    tiles = TileMap(random.random((30, 40)) < 0.1, (7, 5), (-20, 11))
    origins = random.uniform(-40, 280, (300, 2))
    directions = random.normal(size=(300, 2))
    many = tiles.raycast(origins, directions, 60)
    for k in range(300):
        one = tiles.raycast(origins[k], directions[k], 60)
        if one is None:
            assert many.tiles[k].tolist() == [-1, -1]
            assert many.distances[k] == math.inf
        else:
            assert tuple(many.tiles[k]) == one.tile
            assert (many.distances[k], tuple(many.normals[k])) == (one.distance, one.normal)
    fan = tiles.raycast(origins[0], directions)
    assert (fan.tiles == tiles.raycast(np.repeat(origins[:1], 300, axis=0), directions).tiles).all()
    assert tiles.raycast(np.empty((0, 2)), np.empty((0, 2))).tiles.shape == (0, 2)


def test_rays_of_any_size():
    tiles = TileMap(np.ones((1, 1), np.bool_), 1e-3)
    assert tiles.raycast((-1e300, 5e-4), (1e-300, 0)).distance == 1e300
    assert tiles.raycast((-1.0, 5e-4), (5e-324, 0)).tile == (0, 0)
    assert tiles.raycast((-1.0, -1e308), (0, 1e308)) is None


def test_a_map_drawn_as_text():
    drawn = TileMap(["# .", "@x#"], 8, origin=(1, 2))
    assert drawn.solid.tolist() == [[True, False, False], [True, True, True]]
    assert TileMap(("..",), 1).solid.tolist() == [[False, False]]
    assert TileMap([""], 1).solid.shape == (1, 0)
    for solid, error, said in (
        (["##", "#"], ValueError, r"solid\[1\] has 1 characters, solid\[0\] has 2"),
        ("##\n##", TypeError, r"text.splitlines\(\)"),
        (["##", [True, True]], TypeError, r"solid\[1\] must be text"),
    ):
        with pytest.raises(error, match=said):
            TileMap(solid, 8)
