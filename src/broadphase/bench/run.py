"""A whole run: every scene at every size, everyone in turns, and what follows from the figures."""

import platform
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from importlib.metadata import PackageNotFoundError, version
from math import log
from pathlib import Path
from typing import Any

import numpy as np

import broadphase
from broadphase import threads
from broadphase.bench import memory, yardstick
from broadphase.bench.contest import DEFAULT, LIMIT, UNSORTED, YARDSTICK, Contest, included
from broadphase.bench.peers import PEERS
from broadphase.bench.scenes import CATALOGUE, facts
from broadphase.bench.timing import best_of_searches
from broadphase.kernels.machine.level import lanes, level
from broadphase.methods import NAMES

SCHEMA = 1
_GROWN_FROM = 10_000  # below, calls and not boxes are measured
_HEAT = 10_000  # boxes


@dataclass(frozen=True)
class Options:
    """What to measure."""

    scenes: Sequence[str] = ("uniform", "mixed_sizes")
    sizes: Sequence[int] = (1_000, 10_000, 100_000)
    dims: Sequence[int] | None = None
    """None: 2-D, or 3-D where a scene has only that."""
    methods: Sequence[str] = ()
    peers: bool = True
    threads: int | None = None
    seconds: float = 0.3
    """For each contestant, scene and size."""
    slow: float = 1.0
    """Who takes more seconds, or would take three times as many at the next size, is left out there."""
    memory: bool = True


@dataclass
class Result:
    """One scene at one size."""

    scene: str
    dim: int
    boxes: int
    asked: str
    pairs: int
    milliseconds: dict[str, float]
    times_broadphase: dict[str, float]
    """Each contestant's time in times of ours with default arguments."""
    times_limit: dict[str, float]
    """The distance to the limit: time in times of copying boxes in and pairs out."""
    left_out: dict[str, str]
    auto_times_best: float | None = None
    """What auto takes, unsorted, in times of the best of the methods that were asked for."""


@dataclass
class Growth:
    """Time grows like the number of boxes to this power, at a constant crowding."""

    scene: str
    dim: int
    boxes: list[int]
    exponents: dict[str, float]
    """From the smallest size to the largest."""
    exponents_from_10000: dict[str, float]
    """From 10,000 boxes on."""


@dataclass
class Memory:
    """Bytes a box at the peak, each contestant in a process of its own."""

    scene: str
    dim: int
    boxes: int
    bytes_per_box: dict[str, float]


@dataclass
class Report:
    """Everything that was measured; `dataclasses.asdict` of it is the JSON."""

    machine: dict[str, Any]
    versions: dict[str, str]
    options: dict[str, Any]
    schema: int = SCHEMA
    scenes: dict[str, str] = field(default_factory=dict)
    contestants: dict[str, str] = field(default_factory=dict)
    results: list[Result] = field(default_factory=list)
    growth: list[Growth] = field(default_factory=list)
    memory: list[Memory] = field(default_factory=list)


def places(options: Options) -> list[tuple[str, int]]:
    """Every scene in every dimension that is asked for.

    Raises
    ------
    ValueError
        A scene has none of them.
    """
    found = []
    for name in dict.fromkeys(options.scenes):
        dims = CATALOGUE[name].dims
        wanted = dims[:1] if options.dims is None else [dim for dim in dims if dim in options.dims]
        if not wanted:
            raise ValueError(f"the scene {name} exists only in {dims[0]}-D; ask for it with --dim {dims[0]}")
        found += [(name, dim) for dim in wanted]
    return found


def measure(options: Options, progress: Callable[[str], None] = lambda doing: None) -> Report:
    """Run everything; ``progress`` is told what is being done.

    Raises
    ------
    ValueError
        A scene does not exist in the dimension asked for.
    DisagreementError
        Two contestants find different numbers of pairs.
    """
    asked = places(options)
    report = Report(machine(), versions(), vars(options).copy())
    report.scenes = {name: CATALOGUE[name].about for name, _ in asked}
    with tempfile.TemporaryDirectory(prefix="broadphase-bench-") as place:
        folder = Path(place)
        progress("building the yardstick")
        program = yardstick.build(folder) if options.peers else None
        contest = Contest(options.methods, options.peers, options.threads, program, folder)
        for scene, dim in asked:
            results = _one_scene(scene, dim, contest, options, program is not None, progress)
            report.results += results
            if CATALOGUE[scene].constant and len(results) > 1:
                report.growth.append(_growth(results))
            if options.memory:
                report.memory.append(_memory(results[-1], options, folder, progress))
    taken_part = dict.fromkeys(name for result in report.results for name in result.milliseconds)
    report.contestants = included(taken_part)
    return report


def _one_scene(
    name: str,
    dim: int,
    contest: Contest,
    options: Options,
    with_yardstick: bool,
    progress: Callable[[str], None],
) -> list[Result]:
    scene = CATALOGUE[name]
    left_out: dict[str, str] = {}
    if options.peers and not with_yardstick:
        left_out[YARDSTICK] = "could not be built: it takes a C++ compiler and AVX-512"
    elif options.peers and not scene.yardstick:
        left_out[YARDSTICK] = "cannot do this scene"
    results = []
    sizes = sorted(set(options.sizes))
    # Where the first size is large, a heat that does not count: pymunk takes minutes only to forget 100,000
    # boxes.
    heats = [_HEAT] if sizes[0] > _HEAT else []
    rounds = [*heats, *sizes]
    for n, larger in zip(rounds, [*rounds[1:], None], strict=True):
        where = f"{name} {dim}-D, {n:,} boxes"
        progress(where)
        case = scene.case(n, dim)

        def say(who: str, where: str = where) -> None:
            progress(f"{where}: {who}")

        searches, pairs = contest.enter(case, left_out, scene.yardstick, say)
        progress(f"{where}: {len(searches)} in turns")
        best, longest = best_of_searches(searches, 0.0 if n in heats else options.seconds)
        if n not in heats:
            results.append(_result(name, facts(case), pairs, best, left_out))
        for who, took in longest.items():
            if larger and who not in (DEFAULT, LIMIT) and _too_slow(took, larger / n, options.slow):
                left_out[who] = f"takes {took:.2g} s for {n:,} boxes"
    return results


def _too_slow(took: float, times_as_many: float, slow: float) -> bool:
    """Whether a contestant is to be spared the next size, which may take it longer than three are worth."""
    return took > slow or took * times_as_many > 3 * slow


def _result(
    scene: str, case: dict[str, Any], pairs: int, best: dict[str, float], left_out: dict[str, str]
) -> Result:
    limit = best.pop(LIMIT)
    methods = [best[name] for name in NAMES if name in best]
    return Result(
        scene,
        case["dim"],
        case["boxes"],
        case["asked"],
        pairs,
        {**{name: 1e3 * seconds for name, seconds in best.items()}, LIMIT: 1e3 * limit},
        {name: seconds / best[DEFAULT] for name, seconds in best.items()},
        {name: seconds / limit for name, seconds in best.items()},
        dict(left_out),
        best[UNSORTED] / min(methods) if methods and UNSORTED in best else None,
    )


def _growth(results: list[Result]) -> Growth:
    first = results[0]
    large = [result for result in results if result.boxes >= _GROWN_FROM]
    sizes = [result.boxes for result in results]
    return Growth(first.scene, first.dim, sizes, _exponents(results), _exponents(large))


def _exponents(results: list[Result]) -> dict[str, float]:
    """The slope of log time over log size, by least squares, for all who took part at all these sizes."""
    if len(results) < 2:
        return {}
    sizes = [log(result.boxes) for result in results]
    everywhere = [name for name in results[-1].milliseconds if all(name in r.milliseconds for r in results)]
    return {
        name: float(np.polyfit(sizes, [log(result.milliseconds[name]) for result in results], 1)[0])
        for name in everywhere
    }


def _memory(result: Result, options: Options, folder: Path, progress: Callable[[str], None]) -> Memory:
    file = folder / "case.npz"
    memory.save(CATALOGUE[result.scene].case(result.boxes, result.dim), file)
    found = {}
    for name in result.milliseconds:
        if name not in (LIMIT, YARDSTICK):
            progress(f"{result.scene} {result.dim}-D, {result.boxes:,} boxes: memory of {name}")
            per_box = memory.per_box(file, name, result.boxes, options.threads)
            if per_box is not None:
                found[name] = per_box
    return Memory(result.scene, result.dim, result.boxes, found)


def machine() -> dict[str, Any]:
    """What it runs on; nothing that would name whose it is."""
    return {
        "processor": _processor(),
        "cores": threads.cores(),
        "vectors": f"{level()}, {lanes(level())} lanes",
        "level": level(),
        "system": platform.system(),
        "architecture": platform.machine(),
    }


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.processor()
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.processor()


def versions() -> dict[str, str]:
    """Ours, Python's, and those of all that takes part and is installed."""
    found = {"broadphase": broadphase.__version__, "python": platform.python_version()}
    for package in ("numpy", "numba", "llvmlite", *(peer.package for peer in PEERS.values())):
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            continue
    return found
