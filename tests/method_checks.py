"""What every one-shot method must do, against brute force; and the scenes to do it on."""

import numpy as np
from hypothesis import strategies as st

from broadphase import methods
from broadphase.inputs.boxes import as_boxes
from broadphase.kernels.boxes.overlap import no_filter
from broadphase.methods.task import Task

KINDS = [(dim, dtype) for dim in (2, 3) for dtype in (np.float32, np.float64)]


def task(boxes, touching=True, pair_filter=None, **options):
    return Task(as_boxes(boxes), touching, pair_filter or no_filter(), **options)


def pairs_of(found):
    """All pairs, sorted by their first id, then by their second."""
    pairs = np.concatenate([np.empty((0, 2), np.int32), *found.chunks])
    return pairs[np.lexsort((pairs[:, 1], pairs[:, 0]))]


def assert_exact(find, boxes, touching=True, pair_filter=None):
    """The method finds what brute force finds, and counts what it stores."""
    # Each in scratch memory of its own, or the second would write over what the first has found.
    wanted = methods.finder("brute_force")(task(boxes, touching, pair_filter))
    found = find(task(boxes, touching, pair_filter))
    np.testing.assert_array_equal(pairs_of(found), pairs_of(wanted))
    assert found.pairs == wanted.pairs == sum(map(len, found.chunks))
    counted = find(task(boxes, touching, pair_filter, store=False))
    assert (counted.chunks, counted.pairs, counted.tests) == ([], found.pairs, found.tests)


def around(centres, extents, dtype=np.float64):
    extents = np.broadcast_to(extents, centres.shape)
    with np.errstate(over="ignore"):
        return np.hstack((centres - extents / 2, centres + extents / 2)).astype(dtype)


def scenes(dim, dtype, n=400, seed=0):
    """Yield ``name, boxes``: the distributions on which methods go wrong."""
    random = np.random.default_rng(seed)
    largest = float(np.finfo(dtype).max)
    spread = random.random((n, dim))
    extent = (4 / n) ** (1 / dim) / 2
    walls = np.full((n, dim), extent / 4)
    walls[np.arange(n), random.integers(dim, size=n)] *= random.choice([1, 200], n)
    coarse = np.sort(random.integers(-9, 9, (n, 2, dim)), axis=1).reshape(n, 2 * dim)
    yield "uniform", around(spread, extent, dtype)
    yield "crowded", around(spread, 8 * extent, dtype)
    yield "coarse integers", coarse.astype(dtype)
    yield "tiles side by side", around(coarse[:, :dim] + 0.5, 1.0, dtype)
    yield "power law", around(spread, extent * 10 ** random.uniform(-3, 1, (n, 1)), dtype)
    yield "walls", around(spread, walls, dtype)
    clusters = random.choice([-1e6, 0, 2e6], (n, dim))
    yield "clusters", around(clusters + random.standard_normal((n, dim)), 0.3, dtype)
    steep = np.exp(random.normal(0, 20, (n, dim + 1)))
    yield "exponential", around(steep[:, :dim], steep[:, dim:], dtype)
    for axis in range(dim):
        yield f"on a line along {axis}", around(spread * np.eye(dim)[axis], extent / 9, dtype)
    yield "all equal", around(np.ones((n, dim)), 1.0, dtype)
    yield "nested", around(np.ones((n, dim)), np.linspace(0, 1, n)[:, None], dtype)
    yield "points", around(coarse[:, :dim] + 0.0, 0.0, dtype)
    yield "denormal", (coarse * float(np.finfo(dtype).smallest_subnormal)).astype(dtype)
    yield "huge", (coarse / 9 * largest).astype(dtype)
    odd = np.array([-np.inf, -largest, -1.0, -0.0, 0.0, 1.0, largest, np.inf], dtype)
    yield "infinite", np.sort(random.choice(odd, (n, 2, dim)), axis=1).reshape(n, 2 * dim)
    giants = around(spread, extent, dtype)
    giants[0] = [-1] * dim + [2] * dim
    giants[n // 2] = [-np.inf] * dim + [np.inf] * dim
    yield "giants", giants


@st.composite
def odd_boxes(draw, dim, dtype):
    """Up to 80 boxes whose edges are few different numbers, odd ones among them."""
    info = np.finfo(dtype)
    special = [-np.inf, np.inf, -0.0, 0.0, info.max, -info.max, info.tiny, info.smallest_subnormal]
    any_float = st.floats(width=info.bits, allow_nan=False)
    values = draw(st.lists(st.sampled_from(special) | any_float, max_size=5))
    values = np.array([*values, 0.0, 1.0], dtype)
    random = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n = draw(st.sampled_from([0, 1, 2, 3, 17, 40, 80]))
    return np.sort(random.choice(values, (n, 2, dim)), axis=1).reshape(n, 2 * dim)
