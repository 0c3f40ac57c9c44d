"""One life, told another way, has one ending: see `metamorphic`."""

from functools import partial
from itertools import islice
from random import Random

import pytest
from metamorphic import RELATIONS, Found, checked, smallest
from random_lives import life_of
from world_life import told


def check(name, number):
    life = life_of(number)
    said = checked(name, life, number)
    if said:
        life = smallest(name, life, number)
        raise AssertionError(str(Found(name, number, life, checked(name, life, number))))


@pytest.mark.parametrize("name", RELATIONS)
def test_a_life_told_another_way_has_the_same_ending(each, record_property, name):
    """In the short run of a few lives of which the relation says something: some do of one in a hundred."""
    tell, numbers = RELATIONS[name].tell, range(2_000)
    if not each.exhaustive:
        numbers = range(70 * [*RELATIONS].index(name), 4_000)
        numbers = islice((number for number in numbers if tell(life_of(number), Random(number))), 10)
    each(partial(check, name), numbers)
    record_property("lives", each.count)


# Each has ended otherwise for a reason of its own, or in a way of its own.
_KNOWN = (
    # What a long walk left at a distance was no longer near for a short one.
    *(
        ("translated", 2421),
        ("across the edge of a period", 2421),
        ("upside down", 9836),
        ("mirrored", 3844),
        ("translated", 4209),
        ("translated", 7312),
    ),
    *(("across the edge of a period", 52049), ("across the edge of a period", 52263)),
    # The floor of a walker that was wrapped to small numbers, and the ceiling.
    *(("across the edge of a period", 50326), ("across the edge of a period", 17816)),
    ("across the edge of a period", 62146),  # the floor beside the foot of a ramp that is steep
    ("across the edge of a period", 3626),  # a walker inside of a one-way box by a rounding error
    *(("translated", 3051), ("translated", 3174)),  # crates that push each other, and the contact with them
    ("translated", 2651),  # in a one-way tile by a rounding error
    ("translated", 86583),  # a crate, and a wall that is as near except for rounding
    ("translated", 2814),  # a part in a body, pushed out of a tile by a rounding error: the body held it
    ("translated", 67054),  # flush with a crate that it pushed, which got less far by a rounding error
    ("translated", 72802),  # a crate that its floor pushed up stayed an obstacle when it had made way
    *(("across the edge of a period", 60830), ("across the edge of a period", 63932)),  # what pushes is round
    # A walker that slid down a steep side ended beside its floor, or above it by more than a floor's room.
    *(("across the edge of a period", 76823), ("translated", 47083)),
    # A slanted side that a round walker met was taken for a round corner, or not, by rounding.
    *(("across the edge of a period", 11942), ("turned", 9378)),
    ("upside down", 3566),  # into a gap as high as the walker, from the side of the floor
    ("mirrored", 5559),  # a rider among movers that do not block was pushed out of one
    ("transposed", 21510),  # the end of a slot that is exactly as wide as the mover
    ("tiles as bodies", 19323),  # bounced back onto the one-way body that it started in
    ("tiles as bodies", 604088),  # at the seam of two one-way tiles, inside of one of them
    ("walk in two", 76823),  # down a slope into a crate that it pushes
    ("walk in two", 61445),  # up, back into the one-way body that it started in
    ("in another order", 75409),  # a crate, and the one-way wall around it, met at once
    ("in another order", 6141),  # the foot of a ramp at the corner of a wall
    ("mirrored", 401795),  # at the tip of a slope the normal was that of its side or its slope, by rounding
    ("translated", 87686),  # parts that were flush overlapped after a bounce, by a rounding error
    ("mirrored", 300189),  # in a corner of two the hit had the name of one and the normal of the other
)


@pytest.mark.parametrize(("name", "number"), _KNOWN)
def test_known_lives(name, number):
    check(name, number)


@pytest.mark.smaller_set
def test_a_life_is_the_same_each_time():
    assert [told(life_of(number)) for number in range(6)] == [told(life_of(number)) for number in range(6)]
