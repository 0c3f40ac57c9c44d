"""How much a file may hold: asked before anything is decoded, for a small one may hold more than memory."""

from dataclasses import dataclass

from broadphase.errors import FileError

# The schema or footer of a file may take this share of what its columns may: nothing else is as large there.
_OWN_SHARE = 16


@dataclass(frozen=True, slots=True)
class Limits:
    """What a file may ask for; more is refused with a `FileError`, before it is decoded.

    Attributes
    ----------
    rows : int
        The most rows.
    columns : int
        The most columns, those inside of structures among them.
    size : int
        The most bytes that the columns which are read may take when they are decoded.
    inflation : float
        That may be more than ``size`` for a large file: so many times as much as the file takes itself.
    way_out : str
        What a message advises whoever meant it.

    Examples
    --------
    >>> Limits(rows=1_000).check_rows("crates.parquet", 2_000)
    Traceback (most recent call last):
    broadphase.errors.FileError: crates.parquet: holds 2,000 rows, the limit is 1,000; limits=None reads it
    """

    rows: int = 2**31 - 1
    columns: int = 10_000
    size: int = 2**30
    inflation: float = 64.0
    way_out: str = "limits=None reads it"

    def check_rows(self, name: str, rows: int) -> None:
        """Raise `FileError` where there are too many."""
        if rows > self.rows:
            raise FileError(f"{name}: holds {rows:,} rows, the limit is {self.rows:,}; {self.way_out}")

    def check_columns(self, name: str, columns: int) -> None:
        """Raise `FileError` where there are too many."""
        if columns > self.columns:
            raise FileError(
                f"{name}: holds {columns:,} columns, the limit is {self.columns:,}; {self.way_out}"
            )

    def check_size(self, name: str, size: int, file_size: int) -> None:
        """Raise `FileError` where the columns take too many bytes once they are decoded."""
        most = max(self.size, int(self.inflation * file_size))
        if size > most:
            raise FileError(
                f"{name}: the columns to be read take {_shown(size)} when they are decoded, the limit is "
                f"{_shown(most)}; {self.way_out}"
            )

    def check_own(self, name: str, size: int) -> None:
        """Raise `FileError` where the schema or footer, which says what the file holds, takes too many."""
        most = self.size // _OWN_SHARE
        if size > most:
            raise FileError(
                f"{name}: what it says of its columns takes {_shown(size)}, the limit is {_shown(most)}; "
                f"{self.way_out}"
            )


USUAL = Limits()
NONE = Limits(rows=2**63, columns=2**63, size=2**63, inflation=0.0)


def _shown(size: int) -> str:
    """Bytes as people say them.

    >>> _shown(512), _shown(3 << 30)
    ('512 bytes', '3.0 GiB')
    """
    amount = float(size)
    for unit in ("bytes", "KiB", "MiB"):
        if amount < 1024:
            return f"{size} bytes" if unit == "bytes" else f"{amount:.1f} {unit}"
        amount /= 1024
    return f"{amount:.1f} GiB"
