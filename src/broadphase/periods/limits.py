"""How long the lengths and lattice vectors of a period may be."""

from typing import Any

SHORTEST, LONGEST = 1e-290, 1e290


def too_long_or_short(period: Any) -> str:
    """What is said of lengths and lattice vectors beyond what is computed with."""
    return (
        f"the lengths or lattice vectors of period = {period} are too long or too short; give lengths "
        f"between {SHORTEST:g} and {LONGEST:g}"
    )
