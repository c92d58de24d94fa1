# SPDX-License-Identifier: Apache-2.0
"""Tiles of files and of threads, as a loop takes them."""
import copy
import gc
import os
import pickle
import signal
import threading
import warnings
import weakref

import numpy
import pytest

import penstock


@pytest.fixture
def numbers(tmp_path):
    path = tmp_path / "numbers"
    numpy.arange(100_000, dtype=numpy.int32).tofile(path)
    return path


def opened(*paths, **options):
    return penstock.files(*paths).open("cpu", **{"tile": "64KiB", "tiles": 8, **options})


def test_tiles_have_the_bytes_of_their_file_in_its_order(numbers):
    with opened(numbers, tile=(4096, numpy.int32), ordered=True) as tiles:
        at = 0
        for index, tile in enumerate(tiles):
            assert (tile.ok, tile.problem, tile.failed_at) == (True, None, None)
            assert (tile.name, tile.index, tile.file, tile.offset) == (str(numbers), index, 0, 4 * at)
            found = numpy.asarray(tile)
            assert found.dtype == numpy.int32 and (found == numpy.arange(at, at + len(found))).all()
            at += len(found)
            del found
        assert at == 100_000
        assert tiles.report.ok and tiles.report.as_dict()["tiles"] == 25


def test_tiles_have_whole_lines(tmp_path):
    path = tmp_path / "lines"
    path.write_text("".join(f"line {i}\n" for i in range(5000)))
    texts = []
    with penstock.files(path, lines=True).open("cpu", tile=4096, ordered=True) as tiles:
        for tile in tiles:
            texts.append(bytes(tile))
    assert all(text.endswith(b"\n") for text in texts) and len(texts) > 10
    assert b"".join(texts) == path.read_bytes()


def test_an_output_of_its_own_is_a_copy(numbers):
    with opened(numbers, tile=(4096, numpy.int32), out=((1024, 4), numpy.int32), ordered=True) as tiles:
        for tile in tiles:
            found = tile.array
            assert found.shape == (tile.nbytes // 16, 4)
            assert found.flat[0] == tile.index * 4096
            del found


def test_a_file_that_is_gone_fails_one_tile_and_says_which(numbers, tmp_path):
    with opened(tmp_path / "gone", numbers) as tiles:
        failed = []
        done = 0
        for tile in tiles:
            if tile.ok:
                done += tile.nbytes
            else:
                failed.append((tile.name, tile.failed_at, tile.problem, tile.nbytes, len(bytes(tile))))
        assert done == 400_000
        [(name, failed_at, problem, nbytes, length)] = failed
        assert name == str(tmp_path / "gone") and failed_at == "source" and "No such file" in problem
        assert nbytes == length == 0
        assert not tiles.report.ok


def test_a_tile_is_home_at_its_last_reference(numbers):
    with opened(numbers, tile=4096, tiles=2, lanes=1, producers=1) as tiles:
        assert sum(tile.nbytes for tile in tiles) == 400_000
        assert tiles._core.held == 0


def test_views_keep_a_tile(numbers):
    with opened(numbers) as tiles:
        tile = tiles.next()
        view = numpy.asarray(tile)
        with pytest.raises(BufferError, match="still show its bytes"):
            tile.release()
        del tile
        assert tiles._core.held == 1
        assert view.base is not None and len(view) == 65536
        del view
        assert tiles._core.held == 0


def test_a_tile_that_is_home_has_no_bytes(numbers):
    with opened(numbers) as tiles:
        with tiles.next() as tile:
            assert not tile.released
        assert tile.released
        for use in (lambda: memoryview(tile), lambda: tile.nbytes, lambda: tile.array, lambda: tile.__dlpack__()):
            with pytest.raises((ValueError, BufferError)):
                use()
        tile.release()


def test_a_kept_tile_outlives_its_pipeline(numbers):
    with opened(numbers, tile=(16384, numpy.int32), ordered=True) as tiles:
        tile = tiles.next()
    assert numpy.asarray(tile)[-1] == 16383
    assert tiles._core.held == 1
    del tile


def test_an_exception_in_the_loop_sends_all_tiles_home(numbers):
    with pytest.raises(ZeroDivisionError):
        with opened(numbers, tile=4096) as tiles:
            for tile in tiles:
                1 // (3 - tile.index if tile.index < 3 else 0)
    assert tiles.report.as_dict()["stopped"]
    del tile
    assert tiles._core.held == 0


def test_somebody_who_keeps_all_tiles_is_told(numbers):
    with opened(numbers, tile=4096, tiles=8) as tiles:
        kept = [tiles.next() for _ in range(8)]
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            with pytest.raises(RuntimeWarning, match="All 8 tiles of the pipeline are kept"):
                tiles.next()
        del kept


def test_several_threads_may_iterate(numbers):
    sums = []

    def take():
        sums.extend(int(numpy.asarray(tile).astype(numpy.int64).sum()) for tile in tiles)

    with opened(numbers, tile=(512, numpy.int32)) as tiles:
        threads = [threading.Thread(target=take) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert len(sums) == 196 and sum(sums) == 100_000 * 99_999 // 2


def test_reports_have_a_verdict_if_they_are_asked(numbers):
    with opened(numbers, verdict=True) as tiles:
        for _ in tiles:
            pass
        assert tiles.report.verdict["bound"]
        assert "tiles done" in str(tiles.report)
    with opened(numbers) as tiles:
        assert tiles.report.verdict is None


def test_what_is_impossible_is_refused_with_what_helps(numbers):
    for options, words in [
        ({"lanes": "many"}, "lanes 'many'"),
        ({"sorted": True}, "no option 'sorted'"),
        ({"tile": 0}, "no bytes"),
        ({"tile": "1XB"}, "is no size"),
        ({"tile": (16, ">i4")}, "own order of bytes"),
        ({"device": "gpu9"}, "gpu9"),
    ]:
        with pytest.raises(ValueError, match=words):
            penstock.files(numbers).open(**{"device": "cpu", "tile": 4096, **options})
    with pytest.raises(penstock.Error):
        penstock.pipeline("gpu9")
    with pytest.raises(ValueError, match="no files"):
        penstock.files()


def test_a_name_that_is_no_text_loses_no_report(tmp_path):
    path = os.fsencode(tmp_path) + b"/\xff\xfe.bin"
    with penstock.files(path).open("cpu") as tiles:
        (tile,) = list(tiles)
        assert not tile.ok and "No such file" in tile.problem
        del tile
    assert not tiles.report.ok and "No such file" in str(tiles.report)
    with pytest.raises(penstock.Error, match="ring"):
        penstock.writer(b"\xff\xfe")
    with pytest.raises(ValueError, match="null byte"):
        penstock.files(b"a\0b").open("cpu")


def test_bytes_that_are_no_whole_elements_are_no_array(tmp_path):
    (tmp_path / "odd").write_bytes(b"x" * 1001)
    files = penstock.files(tmp_path / "odd")
    with files.open("cpu", tile=((256, 64), "f")) as tiles:
        (tile,) = list(tiles)
        with pytest.raises(BufferError, match="no whole elements of 256"):
            numpy.asarray(tile)
        del tile
    with files.open("cpu", tile=((256, 64), "f")) as tiles:
        (batch,) = list(tiles.batches(4))
        with pytest.raises(BufferError, match="no whole elements of 256"):
            numpy.asarray(batch)
        del batch


def test_a_handler_of_a_signal_may_close(tmp_path):
    """Seen to hang with a lock that its own thread cannot take again."""
    (tmp_path / "grows").write_bytes(b"x" * 100)
    tiles = penstock.files(tmp_path / "grows", follow=True).open("cpu", tile="4KiB")
    before = signal.signal(signal.SIGALRM, lambda *_: tiles.close())
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.3)
        assert tiles.report is tiles.close()
    finally:
        signal.signal(signal.SIGALRM, before)


def test_tiles_can_be_referred_to_weakly_and_not_copied():
    with penstock.pipeline("cpu", tile=4096, tiles=4) as tiles:
        tiles.push(b"abc")
        tiles.push(b"defg")
        tiles.end()
        tile = tiles.next()
        gone = weakref.ref(tile)
        assert gone() is tile and repr(tile) == "<penstock.Tile 0: 3 bytes>"
        [batch] = tiles.batches(1)
        for one in (tile, batch):
            for copies in (copy.copy, copy.deepcopy, pickle.dumps):
                with pytest.raises(TypeError, match="copy its array"):
                    copies(one)
        assert weakref.ref(batch)() is batch
        tile.release()
        assert repr(tile) == "<penstock.Tile 0, home again or submitted>"
        del tile, one
        gc.collect()
        assert gone() is None
