"""Strips: for worlds in which everything moves in every frame.

The idea and its source stand in `broadphase.methods.strips`: the world is cut into strips, each strip is
sorted and swept.  What this index adds is what the last frame knew: where the borders were, and how full
each strip was.  The next frame's boxes go straight into strips with an eighth of room to spare; nothing is
planned and nothing counted.  Only when a strip overflows, or crowds have formed, is the world cut anew.

Static boxes stay in a box tree of their own.  Moving boxes are paired with each other by strips and ask
that tree for the rest, so that static boxes cost nothing in a frame but where something touches them.

Cost of a frame: linear in the boxes that move, their copies, comparisons and pairs.  Queries go to a box
tree over all boxes that is built when one is asked after a change: for many queries a frame that is
cheap, for one after each single move it is not, and then `broadphase.BoxTree` is the better index.
"""

import threading
from functools import partial
from typing import Any, ClassVar, NamedTuple

import numpy as np
import numpy.typing as npt

from broadphase import threads
from broadphase.boxes import PairArray
from broadphase.indexes.arguments import NO_RULE, Floats, Rows
from broadphase.indexes.base import Index
from broadphase.indexes.box_tree import BoxTree
from broadphase.indexes.protocol import find_in_parts
from broadphase.indexes.storage import BoxStore, IdArray, expect
from broadphase.kernels.filters import PairFilter, no_filter
from broadphase.kernels.strips_bin import rebin_copies
from broadphase.memory import Scratch
from broadphase.methods.strips import Binned, Plan, bin_boxes, cut_world, parts_for, room_for_copies, sweep
from broadphase.methods.task import Found, Task

# Crowds have formed when a copy shares its strip with so many times more copies than when the world was cut.
_CROWDED = 1.5


class _Frame(NamedTuple):
    """What one frame leaves to the next."""

    plan: Plan
    begins: npt.NDArray[np.int64]
    """``(parts, strips)``: where the room of each thread's part in each strip begins."""
    limits: npt.NDArray[np.int64]
    """Where it ends."""
    crowding: float
    """With how many copies a copy shared its strip when the world was cut."""


class Strips(Index):
    """For frames in which everything moves; the fastest index there.

    Parameters
    ----------
    dim, dtype, touching, sort, threads
        As of `broadphase.Index`.

    Examples
    --------
    >>> import broadphase as bp
    >>> index = bp.Strips()
    >>> index.insert_many([[0, 0, 2, 2], [1, 1, 3, 3], [5, 5, 6, 6]])
    array([0, 1, 2], dtype=int32)
    >>> index.update([[0, 0, 2, 2], [4, 4, 5, 5], [5, 5, 6, 6]])
    >>> index.pairs()
    array([[1, 2]], dtype=int32)
    """

    name = "strips"
    _UNSAVED: ClassVar[frozenset[str]] = Index._UNSAVED | {
        "_frame",
        "_frame_scratch",
        "_frame_lock",
        "_movers",
        "_statics",
        "_tree",
    }

    # ---- following the boxes: everything is made again when it is asked for

    def _reset(self) -> None:
        self._frame: _Frame | None = None
        self._frame_scratch = Scratch()
        self._frame_lock = threading.Lock()
        self._forget()

    def _forget(self) -> None:
        self._tree: BoxTree | None = None
        self._statics: BoxTree | None = None
        self._movers: IdArray | None = None

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)
        self._reset()

    def _inserted(self, ids: IdArray) -> None:
        self._forget()

    def _removing(self, ids: IdArray) -> None:
        self._forget()

    def _moving(self, ids: IdArray, boxes: Any) -> None:
        self._tree = None
        if self._store.any_static and self._store.classes[ids].any():
            self._statics = None

    # ---- pairs

    def _find_pairs(self, limit: int, scratch: Scratch) -> Found:
        """The pairs among the moving boxes by strips, and theirs with static ones by the tree."""
        store = self._store
        parts = threads.resolve(self._threads)
        if not store.any_static:
            task = Task(
                store.live_boxes(), self._touching, store.live_filter(), parts, limit, scratch=scratch
            )
            return _renamed(self._sweep(task), store.ids())
        movers = self._mover_ids()
        rules = PairFilter(no_filter().classes, *_sets_of(store, movers))
        task = Task(store.boxes[movers], self._touching, rules, parts, limit, scratch=scratch)
        among = _renamed(self._sweep(task), movers)
        if among.pairs > limit:
            return among
        queries, statics = task.boxes.astype(np.float64, copy=False), self._static_ids()

        def search(begin: int, end: int) -> tuple[PairArray, int]:
            rows, tests = self._static_tree()._find_rows(queries[begin:end], self._touching, NO_RULE, NO_RULE)
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
        store = self._store
        pairs = np.column_stack((np.minimum(movers, statics), np.maximum(movers, statics)))
        if store.any_sets:
            first, second = pairs.T
            kept = (store.categories[first] & store.masks[second] != 0) & (
                store.categories[second] & store.masks[first] != 0
            )
            pairs = pairs[kept]
        return pairs

    def _sweep(self, task: Task) -> Found:
        """Find the pairs of a task, in the last frame's strips unless another thread is using them."""
        if len(task.boxes) < 2:
            return Found([], 0, 0)
        parts = parts_for(task)
        if not self._frame_lock.acquire(blocking=False):
            return sweep(task, *bin_boxes(task, cut_world(task), parts), parts)
        try:
            binned = self._bin_again(task, parts)
            if binned is None:
                plan, binned = bin_boxes(task, cut_world(task), parts)
                self._frame = _room_for_the_next(plan, binned)
            else:
                plan = self._frame.plan  # type: ignore[union-attr]
            return sweep(task, plan, binned, parts)
        finally:
            self._frame_lock.release()

    def _bin_again(self, task: Task, parts: int) -> Binned | None:
        """Copy the boxes into last frame's strips; ``None`` where these do not fit any more."""
        frame, scratch = self._frame, self._frame_scratch
        if frame is None or len(frame.begins) != parts:
            return None
        room = int(frame.limits[-1, -1])
        edges, tags = room_for_copies(scratch, room, task.dim, task.boxes.dtype)
        starts = frame.begins.copy()
        flat = task.boxes.reshape(1, -1)
        results = threads.run_all(
            [
                partial(
                    rebin_copies,
                    *(task.boxes, flat, frame.plan.axes, task.touching),
                    *(frame.plan.lattice, frame.plan.borders),
                    *(task.filter.classes, begin, end, starts[part], frame.limits[part], edges, tags),
                )
                for part, (begin, end) in enumerate(threads.shares(len(task.boxes), parts))
            ],
            parts,
        )
        filled = (starts - frame.begins).sum(axis=0)
        copies = int(filled.sum())
        if not all(fits for fits, _ in results) or _crowding(filled) > _CROWDED * frame.crowding:
            return None
        extreme = any(extreme for _, extreme in results)
        return Binned(edges, tags, frame.begins, starts, copies, int(filled.max()), extreme)

    # ---- static boxes

    def _mover_ids(self) -> IdArray:
        movers = self._movers
        if movers is None:
            ids = self._store.ids()
            movers = self._movers = ids[self._store.classes[ids] == 0]
        return movers

    def _static_ids(self) -> IdArray:
        return np.setdiff1d(self._store.ids(), self._mover_ids(), assume_unique=True)

    def _static_tree(self) -> BoxTree:
        """The static boxes, numbered as in `_static_ids`."""
        tree = self._statics
        if tree is None:
            tree = BoxTree(dim=self.dim, dtype=self.dtype, touching=self._touching, threads=self._threads)
            tree.insert_many(self._store.boxes[self._static_ids()])
            tree._ready()
            self._statics = tree
        return tree

    # ---- queries: all by the tree, which shares the stored boxes

    def _query_tree(self) -> BoxTree:
        tree = self._tree
        if tree is None:
            with self._lock:
                tree = self._tree
                if tree is None:
                    tree = BoxTree(dim=self.dim, dtype=self.dtype, touching=self._touching)
                    tree._store = self._store
                    tree._reset()
                    tree._ready()
                    self._tree = tree
        return tree

    def _find_in_box(self, box: Floats, touching: bool, category: int, mask: int) -> tuple[IdArray, int]:
        return self._query_tree()._find_in_box(box, touching, category, mask)

    def _find_in_boxes(self, boxes: Rows, touching: bool, category: int, mask: int) -> tuple[IdArray, int]:
        return self._query_tree()._find_in_boxes(boxes, touching, category, mask)

    def _find_on_ray(self, ray: Floats, category: int, mask: int) -> tuple[IdArray, int]:
        return self._query_tree()._find_on_ray(ray, category, mask)

    def _find_on_rays(self, rays: Rows, category: int, mask: int) -> tuple[IdArray, IdArray, int]:
        return self._query_tree()._find_on_rays(rays, category, mask)

    def _find_first_on_ray(self, ray: Floats, category: int, mask: int) -> tuple[int, int]:
        return self._query_tree()._find_first_on_ray(ray, category, mask)

    def _find_first_on_rays(self, rays: Rows, category: int, mask: int) -> tuple[IdArray, int]:
        return self._query_tree()._find_first_on_rays(rays, category, mask)

    def _find_nearest(self, point: Floats, k: int, category: int, mask: int) -> tuple[IdArray, int]:
        return self._query_tree()._find_nearest(point, k, category, mask)

    def _find_nearest_many(self, points: Rows, k: int, category: int, mask: int) -> tuple[IdArray, int]:
        return self._query_tree()._find_nearest_many(points, k, category, mask)

    # ---- about itself

    def _cell_count(self) -> int:
        return 0 if self._frame is None else self._frame.plan.strips

    def _check(self) -> None:
        if self._movers is not None:
            expect(not self._store.classes[self._movers].any(), "moving boxes are not static")
        if self._tree is not None:
            self._tree._check()
        if self._frame is not None:
            begins, limits = self._frame.begins.T.ravel(), self._frame.limits.T.ravel()
            expect(bool((begins <= limits).all()), "every strip has room")
            expect(bool((limits[:-1] <= begins[1:]).all()), "no two strips share room")


def _room_for_the_next(plan: Plan, binned: Binned) -> _Frame:
    """Lay the strips out as full as they are now, with an eighth to spare in each."""
    copies = binned.ends - binned.begins
    room = copies + copies // 8 + 32
    limits = room.T.cumsum().reshape(room.T.shape).T
    return _Frame(plan, np.ascontiguousarray(limits - room), np.ascontiguousarray(limits),
                  _crowding(copies.sum(axis=0)))  # fmt: skip


def _crowding(copies: npt.NDArray[np.int64]) -> float:
    """With how many copies a copy shares its strip."""
    total = float(copies.sum())
    return float(np.square(copies, dtype=np.float64).sum()) / total if total else 0.0


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
