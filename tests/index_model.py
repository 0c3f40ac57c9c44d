"""A model of an index: a dictionary of boxes, queried with NumPy broadcasting.

Written apart from the package: nothing is imported from it, and the rules are put differently where they
can be (see `Model.ray_hits`).
"""

from dataclasses import dataclass

import numpy as np

EVERY_BIT = 0xFFFFFFFF


@dataclass
class Body:
    box: np.ndarray
    static: bool
    category: int
    mask: int
    birth: int


class Model:
    def __init__(self, dim, dtype, touching):
        self.dim, self.dtype, self.touching = dim, np.dtype(dtype), touching
        self.bodies = {}
        self.births = 0
        self.seen = set()

    def insert(self, box, static=False, category=1, mask=EVERY_BIT):
        new = next(i for i in range(len(self.bodies) + 1) if i not in self.bodies)
        self.births += 1
        self.bodies[new] = Body(self.rounded(box), static, category, mask, self.births)
        return new

    def rounded(self, values):
        with np.errstate(over="ignore"):
            return np.asarray(values, np.float64).astype(self.dtype)

    @property
    def ids(self):
        return np.array(sorted(self.bodies), np.int64)

    @property
    def boxes(self):
        return np.array([self.bodies[i].box for i in self.ids], self.dtype).reshape(-1, 2 * self.dim)

    def _column(self, name):
        return np.array([getattr(self.bodies[i], name) for i in self.ids], np.int64)

    def _overlaps(self, a, b):
        a, b = a[:, None, :], b[None, :, :]
        less = np.less_equal if self.touching else np.less
        low, high = slice(None, self.dim), slice(self.dim, None)
        return (less(a[..., low], b[..., high]) & less(b[..., low], a[..., high])).all(axis=2)

    def _may(self, other):
        static, category, mask = (self._column(name) for name in ("static", "category", "mask"))
        o_static, o_category, o_mask = (other._column(name) for name in ("static", "category", "mask"))
        may = (category[:, None] & o_mask[None, :] != 0) & (o_category[None, :] & mask[:, None] != 0)
        return may & ~(static[:, None] & o_static[None, :]).astype(bool)

    def pairs(self):
        table = np.triu(self._overlaps(self.boxes, self.boxes) & self._may(self), 1)
        return self.ids[np.argwhere(table)].reshape(-1, 2)

    def join(self, other):
        a, b = self.boxes.astype(np.float64), other.boxes.astype(np.float64)
        rows = np.argwhere(self._overlaps(a, b) & self._may(other))
        return np.column_stack((self.ids[rows[:, 0]], other.ids[rows[:, 1]])).reshape(-1, 2)

    def changes(self):
        now = {(i, j, self.bodies[i].birth, self.bodies[j].birth) for i, j in self.pairs().tolist()}
        parts = now - self.seen, now & self.seen, self.seen - now
        self.seen = now
        return [np.array(sorted(part), np.int64).reshape(-1, 4)[:, :2] for part in parts]

    def counts(self, category, mask):
        keep = np.ones(len(self.bodies), bool)
        if category is not None:
            keep &= self._column("mask") & category != 0
        if mask is not None:
            keep &= self._column("category") & mask != 0
        return keep

    def in_box(self, box, keep):
        box = self.rounded(box).reshape(1, -1)
        return self.ids[self._overlaps(self.boxes, box)[:, 0] & keep]

    def distances(self, point):
        point = self.rounded(point).astype(np.float64)
        boxes = self.boxes.astype(np.float64)
        with np.errstate(over="ignore", invalid="ignore", divide="ignore", under="ignore"):
            gaps = np.maximum(np.maximum(boxes[:, : self.dim] - point, point - boxes[:, self.dim :]), 0.0)
            largest = gaps.max(axis=1)
            scale = np.where((largest > 1e-140) & (largest < 1e140), 1.0, largest)
            total = np.zeros(len(boxes))
            for axis in range(self.dim):
                total = total + (gaps[:, axis] / scale) * (gaps[:, axis] / scale)
            return np.where((largest == 0) | np.isinf(largest), largest, scale * np.sqrt(total))

    def in_circle(self, center, r, keep):
        distances = self.distances(center)
        return self.ids[((distances <= r) if self.touching else (distances < r)) & keep]

    def nearest(self, point, k, keep):
        found = sorted(zip(self.distances(point)[keep].tolist(), self.ids[keep].tolist(), strict=True))[:k]
        return [i for _, i in found], [distance for distance, _ in found]

    def ray_hits(self, origin, direction, max_distance, keep):
        """Ids, distances and normals of all hits, by distance, then id.

        Every axis gives a span of times in which the ray is inside, and the ray itself lasts from 0 to
        `max_distance`.  These spans must meet pairwise; without touching, every two of them properly, where
        an axis is not held against itself: a thin wall has a span of no length and may be crossed.
        """
        origin = self.rounded(origin).astype(np.float64)
        direction = np.asarray(direction, np.float64)
        direction = direction / np.abs(direction).max()
        direction = direction / np.sqrt(sum(part * part for part in direction))
        hits = []
        for number, box in zip(self.ids[keep].tolist(), self.boxes[keep].astype(np.float64), strict=True):
            spans = [self._span(box, origin, direction, axis) for axis in range(self.dim)]
            if None in spans:
                continue
            spans.append((0.0, max_distance))
            fits = all(
                a[0] <= b[1] if self.touching else a[0] < b[1]
                for k, a in enumerate(spans)
                for m, b in enumerate(spans)
                if k != m
            )
            begin = max(enter for enter, _ in spans)
            if fits and begin < np.inf:
                hits.append((begin, number, self._normal(spans, direction, begin)))
        return sorted(hits)

    def _span(self, box, origin, direction, axis):
        low, high = box[axis], box[self.dim + axis]
        if direction[axis] == 0:
            at = origin[axis]
            inside = low <= at <= high if self.touching else low < at < high
            return (-np.inf, np.inf) if inside else None
        with np.errstate(over="ignore"):
            times = (low - origin[axis]) / direction[axis], (high - origin[axis]) / direction[axis]
        return min(times), max(times)

    def _normal(self, spans, direction, begin):
        for axis in range(self.dim):
            if spans[axis][0] == begin:
                return tuple(-float(np.sign(direction[axis])) if k == axis else 0.0 for k in range(self.dim))
        return (0.0,) * self.dim
