"""Numbers of any size come to an answer or to an error that names them: NumPy warns of nothing from within.

Warnings are errors in all tests (`pyproject.toml`).  A caller who has set that too would get one in place of
the answer.
"""

import contextlib
import warnings

import numpy as np
import pytest
from cases import examples

import broadphase as bp
from broadphase.kernels.machine.mode import PLAIN

SCALES = np.array([0, 5e-324, 1e-310, 1e-300, 1e-160, 1e-30, 1e-3, 1, 1e8, 1e30, 1e160, 1e300, 1.7e308])


class Given:
    """Random arguments, each of a size of its own."""

    def __init__(self, seed):
        self.random = np.random.default_rng(seed)
        self.dim = int(self.random.choice([2, 3]))
        self.dtype = self.random.choice([np.float32, np.float64])
        self.rows = int(self.random.choice([3, 40, 300, 1500]))
        self.points, self.others, self.reach = self.numbers(self.rows), self.numbers(9), self.scale()
        ends = np.stack((self.points, self.numbers(self.rows)))
        self.boxes = np.hstack((ends.min(axis=0), ends.max(axis=0)))
        self.motion = self.numbers(self.rows)
        lengths = [self.scale() or None if self.random.random() < 0.8 else None for _ in range(self.dim)]
        self.period = tuple(lengths) if self.random.random() < 0.5 else None
        self.cell = self.period
        if self.random.random() < 0.2:
            self.cell = (self.random.random((self.dim, self.dim)) * self.scale()).tolist()

    def scale(self):
        return float(self.random.choice(SCALES))

    def numbers(self, rows):
        with np.errstate(all="ignore"):
            made = self.random.normal(size=(rows, self.dim)) * self.scale() + self.scale()
            made[: rows // 2] *= self.random.choice([1.0, self.scale()])
            return np.nan_to_num(made.astype(self.dtype))


def calls(given):
    points, boxes, cell, period, reach = given.points, given.boxes, given.cell, given.period, given.reach
    most = {"max_pairs": 100_000}
    radii = np.abs(points[:, 0])
    yield lambda: bp.neighbors(points, reach, period=cell, **most)
    yield lambda: bp.neighbors(points, reach, other=given.others, period=cell, **most)
    yield lambda: bp.neighbors(points, radii, **most)
    yield lambda: bp.nearest(points, 3, period=cell)
    yield lambda: bp.nearest(points, 2, other=given.others, period=cell, r=reach)
    yield lambda: bp.count_neighbors(points, [reach, 2 * reach], period=cell)
    far = np.full((2, given.dim), 1e300)
    yield lambda: bp.nearest(np.ones((3, given.dim)), 1, other=points, period=cell)
    for asked_for in (points[:3], far):
        yield lambda asked_for=asked_for: bp.PointIndex(points, period=cell).nearest(asked_for, 2)
    yield lambda: bp.neighbors(points[:50], np.inf, period=cell)
    yield lambda: bp.pairs(boxes, period=period, **most)
    yield lambda: bp.join(boxes, boxes[:9], **most)
    for method in bp.METHODS:
        yield lambda method=method: bp.pairs(boxes[:300], method=method, **most)
    yield lambda: bp.explain(boxes)
    yield lambda: bp.swept_pairs(boxes[:40], given.motion[:40], **most)
    for name in bp.INDEXES:
        yield lambda name=name: asked(name, given)
    yield lambda: lived(given)


def tried(*calls):
    """Make all calls; those may refuse such numbers, by name."""
    for call in calls:
        with contextlib.suppress(ValueError, MemoryError):
            call()


def asked(name, given):
    index = bp.make_index(name, dim=given.dim, dtype=given.dtype, period=given.period)
    few = given.boxes[:60]
    index.insert_many(few)
    points, ways = given.points[:60], np.where(given.motion[:60] == 0, 1, given.motion[:60])
    tried(
        index.pairs,
        index.changes,
        lambda: index.update(few * given.dtype(0.5)),
        index.changes,
        lambda: index.query_box(few[:5]),
        lambda: index.query_radius(points, given.reach),
        lambda: index.nearest(points, 2),
        lambda: index.raycast(points, ways, given.reach),
        lambda: index.raycast(points[0], ways[0], given.reach),
        lambda: index.query_ray(points[0], ways[0], given.reach),
    )


def lived(given):
    world = bp.World()
    flat = given.boxes[:, [0, 1, given.dim, given.dim + 1]][:60].astype(float)
    bodies = [world.add(bp.Box(*place, 1, 1), tag="a") for place in given.points[:5, :2].tolist()]
    for body, way in zip(bodies, given.motion[:, :2].tolist(), strict=False):
        tried(lambda body=body, way=way: setattr(body, "velocity", way))
    world.on("a", "a")
    tried(
        lambda: world.add_many(flat, tag="a"),
        world.update,
        lambda: world.step(given.reach),
        lambda: world.move_many(bodies[:2], given.motion[:2, :2]),
        lambda: world.move_many(world.ids, given.scale(), given.scale()),
        lambda: world.walk_many(world.ids, given.scale(), given.scale()),
        lambda: world.turn_many(world.ids, np.full(len(world), 33.0)),
        lambda: world.move_all(world.ids, world.positions * 0.5),
        world.update,
        lambda: world.raycast((0, 0), (1, 1), given.reach),
        lambda: world.raycast(flat[:5, :2], (1, 0)),
        lambda: world.nearest(given.points[0, :2].tolist(), 2),
        lambda: world.query_box(flat),
        lambda: world.query_radius(flat[:, :2], given.reach),
    )


@pytest.mark.skipif(PLAIN, reason="kernels that are Python warn")
@pytest.mark.parametrize("seed", range(examples(180)))
def test_numbers_of_any_size_warn_of_nothing(seed):
    given = Given(seed)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        tried(*calls(given))


def test_a_period_that_no_float_holds_is_named():
    for call in (
        lambda: bp.pairs([[0, 0, 1, 1]], period=10**400),
        lambda: bp.neighbors([[0, 0]], 1, period=(1, 10**400)),
        lambda: bp.BoxTree(period=[[10**400, 0], [0, 1]]),
        lambda: bp.World(period=(10**5000, 1)),
    ):
        with pytest.raises(ValueError, match=r"period must be below 1\.8e308"):
            call()


def test_a_ray_from_far_away_goes_around_a_period():
    index = bp.BoxTree(period=(10, 10))
    index.insert([1, 1, 2, 2])
    for far in (1e18, 1e30, -1e300):
        place = far % 10
        assert index.raycast((far, 1.5), (1, 0), 50).distance == (1 - place) % 10
        assert index.raycast([(far, 1.5)], (1, 0), 50).distances.tolist() == [(1 - place) % 10]


@pytest.mark.parametrize("size", [5e-324, 1e-310, 1e-200])
def test_tiny_points_in_a_huge_world_warn_of_nothing(size):
    with np.errstate(under="ignore"):
        points = np.random.default_rng(0).random((1100, 2)) * size
    assert (bp.nearest(points, 3, period=1e300).distances <= 2 * size).all()
    assert len(bp.neighbors(points[:50], np.inf, period=1e300)) == 50 * 49 // 2
