"""Collision shapes of tiles: slopes, whole cells, bodies, turned as Tiled draws; maps without a grid."""

import json
import math

import numpy as np
import pytest
from tiled_helpers import DATA, as_tmj, as_tmx, written

from broadphase import Box, Slope, TileMap
from broadphase.adapters.tiled import TiledTile, load

WHOLE = {"id": 1, "x": 0, "y": 0, "width": 16, "height": 24}
HALF = {**WHOLE, "y": 12, "height": 12}
LEFT_HALF = {**WHOLE, "width": 8}
SLOPE = {"id": 1, "x": 0, "y": 24, "polygon": [{"x": 0, "y": 0}, {"x": 16, "y": 0}, {"x": 16, "y": -18}]}
HANGING = {"id": 1, "x": 0, "y": 0, "polygon": [{"x": 0, "y": 0}, {"x": 16, "y": 0}, {"x": 0, "y": 24}]}
CORNER = {"id": 1, "x": 2, "y": 3, "polygon": [{"x": 0, "y": 0}, {"x": 9, "y": 0}, {"x": 0, "y": 17}]}
MIRROR_X, MIRROR_Y, TRANSPOSE = 1 << 31, 1 << 30, 1 << 29


def level_of(tmp_path, cells, *shapes, size=(16, 24), tile=None, tileset=None, layers=None, **level):
    """A map of cells of 16 x 24; tile 1 has these shapes."""
    rows, columns = np.shape(cells)
    layer = {"type": "tilelayer", "name": "ground", "width": columns, "height": rows}
    layer["data"] = np.ravel(cells).tolist()
    group = {"type": "objectgroup", "name": "", "objects": list(shapes)}
    own = {"id": 0, "objectgroup": group, **(tile or {})}
    tiles = {"firstgid": 1, "name": "t", "tilewidth": size[0], "tileheight": size[1], "tiles": [own]}
    document = {"type": "map", "orientation": "orthogonal", "width": columns, "height": rows}
    document |= {"tilewidth": 16, "tileheight": 24, "tilesets": [tiles | (tileset or {})]}
    document |= {"layers": layers(layer) if layers else [layer], **level}
    return written(tmp_path, "a.tmj", json.dumps(document).encode())


def solid(value=True):
    return [{"name": "solid", "type": "bool", "value": value}]


# ---- what a cell can be


@pytest.mark.parametrize(
    ("shape", "number", "slope"),
    [
        (HALF, 1, Slope(0.5, 0.5, "bottom")),
        (HALF, 1 | MIRROR_Y, Slope(0.5, 0.5, "top")),
        (SLOPE, 1, Slope(0, 0.75, "bottom")),
        (SLOPE, 1 | MIRROR_X, Slope(0.75, 0, "bottom")),
        (SLOPE, 1 | MIRROR_Y, Slope(0, 0.75, "top")),
        (HANGING, 1, Slope(1, 0, "top")),
        (HANGING, 1 | MIRROR_X | MIRROR_Y, Slope(0, 1, "bottom")),
    ],
)
def test_slopes(tmp_path, shape, number, slope):
    path = level_of(tmp_path, [[0, number, 1]], shape)
    tiles = TileMap.from_tiled(path)
    assert tiles.slope(1, 0) == slope
    assert not tiles.solid.any()
    over = TileMap.from_tiled(path, y_up=True).slope(1, 0)
    assert over == slope._replace(base={"top": "bottom", "bottom": "top"}[slope.base])
    loaded = load(path)
    assert loaded.tiles.slope(1, 0) == slope
    assert not loaded.bodies
    filled = TileMap.from_tiled(path, shapes="fill")
    assert filled.solid.tolist() == [[False, True, True]]
    assert not filled.has_slopes


@pytest.mark.parametrize("shapes", [[WHOLE], [WHOLE, HALF], [{**WHOLE, "point": True}], []])
def test_whole_cells(tmp_path, shapes):
    path = level_of(tmp_path, [[1, 2]], *shapes, tile={"properties": solid()})
    tiles = TileMap.from_tiled(path, shapes="refuse")
    assert tiles.solid.tolist() == [[True, False]]


@pytest.mark.parametrize("shapes", [[LEFT_HALF], [CORNER], [HALF, LEFT_HALF], [{**WHOLE, "rotation": 5}]])
def test_a_shape_that_a_cell_cannot_have_gives_a_warning(tmp_path, shapes):
    path = level_of(tmp_path, [[1, 0]], *shapes)
    with pytest.warns(UserWarning, match=r"tileset 't', tile 0 has a collision shape that no cell") as caught:
        tiles = TileMap.from_tiled(path)
    assert caught[0].filename == __file__
    assert tiles.solid.tolist() == [[True, False]]
    assert TileMap.from_tiled(path, shapes="fill").solid.tolist() == [[True, False]]
    with pytest.raises(ValueError, match="tile 0 has a collision shape that no cell can have"):
        TileMap.from_tiled(path, shapes="refuse")
    with pytest.raises(ValueError, match="shapes must be 'warn', 'fill' or 'refuse'; got 'slope'"):
        TileMap.from_tiled(path, shapes="slope")
    loaded = load(path)
    assert loaded.tiles is None
    assert len(loaded.bodies) == len(shapes)
    assert loaded.bodies[0].data == TiledTile("ground", 0, 0, "", {})


def test_shapes_of_one_way_tiles_give_a_warning(tmp_path):
    words = [{"name": "one_way", "value": "top"}]
    path = level_of(tmp_path, [[1, 1 | MIRROR_Y, 1 | TRANSPOSE]], HALF, tile={"properties": words})
    with pytest.warns(UserWarning, match="tile 0 has a collision shape") as caught:
        loaded = load(path)
    assert caught[0].filename == __file__
    assert "fill" not in str(caught[0].message), "load has no such option"
    assert [loaded.tiles.one_way_sides(k, 0) for k in range(3)] == [("top",), ("bottom",), ("left",)]


def test_the_word_solid_wins_over_shapes(tmp_path):
    path = level_of(tmp_path, [[1, 2]], HALF, tile={"properties": solid(False)})
    loaded = load(path)
    assert loaded.tiles is None
    assert not loaded.bodies


def test_two_slopes_in_a_cell(tmp_path):
    def two(layer):
        return [layer, {**layer, "name": "upper", "data": [1 | MIRROR_X]}]

    loaded = load(level_of(tmp_path, [[1]], SLOPE, layers=two))
    assert loaded.tiles.slope(0, 0) == Slope(0, 0.75, "bottom")
    assert [body.bounds for body in loaded.bodies] == [(0, 6, 16, 24)]


@pytest.mark.parametrize("upside_down", [False, True])
@pytest.mark.parametrize("slope_above", [False, True])
def test_a_slope_under_or_over_a_whole_tile(tmp_path, slope_above, upside_down):
    def two(layer):
        return [{**layer, "data": [tile], "name": str(tile)} for tile in ((2, 1) if slope_above else (1, 2))]

    path = level_of(tmp_path, [[1]], SLOPE, tile={"properties": solid()}, layers=two)
    document = json.loads(path.read_text())
    document["tilesets"][0]["tiles"].append({"id": 1, "properties": solid()})
    path.write_text(json.dumps(document))
    for tiles in (load(path, y_up=upside_down).tiles, TileMap.from_tiled(path, y_up=upside_down)):
        assert tiles.is_solid(0, 0)
        assert tiles.slope(0, 0) is None


# ---- mirrored and turned


def drawn(points, number, size):
    """Where Tiled draws points of a picture: about its middle, mirrored, then turned by a quarter.

    After the source of its cell renderer, whose way is another: a transposed tile is one that is turned by a
    quarter and mirrored otherwise; its lower left corner is that of the cell.
    """
    width, height = size
    mirror_x, mirror_y = bool(number & MIRROR_X), bool(number & MIRROR_Y)
    middle, quarter = np.array([width / 2, 24 - height / 2]), number & TRANSPOSE
    if quarter:
        mirror_x, mirror_y = mirror_y, not mirror_x
        middle = np.array([height / 2, 24 - width / 2])
    seen = (np.array(points) - (width / 2, height / 2)) * (-1 if mirror_x else 1, -1 if mirror_y else 1)
    if quarter:
        seen = np.column_stack((-seen[:, 1], seen[:, 0]))
    return seen + middle


@pytest.mark.parametrize("y_up", [False, True])
@pytest.mark.parametrize("size", [(16, 24), (24, 16), (40, 30)])
@pytest.mark.parametrize("bits", range(8))
def test_shapes_turn_with_their_tile(tmp_path, bits, size, y_up):
    number = 1 | bits << 29
    loaded = load(level_of(tmp_path, [[0, 0, 0], [0, 0, number]], CORNER, size=size), y_up=y_up)
    (body,) = loaded.bodies
    wanted = drawn([(2, 3), (11, 3), (2, 20)], number, size)
    wanted += (32, 24)
    if y_up:
        wanted = wanted * (1, -1) + (0, 48)
    assert sorted(map(tuple, body.shape.points.tolist())) == sorted(map(tuple, wanted.tolist()))
    assert body.data == TiledTile("ground", 2, 1, "", {})
    assert body.static


def test_offset_and_size_of_tilesets(tmp_path):
    moved = load(level_of(tmp_path, [[1]], LEFT_HALF, tileset={"tileoffset": {"x": 3, "y": -4}}))
    assert moved.bodies[0].shape == Box(3, -4, 8, 24)
    small = load(level_of(tmp_path, [[1]], LEFT_HALF, size=(32, 48), tileset={"tilerendersize": "grid"}))
    assert small.bodies[0].shape == Box(0, 0, 4, 12)


@pytest.mark.parametrize("bits", range(4))
def test_tile_objects(tmp_path, bits):
    """Twice as wide and three times as high, mirrored, turned about the lower left corner."""
    item = {"id": 1, "gid": 1 | bits << 30, "x": 100, "y": 90, "width": 32, "height": 72, "rotation": 90}
    layer = {"type": "objectgroup", "name": "things", "objects": [item]}
    loaded = load(level_of(tmp_path, [[0]], CORNER, layers=lambda _: [layer]))
    upright = drawn([(2, 3), (11, 3), (2, 20)], item["gid"], (16, 24)) - (0, 24)
    wanted = [(100 - 3 * y, 90 + 2 * x) for x, y in upright.tolist()]
    assert sorted(map(tuple, loaded.bodies[0].shape.points.tolist())) == sorted(wanted)


@pytest.mark.parametrize("bits", range(8))
def test_tiles_that_keep_their_aspect_ratio_are_in_the_middle_of_their_place(tmp_path, bits):
    """A picture of 16 x 24 in a place of 64 x 48: twice as large; a transposed one has a place of 48 x 64."""
    item = {"id": 1, "gid": 1 | bits << 29, "x": 100, "y": 90, "width": 64, "height": 48}
    layer = {"type": "objectgroup", "name": "things", "objects": [item]}
    fit = {"fillmode": "preserve-aspect-fit"}
    loaded = load(level_of(tmp_path, [[0]], CORNER, tileset=fit, layers=lambda _: [layer]))
    transposed = item["gid"] & TRANSPOSE
    size, place = (24, 16) if transposed else (16, 24), (48, 64) if transposed else (64, 48)
    seen = drawn([(2, 3), (11, 3), (2, 20)], item["gid"], (16, 24)) - (0, 24)
    scaled = seen * min(64 / 16, 48 / 24)
    rest = np.subtract(place, np.multiply(size, 2)) / 2
    wanted = np.add(scaled, (100 + rest[0], 90 - rest[1]))
    assert sorted(map(tuple, loaded.bodies[0].shape.points.tolist())) == sorted(map(tuple, wanted.tolist()))
    grid = {"fillmode": "preserve-aspect-fit", "tilerendersize": "grid"}
    (body,) = load(level_of(tmp_path, [[1]], LEFT_HALF, size=(32, 24), tileset=grid)).bodies
    assert body.shape == Box(0, 6, 4, 12)


@pytest.mark.parametrize("bits", range(8))
def test_a_transposed_tile_object_is_stretched_before_it_is_transposed(tmp_path, bits):
    """Its place is as wide as the object is high: Tiled stretches the picture, then turns it."""
    item = {"id": 1, "gid": 1 | bits << 29, "x": 100, "y": 90, "width": 32, "height": 72}
    layer = {"type": "objectgroup", "name": "things", "objects": [item]}
    loaded = load(level_of(tmp_path, [[0]], CORNER, layers=lambda _: [layer]))
    stretched = np.add(drawn([(4, 9), (22, 9), (4, 60)], item["gid"], (32, 72)), (100, 90 - 24))
    points = loaded.bodies[0].shape.points.tolist()
    assert sorted(map(tuple, points)) == sorted(map(tuple, stretched.tolist()))


@pytest.mark.parametrize(
    ("alignment", "corner"), [("topleft", (0, 0)), ("center", (8, 12)), ("right", (16, 12))]
)
def test_alignment_of_tile_objects(tmp_path, alignment, corner):
    item = {"id": 1, "gid": 1, "x": 100, "y": 90}
    layer = {"type": "objectgroup", "name": "things", "objects": [item]}
    path = level_of(tmp_path, [[0]], tileset={"objectalignment": alignment}, layers=lambda _: [layer])
    assert load(path).bodies[0].shape == Box(100 - corner[0], 90 - corner[1], 16, 24)


# ---- layers that are moved


def test_layers_that_are_moved(tmp_path):
    def moved(x, y):
        return lambda layer: [
            {**layer, "properties": solid(), "offsetx": x, "offsety": y},
            {**layer, "name": "flowers", "properties": solid(False), "offsetx": 5},
        ]

    whole = TileMap.from_tiled(level_of(tmp_path, [[2, 0]], layers=moved(32, -24)))
    assert whole.bounds == (0, -24, 64, 24)
    assert np.argwhere(whole.solid).tolist() == [[0, 2]]
    part = TileMap.from_tiled(level_of(tmp_path, [[2, 0]], layers=moved(3, 0)))
    assert tuple(part.tiles_in((3, 0, 19, 24))[0]) == part.tile_at(4, 1)
    assert not len(part.tiles_in((0, 0, 3, 24)))

    def against(layer):
        return [{**layer, "properties": solid()}, {**layer, "properties": solid(), "offsetx": 3}]

    with pytest.raises(ValueError, match="moved against each other by parts of a tile"):
        TileMap.from_tiled(level_of(tmp_path, [[2, 0]], layers=against))


# ---- maps without a grid


def test_isometric_maps_are_flat(tmp_path):
    layer = {
        "type": "objectgroup",
        "name": "things",
        "objects": [{**WHOLE, "x": 24, "width": 24}],
        "offsety": 12,
    }
    path = level_of(tmp_path, [[2, 0], [0, 2]], orientation="isometric", layers=lambda own: [
        {**own, "properties": solid()}, layer])  # fmt: skip
    loaded = load(path)
    assert loaded.tiles.tile_size == (24, 24)
    assert loaded.tiles.solid.tolist() == [[True, False], [False, True]]
    assert loaded.bodies[0].shape == Box(24 + 12, 12, 24, 24)  # down the screen is along both


@pytest.mark.parametrize("axis", ["x", "y"])
@pytest.mark.parametrize("index", ["odd", "even"])
@pytest.mark.parametrize("side", [0, 8])
def test_staggered_cells_fit_together(tmp_path, axis, index, side):
    """They cover what is between them once, and the odd or the even ones are those that are moved."""
    kind = {"orientation": "hexagonal" if side else "staggered", "hexsidelength": side}
    kind |= {"staggeraxis": axis, "staggerindex": index}
    path = level_of(tmp_path, np.full((4, 5), 2), layers=lambda own: [{**own, "properties": solid()}], **kind)
    loaded = load(path)
    assert loaded.tiles is None
    assert len(loaded.bodies) == 20
    areas = [_area(body.shape.points) for body in loaded.bodies]
    straight = 16 * 24 / 2 + side * (24 if axis == "x" else 16) / 2
    assert areas == [straight] * 20
    inner = next(body for body in loaded.bodies if (body.data.column, body.data.row) == (2, 2))
    rng = np.random.default_rng(1)
    left, top, right, bottom = inner.bounds
    for x, y in rng.uniform((left, top), (right, bottom), (200, 2)).tolist():
        assert len(loaded.world.query_point((x, y))) == 1
    first = next(body for body in loaded.bodies if (body.data.column, body.data.row) == (0, 0))
    along = first.bounds[1] if axis == "x" else first.bounds[0]
    assert along == ((12 if axis == "x" else 8) if index == "even" else 0)


def _area(points):
    x, y = points.T
    return abs(x @ np.roll(y, -1) - y @ np.roll(x, -1)) / 2


def test_tiles_of_hexagonal_maps_turn_by_sixths(tmp_path):
    kind = {"orientation": "hexagonal", "hexsidelength": 8, "staggeraxis": "y", "staggerindex": "odd"}
    loaded = load(level_of(tmp_path, [[1 | 1 << 29, 1 | 1 << 28]], CORNER, **kind))
    bodies = sorted(loaded.bodies, key=lambda body: body.data.column)
    for body, angle, left in zip(bodies, (60, 120), (0, 16), strict=True):
        turn = math.radians(angle)
        matrix = np.array([[math.cos(turn), math.sin(turn)], [-math.sin(turn), math.cos(turn)]])
        wanted = (np.array([(2, 3), (11, 3), (2, 20)]) - (8, 12)) @ matrix + (8 + left, 12)
        assert np.allclose(np.sort(body.shape.points, axis=0), np.sort(wanted, axis=0))


# ---- worlds of maps


@pytest.mark.parametrize("y_up", [False, True])
def test_worlds_of_maps(tmp_path, y_up):
    for name in ("p0-0.tmx", "other.tmx"):
        written(tmp_path, name, as_tmx())
    pattern = r"p(-?\d+)-(-?\d+)\.(?:tmx|tmj)"
    patterns = [{"regexp": pattern, "multiplierX": 96, "multiplierY": 96, "offsetY": -96}]
    document = {"type": "world", "maps": [{"fileName": "other.tmx", "x": 96, "y": 0}], "patterns": patterns}
    path = written(tmp_path, "w.world", json.dumps(document).encode())
    loaded = load(path, y_up=y_up)
    one = TileMap.from_tiled(DATA / "dungeon.tmx")
    assert [(level.file.name, level.x, abs(level.y)) for level in loaded.maps] == [
        ("other.tmx", 96, 0),
        ("p0-0.tmx", 0, 96),
    ]
    solid_there = loaded.tiles.solid[::-1] if y_up else loaded.tiles.solid
    assert solid_there.shape == (8, 12)
    assert np.array_equal(solid_there[:4, :6], one.solid)
    assert np.array_equal(solid_there[4:, 6:], one.solid)
    assert not solid_there[:4, 6:].any()
    assert not solid_there[4:, :6].any()
    assert loaded.tiles.bounds == (0, -96, 192, 96)
    there = {(20, 28, -76, -68), (116, 124, 20, 28)}
    if y_up:
        there = {(left, right, -low, -high) for left, right, high, low in there}
    assert {(b.bounds[0], b.bounds[2], b.bounds[1], b.bounds[3]) for b in loaded.bodies} == there


def test_the_pattern_of_tileds_manual(tmp_path):
    names = ("ow-p02-n10-o0000.tmx", "ow-p00-n00-o0000.tmx", "ow-p2-nx-o0000.tmx")
    for name in names:
        written(tmp_path, name, as_tmx())
    pattern = {"regexp": r"ow-p0*(\d+)-n0*(\d+)-o0000\.tmx", "multiplierX": 96, "multiplierY": 96}
    path = written(tmp_path, "w.world", json.dumps({"type": "world", "patterns": [pattern]}).encode())
    placed = [(level.file.name, level.x, level.y) for level in load(path).maps]
    assert placed == [(names[1], 0, 0), (names[0], 2 * 96, 10 * 96)]


@pytest.mark.parametrize(
    ("document", "wrong"),
    [
        ({"maps": [{"x": 0}]}, r"a map has no 'fileName'"),
        ({"maps": [{"fileName": "none.tmx"}]}, r".*none\.tmx is not there"),
        ({"maps": [{"fileName": "a.tmj"}, {"fileName": "./a.tmj"}]}, r".*a\.tmj is named twice"),
        ({"maps": [{"fileName": "a.tmj", "x": 5}, {"fileName": "b.tmj"}]}, r".* moved against each other"),
        ({"maps": [{"fileName": "a.tmj"}, {"fileName": "c.tmj"}]}, r"tiles of .* on no common grid"),
        ({"maps": [{"fileName": "iso.tmj"}]}, r".*iso\.tmj is isometric"),
        ({"patterns": [{"regexp": "(a+)+b(c)"}]}, r"the pattern .* is too involved"),
        ({"patterns": [{"regexp": ".*.*.*.*(c)(d)"}]}, r"the pattern .* is too involved"),
        ({"patterns": [{"regexp": r"\d*\d*\d*\d*(c)(d)"}]}, r"the pattern .* is too involved"),
        ({"patterns": [{"regexp": r"\d*-*\d*-*\d*-*\d*-*(c)(d)"}]}, r"the pattern .* is too involved"),
        ({"patterns": [{"regexp": "(" + "a?" * 45 + ")()b"}]}, r"the pattern .* is too involved"),
        ({"patterns": [{"regexp": "()()" + "(?:a|a)" * 27}]}, r"the pattern .* is too involved"),
        ({"patterns": [{"regexp": r"()()" + r"\\*" * 20}]}, r"the pattern .* is too involved"),
        ({"patterns": [{"regexp": "(?x)(a+) +b(c)"}]}, r"the pattern .* is too involved"),
        ({"patterns": [{"regexp": "("}]}, r"the pattern .* cannot be read"),
        ({"patterns": [{"regexp": "(a)"}]}, r"the pattern .* has 1 groups"),
        ({"patterns": [{"regexp": r"(a)\.(tmj)"}]}, r"a\.tmj matches with 'a', where a whole number"),
    ],
)
def test_worlds_that_are_wrong(tmp_path, document, wrong):
    for name in ("a.tmj", "b.tmj"):
        written(tmp_path, name, as_tmj())
    written(tmp_path, "c.tmj", as_tmj(lambda level: level.update(tilewidth=8)))
    written(tmp_path, "iso.tmj", as_tmj(lambda level: level.update(orientation="isometric")))
    path = written(tmp_path, "w.world", json.dumps({"type": "world", **document}).encode())
    with pytest.raises(ValueError, match=rf"w\.world: {wrong}"):
        load(path)


def test_a_world_that_has_a_tile_map(tmp_path):
    level = load(DATA / "dungeon.tmx")
    with pytest.raises(ValueError, match="the world has a tile map"):
        load(DATA / "dungeon.tmx", level.world)
    assert len(level.world) == 1
