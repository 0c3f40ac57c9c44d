"""The path of one shape among the bodies and tiles of a world, and what is beside it or overlaps it.

`Path` is for what one call of `kernels.movement.motion` does not do: shapes that are no bodies, a single body
as the only blocker, and responses that are functions.  `kernels.movement.path` follows the path and hands out
each hit that a function answers; `Path` gathers what is near wherever that leads.
"""

import math
from collections.abc import Callable, Iterable, Sequence
from typing import Any, Literal, TypeAlias

import numpy as np

from broadphase.geometry.shapes import Bounds, Shape, finite
from broadphase.geometry.table import columns_of
from broadphase.kernels.movement import motion, path, sweep, sweep_shapes
from broadphase.kernels.movement.motion import Frame
from broadphase.kernels.movement.one_way import STARTS_IN, sides_of_rows
from broadphase.kernels.movement.path import Buffers
from broadphase.kernels.shapes.queries import FEW
from broadphase.world.bodies import ALL, Ignored
from broadphase.world.broad_phase import new_buffers, new_frame
from broadphase.world.hits import Answer, Hit, Movement, answered, code_of, hits_of
from broadphase.world.state import State
from broadphase.world.tiles import NO_TILES, Tile

# Few shapes start in more obstacles than this; for those that do, the kernel is called again.
FIRST_CAPACITY = 16

Place: TypeAlias = tuple[float, float]


class Path:
    """A shape that moves among all that blocks a body (``row``), or any body.

    ``only`` is a row: that body is the only blocker, whatever its rules, and with ``solid`` on all sides.
    """

    def __init__(
        self,
        state: State,
        shape: Shape,
        row: int = -1,
        ignored: Ignored = (),
        only: int | None = None,
        solid: bool = False,
    ) -> None:
        store = state.store
        self._state, self._row, self._ignored = state, row, ignored
        self._layers = ALL if only is None else motion.ALL_OF_THEM
        self._only = None if only is None else np.array([only], np.int32)
        self._one_way = np.zeros_like(store.one_way) if solid else store.one_way
        self._grid = state.grid if only is None else NO_TILES
        self.shape = self._mover = columns_of(shape)
        self.start = shape.x, shape.y
        self._others: list[Shape] = []
        self._through: list[tuple[int, float, float]] = []
        """The row and place of bodies, or images, that it starts in and that a function lets it cross."""
        self._tiles_push = True
        self._bodies: Any = store.bodies
        """By row; for a function only those that were ever near, as it may remove some."""
        self.opened: set[int] = set()
        """The rows of bodies near the path that let it through."""
        self._spare = state.broad_phase.spare
        self._buffers, self._frame = self._spare.pop() if self._spare else self._memory(FEW)

    def cast(self, dx: float, dy: float, response: Answer, others: Sequence[Shape] = ()) -> Movement:
        """Move it; one-way bodies that any of the ``others`` is inside of do not block."""
        self._others = [*others]
        code = code_of(response)
        self._mover = self.shape._replace(x=self.shape.x.copy(), y=self.shape.y.copy())
        self._look(self._region(dx, dy, code == sweep.BOUNCE))
        self._go(dx, dy, code)
        return self._moved(dx, dy, self._named(0, response), code != sweep.CROSS)

    def ask(
        self, dx: float, dy: float, function: Callable[[Hit], Answer | None]
    ) -> tuple[Movement, list[Hit]]:
        """Move it as a function answers each hit, and the hits that it ignores.

        All that it can reach is copied before, whichever way the function turns it, so what that moves or
        removes counts from the next movement on.  What it starts in and crosses is no obstacle until the end.
        """
        self._mover = self.shape._replace(x=self.shape.x.copy(), y=self.shape.y.copy())
        self._bodies = {}
        self._look(self._region(dx, dy, True, True))
        hits: list[Hit] = []
        ignored: list[Hit] = []
        overlaps, frame = self._overlaps(), self._frame
        if overlaps:
            rows = self._buffers.hits[: len(overlaps), 5].astype(np.intp).tolist()
            met = [(hit, *answered(hit, function)) for hit in overlaps]
            tiles = [code != sweep.CROSS for hit, _, code in met if isinstance(hit.other, Tile)]
            self._tiles_push = any(tiles) or not tiles
            self._through = [
                (frame.owners.item(row), frame.x.item(row), frame.y.item(row))
                for row, (_, _, code) in zip(rows, met, strict=True)
                if code == sweep.CROSS and row >= 0
            ]
            self._let_through()
            hits = [kept for _, kept, _ in met if kept is not None]
            ignored = [hit._replace(response="cross") for hit, kept, _ in met if kept is None]
        self._begin(dx, dy)
        code, known = sweep.SLIDE, -1
        while True:
            state = self._follow(code, True)
            if known < 0 and state != path.DONE and self._buffers.counts[0] != path.ON:
                self._make_room(state)
                self._begin(dx, dy)
                continue
            found = self._named(max(known, 0), "")
            if known < 0:
                count = len(found) - (state == path.FULL and self._buffers.counts.item(3))
                hits, found = _pushed_by(hits, found[:count]), found[count:]
            known = self._buffers.counts.item(7)
            for hit in found:
                kept, code = answered(hit, function)
                if kept is None:
                    ignored.append(hit._replace(response="cross"))
                else:
                    hits.append(kept)
            if state == path.DONE:
                return self._moved(dx, dy, hits, False), ignored
            if state == path.TOO_FAR or known == len(self._buffers.hits):
                self._make_room(state)

    def blocker(self) -> object | None:
        """The first blocker that it overlaps: a body, else a `Tile`."""
        self._look(self._region(0.0, 0.0, False))
        found = self._overlaps()
        self._spare.append((self._buffers, self._frame))
        return found[0].other if found else None

    def _overlaps(self) -> list[Hit]:
        """All that it overlaps, as hits."""
        self._go(0.0, 0.0, sweep.CROSS)
        return self._named(0, "")

    # ---- what is near

    def _look(self, region: Bounds) -> None:
        """Gather what is near within a region."""
        broad_phase, store = self._state.broad_phase, self._state.store
        rows = self._only
        if rows is None:
            rows = broad_phase.gathered(region)
            if self._ignored:
                rows = rows[~np.isin(rows, [*self._ignored])]
        table, lengths = store.table.columns, self._state.space.lengths
        while True:
            around, images = (store.marks, self._one_way, self._layers), (self._frame, lengths)
            known = self.shape, table, around, self._row, rows, region, images, self._buffers
            self._near, opened = motion.lay_out(*known)
            if self._near >= 0:
                break
            self._reserve(2 * len(self._buffers.near))
        if self._bodies is not store.bodies:
            bodies, owners = store.bodies, self._frame.owners[: self._near].tolist()
            self._bodies.update((owner, bodies[owner]) for owner in owners)
            self.opened.update(self._buffers.open[:opened].tolist())
        self.searched, self._table = region, motion.table_of(self._frame, table)
        for other in self._others if store.any_one_way else ():
            sides, numbers = self._buffers.sides[: self._near], np.arange(self._near, dtype=np.int32)
            more_sides = np.empty_like(sides)
            one_way = self._frame.one_way[: self._near]
            sides_of_rows(columns_of(other), 0, self._table, numbers, one_way, more_sides)
            sides[more_sides & STARTS_IN != 0] = 0
        self._let_through()
        self._buffers.counts[4] = -1  # nothing is chosen yet from what is near

    def _reserve(self, rows: int) -> None:
        """Memory for so many bodies, or images of them; what is known of the path stays."""
        kept = {name: getattr(self._buffers, name) for name in ("hits", "held", "numbers", "counts")}
        self._buffers, self._frame = self._memory(rows)
        self._buffers = self._buffers._replace(**kept)

    def _memory(self, rows: int) -> tuple[Buffers, Frame]:
        return new_buffers(rows, FIRST_CAPACITY, self._state.space.repeats), new_frame(rows)

    def _let_through(self) -> None:
        """Take the sides of what a function lets it cross; other images of it keep theirs."""
        count, frame = self._near, self._frame
        for row, x, y in self._through:
            is_it = (frame.owners[:count] == row) & (frame.x[:count] == x) & (frame.y[:count] == y)
            self._buffers.sides[:count][is_it] = 0

    def _region(self, dx: float, dy: float, mirrored: bool, turns: bool = False) -> Bounds:
        region: Bounds = motion.region_of(self._mover, 0, dx, dy, mirrored, turns)
        return region

    # ---- the path

    def _begin(self, dx: float, dy: float) -> None:
        self._mover.x[0], self._mover.y[0] = self.start
        path.begin(self._buffers, *self.start, dx, dy, path.START, 0)
        self._buffers.counts[8] = self._tiles_push

    def _go(self, dx: float, dy: float, code: int) -> None:
        self._begin(dx, dy)
        while (state := self._follow(code, False)) != path.DONE:
            self._make_room(state)
            self._begin(dx, dy)

    def _follow(self, code: int, asks: bool) -> int:
        scene = self._table, self._frame.fixed, self._near, self.searched, self._grid
        state: int = path.follow(0, self._mover, scene, code, asks, self._buffers)
        return state

    def _make_room(self, state: int) -> None:
        """Give the path what it lacks: all that is near in a larger region, or memory for hits."""
        if state == path.TOO_FAR:
            self._look(united(self.searched, self._buffers.numbers[:4].tolist()))
        else:
            hits = self._buffers.hits
            self._buffers = self._buffers._replace(hits=np.concatenate((hits, np.empty_like(hits))))

    def _named(self, first: int, response: Answer | Literal[""]) -> list[Hit]:
        """The hits from ``first`` on."""
        end = self._buffers.counts.item(7)
        if first == end:
            return []
        rows = self._buffers.hits[first:end].copy()
        motion.name_owners(rows, 0, end - first, self._frame)
        return hits_of(self._bodies, rows, response)

    def _moved(self, dx: float, dy: float, hits: Iterable[Hit], stops: bool) -> Movement:
        """Where it is now, and what it hit."""
        reached = 0
        if stops:
            rows, sides = np.arange(self._near, dtype=np.int32), self._buffers.sides
            reached = sweep_shapes.sides_reached(self._mover, dx, dy, self._table, rows, sides, self._grid)
        self._spare.append((self._buffers, self._frame))
        return Movement(self._mover.x.item(), self._mover.y.item(), tuple(hits), (), reached)


def _pushed_by(hits: list[Hit], found: list[Hit]) -> list[Hit]:
    """The hits of what a shape starts in, where it was pushed out of that; images of a body have one each."""
    pushed: dict[object, list[Hit]] = {}
    for hit in found:
        pushed.setdefault(hit.other, []).append(hit)
    known = []
    for hit in hits:
        pushes = pushed.get(hit.other) if hit.response != "cross" else None
        known.append(hit._replace(normal=pushes[0].normal, touch=pushes.pop(0).touch) if pushes else hit)
    return known


def united(one: Bounds, other: Sequence[float]) -> Bounds:
    """The bounds of two boxes together."""
    lows, highs = map(min, one[:2], other[:2]), map(max, one[2:], other[2:])
    left, top, right, bottom = *lows, *highs
    return left, top, right, bottom


def checked_displacement(start: float, displacement: float, name: str) -> float:
    """A displacement along one axis as a float; ``ValueError`` or ``TypeError`` if it is not a valid one."""
    number = finite(displacement, name)
    if not abs(number) < sweep.FARTHEST or not abs(start + number) < sweep.FARTHEST:
        raise ValueError(f"{name} = {number:g} leads beyond {sweep.FARTHEST:g}")
    return number


# ---- the ground check

# Of the coordinates: far more than the gap between a stopped body and its blocker, far less than is visible.
_BESIDE = 1e-11
# So many times a coordinate: a step as long leads out of what a shape is inside of by rounding.
_DEEPER = 16.0 * sweep_shapes.SLACK / _BESIDE


def first_beside(
    bounds: Bounds,
    direction: Place,
    largest: float,
    met: Callable[[float, float], Sequence[Hit]],
    far: Callable[[], float] | None,
) -> Hit | None:
    """What is directly next to these bounds in a direction, and faces against it.

    ``met`` says what stops a tiny step.  ``largest`` is the largest coordinate at which a body may have been
    stopped: the step is longer than the gap to a blocker a period away.  Shapes that are no boxes count as
    flush where they are inside by a rounding error: there only a step that is deeper than that is a hit, at
    once; ``far`` says the largest coordinate of what is near, if there are such shapes.
    """
    dx, dy = direction
    length, farthest = math.hypot(dx, dy), max(map(abs, bounds))
    if not 0.0 < length < math.inf:
        raise ValueError(f"direction = {direction} must be finite, and have a length")

    def against(largest: float) -> Hit | None:
        step = _BESIDE * max(largest, farthest) or _BESIDE
        for hit in met(dx / length * step, dy / length * step):
            if hit.normal[0] * dx + hit.normal[1] * dy < 0.0:
                return hit
        return None

    hit = against(largest)
    if hit is None and far is not None:
        hit = against(_DEEPER * max(far(), largest, farthest))
        return hit if hit is not None and hit.time == 0.0 else None
    return hit
