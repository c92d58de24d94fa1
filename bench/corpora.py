#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Jobs on inputs that nobody chose: the worst of a hundred beside the median.

Each seed makes an input of each job from wide distributions, as corpora.md has them. A job runs several times on it, and its best
rate counts, so that the worst is one of inputs and not of moments. Exit code: 0; 1 if a run failed, or if the worst of a job is
below --expect of its median; 2 for bad options.
"""
import argparse
import json
import os
import pathlib
import statistics
import struct
import subprocess
import sys
import tempfile

import numpy

DAYS = 30


def some_sizes(rng, total, typical, spread):
    """Sizes of a lognormal distribution, `total` in all."""
    sizes = []
    while sum(sizes) < total:
        sizes += [int(size) for size in rng.lognormal(numpy.log(typical), spread, 1000).clip(0, total)]
        if len(sizes) > 30000:
            break
    while len(sizes) > 1 and sum(sizes[:-1]) >= total:
        sizes.pop()
    return sizes


def some_keys(rng, count, distinct):
    """Numbers below `distinct`: each as often as the others, or by Zipf's law."""
    if rng.random() < 0.5:
        return rng.integers(0, distinct, count), "uniform"
    power = 1.05 + rng.random()
    return (rng.zipf(power, count) - 1) % distinct, f"zipf {power:.2f}"


def files_to_hash(rng, folder, total):
    typical, spread = 10 ** rng.uniform(2, 8), rng.uniform(0, 2)
    sizes = some_sizes(rng, total, typical, spread)
    block = rng.bytes(max(sizes))
    for number, size in enumerate(sizes):
        into = folder / str(number % 50)
        into.mkdir(exist_ok=True)
        (into / str(number)).write_bytes(block[:size])
    return ["hash", str(folder)], f"{len(sizes)} files, typically {typical:.0f} bytes, sigma {spread:.1f}"


def line_maker(rng, form):
    """A function of key, number and filler, and the options that name the fields."""
    if form == "access-log":
        return lambda key, number, day, text: (
            f'10.0.{key % 250}.{key % 199} - - [{1 + day:02}/May/2015:10:{key % 60:02}:03 +0000] "GET /{text} HTTP/1.1" {key} {number}'
        ), []
    if form == "json":
        return lambda key, number, day, text: f'{{"text": "{text}", "key": {key}, "bytes": {number}}}', [
            "--key-name", "key", "--sum-name", "bytes"]
    between = {"csv": ",", "tsv": "\t", "words": " "}[form]
    return lambda key, number, day, text: between.join((str(key), str(number), text)), ["--key", "1", "--sum", "2"]


def some_patterns(rng, texts):
    count = int(10 ** rng.uniform(0, 3))
    how = rng.choice(["random", "begin alike", "end alike", "words of the text"])
    if how == "words of the text":
        wanted = [text[:12] for text in rng.choice(texts, count)]
    else:
        words = ["".join(chr(97 + letter) for letter in rng.integers(0, 26, 8)) for _ in range(count)]
        wanted = [{"random": word, "begin alike": "/p/common/" + word, "end alike": word + "/index.html"}[how] for word in words]
    return sorted({word for word in wanted if word}), how


def log_of_lines(rng, folder, total):
    form = str(rng.choice(["access-log", "csv", "tsv", "words", "json"]))
    typical, spread, distinct = 10 ** rng.uniform(0.5, 3), rng.uniform(0, 1), int(10 ** rng.uniform(0, 5))
    make, options = line_maker(rng, form)
    letters = numpy.frombuffer(b"abcdefghijklmnopqrstuvwxyz/._-0123456789", numpy.uint8)
    pool = letters[rng.integers(0, len(letters), 1 << 20)].tobytes().decode()
    count = 20000
    keys, skew = some_keys(rng, count, min(distinct, 999) if form == "access-log" else distinct)
    lengths = rng.lognormal(numpy.log(typical), spread, count).clip(1, 3000).astype(int)
    places, numbers, days = rng.integers(0, len(pool) - 3001, count), rng.integers(0, 10 ** 6, count), rng.integers(0, DAYS, count)
    texts = [pool[place : place + length] for place, length in zip(places, lengths)]
    if form == "access-log":
        keys = 100 + keys % 900
    lines = [make(*each) for each in zip(keys.tolist(), numbers.tolist(), days.tolist(), texts)]
    block = "\n".join(lines).encode() + b"\n"
    said = f"{form}, {len(block) // count} bytes a line, {distinct} keys, {skew}"
    with open(folder / "log", "wb") as log:
        for _ in range(max(1, round(total / len(block)))):
            log.write(block)
    options += ["--format", form, "--groups", str(min(4095, max(2, distinct)))]
    if rng.random() < 0.5:
        wanted, how = some_patterns(rng, texts)
        (folder / "patterns").write_text("\n".join(wanted) + "\n")
        options += ["--patterns", str(folder / "patterns")]
        said += f", {len(wanted)} patterns ({how})"
    return ["lines", "run", "--input", str(folder / "log"), *options], said


def some_packet(rng, size, flow):
    """A packet of Ethernet, IPv4 and UDP or TCP, as pcap has it; its sums are not made."""
    tcp = flow % 3 == 0
    head = 54 if tcp else 42
    size = max(size, head)
    addresses = struct.pack(">II", 0x0A000000 + flow % 65521, 0xC0A80000 + flow // 7 % 65521)
    ip = struct.pack(">BBHHHBBH", 0x45, 0, size - 14, 0, 0, 64, 6 if tcp else 17, 0) + addresses
    ports = struct.pack(">HH", 1024 + flow % 60000, 53 if flow % 2 else 443)
    rest = ports + (struct.pack(">IIHHHH", 1, 1, 0x5010, 1000, 0, 0) if tcp else struct.pack(">HH", size - 34, 0))
    frame = b"\x02" * 12 + b"\x08\x00" + ip + rest
    return struct.pack("<IIII", 1, 0, size, size) + frame + bytes(size - len(frame))


def capture(rng, folder, total):
    flows = int(10 ** rng.uniform(0, 4.7))
    small, large, share = int(rng.integers(42, 200)), int(rng.integers(200, 9000 if rng.random() < 0.2 else 1500)), rng.random()
    count = 20000
    keys, skew = some_keys(rng, count, flows)
    sizes = numpy.where(rng.random(count) < share, small, rng.integers(small, large, count))
    block = b"".join(some_packet(rng, int(size), int(key)) for size, key in zip(sizes, keys))
    with open(folder / "capture", "wb") as file:
        file.write(struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 262144, 1))
        for _ in range(max(1, round(total / len(block)))):
            file.write(block)
    said = f"{len(block) // count} bytes a packet ({share:.0%} of {small}, others to {large}), {flows} flows, {skew}"
    return ["packets", "run", "--input", str(folder / "capture")], said


def samples(rng, folder, total):
    noise, bursts = rng.uniform(1, 40), 10 ** rng.uniform(-5, -2.5)
    count = 1 << 22
    block = rng.normal(127.5, noise, count)
    for begin in rng.integers(0, count - 480, int(count * bursts)):
        bits = rng.integers(0, 2, 112).repeat(2)
        pulses = numpy.concatenate(([1, 0, 1, 0, 0, 0, 0, 1, 0, 1, 0, 0, 0, 0, 0, 0], bits ^ numpy.tile([0, 1], 112)))
        block[begin : begin + 480] += (pulses * rng.uniform(10, 100)).repeat(2)
    with open(folder / "samples", "wb") as file:
        for _ in range(max(1, round(total / count))):
            file.write(block.clip(0, 255).astype(numpy.uint8).tobytes())
    return ["radio", "run", "--input", str(folder / "samples")], f"noise {noise:.0f}, {bursts:.0e} bursts a sample"


JOBS = {"hash": files_to_hash, "lines": log_of_lines, "packets": capture, "radio": samples}


def rate_of(programs, words, device):
    """GB/s of one run."""
    program = programs / ("penstock" if words[0] == "hash" else words[0])
    words = words if words[0] == "hash" else words[1:]
    ended = subprocess.run([program, *words, "--device", device, "--json"], capture_output=True, check=False)
    if ended.returncode not in (0, 1) or not ended.stdout:
        raise RuntimeError(f"{program} {' '.join(words)}: code {ended.returncode}: {ended.stderr.decode(errors='replace')[:500]}")
    if words[0] == "hash":
        summary = json.loads(ended.stdout.splitlines()[-1])["summary"]
        return summary["bytes"] / summary["wall_s"] / 1e9
    found = json.loads(ended.stdout)
    return found["bytes_in"] / found["wall_s"] / 1e9


def measure(job, seed, options):
    rng = numpy.random.default_rng([seed, *job.encode()])
    with tempfile.TemporaryDirectory(dir=options.folder) as scratch:
        words, said = JOBS[job](rng, pathlib.Path(scratch), options.mib << 20)
        rates = [rate_of(options.programs, words, options.device) for _ in range(options.runs)]
    return {"job": job, "seed": seed, "gb_per_s": max(rates), "input": said}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("programs", type=pathlib.Path, help="folder of penstock and the jobs")
    parser.add_argument("--device", default="auto")
    parser.add_argument("--jobs", default=",".join(JOBS))
    parser.add_argument("--seeds", type=int, default=100)
    parser.add_argument("--first", type=int, default=1, help="the first seed")
    parser.add_argument("--runs", type=int, default=3, help="runs on each input, the best of which counts")
    parser.add_argument("--mib", type=int, default=64, help="size of an input")
    parser.add_argument("--folder", default="/dev/shm" if os.path.isdir("/dev/shm") else None)
    parser.add_argument("--expect", type=float, default=0, help="least worst rate, as a part of the median")
    parser.add_argument("--json", action="store_true", help="a line for each input")
    options = parser.parse_args()
    if unknown := set(options.jobs.split(",")) - set(JOBS):
        parser.error(f"there is no job {', '.join(sorted(unknown))}; there are {', '.join(JOBS)}")
    if min(options.seeds, options.runs, options.mib) < 1:
        parser.error("--seeds, --runs and --mib are 1 or more")
    code = 0
    if not options.json:
        print(f"{'job':8} {'median':>7} {'worst':>7}  GB/s of {options.seeds} inputs of {options.mib} MiB on {options.device}")
    for job in options.jobs.split(","):
        found = []
        for seed in range(options.first, options.first + options.seeds):
            try:
                found.append(measure(job, seed, options))
            except RuntimeError as problem:
                print(f"corpora: seed {seed}: {problem}", file=sys.stderr)
                code = 1
                continue
            if options.json:
                print(json.dumps(found[-1]), flush=True)
        if not found or options.json:
            continue
        median = statistics.median(one["gb_per_s"] for one in found)
        found.sort(key=lambda one: one["gb_per_s"])
        worst = found[0]
        print(f"{job:8} {median:7.2f} {worst['gb_per_s']:7.2f}  {worst['gb_per_s'] / median:.2f} of it: "
              f"seed {worst['seed']}, {worst['input']}", flush=True)
        if worst["gb_per_s"] < options.expect * median:
            code = 1
    return code


if __name__ == "__main__":
    sys.exit(main())
