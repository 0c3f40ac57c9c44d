"""Vectors and rectangles as bodies return them: tuples with names, and with the arithmetic of places."""

from typing import Any, NamedTuple

import numpy as np

from broadphase.errors import instead
from broadphase.inputs import Place

new: Any = tuple.__new__
"""Makes a `Vector` from its class and a tuple in half the time."""


class Vector(NamedTuple):
    """Two coordinates: a place or a way; a tuple that is added, subtracted, multiplied and divided.

    Examples
    --------
    >>> place = Vector(3.0, 4.0)
    >>> place + (1, 1), place - (3, 4), 2 * place, place / 2, -place
    ((4.0, 5.0), (0.0, 0.0), (6.0, 8.0), (1.5, 2.0), (-3.0, -4.0))
    >>> x, y = place
    >>> place.x, y, place == (3, 4)
    (3.0, 4.0, True)
    """

    x: float
    y: float

    def __setattr__(self, name: str, value: Any) -> None:
        raise AttributeError(
            "a Vector does not change; set both at once: body.velocity = x, y, or body.x += dx"
        )

    def __add__(self, other: Place) -> "Vector":  # type: ignore[override]  # of an array NumPy adds
        """Add a vector, or two numbers; an array is added to as an array is."""
        if isinstance(other, np.ndarray):
            return NotImplemented
        x, y = other
        return Vector(self.x + x, self.y + y)

    def __radd__(self, other: Place) -> "Vector":
        """Add it to two numbers."""
        return self.__add__(other)

    def __sub__(self, other: Place) -> "Vector":
        """Subtract a vector, or two numbers."""
        if isinstance(other, np.ndarray):
            return NotImplemented
        x, y = other
        return Vector(self.x - x, self.y - y)

    def __rsub__(self, other: Place) -> "Vector":
        """Subtract it from two numbers."""
        x, y = other
        return Vector(x - self.x, y - self.y)

    def __mul__(self, factor: Any) -> "Vector":
        """Multiply both by a number."""
        if isinstance(factor, np.ndarray):
            return NotImplemented
        return Vector(self.x * factor, self.y * factor)

    def __rmul__(self, factor: Any) -> "Vector":
        """Multiply both by a number."""
        return self.__mul__(factor)

    def __truediv__(self, divisor: float) -> "Vector":
        """Divide both by a number."""
        return Vector(self.x / divisor, self.y / divisor)

    def __neg__(self) -> "Vector":
        """The opposite way."""
        return Vector(-self.x, -self.y)

    def __repr__(self) -> str:
        return f"({self.x!r}, {self.y!r})"


_OF_PYGAME = (
    "move", "inflate", "clip", "union", "clamp", "contains", "collidepoint", "colliderect", "collidelist",
    "collidelistall", "topleft", "topright", "bottomleft", "bottomright", "midtop", "midleft", "midbottom",
    "midright", "centerx", "centery", "size", "w", "h",
)  # fmt: skip


@instead({name: f"pygame.FRect(rect).{name} is it; Rect(rect) would cut to pixels" for name in _OF_PYGAME})
class Rect(NamedTuple):
    """A rectangle: a tuple ``x, y, width, height``, taken as a rectangle wherever one is.

    Top is the side of the smaller y, as on a screen.

    Examples
    --------
    >>> rect = Rect(10.0, 20.0, 4.0, 2.0)
    >>> rect.right, rect.bottom, rect.center
    (14.0, 22.0, (12.0, 21.0))
    """

    x: float
    y: float
    width: float
    height: float

    def __setattr__(self, name: str, value: Any) -> None:
        raise AttributeError("a Rect does not change; to move a body set body.x or body.center")

    @property
    def left(self) -> float:
        """The smaller x."""
        return self.x

    @property
    def top(self) -> float:
        """The smaller y."""
        return self.y

    @property
    def right(self) -> float:
        """The larger x."""
        return self.x + self.width

    @property
    def bottom(self) -> float:
        """The larger y."""
        return self.y + self.height

    @property
    def center(self) -> Vector:
        """The middle."""
        return Vector(self.x + 0.5 * self.width, self.y + 0.5 * self.height)
