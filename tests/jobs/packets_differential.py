#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""packets_differential.py PROGRAM KIND: what the job `packets` says of random captures is what a plain reader says of them.

KIND is pcap or pcapng. PENSTOCK_DIFFERENTIAL is how many captures are tried (12), PENSTOCK_DIFFERENTIAL_SEED the seed of the first (1). Each is
read as a file in pieces of several sizes, as a pipe, and compressed. A capture about which the two differ stays in the working folder. Where
tcpdump and capinfos are installed, they have a say in what the plain reader reads.
"""
import gzip
import os
import pathlib
import re
import shutil
import subprocess
import sys

import capture_reader
import random_capture

program, kind = sys.argv[1:3]
# Each capture is read in the first two of them, and in one of the others.
WAYS = ["--input capture --tile 4KiB --producers 3", "--input - --tile 4KiB"]
OTHER_WAYS = ["--input capture --tile 16KiB", "--input capture", "--input capture.gz", "--input -", "--input capture.gz --tile 4KiB"]


def another_program(contents):
    """What libpcap has of a pcap, or capinfos of a pcapng, unless it is what the plain reader has, or the program is not here.

    By the looks of their first packets capinfos takes some captures of pcap with the usual first bytes for variants, as that of RedHat 6.1; libpcap
    does not.
    """
    command = ["tcpdump", "--count", "-r", "capture"] if kind == "pcap" else ["capinfos", "-M", "-c", "-d", "capture"]
    if not shutil.which(command[0]):
        return ""
    run = subprocess.run(command, capture_output=True, text=True)
    if kind == "pcap":
        right = run.stdout.splitlines()[-1:] == [f"{contents.packets} packet{'' if contents.packets == 1 else 's'}"]
    else:
        # Some versions print a unit behind the number.
        found = dict(re.findall("^(Number of packets|Data size): +([0-9]+)", run.stdout, re.MULTILINE))
        right = found == {"Number of packets": str(contents.packets), "Data size": str(contents.octets)}
    return "" if run.returncode == 0 and right else f"{command[0]} has {run.stdout}, {run.stderr}"


def counted(err, words):
    """How many units `Left out:` has for reasons with such words."""
    lines = "; ".join(re.findall("^Left out: (.*)$", err, re.MULTILINE))
    return sum(int(entry.split(" ")[0]) for entry in lines.split("; ") if re.search(words, entry))


def differences(run, way, contents):
    """What is wrong, or an empty text."""
    head, _, table = run.stdout.partition("\nprotocol ")
    totals = dict(line.rsplit(" ", 1) for line in head.splitlines())
    rows = sorted(table.splitlines()[1:])
    unknown = counted(run.stderr, "in which IP is not looked for")
    code = 1 if contents.damage is not None or ("--strict" in way and unknown) else 0
    if run.returncode != code:
        return f"exit code {run.returncode}, expected {code}"
    if contents.damage not in (None, "cut"):
        if f"That is at byte {contents.damage}:" not in run.stderr:
            return f"not damaged at byte {contents.damage}"
        if "--input capture " in way + " ":
            # Behind the damage of a file more may be found than the reader looks for.
            few = [name for name, least in contents.totals().items() if name != "other" and int(totals[name]) < least]
            return f"{few}: {totals}, at least {contents.totals()}" if few else ""
    if contents.damage == "cut" and not re.search("ends within a record|ends at byte|not finished where the input ends", run.stderr):
        return "nothing says that it is cut"
    if unknown != contents.unknown:
        return f"{unknown} packets of unknown links are said, there are {contents.unknown}"
    if counted(run.stderr, "too long|lost"):
        return "records are left out"
    wrong = [f"{name}: {totals.get(name)}, expected {value}" for name, value in contents.totals().items() if totals.get(name) != str(value)]
    return "\n".join(wrong + [f"not in both: {row}" for row in {*rows} ^ {*contents.rows()}][:20])


first = int(os.environ.get("PENSTOCK_DIFFERENTIAL_SEED", "1"))
count = int(os.environ.get("PENSTOCK_DIFFERENTIAL", "12"))
damaged = 0
for seed in range(first, first + count):
    data = random_capture.make(kind, seed)
    pathlib.Path("capture").write_bytes(data)
    with gzip.open("capture.gz", "wb", compresslevel=1) as out:
        out.write(data)
    contents = capture_reader.read(data)
    damaged += contents.damage is not None
    wrong = another_program(contents) if contents.damage is None else ""
    if wrong:
        sys.exit(f"seed {seed}: {wrong}, the plain reader {contents.totals()}")
    for number, way in enumerate([*WAYS, OTHER_WAYS[seed % len(OTHER_WAYS)]]):
        way += " --strict" if (seed + number) % 3 == 0 else ""
        run = subprocess.run([program, "run", "--device", "cpu", "--top", "0", *way.split(" ")], input=data, capture_output=True, timeout=120)
        run.stdout, run.stderr = run.stdout.decode(), run.stderr.decode()
        wrong = differences(run, way, contents)
        if wrong:
            sys.exit(f"PENSTOCK_DIFFERENTIAL=1 PENSTOCK_DIFFERENTIAL_SEED={seed}, {way}:\n{wrong}\n{run.stderr}")
print(f"{count} captures, from seed {first} on; {damaged} of them are damaged")
