"""What is settled before the work begins: sizes, the cut, and how much disk it takes.

A run that goes on takes all of that from the one before.
"""

import errno
import math
import shutil
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from broadphase.boxes import BoxArray
from broadphase.errors import FileError
from broadphase.outofcore import executors
from broadphase.outofcore.asked import Question
from broadphase.outofcore.chunk_file import Columns
from broadphase.outofcore.cut import Cut, cut_world
from broadphase.outofcore.files_of import InputFile
from broadphase.outofcore.partition import spread_over
from broadphase.outofcore.progress import Plan, Teller
from broadphase.outofcore.reading import RULE_TYPES, Reading, batches_of
from broadphase.outofcore.sizes import MOST_ROWS, Sizes, sizes_for
from broadphase.outofcore.sources import Input, Unit, chunks_in, divide, shape_of, survey
from broadphase.outofcore.work import WorkFolder, sealed

_MOST_UNITS = 128
"""Units from which a sample is taken; of more input, as many as that at even distances."""
_SAMPLED_A_TILE = 200
_MANY_TILES = 4096
"""With more, tiles become larger instead, as far as memory allows: each is a place in every file."""
_LEAST_SAMPLE, _MOST_SAMPLE = 20_000, 1_000_000
_MOST_COPIES = 8.0
_LETTERS = 16  # bytes that an id of text is taken for when memory is planned


@dataclass(frozen=True)
class Settled:
    """All that the tasks have to be told."""

    input: Input
    sizes: Sizes
    reading: Reading
    cut: Cut
    columns: tuple[Columns, ...]
    most_copies: float
    plan: Plan
    copied: int
    """Bytes of temporary files that are written already: input that can be read only once."""

    @property
    def chunks(self) -> list[tuple[int, int]]:
        """Side and first row of every chunk."""
        return chunks_in(self.input.units, self.sizes.rows)


def settle(
    question: Question,
    told: dict[str, Any],
    files: Sequence[list[InputFile]],
    folder: WorkFolder,
    tell: Teller,
) -> Settled:
    """Look at all files and at a sample of their boxes, and settle how the work is divided."""
    heads = survey(files, question.ids, list(question.rules.values()), MOST_ROWS)
    dim, dtype = shape_of(files, heads)
    rules = {
        rule: RULE_TYPES[rule] for rule in RULE_TYPES if rule in question.rules or rule in question.given
    }
    before = folder.planned() if folder.plan.exists() else None
    if before is not None:
        sizes = Sizes(**before["sizes"])
    else:
        more = sum(np.dtype(kind).itemsize for kind in rules.values()) + _id_bytes(heads)
        sizes = sizes_for(question.memory, question.workers, 2 * dim * np.dtype(dtype).itemsize, more)
    input_ = divide(files, heads, sizes.rows)
    reading = Reading(dim, dtype, sizes.rows, question.ids, input_.id_types, question.rules)
    if before is None:
        tile = max(sizes.tile, min(input_.total // _MANY_TILES, sizes.boxes // 2))
        sample, letters = _sample(question, input_, reading, tile, tell)
        cut = cut_world(sample, input_.total / max(len(sample), 1), tile)
        most_copies = _most_copies(sample, cut)
        _write_cut(folder, cut)
        folder.note(
            folder.plan,
            sealed({"asked": told, "sizes": asdict(sizes), "most_copies": most_copies, "letters": letters}),
        )
    else:
        cut, most_copies, letters = _read_cut(folder), before["most_copies"], before["letters"]
    columns = tuple(Columns.of(dim, dtype, rules, kind, cut.tiles) for kind in input_.id_types)
    chunks = len(chunks_in(input_.units, sizes.rows))
    temporary = sum(
        math.ceil(rows * most_copies * (own.width + text))
        for rows, own, text in zip(input_.rows, columns, letters, strict=True)
    )
    temporary += chunks * 8 * (2 * cut.tiles + 1)
    copied = sum(path.stat().st_size for path in folder.spool.rglob("*.arrow"))
    plan = Plan(input_.total, chunks, cut.tiles, question.memory, question.workers, temporary + copied)
    return Settled(input_, sizes, reading, cut, columns, most_copies, plan, copied)


def _id_bytes(heads: Sequence[Sequence[Any]]) -> int:
    kinds = {head.id_type for own in heads for head in own}
    return 16 + _LETTERS if "text" in kinds else 8 if kinds - {None} else 0


def _most_copies(sample: BoxArray, cut: Cut) -> float:
    """How many copies of a box there may be on the average, judging by the sample: a quarter more."""
    if not len(sample):
        return 1.0
    expected = float(spread_over(sample, cut, _MOST_COPIES).own.sum()) / len(sample)
    return min(_MOST_COPIES, 1.25 * expected + 0.25)


def _sample(
    question: Question, input_: Input, reading: Reading, tile: int, tell: Teller
) -> tuple[BoxArray, list[float]]:
    """Boxes from all over the input, and how many letters the ids of each side have."""
    wanted = min(max(_LEAST_SAMPLE, _SAMPLED_A_TILE * input_.total // tile), _MOST_SAMPLE)
    units = input_.units
    if len(units) > _MOST_UNITS:
        units = [units[len(units) * k // _MOST_UNITS] for k in range(_MOST_UNITS)]
    rows = sum(unit.rows for unit in units)
    share = min(1.0, wanted / max(rows, 1))
    parts: dict[int, tuple[BoxArray, float]] = {}
    tell.begin("sample", rows, rows)

    def took(number: int, part: tuple[BoxArray, float]) -> None:
        parts[number] = part
        tell.did(units[number].rows, units[number].rows)

    asked: Iterator[Any] = ((k, (unit, reading, share)) for k, unit in enumerate(units))
    executors.run(question.executor, question.workers, executors.numbered(sample_unit, asked), took)
    letters = [
        max((parts[k][1] for k, unit in enumerate(units) if unit.side == side), default=0.0)
        for side in range(len(input_.rows))
    ]
    empty = np.empty((0, 2 * input_.dim), input_.dtype)
    return np.concatenate([empty, *(parts[k][0] for k in range(len(units)))]), letters


def sample_unit(unit: Unit, reading: Reading, share: float) -> tuple[BoxArray, float]:
    """About such a share of the boxes of a unit, and how many letters its ids have."""
    random = np.random.default_rng([unit.number, unit.rows])
    taken, letters = [np.empty((0, 2 * reading.dim), reading.dtype)], 0.0
    for piece in unit.pieces:
        for batch in batches_of(piece, unit.side, reading):
            n = len(batch.boxes)
            chosen = (
                np.unique(random.integers(0, n, random.binomial(n, share))) if share < 1.0 else slice(None)
            )
            taken.append(batch.boxes[chosen].astype(reading.dtype))
            ids = batch.columns.get("ids")
            if ids is not None and not isinstance(ids, np.ndarray) and n:
                letters = max(letters, ids.nbytes / n)
    return np.concatenate(taken), letters


def _write_cut(folder: WorkFolder, cut: Cut) -> None:
    with folder.appearing(folder.cut) as part, part.open("wb") as file:
        np.savez(file, **asdict(cut))


def _read_cut(folder: WorkFolder) -> Cut:
    try:
        with folder.cut.open("rb") as file, np.load(file) as saved:
            return Cut(**{**saved, "depth": int(saved["depth"])})
    except MemoryError:
        raise
    except Exception as error:
        raise FileError(f"{folder.cut}: is damaged, so the work was removed; call again ({error})") from None


def check_room(folder: WorkFolder, needed: int) -> None:
    """Raise ``OSError`` where the disk has not so many bytes free."""
    free = shutil.disk_usage(folder.root).free
    if free < needed:
        raise OSError(
            errno.ENOSPC,
            f"the temporary files may take {needed / 1e9:.2f} GB and {free / 1e9:.2f} GB are free; "
            "name another folder with work=",
            str(folder.root),
        )
