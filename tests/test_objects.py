"""Lists of objects, held against loops over all pairs."""

import math
from dataclasses import dataclass
from itertools import combinations, product
from types import SimpleNamespace as Thing

import numpy as np
import pytest

import broadphase as bp


def things_of(rng, n, dim=2):
    """Objects whose coordinates are quarters, so that many are flush and no sum is rounded."""
    side = max(2, int(4 * n**0.5))
    return [
        Thing(
            pos=tuple(place),
            x=place[0],
            y=place[1],
            radius=round(8 * r) / 8,
            size=tuple(size),
            side=size[0],
            number=k,
        )
        for k, (place, r, size) in enumerate(
            zip(
                (rng.integers(-4 * side, 4 * side, (n, dim)) / 4).tolist(),
                rng.random(n) * 3,
                (rng.integers(0, 16, (n, dim)) / 4).tolist(),
                strict=True,
            )
        )
    ]


def gap_of_boxes(a, b, size):
    return [abs(p - q) - (s + t) / 2 for p, q, s, t in zip(a.pos, b.pos, size(a), size(b), strict=True)]


def circles_touch(radius):
    return lambda a, b, margin: math.dist(a.pos, b.pos) < radius(a) + radius(b) + margin


def boxes_touch(size):
    def touch(a, b, margin):
        gaps = gap_of_boxes(a, b, size)
        return max(gaps) < 0 or math.hypot(*(max(gap, 0) for gap in gaps)) < margin

    return touch


WAYS = {
    "radius, an attribute": ({"radius": "radius"}, circles_touch(lambda thing: thing.radius)),
    "radius, a number": ({"radius": 1.5}, circles_touch(lambda thing: 1.5)),
    "radius, a function": ({"radius": lambda thing: thing.side}, circles_touch(lambda thing: thing.side)),
    "size, an attribute": ({"size": "size"}, boxes_touch(lambda thing: thing.size)),
    "size, a side": ({"size": "side"}, boxes_touch(lambda thing: [thing.side] * len(thing.pos))),
    "size, a number": ({"size": 2}, boxes_touch(lambda thing: [2] * len(thing.pos))),
    "size, a pair": ({"size": ("side", 1)}, boxes_touch(lambda thing: (thing.side, 1))),
    "size, two attributes": ({"size": ("side", "side")}, boxes_touch(lambda thing: (thing.side, thing.side))),
    "rect": (
        {
            "rect": lambda thing: (
                thing.pos[0] - thing.size[0] / 2,
                thing.pos[1] - thing.size[1] / 2,
                *thing.size,
            )
        },
        boxes_touch(lambda thing: thing.size),
    ),
}


@pytest.mark.covering(together=2)
@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("n", [2, 7, 40, 120])
@pytest.mark.parametrize("margin", [0, 0.5])
def test_pairs_are_those_of_two_loops_in_their_order(way, n, margin):
    options, touch = WAYS[way]
    rng = np.random.default_rng(n)
    ones, others = things_of(rng, n), things_of(rng, max(1, n // 2))
    found = bp.colliding(ones, margin=margin, **options)
    assert found == [(a, b) for a, b in combinations(ones, 2) if touch(a, b, margin)]
    found = bp.colliding(ones, iter(others), margin=margin, **options)
    assert found == [(a, b) for a, b in product(ones, others) if touch(a, b, margin)]
    assert n < 40 or found


def test_places_in_three_dimensions_and_in_other_attributes():
    rng = np.random.default_rng(3)
    ones = things_of(rng, 60, 3)
    for way in ("radius, an attribute", "size, an attribute", "size, a number"):
        options, touch = WAYS[way]
        assert bp.colliding(ones, **options) == [(a, b) for a, b in combinations(ones, 2) if touch(a, b, 0)]
    ones = things_of(rng, 50)
    expected = bp.colliding(ones, radius="radius")
    assert expected
    inner = [Thing(body=thing) for thing in ones]
    by_id = {id(thing): outer for thing, outer in zip(ones, inner, strict=True)}
    for at in (("x", "y"), lambda thing: (thing.x, thing.y)):
        assert bp.colliding(ones, at=at, radius="radius") == expected
    found = bp.colliding(inner, at="body.pos", radius="body.radius")
    assert found == [(by_id[id(a)], by_id[id(b)]) for a, b in expected]


@pytest.mark.parametrize("sort", ["list", "distance"])
@pytest.mark.parametrize("n", [1, 6, 200])
def test_what_is_in_range_is_what_loops_find(n, sort):
    rng = np.random.default_rng(n)
    ones, others = things_of(rng, n), things_of(rng, 2 * n)
    for radius, reach in ((3.25, lambda one: 3.25), ("radius", lambda one: one.radius)):
        expected = [
            [other for other in others if math.dist(one.pos, other.pos) <= reach(one)] for one in ones
        ]
        if sort == "distance":
            expected = [
                sorted(row, key=lambda other, one=one: math.dist(one.pos, other.pos))
                for one, row in zip(ones, expected, strict=True)
            ]
        found = bp.in_range(ones, others, radius, sort=sort)
        assert [[other.number for other in row] for row in found] == [
            [other.number for other in row] for row in expected
        ]


@pytest.mark.parametrize("n", [2, 17, 300])
def test_circles_and_boxes_are_what_their_shapes_are_also_of_bodies(n):
    rng = np.random.default_rng(n)
    places = (rng.integers(0, 8 * n, (n, 2)) / 8).tolist()
    shapes = [
        bp.Circle(x, y, 2 + k % 3) if k % 2 else bp.Box(x, y, 3, k % 5) for k, (x, y) in enumerate(places)
    ]
    boxes = [bp.Box(x, y, 4, 4) for x, y in places[: n // 2]]
    expected = [(a, b) for a, b in combinations(shapes, 2) if bp.overlap(a, b)]
    assert bp.colliding(shapes) == expected
    assert bp.colliding(shapes, boxes) == [pair for pair in product(shapes, boxes) if bp.overlap(*pair)]
    assert n < 17 or expected
    bodies = bp.World().add_many(shapes)
    assert [(a.shape, b.shape) for a, b in bp.colliding(bodies)] == expected
    circle, box = bp.Circle(0, 0, 5), bp.Box(4, 4, 3, 3)
    assert bp.colliding([circle], [box]) == []
    assert bp.colliding([circle], [box], margin=1) == [(circle, box)]


def test_nothing_is_among_nothing():
    assert bp.colliding([]) == bp.colliding([], [object()]) == bp.colliding([object()], []) == []
    assert bp.colliding([Thing(pos=(0, 0))], radius=1) == []
    assert bp.in_range([], [1], 5) == []
    assert bp.in_range([(0, 0), (1, 1)], [], 5) == [[], []]


def test_vectors_tuples_rectangles_and_sprites_are_known():
    pygame = pytest.importorskip("pygame")
    rng = np.random.default_rng(1)
    rects = [pygame.Rect(*row) for row in rng.integers(1, 40, (60, 4)).tolist()]
    expected = [(k, m) for k, m in combinations(range(60), 2) if rects[k].colliderect(rects[m])]

    def numbers(found, things):
        place = {id(thing): k for k, thing in enumerate(things)}
        return [(place[id(a)], place[id(b)]) for a, b in found]

    assert numbers(bp.colliding(rects), rects) == expected
    assert numbers(bp.colliding(rects, rects[:3]), rects) == [
        (k, m) for k in range(60) for m in range(3) if rects[k].colliderect(rects[m])
    ]
    sprites = [pygame.sprite.Sprite() for _ in rects]
    for sprite, rect in zip(sprites, rects, strict=True):
        sprite.rect = pygame.FRect(rect)
    assert numbers(bp.colliding(sprites), sprites) == expected
    assert numbers(bp.colliding(pygame.sprite.Group(sprites[:9])), sprites) == [
        pair for pair in expected if max(pair) < 9
    ]
    by_centers = [[b for b in rects if math.dist(a.center, b.center) <= 9] for a in rects]
    assert bp.in_range(rects, rects, 9) == by_centers
    vectors = [pygame.Vector2(sprite.rect.center) for sprite in sprites]
    near = bp.in_range(vectors, vectors, 9)
    assert near == [[b for b in vectors if a.distance_to(b) <= 9] for a in vectors]
    by_sprites = bp.in_range(sprites, sprites, 9)
    assert [len(row) for row in by_sprites] == [len(row) for row in near]
    assert len(bp.colliding(vectors, margin=2)) == sum(
        a.distance_to(b) < 2 for a, b in combinations(vectors, 2)
    )
    assert bp.colliding([(0, 0), (1, 0), (5, 0)], radius=1) == [((0, 0), (1, 0))]


@dataclass
class Enemy:
    pos: tuple[float, float] = (0.0, 0.0)
    radius: float = 1.0

    @property
    def broken(self):
        raise ZeroDivisionError("of the property")


def wrong(**values):
    return [Enemy(), Enemy(), Thing(**({"pos": (0, 0), "radius": 1} | values))]


@pytest.mark.parametrize(
    ("ones", "options", "error", "said"),
    [
        ([Enemy(), Enemy()], {}, TypeError, r"ones\[0\] is a Enemy: say how large it is by radius="),
        (
            [Enemy(), Thing()],
            {"radius": 1},
            TypeError,
            r"ones\[1\], a SimpleNamespace, has no attribute 'pos'",
        ),
        ([Enemy(), Enemy()], {"radius": "reach"}, TypeError, r"ones\[0\], a Enemy, has no attribute 'reach'"),
        (
            wrong(pos=(1, 2, 3)),
            {"radius": 1},
            TypeError,
            r"at of ones\[2\] must be 2 numbers; got \(1, 2, 3\)",
        ),
        (wrong(pos=("a", 2)), {"radius": 1}, TypeError, r"at of ones\[2\] must be 2 numbers; got \('a', 2\)"),
        (wrong(pos=None), {"radius": 1}, TypeError, r"at of ones\[2\] must be 2 numbers; got None"),
        (
            wrong(pos=(math.nan, 1)),
            {"radius": 1},
            ValueError,
            r"at of ones\[2\] must be finite; got \(nan, 1\)",
        ),
        (
            wrong(radius=-1),
            {"radius": "radius"},
            ValueError,
            r"radius of ones\[2\] must not be negative; got -1",
        ),
        (
            wrong(radius="x"),
            {"radius": "radius"},
            TypeError,
            r"radius of ones\[2\] must be a number; got 'x'",
        ),
        (wrong(), {"radius": -2}, ValueError, "radius must not be negative; got -2"),
        (wrong(), {"radius": [1, 2, 3]}, TypeError, "radius must be a number, the name of an attribute"),
        (wrong(), {"size": (1, 2, 3)}, ValueError, "size has 3 sides, the centres have 2 coordinates"),
        (wrong(), {"radius": 1, "size": 1}, TypeError, "give one of radius=, size= and rect="),
        (wrong(), {"rect": "radius"}, TypeError, r"\[0\] must be or have a rectangle; got a"),
        (wrong(), {"radius": 1, "margin": -1}, ValueError, "margin = -1 must not be negative"),
        ([Enemy(), Enemy()], {"radius": "broken"}, ZeroDivisionError, "of the property"),
    ],
)
def test_what_is_wrong_is_named(ones, options, error, said):
    with pytest.raises(error, match=said):
        bp.colliding(ones, **options)
    if "ones" in said and len(ones) == 3:
        with pytest.raises(error, match=said.replace("ones", "others")):
            bp.colliding(ones[:2], ones, **options)


@pytest.mark.parametrize("n", [3, 700])
def test_few_and_many_objects_go_the_same_way_where_they_barely_touch(n):
    """Rounded coordinates, distances that are exact in some pairs only, large and small numbers."""
    rng = np.random.default_rng(n)
    for scale in (1e-200, 1e-3, 1.0, 1e9):
        places = rng.integers(0, 3 * n, (n, 2)) * 0.1
        ones = [
            Thing(pos=place, radius=0.05 * scale * r)
            for place, r in zip((places * scale).tolist(), rng.integers(0, 30, n).tolist(), strict=True)
        ]
        expected = [(a, b) for a, b in combinations(ones, 2) if math.dist(a.pos, b.pos) < a.radius + b.radius]
        found = bp.colliding(ones, radius="radius")
        differ = {(id(a), id(b)) for a, b in expected} ^ {(id(a), id(b)) for a, b in found}
        by_id = {id(one): one for one in ones}
        for a, b in differ:  # only by the last bit of the distance
            one, other = by_id[a], by_id[b]
            assert math.isclose(math.dist(one.pos, other.pos), one.radius + other.radius, rel_tol=1e-15)


def test_an_object_that_is_read_may_run_code_of_its_own():
    class Odd:
        def __init__(self, things):
            self.things = things

        @property
        def pos(self):
            self.things.clear()
            return (0.0, 0.0)

    things: list = []
    things += [Odd(things), Odd(things), Odd(things)]
    assert len(bp.colliding(things, radius=1)) == 3
    assert things == []


def test_errors_of_in_range():
    with pytest.raises(ValueError, match='sort must be "list" or "distance"'):
        bp.in_range([(0, 0)], [(0, 0)], 1, sort="near")
    with pytest.raises(TypeError, match=r"others\[0\], a Thing|a SimpleNamespace, has no attribute 'pos'"):
        bp.in_range([(0, 0)], [Thing()], 1)
