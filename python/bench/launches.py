#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What a loader does to a trainer's launches: p50 and p99 of one, in us, in rounds in turn.

usage: launches.py DEVICE [ROUNDS [STEPS]]

`alone` has no loader. `library` takes tiles of a file, which threads of the library read. In `threads` eight threads of Python
in the trainer's process make what they push; in `ring` they do so in a process of their own. Each step takes a tile and
launches 50 kernels of one element.
"""
import multiprocessing
import os
import sys
import tempfile
import threading
import time

import numpy
import penstock

THREADS, LAUNCHES, SIDE = 8, 50, 1 << 18
SHAPE = (SIDE // 4, numpy.float32)


def make_blocks(stopped, push):
    """What a thread of a loader does: mostly Python, as to parse and to choose, then an array."""
    block = numpy.zeros(SIDE // 4, numpy.float32)
    while not stopped():
        block[0] = sum(number * number for number in range(3000))
        try:
            push(block)
        except penstock.Ended:
            return


def feed_ring(path):
    with penstock.writer(path) as writer:
        turn = threading.Lock()  # A writer is for one thread at a time.

        def push(block):
            with turn:
                writer.push(block)

        threads = [threading.Thread(target=make_blocks, args=(lambda: False, push)) for _ in range(THREADS)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()


class Alone:
    def __enter__(self):
        return iter(lambda: None, 0)

    def __exit__(self, *how):
        pass


class Library:
    def __init__(self, device):
        self.device = device

    def __enter__(self):
        self.file = tempfile.NamedTemporaryFile()
        self.file.truncate(64 << 30)
        self.tiles = penstock.files(self.file.name).open(self.device, tile=SHAPE)
        return iter(self.tiles)

    def __exit__(self, *how):
        self.tiles.close()
        self.file.close()


class Threads:
    def __init__(self, device):
        self.device = device

    def __enter__(self):
        self.tiles = penstock.pipeline(self.device, tile=SHAPE)
        self.over = threading.Event()
        self.threads = [
            threading.Thread(target=make_blocks, args=(self.over.is_set, self.tiles.push)) for _ in range(THREADS)
        ]
        for thread in self.threads:
            thread.start()
        return iter(self.tiles)

    def __exit__(self, *how):
        self.over.set()
        self.tiles.stop()
        for thread in self.threads:
            thread.join()
        self.tiles.close()


class Ring:
    def __init__(self, device):
        self.device = device

    def __enter__(self):
        self.folder = tempfile.TemporaryDirectory(dir="/dev/shm")
        path = os.path.join(self.folder.name, "ring")
        self.tiles = penstock.ring(path, slots=32).open(self.device, tile=SHAPE)
        self.loader = multiprocessing.get_context("spawn").Process(target=feed_ring, args=(path,))
        self.loader.start()
        return iter(self.tiles)

    def __exit__(self, *how):
        self.loader.kill()
        self.loader.join()
        self.tiles.close()
        self.folder.cleanup()


def launches(loader, device, steps):
    """Microseconds of each launch."""
    import torch

    small = torch.zeros(1, device=device)
    took = []
    with loader as tiles:
        for tile in range(3):
            next(tiles)
        for _ in range(steps):
            tile = next(tiles)
            for _ in range(LAUNCHES):
                begun = time.perf_counter_ns()
                small.add_(1)
                took.append((time.perf_counter_ns() - begun) / 1000)
            if device.startswith("cuda"):
                torch.cuda.synchronize()
        del tile
    return took


def main(device, rounds=3, steps=1000):
    loaders = {"alone": Alone, "library": lambda: Library(device), "threads": lambda: Threads(device), "ring": lambda: Ring(device)}
    found = {name: [] for name in loaders}
    for _ in range(int(rounds)):
        for name, make in loaders.items():
            found[name].append(numpy.percentile(launches(make(), device, int(steps)), (50, 99)))
    print(f"{'loader':8} {'p50':>8} {'p99':>8}  p99 of alone")
    base = numpy.median([round_[1] for round_ in found["alone"]])
    for name, all_rounds in found.items():
        p50, p99 = numpy.median(all_rounds, axis=0)
        print(f"{name:8} {p50:8.2f} {p99:8.2f}  {p99 / base:.2f}")


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    main(*sys.argv[1:])
