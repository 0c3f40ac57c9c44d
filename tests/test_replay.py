"""Recordings in the lab and in the command, and that of a game."""

import json
import queue
import re

import numpy as np
import pytest
from lab_server import WAIT, setup_message
from test_recording import play_world

import broadphase as bp
from broadphase.cli import run
from broadphase.indexes import CLASSES
from broadphase.lab.frames import Kind, decode
from broadphase.lab.messages import parse
from broadphase.lab.replays import Named, Replay, ReplayLane
from broadphase.lab.session import Quota, Session
from broadphase.lab.uploads import Uploads


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    path = tmp_path_factory.mktemp("replay") / "game.bprec"
    world = bp.World()
    with bp.Recorder(world, path):
        play_world(world, 70, np.random.default_rng(4), [])
    return path


@pytest.fixture(scope="module")
def recording(path):
    return bp.Recording(path)


@pytest.fixture(scope="module")
def expected(recording):
    return [frame.pairs().tolist() for frame in recording]


@pytest.mark.parametrize("method", CLASSES)
def test_a_lane_finds_what_was_recorded_in_every_frame(method, recording, expected, exhaustive):
    scene = Replay(recording)
    lane = ReplayLane(method, scene)
    for number in [
        *range(70 if exhaustive else 12),
        *range(5 if exhaustive else 0),
    ]:  # after the last frame it starts again
        assert scene.frame == number
        outcome = lane.run(scene.boxes())
        ids = np.full(len(scene), -1)
        for own, slot in scene._slots.items():
            ids[slot] = own
        found = np.sort(ids[outcome.pairs], axis=1)
        assert sorted(found.tolist()) == expected[number]
        scene.step()


class Heard(Session):
    """A session, and what it says."""

    def __init__(self, recording):
        self.said = queue.Queue()
        super().__init__(self.said.put, Uploads(), Quota(), recording)
        self.start()

    def hear(self, kind):
        """The next frame (``"frame"``) or words of a kind."""
        while True:
            got = self.said.get(timeout=WAIT)
            if isinstance(got, bytes):
                frame = decode(got)
                self.mail.has_left()
                self.put(parse(json.dumps({"type": "ack", "frame": frame.serial})))
                if kind == "frame":
                    return frame
            elif (words := json.loads(got))["type"] == kind:
                return words


def test_a_page_shows_any_frame_and_what_the_program_did_there(recording):
    session = Heard(Named("game.bprec", recording))
    try:
        session.put(parse('{"type": "play", "playing": false, "rate": 60}'))
        session.put(parse(setup_message(scene="replay", methods=["strips", "box_tree"])))
        assert session.hear("scene")["file"] == "game.bprec"
        assert session.hear("frame").frame == 0
        for number in (41, 7, 0, 69, 10**6):
            session.put(parse(json.dumps({"type": "seek", "frame": number})))
            frame, reported = session.hear("frame"), session.hear("replay")
            there = recording[min(number, 69)]
            assert frame.frame == reported["frame"] == there.number
            assert reported["bodies"] == len(there.ids)
            assert len(frame.get(Kind.HITS)) == 2 * len(there.pairs())
            assert {name: times for name, times, _ in reported["calls"]} == {
                name: call.times for name, call in there.calls.items()
            }
            assert frame.get(Kind.HALVES) is not None
        session.put(parse('{"type": "seek", "frame": 12}'))
        assert session.hear("frame").frame == 12
        session.put(parse('{"type": "step"}'))
        assert session.hear("frame").frame == 13
        session.put(parse('{"type": "ask", "what": "explain"}'))
        assert f"{len(recording[13].ids)} boxes" in session.hear("explain")["text"]
    finally:
        session.close()
        session.join(WAIT)


def test_a_frame_says_whether_there_was_a_listener(tmp_path):
    world, path = bp.World(), tmp_path / "listened.bprec"
    world.add(bp.Box(0, 0, 2, 2), tag="a")
    world.add(bp.Box(1, 1, 2, 2), tag="a")
    with bp.Recorder(world, path):
        world.update()
        listener = world.on("a", "a", begin=lambda contact: None)
        world.update()
        listener.remove()
        world.update()
    recording = bp.Recording(path)
    assert [(frame.listened, frame.found) for frame in recording] == [(False, 0), (True, 1), (False, 0)]
    scene = Replay(recording)
    assert scene.summary()["listened"] is False
    scene.step()
    assert (scene.summary()["listened"], scene.summary()["found"]) == (True, 1)

    index, path = bp.BoxTree(), tmp_path / "index.bprec"
    with bp.Recorder(index, path):
        index.insert_many([[0, 0, 2, 2], [1, 1, 3, 3]])
        index.pairs()
    assert [(frame.listened, frame.found) for frame in bp.Recording(path)] == [(None, 1)]


def test_the_python_lines_of_a_recording_print_what_the_page_shows(path, recording, monkeypatch, capsys):
    session = Heard(Named("game.bprec", recording))
    try:
        session.put(parse('{"type": "play", "playing": false, "rate": 60}'))
        session.put(parse(setup_message(scene="replay", methods=["sort_and_sweep"])))
        session.put(parse('{"type": "seek", "frame": 30}'))
        while (frame := session.hear("frame")).frame != 30:
            pass
        session.put(parse('{"type": "ask", "what": "code"}'))
        lines = session.hear("code")["text"]
    finally:
        session.close()
        session.join(WAIT)
    monkeypatch.chdir(path.parent)
    exec(compile(lines, "lines", "exec"), {})
    assert f"tests={int(frame.get(Kind.NUMBERS, 0)[0])}" in capsys.readouterr().out


def test_a_lab_without_a_recording_says_how_to_open_one():
    session = Heard(None)
    try:
        session.put(parse(setup_message(scene="replay")))
        assert "broadphase replay FILE" in session.hear("refused")["text"]
    finally:
        session.close()
        session.join(WAIT)


# ---- the command


def test_the_table_has_a_line_for_each_frame_and_lists_the_slowest(path, recording, capsys):
    assert run(["replay", str(path), "--table", "--methods", "strips", "brute_force", "--slowest", "2"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == f"{path}: <Recording of 70 frames, up to {recording.most_bodies} bodies>"
    heads = "frame bodies moved pairs recorded ms strips ms brute_force ms"
    assert lines[2].split() == heads.split()
    for frame, line in zip(recording, lines[3:73], strict=True):
        numbers = line.split()
        assert [int(number) for number in numbers[:4]] == [
            *(frame.number, len(frame.ids), frame.moved, len(frame.pairs())),
        ]
        assert len(numbers) == 7
    assert [line.split()[0] for line in lines[75:77]] == ["strips", "brute_force"]
    assert lines[78] == "busiest frames, by tests"
    assert all(line == recording.explain(int(line[6 : line.index(":")])) for line in lines[79:81])
    slowest = [line.split(":")[0] for line in lines[83:]]
    assert slowest == [f"frame {number}" for number in recording.slowest(2)]


def test_a_planted_crowd_is_named(tmp_path):
    rng = np.random.default_rng(1)
    world = bp.World()
    corners = rng.random((2_000, 2)) * 1_000
    world.add_many(np.hstack((corners, corners + 8)), tag="mob")
    world.on("mob", "mob")
    with bp.Recorder(world, tmp_path / "game.bprec"):
        for frame in range(60):
            places = rng.random((2_000, 2)) * 1_000
            if 40 <= frame < 45:
                places[:600] = rng.random((600, 2)) * 15 + 500
            world.positions = places
            world.update()
    recording = bp.Recording(tmp_path / "game.bprec")
    overlaps = len(recording[42].pairs())
    said = recording.explain(42)
    assert said.startswith(f"frame 42: 2,000 bodies, {overlaps:,} overlaps (")
    assert "x the median" in said
    crowd = re.search(r"; (\d+) bodies lie around \(([\d.]+), ([\d.]+)\)$", said)
    assert 300 < int(crowd[1]) <= 640
    assert abs(float(crowd[2]) - 511) < 10 > abs(float(crowd[3]) - 511)
    assert "lie around" not in recording.explain(10)
    assert recording.explain(-1).startswith("frame 59: ")
    with pytest.raises(IndexError, match="frame 60 of 60"):
        recording.explain(60)


def test_files_that_are_no_recordings_are_reported_in_one_line(tmp_path, path, capsys):
    (tmp_path / "a.csv").write_text("0,0,1,1\n")
    assert run(["replay", str(tmp_path / "a.csv"), "--table"]) == 2
    assert capsys.readouterr().err.endswith("is no recording that can be read: it is no recording\n")
    (tmp_path / "empty").write_bytes(path.read_bytes()[:200])
    assert run(["replay", str(tmp_path / "empty")]) == 2
    assert "holds no frame that is whole; frame 0: it is cut off" in capsys.readouterr().err
    assert run(["replay", str(tmp_path / "gone")]) == 2
    assert len(capsys.readouterr().err.splitlines()) == 1


# ---- a game


def test_a_thousand_frames_of_the_dungeon_are_small_and_replay_to_the_same_pairs(
    tmp_path, monkeypatch, exhaustive
):
    pytest.importorskip("pygame")
    monkeypatch.setenv("SDL_VIDEODRIVER", "dummy")
    from examples.dungeon import Dungeon

    frames = 1_000 if exhaustive else 30
    game = Dungeon(monsters=500)
    game.by_itself, game.hero.health = True, 10**9
    monkeypatch.setattr(game, "enter", lambda: setattr(game, "leaves", False))  # it stays in this world
    world, seen = game.world, []
    recorder = bp.Recorder(world, tmp_path / "a")
    update = world.update

    def look_and_update():
        boxes = np.array([body.bounds for body in world])
        rules = {
            "static": np.array([body.static for body in world]),
            "categories": np.array([body.category for body in world], np.uint32),
            "masks": np.array([body.mask for body in world], np.uint32),
        }
        seen.append(world.ids[bp.pairs(boxes, touching=False, **rules)])
        return update()

    world.update = look_and_update
    for _ in range(frames):
        game.update()
    world.update = update
    recorder.close()
    assert (tmp_path / "a").stat().st_size < 5_000 * frames
    for frame, pairs in zip(bp.Recording(tmp_path / "a"), seen, strict=True):
        assert np.array_equal(frame.pairs("sort_and_sweep"), pairs)
