"""The public names; imported when they are first used, because they need an extra."""

from .planning import Plan as Plan
from .planning import Progress as Progress
from .planning import Written as Written
from .run import count_pairs as count_pairs
from .run import join as join
from .run import pairs as pairs
from .run import plan as plan
