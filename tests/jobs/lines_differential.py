#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""lines_differential.py PROGRAM KIND: what the job `lines` says of random files is what another reader says of them.

PENSTOCK_DIFFERENTIAL is how many files are tried (30), PENSTOCK_DIFFERENTIAL_SEED the seed of the first (1). A file about which the two
differ stays in the working folder, and its command and its seed are printed.

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
    command = [program, "run", "--device", "cpu", "--input", str(path), "--tile", "64KiB", *case.options]
    run = subprocess.run(command, capture_output=True, text=True, timeout=120)
    wrong = case.differences(run)
    if wrong:
        sys.exit(f"PENSTOCK_DIFFERENTIAL=1 PENSTOCK_DIFFERENTIAL_SEED={seed}, {' '.join(command)}:\n{wrong}\n{run.stderr}")
    refused += case.refused(run)
    path.unlink()
print(f"{count} files, from seed {first} on; {refused} of their lines were refused in words")
