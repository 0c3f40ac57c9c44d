"""Writes ``signatures.txt``: the types that kernels are called with while the tests run.

Run the tests with ``BROADPHASE_RECORD=FOLDER``, then ``python -m broadphase.kernels.compiler.record FOLDER``.
"""

import sys
from pathlib import Path

from broadphase.kernels.machine.signatures import FILE


def record(folder: Path) -> None:
    """Put together what the processes of a test run have noted."""
    lines = {line for file in folder.glob("*.txt") for line in file.read_text().splitlines()}
    Path(FILE).write_text("".join(f"{line}\n" for line in sorted(lines)))


if __name__ == "__main__":
    record(Path(sys.argv[1]))
