"""``broadphase warmup``: compile ahead of the first call what programs will need."""

from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from time import perf_counter

import numpy as np
from rich.console import Console

from broadphase import count_pairs, join, methods, pairs
from broadphase.boxes import BoxArray
from broadphase.cli.progress import Steps
from broadphase.kernels import survey

_BOXES = 3_000  # enough that every method takes its road for many boxes


def warm_up(names: Sequence[str] | None = None) -> None:
    """Call the methods ``names``, or all, with every kind of boxes; say where the compiled code lies."""
    start = perf_counter()
    kinds = [(dim, dtype) for dim in (2, 3) for dtype in (np.float32, np.float64)]
    with Steps(patience=0) as steps:
        report = steps.step("Compiling")
        jobs = [(name, dim, dtype) for name in names or built_methods() for dim, dtype in kinds]
        for done, (name, dim, dtype) in enumerate(jobs):
            report(done, len(jobs))
            use_every_option(name, scene(dim, dtype))
    console = Console(soft_wrap=True, highlight=False)
    what = "These" if names else "All"
    seconds = perf_counter() - start
    console.print(f"{what} methods are ready, in 2-D and 3-D, float32 and float64 ({seconds:.1f} s).")
    folder = cache_folder()
    if folder is None:
        console.print("Nothing is kept on disk: Numba's JIT is switched off.")
    else:
        size = sum(file.stat().st_size for file in folder.glob("*.nb[ic]"))
        console.print(f"The compiled code lies in {folder} ({size / 1e6:.1f} MB).", markup=False)


def scene(dim: int, dtype: type[np.floating]) -> BoxArray:
    """Boxes of all sizes, clustered, one of them infinite: whatever a method keeps a special path for."""
    random = np.random.default_rng(0)
    low = random.normal(size=(_BOXES, dim)) * random.choice([1, 100], (_BOXES, 1))
    size = random.pareto(1.5, (_BOXES, dim)) * 0.01
    boxes = np.hstack([low, low + size]).astype(dtype)
    boxes[0, :dim], boxes[0, dim:] = -np.inf, np.inf
    return boxes


def use_every_option(name: str, boxes: BoxArray) -> None:
    """Call what the public functions compile: stored and counted, sorted and not, filtered and not."""
    half = len(boxes) // 2
    pairs(boxes, method=name)
    pairs(boxes[:20], method=name, sort=False, categories=1)
    count_pairs(boxes, method=name)
    join(boxes[:half], boxes[half:], method=name)


def built_methods() -> list[str]:
    """The names of the methods that this version of the package brings."""
    return [name for name in methods.NAMES if find_spec(f"broadphase.methods.{name}")]


def cache_folder() -> Path | None:
    """Where Numba keeps the compiled kernels; None where it keeps nothing."""
    stats = getattr(survey.first_unsound_row, "stats", None)
    return None if stats is None else Path(stats.cache_path)
