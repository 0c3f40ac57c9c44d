"""Point arrays, distances and cutoffs: the input of `neighbors` and `nearest`, checked and converted once."""

import math
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from broadphase.inputs.arrays import (
    NUMBERS,
    POINTS,
    as_float_array,
    as_plain_array,
    as_rows,
    check_same_crs,
    one_each,
    rounded,
    settled,
)
from broadphase.inputs.environments import (
    POINT_WIDTHS,
    as_env,
    numbered,
    rows_of_both,
    rows_of_worlds,
    settled_envs,
)
from broadphase.inputs.periods import as_point_period, is_matrix, settled_period
from broadphase.inputs.search import both_envs
from broadphase.kernels.points.fixed_radius import find_extent
from broadphase.periods.images import wrapped
from broadphase.periods.lattice import Lattice, in_cell
from broadphase.runtime import threads

Points = npt.NDArray[np.floating[Any]]
Numbers = npt.NDArray[np.int32]

_LARGEST_INT = 1 << 53  # an int beyond this may be no float


class PointQuery(NamedTuple):
    """Query points and points that may be found, all of one type."""

    points: Points
    """``(n, dim)``, finite, between 0 and the period."""
    others: Points | None
    """None where the points are searched among themselves."""
    period: Points
    """One length for each axis, in the type of the points; inf for an axis without a period."""
    envs: Numbers
    """The worlds of the points, from 0 on; empty where there is one."""
    other_envs: Numbers
    worlds: int
    low: npt.NDArray[np.float64]
    """How far the points that may be found reach."""
    high: npt.NDArray[np.float64]
    lattice: Lattice | None
    """Of a world whose axes are not at right angles; then points are within its cell."""
    one: bool
    """Whether the query came as one point, and not as an array of points."""
    kind: "np.dtype[Any]"
    """The type of the given points: that of distances; with a period it is computed in float64."""

    @property
    def found(self) -> Points:
        """The points that may be found."""
        return self.points if self.others is None else self.others


class GivenPoints(NamedTuple):
    """What `as_query` checks: arrays of the call's own, and lengths as numbers (`arrays.settled`)."""

    points: Points
    other: Points | None
    period: Any
    env: Any


def settled_points(points: Any, other: Any, period: Any, env: Any) -> GivenPoints:
    """Copy the arguments that `neighbors` and `nearest` share, before anything is looked at."""
    if other is None:
        return GivenPoints(
            settled(points, "points", POINTS), None, settled_period(period), settled(env, "env")
        )
    check_same_crs(points, "points", other, "other")
    points, other = settled(points, "points", POINTS), settled(other, "other", POINTS)
    return GivenPoints(points, other, settled_period(period), settled_envs(env))


def as_query(points: Any, other: Any, period: Any, env: Any) -> PointQuery:
    """Check all that `neighbors` and `nearest` share, after `settled_points`."""
    check_cell_of_worlds(points, period, env)
    one = other is not None and points.ndim == 1 and len(points) in (2, 3)
    if one:
        points = points[None]
    if other is None:
        points, env = rows_of_worlds(points, env, "points", POINT_WIDTHS)
    else:
        points, other, env = rows_of_both(points, other, env, ("points", "other"), POINT_WIDTHS)
    places = _as_points(points, "points")
    others = None if other is None else _as_points(other, "other")
    if others is not None:
        places, others = _alike(places, others)
    dim = places.shape[1]
    found_period = as_point_period(period, dim)
    lattice = found_period if isinstance(found_period, Lattice) else None
    lengths = None if isinstance(found_period, Lattice) else found_period
    envs, other_envs, worlds = _as_envs(env, len(places), None if others is None else len(others))
    kind = places.dtype
    if found_period is not None:
        # What is brought into the period in float32 has lost its last digits before it is subtracted.
        places = places.astype(np.float64, copy=False)
        others = None if others is None else others.astype(np.float64, copy=False)
    around = np.full(dim, np.inf, places.dtype) if lengths is None else lengths
    places, low, high = _checked(places, around, "points", lattice)
    if others is not None:
        others, low, high = _checked(others, around, "other", lattice)
    return PointQuery(places, others, around, envs, other_envs, worlds, low, high, lattice, one, kind)


def check_cell_of_worlds(points: Any, period: Any, env: Any) -> None:
    """Refuse ``(dim, dim)`` numbers that may be lattice vectors, or the lengths of each environment."""
    if not is_matrix(period) or (len(period),) != points.shape[-1:]:
        return
    if env is None and (points.ndim != 3 or len(points) != len(period)):
        return
    # A length is positive or None, and lattice vectors are finite: most matrices are only one of them.
    if all(isinstance(row, tuple) and len(row) == len(period) for row in period) and all(
        isinstance(value, (int, float)) and 0 < value < math.inf for row in period for value in row
    ):
        raise ValueError(
            f"period = {period} beside environments may be the lattice vectors of one cell for all, or the "
            f"lengths of environments 0 to {len(period) - 1}; for the cell give -np.array(period), the same "
            "lattice; for lengths give a matrix for each environment: [np.diag(row) for row in period]"
        )


def query_from(query: PointQuery, points: Points, one: bool) -> PointQuery:
    """The same query for other points, which are of the dimension and type of those to be found."""
    places, _, _ = _checked(
        points.astype(query.found.dtype, copy=False), query.period, "points", query.lattice
    )
    return query._replace(points=places, one=one)


def _as_points(values: Any, name: str) -> Points:
    array = as_float_array(values, name, POINTS)
    if array.ndim == 1 and array.size in (2, 3):
        raise ValueError(
            f"{name} must have shape (n, 2) or (n, 3); got one point of shape {array.shape}; "
            "what is near one point is found with other=, the points among which to look"
        )
    if array.size and (array.ndim == 1 or (array.ndim == 2 and array.shape[1] == 1)):
        raise ValueError(
            f"{name} must have shape (n, 2) or (n, 3); got shape {array.shape}; for points on a line give a "
            f"second coordinate of 0: np.column_stack(({name}, np.zeros(len({name})))), and "
            "period=(length, None)"
        )
    return as_rows(array, name, (2, 3), "(n, 2) or (n, 3), a row of coordinates a point")


def _alike(points: Points, others: Points) -> tuple[Points, Points]:
    """Both in one dimension and type; an empty list has any dimension."""
    if points.shape[1] != others.shape[1]:
        if len(others) == 0:
            others = np.empty((0, points.shape[1]), others.dtype)
        elif len(points) == 0:
            points = np.empty((0, others.shape[1]), points.dtype)
        else:
            raise ValueError(
                f"points are {points.shape[1]}-D and other is {others.shape[1]}-D; give both in one dimension"
            )
    kind = np.result_type(points, others)
    return points.astype(kind, copy=False), others.astype(kind, copy=False)


def _as_envs(env: Any, n: int, m: int | None) -> tuple[Numbers, Numbers, int]:
    none = np.empty(0, np.int32)
    if env is None:
        return none, none, 1
    if m is not None and not (isinstance(env, (tuple, list)) and len(env) == 2):
        raise ValueError("env must be a pair with other=: one array for the points, one for the others")
    envs: Any = as_env(env, n) if m is None else both_envs(env, n, m)
    (numbers, others), worlds = numbered(envs[:n], envs[n:])
    return numbers, numbers if m is None else others, max(worlds, 1)


def _checked(
    points: Points, around: Points, name: str, lattice: Lattice | None = None
) -> tuple[Points, npt.NDArray[np.float64], npt.NDArray[np.float64]]:
    """The points, all within the period; and how far they reach."""
    dim = points.shape[1]
    if len(points) == 0:
        return points, np.zeros(dim), np.zeros(dim)
    row, lowest, highest = _extent(points)
    if row >= 0:
        raise unsound_point_error(points[row], f"{name}[{row}]")
    if lattice is not None:
        points = in_cell(points, lattice, name)
        return points, *_extent(points)[1:]
    # As Python's numbers: for two or three of them each call of NumPy takes a microsecond.
    ends = zip(around.tolist(), lowest.tolist(), highest.tolist(), strict=True)
    if any(end < math.inf and (low < 0.0 or high > end) for end, low, high in ends):
        points = wrapped(points, around)
        lowest = np.where(np.isfinite(around), np.maximum(lowest, 0.0), lowest)
        highest = np.minimum(highest, around)
    return points, lowest, highest


def _extent(points: Points) -> tuple[int, npt.NDArray[np.float64], npt.NDArray[np.float64]]:
    """The first row that is not finite or -1, and how far the points reach."""
    n, dim = points.shape
    spans = threads.shares(n, threads.cores(), cost=1.0)
    low, high = np.empty((len(spans), dim)), np.empty((len(spans), dim))
    rows = threads.run_all(
        [partial(find_extent, points, *span, part, low, high) for part, span in enumerate(spans)]
    )
    if len(spans) == 1:  # three calls of NumPy less
        return int(rows[0]), low[0], high[0]
    return next((row for row in rows if row >= 0), -1), low.min(axis=0), high.max(axis=0)


def unsound_point_error(point: npt.NDArray[Any], name: str) -> ValueError:
    """Say which coordinate of a point is not finite."""
    for axis, value in zip("xyz", point, strict=False):
        if not np.isfinite(value):
            return ValueError(f"{name} has {axis} = {value}; give a finite number, or leave the row out")
    raise AssertionError(f"{name} is finite")


class RadiiOfBoth(NamedTuple):
    """Radii of the points and, by ``other_radii=``, of those searched among; a plain tuple says the same."""

    points: Any
    others: Any


def settled_reach(r: Any, other_radii: Any = None) -> Any:
    """A distance, radii or two of them as arrays, before anything is looked at (`arrays.settled`)."""
    if other_radii is not None:
        return RadiiOfBoth(settled(r, "r", NUMBERS), settled(other_radii, "other_radii", NUMBERS))
    if isinstance(r, tuple) and len(r) == 2:
        return settled(r[0], "r[0]", NUMBERS), settled(r[1], "r[1]", NUMBERS)
    if type(r) is float:
        return r
    if type(r) is int and abs(r) < _LARGEST_INT:
        return float(r)
    reach = settled(r, "r", NUMBERS)
    if type(reach) is np.ndarray and reach.ndim == 0 and reach.dtype.kind == "f":
        return float(reach)  # as a float of Python, for `broadphase.points.few`: 4 us instead of 92
    return reach


def as_distance(r: Any, kind: "np.dtype[Any]", name: str = "r") -> float:
    """One distance, rounded to the type of the points; inf is one."""
    value: float = r
    if type(r) is not float:
        array = as_float_array(r, name)
        if array.ndim != 0:
            raise ValueError(f"{name} must be one number; got shape {array.shape}")
        value = float(array)
    if not value >= 0.0:
        raise ValueError(f"{name} = {value:g} is no distance; give a number that is not negative")
    if kind == np.float64:
        return value
    with np.errstate(over="ignore"):
        return float(kind.type(value))


def as_reach(r: Any, query: PointQuery, name: str = "r") -> float:
    """One distance up to which points are near: with it the distances of the search are compared.

    Distances of float32 points in a periodic world are computed in float64 and rounded in the end.  Rounding
    keeps their order, so those that are then at most ``r`` are those up to the largest float64 that is
    rounded to it.
    """
    reach, kind = as_distance(r, query.kind, name), query.kind.type
    if query.points.dtype == query.kind or reach == np.inf:
        return reach
    with np.errstate(over="ignore", under="ignore"):
        above = float(np.nextafter(kind(reach), kind(np.inf)))
        middle = (reach + (above if above < np.inf else 2.0**128)) / 2.0
        return middle if float(kind(middle)) == reach else float(np.nextafter(middle, 0.0))


def as_radii(r: Any, n: int, kind: "np.dtype[Any]", name: str) -> Points:
    """One radius for each of ``n`` points, from one for all or one each."""
    array = as_float_array(r, name)
    array = one_each(array, n, f"{name} must be a number, or one for each of the {n} points")
    sound = array >= 0.0
    if not sound.all():
        row = int(sound.argmin())
        raise ValueError(f"{name}[{row}] = {array[row]:g} is no radius; give a number that is not negative")
    if array.dtype == kind:
        return array
    with np.errstate(over="ignore"):
        return array.astype(kind)


# -----------------------------------------------------------------------------------------------------------
# Cutoffs by pair of kinds: how near two points must be depends on the kind of each, as that of atoms.


class PairCutoffs(NamedTuple):
    """A table of lengths, and the row of each point in it."""

    lengths: Points
    """``(k, k)``, symmetric; negative for pairs that do not count."""
    rows: npt.NDArray[np.intp]
    other_rows: npt.NDArray[np.intp]

    @property
    def largest(self) -> float:
        """No pair that counts is farther apart."""
        return float(self.lengths.max(initial=0.0))

    def between(self, i: Any, j: Any) -> Points:
        """The cutoff of each pair of a point and one of those searched among."""
        found: Points = self.lengths[self.rows[i], self.other_rows[j]]
        return found

    def rounded(self, kind: "np.dtype[Any]") -> "PairCutoffs":
        """The same in the type of distances."""
        return self._replace(lengths=rounded(self.lengths, kind))


def as_cutoffs(cutoffs: Any, kinds: list[tuple[Any, int, str]], name: str = "cutoffs") -> PairCutoffs:
    """Check cutoffs, for kinds given with the number of points and a name: of one set of points or of two.

    ``cutoffs`` is a dict by pair of kinds, in which a pair may be left out, or an array indexed by kind.
    """
    sides = [_as_kinds(values, n, said) for values, n, said in kinds]
    if len({side.dtype.kind for side in sides if len(side)}) > 1:
        raise TypeError(f"{kinds[0][2]} and {kinds[1][2]} must both be whole numbers, or both be labels")
    labels, flat = np.unique(
        np.concatenate([side for side in sides if len(side)] or sides[:1]), return_inverse=True
    )
    rows = [flat[: len(sides[0])], flat[-len(sides[-1]) :] if len(sides[-1]) else flat[:0]]
    find = _from_dict if isinstance(cutoffs, dict) else _from_matrix
    return PairCutoffs(find(cutoffs, labels, name), *rows)


def _as_kinds(values: Any, n: int, name: str) -> npt.NDArray[Any]:
    """One kind for each point: whole numbers as int64, labels as text."""
    array = as_plain_array(values, name)
    if array.dtype.kind == "O" and all(isinstance(value, str) for value in array.flat):
        array = array.astype(np.str_)
    array = one_each(array, n, f"{name} must be one kind, or one for each of the {n} points")
    if array.dtype.kind not in "iuU" and array.size:
        raise TypeError(f"{name} must hold whole numbers or labels (str); got dtype {array.dtype}")
    return array if array.dtype.kind == "U" else array.astype(np.int64)


def _from_dict(cutoffs: dict[Any, Any], labels: npt.NDArray[Any], name: str) -> Points:
    places = {label: row for row, label in enumerate(labels.tolist())}
    wanted = str if labels.dtype.kind == "U" else (int, np.integer)
    table = np.full((len(labels), len(labels)), -1.0)
    given: dict[Any, Any] = {}
    for pair, length in cutoffs.items():
        if not isinstance(pair, tuple) or len(pair) != 2:
            raise ValueError(
                f"{name} must have pairs of kinds as keys, such as ('H', 'O') or (0, 1); got {pair!r}"
            )
        if len(labels) and not all(isinstance(kind, wanted) for kind in pair):
            said = "labels" if wanted is str else "numbers"
            raise TypeError(f"{name} has the key {pair!r}, but kinds are {said} such as {labels[0].item()!r}")
        value = _as_length(length, f"{name}[{pair!r}]")
        if given.setdefault(pair[::-1], value) != value:
            raise ValueError(
                f"{name} has {given[pair[::-1]]:g} for {pair[::-1]!r} and {value:g} for {pair!r}; give one"
            )
        given[pair] = value
        first, second = (places.get(kind, -1) for kind in pair)
        if first >= 0 and second >= 0:
            table[first, second] = table[second, first] = value
    return table


def _from_matrix(cutoffs: Any, labels: npt.NDArray[Any], name: str) -> Points:
    table = as_float_array(cutoffs, name).astype(np.float64)
    if table.ndim != 2 or table.shape[0] != table.shape[1]:
        raise ValueError(
            f"{name} must be a square matrix indexed by kind, or a dict such as {{('H', 'O'): 1.2}}; got "
            f"shape {table.shape}"
        )
    if len(labels) and labels.dtype.kind == "U":
        raise TypeError(f"{name} is a matrix, so kinds must be whole numbers; a dict has labels as keys")
    for row, column in np.argwhere(~(table >= 0.0) | (table != table.T))[:1].tolist():
        _as_length(table[row, column], f"{name}[{row}, {column}]")
        raise ValueError(
            f"{name}[{row}, {column}] = {table[row, column]:g}, but {name}[{column}, {row}] = "
            f"{table[column, row]:g}; give a symmetric matrix"
        )
    for kind in labels[(labels < 0) | (labels >= len(table))][:1].tolist():
        raise ValueError(f"kinds hold {kind}, but {name} has rows for 0 to {len(table) - 1}")
    return np.ascontiguousarray(table[np.ix_(labels, labels)])


def _as_length(value: Any, name: str) -> float:
    array = as_float_array(value, name)
    if array.ndim:
        raise ValueError(f"{name} must be one number; got shape {array.shape}")
    if not array >= 0.0:
        raise ValueError(f"{name} = {array:g} is no distance; give a number that is not negative")
    return float(array)
