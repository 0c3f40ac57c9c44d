"""What the site draws while it is built: figures as SVG, ``{drawing} cutting``, and the style of the gallery.

The figures count what they show: their boxes are random with a fixed seed, compared as the method does it.
Their colours are variables of the theme, so one drawing serves light and dark. A figure is panels and notes,
each narrow enough for a phone; they stand side by side where there is room.
"""

from collections.abc import Iterator
from html import escape
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

Floats = npt.NDArray[np.float64]
Pair = tuple[int, int]
INK = "#747c84"
"""Four to one in contrast with both grounds."""


def gallery_style(_conf: dict[str, Any], _file: str) -> None:
    """No ground, and ink that is legible on light and on dark."""
    import matplotlib as mpl
    from matplotlib.animation import HTMLWriter

    clear = ("figure.facecolor", "axes.facecolor", "savefig.facecolor", "legend.facecolor")
    ink = ("text.color", "axes.labelcolor", "axes.edgecolor", "axes.titlecolor", "xtick.color", "ytick.color")
    mpl.rcParams.update({**dict.fromkeys(clear, "none"), **dict.fromkeys(ink, INK)})
    HTMLWriter._supports_transparency = lambda _: True  # else each frame of a film gets a white ground


# ---- the parts of a drawing


class Panel(NamedTuple):
    """One picture of a figure, at most 400 wide."""

    title: str
    wide: int
    high: int
    parts: list[str]


Figure = tuple[list[Panel], list[str]]
"""Panels, and notes beside them."""


def _box(x: float, y: float, wide: float, high: float, kind: str) -> str:
    return f'<rect x="{x:.1f}" y="{y:.1f}" width="{wide:.1f}" height="{high:.1f}" class="{kind}"/>'


def _line(x0: float, y0: float, x1: float, y1: float, kind: str) -> str:
    return f'<line x1="{x0:.1f}" y1="{y0:.1f}" x2="{x1:.1f}" y2="{y1:.1f}" class="{kind}"/>'


def _text(x: float, y: float, words: object, anchor: str = "start") -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{words}</text>'


def _boxes(boxes: Floats, kinds: list[str], x: float, y: float, scale: float) -> Iterator[str]:
    for (left, top, right, bottom), kind in zip(boxes, kinds, strict=True):
        yield _box(
            x + scale * left, y + scale * top, scale * (right - left), scale * (bottom - top), f"box {kind}"
        )


def _scene(count: int, least: float, most: float, seed: int) -> Floats:
    """Boxes in a square of 100."""
    rng = np.random.default_rng(seed)
    sides = rng.uniform(least, most, (count, 2))
    corners = rng.random((count, 2)) * (100 - sides)
    return np.hstack([corners, corners + sides])


def _meet(a: Floats, b: Floats, axis: int) -> bool:
    return bool(a[axis] <= b[axis + 2] and b[axis] <= a[axis + 2])


def _touched(boxes: Floats, count: int) -> list[range]:
    """The strips that each box touches."""
    wide = 100 / count
    return [range(int(box[1] // wide), min(int(box[3] // wide), count - 1) + 1) for box in boxes]


# ---- the figures


def cutting() -> Figure:
    """Who is compared with whom: all, a sweep, a sweep in each of five strips."""
    boxes, strips = _scene(40, 5, 11, seed=4), 5
    everyone = list(combinations(range(len(boxes)), 2))
    swept = [(i, j) for i, j in everyone if _meet(boxes[i], boxes[j], 0)]
    touched = _touched(boxes, strips)
    cut = [pair for pair in swept for _ in range(len({*touched[pair[0]]} & {*touched[pair[1]]}))]
    hits = {pair for pair in swept if _meet(boxes[pair[0]], boxes[pair[1]], 1)}
    kinds = ["met" if any(k in pair for pair in hits) else "plain" for k in range(len(boxes))]
    middles = (boxes[:, :2] + boxes[:, 2:]) / 2
    panels = []
    for name, tested in (("every pair", everyone), ("one sweep", swept), ("strips", cut)):
        x, y, scale = 4, 4, 2.0
        parts = [_box(x, y, 200, 200, "frame")]
        if tested is cut:
            parts += [
                _line(x, y + 200 * k / strips, x + 200, y + 200 * k / strips, "border")
                for k in range(1, strips)
            ]
        parts += [
            _line(*(scale * middles[i] + (x, y)), *(scale * middles[j] + (x, y)), "test") for i, j in tested
        ]
        parts += _boxes(boxes, kinds, x, y, scale)
        title = f"{name}: {len(tested)} tests"
        parts.append(_text(x + 100, 224, title, "middle"))
        panels.append(Panel(title, 208, 232, parts))
    return panels, []


def width() -> Figure:
    """The two costs of a strip, counted, over the number of strips."""
    boxes = _scene(4_000, 0.6, 1.8, seed=2)
    boxes = boxes[np.argsort(boxes[:, 0])]
    counts = [2, 4, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192, 256]
    tests, copies = [], []
    for count in counts:
        first, last = (np.clip(boxes[:, k] * count // 100, 0, count - 1) for k in (1, 3))
        tested = 0
        for strip in range(count):
            here = boxes[(first <= strip) & (strip <= last)]
            partners = np.searchsorted(here[:, 0], here[:, 2], side="right") - np.arange(len(here)) - 1
            tested += int(partners.sum())
        tests.append(tested / len(boxes))
        copies.append(COPY * float((last - first + 1).mean()))
    both = np.add(tests, copies)
    best = int(np.argmin(both))
    left, low, wide, high = 34, 220, 335, 190
    top = 2.2 * both[best]
    parts = [_line(left, low, left + wide, low, "axis"), _line(left, low, left, low - high, "axis")]
    across = [left + wide * np.log2(count / counts[0]) / np.log2(counts[-1] / counts[0]) for count in counts]
    for name, values, kind in (
        ("tests", tests, "plain"),
        ("copies", copies, "faint"),
        ("together", both, "met"),
    ):
        shown = [
            (x, low - high * value / top) for x, value in zip(across, values, strict=True) if value < top
        ]
        points = " ".join(f"{x:.1f},{y:.1f}" for x, y in shown)
        parts.append(f'<polyline points="{points}" class="curve {kind}"/>')
        x, y = shown[-3] if name == "copies" else shown[-1] if name == "together" else shown[0]
        parts.append(_text(x + 10, y + {"tests": 0, "copies": 20, "together": 6}[name], name))
    parts.append(
        f'<circle cx="{across[best]:.1f}" cy="{low - high * both[best] / top:.1f}" r="6" class="met"/>'
    )
    ticks = [(x, count) for x, count in zip(across, counts, strict=True) if count & (count - 1) == 0]
    parts += [_text(x, low + 20, count, "middle") for x, count in ticks]
    parts.append(_text(left + wide / 2, low + 42, "strips", "middle"))
    parts.append(
        f'<text transform="translate(20 {low - high / 2}) rotate(-90)" text-anchor="middle">cost a box</text>'
    )
    return [Panel("tests and copies over strips", 400, 272, parts)], []


COPY = 30
"""What a copy costs, in tests, as `kernels/strips/sweep.py` counts it."""


def once() -> Figure:
    """Three boxes at a border: which copies may be paired in which strip."""
    boxes = {"A": (60, 40, 200, 160), "B": (150, 60, 290, 180), "C": (250, 130, 380, 200)}
    border = 110
    parts = [_box(4, 8, 392, 102, "frame"), _box(4, 110, 392, 102, "frame")]
    for name, (x0, y0, x1, y1) in boxes.items():
        if y0 < border:
            parts.append(_box(x0, y0, x1 - x0, border - 3 - y0, "box plain"))
        parts.append(
            _box(
                x0,
                max(y0, border + 3),
                x1 - x0,
                y1 - max(y0, border + 3),
                f"box {'late' if y0 < border else 'plain'}",
            )
        )
        parts.append(_text(x0 + 10, y0 + 22, name))
    return [Panel("three boxes in two strips", 400, 212, parts)], [
        "Strip 1: A and B begin here. A-B is reported.",
        "Strip 2: A and B (grey) began earlier, so A-B is skipped. C begins here: B-C is reported.",
    ]


def diagonal() -> Figure:
    """Sixteen boxes of a strip against those one further on, two further on, and so on."""
    lanes, count, side = 16, 26, 11.0
    boxes = _scene(count, 8, 16, seed=21)
    boxes = boxes[np.argsort(boxes[:, 0])]
    parts, tests, steps = [], 0, 0
    hits = 0
    for step in range(1, count - lanes + 1):
        active = [lane for lane in range(lanes) if boxes[lane + step, 0] <= boxes[lane, 2]]
        if not active:
            break
        steps += 1
        for lane in range(lanes):
            i, j = boxes[lane], boxes[lane + step]
            hit = lane in active and _meet(i, j, 1)
            kind = "met" if hit else ("even" if step % 2 else "odd") if lane in active else "idle"
            parts.append(
                _box(50 + side * (lane + step), 30 + side * lane, side - 1, side - 1, f"cell {kind}")
            )
            tests, hits = tests + (lane in active), hits + hit
    for k in range(count):
        parts.append(_box(50 + side * k, 16, side - 1, side - 1, "cell box plain"))
        if k < lanes:
            parts.append(_box(34, 30 + side * k, side - 1, side - 1, "cell box plain"))
    parts.append(_text(26, 120, "16", "end"))
    every = lanes * (lanes - 1) // 2 + lanes * (count - lanes)
    return [Panel("a diagonal sweep", 340, 212, parts)], [
        "16 boxes of a strip, sorted (rows), against all that follow (columns).",
        "Each diagonal is one step of 16 lanes.",
        f"{steps} steps, {tests} tests, {hits} pairs (orange); without a stop {every} tests.",
        "Pale: a lane that has stopped already.",
    ]


def counting() -> Figure:
    """Where copies begin and where they end, and the running sum of both."""
    spans = [(1, 2), (1, 4), (3, 3), (4, 7), (6, 6), (6, 8), (9, 9)]
    count, side, left = 11, 26, 106
    steps = np.zeros(count + 1, int)
    for first, last in spans:
        steps[first] += 1
        steps[last + 1] -= 1
    parts = []
    for k, (first, last) in enumerate(spans):
        parts.append(
            _box(left + side * first + 3, 12 + 15 * k, side * (last - first + 1) - 8, 11, "box plain")
        )
    for row, (name, values) in enumerate((("+1, -1", steps), ("running sum", np.cumsum(steps)))):
        y = 128 + 40 * row
        parts.append(_text(left - 12, y + 20, name, "end"))
        for k in range(count):
            parts.append(_box(left + side * k, y, side - 3, 30, "cell met-pale" if row else "cell odd"))
            value = int(values[k])
            parts.append(
                _text(
                    left + side * (k + 0.5) - 1,
                    y + 20,
                    f"{value:+d}" if value and not row else value,
                    "middle",
                )
            )
    parts.append(_text(left - 12, 64, "boxes", "end"))
    parts += [_line(left + side * k - 1.5, 8, left + side * k - 1.5, 122, "border") for k in range(count + 1)]
    return [Panel("boxes over strips, and their running sum", 396, 206, parts)], []


def bitmap() -> Figure:
    """A few boxes, the cells in which a partner may begin, and the many that are looked at."""
    rng = np.random.default_rng(8)
    few, slack, cell = _scene(7, 6, 14, seed=12), 2.0, 5.0
    many = rng.random((500, 2)) * 98
    marked = np.zeros((20, 20), bool)
    for x0, y0, x1, y1 in few:
        columns, rows = (
            np.clip(np.array(ends) // cell, 0, 19).astype(int)
            for ends in ((x0 - slack, x1), (y0 - slack, y1))
        )
        marked[rows[0] : rows[1] + 1, columns[0] : columns[1] + 1] = True
    kept = marked[tuple((many[:, ::-1] // cell).astype(int).T)]
    x, y, scale = 4, 4, 2.6
    parts = [_box(x, y, 260, 260, "frame")]
    for row, column in np.argwhere(marked):
        parts.append(
            _box(
                x + scale * cell * column, y + scale * cell * row, scale * cell, scale * cell, "cell met-pale"
            )
        )
    parts += _boxes(few, ["plain"] * len(few), x, y, scale)
    for (px, py), near in zip(many, kept, strict=True):
        parts.append(_box(x + scale * px, y + scale * py, 4, 4, "met" if near else "idle"))
    return [Panel("boxes over a bitmap", 268, 268, parts)], [
        f"{len(few)} boxes, joined with {len(many)} small ones.",
        "Orange cells: the bit is set, a partner may begin there.",
        f"{int(kept.sum())} of the {len(many)} are searched; "
        f"the other {int((~kept).sum())} cost one look at a bit.",
    ]


def record() -> Figure:
    """The 32 bytes of a copy in 3-D."""
    names = ["min x", "max x", "min y", "max y", "min z", "max z", "index", "class"]
    parts = []
    for k, name in enumerate(names):
        parts.append(_box(4 + 49 * k, 12, 47, 44, f"cell {'met-pale' if k > 5 else 'odd'}"))
        parts.append(_text(27.5 + 49 * k, 39, name, "middle"))
    parts.append(_text(4, 80, "24 bytes of edges"))
    parts.append(_text(394, 80, "8 bytes beside them", "end"))
    return [Panel("the fields of a copy", 400, 90, parts)], []


def _bars(title: str, rows: list[tuple[str, float]]) -> Panel:
    """Times in milliseconds; the first is ours."""
    most = max(time for _, time in rows)
    parts = []
    for k, (words, time) in enumerate(rows):
        parts.append(_text(4, 18 + 48 * k, words))
        parts.append(_box(4, 25 + 48 * k, 230 * time / most, 16, f"cell {'plain' if k else 'met'}"))
        parts.append(_text(12 + 230 * time / most, 38 + 48 * k, f"{time} ms"))
    return Panel(title, 320, 48 * len(rows), parts)


def _square(boxes: Floats, kinds: list[str], strips: int, title: str) -> Panel:
    """A scene cut into strips, with a title of one or two lines."""
    borders = [_line(4, 4 + 200 * k / strips, 204, 4 + 200 * k / strips, "border") for k in range(1, strips)]
    words = [_text(104, 222 + 18 * k, line, "middle") for k, line in enumerate(title.split("\n"))]
    parts = [_box(4, 4, 200, 200, "frame"), *borders, *_boxes(boxes, kinds, 4, 4, 2.0), *words]
    return Panel(title.replace("\n", " "), 208, 248, parts)


def classes() -> Figure:
    """What keeping large boxes in wide strips of their own would copy."""
    small, large = _scene(36, 4, 8, seed=5), _scene(4, 25, 40, seed=6)
    everyone = np.vstack([small, large])
    one, narrow, wide = (sum(map(len, _touched(*put))) for put in ((everyone, 5), (small, 5), (everyone, 2)))
    kinds = ["plain"] * len(small) + ["met"] * len(large)
    return [
        _square(everyone, kinds, 5, f"one width for all:\n{one} copies"),
        _square(small, kinds[: len(small)], 5, f"two widths:\n{narrow} copies of the small"),
        _square(everyone, kinds, 2, f"and {wide} of all,\nfor large against small"),
    ], []


def order() -> Figure:
    """Pairs grouped by first id, before and after two rounds of exchanging neighbours; what sorting takes."""
    rng = np.random.default_rng(3)
    firsts = np.repeat(np.arange(16), rng.integers(2, 4, 16))
    keys = 100 * firsts + rng.permutation(100)[: len(firsts)]
    parts = []
    for row, name in enumerate(("grouped by first id", "after two rounds")):
        low, late = 84 + 108 * row, 0
        for k, key in enumerate(keys):
            wrong = k > 0 and keys[k - 1] > key
            late += wrong
            high = 8 + 0.5 * (key % 100)
            kind = "cell met" if wrong else "cell plain"
            parts.append(_box(4 + 6.4 * k + 5 * firsts[k], low - high, 5.4, high, kind))
        parts.append(_text(4, low + 18, f"{name}: {late} in the wrong order"))
        for begin in (0, 1, 0, 1):
            pairs = keys[begin : begin + (len(keys) - begin) // 2 * 2].reshape(-1, 2)
            pairs.sort(axis=1)
    rows = [
        ("exchanges, then insertion", 0.86),
        ("NumPy's sort of 64-bit keys", 2.0),
        ("insertion alone", 2.32),
    ]
    return [Panel("partners in groups", 364, 216, parts), _bars("time of sorting 200,000 pairs", rows)], []


def threads() -> Figure:
    """What each of two threads does, and how long it takes."""
    boxes = _scene(40, 5, 11, seed=4)
    shares = ["plain" if k < 20 else "met" for k in range(40)]
    pieces = [
        (strip, (left, max(top, 20 * strip), right, min(bottom, 20 * strip + 20)))
        for (left, top, right, bottom), strips in zip(boxes, _touched(boxes, 5), strict=True)
        for strip in strips
    ]
    owners = ["met" if strip % 2 else "plain" for strip, _ in pieces]
    rows = [("two cores", 18.0), ("one core", 32.8)]
    return [
        _square(boxes, shares, 5, "1. each counts and copies\nits share of the boxes"),
        _square(
            np.array([piece for _, piece in pieces]), owners, 5, "2. then sweeps\nits share of the strips"
        ),
        _bars("time for a million boxes", rows),
    ], []


FIGURES = {
    make.__name__: make
    for make in (cutting, width, once, diagonal, counting, bitmap, record, classes, order, threads)
}


def draw(name: str, caption: str) -> str:
    """The HTML of a figure.  A screen reader reads the title of each panel and the caption."""
    panels, notes = FIGURES[name]()
    drawn = [
        f'<svg class="drawing" width="{wide}" viewBox="0 0 {wide} {high}" role="img">'
        f"<title>{escape(title)}</title><desc>{escape(caption)}</desc>{''.join(parts)}</svg>"
        for title, wide, high, parts in panels
    ]
    beside = "".join(f"<p>{escape(note)}</p>" for note in notes)
    return (
        f'<figure class="drawing"><div class="panels">{"".join(drawn)}'
        f"{beside and f'<div>{beside}</div>'}</div><figcaption>{escape(caption)}</figcaption></figure>"
    )


class Drawing(SphinxDirective):
    """A figure with its caption."""

    required_arguments = 1
    has_content = True

    def run(self) -> list[nodes.Node]:
        """Draw it."""
        self.env.note_dependency(__file__)
        return [nodes.raw("", draw(self.arguments[0], " ".join(self.content)), format="html")]


def setup(app: Sphinx) -> dict[str, Any]:
    """Register the directive with Sphinx."""
    app.add_directive("drawing", Drawing)
    return {"parallel_read_safe": True}
