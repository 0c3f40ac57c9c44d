"""Records the changes and calls of an index or a world."""

import functools
import json
import os
from collections.abc import Callable
from pathlib import Path
from time import perf_counter
from types import TracebackType
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from broadphase.errors import path_of
from broadphase.indexes.base import Index
from broadphase.kernels.boxes.overlap import STATIC
from broadphase.recording.frames import FrameRows, Part, TileDifferences, Writer, difference
from broadphase.world.world import World

_QUERIES = ("query_box", "query_point", "query_radius", "raycast", "query_ray", "nearest")
_OF_INDEX = (
    *("insert", "insert_many", "remove", "remove_many", "clear", "move", "move_many", "update", "join"),
    *_QUERIES,
)
_OF_WORLD = (
    *("add", "add_many", "remove", "remove_many", "clear", "restore"),
    *("move", "try_move", "move_many", "move_all", "step", "push", "resize", "separate"),
    *("walk", "walk_many", "try_turn", "turn_many", "move_as_one", "turn_as_one", "shape_cast"),
    *("grounded", "blocker", "line_of_sight", "query_shape", "query_cone"),
    *_QUERIES,
)
_ENDS_OF_INDEX, _ENDS_OF_WORLD = ("pairs", "changes"), ("update",)
_MICROSECONDS = 6


class Recorder:
    """Writes what is done to an index or a world, frame by frame, into one file.

    A frame ends with `World.update`, or with ``pairs`` or ``changes`` of an index.  The frame holds all
    additions, removals, moves and other changes since the frame before, however they were made; which calls
    were made, how often and how long they took; and how much was found.  `Recording` reads the file, and
    ``broadphase replay FILE`` shows it.  Even if the program crashes, the file is good up to the last
    complete frame.

    Parameters
    ----------
    target : World or Index
        It is recorded until `close`.  That costs about a microsecond a call, and one pass over all bodies or
        boxes a frame.
    path : str or os.PathLike
        The file; an existing one is overwritten.

    Raises
    ------
    TypeError
        The target is neither a world nor an index.
    ValueError
        It is being recorded already.
    OSError
        The file cannot be written.

    Notes
    -----
    Places come back bit for bit.  Objects of the user (``data``, listeners, tags other than their text) are
    not written.  A copy of a recorded index is not recorded.

    Examples
    --------
    >>> import broadphase as bp
    >>> from tempfile import TemporaryDirectory
    >>> world = bp.World()
    >>> hero = world.add(bp.Box(0, 0, 10, 10), tag="hero")
    >>> wall = world.add(bp.Box(40, 0, 5, 50), tag="wall", static=True)
    >>> with TemporaryDirectory() as folder:
    ...     with bp.Recorder(world, f"{folder}/game.bprec") as recorder:
    ...         for _ in range(5):
    ...             move = world.move(hero, 8, 0)
    ...             events = world.update()
    ...     recording = bp.Recording(f"{folder}/game.bprec")
    >>> len(recording), recording[1].boxes[0].tolist(), recording[4].calls["move"].times
    (5, [16.0, 0.0, 26.0, 10.0], 1)
    """

    def __init__(self, target: World | Index, path: str | os.PathLike[str]) -> None:
        name = path_of(path, "path")
        if not isinstance(target, World | Index):
            raise TypeError(f"target must be a World or an index; got {type(target).__name__}")
        if any(method in vars(target) for method in ("update", "pairs")):
            raise ValueError(f"target = {target!r} is being recorded already; close that recorder first")
        self._target = target
        self._is_world = isinstance(target, World)
        self._others: tuple[str, ...] = _OF_WORLD if self._is_world else _OF_INDEX
        self._ends: tuple[str, ...] = _ENDS_OF_WORLD if self._is_world else _ENDS_OF_INDEX
        self._tags, self._tiles = Tags(), TileDifferences()
        self.frames = 0
        """How many frames were written."""
        dtype = np.dtype(np.float64 if isinstance(target, World) else target.dtype)
        width = 2 if isinstance(target, World) else 2 * target.dim
        self._before = FrameRows.nothing(width, dtype, has_forms=self._is_world)
        self._calls: dict[str, list[float]] = {}
        # Unbuffered: a frame that was written survives a crash of the process.
        self._file = Path(name).open("wb", buffering=0)  # noqa: SIM115 - closed by `close`
        try:
            self._writer = Writer(self._file, self._head(dtype))
        except BaseException:
            self._file.close()
            raise
        for name in self._others + self._ends:
            wrapped = self._counted(name, getattr(self._target, name))
            setattr(self._target, name, self._ending(name, wrapped) if name in self._ends else wrapped)

    def frame(self) -> None:
        """End a frame by hand, where neither `update` nor ``pairs`` nor ``changes`` is called.

        Raises
        ------
        ValueError
            The recorder is closed.
        """
        if self._file.closed:
            raise ValueError("the recorder is closed")
        self._write(rows_of(self._target, self._tags), None)

    def close(self) -> None:
        """Stop recording; the target is as it was before."""
        if not self._file.closed:
            for name in self._others + self._ends:
                vars(self._target).pop(name, None)
            self._file.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    # ---- wrapping the methods of the target

    def _counted(self, name: str, method: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(method)
        def call(*args: Any, **options: Any) -> Any:
            start = perf_counter()
            try:
                return method(*args, **options)
            finally:
                known = self._calls.setdefault(name, [0, 0.0])
                known[0] += 1
                known[1] += perf_counter() - start

        return call

    def _ending(self, name: str, counted: Callable[..., Any]) -> Callable[..., Any]:
        """A method with which a frame ends."""

        @functools.wraps(counted)
        def call(*args: Any, **options: Any) -> Any:
            # Changes that listeners of an update make belong to the next frame.
            before = rows_of(self._target, self._tags) if self._is_world else None
            found = None
            try:
                pairs = counted(*args, **options)
                found = len(pairs) if name == "pairs" else len(pairs.began) + len(pairs.stayed)
                return pairs
            finally:
                self._write(before or rows_of(self._target, self._tags), found)

        return call

    # ---- writing

    def _write(self, held: FrameRows, found: int | None) -> None:
        try:
            sections, outlines = difference(self._before, held)
            target = self._target
            tiles, words = self._tiles.difference(target.tiles if isinstance(target, World) else None)
            words["calls"] = {
                name: [int(count), round(seconds, _MICROSECONDS)]
                for name, (count, seconds) in self._calls.items()
            }
            if isinstance(target, World):
                words["listened"] = bool(target._state.listeners.matcher.listeners)
            for name, said in (("found", found), ("tags", self._tags.fresh), ("outlines", outlines)):
                if said is not None and said != []:
                    words[name] = said
            text = np.frombuffer(json.dumps(words, separators=(",", ":")).encode(), np.uint8)
            self._writer.write({Part.WORDS: text, **sections, **tiles})
            self._before, self._calls = held, {}
            self._tags.fresh = []
            self.frames += 1
        except BaseException:  # the disk is full, or Ctrl-C: no frame can follow half a frame
            self.close()
            raise

    def _head(self, dtype: "np.dtype[Any]") -> dict[str, Any]:
        target = self._target
        index = target._state.broad_phase.pattern if isinstance(target, World) else target
        return {
            "dtype": dtype.str[1:],
            "kind": "world" if self._is_world else "index",
            "dim": index.dim,
            "touching": index.touching,
            "period": target.period,
            "index": index.name,
            "options": index._options(),
        }


# ---- a world or an index as rows


class Tags:
    """Numbers the texts of tags; 0 is no tag."""

    def __init__(self) -> None:
        self._numbers: dict[Any, int] = {frozenset(): 0}
        self.fresh: list[str] = []
        """The texts that were not written to the file yet."""

    def number(self, tags: frozenset[Any]) -> int:
        """The number of a set of tags."""
        known = self._numbers.get(tags)
        if known is None:
            known, text = len(self._numbers), ", ".join(sorted(map(str, tags)))
            # Commit: nothing interrupts the lines from here on (`tests/test_commits.py`).
            self.fresh += (text,)
            self._numbers[tags] = known
        return known


def rows_of(target: World | Index, tags: Tags) -> FrameRows:
    """The rows of a world or an index as they are now, in arrays of their own."""
    return _rows_of_world(target, tags) if isinstance(target, World) else _rows_of_index(target)


def _rows_of_world(world: World, tags: Tags) -> FrameRows:
    store = world._state.store
    ids = np.flatnonzero(store.alive[: len(store.bodies)])
    number = np.array([tags.number(group) for group in store.tag_sets.groups], np.int32)
    columns: dict[str, npt.NDArray[Any]] = {
        "static": store.static[ids],
        "sensor": store.sensor[ids],
        "category": store.category[ids],
        "mask": store.mask[ids],
        "tag": number[store.group[ids]],
    }
    forms = store.table.forms
    numbers = np.column_stack((store.x[ids], store.y[ids]))
    return FrameRows(ids.astype(np.int32), numbers, columns, [forms[row] for row in ids.tolist()])


def _rows_of_index(index: Index) -> FrameRows:
    store = index._store
    ids = np.flatnonzero(store.alive[: store.end])
    columns: dict[str, npt.NDArray[Any]] = {
        "static": (store.classes[ids] & STATIC) != 0,
        "sensor": np.zeros(len(ids), np.bool_),
        "category": store.categories[ids],
        "mask": store.masks[ids],
        "tag": np.zeros(len(ids), np.int32),
    }
    return FrameRows(ids.astype(np.int32), store.boxes[ids], columns)
