"""Hypothesis replays: the same examples on every run and machine, so that a failure comes back.

``python -m pytest --hypothesis-profile=explore`` looks for new ones instead and prints how to replay them.
"""

from hypothesis import settings

settings.register_profile("replay", derandomize=True, deadline=None, database=None, max_examples=60)
settings.register_profile("explore", deadline=None, print_blob=True, max_examples=2_000)
settings.load_profile("replay")
