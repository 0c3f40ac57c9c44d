"""All pairs within the tree of moving boxes, and between it and the tree of static ones.

Two nodes that overlap are replaced by those of their children that do, level by level, until pairs of leaves
are left; then the boxes of these are compared, one against 16.
"""

from typing import Any

import numpy as np
import numpy.typing as npt

from broadphase.kernels.arrays.results import LEAST_ROOM, put
from broadphase.kernels.arrays.sorting import AT_ONCE
from broadphase.kernels.boxes.overlap import may_pair, overlap
from broadphase.kernels.machine.jit import inline, jit
from broadphase.kernels.machine.simd import (
    LANES,
    bits,
    count_lanes,
    load,
    lowest_lane,
    mask_of,
    put_lanes,
    put_pairs,
    splat,
)
from broadphase.kernels.machine.simd import store as store_lanes
from broadphase.kernels.tree.dynamic_tree import HEIGHT, MOVING, WIDTH, count_of, place_above

IdPairs = npt.NDArray[np.int32]
_FIRST_ROOM = 1024


@inline
def meeting(edges, node, lane, at, slot, dim):
    """Which of the slots of ``node`` from ``lane`` on meet a slot of node ``at``."""
    row = node * (2 * dim)
    own = at * (2 * dim)
    meets = load(edges, row, lane) <= splat(edges[own + dim, slot])
    meets = meets & (splat(edges[own, slot]) <= load(edges, row + dim, lane))
    meets = meets & (load(edges, row + 1, lane) <= splat(edges[own + dim + 1, slot]))
    meets = meets & (splat(edges[own + 1, slot]) <= load(edges, row + dim + 1, lane))
    if dim == 3:
        meets = meets & (load(edges, row + 2, lane) <= splat(edges[own + 5, slot]))
        meets = meets & (splat(edges[own + 2, slot]) <= load(edges, row + 5, lane))
    return meets


@inline
def meeting_bits(edges, node, at, slot, dim):
    """The same for all 16 slots, as bits."""
    found = bits(meeting(edges, node, 0, at, slot, dim))
    for lane in range(LANES, WIDTH, LANES):
        found |= bits(meeting(edges, node, lane, at, slot, dim)) << lane
    return found


@inline
def _add_children(edges, children, links, a, b, dim, out, end):
    """Append the pairs of children of ``a`` and ``b`` that meet; a node with itself: each once."""
    above, place = place_above(links, b)
    candidates = (1 << count_of(links, a)) - 1
    if a != b:
        candidates = meeting_bits(edges, a, above, place, dim)
    while candidates != 0:
        i = lowest_lane(candidates)
        candidates &= candidates - 1
        later = -1 if a != b else -1 << i
        for lane in range(0, WIDTH, LANES):
            wanted = mask_of(later >> lane) & meeting(edges, b, lane, a, i, dim)
            store_lanes(out, 0, end, splat(children[a, i]))
            end += put_lanes(out, 1, end, load(children, b, lane), wanted)
    return end


@inline
def _add_lower(edges, children, links, a, b, dim, out, end):
    """Append the pairs of a child of ``a`` with ``b``."""
    above, place = place_above(links, b)
    for lane in range(0, WIDTH, LANES):
        store_lanes(out, 1, end, splat(np.int32(b)))
        end += put_lanes(out, 0, end, load(children, a, lane), meeting(edges, a, lane, above, place, dim))
    return end


def leaves_that_meet(edges: Any, children: Any, links: Any, other: int) -> tuple[IdPairs, int]:
    """Pairs of leaves that overlap: of the moving tree with itself or (``other`` 1) with the static tree.

    Returns ``leaves, tests``; the first row of ``leaves`` names moving ones.
    """
    roots = children[0, [MOVING, other]]
    level, other_level = (children[0, [HEIGHT + MOVING, HEIGHT + other]] - 1).tolist()
    if not roots.all():
        return np.empty((2, 0), np.int32), 0
    now, then = np.empty((2, 2, _FIRST_ROOM), np.int32)
    now[:, 0] = roots
    count, tests = 1, 0
    while level > 0 or other_level > 0:
        at = found = 0
        while at < count:
            at, found, made = pair_children(
                edges, children, links, now, count, then, level - other_level, at, found, AT_ONCE
            )
            tests += made
            if found + LEAST_ROOM > then.shape[1]:
                larger = np.empty((2, 2 * then.shape[1]), np.int32)
                larger[:, :found] = then[:, :found]
                then = larger
        level, other_level = level - (level >= other_level), other_level - (other_level >= level)
        now, then, count = then, now, found
        if then.shape[1] < now.shape[1]:
            then = np.empty_like(now)
    return np.ascontiguousarray(now[:, :count]), tests


@jit
def pair_children(edges, children, links, now, count, then, higher, at, found, most):
    """For the pairs of nodes from ``at`` on, the pairs of children that meet, from ``then[:, found]`` on.

    ``higher`` than the second nodes by so many levels are the first: the children of the higher ones are
    paired with the others as they are.  Stops where there is no room, or ``most`` tests are made; returns
    ``at, found, tests``.
    """
    dim = edges.shape[0] // children.shape[0] // 2
    tests = np.int64(0)
    while at < count and tests <= most and found + LEAST_ROOM <= then.shape[1]:
        a = np.int64(now[0, at])
        b = np.int64(now[1, at])
        tests += count_of(links, a)
        if higher == 0:
            found = _add_children(edges, children, links, a, b, dim, then, found)
        elif higher > 0:
            found = _add_lower(edges, children, links, a, b, dim, then, found)
        else:
            before = found
            found = _add_lower(edges, children, links, b, a, dim, then, found)
            for k in range(before, found):
                then[0, k], then[1, k] = then[1, k], then[0, k]
        at += 1
    return at, found, tests


@jit
def join_leaves(
    edges, children, links, leaves, boxes, exact, touching, filter, at, end, out, most, store,  # noqa: A002
):  # fmt: skip
    """Pairs of boxes of the leaf pairs before ``end``, from ``at = row,`` on.

    Returns ``at, found, tests`` (`broadphase.kernels.arrays.results`).  ``exact``: a slot that meets is a
    pair, without another look at boxes and rules.
    """
    dim = boxes.shape[1] // 2
    row = at[0]
    found = tests = np.int64(0)
    while row < end and tests <= most:
        if store and found + LEAST_ROOM > out.shape[0]:
            break
        a = np.int64(leaves[0, row])
        b = np.int64(leaves[1, row])
        candidates = (1 << count_of(links, a)) - 1
        if a != b:
            above, place = place_above(links, b)
            candidates = meeting_bits(edges, a, above, place, dim)
            tests += count_of(links, a)
        while candidates != 0:
            i = lowest_lane(candidates)
            candidates &= candidates - 1
            later = -1 if a != b else -2 << i
            tests += count_of(links, b) - (0 if a != b else i + 1)
            for lane in range(0, WIDTH, LANES):
                wanted = mask_of(later >> lane) & meeting(edges, b, lane, a, i, dim)
                if exact and store:
                    found += put_pairs(out, found, splat(children[a, i]), load(children, b, lane), wanted)
                elif exact:
                    found += count_lanes(bits(wanted))
                else:
                    left = bits(wanted)
                    one = np.int64(children[a, i])
                    while left != 0:
                        two = np.int64(children[b, lane + lowest_lane(left)])
                        left &= left - 1
                        if overlap(boxes, one, two, touching) and may_pair(filter, one, two):
                            if store:
                                put(out, found, one, two)
                            found += 1
        row += 1
    return (row,), found, tests
