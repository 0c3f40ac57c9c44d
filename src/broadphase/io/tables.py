"""Tables of boxes: CSV, TSV and NumPy's ``.npy``; how much a file may hold; and pairs as text or array.

CSV goes through the standard library's reader.  The code here turns fields into numbers, in batches, and
knows the row of a bad one.  That takes about 3 seconds for a million rows of five columns.  NumPy's loader
takes a fifth of that and pyarrow's a tenth; but the first does not notice a row with too many fields, and the
second names no row for a bad value.

Files that are written appear completely or not at all (`whole_file`): the standard library has the parts for
that but no function, and the package atomicwrites is no longer maintained.
"""

import csv
import io
import json
import os
import secrets
import shutil
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import chain, islice
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

import numpy as np
import numpy.typing as npt

from broadphase.errors import FileError
from broadphase.inputs import foreign as columns
from broadphase.inputs.boxes import BoxArray, as_boxes
from broadphase.inputs.foreign import HEADERLESS, Layout, names_without_header
from broadphase.runtime.arrays import Floats

_ROWS_AT_ONCE = 1_000  # rows; larger batches leave the processor's cache and are slower
_LONGEST_FIELD = 2**31 - 1  # outlines as text easily exceed the reader's own limit of 128 KiB

Row = list[str]
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
    # Bytes that are not UTF-8 are an error only in columns that are used: `_ids` finds and names them.
    text = io.TextIOWrapper(file, encoding="utf-8-sig", errors="surrogateescape", newline="")
    old_limit = csv.field_size_limit(_LONGEST_FIELD)
    try:
        return _TextTable(text, name, delimiter, id_column, limits).read(progress)
    except csv.Error as error:
        raise FileError(f"{name}: {error}") from None
    finally:
        csv.field_size_limit(old_limit)
        text.detach()


class _TextTable:
    """Reads one table from text to boxes."""

    def __init__(
        self, text: io.TextIOWrapper, name: str, delimiter: str | None, id_column: str | None, limits: Limits
    ) -> None:
        self.name, self.limits = name, limits
        first_line = _first_line(text, name)
        delimiter = delimiter or max(",;\t", key=first_line.count)
        self.rows: Iterator[Row] = csv.reader(chain([first_line], text), delimiter=delimiter)
        first_row = next(self.rows)
        limits.check_columns(name, len(first_row))
        if all(map(_is_number, first_row)):
            self.header, self.layout = self._without_header(len(first_row), id_column)
            self.rows = chain([first_row], self.rows)
        else:
            self.header = [field.strip() for field in first_row]
            self.layout = find_layout(self.header, name, id_column)

    def _without_header(self, count: int, id_column: str | None) -> tuple[list[str], Layout]:
        if count not in HEADERLESS:
            raise FileError(
                f"{self.name}: {count} numbers in the first line and no header; a table without header must "
                "have 4 columns (min_x, min_y, max_x, max_y) or 6 (min_x, min_y, min_z, max_x, max_y, max_z)"
            )
        if id_column is not None:
            raise FileError(f"{self.name}: no column {id_column!r} for the ids; the table has no header")
        return names_without_header(count), HEADERLESS[count]

    def read(self, progress: Callable[[], None]) -> Table:
        """Read all rows."""
        places = {edge: self.header.index(edge) for edge in self.layout.edges}
        parts: dict[str, list[Floats]] = {edge: [np.empty(0)] for edge in places}
        id_column = self.layout.id
        ids: list[str] = []
        done = 0
        while raw := list(islice(self.rows, _ROWS_AT_ONCE)):
            rows = raw if all(raw) else [row for row in raw if row]
            self._check_widths(rows, done)
            fields = list(zip(*rows, strict=True)) or [()] * len(self.header)
            for edge, place in places.items():
                parts[edge].append(self._numbers(fields[place], edge, done))
            if id_column is not None:
                ids += self._ids(fields[self.header.index(id_column)], done)
            done += len(rows)
            self.limits.check_rows(self.name, done)
            progress()
        columns = {edge: np.concatenate(part) for edge, part in parts.items()}
        boxes = boxes_from_columns(self.layout, columns, self.name, lambda row: f"row {row}")
        return Table(boxes, None if id_column is None else ids_from_text(ids))

    def _error(self, row: int, wrong: str) -> FileError:
        return FileError(f"{self.name}: row {row}, {wrong}")

    def _check_widths(self, rows: list[Row], begin: int) -> None:
        width = len(self.header)
        if set(map(len, rows)) <= {width}:
            return
        k, row = next((k, row) for k, row in enumerate(rows) if len(row) != width)
        if len(row) < width:
            raise self._error(begin + k, f"column {self.header[len(row)]}: is missing")
        raise self._error(begin + k, f"{len(row)} fields instead of {width}, the last is {_shown(row[-1])}")

    def _numbers(self, fields: tuple[str, ...], column: str, begin: int) -> Floats:
        try:
            if "_" not in "".join(fields):
                return np.fromiter(map(float, fields), np.float64, len(fields))
        except ValueError:
            pass
        k, field = next((k, field) for k, field in enumerate(fields) if not _is_number(field))
        wrong = f"{_shown(field)} is not a number" if field.strip() else "is empty"
        raise self._error(begin + k, f"column {column}: {wrong}")

    def _ids(self, fields: tuple[str, ...], begin: int) -> tuple[str, ...]:
        if _is_utf8("".join(fields)):
            return fields
        k, field = next((k, field) for k, field in enumerate(fields) if not _is_utf8(field))
        raise self._error(
            begin + k, f"column {self.layout.id}: {_shown(field)} is not UTF-8; save the table as UTF-8"
        )


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


def _is_utf8(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _shown(field: str) -> str:
    """The field for an error message: in one line, shortened, and printable anywhere."""
    shown = field.encode(errors="surrogateescape").decode(errors="replace")
    return repr(shown if len(shown) <= 40 else shown[:37] + "...")


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
