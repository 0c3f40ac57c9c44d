"""Python into LLVM's language, by Numba's type inference and lowering.

Numba would also optimise each function, emit it for this machine and load it into this process.  That is
left out: `emit` optimises a kernel once with all that it calls, for the level that was asked for.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import numba
from numba.core import codegen, cpu, errors
from numba.core.compiler_lock import global_compiler_lock
from numba.core.registry import cpu_target
from numba.core.types import functions


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
    resolve = functions.BaseFunction.get_call_type
    functions.BaseFunction.get_call_type = _remember(resolve)  # type: ignore[method-assign]


def _remember(resolve: Callable[..., Any]) -> Callable[..., Any]:
    """Infer what an operator or a function of Numba's gives for some types once, not at each place.

    ``+=`` of two integers fails as ``iadd``, with a long text nobody reads, and is then found as ``add``.
    Kernels of rows and shapes take 35 s with this and 44 without; the machine code is the same.
    """
    known: dict[Any, Any] = {}

    def get_call_type(self: Any, context: Any, args: Any, kws: dict[str, Any]) -> Any:
        asked = self, args, tuple(kws.items())
        if asked not in known:
            try:
                known[asked] = resolve(self, context, args, kws)
            except errors.ForceLiteralArg:
                raise  # its caller asks again, with other types
            except errors.TypingError as error:
                known[asked] = error
        answer = known[asked]
        if isinstance(answer, errors.TypingError):
            raise answer.with_traceback(None)
        return answer

    return get_call_type


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
