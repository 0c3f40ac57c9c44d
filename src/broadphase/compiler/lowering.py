"""Lowers typed Python to LLVM IR, with subclasses of Numba's context, code library and lowering.

A line of ``signatures.txt`` becomes Numba's types (`parse`), and Numba infers all others.

Kernels do not need much of the code that Numba emits.  These subclasses leave out

- reference counts: the arguments of a kernel live while it runs, and memory that it allocates is freed when
  the call ends (`memory`).  Atomic counts made a sweep of strips take twice as long;
- wrappers for Python and C: `builtins` emits the only one that is called;
- error messages: a kernel has a single error, out of memory.

Numba would also optimise each function, emit it for this machine and load it.  Here a function stays IR text
until a kernel is complete.  Then LLVM parses and optimises the kernel together with all functions that it
calls (`machine_code`), for the requested level of processor.
"""

import os
import re
from collections.abc import Callable, Iterable, Iterator
from functools import cache, cached_property
from hashlib import blake2b
from importlib import import_module
from itertools import count
from typing import Any, NamedTuple

import llvmlite.binding as llvm
import numpy as np
from llvmlite import ir
from numba.core import callconv, cgutils, codegen, cpu, types
from numba.core import lowering as numba_lowering
from numba.core.datamodel import models
from numba.core.imputils import lower_constant
from numba.core.runtime.context import NRTContext
from numba.extending import register_model
from numba.np.numpy_support import from_dtype

from broadphase.compiler.memory import data_of
from broadphase.compiler.numba_checks import overrides
from broadphase.kernels.machine.jit import COMMON
from broadphase.kernels.machine.mode import level
from broadphase.kernels.machine.python_api import KINDS
from broadphase.kernels.machine.signatures import PACKAGE
from broadphase.kernels.machine.target import Target, chosen

_CHECKED = "BROADPHASE_CHECKED" in os.environ
_METADATA = re.compile(r", ![a-z]+ !\d+")

COMMON_SYMBOLS: dict[str, str] = {}
"""Symbols of common functions, and the modules that define them."""
_may_fail: set[str] = set()
"""Names of functions that may run out of memory; their callers check the status that they return."""
_numbers = count()
_OPTIONS_ON_X86 = (
    # A function is inlined into its callers before either is optimised; LLVM would optimise it on its own and
    # again in each caller.  This saves a seventh of LLVM's time; 230 calls take 1.00 of theirs.
    "-enable-module-inliner",
    # The last loop passes of LLVM serve processors with fewer addressing modes, and the epilogue of a
    # vectorised loop is vectorised too.  Without both, another seventh is saved; 230 calls take 0.99 of
    # their time.
    "-disable-lsr",
    "-disable-lftr",
    "-enable-epilogue-vectorization=false",
)


@cache
def target_machine(target: Target, level: str) -> Any:
    """LLVM's description of a level of a platform, for code that may lie anywhere in memory."""
    llvm.initialize_all_targets()
    llvm.initialize_all_asmprinters()
    if level.startswith("x86"):
        _set_options()
    return llvm.Target.from_triple(target.triple).create_target_machine(
        cpu=target.cpu(level), features=target.features(level), opt=3, reloc="pic", codemodel="small"
    )


@cache  # LLVM aborts a process that sets an option twice
def _set_options() -> None:
    for option in _OPTIONS_ON_X86:
        llvm.set_option("broadphase", option)


class Lowered(NamedTuple):
    """A kernel for one list of types."""

    library: "TextLibrary"
    descriptor: Any
    """Numba's descriptor: the function's name in the library, its argument types and result type."""
    holds_gil: bool
    """Whether it keeps the GIL (`broadphase.kernels.machine.jit.holds_gil`)."""
    rows: dict[int, tuple[int, ...]]
    """The arguments that are tuples of one of these lengths (`broadphase.kernels.machine.jit.numbers`)."""


def lower(dispatcher: Any, listed: str) -> Lowered:
    """Infer all types of a kernel and of all that it calls, and lower them."""
    kinds = parse(listed)
    dispatcher.compile(kinds)
    found = dispatcher.overloads[kinds]
    holds_gil = getattr(dispatcher.py_func, "holds_gil", False)
    return Lowered(found.library, found.fndesc, holds_gil, rows_of(listed))


def may_fail(descriptor: Any) -> bool:
    """Whether a function may run out of memory."""
    return descriptor.mangled_name in _may_fail


# --- the lines of ``signatures.txt`` as Numba's types -----------------------------------------------------

_NUMBERS = {**{name: from_dtype(np.dtype(name)) for name in KINDS}, "o": types.voidptr}
_TOKEN = re.compile(r"[\w.]*\(|[\w.]+(?:\[\w+\])?(?:<[\d|]+>)?|[),]")


def parse(text: str) -> tuple[Any, ...]:
    """The Numba types of a list of arguments."""
    if text.count("(") != text.count(")"):
        raise ValueError(f"not a list of types: {text!r}")
    return _parse(iter(_TOKEN.findall(text)))


def rows_of(text: str) -> dict[int, tuple[int, ...]]:
    """The positions of arguments that are rows, with the lengths that each may have."""
    depth, number = 0, 0
    found: dict[int, tuple[int, ...]] = {}
    for token in _TOKEN.findall(text):
        depth += token.endswith("(") - (token == ")")
        number += token == "," and depth == 0
        if token.endswith(">"):
            found[number] = tuple(map(int, token.rstrip(">").partition("<")[2].split("|")))
    return found


def _parse(tokens: Iterator[str]) -> tuple[Any, ...]:
    """The types up to the end, or up to the parenthesis that closes a tuple."""
    found: list[Any] = []
    for token in tokens:
        if token == ")":
            break
        if token == "(":
            found.append(types.Tuple(_parse(tokens)))
        elif token.endswith("("):
            module, _, name = token[:-1].rpartition(".")
            found.append(types.NamedTuple(_parse(tokens), getattr(import_module(PACKAGE + module), name)))
        elif token != ",":
            found.append(_simple(token))
    return tuple(found)


def _simple(token: str) -> Any:
    what, is_row, _ = token.partition("<")
    name, is_array, dimensions = what.rstrip("]").partition("[")
    return types.Array(_NUMBERS[name], int(dimensions or 1), "C") if is_row or is_array else _NUMBERS[name]


def kind_of(number: Any) -> str:
    """``"f4"`` for Numba's float32."""
    return next(name for name, known in _NUMBERS.items() if known == number)


# --- functions as text ------------------------------------------------------------------------------------


@overrides("add_linking_library", "add_ir_module", "finalize")
class TextLibrary(codegen.CPUCodeLibrary):
    """The functions of one compiled Python function, and the libraries of those that it calls."""

    def __init__(self, generator: Any, name: str) -> None:
        codegen.CodeLibrary.__init__(self, generator, name)
        self._linking_libraries: list[Any] = []
        self.globals: dict[str, str] = {}
        """The definitions of this library, by name."""
        self.declared: dict[str, str] = {}

    def add_linking_library(self, library: Any) -> None:
        """Note a library that this one calls."""
        self._linking_libraries.append(library)

    def add_ir_module(self, ir_module: Any) -> None:
        """Add the functions of a module as text."""
        for name, one in ir_module.globals.items():
            is_declared = isinstance(one, ir.Function) and one.is_declaration
            (self.declared if is_declared else self.globals)[name] = _METADATA.sub("", str(one))

    def finalize(self) -> None:
        """Does nothing: `whole_text` combines libraries."""
        self._finalized = True

    def reached(self) -> tuple[list["TextLibrary"], dict[str, "TextLibrary"]]:
        """The libraries that are compiled together with this one, and by symbol those of common functions."""
        found = {self: None}
        common: dict[str, TextLibrary] = {}
        waiting = [self]
        while waiting:
            for one in waiting.pop()._linking_libraries:
                symbol = next((name for name in one.globals if name in COMMON_SYMBOLS), None)
                if symbol is not None:
                    common[symbol] = one
                elif one not in found:
                    found[one] = None
                    waiting.append(one)
        return list(found), common


def common_parts(library: TextLibrary) -> dict[str, TextLibrary]:
    """By symbol the libraries of all common functions that this one needs."""
    found: dict[str, TextLibrary] = {}
    waiting = [library]
    while waiting:
        for symbol, one in waiting.pop().reached()[1].items():
            if symbol not in found:
                found[symbol] = one
                waiting.append(one)
    return found


def whole_text(library: TextLibrary, *modules: Any) -> str:
    """The IR of a library, of all that it calls except common functions, and of some more modules."""
    head = str(library._codegen._create_empty_module("kernel"))
    more = TextLibrary(library._codegen, "more")
    for module in modules:
        more.add_ir_module(module)
    defined: dict[str, str] = {}
    declared: dict[str, str] = {}
    for one in [*library.reached()[0], more]:
        for name, text in one.globals.items():
            if defined.setdefault(name, text) != text:
                raise ValueError(f"two different things are called {name}")
        declared.update(one.declared)
    needed = [text for name, text in declared.items() if name not in defined]
    return "\n".join([head, *needed, *defined.values()])


@overrides("_add_module", "_create_empty_module")
class _TextCodegen(codegen.JITCPUCodegen):
    """Creates libraries of IR text; nothing is loaded into this process."""

    _library_class = TextLibrary

    def _create_empty_module(self, name: str) -> ir.Module:
        module = super()._create_empty_module(name)
        module.triple = chosen().triple
        module.data_layout = str(target_machine(chosen(), level()).target_data)
        return module

    def _add_module(self, module: Any) -> None:
        pass


# --- what Numba calls -------------------------------------------------------------------------------------


@overrides("incref", "decref", "meminfo_data")
class _NoReferenceCounts(NRTContext):
    """Allocates memory of kernels, in the layout of `memory`."""

    def incref(self, builder: Any, typ: Any, value: Any) -> None:
        pass

    def decref(self, builder: Any, typ: Any, value: Any) -> None:
        pass

    def meminfo_data(self, builder: Any, meminfo: Any) -> Any:
        return data_of(builder, meminfo)


@overrides("_return_errcode_raw", "return_user_exc")
class _CallConvention(callconv.CPUCallConv):
    """Numba's calling convention with a single error."""

    def _return_errcode_raw(self, builder: Any, code: Any) -> None:
        if isinstance(code, int):
            code = ir.Constant(ir.IntType(32), code)
        if not (isinstance(code, ir.Constant) and code.constant <= 0):  # 0 and -2: a value, and None
            _may_fail.add(builder.function.name)
        builder.ret(code)

    def return_user_exc(
        self, builder: Any, exc: Any, exc_args: Any = None, loc: Any = None, func_name: Any = None
    ) -> None:
        self._return_errcode_raw(builder, callconv.RETCODE_USEREXC)


@overrides(
    "init", "call_conv", "mangler", "insert_user_function", "call_internal", "post_lowering", "get_executable"
)
class KernelContext(cpu.CPUContext):
    """Numba's context for functions that become parts of kernels."""

    def init(self) -> None:
        """Keep code as text."""
        super().init()
        self._internal_codegen = _TextCodegen("broadphase")

    @property
    def call_conv(self) -> Any:
        """How functions return values and errors."""
        return _CallConvention(self)

    @cached_property
    def nrt(self) -> Any:
        """Memory that kernels ask for."""
        return _NoReferenceCounts(self, self.enable_nrt)

    def mangler(self, name: str, types: Any, *, abi_tags: Iterable[str] = (), uid: Any = None) -> str:
        """A short symbol; Numba's would spell out all types, in 300 characters at each call."""
        if name in COMMON:
            digest = blake2b(f"{name} {types}".encode(), digest_size=12).hexdigest()
            symbol = f"common_{digest}"
            COMMON_SYMBOLS[symbol] = name.rpartition(".")[0]
            return symbol
        return f"f{next(_numbers)}_{re.sub('[^A-Za-z0-9_]', '', name.rpartition('.')[2])}"

    def insert_user_function(self, func: Any, fndesc: Any, libs: Iterable[Any] = ()) -> None:
        """Note how a compiled function is called."""

        def call(context: Any, builder: Any, sig: Any, args: Any) -> Any:
            return _call(context, builder, fndesc, args)

        call.signature = fndesc.argtypes
        call.libs = tuple(libs)
        self._defns[func].append(call, call.signature)

    def call_internal(self, builder: Any, fndesc: Any, sig: Any, args: Any) -> Any:
        """Call a compiled function."""
        return _call(self, builder, fndesc, args)

    def post_lowering(self, mod: Any, library: Any) -> None:
        """Does nothing: Numba would link its reference counts."""

    def get_executable(self, library: Any, fndesc: Any, env: Any) -> Any:
        """A placeholder: compiled functions do not run in this process."""
        return [].append  # Numba requires a different builtin for each function


def _call(context: Any, builder: Any, descriptor: Any, arguments: Any) -> Any:
    """Call a function; if it ran out of memory, return from the caller as well."""
    convention = context.call_conv
    function = context.declare_function(builder.module, descriptor)
    with builder.goto_entry_block():
        place = builder.alloca(convention.get_return_type(descriptor.restype).pointee)
    packed = context.get_arg_packer(descriptor.argtypes).as_arguments(builder, arguments)
    error = convention._get_excinfo_argument(builder.function)  # the caller's own: it is never written to
    status = builder.call(function, [place, error, *packed])
    if may_fail(descriptor):
        with cgutils.if_unlikely(builder, builder.icmp_signed(">", status, status.type(0))):
            convention._return_errcode_raw(builder, status)
    return context.get_returned_value(builder, descriptor.restype, builder.load(place))


class Builder(ir.IRBuilder):
    """llvmlite's builder, which for WebAssembly multiplies lengths without a check."""

    def smul_with_overflow(self, lhs: Any, rhs: Any, name: str = "") -> Any:
        """A product, and whether it is too large."""
        if "wasm" not in str(self.module.triple):
            return super().smul_with_overflow(lhs, rhs, name)
        # There LLVM checks a product of 64 bits by one of 128, a function of a library that is not linked.
        # No array that a kernel makes is so large.
        no = ir.Constant(ir.IntType(1), 0)
        whole = ir.Constant(ir.LiteralStructType([lhs.type, no.type]), ir.Undefined)
        return self.insert_value(self.insert_value(whole, self.mul(lhs, rhs), 0), no, 1)


@overrides(
    "setup_function",
    "delvar",
    "alloca_lltype",
    "emit_environment_object",
    "create_cpython_wrapper",
    "create_cfunc_wrapper",
)
class KernelLowering(numba_lowering.Lower):
    """Numba's lowering for functions that become parts of kernels."""

    def setup_function(self, fndesc: Any) -> None:
        """Begin a function with internal linkage, unless several kernels share it."""
        super().setup_function(fndesc)
        if fndesc.mangled_name not in COMMON_SYMBOLS:
            self.function.linkage = "internal"
        self.builder = Builder(self.entry_block)
        self.call_helper = self.call_conv.init_call_helper(self.builder)

    def delvar(self, name: str) -> None:
        """Does nothing: references are not counted."""

    def alloca_lltype(self, name: str, lltype: Any, datamodel: Any = None) -> Any:
        """Reserve memory for a variable; Numba would fill it with zeros."""
        with self.builder.goto_entry_block():
            return self.builder.alloca(lltype, name=name)

    def emit_environment_object(self) -> None:
        """Does nothing: only Python objects would need one."""

    def create_cpython_wrapper(self, release_gil: bool = False) -> None:
        """Does nothing: `builtins` emits one for each kernel."""

    def create_cfunc_wrapper(self) -> None:
        """Does nothing: C does not call parts of kernels."""


def lowering_class(_: Any) -> Any:
    """The class that lowers functions."""
    return KernelLowering


def index(context: Any, builder: Any, idxty: Any, idx: Any, size: Any) -> Any:
    """The position of an element of an array: an index counts from the start, unless it is a literal.

    In Numba -1 means the last element, which takes three instructions at each index, and LLVM rarely removes
    them: counting the copies of a box in strips took 14 ns with them, 2.7 without.  Kernels compiled with
    ``BROADPHASE_CHECKED=1`` abort the process at the first negative index; `.ci/run` runs the tests on them.
    """
    place = context.cast(builder, idx, idxty, types.intp)
    if isinstance(place, ir.Constant):
        return builder.add(place, size) if place.constant < 0 else place
    if _CHECKED and idxty.signed:
        with builder.if_then(builder.icmp_signed("<", place, place.type(0)), likely=False):
            kind = ir.FunctionType(ir.VoidType(), [])
            builder.call(cgutils.get_or_insert_function(builder.module, kind, "llvm.trap"), [])
    return place


def inlined_only_if_asked(otherwise: Callable[..., Any]) -> Callable[..., Any]:
    """Force inlining of the functions that ask for it, not of those that they call.

    In Numba a function inherits this option from the caller that happens to be compiled first in the process.
    """

    def finalize(self: Any, flags: Any, options: Any) -> None:
        if not flags.is_set("forceinline"):
            flags.forceinline = False
        otherwise(self, flags, options)

    return finalize


def call_without_literals(otherwise: Callable[..., Any]) -> Callable[..., Any]:
    """Resolve calls of kernels' functions by the types of the arguments, whatever their literal values."""

    def get_call_type(self: Any, context: Any, args: Any, kws: dict[str, Any]) -> Any:
        kinds = tuple(map(types.unliteral, args))
        return otherwise(self, context, kinds, {name: types.unliteral(kind) for name, kind in kws.items()})

    return get_call_type


def call_type_once(otherwise: Callable[..., Any]) -> Callable[..., Any]:
    """Resolve calls of operators and of NumPy's functions once for each list of types.

    Numba compiles ``empty(shape, kind)`` and ``empty(shape, dtype=kind)`` apart, and all calls that are
    lowered later use the last one.  Here they use the first: machine code must not depend on other kernels.
    """

    def get_call_type(self: Any, context: Any, args: Any, kws: dict[str, Any]) -> Any:
        found = self.__dict__.setdefault("broadphase_call_types", {})
        key = tuple(args), tuple(kws.items())
        if key not in found:
            before = dict(self._impl_keys)
            found[key] = otherwise(self, context, args, kws)
            self._impl_keys.update(before)
        return found[key]

    return get_call_type


# --- arrays and booleans ------------------------------------------------------------------------------------

_PASSED = ("meminfo", "parent", "data", "shape")


@overrides("get_argument_type", "as_argument", "from_argument")
class _ContiguousModel(models.ArrayModel):
    """Numba's model of arrays, for C-contiguous ones: fields that their lengths determine are not passed."""

    def _passed(self) -> dict[str, Any]:
        return {name: self._models[self.get_field_position(name)] for name in _PASSED}

    def get_argument_type(self) -> Any:
        return tuple(model.get_argument_type() for model in self._passed().values())

    def as_argument(self, builder: Any, value: Any) -> Any:
        return tuple(
            model.as_argument(builder, self.get(builder, value, name))
            for name, model in self._passed().items()
        )

    def from_argument(self, builder: Any, value: Any) -> Any:
        passed = zip(self._passed().items(), value, strict=True)
        fields = {name: model.from_argument(builder, one) for (name, model), one in passed}
        return array_of(self, builder, **fields)


def array_of(model: Any, builder: Any, **fields: Any) -> Any:
    """The struct of a C-contiguous array; ``fields`` are all that its lengths do not determine."""
    kind = model._fe_type
    word = ir.IntType(64)
    lengths = cgutils.unpack_tuple(builder, fields["shape"], kind.ndim)
    width = ir.Constant(word, int(kind_of(kind.dtype)[1:]))
    strides, count = [width], lengths[0]
    for length in reversed(lengths[1:]):
        strides.insert(0, builder.mul(strides[0], length))
        count = builder.mul(count, length)
    fields |= {"nitems": count, "itemsize": width, "strides": cgutils.pack_array(builder, strides, word)}
    array: Any = ir.Constant(model.get_value_type(), ir.Undefined)
    for name, value in fields.items():
        array = builder.insert_value(array, value, model.get_field_position(name))
    return array


def _array_model(manager: Any, kind: Any) -> Any:
    is_contiguous = kind.layout == "C" and kind.ndim > 0
    return (_ContiguousModel if is_contiguous else models.ArrayModel)(manager, kind)


@overrides("from_data")
class _BooleanModel(models.BooleanModel):
    """Numba's model of booleans; its own reads one from memory with a branch, 7 % of a search of a tree."""

    def from_data(self, builder: Any, value: Any) -> Any:
        return builder.icmp_unsigned("!=", value, value.type(0))


def register() -> None:
    """Register both models, and that functions named in kernels have no address at compile time."""
    register_model(types.Array)(_array_model)
    register_model(types.Boolean)(_BooleanModel)
    register_model(types.BooleanLiteral)(_BooleanModel)
    lower_constant(types.Dispatcher)(lambda context, builder, ty, pyval: context.get_dummy_value())
