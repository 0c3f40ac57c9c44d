"""What boxes on their way pass without being stopped: each leg of the way against each box near it, once."""

from broadphase.kernels.machine.jit import jit
from broadphase.kernels.movement.sweep import ALL_SIDES, NEVER, flush_place, meet, place_at
from broadphase.kernels.shapes.contact import box_box


@jit
def cross_rows(legs, boxes, pairs, values):
    """For every pair ``leg, box``, when and where the one begins to overlap the other.

    ``legs`` are rows ``x, y, width, height, goal_x, goal_y``; a row of ``values`` is ``time, normal, place``
    as a hit has them, with the time in 0..1 of the leg: 0 for what it starts in, `NEVER` for what it misses.
    """
    for k in range(pairs.shape[0]):
        leg, row = pairs[k, 0], pairs[k, 1]
        x, y, width, height = legs[leg, 0], legs[leg, 1], legs[leg, 2], legs[leg, 3]
        goal_x, goal_y = legs[leg, 4], legs[leg, 5]
        other = (boxes[row, 0], boxes[row, 1], boxes[row, 2], boxes[row, 3])
        inside, nx, ny, _ = box_box(
            x, y, x + width, y + height, other[0], other[1], other[2], other[3], False
        )
        values[k, 0], values[k, 1], values[k, 2], values[k, 3], values[k, 4] = 0.0, nx, ny, x, y
        if inside:
            continue
        goal_right, goal_bottom = goal_x + width, goal_y + height
        time, _, axis = meet(
            x, y, x + width, y + height, goal_x, goal_y, goal_right, goal_bottom, other, ALL_SIDES
        )
        values[k, 0] = time
        if time == NEVER:
            continue
        if axis == 0.0:
            values[k, 1], values[k, 2] = (-1.0 if goal_x > x else 1.0), 0.0
            values[k, 3] = flush_place(x, width, goal_x, other[0], other[2])
            values[k, 4] = place_at(y, goal_y, time)
        else:
            values[k, 1], values[k, 2] = 0.0, (-1.0 if goal_y > y else 1.0)
            values[k, 3] = place_at(x, goal_x, time)
            values[k, 4] = flush_place(y, height, goal_y, other[1], other[3])
