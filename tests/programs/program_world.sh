# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
# For tests of the command, which source it with PENSTOCK CASE: an empty folder to work in, and what they say of a run.
set -euo pipefail
export LC_ALL=C
penstock=$(realpath "$1")
world=$(mktemp -d)
trap 'rm -rf "$world"' EXIT
cd "$world"

fail() {
  printf 'FAILED: %s\n' "$*" >&2
  exit 1
}
# What the program must mean by stream 0.
flavour() { [[ $penstock == */penstock-legacy ]] && echo legacy || echo per-thread; }
# run ARGUMENT...: runs it and keeps what it said: code, and the files out and err; and what was run.
run() {
  last_program=$penstock last=("$@")
  code=0
  "$penstock" "$@" > out 2> err || code=$?
}
# listening ARGUMENT...: the program, to be started behind a test that interrupts it: what a shell starts so ignores SIGINT.
listening() { exec env --default-signal=INT,QUIT "$penstock" "$@"; }
expect_code() { [[ $code == "$1" ]] || fail "exit code $code instead of $1: $(cat err)"; }
expect_out() { grep -qF -- "$1" out || fail "standard output does not say '$1' but: $(cat out)"; }
expect_err() { grep -qF -- "$1" err || fail "standard error does not say '$1' but: $(cat err)"; }
expect_same_as() { cmp -s "$1" out || fail "not what b3sum prints: $(diff "$1" out | head -4)"; }
# again_if_late: where the machine is busy with other things, and the last run said that a model's clock is too fast for it, the same
# is run again with the factor that it named. False if it did not say so.
again_if_late() {
  local factor argument
  local -a slower
  factor=$(cat out err | tr -s '\n ' '  ' | sed -nE 's/.*larger factor, as @([0-9]+).*/\1/p')
  [[ -n $factor ]] || return 1
  # What held it up for a moment asks for a factor with which a run takes an hour.
  ((factor <= 200)) || factor=200
  for argument in "${last[@]}"; do
    slower+=("$(sed -E "s/(model:[a-z0-9]+(\.json)?)(@[0-9]+)?/\\1@$factor/g" <<< "$argument")")
  done
  penstock=$last_program run "${slower[@]}"
}
# expect_in_time CODE: the exit code of the last run, or of one that was less late.
expect_in_time() {
  for _ in 1 2 3; do
    [[ $code != "$1" ]] || break
    again_if_late || break
  done
  [[ $code == "$1" ]] || fail "exit code $code instead of $1: $(cat out err)"
}
# expect_bad_options COMMAND: each line of standard input are options that it refuses in one line, and nothing else.
expect_bad_options() {
  while read -r words; do
    # shellcheck disable=SC2086  # Several words are meant.
    run "$1" $words
    expect_code 2
    [[ $(wc -l < err) == 1 ]] || fail "$words: not one line: $(cat err)"
    [[ ! -s out ]] || fail "$words: something on standard output"
  done
}
some_bytes() { head -c "$1" /dev/urandom > "$2"; }
# fills PROCESS: whether it or a process that it started has a thread that fills tiles.
fills() {
  local process
  for process in "$1" $(cat "/proc/$1/task/$1/children" 2> /dev/null); do
    ! grep -qs ps-fill "/proc/$process/task/"*/comm || return 0
  done
  return 1
}
# interrupt_once_it_fills CHILD: sends ctrl-C to a command that is at it, which it is once there is a thread that fills tiles.
interrupt_once_it_fills() {
  until fills "$1" || ! kill -0 "$1" 2> /dev/null; do :; done
  kill -INT "$1"
  code=0
  wait "$1" || code=$?
}

# For doctor: where its probe finds too little memory, the test is skipped.
skip_if_short_of_memory() {
  [[ $code != 4 ]] || ! grep -q 'takes .* of memory, of which' out || { grep 'of memory, of which' out; exit 77; }
}
