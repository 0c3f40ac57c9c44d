"""The nearest bodies of many points: to the last bit what a loop over single points says."""

import math

import numpy as np
import pytest
from test_world_raycast_many import RULES, mixed_world

from broadphase import Box, Circle, World


def check(world, points, k, ignore=None, each=None, **rules):
    found = world.nearest(points, k, ignore=ignore, **rules)
    assert found.ids.shape == found.distances.shape == (len(points), k)
    each = [ignore] * len(points) if each is None else each
    for row, point in enumerate(points.tolist()):
        ids, distances = world.nearest(tuple(point), k, ignore=each[row], **rules)
        missing = k - len(ids)
        assert found.ids[row].tolist() == ids.tolist() + [-1] * missing
        assert found.distances[row].tolist() == distances.tolist() + [math.inf] * missing


@pytest.mark.parametrize("count", [0, 1, 60, 400])
def test_many_points_are_single_points(count):
    world, random = mixed_world(count, count, 120.0)
    for rules in RULES:
        rules = {name: value for name, value in rules.items() if name != "tiles"}
        points = random.uniform(-30, 150, (12, 2)).round(1)
        for k in (1, 4, 90):
            check(world, points, k, **rules)
    bodies = list(world)
    check(world, np.array([body.position for body in bodies]).reshape(-1, 2), 3, world.ids, bodies)
    assert world.nearest(np.empty((0, 2)), 2).ids.shape == (0, 2)


def test_equals_come_by_id_and_large_bounds_are_not_believed():
    world = World()
    for x in (5, -5, 5):
        world.add(Circle(x, 0, 1))
    far = world.add(Box(3, 3, 40, 40))
    far.angle = 45  # its bounds hold the point, the box does not
    assert world.nearest([[0, 0]], 3).ids.tolist() == [[0, 1, 2]]
    check(world, np.array([[0.0, 0.0], [-3.0, 20.0]]), 4)


def test_bad_questions_are_refused():
    world = World()
    for call, said in [
        (lambda: world.nearest([[0, math.nan]]), r"point\[0\]"),
        (lambda: world.nearest([[0, 0]], 0), "k must be at least 1"),
        (lambda: world.nearest([[0, 0]], ignore=[4]), r"ignore\[0\] = 4"),
    ]:
        with pytest.raises(ValueError, match=said):
            call()
