"""SIMD vectors of `LANES` numbers.

Inside a kernel, `load` returns a vector, ``+``, ``-``, ``*``, ``/``, ``|``, ``&``, ``<`` and ``<=`` work lane
by lane, and a comparison returns a mask of lanes.  LLVM turns each of them into one instruction (AVX-512) or
a few (AVX2, NEON).  As plain Python the same source runs on NumPy slices: every function below is plain
Python, and in the compiler `twin` replaces it with its form in `broadphase.kernels.machine.intrinsics`.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from broadphase.kernels.machine.mode import COMPILING, lanes, level

LANES = lanes(level())
COMPRESSES = level() in ("x86-64-v4", "x86-64-v3")
"""Whether the lanes of a mask can be moved together in few instructions, which `put_pairs` needs."""


def twin(plain: Callable[..., Any]) -> Any:
    """In the compiler, replace a plain function with its compiled form."""
    if not COMPILING:
        return plain
    from broadphase.kernels.machine import intrinsics

    return getattr(intrinsics, plain.__name__)


# --- from memory to lanes -----------------------------------------------------------------------------


@twin
def load(rows, row, column):
    """``rows[row, column : column + LANES]`` of a C-contiguous 2-D array."""
    return rows[row, column : column + LANES]


@twin
def splat(value):
    """The same number in every lane."""
    return np.full(LANES, value)


# --- arithmetic and comparisons -----------------------------------------------------------------------


@twin
def larger(vector, other):
    """The larger number in each lane; where one of them is NaN, that of ``other``."""
    return np.where(vector > other, vector, other)


@twin
def smaller(vector, other):
    """The smaller number in each lane; where one of them is NaN, that of ``other``."""
    return np.where(vector < other, vector, other)


@twin
def root(vector):
    """The square roots, rounded as IEEE says."""
    return np.sqrt(vector)


@twin
def absolute(vector):
    """The floats without their signs."""
    return np.abs(vector)


@twin
def signs(vector):
    """The bits of floats as integers: negative where the float's sign bit is set."""
    return vector.view(np.int32 if vector.dtype == np.float32 else np.int64)


@twin
def negative(vector):
    """Mask of the lanes whose integer is below zero."""
    return vector < 0


@twin
def nonzero(vector):
    """Mask of the lanes whose integer is not zero."""
    return vector != 0


@twin
def without(mask, other):
    """The lanes of ``mask`` that are not in ``other``."""
    return mask & ~other


@twin
def select(mask, vector, other):
    """The lanes of ``vector`` that are in the mask, and the others of ``other``."""
    return np.where(mask, vector, other)


# --- masks and bits -----------------------------------------------------------------------------------


@twin
def bits(mask):
    """The mask as an integer, lane 0 in its lowest bit."""
    return int(np.packbits(mask, bitorder="little").view(np.uint16 if LANES == 16 else np.uint8)[0])


@twin
def mask_of(lanes):
    """The mask whose lanes are the set bits of an integer."""
    return (lanes >> np.arange(LANES)) & 1 != 0


@twin
def lowest_lane(lanes):
    """Index of the lowest set bit of an integer that is not zero."""
    return (int(lanes) & -int(lanes)).bit_length() - 1


@twin
def count_lanes(lanes):
    """How many bits of an integer are set, the sign's too."""
    return (int(lanes) & 0xFFFF_FFFF_FFFF_FFFF).bit_count()


# --- out of the lanes ---------------------------------------------------------------------------------


@twin
def smallest(vector):
    """The least of the lanes, which are float32, not negative and not NaN."""
    return vector.min()


@twin
def put_pairs(out, first_row, first, second, mask):
    """Write the pairs ``first, second`` of the lanes in ``mask`` from ``first_row`` on; return the count.

    In each row the smaller id comes first.  All `LANES` rows from ``first_row`` are overwritten, so ``out``
    needs that much space; the contents of rows past the returned count are undefined.
    """
    low, high = np.minimum(first, second)[mask], np.maximum(first, second)[mask]
    out[first_row : first_row + len(low), 0] = low
    out[first_row : first_row + len(low), 1] = high
    return len(low)


@twin
def store(out, row, column, vector):
    """Write all lanes of a vector to ``out[row, column : column + LANES]``."""
    out[row, column : column + LANES] = vector


@twin
def put_lanes(out, row, column, vector, mask):
    """Write the int32 lanes in ``mask`` to ``out[row, column:]`` without gaps; return their number.

    As with `put_pairs`, `LANES` numbers from ``column`` are overwritten.
    """
    chosen = vector[mask]
    out[row, column : column + len(chosen)] = chosen
    return len(chosen)


@twin
def put_floats(out, row, column, vector, mask):
    """The same with floats; of float64 up to half as many numbers more are overwritten."""
    chosen = vector[mask]
    out[row, column : column + len(chosen)] = chosen
    return len(chosen)
