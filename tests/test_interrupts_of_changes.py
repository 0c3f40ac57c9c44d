"""Ctrl-C at any moment of a call that changes a world or an index: it has not happened, or all of it has."""

import pickle

import numpy as np
import oracle
import pytest
import scenes
from index_scenes import NAMES
from interrupting import moments
from world_helpers import Heard, names

import broadphase as bp
from broadphase import Box, Circle, Polygon, World
from broadphase.balls import BallSimulation
from broadphase.indexes.storage import BoxStore
from broadphase.kernels.machine.mode import PLAIN
from broadphase.runtime import memory

pytestmark = pytest.mark.skipif(PLAIN, reason="kernels that are Python are interrupted in their midst")

TRIANGLE = Polygon([(0, 0), (6, 0), (0, 6)])


class Scene:
    """A world in the middle of a game: contacts in progress, a free row, something that has moved since."""

    def __init__(self, period):
        self.world = world = World(period=period)
        self.heard = Heard(world, ("a", "b"))
        shapes = [Box(4 * k, k % 3, 5, 5) for k in range(8)] + [TRIANGLE, Circle(20, 3, 4), Box(60, 0, 4, 4)]
        self.bodies = [
            world.add(shape, tag="ab"[k % 2], static=k == 6, sensor=k == 5, data=k)
            for k, shape in enumerate(shapes)
        ]
        self.moment = world.snapshot()
        self.pickled = pickle.dumps(self.moment)
        self.bodies[10].turn_to(30)
        world.update()
        world.remove(self.bodies[3])
        self.bodies[1].x += 3
        world.move(self.bodies[0], 1, 0)

    def facts(self):
        """All that a user can see of it between two updates."""
        facts = [
            (body.id, body.data, body.shape, body.tags, body.static, body.sensor, body.category, body.mask)
            for body in self.world
        ]
        listeners = len(self.world._state.listeners.matcher.listeners)
        return repr((facts, [body.alive for body in self.bodies], listeners))

    def reported(self):
        """What listeners hear from here on."""
        self.world.validate()
        for _ in range(2):
            events = self.world.update()
        calls = [call for call in self.heard.reported() if call[0] != "stay"]
        return calls, names(events.stayed), [body.id for body in self.world.query_box((0, 0, 30, 30))]


class Lifts(Scene):
    """With a jump-through lift and its rider, and a walker beside a crate."""

    def __init__(self, period):
        super().__init__(period)
        self.lift, self.rider, self.walker, self.crate = self.world.add_many(
            [[300, 60, 320, 63], [302, 55, 307, 60], [400, 55, 405, 60], [406, 55, 411, 60]], tag="a"
        )
        self.lift.one_way, self.lift.velocity = "top", (2, -3)
        self.crate.tag = "b"


def moved(scene):
    return [body for body in scene.bodies[:3] if body.alive]


WORLD = {
    "add": lambda s: s.world.add(Box(2, 2, 3, 3), tag="a", data="new"),
    "add polygon": lambda s: s.world.add(TRIANGLE, tag="a", data="new"),
    "add_many": lambda s: s.world.add_many([[2, 2, 5, 5]] * 80, tag="a", data=range(80)),
    "add_many shapes": lambda s: s.world.add_many([Circle(3, 3, 2), TRIANGLE, Box(0, 0, 2, 2)], tag="b"),
    "remove": lambda s: s.world.remove(s.bodies[1]),
    "remove_many": lambda s: s.world.remove_many([s.bodies[k] for k in (0, 1, 8, 10)]),
    "clear": lambda s: s.world.clear(),
    "move_to": lambda s: s.bodies[2].move_to(1, 1),
    "move_all": lambda s: s.world.move_all(moved(s), np.arange(6).reshape(3, 2)),
    "turn_to": lambda s: s.bodies[0].turn_to(30, about=(0, 0)),
    "turn_many": lambda s: s.world.turn_many(moved(s), [10, 20, 30]),
    "shape": lambda s: setattr(s.bodies[9], "shape", Polygon([(0, 0), (4, 0), (4, 4), (0, 4)])),
    "tag": lambda s: setattr(s.bodies[0], "tag", "b"),
    "static": lambda s: setattr(s.bodies[0], "static", True),
    "mask": lambda s: setattr(s.bodies[0], "mask", 6),
    "move": lambda s: s.world.move(s.bodies[0], 70, 0, "slide"),
    "try_move": lambda s: s.world.try_move(s.bodies[0], 0, -30),
    "move_many": lambda s: s.world.move_many(moved(s), [30, 2, -3], [0, -30, 0], "bounce"),
    "push": lambda s: s.world.push(s.bodies[0], 0, 6),
    # To slide out of what they are inside of takes 20,000 moments.
    "move_as_one": lambda s: s.world.move_as_one(moved(s), 0, -30, "cross"),
    "turn_as_one": lambda s: s.world.turn_as_one([s.bodies[0], s.bodies[10]], 40),
    "separate": lambda s: s.world.separate(moved(s)),
    "walk": lambda s: s.world.walk(s.bodies[0], -9, 4),
    "restore": lambda s: s.world.restore(s.moment),
    "restore pickled": lambda s: s.world.restore(pickle.loads(s.pickled)),
    "update": lambda s: s.world.update(),
    "on": lambda s: s.world.on("a", "a", end=print),
    "off": lambda s: s.world.off(s.world._state.listeners.matcher.listeners[0]),
}


LIFTS = {
    "move a lift": lambda s: s.world.move(s.lift, 2, -3),
    "move_many a lift": lambda s: s.world.move_many([s.lift, s.crate], 2, -3),
    "step a lift": lambda s: s.world.step(1.0),
    "move_as_one a lift": lambda s: s.world.move_as_one([s.lift, s.crate], 2, -3),
    "move dry": lambda s: s.world.move(s.walker, 20, 5, dry=True),
    "walk with a crate": lambda s: s.world.walk(s.walker, 4, 1, pushes="b"),
}


@pytest.mark.parametrize("call", [*WORLD, *LIFTS])
def test_a_world_is_as_it_was_or_all_is_done(call, each):
    act, scene_of = (WORLD[call], Scene) if call in WORLD else (LIFTS[call], Lifts)
    all_moments = each.exhaustive or call == "move dry"  # only a few of them are dangerous
    for period in (None, 1000) if each.exhaustive else (None,):
        before, after = scene_of(period), scene_of(period)
        act(after)
        facts, done = before.facts(), after.facts()
        reported = after.reported()
        # With a period there are more calls: three times as many moments.
        step = 1 if period is None else 7
        for k, scene in moments(act, lambda period=period: scene_of(period), all_moments, step):
            now = scene.facts()
            assert now in (facts, done), f"moment {k}"
            if now == facts:
                act(scene)
            assert scene.facts() == done, f"moment {k}"
            assert scene.reported() == reported, f"moment {k}"


@pytest.mark.smaller_set
@pytest.mark.parametrize("call", ["insert_many", "_replace", "remove_many"])
@pytest.mark.parametrize("done", [False, True])
def test_an_index_of_a_world_whose_change_failed_is_filled_from_the_bodies(monkeypatch, call, done):
    world = World()
    bodies = world.add_many([[4 * k, 0, 4 * k + 5, 5] for k in range(20)], tag="a")
    world.on("a", "a")
    world.update()
    world.validate()  # which fills the indexes
    world.remove_many(bodies[:3])
    world.move_all(bodies[3:6], [[200, 0], [203, 0], [300, 0]])
    world.add_many([[201, 1, 202, 2], [500, 0, 501, 1]], tag="a")
    index = type(world._state.broad_phase._indexes[0])
    change = getattr(index, call)

    def fails(self, *given, **rules):
        if done:
            change(self, *given, **rules)
        raise MemoryError

    with monkeypatch.context() as patch:
        patch.setattr(index, call, fails)
        with pytest.raises(MemoryError):
            world.raycast((0, 0), (1, 0))  # other queries look at so few changes one by one
    assert [body.id for body in world.query_box((200, 0, 204, 5))] == [0, 3, 4]
    world.validate()
    assert world.update().began.ids.tolist() == [[0, 3]]


BOXES = scenes.make("uniform", 60, 2)
INDEX = {
    "insert": lambda index: index.insert(BOXES[50], static=True),
    "insert_many": lambda index: index.insert_many(BOXES[40:], static=np.arange(20) % 5 == 0),
    "remove": lambda index: index.remove(int(index.ids[5])),
    "remove_many": lambda index: index.remove_many(index.ids[::2]),
    "move": lambda index: index.move(int(index.ids[5]), tuple(BOXES[50].tolist())),
    "move_many": lambda index: index.move_many(index.ids[::2], BOXES[: len(index.ids[::2])]),
    "update": lambda index: index.update(BOXES[10 : 10 + len(index)]),
    "clear": lambda index: index.clear(),
    "reserve": lambda index: index.reserve(500),
    "pairs": lambda index: index.pairs(),
    "changes": lambda index: index.changes(),
    "copy": lambda index: index.copy(),
    "query_box": lambda index: index.query_box(BOXES),
    "raycast": lambda index: index.raycast(BOXES[:, :2], [1.0, 0.5]),
    "query_ray": lambda index: index.query_ray(BOXES[:, :2], [1.0, 0.5]),
    "nearest": lambda index: index.nearest(BOXES[:, :2], k=3),
    "join": lambda index: index.join(index),
}


def made(name, boxes):
    bounds = {"bounds": [-50, -50, 50, 50], "cell_size": 2.0} if name == "uniform_grid" else {}
    index = bp.make_index(name, threads=1, **bounds)
    index.insert_many(boxes[:40])
    index.remove_many(np.arange(0, 20, 3))  # so that ids are free
    return index


def seen(index):
    """What is in it."""
    return [index.ids.tolist(), index.boxes.tolist(), index._store.classes[index.ids].tolist()]


@pytest.mark.parametrize("name", NAMES)
def test_an_index_is_as_it_was_or_all_is_done(monkeypatch, name, each):
    monkeypatch.setattr("broadphase.runtime.thresholds.FEWEST_BOXES", 10)

    def ready():
        index = made(name, BOXES)
        index.changes()
        index.move(int(index.ids[3]), BOXES[55])
        return index

    for call, act in INDEX.items():
        before, after = ready(), ready()
        act(after)
        for k, index in moments(act, ready, each.exhaustive):
            where = f"{call}, moment {k}"
            now = seen(index)
            assert now in (seen(before), seen(after)), where
            if now == seen(before):
                act(index)
            assert seen(index) == seen(after), where
            index.validate()
            pairs = oracle.pairs(index.boxes, static=index._store.classes[index.ids] != 0)
            right = index.ids[pairs].tolist()
            assert index.pairs().tolist() == right, where
            changes = index.changes()
            together = changes.began.tolist() + changes.stayed.tolist()
            assert sorted(together) == right, where


@pytest.mark.smaller_set
def test_all_arrays_grow_or_none():
    def ready():
        store = BoxStore(2, np.float64)
        store.reserve(4)
        return store

    for k, store in moments(lambda store: store.reserve(9), ready, True):
        lengths = {len(getattr(store, name)) for name in ("boxes", "alive", "classes", "categories", "masks")}
        assert len(lengths) == 1, f"moment {k}"


@pytest.mark.smaller_set
def test_changes_that_fail_do_not_believe_the_journal_any_more(monkeypatch):
    monkeypatch.setattr("broadphase.runtime.thresholds.FEWEST_BOXES", 10)
    index = made("box_tree", BOXES)
    index.changes()
    index.move(int(index.ids[3]), BOXES[55])
    assert index._journal.open

    def fail(*arguments):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(type(index._journal), "begin", fail)
        with pytest.raises(KeyboardInterrupt):
            index.changes()
    assert not index._journal.open


@pytest.mark.smaller_set
def test_a_result_whose_making_was_interrupted_is_nothing():
    memory._Lease.__new__(memory._Lease).__del__()
    assert bp.pairs(BOXES, threads=1).tolist() == oracle.pairs(BOXES).tolist()


def test_a_step_of_balls_has_not_happened_or_has(exhaustive):
    def facts(balls):
        return repr((balls.positions.tolist(), balls.velocities.tolist(), balls.pairs.tolist()))

    def ready():
        balls = BallSimulation(12, bounds=(0, 0, 90, 90), seed=2)
        balls.grab(3)
        balls.step(0.02)
        return balls

    untouched, done = ready(), ready()
    done.step(0.05, 2)
    states = {facts(untouched), facts(done)}
    seen = set()
    for moment, balls in moments(lambda balls: balls.step(0.05, 2), ready, exhaustive):
        seen.add(facts(balls))
        assert seen <= states, moment
        other = untouched if facts(balls) == facts(untouched) else done
        assert balls._index.boxes.tolist() == other._index.boxes.tolist(), moment
        balls.step(0.01)
    assert facts(untouched) in seen


def test_an_index_that_is_not_taken_is_as_it_was(exhaustive):
    def ready():
        balls = BallSimulation(12, bounds=(0, 0, 90, 90), seed=2)
        return balls, bp.BoxTree(), balls._index

    for moment, (balls, index, before) in moments(lambda made: made[0].use(made[1]), ready, exhaustive):
        assert (balls._index, len(index)) in [(before, 0), (index, 12)], moment
        balls.step(0.1)


def test_an_interrupted_slope_is_set_completely_or_not_at_all(exhaustive):
    def ready():
        level = bp.TileMap(np.zeros((2, 3), bool), 16)
        level.set_slope(0, 0, 0, 1)
        return level

    for moment, level in moments(lambda level: level.set_slope(1, 0, 0.5, 1), ready, exhaustive):
        assert level.slope(1, 0) in (None, bp.Slope(0.5, 1)), moment
        level.set_slope(1, 1, 1, 0)
        level.set_slope(2, 1, 0.5, 1)
        slopes = [level.slope(*at) for at in ((0, 0), (1, 1), (2, 1))]
        assert slopes == [bp.Slope(0, 1), bp.Slope(1, 0), bp.Slope(0.5, 1)], moment


@pytest.mark.parametrize("name", NAMES)
def test_an_index_becomes_one_of_many_worlds_or_does_not(name, exhaustive):
    boxes = np.array([[0, 0, 2, 2], [1, 1, 3, 3], [5, 5, 6, 6]], float)

    def insert(index):
        index.insert_many(boxes + 0.5, env=[1, 2, 3])

    def ready():
        own = {"bounds": (0, 0, 10, 10), "cell_size": 2} if name == "uniform_grid" else {}
        index = bp.make_index(name, **own)
        index.insert_many(boxes)
        index.changes()
        return index

    def facts(index):
        return index.boxes.tolist(), index.envs.tolist(), index.pairs().tolist()

    untouched, done = ready(), ready()
    insert(done)
    for moment, index in moments(insert, ready, exhaustive):
        assert facts(index) in (facts(untouched), facts(done)), moment
        index.validate()
        if len(index) == len(untouched):
            insert(index)
        assert facts(index) == facts(done), moment
        assert index.changes().began.tolist() == done.pairs()[1:].tolist(), moment


def test_what_was_recorded_before_and_after_an_interrupt_is_right(exhaustive, tmp_path):
    recorders = []

    def ready():
        world = World()
        world.tiles = bp.TileMap(np.zeros((4, 4), bool), 16)
        bodies = [world.add(Box(10 * k, 0, 5, 5), tag="a") for k in range(4)]
        recorder = bp.Recorder(world, tmp_path / "game.bprec")
        recorders.append(recorder)
        world.update()
        bodies[0].x += 1
        world.tiles.set(1, 1, True)
        bodies.append(world.add(Circle(3, 3, 2), tag="b"))
        return world, bodies, recorder

    lengths = set()
    step = 1 if exhaustive else 29  # the frame is being written for a seventh of the moments
    for moment, (world, bodies, recorder) in moments(lambda made: made[0].update(), ready, True, step):
        bodies[1].x += 1
        world.update()
        goes_on, number = "update" in vars(world), recorder.frames
        recorder.close()
        recording = bp.Recording(tmp_path / "game.bprec")
        # The last moment is when a frame is written, and not counted yet.
        assert 1 <= number <= len(recording) <= number + (not goes_on), moment
        lengths.add(number)
        if goes_on:
            last = recording[number - 1]
            assert last.boxes.tolist() == [list(body.bounds) for body in bodies], moment
            assert last.tiles.solid.tolist() == world.tiles.solid.tolist(), moment
    recorders[-1].close()
    assert lengths >= {1, 3}


@pytest.mark.parametrize("change", ["insert", "insert_many", "move_many", "remove_many"])
def test_an_index_of_points_has_changed_or_has_not(change, exhaustive):
    more = np.array([[7.0, 7.0], [8.0, 8.0]])
    arguments = {
        "insert": (more[0],),
        "insert_many": (more,),
        "move_many": ([3, 4], more),
        "remove_many": ([0, 4],),
    }

    def ready():
        index = bp.PointIndex(np.arange(10.0).reshape(5, 2))
        index.remove(1)
        index.nearest(more, 2)
        return index

    def run(index):
        getattr(index, change)(*arguments.get(change, ()))

    def facts(index):
        found = bp.nearest(more, 2, other=index.points)
        assert np.append(index.ids, -1)[found.ids].tolist() == index.nearest(more, 2).ids.tolist()
        return index.ids.tolist(), index.points.tolist()

    untouched, done = ready(), ready()
    run(done)
    states = facts(untouched), facts(done)
    for moment, index in moments(run, ready, exhaustive):
        assert facts(index) in states, moment
        if facts(index) == states[0]:
            run(index)
        assert facts(index) == states[1], moment
