"""Boxes from GeoJSON: the bounds of each feature, and what is wrong with a bad one."""

import json
from pathlib import Path

import pytest
from io_helpers import message, written

from broadphase.files import read_boxes

pytestmark = pytest.mark.smaller_set


def feature(geometry, **more) -> dict:
    return {"type": "Feature", "geometry": geometry, "properties": {}, **more}


def collection(*features) -> dict:
    return {"type": "FeatureCollection", "features": list(features)}


POINT = {"type": "Point", "coordinates": [1, 2]}


class TestGeoJson:
    def saved(self, tmp_path, document) -> Path:
        return written(tmp_path, "a.geojson", json.dumps(document))

    @pytest.mark.parametrize(
        ("geometry", "box"),
        [
            (POINT, [1, 2, 1, 2]),
            ({"type": "Point", "coordinates": [1.5, 2, 900]}, [1.5, 2, 1.5, 2]),
            ({"type": "MultiPoint", "coordinates": [[1, 2], [-3, 4]]}, [-3, 2, 1, 4]),
            ({"type": "LineString", "coordinates": [[1, 2], [-3, 4]]}, [-3, 2, 1, 4]),
            ({"type": "MultiLineString", "coordinates": [[[1, 2], [3, 4]], [[9, 0], [1, 1]]]}, [1, 0, 9, 4]),
            (
                {"type": "Polygon", "coordinates": [[[0, 0], [4, 0], [4, 3], [0, 0]], [[1, 1], [2, 1]]]},
                [0, 0, 4, 3],
            ),
            (
                {"type": "MultiPolygon", "coordinates": [[[[0, 0], [4, 0]]], [[[-5, 7], [1, 1]]]]},
                [-5, 0, 4, 7],
            ),
            (
                {
                    "type": "GeometryCollection",
                    "geometries": [
                        POINT,
                        {
                            "type": "GeometryCollection",
                            "geometries": [{"type": "MultiPoint", "coordinates": [[8, 9]]}],
                        },
                        {"type": "GeometryCollection", "geometries": []},
                    ],
                },
                [1, 2, 8, 9],
            ),
        ],
    )
    def test_the_bounds_of_every_geometry(self, tmp_path, geometry, box):
        for document in (geometry, feature(geometry), collection(feature(geometry))):
            assert read_boxes(self.saved(tmp_path, document)).boxes.tolist() == [box]

    def test_no_features_are_no_boxes(self, tmp_path):
        boxes, ids = read_boxes(self.saved(tmp_path, collection()))
        assert boxes.shape == (0, 4)
        assert ids is None

    @pytest.mark.parametrize(
        ("features", "ids"),
        [
            ([feature(POINT, id=7), feature(POINT, id=9)], [7, 9]),
            ([feature(POINT, id="a"), feature(POINT, id=9)], ["a", "9"]),
            (
                [feature(POINT, properties={"id": "01"}), feature(POINT, properties={"id": "02"})],
                ["01", "02"],
            ),
            (
                [feature(POINT, id=1, properties={"id": 5}), feature(POINT, id=None, properties={"id": 6})],
                [1, 6],
            ),
            ([feature(POINT, id=1), feature(POINT)], None),
            ([feature(POINT, properties=None), feature(POINT)], None),
        ],
    )
    def test_ids(self, tmp_path, features, ids):
        read = read_boxes(self.saved(tmp_path, collection(*features))).ids
        assert (None if read is None else read.tolist()) == ids

    def test_a_property_as_id(self, tmp_path):
        path = self.saved(tmp_path, collection(feature(POINT, id=7, properties={"name": "here"})))
        assert read_boxes(path, id_column="name").ids.tolist() == ["here"]
        assert message(path, id_column="nom") == "feature 0 has no property 'nom' for its id"

    @pytest.mark.parametrize(
        ("broken", "wrong"),
        [
            (feature(None), "feature 1 has no geometry and so no bounds; remove it"),
            (feature(None, id="x"), 'feature 1 (id "x") has no geometry and so no bounds; remove it'),
            (
                feature({"type": "MultiPoint", "coordinates": []}),
                "feature 1 has no geometry and so no bounds; remove it",
            ),
            (
                feature({"type": "Point", "coordinates": []}),
                "feature 1 has no geometry and so no bounds; remove it",
            ),
            (feature({"type": "Circle"}), 'feature 1 has a geometry of unknown type "Circle"'),
            (feature([1, 2]), "feature 1 has a geometry of unknown type null"),
            (17, "feature 1 is no object but 17"),
            (
                feature({"type": "Point", "coordinates": ["1", "2"]}),
                'feature 1 has ["1", "2"] where a position [x, y] belongs',
            ),
            (
                feature({"type": "LineString", "coordinates": [[1, 2], [3]]}),
                "feature 1 has [3] where a position [x, y] belongs",
            ),
            (
                feature({"type": "LineString", "coordinates": [[1, 2], [3, None]]}),
                "feature 1 has [3, null] where a position [x, y] belongs",
            ),
            (
                feature({"type": "LineString", "coordinates": [[1, 2], [True, 3]]}),
                "feature 1 has [true, 3] where a position [x, y] belongs",
            ),
            (
                feature({"type": "Polygon", "coordinates": [[1, 2], [3, 4]]}),
                "feature 1 has 1 where a position [x, y] belongs",
            ),
            (
                feature({"type": "Polygon", "coordinates": 5}),
                "feature 1 has 5 where a list of coordinates belongs",
            ),
        ],
    )
    def test_a_bad_feature_is_named(self, tmp_path, broken, wrong):
        assert message(self.saved(tmp_path, collection(feature(POINT), broken))) == wrong

    @pytest.mark.parametrize("number", ["1" + 400 * "0", "NaN", "Infinity"])
    def test_numbers_that_are_none(self, tmp_path, number):
        path = written(tmp_path, "a.geojson", f'{{"type": "Point", "coordinates": [{number}, 1]}}')
        assert "position [x, y] belongs" in message(path) or "is not JSON" in message(path)

    @pytest.mark.parametrize("text", ["", "[1, 2", "x,y\n1,2"])
    def test_no_json(self, tmp_path, text):
        assert message(written(tmp_path, "a.json", text)).startswith("is not JSON: ")

    @pytest.mark.parametrize("document", [[], {"type": "Topology"}, {"a": 1}, 5])
    def test_other_json(self, tmp_path, document):
        assert message(self.saved(tmp_path, document)).startswith("is no GeoJSON")

    def test_no_text(self, tmp_path):
        assert message(written(tmp_path, "a.json", '{"a": "ö"}', "latin-1")) == "is no text in UTF-8"

    def test_nested_too_deeply(self, tmp_path):
        depth = 100_000
        text = '{"type":"GeometryCollection","geometries":[' * depth + "]}" * depth
        assert message(written(tmp_path, "a.json", text)) == "is nested too deeply"
