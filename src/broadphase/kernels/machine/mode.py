"""How kernels run in this process: for which level of processors, as Numba's functions or as plain Python.

A level is a set of instructions shared by all processors of some years (the x86-64 psABI names the levels):
v2 has SSE 4.2, v3 AVX2 (2013 and later), v4 AVX-512.  Other architectures have one level here.
"""

import os
from collections.abc import Callable
from functools import cache, wraps
from importlib import import_module
from os.path import dirname, exists, join
from typing import Any

import numpy as np

from broadphase.kernels.machine.target import HOST, X86, chosen

COMPILING = os.environ.get("BROADPHASE_COMPILING") == "1"
"""Whether this process is the compiler (`broadphase.compiler`); kernels are then Numba's functions."""

PLAIN = not COMPILING and os.environ.get("NUMBA_DISABLE_JIT", "0") not in ("", "0")
"""Whether kernels run as plain Python, which is slow but lets a debugger step into them.

The variable has Numba's name because users of Numba know it.
"""

# What NumPy calls the instructions of a level; the lower levels' are among them on every processor made.
_NEEDED = {"x86-64-v4": ("AVX512_SKX",), "x86-64-v3": ("AVX2", "FMA3"), "x86-64-v2": ("SSE42", "POPCNT")}
# Names of processors that people give to Numba to see what an older machine gets.
_KNOWN_AS = {"haswell": "x86-64-v3", "skylake-avx512": "x86-64-v4", "nehalem": "x86-64-v2"}

_COMPILED = join(dirname(dirname(__file__)), "compiled")


def plain(function: Callable[..., Any]) -> Any:
    """The function without NumPy's warnings: like compiled code, it wraps and overflows silently.

    A tuple for a parameter that is declared as rows becomes an array of one row, as in machine code.
    """
    silent = np.errstate(all="ignore")(function)
    kinds = function.__dict__.get("declared", {})
    names = function.__code__.co_varnames[: function.__code__.co_argcount]
    rows = {k for k, name in enumerate(names) if kinds.get(name, "").startswith("f8[2]")}
    if not rows:
        return silent

    @wraps(function)
    def call(*arguments: Any) -> Any:
        return silent(
            *(
                np.array([value], np.float64) if k in rows and isinstance(value, tuple) else value
                for k, value in enumerate(arguments)
            )
        )

    return call


def levels() -> tuple[str, ...]:
    """The levels in a package for this platform, or for the platform that is compiled for."""
    return (chosen() if COMPILING else HOST).levels


@cache
def able() -> tuple[str, ...]:
    """The levels that this processor supports, best first; or the one that ``BROADPHASE_LEVEL`` names."""
    named = os.environ.get("BROADPHASE_LEVEL") or _KNOWN_AS.get(os.environ.get("NUMBA_CPU_NAME", ""))
    if named:
        if named not in levels():
            raise ValueError(f"BROADPHASE_LEVEL must be one of {', '.join(levels())}; got {named!r}")
        return (named,)
    if levels()[-1] != X86[-1]:
        return levels()
    # NumPy has already queried the processor, and whether the operating system saves the wide registers.
    has = import_module("numpy._core._multiarray_umath").__cpu_features__
    return tuple(name for name in levels() if all(has.get(one) for one in _NEEDED[name])) or X86[-1:]


@cache
def level() -> str:
    """The best level that this processor supports and that is installed; else the best that it supports.

    A program that was frozen on an older processor runs the kernels that were compiled there.
    """
    return next((name for name in able() if exists(join(_COMPILED, f"{name}.index"))), able()[0])


def lanes(level_name: str) -> int:
    """How many numbers a vector has at a level: 16 fill two AVX-512 registers of float64, 8 two of AVX2.

    On arm64 8 fill four registers.  Instructions for 3,000 boxes, counted by QEMU: with 16 lanes strips,
    trees and the sweep need 1.05 times as many, brute force and queries 0.92; with 4 lanes strips need 0.99
    to 1.02.
    """
    return 16 if level_name == "x86-64-v4" else 8
