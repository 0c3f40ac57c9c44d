"""The short way of a question: a kernel reads what the caller wrote, checks it, searches and describes.

Each of these gives None where there is no such way: for a batch, for what the kernel refuses, in an index
without one.  The question then goes the ordinary way, which also says what is wrong with it.
"""

from typing import Any

from broadphase.indexes.arguments import Given, around, as_given
from broadphase.indexes.protocol import Hooks
from broadphase.indexes.results import Nearest, RayHit
from broadphase.indexes.storage import IdArray
from broadphase.kernels.arrays.found_ids import FEW
from broadphase.kernels.boxes.query_tests import keep_within

_NOTHING = (None,)
_ROUNDING_OF_SINGLES = 2.5e-7
_new = tuple.__new__  # of a named tuple, in half the time that its own takes


class Asking(Hooks):
    """Questions without rules, one at a time."""

    _last: tuple[str, int, int]

    def _at_once(self, call: str, given: Given) -> IdArray | None:
        if self._stale:
            self._ready()
        try:
            answer = self._ask_box(given)
        except OverflowError:  # an int that no float can hold
            return None
        if answer is None:
            return None
        ids, tests = answer
        if tests < 0:
            return None
        found = len(ids)
        self._last = call, tests, found
        if found > FEW and self._sort:
            ids.sort()
        return ids

    def _circle_at_once(self, center: Any, r: Any) -> IdArray | None:
        at = self._reader.floats(center, self._reader.dim)
        if at is None or type(r) not in (float, int) or not r >= 0:
            return None
        if self._stale:
            self._ready()
        try:
            radius = float(r)
            # Wider than the circle by more than rounding takes: what touches it overlaps this box.
            if self._store.boxes.itemsize == 8:
                box = around(at, radius)
            elif 1e-30 < radius < 1e30 and max(map(abs, at)) < 1e30:
                box = around(at, radius, _ROUNDING_OF_SINGLES)
            else:
                return None  # singles have fewer digits there, or none
            answer = self._ask_box(box)
        except OverflowError:
            return None
        if answer is None:
            return None
        ids, tests = answer
        if tests < 0:
            return None
        found = keep_within(self._store.boxes, ids, at, radius, self._touching)
        self._last = "query_radius", tests, found
        many = len(ids) > FEW and self._sort
        ids = ids[:found]
        if many:
            ids.sort()
        return ids

    def _ray_at_once(self, origin: Any, direction: Any, furthest: Any) -> tuple[RayHit | None] | None:
        at, towards = as_given(origin), as_given(direction)
        if at is None or towards is None or type(furthest) not in (float, int):
            return None
        if self._stale:
            self._ready()
        try:
            answer = self._ask_ray(at, towards, float(furthest))
        except OverflowError:
            return None
        if answer is None:
            return None
        hit, tests, distance, x, y, z = answer
        if tests < 0:
            return None
        self._last = "raycast", tests, int(hit >= 0)
        if hit < 0:
            return _NOTHING
        return (_new(RayHit, (hit, distance, (x, y) if len(at) == 2 else (x, y, z))),)

    def _nearest_at_once(self, point: Any, k: int) -> Nearest | None:
        given, live = as_given(point), self._store.live
        if given is None or live == 0:
            return None
        if self._stale:
            self._ready()
        try:
            answer = self._ask_nearest(given, k if k < live else live)
        except OverflowError:
            return None
        if answer is None:
            return None
        ids, distances, tests = answer
        if tests < 0:
            return None
        self._last = "nearest", tests, len(ids)
        return _new(Nearest, (ids, distances))
