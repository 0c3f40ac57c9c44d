"""The neighbours that were found, written to the result: row by row, each row sorted by number.

The finds of a point lie side by side and are few, so their places are counted (how many are less) and no
comparison steers a branch; the many of a crowd are marked as bits and read off.
"""

import numpy as np

from broadphase.kernels.arrays.sort_ids import rank
from broadphase.kernels.machine.jit import inline, jit, unsigned
from broadphase.kernels.machine.prefetch import prefetch
from broadphase.kernels.machine.simd import LANES, bits, count_lanes, load, lowest_lane, splat, store
from broadphase.kernels.points.apart import distance
from broadphase.kernels.points.lane_math import root, times

RANKED = 128
_AHEAD = 12
_WORD, _BLOCK = unsigned(6), unsigned(12)
_BIT, _ONE = unsigned(63), unsigned(1)


@jit
def count_finds(order, rows, first, last):
    """How many finds the points ``order[first : last]`` have, and the most of one; no order is 0, 1, ..."""
    total = most = np.int64(0)
    for turn in range(first, last):
        count = rows[np.int64(order[turn]) if order.shape[0] > 0 else turn, 1]
        total += count
        most = max(most, count)
    return total, most


@jit
def put_rows(
    order, sort, rows, ids, squares, points, others, around, scale, first, last, at, roots, words, summary,
    first_ids, second_ids, distances,
):  # fmt: skip
    """Write the finds of the points ``order[first : last]`` from ``at`` on.

    ``roots`` is scratch for `RANKED` numbers and `LANES` more; ``words`` and ``summary``, where
    rows may be longer than that, hold one bit for each point that may be found, and one for each word of 64;
    they are zeros before and after.
    """
    kind = squares.dtype.type
    back = kind(1.0 / scale)
    # Roots of squares so small or so large are not what they ought to be.
    least, largest = (2.0**-60, 2.0**100) if squares.itemsize == 4 else (2.0**-400, 2.0**900)
    low, high = splat(kind(least)), splat(kind(largest))
    ends = at
    for turn in range(first, last):
        ends += rows[np.int64(order[turn]) if order.shape[0] > 0 else turn, 1]
    for turn in range(first, last):
        i = np.int64(order[turn]) if order.shape[0] > 0 else np.int64(turn)
        if turn + _AHEAD < last and sort:
            # The finds lie in the order of the cells: without asking for them early half of the time is
            # waiting.
            ahead = rows[turn + _AHEAD, 0]
            prefetch(ids, 0, ahead)
            prefetch(squares, 0, ahead)
        begin, count = rows[i, 0], rows[i, 1]
        if sort and count > RANKED:
            _put_long_row(begin, count, ids, words, summary, second_ids, at)
            for k in range(at, at + count):
                first_ids[0, k] = i
                distances[0, k] = distance(points, others, i, np.int64(second_ids[0, k]), around)
            at += count
            continue
        for part in range(0, count, RANKED):
            few = min(count - part, RANKED)
            odd = np.int64(0)
            for k in range(0, few, LANES):
                square = load(squares, 0, begin + part + k)
                outside = bits((square < low) | (high < square))
                if few - k < LANES:
                    outside &= (1 << (few - k)) - 1
                odd |= outside
                store(roots, 0, k, times(root(square), splat(back)))
            if odd != 0:
                for k in range(few):
                    j = np.int64(ids[0, begin + part + k])
                    roots[0, k] = distance(points, others, i, j, around)
            _put_few(
                begin + part, few, sort, i, ids, roots, at + part, ends, first_ids, second_ids, distances
            )
        at += count


@inline
def _put_few(begin, few, sort, i, ids, roots, at, ends, first_ids, second_ids, distances):
    if few <= LANES and at + LANES <= ends:  # what is too much is overwritten by the next row
        store(first_ids, 0, at, splat(np.int32(i)))
    else:
        for k in range(at, at + few):
            first_ids[0, k] = i
    if not sort:
        for k in range(few):
            second_ids[0, at + k] = ids[0, begin + k]
            distances[0, at + k] = roots[0, k]
    elif few <= LANES:
        names = load(ids, 0, begin)
        held = (1 << few) - 1
        for k in range(few):
            name = ids[0, begin + k]
            place = unsigned(at + count_lanes(bits(names < splat(name)) & held))
            second_ids[0, place] = name
            distances[0, place] = roots[0, k]
    else:
        for k in range(few):
            name = ids[0, begin + k]
            place = at + rank(ids, begin, few, name)
            second_ids[0, place] = name
            distances[0, place] = roots[0, k]


@inline
def _put_long_row(begin, count, ids, words, summary, second_ids, at):
    """Mark the finds as bits, and the words with marks in the summary; then read them off."""
    for k in range(begin, begin + count):
        i = unsigned(ids[0, k])
        words[i >> _WORD] |= _ONE << (i & _BIT)
        summary[i >> _BLOCK] |= _ONE << ((i >> _WORD) & _BIT)
    at = unsigned(at)
    for block in range(unsigned(summary.shape[0])):
        marked = summary[block]
        summary[block] = unsigned(0)
        while marked != unsigned(0):
            word = (block << _WORD) + unsigned(lowest_lane(np.int64(marked)))
            marked &= marked - _ONE
            left = words[word]
            words[word] = unsigned(0)
            while left != unsigned(0):
                second_ids[0, at] = (word << _WORD) + unsigned(lowest_lane(np.int64(left)))
                at += _ONE
                left &= left - _ONE


@jit
def count_both(first_ids, second_ids, begin, end, starts):
    """Add to ``starts[i + 1]`` how many of the pairs have row ``i``."""
    for at in range(begin, end):
        starts[unsigned(first_ids[at]) + _ONE] += 1
        starts[unsigned(second_ids[at]) + _ONE] += 1


@jit
def put_both(first_ids, second_ids, distances, begin, end, ends, columns, values):
    """Write pairs into the rows of both; sorted pairs make sorted rows.  ``ends`` move on."""
    for at in range(begin, end):
        i, j = first_ids[at], second_ids[at]
        place = unsigned(ends[unsigned(i)])
        ends[unsigned(i)] = place + _ONE
        columns[place] = j
        values[place] = distances[at]
        place = unsigned(ends[unsigned(j)])
        ends[unsigned(j)] = place + _ONE
        columns[place] = i
        values[place] = distances[at]
