"""The figures on the pages of the methods: their steps are those of the Python beside them."""

import functools
import html
import itertools
import shutil
import threading
from http.server import ThreadingHTTPServer
from pathlib import Path

import numpy as np
import pytest
from page_reading import until
from test_ideas import PAGES, whole_code

import broadphase as bp
from broadphase.tour import FOLDER

from .test_page_tour import Quiet

DOCS = Path(__file__).parents[2] / "docs"
# The default index has no figure: its parts have.
FIGURES = [
    name for name in PAGES if f'data-method="{name}"' in (DOCS / f"methods/{name}.md").read_text("utf-8")
]
# As in method.js.
OPTIONS = {
    "uniform_grid": {"cell": 60, "columns": 9, "rows": 6},
    "spatial_hash": {"cell": 60, "slots": 31},
    "strips": {"height": 75},
}
PAGE = """<!doctype html><html lang="en" data-theme="{theme}"><title>Figure</title>
<meta name="viewport" content="width=device-width"><link rel="icon" href="data:,">
<link rel="stylesheet" href="_static/site.css"><link rel="stylesheet" href="tour/palette.css">
<body style="font-family: sans-serif; background: var(--page); color: var(--ink)"><main><h1>{name}</h1>
<div class="method-figure" data-method="{name}"></div>
<script type="module" src="_static/method.js"></script>{code}</main></body></html>"""

CODE = '<div class="idea"><pre tabindex="0" style="color: var(--ink); overflow-x: auto">{}</pre></div>'


def test_every_page_but_that_of_the_default_has_a_figure():
    assert set(PAGES) - set(FIGURES) == {"auto"}


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """One page for each method and theme behind a plain server of files."""
    folder = tmp_path_factory.mktemp("ideas")
    shutil.copytree(FOLDER, folder / "tour")
    static = folder / "_static"
    static.mkdir()
    for name in ("method.js", "site.css"):
        (static / name).write_bytes((DOCS / "_static" / name).read_bytes())
    for name, theme in itertools.product(FIGURES, ("light", "dark")):
        code = CODE.format(html.escape(whole_code.idea(name)))
        (folder / f"{name}-{theme}.html").write_text(PAGE.format(name=name, code=code, theme=theme), "utf-8")
    with ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Quiet, directory=folder)) as running:
        threading.Thread(target=running.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{running.server_address[1]}"
        running.shutdown()


@pytest.fixture
def opened(site, tabs):
    def at(name, theme="light", width=1440):
        page = tabs(f"{site}/{name}-{theme}.html", width=width)
        until(page, "Boolean(document.querySelector('.method-figure').figure)")
        return page

    return at


def compared_by(name, now, before):
    """What the Python of the page compares, in order: two rows, or one and None for a node; and its pairs."""
    ideas, made = whole_code.load_ideas(), []
    row_of = {id(box): row for row, box in enumerate(now)}
    overlap = ideas.overlap

    def noted(a, b):
        made.append((row_of.get(id(a)), row_of.get(id(b))))
        return overlap(a, b)

    ideas.overlap = noted
    if name == "sweep_and_prune":
        edges = [
            sorted(
                ((i, far) for i in range(len(before)) for far in (0, 1)),
                key=lambda edge: (before[edge[0]][axis + 2 * edge[1]], edge[1], edge[0]),
            )
            for axis in (0, 1)
        ]
        pairs = set(map(tuple, bp.pairs(np.array(before, np.float64)).tolist()))
        return made, ideas.sweep_and_prune(now, pairs, edges)
    return made, getattr(ideas, name)(now, **OPTIONS.get(name, {}))


@pytest.mark.parametrize("name", FIGURES)
def test_the_figure_of_a_page_is_what_the_python_beside_it_does(opened, name):
    page = opened(name)
    check_marks(page)
    for scene in (0, 1):
        page.locator("input[name=scene]").nth(scene).check()
        check_steps(page, name)
    for width in (1440, 390):
        page.set_viewport_size({"width": width, "height": 900})
        block = page.locator(".idea pre")
        assert block.evaluate("pre => pre.scrollWidth <= pre.clientWidth")
        assert block.evaluate("pre => pre.textContent") == whole_code.idea(name), (
            "a copy of what is seen runs"
        )


def check_steps(page, name):
    """The steps of a figure are the comparisons of the Python."""
    figure = page.evaluate(
        """() => {
            const { figure } = document.querySelector('.method-figure');
            const steps = figure.steps.filter((step) => step.test).map(({ i, j }) => [i, j ?? null]);
            figure.goTo(figure.steps.length);
            const pairs = [...figure.soFar().found].map((key) => key.split(' ').map(Number));
            return { now: figure.boxes, before: figure.before, steps, pairs };
        }"""
    )
    made, pairs = compared_by(name, figure["now"], figure["before"])
    if name == "box_tree":  # the box comes second where a node is visited
        made = [(b, None) if a is None else (a, b) for a, b in made]
    assert [sorted(map(str, one)) for one in figure["steps"]] == [sorted(map(str, one)) for one in made]
    expected = bp.pairs(np.array(figure["now"], np.float64)).tolist()
    assert sorted(map(list, pairs)) == expected
    assert sorted(figure["pairs"]) == expected


def check_marks(page):
    """Every step marks one line."""
    marked = page.evaluate(
        """() => {
            const { figure } = document.querySelector('.method-figure');
            const marked = new Set();
            for (let at = 1; at <= figure.steps.length; at++) {
                figure.goTo(at);
                const lines = document.querySelectorAll('.code-line.now');
                if (lines.length !== 1) return [];
                marked.add(lines[0].textContent.trim());
            }
            return [...marked];
        }"""
    )
    assert any("overlap(" in line for line in marked)
    assert any("pairs.add(" in line for line in marked)


def test_a_figure_plays_steps_and_is_dragged(opened):
    page = opened("sort_and_sweep")
    page.get_by_role("button", name="One step forward").click()
    assert page.locator(".code-line.now").inner_text().strip().startswith("order = sorted(")
    page.get_by_role("button", name="Play").click()
    until(page, "document.querySelector('.method-figure').figure.at > 3")
    page.get_by_role("button", name="Pause").click()
    x, y = page.evaluate("document.querySelector('.method-figure').figure.boxes[0]")[:2]
    page.locator("canvas").focus()
    page.keyboard.press("ArrowRight")
    assert page.evaluate("document.querySelector('.method-figure').figure.boxes[0]")[:2] == [x + 8, y]


@pytest.mark.covering
@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("width", [390, 1440])
def test_a_figure_can_be_read_by_all(opened, width, theme):
    axe = pytest.importorskip("axe_playwright_python.sync_playwright").Axe()
    page = opened("uniform_grid", theme, width)
    page.get_by_role("button", name="One step forward").click()
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert axe.run(page, options={"preload": False}).response["violations"] == []
