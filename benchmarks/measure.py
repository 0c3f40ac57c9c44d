"""A whole run: every scene at every size with all contestants in turns, and what the results say."""

import pickle
import platform
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from importlib.metadata import PackageNotFoundError, version
from math import log
from pathlib import Path
from typing import Any

import numpy as np
from catalogue import CATALOGUE, facts
from contest import (
    DEFAULT,
    LIMIT,
    UNSORTED,
    YARDSTICK,
    Contest,
    included,
    memory_per_box,
)
from peers import ENGINES, PEERS, build_yardstick
from timing import best_of_searches

import broadphase
from broadphase.kernels.machine.mode import lanes, level
from broadphase.methods import NAMES
from broadphase.runtime import threads

SCHEMA = 1
_GROWTH_FROM = 10_000  # boxes; below, the overhead of a call dominates
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
    """Per contestant, scene and size."""
    slow: float = 1.0
    """A contestant that takes longer (or would take three times as long there) skips the next size."""
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
    """The time of each contestant divided by that of broadphase with default arguments."""
    times_limit: dict[str, float]
    """The time of each contestant divided by that of copying boxes in and pairs out."""
    left_out: dict[str, str]
    auto_times_best: float | None = None
    """The time of auto, unsorted, divided by that of the best of the requested methods."""


@dataclass
class Growth:
    """The exponent of time over the number of boxes, for a constant number of pairs per box."""

    scene: str
    dim: int
    boxes: list[int]
    exponents: dict[str, float]
    """From the smallest size to the largest."""
    exponents_from_10000: dict[str, float]
    """From 10,000 boxes."""


@dataclass
class Memory:
    """Bytes per box at the peak, each contestant in a process of its own."""

    scene: str
    dim: int
    boxes: int
    bytes_per_box: dict[str, float]


@dataclass
class Report:
    """Everything that was measured; the JSON is its `dataclasses.asdict`."""

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
    """Every scene in every requested dimension.

    Raises
    ------
    ValueError
        A scene has no requested dimension.
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
    """Run everything; ``progress`` is called with what is being done.

    Raises
    ------
    ValueError
        A scene does not exist in the requested dimension.
    DisagreementError
        Two contestants find different numbers of pairs.
    """
    scenes = places(options)
    report = Report(machine(), versions(), vars(options).copy())
    report.scenes = {name: CATALOGUE[name].about for name, _ in scenes}
    with tempfile.TemporaryDirectory(prefix="broadphase-bench-") as place:
        folder = Path(place)
        progress("building the yardstick")
        program = build_yardstick(folder) if options.peers else None
        contest = Contest(options.methods, options.peers, options.threads, program, folder)
        for scene, dim in scenes:
            results = _one_scene(scene, dim, contest, options, program is not None, progress)
            report.results += results
            if CATALOGUE[scene].constant and len(results) > 1:
                report.growth.append(_growth(results))
            if options.memory:
                report.memory.append(_memory(results[-1], options, folder, progress))
    contestants = dict.fromkeys(name for result in report.results for name in result.milliseconds)
    report.contestants = included(contestants)
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
        left_out[YARDSTICK] = "could not be built: it needs a C++ compiler and AVX-512"
    elif options.peers and not scene.yardstick:
        left_out[YARDSTICK] = "cannot do this scene"
    results = []
    sizes = sorted(set(options.sizes))
    # If the first size is large, a small round comes first that does not count, to find slow contestants:
    # pymunk takes minutes to delete 100,000 boxes.
    heats = [_HEAT] if sizes[0] > _HEAT else []
    rounds = [*heats, *sizes]
    for n, larger in zip(rounds, [*rounds[1:], None], strict=True):
        where = f"{name} {dim}-D, {n:,} boxes"
        progress(where)
        case = scene.case(n, dim)

        def say(contestant: str, where: str = where) -> None:
            progress(f"{where}: {contestant}")

        searches, pairs = contest.enter(case, left_out, say)
        progress(f"{where}: {len(searches)} in turns")
        best, longest = best_of_searches(searches, 0.0 if n in heats else options.seconds)
        if n not in heats:
            results.append(_result(name, facts(case), pairs, best, left_out))
        for contestant, took in longest.items():
            if larger and contestant not in (DEFAULT, LIMIT) and _too_slow(took, larger / n, options.slow):
                left_out[contestant] = f"takes {took:.2g} s for {n:,} boxes"
    return results


def _too_slow(took: float, times_as_many: float, slow: float) -> bool:
    """Whether a contestant is too slow for the next size."""
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
    large = [result for result in results if result.boxes >= _GROWTH_FROM]
    sizes = [result.boxes for result in results]
    return Growth(first.scene, first.dim, sizes, _exponents(results), _exponents(large))


def _exponents(results: list[Result]) -> dict[str, float]:
    """The slope of log time over log size by least squares, for contestants that ran at all sizes."""
    if len(results) < 2:
        return {}
    sizes = [log(result.boxes) for result in results]
    everywhere = [name for name in results[-1].milliseconds if all(name in r.milliseconds for r in results)]
    return {
        name: float(np.polyfit(sizes, [log(result.milliseconds[name]) for result in results], 1)[0])
        for name in everywhere
    }


def _memory(result: Result, options: Options, folder: Path, progress: Callable[[str], None]) -> Memory:
    file = folder / "case.pickle"
    file.write_bytes(pickle.dumps(CATALOGUE[result.scene].case(result.boxes, result.dim)))
    found = {}
    for name in result.milliseconds:
        if name not in (LIMIT, YARDSTICK, *ENGINES):
            progress(f"{result.scene} {result.dim}-D, {result.boxes:,} boxes: memory of {name}")
            per_box = memory_per_box(file, name, result.boxes, options.threads)
            if per_box is not None:
                found[name] = per_box
    return Memory(result.scene, result.dim, result.boxes, found)


def machine() -> dict[str, Any]:
    """The machine, without anything that identifies its owner."""
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
        lines = Path("/proc/cpuinfo").read_text("utf-8").splitlines()
    except OSError:
        return platform.processor()
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.processor()


def versions() -> dict[str, str]:
    """The versions of broadphase, Python and the installed contestants."""
    found = {"broadphase": broadphase.__version__, "python": platform.python_version()}
    for package in ("numpy", "numba", "llvmlite", *(peer.package for peer in PEERS.values())):
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            continue
    return found
