#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# find_mistakes.sh BIN [COUNT [NAME...]]: runs each program of BIN with a seeded mistake until a seed finds the mistake,
# for at most COUNT seeds (1000). Prints after how many seeds that was; exits 1 if a mistake was not found.
set -euo pipefail
bin=$1 count=${2:-1000}
names=("${@:3}")
log=$(mktemp)
trap 'rm -f "$log"' EXIT
missed=0
if ((${#names[@]} == 0)); then
  for program in "$bin"/penstock_*_with_*; do names+=("${program##*/penstock_*_with_}"); done
fi
printf '%-28s %6s  %s\n' mistake seeds 'what it was found by'
for name in "${names[@]}"; do
  program=$(compgen -G "$bin/penstock_*_with_$name") || {
    echo "find_mistakes.sh: there is no $bin/penstock_*_with_$name; build the target penstock_chaos_mistakes" >&2
    exit 2
  }
  if "$program" --count "$count" --until-found >"$log" 2>&1; then
    printf '%-28s %6s  %s\n' "$name" "> $count" 'NOT FOUND'
    missed=1
  else
    # The first line of a failure says what happened, the last ones what the oracles saw.
    seed=$(sed -nE 's/^ *again: .* --seed ([0-9]+) .*/\1/p' "$log" | head -n 1)
    what=$(sed -nE '/^FAILED/,$ { s/^FAILED, //p; /^  (options|schedule|again|addr2line)/d; s/^  //p }' "$log" | head -n 1)
    printf '%-28s %6s  %s\n' "$name" "${seed:-?}" "${what:0:80}"
  fi
done
exit "$missed"
