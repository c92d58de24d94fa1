#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# prints.sh PROGRAM ARGUMENT... -- PATTERN...: the program ends with code 0, and prints a line like each pattern.
#
# What it computes must be right each time. What ran at the same time is told by the times of a model, which are late where the
# machine is busy with other things: so up to five runs may be needed for lines about it. A model that says which factor would do
# gets it in the next run. Code 77 is passed on.
set -euo pipefail
shopt -s extglob
export LC_ALL=C
command=()
while [[ $1 != -- ]]; do command+=("$1"); shift; done
shift
missing=''
for run in 1 2 3 4 5; do
  code=0
  output=$("${command[@]}" 2>&1) || code=$?
  if ((code == 77)); then echo "$output"; exit 77; fi
  if ((code != 0)); then echo "code $code: $output"; exit 1; fi
  missing=''
  for pattern in "$@"; do
    grep -qE -- "$pattern" <<<"$output" || missing+="in run $run no line like '$pattern':"$'\n'"$output"$'\n'
  done
  [[ -n $missing ]] || exit 0
  # A wrong number is not a matter of time.
  [[ $output != *wrong* ]] || break
  [[ ! $output =~ 'larger factor, as @'([0-9]+) ]] || command=("${command[@]//@+([0-9])/@${BASH_REMATCH[1]}}")
done
echo "$missing"
exit 1
