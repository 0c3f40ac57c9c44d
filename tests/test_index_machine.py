"""Every index against a dictionary and NumPy brute force, through everything that one can do with it."""

import pickle
import tempfile
from pathlib import Path

import numpy as np
import pytest
from cases import machine_settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule
from index_model import Model
from index_scenes import (
    BIT_SETS,
    DISTANCES,
    NAMES,
    RULES,
    STEPS,
    boxes,
    directions,
    make,
    many_boxes,
    points,
    random_boxes,
)

import broadphase as bp
from broadphase.indexes.brute_force import NoStructure
from broadphase.runtime import thresholds


class IndexMachine(RuleBasedStateMachine):
    name = ""
    dim = 2

    @initialize(
        dtype=st.sampled_from((np.float64, np.float32)),
        touching=st.booleans(),
        sort=st.sampled_from((1, 1, 0)),
    )
    def begin(self, dtype, touching, sort):
        self.index = make(self.name, self.dim, dtype=dtype, touching=touching, sort=bool(sort))
        self.model = Model(self.dim, dtype, touching)
        self.queries = 0

    # ---- changing it

    @rule(data=st.data(), static=st.booleans(), category=BIT_SETS, mask=BIT_SETS)
    def insert(self, data, static, category, mask):
        box = data.draw(boxes(self.dim))
        new = self.index.insert(box, static=static, category=category, mask=mask)
        assert new == self.model.insert(box, static, category, mask)

    @rule(data=st.data())
    def insert_plain(self, data):
        box = data.draw(boxes(self.dim))
        assert self.index.insert(tuple(box)) == self.model.insert(box)

    @rule(data=st.data(), seed=st.integers(0, 2**32 - 1), plain=st.booleans())
    def insert_many(self, data, seed, plain):
        rows = data.draw(many_boxes(self.dim))
        random = np.random.default_rng(seed)
        n = len(rows)
        options = {}
        if not plain:
            options = {
                "static": random.random(n) < 0.4,
                "category": random.choice((1, 2, 3, 0x80000000), n),
                "mask": random.choice((1, 3, 0xFFFFFFFF), n),
            }
        ids = self.index.insert_many(rows, **options)
        one = [{key: values[k].item() for key, values in options.items()} for k in range(n)]
        assert ids.tolist() == [self.model.insert(row, **own) for row, own in zip(rows, one, strict=True)]
        assert ids.dtype == np.int32

    @precondition(lambda self: self.model.bodies)
    @rule(data=st.data())
    def remove(self, data):
        gone = data.draw(st.sampled_from(self.model.ids.tolist()))
        self.index.remove(gone)
        del self.model.bodies[gone]
        assert gone not in self.index

    @rule(data=st.data(), most=st.integers(0, 40))
    def remove_many(self, data, most):
        gone = data.draw(st.permutations(self.model.ids.tolist()))[:most]
        self.index.remove_many(np.array(gone, np.int64))
        for i in gone:
            del self.model.bodies[i]

    @precondition(lambda self: self.model.bodies)
    @rule(data=st.data())
    def move(self, data):
        chosen = data.draw(st.sampled_from(self.model.ids.tolist()))
        box = data.draw(boxes(self.dim))
        self.index.move(chosen, box)
        self.model.bodies[chosen].box = self.model.rounded(box)

    @rule(data=st.data(), most=st.integers(0, 40), step=STEPS)
    def move_many(self, data, most, step):
        chosen = data.draw(st.permutations(self.model.ids.tolist()))[:most]
        rows = self._moved(data, chosen, step)
        self.index.move_many(chosen, rows)
        for i, row in zip(chosen, rows, strict=True):
            self.model.bodies[i].box = self.model.rounded(row)

    @rule(data=st.data(), step=STEPS)
    def update(self, data, step):
        rows = self._moved(data, self.model.ids.tolist(), step)
        self.index.update(rows)
        for i, row in zip(self.model.ids, rows, strict=True):
            self.model.bodies[i].box = self.model.rounded(row)

    def _moved(self, data, chosen, step):
        """Elsewhere if ``step`` is 0, else a small distance away."""
        seed = data.draw(st.integers(0, 2**32 - 1))
        if step == 0.0:
            return random_boxes(seed, len(chosen), self.dim)
        motion = np.random.default_rng(seed).integers(-2, 3, (len(chosen), self.dim)) * step
        rows = np.array([self.model.bodies[i].box for i in chosen], np.float64).reshape(-1, 2 * self.dim)
        return rows + np.hstack((motion, motion))

    @rule(chance=st.integers(0, 5), room=st.integers(0, 300))
    def clear_or_reserve(self, chance, room):
        if chance:
            self.index.reserve(room)
        else:
            self.index.clear()
            self.model.bodies.clear()

    # ---- another just like it

    @rule()
    def save_and_load(self):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "saved"
            self.index.save(path)
            loaded = type(self.index).load(path)
            assert repr(loaded) == repr(self.index)
            self.index = bp.Index.load(path)

    @rule()
    def pickle_and_back(self):
        self.index = pickle.loads(pickle.dumps(self.index))

    @rule(data=st.data(), keep_copy=st.booleans())
    def copy(self, data, keep_copy):
        twin = self.index.copy()
        keep, spoil = (twin, self.index) if keep_copy else (self.index, twin)
        spoil.insert_many(data.draw(many_boxes(self.dim)))
        spoil.changes()
        spoil.remove_many(spoil.ids[::2])
        spoil.update(np.zeros((len(spoil), 2 * self.dim)))
        spoil.validate()
        self.index = keep

    # ---- queries

    @rule(data=st.data(), category=RULES, mask=RULES)
    def query_box(self, data, category, mask):
        batch = data.draw(many_boxes(self.dim, 4))
        keep = self.model.counts(category, mask)
        wanted = [self.model.in_box(box, keep) for box in batch]
        rules = {"category": category, "mask": mask}
        self._same_ids(self.index.query_box(batch[0].tolist(), **rules), wanted[0])
        self._same_rows(self.index.query_box(batch, **rules), wanted)

    @rule(data=st.data(), category=RULES, mask=RULES)
    def query_point(self, data, category, mask):
        batch = [data.draw(points(self.dim)) for _ in range(3)]
        keep = self.model.counts(category, mask)
        wanted = [self.model.in_box(point * 2, keep) for point in batch]
        rules = {"category": category, "mask": mask}
        self._same_ids(self.index.query_point(batch[0], **rules), wanted[0])
        self._same_rows(self.index.query_point(batch, **rules), wanted)

    @rule(data=st.data(), category=RULES, mask=RULES)
    def query_radius(self, data, category, mask):
        batch = [data.draw(points(self.dim)) for _ in range(3)]
        batch = [self.model.rounded(point) for point in batch if np.isfinite(self.model.rounded(point)).all()]
        radii = [data.draw(DISTANCES) for _ in batch]
        keep = self.model.counts(category, mask)
        wanted = [self.model.in_circle(point, r, keep) for point, r in zip(batch, radii, strict=True)]
        rules = {"category": category, "mask": mask}
        if batch:
            self._same_ids(self.index.query_radius(batch[0], radii[0], **rules), wanted[0])
            self._same_rows(self.index.query_radius(batch, radii, **rules), wanted)

    @rule(data=st.data(), max_distance=DISTANCES, category=RULES, mask=RULES)
    def rays(self, data, max_distance, category, mask):
        origins = [self.model.rounded(data.draw(points(self.dim))) for _ in range(3)]
        origins = [origin for origin in origins if np.isfinite(origin).all()]
        towards = [data.draw(directions(self.dim)) for _ in origins]
        keep = self.model.counts(category, mask)
        wanted = [self.model.ray_hits(*ray, max_distance, keep) for ray in zip(origins, towards, strict=True)]
        rules = {"category": category, "mask": mask}
        if not origins:
            return
        first = self.index.raycast(origins[0], towards[0], max_distance, **rules)
        assert first == ((wanted[0][0][1], wanted[0][0][0], wanted[0][0][2]) if wanted[0] else None)
        all_hits = self.index.query_ray(origins[0], towards[0], max_distance, **rules)
        assert list(zip(*(part.tolist() for part in all_hits), strict=True)) == [
            (i, distance, list(normal)) for distance, i, normal in wanted[0]
        ]
        firsts = self.index.raycast(origins, towards, max_distance, **rules)
        nothing = (np.inf, -1, (0.0,) * self.dim)
        assert list(zip(*(part.tolist() for part in firsts), strict=True)) == [
            (i, distance, list(normal))
            for distance, i, normal in ((hits[0] if hits else nothing) for hits in wanted)
        ]
        every = self.index.query_ray(origins, towards, max_distance, **rules)
        parts = every.rows, every.distances, every.normals
        assert list(zip(*(part.tolist() for part in parts), strict=True)) == [
            ([q, i], distance, list(normal)) for q, hits in enumerate(wanted) for distance, i, normal in hits
        ]

    @rule(data=st.data(), k=st.sampled_from((1, 2, 5, 1000)), category=RULES, mask=RULES)
    def nearest(self, data, k, category, mask):
        batch = [self.model.rounded(data.draw(points(self.dim))) for _ in range(3)]
        batch = [point for point in batch if np.isfinite(point).all()]
        keep = self.model.counts(category, mask)
        wanted = [self.model.nearest(point, k, keep) for point in batch]
        rules = {"category": category, "mask": mask}
        if not batch:
            return
        ids, distances = self.index.nearest(batch[0], k, **rules)
        assert (ids.tolist(), distances.tolist()) == wanted[0]
        ids, distances = self.index.nearest(batch, k, **rules)
        assert ids.shape == distances.shape == (len(batch), k)
        for row, (near_ids, near_distances) in enumerate(wanted):
            missing = k - len(near_ids)
            assert ids[row].tolist() == near_ids + [-1] * missing
            assert distances[row].tolist() == near_distances + [np.inf] * missing

    @rule()
    def changes(self):
        found = self.index.changes()
        for part, wanted in zip(found, self.model.changes(), strict=True):
            np.testing.assert_array_equal(part, wanted)
            assert part.dtype == np.int32

    @rule(data=st.data(), other_name=st.sampled_from(NAMES), dtype=st.sampled_from((np.float64, np.float32)))
    def join(self, data, other_name, dtype):
        rows = data.draw(many_boxes(self.dim))
        touching = self.model.touching
        other = make(other_name, self.dim, dtype=dtype, touching=touching)
        model = Model(self.dim, dtype, touching)
        other.insert_many(rows, static=True, category=2)
        for row in rows:
            model.insert(row, static=True, category=2)
        np.testing.assert_array_equal(other.join(self.index), model.join(self.model))
        self._same_ids(self.index.join(other), self.model.join(model))
        self._same_ids(self.index.join(self.index), self.model.join(self.model))

    # ---- after every step

    @invariant()
    def is_sound(self):
        self.index.validate()

    @invariant()
    def holds_the_same(self):
        assert len(self.index) == len(self.model.bodies)
        np.testing.assert_array_equal(self.index.ids, self.model.ids)
        np.testing.assert_array_equal(self.index.boxes, self.model.boxes)
        assert self.index.boxes.dtype == self.model.dtype

    @invariant()
    def finds_the_same_pairs(self):
        found = self.index.pairs()
        self._same_ids(found, self.model.pairs())
        assert found.dtype == np.int32
        assert self.index.stats.pairs == len(found)

    def _same_ids(self, found, wanted):
        if not self.index.sort:
            found = np.sort(found) if found.ndim == 1 else found[np.lexsort(found.T[::-1])]
        np.testing.assert_array_equal(found, wanted)

    def _same_rows(self, found, wanted):
        self._same_ids(found, np.array([(q, i) for q, ids in enumerate(wanted) for i in ids]).reshape(-1, 2))


def machine(name, dim):
    case = type(f"{name}_{dim}d", (IndexMachine,), {"name": name, "dim": dim}).TestCase
    case.settings = machine_settings(25, 40)
    return case


@pytest.fixture(autouse=True)
def journal_of_any_size(monkeypatch):
    """`changes` queries touched boxes among few boxes too; otherwise the machine would never test that."""
    monkeypatch.setattr(thresholds, "FEWEST_BOXES", 0)


@pytest.mark.covering
@pytest.mark.parametrize("dim", [2, 3])
@pytest.mark.parametrize("name", NAMES)
def test_does_what_the_model_does(name, dim):
    machine(name, dim)().runTest()


@pytest.mark.parametrize("dim", [2, 3])
def test_changes_by_query_are_the_changes_of_all_pairs(dim, monkeypatch):
    monkeypatch.setattr(NoStructure, "changes_by_query", 1.0)
    machine("brute_force", dim)().runTest()
