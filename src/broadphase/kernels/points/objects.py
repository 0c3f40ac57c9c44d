"""Few objects of a program, read and compared with each other in one call: circles, boxes and rectangles.

Reading the attributes of ten objects in Python and calling a search takes longer than the loop that a program
would write itself.  Here an attribute takes 20 to 40 ns, and all are compared with all, `LANES` at a time.
"""

import math

import numpy as np

from broadphase.kernels.machine.jit import holds_gil, inline, objects
from broadphase.kernels.machine.objects import (
    append,
    append_items,
    attribute,
    drop,
    is_there,
    item,
    length_of,
    number_of,
    read_numbers,
)
from broadphase.kernels.machine.simd import LANES, bits, load, lowest_lane, splat
from broadphase.kernels.points.distance import double_length

CIRCLES, BOXES, RECTANGLES = range(3)
NUMBER, NAMED, DOTTED, ITSELF = range(4)
"""Where a number or a place is: the same for all, an attribute of each object, one of another, or itself."""
TOUCHING, WITHIN, NEAREST_FIRST = range(3)
"""Which pairs: nearer than a limit; or at it, too; or these, for each thing the nearest first."""

# Columns of what is read: the edges of a box, of a circle those of its centre, and how far it reaches beyond;
# then the bounds of all, a little too large for what is rounded.
_RADIUS, _BOUNDS, _COLUMNS = 4, 5, 9


@inline
def _follow(thing, names):
    """What an attribute of an object holds, or the next one of what that holds, and so on."""
    name = item(names, 0)
    found = attribute(thing, name)
    drop(name)
    for k in range(1, length_of(names)):
        if is_there(found):
            outer, name = found, item(names, k)
            found = attribute(outer, name)
            drop(name)
            drop(outer)
    return found


@inline
def _read_sides(thing, measured, name, how, kind, out, row):
    """Whether an object has a radius, the side of a box, or its width and height."""
    value = attribute(thing, name) if how == NAMED else item(measured, row)
    if not is_there(value):
        return False
    number = number_of(value)
    out[2, row], out[3, row] = number, number
    fits = number == number
    if not fits and kind == BOXES:
        fits = read_numbers(value, out[2:4, row])
    drop(value)
    return fits


@inline
def _take_bounds(out, row, kind, reach):
    """Edges and bounds from a place and sides."""
    x, y, width, height = out[0, row], out[1, row], out[2, row], out[3, row]
    out[_RADIUS, row] = width if kind == CIRCLES else 0.0
    half = 0.5 if kind == BOXES else 0.0
    whole = 1.0 if kind == RECTANGLES else half
    out[0, row], out[1, row] = x - half * width, y - half * height
    out[2, row], out[3, row] = whole * width + x, whole * height + y
    reach += out[_RADIUS, row]
    reach += 1e-15 * (abs(x) + abs(y) + width + height + reach)
    for axis in range(2):
        out[_BOUNDS + axis, row] = out[axis, row] - reach
        out[_BOUNDS + 2 + axis, row] = out[2 + axis, row] + reach


@inline
def _read(things, path, measured, name, known, kind, reach):
    """Columns of all things, and after them NaN, which is near nothing; and whether all are understood."""
    how, how_measured, width, height = known
    n = np.int64(length_of(things))
    out = np.empty((_COLUMNS, n + LANES))
    for row in range(n):
        thing = item(things, row)
        if not is_there(thing):
            return out, False
        place = thing
        if how == NAMED:
            place = attribute(thing, path)
        elif how == DOTTED:
            place = _follow(thing, path)
        fits = is_there(place)
        if fits:
            out[2, row], out[3, row] = width, height
            fits = read_numbers(place, out[: 4 if kind == RECTANGLES else 2, row])
            if how != ITSELF:
                drop(place)
        if fits and how_measured != NUMBER:
            fits = _read_sides(thing, measured, name, how_measured, kind, out, row)
        drop(thing)
        if not (fits and 0.0 <= out[2, row] < math.inf and 0.0 <= out[3, row] < math.inf):
            return out, False
        _take_bounds(out, row, kind, reach)
    for column in range(_COLUMNS):
        for row in range(n, n + LANES):
            out[column, row] = np.nan
    return out, True


@inline
def _near_lanes(a, i, b, j):
    """Which of the next `LANES` of ``b`` have bounds that meet those of row i of ``a``, as bits."""
    left, top = splat(a[_BOUNDS, i]), splat(a[_BOUNDS + 1, i])
    right, bottom = splat(a[_BOUNDS + 2, i]), splat(a[_BOUNDS + 3, i])
    across = (load(b, _BOUNDS, j) <= right) & (left <= load(b, _BOUNDS + 2, j))
    return bits(across & (load(b, _BOUNDS + 1, j) <= bottom) & (top <= load(b, _BOUNDS + 3, j)))


@inline
def _append_near(ones, i, targets, numbers, count, order, found):
    """Append object i and then one that is near, for each; or these alone to the list of object i."""
    one = item(ones if order == TOUCHING else found, i)
    if order != TOUCHING:
        append_items(one, targets, numbers, count)
    for k in range(count if order == TOUCHING else 0):
        target = item(targets, np.int64(numbers[k]))
        append(found, one)
        append(found, target)
        drop(target)
    drop(one)


@holds_gil
@objects("things", "path", "measured", "name", "others", "other_path", "other_measured", "other_name")
@objects("ones", "targets", "found")
def near_objects(
    things, path, measured, name, known, others, other_path, other_measured, other_name, other_known,
    rule, ones, targets, found,
):  # fmt: skip
    """Find objects that overlap or are nearer than a margin; whether all are understood.

    ``path`` is the attribute of things that is their centre or rectangle, or the attributes that lead there;
    ``name`` is that with radius or sides, unless ``measured`` are these, or all have the same.  ``known``
    says how each is read: ``how, how_measured, width, height``.  The ``rule`` is ``kind, among, margin,
    order``; ``among``: pairs ``i < j`` of things.

    What is appended to ``found`` are one of ``ones`` and one of ``targets`` in turn, or, if the order is not
    `TOUCHING`, targets to a list for each of ``ones``.
    """
    kind, among, margin, order = rule
    n, m = np.int64(length_of(things)), np.int64(length_of(others))
    reach = 0.5 * margin
    a, fits = _read(things, path, measured, name, known, kind, reach)
    b = a
    if fits and not among:
        b, fits = _read(others, other_path, other_measured, other_name, other_known, kind, reach)
    if not fits:
        return False
    numbers, distances = np.empty(m, np.int32), np.empty(m)
    for i in range(n):
        count = np.int64(0)
        for j in range(i + 1 if among else 0, m, LANES):
            near_bits = _near_lanes(a, i, b, j)
            while near_bits != 0:
                k = j + lowest_lane(near_bits)
                near_bits &= near_bits - 1
                across = max(a[0, i] - b[2, k], b[0, k] - a[2, i])
                down = max(a[1, i] - b[3, k], b[1, k] - a[3, i])
                distance = double_length(max(across, 0.0), max(down, 0.0), 0.0)
                limit = a[_RADIUS, i] + b[_RADIUS, k] + margin
                overlaps = across < 0.0 and down < 0.0
                if not (overlaps or distance < limit or (order != TOUCHING and distance == limit)):
                    continue
                place = count
                if order == NEAREST_FIRST:
                    while place > 0 and distances[place - 1] > distance:
                        numbers[place], distances[place] = numbers[place - 1], distances[place - 1]
                        place -= 1
                    distances[place] = distance
                numbers[place] = k
                count += 1
        if count > 0:
            _append_near(ones, i, targets, numbers, count, order, found)
    return True
