"""What an index keeps: ids, what `changes` saw last, files, pickles and copies."""

import json
import pickle
import subprocess
import sys
import tracemalloc
import zipfile

import numpy as np
import pytest
from index_scenes import NAMES, make, random_boxes

import broadphase as bp

pytestmark = [pytest.mark.smaller_set, pytest.mark.usefixtures("open_files_stay")]


@pytest.fixture(params=NAMES)
def name(request):
    return request.param


@pytest.fixture
def index(name):
    index = make(name, dtype=np.float32, touching=False)
    index.insert_many(random_boxes(1, 40, 2), static=np.arange(40) % 3 == 0, category=3, mask=[1, 2] * 20)
    index.changes()
    index.remove_many(range(0, 40, 7))
    index.insert([0, 0, 50, 50])
    return index


def answers(index):
    return (
        repr(index),
        index.ids.tolist(),
        index.boxes.tolist(),
        index.pairs().tolist(),
        [part.tolist() for part in index.copy().changes()],
        index.query_box([-20, -20, 20, 20], mask=2).tolist(),
    )


def test_a_reused_id_is_a_new_box(name):
    index = make(name)
    index.insert_many([[0, 0, 1, 1], [0, 0, 1, 1], [0, 0, 1, 1]])
    assert index.changes().began.tolist() == [[0, 1], [0, 2], [1, 2]]
    index.remove(1)
    assert index.insert([0, 0, 1, 1]) == 1
    began, stayed, ended = index.changes()
    assert began.tolist() == [[0, 1], [1, 2]]
    assert stayed.tolist() == [[0, 2]]
    assert ended.tolist() == [[0, 1], [1, 2]]
    began, stayed, ended = index.changes()
    assert (len(began), len(stayed), len(ended)) == (0, 3, 0)


def test_stayed_belongs_to_its_frame_however_late_it_is_read(name):
    index = make(name)
    index.insert_many([[0, 0, 1, 1], [0, 0, 1, 1], [0, 0, 1, 1]])
    index.changes()
    index.move(2, [8, 8, 9, 9])
    changes = index.changes()
    index.clear()
    index.insert_many([[4, 4, 5, 5]] * 4)
    index.changes()
    assert changes.stayed.tolist() == [[0, 1]]
    assert changes.ended.tolist() == [[0, 2], [1, 2]]
    assert repr(changes) == "PairChanges(began=0, stayed=1, ended=2)"


def test_a_file_holds_everything(index, tmp_path):
    path = tmp_path / "world.index"
    index.save(path)
    assert [entry.name for entry in tmp_path.iterdir()] == ["world.index"]
    for loaded in (bp.Index.load(path), type(index).load(str(path))):
        loaded.validate()
        assert type(loaded) is type(index)
        assert loaded.dtype == np.float32
        assert answers(loaded) == answers(index)
        assert loaded.insert([0, 0, 1, 1]) == 7


def test_a_file_is_replaced_whole(index, tmp_path):
    path = tmp_path / "world.index"
    index.save(path)
    index.clear()
    index.save(path)
    assert len(bp.Index.load(path)) == 0
    with pytest.raises(OSError, match="nowhere"):
        index.save(tmp_path / "nowhere" / "file")
    with pytest.raises(FileNotFoundError):
        bp.Index.load(tmp_path / "nothing")


def test_the_file_needs_no_pickle(index, tmp_path):
    index.save(tmp_path / "file")
    with np.load(tmp_path / "file", allow_pickle=False) as members:
        assert all(members[key].dtype != object for key in members)


def test_a_loaded_index_follows_what_moves_though_its_pairs_were_never_read(name, tmp_path):
    index = make(name)
    index.insert_many([[0, 0, 1, 1], [5, 5, 6, 6], [20, 20, 21, 21]])
    index.save(tmp_path / "index")
    loaded = type(index).load(tmp_path / "index")
    assert loaded.query_box([5, 5, 6, 6]).tolist() == [1]
    loaded.move_many([0, 1], [[5, 5, 6, 6], [0, 0, 1, 1]])
    assert loaded.query_box([5, 5, 6, 6]).tolist() == [0]
    loaded.move(0, [9, 9, 9, 9])
    assert loaded.query_point([9, 9]).tolist() == [0]
    loaded.remove(1)
    assert loaded.nearest([0, 0], 3).ids.tolist() == [0, 2]
    assert loaded.insert([0, 0, 1, 1]) == 1
    assert loaded.nearest([0, 0], 3).ids.tolist() == [1, 0, 2]
    loaded.validate()


def test_a_truncated_file_is_no_index(index, tmp_path):
    path = tmp_path / "file"
    index.save(path)
    whole = path.read_bytes()
    for length in (0, 1, 3, 100, len(whole) // 2, len(whole) - 1):
        path.write_bytes(whole[:length])
        with pytest.raises(ValueError, match="is not a broadphase index that can be read"):
            bp.Index.load(path)


def test_a_damaged_file_is_no_index(index, tmp_path, exhaustive):
    path = tmp_path / "file"
    index.save(path)
    whole = path.read_bytes()
    random = np.random.default_rng(1)
    refused, times = 0, 60 if exhaustive else 30
    for at in random.integers(0, len(whole), times):
        damaged = bytearray(whole)
        damaged[at] ^= 0xFF
        path.write_bytes(damaged)
        try:  # a few bytes of a zip archive mean nothing
            assert answers(bp.Index.load(path)) == answers(index)
        except ValueError as error:
            assert "is not a broadphase index" in str(error)  # noqa: PT017 - not every byte counts
            refused += 1
    assert refused > times // 2


def test_foreign_files_are_no_index(tmp_path):
    (tmp_path / "text").write_text("hello")
    np.save(tmp_path / "array.npy", np.zeros(3))
    np.savez(tmp_path / "other.npz", a=np.zeros(3))
    np.savez(tmp_path / "pickled.npz", head=np.array([{}], dtype=object), allow_pickle=True)
    with zipfile.ZipFile(tmp_path / "zip", "w") as archive:
        archive.writestr("head.npy", "nonsense")
    for path in tmp_path.iterdir():
        with pytest.raises(ValueError, match=f"{path.name}' is not a broadphase index that can be read"):
            bp.Index.load(path)


def changed_file(index, path, **changes):
    index.save(path)
    with np.load(path) as members:
        arrays = {key: members[key] for key in members}
    head = json.loads(str(arrays["head"])) | changes.pop("head", {})
    with path.open("wb") as file:
        np.savez(file, **(arrays | changes | {"head": np.array(json.dumps(head))}))


@pytest.mark.covering
@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"head": {"version": 99}}, "its version is 99, this program reads 1"),
        ({"head": {"format": "x"}}, "another program's"),
        ({"head": {"index": "octopus"}}, "unknown index 'octopus'"),
        ({"head": {"dim": 3}}, "(boxes is damaged)|(bounds must have shape)"),
        ({"head": {"dim": 7}}, "dim must be 2 or 3"),
        ({"head": {"options": {"colour": 1}}}, "colour"),
        ({"alive": np.ones(5, np.bool_)}, "classes is damaged"),
        ({"alive": np.ones(35, np.uint8)}, "alive is damaged"),
        ({"masks": np.ones(35, np.int64)}, "masks is damaged"),
        ({"boxes": np.full((35, 4), np.nan, np.float32)}, "boxes holds nan or min > max"),
        ({"boxes": np.zeros((35, 4), np.int32)}, "dtype must be float32 or float64"),
        ({"classes": np.full(35, 7, np.uint8)}, "classes is damaged"),
        ({"seen": np.array([[1, 0]], np.int32)}, "seen is damaged"),
        ({"seen": np.array([[0, 1], [0, 1]], np.int32)}, "seen is damaged"),
        ({"seen": np.zeros((3, 2))}, "seen is damaged"),
    ],
)
def test_a_file_with_false_metadata_is_refused(index, tmp_path, change, message):
    assert len(index) == 35
    changed_file(index, tmp_path / "file")
    assert answers(bp.Index.load(tmp_path / "file")) == answers(index)
    changed_file(index, tmp_path / "file", **change)
    with pytest.raises(ValueError, match=message):
        bp.Index.load(tmp_path / "file")


def test_a_compressed_file_is_refused_before_it_is_decoded(index, tmp_path, exhaustive):
    index.save(tmp_path / "file")
    with np.load(tmp_path / "file") as members:
        arrays = {**members, "alive": np.zeros(1 << (26 if exhaustive else 25), np.bool_)}
    with (tmp_path / "file").open("wb") as file:
        np.savez_compressed(file, **arrays)
    del arrays
    tracemalloc.start()
    with pytest.raises(ValueError, match="it is compressed"):
        bp.Index.load(tmp_path / "file")
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 1 << 24


def test_a_class_loads_its_own_files_only(index, tmp_path):
    index.save(tmp_path / "file")

    class Other(bp.BruteForce):
        pass

    with pytest.raises(ValueError, match=f"it holds a {type(index).__name__}, not a Other"):
        Other.load(tmp_path / "file")


def test_pickles_and_copies_are_the_same_and_go_on_alone(index):
    wanted = answers(index)
    for twin in (index.copy(), pickle.loads(pickle.dumps(index))):
        twin.validate()
        assert answers(twin) == wanted
        twin.update(np.zeros((len(twin), 4)))
        twin.remove(twin.ids[0])
        twin.changes()
        assert answers(index) == wanted
        index.validate()


def test_reserved_memory_survives_a_clear(name):
    index = make(name)
    index.reserve(1000)
    index.insert_many(random_boxes(1, 100, 2), static=True, category=4)
    index.clear()
    index.insert_many([[0, 0, 1, 1]] * 2)
    assert index.pairs().tolist() == [[0, 1]]
    assert index.query_box([0, 0, 1, 1], mask=4).tolist() == []


def test_own_views_may_be_given_back(name):
    boxes = random_boxes(1, 30, 2)
    index = make(name)
    index.insert_many(boxes)
    index.update(index.boxes[::-1])
    np.testing.assert_array_equal(index.boxes, boxes[::-1])
    index.move_many(index.ids[::-1], index.boxes)
    np.testing.assert_array_equal(index.boxes, boxes)
    index.insert_many(index.boxes)
    np.testing.assert_array_equal(index.boxes, np.vstack((boxes, boxes)))
    index.move(0, index.box(7))
    index.validate()
    assert index.box(0).tolist() == boxes[7].tolist()


def test_any_index_is_loaded_by_a_program_that_has_made_none(tmp_path):
    bp.BoxTree().save(tmp_path / "file")
    program = "import sys, broadphase; print(type(broadphase.Index.load(sys.argv[1])).__name__)"
    run = [sys.executable, "-c", program, str(tmp_path / "file")]
    done = subprocess.run(run, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "BoxTree"
