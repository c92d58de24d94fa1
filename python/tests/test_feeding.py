# SPDX-License-Identifier: Apache-2.0
"""Tiles that threads of Python fill."""
import gc
import threading
import weakref

import numpy
import pytest

import penstock


def opened(**options):
    return penstock.pipeline("cpu", **{"tile": (1024, numpy.int32), "tiles": 8, **options})


def test_many_threads_push_and_each_buffer_comes_once():
    blocks = 200

    def feed(which):
        for block in range(blocks):
            tiles.push(numpy.full(100, which * blocks + block, numpy.int32), tag=which)

    with opened() as tiles:
        found = []
        with tiles.threads(feed, range(8)):
            for tile in tiles:
                values = numpy.asarray(tile)
                assert len(values) == 100 and (values == values[0]).all() and values[0] // blocks == tile.tag
                found.append(int(values[0]))
                del values
        assert sorted(found) == list(range(8 * blocks))
        assert tiles.report.ok


def test_tiles_are_filled_in_place():
    def feed(which):
        with tiles.borrow(timeout=300) as tile:
            tile.array[:] = which
            tile.tag = which
        tile = tiles.borrow()
        tile.array[:3] = [7, 8, which]
        tile.tag = 100 + which
        tile.submit(12)

    with opened() as tiles, tiles.threads(feed, range(3)):
        found = {tile.tag: numpy.asarray(tile).tolist() for tile in tiles}
    assert found == {**{n: [n] * 1024 for n in range(3)}, **{100 + n: [7, 8, n] for n in range(3)}}


def test_a_tile_with_a_view_is_not_submitted():
    with opened() as tiles:
        tile = tiles.borrow()
        view = tile.array
        with pytest.raises(BufferError, match="cannot be submitted: 1 arrays"):
            tile.submit(None)
        del view
        tile.submit(None)
        with pytest.raises(ValueError, match="home again, or was submitted"):
            tile.submit(None)
        done = tiles.next()
        with pytest.raises(ValueError, match="completed"):
            done.submit(None)
        with pytest.raises(ValueError, match="completed"):
            done.tag = 1


def test_an_exception_while_a_tile_is_filled_gives_it_back():
    with opened() as tiles:
        with pytest.raises(KeyError):
            with tiles.borrow() as tile:
                raise KeyError("no block")
        assert tile.released and tiles._core.held == 0
        tiles.end()
        assert list(tiles) == []


def test_a_buffer_that_is_larger_than_a_tile_is_cut():
    data = numpy.random.default_rng(7).integers(0, 256, 50_000, numpy.uint8).tobytes()
    with opened(ordered=True) as tiles:
        with tiles.threads(lambda tag: tiles.push(data, tag=tag), [5]):
            found = [(tile.tag, bytes(tile)) for tile in tiles]
    assert [len(text) for _, text in found] == [4096] * 12 + [50_000 - 12 * 4096]
    assert b"".join(text for _, text in found) == data and {tag for tag, _ in found} == {5}


def test_an_empty_buffer_makes_an_empty_tile():
    with opened() as tiles:
        tiles.push(b"")
        assert tiles.next().nbytes == 0
        with pytest.raises(ValueError, match="has no 5000"):
            tiles.borrow().submit(5000)


def test_a_borrower_waits_as_long_as_it_says():
    with opened(tiles=4, lanes=1, slots=1) as tiles:
        kept = [tiles.borrow(timeout=300) for _ in range(4)]
        with pytest.raises(TimeoutError, match="No tile came home"):
            tiles.borrow(timeout=0.01)
        with pytest.raises(TimeoutError):
            tiles.push(b"x", timeout=0)
        with pytest.raises(ValueError, match="in seconds"):
            tiles.borrow(timeout=-1)
        kept.pop()
        assert not tiles.borrow(timeout=300).released
        del kept


def test_an_exception_in_a_thread_is_raised_by_the_block():
    def feed(which):
        if which == 2:
            raise LookupError("port 2 is gone")
        while True:
            tiles.push(b"x")

    with opened() as tiles:
        with pytest.raises(LookupError, match="port 2"):
            with tiles.threads(feed, range(4)):
                for _ in tiles:
                    pass


def test_a_break_out_of_the_loop_ends_the_threads():
    def feed(_):
        while True:
            tiles.push(b"x")

    with opened() as tiles:
        with tiles.threads(feed, range(2)):
            for tile in tiles:
                if tile.index > 20:
                    break
        del tile


def test_a_closed_pipeline_tells_its_threads_to_end():
    with opened() as tiles:
        tiles.push(b"x")
    with pytest.raises(penstock.Ended):
        tiles.push(b"x")
    with pytest.raises(penstock.Ended):
        tiles.next()
    assert tiles.snapshot()["pool"]["lent"] == 0


def test_a_pipeline_that_is_stopped_still_hands_its_tiles_out():
    with opened(ordered=True) as tiles:
        tiles.push(b"x")
        assert tiles.next().ok
        tiles.stop()
        with pytest.raises(penstock.Ended):
            tiles.borrow()
        tiles.end()
        assert list(tiles) == []


def test_lent_buffers_come_in_order_and_are_let_go():
    class Buffer(bytearray):
        pass

    buffers = [Buffer(b"%4d" % number * 100) for number in range(300)]
    gone = [weakref.ref(one) for one in buffers]
    with penstock.pipeline("cpu", tile=150, ordered=True, lend=True, tiles=8, producers=3) as tiles:
        def feed(_):
            while buffers:
                tiles.push(buffers.pop(0), tag=len(buffers))
            tiles.push(b"", tag=7)

        texts = {}
        with tiles.threads(feed, [0]):
            for tile in tiles:
                texts[tile.tag] = texts.get(tile.tag, b"") + bytes(tile)
                del tile
    assert texts.pop(7) == b"%4d" % 292 * 100 + b""
    assert [texts.get(299 - number, b"") for number in range(300) if number != 292] == [
        b"%4d" % number * 100 for number in range(300) if number != 292
    ]
    assert tiles.report.ok
    gc.collect()
    assert not any(one() for one in gone), "the library has kept a buffer"


def test_lending_ends_with_the_pipeline_whatever_is_left():
    tiles = penstock.pipeline("cpu", tile=1 << 12, lend=True, tiles=4)
    with pytest.raises(ValueError, match="without lend=True"):
        tiles.borrow()
    with pytest.raises(TimeoutError):
        while True:
            tiles.push(bytes(1 << 14), timeout=0.05)
    with pytest.raises(TypeError):
        tiles.push("text")
    stopped = []

    def feed():
        try:
            while True:
                tiles.push(bytes(1 << 14))
        except penstock.Ended:
            stopped.append(True)

    threads = [threading.Thread(target=feed) for _ in range(4)]
    for thread in threads:
        thread.start()
    tiles.close()
    for thread in threads:
        thread.join(60)
    assert stopped == [True] * 4
    del tiles


def test_a_pipeline_that_is_dropped_lets_go_of_lent_buffers():
    class Buffer(bytearray):
        pass

    buffer = Buffer(1 << 16)
    gone = weakref.ref(buffer)
    tiles = penstock.pipeline("cpu", tile=1 << 12, lend=True, tiles=4)
    tiles.push(buffer)
    del buffer, tiles
    gc.collect()
    assert gone() is None


def test_one_thread_that_feeds_and_then_takes_is_told():
    tiles = penstock.pipeline("cpu", tile=64, tiles=4)
    with pytest.warns(RuntimeWarning, match="no thread takes tiles"), pytest.raises(TimeoutError):
        while True:
            tiles.push(b"x", timeout=4)
    tiles.close()


def test_the_failure_of_a_thread_is_the_cause_of_that_of_the_block():
    with opened() as tiles:
        def fail(_):
            raise KeyError("thread")

        with pytest.raises(ZeroDivisionError) as problem:
            with tiles.threads(fail, [0]):
                for tile in tiles:
                    pass
                1 / 0
        assert isinstance(problem.value.__cause__, KeyError)


def test_a_thread_that_cannot_start_ends_the_others(monkeypatch):
    start = threading.Thread.start
    count = iter(range(100))

    def start_some(thread):
        if next(count) == 2:
            raise RuntimeError("can't start new thread")
        start(thread)

    def feed(_):
        while True:
            tiles.push(b"abcd")

    monkeypatch.setattr(threading.Thread, "start", start_some)
    with opened() as tiles, pytest.raises(RuntimeError, match="can't start"):
        with tiles.threads(feed, range(4)):
            raise AssertionError("the block does not run")


def test_tags_have_64_bits():
    for lend in (False, True):
        with opened(lend=lend) as tiles:
            for tag in (-1, 1 << 64):
                with pytest.raises(OverflowError):
                    tiles.push(b"abcd", tag=tag)
            tiles.push(b"abcd", tag=(1 << 64) - 1)
            tiles.end()
            assert [tile.tag for tile in tiles] == [(1 << 64) - 1]


@pytest.mark.parametrize("lend", [False, True])
def test_several_buffers_are_pushed_in_their_order_with_their_tags(lend):
    buffers = [bytes([number]) * size for number, size in enumerate([0, 1, 149, 150, 151, 0, 301, 150, 20000, 3])]
    with penstock.pipeline("cpu", tile=150, ordered=True, lend=lend, tiles=8) as tiles:

        def feed(_):
            tiles.push_all(buffers, range(len(buffers)), timeout=300)
            tiles.push_all([], timeout=300)
            tiles.push_all([b"x", bytearray(b"y")])

        texts = []
        with tiles.threads(feed, [0]):
            for tile in tiles:
                if not texts or texts[-1][0] != tile.tag:
                    texts.append((tile.tag, b""))
                texts[-1] = (tile.tag, texts[-1][1] + bytes(tile))
                del tile
    assert texts == [*enumerate(buffers), (0, b"xy")]
    assert tiles.report.ok


@pytest.mark.parametrize("lend", [False, True])
def test_a_bad_one_of_several_buffers_is_refused(lend):
    with opened(lend=lend) as tiles:
        with pytest.raises(ValueError, match="There are 1 tags for 2 buffers"):
            tiles.push_all([b"a", b"b"], [1])
        with pytest.raises(TypeError, match="bytes-like"):
            tiles.push_all(b"ab")
        with pytest.raises(TypeError, match="sequence of buffers"):
            tiles.push_all(7)
        with pytest.raises(TypeError, match="bytes-like"):
            tiles.push_all([7])
        tiles.end()
        assert list(tiles) == []


def test_several_buffers_wait_as_long_as_they_may():
    with opened(tiles=2) as tiles:
        with pytest.raises(TimeoutError):
            tiles.push_all([b"12", b"34", b"56"], [1, 2, 3], timeout=0.01)
        tiles.end()
        assert sorted(tile.tag for tile in tiles) == [1, 2]
