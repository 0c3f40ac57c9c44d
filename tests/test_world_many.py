"""Bodies and questions by the thousand: what as many single calls say."""

import math

import numpy as np
import pytest
from test_world_raycast_many import RULES, check, mixed_world

import broadphase as bp


@pytest.mark.parametrize("period", [None, (110.0, 130.0)])
@pytest.mark.parametrize("count", [1, 2, 16, 17, pytest.param(60, marks=pytest.mark.exhaustive)])
def test_many_questions_are_as_many_single_ones(count, period):
    """Of any kind of body, by any rule; in a world that has just lost some bodies, too."""
    world, random = mixed_world(count, 150, period=period)
    points = random.uniform(-20, 120, (count, 2)).round(1)
    boxes = np.hstack((points, points + random.integers(0, 20, (count, 2))))
    radii = random.integers(0, 12, count).astype(float)
    boxes[-1], radii[-1] = [-math.inf, -math.inf, math.inf, math.inf], math.inf if period is None else 9.0
    ways = random.integers(-3, 4, (count, 2)) + 0.5
    plain, places = ([tuple(row) for row in rows.tolist()] for rows in (boxes, points))
    found = 0
    for turn, rules in enumerate([*RULES, {"ignore": world.body(world.ids[5])}, {}]):
        if turn == len(RULES) + 1:
            world.remove_many(world.bodies("red"))
        only = {name: value for name, value in rules.items() if name != "tiles"}
        for call, arrays, singles in (
            (world.query_box, (boxes,), [plain]),
            (world.query_point, (points,), [places]),
            (world.query_radius, (points, radii), [places, radii.tolist()]),
            (world.query_radius, (points, 7.5), [places, [7.5] * count]),
        ):
            rows = [
                (k, one.id) for k, row in enumerate(zip(*singles, strict=True)) for one in call(*row, **only)
            ]
            answer = call(*arrays, **only)
            assert answer.dtype == np.int32
            assert answer.tolist() == [list(row) for row in rows]
            found += len(rows)
        for k in (1, 4, 200):
            many = world.nearest(points, k, **only)
            assert many.ids.shape == many.distances.shape == (count, k)
            for row, place in enumerate(places):
                ids, distances = world.nearest(place, k, **only)
                assert many.ids[row].tolist() == ids.tolist() + [-1] * (k - len(ids))
                assert many.distances[row].tolist() == distances.tolist() + [math.inf] * (k - len(ids))
        if period is None:
            check(world, points, ways, 30.0, **rules)
            continue
        hits = world.raycast(points, ways, 30.0, **only)
        for row, (place, way) in enumerate(zip(places, ways.tolist(), strict=True)):
            hit = world.raycast(place, way, 30.0, **only)
            assert hits.ids[row] == (-1 if hit is None else hit.body.id)
            assert hits.distances[row] == pytest.approx(math.inf if hit is None else hit.distance, rel=1e-12)
    assert found > 20
    of_bodies = [body.position for body in world]
    many = world.nearest(of_bodies, 3, ignore=world.ids).ids.tolist()
    assert many == [world.nearest(body.position, 3, ignore=body).ids.tolist() for body in world]


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
    assert world.nearest(np.empty((0, 2)), 2).ids.shape == (0, 2)
    for call, said in [
        (lambda: world.query_point([[0, math.nan]]), r"point\[0\] = \[0.0, nan\] must be finite"),
        (lambda: world.query_radius([[0, 0]] * 3, [1, -1, 0]), "must not be negative"),
        (lambda: world.query_radius([[0, 0]] * 3, -1), "must not be negative"),
        (lambda: world.nearest([[0, math.nan]]), r"point\[0\]"),
        (lambda: world.nearest([[0, 0]], 0), "k must be at least 1"),
        (lambda: world.nearest([[0, 0]], ignore=[4]), r"ignore\[0\] = 4"),
    ]:
        with pytest.raises(ValueError, match=said):
            call()


def test_add_many_is_add_for_each():
    (world, _), (other, _) = (mixed_world(1, 50) for _ in range(2))
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
