"""Tile maps of worlds without edges: held against a plain world in which map and bodies are repeated."""

import itertools
import math

import numpy as np
import pytest

from broadphase import Box, Circle, Polygon, TileMap, World

SIZE, COLUMNS, ROWS = 16.0, 10, 7
LENGTHS = (COLUMNS * SIZE, ROWS * SIZE)
AROUND = range(-3, 4)
"""The copies in the plain world; the tested body begins in copy 0."""
PERIODS = {"both": (True, True), "x": (True, False), "y": (False, True)}


@pytest.fixture(params=PERIODS, ids=str)
def goes(request):
    return PERIODS[request.param]


def random_map(rng, share=0.15):
    solid = rng.random((ROWS, COLUMNS)) < share
    one_way = np.where(rng.random(solid.shape) < 0.1, rng.integers(1, 16, solid.shape), 0)
    tiles = TileMap(solid, SIZE, one_way=one_way.astype(np.uint8))
    for _ in range(rng.integers(10)):
        left, right = rng.choice([0.0, 0.25, 0.5, 1.0], 2).tolist()
        base = ["bottom", "top"][rng.integers(2)]
        tiles.set_slope(*map(int, rng.integers((COLUMNS, ROWS))), left, right, base=base)
        tiles.set_ladder(*map(int, rng.integers((COLUMNS, ROWS))))
    return tiles


def random_shape(rng, boxes=False):
    x, y = (rng.random(2) * LENGTHS).tolist()
    width, height = rng.choice([4.0, 7.5, 16.0, 20.0], 2).tolist()
    kind = 0 if boxes else rng.integers(4)
    if kind == 1:
        return Circle(x, y, width / 2)
    return Polygon([(x, y), (x + width, y), (x, y + height)]) if kind == 2 else Box(x, y, width, height)


class Both:
    """A world with a period, and a plain one with copies of all static bodies."""

    def __init__(self, seed, goes):
        self.rng = rng = np.random.default_rng(seed)
        self.goes = np.array(goes)
        self.copies = [AROUND if there else range(1) for there in goes]
        self.round, self.plain, self.owner = World(period=self.period), World(), {}
        self.round.tiles = random_map(rng)
        self.plain.tiles = self.repeated(self.round.tiles)
        for _ in range(4):
            shape, sensor = random_shape(rng), bool(rng.random() < 0.3)
            body = self.round.add(shape, static=True, sensor=sensor)
            for copy in itertools.product(*self.copies):
                x, y = (np.array([shape.x, shape.y]) + np.multiply(copy, LENGTHS)).tolist()
                self.owner[self.plain.add(shape.moved_to(x, y), static=True, sensor=sensor)] = body

    @property
    def period(self):
        return [length if there else None for length, there in zip(LENGTHS, self.goes, strict=True)]

    def repeated(self, tiles):
        """The map as often as there are copies."""
        across, down = self.copies
        times = len(down), len(across)
        corner = across[0] * LENGTHS[0], down[0] * LENGTHS[1]
        large = TileMap(np.tile(tiles.solid, times), SIZE, corner, one_way=np.tile(tiles.one_way, times))
        copies = list(itertools.product(range(len(across)), range(len(down))))
        for column, row in itertools.product(range(COLUMNS), range(ROWS)):
            slope, ladder = tiles.slope(column, row), tiles.is_ladder(column, row)
            if slope or ladder:
                for x, y in copies:
                    at = column + x * COLUMNS, row + y * ROWS
                    large.set_ladder(*at, ladder)
                    if slope:
                        large.set_slope(*at, slope.left, slope.right, base=slope.base)
        return large

    def mover(self, boxes=False):
        """A body in each, at the same free place."""
        while True:
            shape = random_shape(self.rng, boxes)
            if self.round.blocker(shape) is None:
                return self.round.add(shape), self.plain.add(shape)

    def away(self):
        """Take movers out, so that none meets what has no copies."""
        for world in (self.round, self.plain):
            world.remove_many([body for body in world if not body.static])

    # ---- what the plain world says, as the other says it

    def named(self, other):
        if isinstance(other, tuple):
            return other[0] % COLUMNS, other[1] % ROWS
        return self.owner.get(other, other)

    def place(self, x, y):
        inside = np.where(self.goes, np.mod((x, y), LENGTHS), (x, y))
        return pytest.approx(tuple(inside.tolist()), abs=1e-9)

    def is_at(self, point, x, y):
        """Within the world, where the other one has it; rounding decides between both sides of an edge."""
        apart = np.subtract(point, (x, y))
        apart = np.where(self.goes, apart - LENGTHS * np.round(apart / LENGTHS), apart)
        return (not self.goes.all() or (np.array(point) < LENGTHS).all()) and np.abs(apart).max() < 1e-9

    def hits(self, found):
        return [(self.named(hit.other), hit.normal, hit.response) for hit in found]


def reported(hits):
    return [(hit.other, hit.normal, hit.response) for hit in hits]


def motion(rng):
    return ((rng.random(2) - 0.5) * rng.choice([20, 150, 300])).tolist()


@pytest.mark.parametrize("response", ["slide", "touch", "bounce", "cross"])
def test_movement(goes, response, each):
    def check(seed):
        both = Both(seed, goes)
        for _ in range(6):
            (mine, right), motions = both.mover(both.rng.random() < 0.5), motion(both.rng)
            move, expected = (
                both.round.move(mine, *motions, response),
                both.plain.move(right, *motions, response),
            )
            assert mine.position == both.place(expected.x, expected.y)
            assert reported(move.hits) == both.hits(expected.hits)
            assert [hit.time for hit in move.hits] == pytest.approx([hit.time for hit in expected.hits])
            first = {name: (name, *rest) for name, *rest in reversed(both.hits(expected.crossed))}
            assert sorted(reported(move.crossed), key=str) == sorted(first.values(), key=str)  # each once
            direction = [(0, 1), (1, 0), (0, -1), (-1, 0)][both.rng.integers(4)]
            below, ground = both.round.grounded(mine, direction), both.plain.grounded(right, direction)
            assert reported([below] if below else []) == both.hits([ground] if ground else [])
            both.away()

    each(check, range(60), of=30)


def test_walks(goes, each):
    def check(seed):
        both = Both(seed, goes)
        for _ in range(4):
            mine, right = both.mover(boxes=True)
            for _ in range(4):
                (dx, dy), rules = (
                    motion(both.rng),
                    {"snap": 4.0, "steepest": 50, "step": float(both.rng.choice([0, 4]))},
                )
                walk, expected = (
                    both.round.walk(mine, dx, abs(dy), **rules),
                    both.plain.walk(right, dx, abs(dy), **rules),
                )
                assert mine.position == both.place(expected.x, expected.y)
                assert [hit.other for hit in walk.hits] == [both.named(hit.other) for hit in expected.hits]
                assert walk.floor == (None if expected.floor is None else both.named(expected.floor))
                assert walk.ladder == (None if expected.ladder is None else both.named(expected.ladder))
                right.move_to(*mine.position)
            both.away()

    each(check, range(60), of=20)


def test_rays(goes, each):
    def check(seed):
        both = Both(seed, goes)
        starts = both.rng.random((40, 2)) * LENGTHS
        motions = np.concatenate((both.rng.normal(size=(32, 2)), [(1, 0), (0, 1), (-1, 0), (0, -1)] * 2))
        far = both.rng.choice([10.0, 100.0, 300.0], 40)
        many = both.round.raycast(starts, motions, far)
        for at, (start, ray, longest) in enumerate(
            zip(starts.tolist(), motions.tolist(), far.tolist(), strict=True)
        ):
            hit, expected = both.round.raycast(start, ray, longest), both.plain.raycast(start, ray, longest)
            if expected is None:
                assert hit is None
                assert (many.ids[at], many.tiles[at].tolist()) == (-1, [-1, -1])
                continue
            assert hit.other == both.named(expected.other)
            assert (hit.distance, hit.normal) == (
                pytest.approx(expected.distance),
                pytest.approx(expected.normal),
            )
            assert both.is_at(hit.point, *expected.point)
            assert many.distances[at] == pytest.approx(expected.distance)
            if isinstance(hit.other, tuple):
                assert tuple(many.tiles[at].tolist()) == hit.other
            else:
                assert many.ids[at] == hit.other.id
            right = [both.named(one.other) for one in both.plain.query_ray(start, ray, longest)]
            assert [one.other for one in both.round.query_ray(start, ray, longest)] == list(
                dict.fromkeys(right)
            )

    each(check, range(40), of=14)


def test_what_is_free(goes, each):
    def check(seed):
        both = Both(seed, goes)
        for _ in range(20):
            shape = random_shape(both.rng)
            found, expected = both.round.blocker(shape), both.plain.blocker(shape)
            assert (found is None) == (expected is None)
            if isinstance(found, tuple):
                assert both.round.tiles.is_solid(*found) or both.round.tiles.slope(*found)
        mine, right = both.mover()
        larger = random_shape(both.rng)
        assert (both.round.resize(mine, larger) is None) == (both.plain.resize(right, larger) is None)
        mine, right = both.mover(boxes=True)
        for angle in (30, 75):
            assert (both.round.try_turn(mine, angle) is None) == (both.plain.try_turn(right, angle) is None)

    each(check, range(40), of=8)


def test_a_tunnel_leads_from_one_side_to_the_other():
    world = World(period=(112, None))
    world.tiles = TileMap([[True] * 7, [False] * 7, [True] * 7], 16)
    eater = world.add(Box(100, 18, 12, 12))
    assert world.move(eater, 20, 0).x == 8
    world.tiles.set(3, 1, True)  # a change counts at once
    move = world.move(eater, -90, 0)
    assert (move.x, move.hits[0].other) == (64, (3, 1))
    assert world.raycast((100, 24), (1, 0), 500).distance == 60
    assert world.grounded(eater, (0, 1)) is None
    assert world.move(eater, 60, 5).hits[0].normal == (0.0, -1.0)


def test_a_callback_moves_another_and_changes_the_map():
    world = World(period=(112, 64))
    level = world.tiles = TileMap(np.zeros((4, 7), bool), 16)
    level.solid[:, 3] = True
    mover, other = world.add(Box(100, 4, 8, 8)), world.add(Box(80, 34, 8, 8))
    seen = []

    def response(hit):
        assert world.tiles is level
        seen.append(
            (hit.other, world.move(other, 200, 0).hits[0].other, world.raycast((70, 50), (1, 0), 200).other)
        )
        return "slide"

    assert world.move(mover, 100, 0, response).x == 40
    assert seen == [((3, 0), (3, 2), (3, 3))]

    def swap(hit):
        world.tiles = None
        return "touch"

    assert world.move(mover, 50, 0, swap).x == 40
    assert world.tiles is None
    assert world.move(mover, 50, 0).x == 90


@pytest.mark.parametrize("size", [0.1, 1 / 3, 0.7])
def test_flush_with_tiles_across_the_boundary(size):
    """Tiles whose edges are rounded: nothing is in a tile after it was stopped by one."""
    rng = np.random.default_rng(3)
    solid = rng.random((9, 13)) < 0.3
    world = World(period=(13 * size, 9 * size))
    world.tiles = TileMap(solid, size)
    for _ in range(300):
        shape = Box(*(rng.random(2) * world.period).tolist(), *(size * (0.2 + rng.random(2))).tolist())
        if world.blocker(shape) is None:
            mover = world.add(shape)
            world.move(mover, *((rng.random(2) - 0.5) * 40 * size).tolist())
            assert world.blocker(mover) is None
            world.remove(mover)


def test_in_a_map_without_a_free_place_it_stays():
    world = World(period=(64, 64))
    world.tiles = TileMap(np.ones((4, 4), bool), 16)
    body = world.add(Box(60, 60, 8, 8))
    move = world.move(body, 5, 0)
    assert math.isfinite(move.x)
    world.tiles.set(2, 2, False)
    world.move(body, 0, 0)
    assert world.blocker(body) is None


def test_maps_that_do_not_go_around_are_refused():
    world = World(period=(112, None))
    for wrong in (
        TileMap([[True] * 6], 16),
        TileMap([[True] * 7], 16, origin=(16, 0)),
        TileMap([[True] * 8], 16),
    ):
        with pytest.raises(ValueError, match="give a map from 0 to 112"):
            world.tiles = wrong
    with pytest.raises(TypeError, match="tiles must be a TileMap"):
        world.tiles = "map"
    assert world.tiles is None
    world.tiles = TileMap([[True] * 7], 16, origin=(0, 300))
    assert world.raycast((200, 0), (0, 1)).distance == 300
