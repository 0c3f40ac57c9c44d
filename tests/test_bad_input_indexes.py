"""Bad input is named, and leaves an index exactly as it was."""

import numpy as np
import pytest
from index_scenes import NAMES, make

import broadphase as bp
from broadphase.runtime.memory import Scratch

pytestmark = pytest.mark.smaller_set

NAN = float("nan")
BOX = [0, 0, 1, 1]


@pytest.fixture(params=NAMES)
def index(request):
    """Five boxes, of which 3 was removed; one pair known to `changes`, one not yet."""
    index = make(request.param)
    index.insert_many([BOX, [1, 1, 2, 2], [5, 5, 6, 6], [8, 8, 9, 9]], static=[True, False, False, True])
    index.changes()
    index.insert([5, 5, 7, 7], category=3, mask=5)
    index.remove(3)
    return index


def state(index):
    """All that a caller can learn, without disturbing it: the changes come from a copy."""
    return (
        len(index),
        index.ids.tolist(),
        index.boxes.tolist(),
        index.pairs().tolist(),
        [part.tolist() for part in index.copy().changes()],
        index.query_box([-99, -99, 99, 99]).tolist(),
        index.query_box([-99, -99, 99, 99], mask=2).tolist(),
        index.nearest([0, 0], 9).ids.tolist(),
        index.raycast([-1, 0.5], [1, 0]),
        index.copy().insert(BOX),
        repr(index),
    )


MISTAKES = [
    (lambda i: i.insert([0, 0, NAN, 1]), ValueError, r"box has max_x = nan"),
    (lambda i: i.insert([0, 5, 1, 1]), ValueError, r"box has min_y = 5 > max_y = 1"),
    (lambda i: i.insert([0, 0, 1]), ValueError, r"box must have shape \(4,\).*got shape \(3,\)"),
    (lambda i: i.insert([0, 0, 0, 1, 1, 1]), ValueError, r"box must have shape \(4,\).*got shape \(6,\)"),
    (lambda i: i.insert([BOX]), ValueError, r"box must be one box of shape \(4,\); got shape \(1, 4\)"),
    (lambda i: i.insert([]), ValueError, "box must be one box"),
    (lambda i: i.insert(["0", "0", "1", "1"]), TypeError, "box must hold real numbers"),
    (lambda i: i.insert(None), TypeError, "box must hold real numbers"),
    (lambda i: i.insert([0, 0, 1, 1j]), TypeError, "box must hold real numbers"),
    (lambda i: i.insert([[0, 0], 1]), ValueError, "box must be a rectangular array of numbers"),
    (lambda i: i.insert(BOX, category=-1), ValueError, "category = -1 does not fit into 32 bits"),
    (lambda i: i.insert(BOX, mask=2**32), ValueError, "mask = 4294967296 does not fit into 32 bits"),
    (lambda i: i.insert(BOX, mask=1.5), TypeError, "mask must be an integer; got 1.5"),
    (lambda i: i.insert(BOX, static=1), TypeError, "static must be True or False; got 1"),
    (lambda i: i.insert_many([BOX, [0, 0, -1, 1]]), ValueError, r"boxes\[1\] has min_x = 0 > max_x = -1"),
    (lambda i: i.insert_many(BOX), ValueError, r"boxes must have shape \(n, 4\)"),
    (lambda i: i.insert_many(np.zeros((2, 6))), ValueError, r"got shape \(2, 6\)"),
    (lambda i: i.insert_many([BOX, BOX], static=[True]), ValueError, "static must hold one entry for each"),
    (lambda i: i.insert_many([BOX, BOX], category=[1, -1]), ValueError, r"category\[1\] = -1 does not fit"),
    (lambda i: i.insert_many([BOX, BOX], mask=[1.0, 2.0]), TypeError, "mask must be integers"),
    (lambda i: i.remove(3), KeyError, "no box has the id 3"),
    (lambda i: i.remove(-1), KeyError, "no box has the id -1"),
    (lambda i: i.remove(10**30), KeyError, "no box has the id 1000"),
    (lambda i: i.remove("0"), TypeError, "id must be an integer; got '0'"),
    (lambda i: i.remove_many([0, 1, 3]), KeyError, r"no box has the id 3 \(ids\[2\]\)"),
    (lambda i: i.remove_many([0, 1, 0]), ValueError, r"ids\[2\] = 0 is named twice"),
    (lambda i: i.remove_many(np.array([0, 2**64 - 1], np.uint64)), KeyError, "no box has the id 1844"),
    (lambda i: i.remove_many([0, 2**32]), KeyError, "no box has the id 4294967296"),
    (lambda i: i.remove_many([0.0, 1.0]), TypeError, "ids must be integers"),
    (lambda i: i.remove_many(0), ValueError, r"ids must have shape \(k,\)"),
    (lambda i: i.remove_many(list(range(5)) * 5), KeyError, r"no box has the id 3 \(ids\[3\]\)"),
    (lambda i: i.remove_many([0, 1, 2, 4] * 5), ValueError, r"ids\[4\] = 0 is named twice"),
    (lambda i: i.move(3, BOX), KeyError, "no box has the id 3"),
    (lambda i: i.move(0, [0, NAN, 1, 1]), ValueError, "box has min_y = nan"),
    (lambda i: i.move_many([0, 1, 2], [BOX, [0, NAN, 1, 1], BOX]), ValueError, r"boxes\[1\] has min_y = nan"),
    (lambda i: i.move_many([0, 1, 3], [BOX] * 3), KeyError, r"no box has the id 3 \(ids\[2\]\)"),
    (lambda i: i.move_many([0, 1], [BOX] * 3), ValueError, "got 2 ids and 3 boxes"),
    (lambda i: i.move_many([1, 1], [BOX] * 2), ValueError, r"ids\[1\] = 1 is named twice"),
    (lambda i: i.update([BOX] * 3), ValueError, "boxes has 3 rows, but the index holds 4 boxes"),
    (lambda i: i.update([]), ValueError, "boxes has 0 rows, but the index holds 4 boxes"),
    (lambda i: i.update([BOX, BOX, BOX, [0, 0, 1, NAN]]), ValueError, r"boxes\[3\] has max_y = nan"),
    (lambda i: i.reserve(-1), ValueError, "n must be at least 0; got -1"),
    (lambda i: i.box(3), KeyError, "no box has the id 3"),
    (lambda i: i.query_box([0, 0, NAN, 1]), ValueError, "box has max_x = nan"),
    (lambda i: i.query_box([BOX, [3, 0, 1, 1]]), ValueError, r"box\[1\] has min_x = 3 > max_x = 1"),
    (lambda i: i.query_box([0, 0]), ValueError, "box must have shape"),
    (lambda i: i.query_box(BOX, mask=-1), ValueError, "mask = -1 does not fit"),
    (lambda i: i.query_point([0, NAN]), ValueError, "point = .*must not be nan"),
    (lambda i: i.query_point([[0, 0], [0, NAN]]), ValueError, r"point\[1\] = .*must not be nan"),
    (lambda i: i.query_point([0, 0, 0]), ValueError, "point must have shape"),
    (lambda i: i.query_radius([0, np.inf], 1), ValueError, "center = .*must be finite"),
    (lambda i: i.query_radius([0, 0], -1), ValueError, "r = -1 must not be negative"),
    (lambda i: i.query_radius([0, 0], NAN), ValueError, "r = nan must not be negative or nan"),
    (lambda i: i.query_radius([0, 0], [1, -2]), ValueError, r"r\[1\] = -2.0 must not be negative"),
    (lambda i: i.query_radius([[0, 0]] * 3, [1, 2]), ValueError, "center has 3 rows and r has 2"),
    (lambda i: i.query_radius([0, 0], "1"), TypeError, "r must hold real numbers"),
    (lambda i: i.query_radius([0, 0], 10**400), ValueError, "does not fit into a float"),
    (lambda i: i.query_box([0, 0, 10**400, 1]), ValueError, r"box\[2\] must be below 1.8e308"),
    (
        lambda i: i.insert_many([[0, 0, 1, 1], [0, 0, 10**400, 1]]),
        ValueError,
        r"boxes\[1\]\[2\] must be below",
    ),
    (lambda i: i.query((0, 0, 1, 1)), AttributeError, "it is query_box here"),
    (lambda i: bp.make_index("box_tree", boxes=i.boxes), TypeError, "the boxes come first"),
    (lambda i: i.raycast([0, 0], [0, 0]), ValueError, "direction = .*points nowhere"),
    (lambda i: i.raycast([0, 0], [0, -0.0]), ValueError, "direction = .*points nowhere"),
    (lambda i: i.raycast([0, 0], [[1, 0], [0, 0]]), ValueError, r"direction\[1\] = .*points nowhere"),
    (lambda i: i.raycast([0, 0], [np.inf, 0]), ValueError, "direction = .*must be finite"),
    (lambda i: i.raycast([NAN, 0], [1, 0]), ValueError, "origin = .*must be finite"),
    (lambda i: i.raycast([0, 0], [1, 0], -1), ValueError, "max_distance = -1 must not be negative"),
    (lambda i: i.raycast([[0, 0]] * 2, [[1, 0]] * 3), ValueError, "origin has 2 rows and direction has 3"),
    (lambda i: i.raycast([0, 0], [[1, 0]] * 3, [1, 2]), ValueError, "has 3 rows and max_distance has 2"),
    (lambda i: i.query_ray([0, 0], [0, 0]), ValueError, "points nowhere"),
    (lambda i: i.nearest([0, NAN]), ValueError, "point = .*must be finite"),
    (lambda i: i.nearest([0, 0], 0), ValueError, "k must be at least 1; got 0"),
    (lambda i: i.nearest([0, 0], 1.5), TypeError, "k must be an integer; got 1.5"),
    (lambda i: i.join(make(i.stats.method, 3)), ValueError, "this index is 2-D and the other 3-D"),
    (lambda i: i.join([BOX]), TypeError, "other must be an index; got list"),
]


def test_a_mistake_is_named_and_changes_nothing(index, each):
    before = state(index)

    def check(mistake, error, message):
        with pytest.raises(error, match=message):
            mistake(index)
        index.validate()
        assert state(index) == before, message

    each(check, MISTAKES)


def test_the_state_that_is_compared_notices_changes(index):
    seen = [state(index)]
    for change in (
        lambda: index.move(0, [0, 0, 1, 1.5]),
        lambda: index.insert([0, 0, 9, 9]),
        lambda: index.remove(4),
        lambda: index.changes(),
    ):
        change()
        assert state(index) not in seen
        seen.append(state(index))


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"dim": 4}, ValueError, "dim must be 2 or 3; got 4"),
        ({"dtype": np.int32}, ValueError, "dtype must be float32 or float64; got int32"),
        ({"touching": "yes"}, TypeError, "touching must be True or False"),
        ({"threads": 0}, ValueError, "threads must be at least 1; got 0"),
        ({"colour": "red"}, TypeError, "colour"),
    ],
)
def test_an_index_says_what_it_cannot_be(name, options, error, message):
    with pytest.raises(error, match=message):
        make(name, **({"dim": 2} | options))


def test_an_unknown_index_is_answered_with_the_names():
    with pytest.raises(ValueError, match="unknown index 'octopus'; choose one of auto, brute_force"):
        bp.make_index("octopus")


@pytest.mark.parametrize("name", NAMES)
def test_views_are_read_only(name):
    index = make(name)
    index.insert_many([BOX, BOX])
    for view in (index.ids, index.boxes, index.box(0)):
        with pytest.raises(ValueError, match="read-only"):
            view[0] = 1
    index.remove(0)
    for view in (index.ids, index.boxes, index.box(1)):
        with pytest.raises(ValueError, match="read-only"):
            view[0] = 1
    assert "1" not in index
    assert 1.5 not in index
    assert 0 not in index
    assert 1 in index


# ---- max_pairs


@pytest.mark.parametrize("statics", [0.0, 0.4, 0.95])
@pytest.mark.parametrize("name", NAMES)
def test_max_pairs(name, statics):
    random = np.random.default_rng(7)
    index = make(name)
    low = random.random((90, 2)) * 20
    index.insert_many(np.hstack((low, low + 3)), static=np.arange(90) < statics * 90)
    index.remove(0)
    found = index.pairs()
    assert len(found) > 15
    np.testing.assert_array_equal(index.pairs(max_pairs=len(found)), found)
    for most in (len(found) - 1, len(found) // 2, 1, 0):
        with pytest.raises(bp.PairLimitExceeded, match=f"max_pairs={most}"):
            index.pairs(max_pairs=most)
    np.testing.assert_array_equal(index.pairs(), found)
    index.validate()


@pytest.mark.parametrize("statics", [0, 50, 950])
@pytest.mark.parametrize("name", [name for name in NAMES if name != "sweep_and_prune"])
def test_max_pairs_ends_the_search(name, statics):
    """All boxes equal: of half a million pairs, or 50,000 with static boxes, few are ever stored."""
    index = make(name, threads=1)
    index.insert_many(np.tile(BOX, (1_000, 1)), static=np.arange(1_000) < statics)
    index.validate()
    stored = sum(map(len, index._structure.find_pairs(100, Scratch()).chunks))
    assert 100 < stored < 20_000


@pytest.mark.parametrize("wrong", [1.5, "many", True])
def test_max_pairs_is_a_number(index, wrong):
    with pytest.raises(TypeError, match="max_pairs"):
        index.pairs(max_pairs=wrong)
    with pytest.raises(ValueError, match="max_pairs"):
        index.pairs(max_pairs=-1)
