"""When each index wins and when it loses, in words, from the data of the map "who wins".

``python benchmarks/verdicts.py`` reads ``src/broadphase/tour/page/map.json``, which `who_wins.py` measures,
writes the words into ``docs/choosing.md`` and the numbers into the words of the tour, and prints the words.

An index *wins* a scene if it takes at most 1.1 times as long as the fastest, and *loses* it from three times
on.  The words name at most two parts of the map, each given by values of its axes, in which it wins (or
loses) three scenes of four or more: first the part with the most of them, then that with the most of the
others.  A further condition must bring 6 % of them.
"""

import itertools
import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

import broadphase as bp

MAP = Path(bp.__file__).parent / "tour" / "page" / "map.json"
CHOOSING = Path(__file__).parents[1] / "docs" / "choosing.md"
TOUR = MAP.with_name("index.html")

WINS, LOSES = 1.1, 3.0
MOST_PARTS = 2
_PURE = 0.75  # the share of a part that must be won (or lost)
_LEAST = 9  # scenes won (or lost) in a part: fewer are chance
_CONDITION = 0.06  # of all that are won (or lost): what a condition more must bring

Mask = npt.NDArray[np.bool_]
Part = tuple[tuple[int, ...], ...]
"""For each axis the numbers of its values."""


def times_of(data: dict[str, Any]) -> npt.NDArray[np.float64]:
    """How many times the fastest each index takes, by the axes and the index.

    Infinite for more than 20 times, NaN where nothing was measured.
    """
    nothing = [0.0, *[np.nan] * len(data["methods"])]
    rows = [[np.inf if time is None else time for time in (cell or nothing)[1:]] for cell in data["cells"]]
    return np.reshape(rows, (*map(len, data["axes"].values()), len(data["methods"])))


def _choices(axes: dict[str, list[Any]]) -> list[list[tuple[int, ...]]]:
    """For each axis what a part may be made of: some questions, neighbouring numbers, one layout or all."""
    choices = []
    for name, values in axes.items():
        count = len(values)
        if name in ("ask", "layout"):
            sizes = range(1, count + 1) if name == "ask" else (1, count)
            choices.append([some for size in sizes for some in itertools.combinations(range(count), size)])
        else:
            ends = itertools.combinations(range(count + 1), 2)
            choices.append([tuple(range(begin, end)) for begin, end in ends])
    return choices


def _scenes_in(choices: list[list[tuple[int, ...]]], mask: Mask) -> npt.NDArray[np.int64]:
    """How many scenes of each part are marked, by the numbers of its choices."""
    counts = mask.astype(np.int64)
    for axis, own in enumerate(choices):
        holds = np.array([[value in chosen for value in range(mask.shape[axis])] for chosen in own], np.int64)
        counts = np.moveaxis(np.tensordot(holds, counts, (1, axis)), 0, axis)
    return counts


def parts_of(
    mask: Mask, axes: dict[str, list[Any]], measured: Mask | None = None
) -> list[tuple[Part, int, int]]:
    """The parts in which most scenes are marked, with how many of how many measured ones are."""
    left, found, choices = mask.copy(), [], _choices(axes)
    scenes = _scenes_in(choices, np.ones_like(mask) if measured is None else measured)
    narrows = [
        [len(chosen) < count for chosen in own] for own, count in zip(choices, mask.shape, strict=True)
    ]
    costs = _CONDITION * sum(np.ix_(*(np.array(own, int) for own in narrows))) * mask.sum()
    for _ in range(MOST_PARTS):
        marked = _scenes_in(choices, left)
        counts = (scenes >= _LEAST) & (marked >= np.maximum(_LEAST, _PURE * scenes))
        if not counts.any():
            break
        best = np.unravel_index(np.argmax(np.where(counts, marked - costs, -np.inf)), counts.shape)
        part = tuple(own[k] for own, k in zip(choices, best, strict=True))
        found.append((part, int(marked[best]), int(scenes[best])))
        left[np.ix_(*part)] = False
    return found


# ---- words


def _number_words(values: list[int], all_values: list[int]) -> str:
    low, high = f"{values[0]:,}", f"{values[-1]:,}"
    if low == high:
        return f"there are {low} boxes"
    if values[-1] == all_values[-1]:
        return f"there are {low} boxes or more"
    if values[0] == all_values[0]:
        return f"there are at most {high} boxes"
    return f"there are {low} to {high} boxes"


def _share_words(values: list[float], all_values: list[float]) -> str:
    low, high = (f"{100 * value:g} %" for value in (values[0], values[-1]))
    if values[-1] == 0:
        return "nothing moves"
    if values[0] == 1:
        return "everything moves"
    if values[0] == all_values[0]:
        return f"at most {high} of them move"
    if values[-1] == all_values[-1]:
        return f"{low} of them or more move"
    return f"{low} of them move" if low == high else f"{low.removesuffix(' %')} to {high} of them move"


def _spread_words(values: list[float], all_values: list[float]) -> str:
    if values[-1] == 1:
        return "all have one size"
    if values[0] == all_values[0]:
        return f"the largest is at most {values[-1]:,} times as large as the smallest"
    more = " or more" if values[-1] == all_values[-1] else ""
    return f"the largest is {values[0]:,} times as large as the smallest{more}"


_ASK = {"pairs": "all pairs", "changes": "what changed", "queries": "queries"}
_LAYOUT = {"uniform": "are spread evenly", "clumped": "lie in crowds", "line": "lie on a line"}


def _words_of(part: Part, axes: dict[str, list[Any]]) -> str:
    """The conditions of a part: "you make queries and nothing moves"."""
    words = []
    for (name, values), chosen in zip(axes.items(), part, strict=True):
        if len(chosen) == len(values):
            continue
        own = [values[k] for k in chosen]
        match name:
            case "ask":
                words.append(f"you ask for {' or '.join(_ASK[ask] for ask in own)}")
            case "n":
                words.append(_number_words(own, values))
            case "share":
                words.append(_share_words(own, values))
            case "spread":
                words.append(_spread_words(own, values))
            case "layout":
                words.append(f"they {_LAYOUT[own[0]]}")
    if not words:
        return "in most scenes"
    return f"when {' and '.join(filter(None, (', '.join(words[:-1]), words[-1])))}"


def _sentence(mask: Mask, axes: dict[str, list[Any]], measured: Mask) -> str:
    parts = parts_of(mask, axes, None if measured.all() else measured)
    if not parts:
        marked, scenes = int(mask.sum()), int(measured.sum())
        return f"nowhere in particular ({marked} of {scenes} scenes)" if marked else "never"
    if mask[measured].all():
        return f"always ({int(mask.sum())} of {int(measured.sum())})"
    said = [f"{_words_of(part, axes)} ({marked} of {scenes})" for part, marked, scenes in parts]
    return "; ".join(said)


def verdicts(data: dict[str, Any]) -> dict[str, tuple[str, str]]:
    """For each index when it wins and when it loses."""
    times = times_of(data)
    return {
        method: (
            _sentence(times[..., k] <= WINS, data["axes"], ~np.isnan(times[..., k])),
            _sentence(times[..., k] >= LOSES, data["axes"], ~np.isnan(times[..., k])),
        )
        for k, method in enumerate(data["methods"])
    }


def of_the_default(data: dict[str, Any]) -> str:
    """How long what ``make_index()`` makes takes, for each question."""
    makes = f"`bp.make_index()` makes `{data['classes'][data['auto']]}`"
    if data["auto"] not in data["methods"]:
        return f"{makes}, which was not measured."
    times = times_of(data)[..., data["methods"].index(data["auto"])]
    said = []
    for ask, words in (
        ("pairs", "for all pairs"),
        ("changes", "for what changed"),
        ("queries", "for 100 queries"),
    ):
        own = times[data["axes"]["ask"].index(ask)]
        own = own[~np.isnan(own)]
        said.append(f"{words} {np.median(own):.1f} times (at worst {own.max():.1f} times)")
    return (
        f"{makes}. In the median of the scenes it takes "
        f"{said[0]}, {said[1]} and {said[2]} as long as the fastest index."
    )


# ---- where they are written


def choosing_with(text: str, data: dict[str, Any]) -> str:
    """The page *Which index?* with the verdicts of the data."""
    rows = [
        f"| `{data['classes'][method]}` | {wins} | {loses} |"
        for method, (wins, loses) in verdicts(data).items()
    ]
    block = "\n".join([of_the_default(data), "", "| index | wins | loses |", "|---|---|---|", *rows])
    pattern = r"(<!-- verdicts -->\n).*?(\n<!-- end of verdicts -->)"
    return re.sub(pattern, lambda marks: f"{marks[1]}{block}{marks[2]}", text, flags=re.S)


def tour_with(text: str, data: dict[str, Any]) -> str:
    """The page of the tour with how many times as long one method takes as another in a scene."""
    times, axes = times_of(data), data["axes"]

    def written(mark: re.Match[str]) -> str:
        *scene, method, other = mark[2].split()
        at = tuple(own.index(type(own[0])(one)) for own, one in zip(axes.values(), scene, strict=True))
        one, base = (times[at][data["methods"].index(name)] for name in (method, other))
        return f"{mark[1]}{one / base:.2g}<"

    return re.sub(r'(data-times="([^"]+)">)[^<]*<', written, text)


def main() -> None:
    """Write the verdicts, and print them."""
    data = json.loads(MAP.read_text("utf-8"))
    found = verdicts(data)
    for page, with_data in ((CHOOSING, choosing_with), (TOUR, tour_with)):
        page.write_text(with_data(page.read_text("utf-8"), data), "utf-8")
    for method, (wins, loses) in found.items():
        print(f"{method}\n  wins {wins}\n  loses {loses}")
    print(of_the_default(data))


if __name__ == "__main__":
    main()
