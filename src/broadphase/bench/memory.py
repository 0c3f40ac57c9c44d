"""How much memory a contestant takes for a box, seen in a process of its own.

    python -m broadphase.bench.memory CASE.npz CONTESTANT THREADS

prints by how many bytes the process grew at its peak, from the boxes in a NumPy array to all pairs, making
the form that a peer wants its boxes in included; -1 where the system does not tell.

`tracemalloc` sees only what Python and NumPy allocate, not what a peer's C++ does; psutil knows no peak that
can be set back to now, which the kernel of Linux has.
"""

import gc
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np

from broadphase.bench.contest import own_search, peer_search
from broadphase.bench.peers import PEERS
from broadphase.bench.scenes import Case
from broadphase.bench.timing import Search

_WAIT = 300  # seconds; only what hangs takes so long
_WARM = 100  # boxes; enough to load and compile everything
_STATUS, _CLEAR = Path("/proc/self/status"), Path("/proc/self/clear_refs")


def save(case: Case, file: Path) -> None:
    """Write a case for `per_box`."""
    first_side = np.array(-1 if case.first_side is None else case.first_side)
    static = np.empty(0, np.bool_) if case.static is None else case.static
    np.savez(file, boxes=case.boxes, static=static, first_side=first_side)


def _load(file: Path) -> Case:
    with np.load(file) as saved:
        static, first_side = saved["static"], int(saved["first_side"])
        return Case(saved["boxes"], static if len(static) else None, None if first_side < 0 else first_side)


def per_box(file: Path, name: str, boxes: int, threads: int | None) -> float | None:
    """Bytes a box at the peak, or None if the system does not tell."""
    asked = [sys.executable, "-m", "broadphase.bench.memory", str(file), name, str(threads or 0)]
    try:
        answer = subprocess.run(asked, capture_output=True, text=True, check=True, timeout=_WAIT)
    except subprocess.SubprocessError:
        return None
    grown = int(answer.stdout.split()[-1])  # a peer may have said something before
    return None if grown < 0 else grown / boxes


def _search(name: str, case: Case, threads: int | None) -> Search:
    search = peer_search(name, case) if name in PEERS else own_search(name, case, threads)
    if isinstance(search, str):
        raise SystemExit(f"{name}: {search}")
    return search


def _first(case: Case) -> Case:
    """A few of the boxes, some of either side."""
    some = np.linspace(0, len(case.boxes) - 1, min(_WARM, len(case.boxes)), dtype=int)
    side = None if case.first_side is None else int(np.count_nonzero(some < case.first_side))
    static = None if case.static is None else case.static[some]
    return replace(case, boxes=case.boxes[some], static=static, first_side=side)


def _bytes(what: str) -> int:
    for line in _STATUS.read_text().splitlines():
        if line.startswith(what):
            return int(line.split()[1]) * 1024
    raise OSError(f"{_STATUS} does not tell {what}")


def grown(name: str, case: Case, threads: int | None) -> int:
    """Bytes by which this process grows at its peak; -1 where the system does not tell."""
    _search(name, _first(case), threads).timed()
    gc.collect()
    try:
        _CLEAR.write_text("5")  # the peak is what it is now
        before = _bytes("VmRSS")
        _search(name, case, threads).timed()
        return _bytes("VmHWM") - before
    except OSError:
        return -1


if __name__ == "__main__":
    print(grown(sys.argv[2], _load(Path(sys.argv[1])), int(sys.argv[3]) or None))
