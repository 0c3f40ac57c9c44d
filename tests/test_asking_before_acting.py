"""A dry move, shape casts and probes say what would happen and change nothing."""

import numpy as np
import pytest

import broadphase as bp


def scene(seed=3, **options):
    rng, world = np.random.default_rng(seed), bp.World(**options)
    world.tiles = bp.TileMap(rng.random((10, 10)) < 0.1, 40)
    for k, (x, y) in enumerate(rng.uniform(20, 380, (25, 2)).tolist()):
        shapes = bp.Box(x, y, 15, 10), bp.Circle(x, y, 8), bp.Polygon([(x, y), (x + 16, y), (x + 4, y + 12)])
        world.add(shapes[k % 3], tag="thing", static=k % 2 == 0, sensor=k % 5 == 0)
    world.on("thing", "thing")
    world.update()
    return world


@pytest.mark.parametrize("options", [{}, {"period": (400, 400)}])
def test_a_shape_cast_is_what_a_body_of_this_shape_does(options):
    world = scene(**options)
    rng = np.random.default_rng(5)
    for _ in range(20):
        x, y, dx, dy = rng.uniform(0, 400, 4).tolist()
        shape = bp.Circle(x, y, 6)
        if world.blocker(shape):
            continue
        cast, count = world.shape_cast(shape, dx - 200, dy - 200), len(world)
        body = world.add(shape)
        moved = world.move(body, dx - 200, dy - 200, "touch", dry=True)
        assert (cast.x, cast.y) == pytest.approx((moved.x, moved.y), abs=1e-9)
        assert [hit.other for hit in cast.hits] == [hit.other for hit in moved.hits]
        assert world.shape_cast(body, dx - 200, dy - 200) == moved
        body.remove()
        assert len(world) == count


def test_a_dry_move_takes_true_or_false():
    world = bp.World()
    body = world.add(bp.Box(0, 0, 1, 1))
    with pytest.raises(TypeError, match="dry must be True or False"):
        world.move(body, 1, 0, dry=1)
    with pytest.raises(ValueError, match="dx must be finite"):
        world.shape_cast(bp.Box(0, 0, 1, 1), float("nan"), 0)


def test_a_removed_body_of_a_dry_move_stays_removed():
    world = bp.World()
    body, wall = world.add(bp.Box(0, 0, 1, 1)), world.add(bp.Box(5, 0, 1, 1))
    world.move(body, 9, 0, lambda hit: body.remove(), dry=True)
    assert not body.alive
    assert wall.x == 5


GROUND = [
    # A level in which '#' is solid, '-' one-way, '/' and '\' slopes; walker, way, and what is expected.
    (["      ", "      ", "####  "], 2, 1, 4, (False, None)),
    (["      ", "      ", "####  "], 54, 1, 4, (True, None)),
    (["      ", "      ", "----  "], 54, 1, 4, (True, None)),
    (["      ", "      ", "----  "], 40, 1, 4, (False, None)),
    (["      ", "    # ", "####  "], 54, 1, 4, (False, (4, 1))),
    (["      ", "    # ", "##### "], 40, 1, 4, (False, None)),
    (["      ", "    / ", "######"], 50, 1, 4, (False, None)),
    (["      ", "    \\ ", "######"], 66, 1, 8, (False, None)),
    (["      ", " #### ", " #####"], 22, -1, 8, (True, None)),
]


def level(rows):
    solid = np.array([[cell == "#" for cell in row] for row in rows])
    tiles = bp.TileMap(solid, 16)
    for row, cells in enumerate(rows):
        for column, cell in enumerate(cells):
            if cell == "-":
                tiles.set_one_way(column, row, "top")
            elif cell in "/\\":
                tiles.set_slope(column, row, *((0, 1) if cell == "/" else (1, 0)))
    return tiles


FLIPPED = [
    (*one, flip)
    for one in GROUND
    for flip in (False, True)
    if not flip or not set("-/\\") & set("".join(one[0]))
]


@pytest.mark.parametrize(("rows", "x", "way", "probe", "expected", "flipped"), FLIPPED)
def test_a_probe_finds_the_edge_and_the_wall_ahead(rows, x, way, probe, expected, flipped):
    edge, wall = expected
    world = bp.World()
    world.tiles = level(rows[::-1] if flipped else rows)
    sign = -1 if flipped else 1
    monster = world.add(bp.Box(x, 30 if flipped else 2, 8, 16))
    world.walk(monster, 0, 20 * sign, down=(0, sign))
    walk = world.walk(monster, way, sign, probe=probe, down=(0, sign))
    assert walk.floor is not None
    assert walk.edge == edge
    assert (walk.wall and tuple(walk.wall.other)) == (wall and (wall[0], 2 - wall[1] if flipped else wall[1]))
    assert world.walk(monster, 0, 0, probe=probe).wall is None, "no way, no side to look at"


def test_a_step_is_no_wall_and_a_gap_below_a_snap_no_edge():
    world = bp.World()
    world.add_many([[0, 20, 40, 30], [40, 16, 80, 30], [80, 20, 90, 30]], static=True)
    monster = world.add(bp.Box(28, 10, 10, 10))
    assert world.walk(monster, 1, 1, probe=4).wall.other is world.body(1)
    assert world.walk(monster, 0.5, 1, probe=4, step=5).wall is None
    monster.move_to(66, 6)
    assert world.walk(monster, 1, 1, probe=6, snap=5).edge is False
    monster.move_to(66, 6)
    assert world.walk(monster, 1, 1, probe=6, steepest=20).edge is True
    with pytest.raises(ValueError, match="probe"):
        world.walk(monster, 1, 1, probe=-1)


def test_a_monster_that_turns_at_edges_never_falls():
    world = bp.World()
    world.tiles = level(["          ", "#        #", "#  ####  #", "          ", "##########"])
    monsters = [world.add(bp.Box(60, y, 8, 12)) for y in (4, 40)]
    ways, seen = [1.7, 1.3], [set(), set()]
    for monster in monsters:
        world.walk(monster, 0, 60)
    for _ in range(300):
        for k, monster in enumerate(monsters):
            walk = world.walk(monster, ways[k], 1, probe=2)
            assert walk.floor is not None
            seen[k].add(walk.floor.row)
            if walk.edge or walk.wall or walk.left or walk.right:
                ways[k] = -ways[k]
    assert seen == [{2}, {4}]
