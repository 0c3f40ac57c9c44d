"""The tiles of a layer: numbers in a list, as text, or packed."""

import base64
import binascii
import zlib
from collections.abc import Callable
from importlib import import_module
from reprlib import repr as shown
from typing import Any

import numpy as np
import numpy.typing as npt

from broadphase.errors import FileError
from broadphase.extras import need
from broadphase.files.limits import USUAL

Cells = npt.NDArray[np.uint32]

MOST_CELLS = USUAL.size // 4
"""All layers that are read together have no more: a file of 1 MB can be packed that it fills any memory."""
_WAY_OUT = "in Tiled, Map > Map Properties > Tile Layer Format is how a map is packed"


class Budget:
    """How many cells are left for what is read together."""

    def __init__(self) -> None:
        self._left = MOST_CELLS

    def take(self, width: int, height: int, refused: str) -> None:
        """Raise `FileError` with ``refused``, and what it is about, where there are too many."""
        self._left -= width * height
        if self._left < 0:
            raise FileError(
                f"{refused}, {width} columns and {height} rows; {MOST_CELLS:,} tiles are the limit"
            )


def unpack(data: Any, size: tuple[int, int], encoding: Any, compression: Any, where: str) -> Cells:
    """The tiles ``[row, column]`` of a layer, or of a chunk of one, of ``(width, height)``."""
    width, height = size
    if data is None:
        raise FileError(f"{where} has no 'data'")
    if isinstance(data, list):
        numbers = _checked(data, where)
    elif not isinstance(data, str):
        raise FileError(f"{where} has data of a wrong type: {shown(data)}")
    elif encoding in (None, "", "csv"):
        numbers = _checked(_split(data, where), where)
    elif encoding == "base64":
        numbers = _unpacked(data, width * height, compression, where)
    else:
        raise FileError(f"{where} has the unknown encoding {shown(encoding)}; {_WAY_OUT}")
    if len(numbers) != width * height:
        raise FileError(f"{where} has {len(numbers)} tiles, where {width} x {height} belong")
    return numbers.reshape(height, width)


def _split(data: str, where: str) -> list[Any]:
    if not data.strip():
        return []
    try:
        return [int(word) for word in data.split(",")]
    except ValueError:
        for word in data.split(","):
            if not word.strip().isdecimal():
                raise FileError(f"{where} has {shown(word)}, where the number of a tile belongs") from None
        raise FileError(f"{where} has a number that is no number of a tile") from None


def _checked(data: list[Any], where: str) -> Cells:
    try:
        if set(map(type, data)) <= {int}:
            numbers = np.array(data, np.int64)
            if not len(numbers) or (numbers.min() >= 0 and numbers.max() < 2**32):
                return numbers.astype(np.uint32)
    except OverflowError:
        pass
    wrong = next(one for one in data if type(one) is not int or not 0 <= one < 2**32)
    raise FileError(f"{where} has {shown(wrong)}, where the number of a tile belongs")


# ---- packed


def _unpacked(data: str, count: int, compression: Any, where: str) -> Cells:
    try:
        packed = base64.b64decode("".join(data.split()), validate=True)
    except (binascii.Error, ValueError) as error:
        raise FileError(f"{where} has data that is not base64: {error}") from error
    if compression in (None, "") or not packed:
        plain = packed
    elif compression in _UNPACK:
        plain = _UNPACK[compression](packed, 4 * count, where)
    else:
        raise FileError(f"{where} has the unknown compression {shown(compression)}; {_WAY_OUT}")
    if len(plain) != 4 * count:
        told = "more" if len(plain) > 4 * count else f"{len(plain)} bytes"
        raise FileError(f"{where} has {told} packed, where {4 * count} bytes, 4 a tile, belong")
    return np.frombuffer(plain, "<u4").astype(np.uint32)


def _deflated(packed: bytes, size: int, where: str, window: int) -> bytes:
    """At most a byte more than belongs there, however much is packed."""
    unpack_some = zlib.decompressobj(window)
    try:
        plain = unpack_some.decompress(packed, size + 1)
    except zlib.error as error:
        raise FileError(f"{where} cannot be unpacked: {error}") from error
    if len(plain) <= size and not unpack_some.eof:
        raise FileError(f"{where} cannot be unpacked: it ends too soon")
    return plain


def _zlib(packed: bytes, size: int, where: str) -> bytes:
    return _deflated(packed, size, where, zlib.MAX_WBITS)


def _gzip(packed: bytes, size: int, where: str) -> bytes:
    return _deflated(packed, size, where, zlib.MAX_WBITS + 16)


def _zstd(packed: bytes, size: int, where: str) -> bytes:
    try:
        return _with_own_zstd(packed, size, where)
    except ModuleNotFoundError:  # Python 3.14 brings it
        pass
    library = need(
        "zstandard", extra="tiled", purpose=f"{where} is packed with zstd; {_WAY_OUT}; reading it as it is"
    )
    try:
        with library.ZstdDecompressor().stream_reader(packed) as stream:
            return bytes(stream.read(size + 1))
    except library.ZstdError as error:
        raise FileError(f"{where} cannot be unpacked: {error}") from error


def _with_own_zstd(packed: bytes, size: int, where: str) -> bytes:
    library: Any = import_module("compression.zstd")
    try:
        return bytes(library.ZstdDecompressor().decompress(packed, size + 1))
    except library.ZstdError as error:
        raise FileError(f"{where} cannot be unpacked: {error}") from error


_UNPACK: dict[str, Callable[[bytes, int, str], bytes]] = {"zlib": _zlib, "gzip": _gzip, "zstd": _zstd}
