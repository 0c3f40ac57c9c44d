"""The frames of a recording: what they hold, how they differ from the frame before, and their file.

The file has a head, then frames.  A frame counts once it is there completely.

====================== =================================================================================
bytes                  what
====================== =================================================================================
21                     ``broadphase recording`` and a line feed
uint16, uint32         version; bytes of the head
...                    the head: JSON
uint32                 CRC-32 of all before it
then for each frame:
uint32, uint32         bytes that follow; CRC-32 of the frame when it is inflated
...                    deflate, flushed, continuing the frame before; it restarts every `FRESH` frames
====================== =================================================================================

An inflated frame is a sequence of sections, each with uint8 `Part`, uint32 bytes, and its content, a plain
array.  All numbers are little-endian.  Each frame is given to the system in one piece when it ends, so after
a crash of the program the file is good up to its last complete frame.

A row is the id of a body or box.  Its numbers say where it is: ``x, y`` of a body, the edges of a box.  Its
other attributes are in columns that seldom change; the form of a body is its shape wherever it is.

Numbers that change from frame to frame are written as differences of their bits as integers, byte by byte, so
a number comes back bit for bit, and deflate finds the bytes that are alike.
"""

import json
import struct
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from enum import IntEnum
from typing import Any, BinaryIO

import numpy as np
import numpy.typing as npt

from broadphase.geometry.shapes import Box, Capsule, Circle, Polygon, RoundedBox, Shape
from broadphase.world.tiles import TileMap

MAGIC = b"broadphase recording\n"
VERSION = 4
_IN_HEAD = {"kind": str, "dim": int, "dtype": str, "touching": bool, "index": str, "options": dict}
FRESH = 64
"""A reader can begin at every 64th frame."""
LARGEST = 1 << 28
"""The most bytes of an inflated frame."""

_HEAD, _FRAME, _SECTION = struct.Struct("<HI"), struct.Struct("<II"), struct.Struct("<BI")
_CHECK = struct.Struct("<I")
_LEVEL = 6

Numbers = npt.NDArray[np.floating[Any]]
Bytes = npt.NDArray[np.uint8]

_INTEGERS: dict[int, Any] = {4: np.int32, 8: np.int64}

# ---- the sections of a frame, and the file


class Part(IntEnum):
    """What a section holds; all rows are ascending."""

    WORDS = 0
    """JSON: calls, what was found, new tags and outlines, the form of a new tile map."""
    GONE = 1
    """Rows that were removed."""
    CAME = 2
    """Rows that were added."""
    PLACES = 3
    """Their numbers."""
    CHANGED = 4
    """Rows that were added, or have another form, tag, rule..."""
    STATIC = 5
    SENSOR = 6
    CATEGORY = 7
    MASK = 8
    TAG = 9
    FORM = 10
    """0 box, 1 circle, 2 polygon, 3 capsule, 4 rounded box."""
    SIZES = 11
    """Width and height; radius and 0; number of the outline and radius."""
    MOVED = 12
    """Rows that have moved."""
    STEPS = 13
    """Their steps; see `steps_between`."""
    SOLID = 14
    """All tiles of a new map, as bits."""
    ONE_WAY = 15
    CELLS = 16
    """Tiles that changed, counted row by row."""
    CELLS_SOLID = 17
    CELLS_ONE_WAY = 18


DTYPES = {
    **dict.fromkeys((Part.GONE, Part.CAME, Part.CHANGED, Part.MOVED, Part.TAG), "<i4"),
    **dict.fromkeys((Part.CATEGORY, Part.MASK, Part.CELLS), "<u4"),
    Part.SIZES: "<f8",
}
"""All others are bytes; the type of `Part.PLACES` is in the head."""

Sections = dict[Part, npt.NDArray[Any]]


class Writer:
    """Writes frames to a file; the head is written immediately."""

    def __init__(self, file: BinaryIO, head: dict[str, Any]) -> None:
        self._file = file
        self._places = "<" + head["dtype"]
        self._frames = 0
        words = json.dumps(head).encode()
        start = MAGIC + _HEAD.pack(VERSION, len(words)) + words
        file.write(start + _CHECK.pack(zlib.crc32(start)))

    def write(self, sections: Sections) -> None:
        """Write one frame, in one piece."""
        if self._frames % FRESH == 0:
            self._deflate = zlib.compressobj(_LEVEL, zlib.DEFLATED, -zlib.MAX_WBITS)
        self._frames += 1
        parts = []
        for part, content in sections.items():
            wire = np.ascontiguousarray(content, dtype_of(part, self._places)).tobytes()
            parts += [_SECTION.pack(part, len(wire)), wire]
        payload = b"".join(parts)
        packed = self._deflate.compress(payload) + self._deflate.flush(zlib.Z_SYNC_FLUSH)
        self._file.write(_FRAME.pack(len(packed), zlib.crc32(payload)) + packed)


def read_head(data: bytes) -> tuple[dict[str, Any], int]:
    """The head of a recording, and where its frames begin.

    Raises
    ------
    ValueError
        It is not a recording, or one of a version that this program does not read.
    """
    if not data.startswith(MAGIC):
        raise ValueError("it is not a broadphase recording")
    position = len(MAGIC) + _HEAD.size
    try:
        version, length = _HEAD.unpack_from(data, len(MAGIC))
        if version != VERSION:
            raise ValueError(f"its version is {version}, this program reads {VERSION}")
        end = position + length
        if _CHECK.unpack_from(data, end)[0] != zlib.crc32(data[:end]):
            raise ValueError("its head is damaged: its checksum is another")
    except struct.error:
        raise ValueError("its head is cut off") from None
    head = read_json(data[position:end])
    sound = all(type(head.get(name)) is kind for name, kind in _IN_HEAD.items())
    sound = sound and head["kind"] in ("index", "world") and head["dtype"] in ("f4", "f8")
    if not sound or head["dim"] not in (2, 3):
        raise ValueError("its head is damaged")
    return head, end + _CHECK.size


def read_json(text: bytes) -> dict[str, Any]:
    """A JSON object.

    Raises
    ------
    ValueError
        It is not JSON, or nested too deeply to be read.
    """
    try:
        read = json.loads(text)
    except RecursionError:
        raise ValueError("its JSON is nested too deeply") from None
    if not isinstance(read, dict):
        raise ValueError("its JSON is no object")
    return read


def read_frames(data: bytes, position: int, places: str) -> Iterator[tuple[Sections, int]]:
    """The complete frames from byte ``at`` on, where a reader can begin; each with the byte at which it ends.

    Raises
    ------
    ValueError
        The next frame is cut off or damaged.
    """
    frames = 0
    while position < len(data):
        if frames % FRESH == 0:
            inflate = zlib.decompressobj(-zlib.MAX_WBITS)
        frames += 1
        if position + _FRAME.size > len(data):
            raise ValueError("it is cut off")
        length, check = _FRAME.unpack_from(data, position)
        position += _FRAME.size + length
        if position > len(data):
            raise ValueError("it is cut off")
        try:
            payload = inflate.decompress(data[position - length : position], LARGEST)
        except zlib.error as error:
            raise ValueError(f"it is damaged: {error}") from None
        if zlib.crc32(payload) != check:
            raise ValueError("it is damaged: its checksum is another")
        yield _sections(payload, places), position


def _sections(payload: bytes, places: str) -> Sections:
    found: Sections = {}
    position = 0
    while position < len(payload):
        if position + _SECTION.size > len(payload):
            raise ValueError("it is damaged: a section is cut off")
        part, length = _SECTION.unpack_from(payload, position)
        position += _SECTION.size
        dtype = np.dtype(dtype_of(Part(part), places))
        found[Part(part)] = np.frombuffer(payload, dtype, length // dtype.itemsize, position)
        position += length
    return found


def dtype_of(part: Part, places: str) -> str:
    """The type of the array in a section."""
    return places if part == Part.PLACES else DTYPES.get(part, "u1")


# ---- numbers that move


def steps_between(before: Numbers, after: Numbers) -> Bytes:
    """What `stepped` makes ``after`` of ``before`` with: first all lowest bytes.

    Deflated they take 0.7 bytes a number where speeds are steady, 5.5 among balls that bounce off each other.

    Examples
    --------
    >>> before, after = np.array([[0.5, 7.0]]), np.array([[0.6, -0.0]])
    >>> stepped(before, steps_between(before, after)).tolist()
    [[0.6, -0.0]]
    """
    kind = _INTEGERS[before.itemsize]
    steps = np.ascontiguousarray(after).view(kind) - np.ascontiguousarray(before).view(kind)
    folded = steps << 1 ^ steps >> (8 * before.itemsize - 1)  # small ones of either sign have small bytes
    found: Bytes = folded.astype(f"<i{before.itemsize}").reshape(-1, 1).view(np.uint8).T.ravel()
    return found


def stepped(before: Numbers, steps: Bytes) -> Numbers:
    """The numbers after these steps."""
    width = before.itemsize
    folded = np.ascontiguousarray(steps.reshape(width, -1).T).view(f"<u{width}").astype(f"u{width}")
    change = (folded >> 1) ^ -(folded & 1)
    after: Numbers = (before.view(change.dtype) + change.reshape(before.shape)).view(before.dtype)
    return after


# ---- the rows of a frame


COLUMNS: dict[str, tuple[Part, type]] = {
    "static": (Part.STATIC, np.bool_),
    "sensor": (Part.SENSOR, np.bool_),
    "category": (Part.CATEGORY, np.uint32),
    "mask": (Part.MASK, np.uint32),
    "tag": (Part.TAG, np.int32),
}
BOX, CIRCLE, POLYGON = 0, 1, 2
WITH_OUTLINE: dict[int, type[Polygon]] = {POLYGON: Polygon, 3: Capsule, 4: RoundedBox}

Rows = npt.NDArray[np.int32]


@dataclass(frozen=True)
class FrameRows:
    """All rows at the end of a frame, by ascending id; a frame that changes them has others."""

    ids: Rows
    numbers: Numbers
    columns: dict[str, npt.NDArray[Any]]
    forms: list[Shape] | None = None
    """``None`` for an index."""

    @classmethod
    def nothing(cls, width: int, dtype: npt.DTypeLike, *, has_forms: bool) -> "FrameRows":
        """No rows at all."""
        columns: dict[str, npt.NDArray[Any]] = {
            name: np.empty(0, kind) for name, (_, kind) in COLUMNS.items()
        }
        return cls(np.empty(0, np.int32), np.empty((0, width), dtype), columns, [] if has_forms else None)


def difference(before: FrameRows, now: FrameRows) -> tuple[Sections, list[list[list[float]]]]:
    """The changes from ``before`` to ``now`` as sections, and the outlines of polygons that they refer to."""
    places = np.searchsorted(before.ids, now.ids)
    stays = places < len(before.ids)
    stays[stays] = before.ids[places[stays]] == now.ids[stays]
    then, rows, leaves = places[stays], np.flatnonzero(stays), np.ones(len(before.ids), np.bool_)
    leaves[then] = False
    changes = np.zeros(len(then), np.bool_)
    for name, column in now.columns.items():
        changes |= column[rows] != before.columns[name][then]
    if now.forms is not None and before.forms is not None:
        pairs = ((now.forms[a], before.forms[b]) for a, b in zip(rows.tolist(), then.tolist(), strict=True))
        changes |= np.fromiter((a is not b and _differ(a, b) for a, b in pairs), np.bool_, len(then))
    bits = np.uint64 if now.numbers.dtype.itemsize == 8 else np.uint32
    moves = (now.numbers[rows].view(bits) != before.numbers[then].view(bits)).any(axis=1)
    changed = ~stays
    changed[rows] = changes
    outlines: list[list[list[float]]] = []
    sections = {
        Part.GONE: before.ids[leaves],
        Part.CAME: now.ids[~stays],
        Part.PLACES: now.numbers[~stays].ravel(),
        **_described(now, np.flatnonzero(changed), outlines),
        Part.MOVED: now.ids[rows[moves]],
        Part.STEPS: steps_between(before.numbers[then[moves]], now.numbers[rows[moves]]),
    }
    return {part: content for part, content in sections.items() if len(content)}, outlines


def _described(now: FrameRows, rows: npt.NDArray[np.intp], outlines: list[list[list[float]]]) -> Sections:
    sections: Sections = {Part.CHANGED: now.ids[rows]}
    for name, (part, _) in COLUMNS.items():
        sections[part] = now.columns[name][rows]
    if now.forms is not None:
        kinds, sizes = np.zeros(len(rows), np.uint8), np.zeros((len(rows), 2))
        for k, row in enumerate(rows.tolist()):
            kinds[k], sizes[k] = _encode_form(now.forms[row], outlines)
        sections |= {Part.FORM: kinds, Part.SIZES: sizes.ravel()}
    return sections


def _differ(form: Shape, other: Shape) -> bool:
    """Whether two shapes differ in more than their place."""
    if isinstance(form, Box) and isinstance(other, Box):
        return (form.width, form.height) != (other.width, other.height)
    if isinstance(form, Circle) and isinstance(other, Circle):
        return form.radius != other.radius
    if isinstance(form, Polygon) and isinstance(other, Polygon) and type(form) is type(other):
        return _outline(form) != _outline(other) or form.radius != other.radius
    return True


def _outline(form: Polygon) -> list[list[float]]:
    """Its corners relative to its place, then its centre: after a turn about it, no corner is the place."""
    return [*form.offsets.tolist(), list(form._middle)]


def _encode_form(form: Shape, outlines: list[list[list[float]]]) -> tuple[int, tuple[float, float]]:
    if isinstance(form, Box):
        return BOX, (form.width, form.height)
    if isinstance(form, Circle):
        return CIRCLE, (form.radius, 0.0)
    assert isinstance(form, Polygon)
    outlines.append(_outline(form))
    code = next((code for code, kind in WITH_OUTLINE.items() if kind is type(form)), POLYGON)
    return code, (len(outlines) - 1, form.radius)


# ---- tile maps: as a whole when they are new, then cell by cell


class TileDifferences:
    """Compares a tile map with what was last written of it."""

    def __init__(self) -> None:
        self._map: TileMap | None = None
        self._copy: TileMap | None = None

    def difference(self, tiles: TileMap | None) -> tuple[Sections, dict[str, Any]]:
        """The changes since then: sections, and entries of the JSON section."""
        before, self._map = self._map, tiles
        if tiles is None:
            self._copy = None
            return {}, {} if before is None else {"tiles": None}
        old = self._copy
        if before is not tiles or old is None or (old.one_way is None) != (tiles.one_way is None):
            self._copy = tiles.copy()
            return _whole(tiles)
        changed = (tiles.solid != old.solid).ravel()
        if tiles.one_way is not None and old.one_way is not None:
            changed |= (tiles.one_way != old.one_way).ravel()
        cells = np.flatnonzero(changed)
        if not len(cells):
            return {}, {}
        sections: Sections = {Part.CELLS: cells, Part.CELLS_SOLID: tiles.solid.ravel()[cells]}
        if tiles.one_way is not None:
            sections[Part.CELLS_ONE_WAY] = tiles.one_way.ravel()[cells]
        self._copy = tiles.copy()
        return sections, {}


def _whole(tiles: TileMap) -> tuple[Sections, dict[str, Any]]:
    sections: Sections = {Part.SOLID: np.packbits(tiles.solid)}
    if tiles.one_way is not None:
        sections[Part.ONE_WAY] = tiles.one_way.ravel()
    form = {"shape": tiles.solid.shape, "size": tiles.tile_size, "origin": tiles.origin}
    return sections, {"tiles": form}
