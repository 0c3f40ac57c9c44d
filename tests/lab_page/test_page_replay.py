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
                "frame => document.querySelector('#replay .hint').textContent.startsWith(frame)",
                f"Frame {frame}:",
            )
            words = page.locator("#replay .hint").first.inner_text()
            assert said in words
            assert "0 pairs" not in words
            assert page.locator("#count-number").input_value() == str(bodies)
        page.get_by_label("Scene", exact=True).select_option("balls")
        until(page, "lab.frame.centers.length === 50")
        assert page.locator("#count-number").input_value() == "25"
        page.goto("about:blank")  # it leaves before the server does
