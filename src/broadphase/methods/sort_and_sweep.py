"""Sort and sweep on one axis: boxes in the order of their left edges, each compared with those it reaches.

Sort the boxes by their left edge on one axis.  From each box walk to the right; the first box that
begins beyond this one's right edge ends the walk, because all later ones begin further right still.
Only the boxes passed on the walk can overlap this one, and they are compared on the other axes.

Source: the single-axis case of Baraff's coordinate sorting (1992); sorted once for each call, not between
frames.  Cost: linear in the boxes (the sort is a radix sort; the textbook says n log n) plus m, the number of
pairs that overlap on the sorted axis.  It loses if many boxes overlap on that axis: m grows with the
square of the boxes there, and for a scene that is spread evenly in the plane it is about n times the
square root of n.
"""

from functools import partial
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from broadphase.inputs.boxes import BoxArray
from broadphase.inputs.numeric import plain
from broadphase.kernels.arrays.sorting import bits_of, ordered_columns, stable_argsort
from broadphase.kernels.sorted import sweep
from broadphase.methods.task import Found, Task, find_in_shares
from broadphase.runtime import threads

Axis = Literal[0, 1, 2, "auto"]

_SAMPLE = 1024
_GOLDEN = np.uint64(0x9E3779B97F4A7C15)  # 2**64 divided by the golden ratio


def find(task: Task, axis: Axis = "auto") -> Found:
    """Find all pairs by sorting along ``axis``: 0, 1, 2, or the one for which the fewest tests are expected.

    ``Found.tests`` counts the pairs that overlap on the sorted axis.
    """
    sorted_axis = choose_axis(task.boxes, axis)
    order = stable_argsort(task.boxes[:, sorted_axis])
    columns, ids = ordered_columns(bits_of(task.boxes), order, sorted_axis, task.touching)
    return sweep_ordered(task, columns, ids, len(order))


def sweep_ordered(task: Task, columns: npt.NDArray[Any], ids: npt.NDArray[np.int32], n: int) -> Found:
    """Compare ``n`` boxes in order (`ordered_columns`) with those that each of them reaches."""
    search = partial(sweep, tuple(range(task.dim)), columns, ids, task.filter)
    # Crowds are contiguous in the order: four shares for each thread balance the load.
    return find_in_shares(task, search, threads.shares(n, task.threads, cost=100.0, pieces=4))


def choose_axis(boxes: BoxArray, axis: Axis) -> int:
    """The axis to sort along; ``"auto"`` is the one on which the boxes are spread most.

    Spread is relative to the boxes' extents: a row of long walls is not spread along itself, however
    long it is.  So a sample shows what the sweep would cost: how many pairs of boxes are apart on the axis.
    Infinite boxes and far outliers are only a few boxes there, while a mean or a range would follow them.

    Raises
    ------
    ValueError
        ``axis`` is neither ``"auto"`` nor an axis of the boxes.

    Examples
    --------
    >>> import numpy as np
    >>> choose_axis(np.array([[0.0, 0.0, 9.0, 1.0], [0.0, 5.0, 9.0, 6.0]]), "auto")
    1
    """
    dim = boxes.shape[1] // 2
    if isinstance(axis, str) and axis == "auto":
        sample = _sample(boxes)
        lows, highs = sample.T[:dim], np.sort(sample.T[dim:])
        # How many pairs do not overlap on an axis: for each box, those that end before it begins.
        apart = [high.searchsorted(low).sum() for low, high in zip(lows, highs, strict=True)]
        return int(np.argmax(apart))
    number = plain(axis, "axis")
    if isinstance(number, bool) or not isinstance(number, int) or not 0 <= number < dim:
        raise ValueError(f"axis must be 'auto' or one of {', '.join(map(str, range(dim)))}; got {axis!r}")
    return number


def _sample(boxes: BoxArray) -> BoxArray:
    """At most a thousand boxes, always the same ones.

    Multiples of the golden ratio cover all parts of the array evenly and, unlike every k-th row, have no
    common period with boxes that were created row by row.
    """
    if len(boxes) <= _SAMPLE:
        return boxes
    fractions = (np.arange(_SAMPLE, dtype=np.uint64) * _GOLDEN) >> np.uint64(32)
    sample: BoxArray = boxes[(fractions * np.uint64(len(boxes))) >> np.uint64(32)]
    return sample
