"""Filling and changing an index, and looking at what it holds."""

from typing import Any

import numpy as np
import numpy.typing as npt

from broadphase.boxes import BoxArray, bit_sets, check_sound, copy_sound, static_flags
from broadphase.indexes import arguments
from broadphase.indexes.protocol import Hooks
from broadphase.indexes.registry import of_many_worlds
from broadphase.indexes.storage import EVERY_BIT, IdArray
from broadphase.space import as_env


class Editing(Hooks):
    """The part of `broadphase.Index` that changes boxes."""

    def insert(
        self, box: Any, *, static: bool = False, category: int = 1, mask: int = EVERY_BIT, env: int = 0
    ) -> int:
        """Add a box.

        Parameters
        ----------
        box : array_like, shape (2 * dim,)
            ``[min..., max...]``.
        static : bool
            Whether the box never moves: two static boxes are never paired.
        category, mask : int
            32-bit sets: two boxes are paired when each one's category meets the other's mask.
        env : int
            The environment: boxes of different ones never meet.

        Returns
        -------
        int
            Its id: the lowest that is free.

        Raises
        ------
        TypeError, ValueError
            The box is no sound box, or a set does not fit into 32 bits; nothing has changed.

        Examples
        --------
        >>> import broadphase as bp
        >>> index = bp.BruteForce()
        >>> index.insert([0, 0, 2, 2]), index.insert([1, 1, 3, 3])
        (0, 1)
        """
        world = as_env(env, 1) if env != 0 else None
        new = self._store.add(
            self._reader.box(box),
            arguments.flag(static, "static"),
            arguments.bit_set(category, "category"),
            arguments.bit_set(mask, "mask"),
        )
        try:
            ids = _just(new)
            if world is not None:
                self._take_envs(ids, world)
            if self._journal.open:
                self._journal.note(self._store, ids, fresh=True)
            self._inserted(ids)
        except BaseException:  # memory, or the user's patience, ran out in between
            self._store.drop_one(new)
            self._begin_anew()
            raise
        return new

    def insert_many(
        self,
        boxes: Any,
        *,
        static: Any = False,
        category: Any = 1,
        mask: Any = EVERY_BIT,
        env: Any = None,
    ) -> IdArray:
        """Add boxes, in their order, at the lowest free ids.

        Parameters
        ----------
        boxes : array_like, shape (n, 2 * dim)
            Also a table, read by the names of its columns, or shapes: see `broadphase.pairs`.
        static, category, mask, env
            As in `insert`, one for all or an array with one for each, in the order of the rows.

        Returns
        -------
        numpy.ndarray
            ``(n,)`` int32: the new ids, ascending.

        Raises
        ------
        TypeError, ValueError
            As in `insert`, naming the row; nothing has changed.
        """
        rows = self._reader.boxes(boxes)
        n = len(rows)
        envs = as_env(env, n)
        rules = static_flags(static, n), bit_sets(category, n, "category"), bit_sets(mask, n, "mask")
        ids = None
        try:
            ids = self._store.add_many(rows, *rules)
            if n:
                if envs is not None:
                    self._take_envs(ids, envs)
                if self._journal.open:
                    self._journal.note(self._store, ids, fresh=True)
                self._inserted(ids)
        except BaseException:  # memory, or the user's patience, ran out in between
            if ids is not None:
                self._store.drop(ids)
                self._begin_anew()
            raise
        return ids

    def remove(self, id: int) -> None:  # noqa: A002 - the word that users know
        """Take a box out; its id is free for the next insert.

        Parameters
        ----------
        id : int

        Raises
        ------
        KeyError
            No box has this id.
        """
        gone = arguments.known_id(self._store, id)
        ids = _just(gone)
        if self._journal.open:
            self._journal.note(self._store, ids)
        try:
            self._removing(ids)
            self._store.drop_one(gone)
        except BaseException:
            self._begin_anew()
            raise

    def remove_many(self, ids: Any) -> None:
        """Take boxes out.

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
        known = np.sort(arguments.known_ids(self._store, ids))
        if len(known):
            if self._journal.open:
                self._journal.note(self._store, known)
            try:
                self._removing(known)
                self._store.drop(known)
            except BaseException:
                self._begin_anew()
                raise

    def clear(self) -> None:
        """Take all boxes out; ids begin at 0 again.  What was reserved stays."""
        try:
            self._store.empty()
            self._begin_anew()
        except BaseException:
            self._begin_anew()
            raise

    def move(self, id: int, box: Any) -> None:  # noqa: A002 - the word that users know
        """Give a box a new place and size.

        Parameters
        ----------
        id : int
        box : array_like, shape (2 * dim,)

        Raises
        ------
        KeyError
            No box has this id.
        TypeError, ValueError
            The box is no sound box; nothing has changed.
        """
        given = arguments.as_given(box)
        if given is not None and not self._journal.open and not self._stale:
            try:
                if self._ask_move(id, given):
                    return
            except OverflowError:  # a number beyond 64 bits, or an int that no float can hold
                pass
            except BaseException:  # the row may be written, and the rest not
                self._begin_anew()
                raise
        mover = arguments.known_id(self._store, id)
        rows = np.array([self._reader.box(box)], self._store.boxes.dtype)
        self._replace(_just(mover), rows)

    def move_many(self, ids: Any, boxes: Any) -> None:
        """Give boxes new places and sizes.

        Parameters
        ----------
        ids : array_like of int, shape (k,)
            Each id once.
        boxes : array_like, shape (k, 2 * dim)

        Raises
        ------
        KeyError
            An id is not in use; nothing has changed.
        TypeError, ValueError
            An id is named twice, a box is not sound, or the lengths differ; nothing has changed.
        """
        known = arguments.known_ids(self._store, ids)
        rows = self._reader.boxes(boxes)
        if len(known) != len(rows):
            raise ValueError(
                f"ids and boxes must have one length; got {len(known)} ids and {len(rows)} boxes"
            )
        self._replace(known, rows)

    def update(self, boxes: Any) -> None:
        """Replace every live box, in id order: the frame's new positions in one call.

        Parameters
        ----------
        boxes : array_like, shape (len(index), 2 * dim)

        Raises
        ------
        TypeError, ValueError
            A box is not sound, or there are more or fewer than live boxes; nothing has changed.
        """
        store, rows = self._store, self._reader.rows(boxes)
        if len(rows) == store.live == store.end:
            checked = store.next_boxes()
            copy_sound(rows, checked, "boxes", self._threads)
            rows = checked
        else:
            check_sound(rows, "boxes")
        if len(rows) != store.live:
            raise ValueError(
                f"boxes has {len(rows)} rows, but the index holds {store.live} boxes; "
                "update() replaces all of them in id order, move_many() some"
            )
        self._replace(store.ids(), rows)

    def reserve(self, n: int) -> None:
        """Make room for ``n`` boxes in all, so that filling the index copies nothing on the way."""
        room = arguments.count(n, "n", 0)
        self._store.reserve(room)
        self._make_room(room)

    def __len__(self) -> int:
        return self._store.live

    def __contains__(self, id: object) -> bool:  # noqa: A002
        try:
            arguments.known_id(self._store, id)
        except (KeyError, TypeError):
            return False
        return True

    @property
    def ids(self) -> IdArray:
        """The ids in use, ascending: ``(len,)`` int32, read-only."""
        ids = self._store.ids()[:]
        ids.flags.writeable = False
        return ids

    @property
    def boxes(self) -> BoxArray:
        """The boxes in id order: ``(len, 2 * dim)``, read-only; good until the next change."""
        rows = self._store.live_boxes()[:]
        rows.flags.writeable = False
        return rows

    def box(self, id: int) -> BoxArray:  # noqa: A002 - the word that users know
        """The box of one id: ``(2 * dim,)``, read-only; good until the next change.

        Raises
        ------
        KeyError
            No box has this id.
        """
        row: BoxArray = self._store.boxes[arguments.known_id(self._store, id)]
        row.flags.writeable = False
        return row

    def _replace(self, ids: IdArray, rows: BoxArray) -> None:
        if len(ids):
            if self._journal.open:
                self._journal.note(self._store, ids)
            before = self._store.rows_before(ids, rows)
            try:
                self._moving(ids, rows)
                self._store.write(ids, rows)
                self._moved(ids)
            except BaseException:  # memory, or the user's patience, ran out in between
                self._store.take_back(ids, before)
                self._begin_anew()
                raise

    def _take_envs(self, ids: IdArray, envs: npt.NDArray[np.int64]) -> None:
        if not envs.any():
            return
        # Of another class from now on, so that no index of one world ever asks itself which one.
        self._journal.close()
        baseline, plain, kept = self._baseline(), type(self), dict(self.__dict__)
        try:
            self.__class__ = of_many_worlds(plain)
            self._reset()
            self._set_baseline(baseline)
            self._take_envs(ids, envs)
        except BaseException:  # it stays what it was
            self.__class__ = plain
            self.__dict__.update(kept)
            raise

    def _begin_anew(self) -> None:
        """Follow the stored boxes, whatever came before."""
        self._journal.close()
        self._reset()


def _just(id: int) -> IdArray:  # noqa: A002
    return np.array([id], np.int32)
