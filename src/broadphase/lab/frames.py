"""Frames on the wire: a header and sections of numbers, little-endian, so that a page reads them in place.

A frame is

====== ======= ===============================================================================
offset type    what
====== ======= ===============================================================================
0      4 bytes ``BPL1``
4      uint32  epoch: counts the set-ups; what is of an older one is stale
8      float64 when the frame was made, milliseconds since 1970
16     uint32  frame of the scene
20     uint32  number of sections
24     uint32  serial: counts the frames sent; the page acknowledges it
28     uint32  0
====== ======= ===============================================================================

and then the sections, each with a header of 8 bytes (uint16 kind, uint16 lane, uint32 bytes of content), and
its content, filled up to a multiple of 8 bytes.  `Kind` says what the content is.
"""

import struct
import time
from enum import IntEnum
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

MAGIC = b"BPL1"
HEADER = struct.Struct("<4sIdIIII")
SECTION = struct.Struct("<HHI")

# Beyond this a float32 would be infinite or a canvas would give up.
_FARTHEST = np.float32(1e18)


class Kind(IntEnum):
    """What a section holds; one with a lane of 0 where there is only one."""

    CENTERS = 1
    """float32 ``(n, 2)``: where the bodies are."""
    HALVES = 2
    """float32 ``(n, 2)``: half their sizes; only in the first frame of an epoch."""
    STATIC = 3
    """uint8 ``(n,)``: 1 for a body that never moves; only in the first frame of an epoch."""
    TILES = 4
    """float32 ``(m, 4)``: rectangles of solid tiles; only in the first frame of an epoch."""
    HITS = 5
    """uint32 ``(m, 2)``: the pairs that overlap."""
    HIT_BODIES = 6
    """uint8 ``(n,)``: 1 for a body with a partner; where the pairs are too many to be sent."""
    NUMBERS = 7
    """float64 ``(10,)`` of a lane: tests, candidates (NaN: not known), overlaps, cells, swaps, seconds,
    copies a body, 1 where sweep and prune fell back, for how many comparisons each one of `TESTS` stands,
    seconds of the tight loop (NaN: not measured)."""
    TESTS = 8
    """uint32 ``(m, 2)`` of a lane: the pairs of bodies compared, in their order."""
    CELLS = 9
    """float32 ``(m, 8)`` of a lane: its four edges, bodies, level, bodies of other cells, place."""
    NODES = 10
    """float32 ``(m, 6)`` of a lane: min x, min y, max x, max y, depth, 1 for a leaf."""
    STRIPS = 11
    """float32 ``(2 m,)`` of a lane with m strips: the swept axis, m - 1 borders, the copies in each strip."""
    ORDER = 12
    """uint32 ``(2 + 2 n,)`` of a lane: the sorted axis, n, the ids in order, where each one's walk ends."""
    ENDS = 13
    """uint32 ``(1 + 4 n,)`` of a lane: n, then for x and for y the ends ``2 * id + is upper`` in order."""
    CLASS_BITS = 15
    """uint32 ``(m, 3)`` of a lane: strip, id and class bits of copies whose bodies began earlier."""
    HELD = 14
    """int32 ``(1,)``: the body that is held, or -1."""
    SWAPS = 16
    """uint32 ``(m, 3)`` of a lane: axis, the end that moved, the end that it passed, in their order."""
    OF_FRAME = 18
    """uint32 ``(1,)`` of a lane: of which frame its numbers are; an earlier one while it is at work."""
    BEFORE = 17
    """uint32 ``(1 + 4 n,)`` of a lane: as `ENDS`, before the swaps."""


class Section(NamedTuple):
    """One section of a frame."""

    kind: Kind
    lane: int
    content: npt.NDArray[Any]


def encode(epoch: int, frame: int, serial: int, sections: list[Section]) -> bytes:
    """One frame as bytes.

    Examples
    --------
    >>> sections = [Section(Kind.HELD, 0, np.array([-1], np.int32))]
    >>> wire = encode(1, 7, 9, sections)
    >>> decode(wire).frame, decode(wire).sections[0].content.tolist()
    (7, [-1])
    """
    parts = [HEADER.pack(MAGIC, epoch, time.time() * 1e3, frame, len(sections), serial, 0)]
    for kind, lane, content in sections:
        little = np.ascontiguousarray(content, TYPES[kind])
        parts.append(SECTION.pack(kind, lane, little.nbytes))
        parts.append(little.tobytes())
        parts.append(bytes(-little.nbytes % 8))
    return b"".join(parts)


class Decoded(NamedTuple):
    """A frame as read back; what tests and benchmarks use."""

    epoch: int
    made: float
    frame: int
    serial: int
    sections: list[Section]

    def get(self, kind: Kind, lane: int = 0) -> npt.NDArray[Any] | None:
        """The content of a section as a flat array; None where there is none."""
        for section in self.sections:
            if section.kind == kind and section.lane == lane:
                return section.content
        return None


def decode(wire: bytes) -> Decoded:
    """The frame in ``wire``."""
    magic, epoch, made, frame, count, serial, _ = HEADER.unpack_from(wire)
    if magic != MAGIC:
        raise ValueError("this is no frame")
    at = HEADER.size
    sections = []
    for _ in range(count):
        kind, lane, size = SECTION.unpack_from(wire, at)
        at += SECTION.size
        dtype = np.dtype(TYPES[Kind(kind)])
        sections.append(Section(Kind(kind), lane, np.frombuffer(wire, dtype, size // dtype.itemsize, at)))
        at += size + -size % 8
    return Decoded(epoch, made, frame, serial, sections)


def drawable(values: npt.NDArray[np.float64]) -> npt.NDArray[np.float32]:
    """Coordinates as the page gets them: float32, and never infinite."""
    with np.errstate(over="ignore"):
        single = np.nan_to_num(values.astype(np.float32))
    clipped: npt.NDArray[np.float32] = np.clip(single, -_FARTHEST, _FARTHEST)
    return clipped


TYPES = {
    Kind.CENTERS: "<f4",
    Kind.HALVES: "<f4",
    Kind.STATIC: "u1",
    Kind.TILES: "<f4",
    Kind.HITS: "<u4",
    Kind.HIT_BODIES: "u1",
    Kind.NUMBERS: "<f8",
    Kind.TESTS: "<u4",
    Kind.CELLS: "<f4",
    Kind.NODES: "<f4",
    Kind.STRIPS: "<f4",
    Kind.ORDER: "<u4",
    Kind.ENDS: "<u4",
    Kind.CLASS_BITS: "<u4",
    Kind.HELD: "<i4",
    Kind.SWAPS: "<u4",
    Kind.BEFORE: "<u4",
    Kind.OF_FRAME: "<u4",
}
