"""Walking where gravity points to the side: the walk of a mirrored world, in which x and y are exchanged.

Only what the walker can reach is copied, and the result is mirrored back.
"""

import math
from typing import Any

import numpy as np

from broadphase.geometry.shapes import Bounds, Box, Capsule, Circle, Polygon, Shape
from broadphase.indexes.storage import EVERY_BIT
from broadphase.kernels.tiles.grid import SIDES, Side
from broadphase.world.bodies import Body
from broadphase.world.hits import Hit, Walk
from broadphase.world.movement.character import WalkRules, rules_of
from broadphase.world.movement.motion import Motion, Rollback
from broadphase.world.tiles import Tile, TileMap

_MIRRORED: dict[Side, Side] = {"left": "top", "top": "left", "right": "bottom", "bottom": "right"}


def mirrored(shape: Shape) -> Shape:
    """A shape with x and y exchanged."""
    if isinstance(shape, Box):
        return Box(shape.y, shape.x, shape.height, shape.width)
    if isinstance(shape, Circle):
        return Circle(shape.y, shape.x, shape.radius)
    points = shape.points[:, ::-1].tolist()
    if len(points) == 2:
        (x, y), (to_x, to_y) = points
        return Capsule(x, y, to_x, to_y, shape.radius)
    return Polygon(points, radius=shape.radius)


def mirrored_tiles(tiles: TileMap, region: Bounds) -> tuple[TileMap, list[Shape], tuple[int, int]]:
    """The tiles in a region with x and y exchanged, their slopes as shapes, and the first column and row."""
    columns, rows = tiles.cells(region)
    cells = slice(rows.start, rows.stop), slice(columns.start, columns.stop)
    sides = None
    if tiles.one_way is not None:
        bits = tiles.one_way[cells].T
        sides = np.zeros(bits.shape, np.uint8)
        for one, other in _MIRRORED.items():
            sides |= np.where(bits & SIDES[one], SIDES[other], 0).astype(np.uint8)
    corner = tiles.bounds_of(columns.start, rows.start)
    same = TileMap(tiles.solid[cells].T.copy(), tiles.tile_size[::-1], (corner[1], corner[0]), one_way=sides)
    for column in columns:
        for row in rows:
            if tiles.is_ladder(column, row):
                same.set_ladder(row - rows.start, column - columns.start)
    slopes = [mirrored(shape) for _, shape in tiles.slopes_in(region)]
    return same, slopes, (columns.start, rows.start)


def walk_sideways(
    world: Any,
    same: Any,
    motion: Motion,
    body: Body,
    dx: float,
    dy: float,
    rules: WalkRules,
    probe: float,
    pushes: frozenset[Any],
    ignore: Any,
) -> Walk:
    """See `World.walk`, with ``down`` to the left or right; ``same`` is an empty world."""
    store = motion._store
    row, ignored = store.row(body), store.ignored(ignore)
    if motion._space.periodic:
        raise ValueError("down must be (0, 1) or (0, -1) in a world with a period")
    rules_of(*rules[:5], rules[5][::-1])
    left, top, right, bottom = store.bounds(row)
    snap, steepest, step, corner, _, (x, y) = rules
    far = 2.0 * (abs(dx) + abs(dy) + snap + step + corner + probe)
    far += (abs(dy) + probe) * math.tan(math.radians(steepest)) + 1.0
    region = left - far, top - far, right + far, bottom + far
    first, slopes = (0, 0), 0
    if world.tiles is not None:
        same.tiles, shapes, first = mirrored_tiles(world.tiles, region)
        # Slopes block whatever else does: also what has other categories, and sensors.
        slopes = len(same.add_many(shapes, static=True, category=EVERY_BIT)) if shapes else 0
    starts = {}
    meets = bool(body.category and body.mask)
    for other in world.query_box(region) if meets else ():
        if other is not body and other.id not in ignored:
            copy = same.add(
                mirrored(other.shape),
                tag=other.tags if other.tags & pushes else (),
                static=other.static,
                sensor=other.sensor or body.sensor,
                category=other.category,
                mask=other.mask,
                data=other,
            )
            copy.one_way = [_MIRRORED[side] for side in other.one_way]
            starts[copy] = copy.position
    sets = (body.category, body.mask) if meets else (EVERY_BIT, EVERY_BIT)
    walker = same.add(mirrored(body.shape), category=sets[0], mask=sets[1])
    # A turned body is placed where it was before; its mirror image is not.
    off_x, off_y = walker.y - body.x, walker.x - body.y
    walk: Walk = same._walker.walk(walker, dy, dx, (*rules[:5], (y, x)), probe, pushes, ())

    def named(one: Any) -> Any:
        if isinstance(one, Tile):
            return Tile(one.row + first[0], one.column + first[1])
        if isinstance(one, Body) and one.id < slopes:  # a slope was a tile
            center = one.center
            return world.tiles.tile_at(center[1], center[0])
        return one.data if isinstance(one, Body) else one

    def back(hit: Hit) -> Hit:
        touch = hit.touch[1] - off_x, hit.touch[0] - off_y
        return hit._replace(other=named(hit.other), normal=hit.normal[::-1], touch=touch)

    hits, crossed = tuple(map(back, walk.hits)), tuple(map(back, walk.crossed))
    to = walk.y - off_x, walk.x - off_y
    pushed = {copy.data.id: copy.position - start for copy, start in starts.items() if copy.position != start}
    with Rollback(motion._state, np.array([row, *pushed], np.int32)):
        for other, (way_y, way_x) in pushed.items():
            motion.move_through(other, way_x, way_y, {*ignored, row})
        store.put(row, *to)
        for hit in (*hits, *crossed):
            if isinstance(hit.other, Body):
                motion._contacts.note(row, hit.other.id, hit.normal, stopped=hit.response != "cross")
    return walk._replace(
        x=to[0],
        y=to[1],
        hits=hits,
        crossed=crossed,
        floor=named(walk.floor),
        normal=None if walk.normal is None else walk.normal[::-1],
        ladder=named(walk.ladder),
        wall=None if walk.wall is None else back(walk.wall),
    )
