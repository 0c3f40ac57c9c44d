"""``python -m broadphase.compiler``: compile all kernels of this checkout, or of this package."""

import argparse
import sys
from pathlib import Path

from broadphase.compiler.build import Job, build, jobs_of
from broadphase.kernels.machine.level import able, levels
from broadphase.kernels.machine.library import FOLDER, SUFFIX
from broadphase.kernels.machine.signatures import FILE, listed


def record(folder: Path) -> None:
    """Write ``signatures.txt``: the types that kernels were called with, as `Recorder` has noted them."""
    lines = {line for file in folder.glob("*.txt") for line in file.read_text().splitlines()}
    Path(FILE).write_text("".join(f"{line}\n" for line in sorted(lines)))


def main() -> None:
    """Build the libraries that the arguments name."""
    parser = argparse.ArgumentParser(prog="python -m broadphase.compiler", description=__doc__)
    parser.add_argument("--levels", default=able()[0], help=f"'all' or some of {','.join(levels())}")
    parser.add_argument(
        "--into", type=Path, help="a library of the lines 'kernel: types' from standard input"
    )
    parser.add_argument(
        "--record",
        type=Path,
        metavar="FOLDER",
        help="write signatures.txt from what a test run has noted there",
    )
    arguments = parser.parse_args()
    if arguments.record:
        record(arguments.record)
        return
    if arguments.into:
        build([Job(*line.rstrip().split(": ", 1)) for line in sys.stdin], arguments.levels, arguments.into)
        return
    for name in levels() if arguments.levels == "all" else arguments.levels.split(","):
        library = Path(FOLDER, f"{name}{SUFFIX}")
        build(jobs_of(listed()), name, library)
        print(f"{library} ({library.stat().st_size / 1e6:.1f} MB)")


if __name__ == "__main__":
    main()
