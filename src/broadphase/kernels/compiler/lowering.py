"""One function of typed Python into LLVM's language: Numba's lowering without what kernels have no use for.

Left out are references that are counted (what a kernel is given stays while it runs, and what it makes goes
when its call ends: `memory`), wrappers for Python and C (`wrapper` writes the one that is called), errors
that say what they are (a kernel knows one: no memory), and memory for variables that are written once.
Atomic counts alone made a sweep of strips take twice as long.
"""

from collections import Counter, defaultdict
from collections.abc import Callable
from functools import cache
from typing import Any

from llvmlite import ir
from numba.core import base, callconv, cgutils, cpu, datamodel, lowering, typed_passes, types
from numba.core import ir as python_ir
from numba.core.analysis import compute_cfg_from_blocks
from numba.core.runtime.context import NRTContext
from numba.experimental import function_type

from broadphase.kernels.compiler.api import I64, POINTER
from broadphase.kernels.compiler.memory import DATA
from broadphase.kernels.compiler.passes import list_variables
from broadphase.kernels.compiler.reports import nothing
from broadphase.kernels.compiler.texts import COMMON_SYMBOLS

_may_fail: set[str] = set()
"""Names of functions that may find no memory; who calls them looks at what they return."""


def may_fail(descriptor: Any) -> bool:
    """Whether a function may find no memory."""
    return descriptor.mangled_name in _may_fail


class KernelLowering(lowering.Lower):
    """Numba's, for functions that become parts of kernels."""

    def _find_singly_assigned_variable(self) -> None:
        """Find the variables that are values and no memory: written once, before all that reads them."""
        blocks = self.func_ir.blocks
        times: Counter[str] = Counter()
        home = {}
        read_in = defaultdict(set)
        for label, block in blocks.items():
            written = set()
            for statement in block.body:
                assigned = isinstance(statement, python_ir.Assign)
                for read in list_variables(statement.value if assigned else statement):
                    if read.name not in written:
                        read_in[read.name].add(label)
                if assigned:
                    times[statement.target.name] += 1
                    home[statement.target.name] = label
                    written.add(statement.target.name)
        dominators = compute_cfg_from_blocks(blocks).dominators()
        self._blk_local_varmap: dict[str, Any] = {}
        self._singly_assigned_vars = {
            name
            for name, count in times.items()
            # Blocks are written in the order of their labels: a value has to be there when it is read.
            if count == 1
            and all(label > home[name] and home[name] in dominators[label] for label in read_in[name])
        }

    def setup_function(self, fndesc: Any) -> None:
        """Begin a function that nobody else calls, unless it is common to several kernels."""
        super().setup_function(fndesc)
        if fndesc.mangled_name not in COMMON_SYMBOLS:
            self.function.linkage = "internal"

    def storevar(self, value: Any, name: str, argidx: int | None = None) -> None:
        """Keep a variable's value, in memory only where it changes."""
        if name in self._singly_assigned_vars:
            self._blk_local_varmap[name] = value
        else:
            self.builder.store(value, self.getvar(name))

    def delvar(self, name: str) -> None:
        """Nothing: nobody counts references."""

    def alloca_lltype(self, name: str, lltype: Any, datamodel: Any = None) -> Any:
        """Get memory for a variable, as it is; Numba would fill it with zeros."""
        with self.builder.goto_entry_block():
            return self.builder.alloca(lltype, name=name)

    def emit_environment_object(self) -> None:
        """Nothing: only objects of Python would need one."""

    def create_cpython_wrapper(self, release_gil: bool = False) -> None:
        """Nothing: `wrapper` writes one for each kernel."""

    def create_cfunc_wrapper(self) -> None:
        """Nothing: nobody calls parts of kernels from C."""


def _call(context: Any, builder: Any, descriptor: Any, arguments: Any) -> Any:
    """Call a function; on with the caller's own end, where that one found no memory."""
    convention = context.call_conv
    function = context.declare_function(builder.module, descriptor)
    with builder.goto_entry_block():
        place = builder.alloca(convention.get_return_type(descriptor.restype).pointee)
    packed = convention._get_arg_packer(descriptor.argtypes).as_arguments(builder, arguments)
    error = convention._get_excinfo_argument(builder.function)  # of the caller: nobody writes to it
    status = builder.call(function, [place, error, *packed])
    if may_fail(descriptor):
        with cgutils.if_unlikely(builder, builder.icmp_signed(">", status, status.type(0))):
            convention._return_errcode_raw(builder, status)
    return context.get_returned_value(builder, descriptor.restype, builder.load(place))


def _call_internal(self: Any, builder: Any, descriptor: Any, signature: Any, arguments: Any) -> Any:
    return _call(self, builder, descriptor, arguments)


def _user_function(descriptor: Any, libraries: Any) -> Any:
    def call(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return _call(context, builder, descriptor, arguments)

    call.signature = descriptor.argtypes
    call.libs = tuple(libraries)
    return call


def _return_code(self: Any, builder: Any, code: Any) -> None:
    if not (isinstance(code, ir.Constant) and code.constant <= 0):  # 0 and -2: a value, and None
        _may_fail.add(builder.function.name)
    builder.ret(code)


def _return_error(self: Any, builder: Any, *_: Any, **__: Any) -> None:
    self._return_errcode_raw(builder, callconv.RETCODE_USEREXC)


def _data_of(self: Any, builder: Any, block: Any) -> Any:
    """Where the data of a block of memory lie, as `memory` lays it out."""
    return builder.load(builder.gep(builder.bitcast(block, POINTER.as_pointer()), [ir.Constant(I64, DATA)]))


@cache
def _packer(models: Any, kinds: tuple[Any, ...]) -> Any:
    return datamodel.ArgPacker(models, kinds)


def _packer_of(self: Any, kinds: Any) -> Any:
    """How arguments of these types become LLVM's: Numba works it out anew for each call."""
    return _packer(self.data_model_manager, tuple(kinds))


def _declare_once(declare: Callable[..., Any]) -> Callable[..., Any]:
    def declare_function(self: Any, module: Any, descriptor: Any) -> Any:
        known = module.globals.get(descriptor.mangled_name)
        return declare(self, module, descriptor) if known is None else known

    return declare_function


def _literal_once(make: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """Remember the types that stand for one value; 1, 1.0 and True are equal, but of different types."""
    known: dict[Any, Any] = {}

    def literal_or_omitted(value: Any) -> Any:
        if type(value) not in (int, bool):
            return make(value)
        key = type(value), value
        if key not in known:
            known[key] = make(value)
        return known[key]

    return literal_or_omitted


def _no_executable(*_: Any) -> Any:
    return [].append  # Numba insists on a builtin of its own for each function; nobody calls it


def prepare() -> None:
    """Let Numba lower in this way; once."""
    NRTContext.incref = NRTContext.decref = nothing
    NRTContext.meminfo_data = _data_of
    typed_passes.NativeLowering.lowering_class = property(lambda self: KernelLowering)
    cpu.CPUContext.call_internal = _call_internal
    cpu.CPUContext.post_lowering = nothing  # it would link the counting of references
    cpu.CPUContext.get_executable = _no_executable
    base.user_function = _user_function
    base.BaseContext.get_arg_packer = _packer_of
    base.BaseContext.declare_function = _declare_once(base.BaseContext.declare_function)
    lowering._lit_or_omitted = _literal_once(lowering._lit_or_omitted)
    callconv.CPUCallConv._return_errcode_raw = _return_code
    callconv.CPUCallConv.return_user_exc = _return_error
    # A function that is called by name has no address while it is compiled.
    function_type.lower_constant(types.Dispatcher)(
        lambda context, builder, kind, value: context.get_dummy_value()
    )
