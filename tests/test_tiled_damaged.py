"""Damaged Tiled files: one error that names file, element and value, and never anything else."""

import json
import re
from importlib.util import find_spec
from xml.etree import ElementTree

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tiled_helpers import DATA, ENDINGS, as_tmj, as_tmx, written

from broadphase import TileMap
from broadphase.errors import FileError

pytest.importorskip("pytiled_parser")


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
        (b"", " is empty, or its first line is"),
        (b"[1, 2]", " is no Tiled map but of type 'list'"),
        (b"{}", " has no 'tilesets'"),
        (b'{"type": "world"}', " is no Tiled map but of type 'world'"),
        (b"nul", " is not JSON: Expecting value"),
        (b"\xff{", " is no text in UTF-8"),
        (b"<map", " is not XML: unclosed token"),
        (b"<template/>", " is no Tiled map but of type 'template'"),
        (b'<map orientation="orthogonal" tilewidth="16"/>', " has no 'infinite'"),
        (
            damage("tilewidth", value=0),
            " has tilewidth = 0, where a whole number from 1 to 2147483647 belongs",
        ),
        (damage("tilesets", value=7), " has a value of a wrong type: 'int' object is not iterable"),
        (damage("tilesets", 0, "firstgid", value=None), " has no 'firstgid'"),
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
        (damage("tilewidth", value=2**31), " has tilewidth = 2147483648, where a whole number from 1 to 2"),
        (damage("layers", 0, value=5), ": layer 5 has a value of a wrong type"),
        (damage("layers", 0, "type", value=None), ": layer 'ground' has no 'type'"),
        (damage("layers", 0, "type", value="x"), ": layer 'ground' cannot be read: .* type of x"),
        (damage("layers", 0, "name", value=7), ": layer 7 has a name that is no text"),
        (damage("layers", 0, "width", value=0), ": layer 'ground' cannot be read: integer modulo by zero"),
        (damage("layers", 0, "data", value=None), ": layer 'ground' has no 'data'"),
        (damage("layers", 0, "data", value=[1, 2]), ": layer 'ground' has 2 tiles, where 6 x 4 belong"),
        (damage("layers", 0, "data", 3, value="x"), ": layer 'ground' has 'x', where the number of a tile"),
        (damage("layers", 0, "data", 3, value=-1), ": layer 'ground' has -1, where the number of a tile"),
        (
            damage("layers", 1, "layers", 0, "width", value=-6),
            ": layer 'walls' has width = -6, where a whole number from 0",
        ),
        (
            damage("layers", 1, "layers", 0, "properties", 0, "type", value=None),
            ": layer 'group', layer 'walls', property 'solid' has no 'type'",
        ),
        (
            damage("layers", 1, "layers", 0, "properties", 0, "value", value="yes"),
            ": layer 'walls' has solid = 'yes'; make it a property of type bool",
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
        ("layer", "width", "x", r": layer 'ground' has a value that cannot be read: .* 'x'"),
        ("layer/data", "encoding", "base64", ": layer 'ground' has a value that cannot be read: .*base64"),
        ("tileset/tile", "id", "q", ": tileset 'stones', tile q has a value that cannot be read: .*'q'"),
        (
            "tileset/tile/properties/property",
            "type",
            "int",
            ": tileset 'stones', tile 1, property 'solid' has a value that cannot be read: .*'true'",
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
    with pytest.raises(FileError, match=f"^{re.escape(str(path))}{wrong}") as caught:
        TileMap.from_tiled(path)
    assert caught.value.__cause__ is not None


def test_a_layer_without_text(tmp_path):
    def change(root):
        root.find("layer/data").text = None

    with pytest.raises(FileError, match=r"a\.tmx: layer 'ground' is empty where something belongs"):
        TileMap.from_tiled(written(tmp_path, "a.tmx", as_tmx(change)))


def test_chunks_that_lie_too_far_apart(tmp_path):
    level = json.loads((DATA / "endless.json").read_text())
    level["layers"][0]["chunks"][0]["x"] = 10**9
    path = written(tmp_path, "a.json", json.dumps(level).encode())
    with pytest.raises(FileError, match=r"layer '.*': its chunks lie too far apart"):
        TileMap.from_tiled(path)


def test_layers_that_lie_too_far_apart(tmp_path):
    level = json.loads((DATA / "endless.json").read_text())
    chunk = level["layers"][0]["chunks"][0]
    level["layers"].append({**level["layers"][0], "name": "far", "chunks": [{**chunk, "x": 10**9}]})
    path = written(tmp_path, "a.json", json.dumps(level).encode())
    with pytest.raises(FileError, match=r"a\.json: its layers lie too far apart"):
        TileMap.from_tiled(path)
    assert TileMap.from_tiled(path, layers=["far"]).origin[0] == 16 * 10**9


@pytest.mark.skipif(find_spec("zstd") is not None, reason="zstd can be read here")
def test_an_unknown_packing_names_the_way_out(tmp_path):
    def change(level):
        level["layers"][0].update(data="AAAA", encoding="base64", compression="zstd")

    with pytest.raises(FileError, match=r"layer 'ground' has a .*zstd .* use 'pip install pytiled-parser"):
        TileMap.from_tiled(written(tmp_path, "a.tmj", as_tmj(change)))


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
    try:
        return TileMap.from_tiled(path, shapes="fill")
    except ValueError as error:
        text = str(error)
        assert text.isprintable()
        assert str(path) in text
        return None


any_file = settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
VALUES = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(),
    st.text(max_size=4),
    st.sampled_from([[], {}, [[]], [{}], "1", "tilelayer", "group", "AAAA", 10**400, "zlib", "base64"]),
)


def swapped(draw, value):
    """The document with some values of any other type, and some left out."""
    if draw(st.integers(0, 24)) == 0:
        return draw(VALUES)
    if isinstance(value, dict):
        kept = {key: inner for key, inner in value.items() if draw(st.integers(0, 60))}
        return {key: swapped(draw, inner) for key, inner in kept.items()}
    if isinstance(value, list):
        return [swapped(draw, inner) for inner in value] if len(value) < 10 else value
    return value


@pytest.mark.parametrize("name", ["dungeon.tmj", "endless.json"])
@any_file
@given(st.data())
def test_values_of_odd_types(tmp_path, name, data):
    document = swapped(data.draw, json.loads((DATA / name).read_text()))
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
