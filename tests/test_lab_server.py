"""The server of the lab in a process of its own: what it serves, and what it does with hostile input."""

import contextlib
import http.client
import json
import os
import socket
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from lab_server import ENVIRONMENT, WAIT, Tab, fetch, running, setup_message
from websockets.exceptions import ConnectionClosed, InvalidStatus
from websockets.sync.client import connect

from broadphase.lab.frames import Decoded, Kind
from broadphase.lab.scenes import make_scene
from broadphase.lab.server import MOST_SESSIONS

pytestmark = pytest.mark.usefixtures("open_files_stay")


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    with running(tmp_path_factory.mktemp("lab")) as one:
        yield one
        assert one.process.poll() is None, one.errors.read_text()
        assert "Traceback" not in one.errors.read_text()


def memory(server) -> int:
    """Megabytes that the server holds."""
    statm = Path(f"/proc/{server.process.pid}/statm").read_text(encoding="utf-8")
    return int(statm.split()[1]) * os.sysconf("SC_PAGE_SIZE") >> 20


def still_works(server) -> None:
    with Tab(server) as tab:
        tab.send(setup_message(count=5))
        assert tab.frame().get(Kind.CENTERS) is not None


def send_and_read(tab, text):
    tab.send(text)
    tab.read_to_the_end()


def what_is_left(tab):
    """What comes without anything being acknowledged."""
    with contextlib.suppress(TimeoutError):
        while True:
            yield tab.read(acknowledge=False, timeout=0.5)


# ---- what it serves


def test_the_page_loads_nothing_from_anywhere_else(server):
    status, page, headers = fetch(server, "")
    assert status == 200
    assert b"https://" not in page
    policy = headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy
    assert headers["x-content-type-options"] == "nosniff"
    for name in ("main.js", "style.css", "icon.svg"):
        status, content, headers = fetch(server, f"page/{name}")
        assert status == 200
        assert b"https://" not in content
        assert headers["content-security-policy"] == policy


@pytest.mark.parametrize("path", ["page/nothing.js", "page/..%2fserver.py", "page/server.py", "etc/passwd"])
def test_nothing_but_the_page_is_served(server, path):
    assert fetch(server, path)[0] == 404


def test_frames_say_what_the_python_api_says(server):
    with Tab(server) as tab:
        tab.send(setup_message(scene="asteroids", count=80, seed=9, methods=["sort_and_sweep", "strips"]))
        frame = tab.frame(12)
    scene = make_scene("asteroids", count=80, seed=9)
    for _ in range(12):
        scene.step()
    assert np.array_equal(frame.get(Kind.CENTERS), scene.centers.astype(np.float32).ravel())
    import broadphase as bp

    assert np.array_equal(frame.get(Kind.HITS), bp.pairs(scene.boxes()).ravel())
    index = bp.SortAndSweep()
    index.insert_many(scene.boxes())
    pairs = index.pairs()
    tests, candidates, overlaps, *_ = frame.get(Kind.NUMBERS, 0)
    assert (tests, candidates, overlaps) == (index.stats.tests, index.stats.tests, len(pairs))
    assert len(frame.get(Kind.TESTS, 0)) == 2 * tests


def test_a_step_is_one_frame_and_a_restart_starts_over(server):
    with Tab(server) as tab:
        tab.say("play", playing=False, rate=60)
        tab.send(setup_message(count=5))
        assert tab.frame().frame == 0
        tab.say("step")
        assert tab.frame().frame == 1
        tab.say("restart")
        frame = tab.frame()
        assert (frame.frame, frame.epoch) == (0, 2)


def test_dragging_moves_a_body_while_time_is_paused_too(server):
    with Tab(server) as tab:
        tab.say("play", playing=False, rate=60)
        tab.send(setup_message(count=5))
        before = tab.frame().get(Kind.CENTERS).reshape(-1, 2)
        tab.say("pointer", phase="grab", x=float(before[2, 0]), y=float(before[2, 1]), reach=0)
        assert tab.frame().get(Kind.HELD) == 2
        tab.say("pointer", phase="drag", x=33.0, y=44.0, reach=0)
        frame = tab.frame()
        after = frame.get(Kind.CENTERS).reshape(-1, 2)
        assert after[2].tolist() == [33, 44]
        assert np.array_equal(np.delete(after, 2, 0), np.delete(before, 2, 0))
        assert frame.frame == 0


def test_words_explain_and_the_lines_are_python(server):
    with Tab(server) as tab:
        tab.send(setup_message(count=50))
        tab.frame()
        tab.say("ask", what="explain")
        assert "auto picks brute_force" in tab.hear("explain")["text"]
        tab.say("ask", what="code")
        compile(tab.hear("code")["text"], "lines", "exec")


def test_growth_is_measured_and_stopped(server):
    with Tab(server) as tab:
        tab.say("play", playing=False, rate=60)
        tab.send(setup_message(count=5))
        tab.frame()
        tab.say("growth", run=True, methods=["brute_force", "strips"])
        first = tab.hear("growth")
        assert first["method"] == "brute_force"
        assert first["total"] == 22
        tab.say("growth", run=False, methods=["brute_force"])
        while not (last := tab.hear("growth")).get("ended"):
            pass
        assert last["stopped"]


def test_a_file_is_uploaded_and_shown(server):
    status, content, _ = fetch(
        server, "upload?name=my%20boxes.csv", b"0,0,2,2\n1,1,3,3\n9,9,10,10\n", Origin=f"http://{server.host}"
    )
    answer = json.loads(content)
    assert (status, answer["count"], answer["name"]) == (200, 3, "my boxes.csv")
    with Tab(server) as tab:
        tab.send(setup_message(scene="file", file=answer["token"]))
        frame = tab.frame()
        assert frame.get(Kind.HITS).tolist() == [0, 1]
        assert frame.get(Kind.CENTERS).tolist() == [1, 1, 2, 2, 9.5, 9.5]
        tab.send(setup_message(scene="file", file="gone"))
        assert "Choose the file again" in tab.hear("refused")["text"]


# ---- which requests are allowed


@pytest.mark.parametrize("host", ["evil.example", "evil.example:{port}", "127.0.0.1.evil.example", ""])
def test_another_host_is_refused(server, host):
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=WAIT)
    connection.putrequest("GET", "/", skip_host=True)
    connection.putheader("Host", host.format(port=server.port))
    connection.endheaders()
    assert connection.getresponse().status == 403
    connection.close()


@pytest.mark.parametrize(
    "origin", ["http://evil.example", "null", "https://127.0.0.1:{port}", "http://127.0.0.1:1", None]
)
def test_another_origin_gets_no_socket_and_no_upload(server, origin):
    named = None if origin is None else origin.format(port=server.port)
    with pytest.raises(InvalidStatus) as refused, connect(f"ws://{server.host}/live", origin=named):
        pass
    assert refused.value.response.status_code == 403
    headers = {} if named is None else {"Origin": named}
    assert fetch(server, "upload?name=a.csv", b"0,0,1,1\n", **headers)[0] == 403


def test_localhost_is_a_name_of_this_machine(server):
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=WAIT)
    connection.request("GET", "/", headers={"Host": f"localhost:{server.port}"})
    assert connection.getresponse().status == 200
    connection.close()


# ---- hostile input


def test_malformed_messages_are_answered_and_the_session_continues(server):
    with Tab(server) as tab:
        tab.send(setup_message(count=5))
        tab.frame()
        for text in (
            "nonsense",
            setup_message(count=10**9),
            setup_message(cell_scale=float("nan")),
            '{"type": "pointer", "phase": "grab", "x": NaN, "y": 0, "reach": 0}',
            "[" * 2000,
            "x" * 20_000,
            b"\x00\xff\x00",
            '{"type": "ack", "frame": 999999999}',
        ):
            tab.send(text)
            assert tab.hear("refused")["text"]
        assert isinstance(tab.frame(), Decoded)
    assert "a message was refused" in server.errors.read_text()


def test_a_message_that_is_far_too_long_ends_its_connection_only(server):
    with Tab(server) as tab, Tab(server) as other:
        other.send(setup_message(count=5))
        with pytest.raises(ConnectionClosed):
            send_and_read(tab, "x" * 5_000_000)
        assert other.frame()


def test_a_flood_is_dropped_and_the_others_go_on(server):
    with Tab(server) as flood, Tab(server) as other:
        other.send(setup_message(count=5))
        other.frame()
        for _ in range(3000):
            flood.send(setup_message(count=5))
        assert "too many messages" in json.dumps([flood.hear("refused") for _ in range(3)])
        assert other.frame()


def test_uploads_that_are_too_large_or_nonsense_are_refused(server):
    origin = {"Origin": f"http://{server.host}"}
    before = memory(server) if sys.platform == "linux" else 0
    assert fetch(server, "upload?name=a.csv", b"0,0,1,1\n" * 3_000_000, **origin)[0] == 413
    status, content, _ = fetch(server, "upload?name=a.csv", b"not,boxes\n", **origin)
    assert status == 400
    assert "a.csv" in json.loads(content)["error"]
    assert fetch(server, "upload?name=" + "x" * 5000, b"", **origin)[0] == 400
    if sys.platform == "linux":
        assert memory(server) - before < 200
    still_works(server)


def test_broken_frames_and_half_handshakes_do_no_harm(server):
    request = (
        f"GET /live HTTP/1.1\r\nHost: {server.host}\r\nOrigin: http://{server.host}\r\nUpgrade: websocket\r\n"
        "Connection: Upgrade\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n"
        "Sec-WebSocket-Version: 13\r\n\r\n"
    )
    for garbage in (b"", b"\xff\xff\xff\xff", b"\x81\xff" + b"\xff" * 8, os.urandom(500)):
        with socket.create_connection(("127.0.0.1", server.port)) as raw:
            raw.sendall(request.encode())
            assert raw.recv(12) == b"HTTP/1.1 101"
            raw.sendall(garbage)
    for garbage in (
        b"\x00" * 100,
        b"GET / HTTP/1.1\r\n",
        b"POST /upload HTTP/1.1\r\nContent-Length: 99999999999\r\n\r\n",
    ):
        with socket.create_connection(("127.0.0.1", server.port)) as raw:
            raw.sendall(garbage)
    still_works(server)


def test_ten_tabs_run_side_by_side_and_too_many_are_refused(server):
    tabs = [Tab(server) for _ in range(MOST_SESSIONS)]
    try:
        for seed, tab in enumerate(tabs[:10]):
            tab.send(setup_message(count=30, seed=seed))
        for seed, tab in enumerate(tabs[:10]):
            wanted = make_scene("balls", count=30, seed=seed).centers.astype(np.float32).ravel()
            assert np.array_equal(tab.frame(0).get(Kind.CENTERS), wanted)
        with Tab(server) as extra, pytest.raises(ConnectionClosed, match="too many tabs"):
            extra.read()
    finally:
        for tab in tabs:
            tab.close()
    deadline = time.monotonic() + WAIT
    while time.monotonic() < deadline:  # until the server has noticed
        try:
            return still_works(server)
        except ConnectionClosed:
            time.sleep(0.1)
    raise AssertionError("the quota is not free again")


@pytest.mark.skipif(sys.platform != "linux", reason="memory is read from /proc")
def test_a_page_that_stops_reading_gets_two_frames_and_memory_stays(server):
    with Tab(server) as silent, Tab(server) as other:
        silent.send(setup_message(count=100_000, methods=["strips"]))
        other.send(setup_message(count=5))
        frames = 0
        while frames < 2:
            frames += isinstance(silent.read(acknowledge=False), Decoded)
        before = memory(server)
        until = time.monotonic() + 2
        while time.monotonic() < until:
            other.frame()
        assert memory(server) - before < 60
        assert not any(isinstance(got, Decoded) for got in what_is_left(silent))


# ---- starting and ending


def command(*arguments):
    return subprocess.run(
        [sys.executable, "-W", "error", "-m", "broadphase", "lab", "--no-browser", *arguments],
        env=ENVIRONMENT,
        capture_output=True,
        text=True,
        timeout=WAIT,
        check=False,
    )


def test_a_port_in_use_is_reported_in_one_line(server):
    done = command("--port", str(server.port))
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == (
        f"broadphase: port {server.port} is in use; choose another with --port, or 0 for any that is free\n"
    )


def test_a_host_that_is_not_this_machine_is_reported_in_one_line():
    done = command("--host", "192.0.2.1", "--port", "0")
    assert done.returncode == 2
    assert done.stderr.startswith("broadphase: 192.0.2.1 is no address of this machine")
    assert len(done.stderr.splitlines()) == 1


def test_the_server_listens_on_the_loopback_only(server):
    with socket.socket() as probe:
        probe.bind(("127.0.0.2", server.port))  # would fail if it listened on every address


def test_a_server_that_is_interrupted_ends_at_once_with_tabs_open(tmp_path):
    with running(tmp_path) as one, Tab(one) as tab:
        tab.send(setup_message(count=5))
        tab.frame()
        one.process.terminate()
        assert one.process.wait(30) is not None
        assert "Traceback" not in one.errors.read_text()
