"""Python into LLVM's language, by Numba's type inference and lowering.

Numba would also optimise each function, emit it for this machine and load it into this process.  That is
left out: `emit` optimises a kernel once with all that it calls, for the level that was asked for.
"""

from typing import Any, NamedTuple

import numba
from numba.core import codegen, cpu
from numba.core.compiler_lock import global_compiler_lock
from numba.core.registry import cpu_target


class Lowered(NamedTuple):
    """A kernel for one list of types."""

    library: Any
    descriptor: Any
    """Numba's: the function's name in the library, its argument types and result type."""
    brief: bool
    """Whether it keeps the GIL (`broadphase.kernels.machine.jit.brief`)."""


def _leave_out(*_: Any, **__: Any) -> None:
    """Stand in for what Numba does to run code in this process."""


def prepare() -> None:
    """Switch off what only a program that runs its kernels needs; once, before the first kernel."""
    context = cpu_target.target_context  # made now: Numba's own runtime is compiled the usual way
    context.refresh()
    numba.core.runtime.nrt.rtsys.initialize(context)
    codegen.JITCPUCodegen._add_module = _leave_out
    codegen.JITCodeLibrary._finalize_specific = _leave_out
    codegen.CPUCodeLibrary._optimize_final_module = _leave_out
    codegen.CPUCodeLibrary._optimize_functions = _only_lay_out
    cpu.CPUContext.get_executable = _no_executable


def _no_executable(*_: Any) -> Any:
    return [].append  # Numba insists on a builtin of its own for each function; nobody calls it


def _only_lay_out(self: Any, module: Any) -> None:
    module.data_layout = self._codegen._data_layout


def lower(dispatcher: Any, types: tuple[Any, ...]) -> Lowered:
    """Infer all types of a kernel and all that it calls; all of it in one unoptimised module."""
    dispatcher.compile(types)
    found = dispatcher.overloads[types]
    with global_compiler_lock:
        found.library._ensure_finalized()  # links all that it calls
    return Lowered(found.library, found.fndesc, getattr(dispatcher.py_func, "brief", False))
