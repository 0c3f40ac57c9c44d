"""All pictures of a step as one run of bytes, small enough for a web page.

The pictures of a step have nearly everything in common: the same balls but one, the same pairs, the same
cells.  So each distinct row (a pair, a cell, a place) is kept once, each distinct list of rows once, and a
picture says which list it has.  No compression is needed on top, so any web server will do.

A recording is, all little-endian, every array at a multiple of 8 bytes::

    4 bytes "BPT1", uint32 length of the JSON that follows, the JSON, the arrays one after the other

The JSON names the step and lists its channels, one for each kind of section and lane.  A channel has

- ``rows``: the distinct rows, ``width`` numbers each, of the type that `frames.Kind` has for them;
- ``items``: the lists one behind the other, each item the number of a row;
- ``ends``: where each list ends in ``items``;
- ``lists``: for each picture the number of its list, counted from 1; 0 where it has no such section.

Pictures are numbered ``(slider * frames + frame) * places + place``.
"""

import json
import struct
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
import numpy.typing as npt

from broadphase.lab.frames import TYPES, Kind, Section
from broadphase.lab.tour.pictures import picture
from broadphase.lab.tour.steps import Step, places

MAGIC = b"BPT1"
_HEAD = struct.Struct("<4sI")

# Numbers a row, where a section is a table.
WIDTHS = {
    Kind.CENTERS: 2,
    Kind.HALVES: 2,
    Kind.HITS: 2,
    Kind.NUMBERS: 10,
    Kind.TESTS: 2,
    Kind.CELLS: 8,
    Kind.NODES: 6,
    Kind.CLASS_BITS: 3,
    Kind.SWAPS: 3,
}
_LEFT_OUT = (Kind.HELD, Kind.STATIC, Kind.OF_FRAME)  # always the same


class _Channel:
    """One kind of section of one lane, over all pictures."""

    def __init__(self, kind: Kind, lane: int) -> None:
        self.kind, self.lane = kind, lane
        self.width = WIDTHS.get(kind, 1)
        self._type = np.dtype(TYPES[kind])
        self._rows: dict[bytes, int] = {}
        self._known: dict[bytes, int] = {}
        self._items: list[npt.NDArray[np.uint32]] = []
        self._of_picture: dict[int, int] = {}

    def add(self, number: int, content: npt.NDArray[Any]) -> None:
        table = np.ascontiguousarray(content, self._type).reshape(-1, self.width)
        key = table.tobytes()
        if key not in self._known:
            rows = self._rows
            items = [rows.setdefault(row.tobytes(), len(rows)) for row in table]
            self._items.append(np.array(items, np.uint32))
            self._known[key] = len(self._items)
        self._of_picture[number] = self._known[key]

    def arrays(self, pictures: int) -> dict[str, npt.NDArray[Any]]:
        rows = np.frombuffer(b"".join(self._rows), self._type)
        lists = np.zeros(pictures, np.uint32)
        lists[list(self._of_picture)] = list(self._of_picture.values())
        items = np.concatenate(self._items)
        return {
            "rows": _small(rows) if rows.dtype.kind == "u" else rows,
            "items": _small(items),
            "ends": _small(np.cumsum([len(one) for one in self._items])),
            "lists": _small(lists),
        }


def _small(numbers: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """The same numbers in as few bytes as hold the largest."""
    most = int(numbers.max(initial=0))
    kind = next(kind for kind in ("<u1", "<u2", "<u4") if most <= np.iinfo(kind).max)
    return numbers.astype(kind)


def record(step: Step, report: Callable[[int, int], None] | None = None) -> bytes:
    """Let the engine make every picture of a step, and pack them.

    Parameters
    ----------
    step : Step
        One of `broadphase.lab.tour.steps.STEPS`.
    report : callable, optional
        Given how many pictures are done, and how many there are.
    """
    channels: dict[tuple[Kind, int], _Channel] = {}
    total = len(step.values) * step.frames * step.places[0] * step.places[1]
    number = 0
    for slider, frame in np.ndindex(len(step.values), step.frames):
        room = step.make(step.values[slider], frame).now
        # Times are measured once for each value: a ball in another place does not change them.
        times = _times(step, slider) if len(step.methods) > 1 else {}
        for x, y in places(step, room).tolist():
            for kind, lane, content in picture(step, slider, frame, (x, y)):
                if kind in _LEFT_OUT:
                    continue
                if kind == Kind.NUMBERS:
                    content[[5, 9]] = np.nan, times.get(lane, np.nan)
                channel = channels.setdefault((kind, lane), _Channel(kind, lane))
                channel.add(number, content)
            number += 1
            if report is not None:
                report(number, total)
    return _pack(step, list(channels.values()), total)


def _times(step: Step, slider: int) -> dict[int, float]:
    return {
        section.lane: float(section.content[9])
        for section in picture(step, slider, timed=True)
        if section.kind == Kind.NUMBERS
    }


def _pack(step: Step, channels: list[_Channel], pictures: int) -> bytes:
    described: list[dict[str, Any]] = []
    blobs: list[bytes] = []
    at = 0
    for channel in channels:
        told: dict[str, Any] = {"kind": int(channel.kind), "lane": channel.lane, "width": channel.width}
        for name, array in channel.arrays(pictures).items():
            content = array.tobytes()
            told[name] = {"at": at, "count": len(array), "type": array.dtype.str.lstrip("<|")}
            blobs += [content, bytes(-len(content) % 8)]
            at += len(content) + -len(content) % 8
        described.append(told)
    head = json.dumps({"step": step.name, "pictures": pictures, "channels": described}).encode()
    head += b" " * (-(len(head) + _HEAD.size) % 8)
    return b"".join([_HEAD.pack(MAGIC, len(head)), head, *blobs])


def unpack(recording: bytes, number: int) -> list[Section]:
    """The sections of one picture of a recording, as the page reads them."""
    magic, length = _HEAD.unpack_from(recording)
    if magic != MAGIC:
        raise ValueError("this is no recording")
    base = _HEAD.size + length
    told = json.loads(recording[_HEAD.size : base])

    def read(place: dict[str, Any]) -> npt.NDArray[Any]:
        return np.frombuffer(recording, "<" + place["type"], place["count"], base + place["at"])

    found = []
    for channel in told["channels"]:
        which = int(read(channel["lists"])[number])
        if not which:
            continue
        ends = read(channel["ends"])
        items = read(channel["items"])[int(ends[which - 2]) if which > 1 else 0 : int(ends[which - 1])]
        rows = read(channel["rows"]).reshape(-1, channel["width"])
        found.append(Section(Kind(channel["kind"]), channel["lane"], rows[items]))
    return found


def sections_of(wanted: Iterable[Section]) -> list[Section]:
    """Those sections of a picture that a recording holds."""
    return [section for section in wanted if section.kind not in _LEFT_OUT]
