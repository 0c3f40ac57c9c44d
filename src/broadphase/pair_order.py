"""Found pairs into one array, in the order that was promised."""

from functools import partial

import numpy as np

from broadphase import threads
from broadphase.boxes import PairArray
from broadphase.kernels.counting import starts_from_counts
from broadphase.kernels.order import (
    count_partitions,
    partition_shift,
    scatter_to_partitions,
    sort_partitions,
)
from broadphase.memory import Scratch, pair_array

# Below, a second thread costs more than it saves.
ENOUGH_FOR_THREADS = 50_000
# The counters of so many ids fit into the nearest cache.
FEW_IDS = 4_096


def one_array(
    chunks: list[PairArray], n: int, sort: bool, scratch: Scratch | None = None, parts: int = 1
) -> PairArray:
    """The pairs of all chunks as an array of their own, sorted or as they come."""
    filled = [chunk for chunk in chunks if len(chunk)]
    if not filled:
        return np.empty((0, 2), np.int32)
    return sorted_pairs(filled, n, scratch, parts) if sort else joined_pairs(filled, parts)


def sorted_pairs(
    chunks: list[PairArray], n: int, scratch: Scratch | None = None, parts: int = 1
) -> PairArray:
    """All pairs of ``chunks``, rows ``i, j`` with ids ``i < n``, sorted by ``i``, then by ``j``."""
    if len(chunks) == 1 and n <= FEW_IDS:
        return _sorted_chunk(chunks[0], n)
    scratch = scratch or Scratch()
    shift = partition_shift(n)
    partitions = ((max(n, 1) - 1) >> shift) + 1
    counts = scratch.array("order counts", (len(chunks), partitions), np.int64)
    counts[:] = 0
    total = sum(map(len, chunks))
    if total < ENOUGH_FOR_THREADS:
        parts = 1
    threads.run_all(
        [partial(count_partitions, chunk, shift, row) for chunk, row in zip(chunks, counts, strict=True)],
        parts,
    )
    ends = scratch.array("order ends", (partitions,), np.int64)
    starts_from_counts(counts, ends)
    parted = scratch.array("order parted", (total, 2), np.int32)
    threads.run_all(
        [
            partial(scatter_to_partitions, chunk, shift, row, parted)
            for chunk, row in zip(chunks, counts, strict=True)
        ],
        parts,
    )
    out = pair_array(total)
    threads.run_all(
        [
            partial(sort_partitions, parted, ends, shift, first, last, out)
            for first, last in threads.shares(partitions, min(4 * parts, partitions) if parts > 1 else 1)
        ],
        parts,
    )
    return out


def _sorted_chunk(chunk: PairArray, n: int) -> PairArray:
    """All ids fit into one partition, so the pairs need not be parted first."""
    out = pair_array(len(chunk))
    sort_partitions(chunk, np.array([len(chunk)]), n.bit_length(), 0, 1, out)
    return out


def joined_pairs(chunks: list[PairArray], parts: int = 1) -> PairArray:
    """All pairs of ``chunks`` as they come."""
    if len(chunks) == 1 and len(chunks[0]) < ENOUGH_FOR_THREADS:
        return chunks[0].copy()
    ends = np.cumsum([len(chunk) for chunk in chunks])
    out = pair_array(int(ends[-1]))
    threads.run_all(
        [
            partial(np.copyto, out[end - len(chunk) : end], chunk)
            for chunk, end in zip(chunks, ends.tolist(), strict=True)
        ],
        parts if len(out) >= ENOUGH_FOR_THREADS else 1,
    )
    return out
