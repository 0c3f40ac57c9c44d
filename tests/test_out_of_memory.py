"""Where memory ends in the middle of a call: all or nothing."""

import numpy as np
import pytest

import broadphase as bp
from broadphase.runtime import threads

ASKS = ("empty", "zeros", "full", "column_stack", "concatenate", "array", "searchsorted", "unique", "arange")


class MemoryEnds:
    """From the k-th request for an array on, NumPy has no memory left."""

    def __init__(self, monkeypatch, k):
        self.left = k
        for name in ASKS:
            monkeypatch.setattr(np, name, self.counting(getattr(np, name)))

    def counting(self, function):
        def query(*args, **options):
            self.left -= 1
            if self.left < 0:
                raise MemoryError
            return function(*args, **options)

        return query


def crowd(period):
    world = bp.World(period=period)
    world.add(bp.Box(0, 60, 900, 10), static=True)
    world.on("walker", "coin")
    world.add(bp.Box(0, 30, 900, 2), tag="coin", sensor=True)
    walkers = [world.add(bp.Box(20 * x, 20, 10, 10), tag="walker") for x in range(5)]
    walkers.append(world.add(bp.Box(3, 55, 10, 10), tag="walker"))  # inside the floor: it is pushed out
    world.update()
    return world, walkers


@pytest.mark.covering
@pytest.mark.parametrize("period", [None, (1000, 1000)])
@pytest.mark.parametrize("name", ["move_many", "walk_many"])
@pytest.mark.parametrize("movers_block", [False, True])
def test_many_move_all_or_none(monkeypatch, period, name, movers_block):
    failures = 0
    for k in [*range(150), *range(150, 20_000, 61)]:
        world, walkers = crowd(period)
        before = world.positions.copy()
        with monkeypatch.context() as patch:
            MemoryEnds(patch, k)
            try:
                getattr(world, name)(walkers, 1.5, 30.0, movers_block=movers_block)
            except MemoryError:
                failures += 1
                failed = True
            else:
                failed = False
        if not failed:
            break
        assert np.array_equal(world.positions, before), k
        assert world.update().began == crowd(period)[0].update().began
        world.validate()
    assert failures > 5
    assert not np.array_equal(world.positions, before)


def test_where_no_thread_can_be_started_it_is_tried_once(monkeypatch):
    tried = []

    def none(*_):
        tried.append(1)
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(threads, "_pool", threads._Pool())
    monkeypatch.setattr(threads, "start_new_thread", none)
    monkeypatch.setattr(threads, "cores", lambda: 4)
    for _ in range(3):
        assert threads.run_all([lambda: 1, lambda: 2]) == [1, 2]
    assert tried == [1]
