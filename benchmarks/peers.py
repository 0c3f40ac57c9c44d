"""Other Python libraries, and engines in C++, each as a `Search` on a `Case`; and the yardstick in C++.

The time covers everything from boxes to all pairs, with building the tree or grid, unless ``included`` says
otherwise.  Converting the boxes to the form that a peer needs (shapely's geometries, ipctk's edges, float64)
is not timed.  Physics engines keep their bodies between steps, so their bodies and tree exist before the
clock starts.  A peer returns None for a case that it cannot do.
"""

import shutil
import subprocess
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, partial
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from catalogue import Boxes, Case
from timing import Search


@dataclass(frozen=True)
class Peer:
    """A library to compare with."""

    package: str
    make: Callable[[Case], Search | None]
    included: str
    """What is timed, and on how many cores."""
    tolerated: float = 0.0
    """The share of pairs by which it may differ, for libraries that do not promise to be exact."""

    def search(self, case: Case) -> Search | str:
        """Its search for a case, or the reason why it does not take part."""
        try:
            return self.make(case) or "cannot do this scene"
        except ModuleNotFoundError as error:
            return f"not installed ({error.name})"


def _doubles(boxes: Boxes) -> list[npt.NDArray[np.float64]]:
    return [np.ascontiguousarray(column) for column in boxes.astype(np.float64).T]


def _corners(boxes: Boxes) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
    dim = boxes.shape[1] // 2
    doubles = boxes.astype(np.float64)
    return np.ascontiguousarray(doubles[:, :dim]), np.ascontiguousarray(doubles[:, dim:])


def _half(n: int, found: Any) -> int:
    """The number of pairs in ``found`` hits that include every box with itself and each pair twice."""
    return (int(found) - n) // 2


def _too_fine(case: Case) -> bool:
    """Whether a library that rounds to float32 would find wrong pairs."""
    sizes = case.boxes[:, case.dim :] - case.boxes[:, : case.dim]
    return bool(np.spacing(np.abs(case.boxes).max()) > 1e-3 * np.median(sizes.max(axis=1)))


def with_shapely(case: Case) -> Search | None:
    """An STRtree of rectangles, queried with all of them in one call."""
    shapely = import_module("shapely")
    if case.dim == 3:
        return None
    shapes = shapely.box(*case.boxes.astype(np.float64).T)

    def search(tree_of: Any, queries: Any) -> Any:
        return shapely.STRtree(tree_of).query(queries)

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
    """A k-d tree of points; for equal squares and cubes only."""
    spatial = import_module("scipy.spatial")
    if not case.plain or case.equal_side is None:
        return None
    low, side = _corners(case.boxes)[0], case.equal_side
    return Search(lambda _: spatial.cKDTree(low).query_pairs(side, p=np.inf, output_type="ndarray"))


def with_freud(case: Case) -> Search | None:
    """Neighbours within the diagonal, filtered by NumPy; for equal squares and cubes only."""
    freud = import_module("freud")
    if not case.plain or case.equal_side is None:
        return None
    low, side = _corners(case.boxes)[0], case.equal_side
    near = side * case.dim**0.5 * 1.0001
    points = np.zeros((len(low), 3), np.float32)  # 2-D is z = 0 there
    points[:, : case.dim] = low - (low.min(axis=0) + low.max(axis=0)) / 2
    # A world so wide that no neighbours are found across its periodic edges.
    lengths = np.ptp(low, axis=0) + 4 * near
    world = freud.box.Box(*lengths, *([] if case.dim == 3 else [0]), is2D=case.dim == 2)
    options = {"r_max": near, "exclude_ii": True}

    def search(_: None) -> Any:
        found = freud.locality.AABBQuery(world, points).query(points, options).toNeighborList()
        i, j = found.query_point_indices, found.point_indices
        once = i < j
        i, j = i[once], j[once]
        touching = (np.abs(points[i] - points[j]) <= side).all(axis=1)
        return np.column_stack([i[touching], j[touching]])

    return Search(search)


def with_fastquadtree(case: Case) -> Search | None:
    """A quadtree in Rust; it has no call for all pairs, so it is queried box by box."""
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
    """libspatialindex, loaded in bulk and queried in one batch."""
    index = import_module("rtree.index")
    if case.static is not None:
        return None
    queried, held = (case.boxes, case.boxes) if case.first_side is None else case.sides
    low, high = _corners(held)
    ids, queries = np.arange(len(held)), _corners(queried)
    options = index.Property()
    options.dimension = case.dim

    def search(_: None) -> Any:
        return index.Index((ids, low, high), properties=options).intersection_v(*queries)[0]

    if case.first_side is None:
        return Search(search, lambda hits: _half(len(held), len(hits)))
    return Search(search)


def with_pymunk(case: Case) -> Search | None:
    """One step of a space whose bodies exist already."""
    pymunk = import_module("pymunk")
    if case.dim == 3 or not case.plain or _too_fine(case):
        return None
    low, high = _corners(case.boxes)
    scale = 1 / float(np.median(high - low))  # its polygons lose their corners far below 1
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


_BOX2D_SIDES = 5.0, 100.0  # its contacts begin at a distance of 0.02, which must be small compared with a box
_BOX2D_WORLD = 4e4  # its float32 is too coarse in wider worlds


def with_box2d(case: Case) -> Search | None:
    """One step of a world whose bodies exist already; equal squares only, as its tolerances are absolute."""
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


# ---- programs in C++

_SOURCES = Path(__file__).parent
_COMPILERS = ("c++", "g++", "clang++")
_WAIT = 120  # seconds; only a program that hangs takes longer
# The Debian package of each engine, and what compiles and links it.
ENGINES = {
    "CGAL": ("libcgal-dev", [["-DCGAL_BOXES"]]),
    "Boost": ("libboost-dev", [["-DBOOST_RTREE"]]),
    "Embree": ("libembree-dev", [["-DEMBREE=4", "-lembree4"], ["-DEMBREE=3", "-lembree3"]]),
}


def build(source: str, program: Path, *flags: str) -> Path | None:
    """Compile a source of this folder for this processor; None where that fails."""
    compiler = next(filter(None, map(shutil.which, _COMPILERS)), None)
    if compiler is None:
        return None
    options = ["-std=c++17", "-O3", "-march=native", "-DNDEBUG", "-o", str(program)]
    command = [compiler, *options, str(_SOURCES / source), *flags]
    try:
        subprocess.run(command, capture_output=True, check=True, timeout=_WAIT)
    except (OSError, subprocess.SubprocessError):
        return None
    return program


def run_program(*command: object) -> dict[str, float]:
    """Run a program and read what it prints: numbers by name.

    Raises
    ------
    OSError, subprocess.SubprocessError
        It could not be run, or failed.
    """
    answer = subprocess.run(
        list(map(str, command)), capture_output=True, encoding="utf-8", check=True, timeout=_WAIT
    )
    words = answer.stdout.split()
    return {name: float(number) for name, number in zip(words[::2], words[1::2], strict=True)}


def _search_by(*command: object) -> Search:
    """A program that says how many pairs there are and how long it took."""
    return Search(
        lambda _: run_program(*command),
        count=lambda output: int(output["pairs"]),
        seconds=lambda output: output["ms"] / 1e3,
    )


@cache
def _folder() -> tempfile.TemporaryDirectory[str]:
    """Where the engines are, until the process ends."""
    return tempfile.TemporaryDirectory(prefix="broadphase-engines-")


@cache
def _engine(name: str) -> Path | None:
    program = Path(_folder().name, name)
    return next(filter(None, (build("engines.cpp", program, *flags) for flags in ENGINES[name][1])), None)


def with_engine(name: str, case: Case) -> Search | None:
    """An engine of `ENGINES`, compiled when the first case comes.

    Raises
    ------
    ModuleNotFoundError
        There is no compiler, or it does not find the engine.
    """
    program = _engine(name)
    if program is None:
        needed = f"a C++ compiler and {ENGINES[name][0]}"
        raise ModuleNotFoundError(f"{name} could not be built: it needs {needed}", name=needed)
    if not case.plain or not len(case.boxes):
        return None
    file = program.with_suffix(".f32")
    case.boxes.tofile(file)
    return _search_by(program, case.dim, file, 3)


_ROUNDED = 2e-3
_ALL = "building the tree and all pairs"
_IN_C = "boxes in an array to all pairs in another in C++, one core"
PEERS: dict[str, Peer] = {
    "shapely": Peer("shapely", with_shapely, f"{_ALL}, each from both sides; one core"),
    "geoindex-rs": Peer("geoindex-rs", with_geoindex, f"{_ALL}, each from both sides; one core"),
    "ipctk": Peer("ipctk", with_ipctk, f"{_ALL}; all cores", _ROUNDED),
    "scipy": Peer("scipy", with_scipy, f"{_ALL}; equal squares and cubes; one core", _ROUNDED),
    "freud": Peer(
        "freud-analysis",
        with_freud,
        f"{_ALL} within the diagonal, filtered by NumPy; equal squares and cubes; all cores",
        _ROUNDED,
    ),
    "fastquadtree": Peer(
        "fastquadtree", with_fastquadtree, "building the tree and one call per box from Python; one core"
    ),
    "rtree": Peer("rtree", with_rtree, f"{_ALL}, each from both sides; one core"),
    "pymunk": Peer(
        "pymunk",
        with_pymunk,
        "one step with all contacts new, without creating the bodies and their tree; one core",
    ),
    "Box2D": Peer(
        "pyb2d3",
        with_box2d,
        "one step with all contacts new, without creating bodies and trees; equal squares; one core",
        _ROUNDED * 5,
    ),
    "CGAL": Peer("libcgal-dev", partial(with_engine, "CGAL"), f"{_IN_C}: box_self_intersection_d"),
    "Boost": Peer(
        "libboost-dev", partial(with_engine, "Boost"), f"{_IN_C}: a packed R*-tree, a query per box"
    ),
    "Embree": Peer(
        "libembree-dev", partial(with_engine, "Embree"), f"{_IN_C}: rtcCollide, tested for overlap"
    ),
}
"""By name, in the order of the tables."""


# ---- the yardstick

YARDSTICK_INCLUDED = (
    "the search alone, hand-written in AVX-512 C++, with the fastest width of strips; one core"
)


def build_yardstick(folder: Path) -> Path | None:
    """Compile the method ``strips`` in C++ for this processor; None without a compiler or AVX-512."""
    return build("yardstick.cpp", folder / "yardstick")


def with_yardstick(program: Path, case: Case, folder: Path) -> Search | None:
    """The yardstick on a case, with the fastest width of strips; None if it cannot do the case."""
    if not case.plain or len(case.boxes) < 2:
        return None
    file = folder / "boxes.f32"
    case.boxes.tofile(file)
    try:
        side = run_program(program, case.dim, file, 0, 2)["side"]
    except (OSError, subprocess.SubprocessError):
        return None
    repeats = 20 if len(case.boxes) <= 10_000 else 3
    return _search_by(program, case.dim, file, side, repeats)
