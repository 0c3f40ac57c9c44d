"""Many worlds in one call, and periodic worlds, compared with the alternatives without them.

Every number of pairs is checked before anything is timed; all calls of one line take turns, and the printed
figures are ratios of the fastest runs.
"""

import argparse
from collections.abc import Callable
from time import perf_counter

import numpy as np

import broadphase as bp


def uniform(random, n, dim, dtype):
    """Equal boxes spread evenly over a world of 1, about two pairs a box."""
    side = (4.0 / (n * 2**dim)) ** (1.0 / dim)
    low = random.random((n, dim))
    return np.hstack((low, low + side)).astype(dtype)


def fastest(calls: dict[str, Callable[[], object]], rounds: int) -> dict[str, float]:
    """Seconds of the fastest of some calls of each, in turns."""
    best = dict.fromkeys(calls, np.inf)
    for _ in range(rounds):
        for name, call in calls.items():
            began = perf_counter()
            call()
            best[name] = min(best[name], perf_counter() - began)
    return best


def compare(worlds: int, size: int, dim: int, dtype, rounds: int) -> None:
    """One line of the table."""
    random = np.random.default_rng(1)
    one = uniform(random, worlds * size, dim, dtype)
    many = np.concatenate([uniform(random, size, dim, dtype) for _ in range(worlds)])
    env = np.repeat(np.arange(worlds), size)
    order = random.permutation(len(env))
    mixed, mixed_env = many[order], env[order]
    starts = range(0, len(many), size)
    sizes = [slice(at, at + size) for at in starts]

    def loop_over_slices() -> int:
        return sum(len(bp.pairs(many[own])) for own in sizes)

    def loop_over_masks() -> int:
        return sum(len(bp.pairs(mixed[mixed_env == own])) for own in range(worlds))

    def sorted_loop() -> int:
        in_order = np.argsort(mixed_env, kind="stable")
        found = [in_order[at : at + size][bp.pairs(mixed[in_order[at : at + size]])] for at in starts]
        return len(np.concatenate(found))

    found = bp.count_pairs(many, env=env)
    assert found == len(bp.pairs(many, env=env)) == len(bp.pairs(mixed, env=mixed_env))
    assert found == loop_over_slices() == sorted_loop()
    period = (1.0,) * dim
    inside, around = bp.count_pairs(one), bp.count_pairs(one, period=period)
    assert len(bp.pairs(one, period=period)) == around >= inside
    times = fastest(
        {
            "one": lambda: bp.pairs(one),
            "env": lambda: bp.pairs(many, env=env),
            "mixed": lambda: bp.pairs(mixed, env=mixed_env),
            "period": lambda: bp.pairs(one, period=period),
            "slices": loop_over_slices,
            "sorted": sorted_loop,
        },
        rounds,
    )
    masks = fastest({"masks": loop_over_masks}, 1)["masks"]
    print(
        f"{worlds:>6} x {size:<6}{dim}-D {np.dtype(dtype).name:<8}"
        f"{inside:>10,}{found:>10,}{times['env'] / times['one']:>8.2f}{times['mixed'] / times['one']:>8.2f}"
        f"{times['slices'] / times['env']:>8.1f}{times['sorted'] / times['mixed']:>8.1f}"
        f"{masks / times['mixed']:>8.1f}"
        f"{times['period'] / times['one']:>8.2f}"
    )


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--worlds", type=int, default=1_000)
    parser.add_argument("--size", type=int, default=1_000)
    parser.add_argument("--rounds", type=int, default=5)
    given = parser.parse_args()
    print(
        "env, mixed, period: times as long as one uniform world (mixed: rows in no order)\n"
        "slices: a loop over worlds whose rows are known, times as long as env\n"
        "sorted, masks: a loop over mixed rows, by an argsort or by `boxes[env == e]`, times as long as mixed"
    )
    print("worlds x boxes            pairs: one  in worlds  env   mixed  slices  sorted  masks  period")
    for dim in (2, 3):
        for dtype in (np.float32, np.float64):
            compare(given.worlds, given.size, dim, dtype, given.rounds)


if __name__ == "__main__":
    main()
