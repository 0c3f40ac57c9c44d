"""Rects of sprites, ``x, y, width, height``, as boxes."""

from broadphase.kernels.machine.jit import jit


@jit
def edges_of_rects(rects, boxes):
    """Boxes of rects; a negative size reaches to the left or up.

    Returns how many have no width or no height, and the number that is farthest from zero; NaN where one
    is no number.
    """
    flat = 0
    largest = 0.0
    for k in range(rects.shape[0]):
        flat += rects[k, 2] == 0.0 or rects[k, 3] == 0.0
        for axis in range(2):
            begin, end = rects[k, axis], rects[k, axis] + rects[k, 2 + axis]
            boxes[k, axis], boxes[k, 2 + axis] = min(begin, end), max(begin, end)
        for column in range(4):
            size = abs(rects[k, column])
            if size > largest or size != size:  # NaN stays
                largest = size
    return flat, largest
