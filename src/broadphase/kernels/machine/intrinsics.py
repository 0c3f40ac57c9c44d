"""The compiled forms of the functions of `simd`, `memory`, `floats`, `spin_wait`, `interrupts` and `objects`.

Only the compiler imports this file (`broadphase.kernels.machine.simd.twin`).  They are intrinsics and not
``@overload``: Numba compiles every overload as a function of its own.
"""

import math
import operator
from typing import Any

from llvmlite import ir
from numba.core import cgutils, types
from numba.core.datamodel import models
from numba.core.imputils import impl_ret_borrowed
from numba.core.typing.templates import AbstractTemplate, infer_global, signature
from numba.extending import intrinsic, lower_builtin, register_model
from numba.np.arrayobj import populate_array

from broadphase.kernels.machine.mode import lanes, level

LANES = lanes(level())
HAS_PERMD = level() == "x86-64-v3"  # AVX2 without AVX-512

_I1, _I32, _I64, _BITS = ir.IntType(1), ir.IntType(32), ir.IntType(64), ir.IntType(LANES)


class Vector(types.Type):
    """A vector of `LANES` numbers of one type."""

    def __init__(self, dtype: Any) -> None:
        self.dtype = dtype
        super().__init__(name=f"Vector({dtype} x {LANES})")


_ELEMENTS = {
    types.boolean: _I1,
    types.int32: _I32,
    types.int64: _I64,
    types.float32: ir.FloatType(),
    types.float64: ir.DoubleType(),
}
_SIGNS = {types.float32: types.int32, types.float64: types.int64}
MASK = Vector(types.boolean)


def _llvm_type(vector: Vector) -> ir.VectorType:
    return ir.VectorType(_ELEMENTS[vector.dtype], LANES)


@register_model(Vector)
class _VectorModel(models.PrimitiveModel):
    def __init__(self, manager, vector):
        super().__init__(manager, vector, _llvm_type(vector))


# --- from memory to lanes -----------------------------------------------------------------------------


def _address(context, builder, rows_type, rows, row, column, kind):
    """The address of ``rows[row, column]``, as a pointer to a vector of this kind."""
    array = context.make_array(rows_type)(context, builder, rows)
    width = rows_type.dtype.bitwidth // 8
    begin = builder.mul(row, builder.extract_value(array.strides, 0))
    begin = builder.add(begin, builder.mul(column, ir.Constant(_I64, width)))
    begin = builder.add(begin, builder.ptrtoint(array.data, _I64))
    return builder.inttoptr(begin, kind.as_pointer())


@intrinsic
def load(typingctx, rows, row, column):
    vector = Vector(rows.dtype)
    width = rows.dtype.bitwidth // 8

    def codegen(context, builder, signature, args):
        begin = _address(context, builder, signature.args[0], *args, _llvm_type(vector))
        return builder.load(begin, align=width)

    return vector(rows, types.intp, types.intp), codegen


@intrinsic
def splat(typingctx, value):
    vector = Vector(value)

    def codegen(context, builder, signature, args):
        return _splat(builder, args[0], _llvm_type(vector))

    return vector(value), codegen


def _splat(builder, value, kind):
    one = builder.insert_element(ir.Constant(kind, ir.Undefined), value, ir.Constant(_I32, 0))
    zeros = ir.Constant(ir.VectorType(_I32, LANES), None)
    return builder.shuffle_vector(one, ir.Constant(kind, ir.Undefined), zeros)


# --- arithmetic and comparisons -----------------------------------------------------------------------


def _operator(symbol, result, build):
    """Define a Python operator for two vectors of one type."""

    @infer_global(symbol)
    class _Typing(AbstractTemplate):
        def generic(self, args, kws):
            if len(args) == 2 and isinstance(args[0], Vector) and args[0] == args[1]:
                return signature(result or args[0], *args)
            return None

    @lower_builtin(symbol, Vector, Vector)
    def lower(context, builder, signature, args):
        return build(builder, signature.args[0].dtype, *args)


_operator(operator.add, None, lambda builder, dtype, a, b: builder.fadd(a, b))
_operator(operator.sub, None, lambda builder, dtype, a, b: _subtract(builder, dtype, a, b))
_operator(operator.mul, None, lambda builder, dtype, a, b: builder.fmul(a, b))
_operator(operator.truediv, None, lambda builder, dtype, a, b: builder.fdiv(a, b))
_operator(operator.or_, None, lambda builder, dtype, a, b: builder.or_(a, b))
_operator(operator.and_, None, lambda builder, dtype, a, b: builder.and_(a, b))
_operator(operator.le, MASK, lambda builder, dtype, a, b: _compare(builder, dtype, "<=", a, b))
_operator(operator.lt, MASK, lambda builder, dtype, a, b: _compare(builder, dtype, "<", a, b))


def _subtract(builder, dtype, a, b):
    return builder.fsub(a, b) if dtype in _SIGNS else builder.sub(a, b)


def _compare(builder, dtype, how, a, b):
    return builder.fcmp_ordered(how, a, b) if dtype in _SIGNS else builder.icmp_signed(how, a, b)


@intrinsic
def larger(typingctx, vector, other):
    return vector(vector, other), _choose(">")


@intrinsic
def smaller(typingctx, vector, other):
    return vector(vector, other), _choose("<")


def _choose(how):
    def codegen(context, builder, signature, args):
        return builder.select(builder.fcmp_ordered(how, *args), *args)

    return codegen


@intrinsic
def root(typingctx, vector):
    return vector(vector), _of_each("sqrt")


@intrinsic
def absolute(typingctx, vector):
    return vector(vector), _of_each("fabs")


def _of_each(name):
    def codegen(context, builder, signature, args):
        kind = signature.args[0]
        function = f"llvm.{name}.v{LANES}f{kind.dtype.bitwidth}"
        return _call(builder, function, _llvm_type(kind), *args)

    return codegen


@intrinsic
def signs(typingctx, vector):
    integers = Vector(_SIGNS[vector.dtype])

    def codegen(context, builder, signature, args):
        return builder.bitcast(args[0], _llvm_type(integers))

    return integers(vector), codegen


@intrinsic
def negative(typingctx, vector):
    return MASK(vector), _against_zero("<")


@intrinsic
def nonzero(typingctx, vector):
    return MASK(vector), _against_zero("!=")


def _against_zero(how):
    def codegen(context, builder, signature, args):
        return builder.icmp_signed(how, args[0], ir.Constant(args[0].type, None))

    return codegen


@intrinsic
def without(typingctx, mask, other):
    def codegen(context, builder, signature, args):
        return builder.and_(args[0], builder.not_(args[1]))

    return MASK(mask, other), codegen


@intrinsic
def select(typingctx, mask, vector, other):
    def codegen(context, builder, signature, args):
        return builder.select(*args)

    return vector(mask, vector, other), codegen


# --- masks and bits -----------------------------------------------------------------------------------


@intrinsic
def bits(typingctx, mask):
    def codegen(context, builder, signature, args):
        return builder.zext(builder.bitcast(args[0], _BITS), _I64)

    return types.int64(mask), codegen


@intrinsic
def mask_of(typingctx, lanes):
    def codegen(context, builder, signature, args):
        return builder.bitcast(builder.trunc(args[0], _BITS), _llvm_type(MASK))

    return MASK(types.int64), codegen


@intrinsic
def lowest_lane(typingctx, lanes):
    def codegen(context, builder, signature, args):
        return builder.cttz(args[0], ir.Constant(_I1, 1))

    return types.int64(types.int64), codegen


@intrinsic
def count_lanes(typingctx, lanes):
    def codegen(context, builder, signature, args):
        return builder.ctpop(args[0])

    return types.int64(types.int64), codegen


# --- out of the lanes ---------------------------------------------------------------------------------


@intrinsic
def smallest(typingctx, vector):
    def codegen(context, builder, signature, args):  # as integers, which are in the same order
        words = builder.bitcast(args[0], ir.VectorType(_I32, LANES))
        least = _call(builder, f"llvm.vector.reduce.umin.v{LANES}i32", _I32, words)
        return builder.bitcast(least, ir.FloatType())

    return types.float32(vector), codegen


@intrinsic
def put_pairs(typingctx, out, first_row, first, second, mask):
    def codegen(context, builder, signature, args):
        out, first_row, first, second, mask = args
        first_is_low = builder.icmp_signed("<", first, second)
        low = _compress(builder, builder.select(first_is_low, first, second), mask)
        high = _compress(builder, builder.select(first_is_low, second, first), mask)
        _put_in_turn(context, builder, signature.args[0], out, first_row, low, high)
        return builder.zext(builder.ctpop(builder.bitcast(mask, _BITS)), _I64)

    return types.int64(out, types.intp, first, second, mask), codegen


def _put_in_turn(context, builder, out_type, out, first_row, first, second):
    """Interleave the lanes of both vectors and write them as rows from ``first_row`` on."""
    target = context.make_array(out_type)(context, builder, out).data
    place = builder.gep(target, [builder.shl(first_row, ir.Constant(_I64, 1))])
    rows = ir.VectorType(_I32, 2 * LANES)
    in_turn = [lane + half * LANES for lane in range(LANES) for half in (0, 1)]
    interleaved = builder.shuffle_vector(first, second, ir.Constant(rows, in_turn))
    builder.store(interleaved, builder.bitcast(place, rows.as_pointer()), align=4)


@intrinsic
def store(typingctx, out, row, column, vector):
    def codegen(context, builder, signature, args):
        place = _address(context, builder, signature.args[0], *args[:3], args[3].type)
        builder.store(args[3], place, align=4)
        return context.get_dummy_value()

    return types.none(out, types.intp, types.intp, vector), codegen


@intrinsic
def put_lanes(typingctx, out, row, column, vector, mask):
    def codegen(context, builder, signature, args):
        vector, mask = args[3:]
        begin = _address(context, builder, signature.args[0], *args[:3], vector.type)
        builder.store(_compress(builder, vector, mask), begin, align=4)
        return builder.zext(builder.ctpop(builder.bitcast(mask, _BITS)), _I64)

    return types.int64(out, types.intp, types.intp, vector, mask), codegen


@intrinsic
def put_floats(typingctx, out, row, column, vector, mask):
    words = ir.VectorType(_I32, LANES)

    def put(context, builder, out_type, place, vector, mask):
        begin = _address(context, builder, out_type, *place, words)
        builder.store(_compress(builder, builder.bitcast(vector, words), mask), begin, align=4)
        return builder.zext(builder.ctpop(builder.bitcast(mask, _BITS)), _I64)

    def codegen(context, builder, signature, args):
        out, row, column, floats, mask = args
        if vector.dtype == types.float32:
            return put(context, builder, signature.args[0], (out, row, column), floats, mask)
        # Half of the doubles fill a register; each is moved as two words with one bit of the mask.
        total = ir.Constant(_I64, 0)
        for half in range(2):
            lanes = list(range(half * LANES // 2, (half + 1) * LANES // 2))
            half_lanes = ir.Constant(ir.VectorType(_I32, len(lanes)), lanes)
            doubles = builder.shuffle_vector(floats, floats, half_lanes)
            twice = ir.Constant(words, [lane for lane in lanes for _ in range(2)])
            wide = builder.shuffle_vector(mask, mask, twice)
            place = out, row, builder.add(column, total)
            count = put(context, builder, signature.args[0], place, doubles, wide)
            total = builder.add(total, builder.lshr(count, ir.Constant(_I64, 1)))
        return total

    return types.int64(out, types.intp, types.intp, vector, mask), codegen


def _compress(builder, vector, mask):
    """Move the lanes of the mask together to the front.

    This happens in a register, which is then stored whole: AVX-512's compress to memory is microcoded on
    Zen 4 and costs 50 cycles and more there, the register form two.
    """
    kind = vector.type
    if HAS_PERMD:
        return _compress_by_table(builder, vector, mask)
    name = f"llvm.experimental.vector.compress.v{LANES}i32"
    return _call(builder, name, kind, vector, mask, ir.Constant(kind, ir.Undefined))


def _call(builder, name, result, *arguments):
    kind = ir.FunctionType(result, [argument.type for argument in arguments])
    return builder.call(cgutils.get_or_insert_function(builder.module, kind, name), arguments)


def _compress_by_table(builder, vector, mask):
    """The same for AVX2, which has no compress: a permutation looked up by the mask's eight bits."""
    kind = vector.type
    name = "broadphase.compress_table"
    table = builder.module.globals.get(name)
    if table is None:
        orders = [[lane for lane in range(LANES) if bits >> lane & 1] for bits in range(2**LANES)]
        rows = [ir.Constant(kind, order + [0] * (LANES - len(order))) for order in orders]
        table = ir.GlobalVariable(builder.module, ir.ArrayType(kind, len(rows)), name)
        table.linkage = "internal"
        table.global_constant = True
        table.initializer = ir.Constant(table.value_type, rows)
    index = builder.zext(builder.bitcast(mask, _BITS), _I64)
    order = builder.load(builder.gep(table, [ir.Constant(_I64, 0), index]), align=4)
    return _call(builder, "llvm.x86.avx2.permd", kind, vector, order)


# --- spin_wait ---


@intrinsic
def look(typingctx, words, position):
    def codegen(context, builder, signature, args):
        place = _word(context, builder, signature.args[0], *args)
        return builder.load_atomic(place, ordering="acquire", align=8)

    return types.int64(words, types.intp), codegen


@intrinsic
def ring(typingctx, words, position):
    def codegen(context, builder, signature, args):
        place = _word(context, builder, signature.args[0], *args)
        builder.atomic_rmw("add", place, ir.Constant(_I64, 1), "release")
        return context.get_dummy_value()

    return types.none(words, types.intp), codegen


def _word(context, builder, words_type, words, position):
    return builder.gep(context.make_array(words_type)(context, builder, words).data, [position])


@intrinsic
def give_way(typingctx):
    def codegen(context, builder, signature, args):
        if "wasm" in str(builder.module.triple):
            return context.get_dummy_value()  # there is one thread
        name, result = "sched_yield", _I32
        if "windows" in str(builder.module.triple):  # `broadphase.compiler.python_api` defines it there
            name, result = "broadphase_give_way", ir.VoidType()
        _call(builder, name, result)
        return context.get_dummy_value()

    return types.none(), codegen


@intrinsic
def goes_on(typingctx):
    def codegen(context, builder, signature, args):
        return builder.icmp_unsigned("!=", _call(builder, "broadphase_goes_on", _I32), ir.Constant(_I32, 0))

    return types.boolean(), codegen


# --- floats ---


@intrinsic
def next_down(typingctx, value):
    """Step the bits: toward zero for positive numbers, away from it for negative ones."""
    bits = {types.float32: 32, types.float64: 64}[value]

    def codegen(context, builder, signature, args):
        integer = ir.IntType(bits)
        raw = builder.bitcast(builder.fadd(args[0], ir.Constant(args[0].type, 0.0)), integer)
        is_negative = builder.icmp_signed("<", raw, ir.Constant(integer, 0))
        step = builder.select(is_negative, ir.Constant(integer, 1), ir.Constant(integer, -1))
        below_zero = ir.Constant(integer, (1 << (bits - 1)) + 1)
        is_zero = builder.icmp_signed("==", raw, ir.Constant(integer, 0))
        return builder.bitcast(builder.select(is_zero, below_zero, builder.add(raw, step)), args[0].type)

    return value(value), codegen


# --- rows in memory ------------------------------------------------------------------------------------

_TO_READ, _TO_KEEP, _DATA = 0, 3, 1


@intrinsic
def prefetch(typingctx, array, row, column):
    def codegen(context, builder, signature, args):
        view = context.make_array(signature.args[0])(context, builder, args[0])
        row_of, column_of = builder.mul(args[1], builder.extract_value(view.strides, 0)), args[2]
        if signature.args[0].ndim == 2:
            column_of = builder.mul(column_of, builder.extract_value(view.strides, 1))
        address = builder.add(builder.ptrtoint(view.data, row_of.type), builder.add(row_of, column_of))
        place = builder.inttoptr(address, ir.IntType(8).as_pointer())
        how = [ir.Constant(_I32, value) for value in (_TO_READ, _TO_KEEP, _DATA)]
        _call(builder, "llvm.prefetch.p0i8", ir.VoidType(), place, *how)
        return context.get_dummy_value()

    return types.none(array, types.intp, types.intp), codegen


@intrinsic
def with_columns(typingctx, rows, columns):
    def codegen(context, builder, signature, args):
        view = context.make_array(signature.args[0])(context, builder, args[0])
        width = ir.Constant(_I64, rows.dtype.bitwidth // 8)
        count = builder.mul(builder.extract_value(view.shape, 0), builder.extract_value(view.shape, 1))
        view.shape = cgutils.pack_array(builder, [builder.udiv(count, args[1]), args[1]], _I64)
        view.strides = cgutils.pack_array(builder, [builder.mul(args[1], width), width], _I64)
        return impl_ret_borrowed(context, builder, rows, view._getvalue())

    return rows(rows, types.intp), codegen


@intrinsic
def bits_of(typingctx, floats):
    kind = types.int32 if floats.dtype == types.float32 else types.int64
    array = types.Array(kind, floats.ndim, "C")

    def codegen(context, builder, signature, args):
        given = context.make_array(signature.args[0])(context, builder, args[0])
        made = context.make_array(array)(context, builder)
        populate_array(
            made,
            data=builder.bitcast(given.data, context.get_data_type(kind).as_pointer()),
            shape=given.shape,
            strides=given.strides,
            itemsize=given.itemsize,
            meminfo=given.meminfo,
            parent=given.parent,
        )
        return impl_ret_borrowed(context, builder, array, made._getvalue())

    return array(floats), codegen


# --- memory on the stack --------------------------------------------------------------------------------

MOST, MOST_BYTES = 16, 2048  # as in `scratch`, which cannot be imported here

_CACHE_LINE = 64


def _on_the_stack(context: Any, builder: Any, array_type: Any, length: int, lengths: list[Any]) -> Any:
    """An array over stack memory, which is released when the function that contains the call returns.

    The memory is reserved in the function's first block, so a call in a loop reserves it only once.
    """
    dtype = context.get_data_type(array_type.dtype)
    width = context.get_abi_sizeof(dtype)
    with builder.goto_entry_block():
        place = builder.alloca(ir.ArrayType(dtype, _length(length, width)))
        place.align = _CACHE_LINE  # else a store of a vector may lie on two lines, and loads wait for both
    array = context.make_array(array_type)(context, builder)
    strides = [ir.Constant(_I64, width)]
    if len(lengths) == 2:
        strides.insert(0, builder.mul(lengths[1], strides[0]))
    populate_array(
        array,
        data=builder.bitcast(place, dtype.as_pointer()),
        shape=lengths,
        strides=strides,
        itemsize=ir.Constant(_I64, width),
        meminfo=None,
    )
    return array._getvalue()


def _length(count: int, width: int) -> int:
    if count * width > MOST_BYTES:
        raise ValueError(f"{count} numbers of {width} bytes are too many for the stack")
    return count


def _reserved(length: Any, are_few: bool) -> int:
    """How many numbers to reserve for a length: itself if it is a constant in the source."""
    constant = length.constant if isinstance(length, ir.Constant) else None
    if isinstance(constant, int):
        if are_few and constant > MOST:
            raise ValueError(f"{constant} numbers are not few")
        return constant
    if not are_few:
        raise ValueError("how many numbers lie on the stack has to stand in the source")
    return MOST


def _array(dtype: Any, dimensions: int, given: int, are_few: bool) -> Any:
    """The form of a function that makes an array; the first of its lengths is 1 if it is not given."""
    array = types.Array(dtype.dtype, dimensions, "C")

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        lengths = list(args[:given])
        reserved = math.prod(_reserved(length, are_few) for length in lengths)
        if given < dimensions:
            lengths.insert(0, ir.Constant(_I64, 1))
        return _on_the_stack(context, builder, array, reserved, lengths)

    return array(*[types.intp] * given, dtype), codegen


@intrinsic
def few(typingctx, count, dtype):
    return _array(dtype, 1, 1, True)


@intrinsic
def many(typingctx, count, dtype):
    return _array(dtype, 1, 1, False)


@intrinsic
def one_row(typingctx, columns, dtype):
    return _array(dtype, 2, 1, True)


@intrinsic
def some_rows(typingctx, rows, columns, dtype):
    return _array(dtype, 2, 2, False)


# --- objects ---------------------------------------------------------------------------------------------

_OBJECT = types.voidptr


def _of_library(name, result, kind, *arguments):
    """A call of a function that every library has (`broadphase.compiler.builtins`)."""

    def codegen(context, builder, signature, args):
        return _call(builder, f"broadphase_{name}", kind, *args)

    return result(*arguments), codegen


@intrinsic
def length_of(typingctx, sequence):
    return _of_library("length_of", types.int64, _I64, _OBJECT)


@intrinsic
def item(typingctx, sequence, k):
    return _of_library("item", _OBJECT, ir.IntType(8).as_pointer(), _OBJECT, types.int64)


@intrinsic
def attribute(typingctx, thing, name):
    return _of_library("attribute", _OBJECT, ir.IntType(8).as_pointer(), _OBJECT, _OBJECT)


@intrinsic
def number_of(typingctx, thing):
    return _of_library("number_of", types.float64, ir.DoubleType(), _OBJECT)


@intrinsic
def number_at(typingctx, sequence, k):
    return _of_library("number_at", types.float64, ir.DoubleType(), _OBJECT, types.int64)


@intrinsic
def is_alike(typingctx, thing, other):
    return _of_library("is_alike", types.boolean, ir.IntType(1), _OBJECT, _OBJECT)


@intrinsic
def is_there(typingctx, thing):
    def codegen(context, builder, signature, args):
        return cgutils.is_not_null(builder, args[0])

    return types.boolean(_OBJECT), codegen


@intrinsic
def is_same(typingctx, thing, other):
    def codegen(context, builder, signature, args):
        return builder.icmp_unsigned("==", *args)

    return types.boolean(_OBJECT, _OBJECT), codegen


@intrinsic
def drop(typingctx, thing):
    def codegen(context, builder, signature, args):
        _call(builder, "broadphase_drop", ir.VoidType(), args[0])
        return context.get_dummy_value()

    return types.none(_OBJECT), codegen


@intrinsic
def append(typingctx, things, thing):
    return _of_library("append", types.int32, _I32, _OBJECT, _OBJECT)
