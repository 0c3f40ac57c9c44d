"""What a recorder writes, a recording gives back bit for bit: indexes, worlds; and files that are damaged."""

import copy
import pickle
import struct
import subprocess
import sys
import tracemalloc
import zlib

import numpy as np
import pytest

import broadphase as bp
from broadphase.doctor import Follower, run_methods
from broadphase.errors import FileError
from broadphase.indexes import CLASSES
from broadphase.recording import reader
from broadphase.recording.frames import FRESH, stepped, steps_between

pytestmark = pytest.mark.usefixtures("open_files_stay")


def some(random, count, dim, dtype):
    low = random.uniform(-50, 50, (count, dim))
    return np.hstack([low, low + random.exponential(6, (count, dim))]).astype(dtype)


def play_index(index, frames, random, seen):
    """Insert, remove, move and query; ``seen`` gets the state at the end of each frame."""
    dim, dtype = index.dim, index.dtype
    for number in range(frames):
        if number % 3 == 0:
            index.insert_many(
                some(random, 6, dim, dtype),
                static=random.random(6) < 0.3,
                category=random.integers(1, 4, 6),
                mask=random.integers(1, 4, 6),
            )
        if number % 4 == 1:
            index.remove_many(random.choice(index.ids, 3, replace=False))
        if number % 5 == 2:
            index.update(index.boxes + dtype.type(0.1))
        moved = random.choice(index.ids, 3, replace=False)
        index.move_many(moved, some(random, 3, dim, dtype))
        index.query_point(np.zeros(dim))
        if number == 17:
            index.clear()
            index.insert(some(random, 1, dim, dtype)[0])
            index.insert_many(some(random, 9, dim, dtype))
        found = index.pairs() if number % 2 else index.changes()
        pairs = found if number % 2 else np.concatenate([found.began, found.stayed])
        seen.append((index.ids.copy(), index.boxes.copy(), len(pairs), pairs[np.lexsort(pairs.T[::-1])]))


@pytest.mark.covering
@pytest.mark.parametrize("name", CLASSES)
@pytest.mark.parametrize(("dim", "dtype"), [(2, np.float64), (3, np.float32)])
def test_an_index_comes_back_frame_by_frame(name, dim, dtype, tmp_path):
    index = bp.make_index(name, dim=dim, dtype=dtype, touching=dim == 2)
    seen = []
    with bp.Recorder(index, tmp_path / "a.bprec") as recorder:
        play_index(index, 30, np.random.default_rng(5), seen)
    recording = bp.Recording(tmp_path / "a.bprec")
    assert recorder.frames == len(recording) == 30
    followers = [Follower(method, recording) for method in ("brute_force", "box_tree", "strips")]
    for frame, (ids, boxes, count, pairs) in zip(recording, seen, strict=True):
        assert np.array_equal(frame.ids, ids)
        assert frame.boxes.dtype == boxes.dtype
        assert np.array_equal(frame.boxes, boxes)
        assert frame.found == count
        assert np.array_equal(frame.pairs(), pairs)
        for follower in followers:
            assert np.array_equal(follower.run(frame).pairs, pairs)
        assert frame.calls["query_point"].times == 1
    assert recording[9].calls.keys() >= {"insert_many", "remove_many", "move_many", "pairs"}
    assert np.array_equal(recording[20].boxes, seen[20][1])
    assert np.array_equal(recording[-1].boxes, seen[-1][1])
    with pytest.raises(IndexError, match="frame 30 of 30"):
        recording[30]


def play_world(world, frames, random, seen):
    bodies = []
    for number in range(frames):
        x, y = random.uniform(0, 200, 2)
        shape = [
            bp.Box(x, y, 9, 7),
            bp.Circle(x, y, 6),
            bp.Polygon([(x, y), (x + 9, y + 1.1), (x + 3, y + 8.7)]),
        ][number % 3]
        bodies.append(world.add(shape, tag={"a", "b"} if number % 2 else "a", static=number % 5 == 0))
        if number % 4 == 3:
            world.remove(bodies.pop(int(random.integers(len(bodies)))))
        for body in bodies[:8]:
            world.move(body, *random.uniform(-9, 9, 2), "cross")
        if number % 6 == 5:
            bodies[0].shape = bp.Box(bodies[0].x, bodies[0].y, 4 + number, 5)
            bodies[1].category, bodies[1].mask = 6, 3
            bodies[2].tag = "late"
            bodies[3].sensor = True
        if number == 10:
            world.tiles = bp.TileMap(random.random((6, 8)) < 0.2, 25, (1, 2))
        if number > 10:
            world.tiles.set(int(random.integers(8)), int(random.integers(6)), bool(number % 2))
        rows = world.ids
        seen.append(
            {
                "ids": rows,
                "boxes": np.array([body.bounds for body in world]),
                "shapes": [body.shape for body in world],
                "static": [body.static for body in world],
                "masks": [body.mask for body in world],
                "tags": [", ".join(sorted(body.tags)) for body in world],
                "solid": None if world.tiles is None else world.tiles.solid.copy(),
            }
        )
        events = world.update()
        seen[-1]["found"] = len(events.began) + len(events.stayed)


def test_a_world_comes_back_frame_by_frame(tmp_path):
    world = bp.World()
    world.on("a", "a", begin=lambda contact: setattr(contact.b, "x", contact.b.x + 0.3))
    seen = []
    with bp.Recorder(world, tmp_path / "a.bprec"):
        play_world(world, FRESH + 10, np.random.default_rng(3), seen)
    recording = bp.Recording(tmp_path / "a.bprec")
    for frame, was in zip(recording, seen, strict=True):
        assert np.array_equal(frame.ids, was["ids"])
        assert np.array_equal(frame.boxes, was["boxes"])
        assert frame.shapes == was["shapes"]
        assert frame.static.tolist() == was["static"]
        assert frame.masks.tolist() == was["masks"]
        assert frame.tags == was["tags"]
        assert frame.found == was["found"]
        assert (frame.tiles is None) == (was["solid"] is None)
        assert frame.tiles is None or np.array_equal(frame.tiles.solid, was["solid"])
    assert recording[3].calls["move"].times == 3
    assert [frame.number for frame in recording.frames(60, 67)] == list(range(60, 67))
    assert len(recording[FRESH + 3].ids) == len(seen[FRESH + 3]["ids"])
    assert sorted(recording.slowest(3), key=lambda k: -recording.seconds[k]) == recording.slowest(3)


def test_round_corners_and_turned_bodies_come_back(tmp_path):
    world = bp.World()
    bodies = [
        world.add(bp.Capsule(0.1, 0.2, 7.3, 3.1, 2.7)),
        world.add(bp.RoundedBox(20.1, 0.3, 9, 7, 1.7)),
        world.add(bp.RoundedBox(40, 0, 9, 7, 3.5)),
        world.add(bp.Polygon([(60.1, 0.7), (69, 1), (63, 9.3)], radius=0.3)),
        world.add(bp.Polygon([(80.1, 0.7), (89, 1), (83, 9.3)])),
        world.add(bp.Box(100, 0, 9, 5)),
    ]
    seen = []
    with bp.Recorder(world, tmp_path / "a.bprec"):
        for number in range(9):
            if number == 3:
                world.turn_many(bodies, np.linspace(10.3, 170, len(bodies)))
            if number == 5:
                bodies[0].angle = 0
                bodies[3].shape = bp.Capsule(60, 0, 60, 10, number)
            world.move_many(bodies, 0.3, 0.3, "cross")
            seen.append(([body.bounds for body in bodies], [body.shape for body in bodies]))
            world.update()
    recording = bp.Recording(tmp_path / "a.bprec")
    assert recording.damage == ""
    for frame, (bounds, shapes) in zip(recording, seen, strict=True):
        assert frame.boxes.tolist() == [list(edges) for edges in bounds]
        assert frame.shapes == shapes
        for shape, was in zip(frame.shapes, shapes, strict=True):
            assert type(shape) is type(was)
            assert (shape.bounds, shape.center) == (was.bounds, was.center)
            assert not isinstance(was, bp.Polygon) or np.array_equal(shape.axes, was.axes)


def test_every_query_and_move_is_counted(tmp_path):
    """All public methods of a world, except those that listen, list, check or copy."""
    others = {
        "on",
        "off",
        "on_tile",
        "set_response",
        "outlines",
        "body",
        "bodies",
        "snapshot",
        "validate",
        "update",
    }
    methods = {
        name for name in dir(bp.World) if not name.startswith("_") and callable(getattr(bp.World, name, None))
    }
    world = bp.World()
    body = world.add(bp.Box(0, 0, 4, 4))
    with bp.Recorder(world, tmp_path / "a.bprec"):
        assert set(vars(world)) & methods == (methods - others) | {"update"}
        world.remove_many(world.add_many([[50, 50, 51, 51]]))
        world.turn_many([body], [30.0])
        world.try_turn(body, 0.0)
        world.walk(body, 1.0, 0.0)
        world.walk_many([body], 1.0, 0.0)
        world.raycast([[9, 9]], [[1, 0]])
        world.nearest([[9, 9]])
        world.query_box([[0, 0, 1, 1]])
        world.update()
    calls = bp.Recording(tmp_path / "a.bprec")[0].calls
    called = ["add_many", "remove_many", "turn_many", "try_turn", "walk", "walk_many", "raycast"]
    called += ["nearest", "query_box", "update"]
    assert {name: known.times for name, known in calls.items()} == dict.fromkeys(called, 1)


def test_numbers_of_all_kinds_come_back_bit_for_bit():
    random = np.random.default_rng(1)
    odd = np.array([0.0, -0.0, np.inf, -np.inf, 5e-324, 1e308, -1e308, 1.0, np.nextafter(1.0, 2)])
    for dtype in (np.float32, np.float64):
        with np.errstate(over="ignore"):
            before, after = random.choice(odd, (2, 60, 4)).astype(dtype)
        assert stepped(before, steps_between(before, after)).tobytes() == after.tobytes()


# ---- files that are cut off or damaged


@pytest.fixture
def recorded(tmp_path):
    path = tmp_path / "a.bprec"
    world = bp.World()
    ends = []
    with bp.Recorder(world, path):
        for k in range(8):
            world.add(bp.Circle(3 * k, 0, 5))
            world.update()
            ends.append(path.stat().st_size)
    return path, ends


def test_what_a_crash_has_cut_off_is_good_up_to_its_last_whole_frame(recorded, tmp_path):
    path, ends = recorded
    data = path.read_bytes()
    assert len(data) == ends[-1]  # nothing was held back
    for cut in range(ends[5], len(data)):
        (tmp_path / "cut").write_bytes(data[:cut])
        recording = bp.Recording(tmp_path / "cut")
        whole = sum(end <= cut for end in ends)
        assert len(recording) == whole
        assert bool(recording.damage) == (cut not in ends)
        assert len(recording[-1].ids) == whole


def test_a_program_that_is_killed_leaves_its_frames(tmp_path):
    program = (
        "import os, sys, broadphase as bp\n"
        "world = bp.World()\n"
        "recorder = bp.Recorder(world, sys.argv[1])\n"
        "for k in range(5):\n"
        "    world.add(bp.Box(k, 0, 1, 1))\n"
        "    world.update()\n"
        "os._exit(3)\n"
    )
    subprocess.run([sys.executable, "-c", program, str(tmp_path / "a")], check=False)
    assert [len(frame.ids) for frame in bp.Recording(tmp_path / "a")] == [1, 2, 3, 4, 5]


def test_damage_ends_a_recording_and_never_anything_else(recorded, tmp_path, exhaustive):
    path, ends = recorded
    data = bytearray(path.read_bytes())
    random = np.random.default_rng(0)
    unharmed, times = 0, 150 if exhaustive else 50
    for _ in range(times):
        at, was = int(random.integers(ends[2], len(data))), data
        data = bytearray(was)
        data[at] ^= int(random.integers(1, 256))
        (tmp_path / "damaged").write_bytes(data)
        recording = bp.Recording(tmp_path / "damaged")
        # All frames before the damage are there; of those behind it only what it has not changed: a deflated
        # stream holds a few bits that say nothing.
        sound, read = sum(end <= at for end in ends), len(recording)
        assert read >= sound
        assert [len(frame.ids) for frame in recording] == list(range(1, read + 1))
        assert (read == 8) == (recording.damage == "")
        assert not recording.damage or recording.damage.startswith(f"frame {read}: ")
        unharmed += read > sound
        data = was
    assert unharmed < times // 10


def checked(start):
    """The beginning of a file, and its checksum."""
    return start + struct.pack("<I", zlib.crc32(start))


def start(words):
    return b"broadphase recording\n" + struct.pack("<HI", 4, len(words)) + words


def headed(words):
    """A file of which only the head is there."""
    return checked(start((HEAD % b"index")[:-1] + b"," + words + b"}"))


HEAD = b'{"kind":"%s","dim":2,"dtype":"f8","touching":false,"index":"strips","options":{}}'


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "it is not a broadphase recording"),
        (b"PK\3\4", "it is not a broadphase recording"),
        (b"broadphase recording\n", "its head is cut off"),
        (b"broadphase recording\n\2\0\0\0\0\0", "its version is 2, this program reads 4"),
        (headed(b'"period": [9, -1]'), "is not positive"),
        (headed(b'"period": [1' + b"0" * 400 + b", 3]"), "does not fit into a float"),
        (headed(b'"dim": 2.0'), "its head is damaged"),
        (headed(b'"more": ' + b"[" * 200_000), "nested too deeply"),
        (start(b"{}") + b"\0" * 4, "its checksum is another"),
        (checked(start(b"{}")), "its head is damaged"),
        (checked(start(b"[]")), "its JSON is no object"),
        (checked(start(b"}{")), "Expecting value"),
    ],
)
def test_what_is_no_recording_is_named(content, said, tmp_path):
    (tmp_path / "a").write_bytes(content)
    with pytest.raises(FileError, match=said) as caught:
        bp.Recording(tmp_path / "a")
    assert str(caught.value).startswith(f"{tmp_path / 'a'}: cannot be read: ")


def test_no_bit_of_the_head_can_flip_unnoticed(tmp_path, exhaustive):
    world = bp.World(period=(16.0, 12.0))
    with bp.Recorder(world, tmp_path / "a"):
        world.add(bp.Box(15, 4, 2, 2))
        world.update()
    data = (tmp_path / "a").read_bytes()
    for at in range(31 + struct.unpack_from("<HI", data, 21)[1]):
        for bit in range(8) if exhaustive else [at % 8]:
            flipped = bytearray(data)
            flipped[at] ^= 1 << bit
            (tmp_path / "b").write_bytes(flipped)
            with pytest.raises(FileError):
                bp.Recording(tmp_path / "b")


# ---- files made by hand, whose checksums are right


def frames_of(data):
    """The inflated frames of a recording."""
    at, number = 31 + struct.unpack_from("<HI", data, 21)[1], 0
    while at < len(data):
        if number % FRESH == 0:
            inflate = zlib.decompressobj(-zlib.MAX_WBITS)
        number += 1
        length = struct.unpack_from("<I", data, at)[0]
        yield inflate.decompress(data[at + 8 : at + 8 + length])
        at += 8 + length


def crafted(frames, kind=b"index"):
    """A recording of these inflated frames."""
    data = checked(start(HEAD % kind))
    for number, frame in enumerate(frames):
        if number % FRESH == 0:
            deflate = zlib.compressobj(6, zlib.DEFLATED, -zlib.MAX_WBITS)
        packed = deflate.compress(frame) + deflate.flush(zlib.Z_SYNC_FLUSH)
        data += struct.pack("<II", len(packed), zlib.crc32(frame)) + packed
    return data


def of_sections(*sections):
    """An inflated frame of sections ``(number, content)``."""
    return b"".join(struct.pack("<BI", part, len(content)) + content for part, content in sections)


def one_box(words=b'{"calls":{}}', row=0, tag=0, box=(0, 0, 2, 2), changed=None):
    rows = np.array([row], "<i4").tobytes()
    about = rows if changed is None else np.array([changed], "<i4").tobytes()
    tags = np.array([tag], "<i4").tobytes()
    columns = (5, b"\0"), (6, b"\0"), (7, b"\1\0\0\0"), (8, b"\xff" * 4), (9, tags)
    return of_sections((0, words), (2, rows), (3, np.array(box, "<f8").tobytes()), (4, about), *columns)


def tiles_of(shape, bits=b"\xff"):
    words = b'{"calls":{},"tiles":{"shape":%s,"size":[1,1],"origin":[0,0]}}' % shape
    return of_sections((0, words), (14, bits))


@pytest.mark.parametrize(
    ("frame", "said"),
    [
        (of_sections((0, b"[" * 200_000)), "nested too deeply"),
        (b"\0\0", "a section is cut off"),
        (b"", "it has no words"),
        (one_box(b'{"calls":{"pairs":[1,1' + b"0" * 400 + b"]}}"), "its calls of pairs cannot be"),
        (one_box(b'{"calls":{"pairs":[Infinity,1]}}'), "its calls of pairs cannot be"),
        (one_box(b'{"calls":{"pairs":[1,NaN]}}'), "its calls of pairs cannot be"),
        (one_box(b"{}"), "its calls cannot be"),
        (one_box(b'{"calls":{},"tags":[1]}'), "its tags cannot be"),
        (one_box(b'{"calls":{},"found":-1}'), "what it found cannot be"),
        (one_box(tag=99), "it names a tag that is not there"),
        (one_box(tag=-1), "it names a tag that is not there"),
        (one_box(row=-1), "it adds a row that cannot be"),
        (one_box(row=1 << 24), "it adds a row that cannot be"),
        (one_box(box=(0, 0, -2, 2)), "a row is where none can be"),
        (one_box(box=(0, 0, np.nan, 2)), "a row is where none can be"),
        (one_box(changed=1), "it adds a row without its attributes"),
        (of_sections((0, b'{"calls":{}}'), (1, b"\0\0\0\0")), "it names a row that is not there"),
        (of_sections((0, b'{"calls":{}}'), (12, b"\0\0\0\0")), "it names a row that is not there"),
        (tiles_of(b"[200000,200000]"), "the number of its tiles cannot be"),
        (tiles_of(b"[Infinity,5]"), "its tiles cannot be"),
        (tiles_of(b"[-2,-4]"), "its tiles cannot be"),
    ],
)
def test_a_frame_that_no_recorder_writes_ends_the_recording(frame, said, tmp_path):
    (tmp_path / "a").write_bytes(crafted([one_box(row=7), frame]))
    recording = bp.Recording(tmp_path / "a")
    assert recording.damage.startswith("frame 1: ")
    assert recording.damage.endswith(said)
    assert [frame.ids.tolist() for frame in recording] == [[7]]


def test_whatever_a_frame_holds_it_is_read_or_named_as_damage(tmp_path, exhaustive):
    world, random = bp.World(), np.random.default_rng(4)
    times = 200 if exhaustive else 25
    with bp.Recorder(world, tmp_path / "a"):
        play_world(world, 24, np.random.default_rng(3), [])
    sound = list(frames_of((tmp_path / "a").read_bytes()))
    damaged = 0
    for _ in range(times):
        frames = [bytearray(frame) for frame in sound]
        frame = frames[int(random.integers(len(frames)))]
        for _ in range(int(random.integers(1, 4))):
            at = int(random.integers(len(frame)))
            frame[at] = int(random.choice([0, 1, 127, 255, random.integers(256)]))
        (tmp_path / "b").write_bytes(crafted(map(bytes, frames), b"world"))
        recording = bp.Recording(tmp_path / "b")
        for frame in recording:
            assert len(frame.shapes) == len(frame.ids) == len(frame.boxes) == len(frame.tags)
            frame.pairs()
        damaged += bool(recording.damage)
    assert damaged > times // 4


def test_a_high_row_takes_no_more_memory_than_a_low_one(tmp_path):
    (tmp_path / "a").write_bytes(crafted([one_box(row=(1 << 24) - 1)]))
    tracemalloc.start()
    recording = bp.Recording(tmp_path / "a")
    assert recording[0].ids.tolist() == [(1 << 24) - 1]
    assert recording[0].boxes.tolist() == [[0, 0, 2, 2]]
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 1 << 20


def test_a_long_recording_of_many_boxes_keeps_few_states_and_gives_all_frames(tmp_path, monkeypatch):
    index, seen = bp.BoxTree(), []
    with bp.Recorder(index, tmp_path / "a") as recorder:
        index.insert_many(some(np.random.default_rng(1), 500, 2, np.float64))
        for _ in range(12 * FRESH):
            index.move(0, index.box(0) + 0.5)
            seen.append(index.box(0).tolist())
            recorder.frame()
    one = 500 * 60
    monkeypatch.setattr(reader, "MOST_MARKED", 4 * one)
    tracemalloc.start()
    recording = bp.Recording(tmp_path / "a")
    kept = tracemalloc.get_traced_memory()[0]
    tracemalloc.stop()
    assert kept - (tmp_path / "a").stat().st_size < 8 * one
    for number in (0, 1, FRESH - 1, FRESH, 5 * FRESH + 3, 8 * FRESH, len(seen) - 1):
        assert recording[number].boxes[0].tolist() == seen[number]
    assert [frame.boxes[0].tolist() for frame in recording] == seen


# ---- the recorder and its target


def test_a_recorder_leaves_its_target_as_it_was(tmp_path):
    for target in (bp.World(), bp.Strips()):
        before = dict(vars(target))
        recorder = bp.Recorder(target, tmp_path / "a")
        with pytest.raises(ValueError, match="is being recorded already"):
            bp.Recorder(target, tmp_path / "b")
        recorder.close()
        recorder.close()
        assert vars(target).keys() == before.keys()
        with pytest.raises(ValueError, match="the recorder is closed"):
            recorder.frame()
    with pytest.raises(TypeError, match="target must be a World or an index; got list"):
        bp.Recorder([], tmp_path / "a")
    with pytest.raises(OSError, match="No such file"):
        bp.Recorder(bp.World(), tmp_path / "nowhere" / "a")


def test_copies_of_a_recorded_index_are_not_recorded(tmp_path):
    index = bp.BoxTree()
    with bp.Recorder(index, tmp_path / "a") as recorder:
        index.insert([0, 0, 1, 1])
        for twin in (index.copy(), pickle.loads(pickle.dumps(index)), copy.deepcopy(index)):
            twin.insert([0, 0, 1, 1])
            assert len(twin.pairs()) == 1
        assert recorder.frames == 0
        index.pairs()
        recorder.frame()
    assert [len(frame.ids) for frame in bp.Recording(tmp_path / "a")] == [1, 1]


def test_a_frame_whose_listener_raises_is_written_and_the_exception_comes_through(tmp_path):
    world = bp.World()
    for _ in range(2):
        world.add(bp.Box(0, 0, 1, 1), tag="a")

    @world.on("a", "a")
    def fail(contact):
        raise RuntimeError("on purpose")

    with bp.Recorder(world, tmp_path / "a") as recorder, pytest.raises(RuntimeError, match="on purpose"):
        world.update()
    assert recorder.frames == len(bp.Recording(tmp_path / "a")) == 1


def test_a_full_disk_ends_the_recording_and_not_the_world(tmp_path):
    world = bp.World()
    recorder = bp.Recorder(world, tmp_path / "a")

    def full(sections):
        raise OSError(28, "No space left on device")

    recorder._writer.write = full
    world.add(bp.Box(0, 0, 1, 1))
    with pytest.raises(OSError, match="No space left"):
        world.update()
    world.update()
    world.validate()


def test_every_method_replays_a_recording_with_the_same_pairs(tmp_path):
    world = bp.World()
    with bp.Recorder(world, tmp_path / "a"):
        play_world(world, 40, np.random.default_rng(8), [])
    recording = bp.Recording(tmp_path / "a")
    followers = [Follower(method, recording) for method in CLASSES]
    for frame in recording:
        expected = frame.pairs().tolist()
        assert all(follower.run(frame).pairs.tolist() == expected for follower in followers)
    went = run_methods(recording, ["strips", "brute_force"], 2)
    assert (went["strips"].seconds < 60).all()
    assert went["brute_force"].tests[-1] > 0


@pytest.mark.parametrize("period", [(100, 80), (100, None), None])
def test_a_periodic_world_is_replayed_with_the_contacts_that_it_had(period, tmp_path):
    world, random, seen = bp.World(period=period), np.random.default_rng(9), []
    world.on(bp.ANY, bp.ANY)
    world.add_many(some(random, 60, 2, np.float64), tag="a")
    with bp.Recorder(world, tmp_path / "a"):
        for _ in range(20):
            world.positions = world.positions + random.normal(0, 20, (60, 2))
            events = world.update()
            seen.append(sorted([*events.began.ids.tolist(), *events.stayed.ids.tolist()]))
    recording = bp.Recording(tmp_path / "a")
    followers = [Follower(method, recording) for method in CLASSES]
    for frame, contacts in zip(recording, seen, strict=True):
        assert frame.period == period
        assert frame.pairs().tolist() == contacts
        assert all(follower.run(frame).pairs.tolist() == contacts for follower in followers)
    assert recording.counts()[:, 1].tolist() == [len(contacts) for contacts in seen]
    across = [len(bp.pairs(frame.boxes)) for frame in recording]
    assert (sum(across) == sum(map(len, seen))) == (period is None)


@pytest.mark.covering
@pytest.mark.parametrize("name", CLASSES)
@pytest.mark.parametrize(("dim", "dtype"), [(2, np.float64), (3, np.float32)])
def test_a_periodic_index_is_replayed_with_the_pairs_that_it_had(name, dim, dtype, tmp_path):
    index, seen = bp.make_index(name, dim=dim, dtype=dtype, period=40), []
    with bp.Recorder(index, tmp_path / "a"):
        play_index(index, 20, np.random.default_rng(4), seen)
    recording = bp.Recording(tmp_path / "a")
    follower = Follower("box_tree", recording)
    for frame, (*_, pairs) in zip(recording, seen, strict=True):
        assert frame.pairs().tolist() == pairs.tolist() == follower.run(frame).pairs.tolist()
