"""The examples are played: without a display, by themselves and by the test."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

pygame = pytest.importorskip("pygame", reason="the extra pygame is not installed")
esper = pytest.importorskip("esper", reason="the extra esper is not installed")

import broadphase as bp  # noqa: E402

ROOT = Path(__file__).parent.parent
os.environ.setdefault("SDL_VIDEODRIVER", "dummy")
sys.path.insert(0, str(ROOT))

from examples.__main__ import NAMES, game_named  # noqa: E402
from examples.stage import main, step  # noqa: E402


@pytest.fixture(autouse=True)
def _without_a_display(monkeypatch):
    monkeypatch.setenv("SDL_VIDEODRIVER", "dummy")
    pygame.display.init()
    yield
    pygame.display.quit()
    esper.switch_world("default")  # the example of components plays in a world of its own


def play(game, frames):
    """So many frames by itself, as in a window."""
    game.by_itself = True
    surface = pygame.display.set_mode(game.size)
    for _ in range(frames):
        step(game, surface)
    return surface


def key(name):
    return pygame.event.Event(pygame.KEYDOWN, key=getattr(pygame, f"K_{name}"))


def mouse(kind, x, y):
    return pygame.event.Event(getattr(pygame, f"MOUSE{kind}"), pos=(x, y), button=1)


@pytest.mark.parametrize("name", NAMES)
def test_every_example_plays_itself_and_writes_a_picture(name, tmp_path, capsys):
    picture = tmp_path / "last.png"
    game = main(game_named(name), ["--frames", "5", "--screenshot", str(picture)])
    assert game.timer.frames == 5
    assert "a second" in capsys.readouterr().out
    pixels = pygame.surfarray.array3d(pygame.image.load(picture))
    assert pixels.shape == (*game.size, 3)
    assert len(np.unique(pixels.reshape(-1, 3), axis=0)) > 5


def test_the_list_of_examples(tmp_path):
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), str(ROOT / "src")])}
    done = subprocess.run(
        [sys.executable, "-m", "examples"],
        capture_output=True,
        text=True,
        check=True,
        env=environment,
        cwd=tmp_path,
    )
    lines = done.stdout.splitlines()
    assert [line.split()[3] for line in lines] == list(NAMES)
    assert all(len(line.split()) > 6 for line in lines)


def test_sorted_sprites_finds_the_same_in_all_three_ways():
    game = game_named("sorted_sprites")(count=200)
    for _ in range(10):
        play(game, 1)
        ways = [game.by_groups(), game.by_sorting(), game.by_broadphase()]
        assert ways[0] == ways[1] == ways[2]
        assert ways[0]
    assert game.looked < 200 * 200 / 10
    game.by_itself = False
    for number in (1, 2, 3):
        game.handle(key(str(number)))
        assert game.way == number - 1


def test_components_collects_coins_and_hits_mines():
    game = game_named("components")(coins=400)
    play(game, 200)
    assert game.coins > 3
    assert game.hits > 0
    stats = game.collisions.world.stats
    assert stats.bodies in (440, 441)
    assert stats.candidates < 50
    shown = play(game, 1).copy()
    game.handle(key("g"))
    assert not np.array_equal(pygame.surfarray.array3d(shown), pygame.surfarray.array3d(play(game, 1)))


def test_queries_sees_hits_and_pushes():
    game = game_named("queries")()
    play(game, 100)
    assert game.seen
    assert game.nearest in game.guards
    assert game.hit is None or game.hit.other is not game.walker
    assert game.pushed > 0
    for guard in game.guards:
        for column, row in game.world.tiles.tiles_in(guard.shape).tolist():
            inside = bp.contact(guard.shape, bp.Box(32 * column, 32 * row, 32, 32))
            assert inside is None or inside.depth < 1e-9
    target = game.guards[7]
    game.handle(mouse("MOTION", *target.position))
    aimed = game.aim
    assert np.allclose(aimed, np.subtract(target.position, game.walker.position))
    before = {guard: guard.position for guard in game.guards}
    game.handle(mouse("BUTTONDOWN", target.x + 30, target.y))
    away = target.x - before[target][0]
    assert away <= 0
    assert (away < 0) == (game.pushed > 0)


def test_balls_can_be_dragged_and_thrown_and_keep_their_energy():
    game = game_named("balls")(count=40)
    play(game, 60)
    assert abs(game.balls.energy / game.energy - 1) < 1e-12
    x, y = game.balls.positions[3].tolist()
    game.handle(mouse("BUTTONDOWN", x, y))
    held = game.held
    assert held is not None
    game.handle(mouse("MOTION", 500, 300))
    play(game, 1)
    assert game.balls.positions[held].tolist() == [500, 300]
    game.handle(mouse("MOTION", 505, 300))
    play(game, 1)
    game.handle(mouse("BUTTONUP", 505, 300))
    assert game.held is None
    assert game.balls.velocities[held, 0] == pytest.approx(300)
    for name in ("i", "UP", "DOWN", "DOWN", "g", "SPACE"):
        game.handle(key(name))
        play(game, 2)
    assert len(game.balls) == 20
    assert game.gravity
    assert game.slow


def small_dungeon(**options):
    return game_named("dungeon")(**{"monsters": 60, "food": 12, "across": 2, "down": 2, "seed": 1} | options)


def nothing_overlaps(game):
    """No figure in a wall, none in another: looked up the slow way; the world and the cells agree."""
    figures = [game.player, *game.monsters]
    boxes = np.array([(f.x, f.y, f.x + f.size, f.y + f.size) for f in figures])
    assert len(bp.pairs(boxes, method="brute_force", touching=False)) == 0
    for figure, box in zip(figures, boxes, strict=True):
        assert game.level.tiles.first_blocker(tuple(box)) is None
        assert figure.body.bounds == tuple(box)
    standing = {id(one) for cell in game.cells.occupants.values() for one in cell}
    assert standing == set(map(id, figures))


def test_nobody_in_the_dungeon_overlaps_anybody_or_a_wall():
    game = small_dungeon()
    for _ in range(60):
        play(game, 5)
        nothing_overlaps(game)
    assert game.killed > 5
    assert game.eaten > 2
    assert game.health > 0


def test_monsters_come_nearer_and_bite():
    game = small_dungeon(food=0)
    game.pilot.steer = lambda: (0, 0)

    def distance():
        return np.mean([abs(m.x - game.player.x) + abs(m.y - game.player.y) for m in game.monsters])

    far = distance()
    play(game, 300)
    assert distance() < far - 50
    assert 0 < game.health < 500
    play(game, 200)
    assert game.health <= 0
    frames = [(m.x, m.y) for m in game.monsters]
    play(game, 5)
    assert frames == [(m.x, m.y) for m in game.monsters], "it is over"


def test_a_shot_flies_until_it_hits():
    game = small_dungeon(monsters=0, food=0)
    target = game.create("monster", game.player.x + 90, game.player.y, 0.0)
    game.monsters.append(target)
    behind = game.create("monster", game.player.x + 130, game.player.y, 0.0)
    game.monsters.append(behind)
    game.pilot.steer = lambda: (0, 0)
    game.handle(key("SPACE"))
    assert len(game.shots) == 1
    play(game, 20)
    assert (game.shots, game.killed, game.monsters) == ([], 1, [behind])
    assert target.body.alive is False
    game.look = (0, -1)
    game.handle(key("SPACE"))
    play(game, 60)
    assert (game.shots, game.killed) == ([], 1), "a wall stops it"


def test_food_is_eaten_and_a_key_opens_a_door():
    for seed in range(20):
        game = small_dungeon(monsters=0, food=0, seed=seed)
        game.pilot.steer = lambda: (0, 0)
        if game.level.doors:
            break
    tile = next(tile for tile in game.level.doors if tile.row % 12 == 6 or tile.column % 12 == 6)
    gap = list(game.level.doors[tile])
    left, top, right, bottom = game.level.tiles.bounds_of(*tile)
    upright = gap[0].column == gap[1].column
    place = (left - 40, top + 5) if upright else (left + 5, top - 40)
    way = (1, 0) if upright else (0, 1)
    game.player.body.move_to(*place)
    game.cells.occupy(game.player, *place)
    for _ in range(30):
        game.walk(*way)
    assert game.level.tiles.is_solid(*tile), "without a key it stays shut"
    health = game.health
    for kind in ("food", "key"):
        middle = game.player.x + 11, game.player.y + 11
        game.world.add(bp.Circle(*middle, 7), tag="food", sensor=True, data=kind)
    play(game, 1)
    assert (game.health, game.keys, game.eaten) == (health + 50, 1, 2)
    for _ in range(30):
        game.walk(*way)
    assert not any(game.level.tiles.is_solid(*part) for part in gap)
    assert game.keys == 0
    assert game.player.x > right if upright else game.player.y > bottom


def test_cells_remember_who_stands_where():
    from examples.dungeon.cells import Cells
    from examples.dungeon.game import Figure

    solid = np.zeros((4, 6), bool)
    solid[1, 2] = True
    cells = Cells(bp.TileMap(solid, 32))
    a, b = Figure(0, 0, 1, size=20), Figure(0, 0, 1, size=20)
    cells.occupy(a, 10, 10)
    assert set(cells.occupants) == {(0, 0)}
    cells.occupy(a, 20, 20)
    assert {cell for cell, who in cells.occupants.items() if who} == {(0, 0), (1, 0), (0, 1), (1, 1)}
    cells.occupy(a, 12, 12)  # flush with the next cells: it does not touch them
    assert {cell for cell, who in cells.occupants.items() if who} == {(0, 0)}
    cells.occupy(b, 40, 12)
    assert cells.try_move(b, -8, 0) is None
    assert (b.x, cells.try_move(b, -0.5, 0), b.x) == (32, a, 32)
    assert cells.try_move(b, 12.5, 20) == bp.Tile(2, 1)
    assert cells.try_move(b, 12, 8) is None
    cells.solid[1, 2] = False
    assert cells.try_move(b, 12.5, 12) is None
    cells.leave(b)
    assert cells.occupied(b.x, b.y, 20) is None
