"""Boxes on their way one after the other: each finds those before it where they have come to."""

import numpy as np

from broadphase.kernels.machine.jit import inline, jit
from broadphase.kernels.movement.travel import travel


@jit
def travel_in_turn(movers, responses, begin, boxes, own, rows, starts, grid, places, inside):
    """As `travel`; ``boxes[own[m]]`` is mover ``m`` itself and follows it.

    Ends behind the first mover that starts inside something: ``numbers, values, found, next``.
    """
    count = movers.shape[0]
    numbers = np.empty((count - begin, 4), np.int64)
    values = np.empty((count - begin, 5), np.float64)
    found = 0
    for m in range(begin, count):
        more_numbers, more_values, more = travel(
            movers, responses, m, m + 1, boxes, rows, starts, grid, places, inside
        )
        if found + more > numbers.shape[0]:
            numbers, values = _grown(numbers, values, found, found + more)
        for k in range(more):
            for column in range(4):
                numbers[found, column] = more_numbers[k, column]
            for column in range(5):
                values[found, column] = more_values[k, column]
            found += 1
        if inside[m]:
            return numbers, values, found, m + 1
        x, y, at = places[m, 0], places[m, 1], own[m]
        boxes[at, 0], boxes[at, 1] = x, y
        boxes[at, 2], boxes[at, 3] = x + movers[m, 2], y + movers[m, 3]
    return numbers, values, found, count


@inline
def _grown(numbers, values, found, wanted):
    more_numbers = np.empty((2 * wanted, 4), np.int64)
    more_values = np.empty((2 * wanted, 5), np.float64)
    for k in range(found):
        for column in range(4):
            more_numbers[k, column] = numbers[k, column]
        for column in range(5):
            more_values[k, column] = values[k, column]
    return more_numbers, more_values
