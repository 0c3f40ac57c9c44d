"""The tasks: which boxes of which chunks are joined with which, each apart from all others.

Usually a tile is one task.  A tile that holds more boxes than fit into memory, because no cut could divide
it, is joined block by block: chunks that follow each other are a block, and each block is joined with itself
and with every later one.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from broadphase.outofcore.chunk_file import Counts
from broadphase.outofcore.cut import Cut

Numbers = npt.NDArray[np.int64]


class ChunkPart(NamedTuple):
    """What a tile needs of one chunk; a row of `Block.parts`."""

    number: int
    first_row: int
    copies: int
    """Of all tiles, in the file of the chunk."""
    begin: int
    own: int
    large: int
    """How many large boxes the file ends with; 0 if none of them touches the tile."""
    shared: int
    """How many of those touch the tile."""


class Block(NamedTuple):
    """Boxes of one side, by ascending row."""

    side: int
    parts: Numbers
    """A `ChunkPart` a row."""

    @property
    def boxes(self) -> int:
        """How many there are."""
        return int(self.parts[:, 4].sum() + self.parts[:, 6].sum())


class Asked(NamedTuple):
    """Which block of a tile is joined with which: ranges among the chunks of a side."""

    tile: int
    left: tuple[int, int]
    right: tuple[int, int] | None
    boxes: int


@dataclass(frozen=True, slots=True)
class TileTask:
    """One join: of a block with itself, or of two blocks with each other."""

    number: int
    low: npt.NDArray[Any]
    high: npt.NDArray[Any]
    left: Block
    right: Block | None


class Chunks:
    """The chunks of all input, and how many boxes of each are in every tile."""

    def __init__(
        self, told: Sequence[tuple[int, int]], counts: Sequence[Counts], sides: int, tiles: int
    ) -> None:
        """``told``: side and first row of each."""
        # 12 bytes for each chunk in each tile: 30 MB for a thousand million boxes.
        self._own = np.array([one.own for one in counts], np.int32).reshape(-1, tiles + 1)
        self._ends = np.cumsum(self._own, axis=1, dtype=np.int32)
        self._shared = np.array([one.shared for one in counts], np.int32).reshape(-1, tiles)
        self._first_rows = np.array([first for _, first in told], np.int64)
        of_side = np.array([side for side, _ in told])
        self._sides = [np.flatnonzero(of_side == side) for side in range(sides)]

    def tasks(self, most: int) -> list[Asked]:
        """All tasks, none of which holds more than ``most`` boxes where that can be helped."""
        return [asked for tile in range(self._shared.shape[1]) for asked in self._of_tile(tile, most)]

    def _boxes(self, tile: int) -> Numbers:
        return np.add(self._own[:, tile], self._shared[:, tile], dtype=np.int64)

    def _of_tile(self, tile: int, most: int) -> Iterator[Asked]:
        half = None if self._boxes(tile).sum() <= most else most // 2
        left = self._blocks(tile, 0, half)
        if len(self._sides) > 1:
            for a, size_a in left:
                for b, size_b in self._blocks(tile, 1, half):
                    yield Asked(tile, a, b, size_a + size_b)
            return
        for k, (block, size) in enumerate(left):
            if size > 1:
                yield Asked(tile, block, None, size)
            for later, size_later in left[k + 1 :]:
                yield Asked(tile, block, later, size + size_later)

    def _blocks(self, tile: int, side: int, most: int | None) -> list[tuple[tuple[int, int], int]]:
        """A tile as ranges of chunks that hold at most ``most`` boxes, if one chunk does; and how many."""
        sizes = self._boxes(tile)[self._sides[side]]
        if most is None:
            return [((0, len(sizes)), int(sizes.sum()))] if sizes.any() else []
        blocks: list[tuple[tuple[int, int], int]] = []
        begin = held = 0
        for k, size in enumerate(sizes.tolist()):
            if held and held + size > most:
                blocks.append(((begin, k), held))
                begin, held = k, 0
            held += size
        return [*blocks, ((begin, len(sizes)), held)] if held else blocks

    def task(self, number: int, asked: Asked, cut: Cut) -> TileTask:
        """A task with all that it must know."""
        right_side = len(self._sides) - 1
        right = None if asked.right is None else self._block(asked.tile, right_side, asked.right)
        return TileTask(
            number, cut.low[asked.tile], cut.high[asked.tile], self._block(asked.tile, 0, asked.left), right
        )

    def _block(self, tile: int, side: int, chunks: tuple[int, int]) -> Block:
        numbers = self._sides[side][slice(*chunks)]
        numbers = numbers[self._boxes(tile)[numbers] > 0]
        count, shared = self._own[numbers, tile], self._shared[numbers, tile]
        return Block(
            side,
            np.stack(
                [
                    numbers,
                    self._first_rows[numbers],
                    self._ends[numbers, -1],
                    self._ends[numbers, tile] - count,
                    count,
                    np.where(shared > 0, self._own[numbers, -1], 0),
                    shared,
                ],
                axis=1,
            ),
        )
