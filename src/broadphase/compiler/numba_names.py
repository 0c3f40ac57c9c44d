"""The names inside Numba that are replaced while kernels are compiled: all of them, each with its reason.

All other differences from plain Numba are subclasses (`lowering`) or registrations with
`numba.extending`.  `numba_checks` checks each name before it is replaced or overridden.
"""

from numba.core import cpu, typed_passes
from numba.core.types import functions
from numba.np import arrayobj

from broadphase.compiler import lowering
from broadphase.compiler.numba_checks import replace


def prepare() -> None:
    """Replace the names in this process, which does nothing but compile kernels; call it once."""
    lowering.register()
    # Numba makes its only CPU context from this class: code is kept as text, references are not counted.
    replace(cpu, "CPUContext", "typingctx target", lambda _: lowering.KernelContext)
    # This class also lowers the functions of Numba that kernels call.
    replace(typed_passes.NativeLowering, "lowering_class", "", lambda _: property(lowering.lowering_class))
    # An index counts from the start of an array: counting copies in strips takes a fifth of the time.
    replace(arrayobj, "fix_integer_index", "context builder idxty idx size", lambda _: lowering.index)
    # A function's machine code must not depend on which of its callers was compiled first.
    replace(cpu.CPUTargetOptions, "finalize", "self flags options", lowering.inlined_only_if_asked)
    # One version of a function for all literal arguments, so that fewer functions are compiled.
    replace(functions.Dispatcher, "get_call_type", "self context args kws", lowering.call_without_literals)
    # This only makes builds faster, by a fifth: Numba would look up an operator's version at each place.
    replace(functions.BaseFunction, "get_call_type", "self context args kws", lowering.call_type_once)
