"""The public names, imported when they are first used: what they need, only an extra brings."""

from .calls import count_pairs as count_pairs
from .calls import join as join
from .calls import pairs as pairs
from .calls import plan as plan
from .progress import Plan as Plan
from .progress import Progress as Progress
from .progress import Written as Written
