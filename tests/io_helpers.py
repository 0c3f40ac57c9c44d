"""What the tests of `broadphase.files` share."""

from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st

from broadphase.errors import FileError
from broadphase.files import read_boxes

BOXES = np.array([[0.5, 1, 2, 3], [-4, 0.1, 1e30, 7], [5, 5, 5, 5]])
BOXES_3D = np.array([[0.5, 1, -3, 2, 3, 4], [1, 1, 1, 1, 1, 1]])


def written(tmp_path: Path, name: str, text: str, encoding: str = "utf-8") -> Path:
    path = tmp_path / name
    path.write_bytes(text.encode(encoding))
    return path


def message(path: Path, **options) -> str:
    """The error of reading ``path``, which begins with its name, without that name."""
    with pytest.raises(FileError) as caught:
        read_boxes(path, **options)
    text = str(caught.value)
    assert "\n" not in text
    assert text.startswith(f"{path}: ")
    return text.removeprefix(f"{path}: ")


any_file = settings(suppress_health_check=[HealthCheck.function_scoped_fixture])


def swapped(draw, value, values, odds, gone=None):
    """The document with one in some values of any other type, and one in some others left out."""
    if draw(st.integers(0, odds)) == 0:
        return draw(values)
    if isinstance(value, dict):
        kept = (
            value if gone is None else {key: one for key, one in value.items() if draw(st.integers(0, gone))}
        )
        return {key: swapped(draw, one, values, odds, gone) for key, one in kept.items()}
    if isinstance(value, list):
        return [swapped(draw, one, values, odds, gone) for one in value] if len(value) < 10 else value
    return value
