#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# pytorch_program.sh FOLDER CASE: the training loops of examples/pytorch, which is FOLDER, without PyTorch or with it.
set -euo pipefail
folder=$1
fail() {
  echo "FAILED: $1" >&2
  exit 1
}
case $2 in
  CopiesOneBatchAheadInAStreamOfItsOwn)
    # A stand-in for PyTorch notes what is asked of it.
    python3 -B - "$folder" "$(dirname "$0")" << 'PYTHON'
import sys
folder, stand_in = sys.argv[1:]
sys.path[:0] = [folder, stand_in]
import noted_torch
sys.modules["torch"] = noted_torch
import train_pinned

train_pinned.STEPS = 3
for batch in train_pinned.on_gpu_one_ahead(train_pinned.batches()):
    noted_torch.notes.append(f"compute on {batch.name}")
expected = """pin a
pin b
pin c
pin d
copy a in copies without waiting
copy b in copies without waiting
compute waits for copy of a
keep a for compute
compute on a
copy c in copies without waiting
compute waits for copy of b
keep b for compute
compute on b
compute waits for copy of c
keep c for compute
compute on c""".split("\n")
assert noted_torch.notes == expected, "\n".join(noted_torch.notes)
PYTHON
    ;;
  StandsInTheDocsAsItIs)
    python3 -B - "$folder" "$(dirname "$0")/../../docs/commands/watch.md" << 'PYTHON'
import re, sys
blocks = re.findall("```python\n(.*?)```", open(sys.argv[2]).read(), re.S)
assert blocks and all(block in open(sys.argv[1] + "/train_pinned.py").read() for block in blocks), blocks
PYTHON
    ;;
  ComesToTheSameLoss)
    losses=() said=$(mktemp)
    trap 'rm -f "$said"' EXIT
    for name in train_pageable train_pinned; do
      code=0
      losses+=("$(python3 -B -W error "$folder/$name.py" 2> "$said")") || code=$?
      [[ $code != 77 ]] || { cat "$said" && exit 77; }
      [[ $code == 0 ]] || fail "$name: $(cat "$said")"
    done
    [[ ${losses[0]} == 'loss '* && ${losses[0]} == "${losses[1]}" ]] || fail "${losses[*]}"
    ;;
  *) fail "no case $2" ;;
esac
