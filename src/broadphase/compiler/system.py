"""Functions of the C library and the operating system, for Windows, through the table of the interpreter.

Kernels yield the processor, and LLVM turns loops that copy into calls of ``memcpy``.  On Linux and macOS the
loader resolves these functions.  A library for Windows is linked without any C library, so this module
defines them, and also ``_fltused``, which LLVM's code for Windows refers to wherever it uses floats.
"""

from typing import Any

from llvmlite import ir

from broadphase.compiler.python_api import I32, I64, POINTER, Api

GIVE_WAY = "broadphase_give_way"
_COPIES = {"memcpy": "memmove", "memmove": "memmove", "memset": "memset"}
NAMES = (GIVE_WAY, "_fltused", *_COPIES)


def define(module: ir.Module) -> None:
    """Write the functions themselves."""
    function = ir.Function(module, ir.FunctionType(ir.VoidType(), []), GIVE_WAY)
    builder = ir.IRBuilder(function.append_basic_block("entry"))
    Api(builder).call("give_way", I32)
    builder.ret_void()
    for name, called in _COPIES.items():
        what = I32 if called == "memset" else POINTER
        _forward(ir.Function(module, ir.FunctionType(POINTER, [POINTER, what, I64]), name), called)
    floats = ir.GlobalVariable(module, I32, "_fltused")
    floats.initializer = ir.Constant(I32, 0x9875)


def _forward(function: Any, called: str) -> None:
    """Call a function of the table; LLVM must not recognise it as memcpy, which would then call itself."""
    function.attributes.add("noinline")
    builder = ir.IRBuilder(function.append_basic_block("entry"))
    builder.ret(Api(builder).call(called, POINTER, *function.args))
