"""A Python of another platform, and how to start it here."""

import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path, PureWindowsPath

from . import parts

_TOOLS = ("pytest>=9.0", "pytest-xdist>=3.8", "hypothesis>=6.100")
NEEDED = ("numpy>=2.0", *_TOOLS)
_ARM64_WHEELS = ("manylinux2014_aarch64", "manylinux_2_27_aarch64", "manylinux_2_28_aarch64")
_X86_64_WHEELS = ("manylinux2014_x86_64", "manylinux_2_27_x86_64", "manylinux_2_28_x86_64")
_LOAD_MACH_O = "import elsewhere.mapped\n\nelsewhere.mapped.load_instead()\n"
_READS_MACH_O = "lief>=1.0"
_MEND_WINE = "import elsewhere.wine\n\nelsewhere.wine.mend()\n"


@dataclass(frozen=True)
class Machine:
    """One of them, with what the tests import, in a folder of its own."""

    place: Path
    python: tuple[str, ...]
    environment: Mapping[str, str] = field(default_factory=dict)
    starts_processes: bool = True

    @property
    def checkout(self) -> Path:
        """The copy of the checkout in which the tests run, with the package as the wheel has it."""
        return self.place / "checkout"

    def install(self, wheel: Path) -> None:
        """Put the package there."""
        parts.copy_checkout(self.checkout)
        shutil.rmtree(self.checkout / "src")
        parts.unpack_wheel(wheel, self.checkout / "src")

    def run(
        self, arguments: Sequence[str], environment: Mapping[str, str]
    ) -> subprocess.CompletedProcess[str]:
        """Run Python there."""
        foreign = ("BROADPHASE_", "NUMBA_", "PYTHON", "PYTEST_", "VIRTUAL_ENV")
        kept = {name: value for name, value in os.environ.items() if not name.startswith(foreign)}
        return subprocess.run(
            [*self.python, *arguments],
            env={**kept, **self.environment, **environment},
            cwd=self.checkout,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            encoding="utf-8",
            errors="replace",
            check=False,
        )

    def _write_site(self, site: Path, first: str, libraries: Path) -> None:
        """What each Python of it imports, whatever PYTHONPATH says, and what each runs first."""
        named = _in_wine if "WINEPREFIX" in self.environment else str
        site.mkdir(parents=True, exist_ok=True)
        paths = [self.checkout / "src", libraries]
        Path(site, "elsewhere.pth").write_text("".join(f"{named(path)}\n" for path in paths), "utf-8")
        Path(site, "sitecustomize.py").write_text(
            f"import sys\n\nsys.path.append({named(self.checkout / 'tests')!r})\n{first}", "utf-8"
        )


Maker = Callable[[Path, Sequence[str]], Machine]
"""What makes one in a folder, with requirements besides those of the conformance tests."""


def linux_arm64(place: Path, more: Sequence[str], first: str = "") -> Machine:
    """Debian's Python, in QEMU."""
    qemu = parts.program("qemu-aarch64", "qemu-user")
    packages = ("python3.11", "python3-distutils", "libstdc++6")
    system = parts.kept("linux-arm64/debian", lambda into: parts.debian("arm64", packages, into))
    libraries = parts.wheels(_ARM64_WHEELS, (*NEEDED, *more), "3.11")
    site, starter = place / "site", place / "python"
    # Every Python is started by this, also by tests as `sys.executable`.
    paths = f"{site}:{place}/checkout/src:{libraries}"
    starter.write_text(
        f'#!/bin/sh\nexport PYTHONPATH="${{PYTHONPATH:+$PYTHONPATH:}}{paths}"\n'
        f'exec {qemu} -L {system} {system}/usr/bin/python3.11 "$@"\n'
    )
    starter.chmod(0o755)
    machine = Machine(place, (str(starter),))
    machine._write_site(site, f"sys.executable = {str(starter)!r}\n{first}", libraries)
    return machine


def macos_arm64(place: Path, more: Sequence[str]) -> Machine:
    """The same, with libraries for macOS mapped into it."""
    return linux_arm64(place, (_READS_MACH_O, *more), _LOAD_MACH_O)


def macos_x86_64(place: Path, more: Sequence[str]) -> Machine:
    """This Python, with libraries for macOS mapped into it."""
    version = "{}.{}".format(*sys.version_info)
    parts.fetch(sys.executable, "-m", "venv", "--without-pip", place / "python")
    machine = Machine(place, (str(place / "python/bin/python"),))
    site = place / f"python/lib/python{version}/site-packages"
    needed = (*NEEDED, _READS_MACH_O, *more)
    machine._write_site(site, _LOAD_MACH_O, parts.wheels(_X86_64_WHEELS, needed, version))
    return machine


def windows_x86_64(place: Path, more: Sequence[str]) -> Machine:
    """The Python of python.org, in Wine."""
    wine = parts.program("wine", "wine")
    environment = {
        "WINEDEBUG": "-all",
        "WINEDLLOVERRIDES": "mscoree,mshtml=",  # else it asks whether to fetch those
        "DISPLAY": "",
    }

    def make(into: Path) -> None:
        own = {**os.environ, **environment, "WINEPREFIX": str(into)}
        quiet = subprocess.DEVNULL
        # The last: Wine's server writes what has changed when it ends.
        for command in (
            (wine, "wineboot", "--init"),
            (wine, "winecfg", "/v", "win10"),
            ("wineserver", "--wait"),
        ):
            done = subprocess.run(command, env=own, stdin=quiet, stdout=quiet, stderr=quiet, check=False)
            if done.returncode != 0:
                raise parts.UnavailableError(f"{' '.join(command)} failed")

    environment["WINEPREFIX"] = str(parts.kept("windows-x86_64/wine", make))
    python = shutil.copytree(parts.kept("windows-x86_64/python", parts.windows_python), place / "python")
    machine = Machine(place, (wine, str(python / "python.exe")), environment)
    libraries = parts.wheels(("win_amd64",), (*NEEDED, "colorama", *more), "3.11")
    machine._write_site(python / "Lib/site-packages", _MEND_WINE, libraries)
    return machine


def emscripten_wasm32(place: Path, more: Sequence[str]) -> Machine:
    """Pyodide, in Node."""
    node = parts.program("node", "nodejs")
    pyodide = parts.kept("emscripten-wasm32/pyodide", parts.pyodide)
    libraries = parts.wheels(("pyodide_2024_0_wasm32",), (*_TOOLS, *more), "3.12")
    site, runner = place / "site", Path(__file__).with_name("pyodide.mjs")
    paths = site, place / "checkout/src", libraries, pyodide / "site"
    environment = {
        "PYTHONPATH": ":".join(map(str, paths)),
        "BROADPHASE_MOUNTS": f"{place}:{libraries}:{pyodide / 'site'}",
    }
    machine = Machine(
        place, (node, str(runner), str(pyodide / "package")), environment, starts_processes=False
    )
    machine._write_site(site, "", libraries)
    return machine


def _in_wine(path: Path) -> str:
    return str(PureWindowsPath(f"Z:{path}"))
