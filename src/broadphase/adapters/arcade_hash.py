"""A spatial hash for arcade's sprite lists that notes who has moved, and looks at them when it is asked.

Cells are never stored.  A sprite covers a rectangle of cells, and two share one where their rectangles
overlap: those rectangles are boxes, kept in an index, whose questions are answered exactly.
"""

from math import trunc
from typing import Any

import numpy as np
import numpy.typing as npt

from broadphase.indexes import make_index

Cells = npt.NDArray[np.float64]
Extent = tuple[float, float, float, float]

# Sprites of one picture share theirs; those that turn have one each, and are forgotten in time.
_MOST_EXTENTS = 10_000


class SpatialHash:
    """Stands in for arcade's spatial hash: same questions, same answers, cheap to move in.

    arcade takes a sprite out of its cells and puts it into others whenever it moves or turns.  Here that is
    noted, and done for all at once by the next question.

    Parameters
    ----------
    cell_size : int
        Side of a cell in pixels, as of arcade's.

    Raises
    ------
    TypeError
        ``cell_size`` is no int.
    ValueError
        It is not positive.

    Examples
    --------
    >>> import os; os.environ["ARCADE_HEADLESS"] = "True"
    >>> import arcade
    >>> from broadphase.adapters.arcade import SpatialHash
    >>> coins = arcade.SpriteList(lazy=True)
    >>> coins.extend(arcade.SpriteSolidColor(8, 8, center_x=100 * k) for k in range(5))
    >>> hashed = SpatialHash.of(coins, cell_size=32)
    >>> coins[4].center_x = 3
    >>> hashed.get_sprites_near_point((0, 0)) == {coins[0], coins[4]}
    True
    """

    def __init__(self, cell_size: int) -> None:
        if not isinstance(cell_size, int):
            raise TypeError(f"cell_size must be an int; got {cell_size!r}")
        if cell_size <= 0:
            raise ValueError(f"cell_size must be greater than 0; got {cell_size}")
        self.cell_size = cell_size
        self.reset()

    @classmethod
    def of(cls, sprite_list: Any, cell_size: int = 128) -> "SpatialHash":
        """Give a sprite list such a hash, in place of the one that it may have.

        Parameters
        ----------
        sprite_list : SpriteList
        cell_size : int

        Returns
        -------
        SpatialHash
            Also ``sprite_list.spatial_hash`` from now on, until `SpriteList.clear` puts arcade's there.

        Raises
        ------
        TypeError, ValueError
            As of the class; nothing has changed.
        """
        made = cls(cell_size)
        for sprite in sprite_list:
            made.add(sprite)
        sprite_list.spatial_hash = made
        return made

    def reset(self) -> None:
        """Forget all sprites."""
        self._ids: dict[Any, int] = {}
        self._sprites: dict[int, Any] = {}
        self._new: dict[Any, None] = {}
        self._moved: dict[Any, None] = {}
        self._extents: dict[Any, tuple[Extent, Any]] = {}
        self._index = make_index("box_tree")

    def add(self, sprite: Any) -> None:
        """Take a sprite in; one that is in is looked at anew."""
        (self._moved if sprite in self._ids else self._new)[sprite] = None

    def move(self, sprite: Any) -> None:
        """Note that a sprite has moved, turned or grown.

        Raises
        ------
        KeyError
            It is not in.
        """
        if sprite in self._ids:
            self._moved[sprite] = None
        elif sprite not in self._new:
            raise KeyError(sprite)

    def remove(self, sprite: Any) -> None:
        """Let go of a sprite.

        Raises
        ------
        KeyError
            It is not in.
        """
        if sprite in self._new:
            del self._new[sprite]
            return
        row = self._ids.pop(sprite)
        self._moved.pop(sprite, None)
        del self._sprites[row]
        self._index.remove(row)

    @property
    def count(self) -> int:
        """How many sprites are in."""
        return len(self._ids) + len(self._new)

    def get_sprites_near_sprite(self, sprite: Any) -> set[Any]:
        """All that share a cell with a sprite."""
        return self._in_cells(sprite.left, sprite.bottom, sprite.right, sprite.top)

    def get_sprites_near_point(self, point: tuple[float, float]) -> set[Any]:
        """All that lie in the cell of a point."""
        x, y = point[0], point[1]
        return self._in_cells(x, y, x, y)

    def get_sprites_near_rect(self, rect: Any) -> set[Any]:
        """All that share a cell with a ``Rect`` of arcade's."""
        left, right, bottom, top = rect.lrbt
        return self._in_cells(left, bottom, right, top)

    # ---- inside

    def _in_cells(self, left: float, bottom: float, right: float, top: float) -> set[Any]:
        self._catch_up()
        cells = [float(trunc(edge) // self.cell_size) for edge in (left, bottom, right, top)]
        if cells[0] > cells[2] or cells[1] > cells[3]:  # turned over, by a negative scale
            return set()
        return {self._sprites[row] for row in self._index.query_box(cells).tolist()}

    def _catch_up(self) -> None:
        """Look at all that are new or have moved."""
        if self._new:
            rows = self._index.insert_many(self._cells_of(list(self._new)))
            for sprite, row in zip(self._new, rows.tolist(), strict=True):
                self._ids[sprite], self._sprites[row] = row, sprite
            self._new.clear()
        if self._moved:
            rows = np.fromiter(map(self._ids.__getitem__, self._moved), np.int32, len(self._moved))
            self._index.move_many(rows, self._cells_of(list(self._moved)))
            self._moved.clear()

    def _cells_of(self, sprites: list[Any]) -> Cells:
        """The first and the last cell that each covers, along and up."""
        boxes = [sprite.hit_box for sprite in sprites]
        places = np.array([box.position for box in boxes], np.float64)
        extents = np.array([self._extent(box) for box in boxes], np.float64)
        edges = extents + np.hstack((places, places))
        cells: Cells = np.floor_divide(np.trunc(edges), self.cell_size)
        return cells

    def _extent(self, box: Any) -> Extent:
        """Where a hit box at the origin ends; adding its place rounds as arcade's own sums do."""
        points = box.points
        looks = id(points), box.scale, getattr(box, "angle", 0.0)
        known = self._extents.get(looks)
        if known is None:
            still = type(box)(points, scale=box.scale).create_rotatable(looks[2])
            xs, ys = zip(*still.get_adjusted_points(), strict=True)
            if len(self._extents) >= _MOST_EXTENTS:
                self._extents.clear()
            known = self._extents[looks] = (min(xs), min(ys), max(xs), max(ys)), points
        return known[0]
