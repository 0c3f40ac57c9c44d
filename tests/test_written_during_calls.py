"""Another thread writes to an argument during a call: all of it counts as it was before, or as it is then.

An argument that is checked before it is copied is found: what is checked and what is used then differ, at the
moment between the two.
"""

import numpy as np
import pytest
from interrupting import Interrupt

import broadphase as bp
from broadphase.balls import BallSimulation
from broadphase.kernels.machine.mode import PLAIN

pytestmark = pytest.mark.skipif(PLAIN, reason="kernels that are Python are interrupted in their midst")

N = 40
LOW = np.random.default_rng(0).random((N, 2)) * 6
BOXES = np.hstack([LOW, LOW + 1])
IDS = np.arange(N)
ONES = np.ones(N)
FLAGS = IDS % 5 == 0
CIRCLES = np.hstack([LOW, LOW[:, :1] + 1])
PAIRS = np.column_stack([IDS[:-1], IDS[1:]])


def spoiled(array, value):
    """The same array with one entry that no call accepts."""
    bad = array.copy()
    bad.reshape(-1)[-1] = value
    return bad


NAN, TWICE, OUTSIDE = float("nan"), 0, -7
FUNCTIONS = {
    **{
        f"pairs, {method}": (BOXES, NAN, lambda a, method=method: bp.pairs(a, method=method))
        for method in bp.METHODS
    },
    "pairs, period": (BOXES, NAN, lambda a: bp.pairs(a, period=(9, 9))),
    "pairs, worlds": (BOXES.reshape(2, -1, 4), NAN, bp.pairs),
    "pairs, env": (IDS, None, lambda a: bp.pairs(BOXES, env=a)),
    "pairs, categories": (IDS, OUTSIDE, lambda a: bp.pairs(BOXES, categories=a)),
    "pairs, masks": (IDS, OUTSIDE, lambda a: bp.pairs(BOXES, masks=a)),
    "count_pairs": (BOXES, NAN, bp.count_pairs),
    "join, a": (BOXES, NAN, lambda a: bp.join(a, BOXES)),
    "join, b": (BOXES, NAN, lambda b: bp.join(BOXES, b)),
    "raycast": (BOXES, NAN, lambda a: bp.raycast(a, LOW, LOW + 1.0)),
    "raycast, origins": (LOW, NAN, lambda a: bp.raycast(BOXES, a, LOW + 1.0)),
    "explain": (BOXES, NAN, lambda a: str(bp.explain(a)).splitlines()[0]),
    "swept_pairs": (BOXES, NAN, lambda a: bp.swept_pairs(a, LOW)),
    "swept_pairs, motion": (LOW, NAN, lambda a: bp.swept_pairs(BOXES, a)),
    "neighbors": (LOW, NAN, lambda a: bp.neighbors(a, 1.0).distance),
    "neighbors, other": (LOW, NAN, lambda a: bp.neighbors(LOW, 1.0, other=a).distance),
    "neighbors, period": (LOW, NAN, lambda a: bp.neighbors(a, 1.0, period=(9, 9)).distance),
    "neighbors, r": (ONES, NAN, lambda r: bp.neighbors(LOW, r).distance),
    "nearest": (LOW, NAN, lambda a: bp.nearest(a, 3)),
    "nearest, other": (LOW, NAN, lambda a: bp.nearest(LOW, 3, other=a)),
    "count_neighbors": (LOW, NAN, lambda a: bp.count_neighbors(a, [1.0, 2.0])),
    "count_neighbors, r": (ONES, NAN, lambda r: bp.count_neighbors(LOW, r)),
    "contact_boxes": (BOXES, NAN, lambda a: bp.contact_boxes(a, BOXES)),
    "contact_circles": (CIRCLES, NAN, lambda a: bp.contact_circles(a, CIRCLES)),
    "contact_boxes, pairs": (PAIRS, OUTSIDE, lambda pairs: bp.contact_boxes(BOXES, BOXES, pairs)),
    "Polygon": (np.array([[0.0, 0], [4, 0], [0, 4]]), NAN, lambda a: bp.Polygon(a).points),
    "BallSimulation": (LOW, NAN, lambda a: BallSimulation(positions=a, radius=0.01).positions),
}


def plain(value):
    """The same with lists in place of arrays, which NumPy would take a hundred times as long to print."""
    if isinstance(value, np.ndarray):
        return value.dtype.str, value.shape, value.tolist()
    return list(map(plain, value)) if isinstance(value, (tuple, list)) else value


def checked(call, good, bad, ready, seen):
    """Write ``bad`` into an array that holds ``good`` at each early moment of a call, later at some."""

    def outcome(values, moment=-1):
        target, given = ready(), values.copy()
        with Interrupt(moment, lambda: given.__setitem__(..., bad)) as interrupt:
            try:
                result = call(target, given)
            except (ValueError, KeyError) as error:
                result = str(error)
        return repr(plain((result, seen(target)))), interrupt.hit

    outcomes = {outcome(good)[0], outcome(bad)[0]}
    assert len(outcomes) == 2
    k, written = 0, True
    while written:
        now, written = outcome(good, k)
        assert now in outcomes, f"moment {k}: {now}"
        k += 1 if k < 40 else k // 3


@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_function_sees_its_arrays_at_one_moment(name):
    good, value, call = FUNCTIONS[name]
    bad = good[::-1] // 2 if value is None else spoiled(good, value)
    checked(lambda _, given: call(given), good, bad, lambda: None, lambda _: None)


CHANGES = {
    "insert": (BOXES[0], NAN, lambda index, a: index.insert(a)),
    "insert_many": (BOXES, NAN, lambda index, a: index.insert_many(a)),
    "insert_many, static": (FLAGS, None, lambda index, a: index.insert_many(BOXES, static=a)),
    "insert_many, category": (IDS, OUTSIDE, lambda index, a: index.insert_many(BOXES, category=a)),
    "insert_many, env": (IDS, None, lambda index, a: index.insert_many(BOXES, env=a)),
    "move": (BOXES[0], NAN, lambda index, a: index.move(3, a)),
    "move_many, ids": (IDS, TWICE, lambda index, ids: index.move_many(ids, BOXES + 1)),
    "move_many, boxes": (BOXES, NAN, lambda index, a: index.move_many(IDS, a)),
    "update": (BOXES + 1, NAN, lambda index, a: index.update(a)),
    "update, float32": (BOXES.astype(np.float32), NAN, lambda index, a: index.update(a)),
    "remove_many": (IDS[:9], TWICE, lambda index, ids: index.remove_many(ids)),
    "query_box": (BOXES, NAN, lambda index, a: index.query_box(a)),
    "query_point": (LOW, NAN, lambda index, a: index.query_point(a)),
    "query_radius": (LOW, NAN, lambda index, a: index.query_radius(a, 1.0)),
    "query_radius, r": (ONES, NAN, lambda index, r: index.query_radius(LOW, r)),
    "raycast": (LOW, NAN, lambda index, a: index.raycast(a, [1, 0], 5.0)),
    "raycast, direction": (LOW, NAN, lambda index, a: index.raycast(LOW, a, 5.0)),
    "raycast, max_distance": (ONES, NAN, lambda index, a: index.raycast(LOW, [1, 0], a)),
    "raycast, ignore": (IDS, None, lambda index, ids: index.raycast(LOW, [1, 0], 5.0, ignore=ids)),
    "query_ray": (LOW, NAN, lambda index, a: index.query_ray(a, [1, 0], 5.0)),
    "nearest": (LOW, NAN, lambda index, a: index.nearest(a, 2)),
    "swept_pairs": (BOXES, NAN, lambda index, a: index.swept_pairs(a)),
}


@pytest.mark.covering
@pytest.mark.parametrize("period", [None, 9.0])
@pytest.mark.parametrize("name", CHANGES)
def test_an_index_sees_its_arrays_at_one_moment(name, period):
    good, value, call = CHANGES[name]
    if period is not None and name == "swept_pairs":
        pytest.skip("not there with a period")

    def ready():
        index = bp.BoxTree(period=period)
        index.insert_many(BOXES)
        index.pairs()
        return index

    bad = good[::-1].copy() if value is None else spoiled(good, value)
    checked(call, good, bad, ready, lambda index: (index.ids, index.boxes, index.pairs()))


POINTS = {
    "insert_many": (LOW, NAN, lambda index, a: index.insert_many(a)),
    "move": (LOW[0], NAN, lambda index, a: index.move(3, a)),
    "move_many, ids": (IDS, TWICE, lambda index, ids: index.move_many(ids, LOW + 1)),
    "move_many, points": (LOW, NAN, lambda index, a: index.move_many(IDS, a)),
    "remove_many": (IDS[:9], TWICE, lambda index, ids: index.remove_many(ids)),
    "neighbors": (LOW, NAN, lambda index, a: index.neighbors(a, 1.0).distance),
    "nearest": (LOW, NAN, lambda index, a: index.nearest(a, 2)),
}


@pytest.mark.parametrize("name", POINTS)
def test_a_point_index_sees_its_arrays_at_one_moment(name):
    good, value, call = POINTS[name]
    checked(
        call, good, spoiled(good, value), lambda: bp.PointIndex(LOW), lambda index: (index.ids, index.points)
    )


WORLD = {
    "add_many": (BOXES, NAN, lambda world, a: [body.id for body in world.add_many(a)]),
    "move_many, ids": (IDS, TWICE, lambda world, ids: world.move_many(ids, 1.0, 0.0).hits),
    "move_many, dx": (ONES, NAN, lambda world, dx: world.move_many(IDS, dx, 0.0).hits),
    "move_many, ways": (LOW, NAN, lambda world, ways: world.move_many(IDS, ways).hits),
    "walk_many, dx": (ONES, NAN, lambda world, dx: world.walk_many(IDS, dx, 0.0).places),
    "move_all": (LOW, NAN, lambda world, a: world.move_all(IDS, a)),
    "move_all, ids": (IDS, OUTSIDE, lambda world, ids: world.move_all(ids, LOW + 1)),
    "positions": (LOW, NAN, lambda world, a: setattr(world.bodies(), "positions", a)),
    "centers": (LOW, NAN, lambda world, a: setattr(world.bodies(), "centers", a)),
    "velocities": (LOW, NAN, lambda world, a: setattr(world.bodies(), "velocities", a)),
    "turn_many": (ONES[:9], NAN, lambda world, a: world.turn_many(IDS[:9], a)),
    "remove_many": (IDS[:9], TWICE, lambda world, ids: world.remove_many(ids)),
    "query_box": (BOXES, NAN, lambda world, a: world.query_box(a)),
    "query_point": (LOW, NAN, lambda world, a: world.query_point(a)),
    "query_radius": (LOW, NAN, lambda world, a: world.query_radius(a, 1.0)),
    "query_radius, r": (ONES, NAN, lambda world, r: world.query_radius(LOW, r)),
    "raycast_many": (LOW, NAN, lambda world, a: world.raycast(a, (1, 0))),
    "raycast_many, ignore": (IDS, OUTSIDE, lambda world, ids: world.raycast(LOW, (1, 0), ignore=ids)),
    "nearest_many": (LOW, NAN, lambda world, a: world.nearest(a, 2)),
}


@pytest.mark.parametrize("name", WORLD)
def test_a_world_sees_its_arrays_at_one_moment(name):
    good, value, call = WORLD[name]

    def ready():
        world = bp.World()
        world.add_many(BOXES)
        world.query_box((0, 0, 1, 1))
        return world

    checked(
        call,
        good,
        spoiled(good, value),
        ready,
        lambda world: (world.positions, world.bodies().velocities, [body.angle for body in world]),
    )
