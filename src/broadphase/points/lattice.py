"""Points in a periodic world with lattice vectors, which need not be at right angles (triclinic cells).

Few points are compared one by one (`broadphase.points.few`).  Of more, for distances of less than half of the
cell, cells of the search are cut along its vectors (`fixed_radius.fits_in_lattice`).  For others, points that
may be found are repeated around the cell (`broadphase.periods.lattice`), as far as a search reaches.  Among
these images the search is that of a plain world, and the nearest of each point counts.

Cost: for short distances that of axes at right angles; for those of half the cell and beyond that of up to 64
times as many points in 3-D.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from broadphase.errors import TOO_MANY_NEAR, PairLimitExceeded
from broadphase.indexes.results import Nearest
from broadphase.inputs.points import Numbers, PointQuery, Points
from broadphase.methods.task import NO_LIMIT
from broadphase.periods.lattice import Lattice, images_around
from broadphase.points.few import find_small_nearest, find_small_pairs
from broadphase.points.fixed_radius import (
    ROOM_TO_GROW,
    KeptCells,
    NearRows,
    Reach,
    count_near,
    find_near,
    find_near_mixed,
    fits_in_lattice,
    one_reach,
)
from broadphase.points.nearest import (
    Candidates,
    Counted,
    CurveTree,
    Rows,
    among_others,
    find_nearest_counted,
    find_nearest_points,
    make_tree,
    may_be_more,
    some_of,
)
from broadphase.runtime.arrays import by_matrix

# Distances that are counted are found for so many pairs of a point and an image at a time.
_PAIRS_AT_ONCE = 1 << 18


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


def find_near_images(
    query: PointQuery, reach: Reach, sort: bool, parts: int, limit: int, kept: Kept | None
) -> NearRows:
    """All pairs within reach, each at the distance of the nearest images."""
    few = find_small_pairs(query, *reach[:3], limit)
    if few is not None:
        return NearRows(*few)
    if kept is None and not len(reach.radii) and is_short(query, reach.r):
        return find_near(along_vectors(query), reach, sort, parts, limit)
    images = _images(query, reach.r, kept)
    plain, source = images.query._replace(points=query.points, envs=query.envs), images.source
    same = query.others is None
    # Beyond the max_distance of nearest images nothing more is found, but the same again.
    max_distance = _max_distance(query)
    radii = np.minimum(reach.radii, max_distance), np.minimum(reach.other_radii, max_distance)
    plain_reach = Reach(min(reach.r, max_distance), radii[0], radii[1][source] if len(radii[1]) else radii[1])
    repeated = int(np.bincount(source, minlength=1).max())
    most = min(repeated * (2 * limit + len(query.points) if same else limit), NO_LIMIT)
    if kept is None or len(plain_reach.radii):
        i, copies, distance = find_near_mixed(plain, plain_reach, True, parts, most)
    else:
        i, copies, distance = find_near(plain, plain_reach, True, parts, most, images.cells)
    j = source[copies]
    if same:
        above = i < j
        i, j, distance = i[above], j[above], distance[above]
    # Images are in the order of their points, so those of one point follow each other.
    begins = np.flatnonzero(np.append(True, (i[1:] != i[:-1]) | (j[1:] != j[:-1]))[: len(i)])
    if len(begins) > limit:
        raise PairLimitExceeded(limit, TOO_MANY_NEAR)
    if len(begins) < len(i):
        i, j, distance = i[begins], j[begins], np.minimum.reduceat(distance, begins)
    return NearRows(i, j, distance)


def is_short(query: PointQuery, r: float) -> bool:
    """Whether `fixed_radius` finds what is within the distance, in cells along the lattice vectors."""
    lattice = _lattice_of(query)
    return fits_in_lattice(lattice.around, len(lattice.vectors), r)


def along_vectors(query: PointQuery) -> PointQuery:
    """The same query for `fixed_radius`."""
    return query._replace(lattice=None, period=_lattice_of(query).around)


def count_near_images(query: PointQuery, distances: Sequence[float], parts: int) -> npt.NDArray[np.int64]:
    """For each of some distances how many pairs lie within it; few of these are stored at a time."""
    counts = np.zeros(len(distances), np.int64)
    short = [k for k, r in enumerate(distances) if is_short(query, r)]
    if short:
        counts[short] = count_near(along_vectors(query), [distances[k] for k in short], parts)
    long = np.setdiff1d(np.arange(len(distances)), short)
    if len(long) and len(query.points):
        bounds = np.array(distances)[long]
        order = np.argsort(bounds)
        tally = np.zeros(len(long) + 1, np.int64)
        for found in _in_pieces(query, float(bounds.max()), parts):
            tally += np.bincount(np.searchsorted(bounds[order], found), minlength=len(tally))
        counts[long[order]] = np.cumsum(tally[:-1])
    return counts


def _in_pieces(query: PointQuery, r: float, parts: int) -> Iterator[Points]:
    """The distances of the pairs within ``r``, found from some of the points at a time."""
    reach, start, n = one_reach(r, query.points.dtype), 0, len(query.points)
    images = _images(query, r, None)
    kept, many = Kept(images=images), max(_PAIRS_AT_ONCE // max(len(images.source), 1), 1)
    while start < n:
        rows = slice(start, start + many)
        piece = some_of(query, rows)._replace(others=query.found)
        i, j, distance, *_ = find_near_images(piece, reach, True, parts, NO_LIMIT, kept)
        yield distance if query.others is not None else distance[i + np.int32(start) < j]
        start = rows.stop


def find_nearest_images(
    query: PointQuery, k: int, r: float, parts: int, counted: Counted, kept: Kept | None
) -> Nearest:
    """The ``k`` nearest, each at the distance of its nearest image."""
    few = find_small_nearest(query, k, r) if counted.are_all(query) else None
    if few is not None:
        return Nearest(*few)
    lattice, most = _lattice_of(query), min(r, _max_distance(query))
    sides = [side for side in _open_sides(query) if side > 0.0]
    share = math.prod([lattice.volume, *sides]) * (k + 2) * query.worlds / max(len(query.found), 1)
    reach = min(most, 1.5 * share ** (1.0 / (int(lattice.periodic.sum()) + len(sides))))

    def find(rows: Rows, count: int, reach: float) -> Candidates:
        images = _images(query, reach, kept)
        if images.tree is None and len(images.source):
            images.tree = make_tree(images.query, parts)
        queries = some_of(images.query._replace(points=query.points, envs=query.envs), rows)
        held = min(count, len(images.source))
        found, apart = find_nearest_points(queries, held, reach, parts, images.tree)
        ids = np.where(found < 0, np.int32(-1), np.append(images.source, np.int32(-1))[found])
        full = may_be_more(found, len(images.source))
        return Candidates(ids, apart, None, _first_in_row(ids), full)

    counted = counted._replace(alone=counted.alone or query.others is None)
    return find_nearest_counted(query, k, counted, find, reach or most, most)


def _lattice_of(query: PointQuery) -> Lattice:
    assert query.lattice is not None
    return query.lattice


def _open_sides(query: PointQuery) -> list[float]:
    """How far points reach where the world is not periodic."""
    lattice = _lattice_of(query)
    normals = lattice.inverse[:, ~lattice.periodic]
    if not normals.size or not len(query.points) or not len(query.found):
        return [0.0] * normals.shape[1]
    both = (by_matrix(points, normals) for points in (query.points, query.found))
    ends = [(along.min(axis=0), along.max(axis=0)) for along in both]
    (low, high), (other_low, other_high) = ends
    sides: list[float] = (np.maximum(high, other_high) - np.minimum(low, other_low)).tolist()
    return sides


def _max_distance(query: PointQuery) -> float:
    """No point is farther than this from the nearest image of another."""
    lattice = _lattice_of(query)
    return (
        lattice.max_distance
        if lattice.periodic.all()
        else 1.001 * math.hypot(lattice.max_distance, *_open_sides(query))
    )


def _first_in_row(numbers: Numbers) -> npt.NDArray[np.bool_]:
    """Where a number occurs first in its row."""
    order = np.argsort(numbers, axis=1, kind="stable")
    ordered = np.take_along_axis(numbers, order, 1)
    first = np.ones(numbers.shape, np.bool_)
    np.put_along_axis(first, order[:, 1:], ordered[:, 1:] != ordered[:, :-1], 1)
    return first


def _images(query: PointQuery, reach: float, kept: Kept | None) -> Images:
    """The images up to a distance, or those that are kept."""
    max_distance = _max_distance(query)
    reach = min(reach, max_distance)
    if kept is not None and kept.images is not None:
        if kept.images.reach >= reach:
            return kept.images
        reach = min(ROOM_TO_GROW * reach, max_distance)
    rows, images = images_around(query.found, _lattice_of(query), reach)
    made = Images(among_others(query, images, rows)._replace(lattice=None), rows.astype(np.int32), reach)
    if kept is not None:
        kept.images = made
    return made
