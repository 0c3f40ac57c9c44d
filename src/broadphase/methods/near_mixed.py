"""Points near each other whose radii differ much: the few large ones apart from all others.

Cells are as wide as the two largest radii together (`broadphase.methods.near_cells`), so one giant would make
every point look at all others.  The small ones are searched among themselves, then what is near the giants.

Cost: that of the small ones, and for each giant at most all points.
"""

import numpy as np
import numpy.typing as npt

from broadphase.errors import PairLimitExceeded
from broadphase.kernels.arrays.radix_sort import argsort_keys
from broadphase.methods.near import TOO_MANY, Answer, Reach, find_near
from broadphase.methods.task import NO_LIMIT
from broadphase.points import Points, Question

Rows = npt.NDArray[np.int64]

# Where no more than one in so many is so many times as large as all others, these few are giants.
_FEW, _LARGE = 32, 4.0
_ENOUGH = 500
# From about here on squares of differences are taken of scaled numbers.
_HUGE = 2.0**29


def find_near_mixed(
    question: Question, reach: Reach, sort: bool, parts: int, limit: int = NO_LIMIT
) -> Answer:
    """What `find_near` finds."""
    same = question.others is None
    own = _giants(reach.radii)
    others = own if same else _giants(reach.other_radii)
    if not (own.any() or others.any()) or len(question.points) + len(question.found) < _ENOUGH:
        return _within_radii(reach, find_near(question, reach, sort, parts, limit))
    large, small = np.flatnonzero(own), np.flatnonzero(~own)
    other_large, other_small = np.flatnonzero(others), np.flatnonzero(~others)
    if same:
        searches = [(small, None), (large, None), (large, small)]
    else:
        searches = [(small, other_small), (small, other_large), (large, np.arange(len(others)))]
    found = []
    left = limit
    for rows, among in searches:
        some, ids = _some(question, rows, among), rows if among is None else among
        own_reach = _reach_of(reach, rows, ids)
        try:
            answer = _within_radii(own_reach, find_near(some, own_reach, False, parts, left))
        except PairLimitExceeded:
            raise PairLimitExceeded(limit, TOO_MANY) from None  # the caller's, not what was left of it
        left -= len(answer.i)
        i, j = rows[answer.i].astype(np.int32), ids[answer.j].astype(np.int32)
        if same:
            i, j = np.minimum(i, j), np.maximum(i, j)
        found.append(Answer(i, j, answer.distance))
    i, j, distance = (np.concatenate(column) for column in zip(*found, strict=True))
    if sort:
        order = argsort_keys(i.astype(np.int64) << 32 | j)
        i, j, distance = i[order], j[order], distance[order]
    return Answer(i, j, distance)


def _giants(radii: Points) -> npt.NDArray[np.bool_]:
    """Which of the radii are far larger than nearly all others."""
    n = len(radii)
    if n < _FEW:
        return np.zeros(n, np.bool_)
    usual = np.partition(radii, n - n // _FEW - 1)[n - n // _FEW - 1]
    with np.errstate(over="ignore"):
        giants: npt.NDArray[np.bool_] = radii > _LARGE * usual
    return giants


def _within_radii(reach: Reach, answer: Answer) -> Answer:
    """Without the pairs that were only found because beside a huge radius their distance is nothing."""
    if len(reach.radii) == 0 or reach.r < _HUGE:
        return answer
    with np.errstate(over="ignore"):
        near = answer.distance <= reach.radii[answer.i] + reach.other_radii[answer.j]
    return answer if near.all() else Answer(answer.i[near], answer.j[near], answer.distance[near])


def _some(question: Question, rows: Rows, among: Rows | None) -> Question:
    """The same search for some of the points, among themselves or among some of those that may be found."""
    envs = question.envs
    found_envs = question.other_envs
    points = question.points[rows]
    others = None if among is None else question.found[among]
    held = points if others is None else others
    if len(held):
        low, high = held.min(axis=0).astype(np.float64), held.max(axis=0).astype(np.float64)
    else:
        low = high = np.zeros(points.shape[1])
    own = envs[rows] if len(envs) else envs
    theirs = found_envs[rows if among is None else among] if len(envs) else envs
    return question._replace(points=points, others=others, envs=own, other_envs=theirs, low=low, high=high)


def _reach_of(reach: Reach, rows: Rows, ids: Rows) -> Reach:
    own, others = reach.radii[rows], reach.other_radii[ids]
    with np.errstate(over="ignore"):
        most = own.max(initial=0) + others.max(initial=0)
    return Reach(float(most), own, others)
