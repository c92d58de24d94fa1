#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""operated_job.py PROGRAM: runs a job from a pipe as a service manager would, and asks it how it is. It ends with a signal
while its input is still open."""
import os
import queue
import re
import signal
import socket
import subprocess
import sys
import threading
import urllib.request

SECONDS = 60  # For each answer; a test that hangs says where.


def expect(holds, what):
    if not holds:
        sys.exit(f"FAILED: {what}")


def metrics_of(port):
    """Values by name and labels. Every line must be one of the format's."""
    with urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics", timeout=SECONDS) as answer:
        text = answer.read().decode()
    values, kinds = {}, {}
    for line in text.splitlines():
        if match := re.fullmatch(r"# HELP ([a-z_]+) .+", line):
            kinds[match[1]] = None
        elif match := re.fullmatch(r"# TYPE ([a-z_]+) (counter|gauge)", line):
            expect(match[1] in kinds and kinds[match[1]] is None, f"no help, or two kinds: {line}")
            kinds[match[1]] = match[2]
        else:
            match = re.fullmatch(r'([a-z_]+)((?:\{(?:[a-z_]+="[^"]*",?)+\})?) ([0-9.e+-]+)', line)
            expect(match and kinds.get(match[1]), f"no value of a known kind: {line}")
            expect(match[1].endswith("_total") == (kinds[match[1]] == "counter"), line)
            values[match[1] + match[2]] = float(match[3])
    return values


manager = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
manager.bind(f"\0penstock-operated-{os.getpid()}")


states = queue.Queue()
threading.Thread(target=lambda: [states.put(manager.recv(4096).decode()) for _ in iter(int, 1)], daemon=True).start()


def expect_state(wanted):
    while True:
        state = states.get(timeout=SECONDS)
        if re.fullmatch(wanted, state):
            return
        expect(state.startswith("STATUS="), f"the service manager was told {state}, not {wanted}")


environment = dict(os.environ, NOTIFY_SOCKET=f"@penstock-operated-{os.getpid()}")
command = [sys.argv[1], "run", "--device", "cpu", "--input", "-", "--stats-every", "0.1", "--metrics", "localhost:0"]
with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=False,
                      env=environment) as job:
    first = job.stderr.readline().decode()
    match = re.search(r": metrics at http://127.0.0.1:([0-9]+)/metrics$", first)
    expect(match, f"no port in: {first}")
    port = match[1]
    expect_state("READY=1")
    job.stdin.write(bytes(200_000))
    job.stdin.flush()
    while metrics_of(port)['penstock_tiles_completed_total{pipeline="main",outcome="done"}'] < 3:
        pass
    expect(metrics_of(port)['penstock_device_bytes_total{pipeline="main",device="cpu:0",direction="up"}'] >= 3 * 65536,
           "not all bytes are counted")
    with urllib.request.urlopen(f"http://127.0.0.1:{port}/health", timeout=SECONDS) as answer:
        expect(answer.read() == b"ok\n", "it is not well")
    expect_state(r"STATUS=[0-9.]+ [kMG]?B/s in, [0-9]+ tiles/s; .*; waits for the source")
    job.send_signal(signal.SIGHUP)
    expect_state("RELOADING=1")
    expect_state("READY=1")
    expect(metrics_of(port)['penstock_pipeline_running{pipeline="main"}'] == 1, "a hang-up ended it")
    job.send_signal(signal.SIGTERM)
    expect_state("STOPPING=1")
    job.wait(timeout=SECONDS)  # Its input is still open.
    out, err = (text.decode() for text in job.communicate(timeout=SECONDS))
expect(job.returncode == 130, f"it ended with {job.returncode}: {err}")
expect("opened anew" in err, f"nothing was opened anew: {err}")
expect(re.search(r": [0-9.]+ [kMG]?B/s in, [0-9]+ tiles/s; ", err), f"no rates in: {err}")
expect("Interrupted" in err, err)
