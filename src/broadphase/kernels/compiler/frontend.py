"""Python into LLVM's language, by Numba's type inference and lowering.

Numba would also optimise each function, emit it for this machine and load it into this process.  That is
left out: `emit` optimises a kernel once with all that it calls, for the level that was asked for.  What else
kernels have no use for is left out in `passes`, `untyped`, `inference`, `calls`, `lowering`, `ranges`,
`indexes`, `aggregates`, `texts` and `reports`: all kernels took 362 seconds of processor time with what is
left out, and take about 40 without.
"""

from typing import Any, NamedTuple

from broadphase.kernels.compiler import (
    aggregates,
    calls,
    indexes,
    inference,
    lowering,
    passes,
    ranges,
    reports,
    texts,
    untyped,
)
from broadphase.kernels.compiler.types import parse, rows_of


class Lowered(NamedTuple):
    """A kernel for one list of types."""

    library: Any
    descriptor: Any
    """Numba's: the function's name in the library, its argument types and result type."""
    brief: bool
    """Whether it keeps the GIL (`broadphase.kernels.machine.jit.brief`)."""
    rows: dict[int, tuple[int, ...]]
    """The arguments that are tuples of one of these lengths (`broadphase.kernels.machine.jit.numbers`)."""


def prepare() -> None:
    """Change Numba for this process, which compiles kernels and nothing else; once, before the first one."""
    for room in (aggregates, calls, indexes, inference, lowering, passes, ranges, reports, texts, untyped):
        room.prepare()


def lower(dispatcher: Any, listed: str) -> Lowered:
    """Infer all types of a kernel and all that it calls, and lower them."""
    types = parse(listed)
    dispatcher.compile(types)
    found = dispatcher.overloads[types]
    brief = getattr(dispatcher.py_func, "brief", False)
    return Lowered(found.library, found.fndesc, brief, rows_of(listed))
