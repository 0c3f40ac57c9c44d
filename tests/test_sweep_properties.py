"""Movement: what holds for every scene, and the same from `World.move_many`."""

from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from sweep_scenes import (
    boxes_of_tiles,
    exact_first_hit,
    go,
    overlaps,
    passes_through,
)

from broadphase import Box, TileMap, World, contact

# Whole numbers meet exactly, tenths and thirds by rounding, and far from the origin the rounding is coarse.
grains = st.sampled_from([1.0, 0.1, 1 / 3])
offsets = st.sampled_from([0.0, 1e3, -1e7])
whole = st.integers(-40, 40)
lengths = st.integers(0, 25)
rows = st.tuples(whole, whole, lengths, lengths)


@st.composite
def scenes(draw, whole_numbers=False):
    grain = 1.0 if whole_numbers else draw(grains)
    offset = 0.0 if whole_numbers else draw(offsets)

    def box(row):
        return (offset + row[0] * grain, offset + row[1] * grain, row[2] * grain, row[3] * grain)

    boxes = [
        (x, y, x + width, y + height) for x, y, width, height in map(box, draw(st.lists(rows, max_size=6)))
    ]
    tiles = None
    if draw(st.booleans()):
        tiles = TileMap(np.zeros((6, 6), np.bool_), 9 * grain, (offset - 30 * grain, offset - 30 * grain))
        for column, row in draw(st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5)), max_size=12)):
            tiles.set(column, row, True)
    motions = draw(st.lists(st.tuples(st.integers(-90, 90), st.integers(-90, 90)), min_size=1, max_size=5))
    scale = grain * draw(st.sampled_from([0.1, 1.0, 100.0] if not whole_numbers else [1.0]))
    return box(draw(rows)), [(dx * scale, dy * scale) for dx, dy in motions], boxes, tiles


blocking = st.sampled_from(["slide", "touch", "bounce"])


@settings(deadline=None)
@given(scenes(), blocking)
def test_never_inside_and_never_through(scene, response):
    box, motions, boxes, tiles = scene
    x, y, width, height = box
    blockers = boxes + boxes_of_tiles(tiles)
    for motion in motions:
        started_inside = any(overlaps(x, y, width, height, other) for other in blockers)
        move = go((x, y, width, height), motion, boxes, tiles, response)
        assert not any(overlaps(move.x, move.y, width, height, other) for other in blockers)
        stops = [hit.touch for hit in move.hits]
        stops = [*(stops[:1] if started_inside else [(x, y)]), *stops, (move.x, move.y)]
        slack = Fraction(1e-9) + Fraction(1e-14) * Fraction(max(abs(x), abs(y)))
        for start, goal in pairwise(stops):
            for other in blockers:
                assert not passes_through(start, goal, width, height, other, slack)
        times = [hit.time for hit in move.hits]
        assert times == sorted(times)
        assert all(0 <= time <= 1 for time in times)
        if response == "slide" and not started_inside:
            for axis in range(2):
                free = not any(hit.normal[axis] for hit in move.hits)
                assert not free or move[axis] == (x, y)[axis] + motion[axis]
        x, y = move.x, move.y


@settings(deadline=None)
@given(scenes(whole_numbers=True))
def test_the_first_hit_is_the_exact_one(scene):
    box, motions, boxes, tiles = scene
    blockers = boxes + boxes_of_tiles(tiles)
    assume(not any(overlaps(*box, other) for other in blockers))
    move = go(box, motions[0], boxes, tiles, "touch")
    expected = exact_first_hit(box, motions[0], blockers)
    if expected is None:
        assert move.hits == ()
        return
    time, _, number, axis = expected
    (hit,) = move.hits
    assert hit.time == float(time)
    assert hit.normal[axis] == (-1.0 if motions[0][axis] > 0 else 1.0)
    edge = blockers[number][axis + 2] if motions[0][axis] < 0 else blockers[number][axis] - box[axis + 2]
    assert hit.touch[axis] == pytest.approx(edge, abs=1e-300, rel=1e-15)
    named = hit.other if isinstance(hit.other, int) else tiles.bounds_of(*hit.other)
    assert named == (number if number < len(boxes) else blockers[number])


@settings(deadline=None)
@given(scenes())
def test_crossing_reports_the_bodies_on_the_path_and_changes_nothing(scene):
    box, motions, boxes, tiles = scene
    move = go(box, motions[0], boxes, tiles, "cross")
    assert (move.x, move.y) == (box[0] + motions[0][0], box[1] + motions[0][1])
    met = [hit.other for hit in move.hits]
    assert len(met) == len(set(met))
    for number, other in enumerate(boxes):
        if overlaps(*box, other) or overlaps(move.x, move.y, *box[2:], other):
            assert number in met


NUMBERS = st.integers(-20, 20).map(lambda k: k / 2) | st.floats(-20, 20, allow_subnormal=False)
SIZES = st.integers(1, 12).map(lambda k: k / 2) | st.floats(0.1, 6)
BOXES = st.builds(Box, NUMBERS, NUMBERS, SIZES, SIZES)


@given(
    st.lists(BOXES, max_size=8),
    st.lists(BOXES, max_size=3),
    BOXES,
    st.lists(st.tuples(NUMBERS, NUMBERS), min_size=1, max_size=4),
)
def test_a_platform_arrives_and_only_what_is_squeezed_is_inside(crates, walls, platform, motions):
    world = World()
    moving = world.add(platform, static=True)
    for shape, static in [*((wall, True) for wall in walls), *((crate, False) for crate in crates)]:
        if world.blocker(shape) is None:
            world.add(shape, static=static)
    for dx, dy in motions:
        x, y = moving.position
        before = {body: body.position for body in world}
        push = world.push(moving, dx, dy)
        assert moving.position == (x + dx, y + dy)
        for body in world:
            if body.static:
                continue
            taken = body in push.carried or body in push.pushed
            assert taken or body.position == before[body]
            near = [other for other in world.query_shape(body.shape) if other is not body]
            # A last bit is not inside: a share of a displacement is rounded.
            inside = {other for other in near if contact(body.shape, other.shape).depth > 1e-12}
            assert inside <= ({moving} if body in push.squeezed else set())
        for body in push.squeezed:
            world.remove(body)
