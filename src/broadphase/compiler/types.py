"""Parses the lines of ``signatures.txt`` into Numba types."""

import re
from collections.abc import Iterator
from importlib import import_module
from typing import Any

import numpy as np
from numba.core import types
from numba.np.numpy_support import from_dtype

from broadphase.kernels.machine.python_api import KINDS
from broadphase.kernels.machine.signatures import PACKAGE

_NUMBERS = {**{name: from_dtype(np.dtype(name)) for name in KINDS}, "none": types.none, "o": types.voidptr}
_TOKEN = re.compile(r"[\w.]*\(|[\w.]+(?:\[\w+\])?(?:<[\d|]+>)?|[),]")


def parse(text: str) -> tuple[Any, ...]:
    """The Numba types of a list of arguments."""
    if text.count("(") != text.count(")"):
        raise ValueError(f"not a list of types: {text!r}")
    return _parse(iter(_TOKEN.findall(text)))


def rows_of(text: str) -> dict[int, tuple[int, ...]]:
    """The positions of arguments that are rows, with the lengths that each may have."""
    depth, number = 0, 0
    found: dict[int, tuple[int, ...]] = {}
    for token in _TOKEN.findall(text):
        depth += token.endswith("(") - (token == ")")
        number += token == "," and depth == 0
        if token.endswith(">"):
            found[number] = tuple(map(int, token.rstrip(">").partition("<")[2].split("|")))
    return found


def _parse(tokens: Iterator[str]) -> tuple[Any, ...]:
    """The types up to the end, or up to the parenthesis that closes a tuple."""
    found: list[Any] = []
    for token in tokens:
        if token == ")":
            break
        if token == "(":
            found.append(types.Tuple(_parse(tokens)))
        elif token.endswith("("):
            module, _, name = token[:-1].rpartition(".")
            found.append(types.NamedTuple(_parse(tokens), getattr(import_module(PACKAGE + module), name)))
        elif token != ",":
            found.append(_simple(token))
    return tuple(found)


def _simple(token: str) -> Any:
    if token.endswith(">"):
        name, _, dimensions = token.partition("<")[0].partition("[")
        return types.Array(_NUMBERS[name], int(dimensions.rstrip("]") or 1), "C")
    name, _, dimensions = token.partition("[")
    if not dimensions:
        return _NUMBERS[name]
    return types.Array(_NUMBERS[name], int(dimensions.rstrip("]")), "C")


def kind_of(number: Any) -> str:
    """``"f4"`` for Numba's float32."""
    return next(name for name, known in _NUMBERS.items() if known == number)
