"""Worlds of Tiled: maps that lie side by side."""

import re
from collections.abc import Iterator
from pathlib import Path
from reprlib import repr as shown
from typing import Any, NamedTuple

from broadphase.errors import FileError
from broadphase.files.tiled import fields
from broadphase.files.tiled.documents import read_document
from broadphase.files.tiled.fields import Node
from broadphase.files.tiled.maps import read_map
from broadphase.files.tiled.numbers import Budget
from broadphase.files.tiled.things import Map, Point

_MOST_REPEATS = 3
"""What a pattern may leave open: each more multiplies the time that a name can take by its length."""
_REPEATED_GROUP = re.compile(r"\)[*+{]")
_REPEAT = re.compile(r"(?<!\\)[*+{]")


class Placed(NamedTuple):
    """A map, and where its upper left corner lies."""

    level: Map
    place: Point


def read_world(file: Path) -> list[Placed]:
    """Read all maps of a world.

    Raises
    ------
    FileError
        It is no world, names a map twice, or a map is damaged.
    """
    where, budget = str(file), Budget()
    document = read_document(file, "world", where)
    found: dict[Path, Placed] = {}
    for path, place in [*_listed(document, file, where), *_matching(document, file, where)]:
        known = path.resolve()
        if known in found:
            raise FileError(f"{where}: {path} is named twice")
        level = read_map(path, named=f"{where}: {path}", budget=budget)
        if level.orientation == "isometric":
            raise FileError(
                f"{where}: {path} is isometric; its objects are on a flat map, but the world is on the screen"
            )
        found[known] = Placed(level, place)
    return list(found.values())


def _listed(document: Node, file: Path, where: str) -> Iterator[tuple[Path, Point]]:
    for raw in fields.parts(document, "maps", where):
        part = fields.node(raw, f"{where}: map {shown(raw)}")
        name = fields.text(part, "fileName", f"{where}: a map")
        place = f"{where}: map {shown(name)}"
        yield file.parent / name, (fields.number(part, "x", place, 0.0), fields.number(part, "y", place, 0.0))


def _matching(document: Node, file: Path, where: str) -> Iterator[tuple[Path, Point]]:
    """The maps beside it whose names say where they lie."""
    for raw in fields.parts(document, "patterns", where):
        part = fields.node(raw, f"{where}: pattern {shown(raw)}")
        pattern = _compiled(fields.text(part, "regexp", f"{where}: a pattern"), where)
        steps = [fields.number(part, f"multiplier{axis}", where, 1.0) for axis in "XY"]
        offsets = [fields.number(part, f"offset{axis}", where, 0.0) for axis in "XY"]
        for name in sorted(path.name for path in file.parent.iterdir()):
            match = pattern.fullmatch(name)
            if match:
                x, y = (
                    _index(match[1 + axis], f"{where}: {name}") * steps[axis] + offsets[axis]
                    for axis in (0, 1)
                )
                yield file.parent / name, (x, y)


def _compiled(text: str, where: str) -> re.Pattern[str]:
    if _REPEATED_GROUP.search(text) or len(_REPEAT.findall(text)) > _MOST_REPEATS or len(text) > 200:
        raise FileError(f"{where}: the pattern {shown(text)} is too involved; list the maps under 'maps'")
    try:
        pattern = re.compile(text, re.ASCII)
    except (re.error, OverflowError, RecursionError) as error:
        raise FileError(f"{where}: the pattern {shown(text)} cannot be read: {error}") from error
    if pattern.groups != 2:
        raise FileError(f"{where}: the pattern {shown(text)} has {pattern.groups} groups; x and y are two")
    return pattern


def _index(word: Any, where: str) -> int:
    if not re.fullmatch(r"-?\d{1,9}", word or "", re.ASCII):
        raise FileError(f"{where} matches with {shown(word)}, where a whole number belongs")
    return int(word)
