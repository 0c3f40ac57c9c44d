"""Lives of worlds against a list of shapes: whatever happened before, every answer is that of brute force.

A life is a product of choices: bodies with listeners and without, static and moving, added singly and by the
thousand; an update before or none; plain or periodic; every query and movement, single and many;
snapshots, restored, copied and pickled worlds.  What the list of shapes cannot say, such as where a slanted
way along round bodies ends, is computed by a twin: a new world of the same bodies, which agrees to the last
bit as the one that has lived.
"""

import copy
import pickle
import random

import numpy as np
import pytest
from lives_model import Lives, ModelBody

from broadphase import Body, Box, Circle, Polygon, World

PERIOD = (64.0, 48.0)
TAGS = ("a", "b", None, None)


class Life:
    """One world and its model, driven by a seed."""

    crowded = 0.005
    """In how many lives there are thousands."""

    def __init__(self, seed):
        self.random = random.Random(seed)
        period = self.random.choice((None, PERIOD))
        self.round = self.random.random() < 0.3
        self.world, self.model = World(period=period), Lives(period)
        self.crossed, self.stopped, self.unsure, self.moments, self.done = [], [], set(), [], []
        self.listeners = []
        # Small populations, so that a path from a wall without listeners is often free.
        for _ in range(self.random.randrange(1, 9)):
            self.add()
        if self.random.random() < 0.3:
            self.add_many(self.random.choice((2, 40, 150)))
        if self.random.random() < self.crowded:
            self.add_thousands()
        if self.random.random() < 0.6:
            self.on()

    # ---- choices

    def number(self, most):
        return self.random.randrange(0, 4 * most + 1) / 4

    def item(self):
        pick = self.random.random
        rules = {
            "tag": self.random.choice(TAGS),
            "static": pick() < 0.5,
            "sensor": pick() < 0.15,
            "category": self.random.choice((1, 1, 1, 2, 3)),
            "mask": self.random.choice((0xFFFFFFFF, 0xFFFFFFFF, 1, 3)),
        }
        x, y = self.number(60), self.number(44)
        if self.round and pick() < 0.4:
            return ModelBody(x, y, 0, 0, self.number(5) + 0.25, **rules)
        size = (self.number(3) + 0.25, self.number(40) + 0.25)
        return ModelBody(x, y, *self.random.choice((size, size[::-1], (2.0, 2.0))), **rules)

    def some(self):
        return self.random.choice(sorted(self.model.bodies))

    def several(self):
        known = sorted(self.model.bodies)
        return self.random.sample(known, self.random.randrange(0, min(len(known), 12) + 1))

    def bodies(self, ids):
        return [self.world.body(k) for k in ids]

    # ---- changes

    def add(self):
        item = self.item()
        body = self.world.add(shape_of(item), **rules_of(item))
        assert body.id == self.model.add(item)

    def add_many(self, count=None):
        rules = rules_of(self.item())
        items = [self.item() for _ in range(count or self.random.choice((1, 3, 20)))]
        for item in items:
            item.__dict__.update(rules)
        bodies = self.world.add_many([shape_of(item) for item in items], **rules)
        assert [body.id for body in bodies] == [self.model.add(item) for item in items]

    def add_thousands(self):
        """Small bodies of one kind: this many make indexes rebuild instead of change."""
        rules, count = rules_of(self.item()), self.random.choice((1_000, 2_500))
        places = [(self.number(60), self.number(44)) for _ in range(count)]
        items = [ModelBody(x, y, 0.25, 0.25, **rules) for x, y in places]
        bodies = self.world.add_many([shape_of(item) for item in items], **rules)
        assert [body.id for body in bodies] == [self.model.add(item) for item in items]

    def clear(self):
        if self.random.random() < 0.3:
            self.world.clear()
            self.model.bodies = {}

    def remove(self):
        k = self.some()
        self.world.remove(self.world.body(k))
        del self.model.bodies[k]

    def remove_many(self):
        some = self.several()
        self.world.remove_many(np.array(some, np.int64) if self.random.random() < 0.5 else self.bodies(some))
        for k in some:
            del self.model.bodies[k]

    def move_to(self):
        k, x, y = self.some(), self.number(60), self.number(44)
        self.world.body(k).move_to(x, y)
        self.model.place(self.model.bodies[k], x, y)

    def move_all(self):
        some = self.several()
        places = [(self.number(60), self.number(44)) for _ in some]
        self.world.move_all(np.array(some, np.int64), places)
        for k, place in zip(some, places, strict=True):
            self.model.place(self.model.bodies[k], *place)

    def reshape(self):
        k, new = self.some(), self.item()
        self.world.body(k).shape = shape_of(new)
        old = self.model.bodies[k]
        old.w, old.h, old.r = new.w, new.h, new.r
        self.model.place(old, new.x, new.y)

    def turn(self):
        """To an angle and back: it is the shape that it was."""
        body = self.world.body(self.some())
        body.turn_to(self.random.choice((45, 90, 30.5)))
        if self.random.random() < 0.3:
            self.settle()
        body.turn_to(0)
        self.settle()

    def set_rules(self):
        k = self.some()
        item, body = self.model.bodies[k], self.world.body(k)
        name = self.random.choice(("tag", "static", "sensor", "category", "mask"))
        value = getattr(self.item(), name)
        setattr(item, name, value)
        setattr(body, name, value)

    # ---- listeners, updates

    def on(self):
        a, b = self.random.choice((("a", "b"), ("a", "a"), ("b", "b")))
        self.listeners.append((self.world.on(a, b), (a, b)))
        self.model.listened.append((a, b))

    def off(self):
        if self.listeners:
            listener, tags = self.listeners.pop(self.random.randrange(len(self.listeners)))
            self.world.off(listener)
            self.model.listened.remove(tags)
            self.settle()

    def update(self):
        events = self.world.update()
        expected = self.model.update(self.stopped, self.crossed)
        found = [set(map(tuple, contacts.ids.tolist())) for contacts in events]
        for got, wanted in zip(found, expected, strict=True):
            assert got - self.unsure == wanted - self.unsure
        self.crossed, self.stopped, self.unsure = [], [], set()

    def settle(self):
        """Two updates whose events are not compared: of the second it is known what was in contact before."""
        for _ in range(2):
            self.world.update()
            self.model.update()
        self.crossed, self.stopped, self.unsure = [], [], set()

    def note(self, movers, hits):
        """What a movement crossed begins and ends; what stopped it is in contact at the next update."""
        items = self.model.bodies
        for noted, some, others in zip((self.crossed, self.stopped), movers, hits, strict=True):
            pairs = [(items[i], items[j]) for i, j in zip(some, others, strict=True)]
            noted += [pair for pair in pairs if self.model.concerned(*pair)]
        if self.random.random() < 0.5:
            self.update()

    # ---- the same world in other hands

    def snapshot(self):
        items = {k: (item, item.copy()) for k, item in self.model.bodies.items()}
        self.moments.append((self.world.snapshot(), items, self.model.before))

    def restore(self):
        if not self.moments:
            return
        moment, items, before = self.random.choice(self.moments)
        self.world.restore(moment)
        self.model.bodies = {}
        for k, (item, kept) in items.items():
            item.__dict__.update(kept.__dict__)
            self.model.bodies[k] = item
        self.model.before = before
        self.settle()  # for listeners that came later, contacts in progress begin

    def copied(self):
        duplicate = self.random.choice((copy.deepcopy, lambda world: pickle.loads(pickle.dumps(world))))
        self.world, self.moments, self.listeners = duplicate(self.world), [], []

    # ---- queries

    def queries(self):
        requested = [self.item() for _ in range(5)]
        boxes = [item.bounds for item in requested]
        boxed = [ModelBody(x, y, right - x, bottom - y) for x, y, right, bottom in boxes]
        wanted = [self.model.overlapping(item) for item in boxed]
        for box, ids in zip(boxes, wanted, strict=True):
            assert [body.id for body in self.world.query_box(box)] == ids
        assert self.world.query_box(boxes).tolist() == [[q, k] for q, ids in enumerate(wanted) for k in ids]
        for item in requested:
            assert [body.id for body in self.world.query_shape(shape_of(item))] == self.model.overlapping(
                item
            )
            assert self.world.blocker(shape_of(item)) is self.first_blocker(item)
        self.chosen(boxes[0], wanted[0])

    def chosen(self, box, found):
        """Of those in a box only some count."""
        items, bits, unseen = self.model.bodies, self.random.choice((1, 2)), self.several()
        for rules, counts in (
            ({"tag": "a"}, lambda k: items[k].tag == "a"),
            ({"category": bits}, lambda k: items[k].mask & bits),
            ({"mask": bits}, lambda k: items[k].category & bits),
            ({"ignore": self.bodies(unseen)}, lambda k: k not in unseen),
        ):
            wanted = [k for k in found if counts(k)]
            assert [body.id for body in self.world.query_box(box, **rules)] == wanted
            assert self.world.query_box([box], **rules)[:, 1].tolist() == wanted

    def first_blocker(self, item):
        ids = [k for k in self.model.overlapping(item) if not self.model.bodies[k].sensor]
        return self.world.body(ids[0]) if ids else None

    def points(self):
        at = [(self.number(60) + 0.125, self.number(44) + 0.125) for _ in range(5)]
        r = self.number(8) + 0.25
        inside = [self.model.overlapping(ModelBody(x - 0.125, y - 0.125, 0.25, 0.25)) for x, y in at]
        within = [self.model.overlapping(ModelBody(x, y, 0, 0, r)) for x, y in at]
        for point, near in zip(at, within, strict=True):
            assert [body.id for body in self.world.query_radius(point, r)] == near
        assert self.world.query_radius(at, r).tolist() == [
            [q, k] for q, ids in enumerate(within) for k in ids
        ]
        for point, ids in zip(at, inside, strict=True):
            if not self.round:  # a point an eighth off every edge is in a box if a box around it is
                assert [body.id for body in self.world.query_point(point)] == ids

    def nearest(self):
        if self.round:
            return
        at = [(self.number(60) + 0.125, self.number(44) + 0.125) for _ in range(3)]
        k = self.random.choice((1, 3))
        many = self.world.nearest(at, k)
        for row, point in enumerate(at):
            wanted = self.model.distances(*point)[:k]
            one = self.world.nearest(point, k)
            assert [body.id for body in one.bodies] == [i for _, i in wanted]
            assert one.distances == pytest.approx([square**0.5 for square, _ in wanted])
            assert many.ids[row, : len(wanted)].tolist() == [i for _, i in wanted]

    def rays(self):
        if self.round:
            return
        x, y = self.number(60) + 0.125, self.number(44) + 0.125
        axis, sign, far = self.random.randrange(2), self.random.choice((-1, 1)), self.number(90) + 0.25
        direction = (sign, 0) if axis == 0 else (0, sign)
        wanted = self.model.first_on_ray(x, y, axis, sign, far)
        hit = self.world.raycast((x, y), direction, far)
        assert (hit and (hit.distance, hit.other.id)) == wanted
        many = self.world.raycast([(x, y)], [direction], far)
        assert many.ids.tolist() == [-1 if wanted is None else wanted[1]]
        every = self.world.query_ray((x, y), direction, far)
        assert [every[0].other.id] == [wanted[1]] if wanted else not every

    # ---- movements

    def move_one(self, walk):
        k, axis, length = self.some(), self.random.randrange(2), self.number(60) * self.random.choice((-1, 1))
        item, body = self.model.bodies[k], self.world.body(k)
        dx, dy = (length, 0.0) if axis == 0 else (0.0, length)
        blockers = self.model.blockers(item)
        known = length and self.model.free(item, blockers)
        if walk:
            if not known or self.round:  # what begins in something is pushed out first; a circle is a slope
                return
            move = self.world.walk(body, dx, dy)
        elif self.random.random() < 0.3:
            blocker = self.world.try_move(body, dx, dy)
            if known:
                assert (blocker is None) == (self.model.motion(item, axis, length, blockers) == length)
            self.unsure.update((min(k, other), max(k, other)) for other in self.model.bodies)
            self.follow(k)
            return
        else:
            along = "touch" if self.round else self.random.choice(("slide", "touch"))
            move = self.world.move(body, dx, dy, along)
        self.check_way(k, known, axis, length, blockers)
        hits = [[hit.other.id for hit in some] for some in (move.crossed, move.hits)]
        self.note([[k] * len(some) for some in hits], hits)

    def check_way(self, k, known, axis, length, blockers):
        item = self.model.bodies[k]
        if known:
            far = self.model.motion(item, axis, length, blockers)
            goal = (item.x + far, item.y) if axis == 0 else (item.x, item.y + far)
            self.model.place(item, *goal)
            if self.round:
                self.assert_near(self.world.body(k).position, (item.x, item.y))
            else:
                assert self.world.body(k).position == (item.x, item.y)
        self.follow(k)

    def assert_near(self, place, wanted):
        for at, goal, length in zip(place, wanted, self.model.period or (np.inf, np.inf), strict=True):
            apart = abs(at - goal)
            assert min(apart, abs(length - apart)) < 1e-6, (place, wanted)

    def follow(self, k):
        """The model takes over a computed place, brought to the grid so that sums stay exact."""
        x, y = (round(4 * value) / 4 for value in self.world.body(k).position)
        self.world.body(k).move_to(x, y)
        self.model.place(self.model.bodies[k], x, y)

    def move_many(self, walk):
        some = self.several()
        movers_block = self.random.random() < 0.4
        axis, length = self.random.randrange(2), self.number(60) * self.random.choice((-1, 1))
        dx, dy = (length, 0.0) if axis == 0 else (0.0, length)
        start = {k: self.model.bodies[k] for k in some}
        if not length or (walk and self.round):
            return
        if self.round and movers_block:  # each begins where those before it have come to, off the grid
            return
        # A static body among the movers is seen where it was when the call began.
        if not movers_block and any(item.static for item in start.values()):
            return
        # Where one begins inside something it is pushed, which the model leaves to others.
        if not all(self.model.free(item, self.model.blockers(item)) for item in start.values()):
            return
        given = np.array(some, np.int64) if self.random.random() < 0.5 else self.bodies(some)
        if walk:
            moved = self.world.walk_many(given, dx, dy, movers_block=movers_block)
        else:
            along = "touch" if self.round else self.random.choice(("slide", "touch"))
            moved = self.world.move_many(given, dx, dy, along, movers_block=movers_block)
        for k in some:
            blockers = self.model.blockers(self.model.bodies[k], only_static=not movers_block)
            self.check_way(k, True, axis, length, blockers)
        hits = (moved.crossed, moved.hits)
        movers = [[some[at] for at in found.movers.tolist()] for found in hits]
        self.note(movers, [found.others.tolist() for found in hits])

    # ---- what a new world of the same bodies says

    def twin(self):
        twin = World(period=self.model.period)
        items = self.model.bodies
        for k in range(max(items, default=-1) + 1):
            item = items.get(k)
            twin.add(Box(0, 0, 1, 1) if item is None else shape_of(item), **rules_of(item))
        for k in set(range(len(twin))) - items.keys():
            twin.remove(twin.body(k))
        for a, b in self.model.listened:  # bodies that do not block are reported if there is a listener
            twin.on(a, b)
        return twin

    def as_a_new_world(self):
        """Ways in any direction, and what the list of shapes does not know; both worlds are called."""
        items, pick = self.model.bodies, self.random
        k, some, ignored = self.some(), self.several(), self.several() if pick.random() < 0.3 else []
        boxes = [one for one in items if items[one].r is None]
        some_boxes = [one for one in some if items[one].r is None]
        dx, dy = ((self.number(30) - 15) for _ in range(2))
        motions = np.array([[self.number(30) - 15, self.number(30) - 15] for _ in some]).reshape(-1, 2)
        place, shape = (self.number(60), self.number(44)), shape_of(self.item())
        angle, far = pick.choice((30.5, 45, 90)), self.number(60) + 0.25
        answer = pick.choice(("slide", "touch", "cross", "bounce"))
        block, steps = pick.random() < 0.5, {"snap": pick.choice((0, 2)), "step": pick.choice((0, 1.5))}
        triangle = Polygon([place, (place[0] + 9, place[1] + 1), (place[0] + 4, place[1] + 8)])
        calls = {
            "move": lambda w, of: w.move(w.body(k), dx, dy, answer, ignore=of(ignored)),
            "try_move": lambda w, of: w.try_move(w.body(k), dx, dy, ignore=of(ignored)),
            "push": lambda w, of: w.push(w.body(k), dx, dy, ignore=of(ignored)),
            "resize": lambda w, of: w.resize(w.body(k), shape),
            "try_turn": lambda w, of: w.try_turn(w.body(k), angle),
            "turn_many": lambda w, of: w.turn_many(of(some), [angle] * len(some)),
            "move_many": lambda w, of: w.move_many(
                of(some), motions[:, 0], motions[:, 1], answer, movers_block=block, ignore=of(ignored)
            ),
            "walk_many": lambda w, of: w.walk_many(
                of(some_boxes), dx, dy, movers_block=block, ignore=of(ignored), **steps
            ),
            "grounded": lambda w, of: w.grounded(w.body(k), ignore=of(ignored)),
            "blocker": lambda w, of: (w.blocker(w.body(k)), w.blocker(triangle, ignore=of(ignored))),
            "query_shape": lambda w, of: w.query_shape(triangle, ignore=of(ignored)),
            "query_point": lambda w, of: (w.query_point(place), w.query_point([place])),
            "raycast": lambda w, of: w.raycast(place, (dx, dy or 1), far, ignore=of(ignored)),
            "query_ray": lambda w, of: w.query_ray(place, (dx, dy or 1), far),
            "raycast_many": lambda w, of: w.raycast([place] * 3, [(dx, dy or 1), (1, 0), (0, 1)], far),
            "nearest": lambda w, of: (w.nearest(place, 3, ignore=of(ignored)), w.nearest([place], 3)),
        }
        if boxes:
            walker = pick.choice(boxes)
            calls["walk"] = lambda w, of: w.walk(w.body(walker), dx, dy, ignore=of(ignored), **steps)
        name = pick.choice(sorted(calls))
        self.done[-1] += f" {name}"
        twin = self.twin()
        said, wanted = (
            plain(calls[name](world, lambda ids, world=world: [world.body(one) for one in ids]))
            for world in (self.world, twin)
        )
        assert repr(said) == repr(wanted)  # NaN, where there is no floor, equals NaN
        assert [plain(body) for body in self.world] == [plain(body) for body in twin]
        for body in self.world:
            self.take_over(body)
        self.settle()

    def take_over(self, body):
        """As `follow`, with a shape that may be another, unturned."""
        item, shape = self.model.bodies[body.id], body.shape
        if body.angle:
            body.turn_to(0)
            shape = body.shape
        if isinstance(shape, Circle):
            item.w, item.h, item.r = 0, 0, shape.radius
        else:
            item.w, item.h, item.r = shape.width, shape.height, None
        if body.position != (item.x, item.y):
            self.follow(body.id)

    # ---- one life

    def live(self, steps):
        acts = (
            *(self.add, self.add_many, self.remove, self.remove_many, self.move_to, self.move_all),
            *(self.reshape, self.set_rules, self.on, self.update, self.update, self.update),
            *(self.snapshot, self.restore, self.copied, self.queries, self.points, self.nearest, self.rays),
            *(self.world_validates, self.turn, self.off, self.clear),
            *(self.as_a_new_world, self.as_a_new_world, self.as_a_new_world),
            *(self.moves, self.moves, self.walks, self.many_moves, self.many_moves, self.many_walks),
        )
        for _ in range(steps):
            act = self.random.choice(acts)
            if not self.model.bodies and act not in (self.add, self.add_many, self.update):
                continue
            self.done.append(act.__name__)
            act()
            assert self.world.ids.tolist() == sorted(self.model.bodies)

    def world_validates(self):
        self.world.validate()

    def moves(self):
        self.move_one(walk=False)

    def walks(self):
        self.move_one(walk=True)

    def many_moves(self):
        self.move_many(walk=False)

    def many_walks(self):
        self.move_many(walk=True)


def shape_of(item):
    if item.r is None:
        return Box(item.x, item.y, item.w, item.h)
    return Circle(item.x, item.y, item.r)


def rules_of(item):
    if item is None:
        return {}
    return {name: getattr(item, name) for name in ("tag", "static", "sensor", "category", "mask")}


def plain(answer):
    """Numbers, and bodies by their ids and places: what two worlds can be compared by."""
    if isinstance(answer, Body):
        return answer.id, answer.bounds, answer.angle
    if isinstance(answer, np.ndarray):
        return answer.tolist()
    if isinstance(answer, (tuple, list)):
        return [plain(one) for one in answer]
    return answer


def live(seed, steps=25):
    """One life; how many acts it had."""
    life = None
    try:
        life = Life(seed)
        life.live(steps if len(life.model.bodies) < 1_000 else min(steps, 8))
    except Exception as error:
        error.add_note(f"life {seed}: {', '.join(life.done) if life else 'its beginning'}")
        raise
    return len(life.done)


@pytest.fixture
def lives(each, record_property):
    """Runs lives as ``each`` does, and says how many there were."""

    def run(seeds, *, steps=25, **chosen):
        acts = []
        each(lambda seed: acts.append(live(seed, steps)), seeds, **chosen)
        record_property("lives", len(acts))
        record_property("acts", sum(acts))

    return run


@pytest.mark.parametrize("part", range(4))
def test_lives(lives, part):
    lives(range(part * 1_000, (part + 1) * 1_000), of=60, turn=part)


@pytest.mark.parametrize("seed", range(20_000, 20_004))
def test_lives_of_thousands(lives, monkeypatch, seed):
    monkeypatch.setattr(Life, "crowded", 1.0)
    lives([seed])


@pytest.mark.smaller_set
def test_few_lives(lives):
    lives(range(10_000, 10_003), steps=10)
