"""Boxes and pairs in .npy, Parquet and Arrow; pairs are written completely or not at all."""

import os
import stat
import sys
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from io_helpers import BOXES, BOXES_3D, message, written
from pyarrow import feather, parquet

from broadphase.errors import FileError, MissingExtraError
from broadphase.files import check_output, read_boxes, write_pairs

pytestmark = [pytest.mark.smaller_set, pytest.mark.usefixtures("open_files_stay")]


class TestNpy:
    @pytest.mark.parametrize("boxes", [BOXES, BOXES_3D, BOXES.astype(np.float32), np.empty((0, 4))])
    def test_round_trip(self, tmp_path, boxes):
        np.save(tmp_path / "a.npy", boxes)
        read, ids = read_boxes(tmp_path / "a.npy")
        assert read.dtype == boxes.dtype
        assert np.array_equal(read, boxes)
        assert ids is None

    def test_pickles_are_not_opened(self, tmp_path):
        np.save(tmp_path / "a.npy", np.array([[1, 2, 3, "4"]], object), allow_pickle=True)
        assert "allow_pickle=False" in message(tmp_path / "a.npy")

    @pytest.mark.parametrize("content", [b"", b"hello, world", b"\x93NUMPY\x01\x00v\x00{'descr': '<f8', "])
    def test_something_else_under_that_name(self, tmp_path, content):
        path = tmp_path / "a.npy"
        path.write_bytes(content)
        assert message(path).startswith("is no .npy file that can be read: ")

    def test_cut_short(self, tmp_path):
        path = tmp_path / "a.npy"
        np.save(path, BOXES)
        path.write_bytes(path.read_bytes()[:-8])
        assert message(path).startswith("is no .npy file that can be read: ")

    def test_unsound_boxes_are_named(self, tmp_path):
        path = tmp_path / "a.npy"
        np.save(path, np.array([[0, 0, 1, 1], [5, 0, 1, 1.0]]))
        with pytest.raises(FileError) as caught:
            read_boxes(path)
        assert str(caught.value).startswith(f"{path}[1] has min_x = 5 > max_x = 1")

    def test_a_wrong_shape_or_type(self, tmp_path):
        path = tmp_path / "a.npy"
        np.save(path, np.zeros((3, 5)))
        with pytest.raises(FileError, match=r"a\.npy must have shape \(n, 4\) in 2-D"):
            read_boxes(path)
        np.save(path, np.array([["a", "b", "c", "d"]]))
        with pytest.raises(FileError, match=r"a\.npy must hold real numbers"):
            read_boxes(path)

    def test_it_has_no_columns(self, tmp_path):
        np.save(tmp_path / "a.npy", BOXES)
        assert message(tmp_path / "a.npy", id_column="tag").startswith("no column 'tag' for the ids")


def save_arrow(table: pa.Table, path: Path) -> None:
    if path.suffix in (".parquet", ".pq"):
        parquet.write_table(table, path, row_group_size=2)
    elif path.suffix == ".feather":
        feather.write_feather(table, path, chunksize=2)
    elif path.suffix == ".ipc":
        with pa.ipc.new_stream(path, table.schema) as stream:
            stream.write_table(table, max_chunksize=2)
    else:
        with pa.ipc.new_file(path, table.schema) as file:
            file.write_table(table, max_chunksize=2)


@pytest.mark.parametrize("name", ["a.parquet", "a.pq", "a.arrow", "a.feather", "a.ipc"])
class TestArrow:
    def table(self, dtype=np.float64, **more) -> pa.Table:
        columns = dict(zip(["xmin", "ymin", "xmax", "ymax"], BOXES.astype(dtype).T, strict=True))
        return pa.table({"other": ["p", "q", None], **columns, **more})

    @pytest.mark.parametrize("dtype", [np.float32, np.float64])
    def test_round_trip(self, tmp_path, name, dtype):
        save_arrow(self.table(dtype), tmp_path / name)
        boxes, ids = read_boxes(tmp_path / name)
        assert boxes.dtype == dtype
        assert np.array_equal(boxes, BOXES.astype(dtype))
        assert ids is None

    def test_integers_and_decimals(self, tmp_path, name):
        table = pa.table({"x": [1, 2], "y": [3, 4], "w": [5, 6], "h": pa.array([7, 8], pa.decimal128(9, 2))})
        save_arrow(table, tmp_path / name)
        assert read_boxes(tmp_path / name).boxes.tolist() == [[1, 3, 6, 10], [2, 4, 8, 12]]

    @pytest.mark.parametrize(
        ("ids", "read"),
        [
            ([3, 1, 2], [3, 1, 2]),
            (["a", "b", "a"], ["a", "b", "a"]),
            (["a", None, "c"], ["a", "", "c"]),
            ([3, None, 2], ["3", "", "2"]),
            (pa.array(["a", "b", "a"]).dictionary_encode(), ["a", "b", "a"]),
            (pa.array([2**64 - 1, 0, 1], pa.uint64()), [2**64 - 1, 0, 1]),
        ],
    )
    def test_ids(self, tmp_path, name, ids, read):
        save_arrow(self.table(ID=ids), tmp_path / name)
        assert read_boxes(tmp_path / name).ids.tolist() == read

    def test_ids_that_are_none(self, tmp_path, name):
        save_arrow(self.table(id=[[1], [2], [3]]), tmp_path / name)
        assert "column id holds list" in message(tmp_path / name)

    def test_edges_inside_a_structure(self, tmp_path, name):
        bbox = [dict(zip(["xmin", "ymin", "xmax", "ymax"], box, strict=True)) for box in BOXES.tolist()]
        save_arrow(pa.table({"id": ["a", "b", "c"], "bbox": bbox}), tmp_path / name)
        boxes, ids = read_boxes(tmp_path / name)
        assert np.array_equal(boxes, BOXES)
        assert ids.tolist() == ["a", "b", "c"]

    def test_what_is_wrong_is_named(self, tmp_path, name):
        save_arrow(pa.table({"x": [1, None], "y": [1, 2], "w": [1, 2], "h": [1, 2]}), tmp_path / name)
        assert message(tmp_path / name) == "row 1, column x: is empty (null)"
        save_arrow(pa.table({"x": [1, 2], "y": ["1", "2"], "w": [1, 2], "h": [1, 2]}), tmp_path / name)
        assert message(tmp_path / name) == "column y holds string, where numbers belong"
        save_arrow(
            pa.table({"x": [1, 2, 3], "y": [1, 2, 3], "w": [1, 2, -3], "h": [1, 2, 3]}), tmp_path / name
        )
        assert message(tmp_path / name) == "row 2, column w = -3 is negative"
        save_arrow(pa.table({"geometry": ["POINT(1 2)"]}), tmp_path / name)
        assert message(tmp_path / name).startswith("no columns for the x axis among 'geometry'")

    @pytest.mark.parametrize("content", [b"", b"hello, world", b"ARROW1\0\0", b"PAR1PAR1"])
    def test_something_else_under_that_name(self, tmp_path, name, content):
        path = tmp_path / name
        path.write_bytes(content)
        assert "file that can be read: " in message(path)

    def test_pairs_round_trip(self, tmp_path, name):
        pairs = np.array([[0, 2], [1, 2]], np.int32)
        ids = np.array([5, 6, 7]), np.array(["x", "y", "z"], object)
        write_pairs(tmp_path / name, pairs)
        assert self.read_table(tmp_path / name) == {"i": [0, 1], "j": [2, 2]}
        write_pairs(tmp_path / name, pairs, ids=ids)
        assert self.read_table(tmp_path / name) == {"id_i": [5, 6], "id_j": ["z", "z"]}
        write_pairs(tmp_path / name, pairs[:0], ids=ids)
        assert self.read_table(tmp_path / name) == {"id_i": [], "id_j": []}

    def read_table(self, path: Path) -> dict[str, list]:
        if path.suffix in (".parquet", ".pq"):
            with parquet.ParquetFile(path) as file:  # `read_table` may close it later than it returns
                return file.read().to_pydict()
        with path.open("rb") as file:  # the same
            return feather.read_table(file).to_pydict()


def without_pyarrow(monkeypatch) -> None:
    for module in [name for name in sys.modules if name.partition(".")[0] == "pyarrow"]:
        monkeypatch.delitem(sys.modules, module)
    monkeypatch.setitem(sys.modules, "pyarrow", None)


def test_without_pyarrow_the_extra_is_named(tmp_path, monkeypatch):
    path = written(tmp_path, "a.parquet", "")
    without_pyarrow(monkeypatch)
    advice = r'needs pyarrow: python -m pip install "broadphase\[io\]"'
    with pytest.raises(MissingExtraError, match=f"reading Parquet {advice}"):
        read_boxes(path)
    with pytest.raises(MissingExtraError, match=f"writing Parquet {advice}"):
        check_output(path)


PAIRS = np.array([[0, 1], [0, 2], [1, 2]], np.int32)


class Broken:
    """An id that no format can hold."""

    def __str__(self) -> str:
        raise ValueError("broken")


class TestWriting:
    @pytest.mark.parametrize(("name", "delimiter"), [("a.csv", ","), ("a.tsv", "\t"), ("a.txt", ",")])
    def test_text(self, tmp_path, name, delimiter):
        write_pairs(tmp_path / name, PAIRS)
        assert (tmp_path / name).read_bytes() == b"i,j\n0,1\n0,2\n1,2\n".replace(b",", delimiter.encode())

    def test_ids(self, tmp_path):
        ids = np.array(["a", 'b "c"', "d,e"], object)
        write_pairs(tmp_path / "a.csv", PAIRS, ids=(ids, None))
        assert (tmp_path / "a.csv").read_text() == 'id_i,j\na,1\na,2\n"b ""c""",2\n'

    def test_more_pairs_than_one_batch(self, tmp_path):
        many = np.arange(240_002, dtype=np.int32).reshape(-1, 2)
        calls: list[tuple[int, int]] = []
        write_pairs(tmp_path / "a.csv", many, progress=lambda *call: calls.append(call))
        assert np.array_equal(np.loadtxt(tmp_path / "a.csv", int, delimiter=",", skiprows=1), many)
        assert calls[-1] == (len(many), len(many))

    def test_npy(self, tmp_path):
        path = tmp_path / "a.npy"
        write_pairs(path, PAIRS)
        read = np.load(path)
        assert read.dtype == np.int32
        assert np.array_equal(read, PAIRS)
        write_pairs(path, PAIRS, ids=(np.array([5, 6, 7]), np.array([1, 2, 2**63 - 1], np.uint64)))
        assert np.load(path).tolist() == [[5, 2], [5, 2**63 - 1], [6, 2**63 - 1]]
        write_pairs(path, PAIRS, ids=(np.array([5, 6, 7]), np.array([1, 2, 2**64 - 1], np.uint64)))
        assert np.load(path).tolist() == [["5", "2"], ["5", str(2**64 - 1)], ["6", str(2**64 - 1)]]
        write_pairs(path, PAIRS[:0])
        assert np.load(path).shape == (0, 2)

    @pytest.mark.parametrize("name", ["a.geojson", "a.xlsx", "a"])
    def test_an_ending_that_is_no_format(self, tmp_path, name):
        for call in (check_output, lambda path: write_pairs(path, PAIRS)):
            with pytest.raises(FileError, match=r"it may be \.csv, \.txt"):
                call(tmp_path / name)
        assert list(tmp_path.iterdir()) == []

    def test_where_nothing_can_be_written(self, tmp_path):
        (tmp_path / "folder.csv").mkdir()
        for call in (check_output, lambda path: write_pairs(path, PAIRS)):
            with pytest.raises(IsADirectoryError):
                call(tmp_path / "folder.csv")
            with pytest.raises(FileNotFoundError, match="No such folder"):
                call(tmp_path / "nowhere" / "a.csv")

    @pytest.mark.parametrize("name", ["a.csv", "a.npy", "a.parquet", "a.arrow"])
    def test_a_failure_leaves_the_old_file_and_nothing_else(self, tmp_path, name):
        path = written(tmp_path, name, "old")
        broken = np.array([1, Broken(), "x"], object)
        with pytest.raises((pa.ArrowException, ValueError, TypeError)):
            write_pairs(path, PAIRS, ids=(broken, None))
        assert path.read_text() == "old"
        assert [file.name for file in tmp_path.iterdir()] == [name]

    def test_a_failing_disk_is_reported_with_the_file_name(self, tmp_path):
        path = tmp_path / "a.csv"

        def full(done: int, total: int) -> None:
            raise OSError(28, "No space left on device")

        with pytest.raises(OSError, match="No space left on device") as caught:
            write_pairs(path, PAIRS, progress=full)
        assert caught.value.filename == str(path)
        assert list(tmp_path.iterdir()) == []

    @pytest.mark.skipif(os.name == "nt", reason="permissions and links as on Unix")
    def test_links_and_permissions_stay(self, tmp_path):
        target = written(tmp_path, "target.csv", "old")
        target.chmod(0o640)
        link = tmp_path / "link.csv"
        link.symlink_to(target)
        write_pairs(link, PAIRS)
        assert link.is_symlink()
        assert target.read_text().startswith("i,j\n")
        assert stat.S_IMODE(target.stat().st_mode) == 0o640

    def test_standard_output(self, capfdbinary):
        write_pairs("-", PAIRS)
        assert capfdbinary.readouterr().out == b"i,j\n0,1\n0,2\n1,2\n"
