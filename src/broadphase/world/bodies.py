"""The bodies of a world: `Body`, which users hold, the columns that it reads and writes, and its tags.

Tags become bits, by which the broad phase skips pairs without a listener.  Each tag of a listener has one of
32 bits.  A body has the bits of its tags, and hears the bits of the tags that theirs are paired with: what
`broadphase.Index` calls category and mask.  From the 33rd tag on bits are shared; the broad phase then finds
a few pairs too many, which contacts sort out by the sets of tags.

Sets that no body has any more are forgotten from time to time, and so are the bits of tags without listeners:
tags that are used once cost nothing in the long run.
"""

import heapq
from collections import deque
from collections.abc import Callable, Collection, Iterable, Sequence
from functools import partial
from itertools import count, repeat
from operator import le
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from broadphase.errors import instead
from broadphase.geometry.shapes import Bounds, Box, Circle, Polygon, Shape, finite, turned_point
from broadphase.geometry.table import ShapeTable
from broadphase.geometry.vectors import Rect, Vector, new
from broadphase.indexes import arguments
from broadphase.indexes.storage import EVERY_BIT, expect
from broadphase.inputs.arrays import BOXES, rectangle_of, settled
from broadphase.inputs.boxes import as_boxes
from broadphase.kernels.movement import motion as kernel
from broadphase.kernels.movement.sweep import FARTHEST
from broadphase.kernels.shapes.table import BOX, CIRCLE
from broadphase.kernels.tiles.grid import SIDES, Side
from broadphase.runtime.arrays import Floats, distinct
from broadphase.world.arguments import ANY, as_place, as_shape, as_sides, as_tags, as_two
from broadphase.world.hits import RESPONSES, code_of
from broadphase.world.space import Space

BITS = 32

# So many sets of tags are always kept; beyond, as many as there are in use once more.
_SPARE_GROUPS = 64

# The layers of a world.  Those that move are in one index, those that do not in another; bodies without
# listeners are layers of their own, which cost an update nothing.  The layer of what is static comes next.
MOVING, STATIC, QUIET_MOVING, QUIET_STATIC = range(4)
# Several are a bit for each.
ALL, LISTENED, STATICS = 15, 1 << MOVING | 1 << STATIC, 1 << STATIC | 1 << QUIET_STATIC

Bits = npt.NDArray[np.uint32]
Ignored: TypeAlias = Collection[int]
"""The rows of bodies that do not count for a movement."""


class Heard(NamedTuple):
    """The tags of all listeners."""

    bit_of: dict[Any, int]
    """A number for each tag; its bit is that modulo 32."""
    hears: dict[Any, int]
    """The bits that a body with a tag hears."""
    exact: bool = True
    """Whether no two tags share a bit, so that the bits alone decide."""

    def bits_of(self, tags: frozenset[Any]) -> tuple[int, int]:
        """The bits that a body with these tags has, and those that it hears."""
        bits = heard = 0
        for tag in (*tags, ANY):
            if tag in self.hears:
                bits |= 1 << self.bit_of[tag] % BITS
                heard |= self.hears[tag]
        return bits, heard


class TagSets:
    """The sets of tags (groups) of a world's bodies."""

    def __init__(self) -> None:
        self.groups: list[frozenset[Any]] = [frozenset()]
        """By number; another list from when some were forgotten."""
        self.bits: Bits = np.zeros((1, 2), np.uint32)
        """``(groups, 2)``: the bits that a group has, and those that it hears."""
        self.heard_now = Heard({}, {})
        """The tags of listeners; see `BodyStore.listen`."""
        self._group_of: dict[frozenset[Any], int] = {frozenset(): 0}
        self._having: dict[frozenset[Any], npt.NDArray[np.bool_]] = {}
        self._most = _SPARE_GROUPS

    @property
    def crowded(self) -> bool:
        """Whether it is time to forget the sets of tags that no body has."""
        return len(self.groups) > self._most

    def forget(self, group: npt.NDArray[np.int32], alive: npt.NDArray[np.integer[Any]]) -> None:
        """Keep only the groups of these rows, and write their numbers from now on to ``group``."""
        distinct, which = np.unique(group[alive], return_inverse=True)
        kept = [frozenset(), *(self.groups[number] for number in distinct.tolist() if number)]
        group_of = {tags: number for number, tags in enumerate(kept)}
        bits, most = self._all_bits(kept, self.heard_now), 2 * len(kept) + _SPARE_GROUPS
        numbers = np.zeros_like(group)
        # The empty set comes first, also where no body has it.
        numbers[alive] = which + int(len(distinct) > 0 and distinct[0] != 0)
        # Commit: nothing interrupts the lines from here on (`tests/test_commits.py`).
        self.groups, self.bits, self._group_of, self._most = kept, bits, group_of, most
        self._having = {}
        group[:] = numbers

    def group_of(self, tags: frozenset[Any]) -> int:
        """The number of a set of tags."""
        group = self._group_of.get(tags)
        if group is None:
            group = len(self.groups)
            bits = np.vstack((self.bits, self._all_bits([tags], self.heard_now)))
            # Commit: nothing interrupts the lines from here on (`tests/test_commits.py`).
            self.bits = bits
            self.groups += (tags,)
            self._group_of[tags] = group
        return group

    def having(self, tags: frozenset[Any]) -> npt.NDArray[np.bool_]:
        """By number of the group, whether it has one of these tags; kept, because queries name few tags."""
        known = self._having.get(tags)
        if known is None or len(known) < len(self.groups):
            if len(self._having) >= _SPARE_GROUPS:
                self._having = {}
            known = np.array([not tags.isdisjoint(group) for group in self.groups])
            self._having[tags] = known
        return known

    @property
    def asked(self) -> list[Any]:
        """The tags of the last queries."""
        return [tag for tags in self._having for tag in tags]

    def layer_of(self, group: int, static: bool) -> int:
        """The layer of a body."""
        return (MOVING if self.bits.item(group, 1) else QUIET_MOVING) + static

    def layers_of(
        self, group: npt.NDArray[np.integer[Any]], static: npt.NDArray[np.bool_], bits: Bits | None = None
    ) -> npt.NDArray[np.int8]:
        """The layer of each of many bodies, where groups have these bits."""
        hears = (self.bits if bits is None else bits)[group, 1] != 0
        return (np.where(hears, MOVING, QUIET_MOVING) + static).astype(np.int8)

    def heard(self, pairs: list[tuple[Any, Any]]) -> tuple[Heard, Bits]:
        """What would be heard if these pairs of tags had listeners, and the bits of groups then."""
        bit_of = _bits_for((tag for pair in pairs for tag in pair), self.heard_now.bit_of)
        hears: dict[Any, int] = {}
        for a, b in pairs:
            for tag, other in ((a, b), (b, a)):
                hears[tag] = hears.get(tag, 0) | 1 << bit_of[other] % BITS
        heard = Heard(bit_of, hears, max(bit_of.values(), default=0) < BITS)
        return heard, self._all_bits(self.groups, heard)

    def _all_bits(self, groups: list[frozenset[Any]], heard: Heard) -> Bits:
        return np.array([heard.bits_of(tags) for tags in groups], np.uint32).reshape(-1, 2)


def _bits_for(tags: Iterable[Any], before: dict[Any, int]) -> dict[Any, int]:
    """A number for each tag: that which it had, or the lowest that is free."""
    wanted = dict.fromkeys(tags)
    kept = {tag: bit for tag, bit in before.items() if tag in wanted}
    taken = set(kept.values())
    free = (bit for bit in count() if bit not in taken)
    for tag in wanted:
        if tag not in kept:
            kept[tag] = next(free)
    return kept


def has(tags: frozenset[Any], tag: Any) -> bool:
    """Whether a body with these tags is meant.

    Examples
    --------
    >>> has(frozenset({"coin"}), "coin"), has(frozenset(), ANY), has(frozenset(), "coin")
    (True, True, False)
    """
    return tag is ANY or tag in tags


def check_tag(tag: Any, name: str) -> None:
    """Raise ``TypeError`` unless it is one tag, or `ANY`."""
    if isinstance(tag, Body):
        raise TypeError(
            f"{name} must be a tag that bodies have, or ANY, not a body; give its tag, {tag.tag!r}"
        )
    if tag is None or isinstance(tag, (set, frozenset, list, tuple)):
        raise TypeError(f"{name} must be one tag, or ANY; got {tag!r}; call on() once for each pair of tags")
    hash(tag)


# -----------------------------------------------------------------------------------------------------------
# The bodies of a world: the handles that users hold, and the arrays by row that hold their state.
#
# A row is a body's id: the lowest that is free.  Two parties want to know about changes: the broad phase,
# each of whose indexes has a list of rows (see `broadphase.kernels.movement.motion`), and the contacts
# (``touched`` since the last update; ``renewed`` where it is to them another body than before).
#
# A change that is interrupted has happened completely or not at all: it first lists the rows, then writes all
# columns in lines without a call, between which Python does not run signal handlers.


Rows = npt.NDArray[np.int32]

GONE = -1
"""The row of a body that was removed."""

NO_RESPONSE = -1
"""What a body without a response of its own has in that column."""

_FIRST_CAPACITY = 64
_PLAIN = {Box, Circle, Polygon}
# The arrays by row, and what their unused rows hold.
_COLUMNS: dict[str, tuple[type, Any]] = {
    "alive": (np.bool_, False),
    "static": (np.bool_, False),
    "sensor": (np.bool_, False),
    "category": (np.uint32, 1),
    "mask": (np.uint32, EVERY_BIT),
    "group": (np.int32, 0),
    "layer": (np.int8, 0),
    "listed": (np.uint8, 0),
    "touched": (np.bool_, False),
    "renewed": (np.bool_, False),
    "serial": (np.int64, 0),
    "velocity_x": (np.float64, 0.0),
    "velocity_y": (np.float64, 0.0),
    "response": (np.int8, NO_RESPONSE),
    "one_way": (np.uint8, 0),
    "left": (np.int64, 0),
}


Categories: TypeAlias = int | str | Iterable[str]
"""Bits, or the name of a category, or several names; see `World.add`."""
# The first bit is that of bodies for which none was given.
_MOST_NAMES = 31


class Remains(NamedTuple):
    """What a removed body was."""

    id: int
    shape: Shape
    tags: frozenset[Any]
    static: bool
    sensor: bool
    category: int
    mask: int
    angle: float


_OTHER_NAMES = {
    **dict.fromkeys(["pos", "xy", "topleft"], "it is position here"),
    **dict.fromkeys(["width", "height", "size", "left", "top", "right", "bottom"], "body.rect has it"),
    **dict.fromkeys(["radius", "points", "type", "kind"], "body.shape has it"),
    **dict.fromkeys(["kill", "delete", "destroy", "remove_from_world"], "it is remove() here"),
    **dict.fromkeys(
        ["move", "walk", "push", "update", "try_move"], "the world does it: world.move(body, dx, dy)"
    ),
    **dict.fromkeys(["vx", "vy", "vel", "speed"], "it is velocity here, a pair"),
    **dict.fromkeys(["rotation", "rotate"], "it is angle here, in degrees"),
    **dict.fromkeys(
        ["colliderect", "collides", "collides_with", "overlaps", "touching"],
        "world.query_shape(body) finds what overlaps it; broadphase.overlap compares two",
    ),
    **dict.fromkeys(
        ["name", "hp", "health", "sprite", "image", "owner"],
        "what your game knows of a body is kept in body.data",
    ),
}
"""What attributes are called elsewhere, or where they are."""


@instead(_OTHER_NAMES)
class Body:
    """A body in a `World`, created by `World.add`.

    A removed body still answers what it was (``alive`` is False), but can no longer be changed.

    Attributes
    ----------
    data : object
        Whatever the user wants to find again: a sprite, an entity number.  The world never looks at it.

    Examples
    --------
    >>> import broadphase as bp
    >>> world = bp.World()
    >>> coin = world.add(bp.Circle(5, 5, 2), tag="coin", sensor=True, data={"worth": 10})
    >>> coin.x += 20
    >>> coin.shape, coin.bounds, coin.tag
    (Circle(x=25.0, y=5.0, radius=2.0), (23.0, 3.0, 27.0, 7.0), 'coin')
    """

    __slots__ = ("__weakref__", "_remains", "_row", "_store", "data")

    def __init__(self, store: "BodyStore", row: int, data: Any) -> None:
        self._store = store
        self._row = row
        self._remains: Remains | None = None
        self.data = data

    # ---- where it is

    @property
    def x(self) -> float:
        """Where its shape is placed.

        A box by its min corner, a circle by its centre, a polygon by its first point.
        """
        if self._row < 0:
            return self._was.shape.x
        return self._store.x.item(self._row)

    @x.setter
    def x(self, x: float) -> None:
        self._store.teleport(self, x, self.y)

    @property
    def y(self) -> float:
        """See ``x``."""
        if self._row < 0:
            return self._was.shape.y
        return self._store.y.item(self._row)

    @y.setter
    def y(self, y: float) -> None:
        self._store.teleport(self, self.x, y)

    @property
    def position(self) -> Vector:
        """``x, y``."""
        row, store = self._row, self._store
        xy: Vector = new(Vector, (self.x, self.y) if row < 0 else (store.x.item(row), store.y.item(row)))
        return xy

    @position.setter
    def position(self, place: Any) -> None:
        x, y = as_two(place, "x, y")
        self._store.teleport(self, x, y)

    def move_to(self, x: Any, y: float | None = None) -> None:
        """Teleport the body, whatever is there; `World.move` stops at the first blocker.

        Parameters
        ----------
        x, y : float
            Or one point: ``move_to((x, y))``, ``move_to(pygame.Vector2(x, y))``.

        Raises
        ------
        TypeError, ValueError
            A coordinate is not a finite number within 1e300, or the body was removed; nothing has changed.
        """
        if y is None:
            x, y = as_two(x, "x, y")
        self._store.teleport(self, x, y)

    @property
    def velocity(self) -> Vector:
        """In world units a second, as ``dt`` is in seconds; `World.step` moves what has one.

        Set it to two numbers: ``body.velocity = 120, 0``.

        Examples
        --------
        >>> import broadphase as bp
        >>> world = bp.World()
        >>> ball = world.add(bp.Circle(0, 0, 2))
        >>> ball.velocity = 30, 0
        >>> moved = world.step(1 / 60)
        >>> ball.position, ball.velocity
        ((0.5, 0.0), (30.0, 0.0))
        """
        row, store = self._row, self._store
        way = (0.0, 0.0) if row < 0 else (store.velocity_x.item(row), store.velocity_y.item(row))
        velocity: Vector = new(Vector, way)
        return velocity

    @velocity.setter
    def velocity(self, velocity: Any) -> None:
        row, (x, y) = self._store.row(self), as_two(velocity, "velocity")
        self._store.velocity_x[row], self._store.velocity_y[row] = x, y

    @property
    def response(self) -> str | None:
        """What `World.step` does at a hit: ``"slide"``, ``"touch"``, ``"cross"`` or ``"bounce"``.

        ``None`` (the default): what `World.set_response` says for its tag, else ``"slide"``.
        """
        code = NO_RESPONSE if self._row < 0 else self._store.response.item(self._row)
        return None if code == NO_RESPONSE else tuple(RESPONSES)[code]

    @response.setter
    def response(self, response: Any) -> None:
        row = self._store.row(self)
        self._store.response[row] = NO_RESPONSE if response is None else code_of(response)

    @property
    def one_way(self) -> tuple[Side, ...]:
        """The sides on which it blocks, if it lets others through on the rest; ``()``: it blocks on all.

        Set it to ``"top"``, the side of the smaller y, for a platform to jump up through; in a game whose y
        points up that is ``"bottom"``.  It may move, by `World.push`.  It is what a one-way tile at the same
        place is: it stops what enters through such a side, and is nothing to what is
        inside until that has left.  Slanted sides count up to 60 degrees, round corners up to 45,
        for each mover and whatever the ``steepest`` of `World.walk` is.  Rays and lines of sight are stopped
        by it on all sides; one-way tiles let them pass.

        Examples
        --------
        >>> import broadphase as bp
        >>> world = bp.World()
        >>> plank, hero = world.add(bp.Box(0, 50, 40, 5), static=True), world.add(bp.Box(10, 60, 8, 8))
        >>> plank.one_way = "top"
        >>> world.move(hero, 0, -30).y, world.move(hero, 0, 30).y
        (30.0, 42.0)
        """
        bits = 0 if self._row < 0 else self._store.one_way.item(self._row)
        return tuple(name for name, bit in SIDES.items() if bits & int(bit))

    @one_way.setter
    def one_way(self, sides: Side | Iterable[Side]) -> None:
        row, bits = self._store.row(self), as_sides(sides)
        self._store.any_one_way |= bits > 0
        self._store.one_way[row] = bits

    @property
    def angle(self) -> float:
        """How far it is turned, in degrees, from x towards y; set it to turn the body, see `turn_to`."""
        return self._was.angle if self._row < 0 else self._store.table.angle(self._row)

    @angle.setter
    def angle(self, angle: float) -> None:
        self._store.turn_to(self, angle, None)

    def turn_to(self, angle: float, about: tuple[float, float] | None = None) -> None:
        """Turn it, whatever is there; `World.try_turn` turns it only if nothing is in the way.

        It turns about its centre, and ``x, y`` stay: they are where its shape would be placed if it were
        not turned.  All angles are relative to the shape that it was given, so that rounding does not
        accumulate.

        Parameters
        ----------
        angle : float
            In degrees, from x towards y: clockwise on a screen, where y points down.  Quarter turns are
            exact.
        about : (float, float), optional
            A point that stays where it is: the hinge of a door.

        Raises
        ------
        TypeError, ValueError
            The angle is not a finite number, the body was removed, or it is a box without width or height;
            nothing has changed.

        Examples
        --------
        >>> import broadphase as bp
        >>> world = bp.World()
        >>> door = world.add(bp.Box(0, 0, 40, 4))
        >>> door.turn_to(90, about=(0, 0))
        >>> door.bounds, door.angle
        ((-4.0, 0.0, 0.0, 40.0), 90.0)
        """
        self._store.turn_to(self, angle, about)

    @property
    def shape(self) -> Shape:
        """Its shape where it is now; set it to give the body another shape and place, whatever is there."""
        return self._was.shape if self._row < 0 else self._store.shape(self._row)

    @shape.setter
    def shape(self, shape: Shape) -> None:
        self._store.put_shape(self._store.row(self), _shape_of(shape))

    @property
    def bounds(self) -> Bounds:
        """``min_x, min_y, max_x, max_y``: two corners.  ``pygame.Rect`` takes a size, see `rect`."""
        return self._was.shape.bounds if self._row < 0 else self._store.bounds(self._row)

    @property
    def rect(self) -> Rect:
        """The bounds as a rectangle ``x, y, width, height``, also with ``left``, ``right`` and the like.

        It is taken wherever a rectangle is: ``pygame.Rect(body.rect)``, ``world.query_box(body.rect)``.
        """
        left, top, right, bottom = self.bounds
        rect: Rect = new(Rect, (left, top, right - left, bottom - top))
        return rect

    @property
    def center(self) -> Vector:
        """The middle of its shape; set it to put the body there, see `move_to`."""
        row = self._row
        middle: Vector = new(Vector, self._was.shape.center if row < 0 else self._store.table.center(row))
        return middle

    @center.setter
    def center(self, center: Any) -> None:
        store, (x, y) = self._store, as_two(center, "center")
        row = self._row if self._row >= 0 else store.row(self)
        x, y = store.table.place_around(row, x, y)
        if -FARTHEST < x < FARTHEST and -FARTHEST < y < FARTHEST and not store.space.periodic:
            kernel.put(store.x, store.y, store.marks, row, x, y)  # without two calls: a fifth less time
        else:
            store.teleport(self, x, y)

    def remove(self) -> None:
        """Take it out of its world, see `World.remove`.

        Raises
        ------
        ValueError
            It was removed before.
        """
        self._store.remove(self)

    # ---- what it is

    @property
    def alive(self) -> bool:
        """Whether it is in its world."""
        return self._row >= 0

    @property
    def id(self) -> int:
        """Its number in the world: contacts and hits come in this order.  Reused after a removal."""
        return self._was.id if self._row < 0 else self._row

    @property
    def tag(self) -> Any:
        """Its tag; ``None`` where it has none, a frozenset where it has several."""
        tags = self.tags
        return tags if len(tags) > 1 else next(iter(tags), None)

    @tag.setter
    def tag(self, tag: Any) -> None:
        self._store.retag(self, tag)

    @property
    def tags(self) -> frozenset[Any]:
        """All its tags."""
        return self._was.tags if self._row < 0 else self._store.tags(self._row)

    @property
    def static(self) -> bool:
        """Whether it hardly ever moves: two static bodies are never in contact."""
        return self._was.static if self._row < 0 else bool(self._store.static[self._row])

    @static.setter
    def static(self, static: bool) -> None:
        self._store.set_static(self, static)

    @property
    def sensor(self) -> bool:
        """Whether it has contacts but does not block."""
        return self._was.sensor if self._row < 0 else bool(self._store.sensor[self._row])

    @sensor.setter
    def sensor(self, sensor: bool) -> None:
        self._store.set_sensor(self, sensor)

    @property
    def category(self) -> int:
        """Its category as bits; see ``mask``."""
        return self._was.category if self._row < 0 else int(self._store.category[self._row])

    @category.setter
    def category(self, category: Categories) -> None:
        self._store.set_sets(self, category, self.mask)

    @property
    def mask(self) -> int:
        """The categories that it meets, as bits: each one's category must meet the other's mask."""
        return self._was.mask if self._row < 0 else int(self._store.mask[self._row])

    @mask.setter
    def mask(self, mask: Categories) -> None:
        self._store.set_sets(self, self.category, mask)

    def __copy__(self) -> "Body":
        return self  # another handle would not learn that the body was removed

    def __repr__(self) -> str:
        tag = "" if self.tag is None else f" {self.tag!r}"
        return f"<Body {self.id}{tag}: {self.shape!r}{'' if self.alive else ', removed'}>"

    @property
    def _was(self) -> Remains:
        assert self._remains is not None
        return self._remains


class BodyStore:
    """The arrays of a world, and all that changes them; ``len(bodies)`` rows are in use or were."""

    alive: npt.NDArray[np.bool_]
    static: npt.NDArray[np.bool_]
    sensor: npt.NDArray[np.bool_]
    category: npt.NDArray[np.uint32]
    mask: npt.NDArray[np.uint32]
    group: npt.NDArray[np.int32]
    """The number of its set of tags, see `TagSets`."""
    layer: npt.NDArray[np.int8]
    """Even ones are in the index of what moves."""
    listed: npt.NDArray[np.uint8]
    """The indexes whose lists contain the body."""
    touched: npt.NDArray[np.bool_]
    renewed: npt.NDArray[np.bool_]
    serial: npt.NDArray[np.int64]
    """Another number for each body that there ever was: rows are used again."""
    velocity_x: Floats
    velocity_y: Floats
    one_way: npt.NDArray[np.uint8]
    """The sides that block, if not all do; 0: all."""
    response: npt.NDArray[np.int8]
    """The number of a response of its own, see `hits.RESPONSES`, or `NO_RESPONSE`."""
    left: npt.NDArray[np.int64]
    """The number of the departure with which a body last left the row, see `departures`."""
    marks: kernel.Bodies
    """What kernels read and mark, and the list of each index."""
    waiting: tuple[npt.NDArray[Any], ...]
    """``listed``, the lists, how long they are, ``alive`` and ``layer``: what queries read."""

    def __init__(self, space: Space) -> None:
        self.space = space
        self.tag_sets = TagSets()
        self.table = ShapeTable()
        self.x = self.y = self.table.x
        self.bodies: list[Body | None] = []
        self.shared = False
        """Whether events hold the list ``bodies``: it is copied before the next change."""
        self.category_bits: dict[str, int] = {}
        """By name, in the order in which names were first used."""
        self.gone: dict[int, Body] = {}
        """By row, the bodies that were removed since the last update."""
        self.any_round = False
        """Whether any body may be no box: a circle, a polygon, turned; looked up again by `look_at_kinds`."""
        self.any_sensor = False
        """Whether any may let others through."""
        self.any_one_way = False
        """Whether any may block on some sides only."""
        self._others = False
        """Whether a body of such a kind may have been removed."""
        self.departures = 0
        """How often bodies left their rows: were removed, or taken away by a `World.restore`."""
        self.retagged = False
        """Whether a body may have other tags than at the last update."""
        self.live = 0
        self.made = 0
        """How many bodies there ever were."""
        self._free: list[int] = []
        self.alive = np.empty(0, np.bool_)
        self.reserve(_FIRST_CAPACITY)

    # ---- from bodies to rows

    def row(self, body: Any, name: str = "body") -> int:
        """The row of a body that must be in this world.

        Raises
        ------
        TypeError
            It is not a body.
        ValueError
            It was removed, or belongs to another world.
        """
        if not isinstance(body, Body):
            shown, hint = repr(body), ""
            if isinstance(body, int):
                hint = "; world.body(id) is the body that has an id, and several ids are an array"
            elif isinstance(body, str):
                hint = f"; world.bodies({body!r}) are those with a tag"
            elif hasattr(body, "rect"):
                hint = "; a sprite and its body follow each other in a WorldGroup, which has move and walk"
            elif isinstance(body, Iterable) and not isinstance(body, str):
                shown, hint = f"several, a {type(body).__name__}", "; calls that end in _many take several"
            raise TypeError(f"{name} must be a Body, as World.add returns it; got {shown}{hint}")
        if body._store is not self:
            raise ValueError(f"{name} = {body!r} belongs to another world")
        if body._row < 0:
            raise ValueError(
                f"{name} = {body!r} was removed from its world; add its shape again, or ask body.alive"
            )
        return body._row

    def ignored(self, ignore: Any) -> frozenset[int]:
        """The rows of a body or several that do not count for a movement or a query.

        Raises
        ------
        TypeError, ValueError
            One is not a body of this world.
        """
        if ignore is None or (type(ignore) is tuple and not ignore):
            return frozenset()
        if isinstance(ignore, Body):
            return frozenset((self.row(ignore, "ignore"),))
        if not isinstance(ignore, Iterable):
            raise TypeError(f"ignore must be a Body or several of them; got {ignore!r}")
        return frozenset(self.rows_of(ignore, "ignore").tolist())

    def _both_bits(self, category: Any, mask: Any) -> tuple[int, int]:
        """The bits of a category and a mask; new names get the next bits, both or none."""
        names = dict(self.category_bits)
        bits = self.bits(category, "category", names), self.bits(mask, "mask", names)
        self.category_bits = names
        return bits

    def bits(self, value: Any, name: str, known: dict[str, int] | None = None) -> int:
        """The bits of a number or of names that bodies have had; new names go into ``known``, if given."""
        bits_of = self.category_bits if known is None else known
        names = [value] if isinstance(value, str) else value
        several = isinstance(names, (list, tuple, set, frozenset))
        if not several or not all(isinstance(one, str) for one in names):
            return arguments.bit_set(value, name)
        fresh = [one for one in sorted(set(names)) if one not in bits_of]
        if fresh and known is None:
            raise ValueError(
                f"{name} = {fresh[0]!r} is no category of a body in this world; "
                f"known are {', '.join(map(repr, bits_of)) or 'none'}"
            )
        if len(bits_of) + len(fresh) > _MOST_NAMES:
            raise ValueError(f"{name} = {fresh[0]!r} would be one category more than {_MOST_NAMES}, the most")
        for one in fresh:
            bits_of[one] = 2 << len(bits_of)
        return sum(bits_of[one] for one in set(names))

    def rows_of(self, bodies: Any, name: str = "bodies") -> Rows:
        """The rows of bodies, or checked ids."""
        if isinstance(bodies, np.ndarray) and bodies.dtype.kind in "iu":
            ids = np.array(bodies, np.int64).ravel()
            found: tuple[Rows, int] = kernel.rows_of_ids(ids, self.alive, len(self.bodies))
            if found[1] >= 0:
                raise ValueError(f"{name}[{found[1]}] = {bodies.ravel()[found[1]]} is the id of no body")
            return found[0]
        if hasattr(bodies, "rows_in"):  # `Bodies`, which knows its rows
            rows: Rows = bodies.rows_in(self, name)
            return rows
        if not isinstance(bodies, Iterable) or isinstance(bodies, str):
            one = "; calls without _many take one" if isinstance(bodies, Body) else ""
            one = f"; world.bodies({bodies!r}) are those with a tag" if isinstance(bodies, str) else one
            raise TypeError(f"{name} must be several Body, or an array of their ids; got {bodies!r}{one}")
        listed = list(bodies)
        try:
            rows = np.array([body._row for body in listed], np.int32)
            sound = {body._store for body in listed} <= {self} and not (rows < 0).any()
        except AttributeError:
            sound = False
        if not sound:
            for number, body in enumerate(listed):
                self.row(body, f"{name}[{number}]")
        return rows

    # ---- looking

    def rows(self) -> Rows:
        """The rows in use, ascending."""
        return np.flatnonzero(self.alive[: len(self.bodies)]).astype(np.int32)

    def rows_with(self, tags: frozenset[Any]) -> Rows:
        """The rows of bodies that have one of these tags, ascending."""
        rows = self.rows()
        return rows[self.tag_sets.having(tags)[self.group[rows]]]

    def handles(self, rows: Rows) -> list[Body]:
        """The bodies of ascending rows that are in use."""
        bodies: list[Any] = self.bodies
        if len(rows) and rows[-1] - rows[0] == len(rows) - 1:
            return bodies[rows[0] : rows[-1] + 1]
        return [bodies[row] for row in rows.tolist()]

    def places(self, rows: Rows) -> Floats:
        """``(m, 2)``: where the bodies of rows are."""
        places = np.empty((len(rows), 2))
        places[:, 0], places[:, 1] = self.x.take(rows), self.y.take(rows)  # a quarter of `np.column_stack`
        return places

    def shape(self, row: int) -> Shape:
        """The shape of a row where it is now."""
        return self.table.shape(row)

    def bounds(self, row: int) -> Bounds:
        """As ``shape(row).bounds``, in a fraction of the time."""
        places = self.table.places
        x, y, kind, width = self.x.item(row), self.y.item(row), places.kinds.item(row), places.width.item(row)
        if kind == BOX:
            return x, y, x + width, y + places.height.item(row)
        if kind == CIRCLE:
            return x - width, y - width, x + width, y + width
        polygon: Any = self.table.form(row)
        left, top, right, bottom = polygon.extent
        return x + left, y + top, x + right, y + bottom

    def tags(self, row: int) -> frozenset[Any]:
        """The tags of a row."""
        return self.tag_sets.groups[self.group.item(row)]

    # ---- coming and going; each is done altogether or, should it be interrupted, not at all

    def add(
        self, shape: Any, tag: Any, static: bool, sensor: bool, category: Any, mask: Any, data: Any
    ) -> Body:
        """Put a body into the lowest free row."""
        known = _shape_of(shape)
        known = self.space.admit(known, "shape")
        group, static, sensor, category, mask = self._rules(tag, static, sensor, category, mask)
        self._unshare()
        free, end = self._free, len(self.bodies)
        row = free[0] if free else end
        if row >= len(self.alive):
            self.reserve(row + 1)
        self.table.put(row, known)
        self._note_kinds(not isinstance(known, Box), sensor)
        layer, body = self.tag_sets.layer_of(group, static), Body(self, row, data)
        kernel.list_replaced(self.marks, row, layer)
        # Commit: nothing interrupts the lines from here on (`tests/test_commits.py`).
        self.bodies[row : row + 1] = (body,)
        self.static[row], self.sensor[row] = static, sensor
        self.category[row], self.mask[row] = category, mask
        self.group[row], self.layer[row] = group, layer
        self.velocity_x[row] = self.velocity_y[row] = 0.0
        self.response[row], self.one_way[row] = NO_RESPONSE, 0
        self.serial[row] = self.made
        self.alive[row] = self.touched[row] = self.renewed[row] = True
        self.live += 1
        self.made += 1
        if free:
            heapq.heappop(free)
        return body

    def add_many(
        self, shapes: Any, data: Sequence[Any] | None, rules: tuple[Any, bool, bool, Any, Any]
    ) -> tuple[Rows, list[Body]]:
        """Put bodies into the lowest free rows; ``rules`` are tag, static, sensor, category and mask."""
        shapes = as_shapes(shapes)
        count, only_boxes = len(shapes), isinstance(shapes, np.ndarray)
        if data is not None and len(data) != count:
            raise ValueError(f"data has {len(data)} entries for {count} shapes; give one each, or None")
        if self.space.periodic and only_boxes:
            shapes = self.space.admit_boxes(shapes, "shapes")
        elif self.space.periodic:
            shapes = [self.space.admit(shape, f"shapes[{number}]") for number, shape in enumerate(shapes)]
        group, static, sensor, category, mask = self._rules(*rules)
        if not count:
            return np.empty(0, np.int32), []
        free, end = sorted(self._free), len(self.bodies)
        reused, fresh = free[:count], count - len(free)
        rows = np.concatenate((np.array(reused, np.int32), np.arange(end, end + fresh, dtype=np.int32)))
        self.reserve(end + max(fresh, 0))
        self.table.put_many(rows, shapes)
        made = list(map(Body, repeat(self), rows.tolist(), repeat(None) if data is None else data))
        bodies = [*self.bodies] if self.shared or reused else self.bodies
        for row, body in zip(reused, made, strict=False):
            bodies[row] = body
        more, still_free = made[len(reused) :], free[len(reused) :]
        is_round = not (only_boxes or all(isinstance(shape, Box) for shape in shapes))
        self._note_kinds(is_round, sensor)
        layer, serials = self.tag_sets.layer_of(group, static), np.arange(self.made, self.made + count)
        kernel.list_many_replaced(self.marks, rows, np.full(count, layer, np.int8))
        # Commit: nothing interrupts the lines from here on (`tests/test_commits.py`).
        bodies[end:] = more
        self.bodies, self.shared = bodies, False
        self.static[rows], self.sensor[rows] = static, sensor
        self.category[rows], self.mask[rows] = category, mask
        self.group[rows], self.layer[rows] = group, layer
        self.velocity_x[rows] = self.velocity_y[rows] = 0.0
        self.response[rows], self.one_way[rows] = NO_RESPONSE, 0
        self.serial[rows] = serials
        self.alive[rows] = self.touched[rows] = self.renewed[rows] = True
        self.live += count
        self.made += count
        self._free = still_free
        return rows, made

    def remove(self, body: Body) -> None:
        """Take a body out; its handle keeps what it was."""
        row = self.row(body)
        self._unshare()
        remains = self._remains(row)
        kernel.list_replaced(self.marks, row, self.layer.item(row))
        # Commit: nothing interrupts the lines from here on (`tests/test_commits.py`).
        self._others = True
        self.departures += 1
        self.left[row] = self.departures
        self.alive[row] = False
        self.touched[row] = self.renewed[row] = True
        if row not in self.gone:
            self.gone[row] = body
        self.bodies[row] = None
        self.live -= 1
        body._remains, body._row = remains, GONE
        heapq.heappush(self._free, row)

    def remove_many(self, rows: Rows) -> None:
        """Take the bodies of these rows out."""
        if len(distinct(rows)) < len(rows):
            raise ValueError("bodies names a body twice; each can be removed once")
        listed, bodies = rows.tolist(), [*self.bodies]
        dying: list[Any] = [bodies[row] for row in listed]
        for row in listed:
            bodies[row] = None
        for row, body in zip(listed, dying, strict=True):
            body._remains = self._remains(row)  # which is not read while it is alive
        gone = {**dict(zip(listed, dying, strict=True)), **self.gone}
        free, count = sorted(self._free + listed), len(listed)
        kernel.list_many_replaced(self.marks, rows, self.layer[rows])
        # Python looks for signals in each turn of a loop of its own; a deque reads all of an iterator in C.
        mark_as_gone: Any = partial(deque, map(setattr, dying, repeat("_row"), repeat(GONE)), maxlen=0)
        # Commit: nothing interrupts the lines from here on (`tests/test_commits.py`).
        self._others = True
        self.departures += 1
        self.left[rows] = self.departures
        self.alive[rows] = False
        self.touched[rows] = self.renewed[rows] = True
        self.gone, self.bodies, self.shared = gone, bodies, False
        self.live -= count
        self._free = free
        mark_as_gone()

    def bury(self, body: Body, row: int) -> None:
        """Mark a handle as removed; it keeps the last state of its body."""
        body._remains = self._remains(row)
        # Commit: nothing interrupts the lines from here on (`tests/test_commits.py`).
        self.departures += 1
        self.left[row] = self.departures
        body._row = GONE

    def count_rows(self) -> None:
        """Find out again which rows are free."""
        alive = self.alive[: len(self.bodies)]
        self.live = int(np.count_nonzero(alive))
        self._free = np.flatnonzero(~alive).tolist()

    def look_at_kinds(self) -> None:
        """Find out again what kinds of bodies there are, if some were removed."""
        if self._others:
            self._others = False
            self.any_round, self.any_sensor = self._kinds()

    def _note_kinds(self, is_round: bool, sensor: bool = False) -> None:
        """Note that such a body is about to be added; a note without a body does no harm."""
        self.any_round |= is_round
        self.any_sensor |= sensor
        self._others = True

    def _kinds(self) -> tuple[bool, bool]:
        """Whether any body is round, and whether any is a sensor."""
        n = len(self.bodies)
        alive, is_round = self.alive[:n], self.table.places.kinds[:n] != BOX
        return bool((alive & is_round).any()), bool((alive & self.sensor[:n]).any())

    # ---- changing

    def teleport(self, body: Body, x: Any, y: Any) -> None:
        """Another place, as a user gave it."""
        row = body._row if body._row >= 0 else self.row(body)
        # The usual case, in a third of the time of two calls.
        if not (type(x) is type(y) is float and abs(x) < FARTHEST and abs(y) < FARTHEST):
            x, y = as_place(x, "x"), as_place(y, "y")
        self.put(row, x, y)

    def put(self, row: int, x: float, y: float) -> None:
        """Another place, checked before."""
        if self.space.periodic:
            x, y = self.space.place(x, y)
        kernel.put(self.x, self.y, self.marks, row, x, y)

    def put_many(self, rows: Rows, places: Floats) -> None:
        """Other places, checked before; a row that comes twice ends at its last place."""
        places = np.ascontiguousarray(self.space.places(places))
        kernel.put_many(self.x, self.y, self.marks, rows, places)

    def have_moved(self, rows: Rows) -> None:
        """Mark bodies that have moved, or are about to."""
        kernel.moved_many(self.marks, rows)

    def put_shape(self, row: int, shape: Shape) -> None:
        """Another shape and place, checked before."""
        shape = self.space.admit(shape, "shape")
        self.have_moved(np.array([row], np.int32))
        self._note_kinds(not isinstance(shape, Box))
        self.table.put(row, shape)

    def turn_to(self, body: Body, angle: Any, about: Any) -> None:
        """Another angle, and another place where it turns about a point."""
        row = self.row(body)
        degrees = finite(angle, "angle")
        x, y = self.place_turned(row, degrees, about)
        if degrees == self.table.angle(row):
            self.put(row, x, y)
        else:
            self.turn_many(np.array([row], np.int32), np.array([degrees]), self.space.place(x, y))

    def place_turned(self, row: int, degrees: float, about: Any) -> tuple[float, float]:
        """Where a body is placed at another angle, after a turn about a point; ``None``: its centre."""
        x, y = self.x.item(row), self.y.item(row)
        if about is None:
            return x, y
        pivot, center = as_two(about, "about"), self.shape(row).center
        to_x, to_y = turned_point(center, degrees - self.table.angle(row), pivot)
        return as_place(x + (to_x - center[0]), "x"), as_place(y + (to_y - center[1]), "y")

    def turn_many(self, rows: Rows, angles: Floats, places: Any = None) -> None:
        """Other angles, and other places ``x, y`` (one number or one for each row), checked before."""
        if self.space.periodic:
            for row, angle in zip(rows.tolist(), angles.tolist(), strict=True):
                shape = self.table.base(row).rotated(angle)
                self.space.admit(shape, f"angle {angle:g} of body {row}: shape")
        turned = self.table.angles_of(rows) != angles
        if turned.any():
            self.have_moved(rows[turned])
            self._note_kinds(True)
            self.table.turn(rows, angles, places)

    def retag(self, body: Body, tag: Any) -> None:
        """Other tags: its contacts concern other listeners from now on."""
        row = self.row(body)
        group = self._group_of(as_tags(tag))
        if group != self.group[row]:
            self.retagged = True
            self._enter(row, group, self.static.item(row))

    def set_static(self, body: Body, static: bool) -> None:
        """Into the index of what moves, or of what does not."""
        row = self.row(body)
        static = arguments.flag(static, "static")
        if static != self.static[row]:
            self._enter(row, self.group.item(row), static)

    def set_sensor(self, body: Body, sensor: bool) -> None:
        """Whether it lets others through."""
        row = self.row(body)
        sensor = arguments.flag(sensor, "sensor")
        self._note_kinds(False, sensor)
        self.sensor[row] = sensor

    def set_sets(self, body: Body, category: Categories, mask: Categories) -> None:
        """What it meets."""
        row = self.row(body)
        category, mask = self._both_bits(category, mask)
        # Commit: nothing interrupts the lines from here on (`tests/test_commits.py`).
        self.touched[row] = True
        self.category[row], self.mask[row] = category, mask

    def listen(self, pairs: list[tuple[Any, Any]], write: Callable[[], Any]) -> None:
        """Listen for these pairs of tags and no others: bodies change their layer or bits.

        ``write`` belongs to it: a function in C, which calls none of Python, so that nothing interrupts it.
        """
        heard, bits = self.tag_sets.heard(pairs)
        rows = self.rows()
        changed = (bits != self.tag_sets.bits).any(axis=1)
        others = rows[changed[self.group[rows]]]
        layers = self.tag_sets.layers_of(self.group[others], self.static[others], bits)
        tag_sets = self.tag_sets
        # Commit: nothing interrupts the lines from here on (`tests/test_commits.py`).
        tag_sets.heard_now, tag_sets.bits = heard, bits
        self.layer[others] = layers
        self.touched[rows] = True
        write()

    # ---- what the changes share

    def _rules(
        self, tag: Any, static: Any, sensor: Any, category: Any, mask: Any
    ) -> tuple[int, bool, bool, int, int]:
        """What a new body is to be, checked: group, static, sensor, category, mask."""
        group = self._group_of(as_tags(tag))
        return (
            group,
            arguments.flag(static, "static"),
            arguments.flag(sensor, "sensor"),
            *self._both_bits(category, mask),
        )

    def _group_of(self, tags: frozenset[Any]) -> int:
        """The number of a set of tags; those that no body has any more are forgotten before they are many."""
        if self.tag_sets.crowded:
            self.tag_sets.forget(self.group, np.flatnonzero(self.alive))
        return self.tag_sets.group_of(tags)

    def _enter(self, row: int, group: int, static: bool) -> None:
        """Move a body from its index to the one for these tags."""
        layer = self.tag_sets.layer_of(group, static)
        kernel.list_replaced(self.marks, row, self.layer.item(row))
        kernel.list_replaced(self.marks, row, layer)
        # Commit: nothing interrupts the lines from here on (`tests/test_commits.py`).
        self.layer[row], self.group[row], self.static[row] = layer, group, static
        self.touched[row] = True

    def _remains(self, row: int) -> Remains:
        return Remains(
            row,
            self.shape(row),
            self.tags(row),
            bool(self.static[row]),
            bool(self.sensor[row]),
            int(self.category[row]),
            int(self.mask[row]),
            self.table.angle(row),
        )

    def _unshare(self) -> None:
        if self.shared:
            self.bodies = list(self.bodies)
            self.shared = False

    def reserve(self, rows: int) -> None:
        """Make room for so many rows."""
        capacity = len(self.alive)
        if rows <= capacity:
            return
        most = max(rows, 2 * capacity)
        columns: dict[str, Any] = {}
        for name, (dtype, usual) in _COLUMNS.items():
            columns[name] = np.full(most, usual, dtype)
            columns[name][:capacity] = getattr(self, name, 0)  # at first there are none
        changed = np.zeros((kernel.INDEXES, most), np.int32)
        counts = np.zeros(kernel.INDEXES + 1, np.int64)
        if capacity:
            changed[:, :capacity], counts = self.marks.changed, self.marks.counts
        marks = {**columns, "changed": changed, "counts": counts}
        columns["marks"] = kernel.Bodies(*(marks[name] for name in kernel.Bodies._fields))
        columns["waiting"] = columns["listed"], changed, counts, columns["alive"], columns["layer"]
        self.table.reserve(most)
        places = self.table.places
        columns["x"], columns["y"] = places.x, places.y
        self.__dict__.update(columns)  # all or none, should this be interrupted

    def check(self) -> None:
        """Raise ``AssertionError`` where the bookkeeping contradicts itself."""
        n = len(self.bodies)
        expect(len(self.table) >= n, "every row has a shape")
        held = [body is not None for body in self.bodies]
        expect(held == self.alive[:n].tolist(), "alive rows hold a body")
        expect(self.live == sum(held), "live counts them")
        rows = self.rows()
        known = self.any_round, self.any_sensor
        expect(all(map(le, self._kinds(), known)), "any_round and any_sensor know of them")
        expect(not self.alive[n:].any(), "nothing lives beyond the end")
        layers = self.tag_sets.layers_of(self.group[rows], self.static[rows])
        expect(np.array_equal(self.layer[rows], layers), "bodies are in the layer of their tags")
        for row, body in enumerate(self.bodies):
            expect(body is None or (body._row == row and body._store is self), "bodies know their row")
        expect(sorted(self._free) == np.flatnonzero(~self.alive[:n]).tolist(), "the heap holds the free rows")
        for index, length in enumerate(self.marks.counts[:-1].tolist()):
            listed = np.flatnonzero(self.listed & (1 << index))
            changed = np.sort(self.marks.changed[index, :length])
            expect(np.array_equal(changed, listed), "listed says which list a row is in")
        expect(self.marks.counts[:-1].sum() == self.marks.counts[-1], "the lists are counted")


def _shape_of(shape: Any, name: str = "shape") -> Shape:
    """`as_shape` for a new shape: not that of another body, which has a rectangle too."""
    if isinstance(shape, Body):
        raise TypeError(f"{name} = {shape!r} is a body; pass its shape, as body.shape")
    return as_shape(shape, name)


def _is_shape(value: Any) -> bool:
    return isinstance(value, (Box, Circle, Polygon)) or rectangle_of(value) is not None


def as_shapes(shapes: Any) -> list[Shape] | Floats:
    """Shapes and rectangles as a list; of an array of boxes ``x, y, width, height``.

    Examples
    --------
    >>> as_shapes([(0, 0, 10, 20), [5, 0, 7, 20]]).tolist()
    [[0.0, 0.0, 10.0, 20.0], [5.0, 0.0, 2.0, 20.0]]
    """
    if isinstance(shapes, (list, tuple)) and any(map(_is_shape, shapes)):
        return [
            one if type(one) in _PLAIN else _shape_of(one, f"shapes[{number}]")
            for number, one in enumerate(shapes)
        ]
    boxes = as_boxes(settled(shapes, "shapes", BOXES), "shapes")
    if boxes.shape[1] != 4:
        raise ValueError(f"shapes must be 2-D boxes, with 4 columns; got shape {boxes.shape}")
    wrong = np.flatnonzero(~np.isfinite(boxes).all(axis=1))
    if len(wrong):
        raise ValueError(f"shapes[{wrong[0]}] = {boxes[wrong[0]].tolist()} must be finite: bodies end")
    corners = boxes.astype(np.float64, copy=False)
    with np.errstate(over="ignore"):  # it is an error below
        sizes = corners[:, 2:] - corners[:, :2]
        sums = corners[:, :2] + sizes
    wrong = np.flatnonzero(~np.isfinite(sums).all(axis=1))
    if len(wrong):
        Box(*corners[wrong[0], :2].tolist(), *sizes[wrong[0]].tolist())  # says what is wrong
    return np.hstack((corners[:, :2], sizes))
