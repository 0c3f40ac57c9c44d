"""Chunks of found pairs joined into one array, sorted by (i, j)."""

from functools import partial

import numpy as np
import numpy.typing as npt

from broadphase.kernels.arrays import results
from broadphase.kernels.arrays.sorting import starts_from_counts
from broadphase.kernels.pairs.order import (
    MANY,
    count_partitions,
    partition_shift,
    scatter_to_partitions,
    sort_partitions,
)
from broadphase.runtime import threads, thresholds
from broadphase.runtime.arrays import FIRST_ROWS, ranges
from broadphase.runtime.memory import PairArray, Scratch, pair_array

PairKeys = npt.NDArray[np.int64]
"""Pairs as numbers ``i << 32 | j``, which sort as the pairs do."""
_COST = 4.0  # nanoseconds to sort or copy a pair
# A partition of more pairs than this is not sorted in one step: it takes a tenth of a second.
_MOST_AT_ONCE = 4_000_000


def one_array(
    chunks: list[PairArray], n: int, sort: bool, scratch: Scratch | None = None, parts: int = 1
) -> PairArray:
    """The pairs of all chunks as one new array, sorted or in any order."""
    if len(chunks) == 1 and not sort and len(chunks[0]) <= FIRST_ROWS:
        return chunks[0].copy()  # small worlds: a fifteenth of a search of 300 boxes is saved
    filled = [chunk for chunk in chunks if len(chunk)]
    if not filled:
        return np.empty((0, 2), np.int32)
    return sorted_pairs(filled, n, scratch, parts) if sort else joined_pairs(filled, parts)


def sorted_pairs(
    chunks: list[PairArray], n: int, scratch: Scratch | None = None, parts: int = 1
) -> PairArray:
    """All pairs of ``chunks``, rows ``i, j`` with ids ``i < n``, sorted by ``i``, then by ``j``."""
    scratch = scratch or Scratch()
    total = sum(map(len, chunks))
    parts = len(threads.shares(total, parts, _COST))
    out = pair_array(total)
    many = total >= MANY * (n + 1)  # partners for each id
    if len(chunks) == 1 and n <= thresholds.FEW_IDS and parts == 1 and total <= _MOST_AT_ONCE:
        # All ids fit into one partition, so no pass to partition the pairs is needed.
        keys = scratch.array("order keys", (total,), np.int64)
        rows = scratch.array("order rows", (n + 1,), np.int32)
        seconds = scratch.array("order seconds", (n + 1 if many else 0,), np.int32)
        sort_partitions(
            chunks[0], np.array([total], np.int64), n.bit_length(), 0, 1, rows, seconds, keys, out
        )
        return out
    shift = partition_shift(n)
    partitions = ((max(n, 1) - 1) >> shift) + 1
    counts = scratch.array("order counts", (len(chunks), partitions), np.int64)
    counts[:] = 0
    threads.run_all(
        [partial(count_partitions, chunk, shift, row) for chunk, row in zip(chunks, counts, strict=True)],
        parts,
    )
    ends = scratch.array("order ends", (partitions,), np.int64)
    _, fullest, _ = starts_from_counts(counts, ends)
    parted = scratch.array("order parted", (total, 2), np.int32)
    threads.run_all(
        [
            partial(scatter_to_partitions, chunk, shift, row, parted)
            for chunk, row in zip(chunks, counts, strict=True)
        ],
        parts,
    )
    shares = threads.shares(partitions, parts, pieces=max(1, min(4, partitions // parts)))
    keys = scratch.array("order keys", (len(shares), fullest), np.int64)
    rows = scratch.array("order rows", (len(shares), (1 << shift) + 1), np.int32)
    seconds = scratch.array("order seconds", (len(shares), n + 1 if many else 0), np.int32)

    def sort(share: int, first: int, last: int) -> None:
        sort_partitions(parted, ends, shift, first, last, rows[share], seconds[share], keys[share], out)

    threads.run_all([partial(sort, number, *share) for number, share in enumerate(shares)], parts)
    return out


def sorted_rows(chunks: list[PairArray], end: int) -> PairArray:
    """The rows ``i, j`` of all chunks, whose numbers are below ``end``, sorted by ``i``, then by ``j``.

    Examples
    --------
    >>> sorted_rows([np.array([[1, 0], [0, 4]], np.int32)], 5)
    array([[0, 4],
           [1, 0]], dtype=int32)
    """
    if sum(map(len, chunks)) * 16 > end:
        return sorted_pairs(chunks, end)
    return as_pairs(np.sort(pair_keys(chunks)))  # few: a counting sort would visit every number


def pair_keys(chunks: list[PairArray]) -> PairKeys:
    """Pairs as numbers."""
    keys: PairKeys = np.empty(sum(map(len, chunks)), np.int64)
    start = 0
    for chunk in chunks:
        keys[start : start + len(chunk)] = (chunk[:, 0].astype(np.int64) << 32) | chunk[:, 1]
        start += len(chunk)
    return keys


def as_pairs(keys: PairKeys) -> PairArray:
    """The pairs of keys."""
    pairs = np.empty((len(keys), 2), np.int32)
    pairs[:, 0] = keys >> 32
    pairs[:, 1] = keys & 0xFFFFFFFF
    return pairs


def sort_rows_of_each(rows: PairArray, end_of_ids: int) -> None:
    """Sort the ids, all less than ``end_of_ids``, of each query, whose rows ``[query, id]`` are contiguous.

    Examples
    --------
    >>> rows = np.array([[1, 5], [1, 2], [0, 4]], np.int32)
    >>> sort_rows_of_each(rows, 6)
    >>> rows
    array([[1, 2],
           [1, 5],
           [0, 4]], dtype=int32)
    """
    words = results.words_for(end_of_ids)
    results.sort_rows_of_each(rows, words, end_of_ids)


def joined_pairs(chunks: list[PairArray], parts: int = 1) -> PairArray:
    """All pairs of ``chunks``, in their order."""
    total = sum(map(len, chunks))
    parts = len(threads.shares(total, parts, _COST))
    if parts == 1 and total <= FIRST_ROWS:
        return np.concatenate(chunks)
    chunks = [chunk[begin:end] for chunk in chunks for begin, end in ranges(0, len(chunk))]
    ends = np.cumsum([len(chunk) for chunk in chunks])
    out = pair_array(int(ends[-1]))
    threads.run_all(
        [
            partial(np.copyto, out[end - len(chunk) : end], chunk)
            for chunk, end in zip(chunks, ends.tolist(), strict=True)
        ],
        parts,
    )
    return out
