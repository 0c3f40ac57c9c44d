"""How Python calls a kernel: a builtin that checks its arguments, reads them and makes the result.

Each kernel and list of types gets a function ``PyObject *call(PyObject *const *args)``.  It first checks
every argument: exact type, kind of numbers, dimensions, layout.  It returns `MISSED` for arguments of other
types, and for an int that does not fit; then the next list of types is tried (`machine_code`), and finally
Python.  A call costs about 60 ns and 7 ns for each array; Numba's own dispatcher takes 500 ns and more.

All kernels share the functions that check and convert; inlined into each builtin they took a fourth of LLVM's
time and half of the library.

=========  ===========================================  ==============================================
           as an argument                               as a result
=========  ===========================================  ==============================================
a number   its 64 bits                                  the same
an array   the object, the address, and a length for    the address, the block, the object, lengths,
           each axis; after them the numbers of a       strides
           tuple that is a row
=========  ===========================================  ==============================================
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from llvmlite import ir
from numba.core import cgutils, types

from broadphase.compiler import memory, python_api
from broadphase.compiler.lowering import Lowered, array_of, kind_of, may_fail
from broadphase.compiler.python_api import CALL, DOUBLE, I8, I32, I64, MISSED, OBJECTS, POINTER, SIZE, Api
from broadphase.kernels.machine.python_api import KIND_NUMBERS, KINDS

LONGEST_ROW = 7
_WORDS, _SIZES, _NOTHING = I64.as_pointer(), SIZE.as_pointer(), ir.Constant(POINTER, None)
_READ = ir.FunctionType(ir.IntType(1), [POINTER, I8, _WORDS])  # whether an argument has the type, and fits
_ITEMS = ir.FunctionType(OBJECTS, [POINTER, I64])
_MAKE = ir.FunctionType(POINTER, [I8, _WORDS])
_PACK = ir.FunctionType(POINTER, [I64, OBJECTS])
_ITEM, _NUMBER = ir.FunctionType(POINTER, [POINTER, I64]), ir.FunctionType(DOUBLE, [POINTER])
_AXIS = 16  # the code of an array's type is this number times its axes, plus its kind


def name_of(kind: Any) -> str:
    """The part of a function's name that names the type."""
    if isinstance(kind, types.Array):
        return "array"
    if isinstance(kind, types.Boolean):
        return "boolean"
    if isinstance(kind, types.Integer):
        return "signed" if kind.signed else "unsigned"
    if isinstance(kind, types.Float):
        return "float"
    if kind == types.none:  # only as a result
        return "none"
    raise NotImplementedError(f"an argument or a result of type {kind}")


def _code_of(kind: Any) -> Any:
    is_array = isinstance(kind, types.Array)
    return ir.Constant(I8, _AXIS * kind.ndim + KINDS.index(kind_of(kind.dtype)) + 1 if is_array else 0)


def _at(builder: Any, first: Any, number: int) -> Any:
    """The address of a word or an object, counted from the first."""
    return builder.gep(first, [ir.Constant(I64, number)])


def _call(builder: Any, kind: Any, name: str, *arguments: Any) -> Any:
    function = cgutils.get_or_insert_function(builder.module, kind, f"broadphase_{name}")
    return builder.call(function, arguments)


def _is_of(builder: Any, value: Any, *names: str) -> Any:
    """Whether an object's type is exactly one of these; subclasses do not count."""
    api = Api(builder)
    kind = api.type_of(value)
    found = cgutils.false_bit
    for name in names:
        found = builder.or_(found, builder.icmp_unsigned("==", kind, api.number(name)))
    return found


def _demand(builder: Any, condition: Any, otherwise: Any) -> None:
    """Continue in a new block if the condition holds."""
    with builder.if_then(builder.not_(condition), likely=False):
        builder.ret(otherwise)


def _read_signed(builder: Any, value: Any, code: Any, words: Any) -> None:
    _demand(builder, _is_of(builder, value, "type_int"), cgutils.false_bit)
    _put_number(builder, Api(builder).call("PyLong_AsLongLong", I64, value), words)


def _read_float(builder: Any, value: Any, code: Any, words: Any) -> None:
    """The value of a float or an int.  An int in the function for floats takes 30 ns: it makes a float."""
    _demand(builder, _is_of(builder, value, "type_float", "type_float64", "type_int"), cgutils.false_bit)
    api, kind = Api(builder), ir.FunctionType(DOUBLE, [POINTER]).as_pointer()
    functions = (api.number(name) for name in ("PyLong_AsDouble", "PyFloat_AsDouble"))
    function = builder.select(_is_of(builder, value, "type_int"), *functions)
    _put_number(builder, builder.call(builder.inttoptr(function, kind), [value]), words)


def _put_number(builder: Any, number: Any, words: Any) -> None:
    """Store what a conversion returned: -1 and an exception for an int that does not fit."""
    api, bits = Api(builder), builder.bitcast(number, I64)
    suspect = builder.bitcast(ir.Constant(number.type, -1), I64)
    with builder.if_then(builder.icmp_unsigned("==", bits, suspect), likely=False):
        error = api.call("PyErr_Occurred", POINTER)
        with builder.if_then(cgutils.is_not_null(builder, error), likely=False):
            api.call("PyErr_Clear", ir.VoidType())
            builder.ret(cgutils.false_bit)
    builder.store(bits, words)
    builder.ret(cgutils.true_bit)


def _read_boolean(builder: Any, value: Any, code: Any, words: Any) -> None:
    api = Api(builder)
    yes = builder.icmp_unsigned("==", value, api.object("true"))
    no = builder.icmp_unsigned("==", value, api.object("false"))
    builder.store(builder.zext(yes, I64), words)
    builder.ret(builder.or_(yes, no))


def _axes(builder: Any, code: Any) -> Any:
    return builder.zext(builder.udiv(code, ir.Constant(I8, _AXIS)), I64)


def _read_array(builder: Any, value: Any, code: Any, words: Any) -> None:
    """An array of this kind and of as many axes, C-contiguous."""
    api = Api(builder)
    axes = _axes(builder, code)
    kind = builder.urem(code, ir.Constant(I8, _AXIS))
    _demand(builder, _is_of(builder, value, "type_array"), cgutils.false_bit)
    ndim = builder.sext(api.field(value, python_api.ARRAY["nd"], I32), I64)
    _demand(builder, builder.icmp_signed("==", ndim, axes), cgutils.false_bit)
    wanted = ir.Constant(I32, python_api.ALIGNED | python_api.C_CONTIGUOUS)
    flags = builder.and_(api.field(value, python_api.ARRAY["flags"], I32), wanted)
    _demand(builder, builder.icmp_unsigned("==", flags, wanted), cgutils.false_bit)
    dtype = api.field(value, python_api.ARRAY["descr"], POINTER)
    number = api.field(dtype, python_api.DTYPE["type_num"], I32)
    _demand(builder, builder.icmp_unsigned("<", number, ir.Constant(I32, KIND_NUMBERS)), cgutils.false_bit)
    _demand(builder, builder.icmp_unsigned("==", api.kind_of_type_number(number), kind), cgutils.false_bit)
    order = api.field(dtype, python_api.DTYPE["byteorder"], I8)
    native = [builder.icmp_unsigned("==", order, ir.Constant(I8, ord(mark))) for mark in "=|"]
    _demand(builder, builder.or_(*native), cgutils.false_bit)
    builder.store(builder.ptrtoint(value, I64), words)
    data = builder.ptrtoint(api.field(value, python_api.ARRAY["data"], POINTER), I64)
    builder.store(data, _at(builder, words, 1))
    lengths = _at(builder, words, 2)
    dimensions = api.field(value, python_api.ARRAY["dimensions"], _SIZES)
    with cgutils.for_range(builder, axes, intp=I64) as loop:
        length = api.wide(builder.load(builder.gep(dimensions, [loop.index])))
        builder.store(length, builder.gep(lengths, [loop.index]))
    builder.ret(cgutils.true_bit)


def _items(builder: Any, value: Any, size: Any) -> None:
    """The address of the items of a tuple of this size, or null."""
    nowhere = ir.Constant(OBJECTS, None)
    there = _tuple_size(builder, value, nowhere)
    _demand(builder, builder.icmp_signed("==", there, size), nowhere)
    builder.ret(_first_item(builder, value))


def _read_row(builder: Any, value: Any, allowed: Any, words: Any) -> None:
    """A tuple of numbers, of a length whose bit is set, as an array over a copy of them."""
    size = _tuple_size(builder, value, cgutils.false_bit)
    _demand(builder, _is_allowed(builder, size, allowed), cgutils.false_bit)
    first, numbers = _first_item(builder, value), _at(builder, words, 3)
    for k, word in enumerate((ir.Constant(I64, 0), builder.ptrtoint(numbers, I64), size)):
        builder.store(word, _at(builder, words, k))
    with cgutils.for_range(builder, size, intp=I64) as loop:
        item = builder.load(builder.gep(first, [loop.index]))
        place = builder.gep(numbers, [loop.index])
        fits = _call(builder, _READ, "read_float", item, ir.Constant(I8, 0), place)
        _demand(builder, fits, cgutils.false_bit)
    builder.ret(cgutils.true_bit)


def _read_rows(builder: Any, value: Any, allowed: Any, words: Any) -> None:
    """An array of rows of such a length, or a tuple as the only row."""
    length = _at(builder, words, 3)
    with builder.if_then(_is_of(builder, value, "type_array")):
        kind = _code_of(types.Array(types.float64, 2, "C"))
        _demand(builder, _call(builder, _READ, "read_array", value, kind, words), cgutils.false_bit)
        builder.ret(_is_allowed(builder, builder.load(length), allowed))
    # Its numbers are copied behind the words of an array with two lengths.
    fits = _call(builder, _READ, "read_row", value, allowed, _at(builder, words, 1))
    _demand(builder, fits, cgutils.false_bit)
    data = builder.load(_at(builder, words, 2))
    for k, word in enumerate((ir.Constant(I64, 0), data, ir.Constant(I64, 1))):
        builder.store(word, _at(builder, words, k))
    builder.ret(cgutils.true_bit)


def _is_allowed(builder: Any, size: Any, allowed: Any) -> Any:
    """Whether a length is one of those whose bits are set."""
    is_short = builder.icmp_unsigned("<=", size, ir.Constant(I64, LONGEST_ROW))
    bit = builder.lshr(builder.zext(allowed, I64), builder.and_(size, ir.Constant(I64, LONGEST_ROW)))
    return builder.and_(is_short, builder.trunc(bit, ir.IntType(1)))


def _tuple_size(builder: Any, value: Any, otherwise: Any) -> Any:
    """How many items a tuple has; of another object the function returns ``otherwise``."""
    api = Api(builder)
    flags = api.call("PyType_GetFlags", SIZE, builder.inttoptr(api.type_of(value), POINTER))
    is_tuple = builder.and_(flags, ir.Constant(SIZE, python_api.IS_TUPLE))
    _demand(builder, builder.icmp_unsigned("!=", is_tuple, ir.Constant(SIZE, 0)), otherwise)
    return api.wide(api.call("PyTuple_Size", SIZE, value))


def _first_item(builder: Any, value: Any) -> Any:
    return builder.bitcast(builder.gep(value, [Api(builder).number("tuple_items")]), OBJECTS)


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


def _shared(builder: Any, value: Any) -> None:
    Api(builder).call("Py_IncRef", ir.VoidType(), value)
    builder.ret(value)


def _pack(builder: Any, size: Any, objects: Any) -> None:
    """A tuple of objects, which takes over their references; null if one of them is null."""
    api = Api(builder)
    made = api.call("PyTuple_New", POINTER, api.size(size))
    whole = cgutils.alloca_once_value(builder, made)
    with cgutils.for_range(builder, size, intp=I64) as loop:
        item = builder.load(builder.gep(objects, [loop.index]))
        api.call("PyTuple_SetItem", I32, made, api.size(loop.index), item)
        with builder.if_then(cgutils.is_null(builder, item), likely=False):
            builder.store(_NOTHING, whole)  # allocation failed
    with builder.if_then(cgutils.is_null(builder, builder.load(whole)), likely=False):
        api.call("Py_DecRef", ir.VoidType(), made)
    builder.ret(builder.load(whole))


def _make_array(builder: Any, code: Any, words: Any) -> None:
    """The array that the caller passed, if it is returned; else a new array over its or the kernel's memory.

    No Python code runs here: it would handle signals, and no caller expects an exception between a kernel and
    its result.
    """
    api = Api(builder)
    axes = _axes(builder, code)
    data, block, parent = (builder.inttoptr(builder.load(_at(builder, words, k)), POINTER) for k in range(3))
    lengths = _at(builder, words, 3)
    strides = builder.gep(lengths, [axes])
    with builder.if_then(cgutils.is_not_null(builder, block)):
        release = cgutils.get_or_insert_function(
            builder.module, ir.FunctionType(ir.VoidType(), [POINTER]), "broadphase_release"
        )
        release = builder.bitcast(release, POINTER)
        capsule = api.call("PyCapsule_New", POINTER, block, _NOTHING, release)
        builder.ret(_new_array(builder, code, data, lengths, strides, capsule))
    api.call("Py_IncRef", ir.VoidType(), parent)
    same = cgutils.alloca_once_value(
        builder, builder.icmp_unsigned("==", api.field(parent, python_api.ARRAY["data"], POINTER), data)
    )
    ndim = builder.sext(api.field(parent, python_api.ARRAY["nd"], I32), I64)
    with builder.if_then(builder.icmp_signed("!=", ndim, axes)):
        builder.store(cgutils.false_bit, same)
    with builder.if_then(builder.load(same)):
        dimensions = api.field(parent, python_api.ARRAY["dimensions"], _SIZES)
        with cgutils.for_range(builder, axes, intp=I64) as loop:
            one = api.wide(builder.load(builder.gep(dimensions, [loop.index])))
            other = builder.load(builder.gep(lengths, [loop.index]))
            equal = builder.icmp_signed("==", one, other)
            builder.store(builder.and_(builder.load(same), equal), same)
        with builder.if_then(builder.load(same)):
            builder.ret(parent)
    builder.ret(_new_array(builder, code, data, lengths, strides, parent))


def _sizes(builder: Any, code: Any, words: Any) -> Any:
    """The words as an array of ``npy_intp``, one for each axis."""
    if SIZE == I64:
        return words
    sizes = cgutils.alloca_once(builder, SIZE, size=_AXIS)
    with cgutils.for_range(builder, _axes(builder, code), intp=I64) as loop:
        one = builder.load(builder.gep(words, [loop.index]))
        builder.store(builder.trunc(one, SIZE), builder.gep(sizes, [loop.index]))
    return sizes


def _new_array(builder: Any, code: Any, data: Any, lengths: Any, strides: Any, base: Any) -> Any:
    """A new array that keeps ``base`` alive; it takes over the reference to ``base``."""
    api = Api(builder)
    kind = builder.urem(code, ir.Constant(I8, _AXIS))
    number: Any = ir.Constant(I32, 0)
    for position, name in enumerate(KINDS):
        known = python_api.TYPE_NUMBERS.get(name)
        one = builder.trunc(api.number(f"number_{name}"), I32) if known is None else ir.Constant(I32, known)
        is_it = builder.icmp_unsigned("==", kind, ir.Constant(I8, position + 1))
        number = builder.select(is_it, one, number)
    lengths, strides = (_sizes(builder, code, values) for values in (lengths, strides))
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
        ir.Constant(I32, python_api.WRITEABLE),
        _NOTHING,
    )
    with builder.if_then(cgutils.is_not_null(builder, made), likely=True):
        api.call("array_set_base", I32, made, base)
    return made


def _goes_on(builder: Any) -> None:
    """Take the GIL and run `check` and signal handlers; 0 if one of them has raised."""
    api = Api(builder)
    state = api.call("PyGILState_Ensure", I32)
    error = api.call("PyErr_Occurred", POINTER)
    with builder.if_then(cgutils.is_not_null(builder, error), likely=False):
        # It has raised before; no code may run while an exception is set.
        api.call("PyGILState_Release", ir.VoidType(), state)
        builder.ret(ir.Constant(I32, 0))
    answer = api.vectorcall(api.object("check"), ir.Constant(OBJECTS, None), ir.Constant(I64, 0))
    with builder.if_then(cgutils.is_not_null(builder, answer), likely=True):
        api.call("Py_DecRef", ir.VoidType(), answer)
    api.call("PyGILState_Release", ir.VoidType(), state)
    builder.ret(builder.zext(cgutils.is_not_null(builder, answer), I32))


def _length_of(builder: Any, sequence: Any) -> None:
    api = Api(builder)
    builder.ret(api.wide(api.call("PySequence_Size", SIZE, sequence)))


def _item(builder: Any, sequence: Any, k: Any) -> None:
    api = Api(builder)
    made = api.call("PySequence_GetItem", POINTER, sequence, api.size(k))
    _found(builder, made, "error_index", "error_type")


def _attribute(builder: Any, value: Any, name: Any) -> None:
    _found(builder, Api(builder).call("PyObject_GetAttr", POINTER, value, name), "error_attribute")


def _found(builder: Any, value: Any, *errors: str) -> None:
    """Return the object, or null if there is none, without the exception that only says so."""
    api = Api(builder)
    with builder.if_then(cgutils.is_null(builder, value), likely=False):
        for name in errors:
            matches = api.call("PyErr_ExceptionMatches", I32, api.object(name))
            with builder.if_then(builder.icmp_signed("!=", matches, ir.Constant(I32, 0))):
                api.call("PyErr_Clear", ir.VoidType())
                builder.ret(_NOTHING)
    builder.ret(value)


def _number_of(builder: Any, value: Any) -> None:
    """The value of a float or an int; NaN for any other object, and for an int that is too large."""
    word = builder.alloca(I64)
    fits = _call(builder, _READ, "read_float", value, ir.Constant(I8, 0), word)
    _demand(builder, fits, ir.Constant(DOUBLE, float("nan")))
    builder.ret(builder.bitcast(builder.load(word), DOUBLE))


def _number_at(builder: Any, sequence: Any, k: Any) -> None:
    """The same of an item; a tuple's is read without taking a reference, which takes half of the time."""
    nan = ir.Constant(DOUBLE, float("nan"))
    with builder.if_then(_is_of(builder, sequence, "type_tuple")):
        size = Api(builder).wide(Api(builder).field(sequence, python_api.LENGTH, SIZE))
        _demand(builder, builder.icmp_unsigned("<", k, size), nan)
        item = builder.load(builder.gep(_first_item(builder, sequence), [k]))
        builder.ret(_call(builder, _NUMBER, "number_of", item))
    item = _call(builder, _ITEM, "item", sequence, k)
    _demand(builder, cgutils.is_not_null(builder, item), nan)
    number = _call(builder, _NUMBER, "number_of", item)
    Api(builder).call("Py_DecRef", ir.VoidType(), item)
    builder.ret(number)


def _is_alike(builder: Any, value: Any, other: Any) -> None:
    api = Api(builder)
    builder.ret(builder.icmp_unsigned("==", api.type_of(value), api.type_of(other)))


def _drop(builder: Any, value: Any) -> None:
    Api(builder).call("Py_DecRef", ir.VoidType(), value)
    builder.ret_void()


def _append(builder: Any, things: Any, value: Any) -> None:
    builder.ret(Api(builder).call("PyList_Append", I32, things, value))


_FUNCTIONS: dict[str, tuple[Any, Callable[..., None]]] = {
    "read_signed": (_READ, _read_signed),
    "read_float": (_READ, _read_float),
    "read_boolean": (_READ, _read_boolean),
    "read_array": (_READ, _read_array),
    "read_row": (_READ, _read_row),
    "read_rows": (_READ, _read_rows),
    "goes_on": (ir.FunctionType(I32, []), _goes_on),
    "length_of": (ir.FunctionType(I64, [POINTER]), _length_of),
    "item": (_ITEM, _item),
    "attribute": (ir.FunctionType(POINTER, [POINTER, POINTER]), _attribute),
    "number_of": (_NUMBER, _number_of),
    "number_at": (ir.FunctionType(DOUBLE, [POINTER, I64]), _number_at),
    "is_alike": (ir.FunctionType(ir.IntType(1), [POINTER] * 2), _is_alike),
    "drop": (ir.FunctionType(ir.VoidType(), [POINTER]), _drop),
    "append": (ir.FunctionType(I32, [POINTER] * 2), _append),
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


class _Arguments:
    """Reads arguments as values of their types; an argument of another type returns `MISSED`."""

    def __init__(self, context: Any, builder: Any) -> None:
        self.context, self.builder = context, builder

    def read(self, kind: Any, value: Any, sizes: tuple[int, ...] = ()) -> Any:
        """Check an argument and read it; ``sizes`` are the lengths that a row may have."""
        builder = self.builder
        if kind == types.voidptr:  # any object
            return value
        if isinstance(kind, types.BaseTuple):
            items = _call(builder, _ITEMS, "items", value, ir.Constant(I64, len(kind)))
            _demand(builder, cgutils.is_not_null(builder, items), MISSED)
            values = [self.read(one, builder.load(_at(builder, items, k))) for k, one in enumerate(kind)]
            return self.context.make_tuple(builder, kind, values)
        count = 2 + kind.ndim if isinstance(kind, types.Array) else 1
        name, code = name_of(kind), _code_of(kind)
        if sizes:
            name, code = ("row", "rows")[kind.ndim - 1], ir.Constant(I8, sum(1 << size for size in sizes))
        with builder.goto_entry_block():
            words = builder.alloca(I64, size=count + LONGEST_ROW if sizes else count)
        _demand(builder, _call(builder, _READ, f"read_{name}", value, code, words), MISSED)
        first, *more = (builder.load(_at(builder, words, k)) for k in range(count))
        if isinstance(kind, types.Array):
            return self._array(kind, first, *more)
        if isinstance(kind, types.Boolean):
            return builder.trunc(first, ir.IntType(1))
        return builder.bitcast(first, DOUBLE) if isinstance(kind, types.Float) else first

    def _array(self, kind: Any, parent: Any, data: Any, *lengths: Any) -> Any:
        builder = self.builder
        model = self.context.data_model_manager[kind]
        element = model.get_value_type().elements[model.get_field_position("data")]
        return array_of(
            model,
            builder,
            meminfo=_NOTHING,
            parent=builder.inttoptr(parent, POINTER),
            data=builder.inttoptr(data, element),
            shape=cgutils.pack_array(builder, lengths, I64),
        )


def _result(context: Any, builder: Any, kind: Any, value: Any) -> Any:
    """A new reference to the Python object for a result."""
    if isinstance(kind, types.BaseTuple):
        objects = cgutils.alloca_once(builder, POINTER, size=max(1, len(kind)))
        for k, one in enumerate(kind):
            item = _result(context, builder, one, builder.extract_value(value, k))
            builder.store(item, _at(builder, objects, k))
        return _call(builder, _PACK, "pack", ir.Constant(I64, len(kind)), objects)
    found = list(_words(context, builder, kind, value))
    words = cgutils.alloca_once(builder, I64, size=max(1, len(found)))
    for k, word in enumerate(found):
        builder.store(word, _at(builder, words, k))
    return _call(builder, _MAKE, f"make_{name_of(kind)}", _code_of(kind), words)


def _words(context: Any, builder: Any, kind: Any, value: Any) -> Iterator[Any]:
    """The words from which ``make_...`` makes an object."""
    if isinstance(kind, types.Array):
        array = context.make_array(kind)(context, builder, value)
        for pointer in (array.data, array.meminfo, array.parent):
            yield builder.ptrtoint(pointer, I64)
        for values in (array.shape, array.strides):
            yield from cgutils.unpack_tuple(builder, values, kind.ndim)
    elif isinstance(kind, types.Boolean):
        yield builder.zext(value, I64)
    elif isinstance(kind, types.Integer):
        widen = builder.sext if kind.signed else builder.zext
        yield widen(value, I64) if kind.bitwidth < 64 else value
    elif isinstance(kind, types.Float):
        wide = builder.fpext(value, DOUBLE) if kind.bitwidth == 32 else value
        yield builder.bitcast(wide, I64)


def build_call(context: Any, module: ir.Module, name: str, lowered: Lowered) -> None:
    """Write the function ``name`` that calls a kernel for one list of types.

    A kernel made by `holds_gil` keeps the GIL, and so does one that is given a single row of `rows`.
    """
    descriptor = lowered.descriptor
    kinds = descriptor.argtypes
    if types.voidptr in kinds and not lowered.holds_gil:
        raise TypeError(f"a kernel that takes objects must hold the GIL: {descriptor.qualname}")
    function = ir.Function(module, CALL, name)
    builder = ir.IRBuilder(function.append_basic_block("entry"))
    api, arguments = Api(builder), _Arguments(context, builder)
    things = [builder.load(_at(builder, function.args[0], k)) for k in range(len(kinds))]
    values = [
        arguments.read(kind, value, lowered.rows.get(k, ()))
        for k, (kind, value) in enumerate(zip(kinds, things, strict=True))
    ]
    callee = context.declare_function(module, descriptor)
    release = cgutils.false_bit if lowered.holds_gil else cgutils.true_bit
    for k in lowered.rows if not lowered.holds_gil else ():
        if kinds[k].ndim == 2:
            asked = builder.extract_value(context.make_array(kinds[k])(context, builder, values[k]).shape, 0)
            release = builder.and_(release, builder.icmp_signed("!=", asked, ir.Constant(I64, 1)))
    state = cgutils.alloca_once_value(builder, _NOTHING)
    with builder.if_then(release):
        builder.store(api.call("PyEval_SaveThread", POINTER), state)
    before = memory.enter(builder) if may_fail(descriptor) else None
    with _exact_denormals(builder):
        status, result = context.call_conv.call_function(builder, callee, descriptor.restype, kinds, values)
    if before is not None:
        with builder.if_then(status.is_ok, likely=True):
            _keep_blocks(context, builder, descriptor.restype, result)
        memory.leave(builder, before)
    with builder.if_then(release):
        api.call("PyEval_RestoreThread", ir.VoidType(), builder.load(state))
    if before is not None:
        with builder.if_then(status.is_error, likely=False):
            builder.ret(api.call("PyErr_NoMemory", POINTER))
    made = _result(context, builder, descriptor.restype, result)
    # `goes_on` or an object's own code has raised; the result is made first, because it owns memory.
    error = api.call("PyErr_Occurred", POINTER)
    with builder.if_then(cgutils.is_not_null(builder, error), likely=False):
        api.call("Py_DecRef", ir.VoidType(), made)
        builder.ret(_NOTHING)
    builder.ret(made)


def _keep_blocks(context: Any, builder: Any, kind: Any, value: Any) -> None:
    """Note which of the kernel's blocks are returned."""
    if isinstance(kind, types.Array):
        memory.keep(builder, context.make_array(kind)(context, builder, value).meminfo)
    elif isinstance(kind, types.BaseTuple):
        for k, one in enumerate(kind):
            _keep_blocks(context, builder, one, builder.extract_value(value, k))


@contextmanager
def _exact_denormals(builder: Any) -> Iterator[None]:
    """Code that runs without flushing subnormals to zero, whatever the calling thread has set.

    Flushing would lose the sign of a tiny difference, and other libraries may leave it switched on.
    """
    triple = str(builder.module.triple)
    if "wasm" in triple:  # WebAssembly has no such mode
        yield
        return
    is_x86 = "x86_64" in triple
    # FZ and DAZ of the register MXCSR; FZ and FIZ of FPCR.
    kind, flushing = (I32, 0x8040) if is_x86 else (I64, 0x1000001)
    place = cgutils.alloca_once(builder, I32) if is_x86 else None
    before = _read_float_mode(builder, place)
    flushes = builder.icmp_unsigned(
        "!=", builder.and_(before, ir.Constant(kind, flushing)), ir.Constant(kind, 0)
    )
    with builder.if_then(flushes, likely=False):
        _write_float_mode(builder, place, builder.and_(before, ir.Constant(kind, ~flushing)))
    yield
    with builder.if_then(flushes, likely=False):
        _write_float_mode(builder, place, before)


def _read_float_mode(builder: Any, place: Any) -> Any:
    """The control register for floats; that of x86 is read through memory, at ``place``."""
    if place is None:
        return _intrinsic(builder, "llvm.aarch64.get.fpcr", I64)
    _intrinsic(builder, "llvm.x86.sse.stmxcsr", ir.VoidType(), builder.bitcast(place, POINTER))
    return builder.load(place)


def _write_float_mode(builder: Any, place: Any, value: Any) -> None:
    if place is None:
        _intrinsic(builder, "llvm.aarch64.set.fpcr", ir.VoidType(), value)
        return
    builder.store(value, place)
    _intrinsic(builder, "llvm.x86.sse.ldmxcsr", ir.VoidType(), builder.bitcast(place, POINTER))


def _intrinsic(builder: Any, name: str, result: Any, *arguments: Any) -> Any:
    kind = ir.FunctionType(result, [argument.type for argument in arguments])
    return builder.call(cgutils.get_or_insert_function(builder.module, kind, name), arguments)
