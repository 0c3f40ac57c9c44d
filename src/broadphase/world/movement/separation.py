"""Crowds: overlapping bodies push each other apart; see `World.separate`."""

from typing import Any

import numpy as np

from broadphase.api.one_shot import pairs
from broadphase.errors import PairLimitExceeded
from broadphase.indexes.storage import EVERY_BIT
from broadphase.inputs.numeric import not_negative, real
from broadphase.kernels.movement.separation import push_apart
from broadphase.runtime.arrays import Floats
from broadphase.runtime.memory import PairArray
from broadphase.world.bodies import Rows
from broadphase.world.hits import HitArrays, Movements
from broadphase.world.movement.motion_many import ManyMotion
from broadphase.world.space import moved_columns
from broadphase.world.state import State

# Up to so many pairs a body are compared in a call.
_PAIRS_A_BODY = 16
# Where there are more, only bodies of one of so many times as many groups push each other.
_MORE_GROUPS = 4


def separate(
    state: State, motion: ManyMotion, bodies: Any, strength: Any, max_step: Any, ignore: Any
) -> Movements:
    """See `World.separate`."""
    store = state.store
    share = real(strength, "strength")
    if not 0.0 <= share <= 1.0:
        raise ValueError(f"strength = {share:g} must be within 0 and 1: the share of each overlap")
    given, ignored = store.rows_of(bodies), store.ignored(ignore)
    rows = np.sort(given)
    if (rows[1:] == rows[:-1]).any():
        raise ValueError("bodies names a body twice; each is pushed once")
    takes_part = ~(store.static[rows] | store.sensor[rows])
    if ignored:
        takes_part &= ~np.isin(rows, list(ignored))
    rows = rows[takes_part]
    way = np.zeros((len(store.bodies), 2))
    way[rows] = _pushes(state, rows, share, max_step)
    pushes = way[given]
    pushed = np.flatnonzero((pushes[:, 0] != 0.0) | (pushes[:, 1] != 0.0))
    pushed = pushed[np.argsort(given[pushed])]  # what they cross on their way depends on who goes first
    moved = motion.move_many(given[pushed], pushes[pushed], None, "slide", False, ignore)
    hits, crossed = (_in_turn(column._replace(movers=pushed[column.movers])) for column in moved[1:])
    return Movements(store.places(given), hits, crossed)


def _in_turn(hits: HitArrays) -> HitArrays:
    """Hits by mover."""
    order = np.argsort(hits.movers, kind="stable")
    columns: Any = (column[order] for column in hits)
    return HitArrays(*columns)


def _pushes(state: State, rows: Rows, share: float, max_step: Any) -> Floats:
    """``(m, 2)``: how far bodies, by ascending id, push each other."""
    table = state.store.table
    bounds = table.bounds(rows)
    if max_step is None:
        sizes = bounds[:, 2:] - bounds[:, :2]
        most = 0.5 * np.minimum(sizes[:, 0], sizes[:, 1])
    else:
        most = np.full(len(rows), not_negative(max_step, "max_step"))
    candidates, shapes = _near(state, rows, bounds), rows.astype(np.int64)
    owners, shift = np.arange(len(rows), dtype=np.int64), np.zeros((len(rows), 2))
    if state.space.periodic:
        middles = 0.5 * (bounds[:, :2] + bounds[:, 2:])
        apart = state.space.nearest_shift(middles[candidates[:, 0]], middles[candidates[:, 1]])
        across = np.flatnonzero((apart[:, 0] != 0.0) | (apart[:, 1] != 0.0))
        owners, shift = np.concatenate((owners, candidates[across, 1])), np.vstack((shift, apart[across]))
        shapes = rows[owners].astype(np.int64)
        candidates[across, 1] = len(rows) + np.arange(len(across))
    pushes, counts = np.zeros((len(rows), 2)), np.zeros(len(rows), np.int64)
    push_apart(
        moved_columns(table.columns, shapes, shift), owners, rows, candidates, share, most, pushes, counts
    )
    return pushes


def _near(state: State, rows: Rows, bounds: Floats) -> PairArray:
    """The pairs whose bounds overlap; where these are too many, only those within groups of the bodies."""
    store, most, groups = state.store, _PAIRS_A_BODY * len(rows), 1
    rules: dict[str, Any] = {}
    categories, masks = store.category[rows], store.mask[rows]
    if (categories != 1).any() or (masks != EVERY_BIT).any():
        rules = {"categories": categories, "masks": masks}
    if state.space.periodic:
        rules["period"] = state.space.lengths
    while True:
        if groups > 1:
            rules["env"] = np.arange(len(rows)) % groups
        try:
            return pairs(bounds, touching=False, max_pairs=most, **rules)
        except PairLimitExceeded:
            groups *= _MORE_GROUPS
