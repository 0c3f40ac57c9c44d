"""One-way bodies: they block only what enters through some of their sides, as one-way tiles do.

What is inside such a body when a movement begins, or enters through another side, moves on freely until the
movement ends; what overlaps it by a rounding error rests on it (`kernels.movement.one_way`).
"""

from collections.abc import Iterable

from broadphase.kernels.tiles.grid import BOTTOM, LEFT, RIGHT, SIDES, TOP, Side

DIRECTIONS = ((TOP, (0, -1)), (BOTTOM, (0, 1)), (LEFT, (-1, 0)), (RIGHT, (1, 0)))


def bits_of_sides(sides: Side | Iterable[Side]) -> int:
    """The sum of the bits of a side, or of several.

    Raises
    ------
    TypeError, ValueError
        It is a bool, or a side has another name.
    """
    bits = 0
    if isinstance(sides, bool):
        raise TypeError(f"sides must be a side or several of {', '.join(SIDES)}; got {sides}")
    for side in [sides] if isinstance(sides, str) else sides:
        if side not in SIDES:
            raise ValueError(f"unknown side {side!r}; choose from {', '.join(SIDES)}")
        bits |= int(SIDES[side])
    return bits
