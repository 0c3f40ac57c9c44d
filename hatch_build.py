"""The build hooks: metadata whose links resolve, and a wheel for one platform and all Pythons from 3.11."""

import os
import re
import runpy
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface
from hatchling.metadata.plugin.interface import MetadataHookInterface

# Links of Markdown, and the addresses of pictures in HTML, that are neither whole addresses nor on the page.
_LINK = re.compile(r"""(\]\(|\bsrc="|\bsrcset=")(?![a-z]+:|#)([^)"]+)""")
_PICTURES = (".webp", ".png", ".svg", ".gif")


def for_an_index(text: str, address: str) -> str:
    """The README with whole addresses in place of paths in the repository."""

    def whole(link: re.Match[str]) -> str:
        kind = "raw" if link[2].endswith(_PICTURES) else "blob"
        return f"{link[1]}{address}/{kind}/main/{link[2]}"

    return _LINK.sub(whole, text)


class PageHook(MetadataHookInterface):
    """The page of the project on a package index: the README, and where to find what."""

    def update(self, metadata: dict[str, Any]) -> None:
        """Fill in what `pyproject.toml` calls dynamic."""
        text, address = Path(self.root, "README.md").read_text("utf-8"), self.config["address"].rstrip("/")
        metadata["readme"] = {"content-type": "text/markdown", "text": text}
        metadata["urls"] = {}
        if address:
            metadata["readme"]["text"] = for_an_index(text, address)
            pages = {"Source": "", "Issues": "/issues", "Changes": "/blob/main/CHANGELOG.md"}
            metadata["urls"] = {name: address + page for name, page in pages.items()}


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
