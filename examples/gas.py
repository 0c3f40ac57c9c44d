"""A gas of hard discs in a periodic box, and its pair correlation function next to theory.

``python -m examples gas --picture gas.png`` writes both as a picture (needs matplotlib); ``--ideal`` lets the
discs pass through each other.  Discs make random moves, all at once, and the pairs at each distance are
counted; both use ``bp.neighbors(period=...)``.

Theory: an ideal gas has g = 1 everywhere.  Of hard discs g is 0 up to their diameter, and beyond it 1 plus
the density times the area in which two discs overlap that are as far apart and whose radius is the diameter,
plus terms of the square of the density (Hansen and McDonald, *Theory of Simple Liquids*).
"""

import argparse
import math
import time
from importlib.util import find_spec
from typing import Any

import numpy as np
import numpy.typing as npt

import broadphase as bp

Floats = npt.NDArray[np.float64]

STEP = 1.0
"""The largest move of a disc along each axis, in diameters."""


class Gas:
    """Discs of diameter 1 that never overlap; points if ``ideal``."""

    def __init__(self, count: int, packing: float, *, ideal: bool = False, seed: int = 3) -> None:
        if not 0 < packing <= 0.2:
            raise ValueError(f"packing has to be above 0 and at most 0.2, it is {packing}")
        self.density = packing / (math.pi / 4)
        self.side = math.sqrt(count / self.density)
        self.period = (self.side, self.side)
        self.ideal = ideal
        self.chance = np.random.default_rng(seed)
        self.moved = 0.0
        self.place = self.chance.random((count, 2)) * self.side
        self._part()

    def _part(self) -> None:
        """Discs that overlap are placed again until none does."""
        while not self.ideal and len(overlaps := self.overlaps()):
            again = np.unique(overlaps)
            self.place[again] = self.chance.random((len(again), 2)) * self.side

    def overlaps(self) -> npt.NDArray[np.int32]:
        """The later one of each pair that overlaps."""
        return bp.neighbors(self.place, 1.0, period=self.period, sort=False).j

    def sweep(self) -> None:
        """Move every disc that can move.

        Two discs block each other if the old or new position of one overlaps the new position of the other;
        then both stay.  The rule is the same for the reverse move, so all arrangements are equally likely.
        """
        n = len(self.place)
        there = (self.place + self.chance.uniform(-STEP, STEP, (n, 2))) % self.side
        stays = np.zeros(n, bool)
        if not self.ideal:
            near = bp.neighbors(np.concatenate((self.place, there)), 1.0, period=self.period, sort=False)
            one, other = near.i % n, near.j % n
            apart = one != other  # a disc does not block itself
            stays[one[apart]] = stays[other[apart]] = True
        self.place = np.where(stays[:, None], self.place, there)
        self.moved = 1 - float(stays.mean())

    def counts(self, edges: Floats) -> npt.NDArray[np.int64]:
        """The number of pairs in each distance bin."""
        near = bp.neighbors(self.place, float(edges[-1]), period=self.period, sort=False)
        found: npt.NDArray[np.int64] = np.histogram(near.distance, edges)[0]
        return found

    def theory(self, edges: Floats) -> Floats:
        """The g of each bin, exact up to the first power of the density; the mean over the bin's area."""
        if self.ideal:
            return np.ones(len(edges) - 1)
        fine = np.linspace(edges[:-1], edges[1:], 33)
        middles = (fine[:-1] + fine[1:]) / 2
        half = np.minimum(middles / 2, 1)
        overlap = 2 * np.arccos(half) - 2 * half * np.sqrt(1 - half**2)
        g = np.where(middles < 1, 0, 1 + self.density * overlap)
        mean: Floats = np.average(g, axis=0, weights=middles)
        return mean


def correlation(gas: Gas, edges: Floats, shots: int, *, apart: int = 3) -> Floats:
    """The pair correlation function: the counted pairs divided by those of an ideal gas."""
    counted = np.zeros(len(edges) - 1)
    for _ in range(shots):
        for _ in range(apart):
            gas.sweep()
        counted += gas.counts(edges)
    n = len(gas.place)
    by_chance = n * (n - 1) / 2 * math.pi * np.diff(edges**2) / gas.side**2
    g: Floats = counted / (shots * by_chance)
    return g


def picture(gas: Gas, edges: Floats, g: Floats) -> Any:
    """A corner of the box, and the pair correlation function."""
    from matplotlib.collections import EllipseCollection
    from matplotlib.figure import Figure

    figure = Figure(figsize=(10, 4.8), layout="constrained")
    box, graph = figure.subplots(1, 2)
    corner = min(gas.side, 60.0)
    box.add_collection(
        EllipseCollection(
            1, 1, 0, units="xy", offsets=gas.place, transOffset=box.transData, facecolor="#569cd6"
        )
    )
    box.set(
        aspect="equal",
        xlim=(0, corner),
        ylim=(0, corner),
        title=f"{len(gas.place):,} discs, a part of the box",
    )
    graph.stairs(
        gas.theory(edges), edges, baseline=None, color="#e67e32", label="theory, first order in density"
    )
    graph.plot((edges[:-1] + edges[1:]) / 2, g, ".", color="#569cd6", label="counted")
    graph.set(xlabel="distance, in diameters", ylabel="g", title="pair correlation function")
    graph.legend()
    return figure


def main(arguments: list[str] | None = None) -> Floats:
    """Count, and print the result next to theory."""
    parser = argparse.ArgumentParser(
        prog="python -m examples gas", description=(__doc__ or "").splitlines()[0]
    )
    parser.add_argument("--count", type=int, default=20_000, help="how many discs (20000)")
    parser.add_argument(
        "--packing", type=float, default=0.05, help="the part of the area that they cover (0.05)"
    )
    parser.add_argument("--shots", type=int, default=60, help="how often pairs are counted (60)")
    parser.add_argument("--ideal", action="store_true", help="discs pass through each other")
    parser.add_argument("--picture", metavar="FILE", help="write box and graph to this file")
    given = parser.parse_args(arguments)
    if given.picture and find_spec("matplotlib") is None:
        parser.error("--picture needs matplotlib: python -m pip install '.[plot]'")
    edges = np.linspace(0.5, 3, 26)
    gas = Gas(given.count, given.packing, ideal=given.ideal)
    begin = time.process_time()
    for _ in range(20):
        gas.sweep()
    g = correlation(gas, edges, given.shots)
    busy = time.process_time() - begin
    theory = gas.theory(edges)
    print("distance     counted  theory")
    for low, high, seen, said in zip(edges[:-1], edges[1:], g, theory, strict=True):
        print(f"{low:.1f} to {high:.1f}   {seen:7.3f} {said:7.3f}")
    print(
        f"furthest from theory {np.abs(g - theory).max():.3f}; {gas.moved:.0%} of the discs move in a sweep"
    )
    print(f"{busy * 1e3 / (20 + 4 * given.shots):.1f} ms of processor time for each sweep or count")
    if given.picture:
        picture(gas, edges, g).savefig(given.picture)
    return g


if __name__ == "__main__":
    main()
