"""The file of a recording: a head, then frames, each of which counts once it is there as a whole.

====================== =================================================================================
bytes                  what
====================== =================================================================================
21                     ``broadphase recording`` and a line feed
uint16, uint32         version; bytes of the head
...                    the head: JSON
then for each frame:
uint32, uint32         bytes that follow; CRC-32 of the frame once it is inflated
...                    deflate, flushed, going on from the frame before; every `FRESH` frames it begins anew
====================== =================================================================================

An inflated frame is a row of sections, each with uint8 `Part`, uint32 bytes, and its content, a plain array.
All numbers are little-endian.  Each frame is handed to the system in one piece when it ends: what a program
that crashes leaves behind is good up to its last whole frame.
"""

import json
import struct
import zlib
from collections.abc import Iterator
from enum import IntEnum
from typing import Any, BinaryIO

import numpy as np
import numpy.typing as npt

MAGIC = b"broadphase recording\n"
VERSION = 1
FRESH = 64
"""Every so many frames a reader may begin."""
LARGEST = 1 << 28
"""Bytes of an inflated frame."""

_HEAD, _FRAME, _SECTION = struct.Struct("<HI"), struct.Struct("<II"), struct.Struct("<BI")
_LEVEL = 6


class Part(IntEnum):
    """What a section holds; all rows ascend."""

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
    """Rows that are elsewhere."""
    GUESS = 13
    """Which guess was nearest, for each number of each row; see `steps`."""
    MISSED = 14
    """By how much it missed."""
    SOLID = 15
    """All tiles of a new map, as bits."""
    ONE_WAY = 16
    CELLS = 17
    """Tiles that changed, counted row by row."""
    CELLS_SOLID = 18
    CELLS_ONE_WAY = 19


DTYPES = {
    **dict.fromkeys((Part.GONE, Part.CAME, Part.CHANGED, Part.MOVED, Part.TAG), "<i4"),
    **dict.fromkeys((Part.CATEGORY, Part.MASK, Part.CELLS), "<u4"),
    Part.SIZES: "<f8",
}
"""All others are bytes; `Part.PLACES` are what the head says."""

Sections = dict[Part, npt.NDArray[Any]]


class Writer:
    """Frames into a file; the head is written at once."""

    def __init__(self, file: BinaryIO, head: dict[str, Any]) -> None:
        self._file = file
        self._places = "<" + head["dtype"]
        self._frames = 0
        words = json.dumps(head).encode()
        file.write(MAGIC + _HEAD.pack(VERSION, len(words)) + words)

    def write(self, sections: Sections) -> None:
        """One frame, in one piece."""
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
        It is no recording, or one of a version that this program does not read.
    """
    if not data.startswith(MAGIC):
        raise ValueError("it is no recording")
    at = len(MAGIC) + _HEAD.size
    if len(data) < at:
        raise ValueError("its head is cut off")
    version, length = _HEAD.unpack_from(data, len(MAGIC))
    if version != VERSION:
        raise ValueError(f"its version is {version}, this program reads {VERSION}")
    head = json.loads(data[at : at + length])
    if not isinstance(head, dict) or not {"kind", "dim", "dtype", "touching"} <= set(head):
        raise ValueError("its head is damaged")
    if head["dtype"] not in ("f4", "f8") or head["dim"] not in (2, 3):
        raise ValueError("its head is damaged")
    return head, at + length


def read_frames(data: bytes, at: int, places: str) -> Iterator[tuple[Sections, int]]:
    """The whole frames from a place on at which a reader may begin; each with where it ends.

    Raises
    ------
    ValueError
        The next frame is cut off or damaged.
    """
    frames = 0
    while at < len(data):
        if frames % FRESH == 0:
            inflate = zlib.decompressobj(-zlib.MAX_WBITS)
        frames += 1
        if at + _FRAME.size > len(data):
            raise ValueError("it is cut off")
        length, check = _FRAME.unpack_from(data, at)
        at += _FRAME.size + length
        if at > len(data):
            raise ValueError("it is cut off")
        try:
            payload = inflate.decompress(data[at - length : at], LARGEST)
        except zlib.error as error:
            raise ValueError(f"it is damaged: {error}") from None
        if zlib.crc32(payload) != check:
            raise ValueError("it is damaged: its checksum is another")
        yield _sections(payload, places), at


def _sections(payload: bytes, places: str) -> Sections:
    found: Sections = {}
    at = 0
    while at < len(payload):
        part, length = _SECTION.unpack_from(payload, at)
        at += _SECTION.size
        dtype = np.dtype(dtype_of(Part(part), places))
        found[Part(part)] = np.frombuffer(payload, dtype, length // dtype.itemsize, at)
        at += length
    return found


def dtype_of(part: Part, places: str) -> str:
    """What a section is an array of."""
    return places if part == Part.PLACES else DTYPES.get(part, "u1")
