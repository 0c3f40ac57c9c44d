"""The boxes of an index that was just made of them: rows and nothing else, which a few queries scan.

A program that makes an index in every frame and asks it once needs no structure, and none of the columns that
follow boxes: making both takes 70 us for 100 boxes, and 1.7 ms for 10,000; a scan takes 0.4 us and 15 us.
"""

from typing import Any

import numpy as np

from broadphase.indexes.arguments import NO_RULES, BoxRules, Given
from broadphase.indexes.protocol import NO_ROWS
from broadphase.indexes.results import Nearest
from broadphase.indexes.storage import IdArray
from broadphase.inputs.boxes import BoxArray
from broadphase.kernels.boxes import brute_force
from broadphase.kernels.machine.kernel import try_call
from broadphase.runtime import thresholds

_scan_for_boxes, _scan_for_nearest = map(try_call, (brute_force.scan_for_boxes, brute_force.scan_for_nearest))
_NO_SETS = np.empty(0, np.uint32)
_new = tuple.__new__


class MadeLater:
    """An attribute that an index of new boxes or points does not have: it is made whole when it is needed."""

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name

    def __get__(self, index: Any, owner: type) -> Any:
        if index is not None:
            index._make_whole()
            if self._name in index.__dict__:
                return index.__dict__[self._name]
        raise AttributeError(f"{owner.__name__!r} object has no attribute {self._name!r}")


class NewBoxes:
    """Answers single queries as `broadphase.indexes.space.PlainSpace` does, until a tree would have paid."""

    __slots__ = ("_left", "_touching", "last", "rows")

    def __init__(self, rows: BoxArray, touching: bool) -> None:
        self.rows = rows
        """The boxes, sound, which belong to the index."""
        self._touching = touching
        self._left = thresholds.SCANNED_AT_LEAST + thresholds.SCANS * len(rows)
        self.last = ("", 0, 0)

    def in_boxes(self, call: str, boxes: Given, rules: BoxRules) -> IdArray | None:
        """The boxes that overlap one box; None if the index has to answer."""
        if self._left < 0 or rules is not NO_RULES:
            return None
        rows = self.rows, len(self.rows), _NO_SETS, _NO_SETS
        try:
            found = _scan_for_boxes(*rows, boxes, self._touching, *rules, NO_ROWS)
        except OverflowError:  # an int that no float can hold
            return None
        if found is None or found[3] < 0:
            return None
        _, ids, count, tests = found
        self._left -= tests
        self.last = call, tests, count
        return ids  # type: ignore[no-any-return]

    def in_circle(self, *_: object) -> None:
        """None: the boxes are not scanned for a radius, or a ray."""

    first_hit = in_circle

    def nearest_one(self, point: Given, k: int, rules: BoxRules) -> Nearest | None:
        """The ``k`` nearest boxes of a point; None if the index has to answer."""
        n = len(self.rows)
        if self._left < 0 or rules is not NO_RULES or not n:
            return None
        try:
            found = _scan_for_nearest(self.rows, point, k if k < n else n)
        except OverflowError:
            return None
        if found is None or found[2] < 0:
            return None
        ids, distances, tests = found
        self._left -= tests
        self.last = "nearest", tests, len(ids)
        return _new(Nearest, (ids, distances))
