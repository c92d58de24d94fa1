#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Trains a small network on a folder that has a folder of JPEG files for each class.

train_images.py FOLDER [EPOCHS] [DEVICE] prints the loss of each epoch and how many images it got right.
"""
import sys

import torch

import penstock


def small_network(classes):
    return torch.nn.Sequential(
        torch.nn.Conv2d(3, 8, 3, 2), torch.nn.ReLU(), torch.nn.AdaptiveAvgPool2d(4), torch.nn.Flatten(),
        torch.nn.Linear(128, classes),
    )


def train(folder, epochs, device):
    data = penstock.images(folder, size=64, batch=16, shuffle=1, fit="random", area=0.5, mirror=True)
    torch.manual_seed(1)
    network = small_network(len(data.classes))
    optimizer = torch.optim.Adam(network.parameters(), lr=0.01)
    for epoch in range(epochs):
        losses, right = 0.0, 0
        with data.epoch(epoch).open(device) as batches:
            for batch in batches:
                for problem in batch.problems.values():
                    print(problem, file=sys.stderr)
                keep = [place for place in range(len(batch)) if place not in batch.problems]
                labels = torch.tensor(batch.labels)[keep]
                found = network(torch.from_dlpack(batch)[keep])
                loss = torch.nn.functional.cross_entropy(found, labels)
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()
                losses += loss.item() * len(keep)
                right += int((found.argmax(1) == labels).sum())
        print(f"epoch {epoch}: loss {losses / data.samples.count:.3f}, {right} of {data.samples.count} right")


if __name__ == "__main__":
    train(sys.argv[1], int((sys.argv[2:] or [3])[0]), (sys.argv[3:] or ["auto"])[0])
