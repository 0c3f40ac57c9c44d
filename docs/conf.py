"""How the site is built: ``python -m sphinx -W docs docs/_build/html``."""

import os
import re
import shutil
import sys
from importlib.metadata import version as installed_version
from pathlib import Path
from typing import Any
from zipfile import ZIP_DEFLATED, ZipFile

HERE = Path(__file__).parent
PLAYED = ("__init__", "controls", "hero", "items", "level", "missiles", "monsters", "pilot", "play", "script")
sys.path.insert(0, str(HERE))

project = "broadphase"
author = "The broadphase developers"
project_copyright = "The broadphase developers, MIT licence"
release = version = installed_version("broadphase")

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.viewcode",
    "numpydoc",
    "sphinx_design",
    "sphinx_gallery.gen_gallery",
    "command_help",  # this and the next three lie next to this file
    "copying",
    "drawings",
    "running",
]
exclude_patterns = ["_build", "gallery", "pictures"]
source_suffix = {".md": "markdown", ".rst": "restructuredtext"}
nitpicky = (
    False  # the types of NumPy's docstrings are words, not names; pages refer to each other in Markdown
)

myst_enable_extensions = ["colon_fence", "attrs_block", "attrs_inline"]
myst_heading_anchors = 3

autodoc_typehints = "none"  # the docstrings say them
autodoc_member_order = "bysource"
autosummary_generate = True
numpydoc_show_class_members = False
numpydoc_xref_param_type = False

html_theme = "pydata_sphinx_theme"
html_title = "broadphase"
html_static_path = ["_static", "pictures/card.png"]
html_baseurl = os.environ.get("READTHEDOCS_CANONICAL_URL", "")  # cards on other sites need whole addresses
html_css_files = ["site.css"]
html_js_files = ["site.js"]
html_search_scorer = str(HERE / "scorer.js")  # a path as Python opens it
html_favicon = "../src/broadphase/tour/page/icon.svg"
html_context = {"default_mode": "auto", "html_baseurl": html_baseurl}
html_show_sourcelink = False
html_theme_options = {
    "logo": {"text": "broadphase"},
    "navbar_end": ["theme-switcher"],
    "navbar_persistent": ["search-button"],
    "header_links_before_dropdown": 6,
    "show_toc_level": 2,
    "footer_start": ["copyright"],
    "footer_end": [],
    "show_prev_next": True,
}
html_sidebars = {"index": []}
templates_path = ["_templates"]

sphinx_gallery_conf = {
    "examples_dirs": [str(HERE / "gallery")],
    "gallery_dirs": ["gallery_built"],
    "filename_pattern": r"/plot_",
    "download_all_examples": False,
    "show_signature": False,
    "remove_config_comments": True,
    "matplotlib_animations": (True, "jshtml"),
    "reset_modules": ("matplotlib", "drawings.gallery_style"),
    "min_reported_time": 1e9,  # the time that a picture took to draw says nothing about the library
    "show_memory": False,
    "write_computation_times": False,
}


def _copy_tour(app: Any) -> None:
    """The tour, which runs in the browser, with links to the pages of the methods."""
    from broadphase.tour import FOLDER

    shutil.copytree(FOLDER, Path(app.outdir, "tour"), dirs_exist_ok=True)
    page = Path(app.outdir, "tour", "index.html")
    html = page.read_text("utf-8")
    page.write_text(html.replace("<html ", '<html data-pages="../methods/" ', 1), "utf-8")


def _pack_dungeon(app: Any) -> None:
    """The modules of examples/dungeon that its page runs, as one file, and its film."""
    static = Path(app.outdir, "_static")
    static.mkdir(parents=True, exist_ok=True)
    with ZipFile(static / "dungeon.zip", "w", ZIP_DEFLATED) as packed:
        for part in ("__init__.py", "stage.py", *(f"dungeon/{name}.py" for name in PLAYED)):
            packed.write(HERE.parent / "examples" / part, f"examples/{part}")
    shutil.copy(HERE / "pictures" / "dungeon-film.webp", static)


def _write_film(app: Any) -> None:
    """What the film of the landing page shows."""
    sys.path.append(str(HERE / "pictures"))
    import film

    film.write(Path(app.outdir, "_static", "film.json"))


def _mend_animations(app: Any, page: str, template: str, context: dict[str, Any], tree: Any) -> None:
    """Matplotlib's player without its font from elsewhere, and with names for screen readers."""
    body = context.get("body", "")
    if "_anim_img" in body:
        body = re.sub(r'<link rel="stylesheet"\s*href="https://[^"]*font-awesome[^"]*">', "", body)
        body = body.replace('<img id="_anim', '<img alt="The frame that is shown" id="_anim')
        context["body"] = body.replace(
            '<input id="_anim_slider', '<input aria-label="Frame" id="_anim_slider'
        )


def setup(app: Any) -> None:
    """Register hooks with Sphinx."""
    app.connect("html-page-context", _mend_animations)
    app.connect("builder-inited", _copy_tour)
    app.connect("builder-inited", _pack_dungeon)
    app.connect("builder-inited", _write_film)
