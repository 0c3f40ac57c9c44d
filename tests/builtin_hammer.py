"""Calls kernels very often, and looks whether anything is kept; for `test_machine`, in its own process."""

import gc
import sys
import tracemalloc
from array import array
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from broadphase.kernels.arrays.sorting import argsort_keys
from broadphase.kernels.boxes.brute_force import scan_for_boxes
from broadphase.kernels.boxes.checks import copy_sound_rows, first_unsound_row
from broadphase.kernels.tiles.grid import cell_of_point, no_tiles

BOXES = np.zeros((20, 4))
KEYS = np.arange(2_000, dtype=np.int64)[::-1].copy()
SETS, ROWS = np.ones(20, np.uint32), np.empty((0, 2), np.int32)
ANY = 2**32 - 1
SLOPPY = np.float32(1.5), np.int64(1)
GRID = no_tiles()

RIGHT: list[tuple[Callable[..., Any], tuple[Any, ...]]] = [
    (first_unsound_row, (BOXES,)),  # a number comes out
    (argsort_keys, (KEYS, False)),  # an array of the kernel's
    (cell_of_point, (GRID, 1.0, 2.0)),  # a tuple
    (scan_for_boxes, (BOXES, 20, SETS, SETS, (0.0, 0.0, 1.0, 1.0), True, 1, ANY, ROWS)),
    (scan_for_boxes, (BOXES, 20, SETS, SETS, BOXES, True, 1, ANY, np.empty((1, 2), np.int32))),
    (copy_sound_rows, (BOXES, BOXES.copy(), 0, 20)),
]
WRONG: list[tuple[Callable[..., Any], tuple[Any, ...]]] = [
    (first_unsound_row, ("text",)),
    (first_unsound_row, (BOXES.T,)),
    (first_unsound_row, (BOXES.astype(">f8"),)),
    (first_unsound_row, ()),
    (argsort_keys, ([1, 2, 3], False)),
    (cell_of_point, (GRID._replace(around=2**63), 1.0, 2.0)),
    (cell_of_point, (GRID, "text", 2.0)),
    (scan_for_boxes, (BOXES, 20, SETS, SETS, (0.0, 0.0, 1.0, "text"), True, 1, ANY, ROWS)),
    (copy_sound_rows, (BOXES, BOXES.copy(), 0)),
]
SLOW: list[tuple[Callable[..., Any], tuple[Any, ...]]] = [
    (cell_of_point, (GRID._replace(around=SLOPPY[1]), SLOPPY[0], 2.0)),
    (first_unsound_row, (BOXES.view(np.recarray),)),
]


def parts(arguments: tuple[Any, ...]) -> Iterator[Any]:
    for one in arguments:
        yield one
        if isinstance(one, tuple):
            yield from parts(one)


def everything() -> list[Any]:
    """All that calls could forget to let go: arguments, types, kernels."""
    calls = RIGHT + WRONG + SLOW
    held = [part for _, arguments in calls for part in parts(arguments)]
    kernels = [kernel for kernel, _ in calls]
    return [*held, *kernels, None, True, False, np.ndarray, BOXES.dtype, SETS.dtype, np.dtype(np.int32)]


def call_all(times: int) -> None:
    for kernel, arguments in RIGHT + SLOW:
        for _ in range(times):
            kernel(*arguments)
    for kernel, arguments in WRONG:
        for _ in range(times // 10):
            try:
                kernel(*arguments)
            except TypeError:
                pass
            else:
                raise AssertionError(f"{kernel} took {arguments}")


def hammer(times: int) -> None:
    """Print how many references and bytes were kept; a few are Python's own, one for each call are ours."""
    watched = everything()
    tracemalloc.start()
    call_all(1_000)  # while Python adapts its bytecode it lets some references to None go
    gc.collect()
    # Counts are small numbers, which Python shares: a list of them would hold references to what is watched.
    before = array("q", [sys.getrefcount(body) for body in watched])
    bytes_before = tracemalloc.get_traced_memory()[0]
    call_all(times)
    gc.collect()
    kept = max(abs(sys.getrefcount(body) - count) for body, count in zip(watched, before, strict=True))
    print(kept, tracemalloc.get_traced_memory()[0] - bytes_before)
