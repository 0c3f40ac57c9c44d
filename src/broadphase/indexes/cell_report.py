"""Are the cells too large, too small or right?  An answer from who lies where."""

from dataclasses import dataclass

import numpy as np

from broadphase.boxes import BoxArray
from broadphase.indexes.cell_lists import CellLists
from broadphase.kernels.cells import lattice as columns
from broadphase.kernels.cells.lists import ENTRIES, UNIT
from broadphase.methods.cell_size import suggest_cell_size

# A box that shares its cell with more others than this spends the most time on comparing.
_CROWD = 24.0
# A square of 0.4 times a cell lies in two cells on average, a cube in 2.7; twice that is too often.
_MOST_COPIES = {2: 4.0, 3: 6.0}
# Sizes within this factor of the suggested one cost about the same.
_NEAR_ENOUGH = 1.6


@dataclass(frozen=True)
class CellReport:
    """What `UniformGrid.explain` and `SpatialHash.explain` measured; print it to read it."""

    verdict: str
    """``"too large"``, ``"too small"``, ``"right"``, or ``"empty"`` where there is no box to judge by."""
    reason: str
    cell_size: float
    """Side of the finest cells."""
    suggested: float
    """What suits the boxes best: two to three times the size of a typical one."""
    boxes: int
    places: int
    """Cells, or slots of the hash table; of all levels."""
    used: int
    """How many of them hold a box."""
    copies: float
    """In how many places a box lies, on average."""
    company: float
    """With how many others a box shares a place, on average."""
    fullest: int
    """The most boxes in one place."""
    oversize: float
    """Share of the boxes that are too large for the finest cells and lie in coarser ones."""

    def __str__(self) -> str:
        return "\n".join(
            (
                f"cells of {self.cell_size:.4g} are {self.verdict}: {self.reason}",
                f"{self.boxes:,} boxes in {self.used:,} of {self.places:,} places",
                f"a box lies in {self.copies:.1f} of them and shares each with {self.company:.1f} others; "
                f"the fullest holds {self.fullest:,}",
                f"{self.oversize:.1%} of the boxes lie in coarser cells",
            )
        )


def report_on(lists: CellLists, boxes: BoxArray, cell_size: float | None) -> CellReport:
    """Measure and judge; ``boxes`` are those of the cells, ``cell_size`` is None where it was chosen."""
    if not len(boxes):
        return CellReport("empty", "there is no box to judge by", 0.0, 0.0, 0, 0, 0, 0.0, 0.0, 0, 0.0)
    blocks = lists.heads[lists.heads != 0].astype(np.int64)
    held = lists.pool[blocks * UNIT].astype(np.float64)
    copies = float(lists.tally[ENTRIES]) / len(boxes)
    company = float((held * held).sum() / held.sum()) - 1.0
    oversize = 1.0 - float(lists.lattice[0, columns.BOXES]) / len(boxes)
    # A grid whose cells are larger than its bounds has one cell, which knows no size.
    size = 1.0 / float(lists.lattice[0, columns.PER_UNIT])
    if len(lists.lattice) == 1 and cell_size is not None:
        size = cell_size
    suggested = suggest_cell_size(boxes).size
    verdict, reason = _judge(size, suggested, copies, company, oversize, boxes.shape[1] // 2)
    if len(blocks) == 1 and len(boxes) > 1 and size > suggested * _NEAR_ENOUGH:
        parted = _cells_in_use(boxes, suggested)
        if parted > 1:
            reason = f"all {len(boxes):,} boxes lie in one cell; with {suggested:.4g} they lie in {parted:,}"
            verdict = "too large"
    return CellReport(
        verdict,
        reason,
        size,
        suggested,
        len(boxes),
        len(lists.heads),
        len(blocks),
        copies,
        company,
        int(held.max()),
        oversize,
    )


def _cells_in_use(boxes: BoxArray, size: float) -> int:
    """How many cells of a size hold the middle of a box; boxes without end are left out."""
    dim = boxes.shape[1] // 2
    middles = 0.5 * (boxes[:, :dim] + boxes[:, dim:]).astype(np.float64)
    middles = middles[np.isfinite(middles).all(axis=1)]
    return len(np.unique(np.floor(middles / size), axis=0))


def _judge(
    size: float, suggested: float, copies: float, company: float, oversize: float, dim: int
) -> tuple[str, str]:
    much_smaller, much_larger = size * _NEAR_ENOUGH < suggested, size > suggested * _NEAR_ENOUGH
    if much_smaller and oversize > 0.5:
        return "too small", f"{oversize:.0%} of the boxes do not fit; {suggested:.4g} would suit them"
    if much_smaller and copies > _MOST_COPIES[dim]:
        return "too small", f"a box lies in {copies:.1f} cells; with {suggested:.4g} it would lie in fewer"
    if company <= _CROWD:
        return "right", f"a box meets {company:.1f} others in a cell and lies in {copies:.1f} cells"
    if much_larger:
        return "too large", f"a box meets {company:.0f} others in a cell; with {suggested:.4g}, far fewer"
    return "right", f"a box meets {company:.0f} others in a cell, but smaller cells would not part them"
