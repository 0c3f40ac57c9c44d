"""The seven methods in JavaScript count and find what the engine does, in every state of every slider."""

import json

import numpy as np
import pytest
from oracle import pairs as expected_pairs

import broadphase as bp

STEPS = ["all", "sorted", "kept", "cells", "twice", "slots", "tree", "strips", "lists", "together"]
SEARCHED = [step for step in STEPS if step != "lists"]  # by an index
MOST_CHECKED = 200  # balls

PLACES = [(0, 0), (0.3, 0.4), (1, 0.7)]  # of the ball, in parts of the room

# The states of a step: each value of the slider, each frame, and some places of the ball.
STATES = """
async ([name, begin, end, every, places]) => {
    const { STEPS, framesOf, stateOf } = await import('./steps.js');
    const { comparesOf } = await import('./methods/strips.js');
    const step = STEPS.find((step) => step.name === name);
    const structure = ({ cells, table, nodes, copies }) => ({
        cells: cells?.map(({ x, y, slot = -1, balls }) =>
            [x, y, balls.length, slot, table ? table.get(slot).length - balls.length : 0]),
        nodes: nodes?.map(({ box, level, depth }) => [...box, depth, level]),
        copies: copies?.map(({ strip, ball, isContinued, stop }) => [strip, ball, isContinued, stop]),
        compares: copies && comparesOf({ copies }),
    });
    const inOrder = (pairs, count, isRepeated) => {
        const keyAt = (_, k) => pairs[2 * k] * count + pairs[2 * k + 1];
        const keys = Float64Array.from({ length: pairs.length / 2 }, keyAt).sort();
        return [...(isRepeated ? new Set(keys) : keys)].join();
    };
    const states = [];
    const add = (slider, frame, place) => {
        const { boxes, options, results, query } = stateOf(step, slider, frame, place ? [[0, place]] : []);
        const count = boxes.length / 4;
        const all = [];
        const found = {};
        for (const [method, one] of Object.entries(results)) {
            if (one.pairs) all.push(inOrder(one.pairs, count, options.once === 'nothing'));
            const { made, used, tests, swaps, edges, order, stops } = one;
            const isSmall = count <= 200;
            const built = isSmall && { tests, swaps, edges, order, stops, ...structure(one) };
            found[method] = { made, used: used ?? null, ...built };
        }
        const pairs = all.every((one) => one === all[0]) ? all[0] : 'not the same of every method';
        states.push({
            where: [slider, frame, place], found, pairs, options: { ...options, before: null },
            boxes: boxes.join(), before: (options.before ?? boxes).join(),
            query: query ? { box: query.box, balls: query.balls, visited: query.visited.length } : null,
        });
    };
    for (let slider = begin; slider < Math.min(end, step.values.length); slider++) {
        const { width, height } = step.make(step.values[slider], 0).balls;
        for (let frame = 0; frame < framesOf(step, slider); frame += every) {
            add(slider, frame, null);
            for (const [x, y] of places) add(slider, frame, [x * width, y * height]);
        }
    }
    // As one text: the driver would take values one by one.
    return JSON.stringify(states, (_, value) => (ArrayBuffer.isView(value) ? [...value] : value));
}
"""


@pytest.fixture(scope="module")
def states(server, chromium):
    """Asks one page for the states of a step."""
    with chromium.new_context() as context:
        page = context.new_page()
        page.goto(server.address)
        yield lambda step, begin=0, end=100, every=1, places=PLACES: json.loads(
            page.evaluate(STATES, [step, begin, end, every, places])
        )


def rows(numbers, width=2):
    return np.array(numbers, np.float64).reshape(-1, width)


def make_index(method, options):
    match method:
        case "sort_and_sweep":
            return bp.SortAndSweep(axis=options["axis"])
        case "uniform_grid":
            return bp.UniformGrid(cell_size=options["cellSize"], bounds=options["bounds"])
        case "spatial_hash":
            return bp.SpatialHash(cell_size=options["cellSize"], table_size=options["slots"])
        case "box_tree":
            return bp.BoxTree(dtype=np.float32)
    return bp.make_index(method)


def check_search(method, boxes, options, found, where):
    """The counts, the tests and what was built, of everything but sweep and prune."""
    index = make_index(method, options)
    index.insert_many(boxes)
    if method == "box_tree":
        index._structure.reset()  # up to 64 boxes are inserted one by one; the page builds all trees at once
    pairs = index.pairs()
    is_marked = options.get("once") == "marks"  # two balls are tested once, however many cells they share
    if method == "strips":
        check_sweeps(boxes, options["strips"], found, where)
    elif not is_marked:
        assert index.stats.tests == found["made"], where
    if found["used"] is not None and method != "strips":  # the engine would cut others
        assert index.stats.cells == found["used"], where
    if len(boxes) > MOST_CHECKED:
        return
    if found["tests"]:
        made = np.sort(rows(found["tests"]).astype(int))
        tested = set(map(tuple, made.tolist()))
        assert set(map(tuple, pairs.tolist())) <= tested, where
        if is_marked:
            assert found["made"] == len(tested) < index.stats.tests, where
    check_structure(method, index, boxes, options, found, where)


def check_structure(method, index, boxes, options, found, where):
    """The cells, nodes, copies or order that the page draws."""
    low, high = boxes[:, :2], boxes[:, 2:]
    if found.get("order"):
        order = np.argsort(low[:, options["axis"]], kind="stable")
        begins, ends = (edges[order, options["axis"]] for edges in (low, high))
        stops = np.maximum(np.searchsorted(begins, ends, side="right"), np.arange(len(boxes)) + 1)
        assert [found["order"], found["stops"]] == [order.tolist(), stops.tolist()], where
    if found.get("cells"):
        start = options.get("bounds", [0, 0])[:2]
        first, last = ((edges - start) // options["cellSize"] for edges in (low, high))
        drawn = rows(found["cells"], 5)
        for x, y, balls, _, _ in drawn.tolist():
            assert balls == ((first <= (x, y)) & (last >= (x, y))).all(axis=1).sum(), where
        assert len(np.unique(drawn[:, :2], axis=0)) == len(drawn), where
        assert drawn[:, 2].sum() == (last - first + 1).prod(axis=1).sum(), where
    if found.get("nodes"):
        nodes = rows(found["nodes"], 6)
        everything = np.array([-np.inf, -np.inf, np.inf, np.inf])
        engine = index._structure.parts(everything)
        assert sorted(nodes[:, :4].tolist()) == sorted(engine.tolist()), where
    if found.get("copies"):
        strips = rows(found["copies"], 4)[:, :2].astype(int)
        first, last = strips_of(boxes, options["strips"])
        for ball in range(len(boxes)):
            own = sorted(strips[strips[:, 1] == ball, 0].tolist())
            assert own == list(range(first[ball], last[ball] + 1)), where
        continued = {(strip, ball) for strip, ball, is_continued, _ in found["copies"] if is_continued}
        assert continued == {(s, b) for s, b in strips.tolist() if s > first[b]}, where


def strips_of(boxes, count):
    """The first and the last strip of each box."""
    low, high = boxes[:, 1].min(), boxes[:, 3].max()
    return (
        np.minimum((boxes[:, side] - low) // ((high - low) / count), count - 1).astype(int) for side in (1, 3)
    )


def check_sweeps(boxes, count, found, where):
    """The tests and compares of an exact sweep in each strip."""
    first, last = strips_of(boxes, count)
    walks = []
    for strip in range(count):
        here = boxes[(first <= strip) & (strip <= last)]
        here = here[np.argsort(here[:, 0])]
        walks.append(np.searchsorted(here[:, 0], here[:, 2], side="right") - np.arange(len(here)) - 1)
    assert found["made"] == np.concatenate(walks).sum(), where
    if found.get("compares"):
        assert found["compares"] == np.ceil(np.concatenate(walks) / 16).sum(), where


def check_frame(before, boxes, found, where):
    """Sweep and prune: the swaps of one frame.

    The engine sorts everything again when more than a third of the boxes move at once, or very many edges
    pass at once, so they move in parts, the first alone because it may have been dragged far.
    """
    index = bp.SweepAndPrune()
    index.insert_many(before)
    index.pairs()
    tests = swaps = 0
    moved = np.flatnonzero((boxes != before).any(axis=1))
    for part in (moved[:1], *np.array_split(moved[1:], 8)):
        index.move_many(part, boxes[part])
        index.pairs()
        tests += index.stats.tests
        swaps += index.stats.swaps
    assert tests == swaps == found["made"], where
    if len(boxes) > MOST_CHECKED:
        return
    for axis, edges in enumerate(found["edges"]):  # an edge is twice the ball, plus one for the far edge
        ball, is_far = np.divmod(edges, 2)
        assert sorted(edges) == list(range(2 * len(boxes))), where
        assert (np.diff(boxes[ball, axis + 2 * is_far]) >= 0).all(), where
    assert len(found["swaps"]) == 3 * swaps, where


@pytest.mark.parametrize("step", SEARCHED)
def test_every_state_of_every_slider_is_what_the_engine_does(states, step, exhaustive):
    every = 1 if exhaustive else 5  # frame, where all methods search
    for begin in range(11 if step == "together" else 1):
        places = PLACES if exhaustive or begin < 8 else PLACES[:0]  # of thousands one is no other world
        few = (begin, begin + 1, every, places) if step == "together" else ()
        for state in states(step, *few):
            where = (step, *state["where"])
            boxes, before = (rows(state[when].split(","), 4) for when in ("boxes", "before"))
            expected = expected_pairs(boxes) if len(boxes) <= MOST_CHECKED else bp.pairs(boxes)
            keys = expected @ [len(boxes), 1]
            assert state["pairs"] == ",".join(map(str, keys.tolist())), where
            for method, found in state["found"].items():
                if method == "sweep_and_prune":
                    check_frame(before, boxes, found, where)
                else:
                    check_search(method, boxes, state["options"], found, where)
            if state["query"]:
                check_query(boxes, state["query"], where)


def check_query(boxes, query, where):
    index = bp.BoxTree(dtype=np.float32)
    index.insert_many(boxes)
    index._structure.reset()
    assert sorted(index.query_box(query["box"]).tolist()) == query["balls"], where
    assert index.stats.tests == 16 * query["visited"], (
        where
    )  # the engine compares sixteen slots of a node at once
