"""Shapes by id that are searched often, in one world or in thousands: rays, nearest points, overlaps.

A `broadphase.BoxTree` holds the bounding boxes and finds what is near; exact tests of the shapes decide
(`broadphase.kernels.shapes.queries`).  The nearest shape is at most as far away as the shape in the nearest
box: all boxes within that distance are looked at.

Cost: that of the box query, and an exact test of each shape whose box it finds.
"""

import math
from collections.abc import Iterable
from copy import deepcopy
from typing import Any, Unpack, overload

import numpy as np
import numpy.typing as npt

from broadphase.errors import instead
from broadphase.geometry.shapes import Shape, as_known_shape, known_shape
from broadphase.geometry.table import plain_columns, table_of
from broadphase.indexes import arguments, environments
from broadphase.indexes.arguments import NO_RULES
from broadphase.indexes.classes import BoxTree
from broadphase.indexes.protocol import NO_IDS
from broadphase.indexes.results import (
    Nearest,
    RayHit,
    RayHits,
    Wanted,
    hits_as_asked,
    hits_asked_for,
    in_axes,
)
from broadphase.indexes.storage import IdArray
from broadphase.inputs import Numbers, OneBox, Place, RowsLike
from broadphase.inputs.arrays import BOXES, settled
from broadphase.inputs.environments import as_env
from broadphase.inputs.numeric import real
from broadphase.kernels.machine.kernel import try_call
from broadphase.kernels.shapes import queries as kernel
from broadphase.kernels.shapes.table import BOX, CIRCLE, ShapeColumns, bound_rows, place_rows
from broadphase.kernels.tree import shapes as in_trees
from broadphase.periods.images import unit_vectors
from broadphase.runtime.arrays import Floats, joined, ranges
from broadphase.runtime.memory import PairArray

# A box without limits, for a kernel that subtracts its edges: these must stay finite.
_FARTHEST = 1e300
# Up to so many queries in arrays of NumPy, or one as a tuple of numbers, kernels check and answer themselves.
_FEW = 16
_try_shapes, _try_rays, _try_nearest = map(
    try_call, (in_trees.overlapping_each, in_trees.raycast_each, in_trees.nearest_of_few)
)
_NO_ROWS = np.empty(0, np.int64)
_NO_BITS, _NO_FLAGS, _NO_RADII = np.empty(0, np.uint32), np.empty(0, np.bool_), np.empty(0)
_ALL_SHAPES = kernel.BodyRules(_NO_BITS, _NO_BITS, NO_IDS, _NO_FLAGS, _NO_FLAGS, NO_IDS, -1, -1)
# The second search for the nearest looks so much farther than the first found, which is rounded.
_WIDER = 1.0 + 1e-9
_AT_A_TIME = 1 << 18  # rows of shapes that may overlap: 20 ms, and no more memory for their bounds


@instead(
    {
        "query_point": "query_radius(points, 0) finds the shapes around points",
        **dict.fromkeys(
            ["move", "insert", "insert_many", "remove", "remove_many", "update"],
            "move_many(ids, positions) moves shapes; what comes and goes is in a new index, or in a World",
        ),
        "contacts": "loop with bp.contact over pairs(), or add the shapes to a World",
        **dict.fromkeys(["save", "load"], "pickle keeps it"),
    }
)
class ShapeIndex:
    """Boxes, turned ones too, circles, capsules, segments and polygons: rays, nearest points and overlaps.

    Shapes are open sets: what only touches an edge does not count.

    Parameters
    ----------
    shapes : iterable of Box, Circle or Polygon
        Any that `broadphase` has, bodies, or rectangles of pygame or arcade; their ids are 0, 1, ...
        A segment is a `Capsule` of radius 0.
    env : array_like of int, shape (n,), optional
        The environment of each: a query finds the shapes of its own.  -1 is in every environment.
    threads : int, optional
        The most threads that a call may use.

    Examples
    --------
    >>> import broadphase as bp
    >>> arena = bp.ShapeIndex([bp.Circle(5, 0, 1), bp.Box(2, -1, 2, 2).rotated(45)], env=[0, 1])
    >>> arena.raycast([[0, 0], [0, 0]], [1, 0], env=[0, 1]).distances.round(3)
    array([4.   , 1.586])
    >>> arena.nearest([5, 3], env=0).points
    array([5., 1.])
    """

    def __init__(
        self,
        # The items of a list of several kinds are plain objects to type checkers.
        shapes: Iterable[Shape] | list[Any] | tuple[Any, ...],
        *,
        env: Numbers | None = None,
        threads: int | None = None,
    ) -> None:
        if known_shape(shapes) is not None:
            raise TypeError(f"shapes must be several, as [shape]; got {shapes!r}")
        known = [as_known_shape(shape, f"shapes[{row}]") for row, shape in enumerate(shapes)]
        self._table = table_of(known)
        self._boxes = BoxTree(threads=threads)
        self._boxes._store.what = "shape"
        self._boxes.insert_many(self._table.bounds(), env=as_env(settled(env, "env"), len(known)))
        self._moved = False
        self._rows, self._other_tree = np.arange(len(known), dtype=np.int32), BoxTree()

    def __len__(self) -> int:
        return len(self._table)

    def __repr__(self) -> str:
        return f"<ShapeIndex: {len(self)} shapes>"

    def __copy__(self) -> "ShapeIndex":
        return deepcopy(self)  # what has the same rows would be moved with this one

    def shape(self, id: int) -> Shape:  # noqa: A002
        """A shape where it is now."""
        return self._table.shape(self._boxes._store.known_id(id))

    @property
    def bounds(self) -> Floats:
        """``(n, 4)``: the bounding boxes."""
        return self._table.bounds()

    def move_many(self, ids: Any, positions: Any, angles: Any = None) -> None:
        """Put shapes elsewhere, and turn them.

        Parameters
        ----------
        ids : array_like of int, shape (m,)
            Each once.
        positions : array_like, shape (m, 2)
            The new ``x, y`` of each shape: a box is placed by its min corner before it is turned, a circle by
            its centre, a polygon by its first point.
        angles : array_like, shape (m,), optional
            In degrees, about the middles of the shapes, from how they were given.

        Raises
        ------
        TypeError, ValueError, KeyError
            An id is unknown or named twice, a number is not finite, or there is not one for each; nothing
            has changed.
        """
        reader, table = self._boxes._reader, self._table
        given = settled(ids, "ids"), reader.settled(positions, 2, "positions"), settled(angles, "angles")
        rows = self._boxes._store.known_ids(given[0])
        places = np.atleast_2d(reader.point_or_points(given[1], "positions", finite=True))
        turned = None if angles is None else np.asarray(given[2], np.float64)
        if len(places) != len(rows):
            raise ValueError(f"positions must be of shape ({len(rows)}, 2), as ids; got {places}")
        if turned is not None and not (turned.shape == rows.shape and np.isfinite(turned).all()):
            raise ValueError(f"angles must be finite and of shape {rows.shape}, as ids; got {turned}")
        self._moved = True  # until the boxes have followed: this may be interrupted
        if turned is None:
            place_rows(table.columns, rows, places)
        else:
            table.turn(rows, turned, places.T)
        self._follow()

    def _follow(self) -> None:
        store = self._boxes._store
        rows = store.next_boxes()  # bounds of finite shapes are sound
        bound_rows(self._table.columns, _NO_ROWS, rows)
        self._boxes._replace(store.ids(), rows)
        self._moved = False

    def _searched(self) -> BoxTree:
        if self._moved:
            self._follow()
        return self._boxes

    def _trees(self, env: Any) -> Any:
        """What kernels of trees search; None where there are environments."""
        boxes = self._searched()
        if env is not None or boxes._store.envs is not None:
            return None
        return boxes._space.tree.tree(self._rows), self._other_tree._space.tree.tree(NO_IDS)

    def pairs(self) -> PairArray:
        """Every pair of shapes that overlap, by `broadphase.overlap`.

        Returns
        -------
        numpy.ndarray
            ``(m, 2)`` int32, rows ``i < j`` of ids, sorted.  Shapes of different environments are in no pair.

        Examples
        --------
        >>> import broadphase as bp
        >>> arena = bp.ShapeIndex([bp.Circle(0, 0, 1), bp.Circle(1.5, 1.5, 1), bp.Capsule(-1, 1, 3, 2, 0)])
        >>> arena.pairs()
        array([[1, 2]], dtype=int32)
        """
        rows = self._searched().pairs()
        return self._kept(rows, self._table.bounds(), self._table.columns)

    @overload  # a list of numbers is one ray
    def raycast(  # type: ignore[overload-overlap]
        self,
        origin: Place,
        direction: Place,
        max_distance: float = ...,
        *,
        env: int | None = ...,
        ignore: int | None = ...,
        **how: Unpack[Wanted],
    ) -> RayHit | None: ...
    @overload
    def raycast(
        self,
        origin: Place | RowsLike,
        direction: Place | RowsLike,
        max_distance: Any = ...,
        *,
        env: Any = ...,
        ignore: Any = ...,
        **how: Unpack[Wanted],
    ) -> RayHits: ...
    def raycast(
        self,
        origin: Any,
        direction: Any,
        max_distance: Any = math.inf,
        *,
        env: Any = None,
        ignore: Any = None,
        normals: bool = True,
        dtype: npt.DTypeLike | None = None,
        out: Any = None,
    ) -> RayHit | RayHits | None:
        """The first shape that a ray hits.

        Parameters
        ----------
        origin, direction, max_distance, env, ignore, normals, dtype, out
            As of `broadphase.Index.raycast`.

        Returns
        -------
        RayHit, None or RayHits
            As there; normals are those of the shapes.
        """
        rows, ways = _few_rows(origin), _few_rows(direction)
        if type(max_distance) is int:
            max_distance = real(max_distance, "max_distance")
        plain = ignore is dtype is out is None and normals is True and rows is not None and ways is not None
        trees = self._trees(env) if plain else None
        if trees is not None:
            few = _try_rays(trees, rows, ways, max_distance, self._table.columns, _ALL_SHAPES)
            if few is not None and few[3]:
                ids, far, sides, _ = few
                if not (type(rows) is type(ways) is tuple):
                    return RayHits(ids, far, sides)
                return RayHit(ids.item(), far.item(), tuple(sides.tolist()[0])) if ids[0] >= 0 else None
        boxes = self._searched()
        if boxes._store.envs is not None:
            ray, how = (origin, direction, max_distance), (normals, dtype, out)
            cast = environments.cast_groups(boxes._space, ray, env, ignore, how, self._table.columns)
            if cast is not None:
                return cast
        rays, ignore, env, axes = boxes._rays_in_rows(env, origin, direction, max_distance, ignore)
        rows, env, single = self._in_rows(rays, env)
        shape = axes or (() if single else (len(rows),))
        asked = hits_asked_for(shape, 2, arguments.flag(normals, "normals"), dtype, out)
        best = np.full(len(rows), -1, np.int32)
        if ignore is not None:
            best[:] = arguments.as_ignored(ignore, len(rows))
        lengths = np.nextafter(rows[:, 4], np.inf)  # what is exactly so far away is hit
        given = np.column_stack((rows[:, :2], unit_vectors(rows[:, 2:4]), lengths))
        found, hits = np.full(len(rows), -1, np.int32), np.zeros((len(rows), 3))
        hits[:, 0] = np.inf
        columns = self._table.columns
        trees = self._trees(env)
        if trees is not None:
            in_trees.first_shapes_on_rays(trees, given, best[:, None], columns, _ALL_SHAPES, found, hits)
        else:
            space, placed, _ = boxes._placed(rows, env)
            met = space.all_hits(placed, NO_RULES).rows
            kernel.first_on_rays(given, met, columns, best, found, hits)
        if single:
            if found[0] < 0:
                return None
            return RayHit(found.item(0), hits.item(0, 0), tuple(hits[0, 1:].tolist()))
        result = RayHits(found, hits[:, 0].copy(), hits[:, 1:].copy())
        return hits_as_asked(result, asked, out, shape, axes)  # type: ignore[no-any-return]

    def nearest(self, point: Place | RowsLike, *, env: Any = None, ignore: Any = None) -> Nearest:
        """The nearest shape of each point, the nearest point of it, and the normal there.

        Parameters
        ----------
        point : array_like, shape (2,) or (..., 2)
            Finite.
        env : int or array_like of int, shape (m,), optional
            As of `broadphase.Index.query_box`.
        ignore : int or array_like of int, shape (...), optional
            The id of a shape that does not count, such as the robot itself; -1 for none.

        Returns
        -------
        Nearest
        """
        few = self._nearest_to_few(point, env) if ignore is None else None
        if few is not None:
            return few
        boxes = self._searched()
        point, ignore = boxes._reader.settled(point, 2, "point"), settled(ignore, "ignore")
        (point, ignore), env, axes = boxes._in_rows(env, (point, "point", 2), (ignore, "ignore", 0))
        places, env, single = self._in_rows(boxes._reader.point_or_points(point, "point", finite=True), env)
        nearest_ids = np.full(len(places), -1, np.int32)
        if ignore is not None:
            nearest_ids[:] = arguments.as_ignored(ignore, len(places))
        ids, found = np.full(len(places), -1, np.int32), np.full((len(places), 5), np.nan)
        found[:, 0], found[:, 3:] = np.inf, 0.0
        spots, columns = plain_columns(CIRCLE, places, 0.0, 0.0), self._table.columns
        first = boxes.nearest(places, 1 if ignore is None else 2, env=env).ids
        counts = (first >= 0) & (first != nearest_ids[:, None])
        rows = np.column_stack((np.nonzero(counts)[0].astype(np.int32), first[counts]))
        kernel.nearest_of_rows(rows, spots, columns, ids, found)
        found_rows = np.flatnonzero(ids >= 0)
        reach = found[found_rows, 0] * _WIDER + 1e-12 * np.abs(places[found_rows]).max(axis=1, initial=0.0)
        worlds = env if np.ndim(env) == 0 else env[found_rows]
        rows = boxes.query_radius(places[found_rows], reach, env=worlds)
        rows[:, 0] = found_rows[rows[:, 0]]
        rows = rows[rows[:, 1] != nearest_ids[rows[:, 0]]]
        kernel.nearest_of_rows(rows, spots, columns, ids, found)
        return in_axes(_nearest(ids, found[:, 0], found[:, 1:], single), axes)

    def _nearest_to_few(self, points: Any, env: Any) -> Nearest | None:
        """`nearest` of few points; None: ask in another way."""
        rows, trees = _few_rows(points), self._trees(env)
        if trees is None or rows is None or not len(self):
            return None
        few = _try_nearest(trees, rows, 1, self._table.columns, _ALL_SHAPES)
        if few is None or not few[3]:
            return None
        ids, distances, places, _ = few
        return _nearest(ids[:, 0], distances[:, 0], places[:, 0], type(rows) is tuple)

    def query_box(self, box: OneBox | RowsLike, *, env: Any = None) -> IdArray:
        """The shapes that overlap a box, ids ascending; of a batch rows ``[query, id]``, sorted.

        Parameters
        ----------
        box : array_like, shape (4,) or (..., 4)
            ``[min_x, min_y, max_x, max_y]``.
        env
            As of `nearest`.
        """
        few = self._of_few(box, 4, None, env)
        if few is not None:
            return few
        boxes = self._searched()
        (box,), env, _ = boxes._in_rows(env, (boxes._reader.settled(box, 4, "box", BOXES), "box", 4))
        rows, env, single = self._in_rows(boxes._reader.box_or_boxes(box), env)
        edges = np.clip(rows, -_FARTHEST, _FARTHEST)
        columns = plain_columns(BOX, edges[:, :2], *(edges[:, 2:] - edges[:, :2]).T)
        return self._overlapping(rows, columns, env, single)

    def query_radius(self, center: Any, r: Any, *, env: Any = None) -> IdArray:
        """The shapes that overlap a circle, as `query_box`.

        Parameters
        ----------
        center : array_like, shape (2,) or (..., 2)
            Finite.
        r : float or array_like, shape (...)
            Finite, not negative.
        env
            As of `nearest`.
        """
        few = self._of_few(center, 2, r, env)
        if few is not None:
            return few
        boxes, reader = self._searched(), self._boxes._reader
        center, r = reader.settled(center, 2, "center"), arguments.settled_distance(r, "r")
        (center, r), env, _ = boxes._in_rows(env, (center, "center", 2), (r, "r", 0))
        points = reader.point_or_points(center, "center", finite=True), "center", 1
        (centers, radii), one = arguments.lined_up(points, (arguments.distances(r, "r"), "r", 0))
        centers, env, single = self._in_rows(centers[0] if one else centers, env)
        radii = np.resize(np.minimum(radii, _FARTHEST), len(centers))
        bounds = np.hstack((centers - radii[:, None], centers + radii[:, None]))
        return self._overlapping(bounds, plain_columns(CIRCLE, centers, radii, 0.0), env, single)

    def _of_few(self, values: Any, columns: int, r: Any, env: Any) -> IdArray | None:
        """The shapes that overlap few boxes or circles; None: ask in another way."""
        radii, radius = _NO_RADII, -1.0
        if type(r) is np.ndarray:
            radii = r
        elif r is not None:
            radius = real(r, "r") if type(r) in (float, int) else math.nan
        trees, rows = self._trees(env), _few_rows(values)
        single = type(rows) is tuple
        if (
            trees is None
            or rows is None
            or (len(rows) if single else rows.shape[1]) != columns
            or not (r is None or radius >= 0.0 or len(radii))
        ):
            return None
        few = _try_shapes(trees, rows, radii, radius, self._table.columns, _ALL_SHAPES)
        if few is None or few[1] < 0:
            return None
        found: IdArray = few[0][:, 1].copy() if single else few[0]
        return found

    def _overlapping(self, bounds: Floats, shapes: ShapeColumns, env: Any, single: bool) -> IdArray:
        rows = self._kept(self._boxes.query_box(bounds, env=env), bounds, shapes)
        return np.ascontiguousarray(rows[:, 1]) if single else rows

    def _kept(self, rows: PairArray, bounds: Floats, shapes: ShapeColumns) -> PairArray:
        """The rows ``[k, id]`` where shape ``k`` of some, with these bounds, overlaps that of the id."""
        all_bounds, kept = self._table.bounds(), [rows[:0]]
        for begin, end in ranges(0, len(rows), _AT_A_TIME):
            portion = rows[begin:end]
            a, b = bounds[portion[:, 0]], all_bounds[portion[:, 1]]
            # The index counts what touches.
            portion = portion[((a[:, :2] < b[:, 2:]) & (b[:, :2] < a[:, 2:])).all(axis=1)]
            known = portion, shapes, self._table.columns, _ALL_SHAPES
            kept.append(portion[: kernel.keep_overlapping_rows(*known)])
        return joined(kept)

    def _in_rows(self, query: Floats, env: Any) -> tuple[Floats, Any, bool]:
        """Queries in rows, the environment of each, and whether it is a single one."""
        rows, single = environments.rows_asked(query, env)
        if self._boxes._store.envs is not None and env is None:
            env = 0
        return rows, env, single


def _few_rows(values: Any) -> Any:
    """Few rows as kernels take them, an array, or a tuple for a single one; None for anything else."""
    if type(values) is np.ndarray:
        if values.ndim == 1:
            return tuple(values.tolist()) if len(values) <= _FEW else None
        return values.copy() if values.ndim == 2 and len(values) <= _FEW else None
    return tuple(values) if type(values) is list else values if type(values) is tuple else None


def _nearest(ids: IdArray, distances: Floats, places: Floats, single: bool) -> Nearest:
    """The nearest shape of each point, or of one, with its nearest point and the normal there."""
    result = Nearest(ids[0], distances[0]) if single else Nearest(ids.copy(), distances.copy())
    place = places[0] if single else places
    result.points, result.normals = place[..., :2].copy(), place[..., 2:].copy()
    return result
