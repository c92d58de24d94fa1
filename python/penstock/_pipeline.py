# SPDX-License-Identifier: Apache-2.0
"""Pipelines and files."""
import atexit
import contextlib
import json
import os
import threading
import weakref

from penstock import _core
from penstock._kernel import Kernel
from penstock._shapes import elements_of

_open = weakref.WeakSet()


def _stop_all():
    # Threads that wait for tiles shall end, and those of the library shall have nothing to do.
    while True:
        try:
            still = list(_open)
            break
        except RuntimeError:  # Another thread opened one meanwhile.
            continue
    for tiles in still:
        with contextlib.suppress(Exception):
            tiles._core.stop()


# Python waits for threads before it calls what atexit has.
getattr(threading, "_register_atexit", atexit.register)(_stop_all)


def devices(names="auto"):
    """Say what devices are.

    Parameters
    ----------
    names : str
        "auto", "cpu", "cuda:0", "cuda:0,cuda:1", "cuda:all", "model:h200".

    Returns
    -------
    list of dict
        One for each device, with its name and description.
    """
    return json.loads(_core.devices_json(names))["devices"]


class Report:
    """What a run has done.

    Attributes
    ----------
    ok : bool
        True if every tile is done and nothing else failed.
    """

    def __init__(self, text_of_json, text, ok):
        self._json = text_of_json
        self._text = text
        self.ok = ok

    def as_dict(self):
        """The figures, as docs/results.md has them."""
        return json.loads(self._json)

    @property
    def verdict(self):
        """What bounded the run and what would help, or None: open the pipeline with ``verdict=True``."""
        return self.as_dict().get("verdict")

    def __str__(self):
        return self._text

    def __repr__(self):
        return f"<penstock.Report: {self._text.splitlines()[0]}>"


def _option_texts(options):
    def text(value):
        if isinstance(value, bool):
            return "yes" if value else "no"
        return str(value)

    return {name.replace("_", "-"): text(value) for name, value in options.items() if value is not None}


def _on_device(to):
    if to not in (None, "host", "device"):
        raise ValueError(f"to={to!r} is no place for tiles: there are 'device' and 'host'.")
    return -1 if to is None else int(to == "device")


class Tiles:
    """A pipeline that runs, as an iterator of completed tiles. `files` and `pipeline` make it.

    Use it by ``with``: at the end what runs is stopped, and all tiles but those that are kept come home. Tiles come in
    the order of the input only with ``ordered=True``. A tile is home again at its last reference, or at
    ``tile.release()``. Tiles that are kept are missing in the pipeline, so the input waits.

    Threads: any; several may iterate, and each tile comes once.
    """

    def __init__(self, paths, flags, device, tile, out, ordered, verdict, options, to=None, stage=None, lend=False):
        if str(options.get("tiles")) == "1":
            raise ValueError("A loop keeps a tile until it has the next: let a pipeline have tiles=2 or more.")
        if stage is not None and not isinstance(stage, Kernel):
            raise TypeError(f"A stage is a penstock.kernel, and not {stage!r}.")
        input_bytes, input_elements = elements_of(tile)
        if out is None and stage is not None:
            out = tile
        output_bytes, output_elements = (0, input_elements) if out is None else elements_of(out, like=tile)
        named = _option_texts({"ordered": ordered, **options})
        self._core = _core.Pipeline(
            device=device,
            input_bytes=input_bytes,
            output_bytes=output_bytes,
            options=named,
            input=input_elements,
            output=output_elements,
            verdict=verdict,
            on_device=_on_device(to),
        )
        self._fed = paths is None
        self._report = None
        self._problem = None
        self._closing = threading.RLock()
        self._lends = lend
        self._begin(paths, flags, stage and stage._open(input_bytes, input_elements, output_bytes, output_elements))
        _open.add(self)

    def _begin(self, paths, flags, stage):
        if self._lends:
            self._core.begin_lent(stage)
        else:
            self._core.begin(paths, flags, stage)

    def __iter__(self):
        following = self._core.next
        try:
            while True:
                yield following(None)
        except _core.Ended:
            return

    def next(self, timeout=None):
        """Take the next completed tile.

        Parameters
        ----------
        timeout : float or None
            Seconds to wait; None for no limit.

        Returns
        -------
        Tile or None
            None at the time limit.

        Raises
        ------
        Ended
            Behind the last tile.
        """
        return self._core.next(timeout)

    def batches(self, most=32, timeout=None):
        """Iterate over several tiles at once: for tiles so small that a turn of the loop for each takes too long.

        Tiles that lie side by side in memory come as one array with one more dimension in front. With ``ordered=True``
        they stay in order; otherwise those that were taken together are sorted by their place.

        Parameters
        ----------
        most : int
            Tiles to wait for; half of those of the pipeline at most. They may come as several batches.
        timeout : float or None
            Seconds to wait for each tile; then those come that are there.

        Yields
        ------
        Batch
            Its array is that of ``torch.from_dlpack(batch)`` or ``numpy.asarray(batch)``; `Batch.tiles` has the tiles. A
            tile that failed is a batch of its own, with `ok` false.
        """
        try:
            while True:
                yield from self._core.next_batches(most, timeout)
        except _core.Ended:
            return

    def borrow(self, timeout=None):
        """Lend a free tile, to be filled by ``tile.array`` or a memoryview, and submitted.

        Use it by ``with``: the tile is submitted at the end, or goes home behind an exception. ``tile.submit(n)`` submits
        the first n bytes of it.

        Parameters
        ----------
        timeout : float or None
            Seconds to wait for a tile to come home; None for no limit.

        Returns
        -------
        Tile

        Raises
        ------
        TimeoutError
            At the time limit.
        Ended
            The pipeline was stopped or closed: a thread that feeds ends.
        """
        if self._lends:
            raise ValueError("This pipeline takes buffers by push: open it without lend=True to borrow tiles.")
        tile = self._core.borrow(timeout)
        if tile is None:
            raise TimeoutError("No tile came home in time: the device or the loop that takes tiles is slower.")
        return tile

    def push(self, buffer, tag=0, timeout=None):
        """Copy a buffer into a tile and submit it, without the GIL. A larger buffer is cut into several tiles.

        In a pipeline with ``lend=True`` threads of the library copy it later, and this returns at once.

        Parameters
        ----------
        buffer : bytes, numpy.ndarray or another contiguous buffer
            An empty one makes an empty tile.
        tag : int
            A number that comes back with each of the tiles.
        timeout : float or None
            Seconds to wait for each tile; None for no limit.

        Raises
        ------
        TimeoutError
            At the time limit. Tiles before are submitted.
        Ended
            The pipeline was stopped or closed.
        """
        self.push_all((buffer,), (tag,), timeout)

    def push_all(self, buffers, tags=None, timeout=None):
        """Push several buffers, each as `push` does, in one step: for buffers so small that a call for each takes too long.

        Parameters
        ----------
        buffers : sequence of buffers
            They are pushed in their order.
        tags : sequence of int or None
            One number for each buffer; None: 0.
        timeout : float or None
            Seconds to wait for each tile; None for no limit.

        Raises
        ------
        TimeoutError
            At the time limit. Tiles before are submitted.
        Ended
            The pipeline was stopped or closed.
        """
        (self._core.lend if self._lends else self._core.push)(buffers, tags, timeout)

    def end(self):
        """Say that no more tiles will be submitted, so that the loop ends behind the last."""
        self._core.end_input()

    def stop(self):
        """Cancel what no device has started. Tiles that were cancelled still come, with `ok` false."""
        self._core.stop()

    @contextlib.contextmanager
    def threads(self, function, arguments):
        """Call ``function(argument)`` in a thread of its own for each argument, while the block of ``with`` runs.

        When all functions have returned, `end` is called. The block takes the tiles: if it ends before that, by a break
        out of its loop say, the pipeline is stopped, and the functions have to return. The first exception of a function stops the pipeline, too, and is
        raised at the end of the block; `Ended` in a thread that feeds a stopped pipeline is none.
        """
        problems = []
        fed = threading.Event()
        left = threading.Semaphore(0)

        def call(argument):
            try:
                function(argument)
            except _core.Ended:
                pass
            except BaseException as problem:  # noqa: BLE001 - it is raised in the other thread
                problems.append(problem)
                self._core.stop()
            finally:
                left.release()

        workers = [threading.Thread(target=call, args=(one,), daemon=True) for one in arguments]

        def end(feeders=len(workers)):
            for _ in range(feeders):
                left.acquire()
            self._core.end_input()
            fed.set()

        workers.append(threading.Thread(target=end, daemon=True))
        started = []
        try:
            try:
                for worker in workers:
                    worker.start()
                    started.append(worker)
                yield self
            finally:
                if not fed.is_set():
                    self._core.stop()
                for worker in started:
                    worker.join()
        except BaseException as problem:
            # What fails in the block is mostly a tile that a failure of a thread has cancelled.
            if problems and problem is not problems[0]:
                raise problem from problems[0]
            raise
        if problems:
            raise problems[0]

    @property
    def report(self):
        """The `Report` of the run. It ends the run: tiles that nobody has taken are dropped."""
        with self._closing:
            if self._report is None and self._problem is None:
                if self._fed:
                    self._core.end_input()
                # A wait for the next tile can be interrupted, and one for the end of the run cannot.
                following = self._core.next
                with contextlib.suppress(_core.Ended):
                    while True:
                        following(None)
            # A handler of a signal may have come here meanwhile.
            if self._report is None and self._problem is None:
                try:
                    text_of_json, text, ok = self._core.drain()
                    self._report = Report(text_of_json, text, bool(ok))
                except _core.Error as problem:
                    self._problem = problem
        if self._problem is not None:
            raise self._problem
        return self._report

    def snapshot(self):
        """The state at this moment, as a dict."""
        return json.loads(self._core.snapshot_json())

    def close(self):
        """Stop what runs, and take the report. Tiles that are kept stay valid."""
        if self._report is None:
            self._core.stop()
        return self.report

    def __enter__(self):
        return self

    def __exit__(self, kind, problem, trace):
        self.close()

    def __repr__(self):
        return f"<penstock.Tiles: {self._core.tiles} tiles, {self._core.held} of them held by Python>"


class Files:
    """Files as an input. `files` makes it, and `open` runs it."""

    def __init__(self, paths, flags):
        self._paths = paths
        self._flags = flags

    def open(self, device="auto", *, tile="1MiB", out=None, stage=None, to=None, ordered=False, verdict=False, **options):
        """Read the files into tiles, from now on.

        Parameters
        ----------
        device : str
            As for `devices`.
        tile : int, str or tuple
            Bytes, a size as "1MiB", or (count, dtype): elements as the loop shall see them.
        out : int, str, tuple, dtype or None
            An output that is apart from the input, and its elements; a dtype alone stands for as many as the input has.
            None: there is none, or with a stage one like the input.
        stage : Kernel or None
            The work on each tile; None: the output is a copy of the input.
        to : "device", "host" or None
            Memory in which tiles come: that of their device, or that of the host. None: on a GPU that of the device.
        ordered : bool
            Tiles come in the order of the files, and not as they are done.
        verdict : bool
            The report says what bounded the run.
        **options
            Those of docs/c.md: producers, lanes, tiles, memory, slots, bind ...

        Returns
        -------
        Tiles
        """
        return Tiles(self._paths, self._flags, device, tile, out, ordered, verdict, options, to, stage)

    def __repr__(self):
        return f"<penstock.Files: {len(self._paths)} of them>"


def files(*paths, lines=False, decompress=False, follow=False):
    """Take files as the input of a pipeline.

    Parameters
    ----------
    *paths : str or os.PathLike
        In this order; "-" is standard input.
    lines : bool
        Each tile has whole lines. A line that is longer than a tile fails it.
    decompress : bool
        gzip, zstd and LZ4 are decoded.
    follow : bool
        Files are read on as they grow, until `Tiles.stop`.

    Returns
    -------
    Files
    """
    if not paths:
        raise ValueError("There are no files: name one at least.")
    flags = (lines and _core.LINES) | (decompress and _core.DECOMPRESS) | (follow and _core.FOLLOW)
    return Files([os.fsencode(path) for path in paths], flags)


def pipeline(device="auto", *, tile="1MiB", out=None, stage=None, to=None, ordered=False, verdict=False, lend=False, **options):
    """Open a pipeline whose tiles threads of Python fill, by `Tiles.borrow` or `Tiles.push`.

    Parameters
    ----------
    lend : bool
        Threads of the library, `producers` of them, copy what is pushed. A push then only keeps a reference, so threads
        of Python need not hand the GIL to each other for each. Do not write to a buffer before its tile has come.
    device, tile, out, stage, to, ordered, verdict, **options
        Those of `Files.open`.

    Returns
    -------
    Tiles
    """
    return Tiles(None, 0, device, tile, out, ordered, verdict, options, to, stage, lend)
