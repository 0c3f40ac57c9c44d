"""An index of many environments: boxes of different ones never meet.

An index becomes one when a box is first given an environment; any other pays nothing for it.  Pairs of all
environments are found in one search (`broadphase.methods.worlds`).  For questions each has a small index of
the same kind, which is built when somebody asks about it; a few boxes that move are moved in it, and whatever
else happens to an environment, its index is built again with the next question.  A question is checked as any
other, then all that are about one environment are asked at once.

Cost: of a batch of questions some 50 microseconds for each environment that is asked, beside the answers.
"""

from collections.abc import Callable, Iterator
from threading import Lock
from typing import Any

import numpy as np
import numpy.typing as npt

from broadphase import threads
from broadphase.boxes import PairArray, as_plain_array
from broadphase.in_space import Space, find_in_space
from broadphase.indexes.arguments import Given, Rows, rule
from broadphase.indexes.incremental import find_changes
from broadphase.indexes.journal import History, Journal
from broadphase.indexes.plain_space import PlainSpace
from broadphase.indexes.results import Nearest, PairChanges, RayHit, RayHits, RayRows
from broadphase.indexes.storage import IdArray, expect
from broadphase.kernels.boxes.filters import STATIC
from broadphase.memory import Scratch
from broadphase.methods.task import NO_LIMIT, Found, Task
from broadphase.space import as_env, as_period

Rules = dict[str, Any]

# Moving so many boxes at once, it is quicker to build their indexes again.
MANY = 64
_ENVS = 1 << 63
_NOTHING = Nearest(np.empty(0, np.int32), np.empty(0))


class Environments(PlainSpace):
    """The environments of an index.

    Parameters
    ----------
    space : PlainSpace
        What the index was asked through until now.
    make : callable
        Makes an empty index of the same kind, for one environment.
    """

    has_envs = True

    def __init__(self, space: PlainSpace, make: Callable[[], Any]) -> None:
        super().__init__(space.structure, space.reader, space.sort)
        self.period = space.period
        self._make = make
        self._lock = Lock()
        self._inner: dict[int, tuple[Any, IdArray]] = {}
        self._env_by_id = np.zeros(self.store.end, np.int64)
        self._by_env: tuple[npt.NDArray[np.int64], IdArray] | None = None
        """The environments in order, and the ids in that order."""

    @property
    def envs(self) -> npt.NDArray[np.int64]:
        return self._env_by_id[self.store.ids()]

    def take_envs(self, ids: IdArray, envs: npt.NDArray[np.int64]) -> None:
        """These ids, just written and not yet `inserted`, are of such environments."""
        self._make_env_room()
        self._env_by_id[ids] = envs

    def _make_env_room(self) -> None:
        if self.store.end > len(self._env_by_id):
            larger = np.zeros(max(2 * len(self._env_by_id), self.store.end), np.int64)
            larger[: len(self._env_by_id)] = self._env_by_id
            self._env_by_id = larger

    # ---- no structure over all environments: each has its own

    def inserted(self, ids: IdArray) -> None:
        self._make_env_room()
        self._forget(ids)
        self._by_env = None

    def removing(self, ids: IdArray) -> None:
        self._forget(ids)
        self._env_by_id[ids] = 0
        self._by_env = None

    def moving(self, ids: IdArray, boxes: Any) -> None:
        pass

    def moved(self, ids: IdArray) -> None:
        if len(ids) > MANY:
            self._forget(ids)
            return
        for own in ids.tolist():
            world = self._inner.get(int(self._env_by_id[own]))
            if world is not None:
                world[0].move(int(np.searchsorted(world[1], own)), self.store.boxes[own])

    def _forget(self, ids: IdArray) -> None:
        if self._inner:
            for env in np.unique(self._env_by_id[ids]).tolist():
                self._inner.pop(env, None)

    def reset(self) -> None:
        """Follow the stored boxes, whatever came before: each is in its environment still."""
        self._inner, self._by_env = {}, None
        self._make_env_room()
        gone = np.ones(len(self._env_by_id), np.bool_)
        gone[: self.store.end] = ~self.store.alive[: self.store.end]
        self._env_by_id[gone] = 0

    def make_room(self, room: int) -> None:
        pass

    def __getstate__(self) -> dict[str, Any]:
        return {
            key: value for key, value in self.__dict__.items() if key not in ("_inner", "_by_env", "_lock")
        }

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._inner, self._by_env, self._lock = {}, None, Lock()

    # ---- no short ways: a question goes to its world first

    def box_at_once(self, call: str, given: Given) -> IdArray | None:
        return None

    def ray_at_once(self, origin: Any, direction: Any, furthest: Any) -> tuple[RayHit | None] | None:
        return None

    def nearest_at_once(self, point: Any, k: int) -> Nearest | None:
        return None

    def ask_move(self, id: Any, values: Given) -> bool:  # noqa: A002
        return False

    # ---- pairs: all worlds at once

    def all_pairs(self, *, sort: bool, limit: int = NO_LIMIT) -> tuple[PairArray, int]:
        return self.structure.all_pairs(sort=sort, limit=limit, find=self._find_pairs)

    def _find_pairs(self, limit: int, scratch: Scratch) -> Found:
        """Of all worlds in one search."""
        store = self.store
        parts = threads.resolve(self.threads)
        boxes, ids = store.live_boxes(), store.ids()
        task = Task(boxes, self.touching, store.live_filter(), parts, limit, scratch=scratch)
        found = find_in_space("auto", task, Space(as_period(self.period, self.reader.dim), self.envs))
        return found._replace(chunks=[ids[chunk] for chunk in found.chunks])

    def find_changes(self, history: History, journal: Journal) -> tuple[PairChanges, int]:
        return find_changes(self.structure, self.all_pairs, history, journal, 0.0)

    # ---- questions: to the index of a world

    def world_of(self, env: int) -> tuple[Any, IdArray] | None:
        world = self._inner.get(env)
        if world is None:
            with self._lock:
                world = self._inner.get(env) or self._build(env)
        return world

    def _build(self, env: int) -> tuple[Any, IdArray] | None:
        store = self.store
        if self._by_env is None:
            order = np.argsort(self.envs, kind="stable")
            self._by_env = self.envs[order], store.ids()[order]
        envs, ids = self._by_env
        own = ids[np.searchsorted(envs, env, "left") : np.searchsorted(envs, env, "right")]
        if not len(own):
            return None
        inner = self._make()
        inner.insert_many(
            store.boxes[own],
            static=store.classes[own] == STATIC,
            category=store.categories[own],
            mask=store.masks[own],
        )
        inner._space.structure.ready()
        self._inner[env] = inner, own
        return inner, own

    # ---- about itself

    def cell_count(self) -> int:
        return len(self._inner)

    def swap_count(self) -> int:
        return 0

    def check(self) -> None:
        for env, (inner, own) in self._inner.items():
            inner.validate()
            expect(np.array_equal(inner.boxes, self.store.boxes[own]), "worlds hold the boxes")
            expect(np.array_equal(own, self.store.ids()[self.envs == env]), "worlds hold all of them")


def ask_rows(index: Any, call: str, asked: tuple[Any, ...], env: Any, rules: Rules) -> IdArray:
    """``query_box``, ``query_point`` or ``query_radius``, whose arguments are read already."""
    if _is_one(asked[0], env):
        world = index._world_of(env)
        if world is None:
            return np.empty(0, np.int32)
        alone: IdArray = world[1][getattr(world[0], call)(*asked, **rules)]
        alone.sort()
        return alone
    columns, envs, single = _spread(asked, env)
    parts = [np.empty((0, 2), np.int32)]
    for rows, world, ids in _worlds(index, envs):
        found = getattr(world, call)(*(column[rows] for column in columns), **rules)
        parts.append(np.column_stack((rows[found[:, 0]], ids[found[:, 1]])).astype(np.int32))
    found = np.concatenate(parts)
    found = found[np.lexsort((found[:, 1], found[:, 0]))]
    return np.ascontiguousarray(found[:, 1]) if single else found


def ask_first(index: Any, rays: Any, env: Any, ignore: Any, rules: Rules) -> RayHit | RayHits | None:
    """``raycast``: origins, directions and greatest distances."""
    if ignore is None and _is_one(rays, env):
        world = index._world_of(env)
        hit = None if world is None else world[0].raycast(*_sides(rays), **rules)
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
    """The first hit of each ray that is not the box it leaves out.

    A tree looks past it while it searches.  In other indexes, where that is what is hit first, as by a ray
    from inside of it, all that the ray hits says what comes next.
    """
    if ignore is not None:
        sets = rule(rules["category"], "category"), rule(rules["mask"], "mask")
        own = np.where((ignore >= 0) & (ignore < 2**31), ignore, -1).astype(np.int32)
        at_once = index._space.cast_but(np.column_stack(rays), own, *sets)
        if at_once is not None:
            assert isinstance(at_once, RayHits)
            return at_once
    hits = index.raycast(*rays, **rules)
    assert isinstance(hits, RayHits)
    again = np.flatnonzero((hits.ids >= 0) & (hits.ids == ignore)) if ignore is not None else ()
    if not len(again):
        return hits
    assert ignore is not None
    found = index.query_ray(*(column[again] for column in rays), **rules)
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


def ask_all(index: Any, rays: Any, env: Any, rules: Rules) -> RayHits | RayRows:
    """``query_ray``."""
    columns, envs, single = _spread(_sides(rays), env)
    parts = []
    for rows, world, ids in _worlds(index, envs):
        found = world.query_ray(*(column[rows] for column in columns), **rules)
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


def ask_nearest(index: Any, point: Any, k: int, env: Any, rules: Rules) -> Nearest:
    """``nearest``."""
    if _is_one(point, env):
        world = index._world_of(env)
        found = _NOTHING if world is None else world[0].nearest(point, k, **rules)
        return found if world is None else Nearest(world[1][found.ids], found.distances)
    (points,), envs, single = _spread((point,), env)
    ids, distances = np.full((len(points), k), -1, np.int32), np.full((len(points), k), np.inf)
    for rows, world, names in _worlds(index, envs):
        found = world.nearest(points[rows], k, **rules)
        ids[rows] = np.where(found.ids >= 0, names[found.ids], -1)
        distances[rows] = found.distances
    if not single:
        return Nearest(ids, distances)
    held = int((ids[0] >= 0).sum())
    return Nearest(ids[0, :held], distances[0, :held])


def _is_one(asked: Any, env: Any) -> bool:
    """Whether this is one question to one world: 5 microseconds instead of 60 to 120."""
    return isinstance(asked, tuple) and type(env) is int and -_ENVS <= env < _ENVS


def _as_ignored(ignore: Any, n: int) -> npt.NDArray[Any]:
    ignored = as_plain_array(ignore, "ignore")
    if ignored.dtype.kind not in "iu" and ignored.size:
        raise TypeError(f"ignore must be ids, one a ray or one for all; got dtype {ignored.dtype}")
    if ignored.shape not in ((), (n,)):
        raise ValueError(f"ignore must be one id, or one for each of {n} rays; got shape {ignored.shape}")
    return np.broadcast_to(ignored, (n,))


def _sides(rays: Any) -> tuple[Any, ...]:
    """Rays side by side as origins, directions and greatest distances, each alone or a batch."""
    if isinstance(rays, tuple):
        dim = len(rays) // 2
        return rays[:dim], rays[dim : 2 * dim], rays[2 * dim]
    dim = rays.shape[1] // 2
    return tuple(map(np.ascontiguousarray, (rays[:, :dim], rays[:, dim : 2 * dim], rays[:, 2 * dim])))


def _spread(asked: tuple[Any, ...], env: Any) -> tuple[list[Rows], npt.NDArray[np.int64], bool]:
    """Every argument as a batch, the environment of each question, and whether there was one question."""
    alone = isinstance(asked[0], tuple)
    single = alone and np.ndim(env) == 0
    n = len(asked[0]) if not alone else (1 if single else len(env))
    envs = as_env(env, n)
    assert envs is not None
    columns = [np.array([value] * n, np.float64) if alone else np.asarray(value) for value in asked]
    if alone and n == 0:
        columns = [np.empty((0, *np.shape(value))) for value in asked]
    return columns, envs, single


def _worlds(index: Any, envs: npt.NDArray[np.int64]) -> Iterator[tuple[npt.NDArray[np.int64], Any, IdArray]]:
    """The questions of each environment that there is, its index, and the ids of its boxes."""
    order = np.argsort(envs, kind="stable")
    borders = np.flatnonzero(envs[order][1:] != envs[order][:-1]) + 1
    for rows in np.split(order, borders):
        if len(rows):
            world = index._world_of(int(envs[rows[0]]))
            if world is not None:
                yield rows, *world
