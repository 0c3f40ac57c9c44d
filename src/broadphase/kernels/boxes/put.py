"""Replace one box of an index by the one that the caller wrote."""

from broadphase.kernels.boxes.given import take_box
from broadphase.kernels.machine.jit import brief, numbers
from broadphase.kernels.machine.scratch import one_row


@brief
@numbers(values=(4, 6))
def put_box(boxes, alive, end, i, values):
    """Give box ``i`` a new row; False, and nothing has changed, where that is refused."""
    row = one_row(len(values), boxes.dtype)
    if i < 0 or i >= end or not alive[i] or not take_box(values, boxes, row):
        return False
    for column in range(boxes.shape[1]):
        boxes[i, column] = row[0, column]
    return True
