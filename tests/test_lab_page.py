"""The page of the lab in a real Chromium, as people use it; any error on its console fails the test."""

import os
import re
import shutil
import time
from pathlib import Path

import numpy as np
import pytest
from lab_server import running

import broadphase as bp
from broadphase.lab.scenes import SCENES, make_scene

CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
NOT_KNOWN = "\N{EN DASH}"
WAIT = 60_000  # milliseconds; only what hangs takes so long, or a first compilation

if CHROMIUM is None and not os.environ.get("BROADPHASE_NEEDS_CHROMIUM"):
    pytest.skip("there is no Chromium", allow_module_level=True)
playwright = pytest.importorskip("playwright.sync_api")


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    with running(tmp_path_factory.mktemp("lab")) as one:
        yield one
        assert "Traceback" not in one.errors.read_text()


@pytest.fixture(scope="module")
def chromium():
    assert CHROMIUM, "install Chromium: apt-get install chromium"
    root = hasattr(os, "geteuid") and os.geteuid() == 0
    with playwright.sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"] if root else [])
        yield browser
        browser.close()


@pytest.fixture
def tabs(chromium):
    """Opens pages; at the end no console has said anything amiss."""
    errors = []
    contexts = []

    def open_tab(address, width=1280, height=900, theme="light"):
        context = chromium.new_context(
            viewport={"width": width, "height": height}, color_scheme=theme, accept_downloads=True
        )
        contexts.append(context)
        page = context.new_page()
        page.set_default_timeout(WAIT)
        page.on(
            "console", lambda said: errors.append(said.text) if said.type in ("error", "warning") else None
        )
        page.on("pageerror", lambda error: errors.append(str(error)))
        page.goto(address)
        return page

    open_tab.errors = errors
    yield open_tab
    for context in contexts:
        context.close()
    assert errors == []


@pytest.fixture
def show(server, tabs):
    """Opens the lab at a query and waits for the first picture."""

    def at(query="", **options):
        page = tabs(f"{server.address}?{query}", **options)
        until(page, "globalThis.lab?.drawn > 0")
        return page

    return at


def until(page, condition, argument=None):
    """Wait for a condition; the page's policy forbids what the driver itself would do for that."""
    deadline = time.monotonic() + WAIT / 1000
    while not page.evaluate(condition, argument):
        assert time.monotonic() < deadline, f"never: {condition}"
        page.wait_for_timeout(20)


def frame_number(page):
    return page.evaluate("lab.frame.frame")


def go_to(page, frame):
    """Step by step to a frame of a scene that stands still."""
    while frame_number(page) < frame:
        before = page.evaluate("lab.drawn")
        page.get_by_role("button", name="Step").click()
        until(page, "before => lab.drawn > before", before)


def number(page, name, lane=0):
    # A frame that has come is drawn with the browser's next picture.
    page.evaluate("new Promise(done => requestAnimationFrame(() => requestAnimationFrame(() => done())))")
    text = page.locator(".lane").nth(lane).locator(f"[data-number={name}]").inner_text()
    return None if text == NOT_KNOWN else int(text.replace(",", ""))


def wait_for_number(page, name, value):
    """While a scene plays, numbers are written a few times a second only."""
    deadline = time.monotonic() + WAIT / 1000
    while number(page, name) != value:
        assert time.monotonic() < deadline, f"{name} never became {value}"
        page.wait_for_timeout(20)


def centers(page):
    return np.array(page.evaluate("[...lab.frame.centers]")).reshape(-1, 2)


def picture(page, lane=0):
    """The pixels of a lane, as a text to compare."""
    return page.evaluate("n => lab.lanes[n].canvas.toDataURL()", lane)


def on_screen(page, body, lane=0):
    """Where a body is in the window."""
    return page.evaluate(
        """([body, number]) => {
            const lane = lab.lanes[number];
            const box = lane.canvas.getBoundingClientRect();
            const place = lab.frame.centers.slice(2 * body, 2 * body + 2);
            const [x, y] = lab.camera.toScreen(...place, ...lane.size);
            return [x + box.left, y + box.top];
        }""",
        [body, lane],
    )


def test_the_page_loads_and_bodies_move(show):
    page = show("n=30")
    assert "broadphase lab" in page.title()
    before, first = centers(page), frame_number(page)
    until(page, "first => lab.frame.frame > first + 5", first)
    assert (centers(page) != before).any(axis=1).all()
    assert page.locator("#connection").inner_text() == "connected"


@pytest.mark.parametrize("name", SCENES)
def test_every_scene_is_drawn_with_every_method(show, name):
    page = show(f"scene={name}&n=60&methods=sort_and_sweep,spatial_hash,box_tree,strips")
    blank = page.evaluate("document.createElement('canvas').toDataURL()")
    until(page, "lab.frame.frame > 3")
    assert len({picture(page, lane) for lane in range(4)} | {blank}) == 5
    page.locator(".lane select").nth(0).select_option("sweep_and_prune")
    page.locator(".lane select").nth(1).select_option("uniform_grid")
    page.locator(".lane select").nth(2).select_option("brute_force")
    page.locator(".lane select").nth(3).select_option("auto")
    until(page, "lab.frame.lanes[0].ends && lab.frame.lanes[1].cells && lab.frame.frame > 8")
    assert page.locator("#problem").is_hidden()


def test_dragging_a_ball_moves_that_ball_and_no_other(show):
    page = show("n=20&play=0&methods=strips")
    before = centers(page)
    x, y = on_screen(page, 7)
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(x + 40, y + 25, steps=5)
    until(page, "lab.frame.held[0] === 7")
    target = page.evaluate(
        "([x, y]) => lab.camera.toWorld(x, y, ...lab.lanes[0].size)", offset(page, x + 40, y + 25)
    )
    until(page, "x => Math.abs(lab.frame.centers[14] - x) < 0.01", target[0])
    page.mouse.up()
    after = centers(page)
    assert np.allclose(after[7], target, atol=0.01)
    assert np.array_equal(np.delete(after, 7, 0), np.delete(before, 7, 0))


def offset(page, x, y):
    box = page.locator(".scene").first.bounding_box()
    return [x - box["x"], y - box["y"]]


def test_a_thrown_ball_flies_on(show):
    page = show("n=5&methods=strips&seed=2")
    x, y = on_screen(page, 3)
    page.mouse.move(x, y)
    page.mouse.down()
    until(page, "lab.frame.held[0] >= 0")
    held = page.evaluate("lab.frame.held[0]")
    page.mouse.move(x + 30, y, steps=15)
    page.mouse.up()
    until(page, "lab.frame.held[0] === -1")
    where = centers(page)[held]
    until(page, "([body, x]) => lab.frame.centers[2 * body] !== x", [held, float(where[0])])


def test_the_keyboard_plays_steps_and_drags(show):
    page = show("n=12&play=0&methods=brute_force")
    page.keyboard.press(".")
    until(page, "lab.frame.frame === 1")
    page.keyboard.press("Space")
    until(page, "lab.frame.frame > 5")
    page.keyboard.press("Space")
    until(page, "!lab.state.playing")
    page.get_by_role("button", name="Restart").click()
    until(page, "lab.frame.frame === 0")
    scene = page.locator(".scene")
    scene.focus()
    page.evaluate(
        "body => { lab.lanes[0].cross = [lab.frame.centers[2 * body], lab.frame.centers[2 * body + 1]]; }", 4
    )
    page.keyboard.press("Enter")
    until(page, "lab.frame.held[0] === 4")
    before = centers(page)
    for _ in range(3):
        page.keyboard.press("ArrowRight")
    until(page, "x => lab.frame.centers[8] > x", float(before[4, 0]) + 1)
    page.keyboard.press("Enter")
    until(page, "lab.frame.held[0] === -1")
    page.keyboard.press("+")
    assert page.evaluate("lab.camera.zoom") > 1


def test_zooming_and_panning_do_not_touch_the_bodies(show):
    page = show("scene=clusters&n=20&play=0&methods=strips")
    before, look = centers(page), picture(page)
    box = page.locator(".scene").bounding_box()
    page.mouse.move(box["x"] + 4, box["y"] + 4)
    page.mouse.wheel(0, -400)
    page.mouse.down()
    page.mouse.move(box["x"] + 60, box["y"] + 40, steps=3)
    page.mouse.up()
    until(page, "look => lab.lanes[0].canvas.toDataURL() !== look", look)
    assert np.array_equal(centers(page), before)
    page.get_by_role("button", name="Fit").click()
    until(page, "look => lab.lanes[0].canvas.toDataURL() === look", look)


def test_switching_the_method_changes_what_is_drawn_and_counted(show):
    page = show("n=40&play=0&methods=brute_force")
    all_pairs, look = number(page, "tests"), picture(page)
    assert all_pairs == 40 * 39 // 2
    page.get_by_label("Method", exact=True).select_option("spatial_hash")
    until(page, "lab.frame.lanes[0].cells")
    until(page, "look => lab.lanes[0].canvas.toDataURL() !== look", look)
    assert number(page, "tests") < all_pairs
    page.get_by_role("button", name="Add a method").click()
    until(page, "lab.frame.lanes.length === 2")
    assert number(page, "overlaps", 0) == number(page, "overlaps", 1)
    page.get_by_role("button", name="Remove this method").first.click()
    until(page, "lab.frame.lanes.length === 1")
    assert page.locator(".lane").count() == 1


def test_sliders_change_cells_verdict_and_table(show):
    page = show("n=2000&play=0&methods=spatial_hash&seed=1")
    verdict = page.locator(".verdict strong")
    until(page, "document.querySelector('.verdict').dataset.verdict === 'just right'")
    cells = page.evaluate("lab.frame.lanes[0].cells.length")
    page.locator("#cell").fill("40")
    until(page, "document.querySelector('.verdict').dataset.verdict === 'too big'")
    assert page.evaluate("lab.frame.lanes[0].cells.length") < cells
    page.locator("#cell").fill("-40")
    until(page, "document.querySelector('.verdict').dataset.verdict === 'too small'")
    assert verdict.inner_text() == "too small"
    page.get_by_label("Let the index choose").check()
    until(page, "document.querySelector('.verdict').dataset.verdict === 'just right'")
    tests = number(page, "tests")
    page.locator("#slots").fill("-40")
    until(page, "tests => Number(lab.frame.lanes[0].numbers[0]) > tests", tests)
    assert page.evaluate("lab.frame.lanes[0].cells.some((value, k) => k % 7 === 6 && value > 0)")


def test_what_is_not_wanted_is_not_drawn(show):
    page = show("n=40&play=0&methods=uniform_grid")
    assert page.evaluate("!!lab.frame.lanes[0].cells && !!lab.frame.lanes[0].tests")
    page.get_by_label("Pairs that are compared").uncheck()
    page.get_by_label("Cells, strips, nodes, orders").uncheck()
    until(page, "!lab.frame.lanes[0].cells && !lab.frame.lanes[0].tests")
    assert "show=none" in page.evaluate("new Promise(done => setTimeout(() => done(location.search), 300))")


@pytest.mark.parametrize("scene", ["balls", "mostly_static"])
def test_the_numbers_are_those_of_the_python_api(show, scene):
    methods = ["brute_force", "sort_and_sweep", "spatial_hash", "strips"]
    page = show(f"scene={scene}&n=80&seed=11&play=0&methods={','.join(methods)}")
    go_to(page, 6)
    replay = make_scene(scene, count=80, seed=11)
    indexes = [bp.make_index(name) for name in methods]
    for index in indexes:
        index.insert_many(replay.boxes(), static=replay.static)
        index.pairs()
    for _ in range(6):
        replay.step()
        for index in indexes:
            moved = np.flatnonzero((index.boxes != replay.boxes()).any(axis=1))
            index.move_many(moved, replay.boxes()[moved]) if len(moved) < 80 else index.update(replay.boxes())
            index.pairs()
    for lane, index in enumerate(indexes):
        assert number(page, "tests", lane) == index.stats.tests
        assert number(page, "overlaps", lane) == index.stats.pairs
    assert number(page, "candidates", 0) == 80 * 79 // 2
    assert np.array_equal(page.evaluate("[...lab.frame.hits]"), indexes[0].pairs().ravel())


def test_the_url_restores_scene_methods_and_sliders(show, tabs):
    page = show("n=50&play=0")
    page.get_by_label("Scene", exact=True).select_option("asteroids")
    page.locator("#count-number").fill("70")
    page.locator("#seed").fill("23")
    page.locator(".lane select").nth(0).select_option("spatial_hash")
    page.locator("#cell").fill("15")
    page.locator("#slots").fill("-10")
    page.locator("#speed").fill("50")
    page.locator("#speed").press("Tab")
    until(page, "location.search.includes('scene=asteroids') && location.search.includes('fps=')")
    until(page, "lab.frame.centers.length === 140 && lab.frame.lanes[0].cells")
    again = tabs(page.url)
    until(again, "globalThis.lab?.drawn > 0 && lab.frame.lanes[0].cells")
    restored, state = again.evaluate("lab.state"), page.evaluate("lab.state")
    assert restored == state
    for control in ("scene", "count-number", "seed", "cell", "slots", "speed"):
        assert again.locator(f"#{control}").input_value() == page.locator(f"#{control}").input_value()
    assert np.array_equal(centers(again), centers(page))
    assert number(again, "tests") == number(page, "tests")


def test_a_url_that_says_nonsense_shows_the_usual(show):
    page = show("scene=ocean&n=1e99&seed=NaN&methods=quantum,,&cell=-4&slots=x&fps=1e9&file=" + "y" * 500)
    assert page.evaluate("[lab.state.scene, lab.state.count, lab.state.seed]") == ["balls", 100000, 1]


def test_two_tabs_do_not_disturb_each_other(show):
    first, second = show("n=20&seed=1&play=0"), show("n=30&seed=2&play=0")
    still = centers(second)
    go_to(first, 4)
    first.get_by_label("Scene", exact=True).select_option("dungeon")
    until(first, "lab.world.tiles")
    assert frame_number(second) == 0
    assert np.array_equal(centers(second), still)
    go_to(second, 1)
    assert len(centers(second)) == 30


def test_a_reload_recovers(show):
    page = show("n=20&methods=strips")
    page.reload()
    until(page, "globalThis.lab?.frame?.frame > 2")
    assert page.evaluate("lab.state.methods[0]") == "strips"


def test_a_server_that_comes_back_finds_its_pages_again(tabs, tmp_path):
    with running(tmp_path) as first:
        page = tabs(f"{first.address}?n=25&methods=box_tree")
        until(page, "globalThis.lab?.frame?.frame > 2")
    until(page, "document.getElementById('connection').dataset.state === 'lost'")
    with running(tmp_path, first.port):
        until(page, "document.getElementById('connection').dataset.state === 'open'")
        until(page, "lab.frame.epoch === 1 && lab.frame.frame > 2 && lab.frame.centers.length === 50")
    # That the browser could not connect in between is no error of the page.
    tabs.errors[:] = [
        said for said in tabs.errors if "ERR_CONNECTION" not in said and "WebSocket" not in said
    ]


def test_a_file_is_shown_and_one_that_is_none_is_told(show, tmp_path):
    page = show("n=20")
    boxes = tmp_path / "three boxes.csv"
    boxes.write_text("0,0,2,2\n1,1,3,3\n9,9,10,10\n")
    page.locator("#file").set_input_files(boxes)
    until(page, "lab.state.scene === 'file' && lab.frame.centers.length === 6")
    wait_for_number(page, "overlaps", 1)
    assert "3 boxes" in page.locator("#file-note").inner_text()
    page.get_by_label("Scene", exact=True).select_option("balls")
    until(page, "lab.frame.centers.length === 40")


def test_a_file_that_holds_no_boxes_is_told(server, show, tabs, tmp_path):
    page = show("n=20")
    nonsense = tmp_path / "letters.csv"
    nonsense.write_text("a,b\nc,d\n")
    page.locator("#file").set_input_files(nonsense)
    until(page, "document.getElementById('file-note').textContent.startsWith('letters.csv')")
    assert page.evaluate("lab.state.scene") == "balls"
    tabs.errors[:] = [said for said in tabs.errors if "400" not in said]  # the browser notes the answer


def test_growth_is_measured_with_progress_and_stopped(show):
    page = show("n=20&play=0")
    page.get_by_role("button", name="Measure now").click()
    until(page, "document.querySelectorAll('#growth-table tbody tr').length >= 3")
    assert page.locator("#grow-progress").is_visible()
    page.get_by_role("button", name="Stop").click()
    until(page, "document.getElementById('grow-text').textContent.startsWith('Stopped')")
    assert page.get_by_role("button", name="Measure now").is_enabled()
    assert "brute force" in page.locator("#growth-table").inner_text()


def test_auto_is_explained_in_words(show):
    page = show("n=300&play=0&methods=auto")
    page.get_by_role("button", name="Look at this scene").click()
    until(page, "document.getElementById('explanation').textContent.includes('auto picks')")
    said = page.locator("#explanation").inner_text()
    assert bp.explain(make_scene("balls", count=300, seed=1).boxes()).reason in said
    assert "auto has made a box tree" in page.locator(".note").inner_text()


def test_the_python_lines_of_the_page_print_its_numbers(show, capsys):
    page = show("n=60&seed=5&play=0&methods=spatial_hash&cell=2")
    go_to(page, 3)
    page.get_by_role("button", name="Show the Python lines").click()
    until(page, "document.getElementById('code').textContent.includes('print')")
    lines = page.locator("#code").inner_text()
    exec(lines, {})
    stats = re.search(r"tests=(\d+), pairs=(\d+)", capsys.readouterr().out)
    assert (int(stats[1]), int(stats[2])) == (number(page, "tests"), number(page, "overlaps"))
    page.get_by_role("button", name="Close").click()


def test_a_picture_is_saved(show):
    page = show("n=20&methods=strips,sort_and_sweep")
    with page.expect_download() as saved:
        page.get_by_role("button", name="Save a picture").click()
    assert re.fullmatch(r"broadphase-balls-frame-\d+\.png", saved.value.suggested_filename)
    content = Path(saved.value.path()).read_bytes()
    assert content.startswith(b"\x89PNG")
    assert len(content) > 5000


def test_in_slow_motion_pairs_light_up_one_after_the_other(show):
    page = show("n=12&methods=brute_force&fps=0.5")
    looks = set()
    first = frame_number(page)
    for _ in range(4):
        looks.add(picture(page))
        page.wait_for_timeout(150)
    assert frame_number(page) - first <= 1
    assert len(looks) > 2


def test_many_bodies_are_counted_and_the_page_says_what_it_leaves_out(show):
    page = show("n=20000&methods=strips&play=0")
    assert number(page, "overlaps") == bp.count_pairs(make_scene("balls", count=20_000, seed=1).boxes())
    assert number(page, "candidates") is None
    assert "Too many bodies" in page.locator("#limits").inner_text()


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("width", [1440, 800, 390])
def test_nothing_sticks_out_or_overlaps_at_any_width(show, width, theme):
    page = show("n=40&methods=sort_and_sweep,spatial_hash", width=width, theme=theme)
    page.evaluate("document.getElementById('side').open = true")
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert page.evaluate("document.documentElement.dataset.theme") == theme
    assert page.evaluate(STICKING_OUT) == []
    assert page.evaluate(OVERLAPPING) == []


STICKING_OUT = """
() => [...document.querySelectorAll('body *')].filter(element => {
    const box = element.getBoundingClientRect();
    const seen = element.checkVisibility() && box.width > 1 && !element.classList.contains('skip');
    const cut = element.matches('dd, button, legend, label, h1, h2')
        && element.scrollWidth > element.clientWidth + 1;
    return seen && (box.right > innerWidth + 1 || box.left < -1 || cut);
}).map(element => element.outerHTML.slice(0, 80))
"""

OVERLAPPING = """
() => {
    const controls = [...document.querySelectorAll('button, select, input, output, h1, h2, canvas, p')]
        .filter(element => element.checkVisibility() && !element.closest('.visually-hidden, .skip, dialog'));
    const boxes = controls.map(element => element.getBoundingClientRect());
    const found = [];
    for (let i = 0; i < boxes.length; i++) for (let j = i + 1; j < boxes.length; j++) {
        const [a, b] = [boxes[i], boxes[j]];
        if (controls[i].contains(controls[j]) || !a.width || !b.width) continue;
        if (a.left < b.right - 1 && b.left < a.right - 1 && a.top < b.bottom - 1 && b.top < a.bottom - 1)
            found.push(controls[i].outerHTML.slice(0, 60) + ' / ' + controls[j].outerHTML.slice(0, 60));
    }
    return found;
}
"""


def test_every_control_has_a_name_for_screen_readers(show):
    page = show("n=40&methods=sort_and_sweep,spatial_hash")
    nameless = page.evaluate(
        """() => [...document.querySelectorAll('button, select, input, canvas, progress')].filter(element =>
            !element.ariaHidden && !element.getAttribute('aria-label')
            && !element.labels?.length && !element.textContent.trim()
        ).map(element => element.outerHTML.slice(0, 80))"""
    )
    assert nameless == []


def test_the_policy_lets_no_foreign_script_run(show, tabs):
    page = show("n=20")
    page.evaluate(
        """() => { const script = document.createElement('script');
                   script.textContent = 'globalThis.broken = true'; document.body.append(script); }"""
    )
    assert page.evaluate("globalThis.broken") is None
    assert any("Content Security Policy" in said for said in tabs.errors)
    tabs.errors.clear()
