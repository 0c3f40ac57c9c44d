"""The types of arrays that are named in many places, what NumPy does too slowly, and how results print."""

from typing import Any, TypeVar

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


def by_matrix(rows: npt.NDArray[Any], matrix: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Many short rows times a small matrix, without the threads of BLAS.

    Those wait for each other: on a busy machine they made a search of 100,000 points three times as long.
    """
    product: npt.NDArray[Any] = np.einsum("ij,jk->ik", rows, matrix)
    return product


_SHOWN = 8


Result = TypeVar("Result", bound=type)


def briefly(kind: Result) -> Result:
    """Give a named tuple of arrays a ``repr`` of a line or two, however long they are.

    Examples
    --------
    >>> from typing import NamedTuple
    >>> @briefly
    ... class Found(NamedTuple):
    ...     ids: Integers
    ...     places: Floats
    >>> Found(np.array([3, 5]), np.zeros((300, 2)))
    Found(ids=array([3, 5]), places=<float64 array of shape (300, 2)>)
    """
    kind.__repr__ = brief  # type: ignore[assignment]
    return kind


def brief(result: Any) -> str:
    """The ``repr`` of such a tuple, and of what else it holds."""
    fields = (*zip(result._fields, result, strict=True), *getattr(result, "__dict__", {}).items())
    return f"{type(result).__name__}({', '.join(f'{name}={_shown(value)}' for name, value in fields)})"


def _shown(value: Any) -> str:
    if isinstance(value, np.ndarray) and value.size > _SHOWN:
        return f"<{value.dtype} array of shape {value.shape}>"
    if hasattr(value, "_fields") and not any(np.size(part) for part in value):
        return f"<empty {type(value).__name__}>"
    return " ".join(map(str.strip, repr(value).splitlines()))
