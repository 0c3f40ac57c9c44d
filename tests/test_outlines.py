"""What a debug draw shows of a world is where it is; expected values by brute force and by shapely."""

from itertools import pairwise

import numpy as np
import pytest

import broadphase as bp

shapely = pytest.importorskip("shapely", reason="the extra bench is not installed")
VIEW = (100.0, 100.0, 300.0, 250.0)


def shown(world, view=VIEW, **options):
    return {(one.kind, one.tags): one for one in world.outlines(view, **options)}


def scattered(count=60, **options):
    """Bodies of all shapes around and in the view."""
    rng, world = np.random.default_rng(4), bp.World(**options)
    for k in range(count):
        (x, y), size = rng.uniform(0, 400, 2).tolist(), rng.uniform(4, 20)
        shapes = (
            bp.Box(x, y, size, 9),
            bp.Circle(x, y, size),
            bp.Polygon([(x, y), (x + size, y + 3), (x + 2, y + size)]),
            bp.Capsule(x, y, x + size, y + 7, 5),
            bp.RoundedBox(x, y, 2 * size, size, 1),
        )
        body = world.add(shapes[k % 5], tag=f"kind {k % 5}", sensor=k % 2 == 0)
        if k % 3 == 0 and not isinstance(body.shape, bp.Circle):
            body.angle = 10.0 * k
    return world


def exact(shape):
    """A shape in shapely; arcs as there."""
    if isinstance(shape, bp.Circle):
        return shapely.Point(shape.x, shape.y).buffer(shape.radius)
    if isinstance(shape, bp.Box):
        return shapely.box(*shape.bounds)
    points = [tuple(point) for point in shape.points]
    core = shapely.LineString(points) if len(points) == 2 else shapely.Polygon(points)
    return core.buffer(shape.radius)


def drawn_areas(one):
    """What an outline draws, in shapely."""
    rings = [corners for some in one.polygons for corners in some]
    return [
        *(shapely.box(*box) for box in one.boxes),
        *(shapely.Point(x, y).buffer(radius) for x, y, radius in one.circles),
        *map(shapely.Polygon, rings),
    ]


def test_bodies_in_the_view_are_outlined_as_they_are_and_no_others():
    world = scattered()
    found = shown(world)
    for sensor in (False, True):
        for tag in {body.tag for body in world}:
            one = found.get(("sensor" if sensor else "body", frozenset({tag})))
            expected = [exact(b.shape) for b in world.query_box(VIEW, tag=tag) if b.sensor == sensor]
            drawn = drawn_areas(one) if one else []
            assert len(drawn) == len(expected)
            for area in expected:
                difference = min(area.symmetric_difference(other).area for other in drawn)
                assert difference <= 0.03 * area.area
                assert any(area.hausdorff_distance(other) < 0.3 for other in drawn)
    assert sum(len(drawn_areas(one)) for one in world.outlines()) == len(world)


def test_a_circle_or_a_rounded_shape_becomes_lines_around_it():
    world = bp.World()
    world.add(bp.Circle(150, 150, 10))
    world.add(bp.Box(200, 150, 10, 20))
    (one,) = world.outlines(VIEW)
    lines = one.segments()
    assert lines.shape == (16 + 4, 2, 2)
    ring = lines[np.linalg.norm(lines[:, 0] - (150, 150), axis=1) < 11]
    assert np.allclose(np.linalg.norm(ring - (150, 150), axis=2), 10)
    assert np.array_equal(np.sort(ring[:, 0], axis=0), np.sort(ring[:, 1], axis=0)), "closed"


def test_bodies_across_the_edge_of_a_period_are_drawn_on_both_sides():
    world = bp.World(period=(400, None))
    world.add(bp.Box(395, 110, 10, 10))
    assert shown(world, (0, 100, 50, 200))["body", frozenset()].boxes.tolist() == [[-5, 110, 5, 120]]
    both = shown(world, (0, 100, 400, 200))["body", frozenset()].boxes
    assert sorted(both.tolist()) == [[-5, 110, 5, 120], [395, 110, 405, 120]]
    world.tiles = bp.TileMap([[True, False, False, True]], 100)
    assert len(world.outlines()) == 2
    assert shown(world, (-100, -50, 500, 150))["tile", frozenset()].lines.tolist()[0] == [-100, 0, 100, 0]


def test_the_borders_of_solid_tiles_are_drawn_and_nothing_else():
    solid = np.random.default_rng(2).random((12, 15)) < 0.5
    world = bp.World()
    world.tiles = bp.TileMap(solid, (10, 20), origin=(3, 7))
    world.tiles.set_one_way(*np.argwhere(~solid)[5, ::-1].tolist(), ("top", "left"))
    world.tiles.set_ladder(*np.argwhere(~solid)[7, ::-1].tolist())
    world.tiles.set_slope(*np.argwhere(~solid)[9, ::-1].tolist(), 0, 1)
    found = shown(world, None)
    lines = shapely.union_all(shapely.linestrings(found["tile", frozenset()].lines.reshape(-1, 2, 2)))
    cells = [shapely.box(*world.tiles.bounds_of(column, row)) for row, column in np.argwhere(solid)]
    keys = [tuple(sorted(side)) for cell in cells for side in pairwise(cell.exterior.coords)]
    expected = shapely.union_all([shapely.LineString(key) for key in keys if keys.count(key) == 1])
    assert lines.symmetric_difference(expected).length == 0
    assert len(found["one_way", frozenset()].lines) == 4
    assert len(found["ladder", frozenset()].lines) == 2
    assert len(found["slope", frozenset()].polygons) == 1
    assert set(found) == {(kind, frozenset()) for kind in ("tile", "one_way", "ladder", "slope")}
    inner = shown(world, (34, 48, 60, 90))["tile", frozenset()].lines
    assert 0 < len(inner) < len(found["tile", frozenset()].lines) / 2


@pytest.mark.parametrize("period", [None, (100, 100)])
def test_what_tiles_are_is_drawn_around_all_that_are_the_same(period):
    world = bp.World(period=period)
    world.tiles = tiles = bp.TileMap(np.zeros((10, 10), np.bool_), 10)
    for column, row in ((0, 4), (1, 4), (1, 5)):
        tiles.set_data(column, row, "water")
    tiles.set_data(7, 7, ("lava", "hot"))
    tiles.set(7, 7, True)
    found = shown(world, None, colors={"lava": "red"})
    water, lava = found["data", frozenset({"water"})], found["data", frozenset({"lava", "hot"})]
    around = shapely.union_all([shapely.box(*tiles.bounds_of(*at)) for at in ((0, 4), (1, 4), (1, 5))])
    lines = shapely.union_all(shapely.linestrings(water.lines.reshape(-1, 2, 2)))
    assert lines.symmetric_difference(around.boundary).length == 0
    assert (lava.color, len(lava.lines)) == ("red", 4)
    assert water.color != "red"
    if period:
        assert shown(world, (100, 0, 200, 100))["data", frozenset({"water"})].lines[:, ::2].min() == 100


def test_the_sides_of_bodies_that_block_are_drawn():
    world = bp.World()
    plank = world.add(bp.Box(110, 110, 40, 4), static=True)
    plank.one_way = ("top", "left")
    assert shown(world)["one_way", frozenset()].lines.tolist() == [
        *([110, 110, 150, 110], [110, 114, 110, 110], [130, 110, 130, 106], [110, 112, 106, 112])
    ]
    plank.shape = bp.Box(110, 110, 40, 0)
    assert [110, 110, 150, 110] in shown(world)["one_way", frozenset()].lines.tolist()
    plank.one_way = ()
    leaning = world.add(bp.Polygon([(200, 200), (240, 170), (240, 180), (200, 210)]), static=True)
    leaning.one_way = "top"
    (_, _, *side), tick = shown(world)["one_way", frozenset()].lines.tolist()
    assert (side, tick[:2]) == ([240, 170], [220, 185])
    assert tick[2:] == pytest.approx([220 - 6, 185 - 8]), "outwards, as long as its shortest side"
    assert len(shown(world, (0, 0, 100, 100))) == 0


def test_contacts_are_drawn_along_their_normals():
    world = bp.World()
    fox, hen = world.add(bp.Box(110, 110, 10, 10), tag="fox"), world.add(bp.Box(118, 110, 10, 10), tag="hen")
    world.on("fox", "hen")
    assert not [one for one in world.outlines(VIEW) if one.kind == "contact"]
    world.update()
    assert shown(world)["contact", frozenset()].lines.tolist() == [[119, 115, 114, 115]]
    world.remove(hen)
    assert not [one for one in world.outlines(VIEW) if one.kind == "contact"], "one is gone"
    assert fox.alive


def test_rays_are_drawn_once_from_the_first_picture_on():
    world = bp.World()
    world.add(bp.Box(200, 150, 10, 10))
    world.raycast((120, 155), (1, 0))
    assert ("ray", frozenset()) not in shown(world)
    world.raycast((120, 155), (2, 0))
    world.query_ray((120, 155), (1, 0), 150)
    world.line_of_sight((120, 120), (130, 120))
    world.raycast([[120, 130]], [[0, 1]], 50)
    assert not world.line_of_sight((250, 155), (120, 155)), "drawn up to what blocks it"
    assert not world.line_of_sight([(120, 155)], (250, 155)).any()
    lines = shown(world)["ray", frozenset()].lines.tolist()
    assert lines == [
        [120, 155, 200, 155],
        [120, 155, 270, 155],
        [120, 120, 130, 120],
        [120, 130, 120, 180],
        *2 * [[120, 155, 200, 155]],
    ]
    assert ("ray", frozenset()) not in shown(world)


@pytest.mark.parametrize("broadphase", bp.INDEXES)
def test_the_parts_of_the_index_cover_what_it_holds(broadphase):
    options = (
        bp.UniformGrid(bounds=(0, 0, 400, 400), cell_size=30) if broadphase == "uniform_grid" else broadphase
    )
    world = scattered(broadphase=options)
    view = (-50.0, -50.0, 450.0, 450.0)
    parts = shown(world, view, show=["index"])["index", frozenset()].boxes
    for body in world:
        x, y = np.clip(body.center, 0, 399.0)
        assert ((parts[:, :2] <= (x, y)) & (parts[:, 2:] >= (x, y))).all(axis=1).any()


def test_colors_are_by_tag_and_come_back_as_they_are():
    world = bp.World()
    for tag in ("a", "b", None):
        world.add(bp.Circle(150, 150, 5), tag=tag)
    colors = [one.color for one in world.outlines(VIEW)]
    assert len(set(colors)) == 3
    named = shown(world, colors={"a": "red"})
    assert named["body", frozenset("a")].color == "red"
    assert named["body", frozenset("b")].color in colors
    for wrong in ("body", ["bodies"]):
        with pytest.raises(ValueError, match="must be several of index, tile"):
            world.outlines(show=wrong)


def test_matplotlib_draws_a_world():
    pytest.importorskip("matplotlib", reason="the extra plot is not installed")
    axes = bp.plot.draw_world(scattered(), colors={"kind 1": "red"})
    assert axes.yaxis_inverted()
    assert len(axes.collections) == 10
    assert bp.plot.draw_world(bp.World()).collections[:] == []
