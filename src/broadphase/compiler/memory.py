"""Memory that kernels allocate: a small replacement for Numba's runtime.

Kernels allocate the arrays that they return and scratch.  Numba counts references to each block.  Here, a
block is freed when the call that allocated it ends, unless it is returned: a kernel that allocates in a loop
keeps all of it until then.
The blocks of a call form a linked list, whose head is thread-local.

::

    head -> block: returned, next, -, data, size, -   then the data, aligned
"""

from typing import Any

from llvmlite import ir
from numba.core import cgutils

from broadphase.compiler.python_api import I32, I64, POINTER, SIZE, Api, table

_HEAD = 64  # bytes
_RETURNED, _NEXT, _DATA = 0, 1, 3
ALLOCATORS = ("NRT_MemInfo_alloc_safe_aligned", "NRT_MemInfo_alloc_aligned")
NAMES = (*ALLOCATORS, "broadphase_leave", "broadphase_release")
_LEAVE = ir.FunctionType(ir.VoidType(), [POINTER])


def enter(builder: Any) -> Any:
    """Begin a list of blocks; returns the previous list, because calls may be nested."""
    return _change_list(builder, ir.Constant(POINTER, None))


def keep(builder: Any, block: Any) -> None:
    """Count an array that is returned; several may share a block, or use no block of the kernel."""
    with builder.if_then(cgutils.is_not_null(builder, block)):
        place = _word(builder, block, _RETURNED)
        builder.store(builder.add(builder.load(place), ir.Constant(I64, 1)), place)


def leave(builder: Any, before: Any) -> None:
    """Free the blocks that are not returned."""
    builder.call(cgutils.get_or_insert_function(builder.module, _LEAVE, "broadphase_leave"), [before])


def data_of(builder: Any, block: Any) -> Any:
    """The address of a block's data."""
    return builder.inttoptr(builder.load(_word(builder, block, _DATA)), POINTER)


def define(module: ir.Module) -> None:
    """Write the functions themselves."""
    for name in ALLOCATORS:
        _define_allocator(module, name)
    _define_leave(module)
    _define_release(module)


def _word(builder: Any, block: Any, number: int) -> Any:
    return builder.gep(builder.bitcast(block, I64.as_pointer()), [ir.Constant(I64, number)])


def _key(builder: Any) -> Any:
    return builder.bitcast(table(builder.module, "broadphase_key"), POINTER)


def _change_list(builder: Any, first: Any) -> Any:
    """Let this thread's list of blocks begin with another block; returns the one that it began with."""
    api, key = Api(builder), _key(builder)
    before = api.call("PyThread_tss_get", POINTER, key)
    api.call("PyThread_tss_set", I32, key, first)
    return before


def _define_allocator(module: ir.Module, name: str) -> None:
    allocate = ir.Function(module, ir.FunctionType(POINTER, [I64, I32]), name)
    builder = ir.IRBuilder(allocate.append_basic_block("entry"))
    api = Api(builder)
    size, alignment = allocate.args
    wide = builder.zext(alignment, I64)
    whole = builder.add(builder.add(size, wide), ir.Constant(I64, _HEAD))
    most = ir.Constant(I64, 2**SIZE.width - 1)  # which is always refused
    whole = builder.select(builder.icmp_unsigned(">", whole, most), most, whole)
    block = api.call("PyMem_RawMalloc", POINTER, api.size(whole))
    with builder.if_then(cgutils.is_null(builder, block), likely=False):
        builder.ret(block)
    address = builder.add(builder.ptrtoint(block, I64), ir.Constant(I64, _HEAD))
    slack = builder.urem(address, wide)
    aligned = builder.icmp_unsigned("==", slack, ir.Constant(I64, 0))
    gap = builder.select(aligned, slack, builder.sub(wide, slack))
    key = _key(builder)
    following = builder.ptrtoint(api.call("PyThread_tss_get", POINTER, key), I64)
    zero = ir.Constant(I64, 0)
    for number, value in enumerate((zero, following, zero, builder.add(address, gap), size, zero)):
        builder.store(value, _word(builder, block, number))
    api.call("PyThread_tss_set", I32, key, block)
    builder.ret(block)


def _define_leave(module: ir.Module) -> None:
    """``broadphase_leave(before)``: frees the blocks of the list and restores the previous list."""
    function = ir.Function(module, _LEAVE, "broadphase_leave")
    builder = ir.IRBuilder(function.append_basic_block("entry"))
    api = Api(builder)
    first = _change_list(builder, function.args[0])
    entry_block = builder.block
    look, free, end = (function.append_basic_block(name) for name in ("look", "free", "end"))
    builder.branch(look)
    builder.position_at_end(look)
    block = builder.phi(POINTER)
    block.add_incoming(first, entry_block)
    builder.cbranch(cgutils.is_null(builder, block), end, free)
    builder.position_at_end(free)
    following = builder.inttoptr(builder.load(_word(builder, block, _NEXT)), POINTER)
    returned = builder.load(_word(builder, block, _RETURNED))
    with builder.if_then(builder.icmp_unsigned("==", returned, ir.Constant(I64, 0))):
        api.call("PyMem_RawFree", ir.VoidType(), block)
    block.add_incoming(following, builder.block)
    builder.branch(look)
    builder.position_at_end(end)
    builder.ret_void()


def _define_release(module: ir.Module) -> None:
    """``broadphase_release(capsule)``: frees a block when the last array over it is gone."""
    release = ir.Function(module, _LEAVE, "broadphase_release")
    builder = ir.IRBuilder(release.append_basic_block("entry"))
    api = Api(builder)
    block = api.call("PyCapsule_GetPointer", POINTER, release.args[0], ir.Constant(POINTER, None))
    before = builder.atomic_rmw("sub", _word(builder, block, _RETURNED), ir.Constant(I64, 1), "acq_rel")
    with builder.if_then(builder.icmp_signed("==", before, ir.Constant(I64, 1))):
        api.call("PyMem_RawFree", ir.VoidType(), block)
    builder.ret_void()
