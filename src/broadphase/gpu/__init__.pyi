"""The public names; imported when they are first used, because they need an extra."""

from .tasks import NearPoints as NearPoints
from .tasks import PairChanges as PairChanges
from .tasks import RayHits as RayHits
from .tasks import changes as changes
from .tasks import count_pairs as count_pairs
from .tasks import join as join
from .tasks import neighbors as neighbors
from .tasks import pairs as pairs
from .tasks import raycast as raycast
