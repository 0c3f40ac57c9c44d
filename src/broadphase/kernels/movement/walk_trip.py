"""One walker on its way: where its edges are, and what is noted of it."""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from broadphase.kernels.machine.jit import inline
from broadphase.kernels.movement.sweep import flush_before


class Log(NamedTuple):
    """What walkers met, and where they turned."""

    numbers: npt.NDArray[np.int64]
    """``(h, 4)``: mover, row of the body or -1, column and row of the tile or -1."""
    values: npt.NDArray[np.float64]
    """``(h, 5)``: time, normal, place."""
    bends: npt.NDArray[np.float64]
    """``(b, 4)``: mover, place, time."""
    counts: npt.NDArray[np.int64]
    """``(2,)``: how many of each; more than there is room for says how many were not written."""


class Trip(NamedTuple):
    """One walker, and what its times are reckoned from."""

    mover: int
    width: float
    height: float
    way: float
    """Of both parts together."""


@inline
def edges_at(x, y, trip, rules):
    """The edges of a walker at a place."""
    if rules.flip > 0.0:
        return x, y, x + trip.width, y + trip.height
    return x, -(y + trip.height), x + trip.width, -y


@inline
def place_with_feet(feet, trip, rules):
    """The y of a walker whose feet are there."""
    return flush_before(feet, trip.height) if rules.flip > 0.0 else -feet


@inline
def place_with_head(head, trip, rules):
    """The y of a walker whose head is there."""
    return head if rules.flip > 0.0 else flush_before(-head, trip.height)


@inline
def log_hit(log, room, trip, rules, k, normal, gone, x, y):
    """Note what was met after a part of the way."""
    at = log.counts[0]
    log.counts[0] = at + 1
    if at < log.numbers.shape[0]:
        log.numbers[at, 0] = trip.mover
        for column in range(3):
            log.numbers[at, 1 + column] = room.names[k, column]
        log.values[at, 0] = min(gone / trip.way, 1.0) if trip.way > 0.0 else 0.0
        log.values[at, 1], log.values[at, 2] = normal[0] + 0.0, rules.flip * normal[1] + 0.0
        log.values[at, 3], log.values[at, 4] = x, y


@inline
def log_bend(log, trip, gone, x, y):
    """Note where a leg ends."""
    at = log.counts[1]
    log.counts[1] = at + 1
    if at < log.bends.shape[0]:
        log.bends[at, 0], log.bends[at, 1], log.bends[at, 2] = float(trip.mover), x, y
        log.bends[at, 3] = min(gone / trip.way, 1.0) if trip.way > 0.0 else 0.0
