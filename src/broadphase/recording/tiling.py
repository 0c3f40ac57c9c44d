"""Tile maps in a recording: as a whole when they are new, then cell by cell."""

from typing import Any

import numpy as np

from broadphase.recording.container import Part, Sections
from broadphase.world.tiles import TileMap


class TilesSeen:
    """The tile map as it was last written."""

    def __init__(self) -> None:
        self._map: TileMap | None = None
        self._copy: TileMap | None = None

    def difference(self, tiles: TileMap | None) -> tuple[Sections, dict[str, Any]]:
        """What has changed since: sections and words."""
        before, self._map = self._map, tiles
        if tiles is None:
            self._copy = None
            return {}, {} if before is None else {"tiles": None}
        old = self._copy
        if before is not tiles or old is None or (old.one_way is None) != (tiles.one_way is None):
            self._copy = tiles.copy()
            return _whole(tiles)
        changed = (tiles.solid != old.solid).ravel()
        if tiles.one_way is not None and old.one_way is not None:
            changed |= (tiles.one_way != old.one_way).ravel()
        cells = np.flatnonzero(changed)
        if not len(cells):
            return {}, {}
        sections: Sections = {Part.CELLS: cells, Part.CELLS_SOLID: tiles.solid.ravel()[cells]}
        if tiles.one_way is not None:
            sections[Part.CELLS_ONE_WAY] = tiles.one_way.ravel()[cells]
        self._copy = tiles.copy()
        return sections, {}


def _whole(tiles: TileMap) -> tuple[Sections, dict[str, Any]]:
    sections: Sections = {Part.SOLID: np.packbits(tiles.solid)}
    if tiles.one_way is not None:
        sections[Part.ONE_WAY] = tiles.one_way.ravel()
    form = {"shape": tiles.solid.shape, "size": tiles.tile_size, "origin": tiles.origin}
    return sections, {"tiles": form}


def follow_tiles(before: TileMap | None, sections: Sections, words: dict[str, Any]) -> TileMap | None:
    """The tile map after what `TilesSeen.difference` told; that of before stays as it was."""
    if "tiles" in words:
        form = words["tiles"]
        if form is None:
            return None
        rows, columns = map(int, form["shape"])
        bits = np.unpackbits(sections[Part.SOLID], count=rows * columns)
        sides = sections.get(Part.ONE_WAY)
        return TileMap(
            bits.astype(np.bool_).reshape(rows, columns),
            tuple(form["size"]),
            tuple(form["origin"]),
            one_way=None if sides is None else sides.reshape(rows, columns).copy(),
        )
    if before is None or Part.CELLS not in sections:
        return before
    now, cells = before.copy(), sections[Part.CELLS]
    now.solid.ravel()[cells] = sections[Part.CELLS_SOLID] != 0
    if now.one_way is not None:
        now.one_way.ravel()[cells] = sections[Part.CELLS_ONE_WAY]
    return now
