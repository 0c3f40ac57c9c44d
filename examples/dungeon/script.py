"""Observations while the dungeon plays unattended: ``python -m examples dungeon --script 10000``."""

from typing import TYPE_CHECKING

import numpy as np

from examples.dungeon.hero import SIZE
from examples.dungeon.monsters import SIDES

if TYPE_CHECKING:
    from examples.dungeon.play import Dungeon

WINDOW = 60
"""Frames after which approaching monsters are counted."""
BESIDE = 64.0
"""A monster this close has arrived."""


class Watch:
    """Counts, every second of play, figures inside walls and monsters that have come closer."""

    def __init__(self) -> None:
        self.frames = self.walled = self.nearer = self.with_a_path = 0
        self.monsters = 0
        self.lowest = 1_000_000
        self._begin: tuple[dict, np.ndarray, np.ndarray, object] | None = None

    def look(self, game: "Dungeon") -> None:
        """One more frame."""
        self.frames += 1
        self.monsters += len(game.monsters)
        self.lowest = min(self.lowest, game.hero.health)
        self.walled += self.in_walls(game)
        if self._begin is not None and self._begin[3] is not game.monsters:
            self._begin = None  # another level
        if self.frames % WINDOW == 0:
            if self._begin is not None:
                self.compare(game)
            distances = {size: game.level.tiles.flow_field(game.hero_tile, size=size) for size in (1, 2)}
            self._begin = distances, game.monsters.ids.copy(), self.how_far(game, distances), game.monsters

    def in_walls(self, game: "Dungeon") -> int:
        """How many figures overlap a solid tile; checking four corners is enough, as no tile is smaller."""
        corners = np.vstack((game.monsters.places, [(game.hero.body.x, game.hero.body.y)]))
        sides = np.append(SIDES[game.monsters.kinds], SIZE)
        solid, tile = game.level.tiles.solid, game.level.tiles.tile_size[0]
        inside = np.zeros(len(sides), bool)
        for across in (0.0, 0.5, 1.0):
            for down in (0.0, 0.5, 1.0):
                points = corners + sides[:, None] * (across, down)
                # A figure on the edge of a tile does not overlap it: shrink its corners by a tolerance.
                points += 1e-6 * (0.5 - np.array([across, down]))
                columns, rows = (points // tile).astype(int).T
                inside |= solid[rows, columns]
        return int(inside.sum())

    def how_far(self, game: "Dungeon", fields: dict) -> np.ndarray:
        """The walking distance of each monster to the hero's position at the start of the window."""
        monsters = game.monsters
        small, large = (fields[size].distances_at(monsters.middles) for size in (1, 2))
        return np.where(SIDES[monsters.kinds] > 32, large, small)

    def compare(self, game: "Dungeon") -> None:
        """Count monsters that have come closer since the window began, of those still on their path."""
        fields, ids, before, _ = self._begin
        kept = np.isin(ids, game.monsters.ids)
        order = np.argsort(game.monsters.ids)
        at = order[np.searchsorted(game.monsters.ids, ids[kept], sorter=order)]
        now, before = self.how_far(game, fields)[at], before[kept]
        approaching = np.isfinite(before) & (before > BESIDE)
        self.with_a_path += int(approaching.sum())
        self.nearer += int((now < before)[approaching].sum())

    def lines(self) -> list[str]:
        """The observations as text."""
        share = self.nearer / max(self.with_a_path, 1)
        return [
            f"{self.frames:,} frames of play, {self.monsters / max(self.frames, 1):.0f} monsters on average",
            f"in a wall: {self.walled}",
            f"least health of the hero: {self.lowest}",
            f"monsters with a path to the hero that came nearer within a second: {share:.1%}",
        ]
