"""Pairs on a GPU, beside Newton's broad phases, Warp's tree and the processor.

    python -m pip install "broadphase[gpu]" newton
    python benchmarks/gpu.py [--device cuda:0] [--boxes 10000 100000 1000000] [--parts hard times]

*hard*: scenes on which broad phases break down.  The pairs are counted and compared with those of the
processor; the copies of each box and the tests for each box and pair are the same on every machine.
*times*: equal cubes with about two pairs a box, float32 in 3-D, in milliseconds.  *Whole call* is what a
program waits for, with the arrays on the device; *kernels* is the time of the kernels alone (on a CUDA
device); *copying* brings the boxes to the device and back.  Newton writes pairs into a buffer of fixed size,
and with Warp's tree they are counted; where one finds another number, it is printed.
"""

import argparse
from collections.abc import Callable
from importlib.util import find_spec
from typing import Any

import numpy as np
import numpy.typing as npt
import warp as wp
from timing import best_of

import broadphase as bp
from broadphase import gpu
from broadphase.gpu import sweep

Boxes = npt.NDArray[np.float32]
SEED = 7


def cubes(n: int, random: np.random.Generator) -> Boxes:
    low = random.random((n, 3), np.float32)
    return np.hstack([low, low + np.float32((4 / n) ** (1 / 3) / 2)])


def giants(n: int, random: np.random.Generator) -> Boxes:
    boxes = cubes(n, random)[:, [0, 1, 3, 4]] * np.float32(0.999)
    boxes[:, 2:] = boxes[:, :2] + np.float32(n**-0.5)
    boxes[:: n // 20] = [-9, -9, 9, 9]
    return boxes


def beams(n: int, random: np.random.Generator, dim: int = 2, length: float = 0.05) -> Boxes:
    """Long and thin, along all axes, crossing."""
    low, size = random.random((n, dim), np.float32), np.full((n, dim), 1e-6, np.float32)
    size[np.arange(n), random.integers(0, dim, n)] = length
    return np.hstack([low, low + size])


def beams_apart(n: int, random: np.random.Generator) -> Boxes:
    """Those along x above those along y."""
    boxes = beams(n, random)
    boxes[:, [1, 3]] += (boxes[:, 2:3] - boxes[:, :1] > 0.01) * np.float32(2)
    return boxes


def beams_3d(n: int, random: np.random.Generator) -> Boxes:
    return beams(n, random, dim=3, length=0.2)


def a_line(n: int, random: np.random.Generator) -> Boxes:
    low = random.random((n, 1), np.float32) * [[0, 1]]
    return np.hstack([low, low + 1 / n]).astype(np.float32)


def clusters(n: int, random: np.random.Generator) -> Boxes:
    low = random.normal(size=(100, 2))[random.integers(0, 100, n)] * 50 + random.normal(size=(n, 2)) * 0.1
    return np.hstack([low, low + 0.002]).astype(np.float32)


def sizes(n: int, random: np.random.Generator) -> Boxes:
    low = random.random((n, 2))
    return np.hstack([low, low + np.exp(random.normal(size=(n, 2)) * 3) * 1e-5]).astype(np.float32)


HARD = (cubes, giants, beams, beams_apart, beams_3d, a_line, clusters, sizes)


def hard(device: str, n: int) -> None:
    seen: list[Any] = []
    plan = sweep._ranges
    sweep._ranges = lambda search: seen.append(plan(search)) or seen[-1]
    print(f"{'scene':<16}{'pairs':>12}{'copies a box':>14}{'tests for each box and pair':>30}")

    def check(name: str, boxes: Boxes, env: Any = None) -> None:
        numbers = None if env is None else wp.array(env, device=device)
        found = gpu.count_pairs(wp.array(boxes, device=device), env=numbers)
        assert found == bp.count_pairs(boxes, env=env), name
        copies, tests = len(seen[-1].ids) / 2 / len(boxes), seen[-1].work / (len(boxes) + found)
        print(f"{name:<16}{found:>12,}{copies:>14.2f}{tests:>30.1f}", flush=True)

    for make in HARD:
        check(make.__name__, make(n, np.random.default_rng(SEED)))
    boxes = cubes(n, np.random.default_rng(SEED))
    boxes[:, 3:] += np.float32(0.1)  # many pairs in each environment
    for name, env in (
        ("8 in each world", np.arange(n) // 8),
        ("one large world", np.where(np.arange(n) < n // 8, 0, np.arange(n))),
    ):
        check(name, boxes, env)
    sweep._ranges = plan


def corners(boxes: Boxes, device: str) -> list[Any]:
    return [
        wp.array(np.ascontiguousarray(part), dtype=wp.vec3, device=device)
        for part in (boxes[:, :3], boxes[:, 3:])
    ]


def newton_pairs(boxes: Boxes, device: str, kind: str) -> Callable[[], int]:
    from newton import geometry

    n = len(boxes)
    low, high = corners(boxes, device)
    worlds, groups = wp.zeros(n, dtype=int, device=device), wp.ones(n, dtype=int, device=device)
    search = getattr(geometry, kind)(worlds, device=device)
    out = wp.zeros(4 * n, dtype=wp.vec2i, device=device)
    count = wp.zeros(1, dtype=int, device=device)

    def run() -> int:
        search.launch(low, high, None, groups, worlds, n, out, count, device=device)
        return int(count.numpy()[0])

    return run


@wp.kernel
def count_later(
    tree: wp.uint64, low: wp.array[wp.vec3], high: wp.array[wp.vec3], count: wp.array[int]
) -> None:
    i = wp.tid()
    query = wp.bvh_query_aabb(tree, low[i], high[i])
    j = int(0)  # noqa: RUF046, UP018 - a variable, as Warp wants it
    while wp.bvh_query_next(query, j):
        if j > i:
            wp.atomic_add(count, 0, 1)


def bvh_pairs(boxes: Boxes, device: str) -> Callable[[], int]:
    low, high = corners(boxes, device)

    def run() -> int:
        tree, count = wp.Bvh(low, high), wp.zeros(1, dtype=int, device=device)
        wp.launch(count_later, len(boxes), [tree.id, low, high, count], device=device)
        return int(count.numpy()[0])

    return run


def kernel_time(run: Callable[[], Any], device: str) -> str:
    if device == "cpu":
        return ""
    wp.timing_begin(cuda_filter=wp.TIMING_ALL)
    run()
    return f"{sum(result.elapsed for result in wp.timing_end()):>14.3f}"


def times(device: str, n: int) -> None:
    boxes = cubes(n, np.random.default_rng(SEED))
    there = wp.array(boxes, device=device)
    calls: dict[str, Callable[[], int]] = {
        "gpu.pairs": lambda: len(gpu.pairs(there)),
        "gpu.pairs(sort=False)": lambda: len(gpu.pairs(there, sort=False)),
        "gpu.count_pairs": lambda: gpu.count_pairs(there),
        "copying": lambda: len(wp.array(boxes, device=device).numpy()),
        "bp.pairs": lambda: len(bp.pairs(boxes)),
        "wp.Bvh": bvh_pairs(boxes, device),
    }
    if find_spec("newton") is not None:
        calls["Newton, sweep"] = newton_pairs(boxes, device, "BroadPhaseSAP")
        if n <= 20_000:
            calls["Newton, all pairs"] = newton_pairs(boxes, device, "BroadPhaseAllPairs")
    print(f"{n:<16,}{'whole call':>24}{'' if device == 'cpu' else '       kernels'}")
    right = bp.count_pairs(boxes)
    for name, seconds in best_of(calls).items():
        found = calls[name]()
        noted = "" if found in (right, n) else f"   {found:,} pairs in place of {right:,}"
        print(f"  {name:<24}{seconds * 1e3:>14.3f}{kernel_time(calls[name], device)}{noted}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--device", default="cuda:0" if wp.is_cuda_available() else "cpu")
    parser.add_argument("--boxes", type=int, nargs="+", default=[10_000, 100_000])
    parser.add_argument("--parts", nargs="+", choices=("hard", "times"), default=["hard", "times"])
    chosen = parser.parse_args()
    print(wp.get_device(chosen.device).name)
    for n in chosen.boxes:
        for part in chosen.parts:
            {"hard": hard, "times": times}[part](chosen.device, n)


if __name__ == "__main__":
    main()
