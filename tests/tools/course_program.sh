#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# usage: course_program.sh PENSTOCK CASE
# Runs each command of a page of docs/course, and looks for each line of output that the page shows. Numbers may differ, and
# whether a time is in us, ms or s; line breaks do not count. A line "..." stands for what the page leaves out.
course=$(realpath "$(dirname "$0")/../../docs/course")
# shellcheck source=tests/tools/program_world.sh
source "$(dirname "$0")/program_world.sh"

case $2 in
  StreamsAndEvents) page=1-streams-and-events.md ;;
  Overlap) page=2-overlap.md ;;
  Production) page=3-production.md ;;
  OneTaskManyStreams) page=4-one-task-many-streams.md ;;
  DefaultStreams) page=5-default-streams.md ;;
  NoPageIsLeftOut)
    for page in "$course"/[0-9]*.md; do
      grep -q "page=$(basename "$page") ;;" "$0" || fail "no case runs $page"
    done
    exit 0
    ;;
  *) fail "no case $2" ;;
esac

# same_words: standard input on one line, with N for each number and T for each unit of time.
same_words() { tr -s '\n ' '  ' | sed -E 's/[0-9]+([.][0-9]+)?/N/g; s/N (ns|us|ms|s)\b/N T/g'; }

commands=0
# judge: what the last command said is compared with what the page has.
judge() {
  local line
  expect_code "$wanted_code"
  cat out err | same_words > words
  while IFS= read -r line; do
    [[ -z $line || $line == ... ]] || grep -qF -- "$(same_words <<< "$line" | sed 's/^ //; s/ $//')" words ||
      fail "$page: '$command' does not say '$line' but: $(cat out err)"
  done < shown
}

# 1 within a block, 2 behind its first command.
inside=0
while IFS= read -r line; do
  if [[ $line == '```console' ]]; then
    inside=1
  elif [[ $line == '```' ]]; then
    ((inside < 2)) || judge
    inside=0
  elif ((inside)) && [[ $line == '$ penstock '* ]]; then
    ((inside < 2)) || judge
    inside=2
    command=${line#\$ }
    wanted_code=0
    : > shown
    commands=$((commands + 1))
    read -ra words_of_it <<< "${line#\$ penstock }"
    run "${words_of_it[@]}"
  elif ((inside)) && [[ $line =~ ^\(exit\ code\ ([0-9]+)\)$ ]]; then
    wanted_code=${BASH_REMATCH[1]}
  elif ((inside)); then
    [[ $inside == 2 ]] || fail "$page: a block that does not begin with a command: $line"
    printf '%s\n' "$line" >> shown
  fi
done < "$course/$page"
((commands > 0)) || fail "$page has no command"
