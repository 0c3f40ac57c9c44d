"""Worlds: bodies, tags, and who is told of which contacts."""

import pytest

import broadphase as bp
from broadphase import Box, Circle, Contact, Polygon, World

SQUARE = Box(0, 0, 10, 10)


class Heard:
    """Listens, and remembers what it was told as ``phase, a, b``."""

    def __init__(self, world, *pairs):
        self.calls = []
        self.contacts = []
        for a, b in pairs:
            world.on(a, b, *(self.hearing(phase) for phase in ("begin", "stay", "end")))

    def hearing(self, phase):
        def hear(contact):
            self.contacts.append(contact)
            self.calls.append((phase, contact.a.data, contact.b.data))

        return hear

    def told(self):
        calls, self.calls = self.calls, []
        return calls


def named(world, shape, name, tag, **options):
    return world.add(shape, tag=tag, data=name, **options)


def names(contacts):
    return [(contact.a.data, contact.b.data) for contact in contacts]


# ---- bodies


@pytest.mark.smaller_set
def test_bodies_come_and_go():
    world = World()
    assert len(world) == 0
    assert list(world) == []
    a, b, c = (world.add(SQUARE.moved_to(x, 0)) for x in (0, 20, 40))
    assert [body.id for body in world] == [0, 1, 2]
    assert b in world
    assert "b" not in world
    world.remove(b)
    assert list(world) == [a, c]
    assert b not in world
    assert not b.alive
    d = world.add(SQUARE)
    assert d.id == 1
    assert world.body(1) is d
    world.validate()
    world.clear()
    assert len(world) == 0
    assert not any(body.alive for body in (a, c, d))
    world.validate()


@pytest.mark.smaller_set
def test_a_body_is_where_it_is_put():
    world = World()
    body = world.add(Circle(1, 2, 3), tag="ball", sensor=True, category=2, mask=6, data="mine")
    assert (body.x, body.y, body.position, body.bounds) == (1, 2, (1, 2), (-2, -1, 4, 5))
    assert (body.tag, body.tags, body.data) == ("ball", {"ball"}, "mine")
    assert (body.static, body.sensor, body.category, body.mask) == (False, True, 2, 6)
    body.x += 10
    body.y = 7
    assert body.shape == Circle(11, 7, 3)
    body.position = 0, 0
    assert body.bounds == (-3, -3, 3, 3)
    body.shape = Box(5, 5, 1, 1)
    assert body.bounds == (5, 5, 6, 6)
    body.static, body.sensor, body.category, body.mask = True, False, 1, 1
    assert (body.static, body.sensor, body.category, body.mask) == (True, False, 1, 1)
    assert repr(body) == "<Body 0 'ball': Box(x=5.0, y=5.0, width=1.0, height=1.0)>"
    body.tag = ["a", "b"]
    assert body.tag == frozenset("ab")
    body.tag = None
    assert body.tag is None
    world.validate()


@pytest.mark.smaller_set
def test_a_removed_body_says_what_it_was_and_does_nothing_more():
    world = World()
    body = world.add(SQUARE, tag="coin", static=True, sensor=True, category=2, mask=4, data=5)
    world.remove(body)
    assert (body.x, body.y, body.shape, body.bounds) == (0, 0, SQUARE, SQUARE.bounds)
    assert (body.id, body.tag, body.data, body.category, body.mask) == (0, "coin", 5, 2, 4)
    assert body.static
    assert body.sensor
    assert "removed" in repr(body)
    uses = [
        lambda: body.move_to(1, 1),
        lambda: setattr(body, "x", 3),
        lambda: setattr(body, "tag", "other"),
        lambda: setattr(body, "shape", SQUARE),
        lambda: setattr(body, "static", False),
        lambda: world.remove(body),
        lambda: world.move(body, 1, 1),
        lambda: world.try_move(body, 1, 1),
        lambda: world.move_all([body], [[1, 1]]),
        lambda: world.move_many([body], 1, 1),
        lambda: world.grounded(body),
        lambda: world.push(body, 1, 1),
        lambda: world.resize(body, SQUARE),
        lambda: world.blocker(body),
        lambda: world.raycast((0, 0), (1, 1), ignore=body),
    ]
    for use in uses:
        with pytest.raises(ValueError, match="was removed from its world"):
            use()


@pytest.mark.smaller_set
def test_bodies_of_another_world_and_other_things_are_refused():
    world, other = World(), World()
    body = other.add(SQUARE)
    world.add(SQUARE)
    for use in (world.remove, world.blocker, lambda one: world.move_all([one], [[0, 0]])):
        with pytest.raises(ValueError, match="another world"):
            use(body)
    with pytest.raises(TypeError, match=r"body must be a Body, as World\.add returns it; got 'player'"):
        world.remove("player")
    assert body in other
    assert body not in world


@pytest.mark.smaller_set
@pytest.mark.parametrize(
    ("arguments", "error", "says"),
    [
        ({"shape": (0, 0, 1, 1)}, TypeError, "must be a Box, Circle or Polygon"),
        ({"tag": [None]}, ValueError, "None and ANY are no tags"),
        ({"tag": {}}, TypeError, "unhashable"),
        ({"static": 1}, TypeError, "static must be True or False"),
        ({"sensor": "no"}, TypeError, "sensor must be True or False"),
        ({"category": -1}, ValueError, "category = -1 does not fit"),
        ({"mask": 2**32}, ValueError, "mask = 4294967296 does not fit"),
    ],
)
def test_bad_bodies_are_refused_and_nothing_changes(arguments, error, says):
    world = World()
    with pytest.raises(error, match=says):
        world.add(**({"shape": SQUARE} | arguments))
    assert len(world) == 0
    world.validate()


@pytest.mark.smaller_set
@pytest.mark.parametrize("place", [(float("nan"), 0), (0, float("inf")), (1e301, 0), ("a", 0), (0, None)])
def test_bad_places_are_refused_and_nothing_changes(place):
    world = World()
    body = world.add(SQUARE)
    with pytest.raises((TypeError, ValueError), match=r"[xy] must be"):
        body.move_to(*place)
    with pytest.raises((TypeError, ValueError), match="positions"):
        world.move_all([body], [place])
    assert body.position == (0, 0)


@pytest.mark.smaller_set
@pytest.mark.parametrize(
    "broadphase", ["auto", "brute_force", "spatial_hash", bp.UniformGrid((0, 0, 9, 9), 3)]
)
def test_any_index_is_a_broad_phase(broadphase):
    world = World(broadphase)
    heard = Heard(world, ("a", "b"))
    named(world, SQUARE, "A", "a")
    named(world, SQUARE.moved_to(5, 5), "B", "b")
    named(world, SQUARE.moved_to(10, 0), "C", "b")
    world.update()
    assert heard.told() == [("begin", "A", "B")]
    world.validate()


@pytest.mark.smaller_set
def test_an_index_that_does_not_suit_is_refused():
    full = bp.BruteForce()
    full.insert([0, 0, 1, 1])
    for wrong in (full, bp.BruteForce(dim=3), bp.BruteForce(dtype="f4")):
        with pytest.raises(ValueError, match="must be empty, 2-D and float64"):
            World(wrong)
    with pytest.raises(TypeError, match="name of an index"):
        World(7)
    with pytest.raises(ValueError, match="unknown index"):
        World("tree_of_life")


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
    assert heard.told() == [(phase, "P", "C") for phase in ("begin", "stay", "end")]
    assert world.update() == ([], [], [])


@pytest.mark.smaller_set
def test_the_contact_stands_in_the_order_of_the_tags():
    world = World()
    heard = Heard(world, ("coin", "player"), ("player", "coin"))
    named(world, Box(0, 0, 10, 10), "P", "player")
    named(world, Box(8, 0, 10, 10), "C", "coin")
    began = world.update().began
    assert names(began) == [("C", "P")]
    assert heard.told() == [("begin", "C", "P"), ("begin", "P", "C")]
    assert [contact.normal for contact in heard.contacts] == [(1, 0), (-1, 0)]


@pytest.mark.smaller_set
def test_one_tag_twice_is_told_once():
    world = World()
    heard = Heard(world, ("ball", "ball"))
    for x in (0, 5, 10):
        named(world, Box(x, 0, 7, 7), x, "ball")
    world.update()
    assert heard.told() == [("begin", 0, 5), ("begin", 5, 10)]


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
    world.validate()


@pytest.mark.smaller_set
def test_several_tags_and_any():
    world = World()
    heard = Heard(world, ("door", "player"), ("wall", "player"), (bp.ANY, "bullet"))
    named(world, SQUARE, "D", {"door", "wall"}, static=True)
    named(world, SQUARE, "P", "player")
    named(world, SQUARE, "B", "bullet")
    named(world, SQUARE, "N", None)
    world.update()
    assert heard.told() == [
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
def test_only_what_somebody_listens_for_is_tested():
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
def test_categories_masks_and_statics():
    world = World()
    world.on(bp.ANY, bp.ANY)
    named(world, SQUARE, "A", None, category=1, mask=2)
    b = named(world, SQUARE, "B", None, category=2, mask=1)
    named(world, SQUARE, "C", None, category=2, mask=2)
    named(world, SQUARE, "S", None, static=True)
    d = named(world, SQUARE, "T", None, static=True)
    assert names(world.update().began) == [("A", "B"), ("B", "S"), ("B", "T")]
    b.mask = 6
    changes = world.update()
    assert names(changes.began) == [("B", "C")]
    assert names(changes.ended) == [("A", "B"), ("B", "S"), ("B", "T")]
    b.mask, b.category = 0xFFFFFFFF, 1
    changes = world.update()
    assert names(changes.began) == [("B", "S"), ("B", "T")]
    assert names(changes.ended) == [("B", "C")]
    d.static = False
    assert names(world.update().began) == [("S", "T")]
    world.validate()


@pytest.mark.smaller_set
def test_shapes_of_every_kind_touch_exactly():
    world = World()
    world.on("a", "b")
    circle = named(world, Circle(0, 0, 5), "circle", "a")
    named(world, Box(4, 4, 5, 5), "box", "b")
    named(world, Polygon([(0, 20), (20, 0), (20, 20)]), "triangle", "b")
    assert world.update().began == []
    assert world.stats.candidates == 2
    circle.move_to(1, 1)
    assert names(world.update().began) == [("circle", "box")]
    circle.move_to(8, 8)
    assert names(world.update().began) == [("circle", "triangle")]


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
    assert heard.told() == [
        ("begin", "W", "S"),  # the wolf
        ("end", "W", "S"),
        ("begin", "W", "S"),  # the dog
        ("end", "W", "S"),
    ]
    assert world.update() == ([], [], [])
    world.validate()


# ---- removal


@pytest.mark.smaller_set
def test_contacts_of_a_removed_body_end_also_when_its_id_is_reused():
    world = World()
    heard = Heard(world, ("a", "b"))
    old = named(world, SQUARE, "old", "a")
    named(world, SQUARE, "B", "b")
    world.update()
    world.remove(old)
    new = named(world, SQUARE, "new", "a")
    assert new.id == old.id
    began, stayed, ended = world.update()
    assert (names(began), names(stayed), names(ended)) == ([("new", "B")], [], [("old", "B")])
    assert ended[0].a is old
    assert heard.told() == [("begin", "old", "B"), ("begin", "new", "B"), ("end", "old", "B")]


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
    assert heard.told() == [("begin", 0, "C")]
    assert names(world.update().ended) == [(0, "C"), (1, "C"), (2, "C")]
    assert heard.told() == [("end", 0, "C")]
    assert world.update() == ([], [], [])
    assert heard.told() == []


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
    assert heard.told() == [("begin", "S", "F"), ("begin", "T", "F")]
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
def test_an_exception_comes_through_and_the_next_update_goes_on():
    world = World()
    told = []

    def fail(contact):
        told.append(contact.b.data)
        if contact.b.data == "C1":
            raise ZeroDivisionError("mine")

    world.on("p", "c", begin=fail, end=fail, stay=lambda contact: told.append("stay"))
    named(world, SQUARE, "P", "p")
    coins = [named(world, SQUARE, f"C{k}", "c") for k in range(3)]
    with pytest.raises(ZeroDivisionError, match="mine"):
        world.update()
    assert told == ["C0", "C1"]
    assert len(world.events.began) == 3
    events = world.update()
    assert told == ["C0", "C1", "C2", "stay", "stay", "stay"]
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
    with pytest.raises(TypeError, match="a must be one tag"):
        world.on(None, "b")
    with pytest.raises(TypeError, match="b must be one tag"):
        world.on("a", ["b", "c"])
    with pytest.raises(TypeError, match="stay must be a function"):
        world.on("a", "b", stay=3)
    with pytest.raises(TypeError, match="unhashable"):
        world.on({}, "b")
    with pytest.raises(TypeError, match="begin must be a function"):
        world.on("a", "b")(5)


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
