"""The adapters compared with the functions that they replace; bouncing balls; and parts of the dungeon.

``python benchmarks/adapters.py`` prints everything; ``pygame``, ``arcade``, ``mesa``, ``balls`` or
``dungeon`` a part.
Every comparison first checks that the answers are the same.
"""

import argparse
import contextlib
import os
import random
import sys
from functools import partial
from pathlib import Path

os.environ.setdefault("SDL_VIDEODRIVER", "dummy")
os.environ.setdefault("PYGAME_HIDE_SUPPORT_PROMPT", "1")
os.environ.setdefault("ARCADE_HEADLESS", "True")
sys.path.insert(0, str(Path(__file__).parent.parent))

from timing import best_of

SIDE = 32
PER_SPRITE = 60.0  # pixels to the next sprite: about half a hit for every sprite


def compare(name, theirs, ours):
    times = best_of({"theirs": theirs, "ours": ours})
    print(
        f"{name:<44}{1e6 * times['theirs']:12,.1f}{1e6 * times['ours']:12,.1f}"
        f"{times['theirs'] / times['ours']:10.1f} x"
    )


def heading(theirs):
    print(f"\n{'microseconds':<44}{theirs:>12}{'broadphase':>12}{'gain':>12}")


def pygame_groups(n, kind, rng):
    import pygame

    groups = pygame.sprite.Group(), pygame.sprite.Group()
    for group in groups:
        for _ in range(n):
            one = pygame.sprite.Sprite(group)
            one.rect = kind(*(rng.uniform(0, PER_SPRITE * n**0.5) for _ in "xy"), SIDE, SIDE)
            one.image = pygame.Surface((SIDE, SIDE))
            one.mask = pygame.mask.Mask((SIDE, SIDE), fill=True)
    return groups


def bench_pygame():
    import pygame
    from pygame import sprite

    from broadphase.adapters import pygame as ours

    heading("pygame")
    for n in (5, 10, 30, 100, 500, 2_000):
        a, b = pygame_groups(n, pygame.Rect, random.Random(1))
        assert sprite.groupcollide(a, b, False, False) == ours.groupcollide(a, b, False, False)
        calls = [partial(module.groupcollide, a, b, False, False) for module in (sprite, ours)]
        compare(f"groupcollide, {n} x {n}", *calls)
    tests = {
        "collide_circle": sprite.collide_circle,
        "collide_mask": sprite.collide_mask,
        "collide_rect_ratio(0.8)": sprite.collide_rect_ratio(0.8),
    }
    for kind in (pygame.Rect, pygame.FRect):
        a, b = pygame_groups(500, kind, random.Random(2))
        for name, test in {"rects": None, **tests}.items():
            assert sprite.groupcollide(a, b, False, False, test) == ours.groupcollide(
                a, b, False, False, test
            )
            calls = [partial(module.groupcollide, a, b, False, False, test) for module in (sprite, ours)]
            compare(f"groupcollide, 500 x 500, {kind.__name__}, {name}", *calls)


def arcade_list(n, hashed, rng):
    import arcade

    texture = arcade.make_soft_square_texture(SIDE, (255, 255, 255), 255, 255)
    made = arcade.SpriteList(use_spatial_hash=hashed)
    for _ in range(n):
        place = {f"center_{axis}": rng.uniform(0, PER_SPRITE * n**0.5) for axis in "xy"}
        made.append(arcade.Sprite(texture, **place))
    made.initialize()
    return made


def query(function, sprites, where):
    return [function(sprite, where) for sprite in sprites]


def move_and_ask(function, sprites, where):
    """A frame in which all sprites move and some are queried."""
    for sprite in where:
        sprite.center_x += 0.001
    return query(function, sprites, where)


def move_and_look(where):
    """A frame in which all sprites move and some query the spatial hash."""
    for sprite in where:
        sprite.center_x += 0.7
    return [where.spatial_hash.get_sprites_near_sprite(sprite) for sprite in where.sprite_list[:100]]


def bench_arcade():
    import arcade

    from broadphase.adapters import arcade as ours

    window = arcade.Window(64, 64)  # without one arcade cannot use the graphics card
    heading("arcade")
    for n in (100, 1_000, 10_000):
        for hashed in (False, True):
            rng = random.Random(3)
            where = arcade_list(n, hashed, rng)
            sprites = [where[rng.randrange(n)] for _ in range(100)]
            functions = arcade.check_for_collision_with_list, ours.check_for_collision_with_list
            answers = [[set(found) for found in query(function, sprites, where)] for function in functions]
            assert answers[0] == answers[1]
            named = f"{n:,} sprites, {'hash' if hashed else 'no hash'}"
            compare(f"100 calls, {named}", *(partial(query, one, sprites, where) for one in functions))
            if hashed:
                plain = arcade_list(n, False, random.Random(3))
                compare(
                    f"all move, 100 calls, {n:,}, hash / none",
                    partial(move_and_ask, functions[0], sprites, where),
                    partial(move_and_ask, functions[1], plain.sprite_list[:100], plain),
                )
            else:
                frames = (partial(move_and_ask, one, sprites, where) for one in functions)
                compare(f"all move, 100 calls, {named}", *frames)
    for n in (1_000, 5_000):
        theirs, mine = (arcade_list(n, True, random.Random(3)) for _ in range(2))
        ours.SpatialHash.of(mine)
        looks = [partial(move_and_look, one) for one in (theirs, mine)]
        assert [len(found) for found in looks[0]()] == [len(found) for found in looks[1]()]
        compare(f"spatial hash: all move, 100 looks, {n:,}", *looks)
    window.close()


def mesa_space(kind, n, torus):
    """A space with about ten agents within a distance of 1 of each, and the agents."""
    import mesa
    import numpy as np
    from mesa.experimental.continuous_space import ContinuousSpaceAgent

    side = (n * np.pi / 10) ** 0.5
    model = mesa.Model(seed=1)
    space = kind([[0, side], [0, side]], torus=torus, random=model.random, n_agents=n)
    for place in np.random.default_rng(1).random((n, 2)) * side:
        ContinuousSpaceAgent(space, model).position = place
    return space, model


def all_one_by_one(space):
    return {agent: agent.get_neighbors_in_radius(1.0) for agent in space.active_agents}


def all_at_once(space):
    return space.neighbors_of_all(1.0)


def move_everybody(space, _model):
    for agent in space.active_agents:
        agent.position = agent.position * 0.9999


def come_and_go(space, model, n=200):
    """Remove some agents, and add as many, at random positions."""
    import numpy as np
    from mesa.experimental.continuous_space import ContinuousSpaceAgent

    for agent in model.random.sample(space.active_agents, n):
        agent.remove()
    for place in np.random.default_rng(model.random.randrange(2**32)).random((n, 2)):
        ContinuousSpaceAgent(space, model).position = place * space.size


def turn_of_mesa(neighbors, space, model):
    neighbors(space)
    move_everybody(space, model)
    come_and_go(space, model)


def near_places(near):
    """The neighbours of each agent, by position: the same in two spaces."""
    return {
        tuple(agent.position): (sorted(tuple(one.position) for one in agents), sorted(distances))
        for agent, (agents, distances) in near.items()
    }


def bench_mesa():
    from mesa.experimental.continuous_space import ContinuousSpace as Mesas

    from broadphase.adapters.mesa import ContinuousSpace

    heading("Mesa")
    for n, torus in ((1_000, True), (10_000, True), (10_000, False)):
        theirs, ours = (mesa_space(kind, n, torus) for kind in (Mesas, ContinuousSpace))
        assert near_places(all_one_by_one(theirs[0])) == near_places(all_at_once(ours[0]))
        named = f"{n:,} agents, {'torus' if torus else 'plane'}"
        one_by_one = partial(all_one_by_one, theirs[0])
        compare(f"neighbours of all, {named}", one_by_one, partial(all_at_once, ours[0]))
        compare(f"the same one by one, {named}", one_by_one, partial(all_one_by_one, ours[0]))
        compare(f"all move, {named}", *(partial(move_everybody, *both) for both in (theirs, ours)))
        compare(f"200 go, 200 come, {named}", *(partial(come_and_go, *both) for both in (theirs, ours)))
        theirs, ours = (mesa_space(kind, n, torus) for kind in (Mesas, ContinuousSpace))
        compare(
            f"all of it, {named}",
            partial(turn_of_mesa, all_one_by_one, *theirs),
            partial(turn_of_mesa, all_at_once, *ours),
        )


def bench_balls():
    from broadphase.balls import BallSimulation

    print(f"\n{'a step of balls':<34}{'milliseconds':>14}{'touching':>12}")
    for n in (1_000, 10_000, 100_000):
        for index in ("strips", "uniform_grid", "box_tree"):
            side = 12.5 * n**0.5
            balls = BallSimulation(n, radius=(1, 3), bounds=(0, 0, side, side), seed=1, index=index)
            for _ in range(10):
                balls.step(1 / 60)
            took = best_of({"": partial(balls.step, 1 / 60)})[""]
            print(f"{n:>10,} balls, {index:<16}{1e3 * took:14.3f}{len(balls.pairs):12,}")


def bench_dungeon():
    from examples.dungeon import Dungeon
    from examples.stage import main

    with contextlib.redirect_stdout(None):  # once for the kernels
        main(Dungeon, ["--frames", "300"])
    print()
    game = main(partial(Dungeon, monsters=500), ["--frames", "300"])
    print(f"in the end: {game.lines()[1]}")


PARTS = {
    "pygame": bench_pygame,
    "arcade": bench_arcade,
    "mesa": bench_mesa,
    "balls": bench_balls,
    "dungeon": bench_dungeon,
}


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("parts", nargs="*", choices=[*PARTS, []], help="all by default")
    for part in parser.parse_args().parts or PARTS:
        PARTS[part]()
