"""The path of one walker: where its edges are, and what is recorded on the way.

A walker is where its upper left corner is, x and y exchanged where gravity points to the side, and tested as
if gravity pointed to larger y.
"""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from broadphase.kernels.machine.jit import inline
from broadphase.kernels.movement.sweep import flush_before
from broadphase.kernels.movement.walk_obstacles import WalkSettings, exchanged, exchanged_box
from broadphase.kernels.shapes.table import BOX, bounds_at, rounding

MOST_LEGS = 256


class Log(NamedTuple):
    """What walkers met, what each crossed, and where the last one turned."""

    hits: npt.NDArray[np.float64]
    """``(h, 9)``, as in `path.Buffers`."""
    bends: npt.NDArray[np.float64]
    """``(b, 3)``: place, time."""
    crossed: npt.NDArray[np.float64]
    """``(c, 9)``, as hits."""
    counts: npt.NDArray[np.int64]
    """``(3,)``: how many of each; a number beyond the length counts rows that were not written."""


class Trip(NamedTuple):
    """One walker, and the origin of its times."""

    mover: int
    width: float
    height: float
    length: float
    """Of both parts together."""
    left: float
    """The upper left corner of its bounds, relative to its position."""
    top: float
    right: float
    """The lower right corner, which rounding may separate from the upper left one and the size."""
    bottom: float
    radius: float
    """Of its corners."""
    rules: WalkSettings
    wrapped: float
    """How far it may be from what it touches: it was put there a period away, where numbers are larger."""


@inline
def trip_of(mover, shapes, row, length, wrapped, rules):
    """The trip of a walker."""
    radius = rounding(shapes, row)
    if shapes.kinds[row] == BOX:
        width, height = exchanged(shapes.width[row], shapes.height[row], rules)
        return Trip(mover, width, height, length, 0.0, 0.0, width, height, radius, rules, wrapped)
    left, top, right, bottom = exchanged_box(bounds_at(shapes, row, 0.0, 0.0), rules)
    return Trip(mover, right - left, bottom - top, length, left, top, right, bottom, radius, rules, wrapped)


@inline
def edges_at(x, y, trip):
    """The edges of a walker at a place."""
    if trip.rules.flip > 0.0:
        return x, y, x + trip.width, y + trip.height
    return x, -(y + trip.height), x + trip.width, -y


@inline
def place_with_feet(feet, trip):
    """The y of a walker whose feet are at a height."""
    return flush_before(feet, trip.height) if trip.rules.flip > 0.0 else -feet


@inline
def place_with_head(head, trip):
    """The y of a walker whose head is there."""
    return head if trip.rules.flip > 0.0 else flush_before(-head, trip.height)


@inline
def log_hit(log, obstacles, trip, k, normal, gone, x, y):
    """Record a hit after a part of the path."""
    entry = log.counts[0]
    log.counts[0] = entry + 1
    if entry < log.hits.shape[0]:
        log.hits[entry, 0] = min(gone / trip.length, 1.0) if trip.length > 0.0 else 0.0
        up = trip.rules.flip * normal[1] + 0.0
        log.hits[entry, 1], log.hits[entry, 2] = exchanged(normal[0] + 0.0, up, trip.rules)
        log.hits[entry, 3], log.hits[entry, 4] = exchanged(x - trip.left, y - trip.top, trip.rules)
        for column in range(3):
            log.hits[entry, 5 + column] = float(obstacles.names[k, column])
        log.hits[entry, 8] = float(trip.mover)


@inline
def log_bend(log, trip, gone, x, y):
    """Record the end of a leg."""
    entry = log.counts[1]
    log.counts[1] = entry + 1
    if entry < log.bends.shape[0]:
        log.bends[entry, 0], log.bends[entry, 1] = exchanged(x - trip.left, y - trip.top, trip.rules)
        log.bends[entry, 2] = min(gone / trip.length, 1.0) if trip.length > 0.0 else 0.0
