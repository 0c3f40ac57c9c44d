"""An index of boxes that are given when it is made is the index that is filled with them afterwards."""

import copy
import gc
import pickle
import weakref
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from index_scenes import NAMES, NEEDED, make, random_boxes

import broadphase as bp
from broadphase import indexes

KINDS = [(name, dim, dtype) for name in NAMES for dim in (2, 3) for dtype in (np.float64, np.float32)]


def class_of(name):
    return getattr(bp, indexes.CLASSES[name])


def needed(name, dim):
    return NEEDED.get(name, lambda _: {})(dim)


@pytest.mark.covering(together=2)
@pytest.mark.parametrize("sort", [True, False], ids=["sorted", "unsorted"])
@pytest.mark.parametrize(("name", "dim", "dtype"), KINDS)
def test_the_class_and_make_index_take_boxes_first(name, dim, dtype, sort):
    for count in (0, 1, 2, 17, 300):
        boxes = random_boxes(count, count, dim).astype(dtype)
        filled = make(name, dim, dtype=dtype, sort=sort, touching=False)
        filled.insert_many(boxes)
        options = needed(name, dim) | {"sort": sort, "touching": False}
        for index in (class_of(name)(boxes, **options), bp.make_index(boxes, name, **options)):
            assert type(index) is type(filled)
            assert repr(index) == repr(filled)
            assert index.ids.tolist() == list(range(count))
            assert index.boxes.dtype == dtype
            assert np.array_equal(index.boxes, boxes)
            assert sorted(index.pairs().tolist()) == sorted(filled.pairs().tolist())
            assert sorted(index.query_box([-2.0] * dim + [2.0] * dim)) == sorted(
                filled.query_box([-2.0] * dim + [2.0] * dim)
            )
            assert index.nearest([0.5] * dim, 3).ids.tolist() == filled.nearest([0.5] * dim, 3).ids.tolist()
            assert index.changes().began.tolist() == filled.copy().changes().began.tolist()
            index.validate()
            assert index.insert(boxes[0] if count else [0.0] * 2 * dim) == count


def test_the_boxes_are_the_callers_own_afterwards():
    boxes = np.array([[0.0, 0, 2, 2], [1, 1, 3, 3]])
    index = bp.make_index(boxes)
    boxes[:] = 99.0
    assert index.pairs().tolist() == [[0, 1]]
    assert index.query_point([0, 0]).tolist() == [0]


def test_dim_and_dtype_are_those_of_the_boxes_unless_they_are_given():
    flat, deep = [[0, 0, 1, 1]], [[0, 0, 0, 1, 1, 1]]
    assert (bp.BoxTree(flat).dim, bp.BoxTree(deep).dim, bp.BoxTree().dim, bp.BoxTree([]).dim) == (2, 3, 2, 2)
    assert bp.BoxTree([], dim=3).dim == bp.BoxTree(np.empty((0, 6))).dim == 3
    assert bp.BoxTree(flat).dtype == bp.BoxTree().dtype == bp.BoxTree([]).dtype == np.float64
    small = np.array(flat, np.float32)
    assert bp.BoxTree(small).dtype == np.float32
    assert bp.BoxTree(small, dtype=np.float64).dtype == np.float64
    assert bp.BoxTree([[0, 0, 0.1, 1]], dtype="float32").boxes.tolist() == [[0, 0, np.float32(0.1), 1]]
    with pytest.raises(ValueError, match=r"shape \(6,\) or \(n, 6\) in this 3-D index; got shape \(1, 4\)"):
        bp.BoxTree(flat, dim=3)


def test_boxes_of_worlds_of_a_period_and_of_shapes():
    worlds = np.array([[[0.0, 0, 2, 2], [1, 1, 3, 3]], [[0, 0, 2, 2], [5, 5, 6, 6]]])
    index = bp.make_index(worlds)
    assert index.envs.tolist() == [0, 0, 1, 1]
    assert index.pairs().tolist() == [[0, 1]]
    around = bp.BoxTree([[9, 9, 11, 11], [0, 0, 1, 1]], period=(10, 10))
    assert around.pairs().tolist() == [[0, 1]]
    table = np.zeros(2, [(name, np.float32) for name in ("min_x", "min_y", "max_x", "max_y")])
    assert bp.Strips(table).pairs().tolist() == [[0, 1]]
    assert bp.Strips(table).dtype == np.float32
    assert bp.SortAndSweep(np.zeros((2, 6)), axis=2).pairs().tolist() == [[0, 1]]
    with pytest.raises(ValueError, match="axis"):
        bp.SortAndSweep(np.zeros((2, 4)), axis=2)


def test_a_name_stays_in_the_first_place():
    assert type(bp.make_index("strips")) is type(bp.make_index(name="strips")) is bp.Strips
    assert type(bp.make_index()) is type(bp.make_index([])) is bp.AdaptiveIndex
    with pytest.raises(TypeError, match="the boxes come first, then the name"):
        bp.make_index("strips", [[0, 0, 1, 1]])
    with pytest.raises(ValueError, match="unknown index 'octopus'"):
        bp.make_index([[0, 0, 1, 1]], "octopus")


@pytest.mark.parametrize("name", NAMES)
def test_what_is_no_sound_box_is_named(name):
    for boxes, message in (
        ([[0, 0, 1, 1], [0, np.nan, 1, 1]], r"boxes\[1\] has min_y = nan"),
        ([[2, 0, 1, 1]], r"boxes\[0\] has min_x = 2 > max_x = 1"),
        ([[0, 0, 1]], r"boxes must have shape \(n, 4\) in 2-D or \(n, 6\) in 3-D.*got shape \(1, 3\)"),
        (2.5, r"got shape \(\).*options of an index, such as cell_size=, are given by name"),
    ):
        with pytest.raises(ValueError, match=message):
            class_of(name)(boxes, **needed(name, 2))


# ---- an index of boxes is nothing but its rows until it is asked for more: no call can tell


CALLS = {
    "query_box": lambda index, dim: index.query_box((-2.0,) * dim + (2.0,) * dim),
    "query_box of a list": lambda index, dim: index.query_box([-2] * dim + [2] * dim),
    "query_box of a row": lambda index, dim: index.query_box(np.array([-2.0] * dim + [2.0] * dim)),
    "query_box without an end": lambda index, dim: index.query_box((-np.inf,) * dim + (np.inf,) * dim),
    "query_box of many": lambda index, dim: index.query_box([[-2] * dim + [2] * dim, [0] * 2 * dim]),
    "query_box by rules": lambda index, dim: index.query_box((-2.0,) * dim + (2.0,) * dim, mask=2),
    "query_point": lambda index, dim: index.query_point((0.5,) * dim),
    "query_point on an edge": lambda index, dim: index.query_point((0.0,) * dim),
    "query_radius": lambda index, dim: index.query_radius((0.5,) * dim, 3.0),
    "raycast": lambda index, dim: index.raycast((-20.0,) + (0.1,) * (dim - 1), (1.0,) + (0.0,) * (dim - 1)),
    "query_ray": lambda index, dim: index.query_ray((-20.0,) * dim, (1.0,) * dim),
    "nearest": lambda index, dim: index.nearest((0.3,) * dim),
    "nearest of several": lambda index, dim: index.nearest([0.3] * dim, 7),
    "nearest of more than there are": lambda index, dim: index.nearest((1e6,) * dim, 500),
    "nearest of many": lambda index, dim: index.nearest([[0.3] * dim, [5.0] * dim], 2),
    "nearest by rules": lambda index, dim: index.nearest((0.3,) * dim, category=4),
    "pairs": lambda index, dim: index.pairs(),
    "changes": lambda index, dim: index.changes().began,
    "join": lambda index, dim: index.join(index),
    "swept_pairs": lambda index, dim: index.swept_pairs(index.boxes + 1.0).pairs,
    "insert": lambda index, dim: index.insert([0.0] * 2 * dim),
    "insert_many": lambda index, dim: index.insert_many(np.zeros((3, 2 * dim)), static=True),
    "insert into an environment": lambda index, dim: index.insert([0.0] * 2 * dim, env=3),
    "move": lambda index, dim: index.move(0, [0.0] * 2 * dim),
    "move_many": lambda index, dim: index.move_many([0], [[0.0] * 2 * dim]),
    "update": lambda index, dim: index.update(np.zeros((len(index), 2 * dim))),
    "remove": lambda index, dim: index.remove(0),
    "remove_many": lambda index, dim: index.remove_many([0]),
    "clear": lambda index, dim: index.clear(),
    "reserve": lambda index, dim: index.reserve(1_000),
    "len": lambda index, dim: len(index),
    "in": lambda index, dim: (0 in index, 5_000 in index, "x" in index),
    "ids": lambda index, dim: index.ids,
    "boxes": lambda index, dim: index.boxes,
    "box": lambda index, dim: index.box(0),
    "envs": lambda index, dim: index.envs,
    "dim, dtype": lambda index, dim: (index.dim, index.dtype.name, index.touching, index.sort, index.period),
    "repr": lambda index, dim: repr(index),
    "a query that is none": lambda index, dim: index.query_box((2.0,) * dim + (1.0,) * dim),
    "a query of nan": lambda index, dim: index.query_point((np.nan,) * dim),
    "a huge query": lambda index, dim: index.query_box((0,) * dim + (10**400,) * dim),
    "a query of text": lambda index, dim: index.query_box("nothing"),
    "a query of another dimension": lambda index, dim: index.nearest((1.0,) * (dim + 1)),
    "no neighbours": lambda index, dim: index.nearest((1.0,) * dim, 0),
}


def outcome(call):
    try:
        found = call()
    except Exception as error:
        return type(error), str(error)
    parts = found if isinstance(found, tuple) else (found,)
    return [(type(part), np.asarray(part).tolist()) for part in parts]


def same_state(index, filled):
    assert index.stats.pairs == filled.stats.pairs
    assert index.stats.call == filled.stats.call
    assert repr(index) == repr(filled)
    assert index.ids.tolist() == filled.ids.tolist()
    assert np.array_equal(index.boxes, filled.boxes)
    assert np.array_equal(index.envs, filled.envs)
    index.validate()
    assert sorted(index.pairs().tolist()) == sorted(filled.pairs().tolist())
    assert index.changes().began.tolist() == filled.changes().began.tolist()


@pytest.mark.parametrize(("dim", "dtype", "count"), [(2, "f8", 0), (2, "f8", 40), (3, "f4", 17)])
@pytest.mark.parametrize("name", NAMES)
def test_whatever_comes_first_is_as_of_an_index_that_was_filled(name, dim, dtype, count):
    boxes, touching = random_boxes(count + 5, count, dim).astype(dtype), count % 2 == 0
    for call in CALLS.values():
        filled = make(name, dim, dtype=dtype, touching=touching)
        filled.insert_many(boxes)
        index = class_of(name)(boxes, touching=touching, **needed(name, dim))
        assert outcome(lambda call=call, index=index: call(index, dim)) == outcome(
            lambda call=call, filled=filled: call(filled, dim)
        )
        same_state(index, filled)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("point", [(np.nan, 0), (0, np.nan), (np.inf, 0)])
def test_the_first_query_checks_its_point_as_all_later_ones_do(name, point):
    for query in (lambda index: index.query_radius(point, 1), lambda index: index.nearest(point)):
        with pytest.raises(ValueError, match="must be finite"):
            query(bp.make_index([[0, 0, 1, 1]], name))


@pytest.mark.parametrize("name", NAMES)
def test_answers_stay_the_same_while_it_is_asked_more_and_more(name):
    boxes = random_boxes(3, 400, 2)
    filled = make(name)
    filled.insert_many(boxes)
    index, once = class_of(name)(boxes), class_of(name)(boxes)
    for query in random_boxes(4, 300, 2).tolist():
        assert index.query_box(tuple(query)).tolist() == filled.query_box(query).tolist()
        nearest = [which.nearest(query[:2], 3) for which in (index, filled)]
        assert [found.ids.tolist() for found in nearest] == [nearest[1].ids.tolist()] * 2
    assert once.nearest((0.5, 0.5)).ids.tolist() == filled.nearest((0.5, 0.5)).ids.tolist()
    assert once.stats.tests == 400
    assert index.stats.tests < 400, "it has a tree by now"
    assert index.query_point((0.0, 0.0)).tolist() == filled.query_point((0.0, 0.0)).tolist()


@pytest.mark.parametrize("way", ["copy", "deepcopy", "pickle", "save"])
@pytest.mark.parametrize("name", NAMES)
def test_it_can_be_copied_and_saved_before_anything_else(name, way, tmp_path):
    boxes = random_boxes(3, 40, 2)
    index = class_of(name)(boxes, sort=False)
    index.query_point((0.0, 0.0))
    if way == "save":
        index.save(tmp_path / "index")
        other = bp.Index.load(tmp_path / "index")
    else:
        copies = {"copy": bp.Index.copy, "deepcopy": copy.deepcopy}
        other = pickle.loads(pickle.dumps(index)) if way == "pickle" else copies[way](index)
    other.move(0, [0.0, 0.0, 0.0, 0.0])
    assert np.array_equal(index.boxes, boxes)
    assert np.array_equal(other.boxes[1:], boxes[1:])
    assert not other.sort
    assert index.query_box(tuple(boxes[0])).tolist() == bp.BruteForce(boxes).query_box([*boxes[0]]).tolist()


def test_many_threads_may_be_the_first_to_read():
    boxes = random_boxes(9, 600, 2)
    queries = [tuple(row) for row in random_boxes(10, 200, 2).tolist()]
    wanted = [bp.BruteForce(boxes).query_box([*query]).tolist() for query in queries]
    pairs = bp.pairs(boxes).tolist()
    with ThreadPoolExecutor(4) as pool:
        for _ in range(10):
            index = bp.make_index(boxes)
            found = [pool.submit(index.pairs) for _ in range(2)]
            asked = [pool.submit(index.query_box, query) for query in queries]
            assert [one.result().tolist() for one in asked] == wanted
            assert [one.result().tolist() for one in found] == [pairs, pairs]


def test_what_an_index_does_not_have_is_said():
    with pytest.raises(AttributeError, match="'BoxTree' object has no attribute 'colour'"):
        bp.BoxTree([[0, 0, 1, 1]]).colour  # noqa: B018
    assert not hasattr(bp.BoxTree(), "colour")


def test_an_index_that_nobody_holds_is_freed_at_once():
    index = bp.make_index([[0, 0, 1, 1]])
    there = weakref.ref(index)
    gc.disable()
    try:
        index.query_point((0.5, 0.5))
        del index
        assert there() is None
    finally:
        gc.enable()
