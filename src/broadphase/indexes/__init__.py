"""Broad phases that persist between frames: one file for each structure, and one protocol for all.

`broadphase.indexes.protocol` explains how to write a new structure.  An index is registered by its name in
`Choice`: what belongs to it bears this name, and CONTRIBUTING, *Adding an index*, lists all of it.
"""

from typing import TYPE_CHECKING, Any, Literal, get_args

if TYPE_CHECKING:
    from broadphase.indexes.base import Index

__all__ = ["CLASSES", "INDEXES", "Choice", "make_index"]

Choice = Literal[
    "auto",
    "brute_force",
    "uniform_grid",
    "spatial_hash",
    "box_tree",
    "strips",
    "sort_and_sweep",
    "sweep_and_prune",
]

CLASSES: dict[Choice, str] = {
    name: "AdaptiveIndex" if name == "auto" else "".join(word.capitalize() for word in name.split("_"))
    for name in get_args(Choice)
}
"""For each name the class in `broadphase.indexes.classes`: ``box_tree`` is a `BoxTree`."""


def make_index(name: Choice = "auto", **options: Any) -> "Index":
    """An empty index by its name.

    Parameters
    ----------
    name : str
        A name of `broadphase.INDEXES`; ``"auto"`` is an `AdaptiveIndex`.
    **options
        What the class takes: ``dim=2, dtype=np.float64, touching=True, sort=True`` and its own.

    Returns
    -------
    Index

    Raises
    ------
    ValueError
        No index has this name.

    Examples
    --------
    >>> import broadphase as bp
    >>> bp.make_index("brute_force", dim=3)
    <BruteForce: 0 boxes, dim=3, dtype=float64, touching=True, sort=True>
    """
    from broadphase.indexes import classes  # here: it takes time, and some need only the names

    if name not in CLASSES:
        raise ValueError(f"unknown index {name!r}; choose one of {', '.join(CLASSES)}")
    made: Index = getattr(classes, CLASSES[name])(**options)
    return made


INDEXES: tuple[Choice, ...] = get_args(Choice)
"""The names that `make_index` takes."""
