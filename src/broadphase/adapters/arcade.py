"""Faster replacements for arcade's collision functions and its spatial hash; bodies for sprites.

Change one import and a game is faster::

    from broadphase.adapters.arcade import check_for_collision_with_list   # instead of: from arcade import

The results are those of arcade, also if hit boxes just touch.  They are in the order of the list.  With a
spatial hash, arcade's results have no order; here, in lists of more than 500, they are in the order in which
sprites were added.

arcade iterates over all sprites in Python, or keeps a spatial hash, which costs some microseconds whenever a
sprite moves.  But it also stores positions and sizes of all sprites in arrays for the graphics card.  A
kernel runs over these arrays in a few nanoseconds per sprite, so nothing else has to be updated.  Do not use
``use_spatial_hash`` where sprites move; test many of them in one call, `check_for_collision_between_lists`.

Cost: some ten microseconds and 3 n nanoseconds per call, and a few microseconds for each sprite that is so
near that hit boxes are compared.
"""

import math
from array import array
from collections.abc import Collection, Iterable, Mapping
from functools import cache, partial
from itertools import accumulate, chain
from typing import Any, NamedTuple
from weakref import WeakKeyDictionary

import numpy as np
import numpy.typing as npt

from broadphase.adapters.following import Following, Leader, as_leader, check_options, said_of_astray
from broadphase.api.one_shot import join
from broadphase.errors import need, warn_of_world
from broadphase.geometry.polygons import orient
from broadphase.geometry.shapes import Box, Polygon, Shape
from broadphase.kernels.shapes import sprites as sprite_kernels
from broadphase.world.bodies import Body
from broadphase.world.outlines import SHOWN, Kind
from broadphase.world.world import World

__all__ = [
    "SpriteBodies",
    "check_for_collision_between_lists",
    "check_for_collision_with_list",
    "check_for_collision_with_lists",
    "draw_world",
]

# ---- the sprite lists of arcade, read from the arrays that they keep for the graphics card

# With fewer sprites, a loop takes less time than setting up the arrays.
FEW_SPRITES = 24

# The methods that update the arrays when sprites change.
_KEEPERS = (
    *("__iter__", "__len__", "_update_all", "_update_position", "_update_position_x", "_update_position_y"),
    *("_update_size", "_update_width", "_update_height", "_update_texture"),
)
# A little more than half of the diagonal of a unit square.
_REACH = 0.71
_ROUNDING = 1e-12


class Slots(NamedTuple):
    """The rows of the sprites of a list in its arrays."""

    order: "array[int]"
    """A copy of the list's index data from when this was made."""
    slots: npt.NDArray[np.int32]
    textures: list[Any]
    """Those of the sprites when their sizes were noted, in a list that was never drawn."""


known_slots: WeakKeyDictionary[Any, Slots] = WeakKeyDictionary()


@cache
def arcade() -> Any:
    """The module arcade; imported when needed, because it does not load without a graphics system."""
    return need("arcade", extra="arcade", purpose="the arcade adapter")


@cache
def keeps_arrays(kind: Any) -> bool:
    """Whether a class is a sprite list that updates its arrays as arcade's own class does."""
    stock = arcade().SpriteList
    return (
        isinstance(kind, type)
        and issubclass(kind, stock)
        and all(getattr(kind, name) is getattr(stock, name) for name in _KEEPERS)
    )


def has_arrays(sprite_list: Any) -> bool:
    """Whether the arrays are valid and worth using."""
    kind: Any = type(sprite_list)
    return keeps_arrays(kind) and len(sprite_list) >= FEW_SPRITES


def near_slots(sprite_list: Any, x: float, y: float, size: float) -> list[Any] | None:
    """The sprites that may pass arcade's first test for a sprite of this position and size.

    ``None`` if the program has sorted the inner list, so that rows and sprites do not match.
    """
    known = slots_of(sprite_list)
    result = np.empty(len(known.slots), np.int32)
    # The views end with this call, because an array with views cannot grow.
    places = np.frombuffer(sprite_list._sprite_pos_angle_data, np.float32)
    sizes = np.frombuffer(sprite_list._sprite_size_data, np.float32)
    found = sprite_kernels.near_sprites(places, sizes, known.slots, float(x), float(y), float(size), result)
    slot_of, sprites, slots = sprite_list.sprite_slot, sprite_list.sprite_list, known.slots
    nearby = []
    for k in result[:found].tolist():
        if slot_of.get(sprites[k]) != slots[k]:
            del known_slots[sprite_list]
            return None
        nearby.append(sprites[k])
    return nearby


def slots_of(sprite_list: Any) -> Slots:
    """The row of each sprite, in the order of the list; its size is in the arrays."""
    order = sprite_list._sprite_index_data
    known = known_slots.get(sprite_list)
    if known is None or len(known.slots) != len(sprite_list) or known.order != order:
        slot_of = sprite_list.sprite_slot
        slots = np.array([slot_of[sprite] for sprite in sprite_list.sprite_list], np.int32)
        known = known_slots[sprite_list] = Slots(order[:], slots, [])
    return known if sprite_list._initialized else _with_sizes(sprite_list, known)


def _with_sizes(sprite_list: Any, known: Slots) -> Slots:
    """The same after the sizes of new textures were noted, which a list does only once it has been drawn."""
    textures = [sprite._texture for sprite in sprite_list.sprite_list]
    if textures == known.textures:  # 30 ns a sprite; arcade's loop takes ten times as long
        return known
    sizes = sprite_list._sprite_size_data
    for sprite, slot in sprite_list.sprite_slot.items():
        sizes[2 * slot], sizes[2 * slot + 1] = sprite._width, sprite._height
    known = known_slots[sprite_list] = known._replace(textures=textures)
    return known


def squares_of(sprites: list[Any]) -> npt.NDArray[np.float64]:
    """``(n, 4)``: squares about sprites; those of two overlap if the sprites pass arcade's first test."""
    places, sizes = _places_of(sprites)
    reach = _REACH * np.abs(sizes) + _ROUNDING * (np.abs(places).max(axis=1, initial=0.0) + np.abs(sizes))
    return np.hstack((places - reach[:, None], places + reach[:, None]))


def outlines_of(sprites: list[Any]) -> sprite_kernels.Outlines:
    """Sprites as kernels take them."""
    return sprite_kernels.Outlines(*corners_of(sprites), *_places_of(sprites))


def _places_of(sprites: list[Any]) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
    """Where sprites are, and the longer side of each."""
    places = np.array([one._position for one in sprites], np.float64).reshape(-1, 2)
    return places, np.array([max(one._width, one._height) for one in sprites], np.float64)


def corners_of(sprites: Iterable[Any]) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.int64]]:
    """The corners of the hit boxes of sprites, concatenated, and the end row of each."""
    outlines = [one.hit_box.get_adjusted_points() for one in sprites]
    ends = np.fromiter(accumulate(map(len, outlines)), np.int64, len(outlines))
    count = int(ends[-1]) if outlines else 0
    corners = np.fromiter(chain.from_iterable(chain.from_iterable(outlines)), np.float64, 2 * count)
    return corners.reshape(-1, 2), ends


# ---- the functions

# With more sprites, a query of the spatial hash, if there is one, costs less than a pass over the arrays:
# 4 microseconds against 5 at 1,000 sprites and 8 at 2,500, where few are near.
_MANY_SPRITES = 500


def check_for_collision_with_list(sprite: Any, sprite_list: Any, method: int = 0) -> list[Any]:
    """The sprites of a list that a sprite overlaps; see ``arcade.check_for_collision_with_list``.

    Parameters
    ----------
    sprite : Sprite
        It does not overlap itself.
    sprite_list : SpriteList
    method : int
        Accepted for compatibility; it changes nothing.

    Returns
    -------
    list of Sprite
        In the order of the list.

    Raises
    ------
    TypeError
        As in arcade.
    """
    few = len(getattr(sprite_list, "sprite_list", ())) < FEW_SPRITES
    found = None if few else _find(sprite, sprite_list)
    if found is None:
        found = _functions_of_arcade().check_for_collision_with_list(sprite, sprite_list, method)
    return found


def check_for_collision_with_lists(sprite: Any, sprite_lists: Iterable[Any], method: int = 0) -> list[Any]:
    """The sprites of several lists that a sprite overlaps; see ``arcade.check_for_collision_with_lists``.

    Parameters
    ----------
    sprite, method
        As of `check_for_collision_with_list`.
    sprite_lists : iterable of SpriteList

    Returns
    -------
    list of Sprite
        List by list; a sprite that is in several lists occurs several times.

    Raises
    ------
    TypeError
        As in arcade.
    """
    if isinstance(sprite, arcade().BasicSprite):
        lists = (check_for_collision_with_list(sprite, one, method) for one in sprite_lists)
        return list(chain.from_iterable(lists))
    found: list[Any] = _functions_of_arcade().check_for_collision_with_lists(sprite, sprite_lists, method)
    return found


@cache
def _functions_of_arcade() -> Any:
    """The inner module, because a program may replace arcade's names with those of this one."""
    return arcade().sprite_list.collision


def check_for_collision_between_lists(sprites: Any, others: Any) -> list[tuple[Any, Any]]:
    """Every pair of a sprite of one list and a sprite of another that overlap, in one call.

    Parameters
    ----------
    sprites, others : SpriteList
        Also the same list twice; a sprite does not overlap itself.

    Returns
    -------
    list of (Sprite, Sprite)
        In the order of the lists: what `check_for_collision_with_list` finds for each of ``sprites``.

    Raises
    ------
    TypeError
        An argument is no sprite list.

    Examples
    --------
    >>> import arcade
    >>> from broadphase.adapters.arcade import check_for_collision_between_lists
    >>> bullets, enemies = arcade.SpriteList(lazy=True), arcade.SpriteList(lazy=True)
    >>> for x in (0, 50, 100):
    ...     bullets.append(arcade.SpriteSolidColor(4, 4, x, 0))
    ...     enemies.append(arcade.SpriteSolidColor(20, 20, x + 11, 0))
    >>> [(a.center_x, b.center_x) for a, b in check_for_collision_between_lists(bullets, enemies)]
    [(0, 11), (50, 61), (100, 111)]
    """
    for name, one in (("sprites", sprites), ("others", others)):
        if not isinstance(one, arcade().SpriteList):
            raise TypeError(f"{name} must be a SpriteList; got {one!r}")
    kind: Any = type(sprites)
    if not (has_arrays(others) and keeps_arrays(kind)):
        found = ((one, check_for_collision_with_list(one, others)) for one in sprites)
        return [(one, other) for one, several in found for other in several]
    pairs = join(squares_of(sprites.sprite_list), squares_of(others.sprite_list))
    (left, rows), (right, other_rows) = (np.unique(side, return_inverse=True) for side in pairs.T)
    members, rest = _chosen(sprites.sprite_list, left), _chosen(others.sprite_list, right)
    candidates = np.column_stack((rows, other_rows)).astype(np.int64)
    hits = sprite_kernels.pairs_that_meet(outlines_of(members), outlines_of(rest), candidates)
    meeting = ((members[i], rest[j]) for i, j in candidates[hits].tolist())
    return [(one, other) for one, other in meeting if one is not other]


def _chosen(members: list[Any], rows: Any) -> list[Any]:
    return [members[row] for row in rows.tolist()]


def _find(sprite: Any, sprite_list: Any) -> list[Any] | None:
    """The overlapping sprites; ``None`` if arcade has to find them."""
    if not (isinstance(sprite, arcade().BasicSprite) and has_arrays(sprite_list)):
        return None
    slot_of = sprite_list.sprite_slot
    hashed = sprite_list.spatial_hash
    if hashed is not None and len(sprite_list) > _MANY_SPRITES:
        hit = hashed.get_sprites_near_sprite(sprite)
        others = _within_reach(sprite, hit)
        others.sort(key=slot_of.__getitem__)
        return _overlapping(sprite, others)
    x, y = sprite._position
    candidates = near_slots(sprite_list, x, y, max(sprite._width, sprite._height))
    if candidates is None:
        return None
    return _overlapping(sprite, _within_reach(sprite, candidates))


def _within_reach(sprite: Any, others: Iterable[Any]) -> list[Any]:
    """The other sprites that pass arcade's first test, by distance."""
    (x, y), width, height = sprite._position, sprite._width, sprite._height
    size = width if width > height else height
    found = []
    for other in others:
        if other is sprite:
            continue
        other_x, other_y = other._position
        width, height = other._width, other._height
        reach = 0.71 * (size + (width if width > height else height))
        squared = reach * reach
        dx, dy = x - other_x, y - other_y
        along_x, along_y = dx * dx, dy * dy
        if not (along_x > squared or along_y > squared or along_x + along_y > squared):
            found.append(other)
    return found


def _overlapping(sprite: Any, others: list[Any]) -> list[Any]:
    """The second test: no edge separates the hit boxes."""
    if not others:
        return []
    corners, ends = corners_of((sprite, *others))
    hits = np.empty(len(others), np.bool_)
    start = ends[0]
    sprite_kernels.meets(corners[:start], 0.0, 0.0, corners[start:], ends[1:] - start, hits)
    return [other for other, hit in zip(others, hits.tolist(), strict=True) if hit]


# ---- bodies of a world for sprites

Point = tuple[float, float]


class _Pair:
    """A body, and the state of its sprite when both were last synced."""

    __slots__ = ("at", "body", "boxed", "group", "leads", "offset", "state", "turned")

    def __init__(self, sprite: Any, body: Body, group: Any, leads: bool, boxed: bool) -> None:
        self.body, self.group, self.leads, self.boxed = body, group, leads, boxed
        self.agree(sprite)

    def agree(self, sprite: Any) -> None:
        (x, y), (left, bottom) = sprite.position, self.body.position
        self.state, self.at = _state(sprite), (left, bottom)
        self.offset = left - x, bottom - y
        self.turned = sprite.angle + self.body.angle


class SpriteBodies(Following[_Pair]):
    """Keeps bodies of a `broadphase.World` and arcade's sprites at the same positions.

    A body has the shape of its sprite's hit box, scaled and rotated; a hit box that is not convex becomes its
    convex hull.  ``body.data`` is the sprite.  For each sprite or list, one of the two leads:

    - ``"sprite"``: the game moves, turns and scales sprites and changes their textures; `sync` updates their
      bodies.
    - ``"body"``: bodies are moved and turned in the world; `sync` updates their sprites, and a sprite whose
      body was removed is removed from all its lists.

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

    _walking = {"down": (0.0, -1.0)}  # noqa: RUF012

    def add(self, sprite: Any, *, leader: Leader = "sprite", boxed: bool = False, **options: Any) -> Body:
        """Add a body for one sprite.

        Parameters
        ----------
        sprite : Sprite
        leader : {"sprite", "body"}
            Which of the two the other follows.
        boxed : bool
            Use the bounding box of the hit box, which `walk` needs.  The sprite does not turn with the body.
        **options
            As of `broadphase.World.add`: ``tag``, ``static``, ``sensor``, ``category``, ``mask``.

        Returns
        -------
        Body

        Raises
        ------
        ValueError
            The sprite has a body already, ``leader`` is unknown, or the hit box has no area.
        """
        self._refuse_known(sprite)
        return self._give(sprite, None, as_leader(leader), boxed, options)

    def follow(
        self, sprite_list: Iterable[Any], *, leader: Leader = "sprite", boxed: bool = False, **options: Any
    ) -> None:
        """Add a body for every sprite of a list, also for those that join later, until they leave the list.

        A sprite that joins later gets its body in the next `sync`, or before the next `move` or `walk`.

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
        check_options(options)
        self._follow(sprite_list, partial(self._give, leader=as_leader(leader), boxed=boxed, options=options))
        self.sync()

    def sync(self) -> None:
        """Move all followers to their leaders; call it before ``world.update()``."""
        self._follow_groups()
        self._move_bodies()
        self._move_sprites([sprite for sprite, pair in self._known.items() if pair.leads])

    # ---- inside

    def _give(self, sprite: Any, group: Any, leader: Leader, boxed: bool, options: dict[str, Any]) -> Body:
        body = self.world.add(_shape(sprite, boxed), data=sprite, **options)
        self._known[sprite] = _Pair(sprite, body, group, leader == "body", boxed)
        return body

    def _move_body(self, sprite: Any, known: _Pair) -> None:
        if _state(sprite) != known.state:
            known.body.shape = _shape(sprite, known.boxed)
            known.agree(sprite)

    def _move_sprite(self, sprite: Any, known: _Pair) -> None:
        """Move and turn a sprite as its body: about the middle of the body, at the same offset."""
        body = known.body
        if not body.alive:
            self._known.pop(sprite, None)
            sprite.remove_from_sprite_lists()
            return
        (x, y), (left, bottom) = sprite.position, body.position
        angle = known.turned - body.angle
        if known.boxed or math.isclose(angle, sprite.angle, abs_tol=1e-9):
            place = left - known.offset[0], bottom - known.offset[1]
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
            known.offset = left - x, bottom - y
        known.state, known.at = _state(sprite), body.position

    def _move_bodies(self) -> None:
        """Move the bodies; those whose shape is unchanged in one call."""
        moved, places = [], []
        for sprite, pair in self._known.items():
            if pair.leads or not pair.body.alive:
                continue
            now = _state(sprite)
            if now == pair.state:
                if pair.body.position != pair.at:
                    if self.world.check_sprites:
                        warn_of_world(said_of_astray(sprite, pair.body))
                    moved.append(pair)
                    places.append(pair.at)
                continue
            if now[1:] != pair.state[1:]:
                self._move_body(sprite, pair)
                continue
            pair.state = now
            moved.append(pair)
            places.append((now[0][0] + pair.offset[0], now[0][1] + pair.offset[1]))
        if moved:
            self.world.move_all([pair.body for pair in moved], np.array(places))
            for pair in moved:
                pair.at = pair.body.position


def _state(sprite: Any) -> tuple[Any, ...]:
    """What determines a hit box; its points by identity, because arcade makes new ones for each change."""
    box = sprite.hit_box
    return sprite.position, box.scale, sprite.angle, id(box.points)


def _shape(sprite: Any, boxed: bool) -> Shape:
    """The hull of a hit box, or a `Box` if it is an upright rectangle."""
    points = sprite.hit_box.get_adjusted_points()
    hull = _hull(points)
    xs, ys = zip(*points, strict=True) if points else ((0.0,), (0.0,))
    left, bottom, right, top = min(xs), min(ys), max(xs), max(ys)
    if boxed or set(hull) == {(x, y) for x in (left, right) for y in (bottom, top)}:
        return Box(left, bottom, right - left, top - bottom)
    if len(hull) < 3:
        raise ValueError(f"the hit box of {sprite!r} has no area; its scale is {sprite.scale}")
    return Polygon(hull)


def _hull(points: Iterable[Point]) -> list[Point]:
    """The corners of the convex hull of points."""
    ordered = sorted({(float(x), float(y)) for x, y in points})
    halves = []
    for run in (ordered, ordered[::-1]):
        half: list[Point] = []
        for point in run:
            while len(half) > 1 and orient(half[-2], half[-1], point) <= 0.0:
                half.pop()
            half.append(point)
        halves.append(half[:-1])
    return halves[0] + halves[1]


# ---- drawing

_FAR = np.float32(1e6)  # pixels, beyond any window
_FAINT = 110  # of 255: how opaque the lines of sensors are


def draw_world(
    world: World, *, show: Collection[Kind] = SHOWN, colors: Mapping[Any, tuple[int, ...]] | None = None
) -> None:
    """Outline what the world sees, as the camera in use shows it, in one call of the graphics card.

    Bodies are drawn by their tags, sensors, which do not block, faintly.  Call it in ``on_draw``, last.

    Parameters
    ----------
    world : World
    show, colors
        As of `broadphase.World.outlines`; colours are of 0 to 255, red, green, blue and perhaps alpha.

    Examples
    --------
    >>> def on_draw(self):
    ...     with self.camera.activate():
    ...         self.sprites.draw()
    ...         draw_world(self.world)
    """
    module = arcade()
    ctx = module.get_window().ctx
    seen = ~(ctx.projection_matrix @ ctx.view_matrix)
    corners = np.array([tuple(seen @ module.Vec4(x, y, 0.0, 1.0))[:2] for x in (-1, 1) for y in (-1, 1)])
    view = (*corners.min(axis=0).tolist(), *corners.max(axis=0).tolist())
    found = [(one, one.segments().reshape(-1, 2)) for one in world.outlines(view, show=show, colors=colors)]
    lines, end = np.empty((sum(len(points) for _, points in found), 6), np.float32), 0
    for one, points in found:
        red, green, blue, *alpha = one.color
        begin, end = end, end + len(points)
        lines[begin:end, :2] = np.clip(points, -_FAR, _FAR)
        opaque = alpha[0] if alpha else _FAINT if one.kind == "sensor" else 255
        lines[begin:end, 2:] = red, green, blue, opaque
    if not len(lines):
        return
    buffer = ctx.buffer(data=lines)
    layout = module.gl.BufferDescription(buffer, "2f 4f", ("in_vert", "in_color"))
    ctx.enable(ctx.BLEND)
    ctx.geometry([layout]).render(ctx.line_generic_with_colors_program, mode=ctx.LINES)
    ctx.disable(ctx.BLEND)
    buffer.delete()
