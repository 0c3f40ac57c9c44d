"""Common calls take a fast path through the world; the general path must agree with it."""

import pytest

from broadphase import Box, World


def plain(item):
    """Bodies of two worlds by their ids; numbers without the gap that is kept before slopes."""
    if isinstance(item, float):
        return round(item, 7) + 0.0
    if isinstance(item, (tuple, list)) and not hasattr(item, "column"):
        return tuple(map(plain, item))
    return getattr(item, "id", item)


def reported(contacts):
    return list(plain([(one.a.id, one.b.id, one.normal, one.depth) for one in contacts]))


@pytest.mark.smaller_set
def test_a_path_with_more_bodies_and_hits_than_the_buffer_holds():
    world = World()
    walls = [world.add(Box(10 + 2 * k, 0, 1, 5)) for k in range(300)]
    body = world.add(Box(0, 0, 5, 5))
    move = world.move(body, 1_000, 0, "cross")
    assert [hit.other for hit in move.hits] == walls
    assert [hit.other for hit in move.crossed] == walls
    assert body.x == 1_000
    assert world.move(body, -2_000, 0).hits[0].other is walls[-1]


@pytest.mark.smaller_set
def test_a_deferred_body_is_reported_once_there_is_a_listener():
    world = World()
    world.on("a", "b")
    quiet = [world.add(Box(100 * k, 0, 5, 5)) for k in range(4)]
    a = world.add(Box(0, 0, 5, 5), tag="a")
    world.update()
    for body in quiet:
        body.move_to(2, 2)
    world.update()  # no listener: their boxes are not sent
    quiet[1].tag = "b"
    assert reported(world.update().began) == [(a.id, quiet[1].id, (-1.0, 0.0), 3.0)]
    world.remove(quiet[2])
    again = world.add(Box(3, 3, 5, 5), tag="b")
    assert again.id == 2
    assert len(world.update().began) == 1
    world.on("c", "a")
    quiet[3].tag = "c"
    assert len(world.update().began) == 1
    world.validate()


@pytest.mark.smaller_set
def test_a_deferred_body_blocks():
    world = World()
    world.on("a", "b")
    wall, body = world.add(Box(50, 0, 5, 5)), world.add(Box(0, 0, 5, 5))
    world.update()
    wall.x = 20
    world.update()
    assert world.move(body, 100, 0).hits[0].other is wall
    wall.x = 60
    assert world.move(body, 100, 0).x == 55


@pytest.mark.smaller_set
@pytest.mark.parametrize("period", [None, (100, 100)])
@pytest.mark.parametrize("static", [True, False])
def test_a_wall_without_listeners_is_found_by_everything_after_an_update(period, static):
    def lived():
        world = World(period=period)
        hero, wall = world.add(Box(10, 10, 4, 4)), world.add(Box(20, 0, 4, 99), static=static)
        world.update()
        return world, hero, wall

    for move in ("move_many", "walk_many"):
        world, hero, wall = lived()
        getattr(world, move)([hero], 20, 0, movers_block=not static)
        assert hero.x == 16
    for move in ("move", "walk"):
        world, hero, wall = lived()
        assert getattr(world, move)(hero, 20, 0).x == 16
    queries = (
        lambda world, hero: world.try_move(hero, 9, 0),
        lambda world, hero: world.raycast((16, 50), (1, 0), 50).other,
        lambda world, hero: world.query_point((21, 50))[0],
        lambda world, hero: world.body(world.query_box([[20, 50, 21, 51]])[0, 1]),
        lambda world, hero: world.body(world.raycast([[16, 50]], [[1, 0]], 50).ids[0]),
        lambda world, hero: world.nearest((22, 50)).bodies[0],
        lambda world, hero: world.body(world.nearest([[22, 50]]).ids[0, 0]),
    )
    for call in queries:
        world, hero, wall = lived()
        assert call(world, hero) is wall


@pytest.mark.smaller_set
def test_what_waits_for_an_index_is_forgotten_by_no_reader_of_another():
    """Static bodies alone, those with listeners, then everything: each finds what was changed before."""
    world = World()
    world.on("a", "b")
    hero, heard = world.add(Box(0, 0, 4, 4)), world.add(Box(0, 50, 4, 4), tag="a")
    walls = [world.add(Box(20 + 10 * k, 0, 4, 4), static=True) for k in range(3)]
    quiet = [world.add(Box(60 + 10 * k, 0, 4, 4)) for k in range(3)]
    world.update()  # listeners' indexes only
    world.move_many([heard], 1, 0)  # static ones only
    for body in (*walls, *quiet):
        body.y = 50.0
    world.update()
    world.move_many([hero], 200, 0)
    assert hero.x == 200
    world.validate()
    assert world.move(heard, 200, 0).hits[0].other is walls[0]
    world.remove(walls[0])
    world.update()
    assert world.move_many([heard], 200, 0).hits.others.tolist() == [walls[1].id]
