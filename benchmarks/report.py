"""The results of a run: tables in the terminal (rich) or in Markdown, and a chart (matplotlib)."""

from collections.abc import Iterator
from itertools import groupby
from typing import Any, BinaryIO, NamedTuple

from contest import DEFAULT, LIMIT, UNSORTED, YARDSTICK
from measure import Report, Result
from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table


class Lines(NamedTuple):
    """One scene in one dimension as a table of strings."""

    title: str
    about: str
    heading: list[str]
    rows: list[list[str]]
    notes: list[str]


def tables(report: Report) -> Iterator[Lines]:
    """One table for each scene and dimension."""
    all_exponents = {(one.scene, one.dim): one.exponents for one in report.growth}
    all_memory = {(one.scene, one.dim): one.bytes_per_box for one in report.memory}
    for (scene, dim), group in groupby(report.results, lambda result: (result.scene, result.dim)):
        results = list(group)
        exponents = all_exponents.get((scene, dim), {})
        memory = all_memory.get((scene, dim), {})
        names = list(dict.fromkeys(name for result in results for name in result.milliseconds))
        rows = [["pairs", *(f"{result.pairs:,}" for result in results), "", "", ""]]
        for name in names:
            row = [name, *(_cell(name, result) for result in results)]
            row.append(_times(results[-1].times_limit.get(name)))
            row.append(f"{exponents[name]:.2f}" if name in exponents else "")
            row.append(f"{memory[name]:,.0f}" if name in memory else "")
            rows.append(row)
        if any(result.auto_times_best for result in results):
            rows.append(["auto/best", *(_times(result.auto_times_best) for result in results), "", "", ""])
        sizes = [f"{result.boxes:,}" for result in results]
        heading = ["boxes", *sizes, "/ limit", "n^", "bytes/box"]
        reasons = results[-1].left_out
        grouped: dict[str, list[str]] = {}
        for name, reason in reasons.items():
            grouped.setdefault(reason, []).append(name)
        notes = [f"{', '.join(names)}: {reason}" for reason, names in grouped.items()]
        yield Lines(f"{scene}, {dim}-D", report.scenes[scene], heading, rows, notes)


def _cell(name: str, result: Result) -> str:
    if name not in result.milliseconds:
        return "-"
    times = "" if name in (DEFAULT, LIMIT) else f" ({_times(result.times_broadphase[name])})"
    return _milliseconds(result.milliseconds[name]) + times


def _milliseconds(value: float) -> str:
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}" if value >= 1 else f"{value:.3f}"


def _times(value: float | None) -> str:
    if value is None:
        return ""
    return f"{value:,.0f} x" if value >= 100 else f"{value:.1f} x" if value >= 10 else f"{value:.2f} x"


def preamble(report: Report) -> list[str]:
    """Machine, versions and how to read the numbers."""
    at = report.machine
    versions = ", ".join(f"{name} {version}" for name, version in report.versions.items())
    threads = report.options["threads"]
    return [
        f"{at['processor']}, {at['cores']} cores, {at['vectors']}; {at['system']} {at['architecture']}.",
        f"{versions}.",
        "Milliseconds: best of many, the contestants taking turns; every number of pairs was checked first. "
        f"In brackets: how many times as long as {DEFAULT} with default arguments"
        + (f" and threads={threads}." if threads else "."),
        "auto/best: sort=False (which is auto) against the best of the chosen methods. "
        "/ limit: how many times as long as copying the boxes in and the pairs out, at the largest size. "
        "n^: time grows with the number of boxes to this power. Bytes/box: peak growth of a fresh process.",
    ]


def show(report: Report, console: Console) -> None:
    """Print everything, with lines and bold type only in a terminal."""
    for line in preamble(report):
        console.print(line, markup=False)
    for lines in tables(report):
        console.print(f"\n{lines.title}: {lines.about}", markup=False, style="bold")
        table = Table(box=SIMPLE_HEAD if console.is_terminal else None, pad_edge=False)
        for column, head in enumerate(lines.heading):
            table.add_column(head, justify="right" if column else "left", no_wrap=True)
        for row in lines.rows:
            table.add_row(*row, style="bold" if row[0] == DEFAULT else None)
        console.print(table)
        for note in lines.notes:
            console.print(f"left out: {note}", markup=False)
    console.print("\nWhat is timed:", style="bold")
    for name, what in report.contestants.items():
        console.print(f"  {name}: {what}", markup=False)


def markdown(report: Report, command: str) -> str:
    """The same in Markdown, with the command that printed it."""
    out = ["# Benchmark results", "", f"`{command}`", ""]
    for line in preamble(report):
        out += [line, ""]
    for lines in tables(report):
        out += [f"## {lines.title}", "", lines.about, ""]
        out += [_row(lines.heading), _row(["---", *["---:"] * (len(lines.heading) - 1)])]
        out += [_row(row) for row in lines.rows]
        out += [""]
        if lines.notes:
            out += [*(f"- left out: {note}" for note in lines.notes), ""]
    out += ["## What is timed", ""]
    out += [f"- **{name}**: {what}" for name, what in report.contestants.items()]
    return "\n".join(out) + "\n"


def _row(cells: list[str]) -> str:
    return f"| {' | '.join(cells)} |"


# ---- the chart

# The palette of Okabe and Ito, which is safe for the colour-blind; broadphase has the first two colours.
_OURS = {DEFAULT: "#D55E00", UNSORTED: "#E69F00", YARDSTICK: "#000000", LIMIT: "#999999"}
_OTHERS = ("#0072B2", "#009E73", "#CC79A7", "#56B4E9", "#882255")
_MARKERS = "osD^vP"
_COLUMNS = 3


def save_chart(report: Report, file: BinaryIO, kind: str) -> None:
    """Draw the time per box over the number of boxes, one panel per scene and dimension.

    ``kind`` is the format, one that matplotlib knows.
    """
    from matplotlib.figure import Figure

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
    known: dict[str, Any] = {}
    for ax in axes[: len(panels)]:
        handles, labels = ax.get_legend_handles_labels()
        known.update({label: handle for handle, label in zip(handles, labels, strict=True)})
    order = [name for name in [*_OURS, *names] if name in known]
    figure.legend([known[name] for name in order], order, loc="outside right upper", frameon=False)
    at = report.machine
    figure.suptitle(f"Time per box, best of many: {at['processor']}, {at['cores']} cores, {at['vectors']}")
    figure.savefig(file, dpi=120, format=kind)


def _panel(ax: Any, results: list[Result], names: list[str]) -> None:
    for name in [*names, *_OURS]:
        points = [(r.boxes, r.milliseconds[name] * 1e6 / r.boxes) for r in results if name in r.milliseconds]
        if points:
            ax.plot(*zip(*points, strict=True), label=name, **_style(name, names))
    ax.set_xscale("log")
    ax.set_yscale("log")
    ax.grid(True, which="major", alpha=0.3)
    ax.set_title(f"{results[0].scene}, {results[0].dim}-D")
    ax.set_xlabel("boxes")
    ax.set_ylabel("nanoseconds per box")


def _style(name: str, names: list[str]) -> dict[str, Any]:
    if name in _OURS:
        dashes = {YARDSTICK: "--", LIMIT: ":"}.get(name, "-")
        width = 3.0 if name in (DEFAULT, UNSORTED) else 2.0
        return {"color": _OURS[name], "linestyle": dashes, "linewidth": width, "marker": "o", "markersize": 4}
    at = names.index(name)
    marker = _MARKERS[at // len(_OTHERS) % len(_MARKERS)]
    return {"color": _OTHERS[at % len(_OTHERS)], "linewidth": 1.2, "marker": marker, "markersize": 5}
