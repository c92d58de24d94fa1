#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""lines_differential.py PROGRAM KIND: what the job `lines` says of random files is what another reader says of them.

PENSTOCK_DIFFERENTIAL is how many files are tried (30), PENSTOCK_DIFFERENTIAL_SEED the seed of the first (1). A file about which the two
differ stays in the working folder, and its command and its seed are printed. Seeds take turns: a regular file, a pipe, and each with
`--strict`, which makes whatever was left out the exit code 1.

A kind is a function that makes a Case of a random generator. Kinds are in the modules differential_*.py beside this one.
"""
import importlib
import os
import pathlib
import random
import subprocess
import sys

import differential

program, kind = sys.argv[1:3]
for module in sorted(pathlib.Path(__file__).parent.glob("differential_*.py")):
    importlib.import_module(module.stem)
count = int(os.environ.get("PENSTOCK_DIFFERENTIAL", "30"))
first = int(os.environ.get("PENSTOCK_DIFFERENTIAL_SEED", "1"))

refused = 0
for seed in range(first, first + count):
    case = differential.kinds[kind](random.Random(f"{kind} {seed}"))
    path = pathlib.Path(f"{kind}-{seed}")
    path.write_bytes(case.data)
    by_pipe, strict = seed % 2 == 1, seed % 4 >= 2
    command = [program, "run", "--device", "cpu", "--input", "-" if by_pipe else str(path), "--tile", "64KiB", *case.options]
    command += ["--strict"] if strict else []
    run = subprocess.run(command, input=case.data if by_pipe else b"", capture_output=True, timeout=120)
    run.stdout, run.stderr = run.stdout.decode(), run.stderr.decode()
    wrong = case.differences(run, strict)
    if wrong:
        sys.exit(f"PENSTOCK_DIFFERENTIAL=1 PENSTOCK_DIFFERENTIAL_SEED={seed}, {' '.join(command)}:\n{wrong}\n{run.stderr}")
    refused += case.refused(run)
    path.unlink()
print(f"{count} files, from seed {first} on; {refused} of their lines were refused in words")
