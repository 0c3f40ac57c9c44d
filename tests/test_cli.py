"""The command, run as users run it wherever that is what a test is about."""

import io
import os
import re
import select
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import get_args

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import parquet
from rich.console import Console

import broadphase as bp
from broadphase.cli import commands, run, warm_up
from broadphase.cli.demo import Balls
from broadphase.cli.progress import Steps
from broadphase.cli.warm_up import Job
from broadphase.methods import NAMES
from broadphase.one_shot import search

COMMAND = [sys.executable, "-W", "error", "-m", "broadphase"]
on_unix = pytest.mark.skipif(os.name == "nt", reason="pipes and signals as on Unix")


def some_boxes(n: int, dim: int = 2, seed: int = 1) -> np.ndarray:
    random = np.random.default_rng(seed)
    low = random.integers(0, 60, (n, dim)) / 4
    return np.hstack([low, low + random.integers(0, 5, (n, dim)) / 4])


def save_csv(path: Path, boxes: np.ndarray, ids: list[str] | None = None) -> Path:
    axes = "xyz"[: boxes.shape[1] // 2]
    names = [f"{end}_{axis}" for end in ("min", "max") for axis in axes]
    rows = [",".join(map(repr, row)) for row in boxes.tolist()]
    if ids is not None:
        names.insert(0, "id")
        rows = [f"{own},{row}" for own, row in zip(ids, rows, strict=True)]
    path.write_text("\n".join([",".join(names), *rows]) + "\n")
    return path


def numbers(text: str) -> list[list[int]]:
    lines = text.splitlines()
    assert lines[0] == "i,j"
    return [list(map(int, line.split(","))) for line in lines[1:]]


def command(*arguments, **options) -> subprocess.CompletedProcess[str]:
    """Run the command in a process of its own."""
    return subprocess.run(
        [*COMMAND, *map(str, arguments)], capture_output=True, text=True, check=False, **options
    )


def refused(capfd, *arguments) -> str:
    """The one line with which the command refuses."""
    assert run([str(argument) for argument in arguments]) == 2
    captured = capfd.readouterr()
    assert captured.out == ""
    (line,) = captured.err.splitlines()
    assert line.startswith("broadphase: ")
    return line.removeprefix("broadphase: ")


@pytest.mark.smaller_set
class TestPairs:
    @pytest.mark.parametrize("dim", [2, 3])
    @pytest.mark.parametrize("touching", [True, False])
    def test_the_same_as_the_function(self, tmp_path, capfd, dim, touching):
        boxes = some_boxes(200, dim)
        path = save_csv(tmp_path / "a.csv", boxes)
        expected = bp.pairs(boxes, touching=touching).tolist()
        assert run(["pairs", str(path), "--touching" if touching else "--no-touching"]) == 0
        captured = capfd.readouterr()
        assert numbers(captured.out) == expected
        assert captured.err == ""

    def test_touching_boxes_count_unless_told_otherwise(self, tmp_path, capfd):
        path = save_csv(tmp_path / "a.csv", np.array([[0, 0, 1, 1], [1, 0, 2, 1.0]]))
        for options, count in (([], "1"), (["--touching"], "1"), (["--no-touching"], "0")):
            assert run(["pairs", str(path), "--count", *options]) == 0
            assert capfd.readouterr().out.strip() == count

    @pytest.mark.parametrize("method", bp.METHODS)
    def test_every_method(self, tmp_path, capfd, method):
        boxes = some_boxes(300)
        path = save_csv(tmp_path / "a.csv", boxes)
        assert run(["pairs", str(path), "--method", method]) == 0
        assert numbers(capfd.readouterr().out) == bp.pairs(boxes, method="brute_force").tolist()

    @pytest.mark.parametrize("name", ["out.csv", "out.tsv", "out.npy", "out.parquet", "out.arrow"])
    def test_output_by_name(self, tmp_path, capfd, name):
        boxes = some_boxes(100)
        expected = bp.pairs(boxes).tolist()
        out = tmp_path / name
        assert run(["pairs", str(save_csv(tmp_path / "a.csv", boxes)), "-o", str(out)]) == 0
        captured = capfd.readouterr()
        assert captured.out == captured.err == ""
        if out.suffix == ".npy":
            read = np.load(out).tolist()
        elif out.suffix == ".parquet":
            read = list(map(list, zip(*parquet.read_table(out).to_pydict().values(), strict=True)))
        elif out.suffix == ".arrow":
            read = list(map(list, zip(*pa.ipc.open_file(out).read_all().to_pydict().values(), strict=True)))
        else:
            read = numbers(out.read_text().replace("\t", ","))
        assert read == expected
        assert sorted(file.name for file in tmp_path.iterdir()) == ["a.csv", name]

    def test_ids_are_carried_through(self, tmp_path, capfd):
        boxes = np.array([[0, 0, 2, 2], [9, 9, 9, 9], [1, 1, 3, 3.0]])
        path = save_csv(tmp_path / "a.csv", boxes, ["crate", "far", "barrel"])
        assert run(["pairs", str(path)]) == 0
        assert capfd.readouterr().out == "id_i,id_j\ncrate,barrel\n"
        assert run(["pairs", str(path), "--id", "max_x"]) == 0
        assert capfd.readouterr().out == "id_i,id_j\n2.0,3.0\n"

    def test_no_boxes(self, tmp_path, capfd):
        path = save_csv(tmp_path / "a.csv", np.empty((0, 6)))
        assert run(["pairs", str(path)]) == 0
        assert capfd.readouterr().out == "i,j\n"
        assert run(["pairs", str(path), "--count"]) == 0
        assert capfd.readouterr().out == "0\n"


@pytest.mark.smaller_set
class TestJoin:
    @pytest.mark.parametrize("touching", [True, False])
    def test_the_same_as_the_function(self, tmp_path, capfd, touching):
        a, b = some_boxes(80, seed=1), some_boxes(120, seed=2)
        expected = bp.join(a, b, touching=touching)
        files = [str(save_csv(tmp_path / "a.csv", a)), str(save_csv(tmp_path / "b.csv", b))]
        option = "--touching" if touching else "--no-touching"
        assert run(["join", *files, option]) == 0
        assert numbers(capfd.readouterr().out) == expected.tolist()
        assert run(["join", *files, option, "--count"]) == 0
        assert capfd.readouterr().out == f"{len(expected)}\n"

    def test_ids_of_either_side(self, tmp_path, capfd):
        boxes = np.array([[0, 0, 2, 2.0]])
        named, bare = save_csv(tmp_path / "a.csv", boxes, ["crate"]), save_csv(tmp_path / "b.csv", boxes)
        assert run(["join", str(named), str(bare)]) == 0
        assert capfd.readouterr().out == "id_i,j\ncrate,0\n"
        assert run(["join", str(bare), str(named)]) == 0
        assert capfd.readouterr().out == "i,id_j\n0,crate\n"

    def test_two_and_three_dimensions_do_not_mix(self, tmp_path, capfd):
        flat = save_csv(tmp_path / "a.csv", some_boxes(3))
        deep = save_csv(tmp_path / "b.csv", some_boxes(3, 3))
        assert refused(capfd, "join", flat, deep).startswith("a is 2-D and b is 3-D")

    def test_only_one_side_comes_from_standard_input(self, capfd):
        assert refused(capfd, "join", "-", "-") == "standard input cannot be both A and B"


@pytest.mark.smaller_set
class TestRefusals:
    def test_a_bad_value_is_named_and_nothing_is_written(self, tmp_path, capfd):
        path = save_csv(tmp_path / "a.csv", some_boxes(3))
        path.write_text(path.read_text() + "1,2,abc,4\n")
        out = tmp_path / "out.csv"
        out.write_text("old")
        line = refused(capfd, "pairs", path, "-o", out)
        assert line == f"{path}: row 3 (line 5), column max_x: 'abc' is not a number"
        assert out.read_text() == "old"
        assert sorted(file.name for file in tmp_path.iterdir()) == ["a.csv", "out.csv"]

    def test_files_that_cannot_be_opened(self, tmp_path, capfd):
        missing = tmp_path / "no.csv"
        assert refused(capfd, "pairs", missing) == f"{missing}: No such file or directory"
        folder = tmp_path / "folder.csv"
        folder.mkdir()
        assert refused(capfd, "pairs", folder).startswith(f"{folder}: ")
        assert "the ending '.doc' is not known" in refused(capfd, "pairs", tmp_path / "a.doc")

    def test_what_cannot_be_written_is_refused_before_anything_is_read(self, tmp_path, capfd):
        missing = tmp_path / "no.csv"
        assert "the ending '.doc' is not known" in refused(capfd, "pairs", missing, "-o", tmp_path / "a.doc")
        nowhere = tmp_path / "nowhere" / "a.csv"
        assert refused(capfd, "pairs", missing, "-o", nowhere) == f"{nowhere}: No such folder"

    def test_an_input_is_not_overwritten(self, tmp_path, capfd):
        path = save_csv(tmp_path / "a.csv", some_boxes(3))
        before = path.read_text()
        same = tmp_path / "." / "a.csv"
        assert "is also an input" in refused(capfd, "pairs", path, "-o", same)
        assert "is also an input" in refused(capfd, "join", tmp_path / "no.csv", path, "-o", same)
        assert path.read_text() == before

    def test_a_count_is_no_file(self, tmp_path, capfd):
        path = save_csv(tmp_path / "a.csv", some_boxes(3))
        line = refused(capfd, "pairs", path, "--count", "-o", tmp_path / "b.csv")
        assert line.startswith("--count prints a number and writes no pairs")

    @pytest.mark.parametrize(
        ("arguments", "wrong"),
        [
            (["pairs"], "parameter FILE requires an argument"),
            (["pairs", "a.csv", "--methd", "tree"], "--methd"),
            (["pairs", "--methd", "a.csv"], "There is no such option; a file of that name is ./--methd."),
            (["pairs", "a.csv", "b.csv"], "b.csv"),
            (["frobnicate"], 'Unknown command "frobnicate"'),
            (["demo", "--balls", "many"], "many"),
            (["demo", "--balls", "0"], "at least one ball and one frame; got 0 and 50"),
            (["demo", "--frames", "0"], "at least one ball and one frame; got 10000 and 0"),
            (["demo", "-o", "picture.docx"], "picture.docx: the name of a picture ends in .eps"),
        ],
    )
    def test_options(self, capfd, arguments, wrong):
        assert wrong in refused(capfd, *arguments)

    def test_an_unknown_method_lists_the_methods(self, tmp_path, capfd):
        line = refused(capfd, "pairs", save_csv(tmp_path / "a.csv", some_boxes(3)), "--method", "magic")
        assert all(name in line for name in bp.METHODS)

    def test_too_little_memory(self, tmp_path, capfd, monkeypatch):
        def no_memory(*arguments, **options):
            raise MemoryError

        monkeypatch.setattr(bp, "pairs", no_memory)
        line = refused(capfd, "pairs", save_csv(tmp_path / "a.csv", some_boxes(3)))
        assert line == "memory is too small for all pairs; --count counts them without storing them"


def test_the_methods_offered_are_the_methods_there_are():
    assert set(get_args(commands.Method)) == set(bp.METHODS)
    assert set(get_args(commands.SingleMethod)) == set(bp.METHODS) - {"auto"}


def test_help_and_version(capfd):
    for arguments in (
        [],
        ["--help"],
        ["pairs", "--help"],
        ["join", "-h"],
        ["demo", "--help"],
        ["warmup", "--help"],
    ):
        assert run(arguments) == 0
        captured = capfd.readouterr()
        assert "Usage: broadphase" in captured.out
        assert captured.err == ""
    assert run(["--version"]) == 0
    assert capfd.readouterr().out == f"{bp.__version__}\n"


class TestProcess:
    def test_a_pipe(self, tmp_path):
        boxes = some_boxes(300)
        text = save_csv(tmp_path / "a.csv", boxes).read_text()
        result = command("pairs", "-", input=text)
        assert result.stderr == ""
        assert result.returncode == 0
        assert numbers(result.stdout) == bp.pairs(boxes).tolist()

    def test_a_bad_pipe(self):
        result = command("pairs", "-", input="x,y,width,height\n1,2,3,4\n\n1,2,3,\n")
        assert result.returncode == 2
        assert result.stdout == ""
        assert result.stderr == "broadphase: standard input: row 1 (line 4), column height: is empty\n"

    @pytest.mark.parametrize("package", ["cyclopts", "rich"])
    def test_without_the_extra_the_way_out_is_named(self, package):
        program = f"import sys; sys.modules['{package}'] = None; from broadphase.cli import main; main()"
        result = subprocess.run(
            [sys.executable, "-c", program, "demo"], capture_output=True, text=True, check=False
        )
        assert result.returncode == 2
        assert result.stdout == ""
        assert result.stderr == (
            f"broadphase: the command needs {package}; "
            "install it with: python -m pip install 'broadphase[cli]'\n"
        )

    @on_unix
    def test_nobody_reads_any_more(self, tmp_path):
        low = np.random.default_rng(1).random((700, 2))
        path = save_csv(tmp_path / "a.csv", np.hstack([low, low + 1]))  # 245,000 pairs: no pipe holds them
        with subprocess.Popen(
            [*COMMAND, "pairs", str(path)], stdout=subprocess.PIPE, stderr=subprocess.PIPE
        ) as process:
            assert process.stdout.readline() == b"i,j\n"
            process.stdout.close()
            assert process.wait(60) == 141
            assert process.stderr.read() == b""

    @pytest.mark.skipif(not Path("/dev/full").exists(), reason="no device that is always full")
    def test_a_full_disk(self, tmp_path):
        path = save_csv(tmp_path / "a.csv", some_boxes(300))
        with Path("/dev/full").open("w") as full:
            result = subprocess.run(
                [*COMMAND, "pairs", str(path)], stdout=full, stderr=subprocess.PIPE, text=True, check=False
            )
        assert result.returncode == 2
        assert re.fullmatch(r"broadphase: .*No space left on device\n", result.stderr)

    @on_unix
    def test_interrupted(self, tmp_path):
        with subprocess.Popen(
            [*COMMAND, "pairs", "-", "-o", str(tmp_path / "a.csv")],
            stdin=subprocess.PIPE,
            stderr=subprocess.PIPE,
            # A shell that starts the tests in the background has SIGINT ignored in all that it starts.
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
        ) as process:
            process.stdin.write(b"x,y,w,h\n" + 40_000 * b"1,2,3,4\n")  # more than a pipe holds: it is reading
            process.stdin.flush()
            process.send_signal(signal.SIGINT)
            assert process.wait(60) == 130
            assert process.stderr.read() == b"broadphase: interrupted\n"
            process.stdin.close()
        assert list(tmp_path.iterdir()) == []


class TestProgress:
    def slow(self, stderr: int) -> subprocess.Popen[bytes]:
        """A search that takes two seconds, because its input does."""
        process = subprocess.Popen(
            [*COMMAND, "pairs", "-", "--count"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=stderr,
            env={**os.environ, "TERM": "xterm", "COLUMNS": "80"},
        )
        process.stdin.write(b"x,y,w,h\n")
        process.stdin.flush()
        return process

    @on_unix
    def test_on_a_terminal_after_a_second(self):
        import pty

        ours, theirs = pty.openpty()
        with self.slow(theirs) as process:
            os.close(theirs)
            shown = b""
            while b"Reading -" not in shown:  # it comes although nothing more is sent
                assert select.select([ours], [], [], 60)[0]
                shown += os.read(ours, 1024)
            assert process.communicate(b"1,2,3,4\n1,2,3,4\n", 60)[0] == b"1\n"
        os.close(ours)

    def test_not_where_there_is_no_terminal(self):
        with self.slow(subprocess.PIPE) as process:
            time.sleep(2)
            assert process.communicate(b"1,2,3,4\n1,2,3,4\n", 60) == (b"1\n", b"")

    def test_quick_work_shows_nothing(self):
        console = Console(file=io.StringIO(), force_terminal=True)
        with Steps(console, patience=60) as steps:
            steps.step("Reading")(1, 2)
        assert console.file.getvalue() == ""

    def test_the_steps_and_how_far_they_are(self):
        console = Console(file=io.StringIO(), force_terminal=True, width=100)
        with Steps(console, patience=0) as steps:
            steps.step("Reading [a].csv")(1, 1)
            report = steps.step("Writing")
            deadline = time.monotonic() + 60
            while "25%" not in console.file.getvalue():
                assert time.monotonic() < deadline
                report(1, 4)
                time.sleep(0.01)
        assert "Reading [a].csv" in console.file.getvalue()


class TestWarmup:
    jit_on = pytest.mark.skipif(warm_up.cache_folder() is None, reason="Numba's JIT is switched off")

    @jit_on
    def test_it_says_where_the_cache_lies(self, tmp_path):
        environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path)}
        result = command("warmup", "--methods", "brute_force", env=environment)
        assert result.stderr == ""
        assert result.returncode == 0
        assert "These methods are ready" in result.stdout
        folder = Path(re.search(r"lies in (.*) \(", result.stdout)[1])
        assert folder.is_relative_to(tmp_path)
        before = {file: file.stat().st_mtime_ns for file in folder.iterdir()}
        assert any(file.suffix == ".nbc" for file in before)
        assert command("pairs", "-", "--count", input="0,0,1,1\n0,0,1,1\n", env=environment).stdout == "1\n"
        assert {file: file.stat().st_mtime_ns for file in folder.iterdir()} == before

    def test_with_the_jit_off_it_says_so(self):
        result = command("warmup", env={**os.environ, "NUMBA_DISABLE_JIT": "1"})
        assert result.stdout == "Numba's JIT is switched off: there is nothing to compile.\n"
        assert result.stderr == ""
        assert result.returncode == 0

    def run(self, monkeypatch, jobs: list[Job], compiling: bool) -> tuple[list[Job], list[tuple[int, int]]]:
        """The jobs done in this process, and the progress told."""
        done: list[Job] = []
        told: list[tuple[int, int]] = []
        monkeypatch.setattr(warm_up, "compiled", lambda: len(done) if compiling else 0)
        monkeypatch.setattr(warm_up, "cache_folder", lambda: Path())
        monkeypatch.setattr(warm_up.threads, "cores", lambda: 2)
        monkeypatch.setattr(Job, "do", lambda job: done.append(job))
        warm_up.do_all(jobs, lambda *progress: told.append(progress))
        return done, told

    def test_the_world_is_a_job_too(self, monkeypatch, capsys):
        jobs: list[Job] = []
        monkeypatch.setattr(warm_up, "cache_folder", lambda: Path())
        monkeypatch.setattr(warm_up, "do_all", lambda todo, report: jobs.extend(todo))
        warm_up.warm_up()
        assert [job for job in jobs if job.method == warm_up.WORLD] == [Job("world", 2, "float64")]
        Job.parse("world:2:float64").do()
        assert "The world and all methods are ready" in capsys.readouterr().out

    JOBS = [Job("brute_force", dim, dtype) for dim in (2, 3) for dtype in ("float32", "float64")]  # noqa: RUF012

    def test_what_is_in_the_cache_is_loaded_without_help(self, monkeypatch):
        monkeypatch.setattr(warm_up, "_send_out", None)
        done, told = self.run(monkeypatch, self.JOBS, compiling=False)
        assert done == self.JOBS
        assert told == [(k, 4) for k in range(5)]

    @jit_on
    def test_helpers_do_their_share(self, monkeypatch):
        sent: list[Job] = []
        send_out = warm_up._send_out

        def send(jobs, tick):
            sent.extend(jobs)
            send_out(jobs, tick)

        monkeypatch.setattr(warm_up, "_send_out", send)
        done, told = self.run(monkeypatch, self.JOBS, compiling=True)
        assert sent == self.JOBS[3:]
        assert set(done) == set(self.JOBS)
        assert told == [(k, 4) for k in range(5)]

    def test_without_helpers_all_is_done_here(self, monkeypatch):
        monkeypatch.setattr(sys, "executable", "/no/such/python")
        done, _ = self.run(monkeypatch, self.JOBS, compiling=True)
        assert set(done) == set(self.JOBS)


class TestDemo:
    def test_it_compares_all_methods_and_leaves_a_picture(self, tmp_path):
        result = command("demo", "--balls", 300, "--frames", 4, cwd=tmp_path)
        assert result.stderr == ""
        assert result.returncode == 0
        for name in NAMES:
            assert name in result.stdout
        assert "44,850" in result.stdout  # the tests that brute force makes
        assert f"All {len(NAMES)} methods found the same pairs in each of the 4 frames." in result.stdout
        assert [file.name for file in tmp_path.iterdir()] == ["broadphase-demo.png"]
        assert (tmp_path / "broadphase-demo.png").read_bytes().startswith(b"\x89PNG")

    def test_the_methods_and_the_picture_may_be_chosen(self, tmp_path, capfd):
        picture = tmp_path / "last.svg"
        arguments = ["--balls", "50", "--frames", "2", "--methods", "brute_force", "-o", str(picture)]
        assert run(["demo", *arguments]) == 0
        out = capfd.readouterr().out
        assert "brute_force" in out
        assert "strips" not in out
        assert str(picture) in out.replace("\n", "")
        assert "<svg" in picture.read_text()

    def test_a_method_that_loses_a_pair_is_caught(self, tmp_path, capfd, monkeypatch):
        def forgetful(name, task):
            found = search(name, task)
            return found if name == "brute_force" else found._replace(chunks=[found.chunks[0][1:]])

        monkeypatch.setattr("broadphase.cli.demo.search", forgetful)
        picture = tmp_path / "last.png"
        options = ["--methods", "brute_force", "strips", "--seed", "5", "-o", str(picture)]
        assert run(["demo", "--balls", "200", "--frames", "3", *options]) == 1
        captured = capfd.readouterr()
        assert captured.out == ""
        assert re.fullmatch(
            r"broadphase: the methods disagree in frame 0: brute_force found \d+ pairs, strips found \d+; "
            r"only one of them found \(\d+, \d+\) \(replay with --balls 200 --seed 5\)\n",
            captured.err,
        )
        assert not picture.exists()

    def test_the_balls_stay_inside_keep_their_speed_and_overlap(self):
        balls = Balls.scattered(500, seed=3)
        speeds = np.hypot(*balls.velocities.T)
        for _ in range(200):
            balls.advance()
        boxes = balls.boxes()
        assert boxes.min() >= -1e-3
        assert boxes.max() <= balls.side + 1e-3
        assert np.allclose(np.hypot(*balls.velocities.T), speeds)
        assert 100 < bp.count_pairs(boxes) < 1000

    def test_the_same_seed_gives_the_same_balls(self):
        assert np.array_equal(Balls.scattered(9, 1).boxes(), Balls.scattered(9, 1).boxes())
        assert not np.array_equal(Balls.scattered(9, 1).boxes(), Balls.scattered(9, 2).boxes())

    def test_pictures_need_the_extra(self, capfd, monkeypatch):
        for module in [name for name in sys.modules if name.partition(".")[0] == "matplotlib"]:
            monkeypatch.delitem(sys.modules, module)
        monkeypatch.setitem(sys.modules, "matplotlib", None)
        assert "needs matplotlib: python -m pip install 'broadphase[plot]'" in refused(capfd, "demo")
