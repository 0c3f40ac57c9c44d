"""What single steps of the tour show: skips and their reasons, pairs found twice, two lists."""

import itertools
import json
from collections import Counter

import numpy as np
import pytest

import broadphase as bp


@pytest.fixture(scope="module")
def evaluate(server, chromium):
    """Runs a script in one page of the tour."""
    with chromium.new_context() as context:
        page = context.new_page()
        page.goto(server.address)
        yield page.evaluate


SKIPS = """
async ([name, slider]) => {
    const { STEPS } = await import('./steps.js');
    const { pictureOf } = await import('./picture.js');
    const { skipsOf } = await import('./skips.js');
    const step = STEPS.find((step) => step.name === name);
    const picture = pictureOf(step, slider, 0, []);
    const count = picture.centers.length / 2;
    const skips = Array.from({ length: count }, (_, ball) => skipsOf(picture, ball));
    // As one text: the driver would take values one by one.
    return JSON.stringify({ boxes: [...picture.state.boxes], value: step.values[slider], skips });
}
"""


def test_what_is_skipped_and_why(evaluate):
    for step, slider in itertools.product(("all", "sorted", "cells", "twice", "lists"), range(4)):
        state = json.loads(evaluate(SKIPS, [step, slider]))
        boxes = np.array(state["boxes"]).reshape(-1, 4)
        x_apart = (boxes[:, None, 0] > boxes[None, :, 2]).T  # the column starts after the end of the row
        cells = boxes // (state["value"] if step == "cells" else 60)
        apart = (cells[:, None, :2] > cells[None, :, 2:]).any(axis=2)
        apart |= apart.T
        bullets = np.arange(len(boxes)) < 12
        for ball, skips in enumerate(state["skips"]):
            reasons = {one["ball"]: one["reason"] for one in skips}
            for other in {*range(len(boxes))} - {ball}:
                expected = None
                if step == "all" or (step == "lists" and slider == 0):
                    pass
                elif step == "lists" and bullets[ball] == bullets[other]:
                    expected = "the same list"
                elif step == "lists" and slider == 1:
                    pass
                elif step in ("cells", "twice") or (step, slider) == ("lists", 3):
                    expected = "other cell" if apart[ball, other] else None
                elif x_apart[ball, other]:
                    expected = "starts after the end"
                elif x_apart[other, ball]:
                    expected = "ends before the start"
                assert reasons.get(other) == expected, (step, slider, ball, other)


def test_cures_report_each_pair_once(evaluate):
    states = evaluate(
        """async () => {
            const { STEPS, stateOf } = await import('./steps.js');
            const step = STEPS.find((step) => step.name === 'twice');
            return step.values.map((value, slider) => {
                const { boxes, results } = stateOf(step, slider);
                const { pairs, finds, made, asked } = results.uniform_grid;
                return { value, boxes: [...boxes], pairs, made, asked, finds: finds.length };
            });
        }"""
    )
    boxes = np.array(states[0]["boxes"]).reshape(-1, 4)
    pairs = bp.pairs(boxes)
    both = np.stack([boxes[pairs[:, 0]], boxes[pairs[:, 1]]])
    first, last = both[:, :, :2].max(axis=0) // 60, (both[:, :, 2:] // 60).min(axis=0)
    shared = (last - first + 1).prod(axis=1)
    assert sorted(shared)[-1] == 4, "a pair that shares four cells"
    by_name = {state["value"]: state for state in states}
    for name, state in by_name.items():
        found = Counter(map(tuple, np.reshape(state["pairs"], (-1, 2)).tolist()))
        times = shared if name == "nothing" else np.ones(len(pairs))
        assert found == dict(zip(map(tuple, pairs.tolist()), times, strict=True)), name
        assert state["finds"] == (len(pairs) if name == "marks" else shared.sum())
    assert by_name["set"]["asked"] == by_name["owner"]["asked"] == shared.sum()
    assert by_name["marks"]["made"] < by_name["set"]["made"] == by_name["nothing"]["made"]
    assert by_name["marks"]["asked"] == by_name["nothing"]["made"], "marks are looked at before a test"


def test_two_lists_have_the_pairs_of_a_join(evaluate):
    states = evaluate(
        """async () => {
            const { STEPS, stateOf } = await import('./steps.js');
            const step = STEPS.find((step) => step.name === 'lists');
            return step.values.map((way, slider) => {
                const { boxes, options, results } = stateOf(step, slider);
                const { pairs, made } = Object.values(results)[0];
                return { way, boxes: [...boxes], bullets: options.bullets, pairs, made };
            });
        }"""
    )
    for state in states:
        boxes, m = np.array(state["boxes"]).reshape(-1, 4), state["bullets"]
        expected = np.add(bp.join(boxes[:m], boxes[m:]), [0, m])
        assert sorted(map(tuple, np.reshape(state["pairs"], (-1, 2)).tolist())) == list(
            map(tuple, expected.tolist())
        )
        near = (boxes[:m, None, [0]] <= boxes[None, m:, [2]]) & (boxes[None, m:, [0]] <= boxes[:m, None, [2]])
        low, high = boxes[..., :2] // 60, boxes[..., 2:] // 60
        cells = np.minimum(high[:m, None], high[None, m:]) - np.maximum(low[:m, None], low[None, m:]) + 1
        n = len(boxes)
        made = {
            "together": n * (n - 1) // 2,
            "each": m * (n - m),
            "sorted": near.sum(),
            "cells": cells.clip(0).prod(axis=2).sum(),
        }
        assert state["made"] == made[state["way"]], state["way"]


def test_a_tree_stays_while_balls_move_within_their_margins(evaluate):
    states = evaluate(
        """async () => {
            const { STEPS, stateOf } = await import('./steps.js');
            const step = STEPS.find((step) => step.name === 'tree');
            return [0, 2, 9.9, 30, 200, 30].map((motion) => {
                const places = Array.from({ length: 40 }, (_, k) => [25 * k, 15 * k]);
                const all = places.map((place) => stateOf(step, 2, 0, [[0, place]], true, 0, motion));
                const [{ boxes, results: { box_tree: tree } }] = all;
                const nodes = tree.nodes.map(({ box, children }) => [...box, children.length]);
                const queries = all.map(({ query: { box, balls } }) => [box, balls]);
                const { reinserted = 0, margins = boxes, since } = tree;
                return { boxes: [...boxes], reinserted, margins: [...margins], since, nodes, queries };
            });
        }"""
    )
    assert [state["reinserted"] for state in states[:3]] == [0, 0, 0]
    assert 96 < states[3]["reinserted"] < states[4]["reinserted"]
    assert states[3] == states[5], "the motion alone says what the tree is"
    assert states[3]["since"] < 30, "the ball whose margin is drawn was put in again"
    assert states[0]["nodes"] != states[1]["nodes"] == states[2]["nodes"] != states[3]["nodes"]
    for state in states:
        inside = np.subtract(state["margins"], state["boxes"]).reshape(-1, 4)
        assert (inside[:, :2] <= 0).all()
        assert (inside[:, 2:] >= 0).all()
        assert max(node[4] for node in state["nodes"]) <= 16
        boxes = np.array(state["boxes"]).reshape(-1, 4)
        index = bp.BoxTree(boxes)
        assert all(balls == index.query_box(box).tolist() for box, balls in state["queries"])


def test_a_line_that_sweeps_tests_each_box_with_the_open_ones(evaluate):
    """A box is open from its first edge to its last; the tests are those of the early stop."""
    states = evaluate(
        """async () => {
            const { STEPS, stateOf } = await import('./steps.js');
            const { lineOf, pictureOf } = await import('./picture.js');
            const step = STEPS.find((step) => step.name === 'sorted');
            const touching = [[1, [60, 60]], [2, [60, 120]], [3, [75, 90]]];
            return step.values.map((value, slider) => {
                const { boxes, results: { sort_and_sweep: sorted } } = stateOf(step, slider, 0, touching);
                const picture = pictureOf(step, slider, 0, touching);
                const [own] = picture.lanes;
                return { axis: sorted.axis, boxes: [...boxes], early: sorted.tests, edges: own.sweep,
                         tests: [...own.tests], last: lineOf(own, Infinity), between: lineOf(own, 1.5).at };
            });
        }"""
    )
    for state in states:
        boxes, axis = np.array(state["boxes"]).reshape(-1, 4), state["axis"]
        low, high = boxes[:, axis], boxes[:, 2 + axis]
        tests = np.reshape(state["tests"], (-1, 2))
        early = np.reshape(state["early"], (-1, 2))
        assert sorted(map(sorted, tests.tolist())) == sorted(map(sorted, early.tolist()))
        assert len(state["edges"]) == 2 * len(boxes)
        assert state["between"] == np.mean([edge["at"] for edge in state["edges"][:2]])
        last = -np.inf
        for edge in state["edges"]:
            assert edge["at"] == (low if edge["isFirst"] else high)[edge["ball"]] >= last
            last = edge["at"]
            is_open = {*edge["open"]}
            assert is_open >= {*np.flatnonzero((low < last) & (last < high))}
            assert is_open <= {*np.flatnonzero((low <= last) & (last <= high))}
            made = tests[edge["before"] : edge["made"]]
            newcomer = {edge["ball"]} if edge["isFirst"] else set()
            assert {*made[:, 0].tolist()} == (is_open - newcomer if edge["isFirst"] else set())
            assert {*made[:, 1].tolist()} <= newcomer
        assert (state["last"]["at"], state["last"]["open"]) == (max(high), [])
        assert {*map(len, (edge["open"] for edge in state["edges"]))} > {0, 1, 2}
