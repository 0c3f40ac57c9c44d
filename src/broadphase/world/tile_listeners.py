"""Listeners for tiles: functions that are called when bodies enter tiles with a tag, stay and leave.

The rule is that of contacts (`dispatch`), with the tiles of a tag as one: for each listener and body the
calls are ``enter``, then ``stay`` at each further update, then ``leave``.  What a listener has told is noted
before each call, so that neither an exception nor an interrupt repeats one.
"""

from collections.abc import Callable
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from broadphase.geometry.narrow_phase import overlap
from broadphase.geometry.shapes import Box
from broadphase.kernels.shapes.table import BOX
from broadphase.runtime.arrays import Floats
from broadphase.world.arguments import ANY
from broadphase.world.bodies import Body, check_tag
from broadphase.world.listeners import calls, check_callback
from broadphase.world.state import State
from broadphase.world.tiles import Tile, TileMap

# Of the coordinates: so far from a tile that blocks, a body still touches it.
_TOUCHES = 1e-9


class TileContact(NamedTuple):
    """A body in tiles with a tag."""

    body: Body
    tag: Any
    tiles: tuple[Tile, ...]
    """Those that it is in, row by row; of ``leave``, those that it was in."""


TileCallback: TypeAlias = Callable[[TileContact], Any]


class TileListener:
    """What `World.on_tile` returns; as a decorator it takes the function as ``enter``."""

    __slots__ = ("_owner", "active", "enter", "inside", "leave", "stay", "tag", "tile")

    def __init__(self, owner: "TileListeners", tag: Any, tile: Any, *functions: TileCallback | None) -> None:
        self._owner = owner
        self.tag, self.tile = tag, tile
        self.enter, self.stay, self.leave = functions
        self.inside: dict[Body, TileContact] = {}
        """What it has been told of and has not ended."""
        self.active = True

    def __call__(self, function: TileCallback) -> TileCallback:
        """Take a function as ``enter``, for use as a decorator."""
        check_callback(function, "enter", "a TileContact")
        self.enter = function
        return function

    def remove(self) -> None:
        """Listen no longer."""
        self.active = False
        self._owner.listeners = tuple(one for one in self._owner.listeners if one is not self)

    def __repr__(self) -> str:
        return f"<TileListener for {self.tag!r} in {self.tile!r}{'' if self.active else ', removed'}>"


class TileListeners:
    """All listeners for tiles of a world."""

    def __init__(self, state: State) -> None:
        self._state = state
        self.listeners: tuple[TileListener, ...] = ()

    def add(self, tag: Any, tile: Any, *functions: TileCallback | None) -> TileListener:
        """See `World.on_tile`."""
        check_tag(tag, "tag")
        check_tag(tile, "tile")
        for function, name in zip(functions, ("enter", "stay", "leave"), strict=True):
            if function is not None:
                check_callback(function, name, "a TileContact")
        listener = TileListener(self, tag, tile, *functions)
        self.listeners += (listener,)
        return listener

    def of(self, what: Any) -> list[TileListener]:
        """A listener as a list, or all that call a function."""
        return [one for one in self.listeners if calls(what, one, one.enter, one.stay, one.leave)]

    def update(self) -> None:
        """Call all listeners: first what began, then what stays, then what is over."""
        now = [(one, self._inside(one)) for one in self.listeners]
        stays = []
        for listener, contacts in now:
            for body, contact in contacts.items():
                known = body in listener.inside
                listener.inside[body] = contact
                if known:
                    stays.append((listener, contact))
                elif listener.active and body.alive and listener.enter is not None:
                    listener.enter(contact)
        for listener, contact in stays:
            if listener.active and contact.body.alive and listener.stay is not None:
                listener.stay(contact)
        for listener, contacts in now:
            for body in [body for body in listener.inside if body not in contacts]:
                contact = listener.inside.pop(body)
                if listener.active and listener.leave is not None:
                    listener.leave(contact)

    def _inside(self, listener: TileListener) -> dict[Body, TileContact]:
        """The bodies with the listener's tag that are in its tiles, by id."""
        store, tiles = self._state.store, self._state.tiles
        rows = store.rows() if listener.tag is ANY else store.rows_with(frozenset((listener.tag,)))
        if tiles is None or not len(rows):
            return {}
        goes_around = self._state.space.lengths < np.inf
        owners, cells = tiles_under(tiles, store.table.bounds(rows), listener.tile, goes_around)
        found: dict[int, list[Tile]] = {}
        for row, (column, line) in zip(rows[owners].tolist(), cells.T.tolist(), strict=True):
            if store.table.places.kinds.item(row) == BOX or self._is_in(row, column, line):
                found.setdefault(row, []).append(Tile(column % tiles.columns, line % tiles.rows))
        bodies: list[Any] = store.bodies
        return {
            bodies[row]: TileContact(bodies[row], listener.tile, tuple(those)) for row, those in found.items()
        }

    def _is_in(self, row: int, column: int, line: int) -> bool:
        """Whether a body that is no box is in a tile, or touches it if it blocks."""
        tiles: Any = self._state.tiles
        left, top, right, bottom = tiles.bounds_of(column, line)
        if _blocks(tiles, np.array([[column], [line]])).item():
            far = _TOUCHES * max(abs(left), abs(top), abs(right), abs(bottom))
            left, top, right, bottom = left - far, top - far, right + far, bottom + far
        return overlap(self._state.store.shape(row), Box(left, top, right - left, bottom - top))


def tiles_under(
    tiles: TileMap, bounds: Floats, tag: Any, goes_around: npt.NDArray[np.bool_]
) -> tuple[npt.NDArray[np.intp], npt.NDArray[np.int64]]:
    """The tiles with a tag under boxes: the numbers of boxes, and columns and rows; by box, row by row.

    A tile that blocks is under a box that touches one of its sides, as nothing can be in it.
    """
    has = tiles._having(tag)
    if not has.any():
        return np.empty(0, np.intp), np.empty((2, 0), np.int64)
    ends, (low, high) = np.array([[tiles.columns], [tiles.rows]]), np.vsplit(bounds.T, 2)
    origin, size = np.array(tiles.origin)[:, None], np.array(tiles.tile_size)[:, None]
    # One more on both sides, for rounding and for what only touches.
    first, last = np.floor((low - origin) / size) - 1.0, np.floor((high - origin) / size) + 1.0
    first = np.where(goes_around[:, None], first, first.clip(0, ends)).astype(np.int64)
    last = np.where(goes_around[:, None], last, last.clip(-1, ends - 1)).astype(np.int64)
    widths, heights = np.maximum(last - first + 1, 0)
    counts = (widths * heights).astype(np.intp, copy=False)
    owners = np.repeat(np.arange(len(bounds)), counts)
    within = np.arange(len(owners)) - np.repeat(np.cumsum(counts) - counts, counts)
    cells = first.take(owners, 1) + np.divmod(within, widths[owners])[::-1]
    chosen = has[tiles._kinds[cells[1] % tiles.rows, cells[0] % tiles.columns]].nonzero()[0]
    owners, cells = owners[chosen], cells.take(chosen, 1)
    low, high, begin, end = (
        low.take(owners, 1),
        high.take(owners, 1),
        origin + cells * size,
        origin + (cells + 1) * size,
    )
    slack = _TOUCHES * np.maximum(np.abs(low), np.abs(high))
    inside = (low < end) & (begin < high)
    touching = (low - slack <= end) & (begin <= high + slack)
    touches = (inside[0] & touching[1]) | (touching[0] & inside[1])
    chosen = ((inside[0] & inside[1]) | (touches & _blocks(tiles, cells))).nonzero()[0]
    return owners[chosen], cells.take(chosen, 1)


def _blocks(tiles: TileMap, those: npt.NDArray[np.int64]) -> npt.NDArray[np.bool_]:
    """Whether tiles, in columns and rows, block on any side."""
    cells = those[1] % tiles.rows, those[0] % tiles.columns
    solid: npt.NDArray[np.bool_] = tiles.solid[cells]
    return solid if tiles.one_way is None else solid | (tiles.one_way[cells] != 0)
