"""The page of the lab from its address to its end: links, tabs, reloads, files, pictures."""

import re
from pathlib import Path

import numpy as np
import pytest
from lab_server import running
from page_reading import centers, frame_number, go_to, number, until, wait_for_number


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


@pytest.mark.exhaustive
def test_a_url_that_says_nonsense_shows_the_usual(show):
    page = show("scene=ocean&n=1e99&seed=NaN&methods=quantum,,&cell=-4&slots=x&fps=1e9&file=" + "y" * 500)
    assert page.evaluate("[lab.state.scene, lab.state.count, lab.state.seed]") == ["balls", 100000, 1]


@pytest.mark.exhaustive
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


@pytest.mark.exhaustive
def test_a_server_that_comes_back_finds_its_pages_again(tabs, tmp_path):
    tabs.excused = ("ERR_CONNECTION", "WebSocket")  # that it could not connect in between
    with running(tmp_path) as first:
        page = tabs(f"{first.address}sandbox?n=25&methods=box_tree")
        until(page, "globalThis.lab?.frame?.frame > 2")
    until(page, "document.getElementById('connection').dataset.state === 'lost'")
    with running(tmp_path, first.port):
        until(page, "document.getElementById('connection').dataset.state === 'open'")
        until(page, "lab.frame.epoch === 1 && lab.frame.frame > 2 && lab.frame.centers.length === 50")


def test_a_file_is_shown_and_one_that_is_not_valid_is_reported(show, tmp_path):
    page = show("n=20")
    boxes = tmp_path / "three boxes.csv"
    boxes.write_text("0,0,2,2\n1,1,3,3\n9,9,10,10\n")
    page.locator("#file").set_input_files(boxes)
    until(page, "lab.state.scene === 'file' && lab.frame.centers.length === 6")
    wait_for_number(page, "overlaps", 1)
    assert "3 boxes" in page.locator("#file-note").inner_text()
    assert page.locator("#count-number").input_value() == "3"
    page.get_by_label("Scene", exact=True).select_option("balls")
    until(page, "lab.frame.centers.length === 40")
    assert page.locator("#count-number").input_value() == "20"


@pytest.mark.exhaustive
def test_a_file_without_boxes_is_reported(server, show, tabs, tmp_path):
    tabs.excused = ("400",)  # the browser notes the answer
    page = show("n=20")
    nonsense = tmp_path / "letters.csv"
    nonsense.write_text("a,b\nc,d\n")
    page.locator("#file").set_input_files(nonsense)
    until(page, "document.getElementById('file-note').textContent.startsWith('letters.csv')")
    assert page.evaluate("lab.state.scene") == "balls"


@pytest.mark.exhaustive
def test_a_picture_is_saved(show):
    page = show("n=20&methods=strips,sort_and_sweep")
    with page.expect_download() as saved:
        page.get_by_role("button", name="Save a picture").click()
    assert re.fullmatch(r"broadphase-balls-frame-\d+\.png", saved.value.suggested_filename)
    content = Path(saved.value.path()).read_bytes()
    assert content.startswith(b"\x89PNG")
    assert len(content) > 5000


def test_of_two_frames_between_two_pictures_the_second_is_drawn_with_the_next(show):
    page = show("n=20&play=0")
    page.evaluate(
        """async () => {
            // The page asks for one picture at a time: none may be on its way.
            await new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)));
            globalThis.pictures = [];
            globalThis.came = [];
            window.requestAnimationFrame = (draw) => pictures.push(draw);
            const [lane] = lab.lanes;
            const count = lane.count.bind(lane);
            lane.count = (frame) => { came.push(frame.frame); count(frame); };
            lab.change({ playing: true });
        }"""
    )
    until(page, "came.length > 5")
    drawn, latest = page.evaluate(
        """() => {
            const drawn = [];
            while (pictures.length) {
                pictures.shift()(performance.now());
                drawn.push(lab.frame.frame);
            }
            return [drawn, came.slice(-2)];
        }"""
    )
    assert drawn == latest
    page.evaluate("lab.change({ playing: false })")
    page.evaluate("lab.wire.send('step')")
    until(page, "lab.frame.frame === came.at(-1) && came.at(-1) > came.at(-2)")
