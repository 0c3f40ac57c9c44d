"""What a kernel is in a running program: a builtin, and what becomes of calls that it was not compiled for.

In this order: the library that came with the package, one that was compiled on this machine before, both
only where they were made of the very sources at hand; else the compiler, if Numba and its linker are
installed; else the plain Python in the file, with one warning.  Nothing of Numba is imported here: the
compiler is a process of its own.
"""

import os
from collections.abc import Callable
from os.path import join
from typing import Any

import numpy as np

from broadphase.kernels.machine.level import level
from broadphase.kernels.machine.library import FOLDER, library
from broadphase.kernels.machine.mode import plain
from broadphase.kernels.machine.signatures import PACKAGE, describe_all, listed
from broadphase.kernels.machine.sources import fingerprint


def kernel(function: Callable[..., Any]) -> Any:
    """What a kernel's name stands for in a running program."""
    found = Kernel(function)
    folder = os.environ.get("BROADPHASE_RECORD")
    return found.callable() if folder is None else Recorder(found, folder)


class Kernel:
    """A kernel beyond its machine code: what happens to calls that it was not compiled for."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self.function = function
        self.__name__, self.__doc__ = function.__name__, function.__doc__
        self.module = function.__module__.removeprefix(PACKAGE)
        self.name = f"{self.module}.{function.__name__}"
        self.made_of = fingerprint(function.__module__)
        self._count = function.__code__.co_argcount
        self.rows = rows_of(function)
        self._calls: dict[str, Callable[..., Any]] = {}
        self._builtin: Callable[..., Any] | None = None

    def callable(self) -> Callable[..., Any]:
        """The builtin, where there is machine code; else the kernel itself."""
        self._builtin = self.builtin(self)
        return self._builtin or self

    def builtin(self, otherwise: Callable[..., Any]) -> Callable[..., Any] | None:
        """The machine code that is there, which hands to ``otherwise`` what it was not compiled for."""
        found = library(join(FOLDER, level()))
        if found is None or not found.holds(self.name, self.made_of):
            # Only where a kernel was edited, or nothing was compiled when the package was built.
            from broadphase.kernels.machine.on_demand import compiled_here

            found = library(compiled_here(self.module, self.made_of))
        if found is not None and found.holds(self.name, self.made_of):
            return found.builtin(self.name, otherwise)
        return None

    def __call__(self, *arguments: Any) -> Any:
        """Call it with arguments of types that are not in its table, or not yet."""
        plain_ones = tuple(map(plainer, arguments))
        if self._builtin is not None and any(a is not b for a, b in zip(arguments, plain_ones, strict=True)):
            return self._builtin(*plain_ones)
        types = describe_all(plain_ones, self.rows)
        if len(plain_ones) != self._count:
            raise TypeError(f"{self.name} takes {self._count} arguments; got {len(plain_ones)}")
        call = self._calls.get(types)
        if call is None:
            call = self._calls[types] = self._find(types)
        return call(*plain_ones)

    def _find(self, types: str) -> Callable[..., Any]:
        from broadphase.kernels.machine.on_demand import compile_kernel

        whole, call = compile_kernel(self.name, self.module, self.made_of, types, self)
        if whole:
            self._builtin = call
        return call or plain(self.function)


def rows_of(function: Callable[..., Any]) -> dict[int, tuple[int, ...]]:
    """Which parameters are tuples of numbers, and of how many (`broadphase.kernels.machine.jit.numbers`)."""
    sizes = function.__dict__.get("numbers", {})
    names = function.__code__.co_varnames[: function.__code__.co_argcount]
    return {k: sizes[name] for k, name in enumerate(names) if name in sizes}


def plainer(value: Any) -> Any:
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
        inside = tuple(map(plainer, value))
        if all(a is b for a, b in zip(value, inside, strict=True)):
            return value
        return type(value)(*inside) if hasattr(value, "_fields") else inside
    return value


class Recorder:
    """A kernel that notes the types it is called with (``python -m broadphase.compiler --record``)."""

    def __init__(self, found: "Kernel", folder: str) -> None:
        os.makedirs(folder, exist_ok=True)
        self._call = found.callable()
        self.rows = found.rows
        self.name, self._file = found.name, join(folder, f"{os.getpid()}.txt")
        self._seen: set[str] = set()

    def __call__(self, *arguments: Any) -> Any:
        """Note the types, once each, and call the kernel."""
        types = describe_all(tuple(map(plainer, arguments)), self.rows)
        if types not in self._seen:
            self._seen.add(types)
            with open(self._file, "a", encoding="utf-8") as file:
                file.write(f"{self.name}: {types}\n")
        return self._call(*arguments)


def trial(kernel: Callable[..., Any]) -> Callable[..., Any]:
    """The kernel, with ``None`` as its answer to arguments of types that it is not listed for.

    Called as it is, a kernel would be compiled for them, or say what a kernel cannot take; who wrote the
    arguments is owed a better message.  An int that no float can hold raises ``OverflowError``.

    The types of such a kernel are entered into ``signatures.txt`` by hand: others never reach it.
    """
    owner = getattr(kernel, "__self__", kernel)
    if isinstance(owner, Kernel):
        return owner.builtin(_refuse) or _Trial(kernel, owner.name, owner.rows)
    if isinstance(kernel, Recorder):
        return _Trial(kernel, kernel.name, kernel.rows)
    name = f"{kernel.__module__.removeprefix(PACKAGE)}.{kernel.__name__}"
    return _Trial(kernel, name, rows_of(getattr(kernel, "__wrapped__", kernel)))


def _refuse(*arguments: Any) -> None:
    """What becomes of arguments that no machine code was made for."""


class _Trial:
    """The same for a kernel that is no builtin: it is yet to be compiled, recorded, or plain Python."""

    def __init__(self, kernel: Callable[..., Any], name: str, rows: dict[int, tuple[int, ...]]) -> None:
        self._kernel, self._name, self._rows = kernel, name, rows

    def __call__(self, *arguments: Any) -> Any:
        try:
            known = describe_all(arguments, self._rows) in listed().get(self._name, ())
        except TypeError:
            return None
        return self._kernel(*arguments) if known else None
