"""Two sizes of one suite, and examples that come back.

``python -m pytest`` checks every promise on every method, index, dimension and dtype; ``python -m pytest
--exhaustive`` does so with all scenes, all rules, all sizes and more examples.  Hypothesis replays: the same
examples on every run and machine, so that a failure comes back.  ``python -m pytest
--hypothesis-profile=explore`` looks for new ones instead and prints how to replay them.
"""

import atexit
import gc
import importlib
import os
import signal
import sys
from contextlib import suppress
from pathlib import Path

import open_files
import pytest
from _pytest.doctest import DoctestModule
from cases import Each, beyond_the_covering, is_of_one_size
from hypothesis import settings

# What a shell starts in the background without job control inherits a Ctrl-C that is ignored, and hands it
# on to every process that it starts.
if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

# The tests start a hundred processes.  If Python keeps no bytecode, each would compile the package again;
# if it keeps it in a folder of its own, all other packages too: they took half of the collection.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)

settings.register_profile("replay", derandomize=True, deadline=None, database=None, max_examples=10)
settings.register_profile("exhaustive", settings.get_profile("replay"), max_examples=60)
settings.register_profile("explore", deadline=None, print_blob=True, max_examples=2_000)
settings.load_profile("replay")


def pytest_addoption(parser):
    parser.addoption(
        "--exhaustive",
        action="store_const",
        const="all",
        help="every scene with every rule, at every size: takes longer",
    )
    parser.addoption(
        "--exhaustive-only",
        dest="exhaustive",
        action="store_const",
        const="only",
        help="the same without the tests of which the short run does all",
    )


def pytest_configure(config):
    # Libraries tell at the end what they take for leaks; after pytest has collected garbage five times.
    atexit.register(gc.unfreeze)
    if config.getoption("exhaustive") and not config.getoption("hypothesis_profile", None):
        settings.load_profile("exhaustive")


def pytest_xdist_auto_num_workers():
    """One more than there are cores: pages, servers and programs that tests start are waited for.

    On two cores 187 s instead of 209.
    """
    return (os.cpu_count() or 1) + 1


def import_part(config):
    """Import every n-th file of tests first, where n workers collect all files.

    pytest compiles a file's assertions where it is imported first, which takes five seconds for all.
    """
    worker = getattr(config, "workerinput", None)
    if worker and config.args == config.getini("testpaths"):
        number = int(worker["workerid"].removeprefix("gw"))
        for file in sorted(Path(__file__).parent.glob("test_*.py"))[number :: worker["workercount"]]:
            with suppress(pytest.skip.Exception):
                importlib.import_module(file.stem)


@pytest.hookimpl(wrapper=True)
def pytest_collect_file():
    """Look for examples in the library only: tests have none, and their helpers are imported when used."""
    return [found for found in (yield) if not isinstance(found, DoctestModule)]


@pytest.hookimpl(wrapper=True)
def pytest_collection(session):
    """Collect without the garbage collector, and keep from it what stays to the end.

    There is much of it: a test that has the garbage collected would wait for every look at all of it.
    """
    gc.disable()
    try:
        import_part(session.config)
        return (yield)
    finally:
        gc.enable()
        # From 3.14 on Hypothesis cannot see who refers to its random numbers where that is frozen, and warns.
        if sys.version_info < (3, 14):
            gc.freeze()


@pytest.hookimpl(trylast=True)  # of what ``-k`` and ``-m`` have left
def pytest_collection_modifyitems(config, items):
    size = config.getoption("exhaustive")
    if size == "all":
        return
    more = [item for item in items if item.get_closest_marker("exhaustive")]
    more += beyond_the_covering(items)
    gone = set(map(id, more))
    if size == "only":
        gone = {id(item) for item in items if id(item) not in gone and is_of_one_size(item)}
    config.hook.pytest_deselected(items=[item for item in items if id(item) in gone])
    items[:] = [item for item in items if id(item) not in gone]


@pytest.fixture
def each(request):
    """Runs a check on many cases and names those that failed: see `cases.Each`."""
    each = Each(exhaustive=request.config.getoption("exhaustive"))
    yield each
    request.node.user_properties.append(("cases", each.count))


@pytest.fixture
def open_files_stay(monkeypatch):
    """Fails the test if it removes, renames or replaces an open file, which Windows refuses."""
    if not open_files.CAN_TELL:
        yield
        return
    with open_files.as_on_windows(monkeypatch) as refused:
        yield
    # The lock of a run is tried twice: before it is closed, where that is possible, and after.
    assert [name for name in refused if not name.endswith(".lock")] == []


@pytest.fixture
def exhaustive(request):
    """Whether there is time for long runs."""
    return bool(request.config.getoption("exhaustive"))


def pytest_terminal_summary(terminalreporter):
    """Say how many cases the tests held (those without a loop are one each), and how many lives of worlds."""
    reports = [
        report for some in terminalreporter.stats.values() for report in some if hasattr(report, "when")
    ]
    reported = [dict(report.user_properties) for report in reports if report.when == "teardown"]
    inner = [properties.get("cases", 0) for properties in reported]
    tests = sum(report.when == "call" for report in reports)
    looped = [count for count in inner if count]
    terminalreporter.write_line(f"{tests - len(looped) + sum(looped)} cases in {tests} tests")
    lives, acts = (sum(properties.get(name, 0) for properties in reported) for name in ("lives", "acts"))
    if lives:  # of tests/test_world_lives.py
        terminalreporter.write_line(f"{lives} lives of worlds were seen, of {acts} acts")
