"""A set of pairs that persists: add, remove, look up, and all pairs of one box, each in constant time.

The pairs lie side by side in an array, so that reading all of them is a copy; the last one fills the hole
that a removed one leaves.  A hash table with chains finds the row of a pair.  For each box, its pairs are
threaded on a doubly linked list: row ``r`` is link ``2 * r`` on the list of its first id and ``2 * r + 1``
on that of its second.

The arrays, in this order (``NONE`` ends chains and lists):

- ``pairs``: ``(room, 2)``, of which the first ``count`` rows are in use;
- ``chain``: the next row with the same hash; ``buckets``: the first one, ``2 ** k`` of them;
- ``after``, ``before``: the neighbours of a link; ``heads``: the first link of an id.
"""

import numpy as np

from broadphase.kernels.boxes.filters import may_pair
from broadphase.kernels.boxes.overlap import overlap
from broadphase.kernels.machine.jit import inline, jit

NONE = -1
_ODD = 0x1E3779B97F4A7C15  # about 2**63 divided by the golden ratio: spreads what differs in a few bits


@inline
def pair_key(i, j):
    """A pair as one number, smaller id first."""
    return (np.int64(min(i, j)) << 32) | np.int64(max(i, j))


@inline
def _bucket(key, buckets):
    return ((int(key) * _ODD) >> 32) & (buckets.shape[0] - 1)


@inline
def _find(pairs, chain, buckets, key):
    """The row of a pair, or `NONE`."""
    row = buckets[_bucket(key, buckets)]
    while row != NONE:
        if pairs[row, 0] == key >> 32 and pairs[row, 1] == key & 0xFFFFFFFF:
            return row
        row = chain[row]
    return row


@inline
def _link(heads, after, before, i, link):
    first = heads[i]
    after[link] = first
    before[link] = NONE
    heads[i] = link
    if first != NONE:
        before[first] = link


@inline
def _unlink(heads, after, before, i, link):
    behind, ahead = after[link], before[link]
    if ahead == NONE:
        heads[i] = behind
    else:
        after[ahead] = behind
    if behind != NONE:
        before[behind] = ahead


@inline
def _relink(heads, after, before, i, link, new):
    """Let ``new`` take the place of ``link`` on its list."""
    behind, ahead = after[link], before[link]
    after[new] = behind
    before[new] = ahead
    if ahead == NONE:
        heads[i] = new
    else:
        after[ahead] = new
    if behind != NONE:
        before[behind] = new


@inline
def _put(pairs, chain, buckets, after, before, heads, row, key):
    """Put a pair that is not there into the first free row."""
    bucket = _bucket(key, buckets)
    pairs[row, 0] = key >> 32
    pairs[row, 1] = key & 0xFFFFFFFF
    chain[row] = buckets[bucket]
    buckets[bucket] = row
    _link(heads, after, before, pairs[row, 0], 2 * row)
    _link(heads, after, before, pairs[row, 1], 2 * row + 1)


@inline
def _replace_in_chain(pairs, chain, buckets, row, new):
    """Let ``new``, which may be the rest of the chain, take the place of ``row``."""
    bucket = _bucket(pair_key(pairs[row, 0], pairs[row, 1]), buckets)
    at = buckets[bucket]
    if at == row:
        buckets[bucket] = new
        return
    while chain[at] != row:
        at = chain[at]
    chain[at] = new


@inline
def _drop(pairs, chain, buckets, after, before, heads, row, last):
    """Take a row out; row ``last`` moves there."""
    _replace_in_chain(pairs, chain, buckets, row, np.int64(chain[row]))
    _unlink(heads, after, before, pairs[row, 0], 2 * row)
    _unlink(heads, after, before, pairs[row, 1], 2 * row + 1)
    if row == last:
        return
    _replace_in_chain(pairs, chain, buckets, last, row)
    chain[row] = chain[last]
    _relink(heads, after, before, pairs[last, 0], 2 * last, 2 * row)
    _relink(heads, after, before, pairs[last, 1], 2 * last + 1, 2 * row + 1)
    pairs[row, 0] = pairs[last, 0]
    pairs[row, 1] = pairs[last, 1]


@jit
def link_rows(pair_set, begin, end):
    """Thread the rows ``begin .. end - 1``, which hold new pairs, into the table and the lists."""
    pairs, chain, buckets, after, before, heads = pair_set
    for row in range(begin, end):
        _put(pairs, chain, buckets, after, before, heads, row, pair_key(pairs[row, 0], pairs[row, 1]))


@jit
def drop_pairs_of(pair_set, count, ids, toggled):
    """Remove all pairs of these ids and write their keys into ``toggled``; returns how many are left."""
    pairs, chain, buckets, after, before, heads = pair_set
    dropped = 0
    for k in range(ids.shape[0]):
        while heads[ids[k]] != NONE:
            row = np.int64(heads[ids[k]] >> 1)
            toggled[dropped] = pair_key(pairs[row, 0], pairs[row, 1])
            dropped += 1
            count -= 1
            _drop(pairs, chain, buckets, after, before, heads, row, count)
    return count


@jit
def apply_events(pair_set, count, events, boxes, touching, filter, toggled):  # noqa: A002
    """Let pairs begin and end; returns how many there are, and how many keys were written to ``toggled``.

    An event is the key of a pair that begins (also if it is there already), minus the key of one that ends
    (also if it is not), or ``pair_key(i, i)``: box ``i`` went so far that all its pairs are looked at.
    """
    pairs, chain, buckets, after, before, heads = pair_set
    toggles = 0
    for e in range(events.shape[0]):
        key = abs(events[e])
        i, j = key >> 32, key & 0xFFFFFFFF
        if i == j:
            link = heads[i]
            while link != NONE:
                row = np.int64(link >> 1)
                link = after[link]
                other = pairs[row, 0] if pairs[row, 1] == i else pairs[row, 1]
                if not overlap(boxes, i, other, touching):
                    toggled[toggles] = pair_key(pairs[row, 0], pairs[row, 1])
                    toggles += 1
                    count -= 1
                    _drop(pairs, chain, buckets, after, before, heads, row, count)
                    if link >> 1 == count:
                        link = 2 * row + (link & 1)
            continue
        row = np.int64(_find(pairs, chain, buckets, key))
        if events[e] > 0:
            if row == NONE and may_pair(filter, i, j):
                _put(pairs, chain, buckets, after, before, heads, count, key)
                count += 1
                toggled[toggles] = key
                toggles += 1
        elif row != NONE:
            count -= 1
            _drop(pairs, chain, buckets, after, before, heads, row, count)
            toggled[toggles] = key
            toggles += 1
    return count, toggles


@jit
def split_toggled(pair_set, keys, renewed, began, ended):
    """What the sorted ``keys`` of all pairs that came or went amount to; returns how many began and ended.

    A pair that came and went as often has not changed, unless one of its ids was given out anew.
    """
    pairs, chain, buckets, _, _, _ = pair_set
    come = 0
    gone = 0
    k = 0
    while k < keys.shape[0]:
        key = keys[k]
        odd = False
        while k < keys.shape[0] and keys[k] == key:
            odd = not odd
            k += 1
        now = _find(pairs, chain, buckets, key) != NONE
        was = now != odd
        if now and was and not (renewed[key >> 32] or renewed[key & 0xFFFFFFFF]):
            continue
        if now:
            began[come, 0] = key >> 32
            began[come, 1] = key & 0xFFFFFFFF
            come += 1
        if was:
            ended[gone, 0] = key >> 32
            ended[gone, 1] = key & 0xFFFFFFFF
            gone += 1
    return come, gone
