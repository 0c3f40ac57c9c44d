"""Tables of boxes: CSV, TSV and NumPy's ``.npy``; how much a file may hold; and pairs as text or array.

The standard library reads the header of CSV, and NumPy the rows, in batches; what NumPy says of a bad row
becomes an error with the number of the row in the file and the name of the column.

Files that are written appear completely or not at all (`whole_file`): the standard library has the parts for
that but no function, and the package atomicwrites is no longer maintained.
"""

import csv
import errno
import io
import json
import os
import re
import secrets
import shutil
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

import numpy as np
import numpy.typing as npt

from broadphase.errors import FileError
from broadphase.inputs import arrays as columns
from broadphase.inputs.arrays import HEADERLESS, names_without_header
from broadphase.inputs.boxes import BoxArray, as_boxes

_ROWS_AT_ONCE = 10_000

Columns = list[npt.NDArray[Any]]

_PAIRS_AT_ONCE = 50_000  # pairs


@dataclass(frozen=True, slots=True)
class Limits:
    """How much a file may hold; more is refused with a `FileError` before it is decoded.

    Arrow does not say how large it is when it is decompressed, so it is refused after the batch that is too
    much.

    Attributes
    ----------
    rows : int
        The most rows.
    columns : int
        The most columns, including those inside structures.
    size : int
        The most bytes of the decoded columns that are read.
    inflation : float
        For large files ``size`` grows to this many times the size of the file.
    way_out : str
        The advice in messages for reading the file nevertheless.

    Examples
    --------
    >>> Limits(rows=1_000).check_rows("crates.parquet", 2_000)
    Traceback (most recent call last):
    broadphase.errors.FileError: crates.parquet: holds 2,000 rows, the limit is 1,000; limits=None reads it
    """

    rows: int = 2**31 - 1
    columns: int = 10_000
    size: int = 2**30
    inflation: float = 64.0
    way_out: str = "limits=None reads it"

    def check_rows(self, name: str, rows: int) -> None:
        """Raise `FileError` where there are too many."""
        if rows > self.rows:
            raise FileError(f"{name}: holds {rows:,} rows, the limit is {self.rows:,}; {self.way_out}")

    def check_columns(self, name: str, columns: int) -> None:
        """Raise `FileError` where there are too many."""
        if columns > self.columns:
            raise FileError(
                f"{name}: holds {columns:,} columns, the limit is {self.columns:,}; {self.way_out}"
            )

    def check_size(self, name: str, size: int, file_size: int) -> None:
        """Raise `FileError` where the decoded columns take too many bytes."""
        most = max(self.size, int(self.inflation * file_size))
        if size > most:
            raise FileError(
                f"{name}: the columns to be read take {_shown_size(size)} when they are decoded, "
                f"the limit is {_shown_size(most)}; {self.way_out}"
            )


USUAL = Limits()
NONE = Limits(rows=2**63, columns=2**63, size=2**63, inflation=0.0)


def _shown_size(size: int) -> str:
    """A number of bytes for messages.

    >>> _shown_size(512), _shown_size(3 << 30)
    ('512 bytes', '3.0 GiB')
    """
    amount = float(size)
    for unit in ("bytes", "KiB", "MiB"):
        if amount < 1024:
            return f"{size} bytes" if unit == "bytes" else f"{amount:.1f} {unit}"
        amount /= 1024
    return f"{amount:.1f} GiB"


# ---- columns of a file


class Table(NamedTuple):
    """What a file of boxes holds."""

    boxes: BoxArray
    """``(n, 4)`` or ``(n, 6)``; float32 if the file holds float32 edges, else float64."""
    ids: npt.NDArray[Any] | None = None
    """One id a row, integers or ``str`` objects; None where the file has none."""


@contextmanager
def as_file_error() -> Iterator[None]:
    """What is wrong with the values in a file is raised as `FileError`."""
    try:
        yield
    except (TypeError, ValueError) as error:
        raise FileError(str(error)) from None


find_layout = as_file_error()(columns.find_layout)
boxes_from_columns = as_file_error()(columns.boxes_from_columns)


def ids_from_text(texts: list[str]) -> npt.NDArray[Any]:
    """Ids as int64 where every text is a plain integer such as ``17`` (not ``017``), else as they are."""
    try:
        numbers = np.fromiter(map(int, texts), np.int64, len(texts))
    except (ValueError, OverflowError):
        return object_array(texts)
    return numbers if list(map(str, numbers.tolist())) == texts else object_array(texts)


def ids_from_values(values: list[Any]) -> npt.NDArray[Any]:
    """Ids as int64 where all are whole numbers, else as text."""
    if all(type(value) is int and -(2**63) <= value < 2**63 for value in values):
        return np.array(values, np.int64)
    return object_array([value if isinstance(value, str) else json.dumps(value) for value in values])


def object_array(texts: Sequence[str]) -> npt.NDArray[Any]:
    """``str`` objects: picking ids for millions of pairs then copies references, not characters."""
    array = np.empty(len(texts), object)
    array[:] = texts
    return array


# ---- CSV and TSV


def read_text(
    file: BinaryIO,
    name: str,
    delimiter: str | None,
    id_column: str | None,
    progress: Callable[[], None],
    limits: Limits,
) -> Table:
    """Read the table in ``file``; without ``delimiter`` it is found in the first line."""
    # Bytes that are not UTF-8 are an error only in columns that are used: `_check_utf8` finds and names them.
    text = io.TextIOWrapper(file, encoding="utf-8-sig", errors="surrogateescape", newline="")
    try:
        first_line = _first_line(text, name)
        delimiter = delimiter or max(",;\t", key=first_line.count)
        first_row = next(csv.reader(chain([first_line], text), delimiter=delimiter))
        limits.check_columns(name, len(first_row))
        if not all(map(_is_number, first_row)):
            header = [field.strip() for field in first_row]
            layout, lines = find_layout(header, name, id_column), iter(text)
        elif len(first_row) not in HEADERLESS:
            raise FileError(
                f"{name}: {len(first_row)} numbers in the first line and no header; a table without header "
                "has 4 columns (min_x, min_y, max_x, max_y) or 6 (min_x, min_y, min_z, max_x, max_y, max_z)"
            )
        elif id_column is not None:
            raise FileError(f"{name}: no column {id_column!r} for the ids; the table has no header")
        else:
            header = names_without_header(len(first_row))
            layout, lines = HEADERLESS[len(first_row)], chain([first_line], text)
        used: dict[str | None, str] = {**dict.fromkeys(layout.edges, "f8"), layout.id: "O"}
        # Of a column that is not used a letter is kept.  Columns are named by place: two names may be alike.
        kinds = np.dtype([(str(place), used.get(column, "U1")) for place, column in enumerate(header)])
        places = {column: str(header.index(column)) for column in used if column is not None}
        parts = {column: [np.empty(0, kinds[place])] for column, place in places.items()}
        done = 0
        for part in _parts(lines, kinds, delimiter, header, name):
            if layout.id is not None:
                _check_utf8(part[places[layout.id]].tolist(), done, layout.id, name)
            done += len(part)
            limits.check_rows(name, done)
            for column, place in places.items():
                parts[column].append(part[place].copy())
            progress()
    except csv.Error as error:
        raise FileError(f"{name}: {error}") from None
    finally:
        text.detach()
    columns = {column: np.concatenate(found) for column, found in parts.items()}
    ids = None if layout.id is None else ids_from_text(columns[layout.id].tolist())
    with as_file_error():  # an edge that is the id too was read as text
        edges = {edge: columns[edge].astype(np.float64, copy=False) for edge in layout.edges}
    return Table(boxes_from_columns(layout, edges, name, lambda row: f"row {row}"), ids)


def _parts(
    lines: Iterator[str], kinds: "np.dtype[Any]", delimiter: str, header: list[str], name: str
) -> Iterator[npt.NDArray[Any]]:
    """The rows of a table, some at a time."""
    done = 0
    while True:
        try:
            with warnings.catch_warnings(action="ignore"):  # of blank lines, and at the end
                part: npt.NDArray[Any] = np.loadtxt(
                    lines, kinds, None, delimiter, quotechar='"', ndmin=1, max_rows=_ROWS_AT_ONCE
                )
        except ValueError as error:
            raise FileError(f"{name}: {_said_of_row(str(error), done, header)}") from None
        if not len(part):
            return
        yield part
        done += len(part)


def _said_of_row(said: str, begin: int, header: list[str]) -> str:
    """What NumPy says of a row, by the number of the row in the file and the name of the column."""
    if found := re.search(r"could not convert string (.*) to float64 at row (\d+), column (\d+)", said):
        field, row, column = found[1][1:-1], begin + int(found[2]), header[int(found[3]) - 1]
        shown = field if len(field) <= 40 else field[:37] + "..."
        return f"row {row}, column {column}: " + (
            f"'{shown}' is not a number" if field.strip() else "is empty"
        )
    if found := re.search(r"requires (\d+) columns but (\d+) were found at row (\d+)", said):
        count, row = int(found[2]), begin + int(found[3]) - 1
        if count < len(header):
            return f"row {row}, column {header[count]}: is missing"
        return f"row {row}, {count} fields instead of {len(header)}"
    return said


def _check_utf8(fields: list[str], begin: int, column: str, name: str) -> None:
    for row, field in enumerate(fields) if not is_utf8("".join(fields)) else ():
        if not is_utf8(field):
            shown = field.encode(errors="surrogateescape").decode(errors="replace")
            where = f"{name}: row {begin + row}, column {column}"
            raise FileError(f"{where}: {shown!r} is not UTF-8; save the table as UTF-8")


def is_utf8(text: str) -> bool:
    """Whether a text has no lone surrogates, which stand for bytes that are not UTF-8."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _first_line(text: io.TextIOWrapper, name: str) -> str:
    """The first line that is not blank."""
    for line in text:
        if line.strip():
            if "\0" in line:
                raise FileError(f"{name}: is no text in UTF-8; save the table as UTF-8")
            return line
    raise FileError(f"{name}: is empty; a table begins with a header or with a row of numbers")


def _is_number(field: str) -> bool:
    # Python reads 1_000 as a number; in a table it is a mistake.
    try:
        float(field)
    except ValueError:
        return False
    return "_" not in field


# ---- .npy


def read_npy(file: BinaryIO, name: str, limits: Limits) -> Table:
    """Read an ``(n, 4)`` or ``(n, 6)`` array."""
    array = _npy_array(file, name)
    limits.check_rows(name, len(array) if array.ndim else 0)
    with as_file_error():
        return Table(as_boxes(array, name))


def _npy_array(file: BinaryIO, name: str) -> Any:
    # The header is Python source.  NumPy reads it with `tokenize` and `ast`, so a damaged one raises
    # TokenError, SyntaxError, RecursionError, TypeError, ...
    try:
        with warnings.catch_warnings(action="ignore"):  # of files from Python 2 and of odd headers
            return np.lib.format.read_array(file, allow_pickle=False)
    except Exception as error:
        what = " ".join(str(error).split()) or type(error).__name__
        what = what if file.tell() else "it is empty"
        raise FileError(f"{name}: is no .npy file that can be read: {what}") from None


# ---- writing


def check_place(path: str) -> None:
    """Raise, before the work is done, what `whole_file` would raise: a folder, or in none that exists."""
    if Path(path).is_dir():
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), path)
    if not Path(path).resolve().parent.is_dir():
        raise FileNotFoundError(errno.ENOENT, "No such folder", path)


@contextmanager
def whole_file(path: Path) -> Iterator[BinaryIO]:
    """A file to write to, which appears under ``path`` only when it is complete.

    Raises
    ------
    OSError
        The folder or the file cannot be written; the error has the name of ``path``.
    """
    target = path.resolve()  # a link stays a link
    part = target.with_name(f".{target.name}.{secrets.token_hex(4)}.part")
    try:
        with part.open("xb") as file:
            yield file
        # Windows has one mode, read-only, and files with it can be neither replaced nor removed.
        if os.name != "nt" and target.exists():
            shutil.copymode(target, part)
        part.replace(target)
    except OSError as error:
        part.unlink(missing_ok=True)
        raise OSError(error.errno, error.strerror or str(error), str(path)) from None
    except BaseException:
        part.unlink(missing_ok=True)
        raise


def write_text(
    file: BinaryIO, header: list[str], columns: Columns, delimiter: str, progress: Callable[[int, int], None]
) -> None:
    """Write one line a pair, with the same line ends on every system."""
    total = len(columns[0])
    for begin in range(0, max(1, total), _PAIRS_AT_ONCE):
        text = io.StringIO()
        writer = csv.writer(text, delimiter=delimiter, lineterminator="\n")
        if begin == 0:
            writer.writerow(header)
        batch = [column[begin : begin + _PAIRS_AT_ONCE].tolist() for column in columns]
        writer.writerows(zip(*batch, strict=True))
        file.write(text.getvalue().encode())
        progress(min(begin + _PAIRS_AT_ONCE, total), total)


def write_npy(file: BinaryIO, columns: Columns) -> None:
    """Write an ``(m, 2)`` array: of integers, or of text where an id is text."""
    if any(column.dtype == object for column in columns):
        columns = [column.astype(np.str_) for column in columns]
    np.lib.format.write_array(file, np.column_stack(columns), allow_pickle=False)
