"""The command as a process: pipes, signals, progress."""

import io
import os
import re
import select
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from cli_helpers import COMMAND, command, numbers, save_csv, some_boxes
from rich.console import Console

import broadphase as bp
from broadphase.cli.terminal import Steps

on_unix = pytest.mark.skipif(os.name == "nt", reason="pipes and signals as on Unix")


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
        assert result.stderr == "broadphase: standard input: row 1, column height: is empty\n"

    @pytest.mark.parametrize("package", ["cyclopts", "rich"])
    def test_without_the_extra_the_missing_extra_is_named(self, package):
        program = f"import sys; sys.modules['{package}'] = None; from broadphase.cli import main; main()"
        result = subprocess.run(
            [sys.executable, "-c", program, "demo"], capture_output=True, text=True, check=False
        )
        assert result.returncode == 2
        assert result.stdout == ""
        assert result.stderr == (
            f"broadphase: the command needs {package}; "
            'install it with: python -m pip install "broadphase[cli]"\n'
        )

    @on_unix
    def test_the_reader_has_closed_the_pipe(self, tmp_path):
        low = np.random.default_rng(1).random((700, 2))
        path = save_csv(tmp_path / "a.csv", np.hstack([low, low + 1]))  # 245,000 pairs: no pipe holds them
        with subprocess.Popen(
            [*COMMAND, "pairs", str(path)], stdout=subprocess.PIPE, stderr=subprocess.PIPE
        ) as process:
            assert process.stdout.readline() == b"i,j\n"
            process.stdout.close()
            assert process.wait(60) == 141
            assert process.stderr.read() == b""

    @pytest.mark.skipif(sys.platform == "win32" or not Path("/dev/full").exists(), reason="no full device")
    def test_a_full_disk(self, tmp_path):
        path = save_csv(tmp_path / "a.csv", some_boxes(300))
        with Path("/dev/full").open("w", encoding="utf-8") as full:
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
            time.sleep(1.5)
            assert process.communicate(b"1,2,3,4\n1,2,3,4\n", 60) == (f"1{os.linesep}".encode(), b"")

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
