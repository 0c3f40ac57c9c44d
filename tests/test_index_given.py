"""One question, one move: what the kernels read themselves is read as Python reads it, and refused as there.

What a kernel refuses takes the general path, through `arguments.Reader`.
"""

import gc
import sys
import tracemalloc
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest

import broadphase as bp
from broadphase.indexes import box_tree, brute_force, space

pytestmark = pytest.mark.covering(together=2)
QUICK = ["auto", "strips", "box_tree", "spatial_hash", "uniform_grid"]
HUGE = 10**400


class Meters(float):
    """A float by another name."""


class Number:
    """What only says how it becomes a float."""

    def __init__(self, value):
        self.value = value

    def __float__(self):
        return float(self.value)


class Pair(tuple):
    """A tuple by another name."""


class Array(np.ndarray):
    """An array by another name."""


def boxes_of(dim, count=60):
    low = np.random.default_rng(7).integers(0, 40, (count, dim)).astype(float)
    side = np.random.default_rng(8).integers(1, 9, (count, dim))
    side[::20] = 30
    low[::20] = 5
    return np.hstack((low, low + side))


@pytest.fixture(params=[(2, "f8"), (2, "f4"), (3, "f8"), (3, "f4")], ids=lambda p: f"{p[0]}d-{p[1]}")
def kind(request):
    return request.param


@pytest.fixture(params=[True, False], ids=["touching", "inside"])
def touching(request):
    return request.param


@pytest.fixture(params=QUICK)
def both(request, kind, touching):
    """An index of a kind, and one by brute force, with the same content."""
    dim, dtype = kind
    found = [
        bp.make_index(name, dim=dim, dtype=dtype, touching=touching)
        for name in (request.param, "brute_force")
    ]
    for index in found:
        index.insert_many(boxes_of(dim))
    return found


def writings(values):
    """The same numbers in many forms; each is a whole number."""
    plain = [float(value) for value in values]
    yield tuple(plain)
    yield list(plain)
    yield [int(value) for value in values]
    yield (int(plain[0]), *plain[1:])
    yield tuple(map(np.float64, plain))
    yield tuple(map(np.float32, plain))
    yield list(map(np.int32, plain))
    yield tuple(map(Meters, plain))
    yield tuple(map(Number, plain))
    yield tuple(map(Fraction, plain))
    yield tuple(map(Decimal, plain))
    yield Pair(plain)
    for dtype in ("f8", "f4", "i8", "u1", ">f8", object):
        yield np.array(plain, dtype)
    yield np.repeat(plain, 2)[::2]
    yield np.array(plain).view(Array)
    fixed = np.array(plain)
    fixed.flags.writeable = False
    yield fixed


def outcome(call):
    """What a call gives, or how it fails, so that two can be compared."""
    try:
        result = call()
    except Exception as error:
        return type(error), str(error)
    parts = result if isinstance(result, tuple) else (result,)
    return [(type(part), np.asarray(part).dtype, np.asarray(part).tolist()) for part in parts]


def answers(index, call, *arguments):
    return outcome(lambda: getattr(index, call)(*arguments)), index.stats.call, index.stats.pairs


def test_every_form_of_a_query_is_read_correctly(both):
    dim = both[0].dim
    low, high = [10.0] * dim, [22.0] * dim
    for call, values in (("query_box", low + high), ("query_point", low), ("nearest", [45.0] * dim)):
        found = [answers(both[1], call, values)]
        assert found[0][2] > 0
        for written in writings(values):
            for index in both:
                found.append(answers(index, call, written))
        assert all(one == found[0] for one in found), call


def test_every_form_of_a_ray_is_read_correctly(both):
    dim = both[0].dim
    origin, direction = [50.0] * dim, [-3.0, -2.0, -2.0][:dim]
    expected = answers(both[1], "raycast", origin, direction)
    assert expected[2] == 1
    for at in writings(origin):
        assert answers(both[0], "raycast", at, direction) == expected
    negative = [motion for motion in writings([3.0, 2.0, 2.0][:dim]) if not isinstance(motion, np.ndarray)]
    for motion in [*negative, np.array([3.0, 2.0, 2.0][:dim])]:
        assert answers(both[0], "raycast", [-9.0] * dim, motion) == answers(
            both[1], "raycast", [-9.0] * dim, motion
        )
    for max_distance in (
        0,
        1,
        30.0,
        1e300,
        np.inf,
        np.float32(40),
        Fraction(81, 2),
        True,
        HUGE,
        -1,
        np.nan,
        "far",
    ):
        given = (origin, direction, max_distance)
        assert answers(both[0], "raycast", *given) == answers(both[1], "raycast", *given), max_distance


def wrong(values):
    """What is no such question, or may be none."""
    nan, inf = float("nan"), float("inf")
    whole = [float(value) for value in values]
    for place in range(len(whole)):
        for bad in (nan, inf, -inf, HUGE, -HUGE, 1e39, -1e39, "1", None, 1j, [1.0], b"1", np.float32("nan")):
            yield [*whole[:place], bad, *whole[place + 1 :]]
    yield from (whole[:-1], [*whole, 1.0], whole[: len(whole) // 2], whole + whole, [], ())
    yield from (np.array(3.0), 3.0, 3, None, "abcd", b"abcd", {}, {1, 2}, range(len(whole)), iter(()))
    yield from (np.array(whole, complex), np.array(["a"] * len(whole)), np.array(whole) > 0, np.zeros(0))
    yield from (np.zeros((1, 1, len(whole))), [whole, whole[:-1]], object, [object] * len(whole))
    yield from ([True] * len(whole), [0.0] * len(whole), [-0.0] * len(whole), whole[::-1])


def test_what_is_wrong_is_refused_in_the_same_words(both):
    dim = both[0].dim
    for call, values in (
        ("query_box", [10.0] * dim + [22.0] * dim),
        ("query_point", [10.0] * dim),
        ("nearest", [45.0] * dim),
    ):
        for given, again in zip(wrong(values), wrong(values), strict=True):
            assert answers(both[0], call, given) == answers(both[1], call, again), (call, given)


def test_a_ray_that_is_wrong_is_refused_in_the_same_words(both):
    dim = both[0].dim
    sound = [50.0] * dim, [-3.0, -2.0, -2.0][:dim]
    for place in range(2):
        for given, again in zip(wrong(sound[place]), wrong(sound[place]), strict=True):
            first, second = list(sound), list(sound)
            first[place], second[place] = given, again
            assert answers(both[0], "raycast", *first) == answers(both[1], "raycast", *second), given


def test_how_many_are_nearest(both):
    for k in (0, -1, 1, 2, 59, 60, 1000, True, 1.0, "1", None, np.int64(3)):
        quick, ordinary = (answers(index, "nearest", [3.0] * index.dim, k) for index in both)
        assert quick == ordinary, k


@pytest.mark.covering(together=2)
@pytest.mark.parametrize("static", [False, True])
@pytest.mark.parametrize("changes", [False, True])
def test_every_form_of_a_move_is_read_correctly(both, static, changes):
    dim = both[0].dim
    if static:
        for index in both:
            index.insert_many(boxes_of(dim) + 3.0, static=True)
    if changes:
        for index in both:
            index.changes()
    places = [[k % 40.0] * dim + [k % 40.0 + 2.0] * dim for k in range(0, 400, 7)]
    places += [[11.0] * dim + [11.5] * dim, [11.0] * dim + [39.0] * dim, [0.0] * dim + [1e30] * dim]
    for number, place in enumerate(places):
        for written in list(writings(place))[number % 4 :: 4] if max(place) < 200 else [place]:
            for index in both:
                index.move(number % 60, written)
        both[0].validate()
        assert np.array_equal(both[0].boxes, both[1].boxes)
        assert np.array_equal(both[0].query_box(place), both[1].query_box(place))
    assert np.array_equal(both[0].pairs(), both[1].pairs())
    if changes:
        assert np.array_equal(both[0].changes().began, both[1].changes().began)


def test_a_box_that_is_wrong_is_not_moved(both):
    dim = both[0].dim
    values = [10.0] * dim + [22.0] * dim
    for given, again in zip(wrong(values), wrong(values), strict=True):
        assert answers(both[0], "move", 4, given) == answers(both[1], "move", 4, again), given
        assert np.array_equal(both[0].boxes, both[1].boxes)
        both[0].validate()


def test_an_id_is_one_that_is_in_use(both):
    for index in both:
        index.remove(5)
    some = (-1, 60, 5, 2**31, 2**63, -(2**63) - 1, HUGE, 4.0, "4", None, True, np.int64(4))
    for number, own in enumerate(some):
        place = [1.0 + number] * both[0].dim + [2.0 + number] * both[0].dim
        quick, ordinary = (outcome(lambda index=index: index.move(own, place)) for index in both)  # noqa: B023
        assert quick == ordinary, own
        assert np.array_equal(both[0].boxes, both[1].boxes), own
        both[0].validate()


def trials():
    return [
        kernel
        for module in (box_tree, brute_force, space)
        for name, kernel in vars(module).items()
        if name.startswith("_try_")
    ]


def test_a_kernel_on_trial_answers_to_nothing_that_it_was_not_made_for():
    kernels = trials()
    assert len(kernels) == 7
    junk = [
        None,
        1,
        "x",
        (),
        (1.0,),
        np.zeros((2, 2)),
        np.zeros(3, np.int32),
        np.float64(1),
        [],
        {},
        object(),
    ]
    for kernel in kernels:
        assert kernel() is None
        for body in junk:
            for count in (1, 4, 5, 9, 10, 11, 12, 13):
                assert kernel(*[body] * count) is None


@pytest.mark.covering
def test_many_questions_leave_no_memory_behind(both):
    index, dim = both[0], both[0].dim
    place = [10.0] * dim + [11.0] * dim

    def query():
        for _ in range(15):
            index.query_box(place)
            index.query_box([-1.0] * dim + [100.0] * dim)
            index.nearest([3.0] * dim, 4)
            index.raycast([0.0] * dim, [1.0] * dim)
            with pytest.raises(ValueError, match=r"1\.8e308"):
                index.query_box([HUGE] * 2 * dim)
        for _ in range(15):  # warm up: a rebuilt tree keeps some memory for later
            index.move(7, place)
            with pytest.raises(TypeError):
                index.move(7, ["x"] * 2 * dim)

    def held():
        gc.collect()  # an error and the frames that it names hold each other
        return tracemalloc.get_traced_memory()[0]

    if sys.version_info < (3, 14):  # as in conftest.py: else each collection would look at all other modules
        gc.freeze()
    tracemalloc.start()
    try:
        # What is lost is lost in every round, 50 bytes each of 15 times; what Python and NumPy keep for later
        # fills up in up to twelve rounds.
        sizes = [0, 750]
        while sizes[-1] - sizes[-2] >= 750 and len(sizes) < 30:
            query()
            sizes.append(held())
        assert sizes[-1] - sizes[-2] < 750, sizes
    finally:
        tracemalloc.stop()
