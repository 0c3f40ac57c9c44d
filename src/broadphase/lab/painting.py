"""From a scene and its lanes to the sections of a frame: what the page is to draw."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from broadphase.indexes.box_tree import BoxTree
from broadphase.indexes.cell_index import CellIndex
from broadphase.indexes.sort_and_sweep import SortAndSweep
from broadphase.indexes.strips import Strips
from broadphase.indexes.sweep_and_prune import SweepAndPrune
from broadphase.lab import tracing
from broadphase.lab.frames import Kind, Section, drawable
from broadphase.lab.lanes import Lane, Outcome
from broadphase.lab.messages import Show
from broadphase.lab.scenes import Scene
from broadphase.lab.tracing import cells, sort_and_sweep, strips, sweep_and_prune, tree
from broadphase.lab.tracing.told import Told

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


def look(lane: Lane, outcome: Outcome, show: Show) -> Seen:
    """Retell what the lane compared, if that is wanted and the retelling is true."""
    told = None
    count = len(lane.index)
    if show.tests and count <= tracing.MOST_TRACED:
        told = tracing.trace(lane.index, lane.before)
        if told is not None and not told.adds_up(outcome.stats, outcome.pairs, count):
            told = None
    return Seen(lane, outcome, told)


def sections(scene: Scene, seen: list[Seen], show: Show, *, first: bool) -> list[Section]:
    """Everything that one frame says."""
    found = [
        Section(Kind.CENTERS, 0, drawable(scene.centers)),
        Section(Kind.HELD, 0, np.array([scene.held])),
        *_hits(len(scene), seen[0].outcome),
    ]
    if first:
        found += [
            Section(Kind.HALVES, 0, drawable(scene.halves)),
            Section(Kind.STATIC, 0, scene.static),
            *_tiles(scene),
        ]
    for number, one in enumerate(seen):
        found.append(Section(Kind.NUMBERS, number, _numbers(one, len(scene))))
        if one.told is not None:
            found.append(Section(Kind.TESTS, number, one.told.pairs))
        if show.structure and len(scene) <= tracing.MOST_STRUCTURE:
            found += _structure(one.lane.index, number)
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


def _structure(index: Any, lane: int) -> list[Section]:
    """The cells, nodes, borders or orders of an index, by its class."""
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
        x, y = sweep_and_prune.ends(index)
        return [Section(Kind.ENDS, lane, np.concatenate([[len(x) // 2], x, y]))]
    return []


def _cells(index: CellIndex, lane: int) -> list[Section]:
    found = cells.structure(index)
    if found is None:
        return []
    table = np.column_stack([found.rectangles, found.bodies, found.levels, found.strangers])
    return [Section(Kind.CELLS, lane, drawable(table.astype(np.float64)))]


def _bits(index: Strips, lane: int) -> Section:
    return Section(Kind.CLASS_BITS, lane, strips.class_bits(index))
