"""One life, told another way, has one ending: see `metamorphic`."""

from collections.abc import Callable
from typing import NamedTuple

import pytest
from metamorphic import RELATIONS, Found, checked, smallest
from random_lives import life_of
from world_life import told


class Gap(NamedTuple):
    """A kind of lives that still end otherwise."""

    waits_for: str
    relations: tuple[str, ...]
    concerns: Callable
    example: tuple[str, int]
    """A relation, and the number of a life that ends otherwise."""


def _has_one_way(life):
    return any(one.one_way for one in life.things)


def _calls(life, name, *options):
    return any(call.name.startswith(name) and not {*options} - {*call.options} for call in life.calls)


def _walks_among(life, condition):
    return _calls(life, "walk") and any(map(condition, life.things))


MAPPED = ("turned", "transposed", "mirrored", "upside down", "translated")
ACROSS = "across the edge of a period"
GAPS = (
    Gap(
        "one-way bodies in a period block from all of their images",
        (*MAPPED, "tiles as bodies"),
        lambda life: life.period is not None and (_has_one_way(life) or life.tiles is not None),
        ("turned", 2208),
    ),
    Gap(
        "what a platform touches except for rounding is not inside it",
        (*MAPPED, ACROSS),
        lambda life: _calls(life, "push"),
        ("translated", 2693),
    ),
)


def waits(name, life):
    """Whether a relation does not hold for a life yet."""
    return any(name in gap.relations and gap.concerns(life) for gap in GAPS)


def check(name, number):
    life = life_of(number)
    if waits(name, life):
        return
    said = checked(name, life, number)
    if said:
        life = smallest(name, life, number)
        raise AssertionError(str(Found(name, number, life, checked(name, life, number))))


@pytest.mark.parametrize("name", RELATIONS)
def test_a_life_told_another_way_has_the_same_ending(each, record_property, name):
    seen = 0

    def see(number):
        nonlocal seen
        check(name, number)
        seen += 1

    each(see, range(2_000), of=80, turn=[*RELATIONS].index(name))
    record_property("lives", seen)


@pytest.mark.parametrize(
    ("name", "number"),
    [
        pytest.param(
            *gap.example, marks=pytest.mark.xfail(strict=True, reason=gap.waits_for), id=gap.waits_for
        )
        for gap in GAPS
    ],
)
def test_what_still_waits(name, number):
    life = life_of(number)
    assert any(name in gap.relations and gap.concerns(life) for gap in GAPS)
    assert not checked(name, life, number)


@pytest.mark.smaller_set
def test_a_life_is_the_same_each_time():
    assert [told(life_of(number)) for number in range(6)] == [told(life_of(number)) for number in range(6)]
