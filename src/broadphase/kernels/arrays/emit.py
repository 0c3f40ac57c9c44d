"""Where found pairs go, and how a search stops and goes on.

A kernel can neither be interrupted nor allocate memory.  So a search is called as often as it takes::

    at, found, tests = kernel(..., at, end, out, most, store)

- ``at`` is where it starts: a tuple of integers, first the row (a box, a place in an order, a strip), then
  where in that row; ``(row, 0, ...)`` is the beginning of a row.  What comes back is where it stopped, and
  the next call goes on there.  It is done when ``at[0] == end``.
- It stops when ``out``, an ``(m, 2)`` int32 array, has no room for what the next comparisons may give.
  Pairs are written from row 0 on; ``found`` says how many.  With `LEAST_ROOM` rows it makes
  at least one step.
- It stops when it has made more than ``most`` comparisons, or what takes as long; with 0 it still makes
  a step.
- Without ``store`` it only counts: ``out`` is scratch then, of `LEAST_ROOM` rows, and never full.
- Its other state (the strip that it has sorted) lies in arrays that the caller allocates and leaves alone
  until the search is done.  Nothing is found twice or dropped, whatever the sizes of the arrays and
  the budgets are, and the pairs come in the same order.

`broadphase.slices.search_from` is the caller: it looks for signals between two calls, and brings another
array when one is full.  `broadphase.kernels.boxes.brute_force` is the shortest example.

A batch of queries is simpler: rows ``[query, id]`` from the query ``begin`` on, each answered wholly or not
at all; ``next, found, tests`` says which query comes next (`broadphase.slices.in_chunks` is the caller).
"""

from broadphase.kernels.machine.jit import inline
from broadphase.kernels.machine.simd import LANES

# What a kernel that only counts is given for `out`; it never stores.
FIRST_ROOM = 1024
# Rows that are enough for what any kernel finds between two looks at the room: two leaves of a tree of 16
# boxes each, and the lanes that are written behind the last pair.
LEAST_ROOM = 16 * 16 + LANES


@inline
def put(out, at, i, j):
    """Write the pair at row ``at``, smaller id first."""
    out[at, 0] = min(i, j)
    out[at, 1] = max(i, j)
