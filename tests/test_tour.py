"""The tour as the command opens it, and the lines of Python on its page."""

import html
import itertools
import json
import posixpath
import re
import subprocess
import sys
import threading
from urllib.error import HTTPError
from urllib.request import urlopen

import numpy as np
import pytest
from cli_helpers import COMMAND, refused

import broadphase as bp
from broadphase.cli import run
from broadphase.tour import FOLDER, Server

PAGE = (FOLDER / "index.html").read_text("utf-8")


def test_the_lines_of_python_run():
    lines = re.findall(r'<div class="python">.*?<code>(.*?)</code>', PAGE, re.DOTALL)
    assert len(lines) == 7
    boxes = np.array([[380.0, 230, 400, 250], [390, 240, 410, 260], [0, 0, 9, 9]])
    for line in map(html.unescape, lines):
        names = {"bp": bp, "boxes": boxes}
        exec(line, names)
        index = names["index"]
        index.insert_many(boxes)
        assert index.pairs().tolist() == bp.pairs(boxes).tolist() == [[0, 1]], line


def test_the_line_for_two_lists_runs():
    (line,) = re.findall(r"<code>(hits = .*?)</code>", PAGE)
    boxes = np.array([[0.0, 0, 2, 2], [1, 1, 3, 3], [5, 5, 6, 6]])
    names = {"bp": bp, "bullets": boxes[:1], "enemies": boxes[1:]}
    exec(html.unescape(line), names)
    assert names["hits"].tolist() == [[0, 0]]


MAP = json.loads((FOLDER / "map.json").read_text("utf-8"))


def measured(ask, n, share, spread, layout):
    """The time of each method in a scene of the map, in times the best; at least 20 where it was too slow."""
    scenes = itertools.product(*MAP["axes"].values())
    scene = (ask, int(n), float(share), int(spread), layout)
    _, *times = dict(zip(scenes, MAP["cells"], strict=True))[scene]
    return {method: 20 if time is None else time for method, time in zip(MAP["methods"], times, strict=True)}


@pytest.mark.parametrize("scene", re.findall('data-wins="([^"]+)">', PAGE))
def test_the_method_that_is_named_is_the_fastest_that_was_measured(scene):
    """The default where it is faster by more than 15 %, else the fastest single method."""
    *scene, method = scene.split()
    times = measured(*scene)
    default = times.pop(MAP["auto"])
    fastest = min(times, key=times.__getitem__)
    assert method == (MAP["auto"] if 1.15 * default < times[fastest] else fastest)


@pytest.mark.parametrize("scene", re.findall('data-over="([^"]+)">more than 20<', PAGE))
def test_what_takes_more_than_twenty_times_as_long_does(scene):
    *scene, method = scene.split()
    assert measured(*scene)[method] == 20


@pytest.mark.parametrize(("compared", "said"), re.findall('data-times="([^"]+)">([^<]+)<', PAGE))
def test_how_many_times_as_long_is_as_measured(compared, said):
    *scene, method, other = compared.split()
    times = measured(*scene)
    assert float(said) == float(f"{times[method] / times[other]:.2g}")


def test_the_page_requests_all_its_scripts_at_once():
    needed = ["tour.js"]
    for name in needed:
        imported = re.findall(r'from "(\.[^"]+)"', (FOLDER / name).read_text("utf-8"))
        imported = [posixpath.normpath(posixpath.join(posixpath.dirname(name), other)) for other in imported]
        needed += [other for other in imported if other not in needed]
    preloaded = re.findall(r'<link rel="modulepreload" href="([^"]+)">', PAGE)
    assert sorted(preloaded) == sorted(needed[1:])


@pytest.fixture(scope="module")
def server():
    with Server(0) as running:
        threading.Thread(target=running.serve_forever, daemon=True).start()
        yield running
        running.shutdown()


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("", "text/html; charset=utf-8"),
        ("tour.js", "text/javascript; charset=utf-8"),
        ("methods/strips.js", "text/javascript; charset=utf-8"),
        ("tour.css", "text/css; charset=utf-8"),
        ("times.json", "application/json"),
        ("icon.svg", "image/svg+xml"),
    ],
)
def test_each_file_is_served_as_what_it_is(server, name, kind):
    with urlopen(f"{server.address}{name}", timeout=60) as answer:
        assert answer.headers["Content-Type"] == kind
        assert "script-src 'self'" in answer.headers["Content-Security-Policy"]
        assert answer.read() == (FOLDER / (name or "index.html")).read_bytes()


@pytest.mark.parametrize("name", ["gone.js", "../__init__.py", "%2e%2e/__init__.py"])
def test_nothing_beside_the_folder_is_served(server, name):
    with pytest.raises(HTTPError) as error:
        urlopen(f"{server.address}{name}", timeout=60)
    with error.value as answer:
        assert answer.code == 404


def test_the_command_serves_it_without_any_extra():
    """Neither cyclopts nor rich is imported; Ctrl-C ends it."""
    program = """
import sys, threading, time, _thread, urllib.request
import broadphase.tour
from broadphase.cli import run
sys.modules["cyclopts"] = sys.modules["rich"] = None
opened = []
broadphase.tour.webbrowser.open = opened.append
def look():
    while not opened:
        time.sleep(0.01)
    print(b"What touches?" in urllib.request.urlopen(opened[0]).read())
    _thread.interrupt_main()
threading.Thread(target=look).start()
sys.exit(run(["tour", "--port", "0"]))
"""
    command = [sys.executable, "-W", "error", "-c", program]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    said = done.stdout.split("\n")
    assert re.fullmatch(r"The tour is at http://127\.0\.0\.1:\d+/  \(Ctrl-C ends it\)", said[0])
    assert said[1] == "True"


def test_it_is_started_as_a_module_too():
    with subprocess.Popen(
        [*COMMAND, "tour", "--no-browser", "--port", "0"], stdout=subprocess.PIPE, text=True
    ) as process:
        address = process.stdout.readline().split()[4]
        with urlopen(address, timeout=60) as answer:
            assert b"What touches?" in answer.read()
        process.terminate()


def test_a_port_that_cannot_be_had_is_reported(server, capfd):
    taken = server.server_address[1]
    said = refused(capfd, "tour", "--port", taken)
    assert said == f"port {taken} is in use; choose another with --port, or 0 for any"
    for wrong in ("-1", "65536", "x", "\u0661"):
        assert f"got {wrong!r}" in refused(capfd, "tour", f"--port={wrong}")
    assert "--other" in refused(capfd, "tour", "--other")
    assert run(["tour", "--help"]) == 0
    assert "--no-browser" in capfd.readouterr().out
