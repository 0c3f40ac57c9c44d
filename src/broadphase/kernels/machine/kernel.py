"""Kernels in a running program: builtins, and the fallback for argument types they were not compiled for.

Machine code is looked up in this order: the library that came with the package, then one that was compiled on
this machine before, both only if they were compiled from exactly the current sources; then the compiler, if
Numba and its linker are installed; then the plain Python in the file, with one warning.  This module does not
import Numba: the compiler runs in a separate process.
"""

import os
from collections.abc import Callable
from os.path import join
from typing import Any

import numpy as np

from broadphase.kernels.machine.library import fingerprint, installed, library
from broadphase.kernels.machine.mode import plain
from broadphase.kernels.machine.signatures import PACKAGE, describe_all, listed


def kernel(function: Callable[..., Any]) -> Any:
    """The object that a decorator returns in a running program."""
    made = Kernel(function)
    made.compiled = made.builtin(made)
    return made.compiled or made


class Kernel:
    """The fallback of a kernel: handles calls with argument types that it was not compiled for."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self.function = function
        self.__name__, self.__doc__ = function.__name__, function.__doc__
        self.module = function.__module__.removeprefix(PACKAGE)
        self.name = f"{self.module}.{function.__name__}"
        self.made_of = fingerprint(function.__module__)
        self._count = function.__code__.co_argcount
        self.declared = declared_of(function)
        self._calls: dict[str, Callable[..., Any]] = {}
        self.compiled: Callable[..., Any] | None = None
        """The builtin for the listed types, if machine code exists."""

    def builtin(self, otherwise: Callable[..., Any]) -> Callable[..., Any] | None:
        """The existing machine code; it passes calls with other types to ``otherwise``."""
        found = installed()
        if found is None or not found.holds(self.name, self.made_of):
            # Only if a kernel was edited, or nothing was compiled when the package was built.
            from broadphase.kernels.machine.on_demand import compiled_here

            found = library(compiled_here(self.module, self.made_of))
        if found is not None and found.holds(self.name, self.made_of):
            return found.builtin(self.name, otherwise)
        return None

    def __call__(self, *arguments: Any) -> Any:
        """Call the kernel with arguments of types that are not in its table, or not yet."""
        plain_ones = tuple(map(plainer, arguments))
        if self.compiled is not None and any(a is not b for a, b in zip(arguments, plain_ones, strict=True)):
            return self.compiled(*plain_ones)
        types = describe_all(plain_ones, self.declared)
        if len(plain_ones) != self._count:
            raise TypeError(f"{self.name} takes {self._count} arguments; got {len(plain_ones)}")
        call = self._calls.get(types)
        if call is None:
            call = self._calls[types] = self._find(types)
        return call(*plain_ones)

    def _find(self, types: str) -> Callable[..., Any]:
        from broadphase.kernels.machine.on_demand import compile_kernel

        if folder := os.environ.get("BROADPHASE_RECORD"):  # for `python -m broadphase.compiler --record`
            os.makedirs(folder, exist_ok=True)
            with open(join(folder, f"{os.getpid()}.txt"), "a", encoding="utf-8") as notes:
                notes.write(f"{self.name}: {types}\n")
        whole, call = compile_kernel(self.name, self.module, self.made_of, types, self)
        if whole:
            self.compiled = call
        return call or plain(self.function)


def declared_of(function: Callable[..., Any]) -> dict[int, str]:
    """The types of the parameters that are declared by `jit.numbers`, `jit.rows` and `jit.objects`."""
    kinds = function.__dict__.get("declared", {})
    names = function.__code__.co_varnames[: function.__code__.co_argcount]
    return {k: kinds[name] for k, name in enumerate(names) if name in kinds}


def plainer(value: Any) -> Any:
    """Convert an argument for the builtins: NumPy's scalars to Python's, subclasses of arrays to arrays."""
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


def try_call(kernel: Callable[..., Any]) -> Callable[..., Any]:
    """The kernel, returning ``None`` for arguments of types that are not listed in ``signatures.txt``.

    So it does for an int that does not fit.  Called directly, a kernel would be compiled for such types, or
    raise an error about what kernels accept; callers raise a clearer error instead.

    The types of such a kernel are added to ``signatures.txt`` by hand, because recording never sees others.
    """
    owner = getattr(kernel, "__self__", kernel)
    if isinstance(owner, Kernel):
        return owner.builtin(_refuse) or _TryCall(kernel, owner.name, owner.declared)
    name = f"{kernel.__module__.removeprefix(PACKAGE)}.{kernel.__name__}"
    return _TryCall(kernel, name, declared_of(getattr(kernel, "__wrapped__", kernel)))


def _refuse(*arguments: Any) -> None:
    """Return ``None`` for arguments of types that were not compiled."""


class _TryCall:
    """The same for a kernel that is not a builtin: not compiled yet, or plain Python."""

    def __init__(self, kernel: Callable[..., Any], name: str, declared: dict[int, str]) -> None:
        self._kernel, self._name, self._declared = kernel, name, declared

    def __call__(self, *arguments: Any) -> Any:
        try:
            known = describe_all(arguments, self._declared) in listed().get(self._name, ())
        except TypeError:
            return None
        return self._kernel(*arguments) if known else None
