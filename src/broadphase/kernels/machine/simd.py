"""Vectors of `LANES` numbers that the processor handles at once.

Inside a kernel, `load` gives a vector, ``-``, ``|``, ``&``, ``<`` and ``<=`` work lane by lane, and a
comparison gives a mask of lanes.  LLVM turns each of them into one instruction (AVX-512) or into a few
(AVX2, NEON).  With Numba's JIT switched off the same source runs on NumPy slices: every function below
is plain Python, and `twin` puts its compiled form in its place where there is a compiler.
"""

import operator
from typing import Any

import llvmlite.binding as llvm
import numba
import numpy as np
from llvmlite import ir
from numba.core import cgutils, types
from numba.core.datamodel import models
from numba.core.typing.templates import AbstractTemplate, infer_global, signature
from numba.extending import intrinsic, lower_builtin, register_model


def _widest_register() -> str:
    """``"zmm"`` (AVX-512), ``"ymm"`` (AVX2) or ``""`` on the processor that Numba compiles for.

    That is the host or the one that NUMBA_CPU_NAME names.  LLVM does not tell Python what a processor
    can do, but it shows: it is given one 16-lane operation to compile, which takes about 4 ms.
    """
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    name, features = numba.config.CPU_NAME, numba.config.CPU_FEATURES
    if name in (None, "host"):
        name, features = llvm.get_host_cpu_name(), features or llvm.get_host_cpu_features().flatten()
    machine = llvm.Target.from_default_triple().create_target_machine(cpu=name, features=features or "")
    probe = llvm.parse_assembly(
        "define <16 x i32> @probe(<16 x i32> %a, <16 x i32> %b) {"
        " %sum = add <16 x i32> %a, %b  ret <16 x i32> %sum }"
    )
    assembly = machine.emit_assembly(probe)
    return next((register for register in ("zmm", "ymm") if register in assembly), "")


REGISTER = _widest_register()
LANES = 16 if REGISTER == "zmm" else 8

_I1, _I32, _I64, _BITS = ir.IntType(1), ir.IntType(32), ir.IntType(64), ir.IntType(LANES)


class Vector(types.Type):
    """`LANES` numbers of one type."""

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


def twin(compiled):
    """Put a compiled form in a plain function's place, unless the JIT is off.

    Intrinsics and not ``@overload``: Numba compiles every overload as a function of its own, which made
    the first sweep of a process take 6.3 s instead of 2.
    """
    return lambda plain: plain if numba.config.DISABLE_JIT else compiled


# --- from memory to lanes -----------------------------------------------------------------------------


def _address(context, builder, rows_type, rows, row, at, kind):
    """Where ``rows[row, at]`` lies, as a pointer to a vector of this kind."""
    array = context.make_array(rows_type)(context, builder, rows)
    width = rows_type.dtype.bitwidth // 8
    begin = builder.mul(row, builder.extract_value(array.strides, 0))
    begin = builder.add(begin, builder.mul(at, ir.Constant(_I64, width)))
    begin = builder.add(begin, builder.ptrtoint(array.data, _I64))
    return builder.inttoptr(begin, kind.as_pointer())


@intrinsic
def _load(typingctx, rows, row, at):
    vector = Vector(rows.dtype)
    width = rows.dtype.bitwidth // 8

    def codegen(context, builder, signature, args):
        begin = _address(context, builder, signature.args[0], *args, _llvm_type(vector))
        return builder.load(begin, align=width)

    return vector(rows, types.intp, types.intp), codegen


@twin(_load)
def load(rows, row, at):
    """``rows[row, at : at + LANES]`` of a C-contiguous 2-D array."""
    return rows[row, at : at + LANES]


@intrinsic
def _splat(typingctx, value):
    vector = Vector(value)

    def codegen(context, builder, signature, args):
        kind = _llvm_type(vector)
        one = builder.insert_element(ir.Constant(kind, ir.Undefined), args[0], ir.Constant(_I32, 0))
        zeros = ir.Constant(ir.VectorType(_I32, LANES), None)
        return builder.shuffle_vector(one, ir.Constant(kind, ir.Undefined), zeros)

    return vector(value), codegen


@twin(_splat)
def splat(value):
    """The same number in every lane."""
    return np.full(LANES, value)


# --- arithmetic and comparisons -----------------------------------------------------------------------


def _operator(symbol, result, build):
    """Let two vectors of one type meet in a Python operator."""

    @infer_global(symbol)
    class _Typing(AbstractTemplate):
        def generic(self, args, kws):
            if len(args) == 2 and isinstance(args[0], Vector) and args[0] == args[1]:
                return signature(result or args[0], *args)
            return None

    @lower_builtin(symbol, Vector, Vector)
    def lower(context, builder, signature, args):
        return build(builder, signature.args[0].dtype, *args)


_operator(
    operator.sub,
    None,
    lambda builder, dtype, a, b: builder.fsub(a, b) if dtype in _SIGNS else builder.sub(a, b),
)
_operator(operator.or_, None, lambda builder, dtype, a, b: builder.or_(a, b))
_operator(operator.and_, None, lambda builder, dtype, a, b: builder.and_(a, b))
_operator(operator.le, MASK, lambda builder, dtype, a, b: _compare(builder, dtype, "<=", a, b))
_operator(operator.lt, MASK, lambda builder, dtype, a, b: _compare(builder, dtype, "<", a, b))


def _compare(builder, dtype, how, a, b):
    return builder.fcmp_ordered(how, a, b) if dtype in _SIGNS else builder.icmp_signed(how, a, b)


@intrinsic
def _signs(typingctx, vector):
    integers = Vector(_SIGNS[vector.dtype])

    def codegen(context, builder, signature, args):
        return builder.bitcast(args[0], _llvm_type(integers))

    return integers(vector), codegen


@twin(_signs)
def signs(vector):
    """The bits of floats as integers: negative where the float's sign bit is set."""
    return vector.view(np.int32 if vector.dtype == np.float32 else np.int64)


@intrinsic
def _negative(typingctx, vector):
    def codegen(context, builder, signature, args):
        return builder.icmp_signed("<", args[0], ir.Constant(_llvm_type(vector), None))

    return MASK(vector), codegen


@twin(_negative)
def negative(vector):
    """Mask of the lanes whose integer is below zero."""
    return vector < 0


@intrinsic
def _nonzero(typingctx, vector):
    def codegen(context, builder, signature, args):
        return builder.icmp_signed("!=", args[0], ir.Constant(_llvm_type(vector), None))

    return MASK(vector), codegen


@twin(_nonzero)
def nonzero(vector):
    """Mask of the lanes whose integer is not zero."""
    return vector != 0


@intrinsic
def _without(typingctx, mask, other):
    def codegen(context, builder, signature, args):
        return builder.and_(args[0], builder.not_(args[1]))

    return MASK(mask, other), codegen


@twin(_without)
def without(mask, other):
    """The lanes of ``mask`` that are not in ``other``."""
    return mask & ~other


# --- masks and bits -----------------------------------------------------------------------------------


@intrinsic
def _bits(typingctx, mask):
    def codegen(context, builder, signature, args):
        return builder.zext(builder.bitcast(args[0], _BITS), _I64)

    return types.int64(mask), codegen


@twin(_bits)
def bits(mask):
    """The mask as an integer, lane 0 in its lowest bit."""
    return int(np.packbits(mask, bitorder="little").view(np.uint16 if LANES == 16 else np.uint8)[0])


@intrinsic
def _mask_of(typingctx, lanes):
    def codegen(context, builder, signature, args):
        return builder.bitcast(builder.trunc(args[0], _BITS), _llvm_type(MASK))

    return MASK(types.int64), codegen


@twin(_mask_of)
def mask_of(lanes):
    """The mask whose lanes are the set bits of an integer."""
    return (lanes >> np.arange(LANES)) & 1 != 0


@intrinsic
def _lowest_lane(typingctx, lanes):
    def codegen(context, builder, signature, args):
        return builder.cttz(args[0], ir.Constant(_I1, 1))

    return types.int64(types.int64), codegen


@twin(_lowest_lane)
def lowest_lane(lanes):
    """Index of the lowest set bit of an integer that is not zero."""
    return (int(lanes) & -int(lanes)).bit_length() - 1


@intrinsic
def _count_lanes(typingctx, lanes):
    def codegen(context, builder, signature, args):
        return builder.ctpop(args[0])

    return types.int64(types.int64), codegen


@twin(_count_lanes)
def count_lanes(lanes):
    """How many bits of an integer are set."""
    return int(lanes).bit_count()


# --- out of the lanes ---------------------------------------------------------------------------------


@intrinsic
def _put_pairs(typingctx, out, at, first, second, mask):
    def codegen(context, builder, signature, args):
        out, at, first, second, mask = args
        array = context.make_array(signature.args[0])(context, builder, out)
        target = builder.gep(array.data, [builder.shl(at, ir.Constant(_I64, 1))])
        first_is_low = builder.icmp_signed("<", first, second)
        low = _compress(builder, builder.select(first_is_low, first, second), mask)
        high = _compress(builder, builder.select(first_is_low, second, first), mask)
        rows = ir.VectorType(_I32, 2 * LANES)
        in_turn = [lane + half * LANES for lane in range(LANES) for half in (0, 1)]
        interleaved = builder.shuffle_vector(low, high, ir.Constant(rows, in_turn))
        builder.store(interleaved, builder.bitcast(target, rows.as_pointer()), align=4)
        return builder.zext(builder.ctpop(builder.bitcast(mask, _BITS)), _I64)

    return types.int64(out, types.intp, first, second, mask), codegen


@twin(_put_pairs)
def put_pairs(out, at, first, second, mask):
    """Write the pairs ``first, second`` of the lanes in ``mask`` to the rows from ``at``; how many.

    In each row the smaller id comes first.  All `LANES` rows from ``at`` are overwritten, so ``out``
    needs that much room; rows past the returned count hold nothing of use.
    """
    low, high = np.minimum(first, second)[mask], np.maximum(first, second)[mask]
    out[at : at + len(low), 0] = low
    out[at : at + len(low), 1] = high
    return len(low)


@intrinsic
def _store(typingctx, out, row, at, vector):
    def codegen(context, builder, signature, args):
        place = _address(context, builder, signature.args[0], *args[:3], args[3].type)
        builder.store(args[3], place, align=4)
        return context.get_dummy_value()

    return types.none(out, types.intp, types.intp, vector), codegen


@twin(_store)
def store(out, row, at, vector):
    """Write all lanes of a vector to ``out[row, at : at + LANES]``."""
    out[row, at : at + LANES] = vector


@intrinsic
def _put_lanes(typingctx, out, row, at, vector, mask):
    def codegen(context, builder, signature, args):
        vector, mask = args[3:]
        begin = _address(context, builder, signature.args[0], *args[:3], vector.type)
        builder.store(_compress(builder, vector, mask), begin, align=4)
        return builder.zext(builder.ctpop(builder.bitcast(mask, _BITS)), _I64)

    return types.int64(out, types.intp, types.intp, vector, mask), codegen


@twin(_put_lanes)
def put_lanes(out, row, at, vector, mask):
    """Write the int32 lanes in ``mask`` to ``out[row, at:]``, side by side; how many.

    As with `put_pairs`, `LANES` numbers from ``at`` are overwritten.
    """
    chosen = vector[mask]
    out[row, at : at + len(chosen)] = chosen
    return len(chosen)


def _compress(builder, vector, mask):
    """The lanes of the mask, moved together to the front.

    In a register and then stored whole: AVX-512's compress straight into memory is microcoded on Zen 4
    and costs 50 cycles and more there, the register form two.
    """
    kind = vector.type
    if REGISTER == "ymm":
        return _compress_by_table(builder, vector, mask)
    name = f"llvm.experimental.vector.compress.v{LANES}i32"
    function = cgutils.get_or_insert_function(
        builder.module, ir.FunctionType(kind, [kind, mask.type, kind]), name
    )
    return builder.call(function, [vector, mask, ir.Constant(kind, ir.Undefined)])


def _compress_by_table(builder, vector, mask):
    """AVX2 has no compress; a permutation looked up by the mask's eight bits does the same."""
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
    function = cgutils.get_or_insert_function(
        builder.module, ir.FunctionType(kind, [kind, kind]), "llvm.x86.avx2.permd"
    )
    return builder.call(function, [vector, order])
