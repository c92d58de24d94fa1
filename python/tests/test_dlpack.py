# SPDX-License-Identifier: Apache-2.0
"""Tiles as arrays of other libraries: the same bytes at the same address."""
import ctypes

import hypothesis
import numpy
import pytest
from hypothesis import strategies

import penstock

TYPES = ["?", "b", "B", "h", "H", "i", "I", "l", "L", "q", "Q", "e", "f", "d", "F", "D"]


def round_trip(shape, dtype, filled):
    """A tile of that shape, of which so many rows were filled."""
    tiles = penstock.pipeline("cpu", tile=(shape, dtype), tiles=4)
    tile = tiles.borrow()
    whole = tile.array
    assert whole.shape == shape and whole.dtype == numpy.dtype(dtype)
    row = whole.nbytes // shape[0]
    raw = numpy.arange(whole.nbytes, dtype=numpy.uint64).astype(numpy.uint8) % 2
    whole.view(numpy.uint8).reshape(-1)[:] = raw
    expected = whole[:filled].copy()
    del whole
    tile.submit(filled * row)
    return tiles, tiles.next(), expected


@hypothesis.settings(max_examples=60, deadline=None)
@hypothesis.given(
    shape=strategies.lists(strategies.integers(1, 5), min_size=1, max_size=8).map(tuple),
    dtype=strategies.sampled_from(TYPES),
    data=strategies.data(),
)
def test_numpy_sees_the_same_elements(shape, dtype, data):
    filled = data.draw(strategies.integers(0, shape[0]))
    tiles, tile, expected = round_trip(shape, dtype, filled)
    with tiles:
        view = memoryview(tile)
        for found in (numpy.asarray(tile), numpy.from_dlpack(tile) if dtype != "?" else numpy.asarray(tile)):
            assert found.shape == (filled, *shape[1:])
            numpy.testing.assert_array_equal(found.view(numpy.uint8), expected.view(numpy.uint8))
            if filled:
                assert found.ctypes.data == ctypes.addressof(ctypes.c_char.from_buffer(view.cast("B")))
            del found
        del view, tile


def test_bytes_that_are_no_whole_elements_are_refused():
    with penstock.pipeline("cpu", tile=(8, "i"), tiles=4) as tiles:
        tiles.push(b"12345")
        tile = tiles.next()
        with pytest.raises(BufferError, match="5 bytes, which are no whole elements of 4"):
            memoryview(tile)
        with pytest.raises(BufferError, match="5 bytes, which are no whole elements of 4"):
            tile.__dlpack__()
        del tile


def test_capsules_are_old_or_new_as_the_consumer_asks():
    with penstock.pipeline("cpu", tile=16, tiles=4) as tiles:
        tiles.push(b"abc")
        tile = tiles.next()
        for version, name in [(None, "dltensor"), ((0, 8), "dltensor"), ((1, 0), "dltensor_versioned")]:
            capsule = tile.__dlpack__(max_version=version)
            assert f'"{name}"' in repr(capsule)
            with pytest.raises(BufferError, match="1 arrays or tensors still show its bytes"):
                tile.release()
            del capsule
        assert tile.__dlpack_device__() == (1, 0)
        for wish in ({"stream": 1}, {"dl_device": (2, 0)}, {"copy": True}):
            with pytest.raises(BufferError):
                tile.__dlpack__(**wish)
        tile.release()
        with pytest.raises(BufferError, match="home again"):
            tile.__dlpack__()


def test_torch_shares_the_bytes():
    torch = pytest.importorskip("torch")
    with penstock.pipeline("cpu", tile=((4, 3), numpy.float32), tiles=4) as tiles:
        tiles.push(numpy.arange(12, dtype=numpy.float32))
        tile = tiles.next()
        tensor = torch.from_dlpack(tile)
        assert tensor.shape == (4, 3) and tensor.sum() == 66
        assert tensor.data_ptr() == numpy.asarray(tile).ctypes.data
        del tile
        assert tiles._core.held == 1
        del tensor
        assert tiles._core.held == 0
