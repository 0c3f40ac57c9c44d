"""Neighbours in freud's boxes, as the neighbour lists that freud's analyses take.

`AABBQuery` and `LinkCell` stand in for freud's classes of these names: their ``query`` takes the same
arguments, and ``toNeighborList()`` makes a `freud.locality.NeighborList`, which goes into ``neighbors=`` of
every analysis.
"""

from collections.abc import Iterator, Mapping
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from broadphase.errors import need
from broadphase.points.neighborhoods import nearest, neighbors
from broadphase.runtime.arrays import by_matrix

__all__ = ["AABBQuery", "LinkCell", "NeighborQueryResult"]

_freud: Any = need("freud", extra="freud", purpose="the freud adapter")

Singles = npt.NDArray[np.float32]
Whole = npt.NDArray[np.int32]


class AABBQuery:
    """Points in a box that are searched by distance, with names and results of `freud.locality.AABBQuery`.

    Parameters
    ----------
    box : freud.box.Box or array_like
        The box, or what `freud.box.Box.from_box` makes one of.
    points : array_like, shape (n, 3)
        The points; computed as float32, as freud does.

    Raises
    ------
    ValueError
        The points have another shape, or there are none; the box is not periodic along all axes.

    Examples
    --------
    >>> from broadphase.adapters.freud import AABBQuery
    >>> query = AABBQuery([10, 10, 10], [[-4.5, 0, 0], [4.5, 0, 0], [2.5, 0, 0]])
    >>> near = query.query(query.points, {"r_max": 2.5, "exclude_ii": True}).toNeighborList()
    >>> near.query_point_indices, near.point_indices
    (array([0, 1, 1, 2], dtype=uint32), array([1, 0, 2, 1], dtype=uint32))
    >>> near.distances
    array([1., 1., 2., 2.], dtype=float32)
    """

    def __init__(self, box: Any, points: Any) -> None:
        kind = _freud.box.Box
        self.box = box if isinstance(box, kind) else kind.from_box(box)  # which would lose `periodic`
        self.points = _as_points(points, "points")
        if not len(self.points):
            raise ValueError("points must hold at least one row")
        self._dim = 2 if self.box.is2D else 3
        if self._dim == 2 and self.points[:, 2].any():
            raise ValueError("points in a 2-D box must have z = 0")
        if not all(self.box.periodic[: self._dim]):
            raise ValueError("the box must be periodic along all axes, as for freud's own queries")
        self._vectors = self.box.to_matrix().T[: self._dim, : self._dim].astype(np.float64)
        self._inverse = np.linalg.inv(self._vectors)
        tilted = np.count_nonzero(self._vectors) > self._dim
        self._period = self._vectors if tilted else self._vectors.diagonal()
        self._largest = 0.5 / np.linalg.norm(self._inverse, axis=0).max()

    @classmethod
    def from_system(cls, system: Any, dimensions: int | None = None) -> Self:
        """Make one of a system: ``(box, points)``, a snapshot, or what else freud knows as one.

        Examples
        --------
        >>> from broadphase.adapters.freud import AABBQuery
        >>> AABBQuery.from_system(([10, 10, 10], [[1, 2, 3]])).points.tolist()
        [[1.0, 2.0, 3.0]]
        """
        if isinstance(system, cls):
            return system
        known = _freud.locality.NeighborQuery.from_system(system, dimensions)
        return cls(known.box, known.points)

    def query(self, query_points: Any, query_args: Mapping[str, Any]) -> "NeighborQueryResult":
        """The points near each query point.

        Parameters
        ----------
        query_points : array_like, shape (m, 3)
            From where to search.
        query_args : dict
            ``r_max``, ``r_min``, ``num_neighbors``, ``exclude_ii`` and ``mode`` (``"ball"`` or
            ``"nearest"``), with freud's meaning; ``r_guess`` and ``scale`` are not used.

        Raises
        ------
        RuntimeError
            ``r_max`` is missing, or more than half of the box; ``mode`` and ``num_neighbors`` disagree.
        ValueError
            An unknown argument or mode, ``r_min`` not less than ``r_max``, points of another shape.
        """
        given = {key: value for key, value in query_args.items() if value is not None}
        known = {"mode", "r_max", "r_min", "num_neighbors", "exclude_ii", "r_guess", "scale"}
        unknown = given.keys() - known
        if unknown:
            raise ValueError(f"unknown query arguments: {', '.join(sorted(unknown))}")
        mode = given.get("mode", "nearest" if "num_neighbors" in given else "ball")
        if mode not in ("ball", "nearest"):
            raise ValueError(f"unknown mode {mode!r}; choose one of ball, nearest")
        if mode == "ball" and ("num_neighbors" in given or "r_max" not in given):
            raise RuntimeError('mode "ball" needs r_max, and takes no num_neighbors')
        if mode == "nearest" and "num_neighbors" not in given:
            raise RuntimeError('mode "nearest" needs num_neighbors')
        points = _as_points(np.atleast_2d(query_points), "query_points")
        r_max, r_min = np.float32(given.get("r_max", np.inf)), np.float32(given.get("r_min", 0.0))
        if not 0 <= r_min < r_max:
            raise ValueError(f"r_min = {r_min:g} must be at least 0 and less than r_max = {r_max:g}")
        if mode == "ball":
            if not r_max <= self._largest:
                raise RuntimeError(f"r_max = {r_max:g} is more than half of the box, {self._largest:g}")
            found = neighbors(self._own(points), r_max, other=self._own(self.points), period=self._period)
            i, j, distance = found
        else:
            i, j, distance = self._nearest(points, given["num_neighbors"], r_max, r_min)
        kept = (distance < r_max) & (distance >= r_min)
        if given.get("exclude_ii", False):
            kept &= i != j
        i, j, distance = i[kept], j[kept], distance[kept]
        if mode == "nearest":  # some of the nearest may have been left out before
            starts = np.searchsorted(i, np.arange(len(points)))
            first = np.arange(len(i)) - starts[i] < given["num_neighbors"]
            i, j, distance = i[first], j[first], distance[first]
        return NeighborQueryResult(self, points, i, j, distance, mode == "nearest")

    def plot(self, ax: Any = None, title: str | None = None, *args: Any, **kwargs: Any) -> Any:
        """Draw the box and the points with `freud.plot.system_plot`, which needs matplotlib."""
        plots = need("freud.plot", extra="plot", purpose="plots of freud's systems")
        return plots.system_plot((self.box, self.points), title, ax, *args, **kwargs)

    def _nearest(self, points: Singles, k: int, r_max: Any, r_min: Any) -> tuple[Whole, Whole, Singles]:
        """More than the ``k`` nearest: as many more as may be too near, and the point itself."""
        queries, others = self._own(points), self._own(self.points)
        more = 1
        if r_min > 0:
            inner = neighbors(queries, r_min, other=others, period=self._period)
            more += int(np.bincount(inner.i, minlength=1).max())
        found = nearest(queries, min(k + more, len(others)), other=others, r=r_max, period=self._period)
        i, place = np.nonzero(found.ids >= 0)
        return i.astype(np.int32), found.ids[i, place], found.distances[i, place]

    def vectors(self, first: Singles, second: Singles) -> Singles:
        """From each first point to the image of its second that is nearest along the vectors of the box."""
        away = second.astype(np.float64) - first
        inner = away[:, : self._dim]
        around = np.round(by_matrix(inner, self._inverse))
        inner -= by_matrix(around, self._vectors)  # in float64: freud's own wrap loses digits
        return away.astype(np.float32)

    def _own(self, points: Singles) -> Singles:
        return np.ascontiguousarray(points[:, : self._dim])


class LinkCell(AABBQuery):
    """The same with the arguments of `freud.locality.LinkCell`.

    Parameters
    ----------
    box, points
        As of `AABBQuery`.
    cell_width : float
        Not used.

    Examples
    --------
    >>> from broadphase.adapters.freud import LinkCell
    >>> query = LinkCell([10, 10, 10], [[-4.5, 0, 0], [4.5, 0, 0]], cell_width=2)
    >>> list(query.query([[0, 0, 0]], {"num_neighbors": 1}))
    [(0, 0, 4.5)]
    """

    def __init__(self, box: Any, points: Any, cell_width: float = 0.0) -> None:
        super().__init__(box, points)
        self.cell_width = float(cell_width)


class NeighborQueryResult:
    """What a query found; iterate over it for tuples ``(query point, point, distance)``."""

    def __init__(
        self, query: AABBQuery, points: Singles, i: Whole, j: Whole, distance: Singles, by_distance: bool
    ) -> None:
        self._query, self._points, self._by_distance = query, points, by_distance
        self._i, self._j, self._distance = i, j, distance

    def __iter__(self) -> Iterator[tuple[int, int, float]]:
        """Sorted by query point, then by point, or by distance in a search for the nearest."""
        return zip(self._i.tolist(), self._j.tolist(), self._distance.tolist(), strict=True)

    def toNeighborList(self, sort_by_distance: bool = False) -> Any:  # noqa: N802 - freud's name
        """A `freud.locality.NeighborList`, sorted by query point, then by point or by distance."""
        i, j = self._i, self._j
        if sort_by_distance != self._by_distance:
            order = np.lexsort((j, self._distance, i) if sort_by_distance else (j, i))
            i, j = i[order], j[order]
        vectors = self._query.vectors(self._points[i], self._query.points[j])
        return _freud.locality.NeighborList.from_arrays(
            len(self._points), len(self._query.points), i, j, vectors
        )


def _as_points(values: Any, name: str) -> Singles:
    points = np.asarray(values, np.float32)
    if points.ndim != 2 or points.shape[1] != 3:
        raise ValueError(f"{name} must have shape (n, 3); got shape {points.shape}")
    return points
