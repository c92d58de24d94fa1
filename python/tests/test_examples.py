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


def test_the_tutorial_prints_what_it_says(tmp_path):
    ended = subprocess.run(
        [sys.executable, "-m", "doctest", ROOT / "docs" / "python-tutorial.md"],
        capture_output=True, text=True, timeout=300, cwd=tmp_path,
    )
    assert ended.returncode == 0, ended.stdout + ended.stderr
