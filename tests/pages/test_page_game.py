"""The end of the tour: what it says about the reader's game is what was measured, and its programs run."""

import itertools

import numpy as np
import pytest
from cases import covering
from page_reading import until

import broadphase as bp

from .test_page_map import AXES, CELLS, DATA, METHODS

EXTRAS = list(itertools.product((False, True), repeat=2))
ASK = """
([state, lists, walls]) => {
    const { game } = document.querySelector('#your-game');
    Object.assign(game.extras, { lists, walls });
    game.map.choose(state);
    const text = (name) => game.answer.querySelector(name)?.innerText;
    return { title: text('h3'), code: text('code'), words: game.answer.innerText };
}
"""


@pytest.fixture
def ask(server, tabs):
    """Answers of the page about a game."""
    page = tabs(f"{server.address}#yours")
    until(page, "Boolean(document.querySelector('#your-game').game)")
    return lambda lists=False, walls=False, **state: page.evaluate(ASK, [state, lists, walls])


def states():
    return [dict(zip(AXES, scene, strict=True)) for scene in itertools.product(*AXES.values())]


def test_index_and_time_are_those_of_the_map(ask, exhaustive):
    for state in states() if exhaustive else covering(states(), together=2):
        cell = CELLS[tuple(state.values())]
        said = ask(**state)
        if cell is None:
            assert said["words"] == "This was not measured."
            continue
        ms, times = cell[0], {name: time or np.inf for name, time in zip(METHODS, cell[1:], strict=True)}
        chosen = min(times, key=times.__getitem__)
        if times["box_tree"] <= 1.15:
            chosen = "box_tree"
        if times[DATA["auto"]] <= 1.15 or ms * (times[DATA["auto"]] - 1) <= 0.1:
            chosen = DATA["auto"]
        assert said["title"].partition(",")[0] == DATA["classes"][chosen], state
        number, unit = said["words"].partition("A frame takes about ")[2].split(",")[0].split()
        factor = {"\N{MICRO SIGN}s": 1e-3, "ms": 1, "s": 1e3}[unit]
        assert float(number) * factor == pytest.approx(ms * times[chosen], rel=0.15), state


def test_the_programs_run_and_find_what_there_is(ask, each):
    each(lambda lists, walls: run_programs(ask, lists, walls), EXTRAS)


def run_programs(ask, lists, walls):
    random = np.random.default_rng(3)
    corner = random.random((60, 2)) * 30
    boxes = np.hstack([corner, corner + random.random((60, 2)) * 4])
    wall = np.array([[0.0, 10, 30, 12]])
    for n, share, what in itertools.product((100, 10_000), AXES["share"], AXES["ask"]):
        if lists and what != "pairs":
            continue
        code = ask(lists, walls, ask=what, n=n, share=share, spread=1, layout="uniform")["code"]
        names = {
            "boxes": boxes,
            "bullets": boxes[:20],
            "enemies": boxes[20:],
            "walls": wall,
            "queries": boxes[:5],
            "moved": np.array([1, 2]),
        }
        exec(code, names)
        every = np.vstack([boxes, wall]) if walls else boxes
        if lists:
            assert names["hits"].tolist() == bp.join(boxes[:20], boxes[20:]).tolist()
            assert not walls or names["stopped"].tolist() == bp.join(boxes[:20], wall).tolist()
        elif what == "queries":
            assert len(names["found"]) == len(bp.join(boxes[:5], every))
        else:
            found = names["pairs"] if what == "pairs" else np.vstack([names["began"], names["stayed"]])
            assert sorted(found.tolist()) == bp.pairs(every).tolist(), code


def test_the_questions_and_the_map_are_one(server, tabs):
    page = tabs(f"{server.address}#yours")
    until(page, "Boolean(document.querySelector('#your-game').game)")
    page.locator("input[name=game-layout][value=line]").check(force=True)
    assert page.locator("input[name=map-layout][value=line]").is_checked()
    page.locator("input[name=map-ask][value=queries]").check(force=True)
    assert page.locator("input[name=game-ask][value=queries]").is_checked()
    page.locator("input[name=game-lists]").check()
    assert page.locator("input[name=game-ask][value=pairs]").is_checked()
    assert page.locator("input[name=game-ask][value=changes]").is_disabled()
    assert page.locator("#your-game h3").inner_text() == "bp.join"


@pytest.mark.parametrize(("width", "theme"), [(390, "dark"), (1440, "light")])
def test_the_end_can_be_read_by_all(server, tabs, width, theme):
    page = tabs(f"{server.address}#yours", width=width, theme=theme)
    until(page, "Boolean(document.querySelector('#your-game').game)")
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert page.evaluate("scrollY") == 0
    axe = pytest.importorskip("axe_playwright_python.sync_playwright").Axe()
    assert axe.run(page, options={"preload": False}).response["violations"] == []
