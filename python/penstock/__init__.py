# SPDX-License-Identifier: Apache-2.0
"""Pinned tiles between many threads and a device, in a `for` loop.

A *tile* is a block of pinned memory. A *pipeline* has some, lends them to whoever fills them, sends them through a
device and hands them out again. Nothing of Python runs between a file and the loop, and whatever waits releases the
GIL.

Tiles of files::

    import numpy, penstock
    with penstock.files("a.bin", "b.bin").open(tile="1MiB") as tiles:
        for tile in tiles:
            print(tile.name, tile.offset, numpy.asarray(tile).sum())

On a GPU tiles stay there: ``torch.from_dlpack(tile)`` and ``cupy.from_dlpack(tile)`` do not copy. A kernel of your own
is a stage::

    fir = penstock.kernel("fir.cubin", "fir", ("input", "output", "count", numpy.float32(0.5)))
    with penstock.files("a.bin").open("cuda:0", tile=(1 << 20, numpy.int16), out=numpy.float32, stage=fir) as tiles:
        for tile in tiles:
            spectrum += torch.from_dlpack(tile)

Tiles that threads of Python fill::

    with penstock.pipeline(tile=(1 << 20, numpy.int16)) as tiles:
        def receive(port):
            for block in blocks_of(port):
                tiles.push(block, tag=port)
        with tiles.threads(receive, ports):
            for tile in tiles:
                levels[tile.tag] = numpy.asarray(tile).std()

Batches of images, for training::

    with penstock.images("photos", size=224, batch=64, shuffle=1).open() as batches:
        for batch in batches:
            step(torch.from_dlpack(batch), torch.tensor(batch.labels))

The tools, as data::

    penstock.try_(["./program"]).as_dict()
    penstock.bench(producers=[1, 4]).to_frame()

Errors are exceptions of the class `Error`, whose text says what helps. A tile whose work failed is no exception: it
comes with ``tile.ok`` false and ``tile.problem``, and the others go on.
"""
from penstock._core import (
    ArgumentError,
    Batch,
    DeviceError,
    Ended,
    Error,
    OutOfMemory,
    SystemRefused,
    Tile,
    version as _version,
)
from penstock._images import ImageBatch, Images, ImageTiles, images
from penstock._kernel import Kernel, kernel
from penstock._pipeline import Files, Report, Tiles, devices, files, pipeline
from penstock._ring import Ring, Writer, ring, writer
from penstock._tools import CommandFailed, Results, bench, compare, doctor, hash_, run, try_, tune, watch

__version__ = _version()
__all__ = [
    "ArgumentError",
    "Batch",
    "CommandFailed",
    "DeviceError",
    "Ended",
    "Error",
    "Files",
    "ImageBatch",
    "ImageTiles",
    "Images",
    "Kernel",
    "OutOfMemory",
    "Report",
    "Results",
    "Ring",
    "SystemRefused",
    "Tile",
    "Tiles",
    "Writer",
    "bench",
    "compare",
    "devices",
    "doctor",
    "files",
    "hash_",
    "images",
    "kernel",
    "pipeline",
    "ring",
    "run",
    "try_",
    "tune",
    "watch",
    "writer",
]
