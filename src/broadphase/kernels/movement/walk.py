"""Walkers move one after the other among the obstacles around them, earlier ones at their new places.

A walk goes across first and then along gravity, so that moving and gravity in one call or in two give the
same result::

    1  what is around it (`walk_obstacles`), and whether it starts in something
    2  along the floor (`walk_step`), over slopes (`walk_slope`) and up steps,
       and down to the floor that it walked off (the snap of `walk_ground`)
    3  down to the ground or up to a ceiling (`walk_fall`)
    4  what it stands on (the ground probe of `walk_ground`)

It is a sequence of straight legs.  A leg is only taken if its end is certainly clear of everything.
"""

import math
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from broadphase.kernels.machine.floats import next_down, next_up
from broadphase.kernels.machine.jit import common, inline, jit
from broadphase.kernels.machine.memory import few
from broadphase.kernels.movement.crossing import BENDS, cross_in_turn
from broadphase.kernels.movement.depenetration import free_place, was_searched
from broadphase.kernels.movement.motion import (
    CROWDED,
    Surroundings,
    name_owners,
    put_image,
    put_region,
    sift_among,
    table_of,
)
from broadphase.kernels.movement.path import DONE, FULL, START, TOO_FAR, begin, enlarged, follow, name_tiles
from broadphase.kernels.movement.sweep import ALL_SIDES, SLIDE, edges_of_body
from broadphase.kernels.movement.walk_fall import climb, fall
from broadphase.kernels.movement.walk_ground import eased, floor_under, lowered, normal_of_floor, snapped
from broadphase.kernels.movement.walk_obstacles import (
    TOLERANCE,
    TOUCH,
    WalkSettings,
    exchanged,
    exchanged_box,
    gap,
    gather,
    is_clear,
    is_outside,
    ladder_at,
    touch_of,
)
from broadphase.kernels.movement.walk_path import Trip, edges_at, trip_of
from broadphase.kernels.movement.walk_step import go_along
from broadphase.kernels.shapes.table import BOX, ShapeColumns, bounds_of, shape_at
from broadphase.kernels.tiles.grid import TileGrid, tile_of, without_tiles

BUFFER_FULL, MORE_LOG = 5, 6  # beside the results of `path.follow`, and `motion.CROWDED`

# A walker that meets the polygon around a round corner goes on to the corner itself, by Newton's method: its
# tangent from where the walker is takes the place of the polygon, again and again.
_TURNS = 5

# At least so many sizes of a walker count as its coordinates: what one walk leaves at a distance has to be as
# near for the next, which may be shorter.
_SIZES = 16.0

# Steep sides are touched from so much farther away.
_WRAPPED = 8.0

# After about so many obstacles a call ends, so that Ctrl-C is answered: some 50 ms.
_MOST_NEAR = 500_000

_ROUNDED = 0.02  # of a tolerance: some units in the last place, which the edges of a round walker may be off


class Scene(NamedTuple):
    """Walkers and what is around them."""

    shapes: ShapeColumns
    rows: npt.NDArray[np.int32]
    """Of the walkers."""
    near: Surroundings
    grid: TileGrid
    ring: npt.NDArray[np.float64]
    """``(k, 2)``: the normals of the sides of the polygon that replaces round shapes."""
    fixed: npt.NDArray[np.bool_]
    """By row: which shapes do not move."""
    one_way: npt.NDArray[np.uint8]
    """By row: the sides that block, 0: all."""


class Ends(NamedTuple):
    """Where walkers ended, one row each."""

    places: npt.NDArray[np.float64]
    floors: npt.NDArray[np.int64]
    """``(m, 5)``: body, column and row of the floor, then column and row of a ladder; -1 for none."""
    tops: npt.NDArray[np.float64]
    """``(m, 2)``: out of the floor; NaN in the air."""


@inline
def _power_above(size):
    """A power of two, so that places near each other have one tolerance."""
    power = 1.0
    while power < size:
        power *= 2.0
    while 0.0 < size <= 0.5 * power and power < math.inf:
        power *= 0.5
    return power


@inline
def _tolerance(obstacles, x, y, trip, reach_x, reach_y, gone):
    """See `walk_obstacles`; for the region that a part of a walk may reach, which moves it by ``gone``.

    Whatever the rules allow, a walker gets no farther than that, or to the obstacles there.
    """
    far_x = max(abs(x), abs(x + trip.width)) + gone
    far_y = max(abs(y), abs(y + trip.height)) + gone
    for k in range(obstacles.counts[0]):
        far_x = max(far_x, max(abs(obstacles.boxes[k, 0]), abs(obstacles.boxes[k, 2])))
        far_y = max(far_y, max(abs(obstacles.boxes[k, 1]), abs(obstacles.boxes[k, 3])))
    across = min(far_x, max(abs(x - reach_x), abs(x + trip.width + reach_x)))
    along = min(far_y, max(abs(y - reach_y), abs(y + trip.height + reach_y)))
    return TOLERANCE * _power_above(max(across, along, _SIZES * max(trip.width, trip.height)))


@inline
def _let_through(obstacles, walker):
    """Exclude obstacles that a walker is inside of and cannot leave."""
    for k in range(obstacles.counts[0]):
        if not is_clear(obstacles, k, walker):
            obstacles.names[k, 3] = 0


@inline
def _is_outside_of_all(obstacles, walker):
    """`is_outside` for all obstacles: it needs no tangents to round corners."""
    for k in range(obstacles.counts[0]):
        if not is_outside(obstacles, k, walker):
            return False
    return True


@inline
def _straighten(obstacles, kinds, walker, tolerance):
    """Move edges of shapes back by a rounding error where a walker is flush with them.

    Their corners are rounded, so that a floor of many may have steps that nobody sees.  A box is pushed
    out of a box instead, where all sides block.
    """
    for k in range(obstacles.counts[0]):
        row, is_solid = obstacles.names[k, 0], obstacles.names[k, 3] == ALL_SIDES
        if is_solid and obstacles.first[k] == obstacles.first[k + 1] and (row < 0 or kinds[row] == BOX):
            continue
        for edge in range(4):  # left, top, right, bottom, and the opposite edge of the walker
            opposite = walker[(edge + 2) % 4]
            inside = opposite - obstacles.boxes[k, edge] if edge < 2 else obstacles.boxes[k, edge] - opposite
            if 0.0 < inside <= tolerance:
                obstacles.boxes[k, edge] = opposite


@inline
def _set_back(obstacles, walker):
    """Move a side back by a rounding error if a walker is flush with it, as `World.move` leaves it.

    Otherwise the walker would count as inside, and pass through.
    """
    for k in range(obstacles.counts[0]):
        first, end = obstacles.first[k], obstacles.first[k + 1]
        if first == end or is_outside(obstacles, k, walker):
            continue
        best = first
        for j in range(first + 1, end):
            if gap(obstacles.planes, j, walker) > gap(obstacles.planes, best, walker):
                best = j
        apart = gap(obstacles.planes, best, walker)
        if apart >= -touch_of(obstacles):
            obstacles.planes[best, 2] -= obstacles.tolerance[0] - apart


@inline
def _region_of(x, y, width, height, dx, dy, rules):
    """The region that a walk can touch: left, top, right, bottom; gravity points along y."""
    across = abs(dx) + 0.5 * abs(dy) + rules.corner
    along = abs(dx) * rules.rise + abs(dy) + rules.snap + rules.step
    across += 1e-9 * (across + abs(x) + width)
    along += 1e-9 * (along + abs(y) + height)
    return x - across, y - along, x + width + across, y + height + along


@jit
def regions_of(shapes, rows, displacements, rules, space, pushes, begin, out):
    """The regions that walks can touch, as of `motion.regions_of`."""
    for m in range(rows.shape[0]):
        left, top, right, bottom = exchanged_box(bounds_of(shapes, rows[m]), rules)
        dx, dy, push = 0.0, 0.0, 0.0
        if m >= begin:
            dx, dy = exchanged(displacements[m, 0], displacements[m, 1], rules)
            push = pushes[m]
        region = _region_of(left, top, right - left, bottom - top, dx, dy, rules)
        put_region(enlarged(exchanged_box(region, rules)), push, m, space, out)


@common
def _pushed(m, row, around, fixed, searched, log, buffers):
    """Where walker ``m`` of all is pushed by what it starts in: ``state, x, y``; the hits are logged."""
    shapes, neighbors, _, grid, _ = around
    xs, ys = few(1, np.float64), few(1, np.float64)
    xs[0], ys[0] = shapes.x[row], shapes.y[row]
    begin(buffers, xs[0], ys[0], 0.0, 0.0, START, 0)
    mover = shape_at(shapes, row, xs, ys)
    scene = shapes, fixed, neighbors.shape[0], searched, grid
    state = follow(m, mover, scene, SLIDE, False, buffers)
    for k in range(buffers.counts[7] if state == DONE else 0):
        entry = log.counts[0]
        log.counts[0] = entry + 1
        for column in range(9 if entry < log.hits.shape[0] else 0):
            log.hits[entry, column] = buffers.hits[k, column]
    return CROWDED if state == FULL else state, xs[0], ys[0]


@inline
def _gather(obstacles, around, region, x, y, trip, free):
    """`gather` for a walker on its way, with the tangents from where it is."""
    gather(obstacles, around, region, x, y, trip, True)
    _set_back(obstacles, edges_at(x, y, trip))
    if not free:
        _let_through(obstacles, edges_at(x, y, trip))


@inline
def _lowered(obstacles, around, region, x, y, trip):
    """`lowered`; the obstacles have the tangents from there."""
    low = lowered(obstacles, around[0], around[3], x, y, trip)
    if low != y:
        _gather(obstacles, around, region, x, low, trip, True)
    return low


@inline
def _slid_up(obstacles, around, region, x, y, length, gone, trip, free, log):
    """Where a jump leads along a steep side above, as a fall in the world upside down."""
    rules = trip.rules
    upside = WalkSettings(0.0, rules.rise, rules.upright, 0.0, 0.0, -rules.flip, False, rules.turned)
    bounds = trip.left, trip.top, trip.right, trip.bottom
    sizes = trip.width, trip.height, trip.length
    mirrored = Trip(trip.mover, *sizes, *bounds, trip.radius, upside, trip.wrapped)
    _gather(obstacles, around, region, x, y, mirrored, free)
    x, y = fall(obstacles, x, y, length, gone, mirrored, log)
    _gather(obstacles, around, region, x, y, trip, free)
    return x, y


@inline
def _is_there(obstacles, turn, gone):
    """Whether a walker that goes up to a round corner is there, after a turn that has led it so far."""
    return turn == _TURNS - 1 or (turn > 0 and abs(gone) <= touch_of(obstacles))


@inline
def _settled(place, was, now, motion, low, high, size):
    """Where a walker is whose bounds have moved by about ``motion``: no farther, in spite of rounding.

    0.0 is for one that has slid, around a corner or up to a wall: then neither of its sides is beyond.
    """
    if now == was:
        return place
    if now == was + motion:
        return place + motion
    settled = now - low
    while motion >= 0.0 and settled + high > now + size:
        settled = next_down(settled)
    while motion <= 0.0 and settled + low < now:
        settled = next_up(settled)
    return settled


@common
def _walk(m, row, motion, around, fixed, searched, put_by, rules, memory):
    """Let walker ``m`` of all, which is a row of the table in ``around`` (`gather`), walk: the state.

    The rows around it were ``searched`` for within that region; ``put_by`` is how far a period may have put
    it from what it touches.
    """
    shapes, grid, (obstacles, log, ends, buffers) = around[0], around[3], memory
    dx, dy = exchanged(*motion, rules)
    trip = trip_of(m, shapes, row, abs(dx) + abs(dy), put_by, rules)
    width, height, radius = trip.width, trip.height, trip.radius
    to_x, to_y = exchanged(shapes.x[row], shapes.y[row], rules)
    x, y = to_x + trip.left, to_y + trip.top
    was_x, was_y = x, y
    hits, tolerance = log.counts[0], obstacles.tolerance
    obstacles.counts[1], pushed = 0, False
    while True:
        began, region = (x, y), _region_of(x, y, width, height, dx, dy, rules)
        gather(obstacles, around, region, x, y, trip, False)
        along = abs(dx) * rules.rise + rules.snap + rules.step
        tolerance[0] = _tolerance(obstacles, x, y, trip, abs(dx), along, abs(dx))
        rounding = (TOUCH if radius == 0.0 else _ROUNDED) * tolerance[0]
        _straighten(obstacles, shapes.kinds, edges_at(x, y, trip), rounding)
        y, free = eased(obstacles, x, y, trip)
        if free and _is_outside_of_all(obstacles, edges_at(x, y, trip)):
            break
        gather(obstacles, around, region, *began, trip, True)
        _straighten(obstacles, shapes.kinds, edges_at(x, y, trip), rounding)
        _set_back(obstacles, edges_at(x, y, trip))
        y, free = eased(obstacles, x, y, trip)
        if free or pushed or obstacles.counts[1] != 0:
            break
        state, x, y = _pushed(m, row, around, fixed, searched, log, buffers)
        x, y = exchanged(x, y, rules)
        x, y, pushed = x + trip.left, y + trip.top, True
        region = exchanged_box(_region_of(x, y, width, height, dx, dy, rules), rules)
        if state == DONE and not was_searched(searched, region, buffers.numbers):
            state = TOO_FAR
        if state != DONE:
            log.counts[0] = hits
            return state
    if not free:
        _let_through(obstacles, edges_at(x, y, trip))
    elif trip.wrapped > 0.0:
        y = snapped(obstacles, x, y, trip.wrapped, trip)
    start, goal = x, x + dx
    for turn in range(_TURNS if dx != 0.0 else 0):
        at_x, met = x, log.counts[0]
        x, y, is_round = go_along(obstacles, start, x, y, goal, trip, log)
        if not is_round or _is_there(obstacles, turn, x - at_x):
            break
        log.counts[0] = met
        _gather(obstacles, around, region, x, y, trip, free)
    if dx != 0.0 and free:
        y = _lowered(obstacles, around, region, x, y, trip)
    to_x = _settled(to_x, was_x, x, dx, trip.left, trip.right, width)
    to_y = _settled(to_y, was_y, y, rules.flip, trip.top, trip.bottom, height)
    x, y = to_x + trip.left, to_y + trip.top
    was_x, was_y = x, y
    reach, across = 0.5 * abs(dy) + rules.corner, tolerance[0]
    tolerance[0] = _tolerance(obstacles, x, y, trip, reach, abs(dy), abs(dy))
    if radius > 0.0:
        _straighten(obstacles, shapes.kinds, edges_at(x, y, trip), rounding)
    down = dy * rules.flip
    if down > 0.0:
        x, y = fall(obstacles, x, y, down, abs(dx), trip, log)
        if free:
            y = _lowered(obstacles, around, region, x, y, trip)
    elif down < 0.0:
        start, length, left_over = x, -down, 0.0
        for turn in range(_TURNS):
            at_y, met, gone = y, log.counts[0], abs(dx) - down - length
            x, y, left_over, is_round = climb(obstacles, start, x, y, length, gone, trip, log)
            if not is_round or _is_there(obstacles, turn, y - at_y):
                break
            log.counts[0] = met
            length -= abs(y - at_y)
            _gather(obstacles, around, region, x, y, trip, free)
        if left_over > 0.0:
            gone = abs(dx) - down - left_over
            x, y = _slid_up(obstacles, around, region, x, y, left_over, gone, trip, free, log)
    # Two returns: with one, compiled code counts references, and walks take twice as long.
    if obstacles.counts[1] != 0:
        log.counts[0] = hits
        return BUFFER_FULL
    if log.counts[0] > log.hits.shape[0] or log.counts[1] > log.bends.shape[0]:
        log.counts[0] = hits
        return MORE_LOG
    to_x = _settled(to_x, was_x, x, 0.0, trip.left, trip.right, width)
    to_y = _settled(to_y, was_y, y, dy, trip.top, trip.bottom, height)
    x, y = to_x + trip.left, to_y + trip.top
    ends.places[m, 0], ends.places[m, 1] = exchanged(to_x, to_y, rules)
    floors, tops = ends.floors, ends.tops
    shapes.x[row], shapes.y[row] = ends.places[m, 0], ends.places[m, 1]
    tolerance[0] = max(tolerance[0], across)  # the way across may have left it so far from its floor
    floor, plane = floor_under(obstacles, edges_at(x, y, trip), trip)
    tops[m, 0], tops[m, 1] = math.nan, math.nan
    for column in range(3):
        floors[m, column] = -1 if floor < 0 else obstacles.names[floor, column]
    if floor >= 0 and floors[m, 0] < 0:
        floors[m, 1], floors[m, 2] = tile_of(grid, floors[m, 1], floors[m, 2])
    name_tiles(grid, log.hits[hits : log.counts[0]])
    if floor >= 0:
        nx, ny = normal_of_floor(obstacles, floor, plane, shapes, grid, x, y, trip)
        tops[m, 0], tops[m, 1] = exchanged(nx, rules.flip * ny, rules)
    floors[m, 3], floors[m, 4] = ladder_at(grid, x, y, width, height, rules)
    return DONE


@jit
def walk_rows(world, motions, start, rules, blocking, obstacles, log, ends, buffers, images):
    """Let the shapes in ``world.rows`` walk: ``next, state``.

    It ends early if memory is full, before a mover that starts inside something and is pushed out of the
    region that was searched, or when it has met enough; the movers before ``next`` are done.  ``ends.places``
    are where their paths end.
    ``blocking`` are the columns of bodies, the bits of the layers that block, and the tags of `sift_among`,
    ``images`` the memory for images, see `motion.Frame`, and the period.
    """
    shapes, grid, (bodies, layers, tags), (frame, period) = world.shapes, world.grid, blocking, images
    memory, nothing = (obstacles, log, ends, buffers), without_tiles(grid)
    around = bodies, world.one_way, layers
    shapes_there = table_of(frame, shapes)
    largest = max(period[0] if period[0] < math.inf else 0.0, period[1] if period[1] < math.inf else 0.0)
    put_by = _WRAPPED * TOUCH * TOLERANCE * largest
    near = np.int64(0)
    for m in range(start, world.rows.shape[0]):
        if near > _MOST_NEAR:
            return m, DONE
        hits, row, across = log.counts[0], np.int64(world.rows[m]), world.near.across[m]
        region = edges_of_body(world.near.regions, m)
        began, motion = (shapes.x[row], shapes.y[row]), (motions[m, 0], motions[m, 1])
        count, opened = sift_among(shapes, around, tags, row, world.near, m, images, buffers)
        if count < 0 or (across and count == frame.x.shape[0]):
            return m, CROWDED
        near += count
        if log.counts[2] + opened > log.crossed.shape[0]:
            return m, MORE_LOG
        table, walker, fixed, one_way = shapes, row, world.fixed, world.one_way
        if across:
            put_image(frame, count, shapes, fixed, one_way, row, *began)
            table, walker, fixed, one_way = shapes_there, np.int64(count), frame.fixed, frame.one_way
        log.counts[1] = 0
        among = table, buffers.near[:count], one_way, grid, world.ring
        state = _walk(m, walker, motion, among, fixed, region, put_by, rules, memory)
        if state != DONE:
            return m, state
        place = ends.places[m, 0], ends.places[m, 1]
        if opened > 0:
            way, others = (began, place, log.bends, BENDS, 0, log.counts[1]), buffers.open[:opened]
            known = shapes, m, row, way, log.hits[:0], others, period, nothing, log.crossed
            log.counts[2] = cross_in_turn(*known, log.counts[2])
        if across:
            name_owners(log.hits, hits, log.counts[0], frame)
            if ends.floors[m, 0] >= 0:
                ends.floors[m, 0] = frame.owners[ends.floors[m, 0]]
            met = log.hits[hits : log.counts[0]]
            shapes.x[row], shapes.y[row] = free_place(shapes, row, *place, met, period, grid)
    return world.rows.shape[0], DONE
