"""Bodies that enter tiles with a tag, stay and leave: held against a loop over all cells."""

import pickle

import numpy as np
import pytest

import broadphase as bp
from broadphase import ANY, Box, Circle, Tile

TAGS = ("water", "lava")


def level(seed=0, **options):
    rng, world = np.random.default_rng(seed), bp.World(**options)
    tiles = world.tiles = bp.TileMap(rng.random((8, 8)) < 0.15, (10, 12.5))
    for row, column in np.argwhere(rng.random((8, 8)) < 0.3).tolist():
        tiles.set_data(column, row, [TAGS[:1], TAGS[1:], TAGS][(row + column) % 3], {"row": row})
    for x, y in rng.uniform(0, 70, (9, 2)).tolist():
        shapes = Box(x, y, 14, 5), Circle(x, y, 6), bp.Polygon([(x, y), (x + 16, y), (x + 4, y + 12)])
        world.add(shapes[len(world) % 3], tag="actor" if len(world) % 4 else "other")
    return world


def inside(world, body, tag):
    """Which tiles with a tag a body is in: every cell is compared."""
    tiles, found = world.tiles, []
    shifts = [(x, y) for x in (-80, 0, 80) for y in (-100, 0, 100)] if world.period else [(0, 0)]
    shapes = [body.shape.moved_to(body.x + x, body.y + y) for x, y in shifts]
    for row in range(tiles.rows):
        for column in range(tiles.columns):
            left, top, right, bottom = tiles.bounds_of(column, row)
            cell = Box(left, top, right - left, bottom - top)
            if tag in tiles.data(column, row).tags and any(bp.overlap(shape, cell) for shape in shapes):
                found.append(Tile(column, row))
    return tuple(found)


@pytest.mark.parametrize("options", [{}, {"period": (80, 100)}])
def test_bodies_enter_stay_and_leave_as_a_loop_over_all_cells_says(options):
    world = level(**options)
    world.tiles.solid[:] = False
    heard = []
    for who in ("actor", ANY):
        for tag in TAGS:
            calls = [
                lambda contact, k=k, who=who: heard.append(
                    (k, who, contact.tag, contact.body, set(contact.tiles))
                )
                for k in range(3)
            ]
            world.on_tile(who, tag, *calls)
    rng, before, count = np.random.default_rng(1), {}, [0, 0, 0]
    for _ in range(25):
        for body in world:
            world.move(body, *rng.uniform(-12, 12, 2).tolist())
        world.update()
        now, expected = {}, []
        for who in ("actor", ANY):
            for tag in TAGS:
                for body in world:
                    tiles = inside(world, body, tag) if who in (body.tag, ANY) else ()
                    if tiles:
                        now[who, tag, body] = set(tiles)
        for key, tiles in now.items():
            expected.append((int(key in before), *key, tiles))
        expected += [(2, *key, tiles) for key, tiles in before.items() if key not in now]
        assert sorted(heard, key=repr) == sorted(expected, key=repr)
        assert [call[0] for call in heard] == sorted(call[0] for call in heard), "enter, stay, leave"
        for call in heard:
            count[call[0]] += 1
        before = now
        heard.clear()
    assert min(count) > 20


def test_a_tile_that_blocks_counts_for_what_touches_its_side():
    world = bp.World()
    tiles = world.tiles = bp.TileMap([[False] * 3, [False] * 3, [False, True, False]], 0.1)
    tiles.set_data(1, 2, "spikes")
    ball, box = world.add(Circle(0.15, 0.05, 0.03)), world.add(Box(0.2, 0.05, 0.04, 0.05))
    heard = []
    world.on_tile(ANY, "spikes", lambda contact: heard.append(contact.body))
    world.update()
    assert not heard
    box.y += 0.1
    world.update()
    assert heard == [], "it touches a corner"
    world.move(ball, 0, 1)
    box.y += 0.01
    world.update()
    assert heard == [ball, box]
    tiles.set(1, 2, False)
    tiles.set_data(0, 2, "spikes")
    heard.clear()
    tiles.set_one_way(0, 2, "top")
    world.update()
    ball.move_to(0.05, 0.17)
    world.update()
    assert heard == [ball]


def test_leaving_counts_whatever_happened_to_the_body_and_tags_count_at_once():
    world, heard = bp.World(), []
    world.tiles = bp.TileMap([[False, False]], 10)
    world.tiles.set_data(0, 0, "water")
    world.on_tile(
        "fish", "water", lambda c: heard.append("in"), None, lambda c: heard.append(("out", c.tiles))
    )
    fish, other = (world.add(Box(2, 2, 3, 3), tag=tag) for tag in ("fish", "rock"))
    world.update()
    other.tag = "fish"
    world.update()
    assert heard == ["in", "in"]
    fish.remove()
    other.tag = "rock"
    world.update()
    assert heard[2:] == [("out", (Tile(0, 0),))] * 2
    other.tag = "fish"
    world.update()
    world.tiles.set_data(0, 0)
    world.update()
    assert heard[4:] == ["in", ("out", (Tile(0, 0),))]
    world.tiles = None
    world.update()


def test_what_a_function_raises_comes_through_and_no_call_is_repeated():
    world, heard = bp.World(), []
    world.tiles = bp.TileMap([[False, False]], 10)
    world.tiles.set_data(0, 0, "water")
    fish = [world.add(Box(2, 2, 3, 3), tag="fish") for _ in range(3)]

    @world.on_tile("fish", "water")
    def swim(contact):
        heard.append(contact.body)
        if contact.body is fish[1]:
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        world.update()
    world.update()
    world.update()
    assert heard == fish
    world.on_tile("fish", "water", lambda contact: world.update())
    with pytest.raises(RuntimeError, match="update"):
        world.update()


def test_a_listener_that_was_removed_hears_nothing():
    world, heard = bp.World(), []
    world.tiles = bp.TileMap([[False, False]], 10)
    world.tiles.set_data(0, 0, "water")
    world.add(Box(2, 2, 3, 3), tag="fish")
    one = world.on_tile("fish", "water", stay=lambda contact: heard.append("stays"))
    late = lambda contact: heard.append("late")  # noqa: E731 - `off` takes it
    world.update()
    world.on_tile("fish", "water", late)
    world.update()
    assert heard == ["late", "stays"], "one that is added later gets enter"
    one.remove()
    world.off(late)
    world.update()
    assert heard == ["late", "stays"]
    assert "removed" in repr(one)
    with pytest.raises(ValueError, match="not listening"):
        world.off(late)
    for wrong, message in (((None, "water"), "tag"), (("fish", ["water"]), "tile"), (("a", "b", 3), "enter")):
        with pytest.raises(TypeError, match=message):
            world.on_tile(*wrong)


def test_off_removes_all_that_call_a_function_and_nothing_for_none():
    world, heard = bp.World(), []
    world.tiles = bp.TileMap([[False, False]], 10)
    world.tiles.set_data(0, 0, "water")
    world.tiles.set_data(1, 0, "mud")
    for tag in ("fish", "frog"):
        world.add(Box(2, 2, 13, 3), tag=tag)
    for tile in ("water", "mud"):
        world.on_tile("fish", tile, stay=heard.append)
    world.on("fish", "frog", stay=heard.append)
    with pytest.raises(ValueError, match="not listening"):
        world.off(None)
    world.update()
    world.update()
    assert len(heard) == 3
    world.off(heard.append)
    world.update()
    assert len(heard) == 3


@pytest.mark.parametrize("pickled", [False, True])
def test_a_snapshot_knows_who_is_in_which_tiles(pickled):
    def scene():
        world, heard = level(3), []
        for tag in TAGS * 2:
            functions = [lambda c, k=k: heard.append((k, c.tag, c.body.id, c.tiles)) for k in range(3)]
            world.on_tile("actor", tag, *functions)
        return world, heard

    def play(world, seed):
        rng = np.random.default_rng(seed)
        for _ in range(6):
            for body in world:
                world.move(body, *rng.uniform(-12, 12, 2).tolist())
            world.update()

    world, heard = scene()
    play(world, 1)
    moment = world.snapshot(tiles=True)
    heard.clear()
    play(world, 2)
    expected = heard[:]
    assert {call[0] for call in expected} == {0, 1, 2}
    if pickled:
        moment = pickle.loads(pickle.dumps(moment))
        world, heard = scene()
    world.tiles.set_data(0, 0, "lava")
    heard.clear()
    world.restore(moment)
    play(world, 2)
    assert heard == expected


def test_tiles_hold_data_and_are_found_by_their_tags():
    tiles = bp.TileMap([[False] * 4] * 3, 10, origin=(100, 0))
    assert tiles.data(1, 1) == bp.TileData(frozenset(), {})
    assert tiles.tagged("water").tolist() == []
    tiles.set_data(1, 1, "water", {"depth": 3})
    tiles.set_data(3, 2, {"water", "cold"}, {"depth": 3})
    assert tiles.data(1, 1).properties == {"depth": 3}
    assert tiles.data_at(119, 15).tags == {"water"}
    assert tiles.data_at(0, 0) == tiles.data(-1, 0) == tiles.data(9, 9)
    assert tiles.tagged("water").tolist() == [[1, 1], [3, 2]]
    assert tiles.tagged("water", (125, 15, 140, 30)).tolist() == [[3, 2]]
    assert tiles.copy().tagged("cold").tolist() == [[3, 2]]
    assert pickle.loads(pickle.dumps(tiles)).tagged("cold").tolist() == [[3, 2]]
    tiles.set_data(3, 2)
    assert tiles.tagged("cold").tolist() == []
    with pytest.raises(IndexError, match="outside the map"):
        tiles.set_data(4, 0, "water")
    with pytest.raises(ValueError, match="ANY"):
        tiles.set_data(0, 0, ANY)


def test_data_of_tiles_may_hold_arrays_and_lists_and_differ_for_each_tile():
    level = bp.TileMap(np.zeros((200, 100), bool), 16)
    shared = np.arange(3)
    for tile in range(20_000):
        level.set_data(tile % 100, tile // 100, "gold", {"number": tile})
    level.set_data(0, 0, "heights", {"of": shared})
    level.set_data(1, 0, "heights", {"of": shared})
    level.set_data(2, 0, "heights", {"of": np.arange(3) + 1})
    level.set_data(3, 0, "loot", {"items": ["key"]})
    copied = pickle.loads(pickle.dumps(level))
    for tiles in (level, level.copy(), copied):
        tiles.set_data(4, 0, "loot", {"items": ["key"]})
        assert tiles.data(99, 199).properties == {"number": 19_999}
        assert [tiles.data(column, 0).properties["of"].tolist() for column in range(3)] == [
            [0, 1, 2],
            [0, 1, 2],
            [1, 2, 3],
        ]
        assert tiles.data(3, 0) is tiles.data(4, 0)
        assert tiles.tagged("loot").tolist() == [[3, 0], [4, 0]]
