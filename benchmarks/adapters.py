"""The adapters compared with the functions that they replace; games; balls; and parts of the dungeon.

``python benchmarks/adapters.py`` prints everything; ``few``, ``games``, ``pygame``, ``arcade``, ``mesa``,
``balls`` or ``dungeon`` a part.
Every comparison first checks that the answers are the same.
"""

import argparse
import contextlib
import os
import random
import sys
from functools import partial
from itertools import cycle
from pathlib import Path
from time import process_time
from types import ModuleType

os.environ.setdefault("SDL_VIDEODRIVER", "dummy")
os.environ.setdefault("SDL_AUDIODRIVER", "dummy")
os.environ.setdefault("PYGAME_HIDE_SUPPORT_PROMPT", "1")
os.environ.setdefault("ARCADE_HEADLESS", "True")
sys.path.insert(0, str(Path(__file__).parent.parent))

from timing import best_of

SIDE = 32
PER_SPRITE = 60.0  # pixels to the next sprite: about half a hit for every sprite


def compare(name, theirs, ours):
    compare_times(name, *best_of({"theirs": theirs, "ours": ours}).values())


def compare_times(name, theirs, ours):
    print(f"{name:<44}{1e6 * theirs:12,.1f}{1e6 * ours:12,.1f}{theirs / ours:10.1f} x")


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


# The lines of pygame's own example that the page "My pygame game is slow" changes.
ALIENS_CHANGED = {
    "import pygame\n\n#": "import pygame\nfrom broadphase.adapters.pygame import groupcollide\n\n#",
    "in pygame.sprite.groupcollide(aliens,": "in groupcollide(aliens,",
}


def play_aliens(source, n, frames=4):
    """Processor seconds of the fastest frame of ``pygame.examples.aliens``, and the score.

    The window is larger, and before each frame there are again ``n`` aliens and ``n`` shots.
    """
    import pygame
    from pygame.examples import aliens

    game = ModuleType("aliens")
    game.__file__ = aliens.__file__
    exec(compile(source, aliens.__file__, "exec"), game.__dict__)
    side = max(640, int(PER_SPRITE * (2 * n) ** 0.5))
    game.SCREENRECT, game.ALIEN_ODDS, game.BOMB_ODDS = pygame.Rect(0, 0, side, side), 1e9, 1e9
    rng, times, began = random.Random(1), [], [0.0]
    random.seed(1)

    def flip():
        times.append(process_time() - began[0])
        if game.Shot.containers is not None:
            while len(game.Alien.containers[0]) < n:
                game.Alien().rect.topleft = rng.randrange(side - 100), rng.randrange(side - 300)
            while len(game.Shot.containers[0]) < n:
                game.Shot((rng.randrange(side), rng.randrange(100, side - 200)))
        if len(times) == frames + 2:  # the first is of an empty window, the second of one alien
            pygame.event.post(pygame.event.Event(pygame.QUIT))
        began[0] = process_time()

    shown, pygame.display.flip = pygame.display.flip, flip
    try:
        game.main()
    finally:
        pygame.display.flip = shown
        pygame.quit()
    return min(times[2:]), game.SCORE


def bench_aliens():
    from pygame.examples import aliens

    source = changed = Path(aliens.__file__).read_text("utf-8")
    for old, new in ALIENS_CHANGED.items():
        assert changed.count(old) == 1
        changed = changed.replace(old, new)
    for n in (2, 100, 1_500, 5_000):
        (theirs, score), (ours, same) = play_aliens(source, n), play_aliens(changed, n)
        assert score == same
        print_frame(f"aliens: {n:,} aliens, {n:,} shots", theirs, ours)


def print_frame(name, theirs, ours):
    print(f"{name:<58}{1e3 * theirs:10,.2f}{1e3 * ours:10,.2f}{theirs / ours:8.1f} x")


def one_by_one(bullets, enemies, collided=None):
    """The loop of many games."""
    from pygame.sprite import spritecollide

    found = {}
    for bullet in bullets:
        hit = spritecollide(bullet, enemies, False, collided)
        if hit:
            found[bullet] = hit
    return found


def bench_bullets():
    import pygame

    from broadphase.adapters.pygame import groupcollide, rect_first

    def is_hit(bullet, enemy):
        return bullet.rect.colliderect(enemy.rect) and enemy.rect.x % 2 < 1

    tests = {"rects": (None, None), "own function": (is_hit, rect_first(is_hit))}
    tests["collide_mask"] = (pygame.sprite.collide_mask,) * 2
    for some, many in ((10, 50), (30, 200), (100, 1_000), (300, 3_000)):
        enemies = pygame_groups(many, pygame.Rect, random.Random(4))[0]
        bullets = pygame.sprite.Group(pygame_groups(many, pygame.Rect, random.Random(5))[0].sprites()[:some])
        for name, (theirs, mine) in tests.items():
            calls = {
                "theirs": partial(one_by_one, bullets, enemies, theirs),
                "ours": partial(groupcollide, bullets, enemies, False, False, mine),
            }
            assert calls["theirs"]() == calls["ours"]()
            print_frame(f"loop: {some:,} bullets, {many:,} enemies, {name}", *best_of(calls).values())


SPEED = 1.5


def sprites_at_random(n, group, rng, side, size=16):
    import pygame

    for _ in range(n):
        pygame.sprite.Sprite(group).rect = pygame.FRect(
            rng.uniform(0, side), rng.uniform(0, side), size, size
        )
    return group


def survivors(n, how):
    """A frame of a game in which monsters walk towards the player, and not into each other."""
    import numpy as np
    import pygame
    from pygame.sprite import spritecollide

    from broadphase.adapters.pygame import WorldGroup

    rng, side = random.Random(6), 60 * n**0.5
    group = pygame.sprite.Group() if how == "pygame" else WorldGroup(tag="monster")
    monsters = sprites_at_random(n, group, rng, side)
    (player,) = sprites_at_random(1, pygame.sprite.Group(), rng, side)
    if how != "pygame":
        monsters.update()

    def way_of(monster):
        way = pygame.Vector2(player.rect.center) - monster.rect.center
        return way and way * (SPEED / way.length())

    def with_pygame():
        for monster in monsters:
            way = way_of(monster)
            monster.rect.x += way.x
            if len(spritecollide(monster, monsters, False)) > 1:
                monster.rect.x -= way.x
            monster.rect.y += way.y
            if len(spritecollide(monster, monsters, False)) > 1:
                monster.rect.y -= way.y
        return spritecollide(player, monsters, False)

    def with_move():
        for monster in monsters:
            monsters.move(monster, way_of(monster))
        return monsters.colliding(player)

    def with_move_many():
        ways = player.rect.center - monsters.centers
        ways *= SPEED / np.linalg.norm(ways, axis=1, keepdims=True)
        monsters.move_many(ways, movers_block=True)
        return monsters.colliding(player)

    return {"pygame": with_pygame, "move": with_move, "move_many": with_move_many}[how]


def bench_survivors():
    for n in (50, 200, 1_000, 3_000):
        frames = {how: survivors(n, how) for how in ("pygame", "move", "move_many")}
        for how, frame in frames.items():
            for _ in range(20 if how == "pygame" else 60):  # until they crowd around the player
                frame()
        times = {how: min(timed(frame) for _ in range(6)) for how, frame in frames.items()}
        for how in ("move", "move_many"):
            print_frame(f"survivors: {n:,} monsters, WorldGroup.{how}", times["pygame"], times[how])


def bouncing(n, how):
    """A frame of a game in which balls bounce off walls, as many as there are balls."""
    import pygame
    from pygame.sprite import spritecollideany

    from broadphase.adapters.pygame import SpriteBodies, WorldGroup

    rng, side, bodies = random.Random(7), 60 * n**0.5, SpriteBodies()
    if how == "pygame":
        groups = pygame.sprite.Group(), pygame.sprite.Group()
    else:
        groups = WorldGroup(bodies=bodies, static=True), WorldGroup(bodies=bodies, tag="ball", leader="body")
    walls, balls = (
        sprites_at_random(n, group, rng, side, size) for group, size in zip(groups, (20, 8), strict=True)
    )
    for ball in list(balls):
        if spritecollideany(ball, walls):
            ball.kill()
        ball.velocity = pygame.Vector2(rng.uniform(-200, 200), rng.uniform(-200, 200))
    bodies.sync()
    bodies.world.set_response("ball", "bounce")
    for ball in balls if how == "step" else ():
        balls.body(ball).velocity = ball.velocity

    def with_pygame():
        for ball in balls:
            ball.rect.x += ball.velocity.x / 60
            if spritecollideany(ball, walls):
                ball.rect.x -= ball.velocity.x / 60
                ball.velocity.x = -ball.velocity.x
            ball.rect.y += ball.velocity.y / 60
            if spritecollideany(ball, walls):
                ball.rect.y -= ball.velocity.y / 60
                ball.velocity.y = -ball.velocity.y

    return with_pygame if how == "pygame" else partial(bodies.step, 1 / 60)


def bench_bouncing():
    for n in (50, 200, 1_000, 3_000):
        frames = [bouncing(n, how) for how in ("pygame", "step")]
        theirs, ours = (min(timed(frame) for _ in range(10)) for frame in frames)
        print_frame(f"bouncing: {n:,} balls, {n:,} walls, SpriteBodies.step", theirs, ours)


def timed(call):
    began = process_time()
    call()
    return process_time() - began


def bench_games():
    print(f"\n{'milliseconds':<58}{'pygame':>10}{'after':>10}{'gain':>10}")
    bench_aliens()
    bench_bullets()
    bench_survivors()
    bench_bouncing()


def arcade_list(n, hashed, rng, apart=PER_SPRITE):
    import arcade

    texture = arcade.make_soft_square_texture(SIDE, (255, 255, 255), 255, 255)
    made = arcade.SpriteList(use_spatial_hash=hashed)
    for _ in range(n):
        place = {f"center_{axis}": rng.uniform(0, apart * n**0.5) for axis in "xy"}
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


def move_and_ask_once(ours, sprites, where):
    """The same with one call for all."""
    for sprite in where:
        sprite.center_x += 0.001
    return ours.check_for_collision_between_lists(sprites, where)


def sprite_bullets(source, coins, bullets):
    """Processor seconds of the fastest of six updates of arcade's own example, and the score.

    Before each update there are again so many coins and bullets.
    """
    import arcade

    game = ModuleType("sprite_bullets")
    exec(compile(source, game.__name__, "exec"), game.__dict__)
    game.COIN_COUNT, rng, times = coins, random.Random(8), []
    random.seed(1)
    view = game.GameView()
    view.setup()
    view.hit_sound = None
    arcade.play_sound, play = lambda *_: None, arcade.play_sound
    for _ in range(6):
        while len(view.bullet_list) < bullets:
            view.on_mouse_motion(rng.uniform(0, 1280), 0, 0, 0)
            view.on_mouse_press(0, 0, 0, 0)
            view.bullet_list[-1].center_y = rng.uniform(0, 700)
        while len(view.coin_list) < coins:
            texture = view.coin_list[0].texture
            place = {"center_x": rng.uniform(0, 1280), "center_y": rng.uniform(120, 720)}
            view.coin_list.append(arcade.Sprite(texture, game.SPRITE_SCALING_COIN, **place))
        times.append(timed(partial(view.on_update, 1 / 60)))
    arcade.play_sound = play
    return min(times), view.score


def bench_sprite_bullets():
    from arcade.examples import sprite_bullets as example

    line = "hit_list = arcade.check_for_collision_with_list("
    source = Path(example.__file__).read_text("utf-8")
    assert source.count(line) == 1
    changed = "from broadphase.adapters.arcade import check_for_collision_with_list\n" + source.replace(
        line, line.replace("arcade.", "")
    )
    plain = "self.coin_list = arcade.SpriteList("
    sources = (
        [source, changed],
        [one.replace(plain, plain + "use_spatial_hash=True") for one in (source, changed)],
    )
    for coins, bullets in ((50, 3), (500, 30), (1_500, 100), (3_000, 300)):
        for name, both in zip(("no hash", "hash"), sources, strict=True):
            (theirs, score), (ours, same) = (sprite_bullets(one, coins, bullets) for one in both)
            assert score == same
            compare_times(f"sprite_bullets, {coins:,} by {bullets:,}, {name}", theirs, ours)


def engine_update(engine):
    """A player walks on a floor, there and back."""
    import arcade

    walls = arcade.SpriteList(use_spatial_hash=True)
    walls.extend(arcade.SpriteSolidColor(SIDE, SIDE, center_x=SIDE * k) for k in range(500))
    player = arcade.SpriteSolidColor(SIDE, SIDE, center_x=4_000, center_y=SIDE + 1)
    made, ways = engine(player, walls=walls), cycle([2] * 500 + [-2] * 500)

    def update():
        for _ in range(100):
            player.change_x = next(ways)
            made.update()
        return player.position

    return update


def bench_arcade():
    import arcade

    from broadphase.adapters import arcade as ours
    from examples import arcade_engines as engines

    window = arcade.Window(64, 64)  # without one arcade cannot use the graphics card
    heading("arcade")
    bench_sprite_bullets()
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
    for n, apart in ((1_000, 30.0), (2_500, 200.0)):
        where = arcade_list(n, True, random.Random(9), apart)
        sprites = arcade_list(100, False, random.Random(10), apart * (n / 100) ** 0.5)
        functions = arcade.check_for_collision_with_list, ours.check_for_collision_with_list
        hits = sum(len(found) for found in query(functions[0], sprites, where))
        assert hits == sum(len(found) for found in query(functions[1], sprites, where))
        calls = (partial(query, one, sprites, where) for one in functions)
        compare(f"100 calls, {n:,} sprites, hash, {hits} hits", *calls)
    for name in ("PhysicsEngineSimple", "PhysicsEnginePlatformer"):
        updates = [engine_update(getattr(one, name)) for one in (arcade, engines)]
        assert updates[0]() == updates[1]()
        compare(f"100 updates of {name}", *updates)
    for calls in (100, 1_000):
        whole, part = arcade_list(5_000, False, random.Random(3)), arcade.SpriteList()
        for sprite in whole.sprite_list[:calls]:
            part.append(sprite)
        frames = [
            partial(move_and_ask, functions[1], part.sprite_list, whole),
            partial(move_and_ask_once, ours, part, whole),
        ]
        assert sum(map(len, frames[0]())) == len(frames[1]())
        compare(f"ours: all move, 5,000 sprites, {calls:,} calls / one call", *frames)
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


# ---- from how many sprites on the adapters win: the loops of games, beside the calls that replace them

COUNTS = 10, 30, 100, 1_000
TURNS = 24  # of a walk there and back


def back_and_forth(dx, dy):
    """The steps of a walk around a rectangle."""
    return cycle([step for step in ((dx, 0), (0, dy), (-dx, 0), (0, -dy)) for _ in range(TURNS)])


def walls_and_walker(n, how):
    """Walls in a square, a sprite that walks between them, and a call that moves it."""
    import pygame
    from pygame.sprite import Group, Sprite, spritecollide

    from broadphase.adapters.pygame import SpriteBodies, WorldGroup

    bodies, rng = SpriteBodies(), random.Random(n)
    walls = Group() if how == "loop" else WorldGroup(bodies=bodies, static=True)
    for k in range(n):
        row, column = divmod(k, int(n**0.5))
        Sprite(walls).rect = pygame.Rect(64 * column + rng.randrange(16), 64 * row, 20, 20)
    walker, steps = Sprite(), back_and_forth(3, 2)
    walker.rect = pygame.Rect(30, 30, 16, 16)
    if how != "loop":
        bodies.add(walker)
        walls.update()

    def loop():
        dx, dy = next(steps)
        rect = walker.rect
        rect.x += dx
        for wall in spritecollide(walker, walls, False):
            if dx > 0:
                rect.right = wall.rect.left
            else:
                rect.left = wall.rect.right
        rect.y += dy
        for wall in spritecollide(walker, walls, False):
            if dy > 0:
                rect.bottom = wall.rect.top
            else:
                rect.top = wall.rect.bottom
        return rect.topleft

    def move():
        bodies.move(walker, *next(steps))
        return walker.rect.topleft

    return loop if how == "loop" else move


def crowd_and_player(n, how, looks):
    """Sprites that all move in a frame, and some that look what they touch."""
    import pygame
    from pygame.sprite import Group, Sprite, spritecollide

    from broadphase.adapters.pygame import WorldGroup

    class Walker(Sprite):
        def update(self):
            self.rect.move_ip(next(self.steps))

    crowd, rng, side = Group() if how == "loop" else WorldGroup(), random.Random(n), int(60 * n**0.5)
    for _ in range(n):
        one = Walker(crowd)
        one.rect = pygame.Rect(rng.randrange(side), rng.randrange(side), 20, 20)
        one.steps = back_and_forth(rng.choice((-2, 2)), rng.choice((-1, 1)))
    players = []
    for _ in range(looks):
        players.append(Sprite())
        players[-1].rect = pygame.Rect(rng.randrange(side), rng.randrange(side), 40, 40)
    if how == "loop":
        return crowd, lambda: [spritecollide(one, crowd, False) for one in players]
    return crowd, lambda: [crowd.colliding(one) for one in players]


def bench_all_pairs():
    """From how many rectangles on `pairs` is faster than two loops."""
    import numpy as np
    import pygame

    import broadphase as bp

    rng = random.Random(1)
    for n in (8, 16, 24, 32, 48, 64, 100):
        corners = [[rng.uniform(0, PER_SPRITE * n**0.5) for _ in "xy"] for _ in range(n)]
        rects = [pygame.FRect(*corner, SIDE, SIDE) for corner in corners]
        boxes = np.hstack([corners, np.add(corners, SIDE)])

        def two_loops(rects=rects):
            found = []
            for i, rect in enumerate(rects):
                for j in range(i + 1, len(rects)):
                    if rect.colliderect(rects[j]):
                        found.append([i, j])
            return found

        assert two_loops() == bp.pairs(boxes, touching=False).tolist()
        compare(f"pygame: all pairs of {n} rectangles, an array", two_loops, partial(bp.pairs, boxes))
        compare(f"pygame: all pairs of {n} rectangles, a list", two_loops, partial(bp.pairs, rects))


def bench_few():
    heading("the loop")
    bench_all_pairs()
    for n in COUNTS:
        loop, move = (walls_and_walker(n, how) for how in ("loop", "move"))
        assert [loop() for _ in range(4 * TURNS)] == [move() for _ in range(4 * TURNS)]
        compare(f"pygame: one moves among {n:,} walls", loop, move)
    for n in COUNTS:
        (crowd, loop), (group, look) = (crowd_and_player(n, how, 10) for how in ("loop", "look"))
        group.update()
        crowd.update()
        assert [len(found) for found in loop()] == [len(found) for found in look()]
        compare(f"pygame: 10 look at {n:,} that rest", loop, look)
    for looks in (1, 10):
        for n in COUNTS:
            frames = []
            for how in ("loop", "look"):
                group, look = crowd_and_player(n, how, looks)
                frames.append(lambda group=group, look=look: (group.update(), look())[1])
            for _ in range(TURNS):
                assert [len(found) for found in frames[0]()] == [len(found) for found in frames[1]()]
            compare(f"pygame: {n:,} move, {looks} look", *frames)
    bench_few_arcade()


def arcade_walker(n, how, hashed):
    """As `walls_and_walker`, for arcade: the loop of its own examples."""
    import arcade

    from broadphase.adapters import arcade as ours

    walls, rng = arcade.SpriteList(use_spatial_hash=hashed), random.Random(n)
    for k in range(n):
        row, column = divmod(k, int(n**0.5))
        walls.append(arcade.SpriteSolidColor(20, 20, 64 * column + rng.randrange(16), 64 * row))
    walls.initialize()
    walker, steps = arcade.SpriteSolidColor(16, 16, 38, 38), back_and_forth(3, 2)
    bodies = ours.SpriteBodies()
    if how == "bodies":
        bodies.follow(walls, static=True)
        bodies.add(walker)

    def loop(find):
        dx, dy = next(steps)
        walker.center_x += dx
        for wall in find(walker, walls):
            if dx > 0:
                walker.right = wall.left
            else:
                walker.left = wall.right
        walker.center_y += dy
        for wall in find(walker, walls):
            if dy > 0:
                walker.top = wall.bottom
            else:
                walker.bottom = wall.top
        return walker.position

    def move():
        bodies.move(walker, *next(steps))
        return walker.position

    if how == "bodies":
        return move
    module = arcade if how == "loop" else ours
    return partial(loop, module.check_for_collision_with_list)


def bench_few_arcade():
    import arcade

    from broadphase.adapters import arcade as ours
    from examples import arcade_engines as engines

    window = arcade.Window(64, 64)
    for hashed in (False, True):
        named = "hash" if hashed else "no hash"
        for n in COUNTS:
            where = arcade_list(n, hashed, random.Random(3))
            sprites = [where[random.Random(k).randrange(n)] for k in range(10)]
            functions = arcade.check_for_collision_with_list, ours.check_for_collision_with_list
            assert [set(map(id, found)) for found in query(functions[0], sprites, where)] == [
                set(map(id, found)) for found in query(functions[1], sprites, where)
            ]
            compare(
                f"arcade: 10 look at {n:,} that rest, {named}",
                *(partial(query, one, sprites, where) for one in functions),
            )
        for n in COUNTS:
            for how in ("functions", "bodies"):
                loop, mine = (arcade_walker(n, one, hashed) for one in ("loop", how))
                compare(f"arcade: one moves among {n:,} walls, {named}, {how}", loop, mine)
    for name in ("PhysicsEngineSimple", "PhysicsEnginePlatformer"):
        for n in COUNTS:
            updates = []
            for module in (arcade, engines):
                walls = arcade.SpriteList(use_spatial_hash=True)
                walls.extend(arcade.SpriteSolidColor(SIDE, SIDE, center_x=SIDE * k) for k in range(n))
                walls.initialize()
                player = arcade.SpriteSolidColor(SIDE, SIDE, center_x=SIDE * n // 2, center_y=SIDE + 1)
                engine, ways = getattr(module, name)(player, walls=walls), cycle([2] * 20 + [-2] * 20)

                def update(engine=engine, player=player, ways=ways):
                    player.change_x = next(ways)
                    engine.update()
                    return player.position

                updates.append(update)
            assert updates[0]() == updates[1]()
            compare(f"arcade: {name}, {n:,} walls", *updates)
    window.close()


PARTS = {
    "few": bench_few,
    "games": bench_games,
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
