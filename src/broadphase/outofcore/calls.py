"""The public functions: `pairs`, `join`, `count_pairs` and `plan` for boxes that do not fit into memory."""

import os
from collections.abc import Callable, Iterator
from concurrent.futures import Executor
from typing import Any, TypedDict, Unpack, overload

from broadphase.errors import need, refuse_in_browser

refuse_in_browser("broadphase.outofcore", "processes and keeps no files")
need("pyarrow", extra="io", purpose="broadphase.outofcore")

from broadphase.outofcore import run  # noqa: E402
from broadphase.outofcore.request import Plan, Progress, Request, Written  # noqa: E402

Path = str | os.PathLike[str]
ProgressCallback = Callable[[Progress], None]


class _Options(TypedDict, total=False):
    ids: str | tuple[str | None, str | None] | None
    touching: bool
    static: Any
    categories: Any
    masks: Any
    memory: int | str
    executor: Executor | None
    workers: int | None
    work: Path | None
    max_pairs: int | None
    progress: ProgressCallback | None


@overload
def pairs(source: Any, out: Path, **options: Unpack[_Options]) -> Written: ...
@overload
def pairs(source: Any, out: None = None, **options: Unpack[_Options]) -> Iterator[Any]: ...
def pairs(source: Any, out: Path | None = None, **options: Unpack[_Options]) -> Written | Iterator[Any]:
    """Find every pair of overlapping boxes among more boxes than fit into memory.

    Parameters
    ----------
    source : path, array or iterable
        A Parquet, Arrow or ``.npy`` file; a folder, a glob or a list of such files, sorted by name with
        numbers by value; a memory map; an array, a table, or an iterable of arrays, tables or record batches,
        which are written to the work folder first.  Columns are found by name as by
        `broadphase.files.read_boxes`, those of GeoParquet's ``bbox`` too.  A path with ``://`` is opened by
        fsspec.
    out : path, optional
        A folder that does not exist yet or is empty.  It gets Parquet files whose first two columns are the
        pairs, and appears when all is done.  Without it, the pairs come as an iterator.
    ids : str, optional
        A column of integers or text that is written in place of row numbers.
    touching : bool
        Whether boxes that share only an edge or a corner overlap.
    static, categories, masks : str or array_like, optional
        The rules of `broadphase.pairs`: the name of a column, or one entry for each row of all input.
    memory : int or str
        What all tasks that run at the same time may hold, such as ``"2 GB"``; Python, NumPy and pyarrow need
        about 150 MB for each process in addition.
    executor : concurrent.futures.Executor, optional
        Runs the tasks: anything with ``submit``, also Dask's ``client.get_executor()``.  By default threads
        of this process.
    workers : int, optional
        How many tasks run at the same time; by default as many as the executor has workers.
    work : path, optional
        The folder for temporary files, which all workers must see.  By default the name of ``out`` followed
        by ``.work``, or a folder in the system's folder for temporary files.  It is removed at the end.
    max_pairs : int, optional
        Raise an error rather than write more pairs than this.
    progress : callable, optional
        Called with a `Progress` after each task; its ``plan`` says what the call takes.

    Returns
    -------
    Written or iterator of pyarrow.RecordBatch
        Columns ``i`` and ``j``, int64 row numbers over all input in order, ``i < j``; or ``id_i`` and
        ``id_j``. Each part is sorted by rows; between parts there is no order.

    Raises
    ------
    ValueError
        A row holds NaN, null or ``min > max`` (file and row are named), a column is missing, or ``memory`` is
        too small.  No files are left behind.
    PairLimitExceeded
        There are more than ``max_pairs`` pairs.  No files are left behind.
    FileExistsError
        ``out`` or ``work`` hold something else.
    OSError
        A file cannot be read or written, or the disk is full.  Finished work is kept: the same call resumes
        there, as after Ctrl-C or when the process was killed.

    Examples
    --------
    >>> from broadphase import outofcore
    >>> boxes = [[0, 0, 2, 2], [1, 1, 3, 3], [3, 3, 4, 4]]
    >>> [batch.to_pydict() for batch in outofcore.pairs(boxes)]
    [{'i': [0, 1], 'j': [1, 2]}]
    """
    request = Request({"source": source}, out, **options)
    return run.batches(request) if out is None else run.write(request)


@overload
def join(a: Any, b: Any, out: Path, **options: Unpack[_Options]) -> Written: ...
@overload
def join(a: Any, b: Any, out: None = None, **options: Unpack[_Options]) -> Iterator[Any]: ...
def join(a: Any, b: Any, out: Path | None = None, **options: Unpack[_Options]) -> Written | Iterator[Any]:
    """Find every row of ``b`` that each row of ``a`` overlaps, among more boxes than fit into memory.

    Parameters
    ----------
    a, b : path, array or iterable
        As ``source`` in `pairs`, both 2-D or both 3-D.
    ids : str or tuple, optional
        A column of both sides that is written in place of row numbers, or one of each side or None.
    out, touching, memory, executor, workers, work, max_pairs, progress
        As for `pairs`.

    Returns
    -------
    Written or iterator of pyarrow.RecordBatch
        As for `pairs`; the first column is of ``a``, the second of ``b``.

    Raises
    ------
    ValueError, PairLimitExceeded, FileExistsError, OSError
        As for `pairs`.

    Examples
    --------
    >>> from broadphase import outofcore
    >>> shots, ships = [[0, 0, 1, 1], [8, 8, 9, 9]], [[5, 5, 7, 7], [8, 8, 10, 10], [0, 0, 2, 2]]
    >>> [batch.to_pydict() for batch in outofcore.join(shots, ships)]
    [{'i': [0, 1], 'j': [2, 1]}]
    """
    request = Request({"a": a, "b": b}, out, **options)
    return run.batches(request) if out is None else run.write(request)


def count_pairs(source: Any, *, other: Any = None, **options: Unpack[_Options]) -> int:
    """Count the pairs of boxes that overlap, without storing them.

    Parameters
    ----------
    source, touching, static, categories, masks, memory, executor, workers, work, progress
        As for `pairs`.
    other : path, array or iterable, optional
        Count what `join` of ``source`` and ``other`` would write; ``static``, ``categories`` and ``masks``
        are for one source only.

    Returns
    -------
    int
        The number of pairs.

    Examples
    --------
    >>> from broadphase import outofcore
    >>> outofcore.count_pairs([[0, 0, 2, 2], [1, 1, 3, 3], [3, 3, 4, 4]])
    2
    """
    return run.count(Request(_with_other(source, other), **options))


def _with_other(source: Any, other: Any) -> dict[str, Any]:
    return {"source": source} if other is None else {"source": source, "other": other}


def plan(source: Any, *, other: Any = None, memory: int | str = "2 GB", workers: int | None = None) -> Plan:
    """Estimate from a sample what `pairs` of this source would take; with ``other``, what `join` would.

    Parameters
    ----------
    source, memory, workers
        As for `pairs`.
    other : path, array or iterable, optional
        The second side of a join.

    Returns
    -------
    Plan
        Printable; its fields say how many boxes and tiles there are, and the most that temporary files take.

    Examples
    --------
    >>> from broadphase import outofcore
    >>> outofcore.plan([[0, 0, 2, 2], [1, 1, 3, 3]]).tiles
    1
    """
    return run.plan_only(Request(_with_other(source, other), memory=memory, workers=workers))
