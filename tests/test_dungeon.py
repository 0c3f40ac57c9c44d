"""The dungeon keeps its rules: played by itself, and its parts one by one."""

import json
import os
import random
import runpy
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from zipfile import ZipFile

import numpy as np
import pytest

pygame = pytest.importorskip("pygame", reason="the extra pygame is not installed")

import broadphase as bp  # noqa: E402

os.environ.setdefault("SDL_VIDEODRIVER", "dummy")
sys.path.insert(0, str(Path(__file__).parent.parent))

from examples.dungeon import Dungeon, controls, hero, items, monsters  # noqa: E402
from examples.dungeon.level import TILE, Level  # noqa: E402
from examples.dungeon.script import Watch  # noqa: E402
from examples.stage import handle, main, step  # noqa: E402


@pytest.fixture(autouse=True)
def _without_a_display(monkeypatch):
    monkeypatch.setenv("SDL_VIDEODRIVER", "dummy")
    pygame.display.init()
    yield
    pygame.display.quit()


@pytest.fixture
def surface():
    return pygame.display.set_mode(Dungeon.size)


def still(game, motion=(0, 0), shoots=False):
    """Somebody else steers."""
    game.by_itself = True
    game.pilot.steer = lambda: (motion, shoots)
    return game


def put_hero(game, x, y):
    game.hero.body.move_to(x - hero.SIZE / 2, y - hero.SIZE / 2)


def put_monster(game, kind, x, y):
    """All others away, and one of a kind with its middle at a point."""
    game.monsters.remove(np.arange(len(game.monsters)))
    side = monsters.KINDS[kind].side
    places = np.array([[x - side / 2, y - side / 2]], float)
    game.monsters = monsters.Monsters(game.world, np.array([kind]), places, 1)


# ---- the whole


def test_nothing_is_in_a_wall_and_the_monsters_come(surface):
    game = Dungeon(monsters=100, rooms=(4, 3))
    game.by_itself, game.watch = True, Watch()
    for frame in range(200):
        game.update()
        assert 0 <= game.hero.health <= hero.HEALTH
        if frame % 60 == 0:
            boxes = [body.bounds for body in game.world if body.tag == "monster" or body.tag == "hero"]
            assert len(bp.pairs(np.array(boxes), method="brute_force", touching=False)) == 0
            for box in boxes:
                assert not len(game.level.tiles.tiles_in(box))
            ids = game.monsters.ids.tolist()
            assert [game.world.body(k).position for k in ids] == list(
                map(tuple, game.monsters.places.tolist())
            )
    assert game.watch.walled == 0
    assert game.watch.with_a_path > 60
    assert game.watch.nearer / game.watch.with_a_path >= 0.8
    assert game.killed > 0
    game.world.validate()


def test_played_by_a_script_it_prints_what_was_seen(capsys):
    game = main(Dungeon, ["--script", "5"])
    said = capsys.readouterr().out
    assert len(game.monsters) > 450
    for words in (
        "a second",
        "in a wall: 0",
        "came nearer",
        "the engine's share of the time:",
        "500 monsters",
    ):
        assert words in said


def test_standing_for_five_seconds_is_not_deadly(surface):
    game = still(Dungeon(monsters=80, rooms=(3, 3)))
    for _ in range(1_000):
        game.update()
        if game.hero.health < hero.HEALTH:
            break
    for _ in range(300):
        game.update()
    assert game.state == "play"
    assert 0 < game.hero.health < 0.8 * hero.HEALTH
    game.hero.health = 1
    for _ in range(100):
        game.update()
        if game.state != "play":
            break
    assert (game.state, game.hero.health) == ("dead", 0)
    places = game.monsters.places.copy()
    game.update()
    assert np.array_equal(places, game.monsters.places), "it is over"
    game.restart()
    assert (game.state, game.hero.health, game.hero.score, game.depth) == ("play", hero.HEALTH, 0, 1)


def test_nothing_moves_behind_the_title_until_a_key_is_pressed(surface, exhaustive):
    game = Dungeon(monsters=80, rooms=(3, 3))
    places = game.monsters.places.copy()
    for _ in range(200 if exhaustive else 60):
        step(game, surface)
    assert (game.state, game.hero.health) == ("title", hero.HEALTH)
    assert np.array_equal(places, game.monsters.places)
    handle(game, pygame.event.Event(pygame.KEYDOWN, key=pygame.K_SPACE))
    for _ in range(3):
        step(game, surface)
    assert game.state == "play"
    assert not np.array_equal(places, game.monsters.places)
    handle(game, pygame.event.Event(pygame.KEYDOWN, key=pygame.K_r))
    assert game.state == "play", "who has read the title once plays at once"


def test_by_itself_it_gets_down_to_the_third_level(exhaustive):
    game = Dungeon(seed=4) if exhaustive else Dungeon(30, seed=7, rooms=(3, 3))
    game.by_itself = True
    for _ in range(9_000):  # a hero that dies starts again
        game.update()
        if game.depth == 3:
            break
    assert game.depth == 3
    assert game.killed > 20


def test_the_arrow_leads_to_the_key_and_with_it_to_the_stairs(exhaustive):
    """Walking where it points, without monsters, ends on the next level."""
    shown, doors = set(), 0
    for seed in range(4) if exhaustive else (0, 3):  # with doors and without
        game = Dungeon(0, seed=seed, rooms=(3, 3))
        doors += bool(game.level.doors)
        game.by_itself = True

        def follow(game=game):
            kind, field = game.way()
            shown.add(kind)
            return field.ways_at([game.hero.middle])[0], False

        game.pilot.steer = follow
        for _ in range(2_000):
            game.update()
            if game.depth == 2:
                break
        assert game.depth == 2
    assert shown == {"stairs", "key"}
    assert doors


# ---- levels


@pytest.mark.parametrize("seed", range(12))
def test_whatever_doors_are_opened_the_stairs_can_be_reached(seed):
    """Doors are opened in any order as long as there are keys; keys are taken where one can walk."""
    rng = random.Random(seed)
    level = Level(4, 4, rng)
    world = bp.World()
    items.scatter(world, level, rng, last=False)
    keys = {body.position: False for body in world.query_box(level.tiles.bounds, tag="key")}
    (stairs,) = world.query_box(level.tiles.bounds, tag="stairs")
    in_hand = 0
    while True:
        field = level.tiles.flow_field(level.start_tile, size=2 if not level.doors else 1)
        for (x, y), taken in keys.items():
            if not taken and np.isfinite(field.distances_at([(x + 10, y + 10)])[0]):
                keys[x, y] = True
                in_hand += 1
        beside = [
            tile
            for tile in level.doors
            for dx, dy in ((1, 0), (-1, 0), (0, 1), (0, -1))
            if np.isfinite(field.distances[tile.row + dy, tile.column + dx])
        ]
        if not level.doors:
            break
        assert in_hand > 0
        assert level.open(rng.choice(beside))
        in_hand -= 1
    assert np.isfinite(level.tiles.flow_field(level.start_tile).distances_at([stairs.position])[0])
    for body in world:
        assert not level.tiles.is_solid(*level.tiles.tile_at(body.x + 10, body.y + 10))


def test_a_door_keeps_monsters_away_until_a_key_opens_it(surface):
    game = next(g for g in (Dungeon(0, seed=k, rooms=(2, 2)) for k in range(20)) if g.level.doors)
    game = still(game)
    tile = next(tile for tile in game.level.doors if tile.row % 12 == 6 or tile.column % 12 == 6)
    gap = game.level.doors[tile]
    upright = gap[0].column == gap[1].column
    before, behind = (
        np.array(items.middle(tile)) + np.array((k, 0) if upright else (0, k)) for k in (-28, 60)
    )
    put_hero(game, *before)
    put_monster(game, 0, *behind)
    game.pilot.steer = lambda: ((1, 0) if upright else (0, 1), False)
    game.update()
    assert game.level.tiles.is_solid(*tile), "without a key it stays shut"
    assert "key" in game.message
    assert np.isinf(game.monsters.distances).all() or game.monsters.distances[0] > 300
    game.hero.keys = 1
    game.update()
    assert not any(game.level.tiles.is_solid(*part) for part in gap)
    assert (game.hero.keys, len({*gap} & {*game.level.doors})) == (0, 0)
    game.update()
    assert game.monsters.distances[0] < 150


# ---- hero, arrows, items


def test_an_arrow_flies_until_it_hits(surface):
    game = still(Dungeon(0, rooms=(2, 2)))
    x, y = game.hero.middle
    put_monster(game, 1, x + 90, y)
    game.monsters.pace[:] = 0
    game.pilot.steer = lambda: ((0, 0), True)
    for _ in range(30):
        game.update()
    assert (game.killed, len(game.monsters)) == (1, 0)
    assert game.hero.score >= monsters.KINDS[1].score
    game.pilot.steer = lambda: ((0, 0), False)
    for _ in range(90):
        game.update()
    assert len(game.arrows) == 0, "a wall stops it"
    assert not [body for body in game.world if body.category == hero.ARROW]


def test_what_is_taken_counts(surface):
    game = still(Dungeon(0, rooms=(2, 2)))
    game.world.remove_many(game.world.query_box(game.level.tiles.bounds, tag="item"))
    game.hero.health = 40
    for kind in ("food", "key", "gold", "gem"):
        items.put(game.world, kind, game.hero_tile)
    game.update()
    assert (game.hero.health, game.hero.keys, game.hero.score) == (65, 1, 250)
    assert not game.world.query_box(game.level.tiles.bounds, tag="item")
    items.put(game.world, "stairs", game.hero_tile)
    game.update()
    assert (game.depth, game.hero.health, game.hero.keys) == (2, 65, 1)
    items.put(game.world, "amulet", game.hero_tile)
    game.update()
    assert game.state == "won"


# ---- what is heard, seen and pressed


class Pad:
    """A gamepad."""

    def __init__(self, axes, hat=(0, 0), button=False):
        self.axes, self.hat, self.button = axes, hat, button

    def get_numaxes(self):
        return len(self.axes)

    def get_axis(self, axis):
        return self.axes[axis]

    def get_numhats(self):
        return 1

    def get_hat(self, _):
        return self.hat

    def get_button(self, _):
        return self.button


def test_keys_and_gamepads(surface):
    game = Dungeon(0, rooms=(2, 2))
    pads = game.controls
    assert (pads.direction(), pads.shoots()) == ((0, 0), False)
    pads.pads = [Pad((0.1, 0.2)), Pad((0.0, -0.8), button=True)]
    assert (pads.direction(), pads.shoots()) == ((0.0, -0.8), True)
    pads.pads = [Pad((0.1, 0.2), hat=(1, 1))]
    assert pads.direction() == (1, -1), "up on a hat is up on the screen"
    game.handle(pygame.event.Event(pygame.JOYBUTTONDOWN, button=7))
    assert game.paused
    game.handle(pygame.event.Event(pygame.JOYBUTTONDOWN, button=6))
    assert (game.games, game.paused) == (2, False), "as R on the keyboard: a new game is not paused"
    tab, mute = (pygame.event.Event(pygame.KEYDOWN, key=key) for key in (pygame.K_TAB, pygame.K_m))
    pad = pygame.event.Event(pygame.JOYBUTTONDOWN, button=3)
    for event, changed in (
        (tab, lambda: game.engine_shown),
        (pad, lambda: game.engine_shown),
        (mute, lambda: game.sound.muted),
    ):
        before = changed()
        handle(game, event)
        assert changed() != before
    assert controls.HELP in game.keys


def test_a_key_shows_the_engine_and_light_ends_at_walls(surface):
    game = still(Dungeon(monsters=60, rooms=(3, 3)))
    for _ in range(40):
        step(game, surface)
    game.paused = True
    step(game, surface)
    plain = pygame.surfarray.array3d(surface)
    handle(game, pygame.event.Event(pygame.KEYDOWN, key=pygame.K_TAB))
    step(game, surface)
    assert (plain != pygame.surfarray.array3d(surface)).mean() > 0.02
    light = game.view.light
    tile = game.hero_tile
    assert light.bright[tile.row, tile.column] > 0.9
    dark = light.goal == 0
    assert dark.any()
    lit = np.argwhere((light.goal > 0) & ~game.level.tiles.solid)[:, ::-1]
    middles = (lit + 0.5) * TILE
    assert game.level.tiles.line_of_sight(game.hero.middle, middles).all()


IN_THE_PAGE = """
import json, runpy, sys
frame = runpy.run_path(sys.argv[1])["frame"]
first, *others = [json.loads(frame(1.0, 0.0, True, False)) for _ in range(40)]
print(json.dumps([first, others[-1], any("solid" in one for one in others)]))
"""


def test_the_page_of_the_dungeon_plays_without_pygame(tmp_path):
    """Only the modules that the site packs are there (docs/conf.py), and nothing called pygame."""
    root = Path(__file__).parent.parent
    runpy.run_path(str(root / "docs/conf.py"))["_pack_dungeon"](SimpleNamespace(outdir=tmp_path))
    with ZipFile(tmp_path / "_static/dungeon.zip") as packed:
        packed.extractall(tmp_path)
    (tmp_path / "pygame.py").write_text("raise ImportError")
    run = [sys.executable, "-c", IN_THE_PAGE, str(root / "docs/_static/dungeon.py")]
    said = subprocess.run(run, cwd=tmp_path, capture_output=True, text=True, check=True).stdout
    first, last, again = json.loads(said)
    assert last["hero"][0] > first["hero"][0] + 60
    assert len(last["arrows"]) > 1
    assert first["state"] == last["state"] == "play"
    column, row = (int(at // TILE) for at in last["hero"][:2])
    assert first["solid"][row][column] == 0
    assert not again, "the level is sent once"
