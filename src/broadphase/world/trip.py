"""Walkers on their way: the scene that the kernel is given, and the memory that it asks more of.

Apart from `broadphase.world.walking` because most worlds have nobody who walks: with the kernels below it is
six files, 3 of the 60 ms that a first update takes.
"""

import math
from typing import Any, NamedTuple

import numpy as np

from broadphase.kernels.movement import walk as kernel
from broadphase.kernels.movement.walk_scene import Rules, WalkRoom
from broadphase.kernels.movement.walk_trip import Log
from broadphase.kernels.shapes.table import ShapeColumns
from broadphase.kernels.shapes.turn import cosine_sine
from broadphase.kernels.tiles.ground import no_ground
from broadphase.shapes.check import extent
from broadphase.world.arguments import as_two
from broadphase.world.body_rows import Floats, Rows
from broadphase.world.layers import closed_many
from broadphase.world.movement_many import HitArrays, as_rows, hit_arrays
from broadphase.world.moving_many import MovingMany
from broadphase.world.walks import Integers
from broadphase.world.way_out import NO_TILES

_NO_GROUND = no_ground()
_RING = np.array([cosine_sine(360.0 * k / 32) for k in range(32)])
"""What is round is walked on as a polygon around it, of so many sides."""


class Scene(NamedTuple):
    """Walkers and what is around them, as kernels take it."""

    columns: ShapeColumns
    rows: Integers
    """Who walks."""
    near: Integers
    """What may lie in the way, by walker."""
    starts: Integers
    owners: Integers | None = None
    """Whose columns these are, where they are not those of the world."""


class Trip:
    """Walkers on their way, and the memory for it."""

    def __init__(
        self, world: MovingMany, rows: Rows, ways: Floats, rules: Rules, layers: tuple[int, ...]
    ) -> None:
        count = len(rows)
        self.world, self.rows, self.ways, self.rules, self.layers = world, rows, ways, rules, layers
        self.places, self.tops = np.empty((count, 2)), np.empty((count, 2))
        self.floors: Integers = np.empty((count, 5), np.int64)
        self.room = _room(64, 256)
        self.log = _log(2 * count + 8, 4 * count + 8)
        self._pushed: list[tuple[Integers, Floats]] = []

    def go(self) -> None:
        """All the way."""
        tiles = self.world._tiles
        grid = NO_TILES if tiles is None else tiles.grid
        ground = _NO_GROUND if tiles is None else tiles.ground
        scene = self._scene()
        begin, through = 0, -1
        while begin < len(self.rows):
            before = self._before()
            done, state = kernel.walk_rows(
                *(
                    scene.columns,
                    scene.rows,
                    self.ways,
                    begin,
                    through,
                    scene.near,
                    scene.starts,
                    grid,
                    ground,
                ),
                *(_RING, self.rules, self.room, self.log, self.places, self.floors, self.tops),
            )
            self._have_walked(scene, begin, int(done), before)
            if state == kernel.MORE_ROOM:
                self.room = _room(2 * len(self.room.boxes), 2 * len(self.room.planes))
            elif state == kernel.MORE_LOG:
                self.log = _grown(self.log)
            elif state == kernel.INSIDE:
                self._push_out(int(done))
                scene = self._scene()
                through = int(done)
            begin = int(done)

    def hits(self) -> HitArrays:
        """What stopped them, what they started in included."""
        found = int(self.log.counts[0])
        numbers, values = self.log.numbers[:found], self.log.values[:found]
        if self._pushed:
            numbers = np.concatenate([*(part for part, _ in self._pushed), numbers])
            values = np.concatenate([*(part for _, part in self._pushed), values])
            order = np.argsort(numbers[:, 0], kind="stable")
            numbers, values = numbers[order], values[order]
        return hit_arrays(numbers, values)

    def _scene(self) -> Scene:
        """Who walks, and what may lie in the way of each."""
        world = self.world
        near = world._near(self.rows, self._reach(), self.layers)
        starts = np.searchsorted(near[:, 0], np.arange(len(self.rows) + 1))
        rows = self.rows.astype(np.int64)
        return Scene(world._store.table.columns, rows, near[:, 1].astype(np.int64), starts)

    def _reach(self) -> Floats:
        world = self.world
        table = world._store.table.columns
        sizes = table.width[self.rows], table.height[self.rows]
        movers = np.column_stack((world._places(self.rows), *sizes, self.ways))
        reach = np.empty((len(self.rows), 4))
        kernel.regions_of(movers, self.rules, reach)
        return closed_many(reach)

    def _before(self) -> tuple[Any, Any, int]:
        """Where the walkers are, and how many hits are noted."""
        store = self.world._store
        return store.x[self.rows], store.y[self.rows], self.log.counts.item(0)

    def _have_walked(self, scene: Scene, begin: int, end: int, before: tuple[Any, Any, int]) -> None:
        """Some walkers have come to other places, which stand in the store already."""
        store = self.world._store
        moved = (store.x[self.rows] != before[0]) | (store.y[self.rows] != before[1])
        if moved.any():
            store._have_moved(self.rows[moved])

    def _push_out(self, mover: int) -> None:
        world, row = self.world, int(self.rows[mover])
        around = world._around(row, (), self.layers, by_id=True)
        move = world._resolve(row, 0.0, 0.0, around, "slide")
        world._store.put(row, move.x, move.y)
        if move.hits:
            self._pushed.append(as_rows(mover, move))


def rules_of(
    snap: float, steepest: float, step: float, corner: float, drop: bool, down: tuple[float, float]
) -> Rules:
    """The rules of a walk, checked, as kernels take them."""
    angle = extent(steepest, "steepest")
    if not angle < 90.0:
        raise ValueError(f"steepest = {angle:g} must be less than 90 degrees")
    x, y = as_two(down, "down")
    if x != 0.0 or y == 0.0:
        raise ValueError(f"down = {down} must be (0, 1) or (0, -1)")
    if not isinstance(drop, bool | np.bool_):
        raise TypeError(f"drop must be True or False; got {drop!r}")
    cosine, sine = cosine_sine(angle)
    return Rules(
        extent(snap, "snap"),
        sine / cosine,
        cosine * (1.0 - 1e-9),
        extent(step, "step"),
        extent(corner, "corner"),
        math.copysign(1.0, y),
        bool(drop),
    )


def _room(boxes: int, planes: int) -> WalkRoom:
    return WalkRoom(
        np.empty((boxes, 4)),
        np.empty((boxes, 4), np.int64),
        np.empty(boxes + 1, np.int64),
        np.empty((planes, 3)),
    )


def _log(hits: int, bends: int) -> Log:
    return Log(
        np.empty((hits, 4), np.int64), np.empty((hits, 5)), np.empty((bends, 4)), np.zeros(2, np.int64)
    )


def _grown(log: Log) -> Log:
    larger = _log(2 * len(log.numbers), 2 * len(log.bends))
    for column in range(3):
        larger[column][: len(log[column])] = log[column]
    larger.counts[:] = log.counts
    return larger
