# SPDX-License-Identifier: Apache-2.0
"""The commands as functions, and their results as data."""
import os
import shutil
import subprocess
import sys

import pytest

import penstock

QUICK = {"device": "cpu", "window": 20, "repeats": 1, "no_ceilings": True, "load": 0}


def test_doctor_says_what_the_machine_is():
    found = penstock.doctor("cpu")
    assert found["kind"] == "doctor" and found["host"]["cpus"] >= 1
    assert found.as_dict()["penstock"]["version"] == penstock.__version__


def test_bench_measures_axes_and_has_a_row_for_each_point():
    found = penstock.bench(tile=["4KiB", "64KiB"], one_process=True, **QUICK)
    assert [point["axes"]["tile"] for point in found["points"]] == [4096, 65536]
    assert all(point["gb_per_s"] for point in found["points"])
    pandas = pytest.importorskip("pandas")
    frame = found.to_frame()
    assert isinstance(frame, pandas.DataFrame) and len(frame) == 2


def test_bad_options_are_an_exception_with_the_sentence_of_the_command():
    with pytest.raises(penstock.CommandFailed, match="producers") as caught:
        penstock.bench(producers="many", **QUICK)
    assert caught.value.code == 2


def test_a_program_that_is_not_there_is_named():
    with pytest.raises(penstock.CommandFailed, match="no program 'nothing-of-this-name'"):
        penstock.bench("nothing-of-this-name")


@pytest.mark.parametrize("tool", [penstock.try_, penstock.watch])
def test_a_program_that_uses_no_gpu_is_told_so(tool):
    found = tool([sys.executable, "-c", "pass"])
    assert found.code == 1 and "GPU" in found.messages
    assert found["kind"] in ("try", "watch") and found["command"].endswith("-c pass")


def test_devices_are_data():
    [cpu] = penstock.devices("cpu")
    assert cpu["name"] == "cpu:0"


def test_a_job_is_run_and_its_lines_are_rows(tmp_path):
    log = tmp_path / "numbers.csv"
    log.write_text("1,10\n2,20\n1,5\nbad\n")
    done = penstock.run("lines", device="cpu", format="csv", input=log)
    assert done.code == 0 and done["kind"] == "run" and done["left_out"][0]["count"] == 1
    pandas = pytest.importorskip("pandas")
    assert isinstance(done.to_frame(), pandas.DataFrame)
    rows = done.to_frame().values.tolist()
    assert ["1", "2", "15"] in rows and ["2", "1", "20"] in rows
    with pytest.raises(penstock.CommandFailed, match="--key"):
        penstock.run("lines", device="cpu", input=log, key="x")


def test_files_are_hashed_as_b3sum_does(tmp_path):
    (tmp_path / "a").write_bytes(b"abc" * 1000)
    (tmp_path / "-b").write_bytes(b"")
    done = penstock.hash_(tmp_path, device="cpu")
    assert done.code == 0 and done["summary"]["files"] == 2
    sums = {os.path.basename(one["path"]): one["blake3"] for one in done["files"]}
    assert sums["-b"] == "af1349b9f5f9a1a6a0404dea36dcc9499bcb25c9adc112b7cc9a93cae41f3262"
    if shutil.which("b3sum"):
        told = subprocess.run(["b3sum", tmp_path / "a"], capture_output=True, text=True, check=True).stdout
        assert told.split()[0] == sums["a"]
    missing = penstock.hash_(tmp_path / "a", tmp_path / "none", device="cpu")
    assert missing.code == 1 and [one.get("problem", "")[:12] for one in missing["files"]] == ["", "No such file"]
