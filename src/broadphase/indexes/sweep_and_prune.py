"""Sweep and prune: the ends of all boxes sorted on every axis, and the pairs kept between frames.

Two boxes overlap on an axis while each one's lower end lies before the other's upper end.  As boxes move a
little, few ends change places with their neighbours; where a lower end passes an upper one, or the other
way round, an overlap on that axis begins or ends, and only there can a pair have changed.  So the ends are
kept sorted by insertion, the pairs in a set, and a frame costs what happens in it: the boxes that moved, the
ends that they passed, the pairs that changed.  ``pairs`` is then a copy of the set.

Source: Baraff's coordinate sorting (1992); Cohen, Lin, Manocha and Ponamgi, "I-COLLIDE" (1995), for all
axes and the persistent set.

Cost: O(1) for a box that did not move; for one that did, its swaps, which grow with its way and with the
number of boxes beside it on each axis.  A box that goes far is taken out, put in and searched for instead;
when much moves, the ends are sorted and the pairs found anew.  It loses where everything moves, where boxes
pile up on an axis (each passes all others), and to any other index in memory: about 100 bytes a box in 2-D
float32, 40 bytes a pair.
"""

from typing import Any

import numpy as np
import numpy.typing as npt

from broadphase import choose, methods
from broadphase.boxes import PairArray
from broadphase.indexes.base import Index
from broadphase.indexes.gapped import GappedOrders, GappedQueries
from broadphase.indexes.incremental import from_all_pairs
from broadphase.indexes.journal import History, PairKeys
from broadphase.indexes.pair_set import PairSet
from broadphase.indexes.results import PairChanges
from broadphase.indexes.storage import IdArray
from broadphase.indexes.touched import Touched
from broadphase.kernels.arrays.ordered_bits import bits_of
from broadphase.kernels.sorted.sweep_and_prune import move_boxes, take_boxes
from broadphase.memory import Scratch, borrowed_scratch
from broadphase.methods.sort_and_sweep import choose_axis
from broadphase.methods.task import NO_LIMIT, Found
from broadphase.slices import FIRST_CHANGES, growing

# A box whose ends would pass more slots than this is put in elsewhere and searched for: 16 slots are
# passed in 2 ns, so this costs what a search does.
FAR = 2048
# When more is touched than this share, sorting everything is cheaper than moving so many boxes ...
MOST_TOUCHED = 1 / 3
# ... and when so many slots a box were passed or searched, or so many in all if the boxes are few.
MOST_PASSED, ALWAYS_PASSED = 256, 1 << 16


class SweepAndPrune(GappedQueries, Index):
    """Ends sorted on every axis, swaps that begin and end overlaps: for scenes in which little moves.

    ``pairs`` and ``changes`` cost what moved since the call before.  A query looks at the boxes that overlap
    it on the one axis on which the boxes are spread most.

    Parameters
    ----------
    dim, dtype, touching, sort, threads
        As of `broadphase.Index`.

    Notes
    -----
    ``stats.swaps`` says how many ends were passed since the read before, ``stats.tests`` how many boxes
    were compared for it.

    Examples
    --------
    >>> import broadphase as bp
    >>> index = bp.SweepAndPrune()
    >>> index.insert_many([[0, 0, 2, 2], [1, 1, 3, 3], [5, 5, 6, 6]])
    array([0, 1, 2], dtype=int32)
    >>> index.pairs()
    array([[0, 1]], dtype=int32)
    >>> index.move(1, [4, 4, 6, 6])
    >>> began, stayed, ended = index.changes()
    >>> began
    array([[1, 2]], dtype=int32)
    """

    name = "sweep_and_prune"

    def __init__(self, **common: Any) -> None:
        self._touched, self._gone = Touched(), Touched()
        self._toggled: list[PairKeys] | None = None
        """Pairs that came or went since the last call of ``changes``; ``None``: all may have."""
        self._toggles = 0
        super().__init__(**common)

    # ---- the structure follows the boxes

    def _inserted(self, ids: IdArray) -> None:
        self._touched.add(ids, self._store.live)
        self._stale = True

    def _removing(self, ids: IdArray) -> None:
        self._gone.add(ids, self._store.live)
        self._stale = True

    def _moved(self, ids: IdArray) -> None:
        self._touched.add(ids, self._store.live)

    def _reset(self) -> None:
        self._orders = GappedOrders(
            self._reader.dim, self._reader.dtype, tuple(range(self._reader.dim)), 1, self._touching
        )
        self._set = PairSet()
        self._whole = True
        """Whether everything has to be made anew."""
        self._work = self._reported = (0, 0)
        self._stale = True

    def _refresh(self) -> None:
        try:
            if self._whole or not self._settle():
                self._rebuild()
        except BaseException:  # memory, or the user's patience, ran out in between
            self._whole = True
            raise
        self._whole = False
        self._touched.clear()
        self._gone.clear()

    def _settle(self) -> bool:
        """Move what was touched; False when that is too much."""
        store, orders = self._store, self._orders
        if len(self._touched) + len(self._gone) > MOST_TOUCHED * store.live:
            return False
        orders.reserve(store.end)
        self._set.reserve(store.end, 0)
        gone = self._gone.ids()
        gone = gone[orders.places[0, 2 * gone] >= 0]
        if len(gone):
            self._note(self._set.drop_pairs_of(gone))
            order = orders.arrays()
            for begin, end in growing(len(gone), most=FIRST_CHANGES):
                orders.boxes -= take_boxes(
                    self._axes(), gone[begin:end], order, orders.searched, orders.slots
                )
        return self._move(self._touched.ids())

    def _move(self, ids: IdArray) -> bool:
        store, orders = self._store, self._orders
        new = int((store.alive[ids] & (orders.places[0, 2 * ids] < 0)).sum())
        if not orders.has_room(new):
            orders.grow(new)
        orders.boxes += new
        most = store.live + 2 * FAR
        events = np.empty(2 * most, np.int64)
        budget = max(MOST_PASSED * store.live, ALWAYS_PASSED)
        bits, rules = bits_of(store.boxes), store.filter()
        places = (orders.arrays(), orders.searched, orders.slots, FAR)
        scratch = self._scratch()
        for begin, end in growing(len(ids), most=FIRST_CHANGES):
            done = begin
            while done < end:
                done, count, swaps, tests = move_boxes(
                    *(self._axes(), ids[:end], done, store.alive, bits, self._touching, *places),
                    *(budget, events, most, scratch),
                )
                self._work = self._work[0] + swaps, self._work[1] + swaps + tests
                budget -= swaps + tests
                if budget < 0:
                    return False
                if count:
                    self._note(self._set.apply(events[:count], store.end, store.boxes, self._touching, rules))
        return True

    def _scratch(self) -> tuple[npt.NDArray[Any], ...]:
        edges, old, turned = self._orders.scratch(3)
        return edges[:-1], old[:-1], turned

    def _rebuild(self) -> None:
        store = self._store
        self._orders.searched = choose_axis(store.live_boxes(), "auto") if store.live else 0
        self._orders.build(store)
        if store.live > 1:
            with borrowed_scratch() as scratch:
                finder = methods.finder(choose.choose(store.live_boxes()))
                found = self._search_live(finder, NO_LIMIT, scratch)
                self._set.fill(found.chunks)
            self._work = self._work[0], self._work[1] + found.tests
        else:
            self._set.fill([])
        self._toggled = None

    def _axes(self) -> npt.NDArray[np.int64]:
        return np.array(self._orders.axes)

    # ---- pairs

    def _find_pairs(self, limit: int, scratch: Scratch) -> Found:
        work, self._work = self._work, (0, 0)
        self._reported = work
        return Found([self._set.pairs()], self._set.count, work[1])

    def _find_changes(self) -> tuple[PairChanges, int]:
        work, self._work = self._work, (0, 0)
        state = self._history.state()
        try:
            if self._toggled is None:
                changes, _ = from_all_pairs(self)
            else:
                began, ended = self._set.split_toggled(self._toggled, self._store.renewed)
                changes = PairChanges(began, ended, self._history.advance(began, ended))
        except BaseException:  # memory, or the user's patience, ran out in between
            self._history.go_back(state)
            raise
        self._toggled, self._toggles = [], 0
        self._store.renewed[: self._store.end] = False
        self._reported = work
        return changes, work[1]

    def _set_baseline(self, pairs: PairArray) -> None:
        self._history = History(pairs)
        self._toggled = None

    def _note(self, keys: PairKeys) -> None:
        """Remember pairs that came or went, unless they are more than all pairs."""
        if self._toggled is not None and len(keys):
            self._toggled.append(keys)
            self._toggles += len(keys)
            if self._toggles > self._set.count + 1000:
                self._toggled = None

    # ---- about itself

    def _swap_count(self) -> int:
        return self._reported[0]

    def _check(self) -> None:
        self._orders.check(self._store)
        self._set.check()
