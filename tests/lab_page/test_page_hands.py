"""The page of the lab under mouse and keyboard: dragging, throwing, zooming."""

import numpy as np
from page_reading import centers, frame_number, on_screen, picture, until


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


def catch(page, body):
    """Hold a body that flies: where it was seen it may be no more when the mouse comes down."""
    for _ in range(100):
        x, y = on_screen(page, body)
        page.mouse.move(x, y)
        page.mouse.down()
        pressed = frame_number(page)
        until(page, "pressed => lab.frame.held[0] >= 0 || lab.frame.frame > pressed + 5", pressed)
        if page.evaluate("lab.frame.held[0]") >= 0:
            return x, y
        page.mouse.up()
    raise AssertionError("never caught")


def test_a_thrown_ball_flies_on(show):
    page = show("n=5&methods=strips&seed=2")
    x, y = catch(page, 3)
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
