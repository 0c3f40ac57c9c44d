"""Adapters for game, simulation and scientific libraries; each needs the extra of its name."""

from broadphase.lazy_names import attach

__getattr__, __dir__, __all__ = attach(__name__)
