"""Which files a source names, in which order, and what each of them says of itself without being read."""

import errno
import mmap
import os
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from pyarrow import ipc, parquet

from broadphase.columns import Layout
from broadphase.errors import FileError
from broadphase.extras import need
from broadphase.files.arrow import flat_fields, one_error
from broadphase.files.columns import find_layout

KINDS = {
    ".parquet": "Parquet",
    ".pq": "Parquet",
    ".arrow": "Arrow",
    ".feather": "Arrow",
    ".ipc": "Arrow",
    ".npy": "npy",
}
_WILD = re.compile(r"[*?\[]")


@dataclass(frozen=True, slots=True)
class InputFile:
    """A file of boxes; ``memory`` says where in it the numbers of a memory map begin, and what they are."""

    path: str
    kind: str
    memory: tuple[int, str, tuple[int, ...]] | None = None


@dataclass(frozen=True, slots=True)
class Head:
    """What a file says of itself."""

    dim: int
    single: bool
    """Whether its edges are float32."""
    groups: list[int]
    """Rows of its row groups or record batches; one entry where it has no such parts."""
    id_type: str | None = None
    """``"int64"``, ``"uint64"`` or ``"text"``."""


def is_remote(path: str) -> bool:
    """Whether fsspec knows the way to this path."""
    return "://" in path


def file_system(path: str) -> tuple[Any, str]:
    """The file system of a remote path, and the path in it."""
    found: tuple[Any, str] = need("fsspec.core", extra="dask", purpose=f"{path}: a path with ://").url_to_fs(
        path
    )
    return found


def open_input(path: str) -> Any:
    """A file that pyarrow reads from; raises ``OSError`` where there is none."""
    if is_remote(path):
        system, inner = file_system(path)
        return pa.PythonFile(system.open(inner, "rb"), mode="r")
    return pa.OSFile(path)


def input_files(source: Any, name: str) -> list[InputFile]:
    """The files that a path, a glob, a folder, a memory map or a list of such stands for."""
    if isinstance(source, np.memmap):
        return [_mapped(source)]
    if isinstance(source, (list, tuple)):
        return [file for one in source for file in input_files(one, name)]
    path = os.fspath(source)
    found = _remote_paths(path) if is_remote(path) else _local_paths(path)
    if not found:
        raise FileNotFoundError(errno.ENOENT, f"no files of boxes ({', '.join(KINDS)}) there", path)
    return [InputFile(one, _kind(one)) for one in found]


def is_files(source: Any) -> bool:
    """Whether a source is made of files, which can be read more than once and by others."""
    if isinstance(source, np.memmap):
        return bool(isinstance(source.base, mmap.mmap) and source.flags.c_contiguous and source.filename)
    if isinstance(source, (list, tuple)):
        return (
            len(source) > 0
            and all(isinstance(one, (str, os.PathLike, np.memmap)) for one in source)
            and all(map(is_files, source))
        )
    return isinstance(source, (str, os.PathLike))


def _mapped(array: "np.memmap[Any, Any]") -> InputFile:
    return InputFile(str(array.filename), "npy", (array.offset, array.dtype.str, array.shape))


def _kind(path: str) -> str:
    suffix = Path(path).suffix.lower()
    if suffix not in KINDS:
        raise FileError(
            f"{path}: the ending {suffix!r} is not known; it may be {', '.join(KINDS)} "
            "(other formats: give an iterable of arrays or record batches)"
        )
    return KINDS[suffix]


def _local_paths(path: str) -> list[str]:
    place = Path(path)
    if place.is_dir():
        return _in_order([str(file) for file in place.rglob("*") if _wanted(file.relative_to(place).parts)])
    if _WILD.search(path) and not place.exists():
        anchor = Path(place.anchor)
        return _in_order(
            [str(file) for file in anchor.glob(str(place.relative_to(anchor))) if file.is_file()]
        )
    with place.open("rb"):  # says what is wrong with it
        return [path]


def _remote_paths(path: str) -> list[str]:
    system, inner = file_system(path)
    if _WILD.search(inner):
        found = system.glob(inner)
    elif system.isdir(inner):
        found = [file for file in system.find(inner) if _wanted(Path(os.path.relpath(file, inner)).parts)]
    else:
        found = [inner] if system.exists(inner) else []
    return _in_order([system.unstrip_protocol(one) for one in found])


def _wanted(parts: Sequence[str]) -> bool:
    """Whether a file in a folder is data: what begins with a dot or an underscore is not."""
    return Path(parts[-1]).suffix.lower() in KINDS and not any(part.startswith((".", "_")) for part in parts)


def _in_order(paths: list[str]) -> list[str]:
    """By name, numbers in it by their value: ``part.10`` comes after ``part.2``."""
    return sorted(
        paths,
        key=lambda path: [
            (part.isdigit(), int(part) if part.isdigit() else part) for part in re.split(r"(\d+)", path)
        ],
    )


def identity(file: InputFile) -> list[Any]:
    """What changes when the file does."""
    if is_remote(file.path):
        system, inner = file_system(file.path)
        told = system.info(inner)
        marks = [told.get(key) for key in ("size", "ETag", "etag", "mtime", "LastModified", "created")]
        return [file.path, *map(str, marks)]
    status = Path(file.path).stat()
    return [str(Path(file.path).resolve()), status.st_size, status.st_mtime_ns, str(file.memory)]


def head_of(file: InputFile, ids: str | None, more: Sequence[str], rows: int) -> Head:
    """What the file says of itself; ``rows`` at a time where it has no parts of its own.

    Raises
    ------
    FileError
        It cannot be read, has no columns for edges, or lacks one of those that are asked for.
    """
    if file.kind == "npy":
        return _npy_head(file, ids, more, rows)
    with open_input(file.path) as opened, one_error(file.path, file.kind):
        if file.kind == "Parquet":
            seen = parquet.ParquetFile(opened)
            told = seen.metadata
            groups = [told.row_group(k).num_rows for k in range(told.num_row_groups)]
            fields = flat_fields(seen.schema_arrow)
        else:
            groups, fields = _arrow_groups(opened)
    layout = layout_of([name for name, _ in fields], file.path, ids, more)
    types = dict(fields)
    single = all(types[edge] == pa.float32() for edge in layout.edges)
    sized = any(axis.sized for axis in layout.axes)
    return Head(
        len(layout.axes),
        single and not sized,
        groups,
        _id_type(types[layout.id]) if ids is not None and layout.id is not None else None,
    )


def layout_of(names: Sequence[str], path: str, ids: str | None, more: Sequence[str]) -> Layout:
    """Which column is which; all that were asked for are there."""
    layout = find_layout(names, path, ids)
    for wanted in more:
        if names.count(wanted) != 1:
            raise FileError(f"{path}: {names.count(wanted) or 'no'} columns {wanted!r}; there must be one")
    return layout


def own_id_column(file: InputFile) -> str | None:
    """The column ``id`` or ``fid`` of a file, if it has one."""
    if file.kind == "npy":
        return None
    with open_input(file.path) as opened, one_error(file.path, file.kind):
        schema = parquet.read_schema(opened) if file.kind == "Parquet" else _open_arrow(opened)[1].schema
    return find_layout([name for name, _ in flat_fields(schema)], file.path).id


def _id_type(kind: Any) -> str:
    if pa.types.is_integer(kind):
        return "uint64" if kind == pa.uint64() else "int64"
    return "text"


def _open_arrow(opened: Any) -> tuple[bool, Any]:
    """Whether an Arrow file has an index of its batches, and its reader."""
    is_file = opened.read(6) == b"ARROW1"
    opened.seek(0)
    return is_file, ipc.open_file(opened) if is_file else ipc.open_stream(opened)


def _arrow_groups(opened: Any) -> tuple[list[int], list[tuple[str, Any]]]:
    is_file, reader = _open_arrow(opened)
    if is_file:
        sizes = [reader.get_batch(k).num_rows for k in range(reader.num_record_batches)]
    else:
        sizes = [sum(batch.num_rows for batch in reader)]
    return sizes, flat_fields(reader.schema)


def npy_array(file: InputFile) -> Any:
    """The numbers of a ``.npy`` file or a memory map, not yet read."""
    if file.memory is not None:
        offset, kind, shape = file.memory
        return np.memmap(file.path, kind, "r", offset, shape)
    with one_error(file.path, "npy"):
        return np.load(file.path, mmap_mode="r")


def _npy_head(file: InputFile, ids: str | None, more: Sequence[str], rows: int) -> Head:
    wanted = ([ids] if ids is not None else []) + list(more)
    if wanted:
        raise FileError(f"{file.path}: no column {wanted[0]!r}; a .npy file has none")
    if is_remote(file.path):
        raise FileError(
            f"{file.path}: a .npy file is mapped into memory and must be local; use Parquet or Arrow"
        )
    array = npy_array(file)
    if array.ndim != 2 or array.shape[1] not in (4, 6) or array.dtype.kind not in "iuf":
        raise FileError(
            f"{file.path}: holds {array.dtype} of shape {array.shape}, not numbers of shape (n, 4) or (n, 6)"
        )
    groups = [min(rows, len(array) - begin) for begin in range(0, len(array), rows)]
    return Head(array.shape[1] // 2, array.dtype == np.float32, groups)
