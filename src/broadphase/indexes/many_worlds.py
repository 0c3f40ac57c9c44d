"""An index of many worlds: boxes of different environments never meet.

An index becomes one when a box is first given an environment, and is of a class of its own from then on: any
other pays nothing for it.  Pairs of all worlds are found in one search (`broadphase.methods.worlds`).  For
questions each world has a small index of the same kind, which is built when somebody asks about it; a few
boxes that move are moved in it, and whatever else happens to a world, its index is built again with the next
question.

Cost: of a batch of questions some 50 microseconds for each world that is asked, beside the answers.
"""

from functools import cache
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from broadphase import threads
from broadphase.boxes import PairArray
from broadphase.in_space import Space, find_in_space
from broadphase.indexes.arguments import Given
from broadphase.indexes.base import Index
from broadphase.indexes.incremental import find_changes
from broadphase.indexes.journal import History
from broadphase.indexes.periodic import periodic
from broadphase.indexes.results import Nearest, PairChanges, RayHit
from broadphase.indexes.storage import IdArray, expect
from broadphase.kernels.boxes.filters import STATIC
from broadphase.memory import Scratch
from broadphase.methods.task import Found, Task
from broadphase.space import as_period

# Moving so many boxes at once, it is quicker to build their worlds again.
MANY = 64


class ManyWorlds(Index):
    """What an index of many worlds does differently."""

    many = True
    _changes_by_query = 0.0
    _plain: ClassVar[type[Index]]
    _inner: dict[int, tuple[Index, IdArray]]
    _env_by_id: npt.NDArray[np.int64]
    _by_env: tuple[npt.NDArray[np.int64], IdArray] | None
    """The environments in order, and the ids in that order."""

    @property
    def envs(self) -> npt.NDArray[np.int64]:
        """The environment of each box, in id order."""
        return self._env_by_id[self._store.ids()]

    def _take_envs(self, ids: IdArray, envs: npt.NDArray[np.int64]) -> None:
        self._make_env_room()
        self._env_by_id[ids] = envs

    def _make_env_room(self) -> None:
        if self._store.end > len(self._env_by_id):
            larger = np.zeros(max(2 * len(self._env_by_id), self._store.end), np.int64)
            larger[: len(self._env_by_id)] = self._env_by_id
            self._env_by_id = larger

    # ---- no structure over all worlds: each has its own

    def _inserted(self, ids: IdArray) -> None:
        self._make_env_room()
        self._forget(ids)
        self._by_env = None

    def _removing(self, ids: IdArray) -> None:
        self._forget(ids)
        self._env_by_id[ids] = 0
        self._by_env = None

    def _moving(self, ids: IdArray, boxes: Any) -> None:
        pass

    def _moved(self, ids: IdArray) -> None:
        if len(ids) > MANY:
            self._forget(ids)
            return
        for own in ids.tolist():
            world = self._inner.get(int(self._env_by_id[own]))
            if world is not None:
                world[0].move(int(np.searchsorted(world[1], own)), self._store.boxes[own])

    def _forget(self, ids: IdArray) -> None:
        if self._inner:
            for env in np.unique(self._env_by_id[ids]).tolist():
                self._inner.pop(env, None)

    def _reset(self) -> None:
        self._inner, self._by_env = {}, None
        self._env_by_id = np.zeros(self._store.end, np.int64)

    def _begin_anew(self) -> None:
        kept, ids = self._env_by_id, self._store.ids()
        super()._begin_anew()
        self._env_by_id[ids] = kept[ids]

    def _refresh(self) -> None:
        pass

    def _make_room(self, room: int) -> None:
        pass

    def __setstate__(self, state: dict[str, Any]) -> None:
        Index.__setstate__(self, state)
        self._inner, self._by_env = {}, None

    def __reduce__(self) -> tuple[Any, ...]:
        return _blank, (self._root(), self.period is not None), self.__getstate__()

    @classmethod
    def _root(cls) -> type[Index]:
        return cls._plain._root()

    # ---- no short ways: a question goes to its world first

    def _at_once(self, call: str, given: Given) -> IdArray | None:
        return None

    def _ray_at_once(self, origin: Any, direction: Any, furthest: Any) -> tuple[RayHit | None] | None:
        return None

    def _nearest_at_once(self, point: Any, k: int) -> Nearest | None:
        return None

    def _ask_move(self, id: Any, values: Given) -> bool:  # noqa: A002
        return False

    # ---- pairs: all worlds at once

    def _find_pairs(self, limit: int, scratch: Scratch) -> Found:
        store = self._store
        parts = threads.resolve(self._threads)
        boxes, ids = store.live_boxes(), store.ids()
        task = Task(boxes, self._touching, store.live_filter(), parts, limit, scratch=scratch)
        found = find_in_space("auto", task, Space(as_period(self.period, self.dim), self.envs))
        return found._replace(chunks=[ids[chunk] for chunk in found.chunks])

    def _find_changes(self) -> tuple[PairChanges, int]:
        return find_changes(self)

    def _baseline(self) -> PairArray:
        return self._history.pairs()

    def _set_baseline(self, pairs: PairArray) -> None:
        self._history = History(pairs)

    # ---- questions: to the index of a world

    def _world_of(self, env: int) -> tuple[Index, IdArray] | None:
        world = self._inner.get(env)
        if world is None:
            with self._lock:
                world = self._inner.get(env) or self._build(env)
        return world

    def _build(self, env: int) -> tuple[Index, IdArray] | None:
        store = self._store
        if self._by_env is None:
            order = np.argsort(self.envs, kind="stable")
            self._by_env = self.envs[order], store.ids()[order]
        envs, ids = self._by_env
        own = ids[np.searchsorted(envs, env, "left") : np.searchsorted(envs, env, "right")]
        if not len(own):
            return None
        inner = self._root()(
            dim=self.dim,
            dtype=self.dtype,
            touching=self._touching,
            threads=self._threads,
            period=self.period,
            **self._options(),
        )
        inner.insert_many(
            store.boxes[own],
            static=store.classes[own] == STATIC,
            category=store.categories[own],
            mask=store.masks[own],
        )
        inner._ready()
        self._inner[env] = inner, own
        return inner, own

    # ---- about itself

    def _cell_count(self) -> int:
        return len(self._inner)

    def _swap_count(self) -> int:
        return 0

    def _check(self) -> None:
        for env, (inner, own) in self._inner.items():
            inner.validate()
            expect(np.array_equal(inner.boxes, self._store.boxes[own]), "worlds hold the boxes")
            expect(np.array_equal(own, self._store.ids()[self.envs == env]), "worlds hold all of them")


@cache
def many_worlds(plain: type[Index]) -> type[Index]:
    """The class of such indexes of many worlds."""
    made = type(
        plain.__name__, (ManyWorlds, plain), {"__doc__": plain.__doc__, "__module__": plain.__module__}
    )
    made._plain = plain  # type: ignore[attr-defined]
    made._UNSAVED = plain._UNSAVED | {"_inner", "_by_env"}  # type: ignore[attr-defined]
    return made


def _blank(root: type[Index], on_torus: bool) -> Index:
    """What pickling and copying fill."""
    return object.__new__(many_worlds(periodic(root) if on_torus else root))
