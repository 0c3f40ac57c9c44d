"""Worlds: bodies come, go and are where they are put; what does not suit is refused."""

import math
import pickle

import numpy as np
import pytest
from world_helpers import SQUARE, Heard, named

import broadphase as bp
from broadphase import Box, Circle, World


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
def test_bodies_of_another_world_and_other_objects_are_refused():
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
        ({"shape": (0, 0, 1)}, TypeError, "must be a Box, Circle or Polygon"),
        ({"tag": [None]}, ValueError, "None and ANY are no tags"),
        ({"tag": {}}, TypeError, "tag must be hashable, or a set, list or tuple of tags; got {}"),
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
    "broadphase", ["auto", "brute_force", "spatial_hash", bp.UniformGrid(bounds=(0, 0, 9, 9), cell_size=3)]
)
def test_any_index_is_a_broad_phase(broadphase):
    world = World(broadphase)
    heard = Heard(world, ("a", "b"))
    named(world, SQUARE, "A", "a")
    named(world, SQUARE.moved_to(5, 5), "B", "b")
    named(world, SQUARE.moved_to(10, 0), "C", "b")
    world.update()
    assert heard.reported() == [("begin", "A", "B")]
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


def test_categories_by_name():
    world, numbers = World(), World()
    bit = {"hero": 2, "monster": 4, "wall": 8, "shot": 16}
    for category, mask in (
        ("hero", ["monster", "wall"]),
        ("shot", "monster"),
        (["monster", "wall"], ["shot"]),
    ):
        known = [
            sum(bit[one] for one in ([names] if isinstance(names, str) else names))
            for names in (category, mask)
        ]
        body = world.add(Box(0, 0, 4, 4), category=category, mask=mask)
        numbers.add(Box(0, 0, 4, 4), category=known[0], mask=known[1])
        assert [body.category, body.mask] == known
    for names, number in (("monster", 4), (["hero", "shot"], 18)):
        for rule in ("category", "mask"):
            (found, hit), (expected, other) = (
                (one.query_box((0, 0, 9, 9), **{rule: value}), one.raycast((-5, 2), (1, 0), **{rule: value}))
                for one, value in ((world, names), (numbers, number))
            )
            assert [body.id for body in found] == [body.id for body in expected]
            assert (hit and hit.body.id) == (other and other.body.id)
    body = world.body(0)
    body.category = "hero"
    body.mask = {"hero", "wall"}
    assert (body.category, body.mask) == (2, 10)
    with pytest.raises(
        ValueError, match="'heros' is no category of a body in this world; known are 'hero', "
    ):
        world.query_box((0, 0, 1, 1), mask="heros")
    with pytest.raises(TypeError, match="category"):
        world.add(Box(0, 0, 1, 1), category=["hero", 3])
    with pytest.raises(ValueError, match="one category more than 31"):
        world.add(Box(0, 0, 1, 1), category=[f"c{k}" for k in range(40)])
    assert len(world) == 3


def test_a_category_gets_its_bit_only_where_its_body_came():
    world = World()
    for wrong in (
        {"category": "new", "mask": -1},
        {"category": ["new"], "mask": 3.5},
        {"mask": "new", "sensor": 5},
    ):
        with pytest.raises((TypeError, ValueError)):
            world.add(Box(0, 0, 1, 1), **wrong)
        with pytest.raises(ValueError, match="known are none"):
            world.query_box((0, 0, 1, 1), mask="new")
    assert world.add(Box(0, 0, 1, 1), category="other").category == 2


@pytest.mark.parametrize("pickled", [False, True])
def test_a_snapshot_holds_the_bits_of_categories(pickled):
    world = World()
    body = world.add(Box(0, 0, 1, 1), category="hero")
    moment = world.snapshot()
    assert world.add(Box(0, 0, 1, 1), category="shot").category == 4
    if pickled:
        moment, world = pickle.loads(pickle.dumps(moment)), World()
    world.restore(moment)
    assert [one.id for one in world.query_box((0, 0, 1, 1), mask="hero")] == [body.id]
    assert world.add(Box(0, 0, 1, 1), category="wall").category == 4
    with pytest.raises(ValueError, match="known are 'hero', 'wall'"):
        world.query_box((0, 0, 1, 1), mask="shot")


def test_places_are_vectors_and_tuples():
    world = bp.World()
    body = world.add(bp.Circle(3, 4, 2))
    body.velocity = 10, 20
    assert body.position + body.velocity / 10 == (4.0, 6.0)
    assert (1, 1) + 2 * body.center - (1, 0) == (6.0, 9.0)
    assert (10, 10) - body.center == -(body.center - (10, 10)) == (7.0, 6.0)
    assert (body.center.x, body.position.y, repr(body.center)) == (3.0, 4.0, "(3.0, 4.0)")
    x, y = body.center
    assert {(x, y): 1}[body.center] == 1
    grid = np.zeros((2, 2))
    for sums in (body.center + grid, grid + body.center, grid - body.center, body.center * (grid + 1)):
        assert sums.shape == (2, 2)
    body.center += (2, 0)
    assert body.position == (5.0, 4.0)
    body.remove()
    assert body.center * 2 == (10.0, 8.0)
    with pytest.raises(ValueError, match="was removed"):
        body.center = 0, 0


def test_the_rectangle_of_a_body_is_taken_as_one():
    world = bp.World()
    first, second = world.add(bp.Box(5, 5, 16, 16)), world.add(bp.Box(18, 18, 2, 2))
    rect = first.rect
    assert rect == (5.0, 5.0, 16.0, 16.0)
    assert (rect.left, rect.right, rect.top, rect.bottom, rect.center) == (5, 21, 5, 21, (13, 13))
    assert world.query_box(rect) == world.query_box(first.bounds) == [first, second]
    assert world.add(rect).shape == bp.Box(rect) == first.shape
    assert [body.shape for body in world.add_many([rect, rect])] == [first.shape] * 2
    index = bp.BoxTree()
    index.insert(rect)
    index.insert_many([rect, second.rect])
    assert index.boxes.tolist() == [list(first.bounds)] * 2 + [list(second.bounds)]
    assert index.query_box(rect).tolist() == [0, 1, 2]
    assert bp.pairs([rect, second.rect]).tolist() == [[0, 1]]
    second.shape = rect
    assert second.shape == first.shape
    for strange in (lambda: world.add(first), lambda: world.add_many([first, rect])):
        with pytest.raises(TypeError, match=r"body\.shape"):
            strange()


@pytest.mark.parametrize("period", [None, (100, 100)])
@pytest.mark.parametrize("angle", [0, 30, 360])
@pytest.mark.parametrize(
    "shape",
    [
        bp.Box(3, 4, 10, 20),
        bp.Circle(5, 6, 3),
        bp.Polygon([(1, 1), (9, 2), (4, 8)]),
        bp.Capsule(1, 1, 9, 5, 2),
    ],
)
def test_every_shape_has_its_middle_and_can_be_put_by_it(shape, angle, period):
    world = bp.World(period=period)
    body = world.add(shape)
    body.angle = angle
    assert body.center == body.shape.center
    for place in ((40.5, 60.25), [37, 38], np.array([30.0, 20.0]), bp.Vector(50.0, 31.0)):
        body.center = place
        assert body.center == body.shape.center == pytest.approx(tuple(place), abs=1e-12)
    before = body.position
    for wrong in ((math.nan, 0), (1e301, 0), (1, 2, 3), "ab"):
        with pytest.raises((TypeError, ValueError)):
            body.center = wrong
    assert body.position == before
