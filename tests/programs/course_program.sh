#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# usage: course_program.sh PENSTOCK CASE
# Runs each command of a page of docs/course, and looks for each line of output that the page shows. Numbers may differ, and
# whether a time is in us, ms or s; line breaks do not count. A line "..." stands for what the page leaves out. Files that a
# command names in /tmp are written to the test's own folder, and examples/ is the repository's.
# What course_items.txt has for the same command is looked for, too. Case Items runs its commands that no page has.
root=$(realpath "$(dirname "$0")/../..")
course=$root/docs/course
items=$(realpath "$(dirname "$0")/course_items.txt")
# shellcheck source=tests/programs/program_world.sh
source "$(dirname "$0")/program_world.sh"

case $2 in
  StreamsAndEvents) page=1-streams-and-events.md ;;
  Overlap) page=2-overlap.md ;;
  Production) page=3-production.md ;;
  OneTaskManyStreams) page=4-one-task-many-streams.md ;;
  DefaultStreams)
    page=5-default-streams.md
    [[ -x $1-legacy ]] || { echo "skipped: it compares with $1-legacy, which is not built" && exit 77; }
    ;;
  Items) page=course_items.txt ;;
  NoPageIsLeftOut)
    for page in "$course"/[0-9]*.md; do
      grep -qE "page=$(basename "$page")( ;;)?$" "$0" || fail "no case runs $page"
    done
    exit 0
    ;;
  *) fail "no case $2" ;;
esac

# same_words: standard input on one line, with N for each number and T for each unit of time.
same_words() { tr -s '\n ' '  ' | sed -E 's/[0-9]+([.][0-9]+)?/N/g; s/N (ns|us|ms|s)\b/N T/g'; }

# items: of each row of course_items.txt the command, a tab and what it prints. The command is what stands last in its column.
items() {
  awk -F ' [|] ' '/^[|] / && !/^[|] item / {
    if (NF != 3 || !match($2, /`[^`]*`$/) || $3 !~ /`/) { print "no command or no output: " $0 > "/dev/stderr"; exit 1 }
    print substr($2, RSTART + 1, RLENGTH - 2) "\t" $3
  }' "$items"
}
items > "$world/items" || fail 'course_items.txt has a row that cannot be checked'
# shown_by_items COMMAND: what it prints, a line each.
# shellcheck disable=SC2016  # Backticks are meant.
shown_by_items() { awk -F '\t' -v command="$1" '$1 == command { print $2 }' items | grep -o '`[^`]*`' | tr -d '`' || true; }

# switch COMMAND: has its environment, which no other command has, and sets `words_of_it` to what is behind it. Quotes may hold a
# word together.
switch() {
  unset CUDA_LAUNCH_BLOCKING
  [[ $1 != CUDA_LAUNCH_BLOCKING=1\ * ]] || export CUDA_LAUNCH_BLOCKING=1
  mapfile -t words_of_it < <(xargs printf '%s\n' <<< "${1#CUDA_LAUNCH_BLOCKING=1 }")
  words_of_it=("${words_of_it[@]/#\/tmp\//$world/}")
  words_of_it=("${words_of_it[@]/#examples\//$root/examples/}")
}

commands=0
# run_it PROGRAM ARGUMENT...: as `run`.
run_it() { penstock=$1 run "${@:2}"; }
# what_differs: what the last command said that the page and the items have not, in words; nothing if all is there.
what_differs() {
  local line
  [[ $code == "$wanted_code" ]] || { echo "ended with $code: $(cat out err)"; return; }
  cat out err | same_words > words
  while IFS= read -r line; do
    [[ -z $line || $line == ... ]] || grep -qF -- "$(same_words <<< "$line" | sed 's/^ //; s/ $//')" words ||
      { echo "does not say '$line' but: $(cat out err)"; return; }
  done < shown
}
# judge: holds the last command to the page and the items. Where it was late, it is run again.
judge() {
  local differs
  shown_by_items "$command" >> shown
  for _ in 1 2 3 4; do
    differs=$(what_differs)
    [[ -n $differs ]] || return 0
    again_if_late || break
  done
  fail "$page: '$command' $differs"
}

if [[ $page == course_items.txt ]]; then
  wanted_code=0
  while IFS= read -r command; do
    if grep -qxF -- "\$ $command" "$course"/[0-9]*.md; then continue; fi
    switch "$command"
    program=$(dirname "$penstock")/${words_of_it[0]}
    case ${words_of_it[0]} in
      penstock) program=$penstock ;;
      *) [[ -x $program ]] || { echo "not built: $command"; continue; } ;;
    esac
    : > shown
    run_it "$program" "${words_of_it[@]:1}"
    judge
    commands=$((commands + 1))
  done < <(cut -f 1 items | sort -u)
  ((commands > 0)) || fail 'course_items.txt has no command'
  exit 0
fi

# 1 within a block, 2 behind its first command.
inside=0
while IFS= read -r line; do
  if [[ $line == '```console' ]]; then
    inside=1
  elif [[ $line == '```' ]]; then
    ((inside < 2)) || judge
    inside=0
  elif ((inside)) && [[ $line == '$ penstock '* || $line == '$ CUDA_LAUNCH_BLOCKING=1 penstock '* ]]; then
    ((inside < 2)) || judge
    inside=2
    command=${line#\$ }
    wanted_code=0
    : > shown
    commands=$((commands + 1))
    switch "$command"
    run_it "$penstock" "${words_of_it[@]:1}"
  elif ((inside)) && [[ $line =~ ^\(exit\ code\ ([0-9]+)\)$ ]]; then
    wanted_code=${BASH_REMATCH[1]}
  elif ((inside)); then
    [[ $inside == 2 ]] || fail "$page: a block that does not begin with a command: $line"
    printf '%s\n' "$line" >> shown
  fi
done < "$course/$page"
((commands > 0)) || fail "$page has no command"
