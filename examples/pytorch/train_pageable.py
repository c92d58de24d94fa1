#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A training loop that copies each batch from pageable memory, as a loader without pin_memory hands it out."""
import sys

try:
    import torch
except ImportError:
    print("skipped: this needs PyTorch (pip install torch)", file=sys.stderr)
    sys.exit(77)

STEPS, ROWS, WIDTH = 200, 8192, 2048


def batches():
    """The same few batches again and again, so that making them takes no time."""
    generator = torch.Generator().manual_seed(1)
    kept = [torch.randn(ROWS, WIDTH, generator=generator) for _ in range(4)]
    for step in range(STEPS):
        yield kept[step % len(kept)]


def main():
    if not torch.cuda.is_available():
        print("skipped: this needs a GPU", file=sys.stderr)
        sys.exit(77)
    torch.manual_seed(1)
    model = torch.nn.Linear(WIDTH, WIDTH).cuda()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.001)
    for batch in batches():
        on_gpu = batch.to("cuda")
        loss = model(on_gpu).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(f"loss {loss.item():.5f}")


if __name__ == "__main__":
    main()
