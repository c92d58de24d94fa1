# SPDX-License-Identifier: Apache-2.0
"""Tiles on a GPU, as arrays of torch, cupy, jax and numba. Each part needs what it is about."""
import gc

import numpy
import pytest

import penstock

try:
    GPUS = [one["name"] for one in penstock.devices("cuda:all")]
except penstock.Error as problem:
    pytest.skip(f"no GPU: {problem}", allow_module_level=True)

# Each element becomes value * factor + tag.
SCALE = b"""
.version 7.0
.target sm_50
.address_size 64
.visible .entry scale(.param .u64 input, .param .u64 output, .param .u32 count, .param .f32 factor, .param .u64 tag)
{
  .reg .pred %p<2>; .reg .f32 %f<4>; .reg .b32 %r<6>; .reg .b64 %d<8>;
  ld.param.u64 %d1, [input];
  ld.param.u64 %d2, [output];
  ld.param.u32 %r1, [count];
  ld.param.f32 %f1, [factor];
  ld.param.u64 %d3, [tag];
  mov.u32 %r2, %ctaid.x; mov.u32 %r3, %ntid.x; mov.u32 %r4, %tid.x;
  mad.lo.s32 %r5, %r2, %r3, %r4;
  setp.ge.u32 %p1, %r5, %r1;
  @%p1 bra done;
  cvta.to.global.u64 %d4, %d1; cvta.to.global.u64 %d5, %d2;
  mul.wide.u32 %d6, %r5, 4;
  add.s64 %d4, %d4, %d6; add.s64 %d5, %d5, %d6;
  ld.global.f32 %f2, [%d4];
  cvt.rn.f32.u64 %f3, %d3;
  fma.rn.f32 %f2, %f2, %f1, %f3;
  st.global.f32 [%d5], %f2;
done:
  ret;
}
"""
TYPES = ["uint8", "int16", "int32", "int64", "float16", "float32", "float64", "complex64"]


def fed(count, elements=1000, dtype="float32", **options):
    """A pipeline on the first GPU, of tiles of equal numbers, that many of them fed."""
    tiles = penstock.pipeline("cuda:0", tile=(elements, dtype), **options)
    for value in range(count):
        tiles.push(numpy.full(elements, value, dtype), tag=value)
    tiles.end()
    return tiles


@pytest.mark.parametrize("dtype", TYPES)
def test_torch_has_the_bytes_where_they_are(dtype):
    torch = pytest.importorskip("torch")
    with fed(4, dtype=dtype, tiles=8) as tiles:
        for tile in tiles:
            assert tile.device == "cuda:0" and tile.ok
            x = torch.from_dlpack(tile)
            assert x.device == torch.device("cuda", 0) and x.shape == (1000,)
            assert x.data_ptr() == torch.from_dlpack(tile).data_ptr()
            assert (x.cpu().numpy() == numpy.full(1000, tile.tag, dtype)).all()
            del x, tile


def test_cupy_has_the_bytes_where_they_are():
    cupy = pytest.importorskip("cupy")
    with fed(4, tiles=8) as tiles:
        for tile in tiles:
            x = cupy.from_dlpack(tile)
            assert (cupy.asnumpy(x) == tile.tag).all()
            y = cupy.asarray(tile)  # By __cuda_array_interface__.
            assert y.data.ptr == x.data.ptr and y.dtype == numpy.float32
            del x, y, tile


def test_jax_has_the_bytes_where_they_are():
    jax = pytest.importorskip("jax")
    if jax.default_backend() != "gpu":
        pytest.skip("jax has no GPU")
    with fed(4, tiles=8) as tiles:
        for tile in tiles:
            x = jax.dlpack.from_dlpack(tile)
            assert (numpy.asarray(x) == tile.tag).all()
            assert x.unsafe_buffer_pointer() == tile.__cuda_array_interface__["data"][0]
            x.block_until_ready()
            del x, tile
        gc.collect()


@pytest.mark.parametrize("own_stream", [False, True])
@pytest.mark.parametrize("kernel", [False, True])
def test_a_tile_is_not_written_again_while_a_stream_that_took_it_may_read(own_stream, kernel):
    """Seen to fail if the tile's way home does not wait for the stream: see core_tell_streams."""
    torch = pytest.importorskip("torch")
    options = {"tiles": 4}
    if kernel:
        scale = penstock.kernel(SCALE, "scale", ("input", "output", "count32", numpy.float32(0), "tag"))
        options = {"stage": scale, "lanes": 4, "tiles": 32}
    stream = torch.cuda.Stream() if own_stream else torch.cuda.default_stream()
    wrong = torch.zeros((), dtype=torch.int64, device="cuda")
    slow = torch.zeros(1 << 24, device="cuda")
    with penstock.pipeline("cuda:0", tile=(1 << 16, numpy.float32), **options) as tiles:
        def feed(_):
            for value in range(200):
                tiles.push(numpy.full(1 << 16, value, numpy.float32), tag=value)

        with tiles.threads(feed, [0]), torch.cuda.stream(stream):
            for tile in tiles:
                x = torch.from_dlpack(tile)
                for _ in range(20):
                    slow.add_(1)  # The reader is late by a millisecond or so.
                wrong += (x != tile.tag).sum()
                del x, tile
    stream.synchronize()
    assert wrong.item() == 0


def test_a_stream_that_is_named_is_waited_for_as_well():
    torch = pytest.importorskip("torch")
    other = torch.cuda.Stream()
    wrong = torch.zeros((), dtype=torch.int64, device="cuda")
    slow = torch.zeros(1 << 24, device="cuda")
    torch.cuda.synchronize()
    with penstock.pipeline("cuda:0", tile=(1 << 16, numpy.float32), tiles=4) as tiles:
        def feed(_):
            for value in range(100):
                tiles.push(numpy.full(1 << 16, value, numpy.float32), tag=value)

        with tiles.threads(feed, [0]):
            for tile in tiles:
                x = torch.from_dlpack(tile)
                with torch.cuda.stream(other):
                    for _ in range(20):
                        slow.add_(1)
                    wrong += (x != tile.tag).sum()
                tile.used_in(other)
                del x, tile
    other.synchronize()
    assert wrong.item() == 0


def test_batches_are_arrays_of_neighbours():
    torch = pytest.importorskip("torch")
    with fed(0, tiles=64) as tiles:
        pass
    with penstock.pipeline("cuda:0", tile=(1 << 14, numpy.float32), tiles=64) as tiles:
        def feed(_):
            for value in range(500):
                tiles.push(numpy.full(1 << 14, value, numpy.float32), tag=value)

        seen, longest = [], 0
        with tiles.threads(feed, [0]):
            for batch in tiles.batches(16):
                x = torch.from_dlpack(batch)
                assert x.shape == (len(batch), 1 << 14)
                tags = [tile.tag for tile in batch.tiles]
                assert (x.cpu() == torch.tensor(tags, dtype=torch.float32)[:, None]).all()
                seen += tags
                longest = max(longest, len(batch))
                del x, batch
    assert sorted(seen) == list(range(500)) and longest > 1


def test_a_kernel_of_ptx_is_a_stage():
    torch = pytest.importorskip("torch")
    scale = penstock.kernel(SCALE, "scale", ("input", "output", "count32", numpy.float32(0.5), "tag"))
    with fed(100, stage=scale, tiles=128) as tiles:
        seen = []
        for tile in tiles:
            x = torch.from_dlpack(tile)
            assert (x == tile.tag * 1.5).all().item()
            seen.append(tile.tag)
            del x, tile
    assert sorted(seen) == list(range(100)) and tiles.report.ok
    with penstock.pipeline("cuda:0", tile=(100, "f"), out=numpy.float32, stage=scale, to="host", tiles=4) as tiles:
        tiles.push(numpy.arange(60, dtype="f"), tag=3)
        tiles.end()
        (tile,) = list(tiles)
        assert numpy.array_equal(numpy.asarray(tile), numpy.arange(60, dtype="f") / 2 + 3)
        del tile


def test_a_kernel_that_cannot_be_is_refused_with_the_remedy():
    def refused(image, name, words):
        with pytest.raises(penstock.Error, match=words):
            penstock.pipeline("cuda:0", tile=(64, "f"), stage=penstock.kernel(image, name))

    refused(SCALE, "scales", "The image has no kernel 'scales'")
    refused(b"no code at all", "scale", "cannot be loaded on cuda:0.*nvcc -ptx")
    refused(SCALE.replace(b"ld.global.f32", b"ld.globa.f32"), "scale", "cannot be loaded on cuda:0")


def test_the_host_cannot_have_what_is_on_the_gpu():
    with fed(1, tiles=4) as tiles:
        (tile,) = list(tiles)
        for way in (numpy.asarray, numpy.from_dlpack, memoryview, lambda one: one.array):
            with pytest.raises((BufferError, TypeError, RuntimeError), match="GPU|device"):
                way(tile)
        with pytest.raises(BufferError, match="no stream"):
            tile.__dlpack__(stream=0)
        del tile
    with fed(1, tiles=4, to="host") as tiles:
        (tile,) = list(tiles)
        assert tile.device == "cpu" and numpy.asarray(tile).shape == (1000,)
        del tile


def test_the_current_device_of_the_loop_stays():
    torch = pytest.importorskip("torch")
    if len(GPUS) < 2:
        pytest.skip("one GPU only")
    torch.cuda.set_device(1)
    try:
        with fed(8, tiles=8) as tiles:
            for tile in tiles:
                x = torch.from_dlpack(tile)
                assert x.device.index == 0
                del x, tile
        assert torch.cuda.current_device() == 1
    finally:
        torch.cuda.set_device(0)


def test_a_million_bytes_a_tile_for_a_while_keeps_memory_flat():
    torch = pytest.importorskip("torch")
    before = torch.cuda.mem_get_info()[0]
    for _ in range(20):
        with fed(4, elements=1 << 18, tiles=8) as tiles:
            for tile in tiles:
                torch.from_dlpack(tile).sum()
                del tile
        del tiles
        gc.collect()
    assert before - torch.cuda.mem_get_info()[0] < 64 << 20, "memory of the device"
