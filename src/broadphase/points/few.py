"""Few points: `neighbors` and `nearest` where sorting into cells or along a curve takes too long.

Each point is compared with each, in one call (`broadphase.kernels.points.few_points`); that loses from a few
hundred points on.  In a plain world points are first sorted along one axis: about ``n ** 1.5`` comparisons in
2-D and ``n ** 1.67`` in 3-D, which loses to cells from about a thousand points on, and to the curve of
`broadphase.points.nearest` where many of the nearest are wanted.  ``python benchmarks/neighbors.py --points
100 1000`` compares it with others.

The points of an index that was just made of them are rows and nothing else, which a few queries scan, as
`broadphase.indexes.space` does for boxes.  Rows by id, cells and a tree take 40 us for ten points and
2 ms for 10,000; a scan takes 3 us and 30 us.
"""

import math
from functools import lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt

from broadphase.indexes.arguments import Given
from broadphase.inputs.periods import as_cell, as_point_period, is_matrix, is_settled
from broadphase.inputs.points import GivenPoints, Numbers, PointQuery, Points, as_query
from broadphase.kernels.machine.kernel import try_call
from broadphase.kernels.points.few_points import (
    MOST_SORTED,
    MOST_TESTS,
    find_images_of_few,
    find_near_of_few,
    find_nearest_of_any,
)
from broadphase.kernels.points.fixed_radius import Cells, find_extent, near_points
from broadphase.methods.task import NO_LIMIT
from broadphase.periods.lattice import Lattice
from broadphase.runtime import thresholds
from broadphase.runtime.arrays import Floats
from broadphase.runtime.thresholds import MOST_SCANNED, SCANNED_AT_LEAST, SCANS

Pairs = tuple[Numbers, Numbers, Points]
Images = tuple[Numbers, Numbers, Points, Points, Numbers]
World = tuple[tuple[float, ...], npt.NDArray[np.float64], npt.NDArray[np.float64]]
"""A period as kernels take it: lengths, a lattice and its units."""

_PLAIN = (math.inf,) * 3
_NONE, _NONE_SINGLE, _NO_ENVS = np.empty(0), np.empty(0, np.float32), np.empty(0, np.int64)
_OPEN: World = (_PLAIN, _NONE, _NONE)

_images_of_few, _near_points = try_call(find_images_of_few), try_call(near_points)
_near_of_few, _nearest_of_any = try_call(find_near_of_few), try_call(find_nearest_of_any)


@lru_cache(64)
def _world(period: Any, dim: int) -> World:
    found = as_point_period(period, dim)
    if isinstance(found, Lattice):
        return _PLAIN, found.around, found.units
    return _OPEN if found is None else (tuple(found.tolist()), _NONE, _NONE)


def _few(given: GivenPoints, most: int) -> tuple[Any, ...] | None:
    """Points, and all that says which of them meet, as kernels take them.

    None if the arguments are not few points, or not of the types that kernels take.
    """
    points, other, period, env = given
    found = points if other is None else other
    if points.ndim != 2 or found.ndim != 2 or not len(points) * len(found) <= most:
        return None
    world = _OPEN
    if period is not None:
        numbers = period if is_settled(period) else None
        if numbers is None or points.dtype != np.float64 or (env is not None and is_matrix(numbers)):
            return None
        try:
            world = _world(numbers, points.shape[1])
        except (TypeError, ValueError):
            return None  # `as_query` names what is wrong
    if env is None:
        envs = other_envs = _NO_ENVS
    elif other is None:
        envs = other_envs = env
    elif type(env) is tuple and len(env) == 2:
        envs, other_envs = env
    else:
        return None
    return points, found, other is None, *world, envs, other_envs


def find_few(
    given: GivenPoints, r: Any, r_min: float, half: bool, alone: bool, limit: int, most: int = MOST_TESTS
) -> Pairs | None:
    """All pairs of few points of any kind, in order, with distances; None if another search must say."""
    plain = given.other is given.period is given.env is None and type(r) is float
    few = _few(given, MOST_SORTED**2 if plain else most)
    return None if few is None else _near(few, r, r_min, half, alone, limit)


def _near(few: tuple[Any, ...], r: Any, r_min: float, half: bool, alone: bool, limit: int) -> Pairs | None:
    points, found, among = few[:3]
    radii = other_radii = _NONE if points.itemsize == 8 else _NONE_SINGLE
    if type(r) is not float:
        if among and type(r) is np.ndarray:
            radii = other_radii = r
        elif type(r) is np.ndarray:
            radii, other_radii = r, np.zeros(len(found), r.dtype)
        elif isinstance(r, tuple) and not among:
            radii, other_radii = r
        else:
            return None
        r = 0.0
        if not (np.ndim(radii) == np.ndim(other_radii) == 1 and len(radii) and len(other_radii)):
            return None
    pairs = _near_of_few(*few, radii, other_radii, r, r_min, half, alone, limit)
    return pairs[:3] if pairs is not None and pairs[3] >= 0 else None


def find_nearest_few(
    given: GivenPoints, k: int, r: Any, most: int = thresholds.TESTS_FOR_NEAREST
) -> tuple[Numbers, Points] | None:
    """Ids and distances of the ``k`` nearest of few points of any kind; None if another search must say."""
    plain = given.other is given.period is given.env is None
    few = _few(given, MOST_SORTED**2 if plain else most) if type(r) is float else None
    return None if few is None else _nearest(few, k, r)


def _nearest(few: tuple[Any, ...], k: int, r: float) -> tuple[Numbers, Points] | None:
    if len(few[0]) * k * k > thresholds.RANKS_FOR_NEAREST:
        return None
    answer = _nearest_of_any(*few, k, r)
    return answer[:2] if answer is not None and answer[2] == 0 else None


@lru_cache(64)
def _crystal(period: Any, dim: int) -> tuple[Floats, Floats, Floats]:
    """The vectors of a cell, their inverse, and how many of them a length of 1 has at most along each."""
    cell, periodic = as_cell(period, dim)
    largest = np.abs(cell).max()
    inverse = np.linalg.inv(cell / largest) / largest
    return cell, inverse, np.where(periodic, np.hypot.reduce(inverse, axis=0), 0.0)


def find_few_images(given: GivenPoints, r: Any, limit: int) -> Images | None:
    """``i, j, distance, offset, shift`` of all images; None if another search must say."""
    points, other, period, env = given
    if type(r) is not float or env is not None or points.ndim != 2 or not is_settled(period):
        return None
    try:
        cell, inverse, gradients = _crystal(period, points.shape[1])
    except (TypeError, ValueError):
        return None  # `as_cell` names what is wrong
    found = points if other is None else other
    how = cell, inverse, gradients, r, thresholds.LOOKS_AT_IMAGES
    images = _images_of_few(points, found, other is None, *how)
    return images[:5] if images is not None and 0 <= images[5] <= limit else None


def _few_of(query: PointQuery, most: int) -> tuple[Any, ...] | None:
    """The points of a query, which are checked and within the world; None if these are not few."""
    n, m = len(query.points), len(query.found)
    if not (0 < m <= MOST_SORTED and 0 < n * m <= most):
        return None
    world: World = (tuple(query.period.tolist()), _NONE, _NONE)
    if query.lattice is not None:
        world = _PLAIN, query.lattice.around, _NONE
    envs, other_envs = (one.astype(np.int64) for one in (query.envs, query.other_envs))
    return query.points, query.found, query.others is None, *world, envs, other_envs


def find_small_pairs(
    query: PointQuery, r: float, radii: Points, other_radii: Points, limit: int
) -> Pairs | None:
    """All pairs in order, with distances, of a query of any kind; None if it is not small."""
    few, reach = _few_of(query, MOST_TESTS), (float(r), radii, (radii, other_radii))
    which = 0 if not len(radii) else 1 if query.others is None else 2
    return None if few is None else _near(few, reach[which], 0.0, True, False, limit)


def find_small_nearest(query: PointQuery, k: int, r: float) -> tuple[Numbers, Points] | None:
    """Ids and distances of the ``k`` nearest, of a query of any kind; None if it is not small."""
    few = _few_of(query, thresholds.TESTS_FOR_NEAREST)
    return None if few is None else _nearest(few, k, float(r))


def find_in_cells(query: PointQuery, cells: Cells, points: Any, r: float) -> Pairs | None:
    """All pairs in order, with distances, of a few points with those of a query in cells.

    Rows, or one point as a tuple, which are read and checked here.  ``query`` has no environments and no
    lattice.  None if a point is not within the world, or if much is near it.
    """
    found = _near_points(cells, query.found, query.period, points, r)
    return found[:3] if found is not None and found[3] else None


_LARGEST = 1e38  # below the largest float32
_USUAL = (float, int, np.float64)


class NewPoints:
    """Answers queries until a tree would have paid; None where the index has to answer."""

    __slots__ = ("_left", "rows")
    ids = None
    """They are the rows."""

    def __init__(self, rows: Points) -> None:
        self.rows = rows
        """The points, sound, which belong to the index."""
        self._left = SCANNED_AT_LEAST + SCANS * len(rows)

    @property
    def end(self) -> int:
        """All ids are below."""
        return len(self.rows)

    @property
    def query(self) -> PointQuery:
        """A query that may find them."""
        return as_query(self.rows[:0], self.rows, None, None)

    def near_one(self, point: Given, r: float) -> tuple[Numbers, Points] | None:
        """The points within a distance of one, in order, and how far they are."""
        row = self._row(point)
        found = None if row is None else self.near_many(row, r, NO_LIMIT)
        return None if found is None else found[1:]

    def nearest_one(self, point: Given, k: int, r: float) -> tuple[Numbers, Points] | None:
        """The ``k`` nearest of a point and how far they are, -1 and inf where there are fewer."""
        row = self._row(point)
        found = None if row is None else self.nearest_many(row, k, r)
        return None if found is None else (found[0][0], found[1][0])

    def _row(self, point: Given) -> Points | None:
        """One point as a row; None if it is not one of usual numbers."""
        for value in point:
            if not (type(value) in _USUAL and -_LARGEST < value < _LARGEST):
                return None
        return np.array([point], self.rows.dtype)

    def near_many(self, points: Points, r: Any, limit: int) -> tuple[Numbers, Numbers, Points] | None:
        """The points within a distance of several, in order."""
        given = GivenPoints(points, self.rows, None, None)
        most = thresholds.SCANNED_TESTS + len(self.rows)
        return find_few(given, r, 0.0, True, False, limit, most) if self._pays(points) else None

    def nearest_many(self, points: Points, k: int, r: Any) -> tuple[Numbers, Points] | None:
        """The ``k`` nearest of several."""
        given = GivenPoints(points, self.rows, None, None)
        most = thresholds.SCANNED_TESTS + len(self.rows)
        return find_nearest_few(given, k, r, most) if self._pays(points) else None

    def _pays(self, points: Points) -> bool:
        """Whether so many are compared with all in less time than a tree takes."""
        tests = len(points) * len(self.rows)
        if self._left < 0 or (len(points) > 1 and tests > thresholds.SCANNED_TESTS):
            return False
        self._left -= tests + 3 * len(self.rows)  # these are put in columns first
        return True


def new_points(points: Any, dim: int | None, dtype: "np.dtype[Any] | None") -> NewPoints | None:
    """An array of sound points; None for what has to be read in another way."""
    if type(points) is not np.ndarray or points.ndim != 2 or len(points) > MOST_SCANNED:
        return None
    width, kind = points.shape[1], points.dtype
    if width not in (2, 3) or (dim is not None and dim != width):
        return None
    if not (kind == np.float64 or kind == np.float32) or (dtype is not None and dtype != kind):
        return None
    rows = np.array(points, order="C")
    low, high = np.empty((2, 1, width))
    return NewPoints(rows) if find_extent(rows, 0, len(rows), 0, low, high) < 0 else None
