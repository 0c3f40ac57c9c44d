"""Kernels write to memory of the caller; if it is too small, nothing is dropped and nothing differs."""

import numpy as np
import pytest

import broadphase as bp
from broadphase.indexes import changes
from broadphase.world import broad_phase
from broadphase.world.movement import motion_many, sweep

smaller_set = pytest.mark.smaller_set


# ---- what a body starts in


def pile(count, mover):
    """A mover in more bodies and tiles than the first buffer holds."""
    world = bp.World()
    world.tiles = bp.TileMap(np.ones((8, 8), np.bool_), 2, (4, 4))
    world.add_many([bp.Box(k / 8, 0, 12, 12) for k in range(count)], static=True)
    return world, world.add(mover)


@smaller_set
@pytest.mark.parametrize(
    "form", [bp.Box(5, 5, 5, 5), bp.Circle(8, 8, 3), bp.Polygon([(5, 5), (9, 5), (7, 9)])]
)
@pytest.mark.parametrize("first_capacity", [1, sweep.FIRST_CAPACITY])
def test_a_body_in_a_pile_meets_all_of_it(form, first_capacity, monkeypatch):
    count = sweep.FIRST_CAPACITY + 20
    monkeypatch.setattr(sweep, "FIRST_CAPACITY", first_capacity)
    world, mover = pile(count, form)
    met = [hit.other for hit in world.move(mover, 0, 0, "cross").hits]
    assert [hit.other for hit in world.move(mover, 0, 0, lambda hit: "cross").hits] == met
    assert [body.id for body in met[:count]] == list(range(count))
    assert met[count:] == [
        tuple(tile) for tile in world.tiles.tiles_in(form).tolist() if form_meets(form, tile)
    ]
    assert len(met) > count + 4
    before = mover.position
    world.move(mover, 0, 0)
    assert mover.position != before
    assert world.blocker(mover) is None
    assert world.blocker(form) is world.body(0)


def form_meets(form, tile):
    left, top = 4 + 2 * tile[0], 4 + 2 * tile[1]
    return bp.overlap(form, bp.Box(left, top, 2, 2))


# ---- the hits of thousands of movers


def begin_with(room, monkeypatch):
    """The first size of the buffer for hits."""
    monkeypatch.setattr(motion_many, "_HITS_EACH", 0)
    monkeypatch.setattr(motion_many, "_LEAST_CAPACITY", room)


def crowd(count=60):
    """Movers among movers and walls; some start inside each other."""
    random = np.random.default_rng(5)
    world = bp.World()
    world.tiles = bp.TileMap(random.random((12, 12)) < 0.1, 20)
    world.add_many([bp.Box(*place, 4, 9) for place in random.random((80, 2)) * 240], static=True)
    return world, world.add_many([bp.Box(*place, 3, 3) for place in random.random((count, 2)) * 240])


@pytest.mark.parametrize("room", [1, 2, 7])
@pytest.mark.parametrize("response", ["slide", "cross", "bounce"])
@pytest.mark.parametrize("movers_block", [False, True])
def test_many_movers_hit_the_same_with_any_buffer_size(room, response, movers_block, monkeypatch):
    def moved():
        world, movers = crowd()
        motions = np.random.default_rng(6).normal(size=(2, len(movers))) * 60
        return world.move_many(movers, *motions, response, movers_block=movers_block), world.positions

    wanted, places = moved()
    assert len(wanted.hits.movers) > 60
    assert np.bincount(wanted.hits.movers).max() > 2
    begin_with(room, monkeypatch)
    got, got_places = moved()
    np.testing.assert_array_equal(got_places, places)
    np.testing.assert_array_equal(got.places, wanted.places)
    for part in ("hits", "crossed"):
        for column, other in zip(getattr(got, part), getattr(wanted, part), strict=True):
            np.testing.assert_array_equal(column, other)


@smaller_set
@pytest.mark.parametrize("few", [0, motion_many._FEW])
@pytest.mark.parametrize("movers_block", [False, True])
def test_one_mover_crosses_more_than_the_buffer_holds(movers_block, few, monkeypatch):
    """And the others, before and after it, hit what they hit without it."""
    monkeypatch.setattr(motion_many, "_FEW", few)
    world = bp.World()
    walls = world.add_many([bp.Box(10 + 2 * k, 0, 1, 10) for k in range(200)], static=True)
    movers = world.add_many([bp.Box(0, y, 1, 1) for y in (20, 4, 30)])
    moved = world.move_many(movers, 1000, 0, "cross", movers_block=movers_block)
    assert moved.hits.movers.tolist() == [1] * 200
    assert moved.hits.others.tolist() == [wall.id for wall in walls]
    np.testing.assert_array_equal(moved.places, [[1000, 20], [1000, 4], [1000, 30]])


def test_growing_is_limited_by_memory(monkeypatch):
    """If there is no memory for the hits, no body has moved."""
    world = bp.World()
    world.add_many([bp.Box(10 + k, 0, 0.5, 10) for k in range(2_000)], static=True)
    movers = world.add_many([bp.Box(0, y, 1, 1) for y in (20, 4, 30)])
    before = world.positions

    class Numpy:
        def __getattr__(self, name):
            return getattr(np, name)

        @staticmethod
        def empty(shape, *dtype):
            if np.ndim(shape) and shape[1:] == (9,) and shape[0] > 1:  # of hits, and of what is crossed
                raise MemoryError
            return np.empty(shape, *dtype)

    begin_with(1, monkeypatch)
    for module in (motion_many, broad_phase):
        monkeypatch.setattr(module, "np", Numpy())
    with pytest.raises(MemoryError):
        world.move_many(movers, 3000, 0, "cross")
    np.testing.assert_array_equal(world.positions, before)
    world.validate()


# ---- pairs that come and go


@smaller_set
def test_changes_between_lists_of_any_length():
    random = np.random.default_rng(8)
    everything = np.argwhere(np.triu(np.ones((80, 80), bool), 1)).astype(np.int32)
    renewed = random.random(80) < 0.1
    for shares in ((0, 0), (0, 1), (1, 0), (1, 1), (0.5, 0.5), (0.9, 0.1)):
        before, now = (everything[random.random(len(everything)) < share] for share in shares)
        began, ended = changes.split_changes(before, now, renewed)
        new = {pair for pair in map(tuple, now.tolist()) if renewed[list(pair)].any()}
        was, is_now = set(map(tuple, before.tolist())), set(map(tuple, now.tolist()))
        assert list(map(tuple, began.tolist())) == sorted(is_now - (was - new))
        assert list(map(tuple, ended.tolist())) == sorted(was - (is_now - new))


@pytest.mark.parametrize(
    "cls", [bp.BoxTree, bp.UniformGrid, bp.SortAndSweep, bp.SweepAndPrune, bp.BruteForce]
)
def test_more_pairs_begin_and_end_than_the_buffer_holds(cls):
    """A crowd that comes together and scatters, all at once and a tenth of it."""
    count = 1_200
    column, row = np.divmod(np.arange(count, dtype=float), 40)
    size = np.array([0.0, 0, 2, 2])
    apart = np.column_stack((row, column, row, column)) * 3 + size
    together = np.column_stack((row / 100, column * 5, row / 100, column * 5)) + size
    index, twin = cls(), bp.BruteForce()
    for one in (index, twin):
        one.insert_many(apart)
        one.changes()
    for boxes, step in ((together, 1), (apart, 10), (together, 10), (apart, 1)):
        ids = np.arange(0, count, step)
        for one in (index, twin):
            one.move_many(ids, boxes[ids])
        got, wanted = index.changes(), twin.changes()
        assert len(wanted.began) + len(wanted.ended) > 1024
        np.testing.assert_array_equal(got.began, wanted.began)
        np.testing.assert_array_equal(got.ended, wanted.ended)
        np.testing.assert_array_equal(got.stayed, wanted.stayed)
