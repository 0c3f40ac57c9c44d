"""The results of an index."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from broadphase.indexes.storage import IdArray
from broadphase.runtime.memory import PairArray

Distances = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Stats:
    """The work of the last call of an index."""

    method: str
    """The index's name, as `broadphase.make_index` takes it."""
    call: str
    """Which call this is about; empty before the first."""
    boxes: int
    """How many boxes the index holds."""
    tests: int
    """How many comparisons with a box were made."""
    pairs: int
    """How many pairs, ids or rows were found."""
    cells: int
    """How many cells, nodes or strips are in use; 0 where the index has none."""
    swaps: int = 0
    """How many ends of boxes were passed on the way to their new places; 0 where the index does not sort."""


class RayHit(NamedTuple):
    """The first box that a ray hits."""

    id: int
    distance: float
    """In world units along the ray; 0 where it starts inside."""
    normal: tuple[float, ...]
    """Unit vector of the face that was entered; zeros where the ray starts inside."""


class RayHits(NamedTuple):
    """Many hits: those of one ray by distance, then id, or the first hit of every ray of a batch."""

    ids: IdArray
    """``(n,)``; -1 for a ray of a batch that hits nothing."""
    distances: Distances
    """``(n,)``; inf where nothing is hit."""
    normals: Distances
    """``(n, dim)``; zeros where the ray starts inside or hits nothing."""


class RayRows(NamedTuple):
    """All hits of a batch of rays, by query, then distance, then id."""

    rows: IdArray
    """``(n, 2)``: ``[query, id]``."""
    distances: Distances
    normals: Distances


class Nearest(NamedTuple):
    """The nearest boxes by distance, then id."""

    ids: IdArray
    """``(k,)``, fewer where the index holds fewer; in a batch ``(..., k)``, filled up with -1."""
    distances: Distances
    """From the point to the box, 0 inside; in a batch filled up with inf."""


class PairChanges:
    """How the pairs differ from the call of ``changes`` before: three ``(m, 2)`` arrays of pairs.

    Unpacks as ``began, stayed, ended``.

    Parameters
    ----------
    began, ended : numpy.ndarray
        Sorted rows ``i < j``.
    stayed : callable
        Makes the third array on first access: it is the longest, and many programs never read it.
    """

    __slots__ = ("_make_stayed", "_stayed", "began", "ended")

    def __init__(self, began: PairArray, ended: PairArray, stayed: Callable[[], PairArray]) -> None:
        self.began = began
        self.ended = ended
        self._make_stayed = stayed
        self._stayed: PairArray | None = None

    @property
    def stayed(self) -> PairArray:
        """Pairs that overlapped at the call before and still do."""
        if self._stayed is None:
            self._stayed = self._make_stayed()
        return self._stayed

    def __iter__(self) -> Iterator[PairArray]:
        return iter((self.began, self.stayed, self.ended))

    def __repr__(self) -> str:
        return f"PairChanges(began={len(self.began)}, stayed={len(self.stayed)}, ended={len(self.ended)})"
