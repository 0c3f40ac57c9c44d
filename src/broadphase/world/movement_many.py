"""Thousands of movers against things that stand still, in one kernel call."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from broadphase import threads as pool
from broadphase.kernels.movement import travel
from broadphase.slices import first_of
from broadphase.world.depenetration import NO_TILES
from broadphase.world.hits import RESPONSES, Around, Movement, code_of
from broadphase.world.movement import resolve
from broadphase.world.tiles import Tile, TileMap

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]

HitRows: TypeAlias = tuple[Integers, Floats]
"""Hits as `travel` writes them: ``(h, 4)``, mover, body and tile; ``(h, 5)``, time, normal and place."""

# Below so many movers a thread has less to do than it costs to start.
_MOVERS_PER_THREAD = 2_000
# A mover that crosses meets many; for fewer hits than this no call is worth a second one.
_LEAST_ROOM = 32


class HitArrays(NamedTuple):
    """What many movers met, by mover, then by time."""

    movers: Integers
    """``(h,)``: row of the mover."""
    others: Integers
    """``(h,)``: row of the body that was hit, or -1 for a tile."""
    tiles: Integers
    """``(h, 2)``: column and row of the tile, or -1 for a body."""
    times: Floats
    """``(h,)``, in 0..1 of the whole way."""
    normals: Floats
    """``(h, 2)``"""
    touches: Floats
    """``(h, 2)``: where the mover was then."""


_NO_HITS = HitArrays(
    np.empty(0, np.int64),
    np.empty(0, np.int64),
    np.empty((0, 2), np.int64),
    np.empty(0),
    np.empty((0, 2)),
    np.empty((0, 2)),
)


class Movements(NamedTuple):
    """Where many movers came to, and what they met."""

    places: Floats
    """``(m, 2)``"""
    hits: HitArrays
    crossed: HitArrays = _NO_HITS
    """What they passed without being stopped, each once a mover; see `World.move_many`."""


def regions(movers: Floats, responses: Any = "slide") -> Floats:
    """``(m, 4)``: the bounds of all that each mover can pass: what to ask an index about.

    Parameters
    ----------
    movers : numpy.ndarray
        ``(m, 6)``: rows ``x, y, width, height, dx, dy``.
    responses : str or array of int
        As for `resolve_many`.

    Examples
    --------
    >>> regions(np.array([[0, 0, 1, 1, 5, -2.0]]))
    array([[ 0., -2.,  6.,  1.]])
    """
    start, size, way = movers[:, 0:2], movers[:, 2:4], movers[:, 4:6]
    goal = start + way
    out = np.empty((len(movers), 4))
    out[:, :2] = np.minimum(start, goal)
    out[:, 2:] = np.maximum(start + size, goal + size)
    mirrored = _codes(responses, len(movers)) == travel.BOUNCE
    if mirrored.any():
        pad = np.abs(way) + 1e-12 * (np.abs(start) + np.abs(way) + size)
        out[mirrored, :2] = (start - pad)[mirrored]
        out[mirrored, 2:] = (start + size + pad)[mirrored]
    return out


def resolve_many(
    movers: Floats,
    bounds: Floats,
    candidates: npt.NDArray[np.integer[Any]],
    around: Around,
    tiles: TileMap | None = None,
    responses: Any = "slide",
    threads: int = 1,
) -> Movements:
    """Move many boxes that do not see each other; each as `resolve` would move it alone.

    Parameters
    ----------
    movers : numpy.ndarray
        ``(m, 6)`` float64, C-contiguous: rows ``x, y, width, height, dx, dy``.
    bounds : numpy.ndarray
        ``(n, 4)`` float64, C-contiguous: what blocks.
    candidates : numpy.ndarray
        ``(k, 2)``, sorted: ``[mover, row of bounds]`` for every body in the mover's region, see `regions`.
    around : callable
        Takes bounds and returns `Blockers` whose ``others`` are rows of ``bounds``: for the few movers that
        start inside something and must be pushed out.
    tiles : TileMap, optional
        Solid and one-way tiles that block too.
    responses : str or array of int
        One name for all, or one number of `RESPONSES` a mover.
    threads : int
        The most threads to use.

    Returns
    -------
    Movements

    Raises
    ------
    ValueError
        A mover is not finite, its way leads beyond 1e300, or a response is none.

    Examples
    --------
    >>> movers = np.array([[0, 0, 1, 1, 9, 0], [0, 5, 1, 1, 9, 0.0]])
    >>> walls = np.array([[4, 0, 5, 3.0]])
    >>> moved = resolve_many(movers, walls, np.array([[0, 0]]), around=lambda bounds: None)
    >>> moved.places.tolist(), moved.hits.movers.tolist(), moved.hits.times.tolist()
    ([[3.0, 0.0], [9.0, 5.0]], [0], [0.3333333333333333])
    """
    count = len(movers)
    codes = _codes(responses, count)
    _check(movers)
    grid = NO_TILES if tiles is None else tiles.grid
    rows = np.ascontiguousarray(candidates[:, 1], np.int64)
    starts = np.searchsorted(candidates[:, 0], np.arange(count + 1))
    places, inside = np.empty((count, 2)), np.empty(count, np.bool_)
    parts = max(1, min(threads, count // _MOVERS_PER_THREAD))

    def share(begin: int, end: int) -> HitRows:
        def go(at: int, *room: Any) -> tuple[int, int, bool]:
            gone: tuple[int, int, bool] = travel.travel(
                movers, codes, at, end, bounds, rows, starts, grid, places, inside, *room
            )
            return gone

        return all_hits(go, begin, end - begin)[0]

    results = pool.run_all([partial(share, begin, end) for begin, end in pool.shares(count, parts)])
    numbers, values = joined_hits(results)
    for mover in np.flatnonzero(inside).tolist():
        x, y, width, height, dx, dy = movers[mover].tolist()
        name = _NAMES[int(codes[mover])]
        move = resolve((x, y, width, height), dx, dy, around, tiles, name)
        places[mover] = move.x, move.y
        more_numbers, more_values = as_rows(mover, move)
        numbers, values = np.concatenate([numbers, more_numbers]), np.concatenate([values, more_values])
    if inside.any():
        order = np.argsort(numbers[:, 0], kind="stable")
        numbers, values = numbers[order], values[order]
    return Movements(places, hit_arrays(numbers, values))


def all_hits(
    go: Callable[[int, Integers, Floats], tuple[int, int, bool]], begin: int, guess: int
) -> tuple[HitRows, int]:
    """The hits of movers from ``begin`` on, however many there are, and with which mover to go on.

    ``go(begin, numbers, values)`` is a kernel of `travel` or of `travel_in_turn`, and called until it is not
    cramped.  ``guess`` is how many hits there may be.
    """
    parts: list[HitRows] = []
    room, cramped = max(guess, _LEAST_ROOM), True
    while cramped:
        numbers, values = np.empty((room, 4), np.int64), np.empty((room, 5))
        begin, found, cramped = go(begin, numbers, values)
        parts.append((first_of(numbers, found), first_of(values, found)))
        room *= 2
    return joined_hits(parts), begin


def joined_hits(parts: list[HitRows]) -> HitRows:
    """Hits of several calls, one behind the other."""
    if len(parts) == 1:
        return parts[0]
    none = np.empty((0, 4), np.int64), np.empty((0, 5))
    numbers, values = zip(none, *parts, strict=True)
    return np.concatenate(numbers), np.concatenate(values)


def hit_arrays(numbers: Integers, values: Floats) -> HitArrays:
    """What `travel` has written, by name."""
    return HitArrays(
        numbers[:, 0], numbers[:, 1], numbers[:, 2:4], values[:, 0], values[:, 1:3], values[:, 3:5]
    )


_NAMES = {code: name for name, code in RESPONSES.items()}


def _codes(responses: Any, count: int) -> Integers:
    if isinstance(responses, str):
        return np.full(count, code_of(responses), np.int64)
    codes = np.ascontiguousarray(responses, np.int64)
    if codes.shape != (count,):
        raise ValueError(f"responses must be a name or one number a mover; got shape {codes.shape}")
    return codes


def _check(movers: Floats) -> None:
    goals = movers[:, :2] + movers[:, 4:6]
    sound = (np.abs(movers) < travel.FARTHEST).all(axis=1) & (np.abs(goals) < travel.FARTHEST).all(axis=1)
    if not sound.all():
        row = int(np.flatnonzero(~sound)[0])
        raise ValueError(
            f"movers[{row}] = {movers[row].tolist()} must be finite and stay within {travel.FARTHEST:g}"
        )


def as_rows(mover: int, move: Movement) -> HitRows:
    """The hits of one mover as `travel` writes them; its bodies must be named by number."""
    numbers: list[Sequence[int]] = []
    for hit in move.hits:
        is_tile = isinstance(hit.other, Tile)
        numbers.append((mover, -1, *hit.other) if is_tile else (mover, int(hit.other), -1, -1))
    values = [(hit.time, *hit.normal, *hit.touch) for hit in move.hits]
    return np.array(numbers, np.int64).reshape(-1, 4), np.array(values, np.float64).reshape(-1, 5)
