"""What is kept by id, boxes and points alike: which ids there are, of what kind, and removing."""

from typing import Any

import numpy as np
import numpy.typing as npt

from broadphase.indexes import arguments
from broadphase.indexes.storage import BoxStore, IdArray, read_only
from broadphase.inputs.arrays import settled


class ById:
    """Things with ids."""

    _store: BoxStore
    _reader: arguments.Reader

    @property
    def dim(self) -> int:
        """2 or 3."""
        return self._reader.dim

    @property
    def dtype(self) -> "np.dtype[Any]":
        """What they are kept in."""
        return self._reader.dtype

    def remove(self, id: int) -> None:  # noqa: A002 - the word that users know
        """Remove one; its id is free for the next insert.

        Parameters
        ----------
        id : int

        Raises
        ------
        KeyError
            The id is not in use.
        """
        self._leave(np.array([arguments.known_id(self._store, id)], np.int32))

    def remove_many(self, ids: Any) -> None:
        """Remove several.

        Parameters
        ----------
        ids : array_like of int, shape (k,)

        Raises
        ------
        KeyError
            An id is not in use; nothing has changed.
        ValueError
            An id is named twice; nothing has changed.
        """
        known = np.sort(arguments.known_ids(self._store, settled(ids, "ids")))
        if len(known):
            self._leave(known)

    def _leave(self, ids: IdArray) -> None:
        """Remove what has these ids, ascending."""
        raise NotImplementedError

    def __len__(self) -> int:
        return self._store.live

    def __contains__(self, id: object) -> bool:  # noqa: A002
        return arguments.is_known_id(self._store, id)

    @property
    def ids(self) -> IdArray:
        """The ids in use, ascending: ``(len,)`` int32, read-only."""
        return read_only(self._store.ids())

    @property
    def envs(self) -> npt.NDArray[np.int64]:
        """The environment of each, in id order."""
        return self._store.live_envs()
