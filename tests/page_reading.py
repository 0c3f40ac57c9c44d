"""What a page of the lab shows, read from it, and the wait until it does."""

import time

import numpy as np

NOT_KNOWN = "\N{EN DASH}"
WAIT = 60_000  # milliseconds; only what hangs takes so long, or a first compilation


def until(page, condition, argument=None):
    """Wait for a condition; the page's policy forbids what the driver itself would do for that."""
    deadline = time.monotonic() + WAIT / 1000
    while not page.evaluate(condition, argument):
        assert time.monotonic() < deadline, f"never: {condition}"
        page.wait_for_timeout(20)


def frame_number(page):
    return page.evaluate("lab.frame.frame")


def go_to(page, frame):
    """Step by step to a frame of a static scene."""
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
