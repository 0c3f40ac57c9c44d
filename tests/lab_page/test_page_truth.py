"""The sandbox is right about what it draws, counts, waits for and cannot do."""

import pytest
from page_reading import NOT_KNOWN, frame_number, go_to, number, until

from broadphase.lab.server import MOST_SESSIONS


def note(page, lane=0):
    return page.locator(".lane").nth(lane).locator(".note").inner_text()


def test_sweep_and_prune_swaps_among_moving_balls_and_says_where_it_fell_back(show):
    page = show("n=120&play=0&methods=sweep_and_prune,brute_force")
    go_to(page, 2)
    until(page, "lab.frame.lanes[0].swaps.length > 0")
    assert number(page, "tests", 0) < 7140 == number(page, "tests", 1)
    assert "swaps updated the order" in note(page)
    page.locator("#count-number").fill("400")
    page.locator("#count-number").press("Tab")
    until(page, "lab.frame.centers.length === 800")
    go_to(page, 2)
    until(page, "document.querySelector('.note').textContent.includes('from scratch')")


def test_strips_are_cut_by_a_slider_and_copies_counted(show):
    page = show("n=60&play=0&methods=strips")
    assert page.evaluate("lab.frame.lanes[0].strips.length / 2") == 8
    page.locator("#strips").fill("12")
    until(page, "lab.frame.lanes[0].strips.length === 24")
    until(page, "Number(document.querySelector('[data-number=copies]').textContent) > 1")
    page.get_by_label("Let the engine choose").check()
    until(page, "lab.frame.lanes[0].strips.length === 2")
    until(page, "location.search.includes('strips=auto')")
    until(page, "document.querySelector('.note').textContent.includes('fastest for up to some hundred')")


@pytest.mark.exhaustive
def test_a_body_that_touches_differs_from_one_whose_box_overlaps(show):
    page = show("n=200&play=0&seed=3&methods=brute_force")
    states = page.evaluate(
        """async () => {
            const { statesOf } = await import('./page/bodies.js');
            return [...statesOf(lab.frame, lab.world)];
        }"""
    )
    assert set(states) <= {0, 1, 2}
    legend = page.locator("#legend").inner_text()
    assert "boxes overlap" in legend
    assert "bodies touch" in legend


@pytest.mark.exhaustive
def test_figures_that_say_nothing_new_are_not_shown(show):
    page = show("n=60&play=0&methods=sort_and_sweep,uniform_grid&cell=0.3")
    shown = (
        "name => [...document.querySelectorAll(`[data-number=${name}]`)].map(one => one.checkVisibility())"
    )
    assert page.evaluate(shown, "candidates") == [False, True]
    assert page.evaluate(shown, "copies") == [False, True]
    assert page.locator(".numbers .meaning").first.inner_text() == "boxes compared"


@pytest.mark.exhaustive
def test_the_rate_is_what_was_drawn_and_the_time_a_median(show):
    page = show("n=40&methods=strips")
    until(page, "document.getElementById('frame-text').textContent.includes('drawn per second')")
    until(page, "Number.isFinite(lab.frame.lanes[0].numbers[9])")
    until(page, "lab.lanes[0].seconds === lab.frame.lanes[0].numbers[9]")


def test_many_bodies_show_a_part_of_the_tests_and_say_which(show):
    page = show("n=1000&play=0&methods=brute_force,sort_and_sweep")
    lines = page.evaluate("lab.frame.lanes.map(lane => lane.tests.length / 2)")
    assert all(300 < count <= 1000 for count in lines)
    until(page, "document.querySelector('.note').textContent.includes('tests is drawn')")


@pytest.mark.exhaustive
def test_a_slow_method_does_not_hold_up_the_others(show):
    page = show("n=100000&methods=strips,brute_force")
    until(page, "lab.frame.lanes[0]?.ofFrame[0] === lab.frame.frame && lab.frame.frame > 1")
    until(page, "/brute force is still at work/.test(document.getElementById('lanes').textContent)")


def test_counts_of_the_last_scene_are_not_shown_for_the_next(show):
    page = show("n=40&play=0&methods=brute_force")
    assert number(page, "tests") == 780
    texts = page.evaluate(
        """() => new Promise((done) => {
            const cell = document.querySelector('[data-number=tests]');
            const seen = [cell.textContent];
            new MutationObserver(() => seen.push(cell.textContent)).observe(cell, { childList: true });
            lab.change({ count: 30000 });
            const wait = () => {
                lab.redraw();
                if (seen.at(-1) === '449,985,000') done(seen);
                else setTimeout(wait, 20);
            };
            wait();
        })"""
    )
    before = texts.index(NOT_KNOWN)
    assert [{*texts[:before]}, {*texts[before:]}] == [{"780"}, {NOT_KNOWN, "449,985,000"}]


def test_a_long_error_stays_beside_the_picture_and_one_box_is_one(show, tabs, tmp_path):
    tabs.excused = ("400",)
    page = show("n=20&play=0&methods=strips")
    wrong = tmp_path / "letters.csv"
    wrong.write_text(";".join(f"column_{k}" for k in range(40)) + "\n" + ";".join(["x"] * 40) + "\n")
    page.locator("#file").set_input_files(wrong)
    until(page, "document.getElementById('file-note').classList.contains('wrong')")
    note = page.locator("#file-note")
    assert note.evaluate("note => note.scrollWidth <= note.clientWidth")
    one = tmp_path / "one.csv"
    one.write_text("min_x,min_y,max_x,max_y\n0,0,1,1\n")
    page.locator("#file").set_input_files(one)
    until(page, "document.getElementById('file-note').textContent.startsWith('one.csv: 1 box. ')")


@pytest.mark.exhaustive
def test_a_wide_scene_gets_the_whole_width(show):
    page = show("scene=side_scroller&n=60&play=0&methods=sort_and_sweep,strips")
    boxes = [page.locator(".lane").nth(k).bounding_box() for k in range(2)]
    assert boxes[0]["x"] == boxes[1]["x"]
    assert boxes[1]["y"] > boxes[0]["y"]


def test_the_wheel_scrolls_and_zooms_only_with_ctrl(show):
    page = show("n=20&play=0&methods=strips", height=500)
    page.locator(".scene").hover()
    page.mouse.wheel(0, 300)
    until(page, "scrollY > 0")
    assert page.evaluate("lab.camera.zoom") == 1
    page.locator(".scene").hover()
    page.keyboard.down("Control")
    page.mouse.wheel(0, -300)
    until(page, "lab.camera.zoom > 1")
    page.keyboard.up("Control")


@pytest.mark.exhaustive
def test_an_emptied_field_says_what_it_wants(show):
    page = show("n=33&play=0")
    page.locator("#count-number").fill("")
    page.locator("#count-number").press("Tab")
    assert page.locator("#count-number").input_value() == "33"
    assert "whole number from 5 to 100,000" in page.locator("#count-note").inner_text()


@pytest.mark.exhaustive
def test_a_missing_file_and_a_wrong_file_are_reported(show, tabs, server, tmp_path):
    tabs.excused = ("400",)
    gone = tabs(f"{server.address}sandbox?scene=file&file=nobodyknows")
    until(gone, "!document.getElementById('problem').hidden")
    assert "Choose the file again" in gone.locator("#problem").inner_text()
    page = show("n=20&play=0")
    wrong = tmp_path / "letters.csv"
    wrong.write_text("a,b\nc,d\n")
    page.locator("#file").set_input_files(wrong)
    until(page, "document.getElementById('file-note').classList.contains('wrong')")
    assert page.locator("#file").input_value() == ""
    assert frame_number(page) == 0


@pytest.mark.exhaustive
def test_one_tab_too_many_says_so_and_continues_when_another_closes(server, tabs):
    tabs.excused = ("WebSocket",)
    few = [tabs(f"{server.address}sandbox?n=5&play=0&methods=strips") for _ in range(MOST_SESSIONS)]
    for page in few:
        until(page, "globalThis.lab?.drawn > 0")
    last = tabs(f"{server.address}sandbox?n=5&play=0")
    until(last, "document.getElementById('problem').textContent.includes('too many tabs')")
    few[0].close()
    until(last, "lab.drawn > 0 && document.getElementById('problem').hidden")
