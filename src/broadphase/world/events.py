"""What an update found: contacts that began, stayed and ended, made into objects when somebody looks."""

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple, overload

import numpy as np
import numpy.typing as npt

from broadphase.shapes.narrow_phase import Contact
from broadphase.world.body import Body
from broadphase.world.listeners import Match, Matcher

Floats = npt.NDArray[np.float64]
RowPairs = npt.NDArray[np.int32]
Rows = npt.NDArray[np.integer[Any]]

_AT_ONCE = 256


class Contacts(Sequence[Contact]):
    """A list of `Contact`, kept as arrays until one is asked for; equal to a list of the same contacts.

    The two bodies of a contact stand in the order of the first listener that it concerns; for two with the
    same tag, or where several fit, the lower id comes first.  Contacts that are over have the bodies that
    they were with, and normal and depth as they were last.
    """

    __slots__ = ("_bodies", "_gone", "depths", "groups", "ids", "matcher", "normals")

    def __init__(
        self,
        ids: RowPairs,
        groups: RowPairs,
        normals: Floats,
        depths: Floats,
        bodies: list[Body | None],
        gone: dict[int, Body],
        matcher: Matcher,
    ) -> None:
        self.ids = ids
        """``(m, 2)`` int32, sorted: the ids of the bodies, the lower first."""
        self.normals = normals
        """``(m, 2)``: unit vectors from the body with the higher id to that with the lower."""
        self.depths = depths
        """``(m,)``"""
        self.groups = groups
        """``(m, 2)`` int32: the numbers of the bodies' sets of tags, as listeners know them."""
        self._bodies = bodies
        self._gone = gone
        self.matcher = matcher
        """Who listened then."""

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

    def told(self, rows: Rows) -> Iterator[tuple[Match, Contact]]:
        """Each of some contacts once for every listener that it concerns, in the order that this wants."""
        for found, first, second, (nx, ny), depth in self._lists(rows):
            for match in found:
                if match.turned:
                    yield match, Contact(second, first, (0.0 - nx, 0.0 - ny), depth)
                else:
                    yield match, Contact(first, second, (nx, ny), depth)

    def _some(self, rows: Rows) -> Iterator[Contact]:
        for found, first, second, (nx, ny), depth in self._lists(rows):
            if found and found[0].turned:
                yield Contact(second, first, (0.0 - nx, 0.0 - ny), depth)
            else:
                yield Contact(first, second, (nx, ny), depth)

    def _lists(
        self, rows: Rows
    ) -> Iterator[tuple[tuple[Match, ...], Body, Body, tuple[float, float], float]]:
        """What it takes to make contacts: NumPy gives a hundred numbers as fast as one."""
        bodies: list[Any] = self._bodies
        gone, matches = self._gone, self.matcher.matches
        for begin in range(0, len(rows), _AT_ONCE):
            some = rows[begin : begin + _AT_ONCE]
            for (i, j), pair, normal, depth in zip(
                self.ids[some].tolist(),
                self.groups[some].tolist(),
                self.normals[some].tolist(),
                self.depths[some].tolist(),
                strict=True,
            ):
                yield matches(*pair), gone.get(i) or bodies[i], gone.get(j) or bodies[j], normal, depth


class Events(NamedTuple):
    """How the contacts of a world have changed since the update before."""

    began: Contacts
    stayed: Contacts
    ended: Contacts
