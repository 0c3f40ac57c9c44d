"""What the tests of `broadphase.files` share."""

from pathlib import Path

import numpy as np
import pytest

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
