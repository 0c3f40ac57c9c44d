"""The adaptive index: for each call the cheapest way, by what changed since the last one.

No structure is the fastest for every frame, and nobody should have to know which one suits a program.  This
index is made of parts that are indexes of their own, and a count of the boxes that changed decides which part
answers:

- *The last pairs.*  If nothing has changed, they are returned again.  If little has changed, the pairs of the
  boxes that changed are taken out, and those that queries of the tree find for these boxes are added.
- *Strips* (`broadphase.Strips`), if much has changed: the borders of the last frame's strips are used again.
- *A tree* (`broadphase.BoxTree`) for queries, for the pairs of few boxes, and for static boxes where they are
  many more than moving ones: then only the moving ones lie in strips, and the tree is queried for each.
- *No structure* in a world of a few hundred boxes: all are compared.

A part costs nothing while it is not needed.  The tree is built by the first query, or after some frames in a
row in which little changed (`broadphase.indexes.box_tree.QueryTree` says what it follows).  The pairs of a
frame are only kept if little had changed before it.

All choices follow from counts, never from a clock: the same calls take the same ways.  Their limits are in
one table below.
"""

from functools import partial

import numpy as np

from broadphase.indexes.arguments import NO_RULES, Rows
from broadphase.indexes.box_tree import QueryTree
from broadphase.indexes.protocol import (
    Ids,
    Structure,
    all_pairs,
    find_rows,
    pairs_between,
    renamed,
    search_live,
)
from broadphase.indexes.storage import IdArray, Touched, expect
from broadphase.indexes.strips import StripsFrame
from broadphase.inputs.boxes import BoxArray
from broadphase.inputs.numeric import thread_count
from broadphase.kernels.boxes.overlap import no_filter
from broadphase.kernels.pairs.changes import replace_pairs
from broadphase.methods import choose
from broadphase.methods.pair_order import one_array, pair_keys, sorted_pairs
from broadphase.methods.task import Found, Task
from broadphase.runtime.arrays import first_of, rows_at
from broadphase.runtime.memory import PairArray, Scratch, pair_array
from broadphase.runtime.thresholds import FEW_BOXES

# ---- The limits, measured by `benchmarks/who_wins.py`; the last by `benchmarks/frames.py --parts static`.

# Nanoseconds a box that a search by strips takes: in one call of a kernel; step by step, in larger worlds;
# there in one strip, which threads cannot share; and where crowds have strips of their own.
NS_IN_ONE_CALL, NS_STEP_BY_STEP, NS_ONE_STRIP, NS_CROWDED = 12.0, 15.0, 32.0, 57.0
# What each pair adds to it; what sorting it takes; and comparing it with the pairs of the last `changes`.
NS_FOUND, NS_SORTED, NS_COMPARED = 1.5, 2.5, 8.5
# What queries take: at least; for each box that changed, the tree included; for each partner that such a box
# has; for each pair that is kept.
NS_AT_LEAST, NS_TOUCHED, NS_PARTNER, NS_KEPT = 40_000.0, 140.0, 15.0, 1.5
# The same for `changes`, which searches the old places of boxes too.
NS_CHANGES_AT_LEAST, NS_CHANGED = 60_000.0, 310.0
# More than this share of boxes that changed is never little.
MOST_TOUCHED = 0.15
# The tree is built for pairs after so many reads in a row before which little had changed.
CALM_READS = 4
# With so many times as many static boxes as moving ones, and so many more, static ones lie in the tree,
# not in strips.
SPARSE, FEW_STATIC = 4, 2_000


class AdaptiveStructure(Structure):
    """The parts of a `broadphase.AdaptiveIndex`."""

    query_tree: QueryTree

    # ---- following the boxes

    def reset(self) -> None:
        self.frame = StripsFrame()
        self._kept: PairArray | None = None
        """The pairs of the last search, before the touched boxes changed; None if they were not kept."""
        self._touched = Touched()
        """The ids that changed since then."""
        self._movers: IdArray | None = None
        """The ids of all boxes that are not static; None if they have to be collected again."""
        self._changed = 0
        """How many ids changed since pairs were found last."""
        self._pairs = 0
        """How many pairs were found last."""
        self._calm = 0
        """How many reads in a row had little changed before them."""
        self.way = "brute_force"
        """The index that is like the part which found the last pairs, by name."""
        self.stale = False

    def leave(self, ids: IdArray, boxes: BoxArray | None) -> None:
        if boxes is None:
            self._note(ids)
            self._movers = None

    def enter(self, ids: IdArray, fresh: bool) -> None:
        self._note(ids)
        if fresh:
            self._movers = None

    def moved_one(self, id: int) -> None:  # noqa: A002
        if self._kept is None:
            self._changed += 1
        else:
            super().moved_one(id)

    def _note(self, ids: IdArray) -> None:
        """Note that these ids change."""
        self._changed += len(ids)
        if self._kept is not None:
            if len(self._touched) + len(ids) > MOST_TOUCHED * self.store.live:
                self._kept, self._touched = None, Touched()
            else:
                self._touched.add(ids, self.store.live)

    def _mover_ids(self) -> IdArray:
        movers = self._movers
        if movers is None:
            movers = self.store.ids()
            if self.store.any_static:
                movers = movers[self.store.classes[movers] == 0]
            self._movers = movers
        return movers

    # ---- what a way costs

    def _are_sparse(self, movers: int) -> bool:
        """Whether static boxes are so many more that they had better lie in the tree."""
        return self.store.live - movers > SPARSE * movers + FEW_STATIC

    def _cost_of_search(self) -> float:
        """Nanoseconds, roughly, to find all pairs, if they are as many as the last time."""
        movers, frame = len(self._mover_ids()), self.frame
        found = self._pairs * NS_FOUND
        if self._are_sparse(movers):
            return found + NS_AT_LEAST + movers * (NS_IN_ONE_CALL + NS_TOUCHED)
        cost = NS_ONE_STRIP if frame.strips == 1 else NS_STEP_BY_STEP
        if frame.in_one_call:
            cost = NS_IN_ONE_CALL
        elif frame.is_crowded:
            cost = NS_CROWDED
        return found + self.store.live * cost

    def _has_tree(self) -> bool:
        """Whether the tree is there, or worth building."""
        return self.query_tree.follows_moving or self._calm >= CALM_READS

    def _queries_pay(self) -> tuple[float, float]:
        """Up to how many changed boxes queries take less time than finding all pairs: `pairs`, `changes`."""
        live, pairs, search = max(self.store.live, 1), self._pairs, self._cost_of_search()
        if search + pairs * NS_SORTED < NS_AT_LEAST:  # most small worlds
            return 0.0, 0.0
        most, partners = MOST_TOUCHED * live, 2 * pairs / live * NS_PARTNER
        kept = search + pairs * (NS_SORTED * self.sort - NS_KEPT) - NS_AT_LEAST
        compared = search + pairs * (NS_SORTED + NS_COMPARED) - NS_CHANGES_AT_LEAST
        return min(kept / (NS_TOUCHED + partners), most), min(compared / (NS_CHANGED + partners), most)

    @property
    def changes_by_query(self) -> float:  # type: ignore[override]
        return max(self._queries_pay()[1], 0.0) / max(self.store.live, 1) if self._has_tree() else 0.0

    # ---- pairs

    def find_pairs(self, limit: int, scratch: Scratch) -> Found:
        # Of several readers one finds the pairs, and the others are given them.  The result has a name before
        # the lock is let go: an interrupt as it is returned would keep the lock.
        with self._lock:
            found = self._find_pairs(limit, scratch)
        return found  # noqa: RET504

    def _find_pairs(self, limit: int, scratch: Scratch) -> Found:
        kept, changed = self._kept, self._changed
        self._changed = 0
        if kept is not None and not len(self._touched):
            return Found([kept], len(kept), 0, ordered=self.sort)
        for_pairs, for_changes = self._queries_pay()
        pay = changed < for_pairs
        if changed:
            self._calm = self._calm + 1 if pay or changed < for_changes else 0
        if kept is not None and pay and self._has_tree():
            return self._update(kept, limit)
        self._kept, self._touched = None, Touched()
        found = self._search(limit, scratch)
        self._pairs = found.pairs
        if (pay or not changed) and found.pairs <= limit:
            ordered, parts = self.sort and not found.ordered, thread_count(self.threads)
            kept = one_array(found.chunks, self.store.end, ordered, scratch, parts)
            found = found._replace(chunks=[kept], ordered=self.sort or found.ordered)
            self._kept = kept
        return found

    def _update(self, kept: PairArray, limit: int) -> Found:
        """Find the pairs of the touched boxes again, and leave all others as they are."""
        self.way = "box_tree"
        store, tree = self.store, self.query_tree
        ids = self._touched.ids()
        touched = np.zeros(store.end, np.bool_)
        touched[ids] = True
        tree.ready()

        def find(queries: Rows) -> Ids:
            return find_rows(tree, queries, self.touching, NO_RULES)

        new, tests = pairs_between(store, ids[store.alive[ids]], store.live, find, limit, touched)
        if len(new) <= limit:
            # Without the pairs of what was touched, and with the new ones; sorted, if the others are.
            keys = np.sort(pair_keys([new])) if self.sort else np.empty(0, np.int64)
            out = pair_array(len(kept) + len(new))
            written = replace_pairs(kept, touched, keys, out)
            if not self.sort:
                out[written : written + len(new)] = new
                written += len(new)
            kept = first_of(out, written)
            self._kept = kept  # should this be interrupted here, the same pairs are found again
            self._touched = Touched()
            self._pairs, new = len(kept), kept
        return Found([new], len(new), tests, ordered=self.sort)

    def _search(self, limit: int, scratch: Scratch) -> Found:
        """Find all pairs."""
        if self.store.live <= FEW_BOXES:
            self.way = "brute_force"
            return search_live(self, choose.find, limit, scratch)
        if self.store.any_static and self._are_sparse(len(self._mover_ids())):
            self.way = "box_tree"
            return self._search_among_static(limit, scratch)
        self.way = "strips"
        return search_live(self, self.frame.sweep, limit, scratch)

    def _search_among_static(self, limit: int, scratch: Scratch) -> Found:
        """The pairs of moving boxes by strips, and those with static ones by the tree."""
        store, movers = self.store, self._mover_ids()
        rules = store.filter(movers)._replace(classes=no_filter().classes)
        parts = thread_count(self.threads)
        task = Task(rows_at(store.boxes, movers), self.touching, rules, parts, limit, scratch=scratch)
        sweep = choose.find if len(movers) <= FEW_BOXES else self.frame.sweep
        among = renamed(sweep(task), movers)
        if among.pairs > limit:
            return among
        return among.and_more(self.query_tree.pairs_with_static(limit))

    # ---- about itself

    def counts(self) -> tuple[int, int]:
        return self.frame.strips, 0

    def check(self) -> None:
        if self._movers is not None:
            expect(not self.store.classes[self._movers].any(), "moving boxes are not static")
        if self._kept is not None:
            rest = np.ones(self.store.end, np.bool_)
            rest[self._touched.ids()] = False
            found, _ = all_pairs(self.store, 1, partial(search_live, self, choose.find), sort=True)
            kept = self._kept if self.sort else sorted_pairs([self._kept], self.store.end)
            expect(
                np.array_equal(kept[rest[kept].all(axis=1)], found[rest[found].all(axis=1)]),
                "the pairs that were kept are those of the boxes that have not changed",
            )
