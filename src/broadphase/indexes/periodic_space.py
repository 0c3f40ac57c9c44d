"""An index in a world that begins again: any structure, and ghosts of what crosses an edge.

Boxes are carried into the world when they come in (`CarryingReader`), and the structure keeps them as any
others.  What is asked is asked of it and of the ghosts, and what both find counts once.  The ghosts, which
are what reaches over an edge once more on the other side, lie in a tree of their own, which is small where
few boxes cross.  It follows the boxes: a few that move are replaced one by one, and after a change of many
all ghosts are made again when they are asked for.  The rules are those of `broadphase.pairs` with a period.
"""

from operator import le, lt
from threading import Lock
from typing import Any

import numpy as np
import numpy.typing as npt

from broadphase import threads
from broadphase.boxes import BoxArray, PairArray, check_sound
from broadphase.indexes.arguments import Floats, Given, Reader, Rows, as_given
from broadphase.indexes.box_tree import TreeStructure
from broadphase.indexes.incremental import find_changes
from broadphase.indexes.joining import search_anyhow
from broadphase.indexes.journal import History, Journal
from broadphase.indexes.plain_space import PlainSpace
from broadphase.indexes.protocol import Structure
from broadphase.indexes.results import Nearest, PairChanges, RayHit, RayHits, RayRows
from broadphase.indexes.storage import BoxStore, IdArray, expect
from broadphase.indexes.winding import Winding
from broadphase.kernels.boxes import torus, torus_queries
from broadphase.memory import Scratch
from broadphase.methods.task import NO_LIMIT, Found, Task
from broadphase.methods.torus import Carried, carried_in, find_across, period_of
from broadphase.space import Period

# Distances are rounded; images that are farther than this much more are.
_WIDER = 1.0 + 1e-6
# Changing so many boxes at once, it is quicker to look at all.
MANY = 64


class CarryingReader(Reader):
    """Reads boxes for an index on a torus: as they lie in the world."""

    def __init__(self, dim: int, dtype: "np.dtype[Any]", period: Period, touching: bool) -> None:
        super().__init__(dim, dtype)
        self._period = period
        self._touching = touching

    def __reduce__(self) -> tuple[Any, ...]:
        return CarryingReader, (self.dim, self.dtype, self._period, self._touching)

    def box(self, box: Any, name: str = "box") -> Floats:
        one = np.array([super().box(box, name)], self.dtype)
        return tuple(self._carried(one, name).boxes[0].tolist())

    def rows(self, boxes: Any) -> BoxArray:
        rows = super().rows(boxes)
        check_sound(rows, "boxes")
        return self._carried(rows, "boxes").boxes

    def _carried(self, boxes: BoxArray, name: str) -> Carried:
        return carried_in(boxes, self._period, self._touching, np.empty_like(boxes), name=name)


class Seam:
    """The ghosts of the boxes of a store, and whose they are."""

    def __init__(self, store: BoxStore, lengths: npt.NDArray[np.floating[Any]], touching: bool) -> None:
        self._lengths = lengths
        self._touching = touching
        dim, dtype = len(lengths), store.boxes.dtype
        tree = TreeStructure(None, BoxStore(dim, dtype), touching, False, None)
        self.tree = PlainSpace(tree, Reader(dim, dtype), sort=False)
        self._owners = np.empty(0, np.int32)
        self._ghosts_of: dict[int, list[int]] = {}
        # What is rounded when it is asked about must not come nearer to the seam than this.
        slack = 4.0 * np.finfo(lengths.dtype).eps * lengths.astype(np.float64)
        self._slack = np.where(np.isfinite(slack), slack, 0.0)
        self._over = np.where(np.isfinite(lengths), 0.0, -np.inf)
        self.origin = self._over.tolist()
        self.begin = (self._over + self._slack).tolist()
        self.end = (lengths - self._slack).tolist()
        """Between these on each axis lies nothing but the boxes themselves, none of their images."""
        rows = np.empty(store.end, np.int32)
        found, _ = torus_queries.crossing_rows(store.boxes[: store.end], lengths, touching, rows)
        self._add(store, rows[:found])

    def follow(self, store: BoxStore, ids: IdArray) -> None:
        """These boxes are new, or somewhere else."""
        self.forget(ids)
        rows = np.empty(len(ids), np.int32)
        found, _ = torus_queries.crossing_rows(store.boxes[ids], self._lengths, self._touching, rows)
        if found:
            self._add(store, ids[rows[:found]])

    def forget(self, ids: IdArray) -> None:
        """These boxes go, or are about to be somewhere else."""
        gone = [ghost for box in ids.tolist() for ghost in self._ghosts_of.pop(box, ())]
        if gone:
            ids = np.sort(np.array(gone, np.int32))
            self.tree.removing(ids)
            self.tree.store.drop(ids)

    def owners(self, ghosts: IdArray) -> IdArray:
        """Whose ghosts these are."""
        owners: IdArray = self._owners[ghosts]
        return owners

    def _add(self, store: BoxStore, crossing: IdArray) -> None:
        ghosts, sources = ghosts_of(store.boxes, crossing, self._lengths, self._touching)
        if not len(ghosts):
            return
        beyond = store.boxes[crossing, len(self._lengths) :] - self._lengths.astype(np.float64)
        self._over = np.maximum(self._over, beyond.max(axis=0))
        self.begin = (self._over + self._slack).tolist()
        sets = store.categories[sources], store.masks[sources]
        own = self.tree.store.add_many(ghosts, np.zeros(len(ghosts), np.bool_), *sets)
        self.tree.inserted(own)
        if self.tree.store.end > len(self._owners):
            larger = np.empty(2 * self.tree.store.end, np.int32)
            larger[: len(self._owners)] = self._owners
            self._owners = larger
        self._owners[own] = sources
        for box, ghost in zip(sources.tolist(), own.tolist(), strict=True):
            self._ghosts_of.setdefault(box, []).append(ghost)


class PeriodicSpace(PlainSpace):
    """A structure in a world with a period, and how it is asked."""

    def __init__(self, structure: Structure, reader: Reader, sort: bool, lengths: Period) -> None:
        super().__init__(structure, reader, sort)
        self._seam: Seam | None = None
        self._lock = Lock()
        self._lengths = period_of(lengths, reader.dtype)
        self._period = lengths
        self._wide = self._lengths.astype(np.float64)
        self.period = tuple(length if length < np.inf else None for length in self._wide.tolist())

    # ---- the ghosts follow the boxes

    def reset(self) -> None:
        self._seam = None
        super().reset()

    def inserted(self, ids: IdArray) -> None:
        super().inserted(ids)
        self._follow(ids)

    def removing(self, ids: IdArray) -> None:
        if self._seam is not None:
            if len(ids) > MANY:
                self._seam = None
            else:
                self._seam.forget(ids)
        super().removing(ids)

    def moved(self, ids: IdArray) -> None:
        super().moved(ids)
        self._follow(ids)

    def _follow(self, ids: IdArray) -> None:
        if self._seam is not None:
            if len(ids) > MANY:
                self._seam = None
            else:
                self._seam.follow(self.store, ids)

    def _ghosts(self) -> Seam:
        """The ghosts, up to date; many threads may ask at once."""
        seam = self._seam
        if seam is None:
            with self._lock:
                seam = self._seam
                if seam is None:
                    seam = self._seam = Seam(self.store, self._lengths, self.touching)
                    seam.tree.structure.ready()
        return seam

    def __getstate__(self) -> dict[str, Any]:
        return {key: value for key, value in self.__dict__.items() if key not in ("_seam", "_lock")}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._seam, self._lock = None, Lock()

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

    def box_at_once(self, call: str, given: Given) -> IdArray | None:
        dim = self.reader.dim
        if len(given) == 2 * dim and self._is_inner(given[:dim], given[dim:]):
            return super().box_at_once(call, given)
        return None

    def circle_at_once(self, center: Any, r: Any) -> IdArray | None:
        at = self.reader.floats(center, self.reader.dim)
        if at is None or type(r) is not float:
            return None
        return super().circle_at_once(at, r) if self._is_inner(at, at, r * _WIDER) else None

    def ray_at_once(self, origin: Any, direction: Any, furthest: Any) -> tuple[RayHit | None] | None:
        at = as_given(origin)
        if at is None or type(furthest) not in (int, float) or len(at) != self.reader.dim:
            return None
        return super().ray_at_once(at, direction, furthest) if self._is_inner(at, at, furthest) else None

    def nearest_at_once(self, point: Any, k: int) -> Nearest | None:
        at = as_given(point)
        if at is None or len(at) != self.reader.dim or not self._is_inner(at, at):
            return None
        found = super().nearest_at_once(at, k)
        if found is None or not self._is_inner(at, at, found.distances.item(-1) * _WIDER):
            return None
        return found

    def ask_move(self, id: Any, values: Given) -> bool:  # noqa: A002
        dim, boxes = self.reader.dim, self.store.boxes
        seam = self._ghosts()
        try:
            crosses = not all(map(lt, boxes[id, dim:].tolist(), seam.end))
            inner = all(map(le, seam.origin, values[:dim])) and all(map(lt, values[dim:], seam.end))
        except (TypeError, IndexError):
            return False
        return not crosses and inner and super().ask_move(id, values)

    # ---- pairs

    def all_pairs(self, *, sort: bool, limit: int = NO_LIMIT) -> tuple[PairArray, int]:
        self.structure.ready()
        return self.structure.all_pairs(sort=sort, limit=limit, find=self._find_pairs)

    def _find_pairs(self, limit: int, scratch: Scratch) -> Found:
        """Those of the boxes, and those of boxes that cross an edge."""
        found = self.structure.find_pairs(limit, scratch)
        if found.pairs > limit:
            return found
        store = self.store
        boxes = store.boxes[: store.end]
        rows = np.empty(store.end, np.int32)
        crossed, ghosts = torus_queries.crossing_rows(boxes, self._lengths, self.touching, rows)
        if not crossed:
            return found
        carried = Carried(boxes, self._lengths, self.touching, rows[:crossed], int(ghosts))
        task = Task(boxes, self.touching, store.filter(), threads.resolve(self.threads), limit)
        more = find_across(task, carried, search_anyhow, found.pairs)
        return Found(
            [*found.chunks, *more.chunks], found.pairs + more.pairs, found.tests + more.tests, found.cells
        )

    def find_changes(self, history: History, journal: Journal) -> tuple[PairChanges, int]:
        return find_changes(self.structure, self.all_pairs, history, journal, 0.0)

    # ---- box, point, radius

    def in_box(self, call: str, query: Floats | Rows, category: int, mask: int) -> IdArray:
        rows = np.array(query, self.reader.dtype, ndmin=2)
        carried = carried_in(rows, self._period, self.touching, np.empty_like(rows), name="box")
        found, tests = self._find_pieces(carried, self.touching, category, mask)
        self.last = (call, tests, len(found))
        return np.ascontiguousarray(found[:, 1]) if isinstance(query, tuple) else found

    def _find_pieces(self, carried: Carried, touching: bool, category: int, mask: int) -> tuple[IdArray, int]:
        """Sorted rows ``[query, id]`` for boxes in the world: each of their pieces asks, each row once."""
        self.structure.ready()
        asked = carried.boxes.astype(np.float64, copy=False)
        sources = np.arange(len(asked), dtype=np.int32)
        if carried.ghosts:
            ghosts, owners, _ = carried.make_ghosts()
            asked, sources = np.concatenate((asked, ghosts)), np.concatenate((sources, owners))
        rows, tests = self.structure.find_rows(asked, touching, category, mask)
        seam = self._ghosts()
        if seam.tree.store.live:
            across, more = seam.tree.structure.find_rows(asked, touching, category, mask)
            across[:, 1] = seam.owners(across[:, 1])
            rows, tests = np.concatenate((rows, across)), tests + more
        keys = np.unique(sources[rows[:, 0]].astype(np.int64) << 32 | rows[:, 1])
        found = np.empty((len(keys), 2), np.int32)
        found[:, 0] = keys >> 32
        found[:, 1] = keys & 0xFFFFFFFF
        return found, tests

    def in_circle(self, center: Floats, radius: float, category: int, mask: int) -> IdArray:
        rows = self.in_circles(np.array([center]), np.array([radius]), category, mask)
        return np.ascontiguousarray(rows[:, 1])

    def in_circles(self, centers: Rows, radii: Rows, category: int, mask: int) -> IdArray:
        points = carry_points(centers, self._lengths, "center")
        rows, tests = self._candidates(points, radii, category, mask)
        kept = torus_queries.keep_rows_within(
            self.store.boxes, rows, points, radii, self._wide, self.touching
        )
        self.last = ("query_radius", tests, int(kept))
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

    def nearest_one(self, point: Floats, k: int, category: int, mask: int) -> Nearest:
        found = self.nearest_many(np.array([point]), k, category, mask) if k else None
        if found is None:
            self.last = ("nearest", 0, 0)
            return Nearest(np.empty(0, np.int32), np.empty(0))
        kept = int((found.ids[0] >= 0).sum())
        return Nearest(found.ids[0, :kept], found.distances[0, :kept])

    def nearest_many(self, points: Rows, k: int, category: int, mask: int) -> Nearest:
        """Any ``k`` boxes say how far the nearest can be at most; then all within that are looked at."""
        at = carry_points(points, self._lengths, "point")
        held = min(k, self.store.live)
        ids = np.full((len(at), held), -1, np.int32)
        distances = np.full(ids.shape, np.inf)
        if not held:
            self.last = ("nearest", 0, 0)
            return _filled_up(Nearest(ids, distances), k)
        some = super().nearest_many(at, held, category, mask)
        tests, radii = self.last[1], np.empty(len(at))
        torus_queries.farthest_of(self.store.boxes, some.ids, at, self._wide, radii)
        radii[(some.ids < 0).any(axis=1)] = np.inf
        rows, more = self._candidates(at, radii, category, mask)
        torus_queries.nearest_of_rows(self.store.boxes, rows, at, self._wide, ids, distances)
        self.last = ("nearest", tests + more, int((ids >= 0).sum()))
        return _filled_up(Nearest(ids, distances), k)

    # ---- rays

    def cast(self, rays: Floats | Rows, category: int, mask: int) -> RayHit | RayHits | None:
        self.structure.ready()
        hits, tests = self._winding(rays).first_hits(self.structure.find_first_on_rays, category, mask)
        self.last = ("raycast", tests, int((hits.ids >= 0).sum()))
        if not isinstance(rays, tuple):
            return hits
        hit = int(hits.ids[0])
        return None if hit < 0 else RayHit(hit, float(hits.distances[0]), tuple(hits.normals[0].tolist()))

    def cast_all(self, rays: Floats | Rows, category: int, mask: int) -> RayHits | RayRows:
        self.structure.ready()
        found, tests = self._winding(rays).all_hits(self.structure.find_on_rays, category, mask)
        self.last = ("query_ray", tests, len(found.rows))
        if isinstance(rays, tuple):
            return RayHits(np.ascontiguousarray(found.rows[:, 1]), found.distances, found.normals)
        return found

    def cast_but(self, rays: Rows, ignored: IdArray, category: int, mask: int) -> None:
        return None

    def _winding(self, rays: Floats | Rows) -> Winding:
        crossed = np.array([self._ghosts().tree.store.live > 0] * self.reader.dim)
        return Winding(np.array(rays, ndmin=2), self._wide, crossed, self.store.boxes)

    # ---- about itself

    def check(self) -> None:
        super().check()
        store, boxes = self.store, self.store.boxes[: self.store.end]
        low, high = boxes[store.ids(), : self.reader.dim], boxes[store.ids(), self.reader.dim :]
        inside = (low >= 0) & (low < self._lengths) | (low == -np.inf) | np.isinf(self._lengths)
        expect(bool(inside.all()), "boxes begin in the world, or cover it")
        expect(bool((low <= high).all()), "boxes are sound")
        rows = np.empty(store.end, np.int32)
        found, _ = torus_queries.crossing_rows(boxes, self._lengths, self.touching, rows)
        ghosts, owners = ghosts_of(boxes, rows[:found], self._lengths, self.touching)
        seam = self._ghosts()
        own = seam.tree.store.ids()
        seen = np.column_stack((seam.owners(own), seam.tree.store.live_boxes()))
        made = np.column_stack((owners, ghosts))
        expect(np.array_equal(seen[np.lexsort(seen.T)], made[np.lexsort(made.T)]), "each ghost has its place")


def _filled_up(found: Nearest, k: int) -> Nearest:
    missing = ((0, 0), (0, k - found.ids.shape[1]))
    return Nearest(
        np.pad(found.ids, missing, constant_values=-1),
        np.pad(found.distances, missing, constant_values=np.inf),
    )


def ghosts_of(
    boxes: BoxArray, crossing: IdArray, lengths: npt.NDArray[Any], touching: bool
) -> tuple[BoxArray, IdArray]:
    """The ghosts of these rows, which cross, and the row of each."""
    scratch = np.empty(len(crossing), np.int32)
    _, count = torus_queries.crossing_rows(boxes[crossing], lengths, touching, scratch)
    carried = Carried(boxes, lengths, touching, crossing, int(count))
    ghosts, sources, _ = carried.make_ghosts()
    return ghosts, sources


def carry_points(
    points: npt.NDArray[np.float64], lengths: npt.NDArray[Any], name: str
) -> npt.NDArray[np.float64]:
    """Points as they lie in the world, in the type of the index.

    Raises
    ------
    ValueError
        One is so many periods away that its place in the world is lost in rounding.
    """
    into = points.astype(lengths.dtype)
    row, axis = torus.carry_points(into, lengths)
    if row >= 0:
        raise ValueError(
            f"{name}[{row}] = {points[row].tolist()} is so many periods of {lengths[axis]:g} away from "
            "the world that its place there is lost in rounding; bring it nearer"
        )
    return into.astype(np.float64)
