"""Rays that come in groups, each of one environment, beside the same rays as lists, and beside all boxes."""

import numpy as np
import pytest

import broadphase as bp

KINDS = [(np.float32, np.float32), (np.float64, np.float64), (np.float64, np.float32)]
"""Of the boxes, and of the rays."""
both_dimensions = pytest.mark.parametrize("dim", [2, 3], ids=["2d", "3d"])
SCENES = ["fractions", "whole", "nearly whole", "huge", "few and many", "everywhere"]


def scene(name, dim, worlds=5):
    """Boxes, their environments, and a robot in each world; some of its rays go along axes or edges."""
    chance = np.random.default_rng([dim, SCENES.index(name)])
    counts = [0, 1, 300, 17, 128] if name == "few and many" else [6] * worlds
    low = chance.random((sum(counts), dim)) * 8
    size, places = chance.random(low.shape) * 2, chance.random((worlds, dim)) * 8
    if name in ("whole", "everywhere"):
        low, size, places = np.round(low), np.round(size), np.round(places)
    if name == "nearly whole":  # two boxes are equally near in float32
        low[1::2] = low[::2]
        low = np.round(low) + 1e-9 * chance.random(low.shape)
    env = np.repeat(np.arange(worlds), counts)
    if name == "everywhere":
        env[::4] = -1
    scale = 1e30 if name == "huge" else 1.0
    boxes = np.hstack((low, low + size)) * scale
    ways = chance.integers(-1, 2, (40, dim)).astype(float)
    ways[np.abs(ways).sum(axis=1) == 0] = 1.0
    ways[20:] = chance.normal(size=(20, dim)) * chance.choice([1e-30, 1.0, 1e30], (20, 1))
    return boxes, env, places * scale, ways, 6.0 * scale


def same(hits, wanted):
    for array, other in zip(hits, wanted, strict=True):
        np.testing.assert_array_equal(array, other)


@pytest.mark.parametrize("name", SCENES)
@both_dimensions
@pytest.mark.parametrize(
    "kinds", [(np.float32, np.float32), (np.float64, np.float64), (np.float64, np.float32)]
)
def test_groups_hit_what_each_ray_hits_alone(name, dim, kinds):
    boxes, env, places, ways, far = scene(name, dim)
    boxes, places, ways = boxes.astype(kinds[0]), places.astype(kinds[1]), ways.astype(kinds[1])
    index = bp.BoxTree(dim=dim, dtype=kinds[0])
    index.insert_many(boxes, env=env)
    for reach in (far, float("inf"), 0.0):
        for size in (8, 15, 16, 17, 40):
            fan = ways[-size:]
            found = index.raycast(places[:, None], fan, reach)
            wanted = [index.raycast(at.tolist(), fan.tolist(), reach, env=k) for k, at in enumerate(places)]
            for k, own in enumerate(wanted):
                same((array[k] for array in found), own)
            each, own = np.repeat(places, size, axis=0), np.tile(fan, (len(places), 1))
            in_rows = index.raycast(each, own, reach, env=np.repeat(np.arange(len(places)), size))
            same((array.reshape(found[k].shape) for k, array in enumerate(in_rows)), found)


@both_dimensions
def test_what_rays_of_a_group_pass_through(dim):
    boxes, env, places, ways, far = scene("everywhere", dim)
    index = bp.BoxTree(dim=dim)
    robots = index.insert_many(np.hstack((places - 0.4, places + 0.4)), env=np.arange(len(places)))
    index.insert_many(boxes, env=env)
    removed = index.insert_many(boxes[:3], env=env[:3])
    index.remove_many(removed)
    some = index.raycast(places[:, None], ways, far)
    ignores = [
        np.repeat(robots[:, None], len(ways), axis=1),
        robots[:, None],
        some.ids,
        np.where(some.ids < 0, removed[0], some.ids),
        int(robots[0]),
        np.int64(99_999),
    ]
    for ignore in ignores:
        found = index.raycast(places[:, None], ways, far, ignore=ignore)
        for world, own in enumerate(np.broadcast_to(ignore, some.ids.shape)):
            at = places[world].tolist()
            same(
                (array[world] for array in found),
                index.raycast(at, ways.tolist(), far, env=world, ignore=own),
            )
    every = np.repeat(places[2:3], len(ways), axis=0).tolist()
    for ignore in (int(robots[2]), robots[2]):  # by the general way
        found = index.raycast(every, ways.tolist(), far, env=2, ignore=ignore)
        same(found, index.raycast(every, ways.tolist(), far, env=2, ignore=[robots[2]] * len(ways)))
    with pytest.raises(TypeError, match="ignore must be ids"):
        index.raycast(places[:, None], ways, far, ignore=0.5)


@pytest.mark.parametrize("kinds", KINDS)
def test_arrays_to_write_to_and_errors_that_change_nothing(kinds):
    boxes, env, places, ways, far = scene("fractions", 2)
    boxes, places, ways = boxes.astype(kinds[0]), places.astype(kinds[1]), ways.clip(-9, 9).astype(kinds[1])
    index = bp.BoxTree(dtype=kinds[0])
    index.insert_many(boxes, env=env)
    wanted = index.raycast(places[:, None], ways, far)
    shape = len(places), len(ways)
    out = np.empty(shape, np.int32), np.empty(shape, np.float32), np.empty((*shape, 2), np.float32)
    assert index.raycast(places[:, None], ways, far, out=out).ids is out[0]
    same(out, (array if array.dtype == np.int32 else array.astype(np.float32) for array in wanted))
    same(index.raycast(places[:, None], np.broadcast_to(ways, (*shape, 2)), far), wanted)
    same(index.raycast(np.broadcast_to(places[:, None], (*shape, 2)), ways, far), wanted)
    before = [array.copy() for array in out]
    for at, way, reach, words in (
        (places * np.nan, ways, far, "origin.* must be finite"),
        (places, ways * 0.0, far, "points nowhere"),
        (places, ways + np.inf, far, "must be finite"),
        (places, ways, -1.0, "must not be negative"),
        (places[:4], ways[None].repeat(5, axis=0), far, "their leading axes"),
    ):
        with pytest.raises(ValueError, match=words):
            index.raycast(at[:, None], way, reach, out=out)
        same(out, before)
    for row, rows in ((places[:1], ways), (places, ways[:1])):
        with pytest.raises(ValueError, match="a batch needs one for each query"):
            index.raycast(row, rows, far, env=2)


@pytest.mark.parametrize("threads", [1, 2])
def test_groups_are_shared_out_to_threads(threads):
    chance = np.random.default_rng(9)
    low, places = chance.random((500, 6, 2)) * 8, chance.random((500, 1, 2)) * 8
    ways = chance.normal(size=(20, 2))
    index = bp.BoxTree(threads=threads)
    index.insert_many(np.concatenate((low, low + 1), axis=2))
    for _ in range(2):
        hits = index.raycast(places, ways, 5.0)
        assert index.stats.pairs == (hits.ids >= 0).sum() > 1_000
        every = np.broadcast_to(places, (500, 20, 2)).reshape(-1, 2).tolist()
        env = np.repeat(np.arange(500), 20)
        alone = index.raycast(every, np.tile(ways, (500, 1)).tolist(), 5.0, env=env)
        same((array.reshape(hits[k].shape) for k, array in enumerate(alone)), hits)
        index.update(index.boxes + 0.25)


def shapes_of(boxes, seed):
    """A shape of each kind in turn, as large as a box; one in five is a segment."""
    chance = np.random.default_rng(seed)
    made = []
    for k, (x, y, right, top) in enumerate(boxes.tolist()):
        width, height = right - x + 0.5, top - y + 0.5
        made.append(
            (
                bp.Circle(x, y, 0.5 * width),
                bp.Box(x, y, width, height),
                bp.Box(x, y, width, height).rotated(chance.uniform(0, 360)),
                bp.Capsule(x, y, x + width, y + height, 0.3),
                bp.Capsule(x, y, x + width, y + (k % 2) * height, 0),
            )[k % 5]
        )
    return made


@pytest.mark.parametrize("name", ["fractions", "whole", "few and many", "everywhere"])
@pytest.mark.parametrize("kind", [np.float32, np.float64])
def test_groups_hit_the_shapes_that_each_ray_hits_alone(name, kind):
    boxes, env, places, ways, far = scene(name, 2)
    places, ways = places.astype(kind), ways.clip(-9, 9).astype(kind)
    index = bp.ShapeIndex(shapes_of(boxes, 3), env=env)
    for reach in (far, float("inf")):
        for size in (8, 15, 16, 17, 40):
            fan = ways[-size:]
            found = index.raycast(places[:, None], fan, reach)
            some = index.raycast(places[:, None], fan, reach, ignore=found.ids)
            out = np.empty((len(places), size), np.int32), np.empty((len(places), size), np.float32)
            index.raycast(places[:, None], fan, reach, normals=False, out=out)
            np.testing.assert_array_equal(out[0], found.ids)
            np.testing.assert_array_equal(out[1], found.distances.astype(np.float32))
            for world, at in enumerate(places.tolist()):
                wanted = index.raycast(at, fan.tolist(), reach, env=world)
                same((array[world] for array in found), wanted)
                others = index.raycast(at, fan.tolist(), reach, env=world, ignore=wanted.ids)
                same((array[world] for array in some), others)
    assert 0 < (found.ids >= 0).mean() < 1
    each, own = np.repeat(places, 40, axis=0), np.tile(ways, (len(places), 1))
    in_rows = index.raycast(each, own, reach, env=np.repeat(np.arange(len(places)), 40))
    same((array.reshape(found[k].shape) for k, array in enumerate(in_rows)), found)


def test_groups_in_a_world_of_many_shapes_go_the_general_way():
    chance = np.random.default_rng(5)
    circles = [bp.Circle(*at, 0.05) for at in (chance.random((3_000, 2)) * 20).tolist()]
    index, ways = bp.ShapeIndex(circles, env=np.zeros(3_000, int)), chance.normal(size=(20, 2))
    found, wanted = (
        index.raycast(np.full((1, 1, 2), 10.0), ways),
        index.raycast((10, 10), ways.tolist(), env=0),
    )
    same((array[0] for array in found), wanted)
    assert (found.ids >= 0).any()


@pytest.mark.parametrize("kind", ["circles", "segments"])
@pytest.mark.parametrize("offset", [0.0, 1e5])
def test_groups_among_shapes_that_rays_just_meet_or_miss(kind, offset):
    chance = np.random.default_rng(11)
    places, robots = chance.random((200, 2)) * 20 + offset, chance.random((8, 2)) * 20 + offset
    if kind == "circles":
        shapes = [bp.Circle(*place, 0.25) for place in places.tolist()]
    else:
        ends = places + chance.normal(size=places.shape)
        shapes = [
            bp.Capsule(*place, *end, 0) for place, end in zip(places.tolist(), ends.tolist(), strict=True)
        ]
    index = bp.ShapeIndex(shapes, env=np.repeat(np.arange(8), 25))
    ways = np.empty((8, 50, 2))
    for world, robot in enumerate(robots):
        # Along tangents, or to an end and its other side in float32, and a little to both sides.
        to = places[25 * world : 25 * world + 25] - robot
        across = np.column_stack((-to[:, 1], to[:, 0])) / np.linalg.norm(to, axis=1)[:, None]
        edge = 0.25 if kind == "circles" else 0.0
        for half, beyond in enumerate((1e-6, -1e-6)):
            ways[world, half * 25 : half * 25 + 25] = to + across * (edge + beyond)
    found = index.raycast(robots[:, None], ways)
    for world, robot in enumerate(robots.tolist()):
        wanted = index.raycast(robot, ways[world].tolist(), env=world)
        same((array[world] for array in found), wanted)
    assert (found.ids >= 0).mean() > 0.2


def test_what_is_exactly_as_far_away_as_a_group_looks_is_hit():
    index = bp.ShapeIndex([bp.Circle(6, 0, 1), bp.Circle(6, 0, 1), bp.Capsule(-1, 5, 1, 5, 0)], env=[0, 1, 1])
    ways = np.array([[1.0, 0.0], [0.0, 1.0]]).repeat(4, axis=0)
    for reach, ids in ((5.0, [0, -1, 1, 2]), (4.999, [-1] * 4)):
        found = index.raycast(np.zeros((2, 1, 2)), ways, reach)
        assert found.ids.reshape(-1).tolist() == np.repeat(ids, 4).tolist()
