"""The examples that simulate: flocks find together, a gas is as theory says, robots see what is there."""

import os
import sys
from pathlib import Path

import numpy as np
import pytest
from test_no_warm_up import run

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT))

from examples import gas, robots  # noqa: E402
from examples.__main__ import NAMES, PROGRAMS  # noqa: E402


@pytest.fixture
def boids(monkeypatch):
    """The module, without a display."""
    pygame = pytest.importorskip("pygame", reason="the extra pygame is not installed")
    monkeypatch.setenv("SDL_VIDEODRIVER", "dummy")
    pygame.display.init()
    from examples import boids as module

    yield module
    pygame.display.quit()


def test_birds_come_to_fly_as_their_neighbours_do(boids):
    flock = boids.Flock(1_000, (220, 140))
    assert abs(flock.alignment()) < 0.1
    for _ in range(150):
        flock.turn(flock.look(), None)
        flock.fly()
    assert flock.alignment() > 0.5
    assert ((flock.place >= 0) & (flock.place < flock.size)).all()
    assert np.allclose(np.hypot(*flock.velocity.T), boids.SPEED, rtol=1e-5)


def test_two_birds_turn_by_the_rules_also_across_the_edge(boids):
    flock = boids.Flock(2, (100, 100))
    flock.place[:] = [99, 50], [1, 50]  # two apart, nearer than a bird likes
    flock.velocity[:] = [0, boids.SPEED], [0, boids.SPEED]
    flock.turn(flock.look(), None)
    assert flock.velocity[0, 0] < 0 < flock.velocity[1, 0]
    flock.place[:] = [97.5, 50], [2.5, 50]  # five apart: it comes closer
    flock.velocity[:] = [boids.SPEED, 0], [0, boids.SPEED]
    flock.turn(flock.look(), None)
    assert flock.velocity[0, 1] > 0.1
    assert flock.velocity[1, 0] > 0.1


def test_birds_flee_the_hawk(boids):
    flock = boids.Flock(3_000, (600, 400))

    def near_the_hawk():
        return int((np.hypot(*(flock.place - np.float32([300, 200])).T) < 40).sum())

    before = near_the_hawk()
    for _ in range(40):
        flock.turn(flock.look(), (300.0, 200.0))
        flock.fly()
    assert near_the_hawk() < before / 4


def test_trails_are_where_birds_were_and_fade(boids):
    trails = boids.Trails((40, 30))
    seen = []
    for column in (5, 10, 15):
        trails.add(np.array([[column, 20]], np.float32), fade=True)
        seen = [sum(trails.picture.get_at((x, 20))[:3]) for x in (5, 10, 15)]
    assert sum(boids.BACKGROUND) < seen[0] < seen[1] < seen[2]
    assert trails.picture.get_at((15, 20))[:3] == boids.BRIGHT
    trails.add(np.array([[20, 20]], np.float32), fade=False)
    assert trails.picture.get_at((15, 20))[:3] == boids.BACKGROUND


def test_the_keys_of_the_flock(boids):
    import pygame

    game = boids.Boids(400)
    for key, count in ((pygame.K_UP, 800), (pygame.K_DOWN, 400), (pygame.K_t, 400), (pygame.K_i, 400)):
        game.handle(pygame.event.Event(pygame.KEYDOWN, key=key))
        assert len(game.flock) == count
    assert not game.fade
    game.handle(pygame.event.Event(pygame.MOUSEBUTTONDOWN, pos=(30, 40), button=1))
    game.handle(pygame.event.Event(pygame.MOUSEMOTION, pos=(31, 40)))
    assert game.hawk == (31, 40)
    game.handle(pygame.event.Event(pygame.MOUSEBUTTONUP, pos=(31, 40), button=1))
    assert game.hawk is None


@pytest.mark.parametrize("ideal", [False, True])
def test_a_gas_is_correlated_as_theory_says(ideal):
    made = gas.Gas(6_000, 0.08, ideal=ideal)
    edges = np.array([0.5, 0.8, 1.0, 1.2, 1.5, 2.0, 2.5, 3.0])
    theory = made.theory(edges)
    g = gas.correlation(made, edges, shots=20)
    assert np.abs(g - theory).max() < 0.05
    if not ideal:
        assert g[:2].tolist() == [0, 0]
        assert g[2] > 1.06
        assert not len(made.overlaps())
        assert 0.3 < made.moved < 1


def test_no_disc_moves_into_another():
    made = gas.Gas(300, 0.2)
    for _ in range(10):
        before = made.place.copy()
        made.sweep()
        gap = made.place[:, None] - made.place
        gap -= made.side * np.rint(gap / made.side)
        far = np.hypot(gap[..., 0], gap[..., 1])
        assert far[~np.eye(300, dtype=bool)].min() > 1
        assert 0 < (before != made.place).any(axis=1).sum() < 300


def first_hits(worlds, queries, rows):
    """The length of some rays, by testing every box of their world."""
    boxes = np.vstack((robots.around(worlds.place), worlds.obstacles))
    envs = np.concatenate((worlds.env, worlds.env_of_obstacles))
    found = []
    for row in rows:
        meets = envs == queries["env"][row]
        meets[queries["ignore"][row]] = False
        origin, direction = queries["origin"][row], queries["direction"][row]
        with np.errstate(divide="ignore"):
            sides = (boxes[meets].reshape(-1, 2, 2) - origin) / direction
        enter, leave = sides.min(axis=1).max(axis=1), sides.max(axis=1).min(axis=1)
        hit = (enter <= leave) & (leave >= 0) & (enter <= robots.SIGHT)
        found.append(max(enter[hit].min(), 0) if hit.any() else np.inf)
    return np.array(found)


def test_robots_see_what_is_there_and_run_into_nothing():
    worlds = robots.Worlds(24, rays=12)
    begun = worlds.place.copy()
    for _ in range(8):
        worlds.step()
        boxes = robots.around(worlds.place)
        for world in range(worlds.worlds):
            own, around = boxes[worlds.env == world], worlds.obstacles[worlds.env_of_obstacles == world]
            others = np.vstack((own, around))
            inside = (own[:, None, :2] < others[:, 2:]) & (own[:, None, 2:] > others[:, :2])
            assert inside.all(axis=2).sum() == len(own)  # each one only itself
    queries = worlds.rays()
    distances = worlds.index.raycast(**queries).distances
    rows = np.random.default_rng(1).choice(len(distances), 300, replace=False)
    assert np.allclose(distances[rows], first_hits(worlds, queries, rows), rtol=1e-9)
    assert 0.2 < np.isfinite(distances[rows]).mean() < 1
    assert np.linalg.norm(worlds.place - begun, axis=1).mean() > 1


def test_robots_and_gas_print_and_draw(tmp_path, capsys):
    pytest.importorskip("matplotlib", reason="the extra plot is not installed")
    robots.main(["--worlds", "2", "--frames", "1", "--picture", str(tmp_path / "robots.png")])
    said = capsys.readouterr().out
    assert "2 worlds, 8 robots, 32 obstacles, 192 rays a frame" in said
    assert "rays a second" in said
    gas.main(["--count", "500", "--shots", "2", "--picture", str(tmp_path / "gas.png")])
    assert "furthest from theory" in capsys.readouterr().out
    for name in ("robots", "gas"):
        assert (tmp_path / f"{name}.png").stat().st_size > 5_000


@pytest.mark.parametrize("example", [gas, robots])
def test_without_matplotlib_one_line_says_what_to_install(example, monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(SystemExit):
        example.main(["--picture", "never.png"])
    assert "--picture needs matplotlib: python -m pip install '.[plot]'" in capsys.readouterr().err


def test_a_gas_that_is_too_crowded_is_refused():
    with pytest.raises(ValueError, match=r"at most 0\.2, it is 0\.5"):
        gas.Gas(100, 0.5)


def test_gas_and_robots_start_without_pygame_and_games_say_in_one_line_what_to_install():
    program = """if True:
        import importlib.util, runpy, sys
        sys.modules["pygame"] = sys.modules["esper"] = None
        real = importlib.util.find_spec
        gone = "pygame", "esper"
        importlib.util.find_spec = lambda name, *rest: None if name in gone else real(name, *rest)
        from examples import __main__
        assert __main__.run(["robots", "--worlds", "2", "--frames", "1"]) == 0
        assert "'.[pygame,esper]'" in __main__.run(["components"])
        sys.argv = ["examples", "dungeon"]
        try:
            runpy.run_path(__main__.__file__, run_name="__main__")
        except SystemExit as ends:
            assert ends.code == "dungeon needs pygame: python -m pip install '.[pygame]'", ends
        else:
            raise AssertionError("it ended as if it had run")
        assert __main__.run([]) == 0
    """
    said = run(program, PYTHONPATH=os.pathsep.join([str(ROOT), str(ROOT / "src")]))
    assert "rays a second" in said
    lines = said.splitlines()[-len([*NAMES, *PROGRAMS]) :]
    assert [line.split()[3] for line in lines] == [*NAMES, *PROGRAMS]
    assert all(len(line.split()) > 6 for line in lines)
