"""Lives of worlds against a list of shapes: whatever happened before, every answer is that of brute force.

A life is a product of choices: bodies with listeners and without, static and moving, added singly and by the
hundred; an update before or none; plain or periodic; every question and movement, single and many; snapshots,
restored, copied and pickled worlds.
"""

import copy
import pickle
import random

import numpy as np
import pytest
from lives_model import Lives, Thing

from broadphase import Box, Circle, World

PERIOD = (64.0, 48.0)
TAGS = ("a", "b", None, None)


class Life:
    """One world and its model, driven by a seed."""

    def __init__(self, seed):
        self.random = random.Random(seed)
        period = self.random.choice((None, PERIOD))
        self.round = self.random.random() < 0.3
        self.world, self.model = World(period=period), Lives(period)
        self.crossed, self.stopped, self.moments, self.done = set(), [], [], []
        # Small populations, so that a path from a wall that nobody listens to is often free.
        for _ in range(self.random.randrange(1, 9)):
            self.add()
        if self.random.random() < 0.3:
            self.add_many(self.random.choice((2, 40, 150)))
        if self.random.random() < 0.6:
            self.on()

    # ---- choices

    def number(self, most):
        return self.random.randrange(0, 4 * most + 1) / 4

    def thing(self):
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
            return Thing(x, y, 0, 0, self.number(5) + 0.25, **rules)
        size = (self.number(3) + 0.25, self.number(40) + 0.25)
        return Thing(x, y, *self.random.choice((size, size[::-1], (2.0, 2.0))), **rules)

    def some(self):
        return self.random.choice(sorted(self.model.things))

    def several(self):
        known = sorted(self.model.things)
        return self.random.sample(known, self.random.randrange(0, min(len(known), 12) + 1))

    def bodies(self, ids):
        return [self.world.body(k) for k in ids]

    # ---- changes

    def add(self):
        thing = self.thing()
        body = self.world.add(shape_of(thing), **rules_of(thing))
        assert body.id == self.model.add(thing)

    def add_many(self, count=None):
        rules = rules_of(self.thing())
        things = [self.thing() for _ in range(count or self.random.choice((1, 3, 20)))]
        for thing in things:
            thing.__dict__.update(rules)
        bodies = self.world.add_many([shape_of(thing) for thing in things], **rules)
        assert [body.id for body in bodies] == [self.model.add(thing) for thing in things]

    def remove(self):
        k = self.some()
        self.world.remove(self.world.body(k))
        del self.model.things[k]

    def remove_many(self):
        some = self.several()
        self.world.remove_many(np.array(some, np.int64) if self.random.random() < 0.5 else self.bodies(some))
        for k in some:
            del self.model.things[k]

    def move_to(self):
        k, x, y = self.some(), self.number(60), self.number(44)
        self.world.body(k).move_to(x, y)
        self.model.place(self.model.things[k], x, y)

    def move_all(self):
        some = self.several()
        places = [(self.number(60), self.number(44)) for _ in some]
        self.world.move_all(np.array(some, np.int64), places)
        for k, place in zip(some, places, strict=True):
            self.model.place(self.model.things[k], *place)

    def reshape(self):
        k, new = self.some(), self.thing()
        self.world.body(k).shape = shape_of(new)
        old = self.model.things[k]
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
        thing, body = self.model.things[k], self.world.body(k)
        name = self.random.choice(("tag", "static", "sensor", "category", "mask"))
        value = getattr(self.thing(), name)
        setattr(thing, name, value)
        setattr(body, name, value)

    # ---- listeners, updates

    def on(self):
        a, b = self.random.choice((("a", "b"), ("a", "a"), ("b", "b")))
        self.world.on(a, b)
        self.model.listened.append((a, b))

    def update(self):
        events = self.world.update()
        expected = self.model.update(self.stopped)
        found = [set(map(tuple, contacts.ids.tolist())) for contacts in events]
        for got, wanted in zip(found, expected, strict=True):
            assert got - self.crossed == wanted - self.crossed
        self.crossed, self.stopped = set(), []

    def settle(self):
        """Two updates whose events are not compared: of the second it is known what was in contact before."""
        for _ in range(2):
            self.world.update()
            self.model.update()
        self.crossed, self.stopped = set(), []

    def note(self, movers, hits):
        """What a movement crossed may begin and end; what stopped it is in contact at the next update."""
        crossed, stopped = hits
        self.crossed.update((min(pair), max(pair)) for pair in zip(movers[0], crossed, strict=True))
        things = self.model.things
        pairs = [(things[i], things[j]) for i, j in zip(movers[1], stopped, strict=True)]
        self.stopped += [pair for pair in pairs if self.model.concerned(*pair)]

    # ---- the same world in other hands

    def snapshot(self):
        things = {k: (thing, thing.copy()) for k, thing in self.model.things.items()}
        self.moments.append(
            (self.world.snapshot(), things, self.model.before, set(self.crossed), [*self.stopped])
        )

    def restore(self):
        if not self.moments:
            return
        moment, things, before, crossed, stopped = self.random.choice(self.moments)
        self.world.restore(moment)
        self.model.things = {}
        for k, (thing, kept) in things.items():
            thing.__dict__.update(kept.__dict__)
            self.model.things[k] = thing
        self.model.before, self.crossed, self.stopped = before, set(crossed), [*stopped]
        self.settle()  # for listeners that came later, contacts in progress begin

    def copied(self):
        duplicate = self.random.choice((copy.deepcopy, lambda world: pickle.loads(pickle.dumps(world))))
        self.world, self.moments = duplicate(self.world), []

    # ---- questions

    def queries(self):
        asked = [self.thing() for _ in range(5)]
        boxes = [thing.bounds for thing in asked]
        boxed = [Thing(x, y, right - x, bottom - y) for x, y, right, bottom in boxes]
        wanted = [self.model.overlapping(thing) for thing in boxed]
        for box, ids in zip(boxes, wanted, strict=True):
            assert [body.id for body in self.world.query_box(box)] == ids
        assert self.world.query_box(boxes).tolist() == [[q, k] for q, ids in enumerate(wanted) for k in ids]
        for thing in asked:
            assert [body.id for body in self.world.query_shape(shape_of(thing))] == self.model.overlapping(
                thing
            )
            assert self.world.blocker(shape_of(thing)) is self.first_blocker(thing)

    def first_blocker(self, thing):
        ids = [k for k in self.model.overlapping(thing) if not self.model.things[k].sensor]
        return self.world.body(ids[0]) if ids else None

    def points(self):
        at = [(self.number(60) + 0.125, self.number(44) + 0.125) for _ in range(5)]
        r = self.number(8) + 0.25
        inside = [self.model.overlapping(Thing(x - 0.125, y - 0.125, 0.25, 0.25)) for x, y in at]
        within = [self.model.overlapping(Thing(x, y, 0, 0, r)) for x, y in at]
        for point, near in zip(at, within, strict=True):
            assert [body.id for body in self.world.query_radius(point, r)] == near
        assert self.world.query_radius(at, r).tolist() == [
            [q, k] for q, ids in enumerate(within) for k in ids
        ]
        for point, ids in zip(at, inside, strict=True):
            if not self.round:  # a point an eighth off every edge lies in a box if a box around it does
                assert [body.id for body in self.world.query_point(point)] == ids

    def nearest(self):
        if self.round:
            return
        at = [(self.number(60) + 0.125, self.number(44) + 0.125) for _ in range(3)]
        k = self.random.choice((1, 3))
        many = self.world.nearest_many(at, k)
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
        many = self.world.raycast_many([(x, y)], [direction], far)
        assert many.ids.tolist() == [-1 if wanted is None else wanted[1]]
        every = self.world.query_ray((x, y), direction, far)
        assert [every[0].other.id] == [wanted[1]] if wanted else not every

    # ---- movements

    def move_one(self, walk):
        k, axis, length = self.some(), self.random.randrange(2), self.number(60) * self.random.choice((-1, 1))
        thing, body = self.model.things[k], self.world.body(k)
        dx, dy = (length, 0.0) if axis == 0 else (0.0, length)
        blockers = self.model.blockers(thing)
        known = not self.round and length and self.model.free(thing, blockers)
        if walk:
            if not known:  # what walks is a box; what begins in something is pushed out first
                return
            move = self.world.walk(body, dx, dy)
        elif self.random.random() < 0.3:
            blocker = self.world.try_move(body, dx, dy)
            if known:
                goes = blocker is None
                assert goes == (self.model.way(thing, axis, length, blockers) == length)
            self.crossed.update((min(k, other), max(k, other)) for other in self.model.things)
            self.follow(k)
            return
        else:
            move = self.world.move(body, dx, dy, self.random.choice(("slide", "touch")))
        self.check_way(k, known, axis, length, blockers)
        hits = [[hit.other.id for hit in some] for some in (move.crossed, move.hits)]
        self.note([[k] * len(some) for some in hits], hits)

    def check_way(self, k, known, axis, length, blockers):
        thing = self.model.things[k]
        if known:
            far = self.model.way(thing, axis, length, blockers)
            goal = (thing.x + far, thing.y) if axis == 0 else (thing.x, thing.y + far)
            self.model.place(thing, *goal)
            assert self.world.body(k).position == (thing.x, thing.y)
        self.follow(k)

    def follow(self, k):
        """The model takes over a computed place, brought to the grid so that sums stay exact."""
        x, y = (round(4 * value) / 4 for value in self.world.body(k).position)
        self.world.body(k).move_to(x, y)
        self.model.place(self.model.things[k], x, y)

    def move_many(self, walk):
        some = self.several()
        movers_block = self.random.random() < 0.4
        axis, length = self.random.randrange(2), self.number(60) * self.random.choice((-1, 1))
        dx, dy = (length, 0.0) if axis == 0 else (0.0, length)
        if walk and self.round:
            return
        start = {k: self.model.things[k] for k in some}
        if self.round or not length:
            return
        # A static body among the movers is seen where it was when the call began.
        if not movers_block and any(thing.static for thing in start.values()):
            return
        # Where one begins inside something it is pushed, which the model leaves to others.
        if not all(self.model.free(thing, self.model.blockers(thing)) for thing in start.values()):
            return
        given = np.array(some, np.int64) if self.random.random() < 0.5 else self.bodies(some)
        call = self.world.walk_many if walk else self.world.move_many
        moved = call(given, dx, dy, movers_block=movers_block)
        for k in some:
            blockers = self.model.blockers(self.model.things[k], only_static=not movers_block)
            self.check_way(k, True, axis, length, blockers)
        hits = (moved.crossed, moved.hits)
        movers = [[some[at] for at in found.movers.tolist()] for found in hits]
        self.note(movers, [found.others.tolist() for found in hits])

    # ---- one life

    def live(self, steps):
        acts = (
            *(self.add, self.add_many, self.remove, self.remove_many, self.move_to, self.move_all),
            *(self.reshape, self.set_rules, self.on, self.update, self.update, self.update),
            *(self.snapshot, self.restore, self.copied, self.queries, self.points, self.nearest, self.rays),
            *(self.world_validates, self.turn),
            *(self.moves, self.moves, self.walks, self.many_moves, self.many_moves, self.many_walks),
        )
        for _ in range(steps):
            act = self.random.choice(acts)
            if not self.model.things and act not in (self.add, self.add_many, self.update):
                continue
            self.done.append(act.__name__)
            act()
            assert self.world.ids.tolist() == sorted(self.model.things)

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


def shape_of(thing):
    if thing.r is None:
        return Box(thing.x, thing.y, thing.w, thing.h)
    return Circle(thing.x, thing.y, thing.r)


def rules_of(thing):
    return {name: getattr(thing, name) for name in ("tag", "static", "sensor", "category", "mask")}


def live(seed, steps=25):
    life = Life(seed)
    try:
        life.live(steps)
    except Exception as error:
        error.add_note(f"life {seed}: {', '.join(life.done)}")
        raise


@pytest.mark.parametrize("part", range(4))
def test_lives(each, part):
    each(live, range(part * 1_500, (part + 1) * 1_500), of=15, turn=part)


@pytest.mark.smaller_set
def test_few_lives(each):
    each(lambda seed: live(seed, steps=10), range(10_000, 10_003))
