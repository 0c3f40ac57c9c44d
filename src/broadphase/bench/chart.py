"""The picture of a run: time a box over the number of boxes, one panel for each scene and dimension."""

from itertools import groupby
from typing import Any, BinaryIO

from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from broadphase.bench.contest import DEFAULT, LIMIT, UNSORTED, YARDSTICK
from broadphase.bench.run import Report, Result

# Okabe and Ito's palette, which people of every colour vision can tell apart; ours are the first two.
_OURS = {DEFAULT: "#D55E00", UNSORTED: "#E69F00", YARDSTICK: "#000000", LIMIT: "#999999"}
_OTHERS = ("#0072B2", "#009E73", "#CC79A7", "#56B4E9", "#882255")
_MARKERS = "osD^vP"
_COLUMNS = 3


def save(report: Report, file: BinaryIO, kind: str) -> None:
    """Draw the report and write it to an open file in a format that matplotlib knows."""
    panels = [list(group) for _, group in groupby(report.results, lambda result: (result.scene, result.dim))]
    columns = min(_COLUMNS, len(panels))
    rows = -(-len(panels) // columns)
    figure = Figure(figsize=(5.2 * columns + 2.2, 4.4 * rows), layout="constrained")
    axes = figure.subplots(rows, columns, squeeze=False).ravel()
    names = [name for name in report.contestants if name not in _OURS]
    for ax, results in zip(axes, panels, strict=False):
        _panel(ax, results, names)
    for ax in axes[len(panels) :]:
        ax.set_axis_off()
    known: dict[str, Artist] = {}
    for ax in axes[: len(panels)]:
        handles, labels = ax.get_legend_handles_labels()
        known.update({label: handle for handle, label in zip(handles, labels, strict=True)})
    order = [name for name in [*_OURS, *names] if name in known]
    figure.legend([known[name] for name in order], order, loc="outside right upper", frameon=False)
    at = report.machine
    figure.suptitle(f"Time a box, best of many: {at['processor']}, {at['cores']} cores, {at['vectors']}")
    figure.savefig(file, dpi=120, format=kind)


def _panel(ax: Axes, results: list[Result], names: list[str]) -> None:
    for name in [*names, *_OURS]:
        points = [(r.boxes, r.milliseconds[name] * 1e6 / r.boxes) for r in results if name in r.milliseconds]
        if points:
            ax.plot(*zip(*points, strict=True), label=name, **_style(name, names))
    ax.set_xscale("log")
    ax.set_yscale("log")
    ax.grid(True, which="major", alpha=0.3)
    ax.set_title(f"{results[0].scene}, {results[0].dim}-D")
    ax.set_xlabel("boxes")
    ax.set_ylabel("nanoseconds a box")


def _style(name: str, names: list[str]) -> dict[str, Any]:
    if name in _OURS:
        dashes = {YARDSTICK: "--", LIMIT: ":"}.get(name, "-")
        width = 3.0 if name in (DEFAULT, UNSORTED) else 2.0
        return {"color": _OURS[name], "linestyle": dashes, "linewidth": width, "marker": "o", "markersize": 4}
    at = names.index(name)
    marker = _MARKERS[at // len(_OTHERS) % len(_MARKERS)]
    return {"color": _OTHERS[at % len(_OTHERS)], "linewidth": 1.2, "marker": marker, "markersize": 5}
