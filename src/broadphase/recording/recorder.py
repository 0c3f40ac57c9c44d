"""Writing down what is done to an index or a world."""

import functools
import json
import os
from collections.abc import Callable
from pathlib import Path
from time import perf_counter
from types import TracebackType
from typing import Any, Self

import numpy as np

from broadphase.errors import path_of
from broadphase.indexes.base import Index
from broadphase.recording.container import Part, Writer
from broadphase.recording.rows import Held, difference
from broadphase.recording.steps import Steps
from broadphase.recording.tiling import TilesSeen
from broadphase.recording.views import Tags, held_by, tiles_of
from broadphase.world.world import World

_ASKING = ("query_box", "query_point", "query_radius", "raycast", "query_ray", "nearest")
_OF_INDEX = (
    *("insert", "insert_many", "remove", "remove_many", "clear", "move", "move_many", "update", "join"),
    *_ASKING,
)
_OF_WORLD = (
    *("add", "add_many", "remove", "remove_many", "clear", "restore"),
    *("move", "try_move", "move_many", "move_all", "push", "resize"),
    *("walk", "walk_many", "try_turn", "turn_many"),
    *("grounded", "blocker", "query_shape", "raycast_many", "nearest_many", *_ASKING),
)
_ENDS_OF_INDEX = ("pairs", "changes")
_MICROSECONDS = 6


class Recorder:
    """Writes what is done to an index or a world, frame by frame, into one file.

    A frame ends with `World.update` or with an index's ``pairs`` or ``changes``: what was added, removed,
    moved or changed since the frame before is written, in whichever way it was done; which calls were made,
    how often and how long they took; and how much was found.  `Recording` reads the file, and
    ``broadphase replay FILE`` shows it.  Whatever happens to the program, the file is good up to the last
    whole frame.

    Parameters
    ----------
    target : World or Index
        From now on, until `close`.  It stays as fast as it is but for about a microsecond a call, and for
        one pass over all of it a frame.
    path : str or os.PathLike
        The file; one that exists is written over.

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
    Places come back bit for bit.  What only users know (``data``, listeners, tags but for their text) is not
    written.  A copy of an index is not recorded, whoever records the original.

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
        if any(own in vars(target) for own in ("update", "pairs")):
            raise ValueError(f"target = {target!r} is being recorded already; close that recorder first")
        self._target = target
        self._is_world = isinstance(target, World)
        self._tags, self._tiles = Tags(), TilesSeen()
        self.frames = 0
        """How many were written."""
        dtype = np.dtype(np.float64 if isinstance(target, World) else target.dtype)
        width = 2 if isinstance(target, World) else 2 * target.dim
        self._steps = Steps(dtype)
        self._before = Held.nothing(width, dtype, has_forms=self._is_world)
        self._calls: dict[str, list[float]] = {}
        # Nothing is held back in this process: what a frame has written is there when it crashes.
        self._file = Path(name).open("wb", buffering=0)  # noqa: SIM115 - closed by `close`
        try:
            self._writer = Writer(self._file, self._head(dtype))
        except BaseException:
            self._file.close()
            raise
        self._listen()

    def frame(self) -> None:
        """End a frame by hand: where neither `update` nor ``pairs`` nor ``changes`` is called.

        Raises
        ------
        ValueError
            The recorder is closed.
        """
        if self._file.closed:
            raise ValueError("the recorder is closed")
        self._write(held_by(self._target, self._tags), None)

    def close(self) -> None:
        """Record no more; the target is as it was before."""
        if not self._file.closed:
            for name in self._names():
                vars(self._target).pop(name, None)
            self._file.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    # ---- listening

    def _names(self) -> tuple[str, ...]:
        return (*_OF_WORLD, "update") if self._is_world else (*_OF_INDEX, *_ENDS_OF_INDEX)

    def _listen(self) -> None:
        for name in self._names():
            method = getattr(self._target, name)
            if self._is_world and name == "update":
                heard = self._around_update(method)
            elif name in _ENDS_OF_INDEX and not self._is_world:
                heard = self._around_end(name, method)
            else:
                heard = self._counted(name, method)
            setattr(self._target, name, heard)

    def _counted(self, name: str, method: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(method)
        def call(*args: Any, **options: Any) -> Any:
            start = perf_counter()
            try:
                return method(*args, **options)
            finally:
                self._note(name, perf_counter() - start)

        return call

    def _around_update(self, method: Callable[[], Any]) -> Callable[[], Any]:
        counted = self._counted("update", method)

        @functools.wraps(method)
        def update() -> Any:
            # What functions that it calls do to the world belongs to the next frame.
            held = held_by(self._target, self._tags)
            found = None
            try:
                events = counted()
                found = len(events.began) + len(events.stayed)
                return events
            finally:
                self._write(held, found)

        return update

    def _around_end(self, name: str, method: Callable[..., Any]) -> Callable[..., Any]:
        counted = self._counted(name, method)

        @functools.wraps(method)
        def call(*args: Any, **options: Any) -> Any:
            found = None
            try:
                pairs = counted(*args, **options)
                found = len(pairs) if name == "pairs" else len(pairs.began) + len(pairs.stayed)
                return pairs
            finally:
                self._write(held_by(self._target, self._tags), found)

        return call

    # ---- writing

    def _note(self, name: str, seconds: float) -> None:
        known = self._calls.setdefault(name, [0, 0.0])
        known[0] += 1
        known[1] += seconds

    def _write(self, held: Held, found: int | None) -> None:
        try:
            self._write_frame(held, found)
        except BaseException:  # the disk is full, or Ctrl-C: half a frame is no place to go on from
            self.close()
            raise

    def _write_frame(self, held: Held, found: int | None) -> None:
        sections, outlines = difference(self._before, held, self._steps)
        tiles, words = self._tiles.difference(tiles_of(self._target))
        words["calls"] = {
            name: [int(count), round(seconds, _MICROSECONDS)]
            for name, (count, seconds) in self._calls.items()
        }
        if isinstance(self._target, World):
            words["listened"] = bool(self._target._state.listeners.matcher.listeners)
        for name, said in (("found", found), ("tags", self._tags.fresh), ("outlines", outlines)):
            if said is not None and said != []:
                words[name] = said
        text = np.frombuffer(json.dumps(words, separators=(",", ":")).encode(), np.uint8)
        self._writer.write({Part.WORDS: text, **sections, **tiles})
        self._before, self._calls = held, {}
        self._tags.fresh = []
        self.frames += 1

    def _head(self, dtype: "np.dtype[Any]") -> dict[str, Any]:
        target = self._target
        about: dict[str, Any] = {"dtype": dtype.str[1:]}
        if isinstance(target, World):
            return about | {"kind": "world", "dim": 2, "touching": False, "index": "auto"}
        return about | {"kind": "index", "dim": target.dim, "touching": target.touching, "index": target.name}
