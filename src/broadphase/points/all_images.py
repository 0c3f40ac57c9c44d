"""All images of points within a distance, and not only the nearest: neighbour lists as crystals have them.

Points are brought into the cell.  Images are laid around it as far as the distance reaches, but only those
that are shifted upward: a pair with a shift is the same pair, seen from its other end, with the opposite
shift.  One search then finds each pair once, those of a point and its own images too.

Cost: that of the plain search among the points and these images, of which there are few if the cell is large.
"""

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from broadphase.inputs.points import Numbers, PointQuery
from broadphase.kernels.points.pair_lists import keep_images
from broadphase.points.fixed_radius import NearRows, find_near, one_reach
from broadphase.points.neighbor_lists import rows_kept
from broadphase.runtime.memory import result_array

Floats = npt.NDArray[np.float64]

_WIDER = 1e-9  # relative; the distance of each pair is computed again from where the points were
_MOST = 2.0**31


class ImagePairs(NamedTuple):
    """Each pair once, by ``i``."""

    i: Numbers
    j: Numbers
    distance: Floats
    ways: Floats
    """From ``i`` to the image of ``j``; then by how many vectors of the cell the image is shifted."""


class Crystal(NamedTuple):
    """Points and their cell."""

    places: Floats
    cell: Floats
    """A vector for each axis, periodic or not."""
    periodic: npt.NDArray[np.bool_]


def find_all_images(crystal: Crystal, r: float, strict: bool, parts: int, limit: int) -> ImagePairs:
    """All pairs within ``r``, or nearer if ``strict``.

    Raises
    ------
    ValueError
        There are more images within reach than numbers for them.
    PairLimitExceeded
        There are more pairs than the limit.
    """
    places, cell, periodic = crystal
    n, dim = places.shape
    inverse = np.linalg.inv(cell)
    along = places @ inverse
    home = np.where(periodic, np.floor(along), 0.0)
    along -= home
    inside = places - home @ cell
    reach = r * (1.0 + _WIDER) + _WIDER * float(np.abs(inside).max(initial=0.0))
    wide = reach * np.linalg.norm(inverse, axis=0) + _WIDER
    if n * float(np.prod(np.where(periodic, 2.0 * wide + 1.0, 1.0))) > _MOST:
        raise ValueError(f"r = {r:g} reaches over so many cells that their images cannot be numbered")
    source, steps = upward_images(along, wide, periodic)
    found = np.concatenate((inside, inside[source] + steps @ cell))
    low, high = (ends(found, axis=0) if n else np.zeros(dim) for ends in (np.min, np.max))
    none = np.empty(0, np.int32)
    around = np.full(dim, np.inf)
    kind = np.dtype(np.float64)
    query = PointQuery(inside, found, around, none, none, 1, low, high, None, False, kind)
    near = find_near(query, one_reach(reach, kind), True, parts, limit, upward=True)
    return _kept(crystal, (home, source.astype(np.int32), steps), near, r, strict, parts)


def upward_images(along: Floats, wide: Floats, periodic: Any) -> tuple[npt.NDArray[np.intp], Floats]:
    """The row and the shift of each image near the points whose first shift, if it has one, is upward."""
    n, dim = along.shape
    rows, steps = np.empty(0, np.intp), np.empty((0, dim))
    for axis in np.flatnonzero(periodic if n else []).tolist():
        own = along[:, axis]
        low, high = own.min() - wide[axis], own.max() + wide[axis]
        first, last = int(np.ceil(low - own.max())), int(np.floor(high - own.min()))
        some = []
        for step in range(1, last + 1):  # of the points themselves: upward along this axis
            at = np.flatnonzero(own <= high - step)
            some.append((at, np.zeros((len(at), dim))))
            some[-1][1][:, axis] = step
        for step in range(first, last + 1) if len(rows) else ():
            moved = own[rows] + step
            at = np.flatnonzero((moved >= low) & (moved <= high))
            further = steps[at]
            further[:, axis] = step
            some.append((rows[at], further))
        rows, steps = (np.concatenate(parts) for parts in zip(*some, strict=True)) if some else (rows, steps)
    order = np.argsort(rows, kind="stable")
    return rows[order], steps[order]


def _kept(
    crystal: Crystal,
    images: tuple[Floats, Numbers, Floats],
    near: NearRows,
    r: float,
    strict: bool,
    parts: int,
) -> ImagePairs:
    """The pairs whose distance, as it is from the given places, is within reach."""
    m, dim = len(near.i), crystal.places.shape[1]
    columns, distances = result_array((2, m), np.int32), result_array((m,), np.float64)
    ways = result_array((m, 2 * dim), np.float64)
    fixed = crystal.places, crystal.cell, *images, near.i, near.j, r, strict

    def keep(begin: int, end: int, place: int) -> int:
        return int(keep_images(*fixed, begin, end, place, columns, ways, distances))

    return ImagePairs._make(rows_kept(m, parts, keep, (*columns, distances, ways)))
