"""How Python calls a kernel: a builtin that looks at its arguments, reads them and makes the result.

For each kernel and each list of types there is a function ``PyObject *call(PyObject *const *args)``.  It
looks at every argument before anything is done: exact types, kinds of numbers, dimensions, layout.  What it
was not made for it answers with `MISSED`, and the next list of types is tried (`link`), at last Python.  The
looking itself is `shared` by all.

A call costs about 60 ns and 7 ns for each array, where Numba's own dispatcher takes 500 and more.
"""

from collections.abc import Iterator
from typing import Any

from llvmlite import ir
from numba.core import cgutils, types

from broadphase.kernels.compiler import memory, shared
from broadphase.kernels.compiler.aggregates import array_of
from broadphase.kernels.compiler.api import CALL, DOUBLE, I32, I64, MISSED, POINTER, Api
from broadphase.kernels.compiler.frontend import Lowered
from broadphase.kernels.compiler.lowering import may_fail

# The bits of the x86 control register that flush denormals to zero; the sign of a tiny difference would
# be lost with it, and other libraries leave them set in whatever thread calls.
_FLUSHING = 0x8040


class _Arguments:
    """Arguments into values of their types; one of another type leads to ``missed``."""

    def __init__(self, context: Any, builder: Any) -> None:
        self.context, self.builder = context, builder
        self.missed, self.raised = (builder.append_basic_block(name) for name in ("missed", "raised"))
        with builder.goto_block(self.missed):
            builder.ret(builder.inttoptr(ir.Constant(I64, MISSED), POINTER))
        with builder.goto_block(self.raised):
            builder.ret(ir.Constant(POINTER, None))

    def read(self, kind: Any, thing: Any) -> Any:
        """Look at an argument, and read it."""
        builder = self.builder
        if isinstance(kind, types.BaseTuple):
            items = shared.items(builder, thing, len(kind))
            self._demand(builder.icmp_unsigned("!=", items, ir.Constant(items.type, None)), self.missed)
            values = [self.read(one, builder.load(_at(builder, items, k))) for k, one in enumerate(kind)]
            return self.context.make_tuple(builder, kind, values)
        count = 2 + kind.ndim if isinstance(kind, types.Array) else 1
        with builder.goto_entry_block():
            words = builder.alloca(I64, size=count)
        status = shared.read(builder, kind, thing, words)
        self._look_at(status, not isinstance(kind, (types.Array, types.Boolean)))
        return self._value(kind, [builder.load(_at(builder, words, k)) for k in range(count)])

    def read_row(self, kind: Any, thing: Any, sizes: tuple[int, ...]) -> Any:
        """Look at a tuple of one of these lengths; an array over a copy of its numbers."""
        builder = self.builder
        with builder.goto_entry_block():
            words = builder.alloca(I64, size=1 + shared.LONGEST_ROW)
        self._look_at(shared.read_row(builder, thing, sizes, words), True)
        data = builder.ptrtoint(_at(builder, words, 1), I64)
        return self._array(kind, ir.Constant(I64, 0), data, builder.load(words))

    def _look_at(self, status: Any, may_raise: bool) -> None:
        builder = self.builder
        if may_raise:
            raised = builder.icmp_unsigned("==", status, ir.Constant(I32, shared.RAISED))
            self._demand(builder.not_(raised), self.raised)
        self._demand(builder.icmp_unsigned("==", status, ir.Constant(I32, shared.DONE)), self.missed)

    def _demand(self, condition: Any, otherwise: Any) -> None:
        onward = self.builder.append_basic_block()
        self.builder.cbranch(condition, onward, otherwise)
        self.builder.position_at_end(onward)

    def _value(self, kind: Any, words: list[Any]) -> Any:
        builder = self.builder
        if isinstance(kind, types.Array):
            return self._array(kind, *words)
        if kind == types.none:
            return self.context.get_dummy_value()
        if isinstance(kind, types.Boolean):
            return builder.trunc(words[0], ir.IntType(1))
        if isinstance(kind, types.Integer):
            return builder.trunc(words[0], ir.IntType(kind.bitwidth)) if kind.bitwidth < 64 else words[0]
        wide = builder.bitcast(words[0], DOUBLE)
        return builder.fptrunc(wide, ir.FloatType()) if kind.bitwidth == 32 else wide

    def _array(self, kind: Any, parent: Any, data: Any, *lengths: Any) -> Any:
        builder = self.builder
        model = self.context.data_model_manager[kind]
        element = model.get_value_type().elements[model.get_field_position("data")]
        return array_of(
            model,
            builder,
            meminfo=ir.Constant(POINTER, None),
            parent=builder.inttoptr(parent, POINTER),
            data=builder.inttoptr(data, element),
            shape=cgutils.pack_array(builder, lengths, I64),
        )


def _result(context: Any, builder: Any, kind: Any, value: Any) -> Any:
    """A new reference to the object that a result becomes."""
    if isinstance(kind, types.BaseTuple):
        objects = cgutils.alloca_once(builder, POINTER, size=max(1, len(kind)))
        for k, one in enumerate(kind):
            item = _result(context, builder, one, builder.extract_value(value, k))
            builder.store(item, _at(builder, objects, k))
        return shared.pack(builder, len(kind), objects)
    found = list(_words(context, builder, kind, value))
    words = cgutils.alloca_once(builder, I64, size=max(1, len(found)))
    for k, word in enumerate(found):
        builder.store(word, _at(builder, words, k))
    return shared.make(builder, kind, words)


def _words(context: Any, builder: Any, kind: Any, value: Any) -> Iterator[Any]:
    """What `shared` makes an object of."""
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


def _at(builder: Any, first: Any, number: int) -> Any:
    return builder.gep(first, [ir.Constant(I64, number)])


def build_call(context: Any, module: ir.Module, name: str, lowered: Lowered) -> None:
    """Write the function ``name`` that calls a kernel for one list of types; a brief one keeps the GIL."""
    descriptor = lowered.descriptor
    kinds = descriptor.argtypes
    function = ir.Function(module, CALL, name)
    builder = ir.IRBuilder(function.append_basic_block("entry"))
    api, arguments = Api(builder), _Arguments(context, builder)
    things = [builder.load(_at(builder, function.args[0], k)) for k in range(len(kinds))]
    values = [
        arguments.read_row(kind, thing, lowered.rows[k]) if k in lowered.rows else arguments.read(kind, thing)
        for k, (kind, thing) in enumerate(zip(kinds, things, strict=True))
    ]
    callee = context.declare_function(module, descriptor)
    state = None if lowered.brief else api.call("PyEval_SaveThread", POINTER)
    before = memory.enter(builder) if may_fail(descriptor) else None
    with _exact_denormals(builder):
        status, result = context.call_conv.call_function(builder, callee, descriptor.restype, kinds, values)
    if before is not None:
        with builder.if_then(status.is_ok, likely=True):
            _keep_blocks(context, builder, descriptor.restype, result)
        memory.leave(builder, before)
    if state is not None:
        api.call("PyEval_RestoreThread", ir.VoidType(), state)
    if before is not None:
        with builder.if_then(status.is_error, likely=False):
            builder.ret(api.call("PyErr_NoMemory", POINTER))
    builder.ret(_result(context, builder, descriptor.restype, result))


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
