"""The arrays behind a `BoxTree`: they grow, and are saved without what is not in use."""

from typing import Any

import numpy as np
import numpy.typing as npt

from broadphase.boxes import BoxArray
from broadphase.kernels.tree.insert import insert_scratch
from broadphase.kernels.tree.nodes import NODES, USED, WIDTH, clear_nodes

_CACHE_LINE = 64
_FIRST_ROOM = 16


class TreeArrays:
    """The nodes of both trees (see `broadphase.kernels.tree.nodes`), and what is known of each id."""

    def __init__(self, dim: int, dtype: npt.DTypeLike) -> None:
        self.rows = 2 * dim
        self.scratch = insert_scratch(2 * dim, np.dtype(dtype))
        self.edges: BoxArray = np.empty((0, WIDTH), dtype)
        self.children = np.empty((0, WIDTH), np.int32)
        self.links = np.empty((0, 2), np.int32)
        self.where = np.empty(0, np.int32)
        """The place of each id's slot; -1 where it has none."""
        self.reach: npt.NDArray[np.floating[Any]] = np.empty(0, dtype)
        """How much wider than its box an id's slot is made on every side."""
        self.make_room(_FIRST_ROOM)
        clear_nodes(self.edges, self.children, self.links)

    def make_room(self, nodes: int) -> None:
        """Let ``nodes`` more nodes be made."""
        old = len(self.children)
        room = (int(self.children[0, NODES]) if old else 0) + 1 + nodes
        if room > old:
            self._resize(max(room, old + old // 2))

    def make_id_room(self, room: int) -> None:
        """Take ids below ``room``."""
        old = len(self.where)
        if room > old:
            where = np.full(room, -1, np.int32)
            where[:old] = self.where
            reach = np.zeros(room, self.reach.dtype)
            reach[:old] = self.reach
            self.where, self.reach = where, reach

    def _resize(self, room: int) -> None:
        kept = min(len(self.children), room)
        # All arrays are made before one is replaced: memory may run out.
        edges = _aligned((room * self.rows, WIDTH), self.edges.dtype)
        children = _aligned((room, WIDTH), self.children.dtype)
        links = np.empty((room, 2), np.int32)
        edges[: kept * self.rows] = self.edges[: kept * self.rows]
        children[:kept] = self.children[:kept]
        links[:kept] = self.links[:kept]
        self.edges, self.children, self.links = edges, children, links

    def __getstate__(self) -> dict[str, Any]:
        used = int(self.children[0, USED])
        ids = int(np.flatnonzero(self.where >= 0).max(initial=-1)) + 1
        return self.__dict__ | {
            "where": self.where[:ids],
            "reach": self.reach[:ids],
            "edges": self.edges[: used * self.rows],
            "children": self.children[:used],
            "links": self.links[:used],
            "scratch": (),
        }

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self.scratch = insert_scratch(self.rows, self.edges.dtype)
        self._resize(len(self.children))


def _aligned(shape: tuple[int, int], dtype: np.dtype[Any]) -> npt.NDArray[Any]:
    """An array whose rows begin where cache lines do: else every vector of 64 bytes lies on two of them."""
    size = shape[0] * shape[1] * dtype.itemsize
    memory = np.empty(size + _CACHE_LINE, np.uint8)
    begin = -memory.ctypes.data % _CACHE_LINE
    return memory[begin : begin + size].view(dtype).reshape(shape)
