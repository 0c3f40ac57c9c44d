"""What an update found: contacts that began, stayed and ended, made into objects when somebody looks."""

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple, overload

import numpy as np
import numpy.typing as npt

from broadphase.world.body import Body
from broadphase.world.contact import Contact
from broadphase.world.listeners import Match, Matcher

Floats = npt.NDArray[np.float64]
RowPairs = npt.NDArray[np.int32]
Rows = npt.NDArray[np.integer[Any]]

_AT_ONCE = 256


class Found(NamedTuple):
    """Contacts side by side, sorted by the ids of their bodies, and who listened when they were found."""

    ids: RowPairs
    normals: Floats
    depths: Floats
    groups: RowPairs
    """The numbers of the bodies' sets of tags, as the matcher knows them."""
    matcher: Matcher

    def at(self, rows: npt.NDArray[Any]) -> "Found":
        """Some of them."""
        if len(rows) == 0:
            return none_found(self.matcher)
        return Found(self.ids[rows], self.normals[rows], self.depths[rows], self.groups[rows], self.matcher)

    def first(self, count: int) -> "Found":
        """The first so many of them, not copied."""
        if count == len(self.depths):
            return self
        return Found(
            self.ids[:count], self.normals[:count], self.depths[:count], self.groups[:count], self.matcher
        )


_NO_PAIRS = np.empty((0, 2), np.int32)
_NO_NORMALS, _NO_DEPTHS = np.empty((0, 2)), np.empty(0)


def none_found(matcher: Matcher) -> Found:
    """No contacts."""
    return Found(_NO_PAIRS, _NO_NORMALS, _NO_DEPTHS, _NO_PAIRS, matcher)


class Passing(NamedTuple):
    """Two bodies that were in contact between two updates only."""

    first: Body
    second: Body
    matches: tuple[Match, ...]


class Contacts(Sequence[Contact]):
    """A list of `Contact`, kept as arrays until one is asked for; equal to a list of the same contacts.

    The two bodies of a contact stand in the order of the first listener that it concerns; for two with the
    same tag, or where several fit, the lower id comes first.  Contacts that are over have the bodies that
    they were with, and normal and depth as they were last.
    """

    __slots__ = ("_bodies", "_gone", "_passings", "depths", "groups", "ids", "matcher", "normals")

    def __init__(
        self,
        found: Found,
        bodies: list[Body | None],
        gone: dict[int, Body],
        passings: dict[int, Passing],
    ) -> None:
        self.ids = found.ids
        """``(m, 2)`` int32, sorted: the ids of the bodies, the lower first."""
        self.normals = found.normals
        """``(m, 2)``: unit vectors from the body with the higher id to that with the lower."""
        self.depths = found.depths
        """``(m,)``"""
        self.groups = found.groups
        """``(m, 2)`` int32: the numbers of the bodies' sets of tags, as listeners know them."""
        self.matcher = found.matcher
        """Who listened when they were found."""
        self._bodies = bodies
        self._gone = gone
        self._passings = passings

    def __len__(self) -> int:
        return len(self.ids)

    @overload
    def __getitem__(self, at: int) -> Contact: ...
    @overload
    def __getitem__(self, at: slice) -> list[Contact]: ...
    def __getitem__(self, at: int | slice) -> Contact | list[Contact]:
        if isinstance(at, slice):
            return list(self._some(np.arange(len(self))[at]))
        return next(self._some(np.array([range(len(self))[at]])))

    def __iter__(self) -> Iterator[Contact]:
        return self._some(np.arange(len(self)))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Sequence):
            return NotImplemented
        return len(self) == len(other) and all(a == b for a, b in zip(self, other, strict=True))

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"<{len(self)} contacts>" if len(self) > 3 else repr(list(self))

    def told(self, phase: str) -> Iterator[tuple[Match, Contact]]:
        """Each contact once for every listener that has a function for a phase, as this wants it."""
        wanted = any(getattr(one, phase) for one in self.matcher.listeners)
        if not (wanted or self._passings):
            return
        heard = self.matcher.chosen(
            self.groups, lambda found: any(getattr(match.listener, phase) for match in found)
        )
        heard[list(self._passings)] = True
        for found, first, second, normal, depth in self._lists(np.flatnonzero(heard)):
            for match in found:
                if getattr(match.listener, phase) is not None:
                    yield match, _contact(first, second, normal, depth, match.turned)

    def by_pair(self) -> Iterator[dict[Match, Contact]]:
        """Each contact as every listener that it concerns wants it."""
        for found, first, second, normal, depth in self._lists(np.arange(len(self))):
            yield {match: _contact(first, second, normal, depth, match.turned) for match in found}

    def _some(self, rows: Rows) -> Iterator[Contact]:
        for found, first, second, normal, depth in self._lists(rows):
            yield _contact(first, second, normal, depth, bool(found) and found[0].turned)

    def _lists(
        self, rows: Rows
    ) -> Iterator[tuple[tuple[Match, ...], Body, Body, tuple[float, float], float]]:
        """What it takes to make contacts: NumPy gives a hundred numbers as fast as one."""
        bodies: list[Any] = self._bodies
        gone, passings, matches = self._gone, self._passings, self.matcher.matches
        for begin in range(0, len(rows), _AT_ONCE):
            some = rows[begin : begin + _AT_ONCE]
            for at, (i, j), pair, normal, depth in zip(
                some.tolist(),
                self.ids[some].tolist(),
                self.groups[some].tolist(),
                self.normals[some].tolist(),
                self.depths[some].tolist(),
                strict=True,
            ):
                if at in passings:
                    first, second, found = passings[at]
                    yield found, first, second, normal, depth
                else:
                    yield matches(*pair), gone.get(i) or bodies[i], gone.get(j) or bodies[j], normal, depth


def _contact(first: Body, second: Body, normal: tuple[float, float], depth: float, turned: bool) -> Contact:
    nx, ny = normal
    if turned:
        return Contact(second, first, (0.0 - nx, 0.0 - ny), depth)
    return Contact(first, second, (nx, ny), depth)


class Events(NamedTuple):
    """How the contacts of a world have changed since the update before."""

    began: Contacts
    stayed: Contacts
    ended: Contacts


class Handed(NamedTuple):
    """Pairs that stay in contact while tags or listeners have changed: as they were, and as they are."""

    before: Contacts
    now: Contacts


class Changes(NamedTuple):
    """All that an update found."""

    events: Events
    handed: Handed | None
