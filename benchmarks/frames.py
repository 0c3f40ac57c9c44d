"""What a frame costs an index, compared with finding all pairs from scratch; all results are checked first.

    python benchmarks/frames.py [--n 1000000] [--parts calm still crowds all ...] [--indexes strips]

Seven tables.  *calm*: a small share of the boxes moves by a fifth of their size, then `changes`.  *still*:
hardly any box moves, by a twentieth of its size, in smaller worlds, then `pairs`.  *crowds*: six heaps, of
100,000 boxes in 2-D and 10,000 in 3-D, in which one box in a hundred moves; `changes` and `pairs`, also
compared with the fastest index but the default.  *all*: every box moves;
`update` and `pairs`.  *static*: 10,000 boxes move among ``n`` static ones, and for comparison the same 10,000
alone.  *swaps*: the work of `SweepAndPrune`.  *60hz*: 20,000 moving boxes, in 2-D and 3-D, and how many such
frames a sixtieth of a second holds.  *from scratch* is one ``pairs(boxes, sort=False)`` of the same boxes,
timed every few frames between them, and the ratio says how many frames take as long.
"""

import argparse
import time
from collections.abc import Callable, Iterator
from itertools import cycle
from typing import Any

import numpy as np
import numpy.typing as npt
from catalogue import Boxes, uniform
from timing import best_of_steps

import broadphase as bp

Frame = tuple[npt.NDArray[np.intp], Boxes]
_MOVERS = 10_000
PARTS = ("calm", "still", "crowds", "all", "static", "swaps", "60hz")


def made(name: str, boxes: Boxes) -> bp.Index:
    """An empty index for boxes like these."""
    options: dict[str, Any] = {"dtype": np.float32, "sort": False}
    if name == "uniform_grid":
        side = float((boxes[:, 2:] - boxes[:, :2]).max())
        options |= {"bounds": [*boxes[:, :2].min(axis=0), *boxes[:, 2:].max(axis=0)], "cell_size": 2 * side}
    return bp.make_index(name, **options)


def frames(boxes: Boxes, share: float, step: float) -> Iterator[Frame]:
    """Endless frames: which boxes move, and where to, by about ``step`` of their size around their place."""
    random = np.random.default_rng(11)
    n, dim = len(boxes), boxes.shape[1] // 2
    moving = [np.sort(random.choice(n, max(int(share * n), 1), replace=False)) for _ in range(4)]
    there = []
    for _ in range(2):
        for ids in moving:
            motion = random.normal(size=(len(ids), dim)) * step * (boxes[ids, dim:] - boxes[ids, :dim])
            there.append((ids, (boxes[ids] + np.tile(motion, 2)).astype(np.float32)))
    return cycle(there)


def check_changes(index: bp.Index, boxes: Boxes, coming: Iterator[Frame]) -> Boxes:
    """Check the changes of two frames; returns where the boxes are then."""
    before = np.empty((0, 2), np.int32)
    index.changes()
    for turn in range(2):
        ids, rows = next(coming)
        if turn == 0:
            before = bp.pairs(boxes)
        boxes = boxes.copy()
        boxes[ids] = rows
        index.move_many(ids, rows)
        began, stayed, ended = index.changes()
        now = bp.pairs(boxes)
        if len(now) != len(began) + len(stayed) or len(before) != len(ended) + len(stayed):
            raise SystemExit(f"{index.name} finds other changes")
        before = now
    return boxes


def calm(names: list[str], boxes: Boxes, seconds: float) -> None:
    """Few boxes move: `move_many` and `changes`."""
    for share in (0.01, 0.0001):
        print(f"\n{share:.2%} of {len(boxes):,} boxes move a little; milliseconds")
        print(f"  {'index':<16}{'move_many':>11}{'changes':>11}{'from scratch':>13}", end="")
        print(f"{'of changes':>12}{'of both':>9}")
        for name in names:
            index = made(name, boxes)
            index.insert_many(boxes)
            coming = frames(boxes, share, 0.2)
            now = check_changes(index, boxes, coming)

            def move(index: bp.Index = index, coming: Iterator[Frame] = coming) -> None:
                index.move_many(*next(coming))

            best = best_of_steps(
                {
                    "move": move,
                    "changes": index.changes,
                    "scratch": lambda now=now: bp.pairs(now, sort=False),
                },
                seconds,
                seldom="scratch",
            )
            both = best["move"] + best["changes"]
            print(
                f"  {name:<16}{1e3 * best['move']:>11.3f}{1e3 * best['changes']:>11.3f}"
                f"{1e3 * best['scratch']:>13.2f}{best['scratch'] / best['changes']:>10.1f} x"
                f"{best['scratch'] / both:>7.1f} x"
            )


def still(names: list[str], boxes: Boxes, seconds: float) -> None:
    """Hardly anything moves: `move_many` and `pairs`."""
    print(f"\nhardly any of {len(boxes):,} boxes moves; milliseconds of a frame")
    shares = (0.0001, 0.001, 0.01)
    print(
        f"  {'index':<16}{'none':>11}"
        + "".join(f"{share:>11.2%}" for share in shares)
        + f"{'from scratch':>13}"
    )
    for name in names:
        index = made(name, boxes)
        index.insert_many(boxes)
        index.pairs()
        best = best_of_steps(
            {"none": index.pairs, "scratch": lambda: bp.pairs(boxes, sort=False)}, seconds, seldom="scratch"
        )
        times = [best["none"]]
        for share in shares:
            coming = frames(boxes, share, 0.05)
            now = check_changes(index, index.boxes.copy(), coming)
            if len(index.pairs()) != bp.count_pairs(now):
                raise SystemExit(f"{name} finds other pairs")

            def frame(index: bp.Index = index, coming: Iterator[Frame] = coming) -> None:
                index.move_many(*next(coming))
                index.pairs()

            times.append(best_of_steps({"frame": frame}, seconds)["frame"])
        row = "".join(f"{1e3 * took:>11.3f}" for took in times)
        print(f"  {name:<16}{row}{1e3 * best['scratch']:>13.3f}")


def heaps(n: int, dim: int) -> Boxes:
    """Equal squares or cubes in six heaps, each normal with a deviation of a twentieth of the world."""
    random = np.random.default_rng(7)
    middle = random.random((6, dim))[random.integers(0, 6, n)] + random.normal(scale=0.05, size=(n, dim))
    half = (4 / n) ** (1 / dim) / 4  # spread evenly, they would have two pairs each
    return np.hstack((middle - half, middle + half)).astype(np.float32)


def crowds(names: list[str], seconds: float) -> None:
    """Few boxes of six heaps move: `changes`, and in an index of its own `pairs`."""
    for n, dim in ((100_000, 2), (10_000, 3)):
        boxes = heaps(n, dim)
        each = bp.count_pairs(boxes) / n
        print(f"\n{n:,} boxes in {dim}-D, six heaps, {each:.0f} pairs a box, 1 % moves; milliseconds")
        print(f"  {'index':<16}{'changes':>11}{'of best':>9}{'pairs':>11}{'of best':>9}")
        found: dict[str, dict[str, float]] = {}
        for name in names:
            index, follower = (bp.make_index(boxes, name, sort=False) for _ in range(2))
            coming = frames(boxes, 0.01, 0.2)
            check_changes(follower, boxes, coming)

            def move(index: bp.Index = index, coming: Iterator[Frame] = coming) -> None:
                index.move_many(*next(coming))

            def follow(index: bp.Index = follower, coming: Iterator[Frame] = coming) -> None:
                index.move_many(*next(coming))

            steps = {"move": move, "pairs": index.pairs, "follow": follow, "changes": follower.changes}
            found[name] = best_of_steps(steps, seconds)
        others = [name for name in names if name != "auto"] or names
        for name, best in found.items():
            row = ""
            for call in ("changes", "pairs"):
                least = min(found[other][call] for other in others)
                row += f"{1e3 * best[call]:>11.3f}{best[call] / least:>7.1f} x"
            print(f"  {name:<16}{row}")


def everything(names: list[str], boxes: Boxes, seconds: float) -> None:
    """All boxes move: `update`, then `pairs` or, in an index of its own, `changes`."""
    print(f"\nall of {len(boxes):,} boxes move a little; milliseconds")
    print(f"  {'index':<16}{'update':>11}{'pairs':>11}{'from scratch':>13}{'of both':>9}", end="")
    print(f"{'changes':>11}{'of pairs':>10}")
    for name in names:
        index, follower = made(name, boxes), made(name, boxes)
        index.insert_many(boxes)
        follower.insert_many(boxes)
        coming = frames(boxes, 1.0, 0.05)
        now = check_changes(follower, boxes.copy(), coming)
        for _ in range(2):
            now = next(coming)[1]
            index.update(now)
            if len(index.pairs()) != bp.count_pairs(now):
                raise SystemExit(f"{name} finds other pairs")

        def update(index: bp.Index = index, coming: Iterator[Frame] = coming) -> None:
            index.update(next(coming)[1])

        def follow(index: bp.Index = follower, coming: Iterator[Frame] = coming) -> None:
            index.update(next(coming)[1])

        steps = {
            "update": update,
            "pairs": index.pairs,
            "follow": follow,
            "changes": follower.changes,
            "scratch": lambda now=now: bp.pairs(now, sort=False),
        }
        best = best_of_steps(steps, seconds, seldom="scratch")
        both = best["update"] + best["pairs"]
        print(
            f"  {name:<16}{1e3 * best['update']:>11.2f}{1e3 * best['pairs']:>11.2f}"
            f"{1e3 * best['scratch']:>13.2f}{best['scratch'] / both:>7.2f} x"
            f"{1e3 * best['changes']:>11.2f}{best['changes'] / best['pairs']:>8.2f} x"
        )


def static(names: list[str], boxes: Boxes, seconds: float) -> None:
    """Few boxes move, the others are static: `move_many` and `pairs`, compared with the movers alone."""
    print(f"\n{_MOVERS:,} boxes move among static ones; milliseconds a frame")
    print(f"  {'index':<16}{'static':>11}{'frame':>11}{'alone':>11}{'from scratch':>13}{'of frame':>10}")
    for name in names:
        for n in (len(boxes) // 1000, len(boxes) // 100, len(boxes) // 10, len(boxes)):
            # A corner of the same world, as crowded as the whole: each mover meets as many boxes in each.
            part = boxes[boxes[:, :2].max(axis=1) < (n / len(boxes)) ** 0.5]
            movers = part[np.random.default_rng(12).integers(0, len(part), _MOVERS)]
            _static_frame(name, part, movers, seconds)


def _static_frame(name: str, boxes: Boxes, movers: Boxes, seconds: float) -> None:
    everybody = np.vstack((boxes, movers))
    is_static = np.arange(len(everybody)) < len(boxes)
    index, alone = made(name, everybody), made(name, everybody)
    ids = index.insert_many(everybody, static=is_static)[len(boxes) :]
    alone.insert_many(movers)
    coming = frames(movers, 1.0, 0.2)
    rows = next(coming)[1]
    index.move_many(ids, rows)
    everybody[len(boxes) :] = rows
    if len(index.pairs()) != bp.count_pairs(everybody, static=is_static):
        raise SystemExit(f"{name} finds other pairs")

    def frame() -> npt.NDArray[np.int32]:
        index.move_many(ids, next(coming)[1])
        return index.pairs()

    def frame_alone() -> npt.NDArray[np.int32]:
        alone.update(next(coming)[1])
        return alone.pairs()

    calls: dict[str, Callable[[], Any]] = {
        "frame": frame,
        "alone": frame_alone,
        "scratch": lambda: bp.pairs(everybody, static=is_static, sort=False),
    }
    best = best_of_steps(calls, seconds, seldom="scratch")
    print(
        f"  {name:<16}{len(boxes):>11,}{1e3 * best['frame']:>11.3f}{1e3 * best['alone']:>11.3f}"
        f"{1e3 * best['scratch']:>13.2f}{best['scratch'] / best['frame']:>8.1f} x"
    )


def swaps(boxes: Boxes) -> None:
    """The work of `SweepAndPrune`: swaps of ends, and tests of boxes."""
    index = made("sweep_and_prune", boxes)
    index.insert_many(boxes)
    index.changes()
    print(f"\nSweepAndPrune, {len(boxes):,} boxes; milliseconds of changes()")
    print(f"  {'moved':>9}{'by sizes':>10}{'swaps':>12}{'tests':>12}{'changes':>10}{'ns a swap':>11}")
    for share, step in (
        (0.0001, 0.01),
        (0.0001, 0.1),
        (0.0001, 1.0),
        (0.001, 0.1),
        (0.01, 0.01),
        (0.01, 0.1),
    ):
        coming = frames(boxes, share, step)
        rows = []
        for _ in range(8):
            ids, there = next(coming)
            index.move_many(ids, there)
            best = best_of_one(index.changes)
            rows.append((best, index.stats.swaps, index.stats.tests))
        seconds, count, tests = min(rows[2:])
        print(
            f"  {len(ids):>9,}{step:>10g}{count:>12,}{tests:>12,}{1e3 * seconds:>10.2f}"
            f"{1e9 * seconds / max(count, 1):>11.1f}"
        )


def at_60_hz(names: list[str], seconds: float) -> None:
    """All of 20,000 boxes move, which the grids of the articles managed in 2012; one thread."""
    n = 20_000
    print(f"\n{n:,} boxes move, one thread; milliseconds of update() and pairs(), and frames in 1/60 s")
    print(f"  {'index':<16}{'2-D':>9}{'frames':>9}{'3-D':>9}{'frames':>9}")
    for name in names:
        row = ""
        for dim in (2, 3):
            boxes = uniform(n, dim)
            step = 0.05 * np.random.default_rng(5).normal(size=(n, 1)) * (boxes[:, dim:] - boxes[:, :dim])
            there = cycle([boxes, (boxes + np.tile(step, 2)).astype(np.float32)])
            index = bp.make_index(name, dim=dim, dtype=np.float32, threads=1)
            index.insert_many(boxes)

            def frame(index: bp.Index = index, there: Iterator[Boxes] = there) -> None:
                index.update(next(there))
                index.pairs()

            if len(index.pairs()) != bp.count_pairs(boxes):
                raise SystemExit(f"{name} finds other pairs")
            took = best_of_steps({"frame": frame}, seconds)["frame"]
            row += f"{1e3 * took:>9.2f}{1 / 60 / took:>9.1f}"
        print(f"  {name:<16}{row}")


def best_of_one(call: Callable[[], Any]) -> float:
    """Seconds of one call that cannot be repeated."""
    begin = time.perf_counter()
    call()
    return time.perf_counter() - begin


def main() -> None:
    """Print the chosen tables."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    names = [name for name in bp.INDEXES if name != "brute_force"]
    parser.add_argument("--n", type=int, default=1_000_000)
    parser.add_argument("--parts", nargs="+", default=list(PARTS), choices=PARTS)
    parser.add_argument("--indexes", nargs="+", default=names, choices=names)
    parser.add_argument("--seconds", type=float, default=1.0, help="for each index and table")
    options = parser.parse_args()
    boxes = uniform(options.n, 2)
    if "calm" in options.parts:
        calm(options.indexes, boxes, options.seconds)
    if "still" in options.parts:
        for n in (options.n // 1000, options.n // 100, options.n // 10):
            still(options.indexes, uniform(n, 2), options.seconds)
    if "crowds" in options.parts:
        crowds(options.indexes, options.seconds)
    if "all" in options.parts:
        everything(options.indexes, boxes, options.seconds)
    if "static" in options.parts:
        static(options.indexes, boxes, options.seconds)
    if "swaps" in options.parts:
        swaps(boxes)
    if "60hz" in options.parts:
        at_60_hz(options.indexes, options.seconds)


if __name__ == "__main__":
    main()
