"""The game of examples/dungeon without pygame: dungeon.js has the keys and draws what `frame` returns."""

import json
import sys
import types

import numpy as np

VIEW = 520, 360
"""Half of what the page shows, and a little more."""


class Silent:
    """Takes the place of what draws and sounds."""

    def __init__(self, *_):
        pass

    def __getattr__(self, _):
        return Silent()

    def __call__(self, *_):
        """Nothing happens."""
        return self


def replace(name, **members):
    """A module of that name which has these members, or any."""
    module = types.ModuleType(name)
    module.__dict__.update(members or {"__getattr__": lambda _: Silent()})
    sys.modules[name] = module


replace("pygame")
for part, kind in (("engine", "EngineView"), ("hud", "Hud"), ("sound", "Sound"), ("view", "View")):
    replace(f"examples.dungeon.{part}", **{kind: Silent})

from examples.dungeon import controls  # noqa: E402 - what they import is replaced before


class Keys:
    """What is held, as the page says."""

    held = 0.0, 0.0, False

    def direction(self):
        """To the right and down."""
        return self.held[:2]

    def shoots(self):
        """Whether the trigger is held."""
        return self.held[2]


controls.Controls = Keys

from examples.dungeon.play import Dungeon  # noqa: E402

game = Dungeon()
game.begin()
shown = None


def frame(x, y, shoots, again):
    """Advance by a frame; what is near the hero, as JSON."""
    global shown
    if again and game.state in ("dead", "won"):
        game.restart()
    Keys.held = x, y, shoots
    game.update()
    hero, level, monsters = game.hero, game.level, game.monsters
    near = (np.abs(monsters.middles - hero.middle) < VIEW).all(axis=1)
    items = game.world.query_box((*np.subtract(hero.middle, VIEW), *np.add(hero.middle, VIEW)), tag="item")
    now = game.games, game.depth, len(level.doors)
    told = {
        "hero": [*hero.middle, *hero.look, hero.unhurt],
        "monsters": np.column_stack([monsters.kinds, monsters.middles.round(1), monsters.flash > 0])[
            near
        ].tolist(),
        "arrows": np.hstack([game.arrows.places + 4, game.arrows.velocities]).round(1).tolist(),
        "fires": (game.fires.places + 4).round(1).tolist(),
        "items": [[item.data, *item.center] for item in items],
        "state": game.state,
        "message": game.message if game.since < 150 else "",
        "line": f"Level {game.depth} of {len(game.levels)}. Health {hero.health}, keys {hero.keys}, "
        f"score {hero.score}. {len(monsters)} monsters.",
    }
    if now != shown:
        shown = now
        told["solid"] = level.tiles.solid.astype(int).tolist()
        told["doors"] = [[tile.column, tile.row] for tile in level.doors]
    return json.dumps(told)
