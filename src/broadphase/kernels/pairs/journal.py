"""What boxes were before they were touched, and which pairs that changed.

The journal has one entry for each id that was inserted, moved or removed since the last call of
``changes``: its box and rules as they were then, a box of NaN where it was not there.  ``slots[id]`` is the
entry of an id, or -1.  NaN overlaps nothing, so that what is not there needs no case of its own: neither in
the journal nor in the rows of free ids.
"""

import numpy as np

from broadphase.kernels.arrays.emit import put
from broadphase.kernels.machine.jit import always_inline, jit
from broadphase.kernels.machine.prefetch import AHEAD, prefetch

# Which of a box's two places a query is for.
OLD, NEW = 1, 2


@jit
def note(ids, fresh, columns, slots, kept, count, most):
    """Enter those of ``ids`` that are not in the journal yet; returns how many entries it has.

    -1 when it would have more than ``most``.  ``columns`` are the boxes, classes, categories and masks by
    id; ``kept`` are ids and the same columns by entry.  ``fresh``: the ids were just given out, so there
    was no box before.
    """
    boxes, classes, categories, masks = columns
    kept_ids, old, old_classes, old_categories, old_masks = kept
    for k in range(ids.shape[0]):
        if k + AHEAD < ids.shape[0]:
            prefetch(slots, ids[k + AHEAD], 0)
            prefetch(boxes, ids[k + AHEAD], 0)
        i = ids[k]
        if slots[i] < 0:
            if count == most:
                return -1
            slots[i] = count
            kept_ids[count] = i
            old_classes[count] = classes[i]
            old_categories[count] = categories[i]
            old_masks[count] = masks[i]
            for column in range(boxes.shape[1]):
                old[count, column] = np.nan if fresh else boxes[i, column]
            count += 1
    return count


@jit
def forget(ids, count, slots, renewed):
    """Empty the journal: no id has an entry, none of them counts as reused."""
    for k in range(count):
        slots[ids[k]] = -1
        renewed[ids[k]] = False


@jit
def plan_queries(ids, count, old, boxes, queries, asked):
    """Write the boxes to query; returns how many.

    The new and the old place of a box are covered by one query around both, if they are no farther apart than
    they are large, else by two.  ``asked[q]`` is ``4 * entry + OLD and/or NEW``.
    """
    dim = boxes.shape[1] // 2
    planned = 0
    for k in range(count):
        if k + AHEAD < count:
            prefetch(boxes, ids[k + AHEAD], 0)
        i = ids[k]
        was = old[k, 0] == old[k, 0]
        now = boxes[i, 0] == boxes[i, 0]
        near = was and now
        for axis in range(dim):
            old_low, old_high = float(old[k, axis]), float(old[k, dim + axis])
            low, high = float(boxes[i, axis]), float(boxes[i, dim + axis])
            lengths = (old_high - old_low) + (high - low)
            near &= max(old_high, high) - min(old_low, low) <= 2.0 * lengths
        if near:
            for axis in range(dim):
                queries[planned, axis] = min(old[k, axis], boxes[i, axis])
                queries[planned, dim + axis] = max(old[k, dim + axis], boxes[i, dim + axis])
            asked[planned] = 4 * k + OLD + NEW
            planned += 1
            continue
        for part in (OLD, NEW):
            if was if part == OLD else now:
                for column in range(2 * dim):
                    queries[planned, column] = old[k, column] if part == OLD else boxes[i, column]
                asked[planned] = 4 * k + part
                planned += 1
    return planned


@always_inline
def _overlap(first, i, second, j, touching):
    """Whether row ``i`` of one array overlaps row ``j`` of another; a row of NaN overlaps nothing."""
    # Written out, as a loop over axes whose number the compiler does not know takes three times as long.
    if first.shape[1] == 4:
        together = _meet(first[i, 0], first[i, 2], second[j, 0], second[j, 2], touching)
        return together & _meet(first[i, 1], first[i, 3], second[j, 1], second[j, 3], touching)
    together = _meet(first[i, 0], first[i, 3], second[j, 0], second[j, 3], touching)
    together &= _meet(first[i, 1], first[i, 4], second[j, 1], second[j, 4], touching)
    return together & _meet(first[i, 2], first[i, 5], second[j, 2], second[j, 5], touching)


@always_inline
def _meet(low, high, other_low, other_high, touching):
    if touching:
        return (low <= other_high) & (other_low <= high)
    return (low < other_high) & (other_low < high)


@always_inline
def _may(classes, categories, masks, i, other_classes, other_categories, other_masks, j):
    """Whether the rules of row ``i`` and of row ``j`` let them be paired."""
    return (
        classes[i] & other_classes[j] == 0
        and categories[i] & other_masks[j] != 0
        and other_categories[j] & masks[i] != 0
    )


@jit
def mark_noted(ids, count, marks):
    """Set the bits of the ids in the journal.

    Nearly all finds are looked up here, and bits, unlike slots, stay in the near cache.
    """
    for k in range(count):
        marks[ids[k] >> 3] |= np.uint8(1 << (ids[k] & 7))


@jit
def compare_found(rows, asked, columns, marks, slots, new, kept, renewed, ruled, touching, ended):
    """Pairs that began or ended, of what the planned queries found; returns how many of either.

    Those that began are written over ``rows``, the others into ``ended``, which has as many rows.

    ``rows`` are ``[query, id]``, ``marks`` the bits of `mark_noted`, ``new`` where the entries of the journal
    are now, ``renewed`` whether their ids were reused, ``ruled`` whether any box has rules.  Of two
    ids in the journal, the one with the smaller number reports that they began; what ended between them is
    not reported here (`compare_old`).
    """
    boxes, classes, categories, masks = columns
    ids, old, old_classes, old_categories, old_masks = kept
    # Most finds have not changed.  First these are passed by, without a branch, which would be guessed wrong
    # at every fourth; a quarter of the time of looking at each find to the end.
    count = 0
    for r in range(rows.shape[0]):
        prefetch(boxes, rows[min(r + AHEAD, rows.shape[0] - 1), 1], 0)
        k = np.int64(asked[rows[r, 0]] >> 2)
        j = np.int64(rows[r, 1])
        now, was = _overlap(new, k, boxes, j, touching), _overlap(old, k, boxes, j, touching)
        noted = ((marks[j >> 3] >> (j & 7)) & 1 != 0) & (j != ids[k])
        rows[count, 0], rows[count, 1] = rows[r, 0], rows[r, 1]
        count += np.int64((now != was) | noted | renewed[k])
    # At most one of each a row.
    come = 0
    gone = 0
    for r in range(count):
        k = np.int64(asked[rows[r, 0]] >> 2)
        part = asked[rows[r, 0]] & 3
        i = np.int64(ids[k])
        j = np.int64(rows[r, 1])
        t = np.int64(slots[j])
        if t >= 0 and (part == OLD or i >= j):
            continue
        same = not renewed[k]
        now = _overlap(new, k, boxes, j, touching)
        if t >= 0:
            same &= not renewed[t]
            was = _overlap(old, k, old, t, touching)
            if ruled:
                was &= _may(
                    old_classes, old_categories, old_masks, k, old_classes, old_categories, old_masks, t
                )
        else:
            was = _overlap(old, k, boxes, j, touching)
            if ruled:
                was &= _may(old_classes, old_categories, old_masks, k, classes, categories, masks, j)
        if ruled:
            now &= _may(classes, categories, masks, i, classes, categories, masks, j)
        if now and part != OLD and not (was and same):
            put(rows, come, i, j)
            come += 1
        if was and part != NEW and t < 0 and not (now and same):
            put(ended, gone, i, j)
            gone += 1
    return come, gone


@jit
def compare_old(entries, columns, renewed, kept, touching):
    """Of pairs of entries that overlapped and counted, the ids of those that do no longer.

    Written over ``entries``; returns how many.
    """
    boxes, classes, categories, masks = columns
    ids = kept[0]
    gone = 0
    for p in range(entries.shape[0]):
        i = ids[entries[p, 0]]
        j = ids[entries[p, 1]]
        stayed = (
            _overlap(boxes, i, boxes, j, touching)
            and _may(classes, categories, masks, i, classes, categories, masks, j)
            and not (renewed[i] or renewed[j])
        )
        if not stayed:
            put(entries, gone, i, j)
            gone += 1
    return gone
