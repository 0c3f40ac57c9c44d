"""Loads libraries of machine code, and makes builtins of the kernels in them.

Start-up time matters: programs import this module before their first call, even if they make only one.  So it
imports neither `pathlib` nor `hashlib`, which NumPy does not import either.

A library serves only the sources that it was compiled from.  Their fingerprints are of a kernel's file, of
all kernel files that it imports, and of the compiler.
"""

import ctypes
import sys
from collections.abc import Callable
from functools import cache
from importlib import import_module
from os import PathLike
from os.path import dirname, exists, join
from threading import Lock
from typing import Any
from zlib import adler32, crc32

import numpy as np

from broadphase.kernels.machine import python_api
from broadphase.kernels.machine.interrupts import check
from broadphase.kernels.machine.mode import level
from broadphase.kernels.machine.signatures import PACKAGE, kind
from broadphase.kernels.machine.target import HOST

_KERNELS = dirname(dirname(__file__))
FOLDER = join(_KERNELS, "compiled")
"""The folder of the libraries that come with the package."""
_FASTCALL = 0x80  # METH_FASTCALL
# Entries of the table of NumPy's C API; new versions only append to it.
ARRAY_NEW, ARRAY_SET_BASE = 93, 282


class _Method(ctypes.Structure):
    """``PyMethodDef``."""

    _fields_ = (
        ("name", ctypes.c_char_p),
        ("function", ctypes.c_void_p),
        ("flags", ctypes.c_int),
        ("doc", ctypes.c_char_p),
    )


class Library:
    """A library of some kernels; it is loaded when the first of them is requested."""

    def __init__(self, stem: str) -> None:
        self._path = stem + HOST.suffix
        self._digest = ""
        """The hash of the file when it was written."""
        self._fingerprints: dict[str, str] = {}
        self._places: dict[str, int] = {}
        with open(stem + ".index", encoding="utf-8") as index:
            for line in index:
                what, name, *rest = line.split()
                if what == "library":
                    self._digest = name
                elif what == "module":
                    self._fingerprints[name] = rest[0]
                else:
                    self._places[name] = len(self._places)
        self._table: Any = None

    def is_whole(self) -> bool:
        """Whether the file is complete and unchanged since it was written."""
        try:
            return digest_of(self._path) == self._digest
        except OSError:
            return False

    def holds(self, kernel: str, made_of: str | None) -> bool:
        """Whether the library has this kernel, compiled from exactly these sources."""
        module = kernel.rpartition(".")[0]
        return kernel in self._places and made_of in (None, self._fingerprints.get(module))

    def builtin(self, kernel: str, otherwise: Callable[..., Any]) -> Callable[..., Any]:
        """The kernel as a builtin; it passes calls with other types to ``otherwise``."""
        with _loading:  # without a GIL two threads may call a first kernel at once
            if self._table is None:
                loaded = ctypes.CDLL(self._path)
                _fill_tables(loaded)
                self._table = (ctypes.c_void_p * len(self._places)).in_dll(loaded, "broadphase_table")
        address = self._table[self._places[kernel]]
        method = _Method(kernel.rpartition(".")[2].encode(), address, _FASTCALL, None)
        _methods.append(method)  # the builtin only points to it
        return _new_builtin(ctypes.addressof(method), otherwise, None)


_loading = Lock()
_methods: list[_Method] = []
_pointer_in = ctypes.PYFUNCTYPE(ctypes.c_void_p, ctypes.py_object, ctypes.c_char_p)(
    ("PyCapsule_GetPointer", ctypes.pythonapi)
)
_new_builtin = ctypes.pythonapi.PyCFunction_NewEx
_new_builtin.restype = ctypes.py_object
_new_builtin.argtypes = [ctypes.c_void_p, ctypes.py_object, ctypes.py_object]


def _array_function(place: int) -> int:
    """The address of a function of NumPy's C API."""
    capsule = import_module("numpy._core._multiarray_umath")._ARRAY_API
    table = ctypes.cast(_pointer_in(capsule, None), ctypes.POINTER(ctypes.c_void_p))
    address = table[place]
    assert address is not None
    return address


def _address_of(function: Any) -> int:
    return ctypes.cast(function, ctypes.c_void_p).value or 0


def _address_of_yield() -> int:
    """The address of the function that yields this core; elsewhere the loader resolves ``sched_yield``."""
    if sys.platform == "win32":
        return _address_of(ctypes.windll.kernel32.SwitchToThread)
    return 0


def _fill_tables(loaded: ctypes.CDLL) -> None:
    """Fill a library's tables for this interpreter (`broadphase.kernels.machine.python_api`)."""
    numbers = {
        "memmove": _address_of(ctypes.memmove),
        "memset": _address_of(ctypes.memset),
        "give_way": _address_of_yield(),
        "object_size": object.__basicsize__,
        "tuple_items": tuple.__basicsize__,
        "type_array": id(np.ndarray),
        "type_float": id(float),
        "type_float64": id(np.float64),
        "type_int": id(int),
        "type_tuple": id(tuple),
        "true": id(True),
        "false": id(False),
        "none": id(None),
        "error_attribute": id(AttributeError),
        "error_index": id(IndexError),
        "error_type": id(TypeError),
        "check": id(check),
        "array_new": _array_function(ARRAY_NEW),
        "array_set_base": _array_function(ARRAY_SET_BASE),
        "number_i8": np.dtype(np.int64).num,
        "number_u8": np.dtype(np.uint64).num,
    }
    table = (ctypes.c_int64 * len(python_api.POSITION)).in_dll(loaded, "broadphase_api")
    for name, position in python_api.POSITION.items():
        if name in numbers:
            table[position] = numbers[name]
        else:
            table[position] = _address_of(getattr(ctypes.pythonapi, name))
    key = (ctypes.c_int8 * python_api.KEY_SIZE).in_dll(loaded, "broadphase_key")
    ctypes.pythonapi.PyThread_tss_create(ctypes.byref(key))
    kinds = (ctypes.c_int8 * python_api.KIND_NUMBERS).in_dll(loaded, "broadphase_kinds")
    # If "long double" has 64 bits, as on Windows, NumPy has a second 64-bit type, which is equal to float64.
    for letter in np.typecodes["AllInteger"] + "?fdg":
        dtype = np.dtype(letter)
        if kind(dtype) in python_api.KINDS:
            kinds[dtype.num] = python_api.KINDS.index(kind(dtype)) + 1


@cache
def library(stem: str) -> Library | None:
    """The library ``stem.so`` with its index ``stem.index``, if they exist.

    A library that was compiled on this machine must be complete: a full disk may have truncated it.
    The libraries of the package are not checked, because that would add 1 ms to each start.
    """
    try:
        found = Library(stem)
    except (FileNotFoundError, ValueError, IndexError):  # there is none, or its index is damaged
        return None
    return found if dirname(stem) == FOLDER or found.is_whole() else None


@cache
def installed() -> Library | None:
    """The library that came with the package for this processor, if there is one."""
    return library(join(FOLDER, level()))


def digest_of(path: str | PathLike[str]) -> str:
    """A hash of a file."""
    from hashlib import blake2b  # here, see above

    with open(path, "rb") as file:
        return blake2b(file.read(), digest_size=16).hexdigest()


# ---- fingerprints of the sources

_IMPORT = f"\nfrom {PACKAGE}".encode()
# Further modules that the machine code depends on; the other modules of these packages only run it.
_MAKERS = {
    "kernels.machine": ("floats", "interrupts", "intrinsics", "jit", "mode", "python_api", "simd", "target"),
    "compiler": (
        *("builtins", "lowering", "machine_code", "memory", "numba_checks", "numba_names", "python_api"),
    ),
}


def _path(module: str) -> str:
    return join(dirname(_KERNELS), *module.split(".")[1:]) + ".py"


def _hash(whole: bytes) -> str:
    # `importlib.util.source_hash` differs between versions of Python, but one library serves all of them.
    return f"{crc32(whole):08x}{adler32(whole):08x}{len(whole):x}"


@cache
def _source(module: str) -> tuple[str, tuple[str, ...]]:
    """A hash of a module's source, and the kernel modules that it imports."""
    with open(_path(module), "rb") as file:
        whole = file.read()
    # A regular expression would take 40 us a file.
    imported = [line[: line.index(b" ")].decode() for line in whole.split(_IMPORT)[1:]]
    return _hash(whole), tuple(PACKAGE + name for name in imported if name[:8] != "machine.")


@cache
def _makers() -> str:
    modules = (f"broadphase.{package}.{name}" for package, names in _MAKERS.items() for name in names)
    return " ".join(_source(module)[0] for module in modules)


@cache
def _reached(module: str) -> frozenset[str]:
    """The kernel modules that a kernel module needs, including itself.

    They are read from the import lines, not from the loaded modules, so this also works during import.
    """
    return frozenset([module]).union(*map(_reached, _source(module)[1]))


@cache
def fingerprint(module: str) -> str | None:
    """A hash of all sources that the kernels of a module depend on; None if they are not available.

    A frozen program has no sources, so they cannot have been edited.
    """
    if not exists(_path(module)):
        return None
    # This is a hash of hashes, so modules that many others import are read once (a first update: 6 ms less).
    hashes = [f"{name} {_source(name)[0]}" for name in sorted(_reached(module))]
    return _hash(" ".join([_makers(), *hashes]).encode())
