"""Values out of Tiled's documents: each is what it should be, or an error says where it stands."""

import math
from collections.abc import Mapping
from reprlib import repr as shown
from typing import Any

from broadphase.errors import FileError

Node = Mapping[str, Any]
"""A part of a document as Tiled's JSON writes it."""
LARGEST = 2**31 - 1
"""Of numbers in Tiled itself."""
_FURTHEST = 1e15
"""No map is larger; beyond, edges of neighbouring tiles would coincide."""
_NEEDED: Any = object()


def node(value: Any, where: str) -> Node:
    """The value, which must have fields."""
    if not isinstance(value, dict):
        raise FileError(f"{where} has a value of a wrong type: {shown(value)}")
    return value


def parts(owner: Node, key: str, where: str) -> list[Any]:
    """A list; empty where it is left out."""
    value = owner.get(key)
    if value is None:
        return []
    if not isinstance(value, list):
        raise FileError(f"{where} has {key} = {shown(value)}, where a list belongs")
    return value


def whole(owner: Node, key: str, where: str, least: int = -LARGEST, default: Any = _NEEDED) -> int:
    """A whole number."""
    value = _value(owner, key, where, default)
    if type(value) is not int or not least <= value <= LARGEST:
        belongs = f"a whole number from {least} to {LARGEST}"
        raise FileError(f"{where} has {key} = {shown(value)}, where {belongs} belongs")
    return value


def number(owner: Node, key: str, where: str, default: Any = _NEEDED, *, least: float = -_FURTHEST) -> float:
    """A finite number."""
    value = _value(owner, key, where, default)
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise FileError(f"{where} has {key} = {shown(value)}, where a number belongs")
    if not least <= value <= _FURTHEST or math.isnan(value):
        belongs = f"a number from {least:g} to {_FURTHEST:g}"
        raise FileError(f"{where} has {key} = {shown(value)}, where {belongs} belongs")
    return float(value)


def text(owner: Node, key: str, where: str, default: Any = _NEEDED) -> str:
    """A text."""
    value = _value(owner, key, where, default)
    if not isinstance(value, str):
        raise FileError(f"{where} has {key} = {shown(value)}, where a text belongs")
    return value


def flag(owner: Node, key: str, where: str, default: bool) -> bool:
    """Yes or no."""
    value = owner.get(key, default)
    if not isinstance(value, bool) and value not in (0, 1):
        raise FileError(f"{where} has {key} = {shown(value)}, where true or false belongs")
    return bool(value)


def class_of(owner: Node, where: str, *keys: str) -> str:
    """What Tiled 1.9 calls a class, and before and after a type."""
    for key in keys:
        if owner.get(key):
            return text(owner, key, where)
    return ""


def properties(owner: Node, where: str) -> dict[str, Any]:
    """Custom properties by name; those of a class of one's own are left as they are."""
    found: dict[str, Any] = {}
    for raw in parts(owner, "properties", where):
        one = node(raw, f"{where}, property {shown(raw)}")
        name = text(one, "name", f"{where}, property")
        kind = one.get("type", "string")
        value = one.get("value", "")
        place = f"{where}, property {shown(name)}"
        if kind == "int" and type(value) is not int:
            raise FileError(f"{place} has {shown(value)}, where a whole number belongs")
        if kind == "float" and (isinstance(value, bool) or not isinstance(value, int | float)):
            raise FileError(f"{place} has {shown(value)}, where a number belongs")
        found[name] = value
    return found


def _value(owner: Node, key: str, where: str, default: Any) -> Any:
    value = owner.get(key)
    if value is not None:
        return value
    if default is _NEEDED:
        raise FileError(f"{where} has no {key!r}")
    return default
