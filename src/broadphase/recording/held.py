"""What a reader holds of a recording after each frame: its rows and tiles, and what the JSON of a frame says.

A file may be damaged in ways that its checksums do not show, or be made to do harm.  So all that a frame says
is checked before it is applied, and memory is taken for what the file holds: a row has a place in arrays that
are as long as the most rows at a time, whatever its number.
"""

import math
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from broadphase.geometry.shapes import Box, Circle, Shape, from_outline
from broadphase.geometry.table import ShapeTable, table_of
from broadphase.inputs.boxes import BoxArray
from broadphase.recording.frames import (
    BOX,
    CIRCLE,
    COLUMNS,
    WITH_OUTLINE,
    Numbers,
    Part,
    Rows,
    Sections,
    Steps,
    defaults_of,
    read_json,
)
from broadphase.world.tiles import TileMap

MOST_ROWS = 1 << 24
"""A recording with higher ids is damaged."""
_MOST_CALLS = 1 << 53
_NO_FORM = Box(0.0, 0.0, 0.0, 0.0)
_FREE = -1


# ---- what the JSON of a frame says


class Calls(NamedTuple):
    """How often a method was called in a frame, and how long all calls took together."""

    times: int
    seconds: float


@dataclass(frozen=True)
class Words:
    """The JSON of a frame."""

    calls: dict[str, Calls]
    found: int | None
    listened: bool | None
    tags: list[str]
    """The texts of new tags."""
    outlines: list[Any]
    """Those of polygons that are new in this frame."""
    tiles: Any
    """The form of a new tile map, None for none from here on; ``...`` if there is no new one."""


def words_of(sections: Sections) -> Words:
    """The JSON of a frame, checked.

    Raises
    ------
    ValueError
        It says what no recorder writes.
    """
    if Part.WORDS not in sections:
        raise ValueError("it has no words")
    read = read_json(sections[Part.WORDS].tobytes())
    calls, tags, outlines = read.get("calls"), read.get("tags", []), read.get("outlines", [])
    found, listened = read.get("found"), read.get("listened")
    if not isinstance(calls, dict):
        raise ValueError("its calls cannot be")
    _require(isinstance(tags, list) and all(isinstance(tag, str) for tag in tags), "its tags")
    _require(isinstance(outlines, list), "its outlines")
    _require(found is None or _is_number(found, int), "what it found")
    _require(listened is None or isinstance(listened, bool), "what it listened to")
    made = {name: _calls(name, said) for name, said in calls.items()}
    return Words(made, found, listened, tags, outlines, read.get("tiles", ...))


def _calls(name: str, said: Any) -> Calls:
    sound = isinstance(said, list) and len(said) == 2 and _is_number(said[0], int) and _is_number(said[1])
    _require(sound, f"its calls of {name[:60]}")
    return Calls(said[0], float(said[1]))


def _is_number(value: Any, kind: Any = (int, float)) -> bool:
    return isinstance(value, kind) and not isinstance(value, bool) and 0 <= value <= _MOST_CALLS


def _require(holds: bool, what: str) -> None:
    if not holds:
        raise ValueError(f"{what} cannot be")


# ---- its rows


@dataclass
class HeldRows:
    """All rows at the end of a frame, each at a place of its own; free places hold anything."""

    numbers: Numbers
    columns: dict[str, npt.NDArray[Any]]
    ids: Rows
    """The id of the row at each place; `_FREE` where there is none."""
    forms: list[Shape | None] | None = None
    """``None`` for an index."""
    order: Rows = field(default_factory=lambda: np.empty(0, np.int32))
    """The places of all rows, by ascending id."""
    _table: ShapeTable | None = None
    """The forms as columns, made by the first call of `boxes`."""

    @classmethod
    def nothing(cls, width: int, dtype: npt.DTypeLike, *, has_forms: bool) -> "HeldRows":
        """No rows at all."""
        forms: list[Shape | None] | None = [] if has_forms else None
        return cls(np.zeros((0, width), dtype), defaults_of(0), np.empty(0, np.int32), forms)

    def copy(self) -> "HeldRows":
        """A copy with arrays of its own."""
        columns = {name: column.copy() for name, column in self.columns.items()}
        forms = None if self.forms is None else list(self.forms)
        return HeldRows(self.numbers.copy(), columns, self.ids.copy(), forms, self.order)

    @property
    def nbytes(self) -> int:
        """The memory that a copy takes."""
        columns = sum(column.nbytes for column in self.columns.values())
        return self.numbers.nbytes + columns + self.ids.nbytes + 8 * len(self.forms or ())

    def places(self, rows: Rows) -> Rows:
        """The places of rows that are there.

        Raises
        ------
        ValueError
            One is not, or they are not ascending.
        """
        there = self.ids[self.order]
        found = np.searchsorted(there, rows).clip(max=max(len(there) - 1, 0))
        if len(rows) and (not len(there) or (there[found] != rows).any() or (np.diff(rows) <= 0).any()):
            raise ValueError("it names a row that is not there")
        places: Rows = self.order[found]
        return places

    def boxes(self) -> BoxArray:
        """The boxes of the rows, by ascending id."""
        if self.forms is None:
            return self.numbers[self.order]
        if self._table is None:
            self._table = table_of([form or _NO_FORM for form in self.forms])
        self._table.x[:], self._table.y[:] = self.numbers.T
        return self._table.bounds(self.order)

    def shapes(self) -> list[Shape]:
        """The forms of the rows, by ascending id; empty for an index."""
        forms = self.forms
        return [] if forms is None else [forms[place] or _NO_FORM for place in self.order.tolist()]

    def remove(self, rows: Rows) -> None:
        """Free the places of some rows."""
        if not len(rows):
            return
        places = self.places(rows)
        self.ids[places] = _FREE
        for place in places.tolist() if self.forms is not None else ():
            self.put_form(place, None)
        self._sort()

    def add(self, rows: Rows) -> Rows:
        """Give places to new rows, with the usual attributes."""
        if not len(rows):
            return rows
        sound = rows.min() >= 0 and rows.max() < MOST_ROWS and (np.diff(rows) > 0).all()
        if not sound or np.isin(rows, self.ids).any():
            raise ValueError("it adds a row that cannot be")
        free = np.flatnonzero(self.ids == _FREE)[: len(rows)]
        if len(free) < len(rows):
            before = len(self.ids)
            self._grow(before + max(len(rows) - len(free), before // 4))
            free = np.append(free, np.arange(before, before + len(rows) - len(free)))
        places = free.astype(np.int32)
        self.ids[places] = rows
        for name, (_, _, usual) in COLUMNS.items():
            self.columns[name][places] = usual
        self._sort()
        return places

    def put_form(self, place: int, form: Shape | None) -> None:
        """Set the form of a body; ``None`` for a place that is free."""
        assert self.forms is not None
        self.forms[place] = form
        if self._table is not None:
            self._table.put(place, form or _NO_FORM)

    def _sort(self) -> None:
        used = np.flatnonzero(self.ids != _FREE)
        self.order = used[np.argsort(self.ids[used])].astype(np.int32)

    def _grow(self, end: int) -> None:
        more = end - len(self.ids)
        usual = defaults_of(more)
        self.numbers = np.vstack([self.numbers, np.zeros((more, self.numbers.shape[1]), self.numbers.dtype)])
        self.columns = {name: np.append(column, usual[name]) for name, column in self.columns.items()}
        self.ids = np.append(self.ids, np.full(more, _FREE, np.int32))
        if self.forms is not None:
            self.forms += [None] * more
            self._table = None


def apply(held: HeldRows, sections: Sections, outlines: list[Any], tags: int, steps: Steps) -> None:
    """Apply the sections that `broadphase.recording.frames.difference` made.

    ``tags`` says how many tags there are by now.

    Raises
    ------
    ValueError
        The sections do not fit the rows.
    """
    none = np.empty(0, np.int32)
    gone, came, changed, moved = (
        sections.get(part, none) for part in (Part.GONE, Part.CAME, Part.CHANGED, Part.MOVED)
    )
    held.remove(gone)
    fresh = held.add(came)
    if len(came):
        if not np.isin(came, changed).all():
            raise ValueError("it adds a row without its attributes")
        held.numbers[fresh] = _section(sections, Part.PLACES).reshape(len(came), -1)
    if len(changed):
        _describe(held, held.places(changed), sections, outlines, tags)
    steps.forget(fresh)
    places = held.places(moved)
    if len(moved):
        wire = _section(sections, Part.GUESS), _section(sections, Part.MISSED)
        held.numbers[places] = steps.decode(places, held.numbers[places], *wire)
    for rows in (fresh, places):
        _check_numbers(held.numbers[rows], held.forms is not None)


def _describe(held: HeldRows, places: Rows, sections: Sections, outlines: list[Any], tags: int) -> None:
    for name, (part, _, _) in COLUMNS.items():
        held.columns[name][places] = _section(sections, part)
    numbers = held.columns["tag"][places]
    if (numbers < 0).any() or (numbers >= tags).any():
        raise ValueError("it names a tag that is not there")
    if held.forms is not None:
        sizes = _section(sections, Part.SIZES).reshape(len(places), 2).tolist()
        kinds = _section(sections, Part.FORM).tolist()
        for place, kind, size in zip(places.tolist(), kinds, sizes, strict=True):
            held.put_form(place, _decode_form(kind, size, outlines))


def _section(sections: Sections, part: Part) -> npt.NDArray[Any]:
    if part not in sections:
        raise ValueError(f"it has no section {part.name}")
    return sections[part]


def _check_numbers(numbers: Numbers, of_bodies: bool) -> None:
    low, high = np.hsplit(numbers, 2)
    if not (np.isfinite(numbers).all() if of_bodies else (low <= high).all()):
        raise ValueError("a row is where none can be")


def _decode_form(kind: int, size: list[float], outlines: list[Any]) -> Shape:
    if kind == BOX:
        return Box(0.0, 0.0, *size)
    if kind == CIRCLE:
        return Circle(0.0, 0.0, size[0])
    number, radius = size
    if kind not in WITH_OUTLINE or not (math.isfinite(number) and 0 <= number < len(outlines)):
        raise ValueError("its form is of no known kind")
    return from_outline(WITH_OUTLINE[kind], outlines[int(number)], radius)


# ---- its tiles


def apply_tiles(before: TileMap | None, sections: Sections, words: Words) -> TileMap | None:
    """The tile map after the changes of `TileDifferences.difference`; ``before`` itself is not changed.

    Raises
    ------
    ValueError
        They do not fit the map.
    """
    if words.tiles is not ...:
        return None if words.tiles is None else _new_tiles(words.tiles, sections)
    if before is None or Part.CELLS not in sections:
        return before
    now, cells = before.copy(), sections[Part.CELLS]
    if cells.max(initial=0) >= now.solid.size:
        raise ValueError("it changes a tile that is not there")
    now.solid.ravel()[cells] = _section(sections, Part.CELLS_SOLID) != 0
    if now.one_way is not None:
        now.one_way.ravel()[cells] = _section(sections, Part.CELLS_ONE_WAY)
    return now


def _new_tiles(form: Any, sections: Sections) -> TileMap:
    _require(isinstance(form, dict) and {"shape", "size", "origin"} <= set(form), "its tiles")
    shape = form["shape"]
    sound = isinstance(shape, list) and len(shape) == 2 and all(_is_number(side, int) for side in shape)
    _require(sound, "its tiles")
    rows, columns = shape
    bits, sides = _section(sections, Part.SOLID), sections.get(Part.ONE_WAY)
    # Before memory is taken: so many bits must be there.
    _require(len(bits) == -(-rows * columns // 8), "the number of its tiles")
    _require(sides is None or len(sides) == rows * columns, "the number of its tiles")
    solid = np.unpackbits(bits, count=rows * columns).astype(np.bool_).reshape(rows, columns)
    one_way = None if sides is None else sides.reshape(rows, columns).copy()
    return TileMap(solid, tuple(form["size"]), tuple(form["origin"]), one_way=one_way)
