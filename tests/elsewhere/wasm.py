"""What a library for Emscripten says of itself (WebAssembly, a side module)."""

_NEEDED = 2
_IMPORTS, _EXPORTS = 2, 7
_FUNCTION, _TABLE, _MEMORY, _GLOBAL, _TAG = range(5)


class Wasm:
    """One file."""

    def __init__(self, data: bytes) -> None:
        if data[:8] != b"\0asm\1\0\0\0":
            raise ValueError("not WebAssembly, version 1")
        self._data, self._at = data, 8
        self.imports: set[tuple[str, str]] = set()
        """From which module what is imported."""
        self.exports: set[str] = set()
        """What others find in it."""
        self.needed: list[str] | None = None
        """The libraries that the loader loads with it; None if this is no side module."""
        while self._at < len(data):
            kind, size = self._byte(), self._number()
            end = self._at + size
            if kind == 0 and self._text() == "dylink.0":
                self._read_needed(end)
            elif kind == _IMPORTS:
                self._read_imports()
            elif kind == _EXPORTS:
                for _ in range(self._number()):
                    self.exports.add(self._text())
                    self._at += 1
                    self._number()
            self._at = end

    def _byte(self) -> int:
        self._at += 1
        return self._data[self._at - 1]

    def _number(self) -> int:
        value = shift = 0
        while True:
            byte = self._byte()
            value |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return value

    def _text(self) -> str:
        size = self._number()
        self._at += size
        return self._data[self._at - size : self._at].decode()

    def _read_needed(self, end: int) -> None:
        self.needed = []
        while self._at < end:
            kind, size = self._byte(), self._number()
            following = self._at + size
            if kind == _NEEDED:
                self.needed += [self._text() for _ in range(self._number())]
            self._at = following

    def _read_imports(self) -> None:
        for _ in range(self._number()):
            self.imports.add((self._text(), self._text()))
            kind = self._byte()
            if kind == _TABLE:
                self._at += 1
            if kind in (_TABLE, _MEMORY):
                has_most = self._byte() & 1
                for _ in range(1 + has_most):
                    self._number()
            elif kind == _GLOBAL:
                self._at += 2
            else:
                self._at += kind == _TAG
                self._number()
