"""``replay --html``: a recording as one page that opens from a file, as profilers write.

The page holds its frames as compressed blocks.  Within a block a frame is written as its difference from the
one before, and each number as four bytes that lie apart, so that the bytes that are 0 compress to nothing.
"""

import base64
import html
import json
import re
import zlib
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from broadphase.doctor import Follower
from broadphase.errors import FileError
from broadphase.geometry.shapes import Circle, Polygon, Shape
from broadphase.io.tables import check_place, whole_file
from broadphase.recording.reader import RecordedFrame, Recording, find_crowd, longest_sides
from broadphase.tour import FOLDER
from broadphase.world.tiles import TileMap

Integers = npt.NDArray[np.int64]
Progress = Callable[[int, int], None]

_PAGE = Path(__file__).with_name("replay_page")
_MOST_ROWS = 10_000_000  # of bodies in all frames that are drawn, some 50 MB; of more, a part of the frames
_BLOCK = 400_000  # rows, which a browser decodes in less than a tenth of a second
_MOST_LINES = 20_000  # between boxes of a frame; of more, a sample
_BUSIEST = 8  # stretches of busy frames that are named
_SAMPLED = 12  # frames, to find the region that is shown first
_FINENESS = 64  # steps of a place in a typical body
_FARTHEST = 1 << 28  # steps
_MOST_OUTLINES = 20_000  # of polygons, which turn; what is more is drawn as its box
_BOX, _CIRCLE, _OUTLINE = 0, 1, 2  # kinds of bodies; the first outline and those after it
_STATIC, _SENSOR, _OVERLAPS, _KIND = 1, 2, 4, 3  # bits of a body, and where its kind begins


def write_page(
    recording: Recording, name: str, file: str, methods: Sequence[str], progress: Progress
) -> tuple[int, int]:
    """Write the page of a recording.

    Parameters
    ----------
    recording : Recording
        With at least one frame.
    name : str
        The title of the page.
    file : str
        The page.
    methods : sequence of str
        Names of `broadphase.INDEXES`, whose tests are counted in every frame.
    progress : callable
        Called with how many frames are done, and how many there are.

    Returns
    -------
    tuple of int
        How many frames are drawn, and how many bytes were written.
    """
    counts = recording.counts()
    busiest = recording.busiest(_BUSIEST)
    drawn = _drawn_frames(counts[:, 0], [stretch.peak for stretch in busiest])
    packer = _Packer(*_fineness(recording))
    tests = {method: np.zeros(len(recording), np.int64) for method in methods}
    followers = {method: Follower(method, recording) for method in methods}
    facts: dict[str, list[Any]] = {name: [] for name in ("moved", "added", "removed", "found", "calls")}
    is_drawn = set(drawn)
    for frame in recording:
        for method, follower in followers.items():
            tests[method][frame.number] = follower.run(frame).stats.tests
        _note(facts, frame)
        if frame.number in is_drawn:
            packer.add(frame)
        progress(frame.number + 1, len(recording))
    blocks = packer.finished()
    about = {
        "name": name,
        "kind": recording.about["kind"],
        "index": recording.about["index"],
        "damage": recording.damage,
        "dim": recording.about["dim"],
        "period": recording.period and recording.period[:2],
        "region": _region(recording),
        "origin": packer.origin.tolist(),
        "step": packer.step,
        "drawn": drawn,
        "blocks": packer.sizes,
        "tags": list(packer.tags),
        "outlines": packer.outlines,
        "bodies": counts[:, 0].tolist(),
        "overlaps": counts[:, 1].tolist(),
        "tests": {method: column.tolist() for method, column in tests.items()},
        "milliseconds": np.round(recording.seconds * 1e3, 4).tolist(),
        **facts,
        "busiest": [
            {
                **stretch._asdict(),
                "text": recording.explain(stretch.peak),
                "crowd": _crowd(recording[stretch.peak], int(counts[stretch.peak, 1])),
            }
            for stretch in busiest
        ],
    }
    written = _filled(name, about, blocks)
    with whole_file(Path(file)) as opened:
        opened.write(written)
    return len(drawn), len(written)


def check_page(file: str, recording: str) -> None:
    """Raise for what would fail only after the work."""
    check_place(file)
    with suppress(OSError):
        if Path(file).samefile(recording):
            raise FileError(f"{file}: is the recording; write the page to another file")


def _filled(title: str, about: dict[str, Any], blocks: list[bytes]) -> bytes:
    """The page with its style, its script and its data."""
    text = (_PAGE / "page.html").read_text("utf-8")
    # "<" in a text of the recording must not end the script.
    data = json.dumps(about, separators=(",", ":"), allow_nan=False).replace("<", "\\u003c")
    packed = "\n".join(
        f'<script type="text/plain" class="block">{base64.b64encode(block).decode()}</script>'
        for block in blocks
    )
    parts = {
        "TITLE": html.escape(title),
        "STYLE": (FOLDER / "palette.css").read_text("utf-8") + (_PAGE / "page.css").read_text("utf-8"),
        "ABOUT": data,
        "BLOCKS": packed,
        "SCRIPT": (_PAGE / "page.js").read_text("utf-8"),
    }
    return re.sub(r"{{(\w+)}}", lambda name: parts[name[1]], text).encode()


# ---- what is drawn


def _drawn_frames(bodies: Integers, peaks: list[int]) -> list[int]:
    """All frames, or every so many of them and the busiest."""
    every = -(-int(bodies.sum()) // _MOST_ROWS)
    return sorted({*range(0, len(bodies), max(every, 1)), *peaks})


def _sampled(recording: Recording) -> npt.NDArray[np.float64]:
    """Boxes of some frames, seen from above, without those that end nowhere."""
    dim = recording.about["dim"]
    numbers = sorted({int(k) for k in np.linspace(0, len(recording) - 1, _SAMPLED)})
    boxes = np.vstack([recording[number].boxes[:, [0, 1, dim, dim + 1]] for number in numbers])
    return boxes[(np.abs(boxes) < 1e15).all(axis=1)].astype(np.float64)


def _region(recording: Recording) -> list[float]:
    """Where most bodies are."""
    boxes = _sampled(recording)
    if not len(boxes):
        return [-100.0, -100.0, 100.0, 100.0]
    low, high = np.quantile(boxes[:, :2], 0.01, axis=0), np.quantile(boxes[:, 2:], 0.99, axis=0)
    margin = np.maximum(high - low, 1e-6) * 0.04
    return [*(low - margin).tolist(), *(high + margin).tolist()]


def _fineness(recording: Recording) -> tuple[npt.NDArray[np.float64], float]:
    """The place from which all others are counted, and the step in which they are."""
    left, top, right, bottom = _region(recording)
    sides = longest_sides(_sampled(recording))
    typical = float(np.median(sides[sides > 0])) if (sides > 0).any() else 0.0
    step = min(typical / _FINENESS, max(right - left, bottom - top) / 4096) or (right - left) / 4096
    return np.array([(left + right) / 2, (top + bottom) / 2]), step


def _crowd(frame: RecordedFrame, overlaps: int) -> list[float] | None:
    """Where the bodies of a frame crowd, seen from above."""
    crowd = find_crowd(frame.task, overlaps)
    dim = frame.boxes.shape[1] // 2
    return None if crowd is None else [crowd.bounds[side] for side in (0, 1, dim, dim + 1)]


def _note(facts: dict[str, list[Any]], frame: RecordedFrame) -> None:
    """What the program did in a frame."""
    for name in ("moved", "added", "removed"):
        facts[name].append(getattr(frame, name))
    facts["found"].append(None if frame.listened is False else frame.found)
    calls = sorted(frame.calls.items(), key=lambda item: -item[1].seconds)
    facts["calls"].append([[name, call.times, round(call.seconds * 1e3, 4)] for name, call in calls])


# ---- frames as bytes


@dataclass
class _Packer:
    """Frames in the form that ``page.js`` reads."""

    origin: npt.NDArray[np.float64]
    step: float
    sizes: list[int] = field(default_factory=list)
    """How many frames each block has."""
    tags: dict[str, int] = field(default_factory=dict)
    """The number of each text."""
    outlines: list[dict[str, Any]] = field(default_factory=list)
    """Radius and corners in steps, counted from the corner of the bounds."""
    _kinds: dict[tuple[float, bytes], int] = field(default_factory=dict)
    """The kind of each outline."""
    _blocks: list[bytes] = field(default_factory=list)
    _open: list[bytes] = field(default_factory=list)
    _rows: int = 0
    _ids: Integers = field(default_factory=lambda: np.empty(0, np.int64))
    _columns: Integers = field(default_factory=lambda: np.empty((0, 6), np.int64))
    _tiles: TileMap | None = None

    def add(self, frame: RecordedFrame) -> None:
        """Pack a frame."""
        if self._open and self._rows + len(frame.ids) > _BLOCK:
            self._close()
        pairs = np.searchsorted(frame.ids, frame.pairs())
        columns = self._columns_of(frame, pairs)
        ids = frame.ids.astype(np.int64)
        before = np.zeros_like(columns)
        if len(self._ids):
            places = np.minimum(np.searchsorted(self._ids, ids), len(self._ids) - 1)
            stays = self._ids[places] == ids
            before[stays] = self._columns[places[stays]]
        lines = pairs[:: max(1, -(-len(pairs) // _MOST_LINES))]
        tiles = None
        if frame.tiles is not self._tiles or not self._open:
            tiles = self._steps(_rectangles(frame.tiles))
        self._open += [
            np.array([len(ids), len(lines), -1 if tiles is None else len(tiles)], "<i4").tobytes(),
            _spread(np.diff(ids, prepend=0)),
            *(_spread(column) for column in (columns - before).T),
            _spread(np.diff(lines[:, 0], prepend=0)),
            _spread(lines[:, 1] - lines[:, 0]),
            *(() if tiles is None else (_spread(tiles.ravel()),)),
        ]
        self._ids, self._columns, self._tiles = ids, columns, frame.tiles
        self._rows += len(ids)
        if self.sizes and len(self.sizes) > len(self._blocks):
            self.sizes[-1] += 1
        else:
            self.sizes.append(1)

    def finished(self) -> list[bytes]:
        """All blocks."""
        self._close()
        return self._blocks

    def _close(self) -> None:
        self._blocks.append(zlib.compress(b"".join(self._open), 6))
        self._open, self._rows = [], 0
        self._ids, self._columns, self._tiles = self._ids[:0], self._columns[:0], None

    def _columns_of(self, frame: RecordedFrame, pairs: npt.NDArray[np.intp]) -> Integers:
        """Left, top, width, height, bits and tag of each body."""
        dim = frame.boxes.shape[1] // 2
        edges = self._steps(frame.boxes[:, [0, 1, dim, dim + 1]])
        overlaps = np.zeros(len(frame.ids), np.int64)
        overlaps[pairs.ravel()] = _OVERLAPS
        kinds = np.array([self._kind_of(form) for form in frame.forms] or [_BOX], np.int64)
        bits = frame.static * _STATIC | frame.sensor * _SENSOR | overlaps | kinds << _KIND
        tags = [self.tags.setdefault(tag, len(self.tags)) for tag in frame.tags]
        return np.column_stack((edges[:, :2], edges[:, 2:] - edges[:, :2], bits, np.array(tags, np.int64)))

    def _steps(self, edges: npt.NDArray[Any]) -> Integers:
        with np.errstate(over="ignore", invalid="ignore"):
            steps = (edges.astype(np.float64) - np.tile(self.origin, 2)) / self.step
        return np.clip(np.rint(steps), -_FARTHEST, _FARTHEST).astype(np.int64)

    def _kind_of(self, form: Shape) -> int:
        if not isinstance(form, Polygon):
            return _CIRCLE if isinstance(form, Circle) else _BOX
        key = form.radius, form.offsets.tobytes()
        if key not in self._kinds:
            if len(self.outlines) == _MOST_OUTLINES:
                return _BOX
            corners = (form.points - form.bounds[:2]) / self.step
            outline = {"radius": form.radius / self.step, "corners": np.rint(corners).astype(int).tolist()}
            self.outlines.append(outline)
            self._kinds[key] = len(self.outlines) - 1 + _OUTLINE
        return self._kinds[key]


def _spread(values: npt.NDArray[np.signedinteger[Any]]) -> bytes:
    """Numbers with the sign in the lowest bit, first the lowest bytes of all, last the highest."""
    wide = values.astype(np.int64)
    return ((wide << 1) ^ (wide >> 63)).astype("<u4").view(np.uint8).reshape(-1, 4).T.tobytes()


def _rectangles(tiles: TileMap | None) -> npt.NDArray[np.float64]:
    """``(m, 4)``: solid tiles; adjacent ones of a row are joined."""
    if tiles is None:
        return np.empty((0, 4))
    solid: npt.NDArray[np.int8] = np.pad(tiles.solid, ((0, 0), (1, 1))).astype(np.int8)
    steps = np.diff(solid, axis=1)
    rows, begins = np.nonzero(steps == 1)
    ends = np.nonzero(steps == -1)[1]
    (width, height), (x, y) = tiles.tile_size, tiles.origin
    return np.column_stack((x + begins * width, y + rows * height, x + ends * width, y + (rows + 1) * height))
