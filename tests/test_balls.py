"""Balls: energy, momentum, walls, gravity, hands, and the same run on every index."""

import copy
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import broadphase as bp
from broadphase.balls import BallSimulation

BOX = (0.0, 0.0, 100.0, 100.0)
FRAME = 1 / 60


def two_balls(**options):
    start = {"positions": [[20, 50], [60, 50]], "velocities": [[30, 0], [0, 0]], "radius": 5, "bounds": BOX}
    return BallSimulation(**start | options)


def all_overlaps(balls):
    """How deep touching balls overlap, by brute force."""
    i, j = np.triu_indices(len(balls), 1)
    apart = np.hypot(*(balls.positions[i] - balls.positions[j]).T)
    depth = balls.radii[i] + balls.radii[j] - apart
    touching = depth >= 0
    return np.stack([i[touching], j[touching]], axis=1).astype(np.int32), depth[touching]


@pytest.mark.smaller_set
@pytest.mark.parametrize("masses", [(1, 3), (3, 1), (1, 1e6), (1e-6, 1)])
@pytest.mark.parametrize("restitution", [0.0, 0.5, 1.0])
def test_a_head_on_collision_is_the_textbooks(masses, restitution):
    balls = two_balls(masses=masses, restitution=restitution)
    for _ in range(65):  # they meet after one second, long before a wall
        balls.step(FRAME)
    a, b = masses
    expected = [30 * (a - restitution * b) / (a + b), 30 * a * (1 + restitution) / (a + b)]
    assert np.allclose(balls.velocities[:, 0], expected, rtol=1e-12, atol=1e-12)
    assert not balls.velocities[:, 1].any()


@pytest.mark.smaller_set
def test_an_oblique_collision_of_equal_balls_parts_them_at_a_right_angle():
    balls = two_balls(positions=[[20, 46], [60, 50]])
    for _ in range(90):
        balls.step(FRAME)
    first, second = balls.velocities
    assert abs(first @ second) < 1e-9
    assert first.any()
    assert second.any()


@pytest.mark.parametrize("masses", [None, 1.0])
@pytest.mark.parametrize("index", ["strips", "uniform_grid"])
def test_energy_is_kept_to_1e_12_over_thousands_of_steps(masses, index, exhaustive):
    balls = BallSimulation(300, radius=(2, 6), bounds=(0, 0, 400, 300), masses=masses, seed=3, index=index)
    energy, hits = balls.energy, 0
    steps = 2_000 if exhaustive else 500
    for _ in range(steps):
        balls.step(FRAME)
        hits += len(balls.pairs)
    assert hits > 5 * steps
    assert abs(balls.energy / energy - 1) < 1e-12


@pytest.mark.parametrize("masses", [None, 1.0])
def test_momentum_is_kept_to_1e_12_where_there_are_no_walls(masses):
    packed = BallSimulation(400, radius=(2, 6), bounds=(0, 0, 300, 300), masses=masses, seed=4)
    balls = BallSimulation(
        positions=packed.positions,
        velocities=packed.velocities,
        radius=packed.radii,
        masses=packed.masses,
        bounds=None,
    )
    before, energy, hits = np.array(balls.momentum), balls.energy, 0
    scale = (balls.masses[:, None] * abs(balls.velocities)).sum()
    for _ in range(600):
        balls.step(FRAME)
        hits += len(balls.pairs)
    assert hits > 500
    assert abs(balls.momentum - before).max() < 1e-12 * scale
    assert abs(balls.energy / energy - 1) < 1e-12
    assert balls.bounds is None
    assert balls.positions.max() > 300


@pytest.mark.smaller_set
def test_one_ball_in_a_field_of_gravity_bounces_for_ever():
    """The energy against the floor stays to 1e-12, and so the height that it comes back to."""
    balls = BallSimulation(
        positions=[[50, 20]], velocities=[[0, 0]], radius=5, masses=2.0, bounds=BOX, gravity=(0, 500)
    )
    energy, highest = balls.energy, 100.0
    for step in range(2_000):
        balls.step(FRAME / 4)
        assert 5 <= balls.positions[0, 1] <= 95
        if step > 1_000:
            highest = min(highest, balls.positions[0, 1])
    assert abs(balls.energy / energy - 1) < 1e-12
    assert 20 <= highest < 20.1  # the height is read once a step


def test_many_balls_in_a_field_of_gravity_keep_their_energy_to_1e_4():
    """What is lost or won is where balls press each other into walls."""
    balls = BallSimulation(300, radius=(2, 6), bounds=(0, 0, 800, 600), gravity=(0, 500), seed=1)
    floor = -sum(balls.masses * 500 * 600)
    energy = balls.energy - floor
    for _ in range(1_500):
        balls.step(FRAME, substeps=4)
    assert abs((balls.energy - floor) / energy - 1) < 1e-4


def test_with_restitution_below_one_a_heap_comes_to_rest():
    balls = BallSimulation(
        60, radius=4, bounds=(0, 0, 100, 200), gravity=(0, 500), restitution=0.5, speed=200, seed=2
    )
    fast = abs(balls.velocities).max()
    for _ in range(1_200):
        balls.step(FRAME, substeps=4)
    assert abs(balls.velocities).max() < 0.2 * fast
    assert balls.positions[:, 1].mean() > 150
    assert all_overlaps(balls)[1].max() < 4.0


@pytest.mark.smaller_set
def test_walls_reflect_a_ball_by_the_rest_of_its_path():
    balls = BallSimulation(positions=[[92, 8]], velocities=[[10, -10]], radius=5, bounds=BOX)
    balls.step(0.5)
    assert balls.positions.tolist() == [[93, 7]]
    assert balls.velocities.tolist() == [[-10, 10]]


@given(st.integers(0, 2**32 - 1), st.sampled_from([0.0, 0.3, 1.0]), st.floats(-400, 400))
def test_whatever_happens_balls_stay_inside_and_win_no_energy(seed, restitution, pull):
    balls = BallSimulation(
        25, radius=(1, 12), bounds=BOX, speed=300, gravity=(0, pull), restitution=restitution, seed=seed
    )
    lowest = -sum(balls.masses) * max(pull * 100, 0.0)
    energy = balls.energy - lowest
    for _ in range(40):
        balls.step(FRAME)
    assert (balls.boxes[:, :2] >= -1e-9).all()
    assert (balls.boxes[:, 2:] <= 100 + 1e-9).all()
    if pull == 0.0:
        assert balls.energy - lowest <= energy * (1 + 1e-12)


def test_every_index_and_thread_count_plays_the_same_run_bit_for_bit():
    def play(index):
        balls = BallSimulation(
            700, radius=(2, 9), bounds=(0, 0, 500, 500), gravity=(0, 50), seed=6, index=index
        )
        for _ in range(40):
            balls.step(FRAME)
        return balls

    expected = play("brute_force")
    assert len(expected.pairs) > 50
    others = [*bp.INDEXES, bp.Strips(threads=1), bp.UniformGrid(sort=False), bp.BoxTree(margin=3.0)]
    for index in others:
        balls = play(index)
        assert np.array_equal(balls.positions, expected.positions), index
        assert np.array_equal(balls.velocities, expected.velocities), index
        assert np.array_equal(balls.pairs, expected.pairs), index


def test_the_index_may_change_between_steps():
    balls = BallSimulation(200, bounds=(0, 0, 300, 300), seed=7)
    other = copy.deepcopy(balls)
    for step in range(30):
        if step % 5 == 0:
            other.use(bp.INDEXES[step // 5])
        balls.step(FRAME)
        other.step(FRAME)
    assert np.array_equal(balls.positions, other.positions)
    assert other.index.name == bp.INDEXES[5]


@pytest.mark.smaller_set
def test_pairs_are_the_balls_that_touch_and_candidates_the_boxes():
    balls = BallSimulation(60, radius=(2, 9), bounds=BOX, seed=8)
    hits = 0
    for _ in range(20):
        balls.step(FRAME)
        assert np.array_equal(balls.pairs, all_overlaps(balls)[0])
        assert np.array_equal(balls.candidates, bp.pairs(balls.boxes, method="brute_force"))
        hits += len(balls.pairs)
    assert hits
    assert balls.index.stats.boxes == 60


@pytest.mark.smaller_set
def test_balls_in_one_place_separate_deterministically():
    balls = [
        BallSimulation(positions=[[50, 50]] * 3, velocities=[[0, 0]] * 3, radius=5, bounds=BOX) for _ in "ab"
    ]
    for each in balls:
        for _ in range(200):
            each.step(FRAME)
    assert np.array_equal(balls[0].positions, balls[1].positions)
    assert (all_overlaps(balls[0])[1] < 1e-9).all()


@pytest.mark.smaller_set
def test_scattered_balls_do_not_overlap_if_they_fit():
    balls = BallSimulation(150, radius=(1, 3), bounds=BOX, seed=9)
    assert not len(balls.pairs)
    assert (balls.boxes[:, :2] >= 0).all()
    assert (balls.boxes[:, 2:] <= 100).all()
    crowded = BallSimulation(400, radius=(1, 5), bounds=BOX, seed=9)
    assert len(crowded.pairs)
    assert (crowded.boxes[:, 2:] <= 100).all()


@pytest.mark.smaller_set
def test_a_ball_can_be_grabbed_dragged_and_thrown():
    balls = two_balls()
    assert balls.ball_at(21, 52) == 0
    assert balls.ball_at(24, 54) is None  # inside its box, outside the ball
    balls.grab(0)
    assert balls.held.tolist() == [0]
    balls.step(FRAME)
    assert balls.positions[0].tolist() == [20, 50]
    balls.drag(0, (26, 53))
    balls.step(0.5)
    assert balls.positions[0].tolist() == [26, 53]
    assert balls.velocities[0].tolist() == [12, 6]
    balls.drag(0, (-70, 53))  # as near as the wall lets it
    balls.step(0.5)
    assert balls.positions[0].tolist() == [5, 53]
    balls.drag(0, (6, 53))
    balls.step(0.5)
    balls.release(0)
    balls.step(1.0)
    assert balls.positions[0].tolist() == [8, 53]
    balls.release(0, (1, 2))
    assert balls.velocities[0].tolist() == [1, 2]


@pytest.mark.smaller_set
def test_a_held_ball_is_a_wall_to_the_others():
    balls = two_balls()
    balls.grab(1)
    for _ in range(90):
        balls.step(FRAME)
    assert balls.positions[1].tolist() == [60, 50]
    assert balls.velocities[0].tolist() == [-30, 0]
    both = two_balls(positions=[[20, 50], [24, 50]])
    both.grab(0)
    both.grab(1)
    both.step(FRAME)
    assert both.positions.tolist() == [[20, 50], [24, 50]]


@pytest.mark.smaller_set
def test_no_balls_are_legal():
    for balls in (BallSimulation(0), BallSimulation(positions=[], velocities=[])):
        balls.step(FRAME)
        assert len(balls) == 0
        assert balls.pairs.shape == (0, 2)
        assert balls.energy == 0
        assert balls.momentum == (0, 0)
        assert balls.ball_at(1, 1) is None


@pytest.mark.smaller_set
def test_arrays_given_are_copied_and_arrays_held_may_be_written():
    given_positions = np.array([[20.0, 50.0]])
    balls = BallSimulation(positions=given_positions, velocities=[[0, 0]], bounds=BOX)
    balls.velocities[0] = 60, 0
    balls.step(0.5)
    assert given_positions.tolist() == [[20, 50]]
    assert balls.positions[0, 0] == 50


@pytest.mark.smaller_set
@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({}, "n=, or where they are with positions="),
        ({"n": -1}, "n must be at least 0"),
        ({"n": 2, "positions": [[1, 1]]}, r"positions must have shape \(2, 2\)"),
        ({"n": 1, "positions": [[math.nan, 1]]}, r"positions\[0\] = \[nan, 1.0\] is not finite"),
        ({"n": 2, "radius": [1, 2, 3]}, "radius must be one number or one for each of the 2 balls"),
        ({"n": 2, "radius": [1, 0]}, "radius must be positive and finite; ball 1 has 0.0"),
        ({"n": 2, "radius": (3, 1)}, "smallest, largest"),
        ({"n": 2, "masses": -1}, "masses must be positive"),
        ({"n": 1, "radius": 60, "bounds": BOX}, "does not fit between walls that are 100 apart"),
        ({"n": 1, "bounds": (0, 0, -1, 5)}, "bounds must be finite numbers"),
        ({"n": 1, "bounds": None}, "give positions="),
        ({"n": 1, "restitution": 1.5}, "restitution must be finite and between 0 and 1"),
        ({"n": 1, "speed": math.inf}, "speed must be finite"),
        ({"n": 1, "gravity": (0, math.nan)}, "gravity must be two finite numbers"),
        ({"n": 1, "index": "quadtree"}, "unknown index 'quadtree'"),
        ({"n": 1, "index": bp.BruteForce(dim=3)}, "index must be empty, 2-D"),
        ({"n": 1, "index": bp.BruteForce(touching=False)}, "made with touching=True"),
    ],
)
def test_bad_arguments_are_named(options, message):
    with pytest.raises(ValueError, match=message):
        BallSimulation(**options)


@pytest.mark.smaller_set
def test_wrong_types_are_named():
    for options in ({"n": 1.5}, {"n": True}, {"n": 1, "speed": "fast"}, {"n": 1, "index": 3}):
        with pytest.raises(TypeError):
            BallSimulation(**options)


@pytest.mark.smaller_set
def test_calls_that_fail_change_nothing():
    balls = two_balls()
    before = copy.deepcopy(balls)
    for wrong in (
        lambda: balls.step(-1),
        lambda: balls.step(math.nan),
        lambda: balls.step(1, substeps=0),
        lambda: balls.drag(0, (1, 1)),
        lambda: balls.release(0, (math.nan, 1)),
        lambda: balls.use("quadtree"),
    ):
        with pytest.raises(ValueError, match=r"must be|not held|unknown"):
            wrong()
    for missing in (-1, 2, 0.5, True):
        with pytest.raises(IndexError, match="there is no ball"):
            balls.grab(missing)
    assert np.array_equal(balls.positions, before.positions)
    assert np.array_equal(balls.velocities, before.velocities)
    assert not len(balls.held)
    assert (
        repr(balls)
        == repr(before)
        == ("<BallSimulation: 2 balls, bounds=(0.0, 0.0, 100.0, 100.0), index='strips'>")
    )
