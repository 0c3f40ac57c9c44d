"""Boxes from NumPy's own file format, by NumPy; arrays of Python objects, which are pickles, are not read."""

import warnings
from typing import Any, BinaryIO

import numpy as np

from broadphase.boxes import as_boxes
from broadphase.errors import FileError
from broadphase.files.columns import Table
from broadphase.files.limits import Limits


def read(file: BinaryIO, name: str, limits: Limits) -> Table:
    """Read an ``(n, 4)`` or ``(n, 6)`` array."""
    array = _array(file, name)
    limits.check_rows(name, len(array) if array.ndim else 0)
    try:
        return Table(as_boxes(array, name))
    except (TypeError, ValueError) as error:
        raise FileError(str(error)) from None


def _array(file: BinaryIO, name: str) -> Any:
    # The header is a piece of Python source.  NumPy reads it with `tokenize` and `ast`, and what those raise
    # of a damaged one comes through: TokenError, SyntaxError, RecursionError, TypeError, ...
    try:
        with warnings.catch_warnings(action="ignore"):  # that it was written by Python 2, or looks odd
            return np.lib.format.read_array(file, allow_pickle=False)
    except Exception as error:
        what = " ".join(str(error).split()) or type(error).__name__
        raise FileError(f"{name}: is no .npy file that can be read: {what}") from None
