"""What a `BoxTree` does at once: one question or one move, with what a caller wrote."""

from abc import abstractmethod
from typing import Any

import numpy as np

from broadphase.indexes.arguments import Given
from broadphase.indexes.protocol import Hooks
from broadphase.indexes.results import Distances
from broadphase.indexes.storage import IdArray
from broadphase.indexes.tree_arrays import TreeArrays
from broadphase.kernels.machine.trial import trial
from broadphase.kernels.tree.ask import LEAVES, REFUSED, ask_box, ask_move, ask_nearest, ask_ray

# A box that moves may go on so many times before it leaves its margin.
STEPS = 4.0
_try_box, _try_ray, _try_nearest, _try_move = map(trial, (ask_box, ask_ray, ask_nearest, ask_move))


class TreeAsking(Hooks):
    """The quick hooks of an index that keeps `TreeArrays`."""

    _arrays: TreeArrays
    _reach: float

    @abstractmethod
    def _insert(self, ids: IdArray, *, fresh: bool) -> None:
        """Put boxes into their leaves."""

    def _ask_box(self, values: Given) -> tuple[IdArray, int] | None:
        arrays = self._arrays
        answer: tuple[IdArray, int] | None = _try_box(
            arrays.edges, arrays.children, self._store.boxes, values, self._touching
        )
        return answer

    def _ask_ray(
        self, origin: Given, direction: Given, furthest: float
    ) -> tuple[int, int, float, float, float, float] | None:
        arrays = self._arrays
        answer: tuple[int, int, float, float, float, float] | None = _try_ray(
            arrays.edges, arrays.children, self._store.boxes, origin, direction, furthest, self._touching
        )
        return answer

    def _ask_nearest(self, point: Given, k: int) -> tuple[IdArray, Distances, int] | None:
        arrays = self._arrays
        answer: tuple[IdArray, Distances, int] | None = _try_nearest(
            arrays.edges, arrays.children, self._store.boxes, point, k
        )
        return answer

    def _ask_move(self, id: Any, values: Given) -> bool:  # noqa: A002
        store, arrays = self._store, self._arrays
        if store.any_static:
            return False
        done = _try_move(
            arrays.edges, arrays.children, arrays.links, arrays.where, store.boxes, arrays.reach,
            store.alive, store.end, id, values, self._reach, STEPS,
        )  # fmt: skip
        if done == LEAVES:
            ids = np.array([id], np.int32)
            self._removing(ids)
            self._insert(ids, fresh=False)
        return done is not None and done != REFUSED
