"""Numbers without axes and arrays that speak only DLPack are taken wherever numbers and arrays are."""

import numpy as np
import pytest

import broadphase as bp
from broadphase.balls import BallSimulation

BOXES = np.array([[0.0, 0, 2, 2], [1, 1, 3, 3], [3, 3, 4, 4]])


class DLPackOnly:
    """An array of another library: it has no ``__array__`` and no buffer."""

    def __init__(self, values, dtype=None):
        self.values = np.array(values, dtype)

    def __dlpack__(self, **options):
        return self.values.__dlpack__(**options)

    def __dlpack_device__(self):
        return self.values.__dlpack_device__()


class OfAnotherLibrary:
    """A tensor without axes, as loops over tensors give it."""

    def __init__(self, number):
        self.number = np.array(number)

    def __array__(self, dtype=None, copy=None):
        return self.number

    def __float__(self):
        return float(self.number)

    def __int__(self):
        return int(self.number)


class Followed(DLPackOnly):
    """A tensor that keeps what its gradient needs; like PyTorch's it raises an error of its own."""

    requires_grad = True

    def __array__(self, dtype=None, copy=None):
        raise RuntimeError("Can't call numpy() on Tensor that requires grad.")


KINDS = [np.array, DLPackOnly, OfAnotherLibrary]
ONE_SHOT = {
    "threads": lambda of: bp.pairs(BOXES, threads=of(1)),
    "max_pairs": lambda of: bp.pairs(BOXES, max_pairs=of(5)),
    "period": lambda of: bp.pairs(BOXES, period=(of(9.0), of(9))),
    "env": lambda of: bp.pairs(BOXES, env=of(1)),
    "sets": lambda of: bp.pairs(BOXES, categories=of(1), masks=of(3)),
    "join": lambda of: bp.join(BOXES, BOXES, threads=of(1), max_pairs=of(9)),
    "swept": lambda of: bp.swept_pairs(BOXES, BOXES[:, :2], threads=of(1), max_pairs=of(9)).pairs,
    "neighbors": lambda of: bp.neighbors(BOXES[:, :2], of(2), max_pairs=of(5), threads=of(1)).distance,
    "nearest": lambda of: bp.nearest(BOXES[:, :2], of(2), r=of(9.5)).ids,
    "box": lambda of: bp.Box(of(1), of(2.5), of(3), of(4)).bounds,
    "middle": lambda of: bp.Box.from_center((of(1), of(2)), of(3), of(4)).bounds,
    "circle": lambda of: bp.Circle(of(1), of(2), of(3)).bounds,
    "capsule": lambda of: bp.Capsule(of(1), of(2), of(3), of(4), of(5)).bounds,
    "rounded": lambda of: bp.RoundedBox(of(1), of(2), of(9), of(9), of(1)).bounds,
    "polygon": lambda of: bp.Polygon([(0, 0), (4, 0), (4, 3)], radius=of(1)).bounds,
    "corners": lambda of: bp.Polygon([(of(0), of(0)), (of(4), of(0)), (of(4), of(3))]).bounds,
    "turned": lambda of: bp.Box(0, 0, 2, 1).rotated(of(90), about=(of(1), of(1))).bounds,
    "moved": lambda of: bp.Circle(0, 0, 2).moved_to(of(1), of(1)).bounds,
}


@pytest.mark.parametrize("of", KINDS)
@pytest.mark.parametrize("name", ONE_SHOT)
def test_functions_and_shapes_take_numbers_without_axes(name, of):
    assert np.array_equal(ONE_SHOT[name](of), ONE_SHOT[name](lambda number: number))


@pytest.mark.parametrize("of", KINDS)
@pytest.mark.parametrize("name", bp.INDEXES)
def test_indexes_take_numbers_without_axes(name, of):
    def queries(of):
        options = {"box_tree": {"margin": of(0.5)}, "uniform_grid": {"cell_size": of(2)}}.get(name, {})
        index = bp.make_index(name, threads=of(1), period=of(50), **options)
        index.insert_many(BOXES, category=of(1), mask=of(3), static=of(False), env=of(0))
        index.insert(BOXES[0], category=of(1), mask=of(1))
        index.remove(of(0))
        index.move(of(1), BOXES[2])
        index.reserve(of(9))
        yield index.box(of(1))
        yield index.pairs(max_pairs=of(9))
        yield index.query_box(BOXES[0], category=of(1), mask=of(1), env=of(0))
        yield index.query_radius((of(0), of(0)), of(4.0))
        yield index.raycast((of(0), of(0)), (of(1), of(1)), of(9.0), ignore=of(3)).id
        yield index.nearest((of(0), of(0)), of(2)).ids
        yield index.swept_pairs(index.boxes, max_pairs=of(9)).pairs if index.period is None else 0

    for found, wanted in zip(queries(of), queries(lambda number: number), strict=True):
        assert np.array_equal(found, wanted)


@pytest.mark.parametrize("of", KINDS)
def test_balls_take_numbers_without_axes(of):
    def places(of):
        balls = BallSimulation(
            of(5), radius=of(3), speed=of(10), restitution=of(0.5), masses=of(2), seed=of(3)
        )
        balls.grab(of(0))
        balls.step(of(0.1), of(2))
        return balls.positions

    assert np.array_equal(places(of), places(lambda number: number))


@pytest.mark.parametrize("of", KINDS)
def test_worlds_take_numbers_without_axes(of):
    def queries(of):
        world = bp.World(period=(of(50), of(50.0)), max_pairs=of(99))
        body = world.add(bp.Box(0, 0, 4, 4), category=of(1), mask=of(3))
        world.add(bp.Box(9, 0, 4, 4), static=True)
        yield world.move(body, of(2.5), of(1))[:2]
        yield world.move_many([body], of(1), of(1)).places
        yield world.walk(body, of(1), of(1), snap=of(0.5))[:2]
        yield world.walk_many([body], of(1), of(1)).places
        body.turn_to(of(30))
        body.move_to(of(1), of(2))
        yield body.bounds
        yield [one.id for one in world.query_radius((of(0), of(0)), of(9.0), category=of(1))]
        yield [one.id for one in world.query_box((of(0), of(0), of(9), of(9)))]
        yield world.raycast((of(0), of(1)), (of(1), of(0)), of(40)).distance
        yield world.nearest((of(0), of(0)), of(2)).distances
        yield world.raycast([(0, 1)], [(1, 0)], of(40)).distances

    for found, wanted in zip(queries(of), queries(lambda number: number), strict=True):
        assert np.array_equal(found, wanted)


def test_worlds_and_periods_take_arrays_of_dlpack_alone():
    wanted = bp.pairs(BOXES, period=(3.5, 9.0))
    assert np.array_equal(bp.pairs(BOXES, period=DLPackOnly([3.5, 9.0])), wanted)
    world = bp.World(period=DLPackOnly([50.0, 60.0]))
    world.add_many(DLPackOnly(BOXES))
    assert world.period == (50.0, 60.0)
    assert np.array_equal(world.query_box(DLPackOnly(BOXES)), world.query_box(BOXES))
    assert np.array_equal(world.query_point(DLPackOnly(BOXES[:, :2])), world.query_point(BOXES[:, :2]))
    assert world.query_box(DLPackOnly(BOXES[0])) == world.query_box(BOXES[0].tolist())
    assert world.query_point(DLPackOnly([1.5, 1.5])) == world.query_point((1.5, 1.5))


@pytest.mark.parametrize("of", KINDS)
def test_what_has_axes_or_is_no_number_is_none(of):
    for wrong in (of([1]), of([1.0, 2.0]), np.str_("1"), np.datetime64(3, "ns"), True, np.True_):
        with pytest.raises(TypeError, match="threads must be an int or None"):
            bp.pairs(BOXES, threads=wrong)
        with pytest.raises(TypeError, match="width must be a real number"):
            bp.Box(0, 0, wrong, 1)
    with pytest.raises(TypeError, match="max_pairs must be an int or None"):
        bp.pairs(BOXES, max_pairs=of(5.0))


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int32, np.uint8])
def test_arrays_of_dlpack_alone_are_taken(dtype):
    boxes = DLPackOnly(BOXES, dtype)
    wanted = bp.pairs(BOXES)
    assert np.array_equal(bp.pairs(boxes), wanted)
    assert np.array_equal(bp.pairs([DLPackOnly(row, dtype) for row in BOXES]), wanted)
    assert bp.join(boxes, boxes).tolist() == bp.join(BOXES, BOXES).tolist()
    index = bp.BoxTree(dtype=np.float32)
    index.insert_many(boxes, category=DLPackOnly([1, 1, 1]), static=DLPackOnly([True, False, False]))
    index.move_many(DLPackOnly([0, 1, 2]), boxes)
    assert np.array_equal(index.pairs(), wanted)
    assert index.query_box(DLPackOnly(BOXES[0])).tolist() == [0, 1]
    assert bp.contact_boxes(boxes, boxes, DLPackOnly([[0, 1]])).depths.tolist() == [1.0]
    assert bp.Polygon(DLPackOnly([[0, 0], [4, 0], [4, 3]])).bounds == (0, 0, 4, 3)
    assert bp.neighbors(DLPackOnly(BOXES[:, :2]), DLPackOnly([1.0, 1, 1])).j.tolist() == [1]


def test_half_precision_of_dlpack_is_computed_in_float32():
    points = [[0.0, 0.0], [0.1, 0.1]]
    near = bp.neighbors(DLPackOnly(points, np.float16), 1.0)
    assert near.distance.dtype == np.float32
    assert near.distance == bp.neighbors(np.array(points, np.float16).astype(np.float32), 1.0).distance


def test_tensors_of_pytorch_in_bfloat16_are_computed_in_float32():
    torch = pytest.importorskip("torch")
    points = torch.tensor([[0.0, 0.0], [0.1, 0.1], [3.0, 3.0]])[:, [1, 0]].to(torch.bfloat16)
    near = bp.neighbors(points, torch.tensor(1.0, dtype=torch.bfloat16))
    assert near.distance.dtype == np.float32
    assert near.distance == bp.neighbors(points.float().numpy(), 1.0).distance
    with pytest.raises(TypeError, match=r"points must hold real numbers"):
        bp.neighbors(points.to(torch.float8_e4m3fn), 1.0)


def test_a_tensor_that_requires_grad_is_refused_by_name():
    with pytest.raises(TypeError, match=r"boxes requires grad.*give boxes\.detach\(\)"):
        bp.pairs(Followed(BOXES))
    with pytest.raises(TypeError, match=r"r requires grad.*give r\.detach\(\)"):
        bp.neighbors(BOXES[:, :2], Followed(1.0))
    with pytest.raises(TypeError, match=r"radius requires grad.*give radius\.detach\(\)"):
        bp.Circle(0, 0, Followed(1.0))
    index = bp.BoxTree()
    with pytest.raises(TypeError, match=r"boxes\[0\] requires grad"):
        index.insert_many([Followed(row) for row in BOXES])
    assert len(index) == 0


def test_a_tensor_on_another_device_is_refused_by_name():
    class Elsewhere(DLPackOnly):
        def __dlpack_device__(self):
            return 2, 0

    index = bp.BoxTree()
    with pytest.raises(TypeError, match=r"boxes lies on a graphics card; .*boxes\.cpu\(\)"):
        index.insert_many(Elsewhere(BOXES))
    with pytest.raises(TypeError, match=r"b lies on a graphics card; .*b\.cpu\(\)"):
        bp.join(BOXES, Elsewhere(BOXES))
    with pytest.raises(TypeError, match=r"points lies on a graphics card; .*points\.cpu\(\)"):
        bp.nearest(Elsewhere(BOXES[:, :2]), 1)
    assert len(index) == 0
