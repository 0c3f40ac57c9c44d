"""The ghosts of an index on a torus: what reaches over the seam, once more on the other side.

They lie in a box tree of their own, which is small where few boxes cross.  It follows the boxes: a few that
move are replaced one by one, and after a change of many all ghosts are made again when they are asked for.
"""

from typing import Any

import numpy as np
import numpy.typing as npt

from broadphase.boxes import BoxArray
from broadphase.indexes.box_tree import BoxTree
from broadphase.indexes.storage import BoxStore, IdArray
from broadphase.kernels.boxes import torus, torus_queries
from broadphase.methods.torus import Carried

# Changing so many boxes at once, it is quicker to look at all.
MANY = 64


class Seam:
    """The ghosts of the boxes of a store, and whose they are."""

    def __init__(self, store: BoxStore, lengths: npt.NDArray[np.floating[Any]], touching: bool) -> None:
        self._lengths = lengths
        self._touching = touching
        self.tree = BoxTree(dim=len(lengths), dtype=store.boxes.dtype, touching=touching, sort=False)
        self._owners = np.empty(0, np.int32)
        self._ghosts_of: dict[int, list[int]] = {}
        # What is rounded when it is asked about must not come nearer to the seam than this.
        slack = 4.0 * np.finfo(lengths.dtype).eps * lengths.astype(np.float64)
        self._slack = np.where(np.isfinite(slack), slack, 0.0)
        self._over = np.where(np.isfinite(lengths), 0.0, -np.inf)
        self.origin = self._over.tolist()
        self.begin = (self._over + self._slack).tolist()
        self.end = (lengths - self._slack).tolist()
        """Between these on each axis lies nothing but the boxes themselves, none of their images."""
        rows = np.empty(store.end, np.int32)
        found, _ = torus_queries.crossing_rows(store.boxes[: store.end], lengths, touching, rows)
        self._add(store, rows[:found])

    def follow(self, store: BoxStore, ids: IdArray) -> None:
        """These boxes are new, or somewhere else."""
        self.forget(ids)
        rows = np.empty(len(ids), np.int32)
        found, _ = torus_queries.crossing_rows(store.boxes[ids], self._lengths, self._touching, rows)
        if found:
            self._add(store, ids[rows[:found]])

    def forget(self, ids: IdArray) -> None:
        """These boxes go, or are about to be somewhere else."""
        gone = [ghost for box in ids.tolist() for ghost in self._ghosts_of.pop(box, ())]
        if gone:
            self.tree.remove_many(gone)

    def owners(self, ghosts: IdArray) -> IdArray:
        """Whose ghosts these are."""
        owners: IdArray = self._owners[ghosts]
        return owners

    def _add(self, store: BoxStore, crossing: IdArray) -> None:
        ghosts, sources = ghosts_of(store.boxes, crossing, self._lengths, self._touching)
        if not len(ghosts):
            return
        beyond = store.boxes[crossing, len(self._lengths) :] - self._lengths.astype(np.float64)
        self._over = np.maximum(self._over, beyond.max(axis=0))
        self.begin = (self._over + self._slack).tolist()
        own = self.tree.insert_many(ghosts, category=store.categories[sources], mask=store.masks[sources])
        if self.tree._store.end > len(self._owners):
            larger = np.empty(2 * self.tree._store.end, np.int32)
            larger[: len(self._owners)] = self._owners
            self._owners = larger
        self._owners[own] = sources
        for box, ghost in zip(sources.tolist(), own.tolist(), strict=True):
            self._ghosts_of.setdefault(box, []).append(ghost)


def ghosts_of(
    boxes: BoxArray, crossing: IdArray, lengths: npt.NDArray[Any], touching: bool
) -> tuple[BoxArray, IdArray]:
    """The ghosts of these rows, which cross, and the row of each."""
    scratch = np.empty(len(crossing), np.int32)
    _, count = torus_queries.crossing_rows(boxes[crossing], lengths, touching, scratch)
    carried = Carried(boxes, lengths, touching, crossing, int(count))
    ghosts, sources, _ = carried.make_ghosts()
    return ghosts, sources


def carry_points(
    points: npt.NDArray[np.float64], lengths: npt.NDArray[Any], name: str
) -> npt.NDArray[np.float64]:
    """Points as they lie in the world, in the type of the index.

    Raises
    ------
    ValueError
        One is so many periods away that its place in the world is lost in rounding.
    """
    into = points.astype(lengths.dtype)
    row, axis = torus.carry_points(into, lengths)
    if row >= 0:
        raise ValueError(
            f"{name}[{row}] = {points[row].tolist()} is so many periods of {lengths[axis]:g} away from "
            "the world that its place there is lost in rounding; bring it nearer"
        )
    return into.astype(np.float64)
