#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# What does a ledger cost `penstock hash`, with leases of one file of 64 MiB each? Budget: 0.98 of the throughput without.
#
# usage: claims.sh PENSTOCK DEVICE [GIB [TIMES [ROUNDS]]]
# Hashes files of GIB (8) in all, each TIMES (32) times in one run, with and without --ledger in turn, in ROUNDS (5) rounds. The files
# are in PENSTOCK_BENCH_FILES (/dev/shm) and should stay in memory; the ledger is in PENSTOCK_BENCH_FOLDER (that of temporary files),
# which should be on a disk. Exit code: 1 if the budget is missed or lines differ, 2 if it is asked for what cannot be.
set -euo pipefail
export LC_ALL=C

fail() {
  printf 'claims: %s\n' "$1" >&2
  exit "${2:-1}"
}
(($# >= 2)) || fail 'usage: claims.sh PENSTOCK DEVICE [GIB [TIMES [ROUNDS]]]' 2
penstock=$1 device=$2 gib=${3:-8} times=${4:-32} rounds=${5:-5}
for number in "$gib" "$times" "$rounds"; do
  [[ $number =~ ^[1-9][0-9]*$ ]] || fail "$number is no number of these" 2
done

files=$(mktemp -d "${PENSTOCK_BENCH_FILES:-/dev/shm}/penstock-claims-XXXXXX")
scratch=$(mktemp -d "${PENSTOCK_BENCH_FOLDER:-${TMPDIR:-/tmp}}/penstock-claims-XXXXXX")
trap 'rm -rf "$files" "$scratch"' EXIT
# The device takes the same time for all bytes; the first ones tell the files apart.
for ((k = 0; k < gib * 16; ++k)); do
  printf '%020d' "$k"
  head -c $(((64 << 20) - 20)) /dev/zero
done | split -b 64M -a 6 -d - "$files/"
paths=()
for ((k = 0; k < times; ++k)); do paths+=("$files"); done

# hash NAME OPTION...: prints the seconds of the process and those of its run; its lines are in the file.
hash() {
  local before=$EPOCHREALTIME after
  "$penstock" hash --device "$device" --no-progress --json "${@:2}" "${paths[@]}" >"$scratch/$1" || fail "penstock hash failed" "$?"
  after=$EPOCHREALTIME
  grep -v '"summary"' "$scratch/$1" | sort >"$scratch/$1.lines"
  awk -v took="$((${after/./} - ${before/./}))" '
    match($0, /"wall_s":[0-9.e+-]+/) { print took / 1e6, substr($0, RSTART + 9, RLENGTH - 9) }' "$scratch/$1"
}
round() {
  local way
  for way in "$@"; do
    rm -f "$scratch"/ledger*
    if [[ $way == with ]]; then hash with --ledger "$scratch/ledger"; else hash without; fi | sed "s/^/$way /" >>"$scratch/times"
  done
  cmp -s "$scratch/with.lines" "$scratch/without.lines" || fail 'other lines with a ledger'
}

round without with # Whatever is done the first time.
rm "$scratch/times"
for ((k = 0; k < rounds; ++k)); do
  if ((k % 2)); then round with without; else round without with; fi
done
sort -k1,1 -k2,2n "$scratch/times" | awk -v gib=$((gib * times)) -v rounds="$rounds" '
  # median(VALUES, COUNT)
  function median(values, count,   i, j, kept) {
    for (i = 2; i <= count; ++i) {
      kept = values[i]
      for (j = i - 1; j >= 1 && values[j] > kept; --j) values[j + 1] = values[j]
      values[j + 1] = kept
    }
    return count % 2 ? values[(count + 1) / 2] : (values[count / 2] + values[count / 2 + 1]) / 2
  }
  $1 == "with" { with_process[++m] = $2; with_run[m] = $3; sum[1] = sum[1] sprintf(" %.3f", $2) }
  $1 == "without" { process[++n] = $2; run[n] = $3; sum[2] = sum[2] sprintf(" %.3f", $2) }
  END {
    gb = gib * 1.073741824
    a = median(process, n); b = median(with_process, m); c = median(run, n); d = median(with_run, m)
    printf "seconds of the processes without a ledger:%s; with:%s\n", sum[2], sum[1]
    printf "%d GiB, medians of %d rounds: without a ledger %.2f GB/s (%.2f once started), with %.2f (%.2f)\n",
           gib, rounds, gb / a, gb / c, gb / b, gb / d
    printf "with a ledger: %.3f of the throughput without; once started %.3f; budget 0.98\n", a / b, c / d
    exit a / b < 0.98
  }'
