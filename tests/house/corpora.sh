#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# corpora.sh CORPORA PROGRAMS PYTHON: what bench/corpora.py tells of jobs, each on two small inputs.
set -euo pipefail
corpora=$1 programs=$2 python=$3
"$python" -c 'import numpy' 2>/dev/null || { echo 'numpy is not there (python3-numpy)'; exit 77; }
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
fail() {
  printf '%s\n' "$1" >&2
  exit 1
}
# tells WORDS...: into `out`, `err` and `code`.
tells() {
  code=0
  "$python" "$corpora" "$programs" --device cpu --mib 1 --runs 1 --folder "$scratch" "$@" >"$scratch/out" 2>"$scratch/err" || code=$?
}

tells --seeds 2
[[ $code == 0 ]] || fail "code $code: $(cat "$scratch/err")"
[[ $(awk 'NR > 1 && $2 >= $3 && $3 >= 0 { print $1 }' "$scratch/out" | xargs) == 'hash lines packets radio' ]] ||
  fail "it says: $(cat "$scratch/out")"
# A seed always makes the same input.
for again in 1 2; do
  tells --seeds 1 --first 7 --json
  sed -E 's/"gb_per_s": [0-9.e-]+//' "$scratch/out" >"$scratch/of$again"
done
cmp "$scratch/of1" "$scratch/of2"
[[ $(wc -l <"$scratch/of1") == 4 ]] || fail "not a line for each job: $(cat "$scratch/of1")"
tells --seeds 2 --jobs radio --expect 2
[[ $code == 1 ]] || fail "the worst is twice the median: code $code"
tells --jobs radio,none
[[ $code == 2 ]] || fail "there is a job 'none': code $code"
grep -q 'there is no job none' "$scratch/err" || fail "it says: $(cat "$scratch/err")"
# What a program says that fails.
programs=$scratch
printf '#!/bin/sh\necho "no such thing" >&2; exit 3\n' >"$scratch/radio"
chmod +x "$scratch/radio"
tells --jobs radio --seeds 1
[[ $code == 1 ]] || fail "a failed run: code $code"
grep -q 'code 3: no such thing' "$scratch/err" || fail "it says: $(cat "$scratch/err")"
