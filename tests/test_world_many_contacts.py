"""`World.on(a, b, many=f)`: all contacts that began in an update, in one call, as arrays."""

import pickle

import numpy as np
import pytest

import broadphase as bp


def scene(seed=0, count=60):
    world, rng = bp.World(), np.random.default_rng(seed)
    for k in range(count):
        x, y = rng.uniform(0, 60, 2).tolist()
        shape = bp.Circle(x, y, 3) if k % 5 == 0 else bp.Box(x, y, 5, 5)
        world.add(shape, tag=[("fox", "hen", "both", "tree")[k % 4], "any"], sensor=k % 7 == 0)
    for body in world.bodies("both"):
        body.tag = {"fox", "hen", "any"}
    return world, rng


def as_rows(hits):
    """Arrays as they are compared with contacts."""
    assert isinstance(hits, bp.ContactRows)
    assert len(hits.a) > 0
    assert hits.a.dtype == hits.b.dtype == np.int32
    columns = hits.a.tolist(), hits.b.tolist(), map(tuple, hits.normals.tolist()), hits.depths.tolist()
    return list(zip(*columns, strict=True))


@pytest.mark.parametrize(
    "tags", [("fox", "hen"), ("hen", "fox"), ("fox", "fox"), ("hen", bp.ANY), (bp.ANY, "fox")]
)
def test_it_gets_what_begin_gets_once_an_update(tags):
    world, rng = scene()
    single, many = [], []
    world.on(*tags, lambda c: single.append((c.a.id, c.b.id, c.normal, c.depth)))
    both = world.on(*tags, lambda c: single.append(None), many=many.append)
    world.on("hen", "any", stay=lambda c: None)
    for step in range(8):
        single.clear(), many.clear()
        ways, response = rng.uniform(-9, 9, (len(world), 2)), ("cross", "slide")[step % 2]
        world.move_many(world.bodies(), ways, None, response, movers_block=True)
        if step == 3:
            world.bodies("fox")[:5].remove()
            world.body(40).tag = "hen"
        world.update()
        begins = [one for one in single if one is not None]
        assert len(begins) == len(single) / 2 > 0
        assert len(many) == 1
        assert sorted(as_rows(many[0])) == sorted(begins)
        pairs = np.sort(np.column_stack(many[0][:2]), axis=1).tolist()
        assert pairs == sorted(pairs)
    both.remove()
    many.clear()
    world.bodies().positions += rng.uniform(-9, 9, (len(world), 2))
    world.update()
    assert not many


def test_nothing_began_no_call():
    world, many = bp.World(), []
    world.on("a", "b", many=many.append)
    a, b = world.add(bp.Box(0, 0, 5, 5), tag="a"), world.add(bp.Box(9, 0, 5, 5), tag="b")
    world.update()
    a.x = 5
    world.update()
    world.update()
    assert [as_rows(one) for one in many] == [[(a.id, b.id, (-1, 0), 1)]]
    a.x = 0
    world.update()
    assert len(many) == 1


def test_contacts_that_begin_for_a_new_listener_or_a_new_tag():
    world, many = bp.World(), []
    a, b = world.add(bp.Box(0, 0, 5, 5), tag="a"), world.add(bp.Box(3, 0, 5, 5), tag="b")
    c = world.add(bp.Box(0, 3, 5, 5), tag="c")
    world.on("a", bp.ANY)
    world.update()
    listener = world.on("b", "a", many=many.append)
    world.update()
    assert [as_rows(one) for one in many] == [[(b.id, a.id, (1, 0), 2)]]
    c.tag = "b"
    d = world.add(bp.Box(-3, 0, 5, 5), tag="b")
    world.update()
    assert [row[:2] for row in as_rows(many[1])] == [(c.id, a.id), (d.id, a.id)]
    assert world.off(many.append) is None
    assert not listener.active


def test_bodies_that_a_begin_removed_are_left_out():
    world, many = bp.World(), []
    bullets = world.add_many([[x, 0, x + 2, 2] for x in (0, 10, 20)], tag="bullet")
    rocks = world.add_many([[x, 0, x + 4, 4] for x in (0, 10, 20)], tag="rock")

    def hit(contact):
        if contact.a is bullets[1]:
            contact.a.remove()
            assert world.add(bp.Box(500, 0, 1, 1)).id == 1

    world.on("bullet", "rock", hit, many=many.append)
    world.update()
    assert [row[:2] for row in as_rows(many[0])] == [(0, rocks[0].id), (2, rocks[2].id)]


def test_what_raises_and_what_is_left_over():
    world, called = bp.World(), []
    world.add_many([[0, 0, 5, 5], [3, 0, 8, 5]], tag="a")

    def fail(_):
        called.append("begin")
        raise KeyError("begin")

    def fail_many(hits):
        called.append(len(hits.a))
        raise KeyError("many")

    world.on("a", "a", fail, many=fail_many)
    world.on("a", "a", many=lambda hits: called.append("second"))
    for words, calls in (("begin", ["begin"]), ("many", ["begin", 1])):
        with pytest.raises(KeyError, match=words):
            world.update()
        assert called == calls
    world.update()
    world.update()
    assert called == ["begin", 1, "second"]
    with pytest.raises(TypeError, match="many must be a function that takes ContactRows"):
        world.on("a", "a", many=3)


@pytest.mark.parametrize("elsewhere", [False, True])
def test_a_snapshot_holds_calls_that_were_left_over(elsewhere):
    def level(called):
        world = bp.World()
        fail = lambda contact: 1 / len(called)  # noqa: E731
        world.on("a", "b", fail, many=lambda hits: called.append(as_rows(hits)))
        return world

    first, second = [], []
    here, there = level(first), level(second)
    here.add_many([[0, 0, 5, 5], [9, 0, 12, 5]], tag="a")
    here.add_many([[3, 0, 8, 5], [10, 0, 14, 5]], tag="b")
    with pytest.raises(ZeroDivisionError):
        here.update()
    moment = here.snapshot()
    first.append("on")
    here.bodies("b")[:1].remove()
    here.update()
    assert first.pop()[0][:2] == (1, 3)
    world, called = (there, second) if elsewhere else (here, first)
    world.restore(pickle.loads(pickle.dumps(moment)) if elsewhere else moment)
    called.append("on")
    world.update()
    assert [row[:2] for row in called.pop()] == [(0, 2), (1, 3)]


@pytest.mark.parametrize("period", [None, (130, 130)])
def test_an_update_of_thousands_finds_what_brute_force_finds(period):
    rng = np.random.default_rng(3)
    places = rng.uniform(0, 130, (4_000, 2))
    boxes = np.hstack((places, places + 1))
    static = np.arange(len(boxes)) >= 3_000
    world = bp.World(period=period)
    for rows, tag in ((~static, "a"), (static, "wall")):
        world.add_many(boxes[rows], tag=tag, static=tag == "wall")
    world.on("a", "a"), world.on("a", "wall")
    # All are new, then few, some hundred, half of those that move, and walls.
    for rows in ([], [5], range(9), range(0, 3_000, 10), range(1_500), range(2_900, 4_000)):
        rows = np.array(rows, np.int32)
        boxes[rows] += np.tile(rng.uniform(-0.9, 0.9, (len(rows), 2)), 2)
        world.move_all(rows, boxes[rows, :2])
        boxes[:, :2] = world.positions
        boxes[:, 2:] = boxes[:, :2] + 1
        events = world.update()
        known = {"static": static, "period": period, "touching": False, "method": "brute_force"}
        found = np.concatenate((events.began.ids, events.stayed.ids))
        assert sorted(map(tuple, found.tolist())) == list(map(tuple, bp.pairs(boxes, **known).tolist()))
    world.validate()


@pytest.mark.parametrize("touched", [100, 900])
def test_the_limit_counts_pairs_that_a_listener_wants(touched):
    """In a pile of bodies of one tag none listens to the others: only the one fox counts."""
    world = bp.World(max_pairs=touched)
    hens = world.add_many([[0, 0, 2, 2]] * 1_000, tag="hen")
    fox = world.add(bp.Box(50, 0, 2, 2), tag="fox")
    world.on("hen", "fox")
    world.update()
    hens[:touched].positions += 0.5, 0
    assert not world.update().began
    fox.x = 1
    hens[:touched].positions += 0.5, 0
    with pytest.raises(bp.PairLimitExceeded):
        world.update()
    fox.x = 50
    assert not world.update().began
