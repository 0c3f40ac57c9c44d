"""The types that kernels are compiled for, as text.

``kernels/signatures.txt`` has a line for each kernel and each list of types it is called with::

    strips.near_few.mark_cells: f4[2], f4[2], f4[1], f4[2], u8[1]

``f4[2]`` is a two-dimensional C-contiguous array of float32, ``i8`` a number, ``(i8, i8)`` a tuple,
``f8<4|6>`` a tuple of four or six numbers as a row of float64 (`broadphase.kernels.machine.jit.numbers`),
``f8[2]<4|6>`` an array of such rows, or a tuple as the only one (`rows`), ``o`` any object (`objects`),
``boxes.overlap.PairFilter(u1[1], ...)`` a named tuple of a kernel module.  A kernel that is called with other
types is compiled at the call, if a compiler is installed.  ``python -m broadphase.compiler --record`` writes
the file.
"""

from collections.abc import Mapping
from functools import cache
from os.path import dirname, join
from typing import Any

import numpy as np

from broadphase.kernels.machine.python_api import KINDS

PACKAGE = "broadphase.kernels."
FILE = join(dirname(dirname(__file__)), "signatures.txt")

_NONE: dict[int, str] = {}
_NO_FLOAT = 2**1024 - 2**970  # the first int that no float can hold
_SCALARS: dict[type, str] = {bool: "b1", int: "i8", float: "f8"}


def kind(dtype: "np.dtype[Any]") -> str:
    """``"f4"`` for float32; NumPy's own short name."""
    return f"{dtype.kind}{dtype.itemsize}"


def describe(value: Any) -> str:
    """The type of an argument; ``TypeError`` if no kernel accepts it."""
    if isinstance(value, np.ndarray):
        name = kind(value.dtype)
        if name not in KINDS or not value.dtype.isnative:
            raise TypeError(f"kernels take arrays of numbers in this machine's byte order; got {value.dtype}")
        if not value.flags.c_contiguous:
            raise TypeError(f"kernels take C-contiguous arrays; got one with strides {value.strides}")
        return f"{name}[{value.ndim}]"
    if isinstance(value, tuple):
        inside = ", ".join(map(describe, value))
        if hasattr(value, "_fields"):
            home = type(value).__module__.removeprefix(PACKAGE)
            return f"{home}.{type(value).__name__}({inside})"
        return f"({inside},)" if len(value) == 1 else f"({inside})"
    if type(value) not in _SCALARS or (type(value) is int and not -(2**63) <= value < 2**63):
        named = "an int beyond 64 bits" if type(value) is int else type(value).__name__
        raise TypeError(f"kernels take arrays, numbers and tuples of them; got {named}")
    return _SCALARS[type(value)]


def describe_all(arguments: tuple[Any, ...], declared: Mapping[int, str] = _NONE) -> str:
    """The types of all arguments of a call, as written in the file.

    ``declared``: those of some of them, if they fit (`broadphase.kernels.machine.jit.numbers` and the like).
    """
    return ", ".join(
        declared[k] if k in declared and _fits(value, declared[k]) else describe(value)
        for k, value in enumerate(arguments)
    )


def _fits(value: Any, kind: str) -> bool:
    """Whether a value is a row or rows as declared, or may be any object."""
    if kind == "o":
        return True
    what, _, sizes = kind.rstrip(">").partition("<")
    lengths = tuple(map(int, sizes.split("|")))
    if isinstance(value, np.ndarray):
        return describe(value) == what == "f8[2]" and value.shape[1] in lengths
    is_one = isinstance(value, tuple) and len(value) in lengths
    return is_one and all(
        type(number) is float or (type(number) is int and abs(number) < _NO_FLOAT) for number in value
    )


@cache
def listed() -> dict[str, tuple[str, ...]]:
    """For each kernel, ``"package.file.name"``, the types it is compiled for when the package is built."""
    found: dict[str, list[str]] = {}
    with open(FILE, encoding="utf-8") as lines:
        for line in lines:
            name, _, types = line.rstrip().partition(": ")
            found.setdefault(name, []).append(types)
    return {name: tuple(types) for name, types in found.items()}
