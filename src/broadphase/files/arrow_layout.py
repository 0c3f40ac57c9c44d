"""How much an Arrow file holds, from what it says of itself, before anything is decoded.

Each message of a file has a header: a flatbuffer with the number of rows, and where in its body the buffers
of the columns lie.  A compressed buffer begins with its length once decompressed, which pyarrow takes memory
for and does not exceed.  pyarrow reads all this, but tells none of it without decoding; so the few fields
that are needed are read here.  (https://arrow.apache.org/docs/format/Columnar.html, "Serialization and IPC")
"""

import os
import struct
from collections.abc import Iterator
from typing import BinaryIO, NamedTuple

from broadphase.files.limits import Limits

_MAGIC = b"ARROW1"
_GOES_ON = 0xFFFFFFFF
_SCHEMA, _DICTIONARY, _BATCH = 1, 2, 3
_BLOCK, _BUFFER = 24, 16  # bytes of these structures
# How many buffers a column has by its type: the numbers of `Type` in Arrow's Schema.fbs.  A list has its own
# and those of its children, and so on.  Not here: unions and views, whose number is not told by the type.
_BUFFERS = {
    **dict.fromkeys((2, 3, 6, 7, 8, 9, 10, 11, 15, 18), 2),  # numbers, bool, times, bytes of one length
    **dict.fromkeys((4, 5, 19, 20), 3),  # bytes and texts
    **dict.fromkeys((12, 17, 21), 2),  # lists and maps
    **dict.fromkeys((13, 16), 1),  # structures and lists of one length
    **dict.fromkeys((25, 26), 3),  # views of lists
    **dict.fromkeys((1, 22), 0),  # null, and runs, whose ends and values are its children
}
_OF_A_DICTIONARY, _DEEPEST = 2, 64


class _Table:
    """A table of a flatbuffer: its fields by number, as in Arrow's Schema.fbs and Message.fbs."""

    def __init__(self, data: bytes, at: int) -> None:
        self._data, self._at = data, at
        self._fields = at - self._read("i", at)

    @classmethod
    def root(cls, data: bytes) -> "_Table":
        """The outermost table."""
        return cls(data, struct.unpack_from("<I", data)[0])

    def number(self, field: int, kind: str) -> int:
        """A number, 0 where it is left out; ``kind`` as of `struct`."""
        at = self._place(field)
        return self._read(kind, at) if at else 0

    def table(self, field: int) -> "_Table | None":
        """A table inside."""
        at = self._place(field)
        return _Table(self._data, at + self._read("I", at)) if at else None

    def tables(self, field: int) -> "Iterator[_Table]":
        """A vector of tables."""
        begin, count = self._vector(field)
        for at in range(begin, begin + 4 * count, 4):
            yield _Table(self._data, at + self._read("I", at))

    def count(self, field: int) -> int:
        """The length of a vector."""
        return self._vector(field)[1]

    def rows(self, field: int, kind: str, size: int) -> Iterator[tuple[int, ...]]:
        """A vector of structures of ``size`` bytes each."""
        begin, count = self._vector(field)
        for at in range(begin, begin + size * count, size):
            yield struct.unpack_from("<" + kind, self._data, at)

    def _vector(self, field: int) -> tuple[int, int]:
        at = self._place(field)
        if not at:
            return 0, 0
        begin = at + self._read("I", at)
        return begin + 4, self._read("I", begin)

    def _place(self, field: int) -> int:
        """Where a field is; 0 where it is left out."""
        slot = 4 + 2 * field
        if slot >= self._read("H", self._fields):
            return 0
        offset = self._read("H", self._fields + slot)
        return self._at + offset if offset else 0

    def _read(self, kind: str, at: int) -> int:
        if at < 0:
            raise ValueError("it points to somewhere before its begin")
        number: int = struct.unpack_from("<" + kind, self._data, at)[0]
        return number


class _Message(NamedTuple):
    """A message: its header, and where in the file its body begins."""

    header: _Table
    body: int
    end: int

    @property
    def kind(self) -> int:
        return self.header.number(1, "B")


class _Wanted(NamedTuple):
    """Which of the buffers of a batch belong to columns that are read."""

    ranges: list[range]
    any_unknown: bool
    """A column before or among them has a number of buffers that its type does not tell: all count."""

    def holds(self, buffer: int) -> bool:
        return self.any_unknown or any(buffer in one for one in self.ranges)


class ArrowLayout:
    """The schema, and where the batches are; nothing of a body has been read.

    Parameters
    ----------
    file : file
        At its begin, seekable.
    name : str
        What it is called in messages.
    limits : Limits
    """

    def __init__(self, file: BinaryIO, name: str, limits: Limits) -> None:
        self._file, self._name, self._limits = file, name, limits
        self._size = os.fstat(file.fileno()).st_size
        self._is_file = file.read(len(_MAGIC)) == _MAGIC
        self._schema = self._find_schema()
        limits.check_columns(name, self._schema.count(1))
        self._count_columns(list(self._schema.tables(1)), 0, 0)

    def check(self, columns: list[int]) -> None:
        """Raise `FileError` where the rows, or the columns with these numbers, are too many or too large."""
        rows = size = 0
        wanted = self._wanted(columns)
        for message in self._messages():
            if message.kind not in (_DICTIONARY, _BATCH):
                continue
            batch = message.header.table(2)
            if batch is not None and message.kind == _DICTIONARY:
                batch = batch.table(1)
            if batch is None:
                continue
            if message.kind == _BATCH:
                rows += batch.number(0, "q")
                self._limits.check_rows(self._name, rows)
            size += self._decoded(batch, message.body, wanted if message.kind == _BATCH else None)
            self._limits.check_size(self._name, size, self._size)

    # ---- the schema

    def _find_schema(self) -> _Table:
        if self._is_file:
            found = self._footer().table(1)
        else:
            first = next(self._messages(), None)
            found = first.header.table(2) if first is not None and first.kind == _SCHEMA else None
        if found is None:
            raise ValueError("it has no schema")
        return found

    def _footer(self) -> _Table:
        tail = len(_MAGIC) + 4
        (length,) = struct.unpack("<i", self._bytes(self._size - tail, 4))
        return _Table.root(self._own(self._size - tail - length, length))

    def _count_columns(self, fields: list[_Table], found: int, depth: int) -> int:
        found += len(fields)
        self._limits.check_columns(self._name, found)
        if depth == _DEEPEST:
            raise ValueError("its columns are nested too deeply")
        for field in fields:
            self._limits.check_columns(self._name, found + field.count(5))
            found = self._count_columns(list(field.tables(5)), found, depth + 1)
        return found

    def _wanted(self, columns: list[int]) -> _Wanted:
        ranges, at = [], 0
        for number, field in enumerate(self._schema.tables(1)):
            count = _buffers_of(field)
            if count is None:
                return _Wanted([], True)
            if number in columns:
                ranges.append(range(at, at + count))
            at += count
        return _Wanted(ranges, False)

    # ---- the batches

    def _messages(self) -> Iterator[_Message]:
        if not self._is_file:
            at = 0
            while (message := self._message(at)) is not None:
                yield message
                at = message.end
            return
        footer = self._footer()
        for blocks in (2, 3):
            for begin, own, _, _ in footer.rows(blocks, "qiiq", _BLOCK):
                message = self._message(begin)
                if message is not None:
                    yield message._replace(body=begin + own)

    def _message(self, at: int) -> _Message | None:
        head = self._bytes(at, 8, short=True)
        if len(head) < 8:
            return None
        first, second = struct.unpack("<II", head)
        begin, length = (at + 8, second) if first == _GOES_ON else (at + 4, first)
        if length == 0:
            return None
        header = _Table.root(self._own(begin, length))
        body, size = begin + length, header.number(3, "q")
        if size < 0 or body + size > self._size:
            raise ValueError("it ends in the middle of a batch")
        return _Message(header, body, body + size)

    def _decoded(self, batch: _Table, body: int, wanted: _Wanted | None) -> int:
        """The bytes of the wanted buffers, or of all, when they are decompressed."""
        is_compressed = batch.table(3) is not None
        size = 0
        for number, (begin, length) in enumerate(batch.rows(2, "qq", _BUFFER)):
            if length <= 0 or (wanted is not None and not wanted.holds(number)):
                continue
            if is_compressed:
                (decoded,) = struct.unpack("<q", self._bytes(body + begin, 8))
                size += length if decoded < 0 else decoded  # -1: this one is as it is
            else:
                size += length
        return size

    def _own(self, begin: int, length: int) -> bytes:
        self._check_place(begin, length)
        self._limits.check_own(self._name, length)
        return self._bytes(begin, length)

    def _bytes(self, begin: int, length: int, *, short: bool = False) -> bytes:
        self._check_place(begin, 0 if short else length)
        self._file.seek(begin)
        return self._file.read(length)

    def _check_place(self, begin: int, length: int) -> None:
        if not 0 <= begin <= begin + length <= self._size:
            raise ValueError("it points to somewhere outside of itself")


def _buffers_of(field: _Table) -> int | None:
    """How many buffers a column has, its children's included; None where its type does not tell."""
    if field.table(4) is not None:
        return _OF_A_DICTIONARY
    own = _BUFFERS.get(field.number(2, "B"))
    if own is None:
        return None
    for child in field.tables(5):
        inner = _buffers_of(child)
        if inner is None:
            return None
        own += inner
    return own
