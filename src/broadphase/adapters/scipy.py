"""SciPy's tree of points with the searches of this package: change the import, and a program runs as before.

`KDTree` stands in for ``scipy.spatial.KDTree`` and ``cKDTree``.  Points with one, two or three axes and
Euclidean distances are searched here; for the rest (another ``p``, weights, more axes, the nodes of the tree)
SciPy's own tree is built and searched.
"""

import math
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from broadphase.errors import need, with_hints
from broadphase.points.index import PointIndex
from broadphase.points.neighbor_lists import Neighbors
from broadphase.points.neighborhoods import count_neighbors, neighbors

__all__ = ["KDTree", "cKDTree"]

_MOST_AXES = 3


class KDTree:
    """Points that are searched by distance, with the names and results of `scipy.spatial.KDTree`.

    Parameters
    ----------
    data : array_like, shape (n, m)
        The points.
    leafsize, compact_nodes, copy_data, balanced_tree
        As of SciPy; they matter only where its own tree is searched.
    boxsize : float or array_like, optional
        The period of each axis; 0 for an axis without.

    Attributes
    ----------
    data : numpy.ndarray
        ``(n, m)`` float64.
    n, m : int
        How many points, with how many axes.

    Raises
    ------
    TypeError
        The points are not real numbers.
    ValueError
        They are not finite, or outside of the box.

    Notes
    -----
    - Results are exact, also with ``eps``.
    - Points at the same distance are sorted by their number, and lists of neighbours by number.
    - A search is on as many threads as ``workers`` says, which is 1, as in SciPy; -1 is all.

    Examples
    --------
    >>> from broadphase.adapters.scipy import KDTree
    >>> tree = KDTree([[0.0, 0.0], [3.0, 4.0], [0.0, 1.0]])
    >>> tree.query([0.0, 0.9], k=2)
    (array([0.1, 0.9]), array([2, 0]))
    >>> tree.query_ball_point([[0, 0], [3, 3]], 1)
    array([list([0, 2]), list([1])], dtype=object)
    >>> sorted(tree.query_pairs(4.5))
    [(0, 2), (1, 2)]
    """

    def __init__(
        self,
        data: Any,
        leafsize: int = 10,
        compact_nodes: bool = True,
        copy_data: bool = False,
        balanced_tree: bool = True,
        boxsize: Any = None,
    ) -> None:
        self.data = _real(data, "data")
        if self.data.ndim != 2:
            raise ValueError(f"data must have shape (n, m), a row a point; got shape {self.data.shape}")
        if copy_data:
            self.data = self.data.copy()
        self.n, self.m = self.data.shape
        self.boxsize = None if boxsize is None else np.broadcast_to(_real(boxsize, "boxsize"), self.m)
        if not np.isfinite(self.data).all():
            raise ValueError("data must be finite; leave out rows with nan or inf")
        if self.boxsize is not None:
            periodic = self.boxsize > 0
            if ((self.data < 0) | (self.data >= self.boxsize))[:, periodic].any():
                raise ValueError("data must lie within the periodic box, at least 0 and less than boxsize")
        self._options = {
            "leafsize": leafsize,
            "compact_nodes": compact_nodes,
            "balanced_tree": balanced_tree,
            "boxsize": boxsize,
        }

    @cached_property
    def scipy_tree(self) -> Any:
        """SciPy's own tree of these points."""
        spatial = need("scipy.spatial", extra="scipy", purpose="what broadphase does not have of a KDTree")
        return spatial.KDTree(self.data, **self._options)

    def __getattr__(self, name: str) -> Any:
        """What only SciPy's tree has."""
        if name.startswith("_"):
            raise AttributeError(name)
        return getattr(self.scipy_tree, name)

    @with_hints(
        sqr_dists="distances are not squared: square those of the result",
        mask="leave out the points that do not count: KDTree(data[~mask])",
    )
    def query(
        self,
        x: Any,
        k: Any = 1,
        eps: float = 0.0,
        p: float = 2.0,
        distance_upper_bound: float = np.inf,
        workers: int = 1,
    ) -> tuple[Any, Any]:
        """The nearest points of each point: distances and numbers, inf and ``n`` where there are fewer.

        Only points nearer than ``distance_upper_bound`` count.  ``k`` is a number or a list of them.
        """
        if not self._answers(p):
            found: tuple[Any, Any] = self.scipy_tree.query(x, k, eps, p, distance_upper_bound, workers)
            return found
        places: Any = k if np.ndim(k) == 0 else list(k)
        bound = float(distance_upper_bound)
        below = bound if bound == math.inf else math.nextafter(bound, -math.inf)
        finite = below >= 0.0  # nothing is nearer than nan
        neighborhood = self._index.nearest(
            self._points(x), places, r=below if finite else 0.0, threads=_threads(workers)
        )
        distances, ids = neighborhood.distances, neighborhood.ids.astype(np.intp)
        if not finite:
            distances, ids = np.full_like(distances, np.inf), np.full_like(ids, -1)
        ids[ids < 0] = self.n
        return (distances[..., 0][()], ids[..., 0][()]) if places == 1 else (distances, ids)

    def query_ball_point(
        self,
        x: Any,
        r: Any,
        p: float = 2.0,
        eps: float = 0.0,
        workers: int = 1,
        return_sorted: bool | None = None,
        return_length: bool = False,
    ) -> Any:
        """The points within ``r`` of each point: a list for a point, an array of lists for several.

        ``r`` is a distance for all, or one for each point.
        """
        if not self._answers(p):
            return self.scipy_tree.query_ball_point(x, r, p, eps, workers, return_sorted, return_length)
        points = self._points(x)
        shape = points.shape[:-1]
        reach = r if np.ndim(r) == 0 else np.broadcast_to(_real(r, "r"), shape)
        found = self._index.neighbors(points, reach, threads=_threads(workers))
        if return_length:
            return np.bincount(found.i, minlength=found.shape[0]).astype(np.intp).reshape(shape)[()]
        if not shape:
            return found.j.tolist()
        lists = _lists(found)
        return np.fromiter(lists, object, len(lists)).reshape(shape)

    def query_ball_tree(self, other: Any, r: float, p: float = 2.0, eps: float = 0.0) -> list[list[int]]:
        """For each of these points, the points of another tree within ``r``."""
        if not self._answers(p):
            return list(self.scipy_tree.query_ball_tree(_scipys(other), r, p, eps))
        return _lists(neighbors(self._among, r, other=_plane(other.data), period=self._period))

    def query_pairs(self, r: float, p: float = 2.0, eps: float = 0.0, output_type: str = "set") -> Any:
        """The pairs ``i < j`` of points within ``r`` of each other, as a ``"set"`` or an ``"ndarray"``."""
        if not self._answers(p):
            return self.scipy_tree.query_pairs(r, p, eps, output_type)
        if output_type not in ("set", "ndarray"):
            raise ValueError(f"unknown output_type {output_type!r}; choose one of set, ndarray")
        found = neighbors(self._among, r, period=self._period)
        if output_type == "set":
            return set(zip(found.i.tolist(), found.j.tolist(), strict=True))
        return np.stack([found.i, found.j], axis=1).astype(np.intp)

    def count_neighbors(
        self, other: Any, r: Any, p: float = 2.0, weights: Any = None, cumulative: bool = True
    ) -> Any:
        """How many points of both trees are within ``r`` of each other, for a distance or several.

        As in SciPy a tree with itself counts each pair twice, and each point with itself.
        """
        if weights is not None or not self._answers(p):
            return self.scipy_tree.count_neighbors(_scipys(other), r, p, weights, cumulative)
        if other is self:
            counts = 2 * np.asarray(count_neighbors(self._among, r, period=self._period)) + self.n
        else:
            counts = np.asarray(
                count_neighbors(self._among, r, other=_plane(other.data), period=self._period)
            )
        if not cumulative and np.ndim(r):
            if (np.diff(r) < 0).any():
                raise ValueError("r must not decrease with cumulative=False")
            counts = np.diff(counts, prepend=0)
        return counts.astype(np.intp)[()]

    def sparse_distance_matrix(
        self, other: Any, max_distance: float, p: float = 2.0, output_type: str = "dok_matrix"
    ) -> Any:
        """The distances of these points from those of another tree that are within a distance.

        ``output_type`` is ``"dok_matrix"``, ``"coo_matrix"``, ``"dict"`` or ``"ndarray"``.
        """
        if not self._answers(p):
            return self.scipy_tree.sparse_distance_matrix(_scipys(other), max_distance, p, output_type)
        nearby = neighbors(self._among, max_distance, other=_plane(other.data), period=self._period)
        i, j, distance = nearby
        if output_type == "dict":
            return dict(zip(zip(i.tolist(), j.tolist(), strict=True), distance.tolist(), strict=True))
        if output_type == "ndarray":
            kind = [("i", np.intp), ("j", np.intp), ("v", np.float64)]
            found = np.empty(len(nearby), kind)
            found["i"], found["j"], found["v"] = i, j, distance
            return found
        if output_type not in ("dok_matrix", "coo_matrix"):
            raise ValueError(
                f"unknown output_type {output_type!r}; choose one of dok_matrix, coo_matrix, dict, ndarray"
            )
        sparse = need("scipy.sparse", extra="scipy", purpose=f"a {output_type}")
        matrix = sparse.coo_matrix((distance, (i, j)), shape=nearby.shape)
        return matrix if output_type == "coo_matrix" else matrix.todok()

    # ---- inner

    def _answers(self, p: float) -> bool:
        return p == 2 and self.m <= _MOST_AXES

    @property
    def _among(self) -> npt.NDArray[np.float64]:
        return _plane(self.data)

    @property
    def _period(self) -> tuple[float | None, ...] | None:
        if self.boxsize is None or not (self.boxsize > 0).any():
            return None
        lengths = [length if length > 0 else None for length in self.boxsize.tolist()]
        return (*lengths, None) if self.m == 1 else tuple(lengths)

    def _points(self, x: Any) -> npt.NDArray[np.float64]:
        """Queries of any number of axes."""
        points = _real(x, "x")
        if points.shape[-1:] != (self.m,):
            raise ValueError(
                f"x must have {self.m} numbers a point, as the data have; got shape {points.shape}"
            )
        return _plane(points)

    @cached_property
    def _index(self) -> PointIndex:
        """The points, sorted at the first query."""
        return PointIndex(self._among, period=self._period)


cKDTree = KDTree  # noqa: N816 - SciPy's name


def _real(values: Any, name: str) -> npt.NDArray[np.float64]:
    array = np.asarray(values)
    if array.dtype.kind == "c":
        raise TypeError(f"{name} must hold real numbers, not complex data")
    return np.ascontiguousarray(array, np.float64)


def _plane(points: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Points on a line get a second axis."""
    return points if points.shape[-1] > 1 else np.concatenate((points, np.zeros_like(points)), axis=-1)


def _threads(workers: int) -> int | None:
    return None if workers == -1 else workers


def _lists(found: Neighbors) -> list[list[int]]:
    rows = found.csr()
    ids = rows.indices.tolist()
    return [ids[begin:end] for begin, end in pairwise(rows.indptr.tolist())]


def _scipys(tree: Any) -> Any:
    return tree.scipy_tree if isinstance(tree, KDTree) else tree
