"""Scenes that move in the tour, and the reader's own boxes: what is counted is what the library counts."""

import json

import numpy as np
import pytest
from page_reading import STICKING_OUT, until

import broadphase as bp

READY = "globalThis.tour?.moving?.tests !== undefined"


@pytest.fixture
def moving(server, tabs):
    """Opens the page of the tour."""

    def at(**options):
        page = tabs(f"{server.address}#moving", **options)
        until(page, READY)
        return page

    return at


def take(page, name, content):
    """Give the page a file and read what it says."""
    page.locator("#moving-file").set_input_files([{"name": name, "mimeType": "text/csv", "buffer": content}])
    said = page.locator(".moving-said").get_by_role("status")  # also while a scene moves
    until(
        page,
        "name => document.querySelector('.moving-said [role=status]').textContent.startsWith(name)",
        name,
    )
    return said.inner_text()


def scattered(count, dim=2):
    low = np.random.default_rng(3).integers(0, 800, (count, dim)) / 2
    return np.hstack((low, low + np.random.default_rng(4).integers(1, 60, (count, dim)) / 2))


def as_array(boxes, tmp_path):
    np.save(tmp_path / "boxes.npy", boxes)
    return (tmp_path / "boxes.npy").read_bytes()


def as_text(boxes, head=""):
    return (head + "\n".join(",".join(map(repr, row)) for row in boxes.tolist())).encode()


def test_boxes_move_pause_and_go_on_frame_by_frame(moving):
    page = moving(motion="no-preference")
    until(page, "tour.moving.frame > 3")
    page.get_by_role("button", name="Pause").click()
    frame = page.evaluate("tour.moving.frame")
    page.get_by_role("button", name="One frame").click()
    assert page.evaluate("tour.moving.frame") == frame + 1
    page.evaluate("document.activeElement.blur()")
    page.keyboard.press(".")
    assert page.evaluate("tour.moving.frame") == frame + 2
    page.get_by_role("button", name="Play", exact=True).click()
    until(page, "frame => tour.moving.frame > frame + 3", frame)
    page.get_by_role("link", name="Your game").click()
    page.wait_for_timeout(100)
    frame = page.evaluate("tour.moving.frame")
    page.wait_for_timeout(200)
    assert page.evaluate("tour.moving.frame") == frame, "what is not seen rests"


def test_a_road_suits_sorting_and_a_crowd_does_not_suit_cells(moving):
    page = moving()
    tests = {}
    for scene in ("even", "crowd", "road", "sizes"):
        page.locator(f"input[value={scene}]").check()
        page.get_by_role("button", name="One frame").click()
        tests[scene] = page.evaluate("tour.moving.tests")
    assert all(one["brute_force"] == 400 * 399 // 2 for one in tests.values())
    assert tests["road"]["sort_and_sweep"] < 0.6 * tests["even"]["sort_and_sweep"]
    assert tests["crowd"]["uniform_grid"] > tests["even"]["uniform_grid"]


def as_files(tmp_path):
    """The same boxes as users write them: the name, the content, and the boxes in it."""
    boxes, deep = scattered(300), scattered(300, dim=3)
    sized = np.hstack((boxes[:, :2], boxes[:, 2:] - boxes[:, :2]))
    yield "plain.csv", as_text(boxes), boxes
    yield "corners.csv", as_text(boxes[:, [2, 3, 0, 1]], "max_x,max_y,min_x,min_y\n"), boxes
    yield "sizes.csv", as_text(sized, "x,y,width,height\n"), boxes
    yield "float64.npy", as_array(boxes, tmp_path), boxes
    yield "float32.npy", as_array(boxes.astype(np.float32), tmp_path), boxes
    yield "columns.npy", as_array(np.asfortranarray(boxes), tmp_path), boxes
    yield "space.npy", as_array(deep, tmp_path), deep[:, [0, 1, 3, 4]]


def test_boxes_of_a_file_are_counted_as_the_library_counts_them(moving, tmp_path):
    page = moving(motion="no-preference")
    for name, content, boxes in as_files(tmp_path):
        assert "300 boxes" in take(page, name, content)
        tests, options = page.evaluate("[tour.moving.tests, tour.moving.options]")
        assert page.evaluate("tour.moving.pairs") == bp.count_pairs(boxes), name
        assert tests["brute_force"] == 300 * 299 // 2
        sweep = bp.SortAndSweep(axis=options["axis"])
        grid = bp.UniformGrid(cell_size=options["cellSize"], bounds=options["bounds"])
        for method, index in (("sort_and_sweep", sweep), ("uniform_grid", grid)):
            index.insert_many(boxes)
            index.pairs()
            assert tests[method] == index.stats.tests, (name, method)
        assert tests["sweep_and_prune"] == 0, "nothing has moved"
        assert page.locator(".choices input:checked, .moving-controls:visible").count() == 0
        page.get_by_label("Spread evenly").check()  # a scene, chosen again after a file
        until(page, "tour.moving.frame > 1 && tour.moving.tests.brute_force === 79800")
        assert "300 boxes" not in page.locator(".moving-said").inner_text()


REFUSED = {
    "none.csv": (b"", "holds no boxes"),
    "three.csv": (b"1,2,3\n", "these rows have 3"),
    "ends.csv": (
        b"0,0,1,1\n5,0,4,1\n",
        "row 2 ends before it begins: its max_x is less than its min_x",
    ),
    "empty.csv": (b"0,0,1,1\n5,0,,1\n", "row 2 has no number in column 3"),
    "short.csv": (b"0,0,1,1\n5,0\n", "row 2 has no number in column 3"),
    "names.csv": (b"left,top,right,bottom\n0,0,1,1\n", "has no columns min_x, min_y, max_x, max_y"),
    "many.csv": (b"0,0,1,1\n" * 20_001, "holds 20,001 boxes"),
    "text.npy": (b"0,0,1,1\n", "is no array of NumPy"),
}


def test_a_file_that_holds_no_boxes_is_told_so(moving, tmp_path):
    page = moving()
    before = page.evaluate("tour.moving.tests.brute_force")
    arrays = {
        "cut.npy": (as_array(scattered(9), tmp_path)[:-8], "is cut off"),
        "words.npy": (as_array(np.array([["a", "b"]]), tmp_path), "is no table of numbers"),
        "line.npy": (as_array(np.arange(4.0), tmp_path), "is no table of numbers"),
    }
    for name, (content, said) in (REFUSED | arrays).items():
        assert said in take(page, name, content)
        assert page.evaluate("tour.moving.tests.brute_force") == before
    take(page, "pair.csv", b"0,0,1,1\n0,0,2,2\n")
    assert "1 pair overlaps" in page.locator(".moving-said").inner_text()


def test_giants_among_many_do_not_fill_memory_with_cells(moving, tmp_path):
    boxes = np.vstack((scattered(3_100), np.tile([0.0, 0, 400, 400], (20, 1))))
    boxes[:3_100, 2:] = boxes[:3_100, :2] + 0.1
    page = moving()
    assert "3,120 boxes" in take(page, "giants.npy", as_array(boxes, tmp_path))
    assert page.evaluate("tour.moving.tests.uniform_grid") is None
    assert "too many cells" in page.locator(".moving-tests").inner_text()
    assert page.evaluate("tour.moving.pairs") == bp.count_pairs(boxes)


@pytest.mark.parametrize(("width", "theme"), [(390, "dark"), (1024, "light")])
def test_it_can_be_read_by_all(moving, width, theme):
    page = moving(width=width, theme=theme)
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    page.evaluate("document.querySelector('.way').remove()")  # it scrolls
    assert page.evaluate(STICKING_OUT) == []
    axe = pytest.importorskip("axe_playwright_python.sync_playwright", reason="of the extra docs")
    found = axe.Axe().run(page).response["violations"]
    assert [one["help"] for one in found] == [], json.dumps(found)[:500]
