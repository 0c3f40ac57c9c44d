"""Damaged Tiled files: one error that names file, element and value, and never anything else."""

import base64
import gzip
import json
import re
import sys
import tracemalloc
import zlib
from xml.etree import ElementTree

import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st
from io_helpers import any_file, swapped
from tiled_helpers import DATA, ENDINGS, as_tmj, as_tmx, written

from broadphase import TileMap
from broadphase.adapters.tiled import load
from broadphase.errors import FileError, MissingExtraError
from broadphase.io.tiled.maps import Budget


def damage(*path, value):
    def change(level):
        for key in path[:-1]:
            level = level[key]
        if value is None:
            del level[path[-1]]
        else:
            level[path[-1]] = value

    return as_tmj(change)


@pytest.mark.parametrize(
    ("data", "wrong"),
    [
        (b"", " is empty$"),
        (b"\n \n", " is empty$"),
        (b"[1, 2]", " is no Tiled map but of type 'list'"),
        (b"{}", " has no 'orientation'"),
        (b'{"type": "world"}', " is no Tiled map but of type 'world'"),
        (b"nul", " is not JSON: Expecting value"),
        (b"\xff{", " is no text in UTF-8"),
        (b"<map", " is not XML: unclosed token"),
        (b"<template/>", " is no Tiled map but of type 'template'"),
        (b'<map orientation="orthogonal" tilewidth="16"/>', " has no 'tileheight'"),
        (
            damage("tilewidth", value=0),
            " has tilewidth = 0, where a whole number from 1 to 2147483647 belongs",
        ),
        (
            damage("orientation", value="cubic"),
            " has the orientation 'cubic'; those that can be read are orthogonal, oblique, isometric",
        ),
        (damage("properties", value={"a": 1}), " is in the JSON of Tiled before 1.2; save it again"),
        (
            damage("tilesets", 0, "tiles", value={"0": {}}),
            ": tileset 'stones' is in the JSON of Tiled before",
        ),
        (damage("layers", 0, "properties", value={}), ": layer 'ground' is in the JSON of Tiled before 1.2"),
        (
            as_tmj(
                lambda level: level["tilesets"][0].update(tiles=None, tileproperties={"0": {"solid": True}})
            ),
            ": tileset 'stones' is in the JSON of Tiled before 1.2",
        ),
        (damage("tilesets", value=7), " has tilesets = 7, where a list belongs"),
        (damage("tilesets", 0, "firstgid", value=None), ": tileset 'stones' has no 'firstgid'"),
        (damage("tilesets", 0, "name", value=None), ": tileset has no 'name'"),
        (
            damage("tilesets", 0, "firstgid", value="1"),
            ": tileset 'stones' has firstgid = '1', where a",
        ),
        (
            damage("tilesets", 0, "tiles", 1, "id", value="b"),
            ": tileset 'stones', a tile has id = 'b', where a whole number from 0",
        ),
        (
            damage("tilesets", 0, "tiles", 1, value=8),
            ": tileset 'stones', tile 8 has a value of a wrong",
        ),
        (
            damage("tilesets", 0, "tiles", 1, "id", value=None),
            ": tileset 'stones', a tile has no 'id'",
        ),
        (damage("tilewidth", value=2**31), " has tilewidth = 2147483648, where a whole number from 1 to 2"),
        (damage("layers", 0, value=5), ": layer 5 has a value of a wrong type"),
        (damage("layers", 0, "type", value=None), ": layer 'ground' has no 'type'"),
        (damage("layers", 0, "type", value="x"), ": layer 'ground' has the unknown type 'x'"),
        (damage("layers", 0, "name", value=7), ": layer 7 has a name that is no text"),
        (damage("layers", 0, "width", value=0), ": layer 'ground' has 24 tiles, where 0 x 4"),
        (damage("layers", 0, "data", value=None), ": layer 'ground' has no 'data'"),
        (damage("layers", 0, "data", value=[1, 2]), ": layer 'ground' has 2 tiles, where 6 x 4 belong"),
        (damage("layers", 0, "data", 3, value="x"), ": layer 'ground' has 'x', where the number of a tile"),
        (damage("layers", 0, "data", 3, value=-1), ": layer 'ground' has -1, where the number of a tile"),
        (
            damage("layers", 1, "layers", 0, "width", value=-6),
            ": layer 'group', layer 'walls' has width = -6, where a whole number from 0",
        ),
        (
            damage("layers", 1, "layers", 0, "properties", 0, "name", value=None),
            ": layer 'group', layer 'walls', property has no 'name'",
        ),
        (
            damage("layers", 1, "layers", 0, "properties", 0, "value", value="yes"),
            ": layer 'group', layer 'walls' has solid = 'yes'; make it a property of type bool",
        ),
    ],
)
def test_a_damaged_map_names_the_element(tmp_path, data, wrong):
    path = written(tmp_path, "a.tmj", data)
    with pytest.raises(FileError, match=f"^{re.escape(str(path))}{wrong}"):
        TileMap.from_tiled(path)


@pytest.mark.parametrize(
    ("element", "key", "value", "wrong"),
    [
        (".", "tilewidth", None, " has no 'tilewidth'"),
        ("layer", "width", "x", r": layer 'ground' has width = 'x', where a whole number"),
        ("layer/data", "encoding", "base64", ": layer 'ground' has data that is not base64"),
        ("tileset/tile", "id", None, ": tileset 'stones', a tile has no 'id'"),
        ("tileset/tile", "id", "q", ": tileset 'stones', a tile has id = 'q', where a whole number"),
        (
            "tileset/tile/properties/property",
            "type",
            "int",
            ": tileset 'stones', tile 1, property 'solid' has 'true', where a whole number belongs",
        ),
        (
            "tileset/tile/properties/property",
            "name",
            None,
            ": tileset 'stones', tile 1, property has no 'name'",
        ),
        ("objectgroup/object", "x", None, ": layer 'things', object 1 has no 'x'"),
        ("objectgroup/object", "template", "no.tx", r": layer 'things', object 1: .*no\.tx is not there"),
    ],
)
def test_a_damaged_tmx_names_the_element(tmp_path, element, key, value, wrong):
    def change(root):
        attributes = root.find(element).attrib
        attributes.pop(key, None)
        if value is not None:
            attributes[key] = value

    path = written(tmp_path, "a.tmx", as_tmx(change))
    with pytest.raises(FileError, match=f"^{re.escape(str(path))}{wrong}"):
        TileMap.from_tiled(path)


def test_a_layer_without_text(tmp_path):
    def change(root):
        root.find("layer/data").text = None

    with pytest.raises(FileError, match=r"a\.tmx: layer 'ground' has 0 tiles, where 6 x 4 belong"):
        TileMap.from_tiled(written(tmp_path, "a.tmx", as_tmx(change)))


def test_chunks_too_far_apart(tmp_path):
    level = json.loads((DATA / "endless.json").read_text())
    level["layers"][0]["chunks"][0]["x"] = 10**9
    path = written(tmp_path, "a.json", json.dumps(level).encode())
    with pytest.raises(FileError, match=r"layer '.*': its chunks lie too far apart"):
        TileMap.from_tiled(path)


def test_layers_too_far_apart(tmp_path):
    level = json.loads((DATA / "endless.json").read_text())
    chunk = level["layers"][0]["chunks"][0]
    level["layers"].append({**level["layers"][0], "name": "far", "chunks": [{**chunk, "x": 10**9}]})
    path = written(tmp_path, "a.json", json.dumps(level).encode())
    with pytest.raises(FileError, match=r"a\.json: its layers lie too far apart"):
        TileMap.from_tiled(path)
    assert TileMap.from_tiled(path, layers=["far"]).origin[0] == 16 * 10**9


def packed(data, compression, size=(6, 4)):
    """The small dungeon whose ground is packed so."""

    def change(level):
        level["layers"][0].update(
            data=base64.b64encode(data).decode(),
            encoding="base64",
            compression=compression,
            width=size[0],
            height=size[1],
        )

    return as_tmj(change)


def test_without_zstandard_the_extra_is_named(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "zstandard", None)
    monkeypatch.setitem(sys.modules, "compression.zstd", None)
    path = written(tmp_path, "a.tmj", packed(b"abcd", "zstd"))
    with pytest.raises(MissingExtraError, match=r"layer 'ground' is packed with zstd; in Tiled, .*\[tiled\]"):
        TileMap.from_tiled(path)


@pytest.mark.parametrize(
    ("data", "compression", "wrong"),
    [
        (b"abcd", "", "has 4 bytes packed, where 96 bytes"),
        (b"abcd", "zlib", "cannot be unpacked: Error -3"),
        (b"abcd", "gzip", "cannot be unpacked: Error -3"),
        (b"abcd", "zstd", "cannot be unpacked: zstd"),
        (b"abcd", "lzma", "has the unknown compression 'lzma'; in Tiled"),
        (zlib.compress(bytes(96))[:-5], "zlib", "cannot be unpacked: it ends too soon"),
        (zlib.compress(bytes(100)), "zlib", "has more packed, where 96 bytes"),
        (zlib.compress(bytes(92)), "zlib", "has 92 bytes packed, where 96 bytes"),
    ],
)
def test_what_is_packed_wrong(tmp_path, data, compression, wrong):
    path = written(tmp_path, "a.tmj", packed(data, compression))
    with pytest.raises(FileError, match=f"^{re.escape(str(path))}: layer 'ground' {wrong}"):
        TileMap.from_tiled(path)


@pytest.mark.parametrize("compression", ["zlib", "gzip", "zstd"])
def test_a_small_file_can_not_fill_memory(tmp_path, compression):
    """What is packed says 64 MB where 96 bytes belong: no more than these and one are unpacked."""
    pack = {"zlib": zlib.compress, "gzip": gzip.compress, "zstd": zstandard.compress}[compression]
    path = written(tmp_path, "a.tmj", packed(pack(bytes(2**26)), compression))
    tracemalloc.start()
    try:
        with pytest.raises(FileError, match="has more packed, where 96 bytes"):
            TileMap.from_tiled(path)
        assert tracemalloc.get_traced_memory()[1] < 2**23
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("size", [(2**31 - 1, 2**31 - 1), (2**15, 2**14)])
def test_a_map_that_says_it_is_vast_is_refused_before_it_is_unpacked(tmp_path, size):
    path = written(tmp_path, "a.tmj", packed(zlib.compress(bytes(100)), "zlib", size=size))
    with pytest.raises(FileError, match=r"layer 'ground' is too large, .* 268,435,456 tiles are the limit"):
        TileMap.from_tiled(path)


@pytest.mark.parametrize("name", ["a.tmx", "a.tmj"])
def test_a_file_larger_than_any_map_is_refused_before_it_is_read(tmp_path, name):
    with (tmp_path / name).open("wb") as file:
        file.truncate(9 << 30)  # sparse: it takes no room
    with pytest.raises(FileError, match=r"has 9,663,676,416 bytes; the limit for a Tiled map is 1,073"):
        TileMap.from_tiled(tmp_path / name)


def test_layers_that_are_vast_together_are_refused():
    budget = Budget()
    budget.take(2**14, 2**14 - 1, "one")
    with pytest.raises(FileError, match=r"^another, 2 columns and 8193 rows; 268,435,456 tiles are"):
        budget.take(2, 2**13 + 1, "another")


ENTITIES = """<!DOCTYPE map [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;&a;&a;">]>"""


@pytest.mark.parametrize(
    "head",
    [
        ENTITIES,
        '<!DOCTYPE map [<!ENTITY a SYSTEM "file:///etc/hostname">]>',
        "<!DOCTYPE m [<!ENTITY % p 'x'>]>",
    ],
)
def test_entities_are_refused_where_they_are_declared(tmp_path, head):
    path = written(tmp_path, "a.tmx", head.encode() + as_tmx())
    with pytest.raises(FileError, match=r"^\S*a\.tmx declares the entity '[ap]', which no map of Tiled does"):
        TileMap.from_tiled(path)


@pytest.mark.parametrize(
    "source",
    [".", pytest.param("/dev/zero", marks=pytest.mark.skipif(sys.platform == "win32", reason="has none"))],
)
def test_what_is_no_file_is_not_opened(tmp_path, source):
    def change(level):
        level["tilesets"] = [{"firstgid": 1, "source": source}]

    with pytest.raises(FileError, match=r"a\.tmj: .* is no file"):
        TileMap.from_tiled(written(tmp_path, "a.tmj", as_tmj(change)))


def test_a_name_that_is_too_long_for_a_file(tmp_path):
    path = written(tmp_path, "a.tmj", damage("tilesets", value=[{"firstgid": 1, "source": "a" * 5_000}]))
    for read in (TileMap.from_tiled, load):
        with pytest.raises(FileError, match=rf"^{re.escape(str(path))}: .*a cannot be a file: "):
            read(path)


def test_solid_is_a_bool(tmp_path):
    def change(level):
        level["tilesets"][0]["tiles"][0]["properties"][0].update(type="string", value="false")

    def change_xml(root):
        root.find("tileset/tile/properties/property").attrib.update(type="string", value="false")

    for path in (
        written(tmp_path, "a.tmj", as_tmj(change)),
        written(tmp_path, "a.tmx", as_tmx(change_xml)),
    ):
        with pytest.raises(FileError, match=r"tile 1 has solid = 'false'; make it a property of type bool"):
            TileMap.from_tiled(path)


def read_or_refused(path):
    for read in (lambda: TileMap.from_tiled(path, shapes="fill"), lambda: load(path)):
        try:
            read()
        except ValueError as error:
            text = str(error)
            assert text.isprintable()
            assert str(path) in text


VALUES = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(),
    st.text(max_size=4),
    st.sampled_from([[], {}, [[]], [{}], "1", "tilelayer", "group", "AAAA", 10**400, "zlib", "base64"]),
)


@pytest.mark.parametrize("name", ["dungeon.tmj", "endless.json"])
@any_file
@given(st.data())
def test_values_of_odd_types(tmp_path, name, data):
    document = swapped(data.draw, json.loads((DATA / name).read_text()), VALUES, 24, 60)
    read_or_refused(written(tmp_path, name, json.dumps(document).encode()))


@any_file
@given(st.data())
def test_elements_of_odd_kinds(tmp_path, data):
    def change(root):
        everything = list(root.iter())
        for _ in range(data.draw(st.integers(1, 4))):
            element = data.draw(st.sampled_from(everything))
            key = data.draw(st.sampled_from(sorted(element.attrib) or ["x"]))
            harm = data.draw(st.sampled_from(["drop", "set", "text", "tag", "clear", "move"]))
            if harm == "drop":
                element.attrib.pop(key, None)
            elif harm == "set":
                element.set(
                    key, data.draw(st.sampled_from(["", "-1", "x", "1e9", "9" * 30, "base64", "nan"]))
                )
            elif harm == "text":
                element.text = data.draw(st.sampled_from(["", "1,2,", "a", "AAAA", "-5", "٣,4"]))
            elif harm == "tag":
                element.tag = data.draw(
                    st.sampled_from(["layer", "tile", "data", "chunk", "group", "property"])
                )
            elif harm == "clear":
                element.clear()
            elif element is not root:
                data.draw(st.sampled_from([root, *root])).append(
                    ElementTree.Element(element.tag, element.attrib)
                )

    read_or_refused(written(tmp_path, "a.tmx", as_tmx(change)))


@pytest.mark.parametrize("name", ["dungeon.tmx", "dungeon.tmj"])
@any_file
@given(at=st.integers(0, 2_000), byte=st.integers(0, 255), cut=st.booleans())
def test_bytes_that_are_wrong(tmp_path, name, at, byte, cut):
    content = bytearray((DATA / name).read_bytes())
    at = min(at, len(content) - 1)
    content[at:] = bytes([byte]) + (b"" if cut else content[at + 1 :])
    read_or_refused(written(tmp_path, name, bytes(content)))


@pytest.mark.parametrize("ending", ENDINGS)
def test_groups_nested_too_deeply(tmp_path, ending):
    depth = 50_000
    if ending == "tmx":
        data = b"<map>" + b"<group>" * depth + b"</group>" * depth + b"</map>"
    else:
        data = b'{"tilesets":[' * depth + b"]}" * depth
    with pytest.raises(FileError, match="is nested too deeply"):
        TileMap.from_tiled(written(tmp_path, f"a.{ending}", data))
