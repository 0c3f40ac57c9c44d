"""Boxes from NumPy's own file format; arrays of Python objects, which are pickles, are not read."""

from typing import BinaryIO

import numpy as np

from broadphase.boxes import as_boxes
from broadphase.errors import FileError
from broadphase.files.columns import Table


def read(file: BinaryIO, name: str) -> Table:
    """Read an ``(n, 4)`` or ``(n, 6)`` array."""
    try:
        array = np.lib.format.read_array(file, allow_pickle=False)
    except (ValueError, EOFError, OSError, MemoryError) as error:
        raise FileError(f"{name}: is no .npy file that can be read: {' '.join(str(error).split())}") from None
    try:
        return Table(as_boxes(array, name))
    except (TypeError, ValueError) as error:
        raise FileError(str(error)) from None
