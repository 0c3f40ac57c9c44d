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
    yield lambda: bp.PointIndex(points, period=cell).nearest(points[:3], 2)
    yield lambda: bp.pairs(boxes, period=period, **most)
    for method in bp.METHODS:
        yield lambda method=method: bp.pairs(boxes[:300], method=method, **most)
    yield lambda: bp.explain(boxes)
    yield lambda: bp.swept_pairs(boxes[:40], given.motion[:40], **most)
    yield lambda: asked(bp.BoxTree(dim=given.dim, dtype=given.dtype, period=period), given)
    yield lambda: asked(bp.Strips(dim=given.dim, dtype=given.dtype, period=period), given)
    yield lambda: lived(given)


def asked(index, given):
    index.insert_many(given.boxes)
    points, ways = given.points[:60], np.where(given.motion[:60] == 0, 1, given.motion[:60])
    index.query_box(given.boxes[:5])
    index.query_radius(points, given.reach)
    index.nearest(points, 2)
    index.raycast(points, ways, given.reach)
    index.raycast(points[0], ways[0], given.reach)
    index.query_ray(points[0], ways[0], given.reach)


def lived(given):
    world = bp.World()
    bodies = [world.add(bp.Box(*place, 1, 1)) for place in given.points[:5, :2].tolist()]
    for body, way in zip(bodies, given.motion[:, :2].tolist(), strict=False):
        body.velocity = way
    world.update()
    world.step(given.reach)
    world.move_many(bodies[:2], given.motion[:2, :2])
    world.raycast((0, 0), (1, 1), given.reach)
    world.nearest(given.points[0, :2].tolist(), 2)


@pytest.mark.parametrize("seed", range(examples(150)))
def test_numbers_of_any_size_warn_of_nothing(seed):
    given = Given(seed)
    for call in calls(given):
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            with contextlib.suppress(ValueError, MemoryError):
                call()


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
