"""Gravity to the side is gravity down in a world in which x and y are exchanged."""

import pytest

import broadphase as bp


def twins(build):
    """The same world upright and with x and y exchanged; ``build`` takes it, and a function for boxes."""
    return [build(bp.World(), lambda *box, turned=turned: swap(box) if turned else box) for turned in (0, 1)]


def swap(numbers):
    return tuple(numbers[k ^ 1] for k in range(len(numbers)))


def test_only_what_lies_on_the_way_is_crossed_and_pushed():
    def walk(world, box):
        met = []
        world.on("hero", "coin", lambda contact: met.append(contact.b.data))
        world.add(bp.Polygon([box(0, 0), box(60, 0), box(60, -60)]), static=True)
        on_the_way, aside = bp.Box(*box(30, -45, 4, 4)), bp.Box(*box(45, -8, 4, 4))
        for name, shape in (("on", on_the_way), ("aside", aside)):
            world.add(shape, tag="coin", static=True, sensor=True, data=name)
        plank = world.add(bp.Box(*box(-40, 0, 40, 5)), static=True)
        plank.one_way = "left" if box(1, 2) == (2, 1) else "top"
        crate = world.add(bp.Box(*box(-30, -10, 10, 10)), tag="crate")
        hero = world.add(bp.Box(*box(-12, -10, 10, 10)), tag="hero")
        there = world.walk(hero, *box(60, 1), down=box(0, 1), steepest=50)
        world.update()
        hero.position = box(-12, -10)
        back = world.walk(hero, *box(-20, 1), down=box(0, 1), pushes="crate")
        return met, box(there.x, there.y), box(back.x, back.y), box(*crate.position), back.floor is plank

    upright, aside = twins(walk)
    assert upright[0] == aside[0] == ["on"]
    assert aside[4] == upright[4] is True
    for one, other in zip(upright[1:4], aside[1:4], strict=True):
        assert other == pytest.approx(one)
    assert upright[3][0] < -31
