"""Trace of the adaptive index: that of the part that answered."""

import numpy as np

from broadphase.indexes.classes import AdaptiveIndex
from broadphase.lab.tracing.strips import trace_strips
from broadphase.lab.tracing.trace import Trace, trace_brute_force, traces


@traces("auto")
def trace_adaptive(index: AdaptiveIndex) -> Trace | None:
    """What was compared; None if the pairs of few boxes were found by queries."""
    structure = index._structure
    if not index.stats.tests and structure._kept is not None:
        return Trace(np.empty((0, 2), np.int32), known=structure._kept)
    if structure.way == "brute_force":
        return trace_brute_force(index)
    return trace_strips(index) if structure.way == "strips" else None
