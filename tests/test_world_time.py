"""The same again: worlds with the same inputs, worlds that go back, and snapshots in other processes."""

import copy
import hashlib
import pickle
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from broadphase import ANY, Box, Capsule, Circle, Polygon, RoundedBox, TileMap, World


class Game:
    """A small game that uses everything, driven by numbers; ``hash`` sums up all that was to be seen.

    Bodies have ``data`` unless it says ``data=False``: a pickled snapshot leaves it behind.
    """

    def __init__(self, seed, count=20, period=None, data=True):
        self.world = World(period=period)
        self.hash = hashlib.sha256()
        self.data = data
        rng = np.random.default_rng(seed)
        self.world.tiles = TileMap(rng.random((30, 30)) < 0.1, 10)
        for x, y in rng.integers(0, 300, (10, 2)).tolist():
            self.world.add(Box(x, y, 17, 5), tag="wall", static=True)
        for k, (x, y) in enumerate(rng.uniform(0, 300, (count, 2)).tolist()):
            shape = [Box(x, y, 6, 7), Circle(x, y, 4), Polygon([(x, y), (x + 6, y), (x + 3, y + 5)])][k % 3]
            self.world.add(shape, tag=("wolf", "sheep")[k % 2], data=k if self.data else None)
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
            world.add(
                Circle(*rng.uniform(0, 300, 2).tolist(), 4), tag="sheep", data=number if self.data else None
            )
        if number % 17 == 0 and bodies:
            world.remove(bodies[-1])
        if number % 31 == 0:
            bodies[0].tag = "sheep" if "wolf" in bodies[0].tags else "wolf"
        world.tiles.set(number % 30, 3, number % 2 == 0)
        hit = world.raycast((150, 150), rng.normal(size=2), 400)
        events = world.update()
        seen = (world.positions.tobytes(), hit and hit.distance, *map(len, events))
        self.hash.update(repr(seen).encode())


class Everything(Game):
    """The same with whatever else can happen to a body."""

    def frame(self, number):
        rng = np.random.default_rng(number + 7)
        bodies = list(self.world)
        for _ in range(3):
            self.change(rng, bodies[rng.integers(len(bodies))])
        self.world.step(1 / 60)
        super().frame(number)

    def change(self, rng, body):
        if not body.alive:
            return
        world, (x, y), (dx, dy) = self.world, rng.uniform(0, 300, 2), rng.normal(size=2) * 20
        shapes = Box(x, y, 7, 6), Circle(x, y, 4), RoundedBox(x, y, 8, 5, 2), Capsule(x, y, x + 5, y + 3, 2)
        kind = int(rng.integers(15))
        if kind == 0:
            body.turn_to(float(rng.choice((0, 30.5, 90, 360))))
        elif kind == 1:
            body.shape = shapes[int(rng.integers(4))]
        elif kind == 2:
            body.static = not body.static
        elif kind == 3:
            body.sensor = not body.sensor
        elif kind == 4:
            body.category, body.mask = 3 - body.category, int(rng.choice((0xFFFFFFFF, 1, 3)))
        elif kind == 5:
            body.tag = [None, "wolf", ("sheep", "wall"), ("wolf", int(rng.integers(100)))][rng.integers(4)]
        elif kind == 6:
            body.move_to(x, y)
        elif kind == 7:
            self.hash.update(repr(len(world.push(body, dx, dy).pushed)).encode())
        elif kind == 8 and isinstance(body.shape, Box):
            self.hash.update(repr(world.walk(body, dx, dy, step=3)[:2]).encode())
        elif kind == 9:
            world.move(body, 9 * dx, 9 * dy, "cross")
        elif kind == 10:
            world.tiles.set_one_way(int(x) // 10, int(y) // 10, ("top", "left"))
        elif kind == 11:
            world.tiles.set_slope(int(x) // 10, int(y) // 10, 0, 1)
        elif kind == 12:
            world.remove_many([body])
        elif kind == 13:
            body.velocity, body.response = (9 * dx, 9 * dy), (None, "bounce", "touch")[rng.integers(3)]
        elif kind == 14:
            world.add_many([shapes[int(k)] for k in rng.integers(0, 4, 3)], tag="wolf", sensor=True)


def play(game, first, last):
    for number in range(first, last):
        game.frame(number)


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
        world.add(Circle(5, 5, 5), tag="b", category=3, mask=7),
    )
    world.update()
    moment = world.snapshot()
    assert repr(moment) == "<Snapshot of 2 bodies>"
    a.data.append("seen")
    a.data, a.tag, b.category, b.sensor, b.static, b.mask = None, "b", 1, True, True, 2
    a.shape = Polygon([(50, 0), (60, 0), (60, 9)])
    world.remove(b)
    new = world.add(Box(0, 0, 1, 1), tag="b")
    world.update()
    reported.clear()
    for _ in range(2):
        world.restore(moment)
        assert (a.shape, a.tag, a.data) == (Box(0, 0, 10, 10), "a", ["kept", "seen"])
        assert (b.alive, b.category, b.sensor, b.static, b.mask) == (True, 3, False, False, 7)
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
    for other in (moment, pickle.loads(pickle.dumps(moment))):
        with pytest.raises(ValueError, match=r"period=None; this one has \(90.0, None\)"):
            World(period=(90, None)).restore(other)


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


# ---- in another world


@pytest.mark.parametrize("period", [None, (300, 300)])
def test_a_pickled_snapshot_gives_the_same_in_other_worlds(period, each):
    frames = 100 if each.exhaustive else 40
    for seed in range(12 if each.exhaustive else 1):
        one, fresh, lived = (Everything(seed, period=period, data=False) for _ in range(3))
        first = seed * 7 % 40
        play(one, 0, first)
        play(lived, 500, 510 + seed)
        moment, at = one.world.snapshot(tiles=True), one.hash.copy()
        pickled = pickle.dumps(moment)
        play(one, first, first + frames)
        expected = one.hash.digest()
        moments = (one, moment), (fresh, pickle.loads(pickled)), (lived, pickle.loads(pickled))
        for game, known in (*moments, (lived, copy.deepcopy(moment)), (fresh, moment)):
            game.world.restore(known)
            game.world.validate()
            game.hash = at.copy()
            play(game, first, first + frames)
            assert game.hash.digest() == expected, seed


def go_on(seed, period, file):
    """What another process does with a snapshot; it prints what was to be seen."""
    game = Everything(seed, period=period, data=False)
    game.world.restore(pickle.loads(Path(file).read_bytes()))
    play(game, 30, 80)
    print(game.hash.hexdigest())


@pytest.mark.parametrize("period", [pytest.param(None, marks=pytest.mark.exhaustive), (300, 300)])
def test_another_process_goes_on_from_a_pickled_snapshot(period, tmp_path):
    game = Everything(5, period=period, data=False)
    play(game, 0, 30)
    (tmp_path / "moment").write_bytes(pickle.dumps(game.world.snapshot(tiles=True)))
    game.hash = hashlib.sha256()
    play(game, 30, 80)
    program = f"import test_world_time; test_world_time.go_on(5, {period}, {str(tmp_path / 'moment')!r})"
    ran = subprocess.run(
        [sys.executable, "-c", program],
        cwd=Path(__file__).parent, capture_output=True, text=True, timeout=300, check=False,
    )  # fmt: skip
    assert ran.returncode == 0, ran.stderr
    assert ran.stdout.split()[-1] == game.hash.hexdigest()


@pytest.mark.smaller_set
def test_a_pickled_snapshot_is_small():
    world, rng = World(), np.random.default_rng(1)
    world.on("a", "b")
    for k, (x, y, w, h) in enumerate(rng.uniform(1, 9, (1_000, 4)).tolist()):
        shape = Circle(99 * x, 99 * y, w) if k % 3 else Box(99 * x, 99 * y, w, h)
        world.add(shape, tag="ab"[k % 2], category=k % 5 + 1, data=object())
    world.turn_many(world.bodies("a")[:9], range(9))
    assert len(world.update().began) > 20
    assert len(pickle.dumps(world.snapshot())) < 64 * 1_000


def three():
    """A world of three bodies in contact, and what its listeners are told."""
    world, told = World(), []
    bodies = [world.add(Box(k, 0, 5, 5), tag="a", data=f"data {k}") for k in range(3)]
    for phase in ("begin", "end"):
        world.on("a", "a", **{phase: lambda contact, phase=phase: told.append((phase, *contact[:2]))})
    return world, bodies, told


@pytest.mark.smaller_set
def test_bodies_of_another_world_are_known_by_their_ids():
    one, bodies, _ = three()
    one.update()
    bodies[1].x, bodies[1].category = 3, 2
    bodies[2].remove()
    added = one.add_many([[50, 0, 55, 5]] * 2, tag=("b", "c"), static=True, data=[lambda: 1] * 2)
    moment = pickle.loads(pickle.dumps(one.snapshot()))
    assert repr(moment) == "<Snapshot of 4 bodies>"
    two, known, told = three()
    extra = two.add(Box(9, 9, 1, 1))
    two.remove(known[0])
    extra_too = two.add_many([[0, 0, 1, 1]] * 200)
    for _ in range(2):
        two.restore(moment)
        two.validate()
        assert [body.id for body in two] == [body.id for body in one] == [0, 1, 2, 3]
        shown = [[(one.id, one.tags, one.shape) for one in many] for many in (two, one)]
        assert shown[0] == shown[1]
        assert not any(body.alive for body in [known[0], *extra_too[1:]])
        assert two.body(1) is known[1]
        assert two.body(2) is known[2]
        assert two.body(3) is extra
        assert (known[1].data, known[1].category, extra.data, extra.tags) == ("data 1", 2, None, {"b", "c"})
        assert two.query_point((51, 1)) == list(two)[2:]
    assert two.add(Box(0, 0, 1, 1)).id == one.add(Box(0, 0, 1, 1)).id == 4
    assert [len(found) for found in two.update()] == [len(found) for found in one.update()] == [0, 1, 2]
    assert [(phase, a.id, b.id) for phase, a, b in told] == [("end", 0, 2), ("end", 1, 2)]
    assert not added[0].alive or added[0].data() == 1


@pytest.mark.smaller_set
def test_what_was_removed_before_the_snapshot_is_the_body_of_the_other_world():
    one, bodies, _ = three()
    one.update()
    bodies[2].x = 4
    bodies[2].remove()
    moment = pickle.dumps(one.snapshot())
    (two, known, told), fresh = three(), World()
    fresh.on("a", "a")
    fresh.on("a", "a", end=(ended := []).append)
    two.update()
    told.clear()
    two.restore(pickle.loads(moment))
    two.update()
    assert told == [("end", known[0], known[2]), ("end", known[1], known[2])]
    assert (known[2].alive, known[2].x, known[2].data) == (False, 4, "data 2")
    fresh.restore(pickle.loads(moment))
    assert list(fresh.update().ended) == ended
    assert [(contact.b.id, contact.b.x, contact.b.data) for contact in ended] == [(2, 4, None)] * 2


@pytest.mark.smaller_set
def test_a_removed_body_is_what_it_was_then():
    world = World()
    world.on("a", "a")
    a, b = (world.add(Box(k, 0, 5, 5), tag="a") for k in range(2))
    world.update()
    early = world.snapshot()
    b.x = 3
    b.remove()
    late = world.snapshot()
    world.restore(early)
    world.restore(late)
    assert b.x == 3
    assert [contact.b.x for contact in world.update().ended] == [3]
    assert list(world) == [a]


@pytest.mark.smaller_set
@pytest.mark.parametrize("travels", [False, True])
def test_calls_still_to_come_are_made_where_the_snapshot_is_restored(travels):
    def made():
        world, calls = World(), []

        def begin(contact):
            calls.append((contact.a.id, contact.b.id))
            if contact.b.id == 1:
                moments.append(world.snapshot())
                contact.b.remove()
                raise KeyError

        world.on("a", "b", begin, end=lambda contact: calls.append(("end", contact.b.id)))
        for k in range(4):
            world.add(Box(0, 0, 5, 5), tag="ab"[k > 0])
        return world, calls

    moments = []
    world, calls = made()
    with pytest.raises(KeyError):
        world.update()
    world.update()
    assert calls == [(0, 1), (0, 2), (0, 3), ("end", 1)]
    for moment in (moments[0], world.snapshot()):
        world, calls = made() if travels else (world, calls)
        calls.clear()
        world.restore(pickle.loads(pickle.dumps(moment)) if travels else moment)
        world.update()
        assert calls == ([(0, 2), (0, 3)] if moment is moments[0] else [])


@pytest.mark.smaller_set
def test_listeners_of_another_world_are_known_by_their_tags_and_their_order():
    one, _, _ = three()
    listener = one.on("a", ANY, end=print)
    one.update()
    listener.remove()
    moment = pickle.dumps(one.snapshot())
    two, bodies, told = three()
    two.on("a", "a", begin=lambda contact: told.append("third"))
    two.on("a", "b", begin=lambda contact: told.append("other tags"))
    two.restore(pickle.loads(moment))
    two.update()
    assert told == ["third"] * 3  # to the others that is no news
    bodies[2].x = 100
    two.update()
    assert told[3:] == [("end", bodies[0], bodies[2]), ("end", bodies[1], bodies[2])]
    silent = World()
    silent.restore(pickle.loads(moment))
    assert [len(found) for found in silent.update()] == [0, 0, 3]


@pytest.mark.smaller_set
def test_a_map_goes_into_a_map_as_large_or_comes_along():
    one = World()
    one.tiles = TileMap([[True, False]], 10)
    one.tiles.set_one_way(1, 0, "top")
    moment = pickle.loads(pickle.dumps(one.snapshot(tiles=True)))
    two, other, none = World(), World(), World()
    mine, smaller = TileMap([[False, True]], 10), TileMap([[False, True]], 8)
    two.tiles, other.tiles = mine, smaller
    for world in (two, other, none):
        world.restore(moment)
        assert world.tiles.solid.tolist() == [[True, False]]
        assert world.tiles.one_way_sides(1, 0) == ("top",)
        world.tiles.set(0, 0, False)
    assert (two.tiles is mine, other.tiles is smaller) == (True, False)
    assert one.tiles.is_solid(0, 0)
    empty = none.snapshot(tiles=True)
    none.tiles = None
    without = none.snapshot(tiles=True)
    for moment, there in ((empty, True), (without, False), (pickle.loads(pickle.dumps(without)), False)):
        none.restore(moment)
        assert (none.tiles is not None) == there


@pytest.mark.smaller_set
def test_a_tag_that_can_not_be_pickled_is_named():
    world = World()
    world.add(Box(0, 0, 1, 1), tag=lambda: 1)
    moment = world.snapshot()
    with pytest.raises((pickle.PicklingError, AttributeError), match="lambda"):
        pickle.dumps(moment)
    world.clear()
    world.restore(moment)
    assert len(world) == 1


@pytest.mark.smaller_set
@pytest.mark.parametrize("travels", [False, True])
def test_what_is_easily_forgotten_goes_back_too(travels):
    def kept(world):
        moment = world.snapshot()
        return pickle.loads(pickle.dumps(moment)) if travels else moment

    world, calls = World(), []
    world.on("a", "b", begin=lambda contact: calls.append("begin"), end=lambda contact: calls.append("end"))
    world.on("a", "c")
    a, b = world.add(Box(0, 0, 5, 5), tag="a"), world.add(Box(4, 0, 5, 5), tag="b")
    world.update()
    b.tag = "c"
    retagged = kept(world)
    world.update()
    assert calls == ["begin", "end"]
    world.restore(retagged)
    world.update()
    assert calls == ["begin", "end", "end"]

    b.tag, a.x = "b", -50
    world.update()
    world.move(a, 100, 0)
    world.update()
    stopped = kept(world)  # flush: in contact until the update after the next
    assert [len(found) for found in world.update()] == [0, 0, 1]
    world.restore(stopped)
    assert [len(found) for found in world.update()] == [0, 0, 1]

    before = kept(world)
    b.shape = Box(*b.position, 50, 5)
    assert world.query_point((40, 1)) == [b]
    world.restore(before)
    assert world.query_point((40, 1)) == []
    world.validate()


@pytest.mark.smaller_set
def test_shapes_that_come_along_reach_across_the_edge():
    one, two = World(period=(100, 100)), World(period=(100, 100))
    two.add(Box(50, 50, 1, 1))
    body = one.add(Box(80, 50, 40, 5))
    body.turn_to(45)
    two.restore(pickle.loads(pickle.dumps(one.snapshot())))
    two.validate()
    assert two.body(0).shape == body.shape
    for point in ((15, 67), (99, 52), (86, 39)):
        assert len(two.query_point(point)) == len(one.query_point(point))
    assert [body.id for body in two.query_point((12, 64))] == [0]
