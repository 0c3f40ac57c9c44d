"""What all builtins have in common, once for all kernels: arguments into words, and words into results.

Written out in each builtin, as it was, this took a fourth of LLVM's time and half of the library.  A builtin
calls one of these functions for each argument, and for each result; following a description in one loop
would be shorter still, but costs a call 50 ns.

=========  ===========================================  ==============================================
           as an argument                               as a result
=========  ===========================================  ==============================================
a number   its 64 bits                                  the same
an array   the object, the address, and a length for    the address, the block, the object, lengths,
           each axis                                    strides
=========  ===========================================  ==============================================
"""

from collections.abc import Callable, Sequence
from typing import Any

from llvmlite import ir
from numba.core import cgutils, types

from broadphase.kernels.compiler.api import DOUBLE, I1, I8, I32, I64, OBJECTS, POINTER, Api
from broadphase.kernels.compiler.types import kind_of
from broadphase.kernels.machine.python_api import KIND_NUMBERS, KINDS

LONGEST_ROW = 7
DONE, MISSED_TYPE, RAISED = range(3)
"""What became of an argument: it is read; it is of another type; Python has an error set."""

# Fields of NumPy's array and dtype behind the head that all objects have: NumPy's ABI, the same since 1.0.
_DATA, _NDIM, _DIMENSIONS, _DTYPE, _FLAGS = 0, 8, 16, 40, 48
_BYTE_ORDER, _TYPE_NUMBER = 10, 12
_C_CONTIGUOUS, _ALIGNED, _WRITEABLE = 0x1, 0x100, 0x400
_IS_TUPLE = 1 << 26  # tp_flags
# NumPy's numbers of types; those of 64-bit integers differ between platforms.
_TYPE_NUMBERS = {"b1": 0, "i1": 1, "u1": 2, "i2": 3, "u2": 4, "i4": 5, "u4": 6, "f4": 11, "f8": 12}

_WORDS, _NOTHING = I64.as_pointer(), ir.Constant(POINTER, None)
_READ = ir.FunctionType(I32, [POINTER, I8, _WORDS])
_ITEMS = ir.FunctionType(OBJECTS, [POINTER, I64])
_MAKE = ir.FunctionType(POINTER, [I8, _WORDS])
_PACK = ir.FunctionType(POINTER, [I64, OBJECTS])
_AXIS = 16  # an array's code: so much for each axis, and its kind


def name_of(kind: Any) -> str:
    """What the functions for a type are called by."""
    if isinstance(kind, types.Array):
        return "array"
    if isinstance(kind, types.Boolean):
        return "boolean"
    if isinstance(kind, types.Integer):
        return "signed" if kind.signed else "unsigned"
    if isinstance(kind, types.Float):
        return "float"
    if kind == types.none:
        return "none"
    raise NotImplementedError(f"an argument or a result of type {kind}")


def _code_of(kind: Any) -> Any:
    is_array = isinstance(kind, types.Array)
    return ir.Constant(I8, _AXIS * kind.ndim + KINDS.index(kind_of(kind.dtype)) + 1 if is_array else 0)


def _call(builder: Any, kind: Any, name: str, *arguments: Any) -> Any:
    function = cgutils.get_or_insert_function(builder.module, kind, f"broadphase_{name}")
    return builder.call(function, arguments)


def read(builder: Any, kind: Any, thing: Any, words: Any) -> Any:
    """Read an argument into its words; returns what became of it."""
    return _call(builder, _READ, f"read_{name_of(kind)}", thing, _code_of(kind), words)


def items(builder: Any, thing: Any, size: int) -> Any:
    """Where the items of a tuple of this size lie, or nowhere."""
    return _call(builder, _ITEMS, "items", thing, ir.Constant(I64, size))


def read_row(builder: Any, thing: Any, sizes: Sequence[int], words: Any) -> Any:
    """Read a tuple of one of these lengths: how many, then the numbers."""
    allowed = ir.Constant(I8, sum(1 << size for size in sizes))
    return _call(builder, _READ, "read_row", thing, allowed, words)


def make(builder: Any, kind: Any, words: Any) -> Any:
    """Make an object of its words; returns a new reference, or nothing with an error set."""
    return _call(builder, _MAKE, f"make_{name_of(kind)}", _code_of(kind), words)


def pack(builder: Any, size: int, objects: Any) -> Any:
    """Make a tuple of objects, whose references it takes over; nothing, where one of them is nothing."""
    return _call(builder, _PACK, "pack", ir.Constant(I64, size), objects)


def _is_of(builder: Any, thing: Any, *names: str) -> Any:
    """Whether an object's type is one of these, and no subclass."""
    api = Api(builder)
    of = api.type_of(thing)
    found = ir.Constant(I1, 0)
    for name in names:
        found = builder.or_(found, builder.icmp_unsigned("==", of, api.number(name)))
    return found


def _demand(builder: Any, condition: Any, otherwise: Any) -> None:
    """Go on where it holds."""
    with builder.if_then(builder.not_(condition), likely=False):
        builder.ret(otherwise)


_DONE, _MISSED = ir.Constant(I32, DONE), ir.Constant(I32, MISSED_TYPE)


def _read_number(function: str, kind: Any, suspect: Any, *names: str) -> Callable[..., None]:
    def read(builder: Any, thing: Any, code: Any, words: Any) -> None:
        api = Api(builder)
        _demand(builder, _is_of(builder, thing, *names), _MISSED)
        value = api.call(function, kind, thing)
        known = ir.Constant(kind, suspect)
        same = builder.fcmp_ordered if kind is DOUBLE else builder.icmp_signed
        # This number is also what one gives that does not fit.
        with builder.if_then(same("==", value, known), likely=False):
            error = api.call("PyErr_Occurred", POINTER)
            _demand(builder, builder.icmp_unsigned("==", error, _NOTHING), ir.Constant(I32, RAISED))
        builder.store(builder.bitcast(value, I64), words)
        builder.ret(_DONE)

    return read


def _read_boolean(builder: Any, thing: Any, code: Any, words: Any) -> None:
    api = Api(builder)
    yes = builder.icmp_unsigned("==", thing, api.object("true"))
    no = builder.icmp_unsigned("==", thing, api.object("false"))
    _demand(builder, builder.or_(yes, no), _MISSED)
    builder.store(builder.zext(yes, I64), words)
    builder.ret(_DONE)


def _read_none(builder: Any, thing: Any, code: Any, words: Any) -> None:
    is_none = builder.icmp_unsigned("==", thing, Api(builder).object("none"))
    builder.ret(builder.select(is_none, _DONE, _MISSED))


def _axes(builder: Any, code: Any) -> Any:
    return builder.zext(builder.udiv(code, ir.Constant(I8, _AXIS)), I64)


def _word(builder: Any, words: Any, number: int) -> Any:
    return builder.gep(words, [ir.Constant(I64, number)])


def _read_array(builder: Any, thing: Any, code: Any, words: Any) -> None:
    """An array of this kind and of as many axes, C-contiguous."""
    api = Api(builder)
    axes = _axes(builder, code)
    kind = builder.urem(code, ir.Constant(I8, _AXIS))
    _demand(builder, _is_of(builder, thing, "type_array"), _MISSED)
    ndim = builder.sext(api.field(thing, _NDIM, I32), I64)
    _demand(builder, builder.icmp_signed("==", ndim, axes), _MISSED)
    wanted = ir.Constant(I32, _ALIGNED | _C_CONTIGUOUS)
    flags = builder.and_(api.field(thing, _FLAGS, I32), wanted)
    _demand(builder, builder.icmp_unsigned("==", flags, wanted), _MISSED)
    dtype = api.field(thing, _DTYPE, POINTER)
    number = api.field(dtype, _TYPE_NUMBER, I32)
    _demand(builder, builder.icmp_unsigned("<", number, ir.Constant(I32, KIND_NUMBERS)), _MISSED)
    _demand(builder, builder.icmp_unsigned("==", api.kind_of_type_number(number), kind), _MISSED)
    order = api.field(dtype, _BYTE_ORDER, I8)
    native = [builder.icmp_unsigned("==", order, ir.Constant(I8, ord(mark))) for mark in "=|"]
    _demand(builder, builder.or_(*native), _MISSED)
    builder.store(builder.ptrtoint(thing, I64), words)
    builder.store(api.field(thing, _DATA, I64), _word(builder, words, 1))
    lengths = _word(builder, words, 2)
    dimensions = api.field(thing, _DIMENSIONS, _WORDS)
    with cgutils.for_range(builder, axes, intp=I64) as loop:
        length = builder.load(builder.gep(dimensions, [loop.index]))
        builder.store(length, builder.gep(lengths, [loop.index]))
    builder.ret(_DONE)


def _items(builder: Any, thing: Any, size: Any) -> None:
    api, nowhere = Api(builder), ir.Constant(OBJECTS, None)
    there = api.call("PyTuple_Size", I64, _demanded_tuple(builder, thing, nowhere))
    _demand(builder, builder.icmp_signed("==", there, size), nowhere)
    builder.ret(builder.bitcast(builder.gep(thing, [api.number("tuple_items")]), OBJECTS))


def _read_row(builder: Any, thing: Any, allowed: Any, words: Any) -> None:
    api = Api(builder)
    size = api.call("PyTuple_Size", I64, _demanded_tuple(builder, thing, _MISSED))
    _demand(builder, builder.icmp_unsigned("<=", size, ir.Constant(I64, LONGEST_ROW)), _MISSED)
    bit = builder.and_(builder.lshr(builder.zext(allowed, I64), size), ir.Constant(I64, 1))
    _demand(builder, builder.icmp_unsigned("!=", bit, ir.Constant(I64, 0)), _MISSED)
    first = builder.bitcast(builder.gep(thing, [api.number("tuple_items")]), OBJECTS)
    builder.store(size, words)
    numbers = _word(builder, words, 1)
    with cgutils.for_range(builder, size, intp=I64) as loop:
        item = builder.load(builder.gep(first, [loop.index]))
        place = builder.gep(numbers, [loop.index])
        status = _call(builder, _READ, "read_float", item, ir.Constant(I8, 0), place)
        _demand(builder, builder.icmp_unsigned("==", status, _DONE), status)
    builder.ret(_DONE)


def _demanded_tuple(builder: Any, thing: Any, otherwise: Any) -> Any:
    api = Api(builder)
    flags = api.call("PyType_GetFlags", I64, builder.inttoptr(api.type_of(thing), POINTER))
    is_tuple = builder.and_(flags, ir.Constant(I64, _IS_TUPLE))
    _demand(builder, builder.icmp_unsigned("!=", is_tuple, ir.Constant(I64, 0)), otherwise)
    return thing


def _make_number(function: str, kind: Any) -> Callable[..., None]:
    def make(builder: Any, code: Any, words: Any) -> None:
        value = builder.bitcast(builder.load(words), kind)
        builder.ret(Api(builder).call(function, POINTER, value))

    return make


def _make_boolean(builder: Any, code: Any, words: Any) -> None:
    api = Api(builder)
    value = builder.icmp_unsigned("!=", builder.load(words), ir.Constant(I64, 0))
    _shared(builder, builder.select(value, api.object("true"), api.object("false")))


def _make_none(builder: Any, code: Any, words: Any) -> None:
    _shared(builder, Api(builder).object("none"))


def _shared(builder: Any, thing: Any) -> None:
    Api(builder).call("Py_IncRef", ir.VoidType(), thing)
    builder.ret(thing)


def _pack(builder: Any, size: Any, objects: Any) -> None:
    api = Api(builder)
    made = api.call("PyTuple_New", POINTER, size)
    whole = cgutils.alloca_once_value(builder, made)
    with cgutils.for_range(builder, size, intp=I64) as loop:
        item = builder.load(builder.gep(objects, [loop.index]))
        api.call("PyTuple_SetItem", I32, made, loop.index, item)
        with builder.if_then(builder.icmp_unsigned("==", item, _NOTHING), likely=False):
            builder.store(_NOTHING, whole)  # there was no memory for it
    lost = builder.icmp_unsigned("==", builder.load(whole), _NOTHING)
    with builder.if_then(lost, likely=False):
        api.call("Py_DecRef", ir.VoidType(), made)
    builder.ret(builder.load(whole))


def _make_array(builder: Any, code: Any, words: Any) -> None:
    """The array that was given, where it is one; else a new one over that or over the kernel's memory.

    No Python runs in this: it would handle signals, and an exception between a kernel and its result
    finds nobody who expects it.
    """
    api = Api(builder)
    axes = _axes(builder, code)
    data, block, parent = (
        builder.inttoptr(builder.load(_word(builder, words, k)), POINTER) for k in range(3)
    )
    lengths = _word(builder, words, 3)
    strides = builder.gep(lengths, [axes])
    with builder.if_then(builder.icmp_unsigned("!=", block, _NOTHING)):
        release = cgutils.get_or_insert_function(
            builder.module, ir.FunctionType(ir.VoidType(), [POINTER]), "broadphase_release"
        )
        release = builder.bitcast(release, POINTER)
        capsule = api.call("PyCapsule_New", POINTER, block, _NOTHING, release)
        builder.ret(_new_array(builder, code, data, lengths, strides, capsule))
    api.call("Py_IncRef", ir.VoidType(), parent)
    same = cgutils.alloca_once_value(
        builder, builder.icmp_unsigned("==", api.field(parent, _DATA, POINTER), data)
    )
    ndim = builder.sext(api.field(parent, _NDIM, I32), I64)
    with builder.if_then(builder.icmp_signed("!=", ndim, axes)):
        builder.store(ir.Constant(I1, 0), same)
    with builder.if_then(builder.load(same)):
        dimensions = api.field(parent, _DIMENSIONS, _WORDS)
        with cgutils.for_range(builder, axes, intp=I64) as loop:
            one, other = (builder.load(builder.gep(of, [loop.index])) for of in (dimensions, lengths))
            equal = builder.icmp_signed("==", one, other)
            builder.store(builder.and_(builder.load(same), equal), same)
        with builder.if_then(builder.load(same)):
            builder.ret(parent)
    builder.ret(_new_array(builder, code, data, lengths, strides, parent))


def _new_array(builder: Any, code: Any, data: Any, lengths: Any, strides: Any, base: Any) -> Any:
    """A new array that keeps ``base`` alive, whose reference it takes over."""
    api = Api(builder)
    kind = builder.urem(code, ir.Constant(I8, _AXIS))
    number: Any = ir.Constant(I32, 0)
    for position, name in enumerate(KINDS):
        known = _TYPE_NUMBERS.get(name)
        one = builder.trunc(api.number(f"number_{name}"), I32) if known is None else ir.Constant(I32, known)
        is_it = builder.icmp_unsigned("==", kind, ir.Constant(I8, position + 1))
        number = builder.select(is_it, one, number)
    made = api.call(
        "array_new",
        POINTER,
        api.object("type_array"),
        builder.trunc(_axes(builder, code), I32),
        lengths,
        number,
        strides,
        data,
        ir.Constant(I32, 0),
        ir.Constant(I32, _WRITEABLE),
        _NOTHING,
    )
    with builder.if_then(builder.icmp_unsigned("!=", made, _NOTHING), likely=True):
        api.call("array_set_base", I32, made, base)
    return made


_FUNCTIONS: dict[str, tuple[Any, Callable[..., None]]] = {
    "read_signed": (_READ, _read_number("PyLong_AsLongLong", I64, -1, "type_int")),
    "read_unsigned": (_READ, _read_number("PyLong_AsUnsignedLongLong", I64, -1, "type_int")),
    "read_float": (
        _READ,
        _read_number("PyFloat_AsDouble", DOUBLE, -1.0, "type_float", "type_float64", "type_int"),
    ),
    "read_boolean": (_READ, _read_boolean),
    "read_none": (_READ, _read_none),
    "read_array": (_READ, _read_array),
    "read_row": (_READ, _read_row),
    "items": (_ITEMS, _items),
    "make_signed": (_MAKE, _make_number("PyLong_FromLongLong", I64)),
    "make_unsigned": (_MAKE, _make_number("PyLong_FromUnsignedLongLong", I64)),
    "make_float": (_MAKE, _make_number("PyFloat_FromDouble", DOUBLE)),
    "make_boolean": (_MAKE, _make_boolean),
    "make_none": (_MAKE, _make_none),
    "make_array": (_MAKE, _make_array),
    "pack": (_PACK, _pack),
}
NAMES = tuple(f"broadphase_{name}" for name in _FUNCTIONS)


def define(module: ir.Module) -> None:
    """Write the functions themselves."""
    for name, (kind, build) in _FUNCTIONS.items():
        function = ir.Function(module, kind, f"broadphase_{name}")
        build(ir.IRBuilder(function.append_basic_block("entry")), *function.args)
