"""A product in one test: nothing in it may fail unseen."""

from itertools import combinations, product
from math import prod
from types import SimpleNamespace

import pytest
from cases import Each, beyond_the_covering, covering, is_of_one_size

pytestmark = pytest.mark.smaller_set
CASES = [(name, n) for name in ("crowd", "line", "dust") for n in (1, 2)]


def test_every_case_that_fails_is_named_and_the_others_are_checked():
    checked = []

    def check(name, n):
        checked.append((name, n))
        assert name != "line", "too long"
        assert n < 2

    with pytest.raises(AssertionError, match="4 of 6 cases failed") as caught:
        Each(exhaustive=True)(check, CASES)
    assert checked == CASES
    for name in ("('crowd', 2)", "('line', 1)", "('line', 2)", "('dust', 2)", "too long"):
        assert name in str(caught.value)
    assert "('crowd', 1)" not in str(caught.value)
    assert caught.value.__cause__ is not None


def test_the_short_run_takes_a_share_and_all_turns_together_take_all():
    taken = []
    short, long = Each(exhaustive=False), Each(exhaustive=True)
    for turn in range(7):
        short(lambda *case: taken.append(case), CASES, of=4, turn=turn)
    assert set(taken) == set(CASES)
    assert short.count == len(taken) < 7 * len(CASES)
    taken.clear()
    long(lambda *case: taken.append(case), CASES, of=4, turn=3)
    assert taken == CASES
    with pytest.raises(AssertionError, match="no case"):
        long(taken.append, [])


def test_few_cases_hold_every_value_and_every_pair_of_values():
    sizes = {"method": 7, "dim": 2, "dtype": 2, "scene": 5}
    cases = [dict(zip(sizes, values, strict=True)) for values in product(*map(range, sizes.values()))]
    for together, most in ((1, 8), (2, 45), (3, 139)):
        chosen = covering(cases, together)
        assert len(chosen) < most
        assert [case for case in cases if case in chosen] == chosen
        for names in combinations(sizes, together):
            seen = {tuple(case[name] for name in names) for case in chosen}
            assert len(seen) == prod(sizes[name] for name in names)
    assert covering([{"dim": 1}], 2) == [{"dim": 1}]
    assert covering([{"dim": 1}, {"dim": 2}], 2) == [{"dim": 1}, {"dim": 2}]


def item(name, mark=None, **params):
    """As much of pytest's item as is looked at."""
    return SimpleNamespace(
        parent=SimpleNamespace(nodeid="file.py"),
        originalname=name,
        callspec=SimpleNamespace(params=params),
        get_closest_marker=lambda queries: mark if queries == "covering" else None,
    )


def test_only_what_is_marked_is_left_out_each_test_by_itself():
    one, two = pytest.mark.covering.mark, pytest.mark.covering(together=2).mark
    whole = [item("whole", a=a, b=b) for a in range(3) for b in range(2)]
    few = [item("few", one, a=a, b=b) for a in range(3) for b in range(2)]
    more = [item("more", two, a=a, b=b, c=c) for a in range(3) for b in range(2) for c in range(2)]
    left_out = beyond_the_covering([*whole, *few, *more])
    assert left_out[:3] == [few[1], few[2], few[5]]
    assert {one.originalname for one in left_out[3:]} == {"more"}
    assert len(left_out) == 3 + 12 - 6


def test_pytest_says_of_its_items_what_the_covering_wants_to_know(request, exhaustive):
    """The tests of `a_product` in this file, as this run has collected them."""
    found = [one for one in request.session.items if getattr(one, "originalname", "") == "test_a_product"]
    values = [(one.callspec.params["method"], one.callspec.params["dim"]) for one in found]
    if exhaustive or len(found) < 2:  # all of them, or a run of single tests
        return
    assert values == [("a", 2), ("b", 3), ("c", 2)]


@pytest.mark.covering
@pytest.mark.parametrize("dim", [2, 3])
@pytest.mark.parametrize("method", ["a", "b", "c"])
def test_a_product(method, dim):
    assert (method, dim) in product("abc", (2, 3))


def test_what_is_larger_in_the_exhaustive_run_is_known():
    alone, sized = SimpleNamespace(), SimpleNamespace(examples=None)
    for fixtures, module, obj, same in (
        (["tmp_path"], alone, None, True),
        (["tmp_path", "each"], alone, None, False),
        (["exhaustive"], alone, None, False),
        ([], sized, None, False),
        ([], alone, SimpleNamespace(is_hypothesis_test=True), False),
    ):
        assert is_of_one_size(SimpleNamespace(fixturenames=fixtures, module=module, obj=obj)) == same
    assert is_of_one_size(SimpleNamespace(obj=None)), "a doctest"
