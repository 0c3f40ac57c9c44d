"""Tiled's files in every packing, in several files, and tiles with shapes of their own."""

import base64
import gzip
import json
import struct
import zlib
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest
from tiled_helpers import DATA, ENDINGS, as_tmj, as_tmx, written

from broadphase import TileMap
from broadphase.errors import FileError
from broadphase.files.tiled.maps import read_map

pytest.importorskip("pytiled_parser")

PACKINGS = {"": bytes, "zlib": zlib.compress, "gzip": gzip.compress}


def packed(numbers, packing):
    return base64.b64encode(PACKINGS[packing](struct.pack(f"<{len(numbers)}I", *numbers))).decode()


def numbers_of(data):
    return [int(number) for number in data.text.split(",")]


def same_as_plain(path):
    """Read the map, which must be the small dungeon."""
    plain, level = read_map(DATA / "dungeon.tmx"), read_map(path)
    assert [layer.name for layer in level.layers] == ["ground", "walls"]
    for one, other in zip(plain.layers, level.layers, strict=True):
        assert np.array_equal(one.numbers, other.numbers)
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
            assert ours.numbers.shape == (raw["height"], raw["width"])
            if isinstance(raw["data"], list):
                assert np.array_equal(ours.numbers.ravel(), np.array(raw["data"]) & 0x0FFFFFFF)
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
        own.write_bytes(as_tmj())
        with pytest.raises(
            FileError, match=rf"^{path}: .*stones\.{kind} is no Tiled tileset but of type 'map'"
        ):
            TileMap.from_tiled(path)
        own.write_bytes(b"<tileset")
        with pytest.raises(FileError, match=rf"^{path}: .*stones\.{kind} is not XML"):
            TileMap.from_tiled(path)
    own.unlink()
    for path in paths:
        with pytest.raises(FileError, match=rf"^{path}: .*stones\.{kind} is not there"):
            TileMap.from_tiled(path)


def test_words_that_are_not_looked_at(tmp_path):
    """A property of a class of one's own, a text of several lines."""

    def change(root):
        words = root.find("layer[@name='walls']/properties")
        ElementTree.SubElement(words, "property", name="mood", type="class", propertytype="Mood")
        ElementTree.SubElement(words, "property", name="note").text = "two\nlines"

    level = read_map(written(tmp_path, "a.tmx", as_tmx(change)))
    assert level.layers[1].properties == {"solid": True, "note": "two\nlines"}


def offset_along_x(root):
    root.find("layer").set("offsetx", "4.5")


def image_layer_without_image(root):
    ElementTree.SubElement(root, "imagelayer", id="9", name="sky")


def flat_object(root):
    root.find("objectgroup/object").attrib.pop("height")


def template_in_json(root):
    root.find("objectgroup/object").set("template", "a.tj")


def colour_left_empty(root):
    words = root.find("layer[@name='walls']/properties")
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
    del root.attrib["tiledversion"]


@pytest.mark.parametrize(
    ("change", "wrong"),
    [
        (offset_along_x, "layer 'ground' has no 'offsety'"),
        (image_layer_without_image, "layer 'sky' cannot be read: .*doesn't have an image"),
        (flat_object, "layer 'things', object 1 has no 'height'"),
        (template_in_json, "layer 'things', object 1 cannot be read: Loading JSON object templates"),
        (colour_left_empty, "layer 'walls', property 'tint' has a value that cannot be read: Improperly"),
        (elements, "layer 'ground' has a value that cannot be read: .* ''"),
        (endless_and_empty, "layer 'ground' has a value that cannot be read: .* ''"),
        (no_version, "has no 'tiledversion'"),
    ],
)
def test_sound_maps_that_the_library_refuses(tmp_path, change, wrong):
    """As `broadphase.files.tiled_map` says; what a later version reads may go from here and from there."""
    written(tmp_path, "a.tj", b'{"type": "template", "object": {}}')
    with pytest.raises(FileError, match=rf"a\.tmx:? {wrong}"):
        TileMap.from_tiled(written(tmp_path, "a.tmx", as_tmx(change)))


def test_a_first_line_that_is_empty(tmp_path):
    with pytest.raises(FileError, match=r"a\.tmj is empty, or its first line is"):
        TileMap.from_tiled(written(tmp_path, "a.tmj", b"\n" + as_tmj()))


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


# --- shapes of the tiles' own -------------------------------------------------------------------------

WHOLE = {"id": 1, "x": 0, "y": 0, "width": 16, "height": 24, "rotation": 0, "name": "", "visible": 1}
HALF = {**WHOLE, "y": 12, "height": 12}
SLOPE = {**WHOLE, "width": 0, "height": 0, "polygon": [{"x": 0, "y": 24}, {"x": 16, "y": 0}]}
GROUP = {"type": "objectgroup", "name": "", "opacity": 1, "visible": True, "draworder": "index"}


def with_shapes(tmp_path, ending, number, *shapes):
    def change(level):
        tile = next(tile for tile in level["tilesets"][0]["tiles"] if tile["id"] == number)
        tile["objectgroup"] = {**GROUP, "objects": list(shapes)}

    def change_xml(root):
        group = ElementTree.SubElement(root.find(f"tileset/tile[@id='{number}']"), "objectgroup")
        for shape in shapes:
            plain = {key: str(value) for key, value in shape.items() if key != "polygon"}
            made = ElementTree.SubElement(group, "object", plain)
            if "polygon" in shape:
                ElementTree.SubElement(made, "polygon", points="0,24 16,0")

    data = as_tmx(change_xml) if ending == "tmx" else as_tmj(change)
    return written(tmp_path, f"a.{ending}", data)


@pytest.mark.parametrize("ending", ENDINGS)
@pytest.mark.parametrize(
    ("number", "shapes"),
    [(1, [SLOPE]), (1, [HALF]), (2, [HALF]), (1, [WHOLE, HALF]), (1, [{**WHOLE, "rotation": 5}])],
)
def test_a_tile_with_a_shape_of_its_own_is_told_of(tmp_path, ending, number, shapes):
    path = with_shapes(tmp_path, ending, number, *shapes)
    plain = TileMap.from_tiled(DATA / "dungeon.tmx")
    name = rf"a\.{ending}: tileset 'stones', tile {number} has a collision shape"
    with pytest.warns(
        UserWarning, match=f"{name} of its own, which is not read: the whole tile blocks"
    ) as told:
        tiles = TileMap.from_tiled(path)
    assert told[0].filename == __file__
    assert np.array_equal(tiles.solid, plain.solid)
    assert np.array_equal(TileMap.from_tiled(path, shapes="fill").solid, plain.solid)
    with pytest.raises(ValueError, match=f"{name} that is not the whole tile"):
        TileMap.from_tiled(path, shapes="refuse")
    with pytest.raises(ValueError, match="shapes must be 'warn', 'fill' or 'refuse'; got 'slope'"):
        TileMap.from_tiled(path, shapes="slope")


@pytest.mark.parametrize("ending", ENDINGS)
@pytest.mark.parametrize(("number", "shapes"), [(1, [WHOLE]), (1, []), (3, [SLOPE])])
def test_whole_tiles_and_tiles_that_do_not_block_are_not(tmp_path, ending, number, shapes):
    layers = None if number == 1 else ["ground"]
    path = with_shapes(tmp_path, ending, number, *shapes)
    if layers is None:
        TileMap.from_tiled(path, shapes="refuse")
    else:  # by its own word the tile is not solid, by the layer's name it is
        with pytest.raises(ValueError, match="tile 3 has a collision shape"):
            TileMap.from_tiled(path, layers=layers, one_way="no", shapes="refuse")
