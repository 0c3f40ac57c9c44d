"""The life of a world without edges, held at every step against a plain one with copies of everything."""

import math

import periodic_oracle as oracle
import pytest
from cases import machine_settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from broadphase import Box, Capsule, Circle, Polygon, World

# Quarters: sums of them are exact, so that all frames agree to the last bit.
NUMBERS = st.integers(-160, 160).map(lambda k: k / 4)
PLACES = st.integers(-8, 80).map(lambda k: k / 4)
SIZES = st.integers(0, 24).map(lambda k: k / 4)
WIDE = st.integers(25, 40).map(lambda k: k / 4) | st.just(12.0)
BOXES = st.builds(Box, PLACES, PLACES, SIZES | WIDE, SIZES | WIDE)
SHAPES = (
    BOXES
    | st.builds(Circle, PLACES, PLACES, SIZES.map(lambda r: r / 2))
    | st.builds(
        lambda x, y, w, h: Polygon([(x, y), (x + w + 0.5, y), (x + w / 2, y + h + 0.5)]),
        *(PLACES, PLACES, SIZES, SIZES),
    )
    | st.builds(
        lambda x, y, w, r: Capsule(x, y, x + w + 0.5, y + 1, r + 0.25), PLACES, PLACES, SIZES, st.just(0.5)
    )
)
TAGS = st.sampled_from(("red", "blue", "red", "blue", None))
SETS = st.sampled_from((1, 1, 1, 2, 3))
WAYS = st.integers(-72, 72).map(lambda k: k / 4)
RESPONSES = st.sampled_from(("slide", "touch", "cross", "bounce"))


def listens(a, b):
    return {a.tag, b.tag} == {"red", "blue"}


class PeriodicMachine(RuleBasedStateMachine):
    @initialize(
        period=st.sampled_from(((16.0, 12.0), (16.0, None), (None, 12.0))),
        broadphase=st.sampled_from(("auto", "brute_force", "spatial_hash")),
    )
    def begin(self, period, broadphase):
        self.world = World(broadphase, period=period)
        self.world.on("red", "blue")
        self.known = {}
        self.moments = []

    def some(self, number):
        return list(self.world)[number % len(self.world)]

    # ---- changing it

    @rule(
        shape=SHAPES, tag=TAGS, static=st.booleans(), sensor=st.sampled_from((False, False, True)), sets=SETS
    )
    def add(self, shape, tag, static, sensor, sets):
        if len(self.world) < 7:
            body = self.world.add(shape, tag=tag, static=static, sensor=sensor, category=sets, mask=3)
            assert body.position == oracle.inside((shape.x, shape.y), self.world.period)

    @rule(shapes=st.lists(BOXES, max_size=3), tag=TAGS, static=st.booleans())
    def add_many(self, shapes, tag, static):
        if len(self.world) < 7:
            bodies = self.world.add_many(shapes, tag=tag, static=static)
            assert [body.shape.width for body in bodies] == [shape.width for shape in shapes]

    @precondition(lambda self: len(self.world))
    @rule(number=st.integers(0, 99))
    def remove(self, number):
        if number % 3 == 0:
            self.world.remove(self.some(number))
        elif number % 3 == 1:
            self.world.remove_many([self.some(number)])

    @precondition(lambda self: len(self.world))
    @rule(number=st.integers(0, 99), x=NUMBERS, y=NUMBERS)
    def move_to(self, number, x, y):
        body = self.some(number)
        body.move_to(x, y)
        assert body.position == oracle.inside((x, y), self.world.period)

    @precondition(lambda self: len(self.world))
    @rule(number=st.integers(0, 99), angle=st.sampled_from((0, 90, 180, 270, 30)))
    def turn(self, number, angle):
        body = self.some(number)
        was = body.bounds
        try:
            body.turn_to(angle)
        except ValueError:  # it has no width, or would be too long
            assert body.bounds == was

    @rule()
    def keep(self):
        self.moments.append((self.world.snapshot(), dict(self.known), [body.shape for body in self.world]))

    @precondition(lambda self: self.moments)
    @rule(number=st.integers(0, 99))
    def go_back(self, number):
        moment, self.known, shapes = self.moments[number % len(self.moments)]
        self.world.restore(moment)
        assert [body.shape for body in self.world] == shapes

    # ---- moving in it

    @precondition(lambda self: len(self.world))
    @rule(number=st.integers(0, 99), dx=WAYS, dy=WAYS, response=RESPONSES, call=st.booleans())
    def move(self, number, dx, dy, response, call):
        body = self.some(number)
        flat, one = oracle.unrolled(self.world, body)

        def by_id(hit):
            name = hit.other.data[0] if hit.other.data else hit.other.id
            return response if name % 2 else ("touch", "cross", "slide", None)[name % 4]

        if oracle.leaves_the_images(flat, one, by_id if call else response):
            return
        inside = flat.query_shape(one)
        expected = flat.move(one, dx, dy, by_id if call else response)
        found = self.world.move(body, dx, dy, by_id if call else response)
        self.same(body, found, expected, inside)

    def same(self, body, found, expected, inside):
        period, crossed = self.world.period, first_each(expected.crossed, inside)
        assert found[:2] == body.position
        assert oracle.close(found[:2], oracle.inside(expected[:2], period), period)
        for some, others in ((found.hits, expected.hits), (found.crossed, crossed)):
            assert [hit.other.id for hit in some] == [hit.other.data[0] for hit in others]
            for hit, other in zip(some, others, strict=True):
                assert math.isclose(hit.time, other.time, abs_tol=1e-9)
                assert hit.normal == pytest.approx(other.normal, abs=1e-9)
                assert oracle.close(hit.touch, oracle.inside(other.touch, period), period)
                assert hit.response == other.response

    @precondition(lambda self: len(self.world))
    @rule(number=st.integers(0, 99), dx=WAYS, dy=WAYS)
    def try_move(self, number, dx, dy):
        body = self.some(number)
        flat, one = oracle.unrolled(self.world, body)
        if oracle.leaves_the_images(flat, one):
            return
        expected, found = flat.try_move(one, dx, dy), self.world.try_move(body, dx, dy)
        assert (found and found.id) == (expected and expected.data[0])
        assert oracle.close(body.position, oracle.inside(one.position, self.world.period), self.world.period)

    @precondition(lambda self: len(self.world))
    @rule(dx=WAYS, dy=WAYS, response=RESPONSES)
    def move_many(self, dx, dy, response):
        movers = [body for body in self.world if not body.static and not body.sensor]
        expected = []
        for body in movers:
            flat, one = oracle.unrolled(self.world, body)
            flat.remove_many(
                [other for other in flat if other is not one and not (other.static or other.sensor)]
            )
            if oracle.leaves_the_images(flat, one, response):
                return
            expected.append(flat.move(one, dx, dy, response))
        moved = self.world.move_many(movers, dx, dy, response)
        hits = moved.hits
        for at, (body, one) in enumerate(zip(movers, expected, strict=True)):
            assert moved.places[at].tolist() == list(body.position)
            assert oracle.close(body.position, oracle.inside(one[:2], self.world.period), self.world.period)
            own = hits.movers == at
            assert hits.others[own].tolist() == [hit.other.data[0] for hit in one.hits]
            assert hits.times[own] == pytest.approx([hit.time for hit in one.hits], abs=1e-9)

    @precondition(lambda self: any(isinstance(body.shape, Box) and body.angle == 0 for body in self.world))
    @rule(
        number=st.integers(0, 99),
        dx=WAYS,
        dy=WAYS,
        snap=st.sampled_from((0, 1.0)),
        step=st.sampled_from((0, 0.5)),
    )
    def walk(self, number, dx, dy, snap, step):
        boxes = [body for body in self.world if isinstance(body.shape, Box) and body.angle == 0]
        body = boxes[number % len(boxes)]
        flat, one = oracle.unrolled(self.world, body)
        if oracle.leaves_the_images(flat, one):
            return
        expected = flat.walk(one, dx, dy, snap=snap, step=step)
        found = self.world.walk(body, dx, dy, snap=snap, step=step)
        period = self.world.period
        assert oracle.close(body.position, oracle.inside(expected[:2], period), period)
        assert oracle.close(found[:2], body.position, period)
        assert (found.floor and found.floor.id) == (expected.floor and expected.floor.data[0])
        assert [hit.other.id for hit in found.hits] == [hit.other.data[0] for hit in expected.hits]
        assert [hit.other.id for hit in found.crossed] == [
            hit.other.data[0] for hit in first_each(expected.crossed)
        ]

    # ---- queries

    @rule(box=st.tuples(NUMBERS, NUMBERS, SIZES | WIDE | st.just(math.inf), SIZES | WIDE))
    def query_box(self, box):
        x, y, width, height = box
        queries = (x - 20, y - 20, x - 20 + width, y - 20 + height)
        flat, _ = oracle.unrolled(self.world)
        seen = (*(oracle.inside((queries[0], queries[1]), self.world.period)),)
        moved = (*seen, seen[0] + width, seen[1] + height)
        expected = sorted({body.data[0] for body in flat.query_box(moved)})
        assert [body.id for body in self.world.query_box(queries)] == expected
        rows = self.world.query_box([queries, queries])
        assert rows.tolist() == [[0, k] for k in expected] + [[1, k] for k in expected]

    @rule(x=NUMBERS, y=NUMBERS, r=SIZES | WIDE | st.just(1000.0))
    def query_round(self, x, y, r):
        flat, _ = oracle.unrolled(self.world)
        at = oracle.inside((x, y), self.world.period)
        expected = sorted(
            {
                body.data[0]
                for body in flat.query_radius(at, min(r, 20.0) if None not in self.world.period else r)
            }
        )
        assert [body.id for body in self.world.query_radius((x, y), r)] == expected
        assert self.world.query_radius([(x, y)], r)[:, 1].tolist() == expected
        inside = sorted({body.data[0] for body in flat.query_point(at)})
        assert [body.id for body in self.world.query_point((x, y))] == inside
        assert self.world.query_point([(x, y)])[:, 1].tolist() == inside

    @rule(shape=SHAPES)
    def query_shape(self, shape):
        flat, _ = oracle.unrolled(self.world)
        seen = shape.moved_to(*oracle.inside((shape.x, shape.y), self.world.period))
        expected = sorted({body.data[0] for body in flat.query_shape(seen)})
        assert [body.id for body in self.world.query_shape(shape)] == expected
        blocked = self.world.blocker(shape)
        solid = [body for body in flat.query_shape(seen) if not body.sensor]
        assert (blocked is None) == (not solid)

    @rule(x=PLACES, y=PLACES, dx=WAYS, dy=WAYS, far=st.integers(0, 22).map(float))  # two periods
    def rays(self, x, y, dx, dy, far):
        if dx == dy == 0:
            return
        flat, _ = oracle.unrolled(self.world)
        at = oracle.inside((x, y), self.world.period)
        best = {}
        for hit in flat.query_ray(at, (dx, dy), far):
            best.setdefault(hit.other.data[0], hit)
        expected = sorted((hit.distance, number) for number, hit in best.items())
        found = self.world.query_ray((x, y), (dx, dy), far)
        assert [hit.distance for hit in found] == pytest.approx([one for one, _ in expected], abs=1e-9)
        assert {hit.other.id for hit in found} == set(best)
        for hit in found:
            assert oracle.close(
                hit.point, oracle.inside(best[hit.other.id].point, self.world.period), self.world.period
            )
        first = self.world.raycast((x, y), (dx, dy), far)
        many = self.world.raycast([(x, y)], [(dx, dy)], far)
        assert (first.distance if first else math.inf) == pytest.approx(
            expected[0][0] if expected else math.inf
        )
        assert many.ids.tolist() == [first.other.id if first else -1]
        assert many.distances.tolist() == [first.distance if first else math.inf]

    @rule(x=NUMBERS, y=NUMBERS, k=st.integers(1, 4))
    def nearest(self, x, y, k):
        expected = oracle.nearest(self.world, oracle.inside((x, y), self.world.period))[:k]
        ids, distances = self.world.nearest((x, y), k)
        assert distances == pytest.approx([far for far, _ in expected], abs=1e-9)
        many = self.world.nearest([(x, y), (0, 0)], k)
        assert many.ids[0].tolist() == ids.tolist() + [-1] * (k - len(ids))
        assert many.distances[0, : len(ids)].tolist() == distances.tolist()

    @rule()
    def update(self):
        now = oracle.contacts(self.world, listens)
        events = self.world.update()
        found = {
            tuple(ids): (tuple(normal), depth)
            for part in (events.began, events.stayed)
            for ids, normal, depth in zip(
                part.ids.tolist(), part.normals.tolist(), part.depths.tolist(), strict=True
            )
            if depth or tuple(ids) in now
        }
        assert set(found) == set(now)
        for pair, (normal, depth) in now.items():
            assert found[pair][1] == pytest.approx(depth, abs=1e-9)
            assert found[pair][0] == pytest.approx(normal, abs=1e-6), pair
        self.known = now

    # ---- what always holds

    @invariant()
    def inside(self):
        if hasattr(self, "world"):
            for body in self.world:
                for place, length in zip(body.position, self.world.period, strict=True):
                    assert length is None or 0 <= place < length
            self.world.validate()


def first_each(hits, inside=()):
    """Of several images that were crossed, the first; what a body is `inside` when it starts comes first."""
    seen = {}
    for hit in sorted(hits, key=lambda hit: (hit.time, hit.other not in inside)):
        seen.setdefault(hit.other.data[0], hit)
    return sorted(seen.values(), key=lambda hit: (hit.time, hit.other.data[0]))


TestPeriodicWorld = PeriodicMachine.TestCase
TestPeriodicWorld.settings = machine_settings(60, 30)
