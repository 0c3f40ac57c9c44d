"""The build hook: compiles the kernels and makes a wheel for this platform and every Python from 3.11 on."""

import os
import runpy
import subprocess
import sys
import sysconfig
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

# The libraries ask nothing of the C library but memcpy and memset, which all of these have.
_PUBLISHED = {"linux-x86_64": "manylinux2014_x86_64", "linux-aarch64": "manylinux2014_aarch64"}


class KernelsHook(BuildHookInterface):
    """``BROADPHASE_LEVELS=all`` builds for all processors of the platform, for a wheel that others get."""

    def dependencies(self) -> list[str]:
        """What to fetch besides: a linker, where the machine has none."""
        linker = runpy.run_path(str(Path(self.root, "src/broadphase/kernels/machine/linker.py")))
        return [] if linker["linkers"]() else ["ziglang>=0.13"]

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Compile, and say what belongs into the wheel."""
        levels = os.environ.get("BROADPHASE_LEVELS", "")
        source = str(Path(self.root, "src"))
        command = [
            sys.executable,
            "-m",
            "broadphase.compiler",
            *(["--levels", levels] if levels else []),
        ]
        # Found as the folder that it runs in, not through PYTHONPATH: pip takes out of that what the
        # environment has on its path already, and an editable installation has put this folder there.
        subprocess.run(command, check=True, cwd=source)
        platform = sysconfig.get_platform()
        tag = _PUBLISHED.get(platform, platform) if levels == "all" else platform
        build_data["pure_python"] = False
        build_data["tag"] = f"py3-none-{tag.replace('-', '_').replace('.', '_')}"
        build_data["artifacts"].append("src/broadphase/kernels/compiled/*")
