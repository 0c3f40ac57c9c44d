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

_OTHER_NAMES = {
    **dict.fromkeys(
        ("KDTree", "cKDTree", "BallTree"), "PointIndex(points) is kept, neighbors and nearest ask once"
    ),
    **dict.fromkeys(
        ("STRtree", "RTree", "Rtree", "QuadTree", "Quadtree", "Octree", "BVH", "AABBTree", "DynamicTree"),
        "BoxTree(boxes) is the tree, make_index(boxes) takes the fastest structure",
    ),
    **dict.fromkeys(
        ("AABB", "Rectangle"), "a box is a row of min_x, min_y, max_x, max_y, or Box(x, y, width, height)"
    ),
    **dict.fromkeys(("Space", "Scene", "Simulation"), "it is World here"),
    **dict.fromkeys(("knn", "kneighbors"), "it is nearest(points, k) here"),
    **dict.fromkeys(
        ("query_pairs", "radius_neighbors", "query_ball_point", "within_distance"),
        "it is neighbors(points, r) here",
    ),
    **dict.fromkeys(
        ("collide", "collides", "collisions", "groupcollide", "spritecollide", "collidelist"),
        "colliding(ones, others) takes lists of objects, pairs and join take arrays",
    ),
}
"""What is called otherwise in other libraries."""

__getattr__, __dir__, __all__ = attach(__name__, _OTHER_NAMES)
