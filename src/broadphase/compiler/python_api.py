"""Emits calls of the interpreter's functions and reads of its objects; and for Windows, functions of C.

Kernels yield the processor, and LLVM turns loops that copy into calls of ``memcpy``.  On Linux and macOS the
loader resolves these functions.  A library for Windows is linked without any C library, so this module
defines them (`define`) through the table of the interpreter, and also ``_fltused``, which LLVM's code for
Windows refers to wherever it uses floats.
"""

from typing import Any

from llvmlite import ir

from broadphase.compiler import layout
from broadphase.kernels.machine.python_api import KEY_SIZE, KIND_NUMBERS, POSITION

I8, I32, I64, DOUBLE = ir.IntType(8), ir.IntType(32), ir.IntType(64), ir.DoubleType()
SIZE = ir.IntType(8 * layout.ADDRESS)
"""``Py_ssize_t``, ``size_t`` and ``npy_intp``; WebAssembly checks the types of each call."""
POINTER = I8.as_pointer()
OBJECTS = POINTER.as_pointer()
CALL = ir.FunctionType(POINTER, [OBJECTS])
MISSED = ir.Constant(I64, 1).inttoptr(POINTER)
"""An address that no object has; it means that the arguments have other types."""

GIVE_WAY = "broadphase_give_way"
_COPIES = {"memcpy": "memmove", "memmove": "memmove", "memset": "memset"}
NAMES = (GIVE_WAY, "_fltused", *_COPIES)


TABLES = {
    "broadphase_api": ir.ArrayType(I64, len(POSITION)),
    "broadphase_kinds": ir.ArrayType(I8, KIND_NUMBERS),
    "broadphase_key": ir.ArrayType(I8, KEY_SIZE),
}
"""The tables of `broadphase.kernels.machine.python_api`, and the key of the thread-local number."""


def table(module: ir.Module, name: str) -> ir.GlobalVariable:
    """One of the `TABLES`: all kernels of a library share them."""
    if name not in module.globals:
        ir.GlobalVariable(module, TABLES[name], name)
    return module.globals[name]


class Api:
    """The interpreter's functions and objects, for use in emitted code."""

    def __init__(self, builder: Any) -> None:
        self.builder = builder
        self._api = table(builder.module, "broadphase_api")
        self._kinds = table(builder.module, "broadphase_kinds")

    def number(self, name: str) -> Any:
        """An entry of the table."""
        zero = ir.Constant(I32, 0)
        pointer = self.builder.gep(self._api, [zero, ir.Constant(I32, POSITION[name])])
        return self.builder.load(pointer)

    def object(self, name: str) -> Any:
        """An entry as the address of an object."""
        return self.builder.inttoptr(self.number(name), POINTER)

    def call(self, name: str, result: Any, *arguments: Any) -> Any:
        """Call a function of the interpreter."""
        kind = ir.FunctionType(result, [argument.type for argument in arguments]).as_pointer()
        return self.builder.call(self.builder.inttoptr(self.number(name), kind), arguments)

    def vectorcall(self, function: Any, arguments: Any, count: Any) -> Any:
        """Call an object with an array of arguments."""
        nothing = ir.Constant(POINTER, None)
        return self.call("PyObject_Vectorcall", POINTER, function, arguments, self.size(count), nothing)

    def size(self, value: Any) -> Any:
        """A 64-bit number as the interpreter's functions take it."""
        return value if value.type == SIZE else self.builder.trunc(value, SIZE)

    def wide(self, value: Any) -> Any:
        """A size of the interpreter as a 64-bit number."""
        return value if value.type == I64 else self.builder.sext(value, I64)

    def kind_of_type_number(self, number: Any) -> Any:
        """Its position in `KINDS` plus one."""
        zero = ir.Constant(I32, 0)
        return self.builder.load(self.builder.gep(self._kinds, [zero, number]))

    def field(self, value: Any, offset: int, kind: Any) -> Any:
        """A field after the header of an object."""
        head = self.builder.add(self.number("object_size"), ir.Constant(I64, offset))
        return self.at(value, head, kind)

    def at(self, value: Any, offset: Any, kind: Any) -> Any:
        """The value at an offset in bytes from an address."""
        address = self.builder.gep(value, [offset])
        return self.builder.load(self.builder.bitcast(address, kind.as_pointer()))

    def type_of(self, value: Any) -> Any:
        """The address of an object's type, the last field of its header, as a number."""
        return self.builder.ptrtoint(self.field(value, layout.TYPE, POINTER), I64)


def define(module: ir.Module) -> None:
    """Write the functions that a library for Windows lacks."""
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
