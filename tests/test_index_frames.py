"""Worlds of some thousand boxes over several frames: every index against `BruteForce`, bit for bit.

The machine of `test_index_machine` tries every order of calls on few boxes; here the structures get deep.
"""

import sys

import numpy as np
import oracle
import pytest
import scenes
from index_scenes import NAMES, make

import broadphase as bp
from broadphase.runtime import arrays

EVERYTHING = 1_200


def uniform(random, n, dim):
    low = random.random((n, dim)) * 100
    return low, low + random.random((n, dim)) * 3


def clusters_far_apart(random, n, dim):
    low = random.choice((-1e6, 0.0, 1e6), (n, 1)) + random.normal(size=(n, dim)) * 20
    return low, low + random.random((n, dim)) * 2


def four_decades(random, n, dim):
    low = random.random((n, dim)) * 200
    return low, low + 10.0 ** random.uniform(-3, 1.3, (n, 1)) * random.random((n, dim))


def on_a_line(random, n, dim):
    low = np.zeros((n, dim))
    low[:, random.integers(dim)] = random.integers(0, n, n)
    return low, low + 1


def touching_tiles(random, n, dim):
    low = random.integers(-15, 15, (n, dim)).astype(float)
    return low, low + 1


def giants_and_dust(random, n, dim):
    low = random.random((n, dim)) * 1000
    high = low + 0.01 * random.integers(0, 2, (n, dim))
    low[:5] -= 10.0 ** random.integers(2, 20, (5, 1))
    high[2:8] = np.inf
    low[3] = -np.inf
    return low, high


SCENES = (uniform, clusters_far_apart, four_decades, on_a_line, touching_tiles, giants_and_dust)


def frames(random, boxes):
    """What happens in a frame: ``(ids, new boxes)`` of those that move."""
    n, width = boxes.shape
    for share, step in ((0.01, 0.1), (1.0, 0.5), (1.0, 30.0), (0.0, 0.0), (0.3, 1e-9)):
        ids = np.flatnonzero(random.random(n) < share)
        motion = random.normal(size=(len(ids), width // 2)) * step
        boxes[ids] += np.hstack((motion, motion))
        low, high = boxes[:, : width // 2], boxes[:, width // 2 :]
        np.maximum(low, high, out=high)  # what a step far out loses to rounding
        yield ids, boxes[ids]


def assert_same_answers(index, oracle, random):
    dim = index.dim
    places = oracle.boxes[random.integers(0, len(oracle), 12)].astype(float)
    points = np.nan_to_num(places[:, :dim], posinf=1e9, neginf=-1e9)
    towards = random.choice((-1.0, 0.0, 0.5, 1.0), (12, dim))
    towards[~towards.any(axis=1), 0] = 1.0
    few = make("brute_force", dim, touching=index.touching)
    few.insert_many(places, category=3)
    np.testing.assert_array_equal(index.join(few), oracle.join(few))
    np.testing.assert_array_equal(few.join(index), few.join(oracle))
    sizes = np.hstack((points, points + 10.0 ** random.integers(-2, 3, (12, 1))))
    for call, arguments in (
        ("query_box", (sizes,)),
        ("query_point", (points,)),
        ("query_radius", (points, 10.0 ** random.integers(-1, 3, 12))),
        ("raycast", (points, towards)),
        ("query_ray", (points, towards, 200.0)),
        ("nearest", (points, 7)),
    ):
        batch, wanted = (getattr(queries, call)(*arguments) for queries in (index, oracle))
        same = np.array_equal(batch, wanted) if isinstance(wanted, np.ndarray) else None
        for part, wanted_part in zip(batch, wanted, strict=True) if same is None else ():
            np.testing.assert_array_equal(part, wanted_part, err_msg=call)
        assert same is not False, call


@pytest.mark.covering
@pytest.mark.parametrize("dim", [2, 3])
@pytest.mark.parametrize("name", [name for name in NAMES if name != "brute_force"])
def test_frames(name, dim, each):
    each(lambda scene: play(name, dim, scene), SCENES, of=4, turn=NAMES.index(name) + dim)


SLICES = {"MOST_ROWS": 8, "FIRST_ROWS": 8, "_AT_RANDOM": 8}


@pytest.fixture
def in_slices(monkeypatch):
    """As much at a time as otherwise only of millions of boxes."""
    for module in [module for name, module in sys.modules.items() if name.startswith("broadphase")]:
        for name, value in SLICES.items():
            if hasattr(module, name):
                monkeypatch.setattr(module, name, value)
    monkeypatch.setattr(arrays.ranges, "__defaults__", (SLICES["MOST_ROWS"],))
    monkeypatch.setitem(globals(), "EVERYTHING", 240)


@pytest.mark.parametrize("name", [name for name in NAMES if name != "brute_force"])
def test_frames_in_slices(name, in_slices):
    play(name, 2, uniform)
    boxes, name = scenes.make("uniform", 150, 2), name if name in bp.METHODS else "tree"
    right = oracle.pairs(boxes)
    np.testing.assert_array_equal(bp.pairs(boxes, method=name, threads=1), right)
    assert bp.count_pairs(boxes, method=name, threads=1) == len(right)
    joined = bp.join(boxes[:70], boxes[70:], method=name, threads=1)
    np.testing.assert_array_equal(joined, oracle.join(boxes[:70], boxes[70:]))


def play(name, dim, scene):
    random = np.random.default_rng([dim, SCENES.index(scene)])
    options = {"dtype": random.choice((np.float32, np.float64)), "touching": bool(random.integers(2))}
    boxes = np.hstack(scene(random, EVERYTHING, dim))
    static = random.random(EVERYTHING) < 0.3
    index, brute = make(name, dim, **options), make("brute_force", dim, **options)
    for world in (index, brute):
        world.insert_many(boxes[: EVERYTHING // 2], static=static[: EVERYTHING // 2])
        for row in range(EVERYTHING // 2, EVERYTHING // 2 + 50):
            world.insert(boxes[row], static=bool(static[row]))
        world.insert_many(boxes[EVERYTHING // 2 + 50 :], static=static[EVERYTHING // 2 + 50 :])
    for ids, moved in frames(random, boxes.copy()):
        for world in (index, brute):
            if len(ids) == EVERYTHING:
                world.update(moved)
            else:
                world.move_many(ids, moved)
        index.validate()
        for part, wanted in zip(index.changes(), brute.changes(), strict=True):
            np.testing.assert_array_equal(part, wanted)
        np.testing.assert_array_equal(index.pairs(), brute.pairs())
        assert_same_answers(index, brute, random)
    gone = random.permutation(EVERYTHING)[: EVERYTHING // 2]
    for world in (index, brute):
        world.remove_many(gone)
        for i in world.ids[:50].tolist():
            world.remove(i)
        world.insert_many(boxes[:300])
    index.validate()
    for part, wanted in zip(index.changes(), brute.changes(), strict=True):
        np.testing.assert_array_equal(part, wanted)
    assert_same_answers(index, brute, random)
