"""What ``period=`` means: a length for each axis, or lattice vectors, checked."""

import math
from functools import lru_cache
from itertools import product
from numbers import Real
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from broadphase.inputs.numeric import as_numpy, plain, real

Period = npt.NDArray[np.float64]

_AXES = "xyz"
_PLAIN_NUMBERS = (bool, int, float)
_SHORTEST, _LONGEST = 1e-290, 1e290  # of lattice vectors
# A point has this many binary digits within the cell; the rest of the 53 is for images around it.
_DIGITS = 50
# A turn takes some 50 us if nothing is hit: this many take half a second.
MOST_RAY_TURNS = 10_000


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
    return _as_lengths(settled_period(period), dim)


def _as_lengths(period: Any, dim: int) -> Period | None:
    """What `as_period` returns, of a settled period."""
    if period is None:
        return None
    if is_matrix(period):
        raise TypeError(
            "period is a matrix of lattice vectors, which only neighbors, nearest, count_neighbors and "
            f"PointIndex take; give a length, None or inf for each of the {dim} axes"
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
    number = _settled_length(period)
    if number is None or isinstance(number, (*_PLAIN_NUMBERS, tuple)):
        return number
    try:
        return tuple(_settled_length(value) for value in period)
    except TypeError:
        return as_numpy(period, "period").tolist() if hasattr(type(period), "__dlpack__") else period


def _settled_length(value: Any) -> Any:
    if value is None or type(value) is float:
        return value
    number = plain(value, "period")
    if isinstance(number, (tuple, list)) or (isinstance(number, np.ndarray) and number.ndim == 1):
        return tuple(_settled_length(one) for one in number)  # a vector of a matrix
    return real(number, "period") if isinstance(number, Real) and not isinstance(number, bool) else number


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
        )
    return values


def _length(value: Any, axis: int) -> float:
    if value is None:
        return math.inf
    if type(value) is float and value > 0.0:
        return value
    named = f"period[{axis}]"
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, Real):
        raise TypeError(f"{named} must be a number, None or inf; got {value!r}")
    length = float(value)
    if not length > 0.0:
        raise ValueError(
            f"{named} = {length:g} is not positive; give the world's length along {_AXES[axis]}, or None "
            "where it does not begin again"
        )
    return length


class Lattice(NamedTuple):
    """A periodic world with lattice vectors, which need not be at right angles."""

    vectors: Period
    """One a row, reduced, in multiples of the units."""
    inverse: Period
    units: Period
    """One an axis: of what coordinates are multiples."""
    volume: float
    max_distance: float
    """No point is farther than this from the nearest image of another."""


def as_point_period(period: Any, dim: int) -> Period | Lattice | None:
    """The period of a world of points: a length for each axis, or a matrix whose rows are lattice vectors.

    Lengths are returned for a matrix too if its lattice has vectors along all axes.

    Raises
    ------
    TypeError, ValueError
        As `as_period`; also if vectors do not span all of space.

    Examples
    --------
    >>> as_point_period([[4, 0], [12, 5]], 2)
    array([4., 5.])
    >>> as_point_period([[4, 0], [2, 5]], 2).vectors
    array([[4., 0.],
           [2., 5.]])
    """
    period = settled_period(period)
    if not is_matrix(period):
        return _as_lengths(period, dim)
    if len(period) != dim or any(not isinstance(row, tuple) or len(row) != dim for row in period):
        raise ValueError(
            f"period must be a matrix of {dim} lattice vectors, one a row, of {dim} numbers each"
        )
    rows = []
    for k, row in enumerate(period):
        for axis, value in enumerate(row):
            if isinstance(value, (bool, np.bool_)) or not isinstance(value, Real):
                raise TypeError(f"period[{k}][{axis}] must be a number; got {value!r}")
            if not math.isfinite(value):
                raise ValueError(f"period[{k}][{axis}] = {value} must be finite")
        rows.append(tuple(map(float, row)))
    return _as_lattice(tuple(rows))


def is_matrix(period: Any) -> bool:
    """Whether a settled period holds lattice vectors."""
    return isinstance(period, tuple) and any(isinstance(row, tuple) for row in period)


@lru_cache(16)
def _as_lattice(rows: tuple[tuple[float, ...], ...]) -> Period | Lattice:
    # As integers, so that very skewed vectors are reduced without rounding.
    ratios = [[value.as_integer_ratio() for value in row] for row in rows]
    unit = max(below for row in ratios for _, below in row)
    whole_rows = sorted(([above * (unit // below) for above, below in row] for row in ratios), key=_square)
    if not _spans(whole_rows):
        raise ValueError(f"the lattice vectors of period = {rows} do not span all of space")
    try:
        vectors = np.array([[value / unit for value in row] for row in _reduced(whole_rows)])
    except OverflowError:  # reduced, a sum of vectors may be longer than each
        vectors = np.full((len(rows), len(rows)), np.inf)
    with np.errstate(over="ignore"):
        lengths: Period = np.abs(vectors).sum(axis=0)
    if not (lengths > _SHORTEST).all() or not (lengths < _LONGEST).all():
        raise ValueError(
            f"the lattice vectors of period = {rows} are too long or too short; give lengths between "
            f"{_SHORTEST:g} and {_LONGEST:g}"
        )
    if np.count_nonzero(vectors) == len(vectors):
        return lengths
    units = 2.0 ** (np.frexp(lengths)[1] - _DIGITS)
    vectors = np.rint(vectors / units) * units
    heights = np.abs(np.linalg.qr((vectors / lengths.max()).T)[1].diagonal()) * lengths.max()
    with np.errstate(over="ignore"):
        volume = float(heights.prod())
    return Lattice(
        vectors,
        np.linalg.inv(vectors / lengths.max()) / lengths.max(),
        units,
        volume,
        (0.5 + 1e-6) * math.hypot(*heights.tolist()),
    )


_Vector = list[int]


def _square(vector: _Vector) -> int:
    return _product(vector, vector)


def _product(a: _Vector, b: _Vector) -> int:
    return sum(x * y for x, y in zip(a, b, strict=True))


def _spans(rows: list[_Vector]) -> bool:
    """Whether the determinant is not zero."""
    a, b = rows[:2]
    crossed = [a[k - 2] * b[k - 1] - a[k - 1] * b[k - 2] for k in range(3)] if len(a) == 3 else []
    return _product(crossed, rows[2]) != 0 if crossed else a[0] * b[1] != a[1] * b[0]


def _reduced(vectors: list[_Vector]) -> list[_Vector]:
    """The shortest vectors of the same lattice, shortest first; they come sorted by length."""
    if len(vectors) == 1:
        return vectors
    while True:
        first = _reduced(vectors[:-1])
        last = _brought_near(vectors[-1], first)
        if _square(last) >= _square(first[-1]):
            return [*first, last]
        vectors = sorted([*first, last], key=_square)


def _brought_near(vector: _Vector, others: list[_Vector]) -> _Vector:
    """The shortest of all sums of a vector and multiples of others, of which there are one or two."""
    a = others[0]
    if len(others) == 1:
        below, above = _square(a), [_product(a, vector)]
    else:
        b = others[1]
        aa, ab, bb, av, bv = _square(a), _product(a, b), _square(b), _product(a, vector), _product(b, vector)
        below, above = aa * bb - ab * ab, [av * bb - bv * ab, bv * aa - av * ab]
    nearest = [(2 * number + below) // (2 * below) for number in above]
    sums = []
    for more in product((-1, 0, 1), repeat=len(others)):
        moved = vector
        for other, number, one in zip(others, nearest, more, strict=True):
            moved = [x - (number + one) * y for x, y in zip(moved, other, strict=True)]
        sums.append(moved)
    return min([vector, *sums], key=_square)


def check_ray_lengths(max_distance: npt.NDArray[np.float64], once: npt.NDArray[np.float64]) -> None:
    """Raise ``ValueError`` where a ray that hits nothing would go around a period for ever.

    ``max_distance`` are the greatest distances, ``once`` how far rays go until they are around once.
    """
    with np.errstate(over="ignore"):
        often = np.flatnonzero((max_distance > MOST_RAY_TURNS * once) & np.isfinite(once))
    if len(often):
        at = int(often[0])
        raise ValueError(
            f"max_distance = {max_distance[at]:g} for ray {at}, which goes along an axis with a period: "
            f"where it hits nothing, it would go around more than {MOST_RAY_TURNS} times; give at most "
            f"{MOST_RAY_TURNS * once[at]:g}"
        )
