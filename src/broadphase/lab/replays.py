"""A recording as a scene, and lanes that replay it.

The lab identifies bodies by their number, from the first frame to the last.  In a recording, bodies are added
and removed.  So each body gets the lowest free slot while it exists.  An index assigns ids in the same way,
so slot and id are the same number in every lane.
"""

from collections.abc import Iterator
from dataclasses import replace
from time import perf_counter
from typing import Any, NamedTuple, cast

import numpy as np
import numpy.typing as npt

from broadphase.indexes import Choice, make_index
from broadphase.inputs.boxes import BoxArray
from broadphase.lab.lanes import Lane, Outcome
from broadphase.lab.messages import REPLAY
from broadphase.lab.scenes import Bounds, Scene, Start, region_of, stand_still
from broadphase.recording.reader import RecordedFrame, Recording
from broadphase.recording.work import find_crowd

_BUSIEST = 6  # stretches of busy frames that the page lists
_SAMPLED = 12  # frames, to find the region to show
# The work of so many frames is counted at a time, for about so long, before the page gets what there is.
_COUNTED, _LONG = 64, 0.2


class Named(NamedTuple):
    """A recording and the name of its file."""

    name: str
    recording: Recording

    def as_scene(self) -> dict[str, str]:
        """Its entry in the page's list of scenes."""
        about = f"{len(self.recording)} frames, recorded in a program."
        return {"name": REPLAY, "title": f"Recording: {self.name}", "about": about}

    def about(self) -> dict[str, Any]:
        """What the page needs to know before it shows a frame."""
        return {"name": REPLAY, "frames": len(self.recording)}

    def work(self, begin: int) -> dict[str, Any]:
        """The work of frames from ``begin`` on, as many as are counted quickly; the busiest with the last."""
        until = perf_counter() + _LONG
        end, counts = begin, np.empty((0, 3), np.int64)
        while end < len(self.recording) and perf_counter() < until:
            end = min(end + _COUNTED, len(self.recording))
            counts = self.recording.counts(end)
        is_done = end >= len(self.recording)
        return {
            "counts": counts[begin:].tolist(),
            "busiest": self.recording.busiest(_BUSIEST) if is_done else None,
        }

    def explain(self, number: int) -> dict[str, Any]:
        """What the page says of a frame, and where its bodies crowd, seen from above."""
        task, overlaps = self.recording[number].task, int(self.recording.counts()[number, 1])
        crowd = find_crowd(task, overlaps)
        half = task.dim
        corners = None if crowd is None else [crowd.bounds[k] for k in (0, 1, half, half + 1)]
        return {"text": self.recording.explain(number), "crowd": corners}


class Replay(Scene):
    """A recording as a scene: `step` goes to the next frame, and from the last to the first.

    Parameters
    ----------
    recording : Recording
        With at least one frame.
    """

    def __init__(self, recording: Recording) -> None:
        slots = max(recording.most_bodies, 1)
        self.recording = recording
        self.touching = bool(recording.about["touching"])
        self.period = recording.period and recording.period[:2]
        """Of the picture, which shows the boxes from above."""
        self.alive = np.zeros(slots, np.bool_)
        self.born = np.zeros(slots, np.int64)
        """When the body in a slot was added, by which lanes notice that it is another body."""
        self.categories, self.masks = np.ones(slots, np.uint32), np.ones(slots, np.uint32)
        self.changed = True
        """Whether more than positions differ from the frame before."""
        self._boxes = np.zeros((slots, 4))
        self._slots: dict[int, int] = {}
        self._births = 0
        start = Start(np.zeros((slots, 2)), np.zeros((slots, 2)), np.zeros((slots, 2)), _bounds(recording))
        super().__init__(start, stand_still)
        self.go_to(0)

    def boxes(self) -> BoxArray:
        """``(slots, 4)``: the recorded boxes, seen from above; rows of free slots are meaningless."""
        return self._boxes.copy()

    def go_to(self, number: int) -> None:
        """Go to a frame; all bodies count as new."""
        self._coming: Iterator[RecordedFrame] = self.recording.frames(number, len(self.recording))
        self.alive[:] = False
        self._slots.clear()
        self._take(next(self._coming))
        self.changed = True

    def step(self) -> None:
        """Go to the next frame."""
        frame = next(self._coming, None)
        if frame is None:
            self.go_to(0)
        else:
            self._take(frame)

    def follow(self) -> None:
        """Nothing: a recorded body cannot be dragged."""

    def grab(self, x: float, y: float, reach: float = 0.0) -> int:
        """As `follow`."""
        return -1

    def summary(self) -> dict[str, Any]:
        """The numbers of the frame that the page shows."""
        frame = self.shown
        calls = sorted(frame.calls.items(), key=lambda item: -item[1].seconds)
        return {
            "frame": frame.number,
            "frames": len(self.recording),
            "bodies": len(frame.ids),
            "added": frame.added,
            "removed": frame.removed,
            "moved": frame.moved,
            "found": frame.found,
            "listened": frame.listened,
            "milliseconds": frame.seconds * 1e3,
            "calls": [[name, call.times, call.seconds * 1e3] for name, call in calls],
        }

    # ---- frames into slots

    def _take(self, frame: RecordedFrame) -> None:
        self.shown, self.frame, self.tiles = frame, frame.number, frame.tiles
        rows = {int(own): row for row, own in enumerate(frame.ids.tolist())}
        gone = [own for own, slot in self._slots.items() if not self._stays(slot, rows.get(own), frame)]
        for own in gone:
            self.alive[self._slots.pop(own)] = False
        came = [own for own in rows if own not in self._slots]
        free = np.flatnonzero(~self.alive)[: len(came)].tolist()
        self._slots.update(zip(came, free, strict=True))
        slots = np.array([self._slots[own] for own in rows], np.intp)
        before = self.halves.copy()
        self._write(slots, frame)
        self._births += 1
        self.born[free] = self._births
        self.alive[free] = True
        self.changed = bool(gone or came) or not np.allclose(before, self.halves, rtol=1e-9, atol=0)

    def _stays(self, slot: int, row: int | None, frame: RecordedFrame) -> bool:
        """Whether a body stays with its flags and masks; an index accepts others only for a new box."""
        if row is None:
            return False
        now = frame.static[row], frame.categories[row], frame.masks[row]
        return now == (self.static[slot], self.categories[slot], self.masks[slot])

    def _write(self, slots: npt.NDArray[np.intp], frame: RecordedFrame) -> None:
        boxes = frame.boxes if frame.boxes.shape[1] == 4 else frame.boxes[:, [0, 1, 3, 4]]
        self._boxes[slots] = boxes
        self.static[slots] = frame.static
        self.categories[slots], self.masks[slots] = frame.categories, frame.masks
        shown = np.full_like(self._boxes, np.inf)  # free slots lie outside of the picture
        with np.errstate(invalid="ignore"):
            shown[slots] = boxes
            self.centers[:] = (shown[:, :2] + shown[:, 2:]) / 2
            self.halves[:] = 0.0
            self.halves[slots] = np.nan_to_num((boxes[:, 2:] - boxes[:, :2]) / 2)


class ReplayLane(Lane):
    """A lane whose index follows the bodies that are added and removed.

    Parameters
    ----------
    method : str
        A name of `broadphase.INDEXES`.
    scene : Replay
        In its current frame.
    *sliders : float, optional
        As of `Lane`.
    """

    def __init__(self, method: str, scene: Replay, *sliders: Any) -> None:
        super().__init__(method, scene.boxes()[scene.alive], scene.static[scene.alive], *sliders)
        self._scene = scene
        self.index = make_index(
            cast(Choice, method), touching=scene.touching, period=scene.period, **self.options
        )
        self._boxes = scene.boxes()
        self._insert(np.ones(len(scene.alive), np.bool_))
        self.index.remove_many(np.flatnonzero(~scene.alive))
        self._alive, self._born = scene.alive.copy(), scene.born.copy()

    def run(self, boxes: BoxArray, *, remember: bool = False) -> Outcome:
        """As of `Lane`; the time includes adding and removing bodies."""
        scene = self._scene
        other = self._born != scene.born
        gone, came = self._alive & (~scene.alive | other), scene.alive & (~self._alive | other)
        known = self._boxes.copy()
        known[came | ~scene.alive] = boxes[came | ~scene.alive]
        self._boxes, self._alive, self._born = known, scene.alive.copy(), scene.born.copy()
        start = perf_counter()
        if gone.any():
            self.index.remove_many(np.flatnonzero(gone))
        if came.any():
            self._insert(came)
        spent = perf_counter() - start
        outcome = super().run(boxes, remember=remember)
        return replace(outcome, seconds=outcome.seconds + spent)

    def measure(self) -> float:
        """NaN: a tight loop is not possible, because bodies are added and removed between frames."""
        return float("nan")

    def _insert(self, slots: npt.NDArray[np.bool_]) -> None:
        scene = self._scene
        self.index.insert_many(
            self._boxes[slots],
            static=scene.static[slots],
            category=scene.categories[slots],
            mask=scene.masks[slots],
        )


def _bounds(recording: Recording) -> Bounds:
    """The region of most boxes in some frames."""
    sampled = sorted({int(k) for k in np.linspace(0, len(recording) - 1, _SAMPLED)})
    half = recording[0].boxes.shape[1] // 2
    boxes = np.vstack([recording[number].boxes[:, [0, 1, half, half + 1]] for number in sampled])
    return region_of(boxes)
