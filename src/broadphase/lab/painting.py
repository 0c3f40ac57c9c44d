"""From a scene and its lanes to the sections of a frame: what the page is to draw."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from broadphase.indexes.classes import BoxTree, CellIndex, SortAndSweep, Strips, SweepAndPrune
from broadphase.kernels.strips.bin import NEW
from broadphase.lab import tracing
from broadphase.lab.frames import Kind, Section, drawable
from broadphase.lab.lanes import Lane, Outcome
from broadphase.lab.messages import Show
from broadphase.lab.scenes import Scene
from broadphase.lab.tracing import cells, sort_and_sweep, strips, sweep_and_prune, tree
from broadphase.lab.tracing.told import Ids, Told

MOST_PAIRS = 20_000
"""Pairs that are sent one by one; beyond that only who has a partner."""
MOST_TILES = 20_000


@dataclass(frozen=True)
class Seen:
    """One lane in one frame."""

    lane: Lane
    outcome: Outcome
    told: Told | None
    """The comparisons, where they are few enough and add up."""
    lines: Ids | None = None
    """Those of many bodies that are drawn."""
    stands_for: int = 1
    """How many comparisons each of the lines stands for."""


class Shown(NamedTuple):
    """What a lane has found, and in which frame."""

    frame: int
    seen: Seen


def look(lane: Lane, outcome: Outcome, show: Show) -> Seen:
    """Retell what the lane compared, if that is wanted and the retelling is true."""
    count = len(lane.index)
    if not show.tests:
        return Seen(lane, outcome, None)
    if count > tracing.MOST_TRACED:
        sketched = tracing.sketch(lane.index)
        return Seen(lane, outcome, None, *(sketched or ()))
    told = tracing.trace(lane.index, lane.before, patient=lane.is_patient)
    if told is not None and not told.adds_up(outcome.stats, outcome.pairs, count):
        told = None
    return Seen(lane, outcome, told, None if told is None else told.pairs)


def sections(scene: Scene, shown: Sequence[Shown | None], show: Show, *, first: bool) -> list[Section]:
    """Everything that one frame says; of a lane that is still at work on an earlier one, only its numbers."""
    found = [Section(Kind.CENTERS, 0, drawable(scene.centers)), Section(Kind.HELD, 0, np.array([scene.held]))]
    if first:
        found += [
            Section(Kind.HALVES, 0, drawable(scene.halves)),
            Section(Kind.STATIC, 0, scene.static),
            *_tiles(scene),
        ]
    now = [one.seen for one in shown if one and one.frame == scene.frame]
    found += _hits(len(scene), now[0].outcome) if now else []
    for number, one in enumerate(shown):
        if one is None:
            continue
        found.append(Section(Kind.NUMBERS, number, _numbers(one.seen, len(scene))))
        found.append(Section(Kind.OF_FRAME, number, np.array([one.frame])))
        if one.frame == scene.frame:
            found += _drawn(one.seen, number, show)
    return found


def _drawn(one: Seen, lane: int, show: Show) -> list[Section]:
    found = [] if one.lines is None else [Section(Kind.TESTS, lane, one.lines)]
    if show.structure and len(one.lane.index) <= tracing.MOST_STRUCTURE:
        found += _structure(one, lane)
    return found


def candidates(one: Seen, count: int) -> float:
    """How many different pairs of bodies were compared; NaN where nobody has kept count."""
    if one.told is not None:
        return one.told.candidates(count)
    # These compare each pair at most once.
    if one.lane.name in ("brute_force", "sort_and_sweep"):
        return one.outcome.stats.tests
    return float("nan")


def _numbers(one: Seen, count: int) -> Any:
    stats = one.outcome.stats
    return np.array(
        [
            stats.tests,
            candidates(one, count),
            len(one.outcome.pairs),
            stats.cells,
            stats.swaps,
            one.outcome.seconds,
            one.outcome.copies,
            one.outcome.fell_back,
            one.stands_for,
            one.lane.steady,
        ]
    )


def _hits(count: int, outcome: Outcome) -> list[Section]:
    if len(outcome.pairs) <= MOST_PAIRS:
        return [Section(Kind.HITS, 0, outcome.pairs)]
    bodies = np.zeros(count, np.uint8)
    bodies[outcome.pairs] = 1
    return [Section(Kind.HIT_BODIES, 0, bodies)]


def _tiles(scene: Scene) -> list[Section]:
    """Solid tiles as rectangles, those beside each other in a row joined."""
    if scene.tiles is None:
        return []
    solid = np.pad(scene.tiles.solid, ((0, 0), (1, 1))).astype(np.int8)
    edges = np.diff(solid, axis=1)
    rows, begins = np.nonzero(edges == 1)
    _, ends = np.nonzero(edges == -1)
    (width, height), (x, y) = scene.tiles.tile_size, scene.tiles.origin
    corners = np.column_stack(
        [x + begins * width, y + rows * height, x + ends * width, y + (rows + 1) * height]
    )
    return [Section(Kind.TILES, 0, drawable(corners[:MOST_TILES]))]


def _structure(one: Seen, lane: int) -> list[Section]:
    """The cells, nodes, borders or orders of an index, by its class."""
    index = one.lane.index
    if isinstance(index, CellIndex):
        return _cells(index, lane)
    if isinstance(index, BoxTree):
        nodes = tree.structure(index)
        if nodes is None:
            return []
        table = np.column_stack([nodes.boxes, nodes.depths, nodes.leaves])
        return [Section(Kind.NODES, lane, drawable(table))]
    if isinstance(index, Strips):
        cut = strips.structure(index)
        if cut is None:
            return []
        row = np.concatenate([[cut.swept], cut.borders, cut.copies])
        return [Section(Kind.STRIPS, lane, drawable(row)), _bits(index, lane)]
    if isinstance(index, SortAndSweep):
        axis, ids, stops = sort_and_sweep.order(index)
        return [Section(Kind.ORDER, lane, np.concatenate([[axis, len(ids)], ids, stops]))]
    if isinstance(index, SweepAndPrune):
        return _ends(one, index, lane)
    return []


def _ends(one: Seen, index: SweepAndPrune, lane: int) -> list[Section]:
    x, y = sweep_and_prune.ends(index)
    found = [Section(Kind.ENDS, lane, np.concatenate([[len(x) // 2], x, y]))]
    before = one.lane.before
    if isinstance(before, SweepAndPrune) and one.told is not None and len(before) == len(index):
        x, y = sweep_and_prune.ends(before)
        found.append(Section(Kind.BEFORE, lane, np.concatenate([[len(x) // 2], x, y])))
        found.append(Section(Kind.SWAPS, lane, one.told.swaps))
    return found


def _cells(index: CellIndex, lane: int) -> list[Section]:
    found = cells.structure(index)
    if found is None:
        return []
    table = np.column_stack([found.rectangles, found.bodies, found.levels, found.strangers, found.places])
    return [Section(Kind.CELLS, lane, drawable(table.astype(np.float64)))]


def _bits(index: Strips, lane: int) -> Section:
    copies = strips.class_bits(index)
    return Section(Kind.CLASS_BITS, lane, copies[copies[:, 2] != NEW])
