"""Walking where gravity points to the side: the walk of a mirrored world, in which x and y are exchanged.

Only what the walker can reach is copied, and the result is mirrored back.
"""

from typing import Any

import numpy as np

from broadphase.geometry.shapes import Bounds, Box, Capsule, Circle, Polygon, Shape
from broadphase.kernels.tiles.grid import BOTTOM, LEFT, RIGHT, TOP
from broadphase.world.bodies import Body
from broadphase.world.hits import Hit, Walk
from broadphase.world.movement.character import WalkRules
from broadphase.world.movement.motion import Motion, Rollback
from broadphase.world.tiles import Tile, TileMap


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
    at = slice(rows.start, rows.stop), slice(columns.start, columns.stop)
    sides = None
    if tiles.one_way is not None:
        bits = tiles.one_way[at].T
        sides = np.zeros(bits.shape, np.uint8)
        for one, other in ((LEFT, TOP), (TOP, LEFT), (RIGHT, BOTTOM), (BOTTOM, RIGHT)):
            sides |= np.where(bits & one, other, 0).astype(np.uint8)
    corner = tiles.bounds_of(columns.start, rows.start)
    same = TileMap(tiles.solid[at].T.copy(), tiles.tile_size[::-1], (corner[1], corner[0]), one_way=sides)
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
    ignore: Any,
) -> Walk:
    """See `World.walk`, with ``down`` to the left or right; ``same`` is an empty world."""
    store = motion._store
    row, ignored = store.row(body), store.ignored(ignore)
    if motion._space.periodic:
        raise ValueError("down must be (0, 1) or (0, -1) in a world with a period")
    left, top, right, bottom = store.bounds(row)
    snap, _, step, corner, _, (x, y) = rules
    far = 2.0 * (abs(dx) + abs(dy) + snap + step + corner + probe)
    region = left - far - 1.0, top - far - 1.0, right + far + 1.0, bottom + far + 1.0
    first, slopes = (0, 0), 0
    if world.tiles is not None:
        same.tiles, shapes, first = mirrored_tiles(world.tiles, region)
        slopes = len(same.add_many(shapes, static=True)) if shapes else 0
    for other in world.query_box(region):
        if other is not body and other.id not in ignored and not other.one_way:
            kind = {name: getattr(other, name) for name in ("static", "sensor", "category", "mask")}
            same.add(mirrored(other.shape), data=other, **kind)
    walker = same.add(mirrored(body.shape), category=body.category, mask=body.mask, sensor=body.sensor)
    # A turned body is placed where it was before; its mirror image is not.
    off_x, off_y = walker.y - body.x, walker.x - body.y
    walk: Walk = same._walker.walk(walker, dy, dx, (*rules[:5], (y, x)), probe, frozenset(), ())

    def named(one: Any) -> Any:
        if isinstance(one, Tile):
            return Tile(one.row + first[0], one.column + first[1])
        if isinstance(one, Body) and one.id < slopes:  # a slope was a tile
            center = one.center
            return world.tiles.tile_at(center[1], center[0])
        return one.data if isinstance(one, Body) else one

    def back(hit: Hit) -> Hit:
        at = hit.touch[1] - off_x, hit.touch[0] - off_y
        return hit._replace(other=named(hit.other), normal=hit.normal[::-1], touch=at)

    hits, to_x, to_y = tuple(map(back, walk.hits)), walk.y - off_x, walk.x - off_y
    with Rollback(motion._state, np.array([row], np.int32)):
        motion.move_through(row, 0.0, to_y - body.y, ignored)
        motion.move_through(row, to_x - body.x, 0.0, ignored)
        store.put(row, to_x, to_y)
    for hit in hits:
        if isinstance(hit.other, Body):
            motion._contacts.note(row, hit.other.id, hit.normal, stopped=True)
    return walk._replace(
        x=to_x,
        y=to_y,
        hits=hits,
        crossed=tuple(map(back, walk.crossed)),
        floor=named(walk.floor),
        normal=None if walk.normal is None else walk.normal[::-1],
        ladder=named(walk.ladder),
        wall=None if walk.wall is None else back(walk.wall),
    )
