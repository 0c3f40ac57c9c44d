"""Bodies that start inside something: what they are in, and the shortest way out."""

from functools import partial
from typing import Any

import numpy as np

from broadphase.kernels.movement import push_out as kernel
from broadphase.kernels.movement import travel
from broadphase.kernels.shapes.contact import box_box
from broadphase.kernels.tiles.grid import TileGrid, no_tiles
from broadphase.kernels.tiles.list import bounds_of_cell
from broadphase.shapes.kinds import Bounds
from broadphase.slices import whole
from broadphase.world.hits import Around, Blockers, Hit, Response, answered
from broadphase.world.tiles import Tile

NO_TILES = no_tiles()

# The region that is searched grows until there is a way out; it doubles, so this is far enough for any.
_MOST_ROUNDS = 200

# Few start in more things than this; where one does, the kernel is asked again.
FIRST_ROOM = 16

Place = tuple[float, float]
BoxPlace = tuple[float, float, float, float]
"""``x, y, width, height``"""


def push_out(box: BoxPlace, around: Around, grid: TileGrid) -> Place | None:
    """The nearest place where a box overlaps neither bodies nor solid tiles; ``None`` if there is none.

    Of equally near places, the one along x comes first, then the one towards smaller coordinates.
    """
    x, y, width, height = box
    blockers = around((x, y, x + width, y + height))
    reach = kernel.deepest(x, y, width, height, blockers.bounds, grid)
    if reach == 0.0:
        return x, y
    scratch = np.empty((2, kernel.MOST_EDGES))
    for _ in range(_MOST_ROUNDS):
        if not reach < travel.FARTHEST:
            return None
        blockers = around((x - reach, y - reach, x + width + reach, y + height + reach))
        found, free_x, free_y, distance = kernel.push_out(
            x, y, width, height, blockers.bounds, grid, reach, scratch
        )
        if found and distance <= reach:
            return free_x, free_y
        if reach >= blockers.repeats:
            return None
        # What was found is a bound: nothing nearer lies beyond its distance.
        reach = distance if found else 2.0 * reach
    return None


def leave(
    box: BoxPlace, blockers: Blockers, around: Around, grid: TileGrid, response: Response
) -> tuple[Place, list[Hit]]:
    """Ask about everything that a box starts in, and push it out of what it may not cross.

    Returns the new place, and the hits.  Tiles count all, or none where it may cross each that it is in.
    """
    x, y, width, height = box
    hits: list[tuple[Hit | None, Bounds, bool]] = []
    crossed: list[Any] = []
    tiles_block = tiles_cross = False
    ask = partial(kernel.overlapping, x, y, width, height, blockers.bounds, grid)
    for body, column, row in whole(ask, np.empty((FIRST_ROOM, 3), np.int64)).tolist():
        other = Tile(column, row) if body < 0 else blockers.others[body]
        bounds = bounds_of_cell(grid, column, row) if body < 0 else tuple(blockers.bounds[body].tolist())
        normal = box_box(x, y, x + width, y + height, *bounds, False)[1:3]
        hit, code = answered(Hit(other, 0.0, normal, (x, y)), response)
        hits.append((hit, bounds, code != travel.CROSS))
        if body < 0:
            tiles_block |= code != travel.CROSS
            tiles_cross |= code == travel.CROSS
        elif code == travel.CROSS:
            crossed.append(other)
    if not any(blocks for _, _, blocks in hits):
        return (x, y), [hit for hit, _, _ in hits if hit is not None]
    if tiles_cross and not tiles_block:
        grid = NO_TILES
    place = push_out(box, without(around, crossed), grid) or (x, y)
    pushed = [
        _pushed(hit, box, place, bounds) if blocks else hit for hit, bounds, blocks in hits if hit is not None
    ]
    return place, pushed


def without(around: Around, crossed: list[Any]) -> Around:
    """The same blockers without those that are crossed."""
    if not crossed:
        return around

    def others_around(bounds: Bounds) -> Blockers:
        blockers = around(bounds)
        kept = [k for k, other in enumerate(blockers.others) if other not in crossed]
        rows = None if blockers.rows is None else blockers.rows[kept]
        others = [blockers.others[k] for k in kept]
        return blockers._replace(bounds=blockers.bounds[kept], others=others, rows=rows)

    return others_around


def _pushed(hit: Hit, box: BoxPlace, place: Place, bounds: Bounds) -> Hit:
    """The hit as it is after the push: the normal is the axis on which the box has come clear."""
    x, y, width, _ = box
    if place[0] >= bounds[2] or place[0] + width <= bounds[0]:
        normal = (1.0 if place[0] > x else -1.0, 0.0)
    elif place == (x, y):
        normal = hit.normal
    else:
        normal = (0.0, 1.0 if place[1] > y else -1.0)
    return hit._replace(normal=normal, touch=place)
