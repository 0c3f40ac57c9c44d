"""The page of the lab: what is drawn, counted and said of the scenes, as people see it."""

import re

import numpy as np
import pytest
from page_reading import centers, frame_number, go_to, number, picture, until

import broadphase as bp
from broadphase.lab.scenes import SCENES, make_scene


def test_the_page_loads_and_bodies_move(show):
    page = show("n=30")
    assert "broadphase lab" in page.title()
    assert "Sandbox" in page.title()
    before, first = centers(page), frame_number(page)
    until(page, "first => lab.frame.frame > first + 5", first)
    assert (centers(page) != before).any(axis=1).all()
    assert page.locator("#connection").inner_text() == "connected"


@pytest.mark.exhaustive
def test_every_scene_is_drawn_with_every_method(show, each):
    each(lambda name: draw_with_every_method(show, name), SCENES, of=3)


def draw_with_every_method(show, name):
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


@pytest.mark.exhaustive
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


@pytest.mark.exhaustive
def test_sliders_change_cells_verdict_and_table(show):
    page = show("n=2000&play=0&methods=spatial_hash&seed=1")
    verdict = page.locator(".verdict strong")
    until(page, "document.querySelector('.verdict').dataset.verdict === 'right'")
    cells = page.evaluate("lab.frame.lanes[0].cells.length")
    page.locator("#cell").fill("40")
    until(page, "document.querySelector('.verdict').dataset.verdict === 'too large'")
    assert page.evaluate("lab.frame.lanes[0].cells.length") < cells
    said = page.locator(".verdict").inner_text()
    assert re.match(r"too large\s*Cells of [\d.]+: a box meets", said)
    assert "are sorted and swept, which makes fewer tests" in said
    page.locator("#cell").fill("-40")
    until(page, "document.querySelector('.verdict').dataset.verdict === 'too small'")
    assert verdict.inner_text() == "too small"
    page.get_by_label("Let the index choose").check()
    until(page, "document.querySelector('.verdict').dataset.verdict === 'right'")
    tests = number(page, "tests")
    page.locator("#slots").fill("-40")
    until(page, "tests => Number(lab.frame.lanes[0].numbers[0]) > tests", tests)
    assert page.evaluate("lab.frame.lanes[0].cells.some((value, k) => k % 7 === 5 && value > 0)")


@pytest.mark.exhaustive
def test_what_is_not_wanted_is_not_drawn(show):
    page = show("n=40&play=0&methods=uniform_grid")
    assert page.evaluate("!!lab.frame.lanes[0].cells && !!lab.frame.lanes[0].tests")
    page.get_by_label("Tests: which pairs are compared").uncheck()
    page.get_by_label("The data of the method: cells, strips, boxes, orders").uncheck()
    until(page, "!lab.frame.lanes[0].cells && !lab.frame.lanes[0].tests")
    assert "show=none" in page.evaluate("new Promise(done => setTimeout(() => done(location.search), 300))")


@pytest.mark.parametrize("scene", ["balls", "mostly_static"])
def test_the_numbers_are_those_of_the_python_api(show, scene):
    methods = ["brute_force", "sort_and_sweep", "spatial_hash", "strips"]
    page = show(f"scene={scene}&n=80&seed=11&play=0&strips=auto&methods={','.join(methods)}")
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


def test_growth_is_measured_with_progress_and_stopped(show):
    page = show("n=20&play=0")
    page.get_by_role("button", name="Measure now").click()
    # In the page itself: the hand of a test is slower than the engine at a few bodies.
    page.evaluate(
        """new Promise(done => new MutationObserver((_, watch) => {
            if (document.querySelectorAll('#growth-table tbody tr').length) {
                watch.disconnect();
                window.grows = !document.getElementById('grow-progress').hidden;
                document.getElementById('grow-stop').click();
                done();
            }
        }).observe(document.getElementById('growth-table'), {childList: true, subtree: true}))"""
    )
    assert page.evaluate("window.grows")
    until(page, "document.getElementById('grow-text').textContent.startsWith('Stopped')")
    assert page.get_by_role("button", name="Measure now").is_enabled()
    assert "auto" in page.locator("#growth-table tbody").inner_text()  # which is measured first


def test_auto_is_explained_in_words(show):
    page = show("n=300&play=0&methods=auto")
    page.get_by_role("button", name="Look at this scene").click()
    until(page, "document.getElementById('explanation').textContent.includes('auto picks')")
    said = page.locator("#explanation").inner_text()
    assert bp.explain(make_scene("balls", count=300, seed=1).boxes()).reason in said
    until(page, "document.querySelector('.note').textContent.includes('auto chose strips')")


def test_the_python_lines_of_the_page_print_its_numbers(show, capsys):
    page = show("n=60&seed=5&play=0&methods=spatial_hash&cell=2")
    go_to(page, 3)
    page.get_by_role("button", name="Show the Python code").click()
    until(page, "document.getElementById('code').textContent.includes('print')")
    lines = page.locator("#code").inner_text()
    exec(lines, {})
    stats = re.search(r"tests=(\d+), pairs=(\d+)", capsys.readouterr().out)
    assert (int(stats[1]), int(stats[2])) == (number(page, "tests"), number(page, "overlaps"))
    page.get_by_role("button", name="Close").click()


@pytest.mark.exhaustive
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
