"""Find everything that touches, every frame.

>>> import broadphase as bp
>>> bp.pairs([[0, 0, 2, 2], [1, 1, 3, 3], [5, 5, 6, 6]])
array([[0, 1]], dtype=int32)

The public names stand in ``__init__.pyi`` and nowhere else: what type checkers read is what there is.  They
are imported when they are first used, so that ``import broadphase`` costs next to nothing: NumPy is loaded
with the first call that needs it.
"""

from broadphase.lazy_names import attach

__version__ = "0.1.0.dev0"

__getattr__, __dir__, __all__ = attach(__name__)
