"""Whole maps as worlds: objects of every form at their place, with tags and rules."""

import json
import math
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest
from tiled_helpers import DATA, as_tmj, as_tmx, written

from broadphase import Box, Capsule, Circle, World
from broadphase.adapters.tiled import TiledTile, load
from broadphase.errors import FileError
from broadphase.io.tiled.maps import read_map

THING = {"id": 7, "x": 32, "y": 48, "width": 16, "height": 8, "rotation": 0, "visible": True, "name": ""}
GROUP = {"type": "objectgroup", "name": "things", "opacity": 1, "visible": True}


def map_with(tmp_path, *things, ending="tmj", level=(), **layer):
    """A map of 10 x 5 tiles of 16 x 24, with objects."""

    def change(root):
        root |= {
            "width": 10,
            "height": 5,
            "layers": [{**GROUP, "objects": list(things), **layer}],
            **dict(level),
        }

    return written(tmp_path, f"a.{ending}", as_tmj(change))


def shape_of(tmp_path, y_up=False, **item):
    loaded = load(map_with(tmp_path, {**THING, **item}), y_up=y_up)
    return loaded.bodies[0].shape


def corners(shape):
    return sorted(map(tuple, np.round(shape.points, 9).tolist()))


def ring(*points):
    return [{"x": x, "y": y} for x, y in points]


def test_forms(tmp_path):
    assert shape_of(tmp_path) == Box(32, 48, 16, 8)
    assert shape_of(tmp_path, ellipse=True, height=16) == Circle(40, 56, 8)
    assert shape_of(tmp_path, capsule=True) == Capsule(36, 52, 44, 52, 4)
    assert shape_of(tmp_path, capsule=True, width=8) == Circle(36, 52, 4)
    triangle = shape_of(tmp_path, polygon=ring((0, 0), (10, 0), (0, -5)))
    assert corners(triangle) == [(32, 43), (32, 48), (42, 48)]
    assert shape_of(tmp_path, polyline=ring((0, 0), (10, 0))) == Capsule(32, 48, 42, 48, 0.5)
    assert shape_of(tmp_path, height=0, rotation=90) == Capsule(32, 48, 32, 64, 0.5)


def test_an_empty_world_that_is_given_is_filled(tmp_path):
    world = World()
    loaded = load(map_with(tmp_path, THING), world)
    assert loaded.world is world
    assert len(world) == 1


def test_an_ellipse_has_its_corners_on_it(tmp_path):
    points = shape_of(tmp_path, ellipse=True).points - (40, 52)
    assert len(points) == 32
    assert np.allclose((points / (8, 4)) ** 2 @ (1, 1), 1)


@pytest.mark.parametrize("y_up", [False, True])
@pytest.mark.parametrize("rotation", [0, 90, 180, 270, -90, 30, 211.5])
def test_turned_about_the_place(tmp_path, rotation, y_up):
    """Clockwise, as Tiled says; the turn is written out once more here."""
    angle, down = math.radians(rotation), -1 if y_up else 1
    wanted = []
    for x, y in ((0, 0), (16, 0), (16, 8), (0, 8)):
        to_x = 32 + x * math.cos(angle) - y * math.sin(angle)
        to_y = 48 + x * math.sin(angle) + y * math.cos(angle)
        wanted.append((round(to_x, 9), round(down * to_y + 120 * y_up, 9)))
    shape = shape_of(tmp_path, y_up, rotation=rotation)
    if isinstance(shape, Box):
        left, top, right, bottom = shape.bounds
        assert rotation % 90 == 0
        assert sorted([(left, top), (right, top), (right, bottom), (left, bottom)]) == sorted(wanted)
    else:
        assert corners(shape) == sorted(wanted)


def test_a_polygon_that_is_not_convex_becomes_several_bodies(tmp_path):
    letter = ring((0, 0), (30, 0), (30, 10), (10, 10), (10, 30), (0, 30))
    loaded = load(map_with(tmp_path, {**THING, "polygon": letter, "type": "rock"}))
    (item,) = loaded.objects
    assert item.bodies == loaded.bodies
    assert len(loaded.bodies) == 2
    assert {body.tag for body in loaded.bodies} == {"rock"}
    assert loaded.world.query_point((32 + 5, 48 + 25))
    assert loaded.world.query_point((32 + 25, 48 + 5))
    assert not loaded.world.query_point((32 + 25, 48 + 25))


def test_a_polygon_that_crosses_itself_gives_a_warning(tmp_path):
    bow = ring((0, 0), (10, 10), (10, 0), (0, 10))
    path = map_with(tmp_path, {**THING, "polygon": bow}, {**THING, "id": 8})
    with pytest.warns(
        UserWarning, match=r"object 7 becomes no body: the outline of points crosses itself"
    ) as caught:
        loaded = load(path)
    assert caught[0].filename == __file__
    assert len(loaded.bodies) == 1
    assert [len(item.bodies) for item in loaded.objects] == [0, 1]


def test_an_object_is_not_one_way(tmp_path):
    properties = [{"name": "one_way", "type": "string", "value": "top"}]
    path = map_with(tmp_path, {**THING, "properties": properties}, {**THING, "id": 8})
    with pytest.warns(UserWarning, match=r"object 7 blocks on all sides: one_way is for tiles") as caught:
        loaded = load(path)
    assert caught[0].filename == __file__
    assert len(loaded.bodies) == 2
    load(path, one_way="platform")  # without a warning


def test_points_and_texts_are_listed(tmp_path):
    point = {**THING, "point": True, "name": "start", "width": 0, "height": 0}
    words = {**THING, "text": {"text": "hello"}}
    loaded = load(map_with(tmp_path, point, words), y_up=True)
    assert len(loaded.world) == 0
    start, hello = loaded.objects
    assert (start.form, start.name, start.x, start.y) == ("point", "start", 32, 120 - 48)
    assert (hello.form, hello.text) == ("text", "hello")


def said(**words):
    kinds = {bool: "bool", int: "int", str: "string"}
    return [{"name": name, "type": kinds[type(value)], "value": value} for name, value in words.items()]


def test_tags_and_rules(tmp_path):
    own = said(sensor=True, static=False, category=4, mask=6, tag="gold, shiny")
    path = map_with(
        tmp_path,
        {**THING, "type": "coin", "properties": own},
        {**THING, "class": "door"},
        {**THING, "properties": said(body=False)},
        properties=said(category=2),
        **{"class": "wall"},
    )
    coin, door = load(path).bodies
    assert coin.tags == {"coin", "gold", "shiny"}
    assert (coin.sensor, coin.static, coin.category, coin.mask) == (True, False, 4, 6)
    assert (door.tag, door.sensor, door.static, door.category) == ("door", False, True, 2)
    assert door.mask == 0xFFFFFFFF
    assert [item.type for item in load(path).objects] == ["coin", "door", "wall"]
    assert not load(path, static=False).bodies[1].static


@pytest.mark.parametrize("words", [{"sensor": 1}, {"static": "yes"}, {"mask": -1}, {"category": True}])
def test_rules_of_another_type(tmp_path, words):
    ((name, value),) = words.items()
    path = map_with(tmp_path, THING, {**THING, "id": 8, "properties": said(**words)})
    world = World()
    with pytest.raises(FileError, match=rf"a\.tmj: layer 'things', object 8 has {name} = {value!r}; make it"):
        load(path, world)
    assert len(world) == 0


def test_layers_of_objects_by_name(tmp_path):
    path = map_with(tmp_path, THING)
    assert len(load(path, objects="things").bodies) == 1
    loaded = load(path, objects=[])
    assert (len(loaded.bodies), len(loaded.objects)) == (0, 1)
    with pytest.raises(ValueError, match=r"has no object layer 'sky'; it has 'things'"):
        load(path, objects=["sky"])


def test_groups_add_up(tmp_path):
    inner = {**GROUP, "objects": [THING], "offsetx": 1, "offsety": 2}
    group = {"type": "group", "name": "g", "layers": [inner], "offsetx": 10, "offsety": 20}
    outer = {"type": "group", "name": "o", "layers": [group], "offsetx": 100}
    path = map_with(tmp_path, level={"layers": [outer]}.items())
    assert load(path).bodies[0].bounds == (143, 70, 159, 78)


@pytest.mark.parametrize("ending", ["tx", "tj"])
def test_templates(tmp_path, ending):
    """Also with a tileset of its own, and across the formats."""
    tileset = json.loads((DATA / "dungeon.tmj").read_text())["tilesets"][0]
    written(tmp_path, "own.tsj", json.dumps({**tileset, "type": "tileset", "firstgid": None}).encode())
    if ending == "tj":
        model = {"name": "n", "type": "box", "width": 10, "height": 6, "gid": 2, "properties": said(a=1, b=2)}
        source = {"firstgid": 1, "source": "own.tsj"}
        data = json.dumps({"type": "template", "object": model, "tileset": source}).encode()
    else:
        data = b"""<template><tileset firstgid="1" source="own.tsj"/>
        <object name="n" type="box" width="10" height="6" gid="2"><properties>
        <property name="a" type="int" value="1"/><property name="b" type="int" value="2"/>
        </properties></object></template>"""
    written(tmp_path, f"m.{ending}", data)
    used = {"id": 3, "template": f"m.{ending}", "x": 5, "y": 50, "properties": said(b=3)}

    def change(root):
        group = ElementTree.SubElement(root, "objectgroup", name="more", id="9")
        ElementTree.SubElement(group, "object", id="3", template=f"m.{ending}", x="5", y="50", width="20")

    plain = load(map_with(tmp_path, used))
    (item,) = plain.objects
    assert (item.name, item.type, item.form) == ("n", "box", "tile")
    assert item.properties == {"solid": True, "a": 1, "b": 3}
    assert plain.bodies[0].bounds == (5, 44, 15, 50)
    wide = load(written(tmp_path, "b.tmx", as_tmx(change)), layers=[], objects="more")
    assert wide.bodies[0].bounds == (5, 44, 25, 50)


# ---- against pytiled-parser


def of_pytiled_parser(layers, parser, found):
    for layer in layers:
        if isinstance(layer, parser.LayerGroup):
            of_pytiled_parser(layer.layers, parser, found)
        elif isinstance(layer, parser.ObjectLayer):
            for one in layer.tiled_objects:
                kind = type(one).__name__.lower().replace("rectangle", "box")
                place = (*one.coordinates, *one.size, one.rotation)
                found.append((one.id, one.name, kind, *place, one.class_, dict(one.properties)))
    return found


@pytest.mark.filterwarnings("ignore:.*blocks nothing")  # most of them: in arcade, code names the layers
def test_all_maps_that_come_with_arcade_load_as_another_reader_says():
    arcade = pytest.importorskip("arcade")
    parser = pytest.importorskip("pytiled_parser")
    maps = 0
    for path in sorted(Path(arcade.__file__).parent.glob("resources/assets/tiled_maps/*.json")):
        if json.loads(path.read_text())["type"] == "tileset":
            continue
        theirs, level = parser.parse_map(path), read_map(path)
        ours = [
            (one.id, one.name, one.form, one.x, one.y, one.width, one.height, one.rotation, one.type,
             dict(one.properties))
            for layer in level.object_layers
            for one in layer.objects
        ]  # fmt: skip
        assert ours == of_pytiled_parser(theirs.layers, parser, [])
        loaded = load(path)
        bare = sum(one.form in ("point", "text") for layer in level.object_layers for one in layer.objects)
        assert sum(bool(item.bodies) for item in loaded.objects) == len(loaded.objects) - bare
        assert all(isinstance(body.data, TiledTile) or body in body.data.bodies for body in loaded.bodies)
        maps += 1
    assert maps == 14


@pytest.mark.parametrize(
    "sensors", [[], [{**THING, "properties": [{"name": "sensor", "type": "bool", "value": True}]}]]
)
def test_a_map_that_blocks_nothing_says_how_it_would(tmp_path, sensors):
    def change(root):
        size = {"width": 2, "height": 1}
        layer = {"type": "tilelayer", "name": "walls", "opacity": 1, "visible": True, "data": [1, 0], **size}
        tileset = {"firstgid": 1, "name": "plain", "tilewidth": 16, "tileheight": 16}
        root |= {**size, "layers": [layer, {**GROUP, "objects": sensors}], "tilesets": [tileset]}

    file = written(tmp_path, "a.tmj", as_tmj(change))
    with pytest.warns(UserWarning, match=r"blocks nothing.*layers= \(it has 'walls'\)"):
        loaded = load(file)
    assert loaded.tiles is None
    assert load(file, layers="walls").tiles.solid.sum() == 1


def test_an_object_whose_tile_is_in_no_tileset_gives_a_warning(tmp_path):
    file = map_with(tmp_path, {**THING, "gid": 9}, level=[("tilesets", [])])
    with pytest.warns(UserWarning, match="object 7 has the tile 9, which is in no tileset"):
        loaded = load(file)
    assert loaded.bodies[0].shape == Box(32, 40, 16, 8)
    small = map_with(tmp_path, {**THING, "gid": 9, "width": 0, "height": 0}, level=[("tilesets", [])])
    with pytest.warns(UserWarning, match="in no tileset"):
        load(small)


@pytest.mark.parametrize("ending", ["ldtk", "ldtkl"])
def test_a_file_of_ldtk_is_refused_with_advice(tmp_path, ending):
    file = written(tmp_path, f"world.{ending}", b"{}")
    with pytest.raises(FileError, match=r"LDtk, not of Tiled: broadphase.adapters.ldtk.load"):
        load(file)
