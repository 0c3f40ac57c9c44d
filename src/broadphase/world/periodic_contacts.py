"""The contacts of a world that begins again: each body against all images of the other.

Where several images of a body touch another, which only long bodies do, the deepest contact counts: for boxes
and circles that of the nearest image.  A box as long as the world has no ends on that axis.
"""

from typing import Any

import numpy as np
import numpy.typing as npt

from broadphase.kernels.shapes.contact_rows import contact_shapes
from broadphase.kernels.shapes.table import ShapeColumns
from broadphase.shapes.narrow_phase import ContactArrays
from broadphase.world.body_rows import Rows
from broadphase.world.body_store import BodyStore
from broadphase.world.events import Found
from broadphase.world.few import Few
from broadphase.world.layers import Layers
from broadphase.world.listeners import MOVING, STATIC
from broadphase.world.narrow import contacts_of
from broadphase.world.torus import Floats, Images, Torus, Turns, bounds_of
from broadphase.world.tracker import _SHARE, Tracker

# Of a pair: the lower row, the higher row, and the turns of the second on x and y.
_Pairs = npt.NDArray[np.int64]


class PeriodicTracker(Tracker):
    """A `Tracker` that looks across the seam."""

    def __init__(self, store: BodyStore, layers: Layers, torus: Torus) -> None:
        super().__init__(store, layers)
        self._torus = torus
        self._few = _Nothing(store, layers)

    def _candidates(self, rows: npt.NDArray[Any]) -> Any:
        """Rows ``i, j, turns of j`` of images whose bounds may overlap, sorted, each once."""
        store, layers = self._store, self._layers
        moving, static = rows[store.layer[rows] == MOVING], rows[store.layer[rows] == STATIC]
        anew = len(moving) * _SHARE > len(layers.indexes[MOVING])
        parts = []
        if anew:
            parts += [_unmoved(layers.pairs()), self._over_the_seam()]
        for asking, asked in ((moving, (STATIC,) if anew else (MOVING, STATIC)), (static, (MOVING,))):
            if len(asking):
                parts.append(self._near(asking, asked))
        pairs = np.concatenate(parts)
        i, j = pairs[:, 0], pairs[:, 1]
        pairs = pairs[(store.touched[i] | store.touched[j]) & self.concerned(pairs[:, :2].astype(np.int32))]
        turned = pairs[:, 0] > pairs[:, 1]
        pairs[turned] = pairs[turned] * [1, 1, -1, -1]
        pairs[turned, :2] = pairs[turned, 1::-1]
        pairs = pairs[np.lexsort(pairs.T[::-1])]
        return pairs[np.append(True, (np.diff(pairs, axis=0) != 0).any(axis=1))[: len(pairs)]]

    def _over_the_seam(self) -> _Pairs:
        """Moving bodies that reach over the seam, and what may touch them beyond it."""
        store = self._store
        rows = np.flatnonzero(store.alive & (store.layer == MOVING)).astype(np.int32)
        bounds = store.table.bounds(rows)
        low, high = bounds[:, :2] < 0.0, bounds[:, 2:] > self._torus.lengths
        found = self._near(rows[(low | high).any(axis=1)], (MOVING,))
        return found[found[:, 2:].any(axis=1)]

    def _near(self, rows: Rows, layers: tuple[int, ...]) -> _Pairs:
        bounds = np.asarray(self._store.table.bounds(rows), np.float64)
        images = self._torus.near(self._layers, bounds, layers)
        return np.column_stack((rows[images.asked], images.rows, images.turns))

    def _narrow(self, pairs: Any) -> Found:
        self.candidates = len(pairs)
        store = self._store
        overlapping = np.zeros(len(pairs), np.bool_)
        normals, depths = np.zeros((len(pairs), 2)), np.zeros(len(pairs))
        endless: npt.NDArray[np.bool_] = np.logical_or(*self._torus.endless(store.table.columns).T)
        away = pairs[:, 2:].any(axis=1) | endless[pairs[:, :2]].any(axis=1)
        here = contacts_of(store.table, pairs[~away, :2].astype(np.int32))
        across = contacts_between(self._torus, store.table.columns, pairs[away, :2], pairs[away, 2:])
        for chosen, found in ((~away, here), (away, across)):
            overlapping[chosen], normals[chosen], depths[chosen] = found
        contacts = np.flatnonzero(overlapping)
        contacts = contacts[deepest(self._torus, store, pairs[contacts], depths[contacts])]
        ids = pairs[contacts, :2].astype(np.int32)
        return Found(ids, normals[contacts], depths[contacts], store.group[ids], store.listeners.matcher)


class _Nothing(Few):
    """The contacts where nothing was touched; all else is looked for as many."""

    def renewed(self, before: Found) -> tuple[Found, int] | None:
        """The contacts as they were, or ``None``."""
        store = self._store
        if before.matcher is store.listeners.matcher and not store.touched[: len(store.bodies)].any():
            return before, 0
        return None


def contacts_between(
    torus: Torus, columns: ShapeColumns, pairs: npt.NDArray[np.integer[Any]], turns: Turns
) -> ContactArrays:
    """Contacts of the first of each two rows with an image of the second; flush does not count."""
    count = len(pairs)
    both = torus.gathered(
        columns,
        Images(
            np.zeros(2 * count, np.int64),
            np.concatenate((pairs[:, 0], pairs[:, 1])).astype(np.int64),
            np.concatenate((np.zeros_like(turns), turns)),
        ),
    )
    # What is as long as the world meets itself, and has no ends to be pushed out at.
    sides = ((both.x, both.width), (both.y, both.height))
    for (places, sizes), length, long in zip(sides, torus.lengths, torus.endless(both).T, strict=True):
        places[long] -= length
        sizes[long] += 2.0 * length
    found = ContactArrays(np.zeros(count, np.bool_), np.zeros((count, 2)), np.zeros(count))
    # The test takes bounds that overlap for granted.
    bounds = bounds_of(both)
    a, b = bounds[:count], bounds[count:]
    close = np.flatnonzero(((a[:, :2] < b[:, 2:]) & (b[:, :2] < a[:, 2:])).all(axis=1))
    some = ContactArrays(np.zeros(len(close), np.bool_), np.zeros((len(close), 2)), np.zeros(len(close)))
    contact_shapes(both, np.column_stack((close, close + count)).astype(np.int32), False, *some)
    for column, part in zip(found, some, strict=True):
        column[close] = part
    return found


def deepest(torus: Torus, store: BodyStore, pairs: _Pairs, depths: Floats) -> npt.NDArray[np.intp]:
    """Which of some contacts are the deepest of their two bodies; of equal ones, the left or upper one."""
    x, y = (torus.shift(pairs[:, 2:]) + _places(store, pairs[:, 1]) - _places(store, pairs[:, 0])).T
    order = np.lexsort((y, x, -depths, pairs[:, 1], pairs[:, 0]))
    first = (np.diff(pairs[order, :2], axis=0, prepend=-1) != 0).any(axis=1)
    chosen: npt.NDArray[np.intp] = order[first]
    return chosen


def _places(store: BodyStore, rows: npt.NDArray[np.int64]) -> Floats:
    return np.column_stack((store.x[rows], store.y[rows]))


def _unmoved(pairs: npt.NDArray[np.int32]) -> _Pairs:
    return np.hstack((pairs.astype(np.int64), np.zeros_like(pairs, np.int64)))
