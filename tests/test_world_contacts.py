"""Worlds: tags, and which listeners get which contacts."""

import numpy as np
import pytest
from world_helpers import SQUARE, Heard, named, names

import broadphase as bp
from broadphase import Box, Contact, World

# ---- contacts


@pytest.mark.smaller_set
def test_contacts_begin_stay_and_end():
    world = World()
    heard = Heard(world, ("player", "coin"))
    player = named(world, SQUARE, "P", "player")
    named(world, SQUARE.moved_to(20, 0), "C", "coin")
    assert world.update() == ([], [], [])
    player.x = 12
    began, stayed, ended = world.update()
    assert (names(began), stayed, ended) == ([("P", "C")], [], [])
    assert began[0].normal == (-1, 0)
    assert began[0].depth == 2
    world.update()
    player.x = 10  # flush
    ended = world.update().ended
    assert names(ended) == [("P", "C")]
    assert ended[0].depth == 2
    assert heard.reported() == [(phase, "P", "C") for phase in ("begin", "stay", "end")]
    assert world.update() == ([], [], [])


@pytest.mark.smaller_set
def test_the_contact_is_in_the_order_of_the_tags():
    world = World()
    heard = Heard(world, ("coin", "player"), ("player", "coin"))
    named(world, Box(0, 0, 10, 10), "P", "player")
    named(world, Box(8, 0, 10, 10), "C", "coin")
    began = world.update().began
    assert names(began) == [("C", "P")]
    assert heard.reported() == [("begin", "C", "P"), ("begin", "P", "C")]
    assert [contact.normal for contact in heard.contacts] == [(1, 0), (-1, 0)]


@pytest.mark.smaller_set
def test_on_as_a_decorator():
    world = World()
    seen = []

    @world.on("a", "b")
    def meet(contact):
        seen.append(contact)

    assert meet.__name__ == "meet"
    a, b = world.add(SQUARE, tag="a"), world.add(SQUARE.moved_to(0, 9), tag="b")
    world.update()
    world.update()
    assert seen == [Contact(a, b, (0, -1), 1)]
    world.off(meet)
    b.y = 50
    world.update()
    b.y = 0
    world.update()
    assert len(seen) == 1


@pytest.mark.smaller_set
def test_listening_can_end_and_begin_at_any_time():
    world = World()
    a, b = named(world, SQUARE, "A", "a"), named(world, SQUARE, "B", "b")
    assert world.update() == ([], [], [])
    listener = world.on("a", "b")
    assert names(world.update().began) == [("A", "B")]
    listener.remove()
    assert names(world.update().ended) == [("A", "B")]
    assert world.update() == ([], [], [])
    assert "removed" in repr(listener)
    with pytest.raises(ValueError, match="is not listening"):
        world.off(listener)
    late = []
    world.on("b", "a", late.append)
    world.update()
    assert [(contact.a, contact.b) for contact in late] == [(b, a)]
    listener, other = world.on("a", "b", begin=late.append), world.on("a", "b")
    del late[:]
    for functions, calls in (((late.append, None), 1), ((late.append,) * 2, 3), ((None, late.append), 4)):
        listener.begin, other.begin = functions
        for y in (50, 0):
            b.y = y
            world.update()
        assert len([one for one in late if one.a is a]) == calls, "a function that is put in later is called"
    world.validate()


def test_a_function_that_is_an_empty_list_is_called():
    class Log(list):
        __call__ = list.append

    world, heard = World(), Log()
    world.add(SQUARE, tag="a"), world.add(SQUARE, tag="b")
    world.on("a", "b", begin=heard)
    world.update()
    assert len(heard) == 1


@pytest.mark.smaller_set
def test_several_tags_and_any():
    world = World()
    heard = Heard(world, ("door", "player"), ("wall", "player"), (bp.ANY, "bullet"))
    named(world, SQUARE, "D", {"door", "wall"}, static=True)
    named(world, SQUARE, "P", "player")
    named(world, SQUARE, "B", "bullet")
    named(world, SQUARE, "N", None)
    world.update()
    assert heard.reported() == [
        ("begin", "D", "P"),
        ("begin", "D", "P"),
        ("begin", "D", "B"),
        ("begin", "P", "B"),
        ("begin", "N", "B"),
    ]
    world.validate()


@pytest.mark.smaller_set
def test_more_tags_than_bits():
    world = World()
    tags = [f"tag{k}" for k in range(70)]
    for a, b in zip(tags[::2], tags[1::2], strict=True):
        world.on(a, b)
    bodies = {tag: named(world, SQUARE, tag, tag) for tag in tags}
    assert names(world.update().began) == list(zip(tags[::2], tags[1::2], strict=True))
    bodies["tag3"].x = 100
    assert names(world.update().ended) == [("tag2", "tag3")]


@pytest.mark.smaller_set
def test_only_pairs_with_listeners_are_tested():
    world = World()
    world.on("a", "b")
    for tag in ("a", "b", "c", "c", None):
        named(world, SQUARE, tag, tag)
        named(world, SQUARE, tag, tag, static=True)
    began = world.update().began
    assert len(began) == 3
    assert world.stats.candidates == 3
    assert world.stats.listened == 4
    world.query_point((5, 5))
    assert world.stats.moved == 4
    assert (world.update().began, world.stats.candidates, world.stats.moved) == ([], 0, 0)


@pytest.mark.smaller_set
def test_another_tag_ends_the_contact_for_some_and_begins_it_for_others():
    world = World()
    heard = Heard(world, ("wolf", "sheep"), ("dog", "sheep"))
    wolf = named(world, SQUARE, "W", "wolf")
    named(world, SQUARE, "S", "sheep")
    world.update()
    wolf.tag = "dog"
    world.update()
    wolf.tag = "cat"
    world.update()
    assert heard.reported() == [
        ("begin", "W", "S"),  # the wolf
        ("end", "W", "S"),
        ("begin", "W", "S"),  # the dog
        ("end", "W", "S"),
    ]
    assert world.update() == ([], [], [])
    world.validate()


@pytest.mark.smaller_set
def test_contacts_read_like_a_list():
    world = World()
    world.on("a", "a")
    for x in range(4):
        named(world, SQUARE.moved_to(x, 0), x, "a")
    began = world.update().began
    assert len(began) == 6
    assert names(began[-2:]) == [(1, 3), (2, 3)]
    assert began[-1] == list(began)[5]
    assert repr(began) == "<6 contacts>"
    assert began == list(began)
    assert began != []
    assert began.depths.tolist() == [9, 8, 7, 9, 8, 9]
    with pytest.raises(IndexError):
        began[6]
    assert Contact(*began[0]).a in world
    world.clear()
    world.add(SQUARE, data="other")
    assert names(began)[0] == (0, 1)


def test_what_a_movement_found_serves_an_update_only_while_it_is_true():
    # Whatever happens between a movement of many and the update, the contacts are those of brute force.
    rng = np.random.default_rng(5)
    world, told = World(), []
    boxes = np.tile(rng.random((300, 2)) * 30, 2) + np.array([0, 0, 1, 1])
    bodies = list(world.add_many(boxes[:150], tag="mover"))
    walls = list(world.add_many(boxes[150:], tag="wall", static=True))
    for other in ("mover", "wall"):
        world.on("mover", other, begin=told.append)

    def undo():
        world.restore(before)
        for wall in walls[:50]:
            wall.move_to(-50, -50)
        world.move_many(bodies, 0.01, 0.0)
        world.restore(before)
        world.move_all(bodies, [(body.x + 0.005, body.y) for body in bodies])

    def rename():  # those that nobody listened to were not near each other
        for body in bodies:
            body.tag = "quiet"
        world.move_many(bodies, 0.01, 0.0)
        for body in bodies:
            body.tag = "mover"

    changes = (
        lambda: None,
        undo,
        rename,
        lambda: world.step(0.0),
        lambda: bodies[3].move_to(*bodies[7].position),
        lambda: walls[3].move_to(*bodies[9].position),
        lambda: bodies.append(world.add(Box(*bodies[5].position, 1, 1), tag="mover")),
        lambda: world.remove(bodies.pop()),
        lambda: setattr(walls[int(rng.integers(9))], "tag", "mover"),
        lambda: world.move_all(bodies, rng.random((len(bodies), 2)) * 30),
        lambda: world.restore(before),
        lambda: world.move_many(bodies[:90], rng.normal(size=(90, 2)), movers_block=True),
        lambda: world.on("wall", "wall", begin=told.append).remove(),
    )
    for turn in range(2 * len(changes)):
        before = world.snapshot()
        world.move_many(bodies, rng.normal(size=(len(bodies), 2)), response=("cross", "slide")[turn % 2])
        changes[turn % len(changes)]()
        world.update()
        stayed = world.update().stayed.ids
        ids = np.array([body.id for body in world])
        static = np.array([body.static for body in world])
        bounds = [body.bounds for body in world]
        found = bp.pairs(bounds, static=static, touching=False, method="brute_force")
        assert np.array_equal(stayed, ids[found])
