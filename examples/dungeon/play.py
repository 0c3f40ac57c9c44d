"""The game: a frame moves the figures, resolves hits and pick-ups, and draws the result."""

import math
import random
from typing import Any

import numpy as np
import pygame

import broadphase as bp
from examples.dungeon import controls, items
from examples.dungeon.engine import EngineView
from examples.dungeon.hero import ARROW, FIRE, HERO, MONSTER, RELOAD, SIZE, Hero
from examples.dungeon.hud import Hud
from examples.dungeon.level import TILE, Level
from examples.dungeon.missiles import Missiles
from examples.dungeon.monsters import BITES, SCORES, spawn
from examples.dungeon.pilot import Pilot
from examples.dungeon.script import Watch
from examples.dungeon.sound import Sound
from examples.dungeon.view import View
from examples.stage import Game, main

CELL = 64
"""Cell size of the broad phase in pixels."""
LEVELS = ((4, 3, 60), (4, 4, 120), (5, 4, 200), (6, 5, 320), (6, 5, 500))
"""Rooms across and down, and monsters."""
FOOD, GOLD, GEM, AMULET = 25, 50, 200, 5_000
BURN = 6


class Dungeon(Game):
    """Five levels; the amulet lies in the last.  With ``monsters`` every level is large and has this many."""

    title = "the dungeon"
    keys = controls.HELP
    engine = "cells, boxes of the monsters, and on each tile the direction to the hero"
    world_cell = CELL

    def __init__(self, monsters: int | None = None, seed: int = 3, rooms: tuple[int, int] = (6, 5)) -> None:
        super().__init__()
        self.levels = LEVELS if monsters is None else ((*rooms, monsters),) * len(LEVELS)
        self.seed = seed
        self.controls, self.pilot = controls.Controls(), Pilot(self)
        self.sound = Sound()
        self.view, self.hud, self.engine_view = View(), Hud(), EngineView()
        self.watch: Watch | None = None
        self.games = 0
        self.killed = 0
        self.restart()
        self.state = "title"

    # ---- setup

    def restart(self) -> None:
        """A new game from the first level."""
        self.rng = random.Random(self.seed + self.games)
        self.games += 1
        self.hero, self.depth = Hero(), 0
        self.enter()

    def enter(self) -> None:
        """Start the next level: rooms, a world, and everything in it."""
        across, down, count = self.levels[self.depth]
        self.depth += 1
        self.state, self.message, self.since = "play", f"level {self.depth}", 0
        self.leaves = False
        self.level = Level(across, down, self.rng)
        self._way: tuple[object, tuple[str, bp.FlowField]] | None = None
        self.world = bp.World(bp.SpatialHash(cell_size=CELL))
        self.world.tiles = self.level.tiles
        self.world.on("hero", "item", begin=self.take)
        items.scatter(self.world, self.level, self.rng, last=self.depth == len(self.levels))
        self.hero.enter(self.world, *items.middle(self.level.start_tile))
        seed = self.rng.randrange(1 << 30)
        self.monsters = spawn(self.world, self.level.tiles, count, self.level.start_tile, seed)
        self.arrows = Missiles(self.world, ARROW, MONSTER, speed=9.0)
        self.fires = Missiles(self.world, FIRE, HERO, speed=3.5)
        self.view.enter(self.level)

    def begin(self) -> None:
        """Leave the title screen."""
        self.state, self.since = "play", 0

    def handle(self, event: pygame.event.Event) -> None:
        """Keys and buttons that are pressed once."""
        wish = self.controls.wish(event)
        if wish == controls.START and self.state == "title":
            self.begin()
        elif wish == controls.PAUSE:
            self.paused = not self.paused
        elif wish == controls.RESTART:
            self.restart()
            self.paused = False
        elif wish == "engine":
            self.engine_shown = not self.engine_shown
        elif wish == "mute":
            self.sound.muted = not self.sound.muted
        elif wish == "help":
            self.hud.help = not self.hud.help

    # ---- a frame

    def update(self) -> None:
        """All figures move."""
        self.since += 1
        if self.by_itself and self.state == "title":
            self.begin()
        if self.by_itself and self.state in ("dead", "won") and self.since > 60:
            self.restart()
        if self.state != "play":
            return
        hero = self.hero
        hero.rest()
        if self.by_itself:
            direction, shoots = self.pilot.steer()
        else:
            direction, shoots = self.controls.direction(), self.controls.shoots()
        with self.timer.part("engine: hero"):
            hits = hero.walk(self.world, *direction)
        self.use_keys(hits)
        if shoots and not hero.reload:
            self.shoot()
        self.hunt()
        self.fly()
        with self.timer.part("engine: events"):
            self.world.update()
        if self.leaves:  # not earlier: the world is dispatching contacts until here
            hero.score += 500
            self.enter()
        if self.watch is not None:
            self.watch.look(self)

    def use_keys(self, hits: list[bp.Hit]) -> None:
        """Open a door that is in the way with a key."""
        for hit in hits:
            tile = hit.other
            if isinstance(tile, bp.Tile) and tile in self.level.doors:
                if self.hero.keys:
                    self.hero.keys -= 1
                    self.view.repaint(self.level.open(tile))
                    self.play_sound("door")
                else:
                    self.say("a locked door: find a key")

    def hunt(self) -> None:
        """The monsters approach, bite and throw fire."""
        monsters, hero = self.monsters, self.hero
        with self.timer.part("engine: pathfinding"):
            directions = monsters.find_directions(self.level.tiles, self.hero_tile, hero.middle)
        with self.timer.part("monsters"):
            plan = monsters.plan(directions)
        with self.timer.part("engine: monsters"):
            places = monsters.walk(*plan)
        with self.timer.part("monsters"):
            monsters.arrive(plan[0], places)
            biters = monsters.biters(hero.body.x, hero.body.y, SIZE)
            if len(biters):
                self.hurt(int(BITES[monsters.kinds[biters]].max()))
            firing = monsters.who_fires(self.level.tiles, hero.middle)
            if len(firing):
                offsets = np.array(hero.middle) - monsters.middles[firing]
                lengths = np.maximum(np.hypot(*offsets.T), 1.0)
                self.fires.add(monsters.middles[firing], offsets / lengths[:, None])
                self.play_sound("fire")

    def shoot(self) -> None:
        """Shoot an arrow in the direction that the hero faces."""
        self.hero.reload = RELOAD
        self.arrows.add(np.array(self.hero.middle), np.array(self.hero.look) / math.hypot(*self.hero.look))
        self.play_sound("shoot")

    def fly(self) -> None:
        """Move arrows and fire until they hit something."""
        with self.timer.part("engine: missiles"):
            shot, burnt = self.arrows.fly(), self.fires.fly()
        if len(shot):
            dead = self.monsters.hit(shot)
            self.hero.score += int(SCORES[self.monsters.kinds[dead]].sum())
            self.killed += len(dead)
            self.view.puff(self.monsters.middles[dead])
            self.monsters.remove(dead)
            self.play_sound("kill" if len(dead) else "hit")
        if len(burnt):
            self.hurt(BURN)

    def hurt(self, damage: int) -> None:
        """The hero loses health, and perhaps the game."""
        if self.hero.hurt(damage):
            self.play_sound("bite")
            if not self.hero.health:
                self.state, self.since = "dead", 0
                self.play_sound("dead")

    def take(self, contact: bp.Contact) -> None:
        """The hero touches an item."""
        kind, hero = contact.b.data, self.hero
        self.play_sound(kind)
        self.world.remove(contact.b)
        self.leaves |= kind == "stairs"
        if kind == "amulet":
            self.state, self.since = "won", 0
        if kind == "food":
            hero.eat(FOOD)
        hero.keys += kind == "key"
        hero.score += {"gold": GOLD, "gem": GEM, "amulet": AMULET}.get(kind, 0)

    def play_sound(self, name: str) -> None:
        """The position of the sound's listener."""
        if not self.by_itself:
            self.sound.play(name)

    # ---- drawing

    @property
    def hero_tile(self) -> bp.Tile:
        """The tile that the hero stands on."""
        tile: Any = self.level.tiles.tile_at(*self.hero.middle)
        return tile

    def way(self) -> tuple[str, bp.FlowField]:
        """Where to go, and the field that leads there: the stairs, or the nearest key if a door is between.

        Doors count as open while the hero has a key.
        """
        now = self.depth, self.games, self.hero.keys, len(self.level.doors)
        if self._way is None or self._way[0] != now:
            tiles = self.level.opened() if self.hero.keys else self.level.tiles
            self._way = now, self._way_on(tiles)
        return self._way[1]

    def _way_on(self, tiles: bp.TileMap) -> tuple[str, bp.FlowField]:
        def goals(*kinds: str) -> list[tuple[float, float]]:
            found = self.world.query_box(self.level.tiles.bounds, tag=kinds)
            return [(body.x // TILE, body.y // TILE) for body in found]

        exits = "amulet" if self.depth == len(self.levels) else "stairs"
        field = tiles.flow_field(goals(exits))
        keys = goals("key")
        if keys and not math.isfinite(field.distances_at([self.hero.middle])[0]):
            return "key", tiles.flow_field(keys)
        return exits, field

    def say(self, message: str) -> None:
        """A line that fades."""
        self.message, self.since = message, 0

    def draw(self, surface: pygame.Surface) -> None:
        """The level, its figures, and the light of the hero's lamp."""
        self.view.draw(surface, self)

    def draw_engine(self, surface: pygame.Surface) -> None:
        """The debug view of TAB: cells, boxes, the flow field, and milliseconds."""
        self.engine_view.draw(surface, self)

    def write(self, surface: pygame.Surface) -> None:
        """Health, score, the minimap."""
        self.hud.draw(surface, self)

    def lines(self) -> list[str]:
        """The state of the game in one line."""
        hero = self.hero
        return [
            f"level {self.depth}, health {hero.health}, keys {hero.keys}, score {hero.score}",
            f"{len(self.monsters)} monsters, {self.killed} killed, games played: {self.games}",
        ]

    def begin_script(self) -> None:
        """Restart the largest level and watch that the rules are kept."""
        self.levels = (LEVELS[-1],) * len(LEVELS)
        self.restart()
        self.watch = Watch()

    def report(self) -> list[str]:
        """The observations, and the engine's share of the time."""
        total = sum(self.timer.seconds.values())
        own = sum(took for name, took in self.timer.seconds.items() if name.startswith("engine"))
        watched = [] if self.watch is None else self.watch.lines()
        return [*self.lines(), *watched, f"the engine's share of the time: {own / max(total, 1e-9):.0%}"]


if __name__ == "__main__":
    main(Dungeon)
