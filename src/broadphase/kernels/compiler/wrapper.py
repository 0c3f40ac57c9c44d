"""How Python calls a kernel: a builtin that looks at its arguments, reads them and makes the result.

For each kernel and each list of types there is a function ``PyObject *call(PyObject *const *args)``.  It
looks at every argument before anything is done: exact types, kinds of numbers, dimensions, layout.  What it
was not made for it answers with `MISSED`, and the next list of types is tried (`link`), at last Python.

A call costs about 60 ns and 7 ns for each array, where Numba's own dispatcher takes 500 and more.
"""

from collections.abc import Callable, Sequence
from typing import Any

from llvmlite import ir
from numba.core import cgutils, types
from numba.np.arrayobj import populate_array

from broadphase.kernels.compiler import memory
from broadphase.kernels.compiler.api import CALL, DOUBLE, I8, I32, I64, MISSED, POINTER, Api
from broadphase.kernels.compiler.frontend import Lowered
from broadphase.kernels.compiler.lowering import may_fail
from broadphase.kernels.compiler.types import kind_of
from broadphase.kernels.machine.python_api import KIND_NUMBERS, KINDS

# Fields of NumPy's array and dtype behind the head that all objects have: NumPy's ABI, the same since 1.0.
_DATA, _NDIM, _DIMENSIONS, _DTYPE, _FLAGS = 0, 8, 16, 40, 48
_BYTE_ORDER, _TYPE_NUMBER = 10, 12
_C_CONTIGUOUS, _ALIGNED, _WRITEABLE = 0x1, 0x100, 0x400
# NumPy's numbers of types; those of 64-bit integers differ between platforms.
_TYPE_NUMBERS = {"b1": 0, "i1": 1, "u1": 2, "i2": 3, "u2": 4, "i4": 5, "u4": 6, "f4": 11, "f8": 12}
_IS_TUPLE = 1 << 26  # tp_flags

# The bits of the x86 control register that flush denormals to zero; the sign of a tiny difference would
# be lost with it, and other libraries leave them set in whatever thread calls.
_FLUSHING = 0x8040


class Reader:
    """Arguments into what Numba's code takes; a wrong one leads to ``missed``."""

    def __init__(self, context: Any, builder: Any, missed: Any) -> None:
        self.context, self.builder, self.missed = context, builder, missed
        self.api = Api(builder)

    def demand(self, condition: Any) -> None:
        """Go on where it holds."""
        onward = self.builder.append_basic_block()
        self.builder.cbranch(condition, onward, self.missed)
        self.builder.position_at_end(onward)

    def read(self, kind: Any, thing: Any) -> Any:
        """The argument as a value of its type."""
        if isinstance(kind, types.Array):
            return self._array(kind, thing)
        if isinstance(kind, types.BaseTuple):
            return self._tuple(kind, thing)
        if isinstance(kind, types.Boolean):
            return self._boolean(thing)
        if isinstance(kind, types.Integer):
            return self._integer(kind, thing)
        if isinstance(kind, types.Float):
            return self._float(kind, thing)
        if kind == types.none:
            self.demand(self.builder.icmp_unsigned("==", thing, self.api.object("none")))
            return self.context.get_dummy_value()
        raise NotImplementedError(f"an argument of type {kind}")

    def _is(self, thing: Any, *names: str) -> Any:
        of = self.api.type_of(thing)
        same = [self.builder.icmp_unsigned("==", of, self.api.number(name)) for name in names]
        result = same[0]
        for other in same[1:]:
            result = self.builder.or_(result, other)
        return result

    def _boolean(self, thing: Any) -> Any:
        builder = self.builder
        yes = builder.icmp_unsigned("==", thing, self.api.object("true"))
        no = builder.icmp_unsigned("==", thing, self.api.object("false"))
        self.demand(builder.or_(yes, no))
        return yes

    def _integer(self, kind: Any, thing: Any) -> Any:
        builder = self.builder
        self.demand(self._is(thing, "type_int"))
        read = "PyLong_AsLongLong" if kind.signed else "PyLong_AsUnsignedLongLong"
        value = self.api.call(read, I64, thing)
        # -1 is also what a number beyond 64 bits gives.
        self._fail_if_raised(builder.icmp_signed("==", value, ir.Constant(I64, -1)))
        return builder.trunc(value, ir.IntType(kind.bitwidth)) if kind.bitwidth < 64 else value

    def _float(self, kind: Any, thing: Any) -> Any:
        self.demand(self._is(thing, "type_float", "type_float64", "type_int"))
        value = self.api.call("PyFloat_AsDouble", DOUBLE, thing)
        # -1 is also what an int gives that is too large for a float.
        self._fail_if_raised(self.builder.fcmp_ordered("==", value, ir.Constant(DOUBLE, -1.0)))
        return self.builder.fptrunc(value, ir.FloatType()) if kind.bitwidth == 32 else value

    def _fail_if_raised(self, suspect: Any) -> None:
        """Leave the error to Python, where a reading that looks like one raised it."""
        builder = self.builder
        with builder.if_then(suspect, likely=False):
            error = self.api.call("PyErr_Occurred", POINTER)
            failed = builder.icmp_unsigned("!=", error, ir.Constant(POINTER, None))
            with builder.if_then(failed, likely=False):
                builder.ret(ir.Constant(POINTER, None))

    def _tuple(self, kind: Any, thing: Any) -> Any:
        builder = self.builder
        of = builder.inttoptr(self.api.type_of(thing), POINTER)
        flags = self.api.call("PyType_GetFlags", I64, of)
        is_tuple = builder.and_(flags, ir.Constant(I64, _IS_TUPLE))
        self.demand(builder.icmp_unsigned("!=", is_tuple, ir.Constant(I64, 0)))
        size = self.api.call("PyTuple_Size", I64, thing)
        self.demand(builder.icmp_signed("==", size, ir.Constant(I64, len(kind))))
        first = self.api.number("tuple_items")
        values = [
            self.read(one, self.api.at(thing, builder.add(first, ir.Constant(I64, 8 * k)), POINTER))
            for k, one in enumerate(kind)
        ]
        return self.context.make_tuple(builder, kind, values)

    def _array(self, kind: Any, thing: Any) -> Any:
        builder, api = self.builder, self.api
        self.demand(self._is(thing, "type_array"))
        self.demand(builder.icmp_signed("==", api.field(thing, _NDIM, I32), ir.Constant(I32, kind.ndim)))
        wanted = ir.Constant(I32, _ALIGNED | _C_CONTIGUOUS)
        flags = builder.and_(api.field(thing, _FLAGS, I32), wanted)
        self.demand(builder.icmp_unsigned("==", flags, wanted))
        dtype = api.field(thing, _DTYPE, POINTER)
        number = api.field(dtype, _TYPE_NUMBER, I32)
        self.demand(builder.icmp_unsigned("<", number, ir.Constant(I32, KIND_NUMBERS)))
        code = KINDS.index(kind_of(kind.dtype)) + 1
        same = builder.icmp_unsigned("==", api.kind_of_type_number(number), ir.Constant(I8, code))
        self.demand(same)
        order = api.field(dtype, _BYTE_ORDER, I8)
        native = [builder.icmp_unsigned("==", order, ir.Constant(I8, ord(mark))) for mark in "=|"]
        self.demand(builder.or_(*native))
        width = int(kind_of(kind.dtype)[1:])
        dimensions = api.field(thing, _DIMENSIONS, I64.as_pointer())
        lengths = [builder.load(builder.gep(dimensions, [ir.Constant(I64, k)])) for k in range(kind.ndim)]
        array = self.context.make_array(kind)(self.context, builder)
        data = api.field(thing, _DATA, POINTER)
        populate_array(
            array,
            data=builder.bitcast(data, array.data.type),
            shape=lengths,
            strides=self._strides(lengths, width),
            itemsize=ir.Constant(I64, width),
            meminfo=None,
            parent=thing,
        )
        return array._getvalue()

    def _strides(self, lengths: Sequence[Any], width: int) -> list[Any]:
        found = [ir.Constant(I64, width)]
        for length in reversed(lengths[1:]):
            found.insert(0, self.builder.mul(found[0], length))
        return found


class Writer:
    """What Numba's code returns into objects."""

    def __init__(self, context: Any, builder: Any) -> None:
        self.context, self.builder = context, builder
        self.api = Api(builder)

    def write(self, kind: Any, value: Any) -> Any:
        """A new reference to the result."""
        builder, api = self.builder, self.api
        if kind == types.none:
            return self._shared(api.object("none"))
        if isinstance(kind, types.Boolean):
            return self._shared(builder.select(value, api.object("true"), api.object("false")))
        if isinstance(kind, types.Integer):
            widen: Callable[..., Any] = builder.sext if kind.signed else builder.zext
            make = "PyLong_FromLongLong" if kind.signed else "PyLong_FromUnsignedLongLong"
            return api.call(make, POINTER, widen(value, I64) if kind.bitwidth < 64 else value)
        if isinstance(kind, types.Float):
            wide = builder.fpext(value, DOUBLE) if kind.bitwidth == 32 else value
            return api.call("PyFloat_FromDouble", POINTER, wide)
        if isinstance(kind, types.BaseTuple):
            return self._tuple(kind, value)
        if isinstance(kind, types.Array):
            return self._array(kind, value)
        raise NotImplementedError(f"a result of type {kind}")

    def _shared(self, thing: Any) -> Any:
        self.api.call("Py_IncRef", ir.VoidType(), thing)
        return thing

    def _tuple(self, kind: Any, value: Any) -> Any:
        builder, api = self.builder, self.api
        made = api.call("PyTuple_New", POINTER, ir.Constant(I64, len(kind)))
        result = cgutils.alloca_once_value(builder, made)
        nothing = ir.Constant(POINTER, None)
        for k, one in enumerate(kind):
            item = self.write(one, builder.extract_value(value, k))
            api.call("PyTuple_SetItem", I32, made, ir.Constant(I64, k), item)
            with builder.if_then(builder.icmp_unsigned("==", item, nothing), likely=False):
                builder.store(nothing, result)  # there was no memory for it
        whole = builder.load(result)
        lost = builder.icmp_unsigned("==", whole, nothing)
        with builder.if_then(lost, likely=False):
            api.call("Py_DecRef", ir.VoidType(), made)
        return whole

    def _array(self, kind: Any, value: Any) -> Any:
        """The array that was given, where it is one; else a new one over the kernel's memory.

        No Python runs in this: it would handle signals, and an exception between a kernel and its result
        finds nobody who expects it.
        """
        builder = self.builder
        array = self.context.make_array(kind)(self.context, builder, value)
        parent, nothing = array.parent, ir.Constant(POINTER, None)
        data = builder.bitcast(array.data, POINTER)
        result = cgutils.alloca_once_value(builder, nothing)
        owned = builder.icmp_unsigned("!=", array.meminfo, nothing)
        with builder.if_else(owned) as (made_here, given):
            with made_here:
                builder.store(self._new_array(kind, array, data, self._capsule(array.meminfo)), result)
            with given:
                same = self._is_whole(kind, array, parent, data)
                with builder.if_else(same) as (whole, part):
                    with whole:
                        builder.store(self._shared(parent), result)
                    with part:
                        builder.store(self._new_array(kind, array, data, self._shared(parent)), result)
        return builder.load(result)

    def _is_whole(self, kind: Any, array: Any, parent: Any, data: Any) -> Any:
        builder, api = self.builder, self.api
        same = builder.icmp_unsigned("==", api.field(parent, _DATA, POINTER), data)
        same_ndim = builder.icmp_signed("==", api.field(parent, _NDIM, I32), ir.Constant(I32, kind.ndim))
        result = cgutils.alloca_once_value(builder, builder.and_(same, same_ndim))
        with builder.if_then(builder.load(result)):
            dimensions = api.field(parent, _DIMENSIONS, I64.as_pointer())
            for k, length in enumerate(cgutils.unpack_tuple(builder, array.shape, kind.ndim)):
                there = builder.load(builder.gep(dimensions, [ir.Constant(I64, k)]))
                equal = builder.icmp_signed("==", there, length)
                builder.store(builder.and_(builder.load(result), equal), result)
        return builder.load(result)

    def _capsule(self, block: Any) -> Any:
        """An object that gives a block of memory back when it goes."""
        release = cgutils.get_or_insert_function(
            self.builder.module, ir.FunctionType(ir.VoidType(), [POINTER]), "broadphase_release"
        )
        nothing = ir.Constant(POINTER, None)
        function = self.builder.bitcast(release, POINTER)
        return self.api.call("PyCapsule_New", POINTER, block, nothing, function)

    def _new_array(self, kind: Any, array: Any, data: Any, base: Any) -> Any:
        builder, api = self.builder, self.api
        name = kind_of(kind.dtype)
        if name in _TYPE_NUMBERS:
            number: Any = ir.Constant(I32, _TYPE_NUMBERS[name])
        else:
            number = builder.trunc(api.number(f"number_{name}"), I32)
        places = [cgutils.alloca_once(builder, I64, size=kind.ndim) for _ in range(2)]
        for place, values in zip(places, (array.shape, array.strides), strict=True):
            for k, one in enumerate(cgutils.unpack_tuple(builder, values, kind.ndim)):
                builder.store(one, builder.gep(place, [ir.Constant(I64, k)]))
        zero = ir.Constant(I32, 0)
        made = api.call(
            "array_new",
            POINTER,
            api.object("type_array"),
            ir.Constant(I32, kind.ndim),
            places[0],
            number,
            places[1],
            data,
            zero,
            ir.Constant(I32, _WRITEABLE),
            ir.Constant(POINTER, None),
        )
        with builder.if_then(builder.icmp_unsigned("!=", made, ir.Constant(POINTER, None)), likely=True):
            api.call("array_set_base", I32, made, base)
        return made


def build_call(context: Any, module: ir.Module, name: str, lowered: Lowered) -> None:
    """Write the function ``name`` that calls a kernel for one list of types; a brief one keeps the GIL."""
    descriptor = lowered.descriptor
    function = ir.Function(module, CALL, name)
    builder = ir.IRBuilder(function.append_basic_block("entry"))
    missed = function.append_basic_block("missed")
    with builder.goto_block(missed):
        builder.ret(builder.inttoptr(ir.Constant(I64, MISSED), POINTER))
    reader = Reader(context, builder, missed)
    things = [
        builder.load(builder.gep(function.args[0], [ir.Constant(I64, k)]))
        for k in range(len(descriptor.argtypes))
    ]
    values = [reader.read(kind, thing) for kind, thing in zip(descriptor.argtypes, things, strict=True)]
    callee = context.declare_function(module, descriptor)
    api = reader.api
    state = None if lowered.brief else api.call("PyEval_SaveThread", POINTER)
    before = memory.enter(builder) if may_fail(descriptor) else None
    with _exact_denormals(builder):
        status, result = context.call_conv.call_function(
            builder, callee, descriptor.restype, descriptor.argtypes, values
        )
    if before is not None:
        with builder.if_then(status.is_ok, likely=True):
            _keep_blocks(context, builder, descriptor.restype, result)
        memory.leave(builder, before)
    if state is not None:
        api.call("PyEval_RestoreThread", ir.VoidType(), state)
    with builder.if_then(status.is_error, likely=False):
        builder.ret(api.call("PyErr_NoMemory", POINTER))
    if descriptor.restype == types.none:
        result = None
    builder.ret(Writer(context, builder).write(descriptor.restype, result))


def _keep_blocks(context: Any, builder: Any, kind: Any, value: Any) -> None:
    """Note which of the kernel's blocks are returned."""
    if isinstance(kind, types.Array):
        memory.keep(builder, context.make_array(kind)(context, builder, value).meminfo)
    elif isinstance(kind, types.BaseTuple):
        for k, one in enumerate(kind):
            _keep_blocks(context, builder, one, builder.extract_value(value, k))


class _exact_denormals:  # noqa: N801 - reads as the statement that it is
    """Code between which denormals count, whatever the calling thread has set."""

    def __init__(self, builder: Any) -> None:
        self.builder = builder
        self._is_x86 = "x86_64" in str(builder.module.triple)

    def _register(self, verb: str, place: Any) -> None:
        module = self.builder.module
        function = cgutils.get_or_insert_function(
            module, ir.FunctionType(ir.VoidType(), [POINTER]), f"llvm.x86.sse.{verb}mxcsr"
        )
        self.builder.call(function, [self.builder.bitcast(place, POINTER)])

    def __enter__(self) -> None:
        if not self._is_x86:
            return
        builder = self.builder
        self._before = cgutils.alloca_once(builder, I32)
        self._during = cgutils.alloca_once(builder, I32)
        self._register("st", self._before)
        before = builder.load(self._before)
        flushes = builder.and_(before, ir.Constant(I32, _FLUSHING))
        self._flushes = builder.icmp_unsigned("!=", flushes, ir.Constant(I32, 0))
        with builder.if_then(self._flushes, likely=False):
            builder.store(builder.and_(before, ir.Constant(I32, ~_FLUSHING)), self._during)
            self._register("ld", self._during)

    def __exit__(self, *error: object) -> None:
        if self._is_x86:
            with self.builder.if_then(self._flushes, likely=False):
                self._register("ld", self._before)
