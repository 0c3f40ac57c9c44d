"""Platforms: bodies that nothing stops, that carry bodies standing on them and push bodies out of the way."""

import math
from collections import Counter
from collections.abc import Callable, Collection, Iterable
from typing import NamedTuple, TypeVar

import numpy as np

from broadphase.geometry.shapes import finite
from broadphase.kernels.boxes.overlap import agree
from broadphase.kernels.movement.path import swept_region
from broadphase.kernels.shapes.table import tolerance_of, widened
from broadphase.kernels.tiles.grid import BOTTOM, LEFT, RIGHT, TOP
from broadphase.runtime.arrays import Floats
from broadphase.world.arguments import as_two
from broadphase.world.bodies import Body
from broadphase.world.broad_phase import closed
from broadphase.world.movement.motion import Motion, Rollback
from broadphase.world.movement.sweep import checked_displacement

_Vector = tuple[float, float]
_DIRECTIONS = ((TOP, (0, -1)), (BOTTOM, (0, 1)), (LEFT, (-1, 0)), (RIGHT, (1, 0)))
_Moved = TypeVar("_Moved")

# A body is pushed at most so many times on each axis, so that a crowd before a wall takes little time.
_MOST_PUSHES = 4

# What stands on something touches a side that slopes by less than 60 degrees, as one-way sides do.
_STEEP = -0.5


class Push(NamedTuple):
    """The bodies that a platform moved; each list is sorted by id."""

    carried: list[Body]
    """The bodies that stood on it, or on something that did."""
    pushed: list[Body]
    """The bodies in its path, and those in theirs."""
    squeezed: list[Body]
    """The bodies that had no room, and are inside the platform now."""


def push(
    motion: Motion,
    platform: Body | Iterable[Body],
    dx: float,
    dy: float,
    down: _Vector,
    ignored: frozenset[int],
) -> Push:
    """Move a platform of one body or several; see `World.push`.

    First along x, then along y, so that the direction of each push is well defined.
    """
    store = motion._store
    rows = [store.row(platform)] if isinstance(platform, Body) else store.rows_of(platform, "body").tolist()
    rows = sorted(set(rows))
    dx, dy = finite(dx, "dx"), finite(dy, "dy")
    for row in rows:
        checked_displacement(store.x.item(row), dx, "dx")
        checked_displacement(store.y.item(row), dy, "dy")
    motion._space.check_displacement(dx, dy)
    behind = {*rows, *ignored}
    carried = _standing_on(motion, rows, as_two(down, "down"), behind)
    pushed: set[int] = set()
    for displacement in ((dx, 0.0), (0.0, dy)):
        if displacement == (0.0, 0.0):
            continue
        ahead: dict[int, float] = {}
        for row in rows:
            for other, share in _in_the_way(motion, row, displacement, {*behind, *carried}).items():
                ahead[other] = max(share, ahead.get(other, 0.0))
        for row in rows:
            motion.move_through(row, *displacement, behind)
        if rows:
            pushed.update(_make_way(motion, rows[0], displacement, ahead, carried, behind))
    pushed -= set(carried)
    taken = sorted(pushed.union(carried))
    squeezed = [other for other in taken if any(motion.overlap(row, other) for row in rows)]
    return Push(*([motion.body(other) for other in group] for group in (carried, sorted(pushed), squeezed)))


def riders_of(motion: Motion, rows: Iterable[int]) -> dict[int, list[int]]:
    """What stands on each of some jump-through bodies, on a side that blocks.

    Nothing else keeps it there: where such a body moves up through it, it is inside, and falls.
    """
    store, taken = motion._store, set[int]()
    found = {}
    for row in rows:
        downs = [(-x, -y) for bit, (x, y) in _DIRECTIONS if store.one_way[row] & bit]
        riders = {other for down in downs for other in _standing_on(motion, [row], down, {row, *taken})}
        taken |= riders
        if riders:
            found[row] = sorted(riders)
    return found


def carry(
    motion: Motion,
    row: int,
    riders: list[int],
    start: Floats,
    place: Floats,
    way: _Vector,
    behind: Collection[int],
    parts: Collection[int] = (),
) -> bool:
    """Move what stood on a jump-through body that was moved on a way, and push what it met, as `push` does.

    What it met is landing on it: inside, it would fall through.  What is ``behind`` it does not meet; the
    parts that move with it, and movers that do not block, stop nothing that it carries.  Returns whether it
    has moved any.
    """
    store, behind = motion._store, {row, *behind}
    lengths = motion._space.lengths.tolist()
    dx, dy = map(_gone, (place - start).tolist(), map(float, way), lengths)
    (x, y), goal = start.tolist(), (place[0].item(), place[1].item())
    moved = len(riders) > 0
    store.put(row, x, y)
    for displacement, there in (((dx, 0.0), (goal[0], y)), ((0.0, dy), goal)):
        if displacement != (0.0, 0.0):
            ahead = _in_the_way(motion, row, displacement, {*behind, *riders})
            store.put(row, *there)
            moved |= len(_make_way(motion, row, displacement, ahead, riders, {row, *parts})) > 0
    store.put(row, *goal)
    return moved


def _gone(apart: float, way: float, length: float) -> float:
    """How far a body moved on an axis, where its new place is ``apart`` from the old one, plus whole periods.

    Of the distances that fit, that which is on the ``way`` to its goal, or nearest to it.
    """
    if length == math.inf:
        return apart

    def beyond(gone: float) -> float:
        return max(gone - max(way, 0.0), min(way, 0.0) - gone, 0.0)

    gone = apart + round((way - apart) / length) * length
    return min(gone, gone - math.copysign(length, way), key=beyond)


def with_riders(
    motion: Motion,
    rows: list[int],
    way: _Vector,
    ignored: Collection[int],
    move: Callable[[set[int]], _Moved],
) -> _Moved:
    """Let jump-through bodies among some carry what stands on them.

    ``move`` moves them that ``way``, and ignores it.
    """
    store = motion._store
    lifts = [row for row in rows if store.one_way[row]] if store.any_one_way else []
    if not lifts:
        return move({*ignored})
    riders, starts = riders_of(motion, lifts), store.places(np.array(lifts))
    with Rollback(motion._state, store.rows()):
        moved = move({*ignored}.union(*riders.values()))
        for row, start in zip(lifts, starts, strict=True):
            place = np.array((store.x.item(row), store.y.item(row)))
            carry(motion, row, riders.get(row, []), start, place, way, {*ignored, *rows}, rows)
    return moved


def _make_way(
    motion: Motion,
    row: int,
    displacement: _Vector,
    ahead: dict[int, float],
    carried: Iterable[int],
    behind: set[int],
) -> Counter[int]:
    """Push the bodies ahead of a platform and move those on it; how often each was pushed.

    Those in front are moved first, to make room for those behind.
    """
    pushes: Counter[int] = Counter()
    met = {**{other: -share for other, share in ahead.items()}, **dict.fromkeys(carried, -1.0)}
    for other in _front_first(motion, row, met, displacement):
        if other in ahead:
            _push_aside(motion, other, _scaled(displacement, ahead[other]), behind, pushes)
        else:
            motion.move_row(other, *displacement, "slide", behind)
    return pushes


def _standing_on(motion: Motion, rows: list[int], down: _Vector, excluded: set[int]) -> list[int]:
    """The rows of all bodies on some bodies, directly or on top of others, ascending."""
    store = motion._store
    found: set[int] = set()
    below, steep = [*rows], _STEEP * math.hypot(*down)
    while below:
        ground = below.pop()
        bounds = store.bounds(ground)
        around = closed(widened(bounds, tolerance_of(bounds)))  # all that may stand on it, despite rounding
        for other in motion._broad_phase.gathered(around).tolist():
            if other in found or other in excluded or not _is_movable_by(motion, other, ground):
                continue
            hit = motion.stands_on(other, ground, down)
            # Beside a steep side it leans: rounding decides whether it touches, and it is pushed either way.
            if hit is not None and hit.normal[0] * down[0] + hit.normal[1] * down[1] < steep:
                found.add(other)
                below.append(other)
    return sorted(found)


def _in_the_way(motion: Motion, row: int, displacement: _Vector, excluded: set[int]) -> dict[int, float]:
    """The bodies that a displacement along an axis hits, and which share of it is left then.

    They are in contact at the next update: the body pushes them.
    """
    store = motion._store
    left, top, right, bottom = store.bounds(row)
    found = {}
    swept = closed(swept_region(left, top, right - left, bottom - top, *displacement, False))
    for other in motion._broad_phase.gathered(swept).tolist():
        if other not in excluded and _is_movable_by(motion, other, row):
            hits = _hits_on(motion, row, other, displacement)
            if hits and not motion.overlap(row, other):
                time, normal = hits[0]
                found[other] = 1.0 - time
                motion._contacts.note(row, other, normal, stopped=True)
    return found


def _push_aside(
    motion: Motion, row: int, displacement: _Vector, ignored: set[int], pushes: Counter[int]
) -> None:
    """Push a body aside, and first the bodies in its own path; those that push it are ``ignored``.

    ``pushes`` counts how often each body was pushed.
    """
    behind: set[int] = {*ignored}
    stack: list[tuple[int, _Vector, list[tuple[int, _Vector]]]] = []

    def begin(row: int, displacement: _Vector) -> None:
        pushes[row] += 1
        behind.add(row)
        met = _in_the_way(motion, row, displacement, behind)
        shares = {other: 1.0 - share for other, share in met.items()}
        ahead = [
            (other, _scaled(displacement, met[other]))
            for other in _front_first(motion, row, shares, displacement)
        ]
        stack.append((row, displacement, ahead[::-1]))

    begin(row, displacement)
    while stack:
        row, displacement, ahead = stack[-1]
        if not ahead:
            motion.move_row(row, *displacement, "slide", behind)
            behind.remove(row)
            stack.pop()
        elif pushes[ahead[-1][0]] < _MOST_PUSHES:
            begin(*ahead.pop())
        else:
            ahead.pop()


def _front_first(motion: Motion, pusher: int, met: dict[int, float], displacement: _Vector) -> list[int]:
    """The rows by how far ahead their bodies reach, then by id.

    The pusher met each at another share of its displacement, as seen from where it is: there it is nearest to
    the image that counts.
    """

    def behind(row: int) -> tuple[float, int]:
        left, top, right, bottom = motion.bounds_from(pusher, row, _scaled(displacement, met[row]))
        if displacement[0]:
            return (-right if displacement[0] > 0.0 else left), row
        return (-bottom if displacement[1] > 0.0 else top), row

    return sorted(met, key=behind)


def _hits_on(motion: Motion, row: int, other: int, displacement: _Vector) -> list[tuple[float, _Vector]]:
    """When a platform hits a body, and the normals out of the body."""
    store, way, sign = motion._store, displacement, 1.0
    if store.one_way[row]:  # the body is what comes through a side
        way, sign = _scaled(displacement, -1.0), -1.0
        hits = motion.hits_on(store.shape(other), way, row, "cross")
    else:
        hits = motion.hits_on(store.shape(row), way, other, "cross", solid=True)
    # What is inside by a rounding error is a hit at once, also for a platform that leaves it.
    return [
        (hit.time, _scaled(hit.normal, sign))
        for hit in hits
        if way[0] * hit.normal[0] + way[1] * hit.normal[1] < 0.0
    ]


def _scaled(displacement: _Vector, share: float) -> _Vector:
    return displacement[0] * share, displacement[1] * share


def _is_movable_by(motion: Motion, row: int, by: int) -> bool:
    store = motion._store
    if store.static[row] or store.sensor[row]:
        return False
    return bool(agree(store.category, store.mask, row, by))
