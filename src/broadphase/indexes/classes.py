"""The indexes that users make: their options, documented and checked.

The file with the name of an index explains how it works; it is imported when such an index is made.
"""

import math
from numbers import Real
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np

from broadphase.indexes.base import Index as Index  # users get it from here: `Index.load` knows all classes
from broadphase.indexes.protocol import Shared, Structure
from broadphase.inputs import RowsLike
from broadphase.inputs.numeric import real

if TYPE_CHECKING:
    from broadphase.indexes.cells import CellReport, CellStructure

CellSize: TypeAlias = float | Literal["auto"] | None
Axis: TypeAlias = Literal[0, 1, 2, "auto"]


class AdaptiveIndex(Index):
    """The index for every program: it takes the fastest way for what each frame changes and asks.

    `broadphase.make_index` makes it, and every `broadphase.World` uses it.

    Parameters
    ----------
    boxes, dim, dtype, touching, sort, threads, period
        As of `broadphase.Index`.

    Examples
    --------
    >>> import broadphase as bp
    >>> index = bp.AdaptiveIndex([[0, 0, 2, 2], [1, 1, 3, 3], [5, 5, 6, 6]])
    >>> index.pairs()
    array([[0, 1]], dtype=int32)
    >>> index.move(1, [4, 4, 6, 6])
    >>> index.pairs()
    array([[1, 2]], dtype=int32)
    >>> index.query_box([0, 0, 1, 1])
    array([0], dtype=int32)
    """

    name = "auto"

    def _make_structure(self, shared: Shared) -> Structure:
        from broadphase.indexes.adaptive import AdaptiveStructure

        return AdaptiveStructure(shared)


class BruteForce(Index):
    """Tests all boxes, without any structure: for a few hundred boxes, and to check the other indexes.

    Parameters
    ----------
    boxes, dim, dtype, touching, sort, threads, period
        As of `broadphase.Index`.

    Examples
    --------
    >>> import broadphase as bp
    >>> index = bp.BruteForce([[0, 0, 1, 1], [1, 0, 2, 1]], touching=False)
    >>> index.pairs()
    array([], shape=(0, 2), dtype=int32)
    """

    name = "brute_force"

    def _make_structure(self, shared: Shared) -> Structure:
        from broadphase.indexes.brute_force import NoStructure

        return NoStructure(shared)


class BoxTree(Index):
    """A dynamic tree: the index for any scene, and for many queries.

    Parameters
    ----------
    margin : float, optional
        How far a box may move, in every direction, before the tree has to change.  By default each box
        gets four times the step that it made last, but no more than half its longest side.  0 keeps every
        slot as small as its box: best for many queries and few moves.
    boxes, dim, dtype, touching, sort, threads, period
        As of `broadphase.Index`.

    Examples
    --------
    >>> import broadphase as bp
    >>> tree = bp.BoxTree([[0, 0, 1, 1], [2, 0, 3, 1], [9, 9, 10, 10]], margin=0.5)
    >>> tree.move(1, [0.9, 0, 1.9, 1])
    >>> tree.pairs()
    array([[0, 1]], dtype=int32)
    >>> tree.nearest([5, 5], k=2)
    Nearest(ids=array([1, 0], dtype=int32), distances=array([5.06063237, 5.65685425]))
    """

    name = "box_tree"

    def __init__(self, boxes: RowsLike | None = None, *, margin: float | None = None, **common: Any) -> None:
        self._margin = _as_margin(margin)
        super().__init__(boxes, **common)

    def _make_structure(self, shared: Shared) -> Structure:
        from broadphase.indexes.box_tree import TreeStructure

        return TreeStructure(self._margin, shared)

    @property
    def margin(self) -> float | None:
        """The margin of boxes that move; None if it follows from their last step."""
        return self._margin

    def _options(self) -> dict[str, Any]:
        return {"margin": self._margin}


class Strips(Index):
    """For frames in which everything moves: the fastest index for them.

    Parameters
    ----------
    boxes, dim, dtype, touching, sort, threads, period
        As of `broadphase.Index`.

    Examples
    --------
    >>> import broadphase as bp
    >>> index = bp.Strips([[0, 0, 2, 2], [1, 1, 3, 3], [5, 5, 6, 6]])
    >>> index.update([[0, 0, 2, 2], [4, 4, 5, 5], [5, 5, 6, 6]])
    >>> index.pairs()
    array([[1, 2]], dtype=int32)
    """

    name = "strips"

    def _make_structure(self, shared: Shared) -> Structure:
        from broadphase.indexes.strips import StripsStructure

        return StripsStructure(shared)


class SortAndSweep(Index):
    """Boxes in the order of one axis, kept between frames: simple, small, and good where that axis is long.

    ``pairs`` looks at the boxes that share the sorted axis; queries are answered by a tree.

    Parameters
    ----------
    axis : int or "auto"
        The axis to sort along; ``"auto"`` is the one on which the boxes are spread most, chosen whenever all
        boxes are sorted from scratch.
    boxes, dim, dtype, touching, sort, threads, period
        As of `broadphase.Index`.

    Notes
    -----
    ``stats.swaps`` says how many steps the boxes took in the order since the last read; 0 if all were sorted
    from scratch.

    Examples
    --------
    >>> import broadphase as bp
    >>> index = bp.SortAndSweep([[0, 0, 2, 2], [1, 1, 3, 3], [5, 5, 6, 6]], axis=0)
    >>> index.pairs()
    array([[0, 1]], dtype=int32)
    >>> index.query_box([3, 3, 5, 5])
    array([1, 2], dtype=int32)
    """

    name = "sort_and_sweep"

    def __init__(self, boxes: RowsLike | None = None, *, axis: Axis = "auto", **common: Any) -> None:
        self._axis = axis
        super().__init__(boxes, **common)
        if axis != "auto":
            self._make_whole()  # which checks the axis

    def _make_structure(self, shared: Shared) -> Structure:
        from broadphase.indexes.sort_and_sweep import SortStructure
        from broadphase.methods.sort_and_sweep import choose_axis

        if self._axis != "auto":
            choose_axis(shared.store.boxes, self._axis)  # raises where there is no such axis
        return SortStructure(self._axis, shared)

    def _options(self) -> dict[str, Any]:
        return {"axis": self._axis}


class SweepAndPrune(Index):
    """Ends sorted on every axis, swaps that begin and end overlaps: for scenes in which little moves.

    ``pairs`` and ``changes`` cost time for the boxes that moved since the last call; queries are answered by
    a tree.

    Parameters
    ----------
    boxes, dim, dtype, touching, sort, threads, period
        As of `broadphase.Index`.

    Notes
    -----
    ``stats.swaps`` says how many ends were passed since the last read, ``stats.tests`` how many boxes were
    compared for that.

    Examples
    --------
    >>> import broadphase as bp
    >>> index = bp.SweepAndPrune([[0, 0, 2, 2], [1, 1, 3, 3], [5, 5, 6, 6]])
    >>> index.pairs()
    array([[0, 1]], dtype=int32)
    >>> index.move(1, [4, 4, 6, 6])
    >>> began, stayed, ended = index.changes()
    >>> began
    array([[1, 2]], dtype=int32)
    """

    name = "sweep_and_prune"

    def _make_structure(self, shared: Shared) -> Structure:
        from broadphase.indexes.sweep_and_prune import SweepStructure

        return SweepStructure(shared)


class CellIndex(Index):
    """What `UniformGrid` and `SpatialHash` have in common."""

    _finest: Any

    def explain(self) -> "CellReport":
        """Whether the cells are too large, too small or right, and why; print it to read it.

        Measured from the places of the moving boxes (of the static ones if nothing moves).

        Returns
        -------
        CellReport
        """
        return self._cells.explain()

    def tune(self) -> "CellReport":
        """Choose the cell size again from the boxes as they are now, and bin all of them.

        A cell size that was given is replaced if `explain` finds it wrong.

        Returns
        -------
        CellReport
            About the new cells.
        """
        self._cells.tune()
        self._finest = self._cells.cell_size
        return self._cells.explain()

    @property
    def cell_size(self) -> float | Literal["auto"]:
        """As it was given or tuned: a number, or ``"auto"``."""
        return "auto" if self._cells.cell_size is None else self._cells.cell_size

    @property
    def _cells(self) -> "CellStructure":
        return self._structure  # type: ignore[no-any-return]


class UniformGrid(CellIndex):
    """Equal cells over a bounded world: for boxes of like size, evenly spread, such as a game's level.

    Parameters
    ----------
    bounds : array_like, shape (2 * dim,), optional
        ``[min..., max...]`` of the world.  Boxes outside are legal: they are clamped to the cells at the
        edge, which become slow when there are many.  By default the bounds hold most boxes, and follow them.
    cell_size : float or "auto"
        Side of the cells.  ``"auto"`` is two and a half times a typical box, or more where the world
        would have more than two cells a box.
    boxes, dim, dtype, touching, sort, threads, period
        As of `broadphase.Index`.  The bounds may stand first where there are no boxes:
        ``UniformGrid(bounds, cell_size)``.

    Raises
    ------
    TypeError, ValueError
        The bounds are not finite or not in order, the cell size is not positive, or the grid would have more
        than 2 ** 28 cells.

    Examples
    --------
    >>> import broadphase as bp
    >>> boxes = [[10, 10, 30, 30], [20, 20, 40, 40], [-50, 300, -40, 310]]
    >>> grid = bp.UniformGrid(boxes, bounds=[0, 0, 800, 600], cell_size=64)
    >>> grid.pairs()
    array([[0, 1]], dtype=int32)
    >>> grid.query_point([-45, 305])
    array([2], dtype=int32)
    """

    name = "uniform_grid"

    def __init__(
        self, boxes: RowsLike | None = None, bounds: Any = None, cell_size: CellSize = "auto", **common: Any
    ) -> None:
        if isinstance(boxes, list | tuple | np.ndarray) and len(boxes) and isinstance(boxes[0], Real):
            boxes, bounds, cell_size = None, boxes, cell_size if bounds is None else bounds
        self._bounds, self._finest = bounds, cell_size
        super().__init__(boxes, **common)
        if bounds is not None or type(cell_size) is not str or cell_size != "auto":
            self._make_whole()  # which checks them

    def _make_structure(self, shared: Shared) -> Structure:
        from broadphase.indexes.cells import as_cell_size
        from broadphase.indexes.uniform_grid import GridStructure, as_bounds, check_cells

        finest = as_cell_size(self._finest)
        self._bounds = None if self._bounds is None else as_bounds(self._bounds, self.dim)
        if self._bounds is not None and finest is not None:
            check_cells(self._bounds, finest, self.dim)
        return GridStructure(self._bounds, finest, shared)

    @property
    def bounds(self) -> tuple[float, ...] | None:
        """As they were given: None where they follow the boxes."""
        return self._bounds  # type: ignore[no-any-return]

    def _options(self) -> dict[str, Any]:
        return {"bounds": None if self._bounds is None else list(self._bounds), "cell_size": self.cell_size}


class SpatialHash(CellIndex):
    """An endless grid in a hash table: for boxes of like size in a world of any size.

    Parameters
    ----------
    cell_size : float or "auto"
        Side of the cells; ``"auto"`` is two and a half times a typical box.
    table_size : int or "auto"
        Slots of the table, raised to a prime; ``"auto"`` is ten times the boxes, and grows with them.  A
        small table saves memory, but more distant cells share a slot; a large one is slower to clear.
    boxes, dim, dtype, touching, sort, threads, period
        As of `broadphase.Index`.

    Raises
    ------
    TypeError, ValueError
        The cell size is not a positive finite number, or the table size no positive integer below 2 ** 31.

    Examples
    --------
    >>> import broadphase as bp
    >>> boxes = [[0, 0, 1, 1], [0.5, 0.5, 1.5, 1.5], [1e9, -1e9, 1e9 + 1, -1e9 + 1]]
    >>> index = bp.SpatialHash(boxes, cell_size=2.5)
    >>> index.pairs()
    array([[0, 1]], dtype=int32)
    >>> index.explain().verdict
    'right'
    """

    name = "spatial_hash"

    def __init__(
        self,
        boxes: RowsLike | None = None,
        *,
        cell_size: CellSize = "auto",
        table_size: int | Literal["auto"] | None = "auto",
        **common: Any,
    ) -> None:
        from broadphase.indexes.cells import as_cell_size
        from broadphase.indexes.spatial_hash import as_table_size

        self._finest, self._table_size = as_cell_size(cell_size), as_table_size(table_size)
        super().__init__(boxes, **common)

    def _make_structure(self, shared: Shared) -> Structure:
        from broadphase.indexes.spatial_hash import HashStructure

        return HashStructure(self._finest, self._table_size, shared)

    @property
    def table_size(self) -> int | Literal["auto"]:
        """As it was given: a number, or ``"auto"``."""
        return "auto" if self._table_size is None else self._table_size

    def _options(self) -> dict[str, Any]:
        return {"cell_size": self.cell_size, "table_size": self.table_size}


def _as_margin(margin: Any) -> float | None:
    if margin is None:
        return None
    number = real(margin, "margin", "a number or None")
    if not 0.0 <= number < math.inf:
        raise ValueError(f"margin must be finite and not negative; got {number}")
    return number
