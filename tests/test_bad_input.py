"""Input: what is accepted gives the right pairs and is left alone; what is not is named."""

import numpy as np
import oracle
import pytest
import scenes
from checks import assert_same

import broadphase as bp
from broadphase.kernels.boxes.checks import BLOCK, first_unsound_row

pytestmark = pytest.mark.smaller_set
every_method = pytest.mark.parametrize("method", bp.METHODS)

SQUARE = [0.0, 0.0, 1.0, 1.0]
CUBE = [0.0, 0.0, 0.0, 1.0, 1.0, 1.0]
GOOD = np.array([SQUARE, SQUARE, SQUARE])


def with_value(row, column, value, rows=3, dim=2):
    boxes = np.array([CUBE if dim == 3 else SQUARE] * rows)
    boxes[row, column] = value
    return boxes


# --- what is accepted ----------------------------------------------------------------------------------


LIKE_IT = {
    "a list of lists": lambda boxes: boxes.tolist(),
    "a tuple of tuples": lambda boxes: tuple(map(tuple, boxes.tolist())),
    "a list of arrays": list,
    "int8": lambda boxes: boxes.astype(np.int8),
    "int64": lambda boxes: boxes.astype(np.int64),
    "float16": lambda boxes: boxes.astype(np.float16),
    "longdouble": lambda boxes: boxes.astype(np.longdouble),
    "big-endian float32": lambda boxes: boxes.astype(">f4"),
    "big-endian float64": lambda boxes: boxes.astype(">f8"),
    "big-endian int32": lambda boxes: boxes.astype(">i4"),
    "Fortran order": np.asfortranarray,
    "every other row": lambda boxes: boxes.repeat(2, axis=0)[::2],
    "every other column": lambda boxes: boxes.repeat(2, axis=1)[:, ::2],
    "backwards twice": lambda boxes: boxes[::-1, ::-1].copy()[::-1, ::-1],
    "float32, every other row": lambda boxes: boxes.astype(np.float32).repeat(2, axis=0)[::2],
    "an object with __array__": lambda boxes: Holder(boxes),
}


class Holder:
    def __init__(self, boxes):
        self.boxes = boxes

    def __array__(self, dtype=None, copy=None):
        return self.boxes if dtype is None else self.boxes.astype(dtype)


@pytest.mark.covering
@every_method
@pytest.mark.parametrize("like", LIKE_IT)
@pytest.mark.parametrize("dim", [2, 3], ids=["2d", "3d"])
def test_anything_like_an_array_of_numbers(dim, like, method):
    boxes = scenes.make("integers", 24, dim)
    given = LIKE_IT[like](boxes)
    assert_same(bp.pairs(given, method=method), oracle.pairs(boxes))
    assert_same(bp.join(given, boxes[:7], method=method), oracle.join(boxes, boxes[:7]))


@every_method
def test_float32_is_not_widened_and_float64_not_narrowed(method):
    """A gap that only float64 can represent: float32 rounds it away."""
    boxes = np.array([[0, 0, 1, 1], [1 + 1e-12, 0, 2, 1]])
    assert bp.count_pairs(boxes, method=method) == 0
    assert bp.count_pairs(boxes.astype(np.float32), method=method) == 1


@every_method
def test_a_join_of_float32_and_float64_is_computed_in_float64(method):
    a = np.array([[0, 0, 1, 1]], np.float32)
    assert len(bp.join(a, np.array([[1 + 1e-12, 0, 2, 1]]), method=method)) == 0
    assert len(bp.join(a, np.array([[1.0, 0, 2, 1]]), method=method)) == 1


@every_method
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_input_is_never_modified(dtype, method):
    boxes = scenes.make("some_infinite_edges", 24, 2, dtype)
    rules = {
        "static": np.arange(24) % 3 == 0,
        "categories": np.arange(24, dtype=np.uint32),
        "masks": np.arange(24, dtype=np.uint32)[::-1].copy(),
    }
    given = [boxes, *rules.values()]
    before = [array.copy() for array in given]
    bp.pairs(boxes, method=method, **rules)
    bp.count_pairs(boxes, method=method, **rules)
    bp.join(boxes, boxes[:5], method=method)
    for array, copy in zip(given, before, strict=True):
        assert array.tobytes() == copy.tobytes()


@every_method
def test_read_only_input(method):
    boxes = scenes.make("integers", 24, 2)
    rules = {
        "static": np.zeros(24, bool),
        "categories": np.ones(24, np.uint32),
        "masks": np.ones(24, np.uint32),
    }
    for array in (boxes, *rules.values()):
        array.flags.writeable = False
    assert_same(bp.pairs(boxes, method=method, **rules), oracle.pairs(boxes))
    assert_same(bp.join(boxes, boxes, method=method), oracle.join(boxes, boxes))


def test_rules_for_no_boxes():
    assert len(bp.pairs([], static=[], categories=[], masks=[])) == 0


# --- what is refused -----------------------------------------------------------------------------------


WRONG_BOXES = {
    "NaN": (
        with_value(1, 2, np.nan),
        ValueError,
        r"boxes\[1\] has max_x = nan; remove the row, or give the box finite or infinite edges",
    ),
    "NaN in the first row": (with_value(0, 0, np.nan), ValueError, r"boxes\[0\] has min_x = nan"),
    "NaN in the only row": (with_value(0, 1, np.nan, rows=1), ValueError, r"boxes\[0\] has min_y = nan"),
    "NaN in the last row": (with_value(40, 3, np.nan, rows=41), ValueError, r"boxes\[40\] has max_y = nan"),
    "NaN in 3-D": (with_value(2, 5, np.nan, dim=3), ValueError, r"boxes\[2\] has max_z = nan"),
    "NaN in float32": (
        with_value(1, 0, np.nan).astype(np.float32),
        ValueError,
        r"boxes\[1\] has min_x = nan",
    ),
    "NaN beside min > max": (
        [[0, 0, 1, 1], [5, np.nan, 1, 1]],
        ValueError,
        r"boxes\[1\] has min_y = nan",
    ),
    "min > max": (
        with_value(2, 0, 1.5),
        ValueError,
        r"boxes\[2\] has min_x = 1\.5 > max_x = 1; a box is a row \[min\.\.\., max\.\.\.\], not \[x, y, w",
    ),
    "min > max in 3-D": (with_value(0, 5, -2, dim=3), ValueError, r"boxes\[0\] has min_z = 0 > max_z = -2"),
    "min > max at infinity": (
        [[0, np.inf, 1, -np.inf]],
        ValueError,
        r"boxes\[0\] has min_y = inf > max_y = -inf",
    ),
    "the first of two wrong rows": (
        [[0, 0, 1, 1], [2, 0, 1, 1], [np.nan] * 4],
        ValueError,
        r"boxes\[1\] has min_x = 2 > max_x = 1",
    ),
    "three columns": (np.zeros((5, 3)), ValueError, r"boxes must have shape \(n, 4\).*got shape \(5, 3\)"),
    "five columns": (np.zeros((5, 5)), ValueError, r"\(n, 6\) in 3-D.*got shape \(5, 5\)"),
    "no columns": (np.zeros((5, 0)), ValueError, r"got shape \(5, 0\)"),
    "one box alone": (SQUARE, ValueError, r"got shape \(4,\)"),
    "two more dimensions": (np.zeros((1, 2, 3, 4)), ValueError, r"got shape \(1, 2, 3, 4\)"),
    "a number": (7, ValueError, r"got shape \((1,)?\)"),
    "ragged": ([[0, 0, 1, 1], [0, 0, 1]], ValueError, r"boxes must be a rectangular array of numbers"),
    "strings": ([["0", "0", "1", "1"]], TypeError, r"boxes must hold real numbers; got dtype <U1"),
    "complex": (np.zeros((2, 4), complex), TypeError, r"real numbers; got dtype complex128"),
    "objects": (np.zeros((2, 4), object), TypeError, r"real numbers; got dtype object"),
    "dates": (np.zeros((2, 4), "datetime64[s]"), TypeError, r"real numbers; got dtype datetime64\[s\]"),
    "records": (np.zeros(2, [("x", float)]), ValueError, r"boxes: no columns for the x axis among 'x'"),
    "None": (None, TypeError, r"boxes must hold real numbers; got dtype object"),
    "None inside": ([[0, 0, 1, None]], TypeError, r"boxes must hold real numbers"),
    "a dict": ({"min_x": 0}, TypeError, r"boxes must hold real numbers"),
    "a generator": ((row for row in [SQUARE]), TypeError, r"boxes must hold real numbers"),
}


@pytest.mark.parametrize("wrong", WRONG_BOXES)
def test_wrong_boxes_are_named(wrong):
    boxes, error, message = WRONG_BOXES[wrong]
    for function in (bp.pairs, bp.count_pairs, bp.explain):
        with pytest.raises(error, match=message):
            function(boxes)


@pytest.mark.parametrize("wrong", WRONG_BOXES)
def test_a_join_names_the_side(wrong):
    boxes, error, message = WRONG_BOXES[wrong]
    with pytest.raises(error, match=message.replace("boxes", "a", 1)):
        bp.join(boxes, GOOD)
    with pytest.raises(error, match=message.replace("boxes", "b", 1)):
        bp.join(GOOD, boxes)


@pytest.mark.parametrize("shape", [(), (4,), (2, 5), (2, 7)])
def test_a_wrong_shape_is_named_in_a_periodic_world_too(shape):
    for function in (bp.pairs, bp.count_pairs):
        with pytest.raises(ValueError, match=r"boxes must have shape \(n, 4\) in 2-D.*got shape"):
            function(np.zeros(shape), period=(9, 9))


def test_a_join_needs_one_dimension():
    with pytest.raises(ValueError, match=r"a is 2-D and b is 3-D \(shapes \(3, 4\) and \(1, 6\)\)"):
        bp.join(GOOD, [CUBE])
    with pytest.raises(ValueError, match=r"a is 3-D and b is 2-D.*must have the same dimension"):
        bp.join([CUBE], GOOD)


@pytest.mark.parametrize("boxes", [[], [SQUARE], GOOD], ids=["none", "one", "three"])
@pytest.mark.parametrize("method", ["fast", "", "Strips", "auto ", None, 3, ("strips",)], ids=repr)
def test_an_unknown_method_is_answered_with_the_known_ones(method, boxes):
    for call in (bp.pairs, bp.count_pairs, lambda boxes, method: bp.join(boxes, boxes, method=method)):
        with pytest.raises(ValueError, match="unknown method") as caught:
            call(boxes, method=method)
        assert repr(method) in str(caught.value)
        for known in bp.METHODS:
            assert known in str(caught.value)


WRONG_OPTIONS = [
    ({"threads": 0}, ValueError, "threads must be at least 1; got 0"),
    ({"threads": -2}, ValueError, "threads must be at least 1; got -2"),
    ({"threads": 1.5}, TypeError, "threads must be an int or None; got 1.5"),
    ({"threads": "2"}, TypeError, "threads must be an int or None; got '2'"),
    ({"threads": True}, TypeError, "threads must be an int or None; got True"),
    ({"max_pairs": -1}, ValueError, "max_pairs must not be negative; got -1"),
    ({"max_pairs": 1.0}, TypeError, "max_pairs must be an int or None; got 1.0"),
    ({"max_pairs": "all"}, TypeError, "max_pairs must be an int or None; got 'all'"),
    ({"max_pairs": True}, TypeError, "max_pairs must be an int or None; got True"),
]
WRONG_RULES = [
    ({"static": [0, 1, 0]}, TypeError, "static must be an array of bool, one a box; got dtype int(64|32)"),
    ({"static": ["a", "b", "c"]}, TypeError, "static must be an array of bool"),
    (
        {"static": [True, False]},
        ValueError,
        r"static must hold one entry for each of the 3 boxes; got .* \(2,\)",
    ),
    ({"static": [[True], [True], [True]]}, ValueError, r"static must hold one entry .* \(3, 1\)"),
    ({"categories": [1.0, 2.0, 3.0]}, TypeError, "categories must be integers, .*; got dtype float64"),
    ({"categories": [1, 2]}, ValueError, r"categories must hold one entry for each of the 3 boxes"),
    ({"categories": [1, -1, 2]}, ValueError, r"categories\[1\] = -1 does not fit into 32 bits"),
    ({"masks": [1, 2, 2**32]}, ValueError, r"masks\[2\] = 4294967296 does not fit into 32 bits"),
    ({"masks": ["1", "2", "3"]}, TypeError, "masks must be integers"),
    ({"masks": [1, 2, 3, 4]}, ValueError, r"masks must hold one entry for each of the 3 boxes"),
    ({"masks": -1}, ValueError, "does not fit into 32 bits"),
]


@pytest.mark.parametrize(("options", "error", "message"), WRONG_OPTIONS, ids=lambda part: str(part))
def test_wrong_options_are_named(options, error, message):
    calls = [lambda: bp.pairs(GOOD, **options), lambda: bp.pairs([], **options)]
    calls += [lambda: bp.join(GOOD, GOOD, **options)]
    for call in calls:
        with pytest.raises(error, match=message):
            call()


@pytest.mark.parametrize(("rules", "error", "message"), WRONG_RULES, ids=lambda part: str(part))
def test_wrong_rules_are_named(rules, error, message):
    for function in (bp.pairs, bp.count_pairs):
        with pytest.raises(error, match=message):
            function(GOOD, **rules)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("dim", [2, 3])
@pytest.mark.parametrize("row", [0, BLOCK - 1, BLOCK, 2 * BLOCK - 1, 2 * BLOCK + 3])
def test_the_first_invalid_row_is_named_at_any_place_in_its_block(row, dim, dtype):
    boxes = with_value(row, 2 * dim - 1, -1, rows=2 * BLOCK + 4, dim=dim).astype(dtype)
    boxes[row + 1 :, 0] = np.nan
    assert first_unsound_row(boxes) == row
    assert first_unsound_row(boxes[:row]) == -1
    boxes[row, 2 * dim - 1] = np.nan
    assert first_unsound_row(boxes) == row
