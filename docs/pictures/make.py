"""Makes the pictures of the README and of the landing page, light and dark: ``python docs/pictures/make.py``.

With names, only those: ``python docs/pictures/make.py balls timing``.  They lie beside this file; all of them
together stay under 2 MB.  The lab needs Chromium and the extras ``lab`` and ``test``, the dungeon ``pygame``.
"""

import re
import sys
from collections.abc import Iterator
from pathlib import Path

import matplotlib
import matplotlib.pyplot as plt
import numpy as np
from matplotlib.collections import EllipseCollection
from PIL import Image
from shots import dungeon, lab

import broadphase as bp

HERE = Path(__file__).parent
RESULTS = HERE.parent.parent / "benchmarks" / "RESULTS.md"
THEMES = {
    "light": {"back": "#ffffff", "ink": "#1f2328", "faint": "#d0d7de", "plain": "#0072B2", "met": "#D55E00"},
    "dark": {"back": "#14181e", "ink": "#e6edf3", "faint": "#3d444d", "plain": "#56B4E9", "met": "#FF9A55"},
}
Colours = dict[str, str]


def both_themes() -> Iterator[tuple[str, Colours]]:
    """Light, then dark, with matplotlib dressed for it."""
    for name, colours in THEMES.items():
        ink = dict.fromkeys(("text.color", "axes.labelcolor", "xtick.color", "ytick.color"), colours["ink"])
        back = dict.fromkeys(("figure.facecolor", "axes.facecolor", "savefig.facecolor"), colours["back"])
        with matplotlib.rc_context({**ink, **back, "axes.edgecolor": colours["faint"], "font.size": 11}):
            yield name, colours


def balls() -> None:
    """A film: those that touch another are lit."""
    for theme, colours in both_themes():
        Path(HERE, f"balls-{theme}.webp").unlink(missing_ok=True)
        moving = bp.balls.BallSimulation(150, radius=(0.8, 2.4), bounds=(0, 0, 120, 40), speed=26, seed=5)
        figure = plt.figure(figsize=(7.2, 2.4), dpi=100)
        ax = figure.add_axes((0, 0, 1, 1))
        ax.set(xlim=(0, 120), ylim=(0, 40), xticks=[], yticks=[])
        sides = 2 * moving.radii
        discs = EllipseCollection(
            sides, sides, np.zeros(len(sides)), units="xy", transOffset=ax.transData, offsets=moving.positions
        )
        ax.add_collection(discs)
        lit = np.zeros(len(sides))
        frames = []
        for _ in range(40):
            for _ in range(2):
                moving.step(1 / 60)
                lit[moving.pairs.ravel()] = 1.0
            discs.set_offsets(moving.positions)
            discs.set_facecolor(np.where(lit > 0.4, colours["met"], colours["plain"]))
            lit *= 0.7
            figure.canvas.draw()
            frames.append(Image.fromarray(np.asarray(figure.canvas.buffer_rgba())).convert("RGB"))
        plt.close(figure)
        frames[0].save(
            HERE / f"balls-{theme}.webp",
            save_all=True,
            append_images=frames[1:],
            duration=33,
            loop=0,
            quality=30,
            method=6,
        )


def timing() -> None:
    """What `broadphase bench` printed for uniform 2-D boxes, read from the page that holds it."""
    wanted = {
        "broadphase": "bp.pairs(boxes)",
        "geoindex-rs": "geoindex-rs",
        "scipy": "SciPy",
        "shapely": "shapely",
    }
    sizes, times = _read_results(wanted)
    for theme, colours in both_themes():
        figure, ax = plt.subplots(figsize=(7.2, 3.6), layout="constrained")
        for name, label in wanted.items():
            ours = name == "broadphase"
            colour = colours["met"] if ours else colours["plain"]
            ax.loglog(
                sizes, times[name], "o-", color=colour, lw=3 if ours else 1.4, markersize=6 if ours else 4
            )
            ax.annotate(
                label,
                (sizes[-1], times[name][-1]),
                (8, 0),
                textcoords="offset points",
                va="center",
                color=colour,
            )
        ax.axhline(1000 / 60, color=colours["faint"], zorder=0)
        ax.text(sizes[0], 1000 / 60 * 1.15, "one frame at 60 Hz", color=colours["ink"])
        ax.set(xlabel="boxes", ylabel="milliseconds for all pairs", xlim=(sizes[0] * 0.8, sizes[-1] * 4))
        ax.spines[["top", "right"]].set_visible(False)
        figure.savefig(HERE / f"timing-{theme}.png", dpi=110)
        plt.close(figure)


def _read_results(wanted: dict[str, str]) -> tuple[list[int], dict[str, list[float]]]:
    section = RESULTS.read_text("utf-8").partition("## uniform, 2-D")[2].partition("\n## ")[0]
    rows = [[cell.strip() for cell in line.split("|")[1:-1]] for line in section.splitlines() if "|" in line]
    sizes = [int(cell.replace(",", "")) for cell in rows[0][1:] if re.fullmatch(r"[\d,]+", cell)]
    found = {
        row[0]: [_milliseconds(cell) for cell in row[1 : 1 + len(sizes)]] for row in rows if row[0] in wanted
    }
    return sizes, found


def _milliseconds(cell: str) -> float:
    return float(cell.split("(")[0].replace(",", ""))


MAKERS = {"balls": balls, "timing": timing, "lab": lab, "dungeon": dungeon}

if __name__ == "__main__":
    for chosen in sys.argv[1:] or MAKERS:
        MAKERS[chosen]()
