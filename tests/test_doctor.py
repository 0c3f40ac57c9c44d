"""The doctor names planted faults, tries what it advises, and leaves healthy input alone."""

import itertools
import os
import re
from dataclasses import replace

import numpy as np
import pytest

import broadphase as bp
from broadphase import doctor
from broadphase.cli import run
from broadphase.recording import recorder


def scattered(n, seed=1, size=1_000, side=8):
    corners = np.random.default_rng(seed).random((n, 2)) * size
    return np.hstack((corners, corners + side))


@pytest.fixture
def advised(monkeypatch):
    """Everything that is tried is advised, however fast it is: no test depends on times."""
    monkeypatch.setattr(doctor, "_GAIN", 0.0)
    monkeypatch.setattr(doctor, "_LEAST_SAVED", -np.inf)
    monkeypatch.setattr(doctor, "_MUCH_TIME", 0.0)


@pytest.fixture
def ask(request, tmp_path, capsys, monkeypatch):
    """What the command says of boxes or a recording."""
    monkeypatch.setattr(doctor, "_SECONDS", 0.01 if "advised" in request.fixturenames else 0.1)

    def ask(boxes, *options):
        path = boxes
        if isinstance(boxes, np.ndarray):
            path = tmp_path / "boxes.npy"
            np.save(path, boxes)
        assert run(["doctor", str(path), *options]) == 0
        said, errors = capsys.readouterr()
        assert errors == ""
        assert all(len(line) <= 96 or " " not in line.strip() for line in said.splitlines())
        # Long lines are wrapped.
        return re.sub(r"(?<=\S)\n   (?! |Change: |Tried: )", " ", said)

    return ask


def record(path, target, frames, step):
    """Record ``step(frame)``, which ends a frame."""
    with bp.Recorder(target, path):
        for frame in range(frames):
            step(frame)
    return path


def of_index(path, index, boxes, frames=12):
    """All boxes jump about within a box side."""
    rng = np.random.default_rng(5)
    ids = index.insert_many(boxes)

    def step(frame):
        index.move_many(ids, boxes + np.tile(rng.random((len(boxes), boxes.shape[1] // 2)), 2))
        index.pairs()

    return record(path, index, frames, step)


def of_world(path, walls, heroes, *, static, frames=12, **options):
    world = bp.World(**options)
    world.add_many(walls, tag="wall", static=static)
    movers = world.add_many(heroes, tag="hero")
    world.on("hero", "wall")
    rng = np.random.default_rng(6)

    def step(frame):
        world.move_many(movers, rng.normal(0, 2, (len(movers), 2)))
        world.update()

    return record(path, world, frames, step)


def tried(said, name):
    """The lines of a finding: its fault, what to change, and what was tried."""
    numbered = re.split(r"^\d+\. ", said, flags=re.M)[1:]
    (found,) = [finding for finding in numbered if name in finding]
    fault, change, result = found.splitlines()[:3]
    assert change.startswith("   Change: ")
    assert re.match(
        r"   Tried: the search [\d,.]+ times as fast(?: in frame \d+)?, "
        r"[\d.]+ m?s instead of [\d.]+ m?s",
        result,
    )
    return fault, change, result


# ---- planted faults


def test_one_giant_is_named(advised, ask):
    boxes = scattered(1_000)
    boxes[17] = [0, 0, 1_100, 1_100]
    fault, change, result = tried(ask(boxes), "median")
    assert fault == "1 box (17) is 138 times as long as the median and has 999 overlaps."
    assert "give it a mask if its pairs are not needed, or parts if" in change
    assert result.endswith("; 999 fewer pairs, all others the same.")


def test_infinite_boxes_are_named_by_their_ids(advised, ask, tmp_path):
    rows = [f"crate{k},{','.join(map(repr, box))}" for k, box in enumerate(scattered(100).tolist())]
    table = tmp_path / "crates.csv"
    table.write_text("\n".join(["id,min_x,min_y,max_x,max_y", "sea,-inf,0,inf,1e300", *rows]) + "\n")
    fault, _, result = tried(ask(table), "infinite")
    assert fault == "1 box (0 (sea)) is infinite and has 100 overlaps."
    assert result.endswith("; 100 fewer pairs, all others the same.")


@pytest.mark.parametrize("dim", [2, 3])
def test_a_pile_is_named(advised, ask, dim):
    rng = np.random.default_rng(1)
    corners = rng.random((1_000, dim)) * 1_000
    corners[:300] = 500 + rng.random((300, dim)) * 8
    boxes = np.hstack((corners, corners + 8))
    piled = len(bp.pairs(boxes)) - len(bp.pairs(boxes[300:]))
    fault, change, result = tried(ask(boxes), "lie within")
    found = re.match(
        r"(\d+) of 1,000 boxes lie within .* and have ([\d,]+) of the ([\d,]+) overlaps\.", fault
    )
    assert 300 <= int(found[1]) <= 310
    assert int(found[2].replace(",", "")) >= piled
    assert int(found[3].replace(",", "")) == len(bp.pairs(boxes))
    assert "give them a mask" in change
    assert f"; {found[2]} fewer pairs, all others the same." in result


def test_boxes_that_are_crowded_everywhere_are_no_pile(advised, ask):
    assert "lie within" not in ask(scattered(2_000, side=60))


def test_boxes_all_in_one_place_are_sampled(advised, ask, monkeypatch):
    monkeypatch.setattr(doctor, "_MOST_PAIRS", 50_000)
    said = ask(np.tile([1.0, 1, 2, 2], (1_000, 1)))
    assert "Built and searched once, one box in 4, with strips: " in said
    assert tried(said, "lie within")[0].startswith("250 of 250 boxes lie within 1 x 1 around (1.5, 1.5)")


@pytest.mark.parametrize(("size", "verdict"), [(700.0, "too large"), (0.5, "too small")])
@pytest.mark.parametrize("method", ["uniform_grid", "spatial_hash"])
def test_a_wrong_cell_size_is_named(advised, ask, method, size, verdict):
    said = ask(scattered(2_000), "--method", method, "--cell-size", str(size))
    assert f"with {method}(cell_size={size}): " in said
    fault, change, result = tried(said, "cell_size")
    assert fault.startswith(f"Cells of {size:g} are {verdict}: ")
    assert '"auto" chooses about 20 here' in change
    assert result.endswith("; the same pairs.")
    assert (
        "cell_size" not in ask(scattered(2_000), "--method", method, "--cell-size", "20").partition("\n\n")[2]
    )


def test_a_recorded_cell_size_is_known(advised, ask, tmp_path):
    path = of_index(tmp_path / "a.bprec", bp.UniformGrid(cell_size=700), scattered(2_000))
    said = ask(path)
    assert "Frames 0 to 11, those with the most work, with uniform_grid(cell_size=700.0): a replay " in said
    assert tried(said, "cell_size")[0].startswith("Cells of 700 are too large: ")
    path = of_world(
        tmp_path / "b.bprec",
        *(scattered(300, 2), scattered(300, 3)),
        static=True,
        broadphase=bp.SpatialHash(cell_size=900),
    )
    said = ask(path)
    assert (
        "with spatial_hash(cell_size=900.0, table_size=" in said
        or "with spatial_hash(cell_size=900.0): " in said
    )
    assert "Cells of 900 are too large: " in said
    assert "Change: World(...) without broadphase=" in tried(said, "spatial_hash is not the fastest")[1]


def test_what_never_moves_should_be_static(advised, ask, tmp_path):
    walls, heroes = scattered(500, 2, side=30), scattered(20, 3)
    said = ask(of_world(tmp_path / "a.bprec", walls, heroes, static=False))
    fault, change, result = tried(said, "never move")
    assert fault == "500 of 520 bodies (most are wall) never move and are not static."
    assert change == (
        "   Change: add them with static=True; two static ones are never paired, and move_many and "
        "walk_many are blocked by static ones only."
    )
    fewer = 12 * len(bp.pairs(walls, touching=False))
    assert result.endswith(f"; {fewer:,} fewer pairs, all others the same.")
    assert "static" not in ask(of_world(tmp_path / "b.bprec", walls, heroes, static=True))


def test_what_moves_should_not_be_static(advised, ask, tmp_path):
    boxes, index = scattered(200, side=40), bp.BoxTree()
    ids = index.insert_many(boxes, static=True)
    index.insert_many(scattered(100, 3))
    within = 0

    def step(frame):
        nonlocal within
        moved = boxes + 3 * frame
        index.move_many(ids, moved)
        within += len(bp.pairs(moved))
        index.pairs()

    said = ask(record(tmp_path / "a.bprec", index, 12, step))
    fault, change, result = tried(said, "are static")
    assert fault == "200 of 300 boxes are static and move in most frames."
    assert change == "   Change: insert them without static=True; two static ones are never paired."
    assert result.endswith(f"; {within:,} more pairs, all others the same.")


@pytest.mark.parametrize(
    ("method", "change"),
    [
        ("brute_force", 'method="strips"'),
        ("sort_and_sweep", 'method="strips"'),
        ("spatial_hash", 'method="tree"'),
    ],
)
def test_methods_of_boxes_are_tried(ask, monkeypatch, method, change):
    """Only the fastest is advised; a clock that counts tests says which that is."""
    counted = {"brute_force": 9.0, "sort_and_sweep": 8.0, "spatial_hash": 7.0, "strips": 1.0, "box_tree": 2.0}
    if "tree" in change:
        counted["strips"] = 3.0
    run_frame = doctor.Follower.run

    def timed(self, frame):
        return run_frame(self, frame)._replace(seconds=counted[self._index.name])

    monkeypatch.setattr(doctor.Follower, "run", timed)
    said = ask(scattered(1_500), "--method", method)
    fault, advice, result = tried(said, "is not the fastest")
    assert fault == f"{method} is not the fastest method for this."
    assert f"broadphase.pairs(..., {change})" in advice
    assert result.endswith("; the same pairs.")
    assert "Also tried: " in said
    assert "2. " not in said


def test_an_index_that_answers_queries_is_advised_with_care(advised, ask, tmp_path):
    index = bp.BoxTree()
    ids = index.insert_many(scattered(400))
    for_pairs = of_index(tmp_path / "a.bprec", bp.BoxTree(), scattered(400))
    assert "queries" not in ask(for_pairs)

    def step(frame):
        index.move(ids[0], [frame, 0, 9 + frame, 9])
        for _ in range(60):
            index.query_point((5, 5))
        index.pairs()

    said = ask(record(tmp_path / "b.bprec", index, 12, step))
    assert "not your queries" in tried(said, "is not the fastest")[1]
    assert re.search(
        r"Note: query_point is called 60 times per frame and takes .* query_point with an array", said
    )


def test_barriers_that_movers_go_through_and_groups_in_a_loop_are_noted(advised, ask, tmp_path):
    world = bp.World()
    barriers = world.add_many(scattered(4), tag="barrier")
    coins = world.add_many(scattered(9, seed=2), tag="coin", sensor=True)
    heroes = world.add_many(scattered(60, seed=3), tag="hero")

    def step(frame):
        world.move_many(heroes, 1, 0)
        for hero in heroes:
            world.query_box(hero.bounds, tag="coin")
            world.nearest(hero.center, k=3, tag="coin")
        world.update()

    said = ask(record(tmp_path / "a.bprec", world, 12, step))
    assert len(barriers) == 4
    assert len(coins) == 9
    assert "4 bodies (most are barrier) never moved and are not static, so move_many without" in said
    assert (
        "query_box with an array, or a listener (World.on) for all pairs of two tags, does the same" in said
    )
    assert "one call of nearest with an array does the same" in said


def test_what_a_program_reads_is_what_is_tried(ask, tmp_path):
    """Where it reads `changes`, boxes that never move cost next to nothing, static or not."""
    index, boxes = bp.BoxTree(), scattered(1_200, side=47)
    ids = index.insert_many(boxes)

    def step(frame, read):
        index.move_many(ids[:5], boxes[:5] + frame / 10)
        read()

    tests = {}
    for read in (index.pairs, index.changes):
        name = read.__name__
        said = ask(
            record(tmp_path / name, index, 12, lambda frame, name=name: step(frame, getattr(index, name)))
        )
        tests[name] = int(re.search(r"takes [\d.]+ m?s and ([\d,]+) tests", said)[1].replace(",", ""))
    assert tests["changes"] < tests["pairs"] / 4


def test_walls_of_a_world_should_be_static_though_it_gains_little(ask, tmp_path, monkeypatch):
    monkeypatch.setattr(doctor, "_GAIN", np.inf)
    said = ask(of_world(tmp_path / "a.bprec", scattered(500, 2), scattered(20, 3), static=False))
    assert "Note: 500 of 520 bodies (most are wall) never move and are not static: add them with" in said
    assert "Also tried: static=True (" in said


def test_calls_one_by_one_are_noted(advised, ask, tmp_path):
    index = bp.BoxTree()
    boxes = scattered(300)
    ids = index.insert_many(boxes)

    def step(frame):
        for body, box in zip(ids.tolist(), boxes + frame, strict=True):
            index.move(body, box)
        index.pairs()

    said = ask(record(tmp_path / "a.bprec", index, 5, step))
    assert "Note: move is called 300 times per frame and takes " in said
    assert "one call of move_many does the same." in said


def test_the_busiest_frames_of_a_recording_are_tried_and_named(advised, ask, tmp_path):
    world = bp.World()
    world.add_many(scattered(400), tag="mob")
    world.on("mob", "mob")
    rng = np.random.default_rng(2)

    def step(frame):
        places = rng.random((400, 2)) * 1_000
        if 70 <= frame < 75:
            places[:200] = rng.random((200, 2)) * 10 + 300
        world.positions = places
        world.update()

    path = record(tmp_path / "a.bprec", world, 120, step)
    said = ask(path).splitlines()
    recording = bp.Recording(path)
    assert said[0] == f"{path}: 120 frames of a world, up to 400 bodies"
    found = said.index(f"{recording.explain(recording.busiest()[0].peak)}.")
    first, last = map(
        int,
        re.match(r"Frames (\d+) to (\d+), those with the most work, with auto: ", said[found + 1]).groups(),
    )
    assert first <= 70 < 74 <= last == first + 31
    peak = recording.busiest()[0].peak
    assert f"times as fast in frame {peak}, " in tried("\n".join(said), "lie within")[2]


@pytest.fixture
def clock(monkeypatch):
    """Each recorded call takes a millisecond, and as many more as are put in here."""
    waits = []
    ticks = itertools.count()
    monkeypatch.setattr(recorder, "perf_counter", lambda: (next(ticks) + sum(waits)) / 1e3)
    return waits


def test_seconds_are_said_in_seconds(ask, tmp_path, clock):
    world = bp.World()
    mob = world.add(bp.Box(0, 0, 9, 9), tag="mob")
    world.add(bp.Box(5, 5, 9, 9), tag="wall")
    waits = iter([0] * 20 + [2_715] + [0] * 19)
    world.on("mob", "wall", stay=lambda contact: clock.append(next(waits, 0)))

    def step(frame):
        mob.x += 0.01
        world.update()

    said = ask(record(tmp_path / "a.bprec", world, 40, step))
    assert re.search(r"Slow: frame \d+ took 2\.7 s \(median [\d.]+ ms\), 2\.7 s of it in update", said), said
    assert "e+" not in said


def test_the_recorded_time_is_shared_out_and_slow_frames_are_explained(ask, tmp_path, clock):
    world = bp.World()
    mob = world.add(bp.Box(0, 0, 9, 9), tag="mob")
    world.add(bp.Box(5, 5, 9, 9), tag="wall")
    frames = 0
    world.on("mob", "wall", stay=lambda contact: frames == 30 and clock.append(50))

    def step(frame):
        nonlocal frames
        frames = frame
        if frame == 10:
            world.add_many(scattered(500, 2) + 2_000)
        mob.x += 0.01
        for _ in range(100 if frame == 20 else 3):
            world.query_point((5, 5))
        world.update()

    said = ask(record(tmp_path / "a.bprec", world, 40, step)).splitlines()
    assert said[1] == "Recorded calls took 7.7 ms per frame: query_point 70% (x5.42), update 29% (x1)."
    assert said[2] == (
        "Slow: frame 20 took 101 ms (median 4 ms), 100 ms of it in query_point; "
        "100 calls, 33 times the median."
    )
    assert said[3] == (
        "Slow: frame 30 took 54 ms (median 4 ms), 51 ms of it in update; no count explains it, so look at "
        "listeners and other programs."
    )
    assert "Slow: frame 10" not in "".join(said)


def test_a_recording_without_times_is_replayed(ask, tmp_path):
    world = bp.World()
    bodies = [world.add(bp.Box(10 * k, 0, 9, 9), tag="mob") for k in range(20)]
    world.on("mob", "mob")
    with bp.Recorder(world, tmp_path / "a.bprec") as recording:
        for _ in range(5):
            for body in bodies:
                body.x += 1
            recording.frame()
    said = ask(tmp_path / "a.bprec").splitlines()
    assert (
        said[1]
        == "No call was timed, only the replay below is; a usual frame has 0 added, 0 removed, 20 moved."
    )
    assert " with auto: a replay of changes and pairs takes " in said[2]


# ---- nothing to change


def test_healthy_boxes_are_left_alone(ask):
    said = ask(scattered(2_000))
    assert "\n\nNothing to change.\nAlso tried: box_tree (" in said
    assert "Note" not in said
    assert f"; up to {len(bp.pairs(scattered(2_000))):,} pairs." in said


def test_few_boxes_and_one_are_left_alone(ask):
    assert "with brute_force: " in ask(scattered(20))
    assert "\nNothing to change.\n" in ask(scattered(20))
    assert "\nNothing to change.\n" in ask(scattered(1))


def test_frames_without_bodies_are_left_alone(ask, tmp_path):
    world = bp.World()
    world.on("hero", "wall")
    said = ask(record(tmp_path / "a.bprec", world, 3, lambda frame: world.update()))
    assert said.endswith("\n\nNothing to change.\n")


def test_a_long_trial_takes_fewer_frames(ask, tmp_path, monkeypatch):
    monkeypatch.setattr(doctor, "_LONGEST", 0.0)
    path = of_index(tmp_path / "a.bprec", bp.BoxTree(), scattered(300))
    assert re.search("(Also tried|Tried): ", ask(path))


def test_a_healthy_world_is_left_alone(ask, tmp_path):
    path = of_world(tmp_path / "a.bprec", scattered(300, 2), scattered(100, 3), static=True)
    said = ask(path)
    assert said.endswith("\n\nNothing to change.\n")
    assert "with auto: " in said


def test_what_never_changes_at_all_is_noted(ask, tmp_path):
    path = of_world(tmp_path / "a.bprec", scattered(300), np.empty((0, 4)), static=False)
    assert ask(path).endswith(
        "Note: nothing moves in any frame; if sprites do, World(check_sprites=True) names those whose "
        "bodies stay behind.\nNothing else to change.\n"
    )
    index = bp.BoxTree()
    index.insert_many(scattered(300))
    said = ask(record(tmp_path / "b.bprec", index, 12, lambda frame: index.pairs()))
    assert "Note: nothing moves in any frame; search once and keep the pairs.\n" in said


def test_an_update_that_searches_for_no_pairs_is_not_advised(advised, ask, tmp_path):
    world = bp.World()
    world.add_many(scattered(300), tag="wall")
    mob = world.add(bp.Box(0, 0, 9, 9), tag="mob")

    def step(frame):
        for _ in range(60):
            world.move(mob, 1, 0)
        world.update()

    said = ask(record(tmp_path / "a.bprec", world, 12, step))
    assert "Note: there is no listener for contacts, so update searches for no pairs.\n" in said
    assert "one call of move_many(..., movers_block=True) does the same.\n" in said
    assert "Tried" not in said


def test_boxes_without_a_size_are_noted(ask):
    boxes = scattered(100)
    boxes[:40, 2:] = boxes[:40, :2]
    assert "Note: 40 of 100 boxes have no size: leave out" in ask(boxes)


# ---- errors


def test_input_that_cannot_be_used_is_named_in_one_line(tmp_path, capsys):
    def complaint(*arguments):
        assert run(["doctor", *map(str, arguments)]) == 2
        said, errors = capsys.readouterr()
        assert said == ""
        assert errors.startswith("broadphase: ")
        assert errors.count("\n") == 1
        return errors

    assert "No such file" in complaint(tmp_path / "gone.npy")
    (tmp_path / "a.csv").write_text("0,0,1\n")
    assert "a.csv" in complaint(tmp_path / "a.csv")
    (tmp_path / "b.csv").write_text("0,0,1,1\n5,5,4,6\n")
    assert "min" in complaint(tmp_path / "b.csv")
    (tmp_path / "e.npy").write_bytes(b"")
    assert "can be read: it is empty" in complaint(tmp_path / "e.npy")
    (tmp_path / "e.bprec").write_bytes(b"broadphase rec")
    assert "cannot be read: it is not a broadphase recording" in complaint(tmp_path / "e.bprec")
    (tmp_path / "a.txt.zip").write_text("")
    assert "a.txt.zip" in complaint(tmp_path / "a.txt.zip")
    np.save(tmp_path / "none.npy", np.empty((0, 4)))
    assert "holds no boxes" in complaint(tmp_path / "none.npy")
    np.save(tmp_path / "a.npy", scattered(10))
    assert "only uniform_grid and spatial_hash have cells" in complaint(
        tmp_path / "a.npy", "--cell-size", "3"
    )
    assert "cell-size" in complaint(tmp_path / "a.npy", "--method", "uniform_grid", "--cell-size", "0")
    assert "method" in complaint(tmp_path / "a.npy", "--method", "octopus")
    path = of_index(tmp_path / "a.bprec", bp.BoxTree(), scattered(50))
    assert "only uniform_grid" in complaint(path, "--cell-size", "3")
    (tmp_path / "cut.bprec").write_bytes(path.read_bytes()[:250])
    assert "holds no frame that is whole" in complaint(tmp_path / "cut.bprec")


def test_a_recording_that_is_cut_off_is_read_up_to_there(tmp_path, capsys):
    path = of_index(tmp_path / "a.bprec", bp.BoxTree(), scattered(50))
    (tmp_path / "cut.bprec").write_bytes(path.read_bytes()[:-7])
    assert run(["doctor", str(tmp_path / "cut.bprec")]) == 0
    said, errors = capsys.readouterr()
    assert "11 frames of an index" in " ".join(said.split())
    assert "frame 11: it is cut off; the 11 frames before it are read" in errors


def test_an_advice_that_finds_other_pairs_is_no_advice(monkeypatch, tmp_path, capsys):
    np.save(tmp_path / "a.npy", scattered(200, side=60))

    def shifted(subject, frame):
        def edit(frame):
            boxes = frame.boxes.copy()
            boxes[0] += 500
            return replace(frame, boxes=boxes)

        yield doctor.Proposal("", "", "a shift", subject.setting, edit)

    monkeypatch.setattr(doctor, "_other_cells", shifted)
    assert run(["doctor", str(tmp_path / "a.npy")]) == 1
    assert capsys.readouterr().err == "broadphase: a shift: brute_force finds other pairs\n"


def test_huge_boxes_give_no_warning(ask):
    assert "Warning" not in ask(np.array([[1e308, 0, 1.7e308, 1]] * 30))


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no named pipes")
def test_a_pipe_is_refused_and_not_waited_for(tmp_path, capsys):
    os.mkfifo(tmp_path / "pipe.csv")
    assert run(["doctor", str(tmp_path / "pipe.csv")]) == 2
    assert "is no file that can be read twice" in capsys.readouterr().err
