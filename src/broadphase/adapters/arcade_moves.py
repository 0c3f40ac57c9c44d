"""One movement of one of arcade's sprites among walls: out of them, turned, up or down, and along.

The order, the rounding of y to two digits and the whole pixels along are arcade's.  How far it goes is not
tried in steps but computed: a way up or down ends where the hit boxes come to touch, and nothing is jumped
over.
"""

import math
from collections.abc import Iterator
from itertools import count
from typing import Any, NamedTuple

import numpy as np

from broadphase.adapters.arcade_surroundings import HUNDREDTHS, Floats, Place, Surroundings, off

_HAIR = 1e-9


class Rules(NamedTuple):
    """How a sprite moves."""

    climbs: bool = False
    """Whether it walks up what is no steeper than its way is long."""
    snap: float = 0.0
    """How far below a floor may be on which it is set down while it walks."""


def move(sprite: Any, around: Surroundings, rules: Rules) -> list[Any]:
    """Move a sprite by its own ``change_angle``, ``change_y`` and ``change_x``; whom it hit, each once."""
    x, y = sprite._position
    if not around.free(x, y):
        x, y = around.freed(x, y)
    x, y, turned_into = _turn(sprite, around, x, y)
    y, met, ground = _up_or_down(around, x, y, sprite.change_y)
    along = sprite.change_x
    if met:
        holder = ground if ground is not None else met[0]
        sprite_falls = ground is not None and sprite.change_y < 0.0
        sprite.change_y = min(0.0, getattr(holder, "change_y", 0.0))
        if sprite_falls:
            x, y = _carried(around, x, y, getattr(ground, "change_x", 0.0))
    if along:
        x, y, walked_into = _along(around, x, y, along, rules.climbs)
        met += [other for other in walked_into if other not in met]
        if rules.snap and ground is not None and sprite.change_y <= 0.0:
            y = _set_down(around, x, y, rules.snap)
    sprite.position = x, y
    return met + [other for other in turned_into if other not in met]


def _turn(sprite: Any, around: Surroundings, x: float, y: float) -> tuple[float, float, list[Any]]:
    """Turn it, and search for room where it has none; undo that where room is too far away."""
    if not sprite.change_angle:
        return x, y, []
    before = sprite.angle
    sprite.angle += sprite.change_angle
    around.read_outline()
    met = around.hits(x, y)
    if not met:
        return x, y, met
    there = around.searched(x, y)
    if there == (x, y) or math.dist(there, (x, y)) > (sprite.width + sprite.height) / 2:
        sprite.angle = before
        around.read_outline()
        return x, y, met
    return *there, met


def _up_or_down(around: Surroundings, x: float, y: float, dy: float) -> tuple[float, list[Any], Any]:
    """Where it comes to, whom it met, and what holds it: of what it met first that which it shares most."""
    first, enter, leave = around.way(x, y, 0.0, dy)
    if first >= 1.0:
        goal = y + dy
        fits = round(goal, 2)
        return (fits if around.free(x, fits) else goal if around.free(x, goal) else y), [], None
    stopped = np.flatnonzero(enter <= first + _HAIR).tolist()
    met = np.flatnonzero((enter <= first + _HAIR) | (leave > 1.0) & (enter < 1.0)).tolist()
    holder = max((around.others[k] for k in stopped), key=lambda one: around.shared_width(x, one))
    return _beside(around, x, y, dy * first, -dy), [around.others[k] for k in met], holder


def _beside(around: Surroundings, x: float, y: float, dy: float, away: float) -> float:
    """The way ends at an obstacle: two digits, but not into it."""
    for more in (0, 1):
        there = off(y + dy, away, HUNDREDTHS, more)
        if around.free(x, there):
            return there
    return y


def _carried(around: Surroundings, x: float, y: float, dx: float) -> Place:
    """What it stands on takes it along, as far as there is room."""
    if dx:
        x += dx * around.first(x, y, dx, 0.0)
    return x, y


def _along(
    around: Surroundings, x: float, y: float, dx: float, climbs: bool
) -> tuple[float, float, list[Any]]:
    """Sideways; in parts none longer than the sprite is wide, so that it climbs nothing in one leap."""
    parts = math.ceil(abs(dx) / max(1.0, 2.0 * around.reach))
    met: list[Any] = []
    for _ in range(parts):
        x, y, hits, whole = _one_part(around, x, y, dx / parts, climbs)
        met += [other for other in hits if other not in met]
        if not whole:
            break
    return x, y, met


def _one_part(
    around: Surroundings, x: float, y: float, dx: float, climbs: bool
) -> tuple[float, float, list[Any], bool]:
    """One part of the way, or the most whole pixels of it, and whether that was all."""
    first, enter, leave = around.way(x, y, dx, 0.0)
    if first >= 1.0:
        return x + dx, y, [], True
    length, met = abs(dx), [around.others[k] for k in _met_along(enter, leave, first).tolist()]
    clear = length * first
    for far in _lengths(length):
        there = x + math.copysign(far, dx)
        if far <= clear + _HAIR and around.free(there, y):
            return there, y, met, far == length
        if climbs and far > 0.0:
            height = _climbed(around, x, y, there, far)
            if height is not None:
                return there, height, met, far == length
    return x, y, met, False


def _met_along(enter: Floats, leave: Floats, first: float) -> Any:
    """Whom it would stand in at the end, and those that it would enter first."""
    return np.flatnonzero((enter < 1.0) & (leave > 1.0) | (enter <= first + _HAIR))


def _lengths(length: float) -> Iterator[float]:
    """All of a way; then what whole pixels less leave of it, and whole pixels: the longest first."""
    yield length
    fraction = length - math.floor(length)
    for whole in count(math.ceil(length) - 1, -1):
        if whole + fraction <= length - 1.0 and fraction:
            yield whole + fraction
        if whole < 0:
            return
        if whole <= length - 1.0 or whole == 0:
            yield float(whole)


def _climbed(around: Surroundings, x: float, y: float, there: float, far: float) -> float | None:
    """How high it stands after a way that leads up no more than along; ``None`` where there is none."""
    if not around.free(there, y + far):
        return None
    drop = far * around.first(there, y + far, 0.0, -far)
    height = y + far - math.floor(drop + _HAIR)
    rise = height - y
    steep = around.first(x, y, there - x, rise) == 1.0
    if not steep and (around.first(x, y, 0.0, rise) < 1.0 or around.first(x, height, there - x, 0.0) < 1.0):
        return None
    return height if around.free(there, height) else None


def _set_down(around: Surroundings, x: float, y: float, snap: float) -> float:
    """On the floor below, where there is one no further down."""
    part = around.first(x, y, 0.0, -snap)
    return _beside(around, x, y, -snap * part, 1.0) if 0.0 < part < 1.0 else y
