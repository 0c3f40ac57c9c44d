"""Many box queries with many hits, a packet at a time; see `broadphase.kernels.boxes.packets`.

An index finds what a packet may meet, as for any box.  It loses where the queries lie so far apart that few
are in a packet, or where the boxes between them are crowded; it finds that out early and gives up.
"""

from collections.abc import Callable
from functools import partial
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from broadphase import threads
from broadphase.boxes import BoxArray, PairArray
from broadphase.kernels.boxes.packets import (
    compare_packets,
    form_packets,
    put_rows_of_packets,
)
from broadphase.kernels.machine.simd import LANES
from broadphase.memory import Scratch, borrowed_scratch, pair_array
from broadphase.methods.nearest import order_by_cells
from broadphase.slices import MOST, growing, ranges

Rows = npt.NDArray[np.float64]
Ids = npt.NDArray[np.int32]
Numbers = npt.NDArray[np.int64]
Ask = Callable[[Rows], tuple[PairArray, int]]
"""The rows ``[query, id]`` of some queries, in the order of both, and the tests."""

_WIDER = 3.2
"""What a packet may meet, in what each of its queries does: with less there are more packets."""
_MOST_TOGETHER = 256
_MET = 64
"""The size of the sample of hits that stands for all others."""
_PIECES = 4  # for each thread, so that none waits long for the last
_FIRST = 16
"""Packets that are looked at first, to see what they take."""
_MOST_TESTS = 64
"""Comparisons for a hit; there are three or four, unless a crowd lies between the queries."""


class _Packets(NamedTuple):
    """Queries in packets."""

    order: Ids
    """The numbers of the queries, one packet after the other."""
    ends: Numbers
    """Where in that order each packet ends."""
    around: Rows
    """The box around the queries of each."""


class _Compared(NamedTuple):
    """What the queries of some packets may meet, and do."""

    each: Numbers
    """How many boxes each packet may meet."""
    rows: PairArray
    """Those boxes, packet after packet, as rows ``[packet, id]``."""
    met: npt.NDArray[np.uint16]
    """Masks of those that each query does."""
    tests: int


def find(
    ask: Ask,
    boxes: BoxArray,
    queries: Rows,
    touching: bool,
    few: Rows,
    sample: PairArray,
    together: int,
    parts: int,
) -> tuple[PairArray, int] | None:
    """The rows ``[query, id]`` of all queries, in order, and the tests; None where each does better alone.

    Parameters
    ----------
    ask : callable
        Answers any queries, with all rules; threads call it at the same time.
    boxes : numpy.ndarray
        ``(n, 2 * dim)``, by id.
    queries : numpy.ndarray
        ``(m, 2 * dim)``, float64.
    few, sample : numpy.ndarray
        Some of the queries, from anywhere among them, and their rows, of which there are some.
    together : int
        With fewer queries in a packet, on average, it costs more to find what a packet may meet.
    parts : int
        Threads.
    """
    met = boxes[sample[:: max(len(sample) // _MET, 1), 1]]
    reach, each = _usual_sides(met), len(sample) / len(few)
    wider = _WIDER ** (1.0 / (queries.shape[1] // 2))
    lattice = _lattice(_middles(few), (wider - 1.0) * (_usual_sides(few) + reach), len(queries) / together)
    if lattice is None:
        return None  # most often, and a few of the queries are enough to see it
    with borrowed_scratch() as scratch:
        order = order_by_cells(lattice, _middles(queries), parts, scratch)
        packets = _form(queries, order, reach, 1.01 * wider, each)
        # The sample does not know everything, but now it has nearly been paid for.
        if len(packets.ends) * together > 2 * len(queries):
            return None
        counts = scratch.array("counts", (len(queries) + 1,), np.int64)
        places = scratch.array("places", (2, len(queries)), np.int32)
        compare = partial(_compare, ask, boxes, queries, touching, packets, places, counts[1:])
        pieces = _pieces(packets, _PIECES * parts if parts > 1 else 1)
        done = threads.run_all([partial(compare, *piece) for piece in pieces], parts)
        if None in done:
            return None
        compared = [some for piece in done if piece is not None for some in piece]
        counts[0] = 0
        begins = np.cumsum(counts, out=counts)
        rows = _rows(packets, compared, places, begins, parts, scratch)
    return rows, sum(some.tests for some in compared)


def _pieces(packets: _Packets, count: int) -> list[tuple[int, int]]:
    """Ranges of packets with equally many queries."""
    m = len(packets.order)
    inner = np.searchsorted(packets.ends, [m * piece // count for piece in range(1, count)]).tolist()
    return [piece for piece in pairwise([0, *inner, len(packets.ends)]) if piece[0] < piece[1]]


def _form(queries: Rows, order: Ids, reach: Rows, stretch: float, each: float) -> _Packets:
    """Packets of queries in an order, that meet about so many boxes each; see `form_packets`."""
    m = len(queries)
    ends, around = np.empty(m, np.int64), np.empty((m, queries.shape[1]))
    count = 0
    most = int(min(max(MOST / (4.0 * each + 1.0), 1.0), _MOST_TOGETHER))
    for span in ranges(0, m):
        count += form_packets(queries, order, reach, stretch, *span, most, ends[count:], around[count:])
    return _Packets(order, ends[:count], around[:count])


def _middles(boxes: Rows) -> Rows:
    """Their middles; what has none gets that of the world."""
    dim = boxes.shape[1] // 2
    with np.errstate(invalid="ignore", over="ignore"):
        middles: Rows = 0.5 * boxes[:, :dim] + 0.5 * boxes[:, dim:]
        if not np.isfinite(middles.sum()):  # a fourth of what it takes to look at each
            middles[~np.isfinite(middles)] = 0.0
    return middles


def _lattice(points: Rows, sides: Rows, most: float) -> Rows | None:
    """Cells of about these sides over all points and one beyond, as `count_points` wants them.

    None where they are more than ``most``, those beyond not counted.
    """
    low = points.min(axis=0)
    with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
        spread = np.maximum(points.max(axis=0) - low, np.finfo(np.float64).tiny)
        cells = np.maximum(np.ceil(spread / sides), 1.0)
        lattice = np.array([low - spread / cells, cells / spread, cells + 2.0])
        # A world so small that cells a unit overflow has none.
        return lattice if cells.prod() <= most and np.isfinite(lattice).all() else None


def _usual_sides(boxes: npt.NDArray[Any]) -> Rows:
    """Their sides, half of which are longer; 0 on an axis that they mostly fill."""
    dim = boxes.shape[1] // 2
    with np.errstate(over="ignore", invalid="ignore"):
        sides = boxes[:, dim:].astype(np.float64) - boxes[:, :dim]
    sides.sort(axis=0)
    usual: Rows = sides[len(sides) // 2]
    return np.where(np.isfinite(usual), usual, 0.0)


def _compare(
    ask: Ask,
    boxes: BoxArray,
    queries: Rows,
    touching: bool,
    packets: _Packets,
    places: Ids,
    counts: Numbers,
    begin: int,
    end: int,
) -> list[_Compared] | None:
    """What the packets ``begin .. end - 1`` may meet, and do; None where that is a crowd for nothing."""
    done: list[_Compared] = []
    tests = found = 0
    columns = np.empty((boxes.shape[1], 0), boxes.dtype)
    sizes = np.diff(packets.ends, prepend=0)
    for first, last in growing(end, begin, _FIRST):
        rows, made = ask(packets.around[first:last])
        starts = np.searchsorted(rows[:, 0], np.arange(last - first + 1, dtype=np.int32))
        each = np.diff(starts)
        if columns.shape[1] < each.max() + LANES:
            columns = np.empty((len(columns), 2 * each.max() + LANES), boxes.dtype)
        met = np.empty(int(sizes[first:last] @ _words(each)), np.uint16)
        some = packets.order, packets.ends, first, last
        found += compare_packets(boxes, touching, rows, starts, queries, *some, columns, met, places, counts)
        made += int(sizes[first:last] @ each)
        tests += made
        if tests > _MOST_TESTS * found + MOST:
            return None
        done.append(_Compared(each, rows, met, made))
    return done


def _rows(
    packets: _Packets, compared: list[_Compared], places: Ids, begins: Numbers, parts: int, scratch: Scratch
) -> PairArray:
    """The rows of all queries, those of query ``q`` from ``begins[q]`` on."""
    each = np.concatenate([some.each for some in compared])
    sizes = np.diff(packets.ends, prepend=0)
    starts, words = _starts(each), _starts(_words(each) * sizes)
    ids = scratch.array("ids", (1, int(starts[-1]) + LANES), np.int32)
    met = scratch.array("met", (int(words[-1]),), np.uint16)
    held = marked = 0
    for some in compared:
        ids[0, held : held + len(some.rows)] = some.rows[:, 1]
        met[marked : marked + len(some.met)] = some.met
        held += len(some.rows)
        marked += len(some.met)
    out = pair_array(int(begins[-1]))

    def put(begin: int, end: int) -> None:
        own = np.empty((1, int(each.max()) + LANES), np.int32)
        for span in growing(end, begin):
            put_rows_of_packets(ids, starts, words, met, places, begins, *span, own, out)

    threads.run_all([partial(put, *span) for span in threads.shares(len(places[0]), parts)])
    return out


def _words(each: Numbers) -> Numbers:
    """How many masks a query has for so many boxes."""
    return (each + (LANES - 1)) // LANES


def _starts(each: Numbers) -> Numbers:
    """Where those of each begin, and where the last ones end."""
    return np.concatenate(([0], np.cumsum(each)))
