"""The page of the lab at every width and theme, for every reader, and for no foreign script."""

import pytest


@pytest.mark.exhaustive
def test_nothing_sticks_out_or_overlaps_at_any_width(show, each):
    looks = [(390, "dark"), (800, "dark"), (390, "light"), (1440, "dark"), (800, "light"), (1440, "light")]
    each(lambda width, theme: fits(show, width, theme), looks, of=2)


def fits(show, width, theme):
    page = show("n=40&methods=sort_and_sweep,spatial_hash", width=width, theme=theme)
    page.evaluate("document.getElementById('side').open = true")
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert page.evaluate("document.documentElement.dataset.theme") == theme
    assert page.evaluate(STICKING_OUT) == []
    assert page.evaluate(OVERLAPPING) == []


def test_the_numbers_of_a_lane_are_one_row_on_a_phone(show):
    page = show("n=40&methods=spatial_hash", width=390)
    numbers = page.locator(".lane .numbers div:visible")
    assert numbers.count() == 5
    assert len({box.bounding_box()["y"] for box in numbers.all()}) == 1
    assert page.evaluate(STICKING_OUT) == []


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


def test_every_control_has_a_name_for_screen_readers(show):
    page = show("n=40&methods=sort_and_sweep,spatial_hash")
    nameless = page.evaluate(
        """() => [...document.querySelectorAll('button, select, input, canvas, progress')].filter(element =>
            !element.ariaHidden && !element.getAttribute('aria-label')
            && !element.labels?.length && !element.textContent.trim()
        ).map(element => element.outerHTML.slice(0, 80))"""
    )
    assert nameless == []


def test_the_policy_lets_no_foreign_script_run(show, tabs):
    tabs.excused = ("Content Security Policy",)
    page = show("n=20")
    page.evaluate(
        """() => { const script = document.createElement('script');
                   script.textContent = 'globalThis.broken = true'; document.body.append(script); }"""
    )
    assert page.evaluate("globalThis.broken") is None
    assert any("Content Security Policy" in said for said in tabs.errors)
