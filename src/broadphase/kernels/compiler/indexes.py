"""Where an element of an array lies: an index counts from the beginning.

Numba lets -1 mean the last element, with three instructions at each index that LLVM rarely finds out to be
needless: an eighth of all that the kernels are made of, and counting the copies of a box in strips took 14
ns with them, 2.7 without.  Kernels do not count from the end, but where the number itself stands in the
file.  That they do not is what kernels that were compiled with ``BROADPHASE_CHECKED=1`` are for: these end
the process at the first index below zero (`.ci/run` runs the conformance suites on them).
"""

import os
from typing import Any

from llvmlite import ir
from numba.core import cgutils, types
from numba.np import arrayobj

from broadphase.kernels.compiler.aggregates import integer

_CHECKED = "BROADPHASE_CHECKED" in os.environ


def _index(context: Any, builder: Any, kind: Any, index: Any, length: Any) -> Any:
    place = context.cast(builder, index, kind, types.intp)
    known = integer(place)
    if known is not None:
        return builder.add(place, length) if known < 0 else place
    if _CHECKED and kind.signed:
        with builder.if_then(builder.icmp_signed("<", place, place.type(0)), likely=False):
            end = cgutils.get_or_insert_function(
                builder.module, ir.FunctionType(ir.VoidType(), []), "llvm.trap"
            )
            builder.call(end, [])
    return place


def prepare() -> None:
    """Let Numba find elements in this way; once."""
    arrayobj.fix_integer_index = _index
