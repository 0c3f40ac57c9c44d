"""What the functions of `prefetch` and `columns` are in compiled code: where rows lie in memory.

Only `broadphase.kernels.machine.intrinsics` imports this file.
"""

from llvmlite import ir
from numba.core import cgutils, types
from numba.extending import intrinsic

_I32, _I64 = ir.IntType(32), ir.IntType(64)

_TO_READ, _TO_KEEP, _DATA = 0, 3, 1


@intrinsic
def prefetch(typingctx, array, row, column):
    def codegen(context, builder, signature, args):
        view = context.make_array(signature.args[0])(context, builder, args[0])
        row_of, column_of = builder.mul(args[1], builder.extract_value(view.strides, 0)), args[2]
        if signature.args[0].ndim == 2:
            column_of = builder.mul(column_of, builder.extract_value(view.strides, 1))
        address = builder.add(builder.ptrtoint(view.data, row_of.type), builder.add(row_of, column_of))
        bytes_at = ir.IntType(8).as_pointer()
        function = cgutils.get_or_insert_function(
            builder.module,
            ir.FunctionType(ir.VoidType(), [bytes_at, _I32, _I32, _I32]),
            "llvm.prefetch.p0i8",
        )
        how = [ir.Constant(_I32, value) for value in (_TO_READ, _TO_KEEP, _DATA)]
        builder.call(function, [builder.inttoptr(address, bytes_at), *how])
        return context.get_dummy_value()

    return types.none(array, types.intp, types.intp), codegen


@intrinsic
def with_columns(typingctx, rows, columns):
    def codegen(context, builder, signature, args):
        view = context.make_array(signature.args[0])(context, builder, args[0])
        width = ir.Constant(_I64, rows.dtype.bitwidth // 8)
        view.shape = cgutils.pack_array(builder, [builder.extract_value(view.shape, 0), args[1]], _I64)
        view.strides = cgutils.pack_array(builder, [builder.mul(args[1], width), width], _I64)
        return view._getvalue()

    return rows(rows, types.intp), codegen
