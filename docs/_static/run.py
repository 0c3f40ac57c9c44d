"""Runs the code of a page in Pyodide (run-worker.js) and finds what can be drawn of it."""

import ast
import io
import linecache
import logging
import sys
import traceback

import numpy as np

import broadphase as bp

FILE = "<code>"
MOST_DRAWN = 1000
logging.getLogger("matplotlib.font_manager").setLevel(logging.ERROR)  # it tells of its cache


def run(before, code):
    """Run what is above silently, then the code; each expression that stands alone shows its value."""
    names = {"__name__": "__main__"}
    linecache.cache[FILE] = len(code), None, code.splitlines(keepends=True), FILE
    try:
        exec(compile(before, "<above>", "exec"), names)
        for statement in ast.parse(code, FILE).body:
            if not isinstance(statement, ast.Expr):
                exec(compile(ast.Module([statement], []), FILE, "exec"), names)
                continue
            value = eval(compile(ast.Expression(statement.value), FILE, "eval"), names)
            if value is not None:
                print(shortened(repr(value)))
    except BaseException as error:
        show(error)
    sys.stdout.flush()
    return names


def shortened(text, most=4000):
    """The text, or its beginning."""
    return text if len(text) <= most else f"{text[:most]} ... ({len(text):,} characters)"


def show(error):
    """Print an error as Python does, but for what lies outside the code of the page."""
    frames = traceback.extract_tb(error.__traceback__)
    own = [frame for frame in frames if frame.filename in (FILE, "<above>")]
    lines = ["Traceback (most recent call last):\n", *traceback.format_list(own)] if own else []
    print("".join([*lines, *traceback.format_exception_only(error)]), end="", file=sys.stderr)


def pictures(names):
    """What the code made that can be drawn: figures of matplotlib, or else the boxes that it named last."""
    values = list(names.values())
    figures = [value for value in values if type(value).__name__ == "Figure"]
    if figures:
        return [{"kind": "image", "png": png(figure)} for figure in dict.fromkeys(figures)]
    for value in reversed(values):
        found = drawable(value)
        if found is not None:
            return [found]
    return []


def png(figure):
    """A figure as a file."""
    file = io.BytesIO()
    figure.savefig(file, format="png", dpi=110, bbox_inches="tight")
    return file.getvalue()


def drawable(value):
    """The boxes of an array, of an index or of a world, as a message."""
    solid = np.empty((0, 4))
    if isinstance(value, bp.World):
        if value.tiles is not None:
            row, column = np.nonzero(value.tiles.solid)
            size, origin = np.array(value.tiles.tile_size), np.array(value.tiles.origin)
            corner = origin + np.column_stack((column, row)) * size
            solid = np.hstack((corner, corner + size))
        boxes = np.array([body.bounds for body in value], np.float64).reshape(-1, 4)
    elif hasattr(value, "boxes") and hasattr(value, "query_box"):
        boxes = value.boxes
    elif isinstance(value, np.ndarray | list):
        try:
            boxes = np.array(value, np.float64)
        except (TypeError, ValueError):
            return None
    else:
        return None
    if boxes.ndim != 2 or boxes.shape[1] != 4 or len(boxes) + len(solid) == 0:
        return None
    if not np.isfinite(boxes).all() or not (boxes[:, :2] <= boxes[:, 2:]).all():
        return None
    total = len(boxes)
    boxes = part_of(boxes)
    touches = np.zeros(len(solid) + len(boxes), bool)
    if len(boxes):
        touches[len(solid) + np.unique(bp.pairs(boxes))] = True
    some = f"{len(boxes):,} of the {total:,}" if len(boxes) < total else f"{total:,}"
    words = "1 box" if total == 1 else f"{some} boxes; those that touch another are orange"
    rows = np.concatenate((solid, boxes)).astype(np.float32).ravel()
    return {
        "kind": "boxes",
        "rows": rows,
        "touches": touches.view(np.uint8),
        "solid": len(solid),
        "words": words,
    }


def part_of(boxes):
    """All boxes, or those in a window in the middle that holds about as many as can be told apart."""
    if len(boxes) <= MOST_DRAWN:
        return boxes
    middles = (boxes[:, :2] + boxes[:, 2:]) / 2
    away = np.abs(middles - np.median(middles, axis=0)) / (np.ptp(middles, axis=0) + 1e-300)
    return boxes[np.argsort(away.max(axis=1), kind="stable")[:MOST_DRAWN]]
