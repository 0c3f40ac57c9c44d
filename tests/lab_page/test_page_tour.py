"""The tour in a real browser: on the live engine, and as files that any server serves."""

import functools
import threading
from dataclasses import replace
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer

import pytest
from page_reading import until

from broadphase.lab.tour import export
from broadphase.lab.tour_steps import STEPS

from .test_page_looks import OVERLAPPING, STICKING_OUT

THERE = "globalThis.tour?.drawn > 0 && tour.shown?.step === tour.step"


@pytest.fixture
def tour(server, tabs):
    """Opens the tour at a step and waits for its picture."""

    def at(step="all", **options):
        page = tabs(f"{server.address}#{step}", **options)
        until(page, THERE)
        return page

    return at


class Quiet(SimpleHTTPRequestHandler):
    """Serves files and says nothing."""

    def log_message(self, *_):
        """Nothing."""


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """A recorded tour, with few places, behind a plain server of files."""
    folder = tmp_path_factory.mktemp("site")
    few = [replace(step, places=(3, 2)) for step in STEPS if step.name in ("all", "kept")]
    export(folder, steps=tuple(few))
    with ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Quiet, directory=folder)) as running:
        thread = threading.Thread(target=running.serve_forever, daemon=True)
        thread.start()
        yield f"http://127.0.0.1:{running.server_address[1]}/"
        running.shutdown()


def shown_tests(page):
    return int(page.locator("#numbers [data-kind=test] dd").first.inner_text().split()[0].replace(",", ""))


def next_picture(page):
    """Wait until what has changed is drawn."""
    page.evaluate("new Promise(done => requestAnimationFrame(() => requestAnimationFrame(() => done())))")


def slide(page, value):
    page.locator("#slider").fill(str(value))
    until(page, "value => tour.shown.slider === value && !tour.playing", value)
    next_picture(page)


def drag(page, dx, dy):
    ball = page.evaluate("[...tour.picture.centers.slice(0, 2)]")
    box = page.locator(".room").first.bounding_box()
    scale = box["width"] / 480
    x, y = box["x"] + ball[0] * scale, box["y"] + ball[1] * scale
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(x + dx * scale, y + dy * scale, steps=4)
    page.mouse.up()
    return ball


def test_the_page_opens_with_the_tour_and_plays_slowly(tour):
    page = tour()
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
    assert page.get_by_role("link", name="Open the sandbox").get_attribute("href") == "sandbox"


def test_pairs_are_found_by_the_tests_that_find_them(tour):
    page = tour()
    tests, hits = page.evaluate("[[...tour.picture.lanes[0].tests], [...tour.picture.hits]]")
    made = [{*tests[at : at + 2]} for at in range(0, len(tests), 2)]
    found = [{*hits[at : at + 2]} for at in range(0, len(hits), 2)]
    for end in (0, 100, made.index(found[0]) + 1, len(made)):
        page.locator("#scrub").fill(str(end))
        next_picture(page)
        shown = page.locator("#numbers [data-kind=hit] dd").first.inner_text()
        assert int(shown) == sum(pair in made[:end] for pair in found), end


def test_the_reader_finds_the_answer_by_sliding_and_dragging(tour):
    page = tour("sorted")
    slide(page, 6)
    assert shown_tests(page) == 276
    slide(page, 0)
    before = shown_tests(page)
    ball = drag(page, -120, 0)
    until(page, "x => Math.abs(tour.picture.centers[0] - x) < 3", ball[0] - 120)
    assert shown_tests(page) != before
    assert not page.locator("details:visible p").is_visible()
    page.locator("summary:visible").click()
    assert "276" in page.locator("details:visible p").inner_text()


def test_the_whole_tour_works_by_keyboard(tour):
    page = tour()
    for step in [step.name for step in STEPS[1:]]:
        page.evaluate("document.activeElement.blur()")
        page.keyboard.press("ArrowRight")
        until(page, "name => tour.shown?.step.name === name", step)
    page.evaluate("document.activeElement.blur()")
    page.keyboard.press("ArrowLeft")
    until(page, "tour.shown.step.name === 'strips'")
    page.locator(".room").focus()
    x = page.evaluate("tour.picture.centers[0]")
    page.keyboard.press("ArrowRight")
    until(page, "x => tour.picture.centers[0] === x + 8", x)
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.id") == "slider"


def test_swaps_are_shown_one_after_the_other(tour):
    page = tour("kept")
    slide(page, 4)
    pictures = set()
    for end in (0, 1, 40, 1000):
        page.locator("#scrub").evaluate(
            "(scrub, end) => { scrub.value = end; scrub.dispatchEvent(new Event('input')); }", end
        )
        next_picture(page)
        pictures.add(page.locator(".detail").evaluate("canvas => canvas.toDataURL()"))
    assert len(pictures) == 4
    assert "swap" in page.locator("#scrub-text").inner_text()


def test_every_step_fits_at_every_width_light_and_dark(tour, exhaustive):
    widths = (390, 800, 1440, 1920) if exhaustive else (390,)
    for width in widths:
        theme = "dark" if width in (800, 1440) else "light"
        page = tour(width=width, theme=theme)
        for step in STEPS:
            page.evaluate("name => { location.hash = name; }", step.name)
            until(page, "name => tour.shown?.step.name === name", step.name)
            assert page.evaluate("document.documentElement.scrollWidth") <= width, step.name
            assert (
                page.evaluate(STICKING_OUT.replace("seen &&", "seen && !element.closest('.steps') &&")) == []
            )
            assert page.evaluate(OVERLAPPING) == [], step.name


@pytest.mark.exhaustive
def test_reduced_motion_shows_the_whole_picture_immediately(server, chromium):
    with chromium.new_context(reduced_motion="reduce") as context:
        page = context.new_page()
        page.goto(server.address)
        until(page, THERE)
        assert page.evaluate("[tour.playing, tour.end >= tour.total]") == [False, True]
        page.goto(f"{server.address}sandbox?n=20")
        until(page, "globalThis.lab?.drawn > 0")
        assert page.evaluate("lab.state.playing") is False


@pytest.mark.exhaustive
def test_an_old_link_to_a_scene_opens_the_sandbox(server, tabs):
    page = tabs(f"{server.address}?scene=asteroids&n=30&play=0")
    until(page, "globalThis.lab?.drawn > 0")
    assert page.evaluate("lab.state.scene") == "asteroids"


def test_served_as_files_it_plays_slides_and_drags(site, tour, tabs):
    page = tabs(f"{site}#all")
    until(page, THERE)
    until(page, "tour.end > 0")
    assert page.get_by_role("link", name="Open the sandbox").count() == 0
    assert "recorded search of the engine" in page.locator("#caption").inner_text()
    for slider, tests in ((3, 66), (6, 276)):
        slide(page, slider)
        assert shown_tests(page) == tests
        assert page.evaluate("tour.answered") < 60_000
    drag(page, -200, -110)
    until(page, "tour.picture.centers[0] === 24 && tour.picture.centers[1] === 24")
    page.locator(".room").focus()
    page.keyboard.press("ArrowRight")
    until(page, "tour.picture.centers[0] === 240")
    page.evaluate("location.hash = 'kept'")
    until(page, "tour.shown?.step.name === 'kept'")
    recorded = page.evaluate("[...tour.picture.lanes[0].ends]")
    live = tour("kept")
    place = page.evaluate("[...tour.picture.centers.slice(0, 2)]")
    drawn = live.evaluate(
        "async place => [...(await tour.source.picture(tour.step, tour.slider, 0, place)).lanes[0].ends]",
        place,
    )
    assert recorded == drawn


def test_a_server_that_has_stopped_is_reported(tour, tabs):
    tabs.excused = ("ERR_FAILED",)
    page = tour("cells")
    page.route("**/tour/frame*", lambda route: route.abort())
    page.locator("#slider").fill("0")
    until(page, "!document.getElementById('problem').hidden")
    assert "The picture could not be loaded" in page.locator("#problem").inner_text()
    page.unroute("**/tour/frame*")
    page.locator("#slider").fill("1")
    until(page, "document.getElementById('problem').hidden")
