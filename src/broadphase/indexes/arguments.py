"""The arguments of an index: checked once here, before anything changes.

One box, one point or one ray must be cheap to check: a game makes thousands of queries a frame.  A tuple or
list of numbers goes through `struct`, which rejects everything but real numbers and rounds to float32 if the
index holds float32, in a quarter of the time that a small NumPy array takes.
"""

import math
import struct
from collections.abc import Sequence
from functools import cache
from operator import le
from typing import Any

import numpy as np
import numpy.typing as npt

from broadphase.indexes.storage import EVERY_BIT, IdArray
from broadphase.inputs.arrays import (
    BOXES,
    NUMBERS,
    POINTS,
    WAYS,
    Wanted,
    as_float_array,
    as_plain_array,
    rounded,
    settled,
)
from broadphase.inputs.boxes import BoxArray, check_sound, unsound_box_error
from broadphase.inputs.environments import BOX_WIDTHS
from broadphase.inputs.numeric import whole
from broadphase.kernels.boxes.checks import first_bad_point, first_unsound_row, join_rays
from broadphase.runtime.memory import result_array

FloatTuple = tuple[float, ...]
Rows = npt.NDArray[np.float64]

Given = tuple[Any, ...]
"""What a caller wrote, as a tuple whose items are not checked yet."""

BoxRules = tuple[int, int]
"""Category and mask of a query, as kernels take them."""
NO_RULE = -1
"""The ``category`` or ``mask`` for kernels if the caller did not set one."""
_LARGEST = float(np.finfo(np.float64).max)
NO_RULES: BoxRules = (NO_RULE, NO_RULE)


def as_given(values: Any) -> Given:
    """One tuple, list or row of anything, for a kernel that checks it; () of other types."""
    kind = type(values)
    if kind is tuple:
        given: Given = values
        return given
    if kind is list:
        return tuple(values)
    if kind is np.ndarray and values.ndim == 1:
        return tuple(values.tolist())  # the numbers of an array cost four times as much as Python's
    return ()


class Reader:
    """Reads what callers write, for an index of one dimension and dtype."""

    ray_names: tuple[str, str] = "origin", "direction"
    """What errors call the two; `broadphase.raycast` has others."""

    def __init__(self, dim: int, dtype: "np.dtype[Any]") -> None:
        self.dim = dim
        self.dtype = dtype
        letter = "f" if dtype == np.float32 else "d"
        made = {width: struct.Struct(f"{width}{letter}") for width in (dim, 2 * dim)}
        self._packers = {width: (packer.pack, packer.unpack) for width, packer in made.items()}

    def __reduce__(self) -> tuple[Any, ...]:
        return Reader, (self.dim, self.dtype)  # what `struct` makes cannot be pickled

    def box(self, box: Any) -> FloatTuple:
        """One sound box as floats that the dtype holds exactly."""
        values = self.floats(box, 2 * self.dim)
        if values is None or not all(map(le, values, values[self.dim :])):
            rows = self.box_or_boxes(box)
            if rows.ndim == 2:
                raise ValueError(
                    f"box must be one box of shape ({2 * self.dim},); got shape {rows.shape}; "
                    "insert_many() and move_many() take several"
                )
            values = tuple(rows.tolist())
        return values

    def box_or_boxes(self, box: Any) -> Rows:
        """One box, or a batch of shape ``(m, 2 * dim)``."""
        array = self.array(box, 2 * self.dim, "box", BOXES)
        rows = array[None] if array.ndim == 1 else array
        row = first_unsound_row(rows)
        if row >= 0:
            raise unsound_box_error(rows[row], "box" if array.ndim == 1 else f"box[{row}]")
        return array.astype(np.float64, copy=False)

    def plain_boxes(self, given: Any, points: bool = False) -> Rows | None:
        """A batch of sound boxes that need no more than a copy, or of points as boxes.

        None if `box_or_boxes` or `point_or_points` has to read them.
        """
        rows = self.plain_rows(given, self.dim if points else 2 * self.dim)
        if rows is None:
            return None
        rows = np.concatenate((rows, rows), axis=1) if points else rows
        return rows if first_unsound_row(rows) < 0 else None

    def plain_points(self, given: Any) -> Rows | None:
        """The same of finite points, as points."""
        rows = self.plain_rows(given, self.dim)
        return None if rows is None or first_bad_point(rows, True) >= 0 else rows

    def plain_rows(self, given: Any, width: int) -> Rows | None:
        """A copy of rows that are still to be checked; None where it takes more than that to read them."""
        if type(given) is not np.ndarray or given.dtype != np.float64 or self.dtype != np.float64:
            return None
        return np.array(given, order="C") if given.ndim == 2 and given.shape[1] == width else None

    def boxes(self, boxes: Any) -> BoxArray:
        """Any number of sound boxes in the dtype of the index."""
        array = self.rows(boxes)
        check_sound(array, "boxes")
        return array

    def rows(self, boxes: Any) -> BoxArray:
        """Any number of boxes in the dtype of the index, which are still to be checked."""
        array = self.array(boxes, 2 * self.dim, "boxes", BOXES)
        if array.ndim == 1:
            raise ValueError(
                f"boxes must have shape (n, {2 * self.dim}), rows of [min..., max...]; "
                f"got shape {array.shape}; calls without _many take one box"
            )
        return array

    def point_or_points(
        self, point: Any, name: str, *, finite: bool = False, wanted: Wanted = POINTS
    ) -> Rows:
        """One point, or a batch of shape ``(m, dim)``; no NaN, and no infinity where ``finite``."""
        array = self.array(point, self.dim, name, wanted)
        rows = array[None] if array.ndim == 1 else array
        row = int(first_bad_point(rows, finite))
        if row >= 0:
            said = "the coordinates must be finite" if finite else "a coordinate must not be nan"
            raise ValueError(f"{_row_named(array, name, row)}: {said}")
        return array.astype(np.float64, copy=False)

    def settled(self, values: Any, width: int, name: str, wanted: Wanted = POINTS) -> Any:
        """One row or a batch that nothing else writes to, as an array."""
        numbers = self.floats(values, width)
        return settled(values, name, wanted) if numbers is None else np.array(numbers, self.dtype)

    def settled_ray(self, origin: Any, direction: Any) -> tuple[Any, Any]:
        """Origins and directions, settled."""
        first, second = self.ray_names
        wide = _wide_reader(self.dim)
        return self.settled(origin, self.dim, first), wide.settled(direction, self.dim, second, WAYS)

    def rays(self, origin: Any, direction: Any, max_distance: Any, spare: bool) -> Rows:
        """Origin, direction and greatest distance side by side: of one ray, or of a batch.

        Directions are float64 whatever the index holds.  ``spare``: with room for the numbers of worlds, see
        `broadphase.indexes.environments`.
        """
        far, (first, second) = distances(max_distance, "max_distance"), self.ray_names
        origins, directions = self.shaped(origin, first, POINTS), self.shaped(direction, second, WAYS)
        if origins.itemsize > self.dtype.itemsize:
            origins = rounded(origins, self.dtype)
        directions = directions.astype(np.float64, copy=False)
        parts, single = lined_up((origins, first, 1), (directions, second, 1), (far, "max_distance", 0))
        rays = result_array((len(parts[0]), 2 * self.dim + 1 + spare), np.float64)
        if not join_rays(*parts, rays):
            origins, directions = origins.copy(), directions.copy()
            self.point_or_points(origins, first, finite=True)
            _wide_reader(self.dim).point_or_points(directions, second, finite=True, wanted=WAYS)
            moves = np.atleast_1d(directions.any(axis=-1))
            if not moves.all():
                said = _row_named(directions, second, int(moves.argmin()))
                raise ValueError(f"{said} points nowhere; one component must not be zero")
            return self.rays(origins, directions, far, spare)  # they have changed in the meantime
        return rays[0] if single else rays

    def floats(self, values: Any, width: int) -> FloatTuple | None:
        """The fast path: a tuple, list or row of ``width`` numbers.  ``None``: read it as an array."""
        kind = type(values)
        if kind is np.ndarray and values.ndim == 1:
            values = values.tolist()  # the numbers of an array cost four times as much as Python's
        elif kind is not tuple and kind is not list:
            return None
        pack, unpack = self._packers[width]
        try:
            return unpack(pack(*values))
        except (struct.error, OverflowError, TypeError):
            return None

    def array(self, values: Any, width: int, name: str, wanted: Wanted) -> BoxArray:
        """``(width,)`` or ``(m, width)`` in the dtype of the index; what overflows float32 is infinite."""
        return rounded(self.shaped(values, name, wanted, width), self.dtype)

    def shaped(self, values: Any, name: str, wanted: Wanted, width: int = 0) -> BoxArray:
        """The same as floats of any width, by default places."""
        array, width = as_float_array(values, name, wanted), width or self.dim
        if array.ndim == 1 and array.size == 0:
            array = array.reshape(0, width)
        if array.ndim not in (1, 2) or array.shape[-1] != width:
            raise ValueError(
                f"{name} must have shape ({width},) or (n, {width}) in this {self.dim}-D index; "
                f"got shape {array.shape}"
            )
        return array


@cache
def _wide_reader(dim: int) -> Reader:
    return Reader(dim, np.dtype(np.float64))


def first_boxes(boxes: Any) -> BoxArray:
    """The boxes that an index is made of, settled, of which it takes its dimension; still to be checked."""
    array = settled(boxes, "boxes", BOXES)
    if array.shape != (0,) and (array.ndim not in (2, 3) or array.shape[-1] not in BOX_WIDTHS):
        raise ValueError(
            "boxes must have shape (n, 4) in 2-D or (n, 6) in 3-D, rows of [min..., max...]; "
            f"got shape {array.shape}.  The options of an index, such as cell_size=, are given by name"
        )
    return array  # type: ignore[no-any-return]


def distances(value: Any, name: str) -> Rows:
    """A radius or a length, or one for each query: not negative, not NaN, infinity is legal."""
    if (type(value) is float or type(value) is int) and (0 <= value <= _LARGEST or value == math.inf):
        return np.array(float(value))
    array = as_float_array(value, name).astype(np.float64, copy=False)
    if array.ndim > 1:
        raise ValueError(f"{name} must be one number or one for each query; got shape {array.shape}")
    sound = array >= 0.0
    if not sound.all():
        row = sound.argmin()
        said = f"{name} = {value}" if array.ndim == 0 else f"{name}[{row}] = {array[row]}"
        raise ValueError(f"{said} must not be negative or nan")
    return array


def _row_named(array: npt.NDArray[Any], name: str, row: int) -> str:
    """A row of a batch, or the only one, for messages."""
    return f"{name}[{row}] = {array[row].tolist()}" if array.ndim > 1 else f"{name} = {tuple(array.tolist())}"


def bit_set(value: Any, name: str) -> int:
    """A set of 32 bits as an int."""
    if type(value) is int and 0 <= value <= EVERY_BIT:
        return value
    number = whole(value, name)
    if not 0 <= number <= EVERY_BIT:
        raise ValueError(f"{name} = {number} does not fit into 32 bits")
    return number


Named = tuple[Any, str, int]
"""Values, what the argument is called, and how many numbers one query has: 0 for a number and not a row."""
Axes = tuple[int, ...]
"""The leading axes of a question that has several."""


def in_rows(given: Sequence[Named], env: Any, has_envs: bool) -> tuple[list[Any], Any, Axes | None]:
    """The arguments of a query whose batch has several leading axes, in rows; others as they are.

    Parameters
    ----------
    given : sequence of (values, name, width)
        Settled.
    env : optional
        As the caller gave it, settled.
    has_envs : bool
        Whether the index has environments: then the first axis is 0, 1, ... of them.

    Returns
    -------
    list
        The values.
    env
        The environment of each row.
    tuple of int or None
        The leading axes, which those of the arguments make together; None where there are not several.

    Raises
    ------
    ValueError
        The axes of the arguments do not fit together, or ``env`` says otherwise.
    """
    values = [one for one, _, _ in given]
    for one, _, width in given:
        if type(one) is np.ndarray and one.ndim > 1 + (width > 0):
            break
    else:
        return values, env, None
    shapes = [np.shape(one) if one is not None else () for one in values]
    leads = [shape[: len(shape) - (width > 0)] for shape, (_, _, width) in zip(shapes, given, strict=True)]

    def said() -> str:
        named = zip(given, shapes, strict=True)
        return " and ".join(f"{name} has shape {shape}" for (_, name, _), shape in named if shape)

    for shape, (_, name, width) in zip(shapes, given, strict=True):
        if width and shape[-1:] != (width,):
            raise ValueError(f"{name} must have shape (..., {width}); got shape {shape}")
    if env is not None:
        raise ValueError(
            f"{said()}: of several leading axes the first axis is the environment; "
            "leave env= out, or give rows"
        )
    try:
        axes = np.broadcast_shapes(*leads)
    except ValueError:
        raise ValueError(f"{said()}; their leading axes must have one length each, or 1") from None
    inner = [shape[len(lead) :] for shape, lead in zip(shapes, leads, strict=True)]
    rows = [
        np.broadcast_to(one, axes + row_env).reshape(-1, *row_env) if shape else one
        for one, shape, row_env in zip(values, shapes, inner, strict=True)
    ]
    if has_envs:
        env = np.repeat(np.arange(axes[0]), math.prod(axes[1:]))
    return rows, env, axes


def settled_env(env: Any) -> Any:
    """An environment or several, read so that no code of the caller runs afterwards; None stays None."""
    if env is None or type(env) is int:
        return env
    array = settled(env, "env")
    return array.item() if array.ndim == 0 and array.dtype.kind in "iu" else array


def as_ignored(ignore: Any, n: int) -> IdArray:
    """The id that each of so many rays passes through; -1 for none."""
    ignored = as_plain_array(ignore, "ignore")
    if ignored.dtype.kind not in "iu" and ignored.size:
        raise TypeError(f"ignore must be ids, one a ray or one for all; got dtype {ignored.dtype}")
    if ignored.shape not in ((), (n,)):
        raise ValueError(f"ignore must be one id, or one for each of {n} rays; got shape {ignored.shape}")
    known = np.where((ignored >= 0) & (ignored < 2**31), ignored, -1).astype(np.int32)
    return np.ascontiguousarray(np.broadcast_to(known, (n,)))


_NO_CODE = frozenset((float, int, np.ndarray, type(None)))


def run_no_code(*values: Any) -> bool:
    """Whether reading these runs no code of the caller's, which could write to another argument."""
    return _NO_CODE.issuperset(map(type, values))


def settled_distance(value: Any, name: str) -> Any:
    """`settled_env` for a distance or distances."""
    return value if type(value) is float or type(value) is int else settled(value, name, NUMBERS)


def flag(value: Any, name: str) -> bool:
    """Check for True or False; other truthy or falsy values are errors."""
    if value is False or value is True:
        return value
    if isinstance(value, (bool, np.bool_)):
        return bool(value)
    raise TypeError(f"{name} must be True or False; got {value!r}")


def lined_up(*given: Named) -> tuple[list[Rows], bool]:
    """The arguments of a batch with a row for each query, and whether there is no batch but one query.

    A single row or number is repeated.
    """
    n, first = 1, ""
    for array, name, width in given:
        if array.ndim > (width > 0):
            if first and len(array) != n:
                raise ValueError(
                    f"{first} has {n} rows and {name} has {len(array)}; a batch needs one for each query"
                )
            n, first = len(array), first or name
    rows = [array if array.ndim > (width > 0) else array[None].repeat(n, 0) for array, _, width in given]
    return rows, not first
