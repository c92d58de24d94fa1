# SPDX-License-Identifier: Apache-2.0
"""Tiles in memory of a device that is no GPU, and stages; test_gpu.py has the rest."""
import ctypes
import hashlib

import numpy
import pytest

import penstock


@pytest.mark.parametrize("count", [64, 1 << 17])  # Large tiles go another way.
def test_tiles_stay_on_the_device_that_has_them(count):
    with penstock.pipeline("cpu", tile=(count, numpy.int32), to="device", tiles=4) as tiles:
        for value in range(4):
            tiles.push(numpy.full(60, value, numpy.int32), tag=value)
        tiles.end()
        kept = list(tiles)
        assert len(kept) == 4
        for tile in kept:
            assert tile.device == "cpu" and tile.nbytes == 240
            assert numpy.array_equal(numpy.asarray(tile), numpy.full(60, tile.tag))
            assert tile.__dlpack_device__() == (1, 0)
            assert numpy.array_equal(numpy.from_dlpack(tile), numpy.full(60, tile.tag))
            tile.used_in(1)
        assert len({numpy.asarray(tile).ctypes.data for tile in kept}) == 4


def test_a_failed_tile_has_no_bytes_on_its_device(tmp_path):
    (tmp_path / "there").write_bytes(b"x" * 5000)
    files = penstock.files(tmp_path / "there", tmp_path / "gone")
    with files.open("cpu", tile=4096, to="device", tiles=2) as tiles:
        found = {(tile.name.rsplit("/", 1)[1], tile.ok): tile.nbytes for tile in tiles}
    assert found == {("there", True): found["there", True], ("gone", False): 0}
    assert found["there", True] in (4096, 904)


def test_a_tile_of_the_host_has_no_interface_of_cuda():
    with penstock.pipeline("cpu", tile=64) as tiles:
        tiles.push(b"a")
        tiles.end()
        (tile,) = list(tiles)
        assert not hasattr(tile, "__cuda_array_interface__")
        with pytest.raises(BufferError, match="no stream"):
            tile.used_in(-7)
        with pytest.raises(TypeError, match="This is no stream"):
            tile.used_in("stream")


def test_a_place_that_there_is_not_is_refused():
    with pytest.raises(ValueError, match="'device' and 'host'"):
        penstock.pipeline("cpu", to="gpu")


def test_a_kernel_needs_a_gpu(tmp_path):
    (tmp_path / "code.ptx").write_text(".version 7.0")
    stage = penstock.kernel(tmp_path / "code.ptx", "scale", ("input", "output", "count32", numpy.float32(2)))
    assert "scale" in repr(stage)
    with pytest.raises(penstock.Error, match="The kernel 'scale' needs a GPU, and the lane's device is cpu:0"):
        penstock.pipeline("cpu", tile=(64, numpy.int16), out=numpy.float32, stage=stage)


def test_arguments_of_a_kernel_have_a_size():
    for right in (numpy.float32(2), ctypes.c_int(3), b"1234", numpy.arange(3)):
        penstock.kernel(b"image", "scale", ("input", right))
    for wrong, problem in ((2, TypeError), (0.5, TypeError), ("inputs", ValueError)):
        with pytest.raises(problem):
            penstock.kernel(b"image", "scale", (wrong,))
    with pytest.raises(OSError):
        penstock.kernel("/no/such/file.cubin", "scale")
    with pytest.raises(penstock.ArgumentError, match="1024 is the most"):
        penstock.pipeline("cpu", stage=penstock.kernel(b"image", "scale", block=4096))


def test_an_output_may_be_given_by_its_type():
    with penstock.pipeline("cpu", tile=((4, 16), numpy.int16), out=numpy.int32, to="device") as tiles:
        tiles.push(bytes(128))
        tiles.end()
        (tile,) = list(tiles)
        assert numpy.asarray(tile).shape == (2, 16) and numpy.asarray(tile).dtype == numpy.int32


@pytest.mark.parametrize("to", ["host", "device"])
@pytest.mark.parametrize("ordered", [False, True])
def test_batches_are_tiles_side_by_side(to, ordered):
    with penstock.pipeline("cpu", tile=(64, numpy.int32), to=to, ordered=ordered, tiles=16) as tiles:
        def feed(_):
            for value in range(200):
                tiles.push(numpy.full(64, value, numpy.int32), tag=value)
            tiles.push(b"1234" * 5, tag=200)

        seen, lengths = [], []
        with tiles.threads(feed, [0]):
            for batch in tiles.batches(4):
                assert batch.ok and len(batch) == len(batch.tiles) <= 8
                array = numpy.asarray(batch)
                assert array.shape[0] == len(batch)
                for row, tile in zip(array, batch.tiles):
                    assert row.tobytes() == numpy.asarray(tile).tobytes()
                    assert tile.tag == 200 or (row == tile.tag).all()
                same = numpy.from_dlpack(batch)
                assert same.ctypes.data == array.ctypes.data and same.shape == array.shape
                assert same.strides == array.strides
                with pytest.raises(BufferError):
                    batch.tiles[0].release()
                seen += [tile.tag for tile in batch.tiles]
                lengths.append(len(batch))
                del batch, array, same, row, tile
        assert sorted(seen) == list(range(201))
        assert not ordered or seen == sorted(seen)
        assert max(lengths) > 1


def test_a_tile_that_is_not_a_multiple_of_256_bytes_lies_apart_in_its_batch():
    with penstock.pipeline("cpu", tile=(3, numpy.int16), tiles=8) as tiles:
        for value in range(4):
            tiles.push(numpy.full(3, value, numpy.int16))
        batches = tiles.batches(4)
        batch = next(batches)
        if len(batch) > 1:
            assert numpy.asarray(batch).strides == (256, 2)
            with pytest.raises(BufferError, match="lie apart"):
                hashlib.sha256(batch)
        del batch, batches
        with pytest.raises(ValueError, match="one tile or more"):
            next(tiles.batches(0))


def test_a_tile_that_failed_is_a_batch_of_its_own(tmp_path):
    (tmp_path / "there").write_bytes(bytes(8192))
    files = penstock.files(tmp_path / "there", tmp_path / "gone", tmp_path / "there")
    with files.open("cpu", tile=4096, tiles=16) as tiles:
        batches = list(tiles.batches(8))
    assert sum(len(batch) for batch in batches) == 5
    failed = [batch for batch in batches if not batch.ok]
    assert len(failed) == 1 and len(failed[0]) == 1 and "No such file" in failed[0].tiles[0].problem
