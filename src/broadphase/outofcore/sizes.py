"""How much of everything fits: from bytes that the caller allows to rows, boxes and pairs.

The bound is for what all tasks that run at the same time hold together.  What Python, NumPy and pyarrow take
by themselves, about 150 MB a process, comes on top of it.
"""

import re
from dataclasses import dataclass
from typing import Any

from broadphase.numeric import whole

_UNITS = {"": 1, "k": 10**3, "m": 10**6, "g": 10**9, "t": 10**12}
_BINARY = {"k": 2**10, "m": 2**20, "g": 2**30, "t": 2**40}
_SIZE = re.compile(r"\s*(\d+(?:\.\d*)?|\.\d+)\s*([kmgt]?)(i?)b?\s*", re.IGNORECASE)

LEAST_MEMORY = 10_000
"""Bytes a task; with less there would be more tiles than boxes."""
MOST_ROWS = 1 << 20
"""Rows of a chunk of input."""
BEST_BOXES = 400_000
"""Boxes of a tile, where memory allows: their columns and counters stay near the processor."""
PAIRS_A_BOX = 4
"""A search stores at most so many pairs for each box that a task may hold; then it goes on in parts."""


def bytes_of(memory: Any, name: str = "memory") -> int:
    """A number of bytes, from an int or from text such as ``"2 GB"`` or ``"512MiB"``.

    Examples
    --------
    >>> bytes_of("2 GB"), bytes_of("1.5MiB"), bytes_of(4096)
    (2000000000, 1572864, 4096)
    """
    if isinstance(memory, str):
        found = _SIZE.fullmatch(memory)
        if found is None:
            raise ValueError(
                f'{name}={memory!r} is no size; write it as "2 GB", "512 MiB" or a number of bytes'
            )
        number, unit, binary = float(found[1]), found[2].lower(), found[3]
        return int(number * (_BINARY[unit] if binary and unit else _UNITS[unit]))
    return whole(memory, name, 'a size such as "2 GB" or a number of bytes')


@dataclass(frozen=True, slots=True)
class Sizes:
    """What one task may hold."""

    rows: int
    """Rows of input in a chunk."""
    boxes: int
    """Boxes in memory at a time."""
    tile: int
    """Boxes of a tile, as the cut aims for."""
    pairs: int
    """Pairs that one search may store."""


def sizes_for(memory: int, workers: int, box_bytes: int, more_bytes: int) -> Sizes:
    """What each of ``workers`` may hold, for boxes of so many bytes and so many more for their columns.

    The factors are what was seen at the peak of a task, with some room: a box is held as it was read, as two
    or three copies in strips with their marks, and as columns; a pair as it was found, parted, sorted, and as
    two columns of int64.
    """
    each = memory // workers
    if each < LEAST_MEMORY:
        raise ValueError(
            f"memory={memory} leaves {each} bytes for each of {workers} workers; "
            f"give at least {LEAST_MEMORY * workers}, or fewer workers"
        )
    boxes = each // (4 * (box_bytes + 8) + 3 * more_bytes + 60 * PAIRS_A_BOX)
    rows = each // (6 * box_bytes + 3 * more_bytes + 80)
    return Sizes(
        min(max(rows, 8), MOST_ROWS, max(boxes // 2, 8)),
        max(boxes, 16),
        max(min(boxes // 2, BEST_BOXES), 8),
        PAIRS_A_BOX * max(boxes, 16),
    )
