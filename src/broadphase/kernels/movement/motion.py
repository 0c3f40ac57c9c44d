"""Moves bodies of a world, one or many, and lists the rows that its indexes have to update.

A world has one list for each of its indexes.  A row is in a list once, however often it changes before the
index is read.  A row that is listed without a change costs little and is never wrong, so every change lists
its rows first and writes afterwards.  Both happen in one kernel if a body only moves.
"""

import math
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from broadphase.kernels.arrays.results import sort_few
from broadphase.kernels.boxes.overlap import agree
from broadphase.kernels.machine.jit import holds_gil, inline, jit
from broadphase.kernels.machine.memory import few, prefetch, some_rows
from broadphase.kernels.movement.crossing import HITS, cross_in_turn, cross_on_way, passes_beside
from broadphase.kernels.movement.depenetration import filled_in, free_place
from broadphase.kernels.movement.one_way import STARTS_IN, sides_from
from broadphase.kernels.movement.path import (
    DONE,
    FULL,
    START,
    begin,
    enlarged,
    follow,
    put_near,
    swept_bounds,
    swept_region,
)
from broadphase.kernels.movement.sweep import BOUNCE, CROSS, FARTHEST, edges_of_body
from broadphase.kernels.movement.sweep_shapes import sides_reached
from broadphase.kernels.shapes.images import (
    SLACK,
    deepest_contact,
    is_plain,
    shifted,
    turns_between,
)
from broadphase.kernels.shapes.table import (
    BOX,
    TOLERANCE,
    ShapeColumns,
    bounds_at,
    bounds_of,
    bounds_overlap,
    shape_at,
    tolerance_of,
    widened,
)
from broadphase.kernels.tiles.grid import without_tiles

# The bits of `Bodies.listed`: bit k says whether the row is in the list of index k; the bits from here on say
# whether index k has to drop the row's former state first, because that was another body.
INDEXES = 2
REPLACED = INDEXES


class Bodies(NamedTuple):
    """The columns of bodies that a movement reads and marks, by row."""

    sensor: npt.NDArray[np.bool_]
    category: npt.NDArray[np.uint32]
    mask: npt.NDArray[np.uint32]
    static: npt.NDArray[np.bool_]
    touched: npt.NDArray[np.bool_]
    layer: npt.NDArray[np.int8]
    """The layer of a body: those of even numbers are in index 0, the others in index 1."""
    listed: npt.NDArray[np.uint8]
    changed: npt.NDArray[np.int32]
    """``(indexes, rows)``: the list of each index."""
    counts: npt.NDArray[np.int64]
    """How long each list is, and then their total length."""


@inline
def _list(bodies, row, index):
    """Add a row to the list of an index, unless it is in it."""
    if not bodies.listed[row] & (1 << index):
        bodies.changed[index, bodies.counts[index]] = row
        bodies.counts[index] += 1
        bodies.counts[-1] += 1
        bodies.listed[row] |= np.uint8(1 << index)


@inline
def _index_of(layer):
    return np.int64(layer) & 1


@inline
def moved(bodies, row):
    """Mark a body that has moved, or is about to."""
    bodies.touched[row] = True
    _list(bodies, row, _index_of(bodies.layer[row]))


@holds_gil
def put(xs, ys, bodies, row, x, y):
    """Set the position of a body."""
    if xs[row] != x or ys[row] != y:
        moved(bodies, row)
        xs[row], ys[row] = x, y


@jit
def put_many(xs, ys, bodies, rows, places):
    """Set the positions of bodies; if a row comes twice, its last position counts."""
    for k in range(rows.shape[0]):
        put(xs, ys, bodies, rows[k], places[k, 0], places[k, 1])


@jit
def moved_many(bodies, rows):
    """`moved` for many bodies."""
    for k in range(rows.shape[0]):
        moved(bodies, rows[k])


@holds_gil
def list_replaced(bodies, row, layer):
    """List a row for the index of a layer, which has to drop the row's former state first."""
    _list(bodies, row, _index_of(layer))
    bodies.listed[row] |= np.uint8(1 << (_index_of(layer) + REPLACED))


@jit
def list_many_replaced(bodies, rows, layers):
    """`list_replaced` for many bodies, each with its layer."""
    for k in range(rows.shape[0]):
        list_replaced(bodies, rows[k], np.int64(layers[k]))


@jit
def take_list(bodies, alive, index, ids):
    """Empty the list of an index; ``ids`` are those of the rows in the index, or -1.

    Returns ids to be removed, rows that the index has, and rows that are to be inserted.
    """
    bit, drop = 1 << index, 1 << (index + REPLACED)
    kept, count = np.uint8(0xFF ^ (bit | drop)), bodies.counts[index]
    gone, known, fresh = np.empty(count, np.int32), np.empty(count, np.int32), np.empty(count, np.int32)
    leave = stay = come = 0
    for k in range(count):
        row = bodies.changed[index, k]
        wanted = alive[row] and _index_of(bodies.layer[row]) == index
        is_known = ids[row] >= 0
        if is_known and (not wanted or bodies.listed[row] & drop):
            gone[leave] = ids[row]
            leave += 1
            is_known = False
        if wanted and is_known:
            known[stay] = row
            stay += 1
        elif wanted:
            fresh[come] = row
            come += 1
        bodies.listed[row] &= kept
    bodies.counts[-1] -= bodies.counts[index]
    bodies.counts[index] = 0
    return gone[:leave], known[:stay], fresh[:come]


@holds_gil
def take_moved(bodies, alive, index, ids, shapes):
    """`take_list` where the only change is that one body moved, as between two movements.

    Returns its id in the index and its bounds; -1, and nothing is taken, where that is not so.
    """
    row = bodies.changed[index, 0]
    drop = 1 << (index + REPLACED)
    is_listed = alive[row] and _index_of(bodies.layer[row]) == index and row < ids.shape[0] and ids[row] >= 0
    if bodies.counts[index] != 1 or bodies.listed[row] & drop or not is_listed:
        return np.int64(-1), (0.0, 0.0, 0.0, 0.0)
    box = bounds_of(shapes, row)
    bodies.listed[row] &= np.uint8(0xFF ^ (1 << index))
    bodies.counts[-1] -= 1
    bodies.counts[index] = 0
    return np.int64(ids[row]), box


# -----------------------------------------------------------------------------------------------------------
# Moves bodies along their paths (`path`).
#
# `move_body` moves one body of a world in one call.  A call takes longer than the movement, so the bodies
# near the path are sorted and filtered here, and the new position is written back.  `move_many` moves many
# bodies, one after the other.


ALWAYS, IF_FREE, ONLY_TEST = 0, 1, 2  # when a body moves: always, only if nothing is hit, or not at all

CROWDED = 4  # beside the results of `path.follow`: more images are near than the memory holds
ALL_OF_THEM = -1  # in place of layers: what is near blocks, whatever its rules

_EVERYWHERE = -math.inf, -math.inf, math.inf, math.inf
_PLAIN = math.inf, math.inf  # the period of a world that has none


@inline
def _padding(bounds, dx, dy):
    """How much farther than its bounds a shape may look on its path."""
    return 4.0 * (TOLERANCE * (abs(dx) + abs(dy)) + tolerance_of(bounds))


@holds_gil
def region_of(shapes, row, dx, dy, mirrored, turns):
    """A box around everything that body ``row`` can meet on its path; infinite if that leads nowhere.

    With ``mirrored``, for a bounce, to both sides; if it ``turns``, its path may change to any direction.
    """
    x, y = shapes.x[row], shapes.y[row]
    far_x, far_y = max(abs(dx), abs(x + dx)), max(abs(dy), abs(y + dy))
    bounds, far = bounds_of(shapes, row), abs(dx) + abs(dy)
    pad = _padding(bounds, dx, dy)
    region = swept_bounds(bounds, dx, dy, pad)
    if turns or mirrored:
        across, down = (far + pad, far + pad) if turns else (abs(dx) + pad, abs(dy) + pad)
        region = bounds[0] - across, bounds[1] - down, bounds[2] + across, bounds[3] + down
    left, top, right, bottom = enlarged(region)
    ends = far_x < FARTHEST and far_y < FARTHEST and right - left < math.inf and bottom - top < math.inf
    return (left, top, right, bottom) if ends else _EVERYWHERE


@inline
def _is_clear(shapes, row, dx, dy, table, buffers, blockers):
    """Whether nothing that may block is on the straight path of a body; boxes that are flush with it are not.

    Most of what is near is beside the path: a body that was stopped lies flush with a wall.
    """
    if blockers == 0:
        return True
    bounds, is_box = bounds_of(shapes, row), shapes.kinds[row] == BOX
    box = bounds[0], bounds[1], shapes.width[row], shapes.height[row]
    swept = swept_region(*box, dx, dy, False)
    start = shapes.x[row], shapes.y[row]
    goal = start[0] + dx, start[1] + dy
    for k in range(blockers):
        if buffers.sides[k] & STARTS_IN != 0:  # what it leaves straight, it does not come back to
            continue
        other = np.int64(buffers.near[k])
        region, place = swept, (table.x[other], table.y[other])
        if not is_box or table.kinds[other] != BOX:
            region = enlarged(swept_bounds(bounds, dx, dy, _padding(bounds, dx, dy)))
        if bounds_overlap(edges_of_body(buffers.boxes, k), region) and not passes_beside(
            shapes, row, start, goal, table, other, place
        ):
            return False
    return True


@inline
def sift(shapes, around, row, source, first, end, region, buffers):
    """Copy the rows that block from ``source[first:end]`` to ``buffers.near``, as far as they reach a region.

    Returns how many block, and how many are open to the mover (``buffers.open``).  No body blocks a moving
    sensor.  ``around`` are the bodies, their one-way sides, and the bits of the layers that block.
    """
    bodies, one_way, layers = around
    blockers = opened = 0
    for k in range(first, end):
        other = source[k]
        if other == row or not agree(bodies.category, bodies.mask, row, other):
            continue
        if bodies.sensor[other] or bodies.sensor[row] or not (layers >> np.int64(bodies.layer[other])) & 1:
            buffers.open[opened] = other
            opened += 1
            continue
        box = bounds_of(shapes, other)
        if not bounds_overlap(box, region):
            continue
        put_near(buffers, blockers, other, box, sides_from(shapes, row, shapes, other, one_way[other]))
        blockers += 1
    return blockers, opened


# ---- images near a body, in a frame of its own


class Frame(NamedTuple):
    """The columns of images near a mover, one entry for each; memory, reused."""

    kinds: npt.NDArray[np.uint8]
    x: npt.NDArray[np.float64]
    y: npt.NDArray[np.float64]
    width: npt.NDArray[np.float64]
    height: npt.NDArray[np.float64]
    starts: npt.NDArray[np.int64]
    counts: npt.NDArray[np.int64]
    fixed: npt.NDArray[np.bool_]
    one_way: npt.NDArray[np.uint8]
    owners: npt.NDArray[np.int32]
    """The body of each row."""


@inline
def put_image(frame, k, shapes, fixed, one_way, row, x, y):
    """Write a body at another place."""
    frame.kinds[k], frame.x[k], frame.y[k] = shapes.kinds[row], x, y
    frame.width[k], frame.height[k] = shapes.width[row], shapes.height[row]
    frame.starts[k], frame.counts[k] = shapes.starts[row], shapes.counts[row]
    frame.fixed[k], frame.one_way[k], frame.owners[k] = fixed[row], one_way[row], row


@inline
def sift_images(mover, shapes, around, row, source, first, end, region, images, buffers):
    """`sift` for all images of bodies that reach a region: they are written to a `Frame`.

    ``images`` are that frame and the period.  ``mover`` are a table and the row in it that begins to move:
    that of body ``row``, or with -1 a shape that all bodies with a category and a mask stop.  With
    `ALL_OF_THEM` they stop it whatever their rules.
    Returns -1 for how many block if they are more than the memory holds.
    """
    (bodies, one_way, layers), (frame, period) = around, images
    table = table_of(frame, shapes)
    rows = opened = np.int64(0)
    for k in range(first, end):
        other = source[k]
        if layers != ALL_OF_THEM:
            sensor = bodies.sensor[other]
            if row < 0:
                if sensor or bodies.category[other] == 0 or bodies.mask[other] == 0:
                    continue
            elif other == row or not agree(bodies.category, bodies.mask, row, other):
                continue
            elif sensor or bodies.sensor[row] or not (layers >> np.int64(bodies.layer[other])) & 1:
                if opened == buffers.open.shape[0]:
                    return np.int64(-1), opened
                buffers.open[opened] = other
                opened += 1
                continue
        least_x, most_x, least_y, most_y = turns_between(region, bounds_of(shapes, other), period)
        for across in range(least_x, most_x + 1):
            for down in range(least_y, most_y + 1):
                x, y = shifted(shapes.x[other], across, period[0]), shifted(shapes.y[other], down, period[1])
                box = bounds_at(shapes, other, x, y)
                if not bounds_overlap(box, region):
                    continue
                if rows == frame.x.shape[0]:
                    return np.int64(-1), opened
                put_image(frame, rows, shapes, bodies.static, one_way, other, x, y)
                put_near(buffers, rows, rows, box, sides_from(*mover, table, rows, one_way[other]))
                rows += 1
    return rows, opened


@holds_gil
def lay_out(mover, shapes, around, row, others, region, images, buffers):
    """`sift_images` for a shape, as Python calls it."""
    return sift_images((mover, 0), shapes, around, row, others, 0, others.shape[0], region, images, buffers)


class Surroundings(NamedTuple):
    """What is near each of many movers."""

    regions: npt.NDArray[np.float64]
    """``(m, 4)``: within that of a mover all that is near it was searched for."""
    across: npt.NDArray[np.bool_]
    """Which of these lie across an edge of the period: images there block, too."""
    starts: npt.NDArray[np.int64]
    others: npt.NDArray[np.int32]
    """``others[starts[m]:starts[m + 1]]`` are near mover ``m``."""


@inline
def sift_among(shapes, around, tags, row, near, m, images, buffers):
    """`sift` for mover ``m`` of many, or `sift_images` where its region lies across an edge of the period.

    ``near`` are the `Surroundings`, ``tags`` the groups of bodies and the bits of groups.  Of the bodies
    that let it through, sensors are kept, all if it is a sensor, and those with a listener for the two.

    Returns -1 for how many block if the memory does not hold what is near.
    """
    (groups, bits), bodies, region = tags, around[0], edges_of_body(near.regions, m)
    first, end = near.starts[m], near.starts[m + 1]
    if end - first > buffers.near.shape[0]:
        return np.int64(-1), np.int64(0)
    if near.across[m]:
        known = near.others, first, end, region, images, buffers
        blockers, opened = sift_images((shapes, row), shapes, around, row, *known)
    else:
        blockers, opened = sift(shapes, around, row, near.others, first, end, region, buffers)
    kept = 0
    for k in range(opened):
        other = buffers.open[k]
        heard = bits[groups[row], 0] & bits[groups[other], 1] != 0
        if heard or bodies.sensor[other] or bodies.sensor[row]:
            buffers.open[kept] = other
            kept += 1
    return blockers, kept


@inline
def table_of(frame, shapes):
    """A frame as a table of shapes."""
    sizes = frame.x, frame.y, frame.width, frame.height, frame.starts, frame.counts
    return ShapeColumns(frame.kinds, *sizes, shapes.points, shapes.axes)


@inline
def name_owners(hits, first, found, frame):
    """Name the bodies of hits with rows of a frame."""
    for k in range(first, found):
        if hits[k, 5] >= 0.0:
            hits[k, 5] = float(frame.owners[np.int64(hits[k, 5])])


# ---- one body


@inline
def _move(shapes, way, scene, opened, buffers, period):
    """Follow the path of a body in a scene, with so many open bodies (`sift`).

    Returns ``state, hits, crossed, x, y, reached``, and whether it moves.
    """
    (row, dx, dy, response, when), (table, _, blockers, _, grid) = way, scene
    start = shapes.x[row], shapes.y[row]
    xs, ys = few(1, np.float64), few(1, np.float64)
    xs[0], ys[0] = start
    mover = shape_at(shapes, row, xs, ys)
    begin(buffers, xs[0], ys[0], dx, dy, START, 0)
    state = follow(row, mover, scene, response, False, buffers)
    found, crossed, reached = buffers.counts[7], np.int64(0), np.int64(0)
    if state != DONE:
        return (state, np.int64(0), crossed, start[0], start[1], reached), False
    if response != CROSS and when != ONLY_TEST:
        reached = sides_reached(mover, dx, dy, table, buffers.near[:blockers], buffers.sides, grid)
    moves = when == ALWAYS or (when == IF_FREE and found == 0)
    if moves and opened > 0:
        way = start, (xs[0], ys[0]), buffers.hits, HITS, 0, (0 if response == CROSS else found)
        rows, nothing = buffers.open[:opened], without_tiles(grid)
        crossed = cross_on_way(shapes, row, way, shapes, rows, period, nothing, buffers.hits, found)
    if crossed < 0:
        state, moves = FULL, False
    return (state, found, crossed, xs[0], ys[0], reached), moves


@holds_gil
def move_body(shapes, around, way, count, buffers, grid, searched):
    """Move a body among the first ``count`` of ``buffers.near``, and mark it as moved.

    ``way`` are ``row, dx, dy, response, when``; with `IF_FREE` the body stays where it is when it hits
    anything.  ``around`` are the columns of bodies, their one-way sides, and the bits of the layers that
    block; ``searched`` is the `region_of` for which ``near`` was queried.

    Returns ``state, hits, crossed, x, y, reached``; unless the state is `DONE`, nothing has changed.  What it
    crossed comes after the hits, and ``reached`` are the `sides_reached`.
    """
    bodies, row = around[0], way[0]
    sort_few(buffers.near, count)
    blockers, opened = sift(shapes, around, row, buffers.near, 0, count, _EVERYWHERE, buffers)
    scene = shapes, bodies.static, blockers, searched, grid
    found, moves = _move(shapes, way, scene, opened, buffers, _PLAIN)
    if moves:
        put(shapes.x, shapes.y, bodies, row, found[3], found[4])
    return found


@holds_gil
def move_among_images(shapes, around, way, others, buffers, grid, searched, images):
    """`move_body` among the images of ``others``; the body is not put at its place.

    ``images`` are the `Frame` and the period.
    """
    row, (frame, period) = way[0], images
    known = row, others, 0, others.shape[0], searched, images
    blockers, opened = sift_images((shapes, row), shapes, around, *known, buffers)
    if blockers < 0:
        return FULL, np.int64(0), np.int64(0), shapes.x[row], shapes.y[row], np.int64(0)
    scene = table_of(frame, shapes), frame.fixed, blockers, searched, grid
    found, _ = _move(shapes, way, scene, opened, buffers, period)
    name_owners(buffers.hits, 0, found[1], frame)
    return found


# ---- many bodies


@jit
def plan_step(velocity, place, alive, response, group, by_group, seconds, out):
    """The bodies that have a velocity: ``out`` are their rows, velocities, displacements and responses.

    A body has its ``own`` response or, if that is negative, that of its group.  Returns how many, and how far
    from the origin they are going on an axis.
    """
    rows, velocities, displacements, responses = out
    count, far = np.int64(0), 0.0
    for row in range(rows.shape[0]):
        vx, vy = velocity[0][row], velocity[1][row]
        if not alive[row] or (vx == 0.0 and vy == 0.0):
            continue
        dx, dy = vx * seconds, vy * seconds
        far = max(far, max(abs(place[0][row] + dx), abs(place[1][row] + dy)))
        rows[count] = row
        velocities[count, 0], velocities[count, 1] = vx, vy
        displacements[count, 0], displacements[count, 1] = dx, dy
        responses[count] = response[row] if response[row] >= 0 else by_group[group[row]]
        count += 1
    return count, far


@jit
def rows_of_ids(ids, alive, count):
    """Ids as rows, and the place of the first that no body among so many rows has; -1: all have one."""
    rows, bad = np.empty(ids.shape[0], np.int32), np.int64(-1)
    for k in range(ids.shape[0]):
        is_known = 0 <= ids[k] < count and alive[ids[k]]
        if bad < 0 and not is_known:
            bad = np.int64(k)
        rows[k] = ids[k] if is_known else 0
    return rows, bad


@jit
def check_moves(rows, xs, ys, displacements, longest):
    """Whether the rows ascend, and the first mover that goes too far or nowhere; -1: none.

    That is beyond `FARTHEST`, or farther on an axis than the ``longest`` displacement.
    """
    ascends, far = True, np.int64(-1)
    for m in range(rows.shape[0]):
        row = np.int64(rows[m])
        ascends &= m == 0 or rows[m - 1] < row
        dx, dy = displacements[m, 0], displacements[m, 1]
        x, y, short = xs[row] + dx, ys[row] + dy, abs(dx) <= longest[0] and abs(dy) <= longest[1]
        if far < 0 and not (short and abs(x) < FARTHEST and abs(y) < FARTHEST):
            far = np.int64(m)
    return ascends, far


@inline
def put_region(region, pad, m, space, out):
    """Write a region, enlarged by ``pad``, and whether it lies across an edge; see `regions_of`."""
    (period, low, high), (regions, across) = space, out
    across[m], plain, largest = False, is_plain(period), max(max(-region[0], -region[1]), 0.0)
    for axis in range(0 if plain else 2):
        largest = max(largest, max(region[axis + 2], period[axis] if period[axis] < math.inf else 0.0))
    if not plain and largest < math.inf:
        pad += SLACK * largest
    regions[m, 0], regions[m, 1], regions[m, 2], regions[m, 3] = widened(region, pad)
    for axis in range(0 if plain else 2):
        inside = high[axis] < regions[m, axis] and regions[m, axis + 2] < period[axis] - low[axis]
        across[m] |= period[axis] < math.inf and not inside


@jit
def regions_of(shapes, rows, displacements, responses, turns, space, pushes, begin, out):
    """`region_of` for many bodies, each of which may be pushed before it moves.

    Those before ``begin`` have moved.  Movers whose paths lead nowhere may meet everything.  ``space`` are
    the period, and how far shapes reach below and above their places: with a period regions are larger by
    what places are rounded by.  ``out`` are the regions, and which of them lie across an edge, so that
    images may lie there.
    """
    for m in range(rows.shape[0]):
        if m < begin:  # since then a lift may have carried it out of its region
            put_region(region_of(shapes, rows[m], 0.0, 0.0, False, turns), 0.0, m, space, out)
            continue
        dx, dy = displacements[m, 0], displacements[m, 1]
        region = region_of(shapes, rows[m], dx, dy, responses[m] == BOUNCE, turns)
        put_region(region, pushes[m], m, space, out)


@jit
def pushes_of(shapes, rows, neighbors, period, grid, pushes):
    """Write how far each mover may be pushed by what it starts in."""
    starts, others = neighbors
    plain, numbers = is_plain(period), some_rows(8, 1, np.float64)
    for m in range(rows.shape[0]):
        row = np.int64(rows[m])
        bounds, deepest = bounds_of(shapes, row), 0.0
        if filled_in(grid, *bounds)[0]:
            deepest = min(grid.width, grid.height)
        for k in range(starts[m], starts[m + 1]):
            other = np.int64(others[k])
            if other == row:
                continue
            if plain and not bounds_overlap(bounds, bounds_of(shapes, other)):
                continue
            deepest = max(deepest, deepest_contact(shapes, row, other, period, numbers)[3])
        if deepest > 0.0:
            pushes[m] = deepest * (1.0 + 4.0 * TOLERANCE) + 4.0 * tolerance_of(bounds)


# A shape takes so many times as long as a box.
_SHAPE_WORK = 16.0


@inline
def _work(dx, dy, blockers, grid):
    """About how many blockers and tiles a movement tests."""
    tiles = 0.0
    if grid.solid.shape[0] > 0:
        rows, columns = grid.solid.shape
        tiles = min(abs(dx) / grid.width, float(columns)) + min(abs(dy) / grid.height, float(rows))
    return 4.0 + blockers + tiles


# Of more bodies than these, what is near so many movers ahead is loaded early: 20,000 movers take 0.85 of the
# time, 100,000 take 0.75.  The columns of fewer stay in the cache.
_CACHED, _MOVERS_AHEAD = 16_384, 8


@inline
def _load_early(shapes, around, group, near, m):
    """Prefetch all that `sift_among` and crossing read of what is near mover ``m``."""
    (bodies, one_way, _), count = around, near.across.shape[0]
    for k in range(near.starts[min(m, count)], near.starts[min(m + 1, count)]):
        other = near.others[k]
        prefetch(shapes.kinds, other, 0)
        prefetch(shapes.x, other, 0)
        prefetch(shapes.y, other, 0)
        prefetch(shapes.width, other, 0)
        prefetch(shapes.height, other, 0)
        prefetch(bodies.category, other, 0)
        prefetch(bodies.mask, other, 0)
        prefetch(bodies.sensor, other, 0)
        prefetch(bodies.layer, other, 0)
        prefetch(one_way, other, 0)
        prefetch(group, other, 0)


@jit
def move_many(shapes, around, tags, movers, start, grid, buffers, images, out, limits):
    """Move many bodies one after the other; each finds the earlier ones at their new places.

    ``movers`` are their rows, displacements and responses, and the `Surroundings`; ``around`` and ``tags``
    are as of `sift_among`, ``images`` the memory for images, and the period.  ``out`` are the places of
    movers, wrapped into the period, and rows of what each first overlaps on its path, as hits: sensors, and
    bodies that do not block it.  ``limits`` are about how many boxes are tested, and whether static movers
    wait until all have moved, where the others see them as they were; else the call ends after each that
    blocks on some sides only, for what it carries.

    Returns ``next, state, found, crossed``: all before mover ``next`` have moved, with so many hits and rows.
    State is that of the next one, or `DONE` if enough was tested, the last one carries, or all is done.
    """
    (rows, displacements, responses, near), bodies, one_way = movers, around[0], around[1]
    (frame, period), (places, crossed), (most, waits) = images, out, limits
    found, passed, work, nothing = np.int64(0), np.int64(0), 0.0, without_tiles(grid)
    xs, ys = few(1, np.float64), few(1, np.float64)
    shapes_there = table_of(frame, shapes)
    for m in range(start, rows.shape[0]):
        if shapes.x.shape[0] > _CACHED:
            _load_early(shapes, around, tags[0], near, m + _MOVERS_AHEAD)
        row, dx, dy = np.int64(rows[m]), displacements[m, 0], displacements[m, 1]
        xs[0], ys[0] = shapes.x[row], shapes.y[row]
        began, region, across = (xs[0], ys[0]), edges_of_body(near.regions, m), near.across[m]
        before, response = found, np.int64(responses[m])
        blockers, opened = sift_among(shapes, around, tags, row, near, m, images, buffers)
        if blockers < 0:
            return m, CROWDED, found, passed
        table, fixed = (shapes_there, frame.fixed) if across else (shapes, bodies.static)
        # Most of the movers, in a fifth of the time.
        if grid.solid.shape[0] == 0 and _is_clear(shapes, row, dx, dy, table, buffers, blockers):
            xs[0], ys[0], work = xs[0] + dx, ys[0] + dy, work + 1.0
        else:
            mover = shape_at(shapes, row, xs, ys)
            begin(buffers, xs[0], ys[0], dx, dy, START, found)
            scene = table, fixed, blockers, region, grid
            state = follow(m, mover, scene, response, False, buffers)
            if state != DONE:
                return m, state, before, passed
            found = buffers.counts[7]
            work_each = 1.0 if buffers.counts[5] != 0 else _SHAPE_WORK
            work += work_each * _work(dx, dy, float(blockers), grid)
        if across:
            name_owners(buffers.hits, before, found, frame)
        stops = before if response == CROSS else found
        if opened > 0 or stops < found:
            if passed + opened + found - stops > crossed.shape[0]:
                return m, FULL, before, passed
            way = began, (xs[0], ys[0]), buffers.hits, HITS, before, stops
            met = buffers.hits[stops:found]
            others = buffers.open[:opened]
            passed = cross_in_turn(shapes, m, row, way, met, others, period, nothing, crossed, passed)
        if across:
            met = buffers.hits[before:stops]
            xs[0], ys[0] = free_place(shapes, row, xs[0], ys[0], met, period, grid)
        places[m, 0], places[m, 1] = xs[0], ys[0]
        if not (waits and bodies.static[row]):
            put(shapes.x, shapes.y, bodies, row, xs[0], ys[0])
        if m + 1 < rows.shape[0] and (work > most or (one_way[row] != 0 and not waits)):
            return m + 1, DONE, found, passed
    for m in range(rows.shape[0] if waits else 0):
        if bodies.static[rows[m]]:
            put(shapes.x, shapes.y, bodies, rows[m], places[m, 0], places[m, 1])
    return rows.shape[0], DONE, found, passed
