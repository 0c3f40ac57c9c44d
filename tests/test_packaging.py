"""How the package is built, tried and published: what is said in several places is the same in all."""

import re
import tomllib
from pathlib import Path

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
