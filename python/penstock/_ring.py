# SPDX-License-Identifier: Apache-2.0
"""Rings of slots in memory that processes share."""
import operator
import os

from penstock import _core
from penstock._pipeline import Tiles


class RingTiles(Tiles):
    """Tiles that are slots of a ring."""

    def __init__(self, ring, device, tile, *, out=None, stage=None, to=None, ordered=False, verdict=False, **options):
        super().__init__(ring, 0, device, tile, out, ordered, verdict, options, to, stage)

    def _begin(self, ring, flags, stage):
        self._core.begin_ring(*ring, stage)


class Ring:
    """A ring as an input. `ring` makes it, and `open` runs it."""

    def __init__(self, path, slots, writers, idle):
        if not 1 <= operator.index(slots) <= 1 << 20 or not 1 <= operator.index(writers) <= 256:
            raise ValueError(f"A ring has 1 slot or more for each of 1 to 256 writers, and not {slots} for {writers}.")
        if idle is not None and not 0 <= idle <= 1e9:
            raise ValueError(f"Silence of {idle!r} seconds cannot be waited for: name 0 or more, or None.")
        self._path = os.fsencode(path)
        self._numbers = (slots, writers, 0 if idle is None else max(1, int(idle * 1e9)))

    def open(self, device="auto", *, tile="1MiB", **options):
        """Make the ring, and take what processes write to it from now on, until the writers have ended.

        Parameters
        ----------
        device, **options
            As for `Files.open`.
        tile : int, str or tuple
            A slot, as for `Files.open`.

        Returns
        -------
        Tiles
            ``tile.tag`` is the number that the writer gave.
        """

        return RingTiles((self._path, *self._numbers), device, tile, **options)

    def __repr__(self):
        return f"<penstock.Ring: {os.fsdecode(self._path)}>"


def ring(path, slots=16, writers=1, idle=None):
    """Take a ring as the input of a pipeline: other processes of this user write, each by a `Writer`.

    A loader in a process of its own has its own GIL, so it does not delay the loop that takes tiles.

    Parameters
    ----------
    path : str or os.PathLike
        Where writers find it: a link, which is made by `Ring.open` and removed at the end.
    slots : int
        Number of slots for each writer; a tile of the loop is one.
    writers : int
        As many may write at once, and the input ends when as many have ended.
    idle : float or None
        Seconds without data that end the input, too.

    Returns
    -------
    Ring
    """
    return Ring(path, slots, writers, idle)


class Writer:
    """A writer of a ring that another process reads. `writer` makes it; use it by ``with``.

    Threads: one at a time; each that writes needs a writer of its own.
    """

    def __init__(self, path):
        self._core = _core.Writer(os.fsencode(path))

    def push(self, buffer, tag=0, timeout=None):
        """Copy a buffer into a slot and pass it on.

        Parameters
        ----------
        buffer : bytes, numpy.ndarray or another contiguous buffer
            No larger than a slot.
        tag : int
            A number that comes with the tile.
        timeout : float or None
            Seconds to wait for a slot; None for no limit.

        Raises
        ------
        TimeoutError
            At the time limit.
        SystemRefused
            The reader has ended.
        """
        self._core.push(buffer, tag, timeout)

    def claim(self, timeout=None):
        """Lend the next slot, to be written in place; `commit` passes it on.

        Returns
        -------
        memoryview
            All bytes of the slot. Release it, and arrays of it, before `commit`.
        """
        return self._core.claim(timeout)

    def commit(self, size, tag=0):
        """Pass on the first bytes of the slot that was claimed."""
        self._core.commit(size, tag)

    def close(self):
        """Tell the reader that no more comes."""
        self._core.close()

    def __enter__(self):
        return self

    def __exit__(self, kind, problem, trace):
        self.close()


def writer(path):
    """Open a writer of the ring that another process has made at a path.

    Raises
    ------
    ArgumentError
        There is no ring.
    SystemRefused
        Its reader has ended, or other writers have all places.

    Returns
    -------
    Writer
    """
    return Writer(path)
