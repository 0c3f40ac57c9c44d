"""The parts of the lab that need no server: messages, frames, the mailbox, scenes, uploads, snippets."""

import contextlib
import io
import json
import threading

import numpy as np
import pytest
from lab_server import setup_message

from broadphase.errors import FileError
from broadphase.indexes import make_index
from broadphase.lab import growth, messages, uploads
from broadphase.lab.frames import Kind, Section, decode, drawable, encode
from broadphase.lab.lanes import Lane
from broadphase.lab.mailbox import IN_FLIGHT, Mailbox
from broadphase.lab.messages import Ack, Ask, BadMessage, Play, Pointer, Setup, Show, Step, parse
from broadphase.lab.scenes import SCENES, make_scene
from broadphase.lab.scenes.worlds import still
from broadphase.lab.snippet import snippet

A_SETUP = Setup("balls", 40, 1, ("brute_force",), None, None, "")


# ---- messages


@pytest.mark.smaller_set
def test_a_setup_is_read_as_it_was_written():
    text = setup_message(methods=["strips", "auto"], cell_scale=0.5, slots=2, count=100_000)
    assert parse(text) == Setup("balls", 100_000, 1, ("strips", "auto"), 0.5, 2.0, "")
    assert parse('{"type": "ask", "what": "code"}') == Ask("code")


@pytest.mark.smaller_set
@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "JSON"),
        ("[1, 2]", "one JSON object"),
        ("{" * 1000, "JSON"),
        ("[" * 2000, "JSON"),
        ("x" * 3000, "at most 2048 bytes"),
        ('{"type": "shutdown"}', "unknown type"),
        ('{"type": ["setup"]}', "unknown type"),
        ("{}", "unknown type None"),
        (setup_message(count=4), "count must be between 5 and 100000; got 4"),
        (setup_message(count=10**12), "count must be between"),
        (setup_message(count=10**400), "a huge number"),
        (setup_message(count=40.0), "count must be a whole number"),
        (setup_message(count=True), "count must be a whole number"),
        (setup_message(count="40"), "count must be a whole number"),
        (setup_message(seed=-1), "seed must be between"),
        (setup_message(scene="../../etc/passwd"), "scene must be one of"),
        (setup_message(methods=[]), "a list of 1 to 4 names"),
        (setup_message(methods=["strips"] * 5), "a list of 1 to 4 names"),
        (setup_message(methods=["quantum"]), "methods must be among"),
        (setup_message(methods={"strips": 1}), "a list of 1 to 4 names"),
        (setup_message(cell_scale=float("nan")), "NaN is no number here"),
        (setup_message(cell_scale=0), "cell_scale must be between"),
        (setup_message(cell_scale=1e300), "cell_scale must be between"),
        (setup_message(slots=False), "slots must be a number"),
        (setup_message(file="x" * 100), "file must be a short text"),
        (setup_message(extra=1), "setup has no 'extra'"),
        ('{"type": "play", "playing": true, "rate": Infinity}', "Infinity is no number here"),
        ('{"type": "play", "playing": true, "rate": 1e999}', "rate must be between 0.1 and 60; got infinity"),
        ('{"type": "play", "playing": 1, "rate": 60}', "playing must be true or false"),
        ('{"type": "play", "playing": true}', "rate is missing"),
        ('{"type": "pointer", "phase": "grab", "x": 1e16, "y": 0, "reach": 0}', "x must be between"),
        ('{"type": "pointer", "phase": "grab", "x": 0, "y": 0, "reach": -1}', "reach must be between"),
        ('{"type": "pointer", "phase": "punch", "x": 0, "y": 0, "reach": 0}', "phase must be one of"),
        ('{"type": "ack", "frame": -1}', "frame must be between"),
        ('{"type": "growth", "run": true, "methods": ["auto", 3]}', "methods must be among"),
    ],
)
def test_what_is_no_message_is_named(text, said):
    with pytest.raises(BadMessage) as caught:
        parse(text)
    assert said in str(caught.value)
    assert len(str(caught.value)) < 400


# ---- frames


@pytest.mark.smaller_set
def test_frames_come_back_as_they_were_and_lie_on_eights():
    sections = [
        Section(Kind.CENTERS, 0, np.array([[1.5, -2], [3, 4]])),
        Section(Kind.STATIC, 0, np.array([True, False, True])),
        Section(Kind.NUMBERS, 3, np.array([1, np.nan, 2, 3, 4, 5e-3])),
        Section(Kind.TESTS, 3, np.empty((0, 2), np.int32)),
        Section(Kind.HELD, 0, np.array([-1])),
    ]
    wire = encode(7, 2**31, 12, sections)
    assert len(wire) % 8 == 0
    frame = decode(wire)
    assert (frame.epoch, frame.frame, frame.serial) == (7, 2**31, 12)
    for section in sections:
        back = frame.get(section.kind, section.lane)
        assert np.array_equal(
            back, section.content.ravel().astype(back.dtype), equal_nan=back.dtype.kind == "f"
        )
    assert frame.get(Kind.CELLS) is None
    with pytest.raises(ValueError, match="no frame"):
        decode(b"nope" + wire[4:])


@pytest.mark.smaller_set
def test_what_is_drawn_is_always_finite():
    values = drawable(np.array([np.inf, -np.inf, np.nan, 1e300, -1e39, 5.0]))
    assert values.dtype == np.float32
    assert np.isfinite(values).all()
    assert values[-1] == 5


# ---- the mailbox


def begun() -> Mailbox:
    mail = Mailbox()
    mail.put(A_SETUP)
    assert mail.take_setup() == A_SETUP
    return mail


@pytest.mark.smaller_set
def test_of_several_wishes_only_the_latest_is_obeyed():
    mail = Mailbox()
    for seed in range(100):
        mail.put(parse(setup_message(seed=seed)))
    assert mail.take_setup().seed == 99
    assert mail.take_setup() is None


@pytest.mark.smaller_set
def test_drags_are_merged_and_the_grab_before_them_is_not_lost():
    mail = begun()
    mail.put(Pointer("grab", 1, 1, 0))
    for x in range(500):
        mail.put(Pointer("drag", x, 0, 0))
    mail.put(Pointer("release", 9, 9, 0))
    assert [(pointer.phase, pointer.x) for pointer in mail.take_pointers()] == [
        ("grab", 1),
        ("drag", 499),
        ("release", 9),
    ]
    for _ in range(1000):
        mail.put(Pointer("grab", 1, 1, 0))
        mail.put(Pointer("release", 1, 1, 0))
        mail.put(Step())
    assert len(mail.take_pointers()) <= 16


@pytest.mark.smaller_set
def test_no_more_than_two_frames_are_on_their_way():
    mail = begun()
    sent = []
    while mail.may_draw():
        sent.append(mail.next_serial())
        mail.has_left()
    assert len(sent) == IN_FLIGHT == 2
    mail.put(Ack(sent[0]))
    assert mail.may_draw()
    mail.next_serial()
    # Acknowledged at once, but not yet handed to the network: that counts as much.
    mail.put(Ack(3))
    mail.next_serial()
    assert not mail.may_draw()
    mail.put(Ack(4))
    assert not mail.may_draw()
    mail.has_left()
    assert mail.may_draw()
    with pytest.raises(BadMessage, match="never sent"):
        mail.put(Ack(5))


@pytest.mark.smaller_set
def test_steps_come_one_by_one_and_pause():
    mail = begun()
    mail.put(Play(playing=False, rate=60))
    assert not mail.take_frame()
    mail.put(Step())
    mail.put(Step())
    assert [mail.take_frame() for _ in range(3)] == [True, True, False]


@pytest.mark.smaller_set
def test_what_comes_before_the_first_setup_is_not_lost():
    mail = Mailbox()
    mail.put(Play(playing=True, rate=60))
    mail.put(Show(tests=False, structure=True))
    waiting = threading.Thread(target=mail.wait)
    waiting.start()
    waiting.join(0.1)
    assert waiting.is_alive()
    mail.put(A_SETUP)
    waiting.join(30)
    assert not waiting.is_alive()
    assert mail.take_setup() == A_SETUP
    assert mail.take_frame()
    assert mail.show == Show(tests=False, structure=True)


@pytest.mark.smaller_set
def test_whoever_waits_is_woken_when_all_is_over():
    mail = Mailbox()
    answers = []
    thread = threading.Thread(target=lambda: answers.append(mail.wait()))
    thread.start()
    mail.close()
    thread.join(30)
    assert answers == [False]


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
def test_a_body_that_is_dragged_goes_there_and_no_other(name):
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
def test_uploads_are_kept_by_token_and_the_oldest_goes():
    kept = uploads.Uploads()
    tokens = [kept.add("a.csv", f"{k},0,9,9\n".encode())[0] for k in range(uploads.MOST_KEPT + 1)]
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
        ("a.csv", b"1,2,nan,4\n", "a.csv"),
        ("a.csv", b"", "a.csv"),
        ("a.exe", b"MZ", "the ending '.exe' is not known"),
        ("../../a", b"1,2,3,4\n", "the name has no ending"),
        ("a.npy", b"\x93NUMPY garbage", "a.npy"),
        ("a.parquet", b"PAR1", "a.parquet"),
        ("many.csv", b"0,0,1,1\n" * 100_001, "the lab shows 1 to 100000"),
        ("crowd.csv", b"0,0,1,1\n" * 20_000, "pairs overlap"),
    ],
)
def test_what_is_no_file_of_boxes_is_named(name, content, said):
    with pytest.raises(FileError) as caught:
        uploads.Uploads().add(name, content)
    assert said in str(caught.value)
    assert "/tmp" not in str(caught.value)


def test_a_small_parquet_of_many_rows_is_refused_before_it_is_read(tmp_path):
    pyarrow = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    column = pyarrow.array(np.zeros(2_000_000))
    names = ["min_x", "min_y", "max_x", "max_y"]
    parquet.write_table(pyarrow.table([column] * 4, names), tmp_path / "zeros.parquet")
    content = (tmp_path / "zeros.parquet").read_bytes()
    assert len(content) < 200_000
    with pytest.raises(FileError, match="2000000 rows"):
        uploads.Uploads().add("zeros.parquet", content)


# ---- the Python lines


@pytest.mark.parametrize("method", [*messages.METHODS])
@pytest.mark.parametrize("name", ["balls", "mostly_static"])
def test_the_python_lines_print_what_the_page_shows(name, method):
    setup = Setup(name, 60, 3, (method,), 1.5, 4.0, "")
    scene = make_scene(name, count=60, seed=3)
    born = 2
    for _ in range(born):
        scene.step()
    lane = Lane(method, scene.boxes(), scene.static, 1.5, 4.0)
    outcome = lane.run(scene.boxes())
    for _ in range(7):
        scene.step()
        outcome = lane.run(scene.boxes())
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(snippet(setup, scene, [(lane, born)], ""), {})
    assert printed.getvalue().strip() == str(outcome.stats)


def test_the_python_lines_of_a_file_print_what_the_page_shows(tmp_path):
    path = tmp_path / "boxes.csv"
    path.write_text("0,0,2,2\n1,1,3,3\n9,9,9,9\n")
    scene = still(np.array([[0.0, 0, 2, 2], [1, 1, 3, 3], [9, 9, 9, 9]]))
    lane = Lane("strips", scene.boxes(), scene.static)
    outcome = lane.run(scene.boxes())
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(snippet(Setup("file", 5, 1, ("strips",), None, None, ""), scene, [(lane, 0)], str(path)), {})
    assert printed.getvalue().strip() == str(outcome.stats)


def test_the_lines_say_that_a_hand_was_in_it():
    scene = make_scene("balls", count=5, seed=1)
    scene.grab(*scene.centers[0])
    assert "dragged" in snippet(A_SETUP, scene, [], "")


# ---- lanes and growth


def test_sliders_become_the_options_of_the_index():
    scene = make_scene("balls", count=50, seed=1)
    lane = Lane("spatial_hash", scene.boxes(), scene.static, 2.0, 3.0)
    assert lane.index.cell_size == lane.options["cell_size"]
    assert lane.options["table_size"] == 150
    assert lane.report()["cells"]["verdict"] in ("too big", "too small", "just right")
    assert Lane("strips", scene.boxes(), scene.static, 2.0, 3.0).options == {}


@pytest.mark.parametrize(
    ("scale", "verdict"), [(1 / 16, "too small"), (1.0, "just right"), (16.0, "too big")]
)
def test_the_verdict_follows_the_slider(scale, verdict):
    scene = make_scene("balls", count=2000, seed=1)
    lane = Lane("spatial_hash", scene.boxes(), scene.static, scale)
    lane.run(scene.boxes())
    assert lane.report()["cells"]["verdict"] == verdict


def test_a_grid_over_far_clusters_never_has_more_cells_than_memory():
    scene = make_scene("clusters", count=100_000, seed=1)
    lane = Lane("uniform_grid", scene.boxes(), scene.static, 1 / 64)
    lane.run(scene.boxes())
    assert lane.report()["cells"]["places"] < 3_000_000


def test_growth_reports_every_method_and_stops_when_told():
    points = []
    frames = growth.scene_frames("balls", 1, None)
    growth.measure(("brute_force", "strips"), frames, 100, points.append, lambda: False)
    assert [(point["method"], point["count"]) for point in points] == [
        (method, size) for size in (20, 50, 100) for method in ("brute_force", "strips")
    ]
    assert [point["done"] for point in points] == [1, 2, 3, 4, 5, 6]
    assert all(point["total"] == 6 and point["milliseconds"] > 0 for point in points)
    assert points[4]["tests"] == 100 * 99 // 2
    few = []
    growth.measure(("brute_force", "strips"), frames, 100, few.append, lambda: len(few) == 2)
    assert len(few) == 2
    json.dumps(points)


def test_growth_of_given_boxes_takes_parts_of_them():
    boxes = make_scene("balls", count=60, seed=1).boxes()
    points = []
    growth.measure(("brute_force",), growth.scene_frames("balls", 1, boxes), 60, points.append, lambda: False)
    assert [point["count"] for point in points] == [20, 50]


def test_the_index_behind_auto_is_said_by_its_name():
    scene = make_scene("balls", count=20, seed=1)
    assert Lane("auto", scene.boxes(), scene.static).name == make_index("auto").name
