"""Strips: for worlds in which everything moves in every frame.

The idea and its source are in `broadphase.methods.strips`: the world is cut into strips, each strip is sorted
and swept.  This index keeps the borders of the strips from frame to frame, which saves planning them; in a
world of clusters, where borders come from the data, that is a good part of the time.  The world is cut again
only when crowds have formed.

Two more results of the last frame are not used, because using them took longer.  How full each strip was:
checking at each copy whether there is space left takes 1.9 ns a box, counting 1.5.  And the order of the
boxes:  reading them in this order takes the time that it saves in writing them.

Cost of a frame: linear in the boxes, their copies, comparisons and pairs, however few have moved.  Queries go
to a box tree, which is built when it is asked and follows small changes.  `broadphase.AdaptiveIndex` has
these strips for the frames in which much has moved, and finds the pairs of what has changed with a tree.
"""

from broadphase.indexes.protocol import Structure, search_live
from broadphase.indexes.storage import IdArray
from broadphase.inputs.boxes import BoxArray
from broadphase.kernels.strips.bin import Division
from broadphase.methods.strips import bin_again, bin_boxes, cut_world, find_at_once, parts_for, sweep
from broadphase.methods.task import Found, Task
from broadphase.runtime import thresholds
from broadphase.runtime.memory import Scratch


class StripsFrame:
    """How the last frame was cut into strips, for the next one."""

    def __init__(self, plan: Division | None = None, crowding: float = 0.0) -> None:
        self.plan = plan
        self._crowding = crowding
        """How many others a copy shared its strip with, on average, when the world was cut."""
        self.in_one_call = False
        """How the last frame was searched (`broadphase.methods.strips.find_at_once`)."""

    def sweep(self, task: Task) -> Found:
        """Find the pairs of a task, in the last frame's strips if they still suit."""
        if len(task.boxes) < 2:
            return Found([], 0, 0)
        parts, plan, most = parts_for(task), self.plan, thresholds.CROWDED * self._crowding
        if plan is not None:
            found = find_at_once(task, plan, most)
            self.in_one_call = found is not None
            if found is not None:
                return found
            binned = bin_again(task, plan, parts, most)
            if binned is not None:
                return sweep(task, plan, binned, parts)
        plan, binned = bin_boxes(task, cut_world(task)[0], parts)
        self.plan, self._crowding = plan, binned.crowding
        return sweep(task, plan, binned, parts)

    @property
    def is_crowded(self) -> bool:
        """Whether the borders follow the boxes, because strips of one width were crowded."""
        return self.plan is not None and self.plan.borders.size > 0

    @property
    def strips(self) -> int:
        """How many strips there are."""
        return 0 if self.plan is None else self.plan.strips


class StripsStructure(Structure):
    """The strips of the last frame, which are made again when they are needed."""

    def reset(self) -> None:
        self.frame = StripsFrame()
        self.stale = False

    def leave(self, ids: IdArray, boxes: BoxArray | None) -> None:
        """Nothing."""

    def enter(self, ids: IdArray, fresh: bool) -> None:
        """Nothing."""

    def find_pairs(self, limit: int, scratch: Scratch) -> Found:
        return search_live(self, self.frame.sweep, limit, scratch)

    def counts(self) -> tuple[int, int]:
        return self.frame.strips, 0
