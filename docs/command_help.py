"""The help of the command, as the running command prints it: ``{command-help} demo pairs``."""

import subprocess
import sys
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective


class CommandHelp(SphinxDirective):
    """One block for each part of the command."""

    optional_arguments = 100

    def run(self) -> list[nodes.Node]:
        """Ask each for help."""
        return [part for name in self.arguments for part in self._ask(name)]

    def _ask(self, name: str) -> list[nodes.Node]:
        command = [sys.executable, "-m", "broadphase", name, "--help"]
        answer = subprocess.run(
            command, capture_output=True, text=True, check=True, env={**self._plain(), "COLUMNS": "96"}
        )
        title = nodes.rubric(text=f"broadphase {name}")
        return [title, nodes.literal_block(answer.stdout, answer.stdout.strip(), language="text")]

    @staticmethod
    def _plain() -> dict[str, str]:
        import os

        return {**os.environ, "NO_COLOR": "1", "TERM": "dumb"}


def setup(app: Sphinx) -> dict[str, Any]:
    """Register the directive with Sphinx."""
    app.add_directive("command-help", CommandHelp)
    return {"parallel_read_safe": True}
