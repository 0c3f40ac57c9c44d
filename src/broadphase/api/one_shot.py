"""Arrays in, arrays out: `pairs`, `join`, `count_pairs` and `explain`."""

from typing import TYPE_CHECKING, Any, Literal, TypedDict, Unpack, overload

import numpy as np

from broadphase import methods
from broadphase.api import on_its_device
from broadphase.errors import PairLimitExceeded, not_one_of, with_hints
from broadphase.inputs import Lengths, Numbers, RowsLike
from broadphase.inputs.arrays import BOXES, are_geometries, check_same_crs, labelled, settled
from broadphase.inputs.boxes import BoxArray, checked_boxes
from broadphase.inputs.numeric import on_gpu, thread_count
from broadphase.inputs.search import Space, join_filter, points_among, settled_join, settled_search
from broadphase.kernels.boxes.overlap import PairFilter
from broadphase.methods import choose
from broadphase.methods.in_space import find_in_space, join_of_few, pairs_of_few
from broadphase.methods.pair_order import one_array
from broadphase.methods.task import NO_LIMIT, Found, Task, pair_limit
from broadphase.runtime.arrays import joined, rows_at
from broadphase.runtime.memory import PairArray, borrowed_scratch
from broadphase.runtime.threads import cores

if TYPE_CHECKING:
    import pandas  # type: ignore[import-untyped]

    from broadphase.api.geometries import Predicate

Method = Literal[methods.Name, "auto", "box_tree"]
METHODS: tuple[Method, ...] = (*methods.NAMES, "auto")
"""The names of ``method=``; ``"box_tree"``, the name of the index, is ``"tree"`` too."""

_BY_ROW = {"category": "a set for each row is categories=", "mask": "a set for each row is masks="}
_TWO_SIDES = "two sets of boxes are join(a, b)"


@with_hints(
    _TWO_SIDES, **_BY_ROW, predicate="of shapely's geometries it is GeometryIndex(geometries).pairs()"
)
def pairs(
    boxes: RowsLike,
    *,
    method: Method = "auto",
    touching: bool = True,
    sort: bool = True,
    static: Numbers | None = None,
    categories: Numbers | None = None,
    masks: Numbers | None = None,
    period: Lengths | None = None,
    env: Numbers | None = None,
    threads: int | None = None,
    max_pairs: int | None = None,
) -> PairArray:
    """Find every pair of boxes that overlap, as a NumPy array.

    Parameters
    ----------
    boxes : array_like
        ``(n, 4)`` rows ``[min_x, min_y, max_x, max_y]`` or ``(n, 6)`` rows
        ``[min_x, min_y, min_z, max_x, max_y, max_z]``.  float32 is computed in float32, everything else
        in float64.  Infinite edges are legal.  Tables (pandas, polars, pyarrow, structured arrays) are read
        by their column names: ``min_x, min_y, max_x, max_y``, or ``x, y, width, height``, or the other names
        that `broadphase.files.read_boxes` knows.  Shapes (GeoDataFrame, GeoSeries, arrays and lists of
        shapely) are read by their bounds in x and y; so are lists of rectangles and sprites of pygame and
        arcade.  Arrays and tensors of other libraries are read through
        ``__array__`` or ``__dlpack__``; with ``__dlpack__`` alone, half precision (float16, bfloat16) becomes
        float32.  What lies on a graphics card is searched there (`broadphase.gpu`).
    method : str
        One of `METHODS`.  All find the same pairs; ``"auto"`` picks a fast one for these boxes, and `explain`
        says which one and why.
    touching : bool
        Whether boxes that share only an edge or a corner overlap.  ``colliderect`` of pygame does not count
        these: give ``touching=False`` to find the same pairs of rects.  A rect without width or height, which
        it lets collide with nothing, still overlaps what it lies within.
    sort : bool
        Sorted by ``i``, then by ``j``.  With ``False`` the order is not defined, which saves up to a third of
        the time; every row still has ``i < j``.
    static : array_like of bool, shape (n,), optional
        Boxes that never move: two static boxes are not paired.  As for all arguments with one value for each
        box, values are in the order of the rows; row labels, such as an index of pandas, are ignored.
    categories, masks : array_like of int, shape (n,), optional
        Sets of 32 bits.  A pair counts if ``categories[i] & masks[j]`` and ``categories[j] & masks[i]`` are
        both non-zero.  By default categories are 1 and masks are full.
    period : sequence of float or None, float, optional
        The period of the world on each axis, or None or inf for an axis that is not periodic.  A box may lie
        anywhere and cross the boundary; one that is as long as the world covers the axis and meets
        everything on it.  See the notes.
    env : array_like of int, shape (n,), optional
        The environment of each box: many worlds in one call, only boxes of the same environment meet.  -1 is
        in every environment: such boxes, like the ground, meet all boxes, each other too.  Boxes
        of shape ``(worlds, n, 4)`` or ``(worlds, n, 6)`` say the same without it; rows in arguments and
        results are then those of ``boxes.reshape(-1, 4)``.
    threads : int, optional
        The most threads to use; by default all cores, if that pays.  The result is the same.
    max_pairs : int, optional
        Raise an error rather than return more pairs than this.

    Returns
    -------
    numpy.ndarray
        ``(m, 2)`` int32, rows ``i < j`` of row numbers.

    Raises
    ------
    TypeError
        The boxes are not numbers (column and value are named), ``static`` is not bool, or ``threads`` or
        ``max_pairs`` is not an int.
    ValueError
        A wrong shape, NaN, null or ``min > max`` (argument, row and value are named), columns that are not
        found, or an unknown method.
    PairLimitExceeded
        There are more than ``max_pairs`` pairs; memory is never taken for many more than that.

    Notes
    -----
    With ``period=P`` on an axis, a box that begins in ``0 <= min < P`` is in the world.  Any other is first
    wrapped: both edges are computed as ``edge - n * P`` with ``n = floor(min / P)``, in the
    type of the boxes (as is P).  Two boxes in the world overlap if one of them, shifted by any number
    of periods, overlaps the other; this is decided without rounding.  Each pair counts once.  With
    ``touching=False`` a box covers an axis if it is longer than P, and not if it is exactly as long.
    Infinitely long boxes cover their axis.  A box at infinity, or one so many periods away that rounding
    loses its place, is refused.

    Examples
    --------
    >>> import broadphase as bp
    >>> boxes = [[0, 0, 2, 2], [1, 1, 3, 3], [3, 3, 4, 4]]
    >>> bp.pairs(boxes)
    array([[0, 1],
           [1, 2]], dtype=int32)
    >>> bp.pairs(boxes, touching=False)
    array([[0, 1]], dtype=int32)
    >>> bp.pairs(boxes, period=(4, 4))
    array([[0, 1],
           [0, 2],
           [1, 2]], dtype=int32)
    >>> bp.pairs(boxes, env=[7, 8, 8])
    array([[1, 2]], dtype=int32)
    """
    if on_gpu(boxes):
        search_there = on_its_device("pairs", method=method, period=period)
        how = {"static": static, "categories": categories, "masks": masks, "env": env}
        there: PairArray = search_there(boxes, touching=touching, sort=sort, **how, max_pairs=max_pairs)
        return there
    parts, limit, touching = thread_count(threads), pair_limit(max_pairs), bool(touching)
    given = settled_search(boxes, static, categories, masks, period, env)
    few = pairs_of_few(given, touching) if method == "auto" else None
    if few is not None:
        return _at_most(few, limit)
    array, rules, space = given.checked(parts)
    return stored_pairs(array, rules, method, touching, sort, parts, limit, space)


def _at_most(found: PairArray, limit: int) -> PairArray:
    if len(found) > limit:
        raise PairLimitExceeded(limit)
    return found


How = Literal["inner", "left"]


class _HowToJoin(TypedDict, total=False):
    """What both forms of `join` take, for type checkers."""

    method: Method
    touching: bool
    sort: bool
    period: Lengths | None
    env: tuple[Any, Any] | None
    threads: int | None
    max_pairs: int | None
    predicate: "Predicate | None"
    distance: Any
    how: How


@overload
def join(
    a: RowsLike, b: RowsLike, *, labels: Literal[False] = ..., **how: Unpack[_HowToJoin]
) -> PairArray: ...
@overload
def join(
    a: RowsLike, b: RowsLike, *, labels: Literal[True], **how: Unpack[_HowToJoin]
) -> "pandas.Series": ...
@with_hints()
def join(
    a: RowsLike,
    b: RowsLike,
    *,
    method: Method = "auto",
    touching: bool = True,
    sort: bool = True,
    period: Lengths | None = None,
    env: tuple[Any, Any] | None = None,
    threads: int | None = None,
    max_pairs: int | None = None,
    predicate: "Predicate | None" = None,
    distance: Any = None,
    how: How = "inner",
    labels: bool = False,
) -> "PairArray | pandas.Series":
    """Find every row of ``b`` that each row of ``a`` overlaps.

    Parameters
    ----------
    a, b : array_like
        Boxes as for `pairs`, both 2-D or both 3-D; if only one is float32, both are computed in float64.
        One may be points, ``(n, 2)`` or ``(n, 3)``: which boxes they lie in, edges included if ``touching``.
    method, touching, sort, period, threads, max_pairs
        As for `pairs`.
    env : tuple of array_like, optional
        The environments of the rows of ``a`` and of those of ``b``, as for `pairs`; one number counts for all
        rows of a side.
        Two arrays ``(worlds, n, 4)`` say the same without it, as for `pairs`.
    predicate : str, optional
        For geometries of shapely (GeoDataFrame, GeoSeries, arrays and lists): what must hold for them, and
        not only for their bounds.  ``"intersects"``, ``"within"`` (a lies in b), ``"contains"`` (b lies in
        a), ``"dwithin"`` (at most ``distance`` apart), or ``"covers"``, ``"covered_by"``,
        ``"contains_properly"``, ``"crosses"``, ``"overlaps"``, ``"touches"``: the functions of shapely with
        these names.  Missing and empty geometries are in no pair.  One side may be points ``(n, 2)``, or a
        `GeometryIndex`, whose geometries are prepared once.  For points and boxes given as numbers
        ``"within"`` and ``"contains"`` do not count edges, ``"covered_by"``, ``"covers"`` and
        ``"intersects"`` do.  ``period``, ``env`` and ``touching=False`` are there without ``predicate``.
    distance : float or array_like, optional
        For ``predicate="dwithin"``: the largest distance, one for all or one for each row of ``a``.
    how : str
        ``"inner"``, or ``"left"``: a row of ``a`` without any of ``b`` is there too, with -1 in its place, as
        in a left join of tables.
    labels : bool
        Return labels of the tables' indexes instead of row numbers; NaN for the -1 of a left join.

    Returns
    -------
    numpy.ndarray
        ``(m, 2)`` int32, rows ``[row of a, row of b]``.  With ``labels=True`` a `pandas.Series` instead,
        named as the index of ``b`` or ``index_right``: it holds labels of ``b``, and
        labels of ``a`` are its index, as in the table that ``a.sjoin(b)`` returns.  Rows of an argument
        without an index are numbered.

    Raises
    ------
    TypeError, ValueError, PairLimitExceeded
        As for `pairs`; also when the dimensions differ, or the coordinate systems (``.crs``) of two tables.
        With ``predicate`` also for what is no geometry, an unknown predicate, and a distance that is missing,
        NaN or negative; ``labels=True`` without any index.

    Notes
    -----
    With ``predicate``, the method finds the pairs whose bounds overlap, and shapely decides on them, on all
    threads.  A single test of two geometries cannot be interrupted.  For invalid geometries, such as a line
    of no length, the answer is whatever GEOS says.

    Examples
    --------
    >>> import broadphase as bp
    >>> shots = [[0, 0, 1, 1], [8, 8, 9, 9]]
    >>> ships = [[5, 5, 7, 7], [8, 8, 10, 10], [0, 0, 2, 2]]
    >>> bp.join(shots, ships)
    array([[0, 2],
           [1, 1]], dtype=int32)
    >>> bp.join(shots, ships, env=([0, 0], [0, 0, 1]))
    array([[1, 1]], dtype=int32)

    Points in boxes:

    >>> bp.join([[0.5, 0.5], [6, 6], [9, 9]], ships)
    array([[0, 2],
           [1, 0],
           [2, 1]], dtype=int32)

    Geometries of shapely, and labels:

    >>> import geopandas, shapely
    >>> trees = geopandas.GeoSeries(shapely.points([[1, 1], [4, 4], [6, 6]]), index=["oak", "ash", "elm"])
    >>> parks = geopandas.GeoSeries({"north": shapely.Point(5, 5).buffer(2)})
    >>> bp.join(trees, parks, predicate="within")
    array([[1, 0],
           [2, 0]], dtype=int32)
    >>> bp.join(trees, parks, predicate="dwithin", distance=4, labels=True)
    oak    north
    ash    north
    elm    north
    Name: index_right, dtype: str
    """
    if on_gpu(a):
        geometry = {"predicate": predicate, "distance": distance, "labels": labels}
        search_there = on_its_device("join", method=method, period=period, **geometry)
        there: PairArray = search_there(a, b, touching=touching, sort=sort, env=env, max_pairs=max_pairs)
        return there
    check_same_crs(a, "a", b, "b")
    parts, limit, touching = thread_count(threads), pair_limit(max_pairs), bool(touching)
    if how not in ("inner", "left"):
        raise ValueError(f'how must be "inner" or "left"; got {how!r}')
    tables, question = (a, b), None
    if predicate is not None:
        if period is not None or env is not None or not touching:
            raise ValueError("period=, env= and touching=False are for boxes; leave them out with predicate=")
        if not (are_geometries(a) or are_geometries(b)):
            a, b = settled(a, "a", BOXES), settled(b, "b", BOXES)
        if points_among(a, b) or points_among(b, a):
            touching = _counts_edges(predicate, points_among(a, b))
        else:
            from broadphase.api.geometries import as_geometry_join  # 3 ms, which most programs do not need

            question = as_geometry_join(a, b, predicate, distance)
    if question is not None:
        candidates = _join_boxes(question.first.boxes, question.second.boxes, method, True, True, parts)
        result, rows = question.decide(candidates, sort, parts, limit), question.rows
    else:
        if distance is not None:
            raise ValueError('distance= is for predicate="dwithin", which is for geometries of shapely')
        given = settled_join(a, b, period, env)
        few = join_of_few(given, touching) if method == "auto" else None
        first, second, space = given.checked() if few is None else (given.a, given.b, None)
        rows = len(first)
        if few is not None:
            result = _at_most(few, limit)
        else:
            result = _join_boxes(first, second, method, touching, sort, parts, limit, space)
    if how == "left":
        alone = np.flatnonzero(np.bincount(result[:, 0], minlength=rows) == 0)
        alone = np.column_stack((alone, np.full_like(alone, -1)))
        result = np.concatenate((result, alone), dtype=np.int32)
        result = result[np.argsort(result[:, 0], kind="stable")]
    return labelled(result, *tables) if labels else result


_OF_POINTS = {"within": False, "covered_by": True, "intersects": True}
_OF_BOXES = {"contains": False, "contains_properly": False, "covers": True, "intersects": True}
"""Predicates of points and boxes, whichever ``a`` holds, and whether a point on an edge counts."""


def _counts_edges(predicate: str, points_first: bool) -> bool:
    """What a predicate of shapely means for points and boxes given as numbers: whether edges count."""
    known = _OF_POINTS if points_first else _OF_BOXES
    if predicate not in known:
        order = "points in boxes" if points_first else "boxes around points"
        raise ValueError(
            f"predicate={predicate!r} is not there for {order}; choose one of {', '.join(known)}"
        )
    return known[predicate]


@with_hints(_TWO_SIDES, **_BY_ROW)
def count_pairs(
    boxes: RowsLike,
    *,
    method: Method = "auto",
    touching: bool = True,
    static: Numbers | None = None,
    categories: Numbers | None = None,
    masks: Numbers | None = None,
    period: Lengths | None = None,
    env: Numbers | None = None,
    threads: int | None = None,
) -> int:
    """Count the pairs of boxes that overlap, without storing them.

    Parameters
    ----------
    boxes, method, touching, static, categories, masks, period, env, threads
        As for `pairs`.

    Returns
    -------
    int
        ``len(pairs(boxes, ...))``.

    Examples
    --------
    >>> import broadphase as bp
    >>> bp.count_pairs([[0, 0, 2, 2], [1, 1, 3, 3], [3, 3, 4, 4]])
    2
    """
    if on_gpu(boxes):
        how = {"static": static, "categories": categories, "masks": masks, "env": env}
        return int(
            on_its_device("count_pairs", method=method, period=period)(boxes, touching=touching, **how)
        )
    parts, touching = thread_count(threads), bool(touching)
    given = settled_search(boxes, static, categories, masks, period, env)
    few = pairs_of_few(given, touching) if method == "auto" else None
    if few is not None:
        return len(few)
    array, rules, space = given.checked(parts)
    with borrowed_scratch() as scratch:
        task = Task(array, touching, rules, parts, store=False, scratch=scratch)
        return search(method, task, space).pairs


def explain(boxes: RowsLike) -> choose.Explanation:
    """Report what ``method="auto"`` picks for these boxes, and why.

    Parameters
    ----------
    boxes : array_like
        As for `pairs`.

    Returns
    -------
    Explanation
        Printable; its fields are what was measured (sizes, spread, density, crowding), the method, the
        cell size, and the estimated time of every method.

    Examples
    --------
    >>> import broadphase as bp
    >>> bp.explain([[0, 0, 2, 2], [1, 1, 3, 3]]).method
    'brute_force'
    """
    return choose.explain(checked_boxes(settled(boxes, "boxes", BOXES), "boxes"))


def search(method: str, task: Task, space: Space | None = None) -> Found:
    """Run a method by name; shared by `pairs`, `join` and `count_pairs`, and the tables of the command."""
    if method == "box_tree":
        method = "tree"
    if method not in METHODS:
        raise not_one_of(method, METHODS, "method")
    found = choose.find(task, method) if space is None else find_in_space(method, task, space)
    if found.pairs > task.limit:
        raise PairLimitExceeded(task.limit)
    return found


def stored_pairs(
    boxes: BoxArray,
    pair_filter: PairFilter,
    method: Method = "auto",
    touching: bool = True,
    sort: bool = True,
    threads: int | None = None,
    max_pairs: int = NO_LIMIT,
    space: Space | None = None,
) -> PairArray:
    """`pairs` of arguments that were checked; shared with worlds."""
    with borrowed_scratch() as scratch:
        parts, sorting = threads or cores(), sort and space is None
        task = Task(boxes, touching, pair_filter, parts, max_pairs, sort=sorting, scratch=scratch)
        found = search(method, task, space)
        # Always a copy: the chunks may be in scratch memory.
        return one_array(found.chunks, len(boxes), sort and not found.ordered, scratch, task.threads)


def _join_boxes(
    first: BoxArray,
    second: BoxArray,
    method: Method,
    touching: bool,
    sort: bool,
    parts: int,
    max_pairs: int = NO_LIMIT,
    space: Space | None = None,
) -> PairArray:
    with borrowed_scratch() as scratch:
        survivors = None
        if method in ("auto", "strips") and first.dtype == second.dtype and space is None:
            from broadphase.methods.strips import boxes_near  # here: few boxes need nothing of it

            few, many = (first, second) if len(first) < len(second) else (second, first)
            survivors = boxes_near(few, many, parts, scratch)
        if survivors is None:
            kind, rows_of_a = np.result_type(first, second), len(first)
            both = joined((first.astype(kind, copy=False), second.astype(kind, copy=False)))
        elif few is first:
            both, rows_of_a = survivors.both, len(first)
        else:
            both, rows_of_a = joined((survivors.others, survivors.few)), len(survivors.rows)
        pair_filter = join_filter(rows_of_a, len(both) - rows_of_a)
        result = stored_pairs(both, pair_filter, method, touching, sort, parts, max_pairs, space)
        result[:, 1] -= rows_of_a
        if survivors is not None:
            column = result[:, 1 if few is first else 0]
            column[:] = rows_at(survivors.rows, column)
    return result
