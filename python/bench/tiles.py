#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Figures of the Python package; tiles.c has the same without Python. Each prints tiles and seconds.

usage: tiles.py loop | sum BYTES FILE... | batches BYTES FILE... | push BYTES THREADS SECONDS DEVICE [lend]

MOST in the environment is the most tiles of a batch, MANY the number of buffers in a push.
"""
import os
import sys
import threading
import time

import numpy

import penstock

OPTIONS = {name.lower(): os.environ[name] for name in ("TILES", "PRODUCERS", "LANES") if name in os.environ}


def loop():
    """A tile from the queue to the loop and home: tiles that wait already."""
    with penstock.pipeline("cpu", tile=4096, tiles=2048) as tiles:
        tiles.push(bytes(4096 * 2000))
        tiles.end()
        time.sleep(0.5)
        begun = time.perf_counter()
        count = sum(1 for _ in tiles)
        return count, time.perf_counter() - begun


def total_of(size, paths, sums):
    import torch

    total = torch.zeros((), device="cuda")
    torch.ones(1 << 20, device="cuda").sum()
    torch.cuda.synchronize()
    with penstock.files(*paths).open("cuda:0", tile=(int(size) // 4, numpy.float32), **OPTIONS) as tiles:
        begun = time.perf_counter()
        count = sums(tiles, total, torch)
        torch.cuda.synchronize()
        return count, time.perf_counter() - begun


def sum_tiles(tiles, total, torch):
    count = 0
    for tile in tiles:
        total += torch.from_dlpack(tile).sum()
        count += 1
    return count


def sum_batches(tiles, total, torch):
    count = 0
    for batch in tiles.batches(int(os.environ.get("MOST", "32"))):
        total += torch.from_dlpack(batch).sum()
        count += len(batch)
    return count


def push(size, threads, seconds, device, lend=""):
    block = numpy.ones(int(size), numpy.uint8)
    with penstock.pipeline(device, tile=int(size), lend=bool(lend), **OPTIONS) as tiles:
        begun = time.perf_counter()
        end = begun + float(seconds)

        def feed():
            mine = block.copy()
            many = [mine] * int(os.environ.get("MANY", "1"))
            try:
                while time.perf_counter() < end:
                    tiles.push_all(many)
            except penstock.Ended:
                pass

        workers = [threading.Thread(target=feed) for _ in range(int(threads))]
        for worker in workers:
            worker.start()
        count = 0
        while time.perf_counter() < end:
            for batch in tiles._core.next_batches(int(os.environ.get("MOST", "32")), 0.001):
                count += len(batch)
        seconds = time.perf_counter() - begun
        tiles.stop()
        tiles.close()
        for worker in workers:
            worker.join()
        return count, seconds


def main(what, *rest):
    if what == "loop":
        result = loop()
    elif what in ("sum", "batches"):
        result = total_of(rest[0], rest[1:], sum_tiles if what == "sum" else sum_batches)
    else:
        result = push(*rest)
    print("%d %.6f" % result)


if __name__ == "__main__":
    if len(sys.argv) < 2 or sys.argv[1] not in ("loop", "sum", "batches", "push"):
        sys.exit(__doc__)
    main(*sys.argv[1:])
