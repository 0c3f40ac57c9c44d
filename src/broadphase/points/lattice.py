"""Points in a periodic world with lattice vectors, which need not be at right angles (triclinic cells).

Points that may be found are repeated around the cell (`broadphase.periods.lattice`), as far as a search
reaches.  Among these images the search is that of a plain world.  Where two of one point may be near, the
nearest counts; else half of the images are enough (`broadphase.points.all_images`).

Cost: that of the plain search among more points, and of sorting; three times that of axes at right angles for
short distances, up to 64 times as many points in 3-D for those of half the cell and beyond.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from broadphase.errors import TOO_MANY_NEAR, PairLimitExceeded
from broadphase.inputs.points import Numbers, PointQuery, Points
from broadphase.kernels.arrays.sorting import argsort_keys
from broadphase.methods.task import NO_LIMIT
from broadphase.periods.lattice import Lattice, images_around
from broadphase.points.all_images import upward_images
from broadphase.points.fixed_radius import (
    ROOM_TO_GROW,
    KeptCells,
    Reach,
    count_near,
    find_near,
    find_near_mixed,
)
from broadphase.points.nearest import CurveTree, find_nearest_points, make_tree
from broadphase.runtime.slices import rows_at

# Rounding never leaves out an image that is near.
_MORE = 1e-6
# Up to so many points, all images and a search of few points take less: half, for a hundred.
_FEW = 500


@dataclass(slots=True)
class Images:
    """Points and their images around the cell."""

    query: PointQuery
    """A query in a plain world, where all images may be found."""
    source: Numbers
    """The row of which each is an image; ascending."""
    reach: float
    """Up to this distance the nearest image of each point is among them."""
    cells: KeptCells = field(default_factory=KeptCells)
    tree: CurveTree | None = None


@dataclass(slots=True)
class Kept:
    """What was made of points that are searched often."""

    cells: KeptCells = field(default_factory=KeptCells)
    tree: CurveTree | None = None
    images: Images | None = None


class NearImages(NamedTuple):
    """Pairs in order, each once, at the distance of the nearest images."""

    i: Numbers
    j: Numbers
    distance: Points
    query: PointQuery
    """The plain world, in which offsets are those from ``start`` to the images ``at``."""
    start: Numbers
    at: Numbers
    turned: npt.NDArray[np.bool_] | None = None
    """Which of the offsets are from ``j`` to ``i``."""


def find_near_images(
    query: PointQuery, reach: Reach, parts: int, limit: int, kept: Kept | None
) -> NearImages:
    """All pairs within reach."""
    many = len(query.points) > _FEW and not len(reach.radii)
    if many and kept is None and query.others is None and _is_short(query, reach.r):
        return _find_short(query, reach, parts, limit)
    images = _images(query, reach.r, kept)
    plain, source = images.query._replace(points=query.points, envs=query.envs), images.source
    same = query.others is None
    # Beyond the max_distance of nearest images nothing more is found, but the same again.
    max_distance = _lattice_of(query).max_distance
    radii = np.minimum(reach.radii, max_distance), np.minimum(reach.other_radii, max_distance)
    near = Reach(min(reach.r, max_distance), radii[0], radii[1][source] if len(radii[1]) else radii[1])
    repeated = int(np.bincount(source, minlength=1).max())
    most = min(repeated * (2 * limit + len(query.points) if same else limit), NO_LIMIT)
    if kept is None or len(near.radii):
        i, at, distance = find_near_mixed(plain, near, True, parts, most)
    else:
        i, at, distance = find_near(plain, near, True, parts, most, images.cells)
    j = source[at]
    if same:
        above = i < j
        i, j, at, distance = i[above], j[above], at[above], distance[above]
    # Images are in the order of their points, so those of one point follow each other.
    begins = np.flatnonzero(np.append(True, (i[1:] != i[:-1]) | (j[1:] != j[:-1]))[: len(i)])
    if len(begins) > limit:
        raise PairLimitExceeded(limit, TOO_MANY_NEAR)
    if len(begins) < len(i):
        least = np.minimum.reduceat(distance, begins)
        pair = np.repeat(np.arange(len(begins)), np.diff(begins, append=len(i)))
        nearest = np.flatnonzero(distance == least[pair])
        chosen = nearest[np.unique(pair[nearest], return_index=True)[1]]
        i, j, at, distance = i[chosen], j[chosen], at[chosen], distance[chosen]
    return NearImages(i, j, distance, plain, i, at)


def _is_short(query: PointQuery, r: float) -> bool:
    """Whether no two images of a point, which differ by a vector of the lattice, are within ``r``."""
    shortest = min(math.hypot(*vector) for vector in _lattice_of(query).vectors.tolist())
    return bool(2.0 * r < (1.0 - _MORE) * shortest)


def _find_short(query: PointQuery, reach: Reach, parts: int, limit: int) -> NearImages:
    """The same where at most one image of each pair is near: each pair once, from one of its ends."""
    plain, source = _upward(query, reach.r)
    i, at, distance = find_near(plain, reach, True, parts, limit, upward=True)
    j = source[at]
    turned = j < i
    first, second = np.where(turned, j, i), np.where(turned, i, j)
    crossing = np.flatnonzero(at >= len(query.points))
    if not len(crossing):
        return NearImages(i, j, distance, plain, i, at)
    # All others are in order already.
    keys, inner = first.astype(np.int64) << 32 | second, np.flatnonzero(at < len(query.points))
    crossing = crossing[argsort_keys(keys[crossing])]
    order = np.insert(inner, np.searchsorted(keys[inner], keys[crossing]), crossing)
    start, at, turned = (rows_at(one, order) for one in (i, at, turned))
    i, j, distance = (rows_at(one, order) for one in (first, second, distance))
    return NearImages(i, j, distance, plain, start, at, turned)


def _upward(query: PointQuery, r: float) -> tuple[PointQuery, Numbers]:
    """A query among the points and their upward images (`all_images`), and the row of each of these."""
    lattice, points = _lattice_of(query), query.points
    wide = r * np.linalg.norm(lattice.inverse, axis=0) + _MORE
    rows, steps = upward_images(points @ lattice.inverse, wide, np.ones(points.shape[1], np.bool_))
    found = np.concatenate((points, points[rows] + steps @ lattice.vectors))  # exact, see `periods.lattice`
    source = np.concatenate((np.arange(len(points)), rows)).astype(np.int32)
    ends = (found.min(axis=0), found.max(axis=0)) if len(found) else (query.low, query.high)
    envs = query.envs[source] if len(query.envs) else query.envs
    plain = query._replace(others=found, lattice=None, other_envs=envs, low=ends[0], high=ends[1])
    return plain, source


def count_near_images(query: PointQuery, distances: Sequence[float], parts: int) -> npt.NDArray[np.int64]:
    """For each of some distances how many pairs lie within it; they are stored if images may be several."""
    if query.others is None and _is_short(query, max(distances, default=0.0)):
        return count_near(_upward(query, max(distances, default=0.0))[0], distances, parts, upward=True)
    none = np.empty(0)
    reach = Reach(max(distances, default=0.0), none, none)
    found = np.sort(find_near_images(query, reach, parts, NO_LIMIT, None).distance)
    return np.searchsorted(found, np.array(distances, np.float64), "right")


def find_nearest_images(
    query: PointQuery, k: int, r: float, parts: int, kept: Kept | None
) -> tuple[Numbers, Points]:
    """Numbers and distances of the ``k`` nearest, -1 and inf where there are fewer.

    The nearest images may be several of one point: then the search is for more.  If there are too few within
    the usual distance of so many points, it is doubled.
    """
    n, same = len(query.points), query.others is None
    ids, distances = np.full((n, k), -1, np.int32), np.full((n, k), np.inf)
    wanted = min(k, len(query.found) - same)
    rows = np.arange(n if wanted > 0 else 0)
    lattice = _lattice_of(query)
    most = min(r, lattice.max_distance)
    count = wanted + same
    share = lattice.volume * (count + 1) * query.worlds / max(len(query.found), 1)
    reach = min(most, 1.5 * share ** (1.0 / lattice.vectors.shape[0]))
    while len(rows):
        images = _images(query, reach, kept)
        reach = min(images.reach, most)
        if images.tree is None:
            images.tree = make_tree(images.query, parts)
        envs = query.envs[rows] if len(query.envs) else query.envs
        query_again = images.query._replace(points=query.points[rows], envs=envs)
        found, apart = find_nearest_points(query_again, count, reach, parts, images.tree)
        source = np.where(found < 0, np.int32(-1), images.source[found])
        counts = (found >= 0) & _first_in_row(source)
        if same:
            counts &= source != rows[:, None]
        enough, listed = counts.sum(axis=1) >= wanted, found[:, -1] < 0
        done = enough | listed if reach >= most else enough
        place = np.cumsum(counts, axis=1) - 1
        row, column = np.nonzero(counts & (place < wanted) & done[:, None])
        put = rows[row], place[row, column]
        ids[put], distances[put] = source[row, column], apart[row, column]
        if (~done & ~listed).any():
            count = min(2 * count, len(images.source))
        if (~done & listed).any():
            reach = min(2.0 * reach, most)
        rows = rows[~done]
    return ids, distances


def _lattice_of(query: PointQuery) -> Lattice:
    assert query.lattice is not None
    return query.lattice


def _first_in_row(numbers: Numbers) -> npt.NDArray[np.bool_]:
    """Where a number occurs first in its row."""
    order = np.argsort(numbers, axis=1, kind="stable")
    ordered = np.take_along_axis(numbers, order, 1)
    first = np.ones(numbers.shape, np.bool_)
    np.put_along_axis(first, order[:, 1:], ordered[:, 1:] != ordered[:, :-1], 1)
    return first


def _images(query: PointQuery, reach: float, kept: Kept | None) -> Images:
    """The images up to a distance, or those that are kept."""
    max_distance = _lattice_of(query).max_distance
    reach = min(reach, max_distance)
    if kept is not None and kept.images is not None:
        if kept.images.reach >= reach:
            return kept.images
        reach = min(ROOM_TO_GROW * reach, max_distance)
    rows, images = images_around(query.found, _lattice_of(query), reach)
    envs = query.envs if query.others is None else query.other_envs
    plain = query._replace(
        others=images,
        lattice=None,
        other_envs=envs[rows] if len(envs) else envs,
        low=images.min(axis=0) if len(images) else query.low,
        high=images.max(axis=0) if len(images) else query.high,
    )
    made = Images(plain, rows.astype(np.int32), reach)
    if kept is not None:
        kept.images = made
    return made
