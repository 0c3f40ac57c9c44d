"""All points within a distance of each other: cells, a search row by row, and rows put in order.

See `broadphase.methods.near_cells` for the cells and `broadphase.kernels.points.near` for the search.
"""

import math
from functools import partial
from itertools import count
from time import perf_counter
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from broadphase import threads
from broadphase.errors import PairLimitExceeded
from broadphase.kernels.machine.simd import LANES
from broadphase.kernels.points.near import MOST_RANGES, search_near
from broadphase.kernels.points.rows import RANKED, count_finds, put_rows
from broadphase.memory import Scratch, borrowed_scratch, pair_array
from broadphase.methods.near_cells import ENOUGH_FOR_THREADS, Cells, none_of, sort_askers, sort_into_cells
from broadphase.methods.task import NO_LIMIT
from broadphase.points import Numbers, Points, Question
from broadphase.slices import FIRST, MOST, next_most, slices
from broadphase.threads import GivenUp, given_up

_PIECES = 4  # for each thread, so that none waits long for the last
# Numbers of finds that do not lie in the memory that was made for all begin here.
_ELSEWHERE = 1 << 48
_MOST_ROOM = 1 << 24
_ROW_COST = 30.0
_USUAL = 8
TOO_MANY = "of points are within r of each other; raise max_pairs, or give a smaller r"


class Reach(NamedTuple):
    """Up to which distance points are near."""

    r: float
    """The one distance, or the largest that any two radii make."""
    radii: Points
    """Of the points, and of those that may be found; empty where there is one distance for all."""
    other_radii: Points


class Answer(NamedTuple):
    """What was found."""

    i: Numbers
    j: Numbers
    distance: Points


class _Rule(NamedTuple):
    """The last arguments of the kernel that decide what is near."""

    upward: bool
    bound: float
    scale: float
    careful: bool


def one_reach(r: float, kind: Any) -> Reach:
    """The same distance for all."""
    return Reach(r, none_of(kind), none_of(kind))


def find_near(question: Question, reach: Reach, sort: bool, parts: int, limit: int = NO_LIMIT) -> Answer:
    """All pairs, sorted or as they come."""
    kind = question.points.dtype
    if len(question.points) == 0 or len(question.found) == 0:
        return Answer(np.empty(0, np.int32), np.empty(0, np.int32), np.empty(0, kind))
    rule = _rule(question, reach)
    with borrowed_scratch() as scratch:
        cells = sort_into_cells(question, reach.r, reach.other_radii, parts, scratch)
        asking = cells
        if question.others is not None:
            asking = sort_askers(question, cells, reach.radii, parts, scratch)
        finds = _search(question, cells, asking, rule, parts, limit, scratch)
        order = np.empty(0, np.int32) if sort else asking.own[0, : len(question.points)]
        return _in_order(question, finds, order, sort, rule.scale, parts, limit, scratch)


def _rule(question: Question, reach: Reach) -> _Rule:
    """Which squares count, and whether they need care."""
    kind = question.points.dtype.type
    safe = 30 if question.points.itemsize == 4 else 200
    r = kind(reach.r)
    scale = 1.0
    if not (2.0**-safe <= r <= 2.0**safe or np.isinf(r)):
        most = 126 if question.points.itemsize == 4 else 1022
        scale = 2.0 ** min(max(-math.frexp(float(r))[1], -most), most) if r > 0 else 2.0**most
    apart = question.worlds == 1
    careful = scale != 1.0 or len(reach.radii) > 0 or not apart
    return _Rule(question.others is None, _largest_square(kind(r * kind(scale))), scale, careful)


def _largest_square(r: Any) -> float:
    """The largest number whose root, rounded, is at most ``r``."""
    kind = type(r)
    if np.isinf(r):
        return math.inf
    with np.errstate(under="ignore", over="ignore"):
        square = r * r
        while np.sqrt(square) > r:
            square = np.nextafter(square, kind(0))
        while np.sqrt(np.nextafter(square, kind(np.inf))) <= r:
            square = np.nextafter(square, kind(np.inf))
    return float(square)


class _Finds(NamedTuple):
    """Finds of all points, side by side for each."""

    rows: npt.NDArray[np.int64]
    ids: Numbers
    squares: Points


def _search(
    question: Question, cells: Cells, asking: Cells, rule: _Rule, parts: int, limit: int, scratch: Scratch
) -> _Finds:
    n, kind = len(question.points), question.points.dtype
    pieces = threads.shares(n, _PIECES * parts if parts > 1 and n >= ENOUGH_FOR_THREADS else 1)
    rows = scratch.array("near rows", (n, 2), np.int64)
    # Where points find more than this, memory is taken as it is needed and moved together; next time it is
    # there.
    room = -(-max(_USUAL * n, scratch.room("near ids") // 5) // len(pieces)) + 64 * LANES
    ids = scratch.array("near ids", (1, room * len(pieces)), np.int32)
    squares = scratch.array("near squares", (1, room * len(pieces)), kind)
    numbers = count()
    grid = cells.grid
    careful = rule.careful and not (
        rule.scale == 1.0 and grid.blocks == 0 and cells.columns.shape[0] == grid.rows.shape[1]
    )
    fixed = (
        *(cells.columns, cells.own, cells.starts, grid.rows, grid.steps, grid.blocks),
        *(asking.columns, asking.own, rule.upward, rule.bound, rule.scale, careful),
    )

    def search(piece: int, at: int, end: int) -> tuple[int, list[Any]]:
        base = piece * room
        out = ids[:, base : base + room], squares[:, base : base + room]
        more: list[Any] = []
        ranges = np.empty((4, MOST_RANGES), np.int64)
        total = filled = 0
        most = int(min(MOST, FIRST))
        while at < end:
            before, started = at, perf_counter()
            here = out[0][:, filled:], out[1][:, filled:]
            at, found, tests = search_near(
                *fixed, ranges, rows, base + filled, *here, at, end, most, limit - total
            )
            total += found
            filled += found
            if total > limit:
                break
            if given_up():
                raise GivenUp
            if at < end and (at == before or tests <= most):
                size = min(max(2 * out[0].shape[1], 2 * total), _MOST_ROOM)
                if at == before and out[0].shape[1] >= _MOST_ROOM:
                    size = 2 * out[0].shape[1]
                out = np.empty((1, size), np.int32), np.empty((1, size), kind)
                base, filled = _ELSEWHERE * (1 + next(numbers)), 0
                more.append((base, out))
            else:
                most = next_most(most, perf_counter() - started, int(MOST))
        return total, more

    done = threads.run_all([partial(search, piece, *span) for piece, span in enumerate(pieces)], parts)
    if sum(total for total, _ in done) > limit:
        raise PairLimitExceeded(limit, TOO_MANY)
    chunks = [chunk for _, more in done for chunk in more]
    if not chunks:
        return _Finds(rows, ids, squares)
    finds = _moved_together(rows, ids, squares, chunks)
    scratch.ask_for("near ids", 4 * finds.ids.shape[1])
    scratch.ask_for("near squares", kind.itemsize * finds.ids.shape[1])
    return finds


def _moved_together(rows: npt.NDArray[np.int64], ids: Numbers, squares: Points, chunks: list[Any]) -> _Finds:
    """All finds in one array, where there were too many for the first."""
    begins = np.cumsum([ids.shape[1], *(chunk[0].shape[1] for _, chunk in chunks)])
    shifts = np.zeros(len(chunks) + 1, np.int64)
    for (base, _), begin in zip(chunks, begins, strict=False):
        shifts[base // _ELSEWHERE] = int(begin) - base
    rows[:, 0] += shifts[rows[:, 0] // _ELSEWHERE]
    return _Finds(
        rows,
        np.concatenate([ids, *(chunk[0] for _, chunk in chunks)], axis=1),
        np.concatenate([squares, *(chunk[1] for _, chunk in chunks)], axis=1),
    )


def _in_order(
    question: Question,
    finds: _Finds,
    order: Numbers,
    sort: bool,
    scale: float,
    parts: int,
    limit: int,
    scratch: Scratch,
) -> Answer:
    n, kind = len(question.points), question.points.dtype
    many = parts > 1 and n >= ENOUGH_FOR_THREADS
    pieces = threads.shares(n, _PIECES * parts if many else 1)
    counts = threads.run_all([partial(count_finds, order, finds.rows, *piece) for piece in pieces], parts)
    ends = np.cumsum([total for total, _ in counts])
    total, longest = int(ends[-1]), max(most for _, most in counts)
    if total > limit:
        raise PairLimitExceeded(limit, TOO_MANY)
    answer, flat = _room_for(total, kind)
    words = len(question.found) // 64 + 1 if longest > RANKED and sort else 0

    def put(piece: int, first: int, last: int) -> None:
        at = int(ends[piece]) - counts[piece][0]
        roots = np.empty((1, RANKED + LANES), kind)
        marks = np.zeros(words, np.uint64), np.zeros(words // 64 + 1 if words else 0, np.uint64)
        for begin, end in slices(first, last, _ROW_COST + 4.0 * total / n):
            put_rows(
                *(order, sort, finds.rows, finds.ids, finds.squares, question.points, question.found),
                *(question.period, scale, begin, end, at, roots, *marks, *flat),
            )
            at += count_finds(order, finds.rows, begin, end)[0] if end < last else 0

    threads.run_all([partial(put, piece, *span) for piece, span in enumerate(pieces)], parts)
    return answer


def _room_for(total: int, kind: Any) -> tuple[Answer, tuple[Any, Any, Any]]:
    """Arrays for so many pairs in one piece of memory that is recycled; and as the kernels want them."""
    width = 2 + kind.itemsize // 4
    flat = pair_array((total * width + 1) // 2).reshape(-1)
    i, j = flat[:total], flat[total : 2 * total]
    distance = flat[2 * total : width * total].view(kind)
    return Answer(i, j, distance), (i.reshape(1, -1), j.reshape(1, -1), distance.reshape(1, -1))
