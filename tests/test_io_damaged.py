"""Damaged files of every format: boxes, or one line that says what is wrong, and never anything else."""

import contextlib
import io
import json
import struct
import subprocess
import sys
from functools import cache
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from cases import examples
from hypothesis import given, settings
from hypothesis import strategies as st
from io_helpers import BOXES, BOXES_3D, any_file, message, swapped, written
from pyarrow import feather, parquet

from broadphase.cli import run
from broadphase.errors import FileError
from broadphase.files import read_boxes

pytestmark = pytest.mark.smaller_set

ENDINGS = ["csv", "tsv", "npy", "parquet", "arrow", "feather", "geojson", "json"]


def as_csv(boxes, delimiter=","):
    names = [f"{end}_{axis}" for end in ("min", "max") for axis in "xyz"[: boxes.shape[1] // 2]]
    rows = [["id", *names, "note"], *([f"k{k}", *box, '"a\nb"'] for k, box in enumerate(boxes.tolist()))]
    return "\n".join(delimiter.join(map(str, row)) for row in rows).encode()


def as_geojson(boxes):
    features = [
        {
            "type": "Feature",
            "id": f"k{k}",
            "properties": {"id": k},
            "geometry": {"type": "MultiPoint", "coordinates": [box[:2], box[-2:]]},
        }
        for k, box in enumerate(boxes.tolist())
    ]
    bag = {"type": "GeometryCollection", "geometries": [f["geometry"] for f in features]}
    features.append({"type": "Feature", "id": 5, "properties": None, "geometry": bag})
    return json.dumps({"type": "FeatureCollection", "features": features}).encode()


def as_table(boxes):
    bbox = [dict(zip(["xmin", "ymin", "xmax", "ymax"], box, strict=True)) for box in boxes.tolist()]
    ids = pa.array([f"k{k}" for k in range(len(boxes))])
    return pa.table({"id": ids, "bbox": bbox, "kind": ids.dictionary_encode(), "note": [b"\xff", None, b""]})


def in_memory(write):
    file = io.BytesIO()
    write(file)
    return file.getvalue()


def stream(file, table):
    with pa.ipc.new_stream(file, table.schema) as writer:
        writer.write_table(table)


@cache
def sound_files():
    table = as_table(BOXES)
    return [
        as_csv(BOXES),
        as_csv(BOXES_3D, "\t"),
        b"1;2;3;4\n5;6;7;8\n",
        as_geojson(BOXES),
        in_memory(lambda file: np.save(file, BOXES)),
        in_memory(lambda file: np.save(file, BOXES_3D.astype(np.float32))),
        in_memory(lambda file: parquet.write_table(table, file)),
        in_memory(lambda file: feather.write_feather(table, file, compression="zstd")),
        in_memory(lambda file: feather.write_feather(table, file, compression="uncompressed")),
        in_memory(lambda file: stream(file, table)),
    ]


HARMS = ["flip", "flip", "byte", "byte", "cut", "drop", "double", "other", "wide"]


@st.composite
def damaged(draw):
    data = bytearray(draw(st.sampled_from(sound_files())))
    for _ in range(draw(st.integers(0, 4))):
        at = draw(st.integers(0, max(0, len(data) - 1)))
        end = min(len(data), at + draw(st.sampled_from([1, 1, 2, 4, 8, 60])))
        harm = draw(st.sampled_from(HARMS))
        if harm == "flip" and at < len(data):
            data[at] ^= 1 << draw(st.integers(0, 7))
        elif harm == "byte" and at < len(data):
            data[at] = draw(st.sampled_from(b"\0\xff\x80\"'{}[](),:;\t\r\n -+0123456789eEnTx_"))
        elif harm == "cut":
            del data[at:]
        elif harm == "drop":
            del data[at:end]
        elif harm == "double":
            data[at:at] = data[at:end] * draw(st.sampled_from([1, 1, 3, 300]))
        elif harm == "other":
            data[at:end] = draw(st.binary(max_size=12))
        else:
            data[at : at + 8] = struct.pack("<q", draw(st.sampled_from([-1, 2**31, 2**62, -(2**63)])))
    return bytes(data)


def read_or_refused(path: Path):
    try:
        table = read_boxes(path)
    except FileError as error:
        text = str(error)
        assert text.isprintable()  # so it is one line
        assert text.startswith(str(path))
        return None
    boxes, ids = table
    assert boxes.ndim == 2
    assert boxes.shape[1] in (4, 6)
    assert boxes.dtype in (np.float32, np.float64)
    assert (boxes[:, : boxes.shape[1] // 2] <= boxes[:, boxes.shape[1] // 2 :]).all()
    assert ids is None or ids.shape == (len(boxes),)
    return table


def test_sound_files_are_read(tmp_path):
    endings = ["csv", "tsv", "csv", "geojson", "npy", "npy", "parquet", "feather", "arrow", "arrow"]
    for data, ending in zip(sound_files(), endings, strict=True):
        (tmp_path / f"a.{ending}").write_bytes(data)
        assert read_or_refused(tmp_path / f"a.{ending}") is not None


@pytest.mark.parametrize("ending", ENDINGS)
@any_file
@given(data=damaged())
def test_any_damage(tmp_path, ending, data):
    path = tmp_path / f"a.{ending}"
    path.write_bytes(data)
    read_or_refused(path)


@pytest.mark.parametrize(
    "read",
    [
        "from broadphase.files import read_boxes as read",
        "from broadphase.outofcore import count_pairs as read",
    ],
)
def test_a_damaged_column_does_not_end_the_process(read):
    """In a process of its own: reading the sizes of its columns made pyarrow end the process."""
    path = Path(__file__).with_name("data") / "damaged_column.parquet"
    code = f"""import sys
from broadphase.errors import FileError
{read}
try:
    read(sys.argv[1])
except FileError as error:
    print(error)"""
    done = subprocess.run([sys.executable, "-c", code, str(path)], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith(f"{path}: is no Parquet file that can be read: ")
    command = [sys.executable, "-m", "broadphase", "pairs", str(path), "--count"]
    assert subprocess.run(command, capture_output=True).returncode == 2


KEYS = ["type", "features", "geometry", "geometries", "coordinates", "id", "properties"]
WORDS = ["Point", "Polygon", "Feature", "FeatureCollection", "GeometryCollection"]
plain = st.none() | st.booleans() | st.integers() | st.floats() | st.text(st.characters(), max_size=5)
values = st.recursive(
    plain | st.sampled_from(WORDS),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(KEYS), inner, max_size=4),
    max_leaves=12,
)


@any_file
@given(st.data())
def test_geojson_of_odd_types(tmp_path, data):
    document = swapped(data.draw, json.loads(as_geojson(BOXES[:2])), values, 14)
    path = tmp_path / "a.geojson"
    path.write_text(json.dumps(document))
    table = read_or_refused(path)
    if table is not None and table.ids is not None:
        " ".join(map(str, table.ids)).encode()


LITERALS = ["0", "3", "-1", "True", "None", "1.5", "2**9", "()", "(3, 4)", "(3,)", "'<f8'", "'O'", "[]", "{}"]
LITERALS += ["-" * 5000 + "1", "'f8,f8'", "[('a', '<f8')]", "(", "'", "3, 4", "\0", "(-1, 4)", "(2**40, 4)"]


@any_file
@given(st.data())
def test_headers_of_npy_of_odd_types(tmp_path, data):
    literal = st.sampled_from(LITERALS)
    fields = {"descr": "'<f8'", "fortran_order": "False", "shape": "(3, 4)"}
    for key in data.draw(st.sets(st.sampled_from(sorted(fields)))):
        fields[key] = data.draw(literal)
    header = "{" + ", ".join(f"'{key}': {value}" for key, value in fields.items()) + "}"
    size = struct.pack("<H", len(header) + data.draw(st.sampled_from([0, 0, 0, -1, 5, 300])))
    path = tmp_path / "a.npy"
    path.write_bytes(b"\x93NUMPY\x01\x00" + size + header.encode() + BOXES.tobytes())
    read_or_refused(path)


@pytest.mark.parametrize("ending", ["csv", "npy", "parquet", "arrow", "geojson"])
@settings(any_file, max_examples=examples(60))
@given(data=damaged())
def test_the_command_says_it_in_one_line(tmp_path, ending, data):
    path = tmp_path / f"a.{ending}"
    path.write_bytes(data)
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        code = run(["pairs", str(path), "--count", "--method", "brute_force"])
    if read_or_refused(path) is None:
        assert code == 2
        assert err.getvalue().startswith(f"broadphase: {path}")
        assert len(err.getvalue().splitlines()) == 1
    else:
        assert (code, err.getvalue()) == (0, "")


def test_an_edge_beyond_the_range_of_numbers(tmp_path):
    path = written(tmp_path, "a.csv", "x,y,w,h\n1,2,3,4\n1e308,0,1e308,1\n")
    wrong = "column x = 1e+308 and w = 1e+308 give no upper edge; use min and max columns"
    assert message(path) == f"row 1, {wrong}"
    path = written(tmp_path, "a.geojson", '{"type": "Point", "coordinates": [1, 1e999]}')
    assert message(path) == "feature 0 has [1, Infinity] where a position [x, y] belongs"


def test_half_a_character_is_no_id(tmp_path):
    features = [{"type": "Feature", "id": own, "geometry": None} for own in ("a", "\ud800")]
    for feature in features:
        feature["geometry"] = {"type": "Point", "coordinates": [1, 2]}
    text = json.dumps({"type": "FeatureCollection", "features": features})
    assert "feature 1 has the id" in message(written(tmp_path, "a.geojson", text))


def test_names_with_line_breaks_stay_on_the_line(tmp_path):
    path = written(tmp_path, "a.csv", '"min\nx",min_y,max_x,max_y\nabc,2,3,4\n')
    assert message(path) == r"row 0, column min\nx: 'abc' is not a number"


def test_offsets_that_lead_outside_the_file(tmp_path):
    data = bytearray(in_memory(lambda file: stream(file, as_table(BOXES))))
    at = data.rindex(struct.pack("<4i", 0, 2, 4, 6))  # where each id begins
    data[at + 8 : at + 12] = struct.pack("<i", 2**30)
    (tmp_path / "a.arrow").write_bytes(data)
    assert message(tmp_path / "a.arrow").startswith("is no Arrow file that can be read: ")


def test_reading_leaves_the_recursion_limit_alone(tmp_path):
    before = sys.getrecursionlimit()
    depth = 900
    own = "[" * depth + "]" * depth
    text = '{"type":"Feature","id":' + own + ',"geometry":{"type":"Point","coordinates":[1,2]}}'
    read_or_refused(written(tmp_path, "a.json", text))
    assert sys.getrecursionlimit() == before
