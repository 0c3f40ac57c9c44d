"""The types of arrays that are named in many places, and what NumPy does too slowly."""

from typing import TypeVar

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]

T = TypeVar("T", bound=np.generic)


def distinct(values: npt.NDArray[T], axis: int | None = None) -> npt.NDArray[T]:
    """The different values, ascending; with ``axis=0`` the different rows.

    Only when it returns more than them, `numpy.unique` does without `numpy.ma`, whose import takes a quarter
    of the time of a program's first world.
    """
    found: npt.NDArray[T] = np.unique(values, axis=axis, return_index=True)[0]
    return found
