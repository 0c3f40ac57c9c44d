"""Hands every compiled kernel what it must refuse; `test_machine_guards` runs this in a process of its own.

What a kernel takes is said here once more, in plain Python (`fits`), and held against what the machine code
does: of arguments that fit no line of ``signatures.txt`` it must not run one instruction of the kernel, but
hand them to Python as they are.
"""

import enum
import re
from collections.abc import Iterator
from decimal import Decimal
from fractions import Fraction
from importlib import import_module
from itertools import islice
from typing import Any, NamedTuple

import numpy as np

from broadphase.kernels.machine import library
from broadphase.kernels.machine.mode import level
from broadphase.kernels.machine.python_api import KINDS
from broadphase.kernels.machine.signatures import PACKAGE, listed


class Object(NamedTuple):
    """``o``: any object."""


class Leaf(NamedTuple):
    """``i8``, ``f4[2]``: a number, or an array of so many dimensions."""

    kind: str
    ndim: int | None


class Group(NamedTuple):
    """A tuple of types, and the class of a named one."""

    of: Any
    inside: tuple[Any, ...]


class Row(NamedTuple):
    """``f8<4|6>``: a tuple of so many numbers; ``f8[2]<4|6>``: also an array of such rows."""

    sizes: tuple[int, ...]
    or_rows: bool = False


def parse(text: str) -> tuple[Any, ...]:
    """The types of a line of ``signatures.txt``."""
    tokens = re.findall(r"[\w.]+(?:\[\d\])?(?:<[\d|]+>)?|[()]", text)
    return _until_closed(iter(tokens))


def _until_closed(tokens: Iterator[str]) -> tuple[Any, ...]:
    found: list[Any] = []
    for token in tokens:
        if token == ")":
            break
        if token == "(":
            # A name before the bracket is the class of a named tuple.
            named = found.pop() if found and isinstance(found[-1], str) else None
            found.append(Group(_named(named), _until_closed(tokens)))
        elif token.endswith(">"):
            kind, _, sizes = token.rstrip(">").partition("<")
            found.append(Row(tuple(map(int, sizes.split("|"))), "[2]" in kind))
        elif token == "o":
            found.append(Object())
        elif re.fullmatch(r"[biuf]\d(\[\d\])?", token):
            kind, _, ndim = token.rstrip("]").partition("[")
            found.append(Leaf(kind, int(ndim) if ndim else None))
        else:
            found.append(token)
    return tuple(found)


def _named(name: str | None) -> Any:
    if name is None:
        return None
    module, _, of = name.rpartition(".")
    return getattr(import_module(PACKAGE + module), of)


def fits(kind: Any, value: Any) -> bool:
    """Whether an argument is what a kernel was compiled for."""
    if isinstance(kind, Object):
        return True
    if isinstance(kind, Group):
        return isinstance(value, tuple) and all_fit(kind.inside, value)
    if isinstance(kind, Row) and kind.or_rows and isinstance(value, np.ndarray):
        return fits(Leaf("f8", 2), value) and value.shape[1] in kind.sizes
    if isinstance(kind, Row):
        numbers = [Leaf("f8", None)] * len(value) if isinstance(value, tuple) else []
        return isinstance(value, tuple) and len(value) in kind.sizes and all_fit(tuple(numbers), value)
    if kind.ndim is not None:
        return (
            type(value) is np.ndarray
            and value.ndim == kind.ndim
            and value.dtype == np.dtype(kind.kind)
            and value.dtype.isnative
            and value.flags.c_contiguous
            and value.flags.aligned
        )
    if type(value) is int:
        if kind.kind[0] == "f":
            return abs(value) < 10**308
        return kind.kind == "i8" and -(2**63) <= value < 2**63
    taken = {"i": (), "f": (float, np.float64), "b": (bool,)}
    return type(value) in taken[kind.kind[0]]


def all_fit(kinds: tuple[Any, ...], values: tuple[Any, ...]) -> bool:
    return len(kinds) == len(values) and all(map(fits, kinds, values))


def right(kind: Any) -> Any:
    """A value that fits."""
    if isinstance(kind, Group):
        inside = tuple(map(right, kind.inside))
        return inside if kind.of is None else kind.of(*inside)
    if isinstance(kind, Row):
        return (1.5,) * kind.sizes[0]
    if isinstance(kind, Object):
        return []
    if kind.ndim is not None:
        return np.zeros((3, 4, 2)[: kind.ndim], kind.kind)
    return {"i": 1, "f": 1.5, "b": True}[kind.kind[0]]


class SubInt(int): ...


class SubFloat(float): ...


class SubArray(np.ndarray): ...


class Number(enum.IntEnum):
    ONE = 1


NOT_EVEN_NUMBERS = (
    None, "text", "1", b"1", object(), [], {}, (), (1,), [1.0], int, np.ndarray, Ellipsis, 1j, Decimal(1),
    Fraction(1, 2), np.array("1"), np.array(None), np.datetime64(1, "s"), np.str_("1"), np.complex128(1),
)  # fmt: skip
NUMBERS = (
    0, 1, -1, 2**31, 2**62, 1.5, float("nan"), float("inf"), True, False,
    SubInt(1), SubFloat(1.5), Number.ONE,
    np.int64(1), np.int32(1), np.uint64(2**63), np.float32(1), np.float64("nan"), np.float16(1),
    np.bool_(True), np.longdouble(1), np.array(1), np.array(1.5), np.array(True),
)  # fmt: skip
TOO_LARGE = (2**63, -(2**63) - 1, 10**400, -(10**400))  # the last two for floats too


def arrays(kind: Leaf) -> Iterator[Any]:
    """Arrays that are nearly right."""
    good = right(kind)
    for other in (*KINDS, "f2", "g", "c8", "O", "S4", "U2", "M8[s]", "m8[s]", "V8"):
        yield np.zeros(good.shape, other)
        yield np.zeros([0] * good.ndim, other)
    yield np.zeros(good.shape, [("a", good.dtype), ("b", good.dtype)])
    yield good.astype(good.dtype.newbyteorder())
    for shape in ((), (3,), (3, 4), (3, 4, 2), (1, 1, 1, 1), (0,), (0, 4)):
        yield np.zeros(shape, good.dtype)
    yield np.zeros([6] * good.ndim, good.dtype)[::2, ...][..., ::2]
    yield np.zeros([6] * good.ndim, good.dtype)[..., ::-1]
    yield np.zeros(good.shape[::-1], good.dtype).T if good.ndim > 1 else good[::2]
    yield np.broadcast_to(np.zeros((), good.dtype), [5] * good.ndim)
    unaligned = np.zeros(good.nbytes + 1, np.uint8)[1:].view(good.dtype).reshape(good.shape)
    yield unaligned
    yield good.view(SubArray)
    yield np.ma.masked_array(good)
    yield np.rec.array(good)
    yield good.tolist()
    yield good.tobytes()
    yield memoryview(good)


def wrong(kind: Any) -> Iterator[Any]:
    """Values in the place of one that fits; some of them fit too."""
    yield from NOT_EVEN_NUMBERS
    yield from NUMBERS
    yield from TOO_LARGE
    yield from arrays(kind if isinstance(kind, Leaf) and kind.ndim else Leaf("f8", 2))
    if isinstance(kind, Row):
        yield from ((1.5,) * size for size in range(20))
        kind = Group(None, (Leaf("f8", None),) * kind.sizes[-1])
    if isinstance(kind, Group):
        whole = right(kind)
        yield list(whole)
        yield (*whole, None)
        yield tuple(whole)[:-1]
        yield whole._asdict() if kind.of else dict.fromkeys(range(len(kind.inside)))
        for at, inside in enumerate(kind.inside):
            for value in wrong(inside):
                parts = [*whole[:at], value, *whole[at + 1 :]]
                yield tuple(parts) if kind.of is None else kind.of(*parts)


class Told(Exception):  # noqa: N818 - no error: Python was told what the machine code did not take
    """The arguments came to Python."""


def tell(*arguments: Any) -> None:
    raise Told(arguments)


def refuse_what_is_wrong(all_lines: bool) -> None:
    """Every builtin with each of its arguments exchanged; prints how many calls were refused.

    Not ``all_lines``: the arguments are those of one of the lines that a kernel is compiled for, and in each
    place stands every third of what is wrong there, another third in the next.
    """
    compiled = library.Library(f"{library.FOLDER}/{level()}")
    refused = 0
    for number, (kernel, lines) in enumerate(listed().items()):
        builtin = compiled.builtin(kernel, tell)
        kinds = [parse(line) for line in lines]
        for own in kinds if all_lines else [kinds[number % len(kinds)]]:
            for arguments in calls(own, kinds, number, 1 if all_lines else 3):
                try:
                    builtin(*arguments)
                except Told as reported:
                    (heard,) = reported.args
                    assert len(heard) == len(arguments)
                    assert all(a is b for a, b in zip(heard, arguments, strict=True))
                else:
                    raise AssertionError(f"{kernel} took {arguments}")
                refused += 1
    print(refused)


def calls(
    own: tuple[Any, ...], kinds: list[tuple[Any, ...]], turn: int, every: int
) -> Iterator[tuple[Any, ...]]:
    """Arguments that are wrong in one place, too few and too many of them; none that fit one of the lines.

    What a right call does is tested everywhere else.
    """
    good = tuple(map(right, own))
    counts = [part for count in range(len(good)) for part in (good[:count], good[count + 1 :])]
    counts += [(*good, more) for more in (None, 1, good[-1])]
    for arguments in (*counts, good * 20):
        if not any(all_fit(line, arguments) for line in kinds):
            yield arguments
    for at, kind in enumerate(own):
        before, after = good[:at], good[at + 1 :]
        # What may be there in addition to the others.
        right_here = {
            line[at]
            for line in kinds
            if len(line) == len(good) and all_fit(line[:at], before) and all_fit(line[at + 1 :], after)
        }
        for value in islice(wrong(kind), (turn + at) % every, None, every):
            if not any(fits(other, value) for other in right_here):
                yield (*before, value, *after)
