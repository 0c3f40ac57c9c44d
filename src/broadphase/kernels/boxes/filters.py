"""Which pairs may count at all, decided before or after the boxes are compared.

`PairFilter` is what every kernel takes.  Its arrays have one entry a box, or none where the caller did
not ask for that rule, so that an unfiltered search reads nothing.
"""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from broadphase.kernels.machine.jit import inline

# Two boxes that share a class bit are never paired.
STATIC = np.uint8(1)
IN_A = np.uint8(2)
IN_B = np.uint8(4)


class PairFilter(NamedTuple):
    """Rules that forbid a pair whatever its boxes do."""

    classes: npt.NDArray[np.uint8]
    categories: npt.NDArray[np.uint32]
    masks: npt.NDArray[np.uint32]


_NO_FILTER = PairFilter(np.empty(0, np.uint8), np.empty(0, np.uint32), np.empty(0, np.uint32))


def no_filter() -> PairFilter:
    """Every pair may count."""
    return _NO_FILTER


def rules_of(filter: PairFilter, rows: npt.NDArray[np.int32]) -> PairFilter:  # noqa: A002
    """The rules of some of the boxes."""
    classes, categories, masks = filter
    return PairFilter(
        classes[rows] if len(classes) else classes,
        categories[rows] if len(categories) else categories,
        masks[rows] if len(masks) else masks,
    )


@inline
def may_pair(filter, i, j):  # noqa: A002
    """Whether no rule forbids the pair of boxes ``i`` and ``j``."""
    if filter.classes.shape[0] > 0 and filter.classes[i] & filter.classes[j] != 0:
        return False
    if filter.categories.shape[0] > 0:
        return filter.categories[i] & filter.masks[j] != 0 and filter.categories[j] & filter.masks[i] != 0
    return True
