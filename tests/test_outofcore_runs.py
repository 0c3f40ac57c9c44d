"""Out of core: runs on threads, processes and a cluster; killed runs resume and leave nothing behind."""

import doctest
import importlib
import os
import random
import signal
import subprocess
import sys
import time
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest
import scenes
from outofcore_helpers import TIGHT, names_in, save, table, written

import broadphase as bp
from broadphase import outofcore
from broadphase.errors import FileError
from broadphase.outofcore.work import WorkFolder

pytestmark = pytest.mark.usefixtures("open_files_stay")

BOXES = scenes.make("uniform", 240, 2, np.float32)
EXPECTED = bp.pairs(BOXES)


@pytest.fixture
def source(tmp_path):
    return save(tmp_path / "boxes.parquet", BOXES)


def contents(folder):
    return {path.name: path.read_bytes() for path in Path(folder).iterdir()}


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """The parts of a run that nothing interrupted; its report has another path of the boxes."""
    folder = tmp_path_factory.mktemp("whole")
    outofcore.pairs(save(folder / "boxes.parquet", BOXES), folder / "out", **TIGHT)
    return parts(folder / "out")


def parts(folder):
    return {name: content for name, content in contents(folder).items() if name.endswith(".parquet")}


class TestExecutors:
    def test_threads_of_another_pool(self, source, tmp_path):
        with ThreadPoolExecutor(3) as pool:
            done = outofcore.pairs(source, tmp_path / "out", executor=pool, memory=90_000)
        assert done.pairs == len(EXPECTED)
        assert np.array_equal(written(tmp_path / "out"), EXPECTED)

    def test_processes(self, source, tmp_path, exhaustive):
        names = [name for name, dim in scenes.CASES if dim == 2] if exhaustive else ["one_giant"]
        with ProcessPoolExecutor(2) as pool:
            for name in names:
                boxes = scenes.make(name, 150, 2)
                path = save(tmp_path / f"{name}.parquet", boxes)
                outofcore.pairs(path, tmp_path / name, executor=pool, **TIGHT)
                assert np.array_equal(written(tmp_path / name), bp.pairs(boxes)), name
            assert outofcore.count_pairs(source, executor=pool, **TIGHT) == len(EXPECTED)

    def test_what_cannot_submit_is_refused(self, source):
        with pytest.raises(TypeError, match="executor must have a method submit"):
            outofcore.count_pairs(source, executor=object())

    @pytest.mark.exhaustive
    def test_a_process_that_dies_loses_nothing(self, source, tmp_path):
        out = tmp_path / "out"
        with ProcessPoolExecutor(2) as pool:

            def kill(now):
                if now.step == "join" and now.done == 5:
                    os.kill(next(iter(pool._processes)), signal.SIGKILL)

            with pytest.raises(RuntimeError):
                outofcore.pairs(source, out, executor=pool, progress=kill, **TIGHT)
        assert not out.exists()
        done = []
        outofcore.pairs(source, out, progress=done.append, **TIGHT)
        assert next(now.done for now in done if now.step == "join") >= 5
        assert np.array_equal(written(out), EXPECTED)


class TestResuming:
    def test_a_finished_run_says_so(self, source, tmp_path):
        first = outofcore.pairs(source, tmp_path / "out", **TIGHT)
        before = contents(tmp_path / "out")
        again = outofcore.pairs(source, tmp_path / "out", **TIGHT)
        assert (first.was_done, again.was_done) == (False, True)
        assert again.pairs == first.pairs == len(EXPECTED)
        assert contents(tmp_path / "out") == before

    def test_damaged_parts_are_made_again(self, source, tmp_path):
        out = tmp_path / "out"
        outofcore.pairs(source, out, **TIGHT)
        before, part = contents(out), max(out.glob("*.parquet"))
        changed = bytearray(part.read_bytes())
        changed[len(changed) // 2] ^= 1
        for data in (b"", None, changed):
            part.unlink() if data is None else part.write_bytes(data)
            again = outofcore.pairs(source, out, **TIGHT)
            assert (again.was_done, again.pairs) == (False, len(EXPECTED))
            assert contents(out) == before
        assert outofcore.pairs(source, out, **TIGHT).was_done
        assert names_in(tmp_path) == ["boxes.parquet", "out"]

    def test_files_of_others_in_the_folder_stay(self, source, tmp_path):
        out = tmp_path / "out"
        outofcore.pairs(source, out, **TIGHT)
        min(out.glob("*.parquet")).unlink()
        (out / "notes.txt").touch()
        before = contents(out)
        with pytest.raises(FileExistsError, match="holds something already"):
            outofcore.pairs(source, out, **TIGHT)
        assert contents(out) == before

    def test_a_damaged_report(self, source, tmp_path):
        out = tmp_path / "out"
        outofcore.pairs(source, out, **TIGHT)
        report = out / "_broadphase.json"
        text = report.read_text()
        words = ("request", "boxes", "pairs", "tiles", "parts", "checksum")
        changes = [text.replace(f'"{word}"', '"else"', 1) for word in words]
        changes.append(text.replace(f'"pairs": {len(EXPECTED)}', f'"pairs": {len(EXPECTED) + 1}'))
        for damaged in (*changes, "[5]", text[: len(text) // 2], ""):
            assert damaged != text
            report.write_text(damaged)
            before = contents(out)
            with pytest.raises(FileError, match=r"_broadphase\.json: is damaged, .*; remove .*out and call"):
                outofcore.pairs(source, out, **TIGHT)
            assert contents(out) == before

    @pytest.mark.parametrize("harm", ["plan.npz", "tiling.npz", "samples/*", "marks/*", "parts/*"])
    def test_a_damaged_work_folder(self, source, tmp_path, harm):
        def stop(now):
            if now.step == "join" and now.done > now.total // 2:
                raise KeyboardInterrupt

        work, out = tmp_path / "out.work", tmp_path / "out"
        with pytest.raises(KeyboardInterrupt):
            outofcore.pairs(source, out, progress=stop, **TIGHT)
        path = max(work.glob(harm))
        data = bytearray(path.read_bytes())
        data[len(data) // 3] ^= 4
        path.write_bytes(data)
        if harm != "parts/*":  # those are made again at once
            with pytest.raises(OSError, match=f"was damaged .*call again.*{path.name}"):
                outofcore.pairs(source, out, **TIGHT)
        assert outofcore.pairs(source, out, **TIGHT).pairs == len(EXPECTED)
        assert np.array_equal(written(out), EXPECTED)

    @pytest.mark.parametrize("harm", ["flip", "shorter", "empty", "index"])
    def test_a_chunk_that_is_damaged_is_named_and_made_again(self, source, tmp_path, harm):
        def stop(now):
            if now.step == "join" and now.done > 1:
                raise KeyboardInterrupt

        out = tmp_path / "out"
        with pytest.raises(KeyboardInterrupt):
            outofcore.pairs(source, out, progress=stop, **TIGHT)
        folder = "indexes" if harm == "index" else "chunks"
        for chunk in sorted((tmp_path / "out.work" / folder).iterdir())[-2:]:
            data = bytearray(chunk.read_bytes())
            for place in {"flip": range(0, len(data) // 2, 8), "index": [len(data) // 2]}.get(harm, []):
                data[place] ^= 16
            kept = {"shorter": len(data) // 2, "empty": 0}.get(harm, len(data))
            chunk.write_bytes(data[:kept])
            with pytest.raises(OSError, match=f"was damaged .*call again.*{chunk.name}"):
                outofcore.pairs(source, out, **TIGHT)
        assert outofcore.pairs(source, out, **TIGHT).pairs == len(EXPECTED)
        assert np.array_equal(written(out), EXPECTED)

    def test_each_unit_of_a_sample_is_taken_once(self, source, tmp_path):
        """Runs that end soon after they have begun get on, before there is a plan too."""
        begins = []

        def run():
            seen = []

            def stop(now):
                if now.step == "sample":
                    seen.append(now.done)
                    if now.done > seen[0]:
                        begins.append(seen[0])
                        raise KeyboardInterrupt

            outofcore.pairs(source, tmp_path / "out", progress=stop, workers=1, memory=60_000)

        while not (tmp_path / "out").exists() and len(begins) < 50:
            with suppress(KeyboardInterrupt):
                run()
        assert len(begins) > 1
        assert begins == sorted(set(begins))
        assert np.array_equal(written(tmp_path / "out"), EXPECTED)

    def test_killed_between_the_last_two_steps(self, source, tmp_path, monkeypatch):
        """The output is in its place, and the work folder is still there."""
        removed = WorkFolder.remove
        monkeypatch.setattr(WorkFolder, "remove", lambda self: None)
        outofcore.pairs(source, tmp_path / "out", **TIGHT)
        (tmp_path / "out.work.lock").touch()
        assert names_in(tmp_path) == ["boxes.parquet", "out", "out.work", "out.work.lock"]
        monkeypatch.setattr(WorkFolder, "remove", removed)
        assert outofcore.pairs(source, tmp_path / "out", **TIGHT).was_done
        assert names_in(tmp_path) == ["boxes.parquet", "out"]

    @pytest.mark.parametrize("step", ["sample", "partition", "join"])
    def test_after_ctrl_c(self, source, tmp_path, whole, step):
        out = tmp_path / "out"

        def stop(now):
            if now.step == step and now.done > now.total // 2:
                raise KeyboardInterrupt

        with pytest.raises(KeyboardInterrupt):
            outofcore.pairs(source, out, progress=stop, **TIGHT)
        assert names_in(tmp_path) == ["boxes.parquet", "out.work"]
        reports = []
        outofcore.pairs(source, out, progress=reports.append, **TIGHT)
        if step == "join":  # nothing is done twice
            assert next(now.done for now in reports if now.step == "join") > reports[-1].total // 2
            assert not any(0 < now.done < now.total for now in reports if now.step == "partition")
        assert parts(out) == whole
        assert names_in(tmp_path) == ["boxes.parquet", "out"]

    def test_killed_at_random_moments(self, tmp_path, exhaustive):
        """Each run resumes the one before, and the result equals that of a run that was not killed."""
        source = save(tmp_path / "boxes.parquet", scenes.make("uniform", 500, 2), rows=200)
        chance = random.Random(5)
        child, done = Path(__file__).with_name("outofcore_child.py"), tmp_path / "out.work" / "marks"
        command = [sys.executable, str(child), str(source), str(tmp_path / "out"), "threads"]
        for _ in range(10 if exhaustive else 1):
            process = subprocess.Popen(command)
            until = time.monotonic() + 60
            while not done.exists() and process.poll() is None and time.monotonic() < until:
                time.sleep(0.01)
            time.sleep(chance.uniform(0.0, 0.5))
            process.kill()
            process.wait()
        outofcore.pairs(source, tmp_path / "out", **TIGHT)
        outofcore.pairs(source, tmp_path / "whole", **TIGHT)
        assert contents(tmp_path / "out") == contents(tmp_path / "whole")
        assert names_in(tmp_path) == ["boxes.parquet", "out", "whole"]

    def test_the_work_of_another_call_is_not_resumed(self, source, tmp_path):
        def stop(now):
            if now.step == "join":
                raise KeyboardInterrupt

        with pytest.raises(KeyboardInterrupt):
            outofcore.pairs(source, tmp_path / "out", progress=stop, **TIGHT)
        with pytest.raises(FileExistsError, match="the work of another call, whose touching differ"):
            outofcore.pairs(source, tmp_path / "out", touching=False, **TIGHT)
        save(source, BOXES + 1)
        with pytest.raises(FileExistsError, match="whose input differ"):
            outofcore.pairs(source, tmp_path / "out", **TIGHT)
        assert (tmp_path / "out.work" / "plan.npz").exists()

    def test_two_runs_do_not_share_a_folder(self, source, tmp_path):
        def run_again(now):
            if now.step == "join" and now.done == 0:
                for again in (source, iter([BOXES])):
                    with pytest.raises(BlockingIOError, match="another run is at work"):
                        outofcore.pairs(again, tmp_path / "out", **TIGHT)

        outofcore.pairs(source, tmp_path / "out", progress=run_again, **TIGHT)
        assert np.array_equal(written(tmp_path / "out"), EXPECTED)

    def test_input_that_is_read_once_is_read_from_the_start(self, tmp_path):
        def stop(now):
            if now.step == "join":
                raise KeyboardInterrupt

        with pytest.raises(KeyboardInterrupt):
            outofcore.pairs(iter([BOXES + 5]), tmp_path / "out", progress=stop, **TIGHT)
        assert names_in(tmp_path) == []
        outofcore.pairs(iter([BOXES]), tmp_path / "out", **TIGHT)
        assert np.array_equal(written(tmp_path / "out"), EXPECTED)

    def test_an_iterator_that_is_closed_early_leaves_nothing(self, source, tmp_path):
        batches = outofcore.pairs(source, work=tmp_path / "work", **TIGHT)
        next(batches)
        assert names_in(tmp_path) == ["boxes.parquet", "work", "work.lock"]
        batches.close()
        assert names_in(tmp_path) == ["boxes.parquet"]


def test_the_example_of_dask():
    pytest.importorskip("dask.dataframe")
    failed, tried = doctest.testmod(importlib.import_module("broadphase.dask"))
    assert (failed, tried > 0) == (0, True)


@pytest.fixture
def cluster(tmp_path):
    distributed = pytest.importorskip("distributed")
    with (
        distributed.LocalCluster(
            n_workers=3,
            threads_per_worker=1,
            dashboard_address=None,
            local_directory=str(tmp_path / "dask"),
            silence_logs=50,
        ) as workers,
        distributed.Client(workers) as client,
    ):
        yield client


@pytest.mark.exhaustive
@pytest.mark.filterwarnings("default")
class TestDask:
    def test_every_scene(self, cluster, tmp_path):
        pool = cluster.get_executor()
        for name, dim in scenes.CASES[::4]:  # test_outofcore.py takes all of them
            boxes = scenes.make(name, 150, dim)
            path, out = save(tmp_path / f"{name}{dim}.parquet", boxes), tmp_path / f"{name}{dim}"
            outofcore.pairs(path, out, executor=pool, memory=60_000)
            assert np.array_equal(written(out), bp.pairs(boxes)), name

    def test_a_worker_that_is_killed(self, cluster, source, tmp_path):
        killed = []

        def kill(now):
            if now.step == "join" and now.done >= 3 and not killed:
                killed.append(next(iter(cluster.run(os.getpid).values())))
                os.kill(killed[0], signal.SIGKILL)

        pool = cluster.get_executor()
        outofcore.pairs(source, tmp_path / "out", executor=pool, memory=60_000, progress=kill)
        assert killed
        assert np.array_equal(written(tmp_path / "out"), EXPECTED)

    def test_frames(self, cluster, tmp_path):
        import dask.dataframe as dd

        from broadphase import dask as on_dask

        frame = dd.from_pandas(table(BOXES, name=[f"b{k}" for k in range(240)]).to_pandas(), npartitions=12)
        pairs = on_dask.pairs(frame, tmp_path / "out", memory=60_000).compute()
        assert np.array_equal(pairs.sort_values(["i", "j"]).to_numpy(), EXPECTED)
        joined = on_dask.join(frame, frame, tmp_path / "both", ids=("name", None), memory=60_000).compute()
        assert sorted(zip(joined["id_i"], joined["j"], strict=True)) == sorted(
            (f"b{i}", j) for i, j in bp.join(BOXES, BOXES).tolist()
        )
        assert names_in(tmp_path) == ["both", "dask", "out"]


def test_tasks_are_handed_over_a_few_at_a_time(source):
    most = []

    class Pool(ThreadPoolExecutor):
        def submit(self, *call):
            most.append(self._work_queue.qsize())
            return super().submit(*call)

    with Pool(2) as pool:
        assert outofcore.count_pairs(source, executor=pool, memory=40_000) == len(EXPECTED)
    assert len(most) > 20
    assert max(most) <= 4
