"""Platforms: bodies that nothing stops, that carry bodies standing on them and push bodies out of the way."""

from collections import Counter
from typing import NamedTuple

from broadphase.geometry.shapes import Bounds
from broadphase.world.arguments import as_two
from broadphase.world.bodies import Body
from broadphase.world.broad_phase import closed
from broadphase.world.motion import Motion
from broadphase.world.movement import beside, checked_way, region, resolve

_Way = tuple[float, float]

# A body that many push goes on so many times on each axis at most: a crowd before a wall ends soon.
_MOST_PUSHES = 4


class Push(NamedTuple):
    """The bodies that a platform moved; each list is sorted by id."""

    carried: list[Body]
    """What stood on it, or on something that did."""
    pushed: list[Body]
    """What was in its way, or in the way of that."""
    squeezed: list[Body]
    """What had no room, and is inside the platform now."""


def push(motion: Motion, platform: Body, dx: float, dy: float, down: _Way, unseen: frozenset[int]) -> Push:
    """Move a platform; see `World.push`.

    First along x, then along y, so that it is clear which way things are pushed.
    """
    store = motion._store
    row = store.row(platform)
    dx, dy = checked_way(platform.x, dx, "dx"), checked_way(platform.y, dy, "dy")
    motion._space.check_way(dx, dy)
    behind = {row, *unseen}
    carried = _standing_on(motion, row, as_two(down, "down"), unseen)
    pushed: set[int] = set()
    for way in ((dx, 0.0), (0.0, dy)):
        if way == (0.0, 0.0):
            continue
        in_the_way = _met(motion, row, way, {*behind, *carried})
        motion.go_through(row, *way, unseen)
        pushes: Counter[int] = Counter()
        # Those in front go first, and make room for those behind.
        for other in _front_first(motion, row, [*in_the_way, *carried], way):
            if other in in_the_way:
                _shove(motion, other, _part(way, in_the_way[other]), behind, pushes)
            else:
                _take(motion, other, way, behind)
        pushed.update(pushes)
    pushed -= set(carried)
    taken = sorted(pushed.union(carried))
    squeezed = [other for other in taken if motion.overlap(row, other)]
    return Push(*([motion.body(other) for other in rows] for rows in (carried, sorted(pushed), squeezed)))


def _standing_on(motion: Motion, row: int, down: _Way, unseen: frozenset[int]) -> list[int]:
    """The rows of all bodies on a body, directly or on top of others, ascending."""
    store = motion._store
    found: set[int] = set()
    below = [row]
    while below:
        ground = below.pop()
        for other in motion.rows_near(_widened(store.bounds(ground))):
            if (
                other != row
                and other not in found
                and other not in unseen
                and _can_be_taken(motion, other, ground)
                and beside(store.shape(other), down, motion.only(ground), largest=motion._space.largest)
                is not None
            ):
                found.add(other)
                below.append(other)
    return sorted(found)


def _met(motion: Motion, row: int, way: _Way, but: set[int]) -> dict[int, float]:
    """What a body meets on its way along an axis, and which part of the way is left then."""
    store = motion._store
    left, top, right, bottom = store.bounds(row)
    found = {}
    for other in motion.rows_near(closed(region(left, top, right - left, bottom - top, *way, False))):
        if other not in but and _can_be_taken(motion, other, row):
            move = resolve(store.shape(row), *way, motion.only(other), None, "cross")
            if move.hits and not motion.overlap(row, other):
                found[other] = 1.0 - move.hits[0].time
    return found


def _shove(motion: Motion, row: int, way: _Way, unseen: set[int], pushes: Counter[int]) -> None:
    """Move a body that is in the way of those unseen; first, what is in its own way.

    ``pushes`` counts how often each body was pushed.
    """
    behind: set[int] = {*unseen}
    under_way: list[tuple[int, _Way, list[tuple[int, _Way]]]] = []

    def begin(row: int, way: _Way) -> None:
        pushes[row] += 1
        behind.add(row)
        met = _met(motion, row, way, behind)
        ahead = [(other, _part(way, met[other])) for other in _front_first(motion, row, [*met], way)]
        under_way.append((row, way, ahead[::-1]))

    begin(row, way)
    while under_way:
        row, way, ahead = under_way[-1]
        if not ahead:
            _take(motion, row, way, behind)
            behind.remove(row)
            under_way.pop()
        elif pushes[ahead[-1][0]] < _MOST_PUSHES:
            begin(*ahead.pop())
        else:
            ahead.pop()


def _take(motion: Motion, row: int, way: _Way, unseen: set[int]) -> None:
    motion.go(row, *way, "slide", unseen)


def _front_first(motion: Motion, pusher: int, rows: list[int], way: _Way) -> list[int]:
    """Sorted by how far ahead they reach, then by id."""

    def behind(row: int) -> tuple[float, int]:
        left, top, right, bottom = motion.bounds_from(pusher, row)
        if way[0]:
            return (-right if way[0] > 0.0 else left), row
        return (-bottom if way[1] > 0.0 else top), row

    return sorted(rows, key=behind)


def _part(way: _Way, part: float) -> _Way:
    return way[0] * part, way[1] * part


def _can_be_taken(motion: Motion, row: int, by: int) -> bool:
    store = motion._store
    if store.static[row] or store.sensor[row]:
        return False
    meets = int(store.category[row]) & int(store.mask[by])
    return bool(meets and int(store.category[by]) & int(store.mask[row]))


def _widened(bounds: Bounds) -> Bounds:
    """Bounds that hold all that may stand on a body, a rounding off included."""
    pad = 1e-9 * max(map(abs, bounds))
    left, top, right, bottom = bounds
    return closed((left - pad, top - pad, right + pad, bottom + pad))
