"""From the few bodies that were touched to all contacts of a world, in few calls.

A frame in which little moves is the usual one in a game.  What NumPy does here in thirty small calls is a
hundred times as long as the work itself.
"""

import numpy as np

from broadphase.kernels.machine.jit import inline, jit
from broadphase.kernels.shapes.contact_rows import contact_of


@jit
def touched_rows(touched, alive, layer, moving_layer, static_layer, count, moving, static):
    """Rows of bodies in two layers that were touched: ``any, moving, static``, how many of each.

    ``any`` also counts what lies in other layers, or is gone.  Behind the end of ``moving`` and ``static``
    rows are counted only.
    """
    found = move = stand = 0
    for row in range(count):
        if touched[row]:
            found += 1
            if alive[row] and layer[row] == moving_layer:
                if move < moving.shape[0]:
                    moving[move] = row
                move += 1
            if alive[row] and layer[row] == static_layer:
                if stand < static.shape[0]:
                    static[stand] = row
                stand += 1
    return found, move, stand


@jit
def put_candidates(keys, count, row, near, many, bits, group, category, mask):
    """Write ``row`` with each of ``near[:many]`` that may concern somebody behind ``keys[:count]``.

    A key is the lower row ``<< 32`` and the higher one.  Returns how many keys there are then, -1: no room.
    """
    if count < 0 or count + many > keys.shape[0]:
        return -1
    for k in range(many):
        count = _put_candidate(keys, count, row, near[k], bits, group, category, mask)
    return count


@jit
def put_candidates_of_many(keys, count, asking, pairs, bits, group, category, mask):
    """The same for pairs ``[number of the asking row, row]``."""
    if count < 0 or count + pairs.shape[0] > keys.shape[0]:
        return -1
    for k in range(pairs.shape[0]):
        row, other = np.int64(asking[pairs[k, 0]]), pairs[k, 1]
        count = _put_candidate(keys, count, row, other, bits, group, category, mask)
    return count


@inline
def _put_candidate(keys, count, row, other, bits, group, category, mask):
    first, second = np.int64(min(row, other)), np.int64(max(row, other))
    concerns = bits[group[first], 0] & bits[group[second], 1]
    meets = category[row] & mask[other] and mask[row] & category[other]
    if row != other and concerns and meets:
        keys[count] = first << 32 | second
        return count + 1
    return count


@inline
def _sort_once(keys, count):
    """Ascending, and what stands there twice only once; how many are left."""
    left = 0
    for k in range(count):
        key = keys[k]
        at = left
        while at > 0 and keys[at - 1] > key:
            at -= 1
        if at > 0 and keys[at - 1] == key:
            continue
        for later in range(left, at, -1):
            keys[later] = keys[later - 1]
        keys[at] = key
        left += 1
    return left


@inline
def _put(out, at, i, j, group, nx, ny, depth):
    ids, normals, depths, groups = out
    ids[at, 0], ids[at, 1] = i, j
    groups[at, 0], groups[at, 1] = group[i], group[j]
    normals[at, 0], normals[at, 1] = nx, ny
    depths[at] = depth


@jit
def renew_contacts(table, touched, group, keys, count, before, ids, normals, depths, groups):
    """Contacts as they are now: ``before`` without what was touched, and those of the candidates in ``keys``.

    ``before`` is ``ids, normals, depths``; the last four arguments have room for all.  Returns how many there
    are, and how many candidates were tested.
    """
    candidates = _sort_once(keys, count)
    out = (ids, normals, depths, groups)
    old, old_normals, old_depths = before
    found = b = k = 0
    while b < old.shape[0] or k < candidates:
        if b < old.shape[0]:
            i, j = np.int64(old[b, 0]), np.int64(old[b, 1])
            if touched[i] or touched[j]:
                b += 1
                continue
            if k == candidates or (i << 32 | j) < keys[k]:
                _put(out, found, i, j, group, old_normals[b, 0], old_normals[b, 1], old_depths[b])
                found += 1
                b += 1
                continue
        i, j = keys[k] >> 32, keys[k] & 0xFFFFFFFF
        together, nx, ny, depth = contact_of(table, i, table, j, False)
        if together:
            _put(out, found, i, j, group, nx, ny, depth)
            found += 1
        k += 1
    return found, candidates


@jit
def split_rows(before, now, renewed, began, stayed, ended, were):
    """One merge of two sorted lists of pairs: which rows of ``now`` began and stayed, and how many did.

    Beside them which rows of ``before`` ended, and where those that have stayed were.  A pair in both has
    stayed, unless one of its ids was freed and reused in between.
    """
    come = stay = gone = 0
    b = n = 0
    while b < before.shape[0] or n < now.shape[0]:
        old = (np.int64(before[b, 0]) << 32 | before[b, 1]) if b < before.shape[0] else np.int64(-1)
        new = (np.int64(now[n, 0]) << 32 | now[n, 1]) if n < now.shape[0] else np.int64(-1)
        leaves = new < 0 or (old >= 0 and old <= new)
        enters = old < 0 or (new >= 0 and new <= old)
        if leaves and enters and not (renewed[now[n, 0]] or renewed[now[n, 1]]):
            stayed[stay], were[stay] = n, b
            stay += 1
        else:
            if leaves:
                ended[gone] = b
                gone += 1
            if enters:
                began[come] = n
                come += 1
        b += 1 if leaves else 0
        n += 1 if enters else 0
    return come, stay, gone
