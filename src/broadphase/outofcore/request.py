"""The arguments of a call, checked in one place, and its reports: plan, progress and result."""

import hashlib
import json
import os
import re
from collections.abc import Callable
from dataclasses import KW_ONLY, InitVar, dataclass, field, replace
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

FORMAT = 2  # of the files in a work folder; a run does not resume the work of another version
_SIZE = re.compile(r"\s*(\d+(?:\.\d*)?|\.\d+)\s*([kmgt]?)(i?)b?\s*", re.IGNORECASE)

Step = Literal["copy", "sample", "partition", "join"]


@dataclass(frozen=True, slots=True)
class Plan:
    """What a call is going to do, and what that takes.

    Attributes
    ----------
    boxes, tiles, workers : int
    chunks : int
        How many files of boxes the input is written to.
    memory : int
        Bytes that all tasks together may hold.
    temporary_bytes : int
        The most that the work folder takes on disk, in addition to the output.
    """

    boxes: int
    chunks: int
    tiles: int
    memory: int
    workers: int
    temporary_bytes: int

    def __str__(self) -> str:
        return (
            f"{self.boxes:,} boxes in {self.tiles:,} tiles; at most {self.memory / 1e9:.2f} GB of memory "
            f"for {self.workers} workers, at most {self.temporary_bytes / 1e9:.2f} GB of temporary files"
        )


@dataclass(frozen=True, slots=True)
class Progress:
    """The progress of a call.

    Attributes
    ----------
    step : str
        ``"copy"``, ``"sample"``, ``"partition"`` or ``"join"``.
    done, total : int
        Boxes that were read, or joins that are done, and all; 0 if the total is unknown.
    pairs : int
        How many were found so far.
    seconds_left : float or None
        The rest of this step, estimated from the time that it took so far.
    plan : Plan or None
        What the call is going to take; known once the sample is taken.
    """

    step: Step
    done: int
    total: int
    pairs: int
    seconds_left: float | None
    plan: Plan | None


@dataclass(frozen=True, slots=True)
class Written:
    """The result of a call that writes to a folder.

    Attributes
    ----------
    folder : str
        A folder of Parquet files.
    pairs, boxes, tiles : int
    was_done : bool
        Whether an earlier call had finished this already, and all parts are still as it wrote them.
    """

    folder: str
    pairs: int
    boxes: int
    tiles: int
    was_done: bool


class Reporter:
    """Tracks the progress of a call, and reports it to the caller's function."""

    def __init__(self, callback: Callable[[Progress], None] | None) -> None:
        self._callback = callback
        self._now = Progress("sample", 0, 0, 0, None, None)
        self._started, self._done_before = monotonic(), 0

    def begin(self, step: Step, total: int, done: int = 0, pairs: int = 0) -> None:
        """Begin a step of ``total`` parts, of which earlier runs did ``done`` and found ``pairs``."""
        self._started, self._done_before = monotonic(), done
        self._report(step=step, done=done, total=total, pairs=pairs, seconds_left=None)

    def set_plan(self, plan: Plan) -> None:
        """Report what the call is going to take."""
        self._report(plan=plan)

    def advance(self, parts: int, pairs: int = 0) -> None:
        """Count this many more parts of the step as done, and this many more pairs as found."""
        done, left = self._now.done + parts, None
        if self._now.total and done > self._done_before:
            took = monotonic() - self._started
            left = took * (self._now.total - done) / (done - self._done_before)
        self._report(done=done, pairs=self._now.pairs + pairs, seconds_left=left)

    @property
    def pairs(self) -> int:
        """The pairs that were found so far."""
        return self._now.pairs

    def _report(self, **changes: Any) -> None:
        self._now = replace(self._now, **changes)
        if self._callback is not None:
            self._callback(self._now)


@dataclass(slots=True)
class Request:
    """The arguments of one call of `pairs`, `join` or `count_pairs`; they are checked when it is made.

    ``sources`` has one source or the two sides of a join, by the name of the caller's argument, and ``ids``
    the column of each; ``rules`` become the names of columns, ``given`` those rules that are arrays.
    """

    sources: dict[str, Any]
    out: Any = None
    _: KW_ONLY
    touching: bool = True
    ids: Any = None
    static: InitVar[Any] = None
    categories: InitVar[Any] = None
    masks: InitVar[Any] = None
    memory: Any = "2 GB"
    executor: Any = None
    workers: Any = None
    work: Any = None
    max_pairs: Any = None
    progress: Callable[[Progress], None] | None = None
    store: bool = field(init=False, default=True)
    rules: dict[str, str] = field(init=False)
    given: dict[str, Any] = field(init=False)

    def __post_init__(self, static: Any, categories: Any, masks: Any) -> None:
        if self.progress is not None and not callable(self.progress):
            raise TypeError(f"progress must be a function or None; got {self.progress!r}")
        used = {"static": static, "categories": categories, "masks": masks}
        if len(self.sources) > 1 and any(value is not None for value in used.values()):
            raise ValueError("static, categories and masks are rules of one source, not of two")
        self.rules = {rule: value for rule, value in used.items() if isinstance(value, str)}
        self.given = {
            rule: settled(value, rule)
            for rule, value in used.items()
            if value is not None and rule not in self.rules
        }
        self.out = None if self.out is None else path_of(self.out, "out")
        self.touching = bool(self.touching)
        self.ids = _id_columns(self.ids, len(self.sources))
        self.memory = parse_size(self.memory)
        self.workers = worker_count(self.executor, self.workers)
        self.work = None if self.work is None else path_of(self.work, "work")
        self.max_pairs = pair_limit(self.max_pairs)


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
        return int(float(found[1]) * (1024 if found[3] else 1000) ** " kmgt".index(found[2].lower() or " "))
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
