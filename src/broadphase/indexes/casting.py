"""Rays among boxes that are searched once, `raycast`.

A tree is built of the boxes, or groups of them where they have environments, and the rays are cast in that:
`broadphase.BoxTree` with the same answers, for boxes that are not kept.

Cost: that of the tree, 0.1 us a box, then that of the rays.  Where the same boxes are asked again, an index
saves the first.
"""

import math
from typing import Any, Unpack, overload

import numpy as np
import numpy.typing as npt

from broadphase.api import on_its_device
from broadphase.indexes.classes import BoxTree
from broadphase.indexes.results import HowToCast, RayHit, RayHits
from broadphase.indexes.storage import EVERY_BIT
from broadphase.inputs import Lengths, Numbers, Place, RowsLike
from broadphase.inputs.arrays import BOXES, POINTS, check_same_crs, settled
from broadphase.inputs.environments import settled_envs
from broadphase.inputs.numeric import on_gpu
from broadphase.inputs.periods import settled_period


class _How(HowToCast, total=False):
    """What rays among given boxes may be told besides, for the signatures that type checkers read."""

    touching: bool
    categories: Numbers | None
    masks: Numbers | None
    period: Lengths | None
    threads: int | None


@overload  # a list of numbers is one ray
def raycast(  # type: ignore[overload-overlap]
    boxes: RowsLike,
    origins: Place,
    directions: Place,
    max_distance: float = ...,
    *,
    env: None = ...,
    ignore: int | None = ...,
    **how: Unpack[_How],
) -> RayHit | None: ...
@overload
def raycast(
    boxes: RowsLike,
    origins: Place | RowsLike,
    directions: Place | RowsLike,
    max_distance: Any = ...,
    *,
    env: tuple[Any, Any] | None = ...,
    ignore: Any = ...,
    **how: Unpack[_How],
) -> RayHits: ...
def raycast(
    boxes: Any,
    origins: Any,
    directions: Any,
    max_distance: Any = math.inf,
    *,
    touching: bool = True,
    categories: Any = None,
    masks: Any = None,
    category: int | None = None,
    mask: int | None = None,
    period: Any = None,
    env: tuple[Any, Any] | None = None,
    ignore: Any = None,
    normals: bool = True,
    dtype: npt.DTypeLike | None = None,
    out: Any = None,
    threads: int | None = None,
) -> RayHit | RayHits | None:
    """Find the first box that each ray hits; of several at one distance, the lowest row.

    Parameters
    ----------
    boxes : array_like
        As for `pairs`.  Boxes that are asked again are better kept in an index, such as a `BoxTree`.
    origins : array_like, shape (dim,) or (..., dim)
        Finite.
    directions : array_like, shape (dim,) or (..., dim)
        Of any length but zero.
    max_distance : float or array_like, shape (...)
        In world units, not in lengths of the directions.
    touching : bool
        Whether a ray hits a box that it only touches at an edge or a corner.
    categories, masks : array_like of int, shape (n,), optional
        Those of the boxes, as for `pairs`.
    category, mask, ignore, normals, dtype, out
        As of `Index.raycast`; ``ignore`` are rows of the boxes.
    period : sequence of float or None, float, optional
        As for `pairs`.  A ray goes around the world until its maximum distance, which must be finite.
    env : tuple of array_like, optional
        The environments of the boxes and of the rays, one number each or one for all; rays hit the boxes of
        their own and of -1.  Boxes of shape ``(worlds, n, 2 * dim)`` and rays of shape ``(worlds, m, dim)``
        say the same without it.
    threads : int, optional
        The most threads to use; by default all cores, if that pays.

    Returns
    -------
    RayHit or None
        Of one ray: ``id, distance, normal``, as of `Index.raycast`.
    RayHits
        Of several: arrays ``ids, distances, normals`` with one entry a ray, in the shape of the rays; where
        nothing is hit, the id is -1 and the distance inf.

    Raises
    ------
    TypeError, ValueError
        As for `pairs` and `Index.raycast`.

    Examples
    --------
    >>> import broadphase as bp
    >>> boxes = [[4, -1, 5, 1], [2, 3, 3, 9]]
    >>> bp.raycast(boxes, (0, 0), (2, 0))
    RayHit(id=0, distance=4.0, normal=(-1.0, 0.0))
    >>> hits = bp.raycast(boxes, [[0, 0], [0, 5], [0, 0]], [[1, 0], [1, 0], [0, 1]])
    >>> hits.ids, hits.distances
    (array([ 0,  1, -1], dtype=int32), array([ 4.,  2., inf]))
    """
    if on_gpu(boxes):
        rules = {"categories": categories, "masks": masks, "category": category, "mask": mask}
        asked = {"normals": not normals, "dtype": dtype, "out": out}
        search_there = on_its_device("raycast", **rules, period=period, **asked)
        there: RayHits = search_there(
            boxes, origins, directions, max_distance=max_distance, env=env, ignore=ignore, touching=touching
        )
        return there
    check_same_crs(boxes, "boxes", origins, "origins")
    boxes, origins = settled(boxes, "boxes", BOXES), settled(origins, "origins", POINTS)
    env, categories, masks = settled_envs(env), settled(categories, "categories"), settled(masks, "masks")
    if env is not None and not (isinstance(env, tuple) and len(env) == 2):
        raise TypeError(
            f"env must be two, the environments of the boxes and of the rays; got {type(env).__name__}"
        )
    row_env, asked_in = env or (None, None)
    spatial = boxes.shape[-1:] == (6,) or (boxes.size == 0 and origins.shape[-1:] == (3,))
    index = BoxTree(
        dim=3 if spatial else 2,
        dtype=boxes.dtype if boxes.dtype == np.float32 else np.float64,
        touching=bool(touching),
        threads=threads,
        period=settled_period(period),
    )
    index._reader.ray_names = "origins", "directions"
    sets = 1 if categories is None else categories, EVERY_BIT if masks is None else masks
    index.insert_many(boxes, static=True, category=sets[0], mask=sets[1], env=row_env)
    cast: Any = index.raycast
    found: RayHit | RayHits | None = cast(
        origins, directions, max_distance, category=category, mask=mask, env=asked_in, ignore=ignore,
        normals=normals, dtype=dtype, out=out,
    )  # fmt: skip
    return found
