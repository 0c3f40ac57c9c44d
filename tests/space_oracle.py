"""The oracle of periodic worlds: boxes wrapped into the world, and pieces compared, in plain NumPy.

`exactly` says the same with rational numbers and a loop over images, for the few boxes that this can take.
"""

from fractions import Fraction
from itertools import product

import numpy as np


def carried(boxes, period, touching=True):
    """Boxes wrapped into the world; a box that covers an axis is from -inf to inf on it."""
    out, dim = boxes.copy(), boxes.shape[1] // 2
    for axis in range(dim):
        if not _ends(period, axis):
            continue
        length = boxes.dtype.type(period[axis])
        low, high = out[:, axis].copy(), out[:, dim + axis].copy()
        endless = np.isinf(low) | np.isinf(high)
        for _ in range(8):
            away = ~endless & ~((low >= 0) & (low < length))
            times = np.floor(low[away] / length)
            times[(low[away] < 0) & (times == 0)] = -1
            low[away] -= times * length
            high[away] -= times * length
        with np.errstate(invalid="ignore"):
            around = high - length >= low if touching else high - length > low
        covers = endless | ((high >= length) & around)
        out[:, axis] = np.where(covers, -np.inf, low)
        out[:, dim + axis] = np.where(covers, np.inf, high)
    return out


def meet(a, b, period, touching=True):
    """``(len(a), len(b))`` bool for boxes in the world: as they are, or one of them a period lower."""
    below = np.less_equal if touching else np.less
    together, dim = np.ones((len(a), len(b)), bool), a.shape[1] // 2
    for axis in range(dim):
        low, high = a[:, None, axis], a[:, None, dim + axis]
        other_low, other_high = b[None, :, axis], b[None, :, dim + axis]
        some = below(low, other_high) & below(other_low, high)
        if _ends(period, axis):
            length = a.dtype.type(period[axis])
            some |= np.isfinite(high) & below(length, high) & below(other_low, high - length)
            some |= np.isfinite(other_high) & below(length, other_high) & below(low, other_high - length)
        together &= some
    return together


def pairs(boxes, period=None, touching=True, env=None):
    """Sorted rows ``i < j``, as ``broadphase.pairs`` should return them."""
    period = period or [None] * (boxes.shape[1] // 2)
    inside = carried(boxes, period, touching)
    together = np.triu(meet(inside, inside, period, touching), 1)
    if env is not None:
        together &= same_env(env[:, None], env[None, :])
    return np.argwhere(together).astype(np.int32)


def same_env(a, b):
    """Whether rows of these environments meet: -1 is in all of them."""
    return (a == b) | (a == -1) | (b == -1)


def exactly(boxes, period, touching=True):
    """The same by rational numbers and a loop over the images of finite boxes."""
    dim = boxes.shape[1] // 2
    rows = [[Fraction(float(value)) for value in row] for row in boxes]
    lengths = [Fraction(float(boxes.dtype.type(p))) if p is not None else None for p in period]

    def overlap(a, b):
        for axis in range(dim):
            low, high, other_low, other_high = a[axis], a[dim + axis], b[axis], b[dim + axis]
            length, images = lengths[axis], [Fraction(0)]
            if length is not None:
                most = int((max(high, other_high) - min(low, other_low)) / length) + 2
                images = [k * length for k in range(-most, most + 1)]
            if touching:
                some = any(low + by <= other_high and other_low <= high + by for by in images)
            else:
                some = any(low + by < other_high and other_low < high + by for by in images)
            if not some:
                return False
        return True

    found = [(i, j) for i, j in product(range(len(rows)), repeat=2) if i < j and overlap(rows[i], rows[j])]
    return np.array(found, np.int32).reshape(-1, 2)


def distances(points, boxes, period):
    """``(len(points), len(boxes))`` float64, both in the world: to the nearest image."""
    dim = boxes.shape[1] // 2
    squares = np.zeros((len(points), len(boxes)))
    for axis in range(dim):
        at = points[:, None, axis].astype(float)
        low, high = boxes[None, :, axis].astype(float), boxes[None, :, dim + axis].astype(float)
        shifts = [0.0]
        if _ends(period, axis):
            length = float(boxes.dtype.type(period[axis]))
            shifts = [-length, 0.0, length]
        gaps = [np.maximum(np.maximum(low - (at + by), (at + by) - high), 0.0) for by in shifts]
        nearest = np.minimum.reduce(gaps)
        squares = squares + nearest * nearest
    return np.sqrt(squares)


def scene(random, n, dim, dtype, lattice=False):
    """Boxes in a world of 10 and around it, small and as wide as the world and more."""
    low = random.uniform(-15, 25, (n, dim))
    sides = random.choice([0.0, 0.3, 1, 3, 8, 10, 14], (n, dim)) * random.uniform(0, 1, (n, dim))
    if lattice:
        low, sides = np.round(low), np.round(sides)
    return np.hstack((low, low + sides)).astype(dtype)


def periods(dim, length=10.0):
    """On all axes, on the first, on all but the first."""
    return [[length] * dim, [length] + [None] * (dim - 1), [None] + [length] * (dim - 1)]


def _ends(period, axis):
    return period[axis] is not None and np.isfinite(period[axis])
