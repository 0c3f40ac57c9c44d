"""`World.line_of_sight` of many lines: the answers of single ones, in every kind of world."""

import numpy as np
import pytest
from cases import examples
from hypothesis import given, settings
from hypothesis import strategies as st

import broadphase as bp


def scene(seed, period=None, tiles=False, broadphase="auto"):
    random = np.random.default_rng(seed)
    world = bp.World(broadphase, period=period)
    if tiles:
        world.tiles = bp.TileMap(random.random((8, 8)) < 0.1, tile_size=5)
    for k in range(40):
        x, y = random.integers(0, 40, 2).tolist()
        shape = bp.Circle(x, y, 1.5) if k % 3 else bp.Box(x, y, 2, 3)
        world.add(shape, tag="wall" if k % 2 else "bush", sensor=k % 7 == 0, static=k % 4 == 0)
    return world, random


@settings(max_examples=examples(30))
@given(st.integers(0, 10_000), st.sampled_from([None, (40, 40), (40, None)]), st.booleans())
@pytest.mark.parametrize("broadphase", ["auto", "uniform_grid"])
def test_many_lines_are_as_free_as_single_ones(broadphase, seed, period, tiles):
    world, random = scene(seed, period, tiles and period is None, broadphase)
    starts, ends = random.integers(0, 40, (2, 60, 2)).astype(float)
    for rules in ({}, {"tag": "wall"}, {"ignore": world.body(3)}, {"tiles": False}):
        single = [
            world.line_of_sight(tuple(a), tuple(b), **rules)
            for a, b in zip(starts.tolist(), ends.tolist(), strict=True)
        ]
        assert world.line_of_sight(starts, ends, **rules).tolist() == single
        assert world.line_of_sight(ends, starts, **rules).tolist() == single


def test_bodies_and_points_one_and_many():
    world, random = scene(5)
    guard, others = world.body(1), world.bodies("wall")
    single = [world.line_of_sight(guard, one) for one in others]
    assert True in single
    assert False in single
    assert world.line_of_sight(guard, others).tolist() == single
    assert world.line_of_sight(list(others), guard).tolist() == single
    assert world.line_of_sight(guard, [*others[:3], (4.0, 7.0)]).tolist() == [
        *single[:3],
        world.line_of_sight(guard, (4.0, 7.0)),
    ]
    grid = random.uniform(0, 40, (3, 4, 2))
    found = world.line_of_sight(guard, grid)
    assert found.shape == (3, 4)
    assert found.dtype == np.bool_
    assert found.ravel().tolist() == world.line_of_sight(guard, grid.reshape(-1, 2)).tolist()
    assert world.line_of_sight((0, 0), np.empty((0, 2))).shape == (0,)
    assert world.line_of_sight(world.bodies("nobody"), guard).shape == (0,)


def test_what_begins_where_the_line_ends_does_not_block():
    for period in (None, (100, 100)):
        world = bp.World(period=period)
        world.add(bp.Box(10, -5, 2, 10))
        assert world.line_of_sight((0, 0), (10, 0))
        assert world.line_of_sight([(0, 0)], [(10, 0)]).tolist() == [True]
        assert not world.line_of_sight((0, 0), (10.5, 0))


def test_bad_lines_are_refused():
    world, other = bp.World(), bp.World()
    stranger = other.add(bp.Box(0, 0, 1, 1))
    for call, said in (
        (lambda: world.line_of_sight([(0, 0), (1, 1)], [(0, 0)] * 3), "a has 2 rows and b has 3"),
        (lambda: world.line_of_sight((0, 0), [(0, 0), (np.nan, 1)]), r"b\[1\]"),
        (lambda: world.line_of_sight((0, 0), [(0, 0), stranger]), r"b\[1\]"),
        (lambda: world.line_of_sight((0, 0), [(0, 0, 0)]), "b must be"),
    ):
        with pytest.raises(ValueError, match=said):
            call()
