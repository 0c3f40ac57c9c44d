"""Continuous collision: which boxes or spheres meet during a frame, `swept_pairs`.

Two fast boxes may be apart at the beginning and at the end of a frame and overlap in between.  The broad
phase searches the swept AABBs of the boxes; the pairs that it finds are tested exactly
(`broadphase.kernels.movement.time_of_impact`), with rational numbers where two times are too near to each
other for floating point.  In a periodic world each pair is tested for all images that it may meet.

Cost: that of the pairs of the swept AABBs.  Up to some 250 boxes are one call of a kernel.  Long
diagonal motions have large bounds: if most boxes fly far across a crowded world, divide the frame.
"""

import math
from collections.abc import Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from broadphase.errors import PairLimitExceeded, with_hints
from broadphase.inputs import Lengths, Numbers, RowsLike
from broadphase.inputs.arrays import BOXES, NUMBERS, POINTS, WAYS, as_rows, check_same_crs, settled
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
from broadphase.inputs.numeric import thread_count
from broadphase.inputs.periods import Period, as_period, settled_period
from broadphase.inputs.points import as_radii
from broadphase.inputs.search import Space, as_excluded, as_filter, both_envs, join_filter
from broadphase.kernels.boxes.few_boxes import MOST_TESTS
from broadphase.kernels.boxes.overlap import PairFilter
from broadphase.kernels.movement.time_of_impact import MOST_IMAGES, first_meetings, meet_few, take_ways
from broadphase.methods.in_space import find_in_space
from broadphase.methods.pair_order import one_array, pair_keys
from broadphase.methods.task import Task, pair_limit
from broadphase.periods.ghosts import wrap_points, wrapped_boxes
from broadphase.runtime import threads
from broadphase.runtime.arrays import briefly
from broadphase.runtime.memory import PairArray, Scratch, borrowed_scratch

Times = npt.NDArray[np.float64]

_AXES, _OPEN = "xyz", {dim: np.full(dim, np.inf) for dim in (2, 3)}
_NONE, _NO_ENVS = np.empty(0), np.empty(0, np.int64)


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
        found = SweptPairs(self.pairs[order], self.times[order])
        if self.closest_time is not None and self.closest_distance is not None:
            found.closest_time = self.closest_time[order]
            found.closest_distance = self.closest_distance[order]
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
    A box ends at ``boxes + motion``, in float32 where both are, and each of its edges moves there at
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
    sizes = [settled(given[k], names[k], NUMBERS) for k in (0, 1)] if spheres else [None, None]
    exclude = settled(exclude, "exclude")
    static, categories = settled(static, "static"), settled(categories, "categories")
    masks = settled(masks, "masks")
    if first.ndim == 3:
        static, categories, masks = (in_rows(values, first) for values in (static, categories, masks))
        motion, other_motion = in_rows(motion, first), in_rows(other_motion, second)
        sizes = [in_rows(sizes[0], first), in_rows(sizes[1], second)]
    period, env = settled_period(period), settled_envs(env) if both else settled(env, "env")
    widths = POINT_WIDTHS if spheres else BOX_WIDTHS
    if second is None:
        first, env = rows_of_worlds(first, env, "boxes", widths)
    else:
        first, second, env = rows_of_both(first, second, env, ("boxes", "other"), widths)
    sides = [_as_moving(first, sizes[0], motion, period, ("boxes", "motion", names[0]))]
    if both:
        sides += [_as_moving(second, sizes[1], other_motion, period, ("other", "other_motion", names[1]))]
    (n, width), (m, other_width) = sides[0].places.shape, sides[-1].places.shape
    if width != other_width:
        raise ValueError(
            f"boxes and other have shapes {(n, width)} and {(m, other_width)}; give both in one dimension"
        )
    rules, envs = as_filter(n, static, categories, masks), both_envs(env, n, m) if both else as_env(env, n)
    space = Space(as_period(period, sides[0].dim), envs)
    excluded = None if exclude is None else as_excluded(exclude, n, m, not both)
    return meeting_pairs(sides, touching, rules, space, parts, limit, bool(closest), excluded)


class Moving(NamedTuple):
    """Boxes or spheres, and how far they go; the numbers in rows are looked at by the kernel."""

    places: Times
    """Boxes, or the centres of spheres."""
    motion: Times
    """Ways, or goals."""
    radii: Times
    """Of spheres."""
    single: bool = False
    """Whether goals are rounded to float32."""
    names: tuple[str, str, str] = ("boxes", "motion", "radii")

    @property
    def dim(self) -> int:
        """2 or 3."""
        width: int = self.places.shape[1]
        return width if width < 4 else width // 2


def _as_moving(places: Any, radii: Any, motion: Any, period: Any, names: tuple[str, str, str]) -> Moving:
    """Check the shapes of what moves, and of how far."""
    name, motion_name, radii_name = names
    sizes: Any = _NONE
    if radii is not None:
        places = as_rows(places, name, POINT_WIDTHS, "(n, 2) or (n, 3) with radii=")
        sizes = as_radii(radii, len(places), places.dtype, radii_name)
    elif places.ndim == 2 and places.shape[1] in POINT_WIDTHS:
        raise ValueError(
            f"{name} must be boxes; got shape {places.shape}: "
            f"of points, {radii_name}= are the radii of circles"
        )
    else:
        places = as_rows(places, name, BOX_WIDTHS, "(n, 4) in 2-D or (n, 6) in 3-D, rows of [min..., max...]")
    dim = places.shape[1] // (2 if radii is None else 1)
    if motion.size == 0 and len(places) == 0:
        motion = np.empty((0, dim))
    if motion.shape != (len(places), dim):
        raise ValueError(
            f"{motion_name} must have shape ({len(places)}, {dim}), a row for each box; got {motion.shape}"
        )
    single = period is None and places.itemsize == motion.itemsize == 4
    if not places.itemsize == motion.itemsize == sizes.itemsize == 8:
        places, motion, sizes = (one.astype(np.float64) for one in (places, motion, sizes))
    return Moving(places, motion, sizes, single, names)


def _refuse(moving: Moving, period: Period | None, touching: bool) -> None:
    """Raise ``ValueError`` for what is not sound, or has no place in a world with a period."""
    places, motion, _, single, (name, motion_name, _) = moving
    are_round = places.shape[1] in POINT_WIDTHS
    if are_round:
        _check_finite(places, name)
    else:
        checked_boxes(places, name, 1, period)
    _check_finite(motion, motion_name)
    with np.errstate(over="ignore", invalid="ignore"):
        goals = places + np.tile(motion, places.shape[1] // moving.dim)
        check_ends(places, goals.astype(np.float32) if single else goals, motion_name)
    if period is not None and are_round:
        wrap_points(places, period, name)
    elif period is not None:
        wrapped_boxes(places, period, touching, np.empty_like(places), 1, name)


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


def meeting_pairs(
    sides: Sequence[Moving],
    touching: bool,
    rules: PairFilter,
    space: Space,
    parts: int,
    limit: int,
    closest: bool = False,
    excluded: npt.NDArray[np.int32] | None = None,
    are_goals: bool = False,
) -> SweptPairs:
    """The pairs of one side, or of two, that meet on their way."""
    first, second, among, (period, envs) = sides[0], sides[-1], len(sides) == 1, space
    n, m, lengths = len(first.places), len(second.places), _OPEN[first.dim] if period is None else period
    given, offset = ((first[:4], second[:4]), among, are_goals, lengths, touching), 0 if among else n
    found: Any = ()
    if n * m <= MOST_TESTS and excluded is None:
        first_envs, second_envs = (_NO_ENVS, _NO_ENVS) if envs is None else (envs[:n], envs[offset:])
        *part, ways = meet_few(*given, rules, first_envs, second_envs, closest)
        found = (part,) if part[-1] >= 0.0 else ()  # the images: -1 for what is not searched here
    if not found:
        *ways, bounds, sound = take_ways(*given)
        if not sound:
            for side in sides:
                _refuse(side, period, touching)
        rules = rules if among else join_filter(n, m)
        with borrowed_scratch() as scratch:
            overlaps = find_in_space("auto", Task(bounds, True, rules, parts, scratch=scratch), space)
            pairs = one_array(overlaps.chunks, len(bounds), not overlaps.ordered, Scratch(), parts)
        if excluded is not None:
            keys = pair_keys([excluded.T + np.array((0, offset))])
            pairs = np.ascontiguousarray(pairs[~np.isin(pair_keys([pairs]), keys)])
        found = threads.run_all(
            [
                partial(first_meetings, *ways, bounds, lengths, pairs[begin:end], offset, touching, closest)
                for begin, end in threads.shares(len(pairs), parts, cost=4.0)
            ],
            parts,
        )
    met, times, moments = _decided(found[0], ways, offset, touching)
    if len(found) > 1:
        more = (_decided(part, ways, offset, touching) for part in found[1:])
        met, times, moments = map(np.concatenate, zip((met, times, moments), *more, strict=True))
    if len(times) > limit:
        raise PairLimitExceeded(limit, "meet on their way; raise max_pairs, or divide the frame")
    meeting = SweptPairs(met, times)
    if closest:
        meeting.closest_time, meeting.closest_distance = np.ascontiguousarray(moments.T)
    return meeting


def _decided(found: Any, ways: Any, offset: int, touching: bool) -> tuple[PairArray, Times, Times]:
    """Pairs that meet, when, and when they are nearest, after `_exactly` for what was left unsure."""
    met, times, closest, unsure, images = found
    if images > 0.0:
        i, j = met[-1].tolist()
        raise ValueError(
            f"rows {i} and {j} pass {images:.3g} images of each other within the frame, as a motion "
            f"leads around the world; divide the frame, so that there are at most {MOST_IMAGES}"
        )
    if len(unsure) == 0:
        return met, times, closest
    for row, moment, distance, *shifts in unsure.tolist():
        k = int(row)
        time = _exactly(ways, [met.item(k, 0), met.item(k, 1) + offset], shifts, touching)
        known = times.item(k), *closest[k, ::-1].tolist()
        if time >= 0.0 and (times[k] < 0.0 or (time, distance, moment) < known):
            times[k], closest[k] = time, (moment, distance)
    kept = times >= 0.0
    return met[kept], times[kept], closest[kept]


def _check_finite(rows: BoxArray, name: str) -> None:
    finite = np.isfinite(rows)
    if not finite.all():
        row = int(finite.all(axis=1).argmin())
        raise ValueError(f"{name}[{row}] = {rows[row].tolist()} is not finite")


def _exactly(ways: Any, pair: list[int], shifts: list[float], touching: bool) -> float:
    """When a pair that is moved by shifts meets, with rational numbers; -1 for never."""
    first, last, radii = ways
    columns = first.shape[1]
    dim = columns if columns in POINT_WIDTHS else columns // 2
    moved = np.tile(np.reshape(shifts, (2, 3))[:, :dim], columns // dim)
    starts, goals = first[pair] + moved, last[pair] + moved
    if columns == dim:
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
