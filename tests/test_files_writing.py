"""Pairs into files: whole or not at all."""

import os
import stat

import numpy as np
import pyarrow as pa
import pytest
from file_helpers import written

from broadphase.errors import FileError
from broadphase.files import check_output, write_pairs

pytestmark = pytest.mark.smaller_set


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

    def test_a_failing_disk_is_told_with_the_name_of_the_file(self, tmp_path):
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
