"""Platforms: they go all the way, carry what stands on them, and push what is in the way."""

from typing import TYPE_CHECKING, NamedTuple

from broadphase.shapes.kinds import Bounds
from broadphase.shapes.narrow_phase import overlap
from broadphase.world.arguments import as_two
from broadphase.world.body import Body
from broadphase.world.hits import Blockers
from broadphase.world.layers import closed
from broadphase.world.movement import checked_way, region
from broadphase.world.movement_shapes import resolve_shape
from broadphase.world.probe import beside

if TYPE_CHECKING:
    from broadphase.world.moving import Moving


class Push(NamedTuple):
    """Whom a platform took along; each list by id."""

    carried: list[Body]
    """What stood on it, or on something that did."""
    pushed: list[Body]
    """What was in the way."""
    squeezed: list[Body]
    """What had no room, and is inside the platform now."""


def push(world: "Moving", platform: Body, dx: float, dy: float, down: tuple[float, float]) -> Push:
    """Move a platform; see `World.push`.

    First along x, then along y, so that it is clear which way things are pushed.
    """
    store = world._store
    row = store.row(platform, "body")
    dx, dy = checked_way(platform.x, dx, "dx"), checked_way(platform.y, dy, "dy")
    carried = _standing_on(world, row, as_two(down, "down"))
    pushed: set[int] = set()
    for way in ((dx, 0.0), (0.0, dy)):
        if way != (0.0, 0.0):
            in_the_way = _met(world, row, way, carried)
            pushed.update(other for other, _ in in_the_way)
            store.put(row, platform.x + way[0], platform.y + way[1])
            # Those in front go first, and make room for those behind.
            rest = [(other, 1.0) for other in carried]
            for other, part in sorted(in_the_way + rest, key=lambda one: _ahead(world, one[0], way)):
                _take(world, other, row, (way[0] * part, way[1] * part))
    touched = pushed | set(carried)
    squeezed = [other for other in sorted(touched) if overlap(store.shape(row), store.shape(other))]
    bodies = [[world._body(other) for other in rows] for rows in (carried, sorted(pushed), squeezed)]
    return Push(*bodies)


def _standing_on(world: "Moving", row: int, down: tuple[float, float]) -> list[int]:
    """The rows of all that stands on a body, and of what stands on that, ascending."""
    store = world._store
    found: set[int] = set()
    below = [row]
    while below:
        ground = below.pop()
        world._layers.sync()
        for other in world._layers.in_box(_widened(store.bounds(ground))):
            if other != row and other not in found and _can_be_taken(world, other, ground):
                only = Blockers(*_one(world, ground))
                if beside(store.shape(other), down, lambda bounds, only=only: only) is not None:  # type: ignore[misc]
                    found.add(other)
                    below.append(other)
    return sorted(found)


def _met(world: "Moving", row: int, way: tuple[float, float], carried: list[int]) -> list[tuple[int, float]]:
    """What a body meets on its way along an axis, and which part of the way it has left then."""
    store = world._store
    left, top, right, bottom = store.bounds(row)
    world._layers.sync()
    found = []
    for other in world._layers.in_box(closed(region(left, top, right - left, bottom - top, *way, False))):
        if other not in carried and other != row and _can_be_taken(world, other, row):
            only = Blockers(*_one(world, other))
            move = resolve_shape(store.shape(row), *way, lambda bounds, only=only: only, None, "cross")  # type: ignore[misc]
            if move.hits and not overlap(store.shape(row), store.shape(other)):
                found.append((other, 1.0 - move.hits[0].time))
    return found


def _take(world: "Moving", row: int, platform: int, way: tuple[float, float]) -> None:
    movement = world._resolve(row, *way, world._around(row, {platform}), "slide")
    world._store.put(row, movement.x, movement.y)


def _ahead(world: "Moving", row: int, way: tuple[float, float]) -> tuple[float, int]:
    """A key that sorts what is farther ahead to the front."""
    left, top, right, bottom = world._store.bounds(row)
    front = (right if way[0] > 0.0 else -left) if way[0] else (bottom if way[1] > 0.0 else -top)
    return -front, row


def _can_be_taken(world: "Moving", row: int, by: int) -> bool:
    store = world._store
    if store.static[row] or store.sensor[row]:
        return False
    meets = int(store.category[row]) & int(store.mask[by]) and int(store.category[by]) & int(store.mask[row])
    return bool(meets)


def _one(world: "Moving", row: int):  # type: ignore[no-untyped-def]
    import numpy as np

    store = world._store
    return np.array([store.bounds(row)]), [row], store.table.columns, np.array([row])


def _widened(bounds: Bounds) -> Bounds:
    """Bounds that hold all that may stand on a body, a hair off included."""
    hair = 1e-9 * max(map(abs, bounds))
    left, top, right, bottom = bounds
    return closed((left - hair, top - hair, right + hair, bottom + hair))
