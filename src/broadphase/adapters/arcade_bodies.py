"""Bodies of a world that follow arcade's sprites, and sprites that follow bodies."""

import math
from collections.abc import Iterable
from functools import partial
from typing import Any, Literal

import numpy as np

from broadphase.adapters.following import Following
from broadphase.shapes.kinds import Box, Polygon, Shape
from broadphase.world.bodies import Body
from broadphase.world.hits import Movement, Response
from broadphase.world.walks import Walk

Leader = Literal["sprite", "body"]
Point = tuple[float, float]


class _Pair:
    """A sprite and its body, and how the sprite was when they last agreed."""

    __slots__ = ("body", "boxed", "group", "leader", "looks", "offset", "turned")

    def __init__(self, sprite: Any, body: Body, group: Any, leader: Leader, boxed: bool) -> None:
        self.body, self.group, self.leader, self.boxed = body, group, leader, boxed
        self.agree(sprite)

    def agree(self, sprite: Any) -> None:
        (x, y), (left, bottom) = sprite.position, self.body.position
        self.looks = _looks(sprite)
        self.offset = left - x, bottom - y
        self.turned = sprite.angle + self.body.angle


class SpriteBodies(Following[_Pair]):
    """Keeps bodies of a `broadphase.World` and arcade's sprites in the same places.

    A body has the shape of its sprite's hit box, trimmed as arcade trims it, scaled and turned; of a hit box
    with a dent, its hull.  ``body.data`` is the sprite.  Who leads is chosen for each sprite or list:

    - ``"sprite"``: sprites are moved, turned, scaled and given other textures as one likes; `sync` takes
      their bodies after them.
    - ``"body"``: bodies are moved and turned in the world; `sync` takes their sprites after them, and a
      sprite whose body was removed leaves all its lists.

    Parameters
    ----------
    world : World, optional
        By default a new one.

    Examples
    --------
    >>> import os; os.environ["ARCADE_HEADLESS"] = "True"
    >>> import arcade
    >>> from broadphase.adapters.arcade import SpriteBodies
    >>> player, wall = arcade.SpriteSolidColor(16, 16), arcade.SpriteSolidColor(10, 100, center_x=55)
    >>> walls = arcade.SpriteList(lazy=True)
    >>> walls.append(wall)
    >>> bodies = SpriteBodies()
    >>> bodies.follow(walls, tag="wall", static=True)
    >>> body = bodies.add(player, tag="player")
    >>> move = bodies.move(player, 100, 5)
    >>> player.position, move.hits[0].other.data is wall
    ((42.0, 5.0), True)
    """

    def add(self, sprite: Any, *, leader: Leader = "sprite", boxed: bool = False, **options: Any) -> Body:
        """Give one sprite a body.

        Parameters
        ----------
        sprite : Sprite
        leader : {"sprite", "body"}
            Which of the two is followed.
        boxed : bool
            The box around the hit box instead: what `walk` needs.  Its sprite does not turn with it.
        **options
            As of `broadphase.World.add`: ``tag``, ``static``, ``sensor``, ``category``, ``mask``.

        Returns
        -------
        Body

        Raises
        ------
        ValueError
            The sprite has a body, ``leader`` is neither, or the hit box has no area.
        """
        self._refuse_known(sprite)
        return self._give(sprite, None, _checked(leader), boxed, options)

    def follow(
        self, sprite_list: Iterable[Any], *, leader: Leader = "sprite", boxed: bool = False, **options: Any
    ) -> None:
        """Give every sprite of a list a body, also those that come later, until they leave the list.

        Who comes later gets its body with the next `sync`, or before the next `move` or `walk` of any sprite.

        Parameters
        ----------
        sprite_list : SpriteList
        leader, boxed, **options
            As of `add`.

        Raises
        ------
        ValueError
            As of `add`.
        """
        give = partial(self._give, leader=_checked(leader), boxed=boxed, options=options)
        self._add_group(sprite_list, give)
        self.sync()

    def sync(self) -> None:
        """Bring all that follow to where their leaders are; call it before ``world.update()``."""
        self._drop_removed()
        self._come_and_go()
        self._move_bodies()
        for sprite, pair in self._known.items():
            if pair.leader == "body":
                _take_after(sprite, pair)

    def move(self, sprite: Any, dx: float, dy: float, response: Response = "slide") -> Movement:
        """Move a sprite as far as it can, whoever leads; see `broadphase.World.move`.

        Raises
        ------
        KeyError
            The sprite has no body.
        """
        self._take_in()
        pair = self._caught_up(sprite)
        movement = self.world.move(pair.body, dx, dy, response)
        _take_after(sprite, pair)
        return movement

    def walk(self, sprite: Any, dx: float, dy: float, **options: Any) -> Walk:
        """Let a sprite walk on floors and slopes, whoever leads; see `broadphase.World.walk`.

        Parameters
        ----------
        sprite : Sprite
            Added with ``boxed=True``.
        dx, dy : float
            The way; gravity is negative, for y points up.
        **options
            ``snap``, ``steepest``, ``step``, ``corner``, ``drop``.

        Raises
        ------
        KeyError
            The sprite has no body.
        ValueError
            The body is no box.
        """
        self._take_in()
        pair = self._caught_up(sprite)
        walk = self.world.walk(pair.body, dx, dy, down=(0.0, -1.0), **options)
        _take_after(sprite, pair)
        return walk

    # ---- inside

    def _give(self, sprite: Any, group: Any, leader: Leader, boxed: bool, options: dict[str, Any]) -> Body:
        body = self.world.add(_shape(sprite, boxed), data=sprite, **options)
        self._known[sprite] = _Pair(sprite, body, group, leader, boxed)
        return body

    def _drop_removed(self) -> None:
        for sprite, pair in list(self._known.items()):
            if pair.leader == "body" and not pair.body.alive:
                del self._known[sprite]
                sprite.remove_from_sprite_lists()

    def _caught_up(self, sprite: Any) -> _Pair:
        pair = self._known[sprite]
        if pair.leader == "sprite" and _looks(sprite) != pair.looks:
            pair.body.shape = _shape(sprite, pair.boxed)
            pair.agree(sprite)
        return pair

    def _move_bodies(self) -> None:
        """Those that only moved go in one call."""
        bodies, places = [], []
        for sprite, pair in self._known.items():
            if pair.leader == "body" or not pair.body.alive:
                continue
            now = _looks(sprite)
            if now == pair.looks:
                continue
            if now[1:] != pair.looks[1:]:
                self._caught_up(sprite)
                continue
            pair.looks = now
            bodies.append(pair.body)
            places.append((now[0][0] + pair.offset[0], now[0][1] + pair.offset[1]))
        if bodies:
            self.world.move_all(bodies, np.array(places))


def _checked(leader: Leader) -> Leader:
    if leader not in ("sprite", "body"):
        raise ValueError(f'leader must be "sprite" or "body"; got {leader!r}')
    return leader


def _looks(sprite: Any) -> tuple[Any, ...]:
    """All that says where a hit box is; the points themselves by identity, for arcade makes new ones."""
    box = sprite.hit_box
    return sprite.position, box.scale, sprite.angle, id(box.points)


def _take_after(sprite: Any, pair: _Pair) -> None:
    """Put a sprite where its body is: turned about the body's middle, and as far from it as ever."""
    body = pair.body
    (x, y), (left, bottom) = sprite.position, body.position
    angle = pair.turned - body.angle
    if pair.boxed or math.isclose(angle, sprite.angle, abs_tol=1e-9):
        place = left - pair.offset[0], bottom - pair.offset[1]
        if place != (x, y):
            sprite.position = place
    else:
        low_x, low_y, high_x, high_y = body.bounds
        sprite.angle = angle
        box = sprite.hit_box
        sprite.position = (
            x + (low_x + high_x) / 2 - (box.left + box.right) / 2,
            y + (low_y + high_y) / 2 - (box.bottom + box.top) / 2,
        )
        (x, y) = sprite.position
        pair.offset = left - x, bottom - y
    pair.looks = _looks(sprite)


def _shape(sprite: Any, boxed: bool) -> Shape:
    """The hull of a hit box; a box where it is one that is not turned."""
    points = sprite.hit_box.get_adjusted_points()
    hull = _hull(points)
    xs, ys = zip(*points, strict=True) if points else ((0.0,), (0.0,))
    left, bottom, right, top = min(xs), min(ys), max(xs), max(ys)
    if boxed or set(hull) == {(x, y) for x in (left, right) for y in (bottom, top)}:
        return Box(left, bottom, right - left, top - bottom)
    return Polygon(hull)


def _hull(points: Iterable[Point]) -> list[Point]:
    """The corners of the smallest convex polygon around points."""
    ordered = sorted({(float(x), float(y)) for x, y in points})
    halves = []
    for run in (ordered, ordered[::-1]):
        half: list[Point] = []
        for point in run:
            while len(half) > 1 and _turn(half[-2], half[-1], point) <= 0.0:
                half.pop()
            half.append(point)
        halves.append(half[:-1])
    return halves[0] + halves[1]


def _turn(a: Point, b: Point, c: Point) -> float:
    return (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0])
