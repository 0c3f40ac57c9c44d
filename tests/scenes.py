"""Named, seeded scenes: what a broad phase meets, and what it could fall over.

`make` builds one by name; `CASES` lists every scene in every dimension that it has.  To add a scene, write a
function that takes a `Wanted` and returns boxes, and mark it with `scene`; every test then runs on it.
"""

import zlib
from collections.abc import Callable
from typing import NamedTuple

import numpy as np


class Wanted(NamedTuple):
    """The arguments of a scene."""

    n: int
    dim: int
    dtype: type
    rng: np.random.Generator

    def shape(self):
        return self.n, self.dim

    def uniform(self, low=0.0, high=1.0):
        return self.rng.uniform(low, high, self.shape())

    def integers(self, low, high):
        """From ``low`` up to and including ``high``."""
        return self.rng.integers(low, high, self.shape(), endpoint=True).astype(float)

    def side(self, pairs_per_box=2.0):
        """The side of equal boxes in the unit cube that gives about so many pairs a box."""
        return (2 * pairs_per_box / max(self.n, 1)) ** (1 / self.dim) / 2


SCENES: dict[str, Callable[[Wanted], np.ndarray]] = {}
_DIMENSIONS: dict[str, tuple[int, ...]] = {}


def scene(make_boxes, dimensions=(2, 3)):
    SCENES[make_boxes.__name__] = make_boxes
    _DIMENSIONS[make_boxes.__name__] = dimensions
    return make_boxes


def scene_in_3d_only(make_boxes):
    return scene(make_boxes, (3,))


def make(name, n, dim, dtype=np.float64, seed=0):
    """``n`` boxes of the scene; the same arguments always give the same boxes."""
    rng = np.random.default_rng([seed, n, dim, zlib.crc32(name.encode())])
    boxes = SCENES[name](Wanted(n, dim, dtype, rng))
    assert boxes.shape == (n, 2 * dim)
    return np.ascontiguousarray(boxes, dtype=dtype)


def from_corner(low, size):
    return np.hstack([low, low + size])


def between(a, b):
    """The boxes with the opposite corners ``a`` and ``b``."""
    return np.hstack([np.minimum(a, b), np.maximum(a, b)])


# --- everyday scenes ---------------------------------------------------------------------------------


@scene
def uniform(w):
    return from_corner(w.uniform(), w.uniform(0.5, 1.5) * w.side())


@scene
def negative(w):
    return from_corner(w.uniform(-7.0, -5.0), w.uniform(0.5, 1.5) * 2 * w.side())


@scene
def power_law(w):
    """Sizes over four decades, many small and few large."""
    size = 10.0 ** (-4 * w.rng.random((w.n, 1)) ** 0.7)
    return from_corner(w.uniform(), size * w.uniform(0.5, 1.0) * 0.5)


@scene
def far_clusters(w):
    """Crowds of unit boxes a million apart."""
    centre = w.rng.integers(-2, 2, (w.n, 1), endpoint=True) * 1e6
    return from_corner(centre + w.uniform(0, 20), w.uniform(0.5, 2.0))


@scene
def core_and_halo(w):
    """A dense core with a sparse halo: each box is farther out than the last, with no typical distance."""
    reach = 10.0 ** w.rng.uniform(-2, 3, (w.n, 1))
    return from_corner(reach * w.uniform(-1, 1), np.full(w.shape(), 0.05))


@scene
def one_giant(w):
    boxes = uniform(w)
    boxes[w.n // 2 : w.n // 2 + 1] = [-1e4] * w.dim + [1e4] * w.dim
    return boxes


@scene
def long_walls(w):
    """Thin walls along each axis, which cross, and every fourth box a small one among them."""
    low, size = w.uniform(), np.full(w.shape(), 0.002)
    axis = w.rng.integers(0, w.dim, w.n)
    long = np.flatnonzero(np.arange(w.n) % 4)
    size[long, axis[long]] = 0.8
    low[long, axis[long]] *= 0.2
    return from_corner(low, size)


@scene
def diagonal(w):
    """Neighbours on every axis at once."""
    low = np.linspace(0, 1, w.n)[:, None] + np.zeros(w.dim)
    return from_corner(w.rng.permutation(low), np.full(w.shape(), 1.5 / max(w.n, 1)))


# --- edges that meet exactly ---------------------------------------------------------------------------


@scene
def integers(w):
    """Integer corners and sizes, so that edges and corners touch everywhere."""
    return from_corner(w.integers(0, round(2 / w.side())), w.integers(1, 3))


@scene
def tiles(w):
    """A floor of unit tiles: each touches all its neighbours and overlaps none."""
    across = int(np.ceil(max(w.n, 1) ** (1 / w.dim)))
    cell = np.stack(np.unravel_index(w.rng.permutation(w.n), (across,) * w.dim), axis=1)
    return from_corner(cell.astype(float), 1.0)


@scene
def tenths(w):
    """Tiles of 0.1, whose edges no binary number hits: each side of an edge is computed once."""
    cell = w.integers(-9, 9)
    return np.hstack([cell * 0.1, (cell + 1) * 0.1])


@scene
def one_ulp(w):
    """Edges that differ in the last bit only."""
    bits = np.finfo(w.dtype).nmant
    return between(1 + w.integers(0, 9) * 2.0**-bits, 1 + w.integers(0, 9) * 2.0**-bits)


@scene
def far_from_zero(w):
    """So far out that the numbers are sparse and most edges coincide."""
    bits = np.finfo(w.dtype).nmant
    return 2.0 ** (bits + 2) + from_corner(w.uniform(0, 80), w.uniform(0, 9))


@scene
def points(w):
    """Zero-size boxes, many on the same spot and many on the edge of a real box."""
    size = np.where(w.rng.random((w.n, 1)) < 0.8, 0.0, 2.0)
    return from_corner(w.integers(0, round(1 / w.side())), size * np.ones(w.dim))


@scene
def sheets(w):
    """Boxes without extent on one axis."""
    size = w.integers(1, 3)
    size[np.arange(w.n), w.rng.integers(0, w.dim, w.n)] = 0
    return from_corner(w.integers(0, round(2 / w.side())), size)


@scene
def signed_zeros(w):
    """-0.0 is 0.0: a box that ends at one touches a box that begins at the other."""
    low = w.rng.choice([-1.0, -0.0, 0.0], w.shape())
    high = w.rng.choice([-0.0, 0.0, 1.0], w.shape())
    return np.hstack([low, high])


# --- no spread where a method hopes for some -----------------------------------------------------------


@scene
def all_equal(w):
    return np.tile([0.25] * w.dim + [0.75] * w.dim, (w.n, 1))


@scene
def all_the_same_point(w):
    return np.full((w.n, 2 * w.dim), 3.0)


@scene
def concentric(w):
    """Every box inside the next: all overlap, no two alike."""
    reach = 1.0 + w.rng.permutation(w.n)[:, None]
    return np.hstack([-reach, reach]).repeat(w.dim, axis=1)


@scene
def same_left_edge(w):
    """A sweep that orders by the left edge learns nothing."""
    boxes = uniform(w)
    boxes[:, 0] = 0.0
    return boxes


def _line(w, axis):
    low = np.zeros(w.shape())
    low[:, axis] = w.rng.uniform(0, w.n, w.n)
    return from_corner(low, w.uniform(0.5, 1.5))


@scene
def line_along_x(w):
    return _line(w, 0)


@scene
def line_along_y(w):
    return _line(w, 1)


@scene_in_3d_only
def line_along_z(w):
    return _line(w, 2)


@scene_in_3d_only
def plane_across_y(w):
    """Flat on one axis, spread on the others."""
    boxes = uniform(w)
    boxes[:, [1, 4]] = [0.0, 1.0]
    return boxes


# --- numbers at the end of the scale -------------------------------------------------------------------


@scene
def huge(w):
    """Coordinates of 1e30: a cell number computed from them fits no integer."""
    return 1e30 * from_corner(w.uniform(-1, 1), w.side() * w.uniform(1, 3))


@scene
def tiny(w):
    """Coordinates of 1e-38: below the normal numbers of float32."""
    return 1e-38 * from_corner(w.uniform(-1, 1), w.side() * w.uniform(1, 3))


@scene
def denormal(w):
    """Small multiples of the smallest number that there is."""
    step = float(np.finfo(w.dtype).smallest_subnormal)
    return step * from_corner(w.integers(-20, 20), w.integers(0, 4))


@scene
def all_magnitudes(w):
    """Boxes of every size from 1e-37 to 1e37 around zero: no cell suits two of them."""
    reach = 10.0 ** w.rng.uniform(-37, 37, (w.n, 1))
    return between(reach * w.uniform(-1, 1), reach * w.uniform(-1, 1))


@scene
def ends_of_the_range(w):
    """The largest numbers, their halves, the smallest, zero: sums and differences overflow."""
    info = np.finfo(w.dtype)
    values = np.array([0, info.tiny, info.smallest_subnormal, 1, info.max / 2, info.max])
    values = np.concatenate([values, -values])
    return between(w.rng.choice(values, w.shape()), w.rng.choice(values, w.shape()))


@scene
def one_at_the_end(w):
    """Ordinary boxes and one as far away as numbers go, which spoils every scale taken from the bounds."""
    boxes = uniform(w)
    boxes[:1] = float(np.finfo(w.dtype).max)
    return boxes


@scene
def some_infinite_edges(w):
    boxes = uniform(w)
    endless = w.rng.random(boxes.shape) < 0.05
    boxes[endless] = np.where(np.arange(2 * w.dim) < w.dim, -np.inf, np.inf)[np.nonzero(endless)[1]]
    return boxes


@scene
def infinite_boxes(w):
    """Every tenth box is the whole world."""
    boxes = uniform(w)
    boxes[::10] = [-np.inf] * w.dim + [np.inf] * w.dim
    return boxes


@scene
def all_infinite(w):
    return np.tile([-np.inf] * w.dim + [np.inf] * w.dim, (w.n, 1))


@scene
def half_planes(w):
    """Each box is endless on one side."""
    boxes = from_corner(w.uniform(), np.full(w.shape(), w.side()))
    column = w.rng.integers(0, 2 * w.dim, w.n)
    boxes[np.arange(w.n), column] = np.where(column < w.dim, -np.inf, np.inf)
    return boxes


@scene
def at_infinity(w):
    """Infinity as an edge, as a corner and as a point, where a difference of two edges is NaN."""
    values = [-np.inf, -1.0, 0.0, 1.0, np.inf]
    return between(w.rng.choice(values, w.shape()), w.rng.choice(values, w.shape()))


CASES = [(name, dim) for name in SCENES for dim in _DIMENSIONS[name]]
"""Every scene in every dimension that it has."""


def named(dim):
    """The scenes that a dimension has."""
    return [name for name in SCENES if dim in _DIMENSIONS[name]]


LANE_EDGES = (0, 1, 2, 3, 4, 7, 8, 9, 15, 16, 17, 31, 32, 33, 48, 63, 64, 65)
"""Sizes around the widths of SIMD registers, and the smallest there are."""
