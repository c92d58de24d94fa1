# SPDX-License-Identifier: Apache-2.0
"""Rings: other processes write, and a loop takes tiles."""
import os
import subprocess
import sys
import threading

import numpy
import pytest

import penstock

WRITER = """
import sys, numpy, penstock
path, first, count = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
with penstock.writer(path) as writer:
    for value in range(first, first + count):
        if value % 2:
            writer.push(numpy.full(100, value, numpy.int32), tag=value)
        else:
            slot = writer.claim()
            array = numpy.frombuffer(slot, numpy.int32)
            array[:100] = value
            del array
            slot.release()
            writer.commit(400, tag=value)
"""


def test_processes_write_and_each_piece_comes_once(tmp_path):
    path = tmp_path / "ring"
    seen = []
    with penstock.ring(path, slots=4, writers=2).open("cpu", tile=(1024, numpy.int32)) as tiles:
        writers = [
            subprocess.Popen([sys.executable, "-c", WRITER, path, str(first), "200"]) for first in (0, 1000)
        ]
        for tile in tiles:
            assert tile.ok and (numpy.asarray(tile) == tile.tag).all() and tile.nbytes == 400
            seen.append(tile.tag)
            del tile
    assert [writer.wait(60) for writer in writers] == [0, 0]
    assert sorted(seen) == [*range(200), *range(1000, 1200)]
    assert tiles.report.ok
    assert not os.path.lexists(path)


def test_a_writer_is_told_what_cannot_be(tmp_path):
    with pytest.raises(penstock.ArgumentError):
        penstock.writer(tmp_path / "none")
    path = tmp_path / "ring"
    with penstock.ring(path, slots=1).open("cpu", tile=100) as tiles:
        writer = penstock.writer(path)
        with pytest.raises(ValueError, match="101 bytes, and a slot 100"):
            writer.push(bytes(101))
        slot = writer.claim()
        with pytest.raises(BufferError, match="still shown"):
            writer.commit(3)
        with pytest.raises(BufferError, match="still shown"):
            writer.push(b"abc")
        with pytest.raises(BufferError, match="still shown"):
            writer.close()
        slot.release()
        with pytest.raises(penstock.ArgumentError):
            writer.commit(1000)
        writer.commit(3, tag=5)
        tile = next(iter(tiles))
        assert tile.tag == 5 and tile.nbytes == 3
        with pytest.raises(TimeoutError, match="No slot came back in time"):
            writer.push(b"x", timeout=0.05)
        tile.release()
        writer.push(b"xyz", timeout=60)
    with pytest.raises(penstock.SystemRefused):
        while True:
            writer.push(b"x")
    writer.close()
    with pytest.raises(ValueError, match="closed"):
        writer.push(b"x")


def test_silence_ends_the_input_if_so_wished(tmp_path):
    with penstock.ring(tmp_path / "ring", idle=0.2).open("cpu", tile=100) as tiles:
        assert list(tiles) == []


def test_two_threads_need_two_writers(tmp_path):
    with penstock.ring(tmp_path / "ring", slots=1).open("cpu", tile=100) as tiles:
        writer = penstock.writer(tmp_path / "ring")
        writer.push(b"a")
        waits = threading.Thread(target=writer.push, args=(b"b",))
        waits.start()
        refused = False
        while not refused and waits.is_alive():
            try:
                writer.commit(1)
            except RuntimeError as problem:
                refused = "one of its own" in str(problem)
            except penstock.Error:
                pass  # The thread has not begun.
        assert refused
        assert bytes(tiles.next()) == b"a"
        waits.join(60)
        writer.close()
        assert [bytes(tile) for tile in tiles] == [b"b"]
