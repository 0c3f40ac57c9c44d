"""First hits of rays that come in groups, each of one environment: several rays in the lanes, box after box.

`worlds` compares `LANES` boxes with one ray at a time, which wastes lanes on four boxes, and then asks the
lanes for their least.  Here `LANES` rays of one group are compared with one box at a time: with 4 boxes an
environment a ray of a fan takes a fifth of the time, with 250 a third.  Boxes that have bounding boxes are
compared where a ray of the group meets these.

In float32 each ray finds the box that it may hit first, with a time not above the exact one, and the second
such time.  If the exact hit of the first is nearer than the second, it is the answer.  Rays that this does
not settle (boxes equally near, steps of zero, numbers beyond 1e27) meet all boxes again, and each that may be
the first is tested.  Among shapes the times are those of circles and segments themselves, and else of bounds.
"""

import math
from typing import Any, NamedTuple

import numpy as np

from broadphase.kernels.boxes.queries import ray_distance, write_normal
from broadphase.kernels.boxes.worlds import FEW, NOTHING, rounded_down
from broadphase.kernels.machine.jit import always_inline, common, inline, jit
from broadphase.kernels.machine.memory import few, some_rows, with_columns
from broadphase.kernels.machine.simd import (
    LANES,
    absolute,
    bits,
    larger,
    load,
    lowest_lane,
    root,
    select,
    smaller,
    splat,
    store,
)
from broadphase.kernels.shapes.queries import ray_of
from broadphase.kernels.shapes.table import CIRCLE, POLYGON

_LAST = np.float32(np.finfo(np.float32).max)
# Seven roundings by 2**-24 lie between a coordinate and its time; both times of a box have them.
_LESS = np.float32(1.0 - 2.0**-19)
MOST = FEW * LANES
"""More boxes than these have bounding boxes of bounding boxes; such a world has no groups."""
_ONE = np.float32(1)
# A dozen roundings by 2**-24 lie between coordinates and what circles and segments are compared by; the
# square of a chord is rounded to 0 below 2**-149.  What is not a number counts as hit: it is compared again.
_SLACK = np.float32(2.0**-19)
_TINY = np.float32(2.0**-60)
_LARGE, _SMALL = np.float32(2.0**90), np.float32(2.0**-50)


class RayGroups(NamedTuple):
    """Rays by group: ray ``r`` of group ``g`` is number ``g * per_group + r``."""

    origins: Any
    """Rows; ray ``r`` of group ``g`` has row ``g * steps[0] + r * steps[1]``."""
    directions: Any
    """Rows, by the two other steps."""
    steps: Any
    per_group: Any
    numbers: Any
    """The number of the world of each group."""
    ignored: Any
    """For each ray the id that it passes through, or -1; empty: none."""


@jit
def check_rays(origins, directions):
    """Whether all are finite, and no direction is zero."""
    if origins.shape[1] == 2:
        return _count_unsound(origins, 2, False) + _count_unsound(directions, 2, True) == 0
    return _count_unsound(origins, 3, False) + _count_unsound(directions, 3, True) == 0


@always_inline
def _count_unsound(rows, dim, moving):
    """How many rows have a number that is not finite, or with ``moving`` only zeros; without a branch."""
    known = with_columns(rows, dim)
    count = np.int64(0)
    for k in range(known.shape[0]):
        x, y, z = known[k, 0], known[k, 1], known[k, dim - 1]
        count += not ((x - x == 0.0) & (y - y == 0.0) & (z - z == 0.0))
        if moving:
            count += (x == 0.0) & (y == 0.0) & (z == 0.0)
    return count


@inline
def _first_slot(worlds, world):
    """The slot of the first box of a world."""
    first = worlds.tops[world, 0]
    if first == worlds.tops[world, 1] or worlds.names[0, first] >= 0:
        return first
    return np.int64(~worlds.names[0, first])


@always_inline
def _read(rows, dim, first, step, count, rough, row, side):
    """Write the columns of `LANES` rows from ``first`` on, as rows of float32; beyond ``count`` the last.

    They are rounded up with ``side`` 1, down with -1, and to the nearest with 0.
    """
    known = with_columns(rows, dim)
    if step == 0:
        for axis in range(dim):
            store(rough, row + axis, 0, splat(_rounded(known[first, axis], side)))
    elif count == LANES:
        for k in range(LANES):
            for axis in range(dim):
                rough[row + axis, k] = _rounded(known[first + k, axis], side)
    else:
        for k in range(LANES):
            for axis in range(dim):
                rough[row + axis, k] = _rounded(known[first + min(k, count - 1), axis], side)


@always_inline
def _rounded(value, side):
    if side == 0:
        return np.float32(value)
    return -rounded_down(-value) if side > 0 else rounded_down(value)


@always_inline
def _read_directions(rays, dim, group, begin, count, rough):
    """Write `LANES` directions as rates, the distance for each unit of an axis; returns which are sound."""
    first = group * rays.steps[2] + begin * rays.steps[3]
    _read(rays.directions, dim, first, rays.steps[3], count, rough, 2 * dim, 0)
    x, y, z = load(rough, 2 * dim, 0), load(rough, 2 * dim + 1, 0), load(rough, 3 * dim - 1, 0)
    total = x * x + y * y
    if dim == 3:
        total = total + z * z
    length, large = root(total), splat(_LARGE)
    x, y, z = length / x, length / y, length / z
    store(rough, 2 * dim, 0, x)
    store(rough, 2 * dim + 1, 0, y)
    if dim == 3:
        store(rough, 3 * dim - 1, 0, z)
    sound = bits((absolute(x) <= large) & (absolute(y) <= large)) & bits(absolute(z) <= large)
    return sound & bits((splat(_SMALL) <= length) & (length <= large))


@always_inline
def _read_origins(rays, dim, group, begin, count, rough):
    """Write `LANES` origins, rounded up and rounded down; returns which are sound."""
    first, sound, large = group * rays.steps[0] + begin * rays.steps[1], -1, splat(_LARGE)
    if rays.origins.itemsize == 4:
        _read(rays.origins, dim, first, rays.steps[1], count, rough, 0, 0)
    else:
        _read(rays.origins, dim, first, rays.steps[1], count, rough, 0, 1)
        _read(rays.origins, dim, first, rays.steps[1], count, rough, dim, -1)
    for axis in range(dim):
        sound &= bits(absolute(load(rough, axis, 0)) <= large)
    return sound


@always_inline
def _times(columns, slot, rough, below, axis):
    """When the rays enter and leave a box on an axis; in turn where they go down."""
    dim = columns.shape[0] // 2
    rate = load(rough, 2 * dim + axis, 0)
    one = (splat(columns[axis, slot]) - load(rough, axis, 0)) * rate
    other = (splat(columns[dim + axis, slot]) - load(rough, below + axis, 0)) * rate
    return smaller(one, other), larger(one, other)


@always_inline
def _keys(columns, slot, rough, below, limit):
    """A time for each ray that is not above that of the exact test of a box; inf where it misses."""
    enters, leaves = _times(columns, slot, rough, below, 0)
    other_enters, other_leaves = _times(columns, slot, rough, below, 1)
    enters, leaves = larger(enters, other_enters), smaller(leaves, other_leaves)
    if columns.shape[0] == 6:
        other_enters, other_leaves = _times(columns, slot, rough, below, 2)
        enters, leaves = larger(enters, other_enters), smaller(leaves, other_leaves)
    enters, leaves = larger(enters * splat(_LESS), splat(np.float32(0))), smaller(leaves, splat(limit))
    return select(enters <= leaves, smaller(enters, splat(_LAST)), splat(np.float32(np.inf)))


@always_inline
def _keys_of_circle(columns, slot, rough, slack, limit):
    """The same for the circle in a box; ``slack`` is more than rounding moves it by."""
    left, top, right, bottom = columns[0, slot], columns[1, slot], columns[2, slot], columns[3, slot]
    half, zero = np.float32(0.5), splat(np.float32(0))
    x = splat(half * (left + right)) - load(rough, 0, 0)
    y = splat(half * (top + bottom)) - load(rough, 1, 0)
    dx, dy = load(rough, 6, 0), load(rough, 7, 0)
    across, along = x * dy - y * dx, x * dx + y * dy
    radius = splat(half * (right - left)) + slack
    square = (radius - across) * (radius + across)
    chord = root(larger(square, zero))
    enters, leaves = along - chord - slack, along + chord + slack
    missed = (square < zero) | (leaves < zero) | (splat(limit) < enters)
    return select(missed, splat(np.float32(np.inf)), larger(enters, zero))


@always_inline
def _keys_of_segment(columns, slot, rough, slack, limit, rising):
    """The same for a diagonal of a box."""
    left, top, right, bottom = columns[0, slot], columns[1, slot], columns[2, slot], columns[3, slot]
    zero, dx, dy = splat(np.float32(0)), load(rough, 6, 0), load(rough, 7, 0)
    x, end_x = splat(left) - load(rough, 0, 0), splat(right) - load(rough, 0, 0)
    y = splat(top if rising else bottom) - load(rough, 1, 0)
    end_y = splat(bottom if rising else top) - load(rough, 1, 0)
    across, end_across = x * dy - y * dx, end_x * dy - end_y * dx
    along, end_along = x * dx + y * dy, end_x * dx + end_y * dy
    slope = (end_along - along) / (across - end_across)
    least = smaller(along, end_along) - slack
    enters = along + across * slope - (slack + slack) * (splat(_ONE) + absolute(slope))
    enters = larger(enters, least)
    missed = (slack < smaller(across, end_across)) | (larger(across, end_across) < zero - slack)
    beyond = (larger(along, end_along) < zero - slack) | (splat(limit) < enters)
    return select(missed | beyond, splat(np.float32(np.inf)), larger(enters, zero))


@always_inline
def _keys_of_shape(worlds, table, slot, rough, below, limit):
    """`_keys` for what lies in a slot: sharper for circles and segments than for their bounds."""
    row, columns = worlds.names[0, slot], worlds.columns
    reach = abs(columns[0, slot]) + abs(columns[1, slot]) + abs(columns[2, slot]) + abs(columns[3, slot])
    slack = load(rough, 8, 0) + splat(_SLACK * reach)
    if table.kinds[row] == CIRCLE:
        return _keys_of_circle(columns, slot, rough, slack, limit)
    if table.kinds[row] == POLYGON and table.counts[row] == 2 and table.width[row] == 0.0:
        points, first = table.points, table.starts[row]
        rising = (points[first + 1, 0] < points[first, 0]) == (points[first + 1, 1] < points[first, 1])
        return _keys_of_segment(columns, slot, rough, slack, limit, rising)
    return _keys(columns, slot, rough, below, limit)


@always_inline
def _compare(worlds, table, world, base, number, rays, found):
    """Compare `LANES` rays with the boxes of a world, whose slot ``base`` has this number.

    Returns the least time, the second, and the number of the box that has the least.  With a ``table`` of
    shapes it is these that are compared.
    """
    columns, names, first, last = worlds.columns, worlds.names, worlds.tops[world, 0], worlds.tops[world, 1]
    (rough, below, limit, ignores, owns), (best, second, which) = rays, found
    for top in range(first, last):
        name, begin, end = names[0, top], np.int64(top), np.int64(top + 1)
        if name == NOTHING:
            break
        if name < 0:  # around `LANES` boxes
            begin, end = np.int64(~name), np.int64(~name)
            if bits(_keys(columns, top, rough, below, limit) < second) != 0:
                end += LANES
        for slot in range(begin, end):
            if names[0, slot] == NOTHING:
                break
            if table is None:
                key = _keys(columns, slot, rough, below, limit)
            else:
                key = _keys_of_shape(worlds, table, slot, rough, below, limit)
            box_number = splat(np.float32(number + slot - base))
            if ignores:
                ignored = load(owns, 0, 0)
                key = select(
                    (ignored <= box_number) & (box_number <= ignored), splat(np.float32(np.inf)), key
                )
            second = smaller(larger(key, best), second)
            which = select(key < best, box_number, which)
            best = smaller(key, best)
    return best, second, which


@always_inline
def _compare_all(worlds, table, world, bases, rough, below, limit, ignores, owns):
    """The same with the boxes of a world, then those of the one that all share."""
    inf, shared = splat(np.float32(np.inf)), worlds.shared
    rays = rough, below, limit, ignores, owns
    found = _compare(worlds, table, world, bases[0], 0, rays, (inf, inf, inf))
    if world != shared:  # which has no boxes where none are in all environments
        found = _compare(worlds, table, shared, bases[1], MOST, rays, found)
    return found


@always_inline
def _between(worlds, boxes, slot, axis, origin, step):
    """When a ray enters and leaves the box of a slot on an axis, as `ray_distance` has it."""
    dim, origin = boxes.shape[1] // 2, np.float64(origin)
    if boxes.itemsize == 4:  # what was just compared: a box elsewhere in memory takes 100 ns
        low, high = worlds.columns[axis, slot], worlds.columns[dim + axis, slot]
    else:
        row = worlds.names[0, slot]
        low, high = boxes[row, axis], boxes[row, dim + axis]
    one, other = (low - origin) / step, (high - origin) / step
    return min(one, other), max(one, other)


@inline
def _unit_of(rays, group, ray):
    """A direction as `set_ray` makes it."""
    row, dim = group * rays.steps[2] + ray * rays.steps[3], rays.directions.shape[1]
    x, y = np.float64(rays.directions[row, 0]), np.float64(rays.directions[row, 1])
    z = np.float64(rays.directions[row, 2]) if dim == 3 else 0.0
    largest = max(abs(x), abs(y), abs(z))
    x, y, z = x / largest, y / largest, z / largest
    length = math.sqrt(x * x + y * y + z * z)
    return x / length, y / length, z / length


@inline
def _write_none(base, count, out):
    """Write rays that hit nothing."""
    ids, distances, normals = out
    for q in range(base, base + count):
        ids[q] = -1
    for q in range(base, base + count):
        distances[q] = np.inf
    for axis in range(normals.shape[1]):
        for q in range(base, base + count):
            normals[q, axis] = 0.0


@inline
def _write_owns(worlds, slots, ignored, ray, count, world, bases, owns):
    """Write the numbers of the boxes that rays pass through, as `_compare` has them; -1 for none."""
    tops, names, shared = worlds.tops, worlds.names, worlds.shared
    for k in range(LANES):
        ignored_id = ignored[ray + min(k, count - 1)]
        slot = slots[ignored_id] if 0 <= ignored_id < slots.shape[0] else np.int64(-1)
        number = np.float32(-1)
        if 0 <= slot < names.shape[1] and names[0, slot] == ignored_id:
            if bases[0] <= slot < tops[world, 1]:
                number = np.float32(slot - bases[0])
            elif bases[1] <= slot < tops[shared, 1]:
                number = np.float32(MOST + slot - bases[1])
        owns[0, k] = number


@always_inline
def _enter_box(boxes, slot, search, place, unit, with_normal):
    """As `ray_distance`, without its branches, and the normal; no component of the direction is zero."""
    (x, y, z), (worlds, rays, max_distance) = unit, search
    origins = rays.origins
    in_x, out_x = _between(worlds, boxes, slot, 0, origins[place, 0], x)
    in_y, out_y = _between(worlds, boxes, slot, 1, origins[place, 1], y)
    in_z, out_z = in_x, out_x
    if boxes.shape[1] == 6:
        in_z, out_z = _between(worlds, boxes, slot, 2, origins[place, 2], z)
    enters, leaves = max(in_x, in_y, in_z), min(out_x, out_y, out_z)
    if not (enters <= leaves and enters <= max_distance and leaves >= 0.0 and enters < np.inf):
        return -1.0, 0.0, 0.0, 0.0
    nx = ny = nz = 0.0
    if with_normal and enters >= 0.0:
        nx = -math.copysign(1.0, x) if in_x == enters else 0.0
        ny = -math.copysign(1.0, y) if in_y == enters and nx == 0.0 else 0.0
        nz = -math.copysign(1.0, z) if nx == ny == 0.0 else 0.0
    return max(enters, 0.0), nx, ny, nz


@always_inline
def _enter(boxes, table, row, search, place, unit, ray):
    """How far along a ray a box or a shape begins, and the normal of a shape there; -1 if the ray misses."""
    _, rays, max_distance = search
    origins, dim, found = rays.origins, rays.origins.shape[1], (-1.0, 0.0, 0.0)
    if table is not None:
        x, y = np.float64(origins[place, 0]), np.float64(origins[place, 1])
        found = ray_of(table, row, x, y, unit[0], unit[1], max_distance)
    if boxes is not None:
        for axis in range(dim):
            ray[axis], ray[dim + axis] = origins[place, axis], unit[axis]
        ray[2 * dim] = max_distance
        found = ray_distance(boxes, row, ray, True), 0.0, 0.0
    return found


@common
def _compare_again(boxes, table, search, world, group, first_ray, again, out):
    """Write the first hits of the rays that are left; how many hit, and the tests."""
    (worlds, rays, _), (ids, distances, normals) = search, out
    (rough, below, limit, left, unsound, ignores, units), names = again, worlds.names
    bests, nearest = some_rows(1, LANES, np.float32), some_rows(1, LANES, np.float64)
    ray, tops, shared, last = few(7, np.float64), worlds.tops, worlds.shared, splat(_LAST)
    base, hits, tests = group * rays.per_group + first_ray, np.int64(0), np.int64(0)
    for k in range(LANES):
        bests[0, k], nearest[0, k] = np.inf, np.inf
    for part in range(2 if world != shared else 1):
        searched = world if part == 0 else shared
        for top in range(tops[searched, 0], tops[searched, 1]):
            name, begin, end = names[0, top], np.int64(top), np.int64(top + 1)
            if name == NOTHING:
                break
            if name < 0:  # around `LANES` boxes
                begin, end = np.int64(~name), np.int64(~name)
                key = _keys(worlds.columns, top, rough, below, limit)
                if (bits(key <= load(bests, 0, 0)) & bits(key <= last) & left) | unsound != 0:
                    end += LANES
            for slot in range(begin, end):
                row = names[0, slot]
                if row == NOTHING:
                    break
                key = _keys(worlds.columns, slot, rough, below, limit)
                lanes = (bits(key <= load(bests, 0, 0)) & bits(key <= last) & left) | unsound
                while lanes != 0:
                    k = lowest_lane(lanes)
                    lanes &= lanes - 1
                    q = base + k
                    tests += 1
                    if ignores and rays.ignored[q] == row:
                        continue
                    place = group * rays.steps[0] + (first_ray + k) * rays.steps[1]
                    unit = units[0, k], units[1, k], units[2, k]
                    far, nx, ny = _enter(boxes, table, row, search, place, unit, ray)
                    farther = far > nearest[0, k] or (far == nearest[0, k] and 0 <= ids[q] < row)
                    if far < 0.0 or farther:
                        continue
                    hits += ids[q] < 0
                    nearest[0, k], bests[0, k] = far, -rounded_down(-far)
                    ids[q], distances[q] = row, far
                    if normals.shape[1] != 0:
                        normals[q, 0], normals[q, 1] = nx, ny
                        if boxes is not None:
                            write_normal(boxes, row, ray, far, normals[q])
    return hits, tests


@jit
def first_hits_of_groups(
    worlds, boxes, slots, rays, max_distance, begin, end, ids, distances, normals
):  # fmt: skip
    """The first hits of the rays of groups ``begin .. end - 1``; returns how many rays hit, and the tests.

    Boxes count that the rays touch.  ``normals`` may have no columns.
    """
    return _first_hits(
        boxes, None, (worlds, rays, max_distance), slots, begin, end, (ids, distances, normals)
    )


@jit
def first_shapes_of_groups(
    worlds, table, slots, rays, max_distance, begin, end, ids, distances, normals
):  # fmt: skip
    """The same among shapes, whose bounds are the boxes; the lowest id of those equally near."""
    return _first_hits(
        None, table, (worlds, rays, max_distance), slots, begin, end, (ids, distances, normals)
    )


@always_inline
def _first_hits(boxes, table, search, slots, begin, end, out):
    (worlds, rays, max_distance), (ids, distances, normals) = search, out
    tops, names, shared, per_group = worlds.tops, worlds.names, worlds.shared, rays.per_group
    rough, units = some_rows(9, LANES, np.float32), some_rows(3, LANES, np.float64)
    owns, others, ray = some_rows(1, LANES, np.float32), some_rows(2, LANES, np.float32), few(7, np.float64)
    dim, same, ignores = rays.origins.shape[1], rays.steps[2] == 0, rays.ignored.shape[0] > 0
    below, last = 0 if rays.origins.itemsize == 4 else dim, splat(_LAST)  # float32 needs no rounding
    limit, hits, tests, sound = -rounded_down(-max_distance), np.int64(0), np.int64(0), np.int64(0)
    for first_ray in range(0, per_group, LANES):
        count = min(LANES, per_group - first_ray)
        for group in range(begin, end):
            base, world = group * per_group + first_ray, np.int64(rays.numbers[group])
            bases = _first_slot(worlds, world), _first_slot(worlds, shared)
            _write_none(base, count, out)
            if not same or group == begin:
                if dim == 2:
                    sound = _read_directions(rays, 2, group, first_ray, count, rough)
                else:
                    sound = _read_directions(rays, 3, group, first_ray, count, rough)
                for k in range(count if same else 0):
                    units[0, k], units[1, k], units[2, k] = _unit_of(rays, group, first_ray + k)
                if table is not None:
                    for axis in range(2):
                        store(rough, 6 + axis, 0, splat(_ONE) / load(rough, 4 + axis, 0))
            if dim == 2:
                known = sound & _read_origins(rays, 2, group, first_ray, count, rough)
            else:
                known = sound & _read_origins(rays, 3, group, first_ray, count, rough)
            if table is not None:
                reach = absolute(load(rough, 0, 0)) + absolute(load(rough, 1, 0))
                store(rough, 8, 0, reach * splat(_SLACK) + splat(_TINY))
            if ignores:
                _write_owns(worlds, slots, rays.ignored, base, count, world, bases, owns)
            found = _compare_all(worlds, table, world, bases, rough, below, limit, ignores, owns)
            tests += count * (tops[world, 1] - tops[world, 0] + tops[shared, 1] - tops[shared, 0])
            store(others, 0, 0, found[1])
            store(others, 1, 0, found[2])
            lanes, left = (bits(found[0] <= last) | ~known) & ((1 << count) - 1), np.int64(0)
            while lanes != 0:
                k = lowest_lane(lanes)
                lanes &= lanes - 1
                if not same:
                    units[0, k], units[1, k], units[2, k] = _unit_of(rays, group, first_ray + k)
                if (known >> k) & 1 != 0:
                    number, q, nz = np.int64(others[1, k]), base + k, 0.0
                    slot = bases[0] + number if number < MOST else bases[1] + number - MOST
                    place = group * rays.steps[0] + (first_ray + k) * rays.steps[1]
                    unit = units[0, k], units[1, k], units[2, k]
                    if boxes is not None:
                        far, nx, ny, nz = _enter_box(boxes, slot, search, place, unit, normals.shape[1] != 0)
                    if table is not None:
                        far, nx, ny = _enter(boxes, table, names[0, slot], search, place, unit, ray)
                    if 0.0 <= far < np.float64(others[0, k]):
                        hits += 1
                        ids[q], distances[q] = names[0, slot], far
                        if normals.shape[1] != 0:
                            normals[q, 0], normals[q, 1] = nx, ny
                            if dim == 3:
                                normals[q, 2] = nz
                        continue
                left |= np.int64(1) << k
            if left != 0:
                again = rough, below, limit, left, left & ~known, ignores, units
                more = _compare_again(boxes, table, search, world, group, first_ray, again, out)
                hits += more[0]
                tests += more[1]
    return hits, tests
