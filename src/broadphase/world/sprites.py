"""Finds sprites whose picture has moved while their body stayed, and reports each once.

A program may move a sprite and forget its body.  Pictures may follow their body a frame late, at an offset.
So a sprite is reported if its body rests and its picture moves away from its usual offset: twice in a row, or
once for good.
"""

import math
import warnings
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np

from broadphase.errors import WorldWarning, users_level
from broadphase.geometry.shapes import Bounds
from broadphase.world.bodies import Body, BodyStore

_ROUNDING = 1.0  # pictures lie on whole pixels
_TWICE = 2
_TURNS = 32  # so many updates to ask all bodies for a sprite

Offset = tuple[float, float]


class _Sprite:
    """The bounds of a body and of its picture at the last update."""

    __slots__ = ("away", "body", "drift", "picture", "reported", "rest", "usual")

    def __init__(self, picture: Bounds, body: Bounds) -> None:
        self.picture, self.body = picture, body
        self.usual = _offset(picture, body)
        self.drift = 0.0
        self.away = 0
        self.rest: tuple[Bounds, Bounds] | None = None
        """The bounds of both when neither had moved."""
        self.reported = False


class SpriteWatch:
    """Watches the bodies whose ``data`` is a sprite; costs nothing unless it is switched on."""

    def __init__(self) -> None:
        self._sprites: WeakKeyDictionary[Body, _Sprite] = WeakKeyDictionary()
        self._turn = self._made = 0
        """How often it has looked, and how many bodies there ever were then."""

    def __reduce__(self) -> tuple[type["SpriteWatch"], tuple[()]]:
        """Nothing is remembered of the sprites: those of a copied or pickled world are other ones."""
        return SpriteWatch, ()

    def look(self, store: BodyStore) -> None:
        """Warn of sprites that have moved without their bodies since the last call.

        Bodies that have none are asked for one now and then: all of them each time would take longer than
        most frames.
        """
        turn, n = self._turn, len(store.bodies)
        self._turn, made, self._made = (turn + 1) % _TURNS, self._made, store.made
        fresh = store.bodies[turn::_TURNS]
        if made != store.made:
            fresh += [store.bodies[row] for row in np.flatnonzero(store.serial[:n] >= made).tolist()]
        known = [body for body in self._sprites if body.alive]
        for body in dict.fromkeys((*known, *fresh)):
            if body is None or body.data is None or (picture := picture_of(body.data)) is None:
                continue
            sprite_state = self._sprites.get(body)
            if sprite_state is None:
                self._sprites[body] = _Sprite(picture, body.bounds)
            elif not sprite_state.reported and _goes_astray(sprite_state, picture, body.bounds):
                sprite_state.reported = True
                warnings.warn(WorldWarning(_warning(body, picture)), stacklevel=users_level())


def picture_of(sprite: Any) -> Bounds | None:
    """The box of a sprite's picture; ``None`` for what is not a sprite.

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


def _goes_astray(sprite_state: _Sprite, picture: Bounds, body: Bounds) -> bool:
    offset = _offset(picture, body)
    drift = math.dist(offset, sprite_state.usual)
    astray = False
    if body != sprite_state.body:
        sprite_state.away = 0
    elif _has_moved(sprite_state.picture, picture):
        sprite_state.away += drift > sprite_state.drift and drift > _ROUNDING
        astray = sprite_state.away >= _TWICE
    else:
        astray = sprite_state.rest is not None and _is_elsewhere(sprite_state.rest, picture, body)
        sprite_state.rest, sprite_state.usual, sprite_state.away, drift = (picture, body), offset, 0, 0.0
    sprite_state.picture, sprite_state.body, sprite_state.drift = picture, body, drift
    return astray


def _is_elsewhere(rest: tuple[Bounds, Bounds], picture: Bounds, body: Bounds) -> bool:
    """Whether the picture came to rest elsewhere, and the body did not."""
    far = math.dist(_middle(rest[0]), _middle(picture)) > _ROUNDING
    return far and rest[1] == body and _has_moved(rest[0], picture)


def _has_moved(before: Bounds, now: Bounds) -> bool:
    """Whether a box has moved; one that grows about its centre or from a corner has not."""
    return before[:2] != now[:2] and before[2:] != now[2:] and _middle(before) != _middle(now)


def _middle(box: Bounds) -> Offset:
    return (box[0] + box[2]) / 2, (box[1] + box[3]) / 2


def _offset(picture: Bounds, body: Bounds) -> Offset:
    (x, y), (other_x, other_y) = _middle(picture), _middle(body)
    return x - other_x, y - other_y


def _warning(body: Body, picture: Bounds) -> str:
    return (
        f"the picture of {body.data!r} has moved to {picture}, but its body {body!r} has stayed at "
        f"{body.bounds}; move the body (World.move, Body.move_to), and the picture after it"
    )
