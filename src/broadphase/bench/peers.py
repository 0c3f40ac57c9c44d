"""What Python users would use instead, each as a `Search` on a `Case`.

Timed is everything from boxes to all pairs, building the tree or grid included, unless ``included`` says
otherwise.  Making the form that a peer wants its boxes in (shapely's geometries, ipctk's edges, float64) is
not timed.  Physics engines keep their bodies from step to step, so there the bodies and their tree stand
already.  A peer that cannot do a case says None.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from typing import Any

import numpy as np
import numpy.typing as npt

from broadphase.bench.scenes import Boxes, Case
from broadphase.bench.timing import Search


@dataclass(frozen=True)
class Peer:
    """A library beside ours."""

    package: str
    make: Callable[[Case], Search | None]
    included: str
    """What is timed, and on how many cores."""
    tolerated: float = 0.0
    """The share of pairs that it may be off: only where the library does not promise to be exact."""


def _doubles(boxes: Boxes) -> list[npt.NDArray[np.float64]]:
    return [np.ascontiguousarray(column) for column in boxes.astype(np.float64).T]


def _corners(boxes: Boxes) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
    dim = boxes.shape[1] // 2
    doubles = boxes.astype(np.float64)
    return np.ascontiguousarray(doubles[:, :dim]), np.ascontiguousarray(doubles[:, dim:])


def _half(n: int, found: Any) -> int:
    """Pairs among ``found`` hits where every box meets itself and each pair is met from both sides."""
    return (int(found) - n) // 2


def _too_fine(case: Case) -> bool:
    """Whether what rounds in or near float32 would see boxes touch that do not, or miss some that do."""
    sizes = case.boxes[:, case.dim :] - case.boxes[:, : case.dim]
    return bool(np.spacing(np.abs(case.boxes).max()) > 1e-3 * np.median(sizes.max(axis=1)))


def with_shapely(case: Case) -> Search | None:
    """An STRtree of rectangles, asked for all of them at once."""
    shapely = import_module("shapely")
    if case.dim == 3:
        return None
    shapes = shapely.box(*case.boxes.astype(np.float64).T)

    def search(tree_of: Any, asked: Any) -> Any:
        return shapely.STRtree(tree_of).query(asked)

    if case.first_side is not None:
        a, b = shapes[: case.first_side], shapes[case.first_side :]
        return Search(lambda _: search(b, a), lambda hits: int(hits.shape[1]))
    if case.static is not None:
        movers = np.flatnonzero(~case.static)

        def count(hits: Any) -> int:
            mover, other = movers[hits[0]], hits[1]
            return int(np.count_nonzero(case.static[other] | (mover < other)))  # type: ignore[index]

        return Search(lambda _: search(shapes, shapes[movers]), count)
    return Search(lambda _: search(shapes, shapes), lambda hits: _half(len(shapes), hits.shape[1]))


def with_geoindex(case: Case) -> Search | None:
    """A packed R-tree joined with itself."""
    rtree = import_module("geoindex_rs.rtree")
    if case.dim == 3 or case.static is not None:
        return None

    def tree(columns: list[npt.NDArray[np.float64]]) -> Any:
        builder = rtree.RTreeBuilder(len(columns[0]))
        builder.add(*columns)
        return builder.finish()

    if case.first_side is not None:
        a, b = (_doubles(side) for side in case.sides)
        return Search(lambda _: rtree.tree_join(tree(a), tree(b)), lambda hits: int(hits.num_rows))
    columns = _doubles(case.boxes)

    def search(_: None) -> Any:
        built = tree(columns)
        return rtree.tree_join(built, built)

    return Search(search, lambda hits: _half(len(case.boxes), hits.num_rows))


def with_ipctk(case: Case) -> Search | None:
    """Its LBVH; a box is the bounding box of the edge between its corners."""
    ipctk = import_module("ipctk")
    if not case.plain or _too_fine(case):
        return None
    n = len(case.boxes)
    corners = np.vstack(_corners(case.boxes))
    edges = np.column_stack([np.arange(n), np.arange(n) + n]).astype(np.int32)
    no_faces = np.empty((0, 3), np.int32)

    def search(_: None) -> Any:
        tree = ipctk.LBVH()
        tree.build(corners, edges, no_faces, 0.0)
        return tree.detect_edge_edge_candidates()

    return Search(search)


def with_scipy(case: Case) -> Search | None:
    """A k-d tree; only equal squares and cubes are points at a distance."""
    spatial = import_module("scipy.spatial")
    if not case.plain or case.equal_side is None:
        return None
    low, side = _corners(case.boxes)[0], case.equal_side
    return Search(lambda _: spatial.cKDTree(low).query_pairs(side, p=np.inf, output_type="ndarray"))


def with_freud(case: Case) -> Search | None:
    """Neighbours nearer than the diagonal, sifted by NumPy; only equal squares and cubes."""
    freud = import_module("freud")
    if not case.plain or case.equal_side is None:
        return None
    low, side = _corners(case.boxes)[0], case.equal_side
    near = side * case.dim**0.5 * 1.0001
    points = np.zeros((len(low), 3), np.float32)  # 2-D is z = 0 there
    points[:, : case.dim] = low - (low.min(axis=0) + low.max(axis=0)) / 2
    # A world so wide that nothing meets its neighbour around the edge.
    lengths = np.ptp(low, axis=0) + 4 * near
    world = freud.box.Box(*lengths, *([] if case.dim == 3 else [0]), is2D=case.dim == 2)
    asked = {"r_max": near, "exclude_ii": True}

    def search(_: None) -> Any:
        found = freud.locality.AABBQuery(world, points).query(points, asked).toNeighborList()
        i, j = found.query_point_indices, found.point_indices
        once = i < j
        i, j = i[once], j[once]
        touching = (np.abs(points[i] - points[j]) <= side).all(axis=1)
        return np.column_stack([i[touching], j[touching]])

    return Search(search)


def with_fastquadtree(case: Case) -> Search | None:
    """A quadtree in Rust; it has no call for all pairs and is asked box by box."""
    fastquadtree = import_module("fastquadtree")
    if case.dim == 3 or not case.plain:
        return None
    boxes = case.boxes
    world = (*(boxes.min(axis=0)[:2] - 1).tolist(), *(boxes.max(axis=0)[2:] + 1).tolist())

    def search(_: None) -> int:
        tree = fastquadtree.RectQuadTree(world, 16)
        tree.insert_many_np(boxes)
        return sum(len(tree.query_np(tuple(box))[0]) for box in boxes.tolist())

    return Search(search, partial(_half, len(boxes)))


def with_rtree(case: Case) -> Search | None:
    """libspatialindex, loaded in bulk and asked in one batch."""
    index = import_module("rtree.index")
    if case.static is not None:
        return None
    asked, held = (case.boxes, case.boxes) if case.first_side is None else case.sides
    low, high = _corners(held)
    ids, queries = np.arange(len(held)), _corners(asked)
    options = index.Property()
    options.dimension = case.dim

    def search(_: None) -> Any:
        return index.Index((ids, low, high), properties=options).intersection_v(*queries)[0]

    if case.first_side is None:
        return Search(search, lambda hits: _half(len(held), len(hits)))
    return Search(search)


def with_pymunk(case: Case) -> Search | None:
    """A step of a space in which the bodies stand already."""
    pymunk = import_module("pymunk")
    if case.dim == 3 or not case.plain or _too_fine(case):
        return None
    low, high = _corners(case.boxes)
    scale = 1 / float(np.median(high - low))  # far below 1 its polygons lose their corners
    centers = ((low + high) / 2 * scale).tolist()
    halves = ((high - low) / 2 * scale).tolist()

    def prepare() -> Any:
        space = pymunk.Space()
        for center, (w, h) in zip(centers, halves, strict=True):
            body = pymunk.Body(1, 1)
            body.position = tuple(center)
            space.add(body, pymunk.Poly(body, [(-w, -h), (w, -h), (w, h), (-w, h)]))
        return space

    def step(space: Any) -> Any:
        space.step(1e-9)
        return space

    def count(space: Any) -> int:
        met: list[Any] = []
        for body in space.bodies:
            body.each_arbiter(met.append)
        return len(met) // 2

    return Search(step, count, prepare)


_BOX2D_SIDES = 5.0, 100.0  # its contacts begin at a distance of 0.02; that must be little beside a box
_BOX2D_WORLD = 4e4  # its float32 is too coarse in wider ones


def with_box2d(case: Case) -> Search | None:
    """A step of a world in which the bodies stand already; equal squares, for its distances are absolute."""
    b2 = import_module("pyb2d3")
    if case.dim == 3 or not case.plain or case.equal_side is None:
        return None
    low, high = _corners(case.boxes)
    middle = (low.min(axis=0) + high.max(axis=0)) / 2
    world_side = float((high.max(axis=0) - low.min(axis=0)).max())
    scale = min(_BOX2D_SIDES[1] / case.equal_side, _BOX2D_WORLD / world_side)
    if scale * case.equal_side < _BOX2D_SIDES[0]:
        return None
    centers = (((low + high) / 2 - middle) * scale).tolist()
    halves = ((high - low) / 2 * scale).tolist()
    standing: list[Any] = []

    def prepare() -> Any:
        while standing:
            standing.pop().destroy()  # only 128 worlds may exist
        world = b2.World(gravity=(0, 0))
        standing.append(world)
        shape = b2.shape_def(density=1, enable_contact_events=True)
        for center, (w, h) in zip(centers, halves, strict=True):
            world.create_dynamic_body(position=tuple(center)).create_shape(shape, b2.box(hx=w, hy=h))
        return world

    def step(world: Any) -> int:
        world.step(1e-6, 1)
        return int(world.get_contact_events().begin_count)

    return Search(step, int, prepare)


_ROUNDED = 2e-3
_ALL = "building the tree and all pairs"
PEERS: dict[str, Peer] = {
    "shapely": Peer("shapely", with_shapely, f"{_ALL}, each from both sides; one core"),
    "geoindex-rs": Peer("geoindex-rs", with_geoindex, f"{_ALL}, each from both sides; one core"),
    "ipctk": Peer("ipctk", with_ipctk, f"{_ALL}; all cores", _ROUNDED),
    "scipy": Peer("scipy", with_scipy, f"{_ALL}; equal squares and cubes; one core", _ROUNDED),
    "freud": Peer(
        "freud-analysis",
        with_freud,
        f"{_ALL} within the diagonal, sifted by NumPy; equal squares and cubes; all cores",
        _ROUNDED,
    ),
    "fastquadtree": Peer(
        "fastquadtree", with_fastquadtree, "building the tree and one call a box from Python; one core"
    ),
    "rtree": Peer("rtree", with_rtree, f"{_ALL}, each from both sides; one core"),
    "pymunk": Peer(
        "pymunk",
        with_pymunk,
        "one step with all contacts new; not making the bodies and their tree; one core",
    ),
    "Box2D": Peer(
        "pyb2d3",
        with_box2d,
        "one step with all contacts new; not making the bodies and their trees; equal squares; one core",
        _ROUNDED * 5,
    ),
}
"""By name; the order is that of the tables."""
