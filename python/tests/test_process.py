# SPDX-License-Identifier: Apache-2.0
"""What a pipeline does where its process is no ordinary one: each case is a process of its own."""
import os
import signal
import subprocess
import sys
import textwrap

import pytest

PRELUDE = """
import os, signal, sys, threading
import penstock
def opened(**options):
    return penstock.pipeline("cpu", **{"tile": 4096, "tiles": 8, **options})
"""


def run(text, timeout=300):
    return subprocess.run(
        [sys.executable, "-c", PRELUDE + textwrap.dedent(text)], capture_output=True, text=True, timeout=timeout
    )


def test_an_interpreter_may_end_with_tiles_kept_and_a_pipeline_open():
    ended = run(
        """
        tiles = opened()
        for i in range(4): tiles.push(bytes(100))
        kept = [tiles.next(), tiles.borrow()]
        view = memoryview(kept[0])
        tiles.push(b"x")
        print("kept", tiles._core.held)
        """
    )
    assert (ended.returncode, ended.stdout, ended.stderr) == (0, "kept 2\n", "")


def test_an_interpreter_may_end_while_a_thread_waits_for_a_tile():
    ended = run(
        """
        tiles = opened()
        waits = threading.Event()
        def wait():
            waits.set()
            tiles.next()
        threading.Thread(target=wait, daemon=True).start()
        waits.wait()
        """
    )
    assert (ended.returncode, ended.stderr) == (0, "")


def test_a_pipeline_of_before_a_fork_says_so():
    ended = run(
        """
        tiles = opened()
        kept = tiles.borrow()
        child = os.fork()
        if child == 0:
            words = []
            for use in (lambda: tiles.push(b"x"), lambda: tiles.next(), tiles.close, lambda: memoryview(kept)):
                try:
                    use()
                except Exception as problem:
                    words.append(type(problem).__name__)
            sys.stdout.write(" ".join(words))
            sys.stdout.flush()
            os._exit(0)
        assert os.waitpid(child, 0)[1] == 0
        del kept
        tiles.push(b"still well")
        print(bytes(tiles.next()).decode())
        """
    )
    assert (ended.stdout, ended.stderr) == ("RuntimeError RuntimeError RuntimeError RuntimeErrorstill well\n", "")


def test_ctrl_c_ends_a_loop_that_waits():
    process = subprocess.Popen(
        [
            sys.executable,
            "-c",
            PRELUDE
            + textwrap.dedent(
                """
                with opened() as tiles:
                    print("waits", flush=True)
                    for tile in tiles: pass
                """
            ),
        ],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stdout.readline() == "waits\n"
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=300)
    assert errors.endswith("KeyboardInterrupt\n")
    assert process.returncode in (-signal.SIGINT, 130)


def test_ctrl_c_ends_a_borrow_that_waits():
    ended = run(
        """
        tiles = opened(tiles=4, lanes=1, slots=1)
        kept = [tiles.borrow() for _ in range(4)]
        signal.signal(signal.SIGALRM, signal.default_int_handler)
        try:
            signal.setitimer(signal.ITIMER_REAL, 0.05)
            tiles.borrow()
        except KeyboardInterrupt:
            print("ended")
        """
    )
    assert (ended.returncode, ended.stdout, ended.stderr) == (0, "ended\n", "")


def test_ctrl_c_ends_a_wait_for_the_report(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    ended = run(
        f"""
        writer = os.open({str(tmp_path / "pipe")!r}, os.O_RDWR)
        tiles = penstock.files({str(tmp_path / "pipe")!r}).open("cpu", tile=4096, tiles=8)
        signal.signal(signal.SIGALRM, signal.default_int_handler)
        try:
            signal.setitimer(signal.ITIMER_REAL, 0.05)
            tiles.report
        except KeyboardInterrupt:
            print("ended", tiles.close().as_dict()["stopped"])
        """
    )
    assert (ended.returncode, ended.stdout, ended.stderr) == (0, "ended True\n", "")


def test_a_second_interpreter_is_refused_with_a_sentence():
    ended = run(
        """
        try:
            import _xxsubinterpreters as interpreters
        except ImportError:
            import _interpreters as interpreters
        other = interpreters.create()
        found = interpreters.run_string(other, "import sys; sys.path[:] = %r\\nimport penstock" % sys.path)
        if found is not None:
            print(found.formatted)
        """
    )
    assert "works in the main interpreter only" in ended.stdout + ended.stderr


def test_tiles_that_are_made_and_dropped_leave_no_memory():
    """40,000 tiles take less than 4 MiB; an object that were left of each would take 10."""
    pytest.importorskip("numpy")
    ended = run(
        """
        import numpy
        def resident():
            with open("/proc/self/statm") as file:
                return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
        def pass_through(count):
            for i in range(count):
                tiles.push(b"x" * 100)
                tile = tiles.next()
                numpy.asarray(tile), memoryview(tile), tile.problem, tile.name
        tiles = opened()
        pass_through(20_000)
        before = resident()
        pass_through(40_000)
        print(resident() - before < 4 << 20)
        """,
        timeout=600,
    )
    assert (ended.returncode, ended.stdout, ended.stderr) == (0, "True\n", "")


def test_importing_opens_no_device_and_starts_no_thread():
    ended = run("print(len(os.listdir('/proc/self/task')))")
    assert ended.stdout == "1\n"


def test_a_thread_that_waits_does_not_keep_the_process(tmp_path):
    ended = subprocess.run([sys.executable, "-c", """
import threading, penstock
tiles = penstock.pipeline("cpu", tile=64, tiles=4)
kept = [tiles.borrow() for _ in range(4)]
begun = threading.Event()
def wait():
    begun.set()
    try:
        tiles.borrow()
    except penstock.Ended:
        print("told")
threading.Thread(target=wait).start()
begun.wait()
"""], capture_output=True, text=True, timeout=120)
    assert (ended.returncode, ended.stdout) == (0, "told\n"), ended.stderr
