"""The scenes of the lab, and the files that are shown in it."""

import numpy as np
import pytest

from broadphase.errors import FileError
from broadphase.lab import uploads
from broadphase.lab.scenes import SCENES, make_scene, still

# ---- scenes


@pytest.mark.parametrize("name", SCENES)
def test_scenes_repeat_and_stay_finite_and_seeds_differ(name):
    first, second, other = (make_scene(name, count=30, seed=seed) for seed in (4, 4, 5))
    for _ in range(12):
        first.step()
        second.step()
    assert np.array_equal(first.boxes(), second.boxes())
    assert np.isfinite(first.boxes()).all()
    assert (first.boxes()[:, 2:] > first.boxes()[:, :2]).all()
    assert not np.array_equal(first.boxes(), other.boxes())
    start = make_scene(name, count=30, seed=4)
    moved = (start.boxes() != first.boxes()).any(axis=1)
    assert moved.any()
    assert not (moved & first.static).any()


@pytest.mark.parametrize("name", SCENES)
@pytest.mark.parametrize("count", [5, 6, 1000])
def test_scenes_of_any_size_keep_their_bodies_where_the_page_shows_them(name, count):
    scene = make_scene(name, count=count, seed=1)
    for _ in range(200 if count < 1000 else 40):
        scene.step()
    assert len(scene) == count
    inside = (scene.centers >= np.array(scene.bounds[:2]) - 1) & (
        scene.centers <= np.array(scene.bounds[2:]) + 1
    )
    assert inside.all()


def test_monsters_never_walk_into_walls():
    scene = make_scene("dungeon", count=300, seed=2)
    before = [len(scene.tiles.tiles_in(box)) for box in scene.boxes()]
    for _ in range(100):
        scene.step()
    after = [len(scene.tiles.tiles_in(box)) for box in scene.boxes()]
    assert sum(before) == sum(after) == 0


@pytest.mark.parametrize("name", SCENES)
def test_only_the_dragged_body_moves(name):
    moved, left_alone = make_scene(name, count=12, seed=3), make_scene(name, count=12, seed=3)
    body = 4
    assert moved.grab(*moved.centers[body]) in range(12)
    held = moved.held
    target = np.array(moved.bounds[:2]) + np.array([90.0, 80.0])
    moved.drag(*target)
    moved.follow()
    assert np.array_equal(moved.centers[held], target)
    others = np.arange(12) != held
    assert np.array_equal(moved.centers[others], left_alone.centers[others])
    assert moved.touched
    moved.release()
    assert moved.held == -1


def test_a_throw_flies_on():
    scene = make_scene("asteroids", count=5, seed=3)
    held = scene.grab(*scene.centers[0])
    for step in range(6):
        scene.drag(100 + 3 * step, 50)
        scene.step()
    scene.release()
    x = scene.centers[held, 0]
    scene.step()
    assert 2 < scene.centers[held, 0] - x < 4


def test_there_is_nothing_to_grab_in_empty_places():
    scene = make_scene("clusters", count=20, seed=3)
    assert scene.grab(-1e6, -1e6, 10) == -1
    assert not scene.touched


@pytest.mark.smaller_set
def test_boxes_of_a_file_stay_bit_for_bit_what_they_were():
    boxes = np.array([[0.1, 0.2, 0.30000000000000004, 1e30], [-np.inf, 0, np.inf, 1], [3, 3, 4, 4]])
    scene = still(boxes)
    scene.step()
    assert np.array_equal(scene.boxes(), boxes)
    assert np.isfinite(scene.bounds).all()
    scene.grab(3.5, 3.5)
    scene.drag(8.5, 3.5)
    scene.follow()
    assert np.array_equal(scene.boxes()[:2], boxes[:2])
    assert scene.boxes()[2].tolist() == [8, 3, 9, 4]


@pytest.mark.smaller_set
def test_scenes_that_there_are_not_are_refused():
    with pytest.raises(ValueError, match="unknown scene 'ocean'"):
        make_scene("ocean", count=10)
    with pytest.raises(ValueError, match="count must be between 5 and 100000; got 4"):
        make_scene("balls", count=4)


# ---- uploads


@pytest.mark.smaller_set
def test_uploads_are_kept_by_token_and_the_oldest_is_dropped():
    kept = uploads.Uploads()
    boxes = [np.array([[k, 0.0, 9.0, 9.0]]) for k in range(uploads.MOST_KEPT + 1)]
    tokens = [kept.keep(uploads.Upload("a.csv", one, "")) for one in boxes]
    assert kept.get(tokens[0]) is None
    assert kept.get(tokens[-1]).boxes.tolist() == [[uploads.MOST_KEPT, 0, 9, 9]]
    assert kept.get("nonsense") is None


@pytest.mark.smaller_set
def test_boxes_with_three_axes_are_seen_from_above():
    _, upload = uploads.Uploads().add("C:\\data\\boxes.csv", b"1,2,3,4,5,6\n")
    assert upload.boxes.tolist() == [[1, 2, 4, 5]]
    assert upload.name == "boxes.csv"
    assert "3-D" in upload.note


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("a.csv", b"1,2,nan,4\n", "nan"),
        ("a.csv", b"", "is empty"),
        ("a.exe", b"MZ", "the ending '.exe' is not known"),
        ("../../a", b"1,2,3,4\n", "the name has no ending"),
        ("a.npy", b"\x93NUMPY garbage", "is no .npy file"),
        ("a.parquet", b"PAR1", "is no Parquet file"),
        ("many.csv", b"0,0,1,1\n" * 100_001, "the limit is 100,000; give the lab a part of it"),
        ("crowd.csv", b"0,0,1,1\n" * 20_000, "pairs overlap"),
    ],
)
def test_what_is_no_file_of_boxes_is_named(name, content, said, tmp_path):
    path = tmp_path / name.rpartition("/")[2]
    path.write_bytes(content)
    answer = uploads.answer(path, "its name", str(tmp_path / "boxes.npy"))
    assert answer["error"].startswith("its name: ")
    assert said in answer["error"]
    assert str(tmp_path) not in answer["error"]


def test_where_pyarrow_is_missing_its_files_are_not_offered(monkeypatch):
    assert ".parquet" in uploads.endings()
    monkeypatch.setattr(uploads, "find_spec", lambda name: None)
    assert ".parquet" not in uploads.endings()
    assert {".csv", ".npy", ".geojson"} <= set(uploads.endings())


def test_a_small_parquet_of_many_rows_is_refused_before_it_is_read(tmp_path):
    pyarrow = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    column = pyarrow.array(np.zeros(2_000_000))
    names = ["min_x", "min_y", "max_x", "max_y"]
    parquet.write_table(pyarrow.table([column] * 4, names), tmp_path / "zeros.parquet")
    assert (tmp_path / "zeros.parquet").stat().st_size < 200_000
    with pytest.raises(FileError, match="2,000,000 rows"):
        uploads.read(tmp_path / "zeros.parquet")
