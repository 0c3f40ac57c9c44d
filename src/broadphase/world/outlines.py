"""What a debug draw shows of a world: the outlines of all that it holds, as arrays by colour.

`World.outlines` is for any engine; the adapters and `broadphase.plot` draw it.
"""

from collections import deque
from collections.abc import Collection, Iterator, Mapping
from typing import Any, Literal, NamedTuple, get_args

import numpy as np
import numpy.typing as npt

from broadphase.kernels.movement.one_way import SLANTED, blocks
from broadphase.kernels.shapes.table import BOX, CIRCLE, ShapeColumns
from broadphase.kernels.tiles.grid import BOTTOM, LEFT, RIGHT, TOP
from broadphase.kernels.tiles.slopes import LADDER
from broadphase.runtime.arrays import Floats, distinct
from broadphase.world.space import moved_columns
from broadphase.world.state import State
from broadphase.world.tiles import TileMap

Kind = Literal["index", "tile", "data", "ladder", "slope", "one_way", "body", "sensor", "contact", "ray"]
KINDS: tuple[Kind, ...] = get_args(Kind)
SHOWN: tuple[Kind, ...] = KINDS[1:]
"""All but the cells and nodes of the index, which hide the rest."""

# Those of bodies are Okabe and Ito's, safe for the colour-blind; the first is of bodies without tags.
_OF_BODIES = (
    *((86, 180, 233), (230, 159, 0), (0, 158, 115), (204, 121, 167)),
    *((240, 228, 66), (0, 114, 178), (213, 94, 0)),
)
_OF_KINDS: dict[str, Any] = {
    "index": (70, 90, 110),
    "tile": (150, 150, 150),
    "ladder": (160, 110, 60),
    "slope": (150, 150, 150),
    "one_way": (120, 200, 120),
    "contact": (255, 60, 60),
    "ray": (255, 235, 130),
}
# A circle of straight lines has so many corners.
_AROUND = 16
# An arc at a rounded corner has so many points.
_ARC = 6
# A contact's normal is so long, as a part of the shorter side of the smaller body.
_NORMAL = 0.5
_TICK = 0.25  # of a tile: the mark on a side that blocks

_NO_LINES, _NO_CIRCLES = np.empty((0, 4)), np.empty((0, 3))


class Outline(NamedTuple):
    """Lines of one colour, see `World.outlines`."""

    kind: Kind
    tags: frozenset[Any]
    """Of bodies, sensors and tiles that are something (``"data"``): their tags."""
    color: Any
    """Red, green and blue, 0 to 255; or what ``colors`` says."""
    boxes: Floats = _NO_LINES
    """``(n, 4)``: ``min_x, min_y, max_x, max_y``"""
    circles: Floats = _NO_CIRCLES
    """``(n, 3)``: ``x, y, radius``"""
    polygons: tuple[Floats, ...] = ()
    """Polygons with c corners each: ``(n, c, 2)``."""
    lines: Floats = _NO_LINES
    """``(n, 4)``: from ``x, y`` to ``x, y``"""

    def segments(self) -> npt.NDArray[np.float32]:
        """``(n, 2, 2)``: all of it as straight lines, for what can draw nothing else."""
        turns = np.linspace(0.0, 2.0 * np.pi, _AROUND, endpoint=False)
        ring = np.column_stack((np.cos(turns), np.sin(turns)))
        rings = self.circles[:, None, :2] + self.circles[:, 2, None, None] * ring
        corners = self.boxes[:, [0, 1, 2, 1, 2, 3, 0, 3]].reshape(-1, 4, 2)
        segments = [self.lines.astype(np.float32).reshape(-1, 2, 2)]
        for lines in (corners, rings, *self.polygons):
            sides = np.empty((*lines.shape[:2], 2, 2), np.float32)
            sides[:, :, 0], sides[:, :-1, 1], sides[:, -1, 1] = lines, lines[:, 1:], lines[:, 0]
            segments.append(sides.reshape(-1, 2, 2))
        return np.concatenate(segments)


class AskedRays:
    """The rays that were asked for since they were last drawn; nothing is kept before the first time."""

    def __init__(self) -> None:
        self._kept: deque[Floats] | None = None

    @property
    def wanted(self) -> bool:
        """Whether they are drawn."""
        return self._kept is not None

    def note(self, rays: Any, distances: Any) -> None:
        """Keep rays ``x, y, dx, dy, max_distance``, and how far away each hit something."""
        assert self._kept is not None
        known = np.array(rays, np.float64).reshape(-1, 5)
        self._kept.append(np.column_stack((known[:, :4], np.minimum(known[:, 4], distances))))

    def take(self) -> Floats:
        """``(n, 4)``: those that were kept, as lines; from now on, rays are kept."""
        rays = np.concatenate((np.empty((0, 5)), *(self._kept or ())))
        self._kept = deque(maxlen=1_000)
        far = np.minimum(rays[:, 4], 1e5)[:, None]
        return np.hstack((rays[:, :2], rays[:, :2] + far * rays[:, 2:4]))


def outlines(
    state: State, asked: AskedRays, view: Floats, show: Collection[Kind], colors: Mapping[Any, Any]
) -> list[Outline]:
    """See `World.outlines`; ``view`` is one box."""
    found = [*_of_tiles(_in_view(state, view), view, colors), *_of_bodies(state, view, colors)]
    if "index" in show:
        found.insert(0, _plain("index", boxes=state.broad_phase.parts(view)))
    if "contact" in show:
        found.append(_plain("contact", lines=_normals(state, view)))
    if "ray" in show:
        found.append(_plain("ray", lines=_seen(asked.take(), view)))
    return [
        one._replace(color=colors.get(one.kind, one.color)) if one.kind in _OF_KINDS else one
        for one in found
        if one.kind in show and (len(one.boxes) or len(one.circles) or one.polygons or len(one.lines))
    ]


def _plain(kind: Kind, **shapes: Any) -> Outline:
    return Outline(kind, frozenset(), _OF_KINDS[kind], **shapes)


def _seen(lines: Floats, view: Floats) -> Floats:
    """The lines that may lie in a view."""
    low, high = np.minimum(lines[:, :2], lines[:, 2:]), np.maximum(lines[:, :2], lines[:, 2:])
    return lines[((low <= view[2:]) & (high >= view[:2])).all(axis=1)]


def _meets(boxes: Floats, view: Floats) -> npt.NDArray[np.bool_]:
    meets: npt.NDArray[np.bool_] = np.all((boxes[:, :2] < view[2:]) & (boxes[:, 2:] > view[:2]), axis=1)
    return meets


# ---- bodies


def _of_bodies(state: State, view: Floats, colors: Mapping[Any, Any]) -> Iterator[Outline]:
    store, space = state.store, state.space
    rows = store.rows()
    _, turns = space.turns_near(view[None]) if space.periodic else (None, np.zeros((1, 2), np.int64))
    bounds, shifts = store.table.bounds(rows), space.shift(turns)
    # All are compared: a search would change what the indexes do.
    which = [np.flatnonzero(_meets(bounds + np.tile(shift, 2), view)) for shift in shifts]
    seen = rows[np.concatenate(which)]
    shapes = moved_columns(store.table.columns, seen, np.repeat(shifts, [len(one) for one in which], axis=0))
    keys = 2 * store.group[seen] + store.sensor[seen]
    for key in distinct(keys).tolist():
        group, is_sensor = divmod(key, 2)
        tags = store.tag_sets.groups[group]
        of_key = _parts(shapes, np.flatnonzero(keys == key))
        yield Outline("sensor" if is_sensor else "body", tags, _color(tags, group, colors), *of_key)
    doors = np.flatnonzero(store.one_way[seen]).tolist()
    sides = [_that_block(shapes, door, store.one_way.item(seen[door])) for door in doors]
    yield _plain("one_way", lines=np.concatenate((_NO_LINES, *sides)))


def _color(tags: frozenset[Any], number: int, colors: Mapping[Any, Any]) -> Any:
    return next((colors[tag] for tag in colors if tag in tags), _OF_BODIES[number % len(_OF_BODIES)])


def _that_block(shapes: ShapeColumns, row: int, bits: int) -> Floats:
    """The sides of a jump-through body that block, each with a tick as long as its shortest side."""
    sides = Outline("one_way", frozenset(), None, *_parts(shapes, np.array([row]))).segments()
    sides = sides[(sides[:, 0] != sides[:, 1]).any(axis=1)]
    edges = sides[:, 1] - sides[:, 0]
    lengths = np.linalg.norm(edges, axis=1)
    normals = np.column_stack((edges[:, 1], -edges[:, 0])) / lengths[:, None]
    stops = np.array([blocks(bits | SLANTED, x, y) for x, y in normals.tolist()], np.bool_)
    middles = sides[stops].mean(axis=1)
    ticks = np.hstack((middles, middles + lengths.min(initial=np.inf) * normals[stops]))
    return np.concatenate((sides[stops].reshape(-1, 4), ticks)).astype(np.float64)


def _parts(shapes: ShapeColumns, rows: npt.NDArray[np.int64]) -> tuple[Floats, Floats, tuple[Floats, ...]]:
    """The boxes, circles and polygons of some shapes."""
    kinds, columns = shapes.kinds[rows], np.column_stack(shapes[1:5])
    boxes, circles = columns[rows[kinds == BOX]], columns[rows[kinds == CIRCLE], :3]
    polygons = []
    others = rows[(kinds != BOX) & (kinds != CIRCLE)]
    for count in distinct(shapes.counts[others]).tolist():
        same = others[shapes.counts[others] == count]
        points = shapes.starts[same, None] + np.arange(count)
        corners, radii = columns[same, None, :2] + shapes.points[points], columns[same, 2]
        sharp = radii == 0.0
        polygons += [corners[sharp], _rounded(corners[~sharp], radii[~sharp])]
    boxes[:, 2:] += boxes[:, :2]
    return boxes, circles, tuple(one for one in polygons if len(one))


def _rounded(corners: Floats, radii: Floats) -> Floats:
    """Polygons grown by a radius: an arc around each corner, from one edge's normal to the next one's."""
    edges = np.roll(corners, -1, 1) - corners
    angles = np.arctan2(-edges[..., 0], edges[..., 1])
    before = np.roll(angles, 1, 1)
    turns = before[..., None] + ((angles - before) % (2.0 * np.pi))[..., None] * np.linspace(0.0, 1.0, _ARC)
    arcs = np.stack((np.cos(turns), np.sin(turns)), -1) * radii[:, None, None, None]
    rounded: Floats = (corners[:, :, None] + arcs).reshape(len(corners), corners.shape[1] * _ARC, 2)
    return rounded


def _normals(state: State, view: Floats) -> Floats:
    """The contacts of the last update: a line along the normal, from the middle of what the bounds share."""
    found, store = state.contacts.found, state.store
    there = store.alive[found.ids].all(axis=1)
    first, second = (store.table.bounds(found.ids[there, side]) for side in (0, 1))
    shift = state.space.nearest_shift(first[:, :2], second[:, :2])
    second = second + np.hstack((shift, shift))
    middles = 0.5 * (np.maximum(first[:, :2], second[:, :2]) + np.minimum(first[:, 2:], second[:, 2:]))
    sides = np.hstack((first[:, 2:] - first[:, :2], second[:, 2:] - second[:, :2]))
    ends = middles + _NORMAL * sides.min(axis=1, initial=np.inf)[:, None] * found.normals[there]
    return _seen(np.hstack((middles, ends)), view)


# ---- tiles


def _in_view(state: State, view: Floats) -> TileMap | None:
    """The tiles; in a periodic world a copy of those in the view, and beside it, as if they were repeated."""
    full, around = state.tiles, state.space.around
    if full is None or not around:
        return full
    origin, size, counts = full.origin, full.tile_size, (full.columns, full.rows)
    numbers = []
    for axis, count in enumerate(counts):
        first, end = np.floor((view[axis::2] - origin[axis]) / size[axis])
        first, end = first - 1.0, end + 2.0
        if not around >> axis & 1:
            first, end = max(first, 0.0), min(end, float(count))
        numbers.append(np.arange(int(first), int(end)))
    if not all(map(len, numbers)):
        return None
    chosen = np.ix_(numbers[1] % full.rows, numbers[0] % full.columns)
    corner = origin[0] + numbers[0].item(0) * size[0], origin[1] + numbers[1].item(0) * size[1]
    sides = None if full.one_way is None else full.one_way[chosen]
    part = TileMap(full.solid[chosen], size, corner, one_way=sides)
    part._take_ground(full, chosen)
    return part


def _of_tiles(tiles: TileMap | None, view: Floats, colors: Mapping[Any, Any]) -> Iterator[Outline]:
    if tiles is None:
        return
    columns, rows = tiles.cells(tuple(view.tolist()))
    chosen = slice(rows.start, rows.stop), slice(columns.start, columns.stop)
    (x, y), (width, height) = tiles.origin, tiles.tile_size
    edges_x: Any = x + width * np.arange(columns.start, columns.stop + 1)
    edges_y: Any = y + height * np.arange(rows.start, rows.stop + 1)
    solid = tiles.solid[chosen]
    yield _plain("tile", lines=_around(solid, edges_x, edges_y))
    kinds = tiles._kinds[chosen]
    for kind in distinct(kinds[kinds > 0]).tolist():
        tags, lines = tiles._data[kind].tags, _around(kinds == kind, edges_x, edges_y)
        yield Outline("data", tags, _color(tags, kind, colors), lines=lines)
    ladders = np.argwhere(tiles.grid.ground[chosen] & LADDER)
    left, top = edges_x[ladders[:, 1]], edges_y[ladders[:, 0]]
    rungs = [np.column_stack((left, top + k * height, left + width, top + k * height)) for k in (0.25, 0.75)]
    yield _plain("ladder", lines=np.concatenate(rungs))
    slopes = [np.asarray(slope.points)[None] for _, slope in tiles.slopes_in(tuple(view.tolist()))]
    yield _plain("slope", polygons=tuple(slopes))
    if tiles.one_way is not None:
        sides = np.where(tiles.solid[chosen], 0, tiles.one_way[chosen])
        yield _plain("one_way", lines=np.concatenate([*_one_way(sides, edges_x, edges_y, (width, height))]))


def _around(cells: npt.NDArray[np.bool_], edges_x: Floats, edges_y: Floats) -> Floats:
    """The borders between some cells and the others, as lines."""
    across, down = _borders(cells, edges_x, edges_y), _borders(cells.T, edges_y, edges_x)
    return np.concatenate((across, down[:, [1, 0, 3, 2]]))


def _borders(solid: npt.NDArray[np.bool_], edges_x: Floats, edges_y: Floats) -> Floats:
    """The borders between solid and free tiles along x, each run of them as one line."""
    padded = np.pad(solid, ((1, 1), (0, 0)))
    border = np.pad(padded[1:] != padded[:-1], ((0, 0), (1, 1)))
    rows, first = np.nonzero(border[:, 1:] & ~border[:, :-1])
    _, last = np.nonzero(border[:, :-1] & ~border[:, 1:])
    below = edges_y[rows]
    return np.column_stack((edges_x[first], below, edges_x[last], below))


def _one_way(
    sides: npt.NDArray[Any], edges_x: Floats, edges_y: Floats, size: tuple[float, float]
) -> Iterator[Floats]:
    """The sides that block, each with a tick towards where what it stops comes from."""
    width, height = size
    for bit, (from_x, from_y), (to_x, to_y), (tick_x, tick_y) in (
        (LEFT, (0, 0), (0, 1), (-1, 0)),
        (RIGHT, (1, 0), (1, 1), (1, 0)),
        (TOP, (0, 0), (1, 0), (0, -1)),
        (BOTTOM, (0, 1), (1, 1), (0, 1)),
    ):
        cells = np.argwhere(sides & bit)
        x, y = edges_x[cells[:, 1]], edges_y[cells[:, 0]]
        one = np.column_stack((x + from_x * width, y + from_y * height))
        other = np.column_stack((x + to_x * width, y + to_y * height))
        middle, tick = 0.5 * (one + other), _TICK * np.array((tick_x * width, tick_y * height))
        yield np.hstack((one, other))
        yield np.hstack((middle, middle + tick))
