"""Frames: what the page is to draw, as a header and sections of little-endian numbers that it reads in place.

A frame is

====== ======= ===============================================================================
offset type    what
====== ======= ===============================================================================
0      4 bytes ``BPL1``
4      uint32  epoch: counts the set-ups; frames of an older one are stale
8      float64 when the frame was made, milliseconds since 1970
16     uint32  frame of the scene
20     uint32  number of sections
24     uint32  serial: counts the frames sent; acknowledged by the page
28     uint32  0
====== ======= ===============================================================================

and then the sections: each has a header of 8 bytes (uint16 kind, uint16 lane, uint32 bytes of content) and
its content, padded to a multiple of 8 bytes.  `Kind` says what the content is.
"""

import struct
import time
from collections.abc import Sequence
from dataclasses import dataclass
from enum import IntEnum
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from broadphase.indexes.classes import AdaptiveIndex, BoxTree, CellIndex, SortAndSweep, Strips, SweepAndPrune
from broadphase.kernels.strips.bin import NEW
from broadphase.lab import tracing
from broadphase.lab.lanes import Lane, Outcome
from broadphase.lab.messages import Show
from broadphase.lab.scenes import Scene
from broadphase.lab.tracing import cells, sorted_ends, strips, tree
from broadphase.lab.tracing.trace import Ids, Trace

MAGIC = b"BPL1"
HEADER = struct.Struct("<4sIdIIII")
SECTION = struct.Struct("<HHI")

# Farther away, a float32 would be infinite or a canvas would fail.
_FARTHEST = np.float32(1e18)


class Kind(IntEnum):
    """What a section holds, and the type of its numbers; the lane is 0 if there is only one of the kind."""

    dtype: "np.dtype[Any]"

    def __new__(cls, number: int, dtype: str) -> "Kind":
        """A number that has a type."""
        kind = int.__new__(cls, number)
        kind._value_, kind.dtype = number, np.dtype(dtype)
        return kind

    CENTERS = 1, "<f4"
    """float32 ``(n, 2)``: where the bodies are."""
    HALVES = 2, "<f4"
    """float32 ``(n, 2)``: half their sizes; only in the first frame of an epoch."""
    STATIC = 3, "u1"
    """uint8 ``(n,)``: 1 for a body that never moves; only in the first frame of an epoch."""
    TILES = 4, "<f4"
    """float32 ``(m, 4)``: rectangles of solid tiles; only in the first frame of an epoch."""
    HITS = 5, "<u4"
    """uint32 ``(m, 2)``: the pairs that overlap."""
    HIT_BODIES = 6, "u1"
    """uint8 ``(n,)``: 1 for a body in a pair; sent if there are too many pairs."""
    NUMBERS = 7, "<f8"
    """float64 ``(10,)`` of a lane: tests, candidates (NaN: not known), overlaps, cells, swaps, seconds,
    copies per body, 1 if sweep and prune started from scratch, how many comparisons each row of `TESTS`
    stands for, seconds of the tight loop (NaN: not measured)."""
    TESTS = 8, "<u4"
    """uint32 ``(m, 2)`` of a lane: the pairs of bodies compared, in order."""
    CELLS = 9, "<f4"
    """float32 ``(m, 7)`` of a lane: its four edges, bodies, bodies of other cells, place."""
    NODES = 10, "<f4"
    """float32 ``(m, 6)`` of a lane: min x, min y, max x, max y, depth, 1 for a leaf."""
    STRIPS = 11, "<f4"
    """float32 ``(2 m,)`` of a lane with m strips: the swept axis, m - 1 borders, the copies in each strip."""
    ORDER = 12, "<u4"
    """uint32 ``(2 + 2 n,)`` of a lane: the sorted axis, n, the ids in order, where the sweep of each ends."""
    ENDS = 13, "<u4"
    """uint32 ``(1 + 4 n,)`` of a lane: n, then for x and for y the ends ``2 * id + is upper`` in order."""
    CLASS_BITS = 15, "<u4"
    """uint32 ``(m, 3)`` of a lane: strip, id, class bits of copies whose bodies start in an earlier strip."""
    HELD = 14, "<i4"
    """int32 ``(1,)``: the body that is held, or -1."""
    SWAPS = 16, "<u4"
    """uint32 ``(m, 3)`` of a lane: axis, the end that moved, the end that it passed, in order."""
    OF_FRAME = 18, "<u4"
    """uint32 ``(1,)`` of a lane: the frame of its numbers; an earlier one while it is busy."""
    BEFORE = 17, "<u4"
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
        little = np.ascontiguousarray(content, kind.dtype)
        parts.append(SECTION.pack(kind, lane, little.nbytes))
        parts.append(little.tobytes())
        parts.append(bytes(-little.nbytes % 8))
    return b"".join(parts)


class Decoded(NamedTuple):
    """A decoded frame, for tests and benchmarks."""

    epoch: int
    made: float
    frame: int
    serial: int
    sections: list[Section]

    def get(self, kind: Kind, lane: int = 0) -> npt.NDArray[Any] | None:
        """The content of a section as a flat array; None if there is none."""
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
        number, lane, size = SECTION.unpack_from(wire, at)
        at += SECTION.size
        kind = Kind(number)  # type: ignore[call-arg]
        content = np.frombuffer(wire, kind.dtype, size // kind.dtype.itemsize, at)
        sections.append(Section(kind, lane, content))
        at += size + -size % 8
    return Decoded(epoch, made, frame, serial, sections)


def drawable(values: npt.NDArray[np.float64]) -> npt.NDArray[np.float32]:
    """Coordinates for the page: float32 and finite."""
    with np.errstate(over="ignore"):
        single = np.nan_to_num(values.astype(np.float32))
    clipped: npt.NDArray[np.float32] = np.clip(single, -_FARTHEST, _FARTHEST)
    return clipped


# ---- from a scene and its lanes to sections

MOST_PAIRS = 20_000
"""With more pairs than this, only the bodies that are in any pair are sent."""
MOST_TILES = 20_000


@dataclass(frozen=True)
class Seen:
    """One lane in one frame."""

    lane: Lane
    outcome: Outcome
    trace: Trace | None
    """The comparisons, if they are few enough and agree with the engine's statistics."""
    lines: Ids | None = None
    """The comparisons that are drawn."""
    stands_for: int = 1
    """How many comparisons each line stands for."""


class Shown(NamedTuple):
    """What a lane has found, and in which frame."""

    frame: int
    seen: Seen


def look(lane: Lane, outcome: Outcome, show: Show) -> Seen:
    """Trace what the lane compared, if that is to be shown and the trace agrees with the statistics."""
    count = len(lane.index)
    if not show.tests:
        return Seen(lane, outcome, None)
    if count > tracing.MOST_TRACED:
        sketched = tracing.sketch(lane.index)
        return Seen(lane, outcome, None, *(sketched or ()))
    trace = tracing.trace(lane.index, lane.before, patient=lane.is_patient)
    if trace is not None and not trace.agrees(outcome.stats, outcome.pairs, count):
        trace = None
    return Seen(lane, outcome, trace, None if trace is None else trace.pairs)


def sections(scene: Scene, shown: Sequence[Shown | None], show: Show, *, first: bool) -> list[Section]:
    """All sections of a frame; of a lane that is still busy with an earlier one, only its numbers."""
    found = [Section(Kind.CENTERS, 0, drawable(scene.centers)), Section(Kind.HELD, 0, np.array([scene.held]))]
    if first:
        found += [
            Section(Kind.HALVES, 0, drawable(scene.halves)),
            Section(Kind.STATIC, 0, scene.static),
            *_tiles(scene),
        ]
    now = [one.seen for one in shown if one and one.frame == scene.frame]
    found += _hits(len(scene), now[0].outcome) if now else []
    for number, one in enumerate(shown):
        if one is None:
            continue
        found.append(Section(Kind.NUMBERS, number, _numbers(one.seen, len(scene))))
        found.append(Section(Kind.OF_FRAME, number, np.array([one.frame])))
        if one.frame == scene.frame:
            found += _drawn(one.seen, number, show)
    return found


def _drawn(one: Seen, lane: int, show: Show) -> list[Section]:
    found = [] if one.lines is None else [Section(Kind.TESTS, lane, one.lines)]
    if show.structure and len(one.lane.index) <= tracing.MOST_STRUCTURE:
        found += _structure(one, lane)
    return found


def candidates(one: Seen, count: int) -> float:
    """How many distinct pairs of bodies were compared; NaN if that is not known."""
    if one.trace is not None:
        return one.trace.candidates(count)
    # These methods compare each pair at most once.
    if one.lane.name in ("brute_force", "sort_and_sweep"):
        return one.outcome.stats.tests
    return float("nan")


def _numbers(one: Seen, count: int) -> Any:
    outcome, stats = one.outcome, one.outcome.stats
    work = stats.tests, candidates(one, count), len(outcome.pairs), stats.cells, stats.swaps
    return np.array(
        [*work, outcome.seconds, outcome.copies, outcome.fell_back, one.stands_for, one.lane.steady]
    )


def _hits(count: int, outcome: Outcome) -> list[Section]:
    if len(outcome.pairs) <= MOST_PAIRS:
        return [Section(Kind.HITS, 0, outcome.pairs)]
    bodies = np.zeros(count, np.uint8)
    bodies[outcome.pairs] = 1
    return [Section(Kind.HIT_BODIES, 0, bodies)]


def _tiles(scene: Scene) -> list[Section]:
    """Solid tiles as rectangles; adjacent tiles of a row are joined."""
    if scene.tiles is None:
        return []
    solid = np.pad(scene.tiles.solid, ((0, 0), (1, 1))).astype(np.int8)
    edges = np.diff(solid, axis=1)
    rows, begins = np.nonzero(edges == 1)
    _, ends = np.nonzero(edges == -1)
    (width, height), (x, y) = scene.tiles.tile_size, scene.tiles.origin
    corners = np.column_stack(
        [x + begins * width, y + rows * height, x + ends * width, y + (rows + 1) * height]
    )
    return [Section(Kind.TILES, 0, drawable(corners[:MOST_TILES]))]


def _structure(one: Seen, lane: int) -> list[Section]:
    """The cells, nodes, borders or orders of an index."""
    index = one.lane.index
    if isinstance(index, CellIndex):
        return _cells(index, lane)
    if isinstance(index, BoxTree):
        nodes = tree.structure(index)
        if nodes is None:
            return []
        table = np.column_stack([nodes.boxes, nodes.depths, nodes.leaves])
        return [Section(Kind.NODES, lane, drawable(table))]
    if isinstance(index, Strips) or (isinstance(index, AdaptiveIndex) and one.lane.name == "strips"):
        cut = strips.structure(index)
        if cut is None:
            return []
        row = np.concatenate([[cut.swept], cut.borders, cut.copies])
        return [Section(Kind.STRIPS, lane, drawable(row)), _bits(index, lane)]
    if isinstance(index, SortAndSweep):
        axis, ids, stops = sorted_ends.order(index)
        return [Section(Kind.ORDER, lane, np.concatenate([[axis, len(ids)], ids, stops]))]
    if isinstance(index, SweepAndPrune):
        return _ends(one, index, lane)
    return []


def _ends(one: Seen, index: SweepAndPrune, lane: int) -> list[Section]:
    x, y = sorted_ends.ends(index)
    found = [Section(Kind.ENDS, lane, np.concatenate([[len(x) // 2], x, y]))]
    before = one.lane.before
    if isinstance(before, SweepAndPrune) and one.trace is not None and len(before) == len(index):
        x, y = sorted_ends.ends(before)
        found.append(Section(Kind.BEFORE, lane, np.concatenate([[len(x) // 2], x, y])))
        found.append(Section(Kind.SWAPS, lane, one.trace.swaps))
    return found


def _cells(index: CellIndex, lane: int) -> list[Section]:
    found = cells.structure(index)
    if found is None:
        return []
    table = np.column_stack([found.rectangles, found.bodies, found.strangers, found.places])
    return [Section(Kind.CELLS, lane, drawable(table.astype(np.float64)))]


def _bits(index: Strips | AdaptiveIndex, lane: int) -> Section:
    copies = strips.class_bits(index)
    return Section(Kind.CLASS_BITS, lane, copies[copies[:, 2] != NEW])
