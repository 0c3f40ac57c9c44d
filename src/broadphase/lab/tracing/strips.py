"""Trace of the strips: their borders, the copies in each, and what was compared."""

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from broadphase.indexes.classes import AdaptiveIndex, Strips
from broadphase.inputs.boxes import BoxArray
from broadphase.kernels.strips.bin import CONTINUED_Y, HALF_ORIGIN, LAST, NEW, SCALE
from broadphase.kernels.strips.small_worlds import buckets_of
from broadphase.kernels.strips.sweep import CROWDED, buckets_for
from broadphase.lab.tracing.trace import Ids, Numbers, Trace, counting, traces, walks
from broadphase.methods.strips import Division

MOST_STRIPS = 2_000


class Borders(NamedTuple):
    """How the world is cut."""

    swept: int
    """The axis along which each strip is swept; the strips cut the other one."""
    borders: npt.NDArray[np.float64]
    """Between the strips; one fewer than there are strips."""
    copies: Numbers
    """How many copies lie in each strip."""
    continued: npt.NDArray[np.bool_]
    """For each body, whether it covers more than one strip."""


def structure(index: Strips | AdaptiveIndex) -> Borders | None:
    """The borders of the last frame; None if nothing was cut or there are too many."""
    plan = index._structure.frame.plan
    if plan is None or plan.strips > MOST_STRIPS:
        return None
    first, last = _spans(plan, index.boxes)
    counts = np.zeros(plan.strips + 1, np.int64)
    np.add.at(counts, first, 1)
    np.add.at(counts, last + 1, -1)
    return Borders(plan.axes[0], _borders(plan), counts.cumsum()[:-1], last > first)


def class_bits(index: Strips | AdaptiveIndex) -> Ids:
    """``(copies, 3)`` rows ``[strip, id, bits]``: a pair is reported where the AND of their bits is 0."""
    plan = index._structure.frame.plan
    if plan is None:
        return np.empty((0, 3), np.int32)
    ids = index.ids
    strip, body, first = _copies(plan, index.boxes)
    bits = np.where(strip > first[body], CONTINUED_Y, NEW)
    return np.column_stack([strip, ids[body], bits]).astype(np.int32)


@traces("strips")
def trace_strips(index: Strips | AdaptiveIndex) -> Trace | None:
    """The pairs compared, strip by strip."""
    ids, boxes, frame = index.ids, index.boxes, index._structure.frame
    compared = [np.empty((0, 2), np.int32)]
    if len(ids) > 1:
        if frame.plan is None or bool((np.abs(boxes) == np.finfo(boxes.dtype).max).any()):
            return None
        strip, body, _ = _copies(frame.plan, boxes)
        if frame.in_one_call:
            compared.append(ids[_end_to_end(boxes, frame.plan, strip, body)])
        else:
            by_strip = body[np.argsort(strip, kind="stable")]
            for one in np.split(by_strip, np.bincount(strip).cumsum()[:-1]):
                compared.append(ids[_in_strip(boxes, frame.plan.axes[0], one)])
    return Trace(np.concatenate(compared))


def _borders(plan: Division) -> npt.NDArray[np.float64]:
    last = int(plan.lattice[0, LAST])
    if plan.borders.shape[1]:
        return plan.borders[0, :last].astype(np.float64)
    numbers = np.arange(1, last + 1)
    borders: npt.NDArray[np.float64] = 2 * (numbers / plan.lattice[0, SCALE] + plan.lattice[0, HALF_ORIGIN])
    return borders


def _strip_of(plan: Division, values: BoxArray) -> Numbers:
    """The same as `broadphase.kernels.strips.bin.strip_of`."""
    last = plan.lattice[0, LAST]
    if plan.borders.shape[1]:
        return np.searchsorted(plan.borders[0, : int(last)], values, "right")
    half = values.dtype.type(0.5)
    at = (values * half - plan.lattice[0, HALF_ORIGIN]) * plan.lattice[0, SCALE]
    strip: Numbers = np.clip(at, 0, last).astype(np.int64)
    return strip


def _spans(plan: Division, boxes: BoxArray) -> tuple[Numbers, Numbers]:
    cut = plan.axes[1]
    first = _strip_of(plan, boxes[:, cut])
    return first, np.maximum(first, _strip_of(plan, boxes[:, 2 + cut]))


def _copies(plan: Division, boxes: BoxArray) -> tuple[Numbers, Numbers, Numbers]:
    """The strip and the row of every copy, by row; and the first strip of every row."""
    first, last = _spans(plan, boxes)
    counts = last - first + 1
    body = np.repeat(np.arange(len(boxes)), counts)
    return first[body] + counting(counts), body, first


def _end_to_end(boxes: BoxArray, plan: Division, strip: Numbers, body: Numbers) -> Ids:
    """The rows compared in all strips, by the keys that `broadphase.kernels.strips.small_worlds` sorts."""
    low, high = boxes[:, plan.axes[0]], boxes[:, 2 + plan.axes[0]]
    buckets = buckets_of(len(boxes), plan.strips)
    finite = low[np.isfinite(low)]
    if not len(finite):
        finite = np.zeros(1, boxes.dtype)
    bucket, reach = _buckets(low, high, finite.min(), finite.max(), buckets)
    key, last = strip * buckets + bucket[body], strip * buckets + reach[body]
    order = np.argsort(key, kind="stable")
    stops = np.searchsorted(key[order], last[order], "right")
    return walks(body[order].astype(np.int32), stops)


def _buckets(
    low: BoxArray, high: BoxArray, least: np.floating[Any], largest: np.floating[Any], buckets: int
) -> tuple[Numbers, Numbers]:
    """The bucket in which each box starts, and the last one that it reaches."""
    kind = low.dtype.type
    half_low = least * kind(0.5)
    half_width = largest * kind(0.5) - half_low
    scale = np.finfo(kind).tiny
    if half_width > 0:
        with np.errstate(over="ignore"):
            scale = min(kind(buckets) / half_width, np.finfo(kind).max)
    first, reach = (
        np.clip((edges * kind(0.5) - half_low) * scale, 0, kind(buckets - 1)).astype(np.int64)
        for edges in (low, high)
    )
    return first, reach


def _in_strip(boxes: BoxArray, axis: int, rows: Numbers) -> Ids:
    """The rows compared in one strip, by the buckets of `broadphase.kernels.strips.sweep`."""
    limits = np.finfo(boxes.dtype)
    low = np.clip(boxes[rows, axis], limits.min, limits.max)
    high = np.clip(boxes[rows, 2 + axis], limits.min, limits.max)
    n = len(rows)
    if n < 2:
        return np.empty((0, 2), np.int32)
    bucket, reach = _buckets(low, high, low.min(), low.max(), buckets_for(n))
    order = np.argsort(bucket, kind="stable")
    if int(np.square(np.bincount(bucket)).sum()) > CROWDED * n:
        order = np.lexsort([low, bucket])
        stops = np.searchsorted(low[order], high[order], "right")
    else:
        stops = np.searchsorted(bucket[order], reach[order], "right")
    return walks(rows[order].astype(np.int32), stops)
