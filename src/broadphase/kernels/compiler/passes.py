"""The order of Numba's passes over a function, without those that find nothing in kernels.

Numba works out nine times for each function which variables live where, for references that it counts, and
looks at every object of a statement to find its variables.  For kernels of cells that was a fourth of the
time before LLVM.
"""

from collections.abc import Callable
from functools import cache
from typing import Any

from numba.core import base, compiler_machinery, interpreter, ir, postproc, transforms
from numba.core.types import abstract

_NO_VARIABLES = {ir.Loc, str, int, bool, float, type(None)}

# They look for closures, `with`, loops over tuples of several types, functions that are to be inlined as
# Python, array expressions, parallel loops and generators: a tenth of the time before LLVM.
_NOT_IN_KERNELS = {
    "DumpParforDiagnostics",
    "FindLiterallyCalls",
    "InlineClosureLikes",
    "InlineInlinables",
    "InlineOverloads",
    "LiteralPropagationSubPipelinePass",
    "LiteralUnroll",
    "MakeFunctionToJitFunction",
    "NoPythonSupportedFeatureValidation",
    "NopythonRewrites",
    "RewriteDynamicRaises",
    "WithLifting",
    "peep_hole_delete_with_exit",
    "peep_hole_fuse_dict_add_updates",
}


def _add_if_needed(add: Callable[..., None]) -> Callable[..., None]:
    def add_pass(self: Any, one: Any, description: str = "") -> None:
        if one.__name__ not in _NOT_IN_KERNELS:
            add(self, one, description)

    return add_pass


def _smooth(self: Any, peepholes: Any, func_ir: Any) -> Any:
    """Put together what a version of Python spells out."""
    for peephole in peepholes:
        if peephole.__name__ not in _NOT_IN_KERNELS:
            func_ir = peephole(func_ir)
    return func_ir


def _run_pass(self: Any, index: int, one: Any, state: Any) -> None:
    """Run one pass, and nothing behind it: those that change loops bring them into their form themselves."""
    one.analysis = self._analysis
    one.run_initialization(state)
    one.run_pass(state)
    one.run_finalizer(state)
    if state.func_ir is not None:
        state.func_ir.variable_lifetime = postproc.VariableLifetime(state.func_ir.blocks)


def _post_process(self: Any, emit_dels: bool = False, extend_lifetimes: bool = False) -> None:
    """Bring loops into their usual form; who asks for the variables that live somewhere computes them."""
    self.func_ir.blocks = transforms.canonicalize_cfg(self.func_ir.blocks)
    self.func_ir.variable_lifetime = postproc.VariableLifetime(self.func_ir.blocks)
    self.func_ir.generator_info = None


def list_variables(value: Any) -> list[Any]:
    """All variables in a part of a statement."""
    found: list[Any] = []
    _collect_variables(value, found)
    return found


def _collect_variables(value: Any, found: list[Any]) -> None:
    kind = type(value)
    if kind in _NO_VARIABLES:
        return
    if kind is ir.Var:
        found.append(value)
    elif isinstance(value, ir.Inst):
        found.extend(value.list_vars())
    elif isinstance(value, (list, tuple)):
        for one in value:
            _collect_variables(one, found)
    elif isinstance(value, dict):
        for one in value.values():
            _collect_variables(one, found)


def _hash_once(self: Any) -> int:
    """A type's hash: that of its key, which for a tuple of arrays is long."""
    known = self.__dict__
    if "_hash" not in known:
        known["_hash"] = hash(self.key)
    return int(known["_hash"])


def prepare() -> None:
    """Let Numba run its passes in this way; once."""
    manager = compiler_machinery.PassManager
    manager._runPass = _run_pass
    manager.add_pass = _add_if_needed(manager.add_pass)
    interpreter.Interpreter.post_process = _smooth
    postproc.PostProcessor.run = _post_process
    ir.Inst._rec_list_vars = lambda self, value: list_variables(value)
    abstract.Type.__hash__ = _hash_once  # type: ignore[method-assign]
    base._has_loc = cache(base._has_loc)  # Numba asks at each call whether its lowering wants to know where
