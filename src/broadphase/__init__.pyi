"""The public names: the one list of them.

Type checkers read it, and so does `broadphase.lazy_names` when the package is imported: one import a line,
``from .home import name as name``.
"""

from . import adapters as adapters
from . import balls as balls
from . import files as files
from . import outofcore as outofcore
from . import plot as plot
from .api.neighborhoods import NearestPoints as NearestPoints
from .api.neighborhoods import Neighbors as Neighbors
from .api.neighborhoods import count_neighbors as count_neighbors
from .api.neighborhoods import nearest as nearest
from .api.neighborhoods import neighbors as neighbors
from .api.one_shot import METHODS as METHODS
from .api.one_shot import count_pairs as count_pairs
from .api.one_shot import explain as explain
from .api.one_shot import join as join
from .api.one_shot import pairs as pairs
from .api.sweeping import SweptPairs as SweptPairs
from .api.sweeping import swept_pairs as swept_pairs
from .errors import PairLimitExceeded as PairLimitExceeded
from .errors import SpriteWarning as SpriteWarning
from .geometry.narrow_phase import ContactArrays as ContactArrays
from .geometry.narrow_phase import ShapeContact as ShapeContact
from .geometry.narrow_phase import contact as contact
from .geometry.narrow_phase import contact_boxes as contact_boxes
from .geometry.narrow_phase import contact_circles as contact_circles
from .geometry.narrow_phase import overlap as overlap
from .geometry.shapes import Box as Box
from .geometry.shapes import Capsule as Capsule
from .geometry.shapes import Circle as Circle
from .geometry.shapes import Polygon as Polygon
from .geometry.shapes import RoundedBox as RoundedBox
from .indexes import INDEXES as INDEXES
from .indexes import make_index as make_index
from .indexes.classes import BoxTree as BoxTree
from .indexes.classes import BruteForce as BruteForce
from .indexes.classes import Index as Index
from .indexes.classes import SortAndSweep as SortAndSweep
from .indexes.classes import SpatialHash as SpatialHash
from .indexes.classes import Strips as Strips
from .indexes.classes import SweepAndPrune as SweepAndPrune
from .indexes.classes import UniformGrid as UniformGrid
from .indexes.results import Nearest as Nearest
from .indexes.results import PairChanges as PairChanges
from .indexes.results import RayHit as RayHit
from .indexes.results import RayHits as RayHits
from .indexes.results import RayRows as RayRows
from .indexes.results import Stats as Stats
from .recording.reader import RecordedFrame as RecordedFrame
from .recording.reader import Recording as Recording
from .recording.recorder import Recorder as Recorder
from .world.bodies import ANY as ANY
from .world.bodies import Body as Body
from .world.contacts import Contacts as Contacts
from .world.contacts import Events as Events
from .world.hits import Hit as Hit
from .world.hits import Movement as Movement
from .world.hits import Walk as Walk
from .world.hits import Walks as Walks
from .world.listeners import Contact as Contact
from .world.listeners import Listener as Listener
from .world.pathfinding import FlowField as FlowField
from .world.platforms import Push as Push
from .world.queries import BodyHit as BodyHit
from .world.queries import BodyHits as BodyHits
from .world.queries import NearestBodies as NearestBodies
from .world.snapshot import Snapshot as Snapshot
from .world.tiles import Slope as Slope
from .world.tiles import Tile as Tile
from .world.tiles import TileMap as TileMap
from .world.world import World as World

__version__: str
