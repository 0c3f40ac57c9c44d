"""Signals at random moments: a child that searches without end, and a parent that interrupts it.

``python -m tests.hammer_interrupts --minutes 10`` from the root of the repository.  Every answer is compared
with the one of brute force on one thread.  It fails for a wrong answer, for anything that is not
KeyboardInterrupt, for a child that ends, and for one that makes no progress.
"""

import argparse
import os
import random
import signal
import subprocess
import sys
import time
from itertools import cycle
from pathlib import Path

import numpy as np

import broadphase as bp

STUCK = 60.0  # seconds without an answer, on a machine that may be busy
METHODS = [name for name in bp.METHODS if name != "brute_force"]


def worlds():
    """Scenes that several threads search, each with its pairs as brute force on one thread finds them."""
    draw = np.random.default_rng(7)
    for n, size in ((45_000, 0.002), (20_000, 0.004)):
        low = draw.random((n, 2))
        boxes = np.hstack([low, low + size])
        yield boxes, bp.pairs(boxes, method="brute_force", threads=1)


def child():
    """Search for ever, and say on standard output what came of each turn."""
    # What is started in the background is deaf to it.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    cases = list(worlds())
    index = bp.BoxTree()
    index.insert_many(cases[1][0])
    searches = [
        (lambda b=boxes, m=method: bp.pairs(b, method=m, threads=2), right)
        for boxes, right in cases
        for method in METHODS
    ]
    searches.append((index.pairs, cases[1][1]))
    small = cases[1][0][:5_000]
    searches.append(
        (
            lambda: bp.pairs(small, method="brute_force", threads=2),
            bp.pairs(small, method="strips", threads=1),
        )
    )
    for search, right in searches:
        assert np.array_equal(search(), right)
    os.write(1, b"ready\n")
    turns = cycle(searches)
    while True:  # the next signal may arrive while the last one is reported
        try:
            while True:
                try:
                    while True:
                        take_turns(turns)
                except KeyboardInterrupt:
                    os.write(1, b"i")
        except KeyboardInterrupt:
            pass


def take_turns(turns):
    """One search after the other, until a signal."""
    try:
        while True:
            search, right = next(turns)
            os.write(1, b"a" if np.array_equal(search(), right) else b"W")
    except KeyboardInterrupt:
        os.write(1, b"i")
    except BaseException as error:
        os.write(1, f"\nE{type(error).__name__}: {error}\n".encode())


def hammer(seconds, seed=0, gap=(0.0, 0.03)):
    """Interrupt a child at random moments; returns how many signals, answers, interrupts and failures."""
    draw = random.Random(seed)
    command = [sys.executable, str(Path(__file__)), "child"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        try:
            assert process.stdout.readline() == b"ready\n", process.stderr.read().decode()[-2000:]
            return _send(process, draw, seconds, gap)
        finally:
            process.kill()


def _send(process, draw, seconds, gap):
    os.set_blocking(process.stdout.fileno(), False)
    sent, said = 0, b""
    heard = begin = time.monotonic()
    while time.monotonic() - begin < seconds:
        # Now and then two at once, and a pause in which searches come to their end.
        time.sleep(draw.choice((0.0, draw.uniform(*gap), draw.uniform(*gap), draw.uniform(0.0, 10 * gap[1]))))
        new = process.stdout.read()
        if new:
            said += new
            heard = time.monotonic()
        if process.poll() is not None or time.monotonic() - heard > STUCK:
            break
        process.send_signal(signal.SIGINT)
        sent += 1
    ended, stuck = process.poll() is not None, time.monotonic() - heard > STUCK
    answers = said.split(b"\n")
    return {
        "signals": sent,
        "answers": sum(line.count(b"a") for line in answers if not line.startswith(b"E")),
        "interrupts": sum(line.count(b"i") for line in answers if not line.startswith(b"E")),
        "wrong": sum(line.count(b"W") for line in answers if not line.startswith(b"E")),
        "errors": sorted({line.decode() for line in answers if line.startswith(b"E")}),
        "ended": process.stderr.read().decode()[-2000:] or f"status {process.returncode}" if ended else "",
        "stuck": stuck,
    }


def main():
    """The command."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--minutes", type=float, default=10.0)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    result = hammer(60.0 * options.minutes, options.seed)
    print(result)
    return int(
        bool(
            not result["interrupts"]
            or result["wrong"]
            or result["errors"]
            or result["ended"]
            or result["stuck"]
        )
    )


if __name__ == "__main__":
    if sys.argv[1:] == ["child"]:
        try:
            child()
        except KeyboardInterrupt:  # before the first search
            sys.exit(130)
    sys.exit(main())
