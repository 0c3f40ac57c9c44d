"""`broadphase.gpu` returns what the processor does, number for number, by kernels that run on both.

Warp runs the kernels on the processor too, one thread after the other.  What depends on how threads meet, on
streams and on the sorts of CUDA is only tested on a card: ``BROADPHASE_DEVICE=cuda:0 python -m pytest
tests/test_gpu.py``.
"""

import doctest
import importlib
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import oracle
import pytest
import scenes

import broadphase as bp
from broadphase import gpu

KINDS = [(dim, dtype) for dim in (2, 3) for dtype in (np.float32, np.float64)]


@pytest.fixture(scope="module")
def wp():
    warp = pytest.importorskip(
        "warp", reason='Warp is not installed: python -m pip install "broadphase[gpu]"'
    )
    warp.init()
    return warp


@pytest.fixture
def on(wp):
    """Puts an array on the device."""
    device = os.environ.get("BROADPHASE_DEVICE", "cpu")
    return lambda array: wp.array(np.ascontiguousarray(array), device=device)


def same(found, wanted):
    """Number for number, bit for bit."""
    found = found.numpy()
    assert found.dtype == wanted.dtype
    assert found.shape == wanted.shape
    assert found.tobytes() == np.ascontiguousarray(wanted).tobytes()


def squares(n, dim, dtype, side=0.04, seed=1):
    low = np.random.default_rng(seed).random((n, dim)).astype(dtype)
    return np.hstack([low, low + dtype(side)])


def sets_of(n, seed=2):
    rng = np.random.default_rng(seed)
    return {
        "static": rng.random(n) < 0.3,
        "categories": rng.integers(0, 8, n),
        "masks": rng.integers(0, 8, n),
    }


# --- pairs ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("dim", "dtype"), KINDS)
def test_every_scene_has_the_pairs_of_the_oracle(on, each, dim, dtype):
    def check(name, n, touching):
        boxes = scenes.make(name, n, dim, dtype)
        wanted = oracle.pairs(boxes, touching)
        same(gpu.pairs(on(boxes), touching=touching), wanted)
        assert gpu.count_pairs(on(boxes), touching=touching) == len(wanted)

    sizes = (0, 1, 2, 33, 600)
    cases = [(name, n, touching) for n in sizes for touching in (True, False) for name in scenes.named(dim)]
    each(check, cases, of=8, turn=KINDS.index((dim, dtype)))


@pytest.mark.parametrize(("dim", "dtype"), KINDS)
def test_every_scene_has_the_pairs_of_the_processor(on, each, dim, dtype):
    """With so many boxes that axes are cut into strips."""

    def check(name, touching):
        boxes = scenes.make(name, 2_000, dim, dtype)
        same(gpu.pairs(on(boxes), touching=touching), bp.pairs(boxes, touching=touching))

    cases = [(name, touching) for touching in (True, False) for name in scenes.named(dim)]
    each(check, cases, of=16, turn=KINDS.index((dim, dtype)))


def beams(n, dim, rng):
    """Long and thin, along every axis: what strips, cells and size classes cannot tell apart."""
    size = np.full((n, dim), 1e-6)
    size[np.arange(n), rng.integers(0, dim, n)] = 0.2
    return scenes.from_corner(rng.random((n, dim)), size)


def giants(n, dim, rng):
    """Few that cover all, some that cover strips, and many small ones."""
    boxes = scenes.from_corner(rng.random((n, dim)), 10.0 ** rng.uniform(-4, -1, (n, 1)))
    boxes[:: n // 7] = [-9.0] * dim + [9.0] * dim
    return boxes


def steps(n, dim, rng):
    """Each covers about half of what is left, on all axes: nodes of every height."""
    low = 1 - 0.5 ** rng.uniform(0, 20, (n, 1))
    return scenes.from_corner(low, 0.5 * (1 - low)).repeat(1, axis=1)[:, [0] * dim + [1] * dim]


@pytest.mark.parametrize("dim", [2, 3])
@pytest.mark.parametrize("make", [beams, giants, steps])
def test_boxes_in_nodes_of_every_height(on, make, dim):
    boxes = make(3_000, dim, np.random.default_rng(3))
    for touching in (True, False):
        same(gpu.pairs(on(boxes), touching=touching), bp.pairs(boxes, touching=touching))


@pytest.mark.parametrize(("dim", "dtype"), KINDS)
def test_rules_and_environments(on, dim, dtype):
    boxes, rules = squares(2_000, dim, dtype), sets_of(2_000)
    env = np.random.default_rng(4).integers(-3, 4, 2_000)
    env[:900] = 2**40  # one large among many small
    given = {name: on(values) for name, values in rules.items()}
    same(gpu.pairs(on(boxes), **given), bp.pairs(boxes, **rules))
    same(gpu.pairs(on(boxes), **given, env=on(env)), bp.pairs(boxes, **rules, env=env))
    assert gpu.count_pairs(on(boxes), **given, env=on(env)) == bp.count_pairs(boxes, **rules, env=env)
    for name in rules:
        same(gpu.pairs(on(boxes), **{name: given[name]}), bp.pairs(boxes, **{name: rules[name]}))
    worlds = boxes.reshape(40, 50, 2 * dim)
    same(gpu.pairs(on(worlds)), bp.pairs(worlds))
    few = env[:300].astype(np.int16)
    same(gpu.pairs(on(boxes[:300]), env=on(few)), bp.pairs(boxes[:300], env=few))


def test_no_rows_of_environments(on):
    nothing, none = on(np.zeros((0, 4))), on(np.zeros(0, np.int32))
    some, worlds = on(squares(9, 2, np.float64)), on(np.arange(9, dtype=np.int32))
    for pairs in (gpu.pairs(nothing, env=none), gpu.pairs(on(np.zeros((3, 0, 4))))):
        assert pairs.numpy().shape == (0, 2)
    assert gpu.join(nothing, some, env=(none, worlds)).numpy().shape == (0, 2)
    assert gpu.join(some, nothing, env=(worlds, none)).numpy().shape == (0, 2)
    assert len(gpu.neighbors(on(np.zeros((0, 2))), 1.0, env=none).i) == 0


@pytest.mark.parametrize(("dim", "dtype"), KINDS)
def test_joins(on, each, dim, dtype):
    def check(name):
        boxes = scenes.make(name, 1_000, dim, dtype)
        a, b = boxes[::3], boxes[1::3]
        for touching in (True, False):
            same(gpu.join(on(a), on(b), touching=touching), oracle.join(a, b, touching))

    each(check, scenes.named(dim), of=10, turn=KINDS.index((dim, dtype)))
    a, b = squares(1_000, dim, dtype), squares(700, dim, dtype, 0.02, 5)
    env = np.arange(1_000) % 7, np.arange(700) % 5
    same(gpu.join(on(a), on(b), env=(on(env[0]), on(env[1]))), bp.join(a, b, env=env))
    env = env[0] - 1, env[1] - 1
    same(gpu.join(on(a), on(b), env=(on(env[0]), on(env[1]))), bp.join(a, b, env=env))
    worlds = a.reshape(20, 50, 2 * dim), b.reshape(20, 35, 2 * dim)
    same(gpu.join(on(worlds[0]), on(worlds[1])), bp.join(*worlds))
    wide = b.astype(np.float64)
    same(gpu.join(on(a), on(wide)), bp.join(a, wide))
    same(gpu.join(on(a[:3]), on(b[:30])), bp.join(a[:3], b[:30]))
    for some, others in ((a[:0], b), (a, b[:0]), (a[:0], b[:0])):
        assert gpu.join(on(some), on(others)).shape == (0, 2)


def test_unsorted_pairs_come_in_the_same_order_each_time(on):
    boxes = squares(3_000, 2, np.float32)
    found = [gpu.pairs(on(boxes), sort=False).numpy() for _ in range(2)]
    assert (found[0] == found[1]).all()
    order = np.lexsort((found[0][:, 1], found[0][:, 0]))
    assert (found[0][order] == bp.pairs(boxes)).all()


def test_more_than_max_pairs_is_an_error(on):
    boxes = squares(600, 2, np.float64)
    many = len(bp.pairs(boxes))
    assert len(gpu.pairs(on(boxes), max_pairs=many)) == many
    with pytest.raises(bp.PairLimitExceeded, match=f"more than max_pairs={many - 1} pairs overlap"):
        gpu.pairs(on(boxes), max_pairs=many - 1)
    with pytest.raises(bp.PairLimitExceeded, match="give a smaller r"):
        gpu.neighbors(on(boxes[:, :2]), 0.5, max_pairs=3)


# --- points, rays, changes ----------------------------------------------------------------------------------


@pytest.mark.parametrize(("dim", "dtype"), KINDS)
def test_neighbors(on, dim, dtype):
    points = np.random.default_rng(6).random((2_000, dim)).astype(dtype)
    points[:300] = np.round(points[:300], 1)  # at exactly the same distances
    tiny, huge = np.finfo(dtype).smallest_subnormal, np.finfo(dtype).max
    for scale, r in ((1.0, 0.1), (1.0, 0.0), (1.0, np.inf), (tiny * 9, tiny * 9), (huge, huge * 0.2)):
        some = (points[: 2_000 if r == 0.1 else 200] * dtype(scale)).astype(dtype)
        for found, wanted in zip(gpu.neighbors(on(some), r), bp.neighbors(some, r), strict=True):
            same(found, wanted)
    env = np.arange(2_000) % 3 - 1, np.arange(500) % 3 - 1
    given = on(env[0]), on(env[1])
    found = gpu.neighbors(on(points), 0.1, other=on(points[:500]), env=given)
    for column, wanted in zip(found, bp.neighbors(points, 0.1, other=points[:500], env=env), strict=True):
        same(column, wanted)


def rays_at(boxes, m, rng):
    """Origins and directions, many of them flush with boxes or along an axis."""
    dim = boxes.shape[1] // 2
    finite = np.where(np.isfinite(boxes), boxes, 0.5).astype(boxes.dtype)
    origins = finite[rng.integers(0, len(boxes), m)][:, :dim]
    targets = finite[rng.integers(0, len(boxes), m)][:, dim:]
    with np.errstate(over="ignore", invalid="ignore"):
        ways = targets - origins
    ways[::3, 1:] = 0
    ways[~np.isfinite(ways).all(axis=1) | (ways == 0).all(axis=1)] = 1
    return origins, ways


@pytest.mark.parametrize(("dim", "dtype"), KINDS)
def test_rays_hit_what_those_of_an_index_hit(on, each, dim, dtype):
    def check(name, touching):
        rng = np.random.default_rng(7)
        boxes = scenes.make(name, 300, dim, dtype)
        origins, ways = rays_at(boxes, 200, rng)
        ignore, env = rng.integers(-1, 300, 200), (rng.integers(-1, 3, 300), rng.integers(-2, 3, 200))
        index, worlds = (bp.BoxTree(dim=dim, dtype=dtype, touching=touching) for _ in range(2))
        index.insert_many(boxes)
        worlds.insert_many(boxes, env=env[0])
        rays = on(boxes), on(origins), on(ways)
        reach = np.where(np.arange(200) % 2, np.inf, np.abs(ways).max(axis=1)).astype(dtype)
        wanted = [
            index.raycast(origins, ways, reach, ignore=ignore),
            worlds.raycast(origins, ways, env=env[1]),
        ]
        found = [
            gpu.raycast(*rays, max_distance=on(reach), ignore=on(ignore), touching=touching),
            gpu.raycast(*rays, env=(on(env[0]), on(env[1])), touching=touching),
        ]
        for one, other in zip(found, wanted, strict=True):
            same(one.ids, other.ids)
            assert (one.distances.numpy() == other.distances).all()  # 0.0 may be -0.0
            assert (one.normals.numpy() == other.normals).all()

    cases = [(name, touching) for touching in (True, False) for name in scenes.named(dim)]
    each(check, cases, of=10, turn=KINDS.index((dim, dtype)))


def test_rays_of_worlds_answer_in_their_shape(on):
    boxes = squares(200, 2, np.float32, 0.1).reshape(10, 20, 4)
    origins, ways = np.zeros((10, 7, 2), np.float32), np.ones((10, 7, 2), np.float32)
    ways[:, :, 0] = np.linspace(0, 2, 7)
    index = bp.BoxTree(dtype=np.float32)
    index.insert_many(boxes.reshape(200, 4), env=np.arange(200) // 20)
    wanted = index.raycast(origins, ways, 0.8)
    none = np.full((10, 7), -1)
    found = gpu.raycast(on(boxes), on(origins), on(ways), max_distance=0.8, ignore=on(none))
    same(found.ids, wanted.ids)
    same(found.distances, wanted.distances)
    assert found.normals.shape == (10, 7, 2)
    assert gpu.raycast(on(boxes[:, :0]), on(origins), on(ways)).ids.numpy().max() == -1


def test_vectors_of_warp_are_rows(wp, on):
    """Arrays of vec2, vec3 and the like, as simulations in Warp hold them."""
    for dim, dtype in KINDS:
        points, kind = np.random.default_rng(8).random((50, dim)).astype(dtype), getattr(wp, dtype.__name__)

        def vectors(array, kind=kind):
            return wp.array(array, dtype=wp.types.vector(array.shape[-1], kind), device=on(array).device)

        boxes, ways = np.hstack((points, points + dtype(0.2))), points - dtype(0.5)
        for found, wanted in zip(gpu.neighbors(vectors(points), 0.2), bp.neighbors(points, 0.2), strict=True):
            same(found, wanted)
        same(gpu.pairs(vectors(boxes)), bp.pairs(boxes))
        same(gpu.pairs(vectors(boxes.reshape(5, 10, -1))), bp.pairs(boxes.reshape(5, 10, -1)))
        found = gpu.raycast(*map(vectors, (boxes, points, ways)))
        for one, wanted in zip(found, gpu.raycast(*map(on, (boxes, points, ways))), strict=True):
            same(one, wanted.numpy())


def test_changes_are_those_of_an_index(on):
    boxes = squares(700, 3, np.float64, 0.1)
    moved = boxes + np.random.default_rng(8).normal(size=(700, 1)) * 0.01
    index = bp.Strips(dim=3)
    index.insert_many(boxes)
    index.changes()
    index.update(moved)
    found = gpu.changes(gpu.pairs(on(boxes)), gpu.pairs(on(moved)))
    for one, other in zip(found, index.changes(), strict=True):
        same(one, other)
    none = gpu.pairs(on(boxes[:1]))
    assert [len(rows) for rows in gpu.changes(none, none)] == [0, 0, 0]
    assert len(gpu.changes(none, gpu.pairs(on(boxes))).began) == len(bp.pairs(boxes))


# --- what is taken and what is refused ----------------------------------------------------------------------


def changed(array, at, value):
    array = np.array(array)
    array[at] = value
    return array


BOXES = squares(100, 2, np.float32)
FLAT = BOXES[:, :2]
REFUSED = {
    "NumPy": (lambda on: gpu.pairs(BOXES), TypeError, r"boxes is a NumPy array.*torch\.from_numpy\(boxes\)"),
    "NumPy rules": (
        lambda on: gpu.pairs(on(BOXES), env=np.zeros(100, int)),
        TypeError,
        "env is a NumPy array",
    ),
    "list": (lambda on: gpu.pairs([[0, 0, 1, 1]]), TypeError, "boxes must be an array of torch.*got list"),
    "half": (
        lambda on: gpu.pairs(on(BOXES.astype(np.float16))),
        TypeError,
        "float32 or float64; got float16",
    ),
    "int": (
        lambda on: gpu.pairs(on(BOXES.astype(int))),
        TypeError,
        "boxes must be float32 or float64; got int64",
    ),
    "shape": (lambda on: gpu.pairs(on(FLAT)), ValueError, r"boxes must have shape \(n, 4\) or \(n, 6\)"),
    "nan": (
        lambda on: gpu.pairs(on(changed(BOXES, (7, 0), np.nan))),
        ValueError,
        r"boxes\[7\] has min_x = nan",
    ),
    "nan with a sign": (
        lambda on: gpu.count_pairs(on(changed(BOXES, (7, 3), -np.nan))),
        ValueError,
        r"boxes\[7\] has max_y = nan",
    ),
    "order": (lambda on: gpu.join(on(BOXES), on(-BOXES)), ValueError, r"b\[0\] has min_x = .* > max_x"),
    "dimensions": (
        lambda on: gpu.join(on(BOXES), on(squares(9, 3, np.float32))),
        ValueError,
        r"a has shape \(100, 4\) and b \(9, 6\)",
    ),
    "flags": (
        lambda on: gpu.pairs(on(BOXES), static=on(np.ones(100, int))),
        TypeError,
        "static must be bool",
    ),
    "sets": (
        lambda on: gpu.pairs(on(BOXES), masks=on(np.arange(100) - 7)),
        ValueError,
        r"masks\[0\] = -7 does not fit",
    ),
    "length": (lambda on: gpu.pairs(on(BOXES), env=on(np.arange(9))), ValueError, "env must hold one entry"),
    "reals": (lambda on: gpu.pairs(on(BOXES), env=on(BOXES[:, 0])), TypeError, "env must be integers"),
    "both": (
        lambda on: gpu.pairs(on(BOXES.reshape(4, 25, 4)), env=on(np.arange(100))),
        ValueError,
        "leave env= out",
    ),
    "pair of environments": (
        lambda on: gpu.join(on(BOXES), on(BOXES), env=on(BOXES)),
        ValueError,
        "env must be a pair",
    ),
    "point": (
        lambda on: gpu.neighbors(on(changed(FLAT, (3, 1), np.inf)), 1.0),
        ValueError,
        r"points\[3\] has y = inf",
    ),
    "radius": (lambda on: gpu.neighbors(on(FLAT), -1.0), ValueError, "r = -1 is no distance"),
    "direction": (
        lambda on: gpu.raycast(on(BOXES), on(FLAT), on(0 * FLAT)),
        ValueError,
        r"directions\[0\] = \[0.0, 0.0\] points nowhere",
    ),
    "origin": (
        lambda on: gpu.raycast(on(BOXES), on(changed(FLAT, 5, np.nan)), on(FLAT)),
        ValueError,
        r"origins\[5\] has x = nan",
    ),
    "reach": (
        lambda on: gpu.raycast(on(BOXES), on(FLAT), on(FLAT + 1), max_distance=-1),
        ValueError,
        r"max_distance\[0\] = -1.0 must not be negative",
    ),
    "rays of another type": (
        lambda on: gpu.raycast(on(BOXES), on(FLAT.astype(float)), on(FLAT)),
        ValueError,
        "must have one dtype",
    ),
    "unsorted": (
        lambda on: gpu.changes(on(np.array([[1, 2], [0, 1]], np.int32)), on(np.array([[1, 2]], np.int32))),
        ValueError,
        r"before\[1\] is not after the row before",
    ),
    "limit": (lambda on: gpu.pairs(on(BOXES), max_pairs=-1), ValueError, "max_pairs must not be negative"),
}


def test_without_warp_the_error_says_how_to_install_it(monkeypatch):
    monkeypatch.setitem(sys.modules, "warp", None)
    monkeypatch.delitem(sys.modules, "broadphase.gpu.tasks", raising=False)
    monkeypatch.delitem(vars(gpu), "pairs", raising=False)
    with pytest.raises(
        ImportError, match=r'graphics card needs warp: python -m pip install "broadphase\[gpu\]"'
    ):
        gpu.pairs(BOXES)


@pytest.mark.parametrize("name", REFUSED)
def test_refused(on, name):
    call, kind, said = REFUSED[name]
    with pytest.raises(kind, match=said):
        call(on)


def test_nothing_is_searched_while_a_graph_is_captured(wp, on):
    boxes = on(BOXES)
    with (
        wp.ScopedCapture(device=boxes.device),
        pytest.raises(RuntimeError, match="a graph is being captured"),
    ):
        gpu.pairs(boxes)


class OnACard:
    """An array of NumPy that says that it lies on a graphics card."""

    def __init__(self, array):
        self.array = array

    def __dlpack_device__(self):
        return 2, 99

    def __dlpack__(self, **_):
        raise AssertionError("nobody reads it")


@pytest.mark.parametrize("name", ["pairs", "join", "count_pairs", "neighbors"])
@pytest.mark.usefixtures("wp")
def test_what_lies_on_a_card_is_searched_there(monkeypatch, name):
    given = OnACard(BOXES)
    arguments = {"join": (given, given), "neighbors": (given, 0.5)}.get(name, (given,))
    with pytest.raises(TypeError, match="lies on a device that Warp does not find"):
        getattr(bp, name)(*arguments)
    with pytest.raises(ValueError, match="period= is not there for arrays on a graphics card"):
        getattr(bp, name)(*arguments, period=(1, 1))
    called = {}
    monkeypatch.setattr(gpu, name, lambda *given, **how: called.update(given=given, how=how) or 7)
    assert getattr(bp, name)(*arguments, env=3) == 7
    assert called["given"] == arguments
    assert called["how"]["env"] == 3


@pytest.mark.usefixtures("wp")
def test_arrays_of_torch_go_in_and_come_out():
    torch = pytest.importorskip("torch")
    devices = ["cpu"] + ["cuda"] * torch.cuda.is_available()
    for device in devices:
        boxes = torch.from_numpy(BOXES).to(device)
        for given in (boxes, boxes.t().contiguous().t(), boxes.double()):
            found = gpu.pairs(given)
            assert (found.dtype, found.device) == (torch.int32, boxes.device)
            assert (found.cpu().numpy() == bp.pairs(given.cpu().numpy())).all()
        near = gpu.neighbors(boxes[:, :2], 0.1)
        assert [column.dtype for column in near] == [torch.int32, torch.int32, torch.float32]
        assert gpu.pairs(boxes[:0]).shape == (0, 2)
        with pytest.raises(TypeError, match=r"give boxes\.detach\(\)"):
            gpu.pairs(boxes.clone().requires_grad_())


@pytest.mark.usefixtures("wp")
def test_arrays_of_jax_go_in_and_come_out():
    jax = pytest.importorskip("jax")
    found = gpu.pairs(jax.numpy.asarray(BOXES))
    assert isinstance(found, jax.Array)
    assert (np.asarray(found) == bp.pairs(BOXES)).all()


def test_the_examples(wp, monkeypatch):
    monkeypatch.setattr(wp.config, "log_level", wp.LOG_WARNING)  # else it says what it loads, if no test has
    failed, tried = doctest.testmod(importlib.import_module("broadphase.gpu.tasks"))
    assert (failed, tried > 0) == (0, True)


# --- the compiler -------------------------------------------------------------------------------------------


@pytest.mark.exhaustive
@pytest.mark.usefixtures("wp")
def test_in_debug_mode():
    """In which Warp ends the process where a kernel leaves an array."""
    program = (
        "import sys, warp; warp.config.mode = 'debug'; import pytest; sys.exit(pytest.main(sys.argv[1:]))"
    )
    chosen = "scene or nodes or rules or joins or neighbors or rays or changes"
    requested = [sys.executable, "-c", program, "-q", "-n", "0", "-k", chosen, "tests/test_gpu.py"]
    root = Path(__file__).parent.parent
    done = subprocess.run(requested, cwd=root, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.exhaustive
@pytest.mark.parametrize("name", ["kernels", "rays"])
def test_kernels_compile_for_cards_that_are_not_here(wp, tmp_path, name):
    """For three architectures; and a product is rounded before it is added, as on the processor."""
    if wp.get_cuda_toolkit_version() is None:
        pytest.skip("Warp was built without a compiler for CUDA")
    module = importlib.import_module(f"broadphase.gpu.{name}")
    compiled = wp.compile_aot_module(module, arch=[80, 90, 120], module_dir=tmp_path, use_ptx=True)
    assert len(compiled) == 3
    for path in compiled:
        code = Path(path).read_text(encoding="utf-8")
        assert "sqrt.rn.f64" in code
        for inexact in ("fma.rn.", ".ftz", "sqrt.approx", "div.approx", "div.full"):
            assert inexact not in code
