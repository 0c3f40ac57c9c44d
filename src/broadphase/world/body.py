"""A body: the handle by which users hold what they have put into a world.

All that a body is stands in the arrays of its world; the handle knows its row there.  Once removed it keeps
what it was last, so that whoever is told that a contact has ended can still ask who it was with.
"""

from collections import deque
from collections.abc import Callable, Sequence
from functools import partial
from itertools import repeat
from typing import Any, NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

from broadphase.shapes.kinds import Bounds, Shape

GONE = -1
"""The row of a body that was removed."""


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


class Keeper(Protocol):
    """Where all that a body is stands by row, and who changes it: `BodyStore`, which stands above this."""

    x: npt.NDArray[np.float64]
    y: npt.NDArray[np.float64]
    static: npt.NDArray[np.bool_]
    sensor: npt.NDArray[np.bool_]
    category: npt.NDArray[np.uint32]
    mask: npt.NDArray[np.uint32]

    def shape(self, row: int) -> Shape:
        """Where it is now."""

    def bounds(self, row: int) -> Bounds:
        """Of its shape."""

    def tags(self, row: int) -> frozenset[Any]:
        """All of them."""

    def move_to(self, body: "Body", x: float, y: float) -> None:
        """Another place."""

    def angle(self, row: int) -> float:
        """How far it is turned."""

    def turn_to(self, body: "Body", angle: float, about: tuple[float, float] | None) -> None:
        """Another angle."""

    def reshape(self, body: "Body", shape: Shape) -> None:
        """Another shape and place."""

    def remove(self, body: "Body") -> None:
        """Out of its world."""

    def retag(self, body: "Body", tag: Any) -> None:
        """Other tags."""

    def set_static(self, body: "Body", static: bool) -> None:
        """Whether it hardly ever moves."""

    def set_sensor(self, body: "Body", sensor: bool) -> None:
        """Whether it lets others through."""

    def set_sets(self, body: "Body", category: int, mask: int) -> None:
        """What it meets."""


class Body:
    """One thing in a `World`: made by `World.add`, never by hand.

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

    def __init__(self, store: Keeper, row: int, data: Any) -> None:
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
        self._store.move_to(self, x, self.y)

    @property
    def y(self) -> float:
        """See ``x``."""
        if self._row < 0:
            return self._was.shape.y
        return self._store.y.item(self._row)

    @y.setter
    def y(self, y: float) -> None:
        self._store.move_to(self, self.x, y)

    @property
    def position(self) -> tuple[float, float]:
        """``x, y``."""
        return self.x, self.y

    @position.setter
    def position(self, place: tuple[float, float]) -> None:
        self.move_to(*place)

    def move_to(self, x: float, y: float) -> None:
        """Put it somewhere else, whatever is there; `World.move` goes only as far as the way is free.

        Raises
        ------
        TypeError, ValueError
            A coordinate is no finite number within 1e300, or the body was removed; nothing has changed.
        """
        self._store.move_to(self, x, y)

    @property
    def angle(self) -> float:
        """How far it is turned, in degrees, from x towards y; set it to turn the body, see `turn_to`."""
        return self._was.angle if self._row < 0 else self._store.angle(self._row)

    @angle.setter
    def angle(self, angle: float) -> None:
        self._store.turn_to(self, angle, None)

    def turn_to(self, angle: float, about: tuple[float, float] | None = None) -> None:
        """Turn it, whatever is there; `World.try_turn` turns it only where there is room.

        It turns about its centre, and ``x, y`` stay: they are where its shape would be placed if it were
        not turned.  All angles are reckoned from the shape that it was given, so that nothing wears off.

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
            The angle is no finite number, the body was removed, or it is a box without width or height;
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
        self._store.reshape(self, shape)

    @property
    def bounds(self) -> Bounds:
        """``min_x, min_y, max_x, max_y``: two corners.  ``pygame.Rect`` takes a size, see `rect`."""
        return self._was.shape.bounds if self._row < 0 else self._store.bounds(self._row)

    @property
    def rect(self) -> tuple[float, float, float, float]:
        """The bounds as ``x, y, width, height``: ``pygame.Rect(body.rect)``, ``pygame.FRect(body.rect)``."""
        left, top, right, bottom = self.bounds
        return left, top, right - left, bottom - top

    @property
    def center(self) -> tuple[float, float]:
        """The middle of its shape."""
        return self.shape.center

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
        """Whether it hardly ever moves: static bodies are never held against each other."""
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
        """What it is, as bits; see ``mask``."""
        return self._was.category if self._row < 0 else int(self._store.category[self._row])

    @category.setter
    def category(self, category: int) -> None:
        self._store.set_sets(self, category, self.mask)

    @property
    def mask(self) -> int:
        """What it meets, as bits: two bodies do where each one's category and the other's mask share one."""
        return self._was.mask if self._row < 0 else int(self._store.mask[self._row])

    @mask.setter
    def mask(self, mask: int) -> None:
        self._store.set_sets(self, self.category, mask)

    def __repr__(self) -> str:
        tag = "" if self.tag is None else f" {self.tag!r}"
        return f"<Body {self.id}{tag}: {self.shape!r}{'' if self.alive else ', removed'}>"

    @property
    def _was(self) -> Remains:
        assert self._remains is not None
        return self._remains


def bodies_of(store: Keeper, rows: list[int], data: Sequence[Any]) -> list[Body]:
    """A body for each row, in a fraction of the time that one by one takes."""
    bodies = list(map(object.__new__, repeat(Body, len(rows))))
    columns = (("_store", repeat(store)), ("_row", rows), ("_remains", repeat(None)), ("data", data))
    for name, values in columns:
        deque(map(_setter(name), bodies, values), 0)
    return bodies


def keep_remains(bodies: list[Body], *columns: Sequence[Any]) -> None:
    """Let handles know what they were, by the columns of `Remains`; nobody asks while they are alive."""
    remains = map(partial(tuple.__new__, Remains), zip(*columns, strict=True))
    deque(map(_setter("_remains"), bodies, remains), 0)


def going(bodies: list[Body]) -> tuple[Callable[[Any], Any], Any]:
    """``go, through``: ``go(through)`` lets all these bodies be gone, and nothing can come in between."""
    return partial(deque, maxlen=0), map(_setter("_row"), bodies, repeat(GONE))


def _setter(name: str) -> Callable[[Body, Any], None]:
    """What sets an attribute of a body; no Python runs meanwhile."""
    setter: Callable[[Body, Any], None] = getattr(Body, name).__set__
    return setter
