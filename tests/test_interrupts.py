"""Ctrl-C at any instruction, threads that cannot be started, memory that another thread writes to."""

import _thread
import gc
import os
import signal
import sys
import threading
import time
import zipfile
from pathlib import Path

import numpy as np
import pytest
import scenes
from hammer_interrupts import hammer
from interrupting import PACKAGE, Interrupt
from test_no_warm_up import run

import broadphase as bp
from broadphase.kernels.machine.mode import PLAIN
from broadphase.runtime import memory, threads

compiled = pytest.mark.skipif(PLAIN, reason="is about compiled kernels")
signals = pytest.mark.skipif(os.name == "nt", reason="sends POSIX signals")


@pytest.fixture
def three_cores(monkeypatch):
    """Helpers also on a machine of one core, and none that other tests have started."""
    monkeypatch.setattr(threads, "cores", lambda: 3)
    monkeypatch.setattr(threads, "_pool", threads._Pool())


class Inside:
    """Calls that record which threads are in them."""

    def __init__(self, calls, seconds=0.001):
        self.now, self.most = [], 0
        self._seconds = seconds
        self.calls = [self._call] * calls

    def _call(self):
        self.now.append(None)
        time.sleep(self._seconds)
        self.now.pop()
        return 1


@pytest.mark.smaller_set
@signals
def test_ctrl_c_does_not_leave_before_the_helper(three_cores):
    """However often it is pressed."""
    main, began, ended = threading.get_ident(), threading.Event(), []

    def call():
        if threading.get_ident() == main:
            began.wait(10)
            return
        began.set()
        for _ in range(6):
            time.sleep(0.05)
            os.kill(os.getpid(), signal.SIGINT)
        time.sleep(0.1)
        ended.append(True)

    with pytest.raises(KeyboardInterrupt):
        threads.run_all([call, call], 2)
    assert ended == [True]


@pytest.mark.smaller_set
@pytest.mark.parametrize("function", ["_run_with_helpers", "work", "close", "offer", "results"])
def test_an_exception_at_any_instruction_leaves_no_helper_inside(three_cores, function):
    """The k-th instruction of a function raises, for every k that there is."""
    raised = False
    for k in range(2_000):
        inside, raised = Inside(3), False
        try:
            with interrupt(function, k):
                found = threads.run_all(inside.calls, 3)
        except KeyboardInterrupt:
            raised = True
        else:
            assert found == [1, 1, 1]
        assert inside.now == [], f"a helper is still inside after instruction {k}"
        if not raised:
            break
        assert threads.run_all(Inside(3, 0).calls, 3) == [1, 1, 1]
    assert k > 5
    assert not raised


class interrupt:  # noqa: N801 - reads as a verb
    """Raise KeyboardInterrupt at the k-th instruction that a function of `threads` runs in this thread."""

    def __init__(self, function, k):
        self._function, self._left = function, k

    def __enter__(self):
        self._before = sys.gettrace()
        sys.settrace(self._enter)

    def __exit__(self, *error):
        sys.settrace(self._before)

    def _enter(self, frame, event, argument):
        if frame.f_code.co_name != self._function or frame.f_globals is not vars(threads):
            return None
        frame.f_trace = self._step  # first: from 3.12 on, the others count only where there is one
        frame.f_trace_opcodes, frame.f_trace_lines = True, False
        return self._step

    def _step(self, frame, event, argument):
        if event == "opcode":
            if self._left == 0:
                self._left = -1
                raise KeyboardInterrupt
            self._left -= 1
        return self._step


@pytest.mark.smaller_set
def test_scratch_is_not_used_again_after_an_exception():
    with pytest.raises(ValueError, match="inside"), memory.borrowed_scratch() as scratch:
        raise ValueError("inside")
    assert scratch not in memory._idle_scratch
    with memory.borrowed_scratch() as scratch:
        pass
    assert scratch in memory._idle_scratch


@pytest.mark.smaller_set
def test_where_no_thread_starts_the_caller_does_everything(three_cores, monkeypatch):
    def refuse(*arguments):
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(threads, "start_new_thread", refuse)
    ran = []
    assert threads.run_all([lambda: ran.append("old")] * 3, 3) == [None] * 3
    assert threads._pool._offers.qsize() == 0
    monkeypatch.setattr(threads, "start_new_thread", _thread.start_new_thread)
    assert threads.run_all(Inside(3).calls, 3) == [1, 1, 1]
    assert ran == ["old"] * 3


NO_THREADS = """
import os, resource, numpy as np, broadphase as bp
low = np.random.default_rng(0).random((50_000, 2))
boxes = np.hstack([low, low + 1e-3])
right = bp.pairs(boxes, threads=1)
if os.getuid() == 0:
    os.setgroups([]), os.setgid(65534), os.setuid(65534)  # root may start any number
resource.setrlimit(resource.RLIMIT_NPROC, (1, 1))
print(all(np.array_equal(bp.pairs(boxes, threads=2), right) for _ in range(3)))
"""


@compiled
@pytest.mark.skipif(sys.platform != "linux", reason="limits threads as Linux does")
def test_where_no_thread_may_be_started():
    assert run(NO_THREADS) == "True"


AFTER_MAIN = """
import atexit, threading, numpy as np, broadphase as bp
low = np.random.default_rng(0).random((50_000, 2))
boxes = np.hstack([low, low + 2e-3])
right = len(bp.pairs(boxes, threads=2))
def ask():
    print(len(bp.pairs(boxes, threads=2)) == right)
def wait_and_ask():
    threading.main_thread().join()
    ask()
threading.Thread(target=wait_and_ask).start()
atexit.register(ask)
"""


@compiled
def test_threads_that_outlive_the_main_one():
    assert run(AFTER_MAIN).split() == ["True", "True"]


@compiled
@signals
def test_signals_at_random_moments():
    """`hammer_interrupts` for a second; it runs for as long as one likes."""
    result = hammer(1.0)
    assert result["signals"] > 10
    assert result["interrupts"] > 0
    assert (result["wrong"], result["errors"], result["ended"], result["stuck"]) == (0, [], "", False)


def test_a_save_that_is_interrupted_leaves_nothing(tmp_path, monkeypatch):
    # An archive of `zipfile` that was interrupted cannot be closed, and says so again when it is collected.
    # pytest would parse source to show it, maybe while `load` parses a header, which Python cannot do.
    monkeypatch.setattr(sys, "unraisablehook", lambda error: None)
    index = bp.BoxTree()
    index.insert_many(scenes.make("uniform", 60, 2))
    path = tmp_path / "index.npz"
    index.save(path)
    inside = (PACKAGE, zipfile.__file__, str(Path(np.__file__).parent / "lib"))
    k, hit = 0, True
    while hit:
        before = len(bp.BoxTree.load(path))
        index.insert([0, 0, 1, 1])
        interrupt = Interrupt(k, inside=inside)
        try:
            with interrupt:
                index.save(path)
        except KeyboardInterrupt:
            assert [one.name for one in tmp_path.iterdir()] == ["index.npz"], f"moment {k}"
            assert len(bp.BoxTree.load(path)) in (before, len(index)), f"moment {k}"
        hit, k = interrupt.hit, k + 1 + k // 16
    assert k > 100
    assert len(bp.BoxTree.load(path)) == len(index)
    gc.collect()  # while that is so
