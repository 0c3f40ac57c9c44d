"""Imports optional packages, or says which extra installs them."""

from importlib import import_module
from typing import Any

from broadphase.errors import MissingExtraError


def need(module: str, *, extra: str, purpose: str) -> Any:
    """Import ``module`` for ``purpose``.

    Parameters
    ----------
    module : str
        The module to import, such as ``"pyarrow.parquet"``.
    extra : str
        The extra of broadphase that installs it.
    purpose : str
        What the module is needed for; the message begins with it.

    Raises
    ------
    MissingExtraError
        The package is not installed; the message says how to install it.

    Examples
    --------
    >>> need("json", extra="io", purpose="reading GeoJSON").loads("[1]")
    [1]
    """
    try:
        return import_module(module)
    except ModuleNotFoundError as error:
        package = module.partition(".")[0]
        if (error.name or "").partition(".")[0] != package:
            raise  # the package is there, but one of its own dependencies is missing
        raise MissingExtraError(
            f'{purpose} needs {package}: python -m pip install "broadphase[{extra}]"', name=package
        ) from None
