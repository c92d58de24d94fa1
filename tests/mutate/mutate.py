# SPDX-License-Identifier: Apache-2.0
"""Breaks sources one place at a time and says which mutants no test kills.

Fails if a mutant survives without a reason in survivors.txt, or if a reason fits no survivor any more.
"""
import argparse
import collections
import hashlib
import os
import pathlib
import sys
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
    """Tries one mutant after the other, and keeps the figures."""

    def __init__(self, place, patience, quick):
        self.place, self.patience, self.quick = place, patience, quick
        self.usual = {}  # How long each round takes where nothing is broken.
        self.counts = collections.Counter()
        self.survivors, self.seconds = [], collections.Counter()

    def check_unbroken(self, chosen):
        """Builds and runs all that is to be tried, and learns how long it takes.

        Throws: SystemExit, if a test fails now.
        """
        for program, tests in sorted({one for mutant in chosen for one in rounds(self.place, mutant, self.quick)}):
            built = self.place.ninja(f"penstock_{program}_tests")
            if built.returncode != 0:
                raise SystemExit(f"mutate: what is to be mutated does not build:\n{built.stdout[-3000:]}")
            begun = time.monotonic()
            killer = self.place.run(program, tests, self.patience)
            if killer:
                raise SystemExit(f"mutate: a test fails though nothing was broken: {program}: {killer}")
            self.usual[program, tests] = time.monotonic() - begun

    def judge(self, mutant):
        """What became of it: killed and by what, not compiled, not judged, or survived."""
        tried = rounds(self.place, mutant, self.quick)
        if not tried:
            return "unjudged", "no test knows the memory model"
        self.place.put(mutant.path, mutant.mutated())
        built = set()
        for program, tests in tried:
            if program not in built:
                if self.place.ninja(f"penstock_{program}_tests").returncode != 0:
                    return "not compiled", ""
                built.add(program)
            patience = min(self.patience, 15 + 20 * self.usual[program, tests])
            killer = self.place.run(program, tests, patience)
            if killer:
                return "killed", killer
        return "survived", ""

    def run(self, mutant):
        begun = time.monotonic()
        try:
            verdict, by = self.judge(mutant)
        finally:
            self.place.put(mutant.path, mutant.text)
        self.counts[verdict] += 1
        took = time.monotonic() - begun
        print(f"{verdict:12} {mutant.name}  {by}  {took:.1f} s", flush=True)
        if verdict in ("survived", "unjudged"):
            self.survivors.append(mutant)
            if verdict == "survived":
                print(mutant.diff(), flush=True)


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
    place = yard.Yard(root, root / "build/mutate", os.cpu_count() or 1)
    place.prepare()
    trial = Trial(place, options.patience, options.quick)
    trial.check_unbroken(chosen)
    begun = time.monotonic()
    tried = set()
    for mutant in chosen:
        if options.seconds is not None and time.monotonic() - begun > options.seconds:
            break
        tried.add(mutant.path)
        trial.run(mutant)

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
