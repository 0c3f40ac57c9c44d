"""One life, told another way, has one ending: see `metamorphic`."""

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
    seen = 0

    def see(number):
        nonlocal seen
        check(name, number)
        seen += 1

    each(see, range(2_000), of=80, turn=[*RELATIONS].index(name))
    record_property("lives", seen)


@pytest.mark.smaller_set
def test_a_life_is_the_same_each_time():
    assert [told(life_of(number)) for number in range(6)] == [told(life_of(number)) for number in range(6)]
