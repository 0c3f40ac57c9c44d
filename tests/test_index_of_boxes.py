"""An index of boxes that are given when it is made is the index that is filled with them afterwards."""

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


@pytest.mark.parametrize("sort", [True, False], ids=["sorted", "unsorted"])
@pytest.mark.parametrize(("name", "dim", "dtype"), KINDS)
def test_the_class_and_make_index_take_boxes_first(name, dim, dtype, sort):
    for count in (0, 1, 2, 16, 17, 300):
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
        ([0, 0, 1, 1], r"got shape \(4,\).*options of an index, such as cell_size=, are given by name"),
        (2.5, r"got shape \(\)"),
    ):
        with pytest.raises(ValueError, match=message):
            class_of(name)(boxes, **needed(name, 2))
