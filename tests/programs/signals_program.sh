#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# usage: signals_program.sh PENSTOCK CASE [MOMENTS [SEED]]
# Sends signals to each command at random moments, MOMENTS of them; those of one SEED are the same, as far as the machine lets
# them. However it is ended: no hang, no crash, no torn line, no child, no file but its own and those whole.
# shellcheck source=tests/programs/program_world.sh
source "$(dirname "$0")/program_world.sh"
moments=${3:-16}
seed=${4:-$((SRANDOM % 30000))}
ulimit -c 0
mkdir at tmp
export TMPDIR=$world/tmp
longest=120 # Seconds, for a command of less than two on a machine that has other things to do.

mkdir at/many
for ((i = 1000; i < 1400; ++i)); do : > "at/many/$i"; done
some_bytes 20000000 at/many/large
(cd at && b3sum many/*) > expected

# words_of COMMAND: into words, how it is called.
words_of() {
  words=("$1" --device cpu)
  case $1 in
    hash) words+=(--trace trace many) ;;
    lab) words+=(--trace trace threads-legacy) ;;
    bench) words+=(--tile 4KiB --producers 1 --lanes 1 --window 20 --repeats 2 --trace trace --html page) ;;
    tune) words+=(--tile 4KiB --producers 1 --lanes 1 --within 1 --save profile --trace trace) ;;
    compare) words+=(--tile 4KiB --producers 1 --window 20 --repeats 1 --trace trace --html page) ;;
  esac
}
commands=(hash doctor lab bench tune)
[[ ! -x ${penstock%/*}/penstock-legacy ]] || commands+=(compare)
ways=(INT TERM HUP QUIT 'STOP CONT' 'INT INT' 'INT TERM' ignored)

# processes: those that work in the folder of the commands.
processes() { find /proc -maxdepth 2 -name cwd -lname "$world/at" 2> /dev/null | cut -d / -f 3; }
# pause: for less than a hundredth of a second, or for up to two, as the seed has it.
pause() {
  local most=10
  ((RANDOM % 2)) || most=2000
  local milliseconds=$((RANDOM % most))
  sleep "$((milliseconds / 1000)).$(printf %03d $((milliseconds % 1000)))"
}
expect_whole() {
  local name
  for name in trace page profile; do
    [[ $(< "at/$name") == old || $(tail -c 2 "at/$name") == '}' || $(tail -c 2 "at/$name") == ']' || $(tail -c 8 "at/$name") == '</html>' ]] ||
      fail "$what: half a $name: $(tail -c 50 "at/$name")"
  done
  [[ -z $(find at tmp -name '*penstock-*') ]] || fail "$what: left $(find at tmp -name '*penstock-*')"
}

# moment NUMBER: one command, and what is sent to it.
moment() {
  RANDOM=$((seed + $1))
  local command=${commands[RANDOM % ${#commands[@]}]} way=${ways[RANDOM % ${#ways[@]}]} process code=0 signal allowed=' 0 130 '
  local words
  words_of "$command"
  local handling=--default-signal=INT,QUIT
  what="moment $1 of seed $seed: $command, $way"
  for file in trace page profile; do printf 'old\n' > "at/$file"; done
  [[ $way != ignored ]] || handling=--ignore-signal=INT
  (cd at && exec env "$handling" "$penstock" "${words[@]}" > ../out 2> ../err) &
  process=$!
  # Before that a signal reaches the shell or env: they may not ignore it yet, and the shell would remove the world.
  until [[ /proc/$process/exe -ef $penstock || ! -e /proc/$process/exe ]]; do sleep 0.001; done
  for signal in ${way/ignored/INT}; do
    pause
    kill "-$signal" "$process" 2> /dev/null || true
    # What comes before it listens kills it.
    allowed+="$((128 + $(kill -l "$signal"))) "
  done
  [[ $way != ignored && $way != 'STOP CONT' ]] || allowed=' 0 '
  SECONDS=0
  while [[ -e /proc/$process ]]; do
    if ((SECONDS > longest)); then
      kill -KILL "$process"
      fail "$what: it hangs: $(cat err)"
    fi
    sleep 0.01
  done
  wait "$process" 2> /dev/null || code=$?
  [[ $allowed == *" $code "* ]] || fail "$what: exit code $code: $(cat err)"
  until [[ -z $(processes) ]]; do ((SECONDS <= longest)) || fail "$what: a child is left: $(processes)"; done
  expect_whole
  [[ $command != hash ]] || cmp -s out <(head -n "$(wc -l < out)" expected) || fail "$what: torn, or not the first lines: $(tail -c 100 out)"
  [[ $command != hash || $code != 0 ]] || cmp -s out expected || fail "$what: lines are missing"
}

case $2 in
  EndsCleanlyAtAnyMoment)
    for ((number = 0; number < moments; ++number)); do moment "$number"; done
    ;;
  *) fail "no case $2" ;;
esac
