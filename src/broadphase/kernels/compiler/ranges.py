"""Loops over ranges: a number that grows until it reaches the end.

Numba counts the rounds before the first one, for any step, with two divisions, an error for a step of zero
and four numbers in memory: some fifty instructions a loop, a fourth of all that it wrote for the kernels.
Every function with a loop could fail, too, and whoever called it had to look whether it did.
"""

from collections.abc import Callable
from typing import Any

from numba.core import types
from numba.core.registry import cpu_target

from broadphase.kernels.compiler.aggregates import Parts, integer

# Not of unsigned numbers: `scatter_copies` of a million boxes took 29 ms with them, 23 with Numba's own.
_KINDS: tuple[tuple[Any, Any, Any], ...] = (
    (types.int32, types.range_state32_type, types.range_iter32_type),
    (types.int64, types.range_state64_type, types.range_iter64_type),
)


def _range(context: Any, builder: Any, sig: Any, args: Any) -> Any:
    """``range(stop)``, ``range(start, stop)``, ``range(start, stop, step)``."""
    kind = sig.return_type.dtype
    start = args[0] if len(args) > 1 else context.get_constant(kind, 0)
    step = args[2] if len(args) > 2 else context.get_constant(kind, 1)
    return Parts(context.get_value_type(sig.return_type), [start, args[min(len(args), 2) - 1], step])


def _begin(otherwise: Callable[..., Any], kind: Any) -> Callable[..., Any]:
    def begin(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        """The number that comes first, in memory."""
        iterator = context.get_value_type(kind)
        start, stop, step = (builder.extract_value(args[0], k) for k in range(3))
        if not integer(step):
            counted = otherwise(context, builder, sig, args)
            return Parts(iterator, [builder.extract_value(counted, k) for k in range(4)])
        with builder.goto_entry_block():
            place = builder.alloca(start.type)
        builder.store(start, place)
        return Parts(iterator, [place, stop, step, iterator.elements[3](None)])

    return begin


def _next(otherwise: Callable[..., Any]) -> Callable[..., Any]:
    def go_on(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        """The next number, and whether there is one."""
        (iterator,) = args
        if type(iterator) is not Parts:
            raise TypeError("a kernel keeps a loop's iterator in a variable that changes")
        place, stop, step, _ = iterator.values
        known = integer(step)
        if not known:
            return otherwise(context, builder, sig, args)
        number = builder.load(place)
        is_there = builder.icmp_signed("<" if known > 0 else ">", number, stop)
        builder.store(builder.add(number, step, flags=["nsw"]), place)
        return Parts(context.get_value_type(sig.return_type), [number, is_there])

    return go_on


def prepare() -> None:
    """Let Numba loop in this way; once."""
    context = cpu_target.target_context
    context.refresh()
    for number, state, iterator in _KINDS:
        begin, go_on = context._defns["getiter"].find((state,)), context._defns["iternext"].find((iterator,))
        context.insert_func_defn([(_range, range, (number,) * count) for count in (1, 2, 3)])
        context.insert_func_defn([(_begin(begin, iterator), "getiter", (state,))])
        context.insert_func_defn([(_next(go_on), "iternext", (iterator,))])
