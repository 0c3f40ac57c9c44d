"""Which method ``"auto"`` picks, and why."""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from broadphase.inputs.boxes import BoxArray, sides_of
from broadphase.inputs.search import join_filter
from broadphase.methods import finder
from broadphase.methods.task import Found, Task
from broadphase.runtime.thresholds import FEW_BOXES

_SAMPLE = 1_000

# Cost estimates of `explain`, measured by `benchmarks/methods.py --threads 1` on 100,000 uniform boxes in
# float32, with AVX-512.  They are rough: they distinguish methods that differ by a factor of ten.
NANOSECONDS_PER_TEST = {"brute_force": 0.2, "sort_and_sweep": 0.2}
NANOSECONDS_PER_BOX = {  # 2-D, 3-D
    "sort_and_sweep": (60.0, 70.0),
    "uniform_grid": (270.0, 420.0),
    "spatial_hash": (360.0, 550.0),
    "tree": (140.0, 220.0),
    "strips": (40.0, 75.0),
}
NANOSECONDS_PER_PAIR = 5.0


def choose(boxes: BoxArray) -> str:
    """The name of the fastest method for these boxes."""
    return "brute_force" if len(boxes) <= FEW_BOXES else "strips"


def find(task: Task, method: str = "auto") -> Found:
    """All pairs of a task by a method, ``"auto"`` being the fastest."""
    if len(task.boxes) < 2:
        return Found([], 0, 0)
    return finder(choose(task.boxes) if method == "auto" else method)(task)


class Explanation(NamedTuple):
    """What `broadphase.explain` measured and concluded; print it to read it."""

    boxes: int
    dim: int
    dtype: str
    extent: tuple[float, float, float]
    """Smallest, median and largest longest side of a box; inf if a box is infinite."""
    spread: tuple[float, ...]
    """Width of the region that the finite boxes occupy, on each axis."""
    pairs_per_box: float
    """Estimate of the overlapping pairs, from a sample; each pair counts once."""
    crowding: float
    """Neighbours of a box, as a multiple of those in an even spread of the same boxes."""
    method: str
    """The method that ``"auto"`` picks."""
    cell_size: float
    """The cell size that grid and hash would use."""
    reason: str
    estimates: dict[str, float]
    """Milliseconds that each method would take, roughly; one thread."""

    def __str__(self) -> str:
        low, middle, high = self.extent
        spread = " x ".join(f"{width:.3g}" for width in self.spread)
        lines = [
            f"{self.boxes:,} boxes in {self.dim}-D, {self.dtype}, spread over {spread}",
            f"longest sides: smallest {low:.3g}, median {middle:.3g}, largest {high:.3g}",
            f"about {self.pairs_per_box:.2g} pairs per box, "
            f"{self.crowding:.1f} times as many as if spread evenly",
            f"auto picks {self.method}: {self.reason}",
            f"cell size for grid and hash: {self.cell_size:.3g}",
            "estimated milliseconds:",
        ]
        for name, milliseconds in sorted(self.estimates.items(), key=lambda item: item[1]):
            lines.append(f"  {name:<15}{milliseconds:>12,.3f}")
        return "\n".join(lines)


def explain(boxes: BoxArray) -> Explanation:
    """Measure more than `choose` does, and report it."""
    from broadphase.methods.cells import suggest_cell_size  # `choose` alone must stay light

    n, dim = len(boxes), boxes.shape[1] // 2
    sides, spread = sides_of(boxes), _spread(boxes)
    reached = _share_reached(boxes)
    pairs_per_box = _pairs_per_box(boxes)
    evenly = max(0.5 * n * float(np.prod(reached)), 1e-9)
    crowding = max(pairs_per_box / evenly, 1.0) if n > 1 else 1.0
    method = choose(boxes)
    reason = (
        f"with up to {FEW_BOXES} boxes, comparing all pairs is faster than sorting them first"
        if method == "brute_force"
        else "it is the fastest for many boxes, whatever their sizes and places"
    )
    longest = np.sort(sides.max(axis=1)) if n else np.zeros(1)
    return Explanation(
        boxes=n,
        dim=dim,
        dtype=str(boxes.dtype),
        extent=(float(longest[0]), float(longest[len(longest) // 2]), float(longest[-1])),
        spread=tuple(spread.tolist()),
        pairs_per_box=pairs_per_box,
        crowding=crowding,
        method=method,
        cell_size=suggest_cell_size(boxes),
        reason=reason,
        estimates=_estimates(n, dim, pairs_per_box, float(reached.min()) if n else 0.0),
    )


def _spread(boxes: BoxArray) -> npt.NDArray[np.float64]:
    """Width of the region that the finite edges occupy, on each axis."""
    dim = boxes.shape[1] // 2
    both = np.concatenate((boxes[:, :dim], boxes[:, dim:])).astype(np.float64)
    finite = np.isfinite(both)
    if not len(boxes):
        return np.zeros(dim)
    low = np.where(finite, both, np.inf).min(axis=0)
    high = np.where(finite, both, -np.inf).max(axis=0)
    with np.errstate(over="ignore"):
        return np.where(high >= low, high - low, 0.0)


def _share_reached(boxes: BoxArray) -> npt.NDArray[np.float64]:
    """On each axis, the share of the other boxes that a box overlaps, from a sorted sample."""
    dim = boxes.shape[1] // 2
    shares = np.zeros(dim)
    rows = boxes[:: max(1, len(boxes) // _SAMPLE)]
    for axis in range(dim):
        lows, highs = np.sort(rows[:, axis]), np.sort(rows[:, dim + axis])
        if len(rows) > 1:
            # Boxes that begin before this one ends, minus those that end before it begins, minus itself.
            begun = np.searchsorted(lows, rows[:, dim + axis], "right")
            ended = np.searchsorted(highs, rows[:, axis], "left")
            shares[axis] = (begun - ended - 1).mean() / (len(rows) - 1)
    return shares


def _pairs_per_box(boxes: BoxArray) -> float:
    """Pairs divided by boxes, each pair once: a sample of the boxes is joined with all of them."""
    n = len(boxes)
    if n < 2:
        return 0.0
    rows = boxes[:: max(1, n // _SAMPLE)]
    both = np.concatenate((rows, boxes))
    task = Task(both, True, join_filter(len(rows), n), store=False)
    return (find(task).pairs / len(rows) - 1.0) / 2.0


def _estimates(n: int, dim: int, pairs_per_box: float, reached: float) -> dict[str, float]:
    """Milliseconds on one thread, from measured costs a box, a comparison and a pair."""
    compared = {
        "brute_force": 0.5 * n * n,
        "sort_and_sweep": 0.5 * n * n * reached,
    }
    nanoseconds = {name: NANOSECONDS_PER_TEST[name] * tests for name, tests in compared.items()}
    for name, (flat, deep) in NANOSECONDS_PER_BOX.items():
        nanoseconds[name] = nanoseconds.get(name, 0.0) + n * (flat if dim == 2 else deep)
    return {
        name: 1e-6 * (total + NANOSECONDS_PER_PAIR * n * pairs_per_box) + 0.02
        for name, total in nanoseconds.items()
    }
