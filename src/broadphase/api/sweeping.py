"""Continuous collision: which boxes or spheres meet during a frame, `swept_pairs`.

Two fast boxes may be apart at the beginning and at the end of a frame and overlap in between.  The broad
phase searches the swept AABBs of the boxes; the pairs that it finds are tested exactly
(`broadphase.kernels.movement.time_of_impact`), with rational numbers where two times are too near to each
other for floating point.  In a periodic world each pair is tested for all images that it may meet.

Cost: that of the pairs of the swept AABBs.  Long diagonal motions have large bounds: if most boxes fly far
across a crowded world, divide the frame.
"""

import math
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from broadphase.errors import PairLimitExceeded, with_hints
from broadphase.inputs import Lengths, Numbers, RowsLike
from broadphase.inputs.arrays import as_float_array, as_rows, settled
from broadphase.inputs.boxes import BoxArray, checked_boxes
from broadphase.inputs.environments import (
    BOX_WIDTHS,
    POINT_WIDTHS,
    as_env,
    in_rows,
    rows_of_both,
    rows_of_worlds,
    settled_envs,
)
from broadphase.inputs.foreign import BOXES, NUMBERS, POINTS, WAYS, check_same_crs
from broadphase.inputs.numeric import thread_count
from broadphase.inputs.periods import Period, as_period, settled_period
from broadphase.inputs.points import as_radii
from broadphase.inputs.search import Space, as_excluded, as_filter, both_envs, join_filter
from broadphase.kernels.boxes.overlap import PairFilter
from broadphase.kernels.movement.time_of_impact import MOST_IMAGES, bound_ways, first_meetings
from broadphase.methods.in_space import find_in_space
from broadphase.methods.pair_order import one_array
from broadphase.methods.task import NO_LIMIT, Task, pair_limit
from broadphase.periods.ghosts import wrap_points, wrapped_boxes
from broadphase.runtime import threads
from broadphase.runtime.arrays import briefly
from broadphase.runtime.memory import PairArray, Scratch, borrowed_scratch

Times = npt.NDArray[np.float64]

_AXES, _OPEN = "xyz", np.full(3, np.inf)


class _PairsAndTimes(NamedTuple):
    pairs: PairArray
    """``(m, 2)`` int32 rows ``i < j``, sorted by ``i``, then by ``j``."""
    times: Times
    """``(m,)``: the first moment at which they overlap, from 0, the beginning, to 1, the end."""


@briefly
class SweptPairs(_PairsAndTimes):
    """The pairs that meet during the frame, and when: a tuple of ``pairs`` and ``times``."""

    closest_time: Times | None = None
    """``(m,)``: when the centres are closest, in 0..1, the first moment if several; with ``closest=True``."""
    closest_distance: Times | None = None
    """``(m,)``: how far apart the centres are then."""

    def in_time(self) -> "SweptPairs":
        """The same pairs sorted by time, then by pair: in the order in which they happen.

        Examples
        --------
        >>> import broadphase as bp
        >>> boxes = [[0, 0, 1, 1], [9, 0, 10, 1], [4, 0, 5, 1]]
        >>> bp.swept_pairs(boxes, [[10, 0], [0, 0], [0, 0]]).in_time().pairs
        array([[0, 2],
               [0, 1]], dtype=int32)
        """
        order = np.argsort(self.times, kind="stable")
        return self._of_rows(order, self.pairs)

    def _of_rows(self, rows: npt.NDArray[np.intp], pairs: PairArray) -> "SweptPairs":
        """Some rows, or all in another order, of these pairs."""
        found = SweptPairs(pairs[rows], self.times[rows])
        if self.closest_time is not None and self.closest_distance is not None:
            found.closest_time, found.closest_distance = self.closest_time[rows], self.closest_distance[rows]
        return found


@with_hints(velocity="motion= is the way of the whole frame: velocity times its seconds")
def swept_pairs(
    boxes: RowsLike,
    motion: RowsLike,
    *,
    radii: Any = None,
    other: RowsLike | None = None,
    other_motion: Any = None,
    period: Lengths | None = None,
    touching: bool = True,
    static: Numbers | None = None,
    categories: Numbers | None = None,
    masks: Numbers | None = None,
    env: Numbers | None = None,
    threads: int | None = None,
    max_pairs: int | None = None,
    closest: bool = False,
    exclude: Any = None,
    other_radii: Any = None,
) -> SweptPairs:
    """Find every pair of boxes or spheres that meet while they move straight within a frame, and when.

    Parameters
    ----------
    boxes : array_like, shape (n, 2 * dim)
        The boxes at the beginning of the frame; as for `pairs`.  With ``radii=`` the centres of circles or
        spheres, ``(n, dim)``, finite.
    motion : array_like, shape (n, dim), or a table with columns ``dx, dy`` (and ``dz``)
        How far each box goes; finite.
    radii : float or array_like, shape (n,), optional
        The radii of circles or spheres; with ``other=`` those of ``boxes`` if ``other_radii=`` is given, else
        one number for all, or a tuple of two, those of both.
    other, other_motion : array_like, optional
        Find the boxes that meet these, instead of each other.
    period : sequence of float or None, optional
        As for `pairs`; motions may lead around the world, also several times, but past no more than a
        million images of another box.
    touching : bool
        Whether touching is enough.  Without it the boxes must overlap at some moment: two boxes that both
        have no thickness on an axis never do.
    static, categories, masks, env, threads
        As for `pairs`.  With ``other=``, ``env`` is a pair, and the three others are not there.
    max_pairs : int, optional
        Raise an error rather than return more pairs than this.  (Memory is taken for all pairs whose bounds
        overlap.)
    closest : bool
        Also return, as ``closest_time`` and ``closest_distance``, when within the frame the centres of each
        pair that meets are closest, and their distance then.
    exclude : array_like of int, shape (k, 2), optional
        Pairs of rows that do not count, in any order, such as a bullet and who fired it; with ``other=`` a
        row of the boxes and one of the others.
    other_radii : float or array_like, shape (m,), optional
        The radii of ``other``.

    Returns
    -------
    SweptPairs
        ``pairs`` and ``times``, with ``closest=True`` also attributes ``closest_time`` and
        ``closest_distance``.  A pair that overlaps at the beginning has time 0.  With ``other=`` a pair is
        a row of the boxes and a row of the others.

    Raises
    ------
    TypeError, ValueError, PairLimitExceeded
        As for `pairs`; also if a motion is not finite, a goal is too far away for a float, or
        ``boxes`` and ``motion`` have different coordinate systems (``.crs``).

    Notes
    -----
    A box ends at ``boxes + motion``, rounded in the type of the boxes, and each of its edges moves there at
    constant speed.  Which pairs meet is decided exactly, as with rational numbers; so nothing tunnels,
    however fast, and pairs that overlap at the end are always found.  The time is rounded to within three
    units in the last place of a float64; that of spheres has an error of some units more.

    With a period all of this is in float64, after the box has been wrapped into the world.  Images of it are
    whole periods away, rounded.  The time is that of the image which is met first; the closest approach too,
    and if several images are met then, it is the closest of these.

    The closest approach is computed in float64, with an error of some units in the last place of the
    coordinates.  It is NaN where a box reaches to infinity, as that has no centre.

    Examples
    --------
    >>> import broadphase as bp
    >>> bullet, wall = [0, 0, 1, 1], [50, -9, 50.1, 9]
    >>> bp.swept_pairs([bullet, wall], [[98, 0], [0, 0]])
    SweptPairs(pairs=array([[0, 1]], dtype=int32), times=array([0.5]))
    >>> balls = [[0, 0], [50, 0]]
    >>> bp.swept_pairs(balls, [[-96, 0], [0, 0]], radii=1.0, period=(100, 100))
    SweptPairs(pairs=array([[0, 1]], dtype=int32), times=array([0.5]))
    >>> passing = bp.swept_pairs([[0, 0], [10, 1]], [[20, 0], [0, 0]], radii=1.0, closest=True)
    >>> passing.closest_time, passing.closest_distance
    (array([0.5]), array([1.]))
    """
    check_same_crs(boxes, "boxes", motion, "motion")
    parts, limit, touching = thread_count(threads), pair_limit(max_pairs), bool(touching)
    both = other is not None
    if both != (other_motion is not None):
        raise ValueError("other and other_motion belong together; give both, zeros for what does not move")
    if both and not (static is None and categories is None and masks is None):
        raise ValueError("static, categories and masks are not there with other=; leave them out")
    spheres = radii is not None
    if both:
        check_same_crs(boxes, "boxes", other, "other")
    first = settled(boxes, "boxes", POINTS if spheres else BOXES)
    second = settled(other, "other", POINTS if spheres else BOXES) if both else None
    motion = settled(motion, "motion", WAYS)
    other_motion = settled(other_motion, "other_motion", WAYS) if both else None
    if other_radii is not None and not (both and spheres):
        raise ValueError("other_radii are those of other=, beside radii=; give all three")
    given, names = (radii, other_radii), ("radii", "other_radii")
    if other_radii is None:
        given = radii if both and isinstance(radii, tuple) and len(radii) == 2 else (radii, radii)
        names = ("radii", "radii")
    sizes = [
        settled(size, name, NUMBERS) if spheres else None for size, name in zip(given, names, strict=True)
    ]
    exclude = settled(exclude, "exclude")
    static, categories = settled(static, "static"), settled(categories, "categories")
    masks = settled(masks, "masks")
    if first.ndim == 3:
        static, categories, masks = (in_rows(values, first) for values in (static, categories, masks))
        motion, other_motion = in_rows(motion, first), in_rows(other_motion, second)
        sizes = [in_rows(size, side) for size, side in zip(sizes, (first, second), strict=True)]
    period, env = settled_period(period), settled_envs(env) if both else settled(env, "env")
    widths = POINT_WIDTHS if spheres else BOX_WIDTHS
    if second is None:
        first, env = rows_of_worlds(first, env, "boxes", widths)
        movers = _as_moving(first, sizes[0], motion, ("boxes", "motion", "radii"), period, parts)
        n, rules = len(movers.starts), as_filter(len(movers.starts), static, categories, masks)
        excluded = None if exclude is None else as_excluded(exclude, n, n, True)
        space = _space_of(movers, period, env, None)
        return meeting_pairs(movers, touching, rules, space, parts, limit, bool(closest), excluded)
    first, second, env = rows_of_both(first, second, env, ("boxes", "other"), widths)
    movers = _as_moving(first, sizes[0], motion, ("boxes", "motion", names[0]), period, parts)
    theirs = _as_moving(second, sizes[1], other_motion, ("other", "other_motion", names[1]), period, parts)
    if movers.starts.shape[1] != theirs.starts.shape[1]:
        raise ValueError(
            f"boxes and other have shapes {movers.starts.shape} and {theirs.starts.shape}; "
            "give both in one dimension"
        )
    n, m = len(movers.starts), len(theirs.starts)
    together = Moving(
        np.concatenate((movers.starts, theirs.starts)),
        np.concatenate((movers.goals, theirs.goals)),
        None
        if movers.radii is None or theirs.radii is None
        else np.concatenate((movers.radii, theirs.radii)),
    )
    space, sides = _space_of(together, period, env, (n, m)), np.array((0, n), np.int32)
    excluded = None if exclude is None else as_excluded(exclude, n, m, False) + sides[:, None]
    rules = join_filter(n, m)
    found = meeting_pairs(together, touching, rules, space, parts, limit, bool(closest), excluded)
    return found._of_rows(np.arange(len(found.times)), found.pairs - sides)


class Moving(NamedTuple):
    """Boxes or spheres at both ends of a frame."""

    starts: BoxArray
    """Boxes, or the centres of spheres."""
    goals: BoxArray
    radii: BoxArray | None = None
    """Of spheres; None for boxes."""

    @property
    def dim(self) -> int:
        """2 or 3."""
        dim: int = self.starts.shape[1] // (2 if self.radii is None else 1)
        return dim


def _as_moving(
    places: Any, radii: Any, motion: Any, names: tuple[str, str, str], period: Any, parts: int
) -> Moving:
    """Check what moves, and how far; the names are those of places, motion and radii."""
    name, motion_name, radii_name = names
    if radii is None:
        if places.ndim == 2 and places.shape[1] in POINT_WIDTHS:
            raise ValueError(
                f"{name} must be boxes; got shape {places.shape}: "
                f"of points, {radii_name}= are the radii of circles"
            )
        starts = checked_boxes(places, name, parts, period)
        sizes, widened = None, 2
    else:
        starts = as_rows(places, name, POINT_WIDTHS, "(n, 2) or (n, 3) with radii=")
        sizes, widened = as_radii(radii, len(starts), starts.dtype, radii_name), 1
    if period is not None:
        starts = starts.astype(np.float64, copy=False)
    motions = _as_motion(motion, starts, starts.shape[1] // widened, motion_name)
    with np.errstate(over="ignore", invalid="ignore"):
        goals = starts + np.concatenate((motions,) * widened, axis=1)
    if not np.isfinite(goals).all():
        if radii is not None:
            _check_finite(starts, name)
        _check_finite(motions, motion_name)
        check_ends(starts, goals, motion_name)
    return Moving(starts, goals, sizes)


def check_ends(starts: BoxArray, goals: BoxArray, name: str) -> None:
    """Raise ``ValueError`` where an edge would move from or to infinity."""
    unlike = np.isinf(starts) != np.isinf(goals)
    if unlike.any():
        row, column = np.argwhere(unlike)[0].tolist()
        half = starts.shape[1] // 2
        axis = f"{('min', 'max')[column // half]}_{_AXES[column % half]}" if half > 1 else _AXES[column]
        raise ValueError(
            f"{name}[{row}] brings {axis} from {starts[row, column]:g} to {goals[row, column]:g}; an edge "
            "cannot come from infinity or go there within a frame"
        )


def _space_of(moving: Moving, period: Any, env: Any, sides: tuple[int, int] | None) -> Space | None:
    lengths = None if period is None else as_period(period, moving.dim)
    envs = as_env(env, len(moving.starts)) if sides is None else both_envs(env, *sides)
    return None if lengths is None and envs is None else Space(lengths, envs)


def meeting_pairs(
    moving: Moving,
    touching: bool,
    rules: PairFilter,
    space: Space | None,
    parts: int,
    limit: int,
    closest: bool = False,
    excluded: npt.NDArray[np.int32] | None = None,
) -> SweptPairs:
    """The pairs that meet on their way."""
    space = space or Space(None, None)
    moving, bounds = _wrapped(moving, space.period, touching, parts)
    with borrowed_scratch() as scratch:
        found = find_in_space("auto", Task(bounds, True, rules, parts, scratch=scratch), space)
        candidates = one_array(found.chunks, len(bounds), not found.ordered, Scratch(), parts)
    if excluded is not None:
        candidates = np.ascontiguousarray(candidates[~np.isin(_keys(*candidates.T), _keys(*excluded))])
    times, near = _first_times(moving, bounds, candidates, space.period, touching, parts, closest)
    kept = np.flatnonzero(times >= 0.0)
    if limit != NO_LIMIT and len(kept) > limit:
        raise PairLimitExceeded(limit, "meet on their way; raise max_pairs, or divide the frame")
    meeting = SweptPairs(candidates[kept], times[kept])
    if closest:
        meeting.closest_time, meeting.closest_distance = np.ascontiguousarray(near[kept].T)
    return meeting


def _keys(i: npt.NDArray[Any], j: npt.NDArray[Any]) -> npt.NDArray[np.int64]:
    keys: npt.NDArray[np.int64] = i.astype(np.int64) << 32 | j
    return keys


def _wrapped(
    moving: Moving, period: Period | None, touching: bool, parts: int
) -> tuple[Moving, npt.NDArray[Any]]:
    """The same, wrapped into the world at the beginning, and bounds of all of the way."""
    starts, goals, radii = moving
    bounds = np.empty((len(starts), 2 * moving.dim), starts.dtype)
    sizes = starts[:0, 0] if radii is None else radii
    inside, longest = starts, 0.0
    if period is not None:
        longest, goals = float(period[period < np.inf].max()), goals.copy()
        if radii is None:
            inside = np.empty_like(starts)
            wrapped_boxes(starts, period, touching, inside, parts)
        else:
            inside, sizes = (
                wrap_points(starts.astype(np.float64), period, "boxes"),
                radii.astype(np.float64, copy=False),
            )
    bound_ways(starts, inside, goals, np.ascontiguousarray(sizes), longest, bounds)
    return Moving(inside, goals, None if radii is None else sizes), bounds


def _first_times(
    moving: Moving,
    bounds: npt.NDArray[Any],
    candidates: PairArray,
    period: Period | None,
    touching: bool,
    parts: int,
    closest: bool,
) -> tuple[Times, Times]:
    """When each pair first meets, whichever images of both; -1 for never.

    And, if wanted, when the centres are nearest, and how far apart: of the images that are met first the
    nearest.
    """
    times, near = np.empty(len(candidates)), np.empty((len(candidates) if closest else 0, 2))
    first, last = (ends.astype(np.float64, copy=False) for ends in (moving.starts, moving.goals))
    radii = first[:0, 0].copy() if moving.radii is None else moving.radii.astype(np.float64, copy=False)
    known = (
        first,
        last,
        radii,
        first if period is None else bounds,
        _OPEN[: moving.dim] if period is None else period,
    )

    def test(begin: int, end: int) -> tuple[int, Times]:
        share = candidates[begin:end], touching, times[begin:end], near[begin:end]
        row, images, unsure, count = first_meetings(*known, *share)
        if row >= 0:
            i, j = candidates[begin + row].tolist()
            raise ValueError(
                f"rows {i} and {j} pass {images:.3g} images of each other within the frame, as a motion "
                f"leads around the world; divide the frame, so that there are at most {MOST_IMAGES}"
            )
        return begin, unsure[:count]

    shares = threads.shares(len(candidates), parts, cost=4.0)
    for begin, unsure in threads.run_all([partial(test, *share) for share in shares], parts):
        for row, moment, distance, *shifts in unsure.tolist():
            k = begin + int(row)
            time = _exactly(first, last, radii, candidates[k].tolist(), shifts, touching)
            known_now = times.item(k), *(near[k, ::-1].tolist() if closest else (0.0, 0.0))
            if time >= 0.0 and (times[k] < 0.0 or (time, distance, moment) < known_now):
                times[k], near[k : k + 1] = time, (moment, distance)
    return times, near


def _as_motion(motion: Any, places: BoxArray, dim: int, name: str) -> BoxArray:
    motions = as_float_array(motion, name)
    if motions.size == 0 and len(places) == 0:
        return np.empty((0, dim), places.dtype)
    if motions.shape != (len(places), dim):
        raise ValueError(
            f"{name} must have shape ({len(places)}, {dim}), a row for each box; got {motions.shape}"
        )
    return motions


def _check_finite(rows: BoxArray, name: str) -> None:
    finite = np.isfinite(rows)
    if not finite.all():
        row = int(finite.all(axis=1).argmin())
        raise ValueError(f"{name}[{row}] = {rows[row].tolist()} is not finite")


def _exactly(
    first: Times, last: Times, radii: Times, pair: list[int], shifts: list[float], touching: bool
) -> float:
    """When a pair that is moved by shifts meets, with rational numbers; -1 for never."""
    dim = first.shape[1] // (1 if len(radii) else 2)
    moved = np.tile(np.reshape(shifts, (2, 3))[:, :dim], 1 if len(radii) else 2)
    starts, goals = first[pair] + moved, last[pair] + moved
    if len(radii):
        ends = (starts[1] - starts[0]).tolist(), (goals[1] - goals[0]).tolist()
        return _meeting_of_spheres(*ends, float(radii[pair].sum()), touching)
    return _meeting_of_boxes(starts, goals, touching)


def _meeting_of_boxes(starts: Times, goals: Times, touching: bool) -> float:
    """The same for two boxes."""
    from fractions import Fraction  # imported here because it is hardly ever needed

    dim = starts.shape[1] // 2
    since, until = Fraction(0), Fraction(1)
    for a, b in ((0, 1), (1, 0)):
        for axis in range(dim):
            ends = starts[a, axis], starts[b, dim + axis], goals[a, axis], goals[b, dim + axis]
            if not np.isfinite(ends).all():
                continue  # infinite at both ends, so the same all the time
            low, high, low_goal, high_goal = map(Fraction, map(float, ends))
            before, after = low - high, low_goal - high_goal
            if before != after:
                when = before / (before - after)
                since, until = (max(since, when), until) if after < before else (since, min(until, when))
    return float(since) if since < until or (touching and since == until) else -1.0


def _meeting_of_spheres(start: list[float], goal: list[float], reach: float, touching: bool) -> float:
    """When two spheres first meet: 0 to 1, or -1 for never; decided with rational numbers.

    ``start`` and ``goal`` are the offsets from the first to the second centre at both ends of the frame,
    ``reach`` the sum of the radii.

    Examples
    --------
    >>> _meeting_of_spheres([4.0, 0.0], [-4.0, 0.0], 2.0, True)
    0.25
    """
    from fractions import Fraction  # imported here because it is hardly ever needed

    if math.isinf(reach):
        return 0.0
    places = [Fraction(value) for value in (*start, *goal, reach)]
    largest = max(map(abs, places)) or Fraction(1)
    *ends, limit = (place / largest for place in places)
    first, last = ends[: len(start)], ends[len(start) :]
    way = [b - a for a, b in zip(first, last, strict=True)]
    outside = sum((a * a for a in first), -limit * limit)
    if outside < 0 or (outside == 0 and touching):
        return 0.0
    product = sum((a * b for a, b in zip(first, way, strict=True)), Fraction(0))
    length = sum((b * b for b in way), Fraction(0))
    if product >= 0:  # they part
        return -1.0
    roots = product * product - length * outside
    deepest = -roots if -product < length else sum((b * b for b in last), -limit * limit)
    if deepest > 0 or (deepest == 0 and not touching):
        return -1.0
    return min(float(outside / (-product + Fraction(math.sqrt(abs(roots))))), 1.0)
