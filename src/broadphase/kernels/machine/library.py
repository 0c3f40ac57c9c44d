"""Loads libraries of machine code, and makes builtins of the kernels in them.

Start-up time matters: programs import this module before their first call, even if they make only one.  So it
imports neither `pathlib` nor `hashlib`, which NumPy does not import either.

A library serves only the sources that it was compiled from.  Their fingerprints are of the code of a kernel's
file, of all kernel files that it imports, and of the compiler: editing a comment or a docstring compiles
nothing.
"""

import ctypes
import sys
from collections.abc import Callable, Iterable
from functools import cache
from importlib import import_module
from os import PathLike
from os.path import dirname, exists, join
from threading import Lock
from typing import Any, NamedTuple
from zlib import adler32, crc32

import numpy as np

from broadphase.kernels.machine import python_api
from broadphase.kernels.machine.interrupts import check
from broadphase.kernels.machine.mode import level
from broadphase.kernels.machine.signatures import kind
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
        self.sources: dict[str, str] = {}
        """For each file that it was compiled from, the hashes of its text and its code (`hashes`)."""
        self._fingerprints: dict[str, str] = {}
        self._places: dict[str, int] = {}
        with open(stem + ".index", encoding="utf-8") as index:
            for line in index:
                what, name, *rest = line.split()
                if what == "library":
                    self._digest = name
                elif what == "source":
                    self.sources[name] = rest[0]
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
    for name, at in python_api.POSITION.items():
        if name in numbers:
            table[at] = numbers[name]
        else:
            table[at] = _address_of(getattr(ctypes.pythonapi, name))
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

_PACKAGE = "broadphase.kernels"
_IMPORT = f"\nfrom {_PACKAGE}.".encode()
# Further modules that the machine code depends on; the other modules of these packages only run it.
_MAKERS = {
    "kernels/machine": ("floats", "interrupts", "intrinsics", "jit", "mode", "python_api", "simd", "target"),
    "compiler": (
        *("builtins", "lowering", "machine_code", "memory"),
        *("numba_checks", "numba_names", "python_api", "types"),
    ),
}


@cache
def _path(module: str) -> str:
    return join(_KERNELS, *module.removeprefix(_PACKAGE + ".").split(".")) + ".py"


def _hash(whole: bytes) -> str:
    # `importlib.util.source_hash` differs between versions of Python, but one library serves all of them.
    return f"{crc32(whole):08x}{adler32(whole):08x}{len(whole):x}"


class _File(NamedTuple):
    text: str
    """A hash of the whole file."""
    code: str
    """A hash of its code, without comments and docstrings."""
    imports: tuple[str, ...]
    """The kernel modules that it imports."""


@cache
def _file(path: str) -> _File:
    with open(path, "rb") as file:
        whole = file.read()
    text = _hash(whole)
    code = _compiled_from().get(text) or _hash(_parsed(whole, path).encode())
    # A regular expression would take 40 us a file.
    imported = [line[: line.index(b" ")].decode() for line in whole.split(_IMPORT)[1:]]
    return _File(text, code, tuple(f"{_PACKAGE}.{name}" for name in imported if name[:8] != "machine."))


@cache
def _compiled_from() -> dict[str, str]:
    """For each text that the package's library was compiled from, the hash of its code.

    Parsing all files would add 0.4 s to each start, so only files that were edited are parsed.
    """
    found = installed()
    return found.sources if found else {}


def _parsed(text: bytes, path: str) -> str:
    """What Python parses, without positions and without strings that are statements, such as docstrings.

    `ast.dump` differs between versions of Python.
    """
    import ast  # here, because programs with unedited kernels start without it

    def is_docstring(node: object) -> bool:
        value = node.value if isinstance(node, ast.Expr) else None
        return isinstance(value, ast.Constant) and isinstance(value.value, str)

    def write(node: object) -> str:
        if isinstance(node, list):
            return f"[{','.join(write(one) for one in node if not is_docstring(one))}]"
        if isinstance(node, ast.AST):
            # New versions of Python add fields, which are empty in old code.
            fields = ((name, value) for name, value in ast.iter_fields(node) if value not in (None, []))
            return f"{type(node).__name__}({','.join(f'{name}={write(value)}' for name, value in fields)})"
        return ascii(node)

    return write(ast.parse(text, path))


@cache
def _makers() -> tuple[_File, ...]:
    package = dirname(_KERNELS)
    return tuple(
        _file(join(package, *folder.split("/"), f"{name}.py"))
        for folder, names in _MAKERS.items()
        for name in names
    )


@cache
def reached(module: str) -> frozenset[str]:
    """The kernel modules that a kernel module needs, including itself.

    They are read from the import lines, not from the loaded modules, so this also works during import.
    """
    return frozenset([module]).union(*map(reached, _file(_path(module)).imports))


@cache
def fingerprint(module: str) -> str | None:
    """A hash of all code that the kernels of a module depend on; None if the sources are not available.

    A frozen program has no sources, so they cannot have been edited.
    """
    if not exists(_path(module)):
        return None
    # This is a hash of hashes, so modules that many others import are read once (a first update: 6 ms less).
    codes = [file.code for file in _makers()]
    codes += [f"{name} {_file(_path(name)).code}" for name in sorted(reached(module))]
    return _hash("\n".join(codes).encode())


def hashes(modules: Iterable[str]) -> dict[str, str]:
    """For each file that the kernels of these modules depend on, the hashes of its text and of its code."""
    names = {name for module in modules for name in reached(module)}
    files = (*_makers(), *(_file(_path(name)) for name in sorted(names)))
    return {file.text: file.code for file in files}
