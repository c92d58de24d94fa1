#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# usage: doctor_program.sh PENSTOCK CASE
# Holds `penstock doctor` to what a user sees: output, standard error, exit code. Each case is a test of its own.
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
# Runs it and keeps what it said: code, and the files out and err.
run() {
  code=0
  "$penstock" doctor "$@" > out 2> err || code=$?
}
expect_code() { [[ $code == "$1" ]] || fail "exit code $code instead of $1: $(cat err)"; }
expect_out() { grep -qF -- "$1" out || fail "standard output does not say '$1' but: $(cat out)"; }

case $2 in
  DescribesTheMachine)
    run --no-probe
    expect_code 0
    for label in penstock host machine memory GPU remarks; do
      grep -q "^$label" out || fail "no line with $label: $(cat out)"
    done
    run --no-probe --json
    expect_code 0
    expect_out '"probe": null'
    ;;
  DescribesTheMachineEvenIfTheDeviceCannotBeHad)
    run --device cuda:99
    expect_code 4
    expect_out 'machine '
    expect_out '- The probe failed: '
    run --device cuda:99 --json
    expect_code 4
    expect_out '"cpus"'
    expect_out '"probe_problem": "'
    ;;
  SaysThatATinyFileMeansNothing)
    printf hello > tiny
    run --device cpu --read tiny
    expect_code 0
    expect_out 'only 5 B: too small'
    ;;
  BadOptionsAreOneLineAndExitCodeTwo)
    while read -r words; do
      # shellcheck disable=SC2086  # Several words are meant.
      run $words
      expect_code 2
      [[ $(wc -l < err) == 1 ]] || fail "$words: not one line: $(cat err)"
      [[ ! -s out ]] || fail "$words: something on standard output"
    done << 'WORDS'
--device gpu
--device cuda:x
--producers 5000
--read nowhere
--read /dev/null
--read /proc/version --no-probe
--no-such-option
WORDS
    run --producers many
    grep -qF "'many' is not a whole number from 0 to 1024 (penstock doctor --help" err || fail "$(cat err)"
    ;;
  StopsCleanlyWhenInterrupted)
    "$penstock" doctor --device cpu > out 2> err &
    probing=$!
    # From here on it listens, and it measures for three seconds.
    until grep -qsx ps-signals "/proc/$probing"/task/*/comm; do
      kill -0 "$probing" || fail 'it never listened'
    done
    kill -INT "$probing"
    code=0
    wait "$probing" || code=$?
    expect_code 130
    grep -qF Interrupted err || fail "$(cat err)"
    [[ $(wc -l < err) == 1 && ! -s out ]] || fail "more than one line: $(cat out err)"
    ;;
  *) fail "no case $2" ;;
esac
