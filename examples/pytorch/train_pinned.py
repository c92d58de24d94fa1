#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""train_pageable.py with pinned batches, which a stream of its own copies while the one before is computed on."""
import sys

try:
    import torch
except ImportError:
    print("skipped: this needs PyTorch (pip install torch)", file=sys.stderr)
    sys.exit(77)

STEPS, ROWS, WIDTH = 200, 8192, 2048


def batches():
    """The same few batches again and again, so that making them takes no time. None is written to after that."""
    generator = torch.Generator().manual_seed(1)
    kept = [torch.randn(ROWS, WIDTH, generator=generator).pin_memory() for _ in range(4)]
    for step in range(STEPS):
        yield kept[step % len(kept)]


def on_gpu_one_ahead(pinned):
    """The batches on the GPU. The copy of each begins before the one ahead of it is handed out."""
    copies = torch.cuda.Stream()
    ahead = None
    for batch in pinned:
        with torch.cuda.stream(copies):
            copied = batch.to("cuda", non_blocking=True)
        there = copies.record_event()
        if ahead is not None:
            yield ready(*ahead)
        ahead = copied, there
    if ahead is not None:
        yield ready(*ahead)


def ready(copied, there):
    """The copy, for work of the current stream, which waits for it on the GPU."""
    compute = torch.cuda.current_stream()
    compute.wait_event(there)
    copied.record_stream(compute)  # Its memory is given to no other tensor before that work is done.
    return copied


def main():
    if not torch.cuda.is_available():
        print("skipped: this needs a GPU", file=sys.stderr)
        sys.exit(77)
    torch.manual_seed(1)
    model = torch.nn.Linear(WIDTH, WIDTH).cuda()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.001)
    for on_gpu in on_gpu_one_ahead(batches()):
        loss = model(on_gpu).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(f"loss {loss.item():.5f}")


if __name__ == "__main__":
    main()
