"""What is assigned to the arrays of a ball simulation is checked like what it is made with."""

import numpy as np
import pytest

from broadphase.balls import BallSimulation

pytestmark = pytest.mark.smaller_set

ASSIGNED = {
    "more positions": (
        "positions",
        np.zeros((9, 2)),
        r"positions must have shape \(3, 2\); got shape \(9, 2\)",
    ),
    "fewer positions": (
        "positions",
        np.zeros((1, 2)),
        r"positions must have shape \(3, 2\); got shape \(1, 2\)",
    ),
    "one position": ("positions", [1.0, 2.0], r"positions must have shape \(3, 2\); got shape \(2,\)"),
    "a NaN": ("positions", [[0, 0], [1, np.nan], [2, 2]], r"positions\[1\] = \[1.0, nan\] is not finite"),
    "more velocities": ("velocities", np.zeros((9, 2)), r"velocities must have shape \(3, 2\)"),
    "endless": ("velocities", [[0, 0], [1, 1], [np.inf, 2]], r"velocities\[2\] = \[inf, 2.0\] is not finite"),
    "more radii": ("radii", np.ones(9), "radii must be one number or one for each of the 3 balls"),
    "no radius": ("radii", [1, 0, 1], "radii must be positive and finite; ball 1 has 0"),
    "too large": ("radii", [1, 900, 1], "a ball of radius 900 does not fit between walls"),
    "more masses": ("masses", np.ones(9), "masses must be one number or one for each of the 3 balls"),
    "a NaN for a mass": ("masses", [1, 1, np.nan], "masses must be positive and finite; ball 2 has nan"),
}


@pytest.mark.parametrize("case", ASSIGNED)
def test_what_is_assigned_is_checked(case):
    """Kernels write to these arrays without looking at their length."""
    name, value, message = ASSIGNED[case]
    balls = BallSimulation(3, seed=1)
    before = getattr(balls, name).copy()
    with pytest.raises(ValueError, match=message):
        setattr(balls, name, value)
    np.testing.assert_array_equal(getattr(balls, name), before)


def test_what_is_assigned_counts():
    balls = BallSimulation(3, bounds=None, positions=[[0, 0], [50, 0], [0, 50]], radius=1, speed=0)
    held = balls.positions
    balls.positions = [[9, 9], [30, 30], [60, 60]]
    balls.positions += 1
    balls.velocities = np.array([[1, 0]] * 3, np.float32)
    balls.radii, balls.masses = 2, [1, 2, 3]
    balls.step(1)
    assert balls.positions.tolist() == held.tolist() == [[11, 10], [32, 31], [62, 61]]
    assert balls.boxes[0].tolist() == [9, 8, 13, 12]
    assert balls.masses.tolist() == [1, 2, 3]


def test_the_arrays_of_the_simulation_cannot_be_resized():
    balls = BallSimulation(3, seed=1)
    for name in ("positions", "velocities", "radii", "masses"):
        with pytest.raises(ValueError, match="does not own its data"):
            getattr(balls, name).resize(1, refcheck=False)
