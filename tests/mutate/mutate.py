# SPDX-License-Identifier: Apache-2.0
"""Breaks sources one place at a time and says which mutants no test kills.

Fails if a mutant survives without a reason in survivors.txt, or if a reason fits no survivor any more.
"""
import argparse
import collections
import concurrent.futures
import hashlib
import os
import pathlib
import sys
import threading
import time

import mutants
import survivors
import yard

FOLDERS = ["engine/core", "engine/plan", "engine/lane", "engine/flow", "records"]


def layer_of(path):
    return pathlib.PurePath(path).parent.name


def sources(root, named):
    """The files that are named, those in folders that are named, or all of the layers."""
    chosen = []
    for name in named or [f"src/{folder}" for folder in FOLDERS]:
        place = root / name
        if not place.exists():
            raise SystemExit(f"mutate: there is no {name}")
        chosen += sorted(place.glob("*.[hc]pp")) if place.is_dir() else [place]
    return [str(path.relative_to(root)) for path in chosen]


def sampled(all_of, every, seed):
    """One in so many: which ones hangs on the seed alone, and not on what else there is."""

    def chance(mutant):
        key = f"{seed}|{mutant.path}|{mutant.line_text}|{mutant.operator}|{mutant.number}"
        return int.from_bytes(hashlib.sha256(key.encode()).digest()[:8], "big")

    return [mutant for mutant in all_of if chance(mutant) % every == 0]


def rounds(place, mutant, quick):
    """Programs and the tests in them, what is quick and likely to kill first."""
    layer = layer_of(mutant.path)
    wanted = yard.PROGRAMS[layer] + yard.OF_UNIT.get(pathlib.PurePath(mutant.path).stem, [])
    known = [name for name in wanted if f"penstock_{name}_tests" in place.targets]
    if mutant.operator == "order":
        return [(name, "*") for name in yard.MODEL_PROGRAMS if f"penstock_{name}_tests" in place.targets]
    own = place.suites(mutant.path)
    first = [(known[0], ":".join(f"{suite}.*:*/{suite}.*" for suite in own))] if own else []
    plain = [(name, f"-{yard.MANY}") for name in known[:1]]
    few = [(name, ":".join(f"*/{parameter}" for parameter in yard.FEW)) for name in known if name != "core"]
    if quick:
        return first or plain + few[:1]
    return first + plain + few + [(name, "*") for name in known]


class Trial:
    """Tries mutants, one at a time in each place, and keeps the figures.

    Threads: run() any, each with a place of its own.
    """

    def __init__(self, patience, quick):
        self.patience, self.quick = patience, quick
        self.usual = {}  # How long each round takes where nothing is broken.
        self.counts = collections.Counter()
        self.survivors = []
        self.lock = threading.Lock()

    def needed(self, place, chosen):
        """Programs and the tests in them that these mutants are tried with."""
        return sorted({one for mutant in chosen for one in rounds(place, mutant, self.quick)})

    def check_unbroken(self, place, chosen):
        """Runs all that is to be tried, and learns how long it takes.

        Throws: SystemExit, if a test fails now.
        """
        for program, tests in self.needed(place, chosen):
            begun = time.monotonic()
            killer = place.run(program, tests, self.patience)
            if killer:
                raise SystemExit(f"mutate: a test fails though nothing was broken: {program}: {killer}")
            self.usual[program, tests] = time.monotonic() - begun

    def judge(self, place, mutant):
        """What became of it: killed and by what, not compiled, not judged, or survived."""
        tried = rounds(place, mutant, self.quick)
        if not tried:
            return "unjudged", "no test knows the memory model"
        place.put(mutant.path, mutant.mutated())
        built = set()
        for program, tests in tried:
            if program not in built:
                if place.ninja(f"penstock_{program}_tests").returncode != 0:
                    return "not compiled", ""
                built.add(program)
            patience = min(self.patience, 15 + 20 * self.usual[program, tests])
            killer = place.run(program, tests, patience)
            if killer:
                return "killed", killer
        return "survived", ""

    def run(self, place, mutant):
        begun = time.monotonic()
        try:
            verdict, by = self.judge(place, mutant)
        finally:
            place.put(mutant.path, mutant.text)
        took = time.monotonic() - begun
        with self.lock:
            self.counts[verdict] += 1
            print(f"{verdict:12} {mutant.name}  {by}  {took:.1f} s", flush=True)
            if verdict in ("survived", "unjudged"):
                self.survivors.append(mutant)
                if verdict == "survived":
                    print(mutant.diff(), flush=True)


def prepared(root, at_once, programs_of):
    """As many places as shall be worked in at once, built.

    Throws: SystemExit, if something does not build.
    """
    jobs = max(1, (os.cpu_count() or 1) // at_once)
    places = [yard.Yard(root, root / f"build/mutate{i or ''}", jobs) for i in range(at_once)]

    def prepare(place):
        place.prepare()
        built = place.ninja(*sorted({f"penstock_{program}_tests" for program, _ in programs_of(place)}))
        return built.stdout[-3000:] if built.returncode != 0 else ""

    with concurrent.futures.ThreadPoolExecutor(at_once) as threads:
        # The first one alone: what it leaves in the compiler's cache is there for the others.
        places[0].jobs = os.cpu_count() or 1
        faults = [prepare(places[0]), *threads.map(prepare, places[1:])]
        places[0].jobs = jobs
    for fault in filter(None, faults):
        raise SystemExit(f"mutate: what is to be mutated does not build:\n{fault}")
    return places


def try_all(trial, places, chosen, seconds):
    """Tries the mutants until the time is over. Returns the paths of those that were tried."""
    left, tried = collections.deque(chosen), set()
    begun = time.monotonic()

    def work(place):
        while seconds is None or time.monotonic() - begun < seconds:
            try:
                mutant = left.popleft()
            except IndexError:
                return
            tried.add(mutant.path)
            trial.run(place, mutant)

    with concurrent.futures.ThreadPoolExecutor(len(places)) as threads:
        for done in [threads.submit(work, place) for place in places]:
            done.result()
    return tried


def without_reason(all_of, reasons):
    unexplained = []
    for mutant in all_of:
        fitting = [reason for reason in reasons if reason.fits(mutant)]
        for reason in fitting:
            reason.used = True
        if not fitting:
            unexplained.append(mutant)
    return unexplained


def main():
    parser = argparse.ArgumentParser(prog="./dev mutate", description=__doc__)
    parser.add_argument("files", nargs="*", help="sources or folders; by default core, plan, lane, flow and records")
    parser.add_argument("--every", type=int, default=1, help="only one mutant in so many")
    parser.add_argument("--seed", default="", help="which ones; such as the hash of a commit")
    parser.add_argument("--operator", action="append", help="only these: " + ", ".join(mutants.OPERATORS))
    parser.add_argument("--quick", action="store_true", help="only with the tests of the source's name, or a part of its layer's")
    parser.add_argument("--list", action="store_true", help="show the mutants and build nothing")
    parser.add_argument("--patience", type=float, default=300, help="seconds until a test program counts as hung")
    parser.add_argument("--seconds", type=float, help="try no further mutant after so long")
    parser.add_argument("--at-once", type=int, default=1, help="so many mutants beside each other, each in a build of its own")
    parser.add_argument("--reasons", help="a file other than tests/mutate/survivors.txt")
    options = parser.parse_args()

    root = pathlib.Path(__file__).resolve().parents[2]
    chosen = []
    for path in sources(root, options.files):
        chosen += mutants.mutants_of(path, (root / path).read_text())
    if options.operator:
        chosen = [mutant for mutant in chosen if mutant.operator in options.operator]
    complete = options.every == 1 and not options.operator and options.seconds is None
    chosen = sampled(chosen, options.every, options.seed)
    if options.list:
        for mutant in chosen:
            print(mutant.name, mutant.diff(), sep="\n")
        return 0

    reasons = survivors.read(options.reasons or root / "tests/mutate/survivors.txt")
    trial = Trial(options.patience, options.quick)
    places = prepared(root, max(1, options.at_once), lambda place: trial.needed(place, chosen))
    trial.check_unbroken(places[0], chosen)
    tried = try_all(trial, places, chosen, options.seconds)

    unexplained = without_reason(trial.survivors, reasons)
    idle = [reason for reason in reasons if complete and reason.path in tried and not reason.used]
    print("\n" + ", ".join(f"{count} {verdict}" for verdict, count in sorted(trial.counts.items())))
    for mutant in unexplained:
        print(f"survives without a reason: {mutant.name}\n{mutant.diff()}")
    for reason in idle:
        print(f"a reason that fits no survivor: {reason.path} | {reason.operator} | {reason.line}")
    return 1 if unexplained or idle else 0


if __name__ == "__main__":
    sys.exit(main())
