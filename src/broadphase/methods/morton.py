"""The steps of a Morton curve (Z-order) through points: along it, what is near is mostly near in space."""

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

_SAMPLE = 4096
_TRIMMED = 0.005
_MOST_BITS = {2: 31, 3: 21}


class Curve(NamedTuple):
    """How coordinates are mapped to the curve."""

    low: npt.NDArray[np.float64]
    per_unit: npt.NDArray[np.float64]
    width: int


def curve_for(found: npt.NDArray[np.floating[Any]], lowest: Any, highest: Any, worlds: int) -> Curve:
    """The finest steps that fit in the region of nearly all points; the others are at the ends."""
    dim = found.shape[1]
    sample = np.sort(found[:: max(len(found) // _SAMPLE, 1)].astype(np.float64), axis=0)
    aside = int(_TRIMMED * len(sample))
    low, high = sample[aside], sample[-1 - aside]
    with np.errstate(over="ignore"):
        margin = 0.25 * high - 0.25 * low
        low, high = np.maximum(low - margin, lowest), np.minimum(high + margin, highest)
        spread = 0.5 * high - 0.5 * low
    width = min(_MOST_BITS[dim], (62 - max(worlds - 1, 0).bit_length()) // dim)
    # Equally many steps on each axis, but none longer on a short axis: neighbours are near on all axes.
    longest = float(spread.max())
    per_unit = 2.0 ** (width - 1) / longest if longest > 1e-300 else 0.0
    return Curve(low, np.full(dim, per_unit), width)
