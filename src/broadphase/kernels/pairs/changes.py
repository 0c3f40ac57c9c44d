"""What changed between two frames: boxes that were touched, and pairs that began or ended."""

import math

import numpy as np

from broadphase.kernels.arrays.passes import looked
from broadphase.kernels.arrays.results import larger, put
from broadphase.kernels.arrays.sorting import DIGITS, sort_keys
from broadphase.kernels.boxes.overlap import agree, overlap
from broadphase.kernels.machine.jit import always_inline, inline, jit
from broadphase.kernels.machine.memory import AHEAD, prefetch, some_rows
from broadphase.kernels.shapes.contact import contact_of
from broadphase.kernels.shapes.images import deepest_contact, is_plain, shifted, wrapped
from broadphase.kernels.shapes.table import bounds_of, bounds_overlap

# -----------------------------------------------------------------------------------------------------------
# The state of boxes before they were touched, and which pairs changed.
#
# The journal has one entry for each id that was inserted, moved or removed since the last call of
# ``changes``: its former box and rules; a box of NaN if it did not exist.  ``slots[id]`` is the entry of an
# id, or -1.  NaN overlaps nothing, so boxes that do not exist need no case of their own, neither in the
# journal nor in the rows of free ids.


# Whether a query is for a box's old or new place, or both.
OLD, NEW = 1, 2
# Greater than the number of any pair.
AFTER_ALL = 2**62
_FIRST_CHANGES = 1024


@jit
def note(ids, fresh, columns, slots, kept, count, most):
    """Enter those of ``ids`` that are not in the journal yet; returns how many entries it has.

    Returns -1 if it would have more than ``most``.  ``columns`` are the boxes, classes, categories and masks
    by id; ``kept`` are ids and the same columns by entry.  ``fresh``: the ids were just assigned, so there
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
def plan_queries(ids, count, old, boxes, queries, purposes):
    """Write the boxes to query; returns how many.

    The old and the new place of a box are covered by one query around both if their distance is not larger
    than their size, else by two.  ``purposes[q]`` is ``4 * entry + OLD and/or NEW``.
    """
    dim = boxes.shape[1] // 2
    planned = 0
    for k in range(count):
        if k + AHEAD < count:
            prefetch(boxes, ids[k + AHEAD], 0)
        i = ids[k]
        was = old[k, 0] == old[k, 0]
        now = boxes[i, 0] == boxes[i, 0]
        is_near = was and now
        for axis in range(dim):
            old_low, old_high = float(old[k, axis]), float(old[k, dim + axis])
            low, high = float(boxes[i, axis]), float(boxes[i, dim + axis])
            lengths = (old_high - old_low) + (high - low)
            is_near &= max(old_high, high) - min(old_low, low) <= 2.0 * lengths
        if is_near:
            for axis in range(dim):
                queries[planned, axis] = min(old[k, axis], boxes[i, axis])
                queries[planned, dim + axis] = max(old[k, dim + axis], boxes[i, dim + axis])
            purposes[planned] = 4 * k + OLD + NEW
            planned += 1
            continue
        for part in (OLD, NEW):
            if was if part == OLD else now:
                for column in range(2 * dim):
                    queries[planned, column] = old[k, column] if part == OLD else boxes[i, column]
                purposes[planned] = 4 * k + part
                planned += 1
    return planned


@always_inline
def _may(classes, categories, masks, i, other_classes, other_categories, other_masks, j):
    """Whether the rules of row ``i`` and of row ``j`` let them be paired."""
    return (
        classes[i] & other_classes[j] == 0
        and categories[i] & other_masks[j] != 0
        and other_categories[j] & masks[i] != 0
    )


@jit
def compare_found(rows, purposes, columns, marks, slots, new, kept, renewed, ruled, touching, ended):
    """Pairs that began or ended among the results of the planned queries; returns how many of each.

    Those that began are written over ``rows``, those that ended into ``ended``, which has as many rows.

    ``rows`` are ``[query, id]``, ``marks`` a bit for each id, set if it is in the journal, ``new`` where the
    entries of the journal are now, ``renewed`` whether their ids were reused, ``ruled`` whether any box has
    rules.  For two ids in the journal, the one with the smaller number reports that the pair began; a pair
    that ended between them is not reported here (`compare_old`).
    """
    boxes, classes, categories, masks = columns
    ids, old, old_classes, old_categories, old_masks = kept
    # Most finds have not changed.  These are skipped first, without a branch, which would be mispredicted at
    # every fourth; this takes a quarter of the time of testing each find completely.
    count = 0
    for r in range(rows.shape[0]):
        prefetch(boxes, rows[min(r + AHEAD, rows.shape[0] - 1), 1], 0)
        k = np.int64(purposes[rows[r, 0]] >> 2)
        j = np.int64(rows[r, 1])
        now, was = overlap(new, k, boxes, j, touching), overlap(old, k, boxes, j, touching)
        noted = ((marks[j >> 3] >> (j & 7)) & 1 != 0) & (j != ids[k])
        rows[count, 0], rows[count, 1] = rows[r, 0], rows[r, 1]
        count += np.int64((now != was) | noted | renewed[k])
    # At most one of each for each row.
    come = 0
    gone = 0
    for r in range(count):
        k = np.int64(purposes[rows[r, 0]] >> 2)
        part = purposes[rows[r, 0]] & 3
        i = np.int64(ids[k])
        j = np.int64(rows[r, 1])
        t = np.int64(slots[j])
        if t >= 0 and (part == OLD or i >= j):
            continue
        same = not renewed[k]
        now = overlap(new, k, boxes, j, touching)
        if t >= 0:
            same &= not renewed[t]
            was = overlap(old, k, old, t, touching)
            if ruled:
                was &= _may(
                    old_classes, old_categories, old_masks, k, old_classes, old_categories, old_masks, t
                )
        else:
            was = overlap(old, k, boxes, j, touching)
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
    """From pairs of entries that overlapped and counted, the ids of those that no longer do.

    Writes them over ``entries``; returns how many.
    """
    boxes, classes, categories, masks = columns
    ids = kept[0]
    gone = 0
    for p in range(entries.shape[0]):
        i = ids[entries[p, 0]]
        j = ids[entries[p, 1]]
        stayed = (
            overlap(boxes, i, boxes, j, touching)
            and _may(classes, categories, masks, i, classes, categories, masks, j)
            and not (renewed[i] or renewed[j])
        )
        if not stayed:
            put(entries, gone, i, j)
            gone += 1
    return gone


# -----------------------------------------------------------------------------------------------------------
# Two sorted pair lists compared: which pairs began and which ended; and a list with some pairs toggled.


@inline
def _key(pairs, row):
    """A pair as one number that sorts as the pair does."""
    return (np.int64(pairs[row, 0]) << 32) | np.int64(pairs[row, 1])


@jit
def split_changes(before, now, renewed):
    """Which pairs began and which ended, of two sorted lists.

    A pair in both lists has stayed, unless one of its ids was reused in between: then the old pair has ended
    and the new one has begun.
    """
    began, ended = np.empty((_FIRST_CHANGES, 2), np.int32), np.empty((_FIRST_CHANGES, 2), np.int32)
    b = n = come = gone = np.int64(0)
    while b < before.shape[0] and n < now.shape[0]:
        was, its = _key(before, b), _key(now, n)
        if was == its and not (renewed[now[n, 0]] | renewed[now[n, 1]]):
            b += 1
            n += 1
            continue
        if come == began.shape[0]:
            began = larger(began, come)
        if gone == ended.shape[0]:
            ended = larger(ended, gone)
        # Without a branch for each case, which would be predicted wrong: 1.3 ns a pair instead of 2.5.
        leaves, enters = was <= its, its <= was
        ended[gone, 0], ended[gone, 1] = before[b, 0], before[b, 1]
        began[come, 0], began[come, 1] = now[n, 0], now[n, 1]
        gone += leaves
        come += enters
        b += leaves
        n += enters
    return _and_rest(began, come, now, n), _and_rest(ended, gone, before, b)


@inline
def _and_rest(pairs, count, others, first):
    """The first pairs and the others from a row on, in an array of their own."""
    out = np.empty((count + others.shape[0] - first, 2), np.int32)
    for k in range(count):
        out[k, 0], out[k, 1] = pairs[k, 0], pairs[k, 1]
    for k in range(first, others.shape[0]):
        out[count + k - first, 0], out[count + k - first, 1] = others[k, 0], others[k, 1]
    return out


@jit
def toggle_pairs(base, keys):
    """The sorted pairs of ``base`` without those of ``keys`` that are in it, and with the others.

    ``keys`` are sorted, ``first << 32 | second``; a key that occurs an even number of times has no effect.
    """
    out = np.empty((base.shape[0] + keys.shape[0], 2), np.int32)
    b = written = k = np.int64(0)
    while k < keys.shape[0]:
        key = keys[k]
        times = 0
        while k < keys.shape[0] and keys[k] == key:
            times += 1
            k += 1
        if times % 2 == 0:
            continue
        while b < base.shape[0] and _key(base, b) < key:
            out[written, 0], out[written, 1] = base[b, 0], base[b, 1]
            written += 1
            b += 1
        if b < base.shape[0] and _key(base, b) == key:
            b += 1
        else:
            out[written, 0], out[written, 1] = key >> 32, key & 0xFFFFFFFF
            written += 1
    while b < base.shape[0]:
        out[written, 0], out[written, 1] = base[b, 0], base[b, 1]
        written += 1
        b += 1
    return out[:written]


@jit
def name_pairs(rows, ids, again, sets, ruled):
    """Turn rows ``[query, id]`` into pairs of ids, at the front of the rows; returns how many there are.

    ``ids`` are those of the queries.  ``again`` says which ids the queries are of: each finds itself, and two
    of them find each other twice; it is empty if none is found.  ``sets`` are the classes, categories and
    masks by id, which decide if ``ruled``.
    """
    classes, categories, masks = sets
    count = np.int64(0)
    for r in range(rows.shape[0]):
        i, j = np.int64(ids[rows[r, 0]]), np.int64(rows[r, 1])
        kept = True
        if again.shape[0] > 0:
            kept = (i < j) | (not again[j])
        if ruled:
            kept &= _may(classes, categories, masks, i, classes, categories, masks, j)
        put(rows, count, i, j)
        count += np.int64(kept)
    return count


@jit
def replace_pairs(base, gone, keys, out):
    """Copy the pairs of ``base`` to ``out``, except those with an id that is ``gone``; how many there are.

    ``keys`` are further pairs, ``first << 32 | second``, which are merged if they and ``base`` are sorted.
    """
    written = b = np.int64(0)
    if keys.shape[0] == 0:
        for row in range(base.shape[0]):
            i, j = base[row, 0], base[row, 1]
            out[written, 0], out[written, 1] = i, j
            written += np.int64(not (gone[i] | gone[j]))
        return written
    for key in range(keys.shape[0] + 1):
        following = keys[key] if key < keys.shape[0] else np.int64(AFTER_ALL)
        while b < base.shape[0] and _key(base, b) < following:
            first = b
            while (
                b < base.shape[0] and _key(base, b) < following and not (gone[base[b, 0]] | gone[base[b, 1]])
            ):
                b += 1
            for row in range(first, b):
                out[written + row - first, 0] = base[row, 0]
                out[written + row - first, 1] = base[row, 1]
            written += b - first
            b += np.int64(b < base.shape[0] and gone[base[b, 0]] | gone[base[b, 1]])
        if key < keys.shape[0]:
            out[written, 0], out[written, 1] = following >> 32, following & 0xFFFFFFFF
            written += 1
    return written


# -----------------------------------------------------------------------------------------------------------
# From the few bodies that were touched to all contacts of a world, in few calls.
#
# In a game most frames change little.  Thirty small NumPy calls would take a hundred times as long as the
# work itself.


@inline
def _touched_rows(touched, alive, layer, layers, count):
    """The rows of bodies in some layers that were touched."""
    found = np.int64(0)
    for row in range(count):
        found += np.int64(touched[row] and alive[row])
    rows, listed = np.empty(found, np.int32), 0
    for row in range(count if found > 0 else 0):
        if touched[row] and alive[row] and (layers >> np.int64(layer[row])) & 1 != 0:
            rows[listed] = row
            listed += 1
    return rows[:listed]


@inline
def _are_wanted(i, j, bits, group, category, mask):
    """Whether a listener may want two rows, and their categories and masks agree; a row and itself never."""
    return i != j and bits[group[i], 0] & bits[group[j], 1] != 0 and agree(category, mask, i, j)


# What a note says of two bodies; of several the least counts, after what overlaps.
STOPPED, CROSSED = 1, 2


@inline
def _named(hits, period):
    """Hits as columns: movers, others, tiles, times, normals and places, wrapped into the period."""
    count = hits.shape[0]
    movers, others = np.empty(count, np.int64), np.empty(count, np.int64)
    tiles, touches = np.empty((count, 2), np.int64), np.empty((count, 2), np.float64)
    times, normals = np.empty(count, np.float64), np.empty((count, 2), np.float64)
    for k in range(count):
        movers[k], others[k] = np.int64(hits[k, 8]), np.int64(hits[k, 5])
        tiles[k, 0], tiles[k, 1] = np.int64(hits[k, 6]), np.int64(hits[k, 7])
        times[k], normals[k, 0], normals[k, 1] = hits[k, 0], hits[k, 1], hits[k, 2]
        touches[k, 0], touches[k, 1] = wrapped(hits[k, 3], period[0]), wrapped(hits[k, 4], period[1])
    return movers, others, tiles, times, normals, touches


# A note costs an update as much as so many rows of a table of contacts.
_ROWS_A_NOTE = 16


@inline
def _first_of_rows(ids, rows):
    """For each of so many rows, where its pairs begin in sorted ones; and then where the last ones end."""
    first, pair = np.empty(rows + 1, np.int32), 0
    for row in range(rows + 1):
        while pair < ids.shape[0] and ids[pair, 0] < row:
            pair += 1
        first[row] = pair
    return first


@inline
def _is_among(ids, first, i, j):
    """Whether ``i, j`` is one of sorted pairs, of which those of row ``i`` begin at ``first[i]``."""
    low, high = first[i], first[i + 1]
    while low < high:
        middle = (low + high) // 2
        if ids[middle, 1] < j:
            low = middle + 1
        else:
            high = middle
    return low < first[i + 1] and ids[low, 1] == j


@jit
def report_hits(rows, responses, passing, hits, crossed, tags, more, before, period):
    """What movers hit and crossed as columns, see `_named`, and of it what a listener may want as notes.

    ``rows`` are those of the movers, whose hits stop them but with the response ``passing``; hits are as
    `movement.motion.move_many` writes them.  A note is the rows of mover and other body, the serial numbers
    of both, the normal, and `STOPPED` or `CROSSED`: first what stopped movers, then what they crossed.
    ``more`` are, by row, ``renewed, serial``, and ``before`` the pairs in contact at the last update: of
    many, such a pair is not noted as crossed, because it has not begun since.
    """
    bits, group, category, mask = tags
    renewed, serial = more
    looks = _ROWS_A_NOTE * crossed.shape[0] > serial.shape[0]
    first = _first_of_rows(before, serial.shape[0] if looks else 0)
    notes, noted = np.empty((hits.shape[0] + crossed.shape[0], 7), np.float64), np.int64(0)
    for how in (STOPPED, CROSSED):
        met = hits if how == STOPPED else crossed
        for k in range(met.shape[0]):
            m, j = np.int64(met[k, 8]), np.int64(met[k, 5])
            i = np.int64(rows[m])
            if j < 0 or (how == STOPPED and responses[m] == passing):
                continue
            if how == CROSSED and looks and _is_among(before, first, min(i, j), max(i, j)):
                if not (renewed[i] or renewed[j]):
                    continue
            if not _are_wanted(i, j, bits, group, category, mask):
                continue
            notes[noted, 0], notes[noted, 1] = float(i), float(j)
            notes[noted, 2], notes[noted, 3] = float(serial[i]), float(serial[j])
            notes[noted, 4], notes[noted, 5], notes[noted, 6] = met[k, 1], met[k, 2], float(how)
            noted += 1
    return _named(hits, period), _named(crossed, period), notes[:noted]


@inline
def _contacts_near(table, bodies, alive, layers, changed, neighbors, period, tags, keys, ranks, contacts):
    """Write the contacts of what was touched, from what is near movers, as entries: ``found, candidates``.

    Mover ``m`` is ``rows[m]``; ``others[first[m]:first[m + 1]]`` are the bodies whose bounds meet its region,
    and the movers whose regions do.  So these are all pairs as long as the bodies that were touched,
    ``changed`` in the layers, are movers within their regions; else -1 is returned.

    Candidates are the pairs with a touched body that a listener may want; each is tested.
    """
    rows, regions, first, others = neighbors
    bits, group, category, mask = tags
    touched, static, plain = bodies.touched, bodies.static, is_plain(period)
    numbers = some_rows(8, 1, np.float64)
    found = candidates = checked = within = close = np.int64(0)
    for m in range(rows.shape[0]):
        row = np.int64(rows[m])
        if not (touched[row] and alive[row]):
            continue
        bounds = bounds_of(table, row)
        if (layers >> np.int64(bodies.layer[row])) & 1 != 0:
            for axis in range(2):
                low, high, length = bounds[axis], bounds[axis + 2], period[axis]
                if length < math.inf and regions[m, axis] > -math.inf:
                    turns = np.int64(math.ceil((regions[m, axis] - low) / length))
                    low, high = shifted(low, turns, length), shifted(high, turns, length)
                if not (regions[m, axis] <= low and high <= regions[m, axis + 2]):
                    return np.int64(-1), candidates
            within += 1
        # Without a branch for each pair, as in `compare_found`.
        for k in range(first[m], first[m + 1]):
            ahead = others[min(k + AHEAD, others.shape[0] - 1)]
            prefetch(table.x, ahead, 0)
            prefetch(table.y, ahead, 0)
            prefetch(table.width, ahead, 0)
            prefetch(table.height, ahead, 0)
            other = np.int64(others[k])
            if other < row and touched[other]:  # they are near each other: the pair is taken once
                continue
            keys[close] = row << 32 | other
            close += np.int64((not plain) | bounds_overlap(bounds, bounds_of(table, other)))
    if within != changed:
        return np.int64(-1), candidates
    for k in range(close):
        row, other = keys[k] >> 32, keys[k] & 0xFFFFFFFF
        if not alive[other] or (static[row] and static[other]):
            continue
        i, j = min(row, other), max(row, other)
        if _are_wanted(i, j, bits, group, category, mask):
            candidates += 1
            checked = looked(_TESTS_EACH * candidates, checked)
            if checked < 0:
                return found, candidates
            if plain:
                together, nx, ny, depth = contact_of(table, i, table, j, False)
            else:
                together, nx, ny, depth = deepest_contact(table, i, j, period, numbers)
            if together:
                keys[found], ranks[found] = i << 32 | j, -1
                contacts[found, 0], contacts[found, 1], contacts[found, 2] = nx, ny, depth
                found += 1
    return found, candidates


# A contact of two shapes takes about as long as so many comparisons of boxes.
_TESTS_EACH = 16


@inline
def _keep(now, place, key, group_i, group_j, nx, ny, depth, overlap):
    ids, normals, depths, groups, overlaps = now
    ids[place, 0], ids[place, 1] = key >> 32, key & 0xFFFFFFFF
    groups[place, 0], groups[place, 1] = group_i, group_j
    normals[place, 0], normals[place, 1], depths[place], overlaps[place] = nx, ny, depth, overlap


# What `renew` returns first: it is done, or needs all pairs of the rows that were touched.
DONE, SEARCH = 0, 1


@jit
def renew(table, bodies, more, layers, rows, period, changed, neighbors, notes, before, tags):
    """The contacts of an update, and how they differ from those of the update before.

    Parameters
    ----------
    table : ShapeColumns
        The shapes of all bodies.
    bodies : Bodies
        What movements mark, by row.
    more : tuple
        By row: ``alive, renewed, serial``.
    layers : int
        The layers of bodies with listeners, a bit for each.
    rows : int
        How many are in use.
    period : f8[1]
        The lengths of the world.
    changed : int
        How many bodies in the layers were touched; -1 where that is not known.
    near : tuple
        What is near what was touched, see `_contacts_near`, or what the last movement found.
    notes : f8[2]
        What stopped or crossed what, as `report_hits` writes it, in the order of time.
    before : tuple
        The contacts then: ``ids, normals, depths, groups, overlaps``, sorted.
    tags : tuple
        ``bits, group``: what sets of tags are and want, and the set of each body.

    Returns
    -------
    state : int
        `SEARCH` where that does not cover all that was touched: only this is returned then.
    now : tuple
        ``ids, normals, depths, groups, overlaps`` of the contacts, as ``before``.
    every : tuple
        The same, and, from the end on, those that have ended: as they were, or, where one only passed the
        other, as that was noted.
    which : tuple
        Which rows of ``every`` began, which stayed, where these were ``before``, and which have ended.  What
        only passed has begun and ended in one row.
    counts : tuple
        How many only passed; how many pairs were tested.
    touched : i4[1]
        The rows that were touched, if how many was not known.
    """
    ids, normals, depths, were_groups, overlaps = before
    alive, renewed, serial = more
    touched, static = bodies.touched, bodies.static
    bits, group, category, mask = tags[0], tags[1], bodies.category, bodies.mask
    those = _touched_rows(touched, alive, bodies.layer, layers, rows if changed < 0 else 0)
    changed = np.int64(changed if changed >= 0 else those.shape[0])
    pairs = neighbors[3].shape[0] if changed > 0 else 0
    entries = pairs + notes.shape[0]
    keys, ranks = np.empty(entries, np.int64), np.empty(entries, np.int64)
    order = np.zeros(entries, np.int64)  # rows, also where a signal ends sorting
    contacts, count, candidates = np.empty((pairs, 3), np.float64), np.int64(0), np.int64(0)
    if changed > 0:
        wants = bits, group, category, mask
        known = table, bodies, alive, layers, changed, neighbors, period, wants
        count, candidates = _contacts_near(*known, keys, ranks, contacts)
    if count < 0:
        nothing = order[:0]
        return SEARCH, before, before, (nothing, nothing, nothing, nothing), (count, candidates), those
    last = np.int64(notes.shape[0])
    for turn in range(2 * last):
        # The last way in which one stopped the other counts, and then the first in which it was crossed.
        k = last - 1 - turn if turn < last else turn - last
        if (notes[k, 6] == float(STOPPED)) != (turn < last):
            continue
        i, j = np.int64(notes[k, 0]), np.int64(notes[k, 1])
        same = alive[i] and alive[j] and serial[i] == notes[k, 2] and serial[j] == notes[k, 3]
        if not same or (static[i] and static[j]) or not _are_wanted(i, j, bits, group, category, mask):
            continue
        keys[count], ranks[count] = min(i, j) << 32 | max(i, j), last - k if turn < last else last + 1 + k
        count += 1
    sort_keys(keys, count, np.empty((2, count), np.int64), np.empty(DIGITS, np.int64), order)

    most = ids.shape[0] + count
    new_ids, new_groups = np.empty((most, 2), np.int32), np.empty((most, 2), np.int32)
    new_normals, new_depths = np.empty((most, 2), np.float64), np.empty(most, np.float64)
    new_overlaps = np.empty(most, np.bool_)
    every = new_ids, new_normals, new_depths, new_groups, new_overlaps
    began, stayed = np.empty(most, np.int64), np.empty(most, np.int64)
    were, ended = np.empty(most, np.int64), np.empty(most, np.int64)
    size = come = stay = gone = passed = b = entry = np.int64(0)
    end, last_key = np.int64(ids.shape[0]), np.int64(0x7FFFFFFFFFFFFFFF)
    while b < end or entry < count:
        old = _key(ids, b) if b < end else last_key
        key = keys[order[entry]] if entry < count else last_key
        i, j = min(old, key) >> 32, min(old, key) & 0xFFFFFFFF
        if old <= key and overlaps[b] and not (touched[i] or touched[j]):
            # It is as it was, whatever was noted.
            contact = normals[b, 0], normals[b, 1], depths[b], True
            _keep(every, size, old, group[i], group[j], *contact)
            stayed[stay], were[stay] = size, b
            size += 1
            stay += 1
            b += 1
            while entry < count and keys[order[entry]] == old:
                entry += 1
            continue
        k = order[entry] if key <= old else np.int64(-1)
        rank = ranks[k] if k >= 0 else last + 1
        stays = old == key and not (renewed[i] or renewed[j])
        if old <= key and (not stays or rank > last):
            ended[gone] = most - 1 - gone
            contact = normals[b, 0], normals[b, 1], depths[b], overlaps[b]
            _keep(every, ended[gone], old, were_groups[b, 0], were_groups[b, 1], *contact)
            gone += 1
        nx, ny, depth = 0.0, 0.0, 0.0
        if k >= 0 and rank < 0:
            nx, ny, depth = contacts[k, 0], contacts[k, 1], contacts[k, 2]
        elif k >= 0:
            note = last - rank if rank <= last else rank - last - 1
            nx, ny = notes[note, 4], notes[note, 5]
            if notes[note, 0] > notes[note, 1]:
                nx, ny = 0.0 - nx, 0.0 - ny
        if rank <= last:
            _keep(every, size, key, group[i], group[j], nx, ny, depth, rank < 0)
            if stays:
                stayed[stay], were[stay] = size, b
                stay += 1
            else:
                began[come] = size
                come += 1
            size += 1
        elif k >= 0 and not stays:  # what was in contact then, and is not now, has only ended
            ended[gone] = began[come] = most - 1 - gone
            _keep(every, ended[gone], key, group[i], group[j], nx, ny, 0.0, False)
            passed += 1
            come += 1
            gone += 1
        b += np.int64(old <= key)
        while k >= 0 and entry < count and keys[order[entry]] == key:
            entry += 1
    now = new_ids[:size], new_normals[:size], new_depths[:size], new_groups[:size], new_overlaps[:size]
    which = began[:come], stayed[:stay], were[:stay], ended[:gone]
    return DONE, now, every, which, (passed, candidates), those


@jit
def numbers_of(table, groups, rows):
    """What a table says of the two groups of some rows, and whether it knows all: -1 is unknown."""
    numbers, known = np.empty(rows.shape[0], np.int64), True
    for k in range(rows.shape[0]):
        numbers[k] = table[groups[rows[k], 0], groups[rows[k], 1]]
        known &= numbers[k] >= 0
    return numbers, known


@jit
def turned_contacts(rows, numbers, first, turned, ids, normals, depths):
    """Contacts as listeners get them: ``positions, which, a, b, normals, depths``, by contact.

    ``rows`` are those of the contacts in the columns.  The contact with number ``n`` is wanted by the entries
    ``first[n]:first[n + 1]``; ``turned`` says of each whether its second body comes first.  ``positions`` and
    ``which`` are the place among the rows and the entry.
    """
    count = np.int64(0)
    for k in range(rows.shape[0]):
        count += first[numbers[k] + 1] - first[numbers[k]]
    positions, which = np.empty(count, np.int64), np.empty(count, np.int64)
    a, b = np.empty(count, np.int32), np.empty(count, np.int32)
    out, deep, filled = np.empty((count, 2), np.float64), np.empty(count, np.float64), 0
    for k in range(rows.shape[0]):
        row = rows[k]
        for entry in range(first[numbers[k]], first[numbers[k] + 1]):
            side = np.int64(turned[entry])
            positions[filled], which[filled] = k, entry
            a[filled], b[filled], deep[filled] = ids[row, side], ids[row, 1 - side], depths[row]
            for axis in range(2):
                out[filled, axis] = 0.0 - normals[row, axis] if side == 1 else normals[row, axis]
            filled += 1
    return positions, which, a, b, out, deep
