"""How large cells of one size are, if so many of them fill a world."""

import math
from collections.abc import Sequence


def side_for(lengths: Sequence[float], cells: float) -> float:
    """The side of cells of which this many fill a world of these lengths; an axis shorter than that has one.

    Examples
    --------
    >>> [round(side_for(lengths, 4), 9) for lengths in ([4.0, 9.0], [0.5, 8.0])]
    [3.0, 2.0]
    """
    long, side = [length for length in lengths if length > 0.0], 0.0
    while long:
        side = math.exp((sum(map(math.log, long)) - math.log(cells)) / len(long))
        if len(long) == 1 or min(long) >= side:
            return side
        long = [length for length in long if length >= side]
    return side  # rounded up beyond the longest axis: one cell
