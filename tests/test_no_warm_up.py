"""What needs a process of its own: imports, forks, and kernels as plain Python."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

import broadphase as bp

HERE = Path(__file__).parent
WAIT = 300  # seconds; only what hangs takes so long


def run(script, *arguments, **environment):
    """Run a script in a fresh interpreter that knows the test folder; returns what it printed."""
    package = str(Path(bp.__file__).parent.parent)
    path = os.pathsep.join([package, str(HERE), *filter(None, [os.environ.get("PYTHONPATH")])])
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", script, *map(str, arguments)],
        env={**os.environ, "PYTHONPATH": path, **environment},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=WAIT,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


LOADED = """
import sys, broadphase as bp
dir(bp), bp.__version__
heavy = {"numba", "llvmlite", "ziglang", "matplotlib", "rich", "cyclopts", "pyarrow"}
print(sorted({"numpy", *heavy} & {*sys.modules}))
bp.pairs([[0, 0, 1, 1]] * 3), bp.World().update()
print(sorted(heavy & {*sys.modules}))
"""


def test_an_import_loads_no_numpy_and_the_array_functions_no_compiler_and_nothing_of_the_extras():
    assert run(LOADED) == "[]\n[]"


FIRST_CALLS = """
import sys
import numpy as np
import broadphase as bp
from broadphase import Box, Circle, Polygon

world, index, points = bp.World(), bp.make_index(), np.random.default_rng(1).random((3_000, 2)) * 300
small, large = np.hstack((points[:5], points[:5] + 9)), np.hstack((points, points + 1))
solid = np.zeros((20, 20), bool)
solid[15] = True


def furnish():
    for body in list(world):
        body.remove()
    world.add(Box(0, 0, 8, 8), tag="player").velocity = 3, 4
    world.add(Circle(20, 0, 4), tag="coin", sensor=True)
    world.add(Polygon([(40, 0), (50, 0), (45, 9)]), tag="lift", static=True)
    world.add(Box(-5, -5, 60, 60), sensor=True, static=True)
    world.add_many([Box(9 * k, 100, 8, 8) for k in range(12)], tag="crowd")
    world.add_many(large[:500] + 400, tag="many")


def one(tag="player"):
    return world.bodies(tag)[0]


def crowd():
    return world.bodies("crowd")


def again():
    world.restore(world.snapshot())


far = 0.0, 200.0
of_worlds = {
    "furnish": furnish,
    "on": lambda: world.on("player", bp.ANY, lambda contact: None, stay=lambda contact: None),
    "on the same": lambda: world.on("many", "many"),
    "update": world.update,
    "move": lambda: [world.move(one(), 3, 2, how) for how in ("slide", "bounce", lambda hit: "touch")],
    "move round": lambda: world.move(one("coin"), 3, 2),
    "try_move": lambda: world.try_move(one(), 1, 1),
    "walk": lambda: world.walk(one(), 1, 1),
    "tiles": lambda: setattr(world, "tiles", bp.TileMap(solid.copy(), 16)),
    "move on tiles": lambda: world.move(one(), *far),
    "walk on tiles": lambda: world.walk(one(), *far),
    "grounded": lambda: world.grounded(one()),
    "push": lambda: world.push(one("lift"), 0, -3),
    "move_many": lambda: [world.move_many(crowd(), 1, 2, how) for how in ("slide", "cross")],
    "crowd": lambda: world.move_many(crowd(), *far, movers_block=True),
    "walk_many": lambda: world.walk_many(crowd(), 1, 2),
    "move_all": lambda: world.move_all(crowd(), points[:12]),
    "step": lambda: world.step(0.1),
    "turn": lambda: [one().turn_to(30), world.try_turn(one(), 0), world.turn_many(crowd(), [0] * 12)],
    "resize": lambda: world.resize(one(), Box(0, 0, 9, 9)),
    "query_box": lambda: [world.query_box((0, 0, 50, 50), tag=tag) for tag in (None, "coin")],
    "query_box many": lambda: world.query_box(large),
    "query_point": lambda: [world.query_point(some) for some in ((1, 1), points)],
    "query_radius": lambda: [world.query_radius(some, 9) for some in ((1, 1), points)],
    "query_shape": lambda: world.query_shape(Circle(0, 0, 9)),
    "query_cone": lambda: world.query_cone(points[:5], (1, 0), 60, 90, sight=True),
    "shape_cast": lambda: [world.shape_cast(Circle(0, 0, 9), 40, 0), world.move(one(), 9, 9, dry=True)],
    "ray_fan": lambda: world.raycast((0, 0), bp.ray_fan((1, 0), 90, 9)),
    "probe": lambda: world.walk(one(), 1, 1, probe=4),
    "outlines": world.outlines,
    "raycast": lambda: [world.raycast((-50, 2), (1, 0)), world.query_ray((-50, 2), (1, 0))],
    "raycast_many": lambda: world.raycast(points, points + 1),
    "line_of_sight": lambda: world.line_of_sight(one(), (90, 90)),
    "nearest": lambda: [world.nearest((0, 0)), world.nearest(points)],
    "paths": lambda: [world.tiles.find_path((0, 0), (5, 5)), world.tiles.flow_field((2, 2))],
    "set": lambda: world.tiles.set(3, 3, True),
    "rollback": again,
    "many move": lambda: world.move_many(world.bodies("many"), 1, 0),
    "update many": world.update,
    "remove": lambda: [world.add(Box(0, 0, 1, 1)).remove(), world.remove_many(world.bodies("many")[:2])],
    "contact": lambda: [call(Box(0, 0, 1, 1), Circle(0, 0, 1)) for call in (bp.overlap, bp.contact)],
}
over_arrays = {
    "pairs": lambda: [bp.pairs(boxes) for boxes in (small, large, np.tile(large, (40, 1)))],
    "join": lambda: [bp.join(boxes, large) for boxes in (small, large)],
    "count_pairs": lambda: bp.count_pairs(large),
    "neighbors": lambda: [bp.neighbors(some, 9) for some in (points[:5], points)],
    "around": lambda: bp.neighbors(points, 9, period=(300, 300)),
    "nearest": lambda: [bp.nearest(some, 2) for some in (points[:5], points)],
    "count_neighbors": lambda: bp.count_neighbors(points, [9]),
    "swept_pairs": lambda: bp.swept_pairs(small, small[:, :2]),
    "raycast": lambda: bp.raycast(small, points[:5], points[:5] + 1),
    "contacts": lambda: bp.contact_boxes(small, small),
    "insert": lambda: [index.insert((0, 0, 1, 1)), index.insert_many(large)],
    "changes": lambda: [index.move(0, (1, 1, 2, 2)), index.update(index.boxes + 1), index.changes()],
    "queries": lambda: [index.query_box(large), index.raycast((0, 0), (1, 1)), index.nearest(points)],
    "remove": lambda: index.remove_many(index.ids[:-2]),
    "make_index": lambda: [bp.make_index(name) for name in bp.INDEXES],
}
made, watching = [], False


def watch(event, arguments):
    if watching and event.partition(".")[0] in ("import", "open", "compile", "marshal", "ctypes", "_thread"):
        made.append((event, str(arguments[0])[:80]))


def check(calls):
    global watching
    for name, call in calls.items():
        each = []
        for _ in range(10):
            made.clear()
            watching = True
            call()
            watching = False
            each.append([*made])
        assert each[0] == each[9], (name, [one for one in each[0] if one not in each[9]])


sys.addaudithook(watch)
check(of_worlds)
bp.preload()
check(over_arrays)
print("nothing")
"""


def test_a_first_call_imports_and_makes_no_more_than_the_tenth():
    assert run(FIRST_CALLS) == "nothing"


FORK = """
import os, signal
import numpy as np
import broadphase as bp, scenes
boxes = scenes.make("uniform", 5_000, 2)
expected = bp.pairs(boxes, threads=1)

def right():
    return all(np.array_equal(bp.pairs(boxes, method=m, threads=4), expected) for m in bp.METHODS)

assert right()
child = os.fork()
if child == 0:
    signal.alarm(120)  # a child that waits for a thread which only the parent has would wait for ever
    os._exit(0 if right() else 1)
_, status = os.waitpid(child, 0)
assert os.waitstatus_to_exitcode(status) == 0, status
assert right()
print("right")
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system cannot fork")
def test_a_forked_child_gets_a_pool_of_its_own():
    # Python 3.12 and newer warn of any fork with threads: that is what is tested here.
    script = "import warnings; warnings.simplefilter('ignore', DeprecationWarning)" + FORK
    assert run(script) == "right"


WITHOUT_JIT = """
import sys, numpy as np
import broadphase as bp, oracle, scenes
for dim in (2, 3):
    for name in ("integers", "infinite_boxes"):
        boxes = scenes.make(name, 20, dim, np.float32)
        for method in bp.METHODS:
            found = bp.pairs(boxes, method=method)
            assert np.array_equal(found, oracle.pairs(boxes)), (name, dim, method)
            assert found.dtype == np.int32
assert "numba" not in sys.modules
print("right")
"""


def test_the_answer_is_the_same_without_the_jit():
    assert run(WITHOUT_JIT, NUMBA_DISABLE_JIT="1") == "right"


@pytest.mark.smaller_set
def test_methods_are_the_promised_ones():
    textbook = {"brute_force", "sort_and_sweep", "uniform_grid", "spatial_hash", "tree"}
    assert textbook | {"strips", "auto"} <= set(bp.METHODS)
