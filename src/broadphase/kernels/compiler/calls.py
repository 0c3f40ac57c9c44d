"""What a call within a kernel means: which types a function is compiled for, and what it gives.

Numba compiles a function anew for each number that a call spells out, and for arrays that it knows to be
constant; LLVM sees both when it inlines.  Kernels of cells are made of 244 functions so, and of 295 without.
"""

from collections.abc import Callable
from typing import Any

from numba.core import errors, types
from numba.core.types import functions

_OURS = "broadphase."


def _shared(kind: Any) -> Any:
    """The type that a function is compiled for, where a call has this one."""
    kind = types.unliteral(kind)
    if type(kind) is types.Array and not kind.mutable:
        return kind.copy(readonly=False)
    return kind


def _call_of_ours(resolve: Callable[..., Any]) -> Callable[..., Any]:
    """Go straight to the function's one version for these types; Numba compares with all that there are."""

    def get_call_type(self: Any, context: Any, args: Any, kws: dict[str, Any]) -> Any:
        dispatcher = self.dispatcher
        if not dispatcher.py_func.__module__.startswith(_OURS):
            return resolve(self, context, args, kws)
        python_signature, folded = dispatcher._compiler.fold_argument_types(args, kws)
        kinds = tuple(map(_shared, folded))
        if kinds not in dispatcher.overloads:
            dispatcher.compile(kinds)
        return dispatcher.overloads[kinds].signature.replace(pysig=python_signature)

    return get_call_type


def _remember(resolve: Callable[..., Any]) -> Callable[..., Any]:
    """Infer what an operator or a function of Numba's gives for some types once, not at each place.

    ``+=`` of two integers fails as ``iadd``, with a long text nobody reads, and is then found as ``add``.
    Kernels of rows and shapes take 35 s with this and 44 without; the machine code is the same.
    """
    known: dict[Any, Any] = {}

    def get_call_type(self: Any, context: Any, args: Any, kws: dict[str, Any]) -> Any:
        asked = self, args, tuple(kws.items())
        if asked not in known:
            try:
                known[asked] = resolve(self, context, args, kws)
            except errors.ForceLiteralArg:
                raise  # its caller asks again, with other types
            except errors.TypingError as error:
                known[asked] = error
        answer = known[asked]
        if isinstance(answer, errors.TypingError):
            raise answer.with_traceback(None)
        return answer

    return get_call_type


def prepare() -> None:
    """Let Numba resolve calls in this way; once."""
    builtin, ours = functions.BaseFunction, functions.Dispatcher
    builtin.get_call_type = _remember(builtin.get_call_type)  # type: ignore[method-assign]
    ours.get_call_type = _call_of_ours(ours.get_call_type)  # type: ignore[method-assign]
