"""The public names of `broadphase.io`: boxes are read from files and pairs are written to files."""

from broadphase.io import STANDARD as STANDARD
from broadphase.io import FileError, Limits, Table, check_output, read_boxes, write_pairs
from broadphase.io import endings as endings
from broadphase.io import needs_pyarrow as needs_pyarrow

__all__ = ["FileError", "Limits", "Table", "check_output", "read_boxes", "write_pairs"]
