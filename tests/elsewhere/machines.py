"""A Python of another platform, and how to start it here."""

import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import blake2b
from pathlib import Path

from . import parts

_TESTS = Path(__file__).parents[1]
_NEEDED = ("numpy>=2.0", "pytest>=9.0", "pytest-xdist>=3.8", "hypothesis>=6.100")
_ARM64_WHEELS = ("manylinux2014_aarch64", "manylinux_2_27_aarch64", "manylinux_2_28_aarch64")
_X86_64_WHEELS = ("manylinux2014_x86_64", "manylinux_2_27_x86_64", "manylinux_2_28_x86_64")


@dataclass(frozen=True)
class Machine:
    """One of them, with what the tests import."""

    python: tuple[str, ...]
    libraries: tuple[Path, ...]
    environment: Mapping[str, str] = field(default_factory=dict)
    is_windows: bool = False

    def name_of(self, path: Path) -> str:
        """How that Python names a file of this machine."""
        return _in_wine(path) if self.is_windows else str(path)

    def run(
        self, arguments: Sequence[str], package: Path, environment: Mapping[str, str]
    ) -> subprocess.CompletedProcess[str]:
        """Run Python there, in the checkout; ``package`` is the folder that holds the package."""
        paths = [*self.libraries, package]
        foreign = ("BROADPHASE_", "NUMBA_", "PYTHON", "PYTEST_")
        return subprocess.run(
            [*self.python, *arguments],
            env={
                **{name: value for name, value in os.environ.items() if not name.startswith(foreign)},
                "PYTHONPATH": (";" if self.is_windows else ":").join(map(self.name_of, paths)),
                "PYTHONPYCACHEPREFIX": self.name_of(parts.CACHE / "pycache"),
                **self.environment,
                **environment,
            },
            cwd=_TESTS.parent,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            encoding="utf-8",
            errors="replace",
            check=False,
        )


def _in_wine(path: Path) -> str:
    return "Z:" + str(path).replace("/", "\\")


def _runs_first(line: str, tests: str = str(_TESTS)) -> Path:
    """A folder of the path from which each Python of a machine runs a line first."""
    text = f"import sys\n\nsys.path.append({tests!r})\n{line}\n"

    def make(into: Path) -> None:
        into.mkdir()
        Path(into, "sitecustomize.py").write_text(text)

    return parts.kept(f"first/{blake2b(text.encode(), digest_size=6).hexdigest()}", make)


_LOAD_MACH_O = "import elsewhere.mapped\n\nelsewhere.mapped.load_instead()"


def linux_arm64(more: Sequence[str] = ()) -> Machine:
    """Debian's Python, in QEMU."""
    return _qemu("", more)


def macos_arm64(more: Sequence[str] = ()) -> Machine:
    """The same, with libraries for macOS mapped into it."""
    return _qemu(_LOAD_MACH_O, more)


def macos_x86_64(more: Sequence[str] = ()) -> Machine:
    """This Python without what is installed beside it, with libraries for macOS mapped into it."""
    version = "{}.{}".format(*sys.version_info)

    def make(into: Path) -> None:
        parts.fetch(sys.executable, "-m", "venv", "--without-pip", into)

    return Machine(
        python=(str(parts.kept(f"macos-x86_64/python{version}", make) / "bin/python"),),
        libraries=(
            _runs_first(_LOAD_MACH_O),
            parts.wheels(_X86_64_WHEELS, (*_NEEDED, *more), version),
        ),
    )


def _qemu(first: str, more: Sequence[str]) -> Machine:
    qemu = parts.program("qemu-aarch64", "qemu-user")
    packages = ("python3.11", "python3-distutils", "libstdc++6")
    system = parts.kept("linux-arm64/debian", lambda into: parts.debian("arm64", packages, into))
    python = system / "usr/bin/python3.11"

    def make(into: Path) -> None:
        into.mkdir()
        script = into / "python"  # what tests start as `sys.executable`
        script.write_text(f'#!/bin/sh\nexec {qemu} -L {system} {python} "$@"\n')
        script.chmod(0o755)

    starter = parts.kept("linux-arm64/start", make) / "python"
    return Machine(
        python=(str(starter),),
        libraries=(
            _runs_first(f"sys.executable = {str(starter)!r}\n{first}"),
            parts.wheels(_ARM64_WHEELS, (*_NEEDED, *more), "3.11"),
        ),
    )


def windows_x86_64(more: Sequence[str] = ()) -> Machine:
    """The Python of python.org, in Wine."""
    wine = parts.program("wine", "wine")
    python = parts.kept("windows-x86_64/python", parts.windows_python) / "python.exe"
    environment = {
        "WINEDEBUG": "-all",
        "WINEDLLOVERRIDES": "mscoree,mshtml=",  # else it asks whether to fetch those
        "DISPLAY": "",
    }

    def make(into: Path) -> None:
        for command in (("wineboot", "--init"), ("winecfg", "/v", "win10")):
            done = subprocess.run(
                [wine, *command],
                env={**os.environ, **environment, "WINEPREFIX": str(into)},
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                check=False,
            )
            if done.returncode != 0:
                raise parts.UnavailableError(f"Wine's {command[0]} failed")
        # Its server writes what has changed when it ends.
        subprocess.run(["wineserver", "--wait"], env={**os.environ, "WINEPREFIX": str(into)}, check=False)

    prefix = parts.kept("windows-x86_64/wine", make)
    first = _runs_first("import elsewhere.wine\n\nelsewhere.wine.mend()", _in_wine(_TESTS))
    return Machine(
        python=(wine, str(python)),
        libraries=(first, parts.wheels(("win_amd64",), (*_NEEDED, "colorama", *more), "3.11")),
        environment={**environment, "WINEPREFIX": str(prefix)},
        is_windows=True,
    )
