"""The public names; imported when they are first used, because they need an extra."""

from .calls import count_pairs as count_pairs
from .calls import join as join
from .calls import pairs as pairs
from .calls import plan as plan
from .request import Plan as Plan
from .request import Progress as Progress
from .request import Written as Written
