"""What a run found, as tables: in the terminal with rich, or as Markdown."""

from collections.abc import Iterator
from itertools import groupby
from typing import NamedTuple

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table

from broadphase.bench.contest import DEFAULT, LIMIT
from broadphase.bench.run import Report, Result


class Lines(NamedTuple):
    """One scene in one dimension as a table of strings."""

    title: str
    about: str
    heading: list[str]
    rows: list[list[str]]
    notes: list[str]


def tables(report: Report) -> Iterator[Lines]:
    """One table for each scene and dimension."""
    for (scene, dim), group in groupby(report.results, lambda result: (result.scene, result.dim)):
        results = list(group)
        exponents, memory = {}, {}
        for growth in report.growth:
            if (growth.scene, growth.dim) == (scene, dim):
                exponents = growth.exponents
        for measured in report.memory:
            if (measured.scene, measured.dim) == (scene, dim):
                memory = measured.bytes_per_box
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
    """Machine, versions and how to read the figures."""
    at = report.machine
    versions = ", ".join(f"{name} {version}" for name, version in report.versions.items())
    threads = report.options["threads"]
    return [
        f"{at['processor']}, {at['cores']} cores, {at['vectors']}; {at['system']} {at['architecture']}.",
        f"{versions}.",
        "Milliseconds: best of many, the contestants taking turns; every number of pairs was checked first. "
        f"In brackets: how many times as long as {DEFAULT} with default arguments"
        + (f" and threads={threads}." if threads else "."),
        "auto/best: sort=False (which is auto) against the best of the methods that were asked for. "
        "/ limit: how many times as long as copying the boxes in and the pairs out, at the largest size. "
        "n^: time grows with the number of boxes to this power. Bytes/box: peak growth of a fresh process.",
    ]


def show(report: Report, console: Console) -> None:
    """Print everything; with lines and bold type only where a person looks."""
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
    """The same as a page, with the command that printed it."""
    out = ["# What `broadphase bench` printed", "", f"`{command}`", ""]
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
