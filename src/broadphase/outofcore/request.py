"""The arguments of a call, checked in one place, and its reports: plan, progress and result."""

import hashlib
import json
import os
import re
from collections.abc import Callable
from concurrent.futures import Executor
from dataclasses import dataclass, field, replace
from time import monotonic
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from broadphase.errors import path_of
from broadphase.inputs.arrays import settled
from broadphase.inputs.numeric import whole
from broadphase.inputs.rules import bit_sets, static_flags
from broadphase.methods.task import pair_limit
from broadphase.outofcore.inputs import InputFile, identity
from broadphase.runtime import threads

FORMAT = 2
"""Version of the files in a work folder; a run does not resume the work of another version."""

_UNITS = {"": 1, "k": 10**3, "m": 10**6, "g": 10**9, "t": 10**12}
_BINARY_UNITS = {"k": 2**10, "m": 2**20, "g": 2**30, "t": 2**40}
_SIZE = re.compile(r"\s*(\d+(?:\.\d*)?|\.\d+)\s*([kmgt]?)(i?)b?\s*", re.IGNORECASE)

Step = Literal["copy", "sample", "partition", "join"]


@dataclass(frozen=True, slots=True)
class Plan:
    """What a call is going to do, and what that takes."""

    boxes: int
    chunks: int
    """How many files of boxes the input is written to."""
    tiles: int
    memory: int
    """Bytes that all tasks together may hold."""
    workers: int
    temporary_bytes: int
    """The most that the work folder takes on disk, in addition to the output."""

    def __str__(self) -> str:
        return (
            f"{self.boxes:,} boxes in {self.tiles:,} tiles; at most {self.memory / 1e9:.2f} GB of memory "
            f"for {self.workers} workers, at most {self.temporary_bytes / 1e9:.2f} GB of temporary files"
        )


@dataclass(frozen=True, slots=True)
class Progress:
    """The progress of a call."""

    step: Step
    done: int
    """Boxes that were read, or joins that are done."""
    total: int
    """The total; 0 if it is unknown."""
    pairs: int
    seconds_left: float | None
    """The rest of this step, estimated from the time that it took so far."""
    plan: Plan | None
    """What the call is going to take; known once the sample is taken."""


@dataclass(frozen=True, slots=True)
class Written:
    """The result of a call that writes to a folder."""

    folder: str
    """A folder of Parquet files."""
    pairs: int
    boxes: int
    tiles: int
    was_done: bool
    """Whether an earlier call had finished this already, and all parts are still as it wrote them."""


class Reporter:
    """Tracks the progress of a call, and reports it to the caller's function."""

    def __init__(self, callback: Callable[[Progress], None] | None) -> None:
        self._callback = callback
        self._now = Progress("sample", 0, 0, 0, None, None)
        self._started, self._done_before = monotonic(), 0

    def begin(self, step: Step, total: int, done: int = 0) -> None:
        """Begin a step of ``total`` parts, of which earlier runs did ``done``."""
        self._started, self._done_before = monotonic(), done
        self._report(step=step, done=done, total=total, seconds_left=None)

    def set_plan(self, plan: Plan) -> None:
        """Report what the call is going to take."""
        self._report(plan=plan)

    def add_pairs(self, pairs: int) -> None:
        """Add to the number of pairs."""
        self._now = replace(self._now, pairs=self._now.pairs + pairs)

    def advance(self, parts: int) -> None:
        """Count this many more parts of the step as done."""
        done, left = self._now.done + parts, None
        if self._now.total and done > self._done_before:
            took = monotonic() - self._started
            left = took * (self._now.total - done) / (done - self._done_before)
        self._report(done=done, seconds_left=left)

    @property
    def pairs(self) -> int:
        """The pairs that were found so far."""
        return self._now.pairs

    def _report(self, **changes: Any) -> None:
        self._now = replace(self._now, **changes)
        if self._callback is not None:
            self._callback(self._now)


@dataclass(frozen=True, slots=True)
class Request:
    """The arguments of one call of `pairs`, `join` or `count_pairs`, checked."""

    sources: dict[str, Any]
    """By the name of the caller's argument: one source, or the two sides of a join."""
    out: str | None
    store: bool
    touching: bool
    ids: tuple[str | None, ...]
    """The column of ids of each side."""
    rules: dict[str, str]
    """Rules that are columns: ``static``, ``categories``, ``masks``."""
    given: dict[str, Any]
    """Rules that are arrays."""
    memory: int
    executor: Executor | None
    workers: int
    work: str | None
    max_pairs: int
    progress: Callable[[Progress], None] | None = field(compare=False)


def make_request(
    sources: dict[str, Any],
    *,
    memory: Any,
    workers: int | None,
    out: Any = None,
    store: bool = True,
    touching: bool = True,
    ids: Any = None,
    rules: dict[str, Any] | None = None,
    executor: Any = None,
    work: Any = None,
    max_pairs: int | None = None,
    progress: Callable[[Progress], None] | None = None,
) -> Request:
    """Check the arguments of a call."""
    if progress is not None and not callable(progress):
        raise TypeError(f"progress must be a function or None; got {progress!r}")
    used = {rule: value for rule, value in (rules or {}).items() if value is not None}
    columns = {rule: value for rule, value in used.items() if isinstance(value, str)}
    given = {rule: settled(value, rule) for rule, value in used.items() if rule not in columns}
    return Request(
        sources,
        None if out is None else path_of(out, "out"),
        store,
        bool(touching),
        _id_columns(ids, len(sources)),
        columns,
        given,
        parse_size(memory),
        executor,
        worker_count(executor, workers),
        None if work is None else path_of(work, "work"),
        pair_limit(max_pairs),
        progress,
    )


def _id_columns(ids: Any, sides: int) -> tuple[str | None, ...]:
    columns = tuple(ids) if isinstance(ids, (tuple, list)) else (ids,) * sides
    if len(columns) != sides or not all(name is None or isinstance(name, str) for name in columns):
        raise TypeError(f"ids must name a column, or in join one of each side; got {ids!r}")
    return columns


def parse_size(memory: Any) -> int:
    """A number of bytes, from an int or from text such as ``"2 GB"`` or ``"512MiB"``.

    Examples
    --------
    >>> parse_size("2 GB"), parse_size("1.5MiB"), parse_size(4096)
    (2000000000, 1572864, 4096)
    """
    if isinstance(memory, str):
        found = _SIZE.fullmatch(memory)
        if found is None:
            raise ValueError(
                f'memory={memory!r} is no size; write it as "2 GB", "512 MiB" or a number of bytes'
            )
        number, unit, binary = float(found[1]), found[2].lower(), found[3]
        return int(number * (_BINARY_UNITS[unit] if binary and unit else _UNITS[unit]))
    return whole(memory, "memory", 'a size such as "2 GB" or a number of bytes')


def worker_count(executor: Any, workers: int | None) -> int:
    """How many tasks run at the same time.

    Raises
    ------
    TypeError
        The executor has no ``submit``, or ``workers`` is not an int.
    """
    if executor is not None and not callable(getattr(executor, "submit", None)):
        raise TypeError(
            "executor must have a method submit, as those of concurrent.futures "
            f"(of Dask: client.get_executor()); got {type(executor).__name__}"
        )
    if workers is not None:
        number = whole(workers, "workers", "an int or None")
        if number < 1:
            raise ValueError(f"workers must be at least 1; got {number}")
        return number
    client = getattr(executor, "_client", None)  # of Dask
    if client is not None:
        return max(1, int(sum(client.nthreads().values())))
    return int(getattr(executor, "_max_workers", 0) or threads.cores())


def rule_arrays(given: dict[str, Any], rows: int) -> dict[str, npt.NDArray[Any]]:
    """The rules that came as arrays, with one entry for each row of all input."""
    return {
        rule: static_flags(values, rows).astype(np.uint8)
        if rule == "static"
        else bit_sets(values, rows, rule)
        for rule, values in given.items()
    }


def fingerprint(request: Request, files: list[list[InputFile]] | None) -> dict[str, Any]:
    """What must be equal in two calls for one to resume the work of the other.

    Without ``files`` the input was not read from files.  Such input cannot be compared with other input, so
    it counts as different each time.
    """
    if files is None:
        inputs = os.urandom(16).hex()
    else:
        inputs = digest([[identity(file) for file in side] for side in files])
    return {
        "format": FORMAT,
        "input": inputs,
        "touching": request.touching,
        "ids": list(request.ids),
        "rules": request.rules,
        "given": {
            rule: _hash(np.ascontiguousarray(values).tobytes()) for rule, values in request.given.items()
        },
        "memory": request.memory,
        "store": request.store,
    }


def digest(content: Any) -> str:
    """A short name for JSON content."""
    return _hash(json.dumps(content).encode())


def _hash(content: bytes) -> str:
    return hashlib.blake2b(content, digest_size=16).hexdigest()
