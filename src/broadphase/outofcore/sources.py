"""What is read, cut into units of work that can be read apart from each other."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from broadphase.errors import FileError
from broadphase.outofcore.files_of import Head, InputFile, head_of


@dataclass(frozen=True, slots=True)
class Piece:
    """Row groups, record batches or rows ``first .. last - 1`` of a file."""

    file: InputFile
    first: int
    last: int
    rows: int
    file_row: int
    """The row of the file with which it begins."""


@dataclass(frozen=True, slots=True)
class Unit:
    """What one task reads: about a chunk of rows, or a row group that is larger."""

    number: int
    side: int
    first_row: int
    """The row of all the input of its side with which it begins."""
    first_chunk: int
    rows: int
    pieces: tuple[Piece, ...]


@dataclass(frozen=True, slots=True)
class Input:
    """All that is read, of one side or of two."""

    units: list[Unit]
    rows: tuple[int, ...]
    """Of each side."""
    dim: int
    dtype: str
    id_types: tuple[str | None, ...]
    """Of each side."""

    @property
    def total(self) -> int:
        """Rows of all sides."""
        return sum(self.rows)


def survey(
    sides: Sequence[list[InputFile]], ids: Sequence[str | None], more: Sequence[str], rows: int
) -> list[list[Head]]:
    """What all files say of themselves."""
    return [
        [head_of(file, own_ids, more, rows) for file in files]
        for files, own_ids in zip(sides, ids, strict=True)
    ]


def shape_of(sides: Sequence[list[InputFile]], heads: Sequence[list[Head]]) -> tuple[int, str]:
    """The one dimension and the one type that all boxes have."""
    told = [
        (file, head)
        for files, own in zip(sides, heads, strict=True)
        for file, head in zip(files, own, strict=True)
    ]
    for file, head in told:
        if head.dim != told[0][1].dim:
            raise FileError(
                f"{file.path}: is {head.dim}-D and {told[0][0].path} is {told[0][1].dim}-D; "
                "all files must have the same dimension"
            )
    dim = told[0][1].dim if told else 2
    return dim, "float32" if told and all(head.single for _, head in told) else "float64"


def divide(sides: Sequence[list[InputFile]], heads: Sequence[list[Head]], rows: int) -> Input:
    """Divide the files into units of about so many rows."""
    units: list[Unit] = []
    chunk = 0
    for side, (files, own) in enumerate(zip(sides, heads, strict=True)):
        first_row = 0
        for pieces in _grouped(_pieces(files, own, rows), rows):
            total = sum(piece.rows for piece in pieces)
            units.append(Unit(len(units), side, first_row, chunk, total, tuple(pieces)))
            first_row += total
            chunk += -(-total // rows)
    dim, dtype = shape_of(sides, heads)
    totals = tuple(sum(sum(head.groups) for head in own) for own in heads)
    return Input(units, totals, dim, dtype, tuple(map(_id_type, heads)))


def _id_type(heads: list[Head]) -> str | None:
    kinds = {head.id_type for head in heads}
    if len(kinds) > 1:
        return "text"
    return kinds.pop() if kinds else None


def _pieces(files: list[InputFile], heads: list[Head], rows: int) -> Iterator[Piece]:
    for file, head in zip(files, heads, strict=True):
        file_row = 0
        for k, size in enumerate(head.groups):
            first, last = (file_row, file_row + size) if file.kind == "npy" else (k, k + 1)
            if size:
                yield Piece(file, first, last, size, file_row)
            file_row += size


def _grouped(pieces: Iterator[Piece], rows: int) -> Iterator[list[Piece]]:
    """Pieces that follow each other, together not more than so many rows."""
    group: list[Piece] = []
    held = 0
    for piece in pieces:
        if group and held + piece.rows > rows:
            yield group
            group, held = [], 0
        group.append(piece)
        held += piece.rows
    if group:
        yield group


def chunks_in(units: Sequence[Unit], rows: int) -> list[tuple[int, int]]:
    """Side and first row of every chunk, by its number."""
    return [(unit.side, unit.first_row + begin) for unit in units for begin in range(0, unit.rows, rows)]
