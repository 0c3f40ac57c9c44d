"""Cutoffs by pair of kinds: how near two points must be depends on the kind of each, as that of atoms."""

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from broadphase.inputs.arrays import as_float_array, as_plain_array, one_each
from broadphase.inputs.points import Points

Rows = npt.NDArray[np.intp]

_NEVER = -1.0


class PairCutoffs(NamedTuple):
    """A table of lengths, and the row of each point in it."""

    lengths: Points
    """``(k, k)``, symmetric; negative for pairs that do not count."""
    rows: Rows
    other_rows: Rows

    @property
    def largest(self) -> float:
        """No pair that counts is farther apart."""
        return float(self.lengths.max(initial=0.0))

    def between(self, i: Any, j: Any) -> Points:
        """The cutoff of each pair of a point and one of those searched among."""
        found: Points = self.lengths[self.rows[i], self.other_rows[j]]
        return found

    def rounded(self, kind: "np.dtype[Any]") -> "PairCutoffs":
        """The same in the type of distances."""
        with np.errstate(over="ignore"):
            return self._replace(lengths=self.lengths.astype(kind, copy=False))


def as_cutoffs(cutoffs: Any, kinds: list[tuple[Any, int, str]], name: str = "cutoffs") -> PairCutoffs:
    """Check cutoffs, for kinds given with the number of points and a name: of one set of points or of two.

    ``cutoffs`` is a dict by pair of kinds, in which a pair may be left out, or an array indexed by kind.
    """
    sides = [_as_kinds(values, n, said) for values, n, said in kinds]
    if len({side.dtype.kind for side in sides if len(side)}) > 1:
        raise TypeError(f"{kinds[0][2]} and {kinds[1][2]} must both be whole numbers, or both be labels")
    labels, flat = np.unique(
        np.concatenate([side for side in sides if len(side)] or sides[:1]), return_inverse=True
    )
    rows = [flat[: len(sides[0])], flat[-len(sides[-1]) :] if len(sides[-1]) else flat[:0]]
    find = _from_dict if isinstance(cutoffs, dict) else _from_matrix
    return PairCutoffs(find(cutoffs, labels, name), *rows)


def _as_kinds(values: Any, n: int, name: str) -> npt.NDArray[Any]:
    """One kind for each point: whole numbers as int64, labels as text."""
    array = as_plain_array(values, name)
    if array.dtype.kind == "O" and all(isinstance(value, str) for value in array.flat):
        array = array.astype(np.str_)
    array = one_each(array, n, f"{name} must be one kind, or one for each of the {n} points")
    if array.dtype.kind not in "iuU" and array.size:
        raise TypeError(f"{name} must hold whole numbers or labels (str); got dtype {array.dtype}")
    return array if array.dtype.kind == "U" else array.astype(np.int64)


def _from_dict(cutoffs: dict[Any, Any], labels: npt.NDArray[Any], name: str) -> Points:
    places = {label: row for row, label in enumerate(labels.tolist())}
    wanted = str if labels.dtype.kind == "U" else (int, np.integer)
    table = np.full((len(labels), len(labels)), _NEVER)
    given: dict[Any, Any] = {}
    for pair, length in cutoffs.items():
        if not isinstance(pair, tuple) or len(pair) != 2:
            raise ValueError(
                f"{name} must have pairs of kinds as keys, such as ('H', 'O') or (0, 1); got {pair!r}"
            )
        if len(labels) and not all(isinstance(kind, wanted) for kind in pair):
            said = "labels" if wanted is str else "numbers"
            raise TypeError(f"{name} has the key {pair!r}, but kinds are {said} such as {labels[0].item()!r}")
        value = _as_length(length, f"{name}[{pair!r}]")
        if given.setdefault(pair[::-1], value) != value:
            raise ValueError(
                f"{name} has {given[pair[::-1]]:g} for {pair[::-1]!r} and {value:g} for {pair!r}; give one"
            )
        given[pair] = value
        first, second = (places.get(kind, -1) for kind in pair)
        if first >= 0 and second >= 0:
            table[first, second] = table[second, first] = value
    return table


def _from_matrix(cutoffs: Any, labels: npt.NDArray[Any], name: str) -> Points:
    table = as_float_array(cutoffs, name).astype(np.float64)
    if table.ndim != 2 or table.shape[0] != table.shape[1]:
        raise ValueError(
            f"{name} must be a square matrix indexed by kind, or a dict such as {{('H', 'O'): 1.2}}; got "
            f"shape {table.shape}"
        )
    if len(labels) and labels.dtype.kind == "U":
        raise TypeError(f"{name} is a matrix, so kinds must be whole numbers; a dict has labels as keys")
    for row, column in np.argwhere(~(table >= 0.0) | (table != table.T))[:1].tolist():
        _as_length(table[row, column], f"{name}[{row}, {column}]")
        raise ValueError(
            f"{name}[{row}, {column}] = {table[row, column]:g}, but {name}[{column}, {row}] = "
            f"{table[column, row]:g}; give a symmetric matrix"
        )
    for kind in labels[(labels < 0) | (labels >= len(table))][:1].tolist():
        raise ValueError(f"kinds hold {kind}, but {name} has rows for 0 to {len(table) - 1}")
    return np.ascontiguousarray(table[np.ix_(labels, labels)])


def _as_length(value: Any, name: str) -> float:
    array = as_float_array(value, name)
    if array.ndim:
        raise ValueError(f"{name} must be one number; got shape {array.shape}")
    if not array >= 0.0:
        raise ValueError(f"{name} = {array:g} is no distance; give a number that is not negative")
    return float(array)
