"""Polygons: convex ones checked and measured, concave ones decomposed into convex parts."""

import math
import struct
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from functools import partial
from itertools import chain, pairwise
from math import frexp, hypot, isfinite, ldexp
from typing import Any, TypeAlias

import numpy as np

from broadphase.inputs.arrays import POINTS, as_float_array, column
from broadphase.runtime.arrays import Floats

# -----------------------------------------------------------------------------------------------------------
# Convex polygons: from their corners to the columns that kernels take, checked and measured.
#
# In plain floats: a polygon has few corners, and a game creates one for each sprite that rotates.  One call
# of NumPy takes as long as one corner does here, and checking a polygon by NumPy takes thirty calls.


Form: TypeAlias = tuple[Floats, Floats, tuple[float, float, float, float]]

# A corner whose sine is smaller than this counts as straight: rounding bends a straight side by 1e-16.
_STRAIGHT = 1e-12
# Between these no length of a side and no difference of corners leaves the range of float64.
_SMALL, _LARGE = 1e-280, 1e300
_FLOATS = {float}
_NUMBERS = {float, int, np.float64}
_ROWS = {tuple, list}
_OF_ARRAYS = ("__array__", "__dlpack__")


def corners_of(points: Iterable[Any]) -> tuple[Sequence[float], Sequence[float]]:
    """The x and the y of at least three corners; the last is dropped if it repeats the first.

    Raises
    ------
    TypeError
        The points are not pairs of real numbers.
    ValueError
        There are fewer than three, or one is not finite.
    """
    xs, ys = _columns(points)
    if not isfinite(sum(xs) + sum(ys)):  # a finite sum has finite parts; an infinite one may have overflowed
        for row, point in enumerate(zip(xs, ys, strict=True)):
            if not all(map(isfinite, point)):
                raise ValueError(f"points[{row}] = {point} must be finite")
    if len(xs) > 1 and xs[0] == xs[-1] and ys[0] == ys[-1]:
        xs, ys = xs[:-1], ys[:-1]
    if len(xs) < 3:
        raise ValueError(f"points must hold at least three different corners; got {len(xs)}")
    return xs, ys


def _columns(points: Iterable[Any]) -> tuple[Sequence[float], Sequence[float]]:
    if any(map(partial(hasattr, points), _OF_ARRAYS)) and not isinstance(points, np.ndarray):
        points = as_float_array(points, "points", POINTS)  # a table, or a column of shapely's points
    if not isinstance(points, Iterable):
        raise TypeError(f"points must be pairs (x, y) of real numbers; got {points!r}")
    rows = points if isinstance(points, np.ndarray) else list(points)
    if isinstance(rows, list) and (set(map(type, rows)) <= _ROWS or _in_order(rows)):
        try:
            xs, ys = zip(*rows, strict=True)
            kinds = {*map(type, xs), *map(type, ys)}
            if kinds == _FLOATS:
                return xs, ys
            if kinds <= _NUMBERS:
                return list(map(float, xs)), list(map(float, ys))
        except (TypeError, ValueError, OverflowError):
            pass  # the checks below find the error and report it
    try:
        table = rows if isinstance(rows, np.ndarray) else column(rows, "points")
    except ValueError:
        raise ValueError("points must be pairs (x, y); got rows of different lengths") from None
    if table.dtype.kind not in "iuf":
        raise TypeError(f"points must be pairs of real numbers; got dtype {table.dtype}")
    if table.ndim != 2 or table.shape[1] != 2:
        raise ValueError(f"points must have shape (n, 2), pairs (x, y); got shape {table.shape}")
    columns: list[list[float]] = table.T.astype(np.float64).tolist()
    return columns[0], columns[1]


def _in_order(rows: list[Any]) -> bool:
    """Whether the first of a row is its x: sets have no first, and of a mapping it would be a key."""
    return not any(issubclass(kind, Set | Mapping) for kind in set(map(type, rows)))


def form_of(dxs: list[float], dys: list[float]) -> Form:
    """Corners, axes and reach of a convex polygon.

    Parameters
    ----------
    dxs, dys : list of float
        The corners relative to the first, which is ``0, 0``.

    Returns
    -------
    offsets, axes : numpy.ndarray
        ``(n, 2)``, read-only: the corners, counter-clockwise if y points up; and for each the normal of the
        side that begins there, towards larger x, or straight towards larger y.
    reach : tuple of float
        The smallest box around them.

    Raises
    ------
    ValueError
        The corners are too far apart, two neighbours are equal, or they are not convex; the message names the
        corner.
    """
    reach = min(dxs), min(dys), max(dxs), max(dys)
    longest = max(reach[2], reach[3], -reach[0], -reach[1])
    if longest == math.inf:
        raise ValueError("points lie too far apart: their distance is beyond the range of float64")
    power = 0 if _SMALL < longest < _LARGE else frexp(longest)[1]
    xs, ys = dxs, dys
    if power:  # scaled by a power of two, which is exact
        xs, ys = [ldexp(dx, -power) for dx in dxs], [ldexp(dy, -power) for dy in dys]
    direction, axes = _round(xs, ys)
    if direction < 0:
        dxs[1:], dys[1:] = dxs[:0:-1], dys[:0:-1]
        axes.reverse()
    flat = [*dxs, *dys]
    flat[::2], flat[1::2] = dxs, dys
    for axis in axes:
        flat += axis
    # Views of bytes, so the arrays cannot be made writeable again.
    both = np.frombuffer(struct.pack(f"{len(flat)}d", *flat)).reshape(2, len(dxs), 2)
    return both[0], both[1], reach


def middle_of(offsets: Floats, reach: tuple[float, float, float, float]) -> tuple[float, float]:
    """The centre of mass of a convex polygon, from triangles around the middle of its box.

    Examples
    --------
    >>> middle_of(np.array([[0.0, 0.0], [3.0, 0.0], [0.0, 3.0]]), (0.0, 0.0, 3.0, 3.0))
    (1.0, 1.0)
    """
    left, top, right, bottom = reach
    x, y = 0.5 * (left + right), 0.5 * (top + bottom)
    size = max(right - left, bottom - top)
    corners = [((px - x) / size, (py - y) / size) for px, py in offsets.tolist()]
    area = sum_x = sum_y = 0.0
    for (ax, ay), (bx, by) in pairwise([*corners, corners[0]]):
        part = ax * by - ay * bx
        area += part
        sum_x += part * (ax + bx)
        sum_y += part * (ay + by)
    if not area > 0.0 or not isfinite(size):
        return x, y
    return x + size * (sum_x / area / 3.0), y + size * (sum_y / area / 3.0)


def reach_of(offsets: Floats) -> tuple[float, float, float, float]:
    """The smallest box around corners."""
    xs, ys = offsets.T.tolist()
    return min(xs), min(ys), max(xs), max(ys)


def read_only(points: Floats, axes: Floats) -> tuple[Floats, Floats]:
    """Arrays made read-only."""
    points.flags.writeable = axes.flags.writeable = False
    return points, axes


def _round(xs: list[float], ys: list[float]) -> tuple[int, list[tuple[float, float]]]:
    """1 for counter-clockwise or -1 for clockwise, and the axis of each side; raises where not convex.

    One loop, because it is most of what a polygon costs.
    """
    axes: list[tuple[float, float]] = []
    left = right = back = False
    rounds = 0  # how often a side that goes to the left is followed by one that does not
    x, y = xs[0], ys[0]
    px, py = x - xs[-1], y - ys[-1]
    length = hypot(px, py) or 1.0  # a side without length is found in its own iteration
    px, py = px / length, py / length
    for next_x, next_y in zip([*xs[1:], x], [*ys[1:], y], strict=True):
        sx, sy = next_x - x, next_y - y
        x, y = next_x, next_y
        length = hypot(sx, sy)
        if length == 0.0:
            row = len(axes)
            raise ValueError(f"points[{(row + 1) % len(xs)}] repeats points[{row}]; give each corner once")
        # Scaled by a power of two: products with coordinates of any size then stay in range.
        power = -frexp(length)[1]
        ax, ay = ldexp(-sy, power), ldexp(sx, power)
        axes.append((ax + 0.0, ay + 0.0) if ax > 0.0 or (ax == 0.0 and ay > 0.0) else (0.0 - ax, 0.0 - ay))
        sx, sy = sx / length, sy / length
        turn = px * sy - py * sx
        if turn >= _STRAIGHT:
            left = True
        elif turn <= -_STRAIGHT:
            right = True
        elif px * sx + py * sy <= 0.0:
            back = True
        if px < 0.0 <= sx:
            rounds += 1
        px, py = sx, sy
    # An outline that turns to one side only, by less than half a turn each time, and goes round once, is
    # convex.
    if left is not right and rounds == 1 and not back:
        return 1 if left else -1, axes
    return _measured_round(xs, ys), axes


def _measured_round(xs: list[float], ys: list[float]) -> int:
    """The direction by the angles, for messages and for nearly straight sides bent by rounding."""
    corners = list(zip(xs, ys, strict=True))
    sides = [(bx - ax, by - ay) for (ax, ay), (bx, by) in pairwise([*corners, corners[0]])]
    angles = []  # at the corner where each side ends
    for (px, py), (sx, sy) in zip(sides, [*sides[1:], sides[0]], strict=True):
        lengths = hypot(px, py), hypot(sx, sy)
        px, py, sx, sy = px / lengths[0], py / lengths[0], sx / lengths[1], sy / lengths[1]
        turn, ahead = px * sy - py * sx, px * sx + py * sy
        straight = 0.0 if ahead > 0.0 else math.pi
        angles.append(straight if abs(turn) < _STRAIGHT else math.atan2(turn, ahead))
    whole = sum(angles)
    direction = 1 if whole > 0.0 else -1
    if math.pi in angles:
        row = (angles.index(math.pi) + 1) % len(sides)
        raise ValueError(f"points turn back on themselves at points[{row}]; a polygon must have an area")
    inwards = [row for row, angle in enumerate(angles, 1) if angle * direction < 0.0]
    if inwards:
        row = inwards[0] % len(sides)
        raise ValueError(
            f"points are not convex: the polygon turns inwards at points[{row}]; "
            "Polygon.convex_parts(points) cuts it up"
        )
    if abs(whole) > 3.0 * math.pi:
        raise ValueError("points are not convex: the outline crosses itself; give the corners in order")
    return direction


# -----------------------------------------------------------------------------------------------------------
# Convex decomposition: concave polygons are divided by ear clipping, then triangles are merged.
#
# Ear clipping after G. H. Meisters (1975), merging after S. Hertel and K. Mehlhorn (1983): at most four times
# as many parts as are needed.  The time grows with the square of the corners, at worst with their cube.


Point = tuple[float, float]

MOST_CORNERS = 1_000


def convex_parts(points: Sequence[Point]) -> list[list[Point]]:
    """Decompose a polygon into convex polygons.

    Parameters
    ----------
    points : sequence of (float, float)
        Its corners in order, in either direction; the last is not the first again.

    Raises
    ------
    ValueError
        It crosses itself, has no area, or more than 1,000 corners.

    Examples
    --------
    >>> convex_parts([(0, 0), (4, 0), (4, 4), (0, 4)])
    [[(0, 0), (4, 0), (4, 4), (0, 4)]]
    >>> len(convex_parts([(0, 0), (4, 0), (4, 2), (2, 2), (2, 4), (0, 4)]))
    2
    """
    # By a power of two, which is exact: of 1e-200 or 1e200 the areas leave the range of float64.
    power = -frexp(max(map(abs, chain(*points))))[1]
    scaled = [(ldexp(x, power), ldexp(y, power)) for x, y in points]
    originals = dict(zip(scaled, points, strict=True))
    return [[originals[corner] for corner in part] for part in _parts(scaled)]


def _parts(points: list[Point]) -> list[list[Point]]:
    ring = _without_straight(points)
    if len(ring) < 3:
        raise ValueError("points all lie on a line")
    if len(ring) > MOST_CORNERS:
        raise ValueError(f"points has {len(ring)} corners; up to {MOST_CORNERS} are cut up: draw it in parts")
    if _is_convex(ring, range(len(ring)), 1.0 if _area(ring) > 0.0 else -1.0) and _once(ring):
        return [ring]
    if _crosses(ring):
        raise ValueError("the outline of points crosses itself")
    if _area(ring) < 0.0:
        ring.reverse()
    return [[ring[k] for k in part] for part in _merged(ring, _triangles(ring))]


def orient(a: Point, b: Point, c: Point) -> float:
    """Twice the area of a triangle, positive where it is counter-clockwise."""
    return (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0])


def _area(ring: Sequence[Point]) -> float:
    x, y = ring[0]
    return sum(orient((x, y), ring[k], ring[k + 1]) for k in range(1, len(ring) - 1))


def _without_straight(ring: list[Point]) -> list[Point]:
    """Remove corners on straight sides, and spikes."""
    corner = 0
    while len(ring) > 2 and corner < len(ring):
        if orient(ring[corner - 1], ring[corner], ring[(corner + 1) % len(ring)]) == 0.0:
            del ring[corner]
            corner = max(corner - 1, 0)
        else:
            corner += 1
    return ring if len(ring) > 2 else []


def _once(ring: Sequence[Point]) -> bool:
    """Whether a ring that turns to one side only goes round once: then x increases in one run."""
    steps = [ring[k][0] - ring[k - 1][0] for k in range(len(ring))]
    rising = [step > 0.0 for step in steps if step != 0.0]
    return sum(one and not rising[k - 1] for k, one in enumerate(rising)) == 1


def _crosses(ring: Sequence[Point]) -> bool:
    """Whether two sides cross, or one ends inside another."""
    a = np.array(ring, np.float64)
    b = np.roll(a, -1, axis=0)
    count = len(a)

    def turns(origins: Floats, to: Floats, seen: Floats) -> Floats:
        along = to - origins
        away = seen[None, :, :] - origins[:, None, :]
        return np.sign(along[:, None, 0] * away[:, :, 1] - along[:, None, 1] * away[:, :, 0])

    begins, ends = turns(a, b, a), turns(a, b, b)  # [side, point]
    apart = begins * ends < 0
    crossing = apart & apart.T
    # One end on the other side, in between: it touches, which divides the inside.
    middle = (begins == 0) & (ends != 0) & apart.T
    steps = np.abs(np.subtract.outer(np.arange(count), np.arange(count)))
    crossing |= middle & ~((steps <= 1) | (steps == count - 1))
    return bool(crossing.any())


def _triangles(ring: Sequence[Point]) -> Iterator[tuple[int, int, int]]:
    """Ears, as numbers of corners; the ring is counter-clockwise."""
    left = list(range(len(ring)))
    inward = {k for k in left if orient(ring[left[k - 1]], ring[k], ring[left[(k + 1) % len(left)]]) <= 0.0}
    index, looked = 0, 0
    while len(left) > 3:
        if looked > len(left):
            raise ValueError("the outline of points crosses or touches itself")
        index %= len(left)
        before, middle, after = left[index - 1], left[index], left[(index + 1) % len(left)]
        turn = orient(ring[before], ring[middle], ring[after])
        if turn != 0.0 and (middle in inward or _anything_in(ring, (before, middle, after), inward)):
            index, looked = index + 1, looked + 1
            continue
        if turn > 0.0:
            yield before, middle, after
        del left[index]
        inward.discard(middle)
        looked = 0
        for corner in (before, after):
            place = left.index(corner)
            turn = orient(ring[left[place - 1]], ring[corner], ring[left[(place + 1) % len(left)]])
            (inward.discard if turn > 0.0 else inward.add)(corner)
    if orient(ring[left[0]], ring[left[1]], ring[left[2]]) > 0.0:
        yield left[0], left[1], left[2]


def _anything_in(ring: Sequence[Point], triangle: tuple[int, int, int], inward: set[int]) -> bool:
    a, b, c = (ring[k] for k in triangle)
    return any(
        orient(a, b, ring[k]) >= 0.0 and orient(b, c, ring[k]) >= 0.0 and orient(c, a, ring[k]) >= 0.0
        for k in inward
        if k not in triangle and ring[k] not in (a, b, c)
    )


def _merged(ring: Sequence[Point], triangles: Iterator[tuple[int, int, int]]) -> list[list[int]]:
    """Merge triangles as long as the parts stay convex."""
    parts = dict(enumerate(map(list, triangles)))
    owner = {(part[k - 1], part[k]): number for number, part in parts.items() for k in range(len(part))}
    for one, other in [side for side in owner if side[::-1] in owner and side[0] < side[1]]:
        first, second = owner[one, other], owner[other, one]
        if first == second:
            continue
        first_part, there = _from(parts[first], other), _from(parts[second], one)
        both = first_part + there[1:-1]
        if _is_convex(ring, both):
            parts[first] = both
            del parts[second]
            for k in range(len(both)):
                owner[both[k - 1], both[k]] = first
    return list(parts.values())


def _from(part: list[int], corner: int) -> list[int]:
    """The same part, starting at a corner."""
    place = part.index(corner)
    return part[place:] + part[:place]


def _is_convex(ring: Sequence[Point], part: Sequence[int], direction: float = 1.0) -> bool:
    """Whether it turns to one side only: with 1.0 counter-clockwise."""
    return all(
        direction * orient(ring[part[k - 2]], ring[part[k - 1]], ring[part[k]]) > 0.0
        for k in range(len(part))
    )
