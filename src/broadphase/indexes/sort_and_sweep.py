"""Sort and sweep: the boxes in the order of their lower edges on one axis, and that order kept.

Once the boxes are sorted, each one overlaps only boxes that begin before it ends: a walk to the right.
Sorting is most of the work, and from one frame to the next little of the order changes.  So it is kept, and
sorted again by insertion: a box moves past the few that it has overtaken, and an order that is nearly right
is put right in nearly linear time.  Where insertion takes too many steps (everything jumped about), a radix
sort starts afresh, so no frame costs more than a few passes over the boxes.

The order is a library sort (`kernels.sorted.gapped`): it has gaps, so that a box that moves, comes or
goes does not push all others.

Source: the single-axis case of Baraff's coordinate sorting (1992), with its temporal coherence; Bender,
Farach-Colton and Mosteiro's library sort (2004).

Cost: linear in the boxes for ``update``, logarithmic for a single box; ``pairs`` adds the pairs that overlap
on the sorted axis, and a query the boxes that overlap it there.  It loses where boxes pile up on that axis:
in a scene that is spread evenly in the plane, a box shares it with about the square root of all.
"""

from typing import Any

import numpy as np
import numpy.typing as npt

from broadphase import threads
from broadphase.indexes.base import Index
from broadphase.indexes.gapped import GappedOrders, GappedQueries
from broadphase.indexes.storage import IdArray
from broadphase.indexes.touched import Touched
from broadphase.kernels.arrays.ordered_bits import PADDING, bits_of
from broadphase.kernels.sorted.keep_sorted import (
    close_gaps,
    insert_in_order,
    rows_in_order,
    rows_out_of_order,
    settle_boxes,
)
from broadphase.memory import Scratch
from broadphase.methods.sort_and_sweep import Axis, choose_axis, sweep_ordered
from broadphase.methods.task import Found, Task
from broadphase.slices import FIRST_CHANGES, growing, paced, ranges

# Up to this share of the boxes is moved one by one; to put one in its place by itself costs as much as to
# sort so many together.
FEW_TOUCHED = 1 / 16
# Insertion sort may take so many steps a box before the radix sort, which costs about as much, takes over.
MOST_STEPS = 8


class SortAndSweep(GappedQueries, Index):
    """Boxes in the order of one axis, kept between frames: simple, small, and good where that axis is long.

    ``pairs`` and ``changes`` look at the boxes that share the sorted axis, and so does a query.

    Parameters
    ----------
    axis : int or "auto"
        The axis to sort along; ``"auto"`` is the one on which the boxes are spread most, looked for
        whenever everything is sorted afresh.
    dim, dtype, touching, sort, threads
        As of `broadphase.Index`.

    Notes
    -----
    ``stats.swaps`` says how many steps the boxes took in the order since the read before; 0 where it was
    sorted afresh.

    Examples
    --------
    >>> import broadphase as bp
    >>> index = bp.SortAndSweep(axis=0)
    >>> index.insert_many([[0, 0, 2, 2], [1, 1, 3, 3], [5, 5, 6, 6]])
    array([0, 1, 2], dtype=int32)
    >>> index.pairs()
    array([[0, 1]], dtype=int32)
    >>> index.query_box([3, 3, 5, 5])
    array([1, 2], dtype=int32)
    """

    name = "sort_and_sweep"
    _changes_by_query = 0.1

    def __init__(self, *, axis: Axis = "auto", dim: int = 2, **common: Any) -> None:
        if axis != "auto":
            choose_axis(np.empty((0, 2 * dim)), axis)  # raises where there is no such axis
        self._axis = axis
        self._touched = Touched()
        super().__init__(dim=dim, **common)

    # ---- the structure follows the boxes

    def _inserted(self, ids: IdArray) -> None:
        self._touched.add(ids, self._store.live)
        self._stale = True

    def _removing(self, ids: IdArray) -> None:
        self._touched.add(ids, self._store.live)
        self._stale = True

    def _moved(self, ids: IdArray) -> None:
        self._touched.add(ids, self._store.live)

    def _reset(self) -> None:
        first = 0 if self._axis == "auto" else self._axis
        self._orders = GappedOrders(self._reader.dim, self._reader.dtype, (first,), 0, self._touching)
        self._whole = True
        """Whether the order is worth nothing."""
        self._steps = self._reported = 0
        self._stale = True

    def _refresh(self) -> None:
        try:
            if self._whole or len(self._touched) > FEW_TOUCHED * self._store.live:
                self._sort_all()
            else:
                self._settle()
        except BaseException:  # memory, or the user's patience, ran out in between
            self._whole = True
            raise
        self._whole = False
        self._touched.clear()

    def _settle(self) -> None:
        """Move what was touched, box by box."""
        store, orders = self._store, self._orders
        orders.reserve(store.end)
        ids = self._touched.ids()
        new = int((store.alive[ids] & (orders.places[0, ids] < 0)).sum())
        if not orders.has_room(new):
            orders.grow(new)
        bits, order, (edges,) = bits_of(store.boxes), orders.arrays(), orders.scratch()
        for begin, end in growing(len(ids), most=FIRST_CHANGES):
            self._steps += settle_boxes(
                *(ids[begin:end], store.alive, bits, self._touching, order),
                *(orders.axes[0], orders.slots, edges[:-1]),
            )
        orders.boxes = store.live

    def _sort_all(self) -> None:
        """By insertion if the order is nearly right, else by radix."""
        store, orders = self._store, self._orders
        ranks = None if self._whole else self._insertion_sorted()
        if ranks is not None:
            orders.build(store, ranks)
            return
        if store.live:
            orders.axes = (choose_axis(store.live_boxes(), self._axis),)
        self._query_axis = orders.axes[0]
        orders.build(store)

    def _insertion_sorted(self) -> npt.NDArray[np.int32] | None:
        """The order of the live boxes, begun with the one they had; ``None`` where that takes many steps."""
        store, orders = self._store, self._orders
        ids, bits, axis = store.ids(), bits_of(store.boxes), orders.axes[0]
        n, row_of = len(ids), ids
        if store.live < store.end:
            row_of = np.empty(store.end, np.int32)
            for begin, end in paced(0, n):
                row_of[ids[begin:end]] = np.arange(begin, end)
        ranks, keys, count = np.empty(n, np.int32), np.empty(n, bits.dtype), 0
        for begin, end in paced(0, orders.slots):
            count = rows_in_order(orders.items, store.alive, row_of, ranks, count, begin, end)
        for begin, end in paced(0, n):
            count = rows_out_of_order(ids, orders.places, ranks, count, begin, end)
        steps, most = 0, MOST_STEPS * n
        for begin, end in paced(0, n):
            more = insert_in_order(ids, bits, axis, keys, ranks, begin, end, most - steps)
            if more < 0:
                return None
            steps += more
        self._steps += steps
        return ranks

    # ---- pairs

    def _find_pairs(self, limit: int, scratch: Scratch) -> Found:
        steps, self._steps = self._steps, 0
        self._reported = steps
        store, orders = self._store, self._orders
        rules = store.filter()
        # Gaps would be compared too; to leave them out costs less than a quarter of the walk.
        shape = (store.live + PADDING,)
        columns = scratch.array("columns", (2 * orders.dim, *shape), orders.columns.dtype)
        ids = scratch.array("ids", (1, *shape), np.int32)
        count = 0
        for begin, end in ranges(0, orders.slots):
            count = close_gaps(orders.columns, orders.items, orders.slots, columns, ids, count, begin, end)
        task = Task(store.boxes, self._touching, rules, threads.resolve(self._threads), limit)
        return sweep_ordered(task, columns, ids, store.live)

    # ---- about itself

    def _options(self) -> dict[str, Any]:
        return {"axis": self._axis}

    def _swap_count(self) -> int:
        return self._reported

    def _check(self) -> None:
        self._orders.check(self._store)
