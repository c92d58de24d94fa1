#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Files of float32 rows as a dataset of torch: batches are tiles, read by threads of the library and not copied.

torch_dataset.py COLUMNS FILE... prints the mean of each column, read in this process and by two worker processes.
"""
import sys

import torch

import penstock


class RowsOfFiles(torch.utils.data.IterableDataset):
    """Batches of rows, each a tensor [rows, columns]. Workers have every nth file each."""

    def __init__(self, paths, columns, rows=256):
        self.paths, self.shape = list(paths), (rows, columns)

    def __iter__(self):
        worker = torch.utils.data.get_worker_info()
        mine = self.paths if worker is None else self.paths[worker.id :: worker.num_workers]
        if not mine:
            return
        with penstock.files(*mine).open("cpu", tile=(self.shape, "f")) as tiles:
            for tile in tiles:
                if not tile.ok:
                    raise RuntimeError(f"{tile.name}: {tile.problem}")
                yield torch.from_dlpack(tile)


class DataOfFiles:
    """What a trainer asks, as a LightningDataModule has it."""

    def __init__(self, paths, columns, workers=0):
        self.dataset, self.workers = RowsOfFiles(paths, columns), workers

    def train_dataloader(self):
        return torch.utils.data.DataLoader(self.dataset, batch_size=None, num_workers=self.workers)


if __name__ == "__main__":
    columns = int(sys.argv[1])
    for workers in (0, 2):
        total, rows = torch.zeros(columns), 0
        for batch in DataOfFiles(sys.argv[2:], columns, workers).train_dataloader():
            total, rows = total + batch.sum(0), rows + len(batch)
        print(workers, "workers:", " ".join(f"{mean:.3f}" for mean in total / rows), "of", rows, "rows")
