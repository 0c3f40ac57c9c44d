"""What every one-shot method must do, against brute force; and the scenes to do it on."""

import numpy as np
import scenes as named_scenes
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
    """The method finds what brute force finds, and counts what it stores; returns what it found."""
    # Each in scratch memory of its own, or the second would write over what the first has found.
    wanted = methods.finder("brute_force")(task(boxes, touching, pair_filter))
    found = find(task(boxes, touching, pair_filter))
    np.testing.assert_array_equal(pairs_of(found), pairs_of(wanted))
    assert found.pairs == wanted.pairs == sum(map(len, found.chunks))
    counted = find(task(boxes, touching, pair_filter, store=False))
    assert (counted.chunks, counted.pairs, counted.tests) == ([], found.pairs, found.tests)
    return found


def around(centres, extents, dtype=np.float64):
    extents = np.broadcast_to(extents, centres.shape)
    with np.errstate(over="ignore"):
        return np.hstack((centres - extents / 2, centres + extents / 2)).astype(dtype)


def scenes(dim, dtype, n=400, seed=0):
    """Yield ``name, boxes`` of every scene."""
    for name in named_scenes.named(dim):
        yield name, named_scenes.make(name, n, dim, dtype, seed)


# Few distinct values, so that edges meet; each pool is a corner of the number line, the last mixes them.
POOLS = {
    "small integers": [float(value) for value in range(-4, 5)],
    "huge": [-3.4e38, -1e38, -1e30, 0.0, 1e30, 1e38, 3.4e38],
    "denormal": [step * 1e-45 for step in (-9, -2, -1, 0, 1, 2, 9)] + [1.2e-38, -0.0],
    "endless": [-np.inf, -1.0, 0.0, 1.0, np.inf],
    "next to each other": [1.0, 1.0 + 2**-23, 1.0 - 2**-24, 16_777_215.0, 16_777_216.0],
}
POOLS["all of them"] = sorted({value for pool in POOLS.values() for value in pool})
ENDS_OF_FLOAT64 = [-1.8e308, -1e300, -5e-324, 0.0, 1e-310, 1.0, 1e300, 1.7e308, np.inf]


@st.composite
def degenerate_boxes(draw):
    """Up to 80 boxes, 2-D or 3-D, in either float."""
    dim, dtype = draw(st.sampled_from(KINDS))
    pools = [*POOLS.values(), ENDS_OF_FLOAT64] if dtype is np.float64 else list(POOLS.values())
    edge = st.sampled_from(draw(st.sampled_from(pools)))
    rows = draw(st.lists(st.tuples(*[edge] * (2 * dim)), max_size=40))
    rows = np.array(rows * draw(st.sampled_from([1, 2])), dtype).reshape(-1, 2 * dim)
    return named_scenes.between(rows[:, :dim], rows[:, dim:])
