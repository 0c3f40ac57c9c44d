"""Neighbour lists of atoms, with the names and results of `ase.neighborlist`.

`neighbor_list` and `primitive_neighbor_list` stand in for ASE's functions of these names, in cells of any
shape, periodic along any of their vectors, which may be shorter than the cutoff: all images within it are
found (`broadphase.points.all_images`).
"""

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from broadphase.errors import need
from broadphase.inputs.arrays import as_float_array
from broadphase.inputs.points import as_cutoffs, as_query
from broadphase.methods.task import NO_LIMIT
from broadphase.points.all_images import Crystal, ImagePairs, find_all_images
from broadphase.points.neighbor_lists import both_directions
from broadphase.runtime.threads import cores

__all__ = ["neighbor_list", "primitive_neighbor_list"]

_data: Any = need("ase.data", extra="ase", purpose="the ASE adapter")
_geometry: Any = need("ase.geometry", extra="ase", purpose="the ASE adapter")

Whole = npt.NDArray[np.integer[Any]]

_QUANTITIES = "ijdDS"


def neighbor_list(
    quantities: str, a: Any, cutoff: Any, self_interaction: bool = False, max_nbins: float = 1e6
) -> Any:
    """All pairs of atoms nearer than a cutoff, in both directions, with their images.

    Parameters
    ----------
    quantities : str
        What to return, a letter for each array: ``i`` and ``j``, the atoms; ``d``, their distance; ``D``,
        the vector from i to j; ``S``, how many cell vectors j is shifted by.
    a : ase.Atoms
        The atoms.
    cutoff : float, dict or array_like
        The distance that a pair must be nearer than; one for each pair of elements, such as
        ``{("H", "C"): 1.2}``, by symbol or number (other pairs do not count); or a radius for each atom,
        where the sum counts.
    self_interaction : bool
        Whether each atom is a neighbour of itself.
    max_nbins : float
        Not used.

    Returns
    -------
    numpy.ndarray or tuple of numpy.ndarray
        One array a letter, sorted by ``i``; ``(m,)`` int64 or float64, ``(m, 3)`` for ``D`` and ``S``.

    Raises
    ------
    ValueError
        An unknown letter, a cutoff that is NaN or of the wrong form, or a periodic axis without a vector.

    Examples
    --------
    >>> from ase.build import bulk
    >>> from broadphase.adapters.ase import neighbor_list
    >>> i, d = neighbor_list("id", bulk("Cu", "fcc", a=3.6), 2.6)
    >>> len(i), d.round(3).max()  # the nearest neighbours of an atom are images of itself
    (12, np.float64(2.546))
    """
    return primitive_neighbor_list(
        quantities, a.pbc, a.get_cell(complete=True), a.positions, cutoff, a.numbers, self_interaction
    )


def primitive_neighbor_list(
    quantities: str,
    pbc: Any,
    cell: Any,
    positions: Any,
    cutoff: Any,
    numbers: Any = None,
    self_interaction: bool = False,
    use_scaled_positions: bool = False,
    max_nbins: float = 1e6,
) -> Any:
    """The same for arrays: which axes are periodic, the cell vectors as rows, positions and atomic numbers.

    Examples
    --------
    >>> import numpy as np
    >>> from broadphase.adapters.ase import primitive_neighbor_list
    >>> places = np.array([[0.5, 0.5, 0.5], [9.5, 0.5, 0.5]])
    >>> primitive_neighbor_list("ijS", [True, False, False], 10 * np.eye(3), places, 1.1)
    (array([0, 1]), array([1, 0]), array([[-1,  0,  0],
           [ 1,  0,  0]]))
    """
    unknown = set(quantities) - set(_QUANTITIES)
    if unknown or not quantities:
        raise ValueError(f"quantities must be letters of {_QUANTITIES}; got {quantities!r}")
    periodic = np.broadcast_to(np.asarray(pbc, bool), 3)
    vectors = np.array(cell, np.float64)
    if not vectors[periodic].any(axis=1).all():
        raise ValueError(f"pbc = {periodic.tolist()}, but the cell has no vector along one of these axes")
    vectors = np.ascontiguousarray(_geometry.complete_cell(vectors))
    places = np.asarray(positions, np.float64).reshape(-1, 3)
    if use_scaled_positions:
        places = places @ vectors
    reach, limits = _as_cutoff(cutoff, numbers, len(places))
    crystal = Crystal(as_query(places, None, None, None), vectors, periodic)
    pairs = find_all_images(crystal, reach, True, cores(), NO_LIMIT)
    if limits is not None:
        pairs = pairs.some(np.flatnonzero(pairs.distance < limits(pairs.i, pairs.j)))
    every = np.arange(len(places) if self_interaction and reach > 0.0 else 0, dtype=np.int32)
    if limits is not None:
        every = every[limits(every, every) > 0.0]
    if len(every):
        none = np.zeros((len(every), 3))
        both: Any = zip(pairs, (every, every, none[:, 0], none, none.astype(np.int32)), strict=True)
        pairs = ImagePairs(*map(np.concatenate, both))
    columns: list[Any]
    starts, *columns = both_directions(pairs, len(places), cores())
    i = np.repeat(np.arange(len(places)), np.diff(starts))
    if len(every):  # an atom and itself were written twice, last of all
        once = np.ones(len(i), bool)
        once[starts[every + 1] - 1] = False
        i, columns = i[once], [one[once] for one in columns]
    found: dict[str, Any] = dict(zip("ijdDS", (i, *columns), strict=True))
    kinds = {"i": np.int64, "j": np.int64, "d": np.float64, "D": np.float64, "S": np.int64}
    chosen = tuple(found[letter].astype(kinds[letter], order="C") for letter in quantities)
    return chosen if len(chosen) > 1 else chosen[0]


def _as_cutoff(cutoff: Any, numbers: Any, n: int) -> tuple[float, Callable[[Whole, Whole], Any] | None]:
    """The largest cutoff, and a function that says those of pairs of atoms, unless it is one for all."""
    if isinstance(cutoff, dict):
        if numbers is None:
            raise ValueError("cutoff for pairs of elements needs numbers=")
        # Of a pair that is named twice the last counts; a negative length finds nothing, as in ASE.
        by_elements = {
            tuple(sorted(_as_elements(pair))): float(_not_nan(length, f"cutoff[{pair!r}]"))
            for pair, length in cutoff.items()
        }
        counting = {pair: length for pair, length in by_elements.items() if length >= 0.0}
        cutoffs = as_cutoffs(counting, [(numbers, n, "numbers")], "cutoff")
        return cutoffs.largest, cutoffs.between
    lengths = _not_nan(cutoff, "cutoff")
    if lengths.ndim == 0:
        return max(float(lengths), 0.0), None
    if lengths.shape != (n,):
        raise ValueError(
            f"cutoff must be a number or a radius for each of the {n} atoms; got {lengths.shape}"
        )
    return 2 * float(lengths.max(initial=0.0)), lambda i, j: lengths[i] + lengths[j]


def _as_elements(pair: Any) -> list[Any]:
    """The atomic numbers of two elements, given by symbol or number."""
    known = _data.atomic_numbers
    if isinstance(pair, tuple) and len(pair) == 2:
        found = [known.get(one, -1) if isinstance(one, str) else one for one in pair]
        if all(one in known.values() for one in found):
            return found
    raise ValueError(
        f'cutoff must have pairs of elements as keys, such as ("H", "C") or (1, 6); got {pair!r}'
    )


def _not_nan(lengths: Any, name: str) -> npt.NDArray[np.float64]:
    array = as_float_array(lengths, name).astype(np.float64)
    if np.isnan(array).any():
        row = f"[{int(np.isnan(array).argmax())}]" if array.ndim else ""
        raise ValueError(f"{name}{row} is NaN; give a distance")
    return array
