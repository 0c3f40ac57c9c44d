"""Kernels that are tried on what a caller wrote, before anybody has looked at it."""

from collections.abc import Callable
from typing import Any

from broadphase.kernels.machine.kernel import Kernel, Recorder, rows_of
from broadphase.kernels.machine.signatures import PACKAGE, describe_all, listed


def trial(kernel: Callable[..., Any]) -> Callable[..., Any]:
    """The kernel, with ``None`` as its answer to arguments of types that it is not listed for.

    Called as it is, a kernel would be compiled for them, or say what a kernel cannot take; who wrote the
    arguments is owed a better message.  An int that no float can hold raises ``OverflowError``.

    The types of such a kernel are entered into ``signatures.txt`` by hand: others never reach it.
    """
    owner = getattr(kernel, "__self__", kernel)
    if isinstance(owner, Kernel):
        return owner.builtin(_refuse) or _Trial(kernel, owner.name, owner.rows)
    if isinstance(kernel, Recorder):
        return _Trial(kernel, kernel.name, kernel.rows)
    name = f"{kernel.__module__.removeprefix(PACKAGE)}.{kernel.__name__}"
    return _Trial(kernel, name, rows_of(getattr(kernel, "__wrapped__", kernel)))


def _refuse(*arguments: Any) -> None:
    """What becomes of arguments that no machine code was made for."""


class _Trial:
    """The same for a kernel that is no builtin: it is yet to be compiled, recorded, or plain Python."""

    def __init__(self, kernel: Callable[..., Any], name: str, rows: dict[int, tuple[int, ...]]) -> None:
        self._kernel, self._name, self._rows = kernel, name, rows

    def __call__(self, *arguments: Any) -> Any:
        try:
            known = describe_all(arguments, self._rows) in listed().get(self._name, ())
        except TypeError:
            return None
        return self._kernel(*arguments) if known else None
