"""World.walk: worked cases, hills without an end, and random walks in exact arithmetic."""

import math

import numpy as np
import pytest
from walk_fuzz import run
from walk_terrain import stroll

from broadphase import Box, Capsule, Circle, Polygon, RoundedBox, Tile, TileMap, World, contact

SIZE = 32


def level(picture):
    """A world of tiles: ``#`` solid, ``/`` and ``\\`` slopes, ``-`` one-way tops, ``H`` ladders."""
    lines = picture.split("\n")
    wide = max(map(len, lines))
    cells = np.array([list(line.ljust(wide)) for line in lines])
    world = World()
    world.tiles = tiles = TileMap(cells == "#", SIZE)
    for row, column in np.argwhere(cells != " ").tolist():
        sign = cells[row, column]
        if sign == "/":
            tiles.set_slope(column, row, 0, 1)
        elif sign == "\\":
            tiles.set_slope(column, row, 1, 0)
        elif sign == "-":
            tiles.set_one_way(column, row, "top")
        elif sign == "H":
            tiles.set_ladder(column, row)
    return world


def hero(world, x, feet, width=16, height=24):
    return world.add(Box(x, feet - height, width, height))


@pytest.mark.smaller_set
def test_up_a_slope_over_the_top_and_down_again():
    world = level("  /##\\  \n########")
    body = hero(world, 10, 32)
    feet = []
    for _ in range(21):
        walk = world.walk(body, 10, 4)
        assert walk.floor is not None
        feet.append(body.bounds[3])
    assert body.x == 220
    expected = []
    for k in range(1, 22):
        left, right = 10 + 10 * k, 26 + 10 * k
        rise = min(max(right - 64, 0), 32) if left < 160 else 32 - min(max(left - 160, 0), 32)
        expected.append(32 - rise)
    assert feet == pytest.approx(expected, abs=1e-9)


@pytest.mark.smaller_set
def test_standing_still_on_a_slope():
    world = level("  /##\n#####")
    body = hero(world, 60, 20)
    world.walk(body, 0, 50)
    place = body.position
    for gravity in (0.1, 5, 300, 0.0):
        walk = world.walk(body, 0, gravity)
        assert body.position == place
        assert walk.floor == Tile(2, 0)
        assert walk.normal == pytest.approx((-math.sqrt(0.5), -math.sqrt(0.5)))
        assert walk.bottom == (gravity > 0)
    assert world.grounded(body).other == Tile(2, 0)


@pytest.mark.smaller_set
@pytest.mark.parametrize(("steepest", "walked"), [(50, False), (60.2, True), (89, True)])
def test_the_steepest_slope(steepest, walked):
    """A slope of 60 degrees is a wall to some; a walker on it slides down."""
    world = World()
    world.add(Box(-100, 50, 400, 10), static=True)
    rise = 100 * math.tan(math.radians(60))
    world.add(Polygon([(50, 50), (150, 50), (150, 50 - rise)]), static=True)
    body = hero(world, 0, 50)
    walk = world.walk(body, 80, 3, steepest=steepest)
    assert (walk.x == 80) == walked
    if walked:
        assert walk.floor is not None
        place = body.position
        world.walk(body, 0, 10, steepest=steepest)
        assert body.position == place
    else:
        assert walk.right or walk.hits
        assert body.bounds[2] == pytest.approx(50)
    body.move_to(90, -60)
    for _ in range(60):
        walk = world.walk(body, 0, 6, steepest=steepest)
    assert (body.bounds[2] == pytest.approx(50, abs=1e-6)) == (not walked)
    assert walk.floor is not None


@pytest.mark.smaller_set
@pytest.mark.parametrize(("snap", "lands"), [(0, False), (9.9, False), (10, True)])
def test_snapping_to_the_floor(snap, lands):
    world = World()
    world.add(Box(0, 50, 100, 10), static=True)
    low = world.add(Box(100, 60, 100, 10), static=True)
    body = hero(world, 90, 50)
    walk = world.walk(body, 15, 0, snap=snap)
    assert (walk.floor is low) == lands
    assert body.bounds[3] == (60 if lands else 50)
    jump = hero(world, 20, 41)  # no walker is pulled down out of the air
    world.walk(jump, 5, 0, snap=10)
    assert jump.bounds[3] == 41


@pytest.mark.smaller_set
@pytest.mark.parametrize("step", [0, 7, 8])
def test_steps(step):
    world = World()
    world.add(Box(-50, 50, 400, 10), static=True)
    stairs = [world.add(Box(50 + 30 * k, 42 - 8 * k, 200, 8), static=True) for k in range(3)]
    body = hero(world, 0, 50)
    walk = world.walk(body, 120, 0, step=step)
    if step < 8:
        assert (walk.x, walk.hits[0].other, walk.right) == (34, stairs[0], True)
    else:
        assert (walk.x, body.bounds[3], walk.floor) == (120, 26, stairs[2])
    world.add(Box(40, 10, 400, 8), static=True)  # a ceiling over the second stair
    body.move_to(0, 26)
    if step == 8:
        walk = world.walk(body, 120, 0, step=step)
        assert (walk.x, body.bounds[3]) == (64, 42)
        assert walk.right


ROUND = [Circle(0, 0, 8), Capsule(0, 12, 0, 0, 8), RoundedBox(0, 0, 16, 24, 4)]


def standing(world, shape, x, feet):
    """A body whose middle is at ``x`` and whose lowest point is at ``feet``."""
    body = world.add(shape)
    left, _, right, bottom = body.bounds
    body.move_to(body.x + x - 0.5 * (left + right), body.y + feet - bottom)
    return body


@pytest.mark.smaller_set
@pytest.mark.parametrize("shape", ROUND)
@pytest.mark.parametrize("dx", [0.25, 1, 7])
def test_round_walkers_step_up(shape, dx):
    """However short the way of each frame, up a step that is as high as ``step``, and never in the air."""
    for height, step in ((6, 6), (6, 5.9), (20, 20), (8, 8)):
        world = World()
        world.add(Box(-50, 50, 400, 10), static=True)
        world.add(Box(40, 50 - height, 400, height), static=True)
        body = standing(world, shape, 24, 50)
        for _ in range(int(40 / dx)):
            assert world.walk(body, dx, 0.5, step=step).floor is not None
        assert body.bounds[3] == pytest.approx(50 - height if step >= height else 50, abs=1e-9)
        assert (body.bounds[2] > 60) == (step >= height)


@pytest.mark.smaller_set
@pytest.mark.parametrize("shape", ROUND)
def test_round_walkers_do_not_slide_or_catch(shape):
    """On seams of tiles, in the middle and at the end of a floor, and where a body follows on tiles."""
    world = level("      \n######")
    world.add(Box(192, 32, 100, 8), static=True)
    body = standing(world, shape, 16, 32)
    for x in range(17, 280):
        walk = world.walk(body, 1, 0.5)
        assert (walk.x, body.bounds[3]) == (body.x, 32)
        assert (body.bounds[0] + body.bounds[2]) / 2 == x
        assert walk.normal == (0, -1)
        assert not walk.left
        assert not walk.right
        assert world.grounded(body).other == walk.floor or world.grounded(body).normal == (0, -1)
        place = body.position
        assert world.walk(body, 0, 3).bottom
        assert body.position == place


@pytest.mark.smaller_set
def test_a_circle_rolls_over_the_end_of_a_floor():
    """It stands on the corner as far as the side there is not too steep, then it slides off and falls."""
    world = World()
    ledge, ground = world.add_many([[0, 50, 40, 60], [-100, 90, 200, 100]], static=True)
    ball = world.add(Circle(38, 42, 8))
    for x in (40, 42, 45, 45.6):
        world.walk(ball, x - ball.x, 0)
        for _ in range(3):
            walk = world.walk(ball, 0, 2)
        beside = x - 40
        assert walk.floor is ledge
        assert ball.position == pytest.approx((x, 50 - math.sqrt(64 - beside**2)), abs=1e-9)
        assert walk.normal == pytest.approx((beside / 8, -math.sqrt(64 - beside**2) / 8), abs=1e-9)
        assert world.grounded(ball).other is ledge
        assert world.push(ledge, 0, 0).carried == [ball]
    floors = {world.walk(ball, x, 2).floor for x in [0.5, *[0] * 40]}
    assert floors == {None, ground}
    assert ball.position == (48, 82)


@pytest.mark.smaller_set
@pytest.mark.parametrize("far", [0, 1024, 4096, 10_000])
def test_the_normal_of_a_round_floor_points_from_corner_to_corner(far):
    """It is that of the polygon in place of the corner nowhere, even where both are nearly the same."""
    world = World()
    world.add(RoundedBox(far - 22, 2, 20, 7, 1.875), static=True)
    body = world.add(RoundedBox(far - 3, -1, 7, 3, 0.375))
    walk = world.walk(body, 0, 60)
    away = np.array([body.x + 0.375 - (far - 3.875), body.y + 2.625 - 3.875])
    assert walk.normal == pytest.approx(tuple(away / np.hypot(*away)), abs=1e-9)


@pytest.mark.smaller_set
@pytest.mark.parametrize("shape", [Box(0, 0, 8, 8), *ROUND])
@pytest.mark.parametrize(
    "floor", [Circle(0, 20, 20), Polygon([(0, 0), (10, 20), (15, 50), (-10, 50), (-10, 0)])]
)
def test_a_walker_that_slides_around_corners_does_not_stop(floor, shape):
    """Where one steep side ends and a steeper one begins."""
    world = World()
    edge = world.add(floor, static=True).bounds[2] - 9
    for part in np.linspace(0.0, 1.0, 12):
        body = standing(world, shape, 0, -10)
        body.move_to(body.x + edge + 4 * part - body.bounds[0], body.y)
        while body.bounds[3] < 50:
            before = body.y
            assert world.walk(body, 0, 3.7, steepest=30).floor is None
            assert body.y > before + 0.1
        body.remove()


@pytest.mark.smaller_set
@pytest.mark.parametrize(
    "shape", [Circle(0, 0, 7.3), Capsule(0, 0, 4.1, 0, 7.3), RoundedBox(0, 0, 9.7, 20, 0.9)]
)
def test_what_stops_round_walkers_does_not_overlap_them(shape):
    """Not by a rounding error either: then a query at the wall would find it."""
    world = World()
    room = [-200, -210, 200, -200], [-200, 200, 200, 210], [-210, -200, -200, 200], [200, -200, 210, 200]
    world.add_many(room, static=True)
    body = world.add(shape)
    for x, y in np.random.default_rng(0).uniform(-50, 50, (30, 2)):
        for dx, dy, down in ((300, 300, 1), (-300, -300, 1), (-300, -300, -1)):
            body.move_to(x, y)
            assert len(world.walk(body, dx, dy, down=(0, down)).hits) == 2
            assert not world.query_shape(body)
            assert world.blocker(body) is None


@pytest.mark.smaller_set
@pytest.mark.parametrize(("corner", "passes"), [(0, False), (3.9, False), (4, True)])
def test_corner_correction(corner, passes):
    world = World()
    block = world.add(Box(0, 0, 20, 20), static=True)
    body = world.add(Box(16, 30, 10, 10))
    walk = world.walk(body, 0, -40, corner=corner)
    if passes:
        assert (walk.x, walk.y, walk.hits) == (20, -10, ())
    else:
        assert (walk.x, walk.y, walk.hits[0].other, walk.top) == (16, 20, block, True)


@pytest.mark.smaller_set
def test_one_way_tiles_from_every_side():
    world = level("   \n - \n   \n###")
    body = hero(world, 40, 96)
    assert world.walk(body, 0, -70).y == 96 - 24 - 70
    walk = world.walk(body, 0, 90)
    assert (walk.floor, body.bounds[3]) == (Tile(1, 1), 32)
    assert world.walk(body, 20, 5).x == 60
    world.walk(body, -20, 5)
    walk = world.walk(body, 0, 5, drop=True)
    assert (walk.floor, body.bounds[3]) == (None, 37)
    for side, start, motion in [
        ("left", (0, 36), (90, 0)),
        ("right", (90, 36), (-90, 0)),
        ("bottom", (40, 70), (0, -70)),
        ("top", (40, 0), (0, 60)),
    ]:
        world.tiles.set_one_way(1, 1, side)
        body.move_to(*start)
        assert world.walk(body, *motion).hits[0].other == Tile(1, 1), side
        opposite = world.tiles.bounds_of(1, 1)
        body.move_to(start[0] + motion[0], start[1] + motion[1])
        back = world.walk(body, -motion[0], -motion[1])
        assert not [hit for hit in back.hits if hit.other == Tile(1, 1)], (side, opposite)


@pytest.mark.smaller_set
def test_ladders():
    world = level("    \n#H##\n H  \n H  \n####")
    body = hero(world, 40, 32)
    walk = world.walk(body, 0, 5)
    assert (walk.floor, body.bounds[3]) == (Tile(1, 1), 32)  # on top of it
    walk = world.walk(body, 0, 20, drop=True)
    assert (walk.floor, walk.ladder) == (None, Tile(1, 1))
    walk = world.walk(body, 0, 500, drop=True)
    assert (walk.floor, walk.ladder, body.bounds[3]) == (Tile(1, 4), Tile(1, 3), 128)
    for _ in range(6):
        walk = world.walk(body, 0, -20)
    assert (walk.ladder, body.bounds[3]) == (None, 8)
    assert world.walk(body, 0, 60).floor == Tile(1, 1)
    world.tiles.set_ladder(1, 1, False)
    assert world.walk(body, 0, 10).floor is None


@pytest.mark.smaller_set
def test_moving_platforms_carry():
    world = World()
    flat = world.add(Box(0, 100, 60, 8), static=True)
    ramp = world.add(Polygon([(60, 108), (120, 108), (120, 78)]), static=True)
    riders = [hero(world, 20, 90), hero(world, 80, 60)]
    for rider, floor in zip(riders, (flat, ramp), strict=True):
        assert world.walk(rider, 0, 50).floor is floor
        before = rider.position
        for motion in ((5, 0), (0, -7), (-3, 4), (0, 6)):
            assert world.push(floor, *motion).carried == [rider]
            assert world.walk(rider, 0, 2).floor is floor
        assert rider.position == pytest.approx((before[0] + 2, before[1] + 3), abs=1e-8)
    walk = world.walk(riders[0], 45, 2)  # from one onto the other, also between moves
    assert walk.floor in (flat, ramp)


@pytest.mark.smaller_set
def test_all_kinds_of_floors():
    for shape in (
        Circle(50, 100, 40),
        Capsule(30, 90, 70, 90, 20),
        Box(20, 60, 60, 20).rotated(20),
        Polygon([(20, 100), (80, 100), (50, 60)], radius=5),
    ):
        world = World()
        floor = world.add(shape, static=True)
        body = hero(world, 42, 0)
        walk = world.walk(body, 0, 100, steepest=80)
        assert walk.floor is floor
        place = body.position
        for _ in range(20):
            walk = world.walk(body, 2, 3, steepest=80)
            assert not world.query_shape(body.shape) or world.query_shape(body.shape) == [body]
        assert body.x == place[0] + 40
        assert body.y > place[1]


@pytest.mark.smaller_set
def test_pushed_out_of_what_it_starts_in():
    world = World()
    wall = world.add(Box(0, 0, 20, 100), static=True)
    body = world.add(Box(15, 10, 10, 10))
    walk = world.walk(body, 5, 0)
    assert (walk.x, walk.y) == (25, 10)
    assert (walk.hits[0].other, walk.hits[0].time) == (wall, 0)
    coin = world.add(Circle(60, 15, 3), sensor=True)
    assert [hit.other for hit in world.walk(body, 60, 0).crossed] == [coin]


@pytest.mark.smaller_set
def test_a_static_walker_is_stopped_by_one_that_came_into_its_way():
    world = World()
    lifts = [world.add(Box(x, 0, 10, 10), static=True) for x in (0, 30)]
    walks = world.walk_many(lifts, [15, -10], 0)
    assert walks.places.tolist() == [[15, 0], [25, 0]]
    assert walks.hits.others.tolist() == [lifts[0].id]


@pytest.mark.smaller_set
def test_movers_that_block():
    world = World()
    world.add(Box(0, 50, 200, 10), static=True)
    bodies = [hero(world, x, 50) for x in (0, 40, 80)]
    through = world.walk_many(bodies, [100, 0, 0], 1)
    assert through.places[0].tolist() == [100, 26]
    world.move_all(bodies, [[0, 26], [40, 26], [80, 26]])
    stopped = world.walk_many(bodies, [100, 10, -100], 1, movers_block=True)
    assert stopped.places[:, 0].tolist() == [24, 50, 66]


@pytest.mark.smaller_set
@pytest.mark.parametrize(
    ("walk", "error", "said"),
    [
        (lambda w, b: w.walk(b, math.nan, 0), ValueError, "dx must be finite"),
        (lambda w, b: w.walk(b, 0, 0, steepest=90), ValueError, "steepest = 90 must be less than 90"),
        (lambda w, b: w.walk(b, 0, 0, snap=-1), ValueError, "snap must not be negative"),
        (lambda w, b: w.walk(b, 0, 0, down=(1, 1)), ValueError, r"down = \(1, 1\) must be"),
        (lambda w, b: w.walk(b, 0, 0, drop=1), TypeError, "drop must be True or False"),
        (
            lambda w, b: w.walk(w.add(Capsule(0, 0, 3, 3, 1)), 0, 1),
            ValueError,
            "a walker is a Circle, or a Box",
        ),
        (
            lambda w, b: w.walk(w.add(Box(0, 0, 3, 1).rotated(45)), 0, 1),
            ValueError,
            "sides lie along the axes",
        ),
        (lambda w, b: w.walk_many([b, b], 1, 1), ValueError, "twice"),
        (lambda w, b: w.walk_many([b], [1, 2], 1), ValueError, "dx must be one number"),
        (lambda w, b: w.walk(b, 1e300, 0), ValueError, "beyond 1e"),
    ],
)
def test_what_is_refused(walk, error, said):
    world = World()
    body = hero(world, 0, 0)
    with pytest.raises(error, match=said):
        walk(world, body)
    assert body.position == (0, -24)


# --- without an end -----------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", [Box, Circle, Capsule, RoundedBox])
@pytest.mark.parametrize("flip", [1.0, -1.0])
def test_hills(flip, kind, each):
    each(lambda seed: stroll(np.random.default_rng(seed), 60, flip, kind), range(300), of=100)


@pytest.mark.parametrize("rounded", [False, True])
def test_random_walks(rounded, exhaustive):
    """As many as one likes: ``python -m tests.walk_fuzz --movements 100000``."""
    stood, stopped = run(1 if exhaustive else 3, 4_000 if exhaustive else 200, rounded)
    assert stood > (400 if exhaustive else 25)
    assert stopped > (200 if exhaustive else 12)


def _round_things(rng):
    x, y, size, other, radius = rng.uniform((20, 20, 1, 1, 0.5), (60, 60, 12, 12, 5)).tolist()
    return (
        Circle(x, y, size),
        Capsule(x, y, x + other, y + size - 6, radius),
        RoundedBox(x, y, size + 2 * radius, other + 2 * radius, radius),
        Polygon([(x, y), (x + size, y + 0.3 * other), (x + 0.2 * size, y + other)]),
        RoundedBox(x, y, size + 2 * radius, other + 2 * radius, radius).rotated(float(rng.uniform(0, 90))),
    )


@pytest.mark.parametrize("period", [None, (200, 200)])
@pytest.mark.parametrize("kind", range(5))
def test_no_walker_passes_what_has_stopped_it(each, kind, period):
    """From wherever `move` ended, flush with something round or slanted, straight towards its middle."""

    def check(seed):
        rng = np.random.default_rng(seed)
        world = World(period=period)
        item = world.add(_round_things(rng)[kind])
        angle, (width, height) = rng.uniform(0, 2 * math.pi), rng.uniform(0.5, 8, 2).tolist()
        middle = np.array(item.center)
        start = middle + 45 * np.array((math.cos(angle), math.sin(angle)))
        hero = world.add(Box(*start, width, height))
        world.move(hero, *(middle - start).tolist(), "touch")
        assert world.blocker(hero) is None
        many = seed % 2
        for _ in range(3):
            dx, dy = (0.5 * (np.array(item.center) - np.array(hero.center))).tolist()
            down = 0, 1 if seed % 4 < 2 else -1
            if many:
                world.walk_many([hero], dx, dy, movers_block=True, down=down)
            else:
                world.walk(hero, dx, dy, down=down)
            met = contact(hero.shape, item.shape)
            assert met is None or met.depth < 1e-9, (met, hero, item)

    each(check, range(600), of=15)


@pytest.mark.smaller_set
def test_however_far_a_floor_may_be_followed():
    """Only what is there counts for the tolerance; lengths without bound are refused."""
    world = World()
    world.tiles = TileMap([[False, False], [True, False], [True, True]], 16)
    ends = set()
    for snap in (32, 1e6, 1e20, 1e290):
        hero = world.add(Box(4, 8, 8, 8))
        walk = world.walk(hero, 20, 0, snap=snap, step=snap, corner=snap)
        ends.add((walk.x, walk.y, walk.floor))
        world.remove(hero)
    assert ends == {(24, 24, Tile(1, 2))}
    hero = world.add(Box(4, 8, 8, 8))
    for name in ("snap", "step", "corner"):
        with pytest.raises(ValueError, match=rf"{name} = 1e\+308 must be less than 1e\+300"):
            world.walk(hero, 1, 1, **{name: 1e308})
        with pytest.raises(ValueError, match=name):
            world.walk_many([hero], 1, 1, **{name: 1e300})
    assert hero.position == (4, 8)


@pytest.mark.parametrize("lean", [0.0, 0.001, 0.5, 1.0, 20.0])
@pytest.mark.parametrize("side", [1, -1])
def test_a_jump_slides_up_along_a_wall_that_leans_over_the_walker(lean, side):
    world = World()
    world.add(
        Polygon([(side * x, y) for x, y in ((50, 100), (70, 100), (70, 0), (50 - lean, 0))]), static=True
    )
    hero = world.add(Box(30 if side > 0 else -40, 60, 10, 20))
    world.walk(hero, side * 20, 0)
    walk = world.walk(hero, 0, -10)
    assert walk.floor is None
    assert not walk.top
    # As much is lost as the wall leans.
    assert hero.y == pytest.approx(60 - 10 / (1 + (lean / 100) ** 2), abs=1e-6)
    front = hero.x + 10 if side > 0 else -hero.x
    assert front <= 50 - lean * (100 - hero.y) / 100 + 1e-9
    assert world.blocker(hero) is None


def test_a_jump_ends_at_a_ceiling_as_level_as_a_floor():
    for rise, slides in ((8, False), (12, True)):
        world = World()
        world.add(Polygon([(0, 0), (10, 0), (0, rise)]), static=True)
        hero = world.add(Box(2, 20, 10, 10))
        walk = world.walk(hero, 0, -18)
        assert walk.hits[0].normal[1] > 0
        assert (hero.x > 2) == slides


def test_corners_on_the_way_up_move_a_walker_aside_by_no_more_in_all():
    world = World()
    for k in range(8):
        world.add(Box(-31 + 3 * k, -10 * k - 5, 40, 4), static=True)
    hero = world.add(Box(7, 10, 10, 10))
    world.walk(hero, 0, -120, corner=3)
    assert hero.position == (9, -11)


def test_a_box_that_is_turned_by_a_quarter_walks():
    worlds = World(), World()
    for world in worlds:
        world.add(Box(0, 40, 100, 10), static=True)
        world.add(Polygon([(40, 40), (60, 40), (60, 30)]), static=True)
    upright, turned = worlds[0].add(Box(10, 5, 4, 10)), worlds[1].add(Box(7, 8, 10, 4).rotated(90))
    for _ in range(12):
        ways = [w.walk(b, 6, 3, step=2, snap=2) for w, b in zip(worlds, (upright, turned), strict=True)]
        assert upright.bounds == pytest.approx(turned.bounds, abs=1e-9)
        assert ways[0].normal == pytest.approx(ways[1].normal)
        assert [way.floor and way.floor.id for way in ways] in ([None, None], [0, 0], [1, 1])


def test_a_walker_that_only_touches_a_circle_is_outside():
    for sx, sy in ((3, 4), (4, 3), (-3, 4), (-4, -3), (4, -3)):
        world = World()
        ball = world.add(Circle(0, 0, 5), static=True)
        hero = world.add(Box(sx - (2 if sx < 0 else 0), sy - (2 if sy < 0 else 0), 2, 2))
        before = hero.position
        walk = world.walk(hero, -math.copysign(20, sx), 0)
        assert [hit.other for hit in walk.hits] == [ball]
        assert hero.position == pytest.approx(before, abs=1e-11)
        assert contact(hero.shape, ball.shape) is None or contact(hero.shape, ball.shape).depth < 1e-11


@pytest.mark.parametrize("period", [None, 128.0])
@pytest.mark.parametrize("flip", [1.0, -1.0])
@pytest.mark.parametrize("radius", [0.0, 3.0])
def test_a_walk_leads_up_to_a_round_corner_itself(period, flip, radius):
    """To the side as well as up, whatever the angle: not to a polygon around the corner."""
    for dip in (0.5, 1.0, 2.5, 4.0):
        for sign in (1.0, -1.0):
            far = math.sqrt((5.0 + radius) ** 2 - (5.0 + radius - dip) ** 2)
            world = World(period=period and (period, period))
            world.add(Circle(64, 64, 5), static=True)
            size = 2.0 * radius or 3.0
            x, y = 64.0 + sign * 30.0, 64.0 + 5.0 + radius - dip
            hero = world.add(
                Circle(x, y, radius)
                if radius
                else Box(x if sign > 0 else x - size, 64.0 + 5.0 - dip, size, size)
            )
            before = hero.x
            walk = world.walk(hero, -40.0 * sign, 0, down=(0, flip), steepest=0)
            assert hero.x - before == pytest.approx(sign * (far - 30.0), abs=1e-10)
            again = world.walk(hero, -40.0 * sign, 0, down=(0, flip), steepest=0)
            assert (again.x, again.y) == pytest.approx((walk.x, walk.y), abs=1e-10)
            # Up, from below the corner.
            up = World(period=period and (period, period))
            up.add(Circle(64, 64, 5), static=True)
            x, y = 64.0 + sign * (5.0 + radius - dip), 64.0 + flip * 30.0
            left, top = (x if sign > 0 else x - size), (y if flip > 0 else y - size)
            jumper = up.add(Circle(x, y, radius) if radius else Box(left, top, size, size))
            before = jumper.y
            up.walk(jumper, 0, -40.0 * flip, down=(0, flip), steepest=89)
            assert jumper.y - before == pytest.approx(flip * (far - 30.0), abs=1e-10)


@pytest.mark.parametrize("sideways", [True, False])
def test_a_round_walker_that_is_pushed_out_beside_a_corner_stands_there(sideways):
    world = World()
    corner, center, fall = (16, 36), (15.97508491816531, 34.720059677169004), (10, 0)
    if not sideways:
        corner, center, fall = corner[::-1], center[::-1], fall[::-1]
    box = world.add(Box(*corner, 5, 5), static=True)
    ball = world.add(Circle(*center, 2.554516211895453))
    walk = world.walk(ball, *fall, snap=2, step=3, down=(1, 0) if sideways else (0, 1))
    assert walk.floor is box
    assert math.dist((walk.x, walk.y), corner) == pytest.approx(2.554516211895453)
    assert ball.position == (walk.x, walk.y)
