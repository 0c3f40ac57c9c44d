"""``python -m broadphase`` is the command ``broadphase``."""

from broadphase.cli import main

main()
