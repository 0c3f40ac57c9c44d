"""What ``"auto"`` picks, and why."""

from dataclasses import dataclass

from broadphase.boxes import BoxArray

# Up to here comparing all pairs is over before the boxes could be binned: see docs/how-it-is-fast.md.
FEW_BOXES = 200
_AXES = "xyz"
_SAMPLE = 2_000


def choose(boxes: BoxArray) -> str:
    """The name of the fastest method for these boxes."""
    return "brute_force" if len(boxes) <= FEW_BOXES else "strips"


@dataclass(frozen=True)
class Explanation:
    """What `broadphase.explain` saw and concluded; print it to read it."""

    boxes: int
    dim: int
    dtype: str
    extent: tuple[float, float, float]
    """Smallest, median and largest longest side of a box; inf where a box has no end."""
    spread: tuple[float, ...]
    """Width of the region that the finite boxes occupy, on each axis."""
    pairs_per_box: float
    """Estimate of the overlapping pairs, from a sample; each pair counts once."""
    crowding: float
    """1 where the boxes are spread evenly; how many times more neighbours a box has than then."""
    method: str
    """What ``"auto"`` picks."""
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
