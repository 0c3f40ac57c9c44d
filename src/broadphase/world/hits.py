"""The input and output of a movement: blockers, hits and final places of bodies."""

from collections.abc import Callable, Sequence
from typing import Any, Literal, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from broadphase.errors import not_one_of
from broadphase.kernels.movement import sweep
from broadphase.kernels.tiles import grid as sides
from broadphase.runtime.arrays import Floats, Integers, briefly
from broadphase.world.tiles import Tile

_new = tuple.__new__  # a named tuple in half the time

Answer = Literal["slide", "touch", "cross", "bounce"]

RESPONSES: dict[Answer, int] = {
    "slide": sweep.SLIDE,
    "touch": sweep.TOUCH,
    "cross": sweep.CROSS,
    "bounce": sweep.BOUNCE,
}
"""The names of the responses: keep the free axis, stop, only report, mirror the rest of the displacement."""


class Hit(NamedTuple):
    """A body or tile that a moving body hit."""

    other: Any
    """The body, or a `Tile`."""
    time: float
    """In 0..1 of the whole displacement; 0 for what the body started in."""
    normal: tuple[float, float]
    """Unit vector out of the side that was hit; an axis vector for boxes."""
    touch: tuple[float, float]
    """The place of the body then; for what it started in, the place that it was pushed out to."""
    response: Answer | Literal[""] = ""
    """How the body responded; empty while a function chooses the response."""


Response: TypeAlias = Answer | Callable[[Hit], Answer | None]


class _Sides:
    """What was blocked; named tuples with ``hits``, and maybe ``reached``, share it."""

    __slots__ = ()

    @property
    def blocked(self: Any) -> bool:
        """Whether anything stopped, turned or pushed the body; crossing does not."""
        return any(hit.response != "cross" for hit in self.hits)

    @property
    def left(self: Any) -> bool:
        """Whether the left side of the body was blocked, or has just reached what would block it."""
        return bool(self._side(0, 1.0, sides.LEFT))

    @property
    def right(self: Any) -> bool:
        """Whether the right side of the body was blocked; see `left`."""
        return bool(self._side(0, -1.0, sides.RIGHT))

    @property
    def top(self: Any) -> bool:
        """Whether the side of the smaller y was blocked; see `left`."""
        return bool(self._side(1, 1.0, sides.TOP))

    @property
    def bottom(self: Any) -> bool:
        """Whether the side of the larger y was blocked; see `left`."""
        return bool(self._side(1, -1.0, sides.BOTTOM))

    def _side(self: Any, axis: int, sign: float, bit: np.uint8) -> bool:
        # Within 60 degrees of the axis, for slanted normals.
        return bool(getattr(self, "reached", 0) & int(bit)) or any(
            hit.normal[axis] * sign > 0.5 for hit in self.hits if hit.response != "cross"
        )


class _Movement(NamedTuple):
    x: float
    y: float
    hits: tuple[Hit, ...]
    """By time; what the body started in comes first."""
    crossed: tuple[Hit, ...] = ()
    """Bodies that it crossed without being stopped, each once, by time, then by id: see `World.move`."""
    reached: int = 0
    """The sides of the body that are flush with what lies ahead; bits: left 1, right 2, top 4, bottom 8."""


class Movement(_Movement, _Sides):
    """The final place of a body, and what it hit.

    Top is the side of the smaller y, as on a screen.
    """

    __slots__ = ()


def code_of(name: str) -> int:
    """The number by which kernels know a response.

    Examples
    --------
    >>> code_of("touch")
    1
    """
    if not isinstance(name, str) or name not in RESPONSES:
        raise not_one_of(name, RESPONSES, "response")
    return RESPONSES[name]


def answered(hit: Hit, response: Response) -> tuple[Hit | None, int]:
    """The hit with its response, and the response as a number; an ignored hit is ``None``, and crossed."""
    name = response(hit) if callable(response) else response
    if name is None:
        return None, sweep.CROSS
    code = code_of(name)
    return hit._replace(response=name), code


# ---- of many movers, as arrays


@briefly
class HitArrays(NamedTuple):
    """The hits of many movers, by mover, then by time."""

    movers: Integers
    """``(h,)``: row of the mover."""
    others: Integers
    """``(h,)``: row of the body that was hit, or -1 for a tile."""
    tiles: Integers
    """``(h, 2)``: column and row of the tile, or -1 for a body."""
    times: Floats
    """``(h,)``, in 0..1 of the whole displacement."""
    normals: Floats
    """``(h, 2)``"""
    touches: Floats
    """``(h, 2)``: the place of the mover then."""


def hits_of(bodies: Any, rows: Floats, response: Answer | Literal[""]) -> list[Hit]:
    """Hits of one mover that a kernel has written: rows of `kernels.movement.path.Buffers`.

    ``bodies`` are a list or a dict by row.
    """
    hits = []
    for time, nx, ny, x, y, other, column, cell, _ in rows.tolist():
        met = bodies[int(other)] if other >= 0.0 else Tile(int(column), int(cell))
        hits.append(_new(Hit, (met, time, (nx, ny), (x, y), response)))
    return hits


def as_rows(mover: int, hits: Sequence[Hit]) -> Floats:
    """The hits of one mover as kernels write them: rows of `kernels.movement.path.Buffers`."""
    rows: list[Sequence[float]] = []
    for hit in hits:
        other = hit.other
        names = (-1, *other) if isinstance(other, Tile) else (other.id, -1, -1)
        rows.append((hit.time, *hit.normal, *hit.touch, *names, mover))
    return np.array(rows, np.float64).reshape(-1, 9)


def hit_arrays(hits: Floats) -> HitArrays:
    """Such rows as named arrays."""
    if not len(hits):
        return NO_HITS
    names = hits[:, 5:].astype(np.int64)
    return HitArrays(names[:, 3], names[:, 0], names[:, 1:3], hits[:, 0], hits[:, 1:3], hits[:, 3:5])


_NO_ROWS, _NO_NUMBERS = np.empty(0, np.int64), np.empty((0, 2))
NO_HITS = HitArrays(_NO_ROWS, _NO_ROWS, np.empty((0, 2), np.int64), np.empty(0), _NO_NUMBERS, _NO_NUMBERS)


class _Movements(NamedTuple):
    places: Floats
    hits: HitArrays
    crossed: HitArrays = NO_HITS


@briefly
class Movements(_Movements):
    """Where many movers are now, and what they hit: a tuple of ``places``, ``hits`` and ``crossed``.

    ``places`` are of shape ``(m, 2)``; ``crossed`` are the bodies that they crossed without being stopped,
    each once a mover.
    """

    ids: npt.NDArray[np.int32]
    """``(m,)``, of `World.step`: the ids of the bodies that moved, ascending; ``movers`` of hits are rows of
    it."""
    floors: Integers
    """``(m, 3)``, of `World.walk_many`: id of the body that each stands on, or column and row of the tile; -1
    for what it is not, and three times -1 in the air."""
    normals: Floats
    """``(m, 2)``, of `World.walk_many`: out of the floor; NaN in the air."""
    ladders: Integers
    """``(m, 2)``, of `World.walk_many`: column and row of the ladder that each is in, or -1."""

    @property
    def on_floor(self) -> npt.NDArray[np.bool_]:
        """``(m,)``, of `World.walk_many`: which of them stand on something."""
        standing: npt.NDArray[np.bool_] = self.floors.max(axis=1) >= 0
        return standing


def velocities_after(velocities: Floats, hits: HitArrays, responses: npt.NDArray[np.integer[Any]]) -> Floats:
    """The velocities of movers after their hits, each with its response.

    A body that slides loses what points into the surface, one that bounces is mirrored, one that was stopped
    has none.

    Examples
    --------
    >>> wall = HitArrays(*(np.array(v) for v in ([0], [5], [[-1, -1]], [0.5], [[-1.0, 0.0]], [[9.0, 0.0]])))
    >>> [velocities_after(np.array([[4.0, 1.0]]), wall, np.array([code])).tolist() for code in range(4)]
    [[[0.0, 1.0]], [[0.0, 0.0]], [[4.0, 1.0]], [[-4.0, 1.0]]]
    """
    if not len(hits.movers):
        return velocities + 0.0
    velocities, answers = velocities.copy(), responses[hits.movers]
    velocities[hits.movers[answers == sweep.TOUCH]] = 0.0
    turned = np.flatnonzero((answers == sweep.SLIDE) | (answers == sweep.BOUNCE))
    # The first hits of all movers at once, then the second, ...: a crowd that starts in itself has many.
    turns = turned - np.searchsorted(hits.movers, hits.movers[turned])
    turned, count = turned[np.argsort(turns, kind="stable")], 0
    for more in np.bincount(turns).tolist():
        turning, count = turned[count : count + more], count + more
        movers, normals = hits.movers[turning], hits.normals[turning]
        inward = np.minimum((velocities[movers] * normals).sum(axis=1), 0.0)
        inward *= np.where(answers[turning] == sweep.BOUNCE, 2.0, 1.0)
        velocities[movers] -= inward[:, None] * normals
    return velocities + 0.0


# ---- of walkers


class _Walk(NamedTuple):
    x: float
    y: float
    hits: tuple[Hit, ...]
    """What stopped or held it, in order; what the body started in comes first."""
    crossed: tuple[Hit, ...]
    """As of `Movement`."""
    floor: Any
    """The body or `Tile` that it stands on now, ``None`` in the air and on what is too steep."""
    normal: tuple[float, float] | None
    """Unit vector out of the floor: straight up on level ground."""
    ladder: Tile | None
    """The ladder in which its middle is, or its feet."""
    edge: bool = False
    """With ``probe``: whether the floor ends within so much ahead."""
    wall: Hit | None = None
    """With ``probe``: what stands within so much ahead, too steep to walk on and too high to step on."""


class Walk(_Walk, _Sides):
    """The final place of a walker, what stopped it, and what it stands on."""

    __slots__ = ()
