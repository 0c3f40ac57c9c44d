"""What a caller asked for, checked and in one place; and what makes two calls the same."""

import hashlib
import json
import os
from collections.abc import Callable
from concurrent.futures import Executor
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from broadphase.boxes import bit_sets, settled, static_flags
from broadphase.errors import path_of
from broadphase.methods.task import pair_limit
from broadphase.outofcore.executors import workers_of
from broadphase.outofcore.files_of import InputFile, identity
from broadphase.outofcore.progress import Progress
from broadphase.outofcore.reading import RULES
from broadphase.outofcore.sizes import bytes_of

FORMAT = 1
"""Of the files in a work folder; a run does not go on where another version began."""


@dataclass(frozen=True, slots=True)
class Question:
    """One call of `pairs`, `join` or `count_pairs`."""

    sources: tuple[Any, ...]
    names: tuple[str, ...]
    """What the caller's arguments are called."""
    out: str | None
    store: bool
    touching: bool
    ids: tuple[str | None, ...]
    """Of each side."""
    rules: dict[str, str]
    """Rules that are columns: ``static``, ``categories``, ``masks``."""
    given: dict[str, Any]
    """Rules that are arrays."""
    memory: int
    executor: Executor | None
    workers: int
    work: str | None
    max_pairs: int
    progress: Callable[[Progress], None] | None = field(compare=False)


def ask(
    sources: tuple[Any, ...],
    names: tuple[str, ...],
    *,
    out: Any,
    store: bool,
    touching: bool,
    ids: Any,
    rules: dict[str, Any],
    memory: Any,
    executor: Any,
    workers: int | None,
    work: Any,
    max_pairs: int | None,
    progress: Callable[[Progress], None] | None,
) -> Question:
    """Check the arguments of a call."""
    if progress is not None and not callable(progress):
        raise TypeError(f"progress must be a function or None; got {progress!r}")
    columns = {rule: rules[rule] for rule in RULES if isinstance(rules.get(rule), str)}
    given = {
        rule: settled(rules[rule], rule)
        for rule in RULES
        if rule not in columns and rules.get(rule) is not None
    }
    return Question(
        sources,
        names,
        None if out is None else path_of(out, "out"),
        store,
        bool(touching),
        _ids(ids, len(sources)),
        columns,
        given,
        bytes_of(memory),
        executor,
        workers_of(executor, workers),
        None if work is None else path_of(work, "work"),
        pair_limit(max_pairs),
        progress,
    )


def _ids(ids: Any, sides: int) -> tuple[str | None, ...]:
    own = tuple(ids) if isinstance(ids, (tuple, list)) else (ids,) * sides
    if len(own) != sides or not all(one is None or isinstance(one, str) for one in own):
        raise TypeError(f"ids must name a column, or in join one of each side; got {ids!r}")
    return own


def rule_arrays(given: dict[str, Any], rows: int) -> dict[str, npt.NDArray[Any]]:
    """The rules that came as arrays, one entry for each row of all input."""
    return {
        rule: static_flags(values, rows).astype(np.uint8)
        if rule == "static"
        else bit_sets(values, rows, rule)
        for rule, values in given.items()
    }


def description(question: Question, files: list[list[InputFile]] | None) -> dict[str, Any]:
    """What two calls must agree in for one to go on where the other ended.

    Input that was not read from files cannot be told apart from other such input, so it is never the same.
    """
    if files is None:
        inputs: Any = os.urandom(16).hex()
    else:
        inputs = _digest([[identity(file) for file in own] for own in files])
    return {
        "format": FORMAT,
        "input": inputs,
        "touching": question.touching,
        "ids": list(question.ids),
        "rules": question.rules,
        "given": {rule: _digest_array(values) for rule, values in question.given.items()},
        "memory": question.memory,
        "store": question.store,
    }


def _digest(told: Any) -> str:
    return hashlib.blake2b(json.dumps(told).encode(), digest_size=16).hexdigest()


def _digest_array(values: Any) -> str:
    return hashlib.blake2b(np.ascontiguousarray(values).tobytes(), digest_size=16).hexdigest()


def digest(told: dict[str, Any]) -> str:
    """A short name for a description."""
    return _digest(told)
