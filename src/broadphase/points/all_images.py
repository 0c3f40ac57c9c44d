"""All images of points within a distance, and not only the nearest: neighbour lists as crystals have them.

Where the cell is more than twice as large as the distance, at most one image of each pair is near: the search
is that in a lattice (`fixed_radius.fits_in_lattice`).  Else points are brought into the cell, and images laid
around it as far as the distance reaches.  Among points of one set these are only images that are shifted
upward: a pair with a shift is the same pair, seen from its other end, with the opposite shift.  One search
then finds each pair once, those of a point and its own images too.

Cost: that of the search among the points and the images.
"""

import math
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from broadphase.indexes.results import Nearest
from broadphase.inputs.periods import as_cell
from broadphase.inputs.points import (
    GivenPoints,
    Numbers,
    PointQuery,
    Points,
    as_query,
    check_cell_of_worlds,
)
from broadphase.kernels.points.distance import Space
from broadphase.kernels.points.pair_lists import Images, keep_images
from broadphase.methods.task import NO_LIMIT
from broadphase.periods.lattice import around_lattice, images_between
from broadphase.points.fixed_radius import NearRows, find_near, fits_in_lattice, one_reach
from broadphase.points.nearest import (
    Candidates,
    Counted,
    CurveTree,
    Rows,
    among_others,
    find_nearest_counted,
    find_nearest_points,
    make_tree,
    may_be_more,
    some_of,
)
from broadphase.points.neighbor_lists import lesser_first, order_of, rows_kept
from broadphase.runtime.arrays import Floats, by_matrix, rows_at
from broadphase.runtime.memory import result_array

# The distance of each pair is computed again from where the points were, so that a search may find more.
_WIDER = 1e-9  # relative
_ROUNDINGS = 2.0**-47  # of coordinates; some of them, as points are brought into the cell
_MOST = 2.0**31
_FARTHEST = 2.0**30
_USUAL = 1.2
"""The nearest are searched at first this many times as far as they are in an even crystal."""


class ImagePairs(NamedTuple):
    """Each pair once, in order."""

    i: Numbers
    j: Numbers
    distance: Floats
    offset: Floats
    """From ``i`` to the image of ``j``."""
    shift: Numbers
    """By how many vectors of the cell the image is shifted."""

    def some(self, rows: Any) -> "ImagePairs":
        """Some of the pairs, or all in another order."""
        return ImagePairs(*(np.asarray(rows_at(column, rows)) for column in self))


class Crystal(NamedTuple):
    """Points and their cell."""

    query: PointQuery
    """In a plain world; of float64."""
    cell: Floats
    """A vector for each axis, periodic or not."""
    periodic: npt.NDArray[np.bool_]


def as_crystal(given: GivenPoints) -> Crystal:
    """Check the points and their cell."""
    check_cell_of_worlds(given.points, given.period, given.env)
    query = as_query(*given._replace(period=None))
    cell, periodic = as_cell(given.period, query.points.shape[1])
    others = None if query.others is None else query.others.astype(np.float64, copy=False)
    plain = np.full(len(cell), np.inf)
    query = query._replace(points=query.points.astype(np.float64, copy=False), others=others, period=plain)
    return Crystal(query, cell, periodic)


class _InCell(NamedTuple):
    """Points brought into the first cell."""

    inverse: Floats
    spots: Floats
    """In which cell the points are, then where in it, in units of the vectors."""
    inside: Floats
    other_spots: Floats
    found: Floats
    slack: float
    """What rounding may add to a distance."""


def _brought_in(crystal: Crystal) -> _InCell:
    query, largest = crystal.query, np.abs(crystal.cell).max()
    inverse = np.linalg.inv(crystal.cell / largest) / largest
    spots, inside = _in_cell(query.points, crystal, inverse, "points")
    other_spots, found = spots, inside
    if query.others is not None:
        other_spots, found = _in_cell(query.others, crystal, inverse, "other")
    extent = max(float(np.abs(one).max(initial=0.0)) for one in (query.points, query.found))
    return _InCell(inverse, spots, inside, other_spots, found, _ROUNDINGS * extent)


def find_all_images(
    crystal: Crystal, r: float, strict: bool, parts: int, limit: int, excluded: int = 0
) -> ImagePairs:
    """All pairs within ``r``, or nearer if ``strict``.

    The images of so many ``excluded`` pairs do not count against the limit.

    Raises
    ------
    ValueError
        There are more images within reach than numbers for them, or points are too far away.
    PairLimitExceeded
        There are more pairs than the limit.
    """
    query, cell, periodic = crystal
    inverse, spots, inside, other_spots, found, slack = _brought_in(crystal)
    reach = one_reach(r * (1.0 + _WIDER) + slack, inside.dtype)
    around = around_lattice(np.where(periodic[:, None], cell, 0.0), inverse)
    among, dim = query.others is None, len(cell)
    query = query._replace(points=inside, others=None if among else found)
    images = Images(np.empty(0, np.int32), np.empty((0, dim)), len(found))
    if fits_in_lattice(around, dim, reach.r):
        candidates = find_near(query._replace(period=around), reach, True, parts, limit)
        return _kept(crystal, (spots, other_spots), images, candidates, (r, strict), parts)
    along = spots[:, dim:], other_spots[:, dim:]
    source, steps, image_count = _laid(*along, inverse, periodic, reach.r, r, among)
    spots[:, dim:] = other_spots[:, dim:] = 0.0  # shifts are those of the images
    images = Images(source.astype(np.int32), steps, len(found) if among else 0)
    query = _among_images(query, found, images, cell)
    if excluded:
        limit = min(limit + int(excluded * image_count), NO_LIMIT)
    candidates = find_near(query, reach, True, parts, limit, upward=among)
    kept = _kept(crystal, (spots, other_spots), images, candidates, (r, strict), parts)
    if among:
        i, j = lesser_first(kept.i, kept.j, kept.offset, kept.shift)
        kept = kept._replace(i=i, j=j)
    return kept.some(order_of(kept.i, kept.j))


def _laid(
    along: Floats, other_along: Floats, inverse: Floats, periodic: Any, reach: float, r: float, upward: bool
) -> tuple[npt.NDArray[np.int64], Floats, float]:
    """The row and shift of each image within reach of the points, and how many a pair has at most."""
    wide = reach * np.hypot.reduce(inverse, axis=0) + _WIDER
    image_count = math.prod(np.where(periodic, 2.0 * wide + 1.0, 1.0).tolist())
    if len(other_along) * image_count > _MOST:
        raise ValueError(f"r = {r:g} reaches over so many cells that their images cannot be numbered")
    ends = (along.min(axis=0) - wide, along.max(axis=0) + wide) if len(along) else (wide, wide)
    rows, steps = images_between(other_along, *ends, periodic)
    if upward:  # those whose first shift that is not 0 is upward
        first = np.take_along_axis(steps, (steps != 0).argmax(axis=1)[:, None], 1)[:, 0]
        rows, steps = rows[first > 0], steps[first > 0]
    return rows, steps.astype(np.float64), image_count


def _among_images(query: PointQuery, found: Floats, images: Images, cell: Floats) -> PointQuery:
    """The query with the first points as they are, then the images, as others."""
    places = np.concatenate((found[: images.first], found[images.source] + by_matrix(images.steps, cell)))
    return among_others(query, places, np.append(np.arange(images.first), images.source))


def find_nearest_of_all(crystal: Crystal, k: int, r: float, parts: int, counted: Counted) -> Nearest:
    """The ``k`` nearest that count of all images, with their shifts."""
    query, cell, periodic = crystal
    inverse, spots, inside, other_spots, found, slack = _brought_in(crystal)
    along = spots[:, len(cell) :].copy(), other_spots[:, len(cell) :].copy()
    spots[:, len(cell) :] = other_spots[:, len(cell) :] = 0.0  # shifts are those of the images
    laid: dict[float, tuple[Images, PointQuery, CurveTree | None]] = {}

    def find(rows: Rows, count: int, reach: float) -> Candidates:
        farther = reach * (1.0 + _WIDER) + slack
        if reach not in laid:
            source, steps, _ = _laid(*along, inverse, periodic, farther, reach, False)
            images = Images(source.astype(np.int32), steps, 0)
            others = _among_images(query, found, images, cell)
            laid.clear()
            laid[reach] = images, others, make_tree(others, parts) if len(source) else None
        images, others, tree = laid[reach]
        held = min(count, len(images.source))
        subset = some_of(others._replace(points=inside), rows)
        if tree is None:  # there is no image as near as this
            numbers, apart = Nearest(np.empty((len(rows), 0), np.int32), np.empty((len(rows), 0)))
        else:
            numbers, apart = find_nearest_points(subset, held, farther, parts, tree)
        # Distances are those of `find_all_images`: from where the points were given.
        row, column = np.nonzero(numbers >= 0)
        i, image_numbers = rows[row].astype(np.int32), numbers[row, column]
        rows_near = NearRows(i, image_numbers, apart[row, column])
        pairs = _kept(crystal, (spots, other_spots), images, rows_near, (np.inf, False), parts)
        ids, distances = np.full(numbers.shape, -1, np.int32), np.full(numbers.shape, np.inf)
        shift = np.zeros((*numbers.shape, len(cell)), np.int32)
        ids[row, column], distances[row, column], shift[row, column] = pairs.j, pairs.distance, pairs.shift
        # Most are in order: by distance, then number, then shift.
        again = np.flatnonzero((distances[:, 1:] <= distances[:, :-1]).any(axis=1))
        order = np.lexsort((*np.moveaxis(shift[again], 2, 0)[::-1], ids[again], distances[again]), axis=1)
        for one in (ids, distances, shift):
            one[again] = one[again[:, None], order]
        full = may_be_more(numbers, len(images.source))
        farthest = apart.max(axis=1, initial=0.0) * (1.0 - 2.0 * _WIDER) - 2.0 * slack
        last = np.where(full, np.minimum(farthest, reach), reach)
        return Candidates(ids, distances, shift, distances <= last[:, None], full)

    if len(inside) == 0 or len(found) == 0:
        return find_nearest_counted(query, k, counted, find, 0.0, 0.0)
    both = np.concatenate((inside, found))
    most = 2.0 * math.hypot(*np.ptp(both, axis=0)) + counted.least
    if periodic.any():  # so far along the shortest vector alone there are as many images as are wanted
        most += (k + 2) * float(np.hypot.reduce(cell[periodic], axis=1).min())
    sides = np.where(periodic, 1.0, np.ptp(by_matrix(both, inverse), axis=0)) / np.hypot.reduce(
        inverse, axis=0
    )
    logs = np.log(sides[sides > 0.0])
    typical = math.exp(logs.mean()) if len(logs) else 0.0
    usual = typical * ((k + 2) * query.worlds / len(found)) ** (1.0 / max(len(logs), 1))
    most = min(r, most)
    reach = min(_USUAL * usual, most) or most
    return find_nearest_counted(query, k, counted, find, reach, most)


def _in_cell(points: Points, crystal: Crystal, inverse: Floats, name: str) -> tuple[Floats, Floats]:
    """In which cell points are and where in it, in units of the vectors; and the points in the first cell."""
    along = by_matrix(points, inverse)
    home = np.where(crystal.periodic, np.floor(along), 0.0)
    if np.abs(home).max(initial=0.0) > _FARTHEST:
        row = int(np.flatnonzero((np.abs(home) > _FARTHEST).any(axis=1))[0])
        raise ValueError(
            f"{name}[{row}] = {points[row].tolist()} is so many lattice vectors away that rounding loses its "
            "place; bring it into the world"
        )
    return np.hstack((home, np.where(crystal.periodic, along - home, 0.0))), points - by_matrix(
        home, crystal.cell
    )


def _kept(
    crystal: Crystal,
    spots: tuple[Floats, Floats],
    images: Images,
    candidates: NearRows,
    reach: tuple[float, bool],
    parts: int,
) -> ImagePairs:
    """The pairs whose distance, as it is from the given places, is within reach."""
    query, cell, _ = crystal
    m, dim = len(candidates.i), len(cell)
    columns, distances = result_array((2, m), np.int32), result_array((m,), np.float64)
    offsets, shifts = result_array((m, dim), np.float64), result_array((m, dim), np.int32)
    fixed = Space(query.points, query.found, cell), spots, images, candidates.i, candidates.j, reach
    out = columns, distances, offsets, shifts

    def keep(begin: int, end: int, place: int) -> int:
        return int(keep_images(*fixed, begin, end, place, out))

    return ImagePairs._make(rows_kept(m, parts, keep, (*columns, distances, offsets, shifts)))
