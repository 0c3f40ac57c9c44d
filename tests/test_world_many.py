"""Bodies and questions by the thousand: what as many single calls say."""

import math

import numpy as np
import pytest

import broadphase as bp


def mixed_world(n=300, seed=1, kinds=("box", "circle", "polygon")):
    rng = np.random.default_rng(seed)
    world = bp.World()
    for k in range(n):
        x, y = (rng.random(2) * 100).tolist()
        size = float(rng.integers(0, 8))
        kind = kinds[k % len(kinds)]
        shape = {
            "box": bp.Box(x, y, size, size / 2),
            "circle": bp.Circle(x, y, size),
            "polygon": bp.Polygon([(x, y), (x + size + 1, y), (x, y + size + 1)]),
        }[kind]
        world.add(
            shape,
            tag=("red", ["red", "blue"], None)[k % 3],
            static=k % 5 == 0,
            category=1 << k % 3,
            mask=0xFFFFFFFF if k % 2 else 0b101,
        )
    for body in list(world)[::7]:
        world.remove(body)
    return rng, world


RULES = [{}, {"tag": "blue"}, {"tag": ["red", "none"]}, {"category": 2}, {"mask": 1, "tag": "red"}]


@pytest.mark.parametrize("kinds", [("box",), ("box", "circle", "polygon")])
@pytest.mark.parametrize("rules", RULES)
def test_many_questions_are_as_many_single_ones(kinds, rules):
    rng, world = mixed_world(kinds=kinds)
    corners = np.sort(np.round(rng.random((60, 2, 2)) * 110 - 5), axis=1)
    boxes = corners.reshape(60, 4)
    boxes[0] = [-math.inf, -math.inf, math.inf, math.inf]
    points, radii = np.round(rng.random((60, 2)) * 100), rng.integers(0, 12, 60).astype(float)
    radii[3] = math.inf

    def singly(call, *columns):
        rows = [(k, body.id) for k, row in enumerate(zip(*columns, strict=True)) for body in call(*row)]
        return np.array(rows, np.int64).reshape(-1, 2)

    plain = [tuple(box) for box in boxes.tolist()]
    places = [tuple(point) for point in points.tolist()]
    for found, right in [
        (world.query_box(boxes, **rules), singly(lambda box: world.query_box(box, **rules), plain)),
        (world.query_point(points, **rules), singly(lambda at: world.query_point(at, **rules), places)),
        (
            world.query_radius(points, radii, **rules),
            singly(lambda at, r: world.query_radius(at, r, **rules), places, radii.tolist()),
        ),
        (
            world.query_radius(points, 4, **rules),
            singly(lambda at: world.query_radius(at, 4, **rules), places),
        ),
    ]:
        assert found.dtype == np.int32
        assert found.tolist() == right.tolist()
        assert len(found)


def test_a_batch_may_be_a_list_or_empty_and_what_is_wrong_is_named():
    world = bp.World()
    body = world.add(bp.Box(0, 0, 2, 2))
    assert world.query_box([[1, 1, 3, 3]]).tolist() == [[0, body.id]]
    assert world.query_box([1, 1, 3, 3]) == [body]
    assert world.query_box(np.empty((0, 4))).shape == (0, 2)
    assert world.query_point(np.empty((0, 2))).shape == (0, 2)
    assert bp.World().query_box([[1, 1, 3, 3]]).shape == (0, 2)
    with pytest.raises(ValueError, match=r"box\[1\]"):
        world.query_box([[0, 0, 1, 1], [3, 0, 1, 1]])
    with pytest.raises(ValueError, match="4 columns"):
        world.query_box([[0, 0, 0, 1, 1, 1]])
    with pytest.raises(ValueError, match="center has 1 rows and r has 2"):
        world.query_radius([[0, 0]], [1, 2])
    with pytest.raises(ValueError, match=r"point\[0\]"):
        world.query_point([[0, math.nan]])


def test_add_many_is_add_for_each():
    _, world = mixed_world(50)
    _, other = mixed_world(50)
    shapes = [bp.Box(1, 2, 3, 4), bp.Circle(5, 6, 7), bp.Polygon([(0, 0), (4, 0), (0, 4)])]
    rules = {"tag": ["red", "coin"], "sensor": True, "category": 2, "mask": 6}
    bodies = world.add_many(shapes, data="abc", **rules)
    alone = [other.add(shape, data=data, **rules) for shape, data in zip(shapes, "abc", strict=True)]
    for one, two in zip(bodies, alone, strict=True):
        for name in ("id", "shape", "tags", "static", "sensor", "category", "mask", "data"):
            assert getattr(one, name) == getattr(two, name)
    world.validate()
    assert world.query_box((0, 0, 100, 100)) == [
        world.body(body.id) for body in other.query_box((0, 0, 100, 100))
    ]
    assert world.add_many([]) == []
    (wall,) = world.add_many(np.array([[1, 2, 4, 7]], np.float32), static=True)
    assert wall.shape == bp.Box(1, 2, 3, 5)


@pytest.mark.parametrize(
    ("error", "said", "shapes", "options"),
    [
        (TypeError, r"shapes\[1\] must be a Box", [bp.Box(0, 0, 1, 1), (0, 0, 1)], {}),
        (ValueError, r"shapes\[1\]", [[0, 0, 1, 1], [2, 0, 1, 1]], {}),
        (ValueError, r"shapes\[0\] = .* must be finite", [[0, 0, math.inf, 1]], {}),
        (ValueError, "4 columns", [[0, 0, 0, 1, 1, 1]], {}),
        (ValueError, "data has 1 entries for 2 shapes", [[0, 0, 1, 1]] * 2, {"data": [3]}),
        (ValueError, "mask", [[0, 0, 1, 1]] * 2, {"mask": -1}),
        (TypeError, "sensor", [[0, 0, 1, 1]] * 2, {"sensor": "yes"}),
    ],
)
def test_add_many_adds_all_or_none(error, said, shapes, options):
    world = bp.World()
    with pytest.raises(error, match=said):
        world.add_many(shapes, **options)
    assert len(world) == 0
    world.validate()


def test_remove_many_removes_all_or_none():
    world = bp.World()
    ended = []
    world.on("coin", "coin", end=lambda contact: ended.append((contact.a.id, contact.b.id)))
    coins = world.add_many([[0, 0, 4, 4], [2, 2, 6, 6], [50, 0, 54, 4]], tag="coin")
    world.update()
    with pytest.raises(ValueError, match="twice"):
        world.remove_many([coins[0], coins[0]])
    other = bp.World().add(bp.Box(0, 0, 1, 1))
    with pytest.raises(ValueError, match=r"bodies\[1\]"):
        world.remove_many([coins[0], other])
    with pytest.raises(ValueError, match="id of no body"):
        world.remove_many(np.array([0, 7]))
    assert len(world) == 3
    world.remove_many(coins[:1])
    world.remove_many(np.array([2]))
    world.update()
    assert (list(world), ended, [coin.alive for coin in coins]) == (
        [coins[1]],
        [(0, 1)],
        [False, True, False],
    )
    world.validate()
