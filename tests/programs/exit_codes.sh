#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# usage: exit_codes.sh PENSTOCK COMMAND LINES TABLE
# Each case of the table of exit codes in TABLE (docs/commands/README.md) is run with COMMAND; `run` is that of the job LINES.
# shellcheck source=tests/programs/program_world.sh
lines=$(realpath "$3") table=$(realpath "$4") command=$2
source "$(dirname "$0")/program_world.sh"

# Small inputs: whole, damaged, with a line that no tile of 4 KiB holds, and with a line whose key is no number. What is wrong comes
# first: a measurement that the machine cuts short may end before it has read more.
for ((i = 0; i < 300; ++i)); do echo "$((i % 7)) $i"; done >good
gzip -nc good >damaged.gz
printf '\377' | dd of=damaged.gz bs=1 seek=10 conv=notrunc status=none
{ printf '1 %05000d\n' 7 && cat good good; } >long
{ cat good && echo 'word 1'; } >unused
printf '%064d  good\n' 0 >sums
mkdir denied

# in_use INPUT [DEVICE]: the words of the command, as it is used on this input.
in_use() {
  local device=${2:-cpu}
  case $command in
    run | bench | compare | tune) words=("$lines" "$command" --device "$device" --format words --key 1 --sum 2 --tile 4KiB --input "$1") ;;
    hash) words=("$penstock" hash --device "$device" "$1") ;;
    work)
      [[ -e ledger ]] || "$penstock" hash --device cpu --ledger ledger good >/dev/null
      words=("$penstock" work --ledger ledger)
      ;;
    doctor) words=("$penstock" doctor --device "$device") ;;
    lab) words=("$penstock" lab --device "$device" threads-legacy) ;;
    try | watch) words=("$penstock" "$command") ;;
  esac
  case $command in
    bench) words+=(--producers 1 --window 100 --repeats 1) ;;
    compare) words+=(--producers 1 --window 100 --repeats 1) ;;
    tune) words+=(--within 1) ;;
  esac
}
# program_of WORD...: the same with a program to be run, if the command runs one.
with_program() {
  case $command in
    try) words+=(--no-watch --repeats 1 -- "$@") ;;
    watch) words+=(-- "$@") ;;
    work)
      # A worker that ends well prints a line, for what becomes of that.
      [[ $1 != true ]] || set -- echo a line
      words+=(-- "$@")
      ;;
  esac
}
# The option that names a file to write.
to_write() {
  case $command in
    run | hash | lab | watch) echo --trace ;;
    bench | compare) echo --html ;;
    tune) echo --save ;;
    try) echo --html ;;
    doctor) echo --html ;;
  esac
}
# do_it: runs the words, into `code`, `out` and `err`.
do_it() {
  code=0
  "${words[@]}" >"${output:-out}" 2>err || code=$?
}

# of_case CASE: runs the command so that it is the case.
# shellcheck disable=SC2016  # The backquotes are those of the page.
of_case() {
  local output=
  in_use good
  case $1 in
    'all is well') with_program true && do_it ;;
    'an unknown option') words+=(--no-such-option) && with_program true && do_it ;;
    'a value that is out of range')
      case $command in
        doctor) words+=(--read no-such-file) ;;
        lab) words+=(--streams -1) ;;
        try) words+=(--repeats 0) ;;
        watch) words+=(--limit nothing) ;;
        work) words+=(--workers 0) ;;
        *) words+=(--tile 0) ;;
      esac
      with_program true
      do_it
      ;;
    'no such device, or none of that kind') in_use good cuda:77 && do_it ;;
    'no such input, or no such program')
      in_use nothing-here
      [[ $command != lab ]] || words=("$penstock" lab no-such-experiment)
      with_program ./nothing-here
      do_it
      ;;
    'input that is damaged') in_use damaged.gz && do_it ;;
    'input that is lost: a record too long for a tile') in_use long && do_it ;;
    'input that could not be used') in_use unused && do_it ;;
    'the same with `--strict`') in_use unused && words+=(--strict) && do_it ;;
    'a hash that does not match') words=("$penstock" hash --device cpu --check sums) && do_it ;;
    'a claim that does not hold (`--expect`)') words+=(--expect 'speed_up > 1000') && do_it ;;
    'a program that uses no GPU') with_program true && do_it ;;
    'standard output takes nothing') output=/dev/full && with_program true && do_it ;;
    'the reader of standard output has ended')
      with_program true
      code=0
      # The pipe has no reader before the command starts.
      { "${words[@]}" 2>err || echo $? >code_of; } | :
      code=$(cat code_of)
      ;;
    'a file to write that cannot be begun') words+=("$(to_write)" denied) && with_program true && do_it ;;
    'a file to write that the disk does not take') words+=("$(to_write)" /dev/full) && with_program true && do_it ;;
    'interrupted')
      # Each lasts for a minute at least, so that it is at it however late the signal comes.
      case $command in
        run) in_use - && words+=(--producers 1) ;;
        hash) in_use - ;;
        doctor) truncate -s 1T large && words+=(--read large) ;;
        lab) words=("$penstock" lab --device cpu) ;;
        bench | compare) words[-3]=60000 ;; # Behind --window.
        tune) words[-1]=600 ;; # Behind --within.
        try | watch | work) with_program sleep 600 ;;
      esac
      interrupted
      ;;
    *) fail "the table has a case that is not known here: $1" ;;
  esac
}

# is_at_it PROCESS: whether it does what the words say, and listens to signals: before that ctrl-C would kill it, for which bash has the
# code 130, too.
is_at_it() {
  case $command in
    run | hash | bench | compare | tune) fills "$1" ;;
    *) grep -qsx ps-signals "/proc/$1"/task/*/comm ;;
  esac
}
# interrupted: starts the words with an input that does not end, and sends ctrl-C once the program is at it.
interrupted() {
  local process
  mkfifo endless 2>/dev/null || true
  exec 3<>endless
  (exec env --default-signal=INT,QUIT "${words[@]}" <endless >out 2>err) &
  process=$!
  until is_at_it "$process" || ! kill -0 "$process" 2>/dev/null; do :; done
  kill -INT "$process" 2>/dev/null || true
  code=0
  wait "$process" || code=$?
  exec 3>&-
}

# The table's rows: the case, and the code of this command.
rows=$(awk -F '|' -v command="$command" '
  function trimmed(text) { gsub(/^ +| +$/, "", text); return text }
  /exit_codes.sh reads this table/ { wanted = 1; next }
  !wanted || !/^\|/ { if (column) exit; next }
  !column { for (i = 2; i < NF; ++i) if (trimmed($i) == command) column = i; next }
  /^\|---/ { next }
  { print trimmed($column) "\t" trimmed($2) }' "$table")
[[ -n $rows ]] || fail "the table has no column $command"
cells=0
while IFS=$'\t' read -r expected case; do
  [[ $expected != - ]] || continue
  rm -f out err code_of
  of_case "$case"
  [[ $code == "$expected" ]] || fail "$command, $case: exit code $code and not $expected: ${words[*]}: $(head -c 2000 err)"
  ((++cells))
done <<<"$rows"
((cells >= 5)) || fail "only $cells cells of $command were run"
