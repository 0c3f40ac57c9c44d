"""Waiting until a page is as far as a test wants it, and what must not be seen on any page."""

import time

WAIT = 60_000  # milliseconds; only what hangs takes so long


def until(page, condition, argument=None):
    """Wait for a condition; the page's policy forbids what the driver itself would do for that."""
    deadline = time.monotonic() + WAIT / 1000
    while not page.evaluate(condition, argument):
        assert time.monotonic() < deadline, f"never: {condition}"
        page.wait_for_timeout(20)


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
