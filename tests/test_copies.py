"""What `copy.copy` makes is independent, and the copy of a body is the body."""

import copy
import pickle

import pytest

import broadphase as bp


def test_a_copied_index_world_or_map_has_rows_of_its_own():
    index = bp.BoxTree([[0, 0, 1, 1]])
    copied = copy.copy(index)
    copied.insert((5, 5, 6, 6))
    assert len(index) == 1
    assert len(copied) == 2

    shapes = bp.ShapeIndex([bp.Box(0, 0, 1, 1)])
    copy.copy(shapes).move_many([0], [[5, 5]])
    assert shapes.shape(0) == bp.Box(0, 0, 1, 1)

    level = bp.TileMap([".."], 8)
    copy.copy(level).set(0, 0, True)
    assert not level.is_solid(0, 0)

    world = bp.World()
    body = world.add(bp.Box(0, 0, 1, 1))
    twin = copy.copy(world)
    (other,) = twin.bodies()
    other.x = 7
    twin.add(bp.Box(1, 1, 1, 1))
    assert len(world) == 1
    assert body.x == 0


def test_the_copy_of_a_body_is_never_another_body():
    world = bp.World()
    hero = world.add(bp.Box(0, 0, 1, 1))
    ghost = copy.copy(hero)
    hero.remove()
    coin = world.add(bp.Box(50, 50, 1, 1))
    assert ghost is hero
    assert not ghost.alive
    assert ghost != coin


@pytest.mark.parametrize("duplicate", [copy.deepcopy, pickle.dumps])
def test_a_world_that_is_copied_within_a_call_goes_on(duplicate):
    """Such as by a game that saves where its hero reaches a checkpoint."""
    world, heard = bp.World(), []
    for x in (0, 10):
        world.add(bp.Box(x, 0, 4, 4), tag="hero")
        world.add(bp.Box(x + 2, 2, 4, 4), tag="flag")
    saving = world.on("hero", "flag", _hear)
    _hear.world, _hear.duplicate, _hear.copies = world, duplicate, heard
    world.update()
    saving.remove()
    _hear.duplicate = None
    assert len(heard) == 2
    for saved, left in zip(heard, (1, 0), strict=True):
        made = pickle.loads(saved) if type(saved) is bytes else saved
        _hear.calls = 0
        made.update()
        assert _hear.calls == left
        assert len(made.query_box((0, 0, 20, 20))) == 4
        made.restore(made.snapshot())


def _hear(contact):
    if _hear.duplicate is None:
        _hear.calls += 1
    else:
        _hear.copies.append(_hear.duplicate(_hear.world))
