"""Shapes of any kind as columns, their bounding boxes, and rotated shapes."""

import math
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from broadphase.kernels.machine.floats import below_one
from broadphase.kernels.machine.jit import common, holds_gil, inline, jit

# -----------------------------------------------------------------------------------------------------------
# Shapes of any kind as columns: what kernels take for a mix of boxes, circles and polygons.


# In the order in which the pair functions of `contact` take them: circles first, boxes last.
CIRCLE = np.uint8(0)
POLYGON = np.uint8(1)
BOX = np.uint8(2)


class ShapeColumns(NamedTuple):
    """One entry for each shape; the points of all polygons are concatenated."""

    kinds: npt.NDArray[np.uint8]
    x: npt.NDArray[np.float64]
    y: npt.NDArray[np.float64]
    width: npt.NDArray[np.float64]
    """A circle's radius; for a polygon, how far it is grown: 0 if its corners are sharp."""
    height: npt.NDArray[np.float64]
    starts: npt.NDArray[np.int64]
    counts: npt.NDArray[np.int64]
    points: npt.NDArray[np.float64]
    """``(p, 2)``, relative to the polygon's position."""
    axes: npt.NDArray[np.float64]
    """``(p, 2)``, one for each point: the normal of the edge that begins there."""


@inline
def shape_at(table, i, xs, ys):
    """A table of shape ``i`` alone, at the place that these arrays of one number hold."""
    kind, width, height = table.kinds[i : i + 1], table.width[i : i + 1], table.height[i : i + 1]
    start, count = table.starts[i : i + 1], table.counts[i : i + 1]
    return ShapeColumns(kind, xs, ys, width, height, start, count, table.points, table.axes)


@inline
def points_of(table, i):
    """The points of polygon ``i``."""
    return table.points[table.starts[i] : table.starts[i] + table.counts[i]]


@inline
def axes_of(table, i):
    """The axes of polygon ``i``."""
    return table.axes[table.starts[i] : table.starts[i] + table.counts[i]]


@inline
def rounding(table, i):
    """How far shape ``i`` reaches beyond its core."""
    return 0.0 if table.kinds[i] == BOX else table.width[i]


@inline
def is_rounded(table, i):
    """Whether shape ``i`` is a polygon that is grown by a radius, or a line, which may be grown by none."""
    return table.kinds[i] == POLYGON and (table.width[i] > 0.0 or table.counts[i] == 2)


@inline
def corners(table, i):
    """How many corners the core of shape ``i`` has."""
    if table.kinds[i] == BOX:
        return 4
    if table.kinds[i] == CIRCLE:
        return 1
    return table.counts[i]


@inline
def corner_at(table, i, k):
    """Corner ``k`` of the core of shape ``i``, relative to its position; counter-clockwise."""
    if table.kinds[i] == BOX:
        return (table.width[i] if 0 < k < 3 else 0.0), (table.height[i] if k > 1 else 0.0)
    if table.kinds[i] == CIRCLE:
        return 0.0, 0.0
    row = table.starts[i] + k
    return table.points[row, 0], table.points[row, 1]


@inline
def axis_at(table, i, k):
    """At right angles to the side that begins at corner ``k``; zeros if there is none."""
    if table.kinds[i] == BOX:
        return (1.0, 0.0) if k % 2 == 1 else (0.0, 1.0)
    if table.kinds[i] == CIRCLE:
        return 0.0, 0.0
    row = table.starts[i] + k
    return table.axes[row, 0], table.axes[row, 1]


@inline
def span_of_points(points, nx, ny):
    """The projection of a polygon on an axis: smallest and largest product of a point with the axis."""
    lo = points[0, 0] * nx + points[0, 1] * ny
    hi = lo
    for k in range(1, points.shape[0]):
        along = points[k, 0] * nx + points[k, 1] * ny
        lo = min(lo, along)
        hi = max(hi, along)
    return lo, hi


# -----------------------------------------------------------------------------------------------------------
# The bounding boxes of shapes of any kind, for a broad phase.


@inline
def bounds_at(table, i, x, y):
    """The bounding box that one shape would have at ``x, y``: left, top, right, bottom."""
    if table.kinds[i] == BOX:
        return x, y, x + table.width[i], y + table.height[i]
    if table.kinds[i] == CIRCLE:
        radius = table.width[i]
        return x - radius, y - radius, x + radius, y + radius
    left, top, right, bottom = _bounds_of_points(table, i)
    return x + left, y + top, x + right, y + bottom


@common
def _bounds_of_points(table, i):
    """The bounding box of polygon ``i``, relative to its position."""
    points, grown = points_of(table, i), table.width[i]
    left, right = span_of_points(points, 1.0, 0.0)
    top, bottom = span_of_points(points, 0.0, 1.0)
    return left - grown, top - grown, right + grown, bottom + grown


@inline
def bounds_of(table, i):
    """The bounding box of one shape: left, top, right, bottom."""
    return bounds_at(table, i, table.x[i], table.y[i])


@holds_gil
def middle_of(table, turning, i):
    """The middle of shape ``i``; ``turning`` holds where it is in what is no box without points."""
    x, y = table.x[i], table.y[i]
    if table.kinds[i] == BOX:
        return x + 0.5 * table.width[i], y + 0.5 * table.height[i]
    return x + turning[i, 0], y + turning[i, 1]


@holds_gil
def place_around(table, turning, i, x, y):
    """Where shape ``i`` is placed if its middle is at ``x, y``."""
    middle_x, middle_y = middle_of(table, turning, i)
    return table.x[i] + (x - middle_x), table.y[i] + (y - middle_y)


@inline
def bounds_overlap(a, b):
    """Whether two bounding boxes overlap; flush does not count."""
    return (a[0] < b[2]) & (b[0] < a[2]) & (a[1] < b[3]) & (b[1] < a[3])


@inline
def widened(bounds, by):
    """A bounding box that reaches farther by so much on every side."""
    return bounds[0] - by, bounds[1] - by, bounds[2] + by, bounds[3] + by


# Of the coordinates: more than rounding, and than the gap that is kept before sloped surfaces, and less than
# anyone sees.
TOLERANCE = 1e-9


@inline
def tolerance_of(bounds):
    """`TOLERANCE`, of the largest coordinate of a bounding box."""
    left, top, right, bottom = bounds
    return TOLERANCE * max(max(abs(left), abs(right)), max(abs(top), abs(bottom)))


@jit
def bound_rows(table, rows, out):
    """Write the bounding box of each shape in ``rows`` into ``out``; empty rows: of every shape."""
    for k in range(out.shape[0]):
        left, top, right, bottom = bounds_of(table, rows[k] if rows.shape[0] > 0 else k)
        out[k, 0], out[k, 1], out[k, 2], out[k, 3] = left, top, right, bottom


# -----------------------------------------------------------------------------------------------------------
# Shapes rotated about a point, in degrees, with IEEE arithmetic only: the same on every machine.
#
# The C library's sine differs between machines in the last bit.  This one is the polynomial of fdlibm (Sun
# Microsystems, 1993), within an eighth of a turn.  In degrees that range is reduced without rounding, so that
# quarter turns are exact.


_RADIANS = math.pi / 180.0


@inline
def _sine(x):
    z = x * x
    tail = 1.58969099521155010221e-10
    tail = -2.50507602534068634195e-08 + z * tail
    tail = 2.75573137070700676789e-06 + z * tail
    tail = -1.98412698298579493134e-04 + z * tail
    tail = 8.33333333332248946124e-03 + z * tail
    tail = -1.66666666666666324348e-01 + z * tail
    return x + z * x * tail


@inline
def _cosine(x):
    z = x * x
    tail = -1.13596475577881948265e-11
    tail = 2.08757232129817482790e-09 + z * tail
    tail = -2.75573143513906633035e-07 + z * tail
    tail = 2.48015872894767294178e-05 + z * tail
    tail = -1.38888888888741095749e-03 + z * tail
    tail = 4.16666666666666019037e-02 + z * tail
    half = 0.5 * z
    rest = 1.0 - half
    return rest + ((1.0 - rest - half) + z * (z * tail))


@holds_gil
def cosine_sine(angle):
    """``cosine, sine`` of an angle in degrees; exact at quarter turns."""
    within = angle if abs(angle) < 1e12 else _within_a_turn(angle)
    quarter = math.floor(within / 90.0 + 0.5)
    rest = (within - 90.0 * quarter) * _RADIANS
    cosine, sine = (1.0, 0.0) if rest == 0.0 else (_cosine(rest), _sine(rest))
    turns = int(quarter) % 4
    if turns == 1:
        cosine, sine = -sine, cosine
    elif turns == 2:
        cosine, sine = -cosine, -sine
    elif turns == 3:
        cosine, sine = sine, -cosine
    return cosine + 0.0, sine + 0.0


@inline
def _within_a_turn(angle):
    """The remainder of a division by 360, without rounding: multiples are subtracted by powers of two."""
    rest, part = abs(angle), 360.0
    while part <= rest:
        part *= 2.0
    while part >= 360.0:
        if rest >= part:
            rest -= part
        part *= 0.5
    return rest if angle >= 0.0 else 360.0 - rest


@inline
def _turn(base, begin, count, centre_x, centre_y, cosine, sine, points, axes):
    """Corners relative to the position of their shape, rotated about a centre relative to it too.

    At angle 0 they are the corners of ``base`` to the bit: subtracting and adding the centre would round
    them.
    """
    straight = cosine == 1.0 and sine == 0.0
    for k in range(begin, begin + count):
        if straight:
            points[k, 0], points[k, 1] = base[k, 0], base[k, 1]
            continue
        x, y = base[k, 0] - centre_x, base[k, 1] - centre_y
        points[k, 0] = centre_x + (x * cosine - y * sine)
        points[k, 1] = centre_y + (x * sine + y * cosine)
    set_axes(points, begin, count, axes)


@inline
def set_axes(points, begin, count, axes):
    """Write the axes of a polygon, as `geometry.polygons` does."""
    for k in range(begin, begin + count):
        after = k + 1 if k + 1 < begin + count else begin
        nx, ny = points[k, 1] - points[after, 1], points[after, 0] - points[k, 0]
        # Towards larger x, or straight towards larger y, of a modest length.
        sign = 1.0 if nx > 0.0 or (nx == 0.0 and ny > 0.0) else -1.0
        nx, ny = below_one(sign * nx, sign * ny)
        axes[k, 0], axes[k, 1] = nx + 0.0, ny + 0.0


@holds_gil
def turn_points(base, centre_x, centre_y, angle, points, axes):
    """Corners rotated by an angle, and the axes of their sides."""
    cosine, sine = cosine_sine(angle)
    _turn(base, 0, base.shape[0], centre_x, centre_y, cosine, sine, points, axes)


@jit
def place_rows(table, rows, places):
    """Put the shapes in ``rows`` to these places; NumPy takes five times as long for two columns."""
    for k in range(rows.shape[0]):
        table.x[rows[k]], table.y[rows[k]] = places[k, 0], places[k, 1]


@jit
def turn_rows(table, base, centres, rows, angles):
    """Rotate the shapes in ``rows``; ``base`` holds their corners at angle 0.

    Rows of ``centres`` are x, y, and 1 for a box: a rotated box is a polygon, and a box again at angle 0.
    """
    for k in range(rows.shape[0]):
        i = rows[k]
        begin, count = table.starts[i], table.counts[i]
        if table.kinds[i] == CIRCLE or count == 0:
            continue
        cosine, sine = cosine_sine(angles[k])
        _turn(base, begin, count, centres[i, 0], centres[i, 1], cosine, sine, table.points, table.axes)
        if centres[i, 2] == 1.0:
            straight = cosine == 1.0 and sine == 0.0
            table.kinds[i] = BOX if straight else POLYGON
            table.width[i] = base[begin + 2, 0] if straight else 0.0
            table.height[i] = base[begin + 2, 1] if straight else 0.0
