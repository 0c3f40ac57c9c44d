"""Who takes part in a case: ours, the peers that are installed and can do it, and the yardstick."""

from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

import broadphase as bp
from broadphase.bench import yardstick
from broadphase.bench.peers import PEERS
from broadphase.bench.scenes import Case
from broadphase.bench.timing import Search

DEFAULT, UNSORTED, YARDSTICK, LIMIT = "broadphase", "sort=False", "yardstick", "limit"
_A_FEW = 2  # pairs; what a share means nothing for
_REFERENCE_UP_TO = 20_000  # boxes; brute force takes a fraction of a second there


class DisagreementError(Exception):
    """Two contestants have found different numbers of pairs."""


def ask(case: Case, **options: Any) -> Any:
    """What `bp.pairs` or `bp.join` says to a case."""
    if case.first_side is not None:
        return bp.join(*case.sides, **options)
    return bp.pairs(case.boxes, static=case.static, **options)


def own_search(name: str, case: Case, threads: int | None = None) -> Search:
    """Ours: with default arguments, unsorted, or a method by name (unsorted)."""
    options: dict[str, Any] = {"threads": threads}
    if name != DEFAULT:
        options["sort"] = False
    if name not in (DEFAULT, UNSORTED):
        options["method"] = name
    call = partial(ask, case, **options)
    return Search(lambda _: call())


def peer_search(name: str, case: Case) -> Search | str:
    """A peer by name, or in words why it does not take part."""
    try:
        return PEERS[name].make(case) or "cannot do this scene"
    except ModuleNotFoundError as error:
        return f"not installed ({error.name})"


def included(names: Iterable[str]) -> dict[str, str]:
    """What is timed of each contestant."""
    ours = "boxes in a NumPy array to all pairs in another"
    known = {
        DEFAULT: f"{ours}, default arguments: sorted",
        UNSORTED: f"{ours}, in any order",
        YARDSTICK: yardstick.INCLUDED,
        LIMIT: "copying the boxes in and the pairs out, between memory that was touched before; one core",
        **{name: peer.included for name, peer in PEERS.items()},
    }
    return {name: known.get(name, f"{ours}, in any order, method={name!r}") for name in names}


def limit_search(case: Case, pairs: int) -> Search:
    """What no search can beat: the boxes copied in and as many pairs copied out."""
    boxes, found = np.zeros_like(case.boxes), np.ones((pairs, 2), np.int32)
    result = np.zeros_like(found)

    def copy(_: None) -> Any:
        np.copyto(boxes, case.boxes)
        np.copyto(result, found)
        return result

    return Search(copy)


class Contest:
    """Everyone who takes part, as long as they are fast enough.

    Parameters
    ----------
    methods : iterable of str
        Methods of ours that take part beside the default, by name.
    peers : bool
        Whether others take part.
    threads : int, optional
        The most threads that ours use.
    program : Path, optional
        The yardstick, if it could be built.
    folder : Path
        Where the yardstick's boxes are put.
    """

    def __init__(
        self, methods: Iterable[str], peers: bool, threads: int | None, program: Path | None, folder: Path
    ) -> None:
        self._threads = threads
        self._program, self._folder = program, folder
        self._ours = list(dict.fromkeys([DEFAULT, UNSORTED, *methods]))
        self._peers = list(PEERS) if peers else []

    def enter(
        self,
        case: Case,
        left_out: dict[str, str],
        with_yardstick: bool,
        on_each: Callable[[str], None] = lambda name: None,
    ) -> tuple[dict[str, Search], int]:
        """Everyone for this case, each checked once, and how many pairs there are.

        Who does not take part is noted in ``left_out``, with the reason.

        Raises
        ------
        DisagreementError
            Somebody finds another number of pairs.
        """
        entered: dict[str, Search] = {}
        pairs: int | None = None
        if len(case.boxes) <= _REFERENCE_UP_TO:
            pairs = len(ask(case, method="brute_force", sort=False))
        for name in self._ours:
            if name not in left_out:
                on_each(name)
                search = own_search(name, case, self._threads)
                pairs = self._check(name, search, pairs, 0.0)
                entered[name] = search
        if pairs is None:
            pairs = len(ask(case, sort=False, threads=self._threads))
        for name in self._peers:
            if name not in left_out:
                on_each(name)
                entry = peer_search(name, case)
                if isinstance(entry, str):
                    left_out[name] = entry
                    continue
                self._check(name, entry, pairs, PEERS[name].tolerated)
                entered[name] = entry
        if with_yardstick and self._program and YARDSTICK not in left_out:
            entry = yardstick.search(self._program, case, self._folder) or "cannot do this scene"
            if isinstance(entry, str):
                left_out[YARDSTICK] = entry
            else:
                self._check(YARDSTICK, entry, pairs, 0.0)
                entered[YARDSTICK] = entry
        entered[LIMIT] = limit_search(case, pairs)
        return entered, pairs

    @staticmethod
    def _check(name: str, search: Search, expected: int | None, tolerated: float) -> int:
        found = search.count(search.timed()[2])
        allowed = tolerated * (expected or 0) + (_A_FEW if tolerated else 0)
        if expected is not None and abs(found - expected) > allowed:
            raise DisagreementError(f"{name} finds {found} pairs where there are {expected}")
        return found if expected is None else expected
