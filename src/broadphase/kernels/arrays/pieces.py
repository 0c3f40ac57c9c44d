"""Long arrays in pieces: a kernel cannot be interrupted, so no call gets ten million rows.

Between two calls Python looks whether a signal has come.
"""

from collections.abc import Iterator

AT_ONCE = 1 << 18
"""Rows of a piece: a millisecond, and some more where memory is met at random."""


def pieces(n: int) -> Iterator[tuple[int, int]]:
    """``range(n)`` in ranges of at most `AT_ONCE` rows; an empty one where there is none.

    Examples
    --------
    >>> list(pieces(1000))
    [(0, 1000)]
    >>> list(pieces(3 << 18))
    [(0, 262144), (262144, 524288), (524288, 786432)]
    """
    begin = 0
    while n - begin > AT_ONCE:
        yield begin, begin + AT_ONCE
        begin += AT_ONCE
    yield begin, n
