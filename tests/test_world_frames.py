"""Whole frames of a world call no kernel with types that it was not compiled for, and little Python."""

import random
import sys

import numpy as np
import pytest

import broadphase as bp
from broadphase.kernels.machine.kernel import Kernel
from broadphase.kernels.machine.mode import PLAIN


@pytest.mark.skipif(PLAIN, reason="nothing is compiled")
@pytest.mark.parametrize("period", [None, (60.0, None)])
def test_no_kernel_of_a_frame_is_called_with_types_that_it_was_not_compiled_for(monkeypatch, period):
    """Such a call works, by a way that takes 20 us and more, without a word."""
    slow = set()

    def noted(kernel, *arguments):
        slow.add(kernel.name)
        return called(kernel, *arguments)

    called = Kernel.__call__
    for count in (1, 5, 30, 300):
        world = bp.World(period=period)
        draw = random.Random(count)
        shapes = [bp.Box(draw.uniform(0, 50), draw.uniform(0, 50), 2, 2) for _ in range(count + 40)]
        movers = world.add_many([*shapes[:count], bp.Circle(9, 9, 2)], tag="m")
        world.add_many(shapes[count:], tag="wall", static=True)
        for other in ("m", "wall"):
            world.on("m", other, lambda c: None, many=lambda rows: None)
        with monkeypatch.context() as patch:
            patch.setattr(Kernel, "__call__", noted)
            for response in ("slide", "cross", "touch", "bounce"):
                world.move_many(movers, 0.5, 0.25, response)
                world.update()
                movers.velocities = 1.5, -0.5
                world.step(0.1)
                world.move(movers[0], 0.5, 0.5, response)
                movers.positions += 0.01
                world.update()
            world.query_point((5, 5)), world.query_box((0, 0, 9, 9)), world.query_radius((5, 5), 2)
            world.raycast((5, 5), (1, 0), 9), world.nearest((5, 5)), world.line_of_sight((5, 5), (9, 0.5))
            world.raycast([(5, 5)], (1, 0), 9), world.nearest([(5, 5)]), world.line_of_sight((5, 5), [(9, 1)])
            world.restore(world.snapshot())
    assert not slow


@pytest.mark.skipif(PLAIN, reason="kernels are Python, too")
@pytest.mark.parametrize(("movers", "walls"), [(30, 200), (1_000, 1_000)])
def test_a_frame_is_few_calls_of_python(movers, walls):
    """They cost more than the kernels of a small world, and no clock is needed to count them."""
    draw = np.random.default_rng(movers)
    places = draw.random((movers + walls, 2)) * (4 * (movers + walls)) ** 0.5
    world, boxes = bp.World(), np.hstack((places, places + 1))
    ids = world.add_many(boxes[:movers], tag="m").ids
    world.add_many(boxes[movers:], tag="wall", static=True)
    world.on("m", "m"), world.on("m", "wall")
    ways, events = draw.normal(size=(movers, 2)) * 0.1, []
    for frame in range(6):
        events.clear()
        sys.setprofile(lambda code, event, _: events.append(event))
        try:
            world.move_many(ids, ways if frame % 2 else -ways)
            world.update()
        finally:
            sys.setprofile(None)
    assert events.count("call") <= 60


@pytest.mark.skipif(PLAIN, reason="kernels are Python, too")
@pytest.mark.parametrize("name", ["move_many", "walk_many"])
def test_a_crowd_in_which_each_overlaps_many_moves_in_few_calls_of_python(name):
    """Where each was moved alone, 20,000 took a minute."""
    places = np.random.default_rng(0).random((600, 2)) * 10
    world, events = bp.World(), []
    bodies = world.add_many(np.hstack((places, places + 1)))
    sys.setprofile(lambda code, event, _: events.append(event))
    try:
        getattr(world, name)(bodies, 0.1, 0.2, movers_block=True)
    finally:
        sys.setprofile(None)
    assert events.count("call") <= 1_000
