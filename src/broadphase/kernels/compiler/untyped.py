"""What a function does before its types are known: Numba works it out once, and not again for other types.

From bytecode to statements in which each variable is assigned once takes a fourth of the time before LLVM.
All that it asks of the arguments is how many axes an array has and how long a tuple is: float32 and
float64 are the same.
"""

from collections.abc import Callable
from copy import copy
from typing import Any

from numba.core import types
from numba.core.compiler import CompilerBase, DefaultPassBuilder, PassManager
from numba.core.compiler_machinery import FunctionPass, register_pass

_NUMBERS = {types.Integer, types.Float, types.Boolean}

_statements: dict[tuple[Any, ...], Any] = {}
"""Numba's, of each function with arguments of these shapes."""


def _asked_for(state: Any) -> tuple[Any, ...]:
    return state.func_id.func, *map(_shape, state.args)


def _shape(kind: Any) -> Any:
    """What passes before type inference ask of an argument; of what is neither here, the type itself."""
    if type(kind) in _NUMBERS:
        return "number"
    if type(kind) is types.Array:
        return "array", kind.ndim
    if isinstance(kind, types.BaseTuple):
        return "tuple", kind.count
    return kind


@register_pass(mutates_CFG=False, analysis_only=True)
class _Remember(FunctionPass):
    _name = "remember_statements"

    def __init__(self) -> None:
        super().__init__()

    def run_pass(self, state: Any) -> bool:
        # A copy, since later passes put other blocks into it; they leave statements as they are.
        _statements[_asked_for(state)] = copy(state.func_ir)
        return False


def _from_statements(self: Any) -> Any:
    """Compile a function from its statements, where they are known."""
    known = _statements.get(_asked_for(self.state))
    if known is not None:
        self.state.func_ir = copy(known)
        self.state.nargs = known.arg_count
    return self._compile_core()


def _unless_known(define: Callable[..., Any]) -> Callable[..., Any]:
    def define_untyped_pipeline(state: Any, name: str = "untyped") -> Any:
        if state.func_ir is not None:
            return PassManager(name)
        manager = define(state, name)
        manager.add_pass(_Remember, "remember statements")
        return manager

    return define_untyped_pipeline


def prepare() -> None:
    """Let Numba remember statements; once."""
    CompilerBase._compile_bytecode = _from_statements
    DefaultPassBuilder.define_untyped_pipeline = staticmethod(
        _unless_known(DefaultPassBuilder.define_untyped_pipeline)
    )
