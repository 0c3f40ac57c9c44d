"""What an index compared in its last `pairs`, retold from its own state after the fact.

The engine counts its comparisons but does not write them down: ordinary calls pay nothing.  Here each
method's search is told once more in plain NumPy and Python, reading the real index's columns, cells, nodes
and borders, for as few bodies as can be drawn.  The tests hold every retelling against ``stats.tests`` and
the pairs that the engine found, and the session does the same for every frame: a retelling that does not
add up is not shown.
"""

from collections.abc import Callable
from typing import Any

from broadphase.choose import FEW_BOXES
from broadphase.indexes.base import Index
from broadphase.indexes.classes import BoxTree, BruteForce, CellIndex, SortAndSweep, Strips, SweepAndPrune
from broadphase.lab.tracing import brute_force, cells, sort_and_sweep, strips, sweep_and_prune, tree
from broadphase.lab.tracing.told import Ids, Told

MOST_TRACED = FEW_BOXES
"""Bodies of which every comparison is retold, and of which sweep and prune is shown swapping."""
MOST_SKETCHED = 5_000
"""Bodies of which as many comparisons are retold as can be told apart in a picture."""
MOST_LINES = 1_000
_MOST_RETOLD = 400_000  # comparisons; more take too long between two frames
MOST_STRUCTURE = 5_000
"""Bodies of which cells, nodes and orders are drawn."""


_TELLERS: dict[type[Any], Callable[..., Told | None]] = {
    BruteForce: brute_force.tests,
    SortAndSweep: sort_and_sweep.tests,
    SweepAndPrune: sweep_and_prune.tests,
    CellIndex: cells.tests,
    BoxTree: tree.tests,
    Strips: strips.tests,
}


def needs_before(index: Index) -> bool:
    """Whether `trace` has to be given the index as it was before the frame."""
    return isinstance(index, SweepAndPrune)


def trace(index: Index, before: Index | None = None, *, patient: bool = False) -> Told | None:
    """Retell the last ``pairs()`` of an index.

    Parameters
    ----------
    index : Index
        2-D, with ``touching``; nothing has changed in it since.
    before : Index, optional
        A copy from before the boxes were moved, for the method that keeps its pairs between frames.
    patient : bool
        Whether it moved its boxes a few at a time; see `broadphase.lab.lanes.move_patiently`.

    Returns
    -------
    Told or None
        ``None`` where there is no retelling of what happened.
    """
    for kind, teller in _TELLERS.items():
        if isinstance(index, kind):
            return teller(index, before, patient) if needs_before(index) else teller(index)
    return None


def sketch(index: Index) -> tuple[Ids, int] | None:
    """Some of the comparisons of many bodies, evenly picked, and how many each of them stands for.

    None where they are too many to be retold.
    """
    if isinstance(index, BruteForce):
        return brute_force.some(index, MOST_LINES // 2)  # long lines, and slow to draw
    stats = index.stats
    if len(index) > MOST_SKETCHED or stats.tests > _MOST_RETOLD or isinstance(index, SweepAndPrune):
        return None
    told = trace(index)
    if told is None or told.tests != stats.tests:
        return None
    each = max(1, -(-len(told.pairs) // MOST_LINES))
    return told.pairs[::each], each
