"""One argument's conversion may run code that shrinks the array that is another argument."""

import numpy as np
import pytest

import broadphase as bp

N = 3000


def grown():
    low = np.random.default_rng(0).random((N, 2))
    return np.hstack([low, low + 0.01])


class Shrinking:
    """Values whose conversion leaves one row of an array that it does not own."""

    def __init__(self, array, values):
        self.array, self.values = array, values

    def __array__(self, dtype=None, copy=None):
        self.array.resize((1, self.array.shape[1]), refcheck=False)
        return self.values

    def __len__(self):
        return len(self.values)


WORLDS = np.zeros(N, np.int64)
ONES = np.ones(N, np.int64)
BOXES = {
    "pairs, env": lambda boxes, shrinking: bp.pairs(boxes, env=shrinking(WORLDS)),
    "pairs, static": lambda boxes, shrinking: bp.pairs(boxes, static=shrinking(WORLDS > 0)),
    "pairs, categories": lambda boxes, shrinking: bp.pairs(boxes, categories=shrinking(ONES)),
    "count_pairs, masks": lambda boxes, shrinking: bp.count_pairs(boxes, masks=shrinking(ONES)),
    "join, b": lambda boxes, shrinking: bp.join(boxes, shrinking(grown()), env=(WORLDS, WORLDS)),
    "join, env": lambda boxes, shrinking: bp.join(boxes, grown(), env=(shrinking(WORLDS), WORLDS)),
    "raycast, directions": lambda boxes, shrinking: bp.raycast(
        boxes, np.zeros((N, 2)), shrinking(np.ones((N, 2))), env=(WORLDS, WORLDS)
    ),
    "swept_pairs, env": lambda boxes, shrinking: bp.swept_pairs(
        boxes, np.zeros((N, 2)), env=shrinking(WORLDS)
    ),
    "swept_pairs, motion": lambda boxes, shrinking: bp.swept_pairs(
        boxes, shrinking(np.zeros((N, 2))), env=WORLDS
    ),
}


def shrunk(call, given):
    """What a call returns, or the error that it raises, while one argument shrinks another one."""
    try:
        result = repr(call(given, lambda values: Shrinking(given, values)))
    except ValueError as error:
        result = str(error)
    assert len(given) == 1
    return result


@pytest.mark.parametrize("call", BOXES.values(), ids=BOXES)
def test_boxes_count_as_they_were_before_they_shrank(call):
    assert shrunk(call, grown()) == repr(call(grown(), lambda values: values))


POINTS = {
    "neighbors, env": lambda points, shrinking: bp.neighbors(points, 0.1, env=shrinking(WORLDS)),
    "neighbors, r": lambda points, shrinking: bp.neighbors(points, shrinking(np.full(N, 0.01))),
    "nearest, env": lambda points, shrinking: bp.nearest(points, 2, env=shrinking(WORLDS)),
}


@pytest.mark.parametrize("call", POINTS.values(), ids=POINTS)
def test_points_count_as_they_were_or_as_they_are(call):
    points = grown()[:, :2].copy()
    result = shrunk(call, points.copy())
    if "must be a number, or one for each of the 1 points" not in result:  # radii are read first
        assert result == repr(call(points, lambda values: values))


INDEX_CALLS = {
    "insert_many, env": lambda i, boxes, shrinking: i.insert_many(boxes, env=shrinking(WORLDS)),
    "insert_many, static": lambda i, boxes, shrinking: i.insert_many(boxes, static=shrinking(WORLDS > 0)),
    "insert_many, category": lambda i, boxes, shrinking: i.insert_many(boxes, category=shrinking(ONES)),
    "insert_many, mask": lambda i, boxes, shrinking: i.insert_many(boxes, mask=shrinking(ONES)),
    "move_many, ids": lambda i, boxes, shrinking: i.move_many(shrinking(np.arange(N)), boxes),
    "query_box, env": lambda i, boxes, shrinking: i.query_box(boxes, env=shrinking(WORLDS)),
    "query_point, env": lambda i, points, shrinking: i.query_point(points, env=shrinking(WORLDS)),
    "query_radius, r": lambda i, points, shrinking: i.query_radius(points, shrinking(np.full(N, 0.1))),
    "raycast, direction": lambda i, points, shrinking: i.raycast(points, shrinking(np.ones((N, 2))), 5.0),
    "raycast, max_distance": lambda i, points, shrinking: i.raycast(points, [1, 0], shrinking(np.ones(N))),
    "raycast, ignore": lambda i, points, shrinking: i.raycast(points, [1, 0], 5.0, ignore=shrinking(ONES)),
    "query_ray, env": lambda i, points, shrinking: i.query_ray(points, [1, 0], 5.0, env=shrinking(WORLDS)),
    "nearest, env": lambda i, points, shrinking: i.nearest(points, 2, env=shrinking(WORLDS)),
}


@pytest.mark.covering
@pytest.mark.parametrize("name", ["auto", "box_tree", "uniform_grid", "strips"])
@pytest.mark.parametrize("period", [None, 4.0])
@pytest.mark.parametrize("called", INDEX_CALLS)
def test_arguments_of_an_index_count_as_they_were_or_as_they_are(name, period, called):
    index = bp.make_index(name, period=period)
    index.insert_many(grown())
    given = grown() if "box" in called or "many" in called else grown()[:, :2].copy()
    call = INDEX_CALLS[called]
    again = index.copy()
    result = shrunk(lambda *how: call(index, *how), given.copy())
    if "ids and boxes must have one length; got 3000 ids and 1 boxes" not in result:  # ids are read first
        assert result == repr(call(again, given, lambda values: values))
    assert np.array_equal(index.boxes, again.boxes)
    index.validate()


class Meddling:
    """A number whose conversion shrinks an array or changes an index."""

    def __init__(self, number, meddle):
        self.number, self.meddle = number, meddle

    def __index__(self):
        self.meddle()
        return self.number


def test_a_limit_is_read_before_the_boxes():
    index = bp.BoxTree()
    index.insert_many(grown())
    goals = grown()
    limit = Meddling(10, lambda: goals.resize((1, 4), refcheck=False))
    with pytest.raises(ValueError, match="boxes has 1 rows"):
        index.swept_pairs(goals, max_pairs=limit)


def test_a_box_removed_while_its_new_place_is_read_stays_removed():
    for name in bp.INDEXES:
        index = bp.make_index(name)
        index.insert_many(grown())

        class Place(Shrinking):
            def __array__(self, dtype=None, copy=None, index=index):
                index.clear()
                return self.values

        with pytest.raises(KeyError, match="7"):
            index.move(7, Place(None, np.zeros(4)))
        index.insert_many(grown())
        with pytest.raises(KeyError, match="no box has the id"):
            index.move_many([7, 8], Place(None, np.zeros((2, 4))))
        index.validate()
        assert len(index) == 0


CONTACTS = {
    "contact_boxes, b": lambda a, shrinking: bp.contact_boxes(a, shrinking(grown())),
    "contact_boxes, pairs": lambda a, shrinking: bp.contact_boxes(
        a, a, shrinking(np.full((N, 2), N - 1, np.int32))
    ),
    "contact_circles, b": lambda a, shrinking: bp.contact_circles(a, shrinking(np.ones((N, 3)))),
    "contact_circles, pairs": lambda a, shrinking: bp.contact_circles(
        a, np.ones((N, 3)), shrinking(np.full((N, 2), N - 1, np.int32))
    ),
}


@pytest.mark.parametrize("called", CONTACTS)
def test_shapes_count_as_they_were_before_they_shrank(called):
    shapes, call = grown() if "boxes" in called else np.ones((N, 3)), CONTACTS[called]
    assert shrunk(call, shapes.copy()) == repr(call(shapes, lambda values: values))


def test_boxes_beyond_memory_are_read_after_the_rules():
    outofcore = pytest.importorskip("broadphase.outofcore")
    boxes = grown()
    with pytest.raises(ValueError, match="must hold one entry"):
        outofcore.count_pairs(boxes, static=Shrinking(boxes, WORLDS > 0))


def test_numbers_without_axes_are_numbers():
    class Tensor:
        def __array__(self, dtype=None, copy=None):
            return np.array(10.0)

    boxes = [[0.0, 0, 1, 1], [9.5, 0, 10, 1]]
    for period in (Tensor(), (Tensor(), None), np.array(10.0), [np.array(10), np.float32(10)]):
        assert bp.pairs(boxes, period=period).tolist() == [[0, 1]]
    near = bp.neighbors([[0.0, 0.0], [9.5, 0.0]], np.array(0.5), period=(Tensor(), None))
    assert near.distance.tolist() == [0.5]
