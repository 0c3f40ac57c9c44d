"""Makes the pictures of the README and of the landing page, light and dark: ``python docs/pictures/make.py``.

With names, only those: ``python docs/pictures/make.py balls timing``.  The pictures are in this folder and
together stay under 3 MB.  The page of a recording needs Chromium and
the extra ``test``, the games ``pygame``.
"""

import json
import sys
from collections.abc import Iterator
from pathlib import Path

import figures
import film
import matplotlib
import matplotlib.pyplot as plt
import numpy as np
from PIL import Image
from shots import dungeon, flow, replay, shooter

HERE = Path(__file__).parent
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
    """A film: those that touch another are orange."""
    for theme, colours in both_themes():
        film.save(HERE / f"balls-{theme}.webp", colours)


def timing() -> None:
    """What `benchmarks/compare.py` printed for equal squares; the files hold the figures that they show."""
    labels = {
        "broadphase": "bp.pairs(boxes)",
        "geoindex-rs": "geoindex-rs",
        "scipy": "SciPy",
        "shapely": "shapely",
    }
    read = figures.read()
    sizes = [_number(cell) for cell in read.sizes]
    shown = {name: read.milliseconds[name] for name in labels if name in read.milliseconds}
    for theme, colours in both_themes():
        figure, ax = plt.subplots(figsize=(7.2, 3.6), layout="constrained")
        for name, cells in shown.items():
            ours = name == "broadphase"
            colour = colours["met"] if ours else colours["plain"]
            times = [_number(cell) for cell in cells]
            ax.loglog(sizes, times, "o-", color=colour, lw=3 if ours else 1.4, markersize=6 if ours else 4)
            ax.annotate(
                labels[name],
                (sizes[-1], times[-1]),
                (8, 0),
                textcoords="offset points",
                va={"shapely": "bottom", "geoindex-rs": "top"}.get(name, "center"),  # close to SciPy
                color=colour,
            )
        ax.axhline(1000 / 60, color=colours["faint"], zorder=0)
        ax.text(sizes[0], 1000 / 60 * 1.15, "one frame at 60 Hz", color=colours["ink"])
        ax.set(xlabel="boxes", ylabel="milliseconds for all pairs", xlim=(sizes[0] * 0.8, sizes[-1] * 4))
        ax.set_title(read.machine, fontsize=10, loc="left")
        ax.spines[["top", "right"]].set_visible(False)
        metadata = {"Description": json.dumps({"machine": read.machine, "sizes": read.sizes, **shown})}
        figure.savefig(HERE / f"timing-{theme}.png", dpi=110, metadata=metadata)
        plt.close(figure)


def card() -> None:
    """What a link to the site shows elsewhere: the name, the sentence, and a moment of the film."""
    colours = THEMES["dark"]
    with matplotlib.rc_context({"figure.facecolor": colours["back"], "text.color": colours["ink"]}):
        figure = plt.figure(figsize=(12, 6.3), dpi=100)
        ax = figure.add_axes((0, 0, 1, 0.64))
        ax.set(xlim=(0, film.WIDTH), ylim=(0, film.HEIGHT))
        ax.set_axis_off()
        positions, radii, touching = next(film.moments())
        film.discs(positions, 2 * radii, [colours["met" if met else "plain"] for met in touching], ax)
        figure.text(0.05, 0.83, "broadphase", fontsize=62, weight="bold")
        figure.text(0.053, 0.72, "Finds everything that touches, every frame, in Python.", fontsize=25)
        figure.canvas.draw()
        drawn = Image.fromarray(np.asarray(figure.canvas.buffer_rgba())).convert("RGB")
        drawn.quantize(64).save(HERE / "card.png", optimize=True)
        plt.close(figure)


def _number(cell: str) -> float:
    return float(cell.replace(",", ""))


MAKERS = {
    "balls": balls,
    "card": card,
    "timing": timing,
    "replay": replay,
    "dungeon": dungeon,
    "flow": flow,
    "shooter": shooter,
}

if __name__ == "__main__":
    for chosen in sys.argv[1:] or MAKERS:
        MAKERS[chosen]()
