"""``broadphase warmup``: compile ahead of the first call what programs will need."""

import subprocess
import sys
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from math import ceil
from pathlib import Path
from time import perf_counter
from typing import NamedTuple, cast

import numpy as np
from rich.console import Console

from broadphase import count_pairs, join, methods, pairs, threads
from broadphase.boxes import BoxArray
from broadphase.cli import warm_world
from broadphase.cli.progress import Steps
from broadphase.kernels.boxes import survey
from broadphase.one_shot import Method

WORLD = "world"
"""Stands for everything that a `broadphase.World` needs, in the place of a method's name."""

_BOXES = 3_000  # enough that every method takes its road for many boxes


class Job(NamedTuple):
    """One method for one kind of boxes, or the world."""

    method: str
    dim: int
    dtype: str

    @classmethod
    def parse(cls, text: str) -> "Job":
        """The job that ``str`` wrote."""
        method, dim, dtype = text.split(":")
        return cls(method, int(dim), dtype)

    def __str__(self) -> str:
        return f"{self.method}:{self.dim}:{self.dtype}"

    def do(self) -> None:
        """Call the public functions, so that all is compiled that they compile."""
        if self.method == WORLD:
            warm_world.play()
            return
        boxes = scene(self.dim, self.dtype)
        half = len(boxes) // 2
        method = cast(Method, self.method)
        pairs(boxes, method=method, categories=1)
        count_pairs(boxes, method=method)
        join(boxes[:half], boxes[half:], method=method)


def warm_up(names: Sequence[str] | None = None) -> None:
    """Compile the methods ``names``, or all and the world, for every kind of boxes; say where it lies."""
    console = Console(soft_wrap=True, highlight=False)
    folder = cache_folder()
    if folder is None:
        console.print("Numba's JIT is switched off: there is nothing to compile.")
        return
    start = perf_counter()
    kinds = [(dim, dtype) for dim in (2, 3) for dtype in ("float32", "float64")]
    with Steps(patience=0) as steps:
        jobs = [Job(name, *kind) for kind in kinds for name in names or methods.NAMES]
        if not names:
            jobs.append(Job(WORLD, 2, "float64"))
        do_all(jobs, steps.step("Compiling"))
    what = "These methods" if names else "The world and all methods"
    seconds = perf_counter() - start
    size = sum(file.stat().st_size for file in folder.glob("*.nb[ic]"))
    console.print(f"{what} are ready, in 2-D and 3-D, float32 and float64 ({seconds:.1f} s).")
    console.print(f"The compiled code lies in {folder} ({size / 1e6:.1f} MB).", markup=False)


def do_all(jobs: Sequence[Job], report: Callable[[int, int], None]) -> None:
    """Do the jobs; as soon as one had to be compiled, with the help of a process for each other core.

    Numba compiles one function at a time in a process.  What the helpers compile is then loaded from
    the cache on disk, and what they could not is compiled here.
    """
    if cache_folder() is None:
        return  # there is nothing to compile, and all would be done very slowly
    done = 0

    def tick() -> None:
        nonlocal done
        done += 1
        report(min(done, len(jobs)), len(jobs))

    report(0, len(jobs))
    for k, job in enumerate(jobs):
        before = compiled()
        job.do()
        tick()
        rest = jobs[k + 1 :]
        if compiled() > before and rest:
            _share(rest, tick)
            for other in rest:
                other.do()
            return


def _share(jobs: Sequence[Job], tick: Callable[[], None]) -> None:
    # Neighbours stay together: the grid and the hash share kernels, which two processes would both compile.
    share = ceil(len(jobs) / threads.cores())
    with ThreadPoolExecutor(threads.cores()) as pool:
        for begin in range(share, len(jobs), share):
            pool.submit(_send_out, jobs[begin : begin + share], tick)
        for job in jobs[:share]:
            job.do()
            tick()


def _send_out(jobs: Sequence[Job], tick: Callable[[], None]) -> None:
    """Let another process do the jobs; what it complains about, this one will meet again."""
    program = "from broadphase.cli.warm_up import help_out; help_out()"
    command = [sys.executable, "-c", program, *map(str, jobs)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as helper:
        assert helper.stdout is not None
        for _ in helper.stdout:
            tick()


def help_out() -> None:
    """Do the jobs in the arguments of this process, and say so after each."""
    for text in sys.argv[1:]:
        Job.parse(text).do()
        print(text, flush=True)


def compiled() -> int:
    """How many kernels this process has compiled, because no cache had them."""
    kernels = [module for name, module in sys.modules.items() if name.startswith("broadphase.kernels.")]
    functions = {id(value): value for module in kernels for value in vars(module).values()}
    return sum(
        sum(function.stats.cache_misses.values())
        for function in functions.values()
        if hasattr(function, "stats")
    )


def scene(dim: int, dtype: str) -> BoxArray:
    """Boxes of all sizes, clustered, one of them infinite: whatever a method keeps a special path for."""
    random = np.random.default_rng(0)
    low = random.normal(size=(_BOXES, dim)) * random.choice([1, 100], (_BOXES, 1))
    size = random.pareto(1.5, (_BOXES, dim)) * 0.01
    boxes: BoxArray = np.hstack([low, low + size]).astype(dtype)
    boxes[0, :dim], boxes[0, dim:] = -np.inf, np.inf
    return boxes


def cache_folder() -> Path | None:
    """Where Numba keeps the compiled kernels; None where its JIT is switched off."""
    stats = getattr(survey.first_unsound_row, "stats", None)
    return None if stats is None else Path(stats.cache_path)
