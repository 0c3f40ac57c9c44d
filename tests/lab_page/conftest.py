"""A lab that runs, and a real Chromium that opens it; any error on its console fails the test."""

import os
import shutil

import pytest
from lab_server import running
from page_reading import WAIT, until

CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)


@pytest.fixture(scope="package")
def server(tmp_path_factory):
    with running(tmp_path_factory.mktemp("lab")) as one:
        yield one
        assert "Traceback" not in one.errors.read_text()


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


@pytest.fixture
def tabs(chromium):
    """Opens pages; at the end no console has said anything amiss but what holds `excused` words."""
    errors = []
    contexts = []

    def open_tab(address, width=1280, height=900, theme="light"):
        context = chromium.new_context(
            viewport={"width": width, "height": height}, color_scheme=theme, accept_downloads=True
        )
        contexts.append(context)
        page = context.new_page()
        page.set_default_timeout(WAIT)
        page.on(
            "console", lambda said: errors.append(said.text) if said.type in ("error", "warning") else None
        )
        page.on("pageerror", lambda error: errors.append(str(error)))
        page.goto(address)
        return page

    open_tab.errors = errors
    open_tab.excused = ()
    yield open_tab
    for context in contexts:
        context.close()
    assert [said for said in errors if not any(words in said for words in open_tab.excused)] == []


@pytest.fixture
def show(server, tabs):
    """Opens the lab at a query and waits for the first picture."""

    def at(query="", **options):
        page = tabs(f"{server.address}sandbox?{query}", **options)
        until(page, "globalThis.lab?.drawn > 0 && lab.lanes.every((_, k) => lab.frame.lanes[k])")
        return page

    return at
