"""Where NumPy's and CPython's objects have what machine code reads, on the platform that is compiled for.

NumPy says it in its headers, which come with it.  CPython's are not on every machine that compiles, so what
is known of its objects is checked on the running interpreter before anything is compiled (`check`).  What
differs between builds of Python is filled in when a library is loaded
(`broadphase.kernels.machine.python_api`).
"""

import ctypes
import re
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from broadphase.kernels.machine.library import ARRAY_NEW, ARRAY_SET_BASE
from broadphase.kernels.machine.target import chosen

ADDRESS = chosen().address_bits // 8
"""The size of a pointer, of ``Py_ssize_t``, ``size_t`` and ``npy_intp``, in bytes."""
TYPE = -ADDRESS
"""Where an object's type is, from the end of the head that all objects have: its last field."""
IS_TUPLE = 1 << 26
"""``Py_TPFLAGS_TUPLE_SUBCLASS``, of the stable ABI."""
TYPE_NUMBERS = {
    kind: np.dtype(letter).num
    for kind, letter in zip(("b1", "i1", "u1", "i2", "u2", "i4", "u4", "f4", "f8"), "?bBhHiIfd", strict=True)
}
"""NumPy's numbers of the types of C that are the same on all platforms; those of 64-bit integers are not."""

_SIZES = {"char": 1, "int": 4}


@cache
def _header(name: str) -> str:
    text = Path(np.get_include(), "numpy", name).read_text("utf-8")
    return re.sub(r"/\*.*?\*/", "", text, flags=re.DOTALL)


def _fields(begin: str, last: str) -> dict[str, int]:
    """The offset of each field of a struct of NumPy behind ``PyObject_HEAD``, up to the last needed."""
    body = _header("ndarraytypes.h").split(f"{begin} {{", 1)[1].split("PyObject_HEAD", 1)[1]
    found: dict[str, int] = {}
    end = 0
    for declaration in body.split(";"):
        kind, star, name = re.fullmatch(r"\s*(?:struct )?(\w+)\s+(\*?)(\w+)", declaration).groups()  # type: ignore[union-attr]
        size = ADDRESS if star else _SIZES[kind]
        found[name] = -(-end // size) * size  # each field is aligned to its size
        end = found[name] + size
        if name == last:
            return found
    raise ValueError(f"NumPy's {begin} has no {last}")


def _flag(name: str) -> int:
    found = re.search(rf"#define NPY_ARRAY_{name}\s+(0x[0-9a-fA-F]+)", _header("ndarraytypes.h"))
    assert found is not None
    return int(found[1], 16)


ARRAY = _fields("typedef struct tagPyArrayObject_fields", "flags")
DTYPE = _fields("typedef struct _PyArray_Descr", "type_num")
C_CONTIGUOUS, ALIGNED, WRITEABLE = map(_flag, ("C_CONTIGUOUS", "ALIGNED", "WRITEABLE"))


def check() -> None:
    """Refuse an interpreter or a NumPy that differs from what is written here."""
    api = _header("__multiarray_api.h")
    for name, place in (("PyArray_New", ARRAY_NEW), ("PyArray_SetBaseObject", ARRAY_SET_BASE)):
        if not re.search(rf"#define {name}\s.*?PyArray_API\[{place}\]", api, re.DOTALL):
            raise RuntimeError(f"{name} is not entry {place} of the table of NumPy {np.__version__}")
    samples: tuple[Any, ...] = (), [], 1.5, np.zeros(3)
    for one in samples:
        place = id(one) + object.__basicsize__ - ctypes.sizeof(ctypes.c_void_p)
        if ctypes.c_void_p.from_address(place).value != id(type(one)):
            raise RuntimeError("an object's head does not end with its type in this Python")
        if bool(type(one).__flags__ & IS_TUPLE) != isinstance(one, tuple):
            raise RuntimeError("this Python marks tuples by another flag")
