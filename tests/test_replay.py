"""Recordings in the command, and that of a game."""

import re

import numpy as np
import pytest
from test_recording import play_world

import broadphase as bp
from broadphase.cli import run


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

    index, path = bp.BoxTree(), tmp_path / "index.bprec"
    with bp.Recorder(index, path):
        index.insert_many([[0, 0, 2, 2], [1, 1, 3, 3]])
        index.pairs()
    assert [(frame.listened, frame.found) for frame in bp.Recording(path)] == [(None, 1)]


# ---- the command


def test_the_table_has_a_line_for_each_frame_and_lists_the_slowest(path, recording, capsys):
    assert run(["replay", str(path), "--methods", "strips", "brute_force", "--slowest", "2"]) == 0
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
    assert lines[78] == "busiest frames, by tests of a tree"
    busiest = recording.busiest(2)
    peaks = [line.split("; busy from")[0] for line in lines[79 : 79 + len(busiest)]]
    assert peaks == [recording.explain(stretch.peak) for stretch in busiest]
    slowest = [line.split(":")[0] for line in lines[-2:]]
    assert slowest == [f"frame {number}" for number in recording.slowest(2)]


@pytest.fixture(scope="module")
def piled(tmp_path_factory):
    """300 of 1,000 bodies lie in one place in frames 20 to 24 of 30."""
    rng = np.random.default_rng(1)
    world, path = bp.World(), tmp_path_factory.mktemp("piled") / "game.bprec"
    corners = rng.random((1_000, 2)) * 700
    world.add_many(np.hstack((corners, corners + 8)), tag="mob")
    world.on("mob", "mob")
    with bp.Recorder(world, path):
        for frame in range(30):
            places = rng.random((1_000, 2)) * 700
            if 20 <= frame < 25:
                places[:300] = rng.random((300, 2)) * 15 + 500
            world.positions = places
            world.update()
    return path


@pytest.fixture(scope="module")
def crowded(piled):
    """The same, read."""
    return bp.Recording(piled)


def test_a_planted_crowd_is_named(piled, crowded, capsys):
    recording = crowded
    (stretch,) = recording.busiest()
    assert (stretch.begin, stretch.end) == (20, 25)
    assert stretch.begin <= stretch.peak < stretch.end
    counts = recording.counts()
    usual = np.median(counts, axis=0)
    assert stretch.times == counts[stretch.peak, 2] / usual[2] > 5
    assert counts[:, 1].tolist() == [len(frame.pairs()) for frame in recording]
    said = recording.explain(22)
    bodies, overlaps, tests = counts[22].tolist()
    assert bodies == 1_000
    assert f"; {tests:,} tests, {tests / usual[2]:.1f} times the median; {overlaps:,} overlaps, " in said
    crowd = re.match(
        r"Frame 22: (\d+) of 1,000 bodies lie within ([\d.]+) x ([\d.]+) around \(([\d.]+), ([\d.]+)\); ",
        said,
    )
    many, width, height, x, y = (float(number) for number in crowd.groups())
    assert 290 <= many <= 310
    assert 20 <= width <= 30 >= height >= 20
    assert abs(x - 511.5) < 3 > abs(y - 511.5)
    assert recording.explain(10).startswith("Frame 10: 1,000 bodies; ")
    assert recording.explain(-1).startswith("Frame 29: ")
    with pytest.raises(IndexError, match="frame 30 of 30"):
        recording.explain(30)
    assert run(["replay", str(piled), "--methods", "strips"]) == 0
    line = f"{recording.explain(stretch.peak)}; busy from frame 20 to 24"
    assert line in capsys.readouterr().out.splitlines()


def test_a_giant_is_named(tmp_path):
    world = bp.World()
    for x in range(200):
        world.add(bp.Box(3 * x, 0, 2, 2))
    boss = world.add(bp.Box(0, 500, 600, 2), tag="boss")
    with bp.Recorder(world, tmp_path / "game.bprec"):
        world.update()
        boss.y = 1
        world.update()
    recording = bp.Recording(tmp_path / "game.bprec")
    assert recording.counts()[:, :2].tolist() == [[201, 0], [201, 200]]
    who = f"200 of them with body {boss.id} (boss), much larger than the others"
    assert recording.explain(1).endswith(f"200 overlaps, 2.0 times the median, {who}")
    assert "boss" not in recording.explain(0)
    assert recording.busiest() == []


def test_more_overlaps_than_are_stored_still_have_a_place(tmp_path):
    index = bp.Strips()
    boxes = np.tile([70.0, 80.0, 72.0, 83.0], (3_000, 1))
    boxes[:1_000] += 100 * np.arange(1_000)[:, None]
    with bp.Recorder(index, tmp_path / "a.bprec") as recorder:
        index.insert_many(boxes)
        recorder.frame()
    recording = bp.Recording(tmp_path / "a.bprec")
    said = recording.explain(0)
    assert said.startswith("Frame 0: 2,001 of 3,000 bodies lie within 2 x 3 around (71, 81.5); ")
    assert "; 2,001,000 overlaps" in said


def test_frames_are_counted_once_in_any_order(piled, crowded):
    whole = crowded.counts()
    fresh = bp.Recording(piled)
    assert fresh.counts(0).shape == (0, 3)
    assert np.array_equal(fresh.counts(7), whole[:7])
    assert np.array_equal(fresh.counts(3), whole[:3])
    assert np.array_equal(fresh.counts(1_000), whole)
    assert bp.Recording(piled).explain(12) == crowded.explain(12)


def test_files_that_are_no_recordings_are_reported_in_one_line(tmp_path, path, capsys):
    (tmp_path / "a.csv").write_text("0,0,1,1\n")
    assert run(["replay", str(tmp_path / "a.csv")]) == 2
    assert capsys.readouterr().err.endswith("cannot be read: it is not a broadphase recording\n")
    (tmp_path / "empty").write_bytes(path.read_bytes()[:200])
    assert run(["replay", str(tmp_path / "empty")]) == 2
    assert "holds no frame that is whole; frame 0: it is cut off" in capsys.readouterr().err
    assert run(["replay", str(tmp_path / "gone")]) == 2
    assert len(capsys.readouterr().err.splitlines()) == 1


def test_a_page_that_cannot_be_written_is_reported_before_the_work(tmp_path, path, capsys):
    before = path.read_bytes()
    missing = tmp_path / "no" / "a.html"
    for page, said in ((missing, "No such folder"), (tmp_path, "Is a directory"), (path, "is the recording")):
        assert run(["replay", str(path), "--html", str(page)]) == 2
        assert said in capsys.readouterr().err
        assert path.read_bytes() == before


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
