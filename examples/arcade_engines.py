"""Replacements for arcade's physics engines, with the same sprites, lists, attributes and methods.

Copy this file next to your game and change one import::

    from arcade_engines import PhysicsEnginePlatformer   # instead of: from arcade import

They take half of the time.  On whole pixels they give the same positions, frame by frame, up to the first of
these differences from arcade 3.3, most often a jump against a block or a ceiling:

- Vertical motion stops where hit boxes touch, not up to a quarter of a pixel (falling) or a pixel (rising)
  before.  Motion is swept, so an obstacle stops a sprite that would have passed it in one frame.
- A sprite that starts in a wall is pushed out by the shortest distance (depenetration), or up with a lift
  that rises into it.  arcade tries positions 1, 2, 4, ... pixels away, forever if none is free.
- A sprite on several platforms moves with the one that supports most of it, not with the sum of their speeds;
  also while it walks, and not into walls.
- After ``update`` a sprite is in no wall that it can leave.  Rounding, turning, climbing and carrying may
  leave it in one in arcade, and a sprite that is squeezed between floor and ceiling falls through the floor.
- In one step it climbs at most its own height, however fast it runs.
- A sprite that jumps while it runs into a ramp continues along the ramp.  arcade checks for space on the
  ramp at the height where the jump started, and stops; on its ``test_map_7`` longer differences start there.

One move of a sprite has these steps: it is pushed out of walls (depenetration), turned, moved up or down, and
moved sideways.  The order, the rounding of y to two digits and the whole pixels along x are arcade's.  The
distances are computed, not tried in steps: vertical motion ends where hit boxes touch, and nothing is passed
through.
"""

import math
from collections.abc import Iterable, Iterator
from itertools import chain, count
from operator import attrgetter
from typing import Any, NamedTuple, NoReturn
from weakref import WeakKeyDictionary

import numpy as np

from broadphase.adapters.arcade import arcade, corners_of, has_arrays, near_slots
from broadphase.geometry.shapes import extent
from broadphase.kernels.shapes import sprites as sprite_kernels
from broadphase.runtime.arrays import Floats

# ---- obstacles around a moving sprite

Place = tuple[float, float]

# Obstacles are read this many times as far as needed, so that a motion of several legs needs one read.
_MARGIN = 1.5
# The search for a free position, which doubles its step, ends here; that of arcade never ends.
_FARTHEST = 2.0**20
_DIRECTIONS = ((0, 1), (0, -1), (1, 0), (-1, 0), (1, 1), (1, -1), (-1, 1), (-1, -1))
# y is rounded to two digits, as in arcade; x to far less than a pixel.
HUNDREDTHS, FINE = 100.0, 1e9
_EVEN = 1e-3
_HALF_DIAGONAL = 0.71  # of a unit square, and a little more

_outlines: WeakKeyDictionary[Any, tuple[Any, Floats, float]] = WeakKeyDictionary()


class Surroundings:
    """The hit box of a sprite, and those of all that it may hit; nothing is moved here.

    Parameters
    ----------
    sprite : Sprite
    sprite_lists : iterable of SpriteList
    distance : float
        How far it is likely to move.
    """

    def __init__(self, sprite: Any, sprite_lists: Iterable[Any], distance: float) -> None:
        self.sprite, self._lists, self._distance = sprite, list(sprite_lists), distance
        self._known = -1.0
        self._middle = sprite._position
        self.read_outline()

    def read_outline(self) -> None:
        """Read the hit box of the sprite again, after it has turned."""
        self.outline, self.reach = _outline(self.sprite)

    def hits(self, x: float, y: float) -> list[Any]:
        """The sprites that it would overlap at a position, list by list."""
        self._see(x, y, x, y)
        if not self._count(x, y):
            return []
        return [self.others[k] for k in np.flatnonzero(self._met).tolist()]

    def free(self, x: float, y: float) -> bool:
        """Whether it would overlap nothing at a position."""
        self._see(x, y, x, y)
        return self._count(x, y) == 0

    def meetings(self, x: float, y: float, dx: float, dy: float) -> tuple[float, Floats, Floats]:
        """The free share of a motion, and when the sprite would enter and leave each of the `others`.

        Times are shares of the motion; ``inf`` for those that it does not hit.
        """
        clear = self.first(x, y, dx, dy)
        return clear, self._enter, self._leave

    def first(self, x: float, y: float, dx: float, dy: float) -> float:
        """The free share of a motion: 0 to 1."""
        self._see(x, y, x + dx, y + dy)
        clear: float = sprite_kernels.times_on_path(
            *(self.outline, float(x), float(y), float(dx), float(dy)),
            *(self._corners, self._ends, self._enter, self._leave),
        )
        return clear

    def shared_width(self, x: float, other: Any) -> float:
        """The width of the overlap with another along x."""
        box = other.hit_box
        left, right = x + self.outline[:, 0].min(), x + self.outline[:, 0].max()
        return float(min(right, box.right) - max(left, box.left))

    def freed(self, x: float, y: float) -> Place:
        """Depenetration: the nearest free position by the shortest way out of one other, or else a search.

        A displacement along the motion of the other counts as shorter by that motion, so that lifts lift.
        """
        displacements = []
        for other in self.hits(x, y):
            velocity = getattr(other, "change_x", 0.0), getattr(other, "change_y", 0.0)
            displacements += [
                (math.hypot(px, py) * (1.0 - _share(velocity, (px, py))), px, py)
                for px, py in _displacements(np.add(self.outline, (x, y)), corners_of((other,))[0])
            ]
        for _, px, py in sorted(displacements):
            for more in (0, 1):
                place = _rounded_away(x + px, px, FINE, more), _rounded_away(y + py, py, HUNDREDTHS, more)
                if self.free(*place):
                    return place
        return self.searched(x, y)

    def searched(self, x: float, y: float) -> Place:
        """A free position 1, 2, 4, ... away in eight directions; the same position if there is none."""
        step = 1.0
        while step <= _FARTHEST:
            for right, up in _DIRECTIONS:
                place = x + step * right, y + step * up
                if self.free(*place):
                    return place
            step *= 2.0
        return x, y

    # ---- inside

    def _count(self, x: float, y: float) -> int:
        outline, ends = self.outline, self._ends
        met: int = sprite_kernels.meets(outline, float(x), float(y), self._corners, ends, self._met)
        return met

    def _see(self, x: float, y: float, to_x: float, to_y: float) -> None:
        """Read the obstacles that a motion may hit, if they are not known."""
        mid_x, mid_y = self._middle
        far = max(abs(x - mid_x), abs(y - mid_y), abs(to_x - mid_x), abs(to_y - mid_y))
        if far + self.reach <= self._known:
            return
        self._known = _MARGIN * far + self.reach + self._distance
        near = [_sprites_around(one, mid_x, mid_y, self._known) for one in self._lists]
        self.others = [other for found in near for other in found if other is not self.sprite]
        self._corners, self._ends = corners_of(self.others)
        self._met = np.empty(len(self.others), np.bool_)
        self._enter, self._leave = np.empty(len(self.others)), np.empty(len(self.others))


def _sprites_around(sprite_list: Any, x: float, y: float, half: float) -> Iterable[Any]:
    """All sprites of a list that may reach into a square around a point, in the order of the list."""
    hashed = sprite_list.spatial_hash
    if hashed is not None:
        candidates = hashed.get_sprites_near_rect(arcade().LRBT(x - half, x + half, y - half, y + half))
        slot_of = getattr(sprite_list, "sprite_slot", {})
        return sorted(candidates, key=lambda one: slot_of.get(one, -1))
    if has_arrays(sprite_list):
        found = near_slots(sprite_list, x, y, 2.0 * half)
        if found is not None:
            return found
    return _sprites_near(sprite_list, x, y, half)


def _sprites_near(sprites: Iterable[Any], x: float, y: float, half: float) -> Iterator[Any]:
    for one in sprites:
        (px, py), reach = one._position, half + _HALF_DIAGONAL * max(abs(one._width), abs(one._height))
        if abs(px - x) <= reach and abs(py - y) <= reach:
            yield one


def _outline(sprite: Any) -> tuple[Floats, float]:
    """The hit box at the origin; adding a position gives the same sums as in arcade."""
    box = sprite.hit_box
    state = box.points, box.scale, getattr(box, "angle", 0.0)
    known = _outlines.get(sprite)
    if known is None or known[0] != state:
        turned = type(box)(box.points, scale=box.scale).create_rotatable(state[2])
        corners = np.array(turned.get_adjusted_points(), np.float64).reshape(-1, 2)
        known = _outlines[sprite] = state, corners, float(np.abs(corners).max(initial=0.0))
    return known[1], known[2]


def _share(velocity: Place, displacement: Place) -> float:
    """The share of a displacement that a velocity covers, 0 to 1."""
    squared = displacement[0] * displacement[0] + displacement[1] * displacement[1]
    along = velocity[0] * displacement[0] + velocity[1] * displacement[1]
    return min(1.0, max(0.0, along / squared)) if squared else 0.0


def _displacements(a: Floats, b: Floats) -> list[Place]:
    """The displacements along the normals of all edges that move ``a`` out of ``b``."""
    edges = np.concatenate([np.roll(points, -1, 0) - points for points in (a, b)])
    lengths = np.hypot(edges[:, 0], edges[:, 1])
    edges, lengths = edges[lengths > 0.0], lengths[lengths > 0.0]
    normals = np.column_stack((edges[:, 1], -edges[:, 0])) / lengths[:, None]
    mine, others = a @ normals.T, b @ normals.T
    forward = (others.max(0) - mine.min(0))[:, None] * normals
    back = (others.min(0) - mine.max(0))[:, None] * normals
    displacements: list[Place] = np.concatenate((forward, back)).tolist()
    return displacements


def _rounded_away(number: float, away: float, parts: float, more: int = 0) -> float:
    """Round to a multiple of 1 / ``parts`` in the direction of ``away``, plus ``more`` multiples."""
    scaled = number * parts
    whole = round(scaled)
    if away == 0.0 or abs(whole - scaled) <= _EVEN:
        near = float(whole)
    else:
        near = math.ceil(scaled) if away > 0.0 else math.floor(scaled)
    return (near + math.copysign(more, away)) / parts


# ---- one move

_TOLERANCE = 1e-9


class WalkRules(NamedTuple):
    """How a sprite moves."""

    climbs: bool = False
    """Whether it walks up slopes that rise no more than its motion along x."""
    snap: float = 0.0
    """How far below the floor may be to which it is snapped while it walks."""


def move(sprite: Any, around: Surroundings, rules: WalkRules) -> list[Any]:
    """Move a sprite by ``change_angle``, ``change_y`` and ``change_x``; returns what it hit, each once."""
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
            y = _snapped(around, x, y, rules.snap)
    sprite.position = x, y
    return met + [other for other in turned_into if other not in met]


def _turn(sprite: Any, around: Surroundings, x: float, y: float) -> tuple[float, float, list[Any]]:
    """Turn the sprite and search for free space if it hits something; undo that if the space is too far."""
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
    """The new y, what it hit, and what supports it: of the first hits, that with the widest overlap."""
    first, enter, leave = around.meetings(x, y, 0.0, dy)
    if first >= 1.0:
        goal = y + dy
        fits = round(goal, 2)
        return (fits if around.free(x, fits) else goal if around.free(x, goal) else y), [], None
    stopped = np.flatnonzero(enter <= first + _TOLERANCE).tolist()
    met = np.flatnonzero((enter <= first + _TOLERANCE) | (leave > 1.0) & (enter < 1.0)).tolist()
    holder = max((around.others[k] for k in stopped), key=lambda one: around.shared_width(x, one))
    return _touching_y(around, x, y, dy * first, -dy), [around.others[k] for k in met], holder


def _touching_y(around: Surroundings, x: float, y: float, dy: float, away: float) -> float:
    """The y at which a motion ends at an obstacle: rounded to two digits, but not into it."""
    for more in (0, 1):
        there = _rounded_away(y + dy, away, HUNDREDTHS, more)
        if around.free(x, there):
            return there
    return y


def _carried(around: Surroundings, x: float, y: float, dx: float) -> Place:
    """Move the sprite with the platform under it, as far as that is free."""
    if dx:
        x += dx * around.first(x, y, dx, 0.0)
    return x, y


def _along(
    around: Surroundings, x: float, y: float, dx: float, climbs: bool
) -> tuple[float, float, list[Any]]:
    """Move sideways, in parts no longer than the sprite is wide, so that one part climbs no more than it."""
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
    """One part of the motion, or as many whole pixels as are free, and whether that was all of it."""
    first, enter, leave = around.meetings(x, y, dx, 0.0)
    if first >= 1.0:
        return x + dx, y, [], True
    length = abs(dx)
    # What it would overlap at the end, and what it would enter first.
    hits = (enter < 1.0) & (leave > 1.0) | (enter <= first + _TOLERANCE)
    met = [around.others[k] for k in np.flatnonzero(hits).tolist()]
    clear = length * first
    for far in _lengths(length):
        there = x + math.copysign(far, dx)
        if far <= clear + _TOLERANCE and around.free(there, y):
            return there, y, met, far == length
        if climbs and far > 0.0:
            height = _climbed(around, x, y, there, far)
            if height is not None:
                return there, height, met, far == length
    return x, y, met, False


def _lengths(length: float) -> Iterator[float]:
    """The lengths to try: all, then shorter by whole pixels, and whole pixels; the longest first."""
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
    """The y after climbing at most as far as it moves along x; ``None`` if that is not possible."""
    if not around.free(there, y + far):
        return None
    drop = far * around.first(there, y + far, 0.0, -far)
    height = y + far - math.floor(drop + _TOLERANCE)
    rise = height - y
    steep = around.first(x, y, there - x, rise) == 1.0
    if not steep and (around.first(x, y, 0.0, rise) < 1.0 or around.first(x, height, there - x, 0.0) < 1.0):
        return None
    return height if around.free(there, height) else None


def _snapped(around: Surroundings, x: float, y: float, snap: float) -> float:
    """The y on the floor below, if it is no further down than ``snap``."""
    part = around.first(x, y, 0.0, -snap)
    return _touching_y(around, x, y, -snap * part, 1.0) if 0.0 < part < 1.0 else y


Lists = list[Any]


def _kept(name: str, what: str) -> property:
    """A property that is a list of sprite lists: setting adds to it; ``None`` or ``del`` empties it."""

    def put(self: Any, lists: Any) -> None:
        kept = getattr(self, name)
        if lists:
            kept.extend(_listed(lists))
        else:
            kept.clear()

    said = f"The sprite lists {what}.  Setting adds to them; ``None`` empties."
    return property(attrgetter(name), put, lambda self: put(self, None), said)


def _listed(lists: Any) -> Lists:
    return [lists] if isinstance(lists, arcade().SpriteSequence) else list(lists or ())


class _Engine:
    """The common part of both engines."""

    player_sprite: Any

    def __copy__(self) -> NoReturn:
        raise NotImplementedError(f"{type(self).__name__} does not copy, as in arcade: make another")

    def __deepcopy__(self, memo: Any) -> NoReturn:
        self.__copy__()

    def _around(self, lists: Iterable[Any], margin: float = 0.0) -> Surroundings:
        player = self.player_sprite
        distance = abs(player.change_x) + abs(player.change_y) + margin
        return Surroundings(player, lists, distance)


class PhysicsEngineSimple(_Engine):
    """One sprite among walls, in a top-down view; see ``arcade.PhysicsEngineSimple``.

    Parameters
    ----------
    player_sprite : Sprite
        Moved by its ``change_x``, ``change_y`` and ``change_angle``.
    walls : SpriteList or iterable of SpriteList, optional

    Examples
    --------
    >>> import os; os.environ["ARCADE_HEADLESS"] = "True"
    >>> import arcade
    >>> from broadphase.adapters.arcade import PhysicsEngineSimple
    >>> player, wall = arcade.SpriteSolidColor(10, 10), arcade.SpriteSolidColor(10, 100, center_x=40)
    >>> walls = arcade.SpriteList(lazy=True)
    >>> walls.append(wall)
    >>> engine = PhysicsEngineSimple(player, walls)
    >>> player.change_x = 100
    >>> engine.update() == [wall], player.position
    (True, (30.0, 0.0))
    """

    walls = _kept("_walls", "that stop it")

    def __init__(self, player_sprite: Any, walls: Any = None) -> None:
        self.player_sprite = player_sprite
        self._walls = _listed(walls)

    def update(self) -> list[Any]:
        """Move the sprite; returns the sprites that it hit."""
        return move(self.player_sprite, self._around(self._walls), WalkRules())


class PhysicsEnginePlatformer(_Engine):
    """One sprite with gravity, walls, moving platforms and ladders; see ``arcade.PhysicsEnginePlatformer``.

    Parameters
    ----------
    player_sprite : Sprite
    platforms : SpriteList or iterable of SpriteList, optional
        Walls that move: by ``change_x`` between ``boundary_left`` and ``boundary_right``, by ``change_y``
        between ``boundary_bottom`` and ``boundary_top``.
    gravity_constant : float
        Subtracted from the sprite's ``change_y`` in each update.
    ladders : SpriteList or iterable of SpriteList, optional
        There is no gravity on them.
    walls : SpriteList or iterable of SpriteList, optional
    snap : float
        Not in arcade: while it walks, the sprite is moved down to a floor that is at most this far below.
        With 0 it hops down slopes, as in arcade.

    Raises
    ------
    TypeError
        ``player_sprite`` is no ``Sprite``, or ``snap`` no number.
    ValueError
        ``snap`` is negative or not finite.

    Examples
    --------
    >>> import os; os.environ["ARCADE_HEADLESS"] = "True"
    >>> import arcade
    >>> from broadphase.adapters.arcade import PhysicsEnginePlatformer
    >>> player, floor = arcade.SpriteSolidColor(10, 10, 0, 30), arcade.SpriteSolidColor(200, 20, 0, -10)
    >>> walls = arcade.SpriteList(lazy=True)
    >>> walls.append(floor)
    >>> engine = PhysicsEnginePlatformer(player, walls=walls, gravity_constant=0.7)
    >>> for _ in range(60):
    ...     _ = engine.update()
    >>> player.bottom, engine.can_jump()
    (0.0, True)
    """

    platforms = _kept("_platforms", "of moving platforms")
    ladders = _kept("_ladders", "of ladders")
    walls = _kept("_walls", "that stop it and stand still")

    def __init__(
        self,
        player_sprite: Any,
        platforms: Any = None,
        gravity_constant: float = 0.5,
        ladders: Any = None,
        walls: Any = None,
        *,
        snap: float = 0.0,
    ) -> None:
        if not isinstance(player_sprite, arcade().Sprite):
            raise TypeError(f"player_sprite must be a Sprite; got {player_sprite!r}")
        self.player_sprite = player_sprite
        self._platforms, self._ladders, self._walls = map(_listed, (platforms, ladders, walls))
        self.gravity_constant = gravity_constant
        self.jumps_since_ground = 0
        self.allowed_jumps = 1
        self.allow_multi_jump = False
        self.snap = extent(snap, "snap")

    def is_on_ladder(self) -> bool:
        """Whether the sprite overlaps a ladder."""
        return bool(self._ladders) and not self._around(self._ladders).free(*self.player_sprite._position)

    def can_jump(self, y_distance: float = 5) -> bool:
        """Whether a floor is within a distance below, or another jump in the air is allowed.

        Parameters
        ----------
        y_distance : float
            The distance below; even a thin floor within it counts.
        """
        x, y = self.player_sprite._position
        around = self._around(self._obstacles(), abs(y_distance))
        lands = around.first(x, y, 0.0, -y_distance) < 1.0 or not around.free(x, y - y_distance)
        if lands:
            self.jumps_since_ground = 0
        return lands or (self.allow_multi_jump and self.jumps_since_ground < self.allowed_jumps)

    def enable_multi_jump(self, allowed_jumps: int) -> None:
        """Allow this many jumps, including the one from the floor."""
        self.allowed_jumps = allowed_jumps
        self.allow_multi_jump = True

    def disable_multi_jump(self) -> None:
        """Allow jumps from a floor only."""
        self.allow_multi_jump = False
        self.allowed_jumps = 1
        self.jumps_since_ground = 0

    def jump(self, velocity: float) -> None:
        """Set the sprite's ``change_y``, and count the jump."""
        self.player_sprite.change_y = velocity
        self.increment_jump_counter()

    def increment_jump_counter(self) -> None:
        """Count a jump, if several are allowed."""
        if self.allow_multi_jump:
            self.jumps_since_ground += 1

    def update(self) -> list[Any]:
        """Apply gravity, move the platforms and then the sprite; returns the sprites that it hit."""
        if not self.is_on_ladder():
            self.player_sprite.change_y -= self.gravity_constant
        for platform in chain.from_iterable(self._platforms):
            _move_platform(platform)
        around = self._around(self._obstacles())
        return move(self.player_sprite, around, WalkRules(climbs=True, snap=self.snap))

    def _obstacles(self) -> Lists:
        return [*self._walls, *self._platforms]


def _move_platform(platform: Any) -> None:
    """Move a platform, and reverse it at its boundaries."""
    if platform.change_x == 0 and platform.change_y == 0:
        return
    _turn_around(platform, "change_x", {"left": 1, "right": -1})
    platform.center_x += platform.change_x
    _turn_around(platform, "change_y", {"top": -1, "bottom": 1})
    platform.center_y += platform.change_y


def _turn_around(platform: Any, speed: str, ends: dict[str, int]) -> None:
    """Reverse a platform that has reached a boundary, and move it back to the boundary."""
    for end, back in ends.items():
        bound = getattr(platform, f"boundary_{end}")
        if bound is not None and back * (getattr(platform, end) - bound) <= 0:
            setattr(platform, end, bound)
            setattr(platform, speed, back * abs(getattr(platform, speed)))
