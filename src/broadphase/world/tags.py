"""The sets of tags that bodies have, by number, and the bits by which the broad phase knows them.

Each tag of a listener has one of 32 bits.  A body has the bits of its tags, and hears the bits of the tags
that theirs are paired with: what `broadphase.Index` calls category and mask.  From the 33rd tag on bits are
shared; the broad phase then finds a few pairs too many, which contacts sort out by the sets of tags.

Sets that no body has any more are forgotten from time to time, and so are the bits of tags without listeners:
tags that are used once cost nothing in the long run.
"""

from collections.abc import Iterable
from itertools import count
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

BITS = 32

# So many sets of tags are always kept; beyond, as many as there are in use once more.
_SPARE_GROUPS = 64

# The indexes of a world.  Bodies without listeners are kept apart, so that they cost an update nothing.
MOVING, STATIC, QUIET_MOVING, QUIET_STATIC = range(4)
ALL = (MOVING, STATIC, QUIET_MOVING, QUIET_STATIC)
LISTENED = (MOVING, STATIC)
STATICS = (STATIC, QUIET_STATIC)

Bits = npt.NDArray[np.uint32]


class _Any:
    """The type of `ANY`."""

    def __repr__(self) -> str:
        return "ANY"

    def __reduce__(self) -> str:
        return "ANY"


ANY = _Any()
"""A tag that every body has, for `World.on`."""


class Heard(NamedTuple):
    """The tags of all listeners."""

    bit_of: dict[Any, int]
    """A number for each tag; its bit is that modulo 32."""
    hears: dict[Any, int]
    """The bits that a body with a tag hears."""

    @property
    def exact(self) -> bool:
        """Whether no two tags share a bit, so that the bits alone decide."""
        return max(self.bit_of.values(), default=0) < BITS

    def bits_of(self, tags: frozenset[Any]) -> tuple[int, int]:
        """The bits that a body with these tags has, and those that it hears."""
        bits = heard = 0
        for tag in (*tags, ANY):
            if tag in self.hears:
                bits |= 1 << self.bit_of[tag] % BITS
                heard |= self.hears[tag]
        return bits, heard


class TagSets:
    """The sets of tags (groups) of a world's bodies."""

    def __init__(self) -> None:
        self.groups: list[frozenset[Any]] = [frozenset()]
        """By number; another list from when some were forgotten."""
        self.bits: Bits = np.zeros((1, 2), np.uint32)
        """``(groups, 2)``: the bits that a group has, and those that it hears."""
        self.exact = True
        """See `Heard.exact`."""
        self._heard = Heard({}, {})
        self._group_of: dict[frozenset[Any], int] = {frozenset(): 0}
        self._most = _SPARE_GROUPS

    @property
    def crowded(self) -> bool:
        """Whether it is time to forget the sets of tags that no body has."""
        return len(self.groups) > self._most

    def forget(self, group: npt.NDArray[np.int32], alive: npt.NDArray[np.integer[Any]]) -> None:
        """Keep only the groups of these rows, and write their numbers from now on to ``group``."""
        each, which = np.unique(group[alive], return_inverse=True)
        kept = [frozenset(), *(self.groups[number] for number in each.tolist() if number)]
        group_of = {tags: number for number, tags in enumerate(kept)}
        bits, most = self._all_bits(kept, self._heard), 2 * len(kept) + _SPARE_GROUPS
        numbers = np.zeros_like(group)
        # The empty set comes first, also where no body has it.
        numbers[alive] = which + int(len(each) > 0 and each[0] != 0)
        # No calls from here on: nothing can come in between.
        self.groups, self.bits, self._group_of, self._most = kept, bits, group_of, most
        group[:] = numbers

    def group_of(self, tags: frozenset[Any]) -> int:
        """The number of a set of tags."""
        group = self._group_of.get(tags)
        if group is None:
            group = len(self.groups)
            bits = np.vstack((self.bits, self._all_bits([tags], self._heard)))
            # No calls from here on: nothing can come in between.
            self.bits = bits
            self.groups += (tags,)
            self._group_of[tags] = group
        return group

    def layer_of(self, group: int, static: bool) -> int:
        """The index for a body."""
        if self.bits.item(group, 1):
            return STATIC if static else MOVING
        return QUIET_STATIC if static else QUIET_MOVING

    def layers_of(
        self, group: npt.NDArray[np.integer[Any]], static: npt.NDArray[np.bool_], bits: Bits | None = None
    ) -> npt.NDArray[np.int8]:
        """The index for each of many bodies, where groups have these bits."""
        hears = (self.bits if bits is None else bits)[group, 1] != 0
        moving, still = np.where(hears, MOVING, QUIET_MOVING), np.where(hears, STATIC, QUIET_STATIC)
        return np.where(static, still, moving).astype(np.int8)

    def heard(self, pairs: list[tuple[Any, Any]]) -> tuple[Heard, Bits]:
        """What would be heard if these pairs of tags had listeners, and the bits of groups then."""
        bit_of = _bits_for((tag for pair in pairs for tag in pair), self._heard.bit_of)
        hears: dict[Any, int] = {}
        for a, b in pairs:
            for tag, other in ((a, b), (b, a)):
                hears[tag] = hears.get(tag, 0) | 1 << bit_of[other] % BITS
        heard = Heard(bit_of, hears)
        return heard, self._all_bits(self.groups, heard)

    def hear(self, heard: Heard, bits: Bits) -> None:
        """From now on these are the tags of listeners; `BodyStore.listen` moves bodies whose bits change."""
        exact = heard.exact
        # No calls from here on: nothing can come in between.
        self._heard, self.bits, self.exact = heard, bits, exact

    def _all_bits(self, groups: list[frozenset[Any]], heard: Heard) -> Bits:
        return np.array([heard.bits_of(tags) for tags in groups], np.uint32).reshape(-1, 2)


def _bits_for(tags: Iterable[Any], before: dict[Any, int]) -> dict[Any, int]:
    """A number for each tag: that which it had, or the lowest that is free."""
    wanted = dict.fromkeys(tags)
    kept = {tag: bit for tag, bit in before.items() if tag in wanted}
    taken = set(kept.values())
    free = (bit for bit in count() if bit not in taken)
    for tag in wanted:
        if tag not in kept:
            kept[tag] = next(free)
    return kept


def has(tags: frozenset[Any], tag: Any) -> bool:
    """Whether a body with these tags is meant.

    Examples
    --------
    >>> has(frozenset({"coin"}), "coin"), has(frozenset(), ANY), has(frozenset(), "coin")
    (True, True, False)
    """
    return tag is ANY or tag in tags


def as_tags(tag: Any) -> frozenset[Any]:
    """The tags that a user gave: none, one, or several in a set, list or tuple.

    Examples
    --------
    >>> as_tags(None), as_tags("coin"), sorted(as_tags(["door", "wall"]))
    (frozenset(), frozenset({'coin'}), ['door', 'wall'])
    """
    if tag is None:
        return frozenset()
    tags = frozenset(tag) if isinstance(tag, (set, frozenset, list, tuple)) else frozenset((tag,))
    if None in tags or ANY in tags:
        raise ValueError(f"tag = {tag!r}: None and ANY are no tags of a body; leave them out")
    return tags


def check_tag(tag: Any, name: str) -> None:
    """Raise ``TypeError`` unless it is one tag, or `ANY`."""
    if tag is None or isinstance(tag, (set, frozenset, list, tuple)):
        raise TypeError(f"{name} must be one tag, or ANY; got {tag!r}; call on() once for each pair of tags")
    hash(tag)
