#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Images for training: penstock.images against a DataLoader of torch with torchvision's transforms.

usage: images.py make FOLDER COUNT | penstock FOLDER EPOCHS DEVICE | processes FOLDER EPOCHS DEVICE WORKERS
       | threads FOLDER EPOCHS DEVICE WORKERS

`make` writes JPEG files of 500 x 375 in ten classes. The others print images a second behind the first epoch's first
batch, seconds to that, CPU seconds a thousand images, and MiB of memory with all processes.
"""
import concurrent.futures
import os
import pathlib
import resource
import sys
import threading
import time

MEAN, DEVIATION, BATCH, SIDE = (0.485, 0.456, 0.406), (0.229, 0.224, 0.225), 64, 224


def make(folder, count):
    import numpy
    from PIL import Image

    random = numpy.random.default_rng(1)
    for number in range(int(count)):
        picture = numpy.zeros((375, 500, 3), numpy.float32)
        for octave in range(1, 8):
            noise = random.integers(0, 256, (3 << octave, 4 << octave, 3), numpy.uint8)
            picture += numpy.asarray(Image.fromarray(noise).resize((500, 375), Image.BICUBIC), numpy.float32) / octave
        picture *= 255 / picture.max()
        into = pathlib.Path(folder) / f"class{number % 10}"
        into.mkdir(parents=True, exist_ok=True)
        Image.fromarray(picture.astype(numpy.uint8)).save(into / f"{number:05}.jpg", quality=90)


class Memory(threading.Thread):
    """The most that this process and its children have had, in MiB: shared pages count once."""

    def __init__(self):
        super().__init__(daemon=True)
        self.most = 0
        self.start()

    def run(self):
        while True:
            children = pathlib.Path(f"/proc/self/task/{os.getpid()}/children")
            pids = [str(os.getpid()), *(children.read_text().split() if children.exists() else [])]
            total = 0
            for pid in pids:
                try:
                    text = pathlib.Path(f"/proc/{pid}/smaps_rollup").read_text()
                    total += next(int(line.split()[1]) for line in text.splitlines() if line.startswith("Pss:"))
                except (OSError, StopIteration):
                    pass
            self.most = max(self.most, total >> 10)
            time.sleep(0.3)


def cpu_seconds():
    both = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(one.ru_utime + one.ru_stime for one in both)


def by_penstock(folder, device):
    import penstock
    import torch

    data = penstock.images(folder, size=SIDE, batch=BATCH, shuffle=1, mean=MEAN, std=DEVIATION, drop_last=True)

    def epoch(number):
        options = {"tiles": os.environ["TILES"]} if "TILES" in os.environ else {}
        with data.epoch(number).open(device, **options) as batches:
            for batch in batches:
                yield torch.from_dlpack(batch)

    return epoch


def dataset(folder):
    from torchvision import datasets, transforms

    return datasets.ImageFolder(folder, transforms.Compose([
        transforms.Resize(SIDE), transforms.CenterCrop(SIDE), transforms.ToTensor(), transforms.Normalize(MEAN, DEVIATION),
    ]))


def by_processes(folder, device, workers):
    import torch

    loader = torch.utils.data.DataLoader(
        dataset(folder), BATCH, shuffle=True, num_workers=int(workers), drop_last=True, persistent_workers=True,
        pin_memory=device != "cpu", prefetch_factor=4,
    )

    def epoch(_):
        for images, _ in loader:
            yield images.to(device, non_blocking=True)

    return epoch


def by_threads(folder, device, workers):
    import torch

    data = dataset(folder)
    pool = concurrent.futures.ThreadPoolExecutor(int(workers))

    def epoch(number):
        order = torch.randperm(len(data), generator=torch.Generator().manual_seed(number)).tolist()
        batches = [order[at:at + BATCH] for at in range(0, len(order) - BATCH + 1, BATCH)]
        ahead = [pool.map(data.__getitem__, batch) for batch in batches[:8]]
        for number in range(len(batches)):
            images = torch.stack([image for image, _ in ahead[number]])
            if number + 8 < len(batches):
                ahead.append(pool.map(data.__getitem__, batches[number + 8]))
            yield (images.pin_memory() if device != "cpu" else images).to(device, non_blocking=True)

    return epoch


def main(how, folder, epochs, device, *rest):
    import torch

    if device != "cpu":
        torch.ones(1, device=device)
    memory = Memory()
    begun = time.perf_counter()
    epoch = {"penstock": by_penstock, "processes": by_processes, "threads": by_threads}[how](folder, device, *rest)
    first = after = None
    images = 0
    for number in range(int(epochs)):
        for batch in epoch(number):
            batch.mean()
            if first is None:
                if device != "cpu":
                    torch.cuda.synchronize()
                first, after, cpu = time.perf_counter() - begun, time.perf_counter(), cpu_seconds()
            else:
                images += len(batch)
            del batch
    if device != "cpu":
        torch.cuda.synchronize()
    seconds = time.perf_counter() - after
    del epoch
    # Workers of a loader are counted once they have ended.
    used = cpu_seconds() - cpu
    print(f"{how} {' '.join(rest)}: {images / seconds:.0f} images/s, first batch {first:.2f} s, "
          f"{1000 * used / images:.2f} CPU s a thousand, {memory.most} MiB")


if __name__ == "__main__":
    if len(sys.argv) == 4 and sys.argv[1] == "make":
        make(*sys.argv[2:])
    elif len(sys.argv) > 4:
        main(*sys.argv[1:])
    else:
        sys.exit(__doc__)
