"""Worlds with lattice vectors, which need not be at right angles (triclinic cells): points and their images.

The vectors are reduced first: of all that span the same lattice the shortest are taken (H. Minkowski; the
algorithm is I. Semaev's for three dimensions, J.-L. Lagrange's for two).  Points are brought into the cell
that they span; their images around it reach as far as a search does.

Coordinates and vectors are multiples of one unit for each axis, about 2**-50 of the cell.  So no sum of a
point and a vector is rounded: a distance is the same from both ends, whichever image it is measured to.
"""

import math
from functools import lru_cache, partial
from itertools import product
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from broadphase.kernels.points.lattice import put_in_cell
from broadphase.periods import LONGEST, SHORTEST, too_long_or_short
from broadphase.periods.images import all_turns
from broadphase.runtime import threads
from broadphase.runtime.arrays import by_matrix

Period = npt.NDArray[np.float64]
Points = npt.NDArray[np.floating[Any]]

# A point has this many binary digits within the cell; the rest of the 53 is for images around it.
_DIGITS = 50
_MOST_CELLS = 2.0**52
# The nearest image of a point lies at most so many of the reduced vectors away from it, on each.
_FURTHEST = 1.5
# Rounding never leaves out an image that is near.
_MORE = 1e-6


class Lattice(NamedTuple):
    """A periodic world with lattice vectors, which need not be at right angles."""

    vectors: Period
    """One a row, reduced, in multiples of the units; zeros where the world is not periodic, as in a slab."""
    periodic: npt.NDArray[np.bool_]
    """Which rows are vectors."""
    inverse: Period
    """Of the vectors, completed by others of length 1 at right angles to them."""
    units: Period
    """One an axis: of what coordinates are multiples; 0 for an axis along which no vector goes."""
    volume: float
    """What the vectors span."""
    max_distance: float
    """No point is farther than this from the nearest image of another, along the vectors."""
    around: Period
    """See `around_lattice`."""


def in_cell(points: Points, lattice: Lattice, name: str) -> Points:
    """A copy within the cell of a lattice, rounded to its units."""
    inside = np.empty_like(points)
    fixed = points, lattice.around, lattice.units, _MOST_CELLS
    spans = threads.shares(len(points), threads.cores(), cost=10.0)
    row = max(threads.run_all([partial(put_in_cell, *fixed, *span, inside) for span in spans]))
    if row >= 0:
        raise ValueError(
            f"{name}[{row}] = {points[row].tolist()} is so many lattice vectors away that rounding loses its "
            "place; bring it into the world"
        )
    return inside


def images_between(
    along: Points, low: Points, high: Points, periodic: npt.NDArray[np.bool_]
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """The row and the shift of each image between two ends, in units of the vectors; both ascend."""
    first = np.where(periodic, np.ceil(low - along), 0.0)
    counts = np.where(periodic, np.floor(high - along) - first + 1.0, 1.0).clip(min=0.0)
    spans = np.hstack((first, counts)).astype(np.int64)
    return all_turns(spans, int(counts.prod(axis=1).sum()))


def images_around(points: Points, lattice: Lattice, reach: float) -> tuple[npt.NDArray[np.int64], Points]:
    """The images of points that are within reach of the cell: the row of each, ascending, and its place."""
    # In units of the vectors, of which planes at right angles to these gradients are one apart.
    gradients = [math.hypot(*column) for column in lattice.inverse.T.tolist()]
    margin = np.minimum(reach * np.array(gradients), _FURTHEST) + _MORE
    along = by_matrix(points, lattice.inverse)
    rows, steps = images_between(along, -margin, 1.0 + margin, lattice.periodic)
    return rows, points[rows] + by_matrix(steps, lattice.vectors)  # exact, see above


@lru_cache(16)
def as_lattice(rows: tuple[tuple[float, ...] | None, ...]) -> Period | Lattice:
    """The lattice with these vectors, None for others; lengths, inf for none, if it has them along axes."""
    # As integers, so that very skewed vectors are reduced without rounding.
    ratios = [[value.as_integer_ratio() for value in row] for row in rows if row is not None]
    unit = max(below for row in ratios for _, below in row)
    whole_rows = sorted(([above * (unit // below) for above, below in row] for row in ratios), key=_square)
    if not _spans(whole_rows):
        raise ValueError(f"the lattice vectors of period = {rows} do not span all of space")
    periodic = np.array([row is not None for row in rows])
    vectors = np.zeros((len(rows), len(rows)))
    try:
        vectors[periodic] = [[value / unit for value in row] for row in _reduced(whole_rows)]
    except OverflowError:  # reduced, a sum of vectors may be longer than each
        vectors[periodic] = np.inf
    with np.errstate(over="ignore"):
        lengths: Period = np.abs(vectors).sum(axis=0)
    crossed = lengths > 0.0
    if not (lengths > SHORTEST)[crossed].all() or not (lengths < LONGEST).all():
        raise ValueError(too_long_or_short(rows))
    if np.count_nonzero(vectors) == periodic.sum():
        return np.where(crossed, lengths, np.inf)
    units = np.where(crossed, 2.0 ** (np.frexp(lengths)[1] - _DIGITS), 0.0)
    vectors[:, crossed] = np.rint(vectors[:, crossed] / units[crossed]) * units[crossed]
    size = lengths.max()
    heights = np.abs(np.linalg.qr((vectors[periodic] / size).T)[1].diagonal()) * size
    with np.errstate(over="ignore"):
        volume = float(heights.prod())
    inverse = np.linalg.inv(completed(vectors / size, periodic)).astype(np.float64, copy=False)
    inverse[:, periodic] /= size
    max_distance = (0.5 + 1e-6) * math.hypot(*heights.tolist())
    around = around_lattice(vectors, inverse)
    return Lattice(vectors, periodic, inverse, units, volume, max_distance, around)


def completed(vectors: Period, periodic: npt.NDArray[np.bool_]) -> Period:
    """The vectors with others of length 1, at right angles to all, in the rows that are not periodic."""
    cell = vectors.copy()
    for axis in np.flatnonzero(~periodic).tolist():
        known = np.delete(cell, axis, axis=0)
        known = known[known.any(axis=1)]
        cell[axis] = np.linalg.svd(known / np.abs(known).max(axis=1, keepdims=True))[2][-1]
        cell[axis] *= np.sign(cell[axis][np.abs(cell[axis]).argmax()])
    return cell


def around_lattice(vectors: Period, inverse: Period) -> Period:
    """A lattice as `kernels.points.lattice` takes it; vectors are zeros for axes without a period."""
    return np.concatenate((np.full(len(vectors), np.inf), inverse.ravel(), vectors.ravel()))


_Vector = list[int]


def _square(vector: _Vector) -> int:
    return _product(vector, vector)


def _product(a: _Vector, b: _Vector) -> int:
    return sum(x * y for x, y in zip(a, b, strict=True))


def _spans(rows: list[_Vector]) -> bool:
    """Whether none of the vectors is a sum of multiples of others: J. Gram's determinant."""
    return _determinant([[_product(a, b) for b in rows] for a in rows]) != 0


def _determinant(rows: list[_Vector]) -> int:
    if not rows:
        return 1
    signs = ((-1) ** k for k in range(len(rows)))
    smaller = ([row[:k] + row[k + 1 :] for row in rows[1:]] for k in range(len(rows)))
    return sum(
        sign * top * _determinant(rest) for sign, top, rest in zip(signs, rows[0], smaller, strict=True)
    )


def _reduced(vectors: list[_Vector]) -> list[_Vector]:
    """The shortest vectors of the same lattice, shortest first; they come sorted by length."""
    if len(vectors) == 1:
        return vectors
    while True:
        first = _reduced(vectors[:-1])
        last = _brought_near(vectors[-1], first)
        if _square(last) >= _square(first[-1]):
            return [*first, last]
        vectors = sorted([*first, last], key=_square)


def _brought_near(vector: _Vector, others: list[_Vector]) -> _Vector:
    """The shortest of all sums of a vector and multiples of others, of which there are one or two."""
    a = others[0]
    if len(others) == 1:
        below, above = _square(a), [_product(a, vector)]
    else:
        b = others[1]
        aa, ab, bb, av, bv = _square(a), _product(a, b), _square(b), _product(a, vector), _product(b, vector)
        below, above = aa * bb - ab * ab, [av * bb - bv * ab, bv * aa - av * ab]
    nearest = [(2 * number + below) // (2 * below) for number in above]
    sums = []
    for more in product((-1, 0, 1), repeat=len(others)):
        moved = vector
        for other, number, one in zip(others, nearest, more, strict=True):
            moved = [x - (number + one) * y for x, y in zip(moved, other, strict=True)]
        sums.append(moved)
    return min([vector, *sums], key=_square)
