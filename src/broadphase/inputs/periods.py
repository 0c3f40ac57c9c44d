"""What ``period=`` means: a length for each axis, or lattice vectors, checked."""

import math
from numbers import Real
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from broadphase.inputs.numeric import as_numpy, plain, real
from broadphase.periods import LONGEST, SHORTEST, too_long_or_short

if TYPE_CHECKING:
    from broadphase.periods.lattice import Lattice

Period = npt.NDArray[np.float64]

_AXES = "xyz"
_FLAT = 1e-10  # of the volume that unit vectors along those of a cell span
_PLAIN_NUMBERS = (bool, int, float)
_LENGTHS = frozenset({float, type(None)})


def as_period(period: Any, dim: int) -> Period | None:
    """The period of each axis, inf where it has none; None if no axis has one.

    Parameters
    ----------
    period : sequence of float or None, float, optional
        One length for each axis, None or inf for an axis without a period; or one for all axes.
    dim : int
        How many axes there are.

    Raises
    ------
    TypeError
        A length is not a number.
    ValueError
        A length is not positive, or there are not as many as axes.

    Examples
    --------
    >>> as_period((10, None), 2)
    array([10., inf])
    >>> as_period(None, 2) is None, as_period((None, np.inf), 2) is None
    (True, True)
    """
    period = settled_period(period)
    if period is None:
        return None
    if is_matrix(period):
        raise TypeError(
            "period is a matrix of lattice vectors, which only neighbors, nearest, count_neighbors, "
            f"PointIndex and VerletList take; give a length, None or inf for each of the {dim} axes"
        )
    lengths = [_length(value, axis) for axis, value in enumerate(_one_an_axis(period, dim))]
    return np.array(lengths) if any(map(math.isfinite, lengths)) else None


def settled_period(period: Any) -> Any:
    """The same of plain numbers, so that `as_period` runs no code of the caller's.

    Arrays and tensors without axes count as numbers; what is not a number is left for `as_period` to refuse.

    Examples
    --------
    >>> settled_period((np.array(10.0), None)), settled_period(np.float32(4))
    ((10.0, None), 4.0)
    """
    if is_settled(period):
        return period
    number = _settled_length(period)
    if number is None or isinstance(number, (*_PLAIN_NUMBERS, tuple)):
        return number
    try:
        return tuple(_settled_length(value) for value in period)
    except TypeError:
        return as_numpy(period, "period").tolist() if hasattr(type(period), "__dlpack__") else period


def is_settled(period: Any) -> bool:
    """Whether it is a tuple of floats and None, or of tuples of them: True, which is 1 in a hash, is not."""
    if type(period) is not tuple:
        return False
    for one in period:
        if type(one) is tuple:
            if not _LENGTHS.issuperset(map(type, one)):
                return False
        elif type(one) not in _LENGTHS:
            return False
    return True


def _settled_length(value: Any) -> Any:
    if value is None or type(value) is float:
        return value
    number = plain(value, "period")
    if isinstance(number, np.ndarray):
        number = number.tolist()
    if isinstance(number, (tuple, list)):  # a vector of a matrix
        return tuple(map(_settled_length, number))
    return real(number, "period") if _is_number(number) else number


def _is_number(value: Any) -> bool:
    return type(value) is float or (isinstance(value, Real) and not isinstance(value, (bool, np.bool_)))


_CELLPAR = (
    ".  A cell given as a, b, c and angles is a matrix of lattice vectors here: "
    "ase.geometry.cellpar_to_cell(period) makes one"
)


def _one_an_axis(period: Any, dim: int) -> tuple[Any, ...]:
    if not isinstance(period, tuple) and isinstance(period, Real):
        return (period,) * dim
    try:
        values = tuple(period)
    except TypeError:
        raise TypeError(
            f"period must hold a length, None or inf for each of the {dim} axes; got {period!r}"
        ) from None
    if len(values) != dim:
        raise ValueError(
            f"period must hold a length, None or inf for each of the {dim} axes; got {len(values)}"
            + (_CELLPAR if len(values) == 6 else "")
        )
    return values


def _length(value: Any, axis: int) -> float:
    if value is None:
        return math.inf
    if type(value) is float and value > 0.0:
        return value
    named = f"period[{axis}]"
    if not _is_number(value):
        raise TypeError(f"{named} must be a number, None or inf; got {value!r}")
    length = float(value)
    if not length > 0.0:
        raise ValueError(
            f"{named} = {length:g} is not positive; give the world's length along {_AXES[axis]}, or None "
            "where it does not begin again"
        )
    return length


def as_point_period(period: Any, dim: int) -> "Period | Lattice | None":
    """The period of a world of points: a length for each axis, or a matrix whose rows are lattice vectors.

    Lengths are returned for a matrix too if its lattice has vectors along the axes only.  The period is
    settled.  A row of a matrix may be None, as for a slab: the world has no period along it.

    Raises
    ------
    TypeError, ValueError
        As `as_period`; also if vectors do not span all of space.

    Examples
    --------
    >>> as_point_period(((4, 0), (12, 5)), 2)
    array([4., 5.])
    >>> as_point_period(((4, 0), (2, 5)), 2).vectors
    array([[4., 0.],
           [2., 5.]])
    """
    if not is_matrix(period):
        return as_period(period, dim)
    from broadphase.periods.lattice import as_lattice  # few programs have one

    return as_lattice(tuple(_vectors(period, dim)))


def _vectors(period: tuple[Any, ...], dim: int) -> list[tuple[float, ...] | None]:
    """The vectors of a matrix, checked; None where the world is not periodic."""
    if len(period) != dim or any(
        row is not None and (not isinstance(row, tuple) or len(row) != dim) for row in period
    ):
        raise ValueError(
            f"period must be a matrix of {dim} lattice vectors, one a row, of {dim} numbers each, or None "
            "where the world does not begin again"
        )
    rows: list[tuple[float, ...] | None] = []
    for k, row in enumerate(period):
        if row is None:
            rows.append(None)
            continue
        for axis, value in enumerate(row):
            if not _is_number(value):
                raise TypeError(f"period[{k}][{axis}] must be a number; got {value!r}")
            if not math.isfinite(value):
                raise ValueError(f"period[{k}][{axis}] = {value} must be finite")
        rows.append(tuple(map(float, row)))
    return rows


def as_cell(period: Any, dim: int) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.bool_]]:
    """A vector for each axis as the rows of a matrix, and whether the world is periodic along it.

    The period is settled.  A row of a matrix may be None, for an axis without a period.

    Raises
    ------
    TypeError, ValueError
        As `as_point_period`.

    Examples
    --------
    >>> as_cell(((3.0, 0.0), None), 2)
    (array([[3., 0.],
           [0., 1.]]), array([ True, False]))
    """
    if not is_matrix(period):
        lengths = as_period(period, dim)
        lengths = np.full(dim, np.inf) if lengths is None else lengths
        periodic = np.isfinite(lengths)
        if not ((lengths > SHORTEST) & (lengths < LONGEST))[periodic].all():
            raise ValueError(too_long_or_short(period))
        return np.diag(np.where(periodic, lengths, 1.0)), periodic
    from broadphase.periods.lattice import completed  # few programs have lattice vectors

    rows = _vectors(period, dim)
    periodic = np.array([row is not None for row in rows])
    cell = completed(np.array([(0.0,) * dim if row is None else row for row in rows]), periodic)
    sizes = np.hypot.reduce(cell, axis=1)
    given = sizes[periodic]
    if not (given < LONGEST).all() or not ((given > SHORTEST) | (given == 0.0)).all():
        raise ValueError(too_long_or_short(period))
    if not sizes.all() or not abs(np.linalg.det(cell / sizes[:, None])) > _FLAT:
        raise ValueError(f"the lattice vectors of period = {period} do not span all of space")
    return cell, periodic


def is_matrix(period: Any) -> bool:
    """Whether a settled period holds lattice vectors."""
    return isinstance(period, tuple) and tuple in map(type, period)
