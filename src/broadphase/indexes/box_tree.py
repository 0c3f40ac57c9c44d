"""Box tree: a living tree of boxes within boxes."""

from typing import Any

import numpy as np
import numpy.typing as npt

from broadphase.indexes.arguments import Floats, Rows
from broadphase.indexes.base import Index
from broadphase.indexes.storage import IdArray, BoxStore
from broadphase.kernels.tree_insert import insert_boxes
from broadphase.kernels.tree_nodes import HEIGHT, NODES, WIDTH, clear_nodes
from broadphase.kernels.tree_query import search_box, search_boxes
from broadphase.kernels.tree_remove import remove_boxes
from broadphase.kernels.tree_move import move_boxes
from broadphase.methods import brute_force
from broadphase.methods.task import Found


class Nodes:
    def __init__(self, dim, dtype):
        self.rows = 2 * dim
        self.edges = aligned((0, WIDTH), dtype)
        self.children = aligned((0, WIDTH), np.dtype(np.int32))
        self.links = np.empty((0, 2), np.int32)
        self.where = np.empty(0, np.int32)
        self.reach = np.empty(0, dtype)
        self.make_room(16)
        clear_nodes(self.edges, self.children, self.links)

    def make_room(self, room):
        old = len(self.children)
        if room <= old:
            return
        room = max(room, 2 * old)
        edges = aligned((room * self.rows, WIDTH), self.edges.dtype)
        edges[: old * self.rows] = self.edges
        children = aligned((room, WIDTH), np.dtype(np.int32))
        children[:old] = self.children
        links = np.empty((room, 2), np.int32)
        links[:old] = self.links
        self.edges, self.children, self.links = edges, children, links

    def make_id_room(self, room):
        old = len(self.where)
        if room <= old:
            return
        where = np.full(room, -1, np.int32)
        where[:old] = self.where
        reach = np.zeros(room, self.reach.dtype)
        reach[:old] = self.reach
        self.where, self.reach = where, reach


def aligned(shape, dtype):
    size = int(np.prod(shape)) * dtype.itemsize
    memory = np.empty(size + 64, np.uint8)
    at = -memory.ctypes.data % 64
    return memory[at : at + size].view(dtype).reshape(shape)


class BoxTree(Index):
    name = "box_tree"

    def __init__(self, *, margin=None, **common):
        self._margin = margin
        super().__init__(**common)

    def _reset(self):
        store = self._store
        self._nodes = Nodes(self.dim, self.dtype)
        if store.live:
            self._insert(store.ids())

    def _inserted(self, ids):
        self._insert(ids)

    def _insert(self, ids):
        nodes = self._nodes
        store = self._store
        if len(nodes.where) < len(store.alive):
            nodes.make_id_room(len(store.alive))
        done = 0
        while True:
            done = insert_boxes(
                nodes.edges, nodes.children, nodes.links, nodes.where, store.boxes, nodes.reach, store.classes, ids, done
            )
            if done == len(ids):
                break
            nodes.make_room(2 * len(nodes.children))

    def _removing(self, ids):
        nodes = self._nodes
        nodes.reach[ids] = 0
        remove_boxes(nodes.edges, nodes.children, nodes.links, nodes.where, self._store.classes, ids)

    def _moving(self, ids, rows):
        nodes, store = self._nodes, self._store
        leaving = np.empty(len(ids), np.int64)
        margin = -4.0 if self._margin is None else self._margin
        left = move_boxes(nodes.edges, nodes.children, nodes.links, nodes.where, store.boxes, nodes.reach, store.classes, ids, rows, margin, leaving)
        self._leaving = ids[leaving[:left]]
        if left:
            remove_boxes(nodes.edges, nodes.children, nodes.links, nodes.where, store.classes, self._leaving)

    def _moved(self, ids):
        if len(self._leaving):
            self._insert(self._leaving)

    def _find_pairs(self):
        return self._search_live(brute_force.find)

    def _cell_count(self):
        return int(self._nodes.children[0, NODES])

    def _find_in_box(self, box, touching, category, mask):
        nodes, store = self._nodes, self._store
        out = np.empty(64, np.int32)
        found, tests = search_box(nodes.edges, nodes.children, store.boxes, store.categories, store.masks, out, box, touching, category, mask)
        if found > len(out):
            out = np.empty(found, np.int32)
            found, tests = search_box(nodes.edges, nodes.children, store.boxes, store.categories, store.masks, out, box, touching, category, mask)
        return out[:found], tests

    def _find_in_boxes(self, boxes, touching, category, mask):
        nodes, store = self._nodes, self._store
        from broadphase import threads
        from functools import partial
        spans = threads.shares(len(boxes), threads.resolve(self._threads) if len(boxes) > 1000 else 1)
        parts = threads.run_all([partial(search_boxes, nodes.edges, nodes.children, store.boxes, store.categories, store.masks, store.end, boxes, a, b, touching, category, mask, self._sort, np.empty((8*(b-a)+64,2),np.int32)) for a, b in spans])
        return np.concatenate([rows[:found] for rows, found, _ in parts]), sum(t for _, _, t in parts)
