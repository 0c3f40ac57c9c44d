"""Movement against things that stand still: swept, so that nothing is jumped over however fast.

`resolve` moves one box, `resolve_many` thousands in one kernel call.  Both know bodies only as bounds that
they ask for, so that any index can stand behind them.  Hits come by time of impact; among equal times faces
before corners, bodies in the order given before tiles, tiles row by row.

Flush is free, and exact: a box stopped by another has the very edge of the other as its own (or, where no
place in float64 gives that edge, stands a unit in the last place of its coordinate before it), so it
neither overlaps afterwards nor snags when it walks on along it.
"""

import numpy as np

from broadphase.kernels.movement import travel
from broadphase.kernels.movement.first_hit import BEFORE_ALL
from broadphase.shapes.check import finite
from broadphase.shapes.kinds import Bounds
from broadphase.world.depenetration import NO_TILES, BoxPlace, leave
from broadphase.world.hits import Around, Blockers, Hit, Movement, Response, answered, code_of
from broadphase.world.tiles import Tile, TileMap


def resolve(
    box: BoxPlace,
    dx: float,
    dy: float,
    around: Around,
    tiles: TileMap | None = None,
    response: Response = "slide",
) -> Movement:
    """Move one box as far as it can.

    Parameters
    ----------
    box : (float, float, float, float)
        ``x, y, width, height``.
    dx, dy : float
        The way.
    around : callable
        Takes bounds and returns `Blockers`: all that may lie in the way there, without the box itself.
    tiles : TileMap, optional
        Solid and one-way tiles that block too.
    response : str or callable
        ``"slide"``, ``"touch"``, ``"cross"`` or ``"bounce"``; or a function that takes a `Hit` and returns
        one of these names, or ``None`` to ignore it.  What is around was asked before, so what the function
        moves or removes counts only from the next movement on.

    Returns
    -------
    Movement
        A box that starts inside something is first pushed out the shortest way; what it was in comes
        first among the hits, with time 0.  Where there is no way out, it moves on through that.

    Raises
    ------
    TypeError, ValueError
        ``dx`` or ``dy`` is no finite number, the way leads beyond 1e300, or a response has no such name.

    Examples
    --------
    >>> from broadphase.world.hits import Blockers
    >>> wall = np.array([[10.0, 0.0, 20.0, 100.0]])
    >>> move = resolve((0.0, 0.0, 5.0, 5.0), 20, 8, lambda bounds: Blockers(wall, ["wall"]))
    >>> move.x, move.y, move.right, move.hits[0].other, move.hits[0].time
    (5.0, 8.0, True, 'wall', 0.25)
    """
    x, y, width, height = box
    dx, dy = checked_way(x, dx, "dx"), checked_way(y, dy, "dy")
    if not callable(response):
        code_of(response)
    mirrored = _may_mirror(response)
    grid = NO_TILES if tiles is None else tiles.grid
    blockers = around(region(x, y, width, height, dx, dy, mirrored))
    hits: list[Hit] = []
    goal_x, goal_y = x + dx, y + dy
    passed, after, turns, first = 0.0, BEFORE_ALL, 0, True
    while first or ((goal_x != x or goal_y != y) and turns < travel.MOST_TURNS):
        rows = np.arange(len(blockers.bounds))
        inside, found, place, normal = travel.next_hit(
            x, y, width, height, goal_x, goal_y, blockers.bounds, rows, grid, after, first
        )
        first = False
        if inside:
            (x, y), hits = leave((x, y, width, height), blockers, around, grid, response)
            goal_x, goal_y = x + dx, y + dy
            blockers = around(region(x, y, width, height, dx, dy, mirrored))
            continue
        if found[0] > 1.0:
            x, y = goal_x, goal_y
            break
        time = passed + (1.0 - passed) * found[0]
        body = int(found[2])
        other = blockers.others[body] if body < len(rows) else Tile(int(found[4]), int(found[3]))
        hit, code = answered(Hit(other, time, normal, place), response)
        if hit is not None:
            hits.append(hit)
        if code == travel.CROSS:
            after = found
        else:
            x, y = place
            goal_x, goal_y = travel.turn(x, y, goal_x, goal_y, found[5], code)
            passed, after, turns = time, BEFORE_ALL, turns + 1
    return Movement(x, y, tuple(hits))


def way_around(box: BoxPlace, dx: float, dy: float, around: Around, response: Response) -> Blockers:
    """The first thing that `resolve` asks for with the same arguments."""
    x, y, width, height = box
    dx, dy = checked_way(x, dx, "dx"), checked_way(y, dy, "dy")
    return around(region(x, y, width, height, dx, dy, _may_mirror(response)))


def _may_mirror(response: Response) -> bool:
    return callable(response) or response == "bounce"


def region(x: float, y: float, width: float, height: float, dx: float, dy: float, mirrored: bool) -> Bounds:
    """All that a box can pass on its way; a way that may be mirrored leads to both sides.

    Examples
    --------
    >>> region(0.0, 0.0, 1.0, 1.0, 5.0, -2.0, False)
    (0.0, -2.0, 6.0, 1.0)
    """
    if mirrored:
        pad_x = abs(dx) + 1e-12 * (abs(x) + abs(dx) + width)
        pad_y = abs(dy) + 1e-12 * (abs(y) + abs(dy) + height)
        return x - pad_x, y - pad_y, x + width + pad_x, y + height + pad_y
    goal_x, goal_y = x + dx, y + dy
    return min(x, goal_x), min(y, goal_y), max(x + width, goal_x + width), max(y + height, goal_y + height)


def checked_way(start: float, way: float, name: str) -> float:
    """A part of a way as a float; ``ValueError`` or ``TypeError`` where it is no number to go by."""
    number = finite(way, name)
    if not abs(number) < travel.FARTHEST or not abs(start + number) < travel.FARTHEST:
        raise ValueError(f"{name} = {number:g} leads beyond {travel.FARTHEST:g}")
    return number
