"""The build hook: compiles the kernels and makes a wheel for one platform and all Pythons from 3.11 on."""

import os
import runpy
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class KernelsHook(BuildHookInterface):
    """Builds for this processor, or with ``BROADPHASE_LEVELS=all`` for all processors of the platform.

    With ``BROADPHASE_TARGET`` it builds for another platform (`broadphase.kernels.machine.target`).
    """

    def _target(self) -> Any:
        source = runpy.run_path(str(Path(self.root, "src/broadphase/kernels/machine/target.py")))
        return source["chosen"]()

    def dependencies(self) -> list[str]:
        """Further build requirements: a linker, if the machine has none."""
        return [] if self._target().linkers() else ["ziglang>=0.13"]

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Compile the kernels and list the files that belong in the wheel."""
        target, levels = self._target(), os.environ.get("BROADPHASE_LEVELS", "")
        is_published = levels == "all" or bool(os.environ.get("BROADPHASE_TARGET"))
        # An editable installation runs from the source tree.  A published wheel is compiled in an empty
        # folder, so it cannot contain leftovers of earlier builds.
        folder = Path(self.root, "src/broadphase/kernels/compiled")
        if is_published and version != "editable":
            folder = Path(self.root, "build/compiled", target.name)
            shutil.rmtree(folder, ignore_errors=True)
            build_data["force_include"][str(folder)] = "broadphase/kernels/compiled"
        else:
            build_data["artifacts"].append("src/broadphase/kernels/compiled/*")
        command = [sys.executable, "-m", "broadphase.compiler", "--folder", str(folder)]
        if levels:
            command += ["--levels", levels]
        # Python finds the package in its working directory, not through PYTHONPATH: pip removes entries from
        # PYTHONPATH that the environment has on its path, and an editable installation has put this folder
        # there.
        print("broadphase: compiling the kernels takes a minute or two; a wheel needs none of it", flush=True)
        if subprocess.run(command, check=False, cwd=Path(self.root, "src")).returncode:
            sys.exit("broadphase: the kernels were not compiled; the line above says why")
        tag = target.wheel_tag if is_published else sysconfig.get_platform().replace(".", "_")
        build_data["pure_python"] = False
        build_data["tag"] = f"py3-none-{tag.replace('-', '_')}"
