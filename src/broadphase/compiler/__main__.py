"""``python -m broadphase.compiler``: compile all kernels of this checkout, or of this package."""

import argparse
import sys
from ast import FunctionDef
from ast import parse as parse_source
from pathlib import Path

from broadphase.compiler.build import Job, advice, build, jobs_of
from broadphase.compiler.lowering import parse
from broadphase.kernels.machine.library import FOLDER
from broadphase.kernels.machine.mode import able
from broadphase.kernels.machine.signatures import FILE, listed
from broadphase.kernels.machine.target import HOST, TARGETS, chosen

KERNELS = Path(FILE).parent


def record(folder: Path, file: Path = Path(FILE)) -> None:
    """Add to ``signatures.txt`` the types of calls that were noted (`broadphase.kernels.machine.kernel`).

    Lines stay, as a test run need not have called every kernel; those that fit no kernel any more go.
    """
    noted = {
        line for notes in folder.glob("*.txt") for line in notes.read_text(encoding="utf-8").splitlines()
    }
    lines = noted | set(file.read_text(encoding="utf-8").splitlines())
    kept = sorted(line for line in lines if fits(*line.split(": ", 1)))
    file.write_text("".join(f"{line}\n" for line in kept), encoding="utf-8", newline="\n")


def fits(kernel: str, types: str) -> bool:
    """Whether there is such a kernel and it takes as many arguments, of types that exist."""
    module, _, name = kernel.rpartition(".")
    source = KERNELS.joinpath(*module.split(".")).with_suffix(".py")
    if not source.exists():
        return False
    functions = (node for node in parse_source(source.read_bytes()).body if isinstance(node, FunctionDef))
    count = {function.name: len(function.args.args) for function in functions}.get(name, -1)
    try:
        return len(parse(types)) == count
    except (ImportError, AttributeError):  # of a named tuple that was renamed
        return False


def main() -> None:
    """Build the libraries that the arguments name."""
    parser = argparse.ArgumentParser(prog="python -m broadphase.compiler", description=__doc__)
    parser.add_argument(
        "--target",
        choices=TARGETS,
        default=chosen().name,
        help="by default BROADPHASE_TARGET, or this platform",
    )
    parser.add_argument(
        "--levels",
        help="'all' or some of the target's, with commas between them; by default what this processor has, "
        "or all of another platform",
    )
    parser.add_argument("--folder", type=Path, default=Path(FOLDER), help="where the libraries are written")
    parser.add_argument(
        "--into", type=Path, help="a library of the lines 'kernel: types' from standard input"
    )
    parser.add_argument(
        "--record",
        type=Path,
        metavar="FOLDER",
        help="add to signatures.txt what a test run has noted there",
    )
    arguments = parser.parse_args()
    if arguments.record:
        record(arguments.record)
        return
    target = TARGETS[arguments.target]
    wanted = arguments.levels or (able()[0] if target == HOST else "all")
    levels = target.levels if wanted == "all" else wanted.split(",")
    if unknown := set(levels) - set(target.levels):
        parser.error(f"{target.name} has the levels {', '.join(target.levels)}; got {', '.join(unknown)}")
    if arguments.into:
        jobs = [Job(*line.rstrip().split(": ", 1)) for line in sys.stdin]
        build(jobs, target, levels[0], arguments.into)
        return
    for name in levels:
        library = Path(arguments.folder, f"{name}{target.suffix}")
        build(jobs_of(listed()), target, name, library)
        print(f"{library} ({library.stat().st_size / 1e6:.1f} MB)")


if __name__ == "__main__":
    try:
        main()
    except OSError as error:
        sys.exit(f"broadphase: {advice(error)}")
    except RuntimeError as error:  # of a process that compiles
        sys.exit(f"broadphase: {error}")
