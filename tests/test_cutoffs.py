"""Cutoffs by pair of kinds and radii of the others, against a comparison of each pair and plain searches."""

import numpy as np
import pytest

import broadphase as bp

LABELS = np.array(["C", "H", "O"])
LENGTHS = np.array([[0.30, 0.12, 0.0], [0.12, 0.05, 0.21], [0.0, 0.21, 0.17]])
BY_PAIR = {
    (str(a), str(b)): LENGTHS[i, j] for i, a in enumerate(LABELS) for j, b in enumerate(LABELS) if i <= j
}
LATTICE = np.array([[1.0, 0.0, 0.0], [0.2, 1.0, 0.0], [0.1, -0.1, 1.0]])


def scene(n, dtype, seed=0, dim=3):
    random = np.random.default_rng((seed, n))
    return random.random((n, dim)).astype(dtype), random.integers(0, 3, n)


def those_within(near, kinds, others, lengths=LENGTHS):
    """The pairs of a wide search that the cutoffs let through."""
    keep = near.distance <= lengths[kinds[near.i], others[near.j]].astype(near.distance.dtype)
    columns = [near.i, near.j, near.distance, near.offset, near.shift]
    return [None if column is None else column[keep] for column in columns]


def check(found, expected):
    for column, wanted in zip(
        (found.i, found.j, found.distance, found.offset, found.shift), expected, strict=True
    ):
        if wanted is None:
            assert column is None
        else:
            np.testing.assert_array_equal(column, wanted)


SPACES = {
    "plain": {},
    "period": {"period": (1, None, 1)},
    "lattice": {"period": LATTICE},
    "images": {"period": LATTICE, "images": "all"},
    "small cells": {"period": 0.2 * LATTICE, "images": "all"},
    "both": {"half": False, "r_min": 0.1},
}


@pytest.mark.parametrize("space", SPACES)
@pytest.mark.parametrize("n", [0, 1, 2, 17, 300])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_cutoffs(space, n, dtype):
    points, kinds = scene(n, dtype)
    if space == "small cells":
        points, kinds = 0.2 * points[:20], kinds[:20]
    how = {**SPACES[space], "offsets": True}
    expected = those_within(bp.neighbors(points, 0.3, **how), kinds, kinds)
    for cutoffs, of_points in ((LENGTHS, kinds), (BY_PAIR, LABELS[kinds]), (BY_PAIR, list(LABELS[kinds]))):
        check(bp.neighbors(points, cutoffs=cutoffs, kinds=of_points, **how), expected)
    if n == 300:
        assert len(expected[0]) > 20


def test_every_pair_is_compared():
    points, kinds = scene(200, np.float64)
    distance = np.linalg.norm(points[:, None] - points, axis=2)
    expected = np.argwhere(np.triu(distance <= LENGTHS[kinds[:, None], kinds], 1))
    near = bp.neighbors(points, cutoffs=LENGTHS, kinds=kinds)
    np.testing.assert_array_equal(np.stack((near.i, near.j), axis=1), expected)


@pytest.mark.parametrize("space", ["plain", "period", "lattice", "images"])
def test_cutoffs_of_others(space):
    (points, kinds), (others, other_kinds) = scene(60, np.float64), scene(90, np.float64, 1)
    how = {
        **SPACES[space],
        "other": others,
        "offsets": True,
        "exclude": [[0, 1], [3, 3]],
        "exclude_self": True,
    }
    expected = those_within(bp.neighbors(points, 0.3, **how), kinds, other_kinds)
    check(bp.neighbors(points, cutoffs=LENGTHS, kinds=(kinds, other_kinds), **how), expected)
    labels = [LABELS[kinds], LABELS[other_kinds]]
    check(bp.neighbors(points, cutoffs=BY_PAIR, kinds=labels, **how), expected)
    one = bp.neighbors(points[0], cutoffs=BY_PAIR, kinds=[LABELS[kinds[0]], labels[1]], other=others)
    wide = bp.neighbors(points[0], 0.3, other=others)
    assert one.j.tolist() == those_within(wide, kinds[:1], other_kinds)[1].tolist()


@pytest.mark.parametrize("period", [None, (1, 1, 1), [(1, None, 1), (2, 2, 2), (1, 2, 3)]])
def test_cutoffs_of_environments(period):
    points, kinds = scene(150, np.float32)
    env = np.random.default_rng(3).integers(0, 3, 150)
    how = {"period": period, "offsets": True}
    expected = those_within(bp.neighbors(points, 0.3, env=env, **how), kinds, kinds)
    check(bp.neighbors(points, cutoffs=LENGTHS, kinds=kinds, env=env, **how), expected)
    worlds = points.reshape(3, 50, 3)
    expected = those_within(bp.neighbors(worlds, 0.3, **how), kinds, kinds)
    check(bp.neighbors(worlds, cutoffs=LENGTHS, kinds=kinds.reshape(3, 50), **how), expected)
    if period is None:
        env[::7] = -1
        expected = those_within(bp.neighbors(points, 0.3, env=env), kinds, kinds)
        check(bp.neighbors(points, cutoffs=LENGTHS, kinds=kinds, env=env), expected)


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


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("period", [None, (1, 1, 1)])
def test_radii_of_others(dtype, period):
    points, others = scene(40, dtype)[0], scene(90, dtype, 1)[0]
    radii, other_radii = (np.random.default_rng(n).random(n) * 0.2 for n in (40, 90))
    for own, theirs in ((radii, other_radii), (0.1, other_radii), (radii, 0.1), (0.1, 0.05)):
        expected = bp.neighbors(points, (own, theirs), other=others, period=period)
        found = bp.neighbors(points, own, other_radii=theirs, other=others, period=period)
        assert all(map(np.array_equal, found, expected))
        assert len(found) > 20
    # A tuple is then the radii of two points.
    found = bp.neighbors(points[:2], (0.3, 0.1), other=others, other_radii=0.1)
    assert all(map(np.array_equal, found, bp.neighbors(points[:2], [0.4, 0.2], other=others)))


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


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("space", ["plain", "period", "lattice", "images", "small cells"])
@pytest.mark.parametrize("n", [0, 2, 17, 300])
def test_counts_of_images_and_without_excluded_pairs(dtype, space, n):
    points = scene(n, dtype)[0] * (dtype(0.2) if space == "small cells" else dtype(1))
    points = points[:20] if space == "small cells" else points
    exclude = np.array([[0, 1], [1, 0], [1, 1]] if n else []).reshape(-1, 2).astype(int)
    how = SPACES[space]
    for excluded in (None, exclude):
        wide = bp.neighbors(points, 0.3, exclude=excluded, **how)
        lengths = [0.3, 0.0, 0.11, *wide.distance[:3].astype(float)]
        expected = [len(bp.neighbors(points, r, exclude=excluded, **how)) for r in lengths]
        found = bp.count_neighbors(points, lengths, exclude=excluded, **how)
        assert (found.dtype, found.tolist()) == (np.int64, expected)
        assert bp.count_neighbors(points, 0.3, exclude=excluded, **how) == len(wide)
    others = scene(9, dtype, 2)[0]
    expected = len(bp.neighbors(points, 0.3, other=others, exclude=exclude, **how))
    assert bp.count_neighbors(points, 0.3, other=others, exclude=exclude, **how) == expected


def test_counts_refuse_what_neighbors_refuses():
    assert bp.count_neighbors(P, [], exclude=[[0, 1]]).tolist() == []
    with pytest.raises(ValueError, match="images must be 'nearest' or 'all'; got 'none'"):
        bp.count_neighbors(P, 1.0, images="none")
    with pytest.raises(ValueError, match=r"r\[1\] = -1"):
        bp.count_neighbors(P, [1.0, -1.0], exclude=[[0, 1]])
    with pytest.raises(ValueError, match="names row 2"):
        bp.count_neighbors(P, 1.0, exclude=[[0, 2]])
