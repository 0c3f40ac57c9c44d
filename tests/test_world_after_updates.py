"""An old world moves a box with as few calls as a new one: nothing is kept for removed bodies."""

import sys
from collections import Counter

import pytest

from broadphase import Box, Circle, TileMap, World


def new_world():
    world = World()
    world.tiles = TileMap([[False] * 12] * 12, 8)
    world.add(Box(40, 0, 5, 20), static=True)
    world.add(Box(0, 40, 20, 5))
    return world, world.add(Box(2, 2, 4, 4))


def calls(act):
    """Which functions broadphase calls, and how often (not what the garbage collector calls in between)."""
    seen = Counter()

    def note(frame, event, argument):
        ours = frame.f_globals.get("__name__", "").startswith("broadphase")
        if ours and event in ("call", "c_call"):
            seen[frame.f_code.co_qualname if event == "call" else argument.__qualname__] += 1

    act()  # once before: what is made when it is first needed
    sys.setprofile(note)
    try:
        act()
    finally:
        sys.setprofile(None)
    return seen


def moves(world, body):
    other = [one for one in world if one is not body]

    def act():
        world.move(body, 60, 1, lambda hit: "slide")
        world.move_many([body], -60, 0)
        world.move_many([body], 0, 30, movers_block=True)
        world.push(other[1], 0, -1)
        body.move_to(2, 2)
        other[1].move_to(0, 40)
        world.update()

    return act


def circle_removed(world):
    world.remove(world.add(Circle(60, 60, 3)))


def many_removed(world):
    world.remove_many(world.add_many([Circle(60, 60, 3), Box(60, 60, 2, 2)], sensor=True, mask=3))


def made_usual(world):
    """The body stays, and is a box like others in the end."""
    body = world.add(Circle(60, 60, 3), sensor=True, category=2, mask=3)
    body.shape = Box(60, 60, 3, 3)
    body.angle = 30
    body.angle = 0
    body.sensor, body.category, body.mask = False, 1, 0xFFFFFFFF
    world.remove(body)


def restored(world):
    before = world.snapshot()
    world.add_many([Circle(60, 60, 3), Circle(9, 60, 3)], sensor=True, category=2)
    world.restore(before)


def slope_taken_away(world):
    world.tiles.set_slope(2, 2, 0, 1)
    world.tiles.set_slope(2, 2, 0, 0)


@pytest.mark.parametrize("past", [circle_removed, many_removed, made_usual, restored, slope_taken_away])
def test_nothing_is_kept_for_removed_bodies(past):
    fresh, lived = new_world(), new_world()
    past(lived[0])
    lived[0].update()
    lived[0].validate()
    assert calls(moves(*lived)) == calls(moves(*fresh))
