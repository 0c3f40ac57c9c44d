"""What the functions of `scratch` are in compiled code: memory on the stack.

Only `broadphase.kernels.machine.intrinsics` imports this file.
"""

from collections.abc import Callable
from typing import Any

from llvmlite import ir
from numba.core import types
from numba.extending import intrinsic
from numba.np.arrayobj import populate_array

MOST, MOST_BYTES = 16, 2048  # as in `scratch`, which cannot be imported here
_I64 = ir.IntType(64)


def _on_the_stack(context: Any, builder: Any, array_type: Any, room: int, lengths: list[Any]) -> Any:
    """An array over memory that goes when the function returns it is written in.

    In the function's first block, whose memory is there once, however often a loop comes by.
    """
    dtype = context.get_data_type(array_type.dtype)
    width = context.get_abi_sizeof(dtype)
    with builder.goto_entry_block():
        place = builder.alloca(ir.ArrayType(dtype, _room(room, width)))
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


def _room(count: int, width: int) -> int:
    if count * width > MOST_BYTES:
        raise ValueError(f"{count} numbers of {width} bytes are too many for the stack")
    return count


def _known(value: Any) -> int | None:
    """The number, where it is a constant of the source."""
    constant = value.constant if isinstance(value, ir.Constant) else None
    return constant if isinstance(constant, int) else None


def _number(value: Any) -> int:
    known = _known(value)
    if known is None:
        raise ValueError("how many numbers lie on the stack has to stand in the source")
    return known


def _at_most_few(value: Any) -> int:
    known = _known(value)
    if known is not None and known > MOST:
        raise ValueError(f"{known} numbers are not few")
    return MOST if known is None else known


def _along_one_axis(dtype: Any, room: Callable[[Any], int]) -> Any:
    array = types.Array(dtype.dtype, 1, "C")

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return _on_the_stack(context, builder, array, room(args[0]), [args[0]])

    return array(types.intp, dtype), codegen


@intrinsic
def few(typingctx, count, dtype):
    return _along_one_axis(dtype, _at_most_few)


@intrinsic
def many(typingctx, count, dtype):
    return _along_one_axis(dtype, _number)


@intrinsic
def one_row(typingctx, columns, dtype):
    array = types.Array(dtype.dtype, 2, "C")

    def codegen(context, builder, signature, args):
        lengths = [ir.Constant(_I64, 1), args[0]]
        return _on_the_stack(context, builder, array, _at_most_few(args[0]), lengths)

    return array(types.intp, dtype), codegen


@intrinsic
def some_rows(typingctx, rows, columns, dtype):
    array = types.Array(dtype.dtype, 2, "C")

    def codegen(context, builder, signature, args):
        room = _number(args[0]) * _number(args[1])
        return _on_the_stack(context, builder, array, room, [args[0], args[1]])

    return array(types.intp, types.intp, dtype), codegen
