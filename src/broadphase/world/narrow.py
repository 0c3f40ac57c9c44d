"""The narrow phase of an update: all candidates of one kind in one kernel call.

Boxes against boxes and circles against circles are most of what there is, and have kernels that read nothing
but their numbers: a tenth of the time that the one for shapes of any kind needs.
"""

import numpy as np
import numpy.typing as npt

from broadphase.kernels.shapes.contact_rows import contact_boxes, contact_circles, contact_shapes
from broadphase.kernels.shapes.table import BOX, CIRCLE
from broadphase.shapes.narrow_phase import ContactArrays
from broadphase.shapes.table import ShapeTable

_ROW_BY_ROW = np.empty((0, 2), np.int32)


def contacts_of(table: ShapeTable, pairs: npt.NDArray[np.int32]) -> ContactArrays:
    """Contacts of the shapes in pairs of rows whose bounds overlap; flush does not count.

    Examples
    --------
    >>> from broadphase.shapes.kinds import Box, Circle
    >>> from broadphase.shapes.table import table_of
    >>> table = table_of([Box(0, 0, 4, 4), Box(3, 0, 4, 4), Circle(7, 7, 3.5)])
    >>> contacts_of(table, np.array([[0, 1], [1, 2]], np.int32)).depths.round(3)
    array([1. , 0.5])
    """
    found = _room(len(pairs))
    columns = table.columns
    kinds = columns.kinds[pairs]
    first = kinds[:, 0]
    alike = first == kinds[:, 1]
    boxes, circles = alike & (first == BOX), alike & (first == CIRCLE)
    for chosen, contacts in ((boxes, _boxes), (circles, _circles)):
        if chosen.all():
            return contacts(table, pairs)
        if chosen.any():
            _fill(found, chosen, contacts(table, pairs[chosen]))
    rest = ~(boxes | circles)
    some = _room(int(rest.sum()))
    contact_shapes(columns, pairs[rest], False, *some)
    _fill(found, rest, some)
    return found


def _boxes(table: ShapeTable, pairs: npt.NDArray[np.int32]) -> ContactArrays:
    found = _room(len(pairs))
    contact_boxes(table.bounds(pairs[:, 0]), table.bounds(pairs[:, 1]), _ROW_BY_ROW, False, *found)
    return found


def _circles(table: ShapeTable, pairs: npt.NDArray[np.int32]) -> ContactArrays:
    found = _room(len(pairs))
    columns = table.columns
    a, b = (np.column_stack([column[rows] for column in columns[1:4]]) for rows in pairs.T)
    contact_circles(a, b, _ROW_BY_ROW, False, *found)
    return found


def _room(count: int) -> ContactArrays:
    return ContactArrays(np.zeros(count, np.bool_), np.zeros((count, 2)), np.zeros(count))


def _fill(found: ContactArrays, chosen: npt.NDArray[np.bool_], some: ContactArrays) -> None:
    for column, part in zip(found, some, strict=True):
        column[chosen] = part
