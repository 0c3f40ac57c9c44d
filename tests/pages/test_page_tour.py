"""The tour in a real browser: as it is served, and as files that any server serves."""

import functools
import itertools
import re
import runpy
import shutil
import threading
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from page_reading import OVERLAPPING, STICKING_OUT, until

import broadphase as bp
from broadphase.tour import FOLDER

from .test_page_methods import STEPS

DOCS = Path(__file__).parents[2] / "docs"
THERE = "globalThis.tour?.drawn > 0 && tour.shown?.step === tour.step"


@pytest.fixture
def tour(server, tabs):
    """Opens the tour at a step and waits for its picture."""

    def at(step="all", query="", **options):
        page = tabs(f"{server.address}{query}#{step}", **options)
        until(page, THERE)
        return page

    return at


class Quiet(SimpleHTTPRequestHandler):
    """Serves files and says nothing."""

    def log_message(self, *_):
        """Nothing."""


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """The tour behind a plain server of files."""
    folder = tmp_path_factory.mktemp("site")
    shutil.copytree(FOLDER, folder, dirs_exist_ok=True)
    runpy.run_path(str(DOCS / "conf.py"))["_copy_tour"](SimpleNamespace(outdir=folder))
    with ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Quiet, directory=folder)) as running:
        thread = threading.Thread(target=running.serve_forever, daemon=True)
        thread.start()
        yield f"http://127.0.0.1:{running.server_address[1]}/"
        running.shutdown()


def next_picture(page):
    """Wait until what has changed is drawn."""
    page.evaluate("new Promise(done => requestAnimationFrame(() => requestAnimationFrame(() => done())))")


def go_to(page, step):
    page.evaluate("name => { location.hash = name; }", step)
    until(page, "name => tour.shown?.step.name === name", step)


def open_charts(page):
    """Look at the answer, which the charts show, and close it again."""
    page.evaluate("document.querySelectorAll('.step.now details').forEach(one => { one.open = true; })")
    until(page, "document.getElementById('cover').hidden")
    page.evaluate("document.querySelectorAll('.step.now details').forEach(one => { one.open = false; })")
    next_picture(page)


def figure(page, kind="test"):
    next_picture(page)
    return page.locator(f"#numbers [data-kind={kind}] dd").first.inner_text()


def shown_tests(page):
    return int(figure(page).split()[0].replace(",", ""))


def slide(page, value):
    page.locator("#slider").fill(str(value))
    until(page, "value => tour.shown.slider === value && !tour.playing", value)
    next_picture(page)


def handle(page):
    return page.evaluate("[tour.picture.handle.x, tour.picture.handle.y]")


def drag(page, dx, dy, moves=4):
    """Drag the marked ball or box, in the units of the picture; where it was."""
    x, y = handle(page)
    left, top, wide, _ = page.evaluate("tour.picture.window")
    box = page.locator(".room").first.bounding_box()
    scale = box["width"] / wide
    at = box["x"] + (x - left) * scale, box["y"] + (y - top) * scale
    page.mouse.move(*at)
    page.mouse.down()
    page.mouse.move(at[0] + dx * scale, at[1] + dy * scale, steps=moves)
    page.mouse.up()
    next_picture(page)
    return x, y


# ---- playing, sliding, dragging


def test_the_page_opens_with_the_tour_and_plays_slowly(tour):
    page = tour(motion="no-preference")
    assert page.locator("h2:visible").inner_text() == "One ball against all others"
    until(page, "tour.end > 1 && tour.end < tour.total")
    page.get_by_role("button", name="Pause").click()
    until(page, "!tour.playing")
    page.locator("#scrub").fill("5")
    until(page, "tour.end === 5")
    page.get_by_role("button", name="One test forward").click()
    until(page, "tour.end === 6")
    next_picture(page)
    assert "6 of 276" in page.locator("#numbers").inner_text()


def test_pairs_are_found_by_the_tests_that_find_them(tour):
    page = tour()
    assert page.evaluate("[tour.playing, tour.end >= tour.total]") == [False, True], (
        "less motion is asked for"
    )
    tests, hits = page.evaluate("[[...tour.picture.lanes[0].tests], [...tour.picture.hits]]")
    made = [{*tests[at : at + 2]} for at in range(0, len(tests), 2)]
    found = [{*hits[at : at + 2]} for at in range(0, len(hits), 2)]
    for end in (0, 100, made.index(found[0]) + 1, len(made)):
        page.locator("#scrub").fill(str(end))
        assert int(figure(page, "hit")) == sum(pair in made[:end] for pair in found), end


def test_the_reader_finds_the_answer_by_sliding_and_dragging(tour):
    page = tour("sorted")
    slide(page, 6)
    assert shown_tests(page) == 276
    slide(page, 0)
    before = shown_tests(page)
    x, _ = drag(page, -120, 0)
    assert abs(handle(page)[0] - (x - 120)) < 3
    assert shown_tests(page) != before
    assert not page.locator(".ask details:visible p").is_visible()
    page.locator(".ask summary:visible").click()
    assert "276" in page.locator(".ask details:visible p").inner_text()


def test_a_query_box_is_dragged(tour):
    page = tour("tree", "?slider=2")
    assert shown_tests(page) == 58
    assert figure(page, "own") == "5 of 9"
    drag(page, 0, 150)
    there = shown_tests(page)
    assert there == page.evaluate("tour.picture.state.query.made")
    found = page.evaluate("tour.picture.state.query.balls.length")
    assert int(figure(page, "hit")) == found
    page.locator("#scrub").fill("3")
    assert figure(page) == f"3 of {there}"
    assert figure(page, "hit") == "0"  # only nodes have been tested


def test_the_whole_tour_works_by_keyboard(tour):
    page = tour()
    for step in STEPS[1:]:
        page.evaluate("document.activeElement.blur()")
        page.keyboard.press("ArrowRight")
        until(page, "name => tour.shown?.step.name === name", step)
    page.evaluate("document.activeElement.blur()")
    page.keyboard.press("ArrowLeft")
    until(page, "tour.shown.step.name === 'lists'")
    page.locator(".room").focus()
    x = handle(page)[0]
    page.keyboard.press("ArrowRight")
    until(page, "x => tour.picture.handle.x === x + 8", x)
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.id") == "slider"


def test_the_link_to_the_picture_stays_at_the_step(tour):
    page = tour("cells")
    page.locator(".skip").focus()
    page.keyboard.press("Enter")
    until(page, "location.hash === '#stage'")
    next_picture(page)
    assert page.evaluate("[document.activeElement.id, tour.shown.step.name]") == ["stage", "cells"]


def test_any_ball_is_dragged_and_stays(tour):
    page = tour("sorted", "?slider=0&ball=60,60&ball=200,150,5")
    assert page.evaluate("[tour.picture.marked, ...tour.picture.state.balls.centers.slice(0, 2)]") == [
        5,
        60,
        60,
    ]
    drag(page, 30, -20)
    until(page, "location.search === '?slider=0&ball=60,60&ball=230,130,5'")
    x, y = page.evaluate("[...tour.picture.state.balls.centers.slice(16, 18)]")
    box, wide = page.locator(".room").bounding_box(), page.evaluate("tour.picture.window[2]")
    scale = box["width"] / wide
    page.mouse.move(box["x"] + x * scale, box["y"] + y * scale)
    page.mouse.down()
    page.mouse.up()
    next_picture(page)
    assert page.evaluate("tour.picture.marked") == 8
    page.locator(".room").focus()
    page.keyboard.press("n")
    next_picture(page)
    assert page.evaluate("tour.picture.marked") == 9


def test_a_guess_and_a_goal_are_kept(tour):
    page = tour("sorted", "?slider=6")
    guess = page.locator(".guess:visible")
    guess.get_by_role("button", name="in one row").click()
    assert guess.inner_text() == "Your guess: in one row. It is: in one column."
    assert page.locator(".ask details:visible p").is_visible()
    goal = page.locator(".goal:visible output")
    assert goal.inner_text().strip() == "Now: 276."
    page.goto(
        page.url.replace("?slider=6", "?slider=6&ball=60,40,1&ball=120,60,2&ball=200,90,3&ball=330,90,4")
    )
    until(page, THERE)
    assert "Done: " in goal.inner_text()
    slide(page, 5)
    assert "Now: the slider is at “10 % as wide, by left edge”. Done before: " in goal.inner_text()
    page.get_by_role("link", name="Your game").click()
    assert (
        "Sorted: you guessed in one row; it is in one column; goal reached"
        in page.locator("#guesses").inner_text()
    )
    page.locator("#guesses").get_by_role("link", name="All pairs").click()
    until(page, "tour.shown.step.name === 'all'")
    page.locator(".guess:visible input").fill("66")
    page.keyboard.press("Enter")
    assert page.locator(".guess:visible").inner_text() == "Your guess: 66, and it is right."


def test_methods_side_by_side_are_shown_test_by_test_and_counted_over_frames(tour):
    page = tour("together", "?slider=1")
    made = page.evaluate("tour.picture.lanes.map(({ made }) => made)")
    page.locator("#scrub").fill("12")
    next_picture(page)
    texts = [text.splitlines()[-1] for text in page.locator(".whose").all_inner_texts()]
    nouns = ["swaps" if name == "sweep_and_prune" else "tests" for name in page.evaluate("tour.step.methods")]
    expected = [f"12 of {one}" if one > 12 else str(one) for one in made]
    assert texts == [f"{count} {noun}" for count, noun in zip(expected, nouns, strict=True)]
    page.locator("#scrub").fill(str(max(made)))
    page.get_by_role("button", name="One test forward").click()  # into the next frame
    until(page, "tour.shown.frame === 1")
    more = page.evaluate("tour.picture.lanes.map(({ made }) => made)")
    texts = page.locator(".whose").all_inner_texts()
    assert all(f", {a + b:,} in all" in text for a, b, text in zip(made, more, texts, strict=True))
    slide(page, 7)  # of so many balls only a part is drawn
    assert not page.locator("#play").is_visible()


def test_the_counts_of_cells_are_those_of_the_picture_and_of_the_bars_whatever_an_entry_weighs(tour):
    page = tour("cells", "?slider=0")
    tests, cells = page.evaluate("tour.picture.lanes.map(({ tests, cells }) => [[...tests], [...cells]])[0]")
    pairs = {frozenset(pair) for pair in np.reshape(tests, (-1, 2)).tolist()}
    assert len(pairs) < shown_tests(page) == len(tests) / 2
    assert int(figure(page, "own")) == sum(cells[4::7])
    said = page.locator("#numbers").inner_text()
    assert f"{len(pairs)} of 276 pairs, some more than once" in said
    entries, tests = map(float, re.search(r"layouts: ([0-9.]+) entries and ([0-9.]+) tests", said).groups())
    open_charts(page)
    label = page.locator("#work").get_attribute("aria-label")
    assert f"18: {tests:.0f} tests and {entries:.0f} entries" in label
    before = page.locator("#work").evaluate("canvas => canvas.toDataURL()")
    page.get_by_label("An entry counts as").select_option("4 tests")
    next_picture(page)
    assert page.locator("#work").evaluate("canvas => canvas.toDataURL()") != before
    assert "90: 28 tests and 40 entries" in page.locator("#work").get_attribute("aria-label"), (
        "the counts stay"
    )


def test_the_charts_show_the_answer_after_the_guess(tour):
    for step, given in (("strips", "4.0"), ("cells", "pairs are missed")):
        page = tour(step)
        assert page.locator("#cover").is_visible()
        assert not page.locator("#work").is_visible()
        if step == "strips":
            page.locator("#strips input").fill(given)
            page.get_by_role("button", name="Guess").click()
            assert "and it is right" in page.locator(".step.now .guess").inner_text()
        else:
            page.get_by_role("button", name=given).click()
        until(page, "document.getElementById('cover').hidden")
        assert page.locator("#work").is_visible()


def test_the_cures_are_weighed_by_what_they_cost(tour):
    page = tour("twice", "?slider=3")
    open_charts(page)
    label = page.locator("#work").get_attribute("aria-label")
    assert "set: 19 tests and 9 checks" in label
    assert "marks: 14 tests and 19 checks" in label
    assert not page.locator("#weight").is_visible()


def test_balls_move_where_they_are_let(tour):
    page = tour("cells", "?slider=4")
    before = page.evaluate("[...tour.picture.centers]")
    page.get_by_label("Speed").select_option("fast")
    page.get_by_role("button", name="Let them move").click()
    until(page, "tour.motion > 6")
    assert "Now: " in page.locator(".goal:visible output").inner_text()
    assert "where they began" in page.locator("#caption").inner_text()
    page.get_by_role("button", name="Stop them").click()
    until(page, "!tour.drifting")
    after = page.evaluate("[...tour.picture.centers]")
    assert np.abs(np.subtract(after, before)).max() > 2
    slide(page, 3)  # they stay where they went
    assert page.evaluate("tour.motion") > 6
    assert not tour("kept").locator("#drift").is_visible(), "its frames move them"


def test_what_trees_take_is_said_below_their_pictures(tour):
    page = tour("tree", "?slider=2")
    said = page.locator(".count").all_inner_texts()
    pairs, quadtree, kd_tree = (
        [int(one.replace(",", "")) for one in re.findall("[0-9,]*[0-9]", text)] for text in said
    )
    boxes = page.evaluate("[...tour.picture.state.boxes]")
    index = bp.BoxTree(np.reshape(boxes, (-1, 4)).astype(np.float32))
    index.pairs()
    assert pairs == [96, 8, 7, index.stats.tests, 2128, 4560]
    squares, tested, all_boxes, total, made = quadtree
    assert (all_boxes, total, made) == (96, squares + tested, 58)
    assert len(page.evaluate("tour.picture.state.query.balls")) <= tested < 96
    found, parts, points, of = kd_tree
    assert (parts, of) == (32, 96)
    assert found <= points <= 4 * found


def test_only_a_near_and_a_far_edge_are_tested_and_swaps_are_shown_one_after_the_other(tour):
    page = tour("kept", "?slider=4")
    swaps, tests = page.evaluate(
        "[tour.picture.lanes[0].swaps.length / 3, tour.picture.lanes[0].tests.length / 2]"
    )
    assert 0 < tests < swaps
    assert shown_tests(page) == tests
    assert figure(page, "own") == str(swaps)
    pictures = set()
    for end in (0, 1, 40, 1000):
        page.locator("#scrub").evaluate(
            "(scrub, end) => { scrub.value = end; scrub.dispatchEvent(new Event('input')); }", end
        )
        next_picture(page)
        pictures.add(page.locator(".detail").evaluate("canvas => canvas.toDataURL()"))
    assert len(pictures) == 4
    assert "swap" in page.locator("#scrub-text").inner_text()


def test_a_ball_is_dragged_for_as_long_as_one_likes(tour):
    """WebKit refuses more than a hundred changes of the address in ten seconds; here it is 20 of 24."""
    page = tour("cells")
    page.evaluate(
        """() => {
            const change = history.replaceState.bind(history);
            let left = 20;
            history.replaceState = (...state) => {
                if (left-- <= 0) throw new DOMException('too many changes', 'SecurityError');
                change(...state);
            };
        }"""
    )
    drag(page, -150, 60, moves=24)
    assert handle(page) == [90, 210]
    until(page, "location.search === '?slider=6&ball=90,210'")


# ---- the address


def test_the_address_holds_what_is_shown_and_back_returns_to_it(tour):
    page = tour("cells")
    slide(page, 2)
    drag(page, -100, 40)
    until(page, "location.search + location.hash === '?slider=2&ball=140,190#cells'")
    tests = shown_tests(page)
    page.get_by_role("link", name="Next").click()
    until(page, "tour.shown.step.name === 'twice'")
    assert page.evaluate("location.search") == ""
    assert page.evaluate("tour.slider") == page.evaluate("tour.step.start")
    page.go_back()
    until(page, "tour.shown.step.name === 'cells'")
    assert (page.evaluate("tour.slider"), handle(page), shown_tests(page)) == (2, [140, 190], tests)
    page.go_forward()
    until(page, "tour.shown.step.name === 'twice'")
    again = tour("cells", "?slider=2&ball=140,190")
    assert shown_tests(again) == tests


def test_one_step_can_be_embedded(tour):
    page = tour("cells", "?embed=1", width=760, height=620)
    assert not page.locator(".verdict:visible, nav:visible").count()
    assert page.locator(".question:visible, .goal:visible").count() == 2
    slide(page, 1)
    until(page, "location.search === '?embed=1&slider=1'")
    link = page.get_by_role("link", name="The whole tour")
    assert link.get_attribute("href").endswith("?slider=1#cells")


def test_the_line_for_a_page_shows_the_step_as_it_is(tour):
    page = tour("cells", "?slider=2&ball=140,190")
    page.get_by_text("This step in a page of yours").click()
    line = page.locator("#embed-line").inner_text()
    address = re.fullmatch(
        r'<iframe src="([^"]*)" width="640" height="480" title="Cells: [^"]*"></iframe>', line
    )[1]
    tests = shown_tests(page)
    page.goto(address)
    until(page, THERE)
    assert page.evaluate("document.documentElement.classList.contains('embedded')")
    assert page.evaluate("tour.picture.lanes[0].made") == tests


# Of each selector the first that is visible.
BOXES = """
(selectors) => selectors.map((selector) => {
    const boxes = [...document.querySelectorAll(selector)]
        .filter((element) => element.checkVisibility({ visibilityProperty: true }))
        .map((element) => element.getBoundingClientRect());
    return boxes.find(({ width, height }) => width && height).toJSON();
})
"""
# Where the slider is before the answer is shown and after; in one go, as counts grow while the picture plays.
ANSWERED = """
() => {
    const place = () => document.getElementById('slider').getBoundingClientRect().y;
    const before = place();
    document.querySelector('.step.now summary').click();
    return [before, place()];
}
"""


def test_an_embedded_step_fits_into_a_small_frame(tour, exhaustive):
    size = "[document.documentElement.scrollWidth, document.documentElement.scrollHeight]"
    sizes = [(640, 480), (360, 640)]
    page = tour(STEPS[0], "?embed=1")
    parts = [".step.now .question", ".step.now .goal", "#views canvas", "#slider", "#whole"]
    for number, step in enumerate(STEPS):
        go_to(page, step)
        for width, height in sizes if exhaustive else sizes[number % 2 :][:1]:
            page.set_viewport_size({"width": width, "height": height})
            next_picture(page)
            assert page.evaluate(size) == [width, height], step
            for part, box in zip(parts, page.evaluate(BOXES, parts), strict=True):
                assert 0 <= box["y"] < box["y"] + box["height"] <= height, (step, part)
                assert 0 <= box["x"] < box["x"] + box["width"] <= width, (step, part)
            before, after = page.evaluate(ANSWERED)  # the answer lies over the question and moves nothing
            assert page.evaluate(size) == [width, height], step
            assert after == pytest.approx(before, abs=1), step  # pixels
            page.evaluate("document.querySelector('.step.now summary').click()")  # and is closed
    for step, part in (("moving", ".moving-room"), ("yours", "#your-game h3")):
        page = tour(step, "?embed=1")
        until(page, "part => [...document.querySelectorAll(part)].some((one) => one.checkVisibility())", part)
        assert page.locator("#whole").get_attribute("href").endswith(f"#{step}")
        for width, height in sizes:
            page.set_viewport_size({"width": width, "height": height})
            next_picture(page)
            assert page.evaluate("document.documentElement.scrollHeight") == height, step


def test_an_embedded_step_takes_the_theme_of_the_page_around(site, tabs):
    inside = f'<iframe src="{site}?embed=1#cells" width="900" height="700"></iframe>'
    around = f'<!doctype html><html data-theme="dark"><link rel="icon" href="data:,">{inside}'
    page = tabs("about:blank")
    page.route("**/around.html", lambda route: route.fulfill(content_type="text/html", body=around))
    page.goto(f"{site}around.html")
    frame = page.frames[1]
    until(frame, "document.documentElement.classList.contains('ready')")
    assert frame.evaluate("document.documentElement.dataset.theme") == "dark"
    page.evaluate("document.documentElement.dataset.theme = 'light'")
    until(frame, "document.documentElement.dataset.theme === 'light'")
    assert frame.evaluate("document.documentElement.scrollHeight <= innerHeight"), "all of it"


# ---- how it looks


def test_every_step_fits_at_every_width_light_and_dark(tour, exhaustive):
    widths = (390, 800, 1440, 1920) if exhaustive else (390,)
    for width in widths:
        theme = "dark" if width in (800, 1440) else "light"
        page = tour(width=width, theme=theme)
        if width <= 1024:  # there it lies over what scrolls
            page.evaluate("document.querySelector('.turn').style.display = 'none'")
        for step in STEPS:
            go_to(page, step)
            assert page.evaluate("document.documentElement.scrollWidth") <= width, step
            assert (
                page.evaluate(STICKING_OUT.replace("seen &&", "seen && !element.closest('.steps') &&")) == []
            )
            assert page.evaluate(OVERLAPPING) == [], step


# What a reader changes, and what that changes; of two charts the one of the slider.
SEEN = ["#views", "#slider", "#numbers", "#work, #charts:not(.two) :is(.detail, figure)", "#next, #previous"]
SHIFT = """
() => new Promise((done) => {
    let moved = 0;
    const watch = new PerformanceObserver((list) => {
        for (const { value } of list.getEntries()) moved += value;
    });
    watch.observe({ type: 'layout-shift', buffered: true });
    setTimeout(() => done(moved), 200);
})
"""


@pytest.mark.parametrize(
    ("width", "height", "first"),
    [
        (1440, 900, 0),
        pytest.param(1024, 768, 0, marks=pytest.mark.exhaustive),
        pytest.param(820, 1180, 0, marks=pytest.mark.exhaustive),
        (390, 844, 1),
    ],
)
def test_picture_slider_numbers_and_chart_share_the_first_screen(tour, exhaustive, width, height, first):
    """In the short run every second step on each of two screens."""
    page = tour("strips", width=width, height=height)
    assert page.evaluate(SHIFT) < 0.1
    asked = [".step.now .question", ".step.now .goal", "#views canvas"] if width > 400 else []
    for step in STEPS if exhaustive else STEPS[first::2]:
        go_to(page, step)
        for part, box in zip(asked, page.evaluate(BOXES, asked), strict=True):
            assert 0 <= box["y"] < box["y"] + box["height"] <= height, (step, part)
        open_charts(page)
        *boxes, bar = page.evaluate(BOXES, [*SEEN, ".turn"])
        boxes = dict(zip(SEEN, boxes, strict=True))
        bottom = bar["y"] if bar["y"] > height / 2 else height
        for name, box in boxes.items():
            end = height if "next" in name else bottom
            assert box["height"] > 20, (step, name)
            assert 0 <= box["y"] < box["y"] + box["height"] <= end, (step, name)
            assert 0 <= box["x"] < box["x"] + box["width"] <= width, (step, name)
        picture = boxes["#views"]
        assert picture["width"] * picture["height"] > 0.13 * width * height, step
        for one, other in itertools.combinations(list(boxes)[:4], 2):
            a, b = boxes[one], boxes[other]
            apart_in_y = a["y"] + a["height"] <= b["y"] + 1 or b["y"] + b["height"] <= a["y"] + 1
            apart_in_x = a["x"] + a["width"] <= b["x"] + 1 or b["x"] + b["width"] <= a["x"] + 1
            assert apart_in_y or apart_in_x, (step, one, other)


# ---- the words say what is counted


def counts(page, step, first=0):
    """Tests and entries of every value of a slider from the first that is wanted."""
    return page.evaluate(
        """async ([name, first]) => {
            const { STEPS, stateOf, entriesOf, workOf } = await import('./steps.js');
            const step = STEPS.find((step) => step.name === name);
            return step.values.slice(first).map((value, after) => {
                const slider = first + after;
                const { results, query } = stateOf(step, slider, 0, [], false);
                const one = Object.values(results).map((result) => [result.made, entriesOf(result)]);
                const work = step.hasQuery ? null : workOf(step, slider);
                const tests = one.map(([made]) => made);
                return { value, work, tests, entries: one[0][1], asked: query?.made,
                         levels: query && query.visited[0].level + 1 };
            });
        }""",
        [step, first],
    )


def test_the_answers_are_what_the_methods_count(tour):
    page = tour()
    words = (FOLDER / "index.html").read_text("utf-8")
    first = {step: [one["tests"][0] for one in counts(page, step)] for step in STEPS[:-1]}
    assert (first["all"][3], first["all"][6]) == (66, 276)
    assert first["sorted"][-2:] == [276, 46]
    assert "sorted by top edge, and the line sweeps from top to bottom: 46 tests" in words
    assert first["kept"][0] == 0
    assert first["kept"] == sorted(first["kept"])
    for step, best, weight in (("cells", 60, 1), ("strips", 4, 2)):
        each = counts(page, step)
        work = [one["work"]["tests"] + weight * one["work"]["entries"] for one in each]
        assert each[int(np.argmin(work))]["value"] == best
    cells = counts(page, "cells")
    entries = [one["work"]["entries"] for one in cells]
    assert entries == sorted(entries, reverse=True), "smaller cells, more entries"
    assert 6 < cells[0]["entries"] / 24 < 7
    assert "a ball has more than six entries" in words
    assert first["slots"][0] == 276 < first["slots"][1]
    steps = [(one["work"]["tests"], one["work"]["entries"]) for one in each]
    assert steps[:4] == [(197, 0), (179, 8), (130, 19), (85, 46)]
    assert "Four: 130 steps, and 19 extra copies that cost as much as 38 steps" in words
    assert "One strip takes 197 steps, two 179 + 16, eight 85 + 92" in words
    # The engine cuts as the words say.
    random = np.random.default_rng(1)
    for count, strips in ((200, [1]), (10_000, range(21, 30))):
        size = (count / 24) ** 0.5
        middles = random.random((count, 2)) * [480 * size, 300 * size]
        halves = 10 + 8 * random.random((count, 1))
        index = bp.Strips(np.hstack([middles - halves, middles + halves]))
        index.pairs()
        assert index.stats.cells in strips
    assert "77 comparisons and 31 tests, 108" in words
    sorts = """async () => {
        const { STEPS, stateOf } = await import('./steps.js');
        const step = STEPS.find((step) => step.name === 'sorted');
        const [{ sorting, made }] = Object.values(stateOf(step, 0, 0, [], false).results);
        return [sorting, made];
    }"""
    assert page.evaluate(sorts) == [77, 31]
    assert "96 if nothing moves, 104 in the first frame if balls hardly move" in words
    assert "on: 129, and 356 for a ball's width" in words
    assert "takes beyond the 96 looks, here 108" in words
    tests = page.evaluate(
        """async () => {
            const { STEPS, stateOf } = await import('./steps.js');
            const step = STEPS.find((step) => step.name === "kept");
            const found = [0, 1, 2, 4].map((slider) => stateOf(step, slider, 0, [], true).results);
            const results = found.map((all) => Object.values(all)[0]);
            return results.map(({ made, tests }) => 96 + made + tests.length / 2);
        }"""
    )
    assert tests == [96, 104, 129, 356]
    cost = [one["work"]["tests"] + one["work"]["entries"] for one in cells]
    assert cost[5] / cost[4] == pytest.approx(1.13, abs=0.005), "90 costs 13 % more"
    cost = [one["work"]["tests"] + 4 * one["work"]["entries"] for one in cells]
    assert np.argmin(cost) == 5
    assert cost[4] / cost[5] == pytest.approx(1.04, abs=0.005), "60 costs 4 % more"
    lists = [one["work"] for one in counts(page, "lists")]
    assert (lists[2]["tests"], lists[2]["entries"]) == (22, 208)
    assert "the sort takes 208 comparisons for 22 tests" in words
    tree = {one["value"]: one for one in counts(page, "tree")}
    assert [tree[n]["asked"] for n in (24, 48, 96, 768)] == [26, 52, 58, 117]
    assert "26 tests for 24 balls and 52 for 48" in words
    assert tree[768]["levels"] == tree[96]["levels"] + 1
    assert "117 instead of 58, and one level more" in words
    (last,) = (one["tests"] for one in counts(page, "together", first=10))
    tests = dict(zip(page.evaluate("tour.steps.at(-1).methods"), last, strict=True))
    assert min(tests, key=tests.__getitem__) == "uniform_grid"
    assert 0.8 < tests["uniform_grid"] / 12288 < 1, "slightly less than one per ball"
    assert tests["strips"] / tests["uniform_grid"] == pytest.approx(1.4, abs=0.05), "1.4 times as many"


def test_the_measured_times_are_drawn_and_strips_are_the_fastest(tour):
    page = tour("together", "?slider=10")
    open_charts(page)
    measured = page.evaluate("fetch('times.json').then((answer) => answer.json())")
    assert f"measured beforehand ({measured['machine']})" in page.locator(".step.now").inner_text()
    times = measured["methods"]
    values = page.evaluate("tour.step.values")
    assert all([row[0] for row in rows] == values for rows in times.values())
    assert all(least <= quartile for rows in times.values() for _, least, quartile in rows)
    assert min(times, key=lambda method: times[method][-1][1]) == "strips"
    assert "105 of 12,288 balls" in page.locator("#caption").inner_text()


def test_the_tour_ends_with_the_verdicts_and_the_map(tour):
    page = tour("together")
    page.get_by_role("link", name="Next").click()
    until(page, "tour.moving?.tests !== undefined")
    page.get_by_role("link", name="Next").click()
    until(page, "document.querySelectorAll('#who-wins .map-cells button').length === 16")
    assert page.locator("h2:visible").first.inner_text() == "Your game"
    assert page.locator("#ending:visible .which").count() == 1
    assert page.locator("#views:visible, #slider:visible, #next:visible").count() == 0
    page.set_viewport_size({"width": 390, "height": 844})
    assert all(page.locator(part).bounding_box()["width"] > 350 for part in ("#who-wins", ".step.now .idea"))
    page.set_viewport_size({"width": 1280, "height": 900})
    page.go_back()
    page.go_back()
    until(page, "tour.shown.step.name === 'together' && tour.picture.pairs > 0")
    page.go_forward()
    page.go_forward()
    page.get_by_role("link", name="Take the tour again").click()
    until(page, "tour.shown.step.name === 'all' && document.querySelector('#views').checkVisibility()")


def test_on_the_site_each_step_has_ways_home(site, tabs):
    page = tabs(f"{site}tour/#cells")
    until(page, THERE)
    ways = page.eval_on_selector_all(".top a", "all => all.map((one) => one.href)")
    assert {f"{site}index.html", f"{site}how-to/install.html"} <= {*ways}
    page.get_by_role("link", name="Your game").click()
    until(page, "Boolean(document.querySelector('#your-game').game)")
    ways = page.eval_on_selector_all("#ways a", "all => all.map((one) => one.href)")
    pages = [way.removeprefix(site).removesuffix(".html") for way in ways if way.endswith(".html")]
    assert len(pages) == 4
    assert all((DOCS / f"{name}.md").exists() for name in pages)


def test_on_the_site_verdicts_link_the_pages_of_their_methods(site, tabs):
    page = tabs(f"{site}tour/#yours")
    until(page, THERE)
    # The tour has a step for each method, and none for the default index.
    pages = [path.stem for path in (DOCS / "methods").glob("*.md") if path.stem != "auto"]
    there = sorted(f"{site}methods/{name}.html" for name in pages)
    links = page.eval_on_selector_all(".verdict + a.page", "all => all.map((one) => one.href)")
    assert sorted(links) == there
    page.goto(f"{site}#together")
    until(page, THERE)
    assert page.locator("a.page").count() == 0


def test_on_the_full_screen_the_picture_grows(tour):
    page = tour("cells", width=1440, height=900)
    before = page.locator(".room").bounding_box()["width"]
    page.evaluate("document.documentElement.classList.add('hall')")
    next_picture(page)
    assert page.locator(".room").bounding_box()["width"] > before


def test_a_tour_opened_as_a_file_says_how_to_see_it(tabs):
    tabs.excused = ("CORS", "Failed to load resource", "net::ERR_FAILED")
    page = tabs((FOLDER / "index.html").as_uri())
    assert page.locator("#late").is_hidden(), "a slow server is no file"
    page.evaluate("document.getElementById('late').getAnimations()[0].finish()")  # not five seconds later
    until(page, "getComputedStyle(document.getElementById('late')).visibility === 'visible'")
    assert "run broadphase tour" in page.locator("#late").inner_text()


def test_the_marks_of_copies_are_compared_side_by_side(tour):
    """Two balls are tested where both began in an earlier cell, one in a row, one in a column."""
    page = tour("twice", "?slider=3&ball=144,62,20")
    tested, reported, pairs = page.evaluate(
        "(({ tests, finds }) => [tests.length / 2, finds.length, tour.picture.pairs])(tour.picture.lanes[0])"
    )
    assert (tested, reported) == (16, pairs)
    assert "marked copies: began in an earlier column" in page.locator("#legend").inner_text()


def test_the_tour_is_taken_again_without_the_old_guesses(tour):
    page = tour("twice")
    page.get_by_role("button", name="a set").click()
    page.get_by_role("link", name="Your game").click()
    page.get_by_role("link", name="Take the tour again").click()
    until(page, "tour.shown.step.name === 'all'")
    page.get_by_role("link", name="Found twice?").click()
    assert page.locator(".step.now").get_by_role("button", name="a set").is_visible()
    assert page.locator("#cover").is_visible()


def test_a_ball_is_moved_by_keys_while_few_tests_are_shown(tour):
    page = tour("cells", "?slider=4")
    page.locator("#scrub").fill("2")
    page.locator(".room").focus()
    page.keyboard.press("ArrowRight")
    next_picture(page)
    assert page.evaluate("tour.end") == 2
    page.locator("#scrub").fill("13")
    page.locator(".room").focus()
    page.keyboard.press("ArrowRight")
    next_picture(page)
    assert page.evaluate("tour.end >= tour.total")


def test_bars_and_numbers_agree_while_balls_move(tour):
    page = tour("strips", "?slider=0")
    open_charts(page)
    page.get_by_role("button", name="Let them move").click()
    until(page, "tour.motion > 20")
    page.get_by_role("button", name="Stop them").click()
    next_picture(page)
    steps = page.locator("#numbers div", has_text="steps").locator("dd").first.inner_text()
    assert f"1: {steps} steps" in page.locator("#work").get_attribute("aria-label")
