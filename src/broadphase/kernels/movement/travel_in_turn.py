"""Boxes on their way one after the other: each finds those before it where they have come to."""

import numpy as np

from broadphase.kernels.machine.jit import jit
from broadphase.kernels.movement.travel import go_along


@jit
def travel_in_turn(
    movers, responses, begin, boxes, own, rows, starts, grid, places, inside, numbers, values
):  # fmt: skip
    """As `travel`; ``boxes[own[m]]`` is mover ``m`` itself and follows it.

    Ends behind the first mover that starts inside something, too.
    """
    found = np.int64(0)
    for m in range(begin, movers.shape[0]):
        more = go_along(
            movers, responses, m, boxes, rows, starts, grid, places, inside, numbers, values, found
        )
        if more < 0:
            return m, found, True
        found = more
        if inside[m]:
            return m + 1, found, False
        x, y, at = places[m, 0], places[m, 1], own[m]
        boxes[at, 0], boxes[at, 1] = x, y
        boxes[at, 2], boxes[at, 3] = x + movers[m, 2], y + movers[m, 3]
    return movers.shape[0], found, False
