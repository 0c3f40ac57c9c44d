"""What is around one of arcade's sprites while it moves: read once, asked often."""

import math
from collections.abc import Iterable
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np
import numpy.typing as npt

from broadphase.adapters.arcade_lists import corners_of, sprites_around
from broadphase.kernels.shapes import sprite_ways

Floats = npt.NDArray[np.float64]
Place = tuple[float, float]

# So many times as far as asked is looked, that a way of several legs is one look.
_MARGIN = 1.5
# A search for a free place ends here, doubling its step each time; arcade's never does.
_FARTHEST = 2.0**20
_EIGHT_WAYS = ((0, 1), (0, -1), (1, 0), (-1, 0), (1, 1), (1, -1), (-1, 1), (-1, -1))
# arcade gives y two digits, and so do we; x more than anybody sees.
HUNDREDTHS, FINE = 100.0, 1e9
_EVEN = 1e-3

_outlines: WeakKeyDictionary[Any, tuple[Any, Floats, float]] = WeakKeyDictionary()


class Surroundings:
    """The hit box of a sprite, and those of all that may be in its way; nothing is moved here.

    Parameters
    ----------
    sprite : Sprite
    sprite_lists : iterable of SpriteList
    room : float
        How far it is likely to go.
    """

    def __init__(self, sprite: Any, sprite_lists: Iterable[Any], room: float) -> None:
        self.sprite, self._lists, self._room = sprite, list(sprite_lists), room
        self._known = -1.0
        self._middle = sprite._position
        self.read_outline()

    def read_outline(self) -> None:
        """Look at the sprite's hit box anew: it has turned."""
        self.outline, self.reach = _outline(self.sprite)

    def hits(self, x: float, y: float) -> list[Any]:
        """Whom the sprite would meet at a place, list by list."""
        self._see(x, y, x, y)
        if not self._count(x, y):
            return []
        return [self.others[k] for k in np.flatnonzero(self._met).tolist()]

    def free(self, x: float, y: float) -> bool:
        """Whether it would meet nobody."""
        self._see(x, y, x, y)
        return self._count(x, y) == 0

    def way(self, x: float, y: float, dx: float, dy: float) -> tuple[float, Floats, Floats]:
        """How much of a way is clear, and when the sprite would enter and leave each of the `others`.

        In parts of the way; ``inf`` for whom it does not meet.
        """
        clear = self.first(x, y, dx, dy)
        return clear, self._enter, self._leave

    def first(self, x: float, y: float, dx: float, dy: float) -> float:
        """How much of the way it can go: 0 to 1."""
        self._see(x, y, x + dx, y + dy)
        clear: float = sprite_ways.ways(
            *(self.outline, float(x), float(y), float(dx), float(dy)),
            *(self._corners, self._ends, self._enter, self._leave),
        )
        return clear

    def shared_width(self, x: float, other: Any) -> float:
        """How much of the sprite lies above or below another."""
        box = other.hit_box
        left, right = x + self.outline[:, 0].min(), x + self.outline[:, 0].max()
        return float(min(right, box.right) - max(left, box.left))

    def freed(self, x: float, y: float) -> Place:
        """The nearest free place: the shortest way out of one other, or else searched for.

        A way along which the other moves itself is shorter by that, so that lifts lift.
        """
        ways = []
        for other in self.hits(x, y):
            going = getattr(other, "change_x", 0.0), getattr(other, "change_y", 0.0)
            ways += [
                (math.hypot(px, py) * (1.0 - _share(going, (px, py))), px, py)
                for px, py in _ways_out(np.add(self.outline, (x, y)), _corners(other))
            ]
        for _, px, py in sorted(ways):
            for more in (0, 1):
                place = off(x + px, px, FINE, more), off(y + py, py, HUNDREDTHS, more)
                if self.free(*place):
                    return place
        return self.searched(x, y)

    def searched(self, x: float, y: float) -> Place:
        """A free place 1, 2, 4, ... away, above, below, right, left or aslant; here where there is none."""
        step = 1.0
        while step <= _FARTHEST:
            for right, up in _EIGHT_WAYS:
                place = x + step * right, y + step * up
                if self.free(*place):
                    return place
            step *= 2.0
        return x, y

    # ---- inside

    def _count(self, x: float, y: float) -> int:
        met: int = sprite_ways.meets(self.outline, float(x), float(y), self._corners, self._ends, self._met)
        return met

    def _see(self, x: float, y: float, to_x: float, to_y: float) -> None:
        """Make sure that all are known who may be met on a way."""
        mid_x, mid_y = self._middle
        far = max(abs(x - mid_x), abs(y - mid_y), abs(to_x - mid_x), abs(to_y - mid_y))
        if far + self.reach <= self._known:
            return
        self._known = _MARGIN * far + self.reach + self._room
        near = [sprites_around(one, mid_x, mid_y, self._known) for one in self._lists]
        self.others = [other for found in near for other in found if other is not self.sprite]
        self._corners, self._ends = corners_of(self.others)
        self._met = np.empty(len(self.others), np.bool_)
        self._enter, self._leave = np.empty(len(self.others)), np.empty(len(self.others))


def _outline(sprite: Any) -> tuple[Floats, float]:
    """The hit box about the origin: adding a place then is the very sum that arcade makes."""
    box = sprite.hit_box
    about = box.points, box.scale, getattr(box, "angle", 0.0)
    known = _outlines.get(sprite)
    if known is None or known[0] != about:
        turned = type(box)(box.points, scale=box.scale).create_rotatable(about[2])
        corners = np.array(turned.get_adjusted_points(), np.float64).reshape(-1, 2)
        known = _outlines[sprite] = about, corners, float(np.abs(corners).max(initial=0.0))
    return known[1], known[2]


def _share(going: Place, way: Place) -> float:
    """Which part of a way somebody goes himself."""
    squared = way[0] * way[0] + way[1] * way[1]
    along = going[0] * way[0] + going[1] * way[1]
    return min(1.0, max(0.0, along / squared)) if squared else 0.0


def _corners(other: Any) -> Floats:
    return np.array(other.hit_box.get_adjusted_points(), np.float64).reshape(-1, 2)


def _ways_out(a: Floats, b: Floats) -> list[Place]:
    """All ways square to an edge by which ``a`` comes to lie beside ``b``."""
    edges = np.concatenate([np.roll(points, -1, 0) - points for points in (a, b)])
    lengths = np.hypot(edges[:, 0], edges[:, 1])
    edges, lengths = edges[lengths > 0.0], lengths[lengths > 0.0]
    normals = np.column_stack((edges[:, 1], -edges[:, 0])) / lengths[:, None]
    mine, others = a @ normals.T, b @ normals.T
    onward = (others.max(0) - mine.min(0))[:, None] * normals
    back = (others.min(0) - mine.max(0))[:, None] * normals
    ways: list[Place] = np.concatenate((onward, back)).tolist()
    return ways


def off(number: float, way: float, parts: float, more: int = 0) -> float:
    """A number in whole parts of 1, rounded the way that leads off an obstacle; ``more`` parts on."""
    scaled = number * parts
    whole = round(scaled)
    if way == 0.0 or abs(whole - scaled) <= _EVEN:
        near = float(whole)
    else:
        near = math.ceil(scaled) if way > 0.0 else math.floor(scaled)
    return (near + math.copysign(more, way)) / parts
