"""Out of core: bad input is named, worlds that cannot be cut work, full disks lose nothing."""

import errno
import itertools
import os
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
import scenes
from outofcore_helpers import SEVERAL, found, names_in, save, table, written
from pyarrow import fs, parquet

import broadphase as bp
from broadphase import outofcore
from broadphase.errors import FileError
from broadphase.outofcore import tiles
from broadphase.outofcore.planning import parse_size

pytestmark = pytest.mark.usefixtures("open_files_stay")

BOXES = scenes.make("uniform", 300, 2)


def refused(kind, text, tmp_path, source, **options):
    """The call raises this, and leaves nothing behind."""
    before = names_in(tmp_path)
    with pytest.raises(kind, match=text):
        outofcore.pairs(source, tmp_path / "out", **{**SEVERAL, **options})
    assert names_in(tmp_path) == before


class TestInput:
    def files(self, tmp_path, number=40):
        folder = tmp_path / "in"
        folder.mkdir()
        for k, rows in enumerate(np.array_split(scenes.make("uniform", 400, 2), number)):
            save(folder / f"{k}.parquet", rows)
        return folder

    def test_a_nan_in_file_37(self, tmp_path):
        folder = self.files(tmp_path)
        boxes = np.array(BOXES[:10])
        boxes[6, 1] = np.nan
        save(folder / "37.parquet", boxes, rows=4)
        refused(FileError, r"37\.parquet: row 6, column min_y is nan", tmp_path, folder)

    def test_a_row_upside_down_or_empty(self, tmp_path):
        folder = self.files(tmp_path, 5)
        boxes = np.array(BOXES[:70])
        boxes[66, 2] = -5
        save(folder / "3.parquet", boxes)
        refused(FileError, r"3\.parquet: row 66, column min_x = .* is greater than max_x", tmp_path, folder)
        columns = table(BOXES[:70]).set_column(3, "max_y", pa.array([*[9.0] * 68, None, 9.0]))
        parquet.write_table(columns, folder / "3.parquet")
        refused(FileError, r"3\.parquet: row 68, column max_y: is empty", tmp_path, folder)

    def test_a_column_missing_in_one_file(self, tmp_path):
        folder = self.files(tmp_path, 5)
        parquet.write_table(table(BOXES).drop_columns("max_x"), folder / "2.parquet")
        refused(FileError, r"2\.parquet: no columns for the x axis", tmp_path, folder)
        save(folder / "2.parquet", BOXES, own=np.arange(300))
        refused(FileError, r"0\.parquet: no column 'own'", tmp_path, folder, ids="own")
        refused(FileError, r"0\.parquet: no columns 'still'", tmp_path, folder, static="still")

    def test_rules_of_the_wrong_kind(self, tmp_path):
        path = save(tmp_path / "a.parquet", BOXES, cat=np.full(300, 2**32), still=np.arange(300))
        refused(FileError, "does not fit into 32 bits", tmp_path, path, categories="cat")
        refused(FileError, "column still holds int64, where bool belong", tmp_path, path, static="still")
        refused(ValueError, "static must hold one entry for each of the 300", tmp_path, path, static=[True])
        refused(ValueError, "an array has none", tmp_path, BOXES, static="still")

    def test_dimensions_that_differ(self, tmp_path):
        flat = save(tmp_path / "a.parquet", BOXES)
        deep = save(tmp_path / "b.parquet", scenes.make("uniform", 9, 3))
        refused(FileError, r"b\.parquet: is 3-D and .*a\.parquet is 2-D", tmp_path, [flat, deep])

    def test_what_is_no_file_of_boxes(self, tmp_path):
        broken, text, numbers = (tmp_path / name for name in ("a.parquet", "a.csv", "a.npy"))
        broken.write_bytes(b"PAR1 nothing")
        refused(FileError, r"a\.parquet: is no Parquet file that can be read", tmp_path, broken)
        text.write_text("min_x\n")
        refused(FileError, "the ending '.csv' is not known", tmp_path, text)
        refused(FileNotFoundError, "No such file", tmp_path, tmp_path / "none.parquet")
        refused(FileNotFoundError, "no files of boxes", tmp_path, str(tmp_path / "*.arrow"))
        refused(TypeError, "source must be a path, a glob", tmp_path, 5)
        np.save(numbers, np.zeros((5, 3)))
        refused(FileError, r"a\.npy: holds float64 of shape \(5, 3\)", tmp_path, numbers)

    def test_a_bad_row_of_a_memory_map_or_a_batch(self, tmp_path):
        boxes = np.array(BOXES)
        boxes[123, 0] = np.nan
        np.save(tmp_path / "a.npy", boxes)
        refused(FileError, r"a\.npy: row 123, column min_x is nan", tmp_path, tmp_path / "a.npy")
        refused(ValueError, r"source, batch 1\[23\] has min_x = nan", tmp_path, [boxes[:100], boxes[100:]])

    def test_a_damaged_file(self, tmp_path):
        path = save(tmp_path / "a.parquet", BOXES)
        data = bytearray(path.read_bytes())
        data[4:400] = b"\xff" * 396
        path.write_bytes(data)
        refused(FileError, r"a\.parquet: is no Parquet file that can be read", tmp_path, path)


class TestWorldsThatCannotBeCut:
    def test_all_equal(self, tmp_path):
        boxes = scenes.make("all_equal", 3_000, 2)
        assert outofcore.count_pairs(boxes, memory="1 MB", workers=1) == 3_000 * 2_999 // 2
        refused(bp.PairLimitExceeded, "max_pairs=1000", tmp_path, boxes, max_pairs=1_000, memory="1 MB")

    def test_a_crowd_is_searched_in_parts(self, monkeypatch):
        """Memory for pairs is bounded too: no search returns more than it may."""
        stored, search = [], tiles.search

        def watched(method, task):
            done = search(method, task)
            if task.store:
                stored.append((done.pairs, task.limit))
            return done

        monkeypatch.setattr(tiles, "search", watched)
        boxes = np.concatenate([scenes.make("all_equal", 300, 2), scenes.make("uniform", 300, 2)])
        reports = []
        assert np.array_equal(
            found(boxes, memory=150_000, workers=1, progress=reports.append), bp.pairs(boxes)
        )
        assert len(stored) > reports[-1].total
        assert max(pairs for pairs, _ in stored) <= stored[0][1] < 300 * 299 // 2

    def test_one_giant_takes_no_disk(self, tmp_path):
        boxes = scenes.make("uniform", 3_000, 2)
        plain = outofcore.plan(boxes, memory=150_000, workers=1)
        boxes[1_500] = [-np.inf, -np.inf, np.inf, np.inf]
        plan = outofcore.plan(boxes, memory=150_000, workers=1)
        assert plan.tiles > 20
        assert plan.temporary_bytes < 1.2 * plain.temporary_bytes
        assert np.array_equal(found(boxes, memory=150_000, workers=1), bp.pairs(boxes))

    def test_everything_on_a_line(self):
        boxes = scenes.make("line_along_y", 2_000, 2)
        reports = []
        assert np.array_equal(
            found(boxes, memory=150_000, workers=1, progress=reports.append), bp.pairs(boxes)
        )
        assert reports[-1].plan.tiles > 10
        assert reports[-1].total == reports[-1].plan.tiles  # no tile had to be joined in blocks


class TestDisk:
    def test_a_full_disk_is_reported_beforehand(self, tmp_path, monkeypatch):
        path = save(tmp_path / "a.parquet", BOXES)
        usage = shutil.disk_usage(tmp_path)
        monkeypatch.setattr(shutil, "disk_usage", lambda folder: usage._replace(free=100))
        expected = "the temporary files may take 0.00 GB and 0.00 GB are free"
        with pytest.raises(OSError, match=expected) as raised:
            outofcore.pairs(path, tmp_path / "out", **SEVERAL)
        assert raised.value.errno == errno.ENOSPC
        assert not list((tmp_path / "out.work" / "chunks").iterdir())

    @pytest.mark.skipif(os.name == "nt", reason="Windows limits no process's files")
    @pytest.mark.parametrize("bytes_a_file", [pytest.param(3_000, marks=pytest.mark.exhaustive), 100_000])
    def test_a_quota(self, tmp_path, bytes_a_file):
        """Where chunks, or later parts, are too large for the system, one error says so."""
        boxes = np.concatenate([scenes.make("uniform", 300, 2), scenes.make("all_equal", 500, 2)])
        path = save(tmp_path / "a.parquet", boxes, rows=1_000)
        program = (
            "import resource, signal, sys\nfrom broadphase import outofcore\n"
            "signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
            f"resource.setrlimit(resource.RLIMIT_FSIZE, ({bytes_a_file}, {bytes_a_file}))\n"
            "outofcore.pairs(sys.argv[1], sys.argv[2], memory='1 MB', workers=2)\n"
        )
        out = tmp_path / "out"
        # Without -B it would write cut-off bytecode, which later processes would then read.
        command = [sys.executable, "-B", "-c", program, str(path), str(out)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert done.returncode == 1
        last = done.stderr.strip().splitlines()[-1]
        assert last.startswith(f"OSError: [Errno {errno.EFBIG}]")
        assert "what is done is kept, so make room and call again to go on" in last
        assert str(tmp_path / "out.work") in last
        assert not out.exists()
        outofcore.pairs(path, out, memory="1 MB", workers=2)
        assert np.array_equal(written(out), bp.pairs(boxes))
        assert names_in(tmp_path) == ["a.parquet", "out"]

    def test_folders_that_cannot_be_written(self, tmp_path):
        path = save(tmp_path / "a.parquet", BOXES)
        with pytest.raises(FileExistsError if os.name == "nt" else NotADirectoryError):
            outofcore.pairs(path, path / "out")
        (tmp_path / "out").mkdir()
        (tmp_path / "out" / "mine").write_text("keep")
        refused(FileExistsError, "holds something already", tmp_path, path)
        with pytest.raises(NotADirectoryError, match="is a file"):
            outofcore.pairs(path, path)
        (tmp_path / "work").mkdir()
        (tmp_path / "work" / "mine").write_text("keep")
        for source in (path, iter([BOXES])):
            with pytest.raises(FileExistsError, match="no work folder of ours"):
                outofcore.count_pairs(source, work=tmp_path / "work")
            assert (tmp_path / "work" / "mine").read_text() == "keep"

    @pytest.mark.skipif(os.name == "nt", reason="links as on Unix")
    def test_a_link_to_an_empty_folder_is_filled(self, tmp_path):
        (tmp_path / "there").mkdir()
        (tmp_path / "out").symlink_to(tmp_path / "there", target_is_directory=True)
        outofcore.pairs(save(tmp_path / "a.parquet", BOXES), tmp_path / "out", **SEVERAL)
        assert (tmp_path / "out").is_symlink()
        assert np.array_equal(written(tmp_path / "there"), bp.pairs(BOXES))

    @pytest.fixture(params=[("rename", "parts", errno.EXDEV), ("rmdir", "out", errno.EBUSY)])
    def elsewhere(self, request, tmp_path, monkeypatch):
        """The output is in another file system than the work: nothing is renamed, its root not removed."""
        method, name, number = request.param
        inner = getattr(Path, method)

        def refused(path, *more):
            if path.name == name:
                raise OSError(number, "refused", str(path))
            return inner(path, *more)

        (tmp_path / "out").mkdir()
        source = save(tmp_path / "a.parquet", BOXES)
        monkeypatch.setattr(Path, method, refused)
        return lambda: outofcore.pairs(source, tmp_path / "out", work=tmp_path / "work", **SEVERAL)

    def test_output_in_another_file_system_than_the_work(self, tmp_path, elsewhere):
        elsewhere()
        assert np.array_equal(written(tmp_path / "out"), bp.pairs(BOXES))
        assert elsewhere().was_done
        assert names_in(tmp_path) == ["a.parquet", "out"]

    def test_a_copy_to_another_file_system_that_fails_can_be_repeated(self, tmp_path, monkeypatch, elsewhere):
        copied, copies = fs.copy_files, itertools.count()

        def full(source, target, **options):
            if "part-" in source and next(copies) == 2:
                raise OSError(errno.ENOSPC, "No space left on device")
            return copied(source, target, **options)

        monkeypatch.setattr(fs, "copy_files", full)
        with pytest.raises(OSError, match="what is done is kept"):
            elsewhere()
        assert len(names_in(tmp_path / "out")) > 1
        elsewhere()
        assert np.array_equal(written(tmp_path / "out"), bp.pairs(BOXES))

    def test_an_empty_folder_is_filled(self, tmp_path):
        (tmp_path / "out").mkdir()
        outofcore.pairs(save(tmp_path / "a.parquet", BOXES), tmp_path / "out", **SEVERAL)
        assert np.array_equal(written(tmp_path / "out"), bp.pairs(BOXES))


class TestArguments:
    @pytest.mark.parametrize(
        ("memory", "size"),
        [("2 GB", 2 * 10**9), ("2GiB", 2**31), ("1.5 mb", 1_500_000), ("100", 100), (7, 7), ("3kB", 3_000)],
    )
    def test_sizes(self, memory, size):
        assert parse_size(memory) == size

    def test_what_is_refused(self, tmp_path):
        for memory in ("much", "2 XB", "-1 GB", ""):
            refused(ValueError, "is no size; write it as", tmp_path, BOXES, memory=memory)
        refused(TypeError, "memory must be a size", tmp_path, BOXES, memory=2.5)
        refused(ValueError, "give at least 20000, or fewer workers", tmp_path, BOXES, memory=5_000)
        refused(ValueError, "workers must be at least 1", tmp_path, BOXES, workers=0)
        refused(TypeError, "ids must name a column", tmp_path, BOXES, ids=5)
        for unknown in ("memry", "store", "sources"):
            refused(TypeError, unknown, tmp_path, BOXES, **{unknown: 1})
        with pytest.raises(ValueError, match="are rules of one source"):
            outofcore.join(BOXES, BOXES, masks=1)
        with pytest.raises(ValueError, match="are rules of one source"):
            outofcore.count_pairs(BOXES, other=BOXES, static=True)

    def test_the_limit_is_exact(self, tmp_path):
        expected = len(bp.pairs(BOXES))
        refused(bp.PairLimitExceeded, "max_pairs=", tmp_path, BOXES, max_pairs=expected - 1)
        assert outofcore.pairs(BOXES, tmp_path / "out", max_pairs=expected, **SEVERAL).pairs == expected
        with pytest.raises(bp.PairLimitExceeded):
            list(outofcore.pairs(BOXES, max_pairs=5, **SEVERAL))


@pytest.mark.skipif(os.name == "nt", reason="the peak is asked for as Unix tells it")
@pytest.mark.exhaustive
def test_memory_stays_within_its_bound(tmp_path):
    """Two million boxes, which would take 300 MB, in 40."""
    n = 2_000_000
    rng = np.random.default_rng(8)
    low = rng.random((n, 2), np.float32)
    boxes = np.hstack([low, low + np.float32(1 / np.sqrt(n))])
    path = save(tmp_path / "a.parquet", boxes, rows=n)
    program = (
        "import resource, sys\nfrom broadphase import outofcore\n"
        "outofcore.count_pairs([[0, 0, 1, 1]] * 9)\n"
        "before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss\n"
        "pairs = outofcore.pairs(sys.argv[1], sys.argv[2], memory='40 MB', workers=2).pairs\n"
        "print(pairs, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)\n"
    )
    command = [sys.executable, "-c", program, str(path), str(tmp_path / "out")]
    pairs, grown = map(
        int, subprocess.run(command, capture_output=True, text=True, check=True).stdout.split()
    )
    assert pairs == bp.count_pairs(boxes)
    assert grown * 1024 < 60_000_000
