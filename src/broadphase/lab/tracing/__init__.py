"""Which boxes an index compared in its last `pairs`: a trace, reconstructed from its state afterwards.

The engine counts its comparisons but does not record them, so ordinary calls cost nothing extra.  Here each
method's search is repeated in plain NumPy and Python on the arrays of the real index, for as few bodies as
can be drawn.  The tests compare every trace with ``stats.tests`` and with the pairs that the engine found.
The session does the same for every frame and does not show a trace that disagrees.
"""

from importlib import import_module
from pkgutil import iter_modules

from broadphase.indexes.base import Index
from broadphase.indexes.classes import BruteForce, SweepAndPrune
from broadphase.lab.tracing.trace import TRACERS, Ids, Trace, some_pairs
from broadphase.methods.choose import FEW_BOXES

MOST_TRACED = FEW_BOXES
"""Up to this many bodies, every comparison is traced, and sweep and prune is shown swapping."""
MOST_SKETCHED = 5_000
"""Up to this many bodies, a sample of the comparisons is traced, as many as a picture can show."""
MOST_LINES = 1_000
_MOST_COMPARISONS = 400_000  # more take too long between two frames
MOST_STRUCTURE = 5_000
"""Up to this many bodies, cells, nodes and orders are drawn."""

# Whatever is in this folder registers its tracers.
for _found in iter_modules(__path__, f"{__name__}."):
    import_module(_found.name)


def needs_before(index: Index) -> bool:
    """Whether `trace` needs a copy of the index from before the frame."""
    return index.name in TRACERS and TRACERS[index.name].needs_before


def trace(index: Index, before: Index | None = None, *, patient: bool = False) -> Trace | None:
    """The comparisons of the last ``pairs()`` of an index.

    Parameters
    ----------
    index : Index
        2-D, with ``touching``, and unchanged since.
    before : Index, optional
        A copy from before the boxes moved, for sweep and prune, which keeps its pairs between frames.
    patient : bool
        Whether the boxes were moved a few at a time; see `broadphase.lab.lanes.move_patiently`.

    Returns
    -------
    Trace or None
        ``None`` if what happened cannot be reconstructed, as with a period, or the index has no tracer.
    """
    if index.period is not None:
        return None
    tracer = TRACERS.get(index.name)
    if tracer is None:
        return None
    return tracer.trace(index, before, patient) if tracer.needs_before else tracer.trace(index)


def sketch(index: Index) -> tuple[Ids, int] | None:
    """An even sample of the comparisons of many bodies, and how many each of them stands for.

    None if there are too many to trace.
    """
    if isinstance(index, BruteForce):
        return some_pairs(index, MOST_LINES // 2)  # long lines, and slow to draw
    stats = index.stats
    if len(index) > MOST_SKETCHED or stats.tests > _MOST_COMPARISONS or isinstance(index, SweepAndPrune):
        return None
    traced = trace(index)
    if traced is None or traced.tests != stats.tests:
        return None
    each = max(1, -(-len(traced.pairs) // MOST_LINES))
    return traced.pairs[::each], each
