"""Finds the machine code of a kernel, and calls it as a builtin.

In this order: the library that came with the package, one that was compiled on this machine before, both
only where they were made of the very sources at hand; else the compiler, if Numba and its linker are
installed; else the plain Python in the file, with one warning.  Nothing of Numba is imported here: the
compiler is a process of its own.
"""

import ctypes
import os
import subprocess
import sys
import warnings
from collections.abc import Callable
from functools import cache
from hashlib import blake2b
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from threading import Lock
from typing import Any

import numpy as np

from broadphase.kernels.machine import cache as user_cache
from broadphase.kernels.machine import python_api
from broadphase.kernels.machine.level import level
from broadphase.kernels.machine.mode import plain
from broadphase.kernels.machine.signatures import PACKAGE, describe_all, kind, listed
from broadphase.kernels.machine.sources import fingerprint

FOLDER = Path(__file__).parent.parent / "compiled"
SUFFIX = {"win32": ".dll", "darwin": ".dylib"}.get(sys.platform, ".so")
_SOURCE = str(Path(__file__).parents[3])  # where this package was imported from
_FASTCALL = 0x80  # METH_FASTCALL


class _Method(ctypes.Structure):
    """``PyMethodDef``."""

    _fields_ = (
        ("name", ctypes.c_char_p),
        ("function", ctypes.c_void_p),
        ("flags", ctypes.c_int),
        ("doc", ctypes.c_char_p),
    )


class Library:
    """Machine code of some kernels; loaded when the first of them is asked for."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._fingerprints: dict[str, str] = {}
        self._places: dict[str, int] = {}
        for line in path.with_suffix(".index").read_text().splitlines():
            what, name, *rest = line.split()
            if what == "module":
                self._fingerprints[name] = rest[0]
            else:
                self._places[name] = len(self._places)
        self._table: Any = None

    def holds(self, kernel: str, made_of: str | None) -> bool:
        """Whether it has a kernel that was made of just these sources."""
        module = kernel.rpartition(".")[0]
        return kernel in self._places and made_of in (None, self._fingerprints.get(module))

    def builtin(self, kernel: str, otherwise: Callable[..., Any]) -> Callable[..., Any]:
        """The kernel as Python calls it; what it was not compiled for, it hands to ``otherwise``."""
        if self._table is None:
            loaded = ctypes.CDLL(str(self._path))
            _fill_tables(loaded)
            self._table = (ctypes.c_void_p * len(self._places)).in_dll(loaded, "broadphase_table")
        address = self._table[self._places[kernel]]
        method = _Method(kernel.rpartition(".")[2].encode(), address, _FASTCALL, None)
        _methods.append(method)  # the builtin only points to it
        return _new_builtin(ctypes.addressof(method), otherwise, None)


_methods: list[_Method] = []
_pointer_in = ctypes.PYFUNCTYPE(ctypes.c_void_p, ctypes.py_object, ctypes.c_char_p)(
    ("PyCapsule_GetPointer", ctypes.pythonapi)
)
_new_builtin = ctypes.pythonapi.PyCFunction_NewEx
_new_builtin.restype = ctypes.py_object
_new_builtin.argtypes = [ctypes.c_void_p, ctypes.py_object, ctypes.py_object]


def _array_function(place: int) -> int:
    """A function of NumPy's C interface, whose table only grows at its end."""
    capsule = import_module("numpy._core._multiarray_umath")._ARRAY_API
    table = ctypes.cast(_pointer_in(capsule, None), ctypes.POINTER(ctypes.c_void_p))
    address = table[place]
    assert address is not None
    return address


def _fill_tables(loaded: ctypes.CDLL) -> None:
    """Tell a library where this interpreter keeps things (`broadphase.kernels.machine.python_api`)."""
    numbers = {
        "object_size": object.__basicsize__,
        "tuple_items": tuple.__basicsize__,
        "type_array": id(np.ndarray),
        "type_float": id(float),
        "type_float64": id(np.float64),
        "type_int": id(int),
        "true": id(True),
        "false": id(False),
        "none": id(None),
        "array_new": _array_function(93),
        "array_set_base": _array_function(282),
        "number_i8": np.dtype(np.int64).num,
        "number_u8": np.dtype(np.uint64).num,
    }
    table = (ctypes.c_int64 * len(python_api.POSITION)).in_dll(loaded, "broadphase_api")
    for name, at in python_api.POSITION.items():
        if name in numbers:
            table[at] = numbers[name]
        else:
            table[at] = ctypes.cast(getattr(ctypes.pythonapi, name), ctypes.c_void_p).value or 0
    kinds = (ctypes.c_int8 * python_api.KIND_NUMBERS).in_dll(loaded, "broadphase_kinds")
    for letter in np.typecodes["AllInteger"] + "?fd":
        dtype = np.dtype(letter)
        if kind(dtype) in python_api.KINDS:
            kinds[dtype.num] = python_api.KINDS.index(kind(dtype)) + 1


@cache
def _library(path: Path) -> Library | None:
    try:
        return Library(path)
    except FileNotFoundError:
        return None


def _of_this_machine(stem: str) -> Path:
    return user_cache.folder() / "libraries" / f"{stem}{SUFFIX}"


def _stem(name: str, made_of: str | None, *more: str) -> str:
    digest = blake2b(" ".join([str(made_of), level(), *more]).encode(), digest_size=12)
    return f"{name}-{digest.hexdigest()}"


def kernel(function: Callable[..., Any]) -> Any:
    """What a kernel's name stands for in a running program."""
    found = Kernel(function)
    folder = os.environ.get("BROADPHASE_RECORD")
    return found.callable() if folder is None else Recorder(found, Path(folder))


class Recorder:
    """A kernel that notes the types it is called with (`broadphase.kernels.compiler.record`)."""

    def __init__(self, found: "Kernel", folder: Path) -> None:
        self._call = found.callable()
        self._name, self._file = found.name, folder / f"{os.getpid()}.txt"
        self._seen: set[str] = set()

    def __call__(self, *arguments: Any) -> Any:
        """Note the types, once each, and call the kernel."""
        types = describe_all(tuple(map(_plainer, arguments)))
        if types not in self._seen:
            self._seen.add(types)
            with self._file.open("a") as file:  # at once: a test's process may end without a farewell
                file.write(f"{self._name}: {types}\n")
        return self._call(*arguments)


_compiling = Lock()


class Kernel:
    """A kernel beyond its machine code: what happens to calls that it was not compiled for."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self.function = function
        self.__name__, self.__doc__ = function.__name__, function.__doc__
        self._module = function.__module__.removeprefix(PACKAGE)
        self.name = f"{self._module}.{function.__name__}"
        self._made_of = fingerprint(function.__module__)
        self._count = function.__code__.co_argcount
        self._calls: dict[str, Callable[..., Any]] = {}
        self._builtin: Callable[..., Any] | None = None

    def callable(self) -> Callable[..., Any]:
        """The builtin, where there is machine code; else the kernel itself."""
        for library in (_library(FOLDER / f"{level()}{SUFFIX}"), _library(self._compiled_here())):
            if library is not None and library.holds(self.name, self._made_of):
                self._builtin = library.builtin(self.name, self)
                return self._builtin
        return self

    def _compiled_here(self) -> Path:
        return _of_this_machine(_stem(self._module, self._made_of))

    def __call__(self, *arguments: Any) -> Any:
        """Call it with arguments of types that are not in its table, or not yet."""
        plainer = tuple(map(_plainer, arguments))
        if self._builtin is not None and any(a is not b for a, b in zip(arguments, plainer, strict=True)):
            return self._builtin(*plainer)
        types = describe_all(plainer)
        if len(plainer) != self._count:
            raise TypeError(f"{self.name} takes {self._count} arguments; got {len(plainer)}")
        call = self._calls.get(types)
        if call is None:
            call = self._calls[types] = self._find(types)
        return call(*plainer)

    def _find(self, types: str) -> Callable[..., Any]:
        with _compiling:
            if self._builtin is None and types in listed().get(self.name, ()):
                library = self._compile(self._compiled_here(), _jobs_of_module(self._module))
                if library is not None:
                    self._builtin = library.builtin(self.name, self)
                    return self._builtin
            stem = _stem(self.name, self._made_of, types)
            library = self._compile(_of_this_machine(stem), [(self.name, types)])
            if library is not None:
                return library.builtin(self.name, Refusal(self.name, types))
        return plain(self.function)

    def _compile(self, path: Path, jobs: list[tuple[str, str]]) -> Library | None:
        if not path.with_suffix(".index").exists():
            if find_spec("numba") is None or find_spec("ziglang") is None:
                _warn_once()
                return None
            error = _run_compiler(path, jobs)
            if error:
                raise TypeError(f"{self.name} cannot be called with {jobs[-1][1]}: {error}")
        _library.cache_clear()
        return Library(path)


def _run_compiler(library: Path, jobs: list[tuple[str, str]]) -> str:
    """Have a library made by a process of its own; what went wrong, or nothing."""
    done = subprocess.run(
        [sys.executable, "-m", "broadphase.kernels.compiler", "--into", str(library), "--levels", level()],
        input="".join(f"{name}: {types}\n" for name, types in jobs),
        env={**os.environ, "PYTHONPATH": os.pathsep.join([_SOURCE, *sys.path])},
        capture_output=True,
        text=True,
        check=False,
    )
    return done.stderr if done.returncode else ""


class Refusal:
    """What a builtin for one list of types does when the types are others after all: that cannot be."""

    def __init__(self, name: str, types: str) -> None:
        self.name, self._types = name, types

    def __call__(self, *arguments: Any) -> Any:
        """Say so."""
        raise TypeError(f"{self.name} was compiled for {self._types}; got {describe_all(arguments)}")


def _jobs_of_module(module: str) -> list[tuple[str, str]]:
    return [
        (name, types)
        for name, lists in listed().items()
        if name.rpartition(".")[0] == module
        for types in lists
    ]


def _plainer(value: Any) -> Any:
    """An argument as the builtins take it: NumPy's scalars as Python's, subclasses of arrays as arrays."""
    if isinstance(value, np.ndarray):
        if type(value) is not np.ndarray:
            value = value.view(np.ndarray)
        if not value.flags.aligned:
            value = value.copy()
        return value
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, tuple):
        inside = tuple(map(_plainer, value))
        if all(a is b for a, b in zip(value, inside, strict=True)):
            return value
        return type(value)(*inside) if hasattr(value, "_fields") else inside
    return value


@cache
def _warn_once() -> None:
    warnings.warn(
        "no compiled kernels fit this installation, so they run as plain Python, a hundred times slower and "
        "more; install the package again (python -m pip install .), or what compiles them: "
        'python -m pip install "broadphase[jit]"',
        RuntimeWarning,
        stacklevel=2,
    )
