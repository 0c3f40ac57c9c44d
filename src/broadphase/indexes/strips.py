"""Strips: for worlds in which everything moves in every frame.

The idea and its source are in `broadphase.methods.strips`: the world is cut into strips, each strip is sorted
and swept.  This index keeps the borders of the strips from frame to frame, which saves planning them; in a
world of clusters, where borders come from the data, that is a good part of the time.  The world is cut again
only when crowds have formed.

Two more results of the last frame are not used, because using them took longer.  How full each strip was:
checking at each copy whether there is space left takes 1.9 ns a box, counting 1.5.  And the order of the
boxes:  reading them in this order takes the time that it saves in writing them.

Static boxes stay in a box tree of their own.  Moving boxes are paired with each other by strips, and with
static ones by queries of that tree, so that static boxes cost nothing in a frame except near moving ones.

Cost of a frame: linear in the boxes that move, their copies, comparisons and pairs.  Queries go to a box
tree over all boxes, which is built for the first one.  It follows small changes.  A frame in which
everything moves discards it, because without queries it is not needed; the next query then builds a tree.
If such frames have few queries, `broadphase.BoxTree` is the better index.
"""

from typing import Any, ClassVar, NamedTuple

import numpy as np

from broadphase.boxes import BoxArray
from broadphase.indexes.arguments import NO_RULES, Given, Rows
from broadphase.indexes.box_tree import TreeStructure
from broadphase.indexes.protocol import Structure, find_rows, pairs_between, renamed, search_live
from broadphase.indexes.storage import EVERY_BIT, BoxStore, IdArray, expect
from broadphase.kernels.boxes.checks import put_box
from broadphase.kernels.boxes.overlap import no_filter
from broadphase.kernels.machine.kernel import try_call
from broadphase.methods.strips import Plan, bin_again, bin_boxes, cut_world, find_at_once, parts_for, sweep
from broadphase.methods.task import Found, Task
from broadphase.runtime import threads
from broadphase.runtime.memory import Scratch

# The world is cut again when copies share their strips with so many times more others than when it was cut.
_CROWDED = 1.5
# The tree follows changes of up to one box in so many; beyond, building it again costs little more.
_FOLLOWED = 16
_FEW = 8
_try_to_put = try_call(put_box)


class _Frame(NamedTuple):
    """The data that one frame keeps for the next."""

    plan: Plan
    crowding: float
    """How many others a copy shared its strip with, on average, when the world was cut."""


class StripsStructure(Structure):
    """The strips of the last frame, and trees for queries and for static boxes."""

    UNSAVED: ClassVar[frozenset[str]] = Structure.UNSAVED | {"_tree", "_statics"}

    def __init__(self, *kept: Any) -> None:
        self._make_tree(*kept)
        super().__init__(*kept)

    def _make_tree(self, *kept: Any) -> None:
        self._tree = TreeStructure(None, *kept)
        self._tree.unsettle()

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)
        self._make_tree(self.store, self.touching, self.sort, self.threads)
        self.reset()

    def query_structure(self) -> Structure:
        return self._tree

    # ---- following the boxes: everything but the tree is made again when it is needed

    def reset(self) -> None:
        self._frame: _Frame | None = None
        self._in_one_call = False  # how the last frame was searched: the lab shows what was compared
        self._forget_classes()
        self.stale = False

    def _forget_classes(self) -> None:
        self._statics: TreeStructure | None = None
        self._movers: IdArray | None = None

    def leave(self, ids: IdArray, boxes: BoxArray | None) -> None:
        if boxes is None or (self.store.any_static and self.store.classes[ids].any()):
            self._forget_classes()
        tree = self._following(ids)
        if tree is not None:
            tree.leave(ids, boxes)

    def enter(self, ids: IdArray, fresh: bool) -> None:
        if fresh:
            self._forget_classes()
        tree = self._following(ids)
        if tree is not None:
            tree.enter(ids, fresh)

    def _following(self, ids: IdArray) -> TreeStructure | None:
        """The tree, if it follows a change of these ids; else it is emptied until the next query."""
        tree = self._tree
        if tree.settled and len(ids) > max(self.store.live // _FOLLOWED, _FEW):
            tree.reset()
            tree.unsettle()
        return tree if tree.settled else None

    def move_one(self, id: Any, box: Given) -> bool:  # noqa: A002
        store, tree = self.store, self._tree
        if store.any_static:
            return False
        if not tree.stale:
            return tree.move_one(id, box)
        tree.unsettle()
        return bool(_try_to_put(store.boxes, store.alive, store.end, id, box))

    # ---- pairs

    def find_pairs(self, limit: int, scratch: Scratch) -> Found:
        """The pairs of moving boxes by strips, and their pairs with static ones by the tree."""
        store = self.store
        if not store.any_static:
            return search_live(self, self._sweep, limit, scratch)
        movers = self._mover_ids()
        parts = threads.resolve(self.threads)
        rules = store.filter(movers)._replace(classes=no_filter().classes)
        task = Task(store.boxes[movers], self.touching, rules, parts, limit, scratch=scratch)
        among = renamed(self._sweep(task), movers)
        if among.pairs > limit:
            return among
        statics = self._static_ids()

        def find(queries: Rows) -> tuple[IdArray, int]:
            rows, tests = find_rows(self._static_tree(), queries, self.touching, NO_RULES)
            rows[:, 1] = statics[rows[:, 1]]
            return rows, tests

        found, tests = pairs_between(store, movers, len(statics), find, limit)
        return Found([*among.chunks, found], among.pairs + len(found), among.tests + tests, among.cells)

    def _sweep(self, task: Task) -> Found:
        """Find the pairs of a task, in the last frame's strips if they still suit."""
        if len(task.boxes) < 2:
            return Found([], 0, 0)
        parts, frame = parts_for(task), self._frame
        if frame is not None:
            found = find_at_once(task, frame.plan, _CROWDED * frame.crowding)
            self._in_one_call = found is not None
            if found is not None:
                return found
            binned = bin_again(task, frame.plan, parts, _CROWDED * frame.crowding)
            if binned is not None:
                return sweep(task, frame.plan, binned, parts)
        plan, binned = bin_boxes(task, cut_world(task), parts)
        self._frame = _Frame(plan, binned.crowding)
        return sweep(task, plan, binned, parts)

    # ---- static boxes

    def _mover_ids(self) -> IdArray:
        movers = self._movers
        if movers is None:
            ids = self.store.ids()
            movers = self._movers = ids[self.store.classes[ids] == 0]
        return movers

    def _static_ids(self) -> IdArray:
        return np.setdiff1d(self.store.ids(), self._mover_ids(), assume_unique=True)

    def _static_tree(self) -> TreeStructure:
        """The static boxes, numbered as in `_static_ids`."""
        tree = self._statics
        if tree is None:
            store, boxes = BoxStore(self.dim, self.dtype), self.store.boxes[self._static_ids()]
            n = len(boxes)
            store.add_many(
                boxes, np.zeros(n, np.bool_), np.ones(n, np.uint32), np.full(n, EVERY_BIT, np.uint32)
            )
            tree = TreeStructure(None, store, self.touching, False, self.threads)
            tree.ready()
            self._statics = tree
        return tree

    # ---- about itself

    def counts(self) -> tuple[int, int]:
        return (0 if self._frame is None else self._frame.plan.strips), 0

    def check(self) -> None:
        if self._movers is not None:
            expect(not self.store.classes[self._movers].any(), "moving boxes are not static")
