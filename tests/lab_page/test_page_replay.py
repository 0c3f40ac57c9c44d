"""What the page says of a recording is what was recorded."""

import numpy as np
import pytest
from lab_server import running
from page_reading import until

import broadphase as bp


@pytest.fixture
def path(tmp_path):
    """Three frames with 40 bodies, then three with 41; in the last two there is a listener."""
    world, path = bp.World(), tmp_path / "game.bprec"
    for x, y in np.random.default_rng(2).uniform(0, 50, (40, 2)).tolist():
        world.add(bp.Box(x, y, 6, 6), tag="a")
    with bp.Recorder(world, path):
        for number in range(6):
            if number == 3:
                world.add(bp.Box(100, 100, 6, 6), tag="a")
            if number == 4:
                world.on("a", "a", begin=lambda contact: None)
            world.update()
    return path


def test_the_page_says_how_many_bodies_a_recording_has_and_if_there_was_a_listener(tabs, tmp_path, path):
    with running(tmp_path, recording=path) as server:
        page = tabs(f"{server.address}sandbox?n=25&scene=replay")
        until(page, "globalThis.lab?.drawn > 0")
        listened = bp.Recording(path)[5].found
        assert listened > 1
        for frame, bodies, said in (
            (1, 40, "no listener for contacts"),
            (3, 41, "no listener for contacts"),
            (5, 41, f"{listened} contacts reported to listeners"),
        ):
            page.evaluate("frame => lab.replay.go(frame)", frame)
            until(
                page,
                "frame => lab.replay.summary.textContent.startsWith(frame)",
                f"Frame {frame} in the program:",
            )
            words = page.evaluate("lab.replay.summary.textContent")
            assert said in words
            assert "0 pairs" not in words
            assert page.locator("#count-number").input_value() == str(bodies)
        page.get_by_label("Scene", exact=True).select_option("balls")
        until(page, "lab.frame.centers.length === 50")
        assert page.locator("#count-number").input_value() == "25"
        page.goto("about:blank")  # it leaves before the server does


@pytest.fixture(scope="module")
def crowded(tmp_path_factory):
    """A recording with a crowd in three frames, and the lab that shows it."""
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
    with running(folder, recording=path) as server:
        yield server, bp.Recording(path)


@pytest.mark.parametrize(("width", "theme"), [(390, "dark"), (1280, "light")])
def test_a_crowd_is_found_on_the_timeline_named_framed_and_zoomed_to(tabs, crowded, width, theme):
    server, recording = crowded
    peak = recording.busiest()[0].peak
    page = tabs(f"{server.address}sandbox?scene=replay&play=0", width=width, theme=theme)
    button = page.get_by_role("button", name="81\N{EN DASH}83: ")
    button.wait_for()
    until(page, "lab.replay.sentence.textContent.startsWith('Frame 0: 400 bodies; ')")
    assert page.get_by_role("button", name="Zoom to the crowd").is_disabled()
    assert f"Frame {peak} has the most tests" in page.get_by_label(
        "Tests, overlaps and bodies"
    ).get_attribute("aria-label")
    button.click()
    until(page, "text => lab.replay.sentence.textContent === text", f"{recording.explain(peak)}.")
    left, top, right, bottom = page.evaluate("frame => lab.replay.crowdOf(frame)", peak)
    assert page.evaluate("frame => lab.replay.crowdOf(frame)", peak + 1) is None
    page.get_by_role("button", name="Zoom to the crowd").click()
    assert page.evaluate("[lab.camera.x, lab.camera.y]") == [(left + right) / 2, (top + bottom) / 2]
    wide = page.evaluate("lab.lanes[0].size[0] / lab.lanes[0].place.scale")
    assert right - left < wide < 40 * (right - left)
    # A click on the timeline goes to the frame below it.
    box = page.locator(".timeline").bounding_box()
    page.mouse.click(box["x"] + 8 + (box["width"] - 16) * 150 / 199, box["y"] + 20)
    until(page, "Math.abs(lab.frame.frame - 150) <= 1")
    until(page, "lab.replay.crowdOf(lab.frame.frame) === null && lab.replay.zoom.disabled")
