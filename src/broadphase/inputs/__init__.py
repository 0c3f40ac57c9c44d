"""What comes in: arguments are copied (`arrays.settled`), then checked once, nowhere else.

`boxes`, `points`, `periods`, `environments` and `numeric` (single numbers) check; `search` does both for the
calls that find pairs, and has their rules.  Tables, columns and shapes of other libraries are read by
`arrays`.

The types below say to type checkers what is taken as boxes, points and places.  Text, a path or a single
number is none of it: a sequence of anything would be one of characters, too.
"""

from collections.abc import Iterator, Sequence
from typing import Any, Protocol, TypeAlias

import numpy as np


class Array(Protocol):
    """An array or a table of any library."""

    @property
    def shape(self) -> Any:
        """How many rows and columns it has."""


class Convertible(Protocol):
    """What NumPy makes an array of."""

    def __array__(self) -> Any:
        """As an array."""


class Vector2(Protocol):
    """A vector of pygame or another library."""

    @property
    def x(self) -> Any:
        """The first coordinate."""

    @property
    def y(self) -> Any:
        """The second one."""

    def __iter__(self) -> Iterator[Any]:
        """Both."""


class Rectangle(Protocol):
    """A `broadphase.Box`, or a rectangle of another library."""

    @property
    def width(self) -> Any:
        """Along x."""

    @property
    def height(self) -> Any:
        """Along y."""


class Sprite(Protocol):
    """What has a rectangle."""

    @property
    def rect(self) -> Any:
        """The rectangle."""


RowsLike: TypeAlias = list[Any] | tuple[Any, ...] | Array | Convertible
"""Boxes or points: an array, a table, or a list of rows, of rectangles, of sprites or of shapes."""
Numbers: TypeAlias = list[Any] | tuple[Any, ...] | range | Array | Convertible
"""One number for each row."""
Lengths: TypeAlias = float | list[Any] | tuple[Any, ...] | Array | Convertible
"""A period."""
Place: TypeAlias = Sequence[float | np.number[Any]] | Vector2
"""One point or one way; an array may be one or several."""
OneBox: TypeAlias = Sequence[float | np.number[Any]] | Array | Rectangle | Sprite
"""One box."""
