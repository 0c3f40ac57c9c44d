"""The bodies nearest to many points, as arrays."""

import math
from typing import Any

import numpy as np
import numpy.typing as npt

from broadphase.indexes import arguments
from broadphase.indexes.results import Nearest
from broadphase.kernels.shapes.rays import distances_of_rows
from broadphase.world.arguments import as_points
from broadphase.world.many_rays import ManyRays

_Floats = npt.NDArray[np.float64]
_Rows = npt.NDArray[np.int32]

# So many candidates are looked at at once, whatever the number of points.
_AT_ONCE = 1 << 20
# By this factor more are looked at where those were not enough.
_MORE = 4


class ManyNearest(ManyRays):
    """The part of `World` that finds the nearest bodies of many points at once."""

    def nearest_many(
        self,
        points: Any,
        k: int = 1,
        *,
        tag: Any = None,
        category: int | None = None,
        mask: int | None = None,
        ignore: Any = None,
    ) -> Nearest:
        """The ``k`` bodies nearest to each of many points: the answers of `nearest`, as arrays.

        Parameters
        ----------
        points : array_like, shape (m, 2)
        k : int
            At least 1.
        tag, category, mask
            As of `nearest`, the same for all.
        ignore : Body, int, list of Body, or array_like of int, shape (m,), optional
            As of `raycast_many`.

        Returns
        -------
        Nearest
            ``ids, distances`` of shape ``(m, k)``, by distance, then id; filled up with -1 and inf.

        Raises
        ------
        TypeError, ValueError
            As of `nearest` and `raycast_many`.

        Examples
        --------
        >>> import broadphase as bp
        >>> world = bp.World()
        >>> birds = [world.add(bp.Circle(x, 0, 1)) for x in (0, 5, 20)]
        >>> found = world.nearest_many(world.positions, ignore=world.ids)
        >>> found.ids.tolist(), found.distances.tolist()
        ([[1], [0], [1]], [[4.0], [4.0], [14.0]])
        """
        at = np.ascontiguousarray(np.atleast_2d(as_points(points, "points")))
        most = arguments.count(k, "k", 1)
        own = self._left_out(ignore, len(at))
        fits = self._fitting(np.arange(len(self._store.bodies), dtype=np.int32), tag, category, mask)
        self._layers.sync()
        ids, distances = np.full((len(at), most), -1, np.int32), np.full((len(at), most), math.inf)
        waiting, asked = np.arange(len(at)), most + bool((own >= 0).any())
        while len(waiting):
            each = max(_AT_ONCE // min(asked, max(self._store.live, 1)), 1)
            late = []
            for begin in range(0, len(waiting), each):
                some = waiting[begin : begin + each]
                rows, far, beyond = self._near_points(at[some], asked, own[some], fits)
                rows, far = rows[:, :most], far[:, :most]
                ids[some, : rows.shape[1]], distances[some, : rows.shape[1]] = rows, far
                # What was not found lies at least so far away; a body can only be farther than its bounds.
                last = far[:, -1] if far.shape[1] == most else np.full(len(some), math.inf)
                late.append(some[(beyond < math.inf) & ~(last < beyond)])
            waiting, asked = np.concatenate(late), asked * _MORE
        return Nearest(ids, distances)

    def _near_points(
        self, points: _Floats, asked: int, own: _Rows, fits: npt.NDArray[np.bool_]
    ) -> tuple[_Rows, _Floats, _Floats]:
        """Bodies near points by distance, then row, -1 behind them; and how far all others are at least."""
        rows, beyond = self._layers.nearest_many(points, asked)
        left_out = (rows < 0) | (rows == own[:, None])
        left_out[~left_out] = ~fits[rows[~left_out]]
        rows[left_out] = -1
        distances = np.full(rows.shape, math.inf)
        distances_of_rows(points, rows, self._store.table.columns, distances)
        order = np.lexsort((rows, distances), axis=1)
        return np.take_along_axis(rows, order, 1), np.take_along_axis(distances, order, 1), beyond
