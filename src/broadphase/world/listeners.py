"""Who wants to hear of which contacts: pairs of tags with functions to call.

The broad phase knows of tags as bits.  Each tag that somebody listens for has one of 32, a body has the bits
of its tags, and hears those of the tags that theirs are listened for with: what `broadphase.Index` calls
category and mask.  From the 33rd tag on bits are shared; the broad phase then finds a few pairs too many,
which are sorted out here by the sets of tags themselves.

Sets of tags are known by number.  Those that no body has any more are forgotten from time to time, and so are
the bits of tags that nobody listens for: tags that are used once cost nothing in the long run.
"""

from collections.abc import Callable, Iterable
from inspect import signature
from itertools import count
from typing import Any, NamedTuple, TypeAlias, TypeVar

import numpy as np
import numpy.typing as npt

from broadphase.world.contact import Contact

Callback: TypeAlias = Callable[[Contact], Any]
_Function = TypeVar("_Function", bound=Callback)

BITS = 32

# So many sets of tags are always kept; beyond, as many as there are in use once more.
_SPARE_GROUPS = 64

# The indexes of a world.  Bodies that nobody listens for are kept apart, so that they cost an update nothing.
MOVING, STATIC, QUIET_MOVING, QUIET_STATIC = range(4)


class _Any:
    """The type of `ANY`."""

    def __repr__(self) -> str:
        return "ANY"

    def __reduce__(self) -> str:
        return "ANY"


ANY = _Any()
"""A tag that every body has, for `World.on`."""


class Listener:
    """A pair of tags that somebody listens for; `World.on` makes it.

    Called with a function, as a decorator does, it takes this as its ``begin``; where it has one, or an
    update has asked it before, another listener is made for the function.
    """

    __slots__ = ("_owner", "a", "active", "asked", "b", "begin", "end", "stay")

    def __init__(
        self,
        owner: "Listeners",
        a: Any,
        b: Any,
        begin: Callback | None = None,
        stay: Callback | None = None,
        end: Callback | None = None,
    ) -> None:
        self._owner = owner
        self.a, self.b = a, b
        self.begin, self.stay, self.end = begin, stay, end
        self.active = True
        self.asked = False
        """Whether an update has found contacts for it."""

    def __call__(self, function: _Function) -> _Function:
        """Take a function as ``begin``, for use as a decorator."""
        _check_callback(function, "begin")
        if self.begin is None and not self.asked:
            self.begin = function
        else:
            self._owner.add(self.a, self.b, function, None, None)
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
    """The listeners of one moment, by the groups of two bodies."""

    def __init__(self, listeners: tuple[Listener, ...], groups: list[frozenset[Any]]) -> None:
        self.listeners = listeners
        self._groups = groups
        self._known: dict[tuple[int, int], tuple[Match, ...]] = {}

    def matches(self, first: int, second: int) -> tuple[Match, ...]:
        """What two bodies with these groups concern, in the order of registration."""
        known = self._known.get((first, second))
        if known is None:
            tags, others = self._groups[first], self._groups[second]
            found = []
            for listener in self.listeners:
                if has(tags, listener.a) and has(others, listener.b):
                    found.append(Match(listener, False))
                elif has(tags, listener.b) and has(others, listener.a):
                    found.append(Match(listener, True))
            known = self._known[first, second] = tuple(found)
        return known

    def chosen(
        self, groups: npt.NDArray[np.int32], wanted: Callable[[tuple[Match, ...]], bool]
    ) -> npt.NDArray[np.bool_]:
        """For each row of two groups, whether its matches are wanted."""
        keys = groups[:, 0].astype(np.int64) << 32 | groups[:, 1]
        each, which = np.unique(keys, return_inverse=True)
        answers = [wanted(self.matches(key >> 32, key & 0xFFFFFFFF)) for key in each.tolist()]
        return np.array(answers, np.bool_)[which]


class Listeners:
    """All listeners of a world, and the sets of tags (groups) of its bodies."""

    def __init__(self) -> None:
        self.groups: list[frozenset[Any]] = [frozenset()]
        """Sets of tags by number; another list from when some were forgotten."""
        self.changed: Callable[[list[int]], None] = lambda groups: None
        """Told which groups are listened to in another way."""
        self.matcher = Matcher((), self.groups)
        self._group_of: dict[frozenset[Any], int] = {frozenset(): 0}
        self._bit_of: dict[Any, int] = {}
        self._hears: dict[Any, int] = {}
        self._bits: list[tuple[int, int]] = [(0, 0)]
        self._bit_rows: npt.NDArray[np.uint32] | None = None
        self._most_groups = _SPARE_GROUPS

    @property
    def exact(self) -> bool:
        """Whether no two tags share a bit, so that the bits alone decide."""
        return max(self._bit_of.values(), default=0) < BITS

    @property
    def crowded(self) -> bool:
        """Whether it is time to forget the sets of tags that no body has."""
        return len(self.groups) > self._most_groups

    def forget(self, group: npt.NDArray[np.int32], alive: npt.NDArray[np.integer[Any]]) -> None:
        """Keep only the groups of these rows, and write their numbers from now on to ``group``.

        Whoever holds the matcher of before goes on with the numbers of before.
        """
        each, which = np.unique(group[alive], return_inverse=True)
        kept = [frozenset(), *(self.groups[number] for number in each.tolist() if number)]
        group_of = {tags: number for number, tags in enumerate(kept)}
        bits, most = [self._bits_of(tags) for tags in kept], 2 * len(kept) + _SPARE_GROUPS
        matcher = Matcher(self.matcher.listeners, kept)
        numbers = np.zeros_like(group)
        # The empty set comes first, also where no body has it.
        numbers[alive] = which + int(len(each) > 0 and each[0] != 0)
        # No calls from here on: nothing can come in between.
        self.groups, self._group_of, self._most_groups = kept, group_of, most
        self._bits, self._bit_rows, self.matcher = bits, None, matcher
        group[:] = numbers

    def group_of(self, tags: frozenset[Any]) -> int:
        """The number of a set of tags."""
        group = self._group_of.get(tags)
        if group is None:
            group, bits = len(self.groups), self._bits_of(tags)
            # No calls from here on: nothing can come in between.
            self._bits += (bits,)
            self.groups += (tags,)
            self._group_of[tags] = group
        return group

    def layer_of(self, group: int, static: bool) -> int:
        """The index for a body."""
        if self._bits[group][1]:
            return STATIC if static else MOVING
        return QUIET_STATIC if static else QUIET_MOVING

    def bits(self) -> npt.NDArray[np.uint32]:
        """``(groups, 2)``: the bits that a group has, and those that it hears."""
        if self._bit_rows is None or len(self._bit_rows) != len(self._bits):
            self._bit_rows = np.array(self._bits, np.uint32)
        return self._bit_rows

    def add(
        self, a: Any, b: Any, begin: Callback | None, stay: Callback | None, end: Callback | None
    ) -> Listener:
        """Listen for a pair of tags."""
        for tag, name in ((a, "a"), (b, "b")):
            _check_tag(tag, name)
        for function, name in ((begin, "begin"), (stay, "stay"), (end, "end")):
            if function is not None:
                _check_callback(function, name)
        listener = Listener(self, a, b, begin, stay, end)
        self._set((*self.matcher.listeners, listener), [])
        return listener

    def remove(self, gone: Iterable[Listener]) -> None:
        """Listen no longer; those that are not active stay so."""
        leaving = list(gone)
        self._set(tuple(one for one in self.matcher.listeners if one not in leaving), leaving)

    def _set(self, listeners: tuple[Listener, ...], leaving: list[Listener]) -> None:
        bit_of = _bits_for((tag for one in listeners for tag in (one.a, one.b)), self._bit_of)
        hears: dict[Any, int] = {}
        for listener in listeners:
            for tag, other in ((listener.a, listener.b), (listener.b, listener.a)):
                hears[tag] = hears.get(tag, 0) | 1 << bit_of[other] % BITS
        before = self.matcher, self._bit_of, self._hears, self._bits, self._bit_rows
        bits = [_bits_of(tags, bit_of, hears) for tags in self.groups]
        changed = [group for group, now in enumerate(bits) if now != self._bits[group]]
        matcher = Matcher(listeners, self.groups)
        were_active = [listener.active for listener in leaving]
        try:
            self.matcher, self._bit_of, self._hears = matcher, bit_of, hears
            self._bits, self._bit_rows = bits, None
            self.changed(changed)
            for listener in leaving:
                listener.active = False
        except BaseException:  # it was interrupted; the bodies follow
            self.matcher, self._bit_of, self._hears, self._bits, self._bit_rows = before
            for listener, active in zip(leaving, were_active, strict=True):
                listener.active = active
            self.changed(changed)
            raise

    def _bits_of(self, tags: frozenset[Any]) -> tuple[int, int]:
        return _bits_of(tags, self._bit_of, self._hears)


def _bits_of(tags: frozenset[Any], bit_of: dict[Any, int], hears: dict[Any, int]) -> tuple[int, int]:
    """The bits that tags have, and those that they hear."""
    bits = heard = 0
    for tag in (*tags, ANY):
        if tag in hears:
            bits |= 1 << bit_of[tag] % BITS
            heard |= hears[tag]
    return bits, heard


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


def _check_tag(tag: Any, name: str) -> None:
    if tag is None or isinstance(tag, (set, frozenset, list, tuple)):
        raise TypeError(f"{name} must be one tag, or ANY; got {tag!r}; call on() once for each pair of tags")
    hash(tag)


def _check_callback(function: Any, name: str) -> None:
    """Raise TypeError unless a function can be called with one argument; builtins do not tell, and pass."""
    if not callable(function):
        raise TypeError(f"{name} must be a function that takes a Contact; got {function!r}")
    try:
        takes = signature(function)
    except (TypeError, ValueError):
        return
    try:
        takes.bind(None)
    except TypeError as error:
        said = f"{name} must be a function that takes a Contact; {function!r} takes {takes} ({error})"
        raise TypeError(said) from None
