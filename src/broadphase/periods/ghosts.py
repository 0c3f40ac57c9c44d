"""Boxes wrapped into a periodic world, and the ghosts of those that cross an edge, one period lower.

With ghosts all pairs are found by two searches: that of the wrapped boxes finds what overlaps inside the
world, and another what meets a ghost (`broadphase.kernels.boxes.periodic`).
"""

from functools import partial
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from broadphase.kernels.boxes import periodic as kernel
from broadphase.runtime import threads

AnyFloats = npt.NDArray[np.floating[Any]]

_AXES = "xyz"


def period_of(period: AnyFloats, dtype: Any) -> AnyFloats:
    """The period in the type of the boxes.

    Raises
    ------
    ValueError
        The period is too small or too large for float32.
    """
    if period.dtype == dtype:
        return period
    with np.errstate(over="ignore", under="ignore"):
        lengths = period.astype(dtype)
    for axis in np.flatnonzero((lengths == 0.0) | (np.isinf(lengths) != np.isinf(period))).tolist():
        raise ValueError(f"period[{axis}] = {period[axis]:g} does not fit into {lengths.dtype}; use float64")
    return lengths


class Wrapped(NamedTuple):
    """Boxes wrapped into the world."""

    boxes: AnyFloats
    lengths: AnyFloats
    """The period in the type of the boxes."""
    touching: bool
    crossing: npt.NDArray[np.int32]
    """The rows that cross the boundary, ascending."""
    ghosts: int
    """How many ghosts they have."""

    @classmethod
    def of(cls, boxes: AnyFloats, lengths: AnyFloats, touching: bool) -> "Wrapped":
        """Boxes that have been wrapped."""
        rows = np.empty(len(boxes), np.int32)
        crossed, ghosts = kernel.crossing_rows(boxes, lengths, touching, rows)
        return cls(boxes, lengths, touching, rows[:crossed], int(ghosts))

    def make_ghosts(self) -> tuple[AnyFloats, npt.NDArray[np.int32], AnyFloats]:
        """The ghosts, the row of each, and how far those that are shifted along each axis reach."""
        dim = self.boxes.shape[1] // 2
        ghosts = np.empty((self.ghosts, 2 * dim), self.boxes.dtype)
        sources, reach = np.empty(self.ghosts, np.int32), np.empty(dim, self.boxes.dtype)
        kernel.make_ghosts(self.boxes, self.crossing, self.lengths, self.touching, ghosts, sources, reach)
        return ghosts, sources, reach


def wrapped_boxes(
    boxes: AnyFloats,
    period: npt.NDArray[np.float64],
    touching: bool,
    wrapped: AnyFloats,
    parts: int = 1,
    name: str = "boxes",
) -> Wrapped:
    """Write valid boxes into ``into``, wrapped into the world.

    Raises
    ------
    ValueError
        A box is at infinity, or so far away that rounding loses its place in the world.
    """
    lengths = period_of(period, boxes.dtype)
    crossing = np.empty(len(boxes), np.int32)
    spans = threads.shares(len(boxes), parts, cost=4.0)
    done = threads.run_all(
        [
            partial(kernel.wrap_boxes, boxes, lengths, touching, *span, wrapped, crossing[span[0] :])
            for span in spans
        ],
        parts,
    )
    for _, _, row, axis, trouble in done:
        if row >= 0:
            raise _has_no_place(boxes, int(row), int(axis), int(trouble), lengths, name)
    rows = [crossing[begin : begin + part[0]] for (begin, _), part in zip(spans, done, strict=True)]
    row_numbers = rows[0].copy() if len(rows) == 1 else np.concatenate(rows)
    return Wrapped(wrapped, lengths, touching, row_numbers, sum(int(part[1]) for part in done))


def wrap_points(points: npt.NDArray[np.float64], lengths: AnyFloats, name: str) -> npt.NDArray[np.float64]:
    """Points wrapped into the world, rounded to the type of ``lengths``.

    Raises
    ------
    ValueError
        One is so many periods away that its place in the world is lost in rounding.
    """
    wrapped = points.astype(lengths.dtype)
    row, axis = kernel.wrap_points(wrapped, lengths)
    if row >= 0:
        raise ValueError(
            f"{name}[{row}] = {points[row].tolist()} is so many periods of {lengths[axis]:g} away from "
            "the world that its place there is lost in rounding; bring it nearer"
        )
    return wrapped.astype(np.float64)


def _has_no_place(
    boxes: AnyFloats, row: int, axis: int, trouble: int, lengths: npt.NDArray[Any], name: str
) -> ValueError:
    where = f"{name}[{row}] has min_{_AXES[axis]} = {boxes[row, axis]:g}"
    if trouble == kernel.AT_INFINITY:
        return ValueError(f"{where}, and infinity is no place in a world with a period; give it a finite one")
    return ValueError(
        f"{where}, so many periods of {lengths[axis]:g} away from the world that its place there is lost in "
        "rounding; bring it nearer"
    )
