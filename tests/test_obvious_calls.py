"""Calls that users try first: they work, or the error says which call is meant."""

import re
import warnings
from types import SimpleNamespace

import numpy as np
import pytest

import broadphase as bp

BOXES = np.array([[0.0, 0, 2, 2], [1, 1, 3, 3], [9, 9, 10, 10]])
POINTS = np.array([[0.5, 0.5], [9.5, 9.5]])
RECT = SimpleNamespace(left=4, top=4, bottom=7, width=3, height=3)

WRONG = [
    # names
    ("bp.make_index('BoxTree')", ValueError, "the nearest is box_tree"),
    ("bp.World('grid')", ValueError, "the nearest is uniform_grid"),
    ("bp.pairs(BOXES, method='Strip')", ValueError, "the nearest is strips"),
    ("bp.join(BOXES, BOXES, predicate='inside')", ValueError, "unknown predicate 'inside'"),
    ("world.move(body, 1, 1, response='slid')", ValueError, "the nearest is slide"),
    # keywords
    ("bp.pairs(BOXES, sorted=True)", TypeError, "'sort'"),
    ("bp.pairs(BOXES, mask=[1, 1, 1])", TypeError, "masks="),
    ("bp.count_pairs(BOXES, touch=False)", TypeError, "'touching'"),
    ("bp.join(BOXES, BOXES, thread=1)", TypeError, "'threads'"),
    ("bp.swept_pairs(BOXES, velocity=POINTS)", TypeError, "motion="),
    ("bp.neighbors(POINTS, radius=1)", TypeError, "r="),
    ("bp.nearest(POINTS, 1, others=POINTS)", TypeError, "'other'"),
    ("bp.make_index(touch=False)", TypeError, "'touching'"),
    ("bp.World(gravity=(0, 10))", TypeError, "velocities"),
    ("bp.World(bounds=(0, 0, 1, 1))", TypeError, "period="),
    ("bp.TileMap(['#'], tilesize=32)", TypeError, "'tile_size'"),
    ("world.add(bp.Box(0, 0, 1, 1), tags='wall')", TypeError, "'tag'"),
    ("world.add(bp.Box(0, 0, 1, 1), is_static=True)", TypeError, "'static'"),
    ("world.add(bp.Box(0, 0, 1, 1), layer=2)", TypeError, "category= and mask="),
    ("world.query_box((0, 0, 1, 1), tags='wall')", TypeError, "'tag'"),
    ("world.raycast((0, 0), (1, 0), max_dist=5)", TypeError, "'max_distance'"),
    ("world.on('a', 'b', on_end=print)", TypeError, "'end'"),
    # what has a name, without it
    ("bp.pairs(BOXES, BOXES)", TypeError, r"join\(a, b\)"),
    ("world.add(0, 0, 10, 10)", TypeError, r"Box\(x, y, width, height\)"),
    ("world.query_point(3, 4)", TypeError, r"\(x, y\)"),
    ("world.update(0.1)", TypeError, r"step\(dt\)"),
    ("tiles.tile_at(body.center)", TypeError, r"tile_at\(\*body.center\)"),
    ("tiles.set_one_way(tiles.tile_at(1, 1), 'top')", TypeError, r"\*tile, sides"),
    ("world.bodies('a', 'b')", TypeError, r'\["a", "b"\]'),
    ("world.nearest((0, 0), radius=3)", TypeError, "query_radius"),
    ("bp.World(tiles=tiles)", TypeError, "world.tiles = tiles"),
    ("world.add(bp.Box(0, 0, 1, 1), one_way='top')", TypeError, "body.one_way"),
    ("tiles.find_path((1, 1), (70, 50))", IndexError, "tile_at"),
    ("tiles.flow_field(body)", TypeError, r"tile_at\(\*its.center\)"),
    ("tiles.set(0, 0, '.')", TypeError, "True or False"),
    ("tiles.is_solid(100.0, 40.0)", TypeError, r"tile_at\(x, y\)"),
    ("tiles.data(16.0, 0.0)", TypeError, r"tile_at\(x, y\)"),
    ("bp.TileMap(['#p'], 32, solid='#')", TypeError, "solid but for ' ' and '.'"),
    ("setattr(body, 'one_way', True)", TypeError, "left, right, top, bottom"),
    ("bp.in_range(body, [other], 100)", TypeError, r"\[one\]"),
    ("bp.colliding([body], other)", TypeError, r"\[other\]"),
    ("bp.in_range((0, 0), [(1, 1)], 5)", TypeError, r"\[one\]"),
    ("bp.colliding([body], body.rect)", TypeError, r"\[other\]"),
    ("bp.colliding([body, world.add(bp.Capsule(0, 0, 1, 1, 1))])", TypeError, "ShapeIndex.*update"),
    ("bp.colliding([body], radius='size')", TypeError, "bp.Circle and of bp.Box"),
    ("bp.colliding([body], radius=1, rect='rect')", TypeError, "bp.Circle and of bp.Box"),
    ("bp.nearest(POINTS, POINTS, 2)", TypeError, "other="),
    ("bp.nearest(POINTS, 1, max_distance=3)", TypeError, "r="),
    ("bp.pairs(BOXES, predicate='intersects')", TypeError, r"GeometryIndex\(geometries\).pairs"),
    ("bp.from_xywh([0], [0], [1], [1])", TypeError, "column_stack"),
    ("near.scatter([1.0] * len(near), along=near.offset)", TypeError, "offsets=True"),
    ("bp.nearest(POINTS, 1, num=3)", TypeError, "it takes points, k, other, r"),
    ("bp.neighbors(POINTS, k=3)", TypeError, r"'k'; the k nearest are found by nearest\(points, k\)"),
    ("bp.neighbors(POINTS, 1, boxsize=3)", TypeError, "'boxsize'; the lengths of a periodic .* period="),
    ("bp.count_neighbors(POINTS, 1, boxsize=3)", TypeError, "'boxsize'; the lengths .* are period="),
    ("bp.nearest(POINTS, 1, workers=3)", TypeError, "'workers'; the most threads are threads="),
    ("bp.nearest(2, POINTS)", TypeError, "k must be an int; got an array of shape"),
    ("bp.make_index(method='uniform_grid')", TypeError, r"make_index\(boxes, \"uniform_grid\"\)"),
    ("bp.UniformGrid((0, 0, 9, 9), cellsize=3)", TypeError, "cell_size="),
    ("bp.swept_pairs(POINTS, POINTS)", ValueError, "radii="),
    ("bp.World(cell_size=64)", TypeError, "SpatialHash"),
    ("bp.TileMap(Path('map.txt'), 32)", TypeError, "rows of text"),
    ("world.add(bp.Box(0, 0, 1, 1), velocity=(1, 1))", TypeError, "body.velocity"),
    ("world.query_box(0, 0, 9, 9)", TypeError, "one argument"),
    ("world.raycast((0, 0), end=(9, 9))", TypeError, "origin, direction, max_distance"),
    ("world.nearest((0, 0), n=3)", TypeError, "k="),
    ("world.on('a', 'b', callback=print)", TypeError, "begin="),
    ("bp.World().on(body, other, print)", TypeError, "a tag.*not a body; give its tag, 'a'"),
    ("world.move_many([0, 1], 1, 0)", TypeError, "several ids are an array"),
    ("world.move_many('a', 1, 1)", TypeError, r"world.bodies\('a'\)"),
    ("world.separate('a')", TypeError, r"world.bodies\('a'\)"),
    ("world.move('a', 1, 1)", TypeError, r"world.bodies\('a'\)"),
    ("world.body('a')", TypeError, r"world.bodies\('a'\)"),
    ("world.add((100, 100, 16, 24))", ValueError, r"Box\(x, y, width, height\)"),
    ("world.query_point('1,1')", TypeError, "'1,1'$"),
    # attributes of others
    ("bp.KDTree(POINTS)", AttributeError, "PointIndex"),
    ("bp.STRtree(BOXES)", AttributeError, "BoxTree"),
    ("bp.knn(POINTS, 3)", AttributeError, "nearest"),
    ("bp.spritecollide", AttributeError, "colliding"),
    ("bp.PointIndex(POINTS).query((0, 0))", AttributeError, "nearest"),
    ("bp.PointIndex(POINTS).query_radius((0, 0), 1)", AttributeError, "neighbors"),
    ("world.on_collision", AttributeError, r"on\(tag, tag, function\)"),
    ("tiles.compute_fov", AttributeError, "visible_from"),
    ("bp.ShapeIndex([bp.Circle(0, 0, 1)]).query_point((0, 0))", AttributeError, "query_radius"),
    ("body.hp", AttributeError, "body.data"),
    ("setattr(body, 'hp', 3)", AttributeError, "body.data"),
    ("body.pos", AttributeError, "position"),
    ("tiles.width", AttributeError, "columns"),
    ("body.width", AttributeError, "body.rect"),
    ("body.kill()", AttributeError, r"remove\(\)"),
    ("body.move(1, 1)", AttributeError, "world.move"),
    ("body.rect.colliderect((0, 0, 1, 1))", AttributeError, r"pygame.FRect\(rect\).colliderect"),
    ("setattr(body.rect, 'x', 3)", AttributeError, "body.x"),
    ("setattr(body.velocity, 'x', 3)", AttributeError, "body.velocity = x, y"),
    ("world.save('game')", AttributeError, "snapshot"),
    ("world.find_path((0, 0), (1, 1))", AttributeError, "world.tiles"),
    ("world.contacts", AttributeError, r"on\(ANY, ANY\)"),
    ("setattr(world, 'tile', tiles)", AttributeError, "the nearest is tiles"),
    ("setattr(world, 'postions', POINTS)", AttributeError, "the nearest is positions"),
    ("setattr(world, 'gravity', (0, 9))", AttributeError, "add to velocities"),
    ("setattr(world, 'zzz', 1)", AttributeError, "subclass of World"),
    # one and many
    ("index.insert(BOXES)", ValueError, "insert_many"),
    ("index.insert_many(BOXES[0])", ValueError, "take one box"),
    ("index.remove([0, 1])", TypeError, "remove_many"),
    ("index.remove_many(0)", ValueError, "take one"),
    ("index.move([0, 1], BOXES[:2])", ValueError, "move_many"),
    ("bp.PointIndex(POINTS).insert(POINTS)", ValueError, "insert_many"),
    ("bp.PointIndex(POINTS).remove([0, 1])", TypeError, "remove_many"),
    ("bp.nearest(POINTS[0], 1)", ValueError, "other="),
    ("world.add(BOXES)", TypeError, "add_many"),
    ("world.add([bp.Box(0, 0, 1, 1)])", TypeError, "add_many"),
    ("world.remove(world.bodies())", TypeError, "_many"),
    ("world.remove_many(body)", TypeError, "take one"),
    ("world.remove(0)", TypeError, r"world.body\(id\)"),
    ("world.move([body, other], 1, 1)", TypeError, "_many"),
    ("world.walk(world.bodies(), 1, 1)", TypeError, "_many"),
    # one kind of thing for another
    ("bp.pairs('boxes.csv')", TypeError, "read_boxes"),
    ("bp.pairs(Path('boxes.csv'))", TypeError, "read_boxes"),
    ("bp.pairs(POINTS)", ValueError, "neighbors"),
    ("bp.pairs([bp.Circle(0, 0, 1)])", TypeError, "bounds"),
    ("index.query_box(bp.Circle(0, 0, 1))", TypeError, "bounds"),
    ("index.nearest(body)", TypeError, "center"),
    ("world.nearest(Sprite())", TypeError, "rect.center"),
    ("world.nearest([body, other])", TypeError, "center"),
    ("world.raycast(body, other)", TypeError, "center"),
    ("bp.overlap(body, 'b')", TypeError, "b must be a Box, Circle or Polygon, a body or a rectangle"),
    ("bp.ShapeIndex([body]).move(0, (1, 1))", AttributeError, "move_many"),
    ("bp.ShapeIndex([body]).insert(body)", AttributeError, "new index, or in a World"),
    ("bp.ShapeIndex([3])", TypeError, r"shapes\[0\] must be a Box"),
    ("bp.ShapeIndex(body)", TypeError, r"\[shape\]"),
    ("bp.Box(0, 0, 10)", TypeError, "x, y, width, height"),
    ("bp.TileMap('##', 32)", TypeError, "splitlines"),
    ("setattr(world, 'tiles', ['##'])", TypeError, "TileMap"),
    ("bp.from_xywh([RECT])", TypeError, "which is a box as it is"),
    ("bp.from_xywh([[0, 0, -2, 2]])", ValueError, r"rows\[0\] = .*negative"),
    ("bp.from_xywh([[0, 0, float('nan'), 2]])", ValueError, r"rows\[0\] = .*nan"),
    ("bp.from_xywh([[-np.inf, 0, np.inf, 2]])", ValueError, r"rows\[0\] = .*must be a number"),
    ("world.raycast(POINTS, 5)", ValueError, r"direction must be \(x, y\)"),
    ("world.raycast(POINTS, (0, 1), 'far')", TypeError, r"max_distance must hold .*; got dtype <U3$"),
    ("bp.from_xywh(POINTS)", ValueError, r"rows must have shape \(n, 4\)"),
]


class Sprite:
    """What has a rectangle."""

    class rect:  # noqa: N801
        center = (3, 4)


@pytest.fixture
def names():
    from pathlib import Path

    index = bp.make_index()
    index.insert_many(BOXES)
    world = bp.World()
    body, other = world.add(bp.Box(0, 0, 10, 10), tag="a"), world.add(bp.Box(30, 0, 10, 10), tag="b")
    tiles = bp.TileMap(["....", ".##."], 16)
    return {
        **globals(),
        "tiles": tiles,
        "near": bp.neighbors(POINTS, 20),
        "index": index,
        "world": world,
        "body": body,
        "other": other,
        "Path": Path,
    }


@pytest.mark.parametrize(("call", "kind", "said"), WRONG, ids=[call for call, _, _ in WRONG])
def test_errors_name_the_right_call(names, call, kind, said):
    with pytest.raises(kind, match=said):
        eval(call, names)


def test_python_proposes_names_of_the_package():
    with pytest.raises(AttributeError) as raised:
        bp.neighbours  # noqa: B018
    assert raised.value.name == "neighbours"
    assert raised.value.obj is bp
    assert set(dir(bp)) == set(bp.__all__)


@pytest.mark.parametrize("name", ["world", "body", "tiles"])
def test_hints_are_no_attributes(names, name):
    with pytest.raises(AttributeError) as raised:
        names[name].boundz  # noqa: B018
    assert raised.value.name == "boundz"
    assert not {"hp", "save", "width", "query"} & set(dir(names[name]))
    assert not hasattr(names[name], "width")


@pytest.mark.parametrize("kind", [bp.World, bp.Body])
def test_help_says_what_hints_are(kind):
    from pydoc import plain, render_doc

    said = {
        bp.World: ("save", "pickle.dumps(world.snapshot()) are its bytes"),
        bp.Body: ("pos", "it is position here"),
    }
    name, hint = said[kind]
    assert re.search(rf"{name}\n[ |]*No attribute: {re.escape(hint)}", plain(render_doc(kind)))


def test_subclasses_may_have_the_names_of_hints():
    class Level(bp.TileMap):
        def __init__(self):
            super().__init__(["#"], 8)
            self.width = 8

        def get(self):
            return self.width

    class Game(bp.World):
        gravity = 9

    game = Game()
    game.score = game.gravity
    assert game.score == 9
    level = Level()
    assert level.get() == 8
    assert {"get", "width"} <= set(dir(level))
    assert "height" not in dir(level)


class TestBoxes:
    def test_shapes_that_are_boxes_are_taken_as_boxes(self):
        shapes = [bp.Box(x, y, right - x, bottom - y) for x, y, right, bottom in BOXES.tolist()]
        index = bp.BoxTree()
        assert index.insert_many(shapes).tolist() == [0, 1, 2]
        assert index.insert(shapes[0]) == 3
        assert index.query_box(bp.Box(8, 8, 5, 5)).tolist() == [2]
        assert bp.pairs(shapes).tolist() == bp.pairs(BOXES).tolist() == [[0, 1]]
        assert bp.join(shapes, BOXES).tolist() == bp.join(BOXES, BOXES).tolist()

    @pytest.mark.parametrize("dtype", [np.float32, np.float64])
    @pytest.mark.parametrize("dim", [2, 3])
    def test_from_xywh(self, dim, dtype):
        low = np.random.default_rng(3).uniform(-9, 9, (40, dim)).astype(dtype)
        size = np.random.default_rng(4).random((40, dim)).astype(dtype)
        rows = np.hstack((low, size))
        before = rows.copy()
        boxes = bp.from_xywh(rows)
        assert boxes.dtype == dtype
        assert np.array_equal(boxes, np.hstack((low, low + size)))
        assert np.array_equal(rows, before)
        assert np.array_equal(bp.from_xywh(rows[3]), boxes[3])
        assert bp.from_xywh([]).shape == (0, 4)
        assert bp.from_xywh(np.empty((0, 6))).shape == (0, 6)


def test_bodies_and_rectangles_are_taken_where_two_shapes_are_compared(names):
    circle = names["world"].add(bp.Circle(0, 0, 5))
    assert bp.overlap(names["body"], circle)
    assert not bp.overlap(circle, RECT)
    assert not bp.overlap(circle, bp.Box(4, 4, 3, 3))
    contact = bp.contact(RECT, names["body"])
    assert contact == bp.contact(bp.Box(4, 4, 3, 3), names["body"].shape)
    index = bp.ShapeIndex([circle, RECT, names["body"]])
    assert index.pairs().tolist() == [[0, 2], [1, 2]]


def test_a_flow_field_takes_one_point_or_many(names):
    field, point = names["tiles"].flow_field((0, 0)), names["body"].center
    assert field.ways_at(point).tolist() == field.ways_at([point])[0].tolist()
    assert field.distances_at((40, 8)) == field.distances_at([(40, 8)]).item() == 32.0


class TestFiles:
    @pytest.mark.parametrize("name", bp.INDEXES)
    def test_load_reads_any_index(self, name, tmp_path):
        options = {"bounds": [0, 0, 10, 10], "cell_size": 1} if name == "uniform_grid" else {}
        index = bp.make_index(name, **options)
        index.insert_many(BOXES)
        index.save(tmp_path / "boxes.npz")
        loaded = bp.load(tmp_path / "boxes.npz")
        assert type(loaded) is type(index)
        assert loaded.pairs().tolist() == index.pairs().tolist()

    @pytest.mark.parametrize(
        ("name", "said"),
        [
            ("boxes.csv", "files.read_boxes reads .csv"),
            ("game.bprec", "Recording reads .bprec"),
            ("level.tmx", "TileMap.from_tiled reads .tmx"),
            ("boxes.npy", "files.read_boxes reads .npy"),
            ("boxes.txt2", "it is no .npz file"),
        ],
    )
    def test_load_says_what_reads_other_files(self, name, said, tmp_path):
        (tmp_path / name).write_text("x", encoding="utf-8")
        with pytest.raises(ValueError, match=said):
            bp.load(tmp_path / name)

    def test_load_of_arrays(self, tmp_path):
        np.savez(tmp_path / "a.npz", a=BOXES)
        with pytest.raises(ValueError, match=re.escape("numpy.load")):
            bp.load(tmp_path / "a.npz")


class TestBodiesAsPoints:
    """A body stands for its centre, and is not found itself."""

    @pytest.mark.parametrize("period", [None, (100, 100)])
    def test_queries(self, period):
        world = bp.World(period=period)
        body, other = world.add(bp.Box(0, 0, 10, 10)), world.add(bp.Circle(33, 5, 3))
        assert world.nearest(body).bodies == [other]
        assert world.nearest(body).distances.tolist() == world.nearest((5, 5), ignore=body).distances.tolist()
        assert world.query_radius(body, 30) == [other]
        assert world.query_radius(body, 20) == []
        assert world.query_point(body) == []
        assert world.raycast(body, (1, 0), 60) == world.raycast((5, 5), (1, 0), 60, ignore=body)
        assert world.query_ray(body, (1, 0), 60) == world.query_ray((5, 5), (1, 0), 60, ignore=body)
        assert world.nearest(body, ignore=other).bodies == []

    def test_of_another_world(self):
        body = bp.World().add(bp.Box(0, 0, 1, 1))
        with pytest.raises(ValueError, match="another world"):
            bp.World().nearest(body)


def test_step_of_milliseconds_warns():
    world = bp.World(check=True)
    world.add(bp.Box(0, 0, 1, 1)).velocity = 1, 0
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        world.step(1.0)
    with pytest.warns(bp.WorldWarning, match="dt / 1000"):
        world.step(16)
    unchecked = bp.World()
    unchecked.step(16)


def test_long_results_print_in_a_line_or_two():
    world = bp.World()
    bodies = world.add_many([[x, 0, x + 1, 1] for x in range(0, 600, 2)])
    bodies.velocities = np.ones((300, 2))
    index = bp.make_index()
    index.insert_many(bodies.positions.repeat(2, axis=1)[:, [0, 2, 1, 3]])
    rays = np.ones((300, 2))
    results = [
        world.step(0.1),
        world.move_many(bodies, 0.1, 0.1),
        world.walk_many(bodies, 0.1, 0.1),
        world.raycast(rays, rays),
        world.nearest(rays, 3),
        index.raycast(rays, rays),
        index.nearest(rays, 3),
        bp.nearest(rays, 3),
        bp.swept_pairs(index.boxes, rays),
    ]
    for result in results:
        printed = repr(result)
        assert printed.startswith(type(result).__name__)
        assert len(printed) < 400
        assert "\n" not in printed


def test_the_tree_has_the_name_of_its_method_and_of_its_index_everywhere():
    for name in ("tree", "box_tree"):
        assert bp.pairs(BOXES, method=name).tolist() == [[0, 1]]
        assert bp.count_pairs(BOXES, method=name, env=[0, 0, 0]) == 1
        assert type(bp.make_index(name)) is type(bp.make_index(BOXES, name)) is bp.BoxTree
        assert len(bp.World(broadphase=name).bodies()) == 0


@pytest.mark.parametrize("bounds", [(0, 0, 9, 9), [0.0, 0, 0, 9, 9, 9], np.array([0, 0, 9, 9])])
def test_the_bounds_of_a_grid_may_stand_first(bounds):
    dim = len(bounds) // 2
    grid, same = bp.UniformGrid(bounds, 3, dim=dim), bp.UniformGrid(bounds=bounds, cell_size=3, dim=dim)
    assert repr(grid) == repr(same)
    assert "cell_size=3" in repr(grid)
    assert bp.UniformGrid(BOXES, (0, 0, 9, 9), 3).pairs().tolist() == [[0, 1]]
