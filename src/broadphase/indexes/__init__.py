"""Broad phases that persist between frames: one file for each structure, and one protocol for all.

`broadphase.indexes.protocol` explains how to write a new structure.  An index is registered by its name in
`Choice`: what belongs to it bears this name, and CONTRIBUTING, *Adding an index*, lists all of it.
"""

from os import PathLike
from typing import TYPE_CHECKING, Any, Literal, cast, get_args

from broadphase.errors import not_one_of, with_hints

if TYPE_CHECKING:
    from broadphase.indexes.base import Index
    from broadphase.inputs import RowsLike

__all__ = ["CLASSES", "INDEXES", "Choice", "load", "make_index"]

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
_Synonym = Literal["tree"]

CLASSES: dict[Choice, str] = {
    name: "AdaptiveIndex" if name == "auto" else "".join(word.capitalize() for word in name.split("_"))
    for name in get_args(Choice)
}
"""For each name the class in `broadphase.indexes.classes`: ``box_tree`` is a `BoxTree`."""


@with_hints("the boxes come first, then the name: make_index(boxes, 'box_tree')")
def make_index(
    boxes: "RowsLike | Choice | _Synonym | None" = None,
    name: Choice | _Synonym = "auto",
    **options: Any,
) -> "Index":
    """An index by its name, of boxes or empty.

    Parameters
    ----------
    boxes : array_like, shape (n, 2 * dim), optional
        The first boxes, as of `Index.insert_many`; dimension and dtype are those of the boxes.  Without any,
        the name may stand in this place.
    name : str
        A name of `broadphase.INDEXES`; ``"auto"`` is an `AdaptiveIndex`.  ``"tree"``, the name of the method,
        is ``"box_tree"`` too.
    **options
        What the class takes: ``dim=2, dtype=np.float64, touching=True, sort=True`` and its own.

    Returns
    -------
    Index

    Raises
    ------
    TypeError, ValueError
        No index has this name, an option is wrong, or a box is not sound.

    Examples
    --------
    >>> import broadphase as bp
    >>> bp.make_index([[0, 0, 2, 2], [1, 1, 3, 3], [5, 5, 6, 6]]).pairs()
    array([[0, 1]], dtype=int32)
    >>> bp.make_index("brute_force", dim=3)
    <BruteForce: 0 boxes, dim=3, dtype=float64, touching=True, sort=True>
    """
    from broadphase.indexes import classes  # here: it takes time, and some need only the names

    if isinstance(boxes, str):
        if name is not None and not (isinstance(name, str) and name == "auto"):
            raise TypeError(f"make_index({boxes!r}, ...): the boxes come first, then the name of the index")
        boxes, name = None, cast(Choice, boxes)
    if name == "tree":
        name = "box_tree"
    if not isinstance(name, str) or name not in CLASSES:
        raise not_one_of(name, CLASSES, "index")
    made: Index = getattr(classes, CLASSES[name])(boxes, **options)
    return made


def load(path: str | PathLike[str]) -> "Index":
    """An index of any class from the file that its `Index.save` wrote.

    Parameters
    ----------
    path : str or os.PathLike

    Returns
    -------
    Index

    Raises
    ------
    ValueError
        The file is damaged, of another version, or no index.
    OSError
        The file cannot be opened.

    Examples
    --------
    >>> import broadphase as bp
    >>> from tempfile import TemporaryDirectory
    >>> tree = bp.BoxTree()
    >>> ids = tree.insert_many([[0, 0, 2, 2], [1, 1, 3, 3]])
    >>> with TemporaryDirectory() as folder:
    ...     tree.save(f"{folder}/boxes.npz")
    ...     bp.load(f"{folder}/boxes.npz").pairs()
    array([[0, 1]], dtype=int32)
    """
    from broadphase.indexes.classes import Index  # here, as above

    return Index.load(path)


INDEXES: tuple[Choice, ...] = get_args(Choice)
"""The names that `make_index` takes."""
