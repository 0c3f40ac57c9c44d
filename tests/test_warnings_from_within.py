"""Numbers of all sizes bring out no warning of NumPy, which with ``-W error`` would replace the answer."""

import warnings
from contextlib import suppress

import numpy as np
import pytest

import broadphase as bp
from broadphase.kernels.machine.mode import PLAIN

pytestmark = pytest.mark.skipif(PLAIN, reason="kernels that are Python warn")

SIZES = [5e-324, 1e-310, 1e-200, 1.0, 1e150, 1e300, 8e307]


@pytest.fixture(autouse=True)
def warnings_are_errors():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        yield


def tried(*calls):
    """Make all calls; those may refuse such numbers, by name."""
    for call in calls:
        with suppress(ValueError):
            call()


def points(size, n):
    with np.errstate(under="ignore"):
        return np.random.default_rng(0).random((n, 2)) * size


def boxes(size, n):
    low = points(size, n)
    with np.errstate(under="ignore"):
        return np.hstack([low, low + 0.05 * size])


@pytest.mark.parametrize("period", [None, 1e300, 1e-300, (3.0, None)])
@pytest.mark.parametrize("size", SIZES)
def test_points(size, period):
    at, r = points(size, 1100), 0.01 * size  # more than are few
    tried(
        lambda: bp.neighbors(at, r, period=period),
        lambda: bp.neighbors(at, np.full(len(at), r), period=period),
        lambda: bp.neighbors(at[:50], np.inf, period=period),
        lambda: bp.nearest(at, 3, period=period),
        lambda: bp.nearest(np.ones((3, 2)), 1, other=at, period=period),
        lambda: bp.count_neighbors(at, [r, 1.0], period=period),
        lambda: bp.PointIndex(at, period=period).nearest(np.full((2, 2), 1e300), 2),
    )


@pytest.mark.parametrize("size", SIZES)
def test_arrays(size):
    own = boxes(size, 300)
    for method in bp.METHODS:
        tried(
            lambda method=method: bp.pairs(own, method=method),
            lambda method=method: bp.pairs(own, method=method, period=1.5 * size),
        )
    tried(lambda: bp.explain(own), lambda: bp.swept_pairs(own, own[:, :2]), lambda: bp.join(own, own[:9]))


@pytest.mark.parametrize("period", [None, 1e300])
@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("name", bp.INDEXES)
def test_indexes(name, size, period):
    own = boxes(size, 60)
    index = bp.make_index(name, period=period)
    tried(
        lambda: index.insert_many(own),
        index.pairs,
        index.changes,
        lambda: index.update(own * 0.5),
        index.changes,
        lambda: index.query_box(own[:5]),
        lambda: index.query_radius(own[:5, :2], size),
        lambda: index.nearest(own[:, :2], 2),
        lambda: index.nearest((1e300, 1.0)),
        lambda: index.raycast(own[:5, :2], [1, 0], 1e3 * min(size, 1e300)),
        lambda: index.raycast((1e300, 0.0), (-1e-300, 1e-310), 1e10),
        lambda: index.query_ray(own[0, :2], [1, 1e-300], size),
    )


@pytest.mark.parametrize("size", SIZES)
def test_worlds(size):
    own, ids = boxes(size, 60), np.arange(60)
    world = bp.World()

    def quicken():
        world.bodies().velocities = (min(size, 1e200), 1e200)

    tried(
        lambda: world.add_many(own, tag="a"),
        lambda: world.on("a", "a"),
        world.update,
        lambda: world.move_many(ids, size, size),
        lambda: world.move_many(ids, 1e200, 1e200),
        quicken,
        lambda: world.step(1e200),
        lambda: world.step(1e-200),
        lambda: world.query_box(own),
        lambda: world.query_radius(own[:, :2], size),
        lambda: world.nearest(own[:5, :2], 2),
        lambda: world.raycast(own[:5, :2], (1, 0)),
        lambda: world.walk_many(ids, size, size),
        lambda: world.move_all(ids, own[:, 2:]),
        lambda: world.turn_many(ids, np.full(60, 33.0)),
        world.update,
    )
