"""What pages and charts quote of `benchmarks/RESULTS.md`; ``python docs/pictures/figures.py`` prints it.

To measure again, write that file with the command in it, paste this table into the README (the site
copies it), and run ``python docs/pictures/make.py timing``.  Tests compare all three.
"""

import re
from pathlib import Path
from typing import NamedTuple

RESULTS = Path(__file__).parents[2] / "benchmarks" / "RESULTS.md"
SCENE = "uniform, 2-D"
LABELS = {
    "broadphase": "`bp.pairs(boxes)`",
    "sort=False": "`bp.pairs(boxes, sort=False)`",
    "yardstick": "the same by hand, AVX-512 in C++, one core",
    "geoindex-rs": "geoindex-rs, the fastest other library from 10,000 on",
    "shapely": "shapely",
}
"""Of the table, by the names of `benchmarks/compare.py`."""


class Figures(NamedTuple):
    """All pairs of equal squares."""

    machine: str
    sizes: list[str]
    milliseconds: dict[str, list[str]]
    """Of all who were measured at all sizes, as they were printed."""


def read() -> Figures:
    """The figures as `benchmarks/compare.py` printed them."""
    text = RESULTS.read_text("utf-8")
    machine = text.split("\n\n")[2].partition(";")[0]
    section = text.partition(f"## {SCENE}")[2].partition("\n## ")[0]
    rows = [[cell.strip() for cell in line.split("|")[1:-1]] for line in section.splitlines() if "|" in line]
    sizes = [cell for cell in rows[0][1:] if re.fullmatch(r"[\d,]+", cell)]
    cells = {row[0]: [cell.partition(" ")[0] for cell in row[1 : 1 + len(sizes)]] for row in rows[3:]}
    return Figures(machine, sizes, {name: row for name, row in cells.items() if "-" not in row})


def table(figures: Figures) -> str:
    """The table of the README."""
    rows = [[label, *figures.milliseconds[name]] for name, label in LABELS.items()]
    lines = [["boxes", *figures.sizes], ["---"] * (1 + len(figures.sizes)), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


if __name__ == "__main__":
    print(table(read()))
