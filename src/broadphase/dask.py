"""`broadphase.outofcore` for Dask DataFrames, on a cluster.

The workers write their partitions as Parquet files and run the tasks on them.  The result is a DataFrame that
reads the files of pairs.  No data goes through the client.  Needs the extra ``dask``.
"""

import os
import shutil
from contextlib import suppress
from pathlib import Path
from typing import Any

from broadphase.errors import need, refuse_in_browser

refuse_in_browser("broadphase.dask", "processes and no sockets")

from broadphase import outofcore  # noqa: E402

_dataframe = need("dask.dataframe", extra="dask", purpose="broadphase.dask")


def pairs(frame: Any, out: str | os.PathLike[str], *, ids: str | None = None, **options: Any) -> Any:
    """Find every pair of overlapping boxes among the rows of a Dask DataFrame.

    Parameters
    ----------
    frame : dask.dataframe.DataFrame
        Columns as for `broadphase.outofcore.pairs`; rows are numbered over all partitions in order.
    out : path
        A folder that does not exist yet and that all workers see; the pairs are read from it later.
    ids : str, optional
        A column of integers or text that is written in place of row numbers.
    **options
        Other arguments of `broadphase.outofcore.pairs`.  ``executor`` is by default the cluster of the
        current client, if there is one.

    Returns
    -------
    dask.dataframe.DataFrame
        Columns ``i`` and ``j``, or ``id_i`` and ``id_j``.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> import dask.dataframe as dd, pandas as pd
    >>> boxes = pd.DataFrame([[0, 0, 2, 2], [1, 1, 3, 3]], columns=["min_x", "min_y", "max_x", "max_y"])
    >>> with TemporaryDirectory() as folder:
    ...     list(pairs(dd.from_pandas(boxes, npartitions=2), f"{folder}/pairs").columns)
    ['i', 'j']
    """
    work = _work(out, options)
    source = _written(frame, work / "frame")
    outofcore.pairs(source, out, ids=ids, **_with_cluster(options, work))
    return _read(out, work)


def join(
    a: Any,
    b: Any,
    out: str | os.PathLike[str],
    *,
    ids: str | tuple[str | None, str | None] | None = None,
    **options: Any,
) -> Any:
    """Find every row of ``b`` that each row of ``a`` overlaps.

    Parameters
    ----------
    a, b : dask.dataframe.DataFrame
        As for `pairs`.
    out, ids, **options
        As for `broadphase.outofcore.join`.

    Returns
    -------
    dask.dataframe.DataFrame
        Columns ``i`` and ``j``, or ``id_i`` and ``id_j``.
    """
    work = _work(out, options)
    sides = _written(a, work / "a"), _written(b, work / "b")
    outofcore.join(*sides, out, ids=ids, **_with_cluster(options, work))
    return _read(out, work)


def _work(out: Any, options: dict[str, Any]) -> Path:
    """A folder for the rows of the frames, emptied of what a killed run left there."""
    work = options.get("work")
    folder = Path(work) / "frames" if work is not None else Path(f"{os.fspath(out)}.frames")
    shutil.rmtree(folder, ignore_errors=True)
    return folder


def _written(frame: Any, folder: Path) -> str:
    """Write the rows of a frame to files whose names are in the order of its partitions."""
    frame.to_parquet(str(folder), write_index=False, overwrite=True)
    return str(folder)


def _with_cluster(options: dict[str, Any], work: Path) -> dict[str, Any]:
    options = {**options, "work": work / "work"}
    if "executor" not in options:
        distributed = need("distributed", extra="dask", purpose="a cluster")
        with suppress(ValueError):  # no client: threads of this process do the work
            options["executor"] = distributed.get_client().get_executor()
    return options


def _read(out: Any, work: Path) -> Any:
    shutil.rmtree(work)
    return _dataframe.read_parquet(f"{os.fspath(out)}/*.parquet")
