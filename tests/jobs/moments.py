#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""moments.py PROGRAM terminated|unread: ends a job at random moments, and adds up what became of its input.

terminated: `lines` reads a pipe, and gets SIGTERM after a random number of bytes. It counts every line that was whole in what it read, or
says how many tiles it cancelled; it counts none that was not.
unread: `radio` listens to the file `samples` and prints to a pipe that is closed after a random number of bytes. SIGPIPE ends it, or where
that is ignored it says so.

PENSTOCK_MOMENTS is how many moments are tried (3), PENSTOCK_MOMENTS_SEED the seed of the first (1).
"""
import fcntl
import os
import random
import re
import signal
import struct
import subprocess
import sys
import termios
import time

program, case = sys.argv[1:3]
listening = ["run", "--device", "cpu", "--input", "samples"]


def fail(seed, what):
    sys.exit(f"PENSTOCK_MOMENTS=1 PENSTOCK_MOMENTS_SEED={seed}: {what}")


def unread(pipe):
    return struct.unpack("i", fcntl.ioctl(pipe, termios.FIONREAD, b"0000"))[0]


def lines_of(draw, count):
    return [b"%d %d %s\n" % (draw.randrange(5), draw.randrange(1000), b"x" * draw.randrange(80)) for _ in range(count)]


def sums(lines):
    groups = {}
    for line in lines:
        key, number = line.split()[:2]
        count, total = groups.get(key, (0, 0))
        groups[key] = (count + 1, total + int(number))
    return groups


def terminated(seed):
    draw = random.Random(seed)
    lines = lines_of(draw, 20000)
    text = b"".join(lines)
    moment = draw.randrange(1, len(text))
    options = ["--device", "cpu", "--format", "words", "--key", "1", "--sum", "2", "--tile", "4KiB", "--input", "-"]
    job = subprocess.Popen([program, "run", *options], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    pipe = job.stdin.fileno()
    sent = 0
    while sent < moment:
        sent += os.write(pipe, text[sent : min(sent + 4096, moment)])
    while unread(pipe) and job.poll() is None:
        time.sleep(0.001)
    job.send_signal(signal.SIGTERM)
    out, said = job.stdout.read(), job.stderr.read().decode()
    code = job.wait()
    job.stdin.close()
    if code != 130:
        fail(seed, f"exit code {code}: {said}")
    got = {key: (int(count), int(total)) for key, count, total in (line.split() for line in out.splitlines())}
    whole = text[:moment].count(b"\n")
    answered = sum(count for count, _ in got.values())
    cancelled = int((re.search(r"(\d+) cancelled", said) or [0, 0])[1])
    if answered > whole or (answered < whole and not cancelled):
        fail(seed, f"{answered} of {whole} lines are answered, {cancelled} tiles cancelled: {said}")
    if answered == whole and got != sums(lines[:whole]):
        fail(seed, f"{got} is not {sums(lines[:whole])}")


def unread_output(seed, wanted):
    draw = random.Random(seed)
    moment = draw.randrange(len(wanted))
    # Python ignores SIGPIPE, and a process that it starts does so too, or not.
    dies = draw.random() < 0.5
    job = subprocess.Popen([program, *listening], stdout=subprocess.PIPE, stderr=subprocess.PIPE, restore_signals=dies)
    got = job.stdout.read(moment)
    job.stdout.close()
    said = job.stderr.read().decode()
    code = job.wait()
    # 0: all was in the pipe by then.
    if code not in ([0, -signal.SIGPIPE] if dies else [0, 1]):
        fail(seed, f"exit code {code}: {said}")
    if code == 1 and "Broken pipe" not in said:
        fail(seed, f"it does not say why: {said}")
    if got != wanted[:moment]:
        fail(seed, "what was read is not the beginning of its output")


def main():
    first = int(os.environ.get("PENSTOCK_MOMENTS_SEED", "1"))
    seeds = range(first, first + int(os.environ.get("PENSTOCK_MOMENTS", "3")))
    if case == "terminated":
        for seed in seeds:
            terminated(seed)
    else:
        wanted = subprocess.run([program, *listening], check=True, capture_output=True).stdout
        for seed in seeds:
            unread_output(seed, wanted)


main()
