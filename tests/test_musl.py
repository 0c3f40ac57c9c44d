"""The compiled library loads where the C library is musl (Alpine Linux): its wheels bear that tag too."""

import platform
import shutil
import subprocess
from pathlib import Path

import pytest

from broadphase.kernels.machine.library import FOLDER
from broadphase.kernels.machine.target import HOST

LOADER = Path(f"/lib/ld-musl-{platform.machine()}.so.1")
needs_musl = pytest.mark.skipif(
    HOST.system != "linux" or not LOADER.exists() or not shutil.which("ld"),
    reason="no musl (apt install musl)",
)


def loaded(tmp_path, *libraries):
    """What the loader of musl says of a library that needs these and musl itself."""
    both = tmp_path / "both.so"
    subprocess.run(["ld", "-shared", "-o", both, "--no-as-needed", *libraries], check=True)
    return subprocess.run([LOADER, "--list", both], capture_output=True, text=True, check=False)


@needs_musl
def test_every_compiled_library_finds_its_functions_in_musl(tmp_path):
    libraries = sorted(Path(FOLDER).glob("*.so"))
    assert libraries
    for library in libraries:
        found = loaded(tmp_path, library, LOADER.resolve())
        assert (found.returncode, found.stderr) == (0, ""), library
        assert library.name in found.stdout
        alone = loaded(tmp_path, library)
        assert "memcpy: symbol not found" in alone.stderr, "the loader looks for functions"


def test_wheels_for_linux_have_the_tags_of_both_c_libraries():
    if HOST.system == "linux":
        assert [tag.split("_")[0] for tag in HOST.wheel_tag.split(".")] == ["manylinux2014", "musllinux"]
