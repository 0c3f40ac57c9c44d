"""Movement of thousands of bodies in one call."""

from collections.abc import Callable, Collection, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from broadphase.api.one_shot import pairs
from broadphase.boxes import settled
from broadphase.foreign import NUMBERS
from broadphase.geometry.shapes import Bounds, finite
from broadphase.kernels.movement.motion import ALWAYS, move_boxes
from broadphase.kernels.movement.sweep import FARTHEST
from broadphase.kernels.shapes.table import BOX
from broadphase.runtime.slices import first_of
from broadphase.world.arguments import as_places, as_points, as_two
from broadphase.world.bodies import ALL, NO_RESPONSE, STATICS, Body, Floats, Rows
from broadphase.world.broad_phase import closed_many
from broadphase.world.crossing import before_moving, cross_many
from broadphase.world.hits import (
    NO_HITS,
    RESPONSES,
    Answer,
    Hit,
    HitArrays,
    Movements,
    Steps,
    code_of,
    velocities_after,
)
from broadphase.world.motion import Motion, Rollback
from broadphase.world.movement import resolve
from broadphase.world.space import Images, TilesNear, bounds_of, tiles_near, union
from broadphase.world.state import State
from broadphase.world.tiles import Tile

# A mover that crosses hits many bodies; with space for at least so many, a second call is rare.
_LEAST_CAPACITY = 32

_Inner = npt.NDArray[np.bool_]


class ManyMotion:
    """Moves, puts and turns many bodies of a world at once."""

    def __init__(self, state: State, motion: Motion) -> None:
        self._state, self._motion = state, motion
        self._space, self._store = state.space, state.store
        self._broad_phase, self._contacts = state.broad_phase, state.contacts

    # ---- what users call

    def move_many(
        self, bodies: Any, dx: Any, dy: Any, response: Answer, movers_block: bool, ignore: Any
    ) -> Movements:
        """See `World.move_many`."""
        code_of(response)
        rows, displacements = self.checked_displacements(bodies, dx, dy)
        ignored = self._store.ignored(ignore)
        with Rollback(self._state, rows):
            return self._move(rows, displacements, response, movers_block, ignored)

    def step(self, dt: float, movers_block: bool, ignore: Any) -> Steps:
        """See `World.step`."""
        store, seconds = self._store, finite(dt, "dt")
        velocities = np.column_stack((store.velocity_x, store.velocity_y))
        rows = np.flatnonzero(store.alive & velocities.any(axis=1)).astype(np.int32)
        velocities, ignored = velocities[rows], store.ignored(ignore)
        displacements, responses = velocities * seconds, self._responses(rows)
        self._check_goals(rows, displacements, "velocity * dt")
        places, parts = np.empty((len(rows), 2)), []
        after = velocities.copy()
        with Rollback(self._state, rows):
            for response, code in RESPONSES.items():
                at = np.flatnonzero(responses == code)
                if len(at):
                    moved = self._move(rows[at], displacements[at], response, movers_block, ignored)
                    places[at], after[at] = moved.places, velocities_after(velocities[at], moved.hits, code)
                    parts.append([hits._replace(movers=at[hits.movers]) for hits in moved[1:]])
            hits, crossed = (in_order([part[k] for part in parts]) for k in range(2))
            result = Steps(rows, places, hits, crossed)
            # No calls from here on: an interrupt cannot split these lines.
            store.velocity_x[rows], store.velocity_y[rows] = after[:, 0], after[:, 1]
        return result

    def _responses(self, rows: Rows) -> npt.NDArray[np.int8]:
        """The response of each body in a step: its own, else that of its tag, else to slide."""
        store, by_tag = self._store, self._state.responses
        groups = [
            next((code for tag, code in by_tag.items() if tag in tags), RESPONSES["slide"])
            for tags in store.tag_sets.groups
        ]
        own = store.response[rows]
        return np.where(own == NO_RESPONSE, np.array(groups, np.int8)[store.group[rows]], own)

    def _move(
        self,
        rows: Rows,
        displacements: Floats,
        response: Answer,
        movers_block: bool,
        ignored: Collection[int],
    ) -> Movements:
        """Move bodies; the caller rolls back if this is interrupted."""
        if movers_block and self._space.periodic:  # the images of movers move, too
            return self._in_turn(rows, displacements, response, ignored)
        layers = ALL if movers_block else STATICS
        # A slope may turn all of a displacement to the side.
        far = np.abs(displacements).sum(axis=1, keepdims=True)
        reach = self._store.table.bounds(rows) + far * (-1.0, -1.0, 1.0, 1.0)
        inner = self._space.are_inner(reach)
        near = self.tiles_near(rows, reach, inner)
        before = before_moving(self._state, rows, layers, ignored)
        call = _Call(rows, displacements, response, layers, ignored, near)
        if not self._any_round(rows, layers):
            movements = self._boxes(call)
        else:
            places, hits = self._one_by_one(call, 0, len(rows))
            movements = Movements(places, hit_arrays(hits))
        if response != "cross":
            self.note_stops(rows, movements.hits)
        movements = cross_many(self._state, rows, before, movements, response)
        return self.wrapped(rows, movements, inner | (response == "cross"), near)

    def move_all(self, bodies: Any, positions: Any) -> None:
        """See `World.move_all`."""
        given = settled(positions, "positions", NUMBERS)
        rows = self._store.rows_of(bodies)
        places = as_places(given, len(rows), "positions")
        self._store.put_many(rows, places)

    def turn_many(self, bodies: Any, angles: Any) -> None:
        """See `World.turn_many`."""
        given = _numbers(angles, "angles")
        rows = self._store.rows_of(bodies)
        if len(np.unique(rows)) < len(rows):
            raise ValueError("bodies names a body twice; each can have one angle")
        degrees = _one_each(given, len(rows), "angles")
        unsound = np.flatnonzero(~np.isfinite(degrees))
        if len(unsound):
            raise ValueError(f"angles[{unsound[0]}] = {degrees[unsound[0]]} must be finite")
        self._store.turn_many(rows, degrees)

    # ---- shared with `Character`

    def checked_displacements(self, bodies: Any, dx: Any, dy: Any) -> tuple[Rows, Floats]:
        """The rows of bodies, and ``(m, 2)``: their displacements."""
        if dy is None:
            dx, dy = as_two(dx, "dx, dy") if np.ndim(dx) == 0 else as_points(dx, "dx, dy").T
        given = _numbers(dx, "dx"), _numbers(dy, "dy")
        rows = self._store.rows_of(bodies)
        if len(np.unique(rows)) < len(rows):
            raise ValueError("bodies names a body twice; each can move once in a call")
        displacements = np.column_stack(
            (_one_each(given[0], len(rows), "dx"), _one_each(given[1], len(rows), "dy"))
        )
        self._check_goals(rows, displacements, "dx, dy")
        return rows, displacements

    def _check_goals(self, rows: Rows, displacements: Floats, name: str) -> None:
        goals = self._store.places(rows) + displacements
        unsound = np.flatnonzero(~(np.abs(goals) < FARTHEST).all(axis=1))
        if len(unsound):
            at = int(unsound[0])
            raise ValueError(
                f"{name} = {displacements[at].tolist()} of bodies[{at}] lead beyond {FARTHEST:g}, or are nan"
            )
        self._space.check_displacements(displacements, name)

    def note_stops(self, rows: Rows, hits: HitArrays) -> None:
        """Bodies that stopped movers are in contact with them at the next update."""
        by = hits.others >= 0
        if by.any():
            self._contacts.note_many(rows[hits.movers[by]], hits.others[by], hits.normals[by], stopped=True)

    def tiles_near(self, rows: Rows, reach: Floats, inner: _Inner) -> TilesNear:
        """The tiles that movers may meet within their reach."""
        tiles = self._state.tiles
        if tiles is None or inner.all():
            return TilesNear(tiles)
        starts = self._store.table.bounds(rows[~inner]).tolist()
        return tiles_near(tiles, self._space, union(reach), tuple(map(tuple, starts)))

    def wrapped(self, rows: Rows, moved: Movements, inner: _Inner, near: TilesNear) -> Movements:
        """Movements wrapped into the period; movers that were stopped across an edge keep off what did."""
        if not self._space.periodic:
            return moved
        hits, bodies = moved.hits, self._motion.body
        ends = np.searchsorted(hits.movers, np.arange(len(rows) + 1)).tolist()
        for at in np.unique(hits.movers).tolist():
            if not inner[at]:
                met = slice(ends[at], ends[at + 1])
                others, normals = hits.others[met], hits.normals[met]
                self._motion.keep_off_bodies(int(rows[at]), map(bodies, others[others >= 0].tolist()))
                self._motion.keep_off_tiles(
                    int(rows[at]), [(nx, ny) for nx, ny in normals[others < 0].tolist()]
                )
        passed = moved.crossed
        return Movements(
            self._store.places(rows),
            hits._replace(touches=self._space.places(hits.touches), tiles=near.numbered(hits.tiles)),
            passed._replace(touches=self._space.places(passed.touches)),
        )

    def images_near(
        self, rows: Rows, reach: Floats, layers: tuple[int, ...], ignored: Collection[int]
    ) -> Images:
        """The images of bodies that may block each mover within its reach, in order."""
        store = self._store
        images = self._broad_phase.images_near(reach, layers)
        if layers == ALL and len(rows) > 1 and not self._space.periodic:
            images = self._with_movers(rows, reach, images)
        mover, other = rows[images.regions], images.rows
        blocks = ~store.sensor[other] & ~store.sensor[mover] & (other != mover)
        if store.any_ruled:
            blocks &= store.category[mover] & store.mask[other] != 0
            blocks &= store.category[other] & store.mask[mover] != 0
        if ignored:
            blocks &= ~np.isin(other, list(ignored))
        return images.at(blocks).in_order()

    def _with_movers(self, rows: Rows, reach: Floats, images: Images) -> Images:
        """``images`` with movers wherever they may move to, not only where they are."""
        moves = np.zeros(len(self._store.bodies), np.bool_)
        moves[rows] = True
        still = images.at(~moves[images.rows])
        both = pairs(reach)
        first, second = both[:, 0], both[:, 1]
        of_region = np.concatenate((still.regions, first, second), dtype=np.int64)
        others = np.concatenate((still.rows, rows[second], rows[first]), dtype=np.int64)
        return Images(of_region, others, np.zeros((len(of_region), 2), np.int64))

    # ---- a call

    def _in_turn(
        self, rows: Rows, displacements: Floats, response: Answer, ignored: Collection[int]
    ) -> Movements:
        """Move one body after the other, as `move` does."""
        moved = [
            self._motion.move_row(row, dx, dy, response, ignored)
            for row, (dx, dy) in zip(rows.tolist(), displacements.tolist(), strict=True)
        ]
        places = np.array([move[:2] for move in moved]).reshape(-1, 2)
        hits = joined_hits([as_rows(at, move.hits) for at, move in enumerate(moved)])
        crossed = joined_hits([as_rows(at, move.crossed) for at, move in enumerate(moved)])
        return Movements(places, hit_arrays(hits), hit_arrays(crossed))

    def _any_round(self, rows: Rows, layers: tuple[int, ...]) -> bool:
        """Whether a mover, or a body that it may hit, is not a box."""
        store = self._store
        n = len(store.bodies)
        taking_part = store.alive[:n] & (store.static[:n] | (layers == ALL))
        taking_part[rows] = True
        return store.any_round and bool((store.table.columns.kinds[taking_part] != BOX).any())

    def _movers(self, call: "_Call") -> Floats:
        rows, table = call.rows, self._store.table.columns
        return np.column_stack(
            (self._store.places(rows), table.width[rows], table.height[rows], call.displacements)
        )

    def _boxes(self, call: "_Call") -> Movements:
        """Boxes among boxes: in one kernel call as long as none starts inside something, or is near a slope.

        One that does is moved on its own.  If it leaves the region in which the movers after it looked for
        blockers, they are moved one by one.
        """
        scene, rows = self._scene(call), call.rows
        places, alone = np.empty((len(rows), 2)), np.zeros(len(rows), np.bool_)
        code, grid = code_of(call.response), call.near.grid

        def move(at: int, hits: Floats) -> Any:
            return move_boxes(scene.movers, code, at, scene.boxes, *scene.near, grid, places, alone, hits)

        parts = []
        done = 0
        while done < len(rows):
            begin = done
            hits, done = all_hits(move, begin, len(rows) - begin)
            self._store.put_many(rows[begin:done], places[begin:done])
            bodies = hits[:, 5] >= 0.0
            hits[bodies, 5] = scene.rows[hits[bodies, 5].astype(np.int64)]
            parts.append(hits)
            if alone[done - 1]:
                places[done - 1 : done], hits = self._one_by_one(call, done - 1, done)
                parts.append(hits)
                box = self._store.bounds(int(rows[done - 1]))
                scene.boxes[done - 1] = box
                if call.layers == ALL and not _holds(scene.reach[done - 1], box):
                    places[done:], hits = self._one_by_one(call, done, len(rows))
                    parts.append(hits)
                    break
        return Movements(places, hit_arrays(joined_hits(parts)))

    def _scene(self, call: "_Call") -> "_Scene":
        """The movers, and all that may block them."""
        rows, table = call.rows, self._store.table
        movers = self._movers(call)
        reach = closed_many(regions(movers, call.response))
        images = self.images_near(rows, reach, call.layers, call.ignored)
        own = np.arange(len(rows))
        chosen = len(rows) + np.arange(len(images.rows))
        if not self._space.periodic:  # movers are hit at their new places
            mover_of = np.full(len(self._store.bodies), -1)
            mover_of[rows] = own
            chosen = np.where(mover_of[images.rows] >= 0, mover_of[images.rows], chosen)
        others = bounds_of(self._space.gathered(table.columns, images))
        boxes, ids = np.concatenate((table.bounds(rows), others)), np.concatenate((rows, images.rows))
        near = own, chosen, np.searchsorted(images.regions, np.arange(len(rows) + 1))
        return _Scene(movers, reach, ids.astype(np.int32), boxes, near)

    def _one_by_one(self, call: "_Call", begin: int, end: int) -> tuple[Floats, Floats]:
        """Move some of the bodies, each as `move` would."""
        places = np.empty((end - begin, 2))
        parts, tiles, code = [], call.near.tiles, code_of(call.response)
        for at in range(begin, end):
            row, (dx, dy) = int(call.rows[at]), call.displacements[at].tolist()
            swept = None
            if not self._space.periodic:
                swept = self._motion.sweep(row, dx, dy, code, ALWAYS, call.ignored, call.layers)
            if swept is not None:
                _, found, _, x, y, _, _ = swept
                hits = self._broad_phase.buffers.hits[:found].copy()
                hits[:, 8] = at
                places[at - begin] = x, y
                parts.append(hits)
                continue
            around = self._motion.around(row, call.ignored, call.layers, by_id=True)
            move = resolve(self._store.shape(row), dx, dy, around, tiles, call.response)
            self._store.put(row, move.x, move.y)
            places[at - begin] = move.x, move.y
            if move.hits:
                parts.append(as_rows(at, move.hits))
        return places, joined_hits(parts)


class _Call(NamedTuple):
    """The arguments of a call, checked."""

    rows: Rows
    displacements: Floats
    response: Answer
    layers: tuple[int, ...]
    ignored: Collection[int]
    near: TilesNear


class _Scene(NamedTuple):
    """The boxes of a call: those of the movers, then those near them."""

    movers: Floats
    reach: Floats
    """The region that each mover can sweep."""
    rows: Rows
    """The body of each box."""
    boxes: Floats
    near: tuple[npt.NDArray[np.int64], ...]
    """The boxes of the movers, those that may block them, and where those of each mover begin."""


def _holds(reach: Floats, box: Bounds) -> bool:
    left, top, right, bottom = reach.tolist()
    return bool(left <= box[0] and top <= box[1] and box[2] <= right and box[3] <= bottom)


def _numbers(values: Any, name: str) -> float | Floats:
    """One number, or an array of them; its length is checked later, when all arguments are converted."""
    if np.ndim(values) == 0:
        return finite(values, name)
    numbers: Floats = settled(values, name, NUMBERS).astype(np.float64, copy=False)
    return numbers


def _one_each(given: float | Floats, count: int, name: str) -> Floats:
    """One number for each body; a single number is repeated."""
    if isinstance(given, float):
        return np.full(count, given)
    if given.shape != (count,):
        raise ValueError(f"{name} must be one number, or have shape ({count},); got shape {given.shape}")
    return np.ascontiguousarray(given)


def regions(movers: Floats, response: Answer) -> Floats:
    """``(m, 4)``: `swept_region` of rows ``x, y, width, height, dx, dy``.

    Examples
    --------
    >>> regions(np.array([[0, 0, 1, 1, 5, -2.0]]), "slide")
    array([[ 0., -2.,  6.,  1.]])
    """
    start, size, displacement = movers[:, 0:2], movers[:, 2:4], movers[:, 4:6]
    out = np.empty((len(movers), 4))
    if response == "bounce":
        pad = np.abs(displacement) + 1e-12 * (np.abs(start) + np.abs(displacement) + size)
        out[:, :2], out[:, 2:] = start - pad, start + size + pad
    else:
        goal = start + displacement
        out[:, :2], out[:, 2:] = np.minimum(start, goal), np.maximum(start + size, goal + size)
    return out


# ---- hits as kernels write them: rows of `kernels.movement.motion.Buffers`


def all_hits(
    move: Callable[[int, Floats], tuple[int, int, bool]], begin: int, guess: int
) -> tuple[Floats, int]:
    """The hits of movers from ``begin`` on, however many there are, and the mover to continue with.

    ``move(begin, hits)`` is the kernel `move_boxes`, which is called until ``hits`` is large enough.
    ``guess`` is how many hits there may be.
    """
    parts: list[Floats] = []
    capacity, cramped = max(guess, _LEAST_CAPACITY), True
    while cramped:
        hits = np.empty((capacity, 9))
        begin, found, cramped = move(begin, hits)
        parts.append(first_of(hits, found))
        capacity *= 2
    return joined_hits(parts), begin


def joined_hits(parts: list[Floats]) -> Floats:
    """Hits of several calls, one behind the other."""
    return parts[0] if len(parts) == 1 else np.concatenate([np.empty((0, 9)), *parts])


def as_rows(mover: int, hits: Sequence[Hit]) -> Floats:
    """The hits of one mover as rows; its bodies may be named by number."""
    rows: list[Sequence[float]] = []
    for hit in hits:
        other = hit.other
        number = other.id if isinstance(other, Body) else other
        names = (-1, *other) if isinstance(other, Tile) else (number, -1, -1)
        rows.append((hit.time, *hit.normal, *hit.touch, *names, mover))
    return np.array(rows, np.float64).reshape(-1, 9)


def in_order(parts: list[HitArrays]) -> HitArrays:
    """The hits of several groups of movers in one, sorted by mover."""
    columns = [np.concatenate(each) for each in zip(NO_HITS, *parts, strict=True)]
    order = np.argsort(columns[0], kind="stable")
    return HitArrays(*(column[order] for column in columns))


def hit_arrays(hits: Floats) -> HitArrays:
    """Rows of hits as named arrays."""
    names = hits[:, 5:].astype(np.int64)
    return HitArrays(names[:, 3], names[:, 0], names[:, 1:3], hits[:, 0], hits[:, 1:3], hits[:, 3:5])
