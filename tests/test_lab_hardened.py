"""What is too much for the lab: refused in a line, without harm to other tabs, and gone when its tab is."""

import contextlib
import json
import socket
import sys
import threading
import time
from pathlib import Path
from urllib.parse import quote

import numpy as np
import pytest
from io_attacks import ATTACKS, empty_lists, same_batch
from lab_server import WAIT, Tab, fetch, running, setup_message

from broadphase import count_pairs
from broadphase.lab import session as sessions
from broadphase.lab.frames import Decoded
from broadphase.lab.lanes import Lane
from broadphase.lab.messages import Ack, BadMessage, parse
from broadphase.lab.session import MOST_OF_ALL, MOST_OF_ONE, Quota
from broadphase.lab.uploads import LARGEST, Uploads

pytestmark = pytest.mark.usefixtures("open_files_stay")


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    with running(tmp_path_factory.mktemp("lab")) as one:
        yield one
        assert one.process.poll() is None, one.errors.read_text()
        assert "Traceback" not in one.errors.read_text()


def megabytes(server, what: str) -> int:
    status = Path(f"/proc/{server.process.pid}/status").read_text(encoding="utf-8")
    return int(status.split(what)[1].split()[0]) >> 10


def upload(server, path: Path) -> tuple[int, dict]:
    status, said, _ = fetch(
        server, f"upload?name={quote(path.name)}", path.read_bytes(), Origin=f"http://{server.host}"
    )
    return status, json.loads(said)


@pytest.mark.skipif(sys.platform != "linux", reason="memory is read from /proc")
def test_files_that_need_much_memory_leave_the_server_alone(server, tmp_path, exhaustive):
    some = [make for make, _ in ATTACKS.values()] if exhaustive else [same_batch]
    before = megabytes(server, "VmRSS:")
    for make in some:
        path = make(tmp_path)
        assert path.stat().st_size <= LARGEST
        status, said = upload(server, path)
        assert status == 400, said
        assert said["error"].startswith(f"{path.name}: ")
        assert "\n" not in said["error"]
    assert megabytes(server, "VmHWM:") - before < 300


def test_connections_that_never_end_their_request_are_closed(tmp_path):
    program = (
        "from broadphase.lab import server\n"
        "server.PATIENCE = 0.5\n"
        "server.serve(server.listen('127.0.0.1', 0), '127.0.0.1', browser=False)\n"
    )
    with running(tmp_path, program=program) as one, contextlib.ExitStack() as held:
        begun = [b"GET / HTTP/1.1\r\nHost: x", b"", b"GET /nowhere HTTP/1.1\r\nContent-Length: 9\r\n"]
        begun[2] += f"Host: {one.host}\r\n\r\n".encode()
        for number in range(210):
            silent = held.enter_context(socket.create_connection(("127.0.0.1", one.port), WAIT))
            silent.sendall(begun[number % 3])
        end = time.monotonic() + WAIT
        while (status := fetch(one, "")[0]) == 503 and time.monotonic() < end:
            time.sleep(0.1)
        assert status == 200


def test_other_tabs_go_on_while_a_large_file_is_read(server, tmp_path):
    path = empty_lists(tmp_path)
    answers = []
    reading = threading.Thread(target=lambda: answers.append(upload(server, path)))
    with Tab(server) as tab:
        tab.send(setup_message(count=5))
        reading.start()
        frames = 0
        while not answers:
            frames += isinstance(tab.read(), Decoded)
        reading.join()
    assert answers[0][0] == 400
    assert answers[0][1]["error"].startswith("lists.geojson: takes more than 256 MB or 20 s to read")
    assert frames > 10


def test_too_many_bodies_in_too_many_lanes_are_refused_and_the_scene_stays(server):
    with Tab(server) as tab:
        tab.send(setup_message(count=7))
        tab.frame()
        tab.send(setup_message(count=100_000, methods=["strips", "box_tree", "strips"]))
        said = tab.hear("refused")["text"]
        assert said.startswith("100,000 bodies times 3 methods are more than the 200,000")
        tab.say("step")
        assert len(tab.frame().get(1)) == 14


def test_all_tabs_share_the_quota():
    quota = Quota()
    for tab in range(MOST_OF_ALL // MOST_OF_ONE):
        quota.take(tab, MOST_OF_ONE // 2, 2)
    with pytest.raises(BadMessage, match="more than the 0 that other tabs leave"):
        quota.take("late", 5, 1)
    quota.take(0, 10, 1)
    quota.take("late", 5, 1)
    quota.leave(1)
    assert len(quota) == MOST_OF_ALL - 2 * MOST_OF_ONE + 15


class Busy(Lane):
    """A lane whose engine works until it is cancelled."""

    begun, ended, enough = threading.Event(), threading.Event(), threading.Event()
    crowd = np.repeat(np.arange(12_000.0)[:, None], 4, axis=1)

    def run(self, boxes, *, remember=False):
        try:
            while not Busy.enough.is_set():
                count_pairs(Busy.crowd, method="brute_force")  # in many slices
                Busy.begun.set()
            return super().run(boxes, remember=remember)
        finally:
            Busy.ended.set()


@pytest.fixture
def busy(monkeypatch):
    """A session whose lane is at work."""
    monkeypatch.setattr(sessions, "Lane", Busy)
    for event in (Busy.begun, Busy.ended, Busy.enough):
        event.clear()

    def read(item):  # as a page does: else the session waits for it
        if isinstance(item, bytes):
            one.mail.has_left()
            one.put(Ack(one.mail._sent))

    one = sessions.Session(read, Uploads(), Quota())
    one.start()
    one.put(parse(setup_message(count=50)))
    assert Busy.begun.wait(WAIT)
    monkeypatch.setattr(sessions, "Lane", Lane)
    yield one
    one.close()
    one.join(WAIT)
    Busy.enough.set()  # otherwise the thread of the lane would occupy a core during all later tests


def test_a_tab_that_is_closed_stops_in_the_middle_of_a_frame(busy):
    assert len(busy._quota) == 50
    busy.close()
    busy.join(WAIT)
    assert not busy._thread.is_alive()
    assert Busy.ended.wait(WAIT)
    assert len(busy._quota) == 0


@pytest.mark.parametrize("changes", [{"count": 60}, {"count": 50, "methods": ["sort_and_sweep"]}])
def test_a_lane_that_is_shown_no_more_stops_in_the_middle_of_a_frame(busy, changes):
    busy.put(parse(setup_message(**changes)))
    assert Busy.ended.wait(WAIT)


def test_a_measurement_stops_in_the_middle_of_a_call(monkeypatch):
    begun, ended = threading.Event(), threading.Event()

    def endless(*_):
        try:
            while True:
                count_pairs(Busy.crowd, method="brute_force")  # in many slices
                begun.set()
        finally:
            ended.set()

    monkeypatch.setattr(sessions, "measure_growth", endless)
    said: list[str] = []
    one = sessions.Session(said.append, Uploads(), Quota())
    one._setup = parse(setup_message(count=5))
    one.start()
    run, stop = (
        parse(json.dumps({"type": "growth", "run": wish, "methods": ["strips"]})) for wish in (True, False)
    )
    for end in (lambda: one.put(stop), one.close):
        one.put(run)
        assert begun.wait(WAIT)
        end()
        one._growing.join(WAIT)
        assert ended.is_set()
        assert json.loads(said[-1]) == {"type": "growth", "ended": True, "stopped": True}
        begun.clear()
        ended.clear()


def test_a_tab_that_is_closed_while_its_lanes_begin_takes_no_thread_with_it():
    """At first a thread of Python 3.11 has its parent's number: the parent must not be interrupted by it."""
    for _ in range(20):
        one = sessions.Session(lambda item: None, Uploads(), Quota())
        one.start()
        one.put(parse(setup_message(count=50, methods=["strips"] * 4)))
        until = time.monotonic() + WAIT
        while not one._lanes and time.monotonic() < until:
            time.sleep(0)
        assert one._lanes
        one.close()
        one.join(WAIT)
        assert not one._thread.is_alive()


def test_a_tab_without_a_scene_rests_whatever_it_has_asked_for(monkeypatch):
    """A frame of a recording was asked for again and again, by a loop that took a core."""
    said, turns = [], []
    one = sessions.Session(said.append, Uploads(), Quota())
    wait = one.mail.wait
    monkeypatch.setattr(one.mail, "wait", lambda: turns.append(1) or wait())
    one.start()
    one.put(parse(setup_message(scene="file", file="gone")))
    until = time.monotonic() + WAIT
    while not said and time.monotonic() < until:
        time.sleep(0)
    assert json.loads(said[0])["type"] == "refused"
    one.put(parse('{"type": "seek", "frame": 3}'))
    time.sleep(0.1)
    one.close()
    one.join(WAIT)
    assert len(turns) <= 4
