"""What must never happen to a body that moves, whatever the world."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from world_helpers import world_with

from broadphase import Box, Circle, TileMap, World
from broadphase.geometry.narrow_phase import contact

NUMBERS = st.integers(-20, 20).map(lambda k: k / 2) | st.floats(-20, 20, allow_subnormal=False)
SIZES = st.integers(1, 12).map(lambda k: k / 2) | st.floats(0.1, 6)
BOXES = st.builds(Box, NUMBERS, NUMBERS, SIZES, SIZES)
CIRCLES = st.builds(Circle, NUMBERS, NUMBERS, SIZES)
SCENES = st.lists(BOXES | CIRCLES, max_size=8)
WAYS = st.lists(st.tuples(NUMBERS, NUMBERS), min_size=1, max_size=5)


def is_free(world, body, slack):
    """Whether nothing overlaps a body by more than a rounding."""
    for other in world:
        met = None if other is body else contact(body.shape, other.shape)
        if met is not None and met.depth > slack:
            return False
    tiles = [] if world.tiles is None else world.tiles.tiles_in(body.bounds).tolist()
    for column, row in tiles:
        left, top, right, bottom = world.tiles.bounds_of(column, row)
        met = contact(body.shape, Box(left, top, right - left, bottom - top))
        if met is not None and met.depth > slack:
            return False
    return True


TILES = st.none() | st.lists(st.lists(st.booleans(), min_size=5, max_size=5), min_size=1, max_size=5).map(
    lambda rows: TileMap(np.array(rows), 4.1, (-10, -10))
)


@given(SCENES, TILES, BOXES | CIRCLES, WAYS, st.sampled_from(("slide", "touch", "bounce")))
def test_a_body_that_starts_free_never_ends_inside(shapes, tiles, mover, motions, response):
    runs = []
    for _ in range(2):
        world, _ = world_with(*shapes, tiles=tiles)
        body = world.add(mover)
        if not is_free(world, body, 0.0):
            return
        places = []
        for dx, dy in motions:
            world.move(body, dx, dy, response)
            assert is_free(world, body, 1e-11)
            places.append(body.position)
        runs.append(places)
    assert runs[0] == runs[1]  # bit for bit


@given(SCENES, TILES, BOXES, st.tuples(NUMBERS, NUMBERS))
def test_a_straight_path_passes_through_nothing(shapes, tiles, mover, motion):
    world, _ = world_with(*shapes, tiles=tiles)
    body = world.add(mover)
    if not is_free(world, body, 0.0):
        return
    world.move(body, *motion, "touch")
    goal = body.position
    for part in np.linspace(0, 1, 23).tolist():
        body.move_to(mover.x + part * (goal[0] - mover.x), mover.y + part * (goal[1] - mover.y))
        assert is_free(world, body, 1e-11)


@given(st.lists(BOXES, max_size=8), TILES, BOXES)
def test_a_box_pushed_out_of_boxes_is_free(shapes, tiles, mover):
    world, _ = world_with(*shapes, tiles=tiles)
    body = world.add(mover)
    world.move(body, 0, 0)
    assert is_free(world, body, 0.0)


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
