"""Indexes on a torus: any index, and ghosts of what crosses the seam.

`broadphase.Index` makes one where ``period=`` is given: a class of its own, so that an index without a
period pays nothing for it.  Boxes are carried into the world when they come in, and everything that keeps
them is the class's own.  What is asked is asked of it and of the ghosts (`broadphase.indexes.seam`), and
what both find counts once.  The rules are those of `broadphase.pairs` with ``period=``.
"""

from functools import cache
from operator import le, lt
from typing import Any, ClassVar

import numpy as np

from broadphase import threads
from broadphase.boxes import BoxArray, PairArray, check_sound
from broadphase.indexes.arguments import Floats, Given, Reader, Rows, as_given
from broadphase.indexes.base import Index
from broadphase.indexes.incremental import find_changes
from broadphase.indexes.joining import search_anyhow
from broadphase.indexes.journal import History
from broadphase.indexes.results import Nearest, PairChanges, RayHit, RayHits, RayRows
from broadphase.indexes.seam import MANY, Seam, carry_points, ghosts_of
from broadphase.indexes.storage import IdArray, expect
from broadphase.indexes.winding import Winding
from broadphase.kernels.boxes import torus_queries
from broadphase.memory import Scratch
from broadphase.methods.task import Found, Task
from broadphase.methods.torus import Carried, carried_in, find_across, period_of
from broadphase.space import Period, as_period

# Distances are rounded; images that are farther than this much more are.
_WIDER = 1.0 + 1e-6


class _Carrying(Reader):
    """Reads boxes for an index on a torus: as they lie in the world."""

    def __init__(self, dim: int, dtype: "np.dtype[Any]", period: Period, touching: bool) -> None:
        super().__init__(dim, dtype)
        self._period = period
        self._touching = touching

    def __reduce__(self) -> tuple[Any, ...]:
        return _Carrying, (self.dim, self.dtype, self._period, self._touching)

    def box(self, box: Any, name: str = "box") -> Floats:
        one = np.array([super().box(box, name)], self.dtype)
        return tuple(self._carried(one, name).boxes[0].tolist())

    def rows(self, boxes: Any) -> BoxArray:
        rows = super().rows(boxes)
        check_sound(rows, "boxes")
        return self._carried(rows, "boxes").boxes

    def _carried(self, boxes: BoxArray, name: str) -> Carried:
        return carried_in(boxes, self._period, self._touching, np.empty_like(boxes), name=name)


class Periodic(Index):
    """What an index on a torus does differently."""

    _changes_by_query = 0.0
    _plain: ClassVar[type[Index]]
    _seam: Seam | None

    def __init__(self, *places: Any, period: Any = None, **options: Any) -> None:
        self._seam = None
        super().__init__(*places, **options)
        lengths = as_period(period, self.dim)
        assert lengths is not None  # or it would be no such index
        self._lengths = period_of(lengths, self.dtype)
        self._period = lengths
        self._wide = self._lengths.astype(np.float64)
        self._reader = _Carrying(self.dim, self.dtype, lengths, self._touching)

    @property
    def period(self) -> tuple[float | None, ...]:
        """The length of the world on each axis, None where it goes on."""
        return tuple(length if length < np.inf else None for length in self._wide.tolist())

    # ---- the ghosts follow the boxes

    def _reset(self) -> None:
        self._seam = None
        super()._reset()

    def _inserted(self, ids: IdArray) -> None:
        super()._inserted(ids)
        self._follow(ids)

    def _removing(self, ids: IdArray) -> None:
        if self._seam is not None:
            if len(ids) > MANY:
                self._seam = None
            else:
                self._seam.forget(ids)
        super()._removing(ids)

    def _moved(self, ids: IdArray) -> None:
        super()._moved(ids)
        self._follow(ids)

    def _follow(self, ids: IdArray) -> None:
        if self._seam is not None:
            if len(ids) > MANY:
                self._seam = None
            else:
                self._seam.follow(self._store, ids)

    def _ghosts(self) -> Seam:
        """The ghosts, up to date; many threads may ask at once."""
        seam = self._seam
        if seam is None:
            with self._lock:
                seam = self._seam
                if seam is None:
                    seam = self._seam = Seam(self._store, self._lengths, self._touching)
                    seam.tree._ready()
        return seam

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)
        self._seam = None

    def __reduce__(self) -> tuple[Any, ...]:
        return blank, (self._root(),), self.__getstate__()

    @classmethod
    def _root(cls) -> type[Index]:
        return cls._plain

    # ---- short ways, for what keeps off the seam: 3 microseconds instead of 60

    def _is_inner(self, low: Given, high: Given, far: float = 0.0) -> bool:
        """Whether no image but the boxes themselves is as near as ``far`` to these bounds."""
        seam = self._ghosts()
        try:
            return all(map(lt, seam.begin, [x - far for x in low])) and all(
                map(lt, [x + far for x in high], seam.end)
            )
        except (TypeError, OverflowError):  # no numbers, or none that a float can hold
            return False

    def _at_once(self, call: str, given: Given) -> IdArray | None:
        dim = self.dim
        if len(given) == 2 * dim and self._is_inner(given[:dim], given[dim:]):
            return super()._at_once(call, given)
        return None

    def _circle_at_once(self, center: Any, r: Any) -> IdArray | None:
        at = self._reader.floats(center, self.dim)
        if at is None or type(r) is not float:
            return None
        return super()._circle_at_once(at, r) if self._is_inner(at, at, r * _WIDER) else None

    def _ray_at_once(self, origin: Any, direction: Any, furthest: Any) -> tuple[RayHit | None] | None:
        at = as_given(origin)
        if at is None or type(furthest) not in (int, float) or len(at) != self.dim:
            return None
        return super()._ray_at_once(at, direction, furthest) if self._is_inner(at, at, furthest) else None

    def _nearest_at_once(self, point: Any, k: int) -> Nearest | None:
        at = as_given(point)
        if at is None or len(at) != self.dim or not self._is_inner(at, at):
            return None
        found = super()._nearest_at_once(at, k)
        if found is None or not self._is_inner(at, at, found.distances.item(-1) * _WIDER):
            return None
        return found

    def _ask_move(self, id: Any, values: Given) -> bool:  # noqa: A002
        dim, boxes = self.dim, self._store.boxes
        seam = self._ghosts()
        try:
            crosses = not all(map(lt, boxes[id, dim:].tolist(), seam.end))
            inner = all(map(le, seam.origin, values[:dim])) and all(map(lt, values[dim:], seam.end))
        except (TypeError, IndexError):
            return False
        return not crosses and inner and super()._ask_move(id, values)

    # ---- pairs

    def _find_pairs(self, limit: int, scratch: Scratch) -> Found:
        found = super()._find_pairs(limit, scratch)  # type: ignore[safe-super] # of the class it is made for
        if found.pairs > limit:
            return found
        store = self._store
        boxes = store.boxes[: store.end]
        rows = np.empty(store.end, np.int32)
        crossed, ghosts = torus_queries.crossing_rows(boxes, self._lengths, self._touching, rows)
        if not crossed:
            return found
        carried = Carried(boxes, self._lengths, self._touching, rows[:crossed], int(ghosts))
        task = Task(boxes, self._touching, store.filter(), threads.resolve(self._threads), limit)
        more = find_across(task, carried, search_anyhow, found.pairs)
        return Found(
            [*found.chunks, *more.chunks], found.pairs + more.pairs, found.tests + more.tests, found.cells
        )

    def _find_changes(self) -> tuple[PairChanges, int]:
        return find_changes(self)

    def _baseline(self) -> PairArray:
        return self._history.pairs()

    def _set_baseline(self, pairs: PairArray) -> None:
        self._history = History(pairs)

    # ---- box, point, radius

    def _in_box(self, call: str, query: Floats | Rows, category: int, mask: int) -> IdArray:
        rows = np.array(query, self.dtype, ndmin=2)
        carried = carried_in(rows, self._period, self._touching, np.empty_like(rows), name="box")
        found, tests = self._find_pieces(carried, self._touching, category, mask)
        self._last = (call, tests, len(found))
        return np.ascontiguousarray(found[:, 1]) if isinstance(query, tuple) else found

    def _find_pieces(self, carried: Carried, touching: bool, category: int, mask: int) -> tuple[IdArray, int]:
        """Sorted rows ``[query, id]`` for boxes in the world: each of their pieces asks, each row once."""
        self._ready()
        asked = carried.boxes.astype(np.float64, copy=False)
        sources = np.arange(len(asked), dtype=np.int32)
        if carried.ghosts:
            ghosts, owners, _ = carried.make_ghosts()
            asked, sources = np.concatenate((asked, ghosts)), np.concatenate((sources, owners))
        rows, tests = self._find_rows(asked, touching, category, mask)
        seam = self._ghosts()
        if len(seam.tree):
            across, more = seam.tree._find_rows(asked, touching, category, mask)
            across[:, 1] = seam.owners(across[:, 1])
            rows, tests = np.concatenate((rows, across)), tests + more
        keys = np.unique(sources[rows[:, 0]].astype(np.int64) << 32 | rows[:, 1])
        found = np.empty((len(keys), 2), np.int32)
        found[:, 0] = keys >> 32
        found[:, 1] = keys & 0xFFFFFFFF
        return found, tests

    def _in_circle(self, center: Floats, radius: float, category: int, mask: int) -> IdArray:
        rows = self._in_circles(np.array([center]), np.array([radius]), category, mask)
        return np.ascontiguousarray(rows[:, 1])

    def _in_circles(self, centers: Rows, radii: Rows, category: int, mask: int) -> IdArray:
        points = carry_points(centers, self._lengths, "center")
        rows, tests = self._candidates(points, radii, category, mask)
        kept = torus_queries.keep_rows_within(
            self._store.boxes, rows, points, radii, self._wide, self._touching
        )
        self._last = ("query_radius", tests, int(kept))
        return rows[:kept]

    def _candidates(self, points: Rows, radii: Rows, category: int, mask: int) -> tuple[IdArray, int]:
        """Rows ``[query, id]`` of all boxes that may lie within the radius of a point in the world."""
        widest = self._wide[np.isfinite(self._wide)].max()
        with np.errstate(over="ignore"):
            far = (radii + (np.abs(points).max(axis=1) + radii + widest) * 1e-14)[:, None]
            boxes = np.hstack((points - far, points + far))
        carried = carried_in(boxes, self._wide, True, np.empty_like(boxes), name="center")
        return self._find_pieces(carried, True, category, mask)

    # ---- nearest

    def _nearest_one(self, point: Floats, k: int, category: int, mask: int) -> Nearest:
        found = self._nearest_many(np.array([point]), k, category, mask) if k else None
        if found is None:
            self._last = ("nearest", 0, 0)
            return Nearest(np.empty(0, np.int32), np.empty(0))
        kept = int((found.ids[0] >= 0).sum())
        return Nearest(found.ids[0, :kept], found.distances[0, :kept])

    def _nearest_many(self, points: Rows, k: int, category: int, mask: int) -> Nearest:
        """Any ``k`` boxes say how far the nearest can be at most; then all within that are looked at."""
        at = carry_points(points, self._lengths, "point")
        held = min(k, self._store.live)
        ids = np.full((len(at), held), -1, np.int32)
        distances = np.full(ids.shape, np.inf)
        if not held:
            self._last = ("nearest", 0, 0)
            return _filled_up(Nearest(ids, distances), k)
        some = super()._nearest_many(at, held, category, mask)
        tests, radii = self._last[1], np.empty(len(at))
        torus_queries.farthest_of(self._store.boxes, some.ids, at, self._wide, radii)
        radii[(some.ids < 0).any(axis=1)] = np.inf
        rows, more = self._candidates(at, radii, category, mask)
        torus_queries.nearest_of_rows(self._store.boxes, rows, at, self._wide, ids, distances)
        self._last = ("nearest", tests + more, int((ids >= 0).sum()))
        return _filled_up(Nearest(ids, distances), k)

    # ---- rays

    def _cast(self, rays: Floats | Rows, category: int, mask: int) -> RayHit | RayHits | None:
        self._ready()
        hits, tests = self._winding(rays).first_hits(self._find_first_on_rays, category, mask)
        self._last = ("raycast", tests, int((hits.ids >= 0).sum()))
        if not isinstance(rays, tuple):
            return hits
        hit = int(hits.ids[0])
        return None if hit < 0 else RayHit(hit, float(hits.distances[0]), tuple(hits.normals[0].tolist()))

    def _cast_all(self, rays: Floats | Rows, category: int, mask: int) -> RayHits | RayRows:
        self._ready()
        found, tests = self._winding(rays).all_hits(self._find_on_rays, category, mask)
        self._last = ("query_ray", tests, len(found.rows))
        if isinstance(rays, tuple):
            return RayHits(np.ascontiguousarray(found.rows[:, 1]), found.distances, found.normals)
        return found

    def _find_first_but(self, rays: Rows, ignored: IdArray, category: int, mask: int) -> None:
        return None

    def _winding(self, rays: Floats | Rows) -> Winding:
        crossed = np.array([len(self._ghosts().tree) > 0] * self.dim)
        return Winding(np.array(rays, ndmin=2), self._wide, crossed, self._store.boxes)

    # ---- about itself

    def _check(self) -> None:
        super()._check()
        store, boxes = self._store, self._store.boxes[: self._store.end]
        low, high = boxes[store.ids(), : self.dim], boxes[store.ids(), self.dim :]
        inside = (low >= 0) & (low < self._lengths) | (low == -np.inf) | np.isinf(self._lengths)
        expect(bool(inside.all()), "boxes begin in the world, or cover it")
        expect(bool((low <= high).all()), "boxes are sound")
        rows = np.empty(store.end, np.int32)
        found, _ = torus_queries.crossing_rows(boxes, self._lengths, self._touching, rows)
        ghosts, owners = ghosts_of(boxes, rows[:found], self._lengths, self._touching)
        seam = self._ghosts()
        own = seam.tree.ids
        seen = np.column_stack((seam.owners(own), seam.tree.boxes))
        made = np.column_stack((owners, ghosts))
        expect(np.array_equal(seen[np.lexsort(seen.T)], made[np.lexsort(made.T)]), "each ghost has its place")


def _filled_up(found: Nearest, k: int) -> Nearest:
    missing = ((0, 0), (0, k - found.ids.shape[1]))
    return Nearest(
        np.pad(found.ids, missing, constant_values=-1),
        np.pad(found.distances, missing, constant_values=np.inf),
    )


@cache
def periodic(plain: type[Index]) -> type[Index]:
    """The class of such indexes on a torus."""
    made = type(plain.__name__, (Periodic, plain), {"__doc__": plain.__doc__, "__module__": plain.__module__})
    made._plain = plain  # type: ignore[attr-defined]
    made._UNSAVED = plain._UNSAVED | {"_seam"}  # type: ignore[attr-defined]
    return made


def blank(plain: type[Index]) -> Index:
    """What pickling and copying fill."""
    return object.__new__(periodic(plain))
