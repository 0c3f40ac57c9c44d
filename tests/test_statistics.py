"""Traces against the engine: as many tests, the same cells, and every pair that was found."""

import numpy as np
import pytest
from oracle import pairs as expected_pairs

from broadphase.indexes import CLASSES
from broadphase.indexes.classes import CellIndex, Strips
from broadphase.kernels.cells.bins import LENGTH, PLACE
from broadphase.lab import tracing
from broadphase.lab.lanes import Lane, cut_into
from broadphase.lab.scenes import SCENES, make_scene
from broadphase.lab.tracing import cells, sorted_ends, strips, tree

FRAMES = 6


def moving(method, scene, *, frames=FRAMES, cell_scale=None, slots=None):
    """Lane and outcome of every frame."""
    lane = Lane(method, scene.boxes(), scene.static, cell_scale, slots)
    for frame in range(frames):
        if frame:
            scene.step()
        yield lane, lane.run(scene.boxes(), remember=tracing.needs_before(lane.index))


@pytest.mark.smaller_set
@pytest.mark.parametrize("method", CLASSES)
def test_a_small_scene_is_traced_without_the_compiler_too(method):
    for lane, outcome in moving(method, make_scene("mostly_static", count=20, seed=3), frames=2):
        trace = tracing.trace(lane.index, lane.before, patient=lane.is_patient)
        assert trace.tests == outcome.stats.tests
        assert trace.agrees(outcome.stats, outcome.pairs, 20)


@pytest.mark.covering(together=2)
@pytest.mark.parametrize("count", [5, 70, tracing.MOST_TRACED])
@pytest.mark.parametrize("name", SCENES)
@pytest.mark.parametrize("method", CLASSES)
def test_every_method_on_every_scene_is_traced_test_for_test(method, name, count):
    scene = make_scene(name, count=count, seed=5)
    traced_once = False
    for lane, outcome in moving(method, scene):
        assert np.array_equal(outcome.pairs, oracle_without_static(scene))
        trace = tracing.trace(lane.index, lane.before, patient=lane.is_patient)
        assert trace.tests == outcome.stats.tests
        assert trace.agrees(outcome.stats, outcome.pairs, count)
        traced_once |= len(trace.pairs) > 0
    assert traced_once or not len(outcome.pairs)


def oracle_without_static(scene):
    found = expected_pairs(scene.boxes())
    return found[~scene.static[found].all(axis=1)]


@pytest.mark.covering(together=2)
@pytest.mark.parametrize("slots", [0.05, 1.0, 20.0])
@pytest.mark.parametrize("cell_scale", [0.1, 1.0, 30.0])
@pytest.mark.parametrize("name", ["balls", "mixed_sizes", "mostly_static", "clusters"])
def test_cells_of_any_size_and_tables_of_any_size_are_traced(name, cell_scale, slots):
    scene = make_scene(name, count=200, seed=2)
    for method in ("uniform_grid", "spatial_hash"):
        for lane, outcome in moving(method, scene, frames=3, cell_scale=cell_scale, slots=slots):
            assert tracing.trace(lane.index).agrees(outcome.stats, outcome.pairs, 200)


def test_overfull_cells_are_swept_as_the_engine_sweeps_them():
    scene = make_scene("balls", count=300, seed=2)
    for method in ("uniform_grid", "spatial_hash"):
        for lane, outcome in moving(method, scene, frames=2, cell_scale=60.0):
            assert lane.index.explain().fullest > 64
            assert tracing.trace(lane.index).agrees(outcome.stats, outcome.pairs, 300)


def test_a_retelling_that_does_not_add_up_is_seen():
    scene = make_scene("balls", count=60, seed=1)
    *_, (lane, outcome) = moving("sort_and_sweep", scene, frames=30)
    trace = tracing.trace(lane.index)
    assert trace.agrees(outcome.stats, outcome.pairs, 60)
    assert not trace._replace(pairs=trace.pairs[1:]).agrees(outcome.stats, outcome.pairs, 60)
    missing = (trace.pairs.min(axis=1), trace.pairs.max(axis=1)) == outcome.pairs[:1].T
    without = np.where(missing.all(axis=0)[:, None], trace.pairs[-1], trace.pairs)
    assert len(without) == len(trace.pairs)
    assert not trace._replace(pairs=without).agrees(outcome.stats, outcome.pairs, 60)


@pytest.mark.covering(together=2)
@pytest.mark.parametrize("cell_scale", [0.2, None, 8.0])
@pytest.mark.parametrize("name", SCENES)
@pytest.mark.parametrize("method", ["uniform_grid", "spatial_hash"])
def test_cells_hold_the_bodies_that_the_engine_has_in_them(method, name, cell_scale):
    scene = make_scene(name, count=150, seed=4)
    *_, (lane, outcome) = moving(method, scene, frames=4, cell_scale=cell_scale)
    index = lane.index
    assert isinstance(index, CellIndex)
    found = cells.structure(index)
    parts = [(bins, bins.heads[np.unique(bins.entries[1:, PLACE])]) for bins in index._structure.cells()]
    assert len(found.places) >= outcome.stats.cells == sum(len(heads) for _, heads in parts)
    in_engine = sorted(count for bins, heads in parts for count in bins.entries[heads, LENGTH])
    # A slot that several cells share holds the bodies of all of them, each body once.
    alone = found.strangers == 0
    assert all(count in in_engine for count in found.bodies[alone].tolist())
    if method == "uniform_grid":
        assert alone.all()
        assert sorted(found.bodies.tolist()) == in_engine
    low, high = found.rectangles[:, :2].min(axis=0), found.rectangles[:, 2:].max(axis=0)
    small = np.concatenate([bins.small for bins, _ in parts])
    own = scene.boxes()[small] if method == "spatial_hash" else np.empty((0, 4))
    assert (own[:, :2] >= low).all()
    assert (own[:, 2:] <= high).all()


def test_a_tiny_table_has_shared_slots_and_a_large_one_hardly_any():
    scene = make_scene("balls", count=100, seed=1)
    strangers = []
    for slots in (0.2, 50.0):
        *_, (lane, _) = moving("spatial_hash", scene, frames=1, slots=slots)
        strangers.append(int(cells.structure(lane.index).strangers.sum()))
    assert strangers[0] > 100
    assert strangers[1] < strangers[0] / 10


def test_the_order_is_that_of_the_lower_edges_and_walks_end_where_intervals_do():
    scene = make_scene("side_scroller", count=120, seed=1)
    *_, (lane, outcome) = moving("sort_and_sweep", scene, frames=5)
    order = sorted_ends.order(lane.index)
    boxes = scene.boxes()[order.ids]
    assert (np.diff(boxes[:, order.axis]) >= 0).all()
    assert sorted(order.ids.tolist()) == list(range(120))
    for k, stop in enumerate(order.stops.tolist()):
        reached = boxes[k + 1 :, order.axis] <= boxes[k, 2 + order.axis]
        assert stop - k - 1 == np.count_nonzero(reached)
    assert (order.stops - np.arange(120) - 1).clip(0).sum() == outcome.stats.tests


def test_sweep_and_prune_keeps_its_pairs_and_counts_its_swaps_where_little_moves():
    scene = make_scene("mostly_static", count=200, seed=1)
    kept = swaps = 0
    for lane, outcome in moving("sweep_and_prune", scene, frames=12):
        trace = tracing.trace(lane.index, lane.before, patient=lane.is_patient)
        kept += len(trace.known)
        swaps += outcome.stats.swaps
        for axis, row in enumerate(sorted_ends.ends(lane.index)):
            where = scene.boxes()[row >> 1, axis + 2 * (row & 1)]
            assert (np.diff(where) >= 0).all()
            assert sorted(row.tolist()) == list(range(400))
    assert kept > 0
    assert swaps > 0


def test_nodes_hold_their_bodies_from_the_root_to_the_leaves():
    scene = make_scene("asteroids", count=400, seed=1)
    *_, (lane, outcome) = moving("box_tree", scene, frames=8)
    nodes = tree.structure(lane.index)
    assert len(nodes.depths) == outcome.stats.cells
    boxes = scene.boxes()
    root = nodes.boxes[0]
    assert (root[:2] <= boxes[:, :2].min(axis=0)).all()
    assert (root[2:] >= boxes[:, 2:].max(axis=0)).all()
    leaves = nodes.boxes[nodes.leaves]
    inside = (leaves[:, None, :2] <= boxes[:, :2]).all(axis=2) & (leaves[:, None, 2:] >= boxes[:, 2:]).all(
        axis=2
    )
    assert inside.any(axis=0).all()


@pytest.mark.parametrize("name", ["balls", "clusters", "mostly_static"])
def test_strips_and_their_class_bits_report_each_pair_once(name):
    scene = make_scene(name, count=400, seed=1)
    *_, (lane, outcome) = moving("strips", scene, frames=5)
    cut = strips.structure(lane.index)
    assert len(cut.copies) == outcome.stats.cells == len(cut.borders) + 1
    assert (np.diff(cut.borders) > 0).all()
    copies = strips.class_bits(lane.index)
    assert np.array_equal(np.bincount(copies[:, 0], minlength=len(cut.copies)), cut.copies)
    bits = {(strip, body): bit for strip, body, bit in copies.tolist()}
    for i, j in outcome.pairs.tolist():
        shared = [strip for strip, body in bits if body == i and (strip, j) in bits]
        assert sum((bits[strip, i] & bits[strip, j]) == 0 for strip in shared) == 1


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_strips_of_a_world_as_narrow_as_floats_allow(dtype):
    """Its extent is far below the smallest number that has all digits: 1 / extent is no float."""
    low = np.random.default_rng(0).integers(0, 9, (20, 2)).astype(dtype) * np.finfo(dtype).smallest_subnormal
    index = Strips(dtype=dtype)
    index.insert_many(np.hstack((low, low)))
    for count in (None, 1, 3):
        if count is not None:
            cut_into(index, count, index._store.boxes)
        pairs = index.pairs()
        assert np.array_equal(pairs, expected_pairs(index._store.boxes))
        trace = tracing.trace(index)
        assert trace.tests == index.stats.tests
        assert trace.agrees(index.stats, pairs, 20)
