"""What an update found: contacts that began, stayed and ended, made into objects when somebody looks."""

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple, overload

import numpy as np
import numpy.typing as npt

from broadphase.shapes.narrow_phase import Contact
from broadphase.world.body import Body
from broadphase.world.listeners import Matcher

Floats = npt.NDArray[np.float64]
RowPairs = npt.NDArray[np.int32]


class Contacts(Sequence[Contact]):
    """A list of `Contact`, kept as arrays until one is asked for; equal to a list of the same contacts.

    The two bodies of a contact stand in the order of the first listener that it concerns; for two with the
    same tag, or where several fit, the lower id comes first.
    """

    __slots__ = ("_bodies", "_groups", "_matcher", "depths", "ids", "normals")

    def __init__(
        self,
        ids: RowPairs,
        groups: RowPairs,
        normals: Floats,
        depths: Floats,
        bodies: Sequence[tuple[Body, Body]] | list[Body | None],
        matcher: Matcher,
    ) -> None:
        self.ids = ids
        """``(m, 2)`` int32, sorted: the ids of the bodies, the lower first."""
        self.normals = normals
        """``(m, 2)``: unit vectors from the body with the higher id to that with the lower."""
        self.depths = depths
        """``(m,)``"""
        self._groups = groups
        self._bodies = bodies
        self._matcher = matcher

    def __len__(self) -> int:
        return len(self.ids)

    @overload
    def __getitem__(self, at: int) -> Contact: ...
    @overload
    def __getitem__(self, at: slice) -> list[Contact]: ...
    def __getitem__(self, at: int | slice) -> Contact | list[Contact]:
        if isinstance(at, slice):
            return [self[k] for k in range(*at.indices(len(self)))]
        k = range(len(self))[at]
        matches = self._matcher.matches(*self._groups[k].tolist())
        return self.contact(k, bool(matches) and matches[0].turned)

    def __iter__(self) -> Iterator[Contact]:
        return (self[k] for k in range(len(self)))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Sequence):
            return NotImplemented
        return len(self) == len(other) and all(a == b for a, b in zip(self, other, strict=True))

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"<{len(self)} contacts>" if len(self) > 3 else repr(list(self))

    def contact(self, k: int, turned: bool) -> Contact:
        """Contact ``k`` with the body of the lower id first, or turned round."""
        first, second = self.bodies(k)
        (nx, ny), depth = self.normals[k].tolist(), self.depths.item(k)
        if turned:
            return Contact(second, first, (0.0 - nx, 0.0 - ny), depth)
        return Contact(first, second, (nx, ny), depth)

    def bodies(self, k: int) -> tuple[Any, Any]:
        """The bodies of contact ``k``, the lower id first."""
        first, second = self.ids[k].tolist()
        return self._bodies[first], self._bodies[second]

    @property
    def groups(self) -> RowPairs:
        """The numbers of the bodies' sets of tags."""
        return self._groups


class Ended(Contacts):
    """Contacts that are over, with the bodies that they were with, and normal and depth as they were last."""

    __slots__ = ()

    def bodies(self, k: int) -> tuple[Any, Any]:
        """The bodies of contact ``k``; another may have the id by now."""
        pair: Any = self._bodies[k]
        return pair[0], pair[1]


class Events(NamedTuple):
    """How the contacts of a world have changed since the update before."""

    began: Contacts
    stayed: Contacts
    ended: Contacts
