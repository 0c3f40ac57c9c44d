"""The tour: eight still or slowly moving scenes, each of which shows one thing about the methods.

A step has one picture for each value of its slider, each frame, and each place of the one ball that can be
dragged.  The engine makes every picture (`picture`), so a server can answer any slider value and place.
`record` packs the pictures of a step for a site without a server, and `export` writes a folder of them.
"""

import json
import struct
from collections.abc import Callable, Iterable
from importlib.resources import files as resource_files
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from broadphase.lab import frames, tracing
from broadphase.lab.frames import TYPES, Kind, Section, Shown
from broadphase.lab.lanes import Lane
from broadphase.lab.messages import Show
from broadphase.lab.scenes import Scene, Start, stand_still
from broadphase.lab.tour_steps import EDGE, STEPS, Balls, Setting, Step, places

# ---- one picture

# With more balls, pictures of several methods show only which balls touch.
MOST_DRAWN = 200
_SHOW = Show(tests=True, structure=True)
_BARE = Show(tests=False, structure=False)


def picture(
    step: Step, slider: int, frame: int = 0, place: tuple[float, float] | None = None, *, timed: bool = False
) -> list[Section]:
    """The sections that show one state of a step.

    Parameters
    ----------
    step : Step
        One of `broadphase.lab.tour_steps.STEPS`.
    slider : int
        Index of its value.
    frame : int
        Index of the frame.
    place : tuple of float, optional
        Where the ball that can be dragged is; by default where it starts.
    timed : bool
        Whether to measure the time of each method.

    Examples
    --------
    >>> from broadphase.lab.frames import Kind
    >>> from broadphase.lab.tour_steps import BY_NAME
    >>> sections = picture(BY_NAME["all"], 0)
    >>> [section.content.tolist() for section in sections if section.kind == Kind.TESTS]
    [[[0, 1], [0, 2], [1, 2]]]
    """
    setting = step.make(step.values[slider], frame)
    now = _with_ball(setting.now, place)
    scene = _scene(now)
    show = _SHOW if len(now.radii) <= MOST_DRAWN or len(step.methods) == 1 else _BARE
    shown = [Shown(0, _look(method, setting, scene, show, timed)) for method in step.methods]
    return frames.sections(scene, shown, show, first=True)


def _look(method: str, setting: Setting, scene: Scene, show: Show, timed: bool) -> frames.Seen:
    boxes = scene.boxes()
    before = boxes if setting.before is None else _scene(setting.before).boxes()
    lane = Lane(method, before, scene.static, cut=setting.cut, options=_options(method, setting))
    if setting.before is not None:
        lane.run(before)  # the frame before, whose result this frame starts from
    outcome = lane.run(boxes, remember=show.tests and tracing.needs_before(lane.index))
    if timed:
        lane.measure()
    return frames.look(lane, outcome, show)


def _options(method: str, setting: Setting) -> dict[str, Any]:
    if setting.cell_size is None or method not in ("uniform_grid", "spatial_hash"):
        return setting.options
    return {**setting.options, "cell_size": setting.cell_size}


def _with_ball(layout: Balls, place: tuple[float, float] | None) -> Balls:
    if place is None:
        return layout
    centers = layout.centers.copy()
    reach = float(layout.radii[0])
    centers[0] = (
        min(max(place[0], reach), layout.width - reach),
        min(max(place[1], reach), layout.height - reach),
    )
    return layout._replace(centers=centers)


def _scene(layout: Balls) -> Scene:
    halves = np.repeat(layout.radii[:, None], 2, axis=1)
    start = Start(
        layout.centers, halves, np.zeros_like(layout.centers), (0.0, 0.0, layout.width, layout.height)
    )
    return Scene(start, stand_still, is_round=True)


# ---- all pictures of a step

# The pictures of a step have nearly everything in common: the same balls but one, the same pairs, the same
# cells.  So each distinct row (a pair, a cell, a place) and each distinct list of rows is stored once, and a
# picture has the number of its list.  This needs no compression, so any web server will do.
#
# A recording is little-endian, with every array at a multiple of 8 bytes:
#
#     4 bytes "BPT1", uint32 length of the JSON that follows, the JSON, the arrays one after the other
#
# The JSON names the step and lists its channels, one for each kind of section and lane.  A channel has
#
# - rows: the distinct rows, `width` numbers each, of the type that `frames.Kind` has for them;
# - items: the lists, concatenated; each item is the number of a row;
# - ends: where each list ends in `items`;
# - lists: for each picture the number of its list, counted from 1; 0 if it has no such section.
#
# Pictures are numbered (slider * frames + frame) * places + place.

MAGIC = b"BPT1"
_HEAD = struct.Struct("<4sI")

# Numbers per row of sections that are tables.
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
    """The numbers in the smallest type that holds them."""
    most = int(numbers.max(initial=0))
    kind = next(kind for kind in ("<u1", "<u2", "<u4") if most <= np.iinfo(kind).max)
    return numbers.astype(kind)


def record(step: Step, report: Callable[[int, int], None] | None = None) -> bytes:
    """Make every picture of a step with the engine and pack them.

    Parameters
    ----------
    step : Step
        One of `broadphase.lab.tour_steps.STEPS`.
    report : callable, optional
        Called with how many pictures are done and how many there are.
    """
    channels: dict[tuple[Kind, int], _Channel] = {}
    total = len(step.values) * step.frames * step.places[0] * step.places[1]
    number = 0
    for slider, frame in np.ndindex(len(step.values), step.frames):
        layout = step.make(step.values[slider], frame).now
        # Times are measured once for each value, because the place of one ball does not change them.
        times = _times(step, slider) if len(step.methods) > 1 else {}
        for x, y in places(step, layout).tolist():
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
        fields: dict[str, Any] = {"kind": int(channel.kind), "lane": channel.lane, "width": channel.width}
        for name, array in channel.arrays(pictures).items():
            content = array.tobytes()
            fields[name] = {"at": at, "count": len(array), "type": array.dtype.str.lstrip("<|")}
            blobs += [content, bytes(-len(content) % 8)]
            at += len(content) + -len(content) % 8
        described.append(fields)
    head = json.dumps({"step": step.name, "pictures": pictures, "channels": described}).encode()
    head += b" " * (-(len(head) + _HEAD.size) % 8)
    return b"".join([_HEAD.pack(MAGIC, len(head)), head, *blobs])


def unpack(recording: bytes, number: int) -> list[Section]:
    """The sections of one picture of a recording, read as the page reads them."""
    magic, length = _HEAD.unpack_from(recording)
    if magic != MAGIC:
        raise ValueError("this is no recording")
    base = _HEAD.size + length
    described = json.loads(recording[_HEAD.size : base])

    def read(place: dict[str, Any]) -> npt.NDArray[Any]:
        return np.frombuffer(recording, "<" + place["type"], place["count"], base + place["at"])

    found = []
    for channel in described["channels"]:
        which = int(read(channel["lists"])[number])
        if not which:
            continue
        ends = read(channel["ends"])
        items = read(channel["items"])[int(ends[which - 2]) if which > 1 else 0 : int(ends[which - 1])]
        rows = read(channel["rows"]).reshape(-1, channel["width"])
        found.append(Section(Kind(channel["kind"]), channel["lane"], rows[items]))
    return found


def sections_of(wanted: Iterable[Section]) -> list[Section]:
    """The sections of a picture that a recording stores."""
    return [section for section in wanted if section.kind not in _LEFT_OUT]


# ---- the tour as files

LARGEST = 3_000_000
"""Bytes of one step."""
# Parts of the sandbox, which needs a server.
_OF_THE_SANDBOX = ("sandbox.html",)

Report = Callable[[str, int, int], None]


def contents(*, recorded: bool, steps: tuple[Step, ...] = STEPS) -> dict[str, Any]:
    """What the page needs to know about the steps: their sliders, frames and places.

    Examples
    --------
    >>> [step["name"] for step in contents(recorded=False)["steps"]][:3]
    ['all', 'sorted', 'kept']
    """
    return {"recorded": recorded, "steps": [_described(step) for step in steps]}


def _described(step: Step) -> dict[str, Any]:
    layouts = [step.make(value, 0).now for value in step.values]
    return {
        "name": step.name,
        "methods": step.methods,
        "values": step.values,
        "start": step.start,
        "frames": step.frames,
        "sizes": [[layout.width, layout.height] for layout in layouts],
        "places": step.places,
        "edge": EDGE,
    }


def export(folder: Path, report: Report | None = None, steps: tuple[Step, ...] = STEPS) -> list[Path]:
    """Record the tour with the engine and write it as static files.

    Parameters
    ----------
    folder : pathlib.Path
        Created if needed; files with the same names are replaced.
    report : callable, optional
        Called with the name of a step, how many of its pictures are done, and how many there are.
    steps : tuple of Step
        The steps to record.

    Returns
    -------
    list of pathlib.Path
        The files written.
    """
    written = []

    def write(name: str, content: bytes) -> None:
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
        written.append(path)

    page = resource_files("broadphase.lab").joinpath("page")
    for part in sorted(page.iterdir(), key=lambda part: part.name):
        if part.is_file() and part.name not in _OF_THE_SANDBOX:
            write(part.name if part.name == "index.html" else f"page/{part.name}", part.read_bytes())
    write("tour/steps.json", json.dumps(contents(recorded=True, steps=steps)).encode())
    for step in steps:

        def report_step(done: int, total: int, name: str = step.name) -> None:
            if report is not None:
                report(name, done, total)

        content = record(step, report_step)
        if len(content) > LARGEST:
            raise AssertionError(f"the recording of {step.name} has {len(content)} bytes; at most {LARGEST}")
        write(f"tour/{step.name}.bin", content)
    return written
