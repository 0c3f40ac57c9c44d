"""The same again: two worlds with the same inputs, and worlds that go back."""

import hashlib

import numpy as np
import pytest

from broadphase import Box, Circle, Polygon, TileMap, World


class Game:
    """A small game that uses everything, driven by numbers; ``hash`` sums up all that was to be seen."""

    def __init__(self, seed, count=20):
        self.world = World()
        self.hash = hashlib.sha256()
        rng = np.random.default_rng(seed)
        self.world.tiles = TileMap(rng.random((30, 30)) < 0.1, 10)
        for x, y in rng.integers(0, 300, (10, 2)).tolist():
            self.world.add(Box(x, y, 17, 5), tag="wall", static=True)
        for k, (x, y) in enumerate(rng.uniform(0, 300, (count, 2)).tolist()):
            shape = [Box(x, y, 6, 7), Circle(x, y, 4), Polygon([(x, y), (x + 6, y), (x + 3, y + 5)])][k % 3]
            self.world.add(shape, tag=("wolf", "sheep")[k % 2], data=k)
        self.world.on("wolf", "sheep", begin=self.bite, end=self.note)
        self.world.on("sheep", "sheep", stay=self.note)
        self.world.on("wall", "wolf", begin=self.note)

    def note(self, contact):
        a, b, normal, depth = contact
        self.hash.update(repr((a.id, a.data, a.x, b.id, b.data, b.y, normal, depth)).encode())

    def bite(self, contact):
        self.note(contact)
        if contact.b.id % 3 == 0:
            self.world.remove(contact.b)

    def frame(self, number):
        rng = np.random.default_rng(number)
        world = self.world
        bodies = [body for body in world if not body.static]
        motions = rng.normal(size=(len(bodies), 2)) * 6
        for body, (dx, dy) in zip(bodies[:4], motions[:4].tolist(), strict=False):
            world.move(body, dx, dy, ("slide", "bounce", "touch")[number % 3])
        boxes = [k for k in range(6, len(bodies)) if isinstance(bodies[k].shape, Box)]
        world.move_many([bodies[k] for k in boxes], motions[boxes, 0], motions[boxes, 1])
        if len(world) < 28:
            world.add(Circle(*rng.uniform(0, 300, 2).tolist(), 4), tag="sheep", data=number)
        if number % 17 == 0 and bodies:
            world.remove(bodies[-1])
        if number % 31 == 0:
            bodies[0].tag = "sheep" if "wolf" in bodies[0].tags else "wolf"
        world.tiles.set(number % 30, 3, number % 2 == 0)
        hit = world.raycast((150, 150), rng.normal(size=2))
        events = world.update()
        seen = (world.positions.tobytes(), hit and hit.distance, *map(len, events))
        self.hash.update(repr(seen).encode())


def play(game, first, last):
    for number in range(first, last):
        game.frame(number)


@pytest.mark.smaller_set
def test_two_worlds_stay_the_same():
    frames = 60
    one, two = Game(1), Game(1)
    play(one, 0, frames)
    play(two, 0, frames)
    assert one.hash.digest() == two.hash.digest()
    assert one.world.stats == two.world.stats


@pytest.mark.smaller_set
def test_going_back_gives_the_same_again():
    game = Game(2)
    play(game, 0, 30)
    for _ in range(3):
        moment = game.world.snapshot(tiles=True)
        at = game.hash.copy()
        play(game, 30, 50)
        there = game.hash.digest()
        play(game, 200, 230)  # what will not have been
        game.world.restore(moment)
        game.world.validate()
        game.hash = at
        play(game, 30, 50)
        assert game.hash.digest() == there
        game.world.restore(moment)
        game.hash = at.copy()
        play(game, 30, 35)


def test_ten_thousand_frames_with_and_without_going_back(exhaustive):
    one, two = Game(3), Game(3)
    for begin in range(0, 10_000 if exhaustive else 500, 500):
        play(one, begin, begin + 500)
        play(two, begin, begin + 200)
        moment, at = two.world.snapshot(tiles=True), two.hash.copy()
        play(two, begin + 7_000, begin + 7_030)
        two.world.restore(moment)
        two.hash = at
        play(two, begin + 200, begin + 500)
        assert one.hash.digest() == two.hash.digest()
    one.world.validate()
    two.world.validate()
    assert one.world.stats.bodies == two.world.stats.bodies > 20


@pytest.mark.smaller_set
def test_what_a_snapshot_holds():
    world = World()
    reported = []
    world.on("a", "b", reported.append, end=reported.append)
    a, b = (
        world.add(Box(0, 0, 10, 10), tag="a", data=["kept"]),
        world.add(Circle(5, 5, 5), tag="b", category=3),
    )
    world.update()
    moment = world.snapshot()
    assert repr(moment) == "<Snapshot of 2 bodies>"
    a.data.append("seen")
    a.data, a.tag, b.category, b.sensor, b.static = None, "b", 1, True, True
    a.shape = Polygon([(50, 0), (60, 0), (60, 9)])
    world.remove(b)
    new = world.add(Box(0, 0, 1, 1), tag="b")
    world.update()
    reported.clear()
    for _ in range(2):
        world.restore(moment)
        assert (a.shape, a.tag, a.data) == (Box(0, 0, 10, 10), "a", ["kept", "seen"])
        assert (b.alive, b.category, b.sensor, b.static) == (True, 3, False, False)
        assert not new.alive
        assert new.shape == Box(0, 0, 1, 1)
        assert list(world) == [a, b]
        assert world.query_point((9, 1)) == [a]
        world.validate()
        began, stayed, ended = world.update()
        assert (len(began), len(stayed), len(ended)) == (0, 1, 0)
        assert world.add(Box(0, 0, 1, 1)).id == 2
    assert reported == []
    world.restore(moment)
    world.remove(b)
    assert [contact.b for contact in world.update().ended] == [b]
    with pytest.raises(ValueError, match="another world"):
        World().restore(moment)


@pytest.mark.smaller_set
def test_a_snapshot_between_a_removal_and_the_update():
    world = World()
    world.on("a", "a")
    a, b, c = (world.add(Box(k, 0, 5, 5), tag="a") for k in range(3))
    world.update()
    world.remove(a)
    c.x = 100
    moment = world.snapshot()
    expected = [list(contacts) for contacts in world.update()]
    assert [len(contacts) for contacts in expected] == [0, 0, 3]
    world.clear()
    world.update()
    world.restore(moment)
    assert [list(contacts) for contacts in world.update()] == expected
    assert list(world) == [b, c]


@pytest.mark.smaller_set
def test_calls_left_over_by_an_exception_go_back_too():
    world = World()
    reported = []

    def fail(contact):
        reported.append(contact.b.id)
        if contact.b.id == 1:
            raise KeyError

    world.on("a", "b", fail)
    world.add(Box(0, 0, 5, 5), tag="a")
    for _ in range(3):
        world.add(Box(0, 0, 5, 5), tag="b")
    with pytest.raises(KeyError):
        world.update()
    moment = world.snapshot()
    for _ in range(2):
        world.restore(moment)
        world.update()
    assert reported == [1, 2, 3, 2, 3]


@pytest.mark.smaller_set
def test_listeners_stay_when_a_world_is_restored():
    world = World()
    world.add(Box(0, 0, 5, 5), tag="a")
    world.add(Box(0, 0, 5, 5), tag="b")
    moment = world.snapshot()
    world.on("a", "b")
    world.restore(moment)
    assert len(world.update().began) == 1


@pytest.mark.smaller_set
def test_the_tiles_go_back_if_they_were_kept():
    world = World()
    world.tiles = TileMap([[False]], 10)
    moment = world.snapshot(tiles=True)
    world.tiles.set(0, 0, True)
    tiles = world.tiles
    without = world.snapshot()
    world.restore(without)
    assert world.tiles.is_solid(0, 0)
    world.restore(moment)
    assert not tiles.is_solid(0, 0)
    tiles.set(0, 0, True)
    tiles.set_one_way(0, 0, "top")
    world.restore(moment)
    assert world.tiles is tiles
    assert not tiles.is_solid(0, 0)
    assert tiles.one_way_sides(0, 0) == ()
