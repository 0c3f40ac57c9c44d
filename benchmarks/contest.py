"""The contestants of a case: broadphase, the peers that are installed, and the yardstick; and their memory.

Memory is measured in a process of its own::

    python benchmarks/contest.py CASE.pickle CONTESTANT THREADS

prints by how many bytes the process grows at its peak, from the boxes in a NumPy array to all pairs,
including the conversion to the form that a peer needs; -1 if the system does not say.  `tracemalloc` sees
only what Python and NumPy allocate, not the C++ of a peer, and psutil has no peak that can be reset, which
Linux has.
"""

import gc
import pickle
import subprocess
import sys
from collections.abc import Callable, Iterable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from catalogue import Case
from peers import PEERS, YARDSTICK_INCLUDED, Peer, with_yardstick
from timing import Search

import broadphase as bp

DEFAULT, UNSORTED, YARDSTICK, LIMIT = "broadphase", "sort=False", "yardstick", "limit"
_A_FEW = 2  # pairs that a tolerant contestant may miss in any case
_REFERENCE_UP_TO = 20_000  # boxes; brute force takes a fraction of a second there


class DisagreementError(Exception):
    """Two contestants have found different numbers of pairs."""


def search(case: Case, **options: Any) -> Any:
    """The result of `bp.pairs` or `bp.join` for a case."""
    if case.first_side is not None:
        return bp.join(*case.sides, **options)
    return bp.pairs(case.boxes, static=case.static, **options)


def own_search(name: str, case: Case, threads: int | None = None) -> Search:
    """Broadphase: with default arguments, unsorted, or a method by name (unsorted)."""
    options: dict[str, Any] = {"threads": threads}
    if name != DEFAULT:
        options["sort"] = False
    if name not in (DEFAULT, UNSORTED):
        options["method"] = name
    call = partial(search, case, **options)
    return Search(lambda _: call())


def included(names: Iterable[str]) -> dict[str, str]:
    """What is timed for each contestant."""
    ours = "boxes in a NumPy array to all pairs in another"
    known = {
        DEFAULT: f"{ours}, default arguments: sorted",
        UNSORTED: f"{ours}, in any order",
        YARDSTICK: YARDSTICK_INCLUDED,
        LIMIT: "copying the boxes in and the pairs out, in memory that was used before; one core",
        **{name: peer.included for name, peer in PEERS.items()},
    }
    return {name: known.get(name, f"{ours}, in any order, method={name!r}") for name in names}


def limit_search(case: Case, pairs: int) -> Search:
    """A lower bound for any search: copying the boxes in and as many pairs out."""
    boxes, found = np.zeros_like(case.boxes), np.ones((pairs, 2), np.int32)
    result = np.zeros_like(found)

    def copy(_: None) -> Any:
        np.copyto(boxes, case.boxes)
        np.copyto(result, found)
        return result

    return Search(copy)


class Contest:
    """All contestants that are fast enough.

    Parameters
    ----------
    methods : iterable of str
        Names of methods that take part in addition to the default.
    peers : bool
        Whether other libraries take part.
    threads : int, optional
        The most threads that broadphase uses.
    program : Path, optional
        The yardstick, if it could be built.
    folder : Path
        A folder for the boxes of the yardstick.
    """

    def __init__(
        self, methods: Iterable[str], peers: bool, threads: int | None, program: Path | None, folder: Path
    ) -> None:
        self._threads = threads
        self._ours = list(dict.fromkeys([DEFAULT, UNSORTED, *methods]))
        self._others = dict(PEERS) if peers else {}
        if program is not None:
            make = partial(with_yardstick, program, folder=folder)
            self._others[YARDSTICK] = Peer("", make, YARDSTICK_INCLUDED)

    def enter(
        self,
        case: Case,
        left_out: dict[str, str],
        on_each: Callable[[str], None] = lambda name: None,
    ) -> tuple[dict[str, Search], int]:
        """The contestants of a case, each checked once, and the number of pairs.

        Contestants that do not take part are added to ``left_out``, with the reason.

        Raises
        ------
        DisagreementError
            A contestant finds another number of pairs.
        """
        entered: dict[str, Search] = {}
        pairs: int | None = None
        if len(case.boxes) <= _REFERENCE_UP_TO:
            pairs = len(search(case, method="brute_force", sort=False))
        for name in self._ours:
            if name not in left_out:
                on_each(name)
                own = own_search(name, case, self._threads)
                pairs = self._check(name, own, pairs, 0.0)
                entered[name] = own
        if pairs is None:
            pairs = len(search(case, sort=False, threads=self._threads))
        for name, peer in self._others.items():
            if name in left_out:
                continue
            on_each(name)
            entry = peer.search(case)
            if isinstance(entry, str):
                left_out[name] = entry
            else:
                self._check(name, entry, pairs, peer.tolerated)
                entered[name] = entry
        entered[LIMIT] = limit_search(case, pairs)
        return entered, pairs

    @staticmethod
    def _check(name: str, search: Search, expected: int | None, tolerated: float) -> int:
        found = search.count(search.timed()[2])
        allowed = tolerated * (expected or 0) + (_A_FEW if tolerated else 0)
        if expected is not None and abs(found - expected) > allowed:
            raise DisagreementError(f"{name} finds {found} pairs where there are {expected}")
        return found if expected is None else expected


# ---- memory

_WAIT = 300  # seconds; only a program that hangs takes longer
_WARM = 100  # boxes; enough to load and compile everything
_STATUS, _CLEAR = Path("/proc/self/status"), Path("/proc/self/clear_refs")


def memory_per_box(file: Path, name: str, boxes: int, threads: int | None) -> float | None:
    """Bytes per box of the pickled case in ``file`` at the peak, or None if the system does not say."""
    command = [sys.executable, __file__, str(file), name, str(threads or 0)]
    try:
        answer = subprocess.run(command, capture_output=True, encoding="utf-8", check=True, timeout=_WAIT)
    except subprocess.SubprocessError:
        return None
    grown = int(answer.stdout.split()[-1])  # a peer may have printed something before
    return None if grown < 0 else grown / boxes


def _search(name: str, case: Case, threads: int | None) -> Search:
    search = PEERS[name].search(case) if name in PEERS else own_search(name, case, threads)
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
    for line in _STATUS.read_text("ascii").splitlines():
        if line.startswith(what):
            return int(line.split()[1]) * 1024
    raise OSError(f"{_STATUS} does not have {what}")


def peak_growth(name: str, case: Case, threads: int | None) -> int:
    """Bytes by which this process grows at its peak; -1 if the system does not say."""
    _search(name, _first(case), threads).timed()
    gc.collect()
    try:
        _CLEAR.write_text("5", "ascii")  # resets the peak to the current memory
        before = _bytes("VmRSS")
        _search(name, case, threads).timed()
        return _bytes("VmHWM") - before
    except OSError:
        return -1


if __name__ == "__main__":
    case = pickle.loads(Path(sys.argv[1]).read_bytes())
    print(peak_growth(sys.argv[2], case, int(sys.argv[3]) or None))
