"""A product in one test: nothing in it may fail unseen."""

import pytest
from cases import Each

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
