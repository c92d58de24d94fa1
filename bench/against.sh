#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# against.sh BEFORE AFTER ROUNDS LAYER[/NAME[/CASE]]...: runs the same cases of the bench programs in two folders alternately,
# and says which differ.
#
# LAYER/NAME is that of penstock_LAYER_NAME_bench, CASE a regular expression for the names of its cases. In each round a program
# runs first as it was before and then as it is, so that whatever drifts meets both alike. A difference is called one only if
# all runs before lie on one side of all runs after.
set -euo pipefail
export LC_ALL=C
before=$1 after=$2 rounds=$3
shift 3

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

# cases FOLDER PROGRAM: the names of its cases, one a line; nothing if there is no such program.
cases() {
  if [[ -x $1/$2 ]]; then "$1/$2" --benchmark_list_tests; fi | sort
}

# wanted PROGRAM: those of the names that it reads which some filter asks for.
wanted() {
  local program=$1 name filter layer bench case
  while read -r name; do
    for filter in "${filters[@]}"; do
      IFS=/ read -r layer bench case <<<"$filter"
      if [[ ($program == "penstock_${layer}_${bench}_bench" || (-z $bench && $program == "penstock_${layer}_"*)) &&
        $name =~ ${case:-.*} ]]; then
        echo "$name"
        break
      fi
    done
  done
}
filters=("$@")

# run FOLDER SIDE PROGRAM: a line "SIDE PROGRAM CASE NANOSECONDS" for each of its cases. What a case was told to be timed by
# counts: the clock, or the CPU.
run() {
  local only
  only=$(sed 's/[][().*+?|{}^$\\]/\\&/g' "$scratch/cases.$3" | paste -sd '|')
  # Not as CSV, which demands the same counters of all cases.
  "$1/$3" "--benchmark_filter=^($only)\$" --benchmark_min_time="${PENSTOCK_BENCH_SECONDS:-0.1}" --benchmark_format=json \
    2>"$scratch/errors" >"$scratch/json" || { cat "$scratch/errors" >&2 && echo "$3 failed" >&2 && return 1; }
  awk -v side="$2" -v program="$3" '
    function value() { sub(/^ *"[a-z_]+": */, ""); sub(/,$/, ""); gsub(/^"|"$/, ""); return $0 }
    /^ *"benchmarks": \[/ { inside = 1 }
    !inside { next }
    /^ *"name":/ { name = value() }
    /^ *"real_time":/ { real = value() }
    /^ *"cpu_time":/ { cpu = value() }
    /^ *"error_message":/ { print program ": " name " failed: " value() > "/dev/stderr"; exit 1 }
    /^ *"time_unit":/ {
      of = value()
      unit = of == "us" ? 1e3 : of == "ms" ? 1e6 : of == "s" ? 1e9 : 1
      printf "%s\t%s\t%s\t%.6g\n", side, program, name, (name ~ /\/(real|manual)_time/ ? real : cpu) * unit
    }' "$scratch/json"
}

programs=()
for path in "$before"/penstock_*_bench "$after"/penstock_*_bench; do
  program=${path##*/}
  if [[ ! -x $path || -e $scratch/cases.$program ]]; then continue; fi
  cases "$before" "$program" | wanted "$program" >"$scratch/before"
  cases "$after" "$program" | wanted "$program" >"$scratch/after"
  comm -12 "$scratch/before" "$scratch/after" >"$scratch/cases.$program"
  comm -23 "$scratch/before" "$scratch/after" | sed "s,^,only before: $program ," >>"$scratch/alone"
  comm -13 "$scratch/before" "$scratch/after" | sed "s,^,only after: $program ," >>"$scratch/alone"
  if [[ -s $scratch/cases.$program ]]; then programs+=("$program"); fi
done
((${#programs[@]})) || {
  echo "no case of any bench that there is before and after is asked for by: $*" >&2
  exit 1
}

for ((round = 1; round <= rounds; ++round)); do
  for program in "${programs[@]}"; do
    if [[ -t 2 ]]; then printf '\r\033[Kround %d of %d, %s' "$round" "$rounds" "$program" >&2; fi
    run "$before" before "$program" >>"$scratch/times"
    run "$after" after "$program" >>"$scratch/times"
  done
done
if [[ -t 2 ]]; then printf '\r\033[K' >&2; fi

awk -F '\t' -v rounds="$rounds" '
  # Sorts list[1] to list[count].
  function sort(list, count,   i, j, value) {
    for (i = 2; i <= count; ++i) {
      value = list[i]
      for (j = i - 1; j >= 1 && list[j] > value; --j) list[j + 1] = list[j]
      list[j + 1] = value
    }
  }
  function middle(list, count) { return count % 2 ? list[(count + 1) / 2] : (list[count / 2] + list[count / 2 + 1]) / 2 }
  function time(nanoseconds) {
    if (nanoseconds >= 1e6) return sprintf("%.2f ms", nanoseconds / 1e6)
    if (nanoseconds >= 1e4) return sprintf("%.1f us", nanoseconds / 1e3)
    return sprintf("%.4g ns", nanoseconds)
  }
  {
    bench = $2
    sub(/^penstock_/, "", bench)
    sub(/_bench$/, "", bench)
    sub(/_/, "/", bench)
    name = bench "/" $3
    if (!(name in known)) { known[name] = 1; order[++count] = name; if (length(name) > width) width = length(name) }
    seen[name, $1, ++runs[name, $1]] = $4
  }
  END {
    printf "%-*s  %10s  %10s  %s\n", width, "", "before", "after", "after / before (least..most)"
    for (i = 1; i <= count; ++i) {
      name = order[i]
      for (j = 1; j <= rounds; ++j) {
        old[j] = seen[name, "before", j]
        new[j] = seen[name, "after", j]
        ratio[j] = old[j] > 0 ? new[j] / old[j] : 1
      }
      sort(old, rounds)
      sort(new, rounds)
      sort(ratio, rounds)
      what = new[1] > old[rounds] ? "  SLOWER" : new[rounds] < old[1] ? "  faster" : ""
      if (what != "") ++differ
      printf "%-*s  %10s  %10s  %.2f (%.2f..%.2f)%s\n", width, name, time(middle(old, rounds)), time(middle(new, rounds)),
        middle(ratio, rounds), ratio[1], ratio[rounds], what
    }
    printf "\n%d of %d differ by more than they vary in %d rounds\n", differ, count, rounds
  }' "$scratch/times"
if [[ -s $scratch/alone ]]; then cat "$scratch/alone"; fi
