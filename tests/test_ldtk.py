"""Projects of LDtk as tile maps and bodies: what LDtk's own format says, and damaged files."""

import json

import pytest

import broadphase as bp
from broadphase.adapters.ldtk import load
from broadphase.errors import FileError

NAMES = [
    {"value": 1, "identifier": "Wall", "color": "#000000"},
    {"value": 2, "identifier": "water", "color": "#0000FF"},
    {"value": 3, "identifier": "Ladder", "color": "#00FF00"},
    {"value": 4, "identifier": None, "color": "#FFFFFF"},
]
TAGS = [{"enumValueId": "Ice", "tileIds": [5, 6]}, {"enumValueId": "Soft", "tileIds": [6]}]
DEFS = {
    "layers": [{"uid": 7, "identifier": "Ground", "intGridValues": NAMES}],
    "tilesets": [{"uid": 3, "enumTags": TAGS}],
}
COMMON = {
    "__cWid": 4,
    "__cHei": 2,
    "__gridSize": 10,
    "layerDefUid": 7,
    "__pxTotalOffsetX": 0,
    "__pxTotalOffsetY": 0,
    "__tilesetDefUid": None,
    **{key: [] for key in ("intGridCsv", "autoLayerTiles", "gridTiles", "entityInstances")},
}


def layer(name, kind, **more):
    return COMMON | {"__identifier": name, "__type": kind} | more


def level(name, x, y, *layers):
    field = {"__identifier": "music", "__value": "calm"}
    place = {"worldX": x, "worldY": y, "pxWid": 40, "pxHei": 20}
    return {"identifier": name, **place, "fieldInstances": [field], "layerInstances": list(layers)}


GROUND = layer("Ground", "IntGrid", intGridCsv=[0, 2, 3, 0, 1, 1, 2, 4])
PAINTED = layer(
    "Deco",
    "Tiles",
    __tilesetDefUid=3,
    gridTiles=[
        {"px": px, "t": tile} for px, tile in (([0, 0], 5), ([10, 0], 9), ([10, 0], 6), ([30, 10], 5))
    ],
)
CRATE = {
    "__identifier": "Crate",
    "__pivot": [0.5, 1],
    "px": [20, 10],
    "width": 8,
    "height": 6,
    "__tags": ["heavy"],
    "fieldInstances": [
        {"__identifier": "static", "__value": True},
        {"__identifier": "loot", "__value": ["key"]},
    ],
}
PLAYER = CRATE | {"__identifier": "Player", "fieldInstances": []}
THINGS = layer("Things", "Entities", entityInstances=[CRATE, PLAYER])


@pytest.fixture
def project(tmp_path):
    def project(*levels, **more):
        path = tmp_path / "game.ldtk"
        path.write_text(json.dumps({"jsonVersion": "1.5.3", "defs": DEFS, "levels": list(levels), **more}))
        return path

    return project


def test_names_of_values_and_enum_tags_become_tags_and_some_block(project):
    loaded = load(project(level("A", 100, 20, THINGS, PAINTED, GROUND)), one_way={"4": "top"})
    tiles = loaded.tiles
    assert loaded.world.tiles is tiles
    assert tiles.bounds == (100, 20, 140, 40)
    assert tiles.solid.tolist() == [[False] * 4, [True, True, False, False]]
    assert tiles.one_way_sides(3, 1) == ("top",)
    tags = [[set(tiles.data(column, row).tags) for column in range(4)] for row in range(2)]
    assert tags == [
        [{"Ice"}, {"water", "Ice", "Soft"}, {"Ladder"}, set()],
        [{"Wall"}, {"Wall"}, {"water"}, {"4", "Ice"}],
    ]
    assert [tiles.is_ladder(column, 0) for column in range(4)] == [False, False, True, False]
    (only,) = loaded.levels
    assert only == ("A", 100, 20, 40, 20, {"music": "calm"})


def test_entities_lie_where_their_pivot_says_and_those_that_are_named_become_bodies(project):
    loaded = load(project(level("A", 100, 20, THINGS, GROUND)), bodies="Crate")
    crate, player = loaded.entities
    assert (crate.x, crate.y) == (120, 30)
    assert crate.box == bp.Box(116, 24, 8, 6)
    assert (crate.fields["loot"], crate.level, crate.layer) == (["key"], "A", "Things")
    (body,) = loaded.bodies
    assert body.data is crate
    assert body.tags == {"Crate", "heavy"}
    assert (body.static, body.sensor, body.shape) == (True, False, crate.box)
    assert player.name == "Player"
    assert load(project(level("A", 0, 0, THINGS))).tiles is None


def test_levels_lie_on_one_map_where_the_world_has_them(project):
    levels = level("A", -40, 0, GROUND), level("B", 0, 20, GROUND)
    tiles = load(project(*levels, worldLayout="GridVania")).tiles
    assert tiles.bounds == (-40, 0, 40, 40)
    assert tiles.solid.sum() == 4
    assert tiles.is_solid(0, 1)
    assert tiles.is_solid(4, 3)
    assert load(project(*levels), levels=["B"]).tiles.bounds == (0, 20, 40, 40)
    for layout, bounds in (("LinearHorizontal", (0, 0, 80, 20)), ("LinearVertical", (0, 0, 40, 40))):
        lined = [level(name, -1, -1, GROUND) for name in "AB"]
        assert load(project(*lined, worldLayout=layout)).tiles.bounds == bounds
    worlds = [{"worldLayout": "Free", "levels": [levels[1]]}]
    assert load(project(worlds=worlds)).tiles.bounds == (0, 20, 40, 40)


def test_levels_in_files_of_their_own_are_read(project, tmp_path):
    (tmp_path / "game").mkdir()
    (tmp_path / "game" / "A.ldtkl").write_text(json.dumps(level("A", 0, 0, GROUND)))
    apart = level("A", 0, 0) | {"layerInstances": None, "externalRelPath": "game/A.ldtkl"}
    assert load(project(apart)).tiles.solid.sum() == 2
    (tmp_path / "game" / "A.ldtkl").unlink()
    with pytest.raises(FileError, match=r"level 'A' in game/A\.ldtkl is not there"):
        load(project(apart))


def test_a_project_in_which_nothing_blocks_lists_its_names(project):
    path = project(level("A", 0, 0, GROUND))
    with pytest.warns(UserWarning, match=r"blocks nothing.*'4', 'Ladder', 'Wall', 'water'"):
        loaded = load(path, solid=["rock"])
    assert loaded.tiles.tagged("water").tolist() == [[1, 0], [2, 1]]
    assert load(path, solid=["WATER"]).tiles.solid.sum() == 2


@pytest.mark.parametrize(
    ("change", "wrong"),
    [
        ({"intGridCsv": [1, 2]}, "layer 'Ground' has 2 values, where 4 x 2 whole numbers belong"),
        ({"intGridCsv": [0.5] * 8}, "layer 'Ground' has 8 values"),
        ({"__gridSize": 0}, "has __gridSize = 0"),
        ({"__cWid": -1}, "has __cWid = -1"),
        ({"__cWid": 2_000_000, "__cHei": 2_000_000}, "tiles are the limit"),
        ({"entityInstances": [CRATE | {"px": [1]}]}, r"'Crate' has px = \[1\], where two numbers belong"),
        ({"entityInstances": [CRATE | {"width": "x"}]}, "entity 'Crate' has width = 'x'"),
        ({"entityInstances": 3}, "has entityInstances = 3, where a list belongs"),
    ],
)
def test_a_damaged_layer_is_named(project, change, wrong):
    world = bp.World()
    with pytest.raises(FileError, match=wrong):
        load(project(level("A", 0, 0, GROUND | change)), world)
    assert len(world) == 0
    assert world.tiles is None


def test_wrong_arguments_are_refused(project, tmp_path):
    path, world = project(level("A", 0, 0, THINGS, GROUND)), bp.World()
    for arguments, message in (
        ({"levels": "Z"}, "no level 'Z'; it has 'A'"),
        ({"bodies": ["Boss"]}, "no entity 'Boss'; it has 'Crate', 'Player'"),
        ({"one_way": {"water": "up"}}, "choose from left, right, top, bottom"),
    ):
        with pytest.raises(ValueError, match=message):
            load(path, **arguments)
    load(path, world)
    with pytest.raises(ValueError, match="has a tile map"):
        load(path, world)
    with pytest.raises(FileNotFoundError, match="no LDtk project"):
        load(tmp_path / "none.ldtk")


def test_other_files_and_levels_on_no_common_grid_are_refused(project):
    path = project(level("A", 0, 0, GROUND), level("B", 45, 0, GROUND))
    with pytest.raises(FileError, match="no common grid"):
        load(path)
    for content, wrong in ((b" ", "is empty"), (b"[]", "wrong type"), (b"{}", "no LDtk"), (b"{", "not JSON")):
        path.write_bytes(content)
        with pytest.raises(FileError, match=wrong):
            load(path)


def test_levels_of_several_worlds_or_depths_are_not_merged(project):
    first, below = level("A", 0, 0, GROUND), level("B", 40, 0, GROUND) | {"worldDepth": -1}
    with pytest.raises(FileError, match=r"levels 'A' and 'B' are of two depths.*levels="):
        load(project(first, below))
    assert load(project(first, below), levels=["B"]).tiles.bounds == (40, 0, 80, 20)
    worlds = [{"levels": [first]}, {"levels": [level("C", 80, 0, GROUND)]}]
    with pytest.raises(FileError, match=r"levels 'A' and 'C' are of two worlds.*levels="):
        load(project(worlds=worlds))
    assert load(project(worlds=worlds), levels="C").tiles.bounds == (80, 0, 120, 20)


@pytest.mark.parametrize("tile", [None, "x", float("inf"), [], 2**70])
def test_a_tile_that_is_no_number_is_named(project, tile):
    defs = DEFS | {"tilesets": [{"uid": 3, "enumTags": [{"enumValueId": "Ice", "tileIds": [tile]}]}]}
    with pytest.raises(FileError, match=r"enum tag 'Ice' has (no 'tileIds'|tileIds = )"):
        load(project(level("A", 0, 0, GROUND), defs=defs))
    with pytest.raises(FileError, match="where 4 x 2 whole numbers belong"):
        load(project(level("A", 0, 0, GROUND | {"intGridCsv": [2**70] * 8})))
