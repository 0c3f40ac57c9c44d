"""Find everything that touches, every frame.

>>> import broadphase as bp
>>> bp.pairs([[0, 0, 2, 2], [1, 1, 3, 3], [5, 5, 6, 6]])
array([[0, 1]], dtype=int32)

The names below are imported when they are first used, so that ``import broadphase`` costs next to
nothing: neither NumPy nor Numba is loaded before the first call that needs it.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

if TYPE_CHECKING:
    from broadphase.errors import PairLimitExceeded as PairLimitExceeded
    from broadphase.indexes import INDEXES as INDEXES
    from broadphase.indexes import make_index as make_index
    from broadphase.indexes.base import Index as Index
    from broadphase.indexes.box_tree import BoxTree as BoxTree
    from broadphase.indexes.brute_force import BruteForce as BruteForce
    from broadphase.indexes.results import Nearest as Nearest
    from broadphase.indexes.results import PairChanges as PairChanges
    from broadphase.indexes.results import RayHit as RayHit
    from broadphase.indexes.results import RayHits as RayHits
    from broadphase.indexes.results import RayRows as RayRows
    from broadphase.indexes.results import Stats as Stats
    from broadphase.indexes.sort_and_sweep import SortAndSweep as SortAndSweep
    from broadphase.indexes.spatial_hash import SpatialHash as SpatialHash
    from broadphase.indexes.strips import Strips as Strips
    from broadphase.indexes.sweep_and_prune import SweepAndPrune as SweepAndPrune
    from broadphase.indexes.uniform_grid import UniformGrid as UniformGrid
    from broadphase.one_shot import METHODS as METHODS
    from broadphase.one_shot import count_pairs as count_pairs
    from broadphase.one_shot import explain as explain
    from broadphase.one_shot import join as join
    from broadphase.one_shot import pairs as pairs
    from broadphase.shapes.kinds import Box as Box
    from broadphase.shapes.kinds import Circle as Circle
    from broadphase.shapes.kinds import Polygon as Polygon
    from broadphase.shapes.narrow_phase import ContactArrays as ContactArrays
    from broadphase.shapes.narrow_phase import ShapeContact as ShapeContact
    from broadphase.shapes.narrow_phase import contact as contact
    from broadphase.shapes.narrow_phase import contact_boxes as contact_boxes
    from broadphase.shapes.narrow_phase import contact_circles as contact_circles
    from broadphase.shapes.narrow_phase import overlap as overlap
    from broadphase.world.asking import BodyHit as BodyHit
    from broadphase.world.asking import NearestBodies as NearestBodies
    from broadphase.world.body import Body as Body
    from broadphase.world.contact import Contact as Contact
    from broadphase.world.events import Contacts as Contacts
    from broadphase.world.events import Events as Events
    from broadphase.world.hits import Hit as Hit
    from broadphase.world.hits import Movement as Movement
    from broadphase.world.listeners import ANY as ANY
    from broadphase.world.listeners import Listener as Listener
    from broadphase.world.pushing import Push as Push
    from broadphase.world.snapshot import Snapshot as Snapshot
    from broadphase.world.tiles import Tile as Tile
    from broadphase.world.tiles import TileMap as TileMap
    from broadphase.world.world import World as World

_HOME = {
    "PairLimitExceeded": "errors",
    "INDEXES": "indexes",
    "make_index": "indexes",
    "Index": "indexes.base",
    "BoxTree": "indexes.box_tree",
    "Strips": "indexes.strips",
    "BruteForce": "indexes.brute_force",
    "SortAndSweep": "indexes.sort_and_sweep",
    "SweepAndPrune": "indexes.sweep_and_prune",
    "Nearest": "indexes.results",
    "PairChanges": "indexes.results",
    "RayHit": "indexes.results",
    "RayHits": "indexes.results",
    "RayRows": "indexes.results",
    "Stats": "indexes.results",
    "SpatialHash": "indexes.spatial_hash",
    "UniformGrid": "indexes.uniform_grid",
    "METHODS": "one_shot",
    "count_pairs": "one_shot",
    "explain": "one_shot",
    "join": "one_shot",
    "pairs": "one_shot",
    "Box": "shapes.kinds",
    "Circle": "shapes.kinds",
    "Polygon": "shapes.kinds",
    "ContactArrays": "shapes.narrow_phase",
    "ShapeContact": "shapes.narrow_phase",
    "contact": "shapes.narrow_phase",
    "contact_boxes": "shapes.narrow_phase",
    "contact_circles": "shapes.narrow_phase",
    "overlap": "shapes.narrow_phase",
    "BodyHit": "world.asking",
    "NearestBodies": "world.asking",
    "Body": "world.body",
    "Contact": "world.contact",
    "Contacts": "world.events",
    "Events": "world.events",
    "ANY": "world.listeners",
    "Listener": "world.listeners",
    "Push": "world.pushing",
    "Snapshot": "world.snapshot",
    "World": "world.world",
    "Tile": "world.tiles",
    "TileMap": "world.tiles",
    "Hit": "world.hits",
    "Movement": "world.hits",
}
_SUBMODULES = ("balls", "files", "plot")

__all__ = [
    "ANY",
    "INDEXES",
    "METHODS",
    "Body",
    "BodyHit",
    "Box",
    "BoxTree",
    "BruteForce",
    "Circle",
    "Contact",
    "ContactArrays",
    "Contacts",
    "Events",
    "Hit",
    "Index",
    "Listener",
    "Movement",
    "Nearest",
    "NearestBodies",
    "PairChanges",
    "PairLimitExceeded",
    "Polygon",
    "Push",
    "RayHit",
    "RayHits",
    "RayRows",
    "ShapeContact",
    "Snapshot",
    "SortAndSweep",
    "SpatialHash",
    "Stats",
    "Strips",
    "SweepAndPrune",
    "Tile",
    "TileMap",
    "UniformGrid",
    "World",
    "contact",
    "contact_boxes",
    "contact_circles",
    "count_pairs",
    "explain",
    "join",
    "make_index",
    "overlap",
    "pairs",
]


def __getattr__(name: str) -> Any:
    """Import a public name from its home when it is first asked for (PEP 562)."""
    if name in _SUBMODULES:
        return import_module(f"broadphase.{name}")
    if name not in _HOME:
        raise AttributeError(f"module 'broadphase' has no attribute {name!r}")
    value = getattr(import_module(f"broadphase.{_HOME[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted([*globals(), *_HOME, *_SUBMODULES])
