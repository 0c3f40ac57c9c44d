"""Comparisons that several test files share."""

import numpy as np


def assert_same(found, expected):
    """Array for array: values, order, shape and dtype; the message names the pairs that differ."""
    assert isinstance(found, np.ndarray)
    assert found.dtype == np.int32
    assert found.ndim == 2
    assert found.shape[1] == 2
    if np.array_equal(found, expected):
        return
    have, want = as_set(found), as_set(expected)
    missing, extra = sorted(want - have), sorted(have - want)
    raise AssertionError(
        f"{len(found)} pairs instead of {len(expected)}: "
        f"{len(missing)} missing {missing[:5]}, {len(extra)} too many {extra[:5]}, "
        f"{len(found) - len(have)} repeated; the same set in another order: {have == want}"
    )


def as_set(pairs):
    """The rows as a set of tuples."""
    return set(map(tuple, pairs.tolist()))


def in_order(pairs):
    """The rows sorted by first, then by second id."""
    return pairs[np.lexsort((pairs[:, 1], pairs[:, 0]))]
