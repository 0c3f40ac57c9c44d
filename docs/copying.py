"""Code that runs when it is copied: ``{idea} strips`` shows a method whole, and a block knows what it needs.

A Python block that uses names of earlier blocks of its page gets the class ``continued``; the button of such
a block copies what is above it too (`_static/site.js`).
"""

from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective
from whole_code import IDEAS, free_names, idea


class Idea(SphinxDirective):
    """The code of a method, whole."""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        """Make one block of it."""
        self.env.note_dependency(str(IDEAS))
        source = idea(self.arguments[0])
        return [nodes.literal_block(source, source, language="python", classes=["idea"])]


def _mark_continued(app: Sphinx, document: nodes.document) -> None:
    for block in document.findall(nodes.literal_block):
        try:
            if block.get("language") == "python" and free_names(block.astext()):
                block["classes"].append("continued")
        except SyntaxError:
            continue  # not a program


def setup(app: Sphinx) -> dict[str, Any]:
    """Register the directive with Sphinx, and look at the code of each page."""
    app.add_directive("idea", Idea)
    app.connect("doctree-read", _mark_continued)
    return {"parallel_read_safe": True}
