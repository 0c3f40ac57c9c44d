"""An index of many environments: boxes of different ones never meet.

An index has environments once a box is given one; other indexes have no overhead.  Pairs of all
environments are found in one search (`broadphase.methods.environments`).  For queries each has a small index
of the same kind, which is built with the first query about it.  A few boxes that move are moved in it; after
any other change of an environment, its index is built again with the next query.  A batch of queries is
checked as in any index and then split by environment.

Cost: for a batch of queries some 50 microseconds for each environment in it, besides the results.
"""

from collections.abc import Iterator
from threading import Lock
from typing import Any

import numpy as np
import numpy.typing as npt

from broadphase.boxes import BoxArray, as_plain_array
from broadphase.indexes import changes
from broadphase.indexes.arguments import NO_RULE, Given, Rows, Rules
from broadphase.indexes.protocol import NO_IDS, all_pairs
from broadphase.indexes.results import Nearest, PairChanges, RayHit, RayHits, RayRows
from broadphase.indexes.space import PlainSpace
from broadphase.indexes.storage import IdArray, expect
from broadphase.kernels.boxes.overlap import STATIC
from broadphase.methods.in_space import Space, find_in_space
from broadphase.methods.task import NO_LIMIT, Found, Task
from broadphase.runtime import threads
from broadphase.runtime.memory import PairArray, Scratch
from broadphase.space import as_env, as_period

# If more boxes than this move at once, building their indexes again is faster.
MANY = 64
_ENVS = 1 << 63
_NOTHING = Nearest(np.empty(0, np.int32), np.empty(0))


class Environments:
    """The small indexes of the environments of an index; it follows the boxes in place of a structure."""

    def __init__(self, space: PlainSpace) -> None:
        self._space = space
        self.store, self.threads = space.store, space.threads
        self.unsettle()

    def unsettle(self) -> None:
        """Discard the small indexes: they are built again from the stored boxes."""
        self._lock = Lock()
        self._inner: dict[int, tuple[Any, IdArray]] = {}
        self._by_env: tuple[npt.NDArray[np.int64], IdArray] | None = None
        """The environments in order, and the ids in that order."""

    def __reduce__(self) -> tuple[Any, ...]:
        return Environments, (self._space,)

    # ---- the small indexes follow the boxes

    def leave(self, ids: IdArray, boxes: BoxArray | None) -> None:
        """Called before these ids move or (None) are removed."""
        if boxes is None:
            self._forget(ids)
            self._by_env = None

    def enter(self, ids: IdArray, fresh: bool) -> None:
        """These ids were added or moved."""
        if fresh:
            self._by_env = None
        if fresh or len(ids) > MANY:
            self._forget(ids)
            return
        for own in ids.tolist():
            world = self._inner.get(self._env_of(own))
            if world is not None:
                world[0].move(int(np.searchsorted(world[1], own)), self.store.boxes[own])

    def move_one(self, id: Any, box: Given) -> bool:  # noqa: A002
        """Rejected: a move by id goes through `leave` and `enter`."""
        return False

    def _env_of(self, id: int) -> int:  # noqa: A002
        return 0 if self.store.envs is None else self.store.envs.item(id)

    def _forget(self, ids: IdArray) -> None:
        if self._inner and self.store.envs is not None:
            for env in np.unique(self.store.envs[ids]).tolist():
                self._inner.pop(env, None)

    # ---- pairs: of all environments in one search

    def all_pairs(self, *, sort: bool, limit: int = NO_LIMIT) -> tuple[PairArray, int]:
        """All pairs as an array of their own, and the tests made."""
        return all_pairs(self.store, self.threads, self.find_pairs, sort, limit)

    def find_pairs(self, limit: int, scratch: Scratch) -> Found:
        """See `broadphase.indexes.protocol.Structure.find_pairs`."""
        store, space = self.store, self._space
        parts = threads.resolve(self.threads)
        boxes, ids = store.live_boxes(), store.ids()
        task = Task(boxes, space.touching, store.live_filter(), parts, limit, scratch=scratch)
        own = Space(as_period(space.period, space.reader.dim), store.live_envs())
        found = find_in_space("auto", task, own)
        return found._replace(chunks=[ids[chunk] for chunk in found.chunks])

    def find_changes(self, history: changes.History, journal: changes.Journal) -> tuple[PairChanges, int]:
        """Against the last call, and the tests made."""
        return changes.find_changes(self._space.structure, self.all_pairs, history, journal, 0.0)

    # ---- queries: by the index of an environment

    def world_of(self, index: Any, env: int) -> tuple[Any, IdArray] | None:
        """The small index of an environment, and the id of each of its boxes; None where nothing is in it."""
        world = self._inner.get(env)
        if world is None:
            with self._lock:
                world = self._inner.get(env) or self._build(index, env)
        return world

    def _build(self, index: Any, env: int) -> tuple[Any, IdArray] | None:
        store = self.store
        if self._by_env is None:
            envs = store.live_envs()
            order = np.argsort(envs, kind="stable")
            self._by_env = envs[order], store.ids()[order]
        envs, ids = self._by_env
        own = ids[np.searchsorted(envs, env, "left") : np.searchsorted(envs, env, "right")]
        if not len(own):
            return None
        inner = index._empty()
        inner.insert_many(
            store.boxes[own],
            static=store.classes[own] == STATIC,
            category=store.categories[own],
            mask=store.masks[own],
        )
        inner._space.searched.ready()
        self._inner[env] = inner, own
        return inner, own

    # ---- about itself

    def counts(self) -> tuple[int, int]:
        """How many small indexes there are, and no swaps."""
        return len(self._inner), 0

    def check(self) -> None:
        """Raise ``AssertionError`` if an invariant is broken."""
        envs = self.store.live_envs()
        for env, (inner, own) in self._inner.items():
            inner.validate()
            expect(np.array_equal(inner.boxes, self.store.boxes[own]), "worlds hold the boxes")
            expect(np.array_equal(own, self.store.ids()[envs == env]), "worlds hold all of them")


def query_rows(index: Any, call: str, query: tuple[Any, ...], env: Any, rules: Rules) -> IdArray:
    """``query_box``, ``query_point`` or ``query_radius``, with checked arguments."""
    if _is_one(query[0], env):
        world = index._world_of(env)
        if world is None:
            return np.empty(0, np.int32)
        alone: IdArray = world[1][getattr(world[0], call)(*query, **_given(rules))]
        alone.sort()
        return alone
    columns, envs, single = _spread(query, env)
    parts = [np.empty((0, 2), np.int32)]
    for rows, world, ids in _worlds(index, envs):
        found = getattr(world, call)(*(column[rows] for column in columns), **_given(rules))
        parts.append(np.column_stack((rows[found[:, 0]], ids[found[:, 1]])).astype(np.int32))
    found = np.concatenate(parts)
    found = found[np.lexsort((found[:, 1], found[:, 0]))]
    return np.ascontiguousarray(found[:, 1]) if single else found


def query_first_hits(index: Any, rays: Any, env: Any, ignore: Any, rules: Rules) -> RayHit | RayHits | None:
    """``raycast`` with checked arguments."""
    if ignore is None and _is_one(rays, env):
        world = index._world_of(env)
        hit = None if world is None else world[0].raycast(*_sides(rays), **_given(rules))
        return None if hit is None else hit._replace(id=world[1].item(hit.id))
    columns, envs, single = _spread(_sides(rays), env)
    n, dim = columns[0].shape
    ids, distances, normals = np.full(n, -1, np.int32), np.full(n, np.inf), np.zeros((n, dim))
    own = None if ignore is None else _as_ignored(ignore, n)
    for rows, world, names in _worlds(index, envs):
        left_out = None
        if own is not None:
            places = np.searchsorted(names, own[rows]).clip(max=len(names) - 1)
            left_out = np.where(names[places] == own[rows], places, -1).astype(np.int32)
        hits = first_but(world, [column[rows] for column in columns], left_out, rules)
        hit = hits.ids >= 0
        ids[rows[hit]] = names[hits.ids[hit]]
        distances[rows], normals[rows] = hits.distances, hits.normals
    if not single:
        return RayHits(ids, distances, normals)
    if ids[0] < 0:
        return None
    return RayHit(int(ids[0]), float(distances[0]), tuple(normals[0].tolist()))


def first_but(index: Any, rays: list[Rows], ignore: npt.NDArray[Any] | None, rules: Rules) -> RayHits:
    """The first hit of each ray other than the box that it ignores.

    A tree skips that box while it searches.  Other indexes find all hits of those rays that hit it first,
    such as rays from inside it, and take the next hit.
    """
    if ignore is not None:
        own = np.where((ignore >= 0) & (ignore < 2**31), ignore, -1).astype(np.int32)
        past = index._space.first_hits(np.column_stack(rays), own, rules)
        if past is not None:
            return past  # type: ignore[no-any-return]
    hits: RayHits = index._space.first_hits(np.column_stack(rays), NO_IDS, rules)
    again = np.flatnonzero((hits.ids >= 0) & (hits.ids == ignore)) if ignore is not None else ()
    if not len(again):
        return hits
    assert ignore is not None
    found = index.query_ray(*(column[again] for column in rays), **_given(rules))
    assert isinstance(found, RayRows)
    kept = np.flatnonzero(found.rows[:, 1] != ignore[again][found.rows[:, 0]])
    of = found.rows[kept, 0]
    first = kept[np.append(True, of[1:] != of[:-1])[: len(kept)]]
    ids, distances, normals = hits.ids.copy(), hits.distances.copy(), hits.normals.copy()
    ids[again], distances[again], normals[again] = -1, np.inf, 0.0
    where = again[found.rows[first, 0]]
    ids[where], distances[where] = found.rows[first, 1], found.distances[first]
    normals[where] = found.normals[first]
    return RayHits(ids, distances, normals)


def query_all_hits(index: Any, rays: Any, env: Any, rules: Rules) -> RayHits | RayRows:
    """``query_ray`` with checked arguments."""
    columns, envs, single = _spread(_sides(rays), env)
    parts = []
    for rows, world, ids in _worlds(index, envs):
        found = world.query_ray(*(column[rows] for column in columns), **_given(rules))
        assert isinstance(found, RayRows)
        of, hit = found.rows.T
        parts.append((rows[of].astype(np.int32), ids[hit], found.distances, found.normals))
    if not parts:
        parts = [(np.empty(0, np.int32), np.empty(0, np.int32), np.empty(0), np.empty((0, index.dim)))]
    of, hit, distances, normals = (np.concatenate(column) for column in zip(*parts, strict=True))
    order = np.argsort(of, kind="stable")
    if single:
        return RayHits(hit[order], distances[order], normals[order])
    return RayRows(np.column_stack((of, hit))[order], distances[order], normals[order])


def query_nearest(index: Any, point: Any, k: int, env: Any, rules: Rules) -> Nearest:
    """``nearest`` with checked arguments."""
    if _is_one(point, env):
        world = index._world_of(env)
        found = _NOTHING if world is None else world[0].nearest(point, k, **_given(rules))
        return found if world is None else Nearest(world[1][found.ids], found.distances)
    (points,), envs, single = _spread((point,), env)
    ids, distances = np.full((len(points), k), -1, np.int32), np.full((len(points), k), np.inf)
    for rows, world, names in _worlds(index, envs):
        found = world.nearest(points[rows], k, **_given(rules))
        ids[rows] = np.where(found.ids >= 0, names[found.ids], -1)
        distances[rows] = found.distances
    if not single:
        return Nearest(ids, distances)
    held = int((ids[0] >= 0).sum())
    return Nearest(ids[0, :held], distances[0, :held])


def _given(rules: Rules) -> dict[str, int]:
    """Rules as users write them."""
    named = zip(("category", "mask"), rules, strict=True)
    return {name: bits for name, bits in named if bits != NO_RULE}


def _is_one(query: Any, env: Any) -> bool:
    """Whether this is a single query of one environment: 5 microseconds instead of 60 to 120."""
    return isinstance(query, tuple) and type(env) is int and -_ENVS <= env < _ENVS


def _as_ignored(ignore: Any, n: int) -> npt.NDArray[Any]:
    ignored = as_plain_array(ignore, "ignore")
    if ignored.dtype.kind not in "iu" and ignored.size:
        raise TypeError(f"ignore must be ids, one a ray or one for all; got dtype {ignored.dtype}")
    if ignored.shape not in ((), (n,)):
        raise ValueError(f"ignore must be one id, or one for each of {n} rays; got shape {ignored.shape}")
    return np.broadcast_to(ignored, (n,))


def _sides(rays: Any) -> tuple[Any, ...]:
    """The origins, directions and maximum distances of rays, each of one ray or of a batch."""
    if isinstance(rays, tuple):
        dim = len(rays) // 2
        return rays[:dim], rays[dim : 2 * dim], rays[2 * dim]
    dim = rays.shape[1] // 2
    return tuple(map(np.ascontiguousarray, (rays[:, :dim], rays[:, dim : 2 * dim], rays[:, 2 * dim])))


def _spread(query: tuple[Any, ...], env: Any) -> tuple[list[Rows], npt.NDArray[np.int64], bool]:
    """Every argument as a batch, the environment of each query, and whether it was a single query."""
    alone = isinstance(query[0], tuple)
    single = alone and np.ndim(env) == 0
    n = len(query[0]) if not alone else (1 if single else len(env))
    envs = as_env(env, n)
    assert envs is not None
    columns = [np.array([value] * n, np.float64) if alone else np.asarray(value) for value in query]
    if alone and n == 0:
        columns = [np.empty((0, *np.shape(value))) for value in query]
    return columns, envs, single


def _worlds(index: Any, envs: npt.NDArray[np.int64]) -> Iterator[tuple[npt.NDArray[np.int64], Any, IdArray]]:
    """For each environment with boxes: its queries, its index, and the ids of its boxes."""
    order = np.argsort(envs, kind="stable")
    borders = np.flatnonzero(envs[order][1:] != envs[order][:-1]) + 1
    for rows in np.split(order, borders):
        if len(rows):
            world = index._world_of(int(envs[rows[0]]))
            if world is not None:
                yield rows, *world
