#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# How often does the median of one sweep lie within the spread that another has printed? Budget: nine points in ten.
#
# usage: spread.sh PENSTOCK SWEEPS [OPTION OF penstock bench]...
# Runs the same sweep that many times, one after the other, and holds each point of each of them against each of the
# others. Exit code: 1 if less than nine in ten hold, 2 if it is asked for what cannot be, what penstock says if it fails.
set -euo pipefail
export LC_ALL=C

fail() {
  printf 'spread: %s\n' "$1" >&2
  exit "${2:-2}"
}
(($# >= 2)) || fail 'usage: spread.sh PENSTOCK SWEEPS [OPTION OF penstock bench]...'
penstock=$1
sweeps=$2
if ! [[ $sweeps =~ ^[0-9]+$ ]] || ((sweeps < 2)); then fail 'at least two sweeps, which are held against each other'; fi

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
start=$SECONDS
for ((sweep = 1; sweep <= sweeps; ++sweep)); do
  "$penstock" bench --csv "${@:3}" > "$scratch/$(printf '%03d' "$sweep")" || fail "$penstock bench failed" "$?"
done

awk -F , -v sweeps="$sweeps" -v seconds=$((SECONDS - start)) '
  FNR == 1 {
    ++sweep
    for (i = 1; i <= NF; ++i) column[$i] = i
    next
  }
  {
    point = FNR - 1
    if (point > points) points = point
    where = $1
    for (i = 2; i < column["repeats"]; ++i) where = where "," $i
    name[point] = where
    median[sweep, point] = $column["gb_per_s"]
    least[sweep, point] = $column["gb_per_s_min"]
    most[sweep, point] = $column["gb_per_s_max"]
  }
  END {
    for (point = 1; point <= points; ++point) {
      held = pairs = width = 0
      for (one = 1; one <= sweeps; ++one) {
        if (median[one, point] == "") continue
        width += (most[one, point] - least[one, point]) / median[one, point] / sweeps
        for (other = 1; other <= sweeps; ++other) {
          if (one == other || median[other, point] == "") continue
          ++pairs
          held += least[one, point] <= median[other, point] && median[other, point] <= most[one, point]
        }
      }
      all_held += held
      all_pairs += pairs
      printf "%3d of %3d held, spread %5.1f %% of the median: %s; medians", held, pairs, 100 * width, name[point]
      for (one = 1; one <= sweeps; ++one) printf " %.3g", median[one, point]
      print ""
    }
    if (all_pairs == 0) exit 1
    printf "%d of %d held, %.1f %%; %.0f s a sweep\n", all_held, all_pairs, 100 * all_held / all_pairs, seconds / sweeps
    exit all_held < 0.9 * all_pairs
  }' "$scratch"/*
