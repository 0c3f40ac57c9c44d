"""Tell the processor what will be read soon.

A box somewhere in a large array takes 100 ns to arrive, and a loop that needs it at once waits that long
in each turn.  Asked for some turns ahead, ten of them travel at the same time.
"""

from llvmlite import ir
from numba.core import cgutils, types
from numba.extending import intrinsic

from broadphase.kernels.machine.simd import twin

# So many turns of a short loop take as long as memory.
AHEAD = 16

_I32 = ir.IntType(32)
_TO_READ, _TO_KEEP, _DATA = 0, 3, 1


@intrinsic
def _prefetch(typingctx, array, row, column):
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


@twin(_prefetch)
def prefetch(array, row, column):
    """Ask for ``array[row, column]``, or with ``column = 0`` for ``array[row]``; any row may be asked for."""
