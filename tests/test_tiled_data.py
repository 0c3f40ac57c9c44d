"""What tiles of Tiled are, apart from whether they block: class, tags, properties, ladders."""

import numpy as np
import pytest

import broadphase as bp
from broadphase.adapters.tiled import load
from broadphase.errors import FileError

TILESET = """<tileset firstgid="1" name="ground" tilewidth="16" tileheight="16">
  <tile id="1" type="water"><properties><property name="depth" type="int" value="3"/></properties></tile>
  <tile id="2"><properties>
   <property name="ladder" type="bool" value="true"/><property name="tag" value="climb, rope"/>
  </properties></tile>
 </tileset>"""
FLOOR = """<layer name="floor" width="4" height="3">
  <properties><property name="solid" type="bool" value="true"/></properties>
  <data encoding="csv">0,0,0,0, 0,0,0,0, 1,1,1,1</data>
 </layer>"""
THINGS = """<layer name="things" class="ice" width="4" height="3" {more}>
  <properties><property name="cold" type="bool" value="true"/></properties>
  <data encoding="csv">{cells}</data>
 </layer>"""


@pytest.fixture
def level(tmp_path):
    def level(*layers, orientation="orthogonal", tileset=TILESET):
        size = 'width="4" height="3" tilewidth="16" tileheight="16"'
        path = tmp_path / "level.tmx"
        path.write_text(f'<map orientation="{orientation}" {size}>{tileset}{"".join(layers)}</map>')
        return path

    return level


def things(cells="0,2,3,0, 0,2,0,0, 0,0,0,1", more=""):
    return THINGS.format(cells=cells, more=more)


@pytest.mark.parametrize("orientation", ["orthogonal", "oblique", "isometric"])
@pytest.mark.parametrize("how", [lambda path: load(path).tiles, bp.TileMap.from_tiled])
def test_tiles_have_the_class_and_the_properties_of_tile_and_layer(level, how, orientation):
    tiles = how(level(FLOOR, things(), orientation=orientation))
    assert tiles.solid.tolist() == [[False] * 4, [False] * 4, [True] * 4]
    assert tiles.data(1, 1) == ({"water"}, {"depth": 3, "cold": True})
    assert tiles.data(2, 0).tags == {"ice", "climb", "rope"}
    assert tiles.data(3, 2) == ({"ice"}, {"cold": True})
    assert tiles.data(0, 0) == tiles.data(0, 2) == (frozenset(), {})
    assert tiles.tagged("water").tolist() == [[1, 0], [1, 1]]
    assert [tiles.is_ladder(column, 0) for column in range(4)] == [False, False, True, False]


def test_flipped_maps_have_flipped_data(level):
    path = level(FLOOR, things())
    tiles = load(path, y_up=True).tiles
    assert tiles.tagged("water").tolist() == [[1, 1], [1, 2]]
    assert tiles.is_ladder(2, 2)
    assert tiles.data_at(24, 20).properties["depth"] == 3


def test_upper_layers_win_and_tags_add_up(level):
    upper = (
        things("0,1,0,0, 0,0,0,0, 0,0,0,0")
        .replace("ice", "snow")
        .replace('"true"/></prop', '"false"/></prop')
    )
    tiles = load(level(FLOOR, things(), upper)).tiles
    assert tiles.data(1, 0) == ({"water", "snow"}, {"depth": 3, "cold": False})
    assert tiles.data(1, 1) == ({"water"}, {"depth": 3, "cold": True})


def test_a_map_without_walls_has_its_data_and_layers_that_are_not_named_have_theirs(level):
    with pytest.warns(UserWarning, match="blocks nothing"):
        tiles = load(level(things())).tiles
    assert not tiles.solid.any()
    assert tiles.tagged("water").tolist() == [[1, 0], [1, 1]]
    tiles = load(level(FLOOR, things()), layers=["floor"]).tiles
    assert tiles.tagged("water").tolist() == [[1, 0], [1, 1]]
    moved = load(level(FLOOR, things(more='offsetx="16" offsety="-16"'))).tiles
    assert moved.tagged("water").tolist() == [[2, 0]]


def test_a_swimmer_in_a_map_of_tiled(level):
    world = load(level(FLOOR, things())).world
    hero, heard = world.add(bp.Box(2, 18, 8, 8), tag="hero"), []
    world.on_tile("hero", "water", *(lambda contact, k=k: heard.append(k) for k in range(3)))
    for _ in range(30):
        world.move(hero, 1, 0)
        world.update()
    assert heard == [0, *[1] * 22, 2]


def test_kinds_of_tiles_are_as_few_as_differ(level):
    rng = np.random.default_rng(1)
    layers = [things(",".join(map(str, rng.integers(0, 4, 12)))) for _ in range(6)]
    tiles = load(level(FLOOR, *layers)).tiles
    assert len(tiles._data) <= 1 + 7
    damaged = TILESET.replace('type="bool" value="true"/><prop', 'value="yes"/><prop')
    with pytest.raises(FileError, match="ladder = 'yes'"):
        load(level(FLOOR, things(), tileset=damaged))
