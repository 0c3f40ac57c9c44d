"""An index of many environments: boxes of different ones never meet, but those of -1 are in all of them.

Once a box is given an environment, `Worlds` takes the place of the index's own structure, whatever that is.
Pairs of all environments are found in one search (`broadphase.methods.environments`).  For queries the boxes
are grouped by environment; those of a small world are compared `LANES` at a time, those of a large one lie
along a curve and have bounding boxes (`broadphase.kernels.boxes.worlds`).  When all boxes are replaced, the
groups and the curve stay; what is inserted or removed groups all of them again with the next query.

A batch of queries is checked as in any index.  Then each query gets the number of its world as one more
column, and goes through the space as all queries do.  Rays of one environment that follow each other, such as
the lidar of a robot, are read by a kernel as they come, and cast together
(`broadphase.kernels.boxes.ray_groups`).

Cost: in worlds of 32 boxes 50 ns for a ray alone, 15 in a group, 20 for a box query, 120 for the nearest; an
update 4 ns a box (``python benchmarks/worlds.py --queries`` and ``--lidar``).  A box that is inserted or
removed: 30 ns for each of all boxes.
"""

import math
from typing import Any

import numpy as np
import numpy.typing as npt

from broadphase.indexes.arguments import (
    Axes,
    BoxRules,
    Given,
    Rows,
    as_ignored,
    flag,
)
from broadphase.indexes.protocol import (
    NO_IDS,
    NO_ROWS,
    FoundInBoxes,
    Ids,
    NearestIds,
    SearchTree,
    Structure,
    search_live,
)
from broadphase.indexes.results import RayHits, expected_rows, hit_arrays, hits_as_asked, hits_asked_for
from broadphase.indexes.space import PlainSpace
from broadphase.indexes.storage import IdArray, expect
from broadphase.inputs.boxes import BoxArray
from broadphase.inputs.environments import as_env, numbered
from broadphase.inputs.search import Space
from broadphase.kernels.arrays.sorting import stable_argsort
from broadphase.kernels.boxes import worlds as kernel
from broadphase.kernels.boxes.overlap import SHARED
from broadphase.kernels.boxes.queries import rank_nearest
from broadphase.kernels.boxes.ray_groups import (
    MOST,
    RayGroups,
    check_rays,
    first_hits_of_groups,
    first_shapes_of_groups,
)
from broadphase.kernels.machine.simd import LANES
from broadphase.kernels.points.nearest_points import find_keys
from broadphase.kernels.shapes.table import ShapeColumns
from broadphase.methods.in_space import find_in_space
from broadphase.methods.nearest import curve_for
from broadphase.methods.pair_order import sort_rows_of_each
from broadphase.methods.task import Found
from broadphase.runtime import thresholds
from broadphase.runtime.arrays import ranges
from broadphase.runtime.memory import PairArray, Scratch, aligned, result_array

_LEAST_CAPACITY = 1024
_LARGE = 1e300
_ENVS = 1 << 63
# So many rays take 0.1 s at most.
_RAYS_AT_ONCE = 1 << 20


class Worlds(SearchTree):
    """Boxes grouped by environment; ``structure`` is that of an index without environments."""

    has_worlds = True
    follows_moving = False

    def __init__(self, structure: Structure) -> None:
        self._own = structure
        super().__init__(structure.shared)

    # ---- following the boxes: pairs need nothing of it, and queries come by `placed`

    def reset(self) -> None:
        self._ids: IdArray | None = None
        """The ids, world after world; None where they have to be grouped again."""
        self._spread = 0.0
        self.stale = True

    def leave(self, ids: IdArray, boxes: BoxArray | None) -> None:
        self._own.unsettle()
        if boxes is None:
            self.reset()

    def enter(self, ids: IdArray, fresh: bool) -> None:
        self._own.unsettle()
        if fresh:
            self.reset()
        elif len(ids) > thresholds.FEW_CHANGED:
            self.stale = True
        elif not self.stale:
            kernel.follow(self.store.boxes, ids, self._slots, self._starts, self._firsts, self._columns)

    def ready(self) -> None:
        """Nothing: see above."""

    def refresh(self) -> None:
        grouped = self._ids is None
        if not grouped:
            spread = self._lay()
            grouped = spread > thresholds.LOOSE_CURVE * self._spread
        if grouped:
            self._group()
            self._spread = self._lay()

    def _group(self) -> None:
        store = self.store
        ids, envs = store.ids(), store.live_envs()
        (numbers,), worlds = numbered(envs)
        self._known = np.zeros(worlds, np.int64)
        self._known[numbers] = envs
        counts = np.bincount(numbers, minlength=worlds + 1).astype(
            np.int64, copy=False
        )  # and one more world that is empty
        keys = numbers
        shared = np.flatnonzero(self._known == SHARED)
        self._shared = int(shared[0]) if len(shared) else worlds
        self.sorts_rows = bool(counts.max() <= kernel.FEW) and not len(shared)
        self.has_groups = bool(counts.max() <= MOST)
        if counts.max() > kernel.FEW:
            edges = store.live_boxes().astype(np.float64).clip(-_LARGE, _LARGE)
            middles = 0.5 * (edges[:, : self.dim] + edges[:, self.dim :])
            curve = curve_for(middles, middles.min(axis=0), middles.max(axis=0), worlds)
            keys = np.empty(len(ids), np.int64)
            find_keys(middles, numbers, curve, 0, len(ids), keys)
        self._starts, self._firsts = np.zeros(worlds + 2, np.int64), np.zeros(worlds + 2, np.int64)
        np.cumsum(counts, out=self._starts[1:])
        level = kernel.whole(counts)
        while level.any():  # the boxes of each world, and what bounds those of more than `FEW`
            self._firsts[1:] += level
            level = np.where(level > kernel.FEW, kernel.whole(level // LANES), 0)
        np.cumsum(self._firsts, out=self._firsts)
        slots = self._firsts.item(-1)
        self._columns = aligned((2 * self.dim, slots), np.float32)
        self._columns[: self.dim], self._columns[self.dim :] = np.inf, -np.inf
        self._names = np.full((1, slots), kernel.NOTHING)
        self._tops = np.empty((worlds + 1, 2), np.int64)
        self._slots = np.empty(store.end, np.int64)
        self._most = int(np.diff(self._firsts).max())
        self._low, self._table = 0, np.arange(worlds + 1, dtype=np.int64)
        span = self._known.item(-1) - self._known.item(0) if worlds else 0
        self._few_gaps = span < 2 * len(ids) + _LEAST_CAPACITY  # a table tells the worlds of environments
        if worlds and self._few_gaps:
            self._low, self._table = self._known.item(0), np.full(span + 2, worlds, np.int64)
            self._table[self._known - self._low] = np.arange(worlds)
        self._ids = ids[stable_argsort(keys)]

    def _lay(self) -> float:
        """Write all columns; returns how wide bounding boxes are in all."""
        fixed = self.store.boxes, self._ids, self._starts, self._firsts
        out = self._columns, self._names, self._tops, self._slots
        return float(
            sum(self.in_shares(len(self._tops), lambda *span: kernel.lay_worlds(*fixed, *span, *out)))
        )

    # ---- queries, with the number of a world in one more column

    def placed(self, rows: Rows, envs: npt.NDArray[np.int64]) -> Rows:
        """Queries, and in one more column the number of the world of each; rays may have it already."""
        if self.stale:
            super().ready()
        if not self._few_gaps:
            numbers = np.searchsorted(self._known, envs).clip(max=len(self._known) - 1)
            numbers = np.where(self._known[numbers] == envs, numbers, len(self._known))
            envs = np.where(envs == SHARED, SHARED, numbers).astype(np.int64, copy=False)
        rows = out = np.ascontiguousarray(rows, np.float64)
        if rows.shape[1] != 2 * self.dim + 2:
            out = result_array((len(rows), rows.shape[1] + 1), np.float64)
        kernel.place_queries(rows, envs, self._low, self._table, out)
        return out

    def asked(self, query: Rows, env: Any) -> tuple[Rows, bool]:
        """Each query with the number of its world, and whether there is one query of one world."""
        rows, single = rows_asked(query, env)
        one = type(env) is int and -_ENVS <= env < _ENVS
        envs: Any = np.full(len(rows), env, np.int64) if one else as_env(env, len(rows))
        return self.placed(rows, envs), single

    def _searched(self) -> tuple[Any, ...]:
        store = self.store
        worlds = kernel.Worlds(self._columns, self._names, self._tops, self._shared)
        return worlds, store.boxes, (store.categories, store.masks)

    def _scratch(self) -> tuple[npt.NDArray[Any], ...]:
        """Keys, and the slots of those that were appended."""
        capacity = self._most + kernel.FEW + kernel.AT_ONCE
        return np.empty((1, capacity), np.float32), np.empty(self._most + 1, np.int64)

    def find_in_boxes(
        self, boxes: Given | Rows, touching: bool, rules: BoxRules, out: PairArray = NO_ROWS
    ) -> FoundInBoxes | None:
        if isinstance(boxes, tuple):  # as a caller wrote it
            return None
        how = (touching, *rules), self._scratch(), out
        rows, found, tests = kernel.search_boxes(*self._searched(), boxes, *how)
        if self.sorts_rows and (boxes[:, -1] == kernel.EVERY).any():
            sort_rows_of_each(rows[:found], self.store.end)  # one world came after the other
        return rows, NO_IDS, found, tests

    def find_first_hit(self, ray: Given, rules: BoxRules) -> None:
        """None: a ray needs the number of its world."""

    def find_nearest(self, points: Given | Rows, k: int, rules: BoxRules) -> NearestIds | None:
        if isinstance(points, tuple):
            return None
        ids, distances = np.empty((len(points), k), np.int32), np.empty((len(points), k))
        tests = self.in_shares(
            len(points),
            lambda *span: kernel.search_nearest(
                *self._searched(), points, *span, rules, self._scratch(), np.empty(k), ids
            ),
        )
        rank_nearest(self.store.boxes, ids, points, distances)
        return ids, distances, sum(tests)

    def find_on_rays(self, rays: Rows, rules: BoxRules) -> Ids:
        how = (self.touching, *rules)

        return self.rows_in_shares(
            lambda part: kernel.search_rays(
                *self._searched(), part, how, self._scratch(), expected_rows(part)
            ),
            rays,
        )

    def find_first_hits(
        self, rays: Rows, ignored: IdArray, rules: BoxRules, out: RayHits | None = None
    ) -> tuple[RayHits, int]:
        hits = hit_arrays(len(rays), self.dim if out is None else out.normals.shape[1])
        how = (self.touching, *rules)
        tests = self.in_shares(
            len(rays),
            lambda *span: kernel.first_hits(
                *self._searched(), rays, ignored, *span, how, self._scratch(), tuple(hits)
            ),
        )
        return hits, sum(tests)

    def find_hits_of_groups(
        self, groups: RayGroups, far: float, out: RayHits, shapes: ShapeColumns | None
    ) -> tuple[int, int]:
        """Write the first hits of rays that come in groups; how many there are, and the tests."""
        most = _RAYS_AT_ONCE // groups.per_group + 1
        find, among = (
            (first_hits_of_groups, self.store.boxes) if shapes is None else (first_shapes_of_groups, shapes)
        )
        given = self._searched()[0], among, self._slots, groups, far

        def search(begin: int, end: int) -> list[tuple[int, int]]:
            return [find(*given, *span, *out) for span in ranges(begin, end, most)]

        parts = self.in_shares(len(groups.numbers), search)
        hits, tests = np.sum([one for part in parts for one in part], axis=0).tolist()
        return hits, tests

    # ---- pairs, and about itself

    def find_pairs(self, limit: int, scratch: Scratch) -> Found:
        space = Space(None, self.store.live_envs())
        return search_live(self, lambda task: find_in_space("auto", task, space), limit, scratch)

    def counts(self) -> tuple[int, int]:
        """How many environments there are, and no swaps."""
        return len(np.unique(self.store.live_envs())), 0

    def check(self) -> None:
        super().ready()
        ids, store = self.store.ids(), self.store
        slots = self._slots[ids]
        expect(np.array_equal(self._names[0, slots], ids), "each box has its slot")
        numbers = np.searchsorted(self._firsts, slots, "right") - 1
        expect(np.array_equal(self._known[numbers], store.live_envs()), "slots are those of its world")
        low, high = np.split(self._columns[:, slots].T, 2, axis=1)
        inner = store.boxes[ids, : self.dim], store.boxes[ids, self.dim :]
        expect(bool((low <= inner[0]).all() and (high >= inner[1]).all()), "columns hold the boxes")


# ---- queries of an index


def cast_groups(
    space: PlainSpace,
    ray: tuple[Any, Any, Any],
    env: Any,
    ignore: Any,
    how: tuple[Any, Any, Any],
    shapes: ShapeColumns | None = None,
) -> RayHits | None:
    """The first hits of rays that come in groups, each of one environment; None: by the general way.

    ``how`` are normals, dtype and out, as of `Index.raycast`.  With ``shapes``, of which the index holds the
    bounds, it is these that are hit.
    """
    worlds: Any = space.searched
    (origin, direction, far), (normals, dtype, out) = ray, how
    axes = _axes_of(origin, direction)
    if axes is None or space.period is not None or not worlds.touching:
        return None
    # First, as this may run code of the caller: what is read afterwards stays as it is.
    asked = hits_asked_for(axes, worlds.dim, flag(normals, "normals"), dtype, out)
    groups = _ray_groups(worlds, axes, origin, direction, far, env, ignore)
    if groups is None:
        return None
    far = float(far)
    if asked is not None and asked.distances.dtype == np.float64:
        found = asked
    else:
        found = hit_arrays(math.prod(axes), worlds.dim if asked is None else asked.normals.shape[1])
    if shapes is not None:
        far = math.nextafter(far, math.inf)  # what is exactly so far away is hit
    hits, tests = worlds.find_hits_of_groups(groups, far, found, shapes)
    space.last = "raycast", tests, hits
    return hits_as_asked(found, asked, out, axes, axes)  # type: ignore[no-any-return]


def _axes_of(origin: Any, direction: Any) -> Axes | None:
    """The axes of rays that are given as arrays; None of others."""
    if not (type(origin) is type(direction) is np.ndarray and origin.ndim and direction.ndim):
        return None
    leads = origin.shape[:-1], direction.shape[:-1]
    try:
        axes = np.broadcast_shapes(*leads)
    except ValueError:
        return None
    # One row beside several is an error.
    return axes if len(axes) != 1 or set(leads) <= {(), axes} else None


def _ray_groups(
    worlds: Worlds, axes: Axes, origin: Any, direction: Any, max_distance: Any, env: Any, ignore: Any
) -> RayGroups | None:
    """Rays that come in groups.

    Kernels read arrays of floats as they are.  Of two axes the first says the environment; what is broadcast
    along an axis is read once.
    """
    kind, numbers = origin.dtype, (int, float)
    fits = kind == direction.dtype and (kind == np.float32 or kind == worlds.dtype == np.float64)
    fits &= type(max_distance) in numbers and (ignore is None or type(ignore) in (int, np.ndarray))
    if not (fits and max_distance >= 0.0 and _axes_of(origin, direction) == axes):
        return None
    if not origin.shape[-1] == direction.shape[-1] == worlds.dim:
        return None
    envs = _envs_of_groups(axes, env)
    size = math.prod(axes) // len(envs) if len(envs) else 0
    if size < thresholds.LEAST_GROUP:
        return None
    try:
        ignored = NO_IDS if ignore is None else np.broadcast_to(ignore, axes)
    except ValueError:
        return None
    both = [_rows_of_groups(array, (len(envs), size), len(axes)) for array in (origin, direction)]
    if not check_rays(both[0][0], both[1][0]):
        return None
    worlds_of_groups = worlds.placed(np.empty((len(envs), 0)), envs)[:, 0]
    if not worlds.has_groups or (worlds_of_groups < 0).any():  # in all environments
        return None
    if ignore is not None:
        ignored = as_ignored(ignored.reshape(-1), ignored.size)
    return RayGroups(both[0][0], both[1][0], both[0][1] + both[1][1], size, worlds_of_groups, ignored)


def _envs_of_groups(axes: Axes, env: Any) -> npt.NDArray[np.int64]:
    """The environment of each group of rays, which all have one size; empty where they have not."""
    if len(axes) == 2 and env is None:
        return np.arange(axes[0], dtype=np.int64)
    if len(axes) == 1 and (env is None or type(env) is int) and -_ENVS <= (env or 0) < _ENVS:
        return np.array([env or 0], np.int64)
    if len(axes) != 1 or type(env) is not np.ndarray or env.dtype != np.int64 or env.shape != axes:
        return np.empty(0, np.int64)
    size = int((env != env[:1]).argmax()) or len(env)
    if len(env) % max(size, 1) or not size:
        return np.empty(0, np.int64)
    groups = env.reshape(-1, size)
    return groups[:, 0].copy() if (groups == groups[:, :1]).all() else np.empty(0, np.int64)


def _rows_of_groups(array: Rows, shape: tuple[int, int], axes: int) -> tuple[Rows, tuple[int, int]]:
    """Origins or directions as rows, and by how many rows the groups, and the rays of one, are apart."""
    if axes == 1 and array.ndim == 2 and len(array) > 1:
        array = array.reshape(*shape, -1)
    array = array.reshape((1,) * (3 - array.ndim) + array.shape)
    for axis in (0, 1):
        if array.strides[axis] == 0:
            array = array[:1] if axis == 0 else array[:, :1]
    groups, size, dim = array.shape
    return np.ascontiguousarray(array).reshape(-1, dim), (size if groups > 1 else 0, 1 if size > 1 else 0)


def rows_asked(query: Rows, env: Any) -> tuple[Rows, bool]:
    """Queries in rows, one for each environment, and whether it is a single query of one world."""
    if query.ndim > 1:
        return query, False
    single = type(env) is int or np.ndim(env) == 0
    return query[None] if single else np.repeat(query[None], len(env), axis=0), single
