"""Arrays in, arrays out: `pairs`, `join`, `count_pairs` and `explain`."""

from typing import TYPE_CHECKING, Any, Literal, get_args, overload

import numpy as np

from broadphase import methods
from broadphase.api.geometries import Predicate, as_geometry_join
from broadphase.errors import PairLimitExceeded
from broadphase.inputs.boxes import BoxArray, as_boxes, as_filter, as_float_array, join_filter, settled
from broadphase.inputs.foreign import BOXES, check_same_crs, labelled
from broadphase.inputs.numeric import thread_count
from broadphase.inputs.space import BOX_WIDTHS, as_period, rows_of_both, rows_of_worlds, settled_period
from broadphase.kernels.boxes.overlap import PairFilter
from broadphase.methods import choose
from broadphase.methods.few_among_many import boxes_near
from broadphase.methods.in_space import Space, as_envs, as_space, find_in_space
from broadphase.methods.pair_order import one_array
from broadphase.methods.task import Found, Task, pair_limit
from broadphase.runtime.memory import PairArray, borrowed_scratch
from broadphase.runtime.slices import joined, ranges

if TYPE_CHECKING:
    import pandas  # type: ignore[import-untyped]

Method = Literal[methods.Name, "auto"]
METHODS: tuple[Method, ...] = get_args(Method)
"""The names that ``method=`` accepts."""


def pairs(
    boxes: Any,
    *,
    method: Method = "auto",
    touching: bool = True,
    sort: bool = True,
    static: Any = None,
    categories: Any = None,
    masks: Any = None,
    period: Any = None,
    env: Any = None,
    threads: int | None = None,
    max_pairs: int | None = None,
) -> PairArray:
    """Find every pair of boxes that overlap.

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
        ``__array__`` or ``__dlpack__``, from main memory; with ``__dlpack__`` alone, half precision (float16,
        bfloat16) becomes float32.
    method : str
        One of `METHODS`.  All find the same pairs; ``"auto"`` picks a fast one for these boxes, and `explain`
        says which one and why.
    touching : bool
        Whether boxes that share only an edge or a corner overlap.
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
        The environment of each box: many worlds in one call, only boxes of the same environment meet.  Boxes
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
    threads, max_pairs, touching = thread_count(threads), _settled_limit(max_pairs), bool(touching)
    boxes, static, categories, masks, period, env = _settled(boxes, static, categories, masks, period, env)
    array = _boxes_around(boxes, "boxes", period, threads)
    pair_filter = as_filter(len(array), static, categories, masks)
    space = as_space(period, env, array)
    return stored_pairs(array, pair_filter, method, touching, sort, threads, max_pairs, space)


@overload
def join(
    a: Any,
    b: Any,
    *,
    method: Method = ...,
    touching: bool = ...,
    sort: bool = ...,
    period: Any = ...,
    env: tuple[Any, Any] | None = ...,
    threads: int | None = ...,
    max_pairs: int | None = ...,
    predicate: Predicate | None = ...,
    distance: Any = ...,
    labels: Literal[False] = ...,
) -> PairArray: ...
@overload
def join(
    a: Any,
    b: Any,
    *,
    method: Method = ...,
    touching: bool = ...,
    sort: bool = ...,
    period: Any = ...,
    env: tuple[Any, Any] | None = ...,
    threads: int | None = ...,
    max_pairs: int | None = ...,
    predicate: Predicate | None = ...,
    distance: Any = ...,
    labels: Literal[True],
) -> "pandas.Series": ...
def join(
    a: Any,
    b: Any,
    *,
    method: Method = "auto",
    touching: bool = True,
    sort: bool = True,
    period: Any = None,
    env: tuple[Any, Any] | None = None,
    threads: int | None = None,
    max_pairs: int | None = None,
    predicate: Predicate | None = None,
    distance: Any = None,
    labels: bool = False,
) -> "PairArray | pandas.Series":
    """Find every row of ``b`` that each row of ``a`` overlaps.

    Parameters
    ----------
    a, b : array_like
        Boxes as for `pairs`, both 2-D or both 3-D; if only one is float32, both are computed in float64.
    method, touching, sort, period, threads, max_pairs
        As for `pairs`.
    env : tuple of array_like, optional
        The environments of the rows of ``a`` and of those of ``b``; one number counts for all rows of a side.
        Two arrays ``(worlds, n, 4)`` say the same without it, as for `pairs`.
    predicate : str, optional
        For geometries of shapely (GeoDataFrame, GeoSeries, arrays and lists): what must hold for them, and
        not only for their bounds.  ``"intersects"``, ``"within"`` (a lies in b), ``"contains"`` (b lies in
        a), ``"dwithin"`` (at most ``distance`` apart), or ``"covers"``, ``"covered_by"``,
        ``"contains_properly"``, ``"crosses"``, ``"overlaps"``, ``"touches"``: the functions of shapely with
        these names.  Missing and empty geometries are in no pair.  ``period``, ``env`` and
        ``touching=False`` are for boxes alone.
    distance : float or array_like, optional
        For ``predicate="dwithin"``: the largest distance, one for all or one for each row of ``a``.
    labels : bool
        Return labels of the tables' indexes instead of row numbers.

    Returns
    -------
    numpy.ndarray
        ``(m, 2)`` int32, rows ``[row of a, row of b]``.  With ``labels=True`` a `pandas.Series` named
        ``index_right`` instead: it holds labels of ``b``, and labels of ``a`` are its index, as in the table
        that ``a.sjoin(b)`` returns.  Rows of an argument without an index are numbered.

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
    check_same_crs(a, "a", b, "b")
    threads, max_pairs, touching = thread_count(threads), _settled_limit(max_pairs), bool(touching)
    tables = a, b
    if predicate is not None:
        if period is not None or env is not None or not touching:
            raise ValueError("period=, env= and touching=False are for boxes; leave them out with predicate=")
        question = as_geometry_join(a, b, predicate, distance)
        candidates = _join_boxes(
            question.first.boxes, question.second.boxes, method, True, True, threads, None
        )
        result = question.decide(candidates, sort, threads, pair_limit(max_pairs))
    else:
        if distance is not None:
            raise ValueError('distance= is for predicate="dwithin"')
        a, b, period = settled(a, "a", BOXES), settled(b, "b", BOXES), settled_period(period)
        if isinstance(env, (tuple, list)) and len(env) == 2:
            env = settled(env[0], "env[0]"), settled(env[1], "env[1]")
        a, b, env = rows_of_both(a, b, env, ("a", "b"), BOX_WIDTHS)
        first, second = _same_dimension(_boxes_around(a, "a", period), _boxes_around(b, "b", period))
        if period is None and env is None:
            result = _join_boxes(first, second, method, touching, sort, threads, max_pairs)
        else:
            where = period, env
            result = _joined_in_space(first, second, method, touching, sort, threads, max_pairs, where)
    return labelled(result, *tables) if labels else result


def count_pairs(
    boxes: Any,
    *,
    method: Method = "auto",
    touching: bool = True,
    static: Any = None,
    categories: Any = None,
    masks: Any = None,
    period: Any = None,
    env: Any = None,
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
    threads, touching = thread_count(threads), bool(touching)
    boxes, static, categories, masks, period, env = _settled(boxes, static, categories, masks, period, env)
    array = _boxes_around(boxes, "boxes", period, threads)
    pair_filter = as_filter(len(array), static, categories, masks)
    space = as_space(period, env, array)
    with borrowed_scratch() as scratch:
        task = Task(array, bool(touching), pair_filter, thread_count(threads), store=False, scratch=scratch)
        return search(method, task, space).pairs


def explain(boxes: Any) -> choose.Explanation:
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
    return choose.explain(as_boxes(settled(boxes, "boxes", BOXES)))


def search(method: str, task: Task, space: Space | None = None) -> Found:
    """Run a method by name; shared by `pairs`, `join` and `count_pairs`, and the tables of the command."""
    if method not in METHODS:
        raise ValueError(f"unknown method {method!r}; choose one of {', '.join(METHODS)}")
    if space is not None:
        found = find_in_space(method, task, space)
    elif len(task.boxes) < 2:
        return Found([], 0, 0)
    else:
        name = choose.choose(task.boxes) if method == "auto" else method
        found = methods.finder(name)(task)
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
    max_pairs: int | None = None,
    space: Space | None = None,
) -> PairArray:
    """`pairs` of arguments that were checked; shared with worlds."""
    limit = pair_limit(max_pairs)
    with borrowed_scratch() as scratch:
        parts, sorting = thread_count(threads), sort and space is None
        task = Task(boxes, bool(touching), pair_filter, parts, limit, sort=sorting, scratch=scratch)
        found = search(method, task, space)
        # Always a copy: the chunks may be in scratch memory.
        return one_array(found.chunks, len(boxes), sort and not found.ordered, scratch, task.threads)


def _join_boxes(
    first: BoxArray,
    second: BoxArray,
    method: Method,
    touching: bool,
    sort: bool,
    threads: int,
    max_pairs: int | None,
) -> PairArray:
    with borrowed_scratch() as scratch:
        near = None
        if method in ("auto", "strips") and first.dtype == second.dtype:
            few, many = (first, second) if len(first) < len(second) else (second, first)
            near = boxes_near(few, many, threads, scratch)
        if near is None:
            both, rows_of_a = _both(first, second), len(first)
        elif few is first:
            both, rows_of_a = near.both, len(first)
        else:
            both, rows_of_a = joined((near.others, near.few)), len(near.rows)
        pair_filter = join_filter(rows_of_a, len(both) - rows_of_a)
        result = stored_pairs(both, pair_filter, method, touching, sort, threads, max_pairs)
        result[:, 1] -= rows_of_a
        if near is not None:
            column = result[:, 1 if few is first else 0]
            for begin, end in ranges(0, len(column)):
                column[begin:end] = near.rows.take(column[begin:end])
    return result


def _joined_in_space(
    first: BoxArray,
    second: BoxArray,
    method: Method,
    touching: bool,
    sort: bool,
    threads: int | None,
    max_pairs: int | None,
    where: tuple[Any, Any],
) -> PairArray:
    period, env = where
    both = _both(first, second)
    rules = join_filter(len(first), len(second))
    space = Space(as_period(period, both.shape[1] // 2), as_envs(env, len(first), len(second)))
    rows = stored_pairs(both, rules, method, touching, sort, threads, max_pairs, space)
    rows[:, 1] -= len(first)
    return rows


def _settled(boxes: Any, static: Any, categories: Any, masks: Any, period: Any, env: Any) -> tuple[Any, ...]:
    """Convert all arguments that may run the caller's code, before any of them is used."""
    boxes, env = rows_of_worlds(settled(boxes, "boxes", BOXES), settled(env, "env"), "boxes", BOX_WIDTHS)
    others = (
        settled(static, "static"),
        settled(categories, "categories"),
        settled(masks, "masks"),
        settled_period(period),
    )
    return boxes, *others, env


def _boxes_around(boxes: Any, name: str, period: Any, threads: int = 1) -> BoxArray:
    """Checked boxes; of one that seems to lie across the edge of a period the error says how to write it."""
    try:
        return as_boxes(boxes, name, threads)
    except ValueError:
        array = as_float_array(boxes, name, BOXES)
        dim = array.shape[1] // 2 if array.ndim == 2 and array.shape[1] in BOX_WIDTHS else 0
        lengths = as_period(period, dim) if dim else None
        if lengths is None:
            raise
        low, high = array[:, :dim], array[:, dim:]
        rows, axes = np.nonzero((low > high) & np.isfinite(lengths))
        if not len(rows) or np.isnan(array[: rows[0] + 1]).any():
            raise
        row, axis = int(rows[0]), int(axes[0])
        left, right, letter = float(low[row, axis]), float(high[row, axis]), "xyz"[axis]
        raise ValueError(
            f"{name}[{row}] has min_{letter} = {left:g} > max_{letter} = {right:g}; a box across the edge of "
            f"the period ends beyond it: max_{letter} = {right + float(lengths[axis]):g}"
        ) from None


def _settled_limit(max_pairs: int | None) -> int | None:
    return None if max_pairs is None else pair_limit(max_pairs)


def _both(a: BoxArray, b: BoxArray) -> BoxArray:
    """The rows of both, in the finer type of the two."""
    kind = np.result_type(a, b)
    return joined((a.astype(kind, copy=False), b.astype(kind, copy=False)))


def _same_dimension(a: BoxArray, b: BoxArray) -> tuple[BoxArray, BoxArray]:
    if a.shape[1] == b.shape[1]:
        return a, b
    # An empty list has no dimension.
    if len(a) == 0:
        return np.empty((0, b.shape[1]), b.dtype), b
    if len(b) == 0:
        return a, np.empty((0, a.shape[1]), a.dtype)
    raise ValueError(
        f"a is {a.shape[1] // 2}-D and b is {b.shape[1] // 2}-D (shapes {a.shape} and {b.shape}); "
        "both sides of a join must have the same dimension"
    )
