"""For each listener and pair the calls are begin, stay..., end: in every order of everything."""

import pytest
from cases import examples
from hypothesis import given, settings
from hypothesis import strategies as st

from broadphase import ANY, Box, Circle, World

TAGS = ("a", "b", "c", ("a", "b"), ("a", "c"), None)
PHASES = ("begin", "stay", "end")
SMALL = st.integers(0, 30)
# What may happen between updates and within calls; numbers choose whom it happens to.
ACTIONS = st.lists(
    st.one_of(
        st.tuples(st.just("add"), SMALL, SMALL),
        st.tuples(st.just("remove"), SMALL, SMALL),
        st.tuples(st.just("retag"), SMALL, SMALL),
        st.tuples(st.just("place"), SMALL, SMALL),
        st.tuples(st.just("move"), SMALL, SMALL),
        st.tuples(st.just("on"), SMALL, SMALL),
        st.tuples(st.just("off"), SMALL, SMALL),
        st.tuples(st.just("snapshot"), SMALL, SMALL),
    ),
    max_size=3,
)
BETWEEN = ACTIONS | st.tuples(st.just("restore"), SMALL, SMALL).map(lambda one: [one])
# What happens in a frame, in its calls by their number, and which call raises.
FRAMES = st.lists(
    st.tuples(
        BETWEEN, st.dictionaries(st.integers(0, 6), ACTIONS, max_size=3), st.none() | st.integers(0, 6)
    ),
    min_size=2,
    max_size=12,
)


class RaisedError(Exception):
    pass


class Play:
    """A world, and what each listener knows: in contact with whom, after the calls so far."""

    def __init__(self):
        self.world = World()
        self.listeners = {}
        self.touching = {}
        self.moments = []
        self.within, self.fails, self.calls = {}, None, 0
        for number in range(4):
            self.do("add", number, 0)  # all at one place
        for number in range(3):
            self.do("on", number, number)

    def listen(self, a, b):
        name = len(self.listeners)
        self.touching[name] = set()
        functions = [lambda contact, phase=phase: self.hear(name, phase, contact) for phase in PHASES]
        self.listeners[name] = self.world.on(a, b, *functions)

    def hear(self, name, phase, contact):
        pair, known = (contact.a, contact.b), self.touching[name]
        assert self.listeners[name].active
        assert (pair in known) == (phase != "begin")
        (known.discard if phase == "end" else known.add)(pair)
        number, self.calls = self.calls, self.calls + 1
        for action in self.within.get(number, ()):
            self.do(*action)
        if number == self.fails:
            raise RaisedError

    def do(self, what, first, second):
        world, bodies = self.world, list(self.world)
        body = bodies[first % len(bodies)] if bodies else None
        names = [name for name, one in self.listeners.items() if one.active]
        if what == "add" and len(bodies) < 7:
            place = second % 4 * 3.0
            shape = Box(place, 0, 5, 5) if first % 3 else Circle(place, 3, 3)
            world.add(shape, tag=TAGS[first % len(TAGS)], sensor=second % 2 == 0)
        elif what == "remove" and body:
            world.remove(body)
        elif what == "retag" and body:
            body.tag = TAGS[second % len(TAGS)]
        elif what == "place" and body:
            body.x = second % 5 * 4.0
        elif what == "move" and body:
            world.move(body, (second % 9 - 4) * 10.0, 0, ("slide", "cross")[second % 2])
        elif what == "on":
            self.listen("abc"[first % 3], ("a", "b", ANY)[second % 3])
        elif what == "off" and names:
            self.listeners[names[first % len(names)]].remove()
        elif what == "snapshot":
            knew = {name: set(pairs) for name, pairs in self.touching.items()}
            self.moments.append((world.snapshot(), knew))
        elif what == "restore" and self.moments:
            moment, knew = self.moments[first % len(self.moments)]
            world.restore(moment)
            self.touching = {name: set(knew.get(name, ())) for name in self.listeners}

    def frame(self, between, within, fails):
        for action in between:
            self.do(*action)
        self.within, self.fails, self.calls = within, fails, 0
        try:
            self.world.update()
        except RaisedError:
            assert fails is not None
        self.within, self.fails = {}, None

    def settle(self):
        """With nothing more going on, every listener knows what is in contact, and nothing else."""
        self.world.update()
        self.world.update()
        for name, listener in self.listeners.items():
            if listener.active:
                assert self.touching[name] == self.in_contact(listener)

    def in_contact(self, listener):
        found = set()
        bodies = list(self.world)
        for at, first in enumerate(bodies):
            for second in bodies[at + 1 :]:
                if self.world.query_shape(first.shape).count(second):
                    if fits(first, listener.a) and fits(second, listener.b):
                        found.add((first, second))
                    elif fits(second, listener.a) and fits(first, listener.b):
                        found.add((second, first))
        return found


def fits(body, tag):
    return tag is ANY or tag in body.tags


@settings(max_examples=examples(150))
@given(FRAMES)
def test_each_listener_gets_begin_stay_and_end_of_each_pair(frames):
    play = Play()
    for frame in frames:
        play.frame(*frame)
    play.settle()
    play.world.validate()


# ---- what the rule came from, one by one


def reported(calls, name):
    return [lambda contact, phase=phase: calls.append((name, phase)) for phase in PHASES]


def two(tag="b"):
    world = World()
    return world, world.add(Box(0, 0, 10, 10), tag="a"), world.add(Box(5, 5, 10, 10), tag=tag)


@pytest.mark.smaller_set
def test_a_snapshot_within_a_call_keeps_the_calls_still_to_come():
    world = World()
    player = world.add(Box(0, 0, 10, 10), tag="player")
    world.add(Box(5, 5, 5, 5), tag="checkpoint", sensor=True)
    world.add(Box(8, 0, 5, 5), tag="enemy", sensor=True)
    moments, calls = [], []
    world.on("player", "checkpoint", begin=lambda contact: moments.append(world.snapshot()))
    world.on("player", "enemy", *reported(calls, "enemy"))
    world.update()
    assert calls == [("enemy", "begin")]
    for _ in range(2):
        calls.clear()
        world.restore(moments[0])
        world.update()
        player.x = 100
        world.update()
        assert calls == [("enemy", "begin"), ("enemy", "stay"), ("enemy", "end")]
    assert len(moments) == 1


@pytest.mark.smaller_set
def test_an_exception_in_end_ends_the_contact_and_the_others_come_later():
    world = World()
    calls = []

    def end(contact):
        calls.append(contact.b.data)
        if contact.b.data == 0:
            raise RaisedError

    world.on("a", "b", end=end)
    a = world.add(Box(0, 0, 5, 5), tag="a")
    for number in range(3):
        world.add(Box(0, 0, 5, 5), tag="b", data=number)
    world.update()
    a.x = 100
    with pytest.raises(RaisedError):
        world.update()
    world.update()
    world.update()
    assert calls == [0, 1, 2]


@pytest.mark.smaller_set
def test_tags_that_are_used_once_are_forgotten():
    world = World()
    world.on("a", "b")
    kept = world.add(Box(0, 0, 1, 1), tag=("kept", "a"))
    moment = world.snapshot()
    for number in range(2_000):
        world.remove(world.add(Box(0, 0, 1, 1), tag=("once", number)))
        kept.tag = ("a", number)
        world.on(("x", number)[0], number).remove()
    assert len(world._state.store.tag_sets.groups) < 200
    assert len(world._state.store.tag_sets.heard_now.bit_of) == 2
    assert world._state.store.tag_sets.heard_now.exact
    world.restore(moment)
    assert kept.tags == {"kept", "a"}
    world.add(Box(0, 0, 1, 1), tag="b")
    assert len(world.update().began) == 1
    world.validate()


@pytest.mark.smaller_set
def test_events_of_before_are_read_rightly_after_tags_were_forgotten():
    world, a, b = two()
    world.on("b", "a")
    began = world.update().began
    for number in range(200):
        world.remove(world.add(Box(0, 0, 1, 1), tag=number))
    assert [contact[:2] for contact in began] == [(b, a)]
    assert [contact[:2] for contact in world.update().stayed] == [(b, a)]
    world.remove(a)
    assert [contact[:2] for contact in world.update().ended] == [(b, a)]


@pytest.mark.smaller_set
def test_a_function_registered_by_a_listener_listens_for_itself():
    world, _, _ = two()
    listener = world.on("a", "b")
    world.update()
    calls = []
    listener(lambda contact: calls.append(contact))
    world.update()
    world.update()
    assert len(calls) == 1
