"""The scenes of the lab: for the same name, number and seed always the same, frame by frame.

They need nothing but NumPy, so that a program can replay what the page showed:

>>> scene = make_scene("asteroids", count=20, seed=3)
>>> scene.step()
>>> scene.boxes().shape
(20, 4)
"""

from collections.abc import Callable
from typing import NamedTuple

from broadphase.lab.scenes import worlds
from broadphase.lab.scenes.base import Scene
from broadphase.lab.scenes.dungeon import dungeon

__all__ = ["FEWEST", "MOST", "SCENES", "Scene", "make_scene"]

FEWEST, MOST = 5, 100_000


class Kind(NamedTuple):
    """A kind of scene."""

    title: str
    about: str
    """What it is good for, in a sentence."""
    make: Callable[[int, int], Scene]
    """From a number of bodies and a seed."""


SCENES = {
    "balls": Kind(
        "Bouncing balls",
        "Elastic balls in a box. Drag one and throw it.",
        worlds.balls,
    ),
    "side_scroller": Kind(
        "Side-scroller",
        "A long level: everything is spread along x, which is what a sort along x wants.",
        worlds.side_scroller,
    ),
    "shooter": Kind(
        "Space shooter",
        "Ships in formation and fast shots that fly up: crowded columns.",
        worlds.shooter,
    ),
    "asteroids": Kind(
        "Asteroids",
        "Rocks of many sizes that leave on one side and come in on the other.",
        worlds.asteroids,
    ),
    "clusters": Kind(
        "Far clusters",
        "A few crowds with emptiness between them: what a bounded grid dislikes.",
        worlds.clusters,
    ),
    "mixed_sizes": Kind(
        "Three decades of sizes",
        "Dust, crates and continents: no single cell size suits them all.",
        worlds.mixed_sizes,
    ),
    "mostly_static": Kind(
        "Mostly static",
        "Crates that never move and a few movers: what is kept between frames pays here.",
        worlds.mostly_static,
    ),
    "dungeon": Kind(
        "Dungeon",
        "Rooms and corridors of solid tiles, and monsters that walk in them.",
        dungeon,
    ),
}


def make_scene(name: str, *, count: int, seed: int = 1) -> Scene:
    """A scene at its first frame.

    Parameters
    ----------
    name : str
        One of `SCENES`.
    count : int
        How many bodies, 5 to 100,000.
    seed : int
        Another seed gives another scene of the kind.

    Returns
    -------
    Scene
        ``boxes()`` is what a broad phase sees, ``step()`` lets one frame pass.

    Raises
    ------
    ValueError
        There is no such scene, or the count is out of range.

    Examples
    --------
    >>> make_scene("dungeon", count=10).tiles
    <TileMap of 30 x 22 tiles of 32 x 32 at (0.0, 0.0)>
    """
    if name not in SCENES:
        raise ValueError(f"unknown scene {name!r}; choose one of {', '.join(SCENES)}")
    if not FEWEST <= count <= MOST:
        raise ValueError(f"count must be between {FEWEST} and {MOST}; got {count}")
    return SCENES[name].make(count, seed)
