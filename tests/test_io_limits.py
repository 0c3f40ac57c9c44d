"""Small files that claim to hold much take hardly any memory, and the error says why."""

import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from io_attacks import ATTACKS, EDGES
from pyarrow import feather, ipc, parquet

from broadphase.errors import FileError
from broadphase.files import Limits, read_boxes

if sys.platform != "win32":
    import resource

PEAK = """
import sys, pyarrow.ipc, pyarrow.parquet, pathlib
from broadphase.files import Limits, read_boxes
own = pathlib.Path("/proc/self")
def megabytes(what):
    return int((own / "status").read_text().split(what)[1].split()[0]) >> 10
for path in sys.argv[1:]:
    (own / "clear_refs").write_text("5")  # the peak is what it is now
    before = megabytes("VmRSS:")
    try:
        said = f"{len(read_boxes(path, limits=Limits(size=1 << 27)).boxes)} boxes"
    except ValueError as error:
        said = error
    print(megabytes("VmHWM:") - before, said)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="memory is read from /proc")
def test_small_files_that_need_much_memory_are_refused_before_they_take_it(tmp_path):
    paths = [make(tmp_path) for make, _ in ATTACKS.values()]
    # A gigabyte and a half is all that they get, so that a failure does not take the machine down.
    most = 3 << 29
    done = subprocess.run(
        [sys.executable, "-c", PEAK, *map(str, paths)],
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_DATA, (most, most)),
        capture_output=True,
        text=True,
        check=True,
    )
    lines = done.stdout.splitlines()
    for path, (name, (_, wanted)), line in zip(paths, ATTACKS.items(), lines, strict=True):
        grown, _, said = line.partition(" ")
        assert int(grown) < 200, f"{name}: took {grown} MB; {said}"
        assert path.stat().st_size < 14 << 20
        assert re.search(wanted, said), f"{name}: {said}"


def small(path: Path, **more) -> Path:
    table = pa.table({**{name: np.arange(5.0) for name in EDGES}, **more})
    if path.suffix == ".parquet":
        parquet.write_table(table, path)
    elif path.suffix == ".csv":
        rows = [
            ",".join(table.column_names),
            *(",".join(map(str, row.values())) for row in table.to_pylist()),
        ]
        path.write_text("\n".join(rows) + "\n", encoding="utf-8")
    elif path.suffix == ".npy":
        np.save(path, np.column_stack([table.column(name).to_numpy() for name in EDGES]))
    elif path.suffix == ".arrows":
        path = path.with_suffix(".arrow")
        with ipc.new_stream(path, table.schema) as writer:
            writer.write_table(table)
    else:
        feather.write_feather(table, path)
    return path


@pytest.mark.parametrize("name", ["a.csv", "a.npy", "a.parquet", "a.feather", "a.arrows"])
def test_rows_beyond_the_limit_are_named_and_none_lifts_it(name, tmp_path):
    path = small(tmp_path / name)
    with pytest.raises(FileError, match="holds 5 rows, the limit is 4; limits=None reads it") as caught:
        read_boxes(path, limits=Limits(rows=4))
    assert str(caught.value).startswith(f"{path}: ")
    assert len(read_boxes(path, limits=Limits(rows=5)).boxes) == 5
    assert len(read_boxes(path, limits=None).boxes) == 5


@pytest.mark.parametrize("name", ["a.csv", "a.parquet", "a.feather", "a.arrows"])
def test_columns_beyond_the_limit_are_named(name, tmp_path):
    path = small(tmp_path / name, other=np.zeros(5))
    with pytest.raises(FileError, match="holds 5 columns, the limit is 4"):
        read_boxes(path, limits=Limits(columns=4))
    assert len(read_boxes(path, limits=Limits(columns=5)).boxes) == 5


@pytest.mark.parametrize("name", ["a.parquet", "a.feather", "a.arrows"])
def test_only_the_columns_that_are_read_count(name, tmp_path):
    path = small(
        tmp_path / name,
        bools=[True] * 5,
        texts=["x" * 10_000] * 5,
        lists=[[[1.0, 2.0]]] * 5,
        structs=[{"a": 1, "b": {"c": "y"}}] * 5,
        nulls=pa.nulls(5),
        kinds=pa.array(["k"] * 5).dictionary_encode(),
    )
    strict = Limits(size=45_000, inflation=0.0)
    assert len(read_boxes(path, limits=strict).boxes) == 5
    with pytest.raises(FileError, match=r"columns to be read take .* decoded, the limit is "):
        read_boxes(small(tmp_path / name, id=["x" * 10_000 + str(k) for k in range(5)]), limits=strict)


def test_a_large_file_may_hold_more_than_a_small_one(tmp_path):
    path = small(tmp_path / "a.parquet")
    assert len(read_boxes(path, limits=Limits(size=1 << 15, inflation=0)).boxes) == 5
    tight = Limits(size=100_000, inflation=0.0)
    with pytest.raises(FileError, match=r"the limit is 97\.7 KiB"):
        read_boxes(small(tmp_path / "a.parquet", id=["x" * 30_000 + str(k) for k in range(5)]), limits=tight)
    loose = Limits(size=100_000, inflation=1e6)
    assert len(read_boxes(tmp_path / "a.parquet", limits=loose).boxes) == 5


@pytest.mark.parametrize("suffix", [".parquet", ".feather"])
def test_ids_with_a_dictionary_are_those_that_were_written(suffix, tmp_path):
    texts = pa.chunked_array([["a", None, "b"], ["b", "a"]]).dictionary_encode()
    path = small(tmp_path / f"a{suffix}", id=texts)
    assert read_boxes(path).ids.tolist() == ["a", "", "b", "b", "a"]


@pytest.mark.parametrize("cut", [0.2, 0.5, 0.9, 0.99])
def test_an_arrow_stream_that_ends_early_is_no_file(cut, tmp_path):
    path = small(tmp_path / "a.arrows")
    path.write_bytes(path.read_bytes()[: int(cut * path.stat().st_size)])
    if cut == 0.99:  # only the end mark is cut, which streams may lack
        assert len(read_boxes(path).boxes) == 5
    else:
        with pytest.raises(FileError, match="is no Arrow file that can be read"):
            read_boxes(path)
