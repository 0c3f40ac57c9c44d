"""Emits calls of the interpreter's functions and reads of its objects; and for Windows, functions of C.

Where NumPy's and CPython's objects have what is read is the same on all platforms but for the size of an
address, and is checked on the running interpreter before anything is compiled (`check`).  What differs
between builds of Python is filled in when a library is loaded (`broadphase.kernels.machine.python_api`).

Kernels yield the processor, and LLVM turns loops that copy into calls of ``memcpy``.  On Linux and macOS the
loader resolves these functions.  A library for Windows is linked without any C library, so this module
defines them (`define`) through the table of the interpreter, and also ``_fltused``, which LLVM's code for
Windows refers to wherever it uses floats.
"""

import ctypes
from typing import Any

import numpy as np
from llvmlite import ir

from broadphase.kernels.machine.python_api import KEY_SIZE, KIND_NUMBERS, POSITION
from broadphase.kernels.machine.target import chosen

ADDRESS = chosen().address_bits // 8
"""The size of a pointer, of ``Py_ssize_t``, ``size_t`` and ``npy_intp``, in bytes."""


def _array_fields(address: int) -> dict[str, int]:
    # `PyArrayObject_fields`; after ``nd``, an int, the next address is aligned.
    names = ("data", "nd", "dimensions", "strides", "base", "descr", "flags")
    return {name: k * address for k, name in enumerate(names)}


ARRAY = _array_fields(ADDRESS)
"""Where an array has its fields, in bytes after the head that all objects have."""
DTYPE = {"byteorder": ADDRESS + 2, "type_num": ADDRESS + 4}
"""The same of a dtype: after the type of its scalars come four letters."""
TYPE = -ADDRESS
"""Where an object's type is, from the end of the head: its last field."""
LENGTH = 0
"""Where a tuple has its length."""
IS_TUPLE = 1 << 26
"""``Py_TPFLAGS_TUPLE_SUBCLASS``, of the stable ABI."""
C_CONTIGUOUS, ALIGNED, WRITEABLE = 0x1, 0x100, 0x400
TYPE_NUMBERS = {
    kind: np.dtype(letter).num
    for kind, letter in zip(("b1", "i1", "u1", "i2", "u2", "i4", "u4", "f4", "f8"), "?bBhHiIfd", strict=True)
}
"""NumPy's numbers of the types of C that are the same on all platforms; those of 64-bit integers are not."""

I8, I32, I64, DOUBLE = ir.IntType(8), ir.IntType(32), ir.IntType(64), ir.DoubleType()
SIZE = ir.IntType(8 * ADDRESS)
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
        return self.builder.ptrtoint(self.field(value, TYPE, POINTER), I64)


def check() -> None:
    """Refuse an interpreter or a NumPy whose objects differ from what is written here."""
    address = ctypes.sizeof(ctypes.c_void_p)

    def read(one: Any, offset: int, kind: Any) -> Any:
        return kind.from_address(id(one) + object.__basicsize__ + offset).value

    samples: tuple[Any, ...] = (), [], 1.5, np.zeros(3)
    for one in samples:
        if read(one, -address, ctypes.c_void_p) != id(type(one)):
            raise RuntimeError("an object's head does not end with its type in this Python")
        if bool(type(one).__flags__ & IS_TUPLE) != isinstance(one, tuple):
            raise RuntimeError("this Python marks tuples by another flag")
    if read((1, 2, 3), LENGTH, ctypes.c_ssize_t) != 3:
        raise RuntimeError("a tuple has its length elsewhere in this Python")
    array, fields = np.zeros((2, 3), ">i4"), _array_fields(address)
    found = [read(array, fields[name], ctypes.c_void_p) for name in ("data", "descr")]
    found += [read(array, fields[name], ctypes.c_int) for name in ("nd", "flags")]
    dtype = array.dtype
    found += [read(dtype, address + 2, ctypes.c_char), read(dtype, address + 4, ctypes.c_int)]
    known = [array.ctypes.data, id(dtype), 2, array.flags.num, b">", dtype.num]
    if found != known or array.flags.num & (C_CONTIGUOUS | ALIGNED | WRITEABLE) != 0x501:
        raise RuntimeError(f"an array of NumPy {np.__version__} has its fields elsewhere")


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
