"""How the package is built, tried and published: what is said in several places is the same in all."""

import re
import runpy
import sys
import tomllib
from pathlib import Path
from types import SimpleNamespace

import pytest

import broadphase as bp

ROOT = Path(__file__).parent.parent
RECIPE = ROOT / "recipe" / "recipe.yaml"
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
ABOUT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))

if not WORKFLOWS or not RECIPE.exists():
    pytest.skip("the source archive has neither workflows nor recipes", allow_module_level=True)


def test_the_recipe_is_of_this_version_and_needs_what_the_build_needs():
    recipe = RECIPE.read_text("utf-8")
    assert f'version: "{bp.__version__}"' in recipe
    for needed in [*ABOUT["build-system"]["requires"], *ABOUT["project"]["dependencies"]]:
        name, bounds = re.fullmatch(r"(\w+)(.*)", needed).groups()
        assert f"- {name} {bounds}\n" in recipe


def test_actions_are_pinned_and_each_to_one_commit():
    used = [line for path in WORKFLOWS for line in re.findall(r"uses: (.*)", path.read_text("utf-8"))]
    assert used
    commits = {}
    for line in used:
        name, commit, version = re.fullmatch(r"([\w./-]+)@([0-9a-f]{40}) # (v[\d.]+)", line).groups()
        assert commits.setdefault(name, (commit, version)) == (commit, version)


def test_workflows_run_files_that_are_there():
    for path in WORKFLOWS:
        for named in re.findall(r"(?:tests|docs|\.ci)/[\w./]+", path.read_text("utf-8")):
            assert "_build" in named or (ROOT / named).exists(), f"{path.name}: {named}"


def test_every_python_that_is_named_is_tried():
    tried = re.search(r"python: \[(.*)\]", (ROOT / ".github/workflows/wheels.yml").read_text("utf-8"))[1]
    for classifier in ABOUT["project"]["classifiers"]:
        version = re.fullmatch(r"Programming Language :: Python :: (3\.\d+)", classifier)
        assert version is None or f'"{version[1]}"' in tried
    assert '"3.14t"' in tried


def test_links_of_the_readme_resolve_on_a_package_index(monkeypatch):
    names = "hatchling.builders.hooks.plugin.interface", "hatchling.metadata.plugin.interface"
    for name in names:
        monkeypatch.setitem(
            sys.modules, name, SimpleNamespace(BuildHookInterface=object, MetadataHookInterface=object)
        )
    hooks = runpy.run_path(str(ROOT / "hatch_build.py"))
    text, address = (ROOT / "README.md").read_text("utf-8"), "https://example.org/someone/broadphase"
    shown = hooks["for_an_index"](text, address)
    links = re.findall(r'(?:\]\(|src="|srcset=")([^)"]+)', shown)
    assert len(links) > 15
    for link in links:
        assert re.match(r"https?://|#", link), link
        path = re.match(rf"{address}/(raw|blob)/main/([^#]+)", link)
        if path is not None:
            assert (ROOT / path[2]).exists(), link
            assert (path[1] == "raw") == (Path(path[2]).suffix == ".webp"), link
    assert hooks["for_an_index"](shown, address) == shown


def test_one_page_says_that_it_is_not_on_an_index_yet():
    pages = [ROOT / "README.md", *(ROOT / "docs").rglob("*.md"), *(ROOT / "docs").rglob("*.py")]
    saying = [page.name for page in pages if "not on PyPI" in page.read_text("utf-8")]
    assert saying in (["README.md"], [])
