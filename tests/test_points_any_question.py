"""`neighbors`, `nearest`, `count_neighbors`, `PointIndex`: all that goes together, against all images.

A question is drawn from a seed: dimension, dtype, how many points and others, a period or cells of any kind,
environments, radii, cutoffs, what does not count, images.  Coordinates and vectors are multiples of 1/8, so
that nothing is rounded before the root, and brute force says the same to the bit.
"""

import itertools
import pickle

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from space_oracle import same_env

import broadphase as bp

LABELS = np.array(["C", "H", "O"])
SIZES = (0, 1, 2, 5, 16, 17, 40, 90)
MANY = 530  # so many that they are sorted, whatever is asked
PERIODS = ("none", "lengths", "some lengths", "cell", "slab", "lengths of worlds", "cells of worlds")


def eighths(random, least, most, shape):
    return random.integers(8 * least, 8 * most + 1, shape) / 8


class Question:
    """Points, others or None, and how they are asked for; what brute force says of them."""

    def __init__(self, seed, period=None, images=None, many=False):
        self.random = random = np.random.default_rng(seed)
        self.dim, self.dtype = int(random.integers(2, 4)), random.choice([np.float32, np.float64])
        self.images = images or random.choice(["nearest", "nearest", "all"])
        sizes = (MANY, 60) if many else [n for n in SIZES if n <= 40 or self.images == "nearest"]
        n, m = (many and MANY) or int(random.choice(sizes)), int(random.choice(sizes))
        self.among = random.random() < 0.5
        self.worlds, self.many = 3, many
        self.kind = period or random.choice(PERIODS)
        self.cells, self.period = self._period(self.kind)
        self.points = self._places(n)
        self.others = self.points if self.among else self._places(m)
        self.env = self._environments(len(self.points), len(self.others))
        self.how = {"period": self.period}
        if not self.among:
            self.how["other"] = self.others
        if self.env is not None:
            self.how["env"] = self.env[0] if self.among else self.env
        if self.images == "all":
            self.how["images"] = "all"
        self.excluded = self._excluded()
        self.nearest_images = None

    # ---- what is asked

    def _period(self, kind):
        """A matrix for each environment, zeros where there is no vector; and the period as users give it."""
        random, dim = self.random, self.dim
        lengths = eighths(random, 2, 5, (self.worlds, dim))
        if self.images == "all" and "worlds" not in kind:
            lengths /= 2
        elif self.images == "nearest":
            lengths += 6 * np.eye(self.worlds, dim)
        skews = np.tril(eighths(random, -1, 1, (self.worlds, dim, dim)), -1)
        cells = lengths[:, :, None] * np.eye(dim) + skews
        if "worlds" in kind:
            if kind == "lengths of worlds":
                cells = cells - skews
                # Positive numbers of this shape may also be a cell, so they are written as cells.
                return cells, lengths if dim != self.worlds else [np.diag(one).tolist() for one in lengths]
            return cells, cells
        cell = cells[0] if kind in ("cell", "slab") else np.diag(lengths[0])
        if kind == "none":
            return np.zeros((self.worlds, dim, dim)), None
        if kind == "lengths":
            return np.stack([cell] * self.worlds), tuple(lengths[0].tolist())
        if kind == "cell":
            given = cell.copy()
            for _ in range(3 * (self.images == "nearest")):  # the same lattice
                one, other = random.permutation(dim)[:2]
                given[one] += int(random.integers(-40, 41)) * given[other]
            # Positive numbers could also be lengths of worlds.
            cell, given = (-cell, -given) if (given >= 0).all() else (cell, given)
            return np.stack([cell] * self.worlds), given
        gone = random.permutation(dim)[: random.integers(1, dim)]
        cell[gone] = 0.0
        rows = [row.tolist() if row.any() else None for row in cell]
        if kind == "some lengths":
            none = (None, np.inf)[int(random.integers(2))]
            rows = [none if row is None else max(row) for row in rows]
        return np.stack([cell] * self.worlds), rows

    def _places(self, n):
        """Around a world; some at one place."""
        near = max(1, round((n / 8) ** (1 / self.dim)))
        places = eighths(self.random, -near, 2 * near, (n, self.dim))
        places[: n // 6] = places[-1:]
        return places.astype(self.dtype)

    def _environments(self, n, m):
        own_periods = "worlds" in self.kind
        if not own_periods and self.random.random() < 0.5:
            return None
        least = 0 if own_periods else -1
        own = self.random.integers(least, self.worlds, n)
        both = own, own if self.among else self.random.integers(least, self.worlds, m)
        return both if own_periods else tuple(np.array([0, -7, 10**12, -1])[env] for env in both)

    def _excluded(self):
        """Pairs of rows that do not count, or None."""
        n, m = len(self.points), len(self.others)
        if not n * m or (not self.many and self.random.random() < 0.6):
            return None
        return np.stack((self.random.integers(0, n, 9), self.random.integers(0, m, 9)), axis=1)

    def reach(self):
        """Arguments for `neighbors`, and the largest distance of each two rows."""
        random, n, m = self.random, len(self.points), len(self.others)
        choice = random.integers(2 if self.images == "all" else 6)
        if choice == 0:
            r = float(random.choice([0.0, 0.125, 1.0, 2.5] + [np.inf, 7.0] * (self.images == "nearest")))
            return {"r": r}, np.full((n, m), r)
        if choice == 1:
            kinds, other_kinds = random.integers(0, 3, n), random.integers(0, 3, m)
            lengths = eighths(random, 0, 2, (3, 3))
            lengths = np.maximum(lengths, lengths.T)
            if self.among:
                other_kinds = kinds
            both = kinds if self.among else (kinds, other_kinds)
            given = {"cutoffs": lengths, "kinds": both}
            if random.random() < 0.5:
                named = {(a, b): lengths[i, j] for i, a in enumerate(LABELS) for j, b in enumerate(LABELS)}
                both = LABELS[kinds] if self.among else (LABELS[kinds], LABELS[other_kinds])
                given = {"cutoffs": named, "kinds": both}
            return given, lengths[kinds[:, None], other_kinds]
        own, theirs = (random.integers(0, 16, count) / 16 for count in (n, m))
        own[:1] = 4.0
        if self.among:
            return {"r": own}, own[:, None] + own
        if choice == 2:
            return {"r": own}, np.broadcast_to(own[:, None], (n, m))
        if choice == 3:
            return {"r": (0.5, theirs)}, np.broadcast_to(0.5 + theirs, (n, m))
        given = {"r": (own, theirs)} if choice == 4 else {"r": own, "other_radii": theirs}
        return given, own[:, None] + theirs

    # ---- what is right

    def images_of(self, farthest):
        """Distances ``(n, m, images)`` and the shifts of the images: all, or the nearest of each two."""
        if self.images == "nearest" and self.nearest_images:
            return self.nearest_images
        n, m = len(self.points), len(self.others)
        way = self.others.astype(float)[None] - self.points.astype(float)[:, None]
        worlds = np.zeros((n, m), int)
        if self.env is not None:
            worlds = np.maximum(self.env[0][:, None], self.env[1]).clip(0, self.worlds - 1)
        base, inverses = np.empty(way.shape), np.linalg.pinv(self.cells)
        for world, (cell, inverse) in enumerate(zip(self.cells, inverses, strict=True)):
            own = worlds == world
            base[own] = -np.rint(way[own] @ inverse)
            way[own] += base[own] @ cell
        # The nearest image of such cells is at most one away, without skews none; of all, those within reach.
        most = int((np.count_nonzero(self.cells, axis=2) > 1).any())
        if self.images == "all":
            most = 2 + int(np.ceil(farthest * np.abs(inverses).sum(1).max()))
        squares, shifts = [], []
        for step in itertools.product(
            *(range(-most, most + 1) if a else (0,) for a in self.cells.any((0, 2)))
        ):
            ways = np.array(step, float) @ self.cells
            end = way + (ways[worlds] if "worlds" in self.kind else ways[0])
            squares.append(np.einsum("ijk,ijk->ij", end, end))
            shifts.append(base + step if self.images == "all" else None)
        if self.images == "nearest":
            self.nearest_images = np.sqrt(np.minimum.reduce(squares))[:, :, None], base[:, :, None]
            return self.nearest_images
        return np.sqrt(np.stack(squares, axis=2)), np.stack(shifts, axis=2).astype(int)

    def counted(self, distances, shifts, exclude_self):
        """Which images may count at all."""
        n, m = distances.shape[:2]
        may = np.ones((n, m), bool)
        if self.env is not None:
            may &= same_env(self.env[0][:, None], self.env[1])
        if self.excluded is not None:
            may[self.excluded[:, 0], self.excluded[:, 1]] = False
            if self.among:
                may[self.excluded[:, 1], self.excluded[:, 0]] = False
        may = np.repeat(may[:, :, None], distances.shape[2], axis=2)
        if self.among or exclude_self:
            own = np.arange(min(n, m))
            may[own, own] &= (shifts[own, own] != 0).any(axis=-1) if self.images == "all" else False
        return may


def listed(near, columns):
    """The rows of a result: ``i, j`` and, with all images, the shift."""
    columns = [near.i, near.j] + ([] if columns is None else list(columns.T))
    return list(zip(*(column.tolist() for column in columns), strict=True))


def check_neighbors(question):
    random, how = question.random, dict(question.how)
    asked, reach = question.reach()
    limited = reach[np.isfinite(reach)]
    distances, shifts = question.images_of(float(limited.max(initial=0.0)))
    exclude_self = not question.among and random.random() < 0.4
    counts = question.counted(distances, shifts, exclude_self) & (distances <= reach[:, :, None])
    least = float(random.choice([0.0, 0.0, 0.5, 1.0]))
    all_counts, counts = counts, counts & (distances >= least)
    half = bool(random.integers(2)) if question.among else True
    exclude = {} if question.excluded is None else {"exclude": question.excluded}
    more = {
        "half": half,
        "sort": not question.many and bool(random.integers(2)),
        "threads": int(random.integers(1, 3)),
    }
    more |= exclude | {"exclude_self": exclude_self} | ({"r_min": least} if least else {})
    near = bp.neighbors(question.points, **asked, **how, **more, offsets=True)

    i, j, image = np.nonzero(counts)
    every = question.images == "all"
    keys = list(map(tuple, np.column_stack((i, j, shifts[i, j, image]) if every else (i, j)).tolist()))
    right = dict(zip(keys, distances[i, j, image].astype(question.dtype).tolist(), strict=True))
    assert len(right) == len(keys)
    rows = listed(near, near.shift if every else None)
    found = dict(zip(rows, near.distance.tolist(), strict=True))
    if question.among and half:  # each pair once; where shifts tell two ends apart, from either
        turned = {(b, a, *(-one for one in shift)): d for (a, b, *shift), d in found.items()}
        assert not found.keys() & turned.keys()
        assert (near.i <= near.j).all()
        found |= turned
    assert found == right
    assert len(rows) == len(right) // (2 if question.among and half else 1)
    if more["sort"] or not half:
        pairs = near.i.astype(np.int64) * (len(question.others) + 1) + near.j
        assert (np.diff(pairs) >= (0 if every else 1)).all()
    assert (near.i.dtype, near.j.dtype) == (np.int32, np.int32)
    assert near.distance.dtype == near.offset.dtype == question.dtype
    # An offset leads to an image that is as near; several may be.
    assert_allclose(np.linalg.norm(near.offset.astype(float), axis=1), near.distance, rtol=1e-6)
    worlds = np.zeros(len(near), int)
    if question.env is not None:
        worlds = np.maximum(question.env[0][near.i], question.env[1][near.j]).clip(0, question.worlds - 1)
    cells = question.cells[worlds]
    rest = question.others[near.j].astype(float) - question.points[near.i] - near.offset
    steps = np.einsum("nd,nde->ne", rest, np.linalg.pinv(question.cells)[worlds]) if len(near) else rest
    assert_allclose(steps, np.rint(steps), atol=1e-4)
    assert_allclose(np.einsum("nd,nde->ne", np.rint(steps), cells), rest, atol=1e-4)
    length = np.where(near.distance > 0, near.distance, 1)[:, None]
    assert_allclose(near.unit, near.offset / length, rtol=1e-5, atol=1e-6)

    lists = near.csr()
    ends = [(near.i, near.j, near.distance, near.offset), (near.j, near.i, near.distance, -near.offset)]
    ends = ends[: 1 + (question.among and half)]
    i, j, distance, offset = (np.concatenate(columns) for columns in zip(*ends, strict=True))
    shift = np.concatenate((near.shift, -near.shift)[: len(ends)]) if every else np.zeros((len(i), 1))
    listed_i = np.repeat(np.arange(len(question.points)), np.diff(lists.indptr))
    order = np.lexsort((*shift.T, j, i))
    again = np.lexsort((*(lists.shifts if every else shift).T, lists.indices, listed_i))
    assert_array_equal(listed_i, i[order])
    for found, wanted in (
        (lists.indices, j),
        (lists.distances, distance),
        (lists.offsets, offset),
        *([(lists.shifts, shift)] if every else []),
    ):
        assert_array_equal(found[again], wanted[order])

    plain = bp.neighbors(question.points, **asked, **how, **more)
    assert plain.offset is None
    assert sorted(listed(plain, plain.shift if every else None)) == sorted(rows)
    if not least:
        assert len(bp.neighbors(question.points, **asked, **how, **more, max_pairs=len(near))) == len(near)
        if len(near):
            with pytest.raises(bp.PairLimitExceeded) as refused:
                bp.neighbors(question.points, **asked, **how, **more, max_pairs=len(near) - 1)
            assert refused.value.max_pairs == len(near) - 1
    if isinstance(asked.get("r"), float) and not exclude_self:
        lengths = [asked["r"], 0.0, 0.75, asked["r"]]
        lengths = [r for r in lengths if r <= asked["r"]]
        right = [np.count_nonzero(all_counts & (distances <= r)) for r in lengths]
        right = [count // (2 if question.among else 1) for count in right]
        assert bp.count_neighbors(question.points, lengths, **how, **exclude).tolist() == right
        assert bp.count_neighbors(question.points, asked["r"], **how, **exclude) == right[0]


def check_nearest(question):
    random, how = question.random, dict(question.how)
    every, n = question.images == "all", len(question.points)
    r = float(random.choice([1.0, 2.5] if every else [0.5, 2.5, np.inf]))
    least, k = float(random.choice([0.0, 0.0, 0.75])), int(random.choice([1, 3, 9, 70]))
    distances, shifts = question.images_of(r)
    exclude_self = not question.among and random.random() < 0.4
    counts = question.counted(distances, shifts, exclude_self)
    distances = np.where(counts & (distances <= r) & (distances >= least), distances, np.inf)
    ids = np.broadcast_to(np.arange(len(question.others))[None, :, None], distances.shape)
    columns = distances[:1].size if n else 0
    ids, distances, shifts = (
        array.reshape(n, columns, *array.shape[3:]) for array in (ids, distances, shifts)
    )
    wanted = np.full((n, k), -1), np.full((n, k), np.inf, question.dtype), np.zeros((n, k, question.dim))
    for row in range(n):
        keys = (*(shifts[row].T[::-1] if every else ()), ids[row], distances[row])
        order = np.lexsort(keys)[:k]
        order = order[np.isfinite(distances[row, order])]
        wanted[0][row, : len(order)] = ids[row, order]
        wanted[1][row, : len(order)] = distances[row, order]
        if every:
            wanted[2][row, : len(order)] = shifts[row, order]
    more = {"r": r, "exclude_self": exclude_self, "threads": int(random.integers(1, 3))}
    more |= {} if question.excluded is None else {"exclude": question.excluded}
    more |= {"r_min": least} if least else {}
    near = bp.nearest(question.points, k, **how, **more)
    assert_array_equal(near.ids, wanted[0])
    assert_array_equal(near.distances, wanted[1])
    assert (near.ids.dtype, near.distances.dtype) == (np.int32, question.dtype)
    assert (near.shift is not None) == every
    some = bp.nearest(question.points, [k, 1], **how, **more)
    assert_array_equal(some.ids, near.ids[:, [k - 1, 0]])
    if every:
        held = near.ids >= 0
        assert_array_equal(near.shift[held], wanted[2][held])
        assert_array_equal(some.shift, near.shift[:, [k - 1, 0]])


def check_shapes(question):
    """Rows of worlds, one point, and an index of the others: what the same call says of rows."""
    if question.images == "all" or not len(question.points):
        return
    random, how = question.random, dict(question.how)
    r, k = float(random.choice([0.5, 2.0])), int(random.choice([1, 4]))
    if question.env is None and len(question.points) % question.worlds == 0 and question.among:
        n = len(question.points) // question.worlds
        worlds, env = question.points.reshape(question.worlds, n, -1), np.repeat(range(question.worlds), n)
        for one, other in zip(
            bp.neighbors(worlds, r, **how), bp.neighbors(question.points, r, env=env, **how), strict=True
        ):
            assert_array_equal(one, other)
        found = bp.nearest(question.points, k, env=env, **how).ids
        assert_array_equal(bp.nearest(worlds, k, **how).ids, found.reshape(question.worlds, n, k))
    if question.among:
        return
    others, env = question.others, question.env
    index = bp.PointIndex(dim=question.dim, dtype=question.dtype, period=question.period)
    own = {} if env is None else {"env": np.concatenate((np.zeros(3, int), env[1]))}
    index.insert_many(np.concatenate((np.zeros((3, question.dim), question.dtype), others)), **own)
    index.neighbors(others[:1], 0.25, **({} if env is None else {"env": env[1][:1]}))  # what it keeps changes
    index.remove_many([0, 1, 2])
    if random.integers(2):
        index = pickle.loads(pickle.dumps(index))
    asked = {} if env is None else {"env": env[0]}
    more = {"r_min": float(random.choice([0.0, 0.5])), "exclude_self": bool(random.integers(2))}
    near = index.neighbors(question.points, r, offsets=True, **more, **asked)
    right = bp.neighbors(question.points, r, offsets=True, **more, **how)
    for found, wanted in zip((*near, near.offset), (*right, right.offset), strict=True):
        assert_array_equal(found, wanted + 3 if wanted is right.j else wanted)
        assert found.dtype == wanted.dtype
    alone = {"exclude_self": more["exclude_self"]}
    nearest = index.nearest(question.points, k, **alone, **asked)
    wanted = bp.nearest(question.points, k, **alone, **how)
    assert_array_equal(nearest.ids, np.where(wanted.ids < 0, -1, wanted.ids + 3))
    assert_array_equal(nearest.distances, wanted.distances)
    chosen, alone_nearest = near, nearest
    near, nearest = index.neighbors(question.points, r, **asked), index.nearest(question.points, k, **asked)
    point = question.points[-1]
    at = near.i == len(question.points) - 1
    for place in (point, tuple(point.tolist())) if question.dtype == np.float64 else (point,):
        own = {} if env is None else {"env": int(env[0][-1])}
        one = how if env is None else how | {"env": ([env[0][-1]], env[1])}
        answers = [
            (3, index.neighbors(place, r, **own), index.nearest(place, k, **own)),
            (0, bp.neighbors(place, r, **one), bp.nearest(place, k, **one)),
        ]
        if env is None:  # indexes that were just made: this is the first that they are asked
            new = [bp.PointIndex(others, dim=question.dim, period=question.period) for _ in range(2)]
            answers.append((0, new[0].neighbors(place, r), new[1].nearest(place, k)))
            for made, first in zip(new, (True, False), strict=True):
                for _ in range(40):  # by then it has a tree
                    place = tuple(place) if first else place
                    assert_array_equal(made.nearest(place, k).ids, answers[-1][2].ids)
                    assert_array_equal(made.neighbors(place, r).j, answers[-1][1].j)
        for ids, around, nearby in answers:
            assert_array_equal(around.j - ids, near.j[at] - 3)
            assert_array_equal(around.distance, near.distance[at])
            assert_array_equal(np.where(nearby.ids < 0, -1, nearby.ids - ids + 3), nearest.ids[-1])
            assert_array_equal(nearby.distances, nearest.distances[-1])
    for how_more, known, nearby in ({}, near, nearest), (more, chosen, alone_nearest):
        if env is None:
            made, other = (bp.PointIndex(others, dim=question.dim, period=question.period) for _ in range(2))
            around = made.neighbors(question.points, r, **how_more)
            how_more = {name: value for name, value in how_more.items() if name == "exclude_self"}
            found = other.nearest(question.points, k, **how_more)
            for array, wanted in (
                (around.i, known.i),
                (around.j, known.j - 3),
                (around.distance, known.distance),
                (found.ids, np.where(nearby.ids < 0, -1, nearby.ids - 3)),
                (found.distances, nearby.distances),
            ):
                assert_array_equal(array, wanted)
                assert array.dtype == wanted.dtype


def check(*seed, **chosen):
    question = Question(seed, **chosen)
    check_neighbors(question)
    check_nearest(question)
    check_shapes(question)


@pytest.mark.parametrize("images", ["nearest", "all"])
@pytest.mark.parametrize("period", PERIODS)
def test_any_question(each, period, images):
    turn = 3 * PERIODS.index(period) + (images == "all")
    each(
        lambda seed: check(seed, turn, period=period, images=images),
        range(600),
        of=60,
        turn=turn,
    )


@pytest.mark.parametrize("period", PERIODS)
def test_any_question_of_many(each, period):
    turn = PERIODS.index(period)
    each(
        lambda seed: check(seed, turn, period=period, images="nearest", many=True),
        range(20),
        of=20,
        turn=turn,
    )
