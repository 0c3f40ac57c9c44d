"""Bodies that turn: where there is room, or thousands in one call whatever is there."""

from typing import Any

import numpy as np

from broadphase.boxes import as_float_array
from broadphase.shapes.check import finite
from broadphase.shapes.kinds import turned_point
from broadphase.world.arguments import as_two
from broadphase.world.body import Body
from broadphase.world.body_rows import Floats
from broadphase.world.going import Going
from broadphase.world.probe import blocker_at


class Turning(Going):
    """The part of `World` that turns bodies; angles are degrees, from x towards y, see `Body.turn_to`."""

    def try_turn(self, body: Body, angle: float, about: tuple[float, float] | None = None) -> object | None:
        """Turn a body if nothing is in the way at the new angle; else leave it as it is.

        What it sweeps over while it turns does not count.

        Parameters
        ----------
        body : Body
        angle : float
            In degrees: what `Body.angle` is to be.
        about : (float, float), optional
            A point that stays where it is; the centre of its shape if not given.

        Returns
        -------
        Body, Tile or None
            The first thing in the way; ``None`` where the body has turned.

        Raises
        ------
        TypeError, ValueError
            As of `Body.turn_to`.

        Examples
        --------
        >>> import broadphase as bp
        >>> world = bp.World()
        >>> wall = world.add(bp.Box(0, 0, 100, 10), static=True)
        >>> tank = world.add(bp.Box(20, 12, 30, 10))
        >>> world.try_turn(tank, 90) is wall, tank.angle
        (True, 0.0)
        >>> tank.y = 25
        >>> world.try_turn(tank, 90), tank.bounds
        (None, (30.0, 15.0, 40.0, 45.0))
        """
        store = self._store
        row = store.row(body)
        degrees = finite(angle, "angle")
        shape = store.table.base(row).moved_to(*body.position).rotated(degrees)
        if about is not None:
            center = store.shape(row).center
            to_x, to_y = turned_point(center, degrees - store.table.angle(row), as_two(about, "about"))
            shape = shape.moved_to(shape.x + (to_x - center[0]), shape.y + (to_y - center[1]))
        found = blocker_at(shape, self._around(row), self._tiles)
        if found is None:
            store.turn_to(body, degrees, about)
        return found

    def turn_many(self, bodies: Any, angles: Any) -> None:
        """Turn many bodies about their centres, whatever is there: `Body.turn_to` for arrays.

        Parameters
        ----------
        bodies : list of Body, or array of ids
        angles : float or array_like, shape (m,)
            In degrees.

        Raises
        ------
        TypeError, ValueError
            A body is not in this world, named twice, or a box without width or height; an angle is not
            finite, or the lengths differ; nothing has changed.

        Examples
        --------
        >>> import broadphase as bp
        >>> world = bp.World()
        >>> blades = [world.add(bp.Box(x, 0, 10, 2)) for x in (0, 20)]
        >>> world.turn_many(blades, [90, 180])
        >>> blades[0].bounds, blades[1].angle
        ((4.0, -4.0, 6.0, 6.0), 180.0)
        """
        rows = self._store.rows_of(bodies)
        if len(np.unique(rows)) < len(rows):
            raise ValueError("bodies names a body twice; each can have one angle")
        self._store.turn_many(rows, _angles(angles, len(rows)))


def _angles(values: Any, count: int) -> Floats:
    """One angle a body; one for all is repeated."""
    if np.ndim(values) == 0:
        return np.full(count, finite(values, "angles"))
    array = np.ascontiguousarray(as_float_array(values, "angles"), np.float64)
    if array.shape != (count,):
        raise ValueError(f"angles must be one number, or have shape ({count},); got shape {array.shape}")
    unsound = np.flatnonzero(~np.isfinite(array))
    if len(unsound):
        raise ValueError(f"angles[{unsound[0]}] = {array[unsound[0]]} must be finite")
    return array
