"""Strips: for worlds in which everything moves in every frame.

The idea and its source stand in `broadphase.methods.strips`: the world is cut into strips, each strip is
sorted and swept.  What this index adds is what the last frame knew: where the borders were.  Nothing is
planned for the next frame; in a world of clusters, where borders come from the data, that is a good part of
it.  Only when crowds have formed is the world cut anew.

Two things that the last frame knew as well are not used, because using them took longer.  How full each strip
was: asking at each copy whether there is room left takes 1.9 ns a box, counting 1.5.  And the order of the
boxes: fetching them in it takes what it saves in writing them.

Static boxes stay in a box tree of their own.  Moving boxes are paired with each other by strips and ask
that tree for the rest, so that static boxes cost nothing in a frame but where something touches them.

Cost of a frame: linear in the boxes that move, their copies, comparisons and pairs.  Queries go to a box
tree over all boxes, which is built for the first one.  It follows what changes as long as that is little; a
frame in which everything moves drops it, for without queries nobody needs it: then the next query pays for
a tree, and where such frames bring few queries, `broadphase.BoxTree` is the better index.
"""

from typing import Any, ClassVar, NamedTuple

import numpy as np

from broadphase import threads
from broadphase.boxes import PairArray
from broadphase.indexes.arguments import NO_RULE, Floats, Given, Rows
from broadphase.indexes.box_tree import TreeStructure
from broadphase.indexes.protocol import Structure, find_in_parts
from broadphase.indexes.results import Distances
from broadphase.indexes.storage import EVERY_BIT, BoxStore, IdArray, expect
from broadphase.kernels.boxes.filters import PairFilter, no_filter
from broadphase.kernels.boxes.put import put_box
from broadphase.kernels.machine.kernel import trial
from broadphase.memory import Scratch
from broadphase.methods.strip_copies import Plan, bin_again, bin_boxes, cut_world, parts_for
from broadphase.methods.strips import find_at_once, sweep
from broadphase.methods.task import Found, Task

# Crowds have formed when a copy shares its strip with so many times more copies than when the world was cut.
_CROWDED = 1.5
# The tree follows a change of one box in so many; beyond that, building it anew does not cost much more.
_FOLLOWED = 16
_FEW = 8
_try_to_put = trial(put_box)


class _Frame(NamedTuple):
    """What one frame leaves to the next."""

    plan: Plan
    crowding: float
    """With how many copies a copy shared its strip when the world was cut."""


class StripsStructure(Structure):
    """The strips of the last frame, and trees for questions and for static boxes."""

    UNSAVED: ClassVar[frozenset[str]] = Structure.UNSAVED | {
        "_frame",
        "_in_one_call",
        "_movers",
        "_statics",
        "_tree",
    }

    # ---- following the boxes: all but the tree is made again when it is asked for

    def reset(self) -> None:
        self._frame: _Frame | None = None
        self._tree: TreeStructure | None = None
        self._in_one_call = False  # how the last frame was searched: the lab shows what was compared
        self._forget_classes()

    def _forget_classes(self) -> None:
        self._statics: TreeStructure | None = None
        self._movers: IdArray | None = None

    def _following(self, ids: IdArray) -> TreeStructure | None:
        """The tree, if it is to follow a change of these ids; else it is dropped."""
        if len(ids) > max(self.store.live // _FOLLOWED, _FEW):
            self._tree = None
        return self._tree

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)
        self.reset()

    def inserted(self, ids: IdArray) -> None:
        self._forget_classes()
        if (tree := self._following(ids)) is not None:
            tree.inserted(ids)

    def removing(self, ids: IdArray) -> None:
        self._forget_classes()
        if (tree := self._following(ids)) is not None:
            tree.removing(ids)

    def moving(self, ids: IdArray, boxes: Any) -> None:
        if (tree := self._following(ids)) is not None:
            tree.moving(ids, boxes)
        if self.store.any_static and self.store.classes[ids].any():
            self._statics = None

    def moved(self, ids: IdArray) -> None:
        if self._tree is not None:
            self._tree.moved(ids)

    def ask_move(self, id: Any, values: Given) -> bool:  # noqa: A002
        store, tree = self.store, self._tree
        if store.any_static:
            return False
        if tree is not None and not tree.stale:
            return tree.ask_move(id, values)
        self._tree = None  # first, should it be interrupted
        return bool(_try_to_put(store.boxes, store.alive, store.end, id, values))

    # ---- pairs

    def find_pairs(self, limit: int, scratch: Scratch) -> Found:
        """The pairs among the moving boxes by strips, and theirs with static ones by the tree."""
        store = self.store
        parts = threads.resolve(self.threads)
        if not store.any_static:
            boxes, rules = store.live_boxes(), store.live_filter()
            task = Task(boxes, self.touching, rules, parts, limit, sort=self._sort, scratch=scratch)
            found = self._sweep(task)
            return found if store.live == store.end else _renamed(found, store.ids())
        movers = self._mover_ids()
        rules = PairFilter(no_filter().classes, *_sets_of(store, movers))
        task = Task(store.boxes[movers], self.touching, rules, parts, limit, scratch=scratch)
        among = _renamed(self._sweep(task), movers)
        if among.pairs > limit:
            return among
        queries, statics = task.boxes.astype(np.float64, copy=False), self._static_ids()

        def search(begin: int, end: int) -> tuple[PairArray, int]:
            rows, tests = self._static_tree().find_rows(queries[begin:end], self.touching, NO_RULE, NO_RULE)
            return self._let_through(movers[begin:end][rows[:, 0]], statics[rows[:, 1]]), tests

        touching_static, tests = find_in_parts(search, len(movers), len(statics), limit)
        return Found(
            [*among.chunks, touching_static],
            among.pairs + len(touching_static),
            among.tests + tests,
            among.cells,
        )

    def _let_through(self, movers: IdArray, statics: IdArray) -> PairArray:
        """Pairs of the two, smaller id first, without those that categories and masks forbid."""
        store = self.store
        pairs = np.column_stack((np.minimum(movers, statics), np.maximum(movers, statics)))
        if store.any_sets:
            first, second = pairs.T
            kept = (store.categories[first] & store.masks[second] != 0) & (
                store.categories[second] & store.masks[first] != 0
            )
            pairs = pairs[kept]
        return pairs

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

    # ---- queries: all by the tree, which shares the stored boxes

    def _query_tree(self) -> TreeStructure:
        tree = self._tree
        if tree is None:
            with self._lock:
                tree = self._tree
                if tree is None:
                    tree = TreeStructure(None, self.store, self.touching, self._sort, self.threads)
                    tree.ready()
                    self._tree = tree
        if tree.stale:
            tree.ready()
        return tree

    def _fresh_tree(self) -> TreeStructure:
        """The same by the shortest way."""
        tree = self._tree
        return self._query_tree() if tree is None or tree.stale else tree

    def ask_box(self, values: Given) -> tuple[IdArray, int] | None:
        return self._fresh_tree().ask_box(values)

    def ask_ray(
        self, origin: Given, direction: Given, furthest: float
    ) -> tuple[int, int, float, float, float, float] | None:
        return self._fresh_tree().ask_ray(origin, direction, furthest)

    def ask_nearest(self, point: Given, k: int) -> tuple[IdArray, Distances, int] | None:
        return self._fresh_tree().ask_nearest(point, k)

    def find_in_box(self, box: Floats, touching: bool, category: int, mask: int) -> tuple[IdArray, int]:
        return self._query_tree().find_in_box(box, touching, category, mask)

    def find_in_boxes(self, boxes: Rows, touching: bool, category: int, mask: int) -> tuple[IdArray, int]:
        return self._query_tree().find_in_boxes(boxes, touching, category, mask)

    def find_rows(self, boxes: Rows, touching: bool, category: int, mask: int) -> tuple[IdArray, int]:
        return self._query_tree().find_rows(boxes, touching, category, mask)

    def find_on_ray(self, ray: Floats, category: int, mask: int) -> tuple[IdArray, int]:
        return self._query_tree().find_on_ray(ray, category, mask)

    def find_on_rays(self, rays: Rows, category: int, mask: int) -> tuple[IdArray, IdArray, int]:
        return self._query_tree().find_on_rays(rays, category, mask)

    def find_first_on_ray(self, ray: Floats, category: int, mask: int) -> tuple[int, int]:
        return self._query_tree().find_first_on_ray(ray, category, mask)

    def find_first_on_rays(self, rays: Rows, category: int, mask: int) -> tuple[IdArray, int]:
        return self._query_tree().find_first_on_rays(rays, category, mask)

    def find_first_but(
        self, rays: Rows, ignored: IdArray, category: int, mask: int
    ) -> tuple[IdArray, int] | None:
        return self._query_tree().find_first_but(rays, ignored, category, mask)

    def find_nearest(self, point: Floats, k: int, category: int, mask: int) -> tuple[IdArray, Distances, int]:
        return self._query_tree().find_nearest(point, k, category, mask)

    def find_nearest_many(self, points: Rows, k: int, category: int, mask: int) -> tuple[IdArray, int]:
        return self._query_tree().find_nearest_many(points, k, category, mask)

    # ---- about itself

    def cell_count(self) -> int:
        return 0 if self._frame is None else self._frame.plan.strips

    def check(self) -> None:
        if self._movers is not None:
            expect(not self.store.classes[self._movers].any(), "moving boxes are not static")
        if self._tree is not None:
            self._query_tree().check()


def _renamed(found: Found, ids: IdArray) -> Found:
    """Rows of the searched boxes into ids, which ascend as the rows do."""
    if len(ids) and ids[-1] == len(ids) - 1:
        return found
    return found._replace(chunks=[ids[chunk] for chunk in found.chunks])


def _sets_of(store: BoxStore, ids: IdArray) -> tuple[Any, Any]:
    none = no_filter()
    if not store.any_sets:
        return none.categories, none.masks
    return store.categories[ids], store.masks[ids]
