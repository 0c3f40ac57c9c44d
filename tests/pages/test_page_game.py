"""The end of the tour: what it says about the reader's game is what was measured, and its programs run."""

import itertools

import numpy as np
import pytest
from cases import covering
from page_reading import until

import broadphase as bp

from .test_page_map import AXES, CELLS, DATA, METHODS

ASK = """
(state) => {
    const { game } = document.querySelector('#your-game');
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
    return lambda **state: page.evaluate(ASK, state)


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
        default = times.pop(DATA["auto"])
        chosen = fastest = min(times, key=times.__getitem__)
        if default * (1.15 if state["share"] else 1 / 1.15) < times[fastest]:
            chosen = DATA["auto"]
            assert said["title"] == "The default", state
        else:
            assert said["title"] == chosen.replace("_", " ").capitalize(), state
        times[DATA["auto"]] = default
        is_close = default <= 1.15 * times[fastest] or ms * (default - times[fastest]) <= 0.1
        used = "make_index" if is_close else DATA["classes"][chosen]
        assert f"index = bp.{used}()" in said["code"], state
        number, unit = said["words"].partition("A frame takes about ")[2].split(",")[0].split()
        factor = {"\N{MICRO SIGN}s": 1e-3, "ms": 1, "s": 1e3}[unit]
        assert float(number) * factor == pytest.approx(ms * times[chosen], rel=0.15), state


def test_the_programs_run_and_find_what_there_is(ask):
    random = np.random.default_rng(3)
    corner = random.random((60, 2)) * 30
    boxes = np.hstack([corner, corner + random.random((60, 2)) * 4])
    for n, share, what in itertools.product((100, 10_000), AXES["share"], AXES["ask"]):
        code = ask(ask=what, n=n, share=share, spread=1, layout="uniform")["code"]
        names = {"boxes": boxes, "queries": boxes[:5], "moved": np.array([1, 2])}
        exec(code, names)
        if what == "queries":
            assert len(names["found"]) == len(bp.join(boxes[:5], boxes))
        else:
            found = names["pairs"] if what == "pairs" else np.vstack([names["began"], names["stayed"]])
            assert sorted(found.tolist()) == bp.pairs(boxes).tolist(), code


def test_the_questions_and_the_map_are_one(server, tabs):
    page = tabs(f"{server.address}#yours")
    until(page, "Boolean(document.querySelector('#your-game').game)")
    page.locator("input[name=game-layout][value=line]").check(force=True)
    assert page.locator("input[name=map-layout][value=line]").is_checked()
    page.locator("input[name=map-ask][value=queries]").check(force=True)
    assert page.locator("input[name=game-ask][value=queries]").is_checked()


def test_a_game_of_the_table_and_its_panel_name_one_method(server, tabs):
    page = tabs(f"{server.address}#yours")
    until(page, "Boolean(document.querySelector('#your-game').game)")
    for row in page.locator(".which tr:has(button)").all():
        row.locator("button").click()
        assert page.locator("#your-game h3").inner_text() == row.locator("td").first.inner_text()


@pytest.mark.parametrize(("width", "theme"), [(390, "dark"), (1440, "light")])
def test_the_end_can_be_read_by_all(server, tabs, width, theme):
    page = tabs(f"{server.address}#yours", width=width, theme=theme)
    until(page, "Boolean(document.querySelector('#your-game').game)")
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert page.evaluate("scrollY") == 0
    axe = pytest.importorskip("axe_playwright_python.sync_playwright").Axe()
    assert axe.run(page, options={"preload": False}).response["violations"] == []
