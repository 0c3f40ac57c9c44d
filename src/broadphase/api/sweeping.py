"""Continuous collision: which boxes meet during a frame, `swept_pairs`.

Two fast boxes may be apart at the beginning and at the end of a frame and overlap in between.  The broad
phase searches the swept AABBs of the boxes; the pairs that it finds are tested exactly
(`broadphase.kernels.movement.time_of_impact`), with rational numbers where two times are too near to each
other for floating point.

Cost: that of the pairs of the swept AABBs.  Long diagonal motions have large bounds: if most boxes fly far
across a crowded world, divide the frame.
"""

from functools import partial
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from broadphase.errors import PairLimitExceeded
from broadphase.inputs.arrays import as_float_array, settled
from broadphase.inputs.boxes import BoxArray
from broadphase.inputs.foreign import WAYS, check_same_crs
from broadphase.inputs.numeric import thread_count
from broadphase.inputs.search import Space, settle
from broadphase.kernels.boxes.overlap import PairFilter
from broadphase.kernels.movement.time_of_impact import UNSURE, meeting_times
from broadphase.methods.in_space import find_in_space
from broadphase.methods.pair_order import one_array
from broadphase.methods.task import NO_LIMIT, Task, pair_limit
from broadphase.runtime import threads
from broadphase.runtime.memory import PairArray, Scratch, borrowed_scratch
from broadphase.runtime.slices import ranges

Times = npt.NDArray[np.float64]

_AXES = "xyz"
_AT_ONCE = 500_000  # pairs


class SweptPairs(NamedTuple):
    """The pairs that meet during the frame, and when."""

    pairs: PairArray
    """``(m, 2)`` int32 rows ``i < j``, sorted by ``i``, then by ``j``."""
    times: Times
    """``(m,)``: the first moment at which they overlap, from 0, the beginning, to 1, the end."""

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
        return SweptPairs(self.pairs[order], self.times[order])


def swept_pairs(
    boxes: Any,
    motion: Any,
    *,
    touching: bool = True,
    static: Any = None,
    categories: Any = None,
    masks: Any = None,
    env: Any = None,
    threads: int | None = None,
    max_pairs: int | None = None,
) -> SweptPairs:
    """Find every pair of boxes that meet while they move straight within a frame, and when.

    Parameters
    ----------
    boxes : array_like, shape (n, 2 * dim)
        The boxes at the beginning of the frame; as for `pairs`.
    motion : array_like, shape (n, dim), or a table with columns ``dx, dy`` (and ``dz``)
        How far each box goes; finite.
    touching : bool
        Whether touching is enough.  Without it the boxes must overlap at some moment: two boxes that both
        have no thickness on an axis never do.
    static, categories, masks, env, threads
        As for `pairs`.
    max_pairs : int, optional
        Raise an error rather than return more pairs than this.  (Memory is taken for all pairs whose bounds
        overlap.)

    Returns
    -------
    SweptPairs
        ``pairs`` and ``times``.  A pair that overlaps at the beginning has time 0.

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
    units in the last place of a float64.

    Examples
    --------
    >>> import broadphase as bp
    >>> bullet, wall = [0, 0, 1, 1], [50, -9, 50.1, 9]
    >>> bp.swept_pairs([bullet, wall], [[98, 0], [0, 0]])
    SweptPairs(pairs=array([[0, 1]], dtype=int32), times=array([0.5]))
    """
    check_same_crs(boxes, "boxes", motion, "motion")
    parts, limit, touching = thread_count(threads), pair_limit(max_pairs), bool(touching)
    given, motion = settle(boxes, static, categories, masks, None, env), settled(motion, "motion", WAYS)
    starts, rules, space = given.checked(parts)
    motions = _as_motion(motion, starts)
    with np.errstate(over="ignore"):
        goals = starts + np.concatenate((motions, motions), axis=1)
    return meeting_pairs(starts, goals, "motion", touching, rules, space, parts, limit)


def meeting_pairs(
    starts: BoxArray,
    goals: BoxArray,
    name: str,
    touching: bool,
    rules: PairFilter,
    space: Space | None,
    parts: int,
    limit: int,
) -> SweptPairs:
    """The pairs of valid boxes that meet between ``starts`` and ``goals``, of the same type and shape."""
    unlike = np.isinf(starts) != np.isinf(goals)
    if unlike.any():
        row, column = np.argwhere(unlike)[0].tolist()
        axis = f"{('min', 'max')[column // (starts.shape[1] // 2)]}_{_AXES[column % (starts.shape[1] // 2)]}"
        raise ValueError(
            f"{name}[{row}] brings {axis} from {starts[row, column]:g} to {goals[row, column]:g}; an edge "
            "cannot come from infinity or go there within a frame"
        )
    with borrowed_scratch() as scratch:
        task = Task(_bounds(starts, goals), True, rules, parts, scratch=scratch)
        found = find_in_space("auto", task, space or Space(None, None))
        near = one_array(found.chunks, len(starts), not found.ordered, Scratch(), parts)
    times = _times(starts, goals, near, touching, parts)
    kept = np.flatnonzero(times >= 0.0)
    if limit != NO_LIMIT and len(kept) > limit:
        raise PairLimitExceeded(limit, "meet on their way; raise max_pairs, or divide the frame")
    return SweptPairs(near[kept], times[kept])


def _as_motion(motion: Any, boxes: BoxArray) -> BoxArray:
    dim = boxes.shape[1] // 2
    motions = as_float_array(motion, "motion")
    if motions.size == 0 and len(boxes) == 0:
        return np.empty((0, dim), boxes.dtype)
    if motions.shape != (len(boxes), dim):
        raise ValueError(
            f"motion must have shape ({len(boxes)}, {dim}), a row for each box; got {motions.shape}"
        )
    finite = np.isfinite(motions)
    if not finite.all():
        row = int(finite.all(axis=1).argmin())
        raise ValueError(f"motion[{row}] = {motions[row].tolist()} is not finite")
    return motions


def _bounds(starts: BoxArray, goals: BoxArray) -> BoxArray:
    dim = starts.shape[1] // 2
    bounds = np.empty_like(starts)
    np.minimum(starts[:, :dim], goals[:, :dim], out=bounds[:, :dim])
    np.maximum(starts[:, dim:], goals[:, dim:], out=bounds[:, dim:])
    return bounds


def _times(starts: BoxArray, goals: BoxArray, near: PairArray, touching: bool, parts: int) -> Times:
    """When each pair meets; -1 for never."""
    times = np.empty(len(near))
    first, last = starts.astype(np.float64), goals.astype(np.float64)

    def test(begin: int, end: int) -> None:
        for low, high in ranges(begin, end, _AT_ONCE):
            meeting_times(first, last, near[low:high], touching, times[low:high])

    shares = threads.shares(len(near), parts if len(near) > _AT_ONCE // 10 else 1)
    threads.run_all([partial(test, *share) for share in shares], parts)
    unsure = times == UNSURE
    for row in np.flatnonzero(unsure).tolist() if unsure.any() else ():
        times[row] = _exactly(first, last, near[row].tolist(), touching)
    return times


def _exactly(starts: BoxArray, goals: BoxArray, pair: list[int], touching: bool) -> float:
    """The same for one pair, with rational numbers."""
    from fractions import Fraction  # imported here because it is hardly ever needed

    dim = starts.shape[1] // 2
    since, until = Fraction(0), Fraction(1)
    for a, b in (pair, pair[::-1]):
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
