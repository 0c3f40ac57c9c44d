"""The map of who wins: what it shows is what was measured, in every state of its controls."""

import functools
import itertools
import json
import shutil
import threading
from http.server import ThreadingHTTPServer

import numpy as np
import pytest
from page_reading import STICKING_OUT, until

import broadphase as bp
from broadphase.tour import FOLDER

from .test_page_tour import Quiet

DATA = json.loads((FOLDER / "map.json").read_text("utf-8"))
AXES, METHODS = DATA["axes"], DATA["methods"]
CELLS = dict(zip(itertools.product(*AXES.values()), DATA["cells"], strict=True))
PAGE = """<!doctype html><html lang="en"><title>Map</title><link rel="stylesheet" href="palette.css">
<meta name="viewport" content="width=device-width"><link rel="icon" href="data:,">
<body style="font-family: sans-serif; background: var(--page); color: var(--ink)"><main><h1>Map</h1>
<h2>Who wins</h2><div id="who-wins"></div></main><script type="module">
import { mountMap } from "./map.js";
const system = matchMedia("(prefers-color-scheme: dark)");
document.documentElement.dataset.theme = system.matches ? "dark" : "light";
mountMap(document.querySelector("#who-wins"), { spread: 1000 });
</script></body></html>"""


@pytest.fixture(scope="module")
def address(tmp_path_factory):
    """A page with the map behind a plain server of files."""
    folder = tmp_path_factory.mktemp("map")
    shutil.copytree(FOLDER, folder, dirs_exist_ok=True)
    (folder / "map.html").write_text(PAGE, "utf-8")
    with ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Quiet, directory=folder)) as running:
        threading.Thread(target=running.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{running.server_address[1]}/map.html"
        running.shutdown()


@pytest.fixture
def shown(address, tabs):
    """Opens the page and waits for the map."""

    def at(**options):
        page = tabs(address, **options)
        until(page, "Boolean(document.querySelector('#who-wins').map)")
        return page

    return at


def best(cell):
    """The fastest single method."""
    times = {name: time or float("inf") for name, time in zip(METHODS, cell[1:], strict=True)}
    del times[DATA["auto"]]
    return min(times, key=times.__getitem__)


def class_of(method):
    return type(bp.make_index(method)).__name__


def choose(page, axis, value):
    page.locator(f"input[name=map-{axis}][value='{value}']").check(force=True)


def test_the_data_is_of_indexes_that_there_are():
    assert set(METHODS) <= set(bp.INDEXES)
    assert DATA["auto"] == bp.make_index().name
    assert all(class_of(name) == made for name, made in DATA["classes"].items())
    assert any(DATA["cells"])
    for ms, *times in filter(None, DATA["cells"]):
        assert ms > 0
        assert len(times) == len(METHODS)
        assert min(time for time in times if time is not None) == 1


def test_every_cell_of_every_state_shows_the_winner_of_the_data(shown):
    page, before = shown(), {}
    for ask, spread, layout in itertools.product(AXES["ask"], AXES["spread"], AXES["layout"]):
        state = {"ask": ask, "spread": spread, "layout": layout}
        for axis, value in state.items() - before.items():
            choose(page, axis, value)
        before = state
        cells = page.evaluate(
            """() => [...document.querySelectorAll('.map-cells button')].map(
                (cell) => [Number(cell.dataset.n), Number(cell.dataset.share), cell.firstChild.textContent]
            )"""
        )
        assert len(cells) == len(AXES["n"]) * len(AXES["share"])
        for n, share, name in cells:
            assert name == class_of(best(CELLS[ask, n, share, spread, layout])), (
                ask,
                n,
                share,
                spread,
                layout,
            )


def test_the_chosen_cell_shows_all_indexes_and_python_for_the_best(shown):
    page = shown()
    choose(page, "ask", "changes")
    for n, share in itertools.product(AXES["n"], AXES["share"]):
        page.locator(f".map-cells button[data-n='{n}'][data-share='{share:g}']").click()
        cell = CELLS["changes", n, share, 1000, "uniform"]
        bars = page.eval_on_selector_all(
            ".bars li", "all => all.map((bar) => [bar.dataset.method, bar.querySelector('.times').innerText])"
        )
        bars = [(method, words.rpartition(" ")[0]) for method, words in bars]
        assert {method for method, _ in bars} == set(METHODS)
        for method, words in bars:
            time, least = (cell[1 + METHODS.index(one)] for one in (method, best(cell)))
            if time is None:
                assert words == f"more than {int(20 / least)}"
            else:
                assert float(words) == pytest.approx(time / least, abs=0.5 if time / least >= 9.9 else 0.06)
        code = page.locator(".map-detail code").inner_text().splitlines()
        assert code[2] == f"index = bp.{class_of(best(cell))}()"
        boxes = np.array([[0.0, 0, 2, 2], [1, 1, 3, 3], [5, 5, 6, 6]])
        exec("\n".join(code), {"boxes": boxes, "moved": np.array([1]), "queries": boxes[:1]})
        assert f"{n:,} boxes" in page.locator(".map-detail h3").inner_text()
        assert "undefined" not in page.locator("#who-wins").inner_text()


def test_an_index_that_is_none_of_the_seven_has_its_place(address, tabs):
    """As an index that is added later: it is named, coloured and ranked like the others."""

    def answer(route):
        cells = [[ms, 1.0, *(time and time + 1 for time in times)] for ms, *times in DATA["cells"]]
        more = {"classes": {**DATA["classes"], "adaptive": "Adaptive"}, "cells": cells}
        route.fulfill(json={**DATA, "methods": ["adaptive", *METHODS], **more})

    page = tabs("about:blank")
    page.route("**/map.json", answer)
    page.goto(address)
    until(page, "Boolean(document.querySelector('#who-wins').map)")
    assert page.locator(".map-cells button").first.inner_text().startswith("Adaptive")
    assert "index = bp.Adaptive()" in page.locator(".map-detail code").inner_text()
    assert "undefined" not in page.locator("#who-wins").inner_text()
    shade = "bar => getComputedStyle(bar).backgroundColor"
    assert page.locator(".bars .bar").first.evaluate(shade) == "rgb(70, 112, 143)"


def test_the_map_works_by_keyboard(shown):
    page = shown()
    assert page.locator(".map-cells button[tabindex='0']").count() == 1
    page.locator("input[name=map-layout]:checked").focus()
    page.keyboard.press("ArrowRight")
    assert page.evaluate("document.querySelector('#who-wins').map.state.layout") == "clumped"
    page.keyboard.press("Tab")
    for key in ("ArrowDown", "ArrowRight", "ArrowRight", "ArrowUp", "ArrowUp", "ArrowUp"):
        page.keyboard.press(key)
    state = page.evaluate("document.querySelector('#who-wins').map.state")
    assert (state["n"], state["share"]) == (100, 1)
    assert page.evaluate("document.activeElement.ariaPressed") == "true"


@pytest.mark.covering
@pytest.mark.parametrize("width", [390, 800, 1440])
@pytest.mark.parametrize("theme", ["light", "dark"])
def test_the_map_fits_and_can_be_read_by_all(shown, width, theme):
    page = shown(width=width, theme=theme)
    for ask in AXES["ask"]:
        choose(page, "ask", ask)
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        assert (
            page.evaluate(STICKING_OUT.replace("seen &&", "seen && !element.closest('label, caption') &&"))
            == []
        )
    axe = pytest.importorskip("axe_playwright_python.sync_playwright").Axe()
    assert axe.run(page, options={"preload": False}).response["violations"] == []


def test_the_map_asks_for_nothing_but_its_own_files(address, shown):
    page = shown()
    names = page.evaluate("performance.getEntriesByType('resource').map(({ name }) => name)")
    assert all(name.startswith((address.removesuffix("map.html"), "data:")) for name in names)
