"""Blocks of code that run in the page: a button "Run" (`_static/run.js`), which loads Pyodide on a click.

A block of the landing page or of a tutorial gets the class ``runnable`` if it and what it goes on from import
nothing that a browser lacks.  The wheel for the browser is taken from ``dist``, where
``.ci/wheels emscripten-wasm32`` puts it; where there is none the pages have no button.
``BROADPHASE_PYODIDE`` names another place of Pyodide, such as a local copy.
"""

import ast
import os
import shutil
from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from whole_code import free_names

PYODIDE = "https://cdn.jsdelivr.net/pyodide/v0.27.7/full/"
WEIGHT = "Runs in this page. The first time it loads Python and NumPy, about 9 MB, which the browser keeps."
_DIST = Path(__file__).parents[1] / "dist"
_THERE = {
    *(
        "broadphase",
        "collections",
        "dataclasses",
        "functools",
        "itertools",
        "math",
        "numpy",
        "random",
        "time",
    ),
    *("matplotlib.collections", "matplotlib.figure"),
}
_PAGES = ("index", "tutorials/", "how-to/browser")


def imported(code: str) -> set[str]:
    """The modules that code imports."""
    found = set()
    for node in ast.walk(ast.parse(code)):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            found.add(node.module or "")
    return found


def _mark_runnable(app: Sphinx, document: nodes.document) -> None:
    if not app.env.docname.startswith(_PAGES):
        return
    all_run = True  # all blocks so far
    for block in document.findall(nodes.literal_block):
        if block.get("language") != "python":
            continue
        code = block.astext()
        runs = imported(code) <= _THERE
        if runs and (all_run or not free_names(code)):
            block["classes"].append("runnable")
        all_run = all_run and runs


def _add_scripts(app: Sphinx) -> None:
    wheels = sorted(_DIST.glob("broadphase-*-pyemscripten_*.whl"), key=lambda path: path.stat().st_mtime)
    if wheels:
        app.tags.add("wheel")  # pages promise what runs only where it does
        static = Path(app.outdir, "_static")
        static.mkdir(parents=True, exist_ok=True)
        shutil.copy(wheels[-1], static)
        app.add_css_file("run.css")
        app.add_js_file(
            "run.js",
            type="module",
            **{
                "data-pyodide": os.environ.get("BROADPHASE_PYODIDE", PYODIDE),
                "data-wheel": wheels[-1].name,
                "data-weight": WEIGHT,
            },
        )


def setup(app: Sphinx) -> dict[str, Any]:
    """Register with Sphinx."""
    app.connect("doctree-read", _mark_runnable)
    app.connect("builder-inited", _add_scripts)
    return {"parallel_read_safe": True}
