"""Convex decomposition: concave polygons are cut by ear clipping, then triangles are merged.

Ear clipping after G. H. Meisters (1975), merging after S. Hertel and K. Mehlhorn (1983): at most four times
as many parts as are needed.  The time grows with the square of the corners, at worst with their cube.
"""

from collections.abc import Iterator, Sequence
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

Floats: TypeAlias = npt.NDArray[np.float64]
Point = tuple[float, float]

MOST_CORNERS = 1_000


def convex_parts(points: Sequence[Point]) -> list[list[Point]]:
    """Convex polygons that together are a polygon.

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
    ring = _without_straight(list(points))
    if len(ring) < 3:
        raise ValueError("all points lie on a line")
    if len(ring) > MOST_CORNERS:
        raise ValueError(f"it has {len(ring)} corners; up to {MOST_CORNERS} are cut up: draw it in parts")
    if _is_convex(ring, range(len(ring)), 1.0 if _area(ring) > 0.0 else -1.0) and _once(ring):
        return [ring]
    if _crosses(ring):
        raise ValueError("its outline crosses itself")
    if _area(ring) < 0.0:
        ring.reverse()
    return [[ring[k] for k in part] for part in _merged(ring, _triangles(ring))]


def _turn(a: Point, b: Point, c: Point) -> float:
    """Twice the area of a triangle, positive where it is counter-clockwise."""
    return (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0])


def _area(ring: Sequence[Point]) -> float:
    x, y = ring[0]
    return sum(_turn((x, y), ring[k], ring[k + 1]) for k in range(1, len(ring) - 1))


def _without_straight(ring: list[Point]) -> list[Point]:
    """Without corners on straight sides, and without spikes."""
    at = 0
    while len(ring) > 2 and at < len(ring):
        if _turn(ring[at - 1], ring[at], ring[(at + 1) % len(ring)]) == 0.0:
            del ring[at]
            at = max(at - 1, 0)
        else:
            at += 1
    return ring if len(ring) > 2 else []


def _once(ring: Sequence[Point]) -> bool:
    """Whether a ring that turns to one side only goes round once: then x grows in one run."""
    steps = [ring[k][0] - ring[k - 1][0] for k in range(len(ring))]
    ways = [step > 0.0 for step in steps if step != 0.0]
    return sum(one and not ways[k - 1] for k, one in enumerate(ways)) == 1


def _crosses(ring: Sequence[Point]) -> bool:
    """Whether two sides cross, or one ends inside another."""
    a = np.array(ring, np.float64)
    b = np.roll(a, -1, axis=0)
    count = len(a)

    def turns(of: Floats, to: Floats, seen: Floats) -> Floats:
        along = to - of
        away = seen[None, :, :] - of[:, None, :]
        return np.sign(along[:, None, 0] * away[:, :, 1] - along[:, None, 1] * away[:, :, 0])

    begins, ends = turns(a, b, a), turns(a, b, b)  # [side, point]
    apart = begins * ends < 0
    crossing = apart & apart.T
    # One end on the other side, in between: it touches, which splits what is inside.
    middle = (begins == 0) & (ends != 0) & apart.T
    near = np.abs(np.subtract.outer(np.arange(count), np.arange(count)))
    crossing |= middle & ~((near <= 1) | (near == count - 1))
    return bool(crossing.any())


def _triangles(ring: Sequence[Point]) -> Iterator[tuple[int, int, int]]:
    """Ears, as numbers of corners; the ring is counter-clockwise."""
    left = list(range(len(ring)))
    inward = {k for k in left if _turn(ring[left[k - 1]], ring[k], ring[left[(k + 1) % len(left)]]) <= 0.0}
    at, looked = 0, 0
    while len(left) > 3:
        if looked > len(left):
            raise ValueError("its outline crosses or touches itself")
        at %= len(left)
        before, here, after = left[at - 1], left[at], left[(at + 1) % len(left)]
        turn = _turn(ring[before], ring[here], ring[after])
        if turn != 0.0 and (here in inward or _anything_in(ring, (before, here, after), inward)):
            at, looked = at + 1, looked + 1
            continue
        if turn > 0.0:
            yield before, here, after
        del left[at]
        inward.discard(here)
        looked = 0
        for corner in (before, after):
            place = left.index(corner)
            turn = _turn(ring[left[place - 1]], ring[corner], ring[left[(place + 1) % len(left)]])
            (inward.discard if turn > 0.0 else inward.add)(corner)
    if _turn(ring[left[0]], ring[left[1]], ring[left[2]]) > 0.0:
        yield left[0], left[1], left[2]


def _anything_in(ring: Sequence[Point], triangle: tuple[int, int, int], inward: set[int]) -> bool:
    a, b, c = (ring[k] for k in triangle)
    return any(
        _turn(a, b, ring[k]) >= 0.0 and _turn(b, c, ring[k]) >= 0.0 and _turn(c, a, ring[k]) >= 0.0
        for k in inward
        if k not in triangle and ring[k] not in (a, b, c)
    )


def _merged(ring: Sequence[Point], triangles: Iterator[tuple[int, int, int]]) -> list[list[int]]:
    """Triangles put together as long as they stay convex."""
    parts = dict(enumerate(map(list, triangles)))
    owner = {(part[k - 1], part[k]): number for number, part in parts.items() for k in range(len(part))}
    for one, other in [side for side in owner if side[::-1] in owner and side[0] < side[1]]:
        first, second = owner[one, other], owner[other, one]
        if first == second:
            continue
        here, there = _from(parts[first], other), _from(parts[second], one)
        both = here + there[1:-1]
        if _is_convex(ring, both):
            parts[first] = both
            del parts[second]
            for k in range(len(both)):
                owner[both[k - 1], both[k]] = first
    return list(parts.values())


def _from(part: list[int], corner: int) -> list[int]:
    """The same part, beginning at a corner."""
    at = part.index(corner)
    return part[at:] + part[:at]


def _is_convex(ring: Sequence[Point], part: Sequence[int], way: float = 1.0) -> bool:
    """Whether it turns to one side only: with 1.0 counter-clockwise."""
    return all(
        way * _turn(ring[part[k - 2]], ring[part[k - 1]], ring[part[k]]) > 0.0 for k in range(len(part))
    )
