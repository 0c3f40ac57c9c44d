"""A query finds none, few or all: for every size of the buffer nothing is dropped and nothing overrun.

Boxes are around one place, each a little larger than the one before, so all answers are known exactly.
"""

import numpy as np
import pytest
from index_scenes import NAMES, make

import broadphase as bp
from broadphase.kernels.arrays.results import FEW, STACK_CAPACITY
from broadphase.kernels.machine import memory
from broadphase.kernels.machine.mode import PLAIN
from broadphase.kernels.machine.simd import LANES
from broadphase.kernels.tree import queries
from broadphase.kernels.tree.dynamic_tree import WAITING, WIDTH, stack_size

SMALL = (0, 1, FEW - 1, FEW, FEW + 1, 300)
EDGES = tuple(STACK_CAPACITY + more for more in (-LANES - 1, -LANES, -LANES + 1, -1, 0, 1))
LARGE = (700, 2 * STACK_CAPACITY + 3, 2_500)
ALL = 5_000
STEP = 1 / 1024  # a power of two: sums and distances are exact in either dtype


class Scene:
    """``n`` boxes around one spot with ids here and there among others far away."""

    def __init__(self, n, dim, others=60):
        random = np.random.default_rng(n + dim)
        total = n + others
        self.dim = dim
        self.ids = np.sort(random.permutation(total)[:n])
        self.size = 1 + STEP * random.integers(0, 512, total)[:, None]
        middle = np.full((total, dim), 40.0)
        middle += random.integers(-4, 5, (total, dim))
        middle[:5] = 1e5  # so that a query may cover more cells than there are boxes
        middle[self.ids] = 0.0
        self.boxes = np.hstack((middle - self.size, middle + self.size))
        self.categories = np.where(np.arange(total) % 7 == 0, 2, 1).astype(np.int64)

    def counting(self, mask):
        return self.ids if mask is None else self.ids[self.categories[self.ids] & mask != 0]

    def by_distance(self, ids):
        """As seen from 8 in front of the spot, on the first axis."""
        distances = 8 - self.size[ids, 0]
        order = np.lexsort((ids, distances))
        return ids[order], distances[order]


def check(index, scene):
    dim = scene.dim
    spot, front, along = [0.0] * dim, [-8.0] + [0.0] * (dim - 1), [1.0] + [0.0] * (dim - 1)
    near, wide = [-0.5] * dim + [0.5] * dim, [-5.0] * dim + [5.0] * dim
    for mask in (None, 0xFFFFFFFF, 2):
        ids = scene.counting(mask)
        rule = {} if mask is None else {"mask": mask}
        for box in (near, wide):
            assert index.query_box(box, **rule).tolist() == ids.tolist()
        counting = np.flatnonzero(scene.categories & (mask or 3)).tolist()
        assert index.query_box([-1e6] * dim + [1e6] * dim, **rule).tolist() == counting
        assert index.query_box([-20.0] * dim + [-19.0] * dim, **rule).tolist() == []
        assert index.query_point(spot, **rule).tolist() == ids.tolist()
        assert index.query_radius(spot, 0.25, **rule).tolist() == ids.tolist()
        hits, distances = scene.by_distance(ids)
        found = index.query_ray(front, along, 20.0, **rule)
        assert found.ids.tolist() == hits.tolist()
        assert found.distances.tolist() == distances.tolist()
        first = index.raycast(front, along, 20.0, **rule)
        assert (first and first[:2]) == ((hits[0], distances[0]) if len(hits) else None)
        for k in (1, FEW + 1, len(ids), len(ids) + 5):
            if k and len(ids):
                nearest = index.nearest(front, k, **rule)
                count = min(k, len(ids))
                assert nearest.ids[:count].tolist() == hits[:count].tolist()
                assert nearest.distances[:count].tolist() == distances[:count].tolist()
                most = len(scene.boxes) if mask is None else np.count_nonzero(scene.categories & mask)
                assert len(nearest.ids) == len(nearest.distances) == min(k, most)


def filled(name, scene, **options):
    index = make(name, scene.dim, **options)
    index.insert_many(scene.boxes, category=scene.categories)
    return index


@pytest.mark.smaller_set
@pytest.mark.parametrize("dim", [2, 3])
@pytest.mark.parametrize("name", NAMES)
def test_few_on_one_spot(name, dim, each):
    each(lambda n: check(filled(name, Scene(n, dim)), Scene(n, dim)), SMALL)


@pytest.mark.smaller_set
@pytest.mark.parametrize("name", NAMES)
def test_about_as_many_hits_as_the_buffer_holds(name, each):
    each(lambda n: check(filled(name, Scene(n, 2)), Scene(n, 2)), (*EDGES, 2 * STACK_CAPACITY + 3))


@pytest.mark.covering
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("dim", [2, 3])
@pytest.mark.parametrize("name", NAMES)
def test_any_number_on_one_spot(name, dim, dtype, each):
    cases = [(n, touching) for touching in (True, False) for n in SMALL + EDGES + LARGE]

    def run(n, touching):
        scene = Scene(n, dim)
        check(filled(name, scene, dtype=dtype, touching=touching), scene)

    each(run, cases, of=3, turn=NAMES.index(name) + dim + np.dtype(dtype).itemsize // 8)


@pytest.mark.parametrize("dim", [2, 3])
@pytest.mark.parametrize("name", NAMES)
def test_all_of_thousands_on_one_spot(name, dim):
    scene = Scene(ALL, dim, others=0)
    check(filled(name, scene), scene)


@pytest.mark.parametrize("name", NAMES)
def test_both_kinds_and_loose_bounds(name):
    """Moving and static boxes are in separate structures; moved boxes are stored with a margin."""
    scene = Scene(1_500, 2)
    index = make(name, 2)
    static = np.arange(len(scene.boxes)) % 3 == 0
    index.insert_many(scene.boxes - 0.125, category=scene.categories, static=static)
    ids = np.flatnonzero(~static)
    for i in ids[:700]:
        index.move(int(i), scene.boxes[i])
    index.move_many(ids[700:], scene.boxes[ids[700:]])
    index.move_many(np.flatnonzero(static), scene.boxes[static])
    check(index, scene)


# ---- trees


def in_a_line(count, **options):
    """A tree of boxes that were put in one by one, from left to right: as deep as a tree of so many grows."""
    tree = bp.BoxTree(**options)
    for x in range(count):
        tree.insert([x, 0.0, x + 0.5, 1.0])
    return tree


def check_line(tree, count):
    for low, high in ((0.25, 0.25), (3.0, 40.0), (0.0, count / 2), (-1.0, count + 1.0)):
        wanted = np.flatnonzero((np.arange(count) <= high) & (np.arange(count) + 0.5 >= low)).tolist()
        for rule in ({}, {"mask": 1}):
            assert tree.query_box([low, 0.5, high, 0.5], **rule).tolist() == wanted
    middle = count // 2
    for rule in ({}, {"mask": 1}):
        assert tree.raycast([-2.0, 0.5], [1.0, 0.0], **rule)[:2] == (0, 2.0)
        assert tree.raycast([middle + 0.75, 0.5], [-1.0, 0.0], **rule)[:2] == (middle, 0.25)
        assert tree.raycast([middle + 0.75, 2.0], [-1.0, 0.0], **rule) is None
        assert len(tree.query_ray([-2.0, 0.5], [1.0, 0.0], **rule).ids) == count
        found = tree.nearest([middle + 0.75, 0.5], 3, **rule)
        assert found.ids.tolist() == [middle, middle + 1, middle - 1]
        assert found.distances.tolist() == [0.25, 0.25, 1.25]


@pytest.mark.smaller_set
@pytest.mark.parametrize("count", [15, 17, 200])
def test_deep_trees(count):
    tree = in_a_line(count)
    assert stack_size(tree._structure._arrays.children) <= WAITING
    check_line(tree, count)


def test_a_deeper_tree():
    check_line(in_a_line(6_000), 6_000)
    check_line(in_a_line(3_000, dtype=np.float32), 3_000)


@pytest.mark.smaller_set
def test_more_leaves_than_the_buffer_holds():
    scene = Scene(ALL, 2, others=0)
    tree = bp.BoxTree()
    tree.insert_many(scene.boxes, category=scene.categories)
    assert len(scene.boxes) > WIDTH * STACK_CAPACITY // 2
    for rule in (None, 2):
        wanted = scene.counting(rule).tolist()
        assert tree.query_box([-0.5, -0.5, 0.5, 0.5], mask=rule).tolist() == wanted


@pytest.mark.smaller_set
@pytest.mark.skipif(not PLAIN, reason="machine code has its buffer sizes compiled in")
def test_what_waits_is_never_more_than_was_reckoned(monkeypatch):
    tree = in_a_line(300)
    room = stack_size(tree._structure._arrays.children)
    assert room > 2 + 2 * WIDTH

    def just_so_many(count, dtype):
        return memory.many(room if count == WAITING else count, dtype)

    monkeypatch.setattr(queries, "many", just_so_many)
    monkeypatch.setattr(queries, "many", just_so_many)
    check_line(tree, 300)
    scene = Scene(3_000, 2, others=0)  # full nodes on three levels
    tree = bp.BoxTree()
    tree.insert_many(scene.boxes)
    tree.query_point((0.0, 0.0))  # now it is built
    room = stack_size(tree._structure._arrays.children)
    assert room > 2 + 2 * WIDTH
    assert tree.raycast([-8.0, 0.0], [1.0, 0.0]).id == scene.by_distance(scene.ids)[0][0]
    assert tree.nearest([-8.0, 0.0], 9).ids.tolist() == scene.by_distance(scene.ids)[0][:9].tolist()
