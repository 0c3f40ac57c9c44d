"""Balls in a world without edges."""

import numpy as np
import pytest

import broadphase as bp
from broadphase.balls import BallSimulation


@pytest.mark.parametrize("index", ["strips", "sweep_and_prune", "brute_force"])
def test_momentum_and_energy_are_conserved_across_the_boundary(index):
    balls = BallSimulation(60, radius=(2, 5), period=(100, 90), index=index, seed=3)
    energy, momentum = balls.energy, balls.momentum
    met = 0
    for _ in range(150):
        balls.step(1 / 60)
        met += len(balls.pairs)
        assert ((balls.positions >= 0) & (balls.positions < [100, 90])).all()
    assert met > 50
    assert balls.energy == pytest.approx(energy, rel=1e-10)
    assert balls.momentum == pytest.approx(momentum, rel=1e-10)


def test_two_balls_meet_across_the_boundary():
    balls = BallSimulation(
        positions=[[95, 50], [5, 50]], velocities=[[30, 0], [-10, 0]], radius=4, period=(100, None)
    )
    for _ in range(20):
        balls.step(1 / 60)
    assert balls.velocities.round(9).tolist() == [[-10.0, 0.0], [30.0, 0.0]]
    assert balls.period == (100, None)


def test_a_translated_world_behaves_the_same():
    """The place of the periodic boundary makes no difference except rounding."""
    first = BallSimulation(40, radius=4, period=(128, 128), seed=5)
    moved = BallSimulation(
        positions=first.positions + 64, velocities=first.velocities, radius=4, period=(128, 128)
    )
    for _ in range(40):
        first.step(1 / 64)
        moved.step(1 / 64)
    apart = np.abs(first.positions + 64 - moved.positions)
    assert np.minimum(apart, 128 - apart).max() < 1e-6


def test_walls_stay_on_the_other_axis_and_hands_reach_over():
    balls = BallSimulation(
        positions=[[99, 10]], velocities=[[0, 900]], radius=5, bounds=(0, 0, 50, 40), period=(100, None)
    )
    for _ in range(30):
        balls.step(1 / 60)
        assert 5 <= balls.positions[0, 1] <= 35
    assert balls.ball_at(2, balls.positions[0, 1]) == 0
    balls.grab(0)
    balls.drag(0, (103, 20))
    balls.step(0.5)
    assert balls.positions[0].tolist() == [3, 20]
    balls.release(0)
    assert balls.velocities[0, 0] == pytest.approx(8.0)


def test_bad_worlds_are_named():
    balls = BallSimulation(2, radius=1, period=(10, 10))
    for lost in (np.nan, np.inf, 1e30):
        balls.positions[1] = lost, 1
        with pytest.raises(ValueError, match="min_x = "):
            balls.step(0.1)
    with pytest.raises(ValueError, match="a ball of radius 6 does not fit"):
        BallSimulation(3, radius=6, period=(10, 100))
    with pytest.raises(ValueError, match="index must have the period of the world"):
        BallSimulation(3, radius=1, period=(10, 10), index=bp.Strips())
    with pytest.raises(ValueError, match=r"period\[1\] = -1 is not positive"):
        BallSimulation(3, period=(10, -1))
