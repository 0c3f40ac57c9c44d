"""Boxes from CSV and TSV.

The standard library's reader takes the lines apart; what is written here turns fields into numbers, in
batches, and knows which row and line a bad one is in.  About 3 seconds for a million rows of five columns.
NumPy's loader takes a fifth of that and pyarrow's a tenth, but the one does not notice a row with too many
fields, the other names no row for a bad value, and neither says which line it was.
"""

import csv
import io
from bisect import bisect_right
from collections.abc import Callable, Iterator
from itertools import chain, islice
from typing import BinaryIO

import numpy as np
import numpy.typing as npt

from broadphase.columns import HEADERLESS, Layout, names_without_header
from broadphase.errors import FileError
from broadphase.files.columns import Table, boxes_from_columns, find_layout, ids_from_text
from broadphase.files.limits import Limits

_BATCH = 1_000  # rows; larger batches leave the processor's cache and are slower
_LONGEST_FIELD = 2**31 - 1  # a column with outlines as text easily exceeds the reader's own 128 KiB

Row = list[str]
Floats = npt.NDArray[np.float64]


def read(
    file: BinaryIO,
    name: str,
    delimiter: str | None,
    id_column: str | None,
    progress: Callable[[], None],
    limits: Limits,
) -> Table:
    """Read the table in ``file``; without ``delimiter`` the first line tells it."""
    # Bytes that are no UTF-8 matter only in columns that are used: there they are found and named.
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
    """One table on its way from text to boxes."""

    def __init__(
        self,
        text: io.TextIOWrapper,
        name: str,
        delimiter: str | None,
        id_column: str | None,
        limits: Limits,
    ) -> None:
        self.name, self.limits = name, limits
        first_line, blank_lines = _first_line(text, name)
        delimiter = delimiter or max(",;\t", key=first_line.count)
        self.fed = _Fed(chain([first_line], text), delimiter, name, limits)
        self.reader = csv.reader(self.fed, delimiter=delimiter)
        self.rows: Iterator[Row] = self.reader
        self.lines = _Lines(blank_lines)
        first_row = next(self.reader)
        if all(map(_is_number, first_row)):
            self.header, self.layout = self._without_header(len(first_row), id_column)
            self.rows = chain([first_row], self.reader)
        else:
            self.header = [field.strip() for field in first_row]
            self.layout = find_layout(self.header, name, id_column)
            self.lines.skip(self.reader.line_num)

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
        while raw := list(islice(self.rows, self.fed.take(_BATCH))):
            self.lines.add(raw, self.reader.line_num)
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
        boxes = boxes_from_columns(self.layout, columns, self.name, self._row_name)
        return Table(boxes, None if id_column is None else ids_from_text(ids))

    def _row_name(self, row: int) -> str:
        return f"row {row} (line {self.lines.line_of(row)})"

    def _error(self, row: int, wrong: str) -> FileError:
        return FileError(f"{self.name}: {self._row_name(row)}, {wrong}")

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


class _Fed:
    """The lines on their way to the reader, which would make any number of fields of them at once."""

    def __init__(self, lines: Iterator[str], delimiter: str, name: str, limits: Limits) -> None:
        self._lines, self._delimiter = lines, delimiter
        self._name, self._limits = name, limits
        self._rows, self._fields = 1, 0

    def take(self, rows: int) -> int:
        """So many rows are read next."""
        self._rows, self._fields = rows, 0
        return rows

    def __iter__(self) -> Iterator[str]:
        return self

    def __next__(self) -> str:
        line = next(self._lines)
        self._fields += line.count(self._delimiter) + 1
        self._limits.check_columns(self._name, -(-self._fields // self._rows))
        return line


class _Lines:
    """Which line of the file a row ends on; blank lines and line breaks in quotes shift it."""

    def __init__(self, blank_lines: int) -> None:
        self._blank_lines = blank_lines
        self._line = 0
        self._row = 0
        # Row _rows[k] ends on line _ends[k], and so on row by row up to the next entry.
        self._rows: list[int] = []
        self._ends: list[int] = []

    def skip(self, line: int) -> None:
        """Take note of the header, which ends on ``line``."""
        self._line = line

    def add(self, raw: list[Row], line: int) -> None:
        """Take note of a batch of rows, blank ones among them, the last of which ends on ``line``."""
        if line - self._line == len(raw) and all(raw):
            self._note(len(raw), self._line + 1)
        else:
            for row in raw:
                self._line += 1 + sum(map(_line_breaks, row))
                if row:
                    self._note(1, self._line)
        self._line = line

    def _note(self, rows: int, end: int) -> None:
        self._rows.append(self._row)
        self._ends.append(end)
        self._row += rows

    def line_of(self, row: int) -> int:
        """The line on which ``row`` ends."""
        k = bisect_right(self._rows, row) - 1
        return self._ends[k] + row - self._rows[k] + self._blank_lines


def _first_line(text: io.TextIOWrapper, name: str) -> tuple[str, int]:
    """The first line that is not blank, and the number of blank ones before it."""
    for blank_lines, line in enumerate(text):
        if line.strip():
            if "\0" in line:
                raise FileError(f"{name}: is no text in UTF-8; save the table as UTF-8")
            return line, blank_lines
    raise FileError(f"{name}: is empty; a table begins with a header or with a row of numbers")


def _is_number(field: str) -> bool:
    # Python reads 1_000 as a number; in a table it is a slip.
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


def _line_breaks(field: str) -> int:
    return field.count("\n") + field.count("\r") - field.count("\r\n")


def _shown(field: str) -> str:
    """The field for an error message: in one line, shortened, and printable anywhere."""
    shown = field.encode(errors="surrogateescape").decode(errors="replace")
    return repr(shown if len(shown) <= 40 else shown[:37] + "...")
