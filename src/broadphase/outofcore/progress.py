"""What a call says while it runs, what it is going to take, and what came of it."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from time import monotonic
from typing import Literal

Step = Literal["copy", "sample", "partition", "join"]


@dataclass(frozen=True, slots=True)
class Plan:
    """What a call is going to do, and to take."""

    boxes: int
    chunks: int
    """Into how many files of boxes the input is written."""
    tiles: int
    memory: int
    """Bytes that all tasks together may hold."""
    workers: int
    temporary_bytes: int
    """The most that the work folder takes on disk, beside the output."""

    def __str__(self) -> str:
        return (
            f"{self.boxes:,} boxes in {self.tiles:,} tiles; at most {self.memory / 1e9:.2f} GB of memory "
            f"for {self.workers} workers, at most {self.temporary_bytes / 1e9:.2f} GB of temporary files"
        )


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a call is."""

    step: Step
    done: int
    """Boxes that were read, or joins that are done."""
    total: int
    """Of how many; 0 where that is unknown."""
    pairs: int
    seconds_left: float | None
    """Of this step, going by how long it took so far."""
    plan: Plan | None
    """What it is going to take; known once the sample is taken."""


@dataclass(frozen=True, slots=True)
class Written:
    """What came out."""

    folder: str
    """A folder of Parquet files."""
    pairs: int
    boxes: int
    tiles: int
    was_done: bool
    """Whether an earlier call had finished this already, and all parts are still as it wrote them."""


class Teller:
    """Keeps account of how far a call is, and tells who wants to know."""

    def __init__(self, tell: Callable[[Progress], None] | None) -> None:
        self._tell = tell
        self._now = Progress("sample", 0, 0, 0, None, None)
        self._work = self._whole = 0
        self._begun = monotonic()

    def begin(self, step: Step, total: int, whole: int, *, done: int = 0) -> None:
        """A step of ``total`` parts, together ``whole`` boxes of work; some may be done already."""
        self._work, self._whole, self._begun = 0, whole, monotonic()
        self._now = replace(self._now, step=step, done=done, total=total, seconds_left=None)
        self._say()

    def plan(self, plan: Plan) -> None:
        """What the call is going to take."""
        self._now = replace(self._now, plan=plan)
        self._say()

    def pairs(self, pairs: int) -> None:
        """So many more pairs are known."""
        self._now = replace(self._now, pairs=self._now.pairs + pairs)

    def did(self, parts: int, work: int) -> None:
        """So many parts of the step are done, which were so many boxes of work."""
        self._work += work
        took = monotonic() - self._begun
        left = took * (self._whole - self._work) / self._work if self._work and self._whole else None
        self._now = replace(self._now, done=self._now.done + parts, seconds_left=left)
        self._say()

    @property
    def found(self) -> int:
        """The pairs that are known."""
        return self._now.pairs

    def _say(self) -> None:
        if self._tell is not None:
            self._tell(self._now)
