"""Rays on a torus: they go around until their greatest distance.

A ray is followed in legs, each so long that it passes at most one seam of an axis.  In each leg it is asked
again from every image of its origin whose boxes it may meet there, with all of its length: what is hit where
is decided by the same test as in any index, from an origin that is moved by whole periods (``origin - k *
period``, rounded as any such computation).  Of several hits of one box the nearest counts.

Cost: some questions for each period that the ray is long.  With rays that wind a million times that is a long
time, in small steps.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from broadphase.boxes import BoxArray
from broadphase.indexes.arguments import Rows
from broadphase.indexes.results import RayHits, RayRows
from broadphase.indexes.storage import IdArray
from broadphase.kernels.boxes import ranking
from broadphase.space import check_ray_lengths

_Legs = tuple[Rows, npt.NDArray[np.int64]]
_SLACK = 1e-9  # of a period: where a seam is passed is rounded; to ask one image too many is no harm


class Winding:
    """Rays ``[origin..., direction..., max_distance]`` around a world."""

    def __init__(
        self, rays: Rows, period: npt.NDArray[np.float64], crossed: npt.NDArray[np.bool_], boxes: BoxArray
    ) -> None:
        dim = len(period)
        self._rays = rays
        self._period = period
        self._crossed = crossed
        self._boxes = boxes
        self._origins = rays[:, :dim]
        ways = rays[:, dim : 2 * dim]
        ways = ways / np.abs(ways).max(axis=1, keepdims=True)
        self._ways = ways / np.sqrt((ways * ways).sum(axis=1, keepdims=True))
        self._furthest = rays[:, 2 * dim]
        with np.errstate(divide="ignore"):
            legs = np.where(np.isfinite(period), period / np.abs(self._ways), np.inf)
        self._leg = legs.min(axis=1)
        check_ray_lengths(self._furthest, self._leg)

    def first_hits(
        self, find: Callable[..., tuple[IdArray, int]], category: int, mask: int
    ) -> tuple[RayHits, int]:
        """The first hit of each ray, and the tests; ``find(rays, category, mask)`` asks the index."""
        n, dim = self._origins.shape
        ids, distances, normals = np.full(n, -1, np.int32), np.full(n, np.inf), np.zeros((n, dim))
        active, begun, tests = np.arange(n), np.zeros(n), 0
        while len(active):
            ends = self._ends(active, begun[active])
            asked, of = self._images(active, begun[active], ends)
            hits, made = find(asked, category, mask)
            tests += made
            at, into = np.full(len(hits), np.inf), np.zeros((len(hits), dim))
            ranking.describe_firsts(self._boxes, hits, asked, np.empty(asked.shape[1]), at, into)
            # The nearest of each ray, then the lowest id; what an earlier leg has hit takes part.
            of, hits = np.concatenate((of, active)), np.concatenate((hits, ids[active]))
            at, into = np.concatenate((at, distances[active])), np.concatenate((into, normals[active]))
            hit = np.flatnonzero(hits >= 0)
            order = hit[np.lexsort((hits[hit], at[hit], of[hit]))]
            order = order[np.append(True, of[order][1:] != of[order][:-1])[: len(order)]]
            ids[of[order]], distances[of[order]], normals[of[order]] = hits[order], at[order], into[order]
            begun[active] = ends
            active = active[(ends < self._furthest[active]) & ~(distances[active] <= ends)]
        return RayHits(ids, distances, normals), tests

    def all_hits(
        self, find: Callable[..., tuple[IdArray, IdArray, int]], category: int, mask: int
    ) -> tuple[RayRows, int]:
        """All hits, each box once, and the tests."""
        n, dim = self._origins.shape
        parts: list[tuple[Any, ...]] = []
        active, begun, tests = np.arange(n), np.zeros(n), 0
        while len(active):
            ends = self._ends(active, begun[active])
            asked, of = self._images(active, begun[active], ends)
            hits, counts, made = find(asked, category, mask)
            tests += made
            at, into = np.full(len(hits), np.inf), np.zeros((len(hits), dim))
            borders = np.concatenate(([0], np.cumsum(counts)))
            ranking.rank_hits(self._boxes, hits, borders, asked, np.empty(asked.shape[1]), at, into)
            parts.append((np.repeat(of, counts), hits, at, into))
            begun[active] = ends
            active = active[ends < self._furthest[active]]
        of, hits, at, into = (np.concatenate(columns) for columns in zip(*parts, strict=True)) if parts else (
            np.empty(0, np.int64), np.empty(0, np.int32), np.empty(0), np.empty((0, dim))
        )  # fmt: skip
        order = np.lexsort((at, hits, of))
        first = np.append(True, (of[order][1:] != of[order][:-1]) | (hits[order][1:] != hits[order][:-1]))
        kept = order[first[: len(order)]]
        kept = kept[np.lexsort((hits[kept], at[kept], of[kept]))]
        rows = np.column_stack((of[kept].astype(np.int32), hits[kept]))
        return RayRows(rows, at[kept], into[kept]), tests

    def _ends(self, active: npt.NDArray[np.int64], begun: Rows) -> Rows:
        ends: Rows = np.minimum(begun + self._leg[active], self._furthest[active])
        return ends

    def _images(self, active: npt.NDArray[np.int64], begun: Rows, ends: Rows) -> _Legs:
        """The rays from every image of their origins that counts in this leg, and which ray each is."""
        origins, ways = self._origins[active], self._ways[active]
        periodic = np.isfinite(self._period)
        period = np.where(periodic, self._period, 1.0)
        with np.errstate(invalid="ignore"):
            first = origins + np.where(ways != 0.0, ways * begun[:, None], 0.0)
            last = origins + np.where(ways != 0.0, ways * ends[:, None], 0.0)
        # Where a place is large, it is rounded the more.
        slack = _SLACK * period + 4e-15 * (np.abs(first) + np.abs(last))
        with np.errstate(invalid="ignore"):
            low = np.where(periodic, np.floor((np.minimum(first, last) - slack) / period), 0.0)
            high = np.where(periodic, np.floor((np.maximum(first, last) + slack) / period), 0.0)
        low -= periodic & self._crossed
        spans = (high - low + 1.0).astype(np.int64)
        counts = spans.prod(axis=1)
        of = np.repeat(np.arange(len(active)), counts)
        within = np.arange(len(of)) - np.repeat(np.cumsum(counts) - counts, counts)
        asked = self._rays[active][of]
        for axis in range(len(period)):
            if periodic[axis]:
                step = low[of, axis] + within % spans[of, axis]
                within = within // spans[of, axis]
                asked[:, axis] -= step * period[axis]
        return asked, active[of]
