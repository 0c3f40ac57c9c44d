"""Many threads of the caller at once, from the first call of a process on: each gets what one thread gets."""

import subprocess
import sys

import pytest

PROGRAM = """
import sys, threading
import numpy as np
import broadphase as bp

THREADS = 8
sys.setswitchinterval(1e-6)
boxes = np.random.default_rng(1).random((3_000, 4))
boxes[:, 2:] = boxes[:, :2] + 0.01
points = np.ascontiguousarray(boxes[:, :2])


def by_index(name):
    index = bp.make_index(name)
    ids = index.insert_many(boxes)
    index.changes()
    index.move_many(ids[:500], boxes[500:1_000])
    changes = index.changes()
    asked = index.query_box(boxes[:40]), index.nearest(points[:40], 3).ids
    return [changes.began, index.pairs(), *asked, index.raycast(points[:50], [1.0, 0.3]).ids]


def by_world():
    world = bp.World()
    players = world.add_many(boxes[:300] * 1_000, tag="player")
    world.add_many(boxes[300:600] * 1_000, tag="wall", static=True)
    for _ in range(3):
        events = world.update()
        moves = world.move_many(players, 5.0, 3.0)
    return [np.array([len(events.began), len(events.stayed)]), moves.places, world.positions]


INDEXES = ("auto", "strips", "box_tree", "spatial_hash", "sweep_and_prune")
CALLS = [
    *(lambda method=method: [bp.pairs(boxes, method=method)] for method in bp.METHODS),
    *(lambda name=name: by_index(name) for name in INDEXES),
    lambda: [bp.neighbors(points, 0.01).i, bp.nearest(points, 3).ids],
    lambda: [bp.join(boxes[:900], boxes[900:]), np.array(bp.count_pairs(boxes, period=(2, 2)))],
    by_world,
]
together, found, failed = threading.Barrier(THREADS), [], []


def work(first):
    try:
        together.wait()
        for turn in range(len(CALLS)):
            which = (first + turn) % len(CALLS)
            found.append((which, CALLS[which]()))
    except BaseException as error:
        failed.append(repr(error))


threads = [threading.Thread(target=work, args=(2 * k,)) for k in range(THREADS)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
assert not failed, failed
expected = [call() for call in CALLS]
assert len(found) == THREADS * len(CALLS)
for which, arrays in found:
    for one, other in zip(arrays, expected[which], strict=True):
        assert np.array_equal(one, other), which
print("all", len(found), "answers are right")
"""


@pytest.mark.parametrize("attempt", [0, *(pytest.param(k, marks=pytest.mark.exhaustive) for k in (1, 2))])
def test_every_thread_gets_the_right_answers(attempt):
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", PROGRAM], capture_output=True, check=False, encoding="utf-8"
    )
    assert done.stdout == "all 120 answers are right\n", done.stderr
