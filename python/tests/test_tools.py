# SPDX-License-Identifier: Apache-2.0
"""The commands as functions, and their results as data."""
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
