"""Faster replacements for the collision functions of ``pygame.sprite`` (pygame-ce).

Change one import and a game is faster::

    from broadphase.adapters import pygame as sprite   # instead of: from pygame import sprite

The functions take and return what pygame's do, in the same order, with the same errors and side effects.
All other names of ``pygame.sprite`` are here too.  pygame compares each sprite of one group with each of the
other.  Here a broad phase finds the pairs whose boxes overlap, and only those pairs are tested.

Every test that pygame ships is true only where two boxes overlap: the rects, the scaled rects, the squares
around the circles, the outlines of the masks.  `plan` computes these boxes, and the test itself is called for
a pair where the boxes do not decide it.  pygame does the work where boxes cannot express the test (your own
function without `rect_first`, rects of other types, numbers that overflow) and where very few sprites meet.
Up to about 150 x 150 rects, each is compared with a list of the others, which pygame does in nanoseconds.

Cost: reading the rects of n + m sprites, which is most of it, and the search.  When one sprite meets a group,
pygame spends nearly all of its time on reading the rects, so `spritecollide` is faster only with
``collide_mask``.  Test all sprites in one call with `groupcollide`, or keep a `broadphase.World`; a
`WorldGroup` belongs to one.  The functions that draw, `SpriteBodies` and `WorldGroup` are in `pygame_world`.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from functools import cache
from itertools import chain, groupby
from operator import attrgetter
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from broadphase.adapters.pygame_world import (
    SpriteBodies,
    WorldGroup,
    draw_boxes,
    draw_cells,
    draw_world,
)
from broadphase.api.one_shot import join, pairs
from broadphase.errors import need
from broadphase.inputs.boxes import BoxArray
from broadphase.kernels.shapes.sprites import edges_of_rects
from broadphase.runtime.arrays import Floats
from broadphase.runtime.memory import PairArray

# ---- pygame's collision tests as box overlaps

__all__ = [
    "SpriteBodies",
    "WorldGroup",
    "collide",
    "draw_boxes",
    "draw_cells",
    "draw_world",
    "groupcollide",
    "rect_first",
    "spritecollide",
    "spritecollideany",
]

_pygame = need("pygame", extra="pygame", purpose="the pygame adapter")
_sprite = need("pygame.sprite", extra="pygame", purpose="the pygame adapter")
_from_surface = _pygame.mask.from_surface
_collide_mask = _sprite.collide_mask
_collide_rect = _sprite.collide_rect
# Kept from the import, because a program may replace pygame's functions with those of this module.
_groupcollide = _sprite.groupcollide
_spritecollide = _sprite.spritecollide
_spritecollideany = _sprite.spritecollideany

Collided = Callable[[Any, Any], Any] | None
Sprites = Sequence[Any]

# With so few tests, pygame is about as fast; with the second, where boxes have to be searched.
FEW_TESTS = 60
_FEW_OTHER_TESTS = 400
# With so few, comparing each rect with a list of the others takes less time than a search.
FEW_RECTS = 25_000
# With fewer masks than this, pygame has often found one before a generator starts.
_FEW_MASKS = 30
# Farther away, pygame's numbers overflow.
_FARTHEST = 2**30
# A `kill` of the user may change anything, so everything is read again; at most this many times.
_MOST_PASSES = 8

_STOCK_GROUPS = {_sprite.AbstractGroup.__iter__, list.__iter__, tuple.__iter__}
_STOCK_LISTS = {_sprite.AbstractGroup.sprites, _sprite.LayeredUpdates.sprites, _sprite.GroupSingle.sprites}
_STOCK_KILL = _sprite.Sprite.kill
_STOCK_REMOVALS = {
    _sprite.AbstractGroup.remove_internal,
    _sprite.LayeredUpdates.remove_internal,
    _sprite.GroupSingle.remove_internal,
}

# Up to here, sums are certain to be the same as in pygame, which keeps ints in 32 bits and floats in float32.
_LARGEST_INT = 2.0**29
_LARGEST_FLOAT = 1e30
_FLOAT_ROUNDING = 1e-6
# The most that dropping the fractions of a position and a size can change.
_INT_ROUNDING = 2.0

_rect_of = attrgetter("rect")
_KINDS = {_pygame.Rect, _pygame.FRect}


def __getattr__(name: str) -> Any:
    """All other names are those of ``pygame.sprite``."""
    return getattr(_sprite, name)


class Side(NamedTuple):
    """One side of a test: the boxes of the sprites that can take part in any hit."""

    rows: npt.NDArray[np.intp] | None
    """The sprites that the boxes belong to; ``None`` if every sprite has one."""
    boxes: BoxArray


class SpritePlan(NamedTuple):
    """How to find the hits between two lists of sprites."""

    left: Side
    right: Side
    touching: bool
    """Whether boxes that only share an edge are candidates."""
    confirm: Callable[[int, int], Any] | None
    """The test for two rows; ``None`` if overlapping boxes decide."""
    keep: Callable[[int], None] | None
    """Writes to the sprites what pygame's test writes; takes how many left sprites were tested."""

    def hits(self, among: bool) -> Iterator[tuple[int, list[int]]]:
        """Each left row with the right rows that are candidates; ``among`` one list, only the later ones."""
        if among:
            found = pairs(self.left.boxes, touching=self.touching)
        else:
            found = join(self.left.boxes, self.right.boxes, touching=self.touching)
        return _by_left(_in_list_order(self, found))


class RectLists(NamedTuple):
    """Few rects, of which each is compared with a list of the others: by pygame, so exactly as it does."""

    left: list[Any]
    right: list[Any]
    confirm: Callable[[int, int], Any] | None
    keep: None = None

    def hits(self, among: bool) -> Iterator[tuple[int, list[int]]]:
        """As of `SpritePlan`."""
        for i, rect in enumerate(self.left):
            rows = rect.collidelistall(self.right)
            if among:
                rows = [j for j in rows if j > i]
            if rows:
                yield i, rows


class _Rects(NamedTuple):
    rects: list[Any]
    values: Floats
    """``(n, 4)``: x, y, width, height as given, with negative sizes."""
    ints: bool
    floats: bool
    """Whether all are ``Rect``, or all are ``FRect``; a list may hold both."""
    edges: BoxArray
    """``(n, 4)``: boxes; a negative size extends to the left or up."""
    flat: int
    """How many have no width or no height."""
    largest: float
    """The largest absolute value."""


class rect_first:  # noqa: N801 - beside pygame's collide_rect_ratio, which is a class that reads like a function
    """Make a ``collided`` function that is called only for sprites whose rects overlap.

    pygame calls your function for every pair.  With this it is called only for the pairs whose rects overlap,
    which the broad phase finds.

    Parameters
    ----------
    collided : callable
        Called with two sprites.

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


def plan(lefts: Sprites, rights: Sprites, collided: Any) -> SpritePlan | RectLists | None:
    """How to find the pairs for which ``collided`` is true, or ``None`` if pygame must do it.

    Raises
    ------
    Exception
        Whatever a sprite without the right attributes raises; pygame raises it too.
    """
    a = list(map(_rect_of, lefts))
    b = a if rights is lefts else list(map(_rect_of, rights))
    if not (_KINDS.issuperset(map(type, a)) and _KINDS.issuperset(map(type, b))):
        return None
    test = collided.collided if isinstance(collided, rect_first) else None
    also = None if test is None else lambda i, j: test(lefts[i], rights[j])
    by_rects = _decided_by_rects(collided)
    if by_rects and len(a) * len(b) <= FEW_RECTS:
        return RectLists(a, b, also)
    left = _read(a)
    right = left if b is a else _read(b)
    largest = _LARGEST_FLOAT if left.floats and right.floats else _LARGEST_INT
    if not (left.largest < largest and right.largest < largest):
        return None
    if by_rects:
        return _by_rects(left, right, also)
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
        halves = [0.5 * abs(scaled) * np.abs(rects.values[:, 2:]) for rects in (left, right)]
        sides = [_around(*side, _slop(left, right)) for side in zip((left, right), halves, strict=True)]
        return SpritePlan(sides[0], sides[1], True, lambda i, j: collided(lefts[i], rights[j]), None)
    return None


def _slop(left: _Rects, right: _Rects) -> float:
    return 0.0 if left.floats and right.floats else _INT_ROUNDING


def _decided_by_rects(collided: Any) -> bool:
    """Whether all sprites whose rects overlap are hits, or all that the function is called for."""
    return collided is None or collided is _collide_rect or isinstance(collided, rect_first)


def _read(rects: list[Any]) -> _Rects:
    """The rects as numbers."""
    kinds = set(map(type, rects))
    values = np.fromiter(chain.from_iterable(rects), np.float64, 4 * len(rects)).reshape(-1, 4)
    edges = np.empty_like(values)
    flat, largest = edges_of_rects(values, edges)
    return _Rects(rects, values, kinds == {_pygame.Rect}, kinds == {_pygame.FRect}, edges, flat, largest)


def _widened(boxes: BoxArray, slop: float) -> BoxArray:
    boxes[:, :2] -= slop + _FLOAT_ROUNDING * np.abs(boxes[:, :2])
    boxes[:, 2:] += slop + _FLOAT_ROUNDING * np.abs(boxes[:, 2:])
    return boxes


def _by_rects(left: _Rects, right: _Rects, also: Callable[[int, int], Any] | None) -> SpritePlan:
    """Compare rects as pygame does: flush rects do not collide, and empty rects never do."""
    exact = left.ints and right.ints
    sides = []
    for rects in (left, right):
        rows, boxes = None, rects.edges
        if rects.flat:
            rows = np.flatnonzero((rects.values[:, 2] != 0.0) & (rects.values[:, 3] != 0.0))
            boxes = boxes[rows]
        sides.append(Side(rows, boxes if exact else _widened(boxes.copy(), _slop(left, right))))
    if exact:
        return SpritePlan(sides[0], sides[1], False, also, None)
    a, b = left.rects, right.rects

    def confirm(i: int, j: int) -> Any:
        # When it compares a Rect with an FRect, pygame drops the fractions of one of them.
        return a[i].colliderect(b[j]) and (also is None or also(i, j))

    return SpritePlan(sides[0], sides[1], True, confirm, None)


def _around(rects: _Rects, half: Floats, slop: float) -> Side:
    """Boxes of this half size around the centres, enlarged a little because pygame rounds."""
    places, sizes = rects.values[:, :2], rects.values[:, 2:]
    centres = places + 0.5 * sizes
    reach = half + slop + _FLOAT_ROUNDING * (np.abs(places) + np.abs(sizes) + half)
    return Side(None, np.concatenate((centres - reach, centres + reach), axis=1))


def _by_circles(
    lefts: Sprites, rights: Sprites, left: _Rects, right: _Rects, collided: Any, ratio: float
) -> SpritePlan | None:
    known, others = _radii(lefts, left), _radii(rights, right)
    if known is None or others is None:
        return None
    halves = [np.abs(np.array(radii, np.float64))[:, None] * ratio for radii in (known, others)]
    if not all((half < _LARGEST_FLOAT).all() for half in halves):
        return None

    def keep(tested: int) -> None:
        """Store the computed radius on every tested sprite, as pygame does."""
        for sprites, radii in ((lefts[:tested], known), (rights, others)):
            for sprite, radius in zip(sprites, radii, strict=False):
                if not hasattr(sprite, "radius"):
                    sprite.radius = radius

    return SpritePlan(
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


def _by_masks(lefts: Sprites, rights: Sprites, left: _Rects, right: _Rects) -> SpritePlan:
    made: dict[int, Any] = {}  # the masks of sprites without one, which pygame makes again for every pair

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

    return SpritePlan(_outlines(lefts, left), _outlines(rights, right), False, confirm, None)


def _outlines(sprites: Sprites, rects: _Rects) -> Side:
    """Boxes of the masks, which start at the corners of the rects and may differ in size."""
    sizes = [getattr(sprite, "mask", None) or sprite.image for sprite in sprites]
    boxes = np.empty((len(sizes), 4))
    boxes[:, :2] = rects.values[:, :2]
    boxes[:, 2:] = boxes[:, :2] + np.array([mask.get_size() for mask in sizes], np.float64).reshape(-1, 2)
    return Side(None, boxes if rects.ints else _widened(boxes, 1.0))  # fractions of the distance are dropped


# ---- one sprite against a group


def spritecollide(sprite: Any, group: Iterable[Any], dokill: bool, collided: Collided = None) -> list[Any]:
    """The sprites of a group that a sprite overlaps; see ``pygame.sprite.spritecollide``.

    Parameters
    ----------
    sprite : Sprite
    group : Group or iterable of sprites
    dokill : bool
        Remove those found from all their groups.
    collided : callable, optional
        Called with two sprites; by default their rects decide.  ``collide_mask`` is called only for masks
        that may overlap.  pygame handles everything else: a list of the rects alone takes as long to make as
        its whole loop.

    Returns
    -------
    list
        In the order of the group.
    """
    found: list[Any]
    if collided is _collide_mask and _has_at_least(group, 1):
        try:
            found = list(_overlapping_masks(sprite, group))
        except Exception:  # pygame raises what there is to raise
            pass
        else:
            if dokill:
                for other in found:
                    other.kill()
            return found
    found = _spritecollide(sprite, group, dokill, collided)
    return found


def spritecollideany(sprite: Any, group: Iterable[Any], collided: Collided = None) -> Any:
    """The first sprite of a group that a sprite overlaps; see ``pygame.sprite.spritecollideany``.

    Parameters
    ----------
    sprite, group, collided
        As of `spritecollide`.

    Returns
    -------
    Sprite or None
    """
    if collided is _collide_mask and _has_at_least(group, _FEW_MASKS):
        with suppress(Exception):  # pygame raises what there is to raise
            return next(_overlapping_masks(sprite, group), None)
    return _spritecollideany(sprite, group, collided)


def _has_at_least(group: Any, few: int) -> bool:
    """Whether a group has this many sprites and is iterated as pygame's groups are."""
    try:
        return len(group) >= few and type(group).__iter__ in _STOCK_GROUPS
    except TypeError:  # pygame handles iterators
        return False


def _overlapping_masks(sprite: Any, group: Iterable[Any]) -> Iterator[Any]:
    """The sprites whose masks overlap; tested only if the boxes of the masks do, within a pixel."""
    x, y = sprite.rect[0], sprite.rect[1]
    width, height = sprite.mask.get_size()
    for other in group:
        rect, mask = other.rect, other.mask
        right, down = rect[0] - x, rect[1] - y
        if not (-_FARTHEST < right < _FARTHEST and -_FARTHEST < down < _FARTHEST):
            raise OverflowError
        if right > width or down > height:
            continue
        other_width, other_height = mask.get_size()
        if not (right < -other_width or down < -other_height) and _collide_mask(sprite, other):
            yield other


# ---- two groups


def groupcollide(
    groupa: Iterable[Any], groupb: Iterable[Any], dokilla: bool, dokillb: bool, collided: Collided = None
) -> dict[Any, list[Any]]:
    """Which sprites of two groups overlap; see ``pygame.sprite.groupcollide``.

    Parameters
    ----------
    groupa, groupb : Group or iterable of sprites
    dokilla, dokillb : bool
        Remove those found in the first or the second group from all their groups.  With ``dokillb``, a sprite
        of the second group is listed only under the first sprite that overlaps it.
    collided : callable, optional
        Called with two sprites; by default their rects decide.  pygame's own functions and those made with
        `rect_first` are called for few pairs, any other function for all.

    Returns
    -------
    dict
        For each sprite of the first group that overlaps any, in the order of that group: the list of the
        sprites of the second group that it overlaps, in the order of that group.
    """
    found: dict[Any, list[Any]]
    searched = _is_known(type(groupa)) and _is_known(type(groupb)) and _is_many(groupa, groupb, collided)
    # pygame iterates over a list while it may change: the user's own `kill` may remove sprites from it.
    if not searched or (dokillb and type(groupa) is list and not all(map(_has_stock_kill, groupb))):
        found = _groupcollide(groupa, groupb, dokilla, dokillb, collided)
        return found
    found = _GroupCollide(list(groupa), groupb, dokillb, collided).run()
    if dokilla:
        for sprite in found:
            sprite.kill()
    return found


class _GroupCollide:
    """One call of `groupcollide`, which may have to start over after a sprite was killed."""

    def __init__(self, lefts: Sprites, groupb: Any, dokillb: bool, collided: Collided) -> None:
        self.lefts = lefts
        self.groupb = groupb
        self.dokillb = dokillb
        self.collided = collided
        self.found: dict[Any, list[Any]] = {}

    def run(self) -> dict[Any, list[Any]]:
        done = 0
        for _ in range(_MOST_PASSES):
            if done == len(self.lefts):
                return self.found
            rights = list(self.groupb)
            planned = _plan(self.lefts[done:], rights, self.collided)
            if planned is None:
                break
            done += self._pass(done, rights, planned)
        for left in self.lefts[done:]:
            met = spritecollide(left, self.groupb, self.dokillb, self.collided)
            if met:
                self.found[left] = met
        return self.found

    def _pass(self, first: int, rights: Sprites, planned: SpritePlan | RectLists) -> int:
        """Handle the hits in order; returns how many left sprites are done."""
        gone: set[int] = set()
        count = len(self.lefts) - first
        tested = count  # pygame stops testing when no right sprite is left
        for i, rows in planned.hits(among=False):
            met = rows
            if gone or planned.confirm is not None:
                met = [j for j in rows if j not in gone and _confirmed(planned, i, j)]
            if not met:
                continue
            self.found[self.lefts[first + i]] = [rights[j] for j in met]
            if self.dokillb and not self._kill(rights, met, gone):
                tested = count = i + 1
                break
            if len(gone) == len(rights):
                tested = i + 1
                break
        _keep(planned, tested)
        return count

    def _kill(self, rights: Sprites, rows: list[int], gone: set[int]) -> bool:
        """Kill the sprites that were hit; returns whether only groups have changed."""
        harmless, stays = True, None if type(self.groupb) in (list, tuple) else self.groupb.has_internal
        for j in rows:
            sprite = rights[j]
            harmless = harmless and _has_stock_kill(sprite)
            sprite.kill()
            if harmless and stays is not None and not stays(sprite):
                gone.add(j)
        return harmless


def collide(sprites: Iterable[Any], collided: Collided = None) -> list[tuple[Any, Any]]:
    """Every pair of overlapping sprites of one list.

    Parameters
    ----------
    sprites : Group or iterable of sprites
    collided : callable, optional
        As of `groupcollide`; called with the earlier sprite first.

    Returns
    -------
    list of (Sprite, Sprite)
        The earlier sprite of each pair first, in the order of the list.

    Examples
    --------
    >>> import pygame
    >>> from broadphase.adapters import pygame as sprite
    >>> def box(*rect):
    ...     made = sprite.Sprite()
    ...     made.rect = pygame.Rect(rect)
    ...     return made
    >>> a, b, c = box(0, 0, 9, 9), box(5, 5, 9, 9), box(14, 5, 9, 9)
    >>> sprite.collide([a, b, c]) == [(a, b)]
    True
    """
    members = list(sprites)
    planned = _plan(members, members, collided) if _is_many(members, members, collided) else None
    if planned is None:
        meet = _sprite.collide_rect if collided is None else collided
        return [(a, b) for i, a in enumerate(members) for b in members[i + 1 :] if meet(a, b)]
    _keep(planned, len(members))
    return [
        (members[i], members[j])
        for i, rows in planned.hits(among=True)
        for j in rows
        if _confirmed(planned, i, j)
    ]


def _is_many(groupa: Any, groupb: Any, collided: Collided) -> bool:
    few = FEW_TESTS if _decided_by_rects(collided) else _FEW_OTHER_TESTS
    try:
        return len(groupa) * len(groupb) > few
    except TypeError:  # pygame handles iterators
        return False


@cache
def _is_known(kind: type) -> bool:
    """Whether a group is a list, a tuple, or stores its sprites as pygame's groups do."""
    if kind is list or kind is tuple:
        return True
    return (
        getattr(kind, "__iter__", None) is _sprite.AbstractGroup.__iter__
        and getattr(kind, "sprites", None) in _STOCK_LISTS
    )


def _has_stock_kill(sprite: Any) -> bool:
    """Whether ``kill`` only removes the sprite from its groups."""
    kill = getattr(sprite, "kill", None)
    if getattr(kill, "__func__", None) is not _STOCK_KILL:
        return False
    for group in sprite.groups():  # a loop, because a generator for each sprite takes as long as its kill
        if getattr(group.remove_internal, "__func__", None) not in _STOCK_REMOVALS:
            return False
    return True


def _plan(lefts: Sprites, rights: Sprites, collided: Collided) -> SpritePlan | RectLists | None:
    try:
        return plan(lefts, rights, collided)
    except Exception:  # pygame raises what there is to raise
        return None


def _in_list_order(planned: SpritePlan, rows: PairArray) -> PairArray:
    """Convert rows of boxes to rows of sprites; both are ascending."""
    for column, side in enumerate((planned.left, planned.right)):
        if side.rows is not None:
            rows[:, column] = side.rows[rows[:, column]]
    return rows


def _by_left(rows: PairArray) -> Iterator[tuple[int, list[int]]]:
    """Each left row with its right rows."""
    if not len(rows):
        return
    lefts, rights = rows.T.tolist()
    start = 0
    for left, same in groupby(lefts):
        end = start + len(list(same))
        yield left, rights[start:end]
        start = end


def _confirmed(planned: SpritePlan | RectLists, i: int, j: int) -> Any:
    return planned.confirm is None or planned.confirm(i, j)


def _keep(planned: SpritePlan | RectLists, tested: int) -> None:
    if planned.keep is not None:
        planned.keep(tested)
