"""Neighbour search of points: `neighbors` within a distance, and the `nearest` k."""

import math
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from broadphase.api import on_its_device
from broadphase.errors import TOO_MANY_NEAR, PairLimitExceeded, with_hints
from broadphase.indexes.results import Nearest, in_axes
from broadphase.inputs import Lengths, Numbers, RowsLike
from broadphase.inputs.arrays import NUMBERS, as_float_array, has_extent, rounded, settled
from broadphase.inputs.environments import as_env, in_rows
from broadphase.inputs.numeric import on_gpu, thread_count
from broadphase.inputs.points import (
    GivenPoints,
    PairCutoffs,
    PointQuery,
    Points,
    RadiiOfBoth,
    as_cutoffs,
    as_distance,
    as_query,
    as_radii,
    as_reach,
    settled_points,
    settled_reach,
)
from broadphase.inputs.search import as_excluded
from broadphase.kernels.points.lattice import find_offsets
from broadphase.methods.task import NO_LIMIT, pair_limit
from broadphase.points.all_images import Crystal, as_crystal, find_all_images, find_nearest_of_all
from broadphase.points.few import find_few, find_few_images, find_nearest_few
from broadphase.points.fixed_radius import (
    Reach,
    count_near,
    find_near,
    find_near_mixed,
    one_reach,
)
from broadphase.points.geometry_index import find_nearest_geometries
from broadphase.points.lattice import Kept, count_near_images, find_near_images, find_nearest_images
from broadphase.points.nearest import (
    Counted,
    Places,
    as_counted,
    as_places,
    find_nearest_of_points,
    make_tree,
    nearest_with,
)
from broadphase.points.neighbor_lists import (
    Neighbors,
    PointIds,
    lesser_first,
    order_of,
    rows_among,
)
from broadphase.points.several import Part, Several, split_by_world
from broadphase.runtime.memory import result_array
from broadphase.runtime.threads import run_all, shares

_FEW = 1_000
_OF_SCIPY = {
    "boxsize": "the lengths of a periodic world are period=",
    "workers": "the most threads are threads=",
    "radius": "the distance is r=",
    "cutoff": "the distance is r=",
    "r_max": "the largest distance is r=",
    "distance_upper_bound": "the largest distance is r=",
    "num_neighbors": "the k nearest are found by nearest(points, k)",
    "exclude_ii": "without other= no point is its own neighbour; with other= it is exclude_self=",
    "full_list": "each pair in both directions is half=False",
    "max_distance": "the largest distance is r=",
    "cell": "lengths or lattice vectors are period=",
    "box": "lengths or lattice vectors are period=",
    "bins": "the distances are r=",
    "sqr_dists": "distances are not squared: square those of the result",
    "mask": "leave out the points that do not count: nearest(points, k, other=others[~mask])",
}


@with_hints(**_OF_SCIPY, k="the k nearest are found by nearest(points, k)")
def neighbors(
    points: RowsLike,
    r: Any = None,
    *,
    other: RowsLike | None = None,
    period: Lengths | None = None,
    env: Numbers | None = None,
    r_min: float = 0.0,
    exclude_self: bool = False,
    sort: bool = True,
    threads: int | None = None,
    max_pairs: int | None = None,
    offsets: bool = False,
    half: bool = True,
    exclude: Any = None,
    images: str = "nearest",
    ids: Any = None,
    cutoffs: Any = None,
    kinds: Any = None,
    other_radii: Any = None,
) -> Neighbors:
    """All pairs of points within a distance ``r`` of each other, with their distances.

    Parameters
    ----------
    points : array_like
        ``(n, 2)`` or ``(n, 3)``, finite; with ``other=`` also one point, ``(2,)`` or ``(3,)``.  float32 is
        computed in float32, or in float64 where there is a period; everything else in float64.  Tables and
        tensors as for `broadphase.pairs`.
    r : float or array_like
        The distance.  Or a radius for each point: two points are near if their distance is at most the sum of
        their radii, as circles touch.  With ``other=`` the others then have radius 0, unless
        ``other_radii=`` is given, or ``r`` is a tuple of two: the radii of the points and of the others.
    other : array_like, optional
        Find the rows of these near the points, instead of points near each other.
    period : sequence of float or None, optional
        The world's period on each axis, None or inf for axes without one.  Coordinates outside of 0 to the
        period are wrapped as by `numpy.mod`.  Or a matrix of shape ``(dim, dim)``, whose rows are lattice
        vectors that need not be at right angles; a row may be None, as for a slab: the world has no period
        along it.  The distance of two points is that of their nearest images, and each pair is found once,
        however large ``r`` is.
        ``(worlds, dim)`` lengths or ``(worlds, dim, dim)`` vectors: one for each environment, by its number;
        -1 has none.
        Positive numbers of shape ``(dim, dim)`` may be either beside environments, and are refused.
    env : array_like of int, optional
        The environment of each point: only points of the same environment meet, and those of -1, which is in
        every environment, meet all.  With ``other=`` a pair of arrays.  Arrays ``(worlds, n, dim)``, and
        ``(worlds, m, dim)`` of others, say the same without it; rows in arguments and results are then those
        of ``points.reshape(-1, dim)``.
    r_min : float
        Pairs that are nearer than this do not count; at exactly ``r_min`` they do.
    exclude_self : bool
        With ``other=``, whether row ``i`` of the points and row ``i`` of the others are not a pair, as it is
        without ``other=``.
    sort : bool
        Sorted by ``i``, then ``j``.  With ``False`` the order is not defined.
    threads : int, optional
        The most threads to use; by default all cores.  The result is the same.
    max_pairs : int, optional
        Raise an error rather than return more pairs; those nearer than ``r_min`` count here too.
    offsets : bool
        Also return for each pair the offset from ``i`` to the nearest image of ``j``.
    half : bool
        Each pair once, ``i < j``.  With ``False`` it is there in both directions, as ``(i, j)`` and
        ``(j, i)``, always sorted.
    exclude : array_like of int, shape (k, 2), optional
        Pairs of rows that do not count, in any order, such as atoms with a bond; with ``other=`` a row of the
        points and one of the others.
    images : {"nearest", "all"}
        With ``"all"`` each image of a point within ``r`` is a neighbour of its own, also those of the point
        itself, in cells of any size, as crystals need it; ``shift`` of the result says by how many periods or
        lattice vectors.  Distances are then computed in float64.  For one ``r``; with ``other=`` they are
        images of the others.
    ids : array_like of int, shape (n,), optional
        A number for each point, no two alike, for points that come and go; with ``other=`` a pair of arrays.
        The pairs are rows all the same, and ``rows_in`` and ``changes`` of the result go by ids.
    cutoffs : dict or array_like of float, shape (k, k), optional
        In place of ``r`` a distance for each pair of kinds: a dict such as ``{("H", "O"): 1.2}``, in which
        the order of the two does not matter and pairs that it does not name are no neighbours, or a
        symmetric matrix indexed by kind.  The search goes as far as the largest.
    kinds : array_like of int or str, shape (n,)
        The kind of each point, for ``cutoffs``; with ``other=`` a pair of arrays.
    other_radii : float or array_like, shape (m,), optional
        The radii of the others; ``r`` then holds those of the points.

    Returns
    -------
    Neighbors
        Arrays ``i``, ``j`` and ``distance``; ``csr()``, ``edge_index()``, ``to_scipy()``, ``to_networkx()``;
        ``sum()`` and ``scatter()`` add up over the pairs of each point.
        Points on a graphics card are searched there: `broadphase.gpu.neighbors` says what is returned.

    Raises
    ------
    TypeError
        A value is not a number, or ``env`` or ``exclude`` hold values that are not whole numbers.
    ValueError
        A wrong shape; coordinates that are not finite; ``r`` or ``r_min`` is NaN or negative; a period that
        is not positive; an ``env`` of the wrong length; a row to exclude that there is not; both ``r`` and
        ``cutoffs``.  Argument, row and value are named.
    PairLimitExceeded
        There are more than ``max_pairs`` pairs.

    Notes
    -----
    A pair counts if its ``distance`` is at most ``r``, both as numbers of the points' dtype: this is decided
    by IEEE arithmetic, whatever the order of the points and the number of threads.  ``distance`` is
    ``sqrt(dx * dx + dy * dy (+ dz * dz))`` with every step rounded, added from left to right, where ``dx`` is
    the difference of the coordinates or ``period - |dx|`` if that is less.  Exponents count as unlimited, so
    no step overflows or underflows.  The sum of two radii is rounded too.

    With lattice vectors, coordinates are first rounded to about 2**-50 of the cell on each axis, so that a
    distance is the same from both ends.

    With a period, all of this is done in float64, for float32 points too: wrapped in float32, a point near
    the periodic boundary would lose its last digits.  ``r`` and radii are rounded to the points' dtype first;
    distances and offsets are rounded at the end, after it is decided which pairs count.  For float32 points
    this takes up to two and a half times as long in `neighbors` (`nearest` is as fast), and twice the memory.

    Cells are as wide as the largest ``r``, or as two of the largest radii.  Where radii differ much, boxes
    around the points are searched instead.

    Examples
    --------
    >>> import broadphase as bp
    >>> near = bp.neighbors([[1.0, 1.0], [9.0, 1.0], [4.0, 5.0]], 5.0, period=(10, 10), offsets=True)
    >>> near.i, near.j, near.distance
    (array([0, 0], dtype=int32), array([1, 2], dtype=int32), array([2., 5.]))
    >>> near.offset
    array([[-2.,  0.],
           [ 3.,  4.]])
    >>> water = [[0.0, 0.0], [0.96, 0.0], [-0.24, 0.93]]
    >>> bonds = bp.neighbors(water, cutoffs={("O", "H"): 1.2}, kinds=["O", "H", "H"])
    >>> bonds.edge_index()
    array([[0, 0],
           [1, 2]])
    """
    if on_gpu(points):
        left_out = {"period": period, "r_min": r_min, "exclude_self": exclude_self, "offsets": offsets}
        left_out |= {"ids": ids, "exclude": exclude, "half": not half, "images": images != "nearest"}
        left_out |= {"cutoffs": cutoffs, "kinds": kinds, "other_radii": other_radii}
        search_there = on_its_device("neighbors", **left_out)
        there: Neighbors = search_there(points, r, other=other, env=env, sort=sort, max_pairs=max_pairs)
        return there
    parts, limit = thread_count(threads), pair_limit(max_pairs)
    if r is None or cutoffs is not None or kinds is not None:
        _check_reach(r, cutoffs, kinds, other_radii)
    if other_radii is not None and other is None:
        raise ValueError("other_radii are those of other=; without it r holds the radii of all points")
    r = 0.0 if r is None else settled_reach(r, other_radii)
    given, excluded = settled_points(points, other, period, env), settled(exclude, "exclude")
    r = radii_in_rows(r, given)
    numbers = None if ids is None else as_ids(ids, given)
    by_kind = None if cutoffs is None else _cutoffs_of(cutoffs, kinds, given)
    if by_kind is not None:
        r = by_kind.largest
    flags = bool(exclude_self), bool(sort), offsets
    # Its own `__new__` takes 0.2 us longer, a thirtieth of a search of five points.
    how = tuple.__new__(How, (r_min, *flags, parts, limit, bool(half), excluded, by_kind))
    found = _neighbors_of(given, r, how, images)
    if numbers is not None:
        found.ids = numbers
    return found


def _check_reach(r: Any, cutoffs: Any, kinds: Any, other_radii: Any) -> None:
    """Refuse what does not say, or says twice, how near points must be."""
    if cutoffs is None and kinds is None:
        raise TypeError("neighbors() needs a distance r, or cutoffs= and kinds=")
    if cutoffs is None or kinds is None:
        raise ValueError("cutoffs and kinds belong together: give a distance by pair of kinds, and the kinds")
    if r is not None or other_radii is not None:
        said = "r" if other_radii is None else "other_radii"
        raise ValueError(f"cutoffs say how near points of each kind must be; leave out {said}")


def _cutoffs_of(cutoffs: Any, kinds: Any, given: GivenPoints) -> PairCutoffs:
    """The cutoffs of the points, checked."""
    sides, all_kinds, names = [given.points], [kinds], ["kinds"]
    if given.other is not None:
        if not isinstance(kinds, (tuple, list)) or len(kinds) != 2:
            raise ValueError("kinds must be a pair with other=: one array for the points, one for the others")
        sides, all_kinds, names = [given.points, given.other], list(kinds), ["kinds[0]", "kinds[1]"]
    rows = [
        (in_rows(settled(values, name), points), math.prod(points.shape[:-1]) if points.size else 0, name)
        for values, points, name in zip(all_kinds, sides, names, strict=True)
    ]
    return as_cutoffs(cutoffs, rows)


def as_ids(ids: Any, given: GivenPoints) -> tuple[PointIds, PointIds]:
    """The ids of the points and of those searched among, checked."""
    if given.other is None:
        point_ids = _ids_of(ids, given.points, "ids")
        return point_ids, point_ids
    if not isinstance(ids, (tuple, list)) or len(ids) != 2:
        raise ValueError("ids must be a pair with other=: one array for the points, one for the others")
    return _ids_of(ids[0], given.points, "ids[0]"), _ids_of(ids[1], given.other, "ids[1]")


def _ids_of(ids: Any, points: Points, name: str) -> PointIds:
    n = points.size // points.shape[-1] if points.size else 0
    numbers = in_rows(settled(ids, name), points)
    if np.ndim(numbers) != 1:
        raise ValueError(
            f"{name} must hold one number for each of the {n} points; got shape {np.shape(numbers)}"
        )
    found = as_env(numbers, n, name)
    assert found is not None
    order = np.argsort(found, kind="stable")
    again = np.flatnonzero(found[order][1:] == found[order][:-1])
    if len(again):
        first, second = order[again[0]], order[again[0] + 1]
        raise ValueError(
            f"{name}[{second}] = {found[second]} is that of row {first}; no two points may have one id"
        )
    return found


def _neighbors_of(given: GivenPoints, r: Any, how: "How", images: str) -> Neighbors:
    """What `neighbors` returns, without ids."""
    among, r_min = given.other is None, how.r_min
    plain = how.exclude is how.cutoffs is None and type(r_min) is float
    # Those nearer than r_min count against the limit.
    if plain and images == "nearest" and (r_min == 0.0 or how.limit == NO_LIMIT):
        few = find_few(given, r, r_min, how.half, how.exclude_self, how.limit)
        if few is not None:
            i, j, distance = few
            ways = partial(_ways_of_few, given, i, j)
            return Neighbors(
                *(i, j, distance, _shape(given)),
                offset=ways() if how.offsets else None,
                find_offsets=ways,
                among=among,
                half=among and how.half,
                parts=how.parts,
            )
    if images == "nearest":
        return near_in(given, r, how)
    if images != "all":
        raise ValueError(f"images must be 'nearest' or 'all'; got {images!r}")
    several = split_by_world(given)
    if several is None:
        return _near_all(given, r, how)
    as_reach(r, several.query)
    return near_of_several(several, r, how, lambda part, *rest: _near_all(part.given, *rest))


def _shape(given: GivenPoints) -> tuple[int, int]:
    """How many points there are, and how many are searched among."""
    return len(given.points), len(given.points if given.other is None else given.other)


def radii_in_rows(r: Any, given: GivenPoints) -> Any:
    """Radii in the shape ``(worlds, n)`` of the points as one for each row."""
    if given.points.ndim != 3:
        return r
    if isinstance(r, tuple) and given.other is not None:
        both = in_rows(r[0], given.points), in_rows(r[1], given.other)
        return RadiiOfBoth(*both) if isinstance(r, RadiiOfBoth) else both
    return in_rows(r, given.points)


class How(NamedTuple):
    """The arguments of `neighbors` that do not say which points."""

    r_min: Any
    exclude_self: bool
    sort: bool
    offsets: bool
    parts: int
    limit: int
    half: bool = True
    exclude: Any = None
    cutoffs: PairCutoffs | None = None
    """Of which the largest is the distance of the search."""


def _near_all(given: GivenPoints, r: Any, how: How) -> Neighbors:
    """What `neighbors` returns with all images, by one search."""
    among = given.other is None
    plain = type(how.r_min) is float and how.r_min == 0.0 and how.exclude is how.cutoffs is None
    if plain and (among or not how.exclude_self):
        limit = how.limit if how.half or not among else how.limit // 2
        few = find_few_images(given, r, limit)
        if few is not None:
            found = Neighbors(
                *(*few[:3], _shape(given)),
                offset=few[3] if how.offsets else None,
                shift=few[4],
                among=among,
                parts=how.parts,
            )
            return found if how.half or not among else found.in_both_directions()
    crystal = as_crystal(given)
    reach = as_reach(r, crystal.query)

    def find(_: float, most: int) -> Columns:
        few = find_few_images(given, r, most)
        if few is not None:
            return few
        limit = min(2 * most + _FEW, NO_LIMIT)  # a little farther, so that more than the limit may be found
        excluded = 0 if how.exclude is None else len(how.exclude)
        return find_all_images(crystal, reach, False, how.parts, limit, excluded)

    return _filtered(crystal.query, how, find, None)


Columns = tuple[Any, ...]
"""Pairs of points: ``i, j, distance, offset, shift``; the last two may be None."""


def _filtered(
    query: PointQuery,
    how: How,
    find: Callable[[float, int], Columns],
    ways: Callable[..., Points] | None,
    in_order: bool = True,
) -> Neighbors:
    """What `neighbors` returns of the pairs that a search finds, given the least distance and the most pairs.

    ``ways``, called as `offsets_of`, finds the offsets of pairs where the search does not.
    """
    least, among = as_distance(how.r_min, query.kind, "r_min"), query.others is None
    shape = len(query.points), len(query.found)
    excluded = None if how.exclude is None else as_excluded(how.exclude, *shape, among)
    alone = how.exclude_self and not among
    most = limit = how.limit // 2 if among and not how.half else how.limit
    if alone:
        most = min(most + min(shape), NO_LIMIT)
    if excluded is not None:
        most = min(most + excluded.shape[1], NO_LIMIT)
    if how.cutoffs is not None:
        most = NO_LIMIT  # most that are found may be farther away than theirs
    try:
        i, j, distance, offset, shift = columns = find(least, most)
    except PairLimitExceeded:
        raise PairLimitExceeded(how.limit, TOO_MANY_NEAR) from None  # the caller's limit
    keep = None
    if least > 0.0:
        keep = rounded(distance, query.kind) >= least
    if alone:
        other = i != j if shift is None else (i != j) | shift.any(axis=1)
        keep = other if keep is None else keep & other
    if excluded is not None:
        free = rows_among(i, j, None if in_order else order_of(i, j), excluded[0], excluded[1], how.parts) < 0
        keep = free if keep is None else keep & free
    if how.cutoffs is not None:
        within = rounded(distance, query.kind) <= how.cutoffs.rounded(query.kind).between(i, j)
        keep = within if keep is None else keep & within
    if keep is not None:
        i, j, distance, offset, shift = (None if one is None else one[keep] for one in columns)
    if len(i) > limit:
        raise PairLimitExceeded(how.limit, TOO_MANY_NEAR)
    find_offsets = None if ways is None else partial(ways, query, how.parts, i, j)
    if find_offsets is not None and how.offsets and offset is None:
        offset = find_offsets()
    found = Neighbors(
        i,
        j,
        rounded(distance, query.kind),
        shape,
        offset=rounded(offset, query.kind) if how.offsets else None,
        shift=shift,
        find_offsets=find_offsets,
        among=among,
        in_order=in_order,
        parts=how.parts,
    )
    return found if how.half or not among else found.in_both_directions()


Search = Callable[[Part, Any, How], Neighbors]
"""One of several searches, for a distance or radii."""


def near_in(given: GivenPoints, r: Any, how: How) -> Neighbors:
    """What `neighbors` returns, by one search or by several."""
    several = split_by_world(given)
    return near_of(as_query(*given), r, how) if several is None else near_of_several(several, r, how)


def near_of_several(several: Several, r: Any, how: How, search: Search | None = None) -> Neighbors:
    """What several searches find together; each is `near_of`, or what is given."""
    query, among = several.query, several.query.others is None
    reach = reach_of(r, query)

    def find(_: float, left: int) -> Columns:
        plain = how._replace(r_min=0.0, exclude_self=False, half=True, exclude=None, cutoffs=None)
        if search is not None and how.exclude is not None:
            left = NO_LIMIT  # an excluded pair may have many images
        columns: list[list[Any]] = []
        for part in several.parts:
            radii: Any = reach.r
            if len(reach.radii):
                radii = reach.radii[part.rows]
                radii = radii if part.given.other is None else (radii, reach.other_radii[part.others])
            found = (search or _near_of_part)(part, radii, plain._replace(limit=left))
            rows, others, offset = part.rows[found.i], part.others[found.j], found.offset
            if among:
                rows, others = lesser_first(rows, others, offset, found.shift)
            columns.append([rows, others, found.distance, offset, found.shift])
            left -= len(rows)
        joined: list[Any] = [
            None if column[0] is None else np.concatenate(column) for column in zip(*columns, strict=True)
        ]
        i, j, distance = joined[:3]
        order = order_of(i, j)
        order = order[within_rounded(query, reach, i[order], j[order], distance[order])]
        rest = (None if column is None else column[order] for column in joined[2:])
        return i[order].astype(np.int32), j[order].astype(np.int32), *rest

    ways = partial(_offsets_of_several, several, r, how) if search is None else None
    return _filtered(query, how, find, ways)


def _offsets_of_several(several: Several, r: Any, how: How, *_: Any) -> Points:
    """The offsets of the pairs that `near_of_several` found, by another search."""
    offset: Points = near_of_several(several, r, how._replace(offsets=True, half=True)).offset
    return offset


def _near_of_part(part: Part, r: Any, how: How) -> Neighbors:
    query, kept = part.query()
    return near_of(query, r, how, kept)


def near_of(query: PointQuery, r: Any, how: How, kept: Kept | None = None) -> Neighbors:
    """What `neighbors` returns; through what is kept, where there is one distance for all."""
    find = partial(_found, query, reach_of(r, query), how, kept)
    return _filtered(query, how, find, offsets_of, how.sort)


def _found(query: PointQuery, reach: Reach, how: How, kept: Kept | None, _: float, most: int) -> Columns:
    if reach.given is not None:
        most = min(2 * most + _FEW, NO_LIMIT)  # some of these are left out again
    if query.lattice is not None:
        columns = find_near_images(query, reach, how.sort, how.parts, most, kept)
    elif kept is None or len(reach.other_radii):
        columns = find_near_mixed(query, reach, how.sort, how.parts, most)
    else:
        columns = find_near(query, reach, how.sort, how.parts, most, kept.cells)
    which = within_rounded(query, reach, *columns)
    return *(column[which] for column in columns), None, None


@with_hints(**_OF_SCIPY)
def count_neighbors(
    points: RowsLike,
    r: Any,
    *,
    other: RowsLike | None = None,
    period: Lengths | None = None,
    env: Numbers | None = None,
    threads: int | None = None,
    exclude: Any = None,
    images: str = "nearest",
) -> Any:
    """How many pairs of points are within a distance, for one distance or several; pairs are not stored.

    As `scipy.spatial.cKDTree.count_neighbors`, but each pair of points counts once, and no point counts with
    itself.  From such counts one gets the radial distribution function.  Groups of points that are near as a
    whole are counted at once, so crowds and large distances take little time.

    Parameters
    ----------
    points, other, period, env, threads, exclude, images
        As for `neighbors`.  With ``exclude=`` or ``images="all"`` the pairs of the largest distance are found
        first, and take the memory that those of `neighbors` take.
    r : float or array_like, shape (k,)
        The distance, or several in any order.

    Returns
    -------
    int or numpy.ndarray
        ``(k,)`` int64: how many pairs `neighbors` finds for each distance.

    Raises
    ------
    TypeError, ValueError
        As for `neighbors`.

    Examples
    --------
    >>> import broadphase as bp
    >>> bp.count_neighbors([[0.0, 0.0], [3.0, 4.0], [0.0, 1.0]], [1.0, 4.5, 5.0])
    array([1, 2, 3])
    """
    parts, lengths = thread_count(threads), as_float_array(settled(r, "r", NUMBERS), "r")
    if lengths.ndim > 1:
        raise ValueError(f"r must be a number or a row of numbers; got shape {lengths.shape}")
    given, excluded = settled_points(points, other, period, env), settled(exclude, "exclude")
    if excluded is not None or images != "nearest":
        limits = [as_distance(one, np.dtype(np.float64), name) for one, name in _named(lengths)]
        how = How(0.0, False, True, False, parts, NO_LIMIT, True, excluded)
        pairs = _neighbors_of(given, max(limits, default=0.0), how, images)
        return _counts_within(pairs.distance, lengths)
    values = lengths.ravel().tolist()
    sound = all(one >= 0.0 for one in values)
    few = find_few(given, max(values, default=0.0), 0.0, True, False, NO_LIMIT) if sound else None
    if few is not None:
        return _counts_within(few[2], lengths)
    several, counts = split_by_world(given), np.zeros(lengths.size, np.int64)
    searches = [as_query(*given)] if several is None else [as_query(*part.given) for part in several.parts]
    kind = searches[0].kind if several is None else several.query.kind
    for query in searches:
        count = count_near if query.lattice is None else count_near_images
        query = query._replace(kind=kind)
        counts += count(query, [as_reach(one, query, name) for one, name in _named(lengths)], parts)
    return counts.item() if lengths.ndim == 0 else counts


def _named(lengths: Points) -> list[tuple[Any, str]]:
    return [(lengths, "r")] if lengths.ndim == 0 else [(one, f"r[{k}]") for k, one in enumerate(lengths)]


def _counts_within(distances: Points, lengths: Points) -> Any:
    """How many of the distances are at most each of the lengths, as numbers of the distances' type."""
    lengths = rounded(lengths, distances.dtype)
    if lengths.ndim == 0:
        return int(np.count_nonzero(distances <= lengths))
    return np.sort(distances).searchsorted(lengths, "right").astype(np.int64, copy=False)


@with_hints("the points among which is searched are other=: nearest(points, k, other=others)", **_OF_SCIPY)
def nearest(
    points: RowsLike,
    k: int | Sequence[int],
    *,
    other: RowsLike | None = None,
    r: float = np.inf,
    period: Lengths | None = None,
    env: Numbers | None = None,
    exclude_self: bool = False,
    threads: int | None = None,
    r_min: float = 0.0,
    exclude: Any = None,
    images: str = "nearest",
) -> Nearest:
    """Find the ``k`` nearest points of each point.

    Parameters
    ----------
    points, period, env, threads
        As for `neighbors`.  Geometries of shapely of any kind (GeoDataFrame, GeoSeries, arrays and lists)
        are taken too, without ``period`` and ``env``: distances are those of GEOS.
    k : int, or list of int
        How many.  A list selects some places: ``[1, 3]`` for the first and the third.
    other : array_like, optional
        The points to search among.  By default they are the points themselves, and no point is its own
        neighbour; with ``other=points`` each point finds itself too.
    r : float
        The largest distance.
    exclude_self : bool
        With ``other=``, whether row ``i`` of the others does not count for row ``i`` of the points.
    r_min, exclude, images
        As for `neighbors`: what is nearer than ``r_min``, pairs of rows that do not count, and whether each
        image of a point counts by itself, those of the point too.

    Returns
    -------
    Nearest
        ``ids`` and ``distances``, ``(n, k)``, of arrays of worlds ``(worlds, n, k)``, of one point ``(k,)``.
        They are sorted by distance, then by number; -1 and inf where there are fewer.  With ``images="all"``
        there is ``shift``, too, and images of one point at one distance are sorted by it.  Distances are
        those of `neighbors`, number for number.  With a period, float32 points are sorted by their distances
        in float64, before these are rounded.

    Raises
    ------
    TypeError, ValueError
        As for `neighbors`; also if ``k`` is not a positive int, or a list of them.
    MemoryError
        The results of so many are more than the memory that is free.

    Examples
    --------
    >>> import broadphase as bp
    >>> near = bp.nearest([[0.0, 0.0], [3.0, 4.0], [0.0, 1.0]], 2, r=4.5)
    >>> near.ids
    array([[ 2, -1],
           [ 2, -1],
           [ 0,  1]], dtype=int32)
    """
    parts, places, r = thread_count(threads), as_places(k), settled_reach(r)
    plain = images == "nearest" and exclude is None and type(r_min) is float and r_min == 0.0
    if has_extent(points) or (other is not None and has_extent(other)):
        if period is not None or env is not None or exclude_self or not plain:
            raise ValueError(
                "period=, env=, exclude_self=, r_min=, exclude= and images= are for points; leave them out "
                "with geometries"
            )
        return Nearest(*find_nearest_geometries(points, other, places, r, parts))
    given, excluded = settled_points(points, other, period, env), settled(exclude, "exclude")
    if plain and (other is None or not exclude_self):
        few = find_nearest_few(given, places.most, r)
        if few is not None:
            return Nearest(*places.of(*few))
    several, crystal = split_by_world(given), None
    if several is not None:
        query = several.query
    elif images == "all":
        crystal = as_crystal(given)
        query = crystal.query
    else:
        query = as_query(*given)
    counted = as_counted(query, r_min, excluded, bool(exclude_self), images)
    if several is None:
        found = nearest_of(query, places, r, parts, counted, crystal=crystal)
    else:
        found = nearest_of_several(several, places, r, parts, counted)
    return in_axes(found, None if given.points.ndim < 3 else given.points.shape[:2])


def nearest_of_several(several: Several, places: Places, r: Any, parts: int, counted: Counted) -> Nearest:
    """The nearest of all that several searches find."""
    query, images = several.query, counted.images
    limit, most = as_reach(r, query), places.capped(len(query.points), len(query.found), images)
    missing = np.int32(np.iinfo(np.int32).max)
    ids = np.full((len(query.points), most), missing)
    distances, shift = np.full(ids.shape, np.inf), np.zeros((*ids.shape, query.points.shape[1]), np.int32)
    for part in several.both_ways():
        crystal = as_crystal(part.given) if images else None
        part_query, kept = part.query() if crystal is None else (crystal.query, None)
        part_query = part_query._replace(kind=distances.dtype)  # sorted here, so rounded afterwards
        which = counted._replace(rows=part.rows, others=part.others)
        answer = nearest_of(part_query, as_places(most), limit, parts, which, kept, crystal)
        found = np.append(part.others, missing)[answer.ids]  # -1 is the last
        step = np.zeros((*found.shape, shift.shape[2]), np.int32) if answer.shift is None else answer.shift
        answers = [
            np.concatenate(both, axis=1)
            for both in (
                (ids[part.rows], found),
                (distances[part.rows], answer.distances),
                (shift[part.rows], step),
            )
        ]
        order = np.lexsort((*np.moveaxis(answers[2], 2, 0)[::-1], *answers[:2]), axis=1)[:, :most]
        ids[part.rows], distances[part.rows] = (np.take_along_axis(one, order, axis=1) for one in answers[:2])
        shift[part.rows] = np.take_along_axis(answers[2], order[:, :, None], axis=1)
    ids[ids == missing] = -1
    return _as_asked(query, places, nearest_with(ids, distances, shift if images else None))


def nearest_of(
    query: PointQuery,
    places: Places,
    r: Any,
    parts: int,
    counted: Counted,
    kept: Kept | None = None,
    crystal: Crystal | None = None,
) -> Nearest:
    """What `nearest` returns; through what is kept."""
    limit = as_reach(r, query)
    most = places.capped(len(query.points), len(query.found), crystal is not None)
    if crystal is not None:
        found = find_nearest_of_all(crystal._replace(query=query), most, limit, parts, counted)
    elif query.lattice is not None:
        found = find_nearest_images(query, most, limit, parts, counted, kept)
    else:
        if kept is not None and kept.tree is None and len(query.found):
            kept.tree = make_tree(query, parts)
        tree = None if kept is None else kept.tree
        found = find_nearest_of_points(query, most, limit, parts, counted, tree)
    return _as_asked(query, places, found)


def _as_asked(query: PointQuery, places: Places, found: Nearest) -> Nearest:
    """The places that are wanted."""
    shift = [] if found.shift is None else [found.shift]
    columns = places.of(found.ids, rounded(found.distances, query.kind), *shift)
    if query.one:
        columns = tuple(column[0] for column in columns)
    return nearest_with(*columns, *[None][len(shift) :])


def reach_of(r: Any, query: PointQuery) -> Reach:
    """The distance or radii up to which points are near, checked."""
    if type(r) is float:
        return one_reach(as_reach(r, query), query.points.dtype)
    n, m, kind = len(query.points), len(query.found), query.kind
    if query.others is not None and isinstance(r, tuple) and len(r) == 2:
        names = ("r", "other_radii") if isinstance(r, RadiiOfBoth) else ("r[0]", "r[1]")
        radii, other_radii = as_radii(r[0], n, kind, names[0]), as_radii(r[1], m, kind, names[1])
    elif isinstance(r, tuple) and len(r) == 2 and (np.ndim(r[0]) or np.ndim(r[1])):
        raise ValueError(
            "r is a pair, the radii of the points and those of others, but there is no other=; give one "
            "radius for each of the points, as an array"
        )
    elif np.ndim(r) == 0:
        return one_reach(as_reach(r, query), query.points.dtype)
    else:
        radii = as_radii(r, n, kind, "r")
        other_radii = radii if query.others is None else np.zeros(m, kind)
    if n == 0 or m == 0:
        return one_reach(0.0, query.points.dtype)
    if query.points.dtype == kind:
        with np.errstate(over="ignore"):
            return Reach(float(radii.max() + other_radii.max()), radii, other_radii)
    # Searched a little farther; the sums as numbers of the points' type decide (`within_rounded`).
    farther = 1.0 + 4.0 * float(np.finfo(kind).eps)
    wide, other_wide = (
        side.astype(np.float64) * farther + float(np.finfo(kind).tiny) for side in (radii, other_radii)
    )
    return Reach(float(wide.max() + other_wide.max()), wide, other_wide, (radii, other_radii))


def within_rounded(query: PointQuery, reach: Reach, i: Any, j: Any, distance: Points) -> Any:
    """Which pairs are within the radii as these were given: a slice for all, or an array of bool."""
    if reach.given is None:
        return slice(None)
    radii, others = reach.given
    with np.errstate(over="ignore"):
        return rounded(distance, query.kind) <= radii[i] + others[j]


def _ways_of_few(given: GivenPoints, i: Any, j: Any) -> Points:
    query = as_query(*given._replace(env=None))
    if given.other is not None:
        return offsets_of(query, 1, i, j)
    offsets = offsets_of(query, 1, np.minimum(i, j), np.maximum(i, j))
    offsets[i > j] *= -1.0
    return offsets


def offsets_of(query: PointQuery, parts: int, i: Any, j: Any) -> Points:
    """From each ``i`` to the nearest image of its ``j``, in the type of the points as they came."""
    offsets: Points = result_array((len(i), query.points.shape[1]), query.points.dtype)
    around = query.period if query.lattice is None else query.lattice.around
    pairs = query.points, query.found, around, i, j
    spans = shares(len(i), parts, cost=2.0)
    run_all([partial(find_offsets, *pairs, *span, offsets) for span in spans], parts)
    return rounded(offsets, query.kind)
