"""Replays a recording with an index of any kind: what would it have cost there?"""

from collections.abc import Mapping, Sequence
from time import perf_counter
from typing import Any, NamedTuple, Protocol, cast

import numpy as np
import numpy.typing as npt

from broadphase.indexes import Choice, make_index
from broadphase.indexes.results import Stats
from broadphase.recording.reader import RecordedFrame, Recording
from broadphase.runtime.memory import PairArray


class FrameRun(NamedTuple):
    """What one method did in one frame."""

    pairs: PairArray
    """Pairs of ids of the recording, sorted."""
    stats: Stats
    seconds: float


class Followed(Protocol):
    """What a `Follower` follows: a `Recording`, or what has frames of one kind as it has."""

    @property
    def about(self) -> Mapping[str, Any]:
        """With ``dim``, ``touching`` and, if there is one, ``period``."""

    @property
    def dtype(self) -> "np.dtype[Any]":
        """The type of the numbers of boxes."""


class Follower:
    """An index to which the recorded insertions, removals and moves are applied, frame by frame.

    Parameters
    ----------
    method : str
        A name of `broadphase.INDEXES`.
    recording : Recording
        The recording that it follows.
    **options
        Options of the index.

    Examples
    --------
    >>> import broadphase as bp
    >>> from tempfile import TemporaryDirectory
    >>> world = bp.World()
    >>> for x in (0, 5):
    ...     _ = world.add(bp.Box(x, 0, 10, 10))
    >>> with TemporaryDirectory() as folder:
    ...     with bp.Recorder(world, f"{folder}/a.bprec"):
    ...         _ = world.update()
    ...     recording = bp.Recording(f"{folder}/a.bprec")
    >>> Follower("box_tree", recording).run(recording[0]).pairs.tolist()
    [[0, 1]]
    """

    def __init__(self, method: str, recording: Followed, **options: Any) -> None:
        about = recording.about
        common = {"dim": about["dim"], "touching": bool(about["touching"]), "dtype": recording.dtype}
        common["period"] = about.get("period")
        self._index = make_index(cast(Choice, method), **common, **options)
        self._before: RecordedFrame | None = None
        self._own: npt.NDArray[np.int32] = np.empty(0, np.int32)
        """The id in the index, by the id in the recording."""
        self._names: npt.NDArray[np.int32] = np.empty(0, np.int32)
        """The id in the recording, by the id in the index."""

    def run(self, frame: RecordedFrame) -> FrameRun:
        """Apply the changes of a frame and find the pairs, as the program did; the time covers both.

        What has changed is often a small part of all pairs, and `World.update` searches only that too.
        """
        before, self._before = self._before, frame
        if before is None:
            stays_then = stays_now = np.empty(0, np.intp)
            gone = np.empty(0, np.int32)
        else:
            _, stays_then, stays_now = np.intersect1d(before.ids, frame.ids, True, return_indices=True)
            alike = (
                (before.static[stays_then] == frame.static[stays_now])
                & (before.categories[stays_then] == frame.categories[stays_now])
                & (before.masks[stays_then] == frame.masks[stays_now])
            )
            stays_then, stays_now = stays_then[alike], stays_now[alike]
            gone = self._own[np.delete(before.ids, stays_then)]
        came = np.delete(np.arange(len(frame.ids)), stays_now)
        moved = stays_now
        if before is not None:
            moved = stays_now[(before.boxes[stays_then] != frame.boxes[stays_now]).any(axis=1)]
        moved_ids = self._own[frame.ids[moved]]
        start = perf_counter()
        if len(gone):
            self._index.remove_many(gone)
        fresh = self._insert(frame, came)
        if len(moved) == len(frame.ids) == len(self._index) and (np.diff(moved_ids) > 0).all():
            self._index.update(frame.boxes)
        elif len(moved):
            self._index.move_many(moved_ids, frame.boxes[moved])
        if "pairs" not in frame.calls and not frame.calls.keys().isdisjoint(("changes", "update")):
            changes = self._index.changes()
            seconds = perf_counter() - start
            pairs = np.concatenate((changes.began, changes.stayed))
        else:
            pairs = self._index.pairs()
            seconds = perf_counter() - start
        self._name(frame.ids[came], fresh)
        return FrameRun(self._named(pairs), self._index.stats, seconds)

    def _insert(self, frame: RecordedFrame, rows: npt.NDArray[np.intp]) -> npt.NDArray[np.int32]:
        if not len(rows):
            return np.empty(0, np.int32)
        return self._index.insert_many(
            frame.boxes[rows],
            static=frame.static[rows],
            category=frame.categories[rows],
            mask=frame.masks[rows],
        )

    def _name(self, ids: npt.NDArray[np.int32], numbers: npt.NDArray[np.int32]) -> None:
        self._own = _with_space(self._own, ids)
        self._names = _with_space(self._names, numbers)
        self._own[ids], self._names[numbers] = numbers, ids

    def _named(self, pairs: PairArray) -> PairArray:
        named = np.sort(self._names[pairs], axis=1)
        return named[np.lexsort((named[:, 1], named[:, 0]))]


class MethodRun(NamedTuple):
    """The cost of a method in all frames."""

    seconds: npt.NDArray[np.float64]
    """For each frame, the minimum over all rounds."""
    tests: npt.NDArray[np.int64]


def run_methods(recording: Recording, methods: Sequence[str], rounds: int) -> dict[str, MethodRun]:
    """Run methods through all frames, ``rounds`` times."""
    frames = len(recording)
    found = {name: MethodRun(np.full(frames, np.inf), np.zeros(frames, np.int64)) for name in methods}
    for _ in range(rounds):
        followers = {name: Follower(name, recording) for name in methods}
        for frame in recording:
            for name, follower in followers.items():
                run, (seconds, tests) = follower.run(frame), found[name]
                seconds[frame.number] = min(seconds[frame.number], run.seconds)
                tests[frame.number] = run.stats.tests
    return found


def _with_space(column: npt.NDArray[np.int32], rows: npt.NDArray[np.int32]) -> npt.NDArray[np.int32]:
    end = int(rows.max(initial=-1)) + 1
    return column if end <= len(column) else np.resize(column, 2 * end)
