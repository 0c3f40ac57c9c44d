"""Tiled maps as tile maps: in both formats, in every packing, in several files, with shapes of tiles."""

import base64
import gzip
import json
import re
import struct
import zlib
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest
import zstandard
from tiled_helpers import DATA, as_tmj, as_tmx, written

from broadphase import Box, TileMap
from broadphase.adapters.tiled import load
from broadphase.errors import FileError
from broadphase.io.tiled.maps import read_map
from broadphase.world.tiles import TileMap as Base

DUNGEON = """
    #....#
    #..#.#
    #--..#
    ######
"""


def picture(tiles):
    def cell(column, row):
        return "#" if tiles.is_solid(column, row) else ".-"[bool(tiles.one_way_sides(column, row))]

    return ["".join(cell(column, row) for column in range(tiles.columns)) for row in range(tiles.rows)]


@pytest.mark.parametrize("name", ["dungeon.tmx", "dungeon.tmj"])
def test_the_properties_say_what_is_solid(name):
    tiles = TileMap.from_tiled(DATA / name)
    assert picture(tiles) == DUNGEON.split()
    assert (tiles.tile_size, tiles.origin) == ((16, 24), (0, 0))
    assert tiles.one_way_sides(1, 2) == ("top",)
    tiles.set(0, 0, False)
    assert not tiles.is_solid(0, 0)


@pytest.mark.parametrize("name", ["dungeon.tmx", "dungeon.tmj"])
def test_layers_by_name(name):
    tiles = TileMap.from_tiled(str(DATA / name), layers=["walls"])
    assert picture(tiles) == ["......", "...#..", "....#.", "......"]
    both = TileMap.from_tiled(DATA / name, layers=("walls", "ground"), one_way="nothing")
    assert both.solid.all()
    assert both.one_way is None
    with pytest.raises(ValueError, match="has no tile layer 'sky'; it has 'ground', 'walls'"):
        TileMap.from_tiled(DATA / name, layers=["sky"])


@pytest.mark.parametrize("name", ["dungeon.tmx", "dungeon.tmj"])
def test_turned_over(name):
    tiles = TileMap.from_tiled(DATA / name, y_up=True)
    assert picture(tiles) == DUNGEON.split()[::-1]
    assert tiles.one_way_sides(1, 1) == ("bottom",)  # the side of the larger y


def test_an_endless_map():
    tiles = TileMap.from_tiled(DATA / "endless.json")
    assert tiles.origin == (-32, -96)
    assert picture(tiles) == ["#.......", ".#......", "........", "........", "......--", "........"]
    assert tuple(tiles.tiles_in(Box(-14, -80, 10, 20))[0]) == (1, 1)
    over = TileMap.from_tiled(DATA / "endless.json", y_up=True)
    assert over.origin == (-32, -48)
    assert over.bounds_of(0, 5)[3] == 96


def test_a_class_of_its_own():
    class Level(Base):
        pass

    assert type(Level.from_tiled(DATA / "dungeon.tmx")) is Level


def changed(tmp_path, name, change):
    level = json.loads((DATA / name).read_text())
    change(level)
    file = tmp_path / "changed.tmj"
    file.write_text(json.dumps(level))
    return file


def test_errors_say_what_is_wrong(tmp_path):
    with pytest.raises(FileNotFoundError, match="no Tiled map at"):
        TileMap.from_tiled(tmp_path / "none.tmx")
    other = tmp_path / "level.xml"
    other.write_text("<map/>")
    with pytest.raises(ValueError, match=r"must end in \.tmx, \.tmj, \.json"):
        TileMap.from_tiled(other)
    with pytest.raises(ValueError, match=r"nothing in .* says what is solid.* it has 'ground', 'walls'"):
        TileMap.from_tiled(DATA / "dungeon.tmx", solid="hard", one_way="soft")
    staggered = changed(tmp_path, "dungeon.tmj", lambda level: level.update(orientation="staggered"))
    with pytest.raises(ValueError, match=r"is staggered, so its tiles are no grid; .*tiled\.load makes"):
        TileMap.from_tiled(staggered)

    def rename_side(level):
        level["tilesets"][0]["tiles"][1]["properties"][0]["value"] = "above"

    with pytest.raises(ValueError, match=r"changed\.tmj: .* tile 2 has the unknown side 'above'"):
        TileMap.from_tiled(changed(tmp_path, "dungeon.tmj", rename_side))


def test_an_endless_tmx(tmp_path):
    text = (DATA / "dungeon.tmx").read_text().replace('infinite="0"', 'infinite="1"')
    chunk = '<data encoding="csv"><chunk x="-2" y="5" width="6" height="4">'
    text = text.replace('<data encoding="csv">', chunk).replace("</data>", "</chunk></data>")
    file = tmp_path / "endless.tmx"
    file.write_text(text)
    tiles = TileMap.from_tiled(file)
    assert picture(tiles) == DUNGEON.split()
    assert tiles.origin == (-32, 120)


PACKINGS = {"": bytes, "zlib": zlib.compress, "gzip": gzip.compress, "zstd": zstandard.compress}


def packed(numbers, packing):
    return base64.b64encode(PACKINGS[packing](struct.pack(f"<{len(numbers)}I", *numbers))).decode()


def numbers_of(data):
    return [int(number) for number in data.text.split(",")]


def same_as_plain(path):
    """Read the map, which must be the small dungeon."""
    plain, level = read_map(DATA / "dungeon.tmx"), read_map(path)
    assert [layer.name for layer in level.layers] == ["ground", "walls"]
    for one, other in zip(plain.layers, level.layers, strict=True):
        assert np.array_equal(one.cells, other.cells)
        assert one.properties == other.properties
    said = {number: (tile.properties, bool(tile.shapes)) for number, tile in level.tiles.items()}
    assert said == {2: ({"solid": True}, False), 3: ({"one_way": "top"}, False), 4: ({"solid": False}, False)}


@pytest.mark.parametrize("packing", PACKINGS)
def test_packed_layers(tmp_path, packing):
    def pack_xml(root):
        for data in root.iter("data"):
            text = f"\n   {packed(numbers_of(data), packing)}\n  "
            data.attrib.update(encoding="base64", compression=packing)
            data.text = text

    def pack_json(level):
        for layer in (level["layers"][0], level["layers"][1]["layers"][0]):
            layer.update(data=packed(layer["data"], packing), encoding="base64", compression=packing)

    same_as_plain(written(tmp_path, "a.tmx", as_tmx(pack_xml)))
    same_as_plain(written(tmp_path, "a.tmj", as_tmj(pack_json)))


@pytest.mark.parametrize("name", ["dungeon.tmx", "dungeon.tmj"])
def test_a_byte_order_mark(tmp_path, name):
    same_as_plain(written(tmp_path, name, b"\xef\xbb\xbf" + (DATA / name).read_bytes()))


def test_maps_that_come_with_arcade():
    arcade = pytest.importorskip("arcade")
    maps = 0
    for path in sorted(Path(arcade.__file__).parent.glob("resources/assets/tiled_maps/*.json")):
        document = json.loads(path.read_text())
        if document["type"] == "tileset":
            with pytest.raises(FileError, match=rf"{path.name} is a tileset, not a map; read the map that"):
                TileMap.from_tiled(path)
            continue
        there = [layer for layer in document["layers"] if layer["type"] == "tilelayer"]
        level = read_map(path)
        assert [layer.name for layer in level.layers] == [layer["name"] for layer in there]
        for ours, raw in zip(level.layers, there, strict=True):
            assert ours.cells.shape == (raw["height"], raw["width"])
            if isinstance(raw["data"], list):
                assert np.array_equal(ours.cells.ravel(), raw["data"])
        maps += 1
    assert maps >= 14


@pytest.mark.parametrize("kind", ["tsx", "tsj"])
def test_tilesets_of_their_own(tmp_path, kind):
    (tmp_path / "sets").mkdir()
    if kind == "tsx":
        tileset = ElementTree.parse(DATA / "dungeon.tmx").getroot().find("tileset")
        del tileset.attrib["firstgid"]
        data = ElementTree.tostring(tileset)
    else:
        tileset = json.loads((DATA / "dungeon.tmj").read_text())["tilesets"][0]
        del tileset["firstgid"]
        data = json.dumps({**tileset, "type": "tileset"}).encode()
    own = written(tmp_path, f"sets/stones.{kind}", data)

    def to_source(level):
        level["tilesets"] = [{"firstgid": 1, "source": f"sets/stones.{kind}"}]

    def to_source_xml(root):
        root.remove(root.find("tileset"))
        root.insert(0, ElementTree.Element("tileset", firstgid="1", source=f"sets/stones.{kind}"))

    paths = [
        written(tmp_path, "a.tmj", as_tmj(to_source)),
        written(tmp_path, "a.tmx", as_tmx(to_source_xml)),
    ]
    for path in paths:
        same_as_plain(path)
    for name in ("own.json", "own.tmj", "own.tmx"):
        with pytest.raises(FileError, match=rf"{name} is a tileset, not a map; read the map that uses it"):
            TileMap.from_tiled(written(tmp_path, name, data))
    for path in paths:
        where = re.escape(str(path))
        own.write_bytes(as_tmj())
        with pytest.raises(
            FileError,
            match=rf"^{where}: .*stones\.{kind} is no Tiled tileset but of type 'map'",
        ):
            TileMap.from_tiled(path)
        own.write_bytes(b"<tileset")
        with pytest.raises(FileError, match=rf"^{where}: .*stones\.{kind} is not XML"):
            TileMap.from_tiled(path)
    own.unlink()
    for path in paths:
        where = re.escape(str(path))
        with pytest.raises(FileError, match=rf"^{where}: .*stones\.{kind} is not there"):
            TileMap.from_tiled(path)


@pytest.mark.parametrize("source", [":/automap-tiles.tsx", "qrc:/automap-tiles.tsx"])
@pytest.mark.parametrize("read", [TileMap.from_tiled, load])
def test_tilesets_of_tiled_itself_give_a_warning(tmp_path, source, read):
    """Those of its rules for automapping: no file, and the map is sound without."""

    def add(level):
        level["tilesets"].append({"firstgid": 100, "source": source})
        level["layers"][0]["data"][3] = 101

    def add_xml(root):
        root.insert(1, ElementTree.Element("tileset", firstgid="100", source=source))

    for name, data in (("a.tmj", as_tmj(add)), ("a.tmx", as_tmx(add_xml))):
        path = written(tmp_path, name, data)
        with pytest.warns(
            UserWarning, match=rf"{name}: the tileset '{source}' is a part of Tiled and no file"
        ):
            level = read(path)
        plain = TileMap.from_tiled(DATA / "dungeon.tmx")
        assert np.array_equal(getattr(level, "tiles", level).solid, plain.solid)


def test_words_that_are_not_looked_at(tmp_path):
    """A property of a class of one's own, a text of several lines."""

    def change(root):
        words = root.find("layer[@name='walls']/properties")
        ElementTree.SubElement(words, "property", name="mood", type="class", propertytype="Mood")
        ElementTree.SubElement(words, "property", name="note").text = "two\nlines"

    level = read_map(written(tmp_path, "a.tmx", as_tmx(change)))
    assert level.layers[1].properties == {"solid": True, "mood": "", "note": "two\nlines"}


def offset_along_x(root):
    root.find("layer").set("offsetx", "4.5")


def image_layer_without_image(root):
    ElementTree.SubElement(root, "imagelayer", id="9", name="sky")


def flat_object(root):
    root.find("objectgroup/object").attrib.pop("height")


def template_in_json(root):
    root.find("objectgroup/object").set("template", "a.tj")


def colour_left_empty(root):
    words = ElementTree.SubElement(root, "properties")
    ElementTree.SubElement(words, "property", name="tint", type="color", value="")


def elements(root):
    for data in root.iter("data"):
        numbers, data.text = numbers_of(data), "\n"
        del data.attrib["encoding"]
        for number in numbers:
            ElementTree.SubElement(data, "tile", gid=str(number))


def endless_and_empty(root):
    root.set("infinite", "1")
    root.find("layer/data").text = "\n"


def no_version(root):
    for key in ("tiledversion", "version", "nextlayerid", "nextobjectid", "infinite", "renderorder"):
        del root.attrib[key]


SOUND = [
    offset_along_x,
    image_layer_without_image,
    flat_object,
    template_in_json,
    colour_left_empty,
    elements,
    no_version,
]


@pytest.mark.parametrize("change", SOUND)
def test_sound_maps_that_pytiled_parser_refuses(tmp_path, change):
    parser = pytest.importorskip("pytiled_parser")
    written(tmp_path, "a.tj", b'{"type": "template", "object": {"width": 3, "height": 4}}')
    path = written(tmp_path, "a.tmx", as_tmx(change))
    with pytest.raises((KeyError, ValueError, RuntimeError, NotImplementedError)):
        parser.parse_map(path)
    same_as_plain(path)


def test_an_endless_layer_without_tiles(tmp_path):
    level = read_map(written(tmp_path, "a.tmx", as_tmx(endless_and_empty)))
    assert level.layers[0].cells.size == 0


def test_the_document_type_of_old_maps(tmp_path):
    head = b'<?xml version="1.0"?>\n<!DOCTYPE map SYSTEM "http://mapeditor.org/dtd/1.0/map.dtd">\n'
    same_as_plain(written(tmp_path, "a.tmx", head + as_tmx()))


def test_a_first_line_that_is_empty(tmp_path):
    same_as_plain(written(tmp_path, "a.tmj", b"\n" + as_tmj()))


def test_an_empty_endless_map(tmp_path):
    def change(level):
        level["infinite"] = True
        for layer in (level["layers"][0], level["layers"][1]["layers"][0]):
            del layer["data"]
            layer["chunks"] = []

    def change_xml(root):
        root.set("infinite", "1")
        for data in root.iter("data"):
            data.text = "\n"
            data.set("encoding", "base64")

    for path in (
        written(tmp_path, "a.tmj", as_tmj(change)),
        written(tmp_path, "a.tmx", as_tmx(change_xml)),
    ):
        tiles = TileMap.from_tiled(path)
        assert (tiles.columns, tiles.rows) == (0, 0)
