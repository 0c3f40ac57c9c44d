"""What Windows and macOS do otherwise than Linux, as far as Linux can show it."""

import ctypes
import errno
import fcntl
import importlib
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from time import sleep
from types import SimpleNamespace

import numpy as np
import open_files
import pytest
from cli_helpers import COMMAND
from outofcore_helpers import TIGHT

import broadphase as bp
from broadphase import cli, outofcore
from broadphase.outofcore.work import run_tasks
from broadphase.runtime import memory, threads

if sys.platform != "linux":
    pytest.skip("other systems are the real thing", allow_module_level=True)

BOXES = np.random.default_rng(1).random((400, 4))
BOXES[:, 2:] += BOXES[:, :2]


class TestOpenFiles:
    def test_the_guard_knows_open_and_mapped_files(self, tmp_path, monkeypatch):
        path, folder = tmp_path / "folder" / "a.npy", tmp_path / "folder"
        folder.mkdir()
        np.save(path, np.arange(9))
        with open_files.as_on_windows(monkeypatch) as refused:
            with path.open("rb"), pytest.raises(PermissionError):
                path.unlink()
            mapped = np.load(path, mmap_mode="r")
            with pytest.raises(PermissionError):
                folder.rename(tmp_path / "other")
            (tmp_path / "b").write_bytes(b"")
            with pytest.raises(PermissionError):
                (tmp_path / "b").replace(path)
            del mapped
            folder.rename(tmp_path / "other")
        assert refused == [str(path)] * 3

    @pytest.fixture
    def without_fcntl(self, monkeypatch):
        """Locks as Windows has them."""

        def locking(handle, how, count):
            try:
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                raise PermissionError(errno.EACCES, "Permission denied") from None

        monkeypatch.setitem(sys.modules, "fcntl", None)
        monkeypatch.setitem(sys.modules, "msvcrt", SimpleNamespace(locking=locking, LK_NBLCK=2))

    @pytest.mark.usefixtures("without_fcntl")
    def test_two_runs_do_not_share_a_folder(self, tmp_path, monkeypatch):
        def run_again(now):
            if now.step == "join" and now.done == 0:
                with pytest.raises(BlockingIOError, match="another run is at work"):
                    outofcore.pairs(iter([BOXES]), tmp_path / "out", **TIGHT)

        with open_files.as_on_windows(monkeypatch) as refused:
            outofcore.pairs(iter([BOXES]), tmp_path / "out", progress=run_again, **TIGHT)
        assert set(refused) == {str(tmp_path / "out.work.lock")}
        assert [path.name for path in tmp_path.iterdir()] == ["out"]


def test_tasks_are_looked_after_again_and_again(monkeypatch):
    """A wait without an end of its own could not be interrupted on Windows."""
    waited, done = [], []
    monkeypatch.setattr(outofcore.work, "_LOOK_AGAIN", 0.01)
    wait = outofcore.work.wait
    monkeypatch.setattr(outofcore.work, "wait", lambda *how: waited.append(how[1]) or wait(*how))
    with ThreadPoolExecutor(1) as executor:
        run_tasks(executor, 1, sleep, [7], lambda number: (0.2,), lambda *what: done.append(what))
    assert done == [(7, None)]
    assert len(waited) > 3
    assert set(waited) == {0.01}


CODE_PAGE = {**os.environ, "PYTHONUTF8": "0", "PYTHONIOENCODING": "cp1252"}


class TestCommand:
    def test_names_that_a_code_page_does_not_have(self, tmp_path):
        world, path = bp.World(), tmp_path / "größe 大きさ.bprec"
        with bp.Recorder(world, path):
            world.update()
        done = subprocess.run(
            [*COMMAND, "replay", str(path)],
            capture_output=True,
            check=True,
            env=CODE_PAGE,
            encoding="cp1252",
        )
        assert done.stderr == ""
        assert done.stdout.startswith(f"{tmp_path / 'größe'} \\u5927\\u304d\\u3055.bprec: ")

    def test_tables_have_lines_that_a_code_page_has(self, tmp_path):
        done = subprocess.run(
            [*COMMAND, "demo", "--balls", "60", "--frames", "2", "-o", str(tmp_path / "大.png")],
            capture_output=True,
            check=True,
            env=CODE_PAGE,
            encoding="cp1252",
        )
        assert "\nstrips  " in done.stdout
        assert "\\u5927.png" in done.stdout

    def test_a_closed_pipe(self, monkeypatch):
        def closed(arguments):
            raise OSError(errno.EINVAL, "Invalid argument")

        monkeypatch.setattr("broadphase.cli.commands.call", closed)
        monkeypatch.setattr(cli, "_drop_output", lambda: None)
        assert cli.run([]) == 2
        monkeypatch.setattr(sys, "platform", "win32")
        assert cli.run([]) == 141


class TestMemory:
    def test_the_structure_has_the_size_that_windows_knows(self):
        assert ctypes.sizeof(memory._MemoryStatus) == 64
        assert memory._MemoryStatus.available.offset == 16

    def test_what_is_available(self, monkeypatch):
        def status(reference):
            reference._obj.available = 7 << 30
            return 1

        system = SimpleNamespace(GlobalMemoryStatusEx=status)
        monkeypatch.setattr(ctypes, "CDLL", lambda name: system)
        monkeypatch.setattr(sys, "platform", "win32")
        assert memory.available_memory() == 7 << 30


def test_a_clock_that_ticks_slowly(monkeypatch):
    monkeypatch.setattr(threads, "perf_counter", lambda: 1.0)
    threads._turns.cache_clear()
    try:
        assert threads._turns(2e-4) == 100_000
    finally:
        threads._turns.cache_clear()


def test_without_what_only_unix_has():
    program = """
import os, sys
for module in ("fcntl", "grp", "pwd", "resource", "termios", "tty"):
    sys.modules[module] = None
for name in ("fork", "geteuid", "getuid", "getloadavg", "register_at_fork", "sched_getaffinity", "sysconf"):
    delattr(os, name)
import numpy as np
import arrival
arrival.arrays(2, np.float32)
arrival.index("strips", 3, np.float64)
arrival.world()
"""
    tests = str(Path(__file__).parent)
    path = os.pathsep.join([tests, *filter(None, [os.environ.get("PYTHONPATH")])])
    done = subprocess.run(
        [sys.executable, "-c", program],
        capture_output=True,
        check=False,
        env={**os.environ, "PYTHONPATH": path},
        encoding="utf-8",
    )
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("name", ["outofcore", "dask"])
def test_what_a_browser_lacks_is_named(name, monkeypatch):
    for module in [each for each in sys.modules if each.startswith(f"broadphase.{name}")]:
        monkeypatch.delitem(sys.modules, module)
    monkeypatch.setattr(bp, name, None, raising=False)  # the import writes it
    monkeypatch.setattr(sys, "platform", "emscripten")
    with pytest.raises(ImportError, match=rf"^broadphase\.{name} does not run in a browser, which has no "):
        importlib.import_module(f"broadphase.{name}").pairs  # noqa: B018 - outofcore imports its own parts late
