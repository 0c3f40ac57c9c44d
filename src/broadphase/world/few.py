"""The contacts of a world in which few bodies were touched: the same answer as of all at once, sooner."""

import numpy as np

from broadphase.kernels.pairs.contacts import (
    put_candidates,
    put_candidates_of_many,
    renew_contacts,
    touched_rows,
)
from broadphase.world.body_store import BodyStore
from broadphase.world.events import Found
from broadphase.world.layers import Layers
from broadphase.world.listeners import MOVING, STATIC

# Of more, all their pairs are found as arrays.
FEW = 64
# Up to so many each is asked about alone; beyond, a batch costs less.
_VERY_FEW = 4
_SORTED_HERE = 64
_MOST_CANDIDATES = 1_024


class Few:
    """Looks for bodies that were touched, and renews the contacts where they are few."""

    def __init__(self, store: BodyStore, layers: Layers) -> None:
        self._store = store
        self._layers = layers
        self._moving, self._static = np.empty((2, FEW), np.int32)
        self._keys = np.empty(_MOST_CANDIDATES, np.int64)

    def renewed(self, before: Found) -> tuple[Found, int] | None:
        """The contacts now, and how many candidates were tested; ``None`` where this is not for few.

        ``before`` itself where nothing was touched.
        """
        store, listeners = self._store, self._store.listeners
        touched, moving, static = touched_rows(
            store.touched,
            store.alive,
            store.layer,
            MOVING,
            STATIC,
            len(store.bodies),
            self._moving,
            self._static,
        )
        if touched == 0 and before.matcher is listeners.matcher:
            return before, 0
        if moving + static > FEW or not listeners.exact:
            return None
        count = self._asked(self._moving[:moving].tolist(), (MOVING, STATIC), 0)
        count = self._asked(self._static[:static].tolist(), (MOVING,), count)
        if count < 0:
            return None
        if count > _SORTED_HERE:
            self._keys[:count].sort()  # the kernel puts each into its place, which is for few
        room = len(before.ids) + count
        pairs = np.empty((2, room, 2), np.int32)
        now = Found(pairs[0], np.empty((room, 2)), np.empty(room), pairs[1], listeners.matcher)
        found, candidates = renew_contacts(
            store.table.columns, store.touched, store.group, self._keys, count, before[:3], *now[:4]
        )
        return now.first(found), candidates

    def _asked(self, rows: list[int], layers: tuple[int, ...], count: int) -> int:
        """Who may be in contact with some bodies, behind ``count`` others; -1 where there is not room."""
        store, asked = self._store, self._layers
        bits = store.listeners.bits()
        known = (bits, store.group, store.category, store.mask)
        if len(rows) > _VERY_FEW:
            some = np.array(rows, np.int32)
            boxes = store.table.bounds(some)
            for layer in layers:
                pairs = asked.indexes[layer].query_box(boxes)
                count = put_candidates_of_many(self._keys, count, some, pairs, asked.rows[layer], *known)
            return count
        for row in rows:
            box = store.bounds(row)
            for layer in layers:
                ids = asked.indexes[layer].query_box(box)
                if len(ids):
                    count = put_candidates(self._keys, count, row, ids, asked.rows[layer], *known)
        return count
