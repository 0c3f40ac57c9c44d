"""Ids that were touched: collected, read once, in whatever number."""

import numpy as np
import pytest

from broadphase.indexes import storage, touched
from broadphase.indexes.storage import BoxStore
from broadphase.indexes.touched import Touched


@pytest.mark.smaller_set
@pytest.mark.parametrize("few", [2, 1 << 17])
@pytest.mark.parametrize("parts", [[], [[]], [[5, 3, 4]], [[7, 2], [], [2, 9, 0], [7]], [[1, 0, 2]] * 700])
def test_each_id_comes_once_and_ascending(monkeypatch, few, parts):
    monkeypatch.setattr(touched, "FIRST_ROWS", few)
    ids = Touched()
    for part in parts:
        ids.add(np.array(part, np.int32), 3)
    assert ids.ids().tolist() == sorted({one for part in parts for one in part})
    assert ids.ids().dtype == np.int32


@pytest.mark.smaller_set
def test_many_rows_are_written_and_taken_back_in_pieces(monkeypatch):
    monkeypatch.setattr(storage, "FIRST_ROWS", 2)
    store = BoxStore(2, np.float64)
    boxes = np.arange(24.0).reshape(6, 4)
    store.add_many(boxes, np.zeros(6, bool), np.ones(6, np.uint32), np.ones(6, np.uint32))
    ids = np.array([4, 0, 3], np.int32)
    before = store.rows_before(ids, boxes[:3])
    store.write(ids, boxes[:3])
    assert store.boxes[[4, 0, 3, 1]].tolist() == boxes[[0, 1, 2, 1]].tolist()
    store.take_back(ids, before)
    assert store.boxes[:6].tolist() == boxes.tolist()
    store.drop(np.array([3, 2, 4], np.int32))
    assert np.flatnonzero(np.isnan(store.boxes[:6]).all(axis=1)).tolist() == [2, 3, 4]
    store.add_many(boxes[:4], np.zeros(4, bool), np.ones(4, np.uint32), np.ones(4, np.uint32))
    assert store.boxes[:7].tolist() == boxes[[0, 1, 0, 1, 2, 5, 3]].tolist()
    store.check()
