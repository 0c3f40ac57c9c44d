"""The examples are played: without a display, by themselves and by the test."""

import os
import sys
from pathlib import Path

import numpy as np
import pytest
from later import Later

pygame = pytest.importorskip("pygame", reason="the extra pygame is not installed")
esper = pytest.importorskip("esper", reason="the extra esper is not installed")

import broadphase as bp  # noqa: E402

ROOT = Path(__file__).parent.parent
os.environ.setdefault("SDL_VIDEODRIVER", "dummy")
sys.path.insert(0, str(ROOT))

from examples import components, stage  # noqa: E402
from examples.__main__ import NAMES, game_named  # noqa: E402
from examples.stage import handle, main, step  # noqa: E402

steps = Later("examples.steps")  # imports Numba


@pytest.fixture(autouse=True)
def _without_a_display(monkeypatch, exhaustive):
    monkeypatch.setenv("SDL_VIDEODRIVER", "dummy")
    if not exhaustive:
        monkeypatch.setattr(stage, "WARM_UP", 1)
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
def test_every_example_plays_itself_and_writes_a_picture(name, tmp_path, capsys, exhaustive):
    picture, frames = tmp_path / "last.png", 5 if exhaustive else 3
    game = main(game_named(name), ["--frames", str(frames), "--screenshot", str(picture)])
    assert game.timer.frames == frames
    assert "a second" in capsys.readouterr().out
    pixels = pygame.surfarray.array3d(pygame.image.load(picture))
    assert pixels.shape == (*game.size, 3)
    assert len(np.unique(pixels @ [1 << 16, 1 << 8, 1])) > 5  # colours


def test_a_film_is_written_when_asked_for_and_by_a_key(tmp_path, monkeypatch):
    image = pytest.importorskip("PIL.Image", reason="the extra cli is not installed")
    monkeypatch.chdir(tmp_path)
    main(game_named("components"), ["--frames", "12", "--film", "asked.webp"])
    with image.open("asked.webp") as asked:
        assert (asked.n_frames, asked.size) == (4, (480, 320))

    presses = iter([pygame.K_v, *[None] * 8, pygame.K_v, None, pygame.K_ESCAPE])
    captions = []

    class Pressed(game_named("components")):
        def update(self):
            super().update()
            captions.append(pygame.display.get_caption()[0])
            if name := next(presses):
                pygame.event.post(pygame.event.Event(pygame.KEYDOWN, key=name))

    main(Pressed, [])
    with image.open("pressed.gif") as pressed:
        assert pressed.n_frames == 4
    assert str(tmp_path / "pressed.gif") in captions[-1]


def test_text_is_written_again_after_pygame_has_quit():
    play(game_named("components")(), 2)
    pygame.quit()
    pygame.display.init()
    play(game_named("components")(), 2)


@pytest.mark.parametrize("name", ["Flocking", "Grains", "Molecules"])
def test_steps_are_the_same_in_all_ways(name):
    kind = getattr(steps, name)
    scenes = {way: kind(count=300) for way in steps.WAYS}
    for _ in range(4):
        for way, scene in scenes.items():
            scene.step(way)
    for scene in scenes.values():
        np.testing.assert_allclose(scene.places, scenes["numpy"].places, rtol=1e-9, atol=1e-9)
    assert np.abs(scenes["sums"].velocities - kind(count=300).velocities).max() > 1e-6
    if kind is steps.Molecules:  # which keep their momentum
        np.testing.assert_allclose(scenes["sums"].velocities.sum(axis=0), 0.0, atol=1e-9)


def test_the_table_of_steps(capsys):
    steps.main(["--steps", "1", "--count", "100"])
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in lines] == ["Flocking", "Grains", "Molecules"]
    assert all("near.sum, near.scatter" in line for line in lines)


def test_sorted_sprites_finds_the_same_with_all_three_methods():
    game = game_named("sorted_sprites")(count=200)
    for _ in range(10):
        play(game, 1)
        motions = [game.by_groups(), game.by_sorting(), game.by_broadphase()]
        assert motions[0] == motions[1] == motions[2]
        assert motions[0]
    assert game.looked < 200 * 200 / 10
    game.by_itself = False
    for number in (1, 2, 3):
        game.handle(key(str(number)))
        game.update()
        assert game.method == number - 1


def test_components_collects_coins_and_hits_mines():
    game = game_named("components")(coins=400)
    game.by_itself = True
    for _ in range(300):  # most of a frame is its picture
        game.update()
    assert game.coins > 20, "it steers to coins"
    assert game.hits <= 1, "and around mines"
    before = game.coins
    here = esper.component_for_entity(game.ship, components.Place)
    mine = next(entity for entity, tag in esper.get_component(components.Tag) if "mine" in tag.names)
    there = esper.component_for_entity(mine, components.Place)
    there.x, there.y = here.x + 20, here.y
    hits = game.hits
    play(game, 1)
    assert (game.hits, game.coins) in ((hits + 1, before - 5), (hits + 1, before - 4))
    assert esper.component_for_entity(game.ship, components.Drift).dx < -4, "pushed away from it"
    stats = game.collisions.world.stats
    assert stats.bodies in (440, 441)
    assert stats.candidates < 50
    shown = play(game, 1).copy()
    handle(game, key("TAB"))
    assert not np.array_equal(pygame.surfarray.array3d(shown), pygame.surfarray.array3d(play(game, 1)))


@pytest.mark.parametrize("name", [name for name in NAMES if name != "dungeon"])
def test_tab_shows_what_the_engine_does_and_the_picture_says_when_it_is_paused(name):
    game = game_named(name)()
    play(game, 2)
    handle(game, key("p"))

    def picture():  # without the lines of text above and below
        return pygame.surfarray.array3d(play(game, 1))[:, 100:-80]

    plain = picture()
    handle(game, key("TAB"))
    assert game.engine_shown
    assert not np.array_equal(plain, picture())
    handle(game, key("TAB"))
    assert np.array_equal(plain, picture())
    game.paused, game.update = False, lambda: None  # the same moment, but for what says that it is paused
    assert not np.array_equal(plain[400:560, 210:250], picture()[400:560, 210:250])
    del game.update
    handle(game, key("TAB"))
    handle(game, key("r"))
    assert game.engine_shown


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


def test_every_example_restarts_and_pauses():
    for name in NAMES:
        game = game_named(name)()
        play(game, 3)
        frames = game.timer.frames
        handle(game, key("p"))
        assert game.paused
        before = pygame.surfarray.array3d(play(game, 1))
        handle(game, key("r"))
        assert not game.paused
        assert game.keys
        assert before.any()
        assert game.timer.frames <= frames + 1
        play(game, 2)
