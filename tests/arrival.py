"""Calls every public function where nothing but NumPy is installed: `.ci/run` runs it in such an environment.

``python tests/arrival.py`` fails where a compiler can be imported, where a public function is not called,
and on any warning, among them that kernels run as plain Python.
"""

import importlib.util
import pickle
import sys
import sysconfig
import tempfile
import warnings
from pathlib import Path
from types import SimpleNamespace

warnings.simplefilter("error")

import numpy as np  # noqa: E402 - its import must not warn either

import broadphase as bp  # noqa: E402

BOXES = np.random.default_rng(7).random((3_000, 4)) * 100
BOXES[:, 2:] = BOXES[:, :2] + 1.0


def arrays(dim: int, dtype: type) -> None:
    """The functions from arrays to arrays, by all methods."""
    low = np.random.default_rng(dim).random((2_000, dim)) * 50
    boxes = np.hstack([low, low + 1.0]).astype(dtype)
    right = bp.pairs(boxes, method="brute_force")
    assert len(right)
    for method in bp.METHODS:
        assert np.array_equal(bp.pairs(boxes, method=method), right)
        assert bp.count_pairs(boxes, method=method) == len(right)
        assert len(bp.pairs(boxes, method=method, touching=False, static=boxes[:, 0] < 25, categories=1))
        assert len(bp.join(boxes[:900], boxes[900:], method=method))
    assert "strips" in str(bp.explain(boxes))


def points(dim: int, dtype: type) -> None:
    """Points near each other, periodic worlds, environments, and swept pairs."""
    place = (np.random.default_rng(dim).random((2_000, dim)) * 20).astype(dtype)
    period, env = (20.0,) * dim, np.arange(2_000) % 3
    for period_, env_, sort in (
        (None, None, True),
        (period, None, False),
        (None, env, True),
        (period, env, True),
    ):
        found = bp.neighbors(place, 1.5, period=period_, env=env_, sort=sort, offsets=True)
        assert len(found.i)
        assert found.scatter(found.distance, along=found.unit, antisymmetric=True).shape == place.shape
        assert found.sum(place).dtype == found.scatter(found.distance).dtype == dtype
        assert (found.rows_in(found) == np.arange(len(found))).all()
        skin = bp.VerletList(1.5, 0.5, period=period_)
        assert len(skin.neighbors(place, env=env_)) == len(found)
        assert (
            len(bp.neighbors(place, np.full(2_000, 0.7, dtype), period=period_, env=env_).csr()[0]) == 2_001
        )
        assert len(bp.nearest(place, 3, period=period_, env=env_).ids) == 2_000
        assert bp.count_neighbors(place, [1.0, 1.5], period=period_, env=env_)[1] == len(found)
        both = None if env_ is None else (env_[:50], env_)
        assert len(bp.neighbors(place[:50], 1.5, other=place, period=period_, env=both).i)
        assert len(bp.nearest(place[:50], 3, other=place, r=2.0, period=period_, env=both).ids) == 50
        kept = bp.PointIndex(place, period=period_)
        cell = np.eye(dim) * 20 + np.eye(dim, k=-1) * 7
        assert len(bp.neighbors(place, 1.0, period=cell, offsets=True)) > 0
        assert len(bp.neighbors(place, 1.0, period=cell, images="all", half=False).shift) > 0
        assert (bp.nearest(place[:50], 2, other=place, period=cell, exclude_self=True).ids >= 0).all()
        assert len(kept.neighbors(place[:50], 1.5)) >= 50
        kept.remove(0)
        assert (kept.nearest(place[1:50], 1).ids[:, 0] == np.arange(1, 50)).all()
        assert kept.insert(place[0]) == 0
    tree = bp.adapters.scipy.KDTree(place, boxsize=20.0)
    assert len(tree.query_pairs(1.5)) == bp.count_neighbors(place, 1.5, period=period)
    assert tree.query(place[7])[1] == 7
    boxes = np.hstack([place, place + dtype(0.4)])
    right = bp.pairs(boxes, period=period, method="brute_force")
    for method in bp.METHODS:
        assert np.array_equal(bp.pairs(boxes, period=period, method=method), right)
        assert len(bp.pairs(boxes, env=env, method=method))
        assert len(bp.join(boxes[:900], boxes[900:], env=(env[:900], env[900:]), method=method))
    assert len(bp.swept_pairs(boxes, np.ones_like(place))[0])
    for name in ("strips", "box_tree", "spatial_hash"):
        torus = bp.make_index(name, dim=dim, dtype=dtype, period=period)
        torus.insert_many(boxes)
        assert np.array_equal(torus.pairs(), right)
        assert len(torus.query_radius(place[:20], 1.0))
        assert len(torus.nearest(place[:20], 3).ids)
        assert len(torus.raycast(place[:20], np.ones(dim), max_distance=9.0).ids)
        many = bp.make_index(name, dim=dim, dtype=dtype)
        many.insert_many(boxes, env=env)
        assert len(many.pairs())
        assert len(many.raycast(place[:20], np.ones(dim), env=env[:20], ignore=np.arange(20)).ids)
        assert len(many.query_box(boxes[:20], env=env[:20]))


def index(name: str, dim: int, dtype: type) -> None:
    """Every query of an index."""
    low = np.random.default_rng(dim).random((500, dim)) * 20
    boxes = np.hstack([low, low + 1.0]).astype(dtype)
    options = {"bounds": (0,) * dim + (21,) * dim, "cell_size": 2.0} if name == "uniform_grid" else {}
    made = bp.make_index(name, dim=dim, dtype=dtype, **options)
    ids = made.insert_many(boxes)
    point, ray = boxes[200, :dim], (boxes[200, :dim], np.ones(dim))
    made.changes()
    made.move_many(ids[:50], boxes[50:100])
    made.move(7, boxes[8])
    made.remove(9)
    assert made.insert(boxes[9]) == 9
    assert len(made.changes().began)
    assert np.array_equal(made.pairs(), bp.pairs(made.boxes))
    assert len(made.query_box(boxes[200]))
    assert len(made.query_box(boxes))
    assert len(made.query_point(point))
    assert len(made.query_point(boxes[:, :dim]))
    assert len(made.query_radius(point, 2.0))
    assert len(made.nearest(point, 3).ids)
    assert made.raycast(*ray) is not None
    assert len(made.query_ray(*ray))
    made.raycast(boxes[:, :dim], np.ones(dim))
    made.join(made.copy())
    made.update(boxes)
    made.validate()
    assert made.stats.boxes == 500
    assert len(bp.raycast(boxes, boxes[:, :dim], np.ones(dim)).ids) == 500
    with tempfile.TemporaryDirectory() as folder:
        made.save(Path(folder, "index.npz"))
        again = type(made).load(Path(folder, "index.npz"))
        assert len(bp.load(Path(folder, "index.npz"))) == 500
    assert np.array_equal(again.pairs(), made.pairs())
    assert np.array_equal(pickle.loads(pickle.dumps(made)).pairs(), made.pairs())


def few() -> None:
    """What a kernel answers in one call where there are few."""
    boxes, env = bp.from_xywh(BOXES[:9] * 0 + 5.0), np.zeros(9, np.int64)
    for options in ({}, {"period": (50, 50)}, {"env": env}, {"masks": env + 1}, {"static": env > 0}):
        assert len(bp.pairs(boxes, **options)) == bp.count_pairs(boxes, **options) == 36
    assert len(bp.join(boxes, boxes, env=(env, env))) == 81
    shapes = bp.ShapeIndex([bp.Circle(0, 0, 2), bp.Box(1, -1, 2, 2)])
    assert shapes.query_box((0, 0, 3, 3)).tolist() == [0, 1]
    assert len(shapes.raycast(np.zeros((3, 2)), np.ones((3, 2))).ids) == 3
    assert shapes.nearest(np.full((3, 2), 9.0)).ids.tolist() == [1, 1, 1]


def world() -> None:
    """A small game."""
    world = bp.World()
    solid = np.zeros((20, 20), bool)
    solid[10] = True
    world.tiles = bp.TileMap(solid, 32)
    reported = []
    world.on("player", "coin", begin=reported.append)
    player = world.add(bp.Box(10, 10, 20, 20), tag="player")
    world.add(bp.Circle(60, 20, 5), tag="coin", sensor=True)
    world.add(bp.Polygon([(200, 0), (220, 0), (210, 60)]), tag="wall", static=True)
    world.update()
    assert world.move(player, 300, 0).hits
    world.update()
    assert reported
    world.move(player, 0, 1000, response="slide")
    world.move_many([player], -5.0, -5.0)
    world.try_move(player, 1, 1)
    player.move_to(10, 10)
    kept = world.snapshot()
    world.update()
    world.restore(kept)
    assert world.query_box((0, 0, 50, 50))
    assert world.query_point((15, 15))
    assert world.nearest((0, 0), 2)
    world.query_radius((0, 0), 100)
    world.raycast((0, 15), (1, 0))
    world.tiles.set_slope(5, 9, 0, 1)
    world.tiles.raycast((0, 310), (1, 0))
    world.tiles.raycast([[0, 310]], [[1, 0]])
    world.move(player, 200, 400)
    world.move_many([player], 5.0, 5.0)
    player.velocity = 5.0, 5.0
    world.step(0.5)
    player.velocity = 0.0, 0.0
    world.walk(player, 40, 300, snap=4)
    world.walk_many([player], 40, 5)
    capsule = world.add(bp.Capsule(300, 0, 330, 0, 6))
    world.turn_many([player, capsule], [30, 60])
    world.try_turn(capsule, 90)
    assert bp.contact(bp.RoundedBox(0, 0, 10, 10, 3), bp.Circle(5, 5, 2)) is not None
    shapes = bp.Circle(0, 0, 2), bp.Box(1, -1, 2, 2)
    assert bp.contact(*shapes) is not None
    assert bp.overlap(*shapes)
    assert bp.in_range([(0, 0), (10, 0)], [(3, 4), (7, 0)], 5) == [[(3, 4)], [(7, 0)]]
    ones = [SimpleNamespace(pos=(x, 0), size=2) for x in (0, 3, 9)]
    assert bp.colliding(ones, radius="size") == [(ones[0], ones[1])]
    pairs = bp.pairs(BOXES)
    assert len(bp.contact_boxes(BOXES, BOXES, pairs).depths)
    circles = np.hstack([BOXES[:, :2], np.ones((len(BOXES), 1))])
    assert len(bp.contact_circles(circles, circles, pairs, touching=True).depths)
    bp.balls.BallSimulation(200, seed=1).step(0.1)
    world.add_many([bp.Box(400 + 9 * k, 0, 5, 5) for k in range(20)], tag="crate")
    world.separate(world.bodies("crate"))
    crowd: list[bp.ContactRows] = []
    world.on("crate", "bird", many=crowd.append)
    world.add(bp.Box(400, 2, 300, 2), tag="bird")
    world.tiles.set_data(19, 19, "lava")
    world.on_tile("crate", "lava")
    world.update()
    for k in range(40):  # more tags than a number has bits
        world.on("bird", k)
    world.bodies("crate").positions += 1.0, 0.0
    world.update()
    assert len(crowd[0].a) == 20
    fan = np.column_stack([np.cos(np.arange(100.0)), np.sin(np.arange(100.0))])
    assert len(world.raycast(np.full((100, 2), 15.0), fan, ignore=player).ids) == 100
    assert len(world.raycast((15, 15), bp.ray_fan((1, 0), 60, 9)).ids) == 9
    assert len(world.nearest(np.zeros((5, 2)), 3).ids) == 5
    assert len(world.query_box([[0, 0, 500, 500]]))
    field = world.tiles.flow_field((3, 3))
    assert field.distances.shape == solid.shape
    world.tiles.find_path((3, 3), (5, 5))
    with tempfile.TemporaryDirectory() as folder:
        with bp.Recorder(world, Path(folder, "game")):
            world.update()
        assert len(bp.Recording(Path(folder, "game"))) == 1


def main() -> None:
    """All of it."""
    for name in ("numba", "llvmlite", "ziglang"):
        assert importlib.util.find_spec(name) is None, f"{name} is installed here"
    for dim in (2, 3):
        for dtype in (np.float32, np.float64):
            arrays(dim, dtype)
            points(dim, dtype)
            names = ("brute_force", "sort_and_sweep", "sweep_and_prune", "uniform_grid", "spatial_hash")
            for name in (*names, "box_tree", "strips"):
                index(name, dim, dtype)
    few()
    world()
    bp.preload()
    if sysconfig.get_config_var("Py_GIL_DISABLED"):
        assert not sys._is_gil_enabled(), "something has turned the GIL on"
    called = Path(__file__).read_text("utf-8")
    functions = {n for n in dir(bp) if callable(getattr(bp, n)) and not isinstance(getattr(bp, n), type)}
    missing = {name for name in functions if f"bp.{name}(" not in called}
    assert not missing, f"public functions that are not called here: {sorted(missing)}"
    print("every public function works on", sys.version.split()[0], "with NumPy", np.__version__)


if __name__ == "__main__":
    main()
