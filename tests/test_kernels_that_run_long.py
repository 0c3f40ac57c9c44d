"""Kernels run to their end: results grow, signals are answered, helpers stop, rows and objects are read."""

import os
import signal
import subprocess
import sys
import threading
import time
from functools import partial

import numpy as np
import pytest
from interrupting import call_interrupted

import broadphase as bp
from broadphase.kernels.machine import interrupts
from broadphase.kernels.machine.mode import PLAIN
from broadphase.kernels.machine.signatures import describe_all
from broadphase.runtime import threads

signals = pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="this system has no interval timers")
compiled = pytest.mark.skipif(PLAIN, reason="plain Python is interrupted between any two lines")

STACK = np.tile([0.0, 0.0, 1.0, 1.0], (30_000, 1))


@compiled
@signals
@pytest.mark.parametrize("method", [name for name in bp.METHODS if name != "auto"])
@pytest.mark.parametrize("count", [1, 2])
def test_a_signal_that_raises_ends_a_search_and_one_that_returns_does_not(method, count):
    calls, n = [], 6_000 if method in ("uniform_grid", "spatial_hash") else 20_000
    count_pairs = partial(bp.count_pairs, STACK[:n], method=method, threads=count)
    with pytest.raises(KeyboardInterrupt):
        call_interrupted(lambda: [count_pairs() for _ in range(1_000)], 0.02)
    before = signal.signal(signal.SIGALRM, lambda *_: calls.append(None))
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.001, 0.001)
        assert count_pairs() == n * (n - 1) // 2
        assert calls
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


@compiled
@pytest.mark.parametrize("method", [name for name in bp.METHODS if name not in ("auto", "brute_force")])
def test_a_search_may_be_interrupted_at_every_check(monkeypatch, method):
    count = 150_000 if method in ("tree", "strips") else 60_000  # more than one check in each
    low = np.random.default_rng(3).random((count, 2), np.float32)
    boxes, calls = np.hstack((low, low + np.float32(0.02))), []

    def check():
        calls.append(None)
        if len(calls) > after:
            raise KeyboardInterrupt

    monkeypatch.setattr(interrupts, "checks", [*interrupts.checks, check])
    after = 10**9
    right = bp.count_pairs(boxes, method=method, threads=1)
    checked = len(calls)
    assert checked > 1
    for at in {0, checked - 1}:
        after = at
        del calls[:]
        with pytest.raises(KeyboardInterrupt):
            bp.count_pairs(boxes, method=method, threads=1)
    after = 10**9
    assert bp.count_pairs(boxes, method=method, threads=2) == right


@compiled
def test_reading_ways_may_be_interrupted(monkeypatch):
    """No two are near each other, so nothing else takes long enough for a check."""
    n, calls = 40_000, []
    boxes = np.repeat(np.arange(float(n)), 4).reshape(n, 4)
    monkeypatch.setattr(interrupts, "checks", [*interrupts.checks, lambda: calls.append(None)])
    assert len(bp.swept_pairs(boxes, np.zeros((n, 2)), threads=1).pairs) == 0
    assert len(calls) > 1


QUESTIONS = {
    "query_box": lambda index, at: index.query_box(np.hstack((at, at + 1.0)), category=2),
    "query_radius": lambda index, at: index.query_radius(at, 1.0, category=2),
    "raycast": lambda index, at: index.raycast(at, np.ones_like(at), category=2),
    "query_ray": lambda index, at: index.query_ray(at, np.ones_like(at), category=2),
    "nearest": lambda index, at: index.nearest(at, 2, category=2),
}


@compiled
@pytest.mark.parametrize(
    ("name", "question"),
    [("box_tree", question) for question in QUESTIONS]
    + [(name, "query_box") for name in ("uniform_grid", "sort_and_sweep", "brute_force")]
    + [("worlds", question) for question in ("query_box", "query_ray", "nearest")],
)
def test_a_batch_of_queries_may_be_interrupted_at_every_check(monkeypatch, name, question):
    """No box counts, so all are compared and nothing is found; there are two checks."""
    env, boxes, queries = ({"env": 3}, 60, 650_000) if name == "worlds" else ({}, 15_000, 2_800)
    if question in ("query_box", "query_radius") and name not in ("worlds", "brute_force"):
        queries = 1_500
    index = bp.make_index("box_tree" if name == "worlds" else name, threads=1)
    index.insert_many(STACK[:boxes], mask=1, **env)
    at, calls = np.random.default_rng(3).random((queries, 2)), []
    asked = Asked(index, env)

    def check():
        calls.append(None)
        if len(calls) > after:
            raise KeyboardInterrupt

    monkeypatch.setattr(interrupts, "checks", [*interrupts.checks, check])
    for after in (0, 1):
        del calls[:]
        with pytest.raises(KeyboardInterrupt):
            QUESTIONS[question](asked, at)
        assert len(calls) == after + 1
    after = 10**9
    assert len(asked.query_box([0.2, 0.2, 0.8, 0.8], category=1)) == boxes


class Asked:
    """An index that is asked in one environment."""

    def __init__(self, index, env):
        self.index, self.env = index, env

    def __getattr__(self, name):
        return partial(getattr(self.index, name), **self.env)


def test_a_helper_ends_its_kernel_if_no_caller_waits(monkeypatch):
    monkeypatch.setattr(threads, "cores", lambda: 3)
    main, began, ends = threading.get_ident(), threading.Event(), []

    def call():
        if threading.get_ident() == main:
            began.wait(10)
            raise KeyboardInterrupt
        began.set()
        try:
            for _ in range(1_000):
                bp.count_pairs(STACK[:500] if PLAIN else STACK, method="brute_force", threads=1)
        finally:
            ends.append(sys.exc_info()[0])

    with pytest.raises(KeyboardInterrupt):
        threads.run_all([call, call], 2)
    assert ends == [threads.Cancelled]


@compiled
def test_other_threads_run_while_a_kernel_checks():
    assert threads.stop_if_unwanted in interrupts.checks
    turns = []
    done = threading.Event()

    def turn():
        while not done.is_set():
            turns.append(None)
            time.sleep(0.001)

    other = threading.Thread(target=turn)
    other.start()
    try:
        assert bp.count_pairs(STACK, method="brute_force", threads=1) == 30_000 * 29_999 // 2
    finally:
        done.set()
        other.join()
    assert len(turns) > 10


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ((1.0, 2.0, 3.0, 4.0), "f8[2]<4|6>"),
        (np.zeros((3, 6)), "f8[2]<4|6>"),
        (np.zeros((3, 5)), "f8[2]"),
        (np.zeros((3, 4), np.float32), "f4[2]"),
        ((1.0, 2.0), "(f8, f8)"),
    ],
)
def test_rows_are_an_array_or_one_tuple(value, text):
    assert describe_all((value,), {0: "f8[2]<4|6>"}) == text


KERNELS = """
import numpy as np
from broadphase.kernels.machine.jit import holds_gil, inline, jit, objects, rows
from broadphase.kernels.machine.objects import (
    append, attribute, drop, is_same, is_there, item, length_of, number_of
)

@jit
@rows(boxes=(4, 6))
def sums(boxes):
    out = np.zeros(boxes.shape[0])
    for k in range(boxes.shape[0]):
        for column in range(boxes.shape[1]):
            out[k] += boxes[k, column]
    return out

@holds_gil
@objects("things", "name")
def read(things, name, columns):
    rows = np.empty((max(length_of(things), 0), columns))
    for k in range(rows.shape[0]):
        thing = item(things, k)
        if not is_there(thing):
            return rows, np.int64(k)
        value = attribute(thing, name)
        drop(thing)
        if not is_there(value):
            return rows, np.int64(k)
        for column in range(columns):
            number = item(value, column)
            if not is_there(number):
                drop(value)
                return rows, np.int64(k)
            rows[k, column] = number_of(number)
            drop(number)
        drop(value)
    return rows, np.int64(-1)

@holds_gil
@objects("things", "other", "found")
def put(things, other, found):
    for k in range(length_of(things)):
        thing = item(things, k)
        if not is_same(thing, other):
            append(found, thing)
            append(found, other)
        drop(thing)
    return length_of(found)
"""

USE = """
import gc, math, sys
from types import SimpleNamespace as Thing
import numpy as np
from kernels_here import put, read, sums

assert sums((1, 2.0, 3, 4)).tolist() == [10.0]
assert sums((1, 2, 3, 4, 5, 6.0)).tolist() == [21.0]
assert sums(np.ones((3, 4))).tolist() == [4.0] * 3
assert sums(np.ones((0, 6))).tolist() == []

things = [Thing(at=(1, 2.5)), Thing(at=[np.float64(3.0), 4])]
for sequence in (things, tuple(things)):
    rows, missing = read(sequence, "at", 2)
    assert missing == -1 and rows.tolist() == [[1.0, 2.5], [3.0, 4.0]]
assert read([], "at", 2)[0].shape == (0, 2)
for bad in (Thing(), Thing(at=None), Thing(at=(1.0,)), Thing(at=7)):
    assert read([*things, bad], "at", 2)[1] == 2
rows, missing = read([Thing(at=("text", 10**400))], "at", 2)
assert missing == -1 and np.isnan(rows).all()

class Raises:
    @property
    def at(self):
        raise ValueError("of its own")

class Clears:
    @property
    def at(self):
        sequence.clear()
        return 1.0, 2.0

try:
    read([*things, Raises()], "at", 2)
except ValueError as error:
    assert str(error) == "of its own"
else:
    raise AssertionError("an exception was lost")
sequence = [Clears(), *things]
assert read(sequence, "at", 2)[1] == 1
try:
    read(5, "at", 2)
except TypeError:
    pass
else:
    raise AssertionError("5 is no sequence")

found = ["before"]
assert put(things, things[0], found) == 3
assert found == ["before", things[1], things[0]]

held = [things, things[0], things[1], things[0].at, things[0].at[1], "at"]
before = [sys.getrefcount(one) for one in held]
for _ in range(1000):
    read(things, "at", 2)
    put(things, things[0], [])
    read([things[0], Thing(at=(1.0,))], "at", 2)
    try:
        read([things[0], Raises()], "at", 2)
    except ValueError:
        pass
gc.collect()
assert all(abs(sys.getrefcount(one) - count) < 10 for one, count in zip(held, before)), before
"""
# As `docs/explanation/one_kernel.py`: compile, link, load.
COMPILE = """
import os, sys
from pathlib import Path
os.environ["BROADPHASE_COMPILING"] = "1"
from numba.core.registry import cpu_target
from broadphase.compiler import builtins, machine_code, memory, numba_names, python_api
from broadphase.compiler.lowering import lower, target_machine
from broadphase.kernels.machine.library import Library
from broadphase.kernels.machine.mode import level
from broadphase.kernels.machine.target import HOST
numba_names.prepare()
import kernels_here

stem, machine, calls = Path(sys.argv[1]), target_machine(HOST, level()), {}
kinds = {"read": ("o, o, i8", 3), "put": ("o, o, o", 3), "sums": ("f8[2]<4|6>", 1)}
objects = [stem.with_name(name) for name in ("table", *kinds)]
for name, (types, count) in kinds.items():
    lowered = lower(getattr(kernels_here, name), types)
    code = machine_code.emit_call(cpu_target.target_context, lowered, f"call_{name}", machine)
    stem.with_name(name).write_bytes(code)
    calls[name] = [(f"call_{name}", count)]
kept = machine_code.EXPORTED | {*memory.NAMES, *builtins.NAMES, *python_api.NAMES}
objects[0].write_bytes(machine_code.emit(machine_code.table_module(calls, HOST), kept, machine))
machine_code.link(objects, stem.with_suffix(HOST.suffix), HOST)
stem.with_suffix(".index").write_text("".join(f"kernel {name}\\n" for name in kinds))

def otherwise(*arguments):
    raise TypeError(f"not compiled for {arguments}")

library = Library(str(stem))
for name in kinds:
    setattr(kernels_here, name, library.builtin(name, otherwise))
"""


@pytest.mark.parametrize("plain", [False, True], ids=["compiled", "plain"])
def test_kernels_that_read_rows_and_objects(plain, tmp_path):
    if not plain:
        pytest.importorskip("numba")
    environment = {**os.environ, "NUMBA_DISABLE_JIT": str(int(plain))}
    environment["PYTHONPATH"] = os.pathsep.join([str(tmp_path), environment.get("PYTHONPATH", "")])
    (tmp_path / "kernels_here.py").write_text(KERNELS)
    script = USE if plain else COMPILE + USE
    command = [sys.executable, "-c", script, str(tmp_path / "library")]
    done = subprocess.run(command, env=environment, capture_output=True, encoding="utf-8", check=False)
    assert done.returncode == 0, done.stderr
