"""Tiled maps: the same small dungeon in both formats, made by hand."""

import json
from pathlib import Path

import pytest

from broadphase import Box, TileMap
from broadphase.world.tiles import TileMap as Base

DATA = Path(__file__).parent / "data"
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
    assert tiles.first_blocker(Box(-14, -80, 10, 20)) == (1, 1)
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
