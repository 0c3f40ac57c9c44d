"""The command with files beyond memory: when it is used, what it prints, what it refuses."""

import io
import subprocess
import sys

import numpy as np
import pytest
import scenes
from cli_helpers import refused, save_csv
from outofcore_helpers import array, names_in, save, written
from pyarrow import parquet
from rich.console import Console

import broadphase as bp
from broadphase.cli import commands, run, terminal
from broadphase.outofcore import Progress

BOXES = scenes.make("uniform", 300, 2)
EXPECTED = bp.pairs(BOXES)


@pytest.fixture
def source(tmp_path):
    return save(tmp_path / "a.parquet", BOXES)


def test_pairs(source, tmp_path, capfd):
    out = tmp_path / "pairs.parquet"
    queries = ["pairs", str(source), "-o", str(out), "--memory", "40kB", "--workers", "2"]
    assert run(queries) == 0
    assert capfd.readouterr() == ("", "")
    assert np.array_equal(written(out), EXPECTED)
    assert len(names_in(out)) > 10
    assert run(queries) == 0
    files = len(list(out.glob("*.parquet")))
    said = f"broadphase: {out} was done before: {len(EXPECTED)} pairs in {files} files\n"
    assert capfd.readouterr().err == said
    assert run(["pairs", str(source), "--count", "--memory", "1 MB", "--no-touching"]) == 0
    assert capfd.readouterr().out == f"{bp.count_pairs(BOXES, touching=False)}\n"


def test_on_a_terminal_it_says_what_came_of_it(source, tmp_path, monkeypatch, capfd):
    monkeypatch.setattr("sys.stderr.isatty", lambda: True, raising=False)
    out = tmp_path / "pairs.parquet"
    assert run(["pairs", str(source), "-o", str(out), "--memory", "1 GB"]) == 0
    assert capfd.readouterr().err.endswith(f"broadphase: {out}: {len(EXPECTED)} pairs in 1 file\n")


def test_without_pyarrow_it_says_what_to_install(tmp_path):
    np.save(tmp_path / "boxes.npy", BOXES)
    program = (
        "import sys; sys.modules['pyarrow'] = None; from broadphase.cli import run\n"
        "options = ['-o', 'out.parquet', '--memory', '1GB']\n"
        "print([run(['pairs', file, *options]) for file in ('boxes/*.parquet', 'boxes.npy')])"
    )
    found = subprocess.run(
        [sys.executable, "-c", program], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    wanted = 'broadphase: searching on disk needs pyarrow: python -m pip install "broadphase[io]"\n'
    assert (found.stdout, found.stderr) == ("[2, 2]\n", 2 * wanted)


def test_join_and_ids(tmp_path, capfd):
    a = save(tmp_path / "a.parquet", BOXES[:100], id=[f"a{k}" for k in range(100)])
    b = save(tmp_path / "b.parquet", BOXES[100:], key=np.arange(200))
    out = tmp_path / "out.parquet"
    assert run(["join", str(a), str(b), "-o", str(out), "--memory", "1 MB"]) == 0
    found = parquet.read_table(out)
    assert found.schema.names == ["id_i", "j"]
    expected = [(f"a{i}", j) for i, j in bp.join(BOXES[:100], BOXES[100:]).tolist()]
    assert sorted(zip(*found.to_pydict().values(), strict=True)) == sorted(expected)
    assert run(["join", str(a), str(b), "--count", "--memory", "1 MB"]) == 0
    assert capfd.readouterr().out == f"{len(expected)}\n"


def test_folders_patterns_and_what_does_not_fit_go_there_by_themselves(source, tmp_path, monkeypatch, capfd):
    assert run(["pairs", str(tmp_path / "*.parquet"), "-o", str(tmp_path / "one.parquet")]) == 0
    assert run(["pairs", str(source), "-o", str(tmp_path / "file.parquet")]) == 0
    monkeypatch.setattr(commands, "available_memory", lambda: 50_000)
    assert run(["pairs", str(source), "-o", str(tmp_path / "two.parquet")]) == 0
    assert capfd.readouterr() == ("", "")
    assert (tmp_path / "file.parquet").is_file()
    for name in ("one.parquet", "two.parquet"):
        assert np.array_equal(written(tmp_path / name), EXPECTED)
    alone = parquet.read_table(tmp_path / "file.parquet")
    assert np.array_equal(array(alone.to_batches()), EXPECTED)


def test_what_is_refused(source, tmp_path, capfd):
    memory = ["--memory", "1 MB"]
    assert "name it with --output" in refused(capfd, "pairs", source, *memory)
    assert "end its name in .parquet" in refused(capfd, "pairs", source, *memory, "-o", tmp_path / "a.csv")
    assert "leave out --method" in refused(capfd, "pairs", source, *memory, "--method", "tree", "--count")
    assert "memory='much' is no size" in refused(capfd, "pairs", source, "--memory", "much", "--count")
    csv = save_csv(tmp_path / "a.csv", BOXES)
    assert "the ending '.csv' is not known" in refused(capfd, "pairs", csv, *memory, "--count")
    out = tmp_path / "full.parquet"
    out.mkdir()
    (out / "mine").touch()
    assert "holds something already" in refused(capfd, "pairs", source, *memory, "-o", out)


def test_the_steps_show_how_far_they_are_and_the_pairs():
    shown = io.StringIO()
    with terminal.Steps(Console(file=shown, force_terminal=True, width=120), patience=0) as steps:
        steps._timer.join(60)
        steps.show(Progress("sample", 500, 1_000, 0, None, None))
        steps.show(Progress("join", 6, 30, 12_000, 70.0, None))
        steps.show(Progress("join", 15, 30, 12_345, 61.4, None))
    assert "Sampling" in shown.getvalue()
    assert "Joining: 12,345 pairs" in shown.getvalue()
    assert "50%" in shown.getvalue()


@pytest.mark.exhaustive
@pytest.mark.filterwarnings("default")
def test_on_a_cluster(source, tmp_path):
    distributed = pytest.importorskip("distributed")
    with distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster:
        address = cluster.scheduler_address
        queries = ["pairs", str(source), "-o", str(tmp_path / "out.parquet"), "--memory", "40kB"]
        assert run([*queries, "--dask", address]) == 0
    assert np.array_equal(written(tmp_path / "out.parquet"), EXPECTED)
