"""Worlds: what a handler may do while it is called, and what follows from it."""

import pytest
from world_helpers import SQUARE, Heard, named, names

from broadphase import World

# ---- removal


@pytest.mark.smaller_set
def test_a_body_removed_in_a_call_gets_no_further_calls():
    world = World()
    heard = Heard(world)

    def take(contact):
        heard.hearing("begin")(contact)
        world.remove(contact.b)

    world.on("player", "coin", take, heard.hearing("stay"), heard.hearing("end"))
    for k in range(3):
        named(world, SQUARE, k, "player")
    named(world, SQUARE, "C", "coin")
    events = world.update()
    assert len(events.began) == 3
    assert heard.reported() == [("begin", 0, "C")]
    assert names(world.update().ended) == [(0, "C"), (1, "C"), (2, "C")]
    assert heard.reported() == [("end", 0, "C")]
    assert world.update() == ([], [], [])
    assert heard.reported() == []


@pytest.mark.smaller_set
def test_calls_may_add_and_move_bodies_and_listeners():
    world = World()
    heard = Heard(world, ("spark", "fuse"))

    def burn(contact):
        contact.a.x += 100
        named(world, SQUARE, "new", "spark")
        world.on("spark", "spark", heard.hearing("sparks"))

    first = world.on("spark", "fuse", burn)
    named(world, SQUARE, "S", "spark")
    named(world, SQUARE, "F", "fuse")
    named(world, SQUARE, "T", "spark")
    world.update()
    assert heard.reported() == [("begin", "S", "F"), ("begin", "T", "F")]
    first.remove()
    began, _, ended = world.update()
    assert names(began) == [("S", "T"), ("F", "new"), ("F", "new"), ("new", "new")] or len(began) == 4
    assert sorted(names(ended)) == [("S", "F"), ("T", "F")]
    world.validate()


@pytest.mark.smaller_set
def test_clearing_in_a_call_ends_the_calls():
    world = World()
    calls = []

    def boom(contact):
        calls.append(contact)
        world.clear()

    world.on("a", "a", boom)
    for _ in range(4):
        world.add(SQUARE, tag="a")
    world.update()
    assert len(calls) == 1
    assert len(world.update().ended) == 6
    assert len(world) == 0


# ---- errors in calls


@pytest.mark.smaller_set
def test_an_exception_is_raised_and_the_next_update_continues():
    world = World()
    reported = []

    def fail(contact):
        reported.append(contact.b.data)
        if contact.b.data == "C1":
            raise ZeroDivisionError("mine")

    world.on("p", "c", begin=fail, end=fail, stay=lambda contact: reported.append("stay"))
    named(world, SQUARE, "P", "p")
    coins = [named(world, SQUARE, f"C{k}", "c") for k in range(3)]
    with pytest.raises(ZeroDivisionError, match="mine"):
        world.update()
    assert reported == ["C0", "C1"]
    assert len(world.events.began) == 3
    events = world.update()
    assert reported == ["C0", "C1", "C2", "stay", "stay", "stay"]
    assert (len(events.began), len(events.stayed)) == (0, 3)
    coins[0].x = 50
    world.validate()
    assert len(world.update().ended) == 1


@pytest.mark.smaller_set
def test_update_and_restore_are_refused_within_a_call():
    world = World()
    moment = world.snapshot()
    refused = []

    def again(contact):
        for what in (world.update, lambda: world.restore(moment)):
            with pytest.raises(RuntimeError, match="was called from a function"):
                what()
            refused.append(what)

    world.on("a", "a", again)
    world.add(SQUARE, tag="a")
    world.add(SQUARE, tag="a")
    world.update()
    assert len(refused) == 2
    world.update()


@pytest.mark.smaller_set
def test_bad_listeners_are_refused():
    world = World()
    with pytest.raises(TypeError, match="b must be one tag"):
        world.on("a", ["b", "c"])
    with pytest.raises(TypeError, match="unhashable"):
        world.on({}, "b")
    with pytest.raises(TypeError, match="begin must be a function"):
        world.on("a", "b")(5)
