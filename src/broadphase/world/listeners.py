"""Listeners: pairs of tags with the functions to call for contacts between them."""

from collections import deque
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from inspect import signature
from itertools import accumulate, chain, repeat
from typing import Any, NamedTuple, TypeAlias, TypeVar

import numpy as np
import numpy.typing as npt

from broadphase.kernels.pairs import changes as kernel
from broadphase.runtime.arrays import Integers, briefly
from broadphase.world.bodies import Body, BodyStore, check_tag, has

PHASES = ("begin", "stay", "end", "many")
"""The names of a listener's functions."""
# Pairs of groups are looked up in a table of at most so many entries; with more, the rows are sorted.
_MOST_IN_TABLE = 10_000


class Contact(NamedTuple):
    """Two bodies that overlap, and the shortest way to part them.

    If one crossed the other within a movement, or was stopped by it, ``depth`` is 0.

    Examples
    --------
    >>> import broadphase as bp
    >>> world = bp.World()
    >>> fox = world.add(bp.Box(0, 0, 10, 10), tag="fox")
    >>> hen = world.add(bp.Box(8, 0, 10, 10), tag="hen")
    >>> listener = world.on("fox", "hen")
    >>> contact = world.update().began[0]
    >>> contact.a is fox, contact.normal, contact.depth
    (True, (-1.0, 0.0), 2.0)
    """

    a: Body
    b: Body
    normal: tuple[float, float]
    """Unit vector out of ``b``, towards ``a``: moving ``a`` by ``depth`` along it makes the two flush."""
    depth: float


@briefly
class ContactRows(NamedTuple):
    """Contacts as arrays, one row each, sorted by the ids of the bodies; what ``many`` of `World.on` gets."""

    a: npt.NDArray[np.int32]
    """``(m,)``: the ids of the bodies with the listener's tag ``a``."""
    b: npt.NDArray[np.int32]
    """``(m,)``"""
    normals: npt.NDArray[np.float64]
    """``(m, 2)``: unit vectors out of ``b``, towards ``a``."""
    depths: npt.NDArray[np.float64]
    """``(m,)``: 0 where one crossed the other, or was stopped by it."""

    def at(self, chosen: npt.NDArray[np.intp]) -> "ContactRows":
        """Some of them."""
        a, b, normals, depths = self
        return ContactRows(a[chosen], b[chosen], normals.take(chosen, 0), depths[chosen])


Callback: TypeAlias = Callable[[Contact], Any]
ManyCallback: TypeAlias = Callable[[ContactRows], Any]
_Function = TypeVar("_Function", bound=Callback)


class Listener:
    """A pair of tags with functions to call; `World.on` makes it.

    Called with a function, as a decorator, it takes this as its ``begin``; if it has one already, or has been
    in an update, another listener is made for the function.
    """

    __slots__ = ("_owner", "a", "active", "b", "begin", "end", "many", "stay", "updated")

    def __init__(
        self,
        owner: "Listeners",
        a: Any,
        b: Any,
        begin: Callback | None = None,
        stay: Callback | None = None,
        end: Callback | None = None,
        many: ManyCallback | None = None,
    ) -> None:
        self._owner = owner
        self.a, self.b = a, b
        self.begin, self.stay, self.end, self.many = begin, stay, end, many
        self.active = True
        self.updated = False
        """Whether an update has found contacts for it."""

    def __call__(self, function: _Function) -> _Function:
        """Take a function as ``begin``, for use as a decorator."""
        check_callback(function, "begin", "a Contact")
        if self.begin is None and not self.updated:
            self.begin = function
            self._owner.matcher.phases.add("begin")
        else:
            self._owner.add(self.a, self.b, function)
        return function

    def remove(self) -> None:
        """Listen no longer."""
        self._owner.remove([self])

    def __repr__(self) -> str:
        return f"<Listener for {self.a!r} and {self.b!r}{'' if self.active else ', removed'}>"


class Match(NamedTuple):
    """A listener that a pair of bodies concerns."""

    listener: Listener
    turned: bool
    """Whether the second body is the listener's ``a``."""


class Matcher:
    """The listeners at one time, found by the groups of two bodies."""

    def __init__(self, listeners: tuple[Listener, ...], groups: list[frozenset[Any]]) -> None:
        self.listeners = listeners
        self.groups = groups
        self.phases = {phase for one in listeners for phase in PHASES if getattr(one, phase) is not None}
        """Those for which any listener has a function."""
        self._known: dict[tuple[int, int], int] = {}
        self._found: list[tuple[Match, ...]] = []
        """The matches of the groups that were asked for, by the numbers in ``_known`` and ``_table``."""
        self._table = np.empty((0, 0), np.int64)
        """The numbers by the two groups, where there are few; -1 where they were not asked for."""
        self._told: dict[tuple[str | Listener, tuple[bool, ...]], Told] = {}

    def matches(self, first: int, second: int) -> tuple[Match, ...]:
        """The listeners of two bodies with these groups, in the order of registration."""
        return self._found[self._number(first, second)]

    def _number(self, first: int, second: int) -> int:
        known = self._known.get((first, second))
        if known is None:
            tags, others = self.groups[first], self.groups[second]
            found = []
            for listener in self.listeners:
                if has(tags, listener.a) and has(others, listener.b):
                    found.append(Match(listener, False))
                elif has(tags, listener.b) and has(others, listener.a):
                    found.append(Match(listener, True))
            known = self._known[first, second] = len(self._found)
            self._found.append(tuple(found))
        return known

    def numbers(self, groups: npt.NDArray[np.int32], rows: Integers) -> Integers:
        """The numbers of some rows of two groups, as `told` counts them."""
        size = len(self.groups)
        if size * size > _MOST_IN_TABLE:
            distinct, which = np.unique(groups[rows], axis=0, return_inverse=True)
            of_distinct = np.array([self._number(*pair) for pair in distinct.tolist()], np.int64)
            return of_distinct[which.ravel()]
        if len(self._table) < size:
            self._table = np.full((size, size), -1, np.int64)
        numbers: Integers
        numbers, known = kernel.numbers_of(self._table, groups, rows)
        if not known:
            for pair in set(map(tuple, groups[rows[numbers < 0]].tolist())):
                self._table[pair] = self._number(*pair)
            numbers, _ = kernel.numbers_of(self._table, groups, rows)
        return numbers

    def concern(self, groups: npt.NDArray[np.int32]) -> npt.NDArray[np.bool_]:
        """Whether rows of two groups concern any listener."""
        numbers = self.numbers(groups, np.arange(len(groups), dtype=np.int64))
        concerned: npt.NDArray[np.bool_] = np.array([bool(found) for found in self._found], np.bool_)[numbers]
        return concerned

    def told(self, who: "str | Listener") -> "Told":
        """The listeners that are told of a contact, by the number of its groups.

        ``who`` is a phase, whose listeners have a function for it; `EVERYONE`, `READER`, or one listener.
        """
        # A program may give a listener a function later, or take it away.
        heard = tuple(getattr(one, who) is not None for one in self.listeners) if who in PHASES else ()
        told = self._told.get((who, heard))
        if told is None or len(told.first) <= len(self._found):
            told = self._told[who, heard] = _told(who, self._found)
        return told


class Told(NamedTuple):
    """The matches of each number: those from ``first[number]`` to ``first[number + 1]``."""

    first: Integers
    turned: npt.NDArray[np.bool_]
    matches: list[Match]


EVERYONE, READER = "everyone", "reader"
"""All listeners, whatever their functions; and reading a contact, as its first listener gets it."""
_NOBODY: Any = (Match(None, False),)  # type: ignore[arg-type]


def _told(who: str | Listener, found: list[tuple[Match, ...]]) -> Told:
    if who == READER:
        chosen = [one[:1] or _NOBODY for one in found]
    elif isinstance(who, Listener):
        chosen = [tuple(match for match in one if match.listener is who) for one in found]
    else:
        chosen = [
            tuple(m for m in one if who == EVERYONE or getattr(m.listener, who) is not None) for one in found
        ]
    first = np.array([0, *accumulate(map(len, chosen))], np.int64)
    matches = [*chain.from_iterable(chosen)]
    return Told(first, np.array([match.turned for match in matches], np.bool_), matches)


class Listeners:
    """All listeners of a world."""

    def __init__(self, store: BodyStore) -> None:
        self._store = store
        self._matcher = Matcher((), store.tag_sets.groups)

    @property
    def matcher(self) -> Matcher:
        """The current listeners.  A matcher that was kept continues with the groups of its time."""
        groups = self._store.tag_sets.groups
        if self._matcher.groups is not groups:  # some were forgotten
            self._matcher = Matcher(self._matcher.listeners, groups)
        return self._matcher

    def add(self, a: Any, b: Any, *functions: Any) -> Listener:
        """Listen for a pair of tags, with a function for each of the first phases, or None."""
        for tag, name in ((a, "a"), (b, "b")):
            check_tag(tag, name)
        for function, name in zip(functions, PHASES, strict=False):
            if function is not None:
                check_callback(function, name, "ContactRows" if name == "many" else "a Contact")
        listener = Listener(self, a, b, *functions)
        self._set((*self._matcher.listeners, listener))
        return listener

    def remove(self, removed: Iterable[Listener]) -> None:
        """Listen no longer; those that are not active stay so."""
        leaving = list(removed)
        self._set(tuple(one for one in self._matcher.listeners if one not in leaving), leaving)

    def of(self, what: Any) -> list[Listener]:
        """A listener as a list, or all that call a function."""
        every = self._matcher.listeners
        return [one for one in every if calls(what, one, one.begin, one.stay, one.end, one.many)]

    def _set(self, listeners: tuple[Listener, ...], leaving: Sequence[Listener] = ()) -> None:
        matcher = Matcher(listeners, self._store.tag_sets.groups)
        writes = map(
            setattr,
            chain((self,), leaving),
            chain(("_matcher",), repeat("active")),
            chain((matcher,), repeat(False)),
        )
        self._store.listen([(one.a, one.b) for one in listeners], partial(deque, writes, 0))


def calls(what: Any, listener: Any, *functions: Any) -> bool:
    """Whether it is a listener, or one of its functions."""
    return what is not None and (listener is what or what in functions)


def check_callback(function: Any, name: str, what: str) -> None:
    """Raise ``TypeError`` unless a function takes one argument; builtins that hide their signature pass."""
    if not callable(function):
        raise TypeError(f"{name} must be a function that takes {what}; got {function!r}")
    try:
        takes = signature(function)
    except (TypeError, ValueError):
        return
    try:
        takes.bind(None)
    except TypeError as error:
        said = f"{name} must be a function that takes {what}; {function!r} takes {takes} ({error})"
        raise TypeError(said) from None
