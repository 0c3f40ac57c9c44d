"""The processor against every pair of entities, frame by frame."""

import random
from dataclasses import dataclass

import pytest

esper = pytest.importorskip("esper", reason="the extra esper is not installed")

import broadphase as bp  # noqa: E402
from broadphase.adapters.esper import Callbacks, Collider, CollisionProcessor, Tag  # noqa: E402


@dataclass
class Position:
    x: float
    y: float


@pytest.fixture(autouse=True)
def _fresh_world():
    esper.switch_world("a world of the test")
    yield
    esper.switch_world("default")
    esper.delete_world("a world of the test")


def processor(**options):
    made = CollisionProcessor(**options)
    esper.add_processor(made)
    return made


def noting(log, phase):
    return lambda entity, other, contact: log.append((phase, entity, other))


def listener(log, *tags):
    return Callbacks(*({tag: noting(log, phase) for tag in tags} for phase in ("begin", "stay", "end")))


def test_both_sides_are_called_after_the_whole_pass_in_order():
    log = []
    a = esper.create_entity(Collider(bp.Box(0, 0, 10, 10)), Tag("player"), listener(log, "coin", "wall"))
    b = esper.create_entity(Collider(bp.Box(5, 5, 10, 10)), Tag("coin"), listener(log, "player"))
    c = esper.create_entity(Collider(bp.Box(-5, -5, 10, 10)), Tag("coin"))
    collisions = processor()
    for _ in range(2):
        esper.process()
    esper.component_for_entity(b, Collider).body.move_to(100, 100)
    esper.process()
    began = [("begin", a, b), ("begin", b, a), ("begin", a, c)]
    stayed = [("stay", *pair[1:]) for pair in began]
    assert log == [*began, *stayed, ("stay", a, c), ("end", a, b), ("end", b, a)]
    assert len(collisions.world) == 3


def test_the_contact_is_seen_from_ones_own_side():
    seen = {}

    def look(entity, other, contact):
        seen[entity] = contact

    both = Callbacks({"ball": look})
    a = esper.create_entity(Collider(bp.Circle(0, 0, 5)), Tag("ball"), both)
    b = esper.create_entity(Collider(bp.Circle(8, 0, 5)), Tag("ball"), both)
    processor()
    esper.process()
    assert seen[a].normal == (-1, 0)
    assert seen[b].normal == (1, 0)
    assert seen[a].a.data == a
    assert seen[b].a.data == b
    assert seen[a].depth == seen[b].depth == 2


class EveryPair:
    """What should be called, by looking at every pair of entities."""

    def __init__(self):
        self.before = {}

    def frame(self, ids):
        boxes = {}
        for entity, (collider, place) in esper.get_components(Collider, Position):
            boxes[entity] = collider.shape.moved_to(place.x, place.y)
        now = {}
        for a, first in boxes.items():
            for b, second in boxes.items():
                if ids[a] < ids[b] and bp.overlap(first, second):
                    now[a, b] = self.names(a), self.names(b)
        expected = []
        for phase, pairs in (
            ("begin", {pair: now[pair] for pair in now if pair not in self.before}),
            ("stay", {pair: now[pair] for pair in now if pair in self.before}),
            ("end", {pair: self.before[pair] for pair in self.before if pair not in now}),
        ):
            for (a, b), (tags_a, tags_b) in sorted(pairs.items(), key=lambda item: [ids[e] for e in item[0]]):
                for own, other, tags in ((a, b, tags_b), (b, a, tags_a)):
                    callbacks = esper.try_component(own, Callbacks) if esper.entity_exists(own) else None
                    wanted = {} if callbacks is None else getattr(callbacks, phase)
                    expected += [(phase, own, other) for tag in wanted if tag in tags]
        self.before = now
        return expected

    @staticmethod
    def names(entity):
        tag = esper.try_component(entity, Tag)
        return frozenset() if tag is None else tag.names


@pytest.mark.parametrize("seed", range(5))
def test_a_game_of_many_kinds_gets_the_events_of_every_pair(seed):
    """Entities come, go and move; each kind keeps its tags and functions."""
    rng = random.Random(seed)
    log, model, calls = [], EveryPair(), 0
    kinds = [
        (Tag("player"), listener(log, "coin", "monster")),
        (Tag("monster", "flying"), listener(log, "monster")),
        (Tag("coin"), None),
        (Tag("cloud"), Callbacks(end={"flying": noting(log, "end")})),
    ]
    everybody = []

    def create():
        tag, callbacks = rng.choice(kinds)
        shape = rng.choice([bp.Box(0, 0, 12, 12), bp.Circle(0, 0, 7)])
        parts = [Collider(shape), Position(rng.uniform(0, 100), rng.uniform(0, 100)), tag]
        everybody.append(esper.create_entity(*parts, *([] if callbacks is None else [callbacks])))

    for _ in range(25):
        create()
    collisions = processor(position=Position)
    ids = {}
    for _ in range(40):
        for entity in everybody:
            place = esper.component_for_entity(entity, Position)
            if rng.random() < 0.5:
                place.x += rng.uniform(-15, 15)
                place.y += rng.uniform(-15, 15)
        if rng.random() < 0.5:
            create()
        if rng.random() < 0.4:
            esper.delete_entity(everybody.pop(rng.randrange(len(everybody))), immediate=rng.random() < 0.5)
        log.clear()
        esper.process()
        ids |= {entity: collider.body.id for entity, collider in esper.get_component(Collider)}
        expected = model.frame(ids)
        assert sorted(log) == sorted(expected)
        calls += len(log)
        assert {body.data for body in collisions.world} == set(everybody)
    assert calls > 100


def test_components_may_change():
    log = []
    a = esper.create_entity(Collider(bp.Box(0, 0, 10, 10)), Tag("player"), listener(log, "coin"))
    b = esper.create_entity(Collider(bp.Box(5, 5, 10, 10)))
    processor()
    esper.process()
    assert log == []
    esper.add_component(b, Tag("coin"))
    esper.process()
    assert log.pop() == ("begin", a, b)
    esper.component_for_entity(b, Collider).shape = bp.Box(50, 5, 10, 10)
    esper.process()
    assert log.pop() == ("end", a, b)
    esper.add_component(b, Collider(bp.Box(2, 2, 3, 3)))
    esper.process()
    assert log.pop() == ("begin", a, b)
    esper.remove_component(b, Tag)
    esper.process()
    assert ("stay", a, b) not in log
    esper.remove_component(a, Collider)
    log.clear()
    esper.process()
    assert [body.data for body in esper.get_processor(CollisionProcessor).world] == [b]


def test_a_deleted_entity_gets_no_more_calls():
    log = []

    def eat(entity, other, contact):
        log.append((entity, other))
        esper.delete_entity(other)

    hungry = Callbacks({"food": eat})
    a = esper.create_entity(Collider(bp.Box(0, 0, 10, 10)), Tag("player"), hungry)
    b = esper.create_entity(Collider(bp.Box(1, 1, 10, 10)), Tag("player"), hungry)
    food = esper.create_entity(Collider(bp.Box(5, 5, 2, 2)), Tag("food"), listener(log, "player"))
    processor()
    esper.process()
    assert log == [(a, food)]
    assert esper.entity_exists(b)


def test_move_is_stopped_by_obstacles_and_written_back():
    a = esper.create_entity(Collider(bp.Box(0, 0, 10, 10)), Position(3, 0))
    esper.create_entity(Collider(bp.Box(50, -50, 10, 100), static=True))
    collisions = processor(position=Position)
    esper.process()
    place = esper.component_for_entity(a, Position)
    place.y = 7
    move = collisions.move(a, 100, 5)
    assert move.right
    assert (place.x, place.y) == (40, 12)
    with pytest.raises(KeyError, match="there is no entity 999"):
        collisions.move(999, 1, 1)


def test_the_world_may_hold_more_than_entities():
    world = bp.World()
    world.add(bp.Box(0, 0, 5, 5), tag="coin", data=[1])
    log = []
    esper.create_entity(Collider(bp.Box(0, 0, 10, 10)), Tag("player"), listener(log, "coin"))
    processor(world=world)
    esper.process()
    assert log == []
    assert len(world.events.began) == 1


def test_an_entity_without_a_body_yet_still_blocks():
    a = esper.create_entity(Collider(bp.Box(0, 0, 10, 10)), Position(0, 0))
    collisions = processor(position=Position)
    esper.process()
    esper.create_entity(Collider(bp.Box(0, 0, 10, 100), static=True), Position(50, -50))
    assert collisions.move(a, 100, 0).x == 40
    esper.create_entity(Collider(bp.Box(0, 0, 10, 100), static=True), Position("left", 0))
    for _ in range(2):
        with pytest.raises(TypeError, match="entity 3, Position: x"):
            collisions.move(a, -100, 0)


def test_a_tag_has_a_name():
    with pytest.raises(ValueError, match="must have a name"):
        Tag()


def test_an_entity_that_cannot_move_raises_with_the_reason():
    late = esper.create_entity(Collider(bp.Box(0, 0, 10, 10)))
    without = esper.create_entity(Tag("ghost"))
    collisions = processor()
    with pytest.raises(KeyError, match=rf"entity {late} is not in the world yet; call process"):
        collisions.move(late, 1, 1)
    esper.process()
    assert collisions.move(late, 1, 1).x == 1
    with pytest.raises(KeyError, match=f"entity {without} has no Collider"):
        collisions.move(without, 1, 1)


def test_components_are_checked_where_they_are_made():
    with pytest.raises(TypeError, match=r"must be a Box, Circle or Polygon.*; got 'round'"):
        Collider("round")
    assert Collider((0, 0, 8, 8)).shape == bp.Box(0, 0, 8, 8)
    with pytest.raises(TypeError, match="stay must be a dict of tag to function"):
        Callbacks(stay=print)
    with pytest.raises(TypeError, match="begin must be a dict of tag to function"):
        Callbacks({"coin": "take"})


@pytest.mark.parametrize("process_first", [False, True])
def test_what_no_body_can_have_is_named_by_its_entity(process_first):
    esper.create_entity(Collider(bp.Box(0, 0, 10, 10)), Position(0, 0))
    collider = Collider(bp.Box(0, 0, 10, 10))
    place = Position(5, 5)
    entity = esper.create_entity(collider, place)
    collisions = processor(position=Position)
    if process_first:
        esper.process()
    collider.shape = "round"
    with pytest.raises(TypeError, match=f"^entity {entity}: shape must be a Box, Circle or Polygon"):
        esper.process()
    collider.shape = bp.Circle(0, 0, 3)
    for wrong in (float("nan"), "5", None):
        place.x = wrong
        with pytest.raises((TypeError, ValueError), match=f"^entity {entity}, Position: x must be"):
            esper.process()
    del place.x
    with pytest.raises(AttributeError, match=f"^entity {entity}, Position: .*no attribute 'x'"):
        esper.process()
    place.x = 7.0
    esper.process()
    assert collider.body.x == 7
    assert len(collisions.world) == 2
    if not process_first:
        wrong = esper.create_entity(Collider(bp.Box(0, 0, 1, 1), mask=-1))
        with pytest.raises(ValueError, match=f"^entity {wrong}: mask"):
            esper.process()


def touching(log, *tags, callbacks=True):
    """A player, with functions, on a thing with these tags; processed twice."""
    player = esper.create_entity(Collider(bp.Box(0, 0, 10, 10)), Tag("player"))
    if callbacks:
        esper.add_component(player, listener(log, "rock", "food", "gold"))
    thing = esper.create_entity(Collider(bp.Box(5, 5, 10, 10)), Tag(*tags), listener(log, "player"))
    processor()
    for _ in range(2):
        esper.process()
    return player, thing


def phases(log, entity):
    found = [phase for phase, own, _ in log if own == entity]
    log.clear()
    return found


def test_a_tag_that_changes_during_a_contact_ends_it_for_the_old_and_begins_it_for_the_new():
    log = []
    player, thing = touching(log, "rock")
    assert phases(log, player) == ["begin", "stay"]
    esper.add_component(thing, Tag("food"))
    esper.process()
    assert log == [("begin", player, thing), ("stay", thing, player), ("end", player, thing)]
    log.clear()
    esper.process()
    assert phases(log, player) == ["stay"]
    esper.add_component(thing, Tag("food", "gold"))
    esper.process()
    assert phases(log, player) == ["begin", "stay"], "begins for gold, stays for food"
    esper.add_component(thing, Tag("gold"))
    esper.component_for_entity(thing, Collider).body.move_to(99, 99)
    esper.process()
    assert phases(log, player) == ["end", "end"], "for food and gold"
    esper.process()
    assert log == []


def test_a_tag_nobody_waits_for_ends_the_contact():
    log = []
    player, thing = touching(log, "rock")
    log.clear()
    esper.add_component(thing, Tag("air"))
    esper.process()
    assert phases(log, player) == ["end"]
    esper.add_component(thing, Tag("rock"))
    esper.process()
    assert phases(log, player) == ["begin"]


def test_functions_that_come_during_a_contact_begin_with_begin():
    log = []
    player, thing = touching(log, "rock", callbacks=False)
    log.clear()
    esper.add_component(player, listener(log, "rock"))
    esper.process()
    assert log == [("begin", player, thing), ("stay", thing, player)]
    log.clear()
    esper.process()
    assert phases(log, player) == ["stay"]
    esper.add_component(player, listener(log, "rock"))
    esper.component_for_entity(thing, Collider).body.move_to(99, 99)
    esper.process()
    assert phases(log, player) == [], "they heard of no begin, so of no end"


def test_what_passes_in_one_frame_begins_and_ends_also_for_functions_that_are_new():
    log = []
    player, thing = touching(log, "rock", callbacks=False)
    collisions = esper.get_processor(CollisionProcessor)
    esper.component_for_entity(thing, Collider).body.move_to(50, 0)
    esper.component_for_entity(thing, Collider).body.sensor = True
    esper.process()
    log.clear()
    esper.add_component(player, listener(log, "rock"))
    collisions.move(player, 200, 0)
    esper.process()
    assert phases(log, player) == ["begin", "end"]


def test_a_collider_of_two_entities_is_refused():
    collider = Collider(bp.Box(0, 0, 10, 10))
    first, second = (esper.create_entity(collider) for _ in range(2))
    collisions = processor()
    with pytest.raises(ValueError, match=f"entity {second}: its Collider is that of entity {first}, too"):
        esper.process()
    esper.remove_component(first, Collider)
    esper.process()
    assert [body.data for body in collisions.world] == [second]
    esper.remove_processor(CollisionProcessor)
    again = processor()
    esper.process()
    assert [body.data for body in again.world] == [second]
