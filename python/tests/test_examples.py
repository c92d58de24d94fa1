# SPDX-License-Identifier: Apache-2.0
"""The example programs."""
import pathlib
import subprocess
import sys

import numpy
import pytest

ROOT = pathlib.Path(__file__).parents[2]
EXAMPLES = pathlib.Path(__file__).parents[1] / "examples"


def test_a_dataset_of_torch_has_all_rows_whoever_reads_them(tmp_path):
    pytest.importorskip("torch")
    rows = numpy.arange(3000 * 4, dtype=numpy.float32).reshape(3000, 4) % 7
    paths = [tmp_path / f"part{i}" for i in range(3)]
    for i, path in enumerate(paths):
        rows[i::3].tofile(path)
    ended = subprocess.run(
        [sys.executable, EXAMPLES / "torch_dataset.py", "4", *paths], capture_output=True, text=True, timeout=300
    )
    means = " ".join(f"{mean:.3f}" for mean in rows.mean(0))
    assert ended.stdout == f"0 workers: {means} of 3000 rows\n2 workers: {means} of 3000 rows\n", ended.stderr


def test_a_network_learns_from_a_folder_of_images(tmp_path):
    pytest.importorskip("torch")
    image = pytest.importorskip("PIL.Image")
    for name, colour in (("blue", (20, 20, 200)), ("red", (200, 20, 20))):
        (tmp_path / name).mkdir()
        for i in range(24):
            image.new("RGB", (90 + i, 70), colour).save(tmp_path / name / f"{i}.jpg")
    (tmp_path / "red" / "broken.jpg").write_bytes(b"no image")
    ended = subprocess.run(
        [sys.executable, EXAMPLES / "train_images.py", tmp_path, "4", "cpu"], capture_output=True, text=True, timeout=300
    )
    epochs = [line for line in ended.stdout.splitlines() if line.startswith("epoch ")]
    assert len(epochs) == 4 and epochs[-1].endswith("48 of 49 right"), ended.stdout + ended.stderr
    assert ended.stderr.count("broken.jpg: ") == 4 and "Not a JPEG file" in ended.stderr


def test_a_dataloader_has_the_batches_of_its_workers_in_their_order(tmp_path):
    """The wrapper of docs/python.md."""
    torch = pytest.importorskip("torch")
    image = pytest.importorskip("PIL.Image")
    paths = []
    for i in range(21):
        paths.append((tmp_path / f"{i}.jpg", i))
        image.new("RGB", (40, 40), (10 * i, 10 * i, 10 * i)).save(paths[-1][0])
    import penstock

    class Batches(torch.utils.data.IterableDataset):
        def __init__(self, images):
            self.images = images

        def __iter__(self):
            with self.images.open("cpu") as batches:
                for batch in batches:
                    yield torch.from_dlpack(batch).clone(), torch.tensor(batch.labels)

    data = penstock.images(paths, size=8, batch=4, shuffle=3)
    runs = []
    for workers in (0, 2):
        loader = torch.utils.data.DataLoader(Batches(data), batch_size=None, num_workers=workers)
        runs.append([labels.tolist() for _, labels in loader])
    assert runs[0] == runs[1] and sorted(sum(runs[0], [])) == list(range(21)) and len(runs[0]) == len(data) == 6


def test_the_tutorial_prints_what_it_says(tmp_path):
    ended = subprocess.run(
        [sys.executable, "-m", "doctest", ROOT / "docs" / "python-tutorial.md"],
        capture_output=True, text=True, timeout=300, cwd=tmp_path,
    )
    assert ended.returncode == 0, ended.stdout + ended.stderr


def test_launches_are_measured_beside_each_loader():
    pytest.importorskip("torch")
    bench = EXAMPLES.parent / "bench" / "launches.py"
    ended = subprocess.run([sys.executable, bench, "cpu", "1", "3"], capture_output=True, text=True, timeout=300)
    rows = [line.split() for line in ended.stdout.splitlines()]
    assert [row[0] for row in rows] == ["loader", "alone", "library", "threads", "ring"], ended.stdout + ended.stderr
    assert all(0 < float(row[1]) <= float(row[2]) for row in rows[1:])
