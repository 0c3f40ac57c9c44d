"""Input checks: all rows of an array, and single boxes, points and rays as the caller wrote them."""

import numpy as np

from broadphase.kernels.arrays.passes import answers_at
from broadphase.kernels.machine.jit import always_inline, holds_gil, inline, jit, numbers
from broadphase.kernels.machine.memory import one_row, with_columns

# -----------------------------------------------------------------------------------------------------------
# One pass over all boxes: whether every row is valid, and the bounds and sizes of the boxes.


BLOCK = 256  # rows that are checked together


@always_inline
def _is_sound(boxes, i):
    """Whether a row has no NaN and no ``min > max``: one comparison for each axis decides both."""
    # Both dimensions are written out: a loop over axes whose number the compiler does not know takes three
    # times as long.
    if boxes.shape[1] == 4:
        return (boxes[i, 0] <= boxes[i, 2]) & (boxes[i, 1] <= boxes[i, 3])
    return (boxes[i, 0] <= boxes[i, 3]) & (boxes[i, 1] <= boxes[i, 4]) & (boxes[i, 2] <= boxes[i, 5])


@jit
def first_unsound_row(boxes):
    """Index of the first row with a NaN or with ``min > max``, or -1."""
    if boxes.shape[1] == 4:
        return _first_unsound(with_columns(boxes, 4))
    return _first_unsound(with_columns(boxes, 6))


@inline
def _first_unsound(boxes):
    n = boxes.shape[0]
    begin = np.int64(0)
    while begin < n:  # in blocks: LLVM does not vectorise a loop with an early exit
        end = min(begin + BLOCK, n)
        unsound = np.int32(0)
        for i in range(begin, end):
            unsound += not _is_sound(boxes, i)
        if unsound > 0:
            break
        begin = end
    for i in range(begin, n):
        if not _is_sound(boxes, i):
            return i
    return -1


@jit
def first_bad_point(points, finite):
    """Index of the first row with a NaN, or with an infinity where they must be ``finite``; or -1."""
    values, begin = with_columns(points, 1), np.int64(0)
    while begin < values.shape[0]:  # in blocks, as in `_first_unsound`
        end, bad = min(begin + BLOCK, values.shape[0]), np.int32(0)
        for k in range(begin, end):
            bad += _is_bad(values[k, 0], finite)
        if bad > 0:
            break
        begin = end
    for k in range(begin, values.shape[0]):
        if _is_bad(values[k, 0], finite):
            return k // points.shape[1]
    return -1


@always_inline
def _is_bad(value, finite):
    rest = value - value if finite else value
    return rest != rest


@jit
def copy_sound_rows(boxes, out, begin, end):
    """Copy rows ``begin .. end - 1`` up to the first that is unsound; returns its index or -1.

    Both in one pass: reading a million boxes twice takes 0.6 ms more.  The copy is checked, because another
    thread may write to ``boxes``.
    """
    for i in range(begin, end):
        out[i, 0] = boxes[i, 0]
        out[i, 1] = boxes[i, 1]
        out[i, 2] = boxes[i, 2]
        out[i, 3] = boxes[i, 3]
        if boxes.shape[1] == 6:
            out[i, 4] = boxes[i, 4]
            out[i, 5] = boxes[i, 5]
        if not _is_sound(out, i):
            return i
    return -1


@jit
def finite_bounds(boxes, bounds):
    """The smallest and largest finite coordinate on each axis, in two rows; inverted if there is none."""
    dim = boxes.shape[1] // 2
    for axis in range(dim):
        bounds[0, axis] = np.inf
        bounds[1, axis] = -np.inf
    for i in range(boxes.shape[0]):
        for column in range(2 * dim):
            value = boxes[i, column]
            if np.isfinite(value):
                axis = column % dim
                bounds[0, axis] = min(bounds[0, axis], value)
                bounds[1, axis] = max(bounds[1, axis], value)


# -----------------------------------------------------------------------------------------------------------
# Arguments of a query, read by the kernel that answers it: rounded as the boxes are, and refused if invalid.
#
# A game makes thousands of queries a frame, and checking one in Python costs as much as the search.  The
# kernel only refuses it; `broadphase.indexes.arguments` then checks it again and raises with a message.


@inline
def take_box(values, boxes, query):
    """Write a box into row 0 of ``query``; returns whether it is valid and has the dimension of ``boxes``."""
    dim = boxes.shape[1] // 2
    if len(values) != 2 * dim:
        return False
    for column in range(len(values)):
        query[0, column] = boxes.dtype.type(values[column])
    sound = True
    for axis in range(dim):
        sound &= query[0, axis] <= query[0, dim + axis]  # false if one is NaN
    return sound


@inline
def take_point(values, boxes, point):
    """Write a point into ``point``; returns whether it is finite and has the dimension of ``boxes``."""
    if 2 * len(values) != boxes.shape[1]:
        return False
    finite = True
    for axis in range(len(values)):
        point[axis] = boxes.dtype.type(values[axis])
        finite &= abs(point[axis]) < np.inf
    return finite


@inline
def take_ray(values, boxes, ray):
    """Write origin, direction and distance into ``ray``; returns whether they are those of a ray."""
    dim = boxes.shape[1] // 2
    if len(values) != 2 * dim + 1:
        return False
    moves, finite = False, True
    for axis in range(dim):
        ray[axis], step = boxes.dtype.type(values[axis]), values[dim + axis]
        ray[dim + axis] = step
        finite &= (abs(ray[axis]) < np.inf) & (abs(step) < np.inf)
        moves |= step != 0.0
    ray[2 * dim] = values[2 * dim]
    return finite and moves and values[2 * dim] >= 0.0


@jit
def join_rays(origins, directions, distances, rays):
    """Write origin, direction and distance of each ray side by side; NumPy takes five times as long.

    A single distance is that of all rays.  Returns whether all are finite and no direction is zero.
    """
    dim = origins.shape[1]
    sound = True
    for k in range(rays.shape[0]):
        moves = False
        for axis in range(dim):
            start, step = origins[k, axis], directions[k, axis]
            rays[k, axis], rays[k, dim + axis] = start, step
            moves |= step != 0.0
            sound &= (start - start == 0.0) & (step - step == 0.0)
        rays[k, 2 * dim] = distances[k if distances.shape[0] > 1 else 0]
        sound &= moves
    return sound


# -----------------------------------------------------------------------------------------------------------
# The rows of an index by id: which are free, and boxes that are put into them.


@jit
def find_free(alive, first, ids):
    """Write the lowest ids that are not ``alive``, from ``first`` on, into ``ids``; there are as many."""
    found, begin = np.int64(0), np.int64(first)
    while found < ids.shape[0] and begin < alive.shape[0]:
        end = min(begin + BLOCK, alive.shape[0])
        count = np.int32(0)
        for i in range(begin, end):  # in blocks, as in `_first_unsound`
            count += alive[i]
        if count < end - begin:
            for i in range(begin, end):
                if not alive[i] and found < ids.shape[0]:
                    ids[found] = i
                    found += 1
        begin = end


@holds_gil
@numbers(values=(2, 3, 4, 6))
def put_new(boxes, alive, renewed, classes, categories, masks, i, values, bits, category, mask):
    """Write a new row, a box or a point that was checked, and its rules."""
    for column in range(boxes.shape[1]):
        boxes[i, column] = values[column]
    alive[i], renewed[i], classes[i], categories[i], masks[i] = True, True, bits, category, mask


@jit
def put_rows(boxes, ids, rows):
    """Give each box a new row; NumPy takes ten times as long."""
    for k in range(ids.shape[0]):
        for column in range(boxes.shape[1]):
            boxes[ids[k], column] = rows[k, column]
        if not answers_at(k):
            break


@holds_gil
@numbers(values=(4, 6))
def put_box(boxes, alive, end, i, values):
    """Give box ``i`` a new row; returns False, and changes nothing, if the row is invalid."""
    row = one_row(len(values), boxes.dtype)
    if i < 0 or i >= end or not alive[i] or not take_box(values, boxes, row):
        return False
    for column in range(boxes.shape[1]):
        boxes[i, column] = row[0, column]
    return True
