"""What the test functions of pygame's sprites mean in boxes.

Every test that pygame ships is true only where two boxes overlap: the rects, the rects scaled, the squares
around the circles, the outlines of the masks.  A broad phase finds those boxes, and where they do not say
all, the test itself is asked.  What cannot be said in boxes (a function of the user's, rects of other types,
numbers that overflow) is left to pygame: `plan` returns ``None``.
"""

from collections.abc import Callable, Sequence
from itertools import chain
from operator import attrgetter
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from broadphase.boxes import BoxArray
from broadphase.extras import need
from broadphase.kernels.shapes.rects import edges_of_rects

_pygame = need("pygame", extra="pygame", purpose="the pygame adapter")
_sprite = need("pygame.sprite", extra="pygame", purpose="the pygame adapter")
_from_surface = _pygame.mask.from_surface

Sprites = Sequence[Any]
Floats = npt.NDArray[np.float64]

# Where sums of numbers are surely what they are in pygame, which keeps ints in 32 bits and floats in float32.
_LARGEST_INT = 2.0**29
_LARGEST_FLOAT = 1e30
_FLOAT_ROUNDING = 1e-6
# What dropping the fractions of a place and a size can change.
_INT_ROUNDING = 2.0

_rect_of = attrgetter("rect")


class Side(NamedTuple):
    """One side of a test: the boxes of the sprites that can take part in any hit."""

    rows: npt.NDArray[np.intp] | None
    """Which sprites the boxes belong to; ``None`` where every sprite has one."""
    boxes: BoxArray


class Plan(NamedTuple):
    """How to find the hits between two lists of sprites."""

    left: Side
    right: Side
    touching: bool
    """Whether boxes that only share an edge are worth asking about."""
    confirm: Callable[[int, int], Any] | None
    """The test for two rows, where overlapping boxes do not decide it."""
    keep: Callable[[int], None] | None
    """What pygame's test leaves behind on the sprites, of whom so many left ones were asked."""


class _Rects(NamedTuple):
    rects: list[Any]
    values: Floats
    """``(n, 4)``: x, y, width, height as they are, negative sizes too."""
    ints: bool
    floats: bool
    """All are ``Rect``, or all ``FRect``; a list may hold both."""
    edges: BoxArray
    """``(n, 4)``: a negative size reaches to the left or up."""
    flat: int
    """How many have no width or no height."""
    largest: float
    """The number that is farthest from zero."""


class rect_first:  # noqa: N801 - beside pygame's collide_rect_ratio, which is a class that reads like a function
    """Make a ``collided`` function of two sprites that is asked only where their rects overlap.

    pygame asks a function of yours about every pair.  With this it is asked only about pairs whose rects
    overlap, which the broad phase finds.

    Parameters
    ----------
    collided : callable
        Of two sprites.

    Examples
    --------
    >>> @rect_first
    ... def by_height(left, right):
    ...     return left.height == right.height
    """

    def __init__(self, collided: Callable[[Any, Any], Any]) -> None:
        self.collided = collided

    def __call__(self, left: Any, right: Any) -> Any:
        """Whether the rects overlap and the function says so."""
        return left.rect.colliderect(right.rect) and self.collided(left, right)


def plan(lefts: Sprites, rights: Sprites, collided: Any) -> Plan | None:
    """How to find out which pairs ``collided`` is true for, or ``None`` where only pygame's way will do.

    Raises
    ------
    Exception
        Whatever a sprite without the right attributes raises; pygame's way raises it too.
    """
    left = _read(lefts)
    right = left if rights is lefts else _read(rights)
    if left is None or right is None:
        return None
    largest = _LARGEST_FLOAT if left.floats and right.floats else _LARGEST_INT
    if not (left.largest < largest and right.largest < largest):
        return None
    if collided is None or collided is _sprite.collide_rect:
        return _by_rects(left, right, None)
    if isinstance(collided, rect_first):
        asked = collided.collided
        return _by_rects(left, right, lambda i, j: asked(lefts[i], rights[j]))
    if collided is _sprite.collide_mask:
        return _by_masks(lefts, rights, left, right)
    if collided is _sprite.collide_circle:
        return _by_circles(lefts, rights, left, right, collided, 1.0)
    scaled: Any = getattr(collided, "ratio", None)
    if type(scaled) not in (int, float):
        return None
    if type(collided) is _sprite.collide_circle_ratio:
        return _by_circles(lefts, rights, left, right, collided, abs(scaled))
    if type(collided) is _sprite.collide_rect_ratio:
        if not all(
            np.abs(side.values[:, 2:]).max(initial=0.0) * abs(scaled) < largest for side in (left, right)
        ):
            return None
        sides = [_scaled(rects, abs(scaled), _slop(left, right)) for rects in (left, right)]
        return Plan(sides[0], sides[1], True, lambda i, j: collided(lefts[i], rights[j]), None)
    return None


def _slop(left: _Rects, right: _Rects) -> float:
    return 0.0 if left.floats and right.floats else _INT_ROUNDING


def _read(sprites: Sprites) -> _Rects | None:
    """The rects as numbers; ``None`` if any is not exactly a ``Rect`` or ``FRect``."""
    rects = list(map(_rect_of, sprites))
    kinds = set(map(type, rects))
    if not kinds <= {_pygame.Rect, _pygame.FRect}:
        return None
    values = np.fromiter(chain.from_iterable(rects), np.float64, 4 * len(rects)).reshape(-1, 4)
    edges = np.empty_like(values)
    flat, largest = edges_of_rects(values, edges)
    return _Rects(rects, values, kinds == {_pygame.Rect}, kinds == {_pygame.FRect}, edges, flat, largest)


def _widened(boxes: BoxArray, slop: float) -> BoxArray:
    boxes[:, :2] -= slop + _FLOAT_ROUNDING * np.abs(boxes[:, :2])
    boxes[:, 2:] += slop + _FLOAT_ROUNDING * np.abs(boxes[:, 2:])
    return boxes


def _by_rects(left: _Rects, right: _Rects, also: Callable[[int, int], Any] | None) -> Plan:
    """Rects as pygame compares them: flush ones do not collide, one without width or height never does."""
    exact = left.ints and right.ints
    sides = []
    for rects in (left, right):
        rows, boxes = None, rects.edges
        if rects.flat:
            rows = np.flatnonzero((rects.values[:, 2] != 0.0) & (rects.values[:, 3] != 0.0))
            boxes = boxes[rows]
        sides.append(Side(rows, boxes if exact else _widened(boxes.copy(), _slop(left, right))))
    if exact:
        return Plan(sides[0], sides[1], False, also, None)
    a, b = left.rects, right.rects

    def confirm(i: int, j: int) -> Any:
        # Between a Rect and an FRect pygame drops the fractions of one of them.
        return a[i].colliderect(b[j]) and (also is None or also(i, j))

    return Plan(sides[0], sides[1], True, confirm, None)


def _around(rects: _Rects, half: Floats, slop: float) -> Side:
    """Boxes that reach so far from the centres, and a little further for how pygame rounds."""
    places, sizes = rects.values[:, :2], rects.values[:, 2:]
    centres = places + 0.5 * sizes
    reach = half + slop + _FLOAT_ROUNDING * (np.abs(places) + np.abs(sizes) + half)
    return Side(None, np.concatenate((centres - reach, centres + reach), axis=1))


def _scaled(rects: _Rects, ratio: float, slop: float) -> Side:
    return _around(rects, 0.5 * ratio * np.abs(rects.values[:, 2:]), slop)


def _by_circles(
    lefts: Sprites, rights: Sprites, left: _Rects, right: _Rects, collided: Any, ratio: float
) -> Plan | None:
    known, others = _radii(lefts, left), _radii(rights, right)
    if known is None or others is None:
        return None
    halves = [np.abs(np.array(radii, np.float64))[:, None] * ratio for radii in (known, others)]
    if not all((half < _LARGEST_FLOAT).all() for half in halves):
        return None

    def keep(asked: int) -> None:
        """Pygame writes the radius that it has worked out onto every sprite that it asks."""
        for sprites, radii in ((lefts[:asked], known), (rights, others)):
            for sprite, radius in zip(sprites, radii, strict=False):
                if not hasattr(sprite, "radius"):
                    sprite.radius = radius

    return Plan(
        _around(left, halves[0], _slop(left, right)),
        _around(right, halves[1], _slop(left, right)),
        True,
        lambda i, j: collided(lefts[i], rights[j]),
        keep,
    )


def _radii(sprites: Sprites, rects: _Rects) -> list[float] | None:
    radii = []
    for sprite, rect in zip(sprites, rects.rects, strict=True):
        try:
            radius = sprite.radius
        except AttributeError:
            radius = 0.5 * ((rect.width**2 + rect.height**2) ** 0.5)
        if type(radius) not in (int, float):
            return None
        radii.append(radius)
    return radii


def _by_masks(lefts: Sprites, rights: Sprites, left: _Rects, right: _Rects) -> Plan:
    made: dict[int, Any] = {}  # the masks of sprites without one: pygame makes them anew for every pair

    def mask_of(sprite: Any) -> Any:
        try:
            return sprite.mask
        except AttributeError:
            if id(sprite) not in made:
                made[id(sprite)] = _from_surface(sprite.image)
            return made[id(sprite)]

    def confirm(i: int, j: int) -> Any:
        a, b = left.rects[i], right.rects[j]
        return mask_of(lefts[i]).overlap(mask_of(rights[j]), (b[0] - a[0], b[1] - a[1]))

    return Plan(_outlines(lefts, left), _outlines(rights, right), False, confirm, None)


def _outlines(sprites: Sprites, rects: _Rects) -> Side:
    """Boxes of the masks, which begin where the rects do and may have other sizes."""
    sizes = [getattr(sprite, "mask", None) or sprite.image for sprite in sprites]
    boxes = np.empty((len(sizes), 4))
    boxes[:, :2] = rects.values[:, :2]
    boxes[:, 2:] = boxes[:, :2] + np.array([mask.get_size() for mask in sizes], np.float64).reshape(-1, 2)
    return Side(None, boxes if rects.ints else _widened(boxes, 1.0))  # fractions of the distance are dropped
