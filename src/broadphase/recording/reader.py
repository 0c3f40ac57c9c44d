"""Reads a recording: any frame of it, and the pairs there by any method."""

import os
from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from broadphase.api.one_shot import Method, pairs
from broadphase.errors import FileError, path_of
from broadphase.geometry.shapes import Shape
from broadphase.inputs.boxes import BoxArray
from broadphase.inputs.numeric import whole
from broadphase.inputs.periods import as_period
from broadphase.inputs.rules import as_filter
from broadphase.inputs.search import Space, as_space
from broadphase.methods.task import Task
from broadphase.recording.frames import FRESH, Part, Sections, Steps, read_frames, read_head
from broadphase.recording.held import Calls, HeldRows, Words, apply, apply_tiles, words_of
from broadphase.recording.work import Busy, Work, busy_stretches, count_work, sentence
from broadphase.runtime.memory import PairArray
from broadphase.world.tiles import TileMap

MOST_MARKED = 1 << 28
"""The most bytes of all states that a recording keeps to begin at."""


@dataclass(frozen=True, eq=False)
class RecordedFrame:
    """One frame of a recording: the bodies or boxes when it ended, and the calls that were made in it.

    The rows of ``boxes`` and of the other arrays are in the order of ``ids``.
    """

    number: int
    ids: npt.NDArray[np.int32]
    """``(n,)``, ascending."""
    boxes: BoxArray
    """``(n, 2 * dim)``; the bounds of bodies."""
    static: npt.NDArray[np.bool_]
    sensor: npt.NDArray[np.bool_]
    categories: npt.NDArray[np.uint32]
    masks: npt.NDArray[np.uint32]
    tags: list[str]
    """The tags of each body as text; ``""`` where it has none."""
    tiles: TileMap | None
    calls: dict[str, Calls]
    """Calls by name; the time of ``update`` includes the time of listeners."""
    found: int | None
    """How many pairs or contacts the program got; ``None`` where the frame was ended by hand."""
    listened: bool | None
    """Whether there were listeners for contacts; ``None`` for an index, and in old files."""
    added: int
    removed: int
    moved: int
    touching: bool
    forms: list[Shape]
    """The shapes of the bodies of a world, at any place; empty for an index."""
    _places: npt.NDArray[np.floating[Any]]
    period: tuple[float | None, ...] | None = None
    """As of the index or world; ``None`` also in old files."""

    @property
    def shapes(self) -> list[Shape]:
        """The shapes of the bodies of a world, at their places; empty for an index."""
        placed = zip(self.forms, self._places.tolist(), strict=False)
        return [form.moved_to(x, y) for form, (x, y) in placed]

    @property
    def seconds(self) -> float:
        """The time of all recorded calls."""
        return sum(call.seconds for call in self.calls.values())

    def pairs(self, method: Method = "auto") -> PairArray:
        """Every pair of ids whose boxes overlap and may be paired, as an index would find them.

        Parameters
        ----------
        method : str
            As of `broadphase.pairs`.

        Returns
        -------
        numpy.ndarray
            ``(m, 2)`` int32, sorted.
        """
        rows = pairs(
            self.boxes,
            method=method,
            touching=self.touching,
            period=self.period,
            static=self.static,
            categories=self.categories,
            masks=self.masks,
        )
        return self.ids[rows]

    @property
    def task(self) -> Task:
        """The search for its pairs, as the methods take it."""
        rules = as_filter(len(self.ids), self.static, self.categories, self.masks)
        return Task(self.boxes, self.touching, rules)

    @property
    def space(self) -> Space | None:
        """Where it searches, as the methods take it."""
        return as_space(self.period, None, self.boxes)

    def name_of(self, row: int) -> str:
        """A body in words: its id, and its tags if it has any."""
        return f"body {self.ids[row]}{f' ({self.tags[row]})' if self.tags[row] else ''}"


class Recording:
    """A sequence of frames that a `Recorder` has written.

    Parameters
    ----------
    path : str or os.PathLike
        The file; it may still be written to, or be cut off by a crash.

    Raises
    ------
    FileError
        It is not a recording, or of another version.
    OSError
        It cannot be opened.

    Examples
    --------
    >>> import broadphase as bp
    >>> from tempfile import TemporaryDirectory
    >>> index = bp.BoxTree()
    >>> with TemporaryDirectory() as folder:
    ...     with bp.Recorder(index, f"{folder}/boxes.bprec"):
    ...         ids = index.insert_many([[0, 0, 2, 2], [1, 1, 3, 3]])
    ...         before = index.pairs()
    ...         index.move(1, [5, 5, 6, 6])
    ...         after = index.pairs()
    ...     recording = bp.Recording(f"{folder}/boxes.bprec")
    >>> [frame.pairs("strips").tolist() for frame in recording]
    [[[0, 1]], []]
    >>> recording[-1].moved, list(recording[-1].calls)
    (1, ['move', 'pairs'])
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self._name = path_of(path, "path")
        try:
            self._data = Path(self._name).read_bytes()
        except MemoryError:
            raise FileError(f"{self._name}: takes more memory than there is when it is read") from None
        try:
            self.about, begin = read_head(self._data)
            lengths = as_period(self.about.get("period"), self.about["dim"])
        except (ValueError, TypeError) as error:
            raise FileError(f"{self._name}: cannot be read: {error}") from None
        self.period: tuple[float | None, ...] | None = None
        """As of the index or world; ``None`` in files of version 1, which did not hold it."""
        if lengths is not None:
            self.period = tuple(length if np.isfinite(length) else None for length in lengths.tolist())
        self.damage = ""
        """What is wrong with the frame after the last one that can be read; empty where nothing is."""
        self._marks: list[_State] = []
        """States in the order of their numbers, at multiples of so many frames."""
        self._stride = FRESH
        self._seconds: list[float] = []
        self._sizes: list[int] = []
        self._works: list[Work] = []
        """The counts of the first frames."""
        self._read_all(begin)

    def __len__(self) -> int:
        return len(self._seconds)

    def __iter__(self) -> Iterator[RecordedFrame]:
        return self.frames(0, len(self))

    def __getitem__(self, number: int) -> RecordedFrame:
        count, number = len(self), whole(number, "number")
        if not -count <= number < count:
            raise IndexError(f"frame {number} of {count}")
        (frame,) = self._frames(number % count, number % count)
        return frame

    @property
    def dtype(self) -> "np.dtype[Any]":
        """The type of the numbers of places."""
        dtype: np.dtype[Any] = np.dtype(self.about["dtype"])
        return dtype

    @property
    def seconds(self) -> npt.NDArray[np.float64]:
        """``(len,)``: the time of the recorded calls of each frame."""
        return np.array(self._seconds)

    @property
    def most_bodies(self) -> int:
        """The largest number of bodies in a frame."""
        return max(self._sizes, default=0)

    def slowest(self, count: int = 10) -> list[int]:
        """The frames whose recorded calls took longest, slowest first."""
        order: list[int] = np.argsort(-self.seconds, kind="stable")[: whole(count, "count")].tolist()
        return order

    def counts(self, end: int | None = None) -> npt.NDArray[np.int64]:
        """How much work each frame is: its bodies, overlaps of boxes, and the tests that find them.

        Counts do not depend on what else the machine was doing.  They are made once, frame by frame.

        Parameters
        ----------
        end : int, optional
            Count only the frames before this one.

        Returns
        -------
        numpy.ndarray
            ``(len, 3)``: bodies, overlaps and tests of the method ``"tree"``.

        Examples
        --------
        >>> import broadphase as bp
        >>> from tempfile import TemporaryDirectory
        >>> index = bp.BoxTree()
        >>> with TemporaryDirectory() as folder:
        ...     with bp.Recorder(index, f"{folder}/boxes.bprec"):
        ...         ids = index.insert_many([[0, 0, 2, 2], [1, 1, 3, 3]])
        ...         found = index.pairs()
        ...     bp.Recording(f"{folder}/boxes.bprec").counts()
        array([[2, 1, 4]])
        """
        end = len(self) if end is None else min(whole(end, "end"), len(self))
        known = len(self._works)
        fresh = [count_work(frame.task, frame.space) for frame in self._frames(known, end - 1)]
        # Another thread may have counted the same frames by now.
        self._works[known : known + len(fresh)] = fresh
        return np.array(self._works[: max(end, 0)], np.int64).reshape(-1, 3)

    def busiest(self, count: int = 10) -> list[Busy]:
        """The stretches of frames with twice the median number of tests or more, the one with most first.

        Parameters
        ----------
        count : int
            How many to return at most.

        Returns
        -------
        list of Busy
            ``begin``, ``peak`` (the frame with the most tests), ``end`` (the frame after the last one) and
            ``times``: the tests at the peak, as a multiple of the median.
        """
        return busy_stretches(self.counts()[:, 2])[: whole(count, "count")]

    def explain(self, number: int) -> str:
        """How much work a frame is compared with the others, and where its bodies crowd, in a sentence.

        Parameters
        ----------
        number : int
            The frame; negative numbers count from the end.

        Returns
        -------
        str
            Its `counts` next to the medians of all frames, where bodies overlap many others, and which body
            is much larger than the others.

        Raises
        ------
        IndexError
            There is no such frame.

        Examples
        --------
        >>> import broadphase as bp
        >>> from tempfile import TemporaryDirectory
        >>> world = bp.World()
        >>> with TemporaryDirectory() as folder:
        ...     with bp.Recorder(world, f"{folder}/game.bprec"):
        ...         for frame in range(5):
        ...             x = 100 if frame == 3 else 0
        ...             bodies = world.add_many([[k * (100 - x), 0, k * (100 - x) + 9, 9] for k in range(20)])
        ...             events = world.update()
        ...             world.remove_many(bodies)
        ...     said = bp.Recording(f"{folder}/game.bprec").explain(3)
        >>> said.split("; ")[:2]
        ['Frame 3: 20 of 20 bodies lie within 9 x 9 around (4.5, 4.5)', '223 tests (median 114)']
        """
        frame = self[number]
        counts = self.counts()
        work = Work(*counts[frame.number].tolist())
        usual: list[float] = np.median(counts, axis=0).tolist()
        return f"Frame {frame.number}: {sentence(frame.task, frame.space, work, usual, frame.name_of)}"

    def frames(self, begin: int, end: int) -> Iterator[RecordedFrame]:
        """The frames ``begin .. end - 1``, in order."""
        return self._frames(whole(begin, "begin"), min(whole(end, "end"), len(self)) - 1)

    def __repr__(self) -> str:
        damage = f", then {self.damage}" if self.damage else ""
        return f"<Recording of {len(self)} frames, up to {self.most_bodies} bodies{damage}>"

    # ---- reading

    def _frames(self, begin: int, last: int) -> Iterator[RecordedFrame]:
        if begin <= last:
            for state, sections, words in self._frames_from(self._start_of(begin)):
                if state.number >= begin:
                    yield state.frame(sections, words)
                if state.number == last:  # the next one may be damaged
                    return

    def _start_of(self, number: int) -> "_State":
        """The last state before a frame that is kept."""
        place = bisect_left(self._marks, number, key=lambda state: state.number)
        return self._marks[place - 1].copy()

    def _read_all(self, begin: int) -> None:
        """Read every frame once, and keep some states to begin at."""
        dtype = self.dtype
        is_world = self.about["kind"] == "world"
        held = HeldRows.nothing(2 if is_world else 2 * self.about["dim"], dtype, has_forms=is_world)
        state = _State(-1, begin, held, Steps(dtype), None, [""], self.about["touching"], self.period)
        self._marks.append(state.copy())
        try:
            for after, _, words in self._frames_from(state):
                self._seconds.append(sum(call.seconds for call in words.calls.values()))
                self._sizes.append(len(after.held.order))
                if (after.number + 1) % self._stride == 0:
                    self._mark(after)
        except (ValueError, KeyError, IndexError, TypeError, OverflowError, RecursionError) as error:
            what = " ".join(str(error).split()) or type(error).__name__
            self.damage = f"frame {len(self)}: {what}"

    def _mark(self, state: "_State") -> None:
        """Keep a copy of a state; where all together are too large, every other one goes."""
        size = state.nbytes
        while len(self._marks) > 1 and sum(mark.nbytes for mark in self._marks) + size > MOST_MARKED:
            self._stride *= 2
            self._marks = [mark for mark in self._marks if (mark.number + 1) % self._stride == 0]
        if (state.number + 1) % self._stride == 0 and size <= MOST_MARKED:
            self._marks.append(state.copy())

    def _frames_from(self, state: "_State") -> "Iterator[tuple[_State, Sections, Words]]":
        for sections, end in read_frames(self._data, state.end, "<" + self.about["dtype"]):
            words = words_of(sections)
            state.tags += words.tags
            apply(state.held, sections, words.outlines, len(state.tags), state.steps)
            state.tiles = apply_tiles(state.tiles, sections, words)
            state.number += 1
            state.end = end
            yield state, sections, words


@dataclass
class _State:
    """The state after a frame: all that is needed to read the next one."""

    number: int
    end: int
    """The byte at which its frame ends in the file."""
    held: HeldRows
    steps: Steps
    tiles: TileMap | None
    tags: list[str]
    touching: bool
    period: tuple[float | None, ...] | None

    def copy(self) -> "_State":
        return replace(self, held=self.held.copy(), steps=self.steps.copy(), tags=list(self.tags))

    @property
    def nbytes(self) -> int:
        """The memory that a copy takes."""
        tiles = 0 if self.tiles is None else 2 * self.tiles.solid.nbytes
        return self.held.nbytes + self.steps.nbytes + tiles + 8 * len(self.tags)

    def frame(self, sections: Sections, words: Words) -> RecordedFrame:
        held, places = self.held, self.held.order
        columns = {name: column[places] for name, column in held.columns.items()}
        return RecordedFrame(
            self.number,
            held.ids[places],
            held.boxes(),
            columns["static"],
            columns["sensor"],
            columns["category"],
            columns["mask"],
            [self.tags[number] for number in columns["tag"].tolist()],
            self.tiles,
            words.calls,
            words.found,
            words.listened,
            len(sections.get(Part.CAME, ())),
            len(sections.get(Part.GONE, ())),
            len(sections.get(Part.MOVED, ())),
            self.touching,
            held.shapes(),
            held.numbers[places],
            self.period,
        )
