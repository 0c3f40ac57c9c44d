"""A periodic world is what a plain world of copies is: moved, stepped and walked, one and many."""

import numpy as np
import pytest

from broadphase import Box, Capsule, Circle, Polygon, TileMap, World

LENGTHS = 64.0, 48.0
COPIES = [(x, y) for x in range(-1, 2) for y in range(-1, 2)]
HERE = COPIES.index((0, 0))


def a_shape(rng, x, y, walks=False):
    kind = rng.integers(0, 3 if walks else 4)
    size = rng.integers(2, 13, 2) / 2
    if kind < 2 - walks:
        return Box(x, y, *size)
    if kind == 1 or kind == 2 - walks:
        return Circle(x, y, size[0] / 2)
    if walks:
        return Capsule(x, y, x, y + size[1], size[0] / 2)
    return Polygon([(x, y), (x + size[0], y + size[1] / 2), (x + size[0] / 2, y + size[1])])


class Twins:
    """A periodic world, and a plain one of 9 copies of it; the middle copies correspond."""

    def __init__(self, rng, tiles, walks=False):
        self.world, self.plain = World(period=LENGTHS), World()
        self.bodies, self.copies = [], []
        for _ in range(40):
            x, y = (rng.random(2) * LENGTHS).round(1)
            shape, static = a_shape(rng, x, y, walks), bool(rng.random() < 0.4)
            sides = ["top"] if static and isinstance(shape, Box) and rng.random() < 0.3 else []
            options = {
                "tag": str(rng.choice(["a", "b"])),
                "static": static,
                "sensor": bool(rng.random() < 0.15),
                "category": int(rng.integers(1, 4)),
            }
            self.bodies.append(self.world.add(shape, **options))
            places = [(shape.x + LENGTHS[0] * i, shape.y + LENGTHS[1] * j) for i, j in COPIES]
            self.copies.append([self.plain.add(shape.moved_to(*place), **options) for place in places])
            for body in (self.bodies[-1], *self.copies[-1]):
                body.one_way = sides
                body.mask = 3 if options["category"] < 3 else 1
        if tiles:
            solid = rng.random((6, 8)) < 0.2
            self.world.tiles = TileMap(solid, 8)
            corner = -LENGTHS[0], -LENGTHS[1]
            self.plain.tiles = TileMap(np.tile(solid, (3, 3)), 8, corner)
        for world in (self.world, self.plain):
            world.on("a", "b")
            world.update()

    def movers(self):
        return [k for k, body in enumerate(self.bodies) if not body.static]

    def places(self):
        """Where the bodies are, and their twins, as seen from the bodies."""
        own = np.array([body.position for body in self.bodies])
        there = np.array([copies[HERE].position for copies in self.copies])
        return own, there + np.round((own - there) / LENGTHS) * LENGTHS


def hits_of(hits, at, copies):
    """What one mover hit, copies of a body counted as one, and the times and normals."""
    names, numbers = [], []
    for k in np.flatnonzero(hits.movers == at).tolist():
        other, (column, row) = int(hits.others[k]), hits.tiles[k].tolist()
        name = other // copies if other >= 0 else (column % 8, row % 6)
        if name not in names or hits.times[k] == 0.0:
            names.append(name)
            numbers.append([hits.times[k], *hits.normals[k]])
    return names, np.array(numbers).reshape(-1, 3)


def check(twins, moved, there, many):
    """Places, hits and crossings of many movers, and the contacts of the update after them."""
    own, other = twins.places()
    assert own == pytest.approx(other, abs=1e-7)
    for hits, their in ((moved.hits, there.hits), (moved.crossed, there.crossed)):
        for at in range(many):
            names, numbers = hits_of(hits, at, 1)
            same, those = hits_of(their, at * len(COPIES) + HERE, len(COPIES))
            assert names == same
            assert numbers == pytest.approx(those, abs=1e-7)
    events, plain = twins.world.update(), twins.plain.update()
    for some, copies in zip(events, plain, strict=True):
        pairs = copies.ids[(copies.ids % len(COPIES) == HERE).any(axis=1)] // len(COPIES)
        assert set(map(tuple, some.ids.tolist())) == set(map(tuple, pairs.tolist()))


@pytest.mark.parametrize("tiles", [False, True])
@pytest.mark.parametrize("response", ["slide", "bounce", "touch", "cross"])
def test_many_move_as_among_copies(response, tiles):
    for block in (False, True):
        rng = np.random.default_rng([block, len(response), tiles])
        twins = Twins(rng, tiles)
        movers = twins.movers()
        assert len(movers) > 16  # up to so many move one by one
        for _ in range(3):
            way = rng.normal(0, 5, (len(movers), 2)).round(2)
            options = {"response": response, "movers_block": block}
            moved = twins.world.move_many([twins.bodies[k] for k in movers], way, **options)
            copies = [copy for k in movers for copy in twins.copies[k]]
            there = twins.plain.move_many(copies, np.repeat(way, len(COPIES), axis=0), **options)
            check(twins, moved, there, len(movers))


@pytest.mark.parametrize("tiles", [False, True])
@pytest.mark.parametrize("block", [False, True])
def test_many_walk_as_among_copies(block, tiles):
    for seed in range(2):
        rng = np.random.default_rng([seed, block, tiles])
        twins = Twins(rng, tiles, walks=True)
        movers = twins.movers()
        options = {"snap": 2.0, "step": 1.0, "movers_block": block}
        for _ in range(3):
            way = rng.normal(0, 5, (len(movers), 2)).round(2)
            moved = twins.world.walk_many([twins.bodies[k] for k in movers], *way.T, **options)
            copies = [copy for k in movers for copy in twins.copies[k]]
            far = np.repeat(way, len(COPIES), axis=0)
            there = twins.plain.walk_many(copies, *far.T, **options)
            check(twins, moved, there, len(movers))
            floors, normals = there.floors[HERE :: len(COPIES)], there.normals[HERE :: len(COPIES)]
            assert moved.normals == pytest.approx(normals, abs=1e-7, nan_ok=True)
            bodies = floors[:, 0] // len(COPIES)
            assert np.array_equal(moved.floors[:, 0], np.where(floors[:, 0] >= 0, bodies, -1))
            assert np.array_equal(moved.floors[:, 1] >= 0, floors[:, 1] >= 0)


@pytest.mark.parametrize("tiles", [False, True])
def test_one_walks_and_moves_as_one_of_many(tiles):
    rng = np.random.default_rng(tiles)
    many, single = (Twins(np.random.default_rng(tiles), tiles, walks=True).world for _ in range(2))
    movers = np.array([body.id for body in many.bodies() if not body.static])
    for turn in range(4):
        way = rng.normal(0, 5, (len(movers), 2)).round(2)
        if turn % 2:
            moved = many.walk_many(movers, *way.T, snap=2.0, movers_block=True)
            alone = [
                single.walk(single.body(k), *to, snap=2.0) for k, to in zip(movers, way.tolist(), strict=True)
            ]
        else:
            moved = many.move_many(movers, way, movers_block=True)
            alone = [single.move(single.body(k), *to) for k, to in zip(movers, way.tolist(), strict=True)]
        assert np.array_equal(moved.places, [(one.x, one.y) for one in alone])
        assert moved.hits.times.tolist() == [hit.time for one in alone for hit in one.hits]
        assert moved.hits.touches.tolist() == [list(hit.touch) for one in alone for hit in one.hits]
