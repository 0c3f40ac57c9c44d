"""Cutoffs by pair of kinds and radii of the others, against a comparison of each pair and plain searches."""

import numpy as np
import pytest

import broadphase as bp

LABELS = np.array(["C", "H", "O"])
LENGTHS = np.array([[0.30, 0.12, 0.0], [0.12, 0.05, 0.21], [0.0, 0.21, 0.17]])


def scene(n, dtype, seed=0, dim=3):
    random = np.random.default_rng((seed, n))
    return random.random((n, dim)).astype(dtype), random.integers(0, 3, n)


def test_pairs_that_are_not_named_do_not_count():
    points = [[0.0, 0.0], [1.0, 0.0], [0.0, 0.0], [2.0, 0.0]]
    near = bp.neighbors(points, cutoffs={("b", "a"): 1.0, ("z", "z"): 9.0}, kinds=["a", "b", "a", "a"])
    assert (near.i.tolist(), near.j.tolist()) == ([0, 1, 1], [1, 2, 3])
    assert len(bp.neighbors(points, cutoffs={}, kinds=[0, 0, 0, 0])) == 0
    assert len(bp.neighbors(points, cutoffs={(0, 0): 0.0}, kinds=0)) == 1


def test_the_limit_is_that_of_pairs_that_count():
    points, kinds = scene(300, np.float64)
    count = len(bp.neighbors(points, cutoffs=LENGTHS, kinds=kinds))
    assert len(bp.neighbors(points, cutoffs=LENGTHS, kinds=kinds, max_pairs=count)) == count
    with pytest.raises(bp.PairLimitExceeded, match=f"max_pairs={count - 1} "):
        bp.neighbors(points, cutoffs=LENGTHS, kinds=kinds, max_pairs=count - 1)


P = [[0.0, 0.0], [1.0, 0.0]]


@pytest.mark.parametrize(
    ("arguments", "error", "said"),
    [
        ({}, TypeError, r"needs a distance r, or cutoffs= and kinds="),
        ({"cutoffs": [[1.0]]}, ValueError, "belong together"),
        ({"r": 1.0, "kinds": [0, 0]}, ValueError, "belong together"),
        ({"r": 1.0, "cutoffs": [[1.0]], "kinds": [0, 0]}, ValueError, "leave out r"),
        ({"r": [1.0, 2.0], "cutoffs": [[1.0]], "kinds": [0, 0]}, ValueError, "leave out r"),
        ({"cutoffs": [[1.0]], "kinds": [0, 0], "other_radii": 1.0}, ValueError, "leave out other_radii"),
        ({"cutoffs": [[1.0]], "kinds": [0]}, ValueError, r"kinds must be one kind.*2 points.*\(1,\)"),
        ({"cutoffs": [[1.0]], "kinds": [0, 1]}, ValueError, "kinds hold 1, but cutoffs has rows for 0 to 0"),
        ({"cutoffs": [[1.0]], "kinds": [0, -1]}, ValueError, "kinds hold -1"),
        ({"cutoffs": [[1.0]], "kinds": [0.5, 0]}, TypeError, "whole numbers or labels"),
        ({"cutoffs": [[1.0]], "kinds": ["a", "a"]}, TypeError, "is a matrix"),
        ({"cutoffs": [1.0], "kinds": [0, 0]}, ValueError, r"square matrix.*\(1,\)"),
        (
            {"cutoffs": [[1, 2], [3, 1]], "kinds": [0, 0]},
            ValueError,
            r"cutoffs\[0, 1\] = 2, but cutoffs\[1, 0\] = 3",
        ),
        ({"cutoffs": [[-1.0]], "kinds": [0, 0]}, ValueError, r"cutoffs\[0, 0\] = -1"),
        ({"cutoffs": {("a", "a"): np.nan}, "kinds": "a"}, ValueError, r"cutoffs\[\('a', 'a'\)\] = nan"),
        ({"cutoffs": {"aa": 1.0}, "kinds": "a"}, ValueError, "pairs of kinds as keys"),
        (
            {"cutoffs": {(0, 0): 1.0}, "kinds": "a"},
            TypeError,
            r"key \(0, 0\), but kinds are labels such as 'a'",
        ),
        ({"cutoffs": {("a", "b"): 1, ("b", "a"): 2}, "kinds": "a"}, ValueError, "give one"),
        (
            {"cutoffs": [[1.0]], "kinds": [0, 0, 0], "other": P},
            ValueError,
            "kinds must be a pair with other=",
        ),
        ({"cutoffs": {}, "kinds": (["a"] * 2, [0] * 2), "other": P}, TypeError, "both be whole numbers"),
        ({"r": 1.0, "other_radii": 1.0}, ValueError, "other_radii are those of other="),
        (
            {"r": 1.0, "other": P, "other_radii": [1.0]},
            ValueError,
            "other_radii must be a number, or one for each",
        ),
        ({"r": 1.0, "other": P, "other_radii": [1.0, -1.0]}, ValueError, r"other_radii\[1\] = -1"),
        ({"r": ([], [1, 2])}, ValueError, "there is no other="),
    ],
)
def test_errors(arguments, error, said):
    with pytest.raises(error, match=said):
        bp.neighbors(P, **arguments)


@pytest.mark.parametrize("line", [np.arange(5.0), np.arange(5.0)[:, None], list(range(5))])
def test_points_on_a_line_are_told_what_to_do(line):
    for search in (bp.neighbors, bp.nearest, bp.count_neighbors):
        with pytest.raises(ValueError, match=r"points on a line.*np\.column_stack"):
            search(line, 1)
    plane = np.column_stack((line, np.zeros(len(line))))
    assert len(bp.neighbors(plane, 1.0, period=(5, None))) == 5


def test_counts_refuse_what_neighbors_refuses():
    assert bp.count_neighbors(P, [], exclude=[[0, 1]]).tolist() == []
    with pytest.raises(ValueError, match="images must be 'nearest' or 'all'; got 'none'"):
        bp.count_neighbors(P, 1.0, images="none")
    with pytest.raises(ValueError, match=r"r\[1\] = -1"):
        bp.count_neighbors(P, [1.0, -1.0], exclude=[[0, 1]])
    with pytest.raises(ValueError, match="names row 2"):
        bp.count_neighbors(P, 1.0, exclude=[[0, 2]])
