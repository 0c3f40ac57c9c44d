"""Reads a recording: any frame of it, the pairs there by any method, and how much work it is.

A file may be damaged in ways that its checksums do not show, or be made to do harm.  So all that a frame says
is checked before it is applied (`apply`), and memory is taken for what the file holds, whatever the numbers
of rows.
"""

import math
import os
from bisect import bisect_left
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from broadphase.api.one_shot import Method, pairs, search
from broadphase.errors import FileError, path_of
from broadphase.geometry.shapes import Box, Circle, Shape, from_outline
from broadphase.geometry.table import ShapeTable
from broadphase.inputs.boxes import BoxArray, sides_of
from broadphase.inputs.numeric import readable, whole
from broadphase.inputs.periods import as_period
from broadphase.inputs.search import Space, as_filter, as_space
from broadphase.kernels.boxes.overlap import IN_B, rules_of
from broadphase.methods.task import Task
from broadphase.recording.frames import (
    BOX,
    CIRCLE,
    COLUMNS,
    FRESH,
    WITH_OUTLINE,
    FrameRows,
    Part,
    Rows,
    Sections,
    read_frames,
    read_head,
    read_json,
    stepped,
)
from broadphase.runtime.memory import PairArray
from broadphase.world.tiles import TileMap

MOST_ROWS = 1 << 24
"""A recording with higher ids is damaged."""
_MOST_CALLS = 1 << 53
_NO_FORM = Box(0.0, 0.0, 0.0, 0.0)
_SPARE = 64  # forms that are no longer there, beside as many as there are


# -----------------------------------------------------------------------------------------------------------
# How much work a frame is, counted and not timed: its bodies, overlaps and tests, and where they crowd.
# Times of one frame depend on what else the machine was doing; counts do not.

Places = npt.NDArray[np.intp]

_CROWDED = 8  # overlaps of a body, to be part of a crowd
_LEAST_CROWD = 10  # bodies
_GIANT = 10  # times the median longest side
_MOST_PAIRS = 2_000_000  # pairs in which a crowd is searched; of more, a sample of the boxes
_MOST_STEPS = 64
# A frame is busy with this many times the median number of tests, and with so many at least: fewer take
# microseconds.
_BUSY, _LEAST_TESTS = 2.0, 100


class Work(NamedTuple):
    """The work of one frame."""

    bodies: int
    overlaps: int
    """Pairs of boxes that overlap and may be paired."""
    tests: int
    """The comparisons with which the method ``"tree"`` finds them.

    It suits all scenes, and the number changes little while bodies only move about.
    """


def count_work(task: Task, space: Space | None = None) -> Work:
    """Search the boxes of a task once, without storing pairs."""
    found = search("tree", replace(task, store=False), space)
    return Work(len(task.boxes), found.pairs, found.tests)


def overlaps_of(task: Task, rows: Places, space: Space | None = None) -> int:
    """How many overlaps these boxes have, with each other and with all others."""
    classes = np.full(len(task.boxes), IN_B, np.uint8)
    classes[rows] = 0
    if len(task.filter.classes):
        classes |= task.filter.classes
    task = replace(task, store=False, filter=task.filter._replace(classes=classes))
    return search("strips", task, space).pairs


# ---- where bodies crowd


class Crowd(NamedTuple):
    """Boxes that overlap many others, in one place."""

    rows: Places
    bounds: list[float]
    """A box around them: all ``min``, then all ``max``."""

    @property
    def place(self) -> str:
        """Where it is, in words."""
        dim = len(self.bounds) // 2
        low, high = np.array(self.bounds[:dim]), np.array(self.bounds[dim:])
        size = " x ".join(readable(side, 3) for side in (high - low).tolist())
        return f"within {size} around ({', '.join(map(readable, (low / 2 + high / 2).tolist()))})"


def find_giants(boxes: BoxArray) -> Places:
    """The rows of boxes that are much larger than the median, infinite ones too; none if they are many."""
    longest = longest_sides(boxes)
    sized = longest[longest > 0]
    giants = np.flatnonzero(longest / _GIANT > np.median(sized) if len(sized) else sized)
    return giants if len(giants) <= len(boxes) // 20 else giants[:0]


def longest_sides(boxes: BoxArray) -> npt.NDArray[np.float64]:
    """The longest side of each box."""
    longest: npt.NDArray[np.float64] = sides_of(boxes).max(axis=1)
    return longest


def find_crowd(task: Task, overlaps: int) -> Crowd | None:
    """The place where boxes overlap most others; None if no box overlaps many.

    From the box with the most overlaps it extends over all others that have many and overlap one of them.
    Giants do not count.  A crowd ends at the edge of a periodic world.
    """
    boxes = task.boxes
    thin = math.ceil(math.sqrt(overlaps / _MOST_PAIRS)) if overlaps > _MOST_PAIRS else 1
    finite = np.flatnonzero(np.isfinite(boxes).all(axis=1))
    usual = np.setdiff1d(finite, find_giants(boxes)).astype(np.int32)[::thin]
    chunks = search("strips", replace(task, boxes=boxes[usual], filter=rules_of(task.filter, usual))).chunks
    if not chunks:
        return None
    pairs = np.concatenate(chunks)
    degrees = np.bincount(pairs.ravel(), minlength=len(usual))
    descending = np.sort(degrees)[::-1]
    # Half of all overlaps are those of boxes with at least as many as this one.
    middle = descending[np.searchsorted(np.cumsum(descending), len(pairs))]
    heavy = degrees >= max(middle / 4, _CROWDED / thin)
    if np.count_nonzero(heavy) < _LEAST_CROWD / thin:
        return None
    members = boxes[usual[_together(pairs[heavy[pairs].all(axis=1)], heavy, int(degrees.argmax()))]]
    dim = boxes.shape[1] // 2
    low, high = members[:, :dim].min(axis=0), members[:, dim:].max(axis=0)
    inside = (boxes[:, :dim] >= low).all(axis=1) & (boxes[:, dim:] <= high).all(axis=1)
    rows = np.flatnonzero(inside)
    return Crowd(rows, [*low.tolist(), *high.tolist()]) if len(rows) >= _LEAST_CROWD else None


def _together(pairs: PairArray, heavy: npt.NDArray[np.bool_], first: int) -> Places:
    """What hangs together with one row by pairs."""
    reached = np.zeros(len(heavy), np.bool_)
    reached[first] = True
    for _ in range(_MOST_STEPS):
        before = np.count_nonzero(reached)
        reached[pairs[reached[pairs].any(axis=1)]] = True
        if np.count_nonzero(reached) == before:
            break
    return np.flatnonzero(reached)


# ---- which frames are busy


class Busy(NamedTuple):
    """A stretch of frames with much more work than the median."""

    begin: int
    peak: int
    """The frame with the most tests."""
    end: int
    """The frame after the last one."""
    times: float
    """The tests at the peak, as a multiple of the median."""


def busy_stretches(tests: npt.NDArray[np.int64]) -> list[Busy]:
    """The stretches with at least twice the median number of tests, the one with the most first."""
    usual = max(float(np.median(tests)), 1.0) if len(tests) else 1.0
    busy = np.pad(tests >= max(_BUSY * usual, _LEAST_TESTS), 1)
    found = []
    for begin, end in np.flatnonzero(np.diff(busy)).reshape(-1, 2).tolist():
        peak = begin + int(tests[begin:end].argmax())
        found.append(Busy(begin, peak, end, float(tests[peak] / usual)))
    return sorted(found, key=lambda stretch: (-stretch.times, stretch.peak))


# ---- the sentence


def sentence(
    task: Task, space: Space | None, work: Work, usual: list[float], names: Callable[[int], str]
) -> str:
    """The boxes of a frame in words; ``usual`` are the medians of all frames, ``names`` names a row."""
    bodies, overlaps, tests = (
        f"{count:,} {one if count == 1 else many}{compared(count, median)}"
        for count, median, one, many in zip(
            work, usual, ("body", "overlap", "test"), ("bodies", "overlaps", "tests"), strict=True
        )
    )
    crowd = find_crowd(task, work.overlaps)
    where = f"{len(crowd.rows):,} of {bodies} lie {crowd.place}" if crowd else bodies
    giants = find_giants(task.boxes)
    met = overlaps_of(task, giants, space) if len(giants) else 0
    if 2 * met < max(work.overlaps, 2 * _LEAST_CROWD):
        return f"{where}; {tests}; {overlaps}"
    who = names(int(giants[0])) if len(giants) == 1 else f"{len(giants)} bodies"
    return f"{where}; {tests}; {overlaps}, {met:,} of them with {who}, much larger than the others"


def compared(count: int, usual: float) -> str:
    """How a count compares with the median; nothing where it is as usual."""
    if count == usual:
        return ""
    if usual and count >= 2 * usual:
        times = count / usual
        return f", {times:,.0f} times the median" if times >= 10 else f", {times:.1f} times the median"
    return f" (median {usual:,.0f})"


# -----------------------------------------------------------------------------------------------------------
# What the JSON of a frame says.


class Calls(NamedTuple):
    """How often a method was called in a frame, and how long all calls took together."""

    times: int
    seconds: float


@dataclass(frozen=True)
class Words:
    """The JSON of a frame."""

    calls: dict[str, Calls]
    found: int | None
    listened: bool | None
    tags: list[str]
    """The texts of new tags."""
    outlines: list[Any]
    """Those of polygons that are new in this frame."""
    tiles: Any
    """The form of a new tile map, None for none from here on; ``...`` if there is no new one."""


def words_of(sections: Sections) -> Words:
    """The JSON of a frame, checked.

    Raises
    ------
    ValueError
        It says what no recorder writes.
    """
    if Part.WORDS not in sections:
        raise ValueError("it has no words")
    read = read_json(sections[Part.WORDS].tobytes())
    calls, tags, outlines = read.get("calls"), read.get("tags", []), read.get("outlines", [])
    found, listened = read.get("found"), read.get("listened")
    if not isinstance(calls, dict):
        raise ValueError("its calls cannot be")
    _require(isinstance(tags, list) and all(isinstance(tag, str) for tag in tags), "its tags")
    _require(isinstance(outlines, list), "its outlines")
    _require(found is None or _is_number(found, int), "what it found")
    _require(listened is None or isinstance(listened, bool), "what it listened to")
    made = {name: _calls(name, said) for name, said in calls.items()}
    return Words(made, found, listened, tags, outlines, read.get("tiles", ...))


def _calls(name: str, said: Any) -> Calls:
    sound = isinstance(said, list) and len(said) == 2 and _is_number(said[0], int) and _is_number(said[1])
    _require(sound, f"its calls of {name[:60]}")
    return Calls(said[0], float(said[1]))


def _is_number(value: Any, kind: Any = (int, float)) -> bool:
    return isinstance(value, kind) and not isinstance(value, bool) and 0 <= value <= _MOST_CALLS


def _require(holds: bool, what: str) -> None:
    if not holds:
        raise ValueError(f"{what} cannot be")


# ---- its rows


def apply(before: FrameRows, sections: Sections, outlines: list[Any], tags: int) -> FrameRows:
    """The rows after the sections that `broadphase.recording.frames.difference` made.

    ``tags`` says how many tags there are by now.

    Raises
    ------
    ValueError
        The sections do not fit the rows.
    """
    none = np.empty(0, np.int32)
    gone, came, changed, moved = (
        sections.get(part, none) for part in (Part.GONE, Part.CAME, Part.CHANGED, Part.MOVED)
    )
    rows = _exchanged(before, gone, came, sections) if len(gone) or len(came) else before
    if not np.isin(came, changed).all():
        raise ValueError("it adds a row without its attributes")
    if len(changed):
        rows = _described(rows, _places_of(rows.ids, changed), sections, outlines, tags)
    places = _places_of(rows.ids, moved)
    if len(moved):
        numbers = rows.numbers.copy()
        numbers[places] = stepped(numbers[places], _section(sections, Part.STEPS))
        rows = replace(rows, numbers=numbers)
    for written in (_places_of(rows.ids, came), places):
        low, high = np.hsplit(rows.numbers[written], 2)
        is_sound = low <= high if rows.forms is None else np.isfinite(rows.numbers[written])
        if not is_sound.all():
            raise ValueError("a row is where none can be")
    return rows


def _places_of(ids: Rows, rows: Rows) -> npt.NDArray[np.intp]:
    """The places of rows that are there."""
    found = np.searchsorted(ids, rows).clip(max=max(len(ids) - 1, 0))
    if len(rows) and (not len(ids) or (ids[found] != rows).any() or (np.diff(rows) <= 0).any()):
        raise ValueError("it names a row that is not there")
    return found


def _exchanged(before: FrameRows, gone: Rows, came: Rows, sections: Sections) -> FrameRows:
    """The rows without those that went, and with new ones at their places; `_described` does the rest."""
    kept = np.delete(np.arange(len(before.ids)), _places_of(before.ids, gone))
    sound = not len(came) or (came[0] >= 0 and came[-1] < MOST_ROWS and (np.diff(came) > 0).all())
    if not sound or np.isin(came, before.ids[kept]).any():
        raise ValueError("it adds a row that cannot be")
    ids = np.concatenate((before.ids[kept], came))
    order = np.argsort(ids)
    fresh = before.numbers[:0]
    if len(came):
        fresh = _section(sections, Part.PLACES).reshape(len(came), -1)
    columns = {
        name: np.append(column[kept], np.zeros(len(came), column.dtype))[order]
        for name, column in before.columns.items()
    }
    forms = before.forms
    if forms is not None:
        every = [*map(forms.__getitem__, kept.tolist()), *[_NO_FORM] * len(came)]
        forms = [every[place] for place in order.tolist()]
    return FrameRows(ids[order], np.concatenate((before.numbers[kept], fresh))[order], columns, forms)


def _described(
    rows: FrameRows, places: npt.NDArray[np.intp], sections: Sections, outlines: list[Any], tags: int
) -> FrameRows:
    columns = {name: column.copy() for name, column in rows.columns.items()}
    for name, (part, _) in COLUMNS.items():
        columns[name][places] = _section(sections, part)
    numbers = columns["tag"][places]
    if (numbers < 0).any() or (numbers >= tags).any():
        raise ValueError("it names a tag that is not there")
    if rows.forms is None:
        return replace(rows, columns=columns)
    forms = list(rows.forms)
    sizes = _section(sections, Part.SIZES).reshape(len(places), 2).tolist()
    kinds = _section(sections, Part.FORM).tolist()
    for place, kind, size in zip(places.tolist(), kinds, sizes, strict=True):
        forms[place] = _decode_form(kind, size, outlines)
    return replace(rows, columns=columns, forms=forms)


def _section(sections: Sections, part: Part) -> npt.NDArray[Any]:
    if part not in sections:
        raise ValueError(f"it has no section {part.name}")
    return sections[part]


def _decode_form(kind: int, size: list[float], outlines: list[Any]) -> Shape:
    if kind == BOX:
        return Box(0.0, 0.0, *size)
    if kind == CIRCLE:
        return Circle(0.0, 0.0, size[0])
    number, radius = size
    if kind not in WITH_OUTLINE or not (math.isfinite(number) and 0 <= number < len(outlines)):
        raise ValueError("its form is of no known kind")
    return from_outline(WITH_OUTLINE[kind], outlines[int(number)], radius)


# ---- its tiles


def apply_tiles(before: TileMap | None, sections: Sections, words: Words) -> TileMap | None:
    """The tile map after the changes of `TileDifferences.difference`; ``before`` itself is not changed.

    Raises
    ------
    ValueError
        They do not fit the map.
    """
    if words.tiles is not ...:
        return None if words.tiles is None else _new_tiles(words.tiles, sections)
    if before is None or Part.CELLS not in sections:
        return before
    now, cells = before.copy(), sections[Part.CELLS]
    if cells.max(initial=0) >= now.solid.size:
        raise ValueError("it changes a tile that is not there")
    now.solid.ravel()[cells] = _section(sections, Part.CELLS_SOLID) != 0
    if now.one_way is not None:
        now.one_way.ravel()[cells] = _section(sections, Part.CELLS_ONE_WAY)
    return now


def _new_tiles(form: Any, sections: Sections) -> TileMap:
    _require(isinstance(form, dict) and {"shape", "size", "origin"} <= set(form), "its tiles")
    shape = form["shape"]
    sound = isinstance(shape, list) and len(shape) == 2 and all(_is_number(side, int) for side in shape)
    _require(sound, "its tiles")
    rows, columns = shape
    bits, sides = _section(sections, Part.SOLID), sections.get(Part.ONE_WAY)
    # Before memory is taken: so many bits must be there.
    _require(len(bits) == -(-rows * columns // 8), "the number of its tiles")
    _require(sides is None or len(sides) == rows * columns, "the number of its tiles")
    solid = np.unpackbits(bits, count=rows * columns).astype(np.bool_).reshape(rows, columns)
    one_way = None if sides is None else sides.reshape(rows, columns).copy()
    return TileMap(solid, tuple(form["size"]), tuple(form["origin"]), one_way=one_way)


# ---- frames, and the file that holds them


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
    tiles: TileMap | None = None
    calls: dict[str, Calls] = field(default_factory=dict)
    """Calls by name; the time of ``update`` includes the time of listeners."""
    found: int | None = None
    """How many pairs or contacts the program got; ``None`` where the frame was ended by hand."""
    listened: bool | None = None
    """Whether there were listeners for contacts; ``None`` for an index."""
    added: int = 0
    removed: int = 0
    moved: int = 0
    touching: bool = True
    forms: list[Shape] = field(default_factory=list)
    """The shapes of the bodies of a world, at any place; empty for an index."""
    _places: npt.NDArray[np.floating[Any]] | None = None
    period: tuple[float | None, ...] | None = None
    """As of the index or world."""

    @property
    def shapes(self) -> list[Shape]:
        """The shapes of the bodies of a world, at their places; empty for an index."""
        places = [] if self._places is None else self._places.tolist()
        return [form.moved_to(x, y) for form, (x, y) in zip(self.forms, places, strict=False)]

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
        """As of the index or world."""
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
        array([[2, 1, 1]])
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
        ['Frame 3: 20 of 20 bodies lie within 9 x 9 around (4.5, 4.5)', '202 tests, 2.2 times the median']
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
            kept = bisect_left(self._marks, begin, key=lambda state: state.number) - 1
            for state, sections, words in self._frames_from(self._marks[kept].copy()):
                if state.number >= begin:
                    yield state.frame(sections, words, self.about["touching"], self.period)
                if state.number == last:  # the next one may be damaged
                    return

    def _read_all(self, begin: int) -> None:
        """Read every frame once, and keep some states to begin at."""
        dtype = self.dtype
        is_world = self.about["kind"] == "world"
        rows = FrameRows.nothing(2 if is_world else 2 * self.about["dim"], dtype, has_forms=is_world)
        state = _State(-1, begin, rows, None, [""])
        self._marks.append(state.copy())
        try:
            for after, _, words in self._frames_from(state):
                self._seconds.append(sum(call.seconds for call in words.calls.values()))
                self._sizes.append(len(after.rows.ids))
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
            state.rows = apply(state.rows, sections, words.outlines, len(state.tags))
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
    rows: FrameRows
    tiles: TileMap | None
    tags: list[str]
    _table: ShapeTable = field(default_factory=ShapeTable)
    """Forms as columns, which it keeps alive, and of some that are no longer there."""
    _known: dict[int, int] = field(default_factory=dict)
    """By the id of a form, its row in the table."""

    def copy(self) -> "_State":
        return replace(self, tags=list(self.tags), _table=ShapeTable(), _known={})

    @property
    def nbytes(self) -> int:
        """The memory that a copy takes."""
        tiles = 0 if self.tiles is None else 2 * self.tiles.solid.nbytes
        rows = self.rows
        columns = sum(column.nbytes for column in (rows.numbers, rows.ids, *rows.columns.values()))
        return columns + 8 * len(rows.forms or ()) + tiles + 8 * len(self.tags)

    def boxes(self) -> BoxArray:
        """The boxes of the rows."""
        rows = self.rows
        if rows.forms is None:
            return rows.numbers.copy()
        if len(self._table) > 2 * len(rows.forms) + _SPARE:
            self._table, self._known = ShapeTable(), {}
        table, known = self._table, self._known
        for form in rows.forms:
            if id(form) not in known:
                known[id(form)] = table.append(form)
        places = np.array([known[id(form)] for form in rows.forms], np.int32)
        table.x[places], table.y[places] = rows.numbers.T
        return table.bounds(places)

    def frame(
        self, sections: Sections, words: Words, touching: bool, period: tuple[float | None, ...] | None
    ) -> RecordedFrame:
        rows = self.rows
        columns = {name: column.copy() for name, column in rows.columns.items()}
        return RecordedFrame(
            self.number,
            rows.ids.copy(),
            self.boxes(),
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
            touching,
            list(rows.forms or ()),
            rows.numbers.copy(),
            period,
        )
