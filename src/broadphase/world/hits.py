"""The words of movement: what blocks, what was hit, where a body came to."""

import math
from collections.abc import Callable, Sequence
from typing import Any, Literal, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from broadphase.kernels.movement import travel
from broadphase.kernels.shapes.table import ShapeColumns
from broadphase.shapes.kinds import Bounds

Answer = Literal["slide", "touch", "cross", "bounce"]

RESPONSES: dict[Answer, int] = {
    "slide": travel.SLIDE,
    "touch": travel.TOUCH,
    "cross": travel.CROSS,
    "bounce": travel.BOUNCE,
}
"""The names of the responses: keep the free axis, stop, only report, mirror what is left of the way."""


class Blockers(NamedTuple):
    """What may lie in the way."""

    bounds: npt.NDArray[np.float64]
    """``(n, 4)``, C-contiguous, in the order in which hits at the same time are to be reported."""
    others: Sequence[Any]
    """What a hit names for each of them."""
    table: ShapeColumns | None = None
    """Their shapes; ``None`` where all are boxes."""
    rows: npt.NDArray[np.int64] | None = None
    """``(n,)``: the row of each of them in the table."""
    repeats: float = math.inf
    """Farther away than this there is no place that is free if none is within it: the world begins again."""


NOTHING = Blockers(np.empty((0, 4)), ())
"""No bodies in the way."""

Around: TypeAlias = Callable[[Bounds], Blockers]
"""Everything that blocks and overlaps or touches a region; more does no harm."""


class Hit(NamedTuple):
    """One thing that a moving body met."""

    other: Any
    """The body, or a `Tile`."""
    time: float
    """When, in 0..1 of the whole way; 0 for what the body started in."""
    normal: tuple[float, float]
    """Unit vector out of the side that was hit; an axis vector for boxes."""
    touch: tuple[float, float]
    """Where the body was then; for what it started in, where it was pushed out to."""
    response: Answer | Literal[""] = ""
    """How it was answered; empty while a function is asked for the answer."""


Response: TypeAlias = Answer | Callable[[Hit], Answer | None]


class Movement(NamedTuple):
    """Where a body came to, and what it met on the way.

    Top is the side of the smaller y, as on a screen.
    """

    x: float
    y: float
    hits: tuple[Hit, ...]
    """By time; what the body started in comes first."""
    crossed: tuple[Hit, ...] = ()
    """Bodies that it passed without being stopped, each once, by time, then by id: see `World.move`."""

    @property
    def blocked(self) -> bool:
        """Whether anything stopped, turned or pushed the body; crossing does not."""
        return any(hit.response != "cross" for hit in self.hits)

    @property
    def left(self) -> bool:
        """Whether the left side of the body was blocked."""
        return self._side(0, 1.0)

    @property
    def right(self) -> bool:
        """Whether the right side of the body was blocked."""
        return self._side(0, -1.0)

    @property
    def top(self) -> bool:
        """Whether the side of the smaller y was blocked."""
        return self._side(1, 1.0)

    @property
    def bottom(self) -> bool:
        """Whether the side of the larger y was blocked."""
        return self._side(1, -1.0)

    def _side(self, axis: int, sign: float) -> bool:
        # Within 60 degrees of the axis, for slanted normals.
        return any(hit.normal[axis] * sign > 0.5 for hit in self.hits if hit.response != "cross")


def code_of(name: str) -> int:
    """The number by which kernels know a response.

    Examples
    --------
    >>> code_of("touch")
    1
    """
    if not isinstance(name, str) or name not in RESPONSES:
        raise ValueError(f"unknown response {name!r}; choose one of {', '.join(RESPONSES)}")
    return RESPONSES[name]


def answered(hit: Hit, response: Response) -> tuple[Hit | None, int]:
    """The hit with its response, and the response as a number; an ignored hit is crossed in silence."""
    name = response(hit) if callable(response) else response
    if name is None:
        return None, travel.CROSS
    code = code_of(name)
    return hit._replace(response=name), code
