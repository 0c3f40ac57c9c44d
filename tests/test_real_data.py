"""Real boxes: the outlines of US states and counties, checked against shapely.

They come in the wheel of `plotly-geo`, as the shapefiles of the US Census Bureau.  Neighbours share edges
to the last bit, sizes go from a town to Alaska, and the Aleutians, which cross the date line, make boxes
around the whole Earth.
"""

import functools
import struct
from importlib.resources import files

import numpy as np
import pytest
import shapely
from checks import assert_same, in_order

import broadphase as bp

every_method = pytest.mark.parametrize("method", bp.METHODS)
touching_or_not = pytest.mark.parametrize("touching", [True, False], ids=["touching", "strict"])

COUNTIES, OLD_COUNTIES, STATES = "cb_2016_us_county_500k", "gz_2010_us_050_00_500k", "cb_2016_us_state_500k"
ROWS = {COUNTIES: 3_233, OLD_COUNTIES: 3_221, STATES: 56}


@functools.cache
def outlines(name):
    """The bounding boxes of a shapefile's records, which each record states itself.

    After 100 bytes of header, each record is its number and its length in 16-bit words (big-endian), the
    shape's type, and four little-endian doubles: min x, min y, max x, max y.
    """
    shapefile = files("_plotly_geo").joinpath("package_data", f"{name}.shp").read_bytes()
    rows = []
    at = 100
    while at < len(shapefile):
        (words,) = struct.unpack_from(">i", shapefile, at + 4)
        rows.append(struct.unpack_from("<4d", shapefile, at + 12))
        at += 8 + 2 * words
    boxes = np.array(rows)
    assert len(boxes) == ROWS[name]
    assert (boxes[:, :2] < boxes[:, 2:]).all()
    return boxes


@functools.cache
def shapely_join(a, b, touching):
    """Sorted pairs of rows as shapely's tree finds them; boxes that only touch are taken out again."""
    tree = shapely.STRtree(shapely.box(*outlines(b).T))
    queries = shapely.box(*outlines(a).T)
    found = tree.query(queries, predicate="intersects").T.astype(np.int32)
    if not touching:
        only_touching = tree.query(queries, predicate="touches").T
        number = len(outlines(b))
        kept = ~np.isin(found @ [number, 1], only_touching @ [number, 1])
        found = found[kept]
    return in_order(found)


@every_method
@touching_or_not
@pytest.mark.parametrize("name", [COUNTIES, OLD_COUNTIES])
def test_counties_that_overlap(name, touching, method):
    both_ways = shapely_join(name, name, touching)
    expected = both_ways[both_ways[:, 0] < both_ways[:, 1]]
    assert len(expected) > 10_000
    assert len(shapely_join(name, name, True)) > len(shapely_join(name, name, False)), "some only touch"
    assert_same(bp.pairs(outlines(name), method=method, touching=touching), expected)


@every_method
@touching_or_not
@pytest.mark.parametrize(("a", "b"), [(COUNTIES, STATES), (STATES, COUNTIES), (COUNTIES, OLD_COUNTIES)])
def test_counties_and_states(a, b, touching, method):
    found = bp.join(outlines(a), outlines(b), method=method, touching=touching)
    assert_same(found, shapely_join(a, b, touching))


@every_method
def test_float32_counties_agree_with_their_own_rounding(method):
    """Rounded to float32 the outlines are other boxes, of which shapely says the same."""
    rounded = outlines(COUNTIES).astype(np.float32)
    shapes = shapely.box(*rounded.astype(np.float64).T)
    found = in_order(shapely.STRtree(shapes).query(shapes, predicate="intersects").T.astype(np.int32))
    assert_same(bp.pairs(rounded, method=method), found[found[:, 0] < found[:, 1]])
