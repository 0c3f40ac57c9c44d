"""Calls over arrays: pairs, joins, sweeps, geometries; arrays on a graphics card go to `broadphase.gpu`."""

from collections.abc import Callable
from typing import Any


def on_its_device(call: str, **left_out: Any) -> Callable[..., Any]:
    """The function of `broadphase.gpu` with this name.

    Raises
    ------
    ValueError
        One of the arguments that it does not have is not the default.
    """
    for name, value in left_out.items():
        plain = value is None or (isinstance(value, (bool, float, str)) and value in (False, 0.0, "auto"))
        if not plain:
            raise ValueError(
                f"{name}= is not there for arrays on a graphics card; leave it out, or search a copy in main "
                "memory, as by tensor.cpu()"
            )
    from broadphase import gpu  # imported here because hardly any program needs it

    function: Callable[..., Any] = getattr(gpu, call)
    return function
