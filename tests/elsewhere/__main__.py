"""Test the package for another platform from Linux on x86-64.

It builds the wheel (or takes one), looks at its libraries, and runs `tests/arrival.py` and the conformance
tests with it: in QEMU, in Wine, in Pyodide, or, for macOS, with its libraries mapped into a Python for Linux.
What that needs is fetched into ~/.cache/broadphase-elsewhere or $BROADPHASE_ELSEWHERE.
"""

import argparse
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from . import machines, parts, structure, suites

UNAVAILABLE = 3
"""The exit code where something that is needed cannot be fetched."""

_MACHINES: dict[str, machines.Maker | None] = {
    "linux-arm64": machines.linux_arm64,
    "windows-x86_64": machines.windows_x86_64,
    "macos-arm64": machines.macos_arm64,
    "macos-x86_64": machines.macos_x86_64,
    "emscripten-wasm32": machines.emscripten_wasm32,
    "windows-arm64": None,  # nothing runs it here
}


def _libraries_are_sound(package: Path, target: str) -> bool:
    found = [path for path in (package / "broadphase/kernels/compiled").iterdir() if path.suffix != ".index"]
    faults = {path.name: structure.faults(path, target) for path in sorted(found)}
    for name, wrong in faults.items():
        print(f"{target} {name}:", "; ".join(wrong) or "is what the loader takes", flush=True)
    return bool(faults) and not any(faults.values())


def _suites_pass(machine: machines.Machine, target: str, tests: Sequence[str]) -> bool:
    able, others = suites.levels(machine)
    for level in others:
        print(f"{target} {level}: NOT RUN: this processor lacks its instructions", flush=True)
    good = bool(able)
    for level in able:
        for ran in suites.suites(machine, level, tests):
            if not ran.passed:
                print(ran.output)
            verdict = "passed" if ran.passed else "FAILED"
            print(f"{target} {level} {ran.name}: {verdict} in {ran.seconds:.0f} s: {ran.told}", flush=True)
            good &= ran.passed
    return good


def _page_runs(wheel: Path, target: str, folder: Path) -> bool:
    """Whether the site's button "Run" works with this wheel."""
    from . import page

    try:
        told = page.check(wheel, parts.kept(f"{target}/pyodide", parts.pyodide), folder)
    except parts.UnavailableError as error:
        print(f"{target} page: NOT RUN: {error}", flush=True)
        return True
    except Exception as error:
        print(f"{target} page: FAILED: {error}", flush=True)
        return False
    print(f"{target} page: passed: {told}", flush=True)
    return True


def main() -> int:
    """Test what the arguments name."""
    parser = argparse.ArgumentParser(
        prog="python -m tests.elsewhere",
        usage="%(prog)s TARGET [options] [-- arguments of pytest, instead of the conformance tests]",
        description=__doc__,
    )
    parser.add_argument("target", choices=_MACHINES)
    parser.add_argument("--wheel", type=Path, help="what to test, instead of building it")
    parser.add_argument("--levels", default="all", help="which to build, with commas between them")
    parser.add_argument(
        "--with",
        dest="more",
        nargs="*",
        default=[],
        metavar="REQUIREMENT",
        help="what those tests import besides",
    )
    given = sys.argv[1:]
    end = given.index("--") if "--" in given else len(given)
    arguments, tests = parser.parse_args(given[:end]), given[end + 1 :]
    start = time.monotonic()
    make = _MACHINES[arguments.target]
    with TemporaryDirectory() as folder:
        try:
            machine = make(Path(folder), arguments.more) if make else None
        except parts.UnavailableError as error:
            print(f"{arguments.target}: NOT TESTED: {error}", file=sys.stderr)
            return UNAVAILABLE
        wheel = arguments.wheel or parts.build_wheel(arguments.target, arguments.levels, Path(folder))
        print(f"{arguments.target}: {wheel.name} ({time.monotonic() - start:.0f} s)", flush=True)
        parts.unpack_wheel(wheel, Path(folder, "package"))
        good = _libraries_are_sound(Path(folder, "package"), arguments.target)
        if machine:
            machine.install(wheel)
            good &= _suites_pass(machine, arguments.target, tests)
            if arguments.target.startswith("emscripten"):
                good &= _page_runs(wheel, arguments.target, Path(folder, "page"))
        else:
            print(f"{arguments.target}: NOT RUN: nothing here emulates it", flush=True)
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
