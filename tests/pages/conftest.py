"""The tour as it is served, and a real Chromium that opens it; any error on its console fails the test."""

import os
import shutil
import threading

import pytest
from page_reading import WAIT

from broadphase.tour import Server

CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)


@pytest.fixture(scope="package")
def server():
    with Server(0) as running:
        threading.Thread(target=running.serve_forever, daemon=True).start()
        yield running
        running.shutdown()


@pytest.fixture(scope="package")  # its event loop ends before other tests may want one
def chromium():
    playwright = pytest.importorskip("playwright.sync_api")
    if CHROMIUM is None and not os.environ.get("BROADPHASE_NEEDS_CHROMIUM"):
        pytest.skip("there is no Chromium")
    assert CHROMIUM, "install Chromium: apt-get install chromium"
    root = hasattr(os, "geteuid") and os.geteuid() == 0
    with playwright.sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"] if root else [])
        yield browser
        browser.close()


@pytest.fixture(scope="package")
def window(chromium):
    """A window, and its pages that no test uses: to open a page takes a second, most of a small test."""
    with chromium.new_context(accept_downloads=True) as context:
        yield context, []


@pytest.fixture
def tabs(window):
    """Opens pages; at the end no console has said anything amiss but what holds `excused` words.

    They rest, as for readers who want less motion: most of the time went into frames that nobody looked at.
    """
    context, free = window
    errors = []
    opened = []

    def hear(said):
        if said.type in ("error", "warning"):
            errors.append(said.text)

    def fail(error):
        errors.append(str(error))

    def open_tab(address, width=1280, height=900, theme="light", motion="reduce"):
        page = free.pop() if free else context.new_page()
        opened.append(page)
        page.bring_to_front()  # the clocks of others run slowly
        page.set_default_timeout(WAIT)
        page.set_viewport_size({"width": width, "height": height})
        page.emulate_media(color_scheme=theme, reduced_motion=motion)
        page.on("console", hear)
        page.on("pageerror", fail)
        page.goto(address)
        return page

    open_tab.errors = errors
    open_tab.excused = ()
    yield open_tab
    for page in opened:
        if not page.is_closed():
            page.unroute_all()
            if page.url != "about:blank":  # which has no storage
                # Guesses and goals of one test are not those of the next.
                page.evaluate("localStorage.clear()")
                # Asked for by the page itself: the browser would end the page's process and start another.
                page.evaluate("location.replace('about:blank')")
                page.wait_for_url("about:blank")
            page.mouse.move(0, 0)
            page.remove_listener("console", hear)
            page.remove_listener("pageerror", fail)
            free.append(page)
    assert [said for said in errors if not any(words in said for words in open_tab.excused)] == []
