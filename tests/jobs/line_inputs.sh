#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# line_inputs.sh PROGRAM CASE: what the job `lines` makes of each file of the table inputs/lines/CASE.txt. A line of it is
#   FILE | OPTIONS | ROWS, with " / " between two of them | EXIT CODE | WORDS on standard error; -: nothing is remarked
# cat:FILE comes through a pipe. A @ in the options is the folder of the files.
# shellcheck source=tests/jobs/job_world.sh
source "$(dirname "$0")/job_world.sh"

inputs=$here/inputs/lines
# What a run says of its input, and not of its speed.
says_something() { grep -q '^Left out\|^The row\|^first failure\|Records that' err; }
tried=0
while IFS='|' read -r file options rows code words; do
  read -r file <<<"$file"
  read -r rows <<<"$rows"
  read -r words <<<"$words"
  [[ $file && $file != \#* ]] || continue
  got=0
  options=${options//@/$inputs/}
  if [[ $file == cat:* ]]; then
    # shellcheck disable=SC2002,SC2086 # A pipe is meant; several words.
    cat "$inputs/${file#cat:}" | "$program" run --device cpu --input - $options >out 2>err || got=$?
  else
    # shellcheck disable=SC2086 # Several words.
    "$program" run --device cpu --input "$inputs/$file" $options >out 2>err || got=$?
  fi
  ((got == code)) || fail "$file: exit code $got, $(cat err)"
  [[ $(paste -sd/ out | sed 's|/| / |g') == "$rows" ]] || fail "$file: $(cat out err)"
  if [[ $words == - ]]; then
    ! says_something || fail "$file: $(cat err)"
  else
    grep -qF -- "$words" err || fail "$file: $(cat err)"
  fi
  tried=$((tried + 1))
done <"$inputs/$case.txt"
((tried > 0)) || fail "no files in $case.txt"
