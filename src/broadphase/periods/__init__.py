"""What a period means: where things are wrapped to, and which images of them lie across its edges (the seam).

There is one algorithm.  What lies in the world is kept once, at its place ``0 <= x < period``; a question is
asked once for each image of it that may meet something, moved by whole periods (`images`, `rays`).  A plain
world has no period, and one image.  SciPy's kd-tree and freud's boxes treat periods in the same way: as a
policy inside one algorithm.  Only for all pairs at once boxes have images, their `ghosts`.  `lattice` is for
points in worlds whose axes are not at right angles.
"""

from typing import Any

SHORTEST, LONGEST = 1e-290, 1e290


def too_long_or_short(period: Any) -> str:
    """What is said of lengths and lattice vectors beyond what is computed with."""
    return (
        f"the lengths or lattice vectors of period = {period} are too long or too short; give lengths "
        f"between {SHORTEST:g} and {LONGEST:g}"
    )
