"""The parts of the lab that need no server: Python lines, options, growth."""

import contextlib
import io
import json
import posixpath
import re
from importlib import resources

import numpy as np
import pytest

import broadphase as bp
from broadphase.lab import messages
from broadphase.lab.lanes import Lane, measure_growth, scene_frames
from broadphase.lab.messages import Setup
from broadphase.lab.scenes import make_scene, still
from broadphase.lab.session import Runner
from broadphase.lab.snippet import snippet
from broadphase.runtime.threads import Cancelled, CancelToken, cancelled_by

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
    setup = Setup("balls", 5, 1, ("brute_force",), None, None, "")
    assert "dragged" in snippet(setup, scene, [], "")


# ---- lanes and growth


def test_sliders_become_the_options_of_the_index():
    scene = make_scene("balls", count=50, seed=1)
    lane = Lane("spatial_hash", scene.boxes(), scene.static, 2.0, 3.0)
    assert lane.index.cell_size == lane.options["cell_size"]
    assert lane.options["table_size"] == 150
    assert lane.report()["cells"]["verdict"] in ("too large", "too small", "right")
    assert Lane("strips", scene.boxes(), scene.static, 2.0, 3.0).options == {}


@pytest.mark.parametrize(("scale", "verdict"), [(1 / 16, "too small"), (1.0, "right"), (16.0, "too large")])
def test_the_verdict_follows_the_slider(scale, verdict):
    scene = make_scene("balls", count=2000, seed=1)
    lane = Lane("spatial_hash", scene.boxes(), scene.static, scale)
    lane.run(scene.boxes())
    assert lane.report()["cells"]["verdict"] == verdict


def test_the_sandbox_judges_cells_in_the_words_of_the_index():
    lower = np.random.default_rng(1).random((400, 2)) * 990
    boxes = np.hstack((lower, lower + 10))
    lane = Lane("uniform_grid", boxes, np.zeros(400, bool), cell_scale=44)
    lane.run(boxes)
    alone = bp.UniformGrid((0, 0, 1_000, 1_000), 1_100)
    alone.insert_many(boxes)
    said = lane.report()["cells"]
    assert (said["verdict"], said["reason"]) == (alone.explain().verdict, alone.explain().reason)
    assert said["verdict"] == "too large"


def test_a_grid_over_far_clusters_never_has_more_cells_than_memory(exhaustive):
    scene = make_scene("clusters", count=100_000 if exhaustive else 10_000, seed=1)
    lane = Lane("uniform_grid", scene.boxes(), scene.static, 1 / 64)
    lane.run(scene.boxes())
    assert lane.report()["cells"]["places"] < 3_000_000


def test_growth_reports_every_method_and_stops_when_cancelled():
    points = []
    frames = scene_frames("balls", 1, None)
    measure_growth(("brute_force", "strips"), frames, 100, points.append)
    assert [(point["method"], point["count"]) for point in points] == [
        (method, size) for size in (20, 50, 100) for method in ("brute_force", "strips")
    ]
    assert [point["done"] for point in points] == [1, 2, 3, 4, 5, 6]
    assert all(point["total"] == 6 and point["milliseconds"] > 0 for point in points)
    assert points[4]["tests"] == 100 * 99 // 2
    few, token = [], CancelToken()

    def two(point):
        few.append(point)
        token.cancelled = len(few) == 2

    with cancelled_by(token), pytest.raises(Cancelled):
        measure_growth(("brute_force", "strips"), frames, 100, two)
    assert len(few) == 2
    json.dumps(points)


def test_growth_of_given_boxes_takes_parts_of_them():
    boxes = make_scene("balls", count=60, seed=1).boxes()
    points = []
    measure_growth(("brute_force",), scene_frames("balls", 1, boxes), 60, points.append)
    assert [point["count"] for point in points] == [20, 50]


@pytest.mark.parametrize(("count", "way"), [(20, "brute_force"), (600, "strips")])
def test_the_way_that_auto_takes_is_said_by_its_name(count, way):
    scene = make_scene("balls", count=count, seed=1)
    lane = Lane("auto", scene.boxes(), scene.static)
    for _ in range(3):
        scene.step()
        outcome = lane.run(scene.boxes())
        assert lane.name == lane.report()["name"] == way
        assert outcome.pairs.tolist() == bp.pairs(scene.boxes(), static=scene.static).tolist()


# ---- runners


def test_a_lane_that_was_slow_is_shown_as_it_was_and_does_not_look_again():
    scene = make_scene("balls", count=60, seed=1)
    show = messages.Show(tests=True, structure=True)
    queries = []
    runner = Runner(
        lambda: Lane("sweep_and_prune", scene.boxes(), scene.static),
        0,
        lambda: queries.append(True),
        CancelToken(),
    )
    runner.start(scene.boxes(), 0, show)
    runner.wait(60)
    scene.step()
    runner.start(scene.boxes(), 1, show)
    runner.wait(60)
    first = runner.shown
    assert first.frame == 1
    assert first.seen.outcome.stats.swaps > 0
    runner.start(scene.boxes(), 1, show)
    runner.wait(60)
    assert runner.shown is first
    assert not queries


def test_the_error_of_a_slow_lane_is_raised_by_the_next_start():
    queries = []

    def fail():
        raise MemoryError("no room")

    scene = make_scene("balls", count=20, seed=1)
    runner = Runner(fail, 0, lambda: queries.append(True), CancelToken())
    runner.start(scene.boxes(), 0, messages.Show(tests=True, structure=True))
    runner.wait(60)
    assert queries == [True]
    with pytest.raises(MemoryError, match="no room"):
        runner.start(scene.boxes(), 0, messages.Show(tests=True, structure=True))


@pytest.mark.parametrize(("page", "script"), [("index.html", "tour.js"), ("sandbox.html", "main.js")])
def test_a_page_requests_all_its_scripts_at_once(page, script):
    folder = resources.files("broadphase.lab").joinpath("page")
    needed = [script]
    for name in needed:
        imported = re.findall(r'from "(\.[^"]+)"', folder.joinpath(name).read_text("utf-8"))
        imported = [posixpath.normpath(posixpath.join(posixpath.dirname(name), other)) for other in imported]
        needed += [other for other in imported if other not in needed]
    html = folder.joinpath(page).read_text("utf-8")
    queries = re.findall(r'<link rel="modulepreload" href="page/([^"]+)">', html)
    assert sorted(queries) == sorted(needed[1:])
