"""Whether two shapes overlap, and how deep: for single shapes and for arrays of boxes or circles.

Box against box is exact.  With a circle or a sloped side, lengths are rounded, so shapes within a few units
in the last place of touching may be called either way, but the same way every time.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from broadphase.geometry.shapes import Shape, as_known_shape, row_of
from broadphase.inputs import Rectangle, Sprite
from broadphase.inputs.arrays import BOXES, CIRCLES, as_float_array, as_rows, settled
from broadphase.inputs.boxes import BoxArray, as_boxes
from broadphase.inputs.search import pairs_of_rows
from broadphase.kernels.shapes import contact as kernel
from broadphase.runtime.arrays import briefly


class ShapeContact(NamedTuple):
    """Two shapes that overlap, and the shortest displacement that separates them."""

    a: Shape
    b: Shape
    normal: tuple[float, float]
    """Unit vector out of ``b``, towards ``a``: moving ``a`` by ``depth`` along it makes the two flush."""
    depth: float


@briefly
class ContactArrays(NamedTuple):
    """Contacts of many pairs, one row for each pair."""

    overlapping: npt.NDArray[np.bool_]
    normals: BoxArray
    """``(m, dim)``: as `ShapeContact.normal`; zero if the two do not overlap."""
    depths: BoxArray
    """As `ShapeContact.depth`; zero if the two do not overlap."""


def overlap(a: Shape | Rectangle | Sprite, b: Shape | Rectangle | Sprite, *, touching: bool = False) -> bool:
    """Whether two shapes overlap.

    Parameters
    ----------
    a, b : Box, Circle or Polygon
        In any combination; or bodies, and rectangles of pygame or arcade.  Bodies are compared where they
        are: in a periodic world `World.query_shape` also finds their images.
    touching : bool
        Whether shapes that only share an edge or a point count.

    Returns
    -------
    bool

    Raises
    ------
    TypeError
        An argument is none of these.

    Examples
    --------
    >>> from broadphase import Box, Circle, overlap
    >>> overlap(Box(0, 0, 2, 2), Circle(3, 1, 1)), overlap(Box(0, 0, 2, 2), Circle(3, 1, 1), touching=True)
    (False, True)
    """
    return contact(a, b, touching=touching) is not None


def contact(
    a: Shape | Rectangle | Sprite, b: Shape | Rectangle | Sprite, *, touching: bool = False
) -> ShapeContact | None:
    """Compute the shortest displacement that separates two shapes; ``None`` if they do not overlap.

    Parameters
    ----------
    a, b : Box, Circle or Polygon
        In any combination; or bodies, and rectangles of pygame or arcade, compared as by `overlap`.
    touching : bool
        Whether shapes that only share an edge or a point count; their depth is 0.

    Returns
    -------
    ShapeContact or None
        ``a``, ``b``, ``normal`` and ``depth``: moving ``a`` by ``depth`` along ``normal``, or ``b`` in the
        opposite direction, makes them flush.  ``contact(b, a)`` has the same depth and the opposite normal.
        Among displacements of the same length, the one along x comes first, then the one towards smaller
        coordinates. Only if the two sides cannot be distinguished (the same shape twice, circles with one
        centre) both orders give the same normal.

    Raises
    ------
    TypeError
        An argument is none of these.

    Examples
    --------
    >>> from broadphase import Box, contact
    >>> found = contact(Box(0, 0, 10, 10), Box(8, 1, 10, 10))
    >>> found.normal, found.depth
    ((-1.0, 0.0), 2.0)
    """
    first, second = as_known_shape(a, "a"), as_known_shape(b, "b")
    if not _bounds_overlap(first, second, touching):
        return None
    hit, nx, ny, depth = kernel.touch(row_of(first), row_of(second), bool(touching))
    return ShapeContact(first, second, (nx, ny), depth) if hit else None


def contact_boxes(a: Any, b: Any, pairs: Any = None, *, touching: bool = False) -> ContactArrays:
    """Contacts of many pairs of boxes, in 2-D or 3-D.

    Parameters
    ----------
    a, b : array_like
        Boxes, rows ``[min..., max...]``, of the same dimension.
    pairs : array_like, optional
        ``(m, 2)`` integers: row of ``a``, row of ``b``; as `broadphase.pairs` and `broadphase.join` return
        them.  Without it, row ``k`` of ``a`` is compared with row ``k`` of ``b``.
    touching : bool
        Whether boxes that only share an edge or a corner count; their depth is 0.

    Returns
    -------
    ContactArrays
        ``overlapping`` ``(m,)`` bool, ``normals`` ``(m, dim)`` and ``depths`` ``(m,)``, the latter two
        float32 if both ``a`` and ``b`` are, else float64.

    Raises
    ------
    TypeError, ValueError
        The boxes are invalid, or ``pairs`` names a row that does not exist.

    Examples
    --------
    >>> found = contact_boxes([[0, 0, 10, 10]], [[8, 1, 18, 11]])
    >>> found.normals, found.depths
    (array([[-1.,  0.]]), array([2.]))
    """
    touching = bool(touching)
    a, b, pairs = settled(a, "a", BOXES), settled(b, "b", BOXES), settled(pairs, "pairs")
    first, second = _same_type(as_boxes(a, "a"), as_boxes(b, "b"))
    if first.shape[1] != second.shape[1]:
        raise ValueError(f"a and b must have the same dimension; got shapes {first.shape} and {second.shape}")
    return _run(kernel.contact_boxes, first, second, pairs, touching, first.shape[1] // 2)


def contact_circles(a: Any, b: Any, pairs: Any = None, *, touching: bool = False) -> ContactArrays:
    """Contacts of many pairs of circles.

    Parameters
    ----------
    a, b : array_like
        ``(n, 3)``: rows ``[x, y, radius]``.
    pairs, touching
        As for `contact_boxes`.

    Returns
    -------
    ContactArrays
        As for `contact_boxes`.

    Raises
    ------
    TypeError
        The values are not real numbers.
    ValueError
        A shape is wrong, a value is NaN or infinite, a radius is negative, or ``pairs`` names a row that
        does not exist.

    Examples
    --------
    >>> contact_circles([[0, 0, 2]], [[3, 0, 2]]).depths
    array([1.])
    """
    touching = bool(touching)
    a, b, pairs = settled(a, "a", CIRCLES), settled(b, "b", CIRCLES), settled(pairs, "pairs")
    first, second = _same_type(_as_circles(a, "a"), _as_circles(b, "b"))
    return _run(kernel.contact_circles, first, second, pairs, touching, 2)


def _run(
    contacts: Callable[..., None], a: BoxArray, b: BoxArray, pairs: Any, touching: bool, dim: int
) -> ContactArrays:
    rows = np.empty((0, 2), np.int32)
    if pairs is not None:
        rows = pairs_of_rows(pairs, "pairs", len(a), len(b))
    elif len(a) != len(b):
        raise ValueError(f"a has {len(a)} rows and b has {len(b)}; give pairs=, or as many of both")
    count = len(a) if pairs is None else len(rows)
    found = ContactArrays(
        np.zeros(count, np.bool_), np.zeros((count, dim), a.dtype), np.zeros(count, a.dtype)
    )
    contacts(a, b, rows, bool(touching), *found)
    return found


def _same_type(a: BoxArray, b: BoxArray) -> tuple[BoxArray, BoxArray]:
    dtype = np.result_type(a, b)
    return np.asarray(a, dtype), np.asarray(b, dtype)


def _as_circles(circles: Any, name: str) -> BoxArray:
    array = as_rows(as_float_array(circles, name, CIRCLES), name, (3, 3), "(n, 3), rows [x, y, radius]")
    unsound = np.flatnonzero(~np.isfinite(array).all(axis=1) | (array[:, 2] < 0))
    if len(unsound):
        row = int(unsound[0])
        raise ValueError(
            f"{name}[{row}] = {array[row].tolist()}: "
            "x and y must be finite, the radius finite and not negative"
        )
    return array


def _bounds_overlap(a: Shape, b: Shape, touching: bool) -> bool:
    """The test of the broad phase, so that both phases agree to the last bit."""
    ax, ay, a_right, a_bottom = a.bounds
    bx, by, b_right, b_bottom = b.bounds
    if touching:
        return ax <= b_right and bx <= a_right and ay <= b_bottom and by <= a_bottom
    return ax < b_right and bx < a_right and ay < b_bottom and by < a_bottom
