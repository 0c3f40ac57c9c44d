"""A world against a model in plain Python, through everything that one can do with it."""

import pytest
from cases import examples
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule
from world_model import Model

import broadphase as bp
from broadphase import ANY, Box, Circle, Polygon, World
from broadphase.geometry.narrow_phase import overlap

NUMBERS = st.integers(-8, 8).map(float) | st.floats(-8, 8, allow_subnormal=False)
SIZES = st.integers(0, 6).map(float) | st.floats(0.01, 6)
SHAPES = (
    st.builds(Box, NUMBERS, NUMBERS, SIZES, SIZES)
    | st.builds(Circle, NUMBERS, NUMBERS, SIZES)
    | st.builds(
        lambda x, y, w, h: Polygon([(x, y), (x + w + 0.5, y), (x + w / 2, y + h + 0.5)]),
        NUMBERS,
        NUMBERS,
        SIZES,
        SIZES,
    )
)
TAGS = st.sampled_from(("red", "green", "blue", None)) | st.frozensets(
    st.sampled_from(("red", "green", "blue", "old"))
)
PAIR_TAGS = st.sampled_from(("red", "green", "blue", "old", ANY))
SETS = st.sampled_from((1, 1, 1, 2, 3, 0xFFFFFFFF))


def tags_of(tag):
    return frozenset() if tag is None else frozenset((tag,)) if isinstance(tag, str) else tag


def flat(contacts):
    return [
        (*ids, tuple(normal), depth)
        for ids, normal, depth in zip(
            contacts.ids.tolist(), contacts.normals.tolist(), contacts.depths.tolist(), strict=True
        )
    ]


class WorldMachine(RuleBasedStateMachine):
    @initialize(
        broadphase=st.sampled_from(
            ("auto", "spatial_hash", "strips", bp.UniformGrid(bounds=(-5, -5, 5, 5), cell_size=2))
        )
    )
    def begin(self, broadphase):
        self.world = World(broadphase)
        self.model = Model()
        self.bodies = {}
        self.listeners = {}
        self.heard = []
        self.moments = []

    # ---- changing it

    @rule(shape=SHAPES, tag=TAGS, static=st.booleans(), sensor=st.booleans(), category=SETS, mask=SETS)
    def add(self, shape, tag, static, sensor, category, mask):
        body = self.world.add(
            shape, tag=tag, static=static, sensor=sensor, category=category, mask=mask, data=shape
        )
        assert body.id == self.model.add(shape, tags_of(tag), static, sensor, category, mask)
        self.bodies[body.id] = body

    def some(self, data):
        body = self.bodies[data.draw(st.sampled_from(sorted(self.bodies)))]
        return body, self.model.entities[body.id]

    @precondition(lambda self: self.bodies)
    @rule(data=st.data())
    def remove(self, data):
        body, _ = self.some(data)
        del self.bodies[body.id], self.model.entities[body.id]
        self.world.remove(body)
        assert not body.alive

    @precondition(lambda self: self.bodies)
    @rule(data=st.data(), x=NUMBERS, y=NUMBERS)
    def move_to(self, data, x, y):
        body, item = self.some(data)
        body.move_to(x, y)
        item.shape = item.shape.moved_to(x, y)

    @precondition(lambda self: self.bodies)
    @rule(data=st.data())
    def move_all(self, data):
        some = data.draw(st.lists(st.sampled_from(sorted(self.bodies)), unique=True))
        places = [data.draw(st.tuples(NUMBERS, NUMBERS)) for _ in some]
        self.world.move_all([self.bodies[k] for k in some], places)
        for k, place in zip(some, places, strict=True):
            self.model.entities[k].shape = self.model.entities[k].shape.moved_to(*place)

    @precondition(lambda self: self.bodies)
    @rule(data=st.data(), shape=SHAPES)
    def reshape(self, data, shape):
        body, item = self.some(data)
        body.shape = item.shape = shape

    @precondition(lambda self: self.bodies)
    @rule(data=st.data(), tag=TAGS)
    def retag(self, data, tag):
        body, item = self.some(data)
        body.tag = tag
        item.retag(tags_of(tag))

    @precondition(lambda self: self.bodies)
    @rule(data=st.data(), static=st.booleans(), category=SETS, mask=SETS)
    def set_rules(self, data, static, category, mask):
        body, item = self.some(data)
        body.static, body.category, body.mask = static, category, mask
        item.static, item.category, item.mask = static, category, mask

    @precondition(lambda self: self.bodies)
    @rule(
        data=st.data(),
        dx=NUMBERS,
        dy=NUMBERS,
        response=st.sampled_from(("slide", "touch", "cross", "bounce")),
    )
    def move(self, data, dx, dy, response):
        body, item = self.some(data)
        move = self.world.move(body, dx, dy, response)
        assert body.position == (move.x, move.y)
        for hit in (*move.hits, *move.crossed):
            other = self.model.entities[hit.other.id]
            # A moving sensor crosses all bodies, the others only sensors.
            assert (other.sensor or item.sensor) == (hit not in move.hits)
            assert other.category & item.mask
            assert other.mask & item.category
        for hit in move.crossed:
            self.model.cross(body.id, hit.other.id, hit.normal)
        item.shape = body.shape

    # ---- listening

    @rule(a=PAIR_TAGS, b=PAIR_TAGS)
    def listen(self, a, b):
        name = len(self.listeners)
        hear = [lambda contact, phase=phase: self.heard.append((phase, name, contact)) for phase in range(3)]
        self.listeners[name] = self.world.on(a, b, *hear)
        self.model.listeners.append((a, b, name))

    @precondition(lambda self: self.model.listeners)
    @rule(data=st.data())
    def stop_listening(self, data):
        gone = data.draw(st.sampled_from(self.model.listeners))
        self.model.listeners.remove(gone)
        self.world.off(self.listeners[gone[2]])

    @rule()
    def update(self):
        expected, calls = self.model.update()
        self.heard.clear()
        events = self.world.update()
        assert list(map(flat, events)) == expected
        heard = [
            (phase, name, contact.a.id, contact.b.id, contact.normal, contact.depth)
            for phase, name, contact in self.heard
        ]
        assert heard == [call for call in calls if self.listeners[call[1]].active]
        assert [(one.a, one.b) for one in events.stayed] == [(one.a, one.b) for one in list(events.stayed)]

    # ---- queries

    @rule(shape=SHAPES)
    def query(self, shape):
        expected = [k for k in sorted(self.bodies) if overlap(shape, self.model.entities[k].shape)]
        assert [body.id for body in self.world.query_shape(shape)] == expected
        box = Box(*shape.bounds[:2], shape.bounds[2] - shape.bounds[0], shape.bounds[3] - shape.bounds[1])
        expected = [k for k in sorted(self.bodies) if overlap(box, self.model.entities[k].shape)]
        assert [body.id for body in self.world.query_box(box)] == expected

    # ---- going back

    @rule()
    def snapshot(self):
        items = {k: (self.bodies[k], item, dict(item.__dict__)) for k, item in self.model.entities.items()}
        self.moments.append((self.world.snapshot(), items, self.model.before, dict(self.model.crossed)))

    @precondition(lambda self: self.moments)
    @rule(data=st.data())
    def restore(self, data):
        moment, items, before, crossed = data.draw(st.sampled_from(self.moments))
        later = set(self.bodies.values())
        self.world.restore(moment)
        self.bodies = {k: body for k, (body, _, _) in items.items()}
        self.model.entities = {}
        for k, (_, item, values) in items.items():
            item.__dict__.update(values)
            self.model.entities[k] = item
        self.model.before, self.model.crossed = before, dict(crossed)
        assert all(body.alive == (body in self.bodies.values()) for body in later)

    @rule()
    def validate(self):
        self.world.validate()

    @invariant()
    def bodies_are_as_they_should(self):
        assert list(self.world) == [self.bodies[k] for k in sorted(self.bodies)]
        for k, body in self.bodies.items():
            item = self.model.entities[k]
            assert (body.shape, body.tags, body.static) == (item.shape, item.tags, item.static)


class TestWorldMachine(WorldMachine.TestCase):
    settings = settings(max_examples=examples(60), stateful_step_count=30)


@pytest.mark.smaller_set
def test_the_machine_in_small():
    machine = WorldMachine()
    machine.begin("auto")
    for k in range(6):
        machine.add(Circle(k, 0, 1.0), "red" if k % 2 else "blue", False, False, 1, 1)
    machine.listen("red", "blue")
    machine.update()
    machine.snapshot()
    machine.bodies[2].x = machine.model.entities[2].shape.x + 5
    machine.model.entities[2].shape = machine.bodies[2].shape
    machine.update()
    machine.query(Box(0, 0, 3, 3))
    machine.validate()
    machine.bodies_are_as_they_should()
