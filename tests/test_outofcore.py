"""Out of core: the same pairs as in memory, however little memory there is."""

import geopandas
import numpy as np
import oracle
import pyarrow as pa
import pytest
import scenes
import shapely
from outofcore_helpers import SEVERAL, array, found, joined, names_in, save, table, written
from pyarrow import ipc, parquet

import broadphase as bp
from broadphase import outofcore
from broadphase.errors import FileError
from broadphase.files import read_boxes
from broadphase.outofcore.tiles import began_before, make_tiling, spread_over, touches

pytestmark = pytest.mark.usefixtures("open_files_stay")

CASES = [(*case, *how) for case in scenes.CASES for how in ((np.float32, True), (np.float64, False))]


def test_every_scene(each):
    def check(name, dim, dtype, touching):
        boxes = scenes.make(name, 150, dim, dtype)
        reports = []
        pairs = found(boxes, touching=touching, memory=24_000, progress=reports.append)
        assert np.array_equal(pairs, oracle.pairs(boxes, touching))
        assert reports[-1].total > 10  # tiles, or blocks of one that cannot be cut

    each(check, CASES, of=47)


def test_every_scene_joined(each):
    def check(name, dim, dtype, touching):
        a, b = scenes.make(name, 90, dim, dtype), scenes.make(name, 70, dim, dtype, seed=1)
        assert np.array_equal(joined(a, b, touching=touching), oracle.join(a, b, touching))

    each(check, CASES, of=61)


@pytest.mark.parametrize("dim", [2, 3])
def test_rules(tmp_path, dim):
    rng = np.random.default_rng(dim)
    boxes = scenes.make("power_law", 300, dim)
    static = rng.random(300) < 0.5
    categories, masks = rng.integers(1, 8, 300), rng.integers(0, 2**32, 300)
    expected = bp.pairs(boxes, static=static, categories=categories, masks=masks)
    path = save(tmp_path / "a.parquet", boxes, still=static, cat=categories, mask=masks)
    by_name = found(path, static="still", categories="cat", masks="mask")
    assert len(expected) > 10
    assert np.array_equal(by_name, expected)
    assert np.array_equal(found(path, static=static, categories=categories, masks=masks), expected)
    assert np.array_equal(found(boxes, masks=masks), bp.pairs(boxes, masks=masks))
    count = outofcore.count_pairs(path, static="still", categories="cat", masks="mask", **SEVERAL)
    assert count == len(expected)


class TestSources:
    boxes = scenes.make("uniform", 180, 2, np.float32)
    expected = bp.pairs(boxes)

    def same(self, source):
        assert np.array_equal(found(source), self.expected)

    def test_arrays_tables_and_iterables(self):
        self.same(self.boxes)
        self.same(table(self.boxes))
        self.same(np.split(self.boxes, 3))
        self.same(iter(np.split(self.boxes, 3)))
        self.same(iter(table(self.boxes).to_batches(max_chunksize=70)))
        self.same(pa.RecordBatchReader.from_batches(table(self.boxes).schema, table(self.boxes).to_batches()))
        self.same(self.boxes.tolist())

    def test_memory_maps(self, tmp_path):
        np.save(tmp_path / "a.npy", self.boxes)
        self.same(tmp_path / "a.npy")
        self.same(np.load(tmp_path / "a.npy", mmap_mode="r"))
        halves = [np.load(tmp_path / "a.npy", mmap_mode="r")[rows] for rows in (slice(60), slice(60, None))]
        self.same(halves)

    def test_arrow(self, tmp_path):
        whole = table(self.boxes, more=pa.array(["a"] * 180))
        for name, make in (("a.arrow", ipc.new_file), ("b.arrow", ipc.new_stream)):
            with (tmp_path / name).open("wb") as file, make(file, whole.schema) as writer:
                writer.write_table(whole, max_chunksize=50)
            self.same(tmp_path / name)

    def test_folders_and_patterns_in_order(self, tmp_path):
        (tmp_path / "in").mkdir()
        for k, rows in enumerate(np.array_split(self.boxes, 12)):
            save(tmp_path / "in" / f"part.{k}.parquet", rows)
        (tmp_path / "in" / "_SUCCESS.parquet").write_text("no data")
        self.same(tmp_path / "in")
        self.same(str(tmp_path / "in" / "part*.parquet"))
        self.same([tmp_path / "in" / f"part.{k}.parquet" for k in range(12)])

    def test_the_bbox_of_geoparquet(self, tmp_path):
        bbox = pa.StructArray.from_arrays(
            [pa.array(column) for column in self.boxes.T], ["xmin", "ymin", "xmax", "ymax"]
        )
        parquet.write_table(pa.table({"geometry": [b""] * 180, "bbox": bbox}), tmp_path / "a.parquet")
        self.same(tmp_path / "a.parquet")

    @pytest.mark.parametrize("named", ["covering", "bbox", "geometry_bbox"])
    def test_geoparquet(self, tmp_path, named):
        """Its metadata name the edges, whatever else is there; GDAL's names are known without."""
        frame = self.frame().assign(xmin=7.0)
        frame.to_parquet(tmp_path / "a.parquet", write_covering_bbox=True)
        if named != "covering":
            read = parquet.read_table(tmp_path / "a.parquet").drop_columns(["xmin"])
            names = [named if name == "bbox" else name for name in read.column_names]
            parquet.write_table(
                read.rename_columns(names).replace_schema_metadata(None), tmp_path / "a.parquet"
            )
        self.same(tmp_path / "a.parquet")
        assert np.array_equal(read_boxes(tmp_path / "a.parquet").boxes, self.boxes)

    def test_geoparquet_without_bounds(self, tmp_path):
        self.frame().to_parquet(tmp_path / "a.parquet")
        for read in (read_boxes, outofcore.count_pairs):
            with pytest.raises(
                FileError, match=r"a\.parquet: is GeoParquet without .*write_covering_bbox=True"
            ):
                read(tmp_path / "a.parquet")

    def test_tables_of_geopandas(self, tmp_path):
        frame = self.frame()
        self.same(frame)
        self.same(frame.geometry)
        self.same([frame[:60], frame[60:]])
        named = array(
            outofcore.pairs(frame.assign(name=[f"n{k}" for k in range(180)]), ids="name", **SEVERAL), object
        )
        wanted = {(f"n{i}", f"n{j}") for i, j in self.expected.tolist()}
        assert {tuple(row) for row in named.tolist()} == wanted
        with pytest.raises(ValueError, match="no column 'none'"):
            outofcore.pairs(frame, tmp_path / "none", ids="none")

    def frame(self):
        return geopandas.GeoDataFrame(geometry=shapely.box(*self.boxes.T))

    def test_files_of_both_types_are_computed_in_float64(self, tmp_path):
        halves = np.array_split(scenes.make("one_ulp", 120, 2), 2)
        a, b = (save(tmp_path / f"{k}.parquet", half) for k, half in enumerate(halves))
        save(b, halves[1].astype(np.float32))
        both = np.concatenate([halves[0], halves[1].astype(np.float32)])
        assert np.array_equal(found([a, b]), bp.pairs(both))
        assert np.array_equal(joined(a, b), bp.join(halves[0], halves[1].astype(np.float32)))

    def test_a_row_group_of_many_chunks(self, tmp_path):
        reports = []
        pairs = found(save(tmp_path / "a.parquet", self.boxes, rows=180), progress=reports.append)
        assert np.array_equal(pairs, self.expected)
        assert reports[-1].plan.chunks > 3

    def test_through_fsspec(self, tmp_path):
        fsspec = pytest.importorskip("fsspec")
        system = fsspec.filesystem("memory")
        with system.open("/in/a.parquet", "wb") as file:
            parquet.write_table(table(self.boxes), file)
        for source in ("memory://in/a.parquet", "memory://in", "memory://in/*.parquet"):
            self.same(source)
        done = outofcore.pairs("memory://in", "memory://out", work=tmp_path / "work", **SEVERAL)
        assert done.pairs == len(self.expected)
        parts = [parquet.read_table(system.open(path)) for path in system.glob("/out/*.parquet")]
        assert np.array_equal(array(batch for part in parts for batch in part.to_batches()), self.expected)
        options = {"work": tmp_path / "work", **SEVERAL}
        assert outofcore.pairs("memory://in", "memory://out", **options).was_done
        system.pipe_file(system.glob("/out/*.parquet")[0], b"")
        again = outofcore.pairs("memory://in", "memory://out", **options)
        assert (again.was_done, again.pairs) == (False, len(self.expected))
        assert outofcore.pairs("memory://in", "memory://out", **options).was_done
        assert names_in(tmp_path) == []


class TestIds:
    boxes = scenes.make("integers", 200, 2)

    @pytest.mark.parametrize(
        "kind",
        [pa.int8(), pa.int32(), pa.int64(), pa.uint64(), pa.string(), pa.dictionary(pa.int8(), pa.string())],
    )
    def test_are_carried_through(self, tmp_path, kind):
        numbers = np.random.default_rng(3).permutation(200) % 100
        texts = [f"{'é' * (number % 4)}{number}" for number in numbers]
        ids = pa.array(texts).cast(kind) if not pa.types.is_integer(kind) else pa.array(numbers).cast(kind)
        path = save(tmp_path / "a.parquet", self.boxes, name=ids)
        done = outofcore.pairs(path, tmp_path / "out", ids="name", **SEVERAL)
        table_out = parquet.read_table(tmp_path / "out")
        assert table_out.schema.names == ["id_i", "id_j"]
        own = ids.to_pylist()
        expected = sorted((own[i], own[j]) for i, j in bp.pairs(self.boxes))
        assert sorted(zip(*table_out.to_pydict().values(), strict=True)) == expected
        assert done.pairs == len(expected)

    def test_of_large_boxes_and_of_parts(self, tmp_path):
        """Large boxes come from elsewhere in the files; a crowded tile is searched in parts."""
        boxes = np.concatenate([scenes.make("infinite_boxes", 60, 2), scenes.make("all_equal", 90, 2)])
        ids = [f"{'x' * (k % 5)}{k}" for k in range(150)]
        path = save(tmp_path / "a.parquet", boxes, id=ids)
        rows = [
            pair
            for batch in outofcore.pairs(path, ids="id", **SEVERAL)
            for pair in zip(*batch.to_pydict().values(), strict=True)
        ]
        assert sorted(rows) == sorted((ids[i], ids[j]) for i, j in bp.pairs(boxes))

    def test_of_either_side(self, tmp_path):
        a = save(tmp_path / "a.parquet", self.boxes[:80], name=[f"a{k}" for k in range(80)])
        b = save(tmp_path / "b.parquet", self.boxes[80:], key=np.arange(120) * 3)
        expected = [(f"a{i}", 3 * j) for i, j in bp.join(self.boxes[:80], self.boxes[80:]).tolist()]
        rows = [
            pair
            for batch in outofcore.join(a, b, ids=("name", "key"), **SEVERAL)
            for pair in zip(*batch.to_pydict().values(), strict=True)
        ]
        assert sorted(rows) == sorted(expected)
        names = {tuple(batch.schema.names) for batch in outofcore.join(a, b, ids=("name", None), **SEVERAL)}
        assert names == {("id_i", "j")}


def test_no_boxes(tmp_path):
    empty = save(tmp_path / "a.parquet", np.empty((0, 4)))
    some = save(tmp_path / "b.parquet", np.array([[0, 0, 1, 1.0]]))
    assert outofcore.count_pairs(empty) == outofcore.count_pairs([]) == 0
    assert outofcore.count_pairs(some, other=empty) == outofcore.count_pairs(empty, other=some) == 0
    assert outofcore.pairs(empty, tmp_path / "out").pairs == 0
    assert parquet.read_table(tmp_path / "out").schema.names == ["i", "j"]
    assert outofcore.count_pairs([empty, some, empty, some]) == 1


def test_a_tile_knows_its_boxes():
    """A box is in the tiles that it touches, and a pair counts in exactly one of them."""
    boxes = scenes.make("some_infinite_edges", 400, 2, np.float32)
    tiling = make_tiling(boxes, 1.0, 20)
    assert tiling.tiles > 10
    spread = spread_over(boxes, tiling, 100.0)
    inside = np.array([touches(boxes, low, high) for low, high in zip(tiling.low, tiling.high, strict=True)])
    assert np.array_equal(inside.sum(axis=0), spread.copies)
    assert np.array_equal(inside.sum(axis=1), spread.counts[:-1])
    assert np.array_equal(inside.argmax(axis=0), spread.first)
    counted = np.zeros((400, 400), int)
    for tile, low in zip(inside, tiling.low, strict=True):
        bits = began_before(boxes, low)
        counted += tile[:, None] & tile[None, :] & (bits[:, None] & bits[None, :] == 0)
    assert (counted[oracle.overlapping(boxes, boxes)] == 1).all()


def test_copies_are_bounded():
    boxes = scenes.make("infinite_boxes", 400, 2)
    tiling = make_tiling(boxes, 1.0, 60)
    for most in (1.0, 1.5, 3.0):
        spread = spread_over(boxes, tiling, most)
        assert spread.counts.sum() <= most * 400
        assert spread.counts[:-1].sum() + spread.shared.sum() >= spread.copies.sum()


def test_the_plan_is_reported_beforehand(tmp_path):
    path = save(tmp_path / "a.parquet", scenes.make("long_walls", 250, 2))
    plan = outofcore.plan(path, **SEVERAL)
    seen = []

    def report(now):
        sizes = [file.stat().st_size for file in (tmp_path / "out.work" / "chunks").glob("*")]
        seen.append((now, sum(sizes)))

    outofcore.pairs(path, tmp_path / "out", progress=report, **SEVERAL)
    assert next(now.plan for now, _ in seen if now.plan is not None) == plan
    assert "250 boxes" in str(plan)
    assert 0 < max(size for _, size in seen) <= plan.temporary_bytes
    assert [now.step for now, _ in seen if now.done == now.total] == ["sample", "sample", "partition", "join"]
    assert (
        seen[-1][0].pairs
        == len(written(tmp_path / "out"))
        == len(bp.pairs(scenes.make("long_walls", 250, 2)))
    )
    assert names_in(tmp_path) == ["a.parquet", "out"]
