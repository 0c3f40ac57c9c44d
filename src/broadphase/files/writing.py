"""Pairs as text and as NumPy array, by the standard library and NumPy; files appear whole or not at all.

For the latter the standard library has the parts but no whole, and atomicwrites, which was it, is given up.
"""

import csv
import io
import secrets
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
import numpy.typing as npt

Columns = list[npt.NDArray[Any]]

_BATCH = 50_000  # pairs


@contextmanager
def whole_file(path: Path) -> Iterator[BinaryIO]:
    """A file to write to that takes its place under ``path`` only when all is written.

    Raises
    ------
    OSError
        The folder or the file cannot be written; the error bears the name of ``path``.
    """
    target = path.resolve()  # a link stays a link
    part = target.with_name(f".{target.name}.{secrets.token_hex(4)}.part")
    try:
        with part.open("xb") as file:
            yield file
        if target.exists():
            shutil.copymode(target, part)
        part.replace(target)
    except OSError as error:
        part.unlink(missing_ok=True)
        raise OSError(error.errno, error.strerror or str(error), str(path)) from None
    except BaseException:
        part.unlink(missing_ok=True)
        raise


def write_text(
    file: BinaryIO,
    header: list[str],
    columns: Columns,
    delimiter: str,
    progress: Callable[[int, int], None],
) -> None:
    """One line a pair, with the same line ends on every system."""
    total = len(columns[0])
    for begin in range(0, max(1, total), _BATCH):
        text = io.StringIO()
        writer = csv.writer(text, delimiter=delimiter, lineterminator="\n")
        if begin == 0:
            writer.writerow(header)
        batch = [column[begin : begin + _BATCH].tolist() for column in columns]
        writer.writerows(zip(*batch, strict=True))
        file.write(text.getvalue().encode())
        progress(min(begin + _BATCH, total), total)


def write_npy(file: BinaryIO, columns: Columns) -> None:
    """An ``(m, 2)`` array: of integers, or of text where an id is text."""
    if any(column.dtype == object for column in columns):
        columns = [column.astype(np.str_) for column in columns]
    np.lib.format.write_array(file, np.column_stack(columns), allow_pickle=False)
