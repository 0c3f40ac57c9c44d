"""Boxes, points and rays for the index tests, and which indexes there are."""

import numpy as np
from hypothesis import strategies as st

from broadphase import indexes

# Constructor arguments of indexes that cannot be made without, by name; each a function of the dimension.
NEEDED = {
    "uniform_grid": lambda dim: {"bounds": [-50.0] * dim + [50.0] * dim, "cell_size": 7.0},
}
NAMES = tuple(indexes.CLASSES)


def make(name, dim=2, **options):
    return indexes.make_index(name, dim=dim, **NEEDED.get(name, lambda _: {})(dim), **options)


CENTRES = (0.0, 0.0, 0.0, 1e6, -1e6)
SIZES = (0.0, 0.01, 0.1, 1.0, 1.0, 10.0, 100.0)  # four decades, and no size at all
ODD = (-np.inf, np.inf, -0.0, 0.0, 1e30, -1e30, 1e-310, 1e200, -1e200, 0.1)


def random_boxes(seed, count, dim):
    """Clusters a million apart on a coarse grid, so that much touches; some all equal, some infinite."""
    random = np.random.default_rng(seed)
    centre = random.choice(CENTRES, (count, 1))
    low = centre + random.integers(-8, 8, (count, dim)) * random.choice((1.0, 0.25, 5.0))
    high = low + random.choice(SIZES, (count, dim)) * random.choice((1.0, 1.0, 2.0), (count, 1))
    boxes = np.hstack((low, high))
    if count and random.random() < 0.3:
        boxes[random.integers(count) :] = boxes[random.integers(count)]
    if count and random.random() < 0.3:
        boxes[random.integers(count), random.integers(dim)] = -np.inf
        boxes[random.integers(count), dim + random.integers(dim)] = np.inf
    return boxes


@st.composite
def odd_boxes(draw, dim):
    values = st.sampled_from(ODD) | st.integers(-9, 9).map(float)
    ends = [sorted(draw(st.tuples(values, values))) for _ in range(dim)]
    return [low for low, _ in ends] + [high for _, high in ends]


def boxes(dim):
    seeds = st.integers(0, 2**32 - 1)
    return seeds.map(lambda seed: random_boxes(seed, 1, dim)[0].tolist()) | odd_boxes(dim)


@st.composite
def many_boxes(draw, dim, count=None):
    if count is None:
        count = draw(st.sampled_from((0, 1, 2, 3, 5, 8, 20, 60)))
    rows = random_boxes(draw(st.integers(0, 2**32 - 1)), count, dim)
    for row in range(min(count, draw(st.sampled_from((0, 0, 1, 3))))):
        rows[row] = draw(odd_boxes(dim))
    return rows


def points(dim):
    value = st.integers(-9, 9).map(float) | st.sampled_from(
        (-0.0, 0.1, 1e6, -1e6 + 0.5, 1e30, -1e200, 1e-310)
    )
    return st.tuples(*[value] * dim)


def directions(dim):
    value = st.sampled_from((0.0, 0.0, -0.0, 1.0, -1.0, 2.0, -0.5, 0.3, 1e-300, 1e200, -1e-20))
    return st.tuples(*[value] * dim).filter(any)


DISTANCES = st.sampled_from((0.0, 0.5, 1.0, 3.0, 5.0, 12.0, 1e6, 1e300, np.inf))
STEPS = st.sampled_from((0.0, 1e-3, 0.25, 1.0, 30.0))
BIT_SETS = st.sampled_from((1, 2, 3, 4, 6, 0, 0xFFFFFFFF, 0x80000000))
RULES = st.sampled_from((None, None, None, 1, 2, 6, 0, 0xFFFFFFFF))
