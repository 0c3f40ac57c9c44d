"""The verdicts in the tour and the docs are those of the data of the map."""

import itertools
import json
import math
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "benchmarks"))
verdicts = pytest.importorskip("verdicts")
sys.path.pop(0)

DATA = json.loads(verdicts.MAP.read_text("utf-8"))
AXES, METHODS = DATA["axes"], DATA["methods"]


def made_up(time_of, methods=("box_tree", "adaptive")):
    """A map of indexes whose times, in times the fastest, are given by a function of the scene."""
    cells = []
    for scene in itertools.product(*AXES.values()):
        where = dict(zip(AXES, scene, strict=True))
        cells.append([1.0, *(time_of(method, **where) for method in methods)])
    classes = {method: method.title() for method in methods}
    return {"axes": AXES, "methods": list(methods), "auto": methods[-1], "classes": classes, "cells": cells}


def test_the_pages_say_what_follows_from_the_data():
    found = verdicts.verdicts(DATA)
    text = verdicts.CHOOSING.read_text("utf-8")
    assert verdicts.choosing_with(text, DATA) == text, "run python benchmarks/verdicts.py"
    assert all(wins in text and loses in text for wins, loses in found.values())


@pytest.mark.parametrize("method", METHODS)
def test_the_numbers_in_the_words_are_those_of_the_cells(method):
    """Counted again, cell by cell."""
    column = 1 + METHODS.index(method)
    scenes = list(itertools.product(*(range(len(values)) for values in AXES.values())))
    times = {scene: cell[column] for scene, cell in zip(scenes, DATA["cells"], strict=True)}
    table = verdicts.times_of(DATA)[..., METHODS.index(method)]
    for mask, is_marked in (
        (table <= 1.1, lambda time: time is not None and time <= 1.1),
        (table >= 3, lambda time: time is None or time >= 3),
    ):
        gone = set()
        for part, marked, size in verdicts.parts_of(mask, AXES):
            inside = [scene for scene in scenes if all(k in own for k, own in zip(scene, part, strict=True))]
            here = {scene for scene in inside if is_marked(times[scene])} - gone
            gone |= set(inside)
            assert (len(here), len(inside)) == (marked, size)
            assert marked >= 0.75 * size


def test_words_follow_the_data_of_an_index_that_nobody_has_written_about():
    def time_of(method, ask, n, share, **_):
        if method == "adaptive":
            return 1.05 if ask == "queries" else 1.0
        if ask == "queries":
            return 1.0
        return 4.0 if n >= 10_000 and share == 1 else 2.0

    found = verdicts.verdicts(made_up(time_of))
    assert found["adaptive"] == ("always (432 of 432)", "never")
    assert found["box_tree"][0] == "when you ask for queries (144 of 144)"
    everything = "there are 10,000 boxes or more and everything moves"
    assert found["box_tree"][1] == f"when you ask for all pairs or what changed, {everything} (36 of 36)"
    said = verdicts.of_the_default(made_up(time_of))
    assert "makes `Adaptive`" in said
    assert "for 100 queries 1.1 times" in said


def test_scenes_and_indexes_that_were_not_measured_are_not_judged():
    data = made_up(lambda method, **_: 1.0 if method == "adaptive" else math.inf)
    data["cells"][::2] = [None] * 216
    assert verdicts.verdicts(data)["adaptive"] == ("always (216 of 216)", "never")
    assert "1.0 times (at worst 1.0 times)" in verdicts.of_the_default(data)
    data["classes"]["auto"], data["auto"] = "New", "auto"
    assert verdicts.of_the_default(data) == "`bp.make_index()` makes `New`, which was not measured."


def test_what_happens_here_and_there_is_no_part():
    def at(*there):
        """A tree that wins in these scenes and takes as long as one likes elsewhere."""
        return made_up(lambda method, **scene: 1.0 if method == "adaptive" or scene in there else math.inf)

    scenes = [dict(zip(AXES, scene, strict=True)) for scene in itertools.product(*AXES.values())]
    still = [scene for scene in scenes if (scene["n"], scene["share"], scene["spread"]) == (100, 0, 1)]
    assert verdicts.verdicts(at(*still))["box_tree"][0] == (
        "when there are 100 boxes, nothing moves and all have one size (9 of 9)"
    )
    wins, loses = verdicts.verdicts(at(still[0]))["box_tree"]
    assert wins == "nowhere in particular (1 of 432 scenes)"
    assert loses == "in most scenes (431 of 432)"
