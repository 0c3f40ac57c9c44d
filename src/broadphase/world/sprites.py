"""Finds sprites whose picture has moved while their body stayed, and reports each once.

A program may move a sprite and forget its body.  Pictures may follow a frame late, at an offset from it;
so what counts is a picture that goes away from where it lay beside a body that stands: twice without coming
back, or once for good.
"""

import math
import warnings
from typing import Any
from weakref import WeakKeyDictionary

from broadphase.errors import SpriteWarning
from broadphase.geometry.shapes import Bounds
from broadphase.world.bodies import Body

_ROUNDING = 1.0  # pixels: pictures lie on whole ones
_TWICE = 2

Offset = tuple[float, float]


class _Seen:
    """A body and its picture at the last look."""

    __slots__ = ("away", "body", "drift", "picture", "rest", "told", "usual")

    def __init__(self, picture: Bounds, body: Bounds) -> None:
        self.picture, self.body = picture, body
        self.usual = _offset(picture, body)
        self.drift = 0.0
        self.away = 0
        self.rest: tuple[Bounds, Bounds] | None = None
        """Picture and body when neither moved."""
        self.told = False


class SpriteWatch:
    """Looks at the bodies whose ``data`` is a sprite; costs nothing unless it is switched on."""

    def __init__(self) -> None:
        self._seen: WeakKeyDictionary[Body, _Seen] = WeakKeyDictionary()

    def look(self, bodies: list[Body]) -> None:
        """Warn of sprites that have gone astray since the look before."""
        for body in bodies:
            picture = picture_of(body.data)
            if picture is None:
                continue
            seen = self._seen.get(body)
            if seen is None:
                self._seen[body] = _Seen(picture, body.bounds)
            elif not seen.told and _goes_astray(seen, picture, body.bounds):
                seen.told = True
                warnings.warn(SpriteWarning(_told(body, picture)), stacklevel=4)


def picture_of(sprite: Any) -> Bounds | None:
    """The box of a sprite's picture; ``None`` for what is no sprite.

    pygame and arcade have a ``rect`` with edges, pyglet a place and a size.

    Examples
    --------
    >>> from types import SimpleNamespace as Sprite
    >>> picture_of(Sprite(x=1, y=2, width=3, height=4)), picture_of("no sprite")
    ((1.0, 2.0, 4.0, 6.0), None)
    """
    box = getattr(sprite, "rect", sprite)
    try:
        left, right, top, bottom = box.left, box.right, box.top, box.bottom
    except AttributeError:
        try:
            left, top = box.x, box.y
            right, bottom = left + box.width, top + box.height
        except (AttributeError, TypeError):
            return None
    try:
        edges = float(left), float(min(top, bottom)), float(right), float(max(top, bottom))
    except (TypeError, ValueError):
        return None
    return edges


def _goes_astray(seen: _Seen, picture: Bounds, body: Bounds) -> bool:
    offset = _offset(picture, body)
    drift = math.dist(offset, seen.usual)
    astray = False
    if body != seen.body:
        seen.away = 0
    elif _has_moved(seen.picture, picture):
        seen.away += drift > seen.drift and drift > _ROUNDING
        astray = seen.away >= _TWICE
    else:
        astray = seen.rest is not None and _is_elsewhere(seen.rest, picture, body)
        seen.rest, seen.usual, seen.away, drift = (picture, body), offset, 0, 0.0
    seen.picture, seen.body, seen.drift = picture, body, drift
    return astray


def _is_elsewhere(rest: tuple[Bounds, Bounds], picture: Bounds, body: Bounds) -> bool:
    """Whether the picture came to rest elsewhere, and the body did not."""
    far = math.dist(_middle(rest[0]), _middle(picture)) > _ROUNDING
    return far and rest[1] == body and _has_moved(rest[0], picture)


def _has_moved(before: Bounds, now: Bounds) -> bool:
    """Whether it is elsewhere; a picture that grows about its middle or from a corner is not."""
    return before[:2] != now[:2] and before[2:] != now[2:] and _middle(before) != _middle(now)


def _middle(box: Bounds) -> Offset:
    return (box[0] + box[2]) / 2, (box[1] + box[3]) / 2


def _offset(picture: Bounds, body: Bounds) -> Offset:
    (x, y), (other_x, other_y) = _middle(picture), _middle(body)
    return x - other_x, y - other_y


def _told(body: Body, picture: Bounds) -> str:
    return (
        f"the picture of {body.data!r} has moved to {picture}, but its body {body!r} has stayed at "
        f"{body.bounds}; move the body (World.move, Body.move_to), and the picture after it"
    )
