#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# handoff_model.sh MODEL: lets spin try every order of the steps in the model of the hand-off, and then each mistake that the
# model can make on purpose, which it must find. 77 where there is no spin.
set -euo pipefail
model=$(realpath "$1")
command -v spin >/dev/null || {
  echo 'spin is not here; install the package of that name'
  exit 77
}
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"

# check TILES SLOTS EXTRA MISTAKE: what spin's checker says.
check() {
  spin -DTILES="$1" -DSLOTS="$2" -DEXTRA="$3" -DMISTAKE="$4" -a "$model"
  # The memory for states is bounded, so that a model that grows says so instead of taking the machine down.
  "${CC:-cc}" -O2 -w -DSAFETY -DCOLLAPSE -DMEMLIM=3000 -o pan pan.c
  ./pan -m100000
}

expect() {
  local errors=$1 answer
  shift
  answer=$(check "$@")
  if ! grep -q "errors: $errors\$" <<<"$answer" || grep -qE 'max search depth too small|out of memory' <<<"$answer"; then
    printf 'tiles %s, slots %s, extra tickets %s, mistake %s: expected %s errors\n%s\n' "$@" "$errors" "$answer"
    exit 1
  fi
  printf 'tiles %s, slots %s, extra tickets %s, mistake %s: %s errors, %s states\n' "$@" "$errors" \
    "$(awk '/states, stored/ { print $1; exit }' <<<"$answer")"
}

expect 0 3 2 0 0
expect 0 2 1 1 0
mistakes=$(grep -cE '^#define [A-Z_]+ [1-9]$' "$model")
((mistakes > 0))
for mistake in $(seq "$mistakes"); do
  expect 1 2 1 1 "$mistake"
done
