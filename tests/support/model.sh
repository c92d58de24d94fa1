#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# model.sh MODEL BOUNDS...: lets spin try every order of the steps in a model, within each of the bounds, such as
# TILES=3,SLOTS=2; and then, within the last of them, each mistake that the model can make on purpose, which it must find. 77
# where there is no spin.
set -euo pipefail
model=$(realpath "$1")
shift
command -v spin >/dev/null || {
  echo 'spin is not here; install the package of that name'
  exit 77
}
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"

# check BOUNDS MISTAKE: what spin's checker says.
check() {
  local bounds optimise=-O1 table=24
  IFS=, read -ra bounds <<<"$1"
  # A mistake is found soon, in less time than the checker takes to be optimised.
  if (($2)); then optimise=-O0 table=20; fi
  # The memory for states is bounded, so that a model that grows says so instead of taking the machine down.
  spin "${bounds[@]/#/-D}" -DMISTAKE="$2" -a "$model" &&
    "${CC:-cc}" "$optimise" -w -DSAFETY -DCOLLAPSE -DMEMLIM=3000 -o pan pan.c &&
    ./pan -m100000 -w"$table"
}

# expect ERRORS BOUNDS MISTAKE
expect() {
  local errors=$1 answer
  shift
  if ! answer=$(check "$@" 2>&1) || ! grep -q "errors: $errors\$" <<<"$answer" ||
    grep -qE 'max search depth too small|out of memory' <<<"$answer"; then
    printf '%s, mistake %s: expected %s errors\n%s\n' "$@" "$errors" "$answer"
    exit 1
  fi
  printf '%s, mistake %s: %s errors, %s states\n' "$@" "$errors" \
    "$(awk '/states, stored/ { print $1; exit }' <<<"$answer")"
}

for bounds; do
  expect 0 "$bounds" 0
done
mistakes=$(grep -cE '^#define [A-Z_]+ [1-9]$' "$model")
((mistakes > 0))
for mistake in $(seq "$mistakes"); do
  expect 1 "$bounds" "$mistake"
done
