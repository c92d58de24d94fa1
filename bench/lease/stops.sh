#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Does `penstock hash --ledger` print the same lines if it is stopped at 100 random moments? Budget: all of them, each once.
#
# usage: stops.sh PENSTOCK DEVICE [FILES [STOPS [SEED]]]
# Hashes FILES (1000000) small files in one go, and again with a ledger while it is stopped STOPS (100) times, three times in four by
# SIGTERM, else by SIGKILL. The files are in PENSTOCK_BENCH_FILES (/dev/shm), the ledger is in PENSTOCK_BENCH_FOLDER (that of temporary
# files), which should be on a disk. Exit code: 1 if lines differ or it ended before all stops, 2 if it is asked for what cannot be.
set -euo pipefail
export LC_ALL=C

fail() {
  printf 'stops: %s\n' "$1" >&2
  exit "${2:-1}"
}
(($# >= 2)) || fail 'usage: stops.sh PENSTOCK DEVICE [FILES [STOPS [SEED]]]' 2
penstock=$1 device=$2 count=${3:-1000000} stops=${4:-100} seed=${5:-20261201}
for number in "$count" "$stops" "$seed"; do
  [[ $number =~ ^[1-9][0-9]*$ ]] || fail "$number is no number of these" 2
done

files=$(mktemp -d "${PENSTOCK_BENCH_FILES:-/dev/shm}/penstock-stops-XXXXXX")
scratch=$(mktemp -d "${PENSTOCK_BENCH_FOLDER:-${TMPDIR:-/tmp}}/penstock-stops-XXXXXX")
running=
trap '[[ -z $running ]] || kill -KILL "$running" 2>/dev/null || true; rm -rf "$files" "$scratch"' EXIT

# seconds COMMAND...: runs it. The time that it took is in `took`, in microseconds.
seconds() {
  local before=$EPOCHREALTIME after
  "$@"
  after=$EPOCHREALTIME
  took=$((${after/./} - ${before/./}))
}
# make_folder NUMBER: up to ten thousand files of a line, from that number on.
make_folder() {
  mkdir "$files/$1"
  seq "$1" $(($1 + 9999 < count ? $1 + 9999 : count)) | split -l 1 -a 4 -d - "$files/$1/"
}
make_files() {
  local folder
  for ((folder = 1; folder <= count; folder += 10000)); do
    make_folder "$folder" &
    if (($(jobs -r | wc -l) >= $(nproc))); then wait -n; fi
  done
  wait
}
hash() { "$penstock" hash --device "$device" --no-progress "$@" "$files"; }

seconds make_files
printf '%d files made in %.1f s\n' "$count" "$((took / 1000))e-3"
hash >/dev/null
seconds hash >"$scratch/once"
printf 'in one go: %.2f s\n' "$((took / 1000))e-3"
seconds hash --ledger "$scratch/all" >"$scratch/leased"
printf 'in one go with a ledger: %.2f s\n' "$((took / 1000))e-3"

# leases: how many the ledger has.
leases() {
  { "$penstock" work --ledger "$scratch/ledger" --status --json 2>/dev/null || true; } | sed -nE 's/.*"leases":([0-9]+).*/\1/p'
}
RANDOM=$seed
# So that all stops come before the end: half of this on average.
usual=$((took / stops)) most=$((took / stops)) filled=0 before=0 terms=0 kills=0 begin=$EPOCHREALTIME
for ((k = 0; k < stops; ++k)); do
  # No function, whose shell would get the signal.
  "$penstock" hash --device "$device" --no-progress --ledger "$scratch/ledger" "$files" >"$scratch/part" 2>>"$scratch/errors" &
  running=$!
  sleep "$(printf '%.6f' "$(((RANDOM * 32768 + RANDOM) % most + 1))e-6")"
  if ((RANDOM % 4)); then signal=TERM; else signal=KILL; fi
  kill -"$signal" "$running" 2>/dev/null || true
  code=0
  { wait "$running" || code=$?; } 2>/dev/null # It would say that it was killed.
  running=
  ((code != 0)) || fail "it was through after $k stops: take more files, or fewer stops"
  if [[ $signal == TERM ]]; then terms=$((terms + 1)); else kills=$((kills + 1)); fi
  if ((!filled)); then
    # It is filled in one step: a process that is stopped before leaves nothing.
    found=$(leases)
    if ((${found:-0})); then filled=1 most=$usual; else most=$((2 * most)) before=$((before + 1)); fi
  fi
done
hash --ledger "$scratch/ledger" >"$scratch/stopped"
end=$EPOCHREALTIME
"$penstock" work --ledger "$scratch/ledger" --status
printf 'stopped %d times by SIGTERM and %d times by SIGKILL, %d of them before the ledger had leases: %.2f s in all\n' \
  "$terms" "$kills" "$before" "$(((${end/./} - ${begin/./}) / 1000))e-3"

for way in once leased stopped; do sort "$scratch/$way" >"$scratch/$way.lines"; done
lines=$(wc -l <"$scratch/once.lines")
((lines == count)) || fail "$lines lines of $count files"
for way in leased stopped; do
  cmp -s "$scratch/once.lines" "$scratch/$way.lines" ||
    fail "other lines ($way): $(diff "$scratch/once.lines" "$scratch/$way.lines" | head -4)"
done
printf 'the same %d lines in one go, with a ledger, and stopped %d times\n' "$lines" "$stops"
