"""Images: how far what lies in a world reaches, which images may lie in a region, and rays that go around."""

from collections.abc import Callable, Iterator
from typing import Any, TypeAlias, TypeVar

import numpy as np
import numpy.typing as npt

from broadphase.kernels.boxes.periodic import put_turns, spans_near
from broadphase.runtime.arrays import Floats

Turns = npt.NDArray[np.int64]
"""``(k, dim)``: by how many periods an image is moved on each axis."""
_Nearest: TypeAlias = tuple[npt.NDArray[np.int32], Floats]
_Places = TypeVar("_Places", bound=np.floating[Any])

_SLACK = 1e-12  # of the region: an image too many is sorted out by the exact test, one too few is missed


class Periodic:
    """The lengths of a world, inf for an axis without a period, and how far shapes reach from their places.

    Examples
    --------
    >>> world = Periodic(np.array([100.0, np.inf]))
    >>> world.reach_to(np.zeros(2), np.full(2, 10.0))
    >>> world.turns_near(np.array([[95.0, 0, 105, 9], [50, 0, 60, 9]]))[1].tolist()
    [[0, 0], [1, 0], [0, 0]]
    """

    def __init__(self, lengths: Floats) -> None:
        self.lengths = lengths
        self._goes_around = np.isfinite(lengths)
        self._steps = np.where(self._goes_around, lengths, 0.0)
        self.largest = float(self._steps.max())
        """The longest period."""
        self.low, self.high = np.zeros(len(lengths)), np.zeros(len(lengths))
        """How far shapes reach below and above their places."""
        self.reach_to(self.low, self.high)

    def reach_to(self, low: Floats, high: Floats) -> None:
        """Note how far below and above its place something reaches."""
        self.low, self.high = np.maximum(self.low, low), np.maximum(self.high, high)
        begin = np.where(self._goes_around, self.high, -np.inf)
        self.inner: tuple[list[float], list[float]] = begin.tolist(), (self.lengths - self.low).tolist()
        """Between these on each axis only things themselves can be touched, and no image of them."""

    def turns_near(self, regions: Floats) -> tuple[npt.NDArray[np.int64], Turns]:
        """The images that may lie in each of ``(m, 2 * dim)`` regions: the region of each, and its turns.

        A region that has no end on an axis holds everything there, and is asked for once.
        """
        spans = np.empty(regions.shape, np.int64)
        return all_turns(spans, spans_near(regions, self.lengths, self.low, self.high, spans))

    def slack(self, regions: Floats) -> Floats:
        """``(m, 1)``: how much larger regions are searched, because of rounding."""
        finite = np.where(np.isfinite(regions), np.abs(regions), 0.0)
        largest: Floats = finite.max(axis=1, initial=self.largest)[:, None]
        return _SLACK * largest

    def shift(self, turns: Turns | Floats) -> Floats:
        """``(k, dim)``: the displacements of images by turns."""
        return np.multiply(turns, self._steps)

    def shift_to_inside(self, places: Floats) -> Floats:
        """``(k, dim)``: how far places lie from where they are wrapped to."""
        return self.shift(np.where(self._goes_around, np.floor(places / self.lengths), 0.0))

    def nearest_shift(self, origin: Floats, there: Floats) -> Floats:
        """The displacement of the image of ``there`` that is nearest to ``here``, for a place or many."""
        return self.shift(np.where(self._goes_around, np.round((origin - there) / self.lengths), 0.0))

    def band(self, points: Floats) -> Floats:
        """For points, bounds that hold the nearest image of everything: a little more than half a period."""
        with np.errstate(over="ignore"):
            return np.hstack((points - 0.51 * self.lengths, points + 0.51 * self.lengths))


def all_turns(spans: Turns, count: int) -> tuple[npt.NDArray[np.int64], Turns]:
    """All turns of rows that say the first on each axis, then how many: the row of each, and the turns.

    Examples
    --------
    >>> all_turns(np.array([[0, 5, 2, 2], [7, 7, 1, 1]]), 5)[1].tolist()
    [[0, 5], [0, 6], [1, 5], [1, 6], [7, 7]]
    """
    owners, turns = np.empty(count, np.int64), np.empty((count, spans.shape[1] // 2), np.int64)
    put_turns(spans, owners, turns)
    return owners, turns


# Distances are rounded; an image farther away than this factor is certainly farther.
WIDER = 1.0 + 1e-6


def nearest_around(around: Periodic, places: Floats, find: Callable[[Any, Floats], _Nearest]) -> _Nearest:
    """The nearest to points among bodies and their images: ids and distances, filled up with -1 and inf.

    ``find(rows, places)`` finds the nearest of bodies where they are, for the points of these rows at other
    places.  What is nearest to the points themselves says how far away images may be.
    """
    ids, distances = find(slice(None), places)
    far = distances[:, -1:] * WIDER
    low, high = np.split(around.band(places), 2, axis=1)
    owners, turns = around.turns_near(
        np.hstack((np.maximum(places - far, low), np.minimum(places + far, high)))
    )
    others = turns.any(axis=1)
    owners, turns = owners[others], turns[others]
    if not len(owners):
        return ids, distances
    more_ids, more_distances = find(owners, places[owners] - around.shift(turns))
    first = np.diff(owners, prepend=-1) != 0
    rows, owners = owners[first], np.append(np.arange(np.count_nonzero(first)), np.cumsum(first) - 1)
    known = np.concatenate((ids[rows], more_ids)), np.concatenate((distances[rows], more_distances))
    ids[rows], distances[rows] = _nearest_of_images(owners, *known, len(rows))
    return ids, distances


def _nearest_of_images(
    owners: npt.NDArray[np.integer[Any]], ids: npt.NDArray[np.int32], distances: Floats, count: int
) -> _Nearest:
    """The nearest of points, from those of their images: rows of ids, -1 and inf where there are fewer.

    ``owners`` are the points of the images, of ``count`` in all.
    """
    most, held = ids.shape[1], ids >= 0
    which, neighbor_ids, apart = np.repeat(owners, np.count_nonzero(held, axis=1)), ids[held], distances[held]
    order = np.lexsort((apart, neighbor_ids, which))
    order = order[(np.diff(which[order], prepend=-1) != 0) | (np.diff(neighbor_ids[order], prepend=-1) != 0)]
    order = order[np.lexsort((neighbor_ids[order], apart[order], which[order]))]
    place = np.arange(len(order)) - np.searchsorted(which[order], np.arange(count))[which[order]]
    order, place = order[place < most], place[place < most]
    found, far = np.full((count, most), -1, np.int32), np.full((count, most), np.inf)
    found[which[order], place], far[which[order], place] = neighbor_ids[order], apart[order]
    return found, far


def wrapped(places: npt.NDArray[_Places], lengths: npt.NDArray[Any]) -> npt.NDArray[_Places]:
    """A copy of ``(m, dim)`` places in ``0 <= x < length``, on each axis with a period."""
    inside = places.copy()
    for axis in np.flatnonzero(np.isfinite(lengths)):
        length, column = lengths[axis], inside[:, axis]
        outside = np.flatnonzero(~((column >= 0.0) & (column < length)))
        if len(outside):
            rest = np.mod(column[outside], length)
            column[outside] = np.where(rest < length, rest, 0.0)
    return inside


# ---- rays that wrap around, in legs, each so short that it crosses at most one edge of an axis
#
# They are rows ``[origin..., unit direction..., max_distance]``.

# A turn takes some 50 us if nothing is hit: this many take half a second.
MOST_RAY_TURNS = 10_000


def legs(
    rays: Floats, lengths: Floats, done: npt.NDArray[np.bool_]
) -> Iterator[tuple[npt.NDArray[np.int64], Floats, Floats]]:
    """Which rays go on, and from how far away to how far; the caller sets ``done`` where one has ended.

    Raises
    ------
    ValueError
        A ray that hits nothing would go around a period for ever.
    """
    dim, furthest = len(lengths), rays[:, -1].copy()
    with np.errstate(divide="ignore", over="ignore"):
        speeds = np.abs(rays[:, dim : 2 * dim])
        leg = np.where(np.isfinite(lengths) & (speeds > 0.0), lengths / speeds, np.inf).min(axis=1)
        often = np.flatnonzero((furthest > MOST_RAY_TURNS * leg) & np.isfinite(leg))
    if len(often):
        turn = int(often[0])
        raise ValueError(
            f"max_distance = {furthest[turn]:g} for ray {turn}, which goes along an axis with a period: "
            f"where it hits nothing, it would go around more than {MOST_RAY_TURNS} times; give at most "
            f"{MOST_RAY_TURNS * leg[turn]:g}"
        )
    active, begun = np.arange(len(rays)), np.zeros(len(rays))
    while len(active):
        ends = np.minimum(begun + leg[active], furthest[active])
        yield active, begun, ends
        continues = (ends < furthest[active]) & ~done[active]
        active, begun = active[continues], ends[continues]


def unit_vectors(vectors: Floats) -> Floats:
    """Vectors ``(..., dim)``, none of them zero, made 1 long; no square overflows."""
    scaled: Floats = vectors / np.abs(vectors).max(axis=-1, keepdims=True)
    scaled /= np.sqrt((scaled * scaled).sum(axis=-1, keepdims=True))
    return scaled


def along(rays: Floats, far: Floats) -> Floats:
    """Where rays are at these distances."""
    dim = rays.shape[1] // 2
    with np.errstate(invalid="ignore", over="ignore"):
        ways = rays[:, dim : 2 * dim]
        return rays[:, :dim] + np.where(ways != 0.0, ways * far[:, None], 0.0)


def bounds_between(rays: Floats, begun: Floats, ends: Floats) -> Floats:
    """``(k, 2 * dim)``: the bounds of legs."""
    places = along(rays, begun), along(rays, ends)
    return np.hstack((np.minimum(*places), np.maximum(*places)))
