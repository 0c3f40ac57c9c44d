"""`Neighbors`: pairs of points near each other, as lists by point and as sums over the pairs of a point."""

import math
from collections.abc import Callable, Iterator, Sequence
from copy import deepcopy
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from broadphase.indexes.results import PairChanges
from broadphase.inputs.arrays import as_float_array
from broadphase.inputs.points import Numbers, Points
from broadphase.kernels.arrays.sorting import stable_argsort, starts_from_counts
from broadphase.kernels.points.pair_lists import (
    add_pairs,
    count_both,
    match_rows,
    put_both,
)
from broadphase.runtime import threads as own_threads
from broadphase.runtime.arrays import ranges, rows_at
from broadphase.runtime.memory import result_array

if TYPE_CHECKING:
    import networkx  # type: ignore[import-untyped]
    import pandas  # type: ignore[import-untyped]
    import scipy.sparse  # type: ignore[import-untyped]

_MOST_PARTIAL_SUMS, _LEAST_PARTIAL = 4, 50_000
_ROWS_OF_A_FUNCTION = 16_384


PointIds = npt.NDArray[np.int64]


class _Csr(NamedTuple):
    indptr: npt.NDArray[np.int64]
    indices: npt.NDArray[np.int32]
    distances: Points


class Csr(_Csr):
    """Neighbours in compressed rows: a tuple of the arrays ``indptr``, ``indices`` and ``distances``.

    The neighbours of point ``i`` are ``indices[indptr[i] : indptr[i + 1]]``.
    """

    offsets: Points | None = None
    """With ``offsets=True``: the way from point ``i`` to the image of each neighbour."""
    shifts: npt.NDArray[np.int32] | None = None
    """With ``images="all"``: by how many periods or lattice vectors the image of each is shifted."""

    @property
    def unit(self) -> Points:
        """The unit vector of each offset; zeros at distance 0."""
        if self.offsets is None:
            raise AttributeError("unit vectors need offsets: find the neighbours with offsets=True")
        return _unit(self.offsets, self.distances)


class Neighbors:
    """Pairs of points near each other; made by `neighbors`.

    Attributes
    ----------
    i, j : numpy.ndarray
        ``(m,)`` int32 row numbers, ``i < j``, with ``half=False`` also ``i > j``; with ``other=`` rows of the
        points and rows of the others.
    distance : numpy.ndarray
        ``(m,)``, in the points' dtype.
    offset : numpy.ndarray or None
        ``(m, dim)``: from ``i`` to the image of ``j``; only with ``offsets=True``.
    shift : numpy.ndarray or None
        ``(m, dim)`` int32: by how many periods, or lattice vectors, the image of ``j`` is shifted; only with
        ``images="all"``.
    shape : tuple of int
        How many points were searched from, and among how many.
    ids : tuple of two numpy.ndarray, or None
        The ids of the points and of those searched among, as given: ``rows_in`` and ``changes`` go by them.
    """

    ids: tuple[PointIds, PointIds] | None = None
    has_other_ids = False  # of a `PointIndex`, in ``j``
    _unit: Points | None = None

    def __init__(
        self,
        i: npt.NDArray[np.int32],
        j: npt.NDArray[np.int32],
        distance: Points,
        shape: tuple[int, int],
        *,
        offset: Points | None = None,
        shift: Numbers | None = None,
        among: bool = True,
        half: bool | None = None,
        in_order: bool = True,
        parts: int | None = None,
        find_offsets: Callable[[], Points] | None = None,
    ) -> None:
        self.i, self.j, self.distance, self.shape = i, j, distance, shape
        # For type checkers: who asked for them need not ask whether they are there.
        self.offset: Any = offset
        self.shift: Any = shift
        self._find_offsets = find_offsets
        self._among, self._sorted = among, in_order
        self._half = among if half is None else half
        self._parts = own_threads.cores() if parts is None else parts

    def __len__(self) -> int:
        """How many pairs there are."""
        return len(self.i)

    def __iter__(self) -> Iterator[npt.NDArray[Any]]:
        """``i, j, distance``, so that a result can be unpacked."""
        return iter((self.i, self.j, self.distance))

    def __repr__(self) -> str:
        """How many pairs of how many points."""
        return f"<Neighbors: {len(self)} pairs, shape {self.shape}>"

    @property
    def unit(self) -> Points:
        """``(m, dim)``: the unit vector from ``i`` to the nearest image of ``j``; zeros at distance 0.

        It is made of `offset`, also without ``offsets=True``, when it is first read, and kept: a new `offset`
        does not change it.

        Raises
        ------
        ValueError
            The pairs were not made by `neighbors`, or with more than their nearest images.
        """
        if self._unit is None:
            offset = self.offset
            if offset is None and self._find_offsets is not None:
                offset = self._find_offsets()
            if offset is None:
                raise ValueError("unit vectors are made of offsets; find the neighbours with offsets=True")
            self._unit = _unit(offset, self.distance)
        return self._unit

    def sum(self, values: Any) -> Points:
        """For each point the sum of the values of its neighbours.

        Parameters
        ----------
        values : array_like, shape (n, ...)
            One or several numbers for each point; with ``other=`` for each of the others.  float32 is added
            in float32, everything else in float64.

        Returns
        -------
        numpy.ndarray
            Of the shape of values, a row for each point.  The order of the sums follows from the pairs alone,
            so the result is the same on any number of threads.

        Raises
        ------
        TypeError, ValueError
            They are not numbers, or not as many as points.

        Examples
        --------
        >>> import broadphase as bp
        >>> near = bp.neighbors([[0.0, 0.0], [3.0, 4.0], [0.0, 1.0]], 4.5)
        >>> near.sum([1.0, 10.0, 100.0])
        array([100., 100.,  11.])
        """
        given = _one_each(values, "values", self.shape[1], "point")
        flat = _flat(given)
        sums = self._added(int(self._half), flat, flat[:0], of_points=True)
        return sums.reshape(self.shape[0], *given.shape[1:])

    def scatter(self, values: Any, *, along: Any = (), antisymmetric: bool = False) -> Points:
        """For each point the sum of the values of its pairs, such as forces.

        Parameters
        ----------
        values : array_like, shape (m, ...), or function
            One or several numbers for each pair; types as of `sum`.  Or a function that is called with a
            slice of rows, one after another, and returns the values of these pairs.  This is faster where
            there are many pairs, as what it computes stays in the cache.
        along : array_like, shape (m, k), optional
            Vectors by which the values, one for each pair, are multiplied: `offset` or `unit`.  For
            forces give ``antisymmetric=True`` too.
        antisymmetric : bool
            Whether ``j`` gets the values with the other sign: then ``values`` are what acts on ``i``.

        Returns
        -------
        numpy.ndarray
            ``(n, ...)``.  Each pair counts for both of its points; with ``other=`` and ``half=False`` for
            ``i`` only.  The same on any number of threads, as of `sum`.

        Raises
        ------
        TypeError, ValueError
            They are not numbers, or not as many as pairs; or ``antisymmetric`` where pairs count for ``i``
            only.

        Examples
        --------
        Springs that pull points together:

        >>> import broadphase as bp
        >>> near = bp.neighbors([[0.0, 0.0], [3.0, 4.0]], 5.0, offsets=True)
        >>> near.scatter([2.0], along=near.unit, antisymmetric=True)
        array([[ 1.2,  1.6],
               [-1.2, -1.6]])
        >>> near.scatter(lambda rows: 2.0 * near.distance[rows])
        array([10., 10.])
        """
        if antisymmetric and not self._half:
            raise ValueError(
                "antisymmetric=True has no meaning with other= or half=False, where values act on i only"
            )
        if along is None:
            raise TypeError("along is None: near.offset is there after neighbors(..., offsets=True)")
        sign = -1 if antisymmetric else int(self._half)
        vectors = (
            None if isinstance(along, tuple) and not along else _one_each(along, "along", len(self), "pair")
        )
        if vectors is not None and vectors.ndim != 2:
            raise ValueError(f"along must have shape ({len(self)}, k), a vector a pair; got {vectors.shape}")
        if callable(values):
            return self._scattered(values, vectors, sign)
        given = _one_each(values, "values", len(self), "pair")
        sums = self._added(sign, *_multiplied(given, vectors))
        return sums if vectors is not None else sums.reshape(self.shape[0], *given.shape[1:])

    def rows_in(self, previous: "Neighbors") -> npt.NDArray[np.intp]:
        """The row of each pair in an earlier result, or -1, to keep values of pairs from step to step.

        Parameters
        ----------
        previous : Neighbors
            Of the same points, in whatever places they were; of points that come and go if both were found
            with ``ids=``, by which pairs are then known again.

        Returns
        -------
        numpy.ndarray
            ``(m,)``.

        Raises
        ------
        TypeError, ValueError
            The earlier result is none, is of another number of points, or was found in another way.

        Examples
        --------
        >>> import broadphase as bp
        >>> before = bp.neighbors([[0.0, 0.0], [3.0, 4.0], [0.0, 1.0]], 5.0)
        >>> now = bp.neighbors([[0.0, 0.0], [3.0, 4.0], [0.0, 9.0]], 6.0)
        >>> now.rows_in(before)  # of the pairs (0, 1) and (1, 2)
        array([0, 2])
        """
        if not isinstance(previous, Neighbors):
            raise TypeError(f"previous must be what neighbors returned; got {type(previous).__name__}")
        if self.shift is not None or previous.shift is not None:
            raise ValueError("a pair may be there with several images, so that its row is not known")
        if (self._half, self._among) != (previous._half, previous._among):
            raise ValueError("previous must have been found in the same way, with other= and half= as here")
        if (self.ids is None) != (previous.ids is None):
            raise ValueError("one of both has ids, the other none; find both with ids=")
        if self.ids is not None:
            now, before = self._by_ids(previous)
            return now.rows_in(before)
        self._check_same_points(previous)
        old = previous._order()
        old_i, old_j = (previous.i, previous.j) if old is None else (previous.i[old], previous.j[old])
        rows = rows_among(self.i, self.j, self._order(), old_i, old_j, self._parts)
        return rows if old is None or not len(old) else np.where(rows < 0, -1, old[rows])

    def _check_same_points(self, previous: "Neighbors") -> None:
        sides = 1 if self.has_other_ids and previous.has_other_ids else 2
        if 0 in self.shape or 0 in previous.shape:
            return
        if self.shape[:sides] != previous.shape[:sides] or self.has_other_ids != previous.has_other_ids:
            raise ValueError(
                f"previous was found of other points: its shape is {previous.shape}, and not {self.shape}; "
                "where points come and go, find both with ids="
            )

    def _by_ids(self, previous: "Neighbors") -> tuple["Neighbors", "Neighbors"]:
        """Both with numbers in place of ids, as if all points were there in both."""
        assert self.ids is not None
        assert previous.ids is not None
        sides = [np.unique(np.concatenate(both)) for both in zip(self.ids, previous.ids, strict=True)]
        shape = len(sides[0]), len(sides[1])
        found = []
        for pairs in (self, previous):
            i, j = (
                np.searchsorted(side, ids)[rows].astype(np.int32)
                for side, ids, rows in zip(sides, pairs.ids, (pairs.i, pairs.j), strict=True)  # type: ignore[arg-type]
            )
            if pairs._half:
                i, j = np.minimum(i, j), np.maximum(i, j)
            found.append(
                Neighbors(i, j, pairs.distance, shape, half=pairs._half, among=pairs._among, in_order=False)
            )
        return found[0], found[1]

    def changes(self, previous: "Neighbors | None") -> PairChanges:
        """How the pairs differ from those of an earlier result.

        Parameters
        ----------
        previous : Neighbors or None
            As of `rows_in`; with None all pairs began.

        Returns
        -------
        PairChanges
            ``began, stayed, ended``: arrays of pairs, ``(k, 2)``; of ids where the points have them.

        Examples
        --------
        >>> import broadphase as bp
        >>> before = bp.neighbors([[0.0, 0.0], [3.0, 4.0], [0.0, 1.0]], 5.0)
        >>> now = bp.neighbors([[0.0, 0.0], [3.0, 4.0], [0.0, 9.0]], 6.0)
        >>> began, stayed, ended = now.changes(before)
        >>> began.tolist(), stayed.tolist(), ended.tolist()
        ([], [[0, 1], [1, 2]], [[0, 2]])
        """
        if previous is None:
            none = self._pairs(slice(0, 0))
            return PairChanges(self._pairs(), none, lambda: none)
        rows = self.rows_in(previous)
        gone = np.ones(len(previous), np.bool_)
        gone[rows[rows >= 0]] = False
        return PairChanges(self._pairs(rows < 0), previous._pairs(gone), lambda: self._pairs(rows >= 0))

    def csr(self) -> Csr:
        """The neighbours of each point in compressed sparse rows, in both directions, each row sorted.

        With ``other=`` there is one row for each of the points, with row numbers of the others.  Neighbours
        that were found with ``offsets=True`` have the ``offsets`` of all entries too, and with
        ``images="all"`` their ``shifts``.

        Examples
        --------
        >>> import broadphase as bp
        >>> near = bp.neighbors([[0.0, 0.0], [3.0, 4.0], [0.0, 1.0]], 5.0)
        >>> near.csr().indptr, near.csr().indices
        (array([0, 2, 4, 6]), array([1, 2, 0, 2, 0, 1], dtype=int32))
        """
        if self._half:
            starts, j, distance, offset, shift = self._both()
        else:
            starts = np.zeros(self.shape[0] + 1, np.int64)
            np.cumsum(np.bincount(self.i, minlength=self.shape[0]), out=starts[1:])
            _, j, distance, offset, shift = deepcopy(self._ordered())
        rows = Csr(starts, j, distance)
        rows.offsets, rows.shifts = offset, shift
        return rows

    def edge_index(self, *, both: bool = False) -> npt.NDArray[np.int64]:
        """Rows ``i`` and ``j`` as an array of shape ``(2, m)``, the form that graph libraries take.

        Parameters
        ----------
        both : bool
            Also append each pair in the other direction: ``(2, 2 * m)``, unless they are there already.

        Examples
        --------
        >>> import broadphase as bp
        >>> bp.neighbors([[0.0, 0.0], [3.0, 4.0], [0.0, 1.0]], 5.0).edge_index()
        array([[0, 0, 1],
               [1, 2, 2]])
        """
        if both and not self._among:
            raise ValueError("both=True has no meaning with other=, whose rows are not those of the points")
        first, second = (
            ((self.i, self.j), (self.j, self.i)) if both and self._half else ((self.i,), (self.j,))
        )
        return np.stack((np.concatenate(first), np.concatenate(second))).astype(np.int64)

    def to_scipy(self) -> "scipy.sparse.csr_array":
        """Distances as a sparse array of SciPy, in both directions; distances of 0 are stored too.

        Raises
        ------
        ValueError
            The neighbours were found with ``images="all"``: an entry cannot hold several distances.

        Examples
        --------
        >>> import broadphase as bp
        >>> bp.neighbors([[0.0, 0.0], [3.0, 4.0]], 5.0).to_scipy().toarray()
        array([[0., 5.],
               [5., 0.]])
        """
        from scipy.sparse import csr_array

        if self.shift is not None:
            raise ValueError(
                "a pair may be there with several images, and a sparse array has one distance for a pair; "
                "use csr(), which has the shifts, or find the neighbours with images='nearest'"
            )
        rows = self.csr()
        return csr_array((rows.distances, rows.indices, rows.indptr), shape=self.shape)

    def to_pandas(self) -> "pandas.DataFrame":
        """A table of pandas with the columns ``i``, ``j`` and ``distance``.

        With ``images="all"`` the columns ``shift_x``, ``shift_y`` (and ``shift_z``) say which image of ``j``
        it is.

        Examples
        --------
        >>> import broadphase as bp
        >>> bp.neighbors([[0.0, 0.0], [3.0, 4.0]], 5.0).to_pandas()
           i  j  distance
        0  0  1       5.0
        """
        import pandas

        columns = {"i": self.i, "j": self.j, "distance": self.distance}
        if self.shift is not None:
            columns |= {f"shift_{axis}": steps for axis, steps in zip("xyz", self.shift.T, strict=False)}
        return pandas.DataFrame(columns)

    def to_networkx(self) -> "networkx.Graph":
        """A graph of networkx with all points as nodes, and edges with their ``distance``.

        With ``other=`` nodes are ``("point", i)`` and ``("other", j)``.

        With ``images="all"`` it is a ``MultiGraph``, or with ``half=False`` a ``MultiDiGraph``, with an edge
        for each image.  Its ``shift`` is a tuple: by how many periods or lattice vectors the image of ``j``
        is moved, the node with the larger number.

        Examples
        --------
        >>> import broadphase as bp
        >>> bp.neighbors([[0.0, 0.0], [3.0, 4.0]], 5.0).to_networkx().edges(data="distance")
        EdgeDataView([(0, 1, 5.0)])
        """
        import networkx

        first: list[Any] = list(range(self.shape[0]))
        second = first
        if not self._among:
            first = [("point", i) for i in first]
            second = [("other", j) for j in range(self.shape[1])]
        values = [{"distance": distance} for distance in self.distance.tolist()]
        graph = networkx.Graph()
        if self.shift is not None:
            graph = networkx.MultiGraph() if self._half or not self._among else networkx.MultiDiGraph()
            for value, shift in zip(values, self.shift.tolist(), strict=True):
                value["shift"] = tuple(shift)
        graph.add_nodes_from(first)
        graph.add_nodes_from(second)
        edges = zip(self.i.tolist(), self.j.tolist(), values, strict=True)
        graph.add_edges_from((first[i], second[j], value) for i, j, value in edges)
        return graph

    # ---- inner

    def in_both_directions(self) -> "Neighbors":
        """Each pair as ``(i, j)`` and as ``(j, i)``: what `neighbors` returns with ``half=False``."""
        starts, j, distance, offset, shift = self._both()
        counts = (starts[1:] - starts[:-1]).astype(np.intp, copy=False)
        i = np.arange(self.shape[0], dtype=np.int32).repeat(counts)
        found = Neighbors(
            i, j, distance, self.shape, offset=offset, shift=shift, half=False, parts=self._parts
        )
        if offset is None and self._find_offsets is not None:
            found._find_offsets = partial(_offsets_of_both, self)
        found.ids = self.ids
        return found

    def _pairs(self, which: Any = slice(None)) -> npt.NDArray[Any]:
        i, j = self.i[which], self.j[which]
        if self.ids is not None:
            i, j = self.ids[0][i], self.ids[1][j]
        return np.stack((i, j), axis=1)

    def _order(self) -> Numbers | None:
        """The rows by ``i``, then ``j``; None where they are in this order."""
        return None if self._sorted else order_of(self.i, self.j)

    def _ordered(self) -> tuple[Any, ...]:
        """The columns ``i, j, distance, offset, shift`` by ``i``, then ``j``; the last two may be None."""
        order, columns = self._order(), (self.i, self.j, self.distance, self.offset, self.shift)
        if order is None:
            return columns
        return tuple(None if column is None else rows_at(column, order) for column in columns)

    def _spans(self) -> list[tuple[int, int]]:
        return own_threads.shares(len(self), self._parts, cost=2.0)

    def _both(self) -> tuple[Any, ...]:
        return both_directions(self._ordered(), self.shape[0], self._parts)

    def _scattered(self, function: Callable[[slice], Any], along: Points | None, sign: int) -> Points:
        """`scatter` of what a function returns."""
        sums, shape = np.empty((0, 0)), None
        for begin, end in ranges(0, len(self), _ROWS_OF_A_FUNCTION):
            given = as_float_array(function(slice(begin, end)), "what the function returned")
            if given.ndim == 0 or len(given) != end - begin or shape not in (None, given.shape[1:]):
                wanted = ", ".join(map(str, (end - begin, *(shape or ("...",)))))
                raise ValueError(
                    f"the function must return values of shape ({wanted}) for rows {begin} to {end}; "
                    f"got shape {given.shape}"
                )
            flat, vectors = _multiplied(given, None if along is None else along[begin:end])
            if shape is None:
                shape = given.shape[1:]
                sums = np.zeros((self.shape[0], _width(flat, vectors)), flat.dtype)
            flat, vectors = flat.astype(sums.dtype, copy=False), vectors.astype(sums.dtype, copy=False)
            rows = self.i[begin:end], self.j[begin:end]
            add_pairs(*rows, flat, vectors, False, sign, 0, end - begin, sums)
        return sums if along is not None else sums.reshape(self.shape[0], *(shape or ()))

    def _added(self, sign: int, values: Points, along: Points, of_points: bool = False) -> Points:
        """Sums over the pairs of each point, as `add_pairs` makes them.

        Pairs are cut into pieces.  Where only ``i`` counts, a piece has all pairs of its points.  Else each
        has sums of its own, which are added in the order of the pieces; how many there are does not depend on
        threads.
        """
        n, m, i, j = self.shape[0], len(self), self.i, self.j
        sums = np.zeros((n, _width(values, along)), values.dtype)
        alone = self._sorted and not sign
        if alone:
            begins = [int(np.searchsorted(i, i[begin])) if begin < m else m for begin, _ in self._spans()]
        else:
            pieces = 1
            while pieces < _MOST_PARTIAL_SUMS and m >= 2 * pieces * max(2 * n, _LEAST_PARTIAL):
                pieces *= 2
            begins = [begin for begin, _ in own_threads.shares(m, pieces)]
        partly = np.zeros((0 if alone else len(begins) - 1, *sums.shape), sums.dtype)

        def add(piece: int, first: int, last: int) -> None:
            target = sums if alone or piece == 0 else partly[piece - 1]
            add_pairs(i, j, values, along, of_points, sign, first, last, target)

        def gather(first: int, last: int) -> None:
            for begin, more in zip(begins[1:], partly, strict=True):
                low = max(first, int(i[begin])) if self._sorted else first
                for span in ranges(low, max(low, last)):
                    sums[slice(*span)] += more[slice(*span)]

        ends = [*begins[1:], m]
        own_threads.run_all(
            [partial(add, piece, *span) for piece, span in enumerate(zip(begins, ends, strict=True))],
            self._parts,
        )
        if len(partly):
            spans = own_threads.shares(n, self._parts)
            own_threads.run_all([partial(gather, *span) for span in spans], self._parts)
        return sums


def order_of(i: npt.NDArray[Any], j: npt.NDArray[Any]) -> Numbers:
    """The rows of pairs by ``i``, then ``j``."""
    order: Numbers = stable_argsort(i.astype(np.int64) << 32 | j)
    return order


def lesser_first(i: Any, j: Any, *ways: Any) -> tuple[Any, Any]:
    """Pairs with the lesser of both rows first; the offsets and shifts of the others are turned around."""
    turned = i > j
    for way in ways:
        if way is not None:
            way[turned] *= -1
    return np.where(turned, j, i), np.where(turned, i, j)


def both_directions(columns: tuple[Any, ...], n: int, parts: int) -> tuple[Any, ...]:
    """The pairs of ``n`` points in both directions: where the rows of each point begin, and the columns.

    Of ``i, j, distance, offset, shift`` all but ``i`` are returned; in them each pair is there twice, the
    second time with offset and shift turned around.
    """
    i, j, distance, offset, shift = columns
    kind, twice = distance.dtype, 2 * len(i)
    spans = own_threads.shares(len(i), parts, cost=2.0)
    starts, counts = np.zeros(n + 1, np.int64), np.zeros((len(spans), n), np.int64)
    rows, values = result_array((twice,), np.int32), result_array((twice,), kind)
    given, turned = _to_turn(offset, kind, twice)
    shifts, steps = _to_turn(shift, np.dtype(np.int32), twice)

    pairs, out = (i, j, distance, given, shifts), (rows, values, turned, steps)
    own_threads.run_all(
        [partial(count_both, i, j, *span, part, counts) for part, span in enumerate(spans)], parts
    )
    starts_from_counts(counts, starts[1:])
    own_threads.run_all(
        [partial(put_both, pairs, *span, part, counts, out) for part, span in enumerate(spans)], parts
    )
    return starts, rows, values, None if offset is None else turned, None if shift is None else steps


def _to_turn(rows: npt.NDArray[Any] | None, kind: "np.dtype[Any]", twice: int) -> tuple[Any, Any]:
    """What `put_both` reads and writes; no rows where there are none."""
    if rows is None:
        return (np.empty((0, 2), kind),) * 2
    return rows, result_array((twice, rows.shape[1]), kind)


def rows_kept(
    m: int, parts: int, keep: Callable[[int, int, int], int], arrays: Sequence[npt.NDArray[Any]]
) -> list[npt.NDArray[Any]]:
    """The rows of arrays, for some of ``m`` pairs each, that ``keep(begin, end, place)`` has written.

    It writes from ``place`` on, which is ``begin``, and returns where it ended.
    """
    spans = own_threads.shares(m, parts, cost=2.0)
    ends = own_threads.run_all([partial(keep, begin, end, begin) for begin, end in spans], parts)
    portions = [slice(begin, end) for (begin, _), end in zip(spans, ends, strict=True)]
    if len(portions) == 1:
        return [array[portions[0]] for array in arrays]
    return [np.concatenate([array[rows] for rows in portions]) for array in arrays]


def rows_among(
    i: Numbers, j: Numbers, order: Numbers | None, old_i: Numbers, old_j: Numbers, parts: int
) -> npt.NDArray[np.int64]:
    """The row of each pair in a sorted list, or -1; ``order`` sorts the pairs, if they are not sorted."""
    if order is not None:
        rows = np.empty(len(i), np.int64)
        rows[order] = rows_among(i[order], j[order], None, old_i, old_j, parts)
        return rows
    found: npt.NDArray[np.int64] = result_array((len(i),), np.int64)

    def match(first: int, last: int) -> None:
        start = int(np.searchsorted(old_i, i[first])) if first < last else 0
        match_rows(i, j, old_i, old_j, start, first, last, found)

    spans = own_threads.shares(len(i), parts, cost=2.0)
    own_threads.run_all([partial(match, *span) for span in spans], parts)
    return found


def _one_each(values: Any, name: str, rows: int, what: str) -> Points:
    given = as_float_array(values, name)
    if given.ndim == 0 or len(given) != rows:
        raise ValueError(f"{name} must have {rows} rows, one for each {what}; got shape {given.shape}")
    return given


def _flat(values: Points) -> Points:
    return values.reshape(len(values), math.prod(values.shape[1:]))


def _width(values: Points, along: Points | None = None) -> int:
    """How many columns the sums have."""
    columns: int = values.shape[1] if along is None or not along.shape[1] else along.shape[1]
    return columns


def _multiplied(values: Points, along: Points | None) -> tuple[Points, Points]:
    """Values and the vectors by which they are multiplied, in one type, as `add_pairs` takes them."""
    if along is None:
        return _flat(values), np.empty((0, 0), values.dtype)
    if values.ndim != 1:
        raise ValueError(f"values must be one number for each pair with along=; got shape {values.shape}")
    kind = np.result_type(values, along)
    return values.astype(kind, copy=False)[:, None], along.astype(kind, copy=False)


def _offsets_of_both(half: Neighbors) -> Points:
    """The offsets of pairs in both directions, of which each is known once."""
    assert half._find_offsets is not None
    half.offset = half._find_offsets()
    offset: Points = half._both()[3]
    return offset


def _unit(offsets: Points, distances: Points) -> Points:
    lengths = np.where(distances > 0.0, distances, np.inf)
    units: Points = result_array(offsets.shape, offsets.dtype)
    for axis in range(units.shape[1]):
        np.divide(offsets[:, axis], lengths, out=units[:, axis])
    return units
