"""Many bodies that move at once go as each alone, or as one after the other."""

import math

import numpy as np
import pytest

from broadphase import Box, TileMap, World


@pytest.mark.smaller_set
def test_many_are_named_by_body_or_id_and_checked_before():
    world = World()
    wall = world.add(Box(50, 0, 10, 100), static=True)
    a, b = world.add(Box(0, 0, 5, 5)), world.add(Box(0, 50, 5, 5))
    moved = world.move_many(np.array([b.id, a.id]), [100, 10], 1.0)
    assert (a.position, b.position) == ((10, 1), (45, 51))
    assert moved.hits.others.tolist() == [wall.id]
    assert len(world.move_many([], 1, 1).places) == 0
    world.move_all((one for one in (a, b)), [[1, 2], [3, 4]])
    assert world.positions.tolist() == [[50, 0], [1, 2], [3, 4]]
    world.positions = [[50, 0], [0, 0], [9, 9]]
    assert b.position == (9, 9)
    world.move_all([], [])
    bad = [
        (lambda: world.move_many([a], [1, 2], 0), r"dx must be one number, or have shape \(1,\)"),
        (lambda: world.move_many([a, b], 0, [0, math.nan]), r"bodies\[1\] lead beyond"),
        (lambda: world.move_many([a, b, a], 0, 0), "names a body twice"),
        (lambda: world.move_many([a], 0, 0, "fly"), "unknown response"),
        (lambda: world.move_many(np.array([7]), 0, 0), r"bodies\[0\] = 7 is the id of no body"),
        (lambda: world.move_all([a], [[0, 0], [1, 1]]), r"positions must have shape \(1, 2\)"),
        (lambda: world.move_all([a, b], [[0, 0], [1e305, 1]]), r"positions\[1\] = \[1e\+305, 1.0\]"),
        (lambda: world.body(99), "is the id of no body"),
    ]
    for call, says in bad:
        with pytest.raises(ValueError, match=says):
            call()
    assert (a.position, b.position) == ((0, 0), (9, 9))


@pytest.mark.parametrize("others", [0, 40])
@pytest.mark.parametrize("period", [None, (1000, 1000)])
@pytest.mark.parametrize("first", ["wall", "shot"])
def test_a_static_mover_blocks_the_others_where_it_was_when_the_call_began(first, period, others):
    world = World(period=period)
    wall, shot = world.add(Box(10, 0, 2, 10), static=True), world.add(Box(0, 4, 1, 1))
    more = [world.add(Box(5 * k, 500, 1, 1)) for k in range(others)]
    order = [wall, shot] if first == "wall" else [shot, wall]
    ways = {wall: (0.0, 30.0), shot: (20.0, 0.0)}
    moved = world.move_many([*order, *more], [ways.get(body, (0.0, 0.0)) for body in (*order, *more)])
    assert (shot.position, wall.position) == ((9.0, 4.0), (10.0, 30.0))
    assert moved.places[:2].tolist() == [list(body.position) for body in order]


@pytest.mark.parametrize("others", [0, 40])
def test_what_a_removed_body_has_met_is_not_said_of_the_next_in_its_place(others):
    world = World()
    said = []
    world.on("shot", "coin", begin=said.append)
    more = [world.add(Box(5 * k, 500, 1, 1), tag="shot") for k in range(others)]
    shot = world.add(Box(0, 0, 1, 1), tag="shot")
    coin = world.add(Box(5, 0, 1, 1), tag="coin", sensor=True)
    world.update()
    moved = world.move_many([*more, shot], 10, 0)
    assert moved.crossed.others.tolist() == [coin.id]
    world.remove(shot)
    assert world.add(Box(100, 100, 1, 1), tag="shot").id == shot.id
    world.update()
    assert said == []


@pytest.mark.parametrize("static", [True, False])
def test_the_last_mover_moves_also_where_its_way_is_long(static):
    """The kernel returns now and then, so that signals are handled: here, after the last."""
    world = World()
    world.tiles = TileMap(np.zeros((1, 1_100_000), np.bool_), 1)
    movers = [world.add(Box(20 * k, -50, 4, 4), static=static) for k in range(6)]
    moved = world.move_many(movers, [1, 1, 1, 1, 1, 1_100_000], 0)
    assert [mover.x for mover in movers] == moved.places[:, 0].tolist() == [1, 21, 41, 61, 81, 1_100_100]


def test_a_step_goes_in_the_order_of_ids_whatever_the_responses():
    """In one call for all, and one by one."""
    for others in (0, 40):
        world = World()
        world.set_response("ball", "bounce")
        back = world.add(Box(0, 0, 1, 1), tag="ball")
        front = world.add(Box(3, 0, 1, 1))
        for k in range(others):
            world.add(Box(5 * k, 500, 1, 1)).velocity = 0, 1
        back.velocity, front.velocity = (4, 0), (4, 0)
        world.step(1.0, movers_block=True)
        # The first meets the second where it still is, and is mirrored; the second goes all its way.
        assert (back.x, front.x) == (0.0, 7.0)
        assert (back.velocity, front.velocity) == ((-4.0, 0.0), (4.0, 0.0))


def test_one_that_a_lift_has_carried_stops_those_that_move_after_it():
    world = World()
    rider, lift = world.add(Box(0, 0, 4, 4)), world.add(Box(-5, 4, 20, 2))
    lift.one_way = "top"
    later = world.add(Box(45, 0, 4, 4))
    others = [world.add(Box(0, y, 4, 4)) for y in (100, 200, 300)]  # so many that they do not move one by one
    moved = world.move_many([rider, lift, later, *others], [0, 30, -12, 0, 0, 0], 0, movers_block=True)
    assert (rider.position, later.position) == ((30, 0), (34, 0))
    assert (moved.hits.movers.tolist(), moved.hits.others.tolist()) == ([2], [rider.id])
