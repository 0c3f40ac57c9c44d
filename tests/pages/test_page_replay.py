"""The page of a recording shows what was recorded, from a file, to everybody."""

import json
import re
import shutil
from functools import cache

import numpy as np
import pytest
from page_reading import STICKING_OUT, until
from test_recording import play_world

import broadphase as bp
from broadphase.cli import replay, run
from broadphase.doctor import run_methods

METHODS = ["strips", "box_tree"]
FRAME = """
async (drawn) => {
    await replay.go(drawn);
    const { ids, columns, first, second, tiles } = replay.frame;
    const lists = [ids, ...columns, first, second, tiles].map((list) => [...list]);
    return JSON.stringify({ number: replay.number, lists });
}
"""
STATIC, SENSOR, OVERLAPS = 1, 2, 4


@pytest.fixture(scope="module")
def page_of(tmp_path_factory):
    """The page of a recording, written when it is first asked for."""

    @cache
    def written(path):
        page_path = tmp_path_factory.mktemp("page") / "page.html"
        assert run(["replay", str(path), "--html", str(page_path), "--methods", *METHODS]) == 0
        return page_path

    return written


@pytest.fixture
def opened(page_of, tabs):
    """Opens the page of a recording from the file."""

    def at(path, number="", **options):
        page = tabs(page_of(path).as_uri() + number, **options)
        until(page, "globalThis.replay?.drawn > 0")
        return page

    return at


def frame_of(page, drawn):
    """A frame as the page has it."""
    read = json.loads(page.evaluate(FRAME, drawn))
    lists = [np.array(numbers, np.int64) for numbers in read["lists"]]
    origin, step = page.evaluate("[replay.data.origin, replay.data.step]")
    return read["number"], lists[0], np.column_stack(lists[1:7]), np.column_stack(lists[7:9]), origin, step


def check_frames(page, recording):
    """Every frame of the page is that of the recording, to half a step."""
    drawn = page.evaluate("replay.data.drawn")
    tags = page.evaluate("replay.data.tags")
    for place, number in enumerate(drawn):
        frame = recording[number]
        dim = frame.boxes.shape[1] // 2
        shown, ids, columns, lines, origin, step = frame_of(page, place)
        assert (shown, ids.tolist()) == (number, frame.ids.tolist())
        steps = np.column_stack((columns[:, :2], columns[:, :2] + columns[:, 2:4]))
        expected = (frame.boxes[:, [0, 1, dim, dim + 1]] - np.tile(origin, 2)) / step
        assert (np.abs(steps - np.clip(expected, -(2**28), 2**28)) <= 0.51).all()
        bits = columns[:, 4]
        assert ((bits & STATIC) != 0).tolist() == frame.static.tolist()
        assert ((bits & SENSOR) != 0).tolist() == frame.sensor.tolist()
        pairs = frame.pairs()
        assert ids[(bits & OVERLAPS) != 0].tolist() == np.unique(pairs).tolist()
        assert ids[lines].tolist() == pairs.tolist()
        assert [tags[tag] for tag in columns[:, 5]] == frame.tags


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    """A world with all kinds of changes."""
    path = tmp_path_factory.mktemp("replay") / "game.bprec"
    world = bp.World()
    with bp.Recorder(world, path):
        play_world(world, 30, np.random.default_rng(4), [])
    return path


@pytest.fixture(scope="module")
def crowded(tmp_path_factory):
    """A crowd in three frames of 200."""
    rng, folder = np.random.default_rng(1), tmp_path_factory.mktemp("crowd")
    world, path = bp.World(), folder / "piled.bprec"
    corners = rng.random((400, 2)) * 1_000
    world.add_many(np.hstack((corners, corners + 8)), tag="mob")
    with bp.Recorder(world, path):
        for frame in range(200):
            places = rng.random((400, 2)) * 1_000
            if 81 <= frame < 84:
                places[:200] = rng.random((200, 2)) * 15 + 500
            world.positions = places
            world.update()
    return path


def test_the_page_holds_what_was_recorded(opened, path, monkeypatch, tmp_path):
    monkeypatch.setattr(replay, "_BLOCK", 100)  # so that there are some
    path = shutil.copy(path, tmp_path)  # whose page is of this test
    page, recording = opened(path), bp.Recording(path)
    assert len(page.evaluate("replay.data.blocks")) > 2
    check_frames(page, recording)
    assert page.evaluate("[replay.data.bodies, replay.data.overlaps]") == recording.counts()[:, :2].T.tolist()
    for name, followed in run_methods(recording, METHODS, 1).items():
        assert page.evaluate("name => replay.data.tests[name]", name) == followed.tests.tolist()
    calls = [{name: times for name, times, _ in frame} for frame in page.evaluate("replay.data.calls")]
    assert calls == [{name: call.times for name, call in frame.calls.items()} for frame in recording]


@pytest.mark.parametrize("dim", [2, 3])
def test_boxes_without_end_and_across_the_edges_of_a_period(opened, tmp_path, dim):
    index, low = bp.BruteForce(dim=dim, period=(60, *[None] * (dim - 1))), np.random.default_rng(3)
    low = low.random((50, dim)) * 60
    boxes = np.hstack((low, low + 4))
    boxes[7, dim + 1], boxes[9, 1] = np.inf, -np.inf
    with bp.Recorder(index, tmp_path / "a.bprec") as recorder:
        recorder.frame()  # with nothing
        index.insert_many(boxes)
        index.pairs()
        index.remove_many(np.arange(10, 20))
        index.pairs()
    page = opened(tmp_path / "a.bprec")
    check_frames(page, bp.Recording(tmp_path / "a.bprec"))
    assert page.evaluate("replay.data.period") == [60, None]


def test_of_too_many_rows_a_part_of_the_frames_is_drawn_and_the_busiest(
    opened, crowded, monkeypatch, tmp_path
):
    monkeypatch.setattr(replay, "_MOST_ROWS", 8_000)
    monkeypatch.setattr(replay, "_MOST_LINES", 50)
    crowded = shutil.copy(crowded, tmp_path)  # whose page is of this test
    page = opened(crowded)
    peak = bp.Recording(crowded).busiest()[0].peak
    assert page.evaluate("replay.data.drawn") == sorted({*range(0, 200, 10), peak})
    assert "200 frames of a world, up to 400 bodies; 2" in page.locator("#facts").inner_text()
    _, ids, columns, lines, _, _ = frame_of(page, page.evaluate("peak => replay.nearest(peak)", peak))
    assert len(lines) <= 50
    pairs = bp.Recording(crowded)[peak].pairs()
    assert ids[(columns[:, 4] & OVERLAPS) != 0].tolist() == np.unique(pairs).tolist(), "all are marked"


@pytest.mark.parametrize(("width", "theme"), [(390, "dark"), (1280, "light")])
def test_a_crowd_is_named_framed_and_zoomed_to(opened, crowded, width, theme):
    recording = bp.Recording(crowded)
    (stretch,) = recording.busiest()
    page = opened(crowded, width=width, theme=theme)
    assert page.evaluate("document.documentElement.dataset.theme") == theme
    assert page.locator("#title").inner_text() == "Frame 0 of 0 to 199"
    assert page.get_by_role("button", name="No crowd in this frame").is_disabled()
    said = page.locator("#curve").get_attribute("aria-label")
    assert re.search("Frame 8[123] has the most tests of strips", said)
    page.get_by_role("button", name="Frames 81 to 83").click()
    until(page, "peak => replay.number === peak", stretch.peak)
    said = recording.explain(stretch.peak).partition(": ")[2]
    until(page, "said => document.getElementById('sentence').textContent === said", f"{said}.")
    page.get_by_role("button", name="Zoom to the crowd").click()
    x, y, zoom = page.evaluate("[replay.camera.x, replay.camera.y, replay.camera.zoom]")
    assert abs(x - 511) < 3 > abs(y - 511)
    assert zoom > 5
    box = page.locator("#curve").bounding_box()
    page.mouse.click(box["x"] + 8 + (box["width"] - 16) * 150 / 199, box["y"] + 20)
    until(page, "Math.abs(replay.number - 150) <= 1")
    until(page, "document.getElementById('crowd').disabled")


def test_the_keyboard_goes_everywhere(opened, crowded):
    page = opened(crowded, "#7")
    assert page.evaluate("replay.number") == 7
    for key, number in (("ArrowRight", 8), ("ArrowLeft", 7), ("End", 199), ("Home", 0), ("b", 82)):
        page.keyboard.press(key)
        if key == "b":
            number = bp.Recording(crowded).busiest()[0].peak
        until(page, "number => replay.number === number", number)
    page.keyboard.press(" ")
    until(page, "replay.playing && replay.number > 90")
    page.keyboard.press(" ")
    until(page, "!replay.playing")
    at = page.evaluate("replay.camera.x")
    page.locator("#picture").focus()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("+")
    assert page.evaluate("replay.camera.x") > at
    assert page.evaluate("replay.camera.zoom") > 1
    page.locator("#frame").focus()
    before = page.evaluate("replay.number")
    page.keyboard.press("ArrowRight")
    until(page, "number => replay.number === number", before + 1)


def test_a_body_is_found_by_its_id_and_by_a_click(opened, crowded):
    page = opened(crowded)
    page.locator("#body").fill("77")
    page.get_by_role("button", name="Find").click()
    until(page, "document.getElementById('about').textContent.startsWith('Body 77 (mob): box at ')")
    box = page.locator("#picture").bounding_box()
    page.locator("#body").fill("")
    page.mouse.click(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)  # where it is now
    until(page, "document.getElementById('about').textContent.startsWith('Body ')")
    page.locator("#body").fill("4000")
    page.get_by_role("button", name="Find").click()
    until(page, "document.getElementById('about').textContent === 'There is no body 4000 in this frame.'")


@pytest.mark.covering
@pytest.mark.parametrize("width", [390, 1024])
@pytest.mark.parametrize("theme", ["light", "dark"])
def test_it_can_be_read_by_all(opened, path, width, theme):
    page = opened(path, width=width, theme=theme)
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert page.evaluate(STICKING_OUT) == []
    axe = pytest.importorskip("axe_playwright_python.sync_playwright", reason="of the extra docs")
    assert [one["help"] for one in axe.Axe().run(page).response["violations"]] == []


def test_it_asks_for_nothing(opened, path, page_of):
    page = opened(path)
    asked = []
    page.on("request", lambda request: asked.append(request.url))
    page.reload()
    until(page, "globalThis.replay?.drawn > 0")
    assert asked == [page_of(path).as_uri()]


def test_texts_of_a_recording_are_text(opened, tmp_path):
    world, path = bp.World(), tmp_path / "</script><b>.bprec".replace("/", "")
    tag = "</script><script>globalThis.broken = true</script>{{SCRIPT}}"
    world.add(bp.Box(0, 0, 1, 1), tag=tag)
    with bp.Recorder(world, path):
        world.update()
    page = opened(path)
    assert page.evaluate("[replay.data.tags, globalThis.broken ?? false]") == [[tag], False]
    assert page.locator("h1").inner_text() == path.name


def test_without_scripts_it_says_so(chromium, path, tmp_path):
    assert run(["replay", str(path), "--html", str(tmp_path / "a.html"), "--methods", "strips"]) == 0
    with chromium.new_context(java_script_enabled=False) as context:
        page = context.new_page()
        page.goto((tmp_path / "a.html").as_uri())
        assert "JavaScript" in page.locator(".problem:visible").inner_text()
