"""What there is at the end of a frame, row by row, and how it differs from the frame before.

A row is the id of a body or box.  Its numbers say where it is: ``x, y`` of a body, the edges of a box.  What
else it is stands in columns that seldom change; the form of a body is its shape wherever it is.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from broadphase.boxes import BoxArray
from broadphase.recording.container import Part, Sections
from broadphase.recording.steps import Numbers, Steps
from broadphase.shapes.kinds import Box, Circle, Polygon, Shape
from broadphase.shapes.rounded import Capsule, RoundedBox, from_outline
from broadphase.shapes.table import ShapeTable, table_of

_COLUMNS: dict[str, tuple[Part, type, Any]] = {
    "static": (Part.STATIC, np.bool_, False),
    "sensor": (Part.SENSOR, np.bool_, False),
    "category": (Part.CATEGORY, np.uint32, 1),
    "mask": (Part.MASK, np.uint32, 0xFFFFFFFF),
    "tag": (Part.TAG, np.int32, 0),
}
_BOX, _CIRCLE, _POLYGON = 0, 1, 2
_WITH_OUTLINE: dict[int, type[Polygon]] = {_POLYGON: Polygon, 3: Capsule, 4: RoundedBox}
_NO_FORM = Box(0.0, 0.0, 0.0, 0.0)
MOST_ROWS = 1 << 24
"""A recording with higher ids is damaged."""

Rows = npt.NDArray[np.int32]


@dataclass
class Held:
    """The rows; those that are not alive hold zeros and what is usual."""

    numbers: Numbers
    alive: npt.NDArray[np.bool_]
    columns: dict[str, npt.NDArray[Any]]
    forms: list[Shape | None] | None = None
    """``None`` for an index."""
    _table: ShapeTable | None = None
    """The forms as columns, once somebody has asked for boxes."""

    @classmethod
    def nothing(cls, width: int, dtype: npt.DTypeLike, *, has_forms: bool) -> "Held":
        """No rows."""
        forms: list[Shape | None] | None = [] if has_forms else None
        return cls(np.zeros((0, width), dtype), np.zeros(0, np.bool_), _usual(0), forms)

    def grown(self, end: int) -> "Held":
        """The same with room for rows below ``end``."""
        more = end - len(self.alive)
        if more <= 0:
            return self
        usual = _usual(more)
        return Held(
            np.vstack([self.numbers, np.zeros((more, self.numbers.shape[1]), self.numbers.dtype)]),
            np.append(self.alive, np.zeros(more, np.bool_)),
            {name: np.append(column, usual[name]) for name, column in self.columns.items()},
            None if self.forms is None else self.forms + [None] * more,
        )

    def copy(self) -> "Held":
        """Rows of its own."""
        columns = {name: column.copy() for name, column in self.columns.items()}
        forms = None if self.forms is None else list(self.forms)
        return Held(self.numbers.copy(), self.alive.copy(), columns, forms)

    @property
    def ids(self) -> Rows:
        """The rows in use, ascending."""
        return np.flatnonzero(self.alive).astype(np.int32)

    def boxes(self) -> BoxArray:
        """The boxes of the rows in use."""
        ids = self.ids
        if self.forms is None:
            return self.numbers[ids]
        if self._table is None:
            self._table = table_of([form or _NO_FORM for form in self.forms])
        self._table.x[:], self._table.y[:] = self.numbers.T
        return self._table.bounds(ids)

    def put_form(self, row: int, form: Shape | None) -> None:
        """Another form of a body; ``None`` where there is none any more."""
        assert self.forms is not None
        self.forms[row] = form
        if self._table is not None:
            self._table.put(row, form or _NO_FORM)

    def shapes(self) -> list[Shape]:
        """The forms of the rows in use; of an index none."""
        return [form for form in self.forms or () if form is not None]


def difference(before: Held, now: Held, steps: Steps) -> tuple[Sections, list[list[list[float]]]]:
    """What has become of ``before``, as sections, and the outlines of polygons that they name."""
    end = max(len(before.alive), len(now.alive))
    before, now = before.grown(end), now.grown(end)
    stays = before.alive & now.alive
    came = _rows(now.alive & ~before.alive)
    changed = now.alive & ~before.alive
    for name, column in now.columns.items():
        changed |= stays & (column != before.columns[name])
    if now.forms is not None and before.forms is not None:
        pairs = zip(now.forms, before.forms, strict=True)
        changed |= now.alive & np.fromiter((a is not b and _differ(a, b) for a, b in pairs), np.bool_, end)
    bits = np.uint64 if now.numbers.dtype.itemsize == 8 else np.uint32
    moved = _rows(stays & (now.numbers.view(bits) != before.numbers.view(bits)).any(axis=1))
    steps.forget(came)
    guess, missed = steps.encode(moved, before.numbers[moved], now.numbers[moved])
    outlines: list[list[list[float]]] = []
    sections = {
        Part.GONE: _rows(before.alive & ~now.alive),
        Part.CAME: came,
        Part.PLACES: now.numbers[came].ravel(),
        **_described(now, _rows(changed), outlines),
        Part.MOVED: moved,
        Part.GUESS: guess,
        Part.MISSED: missed,
    }
    return {part: content for part, content in sections.items() if len(content)}, outlines


def _described(now: Held, rows: Rows, outlines: list[list[list[float]]]) -> Sections:
    sections: Sections = {Part.CHANGED: rows}
    for name, (part, _, _) in _COLUMNS.items():
        sections[part] = now.columns[name][rows]
    if now.forms is not None:
        kinds, sizes = np.zeros(len(rows), np.uint8), np.zeros((len(rows), 2))
        for k, row in enumerate(rows.tolist()):
            kinds[k], sizes[k] = _written(now.forms[row], outlines)
        sections |= {Part.FORM: kinds, Part.SIZES: sizes.ravel()}
    return sections


def follow(held: Held, sections: Sections, outlines: list[Any], steps: Steps) -> Held:
    """What `difference` was given as ``now``.

    Raises
    ------
    ValueError
        The sections do not fit what is held.
    """
    rows = {
        part: sections.get(part, np.empty(0, np.int32))
        for part in (Part.GONE, Part.CAME, Part.CHANGED, Part.MOVED)
    }
    end = 1 + max(int(part.max(initial=-1)) for part in rows.values())
    if end > MOST_ROWS or any(int(part.min(initial=0)) < 0 for part in rows.values()):
        raise ValueError("it names a row that cannot be")
    held = held.grown(end)
    width = held.numbers.shape[1]
    held.alive[rows[Part.GONE]] = False
    _forget(held, rows[Part.GONE])
    came, moved = rows[Part.CAME], rows[Part.MOVED]
    held.alive[came] = True
    if len(came):
        held.numbers[came] = sections[Part.PLACES].reshape(-1, width)
    for name, (part, _, _) in _COLUMNS.items():
        if part in sections:
            held.columns[name][rows[Part.CHANGED]] = sections[part]
    if held.forms is not None and len(rows[Part.CHANGED]):
        sizes = sections[Part.SIZES].reshape(-1, 2).tolist()
        forms = zip(rows[Part.CHANGED].tolist(), sections[Part.FORM].tolist(), sizes, strict=True)
        for row, kind, size in forms:
            held.put_form(row, _form(kind, size, outlines))
    steps.forget(came)
    if len(moved):
        before = held.numbers[moved]
        held.numbers[moved] = steps.decode(moved, before, sections[Part.GUESS], sections[Part.MISSED])
    return held


def _forget(held: Held, gone: Rows) -> None:
    held.numbers[gone] = 0
    for name, (_, _, usual) in _COLUMNS.items():
        held.columns[name][gone] = usual
    if held.forms is not None:
        for row in gone.tolist():
            held.put_form(row, None)


def _differ(form: Shape | None, other: Shape | None) -> bool:
    """Whether they are other shapes, not only in another place."""
    if isinstance(form, Box) and isinstance(other, Box):
        return (form.width, form.height) != (other.width, other.height)
    if isinstance(form, Circle) and isinstance(other, Circle):
        return form.radius != other.radius
    if isinstance(form, Polygon) and isinstance(other, Polygon) and type(form) is type(other):
        return _outline(form) != _outline(other) or form.radius != other.radius
    return True


def _outline(form: Polygon) -> list[list[float]]:
    """Its corners and, behind them, its centre, seen from its place: no corner, where it was turned."""
    return [*form.offsets.tolist(), list(form._middle)]


def _written(form: Shape | None, outlines: list[list[list[float]]]) -> tuple[int, tuple[float, float]]:
    if isinstance(form, Box):
        return _BOX, (form.width, form.height)
    if isinstance(form, Circle):
        return _CIRCLE, (form.radius, 0.0)
    assert isinstance(form, Polygon)
    outlines.append(_outline(form))
    code = next((code for code, kind in _WITH_OUTLINE.items() if kind is type(form)), _POLYGON)
    return code, (len(outlines) - 1, form.radius)


def _form(kind: int, size: list[float], outlines: list[Any]) -> Shape:
    if kind == _BOX:
        return Box(0.0, 0.0, *size)
    if kind == _CIRCLE:
        return Circle(0.0, 0.0, size[0])
    return from_outline(_WITH_OUTLINE[kind], outlines[int(size[0])], size[1])


def _usual(rows: int) -> dict[str, npt.NDArray[Any]]:
    return {name: np.full(rows, usual, dtype) for name, (_, dtype, usual) in _COLUMNS.items()}


def _rows(which: npt.NDArray[np.bool_]) -> Rows:
    return np.flatnonzero(which).astype(np.int32)
