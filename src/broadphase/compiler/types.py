"""Parses the lines of ``signatures.txt`` into Numba types."""

import re
from importlib import import_module
from typing import Any

from numba.core import types

from broadphase.kernels.machine.signatures import PACKAGE

_NUMBERS = {
    "b1": types.boolean,
    "i1": types.int8,
    "i2": types.int16,
    "i4": types.int32,
    "i8": types.int64,
    "u1": types.uint8,
    "u2": types.uint16,
    "u4": types.uint32,
    "u8": types.uint64,
    "f4": types.float32,
    "f8": types.float64,
    "none": types.none,
}
_TOKEN = re.compile(r"\s*([\w.]+(?:\[\w+\]|<[\d|]+>)?|[(),])")


def parse(text: str) -> tuple[Any, ...]:
    """The Numba types of a list of arguments."""
    tokens = _TOKEN.findall(text)
    found, at = _parse_until(tokens, 0, None)
    if at != len(tokens):
        raise ValueError(f"not a list of types: {text!r}")
    return found


def rows_of(text: str) -> dict[int, tuple[int, ...]]:
    """The positions of arguments that are rows, with the lengths that each may have."""
    depth, number = 0, 0
    found: dict[int, tuple[int, ...]] = {}
    for token in _TOKEN.findall(text):
        depth += (token == "(") - (token == ")")
        number += token == "," and depth == 0
        if token.endswith(">"):
            found[number] = tuple(map(int, token.rstrip(">").partition("<")[2].split("|")))
    return found


def _parse_until(tokens: list[str], at: int, end: str | None) -> tuple[tuple[Any, ...], int]:
    found: list[Any] = []
    while at < len(tokens) and tokens[at] != end:
        token = tokens[at]
        if token == ",":
            at += 1
        elif token == "(":
            inside, at = _parse_until(tokens, at + 1, ")")
            found.append(types.Tuple(inside))
            at += 1
        elif at + 1 < len(tokens) and tokens[at + 1] == "(":
            inside, at = _parse_until(tokens, at + 2, ")")
            module, _, name = token.rpartition(".")
            found.append(types.NamedTuple(inside, getattr(import_module(PACKAGE + module), name)))
            at += 1
        else:
            found.append(_simple(token))
            at += 1
    return tuple(found), at


def _simple(token: str) -> Any:
    if token.endswith(">"):
        return types.Array(_NUMBERS[token.partition("<")[0]], 1, "C")
    name, _, dimensions = token.partition("[")
    if not dimensions:
        return _NUMBERS[name]
    return types.Array(_NUMBERS[name], int(dimensions.rstrip("]")), "C")


def kind_of(number: Any) -> str:
    """``"f4"`` for Numba's float32."""
    return next(name for name, known in _NUMBERS.items() if known == number)
