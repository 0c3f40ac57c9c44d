"""Jump-through bodies: they block only what comes through some of their sides, as one-way tiles do.

Such a body blocks a movement if the mover lies beyond one of these sides when it begins, and comes through
that side.  What is inside, or comes through another, moves on freely: it is moved again without that body.
"""

from collections.abc import Iterable

from broadphase.kernels.tiles.grid import BOTTOM, LEFT, RIGHT, SIDES, TOP, Side

DIRECTIONS = ((TOP, (0, -1)), (BOTTOM, (0, 1)), (LEFT, (-1, 0)), (RIGHT, (1, 0)))


def bits_of_sides(sides: Side | Iterable[Side]) -> int:
    """The sum of the bits of a side, or of several.

    Raises
    ------
    ValueError
        A side has another name.
    """
    bits = 0
    for side in [sides] if isinstance(sides, str) else sides:
        if side not in SIDES:
            raise ValueError(f"unknown side {side!r}; choose from {', '.join(SIDES)}")
        bits |= int(SIDES[side])
    return bits
